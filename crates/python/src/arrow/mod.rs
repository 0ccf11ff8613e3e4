//! Exchanges columns with other libraries, by the Arrow C data interface and its capsules for Python.
//!
//! The specification is <https://arrow.apache.org/docs/format/CDataInterface.html>, with its pages on streams and capsules. `import` checks
//! the structs of columns as far as it can: that nobody has released them, lengths, and the number, size and alignment of buffers. It
//! cannot check that a buffer is as long as its column requires; the producer promises that. The crate `simdpct-functions` checks each
//! offset and view that it reads.

mod export;
mod import;

use std::ffi::{CStr, c_char, c_int, c_void};

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;

pub(crate) use export::{array_capsule, build, schema_capsule, schema_of, stream_capsule};
pub(crate) use import::{Rejected, data_of, import, is_null_type, name_of, rows, type_of};

/// One of the three Arrow structs. It is released when it is dropped, unless a consumer has taken it over.
///
/// # Safety
///
/// The type is the C struct in capsules with the name `CAPSULE`. A value whose bytes are all 0 is valid and marked as released.
unsafe trait Struct: Send + 'static {
    /// The name that the PyCapsule interface gives to capsules with this struct.
    const CAPSULE: &'static CStr;
}

// SAFETY: this is the C struct `ArrowSchema`, of numbers and of pointers that may be NULL. It is released if `release` is NULL.
unsafe impl Struct for FFI_ArrowSchema {
    const CAPSULE: &'static CStr = c"arrow_schema";
}

// SAFETY: this is the C struct `ArrowArray`, of numbers and of pointers that may be NULL. It is released if `release` is NULL.
unsafe impl Struct for FFI_ArrowArray {
    const CAPSULE: &'static CStr = c"arrow_array";
}

// SAFETY: this is the C struct `ArrowArrayStream`, of numbers and of pointers that may be NULL. It is released if `release` is NULL.
unsafe impl Struct for ArrowArrayStream {
    const CAPSULE: &'static CStr = c"arrow_array_stream";
}

/// The Arrow C struct of a column in several arrays. It is released if `release` is `None`, whatever the other fields are.
// INVARIANT: if a stream is not released, its functions may be called as the interface allows, on any thread.
#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut FFI_ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut FFI_ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is not `None`, so the stream is not released, and by its invariant `release` may be called.
            unsafe { release(self) };
        }
    }
}

// SAFETY: by the invariant, the functions of a stream may be called on any thread.
unsafe impl Send for ArrowArrayStream {}

/// The format strings of the Arrow interface for the types of columns that this package takes.
const FORMATS: [(&CStr, DataType); 6] = [
    (c"u", DataType::Utf8),
    (c"U", DataType::LargeUtf8),
    (c"vu", DataType::Utf8View),
    (c"z", DataType::Binary),
    (c"Z", DataType::LargeBinary),
    (c"vz", DataType::BinaryView),
];
