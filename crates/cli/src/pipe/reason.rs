//! Why a value or a record is refused.

use std::fmt;

use simdpct::BadEscapeCause;

use crate::error::Cause;

/// Why a value or a record is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A `%` starts no escape.
    Malformed(BadEscapeCause),
    /// What should be text is not UTF-8.
    NotUtf8,
    /// A line is not JSON.
    NotJson(String),
    /// A record has more octets than `--max-record` allows.
    TooLong {
        /// The limit, in MiB.
        limit: u32,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Malformed(cause) => write!(f, "malformed escape: {}", Cause(*cause)),
            Reason::NotUtf8 => f.write_str("not UTF-8"),
            Reason::NotJson(message) => write!(f, "not JSON: {message}"),
            Reason::TooLong { limit } => write!(f, "the record is longer than {limit} MiB (--max-record)"),
        }
    }
}
