//! The serialization of the WHATWG URL Standard, as `standard` makes it with the crate url.

use alloc::string::String;
use alloc::vec::Vec;
use core::str;

use url::ParseError;

use super::error::{CanonicalizeError, Reason};
use super::standard::parse;

/// Appends the serialization of `input`.
pub(super) fn append(input: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let text = str::from_utf8(input)
        .map_err(|error| CanonicalizeError { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 })?;
    // The parser skips controls and spaces, and a scheme starts with a letter. This check is faster than the parser, and lists of
    // request targets have many relative references.
    if !text.bytes().find(|&byte| byte > b' ').is_some_and(|first| first.is_ascii_alphabetic()) {
        return Err(CanonicalizeError { offset: 0, reason: Reason::Relative });
    }
    let url = parse(None, text).map_err(|error| rejection(input, error))?;
    out.extend_from_slice(url.as_bytes());
    Ok(())
}

/// Resolves `reference` against `base` as browsers do, by the URL Standard, and returns the serialization: a `\` is a slash in
/// special schemes, and TAB, CR and LF are removed. [`resolve`](crate::resolve) is for RFC 3986.
///
/// # Errors
///
/// [`CanonicalizeError`] with [`Reason::Base`] if `base` is not a valid URL, and with another reason if the reference is not.
///
/// ```
/// use simdpct_uri::canon::resolve_standard;
///
/// assert_eq!(resolve_standard("http://a/b/c?d", "..\\e f")?, "http://a/e%20f");
/// assert_eq!(resolve_standard("file://h/C:/x", "/D|/y")?, "file://h/D:/y");
/// # Ok::<(), simdpct_uri::canon::CanonicalizeError>(())
/// ```
pub fn resolve_standard(base: &str, reference: &str) -> Result<String, CanonicalizeError> {
    let base = parse(None, base).map_err(|_| CanonicalizeError { offset: 0, reason: Reason::Base })?;
    parse(Some(&base), reference).map_err(|error| rejection(reference.as_bytes(), error))
}

/// Returns the reason of a rejection, and its offset as `split` finds it: the parser does not report one.
#[cold]
fn rejection(input: &[u8], error: ParseError) -> CanonicalizeError {
    let at = crate::parts::split(input).offsets();
    let (offset, reason) = match error {
        ParseError::RelativeUrlWithoutBase | ParseError::RelativeUrlWithCannotBeABaseBase => {
            (0, Reason::Relative)
        }
        ParseError::InvalidPort => ((at.host_end + 1).min(input.len()), Reason::Port),
        ParseError::EmptyHost
        | ParseError::IdnaError
        | ParseError::InvalidIpv4Address
        | ParseError::InvalidIpv6Address
        | ParseError::InvalidDomainCharacter => (at.host_start, Reason::Host),
        _ => (0, Reason::Parser),
    };
    CanonicalizeError { offset, reason }
}
