//! Hexadecimal digits and the three bytes of an escape. "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

/// The case of hexadecimal digits in the output. Decoding accepts both cases.
///
/// ```
/// use simdpct::{HexCase, encode_byte};
/// assert_eq!(&encode_byte(b'/', HexCase::default()), b"%2F");
/// assert_eq!(&encode_byte(b'/', HexCase::Lower), b"%2f");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HexCase {
    /// `%2F`, as RFC 3986, section 2.1, asks producers to write.
    #[default]
    Upper,
    /// `%2f`.
    Lower,
}

impl HexCase {
    /// Returns the sixteen digits in this case, in ascending order.
    #[inline(always)]
    pub(crate) const fn digits(self) -> &'static [u8; 16] {
        // With a table for each case, the compiler would repeat both in each function that uses them (lab: ladders).
        static DIGITS: Align16<[[u8; 16]; 2]> = Align16([*b"0123456789ABCDEF", *b"0123456789abcdef"]);
        &DIGITS.0[self as usize]
    }

    /// Returns a table with the escape of each byte, followed by the byte itself.
    #[inline(always)]
    pub(crate) fn escapes(self) -> &'static [[u8; 4]; 256] {
        static ESCAPES: Align16<[[[u8; 4]; 256]; 2]> =
            Align16([all_escapes(HexCase::Upper), all_escapes(HexCase::Lower)]);
        &ESCAPES.0[self as usize]
    }
}

/// A table at a multiple of 16 bytes, so that no entry of 4 or 16 bytes crosses the end of a cache line (lab: kernels).
/// A plain array of bytes may have any address.
#[repr(align(16))]
struct Align16<T>(T);

const fn all_escapes(case: HexCase) -> [[u8; 4]; 256] {
    let mut escapes = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let [percent, high, low] = escape(byte as u8, case);
        escapes[byte] = [percent, high, low, byte as u8];
        byte += 1;
    }
    escapes
}

/// Returns the escape of `byte`: RFC 3986, section 2.1, `pct-encoded = "%" HEXDIG HEXDIG`.
#[inline(always)]
pub(crate) const fn escape(byte: u8, case: HexCase) -> [u8; 3] {
    let digits = case.digits();
    [b'%', digits[(byte >> 4) as usize], digits[(byte & 15) as usize]]
}

/// Returns the value of a hexadecimal digit of either case.
#[inline(always)]
pub(crate) const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// Returns the byte of the escape at the start of `input`, or `None` if no valid escape starts there.
#[inline(always)]
pub(crate) const fn unescape(input: &[u8]) -> Option<u8> {
    match *input {
        [b'%', high, low, ..] => {
            let (high, low) = (value(high), value(low));
            if (high | low) < 16 { Some(high << 4 | low) } else { None }
        }
        _ => None,
    }
}

/// The result of [`value`] for a byte that is not a hexadecimal digit.
pub(crate) const NOT_A_DIGIT: u8 = 0xFF;

/// Returns the value of a hexadecimal digit of either case, or [`NOT_A_DIGIT`], without a branch.
#[inline(always)]
pub(crate) const fn value(byte: u8) -> u8 {
    static VALUES: [u8; 256] = {
        let mut values = [NOT_A_DIGIT; 256];
        let mut byte = 0;
        while byte < 256 {
            if let Some(value) = digit(byte as u8) {
                values[byte] = value;
            }
            byte += 1;
        }
        values
    };
    VALUES[byte as usize]
}

/// The number of bits in the result of [`flaw`].
pub(crate) const FLAW_BITS: u32 = 10;

/// Returns why the `%` at offset `at` of `input` starts no escape: zero if the input ends too early. Otherwise the low
/// eight bits are the first byte that is not a digit, and the others its distance from the `%`.
#[cold]
#[inline(never)]
pub(crate) fn flaw(input: &[u8], at: usize) -> usize {
    let digits = input.iter().enumerate().skip(at + 1).take(2);
    let wrong = digits.into_iter().find(|(_, byte)| value(**byte) == NOT_A_DIGIT);
    wrong.map_or(0, |(offset, &byte)| (offset - at) << 8 | usize::from(byte))
}

/// Returns the number of bytes at the end of `input`, at most two, that may be the start of an escape.
#[inline]
pub(crate) fn held_back(input: &[u8]) -> usize {
    match *input {
        [.., b'%'] => 1,
        [.., b'%', digit] if self::digit(digit).is_some() => 2,
        _ => 0,
    }
}

/// Cuts `input` into pieces of at most `size` bytes, but never inside an escape, and yields each piece with its offset. `size`
/// must be at least three.
pub(crate) fn pieces(input: &[u8], size: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let (rest, offset) = (&input[at..], at);
        let piece = match rest.get(..size) {
            Some(piece) if rest.len() > size => &piece[..size - held_back(piece)],
            _ => rest,
        };
        at += piece.len();
        if piece.is_empty() { None } else { Some((offset, piece)) }
    })
}
