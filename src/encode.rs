//! Encoding: every byte outside a set is written as an escape.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, borrow::ToOwned, vec::Vec};
use core::fmt;
use core::mem::MaybeUninit;

#[cfg(feature = "alloc")]
use crate::coder::AppendText;
use crate::coder::{Coder, KeepSet};
use crate::error::BufferTooSmall;
use crate::hex::{self, HexCase};
use crate::kernel::cursor;
use crate::kernel::isa::Tier;
use crate::set::{AsciiSet, sets};

/// An encoder: the set of bytes that stay, and the options.
///
/// Bytes that do not stay are written as `%` and two hexadecimal digits (RFC 3986, section 2.1). By default, `%` is
/// a byte like any other. So decoding gives back exactly what was encoded, for every set that does not hold `%`.
///
/// [`Encode::keeping`] takes the set of bytes that stay, and [`Encode::escaping`] the set of ASCII bytes that do not.
///
/// An encoder is cheap to make and to copy, except that of a form ([`Encode::form`]), which belongs in a constant. Every
/// method takes time linear in the input. No method panics, except that `Vec` and `String` panic or abort when they
/// cannot allocate.
///
/// ```
/// use simdpct::{Encode, sets};
///
/// let path = Encode::keeping(sets::RFC3986_PATH);
/// assert_eq!(path.encode("/a b/%41%"), "/a%20b/%2541%25");
/// assert_eq!(path.keep_escapes().encode("/a b/%41%"), "/a%20b/%41%25");
/// ```
///
/// A constant encoder is made when the program is compiled:
///
/// ```
/// use simdpct::{AsciiSet, Encode, sets};
///
/// static REPAIR: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_PATH).keep_escapes();
/// assert_eq!(REPAIR.encode("/50% of%20it"), "/50%25%20of%20it");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Encode<S> {
    pub(crate) coder: Coder<S>,
}

impl Encode<AsciiSet> {
    /// Makes an encoder that escapes exactly the bytes of `set` and every byte of `0x80` or more. The sets of the
    /// `percent-encoding` crate and the percent-encode sets of the URL Standard have this meaning.
    ///
    /// ```
    /// use simdpct::{AsciiSet, Encode};
    ///
    /// const FRAGMENT: AsciiSet = AsciiSet::CONTROLS.add(b" \"<>`").unwrap();
    /// assert_eq!(Encode::escaping(FRAGMENT).encode("<b>\u{e9} %"), "%3Cb%3E%C3%A9%20%");
    /// ```
    #[inline(always)]
    pub const fn escaping(set: AsciiSet) -> Encode<AsciiSet> {
        Encode::keeping(set.complement())
    }

    /// Returns a value that formats as the encoded text: `format!("/search?q={}", encode.display(query))`. The text is written
    /// in pieces through a buffer on the stack, without an allocation.
    ///
    /// Width, precision and other options of the format string have no effect.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let value = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// assert_eq!(format!("/search?q={}", value.display("a&b")), "/search?q=a%26b");
    /// ```
    pub fn display<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Encoded<'a> {
        Encoded { coder: self.coder, input: input.as_ref() }
    }
}

impl<S: KeepSet> Encode<S> {
    /// Makes an encoder that keeps the bytes of `set`, an [`AsciiSet`] or a [`ByteSet`](crate::ByteSet), and escapes every
    /// other byte with upper-case digits.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// assert_eq!(Encode::keeping(sets::RFC3986_SEGMENT).encode("a/b c"), "a%2Fb%20c");
    /// ```
    #[inline(always)]
    pub const fn keeping(set: S) -> Encode<S> {
        Encode { coder: Coder::new(set) }
    }

    /// Keeps each valid escape of the input, and escapes every other `%`, whatever the set says. So a second encoding
    /// changes nothing. This mode repairs URLs found in the wild. It replaces [`Encode::form`].
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let repair = Encode::keeping(sets::WHATWG_PATH).keep_escapes();
    /// assert_eq!(repair.encode("/50% of%20it"), "/50%25%20of%20it");
    /// ```
    #[inline(always)]
    pub const fn keep_escapes(self) -> Encode<S> {
        Encode { coder: self.coder.keep_escapes() }
    }

    /// Writes a space as `+` and escapes `+`, whatever the set says (URL Standard, section 5.2). This mode replaces
    /// [`Encode::keep_escapes`].
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// assert_eq!(Encode::keeping(sets::WHATWG_FORM).form().encode("1 + 1"), "1+%2B+1");
    /// ```
    #[inline(always)]
    pub const fn form(self) -> Encode<S> {
        Encode { coder: self.coder.form() }
    }

    /// Sets the case of the digits of new escapes. RFC 3986, section 2.1, asks for upper case.
    ///
    /// ```
    /// use simdpct::{Encode, HexCase, sets};
    /// let lower = Encode::keeping(sets::RFC3986_UNRESERVED).hex_case(HexCase::Lower);
    /// assert_eq!(lower.encode("/"), "%2f");
    /// ```
    #[inline(always)]
    pub const fn hex_case(self, case: HexCase) -> Encode<S> {
        Encode { coder: self.coder.hex_case(case) }
    }

    /// Uses the kernels of `tier` instead of those of the active tier.
    ///
    /// ```
    /// use simdpct::{Encode, Tier, sets};
    /// for tier in Tier::available() {
    ///     assert_eq!(Encode::keeping(sets::PYTHON_QUOTE).tier(tier).encode("/a b"), "/a%20b", "{tier}");
    /// }
    /// ```
    #[inline(always)]
    pub const fn tier(self, tier: Tier) -> Encode<S> {
        Encode { coder: self.coder.tier(tier) }
    }

    /// Returns the exact length of the encoded text in bytes, or `usize::MAX` if it is longer than that.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// assert_eq!(Encode::keeping(sets::RFC3986_UNRESERVED).encoded_len("a b"), 5);
    /// ```
    #[must_use]
    pub fn encoded_len(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> usize {
        self.coder.core().measure(input.as_ref()).len
    }

    /// Reports whether encoding would change nothing. It stops at the first piece of input, at most 4 KiB, that changes.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let path = Encode::keeping(sets::RFC3986_PATH).keep_escapes();
    /// assert!(path.is_encoded("/a%20b"));
    /// assert!(!path.is_encoded("/a b"));
    /// ```
    #[must_use]
    pub fn is_encoded(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> bool {
        self.coder.core().is_encoded(input.as_ref())
    }

    /// Returns the offset of the first byte of `input` that encoding would change, or `None` if every byte stays.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let host = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// assert_eq!(host.first_change("example.org"), None);
    /// assert_eq!(host.first_change("exa mple"), Some(3));
    /// ```
    #[must_use]
    pub fn first_change(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Option<usize> {
        self.coder.core().first_change(input.as_ref())
    }

    /// Encodes into `out` and returns the number of bytes written. The bytes of `out` after these are unspecified. A
    /// slice three times as long as the input is always large enough; a shorter one may cost a second pass, which
    /// measures the output.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let encode = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// let mut out = [0; 8];
    /// assert_eq!(encode.encode_to_slice("a b", &mut out), Ok(5));
    /// assert_eq!(&out[..5], b"a%20b");
    /// assert_eq!(encode.encode_to_slice("a b", &mut out[..4]).unwrap_err().needed, 5);
    /// ```
    #[inline]
    pub fn encode_to_slice(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut [u8],
    ) -> Result<usize, BufferTooSmall> {
        self.coder.core().write_to_slice(input.as_ref(), out)
    }

    /// Encodes into memory that need not be initialised, and returns the part that was written. See
    /// [`Encode::encode_to_slice`] for the size.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use simdpct::{Encode, sets};
    ///
    /// let mut out = [MaybeUninit::uninit(); 16];
    /// let text = Encode::keeping(sets::RFC3986_UNRESERVED).encode_to_uninit("a b", &mut out)?;
    /// assert_eq!(text, b"a%20b");
    /// # Ok::<(), simdpct::BufferTooSmall>(())
    /// ```
    #[inline]
    pub fn encode_to_uninit<'o>(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], BufferTooSmall> {
        let input = input.as_ref();
        cursor::fill(out, |room| Ok((self.coder.core().write_checked(input, room)?, ())))
            .map(|(text, ())| text)
    }
}

#[cfg(feature = "alloc")]
impl<S: KeepSet> Encode<S> {
    /// Returns the encoded text: borrowed, without an allocation, when nothing changes; else one allocation of the exact size.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use simdpct::{ByteSet, Encode, sets};
    ///
    /// let encode = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// assert!(matches!(encode.encode("clean"), Cow::Borrowed("clean")));
    /// // With a `ByteSet`, which may hold bytes of 0x80 or more, the result is bytes.
    /// let iri = Encode::keeping(sets::RFC3986_URI.to_byte_set().union(ByteSet::NON_ASCII));
    /// assert_eq!(&*iri.encode("caf\u{e9} 1"), "caf\u{e9}%201".as_bytes());
    /// ```
    #[inline]
    pub fn encode<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Cow<'a, S::Text> {
        S::encode(&self.coder, input.as_ref())
    }

    /// Appends the encoded text to `out`, a `Vec<u8>` or (with an [`AsciiSet`]) a `String`.
    ///
    /// If the spare capacity may be too little, `out` reserves three times the length of an input of at most 1024 bytes,
    /// or, if that is more, ten times it, up to 256 bytes. A longer input is measured first.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let mut url = String::from("/search?q=");
    /// Encode::keeping(sets::RFC3986_UNRESERVED).encode_append("a&b", &mut url);
    /// assert_eq!(url, "/search?q=a%26b");
    /// ```
    #[inline]
    pub fn encode_append(&self, input: &(impl AsRef<[u8]> + ?Sized), out: &mut impl AppendText<S::Text>) {
        out.append(&self.coder, input.as_ref());
    }

    /// Encodes a `String` or a `Vec<u8>` that the caller owns: returns `input` itself when nothing changes, else one allocation
    /// of the exact size. The result is a `String` with an [`AsciiSet`], a `Vec<u8>` with a [`ByteSet`](crate::ByteSet).
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let encode = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// let name = String::from("report.txt");
    /// let at = name.as_ptr();
    /// let name = encode.encode_owned(name);
    /// assert_eq!((name.as_str(), name.as_ptr()), ("report.txt", at));
    /// assert_eq!(encode.encode_owned(vec![b'a', 0xff]), "a%FF");
    /// ```
    #[must_use]
    pub fn encode_owned(&self, input: impl Into<Vec<u8>>) -> <S::Text as ToOwned>::Owned {
        S::encode_owned(&self.coder, input.into())
    }
}

/// The encoded form of an input, as a value that `format!` can write. [`Encode::display`] makes it.
///
/// ```
/// use simdpct::{Encode, sets};
/// let name = Encode::keeping(sets::RFC3986_SEGMENT).display("a b");
/// assert_eq!(format!("GET /{name} {name:?}"), "GET /a%20b \"a%20b\"");
/// ```
#[derive(Clone, Copy)]
pub struct Encoded<'a> {
    coder: Coder<AsciiSet>,
    input: &'a [u8],
}

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.coder.format(self.input, f)
    }
}

/// Writes the encoded text in quotation marks.
impl fmt::Debug for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let mut escaped = Quoted(f);
        self.coder.format(self.input, &mut escaped)?;
        f.write_str("\"")
    }
}

/// A writer that escapes its text as in a string literal, because a set may keep quotation marks, backslashes and controls.
struct Quoted<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Quoted<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write!(self.0, "{}", text.escape_debug())
    }
}

/// Returns the escape of `byte` (RFC 3986, section 2.1).
///
/// ```
/// use simdpct::HexCase;
/// assert_eq!(&simdpct::encode_byte(b'/', HexCase::Upper), b"%2F");
/// ```
#[must_use]
pub const fn encode_byte(byte: u8, case: HexCase) -> [u8; 3] {
    hex::escape(byte, case)
}

/// The set of bytes that the free functions, such as [`encode()`], keep.
const COMPONENT: AsciiSet = sets::RFC3986_UNRESERVED;

/// Encodes `input` as one component of a URL: keeps `A-Z a-z 0-9 - . _ ~` ([`RFC3986_UNRESERVED`](sets::RFC3986_UNRESERVED))
/// and escapes every other byte. For other sets, see [`Encode::keeping`].
///
/// The result is borrowed, without an allocation, when nothing changes.
///
/// ```
/// use std::borrow::Cow;
///
/// assert_eq!(simdpct::encode("caf\u{e9} \u{2615}"), "caf%C3%A9%20%E2%98%95");
/// assert!(matches!(simdpct::encode("clean"), Cow::Borrowed("clean")));
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn encode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    Encode::keeping(COMPONENT).encode(input)
}

/// Encodes `input` and appends the result to `out`, a `String` or a `Vec<u8>`. See [`encode()`] for the set.
///
/// ```
/// let mut url = String::from("/search?q=");
/// simdpct::encode_append("a b", &mut url);
/// assert_eq!(url, "/search?q=a%20b");
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn encode_append(input: &(impl AsRef<[u8]> + ?Sized), out: &mut impl AppendText<str>) {
    Encode::keeping(COMPONENT).encode_append(input, out);
}

/// Encodes `input` into `out` and returns the number of bytes written: [`Encode::encode_to_slice`]. The set is
/// [`RFC3986_UNRESERVED`](sets::RFC3986_UNRESERVED).
///
/// # Errors
///
/// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
///
/// ```
/// let mut out = [0; 8];
/// let len = simdpct::encode_to_slice("a b", &mut out)?;
/// assert_eq!(&out[..len], b"a%20b");
/// # Ok::<(), simdpct::BufferTooSmall>(())
/// ```
#[inline]
pub fn encode_to_slice(input: &(impl AsRef<[u8]> + ?Sized), out: &mut [u8]) -> Result<usize, BufferTooSmall> {
    Encode::keeping(COMPONENT).encode_to_slice(input, out)
}
