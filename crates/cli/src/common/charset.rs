//! Converts bytes in a charset to UTF-8 and back, by the Encoding Standard or by one of two strict charsets that the
//! standard lacks.

use std::ops::Range;

use encoding_rs::{
    BIG5, DecoderResult, EUC_KR, EncoderResult, Encoding, GB18030, GBK, ISO_2022_JP, SHIFT_JIS,
};
use simdpct::ByteSet;

use super::escape::escape;
use super::fault::Policy;
use super::reason::{Reason, Refusal, not_utf8};
use super::utf8;

/// A charset that spells each ASCII character as its ASCII byte, as URLs require. In some charsets, an ASCII byte can also be a part of
/// another character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// A charset of the Encoding Standard.
    Standard(&'static Encoding),
    /// A charset in which each byte below this limit is the character of the same number, and others are invalid.
    Numbers(u16),
    /// UTF-8 for a value that is valid UTF-8, and otherwise this charset. Only decoding supports it.
    Auto(&'static Encoding),
}

/// The names of all supported charsets. Most charsets also have other labels.
const NAMES: &str = "big5 euc-jp euc-kr gb18030 gbk ibm866 iso-2022-jp iso-8859-1-strict iso-8859-2 iso-8859-3 iso-8859-4 \
    iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 iso-8859-13 iso-8859-14 \
    iso-8859-15 iso-8859-16 koi8-r koi8-u latin1 macintosh shift_jis us-ascii-strict utf-8 windows-874 \
    windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 \
    windows-1257 windows-1258 x-mac-cyrillic x-user-defined";

/// Returns the names of all supported charsets.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.split_ascii_whitespace()
}

impl Charset {
    /// UTF-8, by the Encoding Standard.
    pub const UTF_8: Charset = Charset::Standard(encoding_rs::UTF_8);

    /// Returns the charset with this label, or an error message.
    pub fn find(label: &str) -> Result<Charset, String> {
        let label = label.trim_ascii();
        match label.to_ascii_lowercase().as_str() {
            // In the Encoding Standard, ISO 8859-1 means windows-1252, which differs in the bytes 0x80 to 0x9F.
            "iso-8859-1-strict" => return Ok(Charset::Numbers(0x100)),
            "us-ascii-strict" => return Ok(Charset::Numbers(0x80)),
            _ => {}
        }
        match Encoding::for_label(label.as_bytes()) {
            Some(encoding) if encoding.is_ascii_compatible() || encoding == ISO_2022_JP => {
                Ok(Charset::Standard(encoding))
            }
            Some(_) => Err(format!(
                "charset '{label}' cannot be used in URLs: it spells ASCII characters with other bytes"
            )),
            None => {
                let label_lower = label.to_ascii_lowercase();
                let likeness = |name| strsim::jaro_winkler(&label_lower, name);
                let mut similar: Vec<_> = names().filter(|name| likeness(name) >= 0.8).collect();
                similar.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
                similar.truncate(4);
                Err(match similar.is_empty() {
                    false => format!("unknown charset '{label}'; similar: {}", similar.join(", ")),
                    true => format!("unknown charset '{label}'; known: {}", NAMES.replace(' ', ", ")),
                })
            }
        }
    }

    /// Returns the charset with this label, a guessed one for `auto` and `auto:LABEL`, or an error message.
    pub fn find_or_auto(label: &str) -> Result<Charset, String> {
        let label = label.trim_ascii();
        let other = match label.get(..4) {
            Some(start) if start.eq_ignore_ascii_case("auto") && label.len() == 4 => "windows-1252",
            Some(start) if start.eq_ignore_ascii_case("auto") && label[4..].starts_with(':') => &label[5..],
            _ => return Charset::find(label),
        };
        match Charset::find(other)? {
            Charset::Standard(encoding) if encoding != ISO_2022_JP => Ok(Charset::Auto(encoding)),
            _ => Err(format!(
                "auto:{other}: after `auto:`, expected the label of a charset of browsers other than iso-2022-jp"
            )),
        }
    }

    /// Reports whether the charset is guessed for each value, which needs the whole value.
    pub fn is_guessed(self) -> bool {
        matches!(self, Charset::Auto(_))
    }

    /// Returns the charset of `bytes`: UTF-8 or the other charset, if it is guessed.
    pub fn of(self, bytes: &[u8]) -> Charset {
        match self {
            Charset::Auto(_) if utf8::validate(bytes).is_ok() => Charset::UTF_8,
            Charset::Auto(other) => Charset::Standard(other),
            charset => charset,
        }
    }

    /// Returns the ASCII bytes from `@` on that can be the second half of a character. There are none for a guessed charset, and for a
    /// stateful one, in which every visible byte can be a part of a character.
    pub fn second_halves(self) -> ByteSet {
        match self {
            Charset::Standard(known) if [BIG5, EUC_KR, GB18030, GBK, SHIFT_JIS].contains(&known) => {
                ByteSet::from_bytes(&(b'@'..0x7F).collect::<Vec<_>>())
            }
            _ => ByteSet::EMPTY,
        }
    }

    /// Reports whether digits can be inside a character, as in GB 18030. The digits of a character that is cut are text if another byte
    /// follows, such as a line end, and invalid at the end of the value. So each value must be decoded by itself.
    pub fn has_inner_digits(self) -> bool {
        [GB18030, GBK].map(Charset::Standard).contains(&self)
    }

    /// Reports whether the meaning of a byte can depend on bytes arbitrarily far before it.
    pub fn is_stateful(self) -> bool {
        self == Charset::Standard(ISO_2022_JP)
    }

    /// Returns a decoder for one value.
    pub fn decoder(self) -> Decoder {
        match self {
            Charset::Standard(encoding) | Charset::Auto(encoding) => {
                Decoder::Standard(encoding.new_decoder_without_bom_handling())
            }
            Charset::Numbers(limit) => Decoder::Numbers(limit),
        }
    }

    /// Converts `bytes` from this charset and appends them to `out` as UTF-8. Bytes that are invalid in this charset
    /// are escaped, rejected, or replaced by U+FFFD, as `policy` says. The error is the offset of the first
    /// rejected byte.
    pub fn decode(self, bytes: &[u8], policy: Policy, out: &mut Vec<u8>) -> Result<(), usize> {
        if !self.is_stateful() && Encoding::ascii_valid_up_to(bytes) == bytes.len() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let mut decoder = self.of(bytes).decoder();
        let mut read = 0;
        while let Some(invalid) = decoder.decode(bytes, &mut read, true, out) {
            match policy {
                Policy::Keep => escape(&bytes[invalid], out),
                Policy::Replace => out.extend_from_slice("\u{fffd}".as_bytes()),
                _ => return Err(invalid.start),
            }
        }
        Ok(())
    }

    /// Converts the UTF-8 `text` to this charset and appends the result to `out`. Calls `lacking` with `out` and the
    /// code point of each character that the charset lacks. `policy` keeps invalid UTF-8, replaces it by U+FFFD, or
    /// rejects it. A policy that rejects it also rejects the characters that the charset lacks.
    pub fn encode(
        self,
        text: &[u8],
        policy: Policy,
        out: &mut Vec<u8>,
        mut lacking: impl FnMut(&mut Vec<u8>, u32),
    ) -> Result<(), Refusal> {
        let mut offset = 0;
        for chunk in text.utf8_chunks() {
            let is_invalid = !chunk.invalid().is_empty();
            let replacement = if policy == Policy::Replace && is_invalid { "\u{fffd}" } else { "" };
            for part in [chunk.valid(), replacement] {
                let mut text = part;
                while let Some(Lacking { character, at, rest }) = self.encode_part(text, out) {
                    if policy.rejects() {
                        let offset = offset + part.len() - text.len() + at;
                        return Err(Refusal { offset, reason: Reason::NotInCharset });
                    }
                    lacking(out, u32::from(character));
                    text = rest;
                }
            }
            offset += chunk.valid().len();
            if policy.rejects() && is_invalid {
                return Err(not_utf8(offset));
            }
            if policy == Policy::Keep {
                out.extend_from_slice(chunk.invalid());
            }
            offset += chunk.invalid().len();
        }
        Ok(())
    }

    /// Converts `text` to the charset and appends the result to `out`, up to the first character that the charset lacks. Returns that
    /// character.
    fn encode_part<'a>(self, text: &'a str, out: &mut Vec<u8>) -> Option<Lacking<'a>> {
        let encoding = match self {
            Charset::Standard(encoding) | Charset::Auto(encoding) => encoding,
            Charset::Numbers(limit) => {
                for (at, character) in text.char_indices() {
                    if u32::from(character) >= u32::from(limit) {
                        return Some(Lacking { character, at, rest: &text[at + character.len_utf8()..] });
                    }
                    out.push(u32::from(character) as u8);
                }
                return None;
            }
        };
        let mut encoder = encoding.new_encoder();
        let (mut rest, mut written) = (text, out.len());
        let lacking = loop {
            make_room(out, written, rest.len());
            let (result, read, more) =
                encoder.encode_from_utf8_without_replacement(rest, &mut out[written..], true);
            written += more;
            rest = &rest[read..];
            match result {
                EncoderResult::InputEmpty => break None,
                EncoderResult::OutputFull => {}
                EncoderResult::Unmappable(character) => {
                    // The reported character may differ from the one in the text, so its offset is derived from the
                    // length of the text read.
                    let read = &text[..text.len() - rest.len()];
                    let at = read.char_indices().next_back().map_or(0, |(at, _)| at);
                    break Some(Lacking { character, at, rest });
                }
            }
        };
        out.truncate(written);
        lacking
    }
}

/// Appends the numeric reference that browsers write for a character that a charset lacks.
pub fn push_reference(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(format!("&#{number};").as_bytes());
}

/// A character that a charset lacks.
struct Lacking<'a> {
    /// The character that is written as a number. It can differ from the character in the text, because some encoders
    /// report another one.
    character: char,
    /// The offset of the character in the text.
    at: usize,
    /// The text after the character.
    rest: &'a str,
}

/// A decoder for one value, which may come in pieces.
pub enum Decoder {
    Standard(encoding_rs::Decoder),
    Numbers(u16),
}

impl Decoder {
    /// Converts `bytes` from offset `read` on and appends them to `out` as UTF-8, up to the first invalid bytes. Sets
    /// `read` to the end of the bytes that were read. Returns the range of the invalid bytes, or `None` without any.
    ///
    /// The invalid bytes may begin in an earlier piece. For a complete range, `bytes` must include the last sixteen
    /// bytes before `read`.
    pub fn decode(
        &mut self,
        bytes: &[u8],
        read: &mut usize,
        is_last: bool,
        out: &mut Vec<u8>,
    ) -> Option<Range<usize>> {
        let decoder = match self {
            Decoder::Standard(decoder) => decoder,
            Decoder::Numbers(limit) => {
                while let Some(&byte) = bytes.get(*read) {
                    *read += 1;
                    if u16::from(byte) >= *limit {
                        return Some(*read - 1..*read);
                    }
                    out.extend_from_slice(char::from(byte).encode_utf8(&mut [0; 2]).as_bytes());
                }
                return None;
            }
        };
        let mut written = out.len();
        let invalid = loop {
            make_room(out, written, bytes.len() - *read);
            let (result, more_read, more_written) =
                decoder.decode_to_utf8_without_replacement(&bytes[*read..], &mut out[written..], is_last);
            *read += more_read;
            written += more_written;
            match result {
                DecoderResult::InputEmpty => break None,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    // The decoder has read `after` more bytes after the invalid ones, and will still convert them.
                    let end = read.saturating_sub(after.into());
                    break Some(end.saturating_sub(len.into())..end);
                }
            }
        };
        out.truncate(written);
        invalid
    }
}

/// Grows `out` for the result of `rest` more bytes; its first `written` bytes are in use. It grows a little at a
/// time, because new bytes are filled with zeros and the conversion may stop at any byte.
fn make_room(out: &mut Vec<u8>, written: usize, rest: usize) {
    let room = (3 * rest).clamp(LEAST_ROOM, MOST_ROOM);
    if out.len() < written + room / 2 {
        out.resize(written + room, 0);
    }
}

/// The minimum number of free bytes after the output has grown. The output grows if less than half of its room is free, so half of this
/// number must be enough for the longest result of one character.
const LEAST_ROOM: usize = 64;
/// The maximum growth of the output in one step, in bytes.
const MOST_ROOM: usize = 4096;
