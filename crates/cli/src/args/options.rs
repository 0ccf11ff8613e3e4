//! The options that several commands share. Each is defined once, with one meaning.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args as Options, ValueHint};
use simdpct::ByteSet;
use simdpct_records::{Dialect as TableDialect, Escaping, KeyPath, Quotes, Separator, Spec};
use simdpct_uri::canon::Profile;
use simdpct_uri::{Dialect, SuffixList};

use super::parsers::{
    CHARSET, COMPRESSION, Compression, DIALECTS, FIELD, LOG, ON_FAULT, ON_REJECTED, PROFILE, STATS, STYLES,
    UNESCAPE, byte_set, choice, delimiter, join_delimiter, quote_escape, suffix_list, threads,
};
use crate::common::charset::Charset;
use crate::common::fault::{Handling, Policy};
use crate::common::format::OutputFormat;
use crate::common::records::Records;
use crate::convert::Escapes;
use crate::io::compression::Format;
use crate::io::files::{Destination, Writes};
use crate::io::names::{Reading, Sources};
use crate::select::FieldName;
use crate::url::canonical::Canonical;
use crate::url::part::{self, Part, Suffixes};
use crate::url::row::Style;
use crate::url::split::PartOptions;

const INPUT: &str = "Input";
const OUTPUT: &str = "Output";
const VALUES: &str = "Where values are (by default each line is one)";
const WRITTEN: &str = "What is written";
const POLICIES: &str = "Bad values";

/// The options for the input, the output and bad values. Each command has some of these groups of options, and the
/// defaults of the other groups.
#[derive(Debug, Default, Options)]
pub struct Args {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub written: Written,
    #[command(flatten)]
    pub strict: Strict,
}

/// The options that name the inputs.
#[derive(Debug, Default, Options)]
#[command(next_help_heading = INPUT)]
pub struct Input {
    /// Files to read; without FILE, and for `-`, standard input is read
    ///
    /// They are read one after the other. Compressed files (gzip, zstd, bzip2, xz) are recognised by their first bytes.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = None)]
    pub files: Vec<PathBuf>,

    /// Read the lines of STRING instead of files; may be given several times
    #[arg(
        short = 'e', long, value_name = "STRING", allow_hyphen_values = true,
        conflicts_with_all = ["files", "files_from", "files0_from"], help_heading = None
    )]
    pub expression: Vec<OsString>,

    /// Read the files that FILE lists, one name a line; `-` is standard input
    #[arg(
        long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true,
        conflicts_with_all = ["files", "files0_from"]
    )]
    pub files_from: Option<PathBuf>,

    /// Like --files-from, but each name ends in NUL, as `find -print0` writes them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, conflicts_with = "files")]
    pub files0_from: Option<PathBuf>,

    /// Read every file as it is: decompress none, and accept zip archives, UTF-16 and other formats that are rejected
    /// otherwise
    #[arg(long, hide_short_help = true)]
    pub no_decompress: bool,

    /// End records with NUL instead of a newline: %00 stays escaped, and line ends are data
    ///
    /// With `check --files-with-findings`, names end in NUL, too, and are not escaped.
    #[arg(short = '0', long, hide_short_help = true)]
    pub null: bool,

    /// Memory limit in MiB, for decompressing one file and for keys [default: 128, 256 for xz, 1024 for keys]
    ///
    /// Files that were compressed with a large window, for example by `zstd --long=31`, need more. Keys of `top` and `dedup` that do not
    /// fit go to temporary files.
    #[arg(long, value_name = "MIB", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub memory: Option<u32>,

    /// Show no progress bar; `check` prints no findings either, and stops at the first: the exit code is the result
    #[arg(short, long, hide_short_help = true, help_heading = None)]
    pub quiet: bool,
}

/// The options that select values in a record, and the limits of a command that reads records.
#[derive(Debug, Default, Options)]
#[command(next_help_heading = VALUES)]
#[command(group = ArgGroup::new("tables").multiple(true))]
pub struct Places {
    /// Work on fields of each line: N counts from 1, or from the end if it is negative; N..M is a range
    ///
    /// Fields are separated by runs of blanks, as in awk: `--field 7` is awk's $7, the request target of most access
    /// logs. With --delimiter, they are separated by each CHAR, as in cut. `N..` is a range up to the last field, and
    /// `..M` one from the first field on. Everything else stays byte for byte. Bytes that would split or end a field
    /// stay escaped, and so do control bytes and, between blanks, quotes and backslashes. A line without the field stays
    /// as it is.
    #[arg(
        short, long, value_name = "N,...", value_delimiter = ',', allow_hyphen_values = true, value_parser = FIELD,
        conflicts_with_all = ["csv", "jsonl", "logfmt"]
    )]
    pub field: Vec<FieldName>,

    /// Work on the URLs in a log of this format, such as `combined`, `nginx` or `auto`; --field names values
    ///
    /// FORMAT is a server (for its usual layout), a layout, or LAYOUT:SERVER, such as `combined:lighttpd`. Servers escape values
    /// differently. So without a server, `combined`, `common` and `vhost_combined` read a line only if all servers mean the same by it.
    /// `auto` chooses the format by the first lines of each file, and says which on stderr. `cri+`, `docker+` and `syslog+` before a
    /// format read its lines inside the lines that Kubernetes, Docker and syslog write.
    ///
    /// The escapes of the server are undone before a value is read, and written again where the value stays in its line. A request
    /// target that begins with `/` has no host. A line that can be read in two ways, or was cut, is unreadable: it stays as it is,
    /// and is counted. `audit --chain` takes the targets of the requests.
    #[arg(
        long, value_name = "FORMAT", value_parser = LOG, group = "tables",
        conflicts_with_all = ["csv", "logfmt", "delimiter", "tsv", "null", "unescape"]
    )]
    pub log: Option<Spec>,

    /// Work on columns of CSV (RFC 4180)
    ///
    /// Cells that do not change stay byte for byte; those that change are quoted where necessary. Rows may be ragged:
    /// a row without the column stays as it is, and so does a blank line. Each file has a header row. A first line such as `sep=;`
    /// names the delimiter of its file, and is copied.
    ///
    /// A row is unreadable if a quote is inside a cell without quotes, if text follows a closing quote, or if a quote is not
    /// closed. Reading goes on with the next line. After an open quote, that is the next line with as many cells as the header, if one
    /// comes within --max-record; otherwise the row extends to a closing quote or to the end of the file.
    #[arg(long, group = "tables", requires = "column", conflicts_with_all = ["jsonl", "logfmt", "null"])]
    pub csv: bool,

    /// The columns, by name or by number from 1; a name selects all columns that have it
    ///
    /// A name that contains a comma is written in quotes, as in CSV: `--column '"city, country",url'`.
    /// In a log whose header names its columns, names are those of the header: `--log w3c --column 'cs(User-Agent)'`.
    #[arg(long, value_name = "NAME|N,...", requires = "tables")]
    pub column: Vec<String>,

    /// Work on string values of JSON, one document per line
    ///
    /// Everything else stays byte for byte. A value that changes is written with only those escapes of JSON that are necessary;
    /// bytes that are invalid UTF-8 stay percent-encoded, because JSON cannot contain them. A string that holds a JSON document
    /// still holds it after decoding: `"`, `\` and control bytes stay percent-encoded. Control bytes and invalid UTF-8 in strings
    /// are read, because some programs write them; in a string with invalid UTF-8, only escapes of ASCII are decoded. A line that is not JSON is unreadable. `decode` and `normalize` may copy a line
    /// in braces that contains neither `%` nor `\` without checking that it is JSON; with --strict, --rejects, --stats, --into, --values,
    /// --only-changed, another policy than keep, or an option that also changes other text, such as --form, they check each line.
    #[arg(long, group = "documents", requires = "key", conflicts_with = "null")]
    pub jsonl: bool,

    /// The paths of the values, as in jq: `request.url`, `urls[]`, `items[0].href`, or `.`
    ///
    /// `."a.b"` or `.a\.b` is a member whose name contains a dot or another character of paths. `.` is the document itself,
    /// `[]` each element of an array, and `[0]` the first one. `**` at the end selects every string at this place and below.
    /// With --logfmt, PATH is the literal key.
    #[arg(long, value_name = "PATH,...", value_delimiter = ',', requires = "documents")]
    pub key: Vec<KeyPath>,

    /// Work on values of logfmt: `key=value` between blanks, where a value may be quoted
    ///
    /// A value that changes is quoted where necessary. An unknown escape makes a quoted value unreadable; a quote that is
    /// not closed, or text after a closing quote, makes the line unreadable.
    #[arg(long, group = "documents", requires = "key", conflicts_with = "null", hide_short_help = true)]
    pub logfmt: bool,

    /// Work on the URLs in HTML: href, src, srcset, action and all other attributes that contain URLs
    ///
    /// This includes attributes of older HTML, such as background, `content` of a meta refresh, and each URL of a list.
    /// Character references such as `&amp;` are read, and written where they are needed. Everything else stays byte for
    /// byte, and so does a URL that does not change. The charset is the one that the document names, otherwise UTF-8, or
    /// windows-1252 for a value that is not UTF-8; UTF-16 and ISO-2022-JP are rejected. `resolve` obeys `<base href>` and
    /// `codebase`. URLs in scripts and styles are not found, nor are empty ones outside of href. --max-record limits a tag.
    #[arg(long, hide_short_help = true, conflicts_with_all = ["field", "csv", "jsonl", "logfmt", "log", "delimiter", "null", "quoted", "unescape"])]
    pub html: bool,

    /// The separator of fields or columns: an ASCII character that is no letter or digit, or `tab` or `space`
    ///
    /// CHAR is not `%`, `+`, a quote or a line end. Each CHAR separates two fields, and there are no quotes. The default of --field is any
    /// number of blanks, and that of --csv is a comma.
    #[arg(short, long, value_name = "CHAR", value_parser = delimiter, hide_short_help = true, conflicts_with_all = ["jsonl", "logfmt"])]
    pub delimiter: Option<u8>,

    /// Separate fields or columns by tabs: `--delimiter tab`, and --csv if there is a --column
    #[arg(long, group = "tables", hide_short_help = true, conflicts_with_all = ["delimiter", "jsonl", "logfmt"])]
    pub tsv: bool,

    /// With --field: count a "quoted field" or a [bracketed date] as one field; N.W is word W of field N
    ///
    /// `--quoted --field 5.2` is the request target of the common and combined formats of access logs, and
    /// `--quoted --field 8` the referrer. A quote or bracket ends a field if a blank or the end of the line follows, and
    /// the number of backslashes before it is even. A quote that is not closed makes the line unreadable, unless all fields
    /// that are asked for are before it. A client can shift such fields in logs whose server does not escape quotes; --log
    /// knows the servers.
    #[arg(
        long, requires = "field", hide_short_help = true,
        conflicts_with_all = ["delimiter", "tsv", "csv", "jsonl", "logfmt", "log"]
    )]
    pub quoted: bool,

    /// Undo the escapes of this server in each value before it is read, such as `\x22` of nginx and `#22` of HAProxy
    ///
    /// The escapes are written again where a value stays in its record. With --jsonl, strings may contain these escapes, because some
    /// servers build JSON from text. --log undoes the escapes of its format without this option.
    #[arg(long, value_name = "SERVER", value_parser = UNESCAPE, hide_short_help = true, conflicts_with = "logfmt")]
    pub unescape: Option<Escaping>,

    /// Read misplaced quotes in CSV as data: inside a cell without quotes, and before text that is not a delimiter
    ///
    /// The cell `5" disk` has a quote then, and `"a "b" c"` is one cell. A quoted cell that changes is written with two quotes for each one.
    #[arg(long, requires = "column", hide_short_help = true, conflicts_with_all = ["quote_escape", "log"])]
    pub lazy_quotes: bool,

    /// The byte that escapes a quote in a quoted cell of CSV: `"`, the default, or `\`, as MySQL and Redshift write it
    ///
    /// A `\` also escapes itself then. A quoted value with another sequence, such as `\n`, is unreadable: it stays, and
    /// is counted.
    #[arg(long, value_name = "CHAR", requires = "column", value_parser = quote_escape, hide_short_help = true, conflicts_with = "log")]
    pub quote_escape: Option<Quotes>,

    /// Treat the first row of CSV as data
    #[arg(long, requires = "column", hide_short_help = true, conflicts_with = "log")]
    pub no_header: bool,

    /// Memory limit for one record, in MiB; at most 2048 for `top` and `dedup`
    ///
    /// A longer record is unreadable: --on-rejected is the policy for it, a message says where it is, and `check` reports it as a finding.
    /// There is no limit for `encode` and `decode` of whole lines, or with --raw, if --set, --escape, --keep, --keep-escapes, --bytes,
    /// --lower and --form are the only options for the conversion, nor for `normalize --raw`. `check` of whole lines has no limit either,
    /// but a line of more than 16 MiB, or more than this limit if it is greater, is `unreadable` as a URL.
    #[arg(
        long, value_name = "MIB", help_heading = INPUT, default_value = "2", hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..=4096)
    )]
    pub max_record: u32,

    /// The number of threads [default: one for each core, or a single one for small input]
    #[arg(short, long, value_name = "N", value_parser = threads, hide_short_help = true, help_heading = None)]
    pub jobs: Option<NonZeroUsize>,
}

/// The options that name the output.
#[derive(Debug, Default, Options)]
#[command(next_help_heading = OUTPUT)]
pub struct Output {
    /// Write to FILE, whole or not at all; it may be one of the inputs
    ///
    /// The output is compressed if the name ends in .gz, .zst, .bz2 or .xz.
    ///
    /// The new file takes over the mode, the extended attributes and the access lists of the old one, and its owner
    /// if you may give files away. Other names of the old file (hard links) keep the old content, and a message says so. A symbolic
    /// link is followed; a link to a missing file is an error. Devices, pipes, `/dev/stdout`, and the file that standard output or
    /// standard error is redirected to are written to directly.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = None)]
    pub output: Option<PathBuf>,

    /// Replace each file, whole or not at all; with SUFFIX (`-i.bak`), keep the old one
    ///
    /// `-i.bak` or `--in-place=.bak` keeps the old file under its name plus SUFFIX. Compressed files stay compressed.
    ///
    /// A file that has that name already is replaced, as `sed -i.bak` does: a second run keeps the output of the first.
    /// If a file changes while it is read, it is left alone and the run reports an error. The new file keeps the same
    /// attributes as with --output.
    #[arg(
        short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["output", "compress"], help_heading = None
    )]
    pub in_place: Option<String>,

    /// Compress the output in this format; `none` writes a plain file whatever its name
    #[arg(long, value_name = "FORMAT", value_parser = choice(COMPRESSION), hide_short_help = true)]
    pub compress: Option<Compression>,

    /// The compression level, on the scale of the format: gzip and xz 0-9, zstd 1-22, bzip2 1-9
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub level: Option<u8>,

    /// Do not wait until files are on the disk. This is faster, but a power cut can leave a written file empty
    #[arg(long, hide_short_help = true)]
    pub no_sync: bool,

    /// Write records with rejected values to FILE, with the first reason of each: FILE:LINE:OFFSET: REASON: RECORD
    ///
    /// Unreadable records are listed, too. Rejected values could not be converted, or not wholly: decoding also lists values with malformed escapes
    /// or invalid UTF-8. A URL that a profile accepts is not listed for a malformed escape, unless --on-malformed rejects it.
    ///
    /// Line ends and control bytes in RECORD are escaped. Like the output, FILE appears whole or not at all. If no
    /// input could be read, it stays as it is.
    #[arg(long, value_name = "FILE", help_heading = POLICIES, value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub rejects: Option<PathBuf>,
}

/// The options about the form of the output, and about bad values.
#[derive(Debug, Default, Options)]
#[command(next_help_heading = WRITTEN)]
#[command(group = ArgGroup::new("policies").multiple(true))]
pub struct Written {
    /// Write only the values, each on a line of its own, for `| sort | uniq -c`
    ///
    /// Line ends in a value are escaped. There is no header.
    #[arg(long)]
    pub values: bool,

    /// With --values: write the values of a record on one line, separated by CHAR
    ///
    /// CHAR is `tab`, `space` or one ASCII character that is no letter, no digit and no `%`.
    ///
    /// The values are in the order of --field, --column or --key, and a missing one is empty. If two positions of --field name the same
    /// field of a line, the first has its value, and the other is empty. The separator is escaped inside values. Several values of one
    /// key, such as the elements of an array, share a cell: blanks separate them, or commas if CHAR is `space`, and are escaped inside
    /// them. Results that are rows, as those of `split`, cannot be joined.
    #[arg(
        long, value_name = "CHAR", requires = "values", value_parser = join_delimiter, hide_short_help = true,
        conflicts_with = "into"
    )]
    pub output_delimiter: Option<u8>,

    /// Write the new value next to the old one: in a new column, or as a new member of its object
    ///
    /// Give one name for each column or key. A name that contains a comma is written in quotes, as in CSV. A rejected value has an
    /// empty cell, or null in JSON. An unreadable record stays as it is, except that a row of CSV that is longer than --max-record gets
    /// empty new cells, unless a quote is misplaced.
    #[arg(long, value_name = "NAME,...", conflicts_with = "values")]
    pub into: Vec<String>,

    /// Write only the records in which a value changes, or is rejected with --into, and the headers of CSV and logs
    ///
    /// Unreadable records are left out, and counted on stderr.
    #[arg(long, hide_short_help = true)]
    pub only_changed: bool,

    /// Write only the header of the first file
    ///
    /// A file with a different header is left out, with a message and exit code 2. Without this option every header
    /// is written.
    #[arg(long, requires = "column", hide_short_help = true, conflicts_with_all = ["no_header", "log"])]
    pub one_header: bool,

    /// With --in-place: replace nothing, and report how many lines of which files would change
    #[arg(long, group = "preview", requires = "in_place", hide_short_help = true, conflicts_with_all = ["diff", "output", "compress"])]
    pub dry_run: bool,

    /// With --in-place: replace nothing, and show the changes as a unified diff
    ///
    /// The diff is coloured on a terminal, unless NO_COLOR is set. For compressed files it shows the uncompressed
    /// text.
    #[arg(long, group = "preview", requires = "in_place", conflicts_with_all = ["output", "compress"])]
    pub diff: bool,

    /// With --dry-run or --diff: exit with 1 if a file would or may change
    #[arg(long, requires = "preview", hide_short_help = true)]
    pub exit_code: bool,

    /// Treat the input as bytes without records: line ends are encoded, and %0A and %0D are decoded
    #[arg(
        long, help_heading = INPUT, hide_short_help = true,
        conflicts_with_all = [
            "null", "field", "quoted", "log", "csv", "jsonl", "logfmt", "values", "output_delimiter", "policies", "rejects", "stats"
        ]
    )]
    pub raw: bool,

    /// The policy for values that the conversion rejects, and for unreadable records [default: keep]
    ///
    /// Examples are a URL whose host is invalid for a profile, a line that is not JSON, and a record that is longer than
    /// --max-record. The number of rejected values is printed at the end.
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, hide_short_help = true, group = "policies", value_parser = choice(ON_REJECTED))]
    pub on_rejected: Option<Policy>,

    /// The policy for values that are invalid UTF-8, or invalid in the --charset [default: keep]
    ///
    /// With `keep`, bytes that are invalid in the charset stay escaped. Values are checked after decoding, or before
    /// encoding. Commands that do not decode look only at bytes that are not escaped. With `keep` and `replace`, `encode`
    /// writes a character that its charset lacks as a numeric reference.
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, hide_short_help = true, group = "policies", value_parser = choice(ON_FAULT))]
    pub on_invalid_utf8: Option<Policy>,

    /// Print counts to stderr: records, bytes, escapes, errors, and the most layers removed from a value
    ///
    /// A value that a policy does not keep is counted for its first fault, and for each malformed escape.
    #[arg(
        long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text", help_heading = POLICIES,
        hide_short_help = true, value_parser = choice(STATS)
    )]
    pub stats: Option<OutputFormat>,
}

/// The options about malformed escapes.
#[derive(Debug, Default, Options)]
pub struct Strict {
    /// Stop at the first malformed escape, rejected value or unreadable record: say where, and exit with 1
    #[arg(long, conflicts_with_all = ["on_malformed", "on_rejected"], help_heading = None)]
    pub strict: bool,

    /// The policy for malformed escapes [default: keep]
    #[arg(long, value_name = "POLICY", help_heading = POLICIES, hide_short_help = true, group = "policies", value_parser = choice(ON_FAULT))]
    pub on_malformed: Option<Policy>,
}

/// The options of commands that read parts of URLs.
#[derive(Debug, Options)]
pub struct Parts {
    /// Decode each part once, after splitting
    ///
    /// In authority, userinfo, path and query, `%` and delimiters stay escaped: %2F in a path; %26, %3D, %3B, %2B in a query. Of other
    /// parts, all is decoded, and in query:NAME `+` becomes a space. url is not decoded.
    #[arg(long)]
    pub decode: bool,

    #[command(flatten)]
    pub no_scheme: NoScheme,
    #[command(flatten)]
    pub charset: CharsetArg,

    /// Divide hosts by this public suffix list instead of the one that is compiled in, whose version `pct info` shows
    ///
    /// The format is that of the list on publicsuffix.org. Debian has a list in
    /// /usr/share/publicsuffix/public_suffix_list.dat.
    #[arg(long, value_name = "FILE", value_parser = suffix_list, value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub suffix_list: Option<Arc<SuffixList>>,

    /// Use only the ICANN section of the list, so that the domain of a.github.io is github.io
    #[arg(long, hide_short_help = true)]
    pub icann: bool,
}

/// The option for URLs without schemes.
#[derive(Debug, Options)]
pub struct NoScheme {
    /// Read `example.com/a` and `localhost:80` as URLs that begin with a host
    ///
    /// A URL begins with a host unless it begins with a scheme and a colon, `/`, `?`, `#`, or the segment `.` or `..`, also before a colon. A
    /// name, a colon and digits are a host and a port. A canonical form has no scheme either; a --profile of whole URLs, such as whatwg,
    /// rejects such a value.
    #[arg(long, hide_short_help = true)]
    pub no_scheme: bool,
}

/// The option for control characters on a terminal.
#[derive(Debug, Options)]
pub struct Controls {
    /// Write decoded control characters to a terminal as they are
    ///
    /// Without this option, and if the output goes to a terminal, the characters that `decode --printable` escapes are escaped. In what
    /// --diff shows on a terminal, they are written as `\x1b`.
    #[arg(long, hide_short_help = true, help_heading = WRITTEN)]
    pub show_controls: bool,
}

impl Controls {
    /// Reports whether control characters must be escaped, because the output of a command with `args` goes to a terminal.
    pub fn are_escaped(&self, args: &Args) -> bool {
        // A preview shows the text that would be written to a file, and escapes what it shows itself.
        !self.show_controls && args.output.in_place.is_none() && args.destination().is_terminal()
    }
}

/// The charset of escaped bytes.
#[derive(Debug, Options)]
pub struct CharsetArg {
    /// The charset of escaped bytes, instead of UTF-8; `auto` and `auto:LABEL` decide for each value
    ///
    /// All other text is UTF-8, also the host of a URL, but a form that `form` reads is in the charset as a whole, and so is a run of
    /// bytes above 0x7F that is not UTF-8. Labels mean what they mean to browsers, so `iso-8859-1`, `latin1` and `us-ascii` are
    /// windows-1252; `iso-8859-1-strict` and `us-ascii-strict` are exact.
    ///
    /// `encode` writes a character that the charset lacks in the way of browsers: %26%23, its number, %3B. Input bytes that are invalid
    /// UTF-8 are escaped unchanged.
    ///
    /// When bytes are decoded, those that are invalid in the charset are written as escapes, so `--charset utf-8` decodes only valid UTF-8. `auto`
    /// decodes a value as UTF-8 if it is valid UTF-8, and otherwise as windows-1252; `auto:LABEL` names another charset for that. A value is
    /// a segment of the path, or a name or a value of the query or form; without --url, --path or --query of `decode`, it is the whole line,
    /// field or cell. Characters that --percent-u decodes are not converted. `split`, `get` and `top` need --decode for this option. In
    /// `form`, a parameter `_charset_` names the charset of its form, as in the HTML Standard.
    #[arg(long, value_name = "LABEL", value_parser = CHARSET, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

/// The options of conversions that leave some bytes as they are.
#[derive(Debug, Options)]
pub struct Kept {
    /// Keep these bytes, or their escapes when decoding; %XX names a byte that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = OsStringValueParser::new().map(|text| byte_set(&text)), allow_hyphen_values = true)]
    pub keep: Vec<ByteSet>,

    /// Write a space as "+" and read "+" as a space
    ///
    /// `encode` also escapes "+"; together with `--set whatwg-form`, this is the URL Standard's form encoding.
    #[arg(long)]
    pub form: bool,

    /// Convert a whole URL: keep its syntax, so that it has the same parts
    ///
    /// `encode` escapes "%" and bytes that no URL may contain, except `\`, tabs and "\r" before the query, which browsers read as syntax.
    /// Reserved bytes (RFC 3986, section 2.2) and their escapes, such as %2F and %252F, stay. `decode` is the exact inverse: it keeps these
    /// escapes.
    #[arg(long, conflicts_with_all = ["keep", "form"])]
    pub url: bool,

    /// Convert the value of a header parameter whose name ends with `*`, such as `filename*` (RFC 8187)
    ///
    /// `decode` reads UTF-8 and ISO-8859-1. A value that is not of the form CHARSET'LANGUAGE'TEXT, or that is invalid in its charset, is
    /// rejected.
    #[arg(long, conflicts_with_all = ["keep", "form", "url"], hide_short_help = true)]
    pub ext_value: bool,
}

/// The canonical form of URLs.
#[derive(Debug, Options)]
pub struct ProfileArg {
    /// The canonical form of whole URLs; `pct normalize --list` describes each [default: only escapes are normalized]
    ///
    /// A profile is versioned and never changes. Compare only results of one profile.
    #[arg(long, value_name = "NAME", value_parser = PROFILE, hide_possible_values = true)]
    pub profile: Option<Profile>,
    #[command(flatten)]
    pub no_scheme: NoScheme,
}

/// The specification of URLs.
#[derive(Debug, Options)]
pub struct DialectArg {
    /// The specification of unreserved bytes, and of the kinds `illegal` and `needless` [default: rfc3986]
    ///
    /// The escapes of unreserved bytes are decoded, or reported as needless. RFC 2396 adds `! * ' ( )`; RFC 1738 also adds `$ + ,` and
    /// omits `~`. In RFC 2396, `[` and `]` are illegal. In RFC 1738, `~` is also illegal, and so are reserved characters where its grammar for
    /// the scheme forbids them (`pct sets --schemes`). `check` must report one of the two kinds, as with `--kinds illegal,needless`.
    #[arg(long, value_name = "NAME", value_parser = choice(DIALECTS), hide_short_help = true)]
    pub dialect: Option<Dialect>,
}

/// The format of the rows of parts or pairs that are read.
#[derive(Debug, Options)]
pub struct FromArg {
    /// Read rows in this format [default: tsv; `form` reads forms]
    #[arg(long, value_name = "FORMAT", value_parser = choice(STYLES))]
    pub from: Option<Style>,
}

/// The columns of rows of parts.
#[derive(Debug, Options)]
pub struct Columns {
    /// The parts of a row, in this order
    ///
    /// The parts are url, scheme, authority, userinfo, user, password, host, port, path, query, fragment, query:NAME for the
    /// value of the first parameter of that name, query:NAME[] for all its values with blanks between them, and segment:N for a segment of the
    /// path, from 1, or from -1 backwards.
    /// domain is the registrable domain of the host, suffix its public suffix, and subdomain the labels before the domain. `pct join` takes
    /// none of url, query:NAME[], segment:N, domain, suffix and subdomain.
    #[arg(long, value_name = "PART,...", value_delimiter = ',', default_value = part::USUAL, value_parser = Part::find)]
    pub parts: Vec<Part>,
}

/// Returns the names in `lists`. Each list is read as a row of CSV, so a name that contains a comma must be in quotes.
/// A list that is not a valid row of CSV is split at its commas.
fn names(lists: &[String]) -> Vec<String> {
    let names = |list: &String| match TableDialect::strict(b',').cells(list.as_bytes()) {
        Ok(cells) => {
            cells.into_iter().map(|(cell, _)| String::from_utf8_lossy(&cell).into_owned()).collect::<Vec<_>>()
        }
        // This is not a row of CSV, so its quotes are parts of names.
        Err(_) => list.split(',').map(str::to_owned).collect(),
    };
    lists.iter().flat_map(names).collect()
}

impl Input {
    /// Reports whether an input is named; otherwise standard input is read.
    pub fn is_given(&self) -> bool {
        !self.files.is_empty()
            || self.files_from.is_some()
            || self.files0_from.is_some()
            || !self.expression.is_empty()
    }

    /// Returns the inputs. The text of each `--expression` becomes a record, with the end that `records` defines.
    pub fn sources(&self, records: Records) -> Sources {
        let lists = [(&self.files_from, b'\n'), (&self.files0_from, b'\0')];
        let text = |text: &OsString| {
            let end = (records != Records::Raw).then(|| records.end());
            [text.as_encoded_bytes(), end.as_slice()].concat()
        };
        Sources {
            names: self.files.clone(),
            list: lists.into_iter().find_map(|(list, end)| Some((list.clone()?, end))),
            text: (!self.expression.is_empty()).then(|| self.expression.iter().flat_map(text).collect()),
            reading: Reading { decompress: !self.no_decompress, memory: self.memory },
        }
    }

    /// Returns the way in which input without `--raw` is separated into records.
    pub fn records(&self) -> Records {
        if self.null { Records::Null } else { Records::Lines }
    }
}

impl Places {
    /// Returns the separator of fields or columns, if one was given.
    pub fn delimiter(&self) -> Option<u8> {
        if self.tsv { Some(b'\t') } else { self.delimiter }
    }

    /// Returns the separator of fields.
    pub fn separator(&self) -> Separator {
        let blanks = if self.quoted { Separator::Quoted } else { Separator::Blanks };
        self.delimiter().map_or(blanks, Separator::Byte)
    }

    /// Returns the escaping that `--unescape` undoes in values.
    pub fn unescape(&self) -> Escaping {
        self.unescape.unwrap_or(Escaping::None)
    }

    /// Returns the columns that `--column` selects, by name or by number, as the user gave them.
    pub fn columns(&self) -> Vec<String> {
        names(&self.column)
    }

    /// Reports whether columns of CSV are selected.
    pub fn is_table(&self) -> bool {
        self.csv || self.tsv && !self.column.is_empty()
    }

    /// Reports whether each record is a value, possibly with escapes of a server.
    pub fn is_line(&self) -> bool {
        !(self.is_table() || self.jsonl || self.logfmt || self.html)
            && self.field.is_empty()
            && self.log.is_none()
    }

    /// Reports whether each record is a value, without escapes of a server.
    pub fn is_whole(&self) -> bool {
        self.is_line() && self.unescape.is_none()
    }
}

impl Written {
    /// Reports whether a preview is written instead of replacing files.
    pub fn has_preview(&self) -> bool {
        self.dry_run || self.diff
    }

    /// Returns the names of the new columns or members.
    pub fn new_names(&self) -> Vec<String> {
        names(&self.into)
    }
}

impl Args {
    /// Returns an error message if the command `verb` would write rows where no quotes can hold them, or overwrite cells
    /// of a table with results that are not rows. `rows` says whether the results are rows.
    pub fn check_overwritten(&self, verb: &str, rows: bool) -> Result<(), String> {
        let is_beside = self.written.values || !self.written.into.is_empty();
        let Places { log, html, field, .. } = &self.places;
        let bare = [
            ("--log", log.is_some(), "the lines of the log"),
            ("--html", *html, "attributes"),
            ("--field", !field.is_empty(), "the fields"),
        ];
        if let Some((option, _, places)) = bare.iter().find(|(_, is_given, _)| *is_given)
            && rows
            && !is_beside
        {
            return Err(format!(
                "pct {verb} {option} would write rows into {places}; --values writes only the rows"
            ));
        }
        if self.places.is_table() && !rows && !is_beside {
            return Err(format!(
                "pct {verb} --csv would overwrite the column; --into NAME writes a new column, and --values only the results"
            ));
        }
        Ok(())
    }

    /// Returns the way in which the input is separated into records.
    pub fn records(&self) -> Records {
        if self.written.raw { Records::Raw } else { self.input.records() }
    }

    /// Returns the destination of the output. Without --compress, the extension of the --output file decides its compression.
    pub fn destination(&self) -> Destination {
        let Output { output, in_place, compress, level, no_sync, .. } = &self.output;
        let format = compress.unwrap_or_else(|| output.as_deref().and_then(Format::of_extension));
        let place = match (in_place, output) {
            // A preview replaces no file, so it goes to standard output.
            (Some(_), _) if self.written.has_preview() => Writes::Stdout { format: None },
            (Some(suffix), _) => Writes::InPlace { suffix: suffix.clone() },
            (None, Some(path)) if path.as_os_str() != "-" => Writes::File { path: path.clone(), format },
            _ => Writes::Stdout { format },
        };
        Destination { place, level: *level, sync: !no_sync, quiet: self.input.quiet }
    }

    /// Returns the policies for bad values.
    pub fn policies(&self) -> Handling {
        let stops = self.strict.strict;
        let Written { on_rejected, on_invalid_utf8, .. } = self.written;
        Handling {
            malformed: if stops { Policy::Fail } else { self.strict.on_malformed.unwrap_or(Policy::Keep) },
            rejected: if stops { Policy::Fail } else { on_rejected.unwrap_or(Policy::Keep) },
            not_text: on_invalid_utf8.unwrap_or(Policy::Keep),
        }
    }
}

impl Parts {
    /// Returns the meaning of a `%` in the URLs whose parts are written.
    pub fn escapes(&self) -> Escapes {
        if self.decode { Escapes::Decoded } else { Escapes::Copied }
    }

    /// Returns the options, or an error message if there is a charset and no part is decoded.
    pub fn options(&self) -> Result<PartOptions, String> {
        let charset = self.charset.charset;
        if charset.is_some() && !self.decode {
            return Err("--charset needs --decode: parts that are not decoded have no charset".to_owned());
        }
        let suffixes = Suffixes { list: self.suffix_list.clone(), icann: self.icann };
        let no_scheme = self.no_scheme.no_scheme;
        Ok(PartOptions { decode: self.decode, charset, suffixes, no_scheme, ..PartOptions::default() })
    }
}

impl ProfileArg {
    /// Returns the conversion to the canonical form that `--profile` names, `None` without it, or an error message.
    pub fn canonical(&self) -> Result<Option<Canonical>, String> {
        let no_scheme = self.no_scheme.no_scheme;
        match self.profile {
            None if no_scheme => Err("--no-scheme needs --profile".to_owned()),
            profile => Ok(profile.map(|profile| Canonical { profile, no_scheme })),
        }
    }
}
