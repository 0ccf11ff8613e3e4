//! Imports columns that other libraries have made, by the Arrow C data interface, and checks them.

use std::ffi::{CStr, CString, c_int};
use std::fmt;
use std::sync::Arc;

use codec::batch::{Column, Offset};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{ArrowArray, ArrowArrayStream, ArrowSchema, FORMATS, Owned};
use crate::part::{Bits, Buffers, Layout, Type, View};

/// A column that another library has made: its type, and one array for each chunk.
pub(crate) struct Input {
    pub(crate) class: Type,
    pub(crate) chunks: Vec<Arc<Imported>>,
}

/// The reason why an object is rejected as a column. It holds no Python object, because Polars calls on threads without the
/// GIL.
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

/// The values of an imported array, in the layout in which the array stores them.
pub(crate) enum Stored<'a> {
    Small(&'a [u8], &'a [i32]),
    Large(&'a [u8], &'a [i64]),
    View(Vec<&'a [u8]>, &'a [View]),
}

impl<'a> Stored<'a> {
    /// Returns the bytes of a row. The result is arbitrary if the row is null or its view is outside the buffers.
    pub(crate) fn value(&self, row: usize) -> &'a [u8] {
        match self {
            Stored::Small(bytes, offsets) => &bytes[offsets[row] as usize..offsets[row + 1] as usize],
            Stored::Large(bytes, offsets) => &bytes[offsets[row] as usize..offsets[row + 1] as usize],
            Stored::View(buffers, views) => views[row].value(buffers).unwrap_or_default(),
        }
    }
}

/// An imported array of strings or bytes.
// INVARIANT: the array, or its only child if `is_child` is true, has the type `class`, and its buffers have the sizes that the
// Arrow interface requires.
pub(crate) struct Imported {
    array: Owned<ArrowArray>,
    is_child: bool,
    offset: usize,
    len: usize,
    class: Type,
}

impl Imported {
    /// Takes an array over, and checks everything that can be checked without trusting its producer.
    ///
    /// # Safety
    ///
    /// A producer made the array for a schema for which [`class_of`] returned `class` and `is_child`.
    pub(crate) unsafe fn new(
        array: Owned<ArrowArray>,
        (class, is_child): (Type, bool),
    ) -> Result<Imported, Rejected> {
        let mut imported = Imported { array, is_child, offset: 0, len: 0, class };
        let (outer, inner) = (imported.array.get(), imported.array()?);
        let size = |number: i64| usize::try_from(number).map_err(|_| invalid("a negative length"));
        let (mut offset, len) = (size(inner.offset)?, size(outer.length)?);
        if is_child {
            let start = size(outer.offset)?;
            if size(inner.length)? < start.saturating_add(len) {
                return Err(invalid("a column shorter than its table"));
            }
            offset = offset.checked_add(start).ok_or_else(|| invalid("an offset out of range"))?;
            if outer.null_count != 0 && outer.n_buffers > 0 && !outer.buffers.is_null() {
                // SAFETY: by the invariant of `ArrowArray`, `buffers` has `n_buffers` pointers, and there is at least one.
                if !unsafe { *outer.buffers }.is_null() {
                    return Err(Rejected::Type("a table with null rows; pass the column".to_owned()));
                }
            }
        }
        // This limit ensures that the sizes of offsets, views and bits do not overflow.
        if offset
            .checked_add(len)
            .and_then(|end| end.checked_mul(32))
            .is_none_or(|size| size > isize::MAX as usize)
        {
            return Err(invalid("a length out of range"));
        }
        (imported.offset, imported.len) = (offset, len);
        // Later calls of both functions succeed if these do, unless the producer changes the data.
        imported.stored()?;
        imported.validity()?;
        Ok(imported)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the array that has the values: the imported array, or its only child if `is_child` is true.
    fn array(&self) -> Result<&ArrowArray, Rejected> {
        let array = self.array.get();
        if !self.is_child {
            return Ok(array);
        }
        if array.n_children != 1 || array.children.is_null() {
            return Err(invalid("another number of columns than its type has"));
        }
        // SAFETY: by the invariant of `ArrowArray`, `children` has one pointer, and the child lives as long as its parent.
        unsafe { (*array.children).as_ref() }.ok_or_else(|| invalid("a column without data"))
    }

    /// Returns the first `count` values of the buffer with this index.
    ///
    /// # Safety
    ///
    /// Buffer `index` of a column of this type, length and offset has `count` values of type `T`, any bits of which are valid.
    unsafe fn buffer<T>(&self, index: usize, count: usize) -> Result<&[T], Rejected> {
        let array = self.array()?;
        if array.buffers.is_null() || !usize::try_from(array.n_buffers).is_ok_and(|count| index < count) {
            return Err(invalid("a buffer is missing"));
        }
        // SAFETY: by the invariant of `ArrowArray`, `buffers` has `n_buffers` pointers, and `index` is smaller.
        let data = unsafe { *array.buffers.add(index) }.cast::<T>();
        if count == 0 {
            return Ok(&[]);
        }
        if data.is_null()
            || !data.is_aligned()
            || count.checked_mul(size_of::<T>()).is_none_or(|size| size > isize::MAX as usize)
        {
            return Err(invalid("a buffer that is NULL, not aligned or too long"));
        }
        // SAFETY: the pointer is not NULL and is aligned, and the size is at most `isize::MAX`, by the checks above. The caller
        // promises `count` values. They live until `self` releases the array, and by the Arrow interface they do not change.
        Ok(unsafe { std::slice::from_raw_parts(data, count) })
    }

    /// Returns the bytes and offsets of a column, whose type must have offsets of type `O`.
    fn column<O: Offset + TryInto<usize>>(&self) -> Result<(&[u8], &[O]), Rejected> {
        if self.len == 0 {
            return Ok((&[], &[]));
        }
        // SAFETY: by the invariant of `Imported`, a column of this type has one offset more than values, and as many bytes as
        // the last offset says. Any bits are a valid integer.
        let (bytes, offsets) = unsafe {
            let offsets = &self.buffer::<O>(1, self.offset + self.len + 1)?[self.offset..];
            let end = offsets[self.len].try_into().map_err(|_| invalid("a negative offset"))?;
            (self.buffer::<u8>(2, end)?, offsets)
        };
        Column::new(bytes, offsets).map_err(|_| invalid("offsets that are not in order"))?;
        Ok((bytes, offsets))
    }

    /// Returns the values in the layout in which the array stores them.
    pub(crate) fn stored(&self) -> Result<Stored<'_>, Rejected> {
        Ok(match self.class.layout {
            Layout::Small => {
                let (bytes, offsets) = self.column()?;
                Stored::Small(bytes, offsets)
            }
            Layout::Large => {
                let (bytes, offsets) = self.column()?;
                Stored::Large(bytes, offsets)
            }
            Layout::Bool => return Err(Rejected::Type("a column of booleans".to_owned())),
            Layout::View => {
                if cfg!(target_endian = "big") {
                    return Err(Rejected::Type("views are read on little-endian systems only".to_owned()));
                }
                let buffers =
                    usize::try_from(self.array()?.n_buffers).ok().and_then(|count| count.checked_sub(3));
                let count = buffers.ok_or_else(|| invalid("a view without buffers"))?;
                // SAFETY: by the invariant of `Imported`, a column of this type has a view for each value, then buffers of
                // bytes, and last the length of each buffer. Any bits are a valid integer or view.
                unsafe {
                    let lens = self.buffer::<i64>(count + 2, count)?;
                    let buffers = lens.iter().enumerate().map(|(index, len)| {
                        self.buffer(
                            index + 2,
                            usize::try_from(*len).map_err(|_| invalid("a negative length"))?,
                        )
                    });
                    let views = self.buffer::<View>(1, self.offset + self.len)?;
                    Stored::View(buffers.collect::<Result<_, _>>()?, &views[self.offset..])
                }
            }
        })
    }

    /// Returns the validity bitmap of the values, or `None` if no value is null.
    pub(crate) fn validity(&self) -> Result<Option<Bits<'_>>, Rejected> {
        let array = self.array()?;
        if array.null_count == 0 || self.len == 0 || array.buffers.is_null() || array.n_buffers < 1 {
            return Ok(None);
        }
        // SAFETY: by the invariant of `ArrowArray` there is a first buffer. In each layout it is the validity bitmap, which is
        // NULL or has a bit for each value.
        let bytes = unsafe {
            if (*array.buffers).is_null() {
                return Ok(None);
            }
            self.buffer::<u8>(0, (self.offset + self.len).div_ceil(8))?
        };
        Ok(Some(Bits { bytes, start: self.offset }))
    }
}

impl Buffers for Imported {
    fn buffer(&self, index: usize) -> &[u8] {
        match self.stored() {
            Ok(Stored::View(buffers, _)) => buffers.get(index).copied().unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Returns the type of a column, and whether the column is the only child of a struct, as in a table of one column.
pub(crate) fn class_of(schema: &ArrowSchema) -> Result<(Type, bool), Rejected> {
    let mut schema = schema;
    let mut is_child = false;
    loop {
        let Some(format) = format_of(schema) else {
            return Err(invalid("no format"));
        };
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
            // SAFETY: by the invariant of `ArrowSchema`, `children` has one pointer, and the child lives as long as its parent.
            schema =
                unsafe { (*schema.children).as_ref() }.ok_or_else(|| invalid("a column without a type"))?;
            is_child = true;
            continue;
        }
        return match FORMATS.iter().find(|(known, _)| *known == format) {
            Some((_, class)) if class.layout != Layout::Bool => Ok((*class, is_child)),
            _ => Err(Rejected::Type(format!(
                "expected a column of strings or binary, not one of Arrow format {format:?}"
            ))),
        };
    }
}

fn format_of(schema: &ArrowSchema) -> Option<&CStr> {
    // SAFETY: by the invariant of `ArrowSchema`, a format that is not NULL is a C string that lives as long as the schema.
    (!schema.format.is_null()).then(|| unsafe { CStr::from_ptr(schema.format) })
}

impl Owned<ArrowArray> {
    /// Returns the number of rows of an array of any type.
    pub(crate) fn rows(&self) -> Result<usize, Rejected> {
        usize::try_from(self.get().length).map_err(|_| invalid("a negative length"))
    }
}

/// Reports whether a column has Arrow's null type, so that every value is null.
pub(crate) fn is_null_type(schema: &ArrowSchema) -> bool {
    format_of(schema) == Some(c"n")
}

/// Returns the name of a column.
pub(crate) fn name_of(schema: &ArrowSchema) -> CString {
    if schema.name.is_null() {
        return CString::default();
    }
    // SAFETY: by the invariant of `ArrowSchema`, a name that is not NULL is a C string that lives as long as the schema.
    unsafe { CStr::from_ptr(schema.name) }.to_owned()
}

/// Takes a column from an object with `__arrow_c_array__` or `__arrow_c_stream__`.
pub(crate) fn import(values: &Bound<'_, PyAny>) -> PyResult<Input> {
    let py = values.py();
    if let Some(method) = values.getattr_opt("__arrow_c_array__")? {
        let pair = method.call0()?.cast_into::<PyTuple>()?;
        let schema = Owned::<ArrowSchema>::take(&pair.get_item(0)?)?;
        let array = Owned::<ArrowArray>::take(&pair.get_item(1)?)?;
        let class = class_of(schema.get())?;
        // SAFETY: by the PyCapsule interface, `__arrow_c_array__` returns an array and its schema.
        return Ok(Input { class: class.0, chunks: vec![Arc::new(unsafe { Imported::new(array, class) }?)] });
    }
    let Some(method) = values.getattr_opt("__arrow_c_stream__")? else {
        let message = format!(
            "expected an object with __arrow_c_array__ or __arrow_c_stream__, such as a column of pyarrow, polars or pandas, \
             not {}",
            values.get_type().name()?
        );
        return Err(PyTypeError::new_err(message));
    };
    let stream = Owned::<ArrowArrayStream>::take(&method.call0()?)?;
    // The producer may work on other threads, which may need the GIL.
    py.detach(|| drain(stream))
}

fn drain(mut stream: Owned<ArrowArrayStream>) -> PyResult<Input> {
    let mut schema = Owned::<ArrowSchema>::null();
    let (Some(get_schema), Some(get_next)) = (stream.get().get_schema, stream.get().get_next) else {
        return Err(invalid("a stream that was used before").into());
    };
    // SAFETY: the functions are not NULL, so the stream is not released, and `schema` is a place for a schema.
    let status = unsafe { get_schema(stream.get_mut(), schema.get_mut()) };
    if status != 0 {
        return Err(stream_error(&mut stream, status));
    }
    let class = class_of(schema.get())?;
    let mut chunks = Vec::new();
    loop {
        let mut array = Owned::<ArrowArray>::null();
        // SAFETY: the stream is not released, and `array` is a place for an array.
        let status = unsafe { get_next(stream.get_mut(), array.get_mut()) };
        if status != 0 {
            return Err(stream_error(&mut stream, status));
        }
        if array.get().release.is_none() {
            return Ok(Input { class: class.0, chunks });
        }
        // SAFETY: by the Arrow interface, all arrays of a stream have the schema of the stream.
        chunks.push(Arc::new(unsafe { Imported::new(array, class) }?));
    }
}

fn stream_error(stream: &mut Owned<ArrowArrayStream>, status: c_int) -> PyErr {
    let mut message = String::new();
    if let Some(last_error) = stream.get().get_last_error {
        // SAFETY: the stream is not released, and its last call failed. The text is NULL or lives until the next call.
        unsafe {
            let text = last_error(stream.get_mut());
            if !text.is_null() {
                message = CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
    }
    PyValueError::new_err(format!("the stream failed with status {status}: {message}"))
}
