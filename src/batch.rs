//! Many values at once, in the columnar layout of data engines: the bytes of all values one behind the other, and
//! where each ends.
//!
//! Most values are short, and a call for each pays for the call. Here the values are one stream of blocks, and the ends
//! are followed through it. A value never affects its neighbours: no escape reaches over the end of a value.

use alloc::vec::Vec;
use core::fmt;

use crate::coder::KeepSet;
use crate::decode::{Core, Decode, TryDecode};
use crate::encode::Encode;
use crate::error::MalformedEscape;
use crate::kernel::cursor::{self, Cursor, Room, Written};
use crate::kernel::ends::{Ends, MAX_BYTES, MAX_VALUES};

/// The values that are decoded together behind values in which there was nothing to decode.
const FEW: usize = 1;

mod sealed {
    pub trait Sealed {}
}

/// An offset into the bytes of a column: `i32`, `i64`, `u32` or `u64`. This trait is sealed.
pub trait Offset: Copy + Ord + sealed::Sealed {
    #[doc(hidden)]
    fn place(self) -> Option<usize>;

    /// For offsets of [`Values`], which are places.
    #[doc(hidden)]
    fn known_place(self) -> usize;

    #[doc(hidden)]
    fn new(place: usize) -> Option<Self>;

    /// For places of which [`Offset::new`] makes an offset.
    #[doc(hidden)]
    fn cast(place: usize) -> Self;
}

macro_rules! offsets {
    ($($type:ty)*) => {$(
        impl sealed::Sealed for $type {}

        impl Offset for $type {
            #[inline(always)]
            fn place(self) -> Option<usize> {
                self.try_into().ok()
            }

            #[inline(always)]
            fn known_place(self) -> usize {
                self as usize
            }

            #[inline(always)]
            fn new(place: usize) -> Option<$type> {
                place.try_into().ok()
            }

            #[inline(always)]
            fn cast(place: usize) -> $type {
                place as $type
            }
        }
    )*};
}
offsets!(i32 i64 u32 u64);

/// Borrowed values: value `i` is `bytes[offsets[i]..offsets[i + 1]]`, as in Apache Arrow's variable-size layouts.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a, O> {
    bytes: &'a [u8],
    // INVARIANT: not empty, ascending, and the last is at most `bytes.len()`.
    offsets: &'a [O],
}

impl<'a, O: Offset> Values<'a, O> {
    /// The values of `bytes` that `offsets` cut, one fewer than there are offsets. Takes time linear in the number of
    /// offsets.
    ///
    /// # Errors
    ///
    /// [`InvalidOffsets`] if there is no offset, one is smaller than the one before it, or one is behind the bytes.
    ///
    /// ```
    /// use simdpct::batch::Values;
    ///
    /// let values = Values::new(b"ab%20", &[0_i32, 1, 5]).unwrap();
    /// assert_eq!(values.len(), 2);
    /// assert!(Values::new(b"ab", &[0_i32, 3]).is_err());
    /// ```
    pub fn new(bytes: &'a [u8], offsets: &'a [O]) -> Result<Values<'a, O>, InvalidOffsets> {
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            return Err(InvalidOffsets { index: 0 });
        };
        // Without an early end, which makes it a loop over vectors.
        let ascending = offsets.iter().zip(&offsets[1..]).fold(true, |so_far, (a, b)| so_far & (a <= b));
        let is_behind = |place| place > bytes.len();
        if ascending && first.place().is_some() && !last.place().is_none_or(is_behind) {
            return Ok(Values { bytes, offsets });
        }
        let mut last = 0;
        for (index, offset) in offsets.iter().enumerate() {
            match offset.place() {
                Some(place) if (last..=bytes.len()).contains(&place) => last = place,
                _ => return Err(InvalidOffsets { index }),
            }
        }
        Ok(Values { bytes, offsets })
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn place(&self, index: usize) -> usize {
        self.offsets[index].known_place()
    }

    /// Some values from `index` on, at most `limit` of them: at least one, and no more than [`MAX_BYTES`] unless it is one,
    /// which goes alone, as any input does. Returns their bytes, and sets `ends` to where they end in these.
    fn run(&self, index: usize, limit: usize, ends: &mut Ends) -> &'a [u8] {
        let start = self.place(index);
        let rest = &self.offsets[index + 1..];
        let mut rest = &rest[..rest.len().min(limit)];
        let fits = |offset: &O| offset.known_place() - start <= MAX_BYTES;
        if !rest.last().is_none_or(fits) {
            rest = &rest[..rest.partition_point(fits).max(1)];
        }
        ends.set(rest.iter().map(|offset| offset.known_place().wrapping_sub(start)));
        &self.bytes[start..rest.last().map_or(start, |offset| offset.known_place())]
    }

    /// How many values from `index` on, at most [`MAX_VALUES`], end before the first of `bytes`.
    fn without(&self, index: usize, bytes: Either) -> usize {
        let start = self.place(index);
        let offsets = &self.offsets[index + 1..];
        let offsets = &offsets[..offsets.len().min(MAX_VALUES)];
        let end = offsets.last().map_or(start, |offset| offset.known_place());
        let stretch = &self.bytes[start..end];
        let found = match bytes {
            Either::One(byte) => memchr::memchr(byte, stretch),
            Either::Two(one, other) => memchr::memchr2(one, other, stretch),
        };
        match found {
            None => offsets.len(),
            Some(at) => offsets.partition_point(|offset| offset.known_place() <= start + at),
        }
    }
}

/// One byte, or one of two.
#[derive(Clone, Copy)]
enum Either {
    One(u8),
    Two(u8, u8),
}

/// Offsets that do not cut the bytes into values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidOffsets {
    /// The index of the first offset that is negative, smaller than the one before it, or behind the bytes.
    pub index: usize,
}

impl fmt::Display for InvalidOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {} does not cut the bytes into values", self.index)
    }
}

impl core::error::Error for InvalidOffsets {}

/// The output is longer than offsets of this type can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLong {
    /// The index, in the input, of the first value whose end cannot be said.
    pub index: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the offsets are too narrow for the output, from value {} on", self.index)
    }
}

impl core::error::Error for TooLong {}

/// Values that the batch verbs append to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column<O> {
    bytes: Vec<u8>,
    // INVARIANT: as in `Values`; the first is 0 and the last is `bytes.len()`.
    offsets: Vec<O>,
}

impl<O: Offset> Default for Column<O> {
    fn default() -> Column<O> {
        Column::new()
    }
}

impl<O: Offset> Column<O> {
    /// No values.
    #[must_use]
    pub fn new() -> Column<O> {
        // Every type of offset can say 0.
        Column { bytes: Vec::new(), offsets: O::new(0).into_iter().collect() }
    }

    /// Takes all values away, and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.truncate(1);
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all values.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The offsets: 0, and where each value ends.
    #[must_use]
    pub fn offsets(&self) -> &[O] {
        &self.offsets
    }

    /// The values, borrowed.
    #[must_use]
    pub fn values(&self) -> Values<'_, O> {
        Values { bytes: &self.bytes, offsets: &self.offsets }
    }

    /// The bytes and the offsets.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, Vec<O>) {
        (self.bytes, self.offsets)
    }

    /// Value `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = self.offsets.get(index.checked_add(1)?)?.place()?;
        self.bytes.get(self.offsets[index].place()?..end)
    }

    /// Does all of `append`, or leaves the column as it was.
    fn all_or_nothing(
        &mut self,
        append: impl FnOnce(&mut Column<O>) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        let (bytes, offsets) = (self.bytes.len(), self.offsets.len());
        append(self).inspect_err(|_| {
            self.bytes.truncate(bytes);
            self.offsets.truncate(offsets);
        })
    }

    /// Appends what `write` writes for values that end at `ends`, which it turns into where they end in its output.
    /// `index` is that of the first.
    #[inline(always)]
    fn append(
        &mut self,
        index: usize,
        ends: &mut Ends,
        room: usize,
        write: impl for<'c> FnOnce(&mut Ends, Room<'c>) -> Written<'c>,
    ) -> Result<(), TooLong> {
        let before = self.bytes.len();
        cursor::append(&mut self.bytes, room, |out| (write(ends, out), ()));
        self.append_offsets(index, before, ends.places().iter().copied())
    }

    /// Appends the values from `index` on as they are.
    fn append_same(&mut self, values: Values<'_, O>, index: usize, count: usize) -> Result<(), TooLong> {
        let (before, start) = (self.bytes.len(), values.place(index));
        self.bytes.extend_from_slice(&values.bytes[start..values.place(index + count)]);
        let ends = values.offsets[index + 1..][..count].iter();
        self.append_offsets(index, before, ends.map(|end| end.known_place().wrapping_sub(start)))
    }

    /// Appends the offsets of values that end at `ends`, which are ascending, behind the first `before` bytes.
    #[inline(always)]
    fn append_offsets(
        &mut self,
        index: usize,
        before: usize,
        ends: impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + Clone,
    ) -> Result<(), TooLong> {
        if ends.clone().next_back().is_none_or(|last| O::new(before + last).is_some()) {
            self.offsets.extend(ends.map(|end| O::cast(before.wrapping_add(end))));
            return Ok(());
        }
        let value = ends.take_while(|end| O::new(before + end).is_some()).count();
        Err(TooLong { index: index + value })
    }
}

/// The only value of a run has been written.
fn alone<'c>(ends: &mut Ends, written: Written<'c>) -> Written<'c> {
    ends.set(core::iter::once(written.len()));
    written
}

impl<S: KeepSet> Encode<S> {
    /// Encodes each of `values` and appends the results to `out`: the same as [`Encode::encode`] of each.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the output is longer than its offsets can say; `out` is then unchanged.
    ///
    /// ```
    /// use simdpct::batch::{Column, Values};
    /// use simdpct::{Encode, sets};
    ///
    /// let mut out = Column::new();
    /// let values = Values::new(b"a b/", &[0_i32, 3, 4]).unwrap();
    /// Encode::keeping(sets::RFC3986_UNRESERVED).values(values, &mut out).unwrap();
    /// assert_eq!(out.bytes(), b"a%20b%2F");
    /// assert_eq!(out.offsets(), [0, 5, 8]);
    /// ```
    pub fn values<O: Offset>(&self, values: Values<'_, O>, out: &mut Column<O>) -> Result<(), TooLong> {
        out.all_or_nothing(|out| {
            let mut ends = Ends::new();
            let mut index = 0;
            while index < values.len() {
                let input = values.run(index, MAX_VALUES, &mut ends);
                let count = ends.places().len();
                let room = match input.len() {
                    len @ ..=MAX_BYTES => 3 * len + cursor::MAX_WINDOW,
                    // One value, so its length does not depend on where others end.
                    _ => self.coder.measure(input).len,
                };
                out.append(index, &mut ends, room, |ends, out| match count {
                    1 => alone(ends, self.coder.write(input, out)),
                    _ => self.coder.kernels().encode_values(self.coder.job(), input, ends, out),
                })?;
                index += count;
            }
            Ok(())
        })
    }
}

impl Decode {
    /// Decodes each of `values` and appends the results to `out`: the same as [`Decode::decode`] of each.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the output is longer than its offsets can say; `out` is then unchanged.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::{Column, Values};
    ///
    /// let mut out = Column::new();
    /// Decode::new().values(Values::new(b"a%20b%2F", &[0_i32, 5, 8]).unwrap(), &mut out).unwrap();
    /// assert_eq!((out.bytes(), out.offsets()), (&b"a b/"[..], &[0, 3, 4][..]));
    /// ```
    pub fn values<O: Offset>(&self, values: Values<'_, O>, out: &mut Column<O>) -> Result<(), TooLong> {
        self.core.values(values, out, |_, _| {})
    }
}

impl TryDecode {
    /// Decodes each of `values` and appends the results to `out`: the same as [`TryDecode::decode`] of each.
    ///
    /// A value with a malformed escape becomes an empty one, and `refused` is told its index and the error, whose
    /// offsets count from the start of the value. Other values are not affected.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the output is longer than its offsets can say; `out` is then unchanged.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::{Column, Values};
    ///
    /// let (mut out, mut refused) = (Column::new(), Vec::new());
    /// // `%`, `41`, `%41`: the first two do not become an `A`.
    /// let values = Values::new(b"%41%41", &[0_i64, 1, 3, 6]).unwrap();
    /// Decode::new().strict().values(values, &mut out, |index, _| refused.push(index)).unwrap();
    /// assert_eq!((out.bytes(), out.offsets()), (&b"41A"[..], &[0, 0, 2, 3][..]));
    /// assert_eq!(refused, [0]);
    /// ```
    pub fn values<O: Offset>(
        &self,
        values: Values<'_, O>,
        out: &mut Column<O>,
        refused: impl FnMut(usize, MalformedEscape),
    ) -> Result<(), TooLong> {
        self.core.values(values, out, refused)
    }
}

impl Core {
    fn values<O: Offset>(
        &self,
        values: Values<'_, O>,
        out: &mut Column<O>,
        mut refused: impl FnMut(usize, MalformedEscape),
    ) -> Result<(), TooLong> {
        out.all_or_nothing(|out| {
            // What a strict decoder tries first; room of some size, which a lenient one need not fill.
            let (mut ends, mut tried) = (Ends::new(), self.job.strict.then(Ends::new));
            let looked_at = if self.job.plus() { Either::Two(b'%', b'+') } else { Either::One(b'%') };
            let (mut index, mut limit) = (0, FEW);
            while index < values.len() {
                // Most values of most columns have nothing to decode.
                let same = values.without(index, looked_at);
                out.append_same(values, index, same)?;
                index += same;
                // Where values are decoded others are near, but where values are refused, too.
                limit = if same > limit { FEW } else { (limit * 4).min(MAX_VALUES) };
                if index == values.len() {
                    break;
                }
                let mut input = values.run(index, limit, &mut ends);
                let refusal = tried.as_mut().and_then(|tried| self.refusal(input, &mut ends, tried));
                if let Some((value, _)) = refusal {
                    ends.truncate(value);
                    input = &input[..ends.places().last().copied().unwrap_or(0)];
                    limit = FEW;
                }
                let good = ends.places().len();
                out.append(index, &mut ends, input.len() + cursor::MAX_WINDOW, |ends, out| match good {
                    0 => Cursor::new(out).finish(),
                    1 => alone(ends, self.write_lenient(input, out)),
                    _ => self.write_values(input, ends, out),
                })?;
                index += good;
                if let Some((_, error)) = refusal {
                    ends.set(core::iter::once(0));
                    out.append(index, &mut ends, 0, |_, out| Cursor::new(out).finish())?;
                    refused(index, error);
                    index += 1;
                }
            }
            Ok(())
        })
    }

    /// The first of the values that end at `ends` that is refused, and why.
    fn refusal(&self, input: &[u8], ends: &mut Ends, tried: &mut Ends) -> Option<(usize, MalformedEscape)> {
        let ends = ends.places();
        let measured = match ends {
            [_] => self.measure(input),
            _ => {
                tried.set(ends.iter().copied());
                self.kernels().decode_values_measure(&self.job, input, tried)
            }
        };
        let offset = measured.stopped();
        if offset == input.len() {
            return None;
        }
        let value = ends.partition_point(|&end| end <= offset);
        let start = value.checked_sub(1).map_or(0, |before| ends[before]);
        Some((value, MalformedEscape::at(&input[start..ends[value]], offset - start)))
    }
}
