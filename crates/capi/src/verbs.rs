//! The functions that encode, decode or check one value.

use core::mem::MaybeUninit;

use codec::{ByteSet, DecodeError, MalformedEscape, TryDecode};

use crate::options::{self, SIMDPCT_IF_CHANGED, SIMDPCT_STRICT};
use crate::result::ValueResult;

#[inline(always)]
pub(crate) fn encode(
    keep: Option<&ByteSet>,
    flags: u32,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> ValueResult {
    let mut built = None;
    let Some(encode) = options::inline_encoder(keep, flags, &mut built) else {
        return ValueResult::invalid();
    };
    if options::has(flags, SIMDPCT_IF_CHANGED) && encode.is_encoded(input) {
        return ValueResult::unchanged(input.len());
    }
    match encode.encode_to_uninit(input, out) {
        Ok(written) => ValueResult::ok(written.len()),
        Err(error) => ValueResult::too_small(error.needed),
    }
}

pub(crate) fn encoded_len(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> ValueResult {
    options::encoder(keep, flags, &mut None)
        .map_or_else(ValueResult::invalid, |encode| ValueResult::measured(encode.encoded_len(input)))
}

pub(crate) fn encode_first_change(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Option<usize> {
    options::encoder(keep, flags, &mut None)?.first_change(input)
}

#[inline(always)]
pub(crate) fn decode(
    keep: Option<&ByteSet>,
    flags: u32,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> ValueResult {
    let mut built = None;
    let Some(decode) = options::inline_decoder(keep, flags, &mut built) else {
        return ValueResult::invalid();
    };
    if options::has(flags, SIMDPCT_IF_CHANGED)
        && let Some(done) = without_change(decode, input)
    {
        return done;
    }
    match decode.decode_to_uninit(input, out) {
        Ok(written) => ValueResult::ok(written.len()),
        Err(DecodeError::BufferTooSmall(error)) => ValueResult::too_small(error.needed),
        Err(DecodeError::Malformed(error)) => ValueResult::malformed(error.offset),
        // `DecodeError` has no other variant today. If one is added, it must not pass for success.
        Err(_) => ValueResult::invalid(),
    }
}

/// Returns the result if decoding would change nothing or would fail. Returns `None` if the value has to be decoded.
#[inline(never)]
fn without_change(decode: &TryDecode, input: &[u8]) -> Option<ValueResult> {
    match decode.is_decoded(input) {
        Ok(true) => Some(ValueResult::unchanged(input.len())),
        Ok(false) => None,
        Err(error) => Some(ValueResult::malformed(error.offset)),
    }
}

#[inline(always)]
pub(crate) fn decode_in_place(keep: Option<&ByteSet>, flags: u32, bytes: &mut [u8]) -> ValueResult {
    let mut built = None;
    let Some(decode) = options::inline_decoder(keep, flags, &mut built) else {
        return ValueResult::invalid();
    };
    if options::has(flags, SIMDPCT_IF_CHANGED)
        && let Some(done) = without_change(decode, bytes)
    {
        return done;
    }
    match decode.decode_in_place(bytes) {
        Ok(len) => ValueResult::ok(len),
        Err(error) => ValueResult::malformed(error.offset),
    }
}

pub(crate) fn decoded_len(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> ValueResult {
    options::decoder(keep, flags, &mut None)
        .map_or_else(ValueResult::invalid, |decode| measured(decode.decoded_len(input)))
}

/// Returns the offset of the first byte that decoding changes, or `None` if it changes nothing or the flags are invalid.
/// `SIMDPCT_STRICT` is ignored, because decoding never changes a malformed escape.
pub(crate) fn decode_first_change(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Option<usize> {
    options::decoder(keep, flags & !SIMDPCT_STRICT, &mut None)?.first_change(input).ok()?
}

pub(crate) fn validate(input: &[u8]) -> ValueResult {
    measured(codec::validate(input).map(|()| input.len()))
}

fn measured(len: Result<usize, MalformedEscape>) -> ValueResult {
    len.map_or_else(|error| ValueResult::malformed(error.offset), ValueResult::measured)
}
