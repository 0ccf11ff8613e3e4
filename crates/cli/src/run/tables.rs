//! Reads the headers of tables and finds the selected columns in them.

use std::io;
use std::path::Path;

use simdpct_records::{Dialect, Escaping, RETURNS, Table, without_end};

use crate::common::error::Failure;
use crate::common::shown::shown;
use crate::print::Sink;
use crate::run::job::Job;
use crate::run::pump::feed::{Cut, Feed};
use crate::select::Selector;

/// The columns of tables that the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub names: Vec<String>,
    pub has_header: bool,
    /// Whether only the header of the first file is written.
    pub one_header: bool,
    /// The escapes that a server wrote, such as `\x22` for a quote, which are undone in cells.
    pub unescape: Escaping,
}

/// Reads the lines before the rows, if `job` takes tables: `sep=;`, which names the delimiter, and the header. Finds
/// the selected columns, and writes these lines to `sink`.
pub fn begin(job: &mut Job, feed: &mut Feed<'_>, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let (columns, into) = (&job.target.columns, &job.into);
    let Some(mut dialect) = job.target.selector.table().map(Table::dialect) else { return Ok(()) };
    // Both lines have their ends, or are empty if the file has no such line.
    let (mut naming, mut header) = (Vec::new(), Vec::new());
    let mut line = feed.peek_record()?;
    if let Some(delimiter) = line.as_ref().and_then(|line| Dialect::named(without_end(line))) {
        naming = feed.first_record()?;
        dialect.delimiter = delimiter;
        feed.cut = Cut::Table(dialect);
        line = feed.peek_record()?;
    }
    let failure = |feed: &Feed<'_>, message: &str| {
        Failure::missing(feed.name(), io::Error::other(shown(Path::new(message))))
    };
    let mut table = if columns.has_header {
        header = feed.first_record()?;
        // An empty file has no columns.
        let wanted = if header.is_empty() { &[] } else { &columns.names[..] };
        let table = Table::new(dialect, wanted, into, Some(without_end(&header)));
        table.map_err(|message| failure(feed, &message))?
    } else {
        Table::new(dialect, &columns.names, &[], None).map_err(Failure::Usage)?
    };
    if let Some(row) = line.filter(|_| !columns.has_header) {
        // A row without a line feed is the only line of the input.
        if row.last() != Some(&b'\n') && dialect.has_lone_return(&row) {
            return Err(failure(feed, RETURNS));
        }
        table.measure(without_end(&row));
    }
    feed.table = Some(table.clone());
    for line in [&naming, &header] {
        sink.stats.bytes_in += line.len() as u64;
        sink.lines += memchr::memchr_iter(feed.line_end(), line).count() as u64;
    }
    let (row, last) = (without_end(&header), header.last().or(naming.last()));
    let cells = dialect.cells(row).unwrap_or_default().into_iter().map(|(cell, _)| cell.into_owned());
    let mut is_written = job.writes_records() && last.is_some();
    if is_written && !header.is_empty() {
        let names = cells.chain([naming.clone()]).collect();
        is_written = sink.header.is_written(names, columns.one_header, feed.name())?;
    }
    if is_written {
        let mut out = Vec::new();
        job.show(&naming, &naming, &mut out);
        job.show(&header, &[&table.widened(row), &header[row.len()..]].concat(), &mut out);
        sink.write(&out, last != Some(&job.records.end()))?;
    }
    let selector = Selector::columns(table).with_new_members(into).unescaping(columns.unescape);
    job.target.selector = selector;
    Ok(())
}
