//! Form data: the names and values of `application/x-www-form-urlencoded`, where a space is written as `+`.
//!
//! These functions encode and decode one name or one value. Split at `&` and `=` before decoding.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::{AsciiSet, Decode, Encode, sets};

/// The encoder of each word of a short text. This encoder and [`TEXT`] are constants, because [`Encode::form`] takes
/// several times as long at run time as encoding a short text (lab: uri-constants). The page is in docs/lab.
const WORD: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_FORM);
/// The encoder of a whole text.
const TEXT: Encode<AsciiSet> = WORD.form();

/// Encodes one name or value (URL Standard, section 5.2): [`Encode::form`] with
/// [`WHATWG_FORM`](sets::WHATWG_FORM).
///
/// ```
/// assert_eq!(simdpct::form::encode("a b+c~"), "a+b%2Bc%7E");
/// ```
#[must_use]
#[inline]
pub fn encode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    TEXT.encode(input)
}

/// Encodes one name or value and appends it to `out`. See [`encode`].
///
/// ```
/// let mut url = String::from("/search?q=");
/// simdpct::form::encode_append("a b+c~", &mut url);
/// assert_eq!(url, "/search?q=a+b%2Bc%7E");
/// ```
#[inline]
pub fn encode_append(input: &(impl AsRef<[u8]> + ?Sized), out: &mut String) {
    /// The longest text, in bytes, that is encoded word by word.
    const SHORT: usize = 32;

    let input = input.as_ref();
    if input.len() > SHORT {
        return TEXT.encode_append(input, out);
    }
    // A word needs only the default mode, in which code that is inlined here copies short text that stays unchanged.
    let mut words = input.split(|&byte| byte == b' ');
    WORD.encode_append(words.next().unwrap_or_default(), out);
    for word in words {
        out.push('+');
        WORD.encode_append(word, out);
    }
}

/// Decodes one name or value (URL Standard, section 5.1): [`Decode::form`].
///
/// ```
/// assert_eq!(&*simdpct::form::decode("a+b%2Bc%7E"), b"a b+c~");
/// ```
#[must_use]
#[inline]
pub fn decode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::new().form().decode(input)
}

/// Decodes one name or value to text, with U+FFFD for invalid UTF-8, as in the URL Standard.
///
/// ```
/// assert_eq!(simdpct::form::decode_utf8_lossy("caf%C3%A9+%FF"), "caf\u{e9} \u{fffd}");
/// ```
#[must_use]
pub fn decode_utf8_lossy(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, str> {
    Decode::new().form().decode_utf8_lossy(input)
}
