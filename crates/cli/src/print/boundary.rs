//! Separates the last record of one input file from the first record of the next, in an output for several files.

use crate::common::records::Records;

/// Completes the last record of one input file, if its record end is missing, before output of the next file is
/// written.
pub struct FileBoundary {
    /// The byte that ends a record; `None` if the input has no records.
    end: Option<u8>,
    /// Whether the output ends with an incomplete record, one without its record end.
    is_open: bool,
    /// Whether nothing of the current file has been written.
    is_start: bool,
    /// Whether anything has been written at all.
    is_used: bool,
}

impl FileBoundary {
    /// Creates the boundary before the first file.
    pub fn new(records: Records) -> FileBoundary {
        let end = Some(records.end()).filter(|_| records != Records::Raw);
        FileBoundary { end, is_open: false, is_start: true, is_used: false }
    }

    /// Records that the following output belongs to another input file.
    pub fn next_file(&mut self) {
        self.is_start = true;
    }

    /// Reports whether anything has been written.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns the record end that must be written before `out`, if one is missing. `is_open` says that `out` ends
    /// with an incomplete record.
    pub fn before(&mut self, out: &[u8], is_open: bool) -> Option<u8> {
        if out.is_empty() && !is_open {
            return None;
        }
        let end = self.end.filter(|_| self.is_start && self.is_open);
        (self.is_open, self.is_start, self.is_used) = (is_open, false, true);
        end
    }
}
