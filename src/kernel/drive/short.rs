//! Copies inputs that stay as they are, before a driver begins.

use super::Isa;
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::job::{DecodeJob, EncodeJob, Outcome};

/// Copies an input of more than one block and at most two if encoding in the default mode leaves it unchanged. `None` means
/// that this is not known.
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode_copy<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let class = isa.class(&job.set, input.len());
    let ends = [isa.load(input), isa.load(input.get(input.len().checked_sub(I::LANES)?..)?)];
    if !isa.all_members(ends, &class) {
        return None;
    }
    let mut out = Cursor::new(out);
    if out.push_ends(input) { Some(out.finish()) } else { None }
}

/// Copies an input that has no `%`, which most inputs are, or decodes it in a machine word. `None` means that the input has
/// to be decoded block by block. The output is never longer than the input.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_copy<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Outcome<'c>> {
    if job.plus() {
        return None;
    }
    let lacks = isa.lacks(input, b'%');
    let mut out = Cursor::new(out);
    let done = if const { I::WORD } && !lacks && job.is_plain() && !job.strict {
        out.push_unescaped(input)
    } else {
        lacks && out.push_short(input)
    };
    done.then(|| Outcome::whole(out.finish(), input))
}

/// Copies an input of more than one block and at most two that has no `%`. `None` means that the input has to be decoded.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_copy_ends<'c, I: Isa>(isa: I, input: &[u8], out: Room<'c>) -> Option<Outcome<'c>> {
    let blocks = [isa.load(input), isa.load(input.get(input.len().checked_sub(I::LANES)?..)?)];
    let mut out = Cursor::new(out);
    let done = isa.none_equal(blocks, b'%') && out.push_ends(input);
    done.then(|| Outcome::whole(out.finish(), input))
}
