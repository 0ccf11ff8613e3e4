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

use crate::record::Records;
use crate::sets;

const EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved octets, line by line
  pct encode --set whatwg-path paths.txt      escape as browsers do in a path
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  zcat access.log.gz | pct check --only malformed,nul -
  pct normalize crawl.txt | sort -u           one spelling for each URL (RFC 3986, section 6.2.2)
  pct help decode                             options and examples of one command

Exit codes:
  0  all is well
  1  check has found something, or --strict has met a malformed escape
  2  the arguments make no sense, or a file could not be read or written

When the reader of standard output goes away (`pct ... | head`), pct ends quietly, with 0; check with 1 if it has
found something. With an error, `-o FILE` leaves FILE as it was.

Environment:
  SIMDPCT_TIER  use the kernels of this tier (see `pct cpu`) instead of the best ones
  NO_COLOR      no colours in help";

/// Percent-encode, decode, normalize and check URLs at close to the speed of copying
///
/// By default each line is one value. Line ends ("\n" or "\r\n") are structure: they stay, and decoding never makes
/// one, so %0A and %0D stay escaped. Lines may be of any length, and memory use does not depend on it.
#[derive(Debug, Parser)]
#[command(name = "pct", version, after_help = EXAMPLES, arg_required_else_help = false)]
pub struct Cli {
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
    Sets(Sets),
    /// Show the instruction sets that this build and this CPU have, and which one is in use
    Cpu,
}

/// Write octets outside a set as escapes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a b/c' | pct encode                   a%20b%2Fc
  echo 'a b/c' | pct encode --keep /          a%20b/c
  echo 'a b&c' | pct encode --form            a+b%26c
  echo '/a b%20c' | pct encode --set rfc3986-path --keep-escapes
                                              /a%20b%20c
  head -c 16 /dev/urandom | pct encode --raw  any octets, newlines too

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

    /// The octets that stay as they are; `pct sets` lists the names
    #[arg(long, value_name = "NAME", default_value = "rfc3986-unreserved", value_parser = SetParser)]
    pub set: &'static NamedSet,

    /// Octets that stay as well; %XX names one that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = OctetsParser, allow_hyphen_values = true, default_value = "", hide_default_value = true)]
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
}

/// Replace escapes by the octets that they stand for, once
///
/// A "%" that is not followed by two hexadecimal digits stays as it is, unless --strict is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'caf%C3%A9%20%zz' | pct decode         café %zz
  echo 'a%0Ab%2Fc' | pct decode               a%0Ab/c     (a line stays a line)
  echo 'a%2Fb%20c' | pct decode --keep /      a%2Fb c
  echo 'q=a+b' | pct decode --form            q=a b
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

    /// Octets whose escapes stay; %XX names one that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = OctetsParser, allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    pub keep: ByteSet,

    /// Read "+" as a space
    #[arg(long)]
    pub form: bool,
}

/// Give equivalent URLs one spelling (RFC 3986, section 6.2.2)
///
/// Escapes of unreserved octets are decoded, the digits of all others are written in upper case, and nothing else
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
/// Each finding is one line on standard output, FILE:LINE:OFFSET: KIND: TEXT, where OFFSET is the number of octets
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
    #[arg(short = '0', long)]
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

/// List the named sets, their octets and where they are defined
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct sets
  pct sets whatwg-path whatwg-query")]
pub struct Sets {
    /// Only these
    #[arg(value_name = "NAME", value_parser = SetParser)]
    pub names: Vec<&'static NamedSet>,
}

/// What can be wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A "%" that is not followed by two hexadecimal digits
    Malformed,
    /// Octets that are not UTF-8 after decoding; at most one a record
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

/// The inputs.
#[derive(Debug, Args)]
pub struct Files {
    /// Files to read one after the other; standard input when there is none, or for `-`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// The output.
#[derive(Debug, Args)]
pub struct Target {
    /// Write to FILE, which appears whole or not at all; it may be one of the inputs
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// What separates values.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The input is octets without structure: line ends are encoded, and %0A and %0D decoded
    #[arg(long)]
    raw: bool,

    /// Records end in NUL instead of a newline: %00 stays escaped, and line ends are data
    #[arg(short = '0', long, conflicts_with = "raw")]
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
        // Hidden, because there are many: completions show them, help points to `pct sets`.
        Some(Box::new(simdpct::sets::ALL.iter().map(|set| PossibleValue::new(set.name).hide(true))))
    }
}

/// Reads octets, which may be given as escapes.
#[derive(Clone)]
struct OctetsParser;

impl TypedValueParser for OctetsParser {
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
