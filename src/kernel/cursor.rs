//! Output memory. All pointer arithmetic outside `isa/` is in this module.
//!
//! A verb (a public operation) lends its memory as an [`OutputSpan`]. A kernel (the code of a conversion) writes to it
//! through a [`Cursor`] and returns how much it has [`Written`]. Vector code writes whole registers, so it asks for a
//! *window* wider than the bytes it keeps. Near the end of the memory the window is a [`Stage`] on the stack, and the
//! kept bytes are copied from it. Nothing is written outside the memory, and a verb that has checked the capacity once
//! needs no check per byte. "lab: NAME" names docs/lab/DATE-NAME.md.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernel::word::{LONGEST_SHORT, ShortCheck};

/// The widest window that an operation may ask for: three bytes for each of 64 lanes, and 64 bytes of slack.
pub(crate) const MAX_WINDOW: usize = 64 * 3 + 64;

/// Memory on the stack for a window that does not fit into the caller's memory.
pub(crate) struct Stage([MaybeUninit<u8>; MAX_WINDOW]);

impl Stage {
    #[inline(always)]
    pub(crate) fn new() -> Stage {
        Stage([const { MaybeUninit::uninit() }; MAX_WINDOW])
    }
}

/// The memory that one conversion may write to.
///
/// Only this module makes an `OutputSpan`, and it lends each one to a closure that has to accept any lifetime `'id`. So two
/// `OutputSpan`s in the same code never have the same `'id`, unless one is a copy of the other, and a [`Written`] can only
/// belong to the `OutputSpan` of its own `'id`.
// INVARIANT: `start <= end`. Both point into one allocation that is borrowed mutably while the `OutputSpan` is lent, and the bytes
// between them are writable. The lifetime is invariant, so it cannot be shortened to that of another `OutputSpan`. Copies denote the
// same memory.
#[derive(Clone, Copy)]
pub struct OutputSpan<'id> {
    // A call passes both pointers in registers. A pointer and a length take about as long (lab: kernels).
    start: *mut u8,
    end: *mut u8,
    brand: PhantomData<fn(&'id ()) -> &'id ()>,
}

impl<'id> OutputSpan<'id> {
    /// Makes an `OutputSpan` of `memory`. This is private, because code that makes its own `OutputSpan` could forge a [`Written`].
    #[inline(always)]
    fn new(memory: &'id mut [MaybeUninit<u8>]) -> OutputSpan<'id> {
        let range = memory.as_mut_ptr_range();
        OutputSpan { start: range.start.cast(), end: range.end.cast(), brand: PhantomData }
    }

    /// Returns the capacity in bytes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.end.addr() - self.start.addr()
    }
}

/// The number of bytes written to an [`OutputSpan`].
// INVARIANT: the first `len` bytes of the `OutputSpan` with the lifetime `'id` are initialised.
pub struct Written<'id> {
    len: usize,
    brand: PhantomData<fn(&'id ()) -> &'id ()>,
}

impl Written<'_> {
    /// The result if nothing was written.
    pub(crate) const NOTHING: Self = Written { len: 0, brand: PhantomData };

    /// Returns the number of bytes written.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// A position in the memory of an [`OutputSpan`].
// INVARIANT: `start <= at <= end`, where `start` and `end` are those of an [`OutputSpan`]; the bytes from `start` to `at` are
// initialised.
pub(crate) struct Cursor<'a> {
    start: *mut u8,
    at: *mut u8,
    end: *mut u8,
    brand: PhantomData<fn(&'a ()) -> &'a ()>,
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at the start of `room`.
    #[inline(always)]
    pub(crate) fn new(room: OutputSpan<'a>) -> Cursor<'a> {
        Cursor { start: room.start, at: room.start, end: room.end, brand: PhantomData }
    }

    /// Returns the number of bytes written, as proof that they are initialised.
    #[inline(always)]
    pub(crate) fn finish(self) -> Written<'a> {
        Written { len: self.written(), brand: PhantomData }
    }

    /// Returns the address of the next byte to write.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.at.addr()
    }

    /// Returns the number of bytes written.
    #[inline(always)]
    pub(crate) fn written(&self) -> usize {
        self.at.addr() - self.start.addr()
    }

    /// Returns the number of bytes that can still be written.
    #[inline(always)]
    pub(crate) fn spare(&self) -> usize {
        self.end.addr() - self.at.addr()
    }

    /// Reports whether [`MAX_WINDOW`] bytes can still be written.
    #[inline(always)]
    pub(crate) fn has_window(&self) -> bool {
        // In a loop, `end - MAX_WINDOW` stays in a register, so this is one comparison. `spare` would be computed in
        // each round (lab: kernels).
        let has = self.at.addr() <= self.end.addr().saturating_sub(MAX_WINDOW);
        if has {
            // SAFETY: the address of `at` is not zero, because an `OutputSpan` is made of a reference. So `has` shows that the
            // difference was not saturated, and that `at` is at least `MAX_WINDOW` bytes before `end`.
            unsafe { core::hint::assert_unchecked(self.spare() >= MAX_WINDOW) };
        }
        has
    }

    /// Returns a window of `width` writable bytes, at most [`MAX_WINDOW`]: the next bytes of the output, or `stage` if fewer
    /// are left.
    #[inline(always)]
    pub(crate) fn window<'w>(&'w mut self, width: usize, stage: &'w mut Stage) -> Window<'w, 'a> {
        assert!(width <= MAX_WINDOW);
        Window { cursor: self, width, stage }
    }

    /// Returns a pointer to the next byte to write.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.at
    }

    /// Advances the cursor over the next `len` bytes, which the caller has written.
    ///
    /// # Safety
    ///
    /// `len <= self.spare()`, and the caller has initialised these bytes.
    #[inline(always)]
    pub(crate) unsafe fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.spare());
        // SAFETY: the caller guarantees `len <= self.spare()`, so `at` stays at or before `end`.
        self.at = unsafe { self.at.add(len) };
    }

    /// Writes `bytes` and returns `true` if there are 64 to 128 bytes and they fit. Calls no function, because a call
    /// would make its caller save registers (lab: kernels).
    #[inline(always)]
    pub(crate) fn push_ends(&mut self, bytes: &[u8]) -> bool {
        let fits = (64..=128).contains(&bytes.len()) && bytes.len() <= self.spare();
        if fits {
            // SAFETY: `fits` holds, so `bytes` has 64 to 128 bytes and as many are writable at `at`. `bytes` is borrowed and the
            // output only writable through `self`, so they do not overlap.
            unsafe {
                copy_ends::<64>(bytes.as_ptr(), self.at, bytes.len());
                self.at = self.at.add(bytes.len());
            }
        }
        fits
    }

    /// Writes `bytes`. Up to 128 bytes are written without a function call.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, bytes: &[u8]) {
        if !self.push_short(bytes) {
            self.push_slice(bytes);
        }
    }

    /// Writes `bytes` and returns `true` if there are at most 128 bytes and they fit. Calls no function.
    #[inline(always)]
    pub(crate) fn push_short(&mut self, bytes: &[u8]) -> bool {
        let (len, spare) = (bytes.len(), self.spare());
        if len > 64 || len > spare {
            return self.push_ends(bytes);
        }
        // SAFETY: `len` bytes are readable in `bytes` and, as `len <= spare`, writable at `at`. Each arm copies `len` bytes,
        // with `N <= len <= 2 * N`. `bytes` is borrowed and the output only writable through `self`, so they do not overlap.
        unsafe {
            let (from, to) = (bytes.as_ptr(), self.at);
            match len {
                33.. => copy_ends::<32>(from, to, len),
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

    /// Writes the first `len` of `bytes`. If there is capacity for all `N` bytes, all are stored, without a branch on `len`.
    #[inline(always)]
    pub(crate) fn push_part<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        let len = len.min(N);
        if self.spare() < N {
            return self.push_slice(&bytes[..len]);
        }
        // SAFETY: the check above leaves at least `N` writable bytes at `at`. All are written, and `len <= N` of them are kept.
        unsafe {
            self.at.cast::<[u8; N]>().write(*bytes);
            self.at = self.at.add(len);
        }
    }

    /// Writes the first 64 of `bytes`, each unchanged or as an escape. See [`triple`] for the arguments.
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
        // SAFETY: the window has `3 * MOST + 1` writable bytes, which is what `triple` needs. `triple` has initialised the
        // `len` bytes that it returns.
        unsafe {
            let len = triple(bytes, window.as_mut_ptr(), escapes, escaped);
            window.keep(len);
        }
    }

    /// Writes `bytes`. Bytes that do not fit are not written, but verbs reserve enough capacity, so all fit.
    #[inline(always)]
    pub(crate) fn push_slice(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.spare(), "the verb reserved too little capacity");
        let len = bytes.len().min(self.spare());
        // SAFETY: `len` bytes are readable in `bytes` and, as `len <= spare`, writable at `at`. A shared and an exclusive borrow
        // do not overlap. `at` stays at or before `end`.
        unsafe {
            self.at.copy_from_nonoverlapping(bytes.as_ptr(), len);
            self.at = self.at.add(len);
        }
    }
}

/// Writable bytes for vector code that writes more than it keeps.
// INVARIANT: `width <= MAX_WINDOW`.
pub(crate) struct Window<'w, 'a> {
    cursor: &'w mut Cursor<'a>,
    width: usize,
    stage: &'w mut Stage,
}

impl Window<'_, '_> {
    #[inline(always)]
    fn is_direct(&self) -> bool {
        self.cursor.spare() >= self.width
    }

    /// Returns a pointer to the writable bytes of the window. Their number is its width.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        if self.is_direct() { self.cursor.as_mut_ptr() } else { self.stage.0.as_mut_ptr().cast() }
    }

    /// Adds the first `len` bytes of the window to the output. If the window is part of the output, this advances the cursor. If
    /// the window is the stage, this copies the bytes.
    ///
    /// # Safety
    ///
    /// `len` is at most the width of the window, and the caller has initialised the first `len` bytes of the window.
    #[inline(always)]
    pub(crate) unsafe fn keep(self, len: usize) {
        debug_assert!(len <= self.width);
        if self.is_direct() {
            // SAFETY: the caller guarantees `len <= width`, `is_direct` shows `width <= spare`, and the caller wrote these bytes
            // at the cursor.
            unsafe { self.cursor.advance(len) };
        } else {
            // SAFETY: the caller guarantees `len <= width`, which is at most `MAX_WINDOW` by the invariant. The window is not direct, so
            // the caller wrote these bytes to the stage.
            let staged = unsafe { core::slice::from_raw_parts(self.stage.0.as_ptr().cast::<u8>(), len) };
            self.cursor.push_slice(staged);
        }
    }
}

/// Copies `len` bytes as two pieces, the first `N` bytes and the last `N`, which may overlap.
///
/// # Safety
///
/// `N <= len <= 2 * N`; `len` bytes are readable at `from` and writable at `to`, and the two do not overlap.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: `len >= N`, so both pieces are inside the `len` bytes that the caller guarantees.
    unsafe {
        to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read());
        to.add(len - N).cast::<[u8; N]>().write(from.add(len - N).cast::<[u8; N]>().read());
    }
}

/// Copies an input of at most [`LONGEST_SHORT`] bytes if it fits and `check` reports that it stays unchanged. Otherwise
/// returns `None`. Passes inputs of fewer than four bytes to `fewer`. This function is inlined, because a call of a
/// kernel takes longer than the copy (lab: call-overhead).
#[inline(always)]
pub(crate) fn copy_short<'id>(
    input: &[u8],
    out: OutputSpan<'id>,
    check: impl ShortCheck,
    fewer: impl FnOnce(&[u8], OutputSpan<'id>) -> Option<Written<'id>>,
) -> Option<Written<'id>> {
    let len = input.len();
    if len > LONGEST_SHORT {
        return None;
    }
    if len < 4 {
        return fewer(input, out);
    }
    if len > out.len() {
        return None;
    }
    // SAFETY: `len` is at most `LONGEST_SHORT`, so it is from 8 to 16 or from 4 to 7, and `out` has at least `len` bytes.
    unsafe {
        if len >= 8 {
            copy_if::<8>(input, out, |a, b| check.len_8_to_16(u64::from_le_bytes(a), u64::from_le_bytes(b)))
        } else {
            copy_if::<4>(input, out, |a, b| {
                check.len_4_to_7(len, u32::from_le_bytes(a), u32::from_le_bytes(b))
            })
        }
    }
}

/// Copies an input of at most three bytes if it fits and `check` reports that it stays unchanged. Otherwise returns `None`.
#[inline(always)]
pub(crate) fn copy_tiny<'id>(
    input: &[u8],
    out: OutputSpan<'id>,
    check: impl ShortCheck,
) -> Option<Written<'id>> {
    let len = input.len();
    if len == 0 {
        return Some(Written { len, brand: PhantomData });
    }
    if len > 3 || len > out.len() {
        return None;
    }
    // SAFETY: `len` is 2 or 3 if `N` is 2, and 1 if `N` is 1. `out` has at least `len` bytes.
    unsafe {
        if len >= 2 {
            copy_if::<2>(input, out, |a, b| {
                check.len_2_to_3(len, u16::from_le_bytes(a), u16::from_le_bytes(b))
            })
        } else {
            copy_if::<1>(input, out, |[byte], _| check.len_1(byte))
        }
    }
}

/// Copies an input if `stays` holds for its first `N` bytes and its last `N`, which may overlap. Otherwise returns `None`.
///
/// # Safety
///
/// The input has from `N` to `2 * N` bytes, or one byte if `N` is 1, and `out` has at least as many.
#[inline(always)]
unsafe fn copy_if<'id, const N: usize>(
    input: &[u8],
    out: OutputSpan<'id>,
    stays: impl FnOnce([u8; N], [u8; N]) -> bool,
) -> Option<Written<'id>> {
    let len = input.len();
    let (from, to) = (input.as_ptr().cast::<[u8; N]>(), out.start.cast::<[u8; N]>());
    // SAFETY: `len >= N`, so both pieces are inside the `len` bytes that the caller guarantees for `input` and `out`. The two cover all
    // `len` bytes, because `len <= 2 * N`; if `N` is 1, `len` is 1, and the first is enough.
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

/// Writes each of `bytes` to `to`, either unchanged or as an escape, without a branch on their content. An entry of `escapes`
/// has the three bytes of an escape and then the byte itself. `escaped` is called for each byte in turn, and the lowest bit of
/// its result is 1 if the byte is to be escaped. Returns the number of bytes written.
///
/// # Safety
///
/// `3 * bytes.len() + 1` bytes are writable at `to`.
#[inline(always)]
pub(crate) unsafe fn triple(
    bytes: &[u8],
    to: *mut u8,
    escapes: &[[u8; 4]; 256],
    mut escaped: impl FnMut(u8) -> u32,
) -> usize {
    let mut at = to;
    // The loop converts eight bytes a round, so that the CPU can predict the number of rounds (lab: ladders).
    let (groups, rest) = bytes.as_chunks::<8>();
    for group in groups {
        for &byte in group {
            // SAFETY: each byte before this one became at most three, and the caller guarantees three for each byte and one
            // more. So four bytes are writable at `at`.
            at = unsafe { triple_one(byte, at, escapes, escaped(byte) & 1) };
        }
    }
    for &byte in rest {
        // SAFETY: the bytes before this one became at most three each, so four bytes are writable at `at`.
        at = unsafe { triple_one(byte, at, escapes, escaped(byte) & 1) };
    }
    at.addr() - to.addr()
}

/// Writes one byte, unchanged or as an escape, and returns the pointer after it. See [`triple`] for the arguments.
///
/// # Safety
///
/// Four bytes are writable at `to`, and `escaped` is 0 or 1.
#[inline(always)]
unsafe fn triple_one(byte: u8, to: *mut u8, escapes: &[[u8; 4]; 256], escaped: u32) -> *mut u8 {
    // A shift by 24 bits leaves the byte itself. The compiler would turn an `if` into a branch (lab: call-overhead).
    let both = u32::from_le_bytes(escapes[usize::from(byte)]) >> (escaped.wrapping_sub(1) & 24);
    // SAFETY: the caller guarantees four writable bytes at `to`, and the new pointer is one or three bytes after it.
    unsafe {
        to.cast::<[u8; 4]>().write(both.to_le_bytes());
        to.add(1 + 2 * escaped as usize)
    }
}

/// Writes an input of at most `MOST` bytes, each unchanged or as an escape. See [`triple`] for the arguments. Returns `None` if
/// the input is longer, or if `out` has no capacity for `3 * MOST + 1` bytes.
#[inline(always)]
pub(crate) fn triple_tiny<'id, const MOST: usize>(
    input: &[u8],
    out: OutputSpan<'id>,
    escapes: &[[u8; 4]; 256],
    escaped: impl Fn(u8) -> u32,
) -> Option<Written<'id>> {
    if input.len() > MOST || out.len() < 3 * MOST + 1 {
        return None;
    }
    // SAFETY: `out` has `3 * MOST + 1` bytes, which is what `triple` needs for an input of at most `MOST` bytes. `triple`
    // initialised as many bytes as it returns.
    unsafe { Some(Written { len: triple(input, out.start, escapes, escaped), brand: PhantomData }) }
}

/// Lends initialised `memory` to `write` as an [`OutputSpan`]. `write` gets `operands` as an argument, because a closure that captures them
/// may be compiled as a separate function, with its captures in memory (lab: weight).
#[inline(always)]
pub(crate) fn lend_slice<A, R>(
    memory: &mut [u8],
    operands: A,
    write: impl for<'id> FnOnce(A, OutputSpan<'id>) -> R,
) -> R {
    let range = memory.as_mut_ptr_range();
    // A cursor only writes initialised bytes, so the memory stays initialised.
    write(operands, OutputSpan { start: range.start, end: range.end, brand: PhantomData })
}

/// Lends `memory` to `write`. Returns the number of bytes at its start that `write` initialised, and the other result of
/// `write`.
#[inline(always)]
pub(crate) fn lend_counted<T>(
    memory: &mut [MaybeUninit<u8>],
    write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T),
) -> (usize, T) {
    let (written, more) = write(OutputSpan::new(memory));
    (written.len(), more)
}

/// Lends `memory` to `write`. Returns the bytes that `write` wrote, and its other result.
///
/// # Errors
///
/// Returns the error of `write`.
#[inline(always)]
pub(crate) fn fill<T, E>(
    memory: &mut [MaybeUninit<u8>],
    write: impl for<'id> FnOnce(OutputSpan<'id>) -> Result<(Written<'id>, T), E>,
) -> Result<(&mut [u8], T), E> {
    let (written, more) = write(OutputSpan::new(memory))?;
    let written = written.len();
    let start = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: `write` accepts any `'id`, so its `Written<'id>` counts no bytes or comes from the `OutputSpan` made here. By the invariant of
    // `Written`, that many bytes at the start of `memory` are initialised. They stay borrowed as long as `memory`.
    Ok((unsafe { core::slice::from_raw_parts_mut(start, written) }, more))
}

/// The end of a vector, to which bytes can only be appended. So a vector of valid UTF-8 stays valid if the appended bytes are
/// valid UTF-8.
// INVARIANT: no method changes or removes the bytes that the vector held before.
#[cfg(feature = "alloc")]
pub(crate) struct Tail<'v>(&'v mut alloc::vec::Vec<u8>);

#[cfg(feature = "alloc")]
impl<'v> Tail<'v> {
    /// Makes a tail of `vec`.
    #[inline(always)]
    pub(crate) fn new(vec: &'v mut alloc::vec::Vec<u8>) -> Tail<'v> {
        Tail(vec)
    }

    /// Returns the spare capacity in bytes.
    #[inline(always)]
    pub(crate) fn spare(&self) -> usize {
        self.0.capacity() - self.0.len()
    }

    /// Reserves `len` bytes and appends the bytes that `write` writes. Returns the other result of `write`.
    #[inline(always)]
    pub(crate) fn append<T>(
        &mut self,
        len: usize,
        write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T),
    ) -> T {
        self.append_if(len, write, |_| true)
    }

    /// Reserves `len` bytes and appends the bytes that `write` writes, if `accept` returns `true` for the other result of `write`. Returns
    /// that result.
    #[inline(always)]
    pub(crate) fn append_if<T>(
        &mut self,
        len: usize,
        write: impl for<'id> FnOnce(OutputSpan<'id>) -> (Written<'id>, T),
        accept: impl FnOnce(&T) -> bool,
    ) -> T {
        self.0.reserve(len);
        let before = self.0.len();
        let (written, more) = write(OutputSpan::new(self.0.spare_capacity_mut()));
        let written = written.len();
        if accept(&more) {
            // SAFETY: `write` accepts any `'id`, so its `Written<'id>` counts no bytes or comes from the `OutputSpan` made here. By the invariant of
            // `Written`, that many bytes at the start of the spare capacity are initialised.
            unsafe { self.0.set_len(before + written) };
        }
        more
    }

    /// Appends the bytes that `write` writes to the spare capacity. Returns `false` if `write` returns `None`.
    #[inline(always)]
    pub(crate) fn append_short(
        &mut self,
        write: impl for<'id> FnOnce(OutputSpan<'id>) -> Option<Written<'id>>,
    ) -> bool {
        let before = self.0.len();
        let Some(written) = write(OutputSpan::new(self.0.spare_capacity_mut())) else { return false };
        let written = written.len();
        // For an empty input, storing the length would take longer than all other work (lab: ladders).
        if written > 0 {
            // SAFETY: `write` accepts any `'id`, so its `Written<'id>` counts no bytes or comes from the `OutputSpan` made here. By the
            // invariant of `Written`, that many bytes at the start of the spare capacity are initialised.
            unsafe { self.0.set_len(before + written) };
        }
        true
    }
}
