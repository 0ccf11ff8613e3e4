//! Encodes and decodes text in charsets other than UTF-8, with the crate encoding_rs.
//!
//! The URL Standard encodes a query in the charset of its page, and old lists hold escapes of any charset. A charset is named by one
//! of the labels of the Encoding Standard, such as `windows-1251` or `latin1`.
//!
//! ```
//! use simdpct_uri::charset::{Charset, Guess, guess};
//!
//! let cyrillic = Charset::find("windows-1251").unwrap();
//! assert_eq!(cyrillic.decode_utf8(b"%CF%F0%E8%E2%E5%F2").unwrap(), "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}");
//!
//! let candidates = [Charset::find("windows-1252").unwrap(), cyrillic];
//! assert_eq!(guess(b"caf%C3%A9", &candidates), Guess::Utf8);
//! assert_eq!(guess(b"caf%E9", &candidates), Guess::Charset(candidates[0]));
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::Write as _;

use encoding_rs::{EncoderResult, Encoding};
use simdpct::{AsciiSet, Decode, Encode};

/// A charset of the Encoding Standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Charset(&'static Encoding);

impl Charset {
    /// Returns the charset with this label; `None` if the Encoding Standard does not have the label. The case of letters does not matter,
    /// nor does ASCII whitespace around the label.
    #[must_use]
    pub fn find(label: &str) -> Option<Charset> {
        Encoding::for_label(label.as_bytes()).map(Charset)
    }

    /// Returns the name of the charset in the Encoding Standard.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Reports whether every character of the charset is one byte.
    #[must_use]
    pub fn is_single_byte(self) -> bool {
        self.0.is_single_byte()
    }

    /// Decodes a piece of a form. Bytes that are invalid in this charset become U+FFFD.
    pub(crate) fn decode_form_lossy(self, piece: &[u8]) -> Cow<'_, str> {
        match Decode::new().form().decode(piece) {
            Cow::Borrowed(bytes) => self.0.decode_without_bom_handling(bytes).0,
            Cow::Owned(bytes) => Cow::Owned(self.0.decode_without_bom_handling(&bytes).0.into_owned()),
        }
    }

    /// Decodes the escapes of a piece, and then converts the bytes from this charset. Returns `None` if the bytes are invalid in
    /// the charset.
    ///
    /// A byte order mark is text like any other. Malformed escapes stay. Takes time linear in the input.
    #[must_use]
    pub fn decode_utf8<'a>(self, piece: &'a (impl AsRef<[u8]> + ?Sized)) -> Option<Cow<'a, str>> {
        match Decode::new().decode(piece) {
            Cow::Borrowed(bytes) => self.0.decode_without_bom_handling_and_without_replacement(bytes),
            Cow::Owned(bytes) => {
                let text = self.0.decode_without_bom_handling_and_without_replacement(&bytes)?;
                Some(Cow::Owned(text.into_owned()))
            }
        }
    }

    /// Encodes `text` in this charset, escapes all bytes that are not in `keep`, and appends the result to `out`. This is the algorithm
    /// `percent-encode after encoding` of the URL Standard, section 1.3.
    ///
    /// A character that the charset does not have becomes `%26%23`, its number in decimal, and `%3B`: an escaped character reference
    /// of HTML. UTF-16 charsets are written as UTF-8, as the standard demands. Takes time linear in the input.
    ///
    /// ```
    /// use simdpct::sets;
    /// use simdpct_uri::charset::Charset;
    ///
    /// let mut out = String::new();
    /// Charset::find("latin1").unwrap().encode_append("caf\u{e9} \u{4f8b}", sets::WHATWG_QUERY, &mut out);
    /// assert_eq!(out, "caf%E9%20%26%2320363%3B");
    /// ```
    pub fn encode_append(self, text: &str, keep: AsciiSet, out: &mut String) {
        let encode = Encode::keeping(keep);
        self.encode_with(|bytes, out| encode.encode_append(bytes, out), text, out);
    }

    /// Encodes a name or value of a form.
    pub(crate) fn encode_form(self, text: &str, out: &mut String) {
        self.encode_with(simdpct::form::encode_append, text, out);
    }

    fn encode_with(self, append: impl Fn(&[u8], &mut String), text: &str, out: &mut String) {
        let mut encoder = self.0.new_encoder();
        let mut left = text;
        let mut bytes = [0; 512];
        loop {
            let (result, read, written) =
                encoder.encode_from_utf8_without_replacement(left, &mut bytes, true);
            append(&bytes[..written], out);
            left = &left[read..];
            match result {
                EncoderResult::InputEmpty => return,
                EncoderResult::OutputFull => {}
                // Writing to a string never fails.
                EncoderResult::Unmappable(c) => _ = write!(out, "%26%23{}%3B", u32::from(c)),
            }
        }
    }
}

/// The result of [`guess`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Guess {
    /// The decoded bytes are ASCII. Every charset that is compatible with ASCII reads them the same; UTF-16 and ISO-2022-JP are not.
    Ascii,
    /// The text is valid UTF-8, which text in another charset hardly ever is.
    Utf8,
    /// The first candidate in which all bytes are valid. The text may still be in another charset.
    Charset(Charset),
    /// The text is not valid in UTF-8 or any candidate.
    None,
}

/// Decodes a piece and reports whether it is ASCII, UTF-8, or else valid in one of `charsets`. The first such charset
/// is returned.
///
/// This does not detect a charset: most single-byte charsets have a character for nearly every byte. Takes time linear in the piece,
/// for each charset.
#[must_use]
pub fn guess(piece: &(impl AsRef<[u8]> + ?Sized), charsets: &[Charset]) -> Guess {
    let decoded = Decode::new().decode(piece);
    if decoded.is_ascii() {
        return Guess::Ascii;
    }
    if core::str::from_utf8(&decoded).is_ok() {
        return Guess::Utf8;
    }
    let reads = |charset: &&Charset| {
        charset.0.decode_without_bom_handling_and_without_replacement(&decoded).is_some()
    };
    charsets.iter().find(reads).map_or(Guess::None, |&charset| Guess::Charset(charset))
}
