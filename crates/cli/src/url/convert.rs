//! Connects the commands `encode --url` and `decode --url` with the [`Converter`] of simdpct-uri.

use simdpct::ByteSet;
use simdpct_uri::Converter;

use super::Rewrite;
use crate::ground::fault::OnFault;
use crate::ground::reason::Refusal;

/// The conversion of `encode --url`: escapes `%` and the bytes that a URL cannot contain.
#[derive(Clone, Copy, Debug)]
pub struct EncodeUrl;

/// The conversion of `decode --url`: decodes the escapes that [`EncodeUrl`] writes.
#[derive(Clone, Copy, Debug)]
pub struct DecodeUrl;

impl Rewrite for EncodeUrl {
    fn append(&self, value: &[u8], keep: &ByteSet, _: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        Converter::new().keeping(*keep).encode_append(value, out);
        Ok(())
    }

    fn reads_escapes(&self) -> bool {
        false
    }
}

impl Rewrite for DecodeUrl {
    fn append(&self, value: &[u8], keep: &ByteSet, _: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        Converter::new().keeping(*keep).decode_append(value, out);
        Ok(())
    }
}
