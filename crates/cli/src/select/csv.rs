//! Columns of CSV: RFC 4180, with any ASCII delimiter.
//!
//! Where a record ends is decided in [`ends`](super::ends), and where a cell ends by [`cell_end`], which looks for quotes
//! and delimiters only, at the speed of memchr. Cells with quotes in quotes are read by `csv-core`.

use std::ops::Range;

use csv_core::{Reader, ReaderBuilder, Terminator};

use super::edit::{Edit, Form};
use crate::value::policy::{Action, At, Record, Treat};
use crate::value::report::Report;

/// The columns that hold values.
pub struct Table {
    delimiter: u8,
    /// In order, counted from 0.
    columns: Vec<usize>,
    /// What they are called in the header, or by number from 1.
    titles: Vec<String>,
    /// The names of the columns of new values, one for each; empty if these replace the old ones.
    names: Vec<String>,
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
        let (columns, titles, names) = (self.columns.clone(), self.titles.clone(), self.names.clone());
        Table { columns, titles, names, ..Table::new(self.delimiter) }
    }
}

impl Table {
    /// Without columns yet.
    pub fn new(delimiter: u8) -> Table {
        let mut builder = ReaderBuilder::new();
        // Records come without their line end, so any line feed is data.
        builder.delimiter(delimiter).terminator(Terminator::Any(b'\n'));
        let reader = Box::new(builder.build());
        let (columns, titles, names) = (Vec::new(), Vec::new(), Vec::new());
        Table { delimiter, columns, titles, names, reader, cell: Vec::new(), cell_len: 0, new: Vec::new() }
    }

    /// The delimiter.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The columns, counted from 0.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// What they are called.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// Finds the columns `wanted` in the `header`, if there is one; or says what is wrong with them. New values get
    /// columns of the names `into`, if there are any.
    pub fn choose(
        &mut self,
        wanted: &[String],
        into: &[String],
        header: Option<&[u8]>,
    ) -> Result<(), String> {
        let header_names = header.map(|header| self.cells(header));
        let mut columns = Vec::new();
        for name in wanted {
            let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let into = into.get(columns.len()).cloned();
            let Some(known) = &header_names else {
                let Some(column) = by_number else {
                    return Err(format!("--column {name}: without a header, columns have numbers, from 1"));
                };
                columns.push((column, into));
                continue;
            };
            let (count, all) = (known.len(), || known.join(", "));
            // Several columns may have one name.
            let by_name: Vec<_> = (0..known.len()).filter(|&at| known[at] == *name).collect();
            match (by_name.as_slice(), by_number) {
                ([], Some(column)) if column < known.len() => columns.push((column, into)),
                ([], Some(_)) => return Err(format!("no column {name}; there are {count}: {}", all())),
                ([], None) => return Err(format!("no column '{name}'; there are: {}", all())),
                ([_, _, ..], _) if into.is_some() => {
                    return Err(format!(
                        "--into: {} columns are called '{name}'; choose by number",
                        by_name.len()
                    ));
                }
                (several, _) => columns.extend(several.iter().map(|&column| (column, into.clone()))),
            }
        }
        if let Some(taken) =
            into.iter().find(|name| header_names.iter().flatten().any(|known| known == *name))
        {
            return Err(format!("--into {taken}: there is such a column already"));
        }
        columns.sort();
        columns.dedup_by_key(|(column, _)| *column);
        self.columns = columns.iter().map(|(column, _)| *column).collect();
        let title = |&column: &usize| match &header_names {
            Some(known) => known[column].clone(),
            None => (column + 1).to_string(),
        };
        self.titles = self.columns.iter().map(title).collect();
        self.names = columns.into_iter().filter_map(|(_, into)| into).collect();
        Ok(())
    }

    /// What the cells of `line` hold.
    fn cells(&mut self, line: &[u8]) -> Vec<String> {
        let mut cells = Vec::new();
        let mut at = Some(0);
        while let Some(from) = at {
            let stop = cell_end(self.delimiter, line, from);
            at = (stop < line.len()).then_some(stop + 1);
            self.read(&line[from..stop]);
            cells.push(String::from_utf8_lossy(&self.cell[..self.cell_len]).into_owned());
        }
        cells
    }

    /// The `header`, with the columns of new values.
    pub fn header(&self, header: &[u8]) -> Vec<u8> {
        let mut new = Vec::new();
        let mut edit = Edit::new(header, 0, &mut new, Form::Whole);
        let (mut at, mut names) = (0, self.names.iter());
        for column in 0.. {
            let stop = cell_end(self.delimiter, header, at);
            if self.columns.contains(&column)
                && let Some(name) = names.next()
            {
                let out = edit.copy_to(stop);
                out.push(self.delimiter);
                write_cell(self.delimiter, name.as_bytes(), false, out);
            }
            if stop == header.len() {
                break;
            }
            at = stop + 1;
        }
        edit.copy_to(header.len());
        new
    }

    /// Rewrites the values of one record. `has_quotes` says whether cells are quoted.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        has_quotes: bool,
        treatment: &mut impl Treat,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        let line = record.bytes();
        report.stats.looked = true;
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
            report.stats.find(index);
            let action = self.rewrite_cell(index, raw, has_quotes, record, treatment, edit, report);
            if action != Action::Write {
                return action;
            }
        }
        Action::Write
    }

    #[allow(clippy::too_many_arguments, reason = "the inner half of `rewrite`")]
    fn rewrite_cell(
        &mut self,
        index: usize,
        raw: Range<usize>,
        has_quotes: bool,
        record: Record<'_>,
        treatment: &mut impl Treat,
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
        let action = treatment.value(At::plain(index), value, &mut self.new, record, report, place);
        if action != Action::Write {
            return action;
        }
        let has_changed = self.new != value;
        if has_changed {
            edit.change();
        }
        if let Form::Values { .. } = edit.form() {
            let out = edit.open(start);
            let from = out.len();
            out.extend_from_slice(&self.new);
            edit.close(from, stop);
        } else if !self.names.is_empty() {
            let out = edit.copy_to(stop);
            if is_quoted && !is_closed(bytes) {
                // The file ends within it.
                out.push(b'"');
            }
            out.push(self.delimiter);
            write_cell(self.delimiter, &self.new, is_quoted, out);
        } else if has_changed {
            // A row of one empty cell would be no row.
            let is_alone = stop - start == record.bytes().len();
            let needs_quotes = is_quoted || (is_alone && self.new.is_empty());
            write_cell(self.delimiter, &self.new, needs_quotes, edit.copy_to(start));
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

/// Writes a cell, in quotes if it needs them anyway.
fn write_cell(delimiter: u8, value: &[u8], needs_quotes: bool, out: &mut Vec<u8>) {
    let is_special =
        || memchr::memchr3(b'"', b'\n', b'\r', value).is_some() || memchr::memchr(delimiter, value).is_some();
    if !needs_quotes && !is_special() {
        out.extend_from_slice(value);
        return;
    }
    out.push(b'"');
    let mut rest = value;
    while let Some(found) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=found]);
        out.push(b'"');
        rest = &rest[found + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Whether the quotes of the quoted cell `raw` end.
fn is_closed(raw: &[u8]) -> bool {
    let mut at = 1;
    while let Some(found) = memchr::memchr(b'"', &raw[at..]) {
        at += found + 1;
        if raw.get(at) != Some(&b'"') {
            return true;
        }
        at += 1;
    }
    false
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
