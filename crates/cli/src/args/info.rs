//! The arguments of the commands that describe pct itself: sets, manual pages, completions.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use simdpct::NamedSet;

use super::parsers::{SetParser, formats};
use crate::common::format::OutputFormat;

/// Write the manual pages or shell completions, which are generated from the same definitions as this help
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct generate man --directory /usr/local/share/man/man1
  pct generate bash > /etc/bash_completion.d/pct
  pct generate zsh > /usr/local/share/zsh/site-functions/_pct
  pct generate fish > ~/.config/fish/completions/pct.fish")]
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
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct sets
  pct sets whatwg-path whatwg-query
  pct sets --format json                      the list for a program
  pct sets --table                            every character and its escapes
  pct sets --table --format json              the same for a program
  pct sets --schemes                          reserved characters in ftp, http, gopher, ...")]
pub struct Sets {
    /// List only these sets
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = SetParser::ALL)]
    pub names: Vec<&'static NamedSet>,

    /// Write the reference tables instead: every character of ASCII and windows-1252 with its escapes in windows-1252
    /// and UTF-8, its class in RFC 3986, 2396 and 1738, and the reason to escape it
    #[arg(long, conflicts_with = "names")]
    pub table: bool,

    /// Write instead which of the reserved characters ; / ? : @ = & RFC 1738 allows unescaped, by scheme
    ///
    /// Separators separate the parts of a URL, and are escaped in data. The other columns have the characters that may be unescaped in a
    /// path, and in a query where the scheme has one. `check --dialect rfc1738 --kinds illegal` reports all others.
    #[arg(long, conflicts_with_all = ["names", "table"])]
    pub schemes: bool,

    /// The format of the list or of the tables
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats(&[OutputFormat::Text, OutputFormat::Tsv, OutputFormat::Json]))]
    pub format: OutputFormat,
}
