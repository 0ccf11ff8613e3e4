//! Connects the commands `encode --url` and `decode --url` with the [`Converter`] of simdpct-uri.

use simdpct::ByteSet;
use simdpct_uri::Converter;

use super::{Escapes, Rewrite};
use crate::ground::fault::Handling;
use crate::ground::reason::Refusal;

/// The conversion of `encode --url`: escapes `%` and the bytes that a URL cannot contain.
#[derive(Clone, Copy, Debug)]
pub struct EncodeUrl;

/// The conversion of `decode --url`: decodes the escapes that [`EncodeUrl`] writes.
#[derive(Clone, Copy, Debug)]
pub struct DecodeUrl;

impl Rewrite for EncodeUrl {
    fn append(&self, value: &[u8], keep: &ByteSet, _: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        Converter::new().keeping(*keep).encode_append(value, out);
        Ok(())
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
        let value = handling.repaired(value, b"%2525");
        Converter::new().keeping(*keep).decode_append(&value, out);
        Ok(())
    }

    fn escapes(&self) -> Escapes {
        Escapes::Decoded
    }
}
