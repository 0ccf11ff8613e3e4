//! The arguments of the commands that describe pct itself: sets, manual pages, completions.

use std::path::PathBuf;

use clap::{Args as Options, ValueEnum, ValueHint};
use simdpct::NamedSet;

use super::parsers::{ANY_SET, TABLES, choice};
use crate::common::format::OutputFormat;

/// Write the manual pages or shell completions, which are generated from the same definitions as this help
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/generate.txt").trim_ascii_end())]
pub struct Generate {
    /// The format to write
    pub what: Generated,

    /// Write all manual pages to DIR instead of the main one to standard output
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
}

/// A file format that is generated from the definitions of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    Man,
    Bash,
    Zsh,
    Fish,
}

/// List the named sets, their bytes and the specifications that define them
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/sets.txt").trim_ascii_end())]
pub struct Sets {
    /// List only these sets
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = ANY_SET)]
    pub names: Vec<&'static NamedSet>,

    /// Write the reference tables instead: the characters of ASCII and windows-1252 with their escapes and classes
    ///
    /// A character has its escapes in windows-1252 and UTF-8, its class in RFC 3986, 2396 and 1738, and the reason to escape it.
    #[arg(long, conflicts_with = "names")]
    pub table: bool,

    /// Write instead which of the reserved characters ; / ? : @ = & RFC 1738 allows unescaped, by scheme
    ///
    /// The separators separate parts of a URL, and are escaped in data. The columns for path and query have the characters that may be
    /// unescaped there. `check --dialect rfc1738 --kinds illegal` reports all others.
    #[arg(long, conflicts_with_all = ["names", "table"])]
    pub schemes: bool,

    /// The format of the output
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = choice(TABLES))]
    pub format: OutputFormat,
}
