//! What the command says of itself: sets, manual pages, completions.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use simdpct::NamedSet;

use super::parsers::SetParser;

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
  pct sets whatwg-path whatwg-query
  pct sets --table                            every character and its escapes
  pct sets --table --as json                  the same for a program")]
pub struct Sets {
    /// Only these
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = SetParser::ALL)]
    pub names: Vec<&'static NamedSet>,

    /// Write the reference tables instead: every character of ASCII and windows-1252, and its escapes in windows-1252 and UTF-8
    #[arg(long, conflicts_with = "names")]
    pub table: bool,

    /// How the tables are written
    #[arg(long = "as", value_name = "STYLE", default_value = "text", requires = "table")]
    pub style: TableStyle,
}

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableStyle {
    /// For a person
    Text,
    /// With a header
    Tsv,
    /// An array of objects
    Json,
    /// Two tables, to be put into a page
    Html,
}
