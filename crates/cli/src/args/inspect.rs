//! The arguments of the commands that report on their input: check, audit.

use std::num::NonZeroUsize;

use clap::Args;
use simdpct_uri::{Component, Dialect};

use super::files::{Files, INPUT};
use super::parsers::{formats, threads};
use super::route::ChainArgs;
use super::transform::Unreserved;
use super::values::Places;
use crate::check::kind::Group;
use crate::check::listing;
use crate::check::{audit, chain};
use crate::common::format::OutputFormat;
use crate::common::records::Records;
use crate::plan::{CheckOptions, CheckRequest, FindingsFormat};

/// Report suspicious and malformed escapes
///
/// Each finding is one line on standard output, FILE:LINE:OFFSET: KIND: TEXT, where OFFSET is the number of bytes in
/// the file before the finding. A summary goes to stderr.
///
/// If fields, columns or keys are selected, only these are checked. TEXT then begins with the name of the field and
/// the offset of the finding in its record: `column url at 12: %00`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct check access.log
  pct check --ignore dot,separator urls.txt
  pct check --kinds crlf -e '/login?next=%0d%0aSet-Cookie:%20x'
  pct check --quiet --kinds malformed urls.txt && pct decode urls.txt
  pct check --format jsonl logs/*.gz | jq -r 'select(.kind == \"nul\") | .file'
  pct check -l --kinds separator,dot lists/*.txt
  pct check --kinds illegal,host -e 'http://[::1/a b'
  pct check --log combined --kinds ambiguous access.log
  pct check --component host,port crawl.txt
  pct check --log combined --kinds dot,separator,nul access.log.gz
  pct check --csv --column url --quiet --kinds nul crawl.csv && echo clean
  pct check --jsonl --key request.url --format jsonl -j4 events.jsonl
  echo 'GET /a%2fb' | pct check --field 2     <stdin>:1:6: separator: field 2 at 6: %2f is /

Exit codes:
  0  no findings
  1  findings
  2  wrong arguments, or a file could not be read")]
pub struct Check {
    #[command(flatten)]
    pub files: Files,

    /// End records with NUL instead of a newline; with --files-with-findings, names end in NUL, too, and are not escaped
    #[arg(short = '0', long, help_heading = INPUT)]
    pub null: bool,

    #[command(flatten)]
    pub places: Places,

    /// Memory limit for one record in which values are selected, in MiB
    ///
    /// A longer record is reported as a finding, `unreadable`, with a message that says where. Whole lines may have
    /// any length, but lines of more than 16 MiB are not checked as URLs.
    #[arg(long, value_name = "MIB", help_heading = INPUT, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_record: u32,

    /// Report only findings of these kinds
    ///
    /// The kinds about URLs are checked only if they are named here or --component is given.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', conflicts_with = "ignore")]
    pub kinds: Vec<Group>,

    /// Report findings of all kinds but these
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', hide_possible_values = true)]
    pub ignore: Vec<Group>,

    /// Treat values as URLs, and report only findings in these components
    ///
    /// The components are scheme, userinfo, host, port, path, query and fragment. All kinds are reported unless
    /// --kinds is given.
    #[arg(long, value_name = "COMPONENT,...", value_delimiter = ',', value_parser = listing::find_component)]
    pub component: Vec<Component>,

    /// The specification of the kinds `illegal` and `needless` [default: rfc3986]
    ///
    /// At least one of these kinds must be reported, as with `--kinds illegal,needless`. In RFC 2396, `[` and `]` are
    /// illegal, and escapes of `! * ' ( )` are needless, too. In RFC 1738, `~` is also illegal, and its escape is not
    /// needless; those of `$ + ,` are, and reserved characters are illegal where its grammar for the scheme forbids them (`pct sets --schemes`).
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<Unreserved>,

    /// The format of the findings; in JSON, each is an object with the members file, line, offset, kind and text
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        value_parser = formats(&[OutputFormat::Text, OutputFormat::Jsonl]),
        conflicts_with = "files_with_findings"
    )]
    pub format: OutputFormat,

    /// Write only the names of files with findings, and stop reading each file at its first finding
    #[arg(short = 'l', long)]
    pub files_with_findings: bool,

    /// Stop after N findings; with --files-with-findings, after N files
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max: Option<u64>,

    /// Print nothing and stop at the first finding: the exit code is the result
    #[arg(short, long)]
    pub quiet: bool,

    /// The number of threads [default: one for each core, or a single one for small input]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub jobs: Option<NonZeroUsize>,
}

/// Summarise the escapes in a log or a list of URLs
///
/// One pass counts the lines that contain something malformed or suspicious, shows the first examples of each kind,
/// and draws how many escapes each line has and which bytes are escaped most often. Memory use does not depend on the
/// size of the input, and the exit code does not depend on the findings. `pct check` lists every finding.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct audit access.log
  pct audit --examples 10 logs/*.gz
  pct audit --format json crawl.txt.zst | jq '.findings[] | select(.lines > 0) | .kind'
  pct audit --chain caddy-2.6,tomcat-10.1 --log combined --guard /admin access.log")]
pub struct Audit {
    #[command(flatten)]
    pub files: Files,

    /// End records with NUL instead of a newline
    #[arg(short = '0', long, help_heading = INPUT)]
    pub null: bool,

    /// The number of examples to show of each kind
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub examples: u16,

    /// The format of the summary
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats(&[OutputFormat::Text, OutputFormat::Json]))]
    pub format: OutputFormat,

    /// Show no progress bar
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub chain: ChainArgs,
}

impl Check {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<CheckRequest, String> {
        let is_wanted = |group: &Group| {
            let is_usual = group.is_usual() || !self.component.is_empty() && *group != Group::Ambiguous;
            (self.kinds.is_empty() && is_usual || self.kinds.contains(group)) && !self.ignore.contains(group)
        };
        let wanted: Vec<_> = Group::ALL.into_iter().filter(is_wanted).collect();
        if self.dialect.is_some()
            && !wanted.iter().any(|group| matches!(group, Group::Illegal | Group::Needless))
        {
            return Err("--dialect changes only the kinds illegal and needless, which are not reported: \
                        add --kinds illegal,needless"
                .to_owned());
        }
        Ok(CheckRequest {
            unescape: self.places.unescape(),
            delimiter: self.places.delimiter(),
            options: CheckOptions {
                sources: self.files.sources(records(self.null)),
                records: records(self.null),
                wanted,
                components: self.component,
                dialect: match self.dialect {
                    None | Some(Unreserved::Rfc3986) => Dialect::Rfc3986,
                    Some(Unreserved::Rfc2396) => Dialect::Rfc2396,
                    Some(Unreserved::Rfc1738) => Dialect::Rfc1738,
                },
                quiet: self.quiet,
                show: match (self.format, self.files_with_findings) {
                    (OutputFormat::Jsonl, _) => FindingsFormat::Json,
                    (_, true) => FindingsFormat::Files,
                    _ => FindingsFormat::Text,
                },
                max: self.max,
                max_record: self.max_record,
                jobs: self.jobs,
            },
            selection: self.places.selection(false, self.quiet),
        })
    }
}

impl Audit {
    /// Converts the arguments to a request, and to one about a chain of servers if there is one. Returns an error message for a chain
    /// that cannot be audited.
    pub fn request(self) -> Result<(audit::Request, Option<chain::Request>), String> {
        let request = audit::Request {
            sources: self.files.sources(records(self.null)),
            end: records(self.null).end(),
            examples: usize::from(self.examples),
            json: self.format == OutputFormat::Json,
            quiet: self.quiet,
        };
        Ok((request, self.chain.request()?))
    }
}

/// Returns the record separator that `--null` chooses.
fn records(null: bool) -> Records {
    if null { Records::Null } else { Records::Lines }
}
