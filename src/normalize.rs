//! Normalization of escapes (RFC 3986, section 6.2.2.1 for the digits of escapes, and 6.2.2.2), and equivalence under it.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;

use crate::decode::Decode;
use crate::kernel::reference;

/// Normalizes the escapes of `input`: decodes those of unreserved bytes (RFC 3986, section 6.2.2.2) and writes the
/// digits of all others in upper case (section 6.2.2.1). Nothing else changes: the case of schemes and hosts, dot
/// segments and malformed escapes stay. [`Decode::NORMALIZE`] has all other methods; [`Decode::is_decoded`] reports
/// whether it would change nothing.
///
/// A second normalization changes nothing: an escape stays if its byte would complete a malformed one, such as `%35` in `%2%35`.
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
