//! The scalar tier: the fallback on CPUs without a vector tier, and what every tier must equal on every input.
//!
//! [`encode_one`] and [`decode_one`] are the rules, in the words of the specifications. [`rewrite`] is all else: it searches
//! eight bytes at a time in a machine word, copies what stays, and asks the rule about each byte that it has a say in.

use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, DecodeRule, EncodeJob, EncodeRule, MalformedAt, Measure};
use crate::kernel::word;

/// How many bytes are searched together.
const BLOCK: usize = 64;

/// What a byte becomes, or an escape.
#[derive(Clone, Copy)]
struct Becomes {
    /// How many bytes of the input that takes: at most three.
    used: usize,
    /// The first `len` are what is written.
    bytes: [u8; 4],
    len: usize,
    /// Whether they differ from what they take the place of.
    changed: bool,
}

impl Becomes {
    #[inline(always)]
    fn escape(byte: u8, case: HexCase) -> Becomes {
        Becomes { used: 1, bytes: case.escapes()[usize::from(byte)], len: 3, changed: true }
    }
    #[inline(always)]
    fn byte(byte: u8, used: usize, changed: bool) -> Becomes {
        Becomes { used, bytes: [byte; 4], len: 1, changed }
    }
    /// The escape at the start of `rest`, as it is.
    #[inline(always)]
    fn same(rest: &[u8]) -> Becomes {
        Becomes { used: 3, bytes: [rest[0], rest[1], rest[2], 0], len: 3, changed: false }
    }
}

/// RFC 3986, section 2.1: a byte that may not stand for itself is written `"%" HEXDIG HEXDIG`. `rest` begins with a byte
/// that is no member of the set or has a meaning under the rule.
#[inline(always)]
fn encode_one(job: &EncodeJob, rest: &[u8]) -> Becomes {
    match (job.rule, rest[0]) {
        (EncodeRule::KeepEscapes, b'%') if hex::unescape(rest).is_some() => Becomes::same(rest),
        (EncodeRule::Form, b' ') => Becomes::byte(b'+', 1, true),
        (_, byte) => Becomes::escape(byte, job.case),
    }
}

/// URL Standard, section 1.3, "percent-decode": a `%` that is followed by two hexadecimal digits stands with them for one
/// byte; everything else stands for itself. `rest` begins with a `%`, or with a `+` if that is a space.
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

/// Where bytes go: to the caller's room, or only to a count.
trait Output {
    /// Puts the first `len` bytes of `bytes`.
    fn put(&mut self, bytes: &[u8], len: usize);
    /// Puts the first `len` bytes of `bytes`, and what the next becomes.
    fn put_then(&mut self, bytes: &[u8], len: usize, becomes: Becomes);
    /// Puts a whole block.
    fn put_block(&mut self, bytes: &[u8; BLOCK]);
    /// Puts a whole block, every byte of it as an escape.
    fn put_escapes(&mut self, bytes: &[u8; BLOCK], case: HexCase);
    /// The number of bytes put.
    fn written(&self) -> usize;
}

impl Output for Cursor<'_> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8], len: usize) {
        self.push_run(&bytes[..len]);
    }
    #[inline(always)]
    fn put_then(&mut self, bytes: &[u8], len: usize, becomes: Becomes) {
        match bytes.first_chunk() {
            Some(start) if len <= 16 => self.push_two(*start, len, becomes.bytes, becomes.len),
            _ => {
                self.push_run(&bytes[..len]);
                self.push_start(becomes.bytes, becomes.len);
            }
        }
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
    #[inline(always)]
    fn written(&self) -> usize {
        Cursor::written(self)
    }
}

impl Output for Measure {
    #[inline(always)]
    fn put(&mut self, _: &[u8], len: usize) {
        self.len = self.len.saturating_add(len);
    }
    #[inline(always)]
    fn put_then(&mut self, _: &[u8], len: usize, becomes: Becomes) {
        self.len = self.len.saturating_add(len + becomes.len);
        self.changed |= becomes.changed;
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
    #[inline(always)]
    fn written(&self) -> usize {
        self.len
    }
}

/// Puts `input`, but for what `one` says about the bytes that `special` finds: that takes a word, and gives the top bit of
/// each such byte; `one` takes the input from such a byte on. It escapes all of them if `escaping` says how.
#[inline(always)]
fn rewrite<O: Output>(
    input: &[u8],
    out: &mut O,
    escaping: Option<HexCase>,
    special: impl Fn(u64) -> u64,
    one: impl Fn(&[u8]) -> Option<Becomes>,
) -> Result<(), MalformedAt> {
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
            _ => from = apply(input, out, [from, start, start + BLOCK], found, &one)?,
        }
        start += BLOCK;
    }
    apply(input, out, [from, start, input.len()], search_short(&input[start..], &special), &one)?;
    Ok(())
}

/// Puts what is not yet put of a block from `start` to `end`, in which `found` has a bit for each byte that `one` is to be
/// asked about; returns where that ends, which is up to two bytes behind if the last escape reaches over the end. `from` is
/// where it begins, or where an escape ended that reached into it.
#[inline(always)]
fn apply<O: Output>(
    input: &[u8],
    out: &mut O,
    [mut from, start, end]: [usize; 3],
    found: u64,
    one: impl Fn(&[u8]) -> Option<Becomes>,
) -> Result<usize, MalformedAt> {
    // Bit 0 is that of `from`.
    let mut found = found >> ((from - start) % 64);
    while found != 0 {
        let stay = found.trailing_zeros() as usize % 64;
        let at = from + stay;
        let becomes = one(&input[at..]).ok_or(MalformedAt(at))?;
        out.put_then(&input[from..], stay, becomes);
        from = at + becomes.used;
        found = found >> stay >> becomes.used;
    }
    if let Some(stay) = end.checked_sub(from) {
        out.put(&input[from..], stay);
        from = end;
    }
    Ok(from)
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
        // Behind the bytes are zeros, which may be special.
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
    // Nothing is malformed here.
    let _ = rewrite(input, out, Some(case), unusual, one);
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
    let stray = |word: u64| {
        let stray = |byte: u8| u64::from(!stays.contains(byte)) << 7;
        (0..).step_by(8).zip(word.to_le_bytes()).fold(0, |found, (at, byte)| found | stray(byte) << at)
    };
    // Nothing is malformed here.
    let _ = rewrite(input, out, None, stray, |rest| Some(encode_one(job, rest)));
}

#[inline(always)]
fn decode_to(job: &DecodeJob, input: &[u8], out: &mut impl Output) -> Result<(), MalformedAt> {
    let percent = |word| word::equal(word, b'%');
    let percent_or_plus = |word| word::equal(word, b'%') | word::equal(word, b'+');
    match job.rule {
        DecodeRule::Plain => rewrite(input, out, None, percent, |rest| decode_one::<true>(job, rest)),
        DecodeRule::Keep => rewrite(input, out, None, percent, |rest| decode_one::<false>(job, rest)),
        DecodeRule::Form => rewrite(input, out, None, percent_or_plus, |rest| decode_one::<false>(job, rest)),
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
    // Nothing is malformed here.
    let _ = apply(input, &mut out, [0, 0, input.len()], found, |rest| Some(Becomes::escape(rest[0], case)));
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

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Result<Written<'c>, MalformedAt> {
    let mut out = Cursor::new(out);
    if input.len() >= BLOCK || job.plus() {
        return decode_long(job, input, out);
    }
    let found = search_short(input, |word| word::equal(word, b'%'));
    if found != 0 {
        return decode_short(job, input, found, out);
    }
    out.push_run(input);
    Ok(out.finish())
}

#[inline(never)]
fn decode_short<'c>(
    job: &DecodeJob,
    input: &[u8],
    found: u64,
    mut out: Cursor<'c>,
) -> Result<Written<'c>, MalformedAt> {
    let ends = [0, 0, input.len()];
    if job.is_plain() {
        apply(input, &mut out, ends, found, |rest| decode_one::<true>(job, rest))?;
    } else {
        apply(input, &mut out, ends, found, |rest| decode_one::<false>(job, rest))?;
    }
    Ok(out.finish())
}

#[inline(never)]
fn decode_long<'c>(job: &DecodeJob, input: &[u8], mut out: Cursor<'c>) -> Result<Written<'c>, MalformedAt> {
    decode_to(job, input, &mut out)?;
    Ok(out.finish())
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Result<Measure, MalformedAt> {
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
) -> Result<(), MalformedAt> {
    let mut start = 0;
    for end in ends.places() {
        let value = &input[start..*end];
        decode_to(job, value, out).map_err(|MalformedAt(offset)| MalformedAt(start + offset))?;
        start = core::mem::replace(end, out.written());
    }
    Ok(())
}

pub(crate) fn decode_values<'c>(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
    out: Room<'c>,
) -> Result<Written<'c>, MalformedAt> {
    let mut out = Cursor::new(out);
    decode_values_to(job, input, ends, &mut out)?;
    Ok(out.finish())
}

pub(crate) fn decode_values_measure(
    job: &DecodeJob,
    input: &[u8],
    ends: &mut Ends,
) -> Result<Measure, MalformedAt> {
    let mut measure = Measure::default();
    decode_values_to(job, input, ends, &mut measure)?;
    Ok(measure)
}
