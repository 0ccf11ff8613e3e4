//! The output of the batch methods: a column that grows, or the caller's memory.

use core::fmt;
use core::mem::MaybeUninit;

#[cfg(feature = "alloc")]
use super::column::ColumnBuf;
use super::column::{Column, Offset};
use super::error::{ColumnError, ColumnTooSmall, TooLong};
#[cfg(feature = "alloc")]
use crate::kernel::cursor::{self, Tail};
use crate::kernel::cursor::{OutputSpan, Written};
#[cfg(feature = "alloc")]
use crate::kernel::fixed_vec;
use crate::kernel::fixed_vec::Slots;

pub(super) mod sealed {
    use crate::batch::column::Offset;
    use crate::kernel::cursor::{OutputSpan, Written};

    /// The number of offsets that are appended together.
    pub const GROUP: usize = 16;

    /// The bytes and offsets to which a batch method appends.
    pub trait Append {
        type Offset: Offset;

        /// Returns the largest number of bytes, and of values, that can still be appended.
        fn spare(&self) -> (usize, usize);

        /// Returns the number of bytes that can be appended without growing.
        fn ready(&self) -> usize;

        /// Reserves capacity for the offsets of `values` more values, if the column can grow.
        fn reserve(&mut self, values: usize);

        /// Returns the number of bytes and the number of values.
        fn lens(&self) -> (usize, usize);

        /// Reserves `room` bytes, which must fit, and appends the bytes that `write` writes. Returns the second result of
        /// `write`.
        fn write<T>(
            &mut self,
            room: usize,
            write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T),
        ) -> T;

        /// Reserves capacity for `bytes` more bytes, if the column can grow.
        fn grow(&mut self, bytes: usize);

        /// Appends `offsets`. They must fit.
        fn end(&mut self, offsets: impl Iterator<Item = Self::Offset>);

        /// Appends all offsets of `groups`: at most `values` offsets, which must fit.
        fn end_groups(&mut self, values: usize, groups: impl Iterator<Item = [Self::Offset; GROUP]>);

        /// Appends the first `count` of `offsets`. All must fit.
        fn end_group(&mut self, offsets: [Self::Offset; GROUP], count: usize);

        /// Truncates the bytes to the length `bytes`. The offsets stay.
        fn truncate(&mut self, bytes: usize);
    }

    /// The reason why appending stopped.
    pub enum Stop {
        /// The end of value `index` does not fit an offset.
        TooLong { index: usize },
        /// The bytes or the offset of value `index` do not fit into the memory of the column.
        Full { index: usize },
    }
}

use sealed::{Append, GROUP, Stop};

/// The output of a batch method: a [`ColumnBuf`], or an [`UninitColumn`]. This trait is sealed.
pub trait ColumnOut: Append {
    /// The error of appending: [`TooLong`] for a [`ColumnBuf`], [`ColumnError`] for an [`UninitColumn`].
    type Error: core::error::Error;

    /// Makes the error for `stop`. First restores a [`ColumnBuf`] to `before`, the numbers of bytes and values that it had
    /// when the method began. The function `rest` counts the bytes and values that are missing.
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
        // `write` reserves `MAX_WINDOW` bytes in addition to the output.
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
    fn write<T>(
        &mut self,
        room: usize,
        write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T),
    ) -> T {
        Tail::new(&mut self.bytes).append(room.saturating_add(cursor::MAX_WINDOW), write)
    }

    fn grow(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    #[inline(always)]
    fn end(&mut self, offsets: impl Iterator<Item = O>) {
        self.offsets.extend(offsets);
    }

    #[inline(always)]
    fn end_groups(&mut self, values: usize, groups: impl Iterator<Item = [O; GROUP]>) {
        fixed_vec::extend_from_arrays(&mut self.offsets, values, groups);
    }

    #[inline(always)]
    fn end_group(&mut self, offsets: [O; GROUP], count: usize) {
        self.offsets.extend_from_slice(&offsets);
        self.offsets.truncate(self.offsets.len() - GROUP + count.min(GROUP));
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

/// A column in memory of the caller that need not be initialised, such as the buffers of a data engine. They are filled
/// without a copy.
///
/// The bytes of the values are written from the start of `bytes`, and the offsets (0, and where each value ends) from the start
/// of `offsets`. Encoding needs at most three bytes for each byte of input and decoding at most one, so buffers of that size
/// are always large enough. Smaller ones may be large enough, too. If the values do not fit, the error gives the size needed.
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
    // INVARIANT: `offsets` is empty only if it has no slot, and then `bytes` is empty, too. Otherwise it ascends from 0 to
    // `bytes.len()`.
    offsets: Slots<'a, O>,
}

impl<'a, O: Offset> UninitColumn<'a, O> {
    /// Makes a column without values in `bytes` and `offsets`. A column has one offset more than values, so at least one.
    pub fn new(bytes: &'a mut [MaybeUninit<u8>], offsets: &'a mut [MaybeUninit<O>]) -> UninitColumn<'a, O> {
        let mut offsets = Slots::new(offsets);
        offsets.extend(core::iter::once(O::ZERO));
        UninitColumn { bytes: Slots::new(bytes), offsets }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Reports whether the column has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values as a column, which lives as long as the memory is borrowed.
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
        // A column without a slot for the first offset has no slots for values.
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
    fn write<T>(&mut self, _: usize, write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T)) -> T {
        self.bytes.write(write)
    }

    fn grow(&mut self, _: usize) {}

    #[inline(always)]
    fn end(&mut self, offsets: impl Iterator<Item = O>) {
        self.offsets.extend(offsets);
    }

    #[inline(always)]
    fn end_groups(&mut self, _: usize, groups: impl Iterator<Item = [O; GROUP]>) {
        self.offsets.extend_from_arrays(groups);
    }

    #[inline(always)]
    fn end_group(&mut self, offsets: [O; GROUP], count: usize) {
        self.offsets.extend_from_array(offsets, count);
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
