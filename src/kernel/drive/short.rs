//! What is decided about an input before a driver begins: which blocks it is for, and whether it stays as it is.

use super::{Isa, Tier};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob};

/// Whether an input of so many bytes is for the narrow blocks of `tier`, if it has such.
#[inline(always)]
pub(crate) fn is_narrow<T: Tier>(_: T, len: usize) -> bool {
    T::SHORT > 0 && len <= T::SHORT
}

/// The longest input for the functions for two blocks; 0 if they are not used.
#[inline(always)]
pub(crate) fn two_blocks<I: Isa>(_: I) -> usize {
    if I::TWO { 2 * I::LANES } else { 0 }
}

/// The longest input for the functions for a few blocks.
#[inline(always)]
pub(crate) fn few_blocks<I: Isa>(_: I) -> usize {
    I::FEW
}

/// Copies an input of more than one block and at most two if encoding surely leaves it as it is; `None` says nothing.
#[inline(always)]
pub(crate) fn encode_copy<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let class = isa.class(&job.set, input.len());
    let ends = [isa.load(input), isa.load(input.get(input.len() - I::LANES..)?)];
    if !job.is_plain() || !isa.all_members(ends, &class) {
        return None;
    }
    let mut out = Cursor::new(out);
    if out.push_ends(input) { Some(out.finish()) } else { None }
}

/// Copies an input that decoding surely leaves as it is, which most are, or decodes it in a word; `None` says nothing. No room
/// is needed but for the input.
#[inline(always)]
pub(crate) fn decode_copy<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    if job.plus() {
        return None;
    }
    let lacks = isa.lacks(input, b'%');
    let mut out = Cursor::new(out);
    let done = if const { I::WORD } && !lacks && job.is_plain() && !job.strict {
        out.push_unescaped(input)
    } else {
        lacks && out.push_few(input)
    };
    done.then(|| Decoded { written: out.finish(), stopped: input.len() })
}
