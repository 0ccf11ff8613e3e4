//! Findings: one line each on standard output, and a summary on stderr.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use serde::Serialize;

use super::kind::Group;
use super::scan::Next;
use crate::ground::error::{Failure, Outcome};
use crate::io::output::Output;

/// Findings of a few blocks are written at once.
const BUFFER: usize = 64 * 1024;

/// What is written of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A line of text for each.
    Text,
    /// A line of JSON for each.
    Json,
    /// The names of files that have some.
    Files,
}

/// A finding, as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    line: u64,
    offset: u64,
    kind: &'a str,
    text: String,
}

/// Where findings go, and what has been found so far.
pub struct Findings {
    output: Output,
    buffer: String,
    quiet: bool,
    show: Show,
    /// The most that are wanted.
    max: u64,
    /// How many there were of each kind.
    counts: [u64; Group::ALL.len()],
    /// Whether there were some in the file at hand.
    has_some: bool,
    /// Why writing has failed.
    failed: Option<Failure>,
}

impl Findings {
    /// None yet. There is no need for more than `max`.
    pub fn new(quiet: bool, show: Show, max: Option<u64>) -> Result<Findings, Failure> {
        Ok(Findings {
            output: Output::stdout()?,
            buffer: String::new(),
            quiet,
            show,
            max: if quiet { 1 } else { max.unwrap_or(u64::MAX) },
            counts: [0; Group::ALL.len()],
            has_some: false,
            failed: None,
        })
    }

    /// A file begins.
    pub fn file(&mut self) {
        self.has_some = false;
    }

    /// Whether nobody wants to see more than that there is something.
    pub fn settled(&self) -> bool {
        self.quiet && self.total() > 0
    }

    /// What has to be read to know more.
    pub fn next(&self) -> Next {
        if self.total() >= self.max {
            Next::Nothing
        } else if self.has_some && self.show == Show::Files {
            Next::File
        } else {
            Next::More
        }
    }

    /// Adds a finding. If it cannot be written, [`Findings::flush`] says so.
    pub fn add(&mut self, group: Group, (file, line, offset): (&str, u64, u64), text: fmt::Arguments<'_>) {
        if self.next() != Next::More {
            return;
        }
        self.counts[group as usize] += 1;
        self.has_some = true;
        if self.quiet || self.failed.is_some() {
            return;
        }
        let kind = group.name();
        // Writing to a string does not fail.
        match self.show {
            Show::Text => {
                let _ = writeln!(self.buffer, "{file}:{line}:{offset}: {kind}: {text}");
            }
            Show::Json => {
                let line = Line { file, line, offset, kind, text: text.to_string() };
                self.buffer.push_str(&serde_json::to_string(&line).unwrap_or_default());
                self.buffer.push('\n');
            }
            Show::Files => {
                let _ = writeln!(self.buffer, "{file}");
            }
        }
        if self.buffer.len() >= BUFFER {
            self.failed = self.write().err();
        }
    }

    /// Writes what was found so far.
    pub fn flush(&mut self) -> Result<(), Failure> {
        match self.failed.take() {
            Some(failure) => Err(failure),
            None => self.write(),
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        if !self.buffer.is_empty() {
            self.output.write(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// What the findings mean for the exit code.
    pub fn outcome(&self) -> Outcome {
        if self.total() == 0 { Outcome::Clean } else { Outcome::Findings }
    }

    /// Sums up: `what` says what was looked at.
    pub fn summarize(&mut self, what: &str) {
        if self.quiet {
            return;
        }
        let total = self.total();
        let mut line = match (total, self.show) {
            (0, _) => format!("pct: no findings in {what}"),
            // Of each file, one was enough.
            (1, Show::Files) => "pct: 1 file has findings, the first of them:".to_owned(),
            (_, Show::Files) => format!("pct: {total} files have findings, the first of them:"),
            _ if total == self.max => {
                format!("pct: stopped after {what}, as asked; findings so far: {total},")
            }
            (1, _) => format!("pct: 1 finding in {what}:"),
            _ => format!("pct: {total} findings in {what}:"),
        };
        let mut separator = " ";
        for group in Group::ALL {
            let count = self.counts[group as usize];
            if count > 0 {
                // Writing to a string does not fail.
                let _ = write!(line, "{separator}{} {count}", group.name());
                separator = ", ";
            }
        }
        // With stderr closed nobody wants the summary.
        let _ = writeln!(io::stderr(), "{line}");
    }

    fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
