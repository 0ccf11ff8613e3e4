//! Compares decoding to UTF-8 text with the oracle (slow code by the specification), on every tier (the code for one
//! instruction set). Invalid UTF-8 is rejected, replaced, or treated by a policy.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testkit::text;

fuzz_target!(|input: &[u8]| text::check(input));
