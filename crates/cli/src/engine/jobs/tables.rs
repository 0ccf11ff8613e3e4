//! Reads the headers of tables and finds the selected columns in them.

use std::io;

use crate::engine::pump::feed::Feed;
use crate::engine::sink::Sink;
use crate::ground::error::{Failure, warn};
use crate::select::Selector;
use crate::select::csv::Table;
use crate::value::stats::Stats;

/// The columns of tables that the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub names: Vec<String>,
    pub has_header: bool,
    /// Whether only the header of the first file is written.
    pub one_header: bool,
}

/// Finds the selected `columns` of `table` in the file of `feed`. Returns the header of the file, if tables have
/// headers and the file is not empty. `into` names the columns for new values.
pub fn choose(
    table: &mut Table,
    feed: &mut Feed<'_>,
    sink: &mut Sink<'_>,
    columns: &Columns,
    into: &[String],
) -> Result<Option<Vec<u8>>, Failure> {
    if !columns.has_header {
        table.choose(&columns.names, &[], None).map_err(Failure::Usage)?;
        if let Some(row) = feed.peek_record()? {
            table.measure(names(&row));
        }
        return Ok(None);
    }
    let header = feed.first_record()?;
    if header.is_empty() {
        return Ok(None);
    }
    let chosen = table.choose(&columns.names, into, Some(names(&header)));
    chosen.map_err(|message| Failure::Usage(format!("{}: {message}", feed.name())))?;
    sink.stats.bytes_in += header.len() as u64;
    sink.lines += memchr::memchr_iter(feed.line_end(), &header).count() as u64;
    Ok(Some(header))
}

/// Returns `header` without its line end.
pub fn names(header: &[u8]) -> &[u8] {
    let names = header.strip_suffix(b"\n").unwrap_or(header);
    names.strip_suffix(b"\r").unwrap_or(names)
}

/// Warns about selected fields, columns and keys that no file contains, according to the statistics of all files.
pub fn warn_missing(selector: &Selector, columns: &Columns, stats: &Stats) -> Result<(), Failure> {
    let mut selector = selector.clone();
    if let Selector::Table(table) = &mut selector
        && !columns.has_header
    {
        // Without a header, the missing columns are found by their numbers. With a header, a missing column was
        // already an error.
        table.choose(&columns.names, &[], None).map_err(Failure::Usage)?;
    }
    for message in selector.missing(stats) {
        warn(format_args!("{message}"));
    }
    Ok(())
}

/// The header of the first table of an output.
#[derive(Default)]
pub struct Header {
    names: Option<Vec<Vec<u8>>>,
    /// Whether the user has been warned that the output repeats the header.
    has_warned: bool,
}

impl Header {
    /// Reports whether `names`, the header of `file`, must be written. With `one_header`, only the first header is
    /// written, and each later header must be equal to it.
    pub fn is_written(&mut self, names: Vec<Vec<u8>>, one_header: bool, file: &str) -> Result<bool, Failure> {
        let Some(first) = &self.names else {
            self.names = Some(names);
            return Ok(true);
        };
        if one_header {
            if *first == names {
                return Ok(false);
            }
            let error =
                io::Error::other("its header is not that of the first file, so --one-header leaves it out");
            return Err(Failure::missing(file, error));
        }
        if *first == names && !self.has_warned {
            self.has_warned = true;
            warn(format_args!(
                "{file}: the header is that of the first file, and is written again; --one-header leaves it out"
            ));
        }
        Ok(true)
    }
}
