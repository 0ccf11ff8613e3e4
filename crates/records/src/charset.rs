//! The charset of a value. Only values in documents of HTML have another charset than UTF-8.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// The charset of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charset(Option<&'static Encoding>);

impl Charset {
    /// Returns the charset of `value` in a document in `charset`. If the document names none, a value that is valid
    /// UTF-8 is in UTF-8, and any other in windows-1252, as in browsers.
    #[cfg(feature = "html")]
    pub(crate) fn of(value: &[u8], charset: Option<&'static Encoding>) -> Charset {
        use encoding_rs::{UTF_8, WINDOWS_1252};
        let guess = || if str::from_utf8(value).is_ok() { UTF_8 } else { WINDOWS_1252 };
        let charset = Some(charset.unwrap_or_else(guess)).filter(|charset| *charset != UTF_8);
        let is_valid = |charset: &&'static Encoding| !charset.decode_without_bom_handling(value).1;
        // If a value is invalid in its charset, its bytes are its text.
        Charset(charset.filter(is_valid))
    }

    /// Reports whether the bytes of the value are its text.
    pub fn is_same(self) -> bool {
        self.0.is_none()
    }

    /// Returns the text of `raw`.
    pub(crate) fn decode(self, raw: &[u8]) -> Cow<'_, [u8]> {
        let Some(charset) = self.0 else { return Cow::Borrowed(raw) };
        match charset.decode_without_bom_handling(raw).0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Replaces `offsets` in the text of `raw`, in ascending order, by the offsets of the same characters in `raw`.
    pub(crate) fn origins(self, raw: &[u8], offsets: &mut [usize]) {
        let Some(charset) = self.0 else { return };
        let mut decoder = charset.new_decoder_without_bom_handling();
        let mut buffer = [0; 16];
        // The end of the bytes read, the start of the current character, the end of its text, and whether it is whole.
        let (mut at, mut start, mut passed, mut is_complete) = (0, 0, 0, true);
        for offset in offsets {
            while passed <= *offset && at < raw.len() {
                start = if is_complete { at } else { start };
                let is_last = at + 1 == raw.len();
                let (_, _, written, _) = decoder.decode_to_utf8(&raw[at..=at], &mut buffer, is_last);
                is_complete = written > 0;
                passed += written;
                at += 1;
            }
            *offset = if passed > *offset { start } else { raw.len() };
        }
    }

    /// Returns the bytes of `text`. A character that the charset lacks becomes a character reference.
    pub(crate) fn encode(self, text: Vec<u8>) -> Vec<u8> {
        match (self.0, str::from_utf8(&text)) {
            (Some(charset), Ok(characters)) => charset.encode(characters).0.into_owned(),
            _ => text,
        }
    }
}
