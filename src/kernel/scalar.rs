//! The scalar tier: the code without vector instructions, for CPUs that have no other tier.
//!
//! The engine goes block by block. A decoder searches a block for the bytes that may change, eight bytes at a time in a
//! machine word. It copies the runs between them, and `reference` converts these bytes. In the default mode, an encoder
//! copies a block without bytes to escape. It writes any other block byte by byte, without a branch on the content, because
//! the places of bytes to escape cannot be predicted (lab: sse2-scalar). In other modes, an encoder copies runs, as a
//! decoder does. "lab: NAME" names docs/lab/DATE-NAME.md.

use crate::hex;
use crate::kernel::cursor::{Cursor, OutputSpan, Written};
use crate::kernel::ends::{self, Ends};
use crate::kernel::isa::look::{CommonBytes, NoEscape};
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob, EncodeRule, Marks, Measure, Measured, Outcome};
use crate::kernel::reference;
use crate::kernel::word;

/// The number of bytes in a block: a mask has one bit for each.
const BLOCK: usize = 64;

/// A receiver of the output of a conversion, piece by piece: output memory, or a count of bytes.
trait Sink {
    /// Receives bytes that stay.
    fn run(&mut self, run: &[u8]);
    /// Receives bytes that stay: the first `len` of sixteen.
    fn short_run(&mut self, bytes: &[u8; 16], len: usize);
    /// Receives the low `len` bytes of a little-endian word. `changed` says whether they differ from the input.
    fn piece(&mut self, bytes: u32, len: usize, changed: bool);
}

impl Sink for Cursor<'_> {
    #[inline(always)]
    fn run(&mut self, run: &[u8]) {
        self.push_run(run);
    }
    #[inline(always)]
    fn short_run(&mut self, bytes: &[u8; 16], len: usize) {
        self.push_part(bytes, len);
    }
    #[inline(always)]
    fn piece(&mut self, bytes: u32, len: usize, _: bool) {
        self.push_part(&u64::from(bytes).to_le_bytes(), len);
    }
}

impl Sink for Measure {
    #[inline(always)]
    fn run(&mut self, run: &[u8]) {
        self.len = self.len.saturating_add(run.len());
    }
    #[inline(always)]
    fn short_run(&mut self, _: &[u8; 16], len: usize) {
        self.len = self.len.saturating_add(len);
    }
    #[inline(always)]
    fn piece(&mut self, _: u32, len: usize, changed: bool) {
        self.len = self.len.saturating_add(len);
        self.changed |= changed;
    }
}

/// Encodes `input` run by run, in any mode.
#[inline(always)]
fn encode_runs(job: &EncodeJob, input: &[u8], out: &mut impl Sink) {
    // Two modes treat `%` or the space specially, even if it is in the set.
    let stays = match job.rule {
        EncodeRule::Plain => job.set,
        EncodeRule::KeepEscapes => job.set.remove(b"%"),
        EncodeRule::Form => job.set.remove(b" "),
    };
    let mut rest = input;
    loop {
        let len = rest.iter().take_while(|&&byte| stays.contains(byte)).count();
        out.run(&rest[..len]);
        rest = &rest[len..];
        if rest.is_empty() {
            break;
        }
        let step = reference::encode_special(job, rest);
        out.piece(step.bytes, step.len, step.changed);
        rest = &rest[step.used..];
    }
}

/// Encodes `input` block by block, in the default mode.
#[inline(always)]
fn encode_blocks(job: &EncodeJob, input: &[u8], out: &mut Cursor<'_>) {
    let common = job.set.common_and_one().map(|other| CommonBytes { other });
    for block in input.chunks(BLOCK) {
        let stays = match common {
            Some(check) if block.len() >= 16 => word::all_stay(block, check),
            _ => block.iter().all(|&byte| job.set.contains(byte)),
        };
        if stays {
            out.push_run(block);
        } else {
            out.push_tripled(block, job.case.escapes(), |byte| !job.set.bit(byte));
        }
    }
}

/// Encodes `input` in any mode. It is not inlined, so that single values and batches share it.
#[inline(never)]
fn encode_any(job: &EncodeJob, input: &[u8], out: &mut Cursor<'_>) {
    if job.is_plain() { encode_blocks(job, input, out) } else { encode_runs(job, input, out) }
}

/// Decodes `input` in any mode, or with `PLAIN` in the default mode. Returns the offset of the malformed escape that ends a strict
/// decoding, or the length of the input.
#[inline(always)]
fn decode_to<const PLAIN: bool>(job: &DecodeJob, input: &[u8], out: &mut impl Sink) -> usize {
    let plus = if !PLAIN && job.plus() { b'+' } else { b'%' };
    let find = |word| word::equal(word, b'%') | if PLAIN { 0 } else { word::equal(word, plus) };
    // The input is decoded up to offset `done`, and searched up to offset `next`.
    let (mut done, mut next) = (0, 0);
    while next < input.len() {
        let start = next;
        next = input.len().min(start + BLOCK);
        let mut found = word::mask(&input[start..next], find);
        let mut runs = 0;
        if PLAIN {
            if !job.strict {
                // A `%` that has another `%` in the next two bytes starts no escape.
                found &= !(found >> 1 | found >> 2);
            }
            // `runs` has each lane at which four consecutive escapes may start. Found bytes after its first lane are
            // dropped: the loop for consecutive escapes decodes them, and then the input is searched again.
            runs = found & found >> 3 & found >> 6 & found >> 9;
            found &= runs ^ runs.wrapping_sub(1);
        }
        while found != 0 {
            let at = start + found.trailing_zeros() as usize;
            let rest = &input[done..];
            // Found bytes are mostly near each other, so short runs are copied without a branch on their lengths (lab: sse2-scalar).
            match rest.first_chunk() {
                Some(sixteen) if at - done <= 16 => out.short_run(sixteen, at - done),
                _ => out.run(&rest[..at - done]),
            }
            let Some(step) = reference::decode_special::<PLAIN>(job, input, at, &input[at..]) else {
                return at;
            };
            out.piece(step.bytes, step.len, step.changed);
            done = at + step.used;
            found &= found - 1;
        }
        if runs != 0 {
            while let Some(byte) = hex::unescape(&input[done..]) {
                out.piece(u32::from(byte), 1, true);
                done += 3;
            }
            next = done;
        }
    }
    let rest = &input[done..];
    match input.last_chunk() {
        // The rest moves to the start of sixteen bytes. `% 128` keeps the shift below 128 bits if the rest is empty.
        Some(last) if rest.len() <= 16 => {
            let sixteen = u128::from_le_bytes(*last) >> (8 * (16 - rest.len()) % 128);
            out.short_run(&sixteen.to_le_bytes(), rest.len());
        }
        _ => out.run(rest),
    }
    input.len()
}

/// Decodes `input` in any mode. It is not inlined, so that single values and batches share it.
#[inline(never)]
fn decode_any(job: &DecodeJob, input: &[u8], out: &mut impl Sink) -> usize {
    if job.is_plain() { decode_to::<true>(job, input, out) } else { decode_to::<false>(job, input, out) }
}

pub(crate) fn encode<'c>(job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    encode_any(job, input, &mut out);
    out.finish()
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    if job.is_plain() {
        let escapes = input.iter().filter(|&&byte| !job.set.contains(byte)).count();
        measure.len = input.len().saturating_add(escapes.saturating_mul(2));
        measure.changed = escapes > 0;
    } else {
        encode_runs(job, input, &mut measure);
    }
    measure
}

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
    let mut out = Cursor::new(out);
    // Most inputs are short and stay unchanged.
    if !job.plus() && word::all_stay(input, NoEscape { strict: true }) {
        out.push_run(input);
        return Outcome::whole(out.finish(), input);
    }
    let stopped = decode_any(job, input, &mut out);
    Outcome::new(out.finish(), input, stopped)
}

pub(crate) fn decode_in_place(_: &mut [u8]) -> Option<usize> {
    None
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Measured {
    let mut measure = Measure::default();
    let stopped = decode_any(job, input, &mut measure);
    Measured::new(measure, stopped)
}

/// Encodes values one by one. Maps their ends in the input to their ends in the output.
pub(crate) fn encode_values<'c>(
    job: &EncodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: OutputSpan<'c>,
) -> Written<'c> {
    let (mut out, mut start) = (Cursor::new(out), 0);
    for (end, place) in ends.each() {
        encode_any(job, &input[start..end], &mut out);
        *place = out.written() as u32;
        start = end;
    }
    out.finish()
}

/// Decodes values one by one; a strict decoding stops at the first malformed escape. Maps their ends in the input to their
/// ends in the output.
pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: OutputSpan<'c>,
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
pub(crate) fn copy_clean<'c>(plus: bool, input: &[u8], out: OutputSpan<'c>) -> Decoded<'c> {
    let (mut out, mut stopped) = (Cursor::new(out), 0);
    // A part is so short that it is still in the first-level cache when it is copied (lab: columns).
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

/// Does nothing, because [`encode_values`] and [`decode_values`] map the ends. Reports that no escape crosses an end.
pub(crate) fn place_ends(_: i32, _: usize, _: &mut Ends) -> bool {
    false
}

/// Decodes the escapes in `input` whose `%` has its bit set in `marks`, in any mode, and copies everything else.
pub(crate) fn decode_marked<'c>(
    job: &DecodeJob,
    input: &[u8],
    marks: Marks<'_>,
    out: OutputSpan<'c>,
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
                out.piece(step.bytes, step.len, step.changed);
                done = at + step.used;
            }
        }
    }
    out.push_run(&input[done..]);
    Decoded { written: out.finish(), stopped: input.len() }
}
