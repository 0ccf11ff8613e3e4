//! Finds the escapes in one string of many JSON lines at once, by the shape of lines that the JSON reader has accepted.
//!
//! A shape is the text of a line without its strings and numbers. A line of the same shape is valid JSON with the same keys, so it
//! need not be parsed. A line of another shape is left to the caller.

use super::requests::words;
use crate::ground::utf8;

/// The number of bytes in a mask.
const BLOCK: usize = 64;

/// The number of shapes that are remembered.
const MOST: usize = 4;

/// A line as texts that are the same in each line, with a hole after each of them but the last.
#[derive(Clone, Debug)]
pub struct Shape {
    texts: Vec<(Text, Hole)>,
    /// The text after the last hole.
    last: Text,
}

/// A text that is compared with many others.
#[derive(Clone, Debug)]
struct Text {
    bytes: Box<[u8]>,
    /// The first eight bytes. Those after the end of the text are zero.
    first: u64,
}

impl Text {
    fn new(bytes: &[u8]) -> Text {
        let mut first = [0; 8];
        let len = bytes.len().min(8);
        first[..len].copy_from_slice(&bytes[..len]);
        Text { bytes: bytes.into(), first: u64::from_le_bytes(first) }
    }

    /// Reports whether `bytes` begin with this text. A call of `memcmp` would take longer, because most texts are short.
    #[inline]
    fn begins(&self, bytes: &[u8]) -> bool {
        let Text { bytes: text, first } = self;
        match (bytes.first_chunk(), bytes.get(..text.len())) {
            (Some(word), _) if text.len() <= 8 => {
                let differs = u64::from_le_bytes(*word) ^ first;
                text.is_empty() || differs << (64 - 8 * text.len()) == 0
            }
            (_, Some(bytes)) if text.len() <= 32 && text.len() > 8 => {
                // The last word overlaps the one before it.
                let last = bytes.last_chunk::<8>() == text.last_chunk();
                let words = bytes.as_chunks::<8>().0.iter().zip(text.as_chunks().0);
                words.fold(last, |same, (one, other)| same & (one == other))
            }
            _ => bytes.starts_with(text),
        }
    }
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
            texts.push((Text::new(&line[from..start]), hole));
            from = stop;
        }
        Some(Shape { texts, last: Text::new(&line[from..]) })
    }

    /// Compares the line at `start` of `bytes`, whose end is at the first line feed. Returns the range of the selected string and
    /// the offset after the line feed, or `None` if the line has another shape. `end` returns the end of the text in a string, of
    /// which it gets the offset.
    #[inline]
    fn read(
        &self,
        bytes: &[u8],
        start: usize,
        end: impl Fn(usize) -> usize,
    ) -> Option<(usize, usize, usize)> {
        let (mut at, mut value) = (start, (0, 0));
        for (text, hole) in &self.texts {
            if !text.begins(&bytes[at..]) {
                return None;
            }
            at += text.bytes.len();
            if *hole == Hole::Number {
                at = whole(bytes, at)?;
                continue;
            }
            let stop = end(at);
            // Without a quote here, the string has an escape or is not valid. The next text begins with this quote.
            if *hole == Hole::Value {
                value = (at, stop);
            }
            at = stop;
        }
        let end = at + self.last.bytes.len();
        let is_same = self.last.begins(&bytes[at..]) && bytes.get(end) == Some(&b'\n');
        is_same.then_some((value.0, value.1, end + 1))
    }
}

/// Returns the end of the number at `at`.
#[inline]
fn whole(bytes: &[u8], at: usize) -> Option<usize> {
    // Most numbers are whole.
    let digits = digits(&bytes[at..]);
    match bytes.get(at + digits) {
        Some(b',' | b'}' | b']' | b' ') if digits == 1 || (digits > 1 && bytes[at] != b'0') => {
            Some(at + digits)
        }
        _ => number(bytes, at).ok(),
    }
}

/// Returns the number of digits at the start of `bytes`.
#[inline]
fn digits(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    if let Some(&word) = bytes.first_chunk() {
        let word = u64::from_le_bytes(word) ^ (u64::from(b'0') * ONES);
        let others = (((word & (0x7F * ONES)) + 0x76 * ONES) | word) & (0x80 * ONES);
        if others != 0 {
            return others.trailing_zeros() as usize / 8;
        }
    }
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Finds the escapes in the selected strings of JSON lines.
#[derive(Clone, Default)]
pub struct Shapes {
    /// The shapes of accepted lines, the one that was used last first.
    shapes: Vec<Shape>,
    /// For each block, the places of `%`, line feeds, backslashes and quotes.
    marks: Vec<[u64; 4]>,
    /// For each block, the places of `%` in the selected strings.
    pub(super) chosen: Vec<u64>,
    /// Whether the next line has a shape that is not known.
    is_new: bool,
    /// Whether the text contains control bytes other than line feeds.
    has_controls: bool,
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
        simdpct_records::mark_bytes(window, *b"%\n\\\"", &mut self.marks);
        self.chosen.clear();
        self.chosen.resize(self.marks.len(), 0);
        let last = self.marks.iter().enumerate().rev().find(|(_, marks)| marks[1] != 0);
        let end = last.map_or(0, |(index, marks)| (index + 1) * BLOCK - marks[1].leading_zeros() as usize);
        self.is_new = false;
        // The loop has no early exit, so that it compiles to vector code.
        let is_control = |byte: u8| (byte < 0x20) & (byte != b'\n');
        self.has_controls = window.iter().fold(false, |any, &byte| any | is_control(byte));
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
        let end = |at: usize| {
            if self.has_controls { at + plain(&window[at..]) } else { self.end(at, window.len()) }
        };
        let mut found = self.shapes.first()?.read(window, line, end);
        if found.is_none() {
            let number = (1..self.shapes.len()).find(|&number| {
                found = self.shapes[number].read(window, line, end);
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

    /// Returns the offset of the first quote, backslash or line feed from `at` on, or `len` if no such byte follows.
    #[inline]
    fn end(&self, at: usize, len: usize) -> usize {
        let mut live = u64::MAX << (at % BLOCK);
        for (index, &[_, feeds, backslashes, quotes]) in self.marks.iter().enumerate().skip(at / BLOCK) {
            let found = (feeds | backslashes | quotes) & live;
            if found != 0 {
                return index * BLOCK + found.trailing_zeros() as usize;
            }
            live = u64::MAX;
        }
        len
    }
}

/// Returns the end of the number at `at`.
fn number(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    let digits = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    at += usize::from(bytes.get(at) == Some(&b'-'));
    let whole = digits(at);
    if whole == at || (bytes[at] == b'0' && whole > at + 1) {
        return Err(at);
    }
    at = whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == at + 1 {
            return Err(fraction);
        }
        at = fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == at {
            return Err(at);
        }
        at = exponent;
    }
    Ok(at)
}

/// Returns the number of bytes at the start of `rest` that a string may contain unescaped: no quotes, backslashes or
/// control bytes.
fn plain(rest: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES << 7;
    let mut at = 0;
    while let Some(&word) = rest[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(word);
        // Bits of `found` above its lowest set bit can be wrong, but only the lowest one is used.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
        let low = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = low | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let is_plain = |&&byte: &&u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    at + rest[at..].iter().take_while(is_plain).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_stops_at_the_first_byte_that_is_none() {
        for byte in 0..=255_u8 {
            for at in 0..20 {
                for filler in [b'a', b' ', b'!', b'#', b'[', b']', 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
                    let mut bytes = [filler; 20];
                    bytes[at] = byte;
                    let is_plain = byte >= b' ' && byte != b'"' && byte != b'\\';
                    assert_eq!(plain(&bytes), if is_plain { 20 } else { at }, "{byte} {at} {filler}");
                }
            }
        }
    }
}
