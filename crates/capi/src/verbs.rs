//! One value at a time.

use core::mem::MaybeUninit;

use codec::{ByteSet, DecodeError, Encode, TryDecode, sets};

use crate::answer::Answer;
use crate::options::{self, Decoder, SIMDPCT_IF_CHANGED};

/// Why there is no answer but `Answer::INVALID`.
pub(crate) type Checked = Option<Answer>;

#[inline(always)]
pub(crate) fn encode(
    keep: Option<&ByteSet>,
    flags: u32,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Checked {
    // Without what flags ask for, nothing is copied once more.
    match (flags, keep) {
        (0, Some(set)) => Some(encode_by(&Encode::keeping(*set), input, out)),
        (0, None) => Some(encode_by(&Encode::keeping(sets::RFC3986_UNRESERVED.to_byte_set()), input, out)),
        _ => encode_with(keep, flags, input, out),
    }
}

#[inline(never)]
fn encode_with(keep: Option<&ByteSet>, flags: u32, input: &[u8], out: &mut [MaybeUninit<u8>]) -> Checked {
    let encode = options::encoder(keep, flags)?;
    if options::has(flags, SIMDPCT_IF_CHANGED) && encode.is_encoded(input) {
        return Some(Answer::unchanged(input.len()));
    }
    Some(encode_by(&encode, input, out))
}

#[inline(always)]
pub(crate) fn encode_by(encode: &Encode<ByteSet>, input: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
    match encode.encode_to_uninit(input, out) {
        Ok(written) => Answer::ok(written.len()),
        Err(error) => Answer::too_small(error.needed),
    }
}

pub(crate) fn encoded_len(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Checked {
    Some(Answer::length(options::encoder(keep, flags)?.encoded_len(input)))
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
) -> Checked {
    if let Some(known) = options::known_decoder(keep, flags) {
        return Some(decode_by(known, input, out));
    }
    if options::has(flags, SIMDPCT_IF_CHANGED) {
        let flags = flags & !SIMDPCT_IF_CHANGED;
        if let (Some(known), Some(lenient)) =
            (options::known_decoder(keep, flags), options::known_lenient(keep, flags))
        {
            return Some(match lenient.is_decoded(input) {
                true => Answer::unchanged(input.len()),
                false => decode_by(known, input, out),
            });
        }
    }
    decode_with(keep, flags, input, out)
}

#[inline(never)]
fn decode_with(keep: Option<&ByteSet>, flags: u32, input: &[u8], out: &mut [MaybeUninit<u8>]) -> Checked {
    let decoder = options::decoder(keep, flags)?;
    if options::has(flags, SIMDPCT_IF_CHANGED)
        && let Some(answer) = unless_changed(&decoder, input)
    {
        return Some(answer);
    }
    Some(decode_by(&decoder.decode.strict_if(decoder.strict), input, out))
}

#[inline(always)]
pub(crate) fn decode_by(decode: &TryDecode, input: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
    match decode.decode_to_uninit(input, out) {
        Ok(written) => Answer::ok(written.len()),
        Err(DecodeError::BufferTooSmall(error)) => Answer::too_small(error.needed),
        Err(DecodeError::Malformed(error)) => Answer::malformed(error.offset),
        // There is no other error today; a new one is no success.
        Err(_) => Answer::INVALID,
    }
}

/// The answer if decoding changes nothing, or refuses the input.
fn unless_changed(decoder: &Decoder, input: &[u8]) -> Option<Answer> {
    if !decoder.strict {
        return decoder.decode.is_decoded(input).then(|| Answer::unchanged(input.len()));
    }
    match decoder.decode.strict().is_decoded(input) {
        Ok(true) => Some(Answer::unchanged(input.len())),
        Ok(false) => None,
        Err(error) => Some(Answer::malformed(error.offset)),
    }
}

#[inline(always)]
pub(crate) fn decode_in_place(keep: Option<&ByteSet>, flags: u32, bytes: &mut [u8]) -> Checked {
    if let Some(known) = options::known_lenient(keep, flags & !SIMDPCT_IF_CHANGED) {
        return Some(match options::has(flags, SIMDPCT_IF_CHANGED) && known.is_decoded(bytes) {
            true => Answer::unchanged(bytes.len()),
            false => Answer::ok(known.decode_in_place(bytes)),
        });
    }
    decode_in_place_with(keep, flags, bytes)
}

#[inline(never)]
fn decode_in_place_with(keep: Option<&ByteSet>, flags: u32, bytes: &mut [u8]) -> Checked {
    let decoder = options::decoder(keep, flags)?;
    if options::has(flags, SIMDPCT_IF_CHANGED)
        && let Some(answer) = unless_changed(&decoder, bytes)
    {
        return Some(answer);
    }
    if !decoder.strict {
        return Some(Answer::ok(decoder.decode.decode_in_place(bytes)));
    }
    Some(match decoder.decode.strict().decode_in_place(bytes) {
        Ok(len) => Answer::ok(len),
        Err(error) => Answer::malformed(error.offset),
    })
}

pub(crate) fn decoded_len(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Checked {
    let decoder = options::decoder(keep, flags)?;
    Some(match decoder.decode.strict_if(decoder.strict).decoded_len(input) {
        Ok(len) => Answer::length(len),
        Err(error) => Answer::malformed(error.offset),
    })
}

pub(crate) fn decode_first_change(keep: Option<&ByteSet>, flags: u32, input: &[u8]) -> Option<usize> {
    options::decoder(keep, flags)?.decode.first_change(input)
}

pub(crate) fn validate(input: &[u8]) -> Answer {
    match codec::validate(input) {
        Ok(()) => Answer::length(input.len()),
        Err(error) => Answer::malformed(error.offset),
    }
}
