//! The batch verbs.

use super::column::{Column, Offset};
use super::engine::{self, Codec, Either};
use super::out::ColumnOut;
use super::slice::NullableBytes;
use crate::coder::{Coder, KeepSet};
use crate::decode::{Core, Decode, TryDecode};
use crate::encode::Encode;
use crate::error::MalformedEscape;
use crate::kernel::cursor::{Room, Written};
use crate::kernel::ends::Ends;

impl<S: KeepSet> Codec for Coder<S> {
    const GROWTH: usize = 3;

    #[inline(always)]
    fn changes_only(&self) -> Option<Either> {
        None
    }

    #[inline(always)]
    fn measure(&self, value: &[u8]) -> Result<usize, usize> {
        Ok(Coder::measure(self, value).len)
    }

    #[inline(always)]
    fn write<'c>(&self, value: &[u8], out: Room<'c>) -> (Written<'c>, usize) {
        (Coder::write(self, value, out), value.len())
    }

    #[inline(always)]
    fn write_values<'c>(&self, input: &[u8], ends: &mut Ends, out: Room<'c>) -> (Written<'c>, usize) {
        (self.kernels().encode_values(self.job(), input, ends, out), input.len())
    }
}

impl Codec for Core {
    const GROWTH: usize = 1;

    #[inline(always)]
    fn changes_only(&self) -> Option<Either> {
        Some(if self.job.plus() { Either::Two(b'%', b'+') } else { Either::One(b'%') })
    }

    #[inline(always)]
    fn measure(&self, value: &[u8]) -> Result<usize, usize> {
        let measured = Core::measure(self, value);
        if measured.stopped() < value.len() { Err(measured.stopped()) } else { Ok(measured.len()) }
    }

    #[inline(always)]
    fn write<'c>(&self, value: &[u8], out: Room<'c>) -> (Written<'c>, usize) {
        let decoded = Core::write(self, value, out);
        (decoded.written, decoded.stopped)
    }

    #[inline(always)]
    fn write_values<'c>(&self, input: &[u8], ends: &mut Ends, out: Room<'c>) -> (Written<'c>, usize) {
        let decoded = self.kernels().decode_values(&self.job, input, ends, out);
        (decoded.written, decoded.stopped)
    }
}

impl<S: KeepSet> Encode<S> {
    /// Encodes each value of a column and appends the results to `out`, a [`ColumnBuf`](crate::batch::ColumnBuf) or an
    /// [`UninitColumn`](crate::batch::UninitColumn): the same as [`Encode::encode`] of each. The offsets of `out` may be of another type.
    ///
    /// # Errors
    ///
    /// [`TooLong`](crate::batch::TooLong) if the output is longer than its offsets can say; a `ColumnBuf` is then unchanged.
    /// [`ColumnTooSmall`](crate::batch::ColumnTooSmall) if an `UninitColumn` is too small; it then holds the values before
    /// the one that has no room.
    ///
    /// ```
    /// use simdpct::batch::{Column, ColumnBuf};
    /// use simdpct::{Encode, sets};
    ///
    /// let names = Column::new(b"a b/", &[0_i32, 3, 4])?;
    /// let mut out = ColumnBuf::<i32>::new();
    /// Encode::keeping(sets::RFC3986_UNRESERVED).encode_column(names, &mut out)?;
    /// assert_eq!((out.bytes(), out.offsets()), (&b"a%20b%2F"[..], &[0, 5, 8][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_column<I: Offset, C: ColumnOut>(
        &self,
        values: Column<'_, I>,
        out: &mut C,
    ) -> Result<(), C::Error> {
        engine::column(&self.coder, values, out, |_, _, _| {})
    }

    /// Encodes each of `values`, which lie anywhere and may be null, and appends the results to `out`. A null becomes an
    /// empty value, so a validity bitmap stays valid. Otherwise as [`Encode::encode_column`].
    ///
    /// Takes any iterator over `&[u8]`, `&str` or `Option`s of these. Short values are copied to one place first, so this is
    /// nearly as fast as a column.
    ///
    /// # Errors
    ///
    /// As [`Encode::encode_column`]. The size that is needed takes the rest of the iterator to find.
    ///
    /// ```
    /// use simdpct::batch::ColumnBuf;
    /// use simdpct::{Encode, sets};
    ///
    /// let cells = [Some("a b"), None, Some("")];
    /// let mut out = ColumnBuf::<i64>::new();
    /// Encode::keeping(sets::RFC3986_UNRESERVED).encode_slices(cells, &mut out)?;
    /// assert_eq!((out.bytes(), out.offsets()), (&b"a%20b"[..], &[0, 5, 5, 5][..]));
    /// # Ok::<(), simdpct::batch::TooLong>(())
    /// ```
    pub fn encode_slices<C: ColumnOut>(
        &self,
        values: impl IntoIterator<Item: NullableBytes>,
        out: &mut C,
    ) -> Result<(), C::Error> {
        engine::slices(&self.coder, values, out, |_, _, _| {})
    }
}

impl Decode {
    /// Decodes each value of a column and appends the results to `out`, a [`ColumnBuf`](crate::batch::ColumnBuf) or an
    /// [`UninitColumn`](crate::batch::UninitColumn): the same as [`Decode::decode`] of each. The offsets of `out` may be of another type.
    /// [`Decode::NORMALIZE`] normalizes.
    ///
    /// # Errors
    ///
    /// [`TooLong`](crate::batch::TooLong) if the output is longer than its offsets can say; a `ColumnBuf` is then unchanged.
    /// [`ColumnTooSmall`](crate::batch::ColumnTooSmall) if an `UninitColumn` is too small; it then holds the values before
    /// the one that has no room.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::{Column, ColumnBuf};
    ///
    /// // `%`, `41`, `%41`: the first two do not become an `A`.
    /// let values = Column::new(b"%41%41", &[0_i32, 1, 3, 6])?;
    /// let mut out = ColumnBuf::<i32>::new();
    /// Decode::new().decode_column(values, &mut out)?;
    /// assert_eq!((out.bytes(), out.offsets()), (&b"%41A"[..], &[0, 1, 3, 4][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_column<I: Offset, C: ColumnOut>(
        &self,
        values: Column<'_, I>,
        out: &mut C,
    ) -> Result<(), C::Error> {
        engine::column(&self.core, values, out, |_, _, _| {})
    }

    /// Decodes each of `values`, which lie anywhere and may be null, and appends the results to `out`. A null becomes an
    /// empty value, so a validity bitmap stays valid. Otherwise as [`Decode::decode_column`].
    ///
    /// Takes any iterator over `&[u8]`, `&str` or `Option`s of these. Short values are copied to one place first, so this is
    /// nearly as fast as a column.
    ///
    /// # Errors
    ///
    /// As [`Decode::decode_column`]. The size that is needed takes the rest of the iterator to find.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::ColumnBuf;
    ///
    /// let query = "q=caf%C3%A9&lang=fr";
    /// let mut out = ColumnBuf::<u32>::new();
    /// Decode::new().form().decode_slices(query.split(['&', '=']), &mut out)?;
    /// assert!(out.iter().eq([&b"q"[..], b"caf\xc3\xa9", b"lang", b"fr"]));
    /// # Ok::<(), simdpct::batch::TooLong>(())
    /// ```
    pub fn decode_slices<C: ColumnOut>(
        &self,
        values: impl IntoIterator<Item: NullableBytes>,
        out: &mut C,
    ) -> Result<(), C::Error> {
        engine::slices(&self.core, values, out, |_, _, _| {})
    }
}

impl TryDecode {
    /// Decodes each value of a column and appends the results to `out`, as [`Decode::decode_column`].
    ///
    /// One bad value does not end the batch. If the decoder is strict, a value that has a malformed escape becomes an empty
    /// one, and `refused` is told its index and the error, whose offsets are counted from the start of the value: to make it
    /// null, to keep it as it is, or to say where it is.
    ///
    /// # Errors
    ///
    /// As [`Decode::decode_column`]. `refused` has then been told of values before the one that the error names, and perhaps
    /// of no others.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::{Column, ColumnBuf};
    ///
    /// let values = Column::new(b"a%20b%zz%41", &[0_i64, 5, 8, 11])?;
    /// let (mut out, mut valid) = (ColumnBuf::<i64>::new(), [true; 3]);
    /// Decode::new().strict().decode_column(values, &mut out, |index, _| valid[index] = false)?;
    /// assert_eq!((out.bytes(), out.offsets()), (&b"a bA"[..], &[0, 3, 3, 4][..]));
    /// assert_eq!(valid, [true, false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_column<I: Offset, C: ColumnOut>(
        &self,
        values: Column<'_, I>,
        out: &mut C,
        mut refused: impl FnMut(usize, MalformedEscape),
    ) -> Result<(), C::Error> {
        engine::column(&self.core, values, out, |index, value, offset| {
            refused(index, MalformedEscape::at(value, offset));
        })
    }

    /// Decodes each of `values`, which lie anywhere and may be null, and appends the results to `out`, as
    /// [`Decode::decode_slices`]. Of values with a malformed escape `refused` is told as by [`TryDecode::decode_column`].
    ///
    /// # Errors
    ///
    /// As [`TryDecode::decode_column`].
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::ColumnBuf;
    ///
    /// let (mut out, mut bad) = (ColumnBuf::<i32>::new(), Vec::new());
    /// let cells = [Some("100%25"), None, Some("100%")];
    /// Decode::new().strict().decode_slices(cells, &mut out, |index, error| bad.push((index, error.offset)))?;
    /// assert_eq!((out.bytes(), out.offsets()), (&b"100%"[..], &[0, 4, 4, 4][..]));
    /// assert_eq!(bad, [(2, 3)]);
    /// # Ok::<(), simdpct::batch::TooLong>(())
    /// ```
    pub fn decode_slices<C: ColumnOut>(
        &self,
        values: impl IntoIterator<Item: NullableBytes>,
        out: &mut C,
        mut refused: impl FnMut(usize, MalformedEscape),
    ) -> Result<(), C::Error> {
        engine::slices(&self.core, values, out, |index, value, offset| {
            refused(index, MalformedEscape::at(value, offset));
        })
    }
}
