//! Why a value or a record is refused.

use std::fmt;

use simdpct::MalformedCause;

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
    /// A line of an access log has no date in brackets before a quoted request.
    NoRequest,
    /// A quoted value has a backslash that starts no known escape.
    UnknownEscape,
    /// A whole URL is not one that the work takes.
    Url(String),
    /// A line of an index is of another format than it was said to be.
    Cdxj,
    /// An object has a member of the name under which a new value would be written.
    HasKey(String),
    /// A record has more bytes than `--max-record` allows.
    TooLong {
        /// The limit, in MiB.
        limit: u32,
    },
}

impl Reason {
    /// Whether it is how a value is written that is wrong, and not the text that it stands for.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Reason::Malformed(_) | Reason::Url(_) | Reason::NotJson(_))
    }
}

/// Something that is refused: where, and why. Offsets count from the start of a value, or, in a report, of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The first byte that is wrong.
    pub offset: usize,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Malformed(cause) => write!(f, "malformed escape: {cause}"),
            Reason::InvalidUtf8 => f.write_str("not UTF-8"),
            Reason::NotInCharset => f.write_str("not in the charset"),
            Reason::NotJson(message) => write!(f, "not JSON: {message}"),
            Reason::NoRequest => f.write_str("no date in brackets before a quoted request"),
            Reason::UnknownEscape => f.write_str("unknown or incomplete escape in a quoted value"),
            Reason::Url(message) => f.write_str(message),
            Reason::Cdxj => f.write_str(
                "this is CDXJ, which has JSON after two words; `cut -d' ' -f3- | pct decode --jsonl --key url` reads that",
            ),
            Reason::HasKey(name) => write!(f, "there is a '{name}' already (--into)"),
            Reason::TooLong { limit } => write!(f, "the record is longer than {limit} MiB (--max-record)"),
        }
    }
}
