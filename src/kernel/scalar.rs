//! The scalar tier: the engine for CPUs without a vector tier.
//!
//! [`rewrite`] searches eight bytes at a time in a machine word for the bytes that may change, copies all other bytes, and asks
//! `reference` for the output of each byte that it found. Sets that words cannot test, and measuring in rare modes, go run by run.
//! Measuring in the default modes counts the bytes to escape, or the escapes to decode, block by block.

use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::{self, Ends};
use crate::kernel::job::{
    CopyJob, DecodeJob, Decoded, EncodeJob, EncodeRule, Fields, ListJob, MarkJob, Marks, Measure, Measured,
    Outcome, PlaceJob, PlainJob, RowState, RowsJob, Search, Stops,
};
use crate::kernel::reference::{self, Step};
use crate::kernel::word;

/// The number of bytes in a block: one search covers them, with a mask of one bit for each byte.
const BLOCK: usize = 64;

/// The largest number of escapes for which a block is written escape by escape. A block with more is written without a branch
/// on their positions.
const DENSE: u32 = 24;

/// The longest input that is decoded word by word, without a branch on the positions of the escapes.
const WORDS: usize = 32;

/// The number of escapes that are decoded at once in a run of escapes, such as escaped Chinese text.
const RUN: usize = 4;

/// A mode of encoding or decoding. This is a trait because the compiler would call closures instead of inlining them.
trait Rule: Copy {
    /// Whether every found byte becomes an escape.
    const ESCAPES: bool = false;
    /// Whether `special` finds exactly the `%`, and all escapes are decoded.
    const UNESCAPES: bool = false;

    /// Returns the top bit of each byte of `word` that may change.
    fn special(self, word: u64) -> u64;
    /// Returns the step for the found byte at the start of `rest`, which are the bytes from offset `at` of `input` on, or `None` if a
    /// strict decoder rejects it. If a step uses more than one byte, no other byte of these is found.
    fn one(self, input: &[u8], at: usize, rest: &[u8]) -> Option<Step>;
    /// Reports whether a malformed escape is an error.
    #[inline(always)]
    fn is_strict(self) -> bool {
        false
    }
    /// Decodes the last bytes of an input if `UNESCAPES`. Returns their number, or the offset of the escape that ends a strict
    /// decoding.
    #[inline(always)]
    fn unescape(self, rest: &[u8], _: &mut Cursor<'_>) -> usize {
        rest.len()
    }
}

/// The default mode of encoding, for a set of letters, digits, `-`, `.`, `_` and one byte more, which words can test.
#[derive(Clone, Copy)]
struct Usual {
    other: u8,
    case: HexCase,
}

impl Rule for Usual {
    const ESCAPES: bool = true;

    #[inline(always)]
    fn special(self, word: u64) -> u64 {
        word::unusual(word, self.other)
    }
    #[inline(always)]
    fn one(self, _: &[u8], _: usize, rest: &[u8]) -> Option<Step> {
        Some(Step::escape(rest[0], self.case))
    }
}

/// The default mode of decoding.
#[derive(Clone, Copy)]
struct Percents<'j>(&'j DecodeJob);

impl Rule for Percents<'_> {
    const UNESCAPES: bool = true;

    #[inline(always)]
    fn special(self, word: u64) -> u64 {
        word::equal(word, b'%')
    }
    #[inline(always)]
    fn one(self, input: &[u8], at: usize, rest: &[u8]) -> Option<Step> {
        reference::decode_special::<true>(self.0, input, at, rest)
    }
    #[inline(always)]
    fn is_strict(self) -> bool {
        self.0.strict
    }
    #[inline(always)]
    fn unescape(self, rest: &[u8], out: &mut Cursor<'_>) -> usize {
        out.lend(|room| {
            let outcome = decode_words(self.0, rest, room);
            let stopped = outcome.end.stopped(rest);
            (outcome.written, stopped)
        })
    }
}

/// Any mode of decoding.
#[derive(Clone, Copy)]
struct Decoding<'j> {
    job: &'j DecodeJob,
    /// A `+` if that means a space. Otherwise a `%`, for which `special` searches anyway.
    plus: u8,
}

impl Rule for Decoding<'_> {
    #[inline(always)]
    fn special(self, word: u64) -> u64 {
        word::either(word, b'%', self.plus)
    }
    #[inline(always)]
    fn one(self, input: &[u8], at: usize, rest: &[u8]) -> Option<Step> {
        reference::decode_special::<false>(self.job, input, at, rest)
    }
}

/// The offset of the malformed escape that ends a strict decoding.
struct Malformed(usize);

/// A part of the input, with the result of the search in it.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    /// The end, at most [`BLOCK`] bytes after the start.
    end: usize,
    /// The found bytes: bit `i` is set if the byte at `start + i` may change.
    found: u64,
}

/// The input, with a copy of its last bytes, so that sixteen bytes can be read from any offset.
#[derive(Clone, Copy)]
struct Source<'a> {
    input: &'a [u8],
    /// The last sixteen bytes as a little-endian number. A shorter input is padded with zeros.
    last: u128,
}

impl<'a> Source<'a> {
    #[inline(always)]
    fn new(input: &'a [u8]) -> Source<'a> {
        let last = match input.last_chunk() {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => {
                let [low, high] = word::words(input);
                u128::from(high) << 64 | u128::from(low)
            }
        };
        Source { input, last }
    }
    /// Copies the sixteen bytes of the input from offset `from` to offset `at` of `text`. Bytes after the end of the input are
    /// unspecified.
    #[inline(always)]
    fn copy_sixteen<const T: usize>(&self, text: &mut [u8; T], at: usize, from: usize) {
        match self.input.get(from..).and_then(<[u8]>::first_chunk::<16>) {
            Some(bytes) => store(text, at, *bytes),
            None => {
                let before = from - self.input.len().saturating_sub(16);
                store(text, at, (self.last >> (8 * before % 128)).to_le_bytes());
            }
        }
    }
    /// Copies the bytes of the input from offset `from` to offset `to`, at most a block, to offset `at` of `text`. Returns the
    /// offset in `text` after them.
    #[inline(always)]
    fn copy<const T: usize>(&self, text: &mut [u8; T], at: usize, from: usize, to: usize) -> usize {
        let mut done = from;
        loop {
            self.copy_sixteen(text, at + done - from, done);
            done += 16;
            if done >= to {
                return at + to - from;
            }
        }
    }
}

/// Stores `N` bytes at offset `at` of `text`. Callers make `text` large enough; the check keeps the code free of panics.
#[inline(always)]
fn store<const N: usize, const T: usize>(text: &mut [u8; T], at: usize, bytes: [u8; N]) {
    debug_assert!(at + N <= T);
    if let Some(place) = text.get_mut(at..at + N) {
        place.copy_from_slice(&bytes);
    }
}

/// A buffer for the output of one block: three bytes for each byte of input, and slack for wide stores. Its size is a constant,
/// so the compiler removes bounds checks.
type Text = [u8; 256 + 16];

/// A block and the 80 bytes after it: loads of sixteen bytes near the end of the block read some of these.
type Near = [u8; 128 + 16];

/// Returns the values of four consecutive escapes, or `None` unless all four are valid.
#[inline(always)]
fn four_escapes(escapes: &[u8; 3 * RUN]) -> Option<[u8; RUN]> {
    // A word with a one at the offset of each of the first three `%`.
    let percents = 0x0001_0000_0100_0001;
    let start = u64::from_le_bytes(*escapes.first_chunk()?);
    if start & (0xFF * percents) != u64::from(b'%') * percents || escapes[9] != b'%' {
        return None;
    }
    let (mut bytes, mut worst) = ([0; RUN], 0);
    for (byte, escape) in bytes.iter_mut().zip(escapes.as_chunks::<3>().0) {
        let (high, low) = (hex::value(escape[1]), hex::value(escape[2]));
        worst |= high | low;
        *byte = high << 4 | low;
    }
    if worst < 16 { Some(bytes) } else { None }
}

/// Writes `part` of the input, starting at offset `from`, with the steps of `rule` at the found bytes. Returns the offset in the
/// input after the written bytes. That is up to two bytes after the part if an escape crosses its end. `text` is a buffer.
#[inline(always)]
fn write_part<R: Rule, const T: usize>(
    out: &mut Cursor<'_>,
    rule: R,
    source: &Source<'_>,
    text: &mut [u8; T],
    mut from: usize,
    Part { start, end, mut found }: Part,
) -> Result<usize, Malformed> {
    let mut at = 0;
    while found != 0 {
        let place = start + found.trailing_zeros() as usize;
        found &= found - 1;
        let step = rule.one(source.input, place, &source.input[place..]).ok_or(Malformed(place))?;
        at = source.copy(text, at, from, place);
        store(text, at, step.bytes.to_le_bytes());
        at += step.len;
        from = place + step.used;
    }
    if from < end {
        at = source.copy(text, at, from, end);
        from = end;
    }
    out.push_run(&text[..at]);
    Ok(from)
}

/// Does the work of [`write_part`] for a decoding, whose output is never longer than its input. It is not inlined, because long input
/// needs it once or twice, and each copy takes more than a kilobyte.
#[inline(never)]
fn write_shorter<R: Rule>(
    out: &mut Cursor<'_>,
    rule: R,
    source: &Source<'_>,
    from: usize,
    part: Part,
) -> Result<usize, Malformed> {
    write_part(out, rule, source, &mut [0; BLOCK + 16], from, part)
}

/// Decodes consecutive escapes at the start of `rest`, a few at a time, and returns the number of input bytes they take.
#[inline(always)]
fn write_run(out: &mut Cursor<'_>, rest: &[u8]) -> usize {
    let mut groups = rest.as_chunks::<{ 3 * RUN }>().0;
    let mut read = 0;
    while let Some(first) = groups.first().and_then(four_escapes) {
        let mut text = [0; BLOCK];
        let places = text.as_chunks_mut::<RUN>().0;
        places[0] = first;
        let mut run = 1;
        for (group, place) in groups[1..].iter().zip(&mut places[1..]) {
            let Some(bytes) = four_escapes(group) else { break };
            *place = bytes;
            run += 1;
        }
        out.push_part(&text, RUN * run);
        read += 3 * RUN * run;
        groups = &groups[run..];
    }
    read
}

/// Writes the block at the start of `near`, which is at offset `start` of `input`. `from` and the returned offset are relative to the
/// start of `near`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "the parts of a block")]
fn write_near<R: Rule>(
    out: &mut Cursor<'_>,
    rule: R,
    input: &[u8],
    start: usize,
    near: &Near,
    text: &mut Text,
    mut from: usize,
    mut found: u64,
) -> Result<usize, Malformed> {
    // The remainders keep offsets inside the buffers, so the compiler removes bounds checks.
    let sixteen = |from: usize| *near[from % 128..].first_chunk::<16>().unwrap_or(&[0; 16]);
    let mut at = 0;
    loop {
        let place = (found.trailing_zeros() as usize).min(BLOCK);
        // Found bytes are mostly at most sixteen bytes apart, so this copies sixteen without a loop.
        store(text, at % 256, sixteen(from));
        for more in (16..place.saturating_sub(from)).step_by(16) {
            store(text, (at + more) % 256, sixteen(from + more));
        }
        at += place.saturating_sub(from);
        if found == 0 {
            break;
        }
        found &= found - 1;
        let step = rule.one(input, start + place, &near[place..]).ok_or(Malformed(place))?;
        store(text, at % 256, step.bytes.to_le_bytes());
        at += step.len;
        from = place + step.used;
    }
    out.push_run(&text[..at]);
    Ok(from.max(BLOCK))
}

/// Writes `input` to `out`, with the steps of `rule` at the bytes that may change.
#[inline(always)]
fn rewrite<R: Rule>(rule: R, input: &[u8], out: &mut Cursor<'_>, case: HexCase) -> Result<(), Malformed> {
    let (source, mut text) = (Source::new(input), [0; _]);
    // The input is written up to offset `from`, and searched up to offset `start`.
    let (mut from, mut start) = (0, 0);
    while let Some(block) = input[start..].first_chunk() {
        let mut found = search_block(block, rule);
        let end = start + BLOCK;
        if found == 0 && from == start {
            out.push_run(block);
            from = end;
        } else if R::ESCAPES && found == u64::MAX {
            out.push_escaped_block(block, case.escapes());
            from = end;
        } else if R::ESCAPES && found.count_ones() > DENSE {
            out.push_tripled(block, case.escapes(), |_| {
                let escaped = found as u32;
                found >>= 1;
                escaped
            });
            from = end;
        } else {
            if R::UNESCAPES && !rule.is_strict() {
                // A `%` that has another `%` in the next two bytes starts no escape.
                found &= !(found >> 1 | found >> 2);
            }
            from = match input[start..].first_chunk() {
                Some(near) => write_near(out, rule, input, start, near, &mut text, from - start, found)
                    .map(|from| start + from)
                    .map_err(|Malformed(place)| Malformed(start + place))?,
                None if R::ESCAPES => {
                    write_part(out, rule, &source, &mut text, from, Part { start, end, found })?
                }
                None => write_shorter(out, rule, &source, from, Part { start, end, found })?,
            };
            if R::UNESCAPES && !rule.is_strict() {
                let run = write_run(out, &input[from..]);
                if run > 0 {
                    from += run;
                    start = from;
                    continue;
                }
            }
        }
        start = end;
    }
    let rest = Found::new(&input[start..], rule);
    if !R::ESCAPES && !rest.any {
        out.push_slice(&input[from..]);
        return Ok(());
    }
    if R::UNESCAPES {
        let stopped = from + rule.unescape(&input[from..], out);
        return if stopped < input.len() { Err(Malformed(stopped)) } else { Ok(()) };
    }
    let part = Part { start, end: input.len(), found: rest.bits() };
    if R::ESCAPES {
        write_part(out, rule, &source, &mut text, from, part)?;
    } else {
        write_shorter(out, rule, &source, from, part)?;
    }
    Ok(())
}

/// Decodes the input from offset `start` on, a word at a time and without a branch on the positions of the escapes.
#[inline(always)]
fn unescape(strict: bool, input: &[u8], mut start: usize, out: &mut Cursor<'_>) -> Result<(), Malformed> {
    while input.len() - start > 8 {
        let word = input[start..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        start += write_unescaped(word, None, strict, start, out)?;
    }
    let rest = input.len() - start;
    let word = match input.last_chunk() {
        // Two shifts, because one shift by 64 bits would overflow.
        Some(last) => u64::from_le_bytes(*last) >> (4 * (8 - rest)) >> (4 * (8 - rest)),
        None => word::words(input)[0],
    };
    write_unescaped(word, Some(rest), strict, start, out)?;
    Ok(())
}

/// Writes `word`, which is at offset `start`, with its escapes decoded. Returns the number of its bytes that were read: `len`,
/// or if `len` is `None`, eight without the last bytes that may start an escape in the next word.
#[inline(always)]
fn write_unescaped(
    word: u64,
    len: Option<usize>,
    strict: bool,
    start: usize,
    out: &mut Cursor<'_>,
) -> Result<usize, Malformed> {
    let word = word::unescape(word);
    let len = match len {
        Some(len) => len,
        None if word.percents >> 48 == 0 => 8,
        // This is rare. A branch is faster here, because then the next word does not wait for this one.
        None => 8 - word.held_back(),
    };
    if strict {
        let malformed = word.percents & !word.escapes;
        let place = malformed.trailing_zeros() as usize / 8;
        if place < len {
            return Err(Malformed(start + place));
        }
    }
    out.push_word(word.bytes, len - word.dropped());
    Ok(len)
}

/// Counts the escapes of `input`. Whether a `%` starts an escape depends only on the two bytes after it, so blocks do not wait for
/// each other.
#[inline(always)]
fn count_escapes(strict: bool, input: &[u8]) -> Result<usize, Malformed> {
    let (mut count, mut start) = (0, 0);
    while start < input.len() {
        let rest = &input[start..];
        // A block and the two bytes after it. Zeros, which are not digits, replace bytes after the end of the input.
        let mut last = [0; BLOCK + 2];
        let near = rest.first_chunk().unwrap_or_else(|| {
            last.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
            &last
        });
        if let (Some(a), Some([b @ .., _, _])) = (near.first_chunk::<32>(), near.last_chunk::<34>())
            && word::any_equal([a, b], b'%')
        {
            let [percents, escapes] = word::count_escapes(near);
            if strict && escapes < percents {
                let malformed = |part: &[u8]| part[0] == b'%' && hex::unescape(part).is_none();
                let place = near.windows(3).position(malformed);
                return Err(Malformed(start + place.unwrap_or(BLOCK)));
            }
            count += escapes;
        }
        start += BLOCK;
    }
    Ok(count)
}

/// Returns the bytes of a block that may change, as a mask with a bit for each byte.
#[inline(always)]
fn search_block(block: &[u8; BLOCK], rule: impl Rule) -> u64 {
    let mut found = [0; BLOCK / 8];
    let mut any = 0;
    for (found, word) in found.iter_mut().zip(block.as_chunks().0) {
        *found = rule.special(u64::from_le_bytes(*word));
        any |= *found;
    }
    if any == 0 {
        return 0;
    }
    (0..).step_by(8).zip(found).fold(0, |mask, (lane, found)| mask | word::bits(found) << lane)
}

/// The bytes that may change in an input shorter than a block.
struct Found {
    /// The top bit of each byte that may change, for each word from the start of the input.
    words: [u64; BLOCK / 8],
    /// The top bit of each byte that may change among the last eight, which overlap the words before.
    last: u64,
    len: usize,
    any: bool,
}

impl Found {
    #[inline(always)]
    fn new(bytes: &[u8], rule: impl Rule) -> Found {
        let (mut words, len) = ([0; BLOCK / 8], bytes.len());
        let Some(last) = bytes.last_chunk() else {
            // The mask removes the bytes that pad the word, because `special` may find zeros.
            words[0] = rule.special(word::words(bytes)[0]) & ((1 << (8 * len)) - 1);
            return Found { words, last: 0, len: 8, any: words[0] != 0 };
        };
        let last = rule.special(u64::from_le_bytes(*last));
        let mut any = last;
        for (found, word) in words.iter_mut().zip(bytes[..len - 1].as_chunks().0) {
            *found = rule.special(u64::from_le_bytes(*word));
            any |= *found;
        }
        Found { words, last, len, any: any != 0 }
    }
    /// Returns a mask with a bit for each byte that may change.
    #[inline(always)]
    fn bits(&self) -> u64 {
        if !self.any {
            return 0;
        }
        let mut found = word::bits(self.last) << (self.len - 8);
        for (i, &word) in self.words[..self.len.div_ceil(8)].iter().enumerate() {
            found |= word::bits(word) << (8 * i);
        }
        found
    }
}

/// Encodes or decodes run by run: calls `write` with each run of bytes for which `stays` holds, and the step of `next` at the byte
/// after it, which gets the offset of that byte. Returns the offset of the byte for which `next` returned `None`, or the length of the input.
#[inline(always)]
fn run_by_run(
    input: &[u8],
    stays: impl Fn(u8) -> bool,
    next: impl Fn(usize, &[u8]) -> Option<Step>,
    mut write: impl FnMut(&[u8], Option<Step>),
) -> usize {
    let mut rest = input;
    loop {
        let len = rest.iter().take_while(|&&byte| stays(byte)).count();
        let (run, after) = rest.split_at(len);
        let step = if after.is_empty() { None } else { next(input.len() - after.len(), after) };
        write(run, step);
        match step {
            Some(step) => rest = &after[step.used..],
            None => return input.len() - after.len(),
        }
    }
}

/// Encodes `input` in any mode and with any set. See [`run_by_run`].
#[inline(always)]
fn encode_runs(job: &EncodeJob, input: &[u8], write: impl FnMut(&[u8], Option<Step>)) {
    // The last two modes treat `%` or the space specially even if it is in the set.
    let stays = match job.rule {
        EncodeRule::Plain => job.set,
        EncodeRule::KeepEscapes => job.set.remove(b"%"),
        EncodeRule::Form => job.set.remove(b" "),
    };
    let next = |_, rest: &[u8]| Some(reference::encode_special(job, rest));
    run_by_run(input, |byte| stays.contains(byte), next, write);
}

/// Adds a run of bytes that stay, and the step after it, to `measure`.
#[inline(always)]
fn add(measure: &mut Measure, run: &[u8], step: Option<Step>) {
    measure.len = measure.len.saturating_add(run.len() + step.map_or(0, |step| step.len));
    measure.changed |= step.is_some_and(|step| step.changed);
}

/// Returns the length of the input, or the offset of the malformed escape that ended the decoding.
#[inline(always)]
fn stopped<T>(input: &[u8], done: Result<T, Malformed>) -> usize {
    match done {
        Ok(_) => input.len(),
        Err(Malformed(at)) => at,
    }
}

// Most inputs are shorter than a block, and many are clean. The entry points handle these inputs before they call the general
// code.

pub(crate) fn encode<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let Some(other) = job.set.usual_and_one() else { return encode_long(job, input, out) };
    if input.len() >= BLOCK || !job.is_plain() {
        return encode_long(job, input, out);
    }
    // Two overlapping pieces cover the input.
    let changes = if let (Some(start), Some(end)) = (input.first_chunk::<32>(), input.last_chunk::<32>()) {
        word::any_unusual(start, other) | word::any_unusual(end, other)
    } else if let (Some(start), Some(end)) = (input.first_chunk::<16>(), input.last_chunk::<16>()) {
        word::any_unusual(start, other) | word::any_unusual(end, other)
    } else if let (Some(start), Some(end)) = (input.first_chunk::<8>(), input.last_chunk::<8>()) {
        word::any_unusual(start, other) | word::any_unusual(end, other)
    } else {
        true
    };
    if changes {
        return encode_short(job, input, out);
    }
    let mut out = Cursor::new(out);
    out.push_run(input);
    out.finish()
}

/// Encodes an input shorter than a block in the default mode.
#[inline(never)]
fn encode_short<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    out.push_tripled(input, job.case.escapes(), |byte| !job.set.bit(byte));
    out.finish()
}

#[inline(never)]
fn encode_long<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    encode_any(job, input, &mut out);
    out.finish()
}

/// Encodes any input. Single values and columns share this long function, so it is never inlined.
#[inline(never)]
fn encode_any(job: &EncodeJob, input: &[u8], out: &mut Cursor<'_>) {
    match job.set.usual_and_one() {
        Some(other) if job.is_plain() => {
            // Encoding never fails, so the result is ignored.
            let _ = rewrite(Usual { other, case: job.case }, input, out, job.case);
        }
        _ => encode_runs(job, input, |run, step| {
            out.push_run(run);
            if let Some(step) = step {
                out.push_word(u64::from(step.bytes), step.len);
            }
        }),
    }
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    match job.set.usual_and_one() {
        Some(other) if job.is_plain() => {
            let (words, rest) = input.as_chunks();
            let last = word::unusual(word::words(rest)[0], other) & ((1 << (8 * rest.len())) - 1);
            let escapes = words.iter().fold(word::count(last), |escapes, word| {
                escapes + word::count(word::unusual(u64::from_le_bytes(*word), other))
            });
            measure.len = input.len().saturating_add(escapes.saturating_mul(2));
            measure.changed = escapes > 0;
        }
        _ => encode_runs(job, input, |run, step| add(&mut measure, run, step)),
    }
    measure
}

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Outcome<'c> {
    if input.len() >= BLOCK || job.plus() {
        return decode_long(job, input, out);
    }
    // Two overlapping pieces cover the input.
    let changes = if let (Some(start), Some(end)) = (input.first_chunk::<32>(), input.last_chunk::<32>()) {
        word::any_equal([start, end], b'%')
    } else if let (Some(start), Some(end)) = (input.first_chunk::<16>(), input.last_chunk::<16>()) {
        word::any_equal([start, end], b'%')
    } else {
        let [start, end] = word::words(if input.len() < 16 { input } else { &[] });
        word::equal(start, b'%') | word::equal(end, b'%') != 0
    };
    if !changes {
        let mut out = Cursor::new(out);
        out.push_run(input);
        return Outcome::whole(out.finish(), input);
    }
    if input.len() <= WORDS && job.is_plain() {
        decode_words(job, input, out)
    } else {
        decode_short(job, input, out)
    }
}

/// Decodes an input in the default mode, a word at a time. Longer inputs than [`WORDS`] are decoded faster by blocks.
#[inline(never)]
fn decode_words<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Outcome<'c> {
    let mut out = Cursor::new(out);
    let done = unescape(job.strict, input, 0, &mut out);
    let stopped = stopped(input, done);
    Outcome::new(out.finish(), input, stopped)
}

/// Decodes an input shorter than a block, in a mode in which `+` stays.
#[inline(never)]
fn decode_short<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Outcome<'c> {
    let found = Found::new(input, Percents(job)).bits();
    let (mut out, mut text) = (Cursor::new(out), [0; BLOCK + 16]);
    let (source, part) = (Source::new(input), Part { start: 0, end: input.len(), found });
    let done = if job.is_plain() {
        write_part(&mut out, Percents(job), &source, &mut text, 0, part)
    } else {
        write_part(&mut out, Decoding { job, plus: b'%' }, &source, &mut text, 0, part)
    };
    let stopped = stopped(input, done);
    Outcome::new(out.finish(), input, stopped)
}

#[inline(never)]
fn decode_long<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Outcome<'c> {
    let mut out = Cursor::new(out);
    let stopped = decode_any(job, input, &mut out);
    Outcome::new(out.finish(), input, stopped)
}

/// Decodes any input, and returns where decoding stopped. Single values and columns share this long function, so it is never
/// inlined. A returned cursor would be copied as a whole right after a part of it was stored, and that load would wait.
#[inline(never)]
fn decode_any(job: &DecodeJob, input: &[u8], out: &mut Cursor<'_>) -> usize {
    let done = if job.is_plain() {
        rewrite(Percents(job), input, out, HexCase::Upper)
    } else {
        // The other two modes share one function, so the code is smaller.
        let plus = [b'%', b'+'][usize::from(job.plus())];
        rewrite(Decoding { job, plus }, input, out, HexCase::Upper)
    };
    stopped(input, done)
}

pub(crate) fn decode_in_place(_: PlainJob, _: &mut [u8]) -> Option<usize> {
    None
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Measured {
    let mut measure = Measure::default();
    let stopped = if job.is_plain() {
        let escapes = count_escapes(job.strict, input);
        let count = *escapes.as_ref().unwrap_or(&0);
        measure = Measure { len: input.len() - 2 * count, changed: count > 0 };
        stopped(input, escapes)
    } else {
        let stays = |byte: u8| byte != b'%' && !(byte == b'+' && job.plus());
        let next = |at, rest: &[u8]| reference::decode_special::<false>(job, input, at, rest);
        run_by_run(input, stays, next, |run, step| add(&mut measure, run, step))
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
    let mut out = Cursor::new(out);
    let mut start = 0;
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
pub(crate) fn copy_clean<'c>(job: CopyJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let (mut out, mut stopped) = (Cursor::new(out), 0);
    // The bytes that were searched are still in the first-level cache when they are copied.
    for part in input.chunks(2 * ends::MAX_BYTES) {
        let found = if job.plus { memchr::memchr2(b'%', b'+', part) } else { memchr::memchr(b'%', part) };
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
pub(crate) fn place(_: PlaceJob, _: &mut Ends) -> bool {
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
pub(crate) fn list(_: &ListJob, input: &[u64], places: &mut [u32]) -> usize {
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
pub(crate) fn stops(_: &ListJob, input: &[[u64; 4]], places: &mut [u32]) -> Stops {
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
pub(crate) fn mark(job: &MarkJob, input: &[u8], marks: &mut [[u64; 4]]) {
    for (marks, piece) in marks.iter_mut().zip(input.chunks(BLOCK)) {
        let (words, rest) = piece.as_chunks::<8>();
        *marks = job.0.map(|wanted| {
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
pub(crate) fn rows(job: &RowsJob, input: &[u8], state: &mut RowState, marks: &mut [[u64; 4]]) -> usize {
    job.mark(input, state, marks, Wordwise)
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
