//! Finds the escapes in the requests, and in other quoted fields, of many lines of an access log at once.
//!
//! A line is read here if its quotes are those of its layout (more can follow), it has no byte that begins an escape of
//! the writer, and its request has a target. All rules read such a line in the same way. The reader decides about all
//! other lines.

use std::ops::Range;

use simdpct::Tier;

use super::masks;
use crate::access::{Access, Gap, Part, Rule, ends_request};
use crate::escaping::Escaping;
use crate::logs::{Log, Shape};
use crate::place::Field;
use crate::placeholders::Protocol;
use crate::target;

/// Finds the escapes in lines of an access log.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    pub log: Log,
    layout: &'static Access,
    /// The texts between the quoted texts, each with the number of its quotes, and whether the text before it is selected.
    gaps: Vec<(Gap, usize, bool)>,
    /// The number of quotes in the layout, and whether more can follow them in a line.
    quotes: usize,
    has_more: bool,
    /// The bytes that begin escapes of the writer, which can hide a quote or change a value.
    marks: [u8; 2],
    /// For each block of 64 bytes, the masks of `%`, line feeds, quotes and both `marks`.
    found: Vec<[u64; 5]>,
    /// The offsets of line feeds, quotes and marks, and then entries that are not used.
    places: Vec<u32>,
}

impl Requests {
    /// Selects fields of this format. Returns `None` if its lines must be read one by one.
    pub fn new(log: Log, is_wanted: impl Fn(Field) -> bool) -> Option<Requests> {
        let Shape::Access(layout) = &log.layout.shape else { return None };
        let is_selected = |field: &Option<Field>| field.is_some_and(&is_wanted);
        let has_other = layout.word.is_some_and(|word| is_wanted(word.field))
            || layout.tail.iter().any(|part| matches!(part, Part::QuotedWord(field) if is_selected(field)));
        if has_other || log.writer.placeholders.protocol == Protocol::None {
            return None;
        }
        let text = |gap: Gap| (gap, gap.quotes(), is_selected(&gap.field));
        let gaps: Vec<_> = layout.gaps().map(text).collect();
        let mark = log.escaping().rule().mark;
        Some(Requests {
            log,
            layout,
            quotes: 1 + gaps.iter().map(|(_, quotes, _)| quotes).sum::<usize>(),
            gaps,
            has_more: log.writer.rule == Rule::Escaped && !layout.is_closed,
            // The unknown writer may be HAProxy, whose escapes begin with `#`.
            marks: if log.escaping() == Escaping::Unknown { [mark, b'#'] } else { [mark; 2] },
            found: Vec::new(),
            places: Vec::new(),
        })
    }

    /// Finds the escapes in the first lines of `window`, up to a line that must be read by itself. Returns the length of these
    /// lines.
    pub fn next(&mut self, tier: Tier, window: &[u8], chosen: &mut Vec<u64>) -> usize {
        let [mark, other] = self.marks;
        masks::mark(tier, window, [b'%', b'\n', b'"', mark, other], &mut self.found);
        // At first all escapes are chosen. Those outside the selected values are removed line by line, because they are rare.
        chosen.clear();
        chosen.extend(self.found.iter().map(|found| found[0]));
        let mut places = std::mem::take(&mut self.places);
        let stops = self.found.iter().map(|[_, feeds, quotes, mark, other]| feeds | quotes | mark | other);
        let count = masks::list_bits(stops, &mut places);
        let (mut start, mut rest, mut escape) = (0, &places[..count], find_escape(chosen, 0));
        while let Some((len, is_usual)) = self.line_end(window, rest) {
            let (quotes, feed) = (&rest[..len], rest[len] as usize);
            let line = window[..feed].strip_suffix(b"\r").unwrap_or(&window[..feed]);
            let is_passed = feed == start
                || (is_usual || self.may_have_more(line, quotes))
                    && self.read(line, start, quotes, escape < feed, chosen).is_some();
            if !is_passed {
                break;
            }
            (start, rest) = (feed + 1, &rest[len + 1..]);
            if escape < start {
                escape = find_escape(chosen, start);
            }
        }
        self.places = places;
        start
    }

    /// Returns the number of `places` before the first line feed, if any, and whether they are known to be the quotes of the layout.
    #[inline(always)]
    fn line_end(&self, window: &[u8], places: &[u32]) -> Option<(usize, bool)> {
        let is_feed = |place: &u32| window[*place as usize] == b'\n';
        // Most lines have only the quotes of the layout.
        let usual = places.get(..=self.quotes).and_then(<[u32]>::split_last);
        if let Some((feed, quotes)) = usual
            && is_feed(feed)
            && quotes.iter().fold(true, |all, &place| all & (window[place as usize] == b'"'))
        {
            return Some((self.quotes, true));
        }
        Some((places.iter().position(is_feed)?, false))
    }

    /// Reads the line from `start` to the end of `line`, with quotes at `quotes`. If `has_escape` is set, removes its
    /// escapes outside the selected values from `chosen`. Returns `None` if the line must be read by itself.
    #[inline(always)]
    fn read(
        &self,
        line: &[u8],
        start: usize,
        quotes: &[u32],
        has_escape: bool,
        chosen: &mut [u64],
    ) -> Option<()> {
        let open = quotes[0] as usize;
        let lead = self.layout.lead;
        if !lead.holds(&line[start..], open - start) {
            return None;
        }
        if self.log.writer.rule == Rule::WordsAfterUser
            && (line[start] == b'['
                || quotes[1..].iter().any(|&place| lead.holds(&line[start..], place as usize - start)))
        {
            return None;
        }
        if self.log.writer.rule == Rule::WordsOrHeader
            && quotes[2..].iter().any(|&place| ends_request(line, place as usize))
        {
            return None;
        }
        let (mut done, mut at, mut number) = (start, open + 1, 1);
        for (index, &(gap, count, is_selected)) in self.gaps.iter().enumerate() {
            let close = quotes[number] as usize;
            let value = if index == 0 { self.target(line, at..close)? } else { at..close };
            if has_escape && is_selected {
                clear(chosen, done..value.start);
                done = value.end;
                // Without a protocol after it, a decoded target could be read as one.
                let is_last = index == 0 && value.end == close;
                if find_escape(chosen, value.start) < value.end
                    && (is_last || !self.is_plain(&line[value], index == 0))
                {
                    return None;
                }
            }
            at = gap.end(line, close)?;
            number += count;
        }
        if has_escape {
            clear(chosen, done..line.len());
        }
        Some(())
    }

    /// Reports whether `places` are quotes, and `line` can have more of them than its layout. If the layout has a single gap, and it can
    /// begin at none of the other quotes, all rules read the fields in the same way.
    #[inline]
    fn may_have_more(&self, line: &[u8], places: &[u32]) -> bool {
        let is_gap = |&place: &u32| self.gaps[0].0.end(line, place as usize).is_some();
        places.len() > self.quotes
            && places.iter().all(|&place| line[place as usize] == b'"')
            && (self.has_more || self.gaps.len() == 1 && !places[self.quotes..].iter().any(is_gap))
    }

    /// Returns the place of the target in the request at `range` of `line`, or `None` if the line must be read by itself.
    #[inline(always)]
    fn target(&self, line: &[u8], range: Range<usize>) -> Option<Range<usize>> {
        let known = &self.log.writer.placeholders;
        let (method, target) = target::split(line, range.clone(), known, self.log.escaping()).ok()??;
        // The request must be three words with single blanks between them.
        let is_three_words = || {
            let blanks = memchr::memchr_iter(b' ', &line[range.clone()]).count();
            blanks == 2 && method.start == range.start && target.end + 1 < range.end
        };
        let needs_words =
            matches!(self.log.writer.rule, Rule::Words | Rule::WordsOrHeader | Rule::WordsAfterUser);
        (!needs_words || is_three_words()).then_some(target)
    }

    /// Reports whether the escapes of `value` can be decoded without the reader. No other byte may be spelled in another way when the
    /// value is written again, and the decoded value may not be a text that means "no value".
    fn is_plain(&self, value: &[u8], is_target: bool) -> bool {
        // A blank in a target that changes must be escaped.
        let first = if is_target { b'!' } else { b' ' };
        // h2o also escapes `}` and `~`.
        let last = if self.log.escaping().escapes(b'}') { b'|' } else { b'~' };
        let is_odd =
            |bytes: &[u8]| bytes.iter().fold(false, |any, &byte| any | (byte < first) | (byte > last));
        // Whole chunks and the last one, which overlaps, take no loop over single bytes, whose end is hard to predict.
        let has_odd = match value.last_chunk::<16>() {
            Some(end) => value.as_chunks::<16>().0.iter().fold(is_odd(end), |any, chunk| any | is_odd(chunk)),
            None => is_odd(value),
        };
        // `%20` stays in a target, but not in other values. HAProxy escapes only the target.
        let is_other = !is_target
            && (self.log.writer.rule == Rule::RequestEscaped
                || memchr::memmem::find(value, b"%20").is_some());
        // The decoded value must not be a text that means "no value".
        let known = &self.log.writer.placeholders;
        let may_be_none = value[0] == b'%' || known.begin_with(value[0]);
        let is_none = || {
            let start = simdpct::decode(&value[..value.len().min(64)]);
            known.contains(&start) || known.prefixes.iter().any(|prefix| start.starts_with(prefix))
        };
        !(has_odd || is_other || may_be_none && is_none())
    }
}

/// Returns the offset of the first `%` from `from` on that is chosen, or `usize::MAX` if none follows.
#[inline(always)]
fn find_escape(chosen: &[u64], from: usize) -> usize {
    masks::next_bit(chosen, |word| *word, from).unwrap_or(usize::MAX)
}

/// Removes the escapes in `range`. Most texts between values have none.
#[inline(always)]
fn clear(chosen: &mut [u64], range: Range<usize>) {
    if find_escape(chosen, range.start) < range.end {
        for (index, inside) in masks::words(range) {
            chosen[index] &= !inside;
        }
    }
}
