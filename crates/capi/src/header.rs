//! The functions for header fields: `ext-value`s (RFC 8187), and names in `multipart/form-data` (HTML Standard).

use core::mem::MaybeUninit;
use core::str;

use codec::header::{ExtValueError, MULTIPART_NAME, decode_ext_value_to_uninit, encode_ext_value_to_uninit};

use crate::result::{SIMDPCT_NOT_FOUND, ValueResult};
use crate::verbs;

pub(crate) fn encode_ext_value(text: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    match str::from_utf8(text).map(|text| encode_ext_value_to_uninit(text, out)) {
        Ok(Ok(value)) => ValueResult::ok(value.len()),
        Ok(Err(error)) => ValueResult::too_small(error.needed),
        Err(error) => ValueResult::malformed(error.valid_up_to()),
    }
}

/// Decodes an `ext-value`. Also returns its language tag, which is empty if there is an error.
pub(crate) fn decode_ext_value<'v>(value: &'v [u8], out: &mut [MaybeUninit<u8>]) -> (ValueResult, &'v [u8]) {
    let result = match decode_ext_value_to_uninit(value, out) {
        Ok((text, language)) => return (ValueResult::ok(text.len()), language.as_bytes()),
        Err(ExtValueError::Charset) => ValueResult { status: SIMDPCT_NOT_FOUND, ..ValueResult::invalid() },
        Err(ExtValueError::BufferTooSmall(error)) => ValueResult::too_small(error.needed),
        Err(error) => ValueResult::malformed(error.offset_in(value)),
    };
    (result, &[])
}

pub(crate) fn encode_multipart_name(name: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    verbs::encode(Some(&MULTIPART_NAME), 0, name, out)
}

pub(crate) fn decode_multipart_name(name: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    verbs::decode(Some(&MULTIPART_NAME), 0, name, out)
}
