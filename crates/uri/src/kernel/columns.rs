//! The drivers that split many URLs into columns.

use simdpct::batch::{Column, Offset};

use super::Isa;
use super::split::split;
use crate::offsets::Offsets;
use crate::reference;

/// The columns to fill, all of one length.
pub(crate) struct Out<'o> {
    pub(crate) scheme_end: &'o mut [u32],
    pub(crate) host_start: &'o mut [u32],
    pub(crate) host_end: &'o mut [u32],
    pub(crate) path_start: &'o mut [u32],
    pub(crate) path_end: &'o mut [u32],
    pub(crate) query_end: &'o mut [u32],
}

impl Out<'_> {
    /// Fills one row. The offsets fit: the URL is not longer than `u32::MAX`.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "callers have looked")]
    fn set(&mut self, row: usize, at: Offsets) {
        self.scheme_end[row] = at.scheme_end as u32;
        self.host_start[row] = at.host_start as u32;
        self.host_end[row] = at.host_end as u32;
        self.path_start[row] = at.path_start as u32;
        self.path_end[row] = at.path_end as u32;
        self.query_end[row] = at.query_end as u32;
    }
}

/// Splits every value of `urls`, of which `out` has the number.
///
/// # Errors
///
/// The index of a value that is longer than `u32::MAX`.
#[inline(always)]
pub(crate) fn column<I: Isa, O: Offset>(isa: I, urls: Column<'_, O>, out: &mut Out<'_>) -> Result<(), usize> {
    let bytes = urls.bytes();
    // Where the first value is; the others follow it.
    let mut start = urls.get(0).map_or(0, |first| first.as_ptr().addr() - bytes.as_ptr().addr());
    for (row, url) in urls.iter().enumerate() {
        if u32::try_from(url.len()).is_err() {
            return Err(row);
        }
        // What comes after the URL does not matter, and a whole block is loaded faster than a part of one.
        let block = match bytes[start..].first_chunk() {
            Some(bytes) => isa.load(bytes),
            None => isa.load_short(url),
        };
        out.set(row, split(isa, url, block));
        start += url.len();
    }
    Ok(())
}

/// Where a driver of lines stopped.
pub(crate) struct Progress {
    /// The number of rows that are full.
    pub(crate) rows: usize,
    /// The start of the next line, or a place after the end of the text.
    pub(crate) at: usize,
    /// The line that starts at `at` is longer than `u32::MAX`.
    pub(crate) too_long: bool,
}

/// Splits the lines of `text` from `at` on, as many as `out` has room for.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "looked at before")]
pub(crate) fn lines<I: Isa>(
    isa: I,
    text: &[u8],
    mut at: usize,
    starts: &mut [usize],
    lens: &mut [u32],
    out: &mut Out<'_>,
) -> Progress {
    let mut rows = 0;
    while rows < lens.len() && at < text.len() {
        let left = &text[at..];
        let (block, live) = match left.first_chunk() {
            Some(bytes) => (isa.load(bytes), !0),
            None => (isa.load_short(left), (1 << left.len()) - 1),
        };
        let newline = isa.eq(block, b'\n') & live;
        let end = if newline != 0 {
            newline.trailing_zeros() as usize
        } else {
            let searched = left.len().min(64);
            memchr::memchr(b'\n', &left[searched..]).map_or(left.len(), |at| searched + at)
        };
        let line = &left[..end];
        let url = line.strip_suffix(b"\r").unwrap_or(line);
        if u32::try_from(url.len()).is_err() {
            return Progress { rows, at, too_long: true };
        }
        starts[rows] = at;
        lens[rows] = url.len() as u32;
        out.set(rows, split(isa, url, block));
        rows += 1;
        at += end + 1;
    }
    Progress { rows, at, too_long: false }
}

/// [`column`] without a kernel.
#[allow(clippy::cast_possible_truncation, reason = "looked at before")]
pub(crate) fn column_by_reference<O: Offset>(urls: Column<'_, O>, out: &mut Out<'_>) -> Result<(), usize> {
    for (row, url) in urls.iter().enumerate() {
        if u32::try_from(url.len()).is_err() {
            return Err(row);
        }
        out.set(row, reference::split(url));
    }
    Ok(())
}

/// [`lines`] without a kernel.
#[allow(clippy::cast_possible_truncation, reason = "looked at before")]
pub(crate) fn lines_by_reference(
    text: &[u8],
    mut at: usize,
    starts: &mut [usize],
    lens: &mut [u32],
    out: &mut Out<'_>,
) -> Progress {
    let mut rows = 0;
    while rows < lens.len() && at < text.len() {
        let left = &text[at..];
        let line = &left[..memchr::memchr(b'\n', left).unwrap_or(left.len())];
        let url = line.strip_suffix(b"\r").unwrap_or(line);
        if u32::try_from(url.len()).is_err() {
            return Progress { rows, at, too_long: true };
        }
        starts[rows] = at;
        lens[rows] = url.len() as u32;
        out.set(rows, reference::split(url));
        rows += 1;
        at += line.len() + 1;
    }
    Progress { rows, at, too_long: false }
}
