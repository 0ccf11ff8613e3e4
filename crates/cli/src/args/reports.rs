//! The arguments of the commands that compare keys, and of those that report on their input: top, dedup, check, audit, route.

use std::ffi::OsString;

use clap::Args as Options;
use simdpct::sets;
use simdpct_readings::{READINGS, Reading};
use simdpct_records::Spec;
use simdpct_uri::{Component, Dialect};

use super::options::{Args, DialectArg, Input, Output, Parts, Places, ProfileArg, Strict, Written};
use super::parsers::{LISTS, LOG, ONE_TEXT, READING, RULES, TABLES, choice, template_error};
use crate::check::kind::Group;
use crate::check::{audit, chain, listing, readings};
use crate::common::format::OutputFormat;
use crate::convert::parts::Normalizer;
use crate::convert::{Conversion, Escapes};
use crate::select::FieldName;
use crate::url::part::Template;
use crate::url::split::{Layout, PartOptions, PartsWriter};

/// Count the parts of URLs that a template names, and show the most frequent
///
/// Counts are exact. Keys with the same count are in the order of their bytes, with any number of threads. A missing part is empty. All
/// spellings of a host name or an IPv6 address count as one, which is shown in lower case and Punycode, or decoded with --decode.
/// The template `{query:q[]}` counts each value of the parameter, and leaves out URLs that lack it. With --log, only the URL of the request
/// counts, in W3C logs without a query that has its own column. Records that cannot be read are left out and counted on stderr.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/top.txt").trim_ascii_end(), mut_arg("html", |html| html.hide(true)))]
pub struct Top {
    /// The key, with {PART} for each part; the names are those of `pct split --parts`
    #[arg(value_parser = Template::new)]
    pub template: Template,

    /// The number of keys to show, at least 1
    #[arg(short, long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    pub number: u32,

    /// The format of the output
    ///
    /// The default is text on a terminal, and tsv elsewhere.
    #[arg(long, value_name = "FORMAT", value_parser = choice(TABLES))]
    pub format: Option<OutputFormat>,

    #[command(flatten)]
    pub parts: Parts,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub places: Places,
}

/// Keep the first line of each key, in the order of the input
///
/// The key of a line is what `pct normalize` writes for it, with the same --profile, or the parts that --by names. With --field, --csv,
/// --jsonl, --logfmt or --log, it is the selected values; a record without any is kept. JSON values that are not strings are compared by
/// their texts. Lines stay as they are. A line that the profile rejects, that has none of the parts, or is longer than --max-record, is
/// kept and counted on stderr; --rejects says where and why. A missing last line end is added. The result does not depend on the number of
/// threads. With --in-place, each file has keys of its own. Keys beyond --memory go to temporary files, which takes about three times
/// as long.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/dedup.txt").trim_ascii_end(), mut_arg("html", |html| html.hide(true)))]
pub struct Dedup {
    #[command(flatten)]
    pub profile: ProfileArg,

    /// The key of a URL, with {PART} for each part, as in `pct top`; a missing part is empty, and a URL without any is kept
    ///
    /// `{query:NAME[]}` alone is refused, because a key has one value.
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "profile", value_parser = template_of_key)]
    pub by: Option<Template>,

    /// Compare fingerprints of 128 bits (xxh3) instead of whole keys, which needs less memory
    ///
    /// Among 10^9 different keys, two have the same fingerprint with a probability of 1.5 in 10^21; one of their lines would be lost. Do not use
    /// fingerprints if somebody may choose URLs to collide.
    #[arg(long)]
    pub fingerprints: bool,

    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub output: Output,
}

/// Report suspicious and malformed escapes
///
/// Each finding is one line on standard output, FILE:LINE:OFFSET: KIND: TEXT, where OFFSET is the number of bytes in
/// the file before the finding. A summary goes to stderr.
///
/// If fields, columns or keys are selected, only these are checked. TEXT then begins with the name of the field and
/// the offset of the finding in its record: `column url at 12: %00`. In JSON, these are the members value and at.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/check.txt").trim_ascii_end())]
pub struct Check {
    /// Report only findings of these kinds
    ///
    /// The kinds about URLs are checked only if they are named here or --component is given.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', conflicts_with = "ignore")]
    pub kinds: Vec<Group>,

    /// Report findings of all kinds but these
    #[arg(
        long,
        value_name = "KIND,...",
        value_delimiter = ',',
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub ignore: Vec<Group>,

    /// Treat values as URLs, and report only findings in these components
    ///
    /// The components are scheme, userinfo, host, port, path, query and fragment. All kinds but `ambiguous` are reported
    /// unless --kinds is given.
    #[arg(long, value_name = "COMPONENT,...", value_delimiter = ',', value_parser = listing::find_component)]
    pub component: Vec<Component>,

    #[command(flatten)]
    pub dialect: DialectArg,

    /// The format of the output
    ///
    /// In JSON, each finding is an object with the members file, line, offset, kind and text, and, if values are selected, value and at.
    /// A file name that is invalid UTF-8 is an object, {"bytes":"%FF"}.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = choice(LISTS), conflicts_with = "files_with_findings")]
    pub format: OutputFormat,

    /// Write only the names of files with findings, and stop reading each file at its first finding
    #[arg(short = 'l', long)]
    pub files_with_findings: bool,

    /// Stop after N findings; with --files-with-findings, after N files
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max: Option<u64>,

    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub places: Places,
}

/// Summarise the escapes in a log or a list of URLs
///
/// One pass counts the lines that contain something malformed or suspicious, shows the first examples of each kind,
/// and draws how many escapes each line has and which bytes are escaped most often. Memory use does not depend on the
/// size of the input, and the exit code does not depend on the findings. `pct check` lists every finding.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/audit.txt").trim_ascii_end())]
pub struct Audit {
    /// The number of examples to show of each kind
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub examples: u16,

    /// The format of the output
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = choice(ONE_TEXT))]
    pub format: OutputFormat,

    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub chain: ChainArgs,
}

/// The options of `audit` about chains of servers.
#[derive(Debug, Options)]
#[command(next_help_heading = "Chains of servers")]
pub struct ChainArgs {
    /// Chain servers: each reads the text that the one before it passes on
    ///
    /// Counts the targets that the last of these servers routes differently from the first. `pct route --list` names all servers.
    /// Each line is the target of a request, unless --log is given.
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', hide_possible_values = true, value_parser = READING)]
    pub chain: Vec<&'static Reading>,

    /// Work on the URLs in a log of this format, such as `combined`, `nginx` or `auto`; --field names values
    ///
    /// Here the target of each request is taken; `pct help decode` lists the formats.
    #[arg(long, value_name = "FORMAT", value_parser = LOG, hide_possible_values = true, requires = "chain")]
    pub log: Option<Spec>,

    /// Show only targets whose route matches PATH at the last server, and not at the first, which was meant to hold the rule
    #[arg(long, value_name = "PATH", requires = "chain")]
    pub guard: Option<OsString>,

    /// The routes that the rule of --guard matches
    #[arg(long = "match", value_name = "RULE", default_value = "segment", requires = "guard", value_parser = choice(RULES))]
    pub rule: chain::Rule,

    /// Let the rule of --guard match in any case
    #[arg(long, requires = "guard")]
    pub ignore_case: bool,
}

/// Show on which path servers route a request, and what they pass on
///
/// Each server reads the path of a request in its own way. A row shows the route, which is the path that rules and locations match,
/// and the text that goes on to the next server or to the application. The readings were observed on real servers; `--list` names
/// versions and configurations. Other versions and configurations may differ, so equal routes prove nothing about them.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/route.txt").trim_ascii_end())]
pub struct Route {
    /// Targets of requests, as a request line has them after its method: /path?query
    #[arg(value_name = "TARGET", required_unless_present = "list", conflicts_with = "list")]
    pub targets: Vec<OsString>,

    /// The readings to show [default: those of 18 servers]
    #[arg(
        long, value_name = "NAME,...", value_delimiter = ',', hide_possible_values = true, value_parser = READING,
        conflicts_with = "list"
    )]
    pub reading: Vec<&'static Reading>,

    /// Chain servers: each reads the text that the one before it passes on
    #[arg(long, requires = "reading")]
    pub chain: bool,

    /// List the values of --profile or --reading, with descriptions
    ///
    /// For a reading, these are its versions, its configuration and the way in which it was observed.
    #[arg(long)]
    pub list: bool,

    /// The format of the output
    ///
    /// JSON has one line for each target, or for each reading of --list.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = choice(LISTS))]
    pub format: OutputFormat,
}

impl Top {
    /// Returns the conversion of a URL to its key, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        if self.template.items.is_empty() {
            return Err(template_error("top"));
        }
        let writer = PartsWriter::new(self.template.clone(), Layout::Key, self.parts.options()?);
        Ok(Conversion::of_urls(writer, self.parts.escapes()))
    }

    /// Returns the options that are not about the key.
    pub fn args(self) -> Args {
        keyed(self.input, self.places, Output::default())
    }
}

/// Returns the options of a command that compares keys.
fn keyed(input: Input, mut places: Places, output: Output) -> Args {
    // In a log, keys are made of the targets of requests, unless other fields are named.
    if places.log.is_some() && places.field.is_empty() && places.column.is_empty() {
        places.field.push(FieldName::Name("target".to_owned()));
    }
    // Several tables of the input become one table of the output, which has one header.
    let written = Written { one_header: true, ..Written::default() };
    Args { input, places, output, written, strict: Strict::default() }
}

/// Parses the template of a key. It must have a part, or all URLs would have one key. It cannot consist only of a list of values.
fn template_of_key(text: &str) -> Result<Template, String> {
    let template = Template::new(text)?;
    match (template.items.is_empty(), template.is_list()) {
        (false, false) => Ok(template),
        (false, true) => Err("a key has one value of a parameter, as in {query:NAME}".to_owned()),
        (true, _) => {
            Err("the key has no {PART}, as in '{host}{path}'; --fingerprints compares fingerprints of keys"
                .to_owned())
        }
    }
}

impl Dedup {
    /// Returns the conversion of a line to its key, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        if let Some(template) = &self.by {
            let mut template = template.clone();
            // Without this byte, which no URL contains, two keys with different parts could be equal.
            template.items.iter_mut().skip(1).for_each(|item| item.before.push(0x1F));
            let no_scheme = self.profile.no_scheme.no_scheme;
            let options = PartOptions { no_scheme, needs_part: true, ..PartOptions::default() };
            let writer = PartsWriter::new(template, Layout::Key, options);
            return Ok(Conversion::of_urls(writer, Escapes::Copied));
        }
        Ok(match self.profile.canonical()? {
            Some(canonical) => Conversion::of_urls(canonical, Escapes::Copied),
            None => Conversion::new(Normalizer::new(sets::RFC3986_UNRESERVED.to_byte_set())),
        })
    }

    /// Returns the options that are not about the key.
    pub fn args(self) -> Args {
        keyed(self.input, self.places, self.output)
    }
}

impl Check {
    /// Returns the options for the input.
    pub fn args(self) -> Args {
        Args { input: self.input, places: self.places, ..Args::default() }
    }

    /// Returns the criteria for the findings to report, or an error message.
    pub fn criteria(&self) -> Result<listing::Criteria, String> {
        let is_wanted = |group: &Group| {
            let is_usual = group.is_usual() || !self.component.is_empty() && *group != Group::Ambiguous;
            (self.kinds.is_empty() && is_usual || self.kinds.contains(group)) && !self.ignore.contains(group)
        };
        let wanted: Vec<_> = Group::ALL.into_iter().filter(is_wanted).collect();
        let components = &self.component;
        let can_be_found = |group: &Group| {
            components.is_empty() || components.iter().any(|component| group.can_be_in(*component))
        };
        if !wanted.iter().any(can_be_found) {
            return Err("--kinds, --ignore and --component leave no kind that could be reported".to_owned());
        }
        let has_dialect = wanted.iter().any(|group| matches!(group, Group::Illegal | Group::Needless));
        if self.dialect.dialect.is_some() && !has_dialect {
            return Err("--dialect changes only the kinds illegal and needless, which are not reported: \
                        add --kinds illegal,needless"
                .to_owned());
        }
        let dialect = self.dialect.dialect.unwrap_or(Dialect::Rfc3986);
        Ok(listing::Criteria::new(&wanted, components, dialect, self.input.records().end()))
    }
}

impl Audit {
    /// Returns the request for an audit of escapes.
    pub fn request(&self) -> audit::Request {
        let records = self.input.records();
        audit::Request {
            sources: self.input.sources(records),
            end: records.end(),
            examples: usize::from(self.examples),
            json: self.format == OutputFormat::Json,
            quiet: self.input.quiet,
        }
    }

    /// Returns the request for an audit of a chain of servers, if there is a chain, or an error message.
    pub fn chain_request(&self) -> Result<Option<chain::Request>, String> {
        let ChainArgs { chain, log, guard, rule, ignore_case } = &self.chain;
        if chain.is_empty() {
            return Ok(None);
        }
        if let Some(log) = log.and_then(|spec| spec.log) {
            chain::require_targets(log)?;
        }
        check_chain(chain)?;
        let guard = guard.clone().map(OsString::into_encoded_bytes);
        let guard = guard.map(|path| chain::Guard { path, rule: *rule, ignore_case: *ignore_case });
        Ok(Some(chain::Request { chain: chain.clone(), log: *log, guard }))
    }
}

/// Fails if the servers in `chain` are fewer than two.
fn check_chain(chain: &[&Reading]) -> Result<(), String> {
    if chain.len() < 2 {
        return Err(
            "--chain: name at least two readings, the server in front first; `pct route --list` shows all"
                .to_owned(),
        );
    }
    Ok(())
}

impl Route {
    /// Returns the request to show how servers read the targets, or an error message.
    pub fn request(self) -> Result<readings::Request, String> {
        if self.chain {
            check_chain(&self.reading)?;
        }
        let defaults = || READINGS.iter().filter(|reading| reading.is_default).collect();
        Ok(readings::Request {
            targets: self.targets.into_iter().map(OsString::into_encoded_bytes).collect(),
            readings: if self.reading.is_empty() { defaults() } else { self.reading },
            chain: self.chain,
            json: self.format == OutputFormat::Jsonl,
        })
    }
}
