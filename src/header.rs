//! Text in header fields: parameters in charsets other than ASCII (RFC 8187), and the names of `multipart/form-data` (HTML Standard).
//!
//! The functions whose names end with `_to_uninit` write to memory of the caller and need no `alloc`.
//!
//! ```
//! use simdpct::header;
//!
//! let name = "\u{20ac} rates.txt";
//! let field = format!("Content-Disposition: attachment; filename*={}", header::encode_ext_value(name));
//! assert_eq!(field, "Content-Disposition: attachment; filename*=UTF-8''%E2%82%AC%20rates.txt");
//! assert_eq!(header::decode_ext_value("UTF-8'en'%e2%82%ac%20rates.txt")?.text, name);
//!
//! let part = header::encode_multipart_name("say \"50%\".txt");
//! assert_eq!(*part, *b"say %2250%%22.txt");
//! # Ok::<(), header::ExtValueError>(())
//! ```
//!
//! A decoded name may hold any character, `/` and NUL included. Check it before you use it as the name of a file.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String};
use core::fmt;
use core::mem::MaybeUninit;

use crate::kernel::fixed_vec::Slots;
use crate::kernel::reference;
use crate::{AsciiSet, BufferTooSmall, ByteSet, Decode, Encode, sets};

/// The bytes that stay in a name of `multipart/form-data`: all but `"`, CR and LF
/// ([HTML Standard, section 4.10.22.8](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)).
/// `%` stays, too.
pub const MULTIPART_NAME: ByteSet = ByteSet::from_bytes(b"\"\r\n").complement();

/// The start of an encoded value: the charset, and an empty language tag.
const PREFIX: &str = "UTF-8''";
static EXT_VALUE: Encode<AsciiSet> = Encode::keeping(sets::RFC8187_ATTR_CHAR);

/// Encodes text as an `ext-value`, the value of a parameter whose name ends with `*` (RFC 8187, section 3.2.1). The charset is UTF-8,
/// which is the only one that senders may use, and no language is named. The result is ASCII. Takes time linear in the text.
///
/// ```
/// assert_eq!(simdpct::header::encode_ext_value("na\u{ef}ve #1"), "UTF-8''na%C3%AFve%20#1");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
pub fn encode_ext_value(text: &str) -> String {
    let mut value = String::from(PREFIX);
    EXT_VALUE.encode_append(text, &mut value);
    value
}

/// Encodes text as an `ext-value` (RFC 8187, section 3.2.1) into `out`, and returns the part that was written. Three
/// bytes for each byte of text and seven more are always enough; a shorter `out` costs a second pass, which measures
/// the output. Takes time linear in the text.
///
/// # Errors
///
/// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
///
/// ```
/// use std::mem::MaybeUninit;
///
/// let mut out = [MaybeUninit::uninit(); 18];
/// assert_eq!(simdpct::header::encode_ext_value_to_uninit("na\u{ef}ve", &mut out)?, b"UTF-8''na%C3%AFve");
/// # Ok::<(), simdpct::BufferTooSmall>(())
/// ```
pub fn encode_ext_value_to_uninit<'o>(
    text: &str,
    out: &'o mut [MaybeUninit<u8>],
) -> Result<&'o [u8], BufferTooSmall> {
    if out.len() < text.len().saturating_mul(3).saturating_add(PREFIX.len()) {
        let needed = EXT_VALUE.encoded_len(text).saturating_add(PREFIX.len());
        if out.len() < needed {
            return Err(BufferTooSmall { needed });
        }
    }
    let mut value = Slots::new(out);
    value.extend(PREFIX.bytes());
    value.write(|room| (EXT_VALUE.coder.core().write(text.as_bytes(), room), ()));
    Ok(value.into_slice())
}

/// The result of [`decode_ext_value`].
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExtValue<'a> {
    /// The language tag, such as `en`. It is empty if the value names none.
    pub language: &'a str,
    /// The text, which is borrowed if nothing was escaped.
    pub text: Cow<'a, str>,
}

/// Decodes an `ext-value` (RFC 8187, section 3.2.1): a charset, a language tag and escaped text, with `'` between them.
///
/// The charsets are UTF-8 and, as in RFC 5987, ISO-8859-1. The letter case of the name of the charset does not matter.
/// Takes time linear in the value.
///
/// # Errors
///
/// [`ExtValueError`] if the value breaks the grammar (a language tag may be any letters, digits and hyphens), names another
/// charset, or is not valid in its charset. RFC 8187, section 3.2.1, allows a recipient to ignore such a parameter. Most
/// senders also write the same parameter without `*`.
///
/// ```
/// use simdpct::header::{ExtValueError, decode_ext_value};
///
/// let value = decode_ext_value("iso-8859-1'en'%A3%20rates").unwrap();
/// assert_eq!((value.language, &*value.text), ("en", "\u{a3} rates"));
/// assert_eq!(decode_ext_value("UTF-8''100%"), Err(ExtValueError::Value { offset: 10 }));
/// assert_eq!(decode_ext_value("UTF-8''%A3"), Err(ExtValueError::InvalidUtf8 { offset: 7 }));
/// ```
#[cfg(feature = "alloc")]
pub fn decode_ext_value<'a>(value: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<ExtValue<'a>, ExtValueError> {
    let (language, start, is_utf8) = parse(value.as_ref()).map_err(|(error, _)| error)?;
    let escaped = &value.as_ref()[start..];
    let text = match Decode::new().decode_utf8(escaped) {
        Ok(text) if is_utf8 || matches!(text, Cow::Borrowed(_)) => text,
        Err(error) if is_utf8 => return Err(ExtValueError::InvalidUtf8 { offset: start + error.offset }),
        // A byte of ISO-8859-1 is the number of its character in Unicode.
        _ => decoded(escaped).map(|(_, byte)| char::from(byte)).collect(),
    };
    Ok(ExtValue { language, text })
}

/// Decodes an `ext-value` (RFC 8187, section 3.2.1) to text in `out`. Returns the text and the language tag, which is empty if the value
/// names none. Memory as long as the value is always enough. Takes time linear in the value.
///
/// # Errors
///
/// The errors of [`decode_ext_value`], and [`ExtValueError::BufferTooSmall`], after which `out` is unchanged. After other errors, the
/// content of `out` is unspecified.
///
/// ```
/// use std::mem::MaybeUninit;
/// use simdpct::header::{ExtValueError, decode_ext_value_to_uninit};
///
/// let mut out = [MaybeUninit::uninit(); 8];
/// assert_eq!(decode_ext_value_to_uninit("iso-8859-1'en'%A3%20rates", &mut out)?, ("\u{a3} rates", "en"));
/// let error = decode_ext_value_to_uninit("UTF-8''%A3", &mut out).unwrap_err();
/// assert_eq!(error, ExtValueError::InvalidUtf8 { offset: 7 });
/// # Ok::<(), ExtValueError>(())
/// ```
pub fn decode_ext_value_to_uninit<'v, 'o>(
    value: &'v (impl AsRef<[u8]> + ?Sized),
    out: &'o mut [MaybeUninit<u8>],
) -> Result<(&'o str, &'v str), ExtValueError> {
    let (language, start, is_utf8) = parse(value.as_ref()).map_err(|(error, _)| error)?;
    let escaped = &value.as_ref()[start..];
    let bytes = if is_utf8 {
        let decoded = Decode::new().decode_to_uninit(escaped, out);
        &*decoded.map_err(ExtValueError::BufferTooSmall)?
    } else {
        let needed = decoded(escaped).map(|(_, byte)| char::from(byte).len_utf8()).sum();
        if out.len() < needed {
            return Err(ExtValueError::BufferTooSmall(BufferTooSmall { needed }));
        }
        let mut text = Slots::new(out);
        for (_, byte) in decoded(escaped) {
            text.extend(char::from(byte).encode_utf8(&mut [0; 2]).bytes());
        }
        text.into_slice()
    };
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let invalid = decoded(escaped).nth(error.valid_up_to());
        ExtValueError::InvalidUtf8 { offset: start + invalid.map_or(0, |(offset, _)| offset) }
    });
    Ok((text?, language))
}

/// Checks an `ext-value` by the grammar of RFC 8187, section 3.2.1, but allows any letters, digits and hyphens as a language
/// tag. Returns the language tag, the offset of the text, and whether the charset is UTF-8; if not, it is ISO-8859-1. Each
/// `%` of the text then starts an escape.
///
/// # Errors
///
/// Returns the error, and the offset of the first byte that breaks the grammar. The offset is the length of `value` if a
/// `'` is missing, and 0 for another charset.
fn parse(value: &[u8]) -> Result<(&str, usize, bool), (ExtValueError, usize)> {
    let mut quotes = memchr::memchr_iter(b'\'', value);
    let (Some(first), Some(second)) = (quotes.next(), quotes.next()) else {
        return Err((ExtValueError::Parts, value.len()));
    };
    let (charset, language, escaped) = (&value[..first], &value[first + 1..second], &value[second + 1..]);
    let is_other = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'-';
    let other = language.iter().position(is_other);
    let (None, Ok(language)) = (other, core::str::from_utf8(language)) else {
        return Err((ExtValueError::Parts, first + 1 + other.unwrap_or(0)));
    };
    let is_utf8 = charset.eq_ignore_ascii_case(b"UTF-8");
    if !is_utf8 && !charset.eq_ignore_ascii_case(b"ISO-8859-1") {
        return Err((ExtValueError::Charset, 0));
    }
    let start = second + 1;
    if let Some(at) = EXT_VALUE.keep_escapes().first_change(escaped) {
        let offset = start + at;
        return Err((ExtValueError::Value { offset }, offset));
    }
    Ok((language, start, is_utf8))
}

/// Returns the decoded bytes of a text, each with the offset of its byte or escape.
fn decoded(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let step = |at: usize| reference::decode(&Decode::new().core.job, text, at);
    reference::steps(0..text.len(), step).flat_map(|(at, step)| step.output().map(move |byte| (at, byte)))
}

/// The error of [`decode_ext_value`] and [`decode_ext_value_to_uninit`]. Offsets are in bytes from the start of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExtValueError {
    /// The value does not consist of a charset, a language tag and text, with `'` between them, or the language tag has a
    /// byte that is not a letter, a digit or a hyphen.
    Parts,
    /// The charset is neither UTF-8 nor ISO-8859-1.
    Charset,
    /// The text has a byte that must be escaped, or a `%` without two hexadecimal digits.
    Value {
        /// The offset of the byte.
        offset: usize,
    },
    /// The charset is UTF-8, but the decoded bytes are not.
    InvalidUtf8 {
        /// The offset of the byte or escape where the invalid sequence starts.
        offset: usize,
    },
    /// The memory for the text is too small. Only [`decode_ext_value_to_uninit`] returns this error.
    BufferTooSmall(BufferTooSmall),
}

impl ExtValueError {
    /// Returns the offset of the first byte or escape that is not allowed in `value`, the value that gave this error.
    /// It is the length of `value` if a `'` is missing, and 0 for another charset or too little memory. Takes linear time.
    ///
    /// ```
    /// use simdpct::header::decode_ext_value;
    ///
    /// let offset_in = |value| decode_ext_value(value).unwrap_err().offset_in(value);
    /// assert_eq!((offset_in("UTF-8'e n'a"), offset_in("UTF-8''a b"), offset_in("a.txt")), (7, 8, 5));
    /// ```
    #[must_use]
    pub fn offset_in(&self, value: &(impl AsRef<[u8]> + ?Sized)) -> usize {
        match *self {
            ExtValueError::Value { offset } | ExtValueError::InvalidUtf8 { offset } => offset,
            _ => parse(value.as_ref()).err().map_or(0, |(_, offset)| offset),
        }
    }
}

impl fmt::Display for ExtValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtValueError::Parts => f.write_str("the value is not charset'language'text, as in UTF-8''a%20b"),
            ExtValueError::Charset => f.write_str("the charset is neither UTF-8 nor ISO-8859-1"),
            ExtValueError::Value { offset } => {
                write!(
                    f,
                    "the byte at offset {offset} must be escaped, or is a '%' without two hexadecimal digits"
                )
            }
            ExtValueError::InvalidUtf8 { offset } => {
                write!(f, "the text is not valid UTF-8 at offset {offset}")
            }
            ExtValueError::BufferTooSmall(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ExtValueError {}

/// Encodes the name of a field or file for the header `Content-Disposition` of a part of `multipart/form-data`, as browsers do: `"`
/// becomes `%22`, CR `%0D` and LF `%0A`, and all else stays (HTML Standard, section 4.10.22.8). The quotes around the name are not
/// written. Takes time linear in the name.
///
/// HTML also turns each line end of the name of a field, but not of a file, into CR LF before this step.
///
/// ```
/// assert_eq!(*simdpct::header::encode_multipart_name("a\"b\r\n\u{e9}"), *"a%22b%0D%0A\u{e9}".as_bytes());
/// ```
#[cfg(feature = "alloc")]
#[must_use]
pub fn encode_multipart_name(name: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Encode::keeping(MULTIPART_NAME).encode(name)
}

/// Decodes the escapes `%22`, `%0D` and `%0A` of a name of `multipart/form-data`, and no other. Takes time linear in the name.
///
/// The standard escapes no `%`, so a name that held the text `%22` before it was encoded now holds a `"` instead.
///
/// ```
/// assert_eq!(*simdpct::header::decode_multipart_name("50%25 %22x%22%0d"), *b"50%25 \"x\"\r");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
pub fn decode_multipart_name(name: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::new().keep(MULTIPART_NAME).decode(name)
}
