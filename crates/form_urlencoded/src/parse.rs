//! The parser of form data.

use alloc::borrow::Cow;
use alloc::string::String;

use simdpct::Decode;

/// Parses a form to decoded names and values (URL Standard, section 5.1).
///
/// `+` becomes a space, malformed escapes stay, and invalid UTF-8 becomes U+FFFD. Empty parameters are left out. The
/// value of a parameter without `=` is empty. Text is borrowed if decoding does not change it.
///
/// ```
/// let mut pairs = form_urlencoded::parse(b"%23first=%25try%25&&b");
/// assert_eq!(pairs.next(), Some(("#first".into(), "%try%".into())));
/// assert_eq!(pairs.next(), Some(("b".into(), "".into())));
/// assert_eq!(pairs.next(), None);
/// ```
#[inline]
pub fn parse(input: &[u8]) -> Parse<'_> {
    Parse { input }
}

/// The iterator that [`parse`] returns.
#[derive(Copy, Clone)]
pub struct Parse<'a> {
    /// The part of the form that the iterator has not yielded yet.
    input: &'a [u8],
}

impl<'a> Iterator for Parse<'a> {
    type Item = (Cow<'a, str>, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.input.is_empty() {
            let pair;
            (pair, self.input) = split_at(b'&', self.input);
            if !pair.is_empty() {
                let (name, value) = split_at(b'=', pair);
                return Some((decode(name), decode(value)));
            }
        }
        None
    }
}

impl<'a> Parse<'a> {
    /// Returns an iterator over pairs of `String`.
    pub fn into_owned(self) -> ParseIntoOwned<'a> {
        ParseIntoOwned { inner: self }
    }
}

/// An iterator over pairs of `String`. [`Parse::into_owned`] returns it.
pub struct ParseIntoOwned<'a> {
    inner: Parse<'a>,
}

impl Iterator for ParseIntoOwned<'_> {
    type Item = (String, String);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.inner.next()?;
        Some((name.into_owned(), value.into_owned()))
    }
}

/// Splits `text` at the first `delimiter`. If there is none, the second part is empty.
fn split_at(delimiter: u8, text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(delimiter, text) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

/// The longest name or value, in bytes, that is first searched for `+` and `%`. Most names and values are this short
/// and have neither, and the search is then cheaper than the call of a kernel.
const SHORT: usize = 16;

fn decode(text: &[u8]) -> Cow<'_, str> {
    if text.len() <= SHORT && !text.iter().any(|byte| matches!(byte, b'+' | b'%')) {
        return String::from_utf8_lossy(text);
    }
    Decode::new().form().decode_utf8_lossy(text)
}
