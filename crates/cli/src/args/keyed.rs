//! The arguments of the commands that compare keys: top, dedup.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use simdpct::sets;
use simdpct_uri::canon::Profile;

use super::files::{Files, INPUT, Target};
use super::parsers::{ProfileParser, formats, threads};
use super::urls::{PartCharset, SuffixArgs};
use super::values::Places;
use crate::common::fault::Handling;
use crate::common::format::OutputFormat;
use crate::common::records::Records;
use crate::convert::Conversion;
use crate::convert::parts::Normalizer;
use crate::io::files::{Destination, Writes};
use crate::plan::{DedupRequest, Request, Selection, Shape, TopRequest};
use crate::select::FieldName;
use crate::url::Rewriting;
use crate::url::canonical::Canonical;
use crate::url::split::{Get, Template};

/// Count the parts of URLs that a template names, and show the most frequent
///
/// Counts are exact. Keys with the same count are in the order of their bytes, so the output does not depend on the number of threads. A
/// missing part is an empty key, and schemes and hosts are in lower case. With --log, only the URL of the request counts, in W3C logs
/// without a query that has its own column. Records that cannot be read are left out and counted on stderr.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct top '{domain}' crawl.txt.zst            registrable domains, by the Public Suffix List
  pct top '{path}' --log combined access.log.gz
  pct top -n 5 --decode '{query:utm_source}' --csv --column url crawl.csv
  pct top '{host}' --format json --jsonl --key request.url events.jsonl
  pct top '{scheme}' crawl.txt | head -1      COUNT, a tab, KEY: one key a line when piped")]
pub struct Top {
    /// The key, with {PART} for each part; the names are those of `pct split --parts`
    #[arg(value_parser = Template::new)]
    pub template: Template,

    #[command(flatten)]
    pub files: Files,

    /// End records with NUL instead of a newline
    #[arg(short = '0', long, help_heading = INPUT)]
    pub null: bool,

    #[command(flatten)]
    pub places: Places,

    /// The number of keys to show, at least 1
    #[arg(short, long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    pub number: u32,

    /// The format of the result [default: text on a terminal, else tsv]
    #[arg(long, value_name = "FORMAT", value_parser = formats(&[OutputFormat::Text, OutputFormat::Tsv, OutputFormat::Json]))]
    pub format: Option<OutputFormat>,

    /// Decode each part once, as `pct split --decode` does
    #[arg(long)]
    pub decode: bool,

    #[command(flatten)]
    pub charset: PartCharset,
    #[command(flatten)]
    pub suffixes: SuffixArgs,
    #[command(flatten)]
    pub limits: Limits,

    /// Show no progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// Keep the first line of each key, in the order of the input
///
/// The key of a line is the line as `pct normalize` writes it, with the same --profile. With --field, --csv, --jsonl, --logfmt or --log, the key
/// consists of the selected values, and a record without any of them is kept. The line itself stays as it is. A line that the profile rejects, or that is
/// longer than --max-record, is kept and counted on stderr; --rejects says where and why. A line end is added to a last line that has none. The result does not depend on the
/// number of threads.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  printf '/%%7ea\\n/~a\\n' | pct dedup             /%7ea
  pct dedup --profile rfc3986-scheme crawl.txt -o unique.txt
  pct dedup --csv --column url --profile rfc3986 crawl.csv -o unique.csv
  pct dedup --profile surt-java --rejects bad.txt lists/*.txt -o unique.txt.zst
  pct dedup --profile whatwg --by hash --memory 4096 crawl.txt.zst -o unique.txt.zst")]
pub struct Dedup {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,

    /// End records with NUL instead of a newline
    #[arg(short = '0', long, help_heading = INPUT)]
    pub null: bool,

    #[command(flatten)]
    pub places: Places,

    /// The profile of the key; `pct normalize --list` describes each [default: only escapes are normalized]
    #[arg(long, value_name = "NAME", value_parser = ProfileParser, hide_possible_values = true)]
    pub profile: Option<Profile>,

    /// Compare whole keys, or fingerprints of 128 bits (xxh3), which need less memory
    ///
    /// Among 10^9 different keys, two have the same fingerprint with a probability of 1.5 in 10^21; one of their lines would be lost. Do not use
    /// fingerprints if somebody may choose URLs to collide.
    #[arg(long, value_name = "KEY", default_value = "key")]
    pub by: By,

    /// Write rejected lines to FILE, one per line: FILE:LINE:OFFSET: REASON: RECORD
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub rejects: Option<PathBuf>,

    #[command(flatten)]
    pub limits: Limits,
}

/// The default of --memory for keys, in MiB.
const MEMORY: u32 = 1024;

/// The limits of commands that compare keys.
#[derive(Debug, Args)]
pub struct Limits {
    /// Memory limit for one record, in MiB
    #[arg(long, value_name = "MIB", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=2048))]
    pub max_record: u32,

    /// The number of threads [default: one for each core, or a single one for small input]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub jobs: Option<NonZeroUsize>,
}

/// The names of the ways to compare keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    Key,
    Hash,
}

impl Top {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<TopRequest, String> {
        if !self.template.has_parts() {
            return Err(
                "the key has no {PART}: write it before the files, as in `pct top '{host}' FILE`".to_owned()
            );
        }
        let memory = self.files.memory.unwrap_or(MEMORY);
        let (delimiter, unescape) = (self.places.delimiter(), self.places.unescape());
        let selection = selection(self.places, self.quiet);
        let records = if self.null { Records::Null } else { Records::Lines };
        let get = Get::new(self.template, self.decode, self.suffixes.suffixes());
        let request = Request {
            convert: Conversion::new(Rewriting::new(get.in_charset(self.charset.charset).folded())),
            sources: self.files.sources(records),
            destination: Destination {
                place: Writes::Stdout { format: None },
                level: None,
                sync: false,
                quiet: self.quiet,
            },
            records,
            shape: Shape { only_values: !selection.is_records(), ..Shape::default() },
            selection,
            preview: None,
            exit_code: false,
            delimiter,
            unescape,
            on_malformed: None,
            on_rejected: None,
            policies: Handling::LEAVE_OUT,
            rejects: None,
            stats: None,
            max_record: self.limits.max_record,
            jobs: self.limits.jobs,
        };
        Ok(TopRequest { request, most: self.number as usize, memory })
    }
}

/// Returns the selection of the values that make the key. In a log, the target of the request is the key, unless other fields are named.
fn selection(places: Places, quiet: bool) -> Selection {
    // Several tables become one, which has one header.
    let mut selection = places.selection(true, quiet);
    if let Selection::Log(log) = &mut selection
        && log.names.is_empty()
    {
        log.names.push(FieldName::Name("target".to_owned()));
    }
    selection
}

impl Dedup {
    /// Converts the arguments to a request.
    pub fn request(self) -> DedupRequest {
        let records = if self.null { Records::Null } else { Records::Lines };
        let memory = self.files.memory.unwrap_or(MEMORY);
        let (delimiter, unescape) = (self.places.delimiter(), self.places.unescape());
        let destination = self.target.destination();
        let selection = selection(self.places, destination.quiet);
        DedupRequest {
            selection,
            delimiter,
            unescape,
            convert: match self.profile {
                Some(profile) => Conversion::new(Rewriting::new(Canonical(profile))),
                None => Conversion::new(Normalizer::new(sets::RFC3986_UNRESERVED.to_byte_set())),
            },
            has_fingerprints: self.by == By::Hash,
            sources: self.files.sources(records),
            records,
            destination,
            rejects: self.rejects,
            memory,
            max_record: self.limits.max_record,
            jobs: self.limits.jobs,
        }
    }
}
