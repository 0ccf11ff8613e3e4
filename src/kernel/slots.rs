//! Memory that is filled from its start and need not be initialised before.

use core::mem::MaybeUninit;

use crate::kernel::cursor::{Cursor, Room, Written};

/// At most `N` values. To make one costs nothing, however large it is.
// INVARIANT: `len <= N`, and the first `len` slots are initialised.
pub(crate) struct Few<T, const N: usize> {
    slots: [MaybeUninit<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// No values.
    #[inline(always)]
    pub(crate) fn new() -> Few<T, N> {
        Few { slots: [const { MaybeUninit::uninit() }; N], len: 0 }
    }

    /// The number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Keeps the first `len`.
    #[inline(always)]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends `value`, unless there are `N` already.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        if let Some(slot) = self.slots.get_mut(self.len) {
            slot.write(value);
            self.len += 1;
        }
    }

    /// Takes the first `N` of `values` in place of those it has.
    #[inline(always)]
    pub(crate) fn set(&mut self, values: impl Iterator<Item = T>) {
        self.len = write_to(&mut self.slots, values);
    }

    /// Takes `count` times `value`, at most `N` times, in place of those it has.
    #[inline(always)]
    pub(crate) fn fill(&mut self, value: T, count: usize) {
        self.len = count.min(N);
        self.slots[..self.len].fill(MaybeUninit::new(value));
    }

    /// The values.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: by the invariant the first `len` slots exist and are initialised.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.len) }
    }

    /// The values.
    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`; values can only be replaced by values.
        unsafe { core::slice::from_raw_parts_mut(self.slots.as_mut_ptr().cast(), self.len) }
    }
}

impl<const N: usize> Few<u8, N> {
    /// Appends `bytes`, and says whether there was room for all of them. If not, nothing was appended.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, bytes: &[u8]) -> bool {
        let room = &mut self.slots[self.len..];
        if room.len() < bytes.len() {
            return false;
        }
        let mut cursor = Cursor::new(Room::new(room));
        cursor.push_run(bytes);
        self.len += cursor.finish().len();
        true
    }
}

/// Slots that the caller lent.
// INVARIANT: `len <= slots.len()`, and the first `len` slots are initialised.
pub(crate) struct Slots<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    len: usize,
}

impl<'a, T: Copy> Slots<'a, T> {
    /// Slots of which none is filled.
    #[inline(always)]
    pub(crate) fn new(slots: &'a mut [MaybeUninit<T>]) -> Slots<'a, T> {
        Slots { slots, len: 0 }
    }

    /// The number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of slots that are not filled.
    #[inline(always)]
    pub(crate) fn spare(&self) -> usize {
        self.slots.len() - self.len
    }

    /// Keeps the first `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends `value`, if there is a slot for it.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        if let Some(slot) = self.slots.get_mut(self.len) {
            slot.write(value);
            self.len += 1;
        }
    }

    /// Appends `values`, as many as there are slots for.
    #[inline(always)]
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = T>) {
        self.len += write_to(&mut self.slots[self.len..], values);
    }

    /// The values.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: by the invariant the first `len` slots exist and are initialised.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.len) }
    }

    /// The values, for as long as the slots are lent.
    pub(crate) fn into_slice(self) -> &'a [T] {
        // SAFETY: as in `as_slice`; the slots are lent for `'a`, and nobody else can change them.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.len) }
    }
}

impl Slots<'_, u8> {
    /// Appends what `write` writes. Returns what else it returns.
    #[inline(always)]
    pub(crate) fn write<T>(&mut self, write: impl for<'c> FnOnce(Room<'c>) -> (Written<'c>, T)) -> T {
        let (written, more) = write(Room::new(&mut self.slots[self.len..]));
        // It is of the room that was lent, since its lifetime is invariant and fresh: these bytes are initialised.
        self.len += written.len();
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
