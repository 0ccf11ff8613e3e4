//! Feeds streams of every tier with pieces of the input, and compares their outputs with the oracle on the whole input.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use testkit::{streams, tiers};

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    /// The lengths of the pieces. The bytes after these pieces are one more piece.
    pieces: Vec<u8>,
    input: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    let ends = case.pieces.iter().scan(0, |end, &len| {
        *end += usize::from(len);
        Some(*end)
    });
    let cuts: Vec<usize> = ends.take_while(|&end| end <= case.input.len()).collect();
    tiers::tiers().iter().for_each(|&tier| streams::check(tier, case.input, &cuts));
});
