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
    /// For each block, the places of `%` in the selected values.
    pub(super) chosen: Vec<u64>,
}

/// The distance from the bracket before a usual date, such as `[10/Oct/2000:13:55:36 -0700]`, to the quote before the request.
const USUAL_DATE: usize = 29;

/// Reports whether `request` begins with a method in capitals, a blank and the first byte of a target.
#[inline]
fn has_usual_target(request: &[u8]) -> bool {
    let method = request.iter().take(8).take_while(|byte| byte.is_ascii_uppercase()).count();
    method > 0 && matches!(request[method..], [b' ', b'!'..=b'~', ..])
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
        let mut start = 0;
        for index in 0..self.marks.len() {
            let mut feeds = self.marks[index][1];
            while feeds != 0 {
                let feed = index * BLOCK + feeds.trailing_zeros() as usize;
                if self.read(window, start, feed).is_none() {
                    return start;
                }
                start = feed + 1;
                feeds &= feeds - 1;
            }
        }
        start
    }

    /// Reads the line from `start` to `feed`, and marks its escapes. Returns `None` if it must be read by itself.
    #[inline]
    fn read(&mut self, window: &[u8], start: usize, feed: usize) -> Option<()> {
        let [mut percents, mut backslashes] = [0; 2];
        // The places of the first four quotes: those of the request and of the referrer.
        let (mut quotes, mut count) = ([feed; 4], 0);
        for (index, inside) in words(start, feed) {
            percents |= self.marks[index][0] & inside;
            backslashes |= self.marks[index][3] & inside;
            let mut found = self.marks[index][2] & inside;
            while found != 0 && count < quotes.len() {
                quotes[count] = index * BLOCK + found.trailing_zeros() as usize;
                (count, found) = (count + 1, found & (found - 1));
            }
        }
        let [open, close, last @ ..] = quotes;
        if count < 2 {
            return None;
        }
        let is_blank = |at: usize| at >= feed || b" \t".contains(&window[at]);
        if backslashes != 0 || !window[start..open].ends_with(b"] ") || !is_blank(close + 1) {
            return None;
        }
        let usual = open.checked_sub(USUAL_DATE).filter(|&at| at >= start && window[at] == b'[');
        let date = usual.or_else(|| Some(start + memchr::memchr(b'[', &window[start..open])?))?;
        // If there were another bracket, the request might not be the field after the date.
        let inside = &window[date + 1..open - 2];
        if inside.iter().fold(false, |any, &byte| any | (byte == b'[') | (byte == b']')) {
            return None;
        }
        if percents == 0 && has_usual_target(&window[open + 1..close]) {
            return if self.has_referrer {
                referrer(window, close, last, feed).map(|_| ())
            } else {
                Some(())
            };
        }
        let target = nth_word(window, open + 1..close, Some(Position::TARGET))?;
        self.choose(target.start, target.end);
        if !self.has_referrer {
            return Some(());
        }
        let place = referrer(window, close, last, feed)?;
        // Between quotes, an escape of a blank is decoded, which it is not in the target.
        if memchr::memmem::find(&window[place.clone()], b"%20").is_some() {
            return None;
        }
        self.choose(place.start, place.end);
        Some(())
    }

    /// Marks the `%` from `start` to `stop`.
    fn choose(&mut self, start: usize, stop: usize) {
        for (index, inside) in words(start, stop) {
            self.chosen[index] |= self.marks[index][0] & inside;
        }
    }
}

/// Returns the indices of the words with the bits from `start` to `stop`, each with the mask of these bits.
#[inline]
pub(super) fn words(start: usize, stop: usize) -> impl Iterator<Item = (usize, u64)> {
    (start / BLOCK..stop.div_ceil(BLOCK)).map(move |index| {
        let from = u64::MAX.checked_shl(start.saturating_sub(index * BLOCK) as u32).unwrap_or(0);
        let to = u64::MAX.checked_shl((stop - index * BLOCK) as u32).unwrap_or(0);
        (index, from & !to)
    })
}

/// Returns the place of the referrer between two quotes, which are the next after the end of the request at `close`. Returns an
/// empty range if neither a quote nor an escape follows, and `None` if the line must be read by itself.
#[inline]
fn referrer(window: &[u8], close: usize, [open, end]: [usize; 2], feed: usize) -> Option<Range<usize>> {
    if open == feed {
        return memchr::memchr(b'%', &window[close..feed]).is_none().then_some(feed..feed);
    }
    // The status and the number of bytes are between the request and the referrer.
    let [a, b, c, b' ', size @ .., b' '] = &window[close + 2..open] else { return None };
    let is_usual = [a, b, c].iter().all(|byte| byte.is_ascii_digit())
        && (size == b"-" || !size.is_empty() && size.iter().all(u8::is_ascii_digit));
    let is_closed = end < feed && (end + 1 == feed || b" \t".contains(&window[end + 1]));
    (is_usual && is_closed).then_some(open + 1..end)
}
