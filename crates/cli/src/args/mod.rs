//! The definitions of the arguments, from which help, manual pages and completions are generated.
//!
//! Each subcommand is one struct, and options that several subcommands share are structs that are flattened into
//! them. The methods called `request` convert them to plain options, so nothing below [`crate::commands`] knows clap.

mod files;
mod info;
mod inspect;
mod keyed;
mod parsers;
mod route;
mod transform;
mod urls;
mod values;

use clap::{Parser, Subcommand};

pub use self::info::{Generate, Generated, Sets};
pub use self::inspect::{Audit, Check};
pub use self::keyed::{Dedup, Top};
pub use self::route::Route;
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
  pct check --kinds malformed,nul access.log.gz
  pct decode crawl.zst -o plain.txt.gz        reads and writes compressed files
  pct normalize -i.bak lists/*.txt            replace files, and keep the old ones
  pct audit access.log                        a summary of its escapes, on one page
  pct decode --field 7 --charset gbk -j2 access.log.gz -o plain.log.zst
  pct decode -i --csv --column url crawl.csv.gz
  pct decode --log combined --values access.log | sort | uniq -c
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
  SIMDPCT_TIER  use the kernels of this tier instead of the best ones; `pct info` lists the tiers
  NO_COLOR      show help without colours
  TMPDIR        the directory for temporary files: keys beyond --memory, and long records of --diff";

/// Percent-encode, decode, normalize and check URLs at close to the speed of copying
///
/// By default each line is one value. Line ends ("\n" or "\r\n") are structure: they stay, and decoding never makes
/// one, so %0A and %0D stay escaped. Plain `encode` and `decode` work on lines of any length; otherwise --max-record limits a
/// line. Memory use does not depend on the length of the input.
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
    /// With --version: also show the output of `pct info`
    // Clap exits at --version, so `commands::run` looks for this flag itself when it prints the version.
    #[arg(long, requires = "version")]
    verbose: bool,

    /// The subcommand to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands, with their descriptions in the list of all.
// Only the options of the subcommand that is called are defined when the program starts, which saves a third of that time. So the
// list cannot take the descriptions from the structs, and a test compares the two.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Write bytes outside a set as escapes
    Encode(Encode),
    /// Replace each escape by its byte, once
    Decode(Decode),
    /// Write equivalent escapes in one way (RFC 3986, sections 6.2.2.1 and 6.2.2.2)
    Normalize(Normalize),
    /// Split URLs into their parts, before anything is decoded (RFC 3986, sections 2.4 and 3)
    Split(Split),
    /// Write the parts of URLs that a template names
    Get(Get),
    /// Join parts to URLs: the inverse of `pct split`
    Join(Join),
    /// Resolve references against a base URL (RFC 3986, section 5)
    Resolve(Resolve),
    /// Write URIs in readable form, as IRIs (RFC 3987, section 3.2)
    Iri(Iri),
    /// Write IRIs as URIs: convert hosts by IDNA (UTS 46), and escape all other UTF-8 (RFC 3987, section 3.1)
    Uri(Uri),
    /// Convert forms to pairs, and pairs to forms (application/x-www-form-urlencoded)
    Form(Form),
    /// Count the parts of URLs that a template names, and show the most frequent
    Top(Top),
    /// Keep the first line of each key, in the order of the input
    Dedup(Dedup),
    /// Report suspicious and malformed escapes
    Check(Check),
    /// Summarise the escapes in a log or a list of URLs
    Audit(Audit),
    /// Show on which path servers route a request, and what they pass on
    Route(Route),
    /// List the named sets, their bytes and the specifications that define them
    Sets(Sets),
    /// Show the instruction sets that this build and this CPU support, and which one is in use
    Info,
    /// Write the manual pages or shell completions, which are generated from the same definitions as this help
    Generate(Generate),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn subcommands_are_described_as_in_their_own_help() {
        let (listed, mut defined) = (Cli::command(), Cli::command());
        defined.build();
        assert!(listed.get_subcommands().count() > 15);
        for verb in listed.get_subcommands() {
            let about = |verb: &clap::Command| verb.get_about().expect("a description").to_string();
            let own = defined.find_subcommand(verb.get_name()).expect("the same subcommands");
            assert_eq!(about(verb), about(own), "{}", verb.get_name());
        }
    }
}
