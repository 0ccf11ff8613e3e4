//! The classes of bytes of RFC 3986.

/// `ALPHA / DIGIT / "+" / "-" / "."`: the bytes of a scheme after its first.
#[inline]
pub(crate) const fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether `name` is a scheme (RFC 3986, section 3.1).
///
/// ```text
/// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
/// ```
#[inline]
pub(crate) fn is_scheme(name: &[u8]) -> bool {
    // No early exit, so that the compiler can take many bytes at a time.
    let of_the_class = |name: &[u8]| name.iter().fold(true, |all, &byte| all & is_scheme_byte(byte));
    match name {
        b"https" | b"http" | b"file" => true,
        [first, rest @ ..] => first.is_ascii_alphabetic() && of_the_class(rest),
        [] => false,
    }
}

/// `unreserved` (RFC 3986, section 2.3).
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// `sub-delims` (RFC 3986, section 2.2).
pub(crate) const fn is_sub_delim(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

/// `pchar` without escapes (RFC 3986, section 3.3).
pub(crate) const fn is_pchar(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delim(byte) || matches!(byte, b':' | b'@')
}
