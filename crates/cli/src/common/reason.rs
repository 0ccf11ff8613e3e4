//! Defines the reasons for rejecting a value or a record.

use std::fmt;

use simdpct::MalformedCause;

/// The reason for rejecting a value or a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A `%` does not start an escape.
    Malformed(MalformedCause),
    /// The bytes of a value are not valid UTF-8.
    InvalidUtf8,
    /// The bytes of a value are not valid in the charset, or the charset lacks a character of the value.
    NotInCharset,
    /// A line is not JSON.
    NotJson(String),
    /// No quote closes a quoted value of CSV, logfmt or a log. With a limit, none closes it within the limit.
    OpenQuote {
        /// The limit for the record in MiB, if the record is longer.
        limit: Option<u32>,
    },
    /// A record, or a value of it, cannot be read.
    Record(simdpct_records::Reason),
    /// The record cannot hold the new text at the place of the value.
    Unwritable,
    /// The conversion rejects the URL, with this message.
    Url(String),
    /// An object already has a member with the name for the new value.
    HasKey(String),
    /// A record has more bytes than `--max-record` allows.
    TooLong {
        /// The limit, in MiB.
        limit: u32,
    },
}

impl Reason {
    /// Returns the reason why a record is not JSON, in words that do not need the grammar of JSON.
    pub fn not_json(error: &serde_json::Error) -> Reason {
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        let inside = text.strip_prefix("EOF while parsing ").map(|part| match part {
            "a value" => "the record ends before a value".to_owned(),
            "a list" => "the record ends inside an array".to_owned(),
            part => format!("the record ends inside {part}"),
        });
        Reason::NotJson(inside.unwrap_or_else(|| match text {
            "expected value" => "a value is missing".to_owned(),
            "key must be a string" => "the name of a member is not in quotes".to_owned(),
            "trailing characters" => "more text follows the document".to_owned(),
            "trailing comma" => "nothing follows a comma".to_owned(),
            text if text.starts_with("control character") => "a string contains a control byte".to_owned(),
            text => text.replace("expected ", "missing "),
        }))
    }

    /// Reports whether the reason is invalid UTF-8, or text that does not fit the charset.
    pub fn is_not_text(&self) -> bool {
        matches!(self, Reason::InvalidUtf8 | Reason::NotInCharset)
    }
}

/// The rejection of a value or a record. Its offset counts from the start of the value or, in a report, of the chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The offset of the first faulty byte.
    pub offset: usize,
    /// The reason for the rejection.
    pub reason: Reason,
}

/// Returns the rejection of a whole URL, with this message.
pub fn refuse(message: impl Into<String>) -> Refusal {
    Refusal { offset: 0, reason: Reason::Url(message.into()) }
}

/// Returns the rejection of invalid UTF-8 at `offset`.
pub fn not_utf8(offset: usize) -> Refusal {
    Refusal { offset, reason: Reason::InvalidUtf8 }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Malformed(cause) => write!(f, "malformed escape: {cause}"),
            Reason::InvalidUtf8 => f.write_str("not UTF-8"),
            Reason::NotInCharset => f.write_str("not in the charset"),
            Reason::NotJson(message) => write!(f, "not JSON: {message}"),
            Reason::OpenQuote { limit } => {
                f.write_str("the quoted value that begins here is not closed")?;
                limit.map_or(Ok(()), |limit| write!(f, " within {limit} MiB (--max-record)"))
            }
            Reason::Record(simdpct_records::Reason(text)) => f.write_str(text),
            Reason::Unwritable => f.write_str("the result cannot be written here"),
            Reason::Url(message) => f.write_str(message),
            Reason::HasKey(name) => write!(f, "there is a '{name}' already (--into)"),
            Reason::TooLong { limit } => write!(f, "the record is longer than {limit} MiB (--max-record)"),
        }
    }
}
