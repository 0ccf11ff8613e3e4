//! The operations on an input of at most one block, which is what most calls are, where that takes little code: `None` says
//! that the rule is not the plain one and there is something to do, or that the room is too narrow to do without a stage.

use super::Isa;
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, EncodeJob, MalformedAt, Measure};

/// The longest input that the function of the same name looks at.
pub(crate) mod reach {
    use crate::kernel::drive::Isa;

    macro_rules! reach {
        ($($operation:ident $lanes:expr;)*) => {
            $(
                #[inline(always)]
                pub(crate) fn $operation<I: Isa>(_: I) -> usize {
                    $lanes
                }
            )*
        };
    }
    reach! {
        encode I::LANES;
        encode_measure I::LANES;
        encode_values I::LANES;
        decode if I::LACKS_TWO { 2 * I::LANES } else { I::LANES };
        decode_measure I::LANES;
        decode_values I::LANES;
        decode_values_measure I::LANES;
    }
}

/// The longest input that has a function of its own for a few blocks; 0 if none has.
#[inline(always)]
pub(crate) fn few<I: Isa>(_: I) -> usize {
    if I::TOGETHER == 4 { 4 * I::LANES } else { 0 }
}

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
) -> Option<Result<Written<'c>, MalformedAt>> {
    if !job.plus() {
        // Most inputs have no `%`. Such a one needs no room but its own.
        if isa.lacks(input, b'%') {
            let mut out = Cursor::new(out);
            out.push_run(input);
            return Some(Ok(out.finish()));
        }
        if (!I::LACKS_TWO || input.len() <= I::LANES) && out.len() >= I::LANES {
            return Some(super::decode(isa, job, input, out));
        }
    }
    None
}

#[inline(always)]
pub(crate) fn decode_measure<I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
) -> Option<Result<Measure, MalformedAt>> {
    if job.is_plain() { Some(super::decode_measure(isa, job, input)) } else { None }
}

#[inline(always)]
pub(crate) fn decode_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Result<Written<'c>, MalformedAt>> {
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
) -> Option<Result<Measure, MalformedAt>> {
    if job.is_plain() { Some(super::decode_values_measure(isa, job, input, ends)) } else { None }
}
