//! The reference: every operation an octet at a time, in the words of the specifications.
//!
//! It is the fallback on CPUs without a vector tier, and what every tier must equal on every input. Octets that stay are
//! put as runs, which makes it no slower than a good byte loop.

use crate::cursor::{Cursor, Room, Written};
use crate::ends::Ends;
use crate::hex::{self, HexCase};
use crate::job::{BadEscapeAt, DecodeJob, EncodeJob, EncodeRule, Measure};

/// Where octets go: to the caller's room, or only to a count.
trait Output {
    fn put(&mut self, octets: &[u8]);
    /// Says that what was put differs from the input.
    fn change(&mut self);
    /// The number of octets put.
    fn written(&self) -> usize;
}

impl Output for Cursor<'_> {
    #[inline(always)]
    fn put(&mut self, octets: &[u8]) {
        self.push_run(octets);
    }
    #[inline(always)]
    fn change(&mut self) {}
    #[inline(always)]
    fn written(&self) -> usize {
        Cursor::written(self)
    }
}

impl Output for Measure {
    #[inline(always)]
    fn put(&mut self, octets: &[u8]) {
        self.len = self.len.saturating_add(octets.len());
    }
    #[inline(always)]
    fn change(&mut self) {
        self.changed = true;
    }
    #[inline(always)]
    fn written(&self) -> usize {
        self.len
    }
}

/// RFC 3986, section 2.1: an octet that may not stand for itself is written `"%" HEXDIG HEXDIG`.
#[inline(always)]
fn encode_to(job: &EncodeJob, input: &[u8], out: &mut impl Output) {
    // Where the rule has a say, membership alone does not decide.
    let stays = match job.rule {
        EncodeRule::Plain => job.set,
        EncodeRule::KeepEscapes => job.set.remove(b"%"),
        EncodeRule::Form => job.set.remove(b" "),
    };
    let mut rest = input;
    while let Some(&octet) = rest.first() {
        let used = match (job.rule, octet) {
            _ if stays.contains(octet) => {
                let stray = |&octet: &u8| !stays.contains(octet);
                let run = rest[1..].iter().position(stray).map_or(rest.len(), |more| 1 + more);
                out.put(&rest[..run]);
                run
            }
            (EncodeRule::KeepEscapes, b'%') if hex::unescape(rest).is_some() => {
                out.put(&rest[..3]);
                3
            }
            (EncodeRule::Form, b' ') => {
                out.put(b"+");
                out.change();
                1
            }
            _ => {
                out.put(&hex::escape(octet, job.case));
                out.change();
                1
            }
        };
        rest = &rest[used..];
    }
}

/// URL Standard, section 1.3, "percent-decode": a `%` that is followed by two hexadecimal digits stands with
/// them for one octet; everything else stands for itself.
#[inline(always)]
fn decode_to(job: &DecodeJob, input: &[u8], out: &mut impl Output) -> Result<(), BadEscapeAt> {
    let mut rest = input;
    while let Some(&octet) = rest.first() {
        if octet != b'%' && !(octet == b'+' && job.plus()) {
            let run = ordinary(rest, job.plus());
            out.put(&rest[..run]);
            rest = &rest[run..];
            continue;
        }
        let used = match (octet, hex::unescape(rest)) {
            (b'+', _) => {
                out.put(b" ");
                out.change();
                1
            }
            (_, Some(octet)) if job.is_plain() || !job.stays(octet) => {
                out.put(&[octet]);
                out.change();
                3
            }
            (_, Some(octet)) if job.upper && rest[..3] != hex::escape(octet, HexCase::Upper) => {
                out.put(&hex::escape(octet, HexCase::Upper));
                out.change();
                3
            }
            (_, Some(_)) => {
                out.put(&rest[..3]);
                3
            }
            (_, None) if job.strict => return Err(BadEscapeAt(input.len() - rest.len())),
            (_, None) => {
                out.put(b"%");
                1
            }
        };
        rest = &rest[used..];
    }
    Ok(())
}

/// The number of octets before the first `%`, or `+` if that has a meaning.
#[inline(always)]
fn ordinary(octets: &[u8], plus: bool) -> usize {
    /// A run of fewer octets takes less time than the call of a search.
    const SHORT: usize = 8;
    let start = &octets[..octets.len().min(SHORT)];
    let special = |&octet: &u8| octet == b'%' || plus && octet == b'+';
    start.iter().position(special).unwrap_or_else(|| {
        let rest = &octets[start.len()..];
        if rest.is_empty() {
            return octets.len();
        }
        let end = if plus { memchr::memchr2(b'%', b'+', rest) } else { memchr::memchr(b'%', rest) };
        start.len() + end.unwrap_or(rest.len())
    })
}

pub(crate) fn encode<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    encode_to(job, input, &mut out);
    out.finish()
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    encode_to(job, input, &mut measure);
    measure
}

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Result<Written<'c>, BadEscapeAt> {
    let mut out = Cursor::new(out);
    decode_to(job, input, &mut out)?;
    Ok(out.finish())
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Result<Measure, BadEscapeAt> {
    let mut measure = Measure::default();
    decode_to(job, input, &mut measure)?;
    Ok(measure)
}

/// Each value for itself: where it ended in the input becomes where it ends in the output.
pub(crate) fn encode_values<'c>(
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Written<'c> {
    let mut out = Cursor::new(out);
    let mut start = 0;
    for end in ends.places() {
        encode_to(job, &input[start..*end], &mut out);
        start = core::mem::replace(end, out.written());
    }
    out.finish()
}

/// Each value for itself: where it ended in the input becomes where it ends in the output.
fn decode_values_to(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: &mut impl Output,
) -> Result<(), BadEscapeAt> {
    let mut start = 0;
    for end in ends.places() {
        let value = &input[start..*end];
        decode_to(job, value, out).map_err(|BadEscapeAt(offset)| BadEscapeAt(start + offset))?;
        start = core::mem::replace(end, out.written());
    }
    Ok(())
}

pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Result<Written<'c>, BadEscapeAt> {
    let mut out = Cursor::new(out);
    decode_values_to(job, input, ends, &mut out)?;
    Ok(out.finish())
}

pub(crate) fn decode_values_measure(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
) -> Result<Measure, BadEscapeAt> {
    let mut measure = Measure::default();
    decode_values_to(job, input, ends, &mut measure)?;
    Ok(measure)
}
