//! Normalization of escapes (RFC 3986, section 6.2.2.1 for the digits of escapes, and 6.2.2.2), and equivalence under it.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, vec::Vec};

use crate::decode::Decode;
use crate::error::BufferTooSmall;
use crate::hex::{self, HexCase};
#[cfg(feature = "alloc")]
use crate::utf8;

/// Normalizes the escapes of `input`: decodes those of unreserved bytes (RFC 3986, section 6.2.2.2) and writes the digits of
/// all others in upper case (section 6.2.2.1). Nothing else changes: not the case of schemes and hosts, no dot segments, and no
/// malformed escape. The same as [`Decode::NORMALIZE`].
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

/// Appends `input`, normalized as by [`normalize`], to `out`.
///
/// ```
/// let mut key = b"GET ".to_vec();
/// simdpct::normalize_append("/%7euser", &mut key);
/// assert_eq!(key, b"GET /~user");
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn normalize_append(input: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
    Decode::NORMALIZE.decode_append(input, out);
}

/// Normalizes `input`, as by [`normalize`](crate::normalize()), into `out` and returns the number of bytes written.
///
/// # Errors
///
/// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
///
/// ```
/// let mut out = [0; 8];
/// let len = simdpct::normalize_to_slice("%7e%2f", &mut out)?;
/// assert_eq!(&out[..len], b"~%2F");
/// # Ok::<(), simdpct::BufferTooSmall>(())
/// ```
#[inline]
pub fn normalize_to_slice(
    input: &(impl AsRef<[u8]> + ?Sized),
    out: &mut [u8],
) -> Result<usize, BufferTooSmall> {
    Decode::NORMALIZE.decode_to_slice(input, out)
}

/// Normalizes `bytes` in place and returns the length of the result, which is at the start. The bytes after it are
/// unspecified.
///
/// ```
/// let mut bytes = *b"%7Euser";
/// let len = simdpct::normalize_in_place(&mut bytes);
/// assert_eq!(&bytes[..len], b"~user");
/// ```
#[inline]
pub fn normalize_in_place(bytes: &mut [u8]) -> usize {
    Decode::NORMALIZE.decode_in_place(bytes)
}

/// Whether [`normalize`](crate::normalize()) would change nothing.
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

/// Whether `a` and `b` are the same after [`normalize`](crate::normalize()): RFC 3986's syntax-based equivalence (section
/// 6.2.2), for escapes only. Takes time linear in the input and allocates nothing.
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
