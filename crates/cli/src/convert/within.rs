//! Decodes one part of a URL.

use simdpct::ByteSet;
use simdpct_records::Kind;

use super::decode::Decoder;
use super::options::{DecodeOptions, Scope};
use crate::common::charset::Charset;
use crate::common::escape::escape;
use crate::common::fault::Handling;
use crate::common::reason::Refusal;
use crate::common::records::Records;
use crate::common::target;
use crate::url::values::Values;

/// Decodes one part of a URL, and leaves the other parts alone.
#[derive(Clone)]
pub struct Within {
    pub(super) decoder: Decoder,
    /// The decoder of the first segment of a relative path, which keeps the escape of a colon.
    first: Decoder,
    scope: Scope,
    /// The delimiters inside the part and the bytes that end it. They stay escaped.
    delimiters: &'static [u8],
    /// Whether delimiters are escaped after the conversion, because each can be a byte of another character in the charset.
    is_stateful: bool,
}

impl Within {
    /// Creates a decoder of the part `scope`. Delimiters inside the part and the bytes that end it stay escaped.
    pub fn new(options: &DecodeOptions, scope: Scope, structure: ByteSet) -> Within {
        let delimiters: &[u8] = match scope {
            Scope::Path => b"/?#",
            // Without form decoding, an escaped "+" stays escaped too, because an unescaped one means a space.
            Scope::Query if options.form => b"&=;#",
            Scope::Query => b"&=;#+",
        };
        let decoder = |keep: ByteSet| Decoder::new(options, keep, Records::Raw);
        let is_stateful = options.charset.is_some_and(Charset::is_stateful);
        let keep = if is_stateful { structure } else { structure.add(delimiters) };
        let first = if is_stateful { structure } else { keep.add(b":") };
        Within { decoder: decoder(keep), first: decoder(first), scope, delimiters, is_stateful }
    }

    /// Appends the new value, and returns the number of layers.
    pub fn apply(
        &mut self,
        value: &[u8],
        kind: Kind,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let at = target::offsets(kind, value);
        let (mut start, end) = match self.scope {
            Scope::Path => (at.path_start, at.path_end),
            Scope::Query => (at.path_end, at.query_end),
        };
        out.extend_from_slice(&value[..start]);
        let mut layers = 0;
        if self.scope == Scope::Path && start == 0 {
            start = self.segment(&value[..end], handling, out, &mut layers)?;
        }
        let rest = &value[start..end];
        let charset = self.decoder.options.charset;
        // Only a guess depends on the ends of values, and a stateful charset begins anew in each.
        let values = match charset {
            Some(charset) if charset.is_stateful() => Values::between(rest, self.delimiters),
            Some(charset) if charset.is_guessed() => Values::from_path(rest),
            _ => Values::between(rest, b""),
        };
        for (value, delimiter) in values {
            let from = out.len();
            let at = |refusal: Refusal| Refusal { offset: start + refusal.offset, ..refusal };
            layers = layers.max(self.decoder.apply(value, handling, out).map_err(at)?);
            if self.is_stateful {
                self.escape_delimiters(from, out);
            }
            out.extend_from_slice(delimiter);
            start += value.len() + delimiter.len();
        }
        out.extend_from_slice(&value[end..]);
        Ok(layers)
    }

    /// Escapes the delimiters in `out` from `from` on, which the conversion of one value has made.
    fn escape_delimiters(&self, from: usize, out: &mut Vec<u8>) {
        for byte in out.split_off(from) {
            if self.delimiters.contains(&byte) { escape(&[byte], out) } else { out.push(byte) }
        }
    }

    /// Appends the new first segment of `path`, which begins a URL, so that the URL does not get a scheme (RFC 3986,
    /// section 4.2). Returns the length of the segment.
    fn segment(
        &mut self,
        path: &[u8],
        handling: Handling,
        out: &mut Vec<u8>,
        layers: &mut usize,
    ) -> Result<usize, Refusal> {
        let len = memchr::memchr(b'/', path).unwrap_or(path.len());
        let from = out.len();
        *layers = self.first.apply(&path[..len], handling, out)?;
        if self.is_stateful {
            self.escape_delimiters(from, out);
        }
        if out[from..] != path[..len] && simdpct_uri::split(&out[from..]).scheme().is_some() {
            // An unescaped colon follows escaped letters, which stay escaped as well.
            out.truncate(from);
            out.extend_from_slice(&path[..len]);
            *layers = 0;
        }
        Ok(len)
    }
}
