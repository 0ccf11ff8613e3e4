//! Prints the findings of `pct check`: one line each on standard output, and a summary on stderr.

use std::io::Write;

use serde::Serialize;

use crate::check::kind::Group;
use crate::check::listing::{Finding, List, Value};
use crate::check::page::{json_line, serialize_bytes};
use crate::common::error::{Failure, Outcome, warn};
use crate::common::format::OutputFormat;
use crate::common::shown::shown;
use crate::io::input::Input;
use crate::io::output::Output;

/// The input that the run must read next, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The run must read the rest of the current file.
    More,
    /// The run goes on with the next file, because the current one needs no more findings.
    File,
    /// The run ends, because the list of findings is complete.
    Nothing,
}

/// The number of buffered bytes at which findings are written to the output.
const BUFFER: usize = 64 * 1024;

/// A finding of `check` (a problem in a value, with its position), as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(serialize_with = "serialize_bytes")]
    file: &'a [u8],
    line: u64,
    offset: u64,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    text: &'a str,
}

/// The findings of a run.
#[derive(Default)]
pub struct Findings {
    buffer: Vec<u8>,
    quiet: bool,
    format: OutputFormat,
    /// Whether only the names of files that have findings are printed.
    names_files: bool,
    /// The number of findings after which the run ends.
    max: u64,
    /// The number of findings of each group.
    counts: [u64; Group::ALL.len()],
    /// The number of findings.
    total: u64,
    /// Whether the current file has findings.
    has_some: bool,
    /// Whether the rest of a file was not needed.
    pub has_skipped: bool,
    /// The name of the current file, as it is printed if `names_files` is set, and in JSON.
    name: Vec<u8>,
    /// The byte after each name that is printed. If it is NUL, names are not escaped.
    end: u8,
    /// The file and line of the finding that reached the maximum.
    last: String,
}

impl Findings {
    /// Creates an empty list, which is complete after `max` findings, or after one if `quiet`. Names of files end in
    /// `end`.
    pub fn new(quiet: bool, format: OutputFormat, names_files: bool, max: Option<u64>, end: u8) -> Findings {
        let max = if quiet { 1 } else { max.unwrap_or(u64::MAX) };
        Findings { quiet, format, names_files, max, end, ..Findings::default() }
    }

    /// Records that the following findings belong to `input`.
    pub fn file(&mut self, input: &Input) {
        self.has_some = false;
        self.name.clear();
        let is_exact = self.end == b'\0' || self.format == OutputFormat::Jsonl;
        self.name.extend_from_slice(if is_exact { input.exact_name() } else { input.name.as_bytes() });
    }

    /// Reports whether only the exit code matters and a finding has already decided it.
    pub fn settled(&self) -> bool {
        self.quiet && self.total > 0
    }

    /// Returns the input that the run must read next, if any.
    pub fn next(&self) -> Next {
        if self.total >= self.max {
            Next::Nothing
        } else if self.has_some && self.names_files {
            Next::File
        } else {
            Next::More
        }
    }

    /// Writes the findings of a chunk to `output`. The chunk is at `offset` of `file`, after `lines` lines.
    /// Fails with [`Failure::Enough`] if the rest of the file is not needed.
    pub fn take(
        &mut self,
        file: &str,
        lines: u64,
        offset: u64,
        list: &List,
        output: &mut Output,
    ) -> Result<(), Failure> {
        for finding in &list.findings {
            if self.next() != Next::More {
                break;
            }
            let line = lines + finding.line + 1;
            let offset = offset.saturating_add_signed(finding.offset);
            self.add((file, line, offset), finding, list.text(finding));
            if self.buffer.len() >= BUFFER {
                self.flush(output)?;
            }
        }
        self.flush(output)?;
        if self.next() == Next::More {
            return Ok(());
        }
        self.has_skipped = true;
        Err(Failure::Enough)
    }

    fn add(&mut self, (file, line, offset): (&str, u64, u64), finding: &Finding, text: &str) {
        let Finding { group, value, .. } = finding;
        self.counts[*group as usize] += 1;
        self.total += 1;
        self.has_some = true;
        if self.quiet {
            return;
        }
        if self.total == self.max {
            self.last = format!("{file}:{line}");
        }
        let kind = group.name();
        match self.format {
            _ if self.names_files => {
                self.buffer.extend_from_slice(&self.name);
                self.buffer.push(self.end);
            }
            OutputFormat::Jsonl => {
                let (value, at) = value.as_ref().map(|value| (&*value.name, value.at)).unzip();
                let line = Line { file: &self.name, line, offset, kind, value, at, text };
                self.buffer.extend_from_slice(json_line(&line).as_bytes());
            }
            _ => {
                // Almost every byte can have a finding, so lines are built without formatting macros
                // (docs/lab/2026-11-23-jobs.md).
                let (mut lines, mut offsets) = (itoa::Buffer::new(), itoa::Buffer::new());
                let (line, offset) = (lines.format(line), offsets.format(offset));
                for piece in [file, ":", line, ":", offset, ": ", kind, ": "] {
                    self.buffer.extend_from_slice(piece.as_bytes());
                }
                if let Some(Value { kind: by, name, at }) = value {
                    // A column name may contain any character, so it is escaped. Writing to memory does not fail.
                    let _ = write!(self.buffer, "{by} {} at {at}: ", shown(name.as_ref()));
                }
                self.buffer.extend_from_slice(text.as_bytes());
                self.buffer.push(b'\n');
            }
        }
    }

    fn flush(&mut self, output: &mut Output) -> Result<(), Failure> {
        output.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Returns the outcome of the run, which decides the exit code.
    pub fn outcome(&self) -> Outcome {
        if self.total == 0 { Outcome::Clean } else { Outcome::Findings }
    }

    /// Prints the summary to stderr. `what` names the input that was checked.
    pub fn summarize(&self, what: &str) {
        if self.quiet {
            return;
        }
        let line = match (self.total, self.names_files) {
            (0, _) => format!("no findings in {what}"),
            // Here each file counts as one finding.
            (1, true) => "1 file has findings, the first of them:".to_owned(),
            (total, true) => format!("{total} files have findings, the first of them:"),
            (total, _) if total == self.max => {
                format!("stopped after {}, as asked; findings so far: {total},", self.last)
            }
            (1, _) => format!("1 finding in {what}:"),
            (total, _) => format!("{total} findings in {what}:"),
        };
        let counts = Group::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0);
        let counts: Vec<_> = counts.map(|(group, count)| format!("{} {count}", group.name())).collect();
        let space = if counts.is_empty() { "" } else { " " };
        warn(format_args!("{line}{space}{}", counts.join(", ")));
    }
}
