//! Decoding: escapes are replaced by the bytes that they stand for, once.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String, vec::Vec};
use core::convert::Infallible;
use core::marker::PhantomData;

use crate::error::{BufferTooSmall, DecodeError, MalformedCause, MalformedEscape};
#[cfg(feature = "alloc")]
use crate::error::{DecodeUtf8Error, InvalidUtf8};
use crate::hex;
#[cfg(feature = "alloc")]
use crate::kernel::cursor;
use crate::kernel::cursor::{Room, Written};
#[cfg(feature = "alloc")]
use crate::kernel::ends::Ends;
use crate::kernel::isa::Tier;
use crate::kernel::job::{DecodeJob, DecodeRule, MalformedAt, Measure};
use crate::set::ByteSet;
#[cfg(feature = "alloc")]
use crate::utf8;

mod sealed {
    pub trait Sealed {}
    impl Sealed for core::convert::Infallible {}
    impl Sealed for crate::error::MalformedEscape {}
}

/// What a malformed escape is to a decoder: nothing ([`Infallible`]) or an error ([`MalformedEscape`]). This trait is
/// sealed.
pub trait Malformed: Sized + sealed::Sealed {
    #[doc(hidden)]
    fn new(input: &[u8], offset: usize) -> Self;

    /// The same error for input that begins `by` bytes earlier.
    #[doc(hidden)]
    fn shifted(self, by: usize) -> Self;

    /// The same error, found in the first `len` bytes of input that goes on with a `%`.
    #[doc(hidden)]
    fn before_percent(self, len: usize) -> Self;
}

impl Malformed for Infallible {
    fn new(_: &[u8], _: usize) -> Infallible {
        unreachable!("a lenient decoder takes every `%`")
    }

    fn shifted(self, _: usize) -> Infallible {
        self
    }

    fn before_percent(self, _: usize) -> Infallible {
        self
    }
}

impl Malformed for MalformedEscape {
    fn new(input: &[u8], offset: usize) -> MalformedEscape {
        MalformedEscape::at(input, offset)
    }

    fn shifted(mut self, by: usize) -> MalformedEscape {
        self.offset = self.offset.saturating_add(by);
        if let MalformedCause::NotHex { offset, .. } = &mut self.cause {
            *offset = offset.saturating_add(by);
        }
        self
    }

    fn before_percent(mut self, len: usize) -> MalformedEscape {
        if self.cause == MalformedCause::Truncated {
            self.cause = MalformedCause::NotHex { offset: len, byte: b'%' };
        }
        self
    }
}

/// How to decode: what becomes of malformed escapes, of escapes that should stay, and of `+`.
///
/// By default a `%` that is not followed by two hexadecimal digits stands for itself, and the next byte is
/// looked at anew (URL Standard, section 1.3). [`Decode::strict`] makes it an error. Both cases of digits are
/// read. Escapes are decoded once: `%2541` becomes `%41`.
///
/// `E` is the error: [`Infallible`] for a lenient decoder, so that `let Ok(bytes) = ...;` compiles, and
/// [`MalformedEscape`] for a strict one.
///
/// A value is cheap to make and to copy. Every verb takes time linear in the input. No verb panics (but for a
/// failed allocation, as `Vec` does).
///
/// ```
/// use simdpct::{ByteSet, Decode};
///
/// let Ok(bytes) = Decode::new().to_cow("100%25 %zz");
/// assert_eq!(&*bytes, b"100% %zz");
///
/// // Everything but `/` and line ends:
/// let Ok(bytes) = Decode::new().keep(ByteSet::EMPTY.add(b"/\r\n")).to_cow("%61%2Fb%0a");
/// assert_eq!(&*bytes, b"a%2Fb%0a");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Decode<E = Infallible> {
    pub(crate) job: DecodeJob,
    tier: Option<Tier>,
    error: PhantomData<fn() -> E>,
}

impl Default for Decode {
    fn default() -> Decode {
        Decode::new()
    }
}

impl Decode {
    /// A lenient decoder of every valid escape.
    #[inline(always)]
    pub const fn new() -> Decode {
        Decode { job: DecodeJob::PLAIN, tier: None, error: PhantomData }
    }

    /// As [`Decode::to_slice`], whose other error does not occur.
    #[inline]
    pub(crate) fn slice_lenient(&self, input: &[u8], out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        self.to_slice(input, out).map_err(|error| match error {
            DecodeError::BufferTooSmall(error) => error,
            DecodeError::MalformedEscape(_) => unreachable!("a lenient decoder takes every `%`"),
        })
    }

    /// RFC 3986, section 6.2.2: escapes of unreserved bytes are decoded, the digits of all others are written
    /// in upper case, and nothing else is touched.
    pub(crate) const fn normalizer() -> Decode {
        let keep = crate::set::sets::RFC3986_UNRESERVED.bytes().complement();
        let job = DecodeJob { upper: true, ..DecodeJob::PLAIN.keeping(keep) };
        Decode { job, tier: None, error: PhantomData }
    }

    /// Whether decoding `input` gives anything else than `input`.
    #[cfg(feature = "alloc")]
    pub(crate) fn changes(&self, input: &[u8]) -> bool {
        let Ok(measure) = self.measure(input);
        measure.changed
    }
}

impl<E: Malformed> Decode<E> {
    /// A malformed escape is an error.
    #[inline(always)]
    pub const fn strict(mut self) -> Decode<MalformedEscape> {
        self.job.strict = true;
        Decode { job: self.job, tier: self.tier, error: PhantomData }
    }

    /// Escapes of the bytes of `set` stay as they are spelt, so that decoding cannot create one of these bytes:
    /// delimiters when text is decoded before it is split, line ends in line-oriented output.
    pub const fn keep(mut self, set: ByteSet) -> Decode<E> {
        self.job = self.job.keeping(set);
        self
    }

    /// A `+` that is not escaped is a space (URL Standard, section 5.1).
    pub const fn form(mut self) -> Decode<E> {
        self.job.rule = DecodeRule::Form;
        self
    }

    /// Uses the kernels of `tier` instead of the active one.
    pub const fn tier(mut self, tier: Tier) -> Decode<E> {
        self.tier = Some(tier);
        self
    }

    #[inline(always)]
    pub(crate) fn kernels(&self) -> Tier {
        match self.tier {
            Some(tier) => tier,
            None => Tier::active(),
        }
    }

    #[inline(always)]
    fn measure(&self, input: &[u8]) -> Result<Measure, E> {
        self.kernels().decode_measure(&self.job, input).map_err(|MalformedAt(offset)| E::new(input, offset))
    }

    #[inline(always)]
    fn write<'c>(&self, input: &[u8], out: Room<'c>) -> Result<Written<'c>, E> {
        self.kernels().decode(&self.job, input, out).map_err(|MalformedAt(offset)| E::new(input, offset))
    }

    /// Writes a value in which a malformed escape is none.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn write_lenient<'c>(&self, input: &[u8], out: Room<'c>) -> Written<'c> {
        match self.kernels().decode(&DecodeJob { strict: false, ..self.job }, input, out) {
            Ok(out) => out,
            Err(_) => unreachable!("a lenient decoder takes every `%`"),
        }
    }

    /// Writes values that end at `ends`, in which a malformed escape is none.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn write_values<'c>(&self, input: &[u8], ends: &mut Ends, out: Room<'c>) -> Written<'c> {
        let lenient = DecodeJob { strict: false, ..self.job };
        match self.kernels().decode_values(&lenient, input, ends, out) {
            Ok(out) => out,
            Err(_) => unreachable!("a lenient decoder takes every `%`"),
        }
    }

    /// The exact length of the decoded bytes.
    ///
    /// # Errors
    ///
    /// A strict decoder returns the first malformed escape.
    ///
    /// ```
    /// use simdpct::Decode;
    /// assert_eq!(Decode::new().decoded_len("a%20b"), Ok(3));
    /// assert_eq!(Decode::new().strict().decoded_len("a%2").unwrap_err().offset, 1);
    /// ```
    pub fn decoded_len(&self, input: impl AsRef<[u8]>) -> Result<usize, E> {
        Ok(self.measure(input.as_ref())?.len)
    }

    /// Decodes into `out` and returns the number of bytes written. The bytes of `out` behind that number are
    /// unspecified. A slice as long as the input is always large enough.
    ///
    /// # Errors
    ///
    /// [`DecodeError::BufferTooSmall`] names the exact size needed; `out` is then untouched.
    /// [`DecodeError::MalformedEscape`] is the first malformed escape, if the decoder is strict; the content of `out` is
    /// then unspecified.
    ///
    /// ```
    /// let mut out = [0; 8];
    /// assert_eq!(simdpct::Decode::new().to_slice("a%20b", &mut out), Ok(3));
    /// assert_eq!(&out[..3], b"a b");
    /// ```
    pub fn to_slice(&self, input: impl AsRef<[u8]>, out: &mut [u8]) -> Result<usize, DecodeError>
    where
        DecodeError: From<E>,
    {
        let input = input.as_ref();
        if out.len() < input.len() {
            let needed = self.measure(input)?.len;
            if out.len() < needed {
                return Err(BufferTooSmall { needed }.into());
            }
        }
        Ok(self.write(input, Room::over(out))?.len())
    }

    /// Decodes `bytes` where they lie and returns the length of the result, which stands at the start. The
    /// bytes behind it are unspecified.
    ///
    /// # Errors
    ///
    /// A strict decoder returns the first malformed escape; `bytes` is then untouched.
    ///
    /// ```
    /// let mut bytes = *b"a%20b%20c";
    /// let Ok(len) = simdpct::Decode::new().in_place(&mut bytes);
    /// assert_eq!(&bytes[..len], b"a b c");
    /// ```
    pub fn in_place(&self, bytes: &mut [u8]) -> Result<usize, E> {
        if self.job.strict {
            self.measure(bytes)?;
        }
        match bytes.len() {
            0..=64 => self.in_place_by::<64>(bytes),
            65..=512 => self.in_place_by::<512>(bytes),
            _ => self.in_place_by::<8192>(bytes),
        }
    }

    /// Copies pieces of at most `N` bytes aside and decodes each from there: what is written never overtakes
    /// what is read, and no input is aliased by output.
    fn in_place_by<const N: usize>(&self, bytes: &mut [u8]) -> Result<usize, E> {
        let mut aside = [0; N];
        let (mut read, mut written) = (0, 0);
        while read < bytes.len() {
            let mut len = (bytes.len() - read).min(N);
            if read + len < bytes.len() {
                len -= held_back(&bytes[read..read + len]);
            }
            aside[..len].copy_from_slice(&bytes[read..read + len]);
            read += len;
            written += self.write(&aside[..len], Room::over(&mut bytes[written..read]))?.len();
        }
        Ok(written)
    }
}

/// The number of bytes at the end of `input`, at most two, that may be the start of an escape.
#[inline]
pub(crate) fn held_back(input: &[u8]) -> usize {
    match *input {
        [.., b'%'] => 1,
        [.., b'%', digit] if hex::digit(digit).is_some() => 2,
        _ => 0,
    }
}

#[cfg(feature = "alloc")]
impl<E: Malformed> Decode<E> {
    /// The decoded bytes: borrowed when nothing changes, without an allocation; else one allocation of the exact
    /// size.
    ///
    /// # Errors
    ///
    /// A strict decoder returns the first malformed escape.
    pub fn to_cow<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'a, [u8]>, E> {
        let input = input.as_ref();
        let measure = self.measure(input)?;
        if !measure.changed {
            return Ok(Cow::Borrowed(input));
        }
        let mut out = Vec::with_capacity(measure.len);
        self.append_bytes(input, measure.len, &mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Appends the decoded bytes to `out`.
    ///
    /// # Errors
    ///
    /// A strict decoder returns the first malformed escape; `out` is then unchanged.
    ///
    /// ```
    /// let mut out = b"q=".to_vec();
    /// let Ok(()) = simdpct::Decode::new().form().append("a+b%2B", &mut out);
    /// assert_eq!(out, b"q=a b+");
    /// ```
    #[inline]
    pub fn append(&self, input: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<(), E> {
        let input = input.as_ref();
        // An empty part is common, and a call would take longer than all other work.
        if input.is_empty() { Ok(()) } else { self.append_some(input, out) }
    }

    fn append_some(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), E> {
        let worst = input.len().saturating_add(cursor::MAX_WINDOW);
        let spare = out.capacity() - out.len();
        self.append_bytes(input, if spare >= input.len() { 0 } else { worst }, out)
    }

    #[inline(always)]
    fn append_bytes(&self, input: &[u8], room: usize, out: &mut Vec<u8>) -> Result<(), E> {
        cursor::append(out, room, |room| self.write(input, room))
    }

    /// The decoded text.
    ///
    /// # Errors
    ///
    /// [`DecodeUtf8Error::InvalidUtf8`] if the decoded bytes are not UTF-8, with the offset in the input;
    /// [`DecodeUtf8Error::MalformedEscape`] for the first malformed escape, if the decoder is strict.
    ///
    /// ```
    /// use simdpct::{Decode, DecodeUtf8Error};
    ///
    /// assert_eq!(Decode::new().to_utf8("caf%C3%A9").unwrap(), "caf\u{e9}");
    /// let Err(DecodeUtf8Error::InvalidUtf8(error)) = Decode::new().to_utf8("a%20b%FF") else { panic!() };
    /// assert_eq!((error.offset, error.decoded_offset), (5, 3));
    /// ```
    pub fn to_utf8<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'a, str>, DecodeUtf8Error>
    where
        DecodeUtf8Error: From<E>,
    {
        let input = input.as_ref();
        self.to_text(input)?.map_err(|(valid, _)| self.invalid_utf8(input, valid).into())
    }

    /// The decoded text, with U+FFFD for each maximal part that is not UTF-8, as `String::from_utf8_lossy`.
    ///
    /// # Errors
    ///
    /// A strict decoder returns the first malformed escape.
    ///
    /// ```
    /// let Ok(text) = simdpct::Decode::new().to_utf8_lossy("a%FFb");
    /// assert_eq!(text, "a\u{fffd}b");
    /// ```
    pub fn to_utf8_lossy<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'a, str>, E> {
        Ok(match self.to_text(input.as_ref())? {
            Ok(text) => text,
            Err((_, bytes)) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        })
    }

    /// The decoded text, in which escapes whose bytes are not UTF-8 stay as they are spelt. A byte of the
    /// input that is not UTF-8 and not escaped either is written as an escape, so nothing is lost.
    ///
    /// # Errors
    ///
    /// A strict decoder returns the first malformed escape.
    ///
    /// ```
    /// let Ok(text) = simdpct::Decode::new().to_utf8_partial("caf%C3%A9%20%ff%C3");
    /// assert_eq!(text, "caf\u{e9} %ff%C3");
    /// ```
    pub fn to_utf8_partial<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'a, str>, E> {
        let input = input.as_ref();
        Ok(match self.to_text(input)? {
            Ok(text) => text,
            Err((_, bytes)) => {
                let mut out = String::with_capacity(input.len());
                let mut units = self.units(input);
                for chunk in bytes.utf8_chunks() {
                    out.push_str(chunk.valid());
                    units.by_ref().take(chunk.valid().len()).for_each(drop);
                    for unit in units.by_ref().take(chunk.invalid().len()) {
                        let spelling = unit.escape.unwrap_or(hex::escape(unit.byte, hex::HexCase::Upper));
                        out.extend(spelling.map(char::from));
                    }
                }
                Cow::Owned(out)
            }
        })
    }

    /// The decoded bytes as text, or the length of their valid start and the bytes.
    #[allow(clippy::type_complexity, reason = "used by three callers next to it")]
    fn to_text<'a>(&self, input: &'a [u8]) -> Result<Result<Cow<'a, str>, (usize, Cow<'a, [u8]>)>, E> {
        Ok(match self.to_cow(input)? {
            Cow::Borrowed(bytes) => match utf8::as_str(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(valid) => Err((valid, Cow::Borrowed(bytes))),
            },
            Cow::Owned(bytes) => match utf8::into_string(bytes) {
                Ok(text) => Ok(Cow::Owned(text)),
                Err((valid, bytes)) => Err((valid, Cow::Owned(bytes))),
            },
        })
    }

    /// The error of an invalid sequence that starts at `decoded_offset` of the decoded bytes.
    #[cold]
    fn invalid_utf8(&self, input: &[u8], decoded_offset: usize) -> InvalidUtf8 {
        let offset = self.units(input).nth(decoded_offset).map_or(input.len(), |unit| unit.offset);
        InvalidUtf8 { offset, decoded_offset }
    }

    /// The decoded bytes one by one, each with where it came from.
    fn units<'a>(&self, input: &'a [u8]) -> impl Iterator<Item = Unit> + use<'a, E> {
        let job = self.job;
        let mut at = 0;
        // An escape that stays is three bytes of its own.
        let mut stays = 0;
        core::iter::from_fn(move || {
            let (offset, &byte) = (at, input.get(at)?);
            let escaped = if stays == 0 { hex::unescape(&input[at..]) } else { None };
            stays = usize::saturating_sub(stays, 1);
            match escaped {
                Some(byte) if !job.stays(byte) => {
                    at += 3;
                    Some(Unit { offset, byte, escape: input[offset..at].try_into().ok() })
                }
                _ => {
                    stays = if escaped.is_some() { 2 } else { stays };
                    at += 1;
                    let byte = if byte == b'+' && job.plus() { b' ' } else { byte };
                    Some(Unit { offset, byte, escape: None })
                }
            }
        })
    }
}

/// One decoded byte.
#[cfg(feature = "alloc")]
struct Unit {
    /// Where it comes from.
    offset: usize,
    byte: u8,
    /// The escape that stood for it.
    escape: Option<[u8; 3]>,
}

/// Decodes every valid escape of `input`; a malformed one stays: [`Decode::to_cow`].
///
/// The result is borrowed, without an allocation, when nothing changes.
///
/// ```
/// assert_eq!(&*simdpct::decode("100%25+%zz%"), b"100%+%zz%");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn decode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    let Ok(bytes) = Decode::new().to_cow(input);
    bytes
}

/// Decodes every escape of `input`, or returns the first malformed one.
///
/// # Errors
///
/// [`MalformedEscape`] says where the first `%` stands that is not followed by two hexadecimal digits, and why.
///
/// ```
/// use simdpct::MalformedCause::NotHex;
///
/// assert_eq!(simdpct::decode_strict("a%20b").unwrap(), &b"a b"[..]);
/// let error = simdpct::decode_strict("a%2zb").unwrap_err();
/// assert_eq!((error.offset, error.cause), (1, NotHex { offset: 3, byte: b'z' }));
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn decode_strict(input: &(impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'_, [u8]>, MalformedEscape> {
    Decode::new().strict().to_cow(input)
}

/// Appends `input`, decoded, to `out`: [`Decode::append`].
///
/// ```
/// let mut out = Vec::new();
/// simdpct::decode_append("a%20b", &mut out);
/// assert_eq!(out, b"a b");
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn decode_append(input: impl AsRef<[u8]>, out: &mut Vec<u8>) {
    let Ok(()) = Decode::new().append(input, out);
}

/// Decodes `input` into `out` and returns the number of bytes written: [`Decode::to_slice`].
///
/// # Errors
///
/// [`BufferTooSmall`] names the exact size needed; `out` is then untouched.
#[inline]
pub fn decode_to_slice(input: impl AsRef<[u8]>, out: &mut [u8]) -> Result<usize, BufferTooSmall> {
    Decode::new().slice_lenient(input.as_ref(), out)
}

/// Decodes `bytes` where they lie and returns the length of the result: [`Decode::in_place`].
///
/// ```
/// let mut bytes = *b"%41%42";
/// assert_eq!(simdpct::decode_in_place(&mut bytes), 2);
/// assert_eq!(&bytes[..2], b"AB");
/// ```
#[inline]
pub fn decode_in_place(bytes: &mut [u8]) -> usize {
    let Ok(len) = Decode::new().in_place(bytes);
    len
}

/// Decodes `input` to text; a malformed escape stays: [`Decode::to_utf8`].
///
/// # Errors
///
/// [`InvalidUtf8`] if the decoded bytes are not UTF-8, with the offset in the input.
///
/// ```
/// assert_eq!(simdpct::decode_utf8("caf%C3%A9").unwrap(), "caf\u{e9}");
/// assert!(simdpct::decode_utf8("%C3").is_err());
/// ```
#[cfg(feature = "alloc")]
pub fn decode_utf8(input: &(impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'_, str>, InvalidUtf8> {
    match Decode::new().to_utf8(input) {
        Ok(text) => Ok(text),
        Err(DecodeUtf8Error::InvalidUtf8(error)) => Err(error),
        Err(DecodeUtf8Error::MalformedEscape(_)) => unreachable!("a lenient decoder takes every `%`"),
    }
}

/// Decodes `input` to text, with U+FFFD for what is not UTF-8: [`Decode::to_utf8_lossy`].
///
/// ```
/// assert_eq!(simdpct::decode_utf8_lossy("a%FF"), "a\u{fffd}");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
pub fn decode_utf8_lossy(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    let Ok(text) = Decode::new().to_utf8_lossy(input);
    text
}
