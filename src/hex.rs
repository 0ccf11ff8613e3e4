//! Hexadecimal digits and the three bytes of an escape.

/// The case of the hexadecimal digits that are written. Both cases are always read.
///
/// ```
/// use simdpct::{HexCase, encode_byte};
/// assert_eq!(&encode_byte(b'/', HexCase::default()), b"%2F");
/// assert_eq!(&encode_byte(b'/', HexCase::Lower), b"%2f");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HexCase {
    /// `%2F`: what RFC 3986, section 2.1 asks producers to write.
    #[default]
    Upper,
    /// `%2f`.
    Lower,
}

impl HexCase {
    /// The sixteen digits.
    #[inline(always)]
    pub(crate) const fn digits(self) -> &'static [u8; 16] {
        match self {
            HexCase::Upper => b"0123456789ABCDEF",
            HexCase::Lower => b"0123456789abcdef",
        }
    }

    /// The escape of each byte, and then the byte itself.
    #[inline(always)]
    pub(crate) fn escapes(self) -> &'static [[u8; 4]; 256] {
        static ESCAPES: [[[u8; 4]; 256]; 2] = [all_escapes(HexCase::Upper), all_escapes(HexCase::Lower)];
        &ESCAPES[self as usize]
    }
}

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

/// The escape of `byte`: RFC 3986, section 2.1, `pct-encoded = "%" HEXDIG HEXDIG`.
#[inline(always)]
pub(crate) const fn escape(byte: u8, case: HexCase) -> [u8; 3] {
    let digits = case.digits();
    [b'%', digits[(byte >> 4) as usize], digits[(byte & 15) as usize]]
}

/// The value of a hexadecimal digit of either case.
#[inline(always)]
pub(crate) const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// The byte of the escape at the start of `input`, if there is a valid one.
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

/// What [`value`] gives for a byte that is not a hexadecimal digit.
pub(crate) const NOT_A_DIGIT: u8 = 0xFF;

/// The value of a hexadecimal digit of either case, or [`NOT_A_DIGIT`], without a branch.
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

/// The number of bytes at the end of `input`, at most two, that may be the start of an escape.
#[inline]
pub(crate) fn held_back(input: &[u8]) -> usize {
    match *input {
        [.., b'%'] => 1,
        [.., b'%', digit] if self::digit(digit).is_some() => 2,
        _ => 0,
    }
}

/// `input` in pieces of at most `size` bytes, at least three, that cut no escape; each with its offset.
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

/// The offset of the first byte or escape of `input` that changes: `changed` says whether one does in a piece, and `stay`
/// how many bytes at the start of one stay as they are.
pub(crate) fn first_change(
    input: &[u8],
    changed: impl Fn(&[u8]) -> bool,
    stay: impl Fn(&[u8]) -> usize,
) -> Option<usize> {
    let (start, piece) = pieces(input, 4096).find(|(_, piece)| changed(piece))?;
    let (within, mut piece) = pieces(piece, 64).find(|(_, piece)| changed(piece))?;
    let mut offset = start + within;
    while !piece.is_empty() {
        let len = stay(piece);
        if len == 0 {
            return Some(offset);
        }
        offset += len;
        piece = &piece[len..];
    }
    None
}
