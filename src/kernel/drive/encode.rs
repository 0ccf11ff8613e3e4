//! Encoding, block by block.
//!
//! ```text
//! for each block:
//!     escape  = lanes that are not members of the set
//!     keeping escapes:  the lanes of a valid escape stay; every other `%` is escaped
//!     form:             a space is a member, and is replaced by `+`
//!     nothing to escape (the block is clean):  store the block whole
//!     else:               expand: each lane to escape becomes three bytes
//! ```
//!
//! If an escape crosses the end of a block, two bits of carry tell the next block which lanes are its digits. The stride is
//! always a whole block, so no load waits for the masks of the block before it (lab: ladders).
//!
//! A *tier* is the code for one instruction set. Its *ladder*, a function, chooses a *step* by the input length:
//! [`OneBlock`], [`TwoBlocks`], [`FewBlocks`] or [`AnyLength`]. Each step but `FewBlocks` is written for all modes
//! ([`Mode`]). "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

use core::marker::PhantomData;

use super::bounds::{self, Bounds, Single};
use super::{EncodeStep, Isa, Lanes, Members, Mode, Plain, Tier, digits_of, load};
use crate::kernel::cursor::{Cursor, MAX_WINDOW, OutputSpan, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{EncodeJob, EncodeRule, Measure};

/// The step for at most one block. It uses narrow blocks where the tier has them.
pub(crate) struct OneBlock<M>(PhantomData<M>);

impl<M: Mode> EncodeStep for OneBlock<M> {
    #[cfg_attr(optimized, inline(always))]
    fn encode<'c, T: Tier>(tier: T, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
        let encoded = if T::is_narrow(input.len()) {
            one_block::<_, M>(tier.narrow(), job, input, out)
        } else {
            one_block::<_, M>(tier.wide(), job, input, out)
        };
        match encoded {
            Some(encoded) => encoded,
            None => tier.encode_by::<AnyLength<M>>(job, input, out),
        }
    }
}

/// The step for more than one block and at most two.
#[allow(dead_code, reason = "on some architectures no tier uses it")]
pub(crate) struct TwoBlocks<M>(PhantomData<M>);

impl<M: Mode> EncodeStep for TwoBlocks<M> {
    #[cfg_attr(optimized, inline(always))]
    fn encode<'c, T: Tier>(tier: T, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
        match two_blocks::<_, M>(tier.wide(), job, input, out) {
            Some(encoded) => encoded,
            None => tier.encode_by::<AnyLength<M>>(job, input, out),
        }
    }
}

/// The step for a few blocks in the default mode. It encodes block by block, without the loops for clean text.
#[allow(dead_code, reason = "on some architectures no tier uses it")]
pub(crate) struct FewBlocks;

impl EncodeStep for FewBlocks {
    #[cfg_attr(optimized, inline(always))]
    fn encode<'c, T: Tier>(tier: T, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
        match few_blocks(tier.wide(), job, input, out) {
            Some(encoded) => encoded,
            None => tier.encode_by::<AnyLength<Plain>>(job, input, out),
        }
    }
}

/// The step for inputs of any length: a loop over wide blocks.
pub(crate) struct AnyLength<M>(PhantomData<M>);

impl<M: Mode> EncodeStep for AnyLength<M> {
    #[cfg_attr(optimized, inline(always))]
    fn encode<'c, T: Tier>(tier: T, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
        if const { M::IS_PLAIN } {
            State::<_, _, true>::new(tier.wide(), job, Single, out).run(input)
        } else {
            State::<_, _, false>::new(tier.wide(), job, Single, out).run(input)
        }
    }
}

/// Encodes a batch of adjacent values as if they were one. If the mode keeps escapes, the ends of the values must be marked.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn values<'c, T: Tier>(
    tier: T,
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: OutputSpan<'c>,
) -> Written<'c> {
    let bounds = bounds::follow::<T::Wide>(ends, out);
    if job.is_plain() {
        State::<_, _, true>::new(tier.wide(), job, bounds, out).run(input)
    } else {
        State::<_, _, false>::new(tier.wide(), job, bounds, out).run(input)
    }
}

/// Encodes an input of at most one block. Returns `None` if the input is longer, or if `out` might have too little capacity.
#[cfg_attr(optimized, inline(always))]
fn one_block<'c, I: Isa, M: Mode>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Option<Written<'c>> {
    let lanes = Lanes::of_short(input)?;
    if out.len() < I::WINDOW {
        return None;
    }
    let (class, spelling, mut out) = (isa.class(&job.set), isa.spelling(job.case), Cursor::new(out));
    if M::IS_PLAIN
        && let Some(members) = isa.members_of_short(input, &class)
    {
        // Most inputs stay as they are, and are copied without building a block.
        if !members.mask() & lanes.mask() == 0 {
            out.push_run(input);
        } else {
            isa.expand(isa.load(input), input, members, lanes, spelling, &mut out);
        }
        return Some(out.finish());
    }
    let block = Checked::new::<M>(isa, job, &class, input, lanes, &mut 0);
    if block.stays(lanes) {
        isa.store(block.text, lanes, &mut out);
    } else {
        block.expand::<M>(isa, input, lanes, spelling, &mut out);
    }
    Some(out.finish())
}

/// A block of a short input, and the lanes that are written unchanged.
struct Checked<I: Isa> {
    /// The block. In form mode, it has `+` in place of spaces.
    text: I::Block,
    members: I::Members,
}

impl<I: Isa> Checked<I> {
    /// Checks the block at the start of `rest`. `carry` is that of [`digits_of`].
    #[cfg_attr(optimized, inline(always))]
    fn new<M: Mode>(
        isa: I,
        job: &EncodeJob,
        class: &I::Class,
        rest: &[u8],
        lanes: Lanes<I>,
        carry: &mut u64,
    ) -> Self {
        let block = isa.load(rest);
        let members = isa.find_members(block, class);
        if M::IS_PLAIN {
            Checked { text: block, members }
        } else if job.rule == EncodeRule::KeepEscapes {
            let members = with_escapes(isa, block, members, rest, lanes, 0, carry);
            Checked { text: block, members }
        } else {
            Checked { text: isa.replace(block, b' ', b'+'), members }
        }
    }

    /// Reports whether all of `lanes` are written as they are.
    #[cfg_attr(optimized, inline(always))]
    fn stays(&self, lanes: Lanes<I>) -> bool {
        !self.members.mask() & lanes.mask() == 0
    }

    /// Writes the first `lanes` lanes. The block is at the start of `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn expand<M: Mode>(
        self,
        isa: I,
        rest: &[u8],
        lanes: Lanes<I>,
        spelling: I::Spelling,
        out: &mut Cursor<'_>,
    ) {
        if M::IS_PLAIN {
            isa.expand(self.text, rest, self.members, lanes, spelling, out);
        } else {
            isa.expand(self.text, &isa.bytes(self.text), self.members, lanes, spelling, out);
        }
    }
}

/// Returns `members` with the lanes of valid escapes, and without any other `%`. The block is at the start of `rest`. No
/// escape starts in the lanes of `cut`. `carry` is that of [`digits_of`].
#[cfg_attr(optimized, inline(always))]
fn with_escapes<I: Isa>(
    isa: I,
    block: I::Block,
    members: I::Members,
    rest: &[u8],
    lanes: Lanes<I>,
    cut: u64,
    carry: &mut u64,
) -> I::Members {
    let found = isa.find(block, rest);
    let mut valid = found.percent;
    if isa.any_wrong([&found]) {
        // `black_box` keeps the compiler from doing the correction before the branch (lab: kernels).
        core::hint::black_box(());
        valid &= !isa.correct(&found).0;
    }
    valid &= lanes.mask() & !cut;
    let digits = digits_of(valid, lanes, carry);
    isa.members_from_mask(members.mask() & !found.percent | valid | digits)
}

/// Copies an input of more than one and at most two blocks if it fits and surely stays unchanged. Otherwise returns
/// `None`.
#[cfg_attr(optimized, inline(always))]
#[allow(dead_code, reason = "on some architectures no tier uses it")]
pub(crate) fn copy_two_blocks<'c, T: Tier>(
    tier: T,
    job: &EncodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Option<Written<'c>> {
    let isa = tier.wide();
    let (_, last) = Lanes::<T::Wide>::of_two(input)?;
    let mut out = Cursor::new(out);
    let clean = isa.all_members([isa.load(input), isa.load(last)], &isa.class(&job.set));
    (clean && out.push_ends(input)).then(|| out.finish())
}

/// Encodes an input of more than one block and at most two. If either block has a lane to escape, both are expanded,
/// because it is unpredictable which block has one (lab: ladders). Returns `None` for other inputs, or if `out` might
/// have too little capacity.
#[cfg_attr(optimized, inline(always))]
#[allow(dead_code, reason = "on some architectures no tier uses it")]
fn two_blocks<'c, I: Isa, M: Mode>(
    isa: I,
    job: &EncodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Option<Written<'c>> {
    let (lanes, last) = Lanes::<I>::of_two(input)?;
    if out.len() < MAX_WINDOW {
        return None;
    }
    let (class, spelling, mut carry) = (isa.class(&job.set), isa.spelling(job.case), 0);
    let first_block = Checked::new::<M>(isa, job, &class, input, lanes, &mut carry);
    let last_block = Checked::new::<M>(isa, job, &class, last, Lanes::ALL, &mut carry);
    let mut out = Cursor::new(out);
    if first_block.stays(lanes) && last_block.stays(Lanes::ALL) {
        isa.store(first_block.text, lanes, &mut out);
        isa.store(last_block.text, Lanes::ALL, &mut out);
        return Some(out.finish());
    }
    first_block.expand::<M>(isa, input, lanes, spelling, &mut out);
    if out.spare() < MAX_WINDOW {
        return None;
    }
    last_block.expand::<M>(isa, last, Lanes::ALL, spelling, &mut out);
    Some(out.finish())
}

/// Encodes an input of at least one block in the default mode, block by block, without the loops for clean text. Returns
/// `None` for a shorter input, or if `out` might have too little capacity.
#[cfg_attr(optimized, inline(always))]
#[allow(dead_code, reason = "on some architectures no tier uses it")]
fn few_blocks<'c, I: Isa>(isa: I, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Option<Written<'c>> {
    let (mut rest, mut lanes) = (input, Lanes::of_first_block(input));
    if rest.len() < I::LANES {
        return None;
    }
    let mut state = State::<I, _, true>::new(isa, job, Single, out);
    let mut block = isa.load(rest);
    loop {
        if state.out.spare() < MAX_WINDOW {
            return None;
        }
        // The next block is loaded before this block is stored. A load waits for an older store if the lower twelve bits of
        // their addresses are equal (lab: doors).
        let following = &rest[lanes.count()..];
        let next = if following.len() >= I::LANES { Some(isa.load(following)) } else { None };
        state.encode_block(block, rest, lanes);
        match next {
            Some(next) => (rest, lanes, block) = (following, Lanes::ALL, next),
            None => return Some(state.out.finish()),
        }
    }
}

/// Measures an encoding. A short input in the default mode needs no call of a separate function.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn measure<T: Tier>(tier: T, job: &EncodeJob, input: &[u8]) -> Measure {
    let measured = if !job.is_plain() {
        None
    } else if T::is_narrow(input.len()) {
        measure_one_block(tier.narrow(), job, input)
    } else {
        measure_one_block(tier.wide(), job, input)
    };
    match measured {
        Some(measure) => measure,
        None => tier.measure_encoding(job, input),
    }
}

/// Measures the encoding of at most one block in the default mode. Returns `None` if the input is longer.
#[cfg_attr(optimized, inline(always))]
fn measure_one_block<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Option<Measure> {
    let (lanes, class) = (Lanes::<I>::of_short(input)?, isa.class(&job.set));
    let members = match isa.members_of_short(input, &class) {
        Some(members) => members,
        None => isa.find_members(isa.load(input), &class),
    };
    let escaped = (!members.mask() & lanes.mask()).count_ones() as usize;
    Some(Measure { len: input.len() + 2 * escaped, changed: escaped > 0 })
}

/// Measures the encoding of an input of any length in any mode. Only the last block may be short.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn measure_any_length<I: Isa>(isa: I, job: &EncodeJob, input: &[u8]) -> Measure {
    let class = isa.class(&job.set);
    let (mut rest, mut escaped, mut carry, mut changed) = (input, 0, 0, false);
    while job.is_plain() && rest.len() >= I::TOGETHER * I::LANES {
        escaped += if const { I::TOGETHER == 4 } {
            escapes_in::<I, 4>(isa, &class, rest)
        } else {
            escapes_in::<I, 2>(isa, &class, rest)
        };
        rest = &rest[I::TOGETHER * I::LANES..];
    }
    while !rest.is_empty() {
        let (block, lanes) = (isa.load(rest), Lanes::<I>::of_start(rest.len()));
        let mut members = isa.members_in(isa.look_up_set(block, &class));
        match job.rule {
            EncodeRule::Plain => {}
            EncodeRule::Form => changed |= isa.eq(block, b' ') != 0,
            EncodeRule::KeepEscapes => {
                members = with_escapes(isa, block, members, rest, lanes, 0, &mut carry);
            }
        }
        escaped += (!members.mask() & lanes.mask()).count_ones() as usize;
        rest = &rest[lanes.count()..];
    }
    let len = input.len().saturating_add(escaped.saturating_mul(2));
    Measure { len, changed: changed || escaped > 0 }
}

/// Returns the number of bytes to escape in the `M` whole blocks at the start of `rest`.
#[cfg_attr(optimized, inline(always))]
fn escapes_in<I: Isa, const M: usize>(isa: I, class: &I::Class, rest: &[u8]) -> usize {
    if isa.all_members(load::<I, M>(isa, rest), class) {
        return 0;
    }
    // Without `black_box`, the compiler keeps the blocks in registers, and SSSE3 has too few (lab: ladders).
    let (rest, mut escaped) = (core::hint::black_box(rest), 0);
    for i in 0..M {
        let members = isa.members_in(isa.look_up_set(isa.load(&rest[i * I::LANES..]), class));
        escaped += (!members.mask() & Lanes::<I>::ALL.mask()).count_ones() as usize;
    }
    escaped
}

/// The least length of input for which [`State::copy_start`] aligns the output. For a kilobyte, the additional block takes longer
/// than the alignment saves (lab: normal-text).
const LEAST_ALIGNED: usize = 4096;

/// The state of an encoding between blocks. The methods are not closures, because intrinsics in a closure are not inlined (lab: inlining).
struct State<'c, I: Isa, B, const DEFAULT: bool> {
    isa: I,
    class: I::Class,
    spelling: I::Spelling,
    /// Whether valid escapes stay. If not, the mode is the default mode (`DEFAULT`), or form mode, which turns a space
    /// into `+`.
    keep_escapes: bool,
    /// The lanes of the next block that are digits of escapes in this block.
    carry: u64,
    bounds: B,
    out: Cursor<'c>,
}

impl<'c, I: Isa, B: Bounds, const DEFAULT: bool> State<'c, I, B, DEFAULT> {
    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, job: &EncodeJob, bounds: B, out: OutputSpan<'c>) -> Self {
        State {
            isa,
            class: isa.class(&job.set),
            spelling: isa.spelling(job.case),
            keep_escapes: !DEFAULT && job.rule == EncodeRule::KeepEscapes,
            carry: 0,
            bounds,
            out: Cursor::new(out),
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn run(mut self, input: &[u8]) -> Written<'c> {
        let mut rest =
            if const { DEFAULT && !B::MANY && I::LOOKS_AHEAD } { self.copy_start(input) } else { input };
        let mut lanes = Lanes::of_first_block(rest);
        while !rest.is_empty() {
            // This encodes the first block, and those for which the loops below have too little input or capacity.
            self.encode_block(self.isa.load(rest), rest, lanes);
            (rest, lanes) = (&rest[lanes.count()..], Lanes::ALL);
            if !DEFAULT {
                // For batches of values, this loop is omitted, because its code would make the library larger.
                if !B::MANY {
                    self.one_by_one(&mut rest);
                }
                continue;
            }
            if const { I::TOGETHER == 4 } {
                self.whole_blocks::<4>(&mut rest);
            } else {
                self.whole_blocks::<2>(&mut rest);
            }
        }
        self.out.finish()
    }

    /// Copies the blocks at the start of `input` in which nothing is escaped, and returns the rest. These loops need none of
    /// the constants that the compiler loads before the others (lab: clean-starts).
    #[cfg_attr(optimized, inline(always))]
    fn copy_start<'i>(&mut self, input: &'i [u8]) -> &'i [u8] {
        let (isa, mut rest) = (self.isa, input);
        // Text with many escapes usually has one in the first block, and should not wait for the check of four.
        if !isa.all_members([isa.load(input)], &self.class) {
            return input;
        }
        if rest.len() >= LEAST_ALIGNED {
            // After this, no store of a block crosses the end of a cache line, which would take longer (lab: avx512).
            let lead = Lanes::<I>::of_start(I::LANES - self.out.address() % I::LANES);
            isa.store(isa.load(rest), lead, &mut self.out);
            rest = &rest[lead.count()..];
        }
        while rest.len() >= 4 * I::LANES && self.copy_clean::<4>(rest) {
            rest = &rest[4 * I::LANES..];
        }
        while !rest.is_empty() {
            let (block, lanes) = (isa.load(rest), Lanes::<I>::of_start(rest.len()));
            if !isa.find_members(block, &self.class).mask() & lanes.mask() != 0 {
                break;
            }
            isa.store(block, lanes, &mut self.out);
            rest = &rest[lanes.count()..];
        }
        rest
    }

    /// Writes whole blocks from the start of `rest` while there are enough of them and the output has capacity. At the start
    /// and after two clean blocks, one check covers `M` blocks.
    #[cfg_attr(optimized, inline(always))]
    fn whole_blocks<const M: usize>(&mut self, rest: &mut &[u8]) {
        loop {
            while rest.len() >= M * I::LANES && self.copy_clean::<M>(rest) {
                *rest = &rest[M * I::LANES..];
            }
            let two_clean =
                if const { I::LOOKS_AHEAD } { self.look_ahead(rest, M) } else { self.one_by_one(rest) };
            if !two_clean {
                return;
            }
        }
    }

    /// Writes the `M` whole blocks at the start of `rest` and returns `true` if they fit and surely no lane has to be escaped.
    /// This check needs no masks, unlike [`State::encode_block`].
    #[cfg_attr(optimized, inline(always))]
    fn copy_clean<const M: usize>(&mut self, rest: &[u8]) -> bool {
        // All blocks are loaded before the first store; `few_blocks` explains why.
        let blocks = load::<I, M>(self.isa, rest);
        let clean = self.out.spare() >= M * I::LANES && self.isa.all_members(blocks, &self.class);
        if clean {
            self.bounds.record_clean::<M>(rest.len(), self.out.address());
            self.isa.store_all(blocks, Lanes::ALL, &mut self.out);
        }
        clean
    }

    /// Writes whole blocks one by one, and returns `true` after two clean ones. Returns `false` if `rest` has no more
    /// whole blocks, or if the output has too little capacity.
    #[cfg_attr(optimized, inline(always))]
    fn one_by_one(&mut self, rest: &mut &[u8]) -> bool {
        let mut clean = 0;
        while rest.len() >= I::LANES && self.out.has_window() {
            clean = if self.encode_block(self.isa.load(rest), rest, Lanes::ALL) { clean + 1 } else { 0 };
            *rest = &rest[I::LANES..];
            if clean == 2 {
                return true;
            }
        }
        false
    }

    /// Writes whole blocks like [`State::one_by_one`], but looks up the members of the set two blocks ahead. The caller
    /// has just checked the first `together` blocks, if there are as many, and not all are clean. So `clean` starts so low
    /// that the clean blocks before the first escape do not end the loop.
    #[cfg_attr(optimized, inline(always))]
    fn look_ahead(&mut self, rest: &mut &[u8], together: usize) -> bool {
        if rest.len() < 3 * I::LANES {
            return false;
        }
        let mut clean = 2 - together as isize;
        let mut ahead = [self.look_up_at(rest), self.look_up_at(&rest[I::LANES..])];
        while rest.len() >= 3 * I::LANES && self.out.spare() >= MAX_WINDOW {
            let [(block, look), next] = ahead;
            ahead = [next, self.look_up_at(&rest[2 * I::LANES..])];
            let members = self.isa.members_in(look);
            self.record_block(rest, members, Lanes::ALL);
            let is_clean = self.write_block(block, rest, members, Lanes::ALL);
            *rest = &rest[I::LANES..];
            clean = if is_clean { clean + 1 } else { 0 };
            if clean == 2 {
                return true;
            }
        }
        false
    }

    /// Loads the block at the start of `rest` and looks up its members of the set.
    #[cfg_attr(optimized, inline(always))]
    fn look_up_at(&self, rest: &[u8]) -> (I::Block, I::SetLookup) {
        let block = self.isa.load(rest);
        (block, self.isa.look_up_set(block, &self.class))
    }

    /// Writes the first `lanes` lanes of `block`, which is at the start of `rest`. Returns whether nothing was escaped.
    #[cfg_attr(optimized, inline(always))]
    fn encode_block(&mut self, mut block: I::Block, rest: &[u8], lanes: Lanes<I>) -> bool {
        let isa = self.isa;
        let mut members = isa.find_members(block, &self.class);
        if !DEFAULT && self.keep_escapes && isa.eq(block, b'%') | self.carry != 0 {
            let cut = self.bounds.cut(rest.len(), lanes.padding());
            members = with_escapes(isa, block, members, rest, lanes, cut, &mut self.carry);
        }
        self.record_block(rest, members, lanes);
        // All modes share one call of `write_block`, because its code is long.
        let replaced;
        let mut text = rest;
        if !DEFAULT && !self.keep_escapes {
            block = isa.replace(block, b' ', b'+');
            replaced = isa.bytes(block);
            text = &replaced;
        }
        self.write_block(block, text, members, lanes)
    }

    /// Records the lanes of the block at the start of `rest` that become escapes.
    #[cfg_attr(optimized, inline(always))]
    fn record_block(&mut self, rest: &[u8], members: I::Members, lanes: Lanes<I>) {
        let escape = !members.mask() & lanes.mask();
        self.bounds.record_block(rest.len(), self.out.address(), escape, lanes.padding());
    }

    /// Writes the first `lanes` lanes of `block`, which is at the start of `rest`, with those that are not in `members` as escapes.
    /// Returns whether no lane was escaped.
    #[cfg_attr(optimized, inline(always))]
    fn write_block(&mut self, block: I::Block, rest: &[u8], members: I::Members, lanes: Lanes<I>) -> bool {
        let escape = !members.mask() & lanes.mask();
        // A block without escapes and one that is escaped whole are rare in text with escapes, so one branch covers both (lab: kernels).
        if escape.wrapping_add(1) < 2 {
            if escape == 0 {
                self.isa.store(block, lanes, &mut self.out);
                return true;
            }
            if const { I::EXPANDS_ALL } && escape == u64::MAX {
                self.isa.expand_all(block, rest, self.spelling, &mut self.out);
                return false;
            }
        }
        self.isa.expand(block, rest, members, lanes, self.spelling, &mut self.out);
        false
    }
}
