//! Decoding and normalizing, block by block.
//!
//! ```text
//! for each block:
//!     percent = lanes that are `%`
//!     no `%`, and no digits carried from the block before:  store the block whole
//!     valid   = `%` followed by two hexadecimal digits; strict: any other `%` is an error
//!     values  = in each lane, the byte that the next two lanes spell
//!     decoded = valid lanes whose value is not in the set that stays
//!     compress: decoded lanes become their values, the two lanes after each are dropped
//!     normalizing: the digits of valid lanes that stay are written in upper case
//! ```
//!
//! If an escape crosses the end of a block, two bits of carry tell the next block which digits to drop. The stride is always a
//! whole block, so no load waits for the masks of the block before it.

use core::cell::Cell;

use super::bounds::{self, Bounds, Field, Marked, Single};
use super::{Guess, Isa, Lanes, Tier, bits, digits_of};
use crate::hex;
use crate::kernel::cursor::{self, Cursor, Room};
use crate::kernel::ends::Ends;
use crate::kernel::job::{CopyJob, DecodeJob, Decoded, Fields, Marks, Measure, Measured, Outcome};

/// Decodes `input` in the default mode, which decodes every escape.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode<'c, I: Isa>(isa: I, job: &DecodeJob, input: &[u8], out: Room<'c>) -> Outcome<'c> {
    outcome(input, default_mode(isa, job, input, Single, out))
}

/// Decodes `input` in a mode that keeps some escapes or replaces `+`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_other_mode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Outcome<'c> {
    outcome(input, other_mode(isa, job, input, Single, out))
}

/// Decodes a batch of adjacent values in the default mode, as if they were one. Returns `None` if their ends are marked.
///
/// An escape may cross the end of a value, if that value ends in `%`, or in `%` and a digit, and the next one starts with a digit.
/// [`bounds::place`] reports it, and the caller then marks the ends and tries again.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    if ends.are_marked() {
        return None;
    }
    Some(decoded(input, default_mode(isa, job, input, bounds::follow::<I>(ends, out), out)))
}

/// Decodes a batch of adjacent values, whose ends are marked, in any mode. No escape crosses an end.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_marked_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Decoded<'c> {
    decoded(input, other_mode(isa, job, input, bounds::follow::<I>(ends, out), out))
}

/// Decodes the escapes in `input` whose first bytes have their bits set in `marks`, in any mode.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_marked<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    marks: Marks<'_>,
    out: Room<'c>,
) -> Decoded<'c> {
    decoded(input, other_mode(isa, job, input, Marked::new(marks, input.len()), out))
}

/// Copies `input`, and after each field the separator and the decoded field. Ends at the first escape in a field that stays because of the
/// set.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_beside<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    fields: Fields<'_>,
    out: Room<'c>,
) -> Decoded<'c> {
    let whole = Whole::new(job, input);
    let mut state = State::<I, _, true>::new(isa, job, Some(&whole), Field { after: 0 }, out);
    let mut done = 0;
    for (begin, stop) in fields.offsets(input.len()) {
        let (Some(before), Some(field), Some(rest)) =
            (input.get(done..stop), input.get(begin..stop), input.get(begin..))
        else {
            break;
        };
        copy(isa, &input[done..], before.len(), &mut state.out);
        state.out.push_part(&[fields.separator], 1);
        done = stop;
        // Most fields are short and have no escape, and these need no state.
        let (block, lanes) = (isa.load(rest), Lanes::of_start(field.len()));
        let is_clean = isa.surely_lacks(block, b'%', lanes.mask());
        if is_clean && field.len() <= I::LANES {
            isa.store(block, lanes, &mut state.out);
            continue;
        }
        whole.input.set(rest);
        (state.bounds.after, state.ended) = (rest.len() - field.len(), 0);
        let mut left = field.len();
        if !is_clean && left > 0 {
            if let Err(lane) = state.take::<true>(block, rest, lanes, false) {
                return Decoded { written: state.out.finish(), stopped: begin + lane };
            }
            left -= lanes.count();
        }
        while left > 0 {
            let (rest, lanes) = (&rest[field.len() - left..], Lanes::of_start(left));
            if let Err(lane) = state.take::<true>(isa.load(rest), rest, lanes, true) {
                return Decoded { written: state.out.finish(), stopped: stop - left + lane };
            }
            left -= lanes.count();
        }
    }
    copy(isa, &input[done..], input.len() - done, &mut state.out);
    decoded(input, (state.out, None))
}

/// The number of bytes at the start of a copy whose stores are not aligned. Where the output starts is known only after the decoding of the
/// bytes before it, and the loads of the first bytes need not wait for that.
const UNALIGNED: usize = 1024;

/// Copies `input` up to the first `%`, or the first `+` if that is a space, and maybe more. Returns the offset of that byte, or the length
/// of the input.
#[cfg_attr(optimized, inline(always))]
pub(super) fn copy_clean<'c, I: Isa>(isa: I, job: CopyJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    if const { I::TOGETHER == 4 } {
        copy_blocks::<I, 4>(isa, job, input, out)
    } else if const { I::TWO_BLOCKS } {
        copy_blocks::<I, 2>(isa, job, input, out)
    } else {
        copy_blocks::<I, 1>(isa, job, input, out)
    }
}

/// The number of bytes after the output that are brought into the cache when a copy ends.
const AHEAD: usize = 1024;

/// Does the work of [`copy_clean`], `M` blocks at a time.
#[cfg_attr(optimized, inline(always))]
fn copy_blocks<'c, I: Isa, const M: usize>(isa: I, job: CopyJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let (mut out, mut rest) = (Cursor::new(out), input);
    let mut aligned = input.len().saturating_sub(UNALIGNED);
    loop {
        while rest.len() >= M * I::LANES && rest.len() >= aligned && out.spare() >= M * I::LANES {
            let mut blocks = [isa.load(rest); M];
            for i in 1..M {
                blocks[i] = isa.load(&rest[i * I::LANES..]);
            }
            isa.store_whole(blocks, &mut out);
            if !is_clean(isa, job, blocks) {
                // The caller now decodes an escape, which takes so long that the output of the next copy can be loaded into the cache.
                for ahead in (0..AHEAD).step_by(64) {
                    isa.prefetch(out.address().wrapping_add(ahead));
                }
                let lane = first_found::<I, M>(isa, job, rest);
                return Decoded { written: out.finish(), stopped: input.len() - rest.len() + lane };
            }
            rest = &rest[M * I::LANES..];
        }
        if rest.is_empty() {
            return Decoded { written: out.finish(), stopped: input.len() };
        }
        let unaligned = if aligned > 0 { out.address() % I::LANES } else { 0 };
        let (block, lanes) = (isa.load(rest), Lanes::<I>::of_start(rest.len().min(I::LANES - unaligned)));
        isa.store(block, lanes, &mut out);
        if !is_clean(isa, job, [block]) {
            let lane = first_found::<I, 1>(isa, job, rest);
            if lane < lanes.count() {
                return Decoded { written: out.finish(), stopped: input.len() - rest.len() + lane };
            }
        }
        (rest, aligned) = (&rest[lanes.count()..], 0);
    }
}

/// Reports whether decoding surely changes no byte of `blocks`.
#[cfg_attr(optimized, inline(always))]
fn is_clean<I: Isa, const M: usize>(isa: I, job: CopyJob, blocks: [I::Block; M]) -> bool {
    isa.none_equal(blocks, b'%') && (!job.plus || isa.none_equal(blocks, b'+'))
}

/// Returns the offset of the first byte that decoding may change in the `M` blocks at the start of `rest`. There is one.
#[cfg_attr(optimized, inline(always))]
fn first_found<I: Isa, const M: usize>(isa: I, job: CopyJob, rest: &[u8]) -> usize {
    // Without this the compiler keeps the comparisons of `is_clean` and takes them apart bit by bit.
    let rest = core::hint::black_box(rest);
    let mut first = 0;
    for i in (0..M).rev() {
        let block = isa.load(&rest[i * I::LANES..]);
        let plus = if job.plus { isa.eq(block, b'+') } else { 0 };
        let found = isa.eq(block, b'%') | plus;
        let at = i * I::LANES + found.trailing_zeros() as usize;
        first = core::hint::select_unpredictable(found != 0, at, first);
    }
    first
}

/// Writes the first `len` bytes of `rest`.
#[cfg_attr(optimized, inline(always))]
fn copy<I: Isa>(isa: I, mut rest: &[u8], mut len: usize, out: &mut Cursor<'_>) {
    // Whether the second block is necessary is unpredictable, so it is always written.
    for _ in 0..2 {
        let lanes = Lanes::of_start(len);
        isa.store(isa.load(rest), lanes, out);
        (rest, len) = (&rest[lanes.count()..], len - lanes.count());
    }
    while len > 0 {
        let lanes = Lanes::of_start(len);
        isa.store(isa.load(rest), lanes, out);
        (rest, len) = (&rest[lanes.count()..], len - lanes.count());
    }
}

/// The output of a decoding, and where a malformed escape ended it: the rest of the input from a block on, and the lane.
type Ended<'a, 'c> = (Cursor<'c>, Option<(&'a [u8], usize)>);

#[cfg_attr(optimized, inline(always))]
fn decoded<'c>(input: &[u8], (out, malformed): Ended<'_, 'c>) -> Decoded<'c> {
    let stopped = malformed.map_or(input.len(), |(rest, lane)| input.len() - rest.len() + lane);
    Decoded { written: out.finish(), stopped }
}

#[cfg_attr(optimized, inline(always))]
fn outcome<'c>(input: &[u8], (out, malformed): Ended<'_, 'c>) -> Outcome<'c> {
    match malformed {
        None => Outcome::whole(out.finish(), input),
        Some((rest, lane)) => Outcome::stopped_at(input.len(), rest, lane),
    }
}

/// Measures the output of [`decode`], or that of [`decode_other_mode`] if `KEEP`, without writing it.
#[cfg_attr(optimized, inline(always))]
pub(super) fn measure<I: Isa, const KEEP: bool>(isa: I, job: &DecodeJob, input: &[u8]) -> Measured {
    let mut state = Measuring::<I, KEEP>::new(isa, job, input);
    // The number of blocks until several are checked together, or the number of clean blocks on a tier that checks each alone.
    let (mut rest, mut left) = (input, I::TOGETHER);
    while !rest.is_empty() {
        if left == 0 {
            while state.pass(&mut rest) {}
            left = I::TOGETHER;
        }
        match state.take(rest) {
            Err(lane) => return state.measured(input.len() - rest.len() + lane),
            // A tier that checks four blocks together measures one in less time than a mispredicted branch takes.
            Ok(clean) => left -= usize::from(clean || I::TOGETHER == 4),
        }
        rest = rest.get(I::LANES..).unwrap_or_default();
    }
    state.measured(input.len())
}

/// Measures the output of an input of at most one block in the default mode. Returns `None` if the input is longer.
#[cfg_attr(optimized, inline(always))]
pub(super) fn measure_one_block<I: Isa>(isa: I, job: &DecodeJob, input: &[u8]) -> Option<Measured> {
    Lanes::<I>::of_short(input)?;
    let mut state = Measuring::<I, false>::new(isa, job, input);
    let stopped = state.take(input).err();
    Some(state.measured(stopped.unwrap_or(input.len())))
}

/// The state of a measurement between blocks. All blocks but the last are whole. Whether a `%` starts an escape depends only on the
/// two bytes after it, and so does the number of bytes that the escape becomes, so no block waits for the one before.
struct Measuring<'a, I: Isa, const KEEP: bool> {
    isa: I,
    job: &'a DecodeJob,
    input: &'a [u8],
    class: I::Class,
    /// The number of decoded escapes.
    decoded: usize,
    changed: bool,
    /// The lanes of the next block that are digits of an escape in this block. Used only if digits are written in upper case.
    carry: u64,
}

impl<'a, I: Isa, const KEEP: bool> Measuring<'a, I, KEEP> {
    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, job: &'a DecodeJob, input: &'a [u8]) -> Self {
        let class = isa.class(&job.set, 0);
        Measuring { isa, job, input, class, decoded: 0, changed: false, carry: 0 }
    }

    #[cfg_attr(optimized, inline(always))]
    fn measured(self, stopped: usize) -> Measured {
        let measure = Measure { len: self.input.len() - 2 * self.decoded, changed: self.changed };
        Measured::new(measure, stopped)
    }

    /// Advances `rest` after several blocks if they are clean and not the last. Returns whether they were.
    #[cfg_attr(optimized, inline(always))]
    fn pass(&self, rest: &mut &[u8]) -> bool {
        if const { I::TOGETHER == 4 } { self.pass_blocks::<4>(rest) } else { self.pass_blocks::<2>(rest) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn pass_blocks<const M: usize>(&self, rest: &mut &[u8]) -> bool {
        let isa = self.isa;
        if rest.len() <= M * I::LANES || KEEP && self.job.plus() {
            return false;
        }
        let mut blocks = [isa.load(rest); M];
        for i in 1..M {
            blocks[i] = isa.load(&rest[i * I::LANES..]);
        }
        // Whether an escape crossed the start of the blocks is unpredictable, so this is asked last.
        let clean = isa.none_equal(blocks, b'%') && self.carry == 0;
        if clean {
            *rest = &rest[M * I::LANES..];
        }
        clean
    }

    /// Measures the block at the start of `rest`. Returns whether it is clean, or the lane of a malformed escape that ends a strict
    /// decoding.
    #[cfg_attr(optimized, inline(always))]
    fn take(&mut self, rest: &[u8]) -> Result<bool, usize> {
        let (isa, job) = (self.isa, self.job);
        let block = isa.load(rest);
        if KEEP && job.plus() {
            self.changed |= isa.eq(block, b'+') != 0;
        }
        if isa.surely_lacks(block, b'%', u64::MAX) && self.carry == 0 {
            return Ok(true);
        }
        let found = isa.escapes(block, rest);
        let valid = found.valid;
        if job.strict {
            let malformed = isa.eq(block, b'%') & !valid;
            if malformed != 0 {
                return Err(malformed.trailing_zeros() as usize);
            }
        }
        let mut decoded = valid;
        if KEEP {
            let (some, result) = isa.decode_some(block, &found, &self.class, !job.members_stay);
            decoded &= some;
            if job.upper {
                let percent = if decoded != 0 { isa.eq(block, b'%') } else { 0 };
                // The first two lanes depend on bytes before the block.
                if decoded & (percent << 1 | percent << 2 | 3) != 0 {
                    let (whole, mut bytes) = (Whole::new(job, self.input), isa.bytes(result));
                    decoded = keep_completing(&whole, rest.len(), 0, &mut bytes, decoded, percent);
                }
                let digits = digits_of(valid, Lanes::<I>::ALL, &mut self.carry);
                self.changed |= digits & isa.lower(block) != 0;
            }
        }
        self.decoded += decoded.count_ones() as usize;
        self.changed |= decoded != 0;
        Ok(false)
    }
}

/// Decodes an input of at most one block, in the default mode unless `KEEP`. Returns `None` if the input is longer.
///
/// With `check`, an input without `%` is stored as it is, before anything else is computed.
#[cfg_attr(optimized, inline(always))]
pub(super) fn one_block<'c, I: Isa, const KEEP: bool>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
    check: bool,
) -> Option<Outcome<'c>> {
    let lanes = Lanes::of_short(input)?;
    let whole = Whole::new(job, input);
    let mut state = State::<I, Single, KEEP>::new(isa, job, Some(&whole), Single, out);
    let taken = state.take::<false>(isa.load(input), input, lanes, check);
    Some(outcome(input, (state.out, taken.err().map(|lane| (input, lane)))))
}

/// Decodes an input of at most one block in the default mode. Returns `None` if the input is longer, or if `out` has too little capacity for
/// a block.
///
/// With `check`, an input without `%` is stored as it is, before anything else is computed.
#[cfg_attr(optimized, inline(always))]
pub(super) fn short<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
    check: bool,
) -> Option<Outcome<'c>> {
    if out.len() < I::LANES {
        return None;
    }
    if const { !I::GUESSES } {
        return one_block::<_, false>(isa, job, input, out, false);
    }
    let (lanes, block, mut out) = (Lanes::of_short(input)?, isa.load(input), Cursor::new(out));
    if check && isa.surely_lacks(block, b'%', u64::MAX) {
        isa.store(block, lanes, &mut out);
        return Some(Outcome::whole(out.finish(), input));
    }
    match decoded_block(isa, block, job.strict) {
        Ok((decoded, valid)) => {
            isa.compress(decoded, digits_of(valid, lanes, &mut 0), lanes, &mut out);
            Some(Outcome::whole(out.finish(), input))
        }
        Err(lane) => Some(Outcome::stopped_at(input.len(), input, lane)),
    }
}

/// Decodes the only block of an input in the default mode. Returns the block with the values of the escapes, and their lanes; or, if `strict`,
/// the lane of the first malformed escape.
#[cfg_attr(optimized, inline(always))]
fn decoded_block<I: Isa>(isa: I, block: I::Block, strict: bool) -> Result<(I::Block, u64), usize> {
    let guess = isa.guess(block, &[], u64::MAX);
    if !isa.any_wrong([&guess]) {
        return Ok((guess.decoded, guess.percent));
    }
    let (wrong, correct) = rarely(isa, &guess);
    if strict { Err(wrong.trailing_zeros() as usize) } else { Ok((correct, guess.percent & !wrong)) }
}

/// Calls [`Isa::correct`]. The call of `black_box` keeps the compiler from doing this before the branch, for inputs about which no guess is wrong.
#[cfg_attr(optimized, inline(always))]
fn rarely<I: Isa>(isa: I, guess: &Guess<I::Block>) -> (u64, I::Block) {
    core::hint::black_box(());
    isa.correct(guess)
}

/// Decodes an input of more than one block and at most two in the default mode. Returns `None` for other inputs, or if `out` is shorter than
/// the input.
#[cfg_attr(optimized, inline(always))]
pub(super) fn two_blocks<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Outcome<'c>> {
    let (lanes, last) = Lanes::<I>::of_two(input)?;
    if out.len() < input.len() {
        return None;
    }
    match decoded_two_blocks(isa, input, lanes, last, job.strict)? {
        Ok((blocks, drops)) => {
            let mut out = Cursor::new(out);
            isa.compress_both(blocks, drops, lanes, &mut out);
            Some(Outcome::whole(out.finish(), input))
        }
        Err(at) => Some(Outcome::stopped_at(input.len(), input, at)),
    }
}

/// The first block of an input and its last, which overlap, with the values of their escapes, and the lanes to drop from each.
type Both<B> = ([B; 2], [u64; 2]);

/// Decodes the two blocks of an input, which overlap, and does not write them: the first `lanes` lanes of the first block, and all of `last` (see
/// [`Lanes::of_two`]). If `strict`, returns the offset of the first malformed escape, if there is one. Returns `None` for other inputs.
#[cfg_attr(optimized, inline(always))]
fn decoded_two_blocks<I: Isa>(
    isa: I,
    input: &[u8],
    lanes: Lanes<I>,
    last: &[u8],
    strict: bool,
) -> Option<Result<Both<I::Block>, usize>> {
    let next = if I::MASKS_GUESSES && lanes.count() + 2 <= I::LANES { &[] } else { input.get(I::LANES..)? };
    let here = if I::MASKS_GUESSES { lanes.mask() } else { u64::MAX };
    let guesses = [isa.guess(isa.load(input), next, here), isa.guess(isa.load(last), &[], u64::MAX)];
    let here = |mask: u64| if I::MASKS_GUESSES { mask } else { mask & lanes.mask() };
    let mut valid = [guesses[0].percent, guesses[1].percent];
    let mut decoded = [guesses[0].decoded, guesses[1].decoded];
    // On tiers without `MASKS_GUESSES`, this may also be true because of a lane of the first block that does not count. That only costs time:
    // a correction never changes other lanes.
    if isa.any_wrong([&guesses[0], &guesses[1]]) {
        let [(wrong, first), (last_wrong, last)] = [rarely(isa, &guesses[0]), rarely(isa, &guesses[1])];
        if strict && here(wrong) | last_wrong != 0 {
            return Some(Err(match here(wrong) {
                0 => lanes.count() + last_wrong.trailing_zeros() as usize,
                first_wrong => first_wrong.trailing_zeros() as usize,
            }));
        }
        (valid, decoded) = ([valid[0] & !wrong, valid[1] & !last_wrong], [first, last]);
    }
    let (first, mut carry) = (here(valid[0]), 0);
    let mut drops = [digits_of(first, lanes, &mut carry), 0];
    if lanes.count() <= 62 {
        // This is the same, and takes fewer instructions.
        carry = first.wrapping_mul(6) >> lanes.count();
    }
    drops[1] = digits_of(valid[1], Lanes::<I>::ALL, &mut carry);
    Some(Ok((decoded, drops)))
}

/// Decodes an input of at most one block in a mode other than the default. Returns `None` if the input is longer, if `out` has too
/// little capacity for a block, or if [`State::take`] has to decide about an escape.
///
/// With `check`, an input without `%` is stored before anything else is computed.
#[cfg_attr(optimized, inline(always))]
pub(super) fn short_other_mode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
    check: bool,
) -> Option<Outcome<'c>> {
    let (lanes, block) = (Lanes::of_short(input)?, isa.load(input));
    if out.len() < I::LANES {
        return None;
    }
    let mut out = Cursor::new(out);
    let mut text = if job.plus() { isa.replace(block, b'+', b' ') } else { block };
    if check && isa.surely_lacks(block, b'%', u64::MAX) {
        isa.store(text, lanes, &mut out);
        return Some(Outcome::whole(out.finish(), input));
    }
    if !job.set.is_ascii() {
        return None;
    }
    let class = isa.class(&job.set, 0);
    let found = isa.some_escapes(block, text, [0; 2], &class, !job.members_stay);
    if needs_care(job, found.decoded, found.malformed) {
        return None;
    }
    text = found.text;
    if job.upper && found.lower != 0 {
        text = isa.upper(digits_of(found.valid, lanes, &mut 0), text, &mut true);
    }
    if found.decoded == 0 {
        isa.store(text, lanes, &mut out);
    } else {
        text = isa.with_values(found.decoded, text, found.values);
        isa.compress(text, digits_of(found.decoded, lanes, &mut 0), lanes, &mut out);
    }
    Some(Outcome::whole(out.finish(), input))
}

/// Reports whether [`State::take`] has to decide: a malformed escape in the input, or one that began before it, may be an error, or one of the
/// `decoded` escapes may complete it (see [`DecodeJob::completes`]).
#[cfg_attr(optimized, inline(always))]
fn needs_care(job: &DecodeJob, decoded: u64, malformed: u64) -> bool {
    // Most inputs decode nothing, so this branch is predictable, and comes before the test of `malformed`.
    (job.strict || decoded != 0 && job.upper) && (malformed != 0 || job.before != [0; 2])
}

/// Returns the digits of the escapes in two blocks, of which the second has the lanes of the first after the given ones, at least one. The
/// escapes in such lanes of the first block make no difference.
#[cfg_attr(optimized, inline(always))]
fn digits_of_two<I: Isa>([first, second]: [u64; 2], lanes: Lanes<I>) -> [u64; 2] {
    // An escape in the last of these lanes has both its digits in the second block, and one in the lane before has its second there.
    let last = lanes.count().wrapping_sub(1) as u32;
    let carry = first.wrapping_shr(last).wrapping_mul(3) | (first << 1).wrapping_shr(last);
    let (first, second) = (digits_of(first, lanes, &mut 0), digits_of(second, Lanes::<I>::ALL, &mut 0));
    [first, (second | carry) & Lanes::<I>::ALL.mask()]
}

/// Decodes an input of more than one block and at most two in a mode other than the default. Returns `None` for other inputs, if `out` is
/// shorter than the input, or if [`State::take`] has to decide about an escape.
#[cfg_attr(optimized, inline(always))]
pub(super) fn two_blocks_other_mode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Outcome<'c>> {
    if input.len() <= I::LANES || input.len() > 2 * I::LANES {
        return None;
    }
    let (lanes, last) = Lanes::<I>::of_two(input)?;
    // The compiler finds this sum again in the check of the window.
    if out.len() < lanes.count() + I::LANES {
        return None;
    }
    let blocks = [isa.load(input), isa.load(last)];
    let mut out = Cursor::new(out);
    let mut texts = blocks;
    if job.plus() {
        texts = [isa.replace(blocks[0], b'+', b' '), isa.replace(blocks[1], b'+', b' ')];
    }
    if isa.none_equal(blocks, b'%') {
        isa.store_both(texts, lanes, &mut out);
        return Some(Outcome::whole(out.finish(), input));
    }
    if !job.set.is_ascii() {
        return None;
    }
    // If the last block has the last two lanes of the first block too, no other escape ends after the first block.
    let next = if lanes.count() + 2 <= I::LANES {
        [0; 2]
    } else {
        // The largest ASCII byte is not a digit, like those above it.
        input.get(I::LANES..)?.first_chunk()?.map(|byte: u8| byte.min(0x7F))
    };
    let class = isa.class(&job.set, 0);
    let first = isa.some_escapes(blocks[0], texts[0], next, &class, !job.members_stay);
    let second = isa.some_escapes(blocks[1], texts[1], [0; 2], &class, !job.members_stay);
    let decodes = first.decoded | second.decoded;
    // The shift drops the malformed escapes in lanes that do not count. It is at most 63, because at least one lane counts.
    let malformed = first.malformed.wrapping_shl(lanes.count().wrapping_neg() as u32) | second.malformed;
    if needs_care(job, decodes, malformed) {
        return None;
    }
    // No return of `None` follows, so the operands are not kept in registers for the function that the caller would try next.
    texts = [first.text, second.text];
    if job.upper && first.lower | second.lower != 0 {
        let digits = digits_of_two([first.valid, second.valid], lanes);
        texts = [isa.upper(digits[0], texts[0], &mut true), isa.upper(digits[1], texts[1], &mut true)];
    }
    if decodes == 0 {
        isa.store_both(texts, lanes, &mut out);
        return Some(Outcome::whole(out.finish(), input));
    }
    texts = [
        isa.with_values(first.decoded, texts[0], first.values),
        isa.with_values(second.decoded, texts[1], second.values),
    ];
    let drops = digits_of_two([first.decoded, second.decoded], lanes);
    isa.compress_both(texts, drops, lanes, &mut out);
    Some(Outcome::whole(out.finish(), input))
}

/// Decodes at most two blocks in their own memory, in the default mode of a lenient decoder, and returns the length of the result.
/// Returns `None`, and changes nothing, if `bytes` is longer. A tier without [`Isa::DECODES_IN_PLACE`] also returns `None` for a `%`, and for
/// more than one block.
#[cfg_attr(optimized, inline(always))]
pub(super) fn in_place<T: Tier>(tier: T, bytes: &mut [u8]) -> Option<usize> {
    let decodes = const { T::Wide::DECODES_IN_PLACE };
    if T::is_narrow(bytes.len()) {
        one_block_in_place(tier.narrow(), bytes, decodes)
    } else if bytes.len() > T::Wide::LANES {
        if decodes { two_blocks_in_place(tier.wide(), bytes) } else { None }
    } else if T::Wide::HALVES && decodes {
        two_blocks_in_place(tier.narrow(), bytes)
    } else {
        one_block_in_place(tier.wide(), bytes, decodes)
    }
}

/// Does the work of [`in_place`] for at most one block. Everything is read before the first store.
#[cfg_attr(optimized, inline(always))]
fn one_block_in_place<I: Isa>(isa: I, bytes: &mut [u8], decodes: bool) -> Option<usize> {
    let (lanes, block) = (Lanes::of_short(bytes)?, isa.load(bytes));
    if isa.surely_lacks(block, b'%', u64::MAX) {
        return Some(bytes.len());
    }
    if !decodes {
        return None;
    }
    let (decoded, valid) = decoded_block(isa, block, false).ok()?;
    let drop = digits_of(valid, lanes, &mut 0);
    Some(cursor::lend_slice(bytes, (isa, decoded, drop, lanes), compress_one))
}

/// Does the work of [`in_place`] for more than one block and at most two. Everything is read before the first store.
#[cfg_attr(optimized, inline(always))]
fn two_blocks_in_place<I: Isa>(isa: I, bytes: &mut [u8]) -> Option<usize> {
    let (lanes, last) = Lanes::<I>::of_two(bytes)?;
    if isa.none_equal([isa.load(bytes), isa.load(last)], b'%') {
        return Some(bytes.len());
    }
    let (blocks, drops) = decoded_two_blocks(isa, bytes, lanes, last, false)?.ok()?;
    cursor::lend_slice(bytes, (isa, blocks, drops, lanes), compress_two)
}

/// Writes the lanes of a block without those in `drop`. Returns the number of bytes written.
#[cfg_attr(optimized, inline(always))]
fn compress_one<I: Isa>((isa, block, drop, lanes): (I, I::Block, u64, Lanes<I>), out: Room<'_>) -> usize {
    let mut out = Cursor::new(out);
    isa.compress(block, drop, lanes, &mut out);
    out.written()
}

/// Writes two blocks without the lanes in `drops`. Returns the number of bytes written, or `None` if `out` has too little capacity.
#[cfg_attr(optimized, inline(always))]
fn compress_two<I: Isa>(
    (isa, blocks, drops, lanes): (I, [I::Block; 2], [u64; 2], Lanes<I>),
    out: Room<'_>,
) -> Option<usize> {
    // The compiler finds this sum again in the check of the window.
    if out.len() < lanes.count() + I::LANES {
        return None;
    }
    let mut out = Cursor::new(out);
    isa.compress_both(blocks, drops, lanes, &mut out);
    Some(out.written())
}

/// Decodes an input of more than one block in the default mode, block by block, without the loops for clean runs. Returns
/// `None` if `out` has too little capacity.
#[cfg_attr(optimized, inline(always))]
pub(super) fn medium<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Outcome<'c>> {
    let mut state = State::<I, _, false>::new(isa, job, None, Single, out);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    loop {
        // This tells the compiler that a block fits. The output so far is no longer than the input so far, so if the first
        // block fits, all do.
        if rest.len() < I::LANES || state.out.spare() < I::LANES {
            return None;
        }
        // Which blocks have a `%` is unpredictable. AVX-512 decodes a block in less time than a mispredicted branch takes.
        let taken = if const { I::TOGETHER == 4 } {
            state.take::<false>(isa.load(rest), rest, lanes, false)
        } else {
            state.take::<true>(isa.load(rest), rest, lanes, true)
        };
        if let Err(lane) = taken {
            return Some(outcome(input, (state.out, Some((rest, lane)))));
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        if rest.is_empty() {
            return Some(Outcome::whole(state.out.finish(), input));
        }
    }
}

/// Decodes `input` in the default mode.
#[cfg_attr(optimized, inline(always))]
fn default_mode<'a, 'c, I: Isa, B: Bounds>(
    isa: I,
    job: &'a DecodeJob,
    input: &'a [u8],
    bounds: B,
    out: Room<'c>,
) -> Ended<'a, 'c> {
    let mut state = State::<I, B, false>::new(isa, job, None, bounds, out);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if input.is_empty() {
        return (state.out, None);
    }
    loop {
        // The first block, and each block that `out` may be too small for, goes through here.
        if let Err(lane) = state.take::<false>(isa.load(rest), rest, lanes, true) {
            return (state.out, Some((rest, lane)));
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        if const { I::TOGETHER == 4 } {
            if let Err(lane) = state.four_blocks(&mut rest) {
                return (state.out, Some((rest, lane)));
            }
        } else {
            while rest.len() >= I::LANES && state.out.spare() >= I::LANES {
                if let Err(lane) = state.whole_block(&mut rest) {
                    return (state.out, Some((rest, lane)));
                }
                if const { State::<I, B, false>::KEEPS_FULL } && state.run == u64::MAX {
                    state.escapes(&mut rest);
                }
                // On AVX2 a variable limit would make the loop over clean blocks longer, so `dense` asks.
                let least = if const { I::COUNTS_BITS } { I::LEAST_DENSE } else { state.dense_streak };
                if state.streak >= least {
                    state.dense(&mut rest);
                }
            }
        }
        if rest.len() < I::LANES {
            return (state.out, None);
        }
    }
}

/// Decodes `input` in any mode.
#[cfg_attr(optimized, inline(always))]
fn other_mode<'a, 'c, I: Isa, B: Bounds>(
    isa: I,
    job: &'a DecodeJob,
    input: &'a [u8],
    bounds: B,
    out: Room<'c>,
) -> Ended<'a, 'c> {
    let whole = Whole::new(job, input);
    let mut state = State::<I, B, true>::new(isa, job, Some(&whole), bounds, out);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if input.is_empty() {
        return (state.out, None);
    }
    loop {
        // The first block, and each block that `out` may be too small for, goes through here.
        if let Err(lane) = state.take::<false>(isa.load(rest), rest, lanes, true) {
            return (state.out, Some((rest, lane)));
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        if B::MARKED {
            state.copy_unmarked(&mut rest);
        }
        while (I::LOOPS_IN_OTHER_MODES || !B::MANY) && rest.len() >= I::LANES && state.out.spare() >= I::LANES
        {
            if let Err(lane) = state.whole_block(&mut rest) {
                return (state.out, Some((rest, lane)));
            }
            if B::MARKED {
                state.copy_unmarked(&mut rest);
            }
        }
        if rest.len() < I::LANES {
            return (state.out, None);
        }
    }
}

/// The state of a decoding between blocks. The methods are not closures, because a closure and its intrinsics would not be
/// inlined into the entry points.
struct State<'a, 'c, I: Isa, B, const KEEP: bool> {
    isa: I,
    /// The job and the input, for [`keep_completing`]. It is never `None` if `KEEP`, and is not used otherwise.
    whole: Option<&'a Whole<'a>>,
    class: I::Class,
    /// Whether a malformed escape is an error.
    strict: bool,
    members_stay: bool,
    upper: bool,
    /// Whether digits in lower case are expected. This becomes true with the first, because the next are likely and a wrong guess costs
    /// more than it saves.
    lower: bool,
    /// Whether a `+` is a space. Always false unless `KEEP`.
    form: bool,
    /// The last two lanes of the latest decoded block that are the last two before an end.
    ended: u64,
    /// The lanes of the next block that are digits of decoded escapes in this block.
    carry: u64,
    /// The lanes of the next block that are digits of any escape in this block, decoded or not. Digits of escapes that stay are
    /// written in upper case.
    carry_all: u64,
    /// The lanes that were dropped from the latest block that was decoded alone; none after clean blocks that `pass` wrote.
    dropped: u64,
    /// The lanes of the latest decoded block that belong to decoded escapes. Used only with `KEEPS_FULL`.
    full: u64,
    /// The lanes that belong to decoded escapes in each of the last two blocks. If these are all lanes, a run of escapes is
    /// likely. One such block alone predicts nothing, and a wrong guess costs more than decoding a block.
    run: u64,
    /// The number of blocks with a `%` since the last block without one.
    streak: usize,
    /// The value of `streak` for which [`State::dense`] decodes on tiers that decode block by block. It is `usize::MAX` after that function has
    /// found a `%` that starts no escape; then it decodes nothing on any tier.
    dense_streak: usize,
    bounds: B,
    out: Cursor<'c>,
}

impl<'a, 'c, I: Isa, B: Bounds, const KEEP: bool> State<'a, 'c, I, B, KEEP> {
    /// Whether runs of nothing but escapes have a loop of their own.
    const LOOKS_FOR_RUNS: bool = I::DECODES_ALL && !KEEP && !B::MANY;

    /// Whether dense text has a loop of its own. For single values, it also detects runs of escapes.
    const DENSE: bool = I::DECODES_DENSE && !KEEP;

    /// Whether runs of escapes are detected block by block.
    const KEEPS_FULL: bool = Self::LOOKS_FOR_RUNS && !I::DECODES_DENSE;

    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, job: &DecodeJob, whole: Option<&'a Whole<'a>>, bounds: B, out: Room<'c>) -> Self {
        State {
            isa,
            whole,
            // The set is only asked about the values of escapes, so a long preparation would not pay.
            class: isa.class(&job.set, 0),
            strict: job.strict && !B::MARKED,
            members_stay: job.members_stay,
            upper: job.upper,
            lower: false,
            form: KEEP && !B::MARKED && job.plus(),
            ended: 0,
            carry: 0,
            carry_all: 0,
            dropped: 0,
            full: 0,
            run: 0,
            streak: 0,
            dense_streak: I::LEAST_DENSE,
            bounds,
            out: Cursor::new(out),
        }
    }

    /// Copies whole blocks from the start of `rest` up to one with a marked escape. This loop needs few registers, so it takes half as many
    /// instructions as one in which the compiler also keeps those for decoding.
    #[cfg_attr(optimized, inline(always))]
    fn copy_unmarked(&mut self, rest: &mut &[u8]) {
        // Whether an escape crossed the end of the block before is unpredictable, so it has no branch of its own.
        let carry = self.carry | self.carry_all;
        while rest.len() >= I::LANES
            && self.out.spare() >= I::LANES
            && !self.bounds.cut(rest.len(), 0) & Lanes::<I>::ALL.mask() | carry == 0
        {
            self.isa.store(self.isa.load(rest), Lanes::ALL, &mut self.out);
            *rest = &rest[I::LANES..];
        }
    }

    /// Decodes three whole blocks at a time from the start of `rest` while they are nothing but escapes, as in text of a script
    /// without ASCII letters. If the first block begins with carried digits, so does the rest after these blocks.
    #[cfg_attr(optimized, inline(always))]
    fn escapes(&mut self, rest: &mut &[u8]) {
        // The carry is 0, 1 or 3.
        let digits = if const { I::COUNTS_BITS } {
            self.carry.count_ones() as usize
        } else {
            (self.carry - (self.carry >> 1)) as usize & 3
        };
        while self.out.spare() >= I::LANES
            && let Some(escapes) = rest.get(digits..digits + 3 * I::LANES)
            && let Some(values) = self.isa.all_escapes(escapes)
        {
            self.isa.store(values, Lanes::ALL, &mut self.out);
            *rest = &rest[3 * I::LANES..];
        }
    }

    /// Decodes the whole block at the start of `rest` and advances `rest`. If the block has no `%`, this also writes the clean blocks
    /// after it, with one check for several blocks. Returns the lane of a malformed escape in the first block.
    #[cfg_attr(optimized, inline(always))]
    fn whole_block(&mut self, rest: &mut &[u8]) -> Result<(), usize> {
        // With marks, `copy_unmarked` has checked this block.
        let changed = self.take::<true>(self.isa.load(rest), rest, Lanes::ALL, !B::MARKED)?;
        *rest = &rest[I::LANES..];
        while !(changed || KEEP && B::MANY) && rest.len() >= I::TOGETHER.max(2) * I::LANES {
            let clean = if const { I::TOGETHER == 4 } { self.pass::<4>(rest) } else { self.pass::<2>(rest) };
            if !clean {
                break;
            }
            *rest = &rest[I::TOGETHER.max(2) * I::LANES..];
        }
        Ok(())
    }

    /// Decodes whole blocks from the start of `rest`, four at a time, as if every `%` in them started an escape. Stops before four
    /// blocks of which this is not true, and after four with few escapes. In the former case, `dense_streak` becomes `usize::MAX`, and this
    /// does nothing for the rest of the input, so that malformed text is not decoded twice.
    #[cfg_attr(optimized, inline(always))]
    fn dense(&mut self, rest: &mut &[u8]) {
        self.streak = 0;
        // On tiers without `COUNTS_BITS`, the caller has compared `streak` with `dense_streak`, so it is not `usize::MAX`.
        if !Self::DENSE || I::COUNTS_BITS && self.dense_streak == usize::MAX {
            return;
        }
        // `decode_dense` reads from the block after the four, too.
        while rest.len() >= 5 * I::LANES && self.out.spare() >= 4 * I::LANES {
            let before = self.out.address();
            let decoded = if B::MANY {
                self.isa.decode_dense::<true>(rest, &mut self.carry, &mut self.out)
            } else {
                self.isa.decode_dense::<false>(rest, &mut self.carry, &mut self.out)
            };
            let Some(drops) = decoded else {
                self.dense_streak = usize::MAX;
                return;
            };
            self.bounds.settle_four(rest.len(), before, drops);
            *rest = &rest[4 * I::LANES..];
            let len = self.out.address() - before;
            // If the output of four blocks is a third of their length, they hold nothing but escapes.
            if Self::LOOKS_FOR_RUNS && len <= 4 * I::LANES / 3 + 1 {
                self.escapes(rest);
            } else if len > 4 * I::LANES - 2 * I::LEAST_DENSE {
                return;
            }
        }
    }

    /// Decodes whole blocks from the start of `rest`, four at a time, while there are four and the output has capacity for them.
    /// Returns the lane of a malformed escape in the block at the start of `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn four_blocks(&mut self, rest: &mut &[u8]) -> Result<(), usize> {
        while rest.len() >= 4 * I::LANES && self.out.spare() >= 4 * I::LANES {
            if self.pass::<4>(rest) {
                *rest = &rest[4 * I::LANES..];
                continue;
            }
            if Self::DENSE && self.dense_streak < usize::MAX && rest.len() >= 5 * I::LANES {
                self.dense(rest);
                continue;
            }
            // The number of iterations is a constant, so that the compiler unrolls them: with a variable one, decoding 64 KiB
            // took 1.1 times as long.
            for _ in 0..4 {
                // This tells the compiler that the second to fourth block fit, too.
                if self.out.spare() < I::LANES {
                    return Ok(());
                }
                // Which of these blocks have a `%` is unpredictable, and decoding one takes less time than a mispredicted
                // branch.
                self.take::<false>(self.isa.load(rest), rest, Lanes::ALL, false)?;
                *rest = &rest[I::LANES..];
            }
        }
        Ok(())
    }

    /// Writes the `M` whole blocks at the start of `rest` if nothing in them is decoded.
    #[cfg_attr(optimized, inline(always))]
    fn pass<const M: usize>(&mut self, rest: &[u8]) -> bool {
        let crossed = |state: &Self| state.carry | state.carry_all != 0;
        if self.form || self.out.spare() < M * I::LANES || I::CROSSING_FIRST && crossed(self) {
            return false;
        }
        let mut blocks = [self.isa.load(rest); M];
        for i in 1..M {
            blocks[i] = self.isa.load(&rest[i * I::LANES..]);
        }
        let clean = self.isa.none_equal(blocks, b'%') && !crossed(self);
        if clean {
            self.bounds.pass::<M>(rest.len(), self.out.address());
            (self.dropped, self.run, self.streak) = (0, 0, 0);
            self.isa.store_whole(blocks, &mut self.out);
        }
        clean
    }

    /// Reports whether the lanes `here` of `block`, which is at the start of `rest`, surely have no escape that is decoded. These are the
    /// first `lanes` lanes.
    #[cfg_attr(optimized, inline(always))]
    fn lacks(&self, block: I::Block, rest: &[u8], here: u64, lanes: Lanes<I>) -> bool {
        if B::MARKED {
            !self.bounds.cut(rest.len(), lanes.padding()) & here == 0
        } else {
            self.isa.surely_lacks(block, b'%', here)
        }
    }

    /// Decodes the first `lanes` lanes of `block`, which is at the start of `rest`. Returns whether anything changed, or the
    /// lane of a malformed escape.
    ///
    /// With `check`, a block without `%` and without a carry is stored as it is. With `GUESS`, so is a block from which nothing
    /// is dropped, which is faster if that is predictable, and digits in upper case are expected.
    #[cfg_attr(optimized, inline(always))]
    fn take<const GUESS: bool>(
        &mut self,
        mut block: I::Block,
        rest: &[u8],
        lanes: Lanes<I>,
        check: bool,
    ) -> Result<bool, usize> {
        let isa = self.isa;
        // The lanes after these hold zeros, or the start of the next block.
        let here = if rest.len() > lanes.count() { lanes.mask() } else { u64::MAX };
        // Whether an escape crossed the end of the block before is unpredictable, so this is asked last.
        let lacks = check && self.lacks(block, rest, here, lanes);
        if lacks && self.carry | self.carry_all == 0 {
            self.bounds.pass::<1>(rest.len(), self.out.address());
            (self.run, self.streak) = (0, 0);
            // There are two stores because selecting one of two blocks would take more instructions than everything else here.
            if KEEP && self.form {
                isa.store(isa.replace(block, b'+', b' '), lanes, &mut self.out);
            } else {
                isa.store(block, lanes, &mut self.out);
            }
            return Ok(false);
        }
        if KEEP && self.form {
            block = isa.replace(block, b'+', b' ');
        }
        let found = isa.escapes(block, rest);
        let cut = if KEEP { self.bounds.cut(rest.len(), lanes.padding()) } else { 0 };
        let valid = found.valid & here & !cut;
        if self.strict {
            let malformed = isa.eq(block, b'%') & here & !valid;
            if malformed != 0 {
                // A valid escape before the malformed one may cross the end of its value; then it is the malformed one.
                let drop = digits_of(valid, lanes, &mut self.carry);
                self.bounds.settle(rest.len(), self.out.address(), drop, lanes.padding());
                return Err(malformed.trailing_zeros() as usize);
            }
        }
        let (mut decoded, mut result) = (valid, found.decoded);
        if KEEP {
            let (some, with_values) = isa.decode_some(block, &found, &self.class, !self.members_stay);
            (decoded, result) = (valid & some, with_values);
        }
        if KEEP && self.upper {
            let last_two = self.bounds.last_two(cut);
            if decoded != 0 {
                let percent = isa.eq(block, b'%') & here & !last_two;
                // The first two lanes depend on bytes before the block.
                if let Some(whole) = self.whole
                    && decoded & (percent << 1 | percent << 2 | 3) != 0
                {
                    let mut bytes = isa.bytes(result);
                    let (left, ended) = (rest.len(), self.ended);
                    decoded = keep_completing(whole, left, ended, &mut bytes, decoded, percent);
                    result = isa.load(&bytes[..I::LANES]);
                }
            }
            if B::MANY {
                self.ended = last_two.rotate_right(lanes.count().wrapping_sub(2) as u32) & 3;
            }
        }
        if KEEP && self.bounds.ends_at_kept() && valid & !decoded != 0 {
            return Err((valid & !decoded).trailing_zeros() as usize);
        }
        if KEEP && B::MANY && found.valid & here & cut != 0 {
            result = isa.select(decoded, block, found.values);
        }
        if KEEP && self.upper {
            // The digits of decoded escapes are included although they are dropped: without them this would wait for `decoded`.
            let digits = digits_of(valid, lanes, &mut self.carry_all);
            let mut no_guess = true;
            result = isa.upper(digits, result, if GUESS { &mut self.lower } else { &mut no_guess });
        }
        let drop = digits_of(decoded, lanes, &mut self.carry);
        self.bounds.settle(rest.len(), self.out.address(), drop, lanes.padding());
        if Self::KEEPS_FULL {
            let full = decoded | drop;
            self.run = full & core::mem::replace(&mut self.full, full);
        }
        if Self::DENSE {
            self.streak += 1;
        }
        let before = core::mem::replace(&mut self.dropped, drop);
        if const { KEEP || GUESS } && drop | before == 0 {
            // Nothing is dropped if all escapes stay or are malformed, which is the usual case in normalizing. Without `GUESS`,
            // the branch is omitted: whether a block decodes anything is then unpredictable.
            isa.store(result, lanes, &mut self.out);
        } else {
            isa.compress(result, drop, lanes, &mut self.out);
        }
        Ok(true)
    }
}

/// The job and the input, for [`keep_completing`]. They are passed by reference, because that function is called so rarely that the loops of
/// the tiers should not hold them in registers.
struct Whole<'a> {
    job: &'a DecodeJob,
    /// The whole input. [`decode_beside`] replaces it by the part from the field on that it decodes.
    input: Cell<&'a [u8]>,
}

impl<'a> Whole<'a> {
    #[cfg_attr(optimized, inline(always))]
    fn new(job: &'a DecodeJob, input: &'a [u8]) -> Self {
        Whole { job, input: Cell::new(input) }
    }
}

/// Finds the escapes among those in `decoded` that a normalization keeps (see [`DecodeJob::completes`]), and writes `%` to their lanes of
/// `block`, which holds the values of the escapes. Returns the lanes of the other escapes. The block is at the start of the last `left`
/// bytes of the input. Bit 1 of `ended` is set if the byte before the block is one of the last two bytes of a value, and bit 0 if the byte before
/// that one is. `percent` has the lanes of the block that are a `%`, but for those among the last two bytes of a value.
// It is not inlined because there would be a copy in each loop of each tier.
#[cold]
#[inline(never)]
fn keep_completing(
    whole: &Whole<'_>,
    left: usize,
    ended: u64,
    block: &mut [u8; 64],
    decoded: u64,
    percent: u64,
) -> u64 {
    let (job, input) = (whole.job, whole.input.get());
    let at = input.len() - left;
    let start = at.min(if ended & 2 != 0 { 0 } else { 2 - (ended & 1) as usize });
    let input = &input[at - start..];
    let before = job.before(input, start);
    let [first, second] = before.map(|byte| u64::from(byte == b'%'));
    let one = percent << 1 | second;
    let two = percent << 2 | second << 1 | first;
    let is_digit = |byte| hex::value(byte) != hex::NOT_A_DIGIT;
    let mut left = decoded;
    if job.stays(b'%') {
        // Hostile input has such escapes in every fourth lane, so most of them take no more than a load, a test and a store.
        let mut kept = decoded & (one | two);
        for lane in bits(decoded & two & !one) {
            let last = input.get((start + lane).wrapping_sub(1)).unwrap_or(&before[1]);
            if !is_digit(*last) {
                kept ^= 1 << lane;
            }
        }
        left ^= kept;
        for lane in bits(kept) {
            let byte = &mut block[lane % 64];
            if is_digit(*byte) {
                *byte = b'%';
            } else {
                left ^= 1 << lane;
            }
        }
    }
    left
}
