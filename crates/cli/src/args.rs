//! What a person can ask for: help, the manual page and completions all derive from these definitions.
//!
//! Each subcommand is one struct; options that several share are structs of their own, flattened in.

mod pipe;

pub use self::pipe::{Delimiter, Pipe, Policy, StatsFormat};

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use simdpct::{ByteSet, NamedSet};

use crate::compression::Format;
use crate::error::Failure;
use crate::record::Records;
use crate::sets;
use crate::work::{CHARSETS, Charset};

const FIRST_EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved bytes, line by line
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  pct audit access.log                        what is in there, in one page
  pct help decode                             options and examples of one command";

const EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved bytes, line by line
  pct encode --set whatwg-path paths.txt      escape as browsers do in a path
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  pct check --only malformed,nul access.log.gz
  pct decode crawl.zst -o plain.txt.gz        compressed files are read and written as what they are
  pct normalize -i=.bak lists/*.txt           replace files, and keep the old ones
  pct audit access.log                        what is in there, in one page
  pct decode --field 5.2 --charset gbk -j2 access.log.gz -o plain.log.zst
  pct decode -i --csv --column url crawl.csv.gz
  pct normalize crawl.txt | sort -u           one spelling for each URL (RFC 3986, section 6.2.2)
  pct help decode                             options and examples of one command

Exit codes:
  0  all is well
  1  check has found something, or --strict or a policy of `fail` has met what it does not take
  2  the arguments make no sense, or a file could not be read or written

When the reader of standard output goes away (`pct ... | head`), pct ends quietly, with 0; check with 1 if it has
found something. With an error, `-o FILE` leaves FILE as it was.

Environment:
  SIMDPCT_TIER  use the kernels of this tier (see `pct cpu`) instead of the best ones
  NO_COLOR      no colours in help
  TMPDIR        where a whole line that is longer than --max-record waits until it is known what becomes of it";

/// Percent-encode, decode, normalize and check URLs at close to the speed of copying
///
/// By default each line is one value. Line ends ("\n" or "\r\n") are structure: they stay, and decoding never makes
/// one, so %0A and %0D stay escaped. Lines may be of any length, and memory use does not depend on it.
#[derive(Debug, Parser)]
#[command(
    name = "pct",
    version,
    after_help = FIRST_EXAMPLES,
    after_long_help = EXAMPLES,
    arg_required_else_help = true,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    /// With --version: show what `pct cpu` shows as well
    // Clap ends at --version, so this is read where the version is printed; see `main`.
    #[arg(long, requires = "version")]
    verbose: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Encode(Encode),
    Decode(Decode),
    Normalize(Normalize),
    Check(Check),
    Audit(Audit),
    Sets(Sets),
    /// Show the instruction sets that this build and this CPU have, and which one is in use
    Cpu,
    #[command(hide = true)]
    Generate(Generate),
}

/// Write bytes outside a set as escapes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a b/c' | pct encode                   a%20b%2Fc
  echo 'a b/c' | pct encode --keep /          a%20b/c
  echo 'a b&c' | pct encode --form            a+b%26c
  echo '/a b%20c' | pct encode --set rfc3986-path --keep-escapes
                                              /a%20b%20c
  echo 'Привет' | pct encode --charset windows-1251   %CF%F0%E8%E2%E5%F2
  head -c 16 /dev/urandom | pct encode --raw  any bytes, newlines too

A \"\\r\" that does not stand before \"\\n\" is data, and is escaped.")]
pub struct Encode {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub pipe: Pipe,

    /// The bytes that stay as they are; `pct sets` lists the names
    #[arg(long, value_name = "NAME", default_value = "rfc3986-unreserved", hide_possible_values = true, value_parser = SetParser)]
    pub set: &'static NamedSet,

    /// Bytes that stay as well; %XX names one that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = BytesParser, allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub keep: ByteSet,

    /// Leave valid escapes alone and escape only a "%" that starts none: encoding twice changes nothing
    #[arg(long)]
    pub keep_escapes: bool,

    /// Write a space as "+", and escape "+"; with `--set whatwg-form`, the URL Standard's form data
    #[arg(long, conflicts_with = "keep_escapes")]
    pub form: bool,

    /// Write new escapes with lower-case digits
    #[arg(long)]
    pub lower: bool,

    /// Escape the bytes of the text in this charset instead of UTF-8
    ///
    /// A character that the charset lacks is written as browsers do: %26%23, its number, %3B. Bytes of the input
    /// that are not UTF-8 are escaped as they are.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

/// Replace escapes by the bytes that they stand for, once
///
/// A "%" that is not followed by two hexadecimal digits stays as it is, unless --strict is given.
///
/// The options work in this order, whatever theirs: --nginx; escapes, with --percent-u, --times and --until-stable;
/// --charset; --printable. What --keep names, and line ends, stay escaped in each.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'caf%C3%A9%20%zz' | pct decode         café %zz
  echo 'a%0Ab%2Fc' | pct decode               a%0Ab/c     (a line stays a line)
  echo 'a%2Fb%20c' | pct decode --keep /      a%2Fb c
  echo 'q=a+b' | pct decode --form            q=a b
  echo 'a%252Fb' | pct decode --times 2       a/b
  echo '%25252e%252e/' | pct decode --until-stable    ../
  echo '%C4%E3%BA%C3' | pct decode --charset gbk      你好
  echo '%u4F60%u597D%21' | pct decode --percent-u     你好!
  echo 'q=\\x22a%20b\\x22' | pct decode --nginx       q=\"a b\"
  echo 'a%20b%1B%5B2J' | pct decode --printable       a b%1B[2J
  pct decode --field 5.2 --printable access.log.gz -o plain.log.zst
  pct decode --csv --column url --until-stable --rejects bad.txt crawl.csv -o plain.csv
  pct decode --jsonl --key request.url --on-error drop --stats events.jsonl
  pct decode --raw blob.txt -o blob           %0A and %0D too
  pct decode --strict urls.txt -o plain.txt   all or nothing")]
pub struct Decode {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub pipe: Pipe,
    #[command(flatten)]
    pub strict: Strict,

    /// Bytes whose escapes stay; %XX names one that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = BytesParser, allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub keep: ByteSet,

    /// Read "+" as a space
    #[arg(long)]
    pub form: bool,

    #[command(flatten)]
    pub unwrap: Unwrap,
}

/// What else is undone when decoding.
#[derive(Debug, Args)]
pub struct Unwrap {
    /// Decode N times, which is what N runs do
    ///
    /// Only what is read is looked at for --strict; \xHH and %uXXXX are read once.
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub times: u16,

    /// Decode until nothing changes, in linear time: to see what is wrapped up
    ///
    /// Only what is read is looked at for --strict; \xHH and %uXXXX are read once. With --form, every "+" of
    /// whatever layer becomes a space.
    #[arg(long, conflicts_with = "times")]
    pub until_stable: bool,

    /// Undo \xHH, as nginx writes it in logs, before decoding
    #[arg(long)]
    pub nginx: bool,

    /// Decode %uXXXX as well: UTF-16 code units, as `escape` of JavaScript writes them
    ///
    /// A surrogate without its other half stays. %XX next to it is a byte; `--charset latin1` reads it as
    /// `unescape` does.
    #[arg(long)]
    pub percent_u: bool,

    /// The decoded bytes are text in this charset: write it in UTF-8
    ///
    /// Bytes that are nothing in the charset are written as escapes, so `--charset utf-8` decodes only what is
    /// UTF-8. Characters of --percent-u are left alone.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser, hide_possible_values = true)]
    pub charset: Option<Charset>,

    /// Leave nothing in the output that a terminal obeys: escape it again
    ///
    /// That is: C0 controls but for line ends, DEL, C1 controls, bytes that are not UTF-8, line and paragraph
    /// separators (U+2028, U+2029), and marks that turn the direction of text. Those that were not escaped in the
    /// input are escaped, too.
    #[arg(long)]
    pub printable: bool,
}

/// Give equivalent URLs one spelling (RFC 3986, section 6.2.2)
///
/// Escapes of unreserved bytes are decoded, the digits of all others are written in upper case, and nothing else
/// changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '/%7euser%2f' | pct normalize          /~user%2F
  pct normalize crawl.txt | sort -u -o unique.txt")]
pub struct Normalize {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub pipe: Pipe,
    #[command(flatten)]
    pub strict: Strict,
}

/// Report suspicious and malformed escapes
///
/// Each finding is one line on standard output, FILE:LINE:OFFSET: KIND: TEXT, where OFFSET is the number of bytes
/// of the file before it. A summary goes to stderr.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct check access.log
  pct check --ignore dot,separator urls.txt
  pct check --quiet --only malformed urls.txt && pct decode urls.txt

Exit codes:
  0  nothing found
  1  something found
  2  the arguments make no sense, or a file could not be read")]
pub struct Check {
    #[command(flatten)]
    pub files: Files,

    /// Records end in NUL instead of a newline
    #[arg(short = '0', long, help_heading = INPUT)]
    pub null: bool,

    /// Report only these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', conflicts_with = "ignore")]
    pub only: Vec<Kind>,

    /// Report all but these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub ignore: Vec<Kind>,

    /// Print nothing, and stop at the first finding: the exit code says it all
    #[arg(short, long)]
    pub quiet: bool,
}

/// Sum up what the escapes of a log or a list of URLs hold
///
/// One pass counts the lines that hold something malformed or suspicious, shows the first examples of each, and draws
/// how many escapes lines have and which bytes are escaped most. Memory does not depend on the input, nor the exit
/// code on what is found; `pct check` lists every finding.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct audit access.log
  pct audit --examples 10 logs/*.gz
  pct audit --json crawl.txt.zst | jq '.findings[] | select(.lines > 0) | .kind'")]
pub struct Audit {
    #[command(flatten)]
    pub files: Files,

    /// Records end in NUL instead of a newline
    #[arg(short = '0', long, help_heading = INPUT)]
    pub null: bool,

    /// How many examples to show of each kind
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub examples: u16,

    /// Write JSON
    #[arg(long)]
    pub json: bool,

    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// Write the manual pages or shell completions, which derive from the same definitions as this help
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct generate man --directory /usr/local/share/man/man1
  pct generate bash > /etc/bash_completion.d/pct
  pct generate zsh > /usr/local/share/zsh/site-functions/_pct
  pct generate fish > ~/.config/fish/completions/pct.fish")]
pub struct Generate {
    /// What to write
    pub what: Generated,

    /// Write all manual pages to DIR instead of the main one to standard output
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
}

/// What is made from the definitions of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    Man,
    Bash,
    Zsh,
    Fish,
}

/// List the named sets, their bytes and where they are defined
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct sets
  pct sets whatwg-path whatwg-query")]
pub struct Sets {
    /// Only these
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = SetParser)]
    pub names: Vec<&'static NamedSet>,
}

/// What can be wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A "%" that is not followed by two hexadecimal digits
    Malformed,
    /// Bytes that are not UTF-8 after decoding; at most one a record
    Utf8,
    /// An escaped "%" in front of two hexadecimal digits, as in %2541
    Double,
    /// %00
    Nul,
    /// An escaped "/" or "\"
    Separator,
    /// An escaped "."
    Dot,
}

const INPUT: &str = "Input";
const OUTPUT: &str = "Output";

/// The inputs.
#[derive(Debug, Args)]
pub struct Files {
    /// Files to read one after the other; standard input when there is none, or for `-`. Compressed ones (gzip, zstd,
    /// bzip2, xz) are recognised by their first bytes
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Read the files that FILE names, one a line; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = INPUT, value_hint = ValueHint::FilePath, conflicts_with_all = ["files", "files0_from"])]
    pub files_from: Option<PathBuf>,

    /// The same with names that end in NUL, as `find -print0` writes them
    #[arg(long, value_name = "FILE", help_heading = INPUT, value_hint = ValueHint::FilePath, conflicts_with = "files")]
    pub files0_from: Option<PathBuf>,

    /// Take compressed files as they are
    #[arg(long, help_heading = INPUT)]
    pub no_decompress: bool,
}

/// The output.
#[derive(Debug, Args)]
pub struct Target {
    /// Write to FILE, which appears whole or not at all; it may be one of the inputs. It is compressed if its name
    /// ends in .gz, .zst, .bz2 or .xz
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace each file by the output for it, whole or not at all; with SUFFIX, keep the old one under its name and
    /// SUFFIX. What was compressed will be
    #[arg(
        short, long, value_name = "SUFFIX", help_heading = OUTPUT, num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["output", "compress"]
    )]
    pub in_place: Option<String>,

    /// Compress the output; `none` for a plain file whatever its name
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum)]
    pub compress: Option<Compress>,

    /// How hard to compress, as the command of that format counts: gzip and xz 0-9, zstd 1-22, bzip2 1-9
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub level: Option<u8>,

    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// What to compress the output with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compress {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    None,
}

impl Target {
    /// Whether the output goes to standard output.
    pub fn is_stdout(&self) -> bool {
        self.in_place.is_none() && self.output.as_ref().is_none_or(|path| path.as_os_str() == "-")
    }

    /// How to compress an output that is not in place.
    pub fn compression(&self) -> Result<Option<(Format, u8)>, Failure> {
        let format = match self.compress {
            Some(Compress::Gzip) => Some(Format::Gzip),
            Some(Compress::Zstd) => Some(Format::Zstd),
            Some(Compress::Bzip2) => Some(Format::Bzip2),
            Some(Compress::Xz) => Some(Format::Xz),
            Some(Compress::None) => None,
            None => self.output.as_deref().and_then(Format::of_extension),
        };
        if format.is_none() && self.level.is_some() {
            return Err(Failure::Usage("--level: the output is not compressed".to_owned()));
        }
        format.map(|format| self.leveled(format)).transpose()
    }

    /// `format` with the level asked for, or its usual one.
    pub fn leveled(&self, format: Format) -> Result<(Format, u8), Failure> {
        let level = self.level.unwrap_or(format.usual_level());
        if format.levels().contains(&level) {
            return Ok((format, level));
        }
        let (name, levels) = (format.name(), format.levels());
        let (least, most) = (levels.start(), levels.end());
        Err(Failure::Usage(format!("--level {level}: {name} has the levels {least} to {most}")))
    }
}

/// What separates values.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The input is bytes without structure: line ends are encoded, and %0A and %0D decoded
    #[arg(long, help_heading = INPUT)]
    raw: bool,

    /// Records end in NUL instead of a newline: %00 stays escaped, and line ends are data
    #[arg(short = '0', long, help_heading = INPUT, conflicts_with = "raw")]
    null: bool,
}

impl RecordArgs {
    /// The choice.
    pub fn records(&self) -> Records {
        match (self.raw, self.null) {
            (true, _) => Records::Raw,
            (_, true) => Records::Null,
            _ => Records::Lines,
        }
    }
}

/// What becomes of malformed escapes.
#[derive(Debug, Args)]
pub struct Strict {
    /// Stop at the first malformed escape, say where it is, and exit with 1
    #[arg(long, conflicts_with = "on_error")]
    pub strict: bool,
}

/// Reads the name of a set.
#[derive(Clone)]
struct SetParser;

impl TypedValueParser for SetParser {
    type Value = &'static NamedSet;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<&'static NamedSet, clap::Error> {
        let name = value.to_string_lossy();
        sets::find(&name)
            .map_err(|message| clap::Error::raw(clap::error::ErrorKind::InvalidValue, format!("{message}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        // There are many: completions show them, help points to `pct sets`.
        Some(Box::new(simdpct::sets::ALL.iter().map(|set| PossibleValue::new(set.name))))
    }
}

/// Reads the label of a charset.
#[derive(Clone)]
struct CharsetParser;

impl TypedValueParser for CharsetParser {
    type Value = Charset;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Charset, clap::Error> {
        Charset::find(&value.to_string_lossy())
            .map_err(|message| clap::Error::raw(clap::error::ErrorKind::InvalidValue, format!("{message}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(CHARSETS.iter().map(|name| PossibleValue::new(*name).hide(true))))
    }
}

/// Reads bytes, which may be given as escapes.
#[derive(Clone)]
struct BytesParser;

impl TypedValueParser for BytesParser {
    type Value = ByteSet;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<ByteSet, clap::Error> {
        self.parse(command, argument, value.to_owned())
    }

    fn parse(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: OsString,
    ) -> Result<ByteSet, clap::Error> {
        Ok(ByteSet::EMPTY.add(&simdpct::decode(value.as_encoded_bytes())))
    }
}
