//! Decoding to text, in each of the three ways, on every tier, against the oracle.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testkit::text;

fuzz_target!(|input: &[u8]| text::check(input));
