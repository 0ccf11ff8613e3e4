//! Pointers of the caller, as slices.
//!
//! What a caller can get wrong and what can be seen is `None` here and `SIMDPCT_INVALID` outside. What cannot be seen, such
//! as a length that is larger than the memory, is the caller's promise, which the header asks for.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use codec::batch::NullableBytes;

/// `simdpct_slice`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    data: *const u8,
    len: usize,
}

/// The `count` values at `data`. NULL is an empty slice if `count` is 0.
///
/// # Safety
///
/// Unless `data` is NULL or not aligned, `count` values are there, initialised, and nobody changes them during `'a`.
#[inline(always)]
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> Option<&'a [T]> {
    if !is_range(data, count) {
        return if count == 0 { Some(&[]) } else { None };
    }
    // SAFETY: the caller vouches for the values; the pointer is aligned and not NULL, and the size is one that exists.
    Some(unsafe { core::slice::from_raw_parts(data, count) })
}

/// Room for `count` values at `data`, or as many as can be.
///
/// # Safety
///
/// Unless `data` is NULL or not aligned, `count` values may be written there, and nobody else looks at them during `'a`.
#[inline(always)]
pub(crate) unsafe fn room<'a, T>(data: *mut T, count: usize) -> Option<&'a mut [MaybeUninit<T>]> {
    if !is_range(data, count) {
        return if count == 0 { Some(&mut []) } else { None };
    }
    // SAFETY: as in `slice`; the memory need not be initialised.
    Some(unsafe { core::slice::from_raw_parts_mut(data.cast(), count) })
}

/// Initialised values that may be changed.
///
/// # Safety
///
/// As of `room`, and the values are initialised.
#[inline(always)]
pub(crate) unsafe fn slice_mut<'a, T>(data: *mut T, count: usize) -> Option<&'a mut [T]> {
    if !is_range(data, count) {
        return if count == 0 { Some(&mut []) } else { None };
    }
    // SAFETY: as in `room`, and the caller vouches for the values.
    Some(unsafe { core::slice::from_raw_parts_mut(data, count) })
}

/// One value, or nothing for NULL.
///
/// # Safety
///
/// As of `slice`, unless `data` is NULL; and it is aligned.
#[inline(always)]
pub(crate) unsafe fn one<'a, T>(data: *const T) -> Option<&'a T> {
    // SAFETY: the caller vouches for it.
    unsafe { data.as_ref() }
}

/// The bytes of a string that ends with a NUL, or nothing for NULL.
///
/// # Safety
///
/// Unless `text` is NULL, a NUL is there, and nobody changes the bytes before it during `'a`.
pub(crate) unsafe fn text<'a>(text: *const core::ffi::c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for the NUL.
    Some(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Whether `count` values at `data` can be memory.
#[inline(always)]
fn is_range<T>(data: *const T, count: usize) -> bool {
    let size = count.checked_mul(size_of::<T>());
    !data.is_null()
        && data.is_aligned()
        && size.is_some_and(|size| isize::try_from(size).is_ok() && data.addr().checked_add(size).is_some())
}

/// A place and a size in memory, to find out what overlaps.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    start: usize,
    size: usize,
}

impl Range {
    #[inline(always)]
    pub(crate) fn new<T>(data: *const T, count: usize) -> Range {
        Range { start: data.addr(), size: count.saturating_mul(size_of::<T>()) }
    }

    /// Whether the two have no byte in common.
    #[inline(always)]
    pub(crate) fn is_apart_from(self, other: Range) -> bool {
        (self.start.wrapping_sub(other.start) >= other.size
            && other.start.wrapping_sub(self.start) >= self.size)
            || self.size == 0
            || other.size == 0
    }
}

impl Slice {
    pub(crate) fn range(&self) -> Range {
        Range::new(self.data, self.len)
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.len == 0 || is_range(self.data, self.len)
    }
}

/// The values of an array of slices.
///
/// # Safety
///
/// Every slice of `slices` is valid (`Slice::is_valid`), and its bytes are as for `slice`, as long as the result is used.
pub(crate) unsafe fn values<'a>(slices: &'a [Slice]) -> impl Iterator<Item: NullableBytes> + use<'a> {
    slices.iter().map(|value| {
        // SAFETY: the caller vouches for the bytes.
        let bytes: Option<&'a [u8]> = unsafe { slice(value.data, value.len) };
        bytes
    })
}
