//! The operations on an input of at most one block, which is what most calls are, where that takes little code: `None` says
//! that the rule is not the plain one and there is something to do, or that the room is too narrow to do without a stage.

use super::Isa;
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob, Measure, Measured};

#[inline(always)]
pub(crate) fn encode<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    if job.is_plain() && out.len() >= I::WINDOW { Some(super::encode(isa, job, input, out)) } else { None }
}

#[inline(always)]
pub(crate) fn encode_measure<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Option<Measure> {
    if job.is_plain() { Some(super::encode_measure(isa, job, input)) } else { None }
}

#[inline(always)]
pub(crate) fn encode_values<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Written<'c>> {
    if job.is_plain() && out.len() >= I::WINDOW {
        Some(super::encode_values(isa, job, input, ends, out))
    } else {
        None
    }
}

#[inline(always)]
pub(crate) fn decode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    if !job.plus() {
        // Most inputs have no `%`. Such a one needs no room but its own.
        if isa.lacks(input, b'%') {
            let mut out = Cursor::new(out);
            out.push_run(input);
            return Some(Decoded { written: out.finish(), stopped: input.len() });
        }
        if out.len() >= I::LANES {
            return Some(super::decode(isa, job, input, out));
        }
    }
    None
}

#[inline(always)]
pub(crate) fn decode_measure<I: Isa>(isa: I, job: &DecodeJob, input: &[u8]) -> Option<Measured> {
    if job.is_plain() { Some(super::decode_measure(isa, job, input)) } else { None }
}

#[inline(always)]
pub(crate) fn decode_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    if job.is_plain() && out.len() >= I::LANES {
        Some(super::decode_values(isa, job, input, ends, out))
    } else {
        None
    }
}

#[inline(always)]
pub(crate) fn decode_values_measure<I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
) -> Option<Measured> {
    if job.is_plain() { Some(super::decode_values_measure(isa, job, input, ends)) } else { None }
}
