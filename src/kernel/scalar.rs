//! The scalar tier: the fallback on CPUs without a vector tier, and what every tier must equal on every input.
//!
//! [`encode_one`] and [`decode_one`] are the rules, in the words of the specifications. [`rewrite`] is all else: it searches
//! eight bytes at a time in a machine word, copies what stays, and asks the rule about each byte that it has a say in.

use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob, EncodeRule, Measure, Measured};
use crate::kernel::word;
use crate::set::ByteSet;

/// How many bytes are searched together.
const BLOCK: usize = 64;

/// A block with more bytes to escape than this is written without a branch on where they are.
const DENSE: u32 = 24;

/// The longest input that is decoded word by word, without a branch on where the escapes are.
const WORDS: usize = 32;

/// How many escapes of a run, such as those of escaped Chinese, are decoded together.
const RUN: usize = 4;

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
        (b'+', _) if !PLAIN => Becomes::byte(b' ', 1, true),
        (_, Some(byte)) if PLAIN || !job.stays(byte) => Becomes::byte(byte, 3, true),
        (_, Some(byte)) if job.upper && rest[..3] != hex::escape(byte, HexCase::Upper) => {
            Becomes { used: 3, ..Becomes::escape(byte, HexCase::Upper) }
        }
        (_, Some(_)) => Becomes::same(rest),
        (_, None) if job.strict => return None,
        (_, None) => Becomes::byte(b'%', 1, false),
    })
}

/// A rule, as a block meets it. (Closures would be called, not inlined.)
trait Rule: Copy {
    /// Whether every byte that is found becomes an escape.
    const ESCAPES: bool = false;
    /// Whether an escape that stays as it is may hold other bytes that are found.
    const OVERLAPS: bool = false;
    /// Whether every `%` is found and nothing else, and all escapes are decoded.
    const UNESCAPES: bool = false;

    /// Of eight bytes, the top bit of each that the rule has a say about.
    fn special(self, word: u64) -> u64;
    /// What becomes of such a byte, with which `rest` begins; nothing if a strict decoding refuses it.
    fn one(self, rest: &[u8]) -> Option<Becomes>;
    /// Whether a `%` that starts no escape is refused.
    #[inline(always)]
    fn is_strict(self) -> bool {
        false
    }
}

/// The plain rule of encoding, for a set that is looked up in words.
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
    fn one(self, rest: &[u8]) -> Option<Becomes> {
        Some(Becomes::escape(rest[0], self.case))
    }
}

/// Encoding by any rule and any set.
#[derive(Clone, Copy)]
struct Encoding<'j> {
    job: &'j EncodeJob,
    /// The bytes about which the rule has no say.
    stays: ByteSet,
}

impl<'j> Encoding<'j> {
    #[inline(always)]
    fn new(job: &'j EncodeJob) -> Encoding<'j> {
        // Where the rule has a say, membership alone does not decide.
        let stays = match job.rule {
            EncodeRule::Plain => job.set,
            EncodeRule::KeepEscapes => job.set.remove(b"%"),
            EncodeRule::Form => job.set.remove(b" "),
        };
        Encoding { job, stays }
    }
}

impl Rule for Encoding<'_> {
    const OVERLAPS: bool = true;

    #[inline(always)]
    fn special(self, word: u64) -> u64 {
        let top = |byte: u8| u64::from(!self.stays.contains(byte)) << 7;
        (0..).step_by(8).zip(word.to_le_bytes()).fold(0, |found, (at, byte)| found | top(byte) << at)
    }
    #[inline(always)]
    fn one(self, rest: &[u8]) -> Option<Becomes> {
        Some(encode_one(self.job, rest))
    }
}

/// Decoding by the plain rule.
#[derive(Clone, Copy)]
struct Percents<'j>(&'j DecodeJob);

impl Rule for Percents<'_> {
    const UNESCAPES: bool = true;

    #[inline(always)]
    fn special(self, word: u64) -> u64 {
        word::equal(word, b'%')
    }
    #[inline(always)]
    fn one(self, rest: &[u8]) -> Option<Becomes> {
        decode_one::<true>(self.0, rest)
    }
    #[inline(always)]
    fn is_strict(self) -> bool {
        self.0.strict
    }
}

/// Decoding by any rule.
#[derive(Clone, Copy)]
struct Decoding<'j> {
    job: &'j DecodeJob,
    /// `+` if that is a space, or else `%`, which is searched anyway.
    plus: u8,
}

impl Rule for Decoding<'_> {
    #[inline(always)]
    fn special(self, word: u64) -> u64 {
        word::either(word, b'%', self.plus)
    }
    #[inline(always)]
    fn one(self, rest: &[u8]) -> Option<Becomes> {
        decode_one::<false>(self.job, rest)
    }
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

/// The input, and its end in a register, so that sixteen bytes can be read anywhere.
#[derive(Clone, Copy)]
struct Source<'a> {
    input: &'a [u8],
    /// The last sixteen bytes, little-endian; of a shorter input all, and zeros after them.
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
    /// Writes sixteen bytes from `from` on, with any bytes after the end of the input.
    #[inline(always)]
    fn write<const T: usize>(&self, text: &mut [u8; T], at: usize, from: usize) {
        match self.input.get(from..).and_then(<[u8]>::first_chunk::<16>) {
            Some(bytes) => write(text, at, *bytes),
            None => {
                let before = from - self.input.len().saturating_sub(16);
                write(text, at, (self.last >> (8 * before % 128)).to_le_bytes());
            }
        }
    }
    /// Writes the bytes between two places, at most a block; returns where that ends.
    #[inline(always)]
    fn copy<const T: usize>(&self, text: &mut [u8; T], at: usize, from: usize, to: usize) -> usize {
        let mut done = from;
        loop {
            self.write(text, at + done - from, done);
            done += 16;
            if done >= to {
                return at + to - from;
            }
        }
    }
}

/// Writes `N` bytes, of which there are never more than have room.
#[inline(always)]
fn write<const N: usize, const T: usize>(text: &mut [u8; T], at: usize, bytes: [u8; N]) {
    debug_assert!(at + N <= T);
    if let Some(place) = text.get_mut(at..at + N) {
        place.copy_from_slice(&bytes);
    }
}

/// Where what becomes of a block is put together, so that the compiler sees that there is room: three bytes for each of its
/// bytes, and the ends of wide writes.
type Text = [u8; 256 + 16];

/// A block and what follows it.
type Near = [u8; 128 + 16];

/// Where bytes go: to the caller's room, or only to a count.
trait Output {
    /// Puts a stretch of the input from `from` on, but for what the rule says about the bytes that were found; returns where
    /// that ends, which is up to two bytes after the stretch if its last escape reaches over the end. `text` is for use in
    /// between.
    fn put<R: Rule, const T: usize>(
        &mut self,
        rule: R,
        source: &Source<'_>,
        text: &mut [u8; T],
        from: usize,
        stretch: Stretch,
    ) -> Result<usize, Malformed>;
    /// The same for the stretch of a whole block.
    #[inline(always)]
    fn put_whole<R: Rule>(
        &mut self,
        rule: R,
        source: &Source<'_>,
        text: &mut Text,
        from: usize,
        stretch: Stretch,
    ) -> Result<usize, Malformed> {
        self.put(rule, source, text, from, stretch)
    }
    /// Decodes the escapes at the start of `rest` that follow one another, as long as that is fast; returns how many bytes
    /// they take. The others are left.
    fn put_run(&mut self, rest: &[u8]) -> usize;
    /// Puts bytes as they are.
    fn put_bytes(&mut self, bytes: &[u8]);
    /// Puts a whole block, every byte of it as an escape.
    fn put_escapes(&mut self, bytes: &[u8; BLOCK], case: HexCase);
    /// Puts a whole block, the bytes that were found as escapes.
    fn put_dense(&mut self, bytes: &[u8; BLOCK], found: u64, case: HexCase);
    /// Puts the first `len` bytes of a word, at most eight, which are what became of more if it is `changed`.
    fn put_word(&mut self, word: u64, len: usize, changed: bool);
}

/// The bytes of four escapes, if that is what these are.
#[inline(always)]
fn four_escapes(escapes: &[u8; 3 * RUN]) -> Option<[u8; RUN]> {
    // The places of the first three `%` in a word.
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

impl Output for Cursor<'_> {
    #[inline(always)]
    fn put<R: Rule, const T: usize>(
        &mut self,
        rule: R,
        source: &Source<'_>,
        text: &mut [u8; T],
        mut from: usize,
        Stretch { start, end, mut found }: Stretch,
    ) -> Result<usize, Malformed> {
        let mut at = 0;
        while found != 0 {
            let place = start + found.trailing_zeros() as usize;
            found &= found - 1;
            // An escape that stays whole may have digits that are not members of the set.
            if !R::OVERLAPS || place >= from {
                let becomes = rule.one(&source.input[place..]).ok_or(Malformed(place))?;
                at = source.copy(text, at, from, place);
                write(text, at, becomes.bytes.to_le_bytes());
                at += becomes.len;
                from = place + becomes.used;
            }
        }
        if from < end {
            at = source.copy(text, at, from, end);
            from = end;
        }
        self.push_run(&text[..at]);
        Ok(from)
    }
    #[inline(always)]
    fn put_whole<R: Rule>(
        &mut self,
        rule: R,
        source: &Source<'_>,
        text: &mut Text,
        from: usize,
        stretch: Stretch,
    ) -> Result<usize, Malformed> {
        let Stretch { start, found, .. } = stretch;
        match source.input[start..].first_chunk() {
            Some(near) => match put_near(self, rule, near, text, from - start, found) {
                Ok(from) => Ok(start + from),
                Err(Malformed(place)) => Err(Malformed(start + place)),
            },
            None => self.put(rule, source, text, from, stretch),
        }
    }
    #[inline(always)]
    fn put_run(&mut self, rest: &[u8]) -> usize {
        let mut groups = rest.as_chunks::<{ 3 * RUN }>().0;
        let mut put = 0;
        while let Some(first) = groups.first().and_then(four_escapes) {
            let (mut text, mut at) = ([0; BLOCK], RUN);
            write(&mut text, 0, first);
            for group in groups[1..].iter().take(BLOCK / RUN - 1) {
                let Some(bytes) = four_escapes(group) else { break };
                write(&mut text, at, bytes);
                at += RUN;
            }
            self.push_run(&text[..at]);
            put += 3 * at;
            groups = &groups[at / RUN..];
        }
        put
    }
    #[inline(always)]
    fn put_bytes(&mut self, bytes: &[u8]) {
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
    fn put_dense(&mut self, bytes: &[u8; BLOCK], mut found: u64, case: HexCase) {
        self.push_tripled(bytes, case.escapes(), |_| {
            let escaped = found as u32;
            found >>= 1;
            escaped
        });
    }
    #[inline(always)]
    fn put_word(&mut self, word: u64, len: usize, _: bool) {
        self.push_word(word, len);
    }
}

/// Puts the block at the start of `near`, whose bytes follow it; `from` and what is returned are places in it.
#[inline(always)]
fn put_near<R: Rule>(
    out: &mut Cursor<'_>,
    rule: R,
    near: &Near,
    text: &mut Text,
    mut from: usize,
    mut found: u64,
) -> Result<usize, Malformed> {
    // Of places that are known to be below 128, or 256, it is also known that there is room.
    let sixteen = |from: usize| *near[from % 128..].first_chunk::<16>().unwrap_or(&[0; 16]);
    let mut at = 0;
    loop {
        let place = (found.trailing_zeros() as usize).min(BLOCK);
        // Few lie further apart than sixteen bytes.
        write(text, at % 256, sixteen(from));
        for more in (16..place.saturating_sub(from)).step_by(16) {
            write(text, (at + more) % 256, sixteen(from + more));
        }
        at += place.saturating_sub(from);
        if found == 0 {
            break;
        }
        found &= found - 1;
        if !R::OVERLAPS || place >= from {
            let becomes = rule.one(&near[place..]).ok_or(Malformed(place))?;
            write(text, at % 256, becomes.bytes.to_le_bytes());
            at += becomes.len;
            from = place + becomes.used;
        }
    }
    out.push_run(&text[..at]);
    Ok(from.max(BLOCK))
}

impl Output for Measure {
    #[inline(always)]
    fn put<R: Rule, const T: usize>(
        &mut self,
        rule: R,
        source: &Source<'_>,
        _: &mut [u8; T],
        from: usize,
        stretch: Stretch,
    ) -> Result<usize, Malformed> {
        // Most ends of inputs have nothing in them.
        if stretch.found == 0 {
            self.len = self.len.saturating_add(stretch.end.saturating_sub(from));
            return Ok(from.max(stretch.end));
        }
        measure_found(self, rule, source, from, stretch)
    }
    #[inline(always)]
    fn put_whole<R: Rule>(
        &mut self,
        rule: R,
        source: &Source<'_>,
        _: &mut Text,
        from: usize,
        stretch: Stretch,
    ) -> Result<usize, Malformed> {
        measure_found(self, rule, source, from, stretch)
    }
    #[inline(always)]
    fn put_run(&mut self, _: &[u8]) -> usize {
        0
    }
    #[inline(always)]
    fn put_bytes(&mut self, bytes: &[u8]) {
        self.len = self.len.saturating_add(bytes.len());
    }
    #[inline(always)]
    fn put_escapes(&mut self, _: &[u8; BLOCK], _: HexCase) {
        self.len = self.len.saturating_add(3 * BLOCK);
        self.changed = true;
    }
    #[inline(always)]
    fn put_dense(&mut self, _: &[u8; BLOCK], found: u64, _: HexCase) {
        self.len = self.len.saturating_add(BLOCK + 2 * found.count_ones() as usize);
        self.changed = true;
    }
    #[inline(always)]
    fn put_word(&mut self, _: u64, len: usize, changed: bool) {
        self.len = self.len.saturating_add(len);
        self.changed |= changed;
    }
}

/// What [`Output::put`] does. A call, because `rewrite` has it in several places.
#[inline(never)]
fn measure_found<R: Rule>(
    measure: &mut Measure,
    rule: R,
    source: &Source<'_>,
    mut from: usize,
    Stretch { start, end, mut found }: Stretch,
) -> Result<usize, Malformed> {
    let mut len = 0;
    while found != 0 {
        let place = start + found.trailing_zeros() as usize;
        found &= found - 1;
        if !R::OVERLAPS || place >= from {
            let becomes = rule.one(&source.input[place..]).ok_or(Malformed(place))?;
            len += place - from + becomes.len;
            measure.changed |= becomes.changed;
            from = place + becomes.used;
        }
    }
    if from < end {
        len += end - from;
        from = end;
    }
    measure.len = measure.len.saturating_add(len);
    Ok(from)
}

/// Puts `input`, but for what the rule says about some of its bytes.
#[inline(always)]
fn rewrite<R: Rule, O: Output>(rule: R, input: &[u8], out: &mut O, case: HexCase) -> Result<(), Malformed> {
    let (source, mut text) = (Source::new(input), [0; _]);
    // What is before `from` has been put; what is before `start` has been searched.
    let (mut from, mut start) = (0, 0);
    while let Some(block) = input[start..].first_chunk() {
        let mut found = search_block(block, rule);
        let end = start + BLOCK;
        if found == 0 && from == start {
            out.put_bytes(block);
            from = end;
        } else if R::ESCAPES && found == u64::MAX {
            out.put_escapes(block, case);
            from = end;
        } else if R::ESCAPES && found.count_ones() > DENSE {
            out.put_dense(block, found, case);
            from = end;
        } else {
            if R::UNESCAPES && !rule.is_strict() {
                // Of two `%` next to each other or with one byte between them, the first starts no escape.
                found &= !(found >> 1 | found >> 2);
            }
            from = out.put_whole(rule, &source, &mut text, from, Stretch { start, end, found })?;
            if R::UNESCAPES && !rule.is_strict() {
                let run = out.put_run(&input[from..]);
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
    if R::UNESCAPES && rest.any {
        unescape(rule.is_strict(), input, from, out)
    } else {
        out.put(rule, &source, &mut text, from, Stretch { start, end: input.len(), found: rest.bits() })?;
        Ok(())
    }
}

/// Decodes all from `start` on, a word at a time and without a branch on where the escapes are.
#[inline(always)]
fn unescape(strict: bool, input: &[u8], mut start: usize, out: &mut impl Output) -> Result<(), Malformed> {
    while input.len() - start > 8 {
        let word = input[start..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        start += put_unescaped(word, None, strict, start, out)?;
    }
    let rest = input.len() - start;
    let word = match input.last_chunk() {
        // The shift may be by 64.
        Some(last) => u64::from_le_bytes(*last) >> (4 * (8 - rest)) >> (4 * (8 - rest)),
        None => word::words(input)[0],
    };
    put_unescaped(word, Some(rest), strict, start, out)?;
    Ok(())
}

/// Puts a word, which lies at `start`, with its escapes decoded, and returns how many bytes of it that were: `len`, or if there is
/// more to come, eight without what may be the start of an escape at the end.
#[inline(always)]
fn put_unescaped(
    word: u64,
    len: Option<usize>,
    strict: bool,
    start: usize,
    out: &mut impl Output,
) -> Result<usize, Malformed> {
    let word = word::unescape(word);
    let len = match len {
        Some(len) => len,
        None if word.percents >> 48 == 0 => 8,
        // Seldom: as a branch, so that the next word does not wait for this one.
        None => 8 - word.held_back(),
    };
    if strict {
        let malformed = word.percents & !word.escapes;
        let place = malformed.trailing_zeros() as usize / 8;
        if place < len {
            return Err(Malformed(start + place));
        }
    }
    let dropped = word.dropped();
    out.put_word(word.bytes, len - dropped, dropped > 0);
    Ok(len)
}

/// A bit for each byte of a block that the rule has a say about.
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

/// The bytes of less than a block that a rule has a say about.
struct Found {
    /// The top bit of each.
    words: [u64; BLOCK / 8],
    /// The same for the last eight bytes, which overlap others.
    last: u64,
    len: usize,
    any: bool,
}

impl Found {
    #[inline(always)]
    fn new(bytes: &[u8], rule: impl Rule) -> Found {
        let (mut words, len) = ([0; BLOCK / 8], bytes.len());
        let Some(last) = bytes.last_chunk() else {
            // After the bytes are zeros, which may be special.
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
    /// A bit for each byte.
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

#[inline(always)]
fn encode_to(job: &EncodeJob, input: &[u8], out: &mut impl Output) {
    // Encoding refuses nothing.
    let _ = match job.usual {
        Some(other) if job.is_plain() => rewrite(Usual { other, case: job.case }, input, out, job.case),
        _ => rewrite(Encoding::new(job), input, out, job.case),
    };
}

#[inline(always)]
fn decode_to(job: &DecodeJob, input: &[u8], out: &mut impl Output) -> Result<(), Malformed> {
    if job.is_plain() {
        return rewrite(Percents(job), input, out, HexCase::Upper);
    }
    // The other two rules share their code, which is smaller so. The case of the escapes that it writes is another matter.
    let plus = [b'%', b'+'][usize::from(job.plus())];
    rewrite(Decoding { job, plus }, input, out, HexCase::Upper)
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
    let Some(other) = job.usual else { return encode_long(job, input, out) };
    if input.len() >= BLOCK || !job.is_plain() {
        return encode_long(job, input, out);
    }
    // Two pieces, which overlap.
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

/// Less than a block by the plain rule.
#[inline(never)]
fn encode_short<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    let mut out = Cursor::new(out);
    out.push_tripled(input, job.case.escapes(), |byte| !job.set.bit(byte));
    out.finish()
}

#[inline(never)]
fn encode_long<'c>(job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
    encode_any(job, input, Cursor::new(out)).finish()
}

/// What single values and columns share: it is inlined nowhere, because it is long.
#[inline(never)]
fn encode_any<'c>(job: &EncodeJob, input: &[u8], mut out: Cursor<'c>) -> Cursor<'c> {
    encode_to(job, input, &mut out);
    out
}

pub(crate) fn encode_measure(job: &EncodeJob, input: &[u8]) -> Measure {
    let mut measure = Measure::default();
    encode_to(job, input, &mut measure);
    measure
}

pub(crate) fn decode<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    if input.len() >= BLOCK || job.plus() {
        return decode_long(job, input, out);
    }
    // Two pieces, which overlap.
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
        return Decoded { written: out.finish(), stopped: input.len() };
    }
    if input.len() <= WORDS && job.is_plain() {
        decode_words(job, input, out)
    } else {
        decode_short(job, input, out)
    }
}

/// A few bytes by the plain rule.
#[inline(never)]
fn decode_words<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let mut out = Cursor::new(out);
    let done = unescape(job.strict, input, 0, &mut out);
    Decoded { written: out.finish(), stopped: stopped(input, done) }
}

/// Less than a block, if `+` is not a space.
#[inline(never)]
fn decode_short<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let found = Found::new(input, Percents(job)).bits();
    let (mut out, mut text) = (Cursor::new(out), [0; BLOCK + 16]);
    let (source, stretch) = (Source::new(input), Stretch { start: 0, end: input.len(), found });
    let done = if job.is_plain() {
        out.put(Percents(job), &source, &mut text, 0, stretch)
    } else {
        out.put(Decoding { job, plus: b'%' }, &source, &mut text, 0, stretch)
    };
    let stopped = stopped(input, done.map(|_| ()));
    Decoded { written: out.finish(), stopped }
}

#[inline(never)]
fn decode_long<'c>(job: &DecodeJob, input: &[u8], out: Room<'c>) -> Decoded<'c> {
    let (out, stopped) = decode_any(job, input, Cursor::new(out));
    Decoded { written: out.finish(), stopped }
}

/// As [`encode_any`].
#[inline(never)]
fn decode_any<'c>(job: &DecodeJob, input: &[u8], mut out: Cursor<'c>) -> (Cursor<'c>, usize) {
    let done = decode_to(job, input, &mut out);
    (out, stopped(input, done))
}

pub(crate) fn decode_measure(job: &DecodeJob, input: &[u8]) -> Measured {
    let mut measure = Measure::default();
    let done = decode_to(job, input, &mut measure);
    Measured::new(measure, stopped(input, done))
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
    let (ends, places) = ends.each();
    for end in ends.iter().map(|&end| end as usize) {
        out = encode_any(job, &input[start..end], out);
        places.push(out.written() as u32);
        start = end;
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
    let (ends, places) = ends.each();
    for end in ends.iter().map(|&end| end as usize) {
        let value = &input[start..end];
        let stopped;
        (out, stopped) = decode_any(job, value, out);
        if stopped < value.len() {
            return Decoded { written: out.finish(), stopped: start + stopped };
        }
        places.push(out.written() as u32);
        start = end;
    }
    Decoded { written: out.finish(), stopped: input.len() }
}
