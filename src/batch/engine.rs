//! The loops of the batch methods, over columns and over values anywhere in memory. "lab: NAME" names the page
//! docs/lab/DATE-NAME.md.

use super::column::{Column, Offset};
use super::out::ColumnOut;
use super::out::sealed::{Append, GROUP, Stop};
use super::slice::NullableBytes;
use crate::kernel::cursor::{Cursor, OutputSpan, Written};
use crate::kernel::ends::{Ends, MAX_BYTES, MAX_VALUES};
use crate::kernel::fixed_vec::ArrayVec;

/// The least number of values for a call of a kernel that tracks their ends. Fewer values go to the kernel one by one, because
/// tracking their ends would take longer than a call for each (lab: ladders).
const MANY: usize = 5;

/// The number of unchanged values in a row up to which a search for the next value that may change does not pay.
const FEW: usize = 16;

/// The number of short gaps in a row after which the search is omitted. The first number counts until the first long gap
/// of a column, the second after it. A gap is a run of unchanged values; a short one has at most [`FEW`]. If one value in
/// a hundred changes, two short gaps in a row are common, and four are not.
const SHORT_GAPS: [usize; 2] = [2, 4];

/// The number of input bytes that a run (the values of one kernel call) may have even if `out` must grow for it. A
/// longer run is made only if `out` already has capacity for it. So `out` never grows if it has the margin that
/// [`ColumnBuf::with_capacity`](super::ColumnBuf::with_capacity) names.
const GROWS_FOR: usize = 8 * 1024;

/// The longest value, in bytes, that is gathered with others. A longer value gets a call of its own.
const LONG: usize = 1024;

/// The largest number of bytes that are copied before their values are counted.
const STRETCH: usize = 1 << 20;

/// The operation that the batch methods apply to each value: an encoder or a decoder.
pub(super) trait Codec {
    /// The largest number of bytes that one byte of input becomes.
    const GROWTH: usize;

    /// Whether [`Codec::copy`] finds unchanged values. The search takes less time than the operation (lab: columns).
    const SEARCHES: bool;

    /// Copies `input` up to the first byte that may change, and returns the offset of that byte. It may write more than
    /// these bytes to `out`, which must have capacity for all of `input`.
    fn copy<'id>(&self, _input: &[u8], out: OutputSpan<'id>) -> (Written<'id>, usize) {
        (Cursor::new(out).finish(), 0)
    }

    /// Reports whether to write changed and unchanged values in one pass while changed values are not rare. If false, and
    /// the codec [`SEARCHES`](Codec::SEARCHES), [`Codec::copy`] always copies unchanged values first.
    fn in_one_pass(&self) -> bool {
        false
    }

    /// Reports whether each value needs a call of its own, which gets the whole value.
    fn is_apart(&self) -> bool {
        false
    }

    /// Returns the exact length of the output for `value`, or the offset at which it is rejected.
    fn measure(&self, value: &[u8]) -> Result<usize, usize>;

    /// Writes the output for `value`, and returns the length of `value`, or the offset at which it is rejected.
    fn write<'id>(&self, value: &[u8], out: OutputSpan<'id>) -> (Written<'id>, usize);

    /// Writes the output for consecutive values in `input` that end at `ends`, and turns `ends` into the ends in the
    /// output. Returns the length of `input`. If a value is rejected, returns the offset of the error in `input`, and
    /// the content of `ends` is then unspecified.
    fn write_values<'id>(&self, input: &[u8], ends: &mut Ends, out: OutputSpan<'id>)
    -> (Written<'id>, usize);
}

/// Appends the output for each of `values` to `out`. A rejected value becomes an empty one, and `rejected` is called with its
/// index, its bytes, and the offset of the error in these bytes.
///
/// # Errors
///
/// The error of `out` if the values do not fit.
pub(super) fn column<C: Codec, I: Offset, A: ColumnOut>(
    codec: &C,
    values: Column<'_, I>,
    out: &mut A,
    mut rejected: impl FnMut(usize, &[u8], usize),
) -> Result<(), A::Error> {
    let before = out.lens();
    out.reserve(values.len());
    append(codec, values, 0, out, &mut rejected).map_err(|stop| {
        let (Stop::Full { index } | Stop::TooLong { index }) = stop;
        out.failed(before, stop, || rest(codec, (0, 0), values.iter().skip(index)))
    })
}

/// Does the work of [`column`] for values anywhere in memory.
pub(super) fn slices<C: Codec, A: ColumnOut>(
    codec: &C,
    values: impl IntoIterator<Item: NullableBytes>,
    out: &mut A,
    mut rejected: impl FnMut(usize, &[u8], usize),
) -> Result<(), A::Error> {
    let before = out.lens();
    let mut values = values.into_iter();
    let mut gathered = Gathered::<A::Offset>::new();
    let (mut index, mut stop) = (0, None);
    for value in values.by_ref() {
        let bytes = value.nullable_bytes().unwrap_or(&[]);
        if bytes.len() <= LONG && gathered.push(bytes) {
            continue;
        }
        // This value does not fit into the buffer, or is too long to be gathered. So the values in the buffer are written
        // first.
        if let Err(error) = gathered.flush(codec, &mut index, out, &mut rejected) {
            stop = Some((error, rest(codec, (0, 0), [bytes].into_iter())));
            break;
        }
        if bytes.len() <= LONG && gathered.push(bytes) {
            continue;
        }
        let offsets = [0, bytes.len() as u64];
        if let Err(error) = append(codec, Column::of_parts(bytes, &offsets), index, out, &mut rejected) {
            stop = Some((error, rest(codec, (0, 0), [bytes].into_iter())));
            break;
        }
        index += 1;
    }
    let (stop, more) = match stop {
        Some(stop) => stop,
        None => match gathered.flush(codec, &mut index, out, &mut rejected) {
            Ok(()) => return Ok(()),
            Err(stop) => (stop, (0, 0)),
        },
    };
    let (Stop::Full { index: failed } | Stop::TooLong { index: failed }) = stop;
    Err(out.failed(before, stop, || {
        let more = rest(codec, more, gathered.column().iter().skip(failed - index));
        values
            .fold(more, |more, value| rest(codec, more, [value.nullable_bytes().unwrap_or(&[])].into_iter()))
    }))
}

/// A buffer that gathers short values into a column. Its offsets have the offset type of the output. So [`slices`] shares
/// one instance of [`append_many`] with [`column`] for values with offsets of this type.
struct Gathered<O> {
    bytes: ArrayVec<u8, MAX_BYTES>,
    // INVARIANT: `offsets` is ascending; its first offset is 0 and its last is `bytes.len()`.
    offsets: ArrayVec<O, { MAX_VALUES + 1 }>,
}

impl<O: Offset> Gathered<O> {
    #[inline(always)]
    fn new() -> Gathered<O> {
        let mut gathered = Gathered { bytes: ArrayVec::default(), offsets: ArrayVec::default() };
        gathered.offsets.push(O::ZERO);
        gathered
    }

    /// Adds a value, or returns `false` if it does not fit into the buffer or its end does not fit the offsets.
    #[inline(always)]
    fn push(&mut self, value: &[u8]) -> bool {
        let Some(end) = O::new(self.bytes.len() + value.len()) else { return false };
        if self.offsets.len() > MAX_VALUES || !self.bytes.push_run(value) {
            return false;
        }
        self.offsets.push(end);
        true
    }

    fn column(&self) -> Column<'_, O> {
        Column::of_parts(self.bytes.as_slice(), self.offsets.as_slice())
    }

    /// Appends the output for the gathered values to `out`, adds their number to `index`, which is the index of the
    /// first value, and clears the buffer. On an error, the buffer keeps the values.
    fn flush<C: Codec, A: Append>(
        &mut self,
        codec: &C,
        index: &mut usize,
        out: &mut A,
        rejected: &mut dyn FnMut(usize, &[u8], usize),
    ) -> Result<(), Stop> {
        append(codec, self.column(), *index, out, rejected)?;
        *index += self.offsets.len() - 1;
        self.bytes.truncate(0);
        self.offsets.truncate(1);
        Ok(())
    }
}

/// Adds the output length of `values` and their number to the two numbers of `more`, and returns the sums.
fn rest<'v, C: Codec>(
    codec: &C,
    more: (usize, usize),
    values: impl Iterator<Item = &'v [u8]>,
) -> (usize, usize) {
    values.fold(more, |(bytes, count), value| {
        (bytes.saturating_add(codec.measure(value).unwrap_or(0)), count.saturating_add(1))
    })
}

/// Appends the output for each of `values` to `out`. The first value has the index `first` in the whole input.
#[inline(always)]
fn append<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    first: usize,
    out: &mut A,
    rejected: &mut dyn FnMut(usize, &[u8], usize),
) -> Result<(), Stop> {
    // Columns of one value are common: some data engines make a call for each row or group. One value needs no `Ends`.
    if values.len() == 1 {
        return match append_one(codec, values.bytes_of(0, 1), 0, first, out)? {
            Ok(()) => Ok(()),
            Err(offset) => append_rejected(values.bytes_of(0, 1), first, offset, out, rejected),
        };
    }
    append_many(codec, values, first, out, rejected)
}

#[inline(never)]
fn append_many<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    first: usize,
    out: &mut A,
    rejected: &mut dyn FnMut(usize, &[u8], usize),
) -> Result<(), Stop> {
    let mut ends = Ends::default();
    let mut index = 0;
    // If the codec `is_apart`, there is no search, so this limit of 1 does not grow, and each value gets a call of its own.
    let mut limit = if C::SEARCHES { 1 } else { MAX_VALUES };
    // A search that finds a changed value costs a mispredicted branch and a call for that value (lab: columns). So it
    // is omitted while every run has many changed values.
    let mut search = C::SEARCHES && !codec.is_apart();
    let (mut short_gaps, mut enough) = (0, SHORT_GAPS[0]);
    let few = if search && codec.in_one_pass() { FEW } else { 0 };
    while index < values.len() {
        // A long value needs no search first: the kernel searches and copies it in one pass.
        let is_long = values.bytes_of(index, 1).len() > MAX_BYTES;
        // The number of bytes of the next value that `out` already has.
        let mut copied = 0;
        if search && !is_long {
            // In most columns, most values have no escape.
            let same;
            (same, copied) = append_same(codec, values, index, out);
            index += same;
            if index == values.len() {
                break;
            }
            if few > 0 {
                short_gaps += 1;
                if same > few {
                    (short_gaps, enough) = (0, SHORT_GAPS[1]);
                } else if short_gaps == enough {
                    (search, limit) = (false, MAX_VALUES);
                }
            } else {
                // The limit grows while values change, because changed values are often adjacent. It starts at one,
                // because a rejected value makes the work for its whole run useless.
                limit = if same > limit { 1 } else { (limit * 4).min(MAX_VALUES) };
            }
        }
        let count = if search && few > 0 {
            1
        } else {
            let (bytes, slots) = out.spare();
            let ready = (out.ready() / C::GROWTH).clamp(GROWS_FOR, MAX_BYTES);
            values.fitting(index, limit.min(slots), ready.min(bytes / C::GROWTH))
        };
        let stopped = if count < MANY {
            append_one(codec, values.bytes_of(index, 1), copied, first + index, out)?.map(|()| index += 1)
        } else {
            out.truncate(out.lens().0 - copied);
            let whole = append_run(codec, values, index, count, &mut ends, first, out)?;
            whole.map(|removed| {
                index += count;
                // A decoded escape removes two bytes. After a run with few escapes, the search begins again.
                if few > 0 && removed < count / few * 2 {
                    (search, limit, short_gaps) = (true, 1, 0);
                }
            })
        };
        if let Err(offset) = stopped {
            // The values of the run before the rejected one are valid, but nothing of the run has been appended yet.
            let good = values.ends(index, count.max(1)).take_while(|&end| end <= offset).count();
            if good > 0 {
                let _: Result<usize, usize> = append_run(codec, values, index, good, &mut ends, first, out)?;
            }
            let offset = offset - (values.place(index + good) - values.place(index));
            index += good;
            append_rejected(values.bytes_of(index, 1), first + index, offset, out, rejected)?;
            index += 1;
            limit = 1;
        }
    }
    Ok(())
}

/// Appends an empty value for `value`, which has the index `index` and was rejected at `offset`, and then calls `rejected`.
#[cold]
fn append_rejected<A: Append>(
    value: &[u8],
    index: usize,
    offset: usize,
    out: &mut A,
    rejected: &mut dyn FnMut(usize, &[u8], usize),
) -> Result<(), Stop> {
    let before = out.lens().0;
    out.reserve(1);
    append_ends(core::iter::once(0), before, index, out)?;
    rejected(index, value, offset);
    Ok(())
}

/// Appends copies of the values from `index` on, up to the first that may change. Then appends the start of that value,
/// up to a byte that may change. Returns the number of copied values and the number of bytes of that start. Appends
/// fewer values if `out` has too little capacity, or if an offset might not fit.
#[inline(never)]
fn append_same<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    index: usize,
    out: &mut A,
) -> (usize, usize) {
    let ends = values.offsets_after(index, out.spare().1);
    let bytes = values.bytes_of(index, ends.len());
    if out.ready() == 0 {
        out.grow(bytes.len().min(2 * MAX_BYTES));
    }
    let bytes = &bytes[..bytes.len().min(out.ready()).min(STRETCH)];
    let (before, start) = (out.lens().0, values.place(index));
    if A::Offset::new(before + bytes.len()).is_none() {
        return (0, 0);
    }
    let clean = out.write(bytes.len(), |out| codec.copy(bytes, out));
    // The end of the copied bytes is at most the last of `ends`, so it fits the type `I`.
    let limit = I::cast(start + clean);
    let moved = |end: I| A::Offset::cast(before.wrapping_add(end.known_place().wrapping_sub(start)));
    let (groups, rest) = ends.as_chunks::<GROUP>();
    let (mut count, mut limited) = (0, None);
    let passed = groups.iter().map_while(|group| {
        if group[GROUP - 1] > limit {
            limited = Some(group);
            return None;
        }
        count += GROUP;
        Some(group.map(moved))
    });
    out.end_groups(ends.len(), passed);
    if let Some(group) = limited {
        // `black_box` hides from the compiler that the last end of this group is loaded already. Otherwise the compiler
        // would move all ends one by one. A loop that ends at the first end after `limit` would cost a mispredicted
        // branch (lab: columns).
        let group = core::hint::black_box(group);
        let last = group.partition_point(|&end| end <= limit);
        out.end_group(group.map(moved), last);
        count += last;
        out.truncate(before + clean);
        return (count, start + clean - values.place(index + count));
    }
    let last = rest.iter().take_while(|&&end| end <= limit).count();
    out.end(rest[..last].iter().map(|&end| moved(end)));
    count += last;
    out.truncate(before + clean);
    (count, start + clean - values.place(index + count))
}

/// Appends the output for the `count` values from `index` on, which must fit `out` and [`Ends`]. Returns the length of
/// the values minus that of the output, wrapping. If a value is rejected, appends nothing and returns the offset of the
/// error from the start of value `index`.
#[inline(never)]
fn append_run<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    index: usize,
    count: usize,
    ends: &mut Ends,
    first: usize,
    out: &mut A,
) -> Result<Result<usize, usize>, Stop> {
    let before = out.lens().0;
    let input = values.bytes_of(index, count);
    ends.set(input.len(), values.ends(index, count));
    out.reserve(count);
    let stopped = out.write(input.len() * C::GROWTH, |out| codec.write_values(input, ends, out));
    if stopped < input.len() {
        out.truncate(before);
        return Ok(Err(stopped));
    }
    append_ends(ends.places().iter().map(|&end| end as usize), before, first + index, out)?;
    Ok(Ok(input.len().wrapping_sub(out.lens().0 - before)))
}

/// Appends the output for `value`, which has the index `index`, or returns the offset at which it is rejected. `out`
/// already has the first `copied` bytes of `value`, in which no escape starts.
#[inline(always)]
fn append_one<C: Codec, A: Append>(
    codec: &C,
    value: &[u8],
    copied: usize,
    index: usize,
    out: &mut A,
) -> Result<Result<(), usize>, Stop> {
    let (before, spare) = (out.lens().0 - copied, out.spare().0);
    let rest = &value[copied..];
    let mut room = rest.len().saturating_mul(C::GROWTH);
    // A long value that may grow is measured if memory has to be allocated, so that no more is allocated than it needs.
    // It is also measured if its end may not fit an offset, so that in this case nothing is written.
    let has_offset = |len| (before + copied).checked_add(len).and_then(A::Offset::new).is_some();
    let is_long = C::GROWTH > 1 && value.len() > MAX_BYTES;
    if spare < room || (is_long && (out.ready() < room || !has_offset(room))) {
        let measured = codec.measure(rest);
        let failed = match measured {
            Err(offset) => Some(Ok(Err(copied + offset))),
            Ok(len) if spare < len => Some(Err(Stop::Full { index })),
            Ok(len) if !has_offset(len) => Some(Err(Stop::TooLong { index })),
            Ok(_) => None,
        };
        if let Some(failed) = failed {
            out.truncate(before);
            return failed;
        }
        room = measured.unwrap_or(room);
    }
    out.reserve(1);
    let stopped = out.write(room, |out| codec.write(rest, out));
    if stopped < rest.len() {
        out.truncate(before);
        return Ok(Err(copied + stopped));
    }
    append_ends(core::iter::once(out.lens().0 - before), before, index, out)?;
    Ok(Ok(()))
}

/// Appends the offsets of values whose bytes are already in `out`. The ends in `ends` are ascending and count from the byte
/// `before`; the first value has the index `index`. If the end of a value does not fit an offset, that value and those after it
/// are removed. If `out` has too few slots for offsets, all of these values are removed.
#[inline(always)]
fn append_ends<A: Append>(
    ends: impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + Clone,
    before: usize,
    index: usize,
    out: &mut A,
) -> Result<(), Stop> {
    if out.spare().1 < ends.len() {
        out.truncate(before);
        return Err(Stop::Full { index });
    }
    if ends.clone().next_back().is_none_or(|last| A::Offset::new(before + last).is_some()) {
        out.end(ends.map(|end| A::Offset::cast(before.wrapping_add(end))));
        return Ok(());
    }
    let (mut good, mut bytes) = (0, before);
    for end in ends {
        let Some(offset) = A::Offset::new(before + end) else { break };
        out.end(core::iter::once(offset));
        (good, bytes) = (good + 1, before + end);
    }
    out.truncate(bytes);
    Err(Stop::TooLong { index: index + good })
}
