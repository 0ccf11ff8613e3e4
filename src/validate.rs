//! Validation, iteration and counts of escapes, without decoding.

use crate::decode::Decode;
use crate::error::MalformedEscape;
use crate::hex;

/// Checks that every `%` of `input` starts a valid escape (RFC 3986, section 2.1). Takes time linear in the input and allocates
/// nothing.
///
/// # Errors
///
/// Returns the first malformed escape.
///
/// ```
/// assert!(simdpct::validate("a%20b").is_ok());
/// assert_eq!(simdpct::validate("a%20b%").unwrap_err().offset, 5);
/// ```
pub fn validate(input: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), MalformedEscape> {
    Decode::new().strict().decoded_len(input).map(drop)
}

/// Iterates over every `%` of `input`, from left to right: valid escapes, and malformed ones as errors.
///
/// The iterator finds each `%` with `memchr`.
///
/// ```
/// let found: Vec<_> = simdpct::escapes("a%20b%zz").map(|found| found.map(|e| (e.offset, e.byte))).collect();
/// assert_eq!(found[0], Ok((1, b' ')));
/// assert_eq!(found[1].unwrap_err().offset, 5);
/// ```
pub fn escapes(input: &(impl AsRef<[u8]> + ?Sized)) -> Escapes<'_> {
    Escapes { input: input.as_ref(), at: 0 }
}

/// One valid escape, found by [`escapes`].
///
/// ```
/// let first = simdpct::escapes("a%2Fb").next().unwrap()?;
/// assert_eq!((first.offset, first.byte), (1, b'/'));
/// # Ok::<(), simdpct::MalformedEscape>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Escape {
    /// The offset of the `%` in the input, in bytes.
    pub offset: usize,
    /// The byte that the escape encodes.
    pub byte: u8,
}

/// The iterator that [`escapes`] returns. A clone goes on from the same offset.
#[derive(Clone, Debug)]
pub struct Escapes<'a> {
    input: &'a [u8],
    at: usize,
}

impl Iterator for Escapes<'_> {
    type Item = Result<Escape, MalformedEscape>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at + memchr::memchr(b'%', &self.input[self.at..])?;
        Some(match hex::unescape(&self.input[offset..]) {
            Some(byte) => {
                self.at = offset + 3;
                Ok(Escape { offset, byte })
            }
            None => {
                self.at = offset + 1;
                Err(MalformedEscape::at(self.input, offset))
            }
        })
    }
}

/// The number of escapes of each kind, from [`count`].
///
/// ```
/// // In text that was encoded twice, nearly every escape is that of `%`.
/// let counts = simdpct::count("%2520%252f%2541");
/// assert_eq!((counts.escapes, counts.percent), (3, 3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// The number of valid escapes.
    pub escapes: u64,
    /// The number of `%` that do not start a valid escape.
    pub malformed: u64,
    /// The number of valid escapes with a digit in lower case.
    pub lower_case: u64,
    /// The number of valid escapes of unreserved bytes, which need no escape.
    pub unreserved: u64,
    /// The number of valid escapes of `%`.
    pub percent: u64,
}

/// Counts the escapes of `input` by kind. Takes time linear in the input; allocates nothing.
///
/// ```
/// let counts = simdpct::count("%20%2f%25%41%");
/// assert_eq!((counts.escapes, counts.malformed, counts.percent), (4, 1, 1));
/// ```
#[must_use]
pub fn count(input: &(impl AsRef<[u8]> + ?Sized)) -> Counts {
    let input = input.as_ref();
    let mut counts = Counts::default();
    for found in escapes(input) {
        match found {
            Ok(Escape { offset, byte }) => {
                counts.escapes += 1;
                let digits = &input[offset + 1..offset + 3];
                counts.lower_case += u64::from(digits.iter().any(u8::is_ascii_lowercase));
                counts.unreserved += u64::from(crate::sets::RFC3986_UNRESERVED.contains(byte));
                counts.percent += u64::from(byte == b'%');
            }
            Err(_) => counts.malformed += 1,
        }
    }
    counts
}
