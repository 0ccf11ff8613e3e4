//! Normalizes escapes, without giving a relative reference a scheme.

use simdpct::{ByteSet, Decode};
use simdpct_records::Kind;
use simdpct_uri::canon::hidden_schemes;

use super::decode::Decoder;
use crate::common::fault::Handling;
use crate::common::reason::Refusal;

/// Normalizes the escapes of URLs.
#[derive(Clone)]
pub struct Normalizer {
    pub(super) decoder: Decoder,
    /// The byte that ends each URL, if a value can contain several.
    end: Option<u8>,
}

impl Normalizer {
    /// Decodes the escapes of the bytes in `unreserved`, except those in `structure`. `end` is the byte that ends each URL, if a
    /// value can contain several.
    pub fn new(unreserved: ByteSet, structure: ByteSet, end: Option<u8>) -> Normalizer {
        Normalizer { decoder: Decoder::normalizer(unreserved, structure), end }
    }

    /// Appends the normalized `value`, and returns the number of layers.
    pub fn apply(
        &mut self,
        value: &[u8],
        kind: Kind,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let (mut from, mut layers) = (0, 0);
        // The colon of a host and a port ends no scheme.
        let has_scheme = kind != Kind::Authority;
        let places = hidden_schemes(value, self.end).take_while(|_| has_scheme);
        for place in places.chain(std::iter::once(value.len()..value.len())) {
            let result = self.decoder.apply(&value[from..place.start], handling, out);
            layers =
                layers.max(result.map_err(|refusal| Refusal { offset: from + refusal.offset, ..refusal })?);
            from = place.end;
            // These escapes stay, because decoding them would make a URI of a relative reference.
            Decode::NORMALIZE.keep(ByteSet::EMPTY.complement()).decode_append(&value[place], out);
        }
        Ok(layers)
    }
}
