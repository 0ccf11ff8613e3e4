//! Python objects as slices, and slices as Python objects.
//!
//! PyO3 has safe functions for these conversions, but they turn each failure into an exception at once, and panic if
//! there is no memory. Here, a failure is a [`Stop`], which needs no exception if it only means that urllib's function
//! has to answer the call.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::PyTypeInfo;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::pool;

/// The reason why a function of this package does not answer a call.
pub(crate) enum Stop {
    /// The call is unusual: urllib's own function has to answer it or raise an exception.
    Unusual,
    /// A Python exception is set.
    Raised,
}

impl From<PyErr> for Stop {
    #[cold]
    fn from(error: PyErr) -> Stop {
        // The exception was just raised, so the thread is attached already.
        Python::attach(|py| error.restore(py));
        Stop::Raised
    }
}

impl From<Stop> for PyErr {
    /// Returns the exception that is set. Functions without a counterpart in urllib never stop with [`Stop::Unusual`].
    fn from(_: Stop) -> PyErr {
        Python::attach(PyErr::fetch)
    }
}

pub(crate) type Answer<'py> = Result<Bound<'py, PyAny>, Stop>;

/// A borrowed Python object.
// INVARIANT: during `'py`, the object is alive and the thread is attached to the interpreter.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Obj<'py>(*mut ffi::PyObject, PhantomData<&'py ()>);

impl<'a> From<&'a Bound<'_, PyAny>> for Obj<'a> {
    fn from(object: &'a Bound<'_, PyAny>) -> Obj<'a> {
        // A `Bound` owns a reference and only exists while the thread is attached.
        Obj(object.as_ptr(), PhantomData)
    }
}

impl<'py> Obj<'py> {
    /// # Safety
    ///
    /// `pointer` is an object that is alive during `'py`, and the thread is attached during `'py`.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut ffi::PyObject) -> Obj<'py> {
        Obj(pointer, PhantomData)
    }

    /// Returns the address, which no other object has while this one is alive.
    #[inline(always)]
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// Returns a new reference to the object.
    #[inline(always)]
    pub(crate) fn own<'a>(self, py: Python<'a>) -> Bound<'a, PyAny> {
        // SAFETY: the object is alive, by the invariant.
        unsafe { Bound::from_borrowed_ptr(py, self.0) }
    }

    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        // SAFETY: `None` exists as long as the interpreter, to which the thread is attached.
        self.0 == unsafe { ffi::Py_None() }
    }

    /// Returns the value of the object if it is a `bool`.
    #[inline(always)]
    pub(crate) fn as_bool(self) -> Option<bool> {
        // SAFETY: `True` and `False` exist as long as the interpreter, to which the thread is attached.
        let (yes, no) = unsafe { (ffi::Py_True(), ffi::Py_False()) };
        if self.0 == yes { Some(true) } else { (self.0 == no).then_some(false) }
    }

    /// Reports whether the type of the object is `class` itself, and not a subclass.
    #[inline(always)]
    fn is_a(self, class: *mut ffi::PyTypeObject) -> bool {
        // SAFETY: the object is alive, by the invariant.
        unsafe { ffi::Py_TYPE(self.0) == class }
    }

    /// Returns the UTF-8 of the object if it is a `str` without surrogates, and not of a subclass.
    ///
    /// For ASCII text, these are the bytes of the object itself. For other text, CPython makes the UTF-8 once and keeps it.
    #[inline(always)]
    pub(crate) fn as_utf8(self) -> Option<&'py [u8]> {
        if !self.is_a(&raw mut ffi::PyUnicode_Type) {
            return None;
        }
        let mut len = 0;
        // SAFETY: the object is alive, by the invariant, and a `str`, by the check above.
        let data = unsafe { ffi::PyUnicode_AsUTF8AndSize(self.0, &raw mut len) };
        if data.is_null() {
            // SAFETY: the thread is attached, by the invariant.
            unsafe { ffi::PyErr_Clear() };
            return None;
        }
        // SAFETY: CPython returned a pointer to `len` bytes. They do not change and live as long as the object, which lives for
        // `'py`.
        Some(unsafe { std::slice::from_raw_parts(data.cast(), len.cast_unsigned()) })
    }

    /// Returns the bytes of the object if it is a `bytes`, and not of a subclass.
    #[inline(always)]
    pub(crate) fn as_bytes(self) -> Option<&'py [u8]> {
        if !self.is_a(&raw mut ffi::PyBytes_Type) {
            return None;
        }
        // SAFETY: the object is alive for `'py`, by the invariant, and a `bytes`, by the check above. So these calls cannot
        // fail, and its bytes do not change.
        unsafe {
            let data = ffi::PyBytes_AsString(self.0);
            Some(std::slice::from_raw_parts(data.cast(), ffi::PyBytes_Size(self.0).cast_unsigned()))
        }
    }

    /// Returns the `str()` of the object if it is an `int`, `float`, `bool` or `None`, and not of a subclass, which could
    /// have a `__str__` of its own. To convert large ints, CPython may run Python code.
    pub(crate) fn plain_str<'a>(self, py: Python<'a>) -> Answer<'a> {
        let plain = self.is_a(&raw mut ffi::PyLong_Type)
            || self.is_a(&raw mut ffi::PyFloat_Type)
            || self.is_a(&raw mut ffi::PyBool_Type)
            || self.is_none();
        if !plain {
            return Err(Stop::Unusual);
        }
        // SAFETY: the object is alive, by the invariant. The result is a new reference, or NULL with an exception.
        unsafe { made(py, ffi::PyObject_Str(self.0)) }
    }

    /// Returns the value of the object if it is an `int` that fits into `i64`, and not of a subclass.
    pub(crate) fn as_int(self) -> Option<i64> {
        if !self.is_a(&raw mut ffi::PyLong_Type) {
            return None;
        }
        let mut overflow = 0;
        // SAFETY: the object is alive, by the invariant, and an `int`, by the check above.
        let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(self.0, &raw mut overflow) };
        (overflow == 0).then_some(value)
    }

    /// Returns the items of the object if it is a `tuple`, and not of a subclass.
    pub(crate) fn tuple_items(self) -> Option<impl ExactSizeIterator<Item = Obj<'py>>> {
        if !self.is_a(&raw mut ffi::PyTuple_Type) {
            return None;
        }
        // SAFETY: the object is alive, by the invariant, and a `tuple`, by the check above.
        let len = unsafe { ffi::PyTuple_Size(self.0) };
        Some((0..len.cast_unsigned()).map(move |index| {
            // SAFETY: `index` is less than the length. The tuple is alive for `'py` and does not change, so it keeps the item
            // alive as long.
            unsafe { Obj::new(ffi::PyTuple_GetItem(self.0, index.cast_signed())) }
        }))
    }

    /// Returns the current items of the object if it is a `list`, and not of a subclass, and there is memory for them. They are copied,
    /// because Python code can change the list.
    pub(crate) fn list_items<'a>(self, py: Python<'a>) -> Option<Vec<Bound<'a, PyAny>>> {
        if !self.is_a(&raw mut ffi::PyList_Type) {
            return None;
        }
        // SAFETY: the object is alive, by the invariant, and a `list`, by the check above.
        let len = unsafe { ffi::PyList_Size(self.0) };
        let mut items = Vec::new();
        items.try_reserve_exact(len.cast_unsigned()).ok()?;
        for index in 0..len {
            // SAFETY: `index` is less than the length. The list has not changed, because nothing in this loop runs Python code
            // or detaches the thread (the module is declared to use the GIL). For the same reason, the item is alive until it
            // is owned.
            items.push(unsafe { Bound::from_borrowed_ptr(py, ffi::PyList_GetItem(self.0, index)) });
        }
        Some(items)
    }

    /// Returns the current keys and values of the object if it is a `dict`, and not of a subclass, and there is memory for them. They
    /// are copied, because Python code can change the dict.
    pub(crate) fn dict_entries<'a>(
        self,
        py: Python<'a>,
    ) -> Option<Vec<(Bound<'a, PyAny>, Bound<'a, PyAny>)>> {
        if !self.is_a(&raw mut ffi::PyDict_Type) {
            return None;
        }
        // SAFETY: the object is alive, by the invariant, and a `dict`, by the check above.
        let len = unsafe { ffi::PyDict_Size(self.0) };
        let mut entries = Vec::new();
        entries.try_reserve_exact(len.cast_unsigned()).ok()?;
        let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: nothing in this loop runs Python code or detaches the thread, so the dict does not change, and its keys and values are
        // alive until they are owned. After a result other than 0, both pointers are set.
        unsafe {
            while ffi::PyDict_Next(self.0, &raw mut at, &raw mut key, &raw mut value) != 0 {
                entries.push((Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)));
            }
        }
        Some(entries)
    }
}

/// Turns a new reference into a `Bound`, or a NULL into `Stop::Raised`.
///
/// # Safety
///
/// `pointer` is a new reference; or it is NULL and an exception is set.
#[inline(always)]
unsafe fn made<'py>(py: Python<'py>, pointer: *mut ffi::PyObject) -> Answer<'py> {
    // SAFETY: the precondition of this function is that of `from_owned_ptr_or_opt`.
    unsafe { Bound::from_owned_ptr_or_opt(py, pointer) }.ok_or(Stop::Raised)
}

/// Makes a `str` from ASCII bytes, such as the result of an encoder.
#[inline(always)]
pub(crate) fn new_str<'py>(py: Python<'py>, ascii: &[u8]) -> Answer<'py> {
    // SAFETY: `py` proves that the thread is attached, and the length of a slice fits `Py_ssize_t`. The result is a new reference, or NULL
    // with an exception.
    unsafe { made(py, ffi::PyUnicode_FromStringAndSize(ascii.as_ptr().cast(), ascii.len().cast_signed())) }
}

/// The longest text, in bytes of UTF-8, that [`decode_short`] turns into Latin-1 itself. For longer text, the check for
/// ASCII costs more than it saves: 30 ns for 200 bytes (docs/lab/2026-11-22-doors.md).
const SHORT: usize = 64;

/// The longest text, in bytes of UTF-8, that [`decode_short`] turns into wider characters. CPython decodes longer text.
const SHORT_WIDE: usize = 32;

/// Reports whether all bytes are ASCII. Unlike the standard library, it loops over single bytes only below 16 bytes.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<16>() else { return bytes.is_ascii() };
    let (chunks, _) = bytes.as_chunks::<16>();
    let or = |a: u128, chunk: &[u8; 16]| a | u128::from_ne_bytes(*chunk);
    or(chunks.iter().fold(0, or), last) & u128::from_ne_bytes([0x80; 16]) == 0
}

/// Stores `value` at the index `len` of `values`, and adds 1 to `len`. Returns `None` if `values` is full.
#[inline(always)]
fn push<T>(values: &mut [MaybeUninit<T>], len: &mut usize, value: T) -> Option<()> {
    values.get_mut(*len)?.write(value);
    *len += 1;
    Some(())
}

/// Turns UTF-8 into Latin-1. Returns the length of the result. Returns `None` if the result is too long for `latin1`,
/// the text is not valid UTF-8, or a character is not in Latin-1.
#[inline(always)]
fn to_latin1(utf8: &[u8], latin1: &mut [MaybeUninit<u8>; SHORT]) -> Option<usize> {
    let (mut rest, mut len) = (utf8, 0);
    while let [byte, after @ ..] = rest {
        let (character, after) = match (*byte, after) {
            (byte @ ..0x80, _) => (byte, after),
            (byte @ (0xC2 | 0xC3), [next @ 0x80..0xC0, after @ ..]) => (byte << 6 | next & 0x3F, after),
            _ => return None,
        };
        push(latin1, &mut len, character)?;
        rest = after;
    }
    Some(len)
}

/// Turns UTF-8 into characters. Invalid UTF-8 becomes U+FFFD if `replace` is true. Returns the number of characters, or
/// `None` if there are too many for `wide`, or if there is invalid UTF-8 and `replace` is false.
#[inline(always)]
fn to_wide(utf8: &[u8], replace: bool, wide: &mut [MaybeUninit<u32>; SHORT_WIDE]) -> Option<usize> {
    let mut len = 0;
    for chunk in utf8.utf8_chunks() {
        for character in chunk.valid().chars() {
            push(wide, &mut len, character.into())?;
        }
        if !chunk.invalid().is_empty() {
            push(wide, &mut len, char::REPLACEMENT_CHARACTER.into()).filter(|()| replace)?;
        }
    }
    Some(len)
}

/// Makes a `str` from UTF-8 that is not ASCII, like [`decode_str`]. Returns `None` if [`decode_str`] has to do it.
///
/// CPython's decoder first tries ASCII, and then makes an object for each kind of character that it meets. Without that
/// decoder, 8 characters take 64 ns instead of 81 (docs/lab/2026-11-22-doors.md).
#[inline(never)]
fn decode_short<'py>(py: Python<'py>, bytes: &[u8], replace: bool) -> Option<Answer<'py>> {
    let mut latin1 = [const { MaybeUninit::uninit() }; SHORT];
    if let Some(len) = to_latin1(bytes, &mut latin1) {
        let (text, len) = (latin1.as_ptr().cast(), len.cast_signed());
        // SAFETY: `py` proves that the thread is attached, and `to_latin1` initialised `len` bytes. The result is a new reference, or
        // NULL with an exception.
        return Some(unsafe { made(py, ffi::PyUnicode_DecodeLatin1(text, len, std::ptr::null())) });
    }
    // On Windows, `PyUnicode_FromWideChar` takes UTF-16.
    if cfg!(windows) || bytes.len() > SHORT_WIDE {
        return None;
    }
    let mut wide = [const { MaybeUninit::<u32>::uninit() }; SHORT_WIDE];
    let len = to_wide(bytes, replace, &mut wide)?.cast_signed();
    // SAFETY: `py` proves that the thread is attached, and `to_wide` initialised `len` characters. A wide character of C has four
    // bytes except on Windows. The result is a new reference, or NULL with an exception.
    Some(unsafe { made(py, ffi::PyUnicode_FromWideChar(wide.as_ptr().cast(), len)) })
}

/// Makes a `str` from UTF-8. Invalid UTF-8 becomes U+FFFD if `replace` is true; otherwise it gives `Stop::Unusual`.
#[inline(always)]
pub(crate) fn decode_str<'py>(py: Python<'py>, bytes: &[u8], replace: bool) -> Answer<'py> {
    if bytes.len() <= SHORT
        && !is_ascii(bytes)
        && let Some(text) = decode_short(py, bytes, replace)
    {
        return text;
    }
    let errors = if replace { c"replace" } else { c"strict" };
    // SAFETY: `py` proves that the thread is attached, and the length of a slice fits `Py_ssize_t`. The result is a new reference, or NULL
    // with an exception.
    let text = unsafe {
        made(py, ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len().cast_signed(), errors.as_ptr()))
    };
    if text.is_err() && !replace {
        // SAFETY: `py` proves that the thread is attached.
        unsafe { ffi::PyErr_Clear() };
        return Err(Stop::Unusual);
    }
    text
}

#[inline(always)]
pub(crate) fn new_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> Answer<'py> {
    // SAFETY: `py` proves that the thread is attached, and the length of a slice fits `Py_ssize_t`. The result is a new reference, or NULL
    // with an exception.
    unsafe { made(py, ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len().cast_signed())) }
}

/// Returns an exception of the type `E` with this message, or `MemoryError` if there is no memory for it.
#[cold]
pub(crate) fn error<E: PyTypeInfo>(py: Python<'_>, message: &str) -> PyErr {
    decode_str(py, message.as_bytes(), true)
        .map_or_else(PyErr::from, |message| PyErr::new::<E, _>((message.unbind(),)))
}

/// Returns an empty vector with capacity for `len` bytes, or sets `MemoryError`.
pub(crate) fn memory(py: Python<'_>, len: usize) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| no_memory(py))?;
    Ok(bytes)
}

/// Sets `MemoryError` if there is no memory for `len` bytes, roughly the number that the next call of the codec
/// allocates.
pub(crate) fn room(py: Python<'_>, len: usize) -> Result<(), Stop> {
    if pool::has_room(len) { Ok(()) } else { Err(no_memory(py)) }
}

/// Sets `MemoryError`.
#[cold]
pub(crate) fn no_memory(_: Python<'_>) -> Stop {
    // SAFETY: the argument shows that the thread is attached.
    unsafe { ffi::PyErr_NoMemory() };
    Stop::Raised
}

/// Returns a new, empty `dict`.
pub(crate) fn new_dict(py: Python<'_>) -> Result<Bound<'_, PyDict>, Stop> {
    // SAFETY: `py` proves that the thread is attached. The result is a new dict, or NULL with an exception.
    unsafe { Ok(made(py, ffi::PyDict_New())?.cast_into_unchecked()) }
}

/// Returns an `int`.
pub(crate) fn new_int(py: Python<'_>, value: usize) -> Answer<'_> {
    // SAFETY: `py` proves that the thread is attached. The result is a new reference, or NULL with an exception.
    unsafe { made(py, ffi::PyLong_FromSize_t(value)) }
}

pub(crate) fn new_list(py: Python<'_>) -> Result<Bound<'_, PyList>, Stop> {
    // SAFETY: `py` proves that the thread is attached. The result is a new list, or NULL with an exception.
    unsafe { Ok(made(py, ffi::PyList_New(0))?.cast_into_unchecked()) }
}

pub(crate) fn new_pair<'py>(
    py: Python<'py>,
    first: Bound<'py, PyAny>,
    second: Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>, Stop> {
    // SAFETY: `py` proves that the thread is attached. The tuple has two places, and both are set before any other code sees
    // it. The tuple takes over the references.
    unsafe {
        let pair = made(py, ffi::PyTuple_New(2))?;
        ffi::PyTuple_SetItem(pair.as_ptr(), 0, first.into_ptr());
        ffi::PyTuple_SetItem(pair.as_ptr(), 1, second.into_ptr());
        Ok(pair.cast_into_unchecked())
    }
}
