//! Tells the nginx module whether servers read the path of a request differently.

use core::slice;

/// Returns 1 if two of the default servers of `simdpct_readings` route the request target differently, otherwise 0.
///
/// # Safety
///
/// `target` points to `len` initialised bytes, to which nothing writes during the call. If `len` is 0, it may be NULL.
// The attribute is sound, because no other library defines a symbol that begins with `simdpct_`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_is_ambiguous(target: *const u8, len: usize) -> i32 {
    if len == 0 {
        return 0;
    }
    // SAFETY: by the contract of this function, `target` points to `len` initialised bytes to which nothing writes. They are one
    // object in memory, so their number is at most `isize::MAX`.
    let target = unsafe { slice::from_raw_parts(target, len) };
    i32::from(readings::is_ambiguous(target))
}
