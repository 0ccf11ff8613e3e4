//! Exports columns that this package has made, by the Arrow C data interface.

use std::ffi::{c_char, c_int};
use std::ptr::null;

use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use functions::columns::{self, Column, Parts};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{ArrowArrayStream, Struct};

/// Makes an array of results. It is not checked, because the functions guarantee that their results are valid.
pub(crate) fn build(parts: Parts) -> Result<ArrayData, ArrowError> {
    // SAFETY: only the crate `simdpct-functions` can make `Parts`, and by their promise they have offsets in order that end in their
    // buffer, views of values in their buffers, and nulls and children of the right lengths. Text is as valid as the texts that it was
    // made from. This package never reads values of an array without checks.
    Ok(unsafe { columns::builder(parts).build_unchecked() })
}

/// Makes the Arrow schema of a column.
pub(crate) fn schema_of(of: &DataType, name: &str) -> FFI_ArrowSchema {
    // This fails for a type that Arrow's C interface lacks, and for a name with a NUL. Then the schema is empty.
    FFI_ArrowSchema::try_from(Field::new(name, of.clone(), true)).unwrap_or_else(|_| FFI_ArrowSchema::empty())
}

/// The private data of a stream.
struct Stream {
    of: DataType,
    chunks: std::vec::IntoIter<ArrayData>,
}

/// Writes the schema of a stream to `out`.
///
/// # Safety
///
/// `stream` was made by `stream_of`, nobody has released it, and `out` points to memory for a schema.
unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: by the caller's promise, the private data is a `Stream`, and `out` can be written.
    unsafe { out.write(schema_of(&(*(*stream).private_data.cast::<Stream>()).of, "")) };
    0
}

/// Writes the next array of a stream to `out`. At the end of the stream, writes an array that is marked as released.
///
/// # Safety
///
/// `stream` was made by `stream_of`, nobody has released it, no other thread uses it, and `out` points to memory for an
/// array.
unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: by the caller's promise, the private data is a `Stream` that nobody else uses, and `out` can be written.
    unsafe {
        let next = (*(*stream).private_data.cast::<Stream>()).chunks.next();
        out.write(next.map_or_else(FFI_ArrowArray::empty, |data| FFI_ArrowArray::new(&data)));
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

fn stream_of(column: &Column) -> ArrowArrayStream {
    let stream = Stream { of: column.data_type.clone(), chunks: column.chunks.clone().into_iter() };
    ArrowArrayStream {
        get_schema: Some(stream_schema),
        get_next: Some(stream_next),
        get_last_error: Some(stream_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(stream)).cast(),
    }
}

/// Makes a capsule with the struct `inside`. The capsule releases the struct unless a consumer has taken it over.
fn capsule_of<T: Struct>(py: Python<'_>, inside: T) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, inside, T::CAPSULE)
}

pub(crate) fn schema_capsule<'py>(py: Python<'py>, of: &DataType) -> PyResult<Bound<'py, PyCapsule>> {
    capsule_of(py, schema_of(of, ""))
}

pub(crate) fn array_capsule<'py>(py: Python<'py>, data: &ArrayData) -> PyResult<Bound<'py, PyCapsule>> {
    capsule_of(py, FFI_ArrowArray::new(data))
}

pub(crate) fn stream_capsule<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyCapsule>> {
    capsule_of(py, stream_of(column))
}
