//! Findings: one line each on standard output, and a summary on stderr.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use super::kind::Group;
use crate::ground::error::{Failure, Outcome};
use crate::io::output::Output;

/// Findings of a few blocks are written at once.
const BUFFER: usize = 64 * 1024;

/// Where findings go, and what has been found so far.
pub struct Findings {
    output: Output,
    buffer: String,
    quiet: bool,
    /// How many there were of each kind.
    counts: [u64; Group::ALL.len()],
    /// Why writing has failed.
    failed: Option<Failure>,
}

impl Findings {
    /// None yet.
    pub fn new(quiet: bool) -> Result<Findings, Failure> {
        let output = Output::stdout()?;
        Ok(Findings { output, buffer: String::new(), quiet, counts: [0; Group::ALL.len()], failed: None })
    }

    /// Whether enough is known: nobody wants to see more findings.
    pub fn settled(&self) -> bool {
        self.quiet && self.total() > 0
    }

    /// Adds a finding. If it cannot be written, [`Findings::flush`] says so.
    pub fn add(&mut self, group: Group, (file, line, offset): (&str, u64, u64), text: fmt::Arguments<'_>) {
        self.counts[group as usize] += 1;
        if self.quiet || self.failed.is_some() {
            return;
        }
        // Writing to a string does not fail.
        let _ = writeln!(self.buffer, "{file}:{line}:{offset}: {}: {text}", group.name());
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
    pub fn summarize(&self, what: fmt::Arguments<'_>) {
        if self.quiet {
            return;
        }
        let mut line = match self.total() {
            0 => format!("pct: no findings in {what}"),
            1 => format!("pct: 1 finding in {what}:"),
            total => format!("pct: {total} findings in {what}:"),
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
