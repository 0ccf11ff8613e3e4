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
    /// The offsets of quotes and line feeds.
    places: Vec<u32>,
    /// For each block, the places of `%` in the selected values.
    pub(super) chosen: Vec<u64>,
}

/// The distance from the bracket before a usual date, such as `[10/Oct/2000:13:55:36 -0700]`, to the quote before the request.
const USUAL_DATE: usize = 29;

/// Returns the length of the method and the blank after it, if `request` begins with a method in capitals, a blank and the first
/// byte of a target.
#[inline]
fn usual_target(request: &[u8]) -> Option<usize> {
    let method = match request {
        [b'G', b'E', b'T', b' ', ..] => 3,
        _ => request.iter().take(8).take_while(|byte| byte.is_ascii_uppercase()).count(),
    };
    (method > 0 && matches!(request[method..], [b' ', b'!'..=b'~', ..])).then_some(method + 1)
}

/// Returns the place of the target in the request at `range` of `line`.
#[inline]
fn target(line: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let request = &line[range.clone()];
    if let Some(start) = usual_target(request)
        && let [_, .., before, b' ', b'H', b'T', b'T', b'P', b'/', b'!'..=b'~', b'.', b'!'..=b'~'] = request
        && !before.is_ascii_whitespace()
        && start + PROTOCOL < request.len()
    {
        return Some(range.start + start..range.end - PROTOCOL);
    }
    nth_word(line, range, Some(Position::TARGET))
}

/// Returns the number of quotes in the first line. `places` are the offsets of quotes and line feeds from its start on. Returns `None`
/// if the line is incomplete.
#[inline]
fn count_quotes(window: &[u8], places: &[u32]) -> Option<usize> {
    /// The number of quotes in a usual line: those of the request, the referrer and the user agent.
    const USUAL: usize = 6;
    let is_feed = |place: u32| window[place as usize] == b'\n';
    let is_usual = places.first_chunk().is_some_and(|places: &[u32; USUAL + 1]| {
        let [quotes @ .., last] = places.map(is_feed);
        last & !quotes.iter().fold(false, |any, is_feed| any | is_feed)
    });
    if is_usual { Some(USUAL) } else { places.iter().position(|&place| is_feed(place)) }
}

/// The number of offsets that are written at once.
const AT_ONCE: usize = 4;

/// The length of a usual protocol with the blank before it, such as ` HTTP/1.1`.
const PROTOCOL: usize = 9;

/// Reports whether `date` contains a bracket.
#[inline]
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
        simdpct::mark_bytes(window, *b"%\n\"\\", &mut self.marks);
        self.chosen.clear();
        self.chosen.resize(self.marks.len(), 0);
        let backslash = self.find(3, 0);
        let len = self.find_places(window.len());
        let places = std::mem::take(&mut self.places);
        // The start of the line, the index of the first place in it, and the first `%` after its start.
        let (mut start, mut from, mut percent) = (0, 0, self.find(0, 0));
        while let Some(count) = count_quotes(window, &places[from..len]) {
            let (quotes, feed) = (&places[from..from + count], places[from + count] as usize);
            if percent < start {
                percent = self.find(0, start);
            }
            if backslash < feed || self.read(window, start, quotes, feed, percent < feed).is_none() {
                break;
            }
            (start, from) = (feed + 1, from + count + 1);
        }
        self.places = places;
        start
    }

    /// Finds the offsets of quotes and line feeds in a window of `size` bytes. Returns their number.
    #[allow(clippy::cast_possible_truncation, reason = "a window is shorter than 4 GiB")]
    fn find_places(&mut self, size: usize) -> usize {
        if self.places.len() < size + AT_ONCE {
            self.places.resize(size + AT_ONCE, 0);
        }
        let mut len = 0;
        for (index, &[_, feeds, quotes, _]) in self.marks.iter().enumerate() {
            let mut found = feeds | quotes;
            // Most blocks need one turn. The next offsets overwrite surplus ones. Bits are counted one by one, because the oldest CPUs
            // for which this code is compiled have no instruction that counts them.
            while found != 0
                && let Some(places) = self.places[len..].first_chunk_mut::<AT_ONCE>()
            {
                for place in places {
                    *place = (index * BLOCK) as u32 + (found | 1 << (BLOCK - 1)).trailing_zeros();
                    len += usize::from(found != 0);
                    found &= found.wrapping_sub(1);
                }
            }
        }
        len
    }

    /// Returns the first offset from `from` on with mark number `number`, or `usize::MAX` if no such mark follows.
    #[inline]
    fn find(&self, number: usize, from: usize) -> usize {
        let mut before = !(u64::MAX << (from % BLOCK));
        for (index, marks) in self.marks.iter().enumerate().skip(from / BLOCK) {
            let found = marks[number] & !before;
            if found != 0 {
                return index * BLOCK + found.trailing_zeros() as usize;
            }
            before = 0;
        }
        usize::MAX
    }

    /// Reads the line from `start` to `feed`, and marks its escapes. `quotes` are the offsets of the quotes in it, and
    /// `has_escapes` tells whether it contains a `%`. Returns `None` if it must be read by itself.
    #[inline]
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
        self.choose(target.start, target.end);
        if !self.has_referrer {
            return Some(());
        }
        let place = referrer(window, close, quotes, feed)?;
        // Between quotes, an escape of a blank is decoded, which it is not in the target.
        if self.choose(place.start, place.end) && memchr::memmem::find(&window[place], b"%20").is_some() {
            return None;
        }
        Some(())
    }

    /// Marks the `%` from `start` to `stop`. Returns whether there are any.
    fn choose(&mut self, start: usize, stop: usize) -> bool {
        let mut any = 0;
        for (index, inside) in words(start, stop) {
            let found = self.marks[index][0] & inside;
            self.chosen[index] |= found;
            any |= found;
        }
        any != 0
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
    let [a, b, c, b' ', size @ ..] = status else { return false };
    let is_number = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    // The digits of a short number are checked together.
    let is_size = match window[..range.end - 1].last_chunk() {
        Some(last) if (1..=8).contains(&size.len()) => {
            const ONES: u64 = u64::MAX / 0xFF;
            let word = (u64::from_le_bytes(*last) ^ (ONES * 0x30)) >> (64 - 8 * size.len());
            // The highest bit of each byte above 9 is set.
            (((word & (ONES * 0x7F)) + ONES * 0x76) | word) & (ONES << 7) == 0
        }
        _ => !size.is_empty() && is_number(size),
    };
    is_number(&[*a, *b, *c]) && (is_size || size == b"-")
}
