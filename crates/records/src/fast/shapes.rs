//! Finds the escapes in strings of many JSON lines at once, by the shape of lines that the reader has accepted.
//!
//! A shape is the text of a line without its strings and numbers. A line of the same shape is valid JSON with the same keys, so it
//! need not be parsed. A line of another shape is left to the reader.

use simdpct::Tier;

use super::masks::{self, BLOCK};
use crate::json::scalar;
use crate::place::Place;

/// The number of shapes that are remembered.
const MOST: usize = 4;

/// A shape: the texts that are the same in each line, and a hole, the place of a string or number, after each but the
/// last.
#[derive(Clone, Debug)]
struct Shape {
    texts: Vec<(Box<[u8]>, Hole)>,
    /// The text after the last hole, with the line feed.
    last: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    Number,
    Text,
    /// A selected string.
    Value,
}

impl Shape {
    /// Returns the shape of `line`, a JSON document with values at `places`. Returns `None` if the line has escapes in its strings.
    fn of(line: &[u8], places: &[Place]) -> Option<Shape> {
        let (mut texts, mut from, mut at) = (Vec::new(), 0, 0);
        while at < line.len() {
            let (start, stop, hole) = match line[at] {
                b'"' => {
                    let start = at + 1;
                    let stop = start + memchr::memchr2(b'"', b'\\', &line[start..])?;
                    at = stop + 1;
                    if line[stop] == b'\\' {
                        return None;
                    }
                    if line[at..].trim_ascii_start().starts_with(b":") {
                        continue;
                    }
                    let is_value = places.iter().any(|place| place.range == (start..stop));
                    (start, stop, if is_value { Hole::Value } else { Hole::Text })
                }
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    at = scalar(line, at).ok()?;
                    (start, at, Hole::Number)
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            texts.push((line[from..start].into(), hole));
            from = stop;
        }
        Some(Shape { texts, last: [&line[from..], b"\n"].concat().into() })
    }
}

/// Finds the escapes in the selected strings of JSON lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    /// The shapes of accepted lines, the most recently used one first.
    shapes: Vec<Shape>,
    /// For each block, the places of `%`, line feeds, backslashes and quotes.
    marks: Vec<[u64; 4]>,
    /// The places of the selected strings of a line.
    values: Vec<(usize, usize)>,
    /// Whether the line at which [`Shapes::next`] has ended has a `%` and a shape that is not known.
    is_new: bool,
}

impl Shapes {
    /// Adds the shape of `line`, the one at which [`Shapes::next`] has ended, if the line has a `%` and its shape is not known. If `MOST`
    /// shapes are known, it replaces the one that has not been used for the longest time.
    pub fn learn(&mut self, line: &[u8], places: &[Place]) {
        if std::mem::take(&mut self.is_new)
            && let Some(shape) = Shape::of(line, places)
        {
            self.shapes.truncate(MOST - 1);
            self.shapes.insert(0, shape);
        }
    }

    /// Finds the escapes in the first lines of `window`, up to a line that needs the reader. Returns the length of
    /// these lines. Lines without `%` and `\` are not read if braces enclose them or they are empty.
    pub fn next(&mut self, tier: Tier, window: &[u8], chosen: &mut Vec<u64>) -> usize {
        masks::mark(tier, window, *b"%\n\\\"", &mut self.marks);
        chosen.clear();
        chosen.resize(self.marks.len(), 0);
        let end = masks::last_bit(&self.marks, |marks| marks[1], window.len()).map_or(0, |end| end + 1);
        self.is_new = false;
        // The lines before this offset are done.
        let mut line = 0;
        for index in 0..self.marks.len() {
            let [percents, feeds, backslashes, _] = self.marks[index];
            let mut special = percents | feeds | backslashes;
            // A line that was read may end in this block or a later one.
            if line > index * BLOCK {
                special &= u64::MAX.checked_shl((line - index * BLOCK) as u32).unwrap_or(0);
            }
            while special != 0 && line < end {
                let at = index * BLOCK + special.trailing_zeros() as usize;
                match window[at] {
                    b'\n' if matches!(window[line..at], [] | [b'{', .., b'}']) => {
                        line = at + 1;
                        special &= special - 1;
                    }
                    b'%' => {
                        let Some(next) = self.read(window, line, chosen) else { return line };
                        line = next;
                        special &= u64::MAX.checked_shl((line - index * BLOCK) as u32).unwrap_or(0);
                    }
                    _ => return line,
                }
            }
        }
        line
    }

    /// Reads the line at `line`, if it has a known shape, and marks the `%` in its selected strings. Returns the end of the line, or `None`
    /// if the reader must read it.
    #[inline]
    fn read(&mut self, window: &[u8], line: usize, chosen: &mut [u64]) -> Option<usize> {
        let known =
            (0..self.shapes.len()).find_map(|number| Some((number, self.compare(number, window, line)?)));
        self.is_new = known.is_none();
        let end = known.map(|(number, end)| {
            if number > 0 {
                self.shapes[..=number].rotate_right(1);
            }
            end
        });
        for &(start, stop) in self.values.iter().filter(|_| end.is_some()) {
            for (index, inside) in masks::words(start..stop) {
                chosen[index] |= self.marks[index][0] & inside;
            }
        }
        // A control byte must be escaped if the value changes, so the reader gets the line.
        let has_control = |&(start, stop): &(usize, usize)| {
            window[start..stop].iter().fold(false, |any, &byte| any | (byte < b' '))
        };
        end.filter(|_| !self.values.iter().any(has_control))
    }

    /// Compares the line at `start` of `window` with shape number `number`. Returns the end of the line if it has this shape, and notes the
    /// places of the selected strings.
    #[inline]
    fn compare(&mut self, number: usize, window: &[u8], start: usize) -> Option<usize> {
        let Shape { texts, last } = &self.shapes[number];
        let mut at = start;
        self.values.clear();
        for (text, hole) in texts {
            if !window[at..].starts_with(text) {
                return None;
            }
            let start = at + text.len();
            // Without a quote at its end, the string has an escape or is not closed. The next text begins with this quote.
            let is_end = |[_, feeds, backslashes, quotes]: &[u64; 4]| feeds | backslashes | quotes;
            at = match hole {
                Hole::Number => number_end(window, start)?,
                _ => masks::next_bit(&self.marks, is_end, start)?,
            };
            if *hole == Hole::Value {
                self.values.push((start, at));
            }
        }
        window[at..].starts_with(last).then_some(at + last.len())
    }
}

/// Returns the end of the number at `at`, if there is one.
#[inline]
fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    // Most numbers are whole.
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    match bytes.get(at + digits) {
        Some(b',' | b'}' | b']' | b' ') if digits == 1 || digits > 1 && bytes[at] != b'0' => {
            Some(at + digits)
        }
        // A word such as `true` is no number.
        _ if matches!(bytes.get(at), Some(b'-' | b'0'..=b'9')) => scalar(bytes, at).ok(),
        _ => None,
    }
}
