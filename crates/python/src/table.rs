//! The functions on columns, and the class of their results, as Python has them.

use std::num::NonZero;
use std::sync::Arc;

use codec::Decode;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::{self, Part, Type};
use crate::columns::{self, Failure, OnWrong, Verb};
use crate::quoting;
use crate::strings::{self, Text};

/// A column of results. It goes to whoever takes Arrow data by the PyCapsule interface:
/// `pyarrow.chunked_array(column)`, `polars.Series(column)`, `pandas.Series.from_arrow(column)`, DuckDB by way of
/// `pyarrow.table`; none of these copies it. `pyarrow.array(column)` puts the parts of a long one together first.
#[pyclass(frozen, name = "Column", module = "simdpct")]
pub(crate) struct PyColumn {
    class: Type,
    parts: Vec<Arc<Part>>,
}

#[pymethods]
impl PyColumn {
    fn __len__(&self) -> usize {
        self.parts.iter().map(|part| part.len).sum()
    }

    /// How many values are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.parts.iter().filter_map(|part| part.validity.as_ref()).map(|(_, nulls)| nulls).sum()
    }

    fn __repr__(&self) -> String {
        format!("<simdpct.Column of {} values, {} null>", self.__len__(), self.null_count())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::schema_capsule(py, self.class)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        // A request is one that may be ignored.
        let _ = requested_schema;
        let (class, parts) = (self.class, &self.parts);
        let part = py.detach(|| columns::joined(class, parts)).ok_or_else(|| {
            PyOverflowError::new_err(
                "too long for one array with offsets of 32 bits; take it as a stream of chunks",
            )
        })?;
        Ok((arrow::schema_capsule(py, class)?, arrow::array_capsule(py, &part)?))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = requested_schema;
        arrow::stream_capsule(py, self.class, self.parts.clone())
    }
}

fn apply(values: &Bound<'_, PyAny>, verb: Verb, threads: Option<usize>) -> PyResult<PyColumn> {
    let threads = match threads.map(NonZero::new) {
        Some(None) => return Err(PyValueError::new_err("threads is a positive number")),
        Some(threads) => threads,
        None => None,
    };
    let input = arrow::import(values)?;
    let made =
        values.py().detach(|| columns::apply(&input, verb, threads)).map_err(|failure| match failure {
            Failure::Row(row, why) => PyValueError::new_err(format!("row {row}: {why}")),
            Failure::TooLong(row) => PyOverflowError::new_err(format!(
                "row {row}: its result is longer than 2 GiB; cast the column to large_string"
            )),
            Failure::Broken(row) => PyValueError::new_err(format!(
                "not valid as an Arrow column: row {row} is not in its buffers"
            )),
        })?;
    Ok(PyColumn { class: made.class, parts: made.parts })
}

/// The argument `errors`; `replace` says whether that is one of the choices.
pub(crate) fn on_wrong(errors: &str, replace: bool) -> PyResult<OnWrong> {
    OnWrong::find(errors).filter(|found| replace || *found != OnWrong::Replace).ok_or_else(|| {
        let choices =
            if replace { "'replace', 'keep', 'null' or 'strict'" } else { "'keep', 'null' or 'strict'" };
        PyValueError::new_err(format!("errors has to be {choices}, and not {errors:?}"))
    })
}

/// Percent-encode each value of a column, as `quote`, or with `plus` as `quote_plus`.
///
/// `values` is anything with `__arrow_c_array__` or `__arrow_c_stream__`: columns of pyarrow, polars, pandas 3, DuckDB, of
/// strings or binary. The result is of the same type; nulls stay. It takes all cores, or `threads`, and not the GIL.
///
/// >>> import pyarrow
/// >>> pyarrow.array(quote_array(pyarrow.array(["a b", None, "é"]))).to_pylist()
/// ['a%20b', None, '%C3%A9']
#[pyfunction]
#[pyo3(signature = (values, safe = None, *, plus = false, threads = None))]
#[pyo3(text_signature = "(values, safe='/', *, plus=False, threads=None)")]
pub(crate) fn quote_array(
    values: &Bound<'_, PyAny>,
    safe: Option<Text<'_>>,
    plus: bool,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    let safe = safe.as_ref().map_or(Ok(&b"/"[..]), Text::bytes)?;
    apply(values, Verb::Encode(quoting::encoder_of(safe, plus)), threads)
}

/// Decode the escapes of each value of a column, as `unquote`, or with `plus` as `unquote_plus`.
///
/// `errors` says what becomes of a value that has a malformed escape or, if the column is one of strings, is not UTF-8 when
/// decoded. 'replace', as urllib: malformed escapes stay, and U+FFFD stands for what is not UTF-8. 'keep': malformed escapes
/// stay, and so do the escapes of what is not UTF-8. 'null': the value is null. 'strict': ValueError, with the row.
///
/// >>> import pyarrow
/// >>> pyarrow.array(unquote_array(pyarrow.array(["a%20b", "%FF", "100%"]), errors="null")).to_pylist()
/// ['a b', None, None]
#[pyfunction]
#[pyo3(signature = (values, *, plus = false, errors = "replace", threads = None))]
pub(crate) fn unquote_array(
    values: &Bound<'_, PyAny>,
    plus: bool,
    errors: &str,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    let decoder = if plus { Decode::new().form() } else { Decode::new() };
    apply(values, Verb::Decode(decoder, on_wrong(errors, true)?), threads)
}

/// Normalize the escapes of each value of a column, as `normalize`.
///
/// `errors` says what becomes of a value that has a malformed escape: 'keep', and it stays, 'null' or 'strict'.
///
/// >>> import pyarrow
/// >>> pyarrow.array(normalize_array(pyarrow.array(["/%7ejoe/a%2fb"]))).to_pylist()
/// ['/~joe/a%2Fb']
#[pyfunction]
#[pyo3(signature = (values, *, errors = "keep", threads = None))]
pub(crate) fn normalize_array(
    values: &Bound<'_, PyAny>,
    errors: &str,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    apply(values, Verb::Normalize(on_wrong(errors, true)?), threads)
}

/// The canonical form of each URL of a column, as `canonicalize`.
///
/// `errors` says what becomes of a URL that the profile refuses: 'null', 'keep' or 'strict'.
///
/// >>> import pyarrow
/// >>> urls = pyarrow.array(["HTTP://Example.com:80/%7Ejoe", "http://a:99999/"])
/// >>> pyarrow.array(canonicalize_array(urls, "rfc3986-scheme")).to_pylist()
/// ['http://example.com/~joe', None]
#[pyfunction]
#[pyo3(signature = (values, profile, *, errors = "null", threads = None))]
pub(crate) fn canonicalize_array(
    values: &Bound<'_, PyAny>,
    profile: &str,
    errors: &str,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    apply(values, Verb::Canonicalize(strings::profile(profile)?, on_wrong(errors, false)?), threads)
}

/// Which values of a column are malformed, as a column of booleans: those with a malformed escape and, of strings, those that
/// are not UTF-8 when decoded. These are the values that `errors` of `unquote_array` is about.
///
/// >>> import pyarrow
/// >>> pyarrow.array(malformed_array(pyarrow.array(["a%20b", "%FF", "100%", None]))).to_pylist()
/// [False, True, True, None]
#[pyfunction]
#[pyo3(signature = (values, *, threads = None))]
pub(crate) fn malformed_array(values: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<PyColumn> {
    apply(values, Verb::Malformed, threads)
}
