//! Makes the canonical form `whatwg`, and resolves references as browsers do.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::{CanonicalizeError, Reason};
use super::shared::offset_in;
use super::standard;
use crate::offsets::Offsets;
use crate::parts::{Parts, split};

pub(super) mod proof;

/// Appends the serialization of a URL.
pub(super) fn append(url: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    // Most URLs are ASCII, and are then not checked for UTF-8.
    if !url.is_ascii()
        && let Err(error) = core::str::from_utf8(url)
    {
        return Err(CanonicalizeError { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 });
    }
    // A scheme starts with a letter. Lists of request targets are full of references, which need not be split to be rejected.
    if !url.iter().find(|&&byte| byte > b' ').is_some_and(u8::is_ascii_alphabetic) {
        return Err(CanonicalizeError { offset: 0, reason: Reason::Relative });
    }
    append_resolved(url, None, out)
}

/// Appends the serialization of `url`, which must be UTF-8 and may be relative to `base`.
fn append_resolved(url: &[u8], base: Option<Parts<'_>>, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    standard::append(url, base, out).map_err(|error| match error.reason {
        Reason::Relative => error,
        _ => CanonicalizeError { offset: offset_in(url, error.offset), ..error },
    })
}

/// A base URL that references are resolved against as browsers do, by the URL Standard. [`resolve`](crate::resolve) is for RFC 3986.
///
/// In special schemes, `\` is a slash. TAB, CR and LF are removed from references.
///
/// ```
/// use simdpct_uri::canon::Base;
///
/// let base = Base::parse("http://a/b/c?d")?;
/// assert_eq!(base.resolve("..\\e f")?, "http://a/e%20f");
/// assert_eq!(base.resolve("//B?q")?, "http://b/?q");
/// assert_eq!(Base::parse("file://h/C:/x")?.resolve("/D|/y")?, "file://h/D:/y");
/// # Ok::<(), simdpct_uri::canon::CanonicalizeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    // INVARIANT: `url` is a serialization, and `at` has the offsets of its parts.
    url: String,
    at: Offsets,
}

impl Base {
    /// Parses and serializes a base URL.
    ///
    /// # Errors
    ///
    /// [`CanonicalizeError`] if `url` is relative or not valid.
    pub fn parse(url: &str) -> Result<Base, CanonicalizeError> {
        let url = resolved(url, None)?;
        Ok(Base { at: split(&url).offsets(), url })
    }

    /// Returns the serialization of the base.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Resolves `reference` against the base, and returns the serialization of the target.
    ///
    /// # Errors
    ///
    /// [`CanonicalizeError`] if the target is not valid, or if the base has an opaque path, such as `mailto:a`, and `reference` is neither
    /// a URL nor a fragment.
    pub fn resolve(&self, reference: &str) -> Result<String, CanonicalizeError> {
        resolved(reference, Some(Parts::from_offsets(self.url.as_bytes(), self.at)))
    }
}

fn resolved(reference: &str, base: Option<Parts<'_>>) -> Result<String, CanonicalizeError> {
    let mut out = Vec::new();
    append_resolved(reference.as_bytes(), base, &mut out)?;
    Ok(String::from_utf8(out).expect("a serialization is ASCII"))
}
