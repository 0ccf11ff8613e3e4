//! The converters of whole URLs, `encode --url` and `decode --url`: the rule is that of [`Converter`].

use simdpct::ByteSet;
use simdpct_uri::Converter;

use super::Rewrite;
use crate::ground::reason::Refusal;

/// Escapes what a URL may not hold, `%` too.
#[derive(Clone, Copy, Debug)]
pub struct EncodeUrl;

/// Decodes what [`EncodeUrl`] has escaped.
#[derive(Clone, Copy, Debug)]
pub struct DecodeUrl;

impl Rewrite for EncodeUrl {
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        Converter::new().keeping(*structure).encode_append(value, out);
        Ok(())
    }

    fn reads_escapes(&self) -> bool {
        false
    }
}

impl Rewrite for DecodeUrl {
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        Converter::new().keeping(*structure).decode_append(value, out);
        Ok(())
    }
}
