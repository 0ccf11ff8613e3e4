//! Decoding to text: strict about UTF-8, or lenient in one of three ways.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::decode::{Core, Decode, TryDecode};
use crate::error::{DecodeUtf8Error, InvalidUtf8, MalformedEscape};
use crate::hex::{self, HexCase};
use crate::utf8;

/// What becomes of decoded bytes that are not UTF-8.
///
/// Each maximal part that is not UTF-8 is treated by itself, as by [`String::from_utf8_lossy`] and in Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnInvalidUtf8 {
    /// U+FFFD takes the place of each part: Python's `errors='replace'`.
    #[default]
    Replace,
    /// They are left out: Python's `errors='ignore'`.
    Ignore,
    /// Escapes stay as they are spelt. A byte that the input holds unescaped is written as an escape, so nothing is lost.
    KeepEscaped,
}

/// Decoded text, or the length of the valid start and the bytes.
type Checked<'a> = Result<Cow<'a, str>, (usize, Cow<'a, [u8]>)>;

fn checked(bytes: Cow<'_, [u8]>) -> Checked<'_> {
    match bytes {
        Cow::Borrowed(bytes) => match utf8::as_str(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(valid) => Err((valid, Cow::Borrowed(bytes))),
        },
        Cow::Owned(bytes) => match utf8::into_string(bytes) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err((valid, bytes)) => Err((valid, Cow::Owned(bytes))),
        },
    }
}

/// The verbs, for decoded `bytes` of `input`.
impl Core {
    fn utf8<'a>(&self, input: &[u8], bytes: Cow<'a, [u8]>) -> Result<Cow<'a, str>, InvalidUtf8> {
        checked(bytes).map_err(|(valid, _)| self.invalid_utf8(input, valid))
    }

    fn utf8_with<'a>(&self, input: &[u8], bytes: Cow<'a, [u8]>, on: OnInvalidUtf8) -> Cow<'a, str> {
        match checked(bytes) {
            Ok(text) => text,
            Err((_, bytes)) => Cow::Owned(match on {
                OnInvalidUtf8::Replace => String::from_utf8_lossy(&bytes).into_owned(),
                OnInvalidUtf8::Ignore => bytes.utf8_chunks().map(|chunk| chunk.valid()).collect(),
                OnInvalidUtf8::KeepEscaped => self.keep_escaped(input, &bytes),
            }),
        }
    }

    /// The error of an invalid sequence that starts at `decoded_offset` of the decoded bytes.
    #[cold]
    fn invalid_utf8(&self, input: &[u8], decoded_offset: usize) -> InvalidUtf8 {
        let offset = self.units(input).nth(decoded_offset).map_or(input.len(), |unit| unit.offset);
        InvalidUtf8 { offset, decoded_offset }
    }

    #[cold]
    fn keep_escaped(&self, input: &[u8], bytes: &[u8]) -> String {
        let mut out = String::with_capacity(input.len());
        let mut units = self.units(input);
        for chunk in bytes.utf8_chunks() {
            out.push_str(chunk.valid());
            units.by_ref().take(chunk.valid().len()).for_each(drop);
            for unit in units.by_ref().take(chunk.invalid().len()) {
                let spelling = unit.escape.unwrap_or(hex::escape(unit.byte, HexCase::Upper));
                out.extend(spelling.map(char::from));
            }
        }
        out
    }

    /// The decoded bytes one by one, each with where it comes from.
    fn units<'a>(&self, input: &'a [u8]) -> impl Iterator<Item = Unit> + use<'a> {
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
struct Unit {
    /// Where it comes from.
    offset: usize,
    byte: u8,
    /// The escape that it was decoded from.
    escape: Option<[u8; 3]>,
}

impl Decode {
    /// The decoded text: borrowed, without an allocation, when nothing changes.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`] if the decoded bytes are not UTF-8, with the offset in the input.
    ///
    /// ```
    /// use simdpct::Decode;
    ///
    /// assert_eq!(Decode::new().decode_utf8("caf%C3%A9").unwrap(), "caf\u{e9}");
    /// let error = Decode::new().decode_utf8("a%20b%FF").unwrap_err();
    /// assert_eq!((error.offset, error.decoded_offset), (5, 3));
    /// ```
    pub fn decode_utf8<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, str>, InvalidUtf8> {
        let input = input.as_ref();
        self.core.utf8(input, self.decode(input))
    }

    /// Decodes text that the caller owns: `input` itself when nothing changes, else one allocation of the exact size.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`] as from [`Decode::decode_utf8`]. The input is gone then.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decode_string(String::from("caf%C3%A9")).unwrap(), "caf\u{e9}");
    /// ```
    pub fn decode_string(&self, input: String) -> Result<String, InvalidUtf8> {
        match self.decode(&input) {
            Cow::Borrowed(_) => Ok(input),
            bytes => self.core.utf8(input.as_bytes(), bytes).map(Cow::into_owned),
        }
    }

    /// Appends the decoded text to `out`.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`] as from [`Decode::decode_utf8`]; `out` is then unchanged.
    ///
    /// ```
    /// let mut out = String::from("q=");
    /// simdpct::Decode::new().decode_utf8_append("caf%C3%A9", &mut out)?;
    /// assert_eq!(out, "q=caf\u{e9}");
    /// assert!(simdpct::Decode::new().decode_utf8_append("a%FF", &mut out).is_err());
    /// assert_eq!(out, "q=caf\u{e9}");
    /// # Ok::<(), simdpct::InvalidUtf8>(())
    /// ```
    pub fn decode_utf8_append(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut String,
    ) -> Result<(), InvalidUtf8> {
        let input = input.as_ref();
        let append = |out: &mut Vec<u8>| self.decode_append(input, out);
        utf8::append(out, append).map_err(|valid| self.core.invalid_utf8(input, valid))
    }

    /// The decoded text, with U+FFFD for each maximal part that is not UTF-8, as [`String::from_utf8_lossy`].
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decode_utf8_lossy("a%FFb"), "a\u{fffd}b");
    /// ```
    #[must_use]
    pub fn decode_utf8_lossy<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Cow<'a, str> {
        self.decode_utf8_with(input, OnInvalidUtf8::Replace)
    }

    /// The decoded text; `on` says what becomes of bytes that are not UTF-8.
    ///
    /// ```
    /// use simdpct::{Decode, OnInvalidUtf8};
    ///
    /// let decode = |on| Decode::new().decode_utf8_with("caf%C3%A9%20%ff!", on);
    /// assert_eq!(decode(OnInvalidUtf8::Replace), "caf\u{e9} \u{fffd}!");
    /// assert_eq!(decode(OnInvalidUtf8::Ignore), "caf\u{e9} !");
    /// assert_eq!(decode(OnInvalidUtf8::KeepEscaped), "caf\u{e9} %ff!");
    /// ```
    #[must_use]
    pub fn decode_utf8_with<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
        on: OnInvalidUtf8,
    ) -> Cow<'a, str> {
        let input = input.as_ref();
        self.core.utf8_with(input, self.decode(input), on)
    }
}

impl TryDecode {
    /// As [`Decode::decode_utf8`].
    ///
    /// # Errors
    ///
    /// [`DecodeUtf8Error::Malformed`] for the first malformed escape; if there is none, [`DecodeUtf8Error::InvalidUtf8`] if
    /// the decoded bytes are not UTF-8.
    pub fn decode_utf8<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, str>, DecodeUtf8Error> {
        let input = input.as_ref();
        Ok(self.core.utf8(input, self.decode(input)?)?)
    }

    /// As [`Decode::decode_string`].
    ///
    /// # Errors
    ///
    /// Those of [`TryDecode::decode_utf8`]. The input is gone then.
    pub fn decode_string(&self, input: String) -> Result<String, DecodeUtf8Error> {
        match self.decode(&input)? {
            Cow::Borrowed(_) => Ok(input),
            bytes => Ok(self.core.utf8(input.as_bytes(), bytes)?.into_owned()),
        }
    }

    /// As [`Decode::decode_utf8_append`].
    ///
    /// # Errors
    ///
    /// Those of [`TryDecode::decode_utf8`]; `out` is then unchanged.
    pub fn decode_utf8_append(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut String,
    ) -> Result<(), DecodeUtf8Error> {
        let input = input.as_ref();
        let mut malformed = Ok(());
        let append = |out: &mut Vec<u8>| malformed = self.decode_append(input, out);
        let valid = utf8::append(out, append);
        malformed?;
        Ok(valid.map_err(|valid| self.core.invalid_utf8(input, valid))?)
    }

    /// As [`Decode::decode_utf8_lossy`].
    ///
    /// # Errors
    ///
    /// The first malformed escape.
    pub fn decode_utf8_lossy<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, str>, MalformedEscape> {
        self.decode_utf8_with(input, OnInvalidUtf8::Replace)
    }

    /// As [`Decode::decode_utf8_with`].
    ///
    /// # Errors
    ///
    /// The first malformed escape.
    pub fn decode_utf8_with<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
        on: OnInvalidUtf8,
    ) -> Result<Cow<'a, str>, MalformedEscape> {
        let input = input.as_ref();
        Ok(self.core.utf8_with(input, self.decode(input)?, on))
    }
}

/// Decodes `input` to text, and keeps malformed escapes: [`Decode::decode_utf8`].
///
/// # Errors
///
/// [`InvalidUtf8`] if the decoded bytes are not UTF-8, with the offset in the input.
///
/// ```
/// assert_eq!(simdpct::decode_utf8("caf%C3%A9").unwrap(), "caf\u{e9}");
/// assert!(simdpct::decode_utf8("%C3").is_err());
/// ```
pub fn decode_utf8(input: &(impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'_, str>, InvalidUtf8> {
    Decode::new().decode_utf8(input)
}

/// Decodes `input` to text, with U+FFFD for what is not UTF-8: [`Decode::decode_utf8_lossy`].
///
/// ```
/// assert_eq!(simdpct::decode_utf8_lossy("a%FF"), "a\u{fffd}");
/// ```
#[must_use]
pub fn decode_utf8_lossy(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    Decode::new().decode_utf8_lossy(input)
}
