//! Bytes that are text, and text that is bytes: the places where a `str` is made without a check.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String, vec::Vec};

#[cfg(feature = "alloc")]
use crate::encode::Encode;
use crate::set::{AsciiSet, ByteSet};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AsciiSet {}
    impl Sealed for super::ByteSet {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::String {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::Vec<u8> {}
}

/// What text encoded with a set is: `str` for an [`AsciiSet`], `[u8]` for a [`ByteSet`]. This trait is sealed.
#[cfg(feature = "alloc")]
pub trait KeepSet: Copy + sealed::Sealed {
    /// The type of encoded text.
    type Text: ?Sized + alloc::borrow::ToOwned<Owned: AppendText<Self::Text>> + 'static;

    /// The members.
    fn members(&self) -> ByteSet;

    /// [`Encode::to_cow`].
    #[doc(hidden)]
    fn encode<'a>(encode: &Encode<Self>, input: &'a [u8]) -> Cow<'a, Self::Text>;
}

/// What text encoded with a set is. This trait is sealed.
#[cfg(not(feature = "alloc"))]
pub trait KeepSet: Copy + sealed::Sealed {
    /// The members.
    fn members(&self) -> ByteSet;
}

impl KeepSet for AsciiSet {
    #[cfg(feature = "alloc")]
    type Text = str;

    #[inline(always)]
    fn members(&self) -> ByteSet {
        self.bytes()
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn encode<'a>(encode: &Encode<Self>, input: &'a [u8]) -> Cow<'a, str> {
        // Encoded text is members of the set, `%`, `+` and hexadecimal digits, and members of an `AsciiSet` are
        // ASCII by its invariant.
        match encode.bytes_of(input) {
            // SAFETY: as above, the bytes are ASCII.
            Cow::Borrowed(bytes) => Cow::Borrowed(unsafe { core::str::from_utf8_unchecked(bytes) }),
            // SAFETY: as above, the bytes are ASCII.
            Cow::Owned(bytes) => Cow::Owned(unsafe { String::from_utf8_unchecked(bytes) }),
        }
    }
}

impl KeepSet for ByteSet {
    #[cfg(feature = "alloc")]
    type Text = [u8];

    #[inline(always)]
    fn members(&self) -> ByteSet {
        *self
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn encode<'a>(encode: &Encode<Self>, input: &'a [u8]) -> Cow<'a, [u8]> {
        encode.bytes_of(input)
    }
}

/// A buffer that text of type `T` can be appended to: `Vec<u8>` takes all, `String` takes `str`. This trait is
/// sealed.
#[cfg(feature = "alloc")]
pub trait AppendText<T: ?Sized>: sealed::Sealed {
    /// [`Encode::append`].
    #[doc(hidden)]
    fn encode<S: KeepSet<Text = T>>(&mut self, encode: &Encode<S>, input: &[u8]);
}

#[cfg(feature = "alloc")]
impl<T: ?Sized> AppendText<T> for Vec<u8> {
    #[inline(always)]
    fn encode<S: KeepSet<Text = T>>(&mut self, encode: &Encode<S>, input: &[u8]) {
        encode.append_bytes(input, self);
    }
}

#[cfg(feature = "alloc")]
impl AppendText<str> for String {
    #[inline(always)]
    fn encode<S: KeepSet<Text = str>>(&mut self, encode: &Encode<S>, input: &[u8]) {
        // SAFETY: only an `AsciiSet` has text of type `str`, and what encoding with one appends is ASCII.
        encode.append_bytes(input, unsafe { self.as_mut_vec() });
    }
}

/// `bytes` as text, or the length of their valid start.
#[cfg(feature = "alloc")]
pub(crate) fn as_str(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| error.valid_up_to())
}

/// `bytes` as text, or the length of their valid start.
#[cfg(feature = "alloc")]
pub(crate) fn into_string(bytes: Vec<u8>) -> Result<String, (usize, Vec<u8>)> {
    match as_str(&bytes) {
        // SAFETY: the bytes were just found to be UTF-8.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(bytes) }),
        Err(valid) => Err((valid, bytes)),
    }
}

/// The normalization of text, which is text: only escapes of ASCII bytes are replaced.
#[cfg(feature = "alloc")]
pub(crate) fn normalized_text(bytes: Vec<u8>) -> String {
    debug_assert!(as_str(&bytes).is_ok());
    // SAFETY: the caller normalized a `str`. Escapes are ASCII, and each is replaced by an unreserved byte or by
    // itself in upper case, which are ASCII too; what was UTF-8 before stays so.
    unsafe { String::from_utf8_unchecked(bytes) }
}
