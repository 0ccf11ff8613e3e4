//! Columns from and to other libraries, by the Arrow C data interface and its capsules for Python.
//!
//! The interface: <https://arrow.apache.org/docs/format/CDataInterface.html>, CStreamInterface and PyCapsuleInterface. `import`
//! checks columns as far as it can: layout, number and alignment of buffers, offsets, views. It cannot check that a buffer is
//! as long as its column requires; the producer promises that.

mod export;
mod import;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

pub(crate) use export::{array_capsule, array_of, schema_capsule, schema_of, stream_capsule};
pub(crate) use import::{Imported, Input, Rejected, Stored, class_of, import, is_null_type, name_of};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::part::{Layout, Type};

/// The Arrow C struct of the type of a column.
// INVARIANT: a schema that is not released is valid by the interface: its strings and children live as long as the schema.
// Schemas come from `schema_of`, or from producers, which promise this.
#[repr(C)]
pub(crate) struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// The Arrow C struct of the data of a column.
// INVARIANT: an array that is not released is valid by the interface: `buffers` has `n_buffers` pointers and `children` has
// `n_children`, which live as long as the array. Arrays come from `array_of`, or from producers, which promise this.
#[repr(C)]
pub(crate) struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// The Arrow C struct of a column in several arrays.
// INVARIANT: if a stream is not released, its functions may be called as the interface allows.
#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// One of the three Arrow structs. Its owner calls its `release` exactly once, unless `release` is `None`.
pub(crate) trait Released: Sized {
    /// The name that the PyCapsule interface gives to capsules with this struct.
    const CAPSULE: &'static CStr;
    /// A value of the struct that is marked as released.
    const NULL: Self;

    /// Calls the function `release` of the struct, if there is one.
    fn release(&mut self);
}

macro_rules! released {
    ($($name:ident $capsule:literal { $($field:ident: $empty:expr),* })*) => {$(
        impl Released for $name {
            const CAPSULE: &'static CStr = $capsule;
            const NULL: $name = $name { $($field: $empty,)* release: None, private_data: null_mut() };

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: `release` is not `None`, so the struct is not released, and by its invariant `release` may be
                    // called.
                    unsafe { release(self) };
                    self.release = None;
                }
            }
        }
    )*};
}
released! {
    ArrowSchema c"arrow_schema" {
        format: null(), name: null(), metadata: null(), flags: 0, n_children: 0, children: null_mut(), dictionary: null_mut()
    }
    ArrowArray c"arrow_array" {
        length: 0, null_count: 0, offset: 0, n_buffers: 0, n_children: 0, buffers: null(), children: null_mut(),
        dictionary: null_mut()
    }
    ArrowArrayStream c"arrow_array_stream" { get_schema: None, get_next: None, get_last_error: None }
}

/// An Arrow struct that is released when its owner is dropped.
// INVARIANT: nobody else releases the struct.
pub(crate) struct Owned<T: Released>(Box<T>);

impl<T: Released> Owned<T> {
    fn null() -> Owned<T> {
        Owned(Box::new(T::NULL))
    }

    /// Takes a struct over.
    ///
    /// # Safety
    ///
    /// Nobody else releases the struct.
    pub(crate) unsafe fn new(inside: T) -> Owned<T> {
        Owned(Box::new(inside))
    }

    pub(crate) fn get(&self) -> &T {
        &self.0
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// Takes over the struct in a capsule, and leaves a struct in the capsule that is marked as released.
    fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Owned<T>> {
        // SAFETY: `capsule` is a live object. If it is not a capsule with this name, CPython returns NULL and sets an
        // exception.
        let inside = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::CAPSULE.as_ptr()) }.cast::<T>();
        if inside.is_null() {
            return Err(PyErr::fetch(capsule.py()));
        }
        let mut owned = Owned::null();
        // SAFETY: by the PyCapsule interface, a capsule with this name contains such a struct, which may be moved. The thread
        // has the GIL, so nobody else uses the capsule, whose destructor then finds a struct that is marked as released.
        unsafe { std::ptr::swap(inside, &raw mut *owned.0) };
        Ok(owned)
    }
}

impl<T: Released> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

// SAFETY: the Arrow interface allows a consumer to release a struct on any thread.
unsafe impl<T: Released> Send for Owned<T> {}
// SAFETY: nothing writes through a shared reference, and by the Arrow interface the buffers of an array do not change.
unsafe impl<T: Released> Sync for Owned<T> {}

/// The format strings of the Arrow interface for the column types that this package supports.
const FORMATS: [(&CStr, Type); 7] = [
    (c"u", Type::flat(Layout::Small, true)),
    (c"U", Type::flat(Layout::Large, true)),
    (c"vu", Type::flat(Layout::View, true)),
    (c"z", Type::flat(Layout::Small, false)),
    (c"Z", Type::flat(Layout::Large, false)),
    (c"vz", Type::flat(Layout::View, false)),
    (c"b", Type::flat(Layout::Bool, false)),
];
