//! Columns: the bytes of many values and where each ends, borrowed or owned. "lab: NAME" names the page docs/lab/DATE-NAME.md.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use super::error::InvalidOffsets;
#[cfg(feature = "alloc")]
use super::error::TooLong;
use crate::utf8;

mod sealed {
    pub trait Sealed {}
}

/// An offset into the bytes of a column: `i32`, `i64`, `u32` or `u64`. This trait is sealed.
pub trait Offset: Copy + Ord + fmt::Debug + sealed::Sealed + 'static {
    #[doc(hidden)]
    const ZERO: Self;

    #[doc(hidden)]
    fn place(self) -> Option<usize>;

    /// Converts an offset of a [`Column`]. The conversion cannot fail, because the column has checked its offsets.
    #[doc(hidden)]
    fn known_place(self) -> usize;

    #[doc(hidden)]
    fn new(place: usize) -> Option<Self>;

    /// Converts `place`. The result is arbitrary if [`Offset::new`] returns `None` for it.
    #[doc(hidden)]
    fn cast(place: usize) -> Self;
}

macro_rules! offsets {
    ($($type:ty)*) => {$(
        impl sealed::Sealed for $type {}

        impl Offset for $type {
            const ZERO: $type = 0;

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
// With these narrow types, tests reach the limits of offsets without gigabytes of data.
#[cfg(test)]
offsets!(i8 u8 u16);

/// A borrowed column: value `i` is `bytes[offsets[i]..offsets[i + 1]]`, as in Apache Arrow's variable-size layouts.
///
/// The offsets are `i32` (`Utf8` and `Binary` in Arrow), `i64` (`LargeUtf8` and `LargeBinary`), `u32` or `u64`. The first
/// offset need not be 0, and the last need not be the end of the bytes. So a slice of a column is a column.
///
/// ```
/// use simdpct::batch::Column;
///
/// let column = Column::new(b"a%20bc", &[0_i32, 5, 5, 6])?;
/// assert_eq!(column.iter().collect::<Vec<_>>(), [&b"a%20b"[..], b"", b"c"]);
/// # Ok::<(), simdpct::batch::InvalidOffsets>(())
/// ```
#[derive(Clone, Copy)]
pub struct Column<'a, O> {
    bytes: &'a [u8],
    // INVARIANT: `offsets` has at least one item, and it ascends from 0 or more. Its last offset is at most `bytes.len()`.
    offsets: &'a [O],
}

impl<'a, O: Offset> Column<'a, O> {
    /// Makes the column of the values that `offsets` cut out of `bytes`. There is one value fewer than offsets. Takes time
    /// linear in the number of offsets.
    ///
    /// # Errors
    ///
    /// [`InvalidOffsets`] if there is no offset, if one is negative or smaller than the one before it, or if one is larger
    /// than the number of bytes.
    ///
    /// ```
    /// use simdpct::batch::Column;
    ///
    /// assert_eq!(Column::new(b"ab%20", &[0_i32, 1, 5]).unwrap().len(), 2);
    /// assert_eq!(Column::new(b"ab", &[0_i32, 3]).unwrap_err().index, 1);
    /// ```
    pub fn new(bytes: &'a [u8], offsets: &'a [O]) -> Result<Column<'a, O>, InvalidOffsets> {
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            return Err(InvalidOffsets { index: 0 });
        };
        // The loop does not end early, so that the compiler vectorises it (lab: columns).
        let ascending = offsets.iter().zip(&offsets[1..]).fold(true, |so_far, (a, b)| so_far & (a <= b));
        let is_outside = |place| place > bytes.len();
        if ascending && first.place().is_some() && !last.place().is_none_or(is_outside) {
            return Ok(Column { bytes, offsets });
        }
        let mut last = 0;
        for (index, offset) in offsets.iter().enumerate() {
            match offset.place() {
                Some(place) if (last..=bytes.len()).contains(&place) => last = place,
                _ => return Err(InvalidOffsets { index }),
            }
        }
        Ok(Column { bytes, offsets })
    }

    /// Makes a column without a check. `offsets` must not be empty and must ascend from 0 or more, and its last offset must be
    /// at most the number of bytes.
    #[inline(always)]
    pub(super) fn of_parts(bytes: &'a [u8], offsets: &'a [O]) -> Column<'a, O> {
        debug_assert!(Column::new(bytes, offsets).is_ok());
        Column { bytes, offsets }
    }

    /// Returns the number of values.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Reports whether the column has no values.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all bytes, also those before the first value and after the last.
    ///
    /// ```
    /// use simdpct::batch::Column;
    ///
    /// // A slice of a longer column: its values are a part of the bytes.
    /// let column = Column::new(b"abcd", &[1_i32, 3]).unwrap();
    /// assert_eq!((column.bytes(), column.get(0)), (&b"abcd"[..], Some(&b"bc"[..])));
    /// ```
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the offsets: where each value starts, and where the last ends.
    #[must_use]
    pub fn offsets(&self) -> &'a [O] {
        self.offsets
    }

    /// Returns the value at `index`, if there is one.
    ///
    /// ```
    /// use simdpct::batch::Column;
    ///
    /// let column = Column::new(b"abc", &[0_i64, 1, 3]).unwrap();
    /// assert_eq!((column.get(1), column.get(2)), (Some(&b"bc"[..]), None));
    /// ```
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| self.bytes_of(index, 1))
    }

    /// Iterates over the values in order.
    ///
    /// ```
    /// use simdpct::batch::Column;
    ///
    /// let column = Column::new(b"abc", &[0_u32, 1, 3]).unwrap();
    /// assert!(column.iter().eq([&b"a"[..], b"bc"]));
    /// ```
    pub fn iter(&self) -> Iter<'a, O> {
        Iter { column: *self, indices: 0..self.len() }
    }

    /// Iterates over the indices of the values that are not valid UTF-8, in order.
    ///
    /// Decoded values are bytes, but the strings of many engines are UTF-8. The caller can make the values at these
    /// indices null or an error, or pass them to [`String::from_utf8_lossy`](alloc::string::String::from_utf8_lossy).
    /// Takes time linear in the bytes: hundreds of values are validated at once, and one by one only if one of them is
    /// invalid.
    ///
    /// ```
    /// use simdpct::Decode;
    /// use simdpct::batch::{Column, ColumnBuf};
    ///
    /// let urls = Column::new(b"caf%C3%A9%FFb", &[0_i32, 9, 12, 13]).unwrap();
    /// let mut out = ColumnBuf::<i32>::new();
    /// Decode::new().decode_column(urls, &mut out).unwrap();
    /// assert!(out.as_column().invalid_utf8().eq([1]));
    /// ```
    pub fn invalid_utf8(&self) -> impl Iterator<Item = usize> + use<'a, O> {
        InvalidUtf8Values { column: *self, next: 0, checked: 0 }
    }

    /// Returns the start of value `index` in the bytes. If `index` is the number of values, returns the end of the last value.
    #[inline(always)]
    pub(super) fn place(&self, index: usize) -> usize {
        self.offsets[index].known_place()
    }

    /// Returns the bytes of the `count` values from `index` on.
    #[inline(always)]
    pub(super) fn bytes_of(&self, index: usize, count: usize) -> &'a [u8] {
        &self.bytes[self.place(index)..self.place(index + count)]
    }

    /// Iterates over the ends of the `count` values from `index` on, as offsets from the start of value `index`.
    #[inline(always)]
    pub(super) fn ends(
        &self,
        index: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + Clone + use<'a, O> {
        let start = self.place(index);
        self.offsets[index + 1..][..count].iter().map(move |end| end.known_place().wrapping_sub(start))
    }

    /// Returns at most `limit` offsets: those where the values from `index` on end.
    #[inline(always)]
    pub(super) fn offsets_after(&self, index: usize, limit: usize) -> &'a [O] {
        let offsets = &self.offsets[index + 1..];
        &offsets[..offsets.len().min(limit)]
    }

    /// Returns the number of values from `index` on that fit in `bytes` bytes together, at most `limit`. A result of 64
    /// or more may be up to fifteen too small. There must be a value at `index`. If it does not fit, or `limit` is 0,
    /// the result is 0.
    #[inline(always)]
    pub(super) fn fitting(&self, index: usize, limit: usize, bytes: usize) -> usize {
        let start = self.place(index);
        let rest = self.offsets_after(index, limit);
        let fits = |offset: &O| offset.known_place() - start <= bytes;
        if rest.last().is_none_or(fits) { rest.len() } else { first_after(rest, start + bytes) }
    }
}

/// Returns the index of the first of `offsets` that is greater than `place`. An index of 64 or more is rounded down to
/// a multiple of sixteen. At least one offset must be greater.
#[inline(never)]
fn first_after<O: Offset>(offsets: &[O], place: usize) -> usize {
    let fits = |offset: &O| offset.known_place() <= place;
    // Each step of a binary search waits for a load, often from beyond the first-level cache. A scan in steps of
    // sixteen offsets does not wait (lab: columns).
    let passed = offsets.chunks_exact(16).take_while(|group| fits(&group[15])).count();
    // An exact result costs mispredicted branches here, and a count that is no multiple of sixteen costs them in later
    // loops (lab: columns).
    if passed >= 4 {
        return 16 * passed;
    }
    let rest = &offsets[16 * passed..];
    16 * passed + rest[..rest.len().min(16)].partition_point(fits)
}

impl<O: Offset> fmt::Debug for Column<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for value in self.iter() {
            list.entry(&format_args!("b\"{}\"", value.escape_ascii()));
        }
        list.finish()
    }
}

impl<'a, O: Offset> IntoIterator for Column<'a, O> {
    type Item = &'a [u8];
    type IntoIter = Iter<'a, O>;

    fn into_iter(self) -> Iter<'a, O> {
        self.iter()
    }
}

/// An iterator over the values of a [`Column`].
#[derive(Clone, Debug)]
pub struct Iter<'a, O: Offset> {
    column: Column<'a, O>,
    /// The indices of the values that are left.
    indices: Range<usize>,
}

impl<'a, O: Offset> Iterator for Iter<'a, O> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.indices.next().map(|index| self.column.bytes_of(index, 1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl<O: Offset> DoubleEndedIterator for Iter<'_, O> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.indices.next_back().map(|index| self.column.bytes_of(index, 1))
    }
}

impl<O: Offset> ExactSizeIterator for Iter<'_, O> {}
impl<O: Offset> FusedIterator for Iter<'_, O> {}

/// The number of values that [`InvalidUtf8Values`] validates at once.
const TOGETHER: usize = 256;

/// An iterator over the indices of the values that are not valid UTF-8: see [`Column::invalid_utf8`].
struct InvalidUtf8Values<'a, O: Offset> {
    column: Column<'a, O>,
    next: usize,
    /// The index of the first value after the last group that was validated together.
    checked: usize,
}

impl<O: Offset> Iterator for InvalidUtf8Values<'_, O> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.next < self.column.len() {
            let index = self.next;
            if index == self.checked {
                let count = (self.column.len() - index).min(TOGETHER);
                self.checked += count;
                if is_utf8_together(self.column, index, count) {
                    self.next = self.checked;
                    continue;
                }
            }
            self.next += 1;
            if utf8::as_str(self.column.bytes_of(index, 1)).is_err() {
                return Some(index);
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.column.len() - self.next))
    }
}

/// Reports whether each of the `count` values from `index` on is UTF-8.
fn is_utf8_together<O: Offset>(column: Column<'_, O>, index: usize, count: usize) -> bool {
    let bytes = column.bytes_of(index, count);
    if bytes.is_ascii() {
        return true;
    }
    // No character may cross the end of a value.
    utf8::as_str(bytes).is_ok_and(|text| column.ends(index, count).all(|end| text.is_char_boundary(end)))
}

/// An owned column, to which the batch methods append. Its first offset is 0 and its last is the number of bytes.
///
/// ```
/// use simdpct::batch::ColumnBuf;
///
/// let mut column = ColumnBuf::<i32>::with_capacity(2, 16);
/// column.push(b"/a b")?;
/// column.push(b"/c")?;
/// let (bytes, offsets) = column.into_parts();
/// assert_eq!((&bytes[..], &offsets[..]), (&b"/a b/c"[..], &[0, 4, 6][..]));
///
/// // With offsets of 64 bits, which every value fits, values can be collected.
/// let column: ColumnBuf<i64> = ["/a b", "/c"].into_iter().collect();
/// assert_eq!(column.offsets(), [0, 4, 6]);
/// # Ok::<(), simdpct::batch::TooLong>(())
/// ```
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq)]
pub struct ColumnBuf<O> {
    pub(super) bytes: Vec<u8>,
    // INVARIANT: `offsets` is ascending; its first offset is 0 and its last is `bytes.len()`.
    pub(super) offsets: Vec<O>,
}

#[cfg(feature = "alloc")]
impl<O: Offset> Default for ColumnBuf<O> {
    fn default() -> ColumnBuf<O> {
        ColumnBuf::new()
    }
}

#[cfg(feature = "alloc")]
impl<O: Offset> ColumnBuf<O> {
    /// Makes a column without values.
    #[must_use]
    pub fn new() -> ColumnBuf<O> {
        ColumnBuf::with_capacity(0, 0)
    }

    /// Makes a column without values, with capacity for `values` values that have `bytes` bytes together.
    ///
    /// Decoding does not reallocate if the capacity is 256 bytes larger than the input. Encoding does not if it is 25 KiB
    /// larger than the output.
    ///
    /// ```
    /// use simdpct::batch::{Column, ColumnBuf};
    ///
    /// let urls = Column::new(b"/a%20b/c", &[0_i32, 6, 8]).unwrap();
    /// let mut out = ColumnBuf::<i32>::with_capacity(urls.len(), urls.bytes().len() + 256);
    /// simdpct::Decode::new().decode_column(urls, &mut out).unwrap();
    /// assert_eq!(out.get(0), Some(&b"/a b"[..]));
    /// ```
    #[must_use]
    pub fn with_capacity(values: usize, bytes: usize) -> ColumnBuf<O> {
        let mut offsets = Vec::with_capacity(values.saturating_add(1));
        offsets.push(O::ZERO);
        ColumnBuf { bytes: Vec::with_capacity(bytes), offsets }
    }

    /// Makes the column of the values that `offsets` cut out of `bytes`, and so undoes [`ColumnBuf::into_parts`]. Takes time
    /// linear in the number of offsets.
    ///
    /// # Errors
    ///
    /// [`InvalidOffsets`] if [`Column::new`] would fail, if the first offset is not 0, or if the last is not the number of
    /// bytes.
    ///
    /// ```
    /// use simdpct::batch::ColumnBuf;
    ///
    /// let column = ColumnBuf::from_parts(b"abc".to_vec(), vec![0_i64, 1, 3]).unwrap();
    /// assert_eq!(column.get(1), Some(&b"bc"[..]));
    /// assert_eq!(ColumnBuf::from_parts(b"abc".to_vec(), vec![0_i64, 1]).unwrap_err().index, 1);
    /// ```
    pub fn from_parts(bytes: Vec<u8>, offsets: Vec<O>) -> Result<ColumnBuf<O>, InvalidOffsets> {
        let column = Column::new(&bytes, &offsets)?;
        if column.place(0) != 0 {
            return Err(InvalidOffsets { index: 0 });
        }
        if column.place(column.len()) != bytes.len() {
            return Err(InvalidOffsets { index: column.len() });
        }
        Ok(ColumnBuf { bytes, offsets })
    }

    /// Reserves capacity for `values` more values that have `bytes` bytes together.
    pub fn reserve(&mut self, values: usize, bytes: usize) {
        self.offsets.reserve(values);
        self.bytes.reserve(bytes);
    }

    /// Appends `value`. For a null, append an empty value: the column has no validity bitmap.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the end of the value does not fit an offset of this type; the column is then unchanged.
    ///
    /// ```
    /// use simdpct::batch::ColumnBuf;
    ///
    /// let mut column = ColumnBuf::<i32>::new();
    /// ["/a b", "/c"].iter().try_for_each(|path| column.push(path))?;
    /// assert_eq!(column.offsets(), [0, 4, 6]);
    /// # Ok::<(), simdpct::batch::TooLong>(())
    /// ```
    pub fn push(&mut self, value: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), TooLong> {
        let value = value.as_ref();
        let end = self.bytes.len().checked_add(value.len()).and_then(O::new);
        let end = end.ok_or(TooLong { index: 0 })?;
        self.offsets.reserve(1);
        self.bytes.extend_from_slice(value);
        self.offsets.push(end);
        Ok(())
    }

    /// Removes all values and keeps the capacity.
    ///
    /// ```
    /// use simdpct::Encode;
    /// use simdpct::batch::{Column, ColumnBuf};
    ///
    /// // One buffer for all chunks.
    /// let mut out = ColumnBuf::<i32>::new();
    /// for chunk in [&b"a b"[..], b"c/d"] {
    ///     out.clear();
    ///     let values = Column::new(chunk, &[0_i32, 3]).unwrap();
    ///     Encode::keeping(simdpct::sets::RFC3986_SEGMENT).encode_column(values, &mut out).unwrap();
    ///     assert_eq!(out.bytes().len(), 5);
    /// }
    /// ```
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.truncate(1);
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Reports whether the column has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of all values.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offsets: 0, and where each value ends.
    #[must_use]
    pub fn offsets(&self) -> &[O] {
        &self.offsets
    }

    /// Borrows the column.
    ///
    /// ```
    /// use simdpct::{Decode, Encode, sets};
    /// use simdpct::batch::ColumnBuf;
    ///
    /// let mut paths = ColumnBuf::<i32>::new();
    /// paths.push("a%2Fb")?;
    /// let mut decoded = ColumnBuf::<i32>::new();
    /// Decode::new().decode_column(paths.as_column(), &mut decoded)?;
    /// assert_eq!(decoded.bytes(), b"a/b");
    /// # Ok::<(), simdpct::batch::TooLong>(())
    /// ```
    #[must_use]
    pub fn as_column(&self) -> Column<'_, O> {
        Column { bytes: &self.bytes, offsets: &self.offsets }
    }

    /// Returns the bytes and the offsets, which a data engine can take without a copy.
    ///
    /// ```
    /// use simdpct::batch::ColumnBuf;
    ///
    /// let mut column = ColumnBuf::<i64>::new();
    /// column.push("abc").unwrap();
    /// assert_eq!(column.into_parts(), (b"abc".to_vec(), vec![0, 3]));
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, Vec<O>) {
        (self.bytes, self.offsets)
    }

    /// Returns the value at `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.as_column().get(index)
    }

    /// Iterates over the values in order.
    pub fn iter(&self) -> Iter<'_, O> {
        self.as_column().iter()
    }
}

#[cfg(feature = "alloc")]
impl<O: Offset> fmt::Debug for ColumnBuf<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_column().fmt(f)
    }
}

#[cfg(feature = "alloc")]
impl<'a, O: Offset> IntoIterator for &'a ColumnBuf<O> {
    type Item = &'a [u8];
    type IntoIter = Iter<'a, O>;

    fn into_iter(self) -> Iter<'a, O> {
        self.iter()
    }
}

/// Implements `Extend` and `FromIterator`, which cannot return an error. So only columns with offsets of 64 bits have them,
/// because these offsets never overflow.
macro_rules! extend {
    ($($offset:ty)*) => {$(
        #[cfg(feature = "alloc")]
        impl<V: AsRef<[u8]>> Extend<V> for ColumnBuf<$offset> {
            fn extend<I: IntoIterator<Item = V>>(&mut self, values: I) {
                for value in values {
                    self.bytes.extend_from_slice(value.as_ref());
                    // The length fits the offset type, because no vector is longer than `isize::MAX` bytes.
                    self.offsets.push(self.bytes.len() as $offset);
                }
            }
        }

        #[cfg(feature = "alloc")]
        impl<V: AsRef<[u8]>> FromIterator<V> for ColumnBuf<$offset> {
            fn from_iter<I: IntoIterator<Item = V>>(values: I) -> ColumnBuf<$offset> {
                let mut column = ColumnBuf::new();
                column.extend(values);
                column
            }
        }
    )*};
}
extend!(i64 u64);
