//! The two kinds of text that URLs come in: bytes and `str`.

#[cfg(feature = "alloc")]
use alloc::borrow::{Cow, ToOwned as HasOwned};
#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use core::ops::Range;

/// Takes the place of `ToOwned` without the feature `alloc`.
#[cfg(not(feature = "alloc"))]
pub trait HasOwned {}
#[cfg(not(feature = "alloc"))]
impl<T: ?Sized> HasOwned for T {}

/// The text of a URL: `[u8]` or `str`. Parts of a `str` are `str`, and results made of `str` are `String`.
///
/// Only this crate implements this trait, whose items are not public.
pub trait Text: Source<Text = Self> + AsRef<[u8]> + Hash + Eq + fmt::Debug + HasOwned + 'static {
    /// The empty text.
    #[doc(hidden)]
    const EMPTY: &'static Self;

    /// Returns a part of the text. Each end of `range` is next to an ASCII delimiter or at an end of the text, so it is a character
    /// boundary.
    #[doc(hidden)]
    fn part(&self, range: Range<usize>) -> &Self;

    /// Makes a text of `bytes`, which consist of parts of texts of this type and of ASCII.
    #[doc(hidden)]
    #[cfg(feature = "alloc")]
    fn from_parts(bytes: Vec<u8>) -> Self::Owned;
}

impl Text for [u8] {
    const EMPTY: &'static [u8] = b"";

    #[inline(always)]
    fn part(&self, range: Range<usize>) -> &[u8] {
        &self[range]
    }

    #[cfg(feature = "alloc")]
    fn from_parts(bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
}

impl Text for str {
    const EMPTY: &'static str = "";

    #[inline(always)]
    fn part(&self, range: Range<usize>) -> &str {
        &self[range]
    }

    #[cfg(feature = "alloc")]
    fn from_parts(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("parts of UTF-8 that ASCII separates")
    }
}

/// A value that is the text of a URL: `[u8]`, `[u8; N]`, `Vec<u8>`, `str`, `String`, `UriBuf`, a `Cow` of bytes or text, and references to
/// these.
///
/// Only this crate implements this trait, whose items are not public.
pub trait Source {
    /// The type of the text, and of its parts.
    #[doc(hidden)]
    type Text: Text + ?Sized;

    /// Returns the text.
    #[doc(hidden)]
    fn text(&self) -> &Self::Text;
}

macro_rules! sources {
    ($($(#[$cfg:meta])? [$($generics:tt)*] $source:ty => $text:ty;)*) => {
        $(
            $(#[$cfg])?
            impl<$($generics)*> Source for $source {
                type Text = $text;

                #[inline(always)]
                fn text(&self) -> &$text {
                    self.as_ref()
                }
            }
        )*
    };
}

sources! {
    [] [u8] => [u8];
    [] str => str;
    [const N: usize] [u8; N] => [u8];
    #[cfg(feature = "alloc")] [] Vec<u8> => [u8];
    #[cfg(feature = "alloc")] [] String => str;
    #[cfg(feature = "alloc")] [T: Text + ?Sized] Cow<'_, T> => T;
}

impl<S: Source + ?Sized> Source for &S {
    type Text = S::Text;

    #[inline(always)]
    fn text(&self) -> &S::Text {
        (**self).text()
    }
}

/// Implements `Clone` and `Copy` for types that hold references to text. A derived `Copy` would ask that the text itself can be copied.
macro_rules! copy {
    ($($name:ident)*) => {
        $(
            impl<T: Text + ?Sized> Clone for $name<'_, T> {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl<T: Text + ?Sized> Copy for $name<'_, T> {}
        )*
    };
}
pub(crate) use copy;
