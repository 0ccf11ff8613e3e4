//! Tables for kernels, which are made from sets of bytes at compile time.

use simdpct::simd::Sets;
use simdpct::{AsciiSet, sets};

pub(crate) use crate::class::set;

/// The ASCII letters in upper case.
pub(crate) const UPPER: AsciiSet = set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
/// The ASCII letters in lower case.
pub(crate) const LOWER: AsciiSet = sets::ALPHANUMERIC.difference(UPPER).remove(b"0123456789");
/// The bytes of schemes.
pub(crate) const SCHEME: AsciiSet = sets::ALPHANUMERIC.union(set(b"+-."));
/// The bytes of host names without escapes in lower case: letters, digits, `-`, `.` and `_`.
pub(crate) const HOST: AsciiSet = sets::RFC3986_UNRESERVED.difference(UPPER).remove(b"~");

/// Returns the table of up to eight sets.
pub(crate) const fn table(sets: &[AsciiSet]) -> Sets {
    let mut by_byte = [0; 128];
    let mut i = 0;
    while i < 128 * sets.len() {
        let (k, byte) = (i / 128, i % 128);
        by_byte[byte] |= (sets[k].contains(byte as u8) as u8) << k;
        i += 1;
    }
    Sets::by_byte(by_byte)
}

/// Returns tables of the first and the second digits of escapes: `first[a] & second[b]` is not zero if the escape `%ab` is malformed, in
/// lower case, or the escape of a byte of `decoded`. `decoded` must have only bytes of 0x20 or above.
pub(crate) const fn escape_tables(decoded: AsciiSet) -> [Sets; 2] {
    // Bit `k` of both is for the first digit `k + 2`. Bit 6 of `first` and bit 7 of `second` are set for each digit, and both bits for
    // all other bytes.
    let (mut first, mut second) = ([0xFF; 128], [0xC0; 128]);
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789ABCDEF"[value as usize] as usize;
        first[digit] = 0x40;
        second[digit] = 0x80;
        let mut k = 0;
        while k < 6 {
            first[digit] |= ((value == k + 2) as u8) << k;
            second[digit] |= (decoded.contains(16 * (k + 2) + value) as u8) << k;
            k += 1;
        }
        value += 1;
    }
    [Sets::by_byte(first), Sets::by_byte(second)]
}
