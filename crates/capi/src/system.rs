//! The panic handler and the access to environment variables. Both call functions of libc.

use core::ffi::{CStr, c_char};

// SAFETY: these are the declarations of the C standard. `abort` has no precondition, so it is safe to call.
unsafe extern "C" {
    safe fn abort() -> !;
    fn getenv(name: *const c_char) -> *const c_char;
}

/// Ends the process. A panic would be a bug in this library, and must not unwind into C.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    abort()
}

/// Returns the value of an environment variable, or `None` if it is not set.
///
/// # Safety
///
/// No other thread changes the environment during `'a`.
pub(crate) unsafe fn environment<'a>(name: &CStr) -> Option<&'a CStr> {
    // SAFETY: `CStr` ends with a NUL, and by the contract of this function the environment does not change.
    let value = unsafe { getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: C guarantees that a value of `getenv` ends with a NUL. By the contract of this function, nothing changes the
    // environment, so the value stays as it is.
    Some(unsafe { CStr::from_ptr(value) })
}
