//! Calls the library from a crate without `std`: one verb of each kind that needs no allocator.
#![no_std]

use simdpct::{BufferTooSmall, Decode, DecodeError, Encode, Tier, sets};

/// Encodes into a slice on `tier`.
pub fn encode(tier: Tier, input: &[u8], out: &mut [u8]) -> Result<usize, BufferTooSmall> {
    Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier).encode_to_slice(input, out)
}

/// Decodes into a slice on `tier`.
pub fn decode(tier: Tier, input: &[u8], out: &mut [u8]) -> Result<usize, DecodeError> {
    Decode::new().tier(tier).strict().decode_to_slice(input, out)
}

/// Normalizes in place on `tier`.
pub fn normalize(tier: Tier, bytes: &mut [u8]) -> usize {
    Decode::NORMALIZE.tier(tier).decode_in_place(bytes)
}

/// Encodes to new text.
#[cfg(feature = "alloc")]
pub fn owned(input: &[u8]) -> impl AsRef<str> + use<'_> {
    simdpct::encode(input)
}
