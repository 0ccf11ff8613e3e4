//! Connects the commands `encode --url` and `decode --url` with the [`Converter`] of simdpct-uri, and adds charsets.
//!
//! The converter works in UTF-8. Escapes are converted from the charset before decoding, and to it after encoding. The
//! charset holds for the path, the query and the fragment; a host is in UTF-8 (URL Standard, section 3.5).

use std::borrow::Cow;

use simdpct::{ByteSet, Encode, MalformedEscape, sets};
use simdpct_uri::host::special_port;
use simdpct_uri::{Converter, split};

use super::values::in_utf8;
use crate::common::charset::{Charset, push_reference};
use crate::common::escape::escape;
use crate::common::fault::{Handling, Policy};
use crate::common::reason::{Refusal, not_utf8};
use crate::common::{target, utf8};
use crate::convert::{Convert, Value, percent_u};

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
    /// Whether `%uXXXX` is decoded, which is UTF-16 whatever the charset is.
    pub percent_u: bool,
}

/// Encodes the bytes that a URL cannot contain. The escapes of the bytes `keep` stay. Of these bytes themselves, only NUL
/// and line ends stay, which end records, and those that browsers read as syntax.
fn encode_append(keep: ByteSet, url: &[u8], out: &mut Vec<u8>) {
    const STAY: ByteSet = sets::RFC3986_URI.to_byte_set().add(b"%\r\n\0\t\\");
    let (mut kept, start) = (Vec::new(), url.iter().take_while(|byte| **byte <= b' ').count());
    Converter::new().keeping(keep).encode_append(url, &mut kept);
    out.extend_from_slice(&kept[..start]);
    Encode::keeping(STAY).encode_append(&kept[start..], out);
}

impl Convert for EncodeUrl {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        target::convert(value.kind, value.bytes, false, out, |url, out| {
            let Some(charset) = self.charset else {
                encode_append(*value.keep, url, out);
                return Ok(());
            };
            let (head, rest) = url.split_at(path_start(url));
            if handling.not_text.rejects() {
                utf8::validate(head).map_err(not_utf8)?;
                let refused = charset.encode(rest, Policy::Fail, &mut Vec::new(), push_reference);
                refused.map_err(|refusal| Refusal { offset: head.len() + refusal.offset, ..refusal })?;
            }
            encode_append(*value.keep, head, out);
            let mut encoded = Vec::new();
            encode_append(*value.keep, rest, &mut encoded);
            from_utf8(charset, &encoded, out)
        })
    }
}

impl Convert for DecodeUrl {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let from = out.len();
        target::convert(value.kind, value.bytes, false, out, |url, out| {
            let url = match self.charset {
                None => Cow::Borrowed(url),
                // Escapes that must stay become `%25XX` here, and decoding makes `%XX` of them again.
                Some(charset) => in_utf8(charset, url, path_start(url), b"%25", handling.not_text)?.into(),
            };
            let url = if self.percent_u { percent_u::as_escapes(&url).into() } else { url };
            let url = handling.repaired(&url, b"%2525");
            Converter::new().keeping(*value.keep).decode_append(&url, out);
            Ok(())
        })?;
        // The repair of malformed escapes decodes nothing.
        let decoded = &out[from..];
        Ok(usize::from(decoded != value.bytes && *decoded != *handling.repaired(value.bytes, b"%25")))
    }

    fn validate(&self, url: &[u8]) -> Result<(), MalformedEscape> {
        if self.percent_u { percent_u::validate(url) } else { simdpct::validate(url) }
    }
}

/// Returns the offset in `url` of the end of the authority (userinfo, host and port), or 0 for a URL without one. After
/// a special scheme, the authority follows any number of slashes, as in browsers. Encoding does not change the bytes
/// that decide the offset.
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
    let decoded = rest.chunks_exact(3).map_while(simdpct::decode_escape);
    let high = decoded.take_while(|byte| *byte >= 0x80);
    let before = bytes.len();
    bytes.extend(high);
    3 * (bytes.len() - before)
}

/// Appends `url`, with the escapes of UTF-8 replaced by those of `charset`. A character that the charset lacks becomes
/// a numeric reference, as in browsers, and invalid UTF-8 stays.
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
                charset.encode(
                    character.encode_utf8(&mut [0; 4]).as_bytes(),
                    Policy::Keep,
                    &mut encoded,
                    push_reference,
                )?;
                // In the charset, a character can contain an ASCII byte that has a meaning in URLs.
                out.extend_from_slice(simdpct::encode(&encoded).as_bytes());
            }
            escape(chunk.invalid(), out);
        }
        from = start + len;
    }
    out.extend_from_slice(&url[from..]);
    Ok(())
}
