//! A verb on an Arrow array: the layouts of text and binary, nulls and dictionaries.

use std::sync::Arc;

use arrow_select::dictionary::garbage_collect_any_dictionary;
use datafusion_common::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanBufferBuilder, GenericBinaryArray, GenericByteArray,
    GenericByteViewArray, GenericStringArray, StringViewArray, make_array, make_view,
};
use datafusion_common::arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion_common::arrow::compute;
use datafusion_common::arrow::datatypes::{ByteArrayType, ByteViewType, DataType};
use datafusion_common::{Result, exec_datafusion_err, exec_err};
use simdpct::batch::{Column, InvalidOffsets, TooLong};

use crate::canonical;
use crate::codec::{self, Made, Slices, Width};
use crate::verb::{Code, Verb};

/// Applies a verb to each value. The result is the array itself if nothing changes, but for its type.
pub(crate) fn apply(values: &ArrayRef, verb: &Verb) -> Result<ArrayRef> {
    let changed = match values.data_type() {
        DataType::Utf8 => offsets(values.as_string::<i32>(), verb),
        DataType::LargeUtf8 => offsets(values.as_string::<i64>(), verb),
        DataType::Binary => offsets(values.as_binary::<i32>(), verb),
        DataType::LargeBinary => offsets(values.as_binary::<i64>(), verb),
        DataType::Utf8View => views(values.as_string_view(), verb),
        DataType::BinaryView => views(values.as_binary_view(), verb),
        DataType::Dictionary(..) => return dictionary(values, verb),
        other => return exec_err!("neither text nor binary: {other}"),
    }?;
    match changed {
        Some(made) => Ok(made),
        None => as_type(values, &verb.gives(values.data_type())),
    }
}

/// The same values; of text as binary, and of ASCII in binary as text.
fn as_type(values: &ArrayRef, of: &DataType) -> Result<ArrayRef> {
    Ok(if values.data_type() == of { Arc::clone(values) } else { compute::cast(values, of)? })
}

fn too_long(_: TooLong) -> datafusion_common::DataFusionError {
    exec_datafusion_err!("the values of a batch become longer than 2 GiB; cast the column to LargeUtf8")
}

fn offsets<T>(array: &GenericByteArray<T>, verb: &Verb) -> Result<Option<ArrayRef>>
where
    T: ByteArrayType<Offset: Width>,
{
    let column = Column::new(array.value_data(), array.value_offsets())
        .map_err(|wrong: InvalidOffsets| exec_datafusion_err!("not valid as an Arrow array: {wrong}"))?;
    let made = match *verb {
        Verb::Code(code) => codec::code(&column, code),
        Verb::Canonicalize(profile, on_wrong) => canonical::column(&column, profile, on_wrong),
    };
    let Some(Made { column, nulls }) = made.map_err(too_long)? else { return Ok(None) };
    let (bytes, offsets) = column.into_parts();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let nulls = with_nulls(array, &nulls);
    Ok(Some(match verb.gives(array.data_type()) {
        DataType::Utf8 | DataType::LargeUtf8 => {
            Arc::new(GenericStringArray::<T::Offset>::try_new(offsets, buffer(bytes), nulls)?)
        }
        _ => Arc::new(GenericBinaryArray::<T::Offset>::try_new(offsets, buffer(bytes), nulls)?),
    }))
}

/// The bytes without a copy, unless most of the memory is not used.
fn buffer(mut bytes: Vec<u8>) -> Buffer {
    if bytes.capacity() / 2 > bytes.len() {
        bytes.shrink_to_fit();
    }
    Buffer::from_vec(bytes)
}

/// The validity of the array with more nulls.
fn with_nulls(array: &dyn Array, more: &[usize]) -> Option<NullBuffer> {
    if more.is_empty() {
        return array.nulls().cloned();
    }
    let mut bits = BooleanBufferBuilder::new(array.len());
    match array.nulls() {
        Some(nulls) => bits.append_buffer(nulls.inner()),
        None => bits.append_n(array.len(), true),
    }
    for &index in more {
        bits.set_bit(index, false);
    }
    Some(NullBuffer::new(bits.finish()))
}

fn views<T: ByteViewType>(array: &GenericByteViewArray<T>, verb: &Verb) -> Result<Option<ArrayRef>> {
    // The rows that may change, and their values.
    let given = (0..array.len()).zip(array.iter()).filter_map(|(row, value)| Some((row, value?.as_ref())));
    let decodes = matches!(verb, Verb::Code(Code::Decode(_) | Code::DecodeBytes | Code::Normalize));
    let (mut rows, values): (Vec<usize>, Vec<&[u8]>) =
        given.filter(|(_, value)| !decodes || memchr::memchr(b'%', value).is_some()).unzip();
    let (column, nulls) = match *verb {
        Verb::Code(code) => match codec::code(&Slices(&values), code).map_err(too_long)? {
            None => return Ok(None),
            Some(Made { column, nulls }) => (column, nulls.iter().map(|&index| rows[index]).collect()),
        },
        Verb::Canonicalize(profile, on_wrong) => {
            let (changed, Made { column, nulls }) =
                canonical::changes(&Slices(&values), profile, on_wrong).map_err(too_long)?;
            if changed.is_empty() && nulls.is_empty() {
                return Ok(None);
            }
            let nulls: Vec<usize> = nulls.iter().map(|&index| rows[index]).collect();
            rows = changed.iter().map(|&index| rows[index]).collect();
            (column, nulls)
        }
    };
    // Other values stay where they are. If there are none, nothing needs the buffers that there were.
    let all = rows.len() == array.len() - array.null_count();
    let (mut views, mut buffers) = match all {
        true => (vec![0; array.len()], Vec::new()),
        false => (array.views().to_vec(), array.data_buffers().to_vec()),
    };
    let Ok(number) = u32::try_from(buffers.len()) else { return exec_err!("an array of too many buffers") };
    for ((&row, value), start) in rows.iter().zip(&column).zip(column.offsets()) {
        views[row] = make_view(value, number, start.cast_unsigned());
    }
    for &row in &nulls {
        views[row] = 0;
    }
    buffers.push(buffer(column.into_parts().0));
    let (views, nulls) = (ScalarBuffer::from(views), with_nulls(array, &nulls));
    Ok(Some(match verb.gives(array.data_type()) {
        DataType::Utf8View => Arc::new(StringViewArray::try_new(views, buffers, nulls)?),
        _ => Arc::new(BinaryViewArray::try_new(views, buffers, nulls)?),
    }))
}

/// Works on each value of the dictionary once. The keys stay, but for those of values that become null.
fn dictionary(array: &ArrayRef, verb: &Verb) -> Result<ArrayRef> {
    // A batch is often a slice of more rows, and has the dictionary of all of them.
    let array = match array.as_any_dictionary() {
        all if all.values().len() > all.len() => &garbage_collect_any_dictionary(all)?,
        _ => array,
    };
    let dictionary = array.as_any_dictionary();
    let values = apply(dictionary.values(), verb)?;
    if Arc::ptr_eq(&values, dictionary.values()) {
        return Ok(Arc::clone(array));
    }
    let more_nulls = values.null_count() > dictionary.values().null_count();
    let made = dictionary.with_values(values);
    if !more_nulls {
        return Ok(made);
    }
    // Not all that reads dictionaries expects nulls among their values.
    let nulls = made.logical_nulls();
    Ok(make_array(made.to_data().into_builder().nulls(nulls).build()?))
}
