//! Applies functions to columns of Arrow arrays, on all cores.
//!
//! A host is a program that calls the functions. It describes itself with [`Host`], makes a [`Job`] of a function and
//! its options, and calls [`Job::apply`] with columns. A verb does the work of a function on many rows. A value that is
//! not in the buffers of its array is an error. The results have the layout of the first column: offsets of 32 or 64
//! bits, or views. Rows and views that do not change, and views of parts, use the buffers of the column.

mod rows;

use std::borrow::Cow;
use std::iter;
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, Buffer, NullBuffer};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{ArrowError, DataType, Field};
use memchr::memchr;
use simdpct::batch::{ColumnBuf, Offset};

use self::rows::{Chosen, Given, OffsetRows, Rows, Stored, View, ViewRows, used, view_of, view_of_part};
use crate::canonical::{Form, canonicalize_each};
use crate::output::Output;
use crate::policy::Failure;
use crate::table::{Body, Function, Options};
use crate::url::{Extracted, PartBody, Value, extract_parts};
use crate::values::Values;
use crate::verb::Verb;

/// The least number of rows of a range, on which a thread works at a time, except for the last range of an array. If a host does not set
/// [`Host::is_split`], a whole array is one range. The results of a range are one array, or more if one would be too long for its offsets.
pub const ROWS: usize = 1 << 16;

/// A range of a column of views has at least this number of rows for each buffer. The array of each range has all
/// buffers, so with ranges of a fixed length, the time would grow with the square of the number of rows.
const ROWS_PER_BUFFER: usize = 1 << 8;

/// A column: its type, and its values in arrays of this type.
#[derive(Clone, Debug)]
pub struct Column {
    /// The type of all arrays.
    pub data_type: DataType,
    /// The arrays.
    pub chunks: Vec<ArrayData>,
}

impl Column {
    /// Returns the value of a row, or `None` if it is null or does not exist.
    #[must_use]
    pub fn get(&self, mut row: usize) -> Option<&[u8]> {
        for chunk in &self.chunks {
            if row < chunk.len() {
                return value(chunk, row);
            }
            row -= chunk.len();
        }
        None
    }
}

/// Returns the value of a row of an array of text or binary, or `None` if it is null or does not exist.
#[must_use]
pub fn value(array: &ArrayData, row: usize) -> Option<&[u8]> {
    if row >= array.len() {
        return None;
    }
    Rows::new(array, row..row + 1).ok()?.get(0)
}

/// The properties of a host, and the functions by which it allocates and builds its results.
#[derive(Debug)]
pub struct Host {
    /// Whether the offsets of lists have 64 bits, and not 32.
    pub large_lists: bool,
    /// Whether the results for one array may be several arrays. All but the last have [`ROWS`] rows or more, unless their offsets would
    /// overflow.
    pub is_split: bool,
    /// Reports whether a number of bytes can be allocated. It is called before the work on each range of rows, with the
    /// number for all threads together.
    pub has_room: fn(usize) -> bool,
    /// Returns an empty vector with capacity for a number of bytes.
    pub take: fn(usize) -> Vec<u8>,
    /// Frees a vector, or keeps it for `take`.
    pub free: fn(Vec<u8>),
    /// Makes a buffer of a vector, which `take` has returned in most cases.
    pub buffer: fn(Vec<u8>) -> Buffer,
    /// Builds an array of results, and may check it: see [`Parts`].
    pub build: fn(Parts) -> Result<ArrayData, ArrowError>,
}

/// The fields of an array of results. Only this crate makes them. They are valid if [`Host::take`] and [`Host::buffer`] keep their
/// promises, except that text is only as valid as the texts of the columns.
#[derive(Debug)]
pub struct Parts(Fields);

/// The fields of an array, in the order of [`ArrayData::into_parts`]: type, length, validity, offset, buffers and children.
pub type Fields = (DataType, usize, Option<NullBuffer>, usize, Vec<Buffer>, Vec<ArrayData>);

impl Parts {
    /// Returns the type.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.0.0
    }

    /// Returns the fields.
    #[must_use]
    pub fn into_fields(self) -> Fields {
        self.0
    }
}

/// Returns a builder of an array with these fields.
#[must_use]
pub fn builder(parts: Parts) -> ArrayDataBuilder {
    let (data_type, len, nulls, offset, buffers, children) = parts.0;
    let builder = ArrayDataBuilder::new(data_type).len(len).nulls(nulls).offset(offset);
    builder.buffers(buffers).child_data(children).align_buffers(true)
}

/// A function with its options, for columns of any type.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The function.
    pub function: &'static Function,
    /// The options of the function. `utf8` is ignored: the type of the column decides whether results are text.
    pub options: Options,
    /// The host of the results.
    pub host: &'static Host,
}

/// Returns true for a type of text, false for a type of binary, and `None` for any other type.
fn is_text(of: &DataType) -> Option<bool> {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(true),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(false),
        _ => None,
    }
}

impl Job {
    /// Returns the type of the results for a first column of the type `of`, or `None` if that is neither text nor binary.
    #[must_use]
    pub fn result_type(&self, of: &DataType) -> Option<DataType> {
        is_text(of)?;
        let output = self.function.output;
        let field = |name: &&str| Field::new(*name, of.clone(), true);
        let item = match (output, of) {
            (Output::Boolean, _) => DataType::Boolean,
            (Output::Bytes, DataType::Utf8) => DataType::Binary,
            (Output::Bytes, DataType::LargeUtf8) => DataType::LargeBinary,
            (Output::Bytes, DataType::Utf8View) => DataType::BinaryView,
            (Output::Pairs | Output::Parts, _) => {
                DataType::Struct(output.fields().iter().map(field).collect())
            }
            _ => of.clone(),
        };
        if !output.is_list() {
            return Some(item);
        }
        let item = Arc::new(Field::new_list_field(item, true));
        Some(if self.host.large_lists { DataType::LargeList(item) } else { DataType::List(item) })
    }

    /// Applies the function to each row, on up to `threads` threads. `None` means all cores. `more` are the arguments
    /// after the first. An argument of one row has its value in all rows. Returns arrays of the results in the order of
    /// the rows, and none if there is no row.
    ///
    /// # Errors
    ///
    /// [`Failure::Rejected`] for the first bad value if the policy is to fail; [`Failure::TooLong`] if the results do not
    /// fit their offsets; [`Failure::Broken`] for a value that is not in its buffers; [`Failure::Invalid`] for arguments
    /// that do not fit, and for errors of [`Host::build`]; [`Failure::NoMemory`] if `has_room` returns `false`. Errors
    /// count rows from the start of the whole column. For a function of URLs, the number in [`Failure::TooLong`] may be
    /// another one, because it counts texts.
    pub fn apply(
        &self,
        first: &Column,
        more: &[Column],
        threads: Option<NonZero<usize>>,
    ) -> Result<Vec<ArrayData>, Failure> {
        let Some((text, result)) = is_text(&first.data_type).zip(self.result_type(&first.data_type)) else {
            return Err(Failure::Invalid(format!("neither text nor binary: {}", first.data_type)));
        };
        let (more, rows) = self.arguments(first, more, text)?;
        let is_same = rows != first.chunks.iter().map(ArrayData::len).sum::<usize>();
        let (mut pieces, mut start) = (Vec::new(), 0);
        for chunk in &first.chunks {
            let rows = if is_same && chunk.len() == 1 { rows } else { chunk.len() };
            let step = ROWS.max(ROWS_PER_BUFFER * chunk.buffers().len());
            let step = if self.host.is_split { step } else { rows.max(1) };
            for first in (0..rows).step_by(step) {
                let rows = first..(first + step).min(rows);
                pieces.push(Piece {
                    job: self,
                    text,
                    result: &result,
                    chunk,
                    rows,
                    start,
                    is_same,
                    more: &more,
                });
            }
            start += chunk.len();
        }
        in_parallel(&pieces, threads)
    }

    /// Returns the values of the arguments after the first, and the number of rows of the results.
    fn arguments<'a>(
        &self,
        first: &Column,
        more: &'a [Column],
        text: bool,
    ) -> Result<(Vec<Given<'a>>, usize), Failure> {
        let mut rows = first.chunks.iter().map(ArrayData::len).sum();
        let mut given = Vec::new();
        if more.len() != self.function.more.len() {
            return Err(Failure::Invalid(format!("the function does not take {} arguments", 1 + more.len())));
        }
        for (column, name) in more.iter().zip(self.function.more) {
            // The results for text are text, so the arguments must be, too.
            if text && is_text(&column.data_type) != Some(true) {
                return Err(Failure::Invalid(format!("{name} must be text, as the first column is")));
            }
            let column = Given::new(&column.chunks)?;
            if rows != column.rows && rows != 1 && column.rows != 1 {
                let message = format!("{name} has {} rows, and the arguments before it {rows}", column.rows);
                return Err(Failure::Invalid(message));
            }
            // A column of one row is repeated for each row of the other columns, which may have no row.
            rows = if rows == 1 { column.rows } else { rows };
            given.push(column);
        }
        Ok((given, rows))
    }
}

/// Works on the pieces, on up to `threads` threads, and returns the arrays of all pieces, in the order of the pieces.
fn in_parallel(pieces: &[Piece<'_>], threads: Option<NonZero<usize>>) -> Result<Vec<ArrayData>, Failure> {
    let threads =
        threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get).min(pieces.len());
    let mut results: Vec<_> = pieces.iter().map(|_| Ok(Vec::new())).collect();
    let queue = Mutex::new(pieces.iter().zip(&mut results));
    let run = || {
        while let Some((piece, result)) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            *result = piece.work(threads);
            if result.is_err() {
                // The rows before the failed piece are already being processed, and the pieces after it are not needed.
                queue.lock().into_iter().for_each(|mut queue| queue.by_ref().for_each(drop));
            }
        }
    };
    thread::scope(|scope| {
        // The current thread is one of the workers. If the system does not start a thread, the other workers do its share.
        for _ in 1..threads {
            let _ = thread::Builder::new().name("simdpct".to_owned()).spawn_scoped(scope, run);
        }
        run();
    });
    let arrays = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(arrays.into_iter().flatten().collect())
}

/// A range of the rows of a chunk.
#[derive(Clone)]
struct Piece<'a> {
    job: &'a Job,
    /// Whether the first column is text.
    text: bool,
    result: &'a DataType,
    chunk: &'a ArrayData,
    rows: Range<usize>,
    /// The row of the column at which the chunk starts.
    start: usize,
    /// Whether all these rows have the value of the only row of the chunk.
    is_same: bool,
    /// The arguments of the function after the first.
    more: &'a [Given<'a>],
}

impl<'a> Piece<'a> {
    /// Returns the results for these rows: one array, or more if one would be too long for its offsets.
    fn work(&self, threads: usize) -> Result<Vec<ArrayData>, Failure> {
        match self.array(threads) {
            Ok(array) => Ok(vec![array]),
            Err(Failure::TooLong(_)) if self.job.host.is_split && self.rows.len() > 1 => {
                let middle = self.rows.start + self.rows.len() / 2;
                let half = |rows| Piece { rows, ..self.clone() }.work(threads);
                Ok([half(self.rows.start..middle)?, half(middle..self.rows.end)?].concat())
            }
            Err(why) => Err(why.map(|row| self.start + self.rows.start + row)),
        }
    }

    /// Returns the results for these rows as one array.
    fn array(&self, threads: usize) -> Result<ArrayData, Failure> {
        let rows = Rows::new(self.chunk, if self.is_same { 0..1 } else { self.rows.clone() })?;
        if !(self.job.host.has_room)(threads.saturating_mul(self.most_memory(rows.size()))) {
            return Err(Failure::NoMemory);
        }
        match (self.job.function.body, rows.stored) {
            (Body::Verb(make), stored) => {
                let verb = make(&Options { utf8: self.text, ..self.job.options });
                match stored {
                    Stored::Small(column) => self.offsets(verb, &OffsetRows { column, rows: &rows }),
                    Stored::Large(column) => self.offsets(verb, &OffsetRows { column, rows: &rows }),
                    Stored::View(views, buffers) => self.views(verb, &rows, views, buffers),
                }
            }
            (Body::Part(part), Stored::View(views, buffers)) => self.parts(part, &rows, views, buffers),
            (Body::Part(part), _) => {
                let mut values = Vec::with_capacity(self.rows.len());
                extract_parts(part, &rows, |_, part| values.push(part.map(Cow::Borrowed)));
                self.texts(&values, None)
            }
            (Body::Url(body), stored) => {
                let (output, count) = (self.job.function.output, self.more.len());
                let given =
                    |index: usize, row: usize| self.more[index].get(self.start + self.rows.start + row);
                let made = if self.is_same {
                    let Some(value) = rows.get(0) else {
                        rows.check()?;
                        return Ok(ArrayData::new_null(self.result, self.rows.len()));
                    };
                    output.extract(body, &vec![value; self.rows.len()][..], count, given, self.text)
                } else {
                    output.extract(body, &rows, count, given, self.text)
                };
                rows.check()?;
                let places = match stored {
                    Stored::View(_, buffers) => Some(Places::new(buffers)),
                    _ => None,
                };
                self.nested(made, places.as_ref())
            }
        }
    }

    /// Returns the most bytes of memory that the work on these rows, whose values have `size` bytes, is expected to need.
    fn most_memory(&self, size: usize) -> usize {
        let size = if self.is_same { size.saturating_mul(self.rows.len()) } else { size };
        let (for_byte, for_row) = match self.job.function.body {
            // A byte may become three bytes. A vector that grows takes up to three times its length: twice for its
            // capacity, and once for the old vector.
            Body::Verb(_) | Body::Part(_) => (9, 64),
            // In most URLs, a list item has at least four bytes. It needs a pair of slices, and then a pair of views.
            Body::Url(_) => (32, 512),
        };
        size.saturating_mul(for_byte).saturating_add(self.rows.len().saturating_mul(for_row))
    }

    fn build(
        &self,
        of: &DataType,
        len: usize,
        nulls: Option<NullBuffer>,
        buffers: Vec<Buffer>,
        children: Vec<ArrayData>,
    ) -> Result<ArrayData, Failure> {
        let parts = Parts((of.clone(), len, nulls, 0, buffers, children));
        (self.job.host.build)(parts).map_err(|error| Failure::Invalid(error.to_string()))
    }

    /// Returns these rows of the column itself, if no value changes. Only the type may change, from text to binary.
    fn unchanged(&self) -> Result<ArrayData, Failure> {
        let rows = self.chunk.slice(self.rows.start, self.rows.len());
        if rows.data_type() == self.result {
            return Ok(rows);
        }
        let mut fields = rows.into_parts();
        fields.0 = self.result.clone();
        (self.job.host.build)(Parts(fields)).map_err(|error| Failure::Invalid(error.to_string()))
    }

    /// Makes an empty column with capacity for a number of values and bytes.
    fn column<O: Offset>(&self, values: usize, bytes: usize) -> ColumnBuf<O> {
        let mut offsets = ColumnBuf::<O>::new().into_parts().1;
        offsets.reserve(values);
        // This succeeds, because new `offsets` have the single offset of a column without values.
        ColumnBuf::from_parts((self.job.host.take)(bytes), offsets)
            .unwrap_or_else(|_| ColumnBuf::with_capacity(values, bytes))
    }

    fn free<O: Offset>(&self, column: ColumnBuf<O>) {
        (self.job.host.free)(column.into_parts().0);
    }

    /// Makes an array with offsets.
    fn small_or_large<O: ArrowNativeType + Offset>(
        &self,
        of: &DataType,
        column: ColumnBuf<O>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayData, Failure> {
        let (bytes, offsets) = column.into_parts();
        let len = offsets.len() - 1;
        self.build(of, len, nulls, vec![Buffer::from_vec(offsets), (self.job.host.buffer)(bytes)], Vec::new())
    }

    /// Makes an array of views.
    fn array_of_views(
        &self,
        of: &DataType,
        views: Vec<u8>,
        nulls: Option<NullBuffer>,
        mut buffers: Vec<Buffer>,
    ) -> Result<ArrayData, Failure> {
        let len = views.len() / size_of::<View>();
        buffers.insert(0, (self.job.host.buffer)(views));
        self.build(of, len, nulls, buffers, Vec::new())
    }

    /// Makes an array of booleans that is true in the rows `set`.
    fn booleans(&self, nulls: Option<NullBuffer>, set: Vec<usize>) -> Result<ArrayData, Failure> {
        let mut bits = BooleanBufferBuilder::new(self.rows.len());
        bits.append_n(self.rows.len(), false);
        set.into_iter().for_each(|row| bits.set_bit(row, true));
        self.build(self.result, self.rows.len(), nulls, vec![bits.finish().into_inner()], Vec::new())
    }

    /// Applies a verb to rows with offsets.
    fn offsets<O>(&self, verb: Verb, rows: &OffsetRows<'a, '_, O>) -> Result<ArrayData, Failure>
    where
        O: ArrowNativeType + Offset,
    {
        let (column, nulls) = (rows.column, &rows.rows.nulls);
        if verb.needs_escapes() && memchr(b'%', &column.bytes()[used(&column)]).is_none() {
            return self.unchanged();
        }
        let out = self.column(column.len(), verb.capacity(rows.size()));
        let results = verb.apply(rows, out)?;
        if *self.result == DataType::Boolean {
            let made = self.booleans(nulls.clone(), results.nulls().collect());
            self.free(results.into_memory());
            return made;
        }
        if results.equal(rows) {
            self.free(results.into_memory());
            return self.unchanged();
        }
        let nulls = without(nulls.as_ref(), column.len(), results.nulls());
        let column = results.into_column(|values, bytes| self.column(values, bytes), |old| self.free(old))?;
        self.small_or_large::<O>(self.result, column, nulls)
    }

    /// Applies a verb to views. If the verb is applied only to some rows, the views of the other rows still point to the old buffers.
    /// A URL that canonicalization leaves unchanged keeps its view, too.
    fn views(
        &self,
        verb: Verb,
        rows: &Rows<'a>,
        views: &'a [View],
        buffers: &'a [Buffer],
    ) -> Result<ArrayData, Failure> {
        let chosen = Chosen::new(ViewRows { rows, views, buffers }, verb.needs_escapes());
        let at_row = |why: Failure| why.map(|index| chosen.row(index));
        // The new values, the rows that get them (`None` for all rows), and the rows that become null.
        let (column, changed, nulls): (ColumnBuf<i32>, Option<Vec<u32>>, Vec<usize>) =
            if let Verb::Canonicalize { profile, policy, utf8 } = verb {
                // Most URLs are canonical already, so only the forms of the other URLs are copied.
                let (mut column, mut changed, mut nulls) = (ColumnBuf::new(), Vec::new(), Vec::new());
                canonicalize_each(&chosen, profile, policy, utf8, |row, form| {
                    match form {
                        Form::Same => {}
                        Form::New(form) => {
                            column.push(form).map_err(|mut why| {
                                why.index = row;
                                why
                            })?;
                            changed.push(row as u32);
                        }
                        Form::Null => nulls.push(row),
                    }
                    Ok(())
                })?;
                rows.check()?;
                if changed.is_empty() && nulls.is_empty() {
                    return self.unchanged();
                }
                (column, Some(changed), nulls)
            } else {
                let out = self.column(chosen.rows(), verb.capacity(chosen.size()));
                let results = verb.apply(&chosen, out).map_err(at_row)?;
                rows.check()?;
                let nulls: Vec<_> = results.nulls().map(|index| chosen.row(index)).collect();
                let is_boolean = *self.result == DataType::Boolean;
                if is_boolean || results.equal(&chosen) {
                    self.free(results.into_memory());
                    return if is_boolean {
                        self.booleans(rows.nulls.clone(), nulls)
                    } else {
                        self.unchanged()
                    };
                }
                let new = |values, bytes| self.column(values, bytes);
                let column = results.into_column(new, |old| self.free(old));
                (column.map_err(|why| at_row(why.into()))?, chosen.list, nulls)
            };
        let nulls = without(rows.nulls.as_ref(), views.len(), nulls.into_iter());
        let valid = views.len() - rows.nulls.as_ref().map_or(0, NullBuffer::null_count);
        // If all values change, the result does not keep the old buffers alive.
        let keeps = changed.as_ref().is_some_and(|changed| changed.len() < valid);
        let mut buffers = if keeps { buffers.to_vec() } else { Vec::new() };
        let number = buffers.len() as u32;
        let made = column.iter().zip(column.offsets());
        let mut made = made.map(|(value, start)| view_of(value, number, start.cast_unsigned()));
        let mut new = (self.job.host.take)(size_of_val(views));
        match changed {
            None => made.for_each(|view| new.extend_from_slice(&view)),
            Some(changed) => {
                new.extend_from_slice(views.as_flattened());
                let words = new.as_chunks_mut().0;
                for row in changed {
                    words[row as usize] = made.next().unwrap_or_default();
                }
                // The view of a null may be arbitrary, so it is cleared.
                if let Some(nulls) = &nulls {
                    (0..views.len()).filter(|row| nulls.is_null(*row)).for_each(|row| words[row] = [0; 16]);
                }
            }
        }
        buffers.push((self.job.host.buffer)(column.into_parts().0));
        self.array_of_views(self.result, new, nulls, buffers)
    }

    /// Makes a view of one part of each URL. The URLs are views too.
    fn parts(
        &self,
        part: PartBody,
        rows: &Rows<'a>,
        views: &'a [View],
        buffers: &'a [Buffer],
    ) -> Result<ArrayData, Failure> {
        let mut new = (self.job.host.take)(size_of_val(views));
        let (mut all, mut nulls) = (views.iter(), Vec::new());
        extract_parts(part, &ViewRows { rows, views, buffers }, |url, part| {
            let view = all.next().copied().unwrap_or_default();
            if part.is_none() {
                nulls.push(new.len() / size_of::<View>());
            }
            let part = part.unwrap_or_default();
            let start = part.as_ptr().addr().wrapping_sub(url.as_ptr().addr());
            let start = if part.is_empty() { 0 } else { start };
            new.extend_from_slice(&view_of_part(view, url, start, part.len()));
        });
        rows.check()?;
        let nulls = without(None, views.len(), nulls.into_iter());
        self.array_of_views(self.result, new, nulls, buffers.to_vec())
    }

    /// Makes an array of texts. If the first column has views, `places` has their buffers. A text that is a slice of
    /// such a buffer becomes a view of it.
    fn texts(&self, values: &[Value<'_>], places: Option<&Places<'_>>) -> Result<ArrayData, Failure> {
        let of = self.chunk.data_type();
        let nulls = (0..).zip(values).filter(|(_, value)| value.is_none()).map(|(row, _)| row);
        let nulls = without(None, values.len(), nulls);
        let Some(places) = places else {
            return match of {
                DataType::LargeUtf8 | DataType::LargeBinary => self.copied::<i64>(values, nulls),
                _ => self.copied::<i32>(values, nulls),
            };
        };
        let mut views = (self.job.host.take)(values.len() * size_of::<View>());
        // The texts that are not slices of the column.
        let mut column = ColumnBuf::<i32>::new();
        for value in values {
            let value = value.as_deref().unwrap_or_default();
            // A short text is stored in its view.
            let place = if value.len() <= 12 { Some((0, 0)) } else { places.find(value) };
            let (number, start) = match place {
                Some(place) => place,
                None => {
                    let start = column.bytes().len() as u32;
                    column.push(value)?;
                    (places.buffers.len() as u32, start)
                }
            };
            views.extend_from_slice(&view_of(value, number, start));
        }
        let mut buffers = places.buffers.to_vec();
        if !column.is_empty() {
            buffers.push(Buffer::from_vec(column.into_parts().0));
        }
        self.array_of_views(of, views, nulls, buffers)
    }

    /// Makes an array of texts with offsets.
    fn copied<O>(&self, values: &[Value<'_>], nulls: Option<NullBuffer>) -> Result<ArrayData, Failure>
    where
        O: ArrowNativeType + Offset,
    {
        let mut column =
            self.column::<O>(values.len(), values.iter().flatten().map(|value| value.len()).sum());
        for value in values {
            column.push(value.as_deref().unwrap_or_default())?;
        }
        self.small_or_large(self.chunk.data_type(), column, nulls)
    }

    /// Makes an array of the results of a function of URLs.
    fn nested(&self, made: Extracted<'_>, places: Option<&Places<'_>>) -> Result<ArrayData, Failure> {
        let fields = made.fields.iter().map(|values| self.texts(values, places));
        let mut fields = fields.collect::<Result<Vec<_>, _>>()?;
        let len = made.valid.len();
        let nulls = made.valid.contains(&false).then(|| NullBuffer::from(made.valid));
        let item = match self.result {
            DataType::Struct(_) => return self.build(self.result, len, nulls, Vec::new(), fields),
            DataType::List(item) | DataType::LargeList(item) => item.data_type(),
            _ => return Ok(fields.swap_remove(0)),
        };
        let items = match item {
            DataType::Struct(_) => self.build(item, fields[0].len(), None, Vec::new(), fields)?,
            _ => fields.swap_remove(0),
        };
        let ends = iter::once(0).chain(made.ends);
        let offsets = if self.job.host.large_lists {
            Buffer::from_vec(ends.map(|end| end as i64).collect())
        } else {
            let ends: Result<Vec<i32>, _> = ends.map(i32::try_from).collect();
            Buffer::from_vec(
                ends.map_err(|_| Failure::Invalid("a batch has more than 2^31 items".to_owned()))?,
            )
        };
        self.build(self.result, len, nulls, vec![offsets], vec![items])
    }
}

/// The buffers of views, by their addresses.
struct Places<'a> {
    buffers: &'a [Buffer],
    /// The address of each buffer with its index, in ascending order.
    starts: Vec<(usize, u32)>,
}

impl<'a> Places<'a> {
    fn new(buffers: &'a [Buffer]) -> Places<'a> {
        let mut starts: Vec<_> =
            buffers.iter().zip(0..).map(|(buffer, number)| (buffer.as_ptr().addr(), number)).collect();
        starts.sort_unstable();
        Places { buffers, starts }
    }

    /// Returns the index of the buffer that holds `value`, and the offset in it. Returns `None` if no buffer holds it, and may
    /// return `None` if buffers overlap.
    fn find(&self, value: &[u8]) -> Option<(u32, u32)> {
        let at = value.as_ptr().addr();
        let (start, number) =
            *self.starts[..self.starts.partition_point(|(start, _)| *start <= at)].last()?;
        let offset = at - start;
        let is_inside = offset + value.len() <= self.buffers[number as usize].len();
        is_inside.then_some((number, u32::try_from(offset).ok()?))
    }
}

/// Returns the validity `nulls` of `len` rows, with the rows of `more` set to null as well.
fn without(nulls: Option<&NullBuffer>, len: usize, more: impl Iterator<Item = usize>) -> Option<NullBuffer> {
    let mut more = more.peekable();
    if more.peek().is_none() {
        return nulls.cloned();
    }
    let mut bits = BooleanBufferBuilder::new(len);
    match nulls {
        Some(nulls) => bits.append_buffer(nulls.inner()),
        None => bits.append_n(len, true),
    }
    more.for_each(|row| bits.set_bit(row, false));
    Some(NullBuffer::new(bits.finish()))
}
