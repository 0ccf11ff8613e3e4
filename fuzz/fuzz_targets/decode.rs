//! Compares every method that decodes one input to bytes, lenient and strict, on every tier, with the oracle, and the
//! default mode with other crates.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_fuzz::{FuzzedDecoding, place, with_checker};
use testkit::rivals;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    decoding: FuzzedDecoding<'a>,
    place: u8,
    input: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    with_checker(|checker| checker.decode(&case.decoding.decoding(), case.input, place(case.place)));
    rivals::check_decode(case.input);
});
