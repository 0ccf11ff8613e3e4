//! Tables: their headers, and which columns there are.

use std::io;

use super::feed::Feed;
use super::selection::Columns;
use crate::ground::error::{Failure, warn};
use crate::select::Selector;
use crate::select::csv::Table;
use crate::value::stats::Stats;

/// Chooses the columns of `table` in the file of `feed`, and takes its header, if tables have one and the file is not empty.
/// New values get columns of the names `into`, if there are any.
pub fn choose(
    table: &mut Table,
    feed: &mut Feed<'_>,
    columns: &Columns,
    into: &[String],
) -> Result<Option<Vec<u8>>, Failure> {
    if !columns.has_header {
        table.choose(&columns.names, &[], None).map_err(Failure::Usage)?;
        return Ok(None);
    }
    let header = feed.first_record()?;
    if header.is_empty() {
        return Ok(None);
    }
    let chosen = table.choose(&columns.names, into, Some(names(&header)));
    chosen.map_err(|message| Failure::Usage(format!("{}: {message}", feed.name())))?;
    Ok(Some(header))
}

/// The `header` without its end.
pub fn names(header: &[u8]) -> &[u8] {
    let names = header.strip_suffix(b"\n").unwrap_or(header);
    names.strip_suffix(b"\r").unwrap_or(names)
}

/// Says what was looked for and is nowhere, by the counts of all files.
pub fn tell_missing(selector: &Selector, columns: &Columns, stats: &Stats) -> Result<(), Failure> {
    let mut selector = selector.clone();
    if let Selector::Table(table) = &mut selector
        && !columns.has_header
    {
        // With a header, a column that is not there was an error.
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
    names: Option<Vec<u8>>,
    /// Whether it was said that it is written again.
    is_said: bool,
}

impl Header {
    /// Whether the header `names` of `file` is written. With `one_header`, a later one is not, and must be the same.
    pub fn is_written(&mut self, names: &[u8], one_header: bool, file: &str) -> Result<bool, Failure> {
        let Some(first) = &self.names else {
            self.names = Some(names.to_vec());
            return Ok(true);
        };
        if one_header {
            if first == names {
                return Ok(false);
            }
            let error =
                io::Error::other("its header is not that of the first file, so --one-header leaves it out");
            return Err(Failure::missing(file, error));
        }
        if first == names && !self.is_said {
            self.is_said = true;
            warn(format_args!(
                "{file}: the header is that of the first file, and is written again; --one-header leaves it out"
            ));
        }
        Ok(true)
    }
}
