//! The ladders of SSSE3, NEON and simd128, which have a byte shuffle and registers of sixteen bytes. SSE2 shares the
//! ladder of encoding, and has a ladder of decoding of its own.
//!
//! A ladder chooses the code for an input by its length (`drive/tier.rs`). "lab: NAME" names docs/lab/DATE-NAME.md.

use crate::kernel::cursor::{OutputSpan, Written};
use crate::kernel::drive::{EncodeStep, NotCopied, Other, Plain, Tier, decode, encode};
use crate::kernel::job::{DecodeJob, EncodeJob, Outcome};

/// Encodes a value. In the default mode, the code for one block is part of this function. Other inputs have functions of their own
/// (`encode_by`).
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode<'c, T: Tier>(
    tier: T,
    job: &EncodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Written<'c> {
    match (job.is_plain(), input.len()) {
        (true, 0..=64) => encode::OneBlock::<Plain>::encode(tier, job, input, out),
        (true, 65..) => tier.encode_by::<encode::AnyLength<Plain>>(job, input, out),
        (false, _) => tier.encode_by::<encode::AnyLength<Other>>(job, input, out),
    }
}

/// Decodes a value. In any mode, this function copies up to two blocks that stay unchanged: the copy needs so few
/// registers that none is saved on the stack (lab: kernels). Other inputs have functions of their own.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode<'c, T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Outcome<'c> {
    if let Some(copied) = decode::copy_short(tier, job, input, out) {
        return copied;
    }
    match (job.is_plain(), input.len()) {
        (true, 0..=64) => tier.decode_by::<decode::OneBlock<NotCopied<Plain>>>(job, input, out),
        (true, 65..) => tier.decode_by::<decode::AnyLength<Plain>>(job, input, out),
        (false, 0..=64) => tier.decode_by::<decode::OneBlock<NotCopied<Other>>>(job, input, out),
        (false, 65..) => tier.decode_by::<decode::AnyLength<Other>>(job, input, out),
    }
}
