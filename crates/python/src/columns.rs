//! Runs functions on ranges of rows of columns, on all cores, without the Python interpreter.

use std::borrow::Cow;
use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use codec::batch::{Column, ColumnBuf, InvalidOffsets, Offset, TooLong};
use functions::{
    Body, Extracted, Function, Options, Output as Gives, PartBody, Value, Values, Verb, extract_parts,
};

use crate::arrow::{Imported, Input, Stored};
use crate::part::{
    BYTES, BitBuf, Bits, Data, Layout, Part, Shape, Type, VIEWS, Validity, View, ViewBuf,
    column_with_capacity,
};

/// The number of rows that a thread works on at a time. Each such range makes one part of the results.
pub(crate) const ROWS: usize = 1 << 16;

/// A function with its options, for a column of any type.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) function: &'static Function,
    /// The options of the function. `utf8` is ignored, because the type of the column decides.
    pub(crate) options: Options,
    /// The arguments of the function after the first, if it is a function of URLs.
    pub(crate) more: Vec<Argument>,
}

/// An argument of a function after the first.
#[derive(Clone)]
pub(crate) enum Argument {
    Constant(Vec<u8>),
    /// A value for each row: the next of the columns after the first.
    Column,
}

impl Job {
    /// Returns the type of the results for a column of type `input`.
    pub(crate) fn class(&self, input: Type) -> Type {
        let fields = self.function.output.fields();
        match self.function.output {
            Gives::Boolean => Type::flat(Layout::Bool, false),
            Gives::Bytes => Type { text: false, ..input },
            Gives::Text => input,
            Gives::List | Gives::Pairs => Type { shape: Shape::List(fields), ..input },
            Gives::Parts => Type { shape: Shape::Struct(fields), ..input },
        }
    }
}

/// The reason why a function on a column has no result.
pub(crate) enum Failure {
    /// The value of this row is bad, and the policy is to fail. The text is the diagnostic.
    Row(usize, String),
    /// The result of this row is longer than offsets of 32 bits can express.
    TooLong(usize),
    /// The view of this row is outside its buffers, or its offsets are not in order.
    Broken(usize),
    /// An argument does not fit the first column. The text is the diagnostic.
    Argument(String),
}

impl Failure {
    /// Adds `start` to the row of the failure, for rows that were counted from `start`.
    fn after(self, start: usize) -> Failure {
        match self {
            Failure::Row(row, why) => Failure::Row(start + row, why),
            Failure::TooLong(row) => Failure::TooLong(start + row),
            Failure::Broken(row) => Failure::Broken(start + row),
            Failure::Argument(why) => Failure::Argument(why),
        }
    }
}

impl From<TooLong> for Failure {
    fn from(error: TooLong) -> Failure {
        Failure::TooLong(error.index)
    }
}

impl From<InvalidOffsets> for Failure {
    fn from(error: InvalidOffsets) -> Failure {
        Failure::Broken(error.index)
    }
}

impl From<functions::Failure> for Failure {
    fn from(failure: functions::Failure) -> Failure {
        match failure {
            functions::Failure::Rejected { row, why } => Failure::Row(row, why),
            functions::Failure::TooLong(error) => error.into(),
            functions::Failure::Broken { row } => Failure::Broken(row),
            functions::Failure::Invalid(why) => Failure::Argument(why),
        }
    }
}

/// Rows that are stored as bytes and offsets.
struct OffsetRows<'a, O> {
    column: Column<'a, O>,
    validity: Option<Bits<'a>>,
}

impl<'a, O: Offset + TryInto<usize>> Values<'a> for OffsetRows<'a, O> {
    type Offset = O;

    fn rows(&self) -> usize {
        self.column.len()
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.validity.is_some_and(|bits| !bits.get(row)) { None } else { self.column.get(row) }
    }

    fn size(&self) -> usize {
        self.column.size()
    }

    fn column(&self) -> Option<Column<'a, O>> {
        Some(self.column)
    }
}

/// Rows that are stored as views.
struct ViewRows<'a> {
    views: &'a [View],
    buffers: &'a [&'a [u8]],
    validity: Option<Bits<'a>>,
    /// The first row that was read although its view is outside the buffers, if there was one.
    broken: Cell<Option<usize>>,
}

impl<'a> Values<'a> for ViewRows<'a> {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.views.len()
    }

    #[inline(always)]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.validity.is_some_and(|bits| !bits.get(row)) {
            return None;
        }
        let value = self.views[row].value(self.buffers);
        if value.is_none() {
            self.broken.set(Some(row));
        }
        value
    }

    fn size(&self) -> usize {
        // The view of a null may have any length, so the sum of the lengths is limited.
        let most = self.buffers.iter().map(|buffer| buffer.len()).sum::<usize>() + 12 * self.views.len();
        self.views.iter().map(View::len).sum::<usize>().min(most)
    }
}

/// Rows with the same value.
struct SameRows<'a> {
    value: Option<&'a [u8]>,
    rows: usize,
}

impl<'a> Values<'a> for SameRows<'a> {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.rows
    }

    fn get(&self, _: usize) -> Option<&'a [u8]> {
        self.value
    }

    fn size(&self) -> usize {
        0
    }
}

/// The values of an argument.
enum Given<'a> {
    Constant(&'a [u8]),
    /// The chunks of a column, each with its first row, and the number of all rows.
    Column(Vec<(usize, Stored<'a>, Option<Bits<'a>>)>, usize),
}

impl<'a> Given<'a> {
    fn column(input: &'a Input) -> Result<Given<'a>, Failure> {
        let (mut chunks, mut start) = (Vec::new(), 0);
        for chunk in &input.chunks {
            let (Ok(stored), Ok(validity)) = (chunk.stored(), chunk.validity()) else {
                return Err(Failure::Broken(start));
            };
            if let Stored::View(buffers, views) = &stored {
                let is_broken = |row: &usize| {
                    validity.is_none_or(|bits| bits.get(*row)) && views[*row].value(buffers).is_none()
                };
                if let Some(row) = (0..chunk.len()).find(is_broken) {
                    return Err(Failure::Broken(start + row));
                }
            }
            chunks.push((start, stored, validity));
            start += chunk.len();
        }
        Ok(Given::Column(chunks, start))
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Given::Constant(text) => Some(text),
            Given::Column(chunks, rows) => {
                let row = if *rows == 1 { 0 } else { row };
                let (start, stored, validity) =
                    chunks[..chunks.partition_point(|(start, ..)| *start <= row)].last()?;
                let row = row - start;
                validity.is_none_or(|bits| bits.get(row)).then(|| stored.value(row))
            }
        }
    }
}

/// A range of the rows of a chunk.
#[derive(Clone)]
struct Piece<'a> {
    chunk: &'a Arc<Imported>,
    stored: &'a Stored<'a>,
    validity: Option<Bits<'a>>,
    rows: Range<usize>,
    /// The row of the column at which the chunk starts.
    start: usize,
    /// Whether all these rows have the value of the first row of the chunk.
    is_same: bool,
    /// The arguments of the function after the first.
    more: &'a [Given<'a>],
}

impl<'a> Piece<'a> {
    fn validity(&self) -> Option<Bits<'a>> {
        self.validity.map(|bits| bits.skip(self.rows.start)).filter(|_| !self.is_same)
    }

    /// Makes views of the parts of URLs, whose views are `rows`. Returns the null rows, too.
    fn views(&self, body: PartBody, rows: &ViewRows<'a>) -> (Data, Vec<usize>) {
        let (mut views, mut nulls) = (VIEWS.take(rows.views.len()), Vec::new());
        extract_parts(body, rows, |url, part| {
            let row = views.len();
            if part.is_none() {
                nulls.push(row);
            }
            let part = part.unwrap_or_default();
            let start = part.as_ptr().addr().wrapping_sub(url.as_ptr().addr());
            views.push(View::of_part(
                rows.views[row],
                url,
                if part.is_empty() { 0 } else { start },
                part.len(),
            ));
        });
        (Data::View(ViewBuf::shared(views, self.chunk, rows.buffers)), nulls)
    }

    /// Applies a job to these rows and makes a part of the results.
    fn part(&self, job: &Job, input: Type) -> Result<Part, Failure> {
        let Range { start, end } = self.rows;
        let validity = self.validity();
        let given = |index: usize, row: usize| self.more[index].get(self.start + start + row);
        if self.is_same {
            let is_valid = self.validity.is_none_or(|bits| bits.get(0));
            let rows = SameRows { value: is_valid.then(|| self.stored.value(0)), rows: end - start };
            return part(job, input, &rows, given)
                .map(|(data, nulls)| Part::new(data, self.validity_without(nulls)));
        }
        match self.stored {
            Stored::Small(bytes, offsets) => {
                let rows = OffsetRows { column: Column::new(bytes, &offsets[start..=end])?, validity };
                part(job, input, &rows, given)
            }
            Stored::Large(bytes, offsets) => {
                let rows = OffsetRows { column: Column::new(bytes, &offsets[start..=end])?, validity };
                part(job, input, &rows, given)
            }
            Stored::View(buffers, views) => {
                let rows = ViewRows { views: &views[start..end], buffers, validity, broken: Cell::new(None) };
                let part = match job.function.body {
                    Body::Part(body) => Ok(self.views(body, &rows)),
                    _ => part(job, input, &rows, given),
                };
                match rows.broken.get() {
                    Some(row) => Err(Failure::Broken(row)),
                    None => part,
                }
            }
        }
        .map(|(data, nulls)| Part::new(data, self.validity_without(nulls)))
    }

    /// Returns the validity of these rows with the rows of `nulls` set to null, or `None` if no row is null.
    fn validity_without(&self, nulls: Vec<usize>) -> Option<Validity> {
        let (validity, rows) = (self.validity(), self.rows.len());
        if validity.is_none() && nulls.is_empty() {
            return None;
        }
        let mut bits = BitBuf::default();
        match validity {
            Some(validity) => bits.extend(validity, rows),
            None => bits = BitBuf::of(true, rows),
        }
        nulls.into_iter().for_each(|row| bits.set(row, false));
        Some(Validity::new(bits))
    }

    /// Applies a job to these rows and appends the results to `out`: one part, or more if one would be too long for its
    /// offsets.
    fn work(&self, job: &Job, input: Type, out: &mut Vec<Arc<Part>>) -> Result<(), Failure> {
        match self.part(job, input) {
            Ok(part) => out.push(Arc::new(part)),
            Err(Failure::TooLong(_)) if self.rows.len() > 1 => {
                let middle = self.rows.start + self.rows.len() / 2;
                for rows in [self.rows.start..middle, middle..self.rows.end] {
                    let before = rows.start - self.rows.start;
                    let half = Piece { rows, ..self.clone() };
                    half.work(job, input, out).map_err(|why| why.after(before))?;
                }
            }
            Err(why) => return Err(why),
        }
        Ok(())
    }
}

/// Applies a job to rows. Returns the results, and the rows that became null.
fn part<'a>(
    job: &Job,
    input: Type,
    rows: &impl Values<'a>,
    given: impl Fn(usize, usize) -> Option<&'a [u8]>,
) -> Result<(Data, Vec<usize>), Failure> {
    let class = job.class(input);
    let make = match job.function.body {
        Body::Verb(make) => make,
        Body::Part(body) => {
            let mut values = Vec::with_capacity(rows.rows());
            extract_parts(body, rows, |_, part| values.push(part.map(Cow::Borrowed)));
            return texts(class.layout, &values);
        }
        Body::Url(body) => {
            let count = job.function.more.len();
            return nested(class, job.function.output.extract(body, rows, count, given, input.text));
        }
    };
    let verb = make(&Options { utf8: input.text, ..job.options });
    Ok(match class.layout {
        Layout::Bool => {
            let results =
                verb.apply(rows, column_with_capacity::<i64>(rows.rows(), verb.capacity(rows.size())))?;
            let mut bits = BitBuf::of(false, rows.rows());
            results.nulls().for_each(|row| bits.set(row, true));
            BYTES.give(results.into_memory().into_parts().0);
            (Data::Bool(bits), Vec::new())
        }
        Layout::Small => {
            let (column, nulls) = column(verb, rows)?;
            (Data::Small(column), nulls)
        }
        Layout::Large => {
            let (column, nulls) = column(verb, rows)?;
            (Data::Large(column), nulls)
        }
        Layout::View => {
            let (column, nulls) = column(verb, rows)?;
            (Data::View(ViewBuf::new(column)), nulls)
        }
    })
}

/// Applies a verb to rows. Returns the results as a column, and the rows that became null.
fn column<'a, O: Offset>(verb: Verb, rows: &impl Values<'a>) -> Result<(ColumnBuf<O>, Vec<usize>), Failure> {
    let results = verb.apply(rows, column_with_capacity(rows.rows(), verb.capacity(rows.size())))?;
    let nulls = results.nulls().collect();
    let column = results.into_column(column_with_capacity, |column| BYTES.give(column.into_parts().0))?;
    Ok((column, nulls))
}

/// Returns the results of a function of URLs, and the rows that are null.
fn nested(class: Type, made: Extracted<'_>) -> Result<(Data, Vec<usize>), Failure> {
    let mut fields =
        made.fields.iter().map(|values| texts(class.layout, values)).collect::<Result<Vec<_>, _>>()?;
    let nulls = (0..).zip(&made.valid).filter(|(_, valid)| !**valid).map(|(row, _)| row).collect();
    let child = |(data, nulls): (Data, Vec<usize>)| {
        let mut bits = BitBuf::of(true, data.len());
        let validity = (!nulls.is_empty()).then(|| {
            nulls.into_iter().for_each(|row| bits.set(row, false));
            Validity::new(bits)
        });
        Arc::new(Part::new(data, validity))
    };
    let structs = |fields: Vec<_>| Data::Struct(fields.into_iter().map(child).collect());
    Ok(match class.shape {
        Shape::Flat => fields.swap_remove(0),
        Shape::Struct(_) => (structs(fields), nulls),
        Shape::List(names) => {
            let items = if names.len() == 1 { fields.swap_remove(0) } else { (structs(fields), Vec::new()) };
            let offsets = std::iter::once(0).chain(made.ends).map(|end| end.cast_signed() as i64);
            (Data::List(offsets.collect(), child(items)), nulls)
        }
    })
}

/// Makes a column of texts. Returns the rows that are null as well.
fn texts(layout: Layout, values: &[Value<'_>]) -> Result<(Data, Vec<usize>), Failure> {
    fn column<O: Offset>(values: &[Value<'_>]) -> Result<ColumnBuf<O>, Failure> {
        let size = values.iter().flatten().map(|value| value.len()).sum();
        let mut column = column_with_capacity(values.len(), size);
        for value in values {
            column.push(value.as_deref().unwrap_or_default())?;
        }
        Ok(column)
    }
    let nulls = (0..).zip(values).filter(|(_, value)| value.is_none()).map(|(row, _)| row).collect();
    Ok(match layout {
        Layout::Large => (Data::Large(column(values)?), nulls),
        Layout::View => (Data::View(ViewBuf::new(column(values)?)), nulls),
        Layout::Small | Layout::Bool => (Data::Small(column(values)?), nulls),
    })
}

/// The results of a function on a column: their type and their parts.
pub(crate) struct Output {
    pub(crate) class: Type,
    pub(crate) parts: Vec<Arc<Part>>,
}

/// Returns the values of the arguments of `job` after the first, whose columns are `columns`, and the number of rows that all
/// arguments together make. A column of one row has the same value in all rows.
fn arguments<'a>(
    job: &'a Job,
    input: &Input,
    columns: &'a [Input],
) -> Result<(Vec<Given<'a>>, usize), Failure> {
    let mut columns = columns.iter();
    let mut rows: usize = input.chunks.iter().map(|chunk| chunk.len()).sum();
    let mut given = Vec::new();
    for argument in &job.more {
        // The results for text are text, so the arguments must be, too.
        let (is_text, value) = match argument {
            Argument::Constant(text) => (std::str::from_utf8(text).is_ok(), Given::Constant(text)),
            Argument::Column => {
                let column =
                    columns.next().ok_or_else(|| Failure::Argument("a column is missing".to_owned()))?;
                (column.class.text, Given::column(column)?)
            }
        };
        let name = job.function.more[given.len()];
        if input.class.text && !is_text {
            return Err(Failure::Argument(format!("{name} must be text, as the first column is")));
        }
        if let Given::Column(_, more) = &value {
            if rows != *more && rows != 1 && *more != 1 {
                return Err(Failure::Argument(format!(
                    "{name} has {more} rows, and the arguments before it {rows}"
                )));
            }
            // A column of one row is repeated, also for no row.
            rows = if rows == 1 { *more } else { rows };
        }
        given.push(value);
    }
    Ok((given, rows))
}

/// Applies a function to each row, on up to `threads` threads. `more` are the columns among the arguments after the first.
pub(crate) fn apply(
    input: &Input,
    more: &[Input],
    job: &Job,
    threads: Option<NonZero<usize>>,
) -> Result<Output, Failure> {
    let class = job.class(input.class);
    let (more, rows) = arguments(job, input, more)?;
    let chunks: Vec<_> =
        input.chunks.iter().map(|chunk| (chunk, chunk.stored(), chunk.validity(), chunk.len())).collect();
    let is_same = rows != chunks.iter().map(|(.., len)| len).sum::<usize>();
    let mut pieces = Vec::new();
    let mut start = 0;
    for (chunk, stored, validity, len) in &chunks {
        // `Imported::new` has called both functions without an error, so this only happens if the producer changed the data.
        let (Ok(stored), Ok(validity)) = (stored, validity) else { return Err(Failure::Broken(start)) };
        let rows = if is_same && *len == 1 { rows } else { *len };
        for first in (0..rows).step_by(ROWS) {
            let rows = first..(first + ROWS).min(rows);
            let more = &more;
            pieces.push((
                start + first,
                Piece { chunk, stored, validity: *validity, rows, start, is_same, more },
            ));
        }
        start += len;
    }
    let work = |(start, piece): &(usize, Piece<'_>)| {
        let mut parts = Vec::new();
        piece.work(job, input.class, &mut parts).map(|()| parts).map_err(|why| why.after(*start))
    };
    let threads =
        threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get).min(pieces.len());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(pieces.len()));
    let run = || {
        while let Some((index, piece)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            pieces.get(index).map(|piece| (index, piece))
        } {
            let result = work(piece);
            let failed = result.is_err();
            if let Ok(mut results) = results.lock() {
                results.push((index, result));
            }
            if failed {
                // The rows before the failed piece are already being processed, and the pieces after it are not needed.
                next.store(pieces.len(), Ordering::Relaxed);
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
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(index, _)| *index);
    let mut parts = Vec::with_capacity(results.len());
    for (_, result) in results {
        parts.extend(result?);
    }
    Ok(Output { class, parts })
}

/// Returns the bytes of a row. The result is arbitrary if the row is null or does not exist.
pub(crate) fn value(input: &Input, mut row: usize) -> Vec<u8> {
    for chunk in &input.chunks {
        if row < chunk.len() {
            return chunk.stored().map(|stored| stored.value(row).to_vec()).unwrap_or_default();
        }
        row -= chunk.len();
    }
    Vec::new()
}
