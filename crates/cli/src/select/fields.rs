//! Fields of a line, separated by one byte or, as in access logs, by blanks.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use simdpct::ByteSet;

use super::edit::{Edit, Form};
use super::legend::Legend;
pub use super::spot::Spot;
use crate::ground::escape::escape;
use crate::ground::reason::{Reason, Refusal};
use crate::value::policy::{Action, Around, At, Record, Treat};
use crate::value::report::Report;

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

/// How a line is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// At each such byte.
    Byte(u8),
    /// At blanks, any number of them, that are not within `Marks`.
    Blanks(Marks),
}

/// What may hold a field together in which there are blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    pub quotes: bool,
    pub brackets: bool,
}

impl From<Delimiter> for Split {
    fn from(delimiter: Delimiter) -> Split {
        match delimiter {
            Delimiter::Blanks => Split::Blanks(Marks { quotes: true, brackets: true }),
            Delimiter::Byte(byte) => Split::Byte(byte),
        }
    }
}

impl Split {
    /// The bytes that decoding must not make in a value, by what is [`Around`] it: controls, those of `structure`, and
    /// those that would split or end what it is in.
    pub fn kept(self, structure: ByteSet) -> [ByteSet; 3] {
        let controls: Vec<u8> = (0..0x20).chain([0x7F]).collect();
        let structure = structure.add(&controls);
        let (structure, bytes): (ByteSet, [&[u8]; 3]) = match self {
            Split::Byte(byte) => (structure.add(&[byte]), [b"", b"", b" "]),
            Split::Blanks(Marks { quotes: false, brackets: false }) => (structure, [b" "; 3]),
            // In quotes, as Apache writes them, a backslash may make a quote no end.
            Split::Blanks(_) => (structure, [b" \"\\", b"\"\\", b" \"\\]"]),
        };
        bytes.map(|bytes| structure.add(bytes))
    }
}

/// The fields of a line that hold values.
#[derive(Clone, Debug)]
pub struct Fields {
    split: Split,
    /// In order.
    spots: Vec<Spot>,
    /// What lines of the file itself say about its fields.
    legend: Option<Legend>,
    /// Whether the work may make structure however the bytes are chosen that it must not make.
    mends: bool,
}

/// A field.
struct Field {
    /// Without quotes or brackets.
    value: Range<usize>,
    kind: Kind,
    /// Where the search for the next field begins, if there is one.
    next: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bare,
    /// In quotes. It is fragile if one of the quotes within is no end only because no blank follows it.
    Quoted {
        is_fragile: bool,
    },
    Bracketed,
}

impl Fields {
    /// The fields that `spots` name; or what is wrong with them. `mends` says that the work may make structure even if
    /// it is told not to: encoding may unveil or make quotes, brackets and delimiters, and so may a charset.
    pub fn new(spots: &[Spot], split: Split, mends: bool) -> Result<Fields, String> {
        let mut spots = spots.to_vec();
        spots.sort();
        spots.dedup();
        match spots.windows(2).find(|pair| pair[0].field == pair[1].field && pair[0].word.is_none()) {
            Some(pair) => {
                Err(format!("--field: a word of field {0} and all of field {0}", pair[0].field + 1))
            }
            None => Ok(Fields { split, spots, legend: None, mends }),
        }
    }

    /// Fields that lines of the file itself name.
    pub fn named(legend: Legend, split: Split, mends: bool) -> Fields {
        Fields { split, spots: legend.spots(), legend: Some(legend), mends }
    }

    /// The fields that were looked for.
    pub fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// Whether any number of blanks separates them.
    pub fn is_separated_by_blanks(&self) -> bool {
        matches!(self.split, Split::Blanks(_))
    }

    /// What lines of the file itself say about its fields, if that matters.
    pub fn legend(&self) -> Option<&Legend> {
        self.legend.as_ref()
    }

    /// What to tell the person if no line named a field that is looked for.
    pub fn missing(&self, was_found: bool) -> Vec<String> {
        let Some(legend) = self.legend.as_ref().filter(|_| !was_found) else { return Vec::new() };
        let prefix = String::from_utf8_lossy(legend.prefix());
        let columns = legend.columns().join(", ");
        vec![format!("no line that begins with '{}' names one of {columns}", prefix.trim())]
    }

    /// Rewrites the values of one record.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        treatment: &mut impl Treat,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        if let Some(legend) = &self.legend {
            match legend.read(record.bytes()) {
                None => {}
                Some(spots) => {
                    if let Some(spots) = spots {
                        self.spots = spots;
                    }
                    return Action::Write;
                }
            }
            if legend.is_foreign(record.bytes()) {
                return Action::Stop(Refusal { offset: record.start, reason: Reason::Cdxj });
            }
        }
        report.stats.looked = true;
        let is_doubled = self.legend.as_ref().is_some_and(Legend::doubles_quotes);
        let mut line = Line { bytes: record.bytes(), no_quote: false, no_bracket: false, is_doubled };
        if let Split::Blanks(marks) = self.split {
            (line.no_quote, line.no_bracket) = (!marks.quotes, !marks.brackets);
        }
        let mut spots = self.spots.iter().enumerate().peekable();
        let (mut number, mut next) = (0, Some(0));
        while let (Some(from), Some((_, wanted))) = (next, spots.peek()) {
            let field = match self.split {
                // Nobody looks at the fields before it.
                Split::Byte(byte) if number < wanted.field => {
                    let skip = wanted.field - number;
                    let found = memchr::memchr_iter(byte, &line.bytes[from..]).nth(skip - 1);
                    (number, next) = (wanted.field, found.map(|found| from + found + 1));
                    continue;
                }
                Split::Byte(byte) => {
                    let found = memchr::memchr(byte, &line.bytes[from..]);
                    let stop = found.map_or(line.bytes.len(), |found| from + found);
                    Field { value: from..stop, kind: Kind::Bare, next: found.map(|_| stop + 1) }
                }
                Split::Blanks(_) => match line.field(from) {
                    Some(field) => field,
                    None => break,
                },
            };
            while let Some((index, spot)) = spots.next_if(|(_, spot)| spot.field == number) {
                let value = match spot.word {
                    None => field.value.clone(),
                    Some(word) => match nth_word(line.bytes, field.value.clone(), word) {
                        Some(value) => value,
                        None => continue,
                    },
                };
                report.stats.find(if self.legend.is_some() { 0 } else { index });
                let at = At { index, around: self.around(&line, &field, spot) };
                let (start, stop) = (record.start + value.start, record.start + value.end);
                let bytes = &record.chunk[start..stop];
                let out = edit.open(start);
                let from = out.len();
                let action = treatment.value(at, bytes, out, record, report, |offset| start + offset);
                if edit.form() == Form::Whole {
                    self.mend(&field, bytes, edit.output(), from);
                }
                edit.compare(from, bytes);
                edit.close(from, stop);
                if action != Action::Write {
                    return action;
                }
            }
            number += 1;
            next = field.next;
        }
        Action::Write
    }

    /// Which bytes a value must not get: those that would split or end what it is in.
    #[inline]
    fn around(&self, line: &Line<'_>, field: &Field, spot: &Spot) -> Around {
        match self.split {
            // It has words, and no other spaces.
            Split::Byte(_) if spot.word.is_some() => Around::Guarded,
            Split::Byte(_) | Split::Blanks(Marks { quotes: false, brackets: false }) => Around::Plain,
            // A bracket before it that has no end must not get one.
            Split::Blanks(marks) if marks.brackets && line.no_bracket => Around::Guarded,
            Split::Blanks(_) => match field.kind {
                Kind::Quoted { is_fragile: false } if spot.word.is_none() => Around::Quotes,
                Kind::Bracketed | Kind::Quoted { is_fragile: true } => Around::Guarded,
                Kind::Bare | Kind::Quoted { .. } => Around::Plain,
            },
        }
    }

    /// Takes back, in what was appended at `from` of `out`, what would change how the line is split.
    #[inline]
    fn mend(&self, field: &Field, value: &[u8], out: &mut Vec<u8>, from: usize) {
        let Split::Blanks(marks) = self.split else {
            if self.mends && out[from..] != *value {
                self.escape_structure(value, out, from);
            }
            return;
        };
        if marks.brackets
            && field.kind == Kind::Bare
            && out.get(from) == Some(&b'[')
            && !value.starts_with(b"[")
        {
            // It would begin a bracketed field.
            let spelt = value.get(..3).filter(|spelt| spelt.eq_ignore_ascii_case(b"%5b")).unwrap_or(b"%5B");
            out.splice(from..=from, spelt.iter().copied());
        }
        if self.mends && out[from..] != *value {
            self.escape_structure(value, out, from);
            if out.len() == from && field.kind == Kind::Bare {
                // An empty field would be none.
                out.push(b'-');
            }
        }
    }

    /// Escapes all structure in what was appended at `from` of `out` if there is more of it than in `value`, or if a
    /// backslash went that may have hidden some.
    fn escape_structure(&self, value: &[u8], out: &mut Vec<u8>, from: usize) {
        // Blanks are not among it: nothing but decoding makes them, and that is told.
        let delimiter;
        let structure: &[u8] = match self.split {
            Split::Byte(byte) => {
                delimiter = [byte];
                &delimiter
            }
            Split::Blanks(Marks { quotes: false, brackets: false }) => return,
            Split::Blanks(_) => b"\"\\[]",
        };
        let count = |bytes: &[u8], byte| memchr::memchr_iter(byte, bytes).count();
        let has_more = structure.iter().any(|&byte| {
            let (before, after) = (count(value, byte), count(&out[from..], byte));
            after > before || byte == b'\\' && after < before
        });
        if has_more {
            let new = out.split_off(from);
            for byte in new {
                if structure.contains(&byte) { escape(&[byte], out) } else { out.push(byte) }
            }
        }
    }
}

/// A line whose fields are separated by blanks.
struct Line<'a> {
    bytes: &'a [u8],
    /// No quoted field ends in what is left.
    no_quote: bool,
    /// No bracketed field ends in what is left.
    no_bracket: bool,
    /// Whether two quotes within quotes are one that is data.
    is_doubled: bool,
}

impl Line<'_> {
    /// The first field from `from` on.
    fn field(&mut self, from: usize) -> Option<Field> {
        let start = from + self.bytes[from..].iter().position(|&byte| !is_blank(byte))?;
        let close = match self.bytes[start] {
            b'"' if !self.no_quote => {
                let close = self.close(b'"', start);
                self.no_quote = close.is_none();
                close.map(|(close, is_fragile)| (close, Kind::Quoted { is_fragile }))
            }
            b'[' if !self.no_bracket => {
                let close = self.close(b']', start);
                self.no_bracket = close.is_none();
                close.map(|(close, _)| (close, Kind::Bracketed))
            }
            _ => None,
        };
        Some(match close {
            Some((close, kind)) => Field { value: start + 1..close, kind, next: Some(close + 1) },
            None => {
                let stop = start + word_len(&self.bytes[start..]);
                Field { value: start..stop, kind: Kind::Bare, next: Some(stop) }
            }
        })
    }

    /// Where the field that starts with the quote or bracket at `start` ends: before a blank or the end of the
    /// line, and not after an odd number of backslashes. Also whether a mark before that is no end only because no
    /// blank follows it.
    fn close(&self, mark: u8, start: usize) -> Option<(usize, bool)> {
        let (mut is_fragile, mut from) = (false, start + 1);
        for found in memchr::memchr_iter(mark, &self.bytes[start + 1..]) {
            let at = start + 1 + found;
            if at < from {
                continue;
            }
            if self.is_doubled && mark == b'"' && self.bytes.get(at + 1) == Some(&mark) {
                from = at + 2;
                continue;
            }
            let backslashes =
                self.bytes[start + 1..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
            if backslashes % 2 == 0 {
                if self.bytes.get(at + 1).is_none_or(|&byte| is_blank(byte)) {
                    return Some((at, is_fragile));
                }
                is_fragile = true;
            }
        }
        None
    }
}

/// The bytes of `rest` before the first blank.
#[inline]
fn word_len(rest: &[u8]) -> usize {
    // Most words are so short that a search in a register beats a call.
    const ONES: u64 = u64::MAX / 0xFF;
    if let Some(&word) = rest.first_chunk::<8>() {
        let word = u64::from_le_bytes(word);
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & ONES << 7;
        let found = zero(word ^ (ONES * u64::from(b' '))) | zero(word ^ (ONES * u64::from(b'\t')));
        if found != 0 {
            return (found.trailing_zeros() / 8) as usize;
        }
    }
    memchr::memchr2(b' ', b'\t', rest).unwrap_or(rest.len())
}

/// Word number `n` of `field`.
fn nth_word(line: &[u8], field: Range<usize>, n: usize) -> Option<Range<usize>> {
    let mut at = field.start;
    for number in 0.. {
        let start = at + line[at..field.end].iter().position(|&byte| !is_blank(byte))?;
        at = start + word_len(&line[start..field.end]);
        if number == n {
            return Some(start..at);
        }
    }
    None
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
