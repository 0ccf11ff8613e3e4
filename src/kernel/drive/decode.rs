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
//! Digits in the next block are carried there as two bits. The stride is always a whole block: a load never waits
//! for the masks of the block before it.

use super::bounds::{Bounds, Whole};
use super::sink::Sink;
use super::{Isa, digits_of, first, missing};
use crate::kernel::cursor::{Cursor, Room};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, DecodeRule, Decoded, Measure, Measured};

/// Decodes `input` into `out`.
#[inline(always)]
pub(crate) fn decode<'c, I: Isa>(isa: I, job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let (out, stopped) = by_rule(isa, job, input, Whole, Cursor::new(out));
    Decoded { written: out.finish(), stopped }
}

/// Decodes an input of more than one block and at most two under the plain rule. If there is a `%`, both blocks are decoded: which
/// of them has one could not be predicted. `None` if there is too little room.
#[inline(always)]
pub(crate) fn decode_two<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    if input.len() <= I::LANES || input.len() > 2 * I::LANES || out.len() < I::LANES {
        return None;
    }
    let (lanes, last) = (input.len() - I::LANES, &input[input.len() - I::LANES..]);
    let blocks = [isa.load(input), isa.load(last)];
    let mut out = Cursor::new(out);
    // Others have looked already.
    if const { I::LOOK <= I::LANES } && isa.none_equal(blocks, b'%') {
        let copied = out.push_ends(input);
        return copied.then(|| Decoded { written: out.finish(), stopped: input.len() });
    }
    let mut state = begin::<I, _, _, false>(isa, job, input, Whole, out);
    let taken = match state.take::<true, false>(blocks[0], input, lanes, I::LANES - lanes) {
        Err(lane) => Err(lane),
        // What was written is no longer than what was read, so there is room; this tells the compiler so.
        Ok(()) if state.sink.room() < I::LANES => return None,
        Ok(()) => state.take::<true, false>(blocks[1], last, I::LANES, 0).map_err(|lane| lanes + lane),
    };
    let stopped = taken.err().unwrap_or(input.len());
    Some(Decoded { written: state.sink.finish(), stopped })
}

/// Decodes an input of more than a block under the plain rule, block by block and without other loops; `None` if there is too
/// little room.
#[inline(always)]
pub(crate) fn decode_few<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    if input.len() <= I::LANES {
        return None;
    }
    let mut state = begin::<I, _, _, false>(isa, job, input, Whole, Cursor::new(out));
    let (mut rest, mut lanes) = (input, I::LANES - missing::<I>(input));
    loop {
        // What was written is no longer than what was read, so this is known of all blocks when it is of the first. The
        // compiler does not know it.
        if rest.len() < I::LANES || state.sink.room() < I::LANES {
            return None;
        }
        // Which block has a `%` could not be predicted, where decoding one takes less than a mispredicted branch.
        let taken = if const { I::TOGETHER == 4 } {
            state.step::<true, false>(rest, lanes, I::LANES - lanes)
        } else {
            state.step::<false, false>(rest, lanes, I::LANES - lanes)
        };
        if let Err(lane) = taken {
            let stopped = input.len() - rest.len() + lane;
            return Some(Decoded { written: state.sink.finish(), stopped });
        }
        (rest, lanes) = (&rest[lanes..], I::LANES);
        if rest.is_empty() {
            return Some(Decoded { written: state.finish().finish(), stopped: input.len() });
        }
    }
}

/// What [`decode`] would write.
#[inline(always)]
pub(crate) fn decode_measure<I: Isa>(isa: I, job: &DecodeJob, input: &[u8]) -> Measured {
    let (measure, stopped) = by_rule(isa, job, input, Whole, Measure::default());
    Measured::new(measure, stopped)
}

/// Decodes the values that lie in `input` one after the other; turns where they end into where they end in `out`. No
/// escape reaches over the end of a value.
#[inline(always)]
pub(crate) fn decode_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Decoded<'c> {
    let follow = ends.follow(missing::<I>(input), I::LANES, true);
    // The plain rule is that of a decoder that keeps nothing.
    let (out, stopped) = blocks::<I, _, _, true>(isa, job, input, follow, Cursor::new(out));
    Decoded { written: out.finish(), stopped }
}

/// As [`decode_values`] under the plain rule, but blocks are decoded as if there were no ends. That an escape reached over one is
/// seen where its place in the output is looked up. `None` if one did, which takes a value that ends in `%` or `%` and a digit,
/// before one that starts with a digit.
#[inline(always)]
pub(crate) fn decode_plain_values<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Option<Decoded<'c>> {
    let follow = ends.follow(missing::<I>(input), I::LANES, false);
    let (out, stopped) = blocks::<I, _, _, false>(isa, job, input, follow, Cursor::new(out));
    if ends.crossed() { None } else { Some(Decoded { written: out.finish(), stopped }) }
}

/// Returns the sink, and the length of the input or the offset of the malformed escape that ended a strict decoding.
#[inline(always)]
fn by_rule<I: Isa, S: Sink<I>, B: Bounds>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> (S, usize) {
    match job.rule {
        DecodeRule::Plain => blocks::<I, S, B, false>(isa, job, input, bounds, sink),
        // One copy of the code: whether `+` is a space is the same in each block, and so costs nothing.
        DecodeRule::Keep | DecodeRule::Form => blocks::<I, S, B, true>(isa, job, input, bounds, sink),
    }
}

#[inline(always)]
fn blocks<I: Isa, S: Sink<I>, B: Bounds, const KEEP: bool>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> (S, usize) {
    let missing = missing::<I>(input);
    let mut state = begin::<I, S, B, KEEP>(isa, job, input, bounds, sink);
    if input.len() <= I::LANES {
        if !state.form && !B::MANY && state.isa.lacks(input, b'%') {
            state.sink.copy(input);
            return (state.sink, input.len());
        }
        // Most inputs: code without loops is shorter.
        return match state.step::<false, true>(input, input.len(), missing) {
            Ok(()) => (state.finish(), input.len()),
            Err(lane) => (state.finish(), lane),
        };
    }
    let (mut rest, mut lanes) = (input, I::LANES - missing);
    let at = |rest: &[u8], lane| input.len() - rest.len() + lane;
    // Where the room is known to be ample, no block has to look.
    if state.sink.room() >= I::LANES {
        if let Err(lane) = state.step::<false, false>(rest, lanes, missing) {
            return (state.finish(), at(rest, lane));
        }
        (rest, lanes) = (&rest[lanes..], I::LANES);
        // Constant, so that tiers without such groups compile none of this.
        if const { I::TOGETHER == 4 } {
            loop {
                match state.groups::<4>(&mut rest) {
                    Ok(true) => state.escapes(&mut rest),
                    Ok(false) => break,
                    Err(lane) => return (state.finish(), at(rest, lane)),
                }
            }
        }
        while rest.len() >= I::LANES && state.sink.room() >= I::LANES {
            if let Err(lane) = state.step::<false, false>(rest, I::LANES, 0) {
                return (state.finish(), at(rest, lane));
            }
            rest = &rest[I::LANES..];
            if state.is_run() {
                state.escapes(&mut rest);
            }
        }
    }
    while rest.len() >= I::LANES {
        if let Err(lane) = state.step::<false, false>(rest, lanes, I::LANES - lanes) {
            return (state.finish(), at(rest, lane));
        }
        (rest, lanes) = (&rest[lanes..], I::LANES);
    }
    (state.finish(), input.len())
}

/// The state before the first block.
#[inline(always)]
fn begin<I: Isa, S: Sink<I>, B: Bounds, const KEEP: bool>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> Blocks<I, S, B, KEEP> {
    Blocks {
        isa,
        class: isa.class(&job.set, input.len()),
        strict: job.strict,
        members_stay: job.members_stay,
        upper: job.upper,
        form: KEEP && job.plus(),
        spilt: 0,
        spilt_digits: 0,
        dropped: 0,
        full: 0,
        run: false,
        bounds,
        sink,
    }
}

/// What one block leaves to the next. (A closure would not be inlined into the entry points, nor then would the
/// intrinsics in it.)
struct Blocks<I: Isa, S, B, const KEEP: bool> {
    isa: I,
    class: I::Class,
    /// Whether a malformed escape is an error.
    strict: bool,
    members_stay: bool,
    upper: bool,
    /// Whether a `+` is a space; never, unless `KEEP`.
    form: bool,
    /// The lanes of the next block that are digits of escapes in this one, which were decoded.
    spilt: u64,
    /// The same for all escapes, of which some may stay, where the digits of these are written in upper case.
    spilt_digits: u64,
    /// The lanes that were dropped from this one.
    dropped: u64,
    /// The lanes of escapes in this one, of a tier that asks.
    full: u64,
    /// Whether this one and the one before were nothing but escapes, of such a tier. One among others is nothing to go by: the
    /// guess costs more than the block.
    run: bool,
    bounds: B,
    sink: S,
}

impl<I: Isa, S: Sink<I>, B: Bounds, const KEEP: bool> Blocks<I, S, B, KEEP> {
    /// Whether blocks of nothing but escapes are looked for.
    const LOOKS_FOR_RUNS: bool = I::DECODES_ALL && S::WRITES && !KEEP && !B::MANY;

    /// Whether that is seen block by block. Of a group it is seen at once.
    const KEEPS_FULL: bool = Self::LOOKS_FOR_RUNS && I::TOGETHER == 1;

    /// Whether the last two blocks were nothing but escapes.
    #[inline(always)]
    fn is_run(&self) -> bool {
        Self::KEEPS_FULL && self.run
    }

    /// All blocks have been taken, or all up to a malformed escape.
    #[inline(always)]
    fn finish(mut self) -> S {
        self.bounds.finish::<-1>(self.sink.written(), I::LANES);
        self.sink
    }

    /// Takes whole blocks from the start of `rest`, `M` at a time, while there are so many and ample room, or up to `M` that were
    /// nothing but escapes, and returns whether it was these; or returns the lane of a malformed escape in the block that `rest` then
    /// starts with.
    #[inline(always)]
    fn groups<const M: usize>(&mut self, rest: &mut &[u8]) -> Result<bool, usize> {
        while rest.len() >= M * I::LANES && self.sink.room() >= M * I::LANES {
            if self.pass::<M>(rest) {
                *rest = &rest[M * I::LANES..];
                continue;
            }
            let room = self.sink.room();
            // A block among others that has a `%`, or has none, could not be predicted.
            for _ in 0..M {
                // There is room; this tells the compiler so.
                if self.sink.room() < I::LANES {
                    break;
                }
                self.step::<true, false>(rest, I::LANES, 0)?;
                *rest = &rest[I::LANES..];
            }
            // A group that became a third is nothing but escapes.
            if Self::LOOKS_FOR_RUNS && room - self.sink.room() <= M * I::LANES / 3 + 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes three whole blocks at a time from the start of `rest`, of one value, while these are nothing but escapes; text in a
    /// script without ASCII is. The first of them may begin with digits, and then as many come after the last.
    #[inline(always)]
    fn escapes(&mut self, rest: &mut &[u8]) {
        let digits = self.spilt.count_ones() as usize;
        while self.sink.room() >= I::LANES
            && let Some(values) = rest.get(digits..).and_then(|escapes| self.isa.all_escapes(escapes))
        {
            self.sink.store(self.isa, values, I::LANES);
            *rest = &rest[3 * I::LANES..];
        }
    }

    /// Takes the `M` whole blocks at the start of `rest`, of one value, if there is nothing to do in them.
    #[inline(always)]
    fn pass<const M: usize>(&mut self, rest: &[u8]) -> bool {
        // Of many values, those that have nothing to decode seldom come here.
        if B::MANY || self.spilt | self.spilt_digits != 0 {
            return false;
        }
        let mut blocks = [self.isa.load(rest); M];
        for i in 1..M {
            blocks[i] = self.isa.load(&rest[i * I::LANES..]);
        }
        let clean =
            self.isa.none_equal(blocks, b'%') && !(KEEP && self.form && !self.isa.none_equal(blocks, b'+'));
        if clean {
            self.dropped = 0;
            self.sink.store_whole(self.isa, blocks);
        }
        clean
    }

    /// Takes the block at the start of `rest`, `lanes` lanes and `missing` fewer than a whole one, or returns the lane of a
    /// malformed escape. A `DIRTY` block is decoded without a look at whether there is anything to do, unless escapes may stay. In
    /// one that is `ALONE` with a `%`, whether that starts an escape could not be predicted.
    #[inline(always)]
    fn step<const DIRTY: bool, const ALONE: bool>(
        &mut self,
        rest: &[u8],
        lanes: usize,
        missing: usize,
    ) -> Result<(), usize> {
        self.take::<DIRTY, ALONE>(self.isa.load(rest), rest, lanes, missing)
    }

    /// The same, for a block that is loaded.
    #[inline(always)]
    fn take<const DIRTY: bool, const ALONE: bool>(
        &mut self,
        mut block: I::Block,
        rest: &[u8],
        lanes: usize,
        missing: usize,
    ) -> Result<(), usize> {
        let isa = self.isa;
        // What follows the lanes is zeros, or the next block.
        let here = if rest.len() > lanes { first(lanes) } else { u64::MAX };
        if (!DIRTY || KEEP) && self.spilt | self.spilt_digits == 0 && isa.surely_lacks(block, b'%', here) {
            self.bounds.settle(self.sink.written(), 0, missing);
            self.run = false;
            // Two stores: to choose between two blocks and store one would take more instructions than the rest.
            if KEEP && self.form {
                self.sink.changed(isa.eq(block, b'+') != 0);
                self.sink.store(isa, isa.replace(block, b'+', b' '), lanes);
            } else {
                self.sink.store(isa, block, lanes);
            }
            return Ok(());
        }
        if KEEP && self.form {
            self.sink.changed(isa.eq(block, b'+') != 0);
            block = isa.replace(block, b'+', b' ');
        }
        let found = isa.escapes(block, rest);
        let cut = if KEEP { self.bounds.cut(I::LANES, missing) } else { 0 };
        let valid = found.valid & here & !cut;
        if self.strict {
            let malformed = isa.eq(block, b'%') & here & !valid;
            if malformed != 0 {
                // An escape before it may reach over an end, and that is then the malformed one.
                let drop = digits_of::<I>(valid, lanes, &mut self.spilt);
                self.bounds.settle(self.sink.written(), drop, missing);
                return Err(malformed.trailing_zeros() as usize);
            }
        }
        let (mut decoded, mut result) = (valid, found.decoded);
        if KEEP {
            let (some, with_values) = if const { ALONE } {
                isa.decode_some(block, &found, &self.class, !self.members_stay)
            } else {
                isa.decode_some_of_many(block, &found, &self.class, !self.members_stay)
            };
            (decoded, result) = (valid & some, with_values);
        }
        if KEEP && B::MANY && found.valid & here & cut != 0 {
            result = isa.select(decoded, block, found.values);
        }
        if KEEP && self.upper {
            // With those of escapes that are decoded, which are dropped: so this waits for less.
            let digits = digits_of::<I>(valid, lanes, &mut self.spilt_digits);
            self.sink.changed(digits & isa.lower(result) != 0);
            result = isa.upper(digits, result);
        }
        let drop = digits_of::<I>(decoded, lanes, &mut self.spilt);
        self.bounds.settle(self.sink.written(), drop, missing);
        self.sink.changed(decoded != 0);
        if Self::KEEPS_FULL {
            let full = decoded | drop;
            self.run = full & core::mem::replace(&mut self.full, full) == u64::MAX;
        }
        let before = core::mem::replace(&mut self.dropped, drop);
        if const { KEEP || !(DIRTY || ALONE) } && drop | before == 0 {
            // Escapes that stay and malformed ones, which is what normalizing mostly meets. A block among others in which
            // something is decoded could not be predicted.
            self.sink.store(isa, result, lanes);
        } else {
            self.sink.compress(isa, result, drop, lanes);
        }
        Ok(())
    }
}
