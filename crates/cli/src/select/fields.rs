//! Selects fields of a line, separated by one byte or, as in access logs, by blanks.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use simdpct::ByteSet;

use super::edit::Form;
use super::field_map::FieldMap;
use super::pass::Pass;
pub use super::position::Position;
use crate::ground::escape::escape;
use crate::ground::reason::{Reason, Refusal};
use crate::value::policy::{Action, Around, At, Treat};

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// Runs of blanks, between fields that may be quoted or bracketed.
    Blanks,
    /// The byte that separates fields, such as a tab.
    Byte(u8),
}

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Delimiter, &'static str> {
        match text {
            "space" | " " => Ok(Delimiter::Blanks),
            "tab" | "\\t" => Ok(Delimiter::Byte(b'\t')),
            _ => match text.as_bytes() {
                // These bytes can be part of an escape, a quoted cell or a line end.
                [b'\n' | b'\r' | b'"' | b'%' | b'+'] => {
                    Err("this byte cannot separate fields: it is part of escapes, quotes or line ends")
                }
                [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(Delimiter::Byte(*byte)),
                _ => Err("expected one ASCII character other than a letter or digit, or `tab` or `space`"),
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

/// The rule by which a line is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The line is split at each occurrence of this byte.
    Byte(u8),
    /// The line is split at runs of blanks, except inside the marks that enclose a field.
    Blanks(Enclosure),
}

/// The marks that can enclose a field that contains blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enclosure {
    None,
    Quotes,
    QuotesOrBrackets,
}

impl From<Delimiter> for Split {
    fn from(delimiter: Delimiter) -> Split {
        match delimiter {
            Delimiter::Blanks => Split::Blanks(Enclosure::QuotesOrBrackets),
            Delimiter::Byte(byte) => Split::Byte(byte),
        }
    }
}

impl Split {
    /// Returns the bytes that stay escaped in a value, for each variant of [`Around`]: control bytes, the bytes of
    /// `structure`, and the bytes that would split or end the field.
    pub fn kept(self, structure: ByteSet) -> [ByteSet; 3] {
        let controls: Vec<u8> = (0..0x20).chain([0x7F]).collect();
        let structure = structure.add(&controls);
        let (structure, bytes): (ByteSet, [&[u8]; 3]) = match self {
            Split::Byte(byte) => (structure.add(&[byte]), [b"", b"", b" "]),
            Split::Blanks(Enclosure::None) => (structure, [b" "; 3]),
            // In Apache's quoted fields, a backslash escapes a quote.
            Split::Blanks(_) => (structure, [b" \"\\", b"\"\\", b" \"\\]"]),
        };
        bytes.map(|bytes| structure.add(bytes))
    }
}

/// The fields of a line that contain values.
#[derive(Clone, Debug)]
pub struct Fields {
    split: Split,
    /// The positions of the selected fields, in the order of the line.
    positions: Vec<Position>,
    /// The lines of the file that name its fields.
    field_map: Option<FieldMap>,
    /// Whether lines are those of an access log; see [`Fields::of_access_log`].
    is_access_log: bool,
    /// Whether the conversion can produce bytes that split a line, although their escapes are kept. If so, new values
    /// are checked for them.
    mends: bool,
}

/// A field of a line.
struct Field {
    /// The field without its quotes or brackets.
    value: Range<usize>,
    kind: Kind,
    /// The start of the search for the next field, if there is one.
    next: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bare,
    /// A field in quotes. It is fragile if it contains a quote that would end the field if a blank followed that quote.
    Quoted {
        is_fragile: bool,
    },
    Bracketed,
}

impl Fields {
    /// Selects the fields at `positions`, or returns an error message. `mends` means that the conversion can change how
    /// a line is split, although it keeps the escapes of [`Split::kept`]: encoding can remove a backslash or add quotes
    /// and delimiters, and a charset can too.
    pub fn new(positions: &[Position], split: Split, mends: bool) -> Result<Fields, String> {
        let mut positions = positions.to_vec();
        positions.sort();
        positions.dedup();
        match positions.windows(2).find(|pair| pair[0].field == pair[1].field && pair[0].word.is_none()) {
            Some(pair) => {
                Err(format!("--field: field {0} and a word of it are both selected", pair[0].field + 1))
            }
            None => Ok(Fields { split, positions, field_map: None, is_access_log: false, mends }),
        }
    }

    /// Counts fields from the date in brackets before the quoted request, which is field 4. The fields before it can
    /// contain blanks and brackets, because clients choose the user name. Lines without such a date are unreadable.
    pub fn of_access_log(self) -> Fields {
        Fields { is_access_log: true, ..self }
    }

    /// Selects the fields that lines of the file itself name.
    pub fn named(map: FieldMap, split: Split, mends: bool) -> Fields {
        let positions = map.positions();
        Fields { split, positions, field_map: Some(map), is_access_log: false, mends }
    }

    /// Returns the positions of the fields.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Reports whether blanks separate the fields.
    pub fn is_separated_by_blanks(&self) -> bool {
        matches!(self.split, Split::Blanks(_))
    }

    /// Returns the description of the lines that name fields, if the format has such lines.
    pub fn field_map(&self) -> Option<&FieldMap> {
        self.field_map.as_ref()
    }

    /// Returns the message for a file in which no line named a selected field.
    pub fn missing(&self, was_found: bool) -> Vec<String> {
        let Some(map) = self.field_map.as_ref().filter(|_| !was_found) else { return Vec::new() };
        let prefix = String::from_utf8_lossy(map.prefix());
        let columns = map.columns().join(", ");
        vec![format!("no line starting with '{}' names any of {columns}", prefix.trim())]
    }

    /// Rewrites the values of one record.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        if let Some(map) = &self.field_map {
            match map.read(record.bytes()) {
                None => {}
                Some(positions) => {
                    if let Some(positions) = positions {
                        self.positions = positions;
                    }
                    return Action::Write;
                }
            }
            if map.is_foreign(record.bytes()) {
                return Action::Stop(Refusal { offset: record.start, reason: Reason::Cdxj });
            }
        }
        pass.report.stats.searched = true;
        let is_doubled = self.field_map.as_ref().is_some_and(FieldMap::doubles_quotes);
        let mut line = Line { bytes: record.bytes(), no_quote: false, no_bracket: false, is_doubled };
        if let Split::Blanks(enclosure) = self.split {
            line.no_quote = enclosure == Enclosure::None;
            line.no_bracket = enclosure != Enclosure::QuotesOrBrackets;
        }
        let mut positions = self.positions.iter().enumerate().peekable();
        let (mut number, mut next) = (0, Some(0));
        if self.is_access_log {
            match date(line.bytes) {
                Some(start) => (number, next) = (DATE, Some(start)),
                None if line.bytes.iter().all(|&byte| is_blank(byte)) => return Action::Write,
                None => {
                    let refusal = Refusal { offset: record.start, reason: Reason::NoRequest };
                    return pass.treatment.unreadable(record, refusal, pass.report);
                }
            }
        }
        while let (Some(from), Some((_, wanted))) = (next, positions.peek()) {
            let field = match self.split {
                // Skips the fields before the next selected one.
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
            while let Some((index, position)) = positions.next_if(|(_, position)| position.field == number) {
                let value = match position.word {
                    None => field.value.clone(),
                    Some(word) => match nth_word(line.bytes, field.value.clone(), word) {
                        Some(value) => value,
                        None => continue,
                    },
                };
                pass.report.stats.find(if self.field_map.is_some() { 0 } else { index });
                let at = At { index, around: self.around(&line, &field, position) };
                let (start, stop) = (record.start + value.start, record.start + value.end);
                let bytes = &record.chunk[start..stop];
                let out = pass.edit.open(start);
                let from = out.len();
                let action =
                    pass.treatment.value(at, bytes, out, record, pass.report, |offset| start + offset);
                if pass.edit.form() == Form::Whole {
                    self.mend(&field, bytes, pass.edit.output(), from);
                }
                pass.edit.compare(from, bytes);
                pass.edit.close(from, stop);
                if action != Action::Write {
                    return action;
                }
            }
            number += 1;
            next = field.next;
        }
        Action::Write
    }

    /// Returns the syntax around a value, which decides the bytes that stay escaped in it.
    #[inline]
    fn around(&self, line: &Line<'_>, field: &Field, position: &Position) -> Around {
        match self.split {
            // The field consists of words, so decoding must not add spaces.
            Split::Byte(_) if position.word.is_some() => Around::Guarded,
            Split::Byte(_) | Split::Blanks(Enclosure::None) => Around::Plain,
            // An unclosed bracket earlier in the line must not become closed.
            Split::Blanks(Enclosure::QuotesOrBrackets) if line.no_bracket => Around::Guarded,
            Split::Blanks(_) => match field.kind {
                Kind::Quoted { is_fragile: false } if position.word.is_none() => Around::Quotes,
                Kind::Bracketed | Kind::Quoted { is_fragile: true } => Around::Guarded,
                Kind::Bare | Kind::Quoted { .. } => Around::Plain,
            },
        }
    }

    /// Escapes those bytes that were appended at `from` of `out` and that would change how the line is split.
    #[inline]
    fn mend(&self, field: &Field, value: &[u8], out: &mut Vec<u8>, from: usize) {
        let Split::Blanks(enclosure) = self.split else {
            if self.mends && out[from..] != *value {
                self.escape_structure(value, out, from);
            }
            return;
        };
        if enclosure == Enclosure::QuotesOrBrackets
            && field.kind == Kind::Bare
            && out.get(from) == Some(&b'[')
            && !value.starts_with(b"[")
        {
            // A decoded bracket at the start would begin a bracketed field, so it is escaped again.
            let spelt = value.get(..3).filter(|spelt| spelt.eq_ignore_ascii_case(b"%5b")).unwrap_or(b"%5B");
            out.splice(from..=from, spelt.iter().copied());
        }
        if self.mends && out[from..] != *value {
            self.escape_structure(value, out, from);
            if out.len() == from && field.kind == Kind::Bare {
                // An empty field would disappear from the line.
                out.push(b'-');
            }
        }
    }

    /// Escapes all structural bytes that were appended at `from` of `out`, if there are more of them than in `value`,
    /// or if a backslash is missing that may have escaped one.
    fn escape_structure(&self, value: &[u8], out: &mut Vec<u8>, from: usize) {
        // `structure` has no blanks: only decoding produces them, and the decoder keeps their escapes.
        let delimiter;
        let structure: &[u8] = match self.split {
            Split::Byte(byte) => {
                delimiter = [byte];
                &delimiter
            }
            Split::Blanks(Enclosure::None) => return,
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
    /// Whether no quoted field ends in the rest of the line.
    no_quote: bool,
    /// Whether no bracketed field ends in the rest of the line.
    no_bracket: bool,
    /// Whether two quotes inside quotes mean one quote.
    is_doubled: bool,
}

impl Line<'_> {
    /// Returns the first field from `from` on.
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

    /// Returns the end of the field that starts with the quote or bracket at `start`: the first such mark that is
    /// followed by a blank or the end of the line, and not preceded by an odd number of backslashes. Also reports
    /// whether an earlier mark would be the end if a blank followed it.
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

/// The index of the date among the fields of an access log, from 0.
const DATE: usize = 3;

/// Returns the offset of the date of an access log: of the bracket that opens before the first `] "`. Quotes in the
/// fields before it are escaped, so the first quote after a blank is that of the request.
fn date(line: &[u8]) -> Option<usize> {
    let end = memchr::memmem::find(line, b"] \"")?;
    memchr::memrchr(b'[', &line[..end])
}

/// Returns the length of the first word of `rest`.
#[inline]
fn word_len(rest: &[u8]) -> usize {
    // Most words are short, so a search in one register is faster than a call of memchr.
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

/// Returns word number `n` of `field`.
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
