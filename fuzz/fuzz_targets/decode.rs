//! Every decoding verb of every tier, lenient and strict, against the oracle and other crates.

#![no_main]

mod common;

use arbitrary::Arbitrary;
use common::{FuzzedDecoding, place, rivals, with_checker};
use libfuzzer_sys::fuzz_target;

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
