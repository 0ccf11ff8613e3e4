//! Encoding, block by block.
//!
//! ```text
//! for each block:
//!     stray   = lanes that are not members of the set
//!     keeping escapes:  the lanes of a valid escape are not stray; every other `%` is
//!     form:             a space is a member, and is replaced by `+`
//!     nothing stray:    store the block whole
//!     else:             expand: each stray lane becomes three bytes
//! ```
//!
//! The digits of an escape may lie in the next block; they are carried there as two bits. The stride is always a
//! whole block, so no load waits for the result of the block before it.

use super::bounds::{Bounds, Whole};
use super::sink::Sink;
use super::{Isa, digits_of, first, missing};
use crate::hex::HexCase;
use crate::kernel::cursor::{Cursor, MAX_WINDOW, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{EncodeJob, EncodeRule, Measure};

/// Encodes `input` into `out`.
#[inline(always)]
pub(crate) fn encode<'c, I: Isa>(isa: I, job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    by_rule(isa, job, input, Whole, Cursor::new(out)).finish()
}

/// Encodes an input of more than one block and at most two under the plain rule. If one of them changes, both are written as if
/// they did: which of them does could not be predicted. `None` if there might be too little room.
#[inline(always)]
pub(crate) fn encode_two<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    if input.len() <= I::LANES || input.len() > 2 * I::LANES || out.len() < MAX_WINDOW {
        return None;
    }
    let class = isa.class(&job.set, input.len());
    let (lanes, last) = (input.len() - I::LANES, &input[input.len() - I::LANES..]);
    let blocks = [isa.load(input), isa.load(last)];
    let stray = !isa.member(blocks[0], &class) & first(lanes);
    let last_stray = !isa.member(blocks[1], &class) & first(I::LANES);
    let mut out = Cursor::new(out);
    // Others have looked already.
    if const { I::LOOK <= I::LANES } && stray | last_stray == 0 {
        return out.push_ends(input).then(|| out.finish());
    }
    isa.expand(blocks[0], input, stray, lanes, job.case, &mut out);
    if out.room() < MAX_WINDOW {
        return None;
    }
    isa.expand(blocks[1], last, last_stray, I::LANES, job.case, &mut out);
    Some(out.finish())
}

/// Encodes an input of more than a block under the plain rule, block by block and without other loops; `None` if there might
/// be too little room.
#[inline(always)]
pub(crate) fn encode_few<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let missing = missing::<I>(input);
    let class = isa.class(&job.set, input.len());
    let (case, sink) = (job.case, Cursor::new(out));
    let mut state = Blocks::<I, Cursor<'c>, Whole, true> {
        isa,
        class,
        case,
        keep_escapes: false,
        spilt: 0,
        bounds: Whole,
        sink,
    };
    let (mut rest, mut lanes) = (input, I::LANES - missing);
    if rest.len() < I::LANES {
        return None;
    }
    let mut block = isa.load(rest);
    loop {
        if state.sink.room() < MAX_WINDOW {
            return None;
        }
        // The next block is loaded before this one is stored: a load waits for an older store if the lower twelve bits of
        // their addresses say that it might be of the same bytes.
        let following = &rest[lanes..];
        let next = if following.len() >= I::LANES { Some(isa.load(following)) } else { None };
        state.take::<false>(block, rest, lanes, I::LANES - lanes);
        match next {
            Some(next) => (rest, lanes, block) = (following, I::LANES, next),
            None => return Some(state.finish().finish()),
        }
    }
}

/// What [`encode`] would write.
#[inline(always)]
pub(crate) fn encode_measure<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Measure {
    by_rule(isa, job, input, Whole, Measure::default())
}

/// Encodes the values that lie in `input` one after the other; turns where they end into where they end in `out`.
#[inline(always)]
pub(crate) fn encode_values<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Written<'c> {
    let follow = ends.follow(missing::<I>(input), I::LANES, job.rule == EncodeRule::KeepEscapes);
    by_rule(isa, job, input, follow, Cursor::new(out)).finish()
}

#[inline(always)]
fn by_rule<I: Isa, S: Sink<I>, B: Bounds>(isa: I, job: &EncodeJob, input: &[u8], bounds: B, sink: S) -> S {
    match job.rule {
        EncodeRule::Plain => blocks::<I, S, B, true>(isa, job, input, bounds, sink),
        // One copy of the code: which of the two it is, is the same in each block, and so costs nothing.
        EncodeRule::KeepEscapes | EncodeRule::Form => blocks::<I, S, B, false>(isa, job, input, bounds, sink),
    }
}

#[inline(always)]
fn blocks<I: Isa, S: Sink<I>, B: Bounds, const PLAIN: bool>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> S {
    let missing = missing::<I>(input);
    let keep_escapes = !PLAIN && job.rule == EncodeRule::KeepEscapes;
    let class = isa.class(&job.set, input.len());
    let mut state =
        Blocks::<I, S, B, PLAIN> { isa, class, case: job.case, keep_escapes, spilt: 0, bounds, sink };
    if input.len() <= I::LANES {
        // Most inputs: code without loops is shorter.
        if const { PLAIN && !B::MANY }
            && let Some(stray) = isa.strays(input, &state.class)
        {
            state.between(stray, input);
        } else {
            state.step(input, input.len(), missing);
        }
        return state.finish();
    }
    let (mut rest, mut lanes) = (input, I::LANES - missing);
    // Where the room is known to be ample, no block has to look.
    if state.sink.room() >= MAX_WINDOW {
        if const { I::TOGETHER == 4 && PLAIN } {
            state.take::<true>(state.isa.load(rest), rest, lanes, missing);
        } else {
            state.step(rest, lanes, missing);
        }
        (rest, lanes) = (&rest[lanes..], I::LANES);
        // Constant, so that tiers without such groups compile none of this.
        if const { I::TOGETHER == 4 && PLAIN } {
            while rest.len() >= 4 * I::LANES && state.sink.room() >= 4 * MAX_WINDOW {
                // All are loaded before anything is stored, for the reason given in `encode_few`.
                let blocks = state.load::<4>(rest);
                if state.pass(blocks) {
                    rest = &rest[4 * I::LANES..];
                    continue;
                }
                let [a, b, c, d] = blocks;
                if !(state.next(a, &mut rest)
                    && state.next(b, &mut rest)
                    && state.next(c, &mut rest)
                    && state.next(d, &mut rest))
                {
                    break;
                }
            }
            // Of at most three, one look at each is enough.
            while rest.len() < 4 * I::LANES && rest.len() >= I::LANES && state.sink.room() >= MAX_WINDOW {
                state.take::<true>(state.isa.load(rest), rest, I::LANES, 0);
                rest = &rest[I::LANES..];
            }
        }
        'ample: loop {
            // Two blocks at a time while they are clean, and again after two clean ones among others.
            while rest.len() >= 2 * I::LANES && state.sink.room() >= 2 * I::LANES {
                if !state.pass(state.load::<2>(rest)) {
                    break;
                }
                rest = &rest[2 * I::LANES..];
            }
            let mut clean = 0;
            while clean < 2 {
                if rest.len() < I::LANES || state.sink.room() < MAX_WINDOW {
                    break 'ample;
                }
                if state.pass(state.load::<1>(rest)) {
                    clean += 1;
                } else {
                    state.take::<true>(state.isa.load(rest), rest, I::LANES, 0);
                    clean = 0;
                }
                rest = &rest[I::LANES..];
            }
        }
    }
    while rest.len() >= I::LANES {
        state.step(rest, lanes, I::LANES - lanes);
        (rest, lanes) = (&rest[lanes..], I::LANES);
    }
    state.finish()
}

/// What one block leaves to the next. (A closure would not be inlined into the entry points, nor then would the
/// intrinsics in it.)
struct Blocks<I: Isa, S, B, const PLAIN: bool> {
    isa: I,
    class: I::Class,
    case: HexCase,
    /// Whether valid escapes stay; if not, and unless `PLAIN`, a space is a `+`.
    keep_escapes: bool,
    /// The lanes of the next block that are digits of escapes in this one.
    spilt: u64,
    bounds: B,
    sink: S,
}

impl<I: Isa, S: Sink<I>, B: Bounds, const PLAIN: bool> Blocks<I, S, B, PLAIN> {
    /// All blocks have been taken.
    #[inline(always)]
    fn finish(mut self) -> S {
        self.bounds.finish::<2>(self.sink.written(), I::LANES);
        self.sink
    }

    /// The `M` whole blocks at the start of `rest`.
    #[inline(always)]
    fn load<const M: usize>(&self, rest: &[u8]) -> [I::Block; M] {
        let mut blocks = [self.isa.load(rest); M];
        for i in 1..M {
            blocks[i] = self.isa.load(&rest[i * I::LANES..]);
        }
        blocks
    }

    /// Takes whole blocks if there is nothing to do in them, without the masks that [`Blocks::take`] needs.
    #[inline(always)]
    fn pass<const M: usize>(&mut self, blocks: [I::Block; M]) -> bool {
        let clean = PLAIN && self.isa.all_members(blocks, &self.class);
        if clean {
            for i in 0..M {
                self.bounds.settle(self.sink.written() + i * I::LANES, 0, 0);
            }
            self.sink.store_whole(self.isa, blocks);
        }
        clean
    }

    /// Takes the whole block at the start of `rest`, which is loaded; `false` if there is too little room.
    #[inline(always)]
    fn next(&mut self, block: I::Block, rest: &mut &[u8]) -> bool {
        let ample = self.sink.room() >= MAX_WINDOW;
        if ample {
            self.take::<true>(block, rest, I::LANES, 0);
            *rest = &rest[I::LANES..];
        }
        ample
    }

    /// Takes the block at the start of `rest`: `lanes` lanes, and `missing` fewer than a whole one.
    #[inline(always)]
    fn step(&mut self, rest: &[u8], lanes: usize, missing: usize) {
        self.take::<false>(self.isa.load(rest), rest, lanes, missing);
    }

    /// Takes the one block of an input of which [`Isa::strays`] are known: if it stays as it is, it need not be put together.
    #[inline(always)]
    fn between(&mut self, stray: u64, input: &[u8]) {
        if stray == 0 {
            self.sink.copy(input);
        } else {
            self.sink.changed(true);
            let block = self.isa.load(input);
            self.sink.expand(self.isa, block, input, stray, input.len(), self.case);
        }
    }

    /// As [`Blocks::step`], for a block that is loaded. One of `MANY` may be worth more preparation, and a look at whether all its
    /// lanes are escaped.
    #[inline(always)]
    fn take<const MANY: bool>(&mut self, mut block: I::Block, rest: &[u8], lanes: usize, missing: usize) {
        let isa = self.isa;
        let mut stray =
            if MANY { !isa.member_of_many(block, &self.class) } else { !isa.member(block, &self.class) };
        if !PLAIN && self.keep_escapes {
            let percent = isa.eq(block, b'%');
            if percent | self.spilt != 0 {
                let cut = self.bounds.cut(I::LANES, missing);
                let valid = isa.escapes(block, rest).valid & first(lanes) & !cut;
                let digits = digits_of::<I>(valid, lanes, &mut self.spilt);
                stray = (stray | percent) & !(valid | digits);
            }
        }
        stray &= first(lanes);
        self.bounds.settle(self.sink.written(), stray, missing);
        if !PLAIN && !self.keep_escapes {
            self.sink.changed(isa.eq(block, b' ') != 0);
            block = isa.replace(block, b' ', b'+');
        }
        if stray == 0 {
            self.sink.store(isa, block, lanes);
        } else {
            self.sink.changed(true);
            if MANY && I::EXPANDS_ALL && stray == u64::MAX {
                self.sink.expand_all(isa, block, rest, self.case);
            } else if MANY && PLAIN {
                self.sink.expand_others(isa, block, rest, &self.class, stray, lanes, self.case);
            } else {
                self.sink.expand(isa, block, rest, stray, lanes, self.case);
            }
        }
    }
}
