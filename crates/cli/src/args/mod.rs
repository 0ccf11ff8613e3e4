//! The definitions of the arguments, from which help, manual pages and completions are generated.
//!
//! Each subcommand is one struct, and options that several subcommands share are structs that are flattened into
//! them. The methods called `request` convert them to plain options, so nothing below [`crate::commands`] knows clap.

mod files;
mod info;
mod inspect;
mod keyed;
mod parsers;
mod readings;
mod transform;
mod urls;
mod values;

use clap::{Parser, Subcommand};

pub use self::info::{Generate, Generated, Sets, TableStyle};
pub use self::inspect::{Audit, Check};
pub use self::keyed::{Dedup, Top};
pub use self::readings::Read;
pub use self::transform::{Decode, Encode, Normalize};
pub use self::urls::{Form, Get, Iri, Join, Resolve, Split, Uri};

const FIRST_EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved bytes, line by line
  pct decode -e 'caf%C3%A9%20noir'            text instead of a file
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  pct audit access.log                        a summary of its escapes, on one page
  pct help decode                             options and examples of one command";

const EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape all but unreserved bytes, line by line
  pct encode --set whatwg-path paths.txt      escape as browsers do in a path
  pct decode -e 'caf%C3%A9%20noir'            text instead of a file
  pct decode urls.txt -o plain.txt            write plain.txt whole or not at all
  pct check --only malformed,nul access.log.gz
  pct decode crawl.zst -o plain.txt.gz        reads and writes compressed files
  pct normalize -i.bak lists/*.txt            replace files, and keep the old ones
  pct audit access.log                        a summary of its escapes, on one page
  pct decode --field 5.2 --charset gbk -j2 access.log.gz -o plain.log.zst
  pct decode -i --csv --column url crawl.csv.gz
  pct decode --log combined --only access.log | sort | uniq -c
  pct normalize crawl.txt | sort -u           one spelling of escapes (RFC 3986, section 6.2.2)
  pct normalize --profile whatwg crawl.txt    canonical forms of whole URLs; --list names all
  pct get '{host}' crawl.txt | sort | uniq -c
  pct top '{domain}' crawl.txt                the most frequent registrable domains
  pct dedup --profile rfc3986-scheme crawl.txt -o unique.txt
  pct help decode                             options and examples of one command

Exit codes:
  0  success
  1  check has findings, --strict or a policy of `fail` has stopped the run, or --exit-code says that a file would change
  2  wrong arguments, or a file could not be read or written; the other inputs are still read

When the reader of standard output exits (`pct ... | head`), pct stops quietly with 0, or check with 1 if it has
findings. After an error, the FILE of `-o FILE` is unchanged.

Environment:
  SIMDPCT_TIER  use the kernels of this tier instead of the best ones; `pct cpu` lists the tiers
  NO_COLOR      show help without colours
  TMPDIR        the directory for lines longer than --max-record that have to wait for a decision of a policy";

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
    /// With --version: also show the output of `pct cpu`
    // Clap exits at --version, so `commands::run` looks for this flag itself when it prints the version.
    #[arg(long, requires = "version")]
    verbose: bool,

    /// The subcommand to run.
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
    Top(Top),
    Dedup(Dedup),
    Check(Check),
    Audit(Audit),
    Read(Read),
    Sets(Sets),
    /// Show the instruction sets that this build and this CPU support, and which one is in use
    Cpu,
    Generate(Generate),
}
