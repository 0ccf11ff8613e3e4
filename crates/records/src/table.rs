//! Finds the cells of CSV: RFC 4180, with any ASCII delimiter.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

use simdpct::ByteSet;

use crate::ends::{Dialect, Ends, Quotes, Separator};
use crate::escaping::Escaping;
use crate::fast::{Delimited, Finder, Sweep};
use crate::place::{Marks, Place, Reason, Unreadable, unreadable};

/// A cell of a row.
struct Cell {
    /// The cell without its quotes.
    range: Range<usize>,
    is_quoted: bool,
    /// The offset of the delimiter after the cell, or the length of the row.
    end: usize,
}

/// The value of a cell, and whether the cell is quoted.
pub type QuotedValue<'a> = (Cow<'a, [u8]>, bool);

impl Dialect {
    /// Returns RFC 4180 with this delimiter.
    pub fn strict(delimiter: u8) -> Dialect {
        Dialect { delimiter, quotes: Quotes::Strict }
    }

    /// Returns the escaping in quoted cells.
    fn escaping(self) -> Escaping {
        match self.quotes {
            Quotes::Strict => Escaping::Csv,
            Quotes::Lazy => Escaping::CsvLazy,
            Quotes::Backslash => Escaping::CsvBackslash,
        }
    }

    /// Reads the cell of `row` at `start`.
    fn cell(self, row: &[u8], start: usize) -> Result<Cell, Unreadable> {
        if row.get(start) != Some(&b'"') {
            let found = match self.quotes {
                Quotes::Lazy => memchr(self.delimiter, &row[start..]),
                _ => memchr2(self.delimiter, b'"', &row[start..]),
            };
            let end = found.map_or(row.len(), |len| start + len);
            return match row.get(end) {
                Some(b'"') => unreadable(end, Reason::QUOTE_INSIDE),
                _ => Ok(Cell { range: start..end, is_quoted: false, end }),
            };
        }
        let mut at = start + 1;
        while let Some(quote) = self.escaping().next_quote(row, at) {
            match row.get(quote + 1) {
                Some(&byte) if byte != self.delimiter && self.quotes == Quotes::Lazy => at = quote + 1,
                Some(&byte) if byte != self.delimiter => {
                    return unreadable(quote + 1, Reason::TEXT_AFTER_QUOTE);
                }
                _ => return Ok(Cell { range: start + 1..quote, is_quoted: true, end: quote + 1 }),
            }
        }
        unreadable(start, Reason::OPEN_QUOTE)
    }

    /// Returns the cells of `row`, up to the first one that cannot be read.
    #[inline]
    fn iter(self, row: &[u8]) -> impl Iterator<Item = Result<Cell, Unreadable>> {
        let mut start = Some(0);
        std::iter::from_fn(move || {
            let cell = self.cell(row, start?);
            start = match &cell {
                Ok(cell) if cell.end < row.len() => Some(cell.end + 1),
                _ => None,
            };
            Some(cell)
        })
    }

    /// Returns the number of cells of `row`.
    fn width(self, row: &[u8]) -> Result<usize, Unreadable> {
        self.iter(row).try_fold(0, |count, cell| cell.map(|_| count + 1))
    }

    /// Returns the values of the cells of `row`, each with the answer to whether it is quoted.
    pub fn cells(self, row: &[u8]) -> Result<Vec<QuotedValue<'_>>, Unreadable> {
        let value = |Cell { range, is_quoted, .. }| {
            let raw = &row[range];
            let mut buffer = Vec::new();
            let is_plain =
                !is_quoted || self.escaping().undo(raw, &mut buffer).is_ok_and(|value| value == raw);
            (if is_plain { Cow::Borrowed(raw) } else { Cow::Owned(buffer) }, is_quoted)
        };
        self.iter(row).map(|cell| cell.map(value)).collect()
    }

    /// Reports whether `row` seems to consist of lines that end in carriage returns: one is outside quotes.
    pub fn has_lone_return(self, row: &[u8]) -> bool {
        self.iter(row).any(|cell| match cell {
            Ok(cell) => !cell.is_quoted && memchr(b'\r', &row[cell.range]).is_some(),
            // After a quote.
            Err(error) => row.get(error.offset) == Some(&b'\r'),
        })
    }

    /// Appends `value` to `out` as a cell, in quotes if it needs them. An error is the offset of a byte that cannot be written.
    pub fn write(self, value: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        self.write_as(false, value, out)
    }

    /// Appends `value` to `out` as a cell, in quotes if `is_quoted` or if it needs them. An error is that of [`Dialect::write`].
    fn write_as(self, is_quoted: bool, value: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let is_special = |byte: &u8| *byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r' | 0);
        if !is_quoted && !value.iter().any(is_special) {
            out.extend_from_slice(value);
            return Ok(());
        }
        out.push(b'"');
        self.escaping().apply(value, out)?;
        out.push(b'"');
        Ok(())
    }

    /// Returns the delimiter that `line`, the first one of a file, names: `sep=;`. Such a line is no row.
    pub fn named(line: &[u8]) -> Option<u8> {
        match line {
            [name @ .., delimiter] if name.eq_ignore_ascii_case(b"sep=") && *delimiter != b'"' => {
                Some(*delimiter)
            }
            _ => None,
        }
    }
}

/// The message about lines that end in carriage returns.
pub const RETURNS: &str = "lines end in carriage returns (CR); convert them with tr '\\r' '\\n'";

/// The columns of a table that were asked for.
#[derive(Clone, Debug)]
pub struct Table {
    dialect: Dialect,
    /// The bytes that a cell without quotes does not have.
    fence: ByteSet,
    /// The number of each column, from 0, and the number of its value, in the order of the table.
    columns: Vec<(usize, usize)>,
    /// The name of each value: that of its column or, without a header, its number from 1.
    names: Vec<String>,
    /// The name of the new column beside each value; empty if new values replace the old ones.
    into: Vec<String>,
    /// The number of cells of the header or, without a header, of the first row. It is 0 if there is no such row.
    width: usize,
}

impl Table {
    /// Returns the columns `wanted`, by the names in `header` or by number. If `into` has names, new values are written to columns of these
    /// names. An error is a message for the user.
    pub fn new(
        dialect: Dialect,
        wanted: &[String],
        into: &[String],
        header: Option<&[u8]>,
    ) -> Result<Table, String> {
        let fence = ByteSet::from_bytes(&[dialect.delimiter, b'"', b'\n', b'\r', 0]);
        let mut table =
            Table { dialect, fence, columns: Vec::new(), names: Vec::new(), into: Vec::new(), width: 0 };
        let number = |name: &str| name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(header) = header else {
            for name in wanted {
                let message = || format!("column {name}: without a header, columns have numbers, from 1");
                table.add(number(name).ok_or_else(message)?, name.clone(), None)?;
            }
            return Ok(table);
        };
        if dialect.has_lone_return(header) {
            return Err(RETURNS.to_owned());
        }
        let cells = dialect
            .cells(header)
            .map_err(|error| format!("the header cannot be read: {} at {}", error.reason.0, error.offset))?;
        let known: Vec<_> =
            cells.iter().map(|(cell, _)| String::from_utf8_lossy(cell).into_owned()).collect();
        if let Some(taken) = into.iter().find(|name| known.contains(name)) {
            return Err(format!("{taken}: the header has this column already"));
        }
        for (index, name) in wanted.iter().enumerate() {
            let into = into.get(index);
            // Several columns can have the same name.
            let mut numbers: Vec<_> = (0..known.len()).filter(|&number| known[number] == *name).collect();
            if numbers.is_empty() {
                numbers.extend(number(name).filter(|&number| number < known.len()));
            }
            let (count, all) = (numbers.len(), known.len());
            match count {
                0 => return Err(format!("no column '{name}'; the header has {all}: {}", known.join(", "))),
                2.. if into.is_some() => {
                    return Err(format!("{count} columns are called '{name}'; select one by number"));
                }
                _ => numbers.iter().try_for_each(|&number| table.add(number, known[number].clone(), into))?,
            }
        }
        table.width = known.len();
        Ok(table)
    }

    /// Adds column number `number`.
    fn add(&mut self, number: usize, name: String, into: Option<&String>) -> Result<(), String> {
        if self.columns.iter().any(|(known, _)| *known == number) {
            return Err(format!("column {name} is asked for twice"));
        }
        self.columns.push((number, self.names.len()));
        self.columns.sort_unstable();
        self.names.push(name);
        self.into.extend(into.cloned());
        Ok(())
    }

    /// Returns the names of the values.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the search for escapes in the column that was asked for, if it is one.
    pub(crate) fn sweep(&self) -> Option<Sweep> {
        let ([(before, _)], delimiter) = (&*self.columns, self.dialect.delimiter) else { return None };
        // No escape crosses a delimiter.
        let lists_fields = !self.into.is_empty();
        let delimited = Delimited::new(Separator::Byte(delimiter), *before, true, lists_fields);
        let sweep = Sweep::new(Finder::Delimited(Box::new(delimited)), ByteSet::EMPTY, self.fence);
        (!delimiter.is_ascii_hexdigit()).then_some(sweep)
    }

    /// Takes the width of the table from `row`, the first row of a table without a header.
    pub fn measure(&mut self, row: &[u8]) {
        self.width = self.dialect.width(row).unwrap_or(0);
    }

    /// Returns the error of `row` if it cannot be read.
    pub fn check(&self, row: &[u8]) -> Result<(), Unreadable> {
        self.dialect.width(row).map(|_| ())
    }

    /// Appends the places of the cells of `row` to `places`. A blank line has none.
    pub(crate) fn find(&self, row: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        if row.is_empty() {
            return Ok(());
        }
        let from = places.len();
        // A row without quotes can be read.
        let has_quotes = memchr(b'"', row).is_some();
        let mut columns = self.columns.iter().peekable();
        for (number, cell) in self.dialect.iter(row).enumerate() {
            // Where a quote is wrong, it is not certain which of the cells before it are cells.
            let cell = cell.inspect_err(|_| places.truncate(from))?;
            let Some((_, index)) = columns.next_if(|(column, _)| *column == number) else { continue };
            let beside = (!self.into.is_empty()).then_some(cell.end);
            let is_alone = cell.range == (0..row.len());
            let (escaping, fence, marks) = match cell.is_quoted {
                true => (self.dialect.escaping(), ByteSet::EMPTY, Marks::Quotes),
                false => (Escaping::None, self.fence, Marks::Optional(self.dialect.escaping())),
            };
            let place = Place::new(cell.range, *index, escaping, fence);
            // A row of one empty cell without quotes would be a blank line.
            places.push(Place { marks, may_be_empty: !is_alone, beside, ..place });
            if !has_quotes && columns.peek().is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Appends a new cell with `value`, or an empty one, which is quoted if the cell at `place` is.
    pub(crate) fn write_beside(
        &self,
        place: &Place,
        value: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), usize> {
        out.push(self.dialect.delimiter);
        match value {
            Some(value) => self.dialect.write_as(place.marks == Marks::Quotes, value, out),
            None => Ok(()),
        }
    }

    /// Returns `header` with the names of the new columns.
    pub fn widened(&self, header: &[u8]) -> Vec<u8> {
        let (mut out, mut done) = (Vec::new(), 0);
        for (number, cell) in self.dialect.iter(header).map_while(Result::ok).enumerate() {
            let Some(name) = self.name_after(number) else { continue };
            out.extend_from_slice(&header[done..cell.end]);
            done = cell.end;
            out.push(self.dialect.delimiter);
            let _ = self.dialect.write_as(cell.is_quoted, name.as_bytes(), &mut out);
        }
        out.extend_from_slice(&header[done..]);
        out
    }

    /// Returns the name of the new column after column number `column`, if there is one.
    fn name_after(&self, column: usize) -> Option<&String> {
        let place = self.columns.binary_search_by_key(&column, |(number, _)| *number).ok()?;
        self.into.get(self.columns[place].1)
    }

    /// Returns the length of the part of `record` that cannot be read: up to the next line that is a row of the width of the table. `record`
    /// begins with a row that cannot be read, and has line ends.
    pub fn salvage(&self, record: &[u8]) -> usize {
        let mut starts = memchr::memchr_iter(b'\n', record).map(|end| end + 1);
        let is_row = |start: &usize| {
            let line = &record[*start..];
            self.is_row(&line[..memchr(b'\n', line).unwrap_or(line.len())])
        };
        starts.find(is_row).unwrap_or(record.len())
    }

    /// Returns the place in `record`, a row with its line end, where reading goes on, if the row cannot be read and there is such a place.
    pub fn resume(&self, record: &[u8]) -> Option<usize> {
        let row = record.strip_suffix(b"\n").unwrap_or(record);
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        if memchr(b'\n', row).is_none() || self.check(row).is_ok() {
            return None;
        }
        Some(self.salvage(record)).filter(|&len| len < record.len())
    }

    /// Reports whether reading can go on at `line`, which has no line feed, after a quote that is not closed.
    fn is_row(&self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let has_width = self.dialect.width(line).is_ok_and(|width| [0, width].contains(&self.width));
        // Lazy quotes can be anywhere, so that a line tells nothing about those before it.
        has_width && !line.is_empty() && self.dialect.quotes != Quotes::Lazy
    }
}

/// Adds empty cells in the new columns of a row that arrives in pieces, because it is too long to be read.
#[derive(Clone, Debug)]
pub struct Widener {
    ends: Ends,
    /// The number of the current cell; `None` after the end of the row.
    cell: Option<usize>,
    /// Whether the last byte was a carriage return, which has not been written: it can be a part of the line end.
    has_return: bool,
}

impl Widener {
    /// Starts at the beginning of a row of `table`.
    pub fn new(table: &Table) -> Widener {
        Widener { ends: Ends::new(table.dialect), cell: Some(0), has_return: false }
    }

    /// Appends `piece`, the next one of the row, to `out`. `is_end` says that the row ends with it.
    pub fn push(&mut self, table: &Table, mut piece: &[u8], is_end: bool, out: &mut Vec<u8>) {
        while let Some(cell) = self.cell.filter(|_| !piece.is_empty()) {
            let has_return = std::mem::take(&mut self.has_return);
            let end = self.ends.next_cell(piece);
            let (text, mark) = piece.split_at(end.map_or(piece.len(), |end| end - 1));
            let is_line_end = mark.first() == Some(&b'\n') && end.is_some();
            // The carriage return before a line feed, or before what follows in the next piece.
            let (text, held) = match text.strip_suffix(b"\r") {
                Some(before) if is_line_end || end.is_none() => (before, true),
                _ => (text, false),
            };
            let is_empty = text.is_empty() && !held;
            if has_return && !(is_empty && is_line_end) {
                out.push(b'\r');
            }
            out.extend_from_slice(text);
            let Some(end) = end else {
                self.has_return = held;
                piece = &[];
                break;
            };
            out.extend(table.name_after(cell).map(|_| table.dialect.delimiter));
            out.extend((held || has_return && is_empty && is_line_end).then_some(b'\r'));
            out.push(piece[end - 1]);
            self.cell = (!is_line_end).then_some(cell + 1);
            piece = &piece[end..];
        }
        out.extend_from_slice(piece);
        if let Some(cell) = self.cell.filter(|_| is_end) {
            out.extend(std::mem::take(&mut self.has_return).then_some(b'\r'));
            out.extend(table.name_after(cell).map(|_| table.dialect.delimiter));
            self.cell = None;
        }
    }
}
