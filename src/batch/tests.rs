//! Tests of output that is too long for its offsets. They use offsets of one and two bytes, because reaching the limits of
//! `i32` takes gigabytes.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use super::{Column, ColumnBuf, ColumnError, Offset, TooLong, UninitColumn};
use crate::{ByteSet, Decode, Encode, Tier};

/// Makes the bytes and offsets of a column of `count` values, each of `len` spaces.
fn spaces(count: usize, len: usize) -> (Vec<u8>, Vec<u64>) {
    (vec![b' '; count * len], (0..=count as u64).map(|index| index * len as u64).collect())
}

/// Encodes `count` values of `len` spaces, which become three times as long, into columns whose offsets end at `limit`. If not
/// all values fit, checks that a `ColumnBuf` is unchanged, and that an `UninitColumn` has exactly the values that fit.
fn encode_up_to<O: Offset + PartialEq>(count: usize, len: usize, limit: usize, tier: Tier) {
    let (bytes, offsets) = spaces(count, len);
    let values = Column::new(&bytes, &offsets).unwrap();
    let encode = Encode::keeping(ByteSet::EMPTY).tier(tier);
    for before in [0, 1, 100] {
        let fits = (limit - before) / (3 * len);
        let mut out = ColumnBuf::<O>::new();
        out.push(&vec![b'x'; before]).unwrap();
        let untouched = out.clone();

        let result = encode.encode_column(values, &mut out);
        if count <= fits {
            assert_eq!((result, out.len()), (Ok(()), count + 1), "{count} x {len} after {before}, {tier}");
        } else {
            assert_eq!(result, Err(TooLong { index: fits }), "{count} x {len} after {before}, {tier}");
            assert_eq!(out, untouched, "the column is as it was");
        }

        let mut out = untouched.clone();
        let from_slices = encode.encode_slices(values.iter(), &mut out);
        assert_eq!(from_slices, result, "slices: {count} x {len} after {before}, {tier}");
        assert!(result.is_ok() || out == untouched, "the column is as it was");

        // An `UninitColumn` keeps the values whose ends fit its offsets.
        let mut room = vec![MaybeUninit::uninit(); 3 * bytes.len()];
        let mut slots = vec![MaybeUninit::uninit(); count + 1];
        let mut out = UninitColumn::<O>::new(&mut room, &mut slots);
        let result = encode.encode_column(values, &mut out);
        let fits = limit / (3 * len);
        let expected =
            if count <= fits { Ok(()) } else { Err(ColumnError::TooLong(TooLong { index: fits })) };
        assert_eq!(result, expected);
        let out = out.finish().unwrap();
        assert_eq!(out.len(), count.min(fits));
        assert_eq!(out.bytes().len(), count.min(fits) * 3 * len);
    }
}

#[test]
fn too_long_for_the_offsets() {
    for tier in Tier::available() {
        for (count, len) in [(1, 42), (1, 43), (14, 3), (15, 3), (43, 1), (300, 1)] {
            encode_up_to::<i8>(count, len, 127, tier);
            encode_up_to::<u8>(count, len, 255, tier);
        }
        // The cases are a single value, runs of values, values that are long enough to be measured first, and columns of two
        // runs.
        for (count, len) in [
            (1, 21_845),
            (1, 21_846),
            (1, 1 << 20),
            (2, 10_000),
            (3, 10_000),
            (300, 70),
            (400, 70),
            (9, 4000),
        ] {
            encode_up_to::<u16>(count, len, 65_535, tier);
        }
    }
}

#[test]
fn decoded_values_too_long_for_the_offsets() {
    for tier in Tier::available() {
        for value in [&b"clean"[..], b"%41%42%43%44%45", b"%zz%2"] {
            let values: Vec<&[u8]> = vec![value; 300];
            let mut out = ColumnBuf::<u8>::new();
            assert_eq!(Decode::new().tier(tier).decode_slices(values, &mut out), Err(TooLong { index: 51 }));
            assert_eq!(out, ColumnBuf::new());
        }
    }
}

#[test]
fn pushing_too_much() {
    let mut out = ColumnBuf::<i8>::new();
    out.push(&[0; 127]).unwrap();
    out.push(&[]).unwrap();
    assert_eq!(out.push(&[0]), Err(TooLong { index: 0 }));
    assert_eq!((out.len(), out.bytes().len()), (2, 127));
}
