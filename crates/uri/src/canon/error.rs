//! The error of canonicalization.

use core::fmt;

/// The error of [`Profile::canonicalize`](super::Profile::canonicalize): the profile has no canonical form for the URL.
///
/// ```
/// use simdpct_uri::canon::{Profile, Reason};
///
/// let error = Profile::Rfc3986.canonicalize("http://h:99999/").unwrap_err();
/// assert_eq!((error.offset, error.reason), (9, Reason::Port));
/// assert_eq!(error.reason.to_string(), "the port is not a number of at most 65535");
/// assert_eq!(error.to_string(), "the port is not a number of at most 65535, at offset 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CanonicalizeError {
    /// The offset of the problem, in bytes from the start of the URL.
    pub offset: usize,
    /// The rule that the URL breaks.
    pub reason: Reason,
}

/// The reason why a profile rejects a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The URL holds this control character: TAB, CR, LF or NUL, which separate fields, lines or records of text. The
    /// profile `surt-python-0.3` rejects any control character at the start of the URL.
    Control(u8),
    /// The authority holds more than one `@`.
    SeveralAt,
    /// The host is missing or empty, holds brackets without an address, or is not valid by IDNA.
    Host,
    /// By the rules of the profile, the URL names another host than browsers contact for it, or a host although
    /// browsers contact none. A relative reference that would get a scheme has this reason, too.
    HostConflict,
    /// Decoding an escape would complete another escape or a scheme, or start a query after a dot segment, so that the form would change
    /// if it were normalized again.
    Unstable,
    /// The port is not a number of at most 65535.
    Port,
    /// The URL is a relative reference, but the profile takes only URLs with a scheme.
    Relative,
    /// The URL is not valid UTF-8.
    InvalidUtf8,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Control(byte) => return write!(f, "the URL holds the control character {byte:#04X}"),
            Reason::SeveralAt => "more than one '@' in the authority",
            Reason::Host => "the host is not valid",
            Reason::HostConflict => "browsers contact another host than the rules of this form name, or none",
            Reason::Unstable => "a decoded escape would complete another escape, a scheme or a dot segment",
            Reason::Port => "the port is not a number of at most 65535",
            Reason::Relative => "the URL is relative",
            Reason::InvalidUtf8 => "the URL is not valid UTF-8",
        })
    }
}

impl fmt::Display for CanonicalizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at offset {}", self.reason, self.offset)
    }
}

impl core::error::Error for CanonicalizeError {}
