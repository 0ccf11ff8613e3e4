//! The serialisation of the WHATWG URL Standard, by the crate url.

use alloc::vec::Vec;
use core::str;

use url::{ParseError, Url};

use super::{Reason, Refused};

pub(super) fn append(input: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    let text = str::from_utf8(input)
        .map_err(|error| Refused { offset: error.valid_up_to(), reason: Reason::NotUtf8 })?;
    // What does not start with a letter, after the controls and blanks that the parser takes away, has no scheme. Lists of
    // request targets have many of these.
    if !text.bytes().find(|&byte| byte > b' ').is_some_and(|first| first.is_ascii_alphabetic()) {
        return Err(Refused { offset: 0, reason: Reason::Relative });
    }
    let url = Url::parse(text).map_err(|error| refused(input, error))?;
    out.extend_from_slice(url.as_str().as_bytes());
    Ok(())
}

/// The parser does not tell where; the split does, as well as it can.
#[cold]
fn refused(input: &[u8], error: ParseError) -> Refused {
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
    Refused { offset, reason }
}
