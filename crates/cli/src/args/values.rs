//! Where values are in a record, what becomes of bad ones, and how the work is spread.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::files::{Files, RecordArgs, Target};
use super::parsers::JoinParser;
use crate::engine::plan::{Columns, PreviewFormat, Request, Selection, Shape};
use crate::select::fields::{Delimiter, Spot};
use crate::select::jsonl::KeyPath;
use crate::select::logs::Log;
use crate::value::options::Verb;
use crate::value::policy::{Policies, Policy};
use crate::value::stats::StatsFormat;

/// Where values are.
#[derive(Debug, Args)]
pub struct Places {
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
        conflicts_with_all = ["csv", "jsonl", "logfmt"]
    )]
    pub field: Vec<Spot>,

    /// Work on the URLs of a log of this format: the request, and mostly the referrer
    ///
    /// Which fields that is, and what quotes they have, `pct help decode` lists with the names. The columns of w3c,
    /// cloudfront and iis are those that the last `#Fields:` line names.
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = VALUES,
        conflicts_with_all = ["field", "csv", "jsonl", "logfmt", "delimiter", "tsv", "null"]
    )]
    pub log: Option<Log>,

    /// What separates fields or columns: one byte, or `tab` or `space`
    ///
    /// `space`, the default of --field, is any number of blanks around fields that may be quoted or bracketed.
    /// With any other byte, fields have no quotes. The default of --csv is a comma.
    #[arg(short, long, value_name = "CHAR", help_heading = VALUES, conflicts_with_all = ["jsonl", "logfmt"])]
    pub delimiter: Option<Delimiter>,

    /// Fields are separated by tabs: the same as `--delimiter tab`
    #[arg(long, help_heading = VALUES, requires = "field", conflicts_with = "delimiter")]
    pub tsv: bool,

    /// Work on columns of CSV (RFC 4180)
    ///
    /// Cells that do not change stay byte for byte; those that do are quoted as needed. Rows may be ragged: one
    /// without the column passes. Each file has a header row.
    #[arg(long, help_heading = VALUES, group = "tables", requires = "column", conflicts_with_all = ["jsonl", "logfmt", "null"])]
    pub csv: bool,

    /// The columns, by name or by number from 1; all columns of that name
    #[arg(long, value_name = "NAME|N,...", value_delimiter = ',', help_heading = VALUES, requires = "tables")]
    pub column: Vec<String>,

    /// The first row of CSV is a row like any other
    #[arg(long, help_heading = VALUES, requires = "csv")]
    pub no_header: bool,

    /// Work on string values of JSON, one document a line
    ///
    /// Everything else stays byte for byte. A value that changes is written without needless escapes; bytes that
    /// are not UTF-8 and so cannot be in JSON stay percent-encoded. A line that is not JSON is refused.
    #[arg(long, help_heading = VALUES, group = "documents", requires = "key", conflicts_with = "null")]
    pub jsonl: bool,

    /// Work on values of logfmt: `key=value` between blanks, where a value may be in quotes
    ///
    /// A value that changes gets quotes if it needs them.
    #[arg(long, help_heading = VALUES, group = "documents", requires = "key", conflicts_with = "null")]
    pub logfmt: bool,

    /// Where the values are: `request.url`, `urls[]` or `items[].href`, as in jq; `.` is the document itself
    ///
    /// `**` at the end is every string there and below. A "\" before a ".", "[" or "*" makes it a part of a name. With
    /// --logfmt it is the key as it is.
    #[arg(long, value_name = "PATH,...", value_delimiter = ',', help_heading = VALUES, requires = "documents")]
    pub key: Vec<KeyPath>,
}

/// Options that all verbs share which write what they read.
#[derive(Debug, Args)]
pub struct Pipe {
    #[command(flatten)]
    pub places: Places,

    /// Work on columns of a Parquet file; all other columns are copied as they are
    ///
    /// A column of a struct or a list is named as `request.url`. Text stays UTF-8: escapes of other bytes stay escaped. A
    /// place is FILE:ROW, from 1. Needs a `pct` that was built with `--features parquet`.
    #[arg(
        long,
        help_heading = VALUES,
        group = "tables",
        requires = "column",
        conflicts_with_all = ["csv", "field", "log", "jsonl", "logfmt", "delimiter", "raw", "null", "expression", "compress", "only", "into", "only_changed", "dry_run", "diff"]
    )]
    pub parquet: bool,

    /// Write the header of the first file only
    ///
    /// A file with another header is left out, with a message and exit code 2. Without this option each header is written.
    #[arg(long, help_heading = VALUES, requires = "csv", conflicts_with = "no_header")]
    pub one_header: bool,

    /// Write just the values, each on a line of its own, for `| sort | uniq -c`
    ///
    /// Line ends in a value are escaped. There is no header.
    #[arg(long, help_heading = SHAPE, conflicts_with = "raw")]
    pub only: bool,

    /// With --only: the values of one record on one line, with this between: one character, `tab` or `space`
    ///
    /// It is escaped where it is part of a value.
    #[arg(long, value_name = "CHAR", help_heading = SHAPE, requires = "only", value_parser = JoinParser)]
    pub output_delimiter: Option<u8>,

    /// Write the new value beside the old one: in a new column after it, or as a new member of its object
    ///
    /// One name for each column or key.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = SHAPE, conflicts_with = "only")]
    pub into: Vec<String>,

    /// Write only the records in which a value changes, and the header of CSV
    #[arg(long, help_heading = SHAPE)]
    pub only_changed: bool,

    /// With --in-place: replace nothing, and say how many lines of which files would change
    #[arg(long, help_heading = SHAPE, requires = "in_place", conflicts_with = "diff")]
    pub dry_run: bool,

    /// With --in-place: replace nothing, and show what would change, as a unified diff
    ///
    /// In colours on a terminal, unless NO_COLOR is set. Of compressed files it shows the text.
    #[arg(long, help_heading = SHAPE, requires = "in_place")]
    pub diff: bool,

    /// What becomes of a value with a malformed escape, of a URL that is refused, and of a line that is not JSON [default: keep]
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
    /// With fields, columns, keys and whole URLs, a longer record is refused: it stays as it is unless --on-error is `drop`
    /// or `fail`, and a message says where. Other whole lines may be of any length, and what is said of one is the same: a
    /// longer one is worked on in parts, which wait in a temporary file if a policy may leave all of it out.
    #[arg(long, value_name = "MIB", help_heading = POLICIES, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_record: u32,

    /// Use N threads [default: one for each core, and a single one while the input is small]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

const SHAPE: &str = "What is written";
const VALUES: &str = "Where values are (by default each line is one)";
const POLICIES: &str = "Values that cannot be read";

impl Places {
    /// What separates fields or columns, if that was said.
    pub fn delimiter(&self) -> Option<Delimiter> {
        if self.tsv { Some(Delimiter::Byte(b'\t')) } else { self.delimiter }
    }

    /// What is selected.
    pub fn selection(self, one_header: bool) -> Selection {
        if !self.field.is_empty() {
            Selection::Fields(self.field)
        } else if self.csv {
            Selection::Columns(Columns { names: self.column, has_header: !self.no_header, one_header })
        } else if self.jsonl {
            Selection::Keys(self.key)
        } else if self.logfmt {
            Selection::Pairs(self.key)
        } else if let Some(log) = self.log {
            Selection::Log(log)
        } else {
            Selection::Records
        }
    }
}

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
        let places = self.places;
        let delimiter = places.delimiter();
        let selection =
            if self.parquet { Selection::Parquet(places.column) } else { places.selection(self.one_header) };
        let malformed = if strict { Policy::Fail } else { self.on_error.unwrap_or(Policy::Keep) };
        Request {
            verb,
            sources: files.sources(records.records()),
            destination: target.destination(),
            records: records.records(),
            selection,
            shape: Shape {
                only: self.only,
                delimiter: self.output_delimiter,
                into: self.into,
                only_changed: self.only_changed,
            },
            preview: match (self.diff, self.dry_run) {
                (true, _) => Some(PreviewFormat::Diff),
                (_, true) => Some(PreviewFormat::Counts),
                _ => None,
            },
            delimiter,
            policies: Policies { malformed, not_text: self.on_invalid_utf8.unwrap_or(Policy::Keep) },
            rejects: self.rejects,
            stats: self.stats,
            max_record: self.max_record,
            jobs: self.jobs,
        }
    }
}
