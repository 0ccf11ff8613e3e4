//! What a program without `std` must say of panics, and the environment.

use core::ffi::{CStr, c_char};

unsafe extern "C" {
    fn abort() -> !;
    fn getenv(name: *const c_char) -> *const c_char;
}

/// A panic would be a bug in this library. It ends the process: callers of C functions have no way to go on.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: C's `abort` may be called at any time.
    unsafe { abort() }
}

/// The value of an environment variable, if there is one.
///
/// # Safety
///
/// No other thread changes the environment during `'a`.
pub(crate) unsafe fn environment<'a>(name: &CStr) -> Option<&'a [u8]> {
    // SAFETY: the name ends with a NUL.
    let value = unsafe { getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: C says that the value ends with a NUL, and the caller that it stays.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes())
}
