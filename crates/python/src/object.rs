//! Python objects as slices, and slices as Python objects.
//!
//! pyo3 has safe functions for this. They turn each failure into an exception first, and panic when there is no memory; here
//! a failure is a [`Stop`], and costs nothing where it only means that urllib has to do the work.

use std::marker::PhantomData;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Why there is no answer.
pub(crate) enum Stop {
    /// urllib's own function is to be called: it knows what to answer, or which exception to raise.
    Unusual,
    /// An exception is set.
    Raised,
}

impl From<PyErr> for Stop {
    #[cold]
    fn from(error: PyErr) -> Stop {
        // It was just raised, so the thread is attached; this call is cheap then.
        Python::attach(|py| error.restore(py));
        Stop::Raised
    }
}

pub(crate) type Answer<'py> = Result<Bound<'py, PyAny>, Stop>;

/// An object that somebody else keeps alive.
// INVARIANT: the object is alive, and the thread attached to the interpreter, during `'py`.
#[derive(Clone, Copy)]
pub(crate) struct Obj<'py>(*mut ffi::PyObject, PhantomData<&'py ()>);

impl<'py> Obj<'py> {
    /// # Safety
    ///
    /// `pointer` is an object that is alive during `'py`, and the thread is attached during `'py`.
    #[inline(always)]
    pub(crate) unsafe fn new(pointer: *mut ffi::PyObject) -> Obj<'py> {
        Obj(pointer, PhantomData)
    }

    /// Its address, which no other object has while this one is alive.
    #[inline(always)]
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// A reference of its own.
    #[inline(always)]
    pub(crate) fn own(self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: it is alive.
        unsafe { Bound::from_borrowed_ptr(py, self.0) }
    }

    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        // SAFETY: None is always there.
        self.0 == unsafe { ffi::Py_None() }
    }

    /// The value of a bool, and of nothing else.
    #[inline(always)]
    pub(crate) fn as_bool(self) -> Option<bool> {
        // SAFETY: both are always there.
        let (yes, no) = unsafe { (ffi::Py_True(), ffi::Py_False()) };
        if self.0 == yes { Some(true) } else { (self.0 == no).then_some(false) }
    }

    /// Whether its type is exactly this one.
    #[inline(always)]
    fn is_a(self, class: *mut ffi::PyTypeObject) -> bool {
        // SAFETY: it is alive.
        unsafe { ffi::Py_TYPE(self.0) == class }
    }

    /// The UTF-8 of a `str`, but not of a subclass, and not with surrogates.
    ///
    /// For ASCII these are the bytes of the object; of other text, CPython makes UTF-8 once and keeps it.
    #[inline(always)]
    pub(crate) fn as_utf8(self) -> Option<&'py [u8]> {
        if !self.is_a(&raw mut ffi::PyUnicode_Type) {
            return None;
        }
        let mut len = 0;
        // SAFETY: it is a str and alive.
        let data = unsafe { ffi::PyUnicode_AsUTF8AndSize(self.0, &raw mut len) };
        if data.is_null() {
            // SAFETY: the thread is attached.
            unsafe { ffi::PyErr_Clear() };
            return None;
        }
        // SAFETY: so many bytes are there, as long as the object, which does not change.
        Some(unsafe { std::slice::from_raw_parts(data.cast(), len.cast_unsigned()) })
    }

    /// The bytes of a `bytes`, but not of a subclass.
    #[inline(always)]
    pub(crate) fn as_bytes(self) -> Option<&'py [u8]> {
        if !self.is_a(&raw mut ffi::PyBytes_Type) {
            return None;
        }
        // SAFETY: it is a bytes and alive, so these cannot fail, and its bytes do not change.
        unsafe {
            let data = ffi::PyBytes_AsString(self.0);
            Some(std::slice::from_raw_parts(data.cast(), ffi::PyBytes_Size(self.0).cast_unsigned()))
        }
    }

    /// What `str()` gives for an `int`, `float`, `bool` or `None`, whose conversion runs no Python code.
    pub(crate) fn plain_str(self, py: Python<'py>) -> Answer<'py> {
        let plain = self.is_a(&raw mut ffi::PyLong_Type)
            || self.is_a(&raw mut ffi::PyFloat_Type)
            || self.is_a(&raw mut ffi::PyBool_Type)
            || self.is_none();
        if !plain {
            return Err(Stop::Unusual);
        }
        // SAFETY: it is alive; the result is a new reference or NULL.
        unsafe { made(py, ffi::PyObject_Str(self.0)) }
    }

    /// The value of an `int` that fits.
    pub(crate) fn as_int(self) -> Option<i64> {
        if !self.is_a(&raw mut ffi::PyLong_Type) {
            return None;
        }
        let mut overflow = 0;
        // SAFETY: it is an int and alive.
        let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(self.0, &raw mut overflow) };
        (overflow == 0).then_some(value)
    }

    /// The items of a `list` or `tuple`, but not of a subclass.
    ///
    /// Each is alive while nobody changes a list, so no Python code may run before it is out of use.
    pub(crate) fn as_items(self) -> Option<impl ExactSizeIterator<Item = Obj<'py>>> {
        let list = self.is_a(&raw mut ffi::PyList_Type);
        if !list && !self.is_a(&raw mut ffi::PyTuple_Type) {
            return None;
        }
        // SAFETY: it is a list or tuple, and alive.
        let len = unsafe { if list { ffi::PyList_Size(self.0) } else { ffi::PyTuple_Size(self.0) } };
        Some((0..len.cast_unsigned()).map(move |index| {
            let index = index.cast_signed();
            // SAFETY: the list or tuple is alive and has this item, which it keeps alive; only Python code could change that.
            unsafe {
                Obj::new(if list {
                    ffi::PyList_GetItem(self.0, index)
                } else {
                    ffi::PyTuple_GetItem(self.0, index)
                })
            }
        }))
    }

    /// Whether it is a `tuple`, but not of a subclass.
    pub(crate) fn is_tuple(self) -> bool {
        self.is_a(&raw mut ffi::PyTuple_Type)
    }

    /// The keys and values of a `dict`, but not of a subclass. As with `as_items`, no Python code may run meanwhile.
    pub(crate) fn as_entries(self) -> Option<impl Iterator<Item = (Obj<'py>, Obj<'py>)>> {
        if !self.is_a(&raw mut ffi::PyDict_Type) {
            return None;
        }
        let mut at = 0;
        Some(std::iter::from_fn(move || {
            let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: it is a dict and alive; it keeps what it holds alive, and only Python code could change that.
            unsafe {
                let more = ffi::PyDict_Next(self.0, &raw mut at, &raw mut key, &raw mut value);
                (more != 0).then(|| (Obj::new(key), Obj::new(value)))
            }
        }))
    }
}

/// A new reference.
///
/// # Safety
///
/// `pointer` is a new reference, or NULL and an exception is set.
#[inline(always)]
unsafe fn made<'py>(py: Python<'py>, pointer: *mut ffi::PyObject) -> Answer<'py> {
    // SAFETY: the caller vouches for it.
    unsafe { Bound::from_owned_ptr_or_opt(py, pointer) }.ok_or(Stop::Raised)
}

/// Text of bytes that are ASCII, as what an encoder gives.
#[inline(always)]
pub(crate) fn new_str<'py>(py: Python<'py>, ascii: &[u8]) -> Answer<'py> {
    // SAFETY: the thread is attached; a slice has a length that fits.
    unsafe { made(py, ffi::PyUnicode_FromStringAndSize(ascii.as_ptr().cast(), ascii.len().cast_signed())) }
}

/// The text of bytes. With `replace`, what is not UTF-8 becomes U+FFFD; otherwise it is `Stop::Unusual`.
#[inline(always)]
pub(crate) fn decode_str<'py>(py: Python<'py>, bytes: &[u8], replace: bool) -> Answer<'py> {
    let errors = if replace { c"replace" } else { c"strict" };
    // SAFETY: the thread is attached; a slice has a length that fits.
    let text = unsafe {
        made(py, ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len().cast_signed(), errors.as_ptr()))
    };
    if text.is_err() && !replace {
        // SAFETY: the thread is attached.
        unsafe { ffi::PyErr_Clear() };
        return Err(Stop::Unusual);
    }
    text
}

#[inline(always)]
pub(crate) fn new_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> Answer<'py> {
    // SAFETY: the thread is attached; a slice has a length that fits.
    unsafe { made(py, ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len().cast_signed())) }
}

pub(crate) fn new_list(py: Python<'_>) -> Result<Bound<'_, PyList>, Stop> {
    // SAFETY: the thread is attached; the result is a new list or NULL.
    unsafe { Ok(made(py, ffi::PyList_New(0))?.cast_into_unchecked()) }
}

pub(crate) fn new_pair<'py>(
    py: Python<'py>,
    first: Bound<'py, PyAny>,
    second: Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>, Stop> {
    // SAFETY: the thread is attached. Both items are set before anybody sees the tuple, which takes over the references.
    unsafe {
        let pair = made(py, ffi::PyTuple_New(2))?;
        ffi::PyTuple_SetItem(pair.as_ptr(), 0, first.into_ptr());
        ffi::PyTuple_SetItem(pair.as_ptr(), 1, second.into_ptr());
        Ok(pair.cast_into_unchecked())
    }
}
