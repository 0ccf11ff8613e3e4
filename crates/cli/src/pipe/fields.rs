//! Fields of a line, separated by one byte or, as in access logs, by blanks.

use std::ops::Range;
use std::str::FromStr;

use super::edit::Edit;
use super::report::Report;
use super::treat::{self, Record, Treatment, Verdict};
use crate::args::Delimiter;

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
    ) -> Verdict {
        let mut scan = Scan { line: record.bytes(), no_quote: false, no_bracket: false };
        let mut spots = self.spots.iter().peekable();
        let (mut number, mut next) = (0, Some(0));
        while let (Some(from), Some(wanted)) = (next, spots.peek()) {
            // Nobody looks at the fields before it.
            if let (Delimiter::Byte(byte), true) = (self.delimiter, number < wanted.field) {
                let skip = wanted.field - number;
                let found = memchr::memchr_iter(byte, &scan.line[from..]).nth(skip - 1);
                (number, next) = (wanted.field, found.map(|found| from + found + 1));
                continue;
            }
            let field = match self.delimiter {
                Delimiter::Blanks => match scan.field(from) {
                    Some(field) => field,
                    None => break,
                },
                Delimiter::Byte(byte) => {
                    let found = memchr::memchr(byte, &scan.line[from..]);
                    let stop = found.map_or(scan.line.len(), |found| from + found);
                    Field { value: from..stop, is_quoted: false, next: found.map(|_| stop + 1) }
                }
            };
            while let Some(spot) = spots.next_if(|spot| spot.field == number) {
                let verdict = match spot.word {
                    None => self.value(field.value.clone(), field.is_quoted, record, treatment, edit, report),
                    Some(word) => match nth_word(scan.line, field.value.clone(), word) {
                        Some(word) => self.value(word, false, record, treatment, edit, report),
                        None => Verdict::Keep,
                    },
                };
                if verdict != Verdict::Keep {
                    return verdict;
                }
            }
            number += 1;
            next = field.next;
        }
        Verdict::Keep
    }

    fn value(
        &self,
        value: Range<usize>,
        is_quoted: bool,
        record: Record<'_>,
        treatment: &mut Treatment,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Verdict {
        let start = record.start + value.start;
        let stop = record.start + value.end;
        let bytes = &record.chunk[start..stop];
        let spot = if is_quoted { treat::Spot::Quoted } else { treat::Spot::Plain };
        let out = edit.copy_to(start);
        let from = out.len();
        let verdict = treatment.value(spot, bytes, out, record, report, |offset| start + offset);
        if self.delimiter == Delimiter::Blanks
            && !is_quoted
            && out.get(from) == Some(&b'[')
            && !bytes.starts_with(b"[")
        {
            // It would begin a bracketed field.
            out.splice(from..=from, *b"%5B");
        }
        edit.skip_to(stop);
        verdict
    }
}

/// A line whose fields are separated by blanks.
struct Scan<'a> {
    line: &'a [u8],
    /// No quoted field ends in what is left.
    no_quote: bool,
    /// No bracketed field ends in what is left.
    no_bracket: bool,
}

impl Scan<'_> {
    /// The first field from `from` on.
    fn field(&mut self, from: usize) -> Option<Field> {
        let start = from + self.line[from..].iter().position(|&byte| !is_blank(byte))?;
        let close = match self.line[start] {
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
                let is_quoted = self.line[start] == b'"';
                Field { value: start + 1..close, is_quoted, next: Some(close + 1) }
            }
            None => {
                let found = memchr::memchr2(b' ', b'\t', &self.line[start..]);
                let stop = found.map_or(self.line.len(), |found| start + found);
                Field { value: start..stop, is_quoted: false, next: Some(stop) }
            }
        })
    }

    /// Where the field that starts with the quote or bracket at `start` ends: before a blank or the end of the
    /// line, and not after an odd number of backslashes.
    fn close(&self, mark: u8, start: usize) -> Option<usize> {
        memchr::memchr_iter(mark, &self.line[start + 1..]).map(|found| start + 1 + found).find(|&at| {
            let backslashes =
                self.line[start + 1..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
            self.line.get(at + 1).is_none_or(|&byte| is_blank(byte)) && backslashes % 2 == 0
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
