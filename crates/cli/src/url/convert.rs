//! Connects the commands `encode --url` and `decode --url` with the [`Converter`] of simdpct-uri, and adds charsets.
//!
//! The converter works in UTF-8. Only escapes of bytes from 0x80 on depend on the charset, and these are converted before decoding,
//! or after encoding. The charset holds for the path, the query and the fragment; a host is in UTF-8 (URL Standard, section 3.5).

use simdpct::{ByteSet, sets};
use simdpct_uri::host::special_port;
use simdpct_uri::{Converter, split};

use super::{Escapes, Rewrite};
use crate::ground::charset::Charset;
use crate::ground::escape::{byte_of, escape};
use crate::ground::fault::{Handling, OnFault};
use crate::ground::reason::{Reason, Refusal};
use crate::ground::utf8;

/// The conversion of `encode --url`: escapes `%` and the bytes that a URL cannot contain.
#[derive(Clone, Copy, Debug)]
pub struct EncodeUrl {
    /// The charset of the bytes that are escaped; `None` for UTF-8.
    pub charset: Option<Charset>,
}

/// The conversion of `decode --url`: decodes the escapes that [`EncodeUrl`] writes.
#[derive(Clone, Copy, Debug)]
pub struct DecodeUrl {
    /// The charset of the decoded bytes; `None` for UTF-8.
    pub charset: Option<Charset>,
}

impl Rewrite for EncodeUrl {
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let converter = Converter::new().keeping(*keep);
        let Some(charset) = self.charset else {
            converter.encode_append(value, out);
            return Ok(());
        };
        let (head, rest) = value.split_at(path_start(value));
        if handling.not_text == OnFault::Refuse {
            utf8::validate(head).map_err(|offset| Refusal { offset, reason: Reason::InvalidUtf8 })?;
            let refused = charset.encode(rest, OnFault::Refuse, &mut Vec::new());
            refused.map_err(|refusal| Refusal { offset: head.len() + refusal.offset, ..refusal })?;
        }
        converter.encode_append(head, out);
        let mut url = Vec::new();
        converter.encode_append(rest, &mut url);
        from_utf8(charset, &url, out)
    }

    fn escapes(&self) -> Escapes {
        Escapes::Data
    }
}

impl Rewrite for DecodeUrl {
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let converter = Converter::new().keeping(*keep);
        let value = handling.repaired(value, b"%2525");
        let Some(charset) = self.charset else {
            converter.decode_append(&value, out);
            return Ok(());
        };
        let (head, rest) = value.split_at(path_start(&value));
        let mut url = Vec::new();
        to_utf8(Charset::UTF_8, head, keep, handling.not_text, &mut url)
            .map_err(|refusal| Refusal { reason: Reason::InvalidUtf8, ..refusal })?;
        to_utf8(charset.of(&simdpct::decode(rest)), rest, keep, handling.not_text, &mut url)
            .map_err(|refusal| Refusal { offset: head.len() + refusal.offset, ..refusal })?;
        converter.decode_append(&url, out);
        Ok(())
    }

    fn escapes(&self) -> Escapes {
        Escapes::Decoded
    }
}

/// Returns the offset in `url` of the end of the host that RFC 3986 or browsers find, or 0 for a URL without a host. Encoding does
/// not change the bytes that decide on it.
fn path_start(url: &[u8]) -> usize {
    let scheme = split(url).scheme();
    let start = scheme.map_or(0, |scheme| scheme.len() + 1);
    let slashes = url[start..].iter().take_while(|&&byte| byte == b'/').count();
    // Browsers skip any number of slashes after a special scheme.
    let host = match scheme.map_or(slashes >= 2, |scheme| special_port(scheme).is_some()) {
        true => start + slashes,
        false if slashes >= 2 => start + 2,
        false => return 0,
    };
    url[host..].iter().position(|byte| b"/?#".contains(byte)).map_or(url.len(), |len| host + len)
}

/// Returns the length of the escapes of bytes from 0x80 on at the start of `rest`, and appends these bytes to `bytes`.
fn high_escapes(rest: &[u8], bytes: &mut Vec<u8>) -> usize {
    let high =
        rest.chunks_exact(3).map_while(|three| byte_of(three.first_chunk()?).filter(|byte| *byte >= 0x80));
    let before = bytes.len();
    bytes.extend(high);
    3 * (bytes.len() - before)
}

/// Appends `url`, with the escapes of UTF-8 replaced by those of `charset`. A character that the charset lacks becomes a numeric
/// reference, as in browsers, and invalid UTF-8 stays.
fn from_utf8(charset: Charset, url: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (mut from, mut bytes) = (0, Vec::new());
    while let Some(found) = memchr::memchr(b'%', &url[from..]) {
        let start = from + found;
        out.extend_from_slice(&url[from..start]);
        bytes.clear();
        let len = high_escapes(&url[start..], &mut bytes);
        if len == 0 {
            out.push(b'%');
            from = start + 1;
            continue;
        }
        for chunk in bytes.utf8_chunks() {
            for character in chunk.valid().chars() {
                let mut encoded = Vec::new();
                charset.encode(character.encode_utf8(&mut [0; 4]).as_bytes(), OnFault::Keep, &mut encoded)?;
                // A byte of a character can be one of ASCII that has a meaning in URLs.
                out.extend_from_slice(simdpct::encode(&encoded).as_bytes());
            }
            escape(chunk.invalid(), out);
        }
        from = start + len;
    }
    out.extend_from_slice(&url[from..]);
    Ok(())
}

/// Appends `url`, with the escapes of `charset` replaced by those of UTF-8. A byte of a character that is in ASCII may be unescaped,
/// unless it is reserved or one of `keep`. `on_invalid` decides what becomes of other bytes.
fn to_utf8(
    charset: Charset,
    url: &[u8],
    keep: &ByteSet,
    on_invalid: OnFault,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let structure = sets::RFC3986_RESERVED.to_byte_set().union(*keep).add(b"%");
    let is_high = |at: usize| url[at..].first_chunk().and_then(byte_of).is_some_and(|byte| byte >= 0x80);
    let mut from = 0;
    for start in memchr::memchr_iter(b'%', url) {
        if start < from || !is_high(start) {
            continue;
        }
        out.extend_from_slice(&url[from..start]);
        // The bytes of one character, and the offset after each.
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut at = start;
        while bytes.len() < LONGEST && at < url.len() {
            let (byte, len) = match url[at..].first_chunk().and_then(byte_of) {
                Some(byte) => (byte, 3),
                None if url[at].is_ascii() && !structure.contains(url[at]) => (url[at], 1),
                None => break,
            };
            at += len;
            bytes.push(byte);
            ends.push(at);
        }
        let character = |len: usize| {
            let mut text = Vec::new();
            charset.decode(&bytes[..len], OnFault::Refuse, &mut text).ok().map(|()| (ends[len - 1], text))
        };
        let (end, text) = match ((1..=bytes.len()).find_map(character), on_invalid) {
            (Some(found), _) => found,
            (None, OnFault::Keep) => (start + 3, url[start..start + 3].to_vec()),
            (None, OnFault::Repair) => (start + 3, "\u{fffd}".into()),
            (None, OnFault::Refuse) => return Err(Refusal { offset: start, reason: Reason::NotInCharset }),
        };
        // The converter decodes these escapes, also those of an escape that stays.
        escape(&text, out);
        from = end;
    }
    out.extend_from_slice(&url[from..]);
    Ok(())
}

/// The maximum number of bytes of a character in any charset.
const LONGEST: usize = 4;
