//! Divides a text at its escapes, and decodes or replaces them.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use simdpct::{ByteSet, HexCase, decode_escape, encode_byte};

/// A request target or a part of one, such as its path. It is borrowed until it is changed.
pub(crate) type Text<'a> = Cow<'a, [u8]>;

/// A part of a text.
pub(crate) enum Part<'a> {
    /// Bytes without `%`.
    Run(&'a [u8]),
    /// An escape and its byte.
    Escape(&'a [u8], u8),
    /// A `%` that begins no escape.
    Stray(&'a [u8]),
}

impl<'a> Part<'a> {
    pub(crate) fn source(&self) -> &'a [u8] {
        let (Part::Run(source) | Part::Escape(source, _) | Part::Stray(source)) = *self;
        source
    }
}

/// Iterates over the parts of a text.
pub(crate) struct Parts<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let part = match self.0 {
            [] => return None,
            [b'%', ..] => match decode_escape(self.0) {
                Some(byte) => Part::Escape(&self.0[..3], byte),
                None => Part::Stray(&self.0[..1]),
            },
            text => Part::Run(before(b'%', text)),
        };
        self.0 = &self.0[part.source().len()..];
        Some(part)
    }
}

/// Reports whether `text` has a `%` that begins no escape.
pub(crate) fn has_malformed(text: &[u8]) -> bool {
    memchr_iter(b'%', text).any(|at| decode_escape(&text[at..]).is_none())
}

/// Reports whether `text` has an escape of a byte in `set`.
pub(crate) fn has_escape_of(set: &ByteSet, text: &[u8]) -> bool {
    memchr_iter(b'%', text).any(|at| decode_escape(&text[at..]).is_some_and(|byte| set.contains(byte)))
}

/// Replaces each part of a text by the bytes that `each` returns for it; `None` keeps the part.
pub(crate) fn rewrite<R: AsRef<[u8]>>(text: &mut Text<'_>, mut each: impl FnMut(&Part<'_>) -> Option<R>) {
    let mut out = Vec::with_capacity(text.len());
    for part in Parts(text) {
        match each(&part) {
            Some(bytes) => out.extend_from_slice(bytes.as_ref()),
            None => out.extend_from_slice(part.source()),
        }
    }
    *text = Cow::Owned(out);
}

/// Does the same as [`rewrite`] if the text has a `%`, and otherwise nothing.
pub(crate) fn replace<R: AsRef<[u8]>>(text: &mut Text<'_>, each: impl FnMut(&Part<'_>) -> Option<R>) {
    if text.contains(&b'%') {
        rewrite(text, each);
    }
}

/// Decodes the escapes of bytes in `set`.
pub(crate) fn decode(set: &ByteSet, text: &mut Text<'_>) {
    replace(text, |part| decoded(set, part).map(|byte| [byte]));
}

/// Returns the byte of an escape, if it is in `set`.
pub(crate) fn decoded(set: &ByteSet, part: &Part<'_>) -> Option<u8> {
    match *part {
        Part::Escape(_, byte) if set.contains(byte) => Some(byte),
        _ => None,
    }
}

/// Decodes the escapes of bytes in `set`. If decoding would complete a malformed escape, its `%` becomes `%25`.
pub(crate) fn decode_guarded(set: &ByteSet, text: &mut Text<'_>) {
    let mut strays = Vec::new();
    let mut out = Vec::with_capacity(text.len());
    for part in Parts(text) {
        match (decoded(set, &part), &part) {
            (Some(byte), _) => out.push(byte),
            (None, Part::Stray(_)) => {
                strays.push(out.len());
                out.push(b'%');
            }
            (None, _) => out.extend_from_slice(part.source()),
        }
    }
    let mut guarded = Vec::with_capacity(out.len());
    let mut from = 0;
    for at in strays.into_iter().filter(|&at| decode_escape(&out[at..]).is_some()) {
        guarded.extend_from_slice(&out[from..=at]);
        guarded.extend_from_slice(b"25");
        from = at + 1;
    }
    guarded.extend_from_slice(&out[from..]);
    *text = Cow::Owned(guarded);
}

/// Decodes the escapes of bytes in `set`. Adjacent escapes are read as UTF-8 together; escapes of invalid UTF-8 stay.
pub(crate) fn decode_utf8(set: &ByteSet, text: &mut Text<'_>) {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(part) = Parts(rest).next() {
        let run: Vec<u8> = Parts(rest).map_while(|part| decoded(set, &part)).collect();
        for chunk in run.utf8_chunks() {
            out.extend_from_slice(chunk.valid().as_bytes());
            rest = &rest[3 * chunk.valid().len()..];
            let invalid = rest.split_off(..3 * chunk.invalid().len());
            out.extend_from_slice(invalid.unwrap_or_default());
        }
        if run.is_empty() {
            out.extend_from_slice(part.source());
            rest = &rest[part.source().len()..];
        }
    }
    *text = Cow::Owned(out);
}

/// Replaces `%uXXXX` and `%UXXXX` by the escapes of the UTF-8 bytes of the code point `XXXX`, which may be a surrogate.
pub(crate) fn expand_percent_u(text: &mut Text<'_>) {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(at) = memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match unit(rest) {
            Some(unit) => {
                let continuation = |shift: u16| 0x80 | (unit >> shift & 0x3F) as u8;
                let utf8: &[u8] = &match unit {
                    0..0x80 => vec![unit as u8],
                    0x80..0x800 => vec![0xC0 | (unit >> 6) as u8, continuation(0)],
                    _ => vec![0xE0 | (unit >> 12) as u8, continuation(6), continuation(0)],
                };
                utf8.iter().for_each(|&byte| out.extend_from_slice(&encode_byte(byte, HexCase::Upper)));
                rest = &rest[6..];
            }
            None => {
                out.push(b'%');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    *text = Cow::Owned(out);
}

/// Returns the number `XXXX` of the escape `%uXXXX` or `%UXXXX` at the start of `text`.
fn unit(text: &[u8]) -> Option<u16> {
    let &[b'%', b'u' | b'U', a, b, c, d, ..] = text else { return None };
    Some(u16::from_be_bytes([decode_escape(&[b'%', a, b])?, decode_escape(&[b'%', c, d])?]))
}

/// Returns the text before the first `end`, or all of it.
pub(crate) fn before(end: u8, text: &[u8]) -> &[u8] {
    &text[..memchr(end, text).unwrap_or(text.len())]
}
