//! Finds the escapes in the request target and in the referrer of many lines of an access log at once.
//!
//! A line is handled here if it has a date in brackets and a quoted request after it, no backslashes, and quotes only around
//! fields. Other lines are left to the caller.

use std::ops::Range;

use super::fields::nth_word;
use super::position::Position;

/// The number of bytes in a mask.
const BLOCK: usize = 64;

/// Finds the escapes in lines of an access log.
#[derive(Clone, Default)]
pub struct Requests {
    /// Whether the referrer is selected, which is the third field after the request.
    has_referrer: bool,
    /// For each block, the places of `%`, line feeds, quotes and backslashes.
    marks: Vec<[u64; 4]>,
    /// For each block, the places of line feeds, quotes and backslashes.
    stops: Vec<u64>,
    /// The offsets of line feeds, quotes and backslashes, and then entries that are not used.
    places: Vec<u32>,
    /// For each block, the places of `%` in the selected values.
    pub(super) chosen: Vec<u64>,
}

/// The distance from the bracket before a usual date, such as `[10/Oct/2000:13:55:36 -0700]`, to the quote before the request.
const USUAL_DATE: usize = 29;

const GET: u32 = u32::from_le_bytes(*b"GET ");
const POST: u32 = u32::from_le_bytes(*b"POST");

/// Returns the length of the method and the blank after it, if `request` begins with a method in capitals, a blank and the first
/// byte of a target.
#[inline(always)]
fn usual_target(request: &[u8]) -> Option<usize> {
    // Words are compared at once.
    let start = match request.first_chunk().map(|first| u32::from_le_bytes(*first)) {
        Some(GET) => 4,
        Some(POST) if request.get(4) == Some(&b' ') => 5,
        _ => {
            let len = request.iter().take(8).take_while(|byte| byte.is_ascii_uppercase()).count();
            (len > 0 && request.get(len) == Some(&b' ')).then_some(len + 1)?
        }
    };
    matches!(request.get(start), Some(b'!'..=b'~')).then_some(start)
}

/// Reports whether `request`, whose target begins at `start`, ends in a target, a blank and a usual protocol.
#[inline]
fn has_usual_protocol(request: &[u8], start: usize) -> bool {
    matches!(request, [_, .., before, b' ', b'H', b'T', b'T', b'P', b'/', b'!'..=b'~', b'.', b'!'..=b'~']
        if !before.is_ascii_whitespace() && start + PROTOCOL < request.len())
}

/// Returns the place of the target in the request at `range` of `line`.
#[inline]
fn target(line: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let request = &line[range.clone()];
    if let Some(start) = usual_target(request)
        && has_usual_protocol(request, start)
    {
        return Some(range.start + start..range.end - PROTOCOL);
    }
    nth_word(line, range, Some(Position::TARGET))
}

/// The number of quotes in a usual line: those of the request, the referrer and the user agent.
const QUOTES: usize = 6;

/// The length of a usual protocol with the blank before it, such as ` HTTP/1.1`.
const PROTOCOL: usize = 9;

/// Reports whether `date` contains a bracket.
#[inline(always)]
fn has_bracket(date: &[u8]) -> bool {
    let is_bracket = |byte: u8| (byte == b'[') | (byte == b']');
    match (date.first_chunk::<16>(), date.last_chunk::<16>()) {
        (Some(first), Some(last)) if date.len() <= 32 => {
            // Loops of a fixed length without an early exit compile to vector code.
            let mut found = [false; 16];
            for ((found, &one), &other) in found.iter_mut().zip(first).zip(last) {
                *found = is_bracket(one) | is_bracket(other);
            }
            found != [false; 16]
        }
        _ => date.iter().any(|&byte| is_bracket(byte)),
    }
}

impl Requests {
    /// Selects the request target, and the referrer if `has_referrer`.
    pub fn new(has_referrer: bool) -> Requests {
        Requests { has_referrer, ..Requests::default() }
    }

    /// Finds the escapes in the first lines of `window`, up to a line that must be read by itself. Returns the length of these
    /// lines.
    pub fn next(&mut self, window: &[u8]) -> usize {
        simdpct_records::mark_bytes(window, *b"%\n\"\\", &mut self.marks);
        // At first all escapes are chosen. Those outside the selected values are removed line by line, because they are rare.
        self.chosen.resize(self.marks.len(), 0);
        self.stops.resize(self.marks.len(), 0);
        let words = self.chosen.iter_mut().zip(&mut self.stops);
        for ((chosen, stops), [escapes, feeds, quotes, backslashes]) in words.zip(&self.marks) {
            (*chosen, *stops) = (*escapes, feeds | quotes | backslashes);
        }
        let most = BLOCK * self.stops.len();
        if self.places.len() < most {
            self.places.resize(most, 0);
        }
        let mut places = std::mem::take(&mut self.places);
        let len = simdpct_records::list_bits(self.stops.iter().copied(), &mut places);
        // The start of the line, the index of the first place in it, and the first `%` after its start.
        let (mut start, mut from, mut percent) = (0, 0, self.find_escape(0));
        loop {
            let passed;
            (passed, start, percent) = self.pass(window, &places[from..len], start, percent);
            from += passed;
            let rest = &places[from..len];
            let Some(count) = rest.iter().position(|&place| window[place as usize] == b'\n') else { break };
            let (quotes, feed) = (&rest[..count], rest[count] as usize);
            if quotes.iter().any(|&place| window[place as usize] == b'\\')
                || self.read(window, start, quotes, feed, percent < feed).is_none()
            {
                break;
            }
            if percent < feed {
                percent = self.find_escape(feed);
            }
            (start, from) = (feed + 1, from + count + 1);
        }
        self.places = places;
        start
    }

    /// Passes usual lines in which all escapes are chosen. The first one begins at `start`, with `places`, and the first `%` after its start
    /// is at `percent`. Returns the number of places passed, and the new start and `%`. The loop is compiled alone, so that its values
    /// stay in registers.
    #[inline(never)]
    fn pass(
        &self,
        window: &[u8],
        places: &[u32],
        mut start: usize,
        mut percent: usize,
    ) -> (usize, usize, usize) {
        let mut passed = 0;
        while let Some(usual) = places[passed..].first_chunk()
            && is_usual(window, start, usual)
        {
            let [open, close, .., feed] = usual.map(|place| place as usize);
            if percent < feed {
                // The method has no `%`.
                let next = self.find_escape(close - PROTOCOL);
                let is_target = percent > open && next > feed;
                if !is_target && !self.has_usual_escapes(window, start, usual) {
                    break;
                }
                percent = if is_target { next } else { self.find_escape(feed) };
            }
            (start, passed) = (feed + 1, passed + QUOTES + 1);
        }
        (passed, start, percent)
    }

    /// Returns the offset of the first `%` from `from` on, or `usize::MAX` if none follows.
    #[inline]
    fn find_escape(&self, from: usize) -> usize {
        let mut live = u64::MAX << (from % BLOCK);
        for (index, chosen) in self.chosen.iter().enumerate().skip(from / BLOCK) {
            let found = chosen & live;
            if found != 0 {
                return index * BLOCK + found.trailing_zeros() as usize;
            }
            live = u64::MAX;
        }
        usize::MAX
    }

    /// Reports whether each `%` in the usual line at `start` is in a selected value, and no blank is escaped in the referrer. `places`
    /// are those for [`is_usual`].
    #[inline(never)]
    fn has_usual_escapes(&self, window: &[u8], start: usize, places: &[u32; QUOTES + 1]) -> bool {
        let [open, close, referrer, end, _, _, feed] = places.map(|place| place as usize);
        let target = open + 1 + usual_target(&window[open + 1..close]).unwrap_or(0);
        if has_any(&self.chosen, start..target) {
            return false;
        }
        if !self.has_referrer {
            return !has_any(&self.chosen, close - PROTOCOL..feed);
        }
        let is_elsewhere =
            has_any(&self.chosen, close - PROTOCOL..referrer) || has_any(&self.chosen, end..feed);
        // Between quotes, an escape of a blank is decoded, which it is not in the target.
        let has_blank = || has_any(&self.chosen, referrer..end) && has_blank(&window[referrer..end]);
        !is_elsewhere && !has_blank()
    }

    /// Reads the line from `start` to `feed`, and removes its escapes outside the selected values. `quotes` are the offsets of the
    /// quotes in it, and `has_escapes` tells whether it contains a `%`. Returns `None` if it must be read by itself.
    #[inline(never)]
    fn read(
        &mut self,
        window: &[u8],
        start: usize,
        quotes: &[u32],
        feed: usize,
        has_escapes: bool,
    ) -> Option<()> {
        let &[open, close, ref quotes @ ..] = quotes else { return None };
        let (open, close) = (open as usize, close as usize);
        let is_blank = |at: usize| at >= feed || b" \t".contains(&window[at]);
        if !window[start..open].ends_with(b"] ") || !is_blank(close + 1) {
            return None;
        }
        let usual = open.checked_sub(USUAL_DATE).filter(|&at| at >= start && window[at] == b'[');
        let date = usual.or_else(|| Some(start + memchr::memchr(b'[', &window[start..open])?))?;
        // If there were another bracket, the request might not be the field after the date.
        if has_bracket(&window[date + 1..open - 2]) {
            return None;
        }
        if !has_escapes && usual_target(&window[open + 1..close]).is_some() {
            return if self.has_referrer {
                referrer(window, close, quotes, feed).map(|_| ())
            } else {
                Some(())
            };
        }
        let target = target(window, open + 1..close)?;
        let mut last = target.end;
        self.clear(start..target.start);
        if self.has_referrer {
            let place = referrer(window, close, quotes, feed)?;
            self.clear(last..place.start);
            last = place.end;
            // Between quotes, an escape of a blank is decoded, which it is not in the target.
            if has_any(&self.chosen, place.clone()) && has_blank(&window[place]) {
                return None;
            }
        }
        self.clear(last..feed);
        Some(())
    }

    /// Removes the `%` in `range`.
    fn clear(&mut self, range: Range<usize>) {
        for (index, inside) in words(range.start, range.end) {
            self.chosen[index] &= !inside;
        }
    }
}

/// Reports whether the line at `start` is a usual one with a referrer and a user agent. `places` are the offsets of its first quotes, backslashes and
/// line feeds. The other functions accept such a line, too. This one takes fewer instructions, because it compares words, and checks the
/// bounds of a text of fixed length once. It returns early, because the compiler would join the results of several comparisons by slow vector
/// code.
#[inline(always)]
fn is_usual(window: &[u8], start: usize, places: &[u32; QUOTES + 1]) -> bool {
    let [open, close, referrer, end, agent, last, feed] = places.map(|place| place as usize);
    let Some(line) = window.get(..=feed) else { return false };
    let Some(head) = line.get(start..=open) else { return false };
    let Some([b'[', date @ .., _, _, _]) = head.last_chunk::<{ USUAL_DATE + 1 }>() else { return false };
    let Some(request) = line.get(open + 1..close) else { return false };
    // From the blank before the protocol to the quote before the referrer.
    let Some(response) = line.get(close.wrapping_sub(PROTOCOL)..=referrer) else { return false };
    let Some([b' ', protocol @ .., b'"', b' ', _, _, _, _]) = response.first_chunk::<{ PROTOCOL + 6 }>()
    else {
        return false;
    };
    let Some(status) = response[PROTOCOL + 2..].first_chunk() else { return false };
    let Some((size, b" \"")) = response.last_chunk::<10>().and_then(|end| end.split_first_chunk()) else {
        return false;
    };
    let Some(target) = usual_target(request) else { return false };
    let protocol = u64::from_le_bytes(*protocol);
    let is_protocol = protocol & !(0xFF << 40 | 0xFF << 56) == u64::from_le_bytes(*b"HTTP/\0.\0");
    let is_visible = |byte: u8| matches!(byte, b'!'..=b'~');
    head.ends_with(b"] \"")
        && is_protocol
        && is_visible((protocol >> 40) as u8)
        && is_visible((protocol >> 56) as u8)
        && target + PROTOCOL < request.len()
        && !request[request.len() - PROTOCOL - 1].is_ascii_whitespace()
        && is_status(*status)
        && is_size(u64::from_le_bytes(*size), response.len().wrapping_sub(PROTOCOL + 8))
        && line[end] == b'"'
        && is_blank(line[end + 1])
        && line[agent] == b'"'
        && line[last] == b'"'
        && line[feed] == b'\n'
        && !may_have_bracket(date)
}

/// Reports whether `date` may contain a bracket.
#[inline(always)]
fn may_have_bracket(date: &[u8; USUAL_DATE - 3]) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    let found = |word: &[u8; 8]| {
        // The brackets differ in two bits, so each becomes 0. `Y` and `_` do, too.
        let word = (u64::from_le_bytes(*word) ^ (ONES * u64::from(b'['))) & (ONES * 0xF9);
        word.wrapping_sub(ONES) & !word
    };
    let words = date.as_chunks::<8>().0;
    let last = date.last_chunk().map_or(u64::MAX, found);
    (found(&words[0]) | found(&words[1]) | found(&words[2]) | last) & (ONES << 7) != 0
}

/// Reports whether `byte` separates fields.
#[inline]
fn is_blank(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\t')
}

/// Reports whether `text` has an escape of a blank.
fn has_blank(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"%20").is_some()
}

/// Reports whether any bit in `range` is set.
#[inline(always)]
fn has_any(bits: &[u64], range: Range<usize>) -> bool {
    let (index, shift) = (range.start / BLOCK, range.start % BLOCK);
    match (range.len(), bits.get(index..)) {
        (len @ 1..=BLOCK, Some(&[low, ref rest @ ..])) => {
            let high = rest.first().map_or(0, |high| high << 1 << (BLOCK - 1 - shift));
            (low >> shift | high) << (BLOCK - len) != 0
        }
        (len, _) => len > 0 && words(range.start, range.end).any(|(index, inside)| bits[index] & inside != 0),
    }
}

/// Returns the indices of the words with the bits from `start` to `stop`, each with the mask of these bits.
#[inline]
pub fn words(start: usize, stop: usize) -> impl Iterator<Item = (usize, u64)> {
    (start / BLOCK..stop.div_ceil(BLOCK)).map(move |index| {
        let from = u64::MAX.checked_shl(start.saturating_sub(index * BLOCK) as u32).unwrap_or(0);
        let to = u64::MAX.checked_shl((stop - index * BLOCK) as u32).unwrap_or(0);
        (index, from & !to)
    })
}

/// Returns the place of the referrer. `quotes` are the offsets of the quotes after the end of the request, which is at `close`. Returns
/// an empty range if neither a quote nor an escape follows, and `None` if the line must be read by itself.
#[inline]
fn referrer(window: &[u8], close: usize, quotes: &[u32], feed: usize) -> Option<Range<usize>> {
    let (open, end) = match quotes {
        [open, end, ..] => (*open as usize, *end as usize),
        // No quote closes the referrer.
        [_] => return None,
        [] => return memchr::memchr(b'%', &window[close..feed]).is_none().then_some(feed..feed),
    };
    let is_closed = end + 1 == feed || b" \t".contains(&window[end + 1]);
    (is_closed && is_status_and_size(window, close + 2..open)).then_some(open + 1..end)
}

/// Reports whether the text at `range` of `window` is a status of three digits, a blank, a number of bytes or a hyphen, and a blank.
#[inline]
fn is_status_and_size(window: &[u8], range: Range<usize>) -> bool {
    let [status @ .., b' '] = &window[range.clone()] else { return false };
    let Some((&first, size)) = status.split_first_chunk() else { return false };
    let is_size = match window[..range.end - 1].last_chunk() {
        Some(last) if size.len() <= last.len() => is_size(u64::from_le_bytes(*last), size.len()),
        _ => !size.is_empty() && size.iter().all(u8::is_ascii_digit) || size == b"-",
    };
    is_status(first) && is_size
}

/// Reports whether `status` is three digits and a blank. They are checked together.
#[inline(always)]
fn is_status(status: [u8; 4]) -> bool {
    let status = u32::from_le_bytes(status) ^ u32::from_le_bytes(*b"000 ");
    status >> 24 == 0 && ((status + 0x76_7676) | status) & 0x80_8080 == 0
}

/// Reports whether the last `len` of eight bytes are a number or a hyphen. There must be at least one of them, and at most all.
#[inline(always)]
fn is_size(bytes: u64, len: usize) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    if !(1..=8).contains(&len) {
        return false;
    }
    let word = (bytes ^ (ONES * 0x30)) >> (64 - 8 * len);
    // The highest bit of each byte above 9 is set.
    (((word & (ONES * 0x7F)) + ONES * 0x76) | word) & (ONES << 7) == 0
        || len == 1 && bytes >> 56 == u64::from(b'-')
}
