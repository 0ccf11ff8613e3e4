//! Rewrites columns of Parquet files.
//!
//! The chosen columns are read, changed and written again, some rows at a time. All other columns are copied with
//! their pages, statistics, indexes and filters, without being decompressed.

use std::fs::File;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::bloom_filter::Sbbf;
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnDescriptor;
use simdpct::ByteSet;

use super::{Account, OutputOptions};
use crate::common::charset::Charset;
use crate::common::error::{Failure, Outcome, Place};
use crate::common::reason::Reason;
use crate::convert::options::{DecodeOptions, Verb};
use crate::convert::policy::{Action, At, Policies, Record, Treat, Treatment};
use crate::convert::report::Report;
use crate::convert::stats::Stats;
use crate::convert::work::Works;
use crate::io::files::{self, Destination};
use crate::io::input::Input;
use crate::io::names::{Reading, Sources};
use crate::io::output::Output;
use crate::print::rejects::Rejects;

/// The number of rows that are read at once.
const ROWS: usize = 1024;

/// The job on the chosen columns of Parquet files.
pub struct Parquet {
    /// The names of the chosen columns, or their numbers from 1.
    columns: Vec<String>,
    /// The treatment of values in binary columns.
    bytes: Treatment,
    /// The treatment of values in text columns, which must stay valid UTF-8.
    text: Treatment,
}

impl Parquet {
    /// Creates the job that applies `verb` to `columns`.
    pub fn new(
        verb: &Verb,
        columns: &[String],
        policies: Policies,
        options: &OutputOptions,
    ) -> Result<Parquet, String> {
        let treatment = |verb: &Verb| {
            // Parquet stores the length of each value, so a value may contain any byte.
            let works = Works::new(verb, ByteSet::EMPTY);
            Treatment::new(works, policies, options.stats.is_some(), options.rejects.is_some(), b"")
        };
        let text = match verb {
            // With the charset UTF-8, the decoder keeps escapes of invalid UTF-8.
            Verb::Decode(options) if options.charset.is_none() => {
                &Verb::Decode(DecodeOptions { charset: Some(Charset::find("utf-8")?), ..options.clone() })
            }
            verb => verb,
        };
        Ok(Parquet { columns: columns.to_vec(), bytes: treatment(verb), text: treatment(text) })
    }
}

/// Runs `job` on each file.
pub fn run(
    sources: &Sources,
    destination: &Destination,
    mut job: Parquet,
    options: &OutputOptions,
) -> Result<Outcome, Failure> {
    let mut account = Account::open(options, destination.sync)?;
    // Parquet files compress their own pages, so the file as a whole is not decompressed.
    let sources = Sources { reading: Reading { decompress: false, ..sources.reading }, ..sources.clone() };
    let result = files::each(&sources, destination, |inputs, output| {
        let mut is_first = true;
        inputs.each(|input| {
            if !std::mem::replace(&mut is_first, false) {
                let name = input.name();
                return Err(Failure::Usage(format!(
                    "{name}: Parquet files cannot be put one after the other; give one file, or --in-place"
                )));
            }
            account.admit(input, output)?;
            let Account { rejects, stats, .. } = &mut account;
            guarded(input.name(), || rewrite(input, output, &mut job, rejects.as_mut(), stats))?;
            Ok(true)
        })
    });
    let stats = account.close(&result)?;
    if result.is_ok() && !destination.quiet {
        super::warn_faulty(&stats, &job.text, options);
    }
    result
}

/// Runs `work` on the file `name` and turns a panic into an error. The crate `parquet` panics on some broken files.
fn guarded(name: &str, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    // Unwind safety: after a panic the unfinished output is dropped and its file does not appear.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(hook);
    result.unwrap_or_else(|panic| {
        let message =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let message = format!("the file is broken: {}", message.unwrap_or("it cannot be read"));
        Err(Failure::missing(name, io::Error::other(message)))
    })
}

/// Rewrites the chosen columns of one Parquet file.
fn rewrite(
    input: &Input,
    output: &mut Output,
    job: &mut Parquet,
    rejects: Option<&mut Rejects>,
    stats: &mut Stats,
) -> Result<(), Failure> {
    let name = input.name();
    let Some(file) = input.regular() else {
        let error = io::Error::other("Parquet is read from its end, so it must be a regular file");
        return Err(Failure::missing(name, error));
    };
    let read = |error| Failure::missing(name, plain(error));
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = reader.parse_and_finish(file).map_err(read)?;
    let of_file = metadata.file_metadata();
    let chosen = choose(&job.columns, of_file.schema_descr().columns())
        .map_err(|message| Failure::Usage(format!("{name}: {message}")))?;
    let rows = file.try_clone().map_err(|error| Failure::missing(name, error))?;
    let rows = SerializedFileReader::new(rows).map_err(read)?;

    let mut failure = None;
    let sink = Sink { output, failure: &mut failure };
    let written = (|| {
        let schema = of_file.schema_descr().root_schema_ptr();
        let mut writer = SerializedFileWriter::new(sink, schema, properties(&metadata, &chosen))?;
        let mut pass = Pass { name, file, metadata: &metadata, job, rejects, stats, row: 0 };
        for group in 0..metadata.num_row_groups() {
            let mut out = writer.next_row_group()?;
            for column in 0..metadata.row_group(group).num_columns() {
                if chosen.contains(&column) {
                    let reader = rows.get_row_group(group)?.get_column_reader(column)?;
                    pass.work(reader, column, &mut out)?;
                } else {
                    pass.copy(group, column, &mut out)?;
                }
            }
            out.close()?;
            pass.row += metadata.row_group(group).num_rows() as u64;
        }
        pass.stats.records += pass.row;
        writer.close()?;
        Ok(())
    })();
    match (failure, written) {
        // A failed output makes the Parquet writer fail as well. The output's own error has the cause, so it comes
        // first.
        (Some(failure), _) | (None, Err(Ended::Failure(failure))) => Err(failure),
        (None, Err(Ended::Parquet(error))) => Err(read(error)),
        (None, Ok(())) => Ok(()),
    }
}

/// The error that ended the rewriting of a file.
enum Ended {
    Parquet(ParquetError),
    Failure(Failure),
}

impl From<ParquetError> for Ended {
    fn from(error: ParquetError) -> Ended {
        Ended::Parquet(error)
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Failure(failure)
    }
}

/// Converts a Parquet error to an I/O error: the one that it contains, or else a new one with its message.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        ParquetError::General(message) | ParquetError::EOF(message) => io::Error::other(message),
        error => io::Error::other(error),
    }
}

/// Returns the indexes of the leaf columns that `columns` select, by the path of a leaf or group or by the number of
/// a top-level column.
fn choose(columns: &[String], leaves: &[Arc<ColumnDescriptor>]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::new();
    let mut roots: Vec<&str> = leaves.iter().map(|leaf| leaf.path().parts()[0].as_str()).collect();
    roots.dedup();
    for column in columns {
        let named = |name: &str| -> Vec<usize> {
            let is_below = |path: &str| {
                path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let places = leaves.iter().enumerate();
            places.filter(|(_, leaf)| is_below(&leaf.path().string())).map(|(index, _)| index).collect()
        };
        let mut found = named(column);
        if found.is_empty()
            && let Ok(number) = column.parse::<usize>()
            && let Some(root) = number.checked_sub(1).and_then(|index| roots.get(index))
        {
            found = named(root);
        }
        if found.is_empty() {
            return Err(format!("there is no column '{column}'; there are {}", roots.join(", ")));
        }
        // Selecting a group selects those of its leaf columns that hold bytes.
        let holds_bytes = |index: &usize| leaves[*index].physical_type() == Type::BYTE_ARRAY;
        if !found.iter().any(holds_bytes) {
            let holds = leaves[found[0]].physical_type();
            return Err(format!("the column '{column}' holds {holds}, not text"));
        }
        found.retain(holds_bytes);
        chosen.extend(found);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// Returns the writer properties of the new file. They are those of the old file, as far as the old file records
/// them.
fn properties(metadata: &ParquetMetaData, chosen: &[usize]) -> WriterPropertiesPtr {
    let of_file = metadata.file_metadata();
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(of_file.key_value_metadata().cloned())
        .set_offset_index_disabled(metadata.page_index().is_none());
    if let Some(creator) = of_file.created_by() {
        // Readers decide by `created_by` whether they trust statistics. Most statistics are copied, so their author
        // is copied as well.
        properties = properties.set_created_by(creator.to_owned());
    }
    let Some(group) = metadata.row_groups().first() else { return Arc::new(properties.build()) };
    // Changed values may be out of order, so the new file does not claim to be sorted by a changed column.
    let sorted = group
        .sorting_columns()
        .filter(|columns| !columns.iter().any(|column| chosen.contains(&(column.column_idx as usize))));
    properties = properties.set_sorting_columns(sorted.cloned());
    for &index in chosen {
        let column = group.column(index);
        let path = column.column_path().clone();
        properties = properties
            .set_column_compression(path.clone(), column.compression())
            .set_column_dictionary_enabled(path.clone(), column.dictionary_page_offset().is_some())
            .set_column_bloom_filter_enabled(path, column.bloom_filter_offset().is_some());
    }
    Arc::new(properties.build())
}

/// The state of the rewriting of one file.
struct Pass<'a> {
    name: &'a str,
    file: &'a File,
    metadata: &'a ParquetMetaData,
    job: &'a mut Parquet,
    rejects: Option<&'a mut Rejects>,
    stats: &'a mut Stats,
    /// The number of rows in the row groups before the current one.
    row: u64,
}

impl Pass<'_> {
    /// Copies one row group of a column that was not chosen, without decompressing it.
    fn copy(
        &self,
        group: usize,
        column: usize,
        out: &mut SerializedRowGroupWriter<'_, Sink<'_>>,
    ) -> Result<(), Ended> {
        let rows = self.metadata.row_group(group);
        let chunk = rows.column(column);
        let index = self.metadata.page_index();
        let close = ColumnCloseResult {
            bytes_written: chunk.compressed_size() as u64,
            rows_written: rows.num_rows() as u64,
            metadata: chunk.clone(),
            bloom_filter: Sbbf::read_from_column_chunk(chunk, self.file)?,
            column_index: index.and_then(|index| index.column_index(group, column)).cloned(),
            offset_index: index.and_then(|index| index.offset_index(group, column)).cloned(),
        };
        Ok(out.append_column(self.file, close)?)
    }

    /// Rewrites one row group of a chosen column.
    fn work(
        &mut self,
        reader: ColumnReader,
        column: usize,
        out: &mut SerializedRowGroupWriter<'_, Sink<'_>>,
    ) -> Result<(), Ended> {
        let leaf = self.metadata.file_metadata().schema_descr().column(column);
        let is_text = is_text(&leaf);
        let ColumnReader::ByteArrayColumnReader(mut reader) = reader else {
            return Err(ParquetError::General(format!("{}: not a column of bytes", leaf.path())).into());
        };
        let Some(mut writer) = out.next_column()? else {
            return Err(ParquetError::General("a row group with too few columns".to_owned()).into());
        };
        let (has_nulls, has_repeats) = (leaf.max_def_level() > 0, leaf.max_rep_level() > 0);
        let (mut nulls, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = Places::default();
        loop {
            nulls.clear();
            repeats.clear();
            values.clear();
            let levels = (has_nulls.then_some(&mut nulls), has_repeats.then_some(&mut repeats));
            let (records, _, _) = reader.read_records(ROWS, levels.0, levels.1, &mut values)?;
            if records == 0 {
                break;
            }
            places.start(self.row, records as u64);
            let new = self.values(&values, is_text, |index| {
                places.row(index, &nulls, leaf.max_def_level(), &repeats)
            })?;
            let levels = (has_nulls.then_some(&nulls[..]), has_repeats.then_some(&repeats[..]));
            writer.typed::<ByteArrayType>().write_batch(&new, levels.0, levels.1)?;
        }
        writer.close()?;
        Ok(())
    }

    /// Returns the converted `values`. For messages, `row` returns the row number of the value with a given index.
    fn values(
        &mut self,
        values: &[ByteArray],
        is_text: bool,
        row: impl Fn(usize) -> u64,
    ) -> Result<Vec<ByteArray>, Ended> {
        let treatment = if is_text { &mut self.job.text } else { &mut self.job.bytes };
        let mut report = Report::new(self.rejects.is_some(), self.rejects.is_some());
        let mut out = Vec::with_capacity(values.iter().map(ByteArray::len).sum());
        let mut ends = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let (value, start) = (value.data(), out.len());
            let record = Record { chunk: value, start: 0, stop: value.len(), end: b'\n', shown: None };
            let action = treatment.value(At::plain(0), value, &mut out, record, &mut report, |offset| offset);
            if let Action::Stop(refusal) = action {
                let place =
                    Place { file: self.name.to_owned(), line: row(index), offset: refusal.offset as u64 };
                return Err(Failure::Data { place, reason: refusal.reason }.into());
            }
            // With a custom set of kept bytes, escaping can split a UTF-8 character. Such a value is rejected and
            // stays unchanged.
            if is_text && simdutf8::basic::from_utf8(&out[start..]).is_err() {
                out.truncate(start);
                out.extend_from_slice(value);
                record.refuse(&mut report, 0, &Reason::InvalidUtf8);
            }
            ends.push(out.len());
            if let Some(rejects) = &mut self.rejects {
                for refused in &report.refused {
                    let (row, offset) = (row(index), refused.offset);
                    rejects.add(format_args!("{}:{row}:{offset}: {}\n", self.name, report.text(refused)))?;
                }
            }
            self.stats.bytes_in += value.len() as u64;
            self.stats.bytes_out += (out.len() - start) as u64;
            self.stats.add(&report.stats);
            report.clear();
        }
        let out = Bytes::from(out);
        let mut start = 0;
        Ok(ends
            .into_iter()
            .map(|end| ByteArray::from(out.slice(std::mem::replace(&mut start, end)..end)))
            .collect())
    }
}

/// Finds the row number of a value. A null row has no value, and a row with a list may have several.
#[derive(Default)]
struct Places {
    /// The number of rows before the current row group.
    before: u64,
    /// The number of rows in the batch that was read last.
    records: u64,
    /// The number of rows of the current row group in earlier batches.
    done: u64,
}

impl Places {
    /// Advances to the next batch of `records` rows. `before` is the number of rows before the row group.
    fn start(&mut self, before: u64, records: u64) {
        self.done += self.records;
        (self.before, self.records) = (before, records);
    }

    /// Returns the row number, from 1, of the value at `index` of the batch. Only messages need it, so a linear
    /// search is enough.
    fn row(&self, index: usize, nulls: &[i16], max: i16, repeats: &[i16]) -> u64 {
        let first = self.before + self.done + 1;
        if nulls.is_empty() {
            return first + index as u64;
        }
        let mut present = nulls.iter().enumerate().filter(|(_, level)| **level == max);
        let place = present.nth(index).map_or(0, |(place, _)| place);
        match repeats.get(1..=place) {
            None if repeats.is_empty() => first + place as u64,
            None => first,
            Some(repeats) => first + repeats.iter().filter(|level| **level == 0).count() as u64,
        }
    }
}

/// Reports whether the type of a column says that its values are UTF-8.
fn is_text(leaf: &ColumnDescriptor) -> bool {
    matches!(leaf.logical_type_ref(), Some(LogicalType::String | LogicalType::Enum | LogicalType::Json))
        || matches!(leaf.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON)
}

/// An adapter from `io::Write` to the output. It keeps the [`Failure`] of the output, because `io::Error` cannot hold
/// one.
struct Sink<'a> {
    output: &'a mut Output,
    failure: &'a mut Option<Failure>,
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes).map(|()| bytes.len()).map_err(|failure| {
            *self.failure = Some(failure);
            io::Error::other("the output could not be written")
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
