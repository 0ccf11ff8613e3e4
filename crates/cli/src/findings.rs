//! Findings: one line each on standard output, and a summary on stderr.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use clap::ValueEnum;

use crate::args::{Check, Kind};
use crate::error::{Failure, Outcome};
use crate::output::Output;

/// Findings of a few blocks are written at once.
const BUFFER: usize = 64 * 1024;

/// Where findings go, and what has been found so far.
pub struct Findings {
    output: Output,
    buffer: String,
    quiet: bool,
    /// Which kinds count.
    wanted: [bool; KINDS],
    /// How many there were of each kind.
    counts: [u64; KINDS],
}

const KINDS: usize = 6;

impl Findings {
    /// As `args` asks.
    pub fn new(args: &Check) -> Result<Findings, Failure> {
        let mut wanted = [args.only.is_empty(); KINDS];
        args.only.iter().for_each(|kind| wanted[*kind as usize] = true);
        args.ignore.iter().for_each(|kind| wanted[*kind as usize] = false);
        let output = Output::create(None)?;
        Ok(Findings { output, buffer: String::new(), quiet: args.quiet, wanted, counts: [0; KINDS] })
    }

    /// Whether findings of `kind` count.
    pub fn wants(&self, kind: Kind) -> bool {
        self.wanted[kind as usize]
    }

    /// Whether enough is known: nobody wants to see more findings.
    pub fn settled(&self) -> bool {
        self.quiet && self.total() > 0
    }

    /// Adds a finding, if its kind counts.
    pub fn add(
        &mut self,
        kind: Kind,
        (file, line, offset): (&str, u64, u64),
        text: fmt::Arguments<'_>,
    ) -> Result<(), Failure> {
        if !self.wants(kind) {
            return Ok(());
        }
        self.counts[kind as usize] += 1;
        if self.quiet {
            return Ok(());
        }
        // Writing to a string does not fail.
        let _ = writeln!(self.buffer, "{file}:{line}:{offset}: {}: {text}", name(kind));
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes what was found so far.
    pub fn flush(&mut self) -> Result<(), Failure> {
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
        for kind in Kind::value_variants() {
            let count = self.counts[*kind as usize];
            if count > 0 {
                // Writing to a string does not fail.
                let _ = write!(line, "{separator}{} {count}", name(*kind));
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

/// The name of `kind`, as `--only` takes it.
fn name(kind: Kind) -> String {
    kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
