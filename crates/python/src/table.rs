//! The functions on columns, and the class of their results, for Python.

use std::num::NonZero;

use arrow_buffer::bit_util;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use functions::{
    Body, CANONICALIZE, DECODE, ENCODE, Failure, Function, MALFORMED, NORMALIZE, Options, PartBody, Policy,
    sql_functions, unknown,
};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyList};

use crate::columns::{self, Argument, Column, Job};
use crate::object::{decode_str, new_bytes, new_dict, new_list, new_str};
use crate::strings::{self, Text};
use crate::{arrow, quoting};

/// A column of results, for any library that takes Arrow data by the PyCapsule interface: `pyarrow.chunked_array(column)`,
/// `polars.Series(column)`, `pandas.Series.from_arrow(column)`, and DuckDB through `pyarrow.table`. None of these copies it.
/// `pyarrow.array(column)` joins the parts of a long column first.
///
/// It is also a sequence of Python objects, so that `frame["name"] = column` works with pandas: str or bytes, bool, list and dict, and None
/// for null.
#[pyclass(frozen, name = "Column", module = "simdpct")]
pub(crate) struct PyColumn(Column);

#[pymethods]
impl PyColumn {
    fn __len__(&self) -> usize {
        self.0.chunks.iter().map(ArrayData::len).sum()
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.0.chunks.iter().map(ArrayData::null_count).sum()
    }

    /// Return the values as a list of str, bytes, bool, list or dict, with None for null.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = new_list(py)?;
        for data in &self.0.chunks {
            for row in 0..data.len() {
                list.append(item(py, data, row)?)?;
            }
        }
        Ok(list)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (len, mut start) = (self.__len__(), 0);
        let row = if index < 0 { len.wrapping_add_signed(index) } else { index.unsigned_abs() };
        for data in &self.0.chunks {
            if (start..start + data.len()).contains(&row) {
                return item(py, data, row - start);
            }
            start += data.len();
        }
        Err(PyIndexError::new_err(format!("index {index} is outside a column of {len} values")))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 10;
        let (len, nulls) = (self.__len__(), self.null_count());
        let mut shown = Vec::new();
        for row in 0..len.min(SHOWN) {
            let value = self.__getitem__(py, row as isize)?.into_pyobject(py)?.repr()?.to_string();
            shown.push(match value.char_indices().nth(80) {
                Some((end, _)) => format!("{}...", &value[..end]),
                None => value,
            });
        }
        if len > SHOWN {
            shown.push("...".to_owned());
        }
        Ok(format!("<simdpct.Column of {len} values, {nulls} null: [{}]>", shown.join(", ")))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.0.data_type)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The PyCapsule interface allows a producer to ignore the requested schema.
        let _ = requested_schema;
        let data = py.detach(|| columns::joined(&self.0)).map_err(|_| {
            PyOverflowError::new_err(
                "the column is too long for one array with offsets of 32 bits; take it as a stream of chunks",
            )
        })?;
        Ok((arrow::schema_capsule(py, &self.0.data_type)?, arrow::array_capsule(py, &data)?))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        arrow::stream_capsule(py, &self.0)
    }
}

/// Returns the value of a row of an array, or `None` if it is null.
fn item<'py>(py: Python<'py>, data: &ArrayData, row: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    if data.is_null(row) {
        return Ok(None);
    }
    let at = data.offset() + row;
    Ok(Some(match data.data_type() {
        DataType::Boolean => {
            bit_util::get_bit(&data.buffers()[0], at).into_pyobject(py)?.to_owned().into_any()
        }
        DataType::Struct(fields) => {
            let dict = new_dict(py)?;
            for (field, values) in fields.iter().zip(data.child_data()) {
                dict.set_item(new_str(py, field.name().as_bytes())?, item(py, values, at)?)?;
            }
            dict.into_any()
        }
        DataType::LargeList(_) => {
            let (list, offsets) = (new_list(py)?, data.buffers()[0].typed_data::<i64>());
            for row in offsets[at]..offsets[at + 1] {
                list.append(item(py, &data.child_data()[0], row as usize)?)?;
            }
            list.into_any()
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            decode_str(py, columns::value(data, row).unwrap_or_default(), true)?
        }
        _ => new_bytes(py, columns::value(data, row).unwrap_or_default())?,
    }))
}

/// Returns the exception for an invalid argument of the Python function `caller`.
pub(crate) fn invalid(caller: &str, why: &str) -> PyErr {
    PyValueError::new_err(format!("{caller}: {why}"))
}

fn apply(
    caller: &str,
    values: &Bound<'_, PyAny>,
    function: &'static Function,
    options: Options,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    run(caller, values, Vec::new(), Job { function, options, more: Vec::new() }, threads)
}

fn run(
    caller: &str,
    values: &Bound<'_, PyAny>,
    more: Vec<Column>,
    job: Job,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    let threads = match threads.map(NonZero::new) {
        Some(None) => return Err(invalid(caller, "threads must be a positive number")),
        Some(threads) => threads,
        None => None,
    };
    let column = arrow::import(values)?;
    let made = values.py().detach(|| job.apply(&column, more, threads)).map_err(|failure| match failure {
        Failure::Rejected { row, why } => PyValueError::new_err(format!("row {row}: {why}")),
        Failure::TooLong(error) => PyOverflowError::new_err(format!(
            "row {}: its result is longer than 2 GiB; cast the column to large_string",
            error.index
        )),
        Failure::Broken { row } => {
            PyValueError::new_err(format!("not valid as an Arrow column: row {row} is not in its buffers"))
        }
        Failure::Invalid(why) => invalid(caller, &why),
    })?;
    Ok(PyColumn(made))
}

/// Returns the policy that the argument `errors` of `caller` names. A name that `function` does not support raises `ValueError`.
pub(crate) fn policy(caller: &str, function: &Function, errors: &str) -> PyResult<Policy> {
    let mut choices = Policy::ALL.to_vec();
    choices.retain(|(_, policy)| function.policies.iter().any(|(known, _)| known == policy));
    let found = choices.iter().find(|(name, _)| *name == errors);
    found.map(|(_, policy)| *policy).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("'{name}'")).collect();
        let (last, others) = names.split_last().expect("a function with choices");
        invalid(caller, &format!("errors must be {} or {last}, not {errors:?}", others.join(", ")))
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
    apply("quote_array", values, &ENCODE, Options { keep, plus, ..Options::default() }, threads)
}

/// Decode the escapes of each value of a column like `unquote`, or with `plus` like `unquote_plus`.
///
/// `errors` says what happens to a value with a malformed escape or, in a column of strings, with invalid UTF-8 when decoded:
///
/// - 'keep': malformed escapes stay, and so do the escapes of invalid UTF-8.
/// - 'replace', like `unquote` and urllib: malformed escapes stay, and U+FFFD replaces invalid UTF-8.
/// - 'null': the value becomes null.
/// - 'strict': raise ValueError, which names the row.
///
/// >>> import pyarrow
/// >>> pyarrow.array(unquote_array(pyarrow.array(["a%20b", "%FF", "100%"]), errors="null")).to_pylist()
/// ['a b', None, None]
#[pyfunction]
#[pyo3(signature = (values, *, plus = false, errors = "keep", threads = None))]
pub(crate) fn unquote_array(
    values: &Bound<'_, PyAny>,
    plus: bool,
    errors: &str,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    let policy = policy("unquote_array", &DECODE, errors)?;
    apply("unquote_array", values, &DECODE, Options { plus, policy, ..Options::default() }, threads)
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
    let policy = policy("normalize_array", &NORMALIZE, errors)?;
    apply("normalize_array", values, &NORMALIZE, Options { policy, ..Options::default() }, threads)
}

/// Bring each URL of a column into a canonical form like `canonicalize`.
///
/// `errors` says what happens to a URL that the profile rejects: with 'keep' it stays, with 'null' it becomes null, and 'strict'
/// raises ValueError.
///
/// >>> import pyarrow
/// >>> urls = pyarrow.array(["HTTP://Example.com:80/%7Ejoe", "http://a:99999/"])
/// >>> canonicalize_array(urls, errors="null").to_pylist()
/// ['http://example.com/~joe', None]
#[pyfunction]
#[pyo3(signature = (values, profile = "rfc3986-scheme", *, errors = "keep", threads = None))]
pub(crate) fn canonicalize_array(
    values: &Bound<'_, PyAny>,
    profile: &str,
    errors: &str,
    threads: Option<usize>,
) -> PyResult<PyColumn> {
    let policy = policy("canonicalize_array", &CANONICALIZE, errors)?;
    let profile = strings::profile("canonicalize_array", profile)?;
    let options = Options { profile, policy, ..Options::default() };
    apply("canonicalize_array", values, &CANONICALIZE, options, threads)
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
    apply("malformed_array", values, &MALFORMED, Options::default(), threads)
}

/// Returns the functions of URLs with the names that they have in Python.
fn url_functions() -> impl Iterator<Item = (&'static str, &'static Function)> {
    let is_url = |function: &&Function| !matches!(function.body, Body::Verb(_));
    sql_functions()
        .iter()
        .filter_map(move |sql| Some(sql.name.strip_prefix("url_")?).zip(Some(sql.function).filter(is_url)))
}

/// Returns the function with this name in Python.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    Some(match name {
        "encode" => &ENCODE,
        "decode" => &DECODE,
        "normalize" => &NORMALIZE,
        "canonicalize" => &CANONICALIZE,
        "malformed" => &MALFORMED,
        _ => url_functions().find(|(known, _)| *known == name)?.1,
    })
}

/// Returns the function of `caller` that returns the part with this name. An unknown name raises `ValueError`.
pub(crate) fn part(caller: &str, name: &str) -> PyResult<PartBody> {
    let parts = || {
        url_functions().filter_map(|(name, function)| match function.body {
            Body::Part(body) => Some((name, body)),
            _ => None,
        })
    };
    let found = parts().find(|(known, _)| *known == name).map(|(_, body)| body);
    found.ok_or_else(|| invalid(caller, &unknown("part", name, parts().map(|(name, _)| name))))
}

/// Returns the function of URLs with this name, and its arguments after the first. `None` is an argument that is a column. An unknown name
/// or another number of arguments raises `ValueError`.
pub(crate) fn url_arguments(
    caller: &str,
    name: &str,
    more: &[Option<Bound<'_, PyAny>>],
) -> PyResult<(&'static Function, Vec<Argument>)> {
    let found = url_functions().find(|(known, _)| *known == name);
    let message = || unknown("function", name, url_functions().map(|(name, _)| name));
    let (_, function) = found.ok_or_else(|| invalid(caller, &message()))?;
    if more.len() != function.more.len() {
        let needed = [function.value].into_iter().chain(function.more.iter().copied()).collect::<Vec<_>>();
        let message = format!("{name:?} takes {}, and got {} arguments", needed.join(", "), 1 + more.len());
        return Err(invalid(caller, &message));
    }
    let argument = |(value, name): (&Option<Bound<'_, PyAny>>, &&str)| {
        let Some(value) = value else { return Ok(Argument::Column) };
        Ok(Argument::Constant(match value.extract::<Text<'_>>() {
            Err(_) if *name == "names" => {
                // Commas separate names, so a comma in a name becomes its escape.
                let names: Vec<Text<'_>> = value.extract()?;
                let escaped = |name: &Text<'_>| {
                    let pieces: Vec<_> = name.bytes()?.split(|byte| *byte == b',').collect();
                    Ok(pieces.join(&b"%2C"[..]))
                };
                names.iter().map(escaped).collect::<PyResult<Vec<_>>>()?.join(&b',')
            }
            text => text?.bytes()?.to_vec(),
        }))
    };
    Ok((function, more.iter().zip(function.more).map(argument).collect::<PyResult<_>>()?))
}

/// Take each URL of a column apart, or put it together, by a function of the SQL engines without its `url_`: 'scheme', 'authority',
/// 'userinfo', 'user', 'password', 'host', 'domain', 'suffix', 'port', 'path', 'query', 'fragment', 'parts', 'segments', 'params', 'param',
/// 'without_params', 'with_param' or 'join'.
///
/// The README of the package describes them. `arguments` are those after the URL: constants, or columns with a value for each URL. A column
/// of one row has the same value for all. The names of 'without_params' may be a list. A part that a URL does not have is null. The parts
/// of a column of views are views of its buffers.
///
/// >>> import pyarrow
/// >>> urls = pyarrow.array(["http://a.example/b?q=c%26d&utm_id=1", "/b", None])
/// >>> url_array(urls, "host").to_pylist()
/// ['a.example', None, None]
/// >>> url_array(urls, "param", "q").to_pylist()
/// ['c&d', None, None]
/// >>> url_array(urls, "without_params", ["utm_*", "gclid"]).to_pylist()
/// ['http://a.example/b?q=c%26d', '/b', None]
/// >>> url_array(urls, "join", pyarrow.array(["../c", "d", "e"])).to_pylist()
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
    for argument in arguments {
        let is_column = argument.hasattr("__arrow_c_array__")? || argument.hasattr("__arrow_c_stream__")?;
        if is_column {
            columns.push(arrow::import(&argument)?);
        }
        more.push(Some(argument).filter(|_| !is_column));
    }
    let (function, more) = url_arguments("url_array", function, &more)?;
    run("url_array", values, columns, Job { function, options: Options::default(), more }, threads)
}
