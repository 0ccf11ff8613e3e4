//! The functions on columns, and the class of their results, for Python.

use std::num::NonZero;
use std::sync::Arc;

use functions::{
    Body, CANONICALIZE, DECODE, ENCODE, Function, MALFORMED, NORMALIZE, Options, Policy, SqlFunction,
    sql_functions,
};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::Input;
use crate::columns::{self, Argument, Failure, Job};
use crate::part::{self, Part, Type};
use crate::strings::{self, Text};
use crate::{arrow, quoting};

/// A column of results, for any library that takes Arrow data by the PyCapsule interface: `pyarrow.chunked_array(column)`,
/// `polars.Series(column)`, `pandas.Series.from_arrow(column)`, and DuckDB through `pyarrow.table`. None of these copies it.
/// `pyarrow.array(column)` joins the parts of a long column first.
#[pyclass(frozen, name = "Column", module = "simdpct")]
pub(crate) struct PyColumn {
    class: Type,
    parts: Vec<Arc<Part>>,
}

#[pymethods]
impl PyColumn {
    fn __len__(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.parts.iter().map(|part| part.nulls()).sum()
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
        // The PyCapsule interface allows a producer to ignore the requested schema.
        let _ = requested_schema;
        let (class, parts) = (self.class, &self.parts);
        let part = py.detach(|| part::joined(class, parts)).ok_or_else(|| {
            PyOverflowError::new_err(
                "the column is too long for one array with offsets of 32 bits; take it as a stream of chunks",
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

fn apply(
    values: &Bound<'_, PyAny>,
    function: &'static Function,
    options: Options,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    run(values, &[], Job { function, options, more: Vec::new() }, threads)
}

fn run(values: &Bound<'_, PyAny>, more: &[Input], job: Job, threads: Option<usize>) -> PyResult<PyColumn> {
    let threads = match threads.map(NonZero::new) {
        Some(None) => return Err(PyValueError::new_err("threads must be a positive number")),
        Some(threads) => threads,
        None => None,
    };
    let input = arrow::import(values)?;
    let made =
        values.py().detach(|| columns::apply(&input, more, &job, threads)).map_err(
            |failure| match failure {
                Failure::Row(row, why) => PyValueError::new_err(format!("row {row}: {why}")),
                Failure::TooLong(row) => PyOverflowError::new_err(format!(
                    "row {row}: its result is longer than 2 GiB; cast the column to large_string"
                )),
                Failure::Broken(row) => PyValueError::new_err(format!(
                    "not valid as an Arrow column: row {row} is not in its buffers"
                )),
                Failure::Argument(why) => PyValueError::new_err(why),
            },
        )?;
    Ok(PyColumn { class: made.class, parts: made.parts })
}

/// Returns the name that a policy has in Python's argument `errors`.
fn name_of(policy: Policy) -> &'static str {
    match policy {
        Policy::Fail => "strict",
        policy => policy.name(),
    }
}

/// Returns the policy that Python's argument `errors` calls `name`.
pub(crate) fn find_policy(name: &str) -> Option<Policy> {
    Policy::ALL.into_iter().find(|policy| name_of(*policy) == name)
}

/// Returns the policy that the argument `errors` names. A name that `function` does not support raises `ValueError`.
pub(crate) fn policy(function: &Function, errors: &str) -> PyResult<Policy> {
    let choices = || function.policies.iter().map(|(policy, _)| *policy);
    find_policy(errors).filter(|found| choices().any(|policy| policy == *found)).ok_or_else(|| {
        let names: Vec<_> = choices().map(|policy| format!("'{}'", name_of(policy))).collect();
        let (last, others) = names.split_last().expect("a function with choices");
        PyValueError::new_err(format!("errors must be {} or {last}, not {errors:?}", others.join(", ")))
    })
}

/// Percent-encode each value of a column like `quote`, or with `plus` like `quote_plus`.
///
/// `values` is any object with `__arrow_c_array__` or `__arrow_c_stream__`, such as a column of pyarrow, polars, pandas 3 or DuckDB,
/// of strings or binary. The result is of the same type; nulls stay. The work runs on all cores, or on `threads`, and without
/// the GIL.
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
    let keep = quoting::keep(quoting::bits_of(safe));
    apply(values, &ENCODE, Options { keep, plus, ..Options::default() }, threads)
}

/// Decode the escapes of each value of a column like `unquote`, or with `plus` like `unquote_plus`.
///
/// `errors` says what happens to a value with a malformed escape or, in a column of strings, with invalid UTF-8 when decoded:
///
/// - 'keep': malformed escapes stay, and so do the escapes of invalid UTF-8.
/// - 'replace', like urllib: malformed escapes stay, and U+FFFD replaces invalid UTF-8.
/// - 'null': the value becomes null.
/// - 'strict': raise ValueError, which names the row.
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
    let policy = policy(&DECODE, errors)?;
    apply(values, &DECODE, Options { plus, policy, ..Options::default() }, threads)
}

/// Normalize the escapes of each value of a column like `normalize`.
///
/// `errors` says what happens to a value with a malformed escape: with 'keep' or 'replace' the escape stays, with 'null' the value
/// becomes null, and 'strict' raises ValueError.
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
    let policy = policy(&NORMALIZE, errors)?;
    apply(values, &NORMALIZE, Options { policy, ..Options::default() }, threads)
}

/// Bring each URL of a column into a canonical form like `canonicalize`.
///
/// `errors` says what happens to a URL that the profile rejects: with 'keep' it stays, with 'null' it becomes null, and 'strict'
/// raises ValueError.
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
    let (profile, policy) = (strings::profile(profile)?, policy(&CANONICALIZE, errors)?);
    apply(values, &CANONICALIZE, Options { profile, policy, ..Options::default() }, threads)
}

/// Report for each value of a column whether it is malformed, as a column of booleans.
///
/// A malformed value has a malformed escape or, in a column of strings, invalid UTF-8 when decoded. `errors` of `unquote_array` says
/// what happens to these values.
///
/// >>> import pyarrow
/// >>> pyarrow.array(malformed_array(pyarrow.array(["a%20b", "%FF", "100%", None]))).to_pylist()
/// [False, True, True, None]
#[pyfunction]
#[pyo3(signature = (values, *, threads = None))]
pub(crate) fn malformed_array(values: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<PyColumn> {
    apply(values, &MALFORMED, Options::default(), threads)
}

/// Returns the job of a function of URLs. `None` is an argument that is a column. An unknown name or another number of arguments
/// raises `ValueError`.
pub(crate) fn url_job(name: &str, more: &[Option<Text<'_>>]) -> PyResult<Job> {
    let urls = || sql_functions().iter().filter(|sql| !matches!(sql.function.body, Body::Verb(_)));
    let short = |sql: &SqlFunction| sql.name.trim_start_matches("url_").to_owned();
    let Some(sql) = urls().find(|sql| short(sql) == name) else {
        let names: Vec<_> = urls().map(short).collect();
        let message =
            format!("there is no function {name:?} of URLs; the functions are {}", names.join(", "));
        return Err(PyValueError::new_err(message));
    };
    if more.len() != sql.function.more.len() {
        let message = format!("{} does not take {} arguments", sql.syntax(), 1 + more.len());
        return Err(PyValueError::new_err(message));
    }
    let argument = |text: &Option<Text<'_>>| match text {
        Some(text) => Ok(Argument::Constant(text.bytes()?.to_vec())),
        None => Ok(Argument::Column),
    };
    let more = more.iter().map(argument).collect::<PyResult<_>>()?;
    Ok(Job { function: sql.function, options: Options::default(), more })
}

/// Take each URL of a column apart, or put it together, by a function of the SQL engines without its `url_`: 'scheme', 'userinfo', 'host',
/// 'domain', 'suffix', 'port', 'path', 'query', 'fragment', 'parts', 'segments', 'params', 'param', 'without_params', 'with_param' or 'join'.
///
/// The README of the package describes them. `arguments` are those after the URL: constants, or columns with a value for each URL. A column
/// of one row has the same value for all. A part that a URL does not have is null. The parts of a column of views are views of its
/// buffers.
///
/// >>> import pyarrow
/// >>> urls = pyarrow.array(["http://a.example/b?q=c%26d&utm_id=1", "/b", None])
/// >>> pyarrow.array(url_array(urls, "host")).to_pylist()
/// ['a.example', None, None]
/// >>> pyarrow.array(url_array(urls, "param", "q")).to_pylist()
/// ['c&d', None, None]
/// >>> pyarrow.array(url_array(urls, "without_params", "utm_*,gclid")).to_pylist()
/// ['http://a.example/b?q=c%26d', '/b', None]
/// >>> pyarrow.array(url_array(urls, "join", pyarrow.array(["../c", "d", "e"]))).to_pylist()
/// ['http://a.example/c', None, None]
#[pyfunction]
#[pyo3(signature = (values, function, *arguments, threads = None))]
pub(crate) fn url_array(
    values: &Bound<'_, PyAny>,
    function: &str,
    arguments: Vec<Bound<'_, PyAny>>,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    let (mut more, mut columns) = (Vec::new(), Vec::new());
    for argument in &arguments {
        let is_column = argument.hasattr("__arrow_c_array__")? || argument.hasattr("__arrow_c_stream__")?;
        more.push(if is_column { None } else { Some(argument.extract()?) });
        if is_column {
            columns.push(arrow::import(argument)?);
        }
    }
    run(values, &columns, url_job(function, &more)?, threads)
}
