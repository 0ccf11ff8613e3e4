//! Turns the user's options into a job, and rejects options that contradict each other. Pairs of options that always
//! exclude each other are rejected earlier, by the definitions of the arguments (clap).

mod conflicts;
mod places;

use std::io::IsTerminal;
use std::path::PathBuf;

use simdpct::ByteSet;
use simdpct_records::Form;

use crate::args::{Args, Check, Dedup, Top};
use crate::check::top;
use crate::common::error::{Failure, Outcome, warn};
use crate::common::fault::{Handling, Policy};
use crate::common::records::Records;
use crate::common::shown::shown;
use crate::convert::{Conversion, Unit};
use crate::io::files::Writes;
use crate::io::output;
use crate::print::findings::Findings;
use crate::print::preview;
use crate::run::job::{Job, Results, Spec};
use crate::run::pump::Threads;
use crate::run::{self, OutputOptions, Run};

/// The memory for keys if the user gave no limit, in MiB.
const KEYS: u32 = 1024;

/// Converts the values of the inputs by `conversion`. If `shows_controls`, a preview on a terminal has control characters as they are.
pub fn convert(args: &Args, conversion: &Conversion, shows_controls: bool) -> Result<Outcome, Failure> {
    conflicts::check(args, Some(conversion)).map_err(Failure::Usage)?;
    mention_format(args);
    let preview = args.written.has_preview().then(|| preview::Form {
        is_diff: args.written.diff,
        has_colours: output::has_colours(),
        is_escaped: !shows_controls && std::io::stdout().is_terminal(),
    });
    let options = OutputOptions {
        rejects: args.output.rejects.clone(),
        has_rejects: true,
        stats: args.written.stats,
        preview,
        exit_code: args.written.exit_code,
    };
    let results = if preview.is_some() { Results::Marked } else { Results::Records };
    let form = places::form(args, args.written.values);
    let is_stream = is_stream(args, conversion);
    let spec =
        Spec { is_stream, ..places::spec(args, conversion, form, args.policies()).map_err(Failure::Usage)? };
    let job = Job::convert(spec, results, &options);
    run::convert(&run_of(args, options), &job)
}

/// Counts the keys of URLs, and prints the most frequent ones, even if some inputs could not be read.
pub fn top(top: Top) -> Result<Outcome, Failure> {
    let conversion = top.conversion().map_err(Failure::Usage)?;
    let (number, format, has_lists) = (top.number as usize, top.format, top.template.is_list());
    let args = &top.args();
    conflicts::check_keyed(args).map_err(Failure::Usage)?;
    let is_whole = args.places.is_whole();
    let form = places::form(args, !is_whole);
    let mut spec = places::spec(args, &conversion, form, Handling::LEAVE_OUT).map_err(Failure::Usage)?;
    spec.target.mentions_logs = is_whole && !args.input.quiet;
    let mut run = run_of(args, OutputOptions::default());
    run.destination.place = Writes::Nothing;
    let (counts, read) = run::top(&run, spec, (number, key_memory(args)), has_lists)?;
    let is_empty = counts.distinct == 1 && counts.rows.iter().all(|(key, _)| key.is_empty());
    if is_empty && args.places.log.is_some() && !args.input.quiet {
        let why = "no value has a part that the template names; most targets in logs are {path} and {query}";
        warn(format_args!("every key is empty, because {why}"));
    }
    top::print(&counts.rows, counts.total, counts.distinct, format).and(read)
}

/// Keeps the first record of each key.
pub fn dedup(dedup: Dedup) -> Result<Outcome, Failure> {
    let conversion = dedup.conversion().map_err(Failure::Usage)?;
    let has_fingerprints = dedup.fingerprints;
    let args = &dedup.args();
    conflicts::check_keyed(args).map_err(Failure::Usage)?;
    let rejects = args.output.rejects.clone();
    let options = OutputOptions { rejects, has_rejects: true, ..OutputOptions::default() };
    let spec = places::spec(args, &conversion, Form::Key, Handling::LEAVE_OUT).map_err(Failure::Usage)?;
    run::dedup(&run_of(args, options), spec, has_fingerprints, key_memory(args))
}

/// Lists the findings of `pct check`.
pub fn check(check: Check) -> Result<Outcome, Failure> {
    let criteria = check.criteria().map_err(Failure::Usage)?;
    let (records, quiet) = (check.input.records(), check.input.quiet);
    let findings = Findings::new(quiet, check.format, check.files_with_findings, check.max, records.end());
    let args = &check.args();
    conflicts::check(args, None).map_err(Failure::Usage)?;
    let (target, _) = places::locate(args).map_err(Failure::Usage)?;
    let job = Job::check(target, criteria, records, args.places.max_record);
    run::check(&run_of(args, OutputOptions::default()), &job, findings)
}

/// Returns what a run with these `args` reads and writes.
fn run_of(args: &Args, options: OutputOptions) -> Run {
    let (sources, threads) = (args.input.sources(args.records()), Threads(args.places.jobs));
    Run { sources, destination: args.destination(), threads, options }
}

/// Prints a hint on a terminal that whole lines are the values, if the extension of a file means another format.
fn mention_format(args: &Args) {
    let format = |file: &PathBuf| match file.extension()?.to_str()? {
        "csv" => Some("--csv --column NAME"),
        "tsv" => Some("--tsv --column NAME"),
        "json" | "jsonl" | "ndjson" => Some("--jsonl --key NAME"),
        _ => None,
    };
    let is_lines = args.places.is_whole() && args.records() == Records::Lines && !args.input.quiet;
    let known = args.input.files.iter().find_map(|file| Some((file, format(file)?)));
    if let Some((file, option)) = known.filter(|_| is_lines && std::io::stderr().is_terminal()) {
        warn(format_args!("{}: whole lines are the values; {option} selects some", shown(file)));
    }
}

/// Returns the memory for keys, in bytes.
fn key_memory(args: &Args) -> usize {
    (args.input.memory.unwrap_or(KEYS) as usize) << 20
}

/// Reports whether the input must consist of records.
fn needs_records(args: &Args, conversion: &Conversion) -> bool {
    let policies = args.policies();
    !args.places.is_whole()
        || conversion.inner.unit() == Unit::Value
        || args.output.rejects.is_some()
        || args.written.stats.is_some()
        || args.written.has_preview()
        || args.written.only_changed
        || policies.not_text != Policy::Keep
        || ![Policy::Keep, Policy::Fail].contains(&policies.malformed)
}

/// Reports whether the input is converted as one stream of bytes, whose records may have any length.
fn is_stream(args: &Args, conversion: &Conversion) -> bool {
    let keeps_malformed = args.policies().malformed == Policy::Keep;
    keeps_malformed && conversion.inner.unit() == Unit::Byte && !needs_records(args, conversion)
}

/// Reports whether keeping the escapes of the bytes `kept` can split characters of the charset that `conversion` decodes.
fn may_garble(conversion: &Conversion, kept: ByteSet) -> bool {
    conversion.inner.decoder().is_some_and(|decoder| decoder.may_garble(kept))
}
