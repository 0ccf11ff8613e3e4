//! Compares `escapes`, `count`, `validate` and `equivalent` with the oracle.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testkit::questions;

fuzz_target!(|case: (&[u8], &[u8])| {
    let (a, b) = case;
    questions::check(a);
    questions::check(b);
    questions::equivalent(a, b);
});
