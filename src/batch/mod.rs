//! Many values at once: columns of data engines, lists of URLs, batches of log fields.
//!
//! Most values are short, so a call takes longer than the work on one value. The batch methods take many values as one
//! stream of blocks and track where each ends. A value never affects its neighbours: no escape crosses the end of a
//! value, and the result is the same as that of a call for each value.
//!
//! | values | methods |
//! |---|---|
//! | in one buffer, with offsets ([`Column`]) | [`Encode::encode_column`], [`Decode::decode_column`], [`TryDecode::decode_column`] |
//! | anywhere in memory, some perhaps null | [`Encode::encode_slices`], [`Decode::decode_slices`], [`TryDecode::decode_slices`] |
//!
//! All methods append to a [`ColumnBuf`], or to an [`UninitColumn`], which is memory of the caller.
//! [`Decode::NORMALIZE`] normalizes columns. [`Column::invalid_utf8`] finds the decoded values that are not text.
//!
//! # Columns as in Apache Arrow
//!
//! An array of type `Utf8` or `Binary` is a buffer of bytes, a buffer of `i32` offsets and a validity bitmap. The first two
//! are a [`Column`]. The bitmap stays valid for the output, because a null is an empty value before and after.
//!
//! ```
//! use simdpct::Decode;
//! use simdpct::batch::{Column, ColumnBuf};
//!
//! // ["/a%20b", null, "caf%C3%A9"]
//! let (bytes, offsets, validity) = (b"/a%20bcaf%C3%A9", [0_i32, 6, 6, 15], 0b101_u8);
//!
//! let mut out = ColumnBuf::<i32>::new();
//! Decode::new().decode_column(Column::new(bytes, &offsets)?, &mut out)?;
//! assert_eq!(out.as_column().invalid_utf8().next(), None, "all of it may become a Utf8 array");
//!
//! let (bytes, offsets) = out.into_parts(); // and the same validity
//! assert_eq!(bytes, "/a bcaf\u{e9}".as_bytes());
//! assert_eq!(offsets, [0, 4, 4, 9]);
//! # assert_eq!(validity, 0b101);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # String views
//!
//! Some engines store a value as a view of sixteen bytes (`Utf8View` in Arrow, Polars, DuckDB). An iterator turns each view
//! into a slice, and a null into `None`. Short values are gathered, and go through the same kernels as a column.
//!
//! ```
//! use simdpct::{Encode, sets};
//! use simdpct::batch::ColumnBuf;
//!
//! /// Reads a view of Arrow: the length, then up to twelve bytes, or a prefix of four, the index of a buffer and an offset.
//! fn value<'a>(view: &'a [u8; 16], buffers: &[&'a [u8]]) -> &'a [u8] {
//!     let word = |at: usize| u32::from_le_bytes(view[at..at + 4].try_into().unwrap()) as usize;
//!     match word(0) {
//!         len @ ..=12 => &view[4..4 + len],
//!         len => &buffers[word(8)][word(12)..][..len],
//!     }
//! }
//!
//! let buffers = [&b"/a path with spaces"[..]];
//! let views = [*b"\x03\0\0\0a b\0\0\0\0\0\0\0\0\0", [0; 16], *b"\x13\0\0\0/a p\0\0\0\0\0\0\0\0"];
//! let valid = [true, false, true];
//!
//! let values = views.iter().zip(valid).map(|(view, valid)| valid.then(|| value(view, &buffers)));
//! let mut out = ColumnBuf::<i64>::new();
//! Encode::keeping(sets::RFC3986_PATH).encode_slices(values, &mut out)?;
//! assert!(out.iter().eq([&b"a%20b"[..], b"", b"/a%20path%20with%20spaces"]));
//! # Ok::<(), simdpct::batch::TooLong>(())
//! ```

mod column;
mod engine;
mod error;
mod out;
mod slice;
#[cfg(all(test, feature = "alloc"))]
mod tests;
mod verbs;

#[cfg(feature = "alloc")]
pub use column::ColumnBuf;
pub use column::{Column, Iter, Offset};
pub use error::{ColumnError, ColumnTooSmall, InvalidOffsets, TooLong};
pub use out::{ColumnOut, UninitColumn};
pub use slice::NullableBytes;

#[cfg(doc)]
use crate::{Decode, Encode, TryDecode};
