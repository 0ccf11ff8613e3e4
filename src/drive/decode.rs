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

use super::sink::Sink;
use super::{Isa, digits_of, escapes, first};
use crate::cursor::Cursor;
use crate::job::{BadEscapeAt, DecodeJob, Measure};

/// Decodes `input` into `out`.
#[inline(always)]
pub(crate) fn decode<'c, I: Isa>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    out: Cursor<'c>,
) -> Result<Cursor<'c>, BadEscapeAt> {
    run(isa, job, input, out)
}

/// What [`decode`] would write.
#[inline(always)]
pub(crate) fn decode_measure<I: Isa>(isa: I, job: &DecodeJob, input: &[u8]) -> Result<Measure, BadEscapeAt> {
    run(isa, job, input, Measure::default())
}

#[inline(always)]
fn run<I: Isa, S: Sink<I>>(isa: I, job: &DecodeJob, input: &[u8], sink: S) -> Result<S, BadEscapeAt> {
    match (job.keep.is_empty(), job.plus) {
        (true, false) => blocks::<I, S, false, false>(isa, job, input, sink),
        (false, false) => blocks::<I, S, true, false>(isa, job, input, sink),
        (_, true) => blocks::<I, S, true, true>(isa, job, input, sink),
    }
}

#[inline(always)]
fn blocks<I: Isa, S: Sink<I>, const KEEP: bool, const FORM: bool>(
    isa: I,
    job: &DecodeJob,
    input: &[u8],
    mut sink: S,
) -> Result<S, BadEscapeAt> {
    let class = isa.class(&job.keep, input.len());
    // The digits, in the next block, of escapes that were decoded and of escapes that stay.
    let (mut spilt, mut spilt_kept) = (0, 0);
    let mut step = |rest: &[u8], lanes: usize| {
        let mut block = isa.load(rest);
        let percent = isa.eq(block, b'%');
        if FORM {
            sink.changed(isa.eq(block, b'+') != 0);
        }
        if percent | spilt | spilt_kept == 0 {
            let block = if FORM { isa.replace(block, b'+', b' ') } else { block };
            sink.store(isa, block, lanes);
            return Ok(());
        }
        let found = escapes(isa, block, percent, rest);
        if job.strict && percent != found.valid {
            return Err((percent & !found.valid).trailing_zeros() as usize);
        }
        let values = isa.values(block, found.next);
        let mut decoded = found.valid;
        if KEEP {
            decoded &= !isa.member(values, &class);
            let digits = digits_of::<I>(found.valid & !decoded, &mut spilt_kept);
            if job.upper {
                sink.changed(digits & isa.lower(block) != 0);
                block = isa.upper(digits, block);
            }
        }
        if FORM {
            block = isa.replace(block, b'+', b' ');
        }
        let dropped = digits_of::<I>(decoded, &mut spilt);
        sink.changed(decoded != 0);
        sink.compress(isa, isa.select(decoded, block, values), first(lanes) & !dropped);
        Ok(())
    };
    let mut rest = input;
    let bad_at = |rest: &[u8], lane: usize| BadEscapeAt(input.len() - rest.len() + lane);
    while rest.len() >= I::LANES {
        step(rest, I::LANES).map_err(|lane| bad_at(rest, lane))?;
        rest = &rest[I::LANES..];
    }
    if !rest.is_empty() {
        step(rest, rest.len()).map_err(|lane| bad_at(rest, lane))?;
    }
    Ok(sink)
}
