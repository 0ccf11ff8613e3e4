//! Decoding and normalizing, block by block.
//!
//! ```text
//! for each block:
//!     percent = lanes that are `%`
//!     no `%` (the block is clean), and no digits carried from the block before:  store the block whole
//!     valid   = `%` followed by two hexadecimal digits; strict: any other `%` is an error
//!     values  = in each lane, the byte that the next two lanes spell
//!     decoded = valid lanes whose value is not in the set that stays
//!     compress: decoded lanes become their values, the two lanes after each are dropped
//!     normalizing: the digits of valid lanes that stay are written in upper case
//! ```
//!
//! If an escape crosses the end of a block, two bits of carry tell the next block which digits to drop. The stride is always a
//! whole block, so no load waits for the masks of the block before it (lab: ladders).
//!
//! A *tier* is the code for one instruction set. Its *ladder*, a function, chooses a *step* by the input length:
//! [`OneBlock`], [`FewBlocks`] or [`AnyLength`]. Each step works in all modes ([`Mode`]). "lab: NAME" names the page
//! docs/lab/DATE-NAME.md, which has the measurements.

use core::marker::PhantomData;

use super::bounds::{self, Bounds, MarkedEscapes, Single};
use super::{DecodeStep, Found, Isa, Lanes, Mode, Tier, digits_of, load};
use crate::hex;
use crate::kernel::cursor::{self, Cursor, OutputSpan, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, Marks, Measure, Measured, Outcome};

/// The step for at most one block. It uses narrow blocks where the tier has them.
pub(crate) struct OneBlock<M>(PhantomData<M>);

impl<M: Mode> DecodeStep for OneBlock<M> {
    #[cfg_attr(optimized, inline(always))]
    fn decode<'c, T: Tier>(tier: T, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
        let decoded = if T::is_narrow(input.len()) {
            few_blocks::<_, 1, M>(tier.narrow(), job, input, out)
        } else {
            few_blocks::<_, 1, M>(tier.wide(), job, input, out)
        };
        match decoded {
            Some(decoded) => decoded,
            None => tier.decode_by::<AnyLength<M::Base>>(job, input, out),
        }
    }
}

/// The step for more than `N - 1` blocks and at most `N`.
#[allow(dead_code, reason = "on some architectures no tier uses it")]
pub(crate) struct FewBlocks<const N: usize, M>(PhantomData<M>);

impl<const N: usize, M: Mode> DecodeStep for FewBlocks<N, M> {
    #[cfg_attr(optimized, inline(always))]
    fn decode<'c, T: Tier>(tier: T, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
        match few_blocks::<_, N, M>(tier.wide(), job, input, out) {
            Some(decoded) => decoded,
            None => tier.decode_by::<AnyLength<M::Base>>(job, input, out),
        }
    }
}

/// The step for inputs of any length: a loop over wide blocks.
pub(crate) struct AnyLength<M>(PhantomData<M>);

impl<M: Mode> DecodeStep for AnyLength<M> {
    #[cfg_attr(optimized, inline(always))]
    fn decode<'c, T: Tier>(tier: T, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
        if const { !M::IS_PLAIN } {
            let whole = Whole { job, input };
            outcome(input, State::<_, _, true>::new(tier.wide(), job, Some(&whole), Single, out).run(input))
        } else {
            outcome(input, State::<_, _, false>::new(tier.wide(), job, None, Single, out).run(input))
        }
    }
}

/// Decodes a batch of adjacent values. In the default mode, values with unmarked ends are decoded as if they were one.
///
/// An escape may then cross the end of a value that ends in `%`, or in `%` and a digit, if the next value starts with a digit.
/// [`bounds::place_ends`] reports this, and the caller then marks the ends and tries again. No escape crosses a marked end.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn values<'c, T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: OutputSpan<'c>,
) -> Decoded<'c> {
    let (isa, is_plain) = (tier.wide(), job.is_plain() && !ends.are_marked());
    let (bounds, whole) = (bounds::follow::<T::Wide>(ends, out), Whole { job, input });
    if is_plain {
        decoded(input, State::<_, _, false>::new(isa, job, None, bounds, out).run(input))
    } else {
        decoded(input, State::<_, _, true>::new(isa, job, Some(&whole), bounds, out).run(input))
    }
}

/// Decodes the escapes in `input` whose first bytes have their bits set in `marks`, in any mode.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn marked<'c, T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    marks: Marks<'_>,
    out: OutputSpan<'c>,
) -> Decoded<'c> {
    let (bounds, whole) = (MarkedEscapes::new(marks, input.len()), Whole { job, input });
    decoded(input, State::<_, _, true>::new(tier.wide(), job, Some(&whole), bounds, out).run(input))
}

/// Copies `input` up to the first byte that is `%`, or `+` if `plus`, and maybe more. Returns the offset of that byte, or the length of the
/// input if there is none.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn copy_clean<'c, T: Tier>(tier: T, plus: bool, input: &[u8], out: OutputSpan<'c>) -> Decoded<'c> {
    if const { T::Wide::TOGETHER == 4 } {
        copy_blocks::<_, 4>(tier.wide(), plus, input, out)
    } else {
        copy_blocks::<_, 2>(tier.wide(), plus, input, out)
    }
}

/// Does the work of [`copy_clean`], `M` blocks at a time.
#[cfg_attr(optimized, inline(always))]
fn copy_blocks<'c, I: Isa, const M: usize>(
    isa: I,
    plus: bool,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Decoded<'c> {
    let mut out = Cursor::new(out);
    let rest = copy_while_clean::<_, M>(isa, plus, input, &mut out);
    let stopped = if rest.len() >= M * I::LANES && out.spare() >= M * I::LANES {
        isa.store_all(load::<I, M>(isa, rest), Lanes::ALL, &mut out);
        first_found::<I, M>(isa, plus, rest)
    } else if !rest.is_empty() {
        isa.store(isa.load(rest), Lanes::<I>::of_start(rest.len()), &mut out);
        first_found::<I, 1>(isa, plus, rest)
    } else {
        0
    };
    Decoded { written: out.finish(), stopped: input.len() - rest.len() + stopped }
}

/// Copies blocks from the start of `input`, `M` at a time where so many fit, and returns the rest of the input, which is empty
/// or has a byte that decoding may change in its first `M` blocks.
#[cfg_attr(optimized, inline(always))]
fn copy_while_clean<'i, I: Isa, const M: usize>(
    isa: I,
    plus: bool,
    input: &'i [u8],
    out: &mut Cursor<'_>,
) -> &'i [u8] {
    let mut rest = input;
    while !rest.is_empty() {
        if rest.len() >= M * I::LANES && out.spare() >= M * I::LANES {
            let blocks = load::<I, M>(isa, rest);
            if !is_clean(isa, plus, blocks) {
                break;
            }
            isa.store_all(blocks, Lanes::ALL, out);
            rest = &rest[M * I::LANES..];
        } else {
            let (block, lanes) = (isa.load(rest), Lanes::<I>::of_start(rest.len()));
            if !is_clean(isa, plus, [block]) {
                break;
            }
            isa.store(block, lanes, out);
            rest = &rest[lanes.count()..];
        }
    }
    rest
}

/// Reports whether decoding surely changes no byte of `blocks`.
#[cfg_attr(optimized, inline(always))]
fn is_clean<I: Isa, const M: usize>(isa: I, plus: bool, blocks: [I::Block; M]) -> bool {
    isa.none_equal(blocks, b'%') && (!plus || isa.none_equal(blocks, b'+'))
}

/// Returns the offset of the first byte that decoding may change in the `M` blocks at the start of `rest`. There must be one.
#[cfg_attr(optimized, inline(always))]
fn first_found<I: Isa, const M: usize>(isa: I, plus: bool, rest: &[u8]) -> usize {
    // Without `black_box`, the compiler takes the comparisons of `is_clean` apart bit by bit (lab: columns).
    let rest = core::hint::black_box(rest);
    let mut first = 0;
    for i in (0..M).rev() {
        let block = isa.load(&rest[i * I::LANES..]);
        let plus = if plus { isa.eq(block, b'+') } else { 0 };
        let found = isa.eq(block, b'%') | plus;
        let at = i * I::LANES + found.trailing_zeros() as usize;
        first = core::hint::select_unpredictable(found != 0, at, first);
    }
    first
}

/// The output of a decoding. If it ended early at an escape (a malformed one, or a marked one that stays), also the
/// input from the block of that escape on, and the lane of its `%`.
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

/// Measures the output of decoding.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn measure<T: Tier>(tier: T, job: &DecodeJob, input: &[u8]) -> Measured {
    if job.is_plain() {
        Measuring::<_, false>::run(tier.wide(), job, input)
    } else {
        Measuring::<_, true>::run(tier.wide(), job, input)
    }
}

/// The state of a measurement between blocks. All blocks but the last are whole. Only the two bytes after a `%`
/// determine whether it starts an escape. So no block waits for the block before it (lab: kernels). Unless `KEEP`, no
/// valid escape stays.
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
    fn run(isa: I, job: &'a DecodeJob, input: &'a [u8]) -> Measured {
        let class = isa.class(&job.set);
        let mut state = Self { isa, job, input, class, decoded: 0, changed: false, carry: 0 };
        let mut rest = input;
        while !rest.is_empty() {
            while rest.len() >= 4 * I::LANES && state.is_clean::<4>(rest) {
                rest = &rest[4 * I::LANES..];
            }
            // This measures the four blocks for which `is_clean` failed, or the last blocks.
            for _ in 0..rest.len().div_ceil(I::LANES).min(4) {
                if let Err(lane) = state.measure_block(rest) {
                    return state.measured(input.len() - rest.len() + lane);
                }
                rest = rest.get(I::LANES..).unwrap_or_default();
            }
        }
        state.measured(input.len())
    }

    #[cfg_attr(optimized, inline(always))]
    fn measured(self, stopped: usize) -> Measured {
        let measure = Measure { len: self.input.len() - 2 * self.decoded, changed: self.changed };
        Measured::new(measure, stopped)
    }

    /// Reports whether nothing changes in the `M` whole blocks at the start of `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn is_clean<const M: usize>(&self, rest: &[u8]) -> bool {
        // The value of `carry` is unpredictable, so it is tested last (lab: kernels).
        !(KEEP && self.job.plus())
            && self.isa.none_equal(load::<I, M>(self.isa, rest), b'%')
            && self.carry == 0
    }

    /// Measures the block at the start of `rest`, or returns the lane of a malformed escape that ends a strict decoding.
    #[cfg_attr(optimized, inline(always))]
    fn measure_block(&mut self, rest: &[u8]) -> Result<(), usize> {
        let (isa, job) = (self.isa, self.job);
        let block = isa.load(rest);
        if KEEP && job.plus() {
            self.changed |= isa.eq(block, b'+') != 0;
        }
        if isa.none_equal([block], b'%') && self.carry == 0 {
            return Ok(());
        }
        let found = isa.find(block, rest);
        let (wrong, _) = isa.correct(&found);
        if job.strict && wrong != 0 {
            return Err(wrong.trailing_zeros() as usize);
        }
        let (valid, mut decoded) = (found.percent & !wrong, found.percent & !wrong);
        if KEEP {
            (decoded, _) = isa.decode_some(block, &found, &self.class, !job.members_stay);
            if job.upper {
                // An escape may stay if a `%` is one or two bytes before it. That byte may be before the block.
                if decoded & (found.percent << 1 | found.percent << 2 | 3) != 0 {
                    let whole = Whole { job, input: self.input };
                    decoded &= !completing(isa, &whole, rest.len(), 0, block, &found, found.percent);
                }
                let digits = digits_of(valid, Lanes::<I>::ALL, &mut self.carry);
                self.changed |= digits & isa.lower(block) != 0;
            }
        }
        self.decoded += decoded.count_ones() as usize;
        self.changed |= decoded != 0;
        Ok(())
    }
}

/// Copies an input of at most two blocks if it fits and decoding surely changes nothing. Otherwise returns `None`.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn copy_short<'c, T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Option<Outcome<'c>> {
    if T::is_narrow(input.len()) {
        copy_one_or_two(tier.narrow(), job, input, out)
    } else {
        copy_one_or_two(tier.wide(), job, input, out)
    }
}

/// Does the work of [`copy_short`]. Returns `None` also for an input that [`Isa::load_ends`] does not load. Such an
/// input is so short that most methods have already searched it (lab: kernels).
#[cfg_attr(optimized, inline(always))]
fn copy_one_or_two<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Option<Outcome<'c>> {
    if input.len() > 2 * I::LANES {
        return None;
    }
    let stays = if let Some((_, last)) = Lanes::<I>::of_two(input) {
        is_clean(isa, job.plus(), [isa.load(input), isa.load(last)])
    } else {
        is_clean(isa, job.plus(), [isa.load_ends(input)?])
    };
    let mut out = Cursor::new(out);
    (stays && out.push_short(input)).then(|| Outcome::whole(out.finish(), input))
}

/// An input of `N` blocks. The first may be short.
#[derive(Clone, Copy)]
struct Loaded<'i, I: Isa, const N: usize> {
    /// The lanes of the first block that are not also in the second.
    lanes: Lanes<I>,
    /// The input from the start of each block on.
    rests: [&'i [u8]; N],
    blocks: [I::Block; N],
}

impl<'i, I: Isa, const N: usize> Loaded<'i, I, N> {
    /// Loads an input, with spaces in place of `+` if `plus`. Returns `None` if the input does not have `N` blocks, or if `out` might have
    /// too little capacity.
    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, plus: bool, input: &'i [u8], out: OutputSpan<'_>) -> Option<Self> {
        let lanes = if N == 1 { Lanes::<I>::of_short(input)? } else { Lanes::<I>::of_first_block(input) };
        // This is the width of the window of `compress_all`, so the compiler omits the check there (lab: kernels).
        let width = if N == 1 { I::LANES } else { lanes.count() + (N - 1) * I::LANES };
        if N > 1 && input.len().div_ceil(I::LANES) != N || out.len() < width {
            return None;
        }
        let (mut rests, mut blocks) = ([input; N], [isa.load(input); N]);
        for i in 1..N {
            rests[i] = input.get(input.len() - (N - i) * I::LANES..)?;
            blocks[i] = isa.load(rests[i]);
        }
        if plus {
            for i in 0..N {
                blocks[i] = isa.replace(blocks[i], b'+', b' ');
            }
        }
        Some(Loaded { lanes, rests, blocks })
    }

    /// Writes the blocks.
    #[cfg_attr(optimized, inline(always))]
    fn copy<'c>(&self, isa: I, mut out: Cursor<'c>) -> Written<'c> {
        isa.store(self.blocks[0], self.lanes, &mut out);
        for i in 1..N {
            isa.store(self.blocks[i], Lanes::ALL, &mut out);
        }
        out.finish()
    }
}

/// Returns the lanes of the valid escapes, the block with their values, and the lanes of each other `%`.
#[cfg_attr(optimized, inline(always))]
fn corrected<I: Isa>(isa: I, found: &Found<I::Block>) -> (u64, I::Block, u64) {
    if !isa.any_wrong([found]) {
        return (found.percent, found.decoded, 0);
    }
    // This keeps the compiler from doing the correction before the branch (lab: kernels).
    core::hint::black_box(());
    let (wrong, decoded) = isa.correct(found);
    (found.percent & !wrong, decoded, wrong)
}

/// Decodes an input of `N` blocks. The first may be short. One test covers all blocks, because it is unpredictable
/// which block has a `%` (lab: ladders).
///
/// Returns `None` if the input does not have `N` blocks, or if `out` might have too little capacity. Also returns
/// `None` if a malformed escape may be an error or be completed by a decoded digit, or, in modes other than the
/// default, if the input continues another input.
#[cfg_attr(optimized, inline(always))]
fn few_blocks<'c, I: Isa, const N: usize, M: Mode>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: OutputSpan<'c>,
) -> Option<Outcome<'c>> {
    let mut text = Loaded::<_, N>::new(isa, !M::IS_PLAIN && job.plus(), input, out)?;
    if !M::IS_PLAIN && job.before != [0; 2] {
        return None;
    }
    let mut out = Cursor::new(out);
    // Most inputs that the ladder did not copy have a `%`. In form mode, they may have only a `+`, so they are
    // searched.
    if (!M::NOT_COPIED || !M::IS_PLAIN && job.plus()) && isa.none_equal(text.blocks, b'%') {
        return Some(Outcome::whole(text.copy(isa, out), input));
    }
    // No byte follows a single block.
    let mut found = [isa.find(text.blocks[0], if N == 1 { &[] } else { input }); N];
    for i in 1..N {
        found[i] = isa.find(text.blocks[i], text.rests[i]);
    }
    if isa.any_wrong(found.each_ref()) {
        // In a normalization, a decoded digit may complete the malformed escape.
        if job.strict || !M::IS_PLAIN && job.upper {
            return None;
        }
        if M::IS_PLAIN {
            // This keeps the compiler from doing the correction before the branch (lab: kernels).
            core::hint::black_box(());
            for i in 0..N {
                let (wrong, decoded) = isa.correct(&found[i]);
                (found[i].percent, found[i].decoded) = (found[i].percent & !wrong, decoded);
            }
        }
    }
    let (class, mut decoded, mut drops) = (isa.class(&job.set), text.blocks, [0; N]);
    let (mut carry, mut carry_all, mut any_decoded) = (0, 0, 0);
    for i in 0..N {
        let lanes = if i == 0 { text.lanes } else { Lanes::ALL };
        let mut escapes = found[i].percent;
        if !M::IS_PLAIN {
            if job.upper {
                let digits = digits_of(escapes & lanes.mask(), lanes, &mut carry_all);
                text.blocks[i] = isa.upper(digits, text.blocks[i]);
            }
            (escapes, decoded[i]) = isa.decode_some(text.blocks[i], &found[i], &class, !job.members_stay);
        } else {
            decoded[i] = found[i].decoded;
        }
        drops[i] = digits_of(escapes & lanes.mask(), lanes, &mut carry);
        any_decoded |= escapes & lanes.mask();
    }
    // A normalization usually decodes no escape. In other modes, this is unpredictable, and on AVX-512, the tier whose
    // `TOGETHER` is 4, a compressing store takes less time than a mispredicted branch (lab: modes).
    if !M::IS_PLAIN && any_decoded == 0 && (job.upper || const { I::TOGETHER != 4 }) {
        return Some(Outcome::whole(text.copy(isa, out), input));
    }
    isa.compress_all(decoded, drops, text.lanes, &mut out);
    Some(Outcome::whole(out.finish(), input))
}

/// Decodes at most one block in place, in the default mode of a lenient decoder, and returns the length of the result.
/// Returns `None`, and changes nothing, if `bytes` is longer. The whole block is read before the first store.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn in_place<T: Tier>(tier: T, bytes: &mut [u8]) -> Option<usize> {
    let isa = tier.wide();
    let (lanes, block) = (Lanes::of_short(bytes)?, isa.load(bytes));
    if isa.none_equal([block], b'%') {
        return Some(bytes.len());
    }
    let (valid, decoded, _) = corrected(isa, &isa.find(block, &[]));
    let drop = digits_of(valid, lanes, &mut 0);
    Some(cursor::lend_slice(bytes, (isa, decoded, drop, lanes), |(isa, decoded, drop, lanes), room| {
        let mut out = Cursor::new(room);
        isa.compress(decoded, drop, lanes, &mut out);
        out.written()
    }))
}

/// The number of consecutive blocks with a `%` after which text counts as dense, and the least number of escapes in
/// four blocks of dense text.
const LEAST_DENSE: usize = 4;

/// The number of consecutive blocks with a `%` after which the loops for text with many kept escapes are tried.
const LEAST_KEPT: usize = 2;

/// The state of a decoding between blocks. Unless `KEEP`, no valid escape stays. The methods are not closures, because
/// intrinsics in a closure are not inlined (lab: inlining).
struct State<'a, 'c, I: Isa, B, const KEEP: bool> {
    isa: I,
    /// The job and the input, for [`completing`]. It is `Some` if `KEEP`, and is not used otherwise.
    whole: Option<&'a Whole<'a>>,
    class: I::Class,
    /// Whether a malformed escape is an error.
    strict: bool,
    members_stay: bool,
    upper: bool,
    /// Whether a `+` is a space. Always false unless `KEEP`.
    form: bool,
    /// Bit 1 is set if the last lane of the latest decoded block is one of the last two bytes of a value, bit 0 if the lane before it is.
    ended: u64,
    /// The lanes of the next block that are digits of decoded escapes in this block.
    carry: u64,
    /// The lanes of the next block that are digits of any escape in this block, decoded or not. Digits of escapes that stay are
    /// written in upper case.
    carry_all: u64,
    /// The lanes that were dropped from the latest block that was decoded alone.
    dropped: u64,
    /// The number of blocks with a `%` since the last block without one, or since the last [`State::dense_text`], or, if digits are
    /// written in upper case, since the last block from which lanes were dropped.
    streak: usize,
    /// Whether the loops for text with many escapes may be tried. [`State::dense_text`] is not called after a malformed escape, so
    /// that malformed text is not decoded twice. [`State::kept_escapes`] and [`State::normal_escapes`] leave malformed escapes and
    /// `+` as they are, so a strict decoder and a form do not call them.
    shortcuts: bool,
    bounds: B,
    out: Cursor<'c>,
}

impl<'a, 'c, I: Isa, B: Bounds, const KEEP: bool> State<'a, 'c, I, B, KEEP> {
    #[cfg_attr(optimized, inline(always))]
    fn new(isa: I, job: &DecodeJob, whole: Option<&'a Whole<'a>>, bounds: B, out: OutputSpan<'c>) -> Self {
        State {
            isa,
            whole,
            class: isa.class(&job.set),
            strict: job.strict && !B::MARKED,
            members_stay: job.members_stay,
            upper: job.upper,
            form: KEEP && !B::MARKED && job.plus(),
            ended: 0,
            carry: 0,
            carry_all: 0,
            dropped: 0,
            streak: 0,
            shortcuts: !KEEP || !job.plus() && !job.strict,
            bounds,
            out: Cursor::new(out),
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn run<'i>(mut self, input: &'i [u8]) -> Ended<'i, 'c> {
        let mut rest = input;
        // This loop needs none of the constants that the compiler loads before the others. Text with many escapes usually has
        // one in the first block, and should not wait for the check of more blocks (lab: clean-starts).
        if const { !KEEP && !B::MANY && I::DECODES_DENSE }
            && is_clean(self.isa, false, [self.isa.load(input)])
        {
            rest = if const { I::TOGETHER == 4 } {
                copy_while_clean::<_, 4>(self.isa, false, input, &mut self.out)
            } else {
                copy_while_clean::<_, 2>(self.isa, false, input, &mut self.out)
            };
        }
        match self.blocks(&mut rest) {
            Ok(()) => (self.out, None),
            Err(lane) => (self.out, Some((rest, lane))),
        }
    }

    /// Decodes all blocks of `rest`, and advances `rest`. The error is the lane of the escape that ends the decoding,
    /// in the block at the start of `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn blocks(&mut self, rest: &mut &[u8]) -> Result<(), usize> {
        while !rest.is_empty() {
            // This decodes the first block, and those for which the loops below have too little input or capacity.
            self.decode_next(rest, Lanes::of_first_block(rest))?;
            if !KEEP && const { I::TOGETHER == 4 } {
                self.four_blocks(rest)?;
            } else {
                self.single_blocks(rest)?;
            }
        }
        Ok(())
    }

    /// Does the work of [`State::decode_block`] for the block at the start of `rest`, and advances `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn decode_next(&mut self, rest: &mut &[u8], lanes: Lanes<I>) -> Result<bool, usize> {
        let changed = self.decode_block(self.isa.load(rest), rest, lanes, true)?;
        *rest = &rest[lanes.count()..];
        Ok(changed)
    }

    /// Decodes whole blocks from the start of `rest`, four at a time, while there are four and the output has capacity for them.
    #[cfg_attr(optimized, inline(always))]
    fn four_blocks(&mut self, rest: &mut &[u8]) -> Result<(), usize> {
        while rest.len() >= 4 * I::LANES && self.out.spare() >= 4 * I::LANES {
            if self.copy_clean::<4>(rest) {
                continue;
            }
            if self.shortcuts && rest.len() >= 5 * I::LANES {
                self.dense_text(rest);
                continue;
            }
            // The number of iterations is a constant, so that the compiler unrolls them (lab: ladders).
            for _ in 0..4 {
                // This is never true, but tells the compiler that the second to fourth block fit, too (lab: ladders).
                if self.out.spare() < I::LANES {
                    return Ok(());
                }
                self.decode_block(self.isa.load(rest), rest, Lanes::ALL, false)?;
                *rest = &rest[I::LANES..];
            }
        }
        Ok(())
    }

    /// Decodes whole blocks from the start of `rest`, one at a time, while the output has capacity for them.
    #[cfg_attr(optimized, inline(always))]
    fn single_blocks(&mut self, rest: &mut &[u8]) -> Result<(), usize> {
        while rest.len() >= I::LANES && self.out.spare() >= I::LANES {
            if !self.decode_next(rest, Lanes::ALL)? {
                while rest.len() >= 2 * I::LANES && self.copy_clean::<2>(rest) {}
            } else if const { KEEP && !B::MANY } && self.streak >= LEAST_KEPT && self.shortcuts {
                if self.upper {
                    self.normal_escapes(rest);
                } else {
                    self.kept_escapes(rest);
                }
            } else if const { I::DECODES_DENSE && !KEEP } && self.streak >= LEAST_DENSE && self.shortcuts {
                self.dense_text(rest);
            }
        }
        Ok(())
    }

    /// Decodes whole blocks from the start of `rest`, one at a time, while each has a `%`. Digits stay as they are. This loop has fewer
    /// tests than [`State::decode_block`] (lab: normal-text).
    #[cfg_attr(optimized, inline(always))]
    fn kept_escapes(&mut self, rest: &mut &[u8]) {
        let isa = self.isa;
        while rest.len() >= I::LANES && self.out.spare() >= I::LANES {
            let block = isa.load(rest);
            let found = isa.find(block, rest);
            if found.percent == 0 {
                return;
            }
            let (decoded, block) = isa.decode_some(block, &found, &self.class, !self.members_stay);
            let drop = digits_of(decoded, Lanes::<I>::ALL, &mut self.carry);
            isa.compress(block, drop, Lanes::ALL, &mut self.out);
            *rest = &rest[I::LANES..];
        }
    }

    /// Writes whole blocks from the start of `rest`, one at a time, while each has a `%` and no escape in it is decoded. Digits are
    /// written in upper case. No escape that was decoded may end in `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn normal_escapes(&mut self, rest: &mut &[u8]) {
        let (isa, mut exact) = (self.isa, true);
        while rest.len() >= I::LANES && self.out.spare() >= I::LANES {
            let mut block = isa.load(rest);
            let found = isa.find(block, rest);
            if !isa.decodes_none(&found, &self.class, !self.members_stay) || found.percent == 0 {
                break;
            }
            // These include lanes after malformed `%`, which need not be told apart in text whose digits are in upper case.
            let digits = found.percent << 1 | found.percent << 2 | self.carry_all;
            if digits & isa.lower(block) == 0 {
                digits_of(found.percent, Lanes::<I>::ALL, &mut self.carry_all);
                exact = false;
            } else {
                self.correct_carry(exact, rest);
                exact = true;
                let (valid, ..) = corrected(isa, &found);
                block = isa.upper(digits_of(valid, Lanes::<I>::ALL, &mut self.carry_all), block);
            }
            isa.store(block, Lanes::ALL, &mut self.out);
            *rest = &rest[I::LANES..];
        }
        self.correct_carry(exact, rest);
    }

    /// Unless `exact`, removes lanes from `carry_all` that are no digits of an escape. The next block is at the start of `rest`.
    #[cfg_attr(optimized, inline(always))]
    fn correct_carry(&mut self, exact: bool, rest: &[u8]) {
        if let (false, Some(whole)) = (exact, self.whole) {
            self.carry_all = carried_digits(whole.input, whole.input.len() - rest.len());
        }
    }

    /// Decodes three whole blocks at a time from the start of `rest` while they contain only escapes, as encoded text
    /// in a non-Latin script does. If `rest` begins with carried digits, so does the rest after these blocks.
    #[cfg_attr(optimized, inline(always))]
    fn runs_of_escapes(&mut self, rest: &mut &[u8]) {
        // The carry is 0, 1 or 3. This is the number of its bits.
        let digits = (self.carry - (self.carry >> 1)) as usize & 3;
        while self.out.spare() >= I::LANES
            && let Some(escapes) = rest.get(digits..digits + 3 * I::LANES)
            && let Some(values) = self.isa.all_escapes(escapes)
        {
            self.isa.store(values, Lanes::ALL, &mut self.out);
            *rest = &rest[3 * I::LANES..];
        }
    }

    /// Decodes whole blocks from the start of `rest`, four at a time, as if every `%` in them started an escape. Stops before four blocks
    /// for which this is false, and after four blocks with few escapes.
    #[cfg_attr(optimized, inline(always))]
    fn dense_text(&mut self, rest: &mut &[u8]) {
        self.streak = 0;
        // `decode_dense` reads from the block after the four, too.
        while rest.len() >= 5 * I::LANES && self.out.spare() >= 4 * I::LANES {
            let before = self.out.address();
            let Some(drops) = self.isa.decode_dense(rest, &mut self.carry, &mut self.out) else {
                self.shortcuts = false;
                return;
            };
            self.bounds.record_four_blocks(rest.len(), before, drops);
            *rest = &rest[4 * I::LANES..];
            let len = self.out.address() - before;
            // If the output of four blocks is a third of their length, they contain only escapes.
            if !B::MANY && len <= 4 * I::LANES / 3 + 1 {
                self.runs_of_escapes(rest);
            } else if len > 4 * I::LANES - 2 * LEAST_DENSE {
                return;
            }
        }
    }

    /// Writes the `M` whole blocks at the start of `rest`, advances `rest` and returns `true`, if they fit and decoding
    /// surely changes none.
    #[cfg_attr(optimized, inline(always))]
    fn copy_clean<const M: usize>(&mut self, rest: &mut &[u8]) -> bool {
        if self.form || KEEP && B::MANY || self.out.spare() < M * I::LANES {
            return false;
        }
        let blocks = load::<I, M>(self.isa, rest);
        // The carries are unpredictable, so they are tested last (lab: kernels).
        let clean = self.isa.none_equal(blocks, b'%') && self.carry | self.carry_all == 0;
        if clean {
            self.bounds.record_clean::<M>(rest.len(), self.out.address());
            self.streak = 0;
            self.isa.store_all(blocks, Lanes::ALL, &mut self.out);
            *rest = &rest[M * I::LANES..];
        }
        clean
    }

    /// Decodes the first `lanes` lanes of `block`, which is at the start of `rest`. Returns whether the block was
    /// searched for escapes. The error is the lane of the escape that ends the decoding.
    ///
    /// With `check`, a block without `%` and without a carry is stored without a search for escapes.
    #[cfg_attr(optimized, inline(always))]
    fn decode_block(
        &mut self,
        mut block: I::Block,
        rest: &[u8],
        lanes: Lanes<I>,
        check: bool,
    ) -> Result<bool, usize> {
        let isa = self.isa;
        // The lanes after the first `lanes` hold zeros, or the start of the next block.
        let here = if rest.len() > lanes.count() { lanes.mask() } else { u64::MAX };
        let cut = if KEEP { self.bounds.cut(rest.len(), lanes.padding()) } else { 0 };
        // The carries are unpredictable, so they are tested last (lab: kernels).
        let lacks = check && if B::MARKED { !cut & here == 0 } else { isa.eq(block, b'%') & here == 0 };
        if KEEP && self.form {
            block = isa.replace(block, b'+', b' ');
        }
        if lacks && self.carry | self.carry_all == 0 {
            self.bounds.record_clean::<1>(rest.len(), self.out.address());
            self.streak = 0;
            isa.store(block, lanes, &mut self.out);
            return Ok(false);
        }
        let found = isa.find(block, rest);
        let (found_valid, mut result, wrong) = corrected(isa, &found);
        let valid = found_valid & here & !cut;
        let malformed = (wrong | found_valid & cut) & here;
        if self.strict && malformed != 0 {
            // An earlier escape may cross the end of its value and so be malformed. `place_ends` finds it in this
            // record.
            let drop = digits_of(valid, lanes, &mut self.carry);
            self.bounds.record_block(rest.len(), self.out.address(), drop, lanes.padding());
            return Err(malformed.trailing_zeros() as usize);
        }
        let mut decoded = valid;
        if KEEP {
            let (some, with_values) = isa.decode_some(block, &found, &self.class, !self.members_stay);
            (decoded, result) = (valid & some, with_values);
        }
        if KEEP && self.upper {
            // These are the last two lanes of each value.
            let last_two = if B::MARKED { 0 } else { cut };
            let percent = found.percent & here & !last_two;
            // An escape may stay if a `%` is one or two bytes before it. That byte may be before the block.
            if let Some(whole) = self.whole
                && decoded & (percent << 1 | percent << 2 | 3) != 0
            {
                let kept = decoded & completing(isa, whole, rest.len(), self.ended, block, &found, percent);
                (decoded, result) = (decoded & !kept, isa.select(kept, result, block));
                // Hostile text has such escapes everywhere, and `normal_escapes` would be called in vain.
                self.shortcuts &= kept == 0;
            }
            if B::MANY {
                self.ended = last_two.rotate_right(lanes.count().wrapping_sub(2) as u32) & 3;
            }
        }
        if KEEP && self.bounds.ends_at_kept() && valid & !decoded != 0 {
            return Err((valid & !decoded).trailing_zeros() as usize);
        }
        if KEEP && B::MANY && found_valid & here & cut != 0 {
            result = isa.select(decoded, block, found.values);
        }
        if KEEP && self.upper {
            // The digits of decoded escapes are included, although they are dropped, so this need not wait for `decoded` (lab: ladders).
            result = isa.upper(digits_of(valid, lanes, &mut self.carry_all), result);
        }
        let drop = digits_of(decoded, lanes, &mut self.carry);
        self.bounds.record_block(rest.len(), self.out.address(), drop, lanes.padding());
        let before = core::mem::replace(&mut self.dropped, drop);
        // Few normalizations decode an escape, and for those that do, `normal_escapes` would often be called in vain.
        self.streak = if KEEP && self.upper && drop | before | self.carry != 0 { 0 } else { self.streak + 1 };
        if const { KEEP || I::TOGETHER != 4 } && drop | before == 0 {
            // Nothing is dropped if all escapes stay, which is the usual case in normalizing, or are malformed (lab: kernels).
            isa.store(result, lanes, &mut self.out);
        } else {
            isa.compress(result, drop, lanes, &mut self.out);
        }
        Ok(true)
    }
}

/// The job and the input, for [`completing`]. They are passed by reference, because that function is called rarely,
/// and the loops of the tiers should not hold them in registers (lab: kernels).
struct Whole<'a> {
    job: &'a DecodeJob,
    input: &'a [u8],
}

/// Returns, as a mask of the lanes from `at` on, the digits of an escape that starts in the last two bytes before `at`.
// It is not inlined, because it is called rarely, and would take registers from the loop (lab: normal-text).
#[cold]
#[inline(never)]
fn carried_digits(input: &[u8], at: usize) -> u64 {
    let is_escape =
        |at| matches!(input.get(at..), Some([b'%', a, b, ..]) if hex::value(*a) | hex::value(*b) < 16);
    if is_escape(at.wrapping_sub(1)) { 0b11 } else { u64::from(is_escape(at.wrapping_sub(2))) }
}

/// Returns the lanes in which an escape that would be decoded has to stay in a normalization (see
/// [`DecodeJob::completes`]): its value is a hexadecimal digit, and a `%` is before it, or a `%` and a digit. Lanes without
/// an escape are arbitrary.
///
/// `found` is what [`Isa::find`] returned for `block`, which is at the start of the last `left` bytes of the input. Bit 1 of
/// `ended` is set if the byte before the block is one of the last two bytes of a value, and bit 0 if the byte before that
/// one is. `percent` has the lanes of each `%` of the block, except in the last two bytes of a value.
#[cfg_attr(optimized, inline(always))]
fn completing<I: Isa>(
    isa: I,
    whole: &Whole<'_>,
    left: usize,
    ended: u64,
    block: I::Block,
    found: &Found<I::Block>,
    percent: u64,
) -> u64 {
    after_percent(whole, left, ended, percent, isa.hex_digits(block)) & isa.hex_digits(found.values)
}

/// Returns the lanes before which is a `%`, or a `%` and one of `digits`. See [`completing`] for the other arguments.
/// Returns no lane if every `%` is decoded.
// It is not inlined, because each loop of each tier would then have a copy of it.
#[cold]
#[inline(never)]
fn after_percent(whole: &Whole<'_>, left: usize, ended: u64, percent: u64, digits: u64) -> u64 {
    let (job, input) = (whole.job, whole.input);
    if !job.stays(b'%') {
        return 0;
    }
    let at = input.len() - left;
    let start = at.min(if ended & 2 != 0 { 0 } else { 2 - (ended & 1) as usize });
    let before = job.before(&input[at - start..], start);
    let [first, second] = before.map(|byte| u64::from(byte == b'%'));
    let last_is_digit = u64::from(hex::value(before[1]) != hex::NOT_A_DIGIT);
    percent << 1 | second | (percent << 2 | second << 1 | first) & (digits << 1 | last_is_digit)
}
