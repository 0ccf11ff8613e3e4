//! Compares the batch methods of every tier with the oracle on each value.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_fuzz::{FuzzedDecoding, FuzzedEncoding};
use testkit::columns;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    encoding: FuzzedEncoding<'a>,
    decoding: FuzzedDecoding<'a>,
    /// The number of repetitions of the bytes and the lengths: a tier takes up to 12 KiB of values at once, and
    /// fuzzed inputs are much shorter.
    times: u8,
    /// The length of each value. The bytes after the last value belong to no value.
    lengths: &'a [u8],
    bytes: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    let times = 1 + usize::from(case.times % 32);
    let bytes = case.bytes.repeat(times);
    let (mut offsets, mut at) = (vec![0], 0);
    for length in case.lengths.repeat(times) {
        at = bytes.len().min(at + usize::from(length % 80));
        offsets.push(at as i32);
    }
    let decoding = case.decoding.decoding();
    columns::encode(&case.encoding.encoding(), &bytes, &offsets);
    columns::decode(&decoding, &bytes, &offsets);
    columns::decode_strict(&decoding, &bytes, &offsets);
});
