//! Columns that come and go by the Arrow C data interface and its capsules for Python.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>, CStreamInterface and PyCapsuleInterface. What comes is checked
//! as far as it can be: layout, number and alignment of buffers, offsets, views. That a buffer is as long as it has to be is
//! the producer's promise, which the interface has no way to check.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::pool::Pool;

// ---- the three structs

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

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// What the three have in common: whoever holds one calls its `release`, once, unless it is `None`.
///
/// # Safety
///
/// `NULL` is a value whose `release` is `None`; `release` calls that of the struct, if there is one.
pub(crate) unsafe trait Released: Sized {
    const CAPSULE: &'static CStr;
    const NULL: Self;
    fn release(&mut self);
}

macro_rules! released {
    ($($name:ident $capsule:literal { $($field:ident: $empty:expr),* })*) => {$(
        // SAFETY: what is said of the struct.
        unsafe impl Released for $name {
            const CAPSULE: &'static CStr = $capsule;
            const NULL: $name = $name { $($field: $empty,)* release: None, private_data: null_mut() };

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it is not released yet, and whoever made it has said that this does it.
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

/// A struct that is released when it is dropped.
pub(crate) struct Held<T: Released>(Box<T>);

impl<T: Released> Held<T> {
    fn new() -> Held<T> {
        Held::of(T::NULL)
    }

    /// Takes over a struct, which nobody else releases then.
    pub(crate) fn of(inside: T) -> Held<T> {
        Held(Box::new(inside))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// Takes over what is in a capsule, which is then empty.
    fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Held<T>> {
        // SAFETY: it is an object; what is not a capsule of this name gives NULL and an exception.
        let inside = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::CAPSULE.as_ptr()) }.cast::<T>();
        if inside.is_null() {
            return Err(PyErr::fetch(capsule.py()));
        }
        let mut held = Held::new();
        // SAFETY: a capsule of this name holds such a struct. Its release is now here and not there; structs may be moved.
        unsafe { std::ptr::swap(inside, &raw mut *held.0) };
        Ok(held)
    }
}

impl<T: Released> Drop for Held<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

// SAFETY: the interface lets a consumer release from any thread, and the buffers of an array do not change.
unsafe impl<T: Released> Send for Held<T> {}
// SAFETY: nothing here changes what is behind a shared reference.
unsafe impl<T: Released> Sync for Held<T> {}

// ---- what comes

/// How values lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Offsets of 32 bits.
    Small,
    /// Offsets of 64 bits.
    Large,
    /// Views of 16 bytes.
    View,
    /// Bits; only for what goes out.
    Bool,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) layout: Layout,
    /// Whether it is UTF-8 and not any bytes.
    pub(crate) text: bool,
}

const TYPES: [(&CStr, Layout, bool); 7] = [
    (c"u", Layout::Small, true),
    (c"U", Layout::Large, true),
    (c"vu", Layout::View, true),
    (c"z", Layout::Small, false),
    (c"Z", Layout::Large, false),
    (c"vz", Layout::View, false),
    (c"b", Layout::Bool, false),
];

impl Type {
    fn format(self) -> &'static CStr {
        let same = |row: &&(_, Layout, bool)| row.1 == self.layout && row.2 == self.text;
        TYPES.iter().find(same).map_or(c"b", |row| row.0)
    }
}

/// A column somebody else has made.
pub(crate) struct Input {
    pub(crate) class: Type,
    pub(crate) chunks: Vec<Chunk>,
}

/// A part of it.
pub(crate) struct Chunk {
    array: Held<ArrowArray>,
    /// Whether it is the only column of the array.
    child: bool,
    offset: usize,
    pub(crate) len: usize,
    class: Type,
}

/// The values of a chunk.
pub(crate) enum Values<'a> {
    Small(&'a [u8], &'a [i32]),
    Large(&'a [u8], &'a [i64]),
    View(Vec<&'a [u8]>, &'a [View]),
}

/// A length of 32 bits; then up to twelve bytes, or the first four, the number of a buffer and an offset in it.
pub(crate) type View = [u64; 2];

/// The value that a view says; `None` if it is not in the buffers.
#[inline(always)]
pub(crate) fn viewed<'a>(view: &'a View, buffers: &[&'a [u8]]) -> Option<&'a [u8]> {
    let len = view[0] as u32 as usize;
    if len > 12 {
        return buffers.get(view[1] as u32 as usize)?.get((view[1] >> 32) as usize..)?.get(..len);
    }
    // SAFETY: sixteen bytes, of which the first four say how many of the others are the value. Big-endian systems are refused
    // when views are read.
    let bytes = unsafe { &*std::ptr::from_ref(view).cast::<[u8; 16]>() };
    Some(&bytes[4..4 + len])
}

/// Bits from a place on that need not be the start of a byte.
#[derive(Clone, Copy)]
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    start: usize,
}

impl Bits<'_> {
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> bool {
        let at = self.start + index;
        self.bytes[at / 8] >> (at % 8) & 1 != 0
    }

    /// The bits of some rows, from the start of a byte on; those after the last are 0.
    pub(crate) fn copy(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        let (start, count) = (self.start + rows.start, rows.len());
        let shift = start % 8;
        let from = &self.bytes[start / 8..];
        let mut bits: Vec<u8> = (0..count.div_ceil(8))
            .map(|at| {
                let next = from.get(at + 1).copied().unwrap_or(0);
                (u16::from_le_bytes([from[at], next]) >> shift) as u8
            })
            .collect();
        if let Some(last) = bits.last_mut()
            && !count.is_multiple_of(8)
        {
            *last &= (1 << (count % 8)) - 1;
        }
        bits
    }
}

/// Why something is not taken as a column. Made without Python, because Polars calls on threads that do not hold its lock.
pub(crate) enum Refused {
    /// Of a type that is not handled.
    Type(String),
    /// Not valid as Arrow data.
    Data(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Type(what) => out.write_str(what),
            Refused::Data(what) => write!(out, "not valid as an Arrow column: {what}"),
        }
    }
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> PyErr {
        let message = refused.to_string();
        match refused {
            Refused::Type(_) => PyTypeError::new_err(message),
            Refused::Data(_) => PyValueError::new_err(message),
        }
    }
}

fn wrong(what: &'static str) -> Refused {
    Refused::Data(what)
}

impl Chunk {
    /// `child`: the array is a table, and its only column is meant.
    pub(crate) fn new(array: Held<ArrowArray>, child: bool, class: Type) -> Result<Chunk, Refused> {
        let mut chunk = Chunk { array, child, offset: 0, len: 0, class };
        let (outer, inner) = (&chunk.array.0, chunk.array()?);
        let size = |number: i64| usize::try_from(number).map_err(|_| wrong("a negative length"));
        let (mut offset, len) = (size(inner.offset)?, size(outer.length)?);
        if child {
            let start = size(outer.offset)?;
            if size(inner.length)? < start.saturating_add(len) {
                return Err(wrong("a column shorter than its table"));
            }
            offset = offset.checked_add(start).ok_or_else(|| wrong("an offset out of range"))?;
            if outer.null_count != 0 && outer.n_buffers > 0 && !outer.buffers.is_null() {
                // SAFETY: there is a buffer, by the number of them.
                if !unsafe { *outer.buffers }.is_null() {
                    return Err(Refused::Type("a table with null rows; pass the column".to_owned()));
                }
            }
        }
        // Sizes of offsets, views and bits then cannot overflow.
        if offset
            .checked_add(len)
            .and_then(|end| end.checked_mul(32))
            .is_none_or(|size| size > isize::MAX as usize)
        {
            return Err(wrong("a length out of range"));
        }
        (chunk.offset, chunk.len) = (offset, len);
        // Once, so that it cannot fail later.
        chunk.values()?;
        chunk.validity()?;
        Ok(chunk)
    }

    fn array(&self) -> Result<&ArrowArray, Refused> {
        if !self.child {
            return Ok(&self.array.0);
        }
        if self.array.0.n_children != 1 || self.array.0.children.is_null() {
            return Err(wrong("another number of columns than its type has"));
        }
        // SAFETY: there is one child, which is alive as long as its parent.
        unsafe { (*self.array.0.children).as_ref() }.ok_or_else(|| wrong("a column without data"))
    }

    /// Buffer `index`, of `count` values of `T`.
    fn buffer<T>(&self, index: usize, count: usize) -> Result<&[T], Refused> {
        let array = self.array()?;
        if array.buffers.is_null() || usize::try_from(array.n_buffers).is_ok_and(|buffers| index >= buffers) {
            return Err(wrong("a buffer is missing"));
        }
        // SAFETY: there are more buffers than `index`.
        let data = unsafe { *array.buffers.add(index) }.cast::<T>();
        if count == 0 {
            return Ok(&[]);
        }
        if data.is_null()
            || !data.is_aligned()
            || count.checked_mul(size_of::<T>()).is_none_or(|size| size > isize::MAX as usize)
        {
            return Err(wrong("a buffer that is NULL, not aligned or too long"));
        }
        // SAFETY: not NULL and aligned. The producer says that there is as much as the column's type, length and offsets ask
        // for, that it does not change, and that it is there until the array is released. Any bits are a value of `T`.
        Ok(unsafe { std::slice::from_raw_parts(data, count) })
    }

    /// Bytes and offsets.
    fn column<O: codec::batch::Offset + TryInto<usize>>(&self) -> Result<(&[u8], &[O]), Refused> {
        if self.len == 0 {
            return Ok((&[], &[]));
        }
        let offsets = &self.buffer::<O>(1, self.offset + self.len + 1)?[self.offset..];
        let end = offsets[self.len].try_into().map_err(|_| wrong("a negative offset"))?;
        let bytes = self.buffer::<u8>(2, end)?;
        codec::batch::Column::new(bytes, offsets).map_err(|_| wrong("offsets that are not in order"))?;
        Ok((bytes, offsets))
    }

    pub(crate) fn values(&self) -> Result<Values<'_>, Refused> {
        Ok(match self.class.layout {
            Layout::Small => {
                let (bytes, offsets) = self.column()?;
                Values::Small(bytes, offsets)
            }
            Layout::Large => {
                let (bytes, offsets) = self.column()?;
                Values::Large(bytes, offsets)
            }
            Layout::View | Layout::Bool => {
                if cfg!(target_endian = "big") {
                    return Err(Refused::Type("views are read on little-endian systems only".to_owned()));
                }
                let buffers =
                    usize::try_from(self.array()?.n_buffers).ok().and_then(|count| count.checked_sub(3));
                let count = buffers.ok_or_else(|| wrong("a view without buffers"))?;
                let lens = self.buffer::<i64>(count + 2, count)?;
                let buffers = lens.iter().enumerate().map(|(index, len)| {
                    self.buffer(index + 2, usize::try_from(*len).map_err(|_| wrong("a negative length"))?)
                });
                let views = self.buffer::<View>(1, self.offset + self.len)?;
                Values::View(buffers.collect::<Result<_, _>>()?, &views[self.offset..])
            }
        })
    }

    /// Which values are not null; `None` if all are.
    pub(crate) fn validity(&self) -> Result<Option<Bits<'_>>, Refused> {
        let array = self.array()?;
        if array.null_count == 0 || self.len == 0 || array.buffers.is_null() {
            return Ok(None);
        }
        // SAFETY: each layout here has a first buffer, which is the validity.
        if array.n_buffers < 1 || unsafe { *array.buffers }.is_null() {
            return Ok(None);
        }
        let bytes = self.buffer::<u8>(0, (self.offset + self.len).div_ceil(8))?;
        Ok(Some(Bits { bytes, start: self.offset }))
    }
}

/// The type of a schema, and whether it is that of the only column of a table.
pub(crate) fn class_of(schema: &ArrowSchema) -> Result<(Type, bool), Refused> {
    let mut schema = schema;
    let mut child = false;
    loop {
        if schema.format.is_null() {
            return Err(wrong("no format"));
        }
        // SAFETY: a format is a C string that lives as long as the schema.
        let format = unsafe { CStr::from_ptr(schema.format) };
        if !schema.dictionary.is_null() {
            return Err(Refused::Type(
                "a dictionary-encoded column; cast it to a string type first".to_owned(),
            ));
        }
        if format == c"+s" && !child {
            if schema.n_children != 1 || schema.children.is_null() {
                let message = format!("a table with {} columns; select one", schema.n_children);
                return Err(Refused::Type(message));
            }
            // SAFETY: there is one child, which lives as long as its parent.
            schema =
                unsafe { (*schema.children).as_ref() }.ok_or_else(|| wrong("a column without a type"))?;
            child = true;
            continue;
        }
        let known = TYPES.iter().find(|row| row.0 == format && row.1 != Layout::Bool);
        let Some(&(_, layout, text)) = known else {
            let message =
                format!("a column of strings or binary is needed, and its Arrow format is {format:?}");
            return Err(Refused::Type(message));
        };
        return Ok((Type { layout, text }, child));
    }
}

/// How many rows an array has, of any type.
pub(crate) fn rows_of(array: &Held<ArrowArray>) -> Result<usize, Refused> {
    usize::try_from(array.0.length).map_err(|_| wrong("a negative length"))
}

/// Whether a schema is that of a column that can only hold nulls.
pub(crate) fn is_null_type(schema: &ArrowSchema) -> bool {
    // SAFETY: a format is a C string that lives as long as the schema.
    !schema.format.is_null() && unsafe { CStr::from_ptr(schema.format) } == c"n"
}

/// The name of a column.
pub(crate) fn name_of(schema: &ArrowSchema) -> CString {
    if schema.name.is_null() {
        return CString::default();
    }
    // SAFETY: a name is a C string that lives as long as the schema.
    unsafe { CStr::from_ptr(schema.name) }.to_owned()
}

/// Takes a column from any object with `__arrow_c_array__` or `__arrow_c_stream__`.
pub(crate) fn import(values: &Bound<'_, PyAny>) -> PyResult<Input> {
    let py = values.py();
    if let Some(method) = values.getattr_opt("__arrow_c_array__")? {
        let pair = method.call0()?.cast_into::<PyTuple>()?;
        let schema = Held::<ArrowSchema>::take(&pair.get_item(0)?)?;
        let array = Held::<ArrowArray>::take(&pair.get_item(1)?)?;
        let (class, child) = class_of(&schema.0)?;
        return Ok(Input { class, chunks: vec![Chunk::new(array, child, class)?] });
    }
    let Some(method) = values.getattr_opt("__arrow_c_stream__")? else {
        let message = format!(
            "an object with __arrow_c_array__ or __arrow_c_stream__ is needed, such as a column of pyarrow, polars or pandas, \
             and not {}",
            values.get_type().name()?
        );
        return Err(PyTypeError::new_err(message));
    };
    let stream = Held::<ArrowArrayStream>::take(&method.call0()?)?;
    // Its producer may work on other threads, and these may need the interpreter.
    py.detach(|| drain(stream))
}

fn drain(mut stream: Held<ArrowArrayStream>) -> PyResult<Input> {
    let mut schema = Held::<ArrowSchema>::new();
    let (Some(get_schema), Some(get_next)) = (stream.0.get_schema, stream.0.get_next) else {
        return Err(wrong("a stream that was used before").into());
    };
    // SAFETY: the stream is not released, and there is room for a schema.
    let status = unsafe { get_schema(&raw mut *stream.0, &raw mut *schema.0) };
    if status != 0 {
        return Err(stream_error(&mut stream, status));
    }
    let (class, child) = class_of(&schema.0)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = Held::<ArrowArray>::new();
        // SAFETY: as above.
        let status = unsafe { get_next(&raw mut *stream.0, &raw mut *array.0) };
        if status != 0 {
            return Err(stream_error(&mut stream, status));
        }
        if array.0.release.is_none() {
            return Ok(Input { class, chunks });
        }
        chunks.push(Chunk::new(array, child, class)?);
    }
}

fn stream_error(stream: &mut Held<ArrowArrayStream>, status: c_int) -> PyErr {
    let mut message = String::new();
    if let Some(last_error) = stream.0.get_last_error {
        // SAFETY: the last call failed; the text, if there is one, lives until the next call.
        unsafe {
            let text = last_error(&raw mut *stream.0);
            if !text.is_null() {
                message = CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
    }
    PyValueError::new_err(format!("the stream failed with status {status}: {message}"))
}

// ---- what goes

/// Memory of a column that this package has made.
pub(crate) enum Buffer {
    Bytes(Vec<u8>),
    Offsets(Vec<i32>),
    LongOffsets(Vec<i64>),
    Views(Vec<View>),
}

impl Buffer {
    fn data(&self) -> *const c_void {
        match self {
            Buffer::Bytes(values) => values.as_ptr().cast(),
            Buffer::Offsets(values) => values.as_ptr().cast(),
            Buffer::LongOffsets(values) => values.as_ptr().cast(),
            Buffer::Views(values) => values.as_ptr().cast(),
        }
    }
}

/// Bits that are 0 for nulls, and how many are; nothing if all values are valid.
pub(crate) type Validity = Option<(Vec<u8>, usize)>;

/// A part of a column.
// INVARIANT: the buffers are those of the column's type for `len` values.
pub(crate) struct Part {
    pub(crate) len: usize,
    pub(crate) validity: Validity,
    /// After the validity.
    pub(crate) buffers: Vec<Buffer>,
}

pub(crate) static BYTES: Pool<u8> = Pool::new();
pub(crate) static VIEWS: Pool<View> = Pool::new();

impl Drop for Part {
    fn drop(&mut self) {
        for buffer in self.buffers.drain(..) {
            match buffer {
                Buffer::Bytes(bytes) => BYTES.give(bytes),
                Buffer::Views(views) => VIEWS.give(views),
                Buffer::Offsets(_) | Buffer::LongOffsets(_) => {}
            }
        }
    }
}

impl Part {
    /// How many bytes its values have.
    pub(crate) fn size(&self) -> usize {
        let bytes = |buffer: &Buffer| if let Buffer::Bytes(bytes) = buffer { bytes.len() } else { 0 };
        self.buffers.iter().map(bytes).sum()
    }
}

/// Keeps a part alive, and the array of pointers to its buffers.
struct Exported {
    part: Arc<Part>,
    pointers: Vec<*const c_void>,
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: whoever calls this has an array that `fill_array` has filled and that is not released.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Exported>()));
        (*array).release = None;
    }
}

pub(crate) fn array_of(part: &Arc<Part>) -> ArrowArray {
    let validity = part.validity.as_ref().map_or(null(), |(bits, _)| bits.as_ptr().cast());
    let pointers = std::iter::once(validity).chain(part.buffers.iter().map(Buffer::data)).collect();
    let exported = Box::new(Exported { part: Arc::clone(part), pointers });
    ArrowArray {
        length: part.len.cast_signed() as i64,
        null_count: exported.part.validity.as_ref().map_or(0, |(_, nulls)| nulls.cast_signed() as i64),
        n_buffers: exported.pointers.len().cast_signed() as i64,
        buffers: exported.pointers.as_ptr(),
        release: Some(release_array),
        private_data: Box::into_raw(exported).cast(),
        ..ArrowArray::NULL
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: whoever calls this has a schema that `schema_of` made and that is not released.
    unsafe {
        drop(CString::from_raw((*schema).private_data.cast()));
        (*schema).release = None;
    }
}

pub(crate) fn schema_of(class: Type, name: CString) -> ArrowSchema {
    const NULLABLE: i64 = 2;
    // Also as private data, which is thus never NULL: Polars takes that for a schema that was released.
    let name = name.into_raw();
    ArrowSchema {
        format: class.format().as_ptr(),
        name,
        flags: NULLABLE,
        release: Some(release_schema),
        private_data: name.cast(),
        ..ArrowSchema::NULL
    }
}

struct Stream {
    class: Type,
    parts: std::vec::IntoIter<Arc<Part>>,
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller has a stream that `stream_of` made and room for a schema.
    unsafe { out.write(schema_of((*(*stream).private_data.cast::<Stream>()).class, CString::default())) };
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as above, and one thread at a time calls this.
    unsafe {
        let next = (*(*stream).private_data.cast::<Stream>()).parts.next();
        out.write(next.map_or(ArrowArray::NULL, |part| array_of(&part)));
    }
    0
}

/// No call fails.
unsafe extern "C" fn stream_error_text(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the caller has a stream that `stream_of` made and that is not released.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Stream>()));
        (*stream).release = None;
    }
}

fn stream_of(class: Type, parts: Vec<Arc<Part>>) -> ArrowArrayStream {
    ArrowArrayStream {
        get_schema: Some(stream_schema),
        get_next: Some(stream_next),
        get_last_error: Some(stream_error_text),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(Stream { class, parts: parts.into_iter() })).cast(),
    }
}

/// Frees the struct of a capsule, and releases it if nobody has taken it over.
unsafe extern "C" fn drop_capsule<T: Released>(capsule: *mut ffi::PyObject) {
    // SAFETY: CPython calls this with a capsule that `capsule_of` made, once.
    unsafe {
        let inside = ffi::PyCapsule_GetPointer(capsule, T::CAPSULE.as_ptr()).cast::<T>();
        drop(Held(Box::from_raw(inside)));
    }
}

fn capsule_of<T: Released>(py: Python<'_>, inside: T) -> PyResult<Bound<'_, PyAny>> {
    let inside = Box::into_raw(Box::new(inside));
    // SAFETY: the thread is attached; the pointer is not NULL, and the name lives as long as the process.
    unsafe {
        let capsule = ffi::PyCapsule_New(inside.cast(), T::CAPSULE.as_ptr(), Some(drop_capsule::<T>));
        if capsule.is_null() {
            drop(Held(Box::from_raw(inside)));
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
