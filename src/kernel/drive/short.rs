//! What an entry point decides before it calls a driver: most inputs are short, under the plain rule, and have room to
//! spare, and these get code without a stage and without loops.

use super::{Isa, Tier};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob};

/// An operand of an operation besides the job and the input.
pub(crate) trait Operand {
    /// The room that it gives; what gives none takes none.
    fn room(&self) -> usize {
        usize::MAX
    }
}

impl Operand for &mut Ends {}

impl Operand for Room<'_> {
    #[inline(always)]
    fn room(&self) -> usize {
        self.len()
    }
}

/// A job, as the entry points see it.
pub(crate) trait Job {
    /// Whether one block under this job's rule is little code, and fits in `room` bytes without a stage.
    fn is_direct<I: Isa>(&self, isa: I, room: usize) -> bool;
}

impl Job for EncodeJob {
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I, room: usize) -> bool {
        self.is_plain() && room >= I::WINDOW
    }
}

impl Job for DecodeJob {
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I, room: usize) -> bool {
        !self.plus() && room >= I::LANES
    }
}

/// Whether `input` is for the narrow blocks of `tier`, if it has such.
#[inline(always)]
pub(crate) fn is_narrow<T: Tier>(_: T, input: &[u8]) -> bool {
    T::SHORT > 0 && input.len() <= T::SHORT
}

/// The longest input that the blocks of `isa` look at in [`encode_copy`] and [`decode_copy`].
#[inline(always)]
pub(crate) fn look<I: Isa>(_: I) -> usize {
    I::LOOK
}

/// The longest input for [`encode_two`](super::encode_two) and [`decode_two`](super::decode_two); 0 if they are not used.
#[inline(always)]
pub(crate) fn two<I: Isa>(_: I) -> usize {
    if I::TWO { 2 * I::LANES } else { 0 }
}

/// The longest input for [`encode_few`](super::encode_few) and [`decode_few`](super::decode_few).
#[inline(always)]
pub(crate) fn few<I: Isa>(_: I) -> usize {
    I::FEW
}

/// The number of lanes of a block.
#[inline(always)]
pub(crate) fn lanes<I: Isa>(_: I) -> usize {
    I::LANES
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
