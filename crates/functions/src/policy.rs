//! The policies for bad values, and the errors of a batch.

use std::fmt;

use simdpct::batch::TooLong;

/// The handling of a bad value: a malformed escape, decoded bytes that are invalid UTF-8, or a URL that a profile (the
/// rules of a canonical form) rejects.
///
/// [`Policy::Keep`] is the default in SQL, in the columns and expressions for Python, and in Python's functions for one URL. It loses
/// nothing, and no bad value ends a query. Only the functions that replace those of `urllib.parse` have the defaults of urllib.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Leaves a bad URL or a bad escape as it is. The other escapes of the value are processed.
    #[default]
    Keep,
    /// Writes U+FFFD instead of invalid UTF-8. Malformed escapes stay.
    Replace,
    /// Makes the value null.
    Null,
    /// Ends the call with an error.
    Fail,
}

impl Policy {
    /// All policies with their names in Python.
    pub const ALL: [(&str, Policy); 4] = [
        ("keep", Policy::Keep),
        ("replace", Policy::Replace),
        ("null", Policy::Null),
        ("strict", Policy::Fail),
    ];
}

/// The reason why a batch of rows has no results.
#[derive(Debug)]
pub enum Failure {
    /// A value is bad, and the policy is [`Policy::Fail`].
    Rejected {
        /// The row of the bad value.
        row: usize,
        /// The diagnostic: why the value is bad.
        why: String,
    },
    /// The results are too long for the type of their offsets.
    TooLong(TooLong),
    /// The value of a row is outside the buffers of its array, or its offsets are not in order.
    Broken {
        /// The row of the value.
        row: usize,
    },
    /// The arguments do not fit each other or the function.
    Invalid(String),
    /// The host has too little memory for a range of rows, as `has_room` of `columns::Host` reports.
    NoMemory,
}

#[cfg(feature = "arrow")]
impl Failure {
    /// Changes the number of the row that failed.
    pub(crate) fn map(self, new: impl FnOnce(usize) -> usize) -> Failure {
        match self {
            Failure::Rejected { row, why } => Failure::Rejected { row: new(row), why },
            Failure::TooLong(mut error) => {
                error.index = new(error.index);
                Failure::TooLong(error)
            }
            Failure::Broken { row } => Failure::Broken { row: new(row) },
            Failure::Invalid(_) | Failure::NoMemory => self,
        }
    }
}

impl From<TooLong> for Failure {
    fn from(error: TooLong) -> Failure {
        Failure::TooLong(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Rejected { row, why } => write!(out, "row {row}: {why}"),
            Failure::TooLong(error) => error.fmt(out),
            Failure::Broken { row } => write!(out, "row {row} is not in the buffers of its array"),
            Failure::Invalid(why) => out.write_str(why),
            Failure::NoMemory => out.write_str("there is not enough memory for the results"),
        }
    }
}
