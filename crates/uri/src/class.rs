//! Classes of bytes, and the syntax of schemes in RFC 3986.

use simdpct::AsciiSet;

/// Returns the set of `bytes`, which must be ASCII.
pub(crate) const fn set(bytes: &[u8]) -> AsciiSet {
    AsciiSet::from_bytes(bytes).expect("ASCII")
}

/// Reports whether `name` is a scheme (RFC 3986, section 3.1).
///
/// ```text
/// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
/// ```
#[inline]
pub(crate) fn is_scheme(name: &[u8]) -> bool {
    let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    match name {
        b"https" | b"http" | b"file" => true,
        // The fold has no early exit, so that the compiler can check many bytes at a time.
        [first, rest @ ..] => {
            first.is_ascii_alphabetic() && rest.iter().fold(true, |all, &byte| all & is_scheme_byte(byte))
        }
        [] => false,
    }
}
