//! Hexadecimal digits and the three bytes of an escape.

/// The case of the hexadecimal digits that are written. Both cases are always read.
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

    /// The escape of each byte, and a byte that does not count.
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
        escapes[byte] = [percent, high, low, 0];
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

/// The byte that the escape at the start of `input` stands for, if one stands there.
#[inline(always)]
pub(crate) fn unescape(input: &[u8]) -> Option<u8> {
    match *input {
        [b'%', high, low, ..] => {
            let [high, low] = [value(high), value(low)];
            if (high | low) < 16 { Some(high << 4 | low) } else { None }
        }
        _ => None,
    }
}

/// What [`value`] gives for a byte that is not a hexadecimal digit.
pub(crate) const NOT_A_DIGIT: u8 = 0xFF;

/// The value of a hexadecimal digit of either case, or [`NOT_A_DIGIT`], without a branch.
#[inline(always)]
pub(crate) fn value(byte: u8) -> u8 {
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
