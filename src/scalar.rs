//! The reference: every operation an octet at a time, in the words of the specifications.
//!
//! It is the fallback on CPUs without a vector tier, and what every tier must equal on every input.

use crate::cursor::Cursor;
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
        self.push_slice(octets);
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
    let mut at = 0;
    while at < input.len() {
        match (job.rule, input[at]) {
            (EncodeRule::KeepEscapes, b'%') => {
                if hex::unescape(&input[at..]).is_some() {
                    out.put(&input[at..at + 3]);
                    at += 3;
                    continue;
                }
                escape_to(b'%', job.case, out);
            }
            (EncodeRule::Form, b' ') => {
                out.put(b"+");
                out.change();
            }
            (_, octet) if job.set.contains(octet) => out.put(&[octet]),
            (_, octet) => escape_to(octet, job.case, out),
        }
        at += 1;
    }
}

#[inline(always)]
fn escape_to(octet: u8, case: HexCase, out: &mut impl Output) {
    out.put(&hex::escape(octet, case));
    out.change();
}

/// URL Standard, section 1.3, "percent-decode": a `%` that is followed by two hexadecimal digits stands with
/// them for one octet; everything else stands for itself.
#[inline(always)]
fn decode_to(job: &DecodeJob, input: &[u8], out: &mut impl Output) -> Result<(), BadEscapeAt> {
    let mut at = 0;
    while at < input.len() {
        match (input[at], hex::unescape(&input[at..])) {
            (b'%', Some(octet)) => {
                let spelling = &input[at..at + 3];
                if !job.keep.contains(octet) {
                    out.put(&[octet]);
                    out.change();
                } else if job.upper && spelling != hex::escape(octet, HexCase::Upper) {
                    out.put(&hex::escape(octet, HexCase::Upper));
                    out.change();
                } else {
                    out.put(spelling);
                }
                at += 3;
                continue;
            }
            (b'%', None) if job.strict => return Err(BadEscapeAt(at)),
            (b'+', _) if job.plus => {
                out.put(b" ");
                out.change();
            }
            (octet, _) => out.put(&[octet]),
        }
        at += 1;
    }
    Ok(())
}

pub(crate) fn encode<'c>(job: &EncodeJob, input: &[u8], mut out: Cursor<'c>) -> Cursor<'c> {
    encode_to(job, input, &mut out);
    out
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    encode_to(job, input, &mut measure);
    measure
}

pub(crate) fn decode<'c>(
    job: &DecodeJob,
    input: &[u8],
    mut out: Cursor<'c>,
) -> Result<Cursor<'c>, BadEscapeAt> {
    decode_to(job, input, &mut out)?;
    Ok(out)
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
    ends: &mut [usize],
    mut out: Cursor<'c>,
) -> Cursor<'c> {
    let mut start = 0;
    for end in ends {
        encode_to(job, &input[start..*end], &mut out);
        start = core::mem::replace(end, out.written());
    }
    out
}

/// Each value for itself: where it ended in the input becomes where it ends in the output.
fn decode_values_to(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut [usize],
    out: &mut impl Output,
) -> Result<(), BadEscapeAt> {
    let mut start = 0;
    for end in ends {
        let value = &input[start..*end];
        decode_to(job, value, out).map_err(|BadEscapeAt(offset)| BadEscapeAt(start + offset))?;
        start = core::mem::replace(end, out.written());
    }
    Ok(())
}

pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut [usize],
    mut out: Cursor<'c>,
) -> Result<Cursor<'c>, BadEscapeAt> {
    decode_values_to(job, input, ends, &mut out)?;
    Ok(out)
}

pub(crate) fn decode_values_measure(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut [usize],
) -> Result<Measure, BadEscapeAt> {
    let mut measure = Measure::default();
    decode_values_to(job, input, ends, &mut measure)?;
    Ok(measure)
}
