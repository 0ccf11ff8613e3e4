//! The batch verbs on every tier: each value as if it were alone, whatever its neighbours are.

use simdpct::Decode;
use simdpct::batch::{Column, Values};

use super::check::{Decoding, Encoding, bad};
use super::oracle::{self, Bad};
use super::tiers::tiers;

/// What the oracle makes of each value, one behind the other.
fn expected(bytes: &[u8], offsets: &[i32], mut each: impl FnMut(&[u8], &mut Vec<u8>)) -> (Vec<u8>, Vec<i32>) {
    let (mut out, mut ends, mut alone) = (Vec::new(), vec![0], Vec::new());
    for value in offsets.windows(2) {
        alone.clear();
        each(&bytes[value[0] as usize..value[1] as usize], &mut alone);
        out.extend_from_slice(&alone);
        ends.push(out.len() as i32);
    }
    (out, ends)
}

/// Encodes the values that `offsets` cut.
pub fn encode(encoding: &Encoding, bytes: &[u8], offsets: &[i32]) {
    let (out, ends) = expected(bytes, offsets, |value, out| encoding.expected(value, out));
    for &tier in tiers() {
        let mut column = Column::new();
        let values = Values::new(bytes, offsets).unwrap();
        encoding.encoder(tier).values(values, &mut column).unwrap();
        assert!(column.bytes() == out, "bytes of tier {tier}");
        assert!(column.offsets() == ends, "offsets of tier {tier}");
    }
}

/// Decodes them.
pub fn decode(decoding: &Decoding, bytes: &[u8], offsets: &[i32]) {
    let (out, ends) = expected(bytes, offsets, |value, out| decoding.expected(value, out));
    for &tier in tiers() {
        let mut column = Column::new();
        let values = Values::new(bytes, offsets).unwrap();
        let Ok(()) = decoding.decoder(tier).values(values, &mut column) else {
            panic!("the output is no longer than the input");
        };
        assert!(column.bytes() == out, "bytes of tier {tier}");
        assert!(column.offsets() == ends, "offsets of tier {tier}");
    }
}

/// Decodes all escapes of those that have no malformed one.
pub fn decode_strict(bytes: &[u8], offsets: &[i32]) {
    let (mut expected_bad, mut index) = (Vec::<(usize, Bad)>::new(), 0);
    let (out, ends) = expected(bytes, offsets, |value, out| {
        match oracle::first_bad(value) {
            Some(bad) => expected_bad.push((index, bad)),
            None => Decoding::ALL.expected(value, out),
        }
        index += 1;
    });
    for &tier in tiers() {
        let (mut column, mut refused) = (Column::new(), Vec::new());
        let values = Values::new(bytes, offsets).unwrap();
        let decode = Decode::new().tier(tier).strict();
        decode.values(values, &mut column, |index, error| refused.push((index, bad(error)))).unwrap();
        assert!(column.bytes() == out, "bytes of tier {tier}");
        assert!(column.offsets() == ends, "offsets of tier {tier}");
        assert_eq!(refused, expected_bad, "tier {tier}");
    }
}
