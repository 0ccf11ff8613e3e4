//! The serialization of the WHATWG URL Standard, by the crate url.

use alloc::vec::Vec;
use core::str;

use url::{ParseError, Url};

use super::error::{CanonicalizeError, Reason};

/// Appends `input` as `Url::parse` serializes it.
pub(super) fn append(input: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let text = str::from_utf8(input)
        .map_err(|error| CanonicalizeError { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 })?;
    // The parser skips controls and spaces, and a scheme starts with a letter. This check is faster than the parser, and lists of
    // request targets have many relative references.
    if !text.bytes().find(|&byte| byte > b' ').is_some_and(|first| first.is_ascii_alphabetic()) {
        return Err(CanonicalizeError { offset: 0, reason: Reason::Relative });
    }
    let url = Url::parse(text).map_err(|error| rejection(input, error))?;
    out.extend_from_slice(url.as_str().as_bytes());
    Ok(())
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
