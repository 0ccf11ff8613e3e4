//! Writes the results of a job in the order of the input: output, rejected values, findings and previews.

pub mod findings;
pub mod keys;
pub mod preview;

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::sync::Arc;

use self::findings::Findings;
use self::keys::{Counts, Distinct};
use self::preview::Preview;
use crate::common::error::{Failure, warn};
use crate::common::reason::Refusal;
use crate::common::records::{BYTE_ORDER_MARK, Records};
use crate::convert::report::Report;
use crate::convert::stats::Stats;
use crate::io::compression::Format;
use crate::io::input::Input;
use crate::io::output::{Output, OutputFileOptions, Shared};

/// The recipient of the results of a job, in the order of the input.
pub enum Print {
    /// Writes the results as they are.
    Result,
    /// Writes a preview. The results are lines, marked as removed, added or unchanged.
    Preview(Box<Preview>),
    /// Counts how often each record of the results occurs.
    Top(Arc<Counts>),
    /// Writes the first record with each key. The results are records, and the keys that identify them.
    Dedup(Box<Distinct>),
    /// Lists the findings in the reports, and ends the run when the list is complete.
    Findings(Box<Findings>),
}

/// The destination of the results of all input files that go to one output.
pub struct Sink<'o> {
    pub output: &'o mut Output,
    pub stats: &'o mut Stats,
    /// The file of rejected values, if the user asked for one.
    rejects: Option<&'o mut Output>,
    pub print: &'o mut Print,
    /// The byte that ends a record; `None` if the input has no records.
    end: Option<u8>,
    /// Whether the output ends with an incomplete record, one without its record end.
    is_open: bool,
    /// Whether nothing of the current file has been written.
    is_start: bool,
    /// Whether anything has been written at all.
    is_used: bool,
    /// The header of the first table of the output. In a preview, which shows each file separately, it is that of the current
    /// file.
    pub header: Header,
    /// The name of the current input.
    pub file: String,
    /// The number of lines before the next chunk.
    pub lines: u64,
}

/// The header of the first table of an output.
#[derive(Default)]
pub struct Header {
    names: Option<Vec<Vec<u8>>>,
    /// Whether the user has been warned that the output repeats the header.
    has_warned: bool,
}

impl Header {
    /// Reports whether `names`, the header of `file`, must be written. With `one_header`, only the first header is
    /// written, and each later header must be equal to it.
    pub fn is_written(&mut self, names: Vec<Vec<u8>>, one_header: bool, file: &str) -> Result<bool, Failure> {
        let Some(first) = &self.names else {
            self.names = Some(names);
            return Ok(true);
        };
        if one_header {
            if *first == names {
                return Ok(false);
            }
            let error = io::Error::other(
                "its header is not that of the first file, so the file is left out of the one table",
            );
            return Err(Failure::missing(file, error));
        }
        if *first == names && !self.has_warned {
            self.has_warned = true;
            warn(format_args!(
                "{file}: the header is that of the first file, and is written again; --one-header leaves it out"
            ));
        }
        Ok(true)
    }
}

/// Opens the file of `--rejects`, which will get the name `path` at the end of the run. `sync` says whether the file must
/// be on the disk before it gets this name.
pub fn open_rejects(path: &Path, sync: bool) -> Result<Output, Failure> {
    let compression = Format::of_extension(path).map(|format| (format, format.traits().usual_level));
    Output::create(Some(path), OutputFileOptions { compression, suffix: "", sync })
}

impl<'o> Sink<'o> {
    /// Creates the destination before the first file.
    pub fn new(
        output: &'o mut Output,
        stats: &'o mut Stats,
        rejects: Option<&'o mut Output>,
        print: &'o mut Print,
        records: Records,
    ) -> Sink<'o> {
        let end = Some(records.end()).filter(|_| records != Records::Raw);
        let (is_open, is_start, is_used) = (false, true, false);
        let (header, file) = (Header::default(), String::new());
        Sink { output, stats, rejects, print, end, is_open, is_start, is_used, header, file, lines: 0 }
    }

    /// Starts with the results of `input`. Fails if the output is this file, unless the output replaces it at the end,
    /// or if the file of rejected values would replace it.
    pub fn next_file(&mut self, input: &Input) -> Result<(), Failure> {
        let (version, name) = (input.version.as_ref(), &input.name);
        match self.print {
            Print::Findings(findings) => findings.file(input),
            _ => self.output.reads(version, name)?,
        }
        if self.rejects.as_ref().is_some_and(|rejects| rejects.overwrites(version)) {
            return Err(Failure::Usage(format!("{name}: an input and --rejects are the same file")));
        }
        if let Print::Preview(preview) = self.print {
            preview.file(&input.path);
            self.header = Header::default();
        }
        (self.is_start, self.file, self.lines) = (true, name.clone(), 0);
        Ok(())
    }

    /// Returns the output file, if threads may write their results to it in any order: see [`Sink::reserve`].
    pub fn shared(&self) -> Option<Shared> {
        if let Print::Result = self.print { self.output.shared() } else { None }
    }

    /// Returns the counts, if results are counted. Threads may add to them in any order.
    pub fn counts(&self) -> Option<Arc<Counts>> {
        if let Print::Top(counts) = &*self.print { Some(counts.clone()) } else { None }
    }

    /// Writes `out`, the result for the chunk at `offset`, and processes the report of this chunk.
    pub fn take(&mut self, offset: u64, out: &[u8], report: &Report) -> Result<(), Failure> {
        match self.print {
            Print::Top(counts) => counts.take(0, out)?,
            Print::Dedup(distinct) => {
                let mut written = Vec::new();
                distinct.take(out, &mut written)?;
                self.write(&written, false)?;
            }
            _ => self.write(out, report.is_open)?,
        }
        self.note(offset, report)
    }

    /// Writes `bytes`. `is_open` says whether they end with an incomplete record.
    pub fn write(&mut self, bytes: &[u8], is_open: bool) -> Result<(), Failure> {
        if let Print::Preview(preview) = self.print {
            return preview.push(bytes, self.output);
        }
        self.begin(bytes, is_open)?;
        self.output.write(bytes)
    }

    /// Reserves space in the output for `bytes` and returns its offset. The caller writes `bytes` there, to the
    /// shared file.
    pub fn reserve(&mut self, bytes: &[u8], is_open: bool) -> Result<u64, Failure> {
        self.begin(bytes, is_open)?;
        Ok(self.output.reserve(bytes.len()))
    }

    /// Counts `bytes`, and writes the missing record end of the previous file, if there is one.
    fn begin(&mut self, bytes: &[u8], is_open: bool) -> Result<(), Failure> {
        if bytes.is_empty() && !is_open {
            return Ok(());
        }
        if let Some(end) = self.end.filter(|_| self.is_start && self.is_open) {
            self.stats.bytes_out += 1;
            self.output.write(&[end])?;
        }
        (self.is_open, self.is_start, self.is_used) = (is_open, false, true);
        self.stats.bytes_out += bytes.len() as u64;
        Ok(())
    }

    /// Processes the report of the chunk at `offset`: rejected values, counts, findings, and the error that ends the
    /// run.
    pub fn note(&mut self, offset: u64, report: &Report) -> Result<(), Failure> {
        if let Some(rejects) = &mut self.rejects {
            let mut lines = String::new();
            for refused in &report.refused {
                let (line, offset) = (self.lines + refused.line + 1, offset + refused.offset);
                // Writing to a `String` cannot fail.
                let _ = writeln!(lines, "{}:{line}:{offset}: {}", self.file, report.text(refused));
            }
            rejects.write(lines.as_bytes())?;
        }
        self.stats.add(&report.stats);
        if let Print::Findings(findings) = self.print {
            findings.take(&self.file, self.lines, offset, &report.list, self.output)?;
        }
        if let Some((line, Refusal { offset: at, reason })) = &report.stop {
            let (file, reason) = (self.file.clone(), reason.clone());
            let (line, offset) = (self.lines + line + 1, offset + *at as u64);
            return Err(Failure::Data { file, line, offset, reason });
        }
        self.lines += report.lines;
        Ok(())
    }

    /// Skips the byte order mark of the input. The mark is written only at the start of the output, and only if
    /// `is_kept`.
    pub fn pass_byte_order_mark(&mut self, is_kept: bool) -> Result<(), Failure> {
        self.stats.bytes_in += BYTE_ORDER_MARK.len() as u64;
        if let Print::Preview(preview) = self.print {
            preview.begin(BYTE_ORDER_MARK);
            return Ok(());
        }
        if self.is_used || !is_kept { Ok(()) } else { self.write(BYTE_ORDER_MARK, false) }
    }
}
