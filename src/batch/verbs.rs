//! The methods that encode or decode many values.

use super::column::{Column, Offset};
use super::engine::{self, Codec};
use super::out::ColumnOut;
use super::slice::NullableBytes;
use crate::coder::{self, KeepSet};
use crate::decode::{Core, Decode, TryDecode};
use crate::encode::Encode;
use crate::error::MalformedEscape;
use crate::kernel::cursor::{OutputSpan, Written};
use crate::kernel::ends::Ends;

impl Codec for coder::Core {
    const GROWTH: usize = 3;
    const SEARCHES: bool = false;

    #[inline(always)]
    fn measure(&self, value: &[u8]) -> Result<usize, usize> {
        Ok(coder::Core::measure(self, value).len)
    }

    #[inline(always)]
    fn write<'id>(&self, value: &[u8], out: OutputSpan<'id>) -> (Written<'id>, usize) {
        (coder::Core::write(self, value, out), value.len())
    }

    #[inline(always)]
    fn write_values<'id>(
        &self,
        input: &[u8],
        ends: &mut Ends,
        out: OutputSpan<'id>,
    ) -> (Written<'id>, usize) {
        let written = self.kernels().encode_batch(&self.job, input, ends, out);
        (written, input.len())
    }
}

impl Codec for Core {
    const GROWTH: usize = 1;
    const SEARCHES: bool = true;

    #[inline(always)]
    fn in_one_pass(&self) -> bool {
        self.batches_in_one_pass()
    }

    #[inline(always)]
    fn is_apart(&self) -> bool {
        // A kernel for many values uses `before`, the two bytes before the input, for the first value only. After a
        // search, a call gets only the end of a value.
        self.job.before != [0; 2]
    }

    #[inline(always)]
    fn copy<'id>(&self, input: &[u8], out: OutputSpan<'id>) -> (Written<'id>, usize) {
        let copied = self.copy_clean(input, out);
        (copied.written, copied.stopped)
    }

    #[inline(always)]
    fn measure(&self, value: &[u8]) -> Result<usize, usize> {
        let measured = Core::measure(self, value);
        if measured.stopped() < value.len() { Err(measured.stopped()) } else { Ok(measured.len) }
    }

    #[inline(always)]
    fn write<'id>(&self, value: &[u8], out: OutputSpan<'id>) -> (Written<'id>, usize) {
        let outcome = Core::write(self, value, out);
        let stopped = outcome.end.stopped(value);
        (outcome.written, stopped)
    }

    #[inline(always)]
    fn write_values<'id>(
        &self,
        input: &[u8],
        ends: &mut Ends,
        out: OutputSpan<'id>,
    ) -> (Written<'id>, usize) {
        let decoded = self.kernels().decode_batch(&self.job, input, ends, out);
        (decoded.written, decoded.stopped)
    }
}

impl<S: KeepSet> Encode<S> {
    /// Encodes each value of a column and appends the results to `out`, a [`ColumnBuf`](crate::batch::ColumnBuf) or an
    /// [`UninitColumn`](crate::batch::UninitColumn). The results are those of [`Encode::encode`]. The offsets of `out` may have
    /// another type.
    ///
    /// # Errors
    ///
    /// [`TooLong`](crate::batch::TooLong) if the output is too long for its offsets; a `ColumnBuf` is then unchanged.
    /// [`ColumnTooSmall`](crate::batch::ColumnTooSmall) if an `UninitColumn` is too small; it then holds the values before the
    /// first that does not fit.
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
        engine::column(self.coder.core(), values, out, |_, _, _| {})
    }

    /// Encodes each of `values`, which may be anywhere in memory and may be null, and appends the results to `out`. A null
    /// becomes an empty value, so a validity bitmap stays valid.
    ///
    /// Takes any iterator over `&[u8]`, `&str` or `Option`s of these. Short values are gathered first, so this is nearly as
    /// fast as a column.
    ///
    /// # Errors
    ///
    /// The errors of [`Encode::encode_column`]. To find the size needed, the method consumes the rest of the iterator.
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
        engine::slices(self.coder.core(), values, out, |_, _, _| {})
    }
}

impl Decode {
    /// Decodes each value of a column and appends the results to `out`, a [`ColumnBuf`](crate::batch::ColumnBuf) or an
    /// [`UninitColumn`](crate::batch::UninitColumn). The results are those of [`Decode::decode`]; [`Decode::NORMALIZE`]
    /// normalizes. The offsets of `out` may have another type.
    ///
    /// # Errors
    ///
    /// [`TooLong`](crate::batch::TooLong) if the output is too long for its offsets; a `ColumnBuf` is then unchanged.
    /// [`ColumnTooSmall`](crate::batch::ColumnTooSmall) if an `UninitColumn` is too small; it then holds the values before the
    /// first that does not fit.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::{Column, ColumnBuf};
    ///
    /// // The values are `%`, `41` and `%41`. The first two do not join to an `A`.
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

    /// Decodes each of `values`, which may be anywhere in memory and may be null, and appends the results to `out`. A null
    /// becomes an empty value, so a validity bitmap stays valid.
    ///
    /// Takes any iterator over `&[u8]`, `&str` or `Option`s of these. Short values are gathered first, so this is nearly as
    /// fast as a column.
    ///
    /// # Errors
    ///
    /// The errors of [`Decode::decode_column`]. To find the size needed, the method consumes the rest of the iterator.
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
    /// Decodes each value of a column and appends the results to `out`. See [`Decode::decode_column`] for the output.
    ///
    /// A malformed escape does not end the batch. If the decoder is strict, a value with a malformed escape becomes an
    /// empty one. `rejected` gets its index and the error, whose offsets count from the start of the value. The caller
    /// can then make the value null, keep it as it was, or report it.
    ///
    /// # Errors
    ///
    /// The errors of [`Decode::decode_column`]. `rejected` has been called for the values before the one that
    /// the error names, and not necessarily for later ones.
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
        mut rejected: impl FnMut(usize, MalformedEscape),
    ) -> Result<(), C::Error> {
        engine::column(&self.core, values, out, |index, value, offset| {
            rejected(index, MalformedEscape::at(value, offset));
        })
    }

    /// Decodes each of `values`, which may be anywhere in memory and may be null, and appends the results to `out`. See
    /// [`Decode::decode_slices`] for the values, and [`TryDecode::decode_column`] for `rejected`.
    ///
    /// # Errors
    ///
    /// The errors of [`TryDecode::decode_column`].
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
        mut rejected: impl FnMut(usize, MalformedEscape),
    ) -> Result<(), C::Error> {
        engine::slices(&self.core, values, out, |index, value, offset| {
            rejected(index, MalformedEscape::at(value, offset));
        })
    }
}
