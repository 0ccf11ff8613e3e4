//! Applies a verb to an Arrow array: the layouts of text and binary, nulls and dictionaries.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_select::dictionary::garbage_collect_any_dictionary;
use datafusion_common::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanBufferBuilder, ByteView, GenericBinaryArray,
    GenericByteArray, GenericByteViewArray, GenericStringArray, LargeStringArray, ListArray,
    NullBufferBuilder, OffsetSizeTrait, StringArray, StringViewArray, StructArray, make_array, make_view,
};
use datafusion_common::arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion_common::arrow::compute;
use datafusion_common::arrow::datatypes::{ArrowNativeType, ByteArrayType, ByteViewType, DataType, Field};
use datafusion_common::{DataFusionError, Result, exec_datafusion_err, exec_err};
use simdpct::batch::{Column, ColumnBuf, InvalidOffsets, Offset};
use simdpct_functions::{
    Failure, Form, Output, PartBody, SqlFunction, UrlBody, Value, Values, Verb, canonicalize_each,
    extract_parts,
};

/// A verb, and the type of its results.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) verb: Verb,
    /// Whether the results are text. If not, they are binary.
    pub(crate) text: bool,
}

/// Applies a verb to each value. Returns the array itself if no value changes and its type stays.
pub(crate) fn apply(values: &ArrayRef, job: Job) -> Result<ArrayRef> {
    let changed = match values.data_type() {
        DataType::Utf8 => offsets(values.as_string::<i32>(), job),
        DataType::LargeUtf8 => offsets(values.as_string::<i64>(), job),
        DataType::Binary => offsets(values.as_binary::<i32>(), job),
        DataType::LargeBinary => offsets(values.as_binary::<i64>(), job),
        DataType::Utf8View => views(values.as_string_view(), job),
        DataType::BinaryView => views(values.as_binary_view(), job),
        DataType::Dictionary(..) => return dictionary(values, job),
        other => return exec_err!("neither text nor binary: {other}"),
    }?;
    match changed {
        Some(made) => Ok(made),
        None => as_type(values, &with_layout(job.text, values.data_type())),
    }
}

/// Returns the string type (if `text`) or the binary type with the same layout as `of`: offsets of 32 or 64 bits, or views.
pub(crate) fn with_layout(text: bool, of: &DataType) -> DataType {
    match of {
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(with_layout(text, values)))
        }
        DataType::LargeUtf8 | DataType::LargeBinary if text => DataType::LargeUtf8,
        DataType::LargeUtf8 | DataType::LargeBinary => DataType::LargeBinary,
        DataType::Utf8View | DataType::BinaryView if text => DataType::Utf8View,
        DataType::Utf8View | DataType::BinaryView => DataType::BinaryView,
        _ if text => DataType::Utf8,
        _ => DataType::Binary,
    }
}

/// Casts an array to the type `of` without changing its bytes: text to binary, or ASCII in binary to text.
fn as_type(values: &ArrayRef, of: &DataType) -> Result<ArrayRef> {
    Ok(if values.data_type() == of { Arc::clone(values) } else { compute::cast(values, of)? })
}

fn too_long<E>(_: E) -> DataFusionError {
    exec_datafusion_err!("the results of a batch are longer than 2 GiB; cast the column to LargeUtf8")
}

fn failed(failure: Failure) -> DataFusionError {
    match failure {
        Failure::TooLong(error) => too_long(error),
        rejected => exec_datafusion_err!("{rejected}"),
    }
}

/// Applies a verb to an array with offsets. Returns `None` if no value changes.
fn offsets<T>(array: &GenericByteArray<T>, Job { verb, text }: Job) -> Result<Option<ArrayRef>>
where
    T: ByteArrayType<Offset: OffsetSizeTrait + Offset + TryInto<usize>>,
{
    let column = Column::new(array.value_data(), array.value_offsets())
        .map_err(|error: InvalidOffsets| exec_datafusion_err!("not valid as an Arrow array: {error}"))?;
    // The array can be a slice of a longer one, which uses only some of the bytes.
    let (first, last) = (array.value_offsets()[0], array.value_offsets()[array.len()]);
    let used = &array.value_data()[first.as_usize()..last.as_usize()];
    if verb.needs_escapes() && memchr::memchr(b'%', used).is_none() {
        return Ok(None);
    }
    let out = ColumnBuf::with_capacity(array.len(), verb.capacity(used.len()));
    let results = verb.apply(&column, out).map_err(failed)?;
    if results.equal(&column) {
        return Ok(None);
    }
    let nulls = with_nulls(array, results.nulls());
    let (bytes, offsets) =
        results.into_column(ColumnBuf::with_capacity, drop).map_err(too_long)?.into_parts();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Some(match text {
        true => Arc::new(GenericStringArray::<T::Offset>::try_new(offsets, buffer(bytes), nulls)?),
        false => Arc::new(GenericBinaryArray::<T::Offset>::try_new(offsets, buffer(bytes), nulls)?),
    }))
}

/// Makes an Arrow buffer of `bytes` without a copy, unless more than half of the memory is unused.
fn buffer(mut bytes: Vec<u8>) -> Buffer {
    if bytes.capacity() / 2 > bytes.len() {
        bytes.shrink_to_fit();
    }
    Buffer::from_vec(bytes)
}

/// Returns the validity of `array`, with the rows of `more` set to null as well.
fn with_nulls(array: &dyn Array, more: impl Iterator<Item = usize>) -> Option<NullBuffer> {
    let mut more = more.peekable();
    if more.peek().is_none() {
        return array.nulls().cloned();
    }
    let mut bits = BooleanBufferBuilder::new(array.len());
    match array.nulls() {
        Some(nulls) => bits.append_buffer(nulls.inner()),
        None => bits.append_n(array.len(), true),
    }
    more.for_each(|row| bits.set_bit(row, false));
    Some(NullBuffer::new(bits.finish()))
}

/// Applies a verb to an array of views. Returns `None` if no value changes.
fn views<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
    Job { verb, text }: Job,
) -> Result<Option<ArrayRef>> {
    // The rows that may change, and the values of these rows.
    let valid = (0..array.len()).zip(array.iter()).filter_map(|(row, value)| Some((row, value?.as_ref())));
    let (mut rows, values): (Vec<usize>, Vec<&[u8]>) =
        valid.filter(|(_, value)| !verb.needs_escapes() || memchr::memchr(b'%', value).is_some()).unzip();
    let (column, nulls): (_, Vec<usize>) = if let Verb::Canonicalize { profile, policy, utf8 } = verb {
        // Most URLs are canonical already, so only the forms of the other URLs are copied.
        let (mut column, mut nulls, mut changed) = (ColumnBuf::<i32>::new(), Vec::new(), Vec::new());
        canonicalize_each(&values[..], profile, policy, utf8, |index, form| {
            match form {
                Form::Same => {}
                Form::New(form) => {
                    column.push(form)?;
                    changed.push(rows[index]);
                }
                Form::Null => nulls.push(rows[index]),
            }
            Ok(())
        })
        .map_err(failed)?;
        if changed.is_empty() && nulls.is_empty() {
            return Ok(None);
        }
        rows = changed;
        (column, nulls)
    } else {
        let out = ColumnBuf::with_capacity(values.len(), verb.capacity(values[..].size()));
        let results = verb.apply(&values[..], out).map_err(failed)?;
        if results.equal(&values[..]) {
            return Ok(None);
        }
        let nulls = results.nulls().map(|index| rows[index]).collect();
        (results.into_column(ColumnBuf::with_capacity, drop).map_err(too_long)?, nulls)
    };
    // Views of values that do not change still point to the old buffers. If all values change, the result does not keep the old
    // buffers alive.
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
    let (views, nulls) = (ScalarBuffer::from(views), with_nulls(array, nulls.into_iter()));
    Ok(Some(match text {
        true => Arc::new(StringViewArray::try_new(views, buffers, nulls)?),
        false => Arc::new(BinaryViewArray::try_new(views, buffers, nulls)?),
    }))
}

/// Returns a part of each URL of `array`, which is an array of text. The parts of views are views of the same buffers.
pub(crate) fn parts(part: PartBody, array: &ArrayRef) -> Result<ArrayRef> {
    let texts = Texts::new(array)?;
    let Texts::View(urls) = texts else {
        let mut values = Vec::with_capacity(array.len());
        extract_parts(part, &texts, |_, part| values.push(part.map(Cow::Borrowed)));
        return texts.array(array.data_type(), &values);
    };
    let (mut views, mut nulls) = (Vec::with_capacity(urls.len()), NullBufferBuilder::new(urls.len()));
    extract_parts(part, &texts, |url, part| {
        let whole = ByteView::from(urls.views()[views.len()]);
        nulls.append(part.is_some());
        let part = part.unwrap_or_default();
        // The place counts only for a part that is longer than a view, and so is its URL then.
        let start = part.as_ptr().addr().wrapping_sub(url.as_ptr().addr());
        views.push(make_view(part, whole.buffer_index, whole.offset.wrapping_add(start as u32)));
    });
    let buffers = urls.data_buffers().to_vec();
    Ok(Arc::new(StringViewArray::try_new(ScalarBuffer::from(views), buffers, nulls.finish())?))
}

/// Applies the function of URLs `sql` to each row of `arguments`, which are arrays of text; the first has the layout of the result.
pub(crate) fn extract(sql: &SqlFunction, body: UrlBody, arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let texts = arguments.iter().map(Texts::new).collect::<Result<Vec<_>>>()?;
    let rest = |argument: usize, row: usize| texts[1 + argument].get(row);
    let output = sql.function.output;
    let made = output.extract(body, &texts[0], sql.function.more.len(), rest, true);
    let layout = arguments[0].data_type();
    let mut fields =
        made.fields.iter().map(|values| texts[0].array(layout, values)).collect::<Result<Vec<_>>>()?;
    let nulls = made.valid.contains(&false).then(|| NullBuffer::from(made.valid));
    let item = match &nested(output, layout) {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return Ok(fields.swap_remove(0)),
        DataType::Struct(of) => return Ok(Arc::new(StructArray::try_new(of.clone(), fields, nulls)?)),
        DataType::List(item) => Arc::clone(item),
        other => return exec_err!("{}: results of type {other}", sql.name),
    };
    let items = match item.data_type() {
        DataType::Struct(of) => Arc::new(StructArray::try_new(of.clone(), fields, None)?),
        _ => fields.swap_remove(0),
    };
    let ends = std::iter::once(0).chain(made.ends).map(i32::try_from).collect::<Result<Vec<_>, _>>();
    let Ok(ends) = ends else { return exec_err!("{}: a batch has more than 2^31 items", sql.name) };
    Ok(Arc::new(ListArray::try_new(item, OffsetBuffer::new(ScalarBuffer::from(ends)), items, nulls)?))
}

/// Returns the type of the results of a function of URLs, whose texts have the type `text`.
pub(crate) fn nested(output: Output, text: &DataType) -> DataType {
    let field = |name: &&str| Field::new(*name, text.clone(), true);
    let item = match output.fields() {
        [_] => text.clone(),
        fields => DataType::Struct(fields.iter().map(field).collect()),
    };
    if output.is_list() { DataType::List(Arc::new(Field::new_list_field(item, true))) } else { item }
}

/// An array of text in one of the layouts.
enum Texts<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> Texts<'a> {
    fn new(array: &'a ArrayRef) -> Result<Texts<'a>> {
        Ok(match array.data_type() {
            DataType::Utf8 => Texts::Small(array.as_string()),
            DataType::LargeUtf8 => Texts::Large(array.as_string()),
            DataType::Utf8View => Texts::View(array.as_string_view()),
            other => return exec_err!("not text: {other}"),
        })
    }

    /// Makes an array of values. If these texts are views, a value that is a slice of one of them becomes a view of the same
    /// buffer.
    fn array(&self, layout: &DataType, values: &[Value<'_>]) -> Result<ArrayRef> {
        let Texts::View(texts) = self else {
            return match layout {
                DataType::LargeUtf8 => strings::<i64>(values),
                _ => strings::<i32>(values),
            };
        };
        let (buffers, mut new) = (texts.data_buffers(), Vec::new());
        let Ok(last) = u32::try_from(buffers.len()) else { return exec_err!("an array of too many buffers") };
        let mut nulls = NullBufferBuilder::new(values.len());
        let mut views = Vec::with_capacity(values.len());
        let mut starts: Vec<_> =
            (0_u32..).zip(buffers).map(|(number, buffer)| (buffer.as_ptr() as usize, number)).collect();
        starts.sort_unstable();
        for value in values {
            nulls.append(value.is_some());
            let value = value.as_deref().unwrap_or_default();
            // The buffer that has the value, and the offset in it. A short value is in its view instead.
            let place = (value.len() > 12).then(|| {
                let at = value.as_ptr() as usize;
                let (start, number) = *starts[..starts.partition_point(|(start, _)| *start <= at)].last()?;
                let offset = at - start;
                (offset + value.len() <= buffers[number as usize].len()).then_some((number, offset))
            });
            let (number, start) = match place {
                None => (0, 0),
                Some(Some(place)) => place,
                Some(None) => {
                    new.extend_from_slice(value);
                    (last, new.len() - value.len())
                }
            };
            let start = u32::try_from(start).map_err(too_long)?;
            views.push(make_view(value, number, start));
        }
        let mut buffers = buffers.to_vec();
        if !new.is_empty() {
            buffers.push(Buffer::from_vec(new));
        }
        Ok(Arc::new(StringViewArray::try_new(ScalarBuffer::from(views), buffers, nulls.finish())?))
    }
}

/// Makes an array of text with offsets.
fn strings<O: OffsetSizeTrait + Offset>(values: &[Value<'_>]) -> Result<ArrayRef> {
    let size = values.iter().flatten().map(|value| value.len()).sum();
    let mut column = ColumnBuf::<O>::with_capacity(values.len(), size);
    let mut nulls = NullBufferBuilder::new(values.len());
    for value in values {
        nulls.append(value.is_some());
        column.push(value.as_deref().unwrap_or_default()).map_err(too_long)?;
    }
    let (bytes, offsets) = column.into_parts();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(GenericStringArray::<O>::try_new(offsets, buffer(bytes), nulls.finish())?))
}

impl<'a> Values<'a> for Texts<'a> {
    type Offset = i32;

    fn rows(&self) -> usize {
        match self {
            Texts::Small(array) => array.len(),
            Texts::Large(array) => array.len(),
            Texts::View(array) => array.len(),
        }
    }

    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        match *self {
            Texts::Small(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::Large(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::View(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
        }
    }

    fn size(&self) -> usize {
        0
    }
}

/// Applies a verb once to each value of a dictionary. The keys stay, except for those of values that become null.
fn dictionary(array: &ArrayRef, job: Job) -> Result<ArrayRef> {
    // A batch is often a slice of many rows, with one dictionary for all of them. Values that the slice does not use are
    // removed first.
    let array = match array.as_any_dictionary() {
        all if all.values().len() > all.len() => &garbage_collect_any_dictionary(all)?,
        _ => array,
    };
    let dictionary = array.as_any_dictionary();
    let values = apply(dictionary.values(), job)?;
    if Arc::ptr_eq(&values, dictionary.values()) {
        return Ok(Arc::clone(array));
    }
    let more_nulls = values.null_count() > dictionary.values().null_count();
    let made = dictionary.with_values(values);
    if !more_nulls {
        return Ok(made);
    }
    // Some readers of dictionaries do not expect nulls among the values.
    let nulls = made.logical_nulls();
    Ok(make_array(made.to_data().into_builder().nulls(nulls).build()?))
}
