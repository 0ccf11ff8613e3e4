//! Where the batch verbs write to: a column that grows, or the caller's memory.

use core::fmt;
use core::mem::MaybeUninit;

#[cfg(feature = "alloc")]
use super::column::ColumnBuf;
use super::column::{Column, Offset};
use super::error::{ColumnError, ColumnTooSmall, TooLong};
#[cfg(feature = "alloc")]
use crate::kernel::cursor;
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::slots::Slots;

pub(super) mod sealed {
    use crate::batch::column::Offset;
    use crate::kernel::cursor::{Room, Written};

    /// Bytes and offsets that are appended to.
    pub trait Append {
        type Offset: Offset;

        /// How many more bytes and values there may be room for.
        fn spare(&self) -> (usize, usize);

        /// How many more bytes there is room for.
        fn ready(&self) -> usize;

        /// Makes room for so many more values, if there may be.
        fn reserve(&mut self, values: usize);

        /// How many bytes and values there are.
        fn lens(&self) -> (usize, usize);

        /// Appends what `write` writes into room for `room` bytes, no more than there may be. Returns what else it returns.
        fn write<T>(&mut self, room: usize, write: impl for<'c> FnOnce(Room<'c>) -> (Written<'c>, T)) -> T;

        /// Appends `bytes`, no more than there may be room for.
        fn copy(&mut self, bytes: &[u8]);

        /// Appends offsets, no more than there may be room for.
        fn end(&mut self, offsets: impl Iterator<Item = Self::Offset>);

        /// Keeps the first bytes.
        fn truncate(&mut self, bytes: usize);
    }

    /// Why appending ended.
    pub enum Stop {
        /// The end of value `index` has no offset.
        TooLong { index: usize },
        /// There is no room for value `index`.
        Full { index: usize },
    }
}

use sealed::{Append, Stop};

/// What the batch verbs append to: a [`ColumnBuf`], or an [`UninitColumn`]. This trait is sealed.
pub trait ColumnOut: Append {
    /// What can be wrong: [`TooLong`] for a [`ColumnBuf`], [`ColumnError`] for an [`UninitColumn`].
    type Error: core::error::Error;

    /// The error, of a verb that began when there were `before` bytes and values; `rest` tells how many bytes and values
    /// there would be more.
    #[doc(hidden)]
    fn failed(
        &mut self,
        before: (usize, usize),
        stop: Stop,
        rest: impl FnOnce() -> (usize, usize),
    ) -> Self::Error;
}

#[cfg(feature = "alloc")]
impl<O: Offset> Append for ColumnBuf<O> {
    type Offset = O;

    #[inline(always)]
    fn spare(&self) -> (usize, usize) {
        (usize::MAX, usize::MAX)
    }

    #[inline(always)]
    fn ready(&self) -> usize {
        // Without what `write` asks for in addition.
        (self.bytes.capacity() - self.bytes.len()).saturating_sub(cursor::MAX_WINDOW)
    }

    #[inline(always)]
    fn reserve(&mut self, values: usize) {
        self.offsets.reserve(values);
    }

    #[inline(always)]
    fn lens(&self) -> (usize, usize) {
        (self.bytes.len(), self.len())
    }

    #[inline(always)]
    fn write<T>(&mut self, room: usize, write: impl for<'c> FnOnce(Room<'c>) -> (Written<'c>, T)) -> T {
        cursor::append(&mut self.bytes, room.saturating_add(cursor::MAX_WINDOW), write)
    }

    #[inline(always)]
    fn copy(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    #[inline(always)]
    fn end(&mut self, offsets: impl Iterator<Item = O>) {
        self.offsets.extend(offsets);
    }

    #[inline(always)]
    fn truncate(&mut self, bytes: usize) {
        self.bytes.truncate(bytes);
    }
}

#[cfg(feature = "alloc")]
impl<O: Offset> ColumnOut for ColumnBuf<O> {
    type Error = TooLong;

    #[cold]
    fn failed(
        &mut self,
        (bytes, values): (usize, usize),
        stop: Stop,
        _: impl FnOnce() -> (usize, usize),
    ) -> TooLong {
        self.bytes.truncate(bytes);
        self.offsets.truncate(values + 1);
        let (Stop::TooLong { index } | Stop::Full { index }) = stop;
        TooLong { index }
    }
}

/// A column in memory that the caller lends and that need not be initialised: a host's buffers, filled without a copy.
///
/// The bytes of the values are written from the start of the one buffer, and the offsets (0, and where each value ends)
/// from the start of the other. Encoding needs at most three bytes for each byte of input and decoding at most one, so
/// buffers of that size are always large enough. Smaller ones may do: nothing is reserved, and what does not fit is an
/// error that says how much is needed.
///
/// ```
/// use std::mem::MaybeUninit;
/// use simdpct::Decode;
/// use simdpct::batch::{Column, UninitColumn};
///
/// let input = Column::new(b"a%20b%41", &[0_i32, 5, 8])?;
/// let mut bytes = [MaybeUninit::uninit(); 8];
/// let mut offsets = [MaybeUninit::uninit(); 3];
///
/// let mut out = UninitColumn::<i32>::new(&mut bytes, &mut offsets);
/// Decode::new().decode_column(input, &mut out)?;
/// let column = out.finish()?;
/// assert_eq!((&column.bytes()[..], column.offsets()), (&b"a bA"[..], &[0, 3, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UninitColumn<'a, O> {
    bytes: Slots<'a, u8>,
    // INVARIANT: empty if there is no slot, and there are then no bytes; else as in `ColumnBuf`.
    offsets: Slots<'a, O>,
}

impl<'a, O: Offset> UninitColumn<'a, O> {
    /// A column without values in `bytes` and `offsets`. There must be one offset more than values, so at least one.
    pub fn new(bytes: &'a mut [MaybeUninit<u8>], offsets: &'a mut [MaybeUninit<O>]) -> UninitColumn<'a, O> {
        let mut offsets = Slots::new(offsets);
        offsets.extend(core::iter::once(O::ZERO));
        UninitColumn { bytes: Slots::new(bytes), offsets }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values so far, for as long as the memory is lent.
    ///
    /// # Errors
    ///
    /// [`ColumnTooSmall`] if there is no slot for the first offset, 0.
    pub fn finish(self) -> Result<Column<'a, O>, ColumnTooSmall> {
        match self.offsets.into_slice() {
            [] => Err(ColumnTooSmall { index: 0, bytes: 0, offsets: 1 }),
            offsets => Ok(Column::of_parts(self.bytes.into_slice(), offsets)),
        }
    }
}

impl<O: Offset> Append for UninitColumn<'_, O> {
    type Offset = O;

    #[inline(always)]
    fn spare(&self) -> (usize, usize) {
        // Without the first offset there is no room for values either.
        (self.bytes.spare(), self.offsets.spare())
    }

    #[inline(always)]
    fn ready(&self) -> usize {
        self.bytes.spare()
    }

    #[inline(always)]
    fn reserve(&mut self, _: usize) {}

    #[inline(always)]
    fn lens(&self) -> (usize, usize) {
        (self.bytes.len(), self.len())
    }

    #[inline(always)]
    fn write<T>(&mut self, _: usize, write: impl for<'c> FnOnce(Room<'c>) -> (Written<'c>, T)) -> T {
        self.bytes.write(write)
    }

    #[inline(always)]
    fn copy(&mut self, bytes: &[u8]) {
        self.bytes.write(|room| {
            let mut cursor = Cursor::new(room);
            cursor.push_slice(bytes);
            (cursor.finish(), ())
        });
    }

    #[inline(always)]
    fn end(&mut self, offsets: impl Iterator<Item = O>) {
        self.offsets.extend(offsets);
    }

    #[inline(always)]
    fn truncate(&mut self, bytes: usize) {
        self.bytes.truncate(bytes);
    }
}

impl<O: Offset> ColumnOut for UninitColumn<'_, O> {
    type Error = ColumnError;

    #[cold]
    fn failed(
        &mut self,
        _: (usize, usize),
        stop: Stop,
        rest: impl FnOnce() -> (usize, usize),
    ) -> ColumnError {
        match stop {
            Stop::TooLong { index } => ColumnError::TooLong(TooLong { index }),
            Stop::Full { index } => {
                let ((bytes, values), (more_bytes, more_values)) = (self.lens(), rest());
                ColumnError::TooSmall(ColumnTooSmall {
                    index,
                    bytes: bytes.saturating_add(more_bytes),
                    offsets: values.saturating_add(more_values).saturating_add(1),
                })
            }
        }
    }
}

impl<O: Offset> fmt::Debug for UninitColumn<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offsets.as_slice() {
            [] => f.write_str("[]"),
            offsets => Column::of_parts(self.bytes.as_slice(), offsets).fmt(f),
        }
    }
}
