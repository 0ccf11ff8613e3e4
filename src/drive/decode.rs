//! Decoding and normalizing, block by block.
//!
//! ```text
//! for each block:
//!     percent = lanes that are `%`
//!     none, and no digits carried from the block before:  store the block whole
//!     valid   = `%` followed by two hexadecimal digits; strict: any other `%` is an error
//!     values  = in each lane, the octet that the next two lanes spell
//!     decoded = valid lanes whose value is not in the set that stays
//!     compress: decoded lanes become their values, the two lanes behind each are dropped
//!     normalizing: the digits of valid lanes that stay are written in upper case
//! ```
//!
//! Digits in the next block are carried there as two bits. The stride is always a whole block: a load never waits
//! for the masks of the block before it.

use super::bounds::{Bounds, Ends, Whole};
use super::sink::Sink;
use super::{Isa, Tier, digits_of, escapes, first};
use crate::cursor::Cursor;
use crate::job::{BadEscapeAt, DecodeJob, Measure};

/// Decodes `input` into `out`.
#[inline(always)]
pub(crate) fn decode<'c, T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    out: Cursor<'c>,
) -> Result<Cursor<'c>, BadEscapeAt> {
    run(tier, job, input, Whole, out)
}

/// What [`decode`] would write.
#[inline(always)]
pub(crate) fn decode_measure<T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
) -> Result<Measure, BadEscapeAt> {
    run(tier, job, input, Whole, Measure::default())
}

/// Decodes the values that lie in `input` one behind the other; turns where they end into where they end in `out`. No
/// escape reaches over the end of a value.
#[inline(always)]
pub(crate) fn decode_values<'c, T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut [usize],
    out: Cursor<'c>,
) -> Result<Cursor<'c>, BadEscapeAt> {
    run(tier, job, input, Ends::new(ends), out)
}

/// What [`decode_values`] would write; `ends` are of no use afterwards.
#[inline(always)]
pub(crate) fn decode_values_measure<T: Tier>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    ends: &mut [usize],
) -> Result<Measure, BadEscapeAt> {
    run(tier, job, input, Ends::new(ends), Measure::default())
}

#[inline(always)]
fn run<T: Tier, S: Sink<T::Wide> + Sink<T::Narrow>, B: Bounds>(
    tier: T,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> Result<S, BadEscapeAt> {
    if input.len() <= T::SHORT {
        by_rule(tier.narrow(), job, input, bounds, sink)
    } else {
        by_rule(tier.wide(), job, input, bounds, sink)
    }
}

#[inline(always)]
fn by_rule<I: Isa, S: Sink<I>, B: Bounds>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> Result<S, BadEscapeAt> {
    match (job.keep.is_empty(), job.plus) {
        (true, false) => blocks::<I, S, B, false, false>(isa, job, input, bounds, sink),
        (false, false) => blocks::<I, S, B, true, false>(isa, job, input, bounds, sink),
        (_, true) => blocks::<I, S, B, true, true>(isa, job, input, bounds, sink),
    }
}

#[inline(always)]
fn blocks<I: Isa, S: Sink<I>, B: Bounds, const KEEP: bool, const FORM: bool>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    bounds: B,
    sink: S,
) -> Result<S, BadEscapeAt> {
    let class = isa.class(&job.keep, input.len());
    let DecodeJob { strict, upper, .. } = *job;
    let mut state =
        Blocks::<I, S, B, KEEP, FORM> { isa, class, strict, upper, spilt: 0, spilt_kept: 0, bounds, sink };
    let mut rest = input;
    while rest.len() >= I::LANES {
        if let Err(lane) = state.step(rest, I::LANES) {
            return Err(BadEscapeAt(input.len() - rest.len() + lane));
        }
        rest = &rest[I::LANES..];
    }
    if !rest.is_empty()
        && let Err(lane) = state.step(rest, rest.len())
    {
        return Err(BadEscapeAt(input.len() - rest.len() + lane));
    }
    Ok(state.sink)
}

/// What one block leaves to the next. (A closure would not be inlined into the entry points, nor then would the
/// intrinsics in it.)
struct Blocks<I: Isa, S, B, const KEEP: bool, const FORM: bool> {
    isa: I,
    class: I::Class,
    strict: bool,
    upper: bool,
    /// The lanes of the next block that are digits of escapes in this one, which were decoded.
    spilt: u64,
    /// The same for escapes that stay.
    spilt_kept: u64,
    bounds: B,
    sink: S,
}

impl<I: Isa, S: Sink<I>, B: Bounds, const KEEP: bool, const FORM: bool> Blocks<I, S, B, KEEP, FORM> {
    /// Takes the block at the start of `rest`, or returns the lane of a malformed escape.
    #[inline(always)]
    fn step(&mut self, rest: &[u8], lanes: usize) -> Result<(), usize> {
        let isa = self.isa;
        let mut block = isa.load(rest);
        let percent = isa.eq(block, b'%');
        if FORM {
            self.sink.changed(isa.eq(block, b'+') != 0);
            block = isa.replace(block, b'+', b' ');
        }
        if percent | self.spilt | self.spilt_kept == 0 {
            self.bounds.settle(lanes, self.sink.written(), |lane| lane);
            self.sink.store(isa, block, lanes);
            return Ok(());
        }
        let cut = self.bounds.cut(lanes);
        let mut found = escapes(isa, block, percent, rest);
        found.valid &= !cut;
        if self.strict && percent != found.valid {
            return Err((percent & !found.valid).trailing_zeros() as usize);
        }
        let values = isa.values(block, found.next);
        let mut decoded = found.valid;
        if KEEP {
            decoded &= !isa.member(values, &self.class);
            let digits = digits_of::<I>(found.valid & !decoded, &mut self.spilt_kept);
            if self.upper {
                self.sink.changed(digits & isa.lower(block) != 0);
                block = isa.upper(digits, block);
            }
        }
        let keep = first(lanes) & !digits_of::<I>(decoded, &mut self.spilt);
        self.bounds.settle(lanes, self.sink.written(), |lane| (keep & first(lane)).count_ones() as usize);
        self.sink.changed(decoded != 0);
        let block = isa.select(decoded, block, values);
        if keep == first(lanes) {
            // Escapes that stay and malformed ones, which is what normalizing mostly meets.
            self.sink.store(isa, block, lanes);
        } else {
            self.sink.compress(isa, block, keep);
        }
        Ok(())
    }
}
