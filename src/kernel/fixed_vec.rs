//! Vectors without an allocator: in an array, or in memory of the caller. Neither kind initialises its memory
//! beforehand. One function appends to a vector with an allocator. "lab: NAME" names the page docs/lab/DATE-NAME.md,
//! which has the measurements.

use core::mem::MaybeUninit;

use crate::kernel::cursor::{self, Cursor, OutputSpan, Written};

/// A vector of at most `N` values in an array. Making one initialises nothing, whatever `N` is.
// INVARIANT: `len <= N`, and the first `len` slots are initialised.
pub(crate) struct ArrayVec<T, const N: usize> {
    slots: [MaybeUninit<T>; N],
    len: usize,
}

/// Makes an empty vector.
impl<T, const N: usize> Default for ArrayVec<T, N> {
    #[inline(always)]
    fn default() -> ArrayVec<T, N> {
        ArrayVec { slots: [const { MaybeUninit::uninit() }; N], len: 0 }
    }
}

impl<T: Copy, const N: usize> ArrayVec<T, N> {
    /// Returns the number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Removes all values after the first `len`.
    #[inline(always)]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends `value`. Does nothing if the array is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        if let Some(slot) = self.slots.get_mut(self.len) {
            slot.write(value);
            self.len += 1;
        }
    }

    /// Writes `values` to the slots from `at` on, which may be after the last value. Does nothing if they do not fit.
    #[inline(always)]
    pub(crate) fn put<const M: usize>(&mut self, at: usize, values: [T; M]) {
        // This check is one comparison. Calls for several vectors of the same `N` share it (lab: columns).
        if at <= const { N - M }
            && let Some(slots) = self.slots[at..].first_chunk_mut()
        {
            *slots = values.map(MaybeUninit::new);
        }
    }

    /// Appends all of `values`. Does nothing if they do not fit.
    #[inline(always)]
    pub(crate) fn extend_from_array<const M: usize>(&mut self, values: [T; M]) {
        if M <= N - self.len {
            self.put(self.len, values);
            self.len += M;
        }
    }

    /// Replaces the values by the first `N` of `values`.
    #[inline(always)]
    pub(crate) fn set(&mut self, values: impl Iterator<Item = T>) {
        self.len = write_to(&mut self.slots, values);
    }

    /// Replaces the values by `count` copies of `value`, at most `N`.
    #[inline(always)]
    pub(crate) fn fill(&mut self, value: T, count: usize) {
        self.len = count.min(N);
        self.slots[..self.len].fill(MaybeUninit::new(value));
    }

    /// Returns the values.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: by the invariant of `ArrayVec`, the first `len` slots exist and are initialised.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.len) }
    }

    /// Returns the values for changes in place.
    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: by the invariant of `ArrayVec`, the first `len` slots exist and are initialised. A `&mut [T]` cannot undo
        // that.
        unsafe { core::slice::from_raw_parts_mut(self.slots.as_mut_ptr().cast(), self.len) }
    }
}

impl<const N: usize> ArrayVec<u8, N> {
    /// Appends all of `bytes`, or returns `false` if they do not fit.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, bytes: &[u8]) -> bool {
        let room = &mut self.slots[self.len..];
        if room.len() < bytes.len() {
            return false;
        }
        let (written, ()) = cursor::lend_counted(room, |room| {
            let mut cursor = Cursor::new(room);
            cursor.push_run(bytes);
            (cursor.finish(), ())
        });
        // `Written` proves that the slots it counts are initialised. They follow the first `len`, so the invariant holds.
        self.len += written;
        true
    }
}

/// A vector in memory of the caller.
// INVARIANT: `len <= slots.len()`, and the first `len` slots are initialised.
pub(crate) struct Slots<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    len: usize,
}

impl<'a, T: Copy> Slots<'a, T> {
    /// Makes an empty vector in `slots`.
    #[inline(always)]
    pub(crate) fn new(slots: &'a mut [MaybeUninit<T>]) -> Slots<'a, T> {
        Slots { slots, len: 0 }
    }

    /// Returns the number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of free slots.
    #[inline(always)]
    pub(crate) fn spare(&self) -> usize {
        self.slots.len() - self.len
    }

    /// Removes all values after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends as many of `values` as fit.
    #[inline(always)]
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = T>) {
        self.len += write_to(&mut self.slots[self.len..], values);
    }

    /// Appends the first `count` of `values`, at most `M`. Does nothing if there are fewer than `M` free slots.
    #[inline(always)]
    pub(crate) fn extend_from_array<const M: usize>(&mut self, values: [T; M], count: usize) {
        if let Some(slots) = self.slots[self.len..].first_chunk_mut() {
            *slots = values.map(MaybeUninit::new);
            self.len += count.min(M);
        }
    }

    /// Appends the values of `arrays`, up to the first array that does not fit.
    #[inline(always)]
    pub(crate) fn extend_from_arrays<const M: usize>(&mut self, arrays: impl Iterator<Item = [T; M]>) {
        for values in arrays {
            let Some(slots) = self.slots.get_mut(self.len..).and_then(<[_]>::first_chunk_mut) else { break };
            *slots = values.map(MaybeUninit::new);
            self.len += M;
        }
    }

    /// Returns the values.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: by the invariant of `Slots`, the first `len` slots exist and are initialised.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.len) }
    }

    /// Returns the values, for as long as the slots are borrowed.
    pub(crate) fn into_slice(self) -> &'a [T] {
        // SAFETY: by the invariant of `Slots`, the first `len` slots exist and are initialised. They are borrowed mutably for
        // `'a`, and `self`, which held that borrow, is consumed.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.len) }
    }
}

/// Appends the values of all `arrays` to `vec`. Together, they must have at most `room` values.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn extend_from_arrays<T: Copy, const M: usize>(
    vec: &mut alloc::vec::Vec<T>,
    room: usize,
    arrays: impl Iterator<Item = [T; M]>,
) {
    vec.reserve(room);
    // The compiler keeps the length of `slots` in a register. It would load and store the length of `vec` in each round
    // (lab: columns).
    let before = vec.len();
    let mut slots = Slots::new(vec.spare_capacity_mut());
    slots.extend_from_arrays(arrays);
    let after = before + slots.len;
    // SAFETY: by the invariant of `Slots`, the first `len` slots exist and are initialised. They are the spare capacity, which follows the
    // first `before` values.
    unsafe { vec.set_len(after) };
}

impl Slots<'_, u8> {
    /// Appends the bytes that `write` writes. Returns the other result of `write`.
    #[inline(always)]
    pub(crate) fn write<T>(
        &mut self,
        write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T),
    ) -> T {
        let (written, more) = cursor::lend_counted(&mut self.slots[self.len..], write);
        // `Written` proves that the slots it counts are initialised. They follow the first `len`, so the invariant holds.
        self.len += written;
        more
    }
}

/// Writes `values` to the start of `slots` and returns how many were written.
#[inline(always)]
fn write_to<T>(slots: &mut [MaybeUninit<T>], values: impl Iterator<Item = T>) -> usize {
    let mut written = 0;
    for (slot, value) in slots.iter_mut().zip(values) {
        slot.write(value);
        written += 1;
    }
    written
}
