//! Where values are in a record, what becomes of bad ones, and how the work is spread.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::files::{Files, RecordArgs, Target};
use crate::engine::plan::{Request, Selection};
use crate::select::fields::{Delimiter, Spot};
use crate::select::jsonl::KeyPath;
use crate::value::options::Verb;
use crate::value::policy::{Policies, Policy};
use crate::value::stats::StatsFormat;

/// Options that encode, decode and normalize share.
#[derive(Debug, Args)]
pub struct Pipe {
    /// Work on fields of each line: N counts from 1, and N.W is word W of field N
    ///
    /// By default fields are separated by blanks, and a "quoted field" or a [bracketed date] is one, as in access
    /// logs: `--field 5.2` is the request target of the common and combined formats, `--field 8` the referrer.
    /// Everything else stays byte for byte, and decoding makes nothing that would split or end a field: such
    /// bytes, and control bytes, stay escaped. A line without the field passes.
    #[arg(
        long,
        value_name = "N[.W],...",
        value_delimiter = ',',
        help_heading = VALUES,
        conflicts_with_all = ["csv", "jsonl", "raw"]
    )]
    pub field: Vec<Spot>,

    /// What separates fields or columns: one byte, or `tab` or `space`
    ///
    /// `space`, the default of --field, is any number of blanks around fields that may be quoted or bracketed.
    /// With any other byte, fields have no quotes. The default of --csv is a comma.
    #[arg(short, long, value_name = "CHAR", help_heading = VALUES, conflicts_with = "jsonl")]
    pub delimiter: Option<Delimiter>,

    /// Fields are separated by tabs: the same as `--delimiter tab`
    #[arg(long, help_heading = VALUES, requires = "field", conflicts_with = "delimiter")]
    pub tsv: bool,

    /// Work on columns of CSV (RFC 4180)
    ///
    /// Cells that do not change stay byte for byte; those that do are quoted as needed. Rows may be ragged: one
    /// without the column passes. Each file has a header row.
    #[arg(long, help_heading = VALUES, requires = "column", conflicts_with_all = ["jsonl", "raw", "null"])]
    pub csv: bool,

    /// The columns, by name or by number from 1
    #[arg(long, value_name = "NAME|N,...", value_delimiter = ',', help_heading = VALUES, requires = "csv")]
    pub column: Vec<String>,

    /// The first row of CSV is a row like any other
    #[arg(long, help_heading = VALUES, requires = "csv")]
    pub no_header: bool,

    /// Write the header of the first file only
    ///
    /// A file with another header is left out, with a message and exit code 2. Without this option each header is written.
    #[arg(long, help_heading = VALUES, requires = "csv", conflicts_with = "no_header")]
    pub one_header: bool,

    /// Work on string values of JSON, one document a line
    ///
    /// Everything else stays byte for byte. A value that changes is written without needless escapes; bytes that
    /// are not UTF-8 and so cannot be in JSON stay percent-encoded. A line that is not JSON is refused.
    #[arg(long, help_heading = VALUES, requires = "key", conflicts_with_all = ["raw", "null"])]
    pub jsonl: bool,

    /// Where the values are: `request.url`, `urls[]` or `items[].href`; "\" stands before a "." or "[" of a name
    #[arg(long, value_name = "PATH,...", value_delimiter = ',', help_heading = VALUES, requires = "jsonl")]
    pub key: Vec<KeyPath>,

    /// What becomes of a value with a malformed escape, and of a line that is not JSON [default: keep]
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, conflicts_with = "raw")]
    pub on_error: Option<Policy>,

    /// What becomes of a value that is not UTF-8, or not in the --charset [default: keep]
    ///
    /// With `keep`, bytes that are nothing in the charset stay escaped. Decoded values are looked at when they are
    /// decoded, values to be encoded before that. A character that the charset of `encode` lacks is written as a
    /// reference to it both with `keep` and `replace`.
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, conflicts_with = "raw")]
    pub on_invalid_utf8: Option<Policy>,

    /// Write refused values to FILE, one a line: FILE:LINE:OFFSET: REASON: RECORD
    ///
    /// The record is escaped so that it is one line. Like the output, FILE appears whole or not at all.
    #[arg(long, value_name = "FILE", help_heading = POLICIES, value_hint = ValueHint::FilePath, conflicts_with = "raw")]
    pub rejects: Option<PathBuf>,

    /// Sum up on stderr: records, bytes, escapes, what was wrong with them, and the most layers of a value
    #[arg(
        long,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = POLICIES,
        conflicts_with = "raw"
    )]
    pub stats: Option<StatsFormat>,

    /// The most memory for one record, in MiB
    ///
    /// With fields, columns and keys, a longer record is refused: it stays as it is unless --on-error is `drop` or
    /// `fail`, and a message says where. Whole lines may be of any length, and what is said of one is the same: a
    /// longer one is worked on in parts, which wait in a temporary file if a policy may leave all of it out.
    #[arg(long, value_name = "MIB", help_heading = POLICIES, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_record: u32,

    /// Use N threads [default: one for each core, and a single one while the input is small]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

const VALUES: &str = "Where values are (by default each line is one)";
const POLICIES: &str = "Values that cannot be read";

impl Pipe {
    /// What is asked for, of which these are some options.
    pub fn request(
        self,
        verb: Verb,
        files: Files,
        target: Target,
        records: &RecordArgs,
        strict: bool,
    ) -> Request {
        let selection = if !self.field.is_empty() {
            Selection::Fields(self.field)
        } else if self.csv {
            let (has_header, one_header) = (!self.no_header, self.one_header);
            Selection::Columns { names: self.column, has_header, one_header }
        } else if self.jsonl {
            Selection::Keys(self.key)
        } else {
            Selection::Records
        };
        let malformed = if strict { Policy::Fail } else { self.on_error.unwrap_or(Policy::Keep) };
        Request {
            verb,
            sources: files.sources(records.records()),
            destination: target.destination(),
            records: records.records(),
            selection,
            delimiter: if self.tsv { Some(Delimiter::Byte(b'\t')) } else { self.delimiter },
            policies: Policies { malformed, not_text: self.on_invalid_utf8.unwrap_or(Policy::Keep) },
            rejects: self.rejects,
            stats: self.stats,
            max_record: self.max_record,
            jobs: self.jobs,
        }
    }
}
