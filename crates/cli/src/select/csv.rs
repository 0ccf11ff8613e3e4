//! Selects columns of CSV: RFC 4180, with any ASCII delimiter.
//!
//! [`ends`](super::ends) finds the ends of records. [`cell_end`] finds the ends of cells: it searches only for quotes
//! and delimiters, with memchr. Cells with escaped quotes are read by `csv-core`.

use std::ops::Range;

use csv_core::{Reader, ReaderBuilder, Terminator};

use super::edit::{Edit, Form};
use super::order::Order;
use super::pass::Pass;
use crate::ground::shown::shown;
use crate::value::policy::{Action, At, Treat};

/// The state of a row that arrives in pieces.
#[derive(Clone, Debug, Default)]
pub struct LongRow {
    /// The number of the current cell.
    cell: usize,
    state: Cell,
    /// Whether the last byte was a carriage return outside quotes, which has not been written.
    has_return: bool,
    /// Whether the line end was read.
    has_ended: bool,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, Default)]
enum Cell {
    #[default]
    Start,
    Bare,
    Quoted,
    /// After a quote inside quotes: it either closes them or begins an escaped quote.
    Quote,
}

/// The selected columns of a CSV table, with buffers for the current cell.
pub struct Table {
    delimiter: u8,
    /// The indices of the selected columns, from 0, in ascending order. One that was asked for twice is here twice.
    columns: Vec<usize>,
    /// The order in which the user asked for the columns.
    order: Order,
    /// The number of cells of the header or, without a header, of the first row. It is 0 if there is no such row.
    width: usize,
    /// Whether [`Table::line`] searches for a line that is a row.
    is_lost: bool,
    /// The name of each column in the header, or its number from 1.
    titles: Vec<String>,
    /// The names of the new columns, one for each column; empty if new values replace the old ones.
    names: Vec<String>,
    /// The reader of cells with escaped quotes. Each file has a clone of the table, and making a reader takes as long as thousands of bytes.
    reader: Option<Box<Reader>>,
    /// A buffer for the unquoted cell, and the length of the cell in it.
    cell: Vec<u8>,
    cell_len: usize,
    /// A buffer for the new value.
    new: Vec<u8>,
}

impl Clone for Table {
    fn clone(&self) -> Table {
        // csv-core 0.1.13 does not copy the output flags of a `Reader`, so a clone of it reads nothing.
        let Table { delimiter, columns, order, width, is_lost, titles, names, .. } = self;
        let (columns, order, titles, names) = (columns.clone(), order.clone(), titles.clone(), names.clone());
        Table { columns, order, width: *width, is_lost: *is_lost, titles, names, ..Table::new(*delimiter) }
    }
}

impl Table {
    /// Returns a table in which no columns are selected yet.
    pub fn new(delimiter: u8) -> Table {
        Table {
            delimiter,
            columns: Vec::new(),
            order: Order::default(),
            width: 0,
            is_lost: false,
            titles: Vec::new(),
            names: Vec::new(),
            reader: None,
            cell: Vec::new(),
            cell_len: 0,
            new: Vec::new(),
        }
    }

    /// Returns the delimiter.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Returns the indices of the columns, from 0.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns the titles of the columns.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// Selects the columns `wanted`, by the names in `header` or by number. If `into` has names, new values are
    /// written to columns of these names. Returns an error message if the header cannot be read, a column does not
    /// exist or a name is taken.
    pub fn choose(
        &mut self,
        wanted: &[String],
        into: &[String],
        header: Option<&[u8]>,
    ) -> Result<(), String> {
        if header.is_some_and(|header| self.open_quote(header).is_some()) {
            return Err("a quoted cell of the header is not closed".to_owned());
        }
        let text = |cell: Vec<u8>| String::from_utf8_lossy(&cell).into_owned();
        let header_names = header.map(|header| self.cells(header).into_iter().map(text).collect::<Vec<_>>());
        if let Some(names) = &header_names {
            self.width = names.len();
        }
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
            let (count, all) = (known.len(), || shown(known.join(", ").as_ref()));
            // Several columns may have the same name, which makes the name ambiguous.
            let by_name: Vec<_> = (0..known.len()).filter(|&at| known[at] == *name).collect();
            match (by_name.as_slice(), by_number) {
                ([], Some(column)) if column < known.len() => columns.push((column, into)),
                ([], Some(_)) => return Err(format!("no column {name}; the header has {count}: {}", all())),
                ([], None) => return Err(format!("no column '{name}'; the header has: {}", all())),
                ([_, _, ..], _) if into.is_some() => {
                    return Err(format!(
                        "--into: {} columns are called '{name}'; select one by number",
                        by_name.len()
                    ));
                }
                (several, _) => columns.extend(several.iter().map(|&column| (column, into.clone()))),
            }
        }
        if let Some(taken) =
            into.iter().find(|name| header_names.iter().flatten().any(|known| known == *name))
        {
            return Err(format!("--into {taken}: the header has this column already"));
        }
        self.order = Order::of(columns.iter().map(|(column, _)| *column));
        columns.sort_by_key(|(column, _)| *column);
        self.columns = columns.iter().map(|(column, _)| *column).collect();
        let title = |&column: &usize| match &header_names {
            Some(known) => known[column].clone(),
            None => (column + 1).to_string(),
        };
        self.titles = self.columns.iter().map(title).collect();
        self.names = columns.into_iter().filter_map(|(_, into)| into).collect();
        Ok(())
    }

    /// Takes the width of the table from `row`, the first row of a table without a header.
    pub fn measure(&mut self, row: &[u8]) {
        self.width = if self.open_quote(row).is_some() { 0 } else { self.count_cells(row) };
    }

    /// Returns the offset of the quote that opens the first cell of `record` that cannot be read: no quote closes the
    /// cell, or text follows the closing quote of a cell of several lines. Such a cell probably began with a misplaced
    /// quote, and the lines in it are rows.
    pub fn open_quote(&self, record: &[u8]) -> Option<usize> {
        let mut from = 0;
        loop {
            let stop = cell_end(self.delimiter, record, from);
            if record.get(from) == Some(&b'"') {
                let close = close(&record[from..]).map(|len| from + len);
                let is_readable =
                    close.is_some_and(|close| close == stop || !record[from..close].contains(&b'\n'));
                if !is_readable {
                    return Some(from);
                }
            }
            if stop == record.len() {
                return None;
            }
            from = stop + 1;
        }
    }

    /// Starts to read the lines of an unreadable record one by one.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Reads `line`, which is part of an unreadable record. After a line that is no row, the next row has as many cells
    /// as the table. `is_fragment` tells that `line` is only a part of a line.
    pub fn line(&mut self, line: &[u8], is_fragment: bool) -> Line {
        let open = self.open_quote(line);
        match open {
            Some(quote) if !self.is_lost && !is_fragment => {
                self.is_lost = true;
                return Line::Unreadable(quote);
            }
            None if !is_fragment => {
                let is_row = !self.is_lost || [0, self.count_cells(line)].contains(&self.width);
                self.is_lost = !is_row;
            }
            _ => self.is_lost = true,
        }
        if self.is_lost { Line::Lost } else { Line::Row }
    }

    /// Returns the number of cells of `line`.
    fn count_cells(&self, line: &[u8]) -> usize {
        let (mut count, mut from) = (1, 0);
        loop {
            let stop = cell_end(self.delimiter, line, from);
            if stop == line.len() {
                return count;
            }
            (count, from) = (count + 1, stop + 1);
        }
    }

    /// Returns the unquoted cells of `line`.
    pub fn cells(&mut self, line: &[u8]) -> Vec<Vec<u8>> {
        let mut cells = Vec::new();
        let mut at = Some(0);
        while let Some(from) = at {
            let stop = cell_end(self.delimiter, line, from);
            at = (stop < line.len()).then_some(stop + 1);
            self.read(&line[from..stop]);
            cells.push(self.cell[..self.cell_len].to_vec());
        }
        cells
    }

    /// Returns `header` with the names of the new columns added.
    pub fn header(&self, header: &[u8]) -> Vec<u8> {
        self.widened(header, |name| name)
    }

    /// Returns `row` with an empty cell in each new column.
    pub fn with_empty_cells(&self, row: &[u8]) -> Vec<u8> {
        self.widened(row, |_| "")
    }

    /// Appends `piece`, the next piece of a row that is too long for memory, to `out`, with an empty cell in each new column.
    /// `long` is the state of the row, and `is_end` says that the row ends after this piece.
    pub fn widen(&self, long: &mut LongRow, piece: &[u8], is_end: bool, out: &mut Vec<u8>) {
        let LongRow { cell, state, has_return, has_ended } = long;
        for &byte in piece {
            if std::mem::take(has_return) {
                if byte == b'\n' {
                    self.push_empty_cells(*cell, out);
                    *has_ended = true;
                }
                out.push(b'\r');
            }
            let is_quoted = matches!((*state, byte), (Cell::Quoted, _) | (Cell::Quote, b'"'));
            match (*state, byte) {
                (Cell::Start, b'"') | (Cell::Quote, b'"') => *state = Cell::Quoted,
                (Cell::Quoted, b'"') => *state = Cell::Quote,
                (Cell::Quoted, _) => {}
                _ if byte == self.delimiter => {
                    self.push_empty_cells(*cell, out);
                    (*cell, *state) = (*cell + 1, Cell::Start);
                }
                (_, b'\n') if !*has_ended => {
                    self.push_empty_cells(*cell, out);
                    *has_ended = true;
                }
                _ => *state = Cell::Bare,
            }
            // A carriage return is part of the line end or of the cell.
            *has_return = byte == b'\r' && !is_quoted;
            if !*has_return {
                out.push(byte);
            }
        }
        if is_end {
            if std::mem::take(has_return) {
                out.push(b'\r');
            }
            if !*has_ended {
                self.push_empty_cells(*cell, out);
            }
        }
    }

    /// Appends a delimiter for each new column after column number `cell`.
    fn push_empty_cells(&self, cell: usize, out: &mut Vec<u8>) {
        let count = self.columns.iter().zip(&self.names).filter(|(selected, _)| **selected == cell).count();
        out.extend(std::iter::repeat_n(self.delimiter, count));
    }

    /// Returns `row` with the cells of the new columns added. `cell` maps the name of a column to its cell.
    fn widened(&self, row: &[u8], cell: impl Fn(&str) -> &str) -> Vec<u8> {
        let mut new = Vec::new();
        let mut edit = Edit::new(row, 0, &mut new, Form::Whole);
        let mut at = 0;
        for column in 0.. {
            let stop = cell_end(self.delimiter, row, at);
            let names = self.columns.iter().zip(&self.names).filter(|(selected, _)| **selected == column);
            for (_, name) in names {
                let out = edit.copy_to(stop);
                out.push(self.delimiter);
                write_cell(self.delimiter, cell(name).as_bytes(), false, out);
            }
            if stop == row.len() {
                break;
            }
            at = stop + 1;
        }
        edit.copy_to(row.len());
        new
    }

    /// Rewrites the values of one record. `has_quotes` tells whether the record contains a quote.
    pub fn rewrite(&mut self, has_quotes: bool, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        let line = record.bytes();
        pass.report.stats.searched = true;
        let (mut number, mut at) = (0, Some(0));
        let mut index = 0;
        while let Some(&column) = self.columns.get(index) {
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
            // The user can ask for a column twice.
            let count = self.columns[index..].iter().take_while(|same| **same == column).count();
            let indices = index..index + count;
            index = indices.end;
            indices.clone().for_each(|index| pass.report.stats.find(index));
            let action = self.rewrite_cell(indices, raw, has_quotes, pass);
            if action != Action::Write {
                return action;
            }
        }
        Action::Write
    }

    /// Rewrites the cell at `raw`, which `indices` select.
    fn rewrite_cell(
        &mut self,
        indices: Range<usize>,
        raw: Range<usize>,
        has_quotes: bool,
        pass: &mut Pass<'_, '_, impl Treat>,
    ) -> Action {
        let record = pass.record;
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
        let at = At::plain(indices.start);
        let action = pass.treatment.value(at, value, &mut self.new, record, pass.report, place);
        if action != Action::Write {
            return action;
        }
        let has_changed = self.new != value;
        if has_changed {
            pass.edit.change();
        }
        if pass.edit.write_bare(self.order.rank(indices.start), start, stop, &self.new) {
            indices.skip(1).for_each(|index| pass.edit.repeat(self.order.rank(index)));
            return action;
        }
        if !self.names.is_empty() {
            for _ in indices {
                let out = pass.edit.copy_to(stop);
                out.push(self.delimiter);
                write_cell(self.delimiter, &self.new, is_quoted, out);
            }
        } else if has_changed {
            // A row that consists of one empty cell needs quotes, because it would be an empty line without them.
            let is_alone = stop - start == record.bytes().len();
            let needs_quotes = is_quoted || (is_alone && self.new.is_empty());
            write_cell(self.delimiter, &self.new, needs_quotes, pass.edit.copy_to(start));
            pass.edit.skip_to(stop);
        }
        action
    }

    /// Unquotes the cell `raw` into `self.cell`.
    fn read(&mut self, raw: &[u8]) {
        if self.cell.len() <= raw.len() {
            self.cell.resize(raw.len() + 1, 0);
        }
        let reader = self.reader.get_or_insert_with(|| {
            // Records are passed without their line end, so every line feed is data.
            let terminator = Terminator::Any(b'\n');
            Box::new(ReaderBuilder::new().delimiter(self.delimiter).terminator(terminator).build())
        });
        reader.reset();
        // The buffer is longer than the input, so one call reads the whole cell.
        (_, _, self.cell_len) = reader.read_field(raw, &mut self.cell);
    }
}

/// Returns the names in `list`, a row of CSV, so that a name that contains a comma is given in quotes.
pub fn names(list: &str) -> Vec<String> {
    let mut table = Table::new(b',');
    // A quote that is never closed is part of a name.
    if table.open_quote(list.as_bytes()).is_some() {
        return list.split(',').map(str::to_owned).collect();
    }
    let cells = table.cells(list.as_bytes());
    cells.into_iter().map(|cell| String::from_utf8_lossy(&cell).into_owned()).collect()
}

/// Appends a cell, quoted if `needs_quotes` or if the value requires it.
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

/// The meaning of a line of an unreadable record.
#[derive(Clone, Copy, Debug)]
pub enum Line {
    /// The line is a row.
    Row,
    /// The line is unreadable, because the quote at this offset opens a cell that is not closed.
    Unreadable(usize),
    /// The line belongs to what is unreadable before it.
    Lost,
}

/// Returns the offset after the closing quote of the quoted cell at the start of `raw`, if there is one.
fn close(raw: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(found) = memchr::memchr(b'"', &raw[at..]) {
        at += found + 1;
        if raw.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns the end of the cell of `line` that starts at `from`.
fn cell_end(delimiter: u8, line: &[u8], from: usize) -> usize {
    let mut at = from;
    while line.get(at) == Some(&b'"') {
        match memchr::memchr(b'"', &line[at + 1..]) {
            // If a quote follows the quote that was found, both are one escaped quote, and the loop continues.
            Some(found) => at += found + 2,
            None => return line.len(),
        }
    }
    memchr::memchr(delimiter, &line[at..]).map_or(line.len(), |found| at + found)
}

/// Maps byte `offset` of the unquoted value to its offset in the quoted cell `raw`.
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
