//! Decoding to text: invalid UTF-8 is an error, or is replaced, dropped or kept as [`OnInvalidUtf8`] says.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::decode::{Core, Decode, TryDecode, unless_malformed};
use crate::error::{DecodeUtf8Error, InvalidUtf8, MalformedEscape};
use crate::hex::{self, HexCase};
use crate::kernel::job::End;
use crate::kernel::reference;
use crate::utf8;

/// The policy for decoded bytes that are not valid UTF-8.
///
/// The policy applies to each maximal invalid part by itself, as in [`String::from_utf8_lossy`] and in Python.
/// [`Decode::decode_utf8_with`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnInvalidUtf8 {
    /// Writes U+FFFD for each maximal invalid part: Python's `errors='replace'`.
    #[default]
    Replace,
    /// Leaves the invalid bytes out: Python's `errors='ignore'`.
    Drop,
    /// Keeps the escapes of invalid bytes as they are spelt. An invalid byte that the input holds unescaped is written as an
    /// escape, so no byte is lost.
    Keep,
}

/// Decoded text, or, if the decoded bytes are not valid UTF-8, the length of their valid start and the bytes themselves.
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

/// The methods for text that [`Decode`] and [`TryDecode`] share. The argument `bytes` holds the decoded bytes of
/// `input`.
impl Core {
    fn utf8<'a>(&self, input: &[u8], bytes: Cow<'a, [u8]>) -> Result<Cow<'a, str>, InvalidUtf8> {
        checked(bytes).map_err(|(valid, _)| self.invalid_utf8(input, valid))
    }

    /// Decodes `input` to a `String`. If `is_decoded` is true, decoding changes nothing, and the result reuses the memory of
    /// `input`.
    fn utf8_owned(&self, input: Vec<u8>, is_decoded: bool) -> Result<String, InvalidUtf8> {
        if is_decoded {
            return utf8::into_string(input).map_err(|(valid, input)| self.invalid_utf8(&input, valid));
        }
        // The input is still needed for the offset of an error.
        let bytes = self.cow(&input, false).0.into_owned();
        utf8::into_string(bytes).map_err(|(valid, _)| self.invalid_utf8(&input, valid))
    }

    fn utf8_with<'a>(&self, input: &[u8], bytes: Cow<'a, [u8]>, on: OnInvalidUtf8) -> Cow<'a, str> {
        match checked(bytes) {
            Ok(text) => text,
            Err((_, bytes)) => Cow::Owned(match on {
                OnInvalidUtf8::Replace => String::from_utf8_lossy(&bytes).into_owned(),
                OnInvalidUtf8::Drop => bytes.utf8_chunks().map(|chunk| chunk.valid()).collect(),
                OnInvalidUtf8::Keep => self.keep_invalid(input, &bytes),
            }),
        }
    }

    /// Makes the error of an invalid sequence that starts at `decoded_offset` of the decoded bytes.
    #[cold]
    fn invalid_utf8(&self, input: &[u8], decoded_offset: usize) -> InvalidUtf8 {
        let offset = self.skip(input, 0, decoded_offset);
        InvalidUtf8 { offset, decoded_offset }
    }

    #[cold]
    fn keep_invalid(&self, input: &[u8], bytes: &[u8]) -> String {
        let mut out = String::with_capacity(input.len());
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            out.push_str(chunk.valid());
            at = self.skip(input, at, chunk.valid().len());
            // An invalid byte is not ASCII, so a `%` here starts the escape that it was decoded from.
            for &byte in chunk.invalid() {
                let as_spelt = input.get(at..at + 3).filter(|_| input[at] == b'%');
                at += as_spelt.map_or(1, <[u8]>::len);
                match as_spelt {
                    Some(escape) => out.extend(escape.iter().map(|&byte| char::from(byte))),
                    None => out.extend(hex::escape(byte, HexCase::Upper).map(char::from)),
                }
            }
        }
        out
    }

    /// Returns the offset in `input` after the bytes and escapes that give the next `count` decoded bytes, from offset `at` on.
    fn skip(&self, input: &[u8], mut at: usize, mut count: usize) -> usize {
        let mut core = *self;
        core.job.strict = false;
        // A piece decodes to at most as many bytes as it has. So kernels can measure pieces until few bytes are left.
        while count >= 32 {
            let piece = &input[at..][..count.min(4096).min(input.len() - at)];
            let piece = &piece[..piece.len() - hex::held_back(piece)];
            if piece.is_empty() {
                break;
            }
            count -= core.at(input, at).measure(piece).len;
            at += piece.len();
        }
        for (offset, step) in reference::steps(at..input.len(), |at| reference::decode(&core.job, input, at))
        {
            if count == 0 {
                return offset;
            }
            count -= step.len;
        }
        input.len()
    }
}

impl Decode {
    /// Returns the decoded text: borrowed, without an allocation, when nothing changes.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`] if the decoded bytes are not valid UTF-8, with the offset in the input.
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

    /// Decodes a `String` or a `Vec<u8>` that the caller owns: returns `input` itself when nothing changes, else one
    /// allocation of the exact size.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`] if the decoded bytes are not valid UTF-8. The input is then dropped.
    ///
    /// ```
    /// use simdpct::Decode;
    /// assert_eq!(Decode::new().decode_utf8_owned(String::from("caf%C3%A9")).unwrap(), "caf\u{e9}");
    /// ```
    pub fn decode_utf8_owned(&self, input: impl Into<Vec<u8>>) -> Result<String, InvalidUtf8> {
        let input = input.into();
        let is_decoded = self.is_decoded(&input);
        self.core.utf8_owned(input, is_decoded)
    }

    /// Appends the decoded text to `out`.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`] if the decoded bytes are not valid UTF-8; `out` is then unchanged.
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
        let valid = utf8::append(out, |tail| self.core.append(input, tail, false).is_whole());
        valid.map_err(|valid| self.core.invalid_utf8(input, valid))
    }

    /// Returns the decoded text, with U+FFFD for each maximal invalid part, as [`String::from_utf8_lossy`] writes it.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decode_utf8_lossy("a%FFb"), "a\u{fffd}b");
    /// ```
    #[must_use]
    pub fn decode_utf8_lossy<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Cow<'a, str> {
        self.decode_utf8_with(input, OnInvalidUtf8::Replace)
    }

    /// Returns the decoded text, with the policy `on` for bytes that are not valid UTF-8.
    ///
    /// ```
    /// use simdpct::{Decode, OnInvalidUtf8};
    ///
    /// let decode = |on| Decode::new().decode_utf8_with("caf%C3%A9%20%ff!", on);
    /// assert_eq!(decode(OnInvalidUtf8::Replace), "caf\u{e9} \u{fffd}!");
    /// assert_eq!(decode(OnInvalidUtf8::Drop), "caf\u{e9} !");
    /// assert_eq!(decode(OnInvalidUtf8::Keep), "caf\u{e9} %ff!");
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
    /// Returns the decoded text: borrowed, without an allocation, when nothing changes.
    ///
    /// # Errors
    ///
    /// [`DecodeUtf8Error::Malformed`] for the first malformed escape, else [`DecodeUtf8Error::InvalidUtf8`] if the decoded
    /// bytes are not valid UTF-8.
    ///
    /// ```
    /// use simdpct::{Decode, DecodeUtf8Error};
    ///
    /// let strict = Decode::new().strict();
    /// assert_eq!(strict.decode_utf8("caf%C3%A9")?, "caf\u{e9}");
    /// assert!(matches!(strict.decode_utf8("%FF%"), Err(DecodeUtf8Error::Malformed(_))));
    /// # Ok::<(), simdpct::DecodeUtf8Error>(())
    /// ```
    pub fn decode_utf8<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, str>, DecodeUtf8Error> {
        let input = input.as_ref();
        Ok(self.core.utf8(input, self.decode(input)?)?)
    }

    /// Decodes a `String` or a `Vec<u8>` that the caller owns. See [`Decode::decode_utf8_owned`] for the allocation.
    ///
    /// # Errors
    ///
    /// The errors of [`TryDecode::decode_utf8`]. The input is then dropped.
    pub fn decode_utf8_owned(&self, input: impl Into<Vec<u8>>) -> Result<String, DecodeUtf8Error> {
        let input = input.into();
        let is_decoded = self.is_decoded(&input)?;
        Ok(self.core.utf8_owned(input, is_decoded)?)
    }

    /// Appends the decoded text to `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`TryDecode::decode_utf8`]; `out` is then unchanged.
    ///
    /// ```
    /// let mut out = String::from("q=");
    /// let strict = simdpct::Decode::new().strict();
    /// assert!(strict.decode_utf8_append("a%2", &mut out).is_err());
    /// strict.decode_utf8_append("caf%C3%A9", &mut out)?;
    /// assert_eq!(out, "q=caf\u{e9}");
    /// # Ok::<(), simdpct::DecodeUtf8Error>(())
    /// ```
    pub fn decode_utf8_append(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut String,
    ) -> Result<(), DecodeUtf8Error> {
        let input = input.as_ref();
        let mut end = End::WHOLE;
        let valid = utf8::append(out, |tail| {
            end = self.core.append(input, tail, true);
            end.is_whole()
        });
        unless_malformed(input, end)?;
        Ok(valid.map_err(|valid| self.core.invalid_utf8(input, valid))?)
    }

    /// Returns the decoded text, with U+FFFD in place of invalid UTF-8, as [`String::from_utf8_lossy`] writes it.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape.
    pub fn decode_utf8_lossy<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, str>, MalformedEscape> {
        self.decode_utf8_with(input, OnInvalidUtf8::Replace)
    }

    /// Returns the decoded text, with the policy `on` for bytes that are not valid UTF-8.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape.
    ///
    /// ```
    /// use simdpct::{Decode, OnInvalidUtf8};
    /// let strict = Decode::new().strict();
    /// assert_eq!(strict.decode_utf8_lossy("a%FF")?, "a\u{fffd}");
    /// assert_eq!(strict.decode_utf8_with("a%FFb", OnInvalidUtf8::Drop)?, "ab");
    /// assert!(strict.decode_utf8_lossy("a%F").is_err());
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    pub fn decode_utf8_with<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
        on: OnInvalidUtf8,
    ) -> Result<Cow<'a, str>, MalformedEscape> {
        let input = input.as_ref();
        Ok(self.core.utf8_with(input, self.decode(input)?, on))
    }
}

/// Decodes `input` to text and keeps malformed escapes: [`Decode::decode_utf8`].
///
/// # Errors
///
/// [`InvalidUtf8`] if the decoded bytes are not valid UTF-8, with the offset in the input.
///
/// ```
/// assert_eq!(simdpct::decode_utf8("caf%C3%A9").unwrap(), "caf\u{e9}");
/// assert!(simdpct::decode_utf8("%C3").is_err());
/// ```
pub fn decode_utf8(input: &(impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'_, str>, InvalidUtf8> {
    Decode::new().decode_utf8(input)
}

/// Decodes `input` to text, with U+FFFD for invalid UTF-8: [`Decode::decode_utf8_lossy`].
///
/// ```
/// assert_eq!(simdpct::decode_utf8_lossy("a%FF"), "a\u{fffd}");
/// ```
#[must_use]
pub fn decode_utf8_lossy(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    Decode::new().decode_utf8_lossy(input)
}
