//! Decoding and normalizing, block by block.
//!
//! ```text
//! for each block:
//!     percent = lanes that are `%`
//!     none, and no digits carried from the block before:  store the block whole
//!     valid   = `%` followed by two hexadecimal digits; strict: any other `%` is an error
//!     values  = in each lane, the byte that the next two lanes spell
//!     decoded = valid lanes whose value is not in the set that stays
//!     compress: decoded lanes become their values, the two lanes after each are dropped
//!     normalizing: the digits of valid lanes that stay are written in upper case
//! ```
//!
//! Digits in the next block are carried there as two bits. The stride is always a whole block, so no load waits for the masks
//! of the block before it.

use super::bounds::{Bounds, Single};
use super::sink::Sink;
use super::{Isa, Lanes, digits_of, padding};
use crate::kernel::cursor::{Cursor, Room};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, Measure, Measured};

/// Decodes `input` in the default mode, which decodes every escape.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode<'c, I: Isa>(isa: I, job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    decoded(default_mode(isa, job, input, Single, Cursor::new(out)))
}

/// Decodes `input` in a mode that keeps some escapes or replaces `+`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_other_mode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Decoded<'c> {
    decoded(other_mode(isa, job, input, Single, Cursor::new(out)))
}

/// Measures what [`decode`] would write.
#[cfg_attr(optimized, inline(always))]
pub(super) fn measure<I: Isa>(isa: I, job: &DecodeJob, input: &[u8]) -> Measured {
    measured(default_mode(isa, job, input, Single, Measure::default()))
}

/// Measures what [`decode_other_mode`] would write.
#[cfg_attr(optimized, inline(always))]
pub(super) fn measure_other_mode<I: Isa>(isa: I, job: &DecodeJob, input: &[u8]) -> Measured {
    measured(other_mode(isa, job, input, Single, Measure::default()))
}

/// Decodes a batch of adjacent values in the default mode, and maps where they end in `input` to where they end in `out`.
///
/// Blocks are decoded as if there were no ends, and the ends are checked afterwards. Returns `None` if an escape crosses an
/// end, which takes a value that ends in `%` or `%` and a digit, before one that starts with a digit.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    let follow = ends.follow(padding::<I>(input), I::LANES, false);
    let done = default_mode(isa, job, input, follow, Cursor::new(out));
    if ends.crossed() { None } else { Some(decoded(done)) }
}

/// Decodes a batch of adjacent values in any mode, with their ends marked: no escape crosses the end of a value.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode_marked_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Decoded<'c> {
    let follow = ends.follow(padding::<I>(input), I::LANES, true);
    decoded(other_mode(isa, job, input, follow, Cursor::new(out)))
}

#[cfg_attr(optimized, inline(always))]
fn decoded<'c>((out, stopped): (Cursor<'c>, usize)) -> Decoded<'c> {
    Decoded { written: out.finish(), stopped }
}

#[cfg_attr(optimized, inline(always))]
pub(super) fn measured((measure, stopped): (Measure, usize)) -> Measured {
    Measured::new(measure, stopped)
}

/// Decodes an input of at most one block, in the default mode unless `KEEP`. With `CHECK`, an input without `%` is only stored.
///
/// Returns the sink, and the length of the input or the offset of the malformed escape that ended a strict decoding; `None` if
/// the input is longer.
#[cfg_attr(optimized, inline(always))]
pub(super) fn one_block<I: Isa, S: Sink<I>, const KEEP: bool, const CHECK: bool>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    sink: S,
) -> Option<(S, usize)> {
    let lanes = Lanes::of_short(input)?;
    let mut state = State::<I, S, Single, KEEP>::new(isa, job, input, Single, sink);
    let taken = state.take::<CHECK, false>(isa.load(input), input, lanes);
    Some((state.sink, taken.err().unwrap_or(input.len())))
}

/// Decodes an input of more than one block and at most two in the default mode. If there is a `%`, both blocks are decoded,
/// because which of them has one is unpredictable. Returns `None` if there is too little room.
#[cfg_attr(optimized, inline(always))]
pub(super) fn two_blocks<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    let last = input.get(input.len().checked_sub(I::LANES)?..)?;
    let lanes = Lanes::of_short(&input[..input.len() - I::LANES])?;
    if out.len() < I::LANES {
        return None;
    }
    let blocks = [isa.load(input), isa.load(last)];
    let mut out = Cursor::new(out);
    // If `lacks` covers such inputs, `copy_two` has checked already.
    if const { I::LONGEST_LOOK <= I::LANES } && isa.none_equal(blocks, b'%') {
        let copied = out.push_ends(input);
        return copied.then(|| decoded((out, input.len())));
    }
    let mut state = State::<I, _, _, false>::new(isa, job, input, Single, out);
    let taken = match state.take::<false, false>(blocks[0], input, lanes) {
        Err(lane) => Err(lane),
        // The output so far is no longer than the input so far, so there is room. This tells the compiler so.
        Ok(_) if state.sink.room() < I::LANES => return None,
        Ok(_) => state
            .take::<false, false>(blocks[1], last, Lanes::ALL)
            .map_err(|lane| input.len() - I::LANES + lane),
    };
    Some(decoded((state.sink, taken.err().unwrap_or(input.len()))))
}

/// Decodes an input of more than one block in the default mode, block by block, without the loops for clean runs. Returns
/// `None` if there is too little room.
#[cfg_attr(optimized, inline(always))]
pub(super) fn medium<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    let mut state = State::<I, _, _, false>::new(isa, job, input, Single, Cursor::new(out));
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    loop {
        // The output so far is no longer than the input so far, so if there is room for the first block, there is for all.
        // This tells the compiler so.
        if rest.len() < I::LANES || state.sink.room() < I::LANES {
            return None;
        }
        // Which block has a `%` is unpredictable, and decoding one takes less than a mispredicted branch.
        let taken = if const { I::TOGETHER == 4 } {
            state.take::<false, false>(isa.load(rest), rest, lanes)
        } else {
            state.take::<true, true>(isa.load(rest), rest, lanes)
        };
        if let Err(lane) = taken {
            return Some(decoded((state.sink, input.len() - rest.len() + lane)));
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        if rest.is_empty() {
            return Some(decoded((state.sink, input.len())));
        }
    }
}

/// Returns the sink, and the length of the input or the offset of the malformed escape that ended a strict decoding.
#[cfg_attr(optimized, inline(always))]
fn default_mode<I: Isa, S: Sink<I>, B: Bounds>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> (S, usize) {
    let mut state = State::<I, S, B, false>::new(isa, job, input, bounds, sink);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if input.is_empty() {
        return (state.finish(), input.len());
    }
    loop {
        // The first block, and those for which the room may be too little.
        if let Err(lane) = state.take::<true, true>(isa.load(rest), rest, lanes) {
            return (state.finish(), input.len() - rest.len() + lane);
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        while rest.len() >= I::LANES && state.sink.room() >= I::LANES {
            if const { I::TOGETHER == 4 } {
                let mut taken = 1;
                if rest.len() < 4 * I::LANES {
                    if state.pass::<1>(rest) {
                        rest = &rest[I::LANES..];
                        continue;
                    }
                } else if state.pass::<4>(rest) {
                    rest = &rest[4 * I::LANES..];
                    continue;
                } else {
                    taken = 4;
                }
                let before = state.sink.written();
                for _ in 0..taken {
                    // For the compiler: there is room for all but the first of these, too.
                    if state.sink.room() < I::LANES {
                        break;
                    }
                    // Which of these blocks has a `%` is unpredictable, and decoding one takes less than a mispredicted branch.
                    if let Err(lane) = state.take::<false, false>(isa.load(rest), rest, Lanes::ALL) {
                        return (state.finish(), input.len() - rest.len() + lane);
                    }
                    rest = &rest[I::LANES..];
                }
                // A group that became a third is nothing but escapes.
                let is_run = taken == 4 && state.sink.written() - before <= 4 * I::LANES / 3 + 1;
                state.run = if is_run { u64::MAX } else { 0 };
            } else {
                match state.take::<true, true>(isa.load(rest), rest, Lanes::ALL) {
                    Err(lane) => return (state.finish(), input.len() - rest.len() + lane),
                    Ok(changed) => {
                        rest = &rest[I::LANES..];
                        while !changed && rest.len() >= 2 * I::LANES && state.pass::<2>(rest) {
                            rest = &rest[2 * I::LANES..];
                        }
                    }
                }
            }
            if const { State::<I, S, B, false>::LOOKS_FOR_RUNS } && state.run == u64::MAX {
                state.escapes(&mut rest);
            }
        }
        if rest.len() < I::LANES {
            return (state.finish(), input.len());
        }
    }
}

/// Returns what [`default_mode`] returns.
#[cfg_attr(optimized, inline(always))]
fn other_mode<I: Isa, S: Sink<I>, B: Bounds>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> (S, usize) {
    let mut state = State::<I, S, B, true>::new(isa, job, input, bounds, sink);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if input.is_empty() {
        return (state.finish(), input.len());
    }
    loop {
        // The first block, and those for which the room may be too little.
        if let Err(lane) = state.take::<true, true>(isa.load(rest), rest, lanes) {
            return (state.finish(), input.len() - rest.len() + lane);
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        // Measuring in these modes is rare.
        while S::WRITES && I::LOOPS_IN_OTHER_MODES && rest.len() >= I::LANES && state.sink.room() >= I::LANES
        {
            if let Err(lane) = state.take::<true, true>(isa.load(rest), rest, Lanes::ALL) {
                return (state.finish(), input.len() - rest.len() + lane);
            }
            rest = &rest[I::LANES..];
        }
        if rest.len() < I::LANES {
            return (state.finish(), input.len());
        }
    }
}

/// The state that one block leaves to the next. (A closure would not be inlined into the entry points, nor then would the
/// intrinsics in it.)
struct State<I: Isa, S, B, const KEEP: bool> {
    isa: I,
    class: I::Class,
    /// Whether a malformed escape is an error.
    strict: bool,
    members_stay: bool,
    upper: bool,
    /// Whether a `+` is a space; never, unless `KEEP`.
    form: bool,
    /// The lanes of the next block that are digits of decoded escapes in this one.
    carry: u64,
    /// The lanes of the next block that are digits of any escape in this one. The digits of escapes that stay are written in
    /// upper case.
    carry_all: u64,
    /// The lanes that were dropped from this block.
    dropped: u64,
    /// The lanes of this block that belong to decoded escapes, where runs of escapes are looked for.
    full: u64,
    /// The lanes that belong to decoded escapes both in this block and in the one before. All lanes are the sign of a run: a
    /// single such block predicts nothing, and a wrong guess costs more than the block.
    run: u64,
    bounds: B,
    sink: S,
}

impl<I: Isa, S: Sink<I>, B: Bounds, const KEEP: bool> State<I, S, B, KEEP> {
    /// Whether runs of nothing but escapes have a loop of their own.
    const LOOKS_FOR_RUNS: bool = I::DECODES_ALL && S::WRITES && !KEEP && !B::MANY;

    /// Whether runs are found block by block, and not by groups of blocks.
    const KEEPS_FULL: bool = Self::LOOKS_FOR_RUNS && I::TOGETHER == 1;

    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, job: &DecodeJob, input: &[u8], bounds: B, sink: S) -> Self {
        State {
            isa,
            class: isa.class(&job.set, input.len()),
            strict: job.strict,
            members_stay: job.members_stay,
            upper: job.upper,
            form: KEEP && job.plus(),
            carry: 0,
            carry_all: 0,
            dropped: 0,
            full: 0,
            run: 0,
            bounds,
            sink,
        }
    }

    /// Ends the values of a batch after the last block, or after the block with a malformed escape.
    #[cfg_attr(optimized, inline(always))]
    fn finish(mut self) -> S {
        self.bounds.finish::<-1>(self.sink.written(), I::LANES);
        self.sink
    }

    /// Decodes three whole blocks at a time from the start of `rest`, while these are nothing but escapes, which text in a
    /// script without ASCII is. The first of them may begin with carried digits, and then as many follow the last.
    #[cfg_attr(optimized, inline(always))]
    fn escapes(&mut self, rest: &mut &[u8]) {
        let digits = self.carry.count_ones() as usize;
        while self.sink.room() >= I::LANES
            && let Some(values) = rest.get(digits..).and_then(|escapes| self.isa.all_escapes(escapes))
        {
            self.sink.store(self.isa, values, Lanes::ALL);
            *rest = &rest[3 * I::LANES..];
        }
    }

    /// Writes the `M` whole blocks at the start of `rest` if nothing in them is decoded.
    #[cfg_attr(optimized, inline(always))]
    fn pass<const M: usize>(&mut self, rest: &[u8]) -> bool {
        if self.carry != 0 || self.sink.room() < M * I::LANES {
            return false;
        }
        let mut blocks = [self.isa.load(rest); M];
        for i in 1..M {
            blocks[i] = self.isa.load(&rest[i * I::LANES..]);
        }
        let clean = self.isa.none_equal(blocks, b'%');
        if clean {
            for i in 0..M {
                self.bounds.settle(self.sink.written() + i * I::LANES, 0, 0);
            }
            (self.dropped, self.run) = (0, 0);
            self.sink.store_whole(self.isa, blocks);
        }
        clean
    }

    /// Decodes the first `lanes` lanes of `block`, which is at the start of `rest`, and returns whether there was
    /// anything to do, or the lane of a malformed escape.
    ///
    /// With `CHECK`, a block without anything to do is stored as it is. With `GUESS`, so is one in which nothing is dropped, which
    /// pays if that is predictable.
    #[cfg_attr(optimized, inline(always))]
    fn take<const CHECK: bool, const GUESS: bool>(
        &mut self,
        mut block: I::Block,
        rest: &[u8],
        lanes: Lanes<I>,
    ) -> Result<bool, usize> {
        let isa = self.isa;
        // After the lanes there are zeros, or the next block.
        let here = if rest.len() > lanes.count() { lanes.mask() } else { u64::MAX };
        if CHECK && self.carry | self.carry_all == 0 && isa.surely_lacks(block, b'%', here) {
            self.bounds.settle(self.sink.written(), 0, lanes.padding());
            self.run = 0;
            // Two stores: choosing between two blocks and storing one would take more instructions than the rest.
            if KEEP && self.form {
                self.sink.changed(isa.eq(block, b'+') != 0);
                self.sink.store(isa, isa.replace(block, b'+', b' '), lanes);
            } else {
                self.sink.store(isa, block, lanes);
            }
            return Ok(false);
        }
        if KEEP && self.form {
            self.sink.changed(isa.eq(block, b'+') != 0);
            block = isa.replace(block, b'+', b' ');
        }
        let found = isa.escapes(block, rest);
        let cut = if KEEP { self.bounds.cut(I::LANES, lanes.padding()) } else { 0 };
        let valid = found.valid & here & !cut;
        if self.strict {
            let malformed = isa.eq(block, b'%') & here & !valid;
            if malformed != 0 {
                // An escape before it may cross an end, and is then the malformed one.
                let drop = digits_of(valid, lanes, &mut self.carry);
                self.bounds.settle(self.sink.written(), drop, lanes.padding());
                return Err(malformed.trailing_zeros() as usize);
            }
        }
        let (mut decoded, mut result) = (valid, found.decoded);
        if KEEP {
            let (some, with_values) = isa.decode_some(block, &found, &self.class, !self.members_stay);
            (decoded, result) = (valid & some, with_values);
        }
        if KEEP && B::MANY && found.valid & here & cut != 0 {
            result = isa.select(decoded, block, found.values);
        }
        if KEEP && self.upper {
            // The digits of decoded escapes are dropped anyway. Including them makes this wait for less.
            let digits = digits_of(valid, lanes, &mut self.carry_all);
            self.sink.changed(digits & isa.lower(result) != 0);
            result = isa.upper(digits, result);
        }
        let drop = digits_of(decoded, lanes, &mut self.carry);
        self.bounds.settle(self.sink.written(), drop, lanes.padding());
        self.sink.changed(decoded != 0);
        if Self::KEEPS_FULL {
            let full = decoded | drop;
            self.run = full & core::mem::replace(&mut self.full, full);
        }
        let before = core::mem::replace(&mut self.dropped, drop);
        if const { KEEP || GUESS } && drop | before == 0 {
            // Escapes that stay and malformed ones, which is what normalizing mostly meets. A block among others in which
            // something is decoded is unpredictable.
            self.sink.store(isa, result, lanes);
        } else {
            self.sink.compress(isa, result, drop, lanes);
        }
        Ok(true)
    }
}
