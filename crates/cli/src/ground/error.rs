//! How a run ends: the exit codes, and the one line that says what went wrong.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use super::reason::Reason;

/// How a run ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Clean,
    /// `check` has found something.
    Findings,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Clean => 0,
            Outcome::Findings => 1,
        })
    }
}

/// Where something is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file, as the person gave it.
    pub file: String,
    /// The line, or with `-0` the record, counted from 1.
    pub line: u64,
    /// The number of bytes of the file before it.
    pub offset: u64,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum Failure {
    /// Input that `--strict` or the policy `fail` does not take.
    Data { place: Place, reason: Reason },
    /// An input that cannot be read, and how far that went. The others can be.
    Input { file: String, offset: Option<u64>, error: io::Error },
    /// Another file that cannot be read or written, and how far that went.
    Io { file: String, offset: Option<u64>, error: io::Error },
    /// Arguments or an environment that make no sense.
    Usage(String),
    /// The reader of the output went away: it has seen enough.
    ReaderGone,
    /// Enough is known of an input: there is no need to read on.
    Enough,
    /// Failures of single files, which were reported when they happened; the worst has this exit code.
    Reported { code: u8 },
}

impl Failure {
    /// `error` came from opening an input.
    pub fn missing(file: impl fmt::Display, error: io::Error) -> Failure {
        Failure::Input { file: file.to_string(), offset: None, error }
    }

    /// `error` came from reading an input at `offset`.
    pub fn input(file: impl fmt::Display, offset: u64, error: io::Error) -> Failure {
        Failure::Input { file: file.to_string(), offset: Some(offset), error }
    }

    /// The same of a list of inputs, without which nothing goes on.
    pub fn of_list(self) -> Failure {
        match self {
            Failure::Input { file, offset, error } => Failure::Io { file, offset, error },
            other => other,
        }
    }

    /// `error` came from opening `file`, which is no input.
    pub fn open(file: impl fmt::Display, error: io::Error) -> Failure {
        Failure::Io { file: file.to_string(), offset: None, error }
    }

    /// `error` came from writing `file` at `offset`.
    pub fn output(file: impl fmt::Display, offset: u64, error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Io { file: file.to_string(), offset: Some(offset), error },
        }
    }

    /// Says on stderr what went wrong, and returns the exit code.
    pub fn report(&self) -> u8 {
        let code = match self {
            Failure::ReaderGone | Failure::Enough => return 0,
            Failure::Reported { code } => return *code,
            Failure::Data { .. } => 1,
            Failure::Input { .. } | Failure::Io { .. } | Failure::Usage(_) => 2,
        };
        warn(format_args!("{self}"));
        code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Data { place: Place { file, line, offset }, reason } => {
                write!(f, "{file}:{line}: offset {offset}: {reason}")
            }
            Failure::Input { file, offset, error } | Failure::Io { file, offset, error } => match offset {
                Some(offset) => write!(f, "{file}: offset {offset}: {}", Plain(error)),
                None => write!(f, "{file}: {}", Plain(error)),
            },
            Failure::Usage(message) => f.write_str(message),
            Failure::ReaderGone => f.write_str("the reader of the output went away"),
            Failure::Enough => f.write_str("enough is known"),
            Failure::Reported { .. } => f.write_str("some files were not done"),
        }
    }
}

/// Says on stderr what does not end the run.
pub fn warn(message: fmt::Arguments<'_>) {
    // With stderr closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "pct: {message}");
}

/// An I/O error without the number of the operating system.
struct Plain<'a>(&'a io::Error);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(text.split(" (os error ").next().unwrap_or(&text))
    }
}
