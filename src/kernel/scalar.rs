//! The scalar tier: the fallback on CPUs without a vector tier, and what every tier must equal on every input.
//!
//! [`encode_one`] and [`decode_one`] are the rules, in the words of the specifications. [`rewrite`] is all else: it searches
//! eight bytes at a time in a machine word, copies what stays, and asks the rule about each byte that it has a say in.

use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, DecodeRule, Decoded, EncodeJob, EncodeRule, Measure, Measured};
use crate::kernel::word;

/// How many bytes are searched together.
const BLOCK: usize = 64;

/// With at least this many escapes in a block, byte by byte is faster than from one to the next: they follow one another,
/// as in escaped Chinese, so the CPU predicts each.
const MANY: u32 = 20;

/// What a byte becomes, or an escape.
#[derive(Clone, Copy)]
struct Becomes {
    /// How many bytes of the input that takes: at most three.
    used: usize,
    /// The first `len` bytes, little-endian, are what is written. (An array would be taken apart and put together again.)
    bytes: u32,
    len: usize,
    /// Whether they differ from what they take the place of.
    changed: bool,
}

impl Becomes {
    #[inline(always)]
    fn escape(byte: u8, case: HexCase) -> Becomes {
        let bytes = u32::from_le_bytes(case.escapes()[usize::from(byte)]);
        Becomes { used: 1, bytes, len: 3, changed: true }
    }
    #[inline(always)]
    fn byte(byte: u8, used: usize, changed: bool) -> Becomes {
        Becomes { used, bytes: u32::from(byte), len: 1, changed }
    }
    /// The escape at the start of `rest`, as it is.
    #[inline(always)]
    fn same(rest: &[u8]) -> Becomes {
        let bytes = u32::from_le_bytes([rest[0], rest[1], rest[2], 0]);
        Becomes { used: 3, bytes, len: 3, changed: false }
    }
}

/// RFC 3986, section 2.1: a byte that is not allowed is written `"%" HEXDIG HEXDIG`. `rest` begins with a byte that is
/// not a member of the set or has a meaning under the rule.
#[inline(always)]
fn encode_one(job: &EncodeJob, rest: &[u8]) -> Becomes {
    match (job.rule, rest[0]) {
        (EncodeRule::KeepEscapes, b'%') if hex::unescape(rest).is_some() => Becomes::same(rest),
        (EncodeRule::Form, b' ') => Becomes::byte(b'+', 1, true),
        (_, byte) => Becomes::escape(byte, job.case),
    }
}

/// URL Standard, section 1.3, "percent-decode": a `%` and the two hexadecimal digits that follow it become one byte;
/// everything else stays. `rest` begins with a `%`, or with a `+` if that is a space. Nothing comes of a `%` that a strict
/// decoding refuses.
#[inline(always)]
fn decode_one<const PLAIN: bool>(job: &DecodeJob, rest: &[u8]) -> Option<Becomes> {
    Some(match (rest[0], hex::unescape(rest)) {
        (b'+', _) => Becomes::byte(b' ', 1, true),
        (_, Some(byte)) if PLAIN || !job.stays(byte) => Becomes::byte(byte, 3, true),
        (_, Some(byte)) if job.upper && rest[..3] != hex::escape(byte, HexCase::Upper) => {
            Becomes { used: 3, ..Becomes::escape(byte, HexCase::Upper) }
        }
        (_, Some(_)) => Becomes::same(rest),
        (_, None) if job.strict => return None,
        (_, None) => Becomes::byte(b'%', 1, false),
    })
}

/// Of a strict decoding: a `%` at this offset starts no escape.
struct Malformed(usize);

/// A stretch of the input, and where the search has found something in it.
#[derive(Clone, Copy)]
struct Stretch {
    start: usize,
    /// At most [`BLOCK`] bytes after the start.
    end: usize,
    /// Bit `i`: the rule has a say about the byte at `start + i`.
    found: u64,
}

/// Where bytes go: to the caller's room, or only to a count.
trait Output {
    /// Puts a stretch of `input` from `from` on, but for what `one` says about the bytes that were found, which start
    /// `ESCAPES` or not; returns where that ends, which is up to two bytes after the stretch if its last escape reaches
    /// over the end.
    fn put<const ESCAPES: bool>(
        &mut self,
        input: &[u8],
        from: usize,
        stretch: Stretch,
        one: impl Fn(&[u8]) -> Option<Becomes>,
    ) -> Result<usize, Malformed>;
    /// Puts a whole block.
    fn put_block(&mut self, bytes: &[u8; BLOCK]);
    /// Puts a whole block, every byte of it as an escape.
    fn put_escapes(&mut self, bytes: &[u8; BLOCK], case: HexCase);
}

/// Sixteen bytes from `at` on, with zeros after the end of the input.
#[inline(always)]
fn sixteen(input: &[u8], at: usize) -> [u8; 16] {
    let rest = input.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => *bytes,
        None => {
            let [low, high] = word::words(rest);
            (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
        }
    }
}

/// Three bytes for each of a block, and room for the ends of wide writes.
type Text = [u8; 3 * BLOCK + 64];

/// Writes `N` bytes, of which there are never more than have room.
#[inline(always)]
fn write<const N: usize>(text: &mut Text, at: usize, bytes: [u8; N]) {
    debug_assert!(at + N <= text.len());
    if let Some(place) = text.get_mut(at..at + N) {
        place.copy_from_slice(&bytes);
    }
}

/// Writes the bytes of `input` between two places, at most a block; returns where that ends.
#[inline(always)]
fn copy(text: &mut Text, at: usize, input: &[u8], from: usize, to: usize) -> usize {
    let mut done = from;
    loop {
        write(text, at + done - from, sixteen(input, done));
        done += 16;
        if done >= to {
            return at + to - from;
        }
    }
}

impl Output for Cursor<'_> {
    #[inline(always)]
    fn put<const ESCAPES: bool>(
        &mut self,
        input: &[u8],
        mut from: usize,
        Stretch { start, end, mut found }: Stretch,
        one: impl Fn(&[u8]) -> Option<Becomes>,
    ) -> Result<usize, Malformed> {
        // Put together aside, where the compiler sees that there is room.
        let (mut text, mut at) = ([0; 3 * BLOCK + 64], 0);
        if ESCAPES && found.count_ones() >= MANY {
            // An escape that reaches over the end of the stretch is taken whole.
            found >>= (from - start) % 64;
            while from < end {
                let becomes = if found & 1 != 0 {
                    one(&input[from..]).ok_or(Malformed(from))?
                } else {
                    Becomes::byte(input[from], 1, false)
                };
                write(&mut text, at, becomes.bytes.to_le_bytes());
                at += becomes.len;
                from += becomes.used;
                found >>= becomes.used;
            }
            found = 0;
        }
        while found != 0 {
            let place = start + found.trailing_zeros() as usize;
            found &= found - 1;
            // An escape that stays whole may have digits that are not members of the set.
            if place >= from {
                let becomes = one(&input[place..]).ok_or(Malformed(place))?;
                at = copy(&mut text, at, input, from, place);
                write(&mut text, at, becomes.bytes.to_le_bytes());
                at += becomes.len;
                from = place + becomes.used;
            }
        }
        if from < end {
            at = copy(&mut text, at, input, from, end);
            from = end;
        }
        self.push_run(&text[..at]);
        Ok(from)
    }
    #[inline(always)]
    fn put_block(&mut self, bytes: &[u8; BLOCK]) {
        self.push_run(bytes);
    }
    #[inline(always)]
    fn put_escapes(&mut self, bytes: &[u8; BLOCK], case: HexCase) {
        let escapes = case.escapes();
        // The fourth byte of each is overwritten.
        let mut all = [0; 3 * BLOCK + 1];
        for (i, &byte) in bytes.iter().enumerate() {
            all[3 * i..3 * i + 4].copy_from_slice(&escapes[usize::from(byte)]);
        }
        self.push_slice(&all[..3 * BLOCK]);
    }
}

impl Output for Measure {
    #[inline(always)]
    fn put<const ESCAPES: bool>(
        &mut self,
        input: &[u8],
        mut from: usize,
        Stretch { start, end, mut found }: Stretch,
        one: impl Fn(&[u8]) -> Option<Becomes>,
    ) -> Result<usize, Malformed> {
        let mut len = 0;
        while found != 0 {
            let place = start + found.trailing_zeros() as usize;
            found &= found - 1;
            if place >= from {
                let becomes = one(&input[place..]).ok_or(Malformed(place))?;
                len += place - from + becomes.len;
                self.changed |= becomes.changed;
                from = place + becomes.used;
            }
        }
        if from < end {
            len += end - from;
            from = end;
        }
        self.len = self.len.saturating_add(len);
        Ok(from)
    }
    #[inline(always)]
    fn put_block(&mut self, _: &[u8; BLOCK]) {
        self.len = self.len.saturating_add(BLOCK);
    }
    #[inline(always)]
    fn put_escapes(&mut self, _: &[u8; BLOCK], _: HexCase) {
        self.len = self.len.saturating_add(3 * BLOCK);
        self.changed = true;
    }
}

/// Puts `input`, but for what `one` says about the bytes that `special` finds: that takes a word, and gives the top bit of
/// each such byte; `one` takes the input from such a byte on. It escapes all of them if `escaping` says how.
#[inline(always)]
fn rewrite<const ESCAPES: bool, O: Output>(
    input: &[u8],
    out: &mut O,
    escaping: Option<HexCase>,
    special: impl Fn(u64) -> u64,
    one: impl Fn(&[u8]) -> Option<Becomes>,
) -> Result<(), Malformed> {
    // What is before `from` has been put; what is before `start` has been searched.
    let (mut from, mut start) = (0, 0);
    while let Some(block) = input[start..].first_chunk() {
        let found = search_block(block, &special);
        match escaping {
            _ if found == 0 && from == start => {
                out.put_block(block);
                from += BLOCK;
            }
            Some(case) if found == u64::MAX => {
                out.put_escapes(block, case);
                from += BLOCK;
            }
            _ => {
                from = out.put::<ESCAPES>(input, from, Stretch { start, end: start + BLOCK, found }, &one)?
            }
        }
        start += BLOCK;
    }
    let found = search_short(&input[start..], &special);
    out.put::<ESCAPES>(input, from, Stretch { start, end: input.len(), found }, &one)?;
    Ok(())
}

/// A bit for each byte of a block that `special` finds.
#[inline(always)]
fn search_block(block: &[u8; BLOCK], special: impl Fn(u64) -> u64) -> u64 {
    let mut found = [0; BLOCK / 8];
    let mut any = 0;
    for (found, word) in found.iter_mut().zip(block.as_chunks().0) {
        *found = special(u64::from_le_bytes(*word));
        any |= *found;
    }
    if any == 0 {
        return 0;
    }
    (0..).step_by(8).zip(found).fold(0, |mask, (lane, found)| mask | word::bits(found) << lane)
}

/// A bit for each byte of less than a block that `special` finds.
#[inline(always)]
fn search_short(bytes: &[u8], special: impl Fn(u64) -> u64) -> u64 {
    let len = bytes.len();
    let Some(last) = bytes.last_chunk() else {
        // After the bytes are zeros, which may be special.
        return word::bits(special(word::words(bytes)[0])) & !(u64::MAX << len);
    };
    let mut found = word::bits(special(u64::from_le_bytes(*last))) << (len - 8);
    for (i, word) in bytes[..len - 1].as_chunks().0.iter().enumerate() {
        found |= word::bits(special(u64::from_le_bytes(*word))) << (8 * i);
    }
    found
}

#[inline(always)]
fn encode_to(job: &EncodeJob, input: &[u8], out: &mut impl Output) {
    match job.usual {
        Some(other) if job.is_plain() => encode_usual(job, other, input, out),
        _ => encode_others(job, input, out),
    }
}

/// The plain rule for a set that is looked up in words.
#[inline(always)]
fn encode_usual<O: Output>(job: &EncodeJob, other: u8, input: &[u8], out: &mut O) {
    let (case, unusual) = (job.case, |word| word::unusual(word, other));
    let one = |rest: &[u8]| Some(Becomes::escape(rest[0], case));
    // Encoding refuses nothing.
    let _ = rewrite::<false, _>(input, out, Some(case), unusual, one);
}

/// Any rule and any set.
#[inline(always)]
fn encode_others(job: &EncodeJob, input: &[u8], out: &mut impl Output) {
    // Where the rule has a say, membership alone does not decide.
    let stays = match job.rule {
        EncodeRule::Plain => job.set,
        EncodeRule::KeepEscapes => job.set.remove(b"%"),
        EncodeRule::Form => job.set.remove(b" "),
    };
    let special = |word: u64| {
        let top = |byte: u8| u64::from(!stays.contains(byte)) << 7;
        (0..).step_by(8).zip(word.to_le_bytes()).fold(0, |found, (at, byte)| found | top(byte) << at)
    };
    // Encoding refuses nothing.
    let _ = rewrite::<false, _>(input, out, None, special, |rest| Some(encode_one(job, rest)));
}

/// Returns the length of the input, or the offset of the malformed escape at which a strict decoding ends.
#[inline(always)]
fn decode_to(job: &DecodeJob, input: &[u8], out: &mut impl Output) -> usize {
    let percent = |word| word::equal(word, b'%');
    let percent_or_plus = |word| word::equal(word, b'%') | word::equal(word, b'+');
    let done = match job.rule {
        DecodeRule::Plain => {
            rewrite::<true, _>(input, out, None, percent, |rest| decode_one::<true>(job, rest))
        }
        DecodeRule::Keep => {
            rewrite::<true, _>(input, out, None, percent, |rest| decode_one::<false>(job, rest))
        }
        DecodeRule::Form => {
            rewrite::<true, _>(input, out, None, percent_or_plus, |rest| decode_one::<false>(job, rest))
        }
    };
    stopped(input, done)
}

/// The length of the input, or the offset of the malformed escape.
#[inline(always)]
fn stopped(input: &[u8], done: Result<(), Malformed>) -> usize {
    match done {
        Ok(()) => input.len(),
        Err(Malformed(at)) => at,
    }
}

// Most inputs are shorter than a block, and many are clean. They are done before the code for all others begins.

pub(crate) fn encode<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    match job.usual {
        Some(other) if job.is_plain() => {
            if input.len() >= BLOCK {
                return encode_long(job, other, input, out);
            }
            if input.len() < 8 && input.iter().all(|&byte| job.set.contains(byte)) {
                out.push_run(input);
                return out.finish();
            }
            let found = search_short(input, |word| word::unusual(word, other));
            if found != 0 {
                return encode_short(job, input, found, out);
            }
            out.push_run(input);
            out.finish()
        }
        _ => encode_rest(job, input, out),
    }
}

#[inline(never)]
fn encode_short<'c>(job: &EncodeJob, input: &[u8], found: u64, mut out: Cursor<'c>) -> Written<'c> {
    let case = job.case;
    // Encoding refuses nothing.
    let stretch = Stretch { start: 0, end: input.len(), found };
    let _ = out.put::<false>(input, 0, stretch, |rest| Some(Becomes::escape(rest[0], case)));
    out.finish()
}

#[inline(never)]
fn encode_long<'c>(job: &EncodeJob, other: u8, input: &[u8], mut out: Cursor<'c>) -> Written<'c> {
    encode_usual(job, other, input, &mut out);
    out.finish()
}

#[inline(never)]
fn encode_rest<'c>(job: &EncodeJob, input: &[u8], mut out: Cursor<'c>) -> Written<'c> {
    encode_others(job, input, &mut out);
    out.finish()
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    encode_to(job, input, &mut measure);
    measure
}

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let mut out = Cursor::new(out);
    if input.len() >= BLOCK || job.plus() {
        return decode_long(job, input, out);
    }
    if input.len() < 16 {
        let [start, end] = word::words(input);
        if word::equal(start, b'%') | word::equal(end, b'%') == 0 {
            out.push_run(input);
            return Decoded { written: out.finish(), stopped: input.len() };
        }
    }
    let found = search_short(input, |word| word::equal(word, b'%'));
    if found != 0 {
        return decode_short(job, input, found, out);
    }
    out.push_run(input);
    Decoded { written: out.finish(), stopped: input.len() }
}

#[inline(never)]
fn decode_short<'c>(job: &DecodeJob, input: &[u8], found: u64, mut out: Cursor<'c>) -> Decoded<'c> {
    let stretch = Stretch { start: 0, end: input.len(), found };
    let done = if job.is_plain() {
        out.put::<true>(input, 0, stretch, |rest| decode_one::<true>(job, rest))
    } else {
        out.put::<true>(input, 0, stretch, |rest| decode_one::<false>(job, rest))
    };
    let stopped = stopped(input, done.map(|_| ()));
    Decoded { written: out.finish(), stopped }
}

#[inline(never)]
fn decode_long<'c>(job: &DecodeJob, input: &[u8], mut out: Cursor<'c>) -> Decoded<'c> {
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

/// Each value for itself, up to the first that is refused.
pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Decoded<'c> {
    let (mut out, mut start) = (Cursor::new(out), 0);
    for end in ends.places() {
        let value = &input[start..*end];
        let stopped = decode_to(job, value, &mut out);
        if stopped < value.len() {
            return Decoded { written: out.finish(), stopped: start + stopped };
        }
        start = core::mem::replace(end, out.written());
    }
    Decoded { written: out.finish(), stopped: input.len() }
}
