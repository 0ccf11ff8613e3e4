//! Finds the escapes in one string of many JSON lines at once, by the shape of lines that the JSON reader has accepted.
//!
//! A shape is the text of a line without its strings and numbers. A line of the same shape is valid JSON with the same keys, so it
//! need not be parsed. A line of another shape is left to the caller.

use super::json::{number, plain};
use super::requests::words;
use crate::ground::utf8;

/// The number of bytes in a mask.
const BLOCK: usize = 64;

/// The number of shapes that are remembered.
const MOST: usize = 4;

/// A line as texts that are the same in each line, with a hole after each of them but the last.
#[derive(Clone, Debug)]
pub struct Shape {
    texts: Vec<(Box<[u8]>, Hole)>,
    /// The text after the last hole.
    last: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    Number,
    Text,
    /// The selected string.
    Value,
}

impl Shape {
    /// Returns the shape of `line`, a JSON document. `value` is the offset of the selected string, if there is one, after its
    /// opening quote. Returns `None` if the line has escapes in its strings.
    pub fn of(line: &[u8], value: Option<usize>) -> Option<Shape> {
        let (mut texts, mut from, mut at) = (Vec::new(), 0, 0);
        while at < line.len() {
            let (start, stop, hole) = match line[at] {
                b'"' => {
                    let start = at + 1;
                    let stop = start + plain(&line[start..]);
                    if line.get(stop) != Some(&b'"') {
                        return None;
                    }
                    at = stop + 1;
                    if line[at..].trim_ascii_start().starts_with(b":") {
                        continue;
                    }
                    (start, stop, if Some(start) == value { Hole::Value } else { Hole::Text })
                }
                b'-' | b'0'..=b'9' => {
                    let stop = number(line, at).ok()?;
                    let start = std::mem::replace(&mut at, stop);
                    (start, stop, Hole::Number)
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            texts.push((line[from..start].into(), hole));
            from = stop;
        }
        Some(Shape { texts, last: line[from..].into() })
    }

    /// Compares the line at `start` of `bytes`, whose end is at the first line feed. Returns the range of the selected string and
    /// the offset after the line feed, or `None` if the line has another shape.
    #[inline]
    fn read(&self, bytes: &[u8], start: usize) -> Option<(usize, usize, usize)> {
        let (mut at, mut value) = (start, (0, 0));
        for (text, hole) in &self.texts {
            if !bytes[at..].starts_with(text) {
                return None;
            }
            at += text.len();
            if *hole == Hole::Number {
                at = whole(bytes, at)?;
                continue;
            }
            let stop = at + plain(&bytes[at..]);
            // Without a quote here, the string has an escape or is not valid. The next text begins with this quote.
            if *hole == Hole::Value {
                value = (at, stop);
            }
            at = stop;
        }
        let rest = bytes[at..].strip_prefix(&*self.last)?;
        rest.starts_with(b"\n").then_some((value.0, value.1, at + self.last.len() + 1))
    }
}

/// Returns the end of the number at `at`.
#[inline]
fn whole(bytes: &[u8], at: usize) -> Option<usize> {
    // Most numbers are whole.
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    match bytes.get(at + digits) {
        Some(b',' | b'}' | b']' | b' ') if digits == 1 || (digits > 1 && bytes[at] != b'0') => {
            Some(at + digits)
        }
        _ => number(bytes, at).ok(),
    }
}

/// Finds the escapes in the selected strings of JSON lines.
#[derive(Clone, Default)]
pub struct Shapes {
    /// The shapes of accepted lines, the one that was used last first.
    shapes: Vec<Shape>,
    /// For each block, the places of `%`, line feeds and backslashes.
    marks: Vec<[u64; 4]>,
    /// For each block, the places of `%` in the selected strings.
    pub(super) chosen: Vec<u64>,
    /// Whether the next line has a shape that is not known.
    is_new: bool,
}

impl Shapes {
    /// Reports whether the line at which [`Shapes::next`] has ended has a shape that is not known.
    pub fn wants_shape(&self) -> bool {
        self.is_new
    }

    /// Adds a shape. It replaces the one that has not been used for the longest time.
    pub fn learn(&mut self, shape: Shape) {
        self.is_new = false;
        self.shapes.truncate(MOST - 1);
        self.shapes.insert(0, shape);
    }

    /// Finds the escapes in the first lines of `window`, up to a line that needs a parser. Returns the length of these lines.
    ///
    /// Lines without an escape that seem to be readable are passed; see
    /// [`Selector::looks_readable`](super::Selector::looks_readable).
    pub fn next(&mut self, window: &[u8]) -> usize {
        simdpct::mark_bytes(window, *b"%\n\\\\", &mut self.marks);
        self.chosen.clear();
        self.chosen.resize(self.marks.len(), 0);
        let last = self.marks.iter().enumerate().rev().find(|(_, marks)| marks[1] != 0);
        let end = last.map_or(0, |(index, marks)| (index + 1) * BLOCK - marks[1].leading_zeros() as usize);
        self.is_new = false;
        // The lines before this offset are done.
        let mut line = 0;
        'blocks: for index in 0..self.marks.len() {
            let [percents, feeds, backslashes, _] = self.marks[index];
            let mut special = percents | feeds | backslashes;
            // A line that was read may end in this block or a later one.
            if line > index * BLOCK {
                special &= u64::MAX.checked_shl((line - index * BLOCK) as u32).unwrap_or(0);
            }
            while special != 0 && line < end {
                let at = index * BLOCK + special.trailing_zeros() as usize;
                match window[at] {
                    b'\n' => {
                        let text = &window[line..at];
                        if !matches!(text, [] | [b'{', .., b'}']) {
                            break 'blocks;
                        }
                        line = at + 1;
                        special &= special - 1;
                    }
                    b'%' => {
                        let Some(next) = self.read(window, line) else {
                            self.is_new = true;
                            break 'blocks;
                        };
                        line = next;
                        special &= u64::MAX.checked_shl((line - index * BLOCK) as u32).unwrap_or(0);
                    }
                    _ => break 'blocks,
                }
            }
        }
        match utf8::validate(&window[..line]) {
            Ok(()) => line,
            Err(at) => memchr::memrchr(b'\n', &window[..at]).map_or(0, |found| found + 1),
        }
    }

    /// Reads the line at `line`, if it has a known shape, and marks the `%` in its selected string. Returns the end of the line.
    #[inline]
    fn read(&mut self, window: &[u8], line: usize) -> Option<usize> {
        let mut found = self.shapes.first()?.read(window, line);
        if found.is_none() {
            let number = (1..self.shapes.len()).find(|&number| {
                found = self.shapes[number].read(window, line);
                found.is_some()
            })?;
            self.shapes[..=number].rotate_right(1);
        }
        let (start, stop, end) = found?;
        for (index, inside) in words(start, stop) {
            self.chosen[index] |= self.marks[index][0] & inside;
        }
        Some(end)
    }
}
