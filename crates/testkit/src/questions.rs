//! Checks the functions that write no output against the oracle.

use crate::check::malformed;
use crate::oracle;

/// Checks [`simdpct::escapes`], [`simdpct::validate`] and [`simdpct::count`] on `input`.
pub fn check(input: &[u8]) {
    let scan = oracle::scan(input);
    let found = simdpct::escapes(input).map(|found| found.map(|e| (e.offset, e.byte)).map_err(malformed));
    assert!(found.eq(scan.iter().copied()), "escapes of b\"{}\"", input.escape_ascii());

    assert_eq!(simdpct::validate(input).map_err(malformed).err(), oracle::first_malformed(input));

    let counts = simdpct::count(input);
    let number = |test: &dyn Fn(usize, u8) -> bool| {
        scan.iter().filter(|found| found.is_ok_and(|(at, byte)| test(at, byte))).count() as u64
    };
    let lower = |at: usize, _| input[at + 1..at + 3].iter().any(|digit| (b'a'..=b'f').contains(digit));
    let unreserved = |_, byte: u8| oracle::UNRESERVED[usize::from(byte)];
    assert_eq!(counts.escapes, number(&|_, _| true));
    assert_eq!(counts.malformed, scan.iter().filter(|found| found.is_err()).count() as u64);
    assert_eq!(counts.lower_case, number(&lower));
    assert_eq!(counts.unreserved, number(&unreserved));
    assert_eq!(counts.percent, number(&|_, byte| byte == b'%'));
}

/// Checks [`simdpct::equivalent`] on `a` and `b`.
pub fn equivalent(a: &[u8], b: &[u8]) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    oracle::normalize(a, &mut x);
    oracle::normalize(b, &mut y);
    let context = || format!("b\"{}\" and b\"{}\"", a.escape_ascii(), b.escape_ascii());
    assert_eq!(simdpct::equivalent(a, b), x == y, "{}", context());
    assert_eq!(simdpct::equivalent(b, a), x == y, "{}", context());
}
