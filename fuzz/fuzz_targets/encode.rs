//! Compares every method that encodes, on every tier, with the oracle, and the default mode with other crates.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_fuzz::{FuzzedEncoding, place, with_checker};
use testkit::check::byte_set;
use testkit::oracle::Rule;
use testkit::rivals;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    encoding: FuzzedEncoding<'a>,
    place: u8,
    input: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    let encoding = case.encoding.encoding();
    with_checker(|checker| checker.encode(&encoding, case.input, place(case.place)));
    if encoding.rule == Rule::Plain && encoding.upper {
        let set = byte_set(&encoding.members);
        let pair = rivals::named().iter().find(|(named, _)| named.to_byte_set() == set);
        rivals::check_encode(case.input, pair.map(std::slice::from_ref).unwrap_or_default());
    }
});
