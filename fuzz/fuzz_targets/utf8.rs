//! Compares decoding to UTF-8 (strict, lossy, partial) on every tier with the oracle.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testkit::text;

fuzz_target!(|input: &[u8]| text::check(input));
