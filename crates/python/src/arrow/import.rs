//! Imports columns that other libraries have made, by the Arrow C data interface, and checks them.

use std::ffi::{CStr, c_int};
use std::fmt;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use functions::columns::Column;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{ArrowArrayStream, FORMATS, Struct};

/// The reason why an object is rejected as a column. It holds no Python object, because Polars calls this code on threads without the GIL.
pub(crate) enum Rejected {
    /// The type is unsupported.
    Type(String),
    /// The data is not valid as Arrow data.
    Data(&'static str),
}

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Type(message) => out.write_str(message),
            Rejected::Data(message) => write!(out, "not valid as an Arrow column: {message}"),
        }
    }
}

impl From<Rejected> for PyErr {
    fn from(rejected: Rejected) -> PyErr {
        let message = rejected.to_string();
        match rejected {
            Rejected::Type(_) => PyTypeError::new_err(message),
            Rejected::Data(_) => PyValueError::new_err(message),
        }
    }
}

fn invalid(message: &'static str) -> Rejected {
    Rejected::Data(message)
}

/// The buffers of an array, and the struct that keeps them alive.
// INVARIANT: `array` is not released. It is `owner` or the child of `owner`.
struct Source<'a> {
    array: &'a FFI_ArrowArray,
    owner: &'a Arc<FFI_ArrowArray>,
}

impl Source<'_> {
    /// Returns the first `count` values of the buffer with this index.
    ///
    /// # Safety
    ///
    /// The producer promises `count` values of type `T` in buffer `index`, or that it is NULL. Any bits are a valid `T`.
    unsafe fn buffer<T>(&self, index: usize, count: usize) -> Result<Buffer, Rejected> {
        let array = self.array;
        if array.buffers.is_null() || !usize::try_from(array.n_buffers).is_ok_and(|count| index < count) {
            return Err(invalid("a buffer is missing"));
        }
        if count == 0 {
            return Ok(Buffer::default());
        }
        // SAFETY: by the Arrow interface, `buffers` of an array that is not released has `n_buffers` pointers, and `index` is smaller.
        let data = NonNull::new(unsafe { *array.buffers.add(index) }.cast::<T>().cast_mut());
        let size = count.checked_mul(size_of::<T>()).filter(|size| isize::try_from(*size).is_ok());
        let (Some(data), Some(size)) = (data.filter(|data| data.is_aligned()), size) else {
            return Err(invalid("a buffer that is NULL, not aligned or too long"));
        };
        // SAFETY: the pointer is not NULL, and the caller promises `size` bytes at it. They live until the owner of the buffer releases
        // the array, and by the Arrow interface they do not change.
        Ok(unsafe { Buffer::from_custom_allocation(data.cast(), size, self.owner.clone()) })
    }

    /// Returns the offsets and the bytes of a column of `len` values. `len` is not 0.
    ///
    /// # Safety
    ///
    /// The array has the layout of strings with offsets of type `O`, and at least `start + len` values.
    unsafe fn offsets<O: ArrowNativeType>(&self, start: usize, len: usize) -> Result<Vec<Buffer>, Rejected> {
        // SAFETY: by the caller's promise, there is one offset more than values, and there are as many bytes as the last offset
        // says. Any bits are a valid integer.
        unsafe {
            let offsets = self.buffer::<O>(1, start + len + 1)?.slice(start * size_of::<O>());
            let end =
                offsets.typed_data::<O>()[len].to_usize().ok_or_else(|| invalid("a negative offset"))?;
            Ok(vec![offsets, self.buffer::<u8>(2, end)?])
        }
    }

    /// Returns the views and the buffers of a column of `len` values.
    ///
    /// # Safety
    ///
    /// The array has the layout of views, and at least `start + len` values.
    unsafe fn views(&self, start: usize, len: usize) -> Result<Vec<Buffer>, Rejected> {
        if cfg!(target_endian = "big") {
            return Err(Rejected::Type("views are read on little-endian systems only".to_owned()));
        }
        let count = usize::try_from(self.array.n_buffers).ok().and_then(|count| count.checked_sub(3));
        let count = count.ok_or_else(|| invalid("a view without buffers"))?;
        // SAFETY: by the caller's promise, there is a view for each value, then buffers of bytes, and last the length of each
        // buffer. Any bits are a valid integer. A view is aligned like an integer of eight bytes.
        unsafe {
            let lens = self.buffer::<i64>(count + 2, count)?;
            let mut buffers = vec![self.buffer::<[u64; 2]>(1, start + len)?.slice(start * 16)];
            for (index, len) in (2..).zip(lens.typed_data::<i64>()) {
                let len = usize::try_from(*len).map_err(|_| invalid("a negative length"))?;
                buffers.push(self.buffer::<u8>(index, len)?);
            }
            Ok(buffers)
        }
    }
}

/// Returns an array, or an error if it is released. Only `release` says so, and then all other fields may dangle.
fn not_released(array: &FFI_ArrowArray) -> Result<&FFI_ArrowArray, Rejected> {
    if array.is_released() { Err(invalid("an array that was used before")) } else { Ok(array) }
}

/// Returns the array that has the values of a table of one column.
fn only_child(array: &FFI_ArrowArray) -> Result<&FFI_ArrowArray, Rejected> {
    let array = not_released(array)?;
    if array.n_children != 1 || array.children.is_null() {
        return Err(invalid("another number of columns than its type has"));
    }
    // SAFETY: the array is not released, so by the Arrow interface `children` has one pointer, which is NULL or a child that lives as
    // long.
    unsafe { (*array.children).as_ref() }.ok_or_else(|| invalid("a column without data"))
}

/// Returns the number of rows of an array of any type.
pub(crate) fn rows(array: &FFI_ArrowArray) -> Result<usize, Rejected> {
    size(array.length)
}

fn size(number: i64) -> Result<usize, Rejected> {
    usize::try_from(number).map_err(|_| invalid("a negative length"))
}

/// Takes over an array, and checks its lengths and buffers. The code that reads offsets and views checks them.
///
/// # Safety
///
/// A producer made the array for a schema for which [`type_of`] returned `of` and `is_child`.
pub(crate) unsafe fn data_of(
    array: FFI_ArrowArray,
    (of, is_child): &(DataType, bool),
) -> Result<ArrayData, Rejected> {
    let owner = Arc::new(array);
    let outer: &FFI_ArrowArray = &owner;
    let array = not_released(if *is_child { only_child(outer)? } else { outer })?;
    let (mut start, len) = (size(array.offset)?, rows(outer)?);
    if *is_child {
        let before = size(outer.offset)?;
        if rows(array)? < before.saturating_add(len) {
            return Err(invalid("a column shorter than its table"));
        }
        start = start.checked_add(before).ok_or_else(|| invalid("an offset out of range"))?;
        if outer.null_count != 0 && outer.n_buffers > 0 && !outer.buffers.is_null() {
            // SAFETY: `only_child` has checked that the table is not released, so by the Arrow interface `buffers` has `n_buffers`
            // pointers, and there is at least one.
            if !unsafe { *outer.buffers }.is_null() {
                return Err(Rejected::Type("a table with null rows; pass the column".to_owned()));
            }
        }
    }
    // This limit ensures that the sizes of offsets, views and bits do not overflow.
    let end = start
        .checked_add(len)
        .filter(|end| end.checked_mul(32).is_some_and(|size| size <= isize::MAX as usize));
    let end = end.ok_or_else(|| invalid("a length out of range"))?;
    if len == 0 {
        return Ok(ArrayData::new_empty(of));
    }
    let source = Source { array, owner: &owner };
    // SAFETY: by the caller's promise, the array has the layout of `of`. It has `array.length` values from its offset on, which are
    // `len` or at least `before + len`. `offsets` and `views` have read `buffer(1, ..)`, which fails unless `buffers` is not
    // NULL and has two pointers. The first one is NULL, or there is a bit for each value at it.
    let (buffers, nulls) = unsafe {
        let buffers = match of {
            DataType::LargeUtf8 | DataType::LargeBinary => source.offsets::<i64>(start, len)?,
            DataType::Utf8View | DataType::BinaryView => source.views(start, len)?,
            _ => source.offsets::<i32>(start, len)?,
        };
        let has_nulls = array.null_count != 0 && !(*array.buffers).is_null();
        let bits = has_nulls.then(|| source.buffer::<u8>(0, end.div_ceil(8))).transpose()?;
        (buffers, bits.map(|bits| NullBuffer::new(BooleanBuffer::new(bits, start, len))))
    };
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let data = ArrayDataBuilder::new(of.clone()).len(len).nulls(nulls).buffers(buffers).align_buffers(true);
    // SAFETY: the buffers are those of the type. No code of this package reads their values without checks.
    Ok(unsafe { data.build_unchecked() })
}

/// Returns the type of a column, and whether the column is the only child of a struct, as in a table of one column.
pub(crate) fn type_of(schema: &FFI_ArrowSchema) -> Result<(DataType, bool), Rejected> {
    let mut schema = schema;
    let mut is_child = false;
    loop {
        let format = format_of(schema)?;
        if !schema.dictionary.is_null() {
            return Err(Rejected::Type(
                "a dictionary-encoded column; cast it to a string type first".to_owned(),
            ));
        }
        if format == c"+s" && !is_child {
            if schema.n_children != 1 || schema.children.is_null() {
                let message = format!("a table with {} columns; select one", schema.n_children);
                return Err(Rejected::Type(message));
            }
            // SAFETY: `format_of` has checked that the schema is not released, so by the Arrow interface `children` has one pointer,
            // which is NULL or a child that lives as long.
            schema =
                unsafe { (*schema.children).as_ref() }.ok_or_else(|| invalid("a column without a type"))?;
            is_child = true;
            continue;
        }
        return match FORMATS.iter().find(|(known, _)| *known == format) {
            Some((_, of)) => Ok((of.clone(), is_child)),
            None => Err(Rejected::Type(format!(
                "expected a column of strings or binary, not one of Arrow format {format:?}"
            ))),
        };
    }
}

/// Returns the format of the type that `schema` describes. A schema without a format is an error. So is a released schema, because its
/// other fields may dangle.
fn format_of(schema: &FFI_ArrowSchema) -> Result<&CStr, Rejected> {
    if schema.release.is_none() {
        return Err(invalid("a type that was used before"));
    }
    if schema.format.is_null() {
        return Err(invalid("no format"));
    }
    // SAFETY: the schema is not released, so by the Arrow interface a format that is not NULL is a C string that lives as long.
    Ok(unsafe { CStr::from_ptr(schema.format) })
}

/// Reports whether a column has Arrow's null type, so that every value is null.
pub(crate) fn is_null_type(schema: &FFI_ArrowSchema) -> bool {
    format_of(schema).is_ok_and(|format| format == c"n")
}

/// Returns the name of a column.
pub(crate) fn name_of(schema: &FFI_ArrowSchema) -> String {
    if schema.release.is_none() || schema.name.is_null() {
        return String::new();
    }
    // SAFETY: the schema is not released, so by the Arrow interface a name that is not NULL is a C string that lives as long.
    unsafe { CStr::from_ptr(schema.name) }.to_string_lossy().into_owned()
}

/// Takes over the struct in a capsule. A struct that is marked as released takes its place in the capsule.
fn take<T: Struct>(capsule: &Bound<'_, PyAny>) -> PyResult<T> {
    // SAFETY: `capsule` is a live object. If it is not a capsule with this name, CPython returns NULL and sets an exception.
    let inside = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::CAPSULE.as_ptr()) }.cast::<T>();
    if inside.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    // SAFETY: by the PyCapsule interface, a capsule with this name contains a `T`, which may be moved. The thread has the GIL, so nobody
    // else uses the capsule. By the invariant of `Struct`, the `T` of zeros that stays for its destructor is marked as released.
    Ok(unsafe { inside.replace(mem::zeroed()) })
}

/// Takes a column from an object with `__arrow_c_array__` or `__arrow_c_stream__`.
pub(crate) fn import(values: &Bound<'_, PyAny>) -> PyResult<Column> {
    let py = values.py();
    if let Some(method) = values.getattr_opt("__arrow_c_array__")? {
        let pair = method.call0()?.cast_into::<PyTuple>()?;
        let schema: FFI_ArrowSchema = take(&pair.get_item(0)?)?;
        let array = take(&pair.get_item(1)?)?;
        let of = type_of(&schema)?;
        // SAFETY: by the PyCapsule interface, `__arrow_c_array__` returns an array and its schema.
        let chunks = vec![unsafe { data_of(array, &of) }?];
        return Ok(Column { data_type: of.0, chunks });
    }
    let Some(method) = values.getattr_opt("__arrow_c_stream__")? else {
        let message = format!(
            "expected an object with __arrow_c_array__ or __arrow_c_stream__, such as a column of pyarrow, polars or pandas, \
             not {}",
            values.get_type().name()?
        );
        return Err(PyTypeError::new_err(message));
    };
    let stream = take(&method.call0()?)?;
    // The GIL is released, because the producer may work on other threads that need it.
    py.detach(|| drain(stream))
}

fn drain(mut stream: ArrowArrayStream) -> PyResult<Column> {
    // A consumer that takes over a stream need only set `release` to NULL. The functions stay, and their data may be freed.
    let (Some(_), Some(get_schema), Some(get_next)) = (stream.release, stream.get_schema, stream.get_next)
    else {
        return Err(invalid("a stream that was used before").into());
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: `release` is not NULL, so the stream is not released, and `schema` is a place for a schema. The status is that of the
    // call.
    unsafe {
        let status = get_schema(&raw mut stream, &raw mut schema);
        check(&mut stream, status)?;
    }
    let of = type_of(&schema)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, because only its consumer may do that, and `array` is a place for an array. The status is
        // that of the call.
        unsafe {
            let status = get_next(&raw mut stream, &raw mut array);
            check(&mut stream, status)?;
        }
        if array.is_released() {
            return Ok(Column { data_type: of.0, chunks });
        }
        // SAFETY: by the Arrow interface, all arrays of a stream have the schema of the stream.
        chunks.push(unsafe { data_of(array, &of) }?);
    }
}

/// Returns an error with the message of the stream if a call has failed, which a status other than 0 says.
///
/// # Safety
///
/// The stream is not released, and `status` is what the last call of a function of the stream returned.
unsafe fn check(stream: &mut ArrowArrayStream, status: c_int) -> PyResult<()> {
    if status == 0 {
        return Ok(());
    }
    let mut message = String::new();
    if let Some(last_error) = stream.get_last_error {
        // SAFETY: by the caller's promise, the stream is not released and its last call failed. The text is NULL or lives until the
        // next call.
        unsafe {
            let text = last_error(stream);
            if !text.is_null() {
                message = CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
    }
    Err(PyValueError::new_err(format!("the stream failed with status {status}: {message}")))
}
