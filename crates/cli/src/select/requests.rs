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
        let open = self.quote(start, feed)?;
        let close = self.quote(open + 1, feed)?;
        let [mut percents, mut backslashes] = [0; 2];
        for (index, inside) in words(start, feed) {
            percents |= self.marks[index][0] & inside;
            backslashes |= self.marks[index][3] & inside;
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
            return if self.has_referrer { self.referrer(window, close, feed).map(|_| ()) } else { Some(()) };
        }
        let target = nth_word(window, open + 1..close, Some(Position::TARGET))?;
        self.choose(target.start, target.end);
        if !self.has_referrer {
            return Some(());
        }
        let referrer = self.referrer(window, close, feed)?;
        // Between quotes, an escape of a blank is decoded, which it is not in the target.
        if memchr::memmem::find(&window[referrer.clone()], b"%20").is_some() {
            return None;
        }
        self.choose(referrer.start, referrer.end);
        Some(())
    }

    /// Returns the place of the referrer, whose quotes follow two words after the request, which ends at `close`. Returns an empty
    /// range if neither a quote nor an escape follows, and `None` if the line must be read by itself.
    #[inline]
    fn referrer(&self, window: &[u8], close: usize, feed: usize) -> Option<Range<usize>> {
        let Some(open) = self.quote(close + 1, feed) else {
            return memchr::memchr(b'%', &window[close..feed]).is_none().then_some(feed..feed);
        };
        let end = self.quote(open + 1, feed)?;
        let is_blank = |byte: u8| byte == b' ' || byte == b'\t';
        if end + 1 < feed && !is_blank(window[end + 1]) {
            return None;
        }
        // Every word ends in one blank, as servers write them.
        let (mut words, mut last) = (0, b' ');
        for &byte in &window[close + 2..open] {
            if is_blank(byte) {
                words += 1;
            }
            if is_blank(last) && (is_blank(byte) || byte == b'[') {
                return None;
            }
            last = byte;
        }
        (words == 2 && is_blank(last)).then_some(open + 1..end)
    }

    /// Returns the offset of the first quote from `start` on and before `stop`.
    #[inline]
    fn quote(&self, start: usize, stop: usize) -> Option<usize> {
        let mut found = words(start, stop).map(|(index, inside)| (index, self.marks[index][2] & inside));
        let (index, quotes) = found.find(|(_, quotes)| *quotes != 0)?;
        Some(index * BLOCK + quotes.trailing_zeros() as usize)
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
