//! The options that select values in a record, that treat bad values, and that set the number of threads.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use simdpct_records::{Dialect, Escaping, KeyPath, Quotes, Separator, Spec};

use super::files::{Files, RecordArgs, Target};
use super::parsers::{
    FieldParser, LogParser, ON_FAULT, ON_REJECTED, UnescapeParser, delimiter, join_delimiter, policy,
    quote_escape, threads,
};
use crate::common::fault::{Handling, Policy};
use crate::convert::stats::StatsFormat;
use crate::convert::{Conversion, Convert};
use crate::plan::{Columns, LogSelection, PreviewFormat, Request, Selection, Shape};
use crate::select::FieldName;
use crate::url::{Rewrite, Rewriting};

/// The options that select values in a record.
#[derive(Debug, Args)]
pub struct Places {
    /// Work on fields of each line: N counts from 1, or from the end if it is negative; N..M is a range
    ///
    /// Fields are separated by runs of blanks, as in awk: `--field 7` is awk's $7, the request target of most access
    /// logs. With --delimiter, they are separated by each CHAR, as in cut. `N..` is a range up to the last field, and
    /// `..M` one from the first field on. Everything else stays byte for byte. Bytes that would split or end a field
    /// stay escaped, and so do control bytes and, between blanks, quotes and backslashes. A line without the field stays
    /// as it is.
    #[arg(
        short,
        long,
        value_name = "N,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = FieldParser,
        help_heading = VALUES,
        conflicts_with_all = ["csv", "jsonl", "logfmt"]
    )]
    pub field: Vec<FieldName>,

    /// Work on the URLs in a log of this format: the request target, the referrer and others; --field names values
    ///
    /// FORMAT is a server, which means its usual layout, a layout, or LAYOUT:SERVER, such as `combined:lighttpd`. Servers escape values
    /// differently, and so `combined`, `common` and `vhost_combined` without a server read a line only if all servers mean the same by
    /// it. `auto` chooses the format by the first lines of each file, and says which on stderr. `cri+`, `docker+` and `syslog+` before a
    /// format take its lines out of those of Kubernetes, Docker and syslog.
    ///
    /// The escapes of the server are undone before a value is read, and written again where the value stays in its line. A request
    /// target that begins with `/` has no host. A line that can be read in two ways, or was cut, is unreadable: it stays as it is,
    /// and is counted.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = LogParser,
        help_heading = VALUES,
        group = "tables",
        conflicts_with_all = ["csv", "logfmt", "delimiter", "tsv", "null", "unescape"]
    )]
    pub log: Option<Spec>,

    /// Undo the escapes of this server in each value before it is read, such as `\x22` of nginx and `#22` of HAProxy
    ///
    /// The escapes are written again where a value stays in its record. With --jsonl, strings may contain such escapes: a server that builds
    /// JSON from text writes them. --log undoes the escapes of its format without this option.
    #[arg(long, value_name = "SERVER", value_parser = UnescapeParser, help_heading = VALUES, conflicts_with_all = ["logfmt", "html"])]
    pub unescape: Option<Escaping>,

    /// With --field: count a "quoted field" or a [bracketed date] as one field; N.W is word W of field N
    ///
    /// `--quoted --field 5.2` is the request target of the common and combined formats of access logs, and
    /// `--quoted --field 8` the referrer. A quote or bracket ends a field if a blank or the end of the line follows, and
    /// no backslash is before it. A client can shift such fields in logs whose server does not escape quotes; --log
    /// knows the servers.
    #[arg(long, help_heading = VALUES, requires = "field", conflicts_with_all = ["delimiter", "tsv"])]
    pub quoted: bool,

    /// The separator of fields or columns: one byte, or `tab` or `space`
    ///
    /// Each CHAR separates two fields, and there are no quotes. The default of --field is any number of blanks, and that of
    /// --csv is a comma.
    #[arg(short, long, value_name = "CHAR", help_heading = VALUES, value_parser = delimiter, conflicts_with_all = ["jsonl", "logfmt"])]
    pub delimiter: Option<u8>,

    /// Separate fields by tabs; short for `--delimiter tab`
    #[arg(long, help_heading = VALUES, requires = "field", conflicts_with = "delimiter")]
    pub tsv: bool,

    /// Work on columns of CSV (RFC 4180)
    ///
    /// Cells that do not change stay byte for byte; those that change are quoted where necessary. Rows may be ragged:
    /// a row without the column stays as it is, and so does a blank line. Each file has a header row. A first line such as `sep=;`
    /// names the delimiter of its file, and is copied.
    ///
    /// A row is unreadable if a quote is inside a cell without quotes, if text follows a closing quote, or if a quote is not
    /// closed. Reading goes on with the next line, or after an open quote with the next line that has as many cells as the header.
    #[arg(long, help_heading = VALUES, group = "tables", requires = "column", conflicts_with_all = ["jsonl", "logfmt", "null"])]
    pub csv: bool,

    /// The columns, by name or by number from 1; a name selects all columns that have it
    ///
    /// A name that contains a comma is written in quotes, as in CSV: `--column '"city, country",url'`.
    /// In a log whose header names its columns, names are those of the header: `--log w3c --column 'cs(User-Agent)'`.
    #[arg(long, value_name = "NAME|N,...", help_heading = VALUES, requires = "tables")]
    pub column: Vec<String>,

    /// Read misplaced quotes in CSV as data: inside a cell without quotes, and before text that is not a delimiter
    ///
    /// The cell `5" disk` has a quote then, and `"a "b" c"` is one cell. A quoted cell that changes is written with two quotes for each one.
    #[arg(long, help_heading = VALUES, requires = "csv", conflicts_with = "quote_escape")]
    pub lazy_quotes: bool,

    /// The byte that escapes a quote in a quoted cell of CSV: `"`, the default, or `\`, as MySQL and Redshift write it
    ///
    /// A `\` also escapes itself then. Other sequences such as `\n` and `\N` are data.
    #[arg(long, value_name = "CHAR", help_heading = VALUES, requires = "csv", value_parser = quote_escape)]
    pub quote_escape: Option<Quotes>,

    /// Treat the first row of CSV as data
    #[arg(long, help_heading = VALUES, requires = "csv")]
    pub no_header: bool,

    /// Work on string values of JSON, one document per line
    ///
    /// Everything else stays byte for byte. A value that changes is written with as few escapes as possible; bytes
    /// that are invalid UTF-8 stay percent-encoded, because JSON cannot contain them. A string that holds a JSON document
    /// still holds it after decoding: `"`, `\` and control bytes stay escaped. Control bytes and invalid UTF-8 in strings
    /// are read, because some programs write them. A line that is not JSON is unreadable. A line in braces that contains neither `%` nor `\` is copied, and not checked unless --strict, --rejects,
    /// --stats or another policy than keep is given.
    #[arg(long, help_heading = VALUES, group = "documents", requires = "key", conflicts_with = "null")]
    pub jsonl: bool,

    /// Work on values of logfmt: `key=value` between blanks, where a value may be quoted
    ///
    /// A value that changes is quoted where necessary. An unknown escape makes a quoted value unreadable; a quote that is
    /// not closed, or text after a closing quote, makes the line unreadable.
    #[arg(long, help_heading = VALUES, group = "documents", requires = "key", conflicts_with = "null")]
    pub logfmt: bool,

    /// Work on the URLs in HTML: href, src, srcset, action and all other attributes that contain URLs
    ///
    /// Also those of older HTML, such as background and longdesc, `content` of a meta refresh, and each URL of a list.
    /// Character references such as `&amp;` are read, and written where they are needed. Everything else stays byte for
    /// byte, and so does a URL that does not change. The charset is the one that the document names, otherwise UTF-8, or
    /// windows-1252 for a value that is not UTF-8; UTF-16 and ISO-2022-JP are rejected. `resolve` obeys `<base href>` and
    /// `codebase`. URLs in scripts and styles are not found. --max-record limits a tag.
    #[arg(
        long,
        help_heading = VALUES,
        conflicts_with_all = ["field", "csv", "jsonl", "logfmt", "log", "delimiter", "null"]
    )]
    pub html: bool,

    /// The paths of the values, as in jq: `request.url`, `urls[]`, `items[0].href` or `."a.b"`; `.` is the document itself
    ///
    /// `[]` is each element of an array, and `[0]` the first one. `**` at the end selects every string at this place and
    /// below. A name with other characters is in quotes, or has a "\" before each of them. With --logfmt, PATH is the
    /// literal key.
    #[arg(long, value_name = "PATH,...", value_delimiter = ',', help_heading = VALUES, requires = "documents")]
    pub key: Vec<KeyPath>,
}

/// The options that are common to all commands that write a converted copy of their input.
#[derive(Debug, Args)]
pub struct Pipe {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub places: Places,

    /// Write only the header of the first file
    ///
    /// A file with a different header is left out, with a message and exit code 2. Without this option every header
    /// is written.
    #[arg(long, help_heading = VALUES, requires = "csv", conflicts_with = "no_header")]
    pub one_header: bool,

    /// Write only the values, each on a line of its own, for `| sort | uniq -c`
    ///
    /// Line ends in a value are escaped. There is no header.
    #[arg(long, help_heading = SHAPE, conflicts_with = "raw")]
    pub values: bool,

    /// With --values: write the values of a record on one line, separated by CHAR: one character, `tab` or `space`
    ///
    /// The values are in the order of --field, --column or --key, and a missing one is empty. The separator is escaped
    /// inside values. Several values of one key, such as the elements of an array, share a cell: blanks separate them, or commas
    /// if CHAR is `space`, and are escaped inside them.
    #[arg(long, value_name = "CHAR", help_heading = SHAPE, requires = "values", value_parser = join_delimiter)]
    pub output_delimiter: Option<u8>,

    /// Keep the old value, and write the new one next to it: in a new column, or as a new member of its object
    ///
    /// Give one name for each column or key. A name that contains a comma is written in quotes, as in CSV. A rejected value has an
    /// empty cell, or null in JSON. An unreadable row stays as it is.
    #[arg(long, value_name = "NAME,...", help_heading = SHAPE, conflicts_with = "values")]
    pub into: Vec<String>,

    /// Write only the records in which a value changes, and the header of CSV
    #[arg(long, help_heading = SHAPE)]
    pub only_changed: bool,

    /// With --in-place: replace nothing, and report how many lines of which files would change
    #[arg(long, help_heading = SHAPE, group = "preview", requires = "in_place", conflicts_with = "diff")]
    pub dry_run: bool,

    /// With --in-place: replace nothing, and show the changes as a unified diff
    ///
    /// The diff is coloured on a terminal, unless NO_COLOR is set. For compressed files it shows the uncompressed
    /// text.
    #[arg(long, help_heading = SHAPE, group = "preview", requires = "in_place")]
    pub diff: bool,

    /// With --dry-run or --diff: exit with 1 if a file would change
    #[arg(long, help_heading = SHAPE, requires = "preview")]
    pub exit_code: bool,

    /// The policy for values that the conversion rejects, and for unreadable records [default: keep]
    ///
    /// Examples are a URL whose host is invalid for a profile, a line that is not JSON, and a record that is longer than
    /// --max-record. The number of rejected values is printed at the end.
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, conflicts_with = "raw", value_parser = policy(ON_REJECTED))]
    pub on_rejected: Option<Policy>,

    /// The policy for values that are invalid UTF-8, or invalid in the --charset [default: keep]
    ///
    /// With `keep`, bytes that are invalid in the charset stay escaped. Values are checked after decoding, or before
    /// encoding. With `keep` and `replace`, `encode` writes a character that its charset lacks as a numeric
    /// reference.
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, conflicts_with = "raw", value_parser = policy(ON_FAULT))]
    pub on_invalid_utf8: Option<Policy>,

    /// Write rejected values to FILE, one per line: FILE:LINE:OFFSET: REASON: RECORD
    ///
    /// These are the values that could not be converted, or not wholly: decoding also lists values with malformed escapes
    /// or invalid UTF-8. A URL with a malformed escape that a profile accepts is not listed, unless --on-malformed rejects it.
    ///
    /// Line ends and control bytes in RECORD are escaped. Like the output, FILE appears whole or not at all.
    #[arg(long, value_name = "FILE", help_heading = POLICIES, value_hint = ValueHint::FilePath, conflicts_with = "raw")]
    pub rejects: Option<PathBuf>,

    /// Print counts to stderr: records, bytes, escapes, errors, and the largest number of layers of a value
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

    /// Memory limit for one record, in MiB
    ///
    /// A longer record is unreadable: --on-rejected is the policy for it, and a message says where it is. Only the plain
    /// codec has no limit: `encode` and `decode` of whole lines, with no options but --set, --escape, --keep, --keep-escapes, --lower and
    /// --form, and all these and `normalize` with --raw.
    #[arg(long, value_name = "MIB", help_heading = POLICIES, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_record: u32,

    /// The number of threads [default: one for each core, or a single one for small input]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub jobs: Option<NonZeroUsize>,
}

/// The options of a command that also has --strict.
#[derive(Debug, Args)]
pub struct StrictPipe {
    #[command(flatten)]
    pub pipe: Pipe,

    /// The policy for malformed escapes [default: keep]
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, conflicts_with = "raw", value_parser = policy(ON_FAULT))]
    pub on_malformed: Option<Policy>,

    /// Stop at the first malformed escape, rejected value or unreadable record: say where, and exit with 1
    #[arg(long, conflicts_with_all = ["on_malformed", "on_rejected"])]
    pub strict: bool,
}

const SHAPE: &str = "What is written";
const VALUES: &str = "Where values are (by default each line is one)";
const POLICIES: &str = "Bad values";

/// Returns the names in `lists`, each of which is a row of CSV, so that a name that contains a comma is given in quotes.
fn names(lists: &[String]) -> Vec<String> {
    let names = |list: &String| match Dialect::strict(b',').cells(list.as_bytes()) {
        Ok(cells) => {
            cells.into_iter().map(|(cell, _)| String::from_utf8_lossy(&cell).into_owned()).collect::<Vec<_>>()
        }
        // The quotes are parts of names.
        Err(_) => list.split(',').map(str::to_owned).collect(),
    };
    lists.iter().flat_map(names).collect()
}

impl Places {
    /// Returns the separator of fields or columns, if one was given.
    pub fn delimiter(&self) -> Option<u8> {
        if self.tsv { Some(b'\t') } else { self.delimiter }
    }

    /// Returns the escaping that is undone in values, before that of a log.
    pub fn unescape(&self) -> Escaping {
        self.unescape.unwrap_or(Escaping::None)
    }

    /// Returns the selected places. `quiet` says that the format that `--log auto` chooses is not printed.
    pub fn selection(self, one_header: bool, quiet: bool) -> Selection {
        if let Some(spec) = self.log {
            let columns = names(&self.column).into_iter().map(FieldName::Name);
            let names = self.field.into_iter().chain(columns).collect();
            Selection::Log(LogSelection { spec, names, outer: self.key, quiet })
        } else if !self.field.is_empty() {
            let blanks = if self.quoted { Separator::Quoted } else { Separator::Blanks };
            let separator = self.delimiter().map_or(blanks, Separator::Byte);
            Selection::Fields(self.field, separator)
        } else if self.csv {
            Selection::Columns(Columns {
                names: names(&self.column),
                has_header: !self.no_header,
                one_header,
                quotes: if self.lazy_quotes { Quotes::Lazy } else { self.quote_escape.unwrap_or_default() },
                unescape: self.unescape(),
            })
        } else if self.jsonl {
            Selection::Keys(self.key)
        } else if self.logfmt {
            Selection::Pairs(self.key)
        } else if self.html {
            Selection::Html
        } else if self.unescape.is_some() {
            Selection::Unescaped
        } else {
            Selection::Records
        }
    }
}

impl Pipe {
    /// Converts these options to a request for `convert`, which has no malformed escapes.
    pub fn request(self, convert: impl Convert + 'static) -> Request {
        let places = self.places;
        let (delimiter, unescape) = (places.delimiter(), places.unescape());
        let destination = self.target.destination();
        let selection = places.selection(self.one_header, destination.quiet);
        Request {
            convert: Conversion::new(convert),
            sources: self.files.sources(self.records.records()),
            destination,
            records: self.records.records(),
            selection,
            shape: Shape {
                only_values: self.values,
                delimiter: self.output_delimiter,
                into: names(&self.into),
                only_changed: self.only_changed,
                is_key: false,
            },
            preview: match (self.diff, self.dry_run) {
                (true, _) => Some(PreviewFormat::Diff),
                (_, true) => Some(PreviewFormat::Counts),
                _ => None,
            },
            exit_code: self.exit_code,
            delimiter,
            unescape,
            on_malformed: None,
            on_rejected: self.on_rejected,
            policies: Handling {
                malformed: Policy::Keep,
                rejected: self.on_rejected.unwrap_or(Policy::Keep),
                not_text: self.on_invalid_utf8.unwrap_or(Policy::Keep),
            },
            rejects: self.rejects,
            stats: self.stats,
            max_record: self.max_record,
            jobs: self.jobs,
        }
    }
}

impl StrictPipe {
    /// Converts these options to a request for `convert`.
    pub fn request(self, convert: impl Convert + 'static) -> Request {
        let request = self.pipe.request(convert);
        let policies = match (self.strict, self.on_malformed) {
            (true, _) => Handling { malformed: Policy::Fail, rejected: Policy::Fail, ..request.policies },
            (_, Some(malformed)) => Handling { malformed, ..request.policies },
            _ => request.policies,
        };
        Request { policies, on_malformed: self.on_malformed, ..request }
    }

    /// Converts these options to a request for `rewrite` of whole URLs.
    pub fn rewrite(self, rewrite: impl Rewrite + 'static) -> Request {
        self.request(Rewriting::new(rewrite))
    }
}
