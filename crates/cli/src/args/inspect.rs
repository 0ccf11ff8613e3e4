//! The verbs that look: check, audit.

use std::num::NonZeroUsize;

use clap::Args;
use simdpct_uri::Component;

use super::files::{Files, INPUT};
use super::values::Places;
use crate::engine::plan::{CheckOptions, CheckRequest, FindingsFormat};
use crate::ground::records::Records;
use crate::inspect::audit;
use crate::scan::kind::Group;
use crate::scan::listing;
use crate::select::logs::Log;

/// Report suspicious and malformed escapes
///
/// Each finding is one line on standard output, FILE:LINE:OFFSET: KIND: TEXT, where OFFSET is the number of bytes
/// of the file before it. A summary goes to stderr.
///
/// If fields, columns or keys are selected, only these are looked at, and TEXT begins with which one it is and how many bytes of
/// its record are before the finding: `column url at 12: %00`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct check access.log
  pct check --ignore dot,separator urls.txt
  pct check --quiet --only malformed urls.txt && pct decode urls.txt
  pct check --json logs/*.gz | jq -r 'select(.kind == \"nul\") | .file'
  pct check -l --only separator,dot lists/*.txt
  pct check --only illegal,host -e 'http://[::1/a b'
  pct check --component host,port crawl.txt
  pct check --log combined --only dot,separator,nul access.log.gz
  pct check --csv --column url --quiet --only nul crawl.csv && echo clean
  pct check --jsonl --key request.url --json -j4 events.jsonl
  echo 'GET /a%2fb' | pct check --field 2     <stdin>:1:6: separator: field 2 at 6: %2f is /

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

    #[command(flatten)]
    pub places: Places,

    /// The most memory for one record of which values are selected, in MiB
    ///
    /// A longer one is a finding, `unreadable`, and a message says where. Whole lines may be of any length, but one of more
    /// than 16 MiB is not looked at as a URL.
    #[arg(long, value_name = "MIB", help_heading = INPUT, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_record: u32,

    /// Report only these kinds
    ///
    /// Those about URLs are looked for only if they are named here, or with --component.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', conflicts_with = "ignore")]
    pub only: Vec<Group>,

    /// Report all but these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub ignore: Vec<Group>,

    /// Values are URLs: report only what is in these components of them
    ///
    /// scheme, userinfo, host, port, path, query, fragment. Without --only, all kinds.
    #[arg(long, value_name = "COMPONENT,...", value_delimiter = ',', value_parser = listing::find_component)]
    pub component: Vec<Component>,

    /// Write each finding as a line of JSON: file, line, offset, kind, text
    #[arg(long, conflicts_with = "files_with_findings")]
    pub json: bool,

    /// Write only the names of files with findings, and read no more of a file than up to its first
    #[arg(short = 'l', long)]
    pub files_with_findings: bool,

    /// Stop after N findings; with --files-with-findings, after N files
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max: Option<u64>,

    /// Print nothing, and stop at the first finding: the exit code says it all
    #[arg(short, long)]
    pub quiet: bool,

    /// Use N threads [default: one for each core, and a single one while the input is small]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
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

impl Check {
    /// What is asked for.
    pub fn request(self) -> CheckRequest {
        let is_wanted = |group: &Group| {
            let is_usual = group.is_usual() || !self.component.is_empty();
            (self.only.is_empty() && is_usual || self.only.contains(group)) && !self.ignore.contains(group)
        };
        CheckRequest {
            nginx: self.places.log.is_some_and(Log::is_nginx),
            delimiter: self.places.delimiter(),
            options: CheckOptions {
                sources: self.files.sources(records(self.null)),
                records: records(self.null),
                wanted: Group::ALL.into_iter().filter(is_wanted).collect(),
                components: self.component,
                quiet: self.quiet,
                show: match (self.json, self.files_with_findings) {
                    (true, _) => FindingsFormat::Json,
                    (_, true) => FindingsFormat::Files,
                    _ => FindingsFormat::Text,
                },
                max: self.max,
                max_record: self.max_record,
                jobs: self.jobs,
            },
            selection: self.places.selection(false),
        }
    }
}

impl Audit {
    /// What is asked for.
    pub fn request(self) -> audit::Request {
        audit::Request {
            sources: self.files.sources(records(self.null)),
            end: records(self.null).end(),
            examples: usize::from(self.examples),
            json: self.json,
            quiet: self.quiet,
        }
    }
}

/// What separates records.
fn records(null: bool) -> Records {
    if null { Records::Null } else { Records::Lines }
}
