//! Octets that are text, and text that is octets: the places where a `str` is made without a check.

#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};

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

    /// `octets`, of which every one is a member of this set.
    ///
    /// # Safety
    ///
    /// Every octet is a member of the set, or one of `%`, `+` and the hexadecimal digits.
    #[doc(hidden)]
    unsafe fn text(octets: &[u8]) -> &Self::Text;
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
    unsafe fn text(octets: &[u8]) -> &str {
        // SAFETY: members of an `AsciiSet` are ASCII by its invariant, so the octets are.
        unsafe { core::str::from_utf8_unchecked(octets) }
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
    unsafe fn text(octets: &[u8]) -> &[u8] {
        octets
    }
}

/// A buffer that text of type `T` can be appended to: `Vec<u8>` takes all, `String` takes `str`. This trait is
/// sealed.
#[cfg(feature = "alloc")]
pub trait AppendText<T: ?Sized>: Default + sealed::Sealed {
    /// The octets of the buffer.
    ///
    /// # Safety
    ///
    /// Only text of type `T` may be appended, and nothing else changed.
    #[doc(hidden)]
    unsafe fn octets(&mut self) -> &mut Vec<u8>;
}

#[cfg(feature = "alloc")]
impl<T: ?Sized> AppendText<T> for Vec<u8> {
    #[inline(always)]
    unsafe fn octets(&mut self) -> &mut Vec<u8> {
        self
    }
}

#[cfg(feature = "alloc")]
impl AppendText<str> for String {
    #[inline(always)]
    unsafe fn octets(&mut self) -> &mut Vec<u8> {
        // SAFETY: the caller appends only text of type `str`.
        unsafe { self.as_mut_vec() }
    }
}

/// `octets` as text, or the length of their valid start.
#[cfg(feature = "alloc")]
pub(crate) fn as_str(octets: &[u8]) -> Result<&str, usize> {
    simdutf8::compat::from_utf8(octets).map_err(|error| error.valid_up_to())
}

/// `octets` as text, or the length of their valid start.
#[cfg(feature = "alloc")]
pub(crate) fn into_string(octets: Vec<u8>) -> Result<String, (usize, Vec<u8>)> {
    match as_str(&octets) {
        // SAFETY: the octets were just found to be UTF-8.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(octets) }),
        Err(valid) => Err((valid, octets)),
    }
}

/// The normalization of text, which is text: only escapes of ASCII octets are replaced.
#[cfg(feature = "alloc")]
pub(crate) fn normalized_text(octets: Vec<u8>) -> String {
    debug_assert!(as_str(&octets).is_ok());
    // SAFETY: the caller normalized a `str`. Escapes are ASCII, and each is replaced by an unreserved octet or by
    // itself in upper case, which are ASCII too; what was UTF-8 before stays so.
    unsafe { String::from_utf8_unchecked(octets) }
}
