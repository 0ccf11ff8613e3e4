//! What a person can ask for: help, the manual page and completions all derive from these definitions.
//!
//! Each subcommand is one struct; options that several share are structs of their own, flattened in. They become plain
//! options here, and nothing below [`crate::commands`] knows clap.

mod files;
mod info;
mod inspect;
mod parsers;
mod transform;
mod urls;
mod values;

use clap::{Parser, Subcommand};

pub use self::info::{Generate, Generated, Sets, TableStyle};
pub use self::inspect::{Audit, Check};
pub use self::transform::{Decode, Encode, Normalize};
pub use self::urls::{Form, Get, Iri, Join, Resolve, Split, Uri};

const FIRST_EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved bytes, line by line
  pct decode -e 'caf%C3%A9%20noir'            text instead of a file
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  pct audit access.log                        what is in there, in one page
  pct help decode                             options and examples of one command";

const EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved bytes, line by line
  pct encode --set whatwg-path paths.txt      escape as browsers do in a path
  pct decode -e 'caf%C3%A9%20noir'            text instead of a file
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  pct check --only malformed,nul access.log.gz
  pct decode crawl.zst -o plain.txt.gz        compressed files are read and written as what they are
  pct normalize -i.bak lists/*.txt            replace files, and keep the old ones
  pct audit access.log                        what is in there, in one page
  pct decode --field 5.2 --charset gbk -j2 access.log.gz -o plain.log.zst
  pct decode -i --csv --column url crawl.csv.gz
  pct decode --log combined --only access.log | sort | uniq -c
  pct normalize crawl.txt | sort -u           one spelling of escapes (RFC 3986, section 6.2.2)
  pct normalize --profile whatwg crawl.txt    canonical forms of whole URLs; --list has all
  pct get '{host}' crawl.txt | sort | uniq -c
  pct help decode                             options and examples of one command

Exit codes:
  0  all is well
  1  check has found something, or --strict or a policy of `fail` has stopped the run
  2  the arguments are wrong, or a file could not be read or written; other inputs are read all the same

When the reader of standard output goes away (`pct ... | head`), pct ends quietly, with 0; check with 1 if it has
found something. After an error, FILE of `-o FILE` is as it was.

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
    Split(Split),
    Get(Get),
    Join(Join),
    Resolve(Resolve),
    Iri(Iri),
    Uri(Uri),
    Form(Form),
    Check(Check),
    Audit(Audit),
    Sets(Sets),
    /// Show the instruction sets that this build and this CPU have, and which one is in use
    Cpu,
    #[command(hide = true)]
    Generate(Generate),
}
