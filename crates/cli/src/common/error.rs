//! Describes the end of a run: its exit code, and the message of an error.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use super::reason::Reason;

/// The outcome of a run without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run has succeeded, and `check` has found nothing.
    Clean,
    /// The exit code is 1: `check` has found something, `route` has found different routes, or with `--exit-code` a file would change.
    Findings,
}

/// The reason why a run ended early.
#[derive(Debug)]
pub enum Failure {
    /// A value or a record was rejected at `offset`, because of `--strict` or the policy `fail`. `line` counts lines from 1, or
    /// records with `-0`.
    Data { file: String, line: u64, offset: u64, reason: Reason },
    /// An input cannot be read at `offset`. The other inputs are still processed, or only opened if the output would be a file that lacks
    /// this input.
    Input { file: String, offset: Option<u64>, error: io::Error },
    /// A file that is not an input cannot be read or written at `offset`.
    Io { file: String, offset: Option<u64>, error: io::Error },
    /// The arguments or the environment are invalid.
    Usage(String),
    /// The program that reads the output has closed it.
    ReaderGone,
    /// The rest of the current input is not needed. This is not an error.
    Enough,
    /// Some files failed, and their errors were reported. `code` is the highest of their exit codes.
    Reported { code: u8 },
}

/// The highest exit code of the failures that were printed. It is the exit code of a run that a closed output ends.
static PRINTED: AtomicU8 = AtomicU8::new(0);

impl Failure {
    /// Returns the failure for an `error` about an input as a whole, such as one that came from opening it.
    pub fn missing(file: impl fmt::Display, error: io::Error) -> Failure {
        Failure::Input { file: file.to_string(), offset: None, error }
    }

    /// Returns the failure for an `error` that came from reading an input at `offset`.
    pub fn input(file: impl fmt::Display, offset: u64, error: io::Error) -> Failure {
        Failure::Input { file: file.to_string(), offset: Some(offset), error }
    }

    /// Converts the failure of an input to the failure of a list of inputs, which ends the run.
    pub fn of_list(self) -> Failure {
        match self {
            Failure::Input { file, offset, error } => Failure::Io { file, offset, error },
            other => other,
        }
    }

    /// Returns the failure for an `error` that came from opening `file`, which is not an input.
    pub fn open(file: impl fmt::Display, error: io::Error) -> Failure {
        Failure::Io { file: file.to_string(), offset: None, error }
    }

    /// Returns the failure for an `error` that came from writing `file` at `offset`.
    pub fn output(file: impl fmt::Display, offset: u64, error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Io { file: file.to_string(), offset: Some(offset), error },
        }
    }

    /// Prints the failure to stderr and returns the exit code.
    pub fn report(&self) -> u8 {
        let code = match self {
            Failure::ReaderGone | Failure::Enough => return PRINTED.load(Ordering::Relaxed),
            Failure::Reported { code } => return *code,
            Failure::Data { .. } => 1,
            Failure::Input { .. } | Failure::Io { .. } | Failure::Usage(_) => 2,
        };
        warn(format_args!("{self}"));
        PRINTED.fetch_max(code, Ordering::Relaxed);
        code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Data { file, line, offset, reason } => {
                write!(f, "{file}:{line}: offset {offset}: {reason}")
            }
            Failure::Input { file, offset, error } | Failure::Io { file, offset, error } => {
                write!(f, "{file}: ")?;
                offset.map_or(Ok(()), |offset| write!(f, "offset {offset}: "))?;
                // The error number of the operating system is left out.
                let text = error.to_string();
                f.write_str(text.split(" (os error ").next().unwrap_or(&text))
            }
            Failure::Usage(message) => f.write_str(message),
            // These failures are not displayed.
            Failure::ReaderGone | Failure::Enough | Failure::Reported { .. } => Ok(()),
        }
    }
}

/// Prints a warning or an error to stderr.
pub fn warn(message: fmt::Arguments<'_>) {
    // If stderr is closed, nobody reads the message.
    let _ = writeln!(io::stderr(), "pct: {message}");
}
