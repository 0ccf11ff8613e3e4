//! Applies a function to the Arrow arrays of DataFusion. Handles dictionaries, arrays that do not change, and errors.

use std::num::NonZero;
use std::sync::Arc;

use arrow_select::dictionary::garbage_collect_any_dictionary;
use datafusion_common::arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, GenericStringArray, OffsetSizeTrait, make_array,
};
use datafusion_common::arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::arrow::error::ArrowError;
use datafusion_common::{DataFusionError, Result, exec_datafusion_err};
use simdpct_functions::Failure;
use simdpct_functions::columns::{Column, Host, Job, Parts, builder};

/// The settings for DataFusion: each array of values has one array of results, which `build` checks.
pub(crate) static HOST: Host = Host {
    large_lists: false,
    is_split: false,
    has_room: |_| true,
    take: Vec::with_capacity,
    free: drop,
    buffer,
    build,
};

/// Makes an Arrow buffer of `bytes` without a copy, unless more than half of the memory is unused.
fn buffer(mut bytes: Vec<u8>) -> Buffer {
    if bytes.capacity() / 2 > bytes.len() {
        bytes.shrink_to_fit();
    }
    Buffer::from_vec(bytes)
}

fn build(parts: Parts) -> std::result::Result<ArrayData, ArrowError> {
    /// Makes a typed array of text, because checking it takes half as long as checking an untyped array.
    fn text<O: OffsetSizeTrait>(parts: Parts) -> std::result::Result<ArrayData, ArrowError> {
        let (_, len, nulls, start, buffers, _) = parts.into_fields();
        let [offsets, bytes] =
            buffers.try_into().map_err(|_| ArrowError::InvalidArgumentError("two buffers".to_owned()))?;
        let offsets = OffsetBuffer::new(ScalarBuffer::new(offsets, start, len + 1));
        Ok(GenericStringArray::<O>::try_new(offsets, bytes, nulls)?.into_data())
    }
    match parts.data_type() {
        DataType::Utf8 => text::<i32>(parts),
        DataType::LargeUtf8 => text::<i64>(parts),
        _ => builder(parts).build(),
    }
}

fn failed(failure: Failure) -> DataFusionError {
    match failure {
        Failure::TooLong(_) => {
            exec_datafusion_err!("the results of a batch are longer than 2 GiB; cast the column to LargeUtf8")
        }
        other => exec_datafusion_err!("{other}"),
    }
}

/// Applies a function to each row of `arguments`. An array of one row has the value for all rows. The result has the type
/// `result`, and is the first array itself if [`Job::apply`] returns that array unchanged.
pub(crate) fn apply(job: &Job, arguments: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    if let (DataType::Dictionary(..), DataType::Dictionary(_, values)) = (arguments[0].data_type(), result) {
        return dictionary(job, &arguments[0], values);
    }
    let column =
        |array: &ArrayRef| Column { data_type: array.data_type().clone(), chunks: vec![array.to_data()] };
    let (first, more) = (column(&arguments[0]), arguments[1..].iter().map(column).collect::<Vec<_>>());
    let mut made = match job.apply(&first, &more, Some(NonZero::<usize>::MIN)).map_err(failed)?.pop() {
        Some(made) => made,
        None => ArrayData::new_empty(result),
    };
    if made.data_type() != result {
        // Encoded bytes are ASCII, and thus text.
        made = made.into_builder().data_type(result.clone()).build()?;
    }
    Ok(if made.ptr_eq(&first.chunks[0]) { Arc::clone(&arguments[0]) } else { make_array(made) })
}

/// Applies a function once to each value of a dictionary. If a value becomes null, the keys of this value become null.
/// The other keys stay, unless unused values are removed. `of` is the type of the results.
fn dictionary(job: &Job, array: &ArrayRef, of: &DataType) -> Result<ArrayRef> {
    // A batch is often a slice of many rows, with one dictionary for all of them. Values that the slice does not use are
    // removed first.
    let array = match array.as_any_dictionary() {
        all if all.values().len() > all.len() => &garbage_collect_any_dictionary(all)?,
        _ => array,
    };
    let dictionary = array.as_any_dictionary();
    let values = apply(job, std::slice::from_ref(dictionary.values()), of)?;
    if Arc::ptr_eq(&values, dictionary.values()) {
        return Ok(Arc::clone(array));
    }
    let more_nulls = values.null_count() > dictionary.values().null_count();
    let made = dictionary.with_values(values);
    if !more_nulls {
        return Ok(made);
    }
    // Some readers of dictionaries do not expect nulls among the values, so the keys of null values become null, too.
    let nulls = made.logical_nulls();
    Ok(make_array(made.to_data().into_builder().nulls(nulls).build()?))
}
