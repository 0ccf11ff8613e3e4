//! Output memory: the only pointer arithmetic outside `isa/`.
//!
//! A verb lends its memory as a [`Room`]; a kernel walks over it with a [`Cursor`] and returns how much it has [`Written`]. Vector code writes whole
//! registers, so it asks for a *window* that is wider than what it will keep; near the end of the room the window is a
//! [`Stage`] on the stack instead, and what is kept is copied. Nothing is ever written outside the room, and a verb that
//! has checked the room once needs no check per byte.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernel::word::{self, FEW, Look};

/// The widest window that an operation may ask for: three bytes for each of 64 lanes, and a register of slack.
pub(crate) const MAX_WINDOW: usize = 64 * 3 + 64;

/// A window on the stack, for the end of the room.
pub(crate) struct Stage([MaybeUninit<u8>; MAX_WINDOW]);

impl Stage {
    #[inline(always)]
    pub(crate) fn new() -> Stage {
        Stage([const { MaybeUninit::uninit() }; MAX_WINDOW])
    }
}

/// The memory that one conversion may write to: two words, which a call passes in registers.
///
/// Only this module makes a room, and lends each one to a closure that has to accept any lifetime `'id`. So no two rooms in
/// sight of the same code have the same `'id`, and a [`Written`] can only belong to the room of its own `'id`.
// INVARIANT: `start <= end`, both within one allocation that is borrowed mutably as long as the room is lent, and writable
// from `start` to `end`. The lifetime is invariant, so it cannot be shortened to that of another room. Copies are the same room.
#[derive(Clone, Copy)]
pub struct Room<'id> {
    start: *mut u8,
    end: *mut u8,
    brand: PhantomData<fn(&'id ()) -> &'id ()>,
}

impl<'id> Room<'id> {
    /// The room of `memory`. Private, so that [`Written`] proves something.
    #[inline(always)]
    fn new(memory: &'id mut [MaybeUninit<u8>]) -> Room<'id> {
        let range = memory.as_mut_ptr_range();
        Room { start: range.start.cast(), end: range.end.cast(), brand: PhantomData }
    }

    /// The number of bytes that fit.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.end.addr() - self.start.addr()
    }
}

/// The number of bytes written to a room.
// INVARIANT: the first `len` bytes of the room with the lifetime `'id` are initialised.
pub struct Written<'id> {
    len: usize,
    brand: PhantomData<fn(&'id ()) -> &'id ()>,
}

impl Written<'_> {
    /// The number of bytes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// A position in a caller's room.
// INVARIANT: `start <= at <= end`, where `start` and `end` are those of a [`Room`]; the bytes from `start` to `at` are
// initialised.
pub(crate) struct Cursor<'a> {
    start: *mut u8,
    at: *mut u8,
    end: *mut u8,
    brand: PhantomData<fn(&'a ()) -> &'a ()>,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `room`.
    #[inline(always)]
    pub(crate) fn new(room: Room<'a>) -> Cursor<'a> {
        Cursor { start: room.start, at: room.start, end: room.end, brand: PhantomData }
    }

    /// All that was written.
    #[inline(always)]
    pub(crate) fn finish(self) -> Written<'a> {
        Written { len: self.written(), brand: PhantomData }
    }

    /// The number of bytes written.
    #[inline(always)]
    pub(crate) fn written(&self) -> usize {
        self.at.addr() - self.start.addr()
    }

    /// The number of bytes that can still be written.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.end.addr() - self.at.addr()
    }

    /// Returns a window of `width` writable bytes, at most [`MAX_WINDOW`]: the room ahead, or `stage` if there is too little.
    #[inline(always)]
    pub(crate) fn window<'w>(&'w mut self, width: usize, stage: &'w mut Stage) -> Window<'w, 'a> {
        // Every width is a constant, so this is decided at compile time.
        assert!(width <= MAX_WINDOW);
        Window { cursor: self, width, stage }
    }

    /// Returns the place of the next byte.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.at
    }

    /// Keeps the next `len` bytes.
    ///
    /// # Safety
    ///
    /// `len <= self.room()`, and the caller has initialised these bytes.
    #[inline(always)]
    pub(crate) unsafe fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.room());
        // SAFETY: the caller vouches for `len <= room`, so `at` stays within the room.
        self.at = unsafe { self.at.add(len) };
    }

    /// Writes 64 to 128 bytes, if `bytes` are so many and there is room. No path of it is a call, which would make the
    /// caller save registers.
    #[inline(always)]
    pub(crate) fn push_ends(&mut self, bytes: &[u8]) -> bool {
        let fits = (64..=128).contains(&bytes.len()) && bytes.len() <= self.room();
        if fits {
            // SAFETY: `len` bytes, from 64 to 128, are readable in `bytes` and writable at `at`.
            unsafe {
                copy_ends::<64>(bytes.as_ptr(), self.at, bytes.len());
                self.at = self.at.add(bytes.len());
            }
        }
        fits
    }

    /// Writes up to 128 bytes without a call, others with one.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, bytes: &[u8]) {
        if !self.push_few(bytes) {
            self.push_slice(bytes);
        }
    }

    /// Writes up to 128 bytes, if `bytes` are no more and there is room. No path of it is a call.
    #[inline(always)]
    pub(crate) fn push_few(&mut self, bytes: &[u8]) -> bool {
        let (len, room) = (bytes.len(), self.room());
        if len > 64 || len > room {
            return self.push_ends(bytes);
        }
        // SAFETY: `len` bytes are readable in `bytes` and writable at `at`, and no function is given more.
        unsafe {
            let (from, to) = (bytes.as_ptr(), self.at);
            match len {
                32.. => copy_ends::<32>(from, to, len),
                16.. => copy_ends::<16>(from, to, len),
                8.. => copy_ends::<8>(from, to, len),
                4.. => copy_ends::<4>(from, to, len),
                2.. => copy_ends::<2>(from, to, len),
                1 => to.write(from.read()),
                0 => {}
            }
            self.at = to.add(len);
        }
        true
    }

    /// Writes the first `len` bytes of a word, little-endian, at most eight.
    #[inline(always)]
    pub(crate) fn push_word(&mut self, word: u64, len: usize) {
        let (bytes, len) = (word.to_le_bytes(), len.min(8));
        if self.room() < bytes.len() {
            return self.push_slice(&bytes[..len]);
        }
        // SAFETY: there is room for eight bytes, of which `len` count and are written.
        unsafe {
            self.at.cast::<[u8; 8]>().write(bytes);
            self.at = self.at.add(len);
        }
    }

    /// Writes an input of at most eight bytes with its escapes decoded, if there is room for eight. A `%` that starts no escape
    /// stays.
    #[inline(always)]
    pub(crate) fn push_unescaped(&mut self, input: &[u8]) -> bool {
        let fits = input.len() <= 8 && self.room() >= 8;
        if fits {
            let word = word::unescape(word::words(input)[0]);
            self.push_word(word.bytes, input.len() - word.dropped());
        }
        fits
    }

    /// Writes at most 64 bytes, each as it is or as an escape, as [`triple`] does.
    #[inline(always)]
    pub(crate) fn push_tripled(
        &mut self,
        bytes: &[u8],
        escapes: &[[u8; 4]; 256],
        escaped: impl FnMut(u8) -> u32,
    ) {
        const MOST: usize = 64;
        const WIDTH: usize = 3 * MOST + 1;
        let bytes = &bytes[..bytes.len().min(MOST)];
        let mut stage = Stage::new();
        let mut window = self.window(WIDTH, &mut stage);
        // SAFETY: the window has three bytes for each and one more, and `triple` wrote as many as it returns.
        unsafe {
            let len = triple(bytes, window.as_mut_ptr(), escapes, escaped);
            window.keep(len);
        }
    }

    /// Writes `bytes`. What has no room is not written; the verbs make room first, so this never happens.
    #[inline(always)]
    pub(crate) fn push_slice(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.room(), "the verb made too little room");
        let len = bytes.len().min(self.room());
        // SAFETY: `len` bytes are readable in `bytes` and writable at `at`; a shared and an exclusive borrow
        // do not overlap. `at` stays within the room.
        unsafe {
            self.at.copy_from_nonoverlapping(bytes.as_ptr(), len);
            self.at = self.at.add(len);
        }
    }
}

/// Bytes that vector code may write before it knows how many it keeps.
// INVARIANT: `width <= MAX_WINDOW`.
pub(crate) struct Window<'w, 'a> {
    cursor: &'w mut Cursor<'a>,
    width: usize,
    stage: &'w mut Stage,
}

impl Window<'_, '_> {
    #[inline(always)]
    fn is_direct(&self) -> bool {
        self.cursor.room() >= self.width
    }

    /// Returns a pointer to the writable bytes, as many as the window is wide.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        if self.is_direct() { self.cursor.as_mut_ptr() } else { self.stage.0.as_mut_ptr().cast() }
    }

    /// Keeps the first `len` bytes.
    ///
    /// # Safety
    ///
    /// `len` is at most the width, and the caller has initialised these bytes.
    #[inline(always)]
    pub(crate) unsafe fn keep(self, len: usize) {
        debug_assert!(len <= self.width);
        if self.is_direct() {
            // SAFETY: `len <= width <= room`, and the caller wrote these bytes at the cursor.
            unsafe { self.cursor.advance(len) };
        } else {
            // SAFETY: `len <= width <= MAX_WINDOW`, and the caller wrote these bytes of the stage.
            let staged = unsafe { core::slice::from_raw_parts(self.stage.0.as_ptr().cast::<u8>(), len) };
            self.cursor.push_slice(staged);
        }
    }
}

/// Copies from `N` to `2 * N` bytes: the first `N`, and the last, which may overlap these.
///
/// # Safety
///
/// `len >= N`; `len` bytes are readable at `from` and writable at `to`, and the two do not overlap.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: both pieces lie within the bytes that the caller vouches for.
    unsafe {
        to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read());
        to.add(len - N).cast::<[u8; N]>().write(from.add(len - N).cast::<[u8; N]>().read());
    }
}

/// Copies an input of at most [`FEW`] bytes if there is room and `look` says that it stays; one of less than four bytes is for
/// `fewer`. It is for callers that are inlined, for which a kernel's call would take longer than the copy.
#[inline(always)]
pub(crate) fn copy_few<'id>(
    input: &[u8],
    out: Room<'id>,
    look: impl Look,
    fewer: impl FnOnce(&[u8], Room<'id>) -> Option<Written<'id>>,
) -> Option<Written<'id>> {
    let len = input.len();
    if len > FEW {
        return None;
    }
    if len < 4 {
        return fewer(input, out);
    }
    if len > out.len() {
        return None;
    }
    // SAFETY: the input has as many bytes as the length says, and the room has no fewer.
    unsafe {
        if len >= 8 {
            copy_if::<8>(input, out, |a, b| look.sixteen(u64::from_le_bytes(a), u64::from_le_bytes(b)))
        } else {
            copy_if::<4>(input, out, |a, b| look.seven(len, u32::from_le_bytes(a), u32::from_le_bytes(b)))
        }
    }
}

/// What [`copy_few`] does, for an input of at most three bytes.
#[inline(always)]
pub(crate) fn copy_fewer<'id>(input: &[u8], out: Room<'id>, look: impl Look) -> Option<Written<'id>> {
    let len = input.len();
    if len == 0 {
        return Some(Written { len, brand: PhantomData });
    }
    if len > 3 || len > out.len() {
        return None;
    }
    // SAFETY: the input has as many bytes as the length says, and the room has no fewer.
    unsafe {
        if len >= 2 {
            copy_if::<2>(input, out, |a, b| look.three(len, u16::from_le_bytes(a), u16::from_le_bytes(b)))
        } else {
            copy_if::<1>(input, out, |[byte], _| look.one(byte))
        }
    }
}

/// Copies the first `N` bytes of `input` and the last `N`, which are all, if `stays` holds for these.
///
/// # Safety
///
/// The input has from `N` to `2 * N` bytes, and the room has no fewer.
#[inline(always)]
unsafe fn copy_if<'id, const N: usize>(
    input: &[u8],
    out: Room<'id>,
    stays: impl FnOnce([u8; N], [u8; N]) -> bool,
) -> Option<Written<'id>> {
    let len = input.len();
    let (from, to) = (input.as_ptr().cast::<[u8; N]>(), out.start.cast::<[u8; N]>());
    // SAFETY: both pieces lie within the bytes that the caller vouches for; together they are all of these.
    unsafe {
        let (start, end) = (from.read(), from.byte_add(len - N).read());
        if !stays(start, end) {
            return None;
        }
        to.write(start);
        if N > 1 {
            to.byte_add(len - N).write(end);
        }
    }
    Some(Written { len, brand: PhantomData })
}

/// Writes `bytes` to `to`, each as it is or as the first three bytes of its entry in `escapes`, whose fourth is the byte itself.
/// Returns how many bytes that are. There is no branch on what the bytes are. `escaped` is asked of each byte in turn; the lowest
/// bit of what it says is 1 for one that is escaped.
///
/// # Safety
///
/// Three bytes for each of `bytes`, and one more, are writable at `to`.
#[inline(always)]
pub(crate) unsafe fn triple(
    bytes: &[u8],
    to: *mut u8,
    escapes: &[[u8; 4]; 256],
    mut escaped: impl FnMut(u8) -> u32,
) -> usize {
    let mut at = to;
    // Eight at a time, so that the CPU predicts the number of rounds.
    let (groups, rest) = bytes.as_chunks::<8>();
    for group in groups {
        for &byte in group {
            // SAFETY: each byte before this one became at most three, so there is room for four.
            at = unsafe { triple_one(byte, at, escapes, escaped(byte) & 1) };
        }
    }
    for &byte in rest {
        // SAFETY: as above.
        at = unsafe { triple_one(byte, at, escapes, escaped(byte) & 1) };
    }
    at.addr() - to.addr()
}

/// Writes one byte, as [`triple`] says, and returns where that ends; all before that is written.
///
/// # Safety
///
/// Four bytes are writable at `to`; `escaped` is 0 or 1.
#[inline(always)]
unsafe fn triple_one(byte: u8, to: *mut u8, escapes: &[[u8; 4]; 256], escaped: u32) -> *mut u8 {
    // A shift leaves the byte. As a choice, the compiler would make it a branch.
    let both = u32::from_le_bytes(escapes[usize::from(byte)]) >> (escaped.wrapping_sub(1) & 24);
    // SAFETY: the caller vouches for four bytes, of which one or three count.
    unsafe {
        to.cast::<[u8; 4]>().write(both.to_le_bytes());
        to.add(1 + 2 * escaped as usize)
    }
}

/// What [`triple`] does, for an input of at most `MOST` bytes and if there is room to spare.
#[inline(always)]
pub(crate) fn triple_few<'id, const MOST: usize>(
    input: &[u8],
    out: Room<'id>,
    escapes: &[[u8; 4]; 256],
    escaped: impl Fn(u8) -> u32,
) -> Option<Written<'id>> {
    if input.len() > MOST || out.len() < 3 * MOST + 1 {
        return None;
    }
    // SAFETY: there is room for three bytes for each, and one more. So many as are counted are written.
    unsafe { Some(Written { len: triple(input, out.start, escapes, escaped), brand: PhantomData }) }
}

/// Lends initialised `memory` to `write`.
#[inline(always)]
pub(crate) fn lend_slice<R>(memory: &mut [u8], write: impl for<'id> FnOnce(Room<'id>) -> R) -> R {
    let range = memory.as_mut_ptr_range();
    // Cursors write initialised bytes only, so the memory stays initialised.
    write(Room { start: range.start, end: range.end, brand: PhantomData })
}

/// Lends `memory` to `write`, and returns the number of bytes at its start that are then initialised, with the other result.
#[inline(always)]
pub(crate) fn lend_counted<T>(
    memory: &mut [MaybeUninit<u8>],
    write: impl for<'id> FnOnce(Room<'id>) -> (Written<'id>, T),
) -> (usize, T) {
    let (written, more) = write(Room::new(memory));
    (written.len(), more)
}

/// Lends `memory` to `write`, and returns the bytes that it wrote, with its other result.
///
/// # Errors
///
/// The error of `write`.
#[inline(always)]
pub(crate) fn fill<T, E>(
    memory: &mut [MaybeUninit<u8>],
    write: impl for<'id> FnOnce(Room<'id>) -> Result<(Written<'id>, T), E>,
) -> Result<(&mut [u8], T), E> {
    let (written, more) = write(Room::new(memory))?;
    let written = written.len();
    let start = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: `write` accepts any `'id`, so it can have a `Written<'id>` only from the room made here. By its invariant, that
    // many bytes at the start of `memory` are initialised, and they stay borrowed as long as `memory`.
    Ok((unsafe { core::slice::from_raw_parts_mut(start, written) }, more))
}

/// The end of a vector, to which bytes can be appended and nothing else. Text stays text if what is appended is text.
// INVARIANT: no method changes the bytes that the vector held before, or its length except by appending.
#[cfg(feature = "alloc")]
pub(crate) struct Tail<'v>(&'v mut alloc::vec::Vec<u8>);

#[cfg(feature = "alloc")]
impl<'v> Tail<'v> {
    /// The end of `vec`.
    #[inline(always)]
    pub(crate) fn new(vec: &'v mut alloc::vec::Vec<u8>) -> Tail<'v> {
        Tail(vec)
    }

    /// The spare capacity in bytes.
    #[inline(always)]
    pub(crate) fn spare(&self) -> usize {
        self.0.capacity() - self.0.len()
    }

    /// Reserves `len` bytes and appends the bytes that `write` writes. Returns the other result of `write`.
    #[inline(always)]
    pub(crate) fn append<T>(
        &mut self,
        len: usize,
        write: impl for<'id> FnOnce(Room<'id>) -> (Written<'id>, T),
    ) -> T {
        self.0.reserve(len);
        // Read before the kernel is called: the compiler does not know that a kernel leaves the length alone.
        let before = self.0.len();
        let (written, more) = write(Room::new(self.0.spare_capacity_mut()));
        let written = written.len();
        // SAFETY: `write` accepts any `'id`, so it can have a `Written<'id>` only from the room made here. By its invariant,
        // that many bytes at the start of the spare capacity are initialised.
        unsafe { self.0.set_len(before + written) };
        more
    }

    /// Appends the bytes that `write` writes to the spare capacity. Returns `false` if it declines.
    #[inline(always)]
    pub(crate) fn append_short(
        &mut self,
        write: impl for<'id> FnOnce(Room<'id>) -> Option<Written<'id>>,
    ) -> bool {
        let before = self.0.len();
        let Some(written) = write(Room::new(self.0.spare_capacity_mut())) else { return false };
        let written = written.len();
        // For an empty input, a store would take longer than everything else.
        if written > 0 {
            // SAFETY: `write` accepts any `'id`, so it can have a `Written<'id>` only from the room made here. By its
            // invariant, that many bytes at the start of the spare capacity are initialised.
            unsafe { self.0.set_len(before + written) };
        }
        true
    }
}
