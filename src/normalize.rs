//! Normalization of escapes (RFC 3986, section 6.2.2.1 for the digits of escapes, and 6.2.2.2), and equivalence under it.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, vec::Vec};

use crate::decode::Decode;
use crate::error::BufferTooSmall;
use crate::kernel::reference;
#[cfg(feature = "alloc")]
use crate::utf8;

/// Normalizes the escapes of `input`: decodes those of unreserved bytes (RFC 3986, section 6.2.2.2) and writes the digits of
/// all others in upper case (section 6.2.2.1). Nothing else changes: the case of schemes and hosts, dot segments and malformed
/// escapes stay. [`Decode::NORMALIZE`] has more verbs.
///
/// The result is idempotent: an escape that would complete a malformed one if it were decoded stays, such as `%35` in `%2%35`.
///
/// The result is borrowed, without an allocation, when nothing changes. Takes time linear in the input.
///
/// ```
/// assert_eq!(&*simdpct::normalize("/%7Euser/%2f%41%zz"), b"/~user/%2FA%zz");
/// assert_eq!(&*simdpct::normalize("%2%35"), b"%2%35");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn normalize(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::NORMALIZE.decode(input)
}

/// Normalizes the escapes of text. See [`normalize`] for the rules.
///
/// ```
/// assert_eq!(simdpct::normalize_str("/%7Euser/caf\u{e9}"), "/~user/caf\u{e9}");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn normalize_str(input: &str) -> Cow<'_, str> {
    utf8::normalize(input)
}

/// Normalizes the escapes of `input` and appends the result to `out`. See [`normalize`] for the rules.
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

/// Normalizes the escapes of `input` into `out` and returns the number of bytes written. See [`normalize`](crate::normalize())
/// for the rules.
///
/// # Errors
///
/// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
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

/// Reports whether [`normalize`](crate::normalize()) would change nothing.
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

/// Reports whether `a` and `b` are the same after [`normalize`](crate::normalize()): RFC 3986's syntax-based equivalence
/// (section 6.2.2), for escapes only. Takes time linear in the input and allocates nothing.
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

/// Returns the bytes of `input` after normalization.
fn normalized(input: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let step = |at: usize| reference::decode(&Decode::NORMALIZE.core.job, input, at);
    reference::steps(0..input.len(), step).flat_map(|(_, step)| step.output())
}
