//! Compares normalization by every method on every tier, and the function `equivalent`, with the oracle.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_fuzz::{place, with_checker};
use testkit::check::Decoding;
use testkit::questions;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    place: u8,
    /// Offsets of bytes that are escaped in a copy of the input, with which the input is compared.
    escaped: [u16; 4],
    input: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    with_checker(|checker| checker.decode(&Decoding::NORMALIZE, case.input, place(case.place)));
    let mut other = case.input.to_vec();
    for at in case.escaped {
        if let Some(&byte) = other.get(usize::from(at)) {
            let at = usize::from(at);
            other.splice(at..=at, format!("%{byte:02x}").into_bytes());
        }
    }
    questions::equivalent(case.input, &other);
});
