//! Exports columns that this package has made, by the Arrow C data interface.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;

use super::{ArrowArray, ArrowArrayStream, ArrowSchema, FORMATS, Owned, Released};
use crate::part::{Data, Part, Shape, Type};

/// The private data of an exported array: it keeps the part alive that owns the buffers, and the array of pointers to them.
struct Exported {
    /// The owner of the buffers. Nothing reads this field.
    _part: Arc<Part>,
    pointers: Vec<*const c_void>,
    children: Children<ArrowArray>,
}

/// The children of a nested array or schema, and the pointers to them, which the Arrow interface requires.
struct Children<T: Released> {
    /// The owners of the children. A consumer may take the contents of a child; then it is marked as released.
    _owned: Vec<Owned<T>>,
    pointers: Vec<*mut T>,
}

impl<T: Released> Children<T> {
    fn new(children: impl Iterator<Item = T>) -> Children<T> {
        // SAFETY: the children are new, and only their owner releases them, or a consumer that marks them as released.
        let mut owned: Vec<_> = children.map(|child| unsafe { Owned::new(child) }).collect();
        let pointers = owned.iter_mut().map(|child| &raw mut *child.0).collect();
        Children { _owned: owned, pointers }
    }

    /// Returns the number of children, and the pointer to the pointers, which is NULL for zero children.
    fn fields(&mut self) -> (i64, *mut *mut T) {
        let start = if self.pointers.is_empty() { null_mut() } else { self.pointers.as_mut_ptr() };
        (self.pointers.len().cast_signed() as i64, start)
    }
}

/// Frees the memory of an array.
///
/// # Safety
///
/// `array` was made by `array_of`, and nobody has released it.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: by the caller's promise, the private data is the box that `array_of` made, and nobody has freed it.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Exported>()));
        (*array).release = None;
    }
}

/// Makes an Arrow array of the values of a part, without a copy.
pub(crate) fn array_of(part: &Arc<Part>) -> ArrowArray {
    let validity = part.validity().map_or(null(), |bits| bits.bytes().as_ptr().cast());
    let mut pointers: Vec<*const c_void> = vec![validity];
    match part.data() {
        Data::Small(column) => {
            pointers.extend([column.offsets().as_ptr().cast(), column.bytes().as_ptr().cast()]);
        }
        Data::Large(column) => {
            pointers.extend([column.offsets().as_ptr().cast(), column.bytes().as_ptr().cast()]);
        }
        Data::View(views) => {
            pointers.push(views.views().as_ptr().cast());
            pointers.extend(views.buffers().iter().map(|buffer| buffer.slice().as_ptr().cast::<c_void>()));
            pointers.push(views.lens().as_ptr().cast());
        }
        Data::Bool(bits) => pointers.push(bits.bytes().as_ptr().cast()),
        Data::Struct(_) => {}
        Data::List(offsets, _) => pointers.push(offsets.as_ptr().cast()),
    }
    let children = Children::new(part.data().children().iter().map(array_of));
    let mut exported = Box::new(Exported { _part: Arc::clone(part), pointers, children });
    let (n_children, children) = exported.children.fields();
    ArrowArray {
        length: part.len().cast_signed() as i64,
        null_count: part.nulls().cast_signed() as i64,
        n_buffers: exported.pointers.len().cast_signed() as i64,
        buffers: exported.pointers.as_ptr(),
        n_children,
        children,
        release: Some(release_array),
        private_data: Box::into_raw(exported).cast(),
        ..ArrowArray::NULL
    }
}

/// The private data of a schema. It is never NULL, which Polars would take to mean that the schema was released.
struct Described {
    name: CString,
    children: Children<ArrowSchema>,
}

/// Frees the memory of a schema.
///
/// # Safety
///
/// `schema` was made by `schema_of`, and nobody has released it.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: by the caller's promise, the private data is the box that `schema_of` made, and nobody has freed it.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<Described>()));
        (*schema).release = None;
    }
}

/// Makes the Arrow schema of a column with the type `class`.
pub(crate) fn schema_of(class: Type, name: CString) -> ArrowSchema {
    const NULLABLE: i64 = 2;
    let format = match class.shape {
        Shape::Flat => FORMATS.iter().find(|(_, known)| *known == class).map_or(c"b", |(format, _)| *format),
        Shape::Struct(_) => c"+s",
        Shape::List(_) => c"+L",
    };
    let child = |(name, of)| schema_of(of, CString::new::<&str>(name).unwrap_or_default());
    let children = Children::new(class.children().into_iter().map(child));
    let mut described = Box::new(Described { name, children });
    let (n_children, children) = described.children.fields();
    ArrowSchema {
        format: format.as_ptr(),
        name: described.name.as_ptr(),
        flags: NULLABLE,
        n_children,
        children,
        release: Some(release_schema),
        private_data: Box::into_raw(described).cast(),
        ..ArrowSchema::NULL
    }
}

/// The private data of a stream.
struct Stream {
    class: Type,
    parts: std::vec::IntoIter<Arc<Part>>,
}

/// Writes the schema of a stream to `out`.
///
/// # Safety
///
/// `stream` was made by `stream_of`, nobody has released it, and `out` is a place for a schema.
unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: by the caller's promise, the private data is a `Stream`, and `out` can be written.
    unsafe { out.write(schema_of((*(*stream).private_data.cast::<Stream>()).class, CString::default())) };
    0
}

/// Writes the next array of a stream to `out`. At the end of the stream, writes an array that is marked as released.
///
/// # Safety
///
/// `stream` was made by `stream_of`, nobody has released it, no other thread uses it, and `out` is a place for an array.
unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: by the caller's promise, the private data is a `Stream` that nobody else uses, and `out` can be written.
    unsafe {
        let next = (*(*stream).private_data.cast::<Stream>()).parts.next();
        out.write(next.map_or(ArrowArray::NULL, |part| array_of(&part)));
    }
    0
}

/// Returns no message, because no function of these streams fails. It does not use its argument.
unsafe extern "C" fn stream_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

/// Frees the memory of a stream.
///
/// # Safety
///
/// `stream` was made by `stream_of`, and nobody has released it.
unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: by the caller's promise, the private data is the box that `stream_of` made, and nobody has freed it.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Stream>()));
        (*stream).release = None;
    }
}

fn stream_of(class: Type, parts: Vec<Arc<Part>>) -> ArrowArrayStream {
    ArrowArrayStream {
        get_schema: Some(stream_schema),
        get_next: Some(stream_next),
        get_last_error: Some(stream_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(Stream { class, parts: parts.into_iter() })).cast(),
    }
}

/// Frees the Arrow struct in a capsule, and releases it unless a consumer has taken it over.
///
/// # Safety
///
/// CPython calls this once with a capsule of `capsule_of`, when it frees the capsule.
unsafe extern "C" fn drop_capsule<T: Released>(capsule: *mut ffi::PyObject) {
    // SAFETY: the pointer of the capsule is the box that `capsule_of` made, and only this function frees it. The pointer is
    // NULL if somebody has renamed the capsule; then the exception is cleared and the memory leaks.
    unsafe {
        let inside = ffi::PyCapsule_GetPointer(capsule, T::CAPSULE.as_ptr()).cast::<T>();
        if inside.is_null() {
            ffi::PyErr_Clear();
        } else {
            drop(Owned(Box::from_raw(inside)));
        }
    }
}

fn capsule_of<T: Released>(py: Python<'_>, inside: T) -> PyResult<Bound<'_, PyAny>> {
    let inside = Box::into_raw(Box::new(inside));
    // SAFETY: `py` proves that the thread is attached. The pointer is not NULL, and the name is a constant. If CPython makes no
    // capsule, only this function has the box.
    unsafe {
        let capsule = ffi::PyCapsule_New(inside.cast(), T::CAPSULE.as_ptr(), Some(drop_capsule::<T>));
        if capsule.is_null() {
            drop(Owned(Box::from_raw(inside)));
            return Err(PyErr::fetch(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule))
    }
}

pub(crate) fn schema_capsule(py: Python<'_>, class: Type) -> PyResult<Bound<'_, PyAny>> {
    capsule_of(py, schema_of(class, CString::default()))
}

pub(crate) fn array_capsule<'py>(py: Python<'py>, part: &Arc<Part>) -> PyResult<Bound<'py, PyAny>> {
    capsule_of(py, array_of(part))
}

pub(crate) fn stream_capsule(
    py: Python<'_>,
    class: Type,
    parts: Vec<Arc<Part>>,
) -> PyResult<Bound<'_, PyAny>> {
    capsule_of(py, stream_of(class, parts))
}
