//! Calls the library from a crate without `std`: one verb of each kind that needs no allocator.
#![no_std]

use core::mem::MaybeUninit;

use simdpct::header::{self, ExtValueError};
use simdpct::stream::State;
use simdpct::{BufferTooSmall, Decode, DecodeError, Encode, Tier, sets};

/// Encodes into a slice on `tier`.
pub fn encode(tier: Tier, input: &[u8], out: &mut [u8]) -> Result<usize, BufferTooSmall> {
    Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier).encode_to_slice(input, out)
}

/// Decodes into a slice on `tier`. A malformed escape is an error.
pub fn decode(tier: Tier, input: &[u8], out: &mut [u8]) -> Result<usize, DecodeError> {
    Decode::new().tier(tier).strict().decode_to_slice(input, out)
}

/// Normalizes in place on `tier`.
pub fn normalize(tier: Tier, bytes: &mut [u8]) -> usize {
    Decode::NORMALIZE.tier(tier).decode_in_place(bytes)
}

/// Decodes the next piece of an input on `tier`, or ends the input.
pub fn decode_piece<'o>(
    tier: Tier,
    state: &mut State,
    piece: Option<&[u8]>,
    out: &'o mut [MaybeUninit<u8>],
) -> Result<&'o [u8], BufferTooSmall> {
    Ok(Decode::new().tier(tier).lenient().decode_piece_to_uninit(state, piece, out)?.0)
}

/// Decodes an `ext-value`, the value of a header parameter such as `filename*` (RFC 8187).
pub fn decode_ext_value<'o>(value: &[u8], out: &'o mut [MaybeUninit<u8>]) -> Result<&'o str, ExtValueError> {
    Ok(header::decode_ext_value_to_uninit(value, out)?.0)
}

/// Encodes to new text.
#[cfg(feature = "alloc")]
pub fn owned(input: &[u8]) -> impl AsRef<str> + use<'_> {
    simdpct::encode(input)
}
