//! Encoding: bytes outside a set are written as escapes.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, borrow::ToOwned, string::String, vec::Vec};
use core::fmt;
use core::mem::MaybeUninit;

#[cfg(feature = "alloc")]
use crate::coder::AppendText;
use crate::coder::{Coder, KeepSet};
use crate::error::BufferTooSmall;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{self, Room};
use crate::kernel::isa::Tier;
use crate::set::{AsciiSet, sets};

/// How to encode: which bytes stay as they are, and which rule applies to the others.
///
/// Bytes that do not stay are written as `%` and two hexadecimal digits (RFC 3986, section 2.1). Under the plain rule `%`
/// is a byte like any other, so decoding gives back exactly what was encoded, for every set that does not hold `%`.
///
/// [`Encode::keeping`] takes the set of bytes that stay, [`Encode::escaping`] the set of bytes that do not.
///
/// A value is cheap to make and to copy. Every verb takes time linear in the input. No verb panics, except that `Vec` and
/// `String` panic or abort when they cannot allocate.
///
/// ```
/// use simdpct::{Encode, sets};
///
/// let path = Encode::keeping(sets::RFC3986_PATH);
/// assert_eq!(path.encode("/a b/%41%"), "/a%20b/%2541%25");
/// assert_eq!(path.keep_escapes().encode("/a b/%41%"), "/a%20b/%41%25");
/// ```
///
/// An encoder that is a constant is put together when the program is compiled:
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
    /// Escapes exactly the bytes of `set` and every byte of `0x80` or more; all other bytes stay. The `percent-encoding`
    /// crate and the percent-encode sets of the URL Standard are worded this way.
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

    /// The encoded text as something to format: `format!("/search?q={}", encode.display(query))`. It is written in pieces
    /// through a buffer on the stack; nothing is allocated.
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
    /// Keeps the bytes of `set`, an [`AsciiSet`] or a [`ByteSet`](crate::ByteSet); escapes every other byte, with
    /// upper-case digits.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// assert_eq!(Encode::keeping(sets::RFC3986_SEGMENT).encode("a/b c"), "a%2Fb%20c");
    /// ```
    #[inline(always)]
    pub const fn keeping(set: S) -> Encode<S> {
        Encode { coder: Coder::new(set) }
    }

    /// Keeps each valid escape of the input, and escapes every other `%`, whatever the set says. Encoding twice gives the
    /// same as encoding once: a rule for repairing URLs found in the wild. Replaces [`Encode::form`].
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

    /// Writes a space as `+` and escapes `+`, whatever the set says (URL Standard, section 5.2). Replaces
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

    /// As [`Encode::form`], but `+` stays if the set holds it, so a `+` and a space become the same: Python's
    /// `quote_plus(text, safe='+')`.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let safe_plus = sets::RFC3986_UNRESERVED.add(b"+").unwrap();
    /// assert_eq!(Encode::keeping(safe_plus).form_keeping_plus().encode("1 + 1"), "1+++1");
    /// ```
    #[inline(always)]
    pub const fn form_keeping_plus(self) -> Encode<S> {
        Encode { coder: self.coder.form_keeping_plus() }
    }

    /// The case of the digits of new escapes. RFC 3986, section 2.1, asks for upper case.
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

    /// Uses the kernels of `tier` instead of the active one.
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

    /// The exact length of the encoded text in bytes; `usize::MAX` if it is more.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// assert_eq!(Encode::keeping(sets::RFC3986_UNRESERVED).encoded_len("a b"), 5);
    /// ```
    #[must_use]
    pub fn encoded_len(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> usize {
        self.coder.measure(input.as_ref()).len
    }

    /// Whether encoding would change nothing: `true` if every byte of `input` stays. It stops at the first block of input
    /// that changes.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let path = Encode::keeping(sets::RFC3986_PATH).keep_escapes();
    /// assert!(path.is_encoded("/a%20b"));
    /// assert!(!path.is_encoded("/a b"));
    /// ```
    #[must_use]
    pub fn is_encoded(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> bool {
        self.coder.is_encoded(input.as_ref())
    }

    /// The offset of the first byte of `input` that encoding would change; `None` if every byte stays.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let host = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// assert_eq!(host.first_change("example.org"), None);
    /// assert_eq!(host.first_change("exa mple"), Some(3));
    /// ```
    #[must_use]
    pub fn first_change(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Option<usize> {
        self.coder.first_change(input.as_ref())
    }

    /// Encodes into `out` and returns the number of bytes written. The bytes of `out` after these are unspecified. A slice
    /// three times as long as the input is always large enough; a shorter one costs one more pass to measure.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
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
        Ok(self.coder.write_checked(input.as_ref(), Room::over(out))?.len())
    }

    /// As [`Encode::encode_to_slice`], into memory that need not be initialised; returns the part that was written.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
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
        let (written, ()) = cursor::fill(out, |room| Ok((self.coder.write_checked(input, room)?, ())))?;
        Ok(written)
    }
}

#[cfg(feature = "alloc")]
impl<S: KeepSet> Encode<S> {
    /// The encoded text: borrowed, without an allocation, when nothing changes; else one allocation of the exact size.
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
    /// Where `out` has no room for three bytes for each of the input's, an input of more than 1024 bytes is measured
    /// first; a shorter one makes that much room.
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

    /// Encodes bytes that the caller owns: `input` itself when nothing changes, else one allocation of the exact size. A
    /// `String` with an [`AsciiSet`], a `Vec<u8>` with a [`ByteSet`](crate::ByteSet).
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// let encode = Encode::keeping(sets::RFC3986_UNRESERVED);
    /// assert_eq!(encode.encode_vec(vec![b'a', 0xff]), "a%FF");
    /// ```
    #[must_use]
    pub fn encode_vec(&self, input: Vec<u8>) -> <S::Text as ToOwned>::Owned {
        S::encode_vec(&self.coder, input)
    }

    /// Encodes text that the caller owns, as [`Encode::encode_vec`].
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let name = String::from("report.txt");
    /// let at = name.as_ptr();
    /// let name = Encode::keeping(sets::RFC3986_UNRESERVED).encode_string(name);
    /// assert_eq!((name.as_str(), name.as_ptr()), ("report.txt", at));
    /// ```
    #[must_use]
    pub fn encode_string(&self, input: String) -> <S::Text as ToOwned>::Owned {
        S::encode_vec(&self.coder, input.into_bytes())
    }
}

/// Encoded text to format, made by [`Encode::display`].
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

/// The encoded text in quotation marks.
impl fmt::Debug for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let mut escaped = Quoted(f);
        self.coder.format(self.input, &mut escaped)?;
        f.write_str("\"")
    }
}

/// Escapes what a string literal escapes: a set may keep quotation marks, backslashes and controls.
struct Quoted<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Quoted<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write!(self.0, "{}", text.escape_debug())
    }
}

/// The escape of `byte` (RFC 3986, section 2.1).
///
/// ```
/// use simdpct::HexCase;
/// assert_eq!(&simdpct::encode_byte(b'/', HexCase::Upper), b"%2F");
/// ```
#[must_use]
pub const fn encode_byte(byte: u8, case: HexCase) -> [u8; 3] {
    hex::escape(byte, case)
}

/// What the free functions keep.
const COMPONENT: AsciiSet = sets::RFC3986_UNRESERVED;

/// Encodes `input` as one component: keeps `A-Z a-z 0-9 - . _ ~` ([`RFC3986_UNRESERVED`](sets::RFC3986_UNRESERVED)) and
/// escapes every other byte. For other sets, see [`Encode::keeping`].
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

/// Appends `input`, encoded as by [`encode()`], to `out`, a `String` or a `Vec<u8>`.
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

/// Encodes `input`, as by [`encode()`], into `out` and returns the number of bytes written: [`Encode::encode_to_slice`].
///
/// # Errors
///
/// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
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
