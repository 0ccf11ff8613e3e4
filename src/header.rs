//! Text in header fields: parameters in charsets other than ASCII (RFC 8187), and the names of `multipart/form-data` (HTML Standard).
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

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use crate::{ByteSet, Decode, Encode, sets};

/// The bytes that stay in a name of `multipart/form-data`: all but `"`, CR and LF
/// ([HTML Standard, section 4.10.22.8](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)).
/// `%` stays, too.
pub const MULTIPART_NAME: ByteSet = ByteSet::from_bytes(b"\"\r\n").complement();

/// Encodes text as an `ext-value`, the value of a parameter whose name ends with `*` (RFC 8187, section 3.2.1). The charset is UTF-8,
/// which is the only one that senders may use, and no language is named. The result is ASCII. Takes time linear in the text.
///
/// ```
/// assert_eq!(simdpct::header::encode_ext_value("na\u{ef}ve #1"), "UTF-8''na%C3%AFve%20#1");
/// ```
#[must_use]
pub fn encode_ext_value(text: &str) -> String {
    let mut value = String::from("UTF-8''");
    Encode::keeping(sets::RFC8187_ATTR_CHAR).encode_append(text, &mut value);
    value
}

/// The result of [`decode_ext_value`].
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
/// The charsets are UTF-8 and, as in RFC 5987, ISO-8859-1, in any case. Takes time linear in the value.
///
/// # Errors
///
/// [`ExtValueError`] if the value breaks the grammar, names another charset, or is not valid in its charset. RFC 8187, section 3.2.1,
/// then advises to ignore the parameter. Most senders also write the same parameter without `*`.
///
/// ```
/// use simdpct::header::{ExtValueError, decode_ext_value};
///
/// let value = decode_ext_value("iso-8859-1'en'%A3%20rates").unwrap();
/// assert_eq!((value.language, &*value.text), ("en", "\u{a3} rates"));
/// assert_eq!(decode_ext_value("UTF-8''100%"), Err(ExtValueError::Value { offset: 10 }));
/// assert_eq!(decode_ext_value("UTF-8''%A3"), Err(ExtValueError::InvalidUtf8 { offset: 7 }));
/// ```
pub fn decode_ext_value<'a>(value: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<ExtValue<'a>, ExtValueError> {
    let value = value.as_ref();
    let mut quotes = memchr::memchr_iter(b'\'', value);
    let (Some(first), Some(second)) = (quotes.next(), quotes.next()) else {
        return Err(ExtValueError::Parts);
    };
    let (charset, language, escaped) = (&value[..first], &value[first + 1..second], &value[second + 1..]);
    let is_tag = language.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let Some(language) = core::str::from_utf8(language).ok().filter(|_| is_tag) else {
        return Err(ExtValueError::Parts);
    };
    let is_utf8 = charset.eq_ignore_ascii_case(b"UTF-8");
    if !is_utf8 && !charset.eq_ignore_ascii_case(b"ISO-8859-1") {
        return Err(ExtValueError::Charset);
    }
    let start = second + 1;
    if let Some(at) = Encode::keeping(sets::RFC8187_ATTR_CHAR).keep_escapes().first_change(escaped) {
        return Err(ExtValueError::Value { offset: start + at });
    }
    let text = if is_utf8 {
        let invalid = |error: crate::InvalidUtf8| ExtValueError::InvalidUtf8 { offset: start + error.offset };
        Decode::new().decode_utf8(escaped).map_err(invalid)?
    } else {
        // The numbers of bytes in ISO-8859-1 are those of characters in Unicode.
        match Decode::new().decode_utf8(escaped) {
            Ok(Cow::Borrowed(text)) => Cow::Borrowed(text),
            _ => Decode::new().decode(escaped).iter().copied().map(char::from).collect(),
        }
    };
    Ok(ExtValue { language, text })
}

/// The error of [`decode_ext_value`]. Offsets are in bytes from the start of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExtValueError {
    /// The value is not a charset, a language tag and text with `'` between them.
    Parts,
    /// The charset is neither UTF-8 nor ISO-8859-1.
    Charset,
    /// A byte that must be escaped, or a `%` without two hexadecimal digits.
    Value {
        /// The offset of the byte.
        offset: usize,
    },
    /// The charset is UTF-8, but the decoded bytes are not.
    InvalidUtf8 {
        /// The offset of the byte or escape where the invalid sequence starts.
        offset: usize,
    },
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
#[must_use]
pub fn encode_multipart_name(name: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Encode::keeping(MULTIPART_NAME).encode(name)
}

/// Decodes the escapes `%22`, `%0D` and `%0A` of such a name, and no other. Takes time linear in the name.
///
/// The standard escapes no `%`, so a name that held the text `%22` before it was encoded now holds a `"` instead.
///
/// ```
/// assert_eq!(*simdpct::header::decode_multipart_name("50%25 %22x%22%0d"), *b"50%25 \"x\"\r");
/// ```
#[must_use]
pub fn decode_multipart_name(name: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::new().keep(MULTIPART_NAME).decode(name)
}
