//! Encoding, block by block.
//!
//! ```text
//! for each block:
//!     escape  = lanes that are not members of the set
//!     keeping escapes:  the lanes of a valid escape stay; every other `%` is escaped
//!     form:             a space is a member, and is replaced by `+`
//!     nothing to escape:  store the block whole
//!     else:               expand: each lane to escape becomes three bytes
//! ```
//!
//! If an escape crosses the end of a block, two bits of carry tell the next block which lanes are its digits. The stride is
//! always a whole block, so no load waits for the masks of the block before it.

use super::bounds::{self, Bounds, Single};
use super::sink::Sink;
use super::{Isa, Lanes, Members, digits_of};
use crate::hex::HexCase;
use crate::kernel::cursor::{Cursor, MAX_WINDOW, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{EncodeJob, EncodeRule, Measure};

/// Encodes `input` in the default mode.
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode<'c, I: Isa>(isa: I, job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    default_mode(isa, job, input, Single, Cursor::new(out)).finish()
}

/// Encodes `input` in a mode other than the default: keep-escapes or form.
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode_other_mode<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Written<'c> {
    other_mode(isa, job, input, Single, Cursor::new(out)).finish()
}

/// Measures the output of [`encode`] without writing it.
#[cfg_attr(optimized, inline(always))]
pub(super) fn measure<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Measure {
    default_mode(isa, job, input, Single, Measure::default())
}

/// Measures the output of [`encode_other_mode`] without writing it.
#[cfg_attr(optimized, inline(always))]
pub(super) fn measure_other_mode<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Measure {
    other_mode(isa, job, input, Single, Measure::default())
}

/// Encodes a batch of adjacent values in the default mode, as if they were one.
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode_values<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Written<'c> {
    default_mode(isa, job, input, bounds::follow::<I>(ends, out), Cursor::new(out)).finish()
}

/// Encodes a batch of adjacent values in a mode other than the default. If that keeps escapes, the ends of the values are marked.
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode_values_other_mode<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Written<'c> {
    other_mode(isa, job, input, bounds::follow::<I>(ends, out), Cursor::new(out)).finish()
}

/// Encodes an input of at most one block, in the default mode if `DEFAULT`. Returns `None` if the input is longer.
#[cfg_attr(optimized, inline(always))]
pub(super) fn one_block<I: Isa, S: Sink<I>, const DEFAULT: bool>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    sink: S,
) -> Option<S> {
    let mut state = State::<I, S, Single, DEFAULT>::new(isa, job, input, Single, sink);
    let lanes = Lanes::of_short(input)?;
    let escape = if DEFAULT { isa.lanes_to_escape(input, &state.class) } else { None };
    match escape {
        // A short input without a lane to escape is copied without loading a block.
        Some(0) => state.sink.copy(input),
        Some(escape) => {
            state.sink.changed(true);
            state.sink.expand(isa, isa.load(input), input, escape, lanes, isa.spelling(job.case));
        }
        None => {
            state.take::<false>(isa.load(input), input, lanes, true);
        }
    }
    Some(state.sink)
}

/// Returns the lanes that stay, and the block to write: the same one in the mode that keeps escapes (`keeps`), one with `+` for spaces in the form
/// mode. Returns `None` as [`Isa::staying`] does; [`is_cut`] checks the end of the input. The bytes before the block are `before`.
#[cfg_attr(optimized, inline(always))]
fn staying_and_text<I: Isa>(
    isa: I,
    class: &I::Class,
    keeps: bool,
    block: I::Block,
    before: [u8; 2],
) -> Option<(I::Members, I::Block)> {
    let stay = isa.staying(block, class, keeps, before)?;
    Some((stay, if keeps { block } else { isa.replace(block, b' ', b'+') }))
}

/// Reports whether one of the last two bytes of `input` is `%`, which starts no escape there.
#[cfg_attr(optimized, inline(always))]
fn is_cut(input: &[u8]) -> bool {
    matches!(*input, [.., b'%'] | [.., b'%', _])
}

/// Encodes an input of at most one block in a mode other than the default. Returns `None` if the input is longer, if a `%` starts no escape
/// and the mode keeps escapes, or if `out` might have too little capacity.
#[cfg_attr(optimized, inline(always))]
pub(super) fn short_other_mode<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let (lanes, block) = (Lanes::of_short(input)?, isa.load(input));
    let keeps = job.rule == EncodeRule::KeepEscapes;
    if out.len() < I::WINDOW || keeps && is_cut(input) {
        return None;
    }
    let (stay, text) = staying_and_text(isa, &isa.class(&job.set, input.len()), keeps, block, [0; 2])?;
    let mut out = Cursor::new(out);
    if !stay.mask() & lanes.mask() == 0 {
        isa.store(text, lanes, &mut out);
    } else {
        isa.expand_non_members::<true>(text, input, stay, lanes, isa.spelling(job.case), &mut out);
    }
    Some(out.finish())
}

/// Returns the last two bytes of `input`, after zeros if it is shorter.
#[cfg_attr(optimized, inline(always))]
fn last_two(input: &[u8]) -> [u8; 2] {
    match *input {
        [.., a, b] => [a, b],
        [b] => [0, b],
        [] => [0; 2],
    }
}

/// Encodes an input of more than one block and at most two in the default mode. If either block has a lane to escape, both are
/// expanded, because a branch on which of them has one would be mispredicted. Returns `None` if `out` might have too little
/// capacity.
#[cfg_attr(optimized, inline(always))]
pub(super) fn two_blocks<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let (lanes, last) = Lanes::<I>::of_two(input)?;
    if out.len() < MAX_WINDOW {
        return None;
    }
    let class = isa.class(&job.set, input.len());
    let blocks = [isa.load(input), isa.load(last)];
    let members = [isa.member(blocks[0], &class), isa.member(blocks[1], &class)];
    let escape = !members[0].mask() & lanes.mask();
    let last_escape = !members[1].mask() & Lanes::<I>::ALL.mask();
    let mut out = Cursor::new(out);
    // A tier whose `lacks` covers inputs of this length has already checked them in `copy_two`.
    if const { I::LONGEST_LOOK <= I::LANES } && escape | last_escape == 0 {
        return out.push_ends(input).then(|| out.finish());
    }
    isa.expand_non_members::<false>(blocks[0], input, members[0], lanes, isa.spelling(job.case), &mut out);
    if out.spare() < MAX_WINDOW {
        return None;
    }
    isa.expand_non_members::<false>(
        blocks[1],
        last,
        members[1],
        Lanes::ALL,
        isa.spelling(job.case),
        &mut out,
    );
    Some(out.finish())
}

/// Encodes an input of more than one block and at most two in a mode other than the default. Returns `None` for other inputs, if a `%` starts
/// no escape and the mode keeps escapes, or if `out` might have too little capacity.
#[cfg_attr(optimized, inline(always))]
pub(super) fn two_blocks_other_mode<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let (lanes, last) = Lanes::<I>::of_two(input)?;
    let keeps = job.rule == EncodeRule::KeepEscapes;
    if out.len() < MAX_WINDOW || keeps && is_cut(input) {
        return None;
    }
    let class = isa.class(&job.set, input.len());
    let (first_stay, first_text) = staying_and_text(isa, &class, keeps, isa.load(input), [0; 2])?;
    let before = last_two(input.get(..lanes.count())?);
    let (last_stay, last_text) = staying_and_text(isa, &class, keeps, isa.load(last), before)?;
    let mut out = Cursor::new(out);
    if !first_stay.mask() & lanes.mask() | !last_stay.mask() & Lanes::<I>::ALL.mask() == 0 {
        isa.store_both([first_text, last_text], lanes, &mut out);
        return Some(out.finish());
    }
    let spelling = isa.spelling(job.case);
    isa.expand_non_members::<true>(first_text, input, first_stay, lanes, spelling, &mut out);
    if out.spare() < MAX_WINDOW {
        return None;
    }
    isa.expand_non_members::<true>(last_text, last, last_stay, Lanes::ALL, spelling, &mut out);
    Some(out.finish())
}

/// Encodes an input of more than one block in the default mode, block by block, without the loops for clean runs. Returns
/// `None` if `out` might have too little capacity.
#[cfg_attr(optimized, inline(always))]
pub(super) fn medium<'c, I: Isa>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: Room<'c>,
) -> Option<Written<'c>> {
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if rest.len() < I::LANES {
        return None;
    }
    let mut state = State::<I, Cursor<'c>, Single, true>::new(isa, job, input, Single, Cursor::new(out));
    let mut block = isa.load(rest);
    loop {
        if state.sink.spare() < MAX_WINDOW {
            return None;
        }
        // The next block is loaded before this block is stored: a load waits for an older store if the lower twelve bits of
        // their addresses are equal.
        let following = &rest[lanes.count()..];
        let next = if following.len() >= I::LANES { Some(isa.load(following)) } else { None };
        state.take::<false>(block, rest, lanes, true);
        match next {
            Some(next) => (rest, lanes, block) = (following, Lanes::ALL, next),
            None => return Some(state.sink.finish()),
        }
    }
}

#[cfg_attr(optimized, inline(always))]
fn default_mode<I: Isa, S: Sink<I>, B: Bounds>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> S {
    let mut state = State::<I, S, B, true>::new(isa, job, input, bounds, sink);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if input.is_empty() {
        return state.sink;
    }
    loop {
        // The first block, and each block that `out` may be too small for, goes through here.
        if const { I::TOGETHER == 4 } {
            // The same preparation of the set as in the loop, so that only one needs registers.
            state.take::<true>(isa.load(rest), rest, lanes, true);
        } else {
            state.take::<false>(isa.load(rest), rest, lanes, true);
        }
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        if const { I::TOGETHER == 4 } {
            state.whole_blocks::<4>(&mut rest);
        } else {
            state.whole_blocks::<2>(&mut rest);
        }
        if rest.len() < I::LANES {
            return state.sink;
        }
    }
}

#[cfg_attr(optimized, inline(always))]
fn other_mode<I: Isa, S: Sink<I>, B: Bounds>(isa: I, job: &EncodeJob, input: &[u8], bounds: B, sink: S) -> S {
    let mut state = State::<I, S, B, false>::new(isa, job, input, bounds, sink);
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if input.is_empty() {
        return state.sink;
    }
    loop {
        // The first block, and each block that `out` may be too small for, goes through here.
        state.take::<false>(isa.load(rest), rest, lanes, true);
        (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
        // Measuring has no loop of its own in these modes, because it is rare.
        while S::WRITES
            && I::LOOPS_IN_OTHER_MODES
            && rest.len() >= I::LANES
            && state.sink.spare() >= MAX_WINDOW
        {
            state.take::<false>(isa.load(rest), rest, Lanes::ALL, true);
            rest = &rest[I::LANES..];
        }
        if rest.len() < I::LANES {
            return state.sink;
        }
    }
}

/// The state of an encoding between blocks. The methods are not closures, because a closure and its intrinsics would not be
/// inlined into the entry points.
struct State<I: Isa, S, B, const DEFAULT: bool> {
    isa: I,
    class: I::Class,
    case: HexCase,
    /// The digits in this case. Inputs of few blocks do not use them, because most of these need no digits.
    spelling: I::Spelling,
    /// Whether valid escapes stay. If not, and unless `DEFAULT`, the mode is form, which turns a space into `+`.
    keep_escapes: bool,
    /// The lanes of the next block that are digits of escapes in this block.
    carry: u64,
    bounds: B,
    sink: S,
}

impl<I: Isa, S: Sink<I>, B: Bounds, const DEFAULT: bool> State<I, S, B, DEFAULT> {
    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, job: &EncodeJob, input: &[u8], bounds: B, sink: S) -> Self {
        let keep_escapes = !DEFAULT && job.rule == EncodeRule::KeepEscapes;
        let class = isa.class(&job.set, input.len());
        let spelling = isa.spelling(job.case);
        State { isa, class, case: job.case, spelling, keep_escapes, carry: 0, bounds, sink }
    }

    /// Loads the `M` whole blocks at the start of `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn load<const M: usize>(&self, rest: &[u8]) -> [I::Block; M] {
        let mut blocks = [self.isa.load(rest); M];
        for i in 1..M {
            blocks[i] = self.isa.load(&rest[i * I::LANES..]);
        }
        blocks
    }

    /// Writes whole blocks from the start of `rest` while the output has `MAX_WINDOW` spare bytes. One check covers `M` blocks at the
    /// start, and again after two clean blocks.
    #[cfg_attr(optimized, inline(always))]
    fn whole_blocks<const M: usize>(&mut self, rest: &mut &[u8]) {
        loop {
            // All blocks are loaded before the first store; `medium` explains why.
            while rest.len() >= M * I::LANES && self.pass(self.load::<M>(rest), rest) {
                *rest = &rest[M * I::LANES..];
            }
            let two_clean =
                if const { I::LOOKS_AHEAD } { self.ahead(rest, M) } else { self.one_by_one(rest) };
            if !two_clean {
                return;
            }
        }
    }

    /// Writes whole blocks one by one, and returns `true` after two clean ones. Returns `false` if `rest` has no more, or if the output
    /// has too little capacity.
    #[cfg_attr(optimized, inline(always))]
    fn one_by_one(&mut self, rest: &mut &[u8]) -> bool {
        // `dirty` counts the last blocks that were neither clean nor escaped whole. After some of these, a check costs more than it saves. It costs
        // nothing on a tier without `expand_all` (SSE2), where writing such a block takes much longer.
        let (mut clean, mut dirty) = (0, 0);
        while rest.len() >= I::LANES && self.sink.has_window() {
            let (block, look) = self.look_at(rest);
            let start = self.sink.written();
            // On AVX2 a test without masks is so much faster that it pays even if it often fails. Elsewhere it does not.
            let is_clean = if const { I::TWO_BLOCKS } && dirty < 16 && self.isa.all_found(look) {
                self.bounds.pass::<1>(rest.len(), self.sink.address());
                self.sink.store_whole(self.isa, [block]);
                true
            } else {
                self.put_next(block, look, rest, const { I::EXPANDS_ALL && !I::TWO_BLOCKS } && dirty >= 8)
            };
            let mixed = if const { I::TWO_BLOCKS } {
                !is_clean
            } else {
                (self.sink.written() - start).wrapping_sub(I::LANES) & !(2 * I::LANES) != 0
            };
            dirty = if mixed { dirty + 1 } else { 0 };
            *rest = &rest[I::LANES..];
            clean = if is_clean { clean + 1 } else { 0 };
            if clean == 2 {
                return true;
            }
        }
        false
    }

    /// Writes whole blocks like [`State::one_by_one`], but looks up the members of the set two blocks ahead. The caller has found that the
    /// first `together` blocks are not all clean, so this does not end before one of them that is not.
    #[cfg_attr(optimized, inline(always))]
    fn ahead(&mut self, rest: &mut &[u8], together: usize) -> bool {
        if rest.len() < 3 * I::LANES {
            return false;
        }
        let mut clean = 2 - together as isize;
        let mut ahead = [self.look_at(rest), self.look_at(&rest[I::LANES..])];
        while rest.len() >= 3 * I::LANES && self.sink.spare() >= MAX_WINDOW {
            let [(block, look), next] = ahead;
            ahead = [next, self.look_at(&rest[2 * I::LANES..])];
            let is_clean = self.put_next(block, look, rest, false);
            *rest = &rest[I::LANES..];
            clean = if is_clean { clean + 1 } else { 0 };
            if is_clean && clean == 2 {
                return true;
            }
        }
        false
    }

    /// Writes the whole `block` at the start of `rest`, whose members of the set have been looked up. Returns whether nothing was escaped,
    /// or `false` if `dense`. See [`State::put`].
    #[cfg_attr(optimized, inline(always))]
    fn put_next(&mut self, block: I::Block, look: I::Look, rest: &[u8], dense: bool) -> bool {
        let members = self.isa.found(look);
        let escape = !members.mask() & Lanes::<I>::ALL.mask();
        self.bounds.settle(rest.len(), self.sink.address(), escape, 0);
        self.put::<true>(block, rest, members, escape, Lanes::ALL, dense)
    }

    /// Loads the block at the start of `rest` and looks up its members of the set.
    #[cfg_attr(optimized, inline(always))]
    fn look_at(&self, rest: &[u8]) -> (I::Block, I::Look) {
        let block = self.isa.load(rest);
        (block, self.isa.look(block, &self.class))
    }

    /// Writes the `M` whole blocks at the start of `rest` and returns `true` if no lane has to be escaped. This check needs no masks, unlike
    /// [`State::take`].
    #[cfg_attr(optimized, inline(always))]
    fn pass<const M: usize>(&mut self, blocks: [I::Block; M], rest: &[u8]) -> bool {
        if self.sink.spare() < M * I::LANES {
            return false;
        }
        let clean = self.isa.all_members(blocks, &self.class);
        if clean {
            self.bounds.pass::<M>(rest.len(), self.sink.address());
            self.sink.store_whole(self.isa, blocks);
        }
        clean
    }

    /// Returns the members of the set in `block`, which is at the start of `rest`, and which of the first `lanes` lanes have to be
    /// escaped. With `check`, a block without `%` is not searched for escapes, which is faster if that is predictable.
    #[cfg_attr(optimized, inline(always))]
    fn lanes_to_escape<const MANY: bool>(
        &mut self,
        block: I::Block,
        rest: &[u8],
        lanes: Lanes<I>,
        check: bool,
    ) -> (I::Members, u64) {
        let isa = self.isa;
        let members =
            if MANY { isa.found(isa.look(block, &self.class)) } else { isa.member(block, &self.class) };
        let mut escape = !members.mask();
        if !DEFAULT && self.keep_escapes {
            let percent = isa.eq(block, b'%');
            if !check || percent | self.carry != 0 {
                let cut = self.bounds.cut(rest.len(), lanes.padding());
                let valid = isa.escapes(block, rest).valid & lanes.mask() & !cut;
                let digits = digits_of(valid, lanes, &mut self.carry);
                escape = (escape | percent) & !(valid | digits);
            }
        }
        (members, escape & lanes.mask())
    }

    /// Writes the first `lanes` lanes of `block`, which is at the start of `rest`. Returns whether nothing was escaped. With
    /// `MANY`, the input has many blocks, so it is worth the time to prepare the set and to check whether every lane of a
    /// block is escaped.
    #[cfg_attr(optimized, inline(always))]
    fn take<const MANY: bool>(
        &mut self,
        mut block: I::Block,
        rest: &[u8],
        lanes: Lanes<I>,
        check: bool,
    ) -> bool {
        let isa = self.isa;
        let (members, escape) = self.lanes_to_escape::<MANY>(block, rest, lanes, check);
        self.bounds.settle(rest.len(), self.sink.address(), escape, lanes.padding());
        if !DEFAULT && !self.keep_escapes {
            self.sink.changed(isa.eq(block, b' ') != 0);
            block = isa.replace(block, b' ', b'+');
        }
        self.put::<MANY>(block, rest, members, escape, lanes, false)
    }

    /// Writes the first `lanes` lanes of `block`, with those in `escape` as escapes. Returns whether `escape` is empty. With `dense`,
    /// the caller expects escapes: then this does not check for an empty `escape`, and returns `false`.
    #[cfg_attr(optimized, inline(always))]
    fn put<const MANY: bool>(
        &mut self,
        block: I::Block,
        rest: &[u8],
        members: I::Members,
        escape: u64,
        lanes: Lanes<I>,
        dense: bool,
    ) -> bool {
        let isa = self.isa;
        // A block without escapes and one that is escaped whole are rare here, so one branch covers both. On AVX2 that branch takes
        // more instructions than it saves.
        if !dense && (const { I::TWO_BLOCKS && !I::LOOKS_AHEAD } || escape.wrapping_add(1) < 2) {
            if escape == 0 {
                self.sink.store(isa, block, lanes);
                return true;
            }
            if MANY && I::EXPANDS_ALL && escape == u64::MAX {
                self.sink.changed(true);
                self.sink.expand_all(isa, block, rest, self.spelling);
                return false;
            }
        }
        self.sink.changed(true);
        let spelling = if MANY { self.spelling } else { isa.spelling(self.case) };
        if DEFAULT {
            self.sink.expand_non_members(isa, block, rest, members, lanes, spelling);
        } else {
            self.sink.expand(isa, block, rest, escape, lanes, spelling);
        }
        false
    }
}
