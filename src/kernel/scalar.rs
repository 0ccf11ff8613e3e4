//! The reference: every operation a byte at a time, in the words of the specifications.
//!
//! It is the fallback on CPUs without a vector tier, and what every tier must equal on every input. Bytes that stay are
//! put up to eight together, which makes it no slower than a good byte loop.

use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, DecodeRule, Decoded, EncodeJob, EncodeRule, Measure, Measured};
use crate::kernel::word;

/// Where bytes go: to the caller's room, or only to a count.
trait Output {
    fn put(&mut self, bytes: &[u8]);
    /// Puts the first `len` of eight bytes.
    fn put_start(&mut self, bytes: [u8; 8], len: usize);
    /// Says that what was put differs from the input.
    fn change(&mut self);
    /// The number of bytes put.
    fn written(&self) -> usize;
}

impl Output for Cursor<'_> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.push_run(bytes);
    }
    #[inline(always)]
    fn put_start(&mut self, bytes: [u8; 8], len: usize) {
        self.push_start(bytes, len);
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
    fn put(&mut self, bytes: &[u8]) {
        self.len = self.len.saturating_add(bytes.len());
    }
    #[inline(always)]
    fn put_start(&mut self, _: [u8; 8], len: usize) {
        self.len = self.len.saturating_add(len);
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

/// RFC 3986, section 2.1: a byte that may not stand for itself is written `"%" HEXDIG HEXDIG`.
#[inline(always)]
fn encode_to(job: &EncodeJob, input: &[u8], out: &mut impl Output) {
    // Where the rule has a say, membership alone does not decide.
    let stays = match job.rule {
        EncodeRule::Plain => job.set,
        EncodeRule::KeepEscapes => job.set.remove(b"%"),
        EncodeRule::Form => job.set.remove(b" "),
    };
    let mut rest = input;
    while let Some(&byte) = rest.first() {
        let used = match (job.rule, byte) {
            _ if stays.contains(byte) => {
                let stray = |&byte: &u8| !stays.contains(byte);
                let run = rest[1..].iter().position(stray).map_or(rest.len(), |more| 1 + more);
                match rest.first_chunk() {
                    Some(eight) if run <= 8 => out.put_start(*eight, run),
                    _ => out.put(&rest[..run]),
                }
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
                out.put(&hex::escape(byte, job.case));
                out.change();
                1
            }
        };
        rest = &rest[used..];
    }
}

/// URL Standard, section 1.3, "percent-decode": a `%` that is followed by two hexadecimal digits stands with
/// them for one byte; everything else stands for itself. Returns the length of the input, or the offset of the malformed
/// escape at which a strict decoding ends.
#[inline(always)]
fn decode_to(job: &DecodeJob, input: &[u8], out: &mut impl Output) -> usize {
    match job.rule {
        DecodeRule::Plain => decode_by::<true, false>(job, input, out),
        DecodeRule::Keep => decode_by::<false, false>(job, input, out),
        DecodeRule::Form => decode_by::<false, true>(job, input, out),
    }
}

#[inline(always)]
fn decode_by<const PLAIN: bool, const PLUS: bool>(
    job: &DecodeJob,
    input: &[u8],
    out: &mut impl Output,
) -> usize {
    let mut rest = input;
    while let Some(&byte) = rest.first() {
        if byte != b'%' && !(PLUS && byte == b'+') {
            let run = ordinary::<PLUS>(rest, out);
            rest = &rest[run..];
            continue;
        }
        let used = match (byte, hex::unescape(rest)) {
            (b'+', _) => {
                out.put(b" ");
                out.change();
                1
            }
            (_, Some(byte)) if PLAIN || !job.stays(byte) => {
                out.put(&[byte]);
                out.change();
                3
            }
            (_, Some(byte)) if job.upper && rest[..3] != hex::escape(byte, HexCase::Upper) => {
                out.put(&hex::escape(byte, HexCase::Upper));
                out.change();
                3
            }
            (_, Some(_)) => {
                out.put(&rest[..3]);
                3
            }
            (_, None) if job.strict => return input.len() - rest.len(),
            (_, None) => {
                out.put(b"%");
                1
            }
        };
        rest = &rest[used..];
    }
    input.len()
}

/// Puts bytes before the first `%`, or `+` if that has a meaning, which the first is not, and returns how many.
#[inline(always)]
fn ordinary<const PLUS: bool>(bytes: &[u8], out: &mut impl Output) -> usize {
    let special = |byte: &u8| *byte == b'%' || PLUS && *byte == b'+';
    let (word, len) = match bytes.first_chunk() {
        Some(eight) => (u64::from_le_bytes(*eight), 8),
        None => (word::words(bytes)[0], bytes.len()),
    };
    let found = word::find(word, b'%') | if PLUS { word::find(word, b'+') } else { 0 };
    let mut run = (found.trailing_zeros() as usize / 8).min(len);
    out.put_start(word.to_le_bytes(), run);
    while found == 0
        && let Some(more) = bytes[run..].first_chunk::<32>()
        && !more.iter().fold(false, |any, byte| any | special(byte))
    {
        out.put(more);
        run += 32;
    }
    run
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

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let mut out = Cursor::new(out);
    if input.len() < 16 && !job.plus() {
        let [start, end] = word::words(input);
        if word::find(start, b'%') | word::find(end, b'%') == 0 {
            // Parts as short as this are common; the code for all others begins with more than they take.
            out.push_run(input);
            return Decoded { written: out.finish(), stopped: input.len() };
        }
    }
    decode_others(job, input, out)
}

#[inline(never)]
fn decode_others<'c>(job: &DecodeJob, input: &[u8], mut out: Cursor<'c>) -> Decoded<'c> {
    let stopped = decode_to(job, input, &mut out);
    Decoded { written: out.finish(), stopped }
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Measured {
    let mut measure = Measure::default();
    let stopped = decode_to(job, input, &mut measure);
    Measured::new(measure, stopped)
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
fn decode_values_to(job: &DecodeJob, input: &[u8], ends: &mut Ends, out: &mut impl Output) -> usize {
    let mut start = 0;
    for end in ends.places() {
        let value = &input[start..*end];
        let stopped = decode_to(job, value, out);
        if stopped < value.len() {
            return start + stopped;
        }
        start = core::mem::replace(end, out.written());
    }
    input.len()
}

pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Decoded<'c> {
    let mut out = Cursor::new(out);
    let stopped = decode_values_to(job, input, ends, &mut out);
    Decoded { written: out.finish(), stopped }
}

pub(crate) fn decode_values_measure(job: &DecodeJob, input: &[u8], ends: &mut Ends) -> Measured {
    let mut measure = Measure::default();
    let stopped = decode_values_to(job, input, ends, &mut measure);
    Measured::new(measure, stopped)
}
