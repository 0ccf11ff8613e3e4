//! The definitions of the arguments, from which help, manual pages and completions are generated.
//!
//! Each subcommand with arguments is one struct. Most options that several subcommands share are defined once, in a struct of
//! [`options`] that is flattened into them; a test checks that the others have the same help. [`Args`] has the options for input
//! and output, and [`crate::plan`] reads them. The method `conversion` of a subcommand turns its other options into a
//! `Conversion` of values.

mod edit;
mod explain;
mod info;
mod options;
mod parsers;
mod reports;
mod transform;
mod urls;

use clap::{Parser, Subcommand};

pub use self::edit::Edit;
pub use self::explain::Explain;
pub use self::info::{Generate, Generated, Sets};
pub use self::options::Args;
pub use self::parsers::{hint, is_log};
pub use self::reports::{Audit, Check, Dedup, Route, Top};
pub use self::transform::{Decode, Encode, Normalize};
pub use self::urls::{Form, Get, Iri, Join, Resolve, Split, Uri};

const FIRST_EXAMPLES: &str = "\
Examples:
  pct encode names.txt                        escape line by line
  pct decode -e 'caf%C3%A9%20noir'            text instead of a file
  pct help decode                             options and examples";

/// Percent-encode, decode, normalize and check URLs with SIMD instructions
///
/// By default each line is one value. Line ends ("\n" or "\r\n") are structure: they stay, and decoding never makes
/// one, so %0A and %0D stay escaped. Plain `encode` and `decode` work on lines of any length; otherwise --max-record limits a
/// line. Memory use does not depend on the length of the input.
#[derive(Debug, Parser)]
#[command(
    name = "pct",
    version,
    after_help = FIRST_EXAMPLES,
    after_long_help = include_str!("examples/pct.txt").trim_ascii_end(),
    arg_required_else_help = true,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    /// With --version: also show the output of `pct info`
    // Clap exits at --version, so `commands::run` checks for this flag itself when it prints the version.
    #[arg(long, requires = "version")]
    verbose: bool,

    /// The subcommand to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands, with their descriptions in the list of all.
// When the program starts, it defines only the options of the called subcommand, which saves a third of the startup
// time. So this list cannot take the descriptions from the structs, and a test checks that both are equal.
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
    /// Change parts of URLs, and keep every other byte
    Edit(Edit),
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
    /// Explain the bytes of URLs that are not plain, for people or as JSON
    Explain(Explain),
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
    use std::collections::HashMap;

    use clap::{CommandFactory, Parser};

    use super::Cli;

    /// An option has the same help, short name and type of values on every command, with two exceptions: `--chain` takes servers in
    /// `audit`, and no value in `route`; `--set` takes a new part in `edit`, and a set of bytes in `encode`.
    #[test]
    fn an_option_means_one_thing_everywhere() {
        let mut cli = Cli::command();
        cli.build();
        let mut known = HashMap::new();
        for verb in cli.get_subcommands() {
            for option in verb.get_arguments() {
                let Some(long) = option.get_long().filter(|long| !["help", "set"].contains(long)) else {
                    continue;
                };
                let help = option.get_help().expect("help").to_string();
                let kind = (long != "chain").then(|| option.get_value_parser().type_id());
                let meaning = (help, option.get_short(), kind);
                let first = known.entry(long.to_owned()).or_insert_with(|| meaning.clone());
                assert_eq!(*first, meaning, "{} --{long}", verb.get_name());
            }
        }
        assert!(known.len() > 80);
    }

    /// Clap does not ask for an option that conflicts with a given one. So an option that needs another must have the conflicts of
    /// that one, too; otherwise it would be accepted without effect.
    #[test]
    fn an_option_that_needs_another_is_refused_without_it() {
        let mut cli = Cli::command();
        cli.build();
        let mut refused = 0;
        let mut faults = Vec::new();
        for verb in cli.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let error = |given: &[&str]| {
                let args = ["pct", verb.get_name()].into_iter().chain(given.iter().copied());
                Cli::try_parse_from(args).err().map(|error| error.to_string())
            };
            let needs = |error: &str| error.contains("required arguments were not provided");
            let start = ["", "{host}", "--base=http://a/", "man"].into_iter();
            let start: Vec<_> = start
                .map(|arg| if arg.is_empty() { vec![] } else { vec![arg] })
                .find(|start| error(start).is_none_or(|error| !needs(&error)))
                .expect("arguments that are enough");
            let options: Vec<_> = verb
                .get_arguments()
                .filter_map(|option| {
                    let long = option.get_long().filter(|long| *long != "help")?;
                    let values =
                        ["", "=1", "=/", "=\"", "=host", "=path=/"].map(|value| format!("--{long}{value}"));
                    let named = option
                        .get_possible_values()
                        .into_iter()
                        .map(|value| format!("--{long}={}", value.get_name()));
                    // A list of suffixes cannot be named so, and needs no other option.
                    let spelled = values.into_iter().chain(named).find(|value| {
                        let error = error(&[&*start, &[value]].concat());
                        error.is_none_or(|error| needs(&error) || error.contains("cannot be used with"))
                    })?;
                    Some((long, spelled))
                })
                .collect();
            for (long, spelled) in &options {
                let Some(alone) = error(&[&*start, &[spelled]].concat()) else { continue };
                refused += 1;
                for (other, second) in options.iter().filter(|(other, _)| other != long) {
                    let both = error(&[&*start, &[spelled, second]].concat());
                    if both.is_none() && !alone.contains(&format!("--{other}")) {
                        faults.push(format!(
                            "{} {spelled} {second}: {}",
                            verb.get_name(),
                            alone.lines().nth(1).unwrap_or_default()
                        ));
                    }
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(refused > 100, "{refused}");
    }

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
