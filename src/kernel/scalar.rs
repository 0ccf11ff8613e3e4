//! The scalar tier: the engine for CPUs without a vector tier.
//!
//! It goes run by run: a run of bytes that stay is searched for its end and copied, and `reference` says what the byte after it becomes.

use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::{self, Ends};
use crate::kernel::job::{
    self, DecodeJob, Decoded, EncodeJob, EncodeRule, Fields, Marks, Measure, Measured, Outcome, RowState,
    Search, Stops,
};
use crate::kernel::reference::{self, Step};
use crate::kernel::word;

/// The number of bytes in a block: a mask has one bit for each.
const BLOCK: usize = 64;

/// A receiver of runs and steps: the output, or only its measure.
trait Sink {
    /// Receives a run of bytes that stay.
    fn run(&mut self, run: &[u8]);
    /// Receives a run: the first `len` of sixteen bytes.
    fn near(&mut self, bytes: &[u8; 16], len: usize);
    /// Receives the step at the byte after a run.
    fn step(&mut self, step: Step);
}

impl Sink for Cursor<'_> {
    #[inline(always)]
    fn run(&mut self, run: &[u8]) {
        self.push_run(run);
    }
    #[inline(always)]
    fn near(&mut self, bytes: &[u8; 16], len: usize) {
        self.push_part(bytes, len);
    }
    #[inline(always)]
    fn step(&mut self, step: Step) {
        self.push_word(u64::from(step.bytes), step.len);
    }
}

impl Sink for Measure {
    #[inline(always)]
    fn run(&mut self, run: &[u8]) {
        self.len = self.len.saturating_add(run.len());
    }
    #[inline(always)]
    fn near(&mut self, bytes: &[u8; 16], len: usize) {
        self.run(&bytes[..len]);
    }
    #[inline(always)]
    fn step(&mut self, step: Step) {
        self.len = self.len.saturating_add(step.len);
        self.changed |= step.changed;
    }
}

/// Encodes `input` in any mode and with any set.
#[inline(always)]
fn encode_to(job: &EncodeJob, input: &[u8], out: &mut impl Sink) {
    // The last two modes treat `%` or the space specially even if it is in the set.
    let stays = match job.rule {
        EncodeRule::Plain => job.set,
        EncodeRule::KeepEscapes => job.set.remove(b"%"),
        EncodeRule::Form => job.set.remove(b" "),
    };
    let mut rest = input;
    while !rest.is_empty() {
        // Eight bytes at a time, without a branch on each.
        let is_clean = |bytes: &&[u8; 8]| bytes.iter().fold(true, |all, &byte| all & stays.contains(byte));
        let clean = 8 * rest.as_chunks().0.iter().take_while(is_clean).count();
        let len = clean + rest[clean..].iter().take_while(|&&byte| stays.contains(byte)).count();
        out.run(&rest[..len]);
        rest = &rest[len..];
        // Bytes to escape are often adjacent.
        while let Some(&byte) = rest.first()
            && !stays.contains(byte)
        {
            let step = reference::encode_special(job, rest);
            out.step(step);
            rest = &rest[step.used..];
        }
    }
}

/// Decodes `input` in any mode. Returns the offset of the malformed escape that ends a strict decoding, or the length of the input.
#[inline(always)]
fn decode_to<const PLAIN: bool>(job: &DecodeJob, input: &[u8], out: &mut impl Sink) -> usize {
    let plus = if !PLAIN && job.plus() { b'+' } else { b'%' };
    let is_special = |&byte: &u8| byte == b'%' || byte == plus;
    let mut done = 0;
    loop {
        let rest = &input[done..];
        // Escapes are often near each other, and the call of `memchr` would take longer than to look at a few bytes.
        done += match rest.first_chunk::<16>().map(|near| (near, near.iter().position(is_special))) {
            Some((near, Some(len))) => {
                out.near(near, len);
                len
            }
            _ => {
                let far = if PLAIN { memchr::memchr(b'%', rest) } else { memchr::memchr2(b'%', plus, rest) };
                let len = far.unwrap_or(rest.len());
                out.run(&rest[..len]);
                len
            }
        };
        if done == input.len() {
            return done;
        }
        while input.get(done).is_some_and(&is_special) {
            let rest = &input[done..];
            let Some(step) = reference::decode_special::<PLAIN>(job, input, done, rest) else { return done };
            out.step(step);
            done += step.used;
        }
    }
}

/// Decodes `input` in any mode. It is not inlined, so that single values and columns share it.
#[inline(never)]
fn decode_any(job: &DecodeJob, input: &[u8], out: &mut Cursor<'_>) -> usize {
    if job.is_plain() { decode_to::<true>(job, input, out) } else { decode_to::<false>(job, input, out) }
}

/// Encodes `input` in any mode.
#[inline(always)]
fn encode_any(job: &EncodeJob, input: &[u8], out: &mut Cursor<'_>) {
    if !job.is_plain() {
        return encode_to(job, input, out);
    }
    let mut rest = input;
    while !rest.is_empty() {
        // There is no branch on each byte, in neither case.
        let is_clean = |word: &&[u8; 8]| word.iter().fold(true, |all, &byte| all & job.set.contains(byte));
        let (clean, after) = rest.split_at(8 * rest.as_chunks().0.iter().take_while(is_clean).count());
        out.push_run(clean);
        let (near, far) = after.split_at(after.len().min(24));
        if !near.is_empty() {
            out.push_tripled(near, job.case.escapes(), |byte| !job.set.bit(byte));
        }
        rest = far;
    }
}

pub(crate) fn encode<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    encode_any(job, input, &mut out);
    out.finish()
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    encode_to(job, input, &mut measure);
    measure
}

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Outcome<'c> {
    let mut out = Cursor::new(out);
    let stopped = decode_any(job, input, &mut out);
    Outcome::new(out.finish(), input, stopped)
}

pub(crate) fn decode_in_place(_: &mut [u8]) -> Option<usize> {
    None
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Measured {
    let mut measure = Measure::default();
    let stopped = if job.is_plain() {
        decode_to::<true>(job, input, &mut measure)
    } else {
        decode_to::<false>(job, input, &mut measure)
    };
    Measured::new(measure, stopped)
}

/// Encodes values one by one. Maps their ends in the input to their ends in the output.
pub(crate) fn encode_values<'c>(
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Written<'c> {
    let (mut out, mut start) = (Cursor::new(out), 0);
    for (end, place) in ends.each() {
        encode_any(job, &input[start..end], &mut out);
        *place = out.written() as u32;
        start = end;
    }
    out.finish()
}

/// Decodes values one by one, up to the first value with a malformed escape. Maps their ends in the input to their ends in the
/// output.
pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Decoded<'c> {
    let (mut out, mut start) = (Cursor::new(out), 0);
    for (end, place) in ends.each() {
        let value = &input[start..end];
        let stopped = decode_any(job, value, &mut out);
        if stopped < value.len() {
            return Decoded { written: out.finish(), stopped: start + stopped };
        }
        *place = out.written() as u32;
        start = end;
    }
    Decoded { written: out.finish(), stopped: input.len() }
}

/// Copies `input` up to the first byte that decoding may change.
pub(crate) fn copy_clean<'c>(plus: bool, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let (mut out, mut stopped) = (Cursor::new(out), 0);
    // The bytes that were searched are still in the first-level cache when they are copied.
    for part in input.chunks(2 * ends::MAX_BYTES) {
        let found = if plus { memchr::memchr2(b'%', b'+', part) } else { memchr::memchr(b'%', part) };
        let clean = &part[..found.unwrap_or(part.len())];
        out.push_slice(clean);
        stopped += clean.len();
        if found.is_some() {
            break;
        }
    }
    Decoded { written: out.finish(), stopped }
}

/// Does nothing, because [`encode_values`] and [`decode_values`] map the ends. Reports that no escape crosses one.
pub(crate) fn place(_: i32, _: usize, _: &mut Ends) -> bool {
    false
}

/// Decodes the escapes in `input` whose first bytes have their bits set in `marks`.
pub(crate) fn decode_marked<'c>(
    job: &DecodeJob,
    input: &[u8],
    marks: Marks<'_>,
    out: Room<'c>,
) -> Decoded<'c> {
    let (mut out, mut done) = (Cursor::new(out), 0);
    for (index, mut word) in marks.words.iter().copied().enumerate() {
        while word != 0 {
            let at = (BLOCK * index + word.trailing_zeros() as usize).wrapping_sub(marks.first);
            word &= word - 1;
            let Some(rest) = input.get(at..).filter(|rest| rest.first() == Some(&b'%')) else { continue };
            if let Some(step) = reference::decode_special::<false>(job, input, at, rest) {
                if marks.strict && (step.used, step.len) == (3, 3) {
                    return Decoded { written: out.finish(), stopped: at };
                }
                out.push_run(&input[done..at]);
                out.push_word(u64::from(step.bytes), step.len);
                done = at + step.used;
            }
        }
    }
    out.push_run(&input[done..]);
    Decoded { written: out.finish(), stopped: input.len() }
}

/// Copies `input`, and after each field the separator and the decoded field.
pub(crate) fn decode_beside<'c>(
    job: &DecodeJob,
    input: &[u8],
    fields: Fields<'_>,
    out: Room<'c>,
) -> Decoded<'c> {
    let (mut out, mut done) = (Cursor::new(out), 0);
    for (begin, stop) in fields.offsets(input.len()) {
        let (Some(before), Some(field)) = (input.get(done..stop), input.get(begin..stop)) else { break };
        out.push_run(before);
        out.push_slice(&[fields.separator]);
        let (mut at, mut copied) = (0, 0);
        while at < field.len() {
            let rest = &field[at..];
            let step =
                if rest[0] == b'%' { reference::decode_special::<false>(job, field, at, rest) } else { None };
            let Some(step) = step else {
                at += 1;
                continue;
            };
            if (step.used, step.len) == (3, 3) {
                return Decoded { written: out.finish(), stopped: begin + at };
            }
            out.push_run(&field[copied..at]);
            out.push_word(u64::from(step.bytes), step.len);
            at += step.used;
            copied = at;
        }
        out.push_run(&field[copied..]);
        done = stop;
    }
    out.push_run(&input[done..]);
    Decoded { written: out.finish(), stopped: input.len() }
}

/// Lists the places of bits.
pub(crate) fn list(input: &[u64], places: &mut [u32]) -> usize {
    let (mut len, mut first) = (0, 0);
    for &word in input {
        let mut bits = word;
        while bits != 0 {
            places[len] = first + bits.trailing_zeros();
            bits &= bits - 1;
            len += 1;
        }
        first += u64::BITS;
    }
    len
}

/// Lists the places where fields end.
pub(crate) fn stops(input: &[[u64; 4]], places: &mut [u32]) -> Stops {
    let (mut stops, mut first) = (Stops::default(), 0);
    for &[_, ends, delimiters, irregular] in input {
        let mut bits = ends | delimiters;
        while bits != 0 {
            places[stops.count] = first + bits.trailing_zeros();
            bits &= bits - 1;
            stops.count += 1;
        }
        stops.ends += ends.count_ones() as usize;
        stops.has_irregular |= irregular != 0;
        first += u64::BITS;
    }
    stops
}

/// Marks the places of four bytes, in words with a bit for each byte of `input`.
pub(crate) fn mark(bytes: [u8; 4], input: &[u8], marks: &mut [[u64; 4]]) {
    for (marks, piece) in marks.iter_mut().zip(input.chunks(BLOCK)) {
        let (words, rest) = piece.as_chunks::<8>();
        *marks = bytes.map(|wanted| {
            let mut mask = 0;
            for (index, word) in words.iter().enumerate() {
                mask |= word::bits(word::equal(u64::from_le_bytes(*word), wanted)) << (8 * index);
            }
            for (at, &byte) in rest.iter().enumerate() {
                mask |= u64::from(byte == wanted) << (8 * words.len() + at);
            }
            mask
        });
    }
}

/// Marks the rows of a table.
pub(crate) fn rows(delimiter: u8, input: &[u8], state: &mut RowState, marks: &mut [[u64; 4]]) -> usize {
    job::mark_rows(delimiter, input, state, marks, Wordwise)
}

/// The search for bytes in one word after another.
#[derive(Clone, Copy)]
struct Wordwise;

impl Search for Wordwise {
    #[inline(always)]
    fn find(self, block: &[u8; 64], bytes: [u8; 5]) -> [u64; 5] {
        bytes.map(|wanted| {
            block.as_chunks().0.iter().enumerate().fold(0, |mask, (index, word)| {
                mask | word::bits(word::equal(u64::from_le_bytes(*word), wanted)) << (8 * index)
            })
        })
    }
}
