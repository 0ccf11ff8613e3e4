//! The arguments about readings of servers: the command route, and `audit --chain`.

use std::ffi::{OsStr, OsString};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error, ValueEnum};
use simdpct_readings::{READINGS, Reading, find};
use simdpct_records::Spec;

use super::parsers::{LogParser, formats};
use crate::check::chain::{self, Guard, Rule};
use crate::check::readings;
use crate::common::format::OutputFormat;

/// Show on which path servers route a request, and what they pass on
///
/// Each server reads the path of a request in its own way. A row shows the route, on which rules and locations match, and the text
/// that goes on to the next server or to the application. The readings come from servers that were asked; `--list` names versions
/// and configurations. Other versions and configurations may differ, so equal routes prove nothing about them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct route /public/..%2fadmin                      the default readings
  pct route --reading nginx-1.22,tomcat-10.1 '/a;x/..;/b'
  pct route --chain --reading caddy-2.6,tomcat-10.1 '/public/..;/admin'
  pct route --reading strict //a/./%7Eb             the form that all read alike
  pct route --list

Exit codes:
  0  the readings agree: they see the same segments after the remaining escapes are decoded once
  1  two readings disagree; with --chain, the first and the last one
  2  wrong arguments")]
pub struct Route {
    /// Targets of requests, as they are after the method: /path?query
    #[arg(value_name = "TARGET", required_unless_present = "list", conflicts_with = "list")]
    pub targets: Vec<OsString>,

    /// The readings to show [default: those of 18 servers]
    #[arg(long = "reading", value_name = "NAME,...", value_delimiter = ',', hide_possible_values = true, value_parser = ReadingParser, conflicts_with = "list")]
    pub readings: Vec<&'static Reading>,

    /// Apply the readings in order: each reads the text that the one before it passes on
    #[arg(long, requires = "readings")]
    pub chain: bool,

    /// List all readings with versions, configurations and the way in which they were observed
    #[arg(long)]
    pub list: bool,

    /// The format of the answers; JSON has one line for each target, or for each reading of --list
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats(&[OutputFormat::Text, OutputFormat::Jsonl]))]
    pub format: OutputFormat,
}

impl Route {
    /// Converts the arguments to a request.
    pub fn request(self) -> readings::Request {
        let defaults = || READINGS.iter().filter(|reading| reading.is_default).collect();
        readings::Request {
            targets: self.targets.into_iter().map(OsString::into_encoded_bytes).collect(),
            readings: if self.readings.is_empty() { defaults() } else { self.readings },
            chain: self.chain,
            json: self.format == OutputFormat::Jsonl,
        }
    }
}

/// The options of `audit` about chains of servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Chains of servers")]
pub struct ChainArgs {
    /// Count the targets that the last of these servers routes differently from the first; `pct route --list` names all
    ///
    /// Each line is the target of a request, unless --log is given.
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', hide_possible_values = true, value_parser = ReadingParser)]
    pub chain: Vec<&'static Reading>,

    /// Take the target from the requests of this log format; `pct help decode` lists the names
    #[arg(long, value_name = "FORMAT", value_parser = LogParser, hide_possible_values = true, requires = "chain")]
    pub log: Option<Spec>,

    /// Show only targets whose route matches PATH at the last server, and not at the first, which was meant to hold the rule
    #[arg(long, value_name = "PATH", requires = "chain")]
    pub guard: Option<OsString>,

    /// The routes that the rule of --guard matches
    #[arg(long = "match", value_name = "RULE", default_value = "segment", requires = "guard")]
    pub rule: Rule,

    /// Let the rule of --guard match in any case
    #[arg(long, requires = "guard")]
    pub ignore_case: bool,
}

impl ChainArgs {
    /// Converts the arguments to a request, if there is a chain. Returns the error message for a log format that does not have the targets
    /// as they were sent.
    pub fn request(self) -> Result<Option<chain::Request>, String> {
        if self.chain.is_empty() {
            return Ok(None);
        }
        if let Some(log) = self.log.and_then(|spec| spec.log)
            && (log.writer.decodes || ["w3c", "iis", "cdx"].contains(&log.layout.name))
        {
            if log.layout.name == "cdx" {
                return Err(
                    "--log cdx: its records are no requests; decode its URLs first, and leave --log out"
                        .to_owned(),
                );
            }
            return Err(format!(
                "--log {}: the log holds decoded paths, which do not tell which target was sent, so nothing can be said about \
                 chains; use a log with the request line, such as combined",
                log.name()
            ));
        }
        if self.chain.len() < 2 {
            return Err(
                "--chain: name at least two readings, the server in front first; `pct route --list` shows all"
                    .to_owned(),
            );
        }
        let guard = |path: OsString| Guard {
            path: path.into_encoded_bytes(),
            rule: self.rule,
            ignore_case: self.ignore_case,
        };
        Ok(Some(chain::Request { chain: self.chain, log: self.log, guard: self.guard.map(guard) }))
    }
}

impl ValueEnum for Rule {
    fn value_variants<'a>() -> &'a [Rule] {
        &[Rule::Prefix, Rule::Segment, Rule::Exact]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Rule::Prefix => PossibleValue::new("prefix").help("Routes that begin with PATH"),
            Rule::Segment => PossibleValue::new("segment").help("PATH, and the routes below it"),
            Rule::Exact => PossibleValue::new("exact").help("Only PATH"),
        })
    }
}

/// Parses the name of a reading.
#[derive(Clone)]
struct ReadingParser;

impl TypedValueParser for ReadingParser {
    type Value = &'static Reading;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<&'static Reading, Error> {
        let name = value.to_string_lossy();
        find(&name).ok_or_else(|| {
            let likeness =
                |reading: &&Reading| strsim::jaro_winkler(&name.to_ascii_lowercase(), reading.name);
            let best = READINGS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            let hint = best.filter(|best| likeness(best) >= 0.8);
            let hint = hint.map_or(String::new(), |best| format!("did you mean '{}'? ", best.name));
            let message = format!("unknown reading '{name}'; {hint}`pct route --list` names all\n");
            Error::raw(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(READINGS.iter().map(|reading| reading.name).chain(["strict"]).map(PossibleValue::new)))
    }
}
