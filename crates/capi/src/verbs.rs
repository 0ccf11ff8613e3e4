//! One value at a time.

use core::mem::MaybeUninit;

use codec::{ByteSet, DecodeError, Encode, TryDecode};

use crate::answer::Answer;
use crate::options::{self, SIMDPCT_IF_CHANGED, SIMDPCT_STRICT};

#[inline(always)]
pub(crate) fn encode(
    keep: Option<&ByteSet>,
    flags: u32,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Answer {
    let own;
    let encode = match (options::known_encoder(keep, flags), keep) {
        (Some(known), _) => known,
        (None, Some(set)) if options::are_of_encoders(flags) => {
            own = options::encoder_of(*set, flags);
            &own
        }
        _ => return Answer::invalid(),
    };
    if options::has(flags, SIMDPCT_IF_CHANGED) && encode.is_encoded(input) {
        return Answer::unchanged(input.len());
    }
    encode_by(encode, input, out)
}

#[inline(always)]
pub(crate) fn encode_by(encode: &Encode<ByteSet>, input: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
    match encode.encode_to_uninit(input, out) {
        Ok(written) => Answer::ok(written.len()),
        Err(error) => Answer::too_small(error.needed),
    }
}

pub(crate) fn encoded_len(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Answer {
    match options::encoder(keep, flags) {
        Some(encode) => Answer::length(encode.encoded_len(input)),
        None => Answer::invalid(),
    }
}

pub(crate) fn encode_first_change(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Option<usize> {
    options::encoder(keep, flags)?.first_change(input)
}

#[inline(always)]
pub(crate) fn decode(
    keep: Option<&ByteSet>,
    flags: u32,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Answer {
    let own;
    let decode = match (options::known_decoder(keep, flags), keep) {
        (Some(known), _) => known,
        (None, Some(set)) if options::are_of_decoders(true, flags) => {
            own = options::decoder_of(set, flags);
            &own
        }
        _ => return Answer::invalid(),
    };
    if options::has(flags, SIMDPCT_IF_CHANGED) {
        match verdict(decode, input) {
            Verdict::Changed => {}
            Verdict::Unchanged => return Answer::unchanged(input.len()),
            Verdict::Malformed(offset) => return Answer::malformed(offset),
        }
    }
    decode_by(decode, input, out)
}

#[inline(always)]
pub(crate) fn decode_by(decode: &TryDecode, input: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
    match decode.decode_to_uninit(input, out) {
        Ok(written) => Answer::ok(written.len()),
        Err(DecodeError::BufferTooSmall(error)) => Answer::too_small(error.needed),
        Err(DecodeError::Malformed(error)) => Answer::malformed(error.offset),
        // There is no other error today; a new one is no success.
        Err(_) => Answer::invalid(),
    }
}

/// What decoding would do.
enum Verdict {
    Changed,
    Unchanged,
    /// There is a malformed escape, at this offset, which strict decoding refuses.
    Malformed(usize),
}

#[inline(never)]
fn verdict(decode: &TryDecode, input: &[u8]) -> Verdict {
    match decode.is_decoded(input) {
        Ok(true) => Verdict::Unchanged,
        Ok(false) => Verdict::Changed,
        Err(error) => Verdict::Malformed(error.offset),
    }
}

#[inline(always)]
pub(crate) fn decode_in_place(keep: Option<&ByteSet>, flags: u32, bytes: &mut [u8]) -> Answer {
    let own;
    let decode = match (options::known_decoder(keep, flags), keep) {
        (Some(known), _) => known,
        (None, Some(set)) if options::are_of_decoders(true, flags) => {
            own = options::decoder_of(set, flags);
            &own
        }
        _ => return Answer::invalid(),
    };
    if options::has(flags, SIMDPCT_IF_CHANGED) {
        match verdict(decode, bytes) {
            Verdict::Changed => {}
            Verdict::Unchanged => return Answer::unchanged(bytes.len()),
            Verdict::Malformed(offset) => return Answer::malformed(offset),
        }
    }
    match decode.decode_in_place(bytes) {
        Ok(len) => Answer::ok(len),
        Err(error) => Answer::malformed(error.offset),
    }
}

pub(crate) fn decoded_len(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Answer {
    match options::decoder(keep, flags).map(|decode| decode.decoded_len(input)) {
        Some(Ok(len)) => Answer::length(len),
        Some(Err(error)) => Answer::malformed(error.offset),
        None => Answer::invalid(),
    }
}

/// Malformed escapes do not change, so strictness means nothing here.
pub(crate) fn decode_first_change(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Option<usize> {
    options::decoder(keep, flags & !SIMDPCT_STRICT)?.first_change(input).ok()?
}

pub(crate) fn validate(input: &[u8]) -> Answer {
    match codec::validate(input) {
        Ok(()) => Answer::length(input.len()),
        Err(error) => Answer::malformed(error.offset),
    }
}
