//! How Python calls the functions that stand in for urllib's: with an array of arguments, without a wrapper between.
//!
//! A wrapper of pyo3's takes about 20 ns, which is as long as encoding a URL. Here an argument is looked at once, and what is
//! unusual in any way is handed, as it came, to urllib's own function, which answers or raises.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::object::{Answer, Obj, Stop};
use crate::{query, quoting};

/// The arguments of one call.
#[derive(Clone, Copy)]
pub(crate) struct Call<'py> {
    pub(crate) py: Python<'py>,
    positional: &'py [Obj<'py>],
    /// The values of arguments by name.
    by_name: &'py [Obj<'py>],
    /// A tuple with their names.
    names: Option<Obj<'py>>,
}

impl<'py> Call<'py> {
    /// The arguments in the order of `names`; `None` for those that are not given. `Stop::Unusual` if there are others, or
    /// one twice: urllib's function raises the exception for that.
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
            for (name, value) in given.as_items().ok_or(Stop::Unusual)?.zip(self.by_name) {
                let name = name.as_utf8().ok_or(Stop::Unusual)?;
                let place = names.iter().position(|known| known.as_bytes() == name).ok_or(Stop::Unusual)?;
                if arguments[place].replace(*value).is_some() {
                    return Err(Stop::Unusual);
                }
            }
        }
        Ok(arguments)
    }

    /// Calls a function of urllib with the same arguments.
    #[cold]
    fn pass_on(&self, function: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let positional = PyTuple::new(py, self.positional.iter().map(|argument| argument.own(py)))?;
        let Some(names) = self.names else {
            return function.bind(py).call1(positional);
        };
        let by_name = PyDict::new(py);
        for (name, value) in names.own(py).cast_into::<PyTuple>()?.iter().zip(self.by_name) {
            by_name.set_item(name, value.own(py))?;
        }
        function.bind(py).call(positional, Some(&by_name))
    }
}

/// urllib's own functions, in the order of `DEFINITIONS`, as they were when this module was imported.
static ORIGINALS: OnceLock<Vec<Py<PyAny>>> = OnceLock::new();
/// Ours, in the same order.
static OURS: OnceLock<Vec<Py<PyAny>>> = OnceLock::new();

/// Whether `object` is the function with this number, ours or urllib's.
pub(crate) fn is_function(object: Obj<'_>, number: usize) -> bool {
    [&ORIGINALS, &OURS]
        .iter()
        .any(|all| all.get().is_some_and(|all| all[number].as_ptr().addr() == object.address()))
}

/// # Safety
///
/// As CPython calls a function with `METH_FASTCALL | METH_KEYWORDS`: the thread is attached; `count` objects are at `args`,
/// and then as many as `names`, a tuple of `str` or NULL, has; all are alive during the call.
#[inline(always)]
unsafe fn enter(
    function: for<'py> fn(&Call<'py>) -> Answer<'py>,
    number: usize,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let count = count.cast_unsigned();
    // SAFETY: by this function's own requirements. `Obj` is a pointer and nothing else. CPython may pass NULL for no arguments.
    let call = unsafe {
        let named = if names.is_null() { 0 } else { ffi::PyTuple_Size(names).cast_unsigned() };
        let all = if args.is_null() { &[] } else { std::slice::from_raw_parts(args.cast(), count + named) };
        let (positional, by_name) = all.split_at(count);
        let names = (!names.is_null()).then(|| Obj::new(names));
        Call { py: Python::assume_attached(), positional, by_name, names }
    };
    match catch_unwind(AssertUnwindSafe(|| function(&call))) {
        Ok(Ok(answer)) => answer.into_ptr(),
        Ok(Err(Stop::Raised)) => std::ptr::null_mut(),
        Ok(Err(Stop::Unusual)) => pass_on(&call, number),
        Err(_) => panicked(),
    }
}

#[cold]
fn pass_on(call: &Call<'_>, number: usize) -> *mut ffi::PyObject {
    // What drops here may be an exception of pyo3's, which wants to know that the thread is attached.
    Python::attach(|py| {
        let originals = ORIGINALS.get().expect("set before the functions are in the module");
        match call.pass_on(&originals[number]) {
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

/// A definition that only CPython looks at.
#[repr(transparent)]
struct Definition(ffi::PyMethodDef);
// SAFETY: what it points at is constant.
unsafe impl Sync for Definition {}

macro_rules! functions {
    ($($number:literal $name:ident $function:path, $doc:literal;)*) => {
        $(
            /// # Safety
            ///
            /// As of `enter`.
            unsafe extern "C" fn $name(
                _module: *mut ffi::PyObject,
                args: *const *mut ffi::PyObject,
                count: ffi::Py_ssize_t,
                names: *mut ffi::PyObject,
            ) -> *mut ffi::PyObject {
                // SAFETY: the same requirements.
                unsafe { enter($function, $number, args, count, names) }
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// The last one ends the list.
        static DEFINITIONS: [Definition; NAMES.len() + 1] = [
            $(Definition(ffi::PyMethodDef {
                ml_name: concat!(stringify!($name), "\0").as_ptr().cast::<c_char>(),
                ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: $name },
                ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
                ml_doc: concat!($doc, "\0").as_ptr().cast::<c_char>(),
            }),)*
            Definition(ffi::PyMethodDef::zeroed()),
        ];
    };
}

pub(crate) const QUOTE: usize = 0;
pub(crate) const QUOTE_PLUS: usize = 1;

functions! {
    0 quote quoting::quote, "\
quote(string, safe='/', encoding=None, errors=None)
--

Percent-encode `string`, a str or bytes, but for letters, digits, `_.-~` and the characters of `safe`.

The same as urllib.parse.quote.

>>> quote('/El Ni\u{f1}o/')
'/El%20Ni%C3%B1o/'";
    1 quote_plus quoting::quote_plus, "\
quote_plus(string, safe='', encoding=None, errors=None)
--

As quote, with a plus sign for each space: for the values of an HTML form.

The same as urllib.parse.quote_plus.

>>> quote_plus('fish & chips')
'fish+%26+chips'";
    2 quote_from_bytes quoting::quote_from_bytes, "\
quote_from_bytes(bs, safe='/')
--

As quote, of bytes or a bytearray only.

The same as urllib.parse.quote_from_bytes.

>>> quote_from_bytes(b'a&\\xef')
'a%26%EF'";
    3 unquote quoting::unquote, "\
unquote(string, encoding='utf-8', errors='replace')
--

Decode the escapes of `string`, a str or bytes. A malformed escape stays as it is.

The same as urllib.parse.unquote.

>>> unquote('/El%20Ni%C3%B1o/100%')
'/El Ni\u{f1}o/100%'";
    4 unquote_plus quoting::unquote_plus, "\
unquote_plus(string, encoding='utf-8', errors='replace')
--

As unquote, with a space for each plus sign: for the values of an HTML form.

The same as urllib.parse.unquote_plus.

>>> unquote_plus('fish+%26+chips')
'fish & chips'";
    5 unquote_to_bytes quoting::unquote_to_bytes, "\
unquote_to_bytes(string)
--

As unquote, to bytes. What is not ASCII in a str becomes UTF-8.

The same as urllib.parse.unquote_to_bytes.

>>> unquote_to_bytes('a%26%EF')
b'a&\\xef'";
    6 urlencode query::urlencode, "The whole of urlencode, which has a signature in Python.";
    7 parse_qsl query::parse_qsl, "\
parse_qsl(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace', max_num_fields=None, separator='&')
--

The pairs of a query, decoded, as a list.

The same as urllib.parse.parse_qsl.

>>> parse_qsl('q=fish+%26+chips&page=2')
[('q', 'fish & chips'), ('page', '2')]";
    8 parse_qs query::parse_qs, "\
parse_qs(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace', max_num_fields=None, separator='&')
--

The pairs of a query, decoded, as a dict with a list for each name.

The same as urllib.parse.parse_qs.

>>> parse_qs('tag=a&tag=b')
{'tag': ['a', 'b']}";
}

/// Puts the functions into the module.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let urllib = py.import("urllib.parse")?;
    let of = |from: &Bound<'_, PyModule>| -> PyResult<Vec<Py<PyAny>>> {
        NAMES.iter().map(|name| Ok(from.getattr(*name)?.unbind())).collect()
    };
    let _ = ORIGINALS.set(of(&urllib)?);
    // SAFETY: the thread is attached, and the definitions live as long as the process; CPython does not write to them.
    let status =
        unsafe { ffi::PyModule_AddFunctions(module.as_ptr(), (&raw const DEFINITIONS).cast_mut().cast()) };
    if status != 0 {
        return Err(PyErr::fetch(py));
    }
    let ours = of(module)?;
    for function in &ours {
        // Where people import them from.
        function.bind(py).setattr("__module__", "simdpct")?;
    }
    let _ = OURS.set(ours);
    Ok(())
}
