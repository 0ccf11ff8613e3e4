//! Decodes one part of a URL.

use simdpct::ByteSet;

use super::decode::Decoder;
use super::handling::Handling;
use super::options::{DecodeOptions, Scope};
use crate::ground::reason::Refusal;
use crate::ground::records::Records;

/// Decodes one part of a URL, and leaves the other parts alone.
#[derive(Clone)]
pub struct Within {
    pub(super) decoder: Decoder,
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
        Within { decoder: Decoder::new(options, structure.add(delimiters), Records::Raw), scope }
    }

    /// Appends the new value, and returns the number of layers.
    pub fn apply(&mut self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let at = simdpct_uri::split(value).offsets();
        let (start, end) = match self.scope {
            Scope::Path => (at.path_start, at.path_end),
            Scope::Query => (at.path_end, at.query_end),
        };
        out.extend_from_slice(&value[..start]);
        let layers = self
            .decoder
            .apply(&value[start..end], handling, out)
            .map_err(|refusal| Refusal { offset: start + refusal.offset, ..refusal })?;
        out.extend_from_slice(&value[end..]);
        Ok(layers)
    }
}
