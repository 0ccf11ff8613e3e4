//! Reads rows of Arrow arrays, and checks their offsets and views.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::{ArrayData, ByteView};
use arrow_schema::DataType;
use memchr::memchr;
use simdpct::batch::{Column, Offset};

use super::Failure;
use crate::values::Values;

/// A view of Arrow. It starts with the length in 32 bits. Up to twelve bytes follow in the view itself. For a longer value, its first four
/// bytes, the index of a buffer and an offset in that buffer follow.
pub(super) type View = [u8; 16];

/// The values of an array, in the layout in which the array has them.
#[derive(Clone, Copy)]
pub(super) enum Stored<'a> {
    Small(Column<'a, i32>),
    Large(Column<'a, i64>),
    View(&'a [View], &'a [Buffer]),
}

/// A range of the rows of an array.
pub(super) struct Rows<'a> {
    pub(super) stored: Stored<'a>,
    pub(super) nulls: Option<NullBuffer>,
    len: usize,
    /// A row that was read although its view is outside the buffers, or `usize::MAX` if there was none.
    broken: AtomicUsize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(array: &'a ArrayData, rows: Range<usize>) -> Result<Rows<'a>, Failure> {
        let [start, end] = [rows.start, rows.end].map(|row| array.offset().saturating_add(row));
        let stored = match array.data_type() {
            DataType::Utf8 | DataType::Binary => Stored::Small(column(array, start, end)?),
            DataType::LargeUtf8 | DataType::LargeBinary => Stored::Large(column(array, start, end)?),
            DataType::Utf8View | DataType::BinaryView => {
                let views = array.buffers().split_first().and_then(|(views, buffers)| {
                    Some(Stored::View(views.as_slice().as_chunks().0.get(start..end)?, buffers))
                });
                views.ok_or(Failure::Broken { row: 0 })?
            }
            other => return Err(Failure::Invalid(format!("neither text nor binary: {other}"))),
        };
        let nulls = array.nulls().map(|nulls| nulls.slice(rows.start, rows.len()));
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Ok(Rows { stored, nulls, len: rows.len(), broken: AtomicUsize::new(usize::MAX) })
    }

    /// Fails if a row that was read is not in the buffers.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.broken.load(Ordering::Relaxed) {
            usize::MAX => Ok(()),
            row => Err(Failure::Broken { row }),
        }
    }
}

/// Returns the rows from `start` to `end` of an array with offsets of the type `O`.
fn column<O: ArrowNativeType + Offset>(
    array: &ArrayData,
    start: usize,
    end: usize,
) -> Result<Column<'_, O>, Failure> {
    let [offsets, bytes] = array.buffers() else { return Err(Failure::Broken { row: 0 }) };
    let offsets = offsets.typed_data().get(start..=end).unwrap_or_default();
    Column::new(bytes, offsets).map_err(|error| Failure::Broken { row: error.index })
}

/// Returns the range of the bytes that the values of a column have.
pub(super) fn used<O: ArrowNativeType + Offset>(column: &Column<'_, O>) -> Range<usize> {
    column.offsets()[0].as_usize()..column.offsets()[column.len()].as_usize()
}

impl<'a> Values<'a> for Rows<'a> {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let value = match self.stored {
            Stored::Small(column) => column.get(row),
            Stored::Large(column) => column.get(row),
            Stored::View(views, buffers) => value(&views[row], buffers),
        };
        if value.is_none() {
            self.broken.store(row, Ordering::Relaxed);
        }
        value
    }

    fn size(&self) -> usize {
        match self.stored {
            Stored::Small(column) => used(&column).len(),
            Stored::Large(column) => used(&column).len(),
            Stored::View(views, buffers) => size_of_views(views.iter(), buffers),
        }
    }
}

/// Returns the integer of 32 bits with this index in a view. The first is the length.
fn word(view: &View, index: usize) -> usize {
    u32::from_le_bytes(view.as_chunks().0[index]) as usize
}

/// Returns the value of a view, or `None` if it is not in the buffers.
#[inline(always)]
fn value<'a>(view: &'a View, buffers: &'a [Buffer]) -> Option<&'a [u8]> {
    let len = word(view, 0);
    if len <= 12 {
        return Some(&view[4..4 + len]);
    }
    buffers.get(word(view, 2))?.as_slice().get(word(view, 3)..)?.get(..len)
}

/// Makes the view of `value`, which is at the offset `start` of the buffer with the index `buffer`.
pub(super) fn view_of(value: &[u8], buffer: u32, start: u32) -> View {
    let len = value.len() as u32;
    match value.first_chunk::<4>().filter(|_| value.len() > 12) {
        Some(prefix) => {
            ByteView::new(len, prefix).with_buffer_index(buffer).with_offset(start).as_u128().to_le_bytes()
        }
        None => {
            let mut view = [0; 16];
            view[..4].copy_from_slice(&len.to_le_bytes());
            view[4..4 + value.len()].copy_from_slice(value);
            view
        }
    }
}

/// Makes the view of a part of `whole`: `len` bytes from `start` on. `view` is the view of `whole`.
#[inline(always)]
pub(super) fn view_of_part(view: View, whole: &[u8], start: usize, len: usize) -> View {
    let Some(head) = whole.get(start..).and_then(<[u8]>::first_chunk::<12>) else {
        // Less than twelve bytes are left after `start`, so the part fits in its view.
        return view_of(whole.get(start..start + len).unwrap_or_default(), 0, 0);
    };
    let mut word = [0; 16];
    word[4..].copy_from_slice(head);
    let (text, place) = (u128::from_le_bytes(word), u128::from_le_bytes(view) >> 64 << 64);
    // Both the view for a short part and that for a long part are made, because the CPU cannot predict the length.
    let short = text & (u128::MAX >> (8 * (12 - len.min(12))));
    // The part is in the buffer of the whole, so the sum of the offsets fits 32 bits if the part is long.
    let long = text & u128::from(u64::MAX) | place.wrapping_add((start as u128) << 96);
    ((if len > 12 { long } else { short }) | len as u128).to_le_bytes()
}

/// Returns the number of bytes of the values, or an estimate: nulls may make it larger, and values that share their bytes may make it
/// smaller.
fn size_of_views<'a>(views: impl ExactSizeIterator<Item = &'a View>, buffers: &[Buffer]) -> usize {
    // The view of a null may have any length, so the result is limited to what the buffers and views can hold.
    let most = buffers.iter().map(Buffer::len).sum::<usize>() + 12 * views.len();
    views.map(|view| word(view, 0)).sum::<usize>().min(most)
}

/// The rows of an array of views.
pub(super) struct ViewRows<'a, 'b> {
    pub(super) rows: &'b Rows<'a>,
    pub(super) views: &'a [View],
    pub(super) buffers: &'a [Buffer],
}

impl<'a> Values<'a> for ViewRows<'a, '_> {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.views.len()
    }

    #[inline(always)]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.rows.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let value = value(&self.views[row], self.buffers);
        if value.is_none() {
            self.rows.broken.store(row, Ordering::Relaxed);
        }
        value
    }

    fn size(&self) -> usize {
        0
    }
}

/// The number of rows that are searched for `%`, to estimate how many of all rows have one.
const SAMPLE: usize = 64;

/// The rows of an array of views to which a function is applied. It certainly leaves all other rows unchanged.
pub(super) struct Chosen<'a, 'b> {
    all: ViewRows<'a, 'b>,
    /// The rows, or `None` for all.
    pub(super) list: Option<Vec<u32>>,
}

impl<'a, 'b> Chosen<'a, 'b> {
    /// Chooses all rows. If `needs_escapes` is set, values without `%` do not change, so only rows with `%` are chosen,
    /// unless more than one in eight of the first `SAMPLE` rows have one.
    pub(super) fn new(all: ViewRows<'a, 'b>, needs_escapes: bool) -> Chosen<'a, 'b> {
        let has_escape = |row: &usize| all.get(*row).is_some_and(|value| memchr(b'%', value).is_some());
        let rows = 0..all.views.len();
        let has_many = || rows.len() >= SAMPLE && (0..SAMPLE).filter(has_escape).count() > SAMPLE / 8;
        if !needs_escapes || has_many() {
            return Chosen { all, list: None };
        }
        let mut list = Vec::with_capacity(rows.len());
        list.extend(rows.filter(has_escape).map(|row| row as u32));
        Chosen { all, list: Some(list) }
    }

    /// Returns the row with this index among the chosen ones.
    pub(super) fn row(&self, index: usize) -> usize {
        self.list.as_ref().map_or(index, |list| list[index] as usize)
    }
}

impl<'a> Values<'a> for Chosen<'a, '_> {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.list.as_ref().map_or(self.all.views.len(), Vec::len)
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Option<&'a [u8]> {
        self.all.get(self.row(index))
    }

    fn size(&self) -> usize {
        let ViewRows { views, buffers, .. } = self.all;
        size_of_views((0..self.rows()).map(|index| &views[self.row(index)]), buffers)
    }
}

/// The rows of an array with offsets.
pub(super) struct OffsetRows<'a, 'b, O> {
    pub(super) column: Column<'a, O>,
    pub(super) rows: &'b Rows<'a>,
}

impl<'a, O: ArrowNativeType + Offset> Values<'a> for OffsetRows<'a, '_, O> {
    type Offset = O;

    fn rows(&self) -> usize {
        self.rows.len
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        match &self.rows.nulls {
            Some(nulls) if nulls.is_null(row) => None,
            _ => self.column.get(row),
        }
    }

    fn size(&self) -> usize {
        used(&self.column).len()
    }

    fn column(&self) -> Option<Column<'a, O>> {
        Some(self.column)
    }
}

/// The values of an argument after the first: the chunks of a column, each with its first row, and the number of all rows.
pub(super) struct Given<'a> {
    chunks: Vec<(usize, Rows<'a>)>,
    pub(super) rows: usize,
}

impl<'a> Given<'a> {
    pub(super) fn new(arrays: &'a [ArrayData]) -> Result<Given<'a>, Failure> {
        let mut given = Given { chunks: Vec::new(), rows: 0 };
        for array in arrays.iter().filter(|array| !array.is_empty()) {
            let start = given.rows;
            let rows = Rows::new(array, 0..array.len()).map_err(|why| why.map(|row| start + row))?;
            // All values are read now, because nothing checks the views later.
            rows.iter().for_each(|_| {});
            rows.check().map_err(|why| why.map(|row| start + row))?;
            given.chunks.push((start, rows));
            given.rows += array.len();
        }
        Ok(given)
    }

    /// Returns the value of a row. A column of one row has the same value in all rows.
    pub(super) fn get(&self, row: usize) -> Option<&'a [u8]> {
        let row = if self.rows == 1 { 0 } else { row };
        let (start, rows) = self.chunks[..self.chunks.partition_point(|(start, _)| *start <= row)].last()?;
        rows.get(row - start)
    }
}
