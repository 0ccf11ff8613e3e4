//! The batch verbs on every tier: each value as if it were alone, whatever its neighbours are and wherever it goes.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use simdpct::Decode;
use simdpct::batch::{Column, ColumnBuf, ColumnError, ColumnOut, TooLong, UninitColumn};

use crate::check::{Decoding, Encoding, bad};
use crate::oracle::{self, Bad};
use crate::tiers::tiers;

/// What the oracle makes of each value.
#[derive(Default)]
struct Expected {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    /// The values that are refused.
    refused: Vec<(usize, Bad)>,
}

impl Expected {
    fn new(
        bytes: &[u8],
        offsets: &[i32],
        mut each: impl FnMut(&[u8], &mut Vec<u8>) -> Option<Bad>,
    ) -> Expected {
        let (mut expected, mut alone) = (Expected { ends: vec![0], ..Expected::default() }, Vec::new());
        for (index, value) in offsets.windows(2).enumerate() {
            alone.clear();
            match each(&bytes[value[0] as usize..value[1] as usize], &mut alone) {
                Some(bad) => expected.refused.push((index, bad)),
                None => expected.bytes.extend_from_slice(&alone),
            }
            expected.ends.push(expected.bytes.len() as i32);
        }
        expected
    }
}

/// Any iterator of values, as one type.
type Slices<'v> = Box<dyn Iterator<Item = Option<&'v [u8]>> + 'v>;

/// A verb over a column and over slices, into each kind of output. Each is told what is refused.
trait Verb {
    fn column<C: ColumnOut>(
        &self,
        values: Column<'_, i32>,
        out: &mut C,
        refused: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error>;
    fn slices<C: ColumnOut>(
        &self,
        values: Slices<'_>,
        out: &mut C,
        refused: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error>;
}

/// Compares what a verb makes of the values that `offsets` cut with what is expected.
fn check(verb: &impl Verb, bytes: &[u8], offsets: &[i32], expected: &Expected, context: &dyn Debug) {
    let values = Column::new(bytes, offsets).unwrap();
    // A null is an empty value. Not every empty value is a null.
    let nullable = || -> Slices<'_> {
        let some = |(index, value): (usize, &'_ [u8])| index % 2 == 0 || !value.is_empty();
        Box::new(values.iter().enumerate().map(move |(index, value)| some((index, value)).then_some(value)))
    };
    let equal = |what: &str, bytes: &[u8], ends: &[i32], refused: &[(usize, Bad)]| {
        assert!(bytes == expected.bytes, "{what}: bytes of {context:?}");
        assert!(ends == expected.ends, "{what}: offsets of {context:?}");
        assert_eq!(refused, expected.refused, "{what}: {context:?}");
    };

    let (mut out, mut refused) = (ColumnBuf::<i32>::new(), Vec::new());
    let result: Result<(), TooLong> = verb.column(values, &mut out, &mut refused);
    result.unwrap();
    equal("column", out.bytes(), out.offsets(), &refused);

    out.clear();
    refused.clear();
    verb.slices(nullable(), &mut out, &mut refused).unwrap();
    equal("slices", out.bytes(), out.offsets(), &refused);

    // Room to spare, exactly enough, and too little: then the column holds the values before the one that is named, and
    // the rest goes elsewhere.
    let (len, count) = (expected.bytes.len(), expected.ends.len());
    for (room, slots) in
        [(3 * bytes.len(), count + 3), (len, count), (len / 2, count), (len, count - count / 3)]
    {
        for from_slices in [false, true] {
            let mut room = vec![MaybeUninit::new(0xA5); room];
            let mut slots = vec![MaybeUninit::new(-1_i32); slots];
            let (needs_more, has) = (room.len() < len || slots.len() < count, slots.len());
            let mut out = UninitColumn::new(&mut room, &mut slots);
            refused.clear();
            let result = if from_slices {
                verb.slices(nullable(), &mut out, &mut refused)
            } else {
                verb.column(values, &mut out, &mut refused)
            };
            let Err(error) = result else {
                let out = out.finish().unwrap();
                assert!(!needs_more, "{context:?}");
                equal("lent memory", out.bytes(), out.offsets(), &refused);
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
            // There is no room for one more value.
            let next = expected.ends[error.index + 1] as usize;
            assert!(next > room.len() || error.index + 2 > has, "{} of {context:?}", error.index);
            assert!(refused.iter().all(|(index, _)| *index < error.index), "{context:?}");

            let (mut more, before) = (ColumnBuf::<i32>::new(), refused.len());
            let rest = Column::new(bytes, &offsets[error.index..]).unwrap();
            verb.column(rest, &mut more, &mut refused).unwrap();
            assert!(more.bytes() == &expected.bytes[end..], "the rest: {context:?}");
            refused[before..].iter_mut().for_each(|(index, _)| *index += error.index);
            assert_eq!(refused, expected.refused, "the rest: {context:?}");
        }
    }
}

struct Encodes(simdpct::Encode<simdpct::ByteSet>);

impl Verb for Encodes {
    fn column<C: ColumnOut>(
        &self,
        values: Column<'_, i32>,
        out: &mut C,
        _: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error> {
        self.0.encode_column(values, out)
    }

    fn slices<C: ColumnOut>(
        &self,
        values: Slices<'_>,
        out: &mut C,
        _: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error> {
        self.0.encode_slices(values, out)
    }
}

struct Decodes(Decode);

impl Verb for Decodes {
    fn column<C: ColumnOut>(
        &self,
        values: Column<'_, i32>,
        out: &mut C,
        _: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error> {
        self.0.decode_column(values, out)
    }

    fn slices<C: ColumnOut>(
        &self,
        values: Slices<'_>,
        out: &mut C,
        _: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error> {
        self.0.decode_slices(values, out)
    }
}

struct Tries(simdpct::TryDecode);

impl Verb for Tries {
    fn column<C: ColumnOut>(
        &self,
        values: Column<'_, i32>,
        out: &mut C,
        refused: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error> {
        self.0.decode_column(values, out, |index, error| refused.push((index, bad(error))))
    }

    fn slices<C: ColumnOut>(
        &self,
        values: Slices<'_>,
        out: &mut C,
        refused: &mut Vec<(usize, Bad)>,
    ) -> Result<(), C::Error> {
        self.0.decode_slices(values, out, |index, error| refused.push((index, bad(error))))
    }
}

/// Encodes the values that `offsets` cut.
pub fn encode(encoding: &Encoding, bytes: &[u8], offsets: &[i32]) {
    let expected = Expected::new(bytes, offsets, |value, out| {
        encoding.expected(value, out);
        None
    });
    for &tier in tiers() {
        check(&Encodes(encoding.encoder(tier)), bytes, offsets, &expected, &tier);
    }
}

/// Decodes them.
pub fn decode(decoding: &Decoding, bytes: &[u8], offsets: &[i32]) {
    let expected = Expected::new(bytes, offsets, |value, out| {
        decoding.expected(value, out);
        None
    });
    for &tier in tiers() {
        check(&Decodes(decoding.decoder(tier)), bytes, offsets, &expected, &tier);
    }
}

/// Decodes those that have no malformed escape.
pub fn decode_strict(decoding: &Decoding, bytes: &[u8], offsets: &[i32]) {
    let expected = Expected::new(bytes, offsets, |value, out| {
        decoding.expected(value, out);
        oracle::first_bad(value)
    });
    for &tier in tiers() {
        check(&Tries(decoding.decoder(tier).strict()), bytes, offsets, &expected, &tier);
    }
}
