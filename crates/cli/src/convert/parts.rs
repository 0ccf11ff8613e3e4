//! Decodes parts of URLs.

use std::ops::Range;

use simdpct::{ByteSet, Decode};
use simdpct_records::Kind;
use simdpct_uri::canon::hidden_schemes;

use super::decode::{DecodeOptions, Decoder};
use super::{Convert, Text, Unit, Value};
use crate::common::charset::Charset;
use crate::common::escape::escape;
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::target::{self, Pieces};

/// A part of a URL that can be decoded alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    Path,
    Query,
}

/// Decodes one part of a URL, and leaves the other parts alone.
#[derive(Clone)]
pub struct UrlPartDecoder {
    decoder: Decoder,
    part: UrlPart,
    /// The delimiters inside the part and the bytes that end it. They stay escaped.
    delimiters: &'static [u8],
}

impl UrlPartDecoder {
    /// Creates a decoder of `part`. Delimiters inside the part and the bytes that end it stay escaped.
    pub fn new(options: DecodeOptions, part: UrlPart) -> UrlPartDecoder {
        let delimiters: &[u8] = match part {
            // Browsers read `\` as `/`, and remove the others, so they would read `/%09/host` as `//host`.
            UrlPart::Path => b"/?#\\\t\r\n",
            // Without form decoding, an escaped "+" stays escaped too, because an unescaped one means a space.
            UrlPart::Query if options.form => b"&=;#",
            UrlPart::Query => b"&=;#+",
        };
        UrlPartDecoder { decoder: Decoder::new(options), part, delimiters }
    }

    /// Appends the decoded `range` of `url`, and returns the number of layers. Without a stateful charset, `more` stays escaped.
    fn decode(
        &mut self,
        url: &[u8],
        range: Range<usize>,
        keep: &ByteSet,
        more: &[u8],
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        // In a stateful charset, a byte that equals a delimiter can be a part of another character. So delimiters are
        // escaped only after the value has been converted.
        let is_stateful = self.decoder.charset().is_some_and(Charset::is_stateful);
        let keep = if is_stateful { *keep } else { keep.add(self.delimiters).add(more) };
        let (from, start) = (out.len(), range.start);
        let text = Text { bytes: &url[range], records: Records::Raw, handling };
        let result = self.decoder.decode(text, &keep, out);
        let layers = result.map_err(|Refusal { offset, reason }| {
            // The byte that makes an escape malformed can follow the range.
            let reason = match (reason, simdpct::validate(&url[start + offset..])) {
                (Reason::Malformed(_), Err(escape)) => Reason::Malformed(escape.cause),
                (reason, _) => reason,
            };
            Refusal { offset: start + offset, reason }
        })?;
        if is_stateful {
            for byte in out.split_off(from) {
                if self.delimiters.contains(&byte) { escape(&[byte], out) } else { out.push(byte) }
            }
        }
        Ok(layers)
    }
}

impl Convert for UrlPartDecoder {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let Value { bytes: url, kind, keep } = value;
        let at = target::offsets(kind, url);
        let (mut start, end) = match self.part {
            UrlPart::Path => (at.path_start, at.path_end),
            UrlPart::Query => (at.path_end, at.query_end),
        };
        out.extend_from_slice(&url[..start]);
        let mut layers = 0;
        if self.part == UrlPart::Path && start == 0 {
            // The first segment of a URL without a scheme must not make one (RFC 3986, section 4.2).
            let first = &url[..memchr::memchr(b'/', &url[..end]).unwrap_or(end)];
            let from = out.len();
            layers = self.decode(url, 0..first.len(), keep, b":", handling, out)?;
            if out[from..] != *first && simdpct_uri::split(&out[from..]).scheme().is_some() {
                // Decoding the letters before an unescaped colon would make a scheme, so they stay escaped.
                out.truncate(from);
                out.extend_from_slice(first);
                layers = 0;
            }
            start = first.len();
        }
        // Only a guessed or stateful charset depends on the ends of values: it begins anew in each value.
        let pieces = match self.decoder.charset() {
            Some(charset) if charset.is_stateful() => Pieces::between(&url[start..end], self.delimiters),
            Some(charset) if charset.is_guessed() => Pieces::from_path(&url[start..end]),
            _ => Pieces::between(&url[start..end], b""),
        };
        for (piece, delimiter) in pieces {
            let range = start..start + piece.len();
            layers = layers.max(self.decode(url, range, keep, b"", handling, out)?);
            out.extend_from_slice(delimiter);
            start += piece.len() + delimiter.len();
        }
        out.extend_from_slice(&url[end..]);
        Ok(layers)
    }

    fn decoder(&self) -> Option<&Decoder> {
        Some(&self.decoder)
    }
}

/// Normalizes the escapes of URLs, without giving a relative reference a scheme.
#[derive(Clone)]
pub struct Normalizer(Decoder);

impl Normalizer {
    /// Creates a normalizer that decodes the escapes of the bytes in `unreserved`.
    pub fn new(unreserved: ByteSet) -> Normalizer {
        Normalizer(Decoder::normalizer(unreserved))
    }

    /// Appends the normalized `text`: one URL, or several that end in `end`. URLs can have schemes if `has_scheme`.
    fn normalize(
        &mut self,
        text: &[u8],
        has_scheme: bool,
        end: Option<u8>,
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let (mut from, mut layers) = (0, 0);
        let schemes = hidden_schemes(text, end).take_while(|_| has_scheme);
        for scheme in schemes.chain(std::iter::once(text.len()..text.len())) {
            let part = Text { bytes: &text[from..scheme.start], records: Records::Raw, handling };
            let result = self.0.decode(part, keep, out);
            layers =
                layers.max(result.map_err(|refusal| Refusal { offset: from + refusal.offset, ..refusal })?);
            from = scheme.end;
            // These escapes stay, because decoding them would make a URI of a relative reference.
            Decode::NORMALIZE.keep(ByteSet::ALL).decode_append(&text[scheme], out);
        }
        Ok(layers)
    }
}

impl Convert for Normalizer {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let Value { bytes, kind, keep } = value;
        // The colon of a host and a port ends no scheme.
        self.normalize(bytes, kind != Kind::Authority, None, keep, handling, out)
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, handling } = text;
        let keep = records.structure();
        self.normalize(text, true, Some(records.end()), &keep, handling, out).ok().map(|_| 0)
    }

    fn unit(&self) -> Unit {
        Unit::Text
    }

    fn decoder(&self) -> Option<&Decoder> {
        Some(&self.0)
    }
}
