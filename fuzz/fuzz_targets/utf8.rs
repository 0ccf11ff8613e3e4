//! Decoding to text, in each of the three ways, on every tier, against the oracle.

#![no_main]

mod common;

use common::text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| text::check(input));
