//! The operations on an input of at most one block, under the plain rule, which is what most calls are. `None` says that
//! the room is too narrow to do without a stage.

use super::Isa;
use crate::cursor::{Cursor, Room, Written};
use crate::ends::Ends;
use crate::job::{BadEscapeAt, DecodeJob, EncodeJob, Measure};

#[inline(always)]
pub(crate) fn encode<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    if out.len() >= I::WINDOW { Some(super::encode(isa, job, input, out)) } else { None }
}

#[inline(always)]
pub(crate) fn encode_measure<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Option<Measure> {
    Some(super::encode_measure(isa, job, input))
}

#[inline(always)]
pub(crate) fn encode_values<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Written<'c>> {
    if out.len() >= I::WINDOW { Some(super::encode_values(isa, job, input, ends, out)) } else { None }
}

#[inline(always)]
pub(crate) fn decode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Result<Written<'c>, BadEscapeAt>> {
    // What has no `%` needs no room but its own.
    if isa.lacks(input, b'%') {
        let mut out = Cursor::new(out);
        out.push_run(input);
        return Some(Ok(out.finish()));
    }
    if out.len() >= I::LANES { Some(super::decode(isa, job, input, out)) } else { None }
}

#[inline(always)]
pub(crate) fn decode_measure<I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
) -> Option<Result<Measure, BadEscapeAt>> {
    Some(super::decode_measure(isa, job, input))
}

#[inline(always)]
pub(crate) fn decode_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Result<Written<'c>, BadEscapeAt>> {
    if out.len() >= I::LANES { Some(super::decode_values(isa, job, input, ends, out)) } else { None }
}

#[inline(always)]
pub(crate) fn decode_values_measure<I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
) -> Option<Result<Measure, BadEscapeAt>> {
    Some(super::decode_values_measure(isa, job, input, ends))
}
