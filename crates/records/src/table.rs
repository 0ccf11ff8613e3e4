//! Finds the cells of CSV: RFC 4180 and the dialects of [`Quotes`], with any ASCII delimiter.

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
    /// Returns the dialect of RFC 4180 with this delimiter.
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

    /// Returns the values of the cells of `row`, and whether each cell is quoted.
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

    /// Reports whether `row` has a carriage return outside quotes, as if it consisted of lines that end in carriage returns.
    pub fn has_lone_return(self, row: &[u8]) -> bool {
        self.iter(row).any(|cell| match cell {
            Ok(cell) => !cell.is_quoted && memchr(b'\r', &row[cell.range]).is_some(),
            // The carriage return follows a closing quote.
            Err(error) => row.get(error.offset) == Some(&b'\r'),
        })
    }

    /// Appends `value` to `out` as a cell, in quotes if `is_quoted` or if it needs them. An error is the offset of a byte
    /// that cannot be written; `out` then has a part of the cell.
    pub fn write(self, is_quoted: bool, value: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let fence = self.fence();
        if !is_quoted && !value.iter().any(|byte| fence.contains(*byte)) {
            out.extend_from_slice(value);
            return Ok(());
        }
        out.push(b'"');
        self.escaping().apply(value, out)?;
        out.push(b'"');
        Ok(())
    }

    /// Returns the bytes that a cell without quotes does not have.
    fn fence(self) -> ByteSet {
        let fence = ByteSet::from_bytes(&[self.delimiter, b'"', b'\n', b'\r', 0]);
        if self.quotes == Quotes::Backslash { fence.add(b"\\") } else { fence }
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
    pub(crate) names: Vec<String>,
    /// The name of the new column beside each value; empty if new values replace the old ones.
    into: Vec<String>,
    /// The number of cells of the header or, without a header, of the first row. It is 0 if there is no such row, or if it cannot be read.
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
        let mut table = Table {
            dialect,
            fence: dialect.fence(),
            columns: Vec::new(),
            names: Vec::new(),
            into: Vec::new(),
            width: 0,
        };
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

    /// Returns the dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the search for escapes, if only one column was asked for.
    pub(crate) fn sweep(&self) -> Option<Sweep> {
        let ([(before, _)], delimiter) = (&*self.columns, self.dialect.delimiter) else { return None };
        // A delimiter must not be a hexadecimal digit, which could be inside an escape. The search takes memory for each column before
        // the wanted one.
        if delimiter.is_ascii_hexdigit() || *before > 65_535 {
            return None;
        }
        let lists_fields = !self.into.is_empty();
        let delimited = Delimited::new(Separator::Byte(delimiter), *before, true, lists_fields);
        Some(Sweep::new(Finder::Delimited(Box::new(delimited)), ByteSet::EMPTY, self.fence))
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
        // A row without quotes can be read, so the cells after the last selected column are not needed.
        let has_quotes = memchr(b'"', row).is_some();
        let mut columns = self.columns.iter().peekable();
        for (number, cell) in self.dialect.iter(row).enumerate() {
            // If a quote is misplaced, the cells before it are not certain either.
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

    /// Returns `header` with the names of the new columns.
    pub fn widened(&self, header: &[u8]) -> Vec<u8> {
        let (mut out, mut done) = (Vec::new(), 0);
        for (number, cell) in self.dialect.iter(header).map_while(Result::ok).enumerate() {
            let Some(name) = self.name_after(number) else { continue };
            out.extend_from_slice(&header[done..cell.end]);
            done = cell.end;
            out.push(self.dialect.delimiter);
            let _ = self.dialect.write(cell.is_quoted, name.as_bytes(), &mut out);
        }
        out.extend_from_slice(&header[done..]);
        out
    }

    /// Returns the name of the new column after column number `column`, if there is one.
    fn name_after(&self, column: usize) -> Option<&String> {
        let place = self.columns.binary_search_by_key(&column, |(number, _)| *number).ok()?;
        self.into.get(self.columns[place].1)
    }

    /// Returns the place where reading goes on if `record`, a row with its line end, cannot be read: the next line that
    /// is a row of the width of the table, if there is one.
    pub fn resume(&self, record: &[u8]) -> Option<usize> {
        let row = without_end(record);
        if memchr(b'\n', row).is_none() || self.check(row).is_ok() {
            return None;
        }
        let is_row = |&start: &usize| {
            let line = &record[start..];
            let line = without_end(&line[..memchr(b'\n', line).map_or(line.len(), |end| end + 1)]);
            let has_width = self.dialect.width(line).is_ok_and(|width| [0, width].contains(&self.width));
            // Lazy quotes can be anywhere, so that a line tells nothing about those before it.
            has_width && !line.is_empty() && self.dialect.quotes != Quotes::Lazy
        };
        memchr::memchr_iter(b'\n', record).map(|end| end + 1).find(is_row)
    }
}

/// Returns `record` without its line end.
pub fn without_end(record: &[u8]) -> &[u8] {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record)
}

/// Adds empty cells in the new columns of a row that arrives in pieces, because it is too long to be read. There are none from a misplaced
/// or open quote on.
#[derive(Clone, Debug)]
pub struct Widener {
    ends: Ends,
    /// The number of the current cell; `None` after the end of the row.
    cell: Option<usize>,
    /// The current piece. A carriage return at the end of the piece before comes first, as a line feed can follow it.
    buffer: Vec<u8>,
}

impl Widener {
    /// Starts at the beginning of a row of `table`.
    pub fn new(table: &Table) -> Widener {
        Widener { ends: Ends::new(table.dialect), cell: Some(0), buffer: Vec::new() }
    }

    /// Appends `piece`, the next one of the row, to `out`. `is_end` says that the row ends with it.
    pub fn push(&mut self, table: &Table, piece: &[u8], is_end: bool, out: &mut Vec<u8>) {
        self.buffer.extend_from_slice(piece);
        let held = usize::from(!is_end && self.buffer.ends_with(b"\r"));
        let mut rest = &self.buffer[..self.buffer.len() - held];
        while let Some(cell) = self.cell.filter(|_| is_end || !rest.is_empty()) {
            let found = self.ends.next_cell(rest);
            let end = found.unwrap_or(rest.len());
            let is_last = found.is_none() || rest[end - 1] == b'\n';
            if found.is_some() || is_end {
                let line_end = match found {
                    Some(_) if rest[..end].ends_with(b"\r\n") => 2,
                    _ => usize::from(found.is_some()),
                };
                out.extend_from_slice(&rest[..end - line_end]);
                // The end of a cell with a misplaced quote is not certain.
                let is_certain = !self.ends.is_faulty();
                out.extend(table.name_after(cell).filter(|_| is_certain).map(|_| table.dialect.delimiter));
                out.extend_from_slice(&rest[end - line_end..end]);
                self.cell = (!is_last).then_some(cell + 1);
            } else {
                out.extend_from_slice(rest);
            }
            rest = &rest[end..];
        }
        out.extend_from_slice(rest);
        self.buffer.drain(..self.buffer.len() - held);
    }
}
