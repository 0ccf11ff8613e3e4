//! The call of a function on columns, and the class of its results, for Python.

use std::num::NonZero;

use arrow_buffer::bit_util;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use functions::Failure;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyList};

use crate::arguments::invalid;
use crate::columns::{self, Column};
use crate::object::{decode_str, new_bytes, new_dict, new_list, new_str, no_memory, room};
use crate::{arrow, options};

/// A column of results, for any library that takes Arrow data by the PyCapsule interface: `pyarrow.chunked_array(column)`,
/// `polars.Series(column)`, `pandas.Series.from_arrow(column)`, and DuckDB through `pyarrow.table`. These copy no text,
/// except that pandas copies string views and binary, and Polars joins the parts of a long column, unless they are views.
/// `pyarrow.array(column)` joins the parts of a long column first.
///
/// It is also a sequence of Python objects without slices, so that `frame["name"] = column` works with pandas: str or bytes, bool, list
/// and dict, and None for null.
#[pyclass(frozen, sequence, name = "Column", module = "simdpct")]
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
        let first = (0..len.min(SHOWN)).map(|row| {
            let value = self.__getitem__(py, row as isize)?.into_pyobject(py)?.repr()?.to_string();
            Ok(value.char_indices().nth(80).map_or(value.clone(), |(end, _)| value[..end].to_owned() + "..."))
        });
        let mut shown = first.collect::<PyResult<Vec<_>>>()?;
        shown.extend((len > SHOWN).then(|| "...".to_owned()));
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
        if self.0.chunks.len() > 1 {
            let sizes = self.0.chunks.iter().map(|chunk| chunk.get_slice_memory_size().unwrap_or(0));
            // A buffer that grows takes up to three times its length: twice as capacity, and once for the old buffer.
            room(py, sizes.sum::<usize>().saturating_mul(3))?;
        }
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

/// Apply a function to a column of values. `kwargs` are its options as text, and `columns` are the columns among its further arguments.
/// `caller` is the name of the Python function that was called.
#[pyfunction]
pub(crate) fn apply(
    caller: &str,
    function: &str,
    kwargs: &str,
    values: &Bound<'_, PyAny>,
    columns: Vec<Bound<'_, PyAny>>,
    threads: Option<isize>,
) -> PyResult<PyColumn> {
    let py = values.py();
    let positive = |count: isize| {
        let count = usize::try_from(count).ok().and_then(NonZero::new);
        count.ok_or_else(|| invalid(caller, "threads must be a positive number"))
    };
    let threads = threads.map(positive).transpose()?;
    let job = options::job(function, kwargs.as_bytes()).map_err(|why| invalid(caller, &why))?;
    let more = columns.iter().map(arrow::import).collect::<PyResult<_>>()?;
    let column = arrow::import(values)?;
    let made = py.detach(|| job.apply(&column, more, threads)).map_err(|failure| match failure {
        Failure::Rejected { row, why } => PyValueError::new_err(format!("row {row}: {why}")),
        Failure::TooLong(error) => PyOverflowError::new_err(format!(
            "row {}: its result is longer than 2 GiB; cast the column to large_string",
            error.index
        )),
        Failure::Broken { row } => {
            PyValueError::new_err(format!("not valid as an Arrow column: row {row} is not in its buffers"))
        }
        Failure::Invalid(why) => invalid(caller, &why),
        Failure::NoMemory => no_memory(py).into(),
    })?;
    Ok(PyColumn(made))
}
