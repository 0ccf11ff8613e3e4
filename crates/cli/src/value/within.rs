//! Decodes one part of a URL.

use simdpct::ByteSet;

use super::decode::Decoder;
use super::options::{DecodeOptions, Scope};
use crate::ground::fault::Handling;
use crate::ground::reason::Refusal;
use crate::ground::records::Records;

/// Decodes one part of a URL, and leaves the other parts alone.
#[derive(Clone)]
pub struct Within {
    pub(super) decoder: Decoder,
    /// The decoder of the first segment of a relative path, which keeps the escape of a colon.
    first: Decoder,
    scope: Scope,
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
        let keep = structure.add(delimiters);
        Within { decoder: decoder(keep), first: decoder(keep.add(b":")), scope }
    }

    /// Appends the new value, and returns the number of layers.
    pub fn apply(&mut self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let url = simdpct_uri::split(value);
        let at = url.offsets();
        let (mut start, end) = match self.scope {
            Scope::Path => (at.path_start, at.path_end),
            Scope::Query => (at.path_end, at.query_end),
        };
        out.extend_from_slice(&value[..start]);
        let mut layers = 0;
        if self.scope == Scope::Path && start == 0 {
            start = self.segment(&value[..end], handling, out, &mut layers)?;
        }
        layers = layers.max(
            self.decoder
                .apply(&value[start..end], handling, out)
                .map_err(|refusal| Refusal { offset: start + refusal.offset, ..refusal })?,
        );
        out.extend_from_slice(&value[end..]);
        Ok(layers)
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
        if out[from..] != path[..len] && simdpct_uri::split(&out[from..]).scheme().is_some() {
            // An unescaped colon follows escaped letters, which stay escaped as well.
            out.truncate(from);
            out.extend_from_slice(&path[..len]);
            *layers = 0;
        }
        Ok(len)
    }
}
