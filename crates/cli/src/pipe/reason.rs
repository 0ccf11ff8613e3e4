//! Why a value or a record is refused.

use std::fmt;

use simdpct::MalformedCause;

use crate::error::Cause;
use crate::work::Refusal;

/// Why a value or a record is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A `%` starts no escape.
    Malformed(MalformedCause),
    /// What should be text is not UTF-8.
    InvalidUtf8,
    /// The charset has no such bytes, or no such character.
    NotInCharset,
    /// A line is not JSON.
    NotJson(String),
    /// There is no place to cut the input within so many bytes.
    Unbroken {
        /// The limit.
        len: usize,
    },
    /// A record has more bytes than `--max-record` allows.
    TooLong {
        /// The limit, in MiB.
        limit: u32,
    },
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Reason {
        match refusal {
            Refusal::Malformed(escape) => Reason::Malformed(escape.cause),
            Refusal::InvalidUtf8 { .. } => Reason::InvalidUtf8,
            Refusal::NotInCharset { .. } => Reason::NotInCharset,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Malformed(cause) => write!(f, "malformed escape: {}", Cause(*cause)),
            Reason::InvalidUtf8 => f.write_str("not UTF-8"),
            Reason::NotInCharset => f.write_str("not in the charset"),
            Reason::Unbroken { len } => {
                write!(f, "{len} bytes in a row without a line end, punctuation or a letter after F")
            }
            Reason::NotJson(message) => write!(f, "not JSON: {message}"),
            Reason::TooLong { limit } => write!(f, "the record is longer than {limit} MiB (--max-record)"),
        }
    }
}
