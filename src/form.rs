//! Form data: the names and values of `application/x-www-form-urlencoded`, where a space is written as `+`.
//!
//! These functions encode and decode one name or one value. Split at `&` and `=` before decoding.

use alloc::borrow::Cow;

use crate::{Decode, Encode, sets};

/// Encodes one name or value (URL Standard, section 5.2): [`Encode::form`] with
/// [`WHATWG_FORM`](sets::WHATWG_FORM).
///
/// ```
/// assert_eq!(simdpct::form::encode("a b+c~"), "a+b%2Bc%7E");
/// ```
#[must_use]
#[inline]
pub fn encode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    Encode::keeping(sets::WHATWG_FORM).form().encode(input)
}

/// Decodes one name or value (URL Standard, section 5.1): [`Decode::form`].
///
/// ```
/// assert_eq!(&*simdpct::form::decode("a+b%2Bc%7E"), b"a b+c~");
/// ```
#[must_use]
#[inline]
pub fn decode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::new().form().decode(input)
}

/// Decodes one name or value to text, with U+FFFD for invalid UTF-8, as in the URL Standard.
///
/// ```
/// assert_eq!(simdpct::form::decode_utf8_lossy("caf%C3%A9+%FF"), "caf\u{e9} \u{fffd}");
/// ```
#[must_use]
pub fn decode_utf8_lossy(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    Decode::new().form().decode_utf8_lossy(input)
}
