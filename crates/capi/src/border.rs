//! The border between C and Rust: turns the pointers of a caller into references.
//!
//! A mistake that can be detected (NULL, a misaligned pointer, a size that no memory can have, an overlap) gives `None` or
//! `false` here. In C, it gives `SIMDPCT_INVALID`, or a result without a change or a member if the function returns no
//! status. A mistake that cannot be detected, such as a length that is larger than the memory, breaks the contract of the
//! C function.

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;

/// The struct `simdpct_slice` of the header: the address and the length of some bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    data: *const u8,
    len: usize,
}

/// Returns the `count` values at `data`, or `None` if `data` cannot point to them. The slice is empty if `count` is 0.
///
/// # Safety
///
/// If `data` is aligned and not NULL, it points to `count` initialised values, and nothing writes to them during `'a`.
#[inline(always)]
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> Option<&'a [T]> {
    if !is_array(data, count) {
        return if count == 0 { Some(&[]) } else { None };
    }
    // SAFETY: by `is_array`, the pointer is aligned and not NULL, and the array is at most `isize::MAX` bytes and does not wrap
    // around the end of the address space. By the contract of this function, there are `count` initialised values, which do not
    // change.
    Some(unsafe { core::slice::from_raw_parts(data, count) })
}

/// Returns the memory of `count` values at `data`, or `None` if `data` cannot point to it. The slice is empty if
/// `count` is 0.
///
/// # Safety
///
/// If `data` is aligned and not NULL, `count` values may be written there, and nothing else accesses them during `'a`.
#[inline(always)]
pub(crate) unsafe fn uninit<'a, T>(data: *mut T, count: usize) -> Option<&'a mut [MaybeUninit<T>]> {
    if !is_array(data, count) {
        return if count == 0 { Some(&mut []) } else { None };
    }
    // SAFETY: by `is_array`, the pointer is aligned and not NULL, and the array is at most `isize::MAX` bytes and does not wrap
    // around the end of the address space. By the contract of this function, this is the only access to the memory. Its content
    // does not matter: any bytes are a `MaybeUninit`.
    Some(unsafe { core::slice::from_raw_parts_mut(data.cast(), count) })
}

/// Returns the `count` values at `data` for writing, or `None` if `data` cannot point to them. The slice is empty if
/// `count` is 0.
///
/// # Safety
///
/// If `data` is aligned and not NULL, it points to `count` initialised values, and nothing else accesses them during `'a`.
#[inline(always)]
pub(crate) unsafe fn slice_mut<'a, T>(data: *mut T, count: usize) -> Option<&'a mut [T]> {
    // SAFETY: the contract of this function is that of `uninit`, and also demands initialised values.
    let values = unsafe { uninit(data, count) }?;
    // SAFETY: by the contract of this function, the values are initialised, and `MaybeUninit<T>` has the layout of `T`.
    Some(unsafe { &mut *(core::ptr::from_mut(values) as *mut [T]) })
}

/// Returns a reference to the value at `data`: `Some(None)` if `data` is NULL, and `None` if it is not aligned.
///
/// # Safety
///
/// If `data` is aligned and not NULL, it points to an initialised value, and nothing writes to that value during `'a`.
#[inline(always)]
pub(crate) unsafe fn optional<'a, T>(data: *const T) -> Option<Option<&'a T>> {
    if !data.is_aligned() {
        return None;
    }
    // SAFETY: the pointer is aligned, and if it is not NULL, it points to an initialised value that does not change, by the
    // contract of this function.
    Some(unsafe { data.as_ref() })
}

/// Returns the string at `text` without its NUL, or `None` for NULL.
///
/// # Safety
///
/// If `text` is not NULL, it points to a string that ends with a NUL, and nothing writes to that during `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the pointer is not NULL. By the contract of this function, the string ends with a NUL and does not change.
    Some(unsafe { CStr::from_ptr(text) })
}

/// Reports whether `count` values at `data` can be an array in memory.
#[inline(always)]
fn is_array<T>(data: *const T, count: usize) -> bool {
    let size = count.checked_mul(size_of::<T>());
    !data.is_null()
        && data.is_aligned()
        && size.is_some_and(|size| isize::try_from(size).is_ok() && data.addr().checked_add(size).is_some())
}

/// A range of addresses, which is compared with other ranges and never accessed.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    start: usize,
    size: usize,
}

impl Range {
    /// Returns the range of `count` values at `data`.
    #[inline(always)]
    pub(crate) fn new<T>(data: *const T, count: usize) -> Range {
        Range { start: data.addr(), size: count.saturating_mul(size_of::<T>()) }
    }

    /// Returns the range of the value at `data`, which is empty if `data` is NULL.
    #[inline(always)]
    pub(crate) fn one<T>(data: *const T) -> Range {
        Range::new(data, usize::from(!data.is_null()))
    }

    /// Reports whether this range and each of `others` have no byte in common.
    #[inline(always)]
    pub(crate) fn is_apart_from<const N: usize>(self, others: [Range; N]) -> bool {
        others.into_iter().all(|other| {
            (self.start.wrapping_sub(other.start) >= other.size
                && other.start.wrapping_sub(self.start) >= self.size)
                || self.size == 0
                || other.size == 0
        })
    }
}

/// Reports whether no range of `outputs` has a byte in common with one of `inputs`.
#[inline(never)]
pub(crate) fn are_apart(outputs: &[Range], inputs: &[Range]) -> bool {
    outputs.iter().all(|output| inputs.iter().all(|input| output.is_apart_from([*input])))
}

impl Slice {
    pub(crate) fn of(bytes: &[u8]) -> Slice {
        Slice { data: bytes.as_ptr(), len: bytes.len() }
    }

    #[inline(always)]
    pub(crate) fn range(&self) -> Range {
        Range::new(self.data, self.len)
    }

    /// Reports whether the slice is empty or can be an array in memory.
    #[inline(always)]
    pub(crate) fn is_valid(&self) -> bool {
        self.len == 0 || is_array(self.data, self.len)
    }
}

/// A slice of C whose bytes may be read for as long as the `Value` is borrowed.
#[repr(transparent)]
pub(crate) struct Value(Slice);

impl AsRef<[u8]> for Value {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        // SAFETY: only `values` makes a `Value`, and its caller guarantees that the bytes are initialised and do not change.
        unsafe { slice(self.0.data, self.0.len) }.unwrap_or(&[])
    }
}

/// Converts `slices` to values, whose bytes may be read.
///
/// # Safety
///
/// For each slice whose `data` is not NULL, `data` points to `len` initialised bytes, and nothing writes to them during the borrow.
pub(crate) unsafe fn values(slices: &[Slice]) -> &[Value] {
    // SAFETY: `Value` is a transparent wrapper of `Slice`, so the two arrays have the same layout. The contract of this function
    // makes the bytes of every `Value` readable.
    unsafe { &*(core::ptr::from_ref(slices) as *const [Value]) }
}
