//! The table of the functions that replace urllib's, as CPython calls them.

use std::ffi::c_char;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::call::{self, Pair};
use crate::{query, quoting};

/// CPython's definition of a function: its name, address, flags and documentation.
#[repr(transparent)]
struct Definition(ffi::PyMethodDef);
// SAFETY: the pointers of a definition are to constants, and CPython does not write to it.
unsafe impl Sync for Definition {}

macro_rules! functions {
    ($($name:ident = $function:path, $pair:path, $doc:literal;)*) => {
        $(
            /// # Safety
            ///
            /// CPython calls this through `DEFINITIONS`, so the arguments are as [`call::answer`] requires.
            unsafe extern "C" fn $name(
                _module: *mut ffi::PyObject,
                args: *const *mut ffi::PyObject,
                count: ffi::Py_ssize_t,
                names: *mut ffi::PyObject,
            ) -> *mut ffi::PyObject {
                // SAFETY: the precondition of this function is that of `call::answer`.
                unsafe { call::answer($function, &$pair, args, count, names) }
            }
        )*

        const PAIRS: &[(&str, &Pair)] = &[$((stringify!($name), &$pair)),*];

        /// The definitions of all functions. The last one is zeroed, which ends the list for CPython.
        static DEFINITIONS: [Definition; PAIRS.len() + 1] = [
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

functions! {
    quote = quoting::quote, quoting::QUOTE, "\
quote(string, safe='/', encoding=None, errors=None)
--

Percent-encode a str or bytes. Letters, digits, `_.-~` and the characters of `safe` stay.

The same as urllib.parse.quote.

>>> quote('/El Ni\u{f1}o/')
'/El%20Ni%C3%B1o/'";
    quote_plus = quoting::quote_plus, quoting::QUOTE_PLUS, "\
quote_plus(string, safe='', encoding=None, errors=None)
--

Percent-encode a str or bytes for an HTML form: a space becomes a plus sign.

The same as urllib.parse.quote_plus.

>>> quote_plus('fish & chips')
'fish+%26+chips'";
    quote_from_bytes = quoting::quote_from_bytes, quoting::QUOTE_FROM_BYTES, "\
quote_from_bytes(bs, safe='/')
--

Percent-encode bytes or a bytearray, and nothing else.

The same as urllib.parse.quote_from_bytes.

>>> quote_from_bytes(b'a&\\xef')
'a%26%EF'";
    unquote = quoting::unquote, quoting::UNQUOTE, "\
unquote(string, encoding='utf-8', errors='replace')
--

Decode the escapes of a str or bytes. A malformed escape stays as it is.

The same as urllib.parse.unquote.

>>> unquote('/El%20Ni%C3%B1o/100%')
'/El Ni\u{f1}o/100%'";
    unquote_plus = quoting::unquote_plus, quoting::UNQUOTE_PLUS, "\
unquote_plus(string, encoding='utf-8', errors='replace')
--

Decode the escapes of a value of an HTML form: a plus sign becomes a space.

The same as urllib.parse.unquote_plus.

>>> unquote_plus('fish+%26+chips')
'fish & chips'";
    unquote_to_bytes = quoting::unquote_to_bytes, quoting::UNQUOTE_TO_BYTES, "\
unquote_to_bytes(string)
--

Decode the escapes of a str or bytes to bytes. Other characters of a str become UTF-8.

The same as urllib.parse.unquote_to_bytes.

>>> unquote_to_bytes('a%26%EF')
b'a&\\xef'";
    urlencode = query::urlencode, query::URLENCODE, "\
Do the work of urlencode. Its signature is in Python.";
    parse_qsl = query::parse_qsl, query::PARSE_QSL, "\
parse_qsl(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace', max_num_fields=None, separator='&')
--

Return the decoded pairs of a query as a list.

The same as urllib.parse.parse_qsl.

>>> parse_qsl('q=fish+%26+chips&page=2')
[('q', 'fish & chips'), ('page', '2')]";
    parse_qs = query::parse_qs, query::PARSE_QS, "\
parse_qs(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace', max_num_fields=None, separator='&')
--

Return the decoded pairs of a query as a dict, with a list of values for each name.

The same as urllib.parse.parse_qs.

>>> parse_qs('tag=a&tag=b')
{'tag': ['a', 'b']}";
}

/// Adds the functions to the Python module, and pairs each with the function of urllib that it replaces.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let urllib = module.py().import("urllib.parse")?;
    // SAFETY: the thread is attached, because `module` is a `Bound`. The definitions are a `static`, and the last one is
    // zeroed.
    let status =
        unsafe { ffi::PyModule_AddFunctions(module.as_ptr(), (&raw const DEFINITIONS).cast_mut().cast()) };
    if status != 0 {
        return Err(PyErr::fetch(module.py()));
    }
    for (name, pair) in PAIRS {
        let ours = module.getattr(*name)?;
        // Users import the functions from `simdpct`, and not from this compiled module.
        ours.setattr("__module__", "simdpct")?;
        pair.set(urllib.getattr(*name)?, ours);
    }
    Ok(())
}
