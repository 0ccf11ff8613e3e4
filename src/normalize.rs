//! Normalization of escapes: RFC 3986, section 6.2.2, and equivalence under it.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, vec::Vec};

use crate::decode::Decode;
use crate::error::BufferTooSmall;
use crate::hex::{self, HexCase};
#[cfg(feature = "alloc")]
use crate::utf8;

/// Normalizes the escapes of `input` (RFC 3986, section 6.2.2).
///
/// The result is borrowed, without an allocation, when nothing changes. Takes time linear in the input.
///
/// ```
/// assert_eq!(&*simdpct::normalize("/%7Euser/%2f%41%zz"), b"/~user/%2FA%zz");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn normalize(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::NORMALIZE.decode(input)
}

/// As [`normalize`], for text.
///
/// ```
/// assert_eq!(simdpct::normalize_str("/%7Euser/caf\u{e9}"), "/~user/caf\u{e9}");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn normalize_str(input: &str) -> Cow<'_, str> {
    match normalize(input) {
        Cow::Borrowed(_) => Cow::Borrowed(input),
        Cow::Owned(bytes) => Cow::Owned(utf8::normalized_text(bytes)),
    }
}

/// Appends `input`, normalized, to `out`.
#[cfg(feature = "alloc")]
#[inline]
pub fn normalize_append(input: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
    Decode::NORMALIZE.decode_append(input, out);
}

/// Normalizes `input` into `out` and returns the number of bytes written.
///
/// # Errors
///
/// [`BufferTooSmall`] names the exact size needed; `out` is then untouched.
#[inline]
pub fn normalize_to_slice(
    input: &(impl AsRef<[u8]> + ?Sized),
    out: &mut [u8],
) -> Result<usize, BufferTooSmall> {
    Decode::NORMALIZE.decode_to_slice(input, out)
}

/// Normalizes `bytes` where they lie and returns the length of the result.
#[inline]
pub fn normalize_in_place(bytes: &mut [u8]) -> usize {
    Decode::NORMALIZE.decode_in_place(bytes)
}

/// Whether [`normalize`] would change nothing.
///
/// ```
/// assert!(simdpct::is_normalized("/~user/%2F"));
/// assert!(!simdpct::is_normalized("/%7Euser/%2F"));
/// ```
#[must_use]
#[inline]
pub fn is_normalized(input: &(impl AsRef<[u8]> + ?Sized)) -> bool {
    Decode::NORMALIZE.is_decoded(input)
}

/// Whether `a` and `b` are the same after [`normalize`], which is RFC 3986's equivalence by syntax as far as
/// escapes go. Nothing is allocated.
///
/// A reserved byte and its escape are *not* equivalent.
///
/// ```
/// assert!(simdpct::equivalent("/%7euser%2f", "/~user%2F"));
/// assert!(!simdpct::equivalent("/a/b", "/a%2Fb"));
/// ```
#[must_use]
pub fn equivalent(a: &(impl AsRef<[u8]> + ?Sized), b: &(impl AsRef<[u8]> + ?Sized)) -> bool {
    let (a, b) = (a.as_ref(), b.as_ref());
    a == b || normalized(a).eq(normalized(b))
}

/// The bytes of `input` after normalization.
fn normalized(input: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut rest = input;
    core::iter::from_fn(move || {
        let (bytes, len, used) = match (hex::unescape(rest), rest.first()) {
            (Some(byte), _) if Decode::NORMALIZE.core.job.stays(byte) => {
                (hex::escape(byte, HexCase::Upper), 3, 3)
            }
            (Some(byte), _) => ([byte, 0, 0], 1, 3),
            (None, Some(&byte)) => ([byte, 0, 0], 1, 1),
            (None, None) => return None,
        };
        rest = &rest[used..];
        Some(bytes.into_iter().take(len))
    })
    .flatten()
}
