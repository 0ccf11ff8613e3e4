//! The batch verbs of every tier: values cut anywhere, each against the oracle's answer for it alone.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_fuzz::{FuzzedDecoding, FuzzedEncoding};
use testkit::columns;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    encoding: FuzzedEncoding<'a>,
    decoding: FuzzedDecoding<'a>,
    /// How long each value is; the bytes behind the last belong to none.
    lengths: &'a [u8],
    bytes: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    let len = case.bytes.len();
    let mut offsets = vec![];
    let mut at = 0;
    for length in [0].iter().chain(case.lengths) {
        at = len.min(at + usize::from(*length % 80));
        offsets.push(at as i32);
    }
    columns::encode(&case.encoding.encoding(), case.bytes, &offsets);
    columns::decode(&case.decoding.decoding(), case.bytes, &offsets);
    columns::decode_strict(case.bytes, &offsets);
});
