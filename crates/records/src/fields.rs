//! Finds the fields of a line by their numbers.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use simdpct::ByteSet;

use crate::ends::Separator;
use crate::escaping::Escaping;
use crate::fast::{Delimited, Finder, Sweep};
use crate::place::{CONTROLS, Place, Reason, Unreadable, unreadable};

/// The fields at a position, as people count them: `N`, `N..M`, or `N.W` for word W of field N. Negative numbers count from the end. A
/// range without a number on one side begins with the first field, or ends with the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The first field, counted from 1 at the start, or from -1 at the end.
    pub first: isize,
    /// The last field, which is the first one if only one is meant.
    pub last: isize,
    /// The number of a word of the field, from 1 on.
    pub word: Option<usize>,
}

impl FromStr for Position {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Position, &'static str> {
        const EXPECTED: &str = "expected the number of a field, from 1 or, from the end, from -1; N..M, N.. or ..M for several fields; or \
                                N.W for a word of a field";
        let number = |text: &str| {
            text.parse::<isize>()
                .ok()
                .filter(|&number| number != 0 && (-MOST..=MOST).contains(&number))
                .ok_or(EXPECTED)
        };
        if let Some((first, last)) = text.split_once("..") {
            let end = |text: &str, open| if text.is_empty() { Ok(open) } else { number(text) };
            let range = Position { first: end(first, 1)?, last: end(last, -1)?, word: None };
            if !range.is_open() && range.first > range.last {
                return Err("the last field of a range is before the first one");
            }
            if range.count() > MOST_IN_RANGE {
                return Err("the range has more than 65,536 fields; N.. means all fields from N on");
            }
            return Ok(range);
        }
        let (field, word) = match text.split_once('.') {
            Some((field, word)) => (field, Some(number(word)?)),
            None => (text, None),
        };
        let word = word.map(|word| usize::try_from(word).map_err(|_| EXPECTED)).transpose()?;
        let first = number(field)?;
        Ok(Position { first, last: first, word })
    }
}

/// The highest number of a field.
const MOST: isize = 1 << 30;

/// The most fields of a range, if each field is a value of its own.
const MOST_IN_RANGE: usize = 1 << 16;

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { first, last, word } = *self;
        match word {
            Some(word) => write!(f, "{first}.{word}"),
            None if first == last => write!(f, "{first}"),
            None if first > 0 && last == -1 => write!(f, "{first}.."),
            None if first == 1 && last < 0 => write!(f, "..{last}"),
            None => write!(f, "{first}..{last}"),
        }
    }
}

impl Position {
    /// Reports whether the fields of the range are counted from different ends, so that their number depends on the line.
    fn is_open(self) -> bool {
        (self.first < 0) != (self.last < 0)
    }

    /// Returns the number of values: one for each field, or a single one if the number of fields depends on the line.
    fn count(self) -> usize {
        if self.is_open() { 1 } else { self.first.abs_diff(self.last) + 1 }
    }

    /// Returns the number of the value that is field number `field` (from 1) of a line with `count` fields, if any.
    fn find(self, field: usize, count: usize) -> Option<usize> {
        let from_start = |number: isize| if number < 0 { number + count as isize + 1 } else { number };
        let (first, last) = (from_start(self.first), from_start(self.last));
        let field = field as isize;
        let number = if self.is_open() { 0 } else { field.abs_diff(first) };
        (first..=last).contains(&field).then_some(number)
    }

    /// Reports whether the texts of both positions overlap in every line that has both.
    fn meets(self, other: Position) -> bool {
        let is_same_end = (self.first < 0) == (other.first < 0) && !self.is_open() && !other.is_open();
        let is_near = self.first <= other.last && other.first <= self.last;
        let is_same_word = self.word.is_none() || other.word.is_none() || self.word == other.word;
        self == other || is_same_end && is_near && is_same_word
    }
}

/// The selected fields of lines, and the way to split lines.
#[derive(Clone, Debug)]
pub struct Numbered {
    separator: Separator,
    /// The positions, each with the number of its first value.
    positions: Vec<(Position, usize)>,
    /// The last field that is read; `None` if the line is read to its end, because fields are counted from there.
    last: Option<usize>,
    escaping: Escaping,
    spans: Vec<Span>,
}

/// A field of a line.
#[derive(Clone, Debug)]
struct Span {
    range: Range<usize>,
    /// The mark that encloses the field: a quote or a bracket. It is a blank if nothing encloses the field.
    mark: u8,
    /// Whether a bracket before the field is not closed. It has a meaning only if brackets enclose fields.
    after_bracket: bool,
}

impl Numbered {
    /// Returns the fields at `positions`, in which `escaping` is undone. An error is a message for the user.
    pub fn new(positions: &[Position], separator: Separator, escaping: Escaping) -> Result<Numbered, String> {
        let mut count = 0;
        let mut numbered = Vec::new();
        for (index, position) in positions.iter().enumerate() {
            if position.word.is_some() && separator != Separator::Quoted {
                return Err(format!("{position}: only quoted fields have words"));
            }
            if let Some(other) = positions[..index].iter().find(|other| other.meets(*position)) {
                return Err(match position == other {
                    true => format!("{position} is asked for twice"),
                    false => format!("{other} and {position} have the same field"),
                });
            }
            numbered.push((*position, count));
            count += position.count();
        }
        let is_from_end = positions.iter().any(|position| position.first < 0 || position.last < 0);
        let last =
            positions.iter().map(|position| position.last.unsigned_abs()).max().filter(|_| !is_from_end);
        Ok(Numbered { separator, positions: numbered, last, escaping, spans: Vec::new() })
    }

    /// Returns the search for escapes, if one whole field was asked for, and it is counted from the start.
    pub(crate) fn sweep(&self) -> Option<Sweep> {
        let [(Position { first, last, word: None }, _)] = *self.positions else { return None };
        // The sweep stores 64 bits for each field up to this one.
        let number = usize::try_from(first).ok().filter(|number| first == last && *number <= 1024)?;
        // A separator must not be a hexadecimal digit, which could be inside an escape.
        let is_digit = matches!(self.separator, Separator::Byte(byte) if byte.is_ascii_hexdigit());
        let is_known = self.separator != Separator::Quoted && !is_digit && self.escaping == Escaping::None;
        let finder = || Finder::Delimited(Box::new(Delimited::new(self.separator, number - 1, false, false)));
        is_known.then(|| Sweep::new(finder(), self.bare().refused(), ByteSet::EMPTY))
    }

    /// Returns a place of a field without quotes or brackets. It tells a caller the bytes that such a field cannot
    /// have.
    pub fn bare(&self) -> Place {
        self.place(b"", &Span { range: 0..0, mark: b' ', after_bracket: false }, None, 0)
    }

    /// Returns the position of value number `index`, if each line that has any value of the position has this value.
    pub fn nearest(&self, index: usize) -> Option<Position> {
        let is_nearest = |&&(position, first): &&(Position, usize)| {
            let is_from_end = position.last < 0 && !position.is_open();
            index == if is_from_end { first + position.count() - 1 } else { first }
        };
        self.positions.iter().find(is_nearest).map(|(position, _)| *position)
    }

    /// Returns the escaping that is undone in the fields.
    pub fn escaping(&self) -> Escaping {
        self.escaping
    }

    /// Reports whether fields can be in quotes, so that a line can be unreadable.
    pub(crate) fn has_quotes(&self) -> bool {
        self.separator == Separator::Quoted
    }

    /// Returns the bytes between fields.
    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// Returns the names of the values: their numbers.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.positions.iter().flat_map(|&(position, _)| {
            (0..position.count() as isize).map(move |number| {
                let field = position.first + number;
                let one = Position { first: field, last: field, ..position };
                if position.is_open() { position } else { one }.to_string()
            })
        });
        names.collect()
    }

    /// Appends the places of the fields of `line` to `places`. Fails if a quote is not closed, unless all of these fields are counted from
    /// the start and end before it.
    pub(crate) fn find(&mut self, line: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        self.split(line, &mut spans)?;
        for (index, span) in spans.iter().enumerate() {
            // The first position without a word takes the field. Positions before it can take words of the field.
            for &(position, first) in &self.positions {
                let Some(number) = position.find(index + 1, spans.len()) else { continue };
                match position.word {
                    None => {
                        places.push(self.place(line, span, None, first + number));
                        break;
                    }
                    Some(word) => {
                        let before = word.checked_sub(1);
                        let range = before.and_then(|before| words(line, span.range.clone()).nth(before));
                        places.extend(range.map(|range| self.place(line, span, Some(range), first)));
                    }
                }
            }
        }
        if self.separator == Separator::Quoted {
            // Words were asked for in any order.
            places.sort_by_key(|place| place.range.start);
            places.dedup_by(|next, before| next.range.start < before.range.end);
        }
        self.spans = spans;
        Ok(())
    }

    /// Splits `line`, as far as its fields are needed.
    fn split(&self, line: &[u8], spans: &mut Vec<Span>) -> Result<(), Unreadable> {
        let last = self.last.unwrap_or(usize::MAX);
        let Separator::Byte(byte) = self.separator else {
            return split_words(line, last, self.separator == Separator::Quoted, spans);
        };
        let mut start = 0;
        for end in memchr::memchr_iter(byte, line).chain([line.len()]).take(last) {
            spans.push(Span { range: start..end, mark: b' ', after_bracket: false });
            start = end + 1;
        }
        Ok(())
    }

    /// Returns the part of the field at `range`, between blanks, without the quotes that the server has put around the value or a longer
    /// text, if there are such quotes.
    fn between_quotes(&self, line: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
        let field = &line[range.clone()];
        let start = usize::from(field.starts_with(b"\""));
        let is_escaped = field.ends_with(b"\\\"") && !self.escaping.escapes(b'"');
        let closes = field.ends_with(b"\"")
            && !is_escaped
            && self.escaping.next_quote(field, start) == Some(field.len() - 1);
        let end = field.len() - usize::from(closes);
        let has_quotes = self.separator == Separator::Blanks && end - start < field.len() && start < end;
        has_quotes.then(|| range.start + start..range.start + end)
    }

    /// Returns the place of value number `index` of `line`: the field `span`, or its word at `word`.
    fn place(&self, line: &[u8], span: &Span, word: Option<Range<usize>>, index: usize) -> Place {
        let is_word = word.is_some();
        let mut range = word.unwrap_or_else(|| span.range.clone());
        let between = if self.escaping == Escaping::None { None } else { self.between_quotes(line, &range) };
        let is_between = between.is_some();
        range = between.unwrap_or(range);
        // A bracket that is open before the field must stay open.
        let bracket = if span.after_bracket { const { CONTROLS.add(b"]") } } else { CONTROLS };
        // Fields between blanks can be parts of a quoted text, whose quotes and escapes must stay.
        let fence = match (self.separator, span.mark) {
            (Separator::Byte(byte), _) => CONTROLS.add(&[byte]),
            (Separator::Blanks, _) => const { CONTROLS.add(b" \t\"\\") },
            (Separator::Quoted, b'"') if !is_word => const { CONTROLS.add(b"\"\\") }.union(bracket),
            (Separator::Quoted, b']') if !is_word => const { CONTROLS.add(b"]\"\\") },
            (Separator::Quoted, b']') => const { CONTROLS.add(b" \t\"\\[]") },
            (Separator::Quoted, _) => const { CONTROLS.add(b" \t\"\\[") }.union(bracket),
        };
        let is_bare = span.mark == b' ' && !matches!(self.separator, Separator::Byte(_));
        let escaping = match self.escaping {
            // In a field without quotes around it, two quotes are data.
            Escaping::DoubledQuote if is_bare && !is_between => Escaping::None,
            escaping => escaping,
        };
        Place {
            has_lone_marks: self.separator != Separator::Byte(b'['),
            may_be_empty: !is_bare && !is_word,
            ..Place::new(range, index, escaping, fence)
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns the words of `line` in `range`.
fn words(line: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let start = at + line[at..range.end].iter().position(|&byte| !is_blank(byte))?;
        let rest = &line[start..range.end];
        at = memchr::memchr2(b' ', b'\t', rest).map_or(range.end, |len| start + len);
        Some(start..at)
    })
}

/// Appends the first `last` words of `line` to `spans`. If `has_marks` is set, fields can be in quotes or brackets.
fn split_words(line: &[u8], last: usize, has_marks: bool, spans: &mut Vec<Span>) -> Result<(), Unreadable> {
    let mut at = 0;
    // Whether an opening bracket encloses nothing: the rest of the line has no closing one, or brackets are data.
    let mut open_bracket = !has_marks;
    while let Some(word) = words(line, at..line.len()).next().filter(|_| spans.len() < last) {
        let (range, mark) = match line[word.start] {
            b'"' if has_marks => match close(line, b'"', word.start) {
                Some(close) => (word.start + 1..close, b'"'),
                None => return unreadable(word.start, Reason::OPEN_QUOTE),
            },
            b'[' if !open_bracket => match close(line, b']', word.start) {
                Some(close) => (word.start + 1..close, b']'),
                None => {
                    open_bracket = true;
                    (word, b' ')
                }
            },
            _ => (word, b' '),
        };
        at = range.end + usize::from(mark != b' ');
        spans.push(Span { range, mark, after_bracket: open_bracket });
    }
    Ok(())
}

/// Returns the offset of the `mark` that ends the field that begins with a mark at `start`.
fn close(line: &[u8], mark: u8, start: usize) -> Option<usize> {
    let marks = memchr::memchr_iter(mark, &line[start + 1..]).map(|len| start + 1 + len);
    let backslashes = |at: usize| line[start + 1..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
    let is_end = |at: usize| line.get(at + 1).is_none_or(|&byte| is_blank(byte));
    marks.into_iter().find(|&at| is_end(at) && backslashes(at) % 2 == 0)
}
