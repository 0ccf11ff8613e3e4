//! The arguments of a call, and urllib's own functions, which answer unusual calls.
//!
//! CPython passes an array of arguments directly to the functions that replace urllib's. PyO3's wrapper would add about
//! 20 ns, which is as long as encoding a URL. An unusual call, with arguments that this package does not support, goes to
//! urllib's function, which answers or raises an exception.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

use pyo3::exceptions::{PyImportError, PySystemError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDictMethods, PyTuple};

use crate::object::{Answer, Obj, Stop, new_dict};

/// The arguments of one call from Python.
#[derive(Clone, Copy)]
pub(crate) struct Call<'py> {
    pub(crate) py: Python<'py>,
    positional: &'py [Obj<'py>],
    /// The values of the keyword arguments.
    values: &'py [Obj<'py>],
    /// A tuple with the names of the keyword arguments, in the order of `values`.
    names: Option<Obj<'py>>,
}

impl<'py> Call<'py> {
    /// Returns the arguments in the order of `names`, with `None` for each one that is not given.
    ///
    /// An unknown or repeated argument gives `Stop::Unusual`, so that urllib's function raises the exception.
    #[inline(always)]
    pub(crate) fn arguments<const N: usize>(&self, names: [&str; N]) -> Result<[Option<Obj<'py>>; N], Stop> {
        let mut arguments = [None; N];
        if self.positional.len() > N {
            return Err(Stop::Unusual);
        }
        for (argument, given) in arguments.iter_mut().zip(self.positional) {
            *argument = Some(*given);
        }
        if let Some(given) = self.names {
            for (name, value) in given.tuple_items().ok_or(Stop::Unusual)?.zip(self.values) {
                let name = name.as_utf8().ok_or(Stop::Unusual)?;
                let place = names.iter().position(|known| known.as_bytes() == name).ok_or(Stop::Unusual)?;
                if arguments[place].replace(*value).is_some() {
                    return Err(Stop::Unusual);
                }
            }
        }
        Ok(arguments)
    }

    /// Calls another function with the same arguments.
    fn pass_on(&self, function: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let positional = PyTuple::new(py, self.positional.iter().map(|argument| argument.own(py)))?;
        let Some(names) = self.names else {
            return function.bind(py).call1(positional);
        };
        let named = new_dict(py)?;
        for (name, value) in names.own(py).cast_into::<PyTuple>()?.iter().zip(self.values) {
            named.set_item(name, value.own(py))?;
        }
        function.bind(py).call(positional, Some(&named))
    }
}

/// Returns an ImportError in a subinterpreter, and after `Py_Finalize`. This module and PyO3 keep Python objects in statics, and
/// an object of another interpreter may be gone before the next call. On CPython 3.10 and 3.11, `Python::attach` in a
/// subinterpreter also waits for ever.
pub(crate) fn require_main_interpreter(_: Python<'_>) -> PyResult<()> {
    /// Whether Python was finalized after an import of this module.
    static ENDED: AtomicBool = AtomicBool::new(false);
    extern "C" fn end() {
        ENDED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the argument shows that the thread is attached, so it has a current interpreter, whose ID these calls read.
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if id != 0 {
        return Err(PyImportError::new_err(
            "simdpct works only in the main interpreter of a process, and this is a subinterpreter: with mod_wsgi, set \
             WSGIApplicationGroup %{GLOBAL}; with uWSGI, set single-interpreter = true",
        ));
    }
    if ENDED.load(Ordering::Relaxed) {
        return Err(PyImportError::new_err("simdpct cannot be imported again after Py_Finalize"));
    }
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // `Py_AtExit` fails if 32 other functions are registered. Then CPython does not call `end`.
        // SAFETY: `end` calls no function of Python, and it stays in memory, because CPython never unloads a module.
        unsafe { ffi::Py_AtExit(Some(end)) };
    });
    Ok(())
}

/// A function of urllib, and the function of this package that replaces it.
pub(crate) struct Pair {
    /// The function of urllib that existed when this package was imported.
    urllib: OnceLock<Py<PyAny>>,
    ours: OnceLock<Py<PyAny>>,
}

impl Pair {
    pub(crate) const fn new() -> Pair {
        Pair { urllib: OnceLock::new(), ours: OnceLock::new() }
    }

    /// Stores both functions. If the package is imported again, nothing changes.
    pub(crate) fn set(&self, urllib: Bound<'_, PyAny>, ours: Bound<'_, PyAny>) {
        let _ = (self.urllib.set(urllib.unbind()), self.ours.set(ours.unbind()));
    }

    /// Reports whether an object is one of the two functions.
    pub(crate) fn contains(&self, object: Obj<'_>) -> bool {
        let is = |function: &Py<PyAny>| function.as_ptr().addr() == object.address();
        self.ours.get().is_some_and(is) || self.urllib.get().is_some_and(is)
    }
}

/// Answers a call with `function`, or with urllib's function if the call is unusual.
///
/// # Safety
///
/// The arguments are as CPython passes them to a function with `METH_FASTCALL | METH_KEYWORDS`: the thread is attached; `args`
/// has `count` objects, and then as many as `names`, a tuple of `str` or NULL, has items; all are alive during the call.
#[inline(always)]
pub(crate) unsafe fn answer(
    function: for<'py> fn(&Call<'py>) -> Answer<'py>,
    pair: &Pair,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let count = count.cast_unsigned();
    // SAFETY: the caller promises that these objects are alive, and `Obj` has the layout of a pointer. CPython may pass NULL if
    // there are no arguments.
    let call = unsafe {
        let named = if names.is_null() { 0 } else { ffi::PyTuple_Size(names).cast_unsigned() };
        let all = if args.is_null() { &[] } else { std::slice::from_raw_parts(args.cast(), count + named) };
        let (positional, values) = all.split_at(count);
        let names = (!names.is_null()).then(|| Obj::new(names));
        Call { py: Python::assume_attached(), positional, values, names }
    };
    match catch_unwind(AssertUnwindSafe(|| function(&call))) {
        Ok(Ok(answer)) => answer.into_ptr(),
        Ok(Err(Stop::Raised)) => std::ptr::null_mut(),
        Ok(Err(Stop::Unusual)) => answer_by_urllib(&call, pair),
        Err(_) => panicked(),
    }
}

#[cold]
fn answer_by_urllib(call: &Call<'_>, pair: &Pair) -> *mut ffi::PyObject {
    // Inside `attach`, PyO3 knows that the thread is attached. Outside of it, PyO3 would free the exception only later.
    Python::attach(|py| {
        let urllib = pair.urllib.get().expect("`install` sets it before Python can call the function");
        match call.pass_on(urllib) {
            Ok(answer) => answer.into_ptr(),
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        }
    })
}

#[cold]
fn panicked() -> *mut ffi::PyObject {
    Python::attach(|py| PySystemError::new_err("a bug in simdpct: its code panicked").restore(py));
    std::ptr::null_mut()
}
