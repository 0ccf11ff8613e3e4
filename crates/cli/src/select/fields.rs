//! Fields of a line, separated by one byte or, as in access logs, by blanks.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::edit::Edit;
use crate::value::policy::{Action, Around, Record, Treatment};
use crate::value::report::Report;

/// Which field, and which word of it, both counted from 0. They are in the order in which they stand in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    field: usize,
    word: Option<usize>,
}

impl FromStr for Spot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Spot, &'static str> {
        let number = |text: &str| {
            let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            number.ok_or("a number of a field, from 1, or N.W for a word of a field")
        };
        let (field, word) = match text.split_once('.') {
            Some((field, word)) => (field, Some(number(word)?)),
            None => (text, None),
        };
        Ok(Spot { field: number(field)?, word })
    }
}

/// What separates fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// Blanks, with quoted and bracketed fields.
    Blanks,
    /// This byte.
    Byte(u8),
}

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Delimiter, &'static str> {
        match text {
            "space" | " " => Ok(Delimiter::Blanks),
            "tab" | "\\t" => Ok(Delimiter::Byte(b'\t')),
            _ => match text.as_bytes() {
                // These can be part of an escape, a quoted cell or a line end.
                [b'\n' | b'\r' | b'"' | b'%' | b'+'] => Err("this byte has another meaning"),
                [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(Delimiter::Byte(*byte)),
                _ => Err("one ASCII character that is no letter or digit, or `tab` or `space`"),
            },
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delimiter::Blanks => f.write_str("space"),
            Delimiter::Byte(byte) => write!(f, "{}", byte.escape_ascii()),
        }
    }
}

/// The fields of a line that hold values.
#[derive(Clone, Debug)]
pub struct Fields {
    delimiter: Delimiter,
    /// In order.
    spots: Vec<Spot>,
}

/// A field.
struct Field {
    /// Without quotes or brackets.
    value: Range<usize>,
    is_quoted: bool,
    /// Where the search for the next field begins, if there is one.
    next: Option<usize>,
}

impl Fields {
    /// The fields that `spots` name; or what is wrong with them.
    pub fn new(spots: &[Spot], delimiter: Delimiter) -> Result<Fields, String> {
        let mut spots = spots.to_vec();
        spots.sort();
        spots.dedup();
        match spots.windows(2).find(|pair| pair[0].field == pair[1].field && pair[0].word.is_none()) {
            Some(pair) => {
                Err(format!("--field: a word of field {0} and all of field {0}", pair[0].field + 1))
            }
            None => Ok(Fields { delimiter, spots }),
        }
    }

    /// Rewrites the values of one record.
    pub fn rewrite(
        &self,
        record: Record<'_>,
        treatment: &mut Treatment,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        let mut line = Line { bytes: record.bytes(), no_quote: false, no_bracket: false };
        let mut spots = self.spots.iter().peekable();
        let (mut number, mut next) = (0, Some(0));
        while let (Some(from), Some(wanted)) = (next, spots.peek()) {
            // Nobody looks at the fields before it.
            if let (Delimiter::Byte(byte), true) = (self.delimiter, number < wanted.field) {
                let skip = wanted.field - number;
                let found = memchr::memchr_iter(byte, &line.bytes[from..]).nth(skip - 1);
                (number, next) = (wanted.field, found.map(|found| from + found + 1));
                continue;
            }
            let field = match self.delimiter {
                Delimiter::Blanks => match line.field(from) {
                    Some(field) => field,
                    None => break,
                },
                Delimiter::Byte(byte) => {
                    let found = memchr::memchr(byte, &line.bytes[from..]);
                    let stop = found.map_or(line.bytes.len(), |found| from + found);
                    Field { value: from..stop, is_quoted: false, next: found.map(|_| stop + 1) }
                }
            };
            while let Some(spot) = spots.next_if(|spot| spot.field == number) {
                let (value, is_quoted) = match spot.word {
                    None => (field.value.clone(), field.is_quoted),
                    Some(word) => match nth_word(line.bytes, field.value.clone(), word) {
                        Some(value) => (value, false),
                        None => continue,
                    },
                };
                let (start, stop) = (record.start + value.start, record.start + value.end);
                let bytes = &record.chunk[start..stop];
                let around = if is_quoted { Around::Quotes } else { Around::Plain };
                let out = edit.copy_to(start);
                let from = out.len();
                let action = treatment.value(around, bytes, out, record, report, |offset| start + offset);
                if self.delimiter == Delimiter::Blanks
                    && !is_quoted
                    && out.get(from) == Some(&b'[')
                    && !bytes.starts_with(b"[")
                {
                    // It would begin a bracketed field.
                    out.splice(from..=from, *b"%5B");
                }
                edit.skip_to(stop);
                if action != Action::Write {
                    return action;
                }
            }
            number += 1;
            next = field.next;
        }
        Action::Write
    }
}

/// A line whose fields are separated by blanks.
struct Line<'a> {
    bytes: &'a [u8],
    /// No quoted field ends in what is left.
    no_quote: bool,
    /// No bracketed field ends in what is left.
    no_bracket: bool,
}

impl Line<'_> {
    /// The first field from `from` on.
    fn field(&mut self, from: usize) -> Option<Field> {
        let start = from + self.bytes[from..].iter().position(|&byte| !is_blank(byte))?;
        let close = match self.bytes[start] {
            b'"' if !self.no_quote => {
                let close = self.close(b'"', start);
                self.no_quote = close.is_none();
                close
            }
            b'[' if !self.no_bracket => {
                let close = self.close(b']', start);
                self.no_bracket = close.is_none();
                close
            }
            _ => None,
        };
        Some(match close {
            Some(close) => {
                let is_quoted = self.bytes[start] == b'"';
                Field { value: start + 1..close, is_quoted, next: Some(close + 1) }
            }
            None => {
                let found = memchr::memchr2(b' ', b'\t', &self.bytes[start..]);
                let stop = found.map_or(self.bytes.len(), |found| start + found);
                Field { value: start..stop, is_quoted: false, next: Some(stop) }
            }
        })
    }

    /// Where the field that starts with the quote or bracket at `start` ends: before a blank or the end of the
    /// line, and not after an odd number of backslashes.
    fn close(&self, mark: u8, start: usize) -> Option<usize> {
        memchr::memchr_iter(mark, &self.bytes[start + 1..]).map(|found| start + 1 + found).find(|&at| {
            let backslashes =
                self.bytes[start + 1..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
            self.bytes.get(at + 1).is_none_or(|&byte| is_blank(byte)) && backslashes % 2 == 0
        })
    }
}

/// Word number `n` of `field`.
fn nth_word(line: &[u8], field: Range<usize>, n: usize) -> Option<Range<usize>> {
    let mut at = field.start;
    for number in 0.. {
        let start = at + line[at..field.end].iter().position(|&byte| !is_blank(byte))?;
        let found = memchr::memchr2(b' ', b'\t', &line[start..field.end]);
        at = found.map_or(field.end, |found| start + found);
        if number == n {
            return Some(start..at);
        }
    }
    None
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
