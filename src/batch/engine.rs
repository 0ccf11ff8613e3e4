//! The loops of the batch verbs, over values that lie in one buffer and over values that lie anywhere.

use super::column::{Column, Offset};
use super::out::ColumnOut;
use super::out::sealed::{Append, Stop};
use super::slice::NullableBytes;
use crate::kernel::cursor::{Room, Written};
use crate::kernel::ends::{Ends, MAX_BYTES, MAX_VALUES};
use crate::kernel::slots::Few;

/// Fewer values than these go alone: a call for each takes less than to follow their ends.
const MANY: usize = 5;

/// A value of more bytes is not copied to where values are gathered. A call for it alone pays.
const LONG: usize = 1024;

/// Bytes of which each decoder needs one in what it changes.
#[derive(Clone, Copy)]
pub(super) enum Either {
    One(u8),
    Two(u8, u8),
}

impl Either {
    fn find(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Either::One(byte) => memchr::memchr(byte, bytes),
            Either::Two(one, other) => memchr::memchr2(one, other, bytes),
        }
    }
}

/// An encoder or a decoder.
pub(super) trait Codec {
    /// The most bytes that a byte of input becomes.
    const GROWTH: usize;

    /// A value that holds none of these stays as it is. Nothing, if it takes as long to look for them as to do the work.
    fn changes_only(&self) -> Option<Either>;

    /// The exact length of what `value` becomes, or the offset at which it is refused.
    fn measure(&self, value: &[u8]) -> Result<usize, usize>;

    /// Writes what `value` becomes, and returns its length, or the offset at which it is refused.
    fn write<'c>(&self, value: &[u8], out: Room<'c>) -> (Written<'c>, usize);

    /// Writes what the values become that lie in `input` one after the other and end at `ends`, which it turns into where
    /// they end in the output. Returns the length of `input`; or the offset at which a value is refused, and `ends` are then
    /// of no use.
    fn write_values<'c>(&self, input: &[u8], ends: &mut Ends, out: Room<'c>) -> (Written<'c>, usize);
}

/// Appends what each of `values` becomes to `out`, or all of them up to one. A value that is refused becomes an empty one;
/// `refused` is told its index, its bytes, and the offset in these.
pub(super) fn column<C: Codec, I: Offset, A: ColumnOut>(
    codec: &C,
    values: Column<'_, I>,
    out: &mut A,
    mut refused: impl FnMut(usize, &[u8], usize),
) -> Result<(), A::Error> {
    let before = out.lens();
    out.reserve(values.len());
    append(codec, values, 0, out, &mut refused).map_err(|stop| {
        let (Stop::Full { index } | Stop::TooLong { index }) = stop;
        out.failed(before, stop, || rest(codec, (0, 0), values.iter().skip(index)))
    })
}

/// As [`column`], of values that lie anywhere.
pub(super) fn slices<C: Codec, A: ColumnOut>(
    codec: &C,
    values: impl IntoIterator<Item: NullableBytes>,
    out: &mut A,
    mut refused: impl FnMut(usize, &[u8], usize),
) -> Result<(), A::Error> {
    let before = out.lens();
    let mut values = values.into_iter();
    let mut gathered = Gathered::new();
    let (mut index, mut stop) = (0, None);
    for value in values.by_ref() {
        let bytes = value.nullable_bytes().unwrap_or(&[]);
        if bytes.len() <= LONG && gathered.push(bytes) {
            continue;
        }
        // There is no room left for this one, or it goes alone.
        if let Err(error) = gathered.flush(codec, &mut index, out, &mut refused) {
            stop = Some((error, rest(codec, (0, 0), [bytes].into_iter())));
            break;
        }
        if bytes.len() <= LONG {
            gathered.push(bytes);
        } else {
            let offsets = [0, bytes.len() as u64];
            if let Err(error) = append(codec, Column::of_parts(bytes, &offsets), index, out, &mut refused) {
                stop = Some((error, rest(codec, (0, 0), [bytes].into_iter())));
                break;
            }
            index += 1;
        }
    }
    let (stop, more) = match stop {
        Some(stop) => stop,
        None => match gathered.flush(codec, &mut index, out, &mut refused) {
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

/// Short values, copied to one place.
struct Gathered {
    bytes: Few<u8, MAX_BYTES>,
    // INVARIANT: as in `ColumnBuf`.
    offsets: Few<u32, { MAX_VALUES + 1 }>,
}

impl Gathered {
    #[inline(always)]
    fn new() -> Gathered {
        let mut gathered = Gathered { bytes: Few::new(), offsets: Few::new() };
        gathered.offsets.push(0);
        gathered
    }

    /// Takes a value, unless there is no room for it.
    #[inline(always)]
    fn push(&mut self, value: &[u8]) -> bool {
        if self.offsets.len() > MAX_VALUES || !self.bytes.push_run(value) {
            return false;
        }
        self.offsets.push(self.bytes.len() as u32);
        true
    }

    fn column(&self) -> Column<'_, u32> {
        Column::of_parts(self.bytes.as_slice(), self.offsets.as_slice())
    }

    /// Appends what the values become, of which the first is value `index` of all, and forgets them. On an error they are
    /// still there.
    fn flush<C: Codec, A: Append>(
        &mut self,
        codec: &C,
        index: &mut usize,
        out: &mut A,
        refused: &mut impl FnMut(usize, &[u8], usize),
    ) -> Result<(), Stop> {
        append(codec, self.column(), *index, out, refused)?;
        *index += self.offsets.len() - 1;
        self.bytes.truncate(0);
        self.offsets.truncate(1);
        Ok(())
    }
}

/// `more`, and the bytes and the values that `values` become.
fn rest<'v, C: Codec>(
    codec: &C,
    more: (usize, usize),
    values: impl Iterator<Item = &'v [u8]>,
) -> (usize, usize) {
    values.fold(more, |(bytes, count), value| {
        (bytes.saturating_add(codec.measure(value).unwrap_or(0)), count.saturating_add(1))
    })
}

/// Appends what each of `values` becomes, of which the first is value `first` of all.
#[inline(always)]
fn append<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    first: usize,
    out: &mut A,
    refused: &mut impl FnMut(usize, &[u8], usize),
) -> Result<(), Stop> {
    // One value is common where a batch verb is called for each row or group, and needs nothing of what many need.
    if values.len() == 1 {
        return match append_one(codec, values.bytes_of(0, 1), first, out)? {
            Ok(()) => Ok(()),
            Err(offset) => append_refused(values.bytes_of(0, 1), first, offset, out, refused),
        };
    }
    append_many(codec, values, first, out, refused)
}

#[inline(never)]
fn append_many<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    first: usize,
    out: &mut A,
    refused: &mut impl FnMut(usize, &[u8], usize),
) -> Result<(), Stop> {
    let changes_only = codec.changes_only();
    let mut ends = Ends::new();
    let mut index = 0;
    let mut limit = if changes_only.is_some() { 1 } else { MAX_VALUES };
    while index < values.len() {
        // A long value is looked at and copied in one pass by the kernel, while it is in the cache.
        let is_long = values.bytes_of(index, 1).len() > MAX_BYTES;
        if let Some(changes_only) = changes_only.filter(|_| !is_long) {
            // Most values of most columns have nothing to decode.
            let same = unchanged(values, index, changes_only);
            if same > 0 {
                append_same(values, index, same, first, out)?;
                index += same;
                if index == values.len() {
                    break;
                }
            }
            // Where values are decoded others are near, but where values are refused, too.
            limit = if same > limit { 1 } else { (limit * 4).min(MAX_VALUES) };
        }
        let (bytes, slots) = out.spare();
        let count = values.fitting(index, limit.min(slots), MAX_BYTES.min(bytes / C::GROWTH));
        let stopped = if count < MANY {
            append_one(codec, values.bytes_of(index, 1), first + index, out)?.map(|()| index += 1)
        } else {
            let whole = append_run(codec, values, index, count, &mut ends, first, out)?;
            whole.map(|()| index += count)
        };
        if let Err(offset) = stopped {
            // None of the values before the one that is refused is, but nothing was written.
            let good = values.ends(index, count.max(1)).take_while(|&end| end <= offset).count();
            if good > 0 {
                let _: Result<(), usize> = append_run(codec, values, index, good, &mut ends, first, out)?;
            }
            let offset = offset - (values.place(index + good) - values.place(index));
            index += good;
            append_refused(values.bytes_of(index, 1), first + index, offset, out, refused)?;
            index += 1;
            limit = 1;
        }
    }
    Ok(())
}

/// Appends an empty value for `value`, which is value `index` of all and refused at `offset`.
#[cold]
fn append_refused<A: Append>(
    value: &[u8],
    index: usize,
    offset: usize,
    out: &mut A,
    refused: &mut impl FnMut(usize, &[u8], usize),
) -> Result<(), Stop> {
    let before = out.lens().0;
    out.reserve(1);
    append_ends(core::iter::once(0), before, index, out)?;
    refused(index, value, offset);
    Ok(())
}

/// How many values from `index` on, at most [`MAX_VALUES`], end before the first of the bytes that are needed to change. Those
/// looked at have at most twice [`MAX_BYTES`] together, which are still in the first cache when they are copied; the first
/// of them is not longer than that.
fn unchanged<I: Offset>(values: Column<'_, I>, index: usize, changes_only: Either) -> usize {
    let count = values.fitting(index, MAX_VALUES, 2 * MAX_BYTES);
    match changes_only.find(values.bytes_of(index, count)) {
        None => count,
        Some(at) => values.fitting(index, count, at),
    }
}

/// Appends the `count` values from `index` on as they are.
fn append_same<I: Offset, A: Append>(
    values: Column<'_, I>,
    index: usize,
    count: usize,
    first: usize,
    out: &mut A,
) -> Result<(), Stop> {
    let (bytes, slots) = out.spare();
    let fitting = values.fitting(index, count.min(slots), bytes);
    let before = out.lens().0;
    out.reserve(fitting);
    out.copy(values.bytes_of(index, fitting));
    append_ends(values.ends(index, fitting), before, first + index, out)?;
    if fitting < count { Err(Stop::Full { index: first + index + fitting }) } else { Ok(()) }
}

/// Appends what the `count` values from `index` on become, as many as [`Ends`] takes and `out` has room for. Or returns the
/// offset, from the start of the first, at which one is refused, and appends nothing.
#[inline(always)]
fn append_run<C: Codec, I: Offset, A: Append>(
    codec: &C,
    values: Column<'_, I>,
    index: usize,
    count: usize,
    ends: &mut Ends,
    first: usize,
    out: &mut A,
) -> Result<Result<(), usize>, Stop> {
    let before = out.lens().0;
    let input = values.bytes_of(index, count);
    ends.set(values.ends(index, count));
    out.reserve(count);
    let stopped = out.write(input.len() * C::GROWTH, |out| codec.write_values(input, ends, out));
    if stopped < input.len() {
        out.truncate(before);
        return Ok(Err(stopped));
    }
    append_ends(ends.places().iter().map(|&end| end as usize), before, first + index, out)?;
    Ok(Ok(()))
}

/// Appends what `value`, which is value `index` of all, becomes; or returns the offset at which it is refused.
#[inline(always)]
fn append_one<C: Codec, A: Append>(
    codec: &C,
    value: &[u8],
    index: usize,
    out: &mut A,
) -> Result<Result<(), usize>, Stop> {
    let (before, spare) = (out.lens().0, out.spare().0);
    let mut room = value.len().saturating_mul(C::GROWTH);
    // A long value that grows is measured if memory has to be allocated, so that it is no more than it needs; and if the result
    // may have no offset, so that nothing is written then.
    let has_offset = |len| before.checked_add(len).and_then(A::Offset::new).is_some();
    let is_long = C::GROWTH > 1 && value.len() > MAX_BYTES;
    if spare < room || (is_long && (out.ready() < room || !has_offset(room))) {
        room = match codec.measure(value) {
            Ok(len) => len,
            Err(offset) => return Ok(Err(offset)),
        };
        if spare < room {
            return Err(Stop::Full { index });
        }
        if !has_offset(room) {
            return Err(Stop::TooLong { index });
        }
    }
    out.reserve(1);
    let stopped = out.write(room, |out| codec.write(value, out));
    if stopped < value.len() {
        out.truncate(before);
        return Ok(Err(stopped));
    }
    append_ends(core::iter::once(out.lens().0 - before), before, index, out)?;
    Ok(Ok(()))
}

/// Appends the offsets of values that end at `ends`, which are ascending, after the first `before` bytes. The first of them
/// is value `index`. If one has no offset, it and those after it are not appended; if there is no slot for all, none is.
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
