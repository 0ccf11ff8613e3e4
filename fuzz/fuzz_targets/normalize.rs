//! Normalization by every verb of every tier, and equivalence, against the oracle.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_fuzz::{place, with_checker};
use testkit::check::Decoding;
use testkit::questions;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    place: u8,
    /// Bytes of the input that are spelt otherwise in the text that it is compared with.
    respelt: [u16; 4],
    input: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    with_checker(|checker| checker.decode(&Decoding::NORMALIZE, case.input, place(case.place)));
    let mut other = case.input.to_vec();
    for at in case.respelt {
        if let Some(&byte) = other.get(usize::from(at)) {
            let at = usize::from(at);
            other.splice(at..=at, format!("%{byte:02x}").into_bytes());
        }
    }
    questions::equivalent(case.input, &other);
});
