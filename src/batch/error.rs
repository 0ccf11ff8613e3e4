//! The errors of the batch methods: invalid offsets, and output that does not fit its offsets or its memory.

use core::fmt;

use crate::error::{one_of_several, with_message};

/// The error of offsets that do not cut the bytes into values.
///
/// ```
/// use simdpct::batch::Column;
///
/// let error = Column::new(b"abc", &[0_i32, 2, 1]).unwrap_err();
/// assert_eq!(error.index, 2);
/// assert_eq!(error.to_string(), "offset 2 does not cut the bytes into values: offsets ascend within the bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidOffsets {
    /// The index of the first offset that [`Column::new`](super::Column::new) or `ColumnBuf::from_parts` rejects; 0 if there is no offset.
    pub index: usize,
}

/// The error of output that is too long for the type of its offsets. Use wider offsets, or fewer values at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLong {
    /// The index, in the input, of the first value whose end does not fit an offset.
    pub index: usize,
}

/// The error of memory that is too small for a column.
///
/// ```
/// use std::mem::MaybeUninit;
/// use simdpct::Decode;
/// use simdpct::batch::{Column, ColumnError, UninitColumn};
///
/// let input = Column::new(b"a%20b%41", &[0_i32, 5, 8]).unwrap();
/// let (mut bytes, mut offsets) = ([MaybeUninit::uninit(); 3], [MaybeUninit::uninit(); 3]);
/// let mut out = UninitColumn::<i32>::new(&mut bytes, &mut offsets);
/// let error = Decode::new().decode_column(input, &mut out).unwrap_err();
/// let ColumnError::TooSmall(small) = error else { panic!("{error}") };
/// // The first value fits; the second needs a fourth byte.
/// assert_eq!((small.index, small.bytes, out.len()), (1, 4, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnTooSmall {
    /// The index, in the input, of the first value that does not fit. The values before it are in the column.
    pub index: usize,
    /// The number of bytes that the column needs for all values, including those that it has.
    pub bytes: usize,
    /// The number of offsets that the column needs: one more than the number of values.
    pub offsets: usize,
}

/// The error of appending to an [`UninitColumn`](super::UninitColumn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnError {
    /// The output is too long for the type of the offsets.
    TooLong(TooLong),
    /// The memory of the caller is too small for the output.
    TooSmall(ColumnTooSmall),
}

with_message! {
    InvalidOffsets { index }:
        "offset {index} does not cut the bytes into values: offsets ascend within the bytes";
    TooLong { index }:
        "the offsets are too narrow for the output from value {index} on: use wider ones, or fewer values at once";
    ColumnTooSmall { index, bytes, offsets }:
        "no room for value {index}: the column needs {bytes} bytes and {offsets} offsets";
}

one_of_several! {
    ColumnError: TooLong(TooLong), TooSmall(ColumnTooSmall);
}
