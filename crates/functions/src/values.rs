//! A trait for batches of rows, whichever way an engine stores them.

use simdpct::batch::{Column, Offset};

/// A batch of rows, each of which is a value or null.
pub trait Values<'a> {
    /// The type of the offsets of [`Values::column`]. If there is no column, any type will do.
    type Offset: Offset;

    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns the value of a row, or `None` if it is null.
    fn get(&self, row: usize) -> Option<&'a [u8]>;

    /// Returns the number of bytes of all values, or an estimate. With an estimate, `Results::equal` may miss that nothing changed.
    fn size(&self) -> usize;

    /// Returns all rows as one column, if they are stored that way. The column may have arbitrary bytes for a null row.
    fn column(&self) -> Option<Column<'a, Self::Offset>> {
        None
    }

    /// Iterates over the rows.
    fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        (0..self.rows()).map(|row| self.get(row))
    }
}

/// Separate slices in memory, none of them null.
impl<'a> Values<'a> for [&'a [u8]] {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.len()
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        Some(self[row])
    }

    fn size(&self) -> usize {
        <[_]>::iter(self).map(|value| value.len()).sum()
    }
}
