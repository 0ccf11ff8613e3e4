//! Applies functions to columns. The crate `simdpct-functions` does the work, in memory of the pool.

use std::num::NonZero;

use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType};
use functions::columns::{self, Host};
pub(crate) use functions::columns::{Column, value};
use functions::{Failure, Function, Options};

use crate::{arrow, pool};

static HOST: Host = Host {
    large_lists: true,
    is_split: true,
    has_room: pool::has_room,
    take: pool::take,
    free: pool::give,
    buffer: pool::buffer,
    build: arrow::build,
};

/// A function with its options and arguments, for a column of any type.
pub(crate) struct Job {
    pub(crate) function: &'static Function,
    pub(crate) options: Options,
    /// The arguments of the function after the first, if it is a function of URLs.
    pub(crate) more: Vec<Argument>,
}

/// An argument of a function after the first.
pub(crate) enum Argument {
    Constant(Vec<u8>),
    /// A value for each row, from the next column that the call passes after the first.
    Column,
}

impl Job {
    fn inner(&self) -> columns::Job {
        columns::Job { function: self.function, options: self.options, host: &HOST }
    }

    /// Returns the type of the results for a column of text or binary.
    pub(crate) fn result_type(&self, of: &DataType) -> DataType {
        self.inner().result_type(of).unwrap_or(DataType::Null)
    }

    /// Returns the number of columns that the function takes.
    pub(crate) fn columns(&self) -> usize {
        1 + self.more.iter().filter(|argument| matches!(argument, Argument::Column)).count()
    }

    /// Applies the function to each row, on up to `threads` threads. `more` are the columns among the arguments after the first.
    pub(crate) fn apply(
        &self,
        first: &Column,
        more: Vec<Column>,
        threads: Option<NonZero<usize>>,
    ) -> Result<Column, Failure> {
        let mut columns = more.into_iter();
        let missing = || Failure::Invalid("a column is missing".to_owned());
        let argument = |argument: &Argument| match argument {
            Argument::Constant(text) => constant(text),
            Argument::Column => columns.next().ok_or_else(missing),
        };
        let more = self.more.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        let chunks = self.inner().apply(first, &more, threads)?;
        Ok(Column { data_type: self.result_type(&first.data_type), chunks })
    }
}

/// Returns a column of one row.
fn constant(value: &[u8]) -> Result<Column, Failure> {
    let data_type =
        if std::str::from_utf8(value).is_ok() { DataType::LargeUtf8 } else { DataType::LargeBinary };
    let offsets = Buffer::from_vec(vec![0_i64, value.len().cast_signed() as i64]);
    let data =
        ArrayData::builder(data_type.clone()).len(1).buffers(vec![offsets, Buffer::from(value)]).build();
    let chunks = vec![data.map_err(|error| Failure::Invalid(error.to_string()))?];
    Ok(Column { data_type, chunks })
}

/// Joins the arrays of a column into one.
///
/// # Errors
///
/// The result is too long for offsets of 32 bits.
pub(crate) fn joined(column: &Column) -> Result<ArrayData, ArrowError> {
    match &column.chunks[..] {
        [] => Ok(ArrayData::new_empty(&column.data_type)),
        [data] => Ok(data.clone()),
        chunks => {
            let rows = chunks.iter().map(ArrayData::len).sum();
            let mut all = MutableArrayData::new(chunks.iter().collect(), false, rows);
            for (index, data) in chunks.iter().enumerate() {
                all.try_extend(index, 0, data.len())?;
            }
            Ok(all.freeze())
        }
    }
}
