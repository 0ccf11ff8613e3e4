//! Columns of CSV: RFC 4180, with any ASCII delimiter.
//!
//! Where a record ends is decided by [`Ends`], and where a cell ends by [`cell_end`], which look for quotes and
//! delimiters only, at the speed of memchr. Cells with quotes in quotes are read by `csv-core`.

use std::ops::Range;

use csv_core::{Reader, ReaderBuilder, Terminator};

use super::edit::Edit;
use crate::value::policy::{Action, Around, Record, Treatment};
use crate::value::report::Report;

/// Finds the ends of records in input that comes in pieces.
///
/// A quote opens a cell only at its start, and within a cell that is quoted two quotes are one that is data.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    delimiter: u8,
    state: State,
    /// Whether the record under way has a quoted cell.
    has_quotes: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Outside of quotes, after this byte.
    Outside(u8),
    Quoted,
    /// After a quote within quotes.
    Quote,
}

/// The state between records.
const START: State = State::Outside(b'\n');

impl Ends {
    /// At the start of a record.
    pub fn new(delimiter: u8) -> Ends {
        Ends { delimiter, state: START, has_quotes: false }
    }

    /// The end of the record under way, after its line feed, and whether it has quoted cells; or `None` when it
    /// does not end in `piece`.
    pub fn next(&mut self, piece: &[u8]) -> Option<(usize, bool)> {
        let mut at = 0;
        loop {
            let rest = piece.get(at..).filter(|rest| !rest.is_empty())?;
            self.state = match self.state {
                State::Outside(last) => match memchr::memchr2(b'\n', b'"', rest) {
                    None => {
                        self.state = State::Outside(rest[rest.len() - 1]);
                        return None;
                    }
                    Some(found) if rest[found] == b'\n' => {
                        let end = (at + found + 1, self.has_quotes);
                        *self = Ends::new(self.delimiter);
                        return Some(end);
                    }
                    Some(found) => {
                        let last = if found == 0 { last } else { rest[found - 1] };
                        at += found + 1;
                        if last == self.delimiter || last == b'\n' {
                            self.has_quotes = true;
                            State::Quoted
                        } else {
                            State::Outside(b'"')
                        }
                    }
                },
                State::Quoted => {
                    let behind = memchr::memchr(b'"', rest)? + 1;
                    at += behind;
                    match rest[behind..] {
                        // Most often another such cell follows.
                        [byte, b'"', ..] if byte == self.delimiter => {
                            at += 2;
                            State::Quoted
                        }
                        _ => State::Quote,
                    }
                }
                State::Quote if rest[0] == b'"' => {
                    at += 1;
                    State::Quoted
                }
                State::Quote => State::Outside(b'"'),
            };
        }
    }

    /// The same, at the start of a record.
    pub fn fresh(self) -> Ends {
        Ends::new(self.delimiter)
    }

    /// Whether the record that ends with the input has quoted cells.
    pub fn has_quotes(&self) -> bool {
        self.has_quotes
    }
}

/// The columns that hold values.
pub struct Table {
    delimiter: u8,
    /// In order, counted from 0.
    columns: Vec<usize>,
    reader: Box<Reader>,
    /// Room for the value of a cell, and its length.
    cell: Vec<u8>,
    cell_len: usize,
    /// What becomes of it.
    new: Vec<u8>,
}

impl Clone for Table {
    fn clone(&self) -> Table {
        // In csv-core 0.1.13, a clone of a `Reader` has lost its output flags and reads nothing.
        Table { columns: self.columns.clone(), ..Table::new(self.delimiter) }
    }
}

impl Table {
    /// Without columns yet.
    pub fn new(delimiter: u8) -> Table {
        let mut builder = ReaderBuilder::new();
        // Records come without their line end, so any line feed is data.
        builder.delimiter(delimiter).terminator(Terminator::Any(b'\n'));
        let reader = Box::new(builder.build());
        Table { delimiter, columns: Vec::new(), reader, cell: Vec::new(), cell_len: 0, new: Vec::new() }
    }

    /// The delimiter.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Finds the columns `names` in the `header`, if there is one; or says what is wrong with them.
    pub fn choose(&mut self, names: &[String], header: Option<&[u8]>) -> Result<(), String> {
        let mut header_names = Vec::new();
        if let Some(header) = header {
            let mut at = Some(0);
            while let Some(from) = at {
                let stop = cell_end(self.delimiter, header, from);
                let next = (stop < header.len()).then_some(stop + 1);
                self.read(&header[from..stop]);
                header_names.push(String::from_utf8_lossy(&self.cell[..self.cell_len]).into_owned());
                at = next;
            }
        }
        self.columns.clear();
        for name in names {
            let by_name = header_names.iter().position(|column| column == name);
            let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match by_name.or(by_number) {
                Some(column) => self.columns.push(column),
                None if header.is_none() => {
                    return Err(format!("--column {name}: without a header, columns have numbers, from 1"));
                }
                None => {
                    return Err(format!("no column '{name}'; there are: {}", header_names.join(", ")));
                }
            }
        }
        self.columns.sort_unstable();
        self.columns.dedup();
        Ok(())
    }

    /// Rewrites the values of one record. `has_quotes` says whether cells are quoted.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        has_quotes: bool,
        treatment: &mut Treatment,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        let line = record.bytes();
        let (mut number, mut at) = (0, Some(0));
        for index in 0..self.columns.len() {
            let column = self.columns[index];
            let raw = loop {
                let Some(from) = at else { return Action::Write };
                let (raw, next) = if has_quotes {
                    let stop = cell_end(self.delimiter, line, from);
                    (from..stop, (stop < line.len()).then_some(stop + 1))
                } else if number < column {
                    let found = memchr::memchr_iter(self.delimiter, &line[from..]).nth(column - number - 1);
                    number = column - 1;
                    (0..0, found.map(|found| from + found + 1))
                } else {
                    let found = memchr::memchr(self.delimiter, &line[from..]);
                    let stop = found.map_or(line.len(), |found| from + found);
                    (from..stop, found.map(|_| stop + 1))
                };
                at = next;
                number += 1;
                if number > column {
                    break raw;
                }
            };
            let is_alone = raw == (0..line.len());
            let action = self.rewrite_cell(raw, has_quotes, is_alone, record, treatment, edit, report);
            if action != Action::Write {
                return action;
            }
        }
        Action::Write
    }

    #[allow(clippy::too_many_arguments, reason = "the inner half of `rewrite`")]
    fn rewrite_cell(
        &mut self,
        raw: Range<usize>,
        has_quotes: bool,
        is_alone: bool,
        record: Record<'_>,
        treatment: &mut Treatment,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        let (start, stop) = (record.start + raw.start, record.start + raw.end);
        let bytes = &record.chunk[start..stop];
        let is_quoted = has_quotes && bytes.first() == Some(&b'"');
        let is_plain = |content: &&[u8]| memchr::memchr(b'"', content).is_none();
        let value = match bytes {
            _ if !is_quoted => bytes,
            [b'"', content @ .., b'"'] if is_plain(&content) => content,
            _ => {
                self.read(bytes);
                &self.cell[..self.cell_len]
            }
        };
        self.new.clear();
        let place = |offset| start + if is_quoted { raw_offset(bytes, offset) } else { offset };
        let action = treatment.value(Around::Plain, value, &mut self.new, record, report, place);
        if action == Action::Write && self.new != value {
            let out = edit.copy_to(start);
            let is_special = || {
                memchr::memchr3(b'"', b'\n', b'\r', &self.new).is_some()
                    || memchr::memchr(self.delimiter, &self.new).is_some()
            };
            // A row of one empty cell would be no row.
            if is_quoted || (is_alone && self.new.is_empty()) || is_special() {
                out.push(b'"');
                let mut rest = &self.new[..];
                while let Some(found) = memchr::memchr(b'"', rest) {
                    out.extend_from_slice(&rest[..=found]);
                    out.push(b'"');
                    rest = &rest[found + 1..];
                }
                out.extend_from_slice(rest);
                out.push(b'"');
            } else {
                out.extend_from_slice(&self.new);
            }
            edit.skip_to(stop);
        }
        action
    }

    /// Reads the value of the cell `raw` into `self.cell`.
    fn read(&mut self, raw: &[u8]) {
        if self.cell.len() <= raw.len() {
            self.cell.resize(raw.len() + 1, 0);
        }
        self.reader.reset();
        // It ends with its input, and there is room for all of it.
        (_, _, self.cell_len) = self.reader.read_field(raw, &mut self.cell);
    }
}

/// The end of the cell of `line` that starts at `from`.
fn cell_end(delimiter: u8, line: &[u8], from: usize) -> usize {
    let mut at = from;
    while line.get(at) == Some(&b'"') {
        match memchr::memchr(b'"', &line[at + 1..]) {
            // Behind it is another quote if this one is data.
            Some(found) => at += found + 2,
            None => return line.len(),
        }
    }
    memchr::memchr(delimiter, &line[at..]).map_or(line.len(), |found| at + found)
}

/// Where byte `offset` of the value of the quoted cell `raw` stands in it.
fn raw_offset(raw: &[u8], offset: usize) -> usize {
    let (mut at, mut is_quoted) = (1, true);
    for index in 0.. {
        if is_quoted && raw.get(at) == Some(&b'"') && raw.get(at + 1) != Some(&b'"') {
            is_quoted = false;
            at += 1;
        }
        if index == offset {
            break;
        }
        at += if is_quoted && raw.get(at) == Some(&b'"') { 2 } else { 1 };
    }
    at
}
