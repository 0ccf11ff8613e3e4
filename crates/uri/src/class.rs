//! The classes of bytes of RFC 3986.

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

/// Reports whether `byte` is `unreserved` (RFC 3986, section 2.3).
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Reports whether `byte` is one of `sub-delims` (RFC 3986, section 2.2).
pub(crate) const fn is_sub_delim(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

/// Reports whether `byte` is a `pchar` that is not the start of an escape (RFC 3986, section 3.3).
pub(crate) const fn is_pchar(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delim(byte) || matches!(byte, b':' | b'@')
}

/// Reports whether `scheme` is special in the URL Standard and not `file`. Browsers skip any number of slashes after such a scheme.
#[cfg(feature = "alloc")]
pub(crate) fn is_special(scheme: &[u8]) -> bool {
    [&b"http"[..], b"https", b"ws", b"wss", b"ftp"].iter().any(|special| scheme.eq_ignore_ascii_case(special))
}
