//! Checks the methods of `batch` on every tier: each value of a column must give the output that it gives alone.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use simdpct::batch::{Column, ColumnBuf, ColumnError, ColumnOut, TooLong, UninitColumn};

use crate::check::{Decoding, Encoding, malformed};
use crate::oracle::{self, Malformed};
use crate::tiers::tiers;

/// The output that the oracle expects for a column.
#[derive(Default)]
struct Expected {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    /// The indices of the rejected values, each with its error.
    rejected: Vec<(usize, Malformed)>,
}

impl Expected {
    fn new(
        bytes: &[u8],
        offsets: &[i32],
        mut each: impl FnMut(&[u8], &mut Vec<u8>) -> Option<Malformed>,
    ) -> Expected {
        let (mut expected, mut alone) = (Expected { ends: vec![0], ..Expected::default() }, Vec::new());
        for (index, value) in offsets.windows(2).enumerate() {
            alone.clear();
            match each(&bytes[value[0] as usize..value[1] as usize], &mut alone) {
                Some(malformed) => expected.rejected.push((index, malformed)),
                None => expected.bytes.extend_from_slice(&alone),
            }
            expected.ends.push(expected.bytes.len() as i32);
        }
        expected
    }
}

/// A boxed iterator of values, so that all iterators of values have one type.
type Slices<'v> = Box<dyn Iterator<Item = Option<&'v [u8]>> + 'v>;

/// A batch method in both forms, for a column and for slices. It adds rejected values to `rejected`.
trait Verb {
    fn column<C: ColumnOut>(
        &self,
        values: Column<'_, i32>,
        out: &mut C,
        rejected: &mut Vec<(usize, Malformed)>,
    ) -> Result<(), C::Error>;
    fn slices<C: ColumnOut>(
        &self,
        values: Slices<'_>,
        out: &mut C,
        rejected: &mut Vec<(usize, Malformed)>,
    ) -> Result<(), C::Error>;
}

/// Applies a batch method to the values that `offsets` cut from `bytes`, and compares the output with `expected`.
fn check(verb: &impl Verb, bytes: &[u8], offsets: &[i32], expected: &Expected, context: &dyn Debug) {
    let values = Column::new(bytes, offsets).unwrap();
    // Empty values with an odd index are passed as nulls: a null must give an empty value, but not every empty value is a null.
    let nullable = || -> Slices<'_> {
        let some = |(index, value): (usize, &'_ [u8])| index % 2 == 0 || !value.is_empty();
        Box::new(values.iter().enumerate().map(move |(index, value)| some((index, value)).then_some(value)))
    };
    let equal = |what: &str, bytes: &[u8], ends: &[i32], rejected: &[(usize, Malformed)]| {
        assert!(bytes == expected.bytes, "{what}: bytes of {context:?}");
        assert!(ends == expected.ends, "{what}: offsets of {context:?}");
        assert_eq!(rejected, expected.rejected, "{what}: {context:?}");
    };

    let (mut out, mut rejected) = (ColumnBuf::<i32>::new(), Vec::new());
    let result: Result<(), TooLong> = verb.column(values, &mut out, &mut rejected);
    result.unwrap();
    equal("column", out.bytes(), out.offsets(), &rejected);

    out.clear();
    rejected.clear();
    verb.slices(nullable(), &mut out, &mut rejected).unwrap();
    equal("slices", out.bytes(), out.offsets(), &rejected);

    // The memory for the output is more than enough, exactly enough, or too small. If it is too small, the column must hold the
    // values before the one that the error names, and the other values go to a second column.
    let (len, count) = (expected.bytes.len(), expected.ends.len());
    for (room, slots) in
        [(3 * bytes.len(), count + 3), (len, count), (len / 2, count), (len, count - count / 3)]
    {
        for from_slices in [false, true] {
            let mut room = vec![MaybeUninit::new(0xA5); room];
            let mut slots = vec![MaybeUninit::new(-1_i32); slots];
            let (needs_more, has) = (room.len() < len || slots.len() < count, slots.len());
            let mut out = UninitColumn::new(&mut room, &mut slots);
            rejected.clear();
            let result = if from_slices {
                verb.slices(nullable(), &mut out, &mut rejected)
            } else {
                verb.column(values, &mut out, &mut rejected)
            };
            let Err(error) = result else {
                let out = out.finish().unwrap();
                assert!(!needs_more, "{context:?}");
                equal("lent memory", out.bytes(), out.offsets(), &rejected);
                continue;
            };
            let ColumnError::TooSmall(error) = error else { panic!("{error} of {context:?}") };
            assert_eq!((error.bytes, error.offsets), (len, count), "{context:?}");
            let Ok(out) = out.finish() else {
                assert_eq!((has, error.index), (0, 0), "{context:?}");
                continue;
            };
            let end = expected.ends[error.index] as usize;
            assert!(out.bytes() == &expected.bytes[..end], "{context:?}");
            assert!(out.offsets() == &expected.ends[..=error.index], "{context:?}");
            // The error must name the first value that does not fit, so the next value must not fit.
            let next = expected.ends[error.index + 1] as usize;
            assert!(next > room.len() || error.index + 2 > has, "{} of {context:?}", error.index);
            assert!(rejected.iter().all(|(index, _)| *index < error.index), "{context:?}");

            let (mut more, before) = (ColumnBuf::<i32>::new(), rejected.len());
            let rest = Column::new(bytes, &offsets[error.index..]).unwrap();
            verb.column(rest, &mut more, &mut rejected).unwrap();
            assert!(more.bytes() == &expected.bytes[end..], "the rest: {context:?}");
            rejected[before..].iter_mut().for_each(|(index, _)| *index += error.index);
            assert_eq!(rejected, expected.rejected, "the rest: {context:?}");
        }
    }
}

macro_rules! verbs {
    ($($name:ident($codec:ty), $column:ident, $slices:ident, ($($rejected:ident)?);)*) => {$(
        struct $name($codec);

        impl Verb for $name {
            fn column<C: ColumnOut>(
                &self,
                values: Column<'_, i32>,
                out: &mut C,
                _rejected: &mut Vec<(usize, Malformed)>,
            ) -> Result<(), C::Error> {
                self.0.$column(values, out $(, |index, error| _rejected.push((index, $rejected(error))))?)
            }

            fn slices<C: ColumnOut>(
                &self,
                values: Slices<'_>,
                out: &mut C,
                _rejected: &mut Vec<(usize, Malformed)>,
            ) -> Result<(), C::Error> {
                self.0.$slices(values, out $(, |index, error| _rejected.push((index, $rejected(error))))?)
            }
        }
    )*};
}
verbs! {
    Encodes(simdpct::Encode<simdpct::ByteSet>), encode_column, encode_slices, ();
    Decodes(simdpct::Decode), decode_column, decode_slices, ();
    TryDecodes(simdpct::TryDecode), decode_column, decode_slices, (malformed);
}

/// Checks that the library encodes the values that `offsets` cut from `bytes` like the oracle.
pub fn encode(encoding: &Encoding, bytes: &[u8], offsets: &[i32]) {
    let expected = Expected::new(bytes, offsets, |value, out| {
        encoding.expected(value, out);
        None
    });
    for &tier in tiers() {
        check(&Encodes(encoding.encoder(tier)), bytes, offsets, &expected, &tier);
    }
}

/// Checks that the library decodes the values that `offsets` cut from `bytes` like the oracle.
pub fn decode(decoding: &Decoding, bytes: &[u8], offsets: &[i32]) {
    let expected = Expected::new(bytes, offsets, |value, out| {
        decoding.expected(value, out);
        None
    });
    for &tier in tiers() {
        check(&Decodes(decoding.decoder(tier)), bytes, offsets, &expected, &tier);
    }
}

/// Checks that a strict decoder decodes the values that `offsets` cut from `bytes`, and rejects those with a malformed escape.
pub fn decode_strict(decoding: &Decoding, bytes: &[u8], offsets: &[i32]) {
    let expected = Expected::new(bytes, offsets, |value, out| {
        decoding.expected(value, out);
        oracle::first_malformed(value)
    });
    for &tier in tiers() {
        check(&TryDecodes(decoding.decoder(tier).strict()), bytes, offsets, &expected, &tier);
    }
}
