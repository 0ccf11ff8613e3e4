//! Reads the values of HTML attributes as text, and writes text into them: charsets and character references.

use encoding_rs::{DecoderResult, Encoding, UTF_8, WINDOWS_1252};

use super::table::is_blank;
use crate::ground::escape::to_text;
use crate::ground::utf8;

/// The text of a value.
pub struct Text {
    pub bytes: Vec<u8>,
    /// The offset in the value of each byte of the text, and of the end.
    pub origins: Vec<usize>,
}

/// Returns the text of `value`, unless `value` is its own text. The `charset` is that of the document; `None` if it names none. Tabs and line
/// ends are left out, as the URL Standard demands, if `is_url`.
pub fn read(value: &[u8], charset: Option<&'static Encoding>, is_url: bool) -> Option<Text> {
    let charset = charset_of(value, charset);
    let is_plain = |byte: &u8| *byte != b'&' && !is_break(*byte);
    if (charset == UTF_8 || value.is_ascii()) && value.iter().all(is_plain) {
        return None;
    }
    let Text { bytes, origins } = decode(value, charset);
    let mut text = Text::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (new, len) = reference(&bytes[at..]).unwrap_or_else(|| (vec![bytes[at]], 1));
        for byte in new {
            text.push(byte, origins[at]);
        }
        at += len;
    }
    text.origins.push(value.len());
    Some(if is_url { text.without_breaks() } else { text })
}

/// Reports whether `byte` is a tab or the byte of a line end.
fn is_break(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r')
}

impl Text {
    fn with_capacity(len: usize) -> Text {
        Text { bytes: Vec::with_capacity(len), origins: Vec::with_capacity(len + 1) }
    }

    /// Leaves out tabs and line ends, but for those at the ends, which are trimmed later like other blanks, so that they stay as they are.
    fn without_breaks(self) -> Text {
        let first = self.bytes.iter().take_while(|&&byte| is_blank(byte)).count();
        let last = self.bytes.len() - self.bytes.iter().rev().take_while(|&&byte| is_blank(byte)).count();
        let mut text = Text::with_capacity(self.bytes.len());
        for (at, &byte) in self.bytes.iter().enumerate() {
            if !(is_break(byte) && (first..last).contains(&at)) {
                text.push(byte, self.origins[at]);
            }
        }
        text.origins.extend(self.origins.last());
        text
    }

    fn push(&mut self, byte: u8, origin: usize) {
        self.bytes.push(byte);
        self.origins.push(origin);
    }
}

/// Returns the charset of `value`: that of the document or, if it names none, UTF-8 or else windows-1252, which browsers assume.
fn charset_of(value: &[u8], charset: Option<&'static Encoding>) -> &'static Encoding {
    charset.unwrap_or_else(|| if utf8::validate(value).is_ok() { UTF_8 } else { WINDOWS_1252 })
}

/// Converts `value` from `charset` to UTF-8. A value that is invalid in its charset is its own text.
fn decode(value: &[u8], charset: &'static Encoding) -> Text {
    let same = || Text { bytes: value.to_vec(), origins: (0..=value.len()).collect() };
    if charset == UTF_8 || value.is_ascii() {
        return same();
    }
    let mut text = Text { bytes: Vec::new(), origins: Vec::new() };
    let mut decoder = charset.new_decoder_without_bom_handling();
    let mut buffer = [0; 16];
    // The first byte of the character that is being read.
    let mut start = 0;
    for at in 0..=value.len() {
        let byte = value.get(at..=at).unwrap_or_default();
        let (result, _, written) =
            decoder.decode_to_utf8_without_replacement(byte, &mut buffer, byte.is_empty());
        if let DecoderResult::Malformed(..) = result {
            return same();
        }
        for &byte in &buffer[..written] {
            text.push(byte, start);
        }
        if written > 0 {
            start = at + 1;
        }
    }
    text.origins.push(value.len());
    text
}

/// Returns the characters for the character reference at the start of `text`, and the length of the reference (HTML Standard, "character reference state", in an attribute).
fn reference(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    if text.first() != Some(&b'&') {
        return None;
    }
    let hashes = usize::from(text.get(1) == Some(&b'#'));
    let len = 1 + hashes + text[1 + hashes..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if len == 1 {
        return None;
    }
    // A number ends before the first letter that is not a digit of it.
    let len = match text[1 + hashes..len] {
        [b'x' | b'X', ref digits @ ..] if hashes == 1 => {
            3 + digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
        }
        ref digits if hashes == 1 => 2 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => len,
    };
    let has_end = text.get(len) == Some(&b';');
    // In a query such as `?a=1&copy=2` there is no reference.
    if hashes == 0 && !has_end && text.get(len) == Some(&b'=') {
        return None;
    }
    let spelt = &text[..len + usize::from(has_end)];
    let new = htmlize::unescape_bytes_in(spelt, htmlize::Context::Attribute);
    (*new != *spelt).then(|| (new.into_owned(), spelt.len()))
}

/// Appends `new` to `out` as a part of the value `old`, which is between two `quote`s or not quoted.
pub fn write(
    new: &[u8],
    old: &[u8],
    quote: Option<u8>,
    charset: Option<&'static Encoding>,
    out: &mut Vec<u8>,
) {
    // Text of a document is in its charset, so bytes that are not text stay escaped.
    let new = to_text(new);
    // If the author writes `&` for itself, it is escaped only where it would be read as a reference.
    let is_bare = memchr::memchr_iter(b'&', old).any(|at| reference(&old[at..]).is_none());
    let mut text = String::with_capacity(new.len());
    for (at, character) in new.char_indices() {
        match character {
            '&' if is_bare && reference(&new.as_bytes()[at..]).is_none() => text.push('&'),
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' if quote != Some(b'\'') => text.push_str("&quot;"),
            '\'' if quote != Some(b'"') => text.push_str("&#39;"),
            '=' | '`' if quote.is_none() => push_number(character, &mut text),
            _ if quote.is_none() && character.is_ascii() && is_blank(character as u8) => {
                push_number(character, &mut text);
            }
            _ => text.push(character),
        }
    }
    if text.is_empty() && quote.is_none() {
        text.push_str("\"\"");
    }
    match charset_of(old, charset) {
        charset if charset == UTF_8 || text.is_ascii() => out.extend_from_slice(text.as_bytes()),
        // A character that the charset lacks becomes a reference.
        charset => out.extend_from_slice(&charset.encode(&text).0),
    }
}

fn push_number(character: char, text: &mut String) {
    text.push_str(&format!("&#{};", u32::from(character)));
}

#[cfg(test)]
mod tests {
    use encoding_rs::{SHIFT_JIS, WINDOWS_1251};

    use super::*;

    #[test]
    fn references_are_read_as_in_attributes() {
        for (value, wanted) in [
            ("?a=1&amp;b=2", "?a=1&b=2"),
            ("?a=1&copy=2&copy2&notit;&copy;&copy/", "?a=1&copy=2&copy2&notit;©©/"),
            ("&#38;&#x26;&#X26;&#38 &#x26g&#x;&#;&", "&&&& &g&#x;&#;&"),
            ("&#0;&#128;&#xD800;&#1114112;", "\u{fffd}€\u{fffd}\u{fffd}"),
            ("&NotEqualTilde;&unknown;&amp", "\u{2242}\u{338}&unknown;&"),
            (" \na\tb\r\nc\n ", " \nabc\n "),
            ("java&#10;scr&Tab;ipt&NewLine;:&#13", "javascript:\r"),
        ] {
            let text = read(value.as_bytes(), None, true).expect("the text differs");
            assert_eq!(String::from_utf8(text.bytes).unwrap(), wanted, "{value}");
        }
        assert!(read(b"http://a/?b=c", None, true).is_none());
    }

    #[test]
    fn values_in_other_charsets() {
        for (value, charset, wanted, origins) in [
            (&b"a\xE9&amp;b"[..], None, "aé&b", &[0, 1, 1, 2, 7, 8][..]),
            ("é\n!".as_bytes(), None, "é!", &[0, 1, 3, 4]),
            (b"\xFF!", Some(WINDOWS_1251), "я!", &[0, 0, 1, 2]),
            (b"\x83\x5C!", Some(SHIFT_JIS), "ソ!", &[0, 0, 0, 2, 3]),
            // A byte that is invalid in the charset.
            (b"\xFF&amp;", Some(SHIFT_JIS), "\u{ff}", &[0, 1, 6]),
        ] {
            let text = read(value, charset, true).expect("the text differs");
            if !value.starts_with(b"\xFF&") {
                assert_eq!(String::from_utf8_lossy(&text.bytes), wanted);
            }
            assert_eq!(text.origins, origins, "{wanted}");
        }
    }

    #[test]
    fn text_is_written_with_few_references() {
        for (new, old, quote, wanted) in [
            ("a&b=c&copy;", "x", Some(b'"'), "a&amp;b=c&amp;copy;"),
            ("a&b=c&copy;", "x&y", Some(b'"'), "a&b=c&amp;copy;"),
            ("a&b", "x&amp;y", Some(b'"'), "a&amp;b"),
            ("\"'<>=` ", "x", Some(b'"'), "&quot;'&lt;&gt;=` "),
            ("\"'<>=` ", "x", Some(b'\''), "\"&#39;&lt;&gt;=` "),
            ("\"'<>=` ", "x", None, "&quot;&#39;&lt;&gt;&#61;&#96;&#32;"),
            ("", "x", None, "\"\""),
            ("", "x", Some(b'"'), ""),
        ] {
            let mut out = Vec::new();
            write(new.as_bytes(), old.as_bytes(), quote, None, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), wanted, "{new} for {old}");
        }
        for (new, charset, wanted) in
            [("яé", Some(WINDOWS_1251), &b"\xFF&#233;"[..]), ("é", Some(UTF_8), "é".as_bytes())]
        {
            let mut out = Vec::new();
            write(new.as_bytes(), b"x", Some(b'"'), charset, &mut out);
            assert_eq!(out, wanted);
        }
        let mut out = Vec::new();
        write(b"a\xFF", b"x", Some(b'"'), None, &mut out);
        assert_eq!(out, b"a%FF");
    }
}
