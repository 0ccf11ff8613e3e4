//! Finds the escapes in the request target and in the referrer of many lines of an access log at once.
//!
//! A line is handled here if it has a date in brackets and a quoted request after it, no backslashes, and quotes only around
//! fields. Other lines are left to the caller.

use super::fields::nth_word;
use super::position::Position;

/// The number of bytes in a mask.
const BLOCK: usize = 64;

/// The number of quotes of a line whose places matter: those of the request and of the referrer.
const QUOTES: usize = 4;

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

/// The marked places of a line.
#[derive(Clone, Copy, Default)]
struct Line {
    quotes: [usize; QUOTES],
    /// The number of quotes.
    count: usize,
    has_percent: bool,
    has_backslash: bool,
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
        let (mut start, mut line) = (0, Line::default());
        for index in 0..self.marks.len() {
            let [percents, feeds, quotes, backslashes] = self.marks[index];
            let mut places = feeds | quotes;
            // The bits up to the last place that was read.
            let mut done = 0;
            loop {
                let at = places.trailing_zeros();
                let between = 1_u64.checked_shl(at).map_or(u64::MAX, |bit| bit - 1) & !done;
                line.has_percent |= percents & between != 0;
                line.has_backslash |= backslashes & between != 0;
                if places == 0 {
                    break;
                }
                places &= places - 1;
                done = u64::MAX >> (63 - at);
                let place = index * BLOCK + at as usize;
                if window[place] == b'"' {
                    if let Some(quote) = line.quotes.get_mut(line.count) {
                        *quote = place;
                    }
                    line.count += 1;
                } else {
                    if self.read(window, start, place, &line).is_none() {
                        return start;
                    }
                    (start, line) = (place + 1, Line::default());
                }
            }
        }
        start
    }

    /// Reads the line from `start` to `feed`, and marks its escapes. Returns `None` if it must be read by itself.
    #[inline]
    fn read(&mut self, window: &[u8], start: usize, feed: usize, line: &Line) -> Option<()> {
        let [open, close, ..] = line.quotes;
        if line.count == 0 || line.has_backslash || !window[start..open].ends_with(b"] ") {
            return None;
        }
        let date = memchr::memchr(b'[', &window[start..open]).map(|found| start + found)?;
        // If there were another bracket, the request might not be the field after the date.
        let inside = &window[date + 1..open - 2];
        let is_blank = |at: usize| at >= feed || b" \t".contains(&window[at]);
        if memchr::memchr2(b'[', b']', inside).is_some() || line.count < 2 || !is_blank(close + 1) {
            return None;
        }
        let target = nth_word(window, open + 1..close, Some(Position::TARGET))?;
        if !line.has_percent {
            return Some(());
        }
        self.choose(target.start, target.end);
        if !self.has_referrer || memchr::memchr(b'%', &window[close..feed]).is_none() {
            return Some(());
        }
        let [.., open, end] = line.quotes;
        if line.count < QUOTES || !is_blank(end + 1) || !is_blank(open - 1) {
            return None;
        }
        let mut words =
            window[close + 1..open].split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
        let are_words = [words.next()?, words.next()?].iter().all(|word| word[0] != b'[');
        let referrer = &window[open + 1..end];
        // Between quotes, an escape of a blank is decoded, which it is not in the target.
        if !are_words || words.next().is_some() || memchr::memmem::find(referrer, b"%20").is_some() {
            return None;
        }
        self.choose(open + 1, end);
        Some(())
    }

    /// Marks the `%` from `start` to `stop`.
    fn choose(&mut self, start: usize, stop: usize) {
        for index in start / BLOCK..stop.div_ceil(BLOCK) {
            let from = u64::MAX.checked_shl(start.saturating_sub(index * BLOCK) as u32).unwrap_or(0);
            let to = u64::MAX.checked_shl((stop - index * BLOCK) as u32).unwrap_or(0);
            self.chosen[index] |= self.marks[index][0] & from & !to;
        }
    }
}
