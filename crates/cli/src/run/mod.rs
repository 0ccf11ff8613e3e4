//! Runs jobs over files: a job converts or checks the content of files, and [`mod@pump`] cuts the input into chunks,
//! processes them in several threads, and keeps their order.

pub mod job;
pub mod logs;
mod many;
pub mod pump;
pub mod tables;

use std::path::PathBuf;
use std::sync::Arc;

use simdpct_records::Escaping;

use self::job::{Job, Results, Spec};
use self::logs::LogSelection;
use self::pump::feed::{Cut, Feed};
use self::pump::{Threads, Workspace, pump};
use self::tables::Columns;
use crate::check::kind::Group;
use crate::check::listing::List;
use crate::common::error::{Failure, Outcome, warn};
use crate::common::fault::Policy;
use crate::common::format::OutputFormat;
use crate::common::records::{BYTE_ORDER_MARK, Records};
use crate::common::shown::{counted, shown};
use crate::convert::stats::Stats;
use crate::io::BLOCK;
use crate::io::files::{self, Destination};
use crate::io::input::Input;
use crate::io::names::Sources;
use crate::io::output::Output;
use crate::print::findings::{Findings, Next};
use crate::print::keys::{Counts, Distinct, Frame, Identity, Top};
use crate::print::preview::{self, Preview};
use crate::print::{Print, Sink, open_rejects};
use crate::select::Selector;
use crate::select::task::Task;

/// The selection of the values that a job processes.
#[derive(Clone)]
pub struct Target {
    pub selector: Selector,
    /// The columns to find in the header of each table. Empty unless the selector selects from tables.
    pub columns: Columns,
    /// The selected values of a log, if the first lines of each file determine its format.
    pub auto: Option<LogSelection>,
    /// Whether a message names a file that seems to be a log, although its whole lines are the values.
    pub mentions_logs: bool,
}

/// The additional outputs of a job, besides its result.
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// The file for rejected values.
    pub rejects: Option<PathBuf>,
    /// Whether the command can write a file for rejected values.
    pub has_rejects: bool,
    /// The format of the statistics that are printed at the end of the run; `None` if they are not printed.
    pub stats: Option<OutputFormat>,
    /// The form of the preview that replaces the output, if there is one.
    pub preview: Option<preview::Form>,
    /// Whether the exit code says that a file would change.
    pub exit_code: bool,
}

/// The input and the output of a run, and its threads.
pub struct Run {
    pub sources: Sources,
    pub destination: Destination,
    pub threads: Threads,
    pub options: OutputOptions,
}

/// Runs `job` on each file; `print` handles the results. Returns the outcome, and the counts of the run.
fn pass_all(run: &Run, job: &Job, print: &mut Print) -> Result<(Result<Outcome, Failure>, Stats), Failure> {
    let Run { sources, destination, threads, options } = run;
    let create = |path| open_rejects(path, destination.sync);
    let mut rejects = options.rejects.as_deref().map(create).transpose()?;
    let (mut stats, mut workspace, mut has_read) = (Stats::default(), Workspace::default(), false);
    let result = files::each(sources, destination, |inputs, output| {
        if let Print::Dedup(distinct) = print {
            // The keys of a file that failed are not those of the next file.
            distinct.clear();
        }
        let mut sink = Sink::new(output, &mut stats, rejects.as_mut(), print, job.records);
        inputs.each(|input| {
            sink.next_file(input)?;
            let mut job = job.clone();
            let passed = begin(input, &mut sink, &mut job).and_then(|feed| {
                job.choose_many();
                // Only one thread can work if the meaning of a record depends on earlier records.
                let threads = if job.target.selector.is_sequential() { Threads::ONE } else { *threads };
                pump(feed, job, &mut sink, threads, &mut workspace)
            });
            has_read |= passed.is_ok();
            match (passed, &mut *sink.print) {
                (Err(Failure::Enough), Print::Findings(findings)) => Ok(findings.next() != Next::Nothing),
                (Ok(()), Print::Preview(preview)) => preview.finish(sink.output).map(|()| true),
                (passed, _) => passed.map(|()| true),
            }
        })?;
        if let Print::Dedup(distinct) = sink.print {
            // Lines are collected, so that there is no system call for each line.
            let mut lines = Vec::new();
            distinct.finish(|line| {
                lines.extend_from_slice(line);
                if lines.len() >= BLOCK {
                    sink.output.write(&std::mem::take(&mut lines))?;
                }
                Ok(())
            })?;
            sink.output.write(&lines)?;
        }
        Ok(())
    });
    // The list belongs to the inputs that were converted, even if some failed. If all failed, the old list stays.
    if result.is_ok() || has_read && matches!(result, Err(Failure::Reported { .. })) {
        rejects.map(Output::commit).transpose()?;
    }
    if let Some(format) = options.stats {
        stats.print(format);
    }
    Ok((result, stats))
}

/// Converts values by `job`.
pub fn convert(run: &Run, job: &Job) -> Result<Outcome, Failure> {
    let Run { destination, options, .. } = run;
    let mut print = match options.preview {
        Some(form) => Print::Preview(Box::new(Preview::new(form))),
        None => Print::Result,
    };
    let (result, stats) = pass_all(run, job, &mut print)?;
    if options.exit_code && matches!(result, Err(Failure::ReaderGone)) {
        return reader_gone();
    }
    let mut outcome = result?;
    if let Print::Preview(preview) = print {
        if !destination.quiet {
            preview.print_total();
        }
        if options.exit_code && preview.has_changes() {
            outcome = Outcome::Findings;
        }
    }
    warn_about(job, &stats, run);
    Ok(outcome)
}

/// Returns the outcome of a run that writes only findings or changes, after a reader has closed the output: at least
/// one was found. An error that was printed before decides the exit code.
fn reader_gone() -> Result<Outcome, Failure> {
    match Failure::ReaderGone.report() {
        0 => Ok(Outcome::Findings),
        code => Err(Failure::Reported { code }),
    }
}

/// Counts the values of `spec`, or their words if `has_lists`, in up to `memory` bytes. Returns the most frequent ones,
/// at most `most`, and the outcome of the run.
pub fn top(
    run: &Run,
    spec: Spec,
    (most, memory): (usize, usize),
    has_lists: bool,
) -> Result<(Top, Result<Outcome, Failure>), Failure> {
    let job = Job::convert(spec, Results::Counted, &run.options);
    let mut print = Print::Top(Arc::new(Counts::new(memory, job.records, has_lists)));
    let (result, stats) = pass_all(run, &job, &mut print)?;
    let Print::Top(counts) = print else { return Err(Failure::Enough) };
    let Some(counts) = Arc::into_inner(counts) else { return Err(Failure::Enough) };
    match result {
        Ok(_) => warn_about(&job, &stats, run),
        // The counts are those of the files that could be read.
        Err(Failure::Reported { .. }) => {}
        Err(failure) => return Err(failure),
    }
    Ok((counts.top(most)?, result))
}
/// Writes the first record with each key. A key consists of the values that `spec` describes, or is their fingerprint
/// if `has_fingerprints` is set. Keys take up to `memory` bytes.
pub fn dedup(run: &Run, spec: Spec, has_fingerprints: bool, memory: usize) -> Result<Outcome, Failure> {
    let identity = Identity::new(has_fingerprints);
    let job = Job::convert(spec, Results::Keyed(identity.clone(), Frame::default()), &run.options);
    let mut print = Print::Dedup(Box::new(Distinct::new(memory, identity)));
    let (result, stats) = pass_all(run, &job, &mut print)?;
    let outcome = result?;
    warn_about(&job, &stats, run);
    Ok(outcome)
}

/// Lists the `findings` of `job`, a check.
pub fn check(run: &Run, job: &Job, findings: Findings) -> Result<Outcome, Failure> {
    let mut print = Print::Findings(Box::new(findings));
    let (result, stats) = pass_all(run, job, &mut print)?;
    let Print::Findings(findings) = print else { return result };
    match result {
        Err(Failure::ReaderGone) => return reader_gone(),
        Ok(_) | Err(Failure::Reported { .. }) => {}
        Err(failure) => return Err(failure),
    }
    // With `--quiet` only the exit code matters. One finding decides it, unless a file before it could not be read.
    if findings.settled() {
        return result.map(|_| findings.outcome());
    }
    let selector = &job.target.selector;
    if stats.bytes_in > 0 || result.is_ok() {
        let unit = match job.records {
            _ if selector.table().is_some() => "row",
            _ if selector.is_html() => "tag",
            Records::Null => "record",
            _ => "line",
        };
        let (count, bytes) = (counted(stats.records, unit), counted(stats.bytes_in, "byte"));
        findings.summarize(&format!("{count} ({bytes})"));
    }
    if result.is_ok() && !run.destination.quiet && findings.next() != Next::Nothing {
        // If the rest of a file was not needed, it may have the places that are missing.
        if !findings.has_skipped {
            warn_missing(selector, &stats);
        }
        let outcome = ["is not checked", "are not checked"];
        // If no line is JSON, there is a message with the count already.
        let is_told = job.lists_unreadable() || selector.is_json() && !stats.searched;
        warn_count(if is_told { 0 } else { stats.unreadable }, UNREADABLE, outcome, &run.options);
    }
    result.map(|_| findings.outcome())
}

/// Starts to read the file `input` for `job`: finds the columns of a table, and writes its header to `sink`.
fn begin<'i>(input: &'i mut Input, sink: &mut Sink<'_>, job: &mut Job) -> Result<Feed<'i>, Failure> {
    let (end, mut limit) = (job.records.end(), (job.max_record as usize) << 20);
    let cut = match &job.target.selector {
        selector if selector.is_html() => Cut::Html,
        _ if job.takes_blocks() => Cut::Blocks,
        _ if job.records == Records::Raw => Cut::Never,
        selector => selector.table().map_or(Cut::Records(end), |table| Cut::Table(table.dialect())),
    };
    if let Task::Check(check) = &job.task
        && job.target.selector.is_line()
    {
        // Escapes can be checked part by part, so a line may have any length. A URL must be in memory as a whole.
        limit = if check.wanted.takes_urls() { limit.max(LONGEST) } else { 0 };
    }
    if job.takes_blocks() {
        limit = usize::MAX;
    }
    let mut feed = Feed::new(input, cut, limit);
    let is_whole = job.writes_records();
    // In a file of lines, a byte order mark is not part of a value. Otherwise, it is part of the first record.
    if job.records == Records::Lines && !feed.input.is_argument() && feed.strip(BYTE_ORDER_MARK)? {
        sink.pass_byte_order_mark(is_whole)?;
    }
    logs::choose(&mut job.target, &mut feed)?;
    if let Some(log) = job.target.selector.log().filter(|log| log.writer.decodes)
        && job.lists_unreadable()
        && !feed.peek(1)?.is_empty()
        && let Print::Findings(findings) = sink.print
    {
        let mut list = List::default();
        let text = format_args!(
            "{} writes decoded paths, so that a client can write a line: no line of this log is certain",
            log.name()
        );
        list.add(Group::Unreadable, 0, 0, text);
        findings.take(feed.name(), 0, 0, &list, sink.output)?;
    }
    tables::begin(job, &mut feed, sink)?;
    Ok(feed)
}

/// The maximum length, in bytes, of a line that is checked as a URL, unless the user allows longer records. Longer lines are
/// checked only for suspicious escapes.
const LONGEST: usize = 16 << 20;

/// The words after the number of unreadable records in a warning: for one record, and for several.
const UNREADABLE: [&str; 2] = ["record is unreadable", "records are unreadable"];

/// Warns about selected fields, columns and keys that no file contains, according to the statistics of all files.
fn warn_missing(selector: &Selector, stats: &Stats) {
    for message in selector.missing(stats) {
        warn(format_args!("{message}"));
    }
}

/// The messages for a value that the conversion rejects, and for several.
const REJECTED: [&str; 2] = ["value was rejected", "values were rejected"];

/// The words for values and records that are not written.
const LEFT_OUT: [&str; 2] = ["is left out", "are left out"];

/// Warns about selected fields, columns and keys that no file has, and about values and records that were rejected,
/// unreadable or left out. Without a warning, the user would think that everything was converted. If `quiet`, warns
/// only about values and records that are lost or could not be read.
fn warn_about(job: &Job, stats: &Stats, run: &Run) {
    let (options, quiet) = (&run.options, run.destination.quiet);
    let selector = &job.target.selector;
    if !quiet {
        warn_missing(selector, stats);
    }
    let Task::Convert(treatment) = &job.task else { return };
    if let Some(advice) = treatment.convert.inner.advice().filter(|_| !quiet) {
        warn(format_args!("{advice}"));
    }
    // If no line is JSON, there is a message with the count already. Statistics have all counts.
    if options.stats.is_some() || !quiet && !stats.searched && selector.is_json() {
        return;
    }
    let policies = treatment.policies;
    let is_dropped = policies.rejected == Policy::Drop;
    let others = if is_dropped { stats.rejected + stats.unreadable } else { 0 };
    let faults = |noun: &str, policy: Policy| {
        let fault = match [policies.malformed, policies.not_text].map(|other| other == policy) {
            [true, true] => "a malformed escape or invalid bytes",
            [true, false] => "a malformed escape",
            _ => "invalid bytes",
        };
        [format!("{noun} has {fault}"), format!("{noun}s have {fault}")]
    };
    let (dropped, emptied) = (faults("record", Policy::Drop), faults("value", Policy::Empty));
    let [values, mut records] = [treatment.value_policies().rejected, policies.rejected]
        .map(|policy| if job.is_keyed() { Policy::Keep } else { policy });
    if records == Policy::Keep && !job.writes_records() && !selector.is_unescaped_line() {
        // Values that cannot be read cannot be written alone.
        records = Policy::Drop;
    }
    // Records that have messages of their own are not counted again.
    let told = stats.mentioned + stats.clashes + stats.partial + stats.uncertain;
    let unreadable = stats.unreadable.saturating_sub(told);
    let values_unreadable = ["value is unreadable", "values are unreadable"];
    let uncertain = match records {
        Policy::Null if job.writes_records() => Policy::Keep,
        Policy::Null => Policy::Drop,
        policy => policy,
    };
    for (count, policy, what) in [
        (stats.dropped.saturating_sub(others), Policy::Drop, dropped.each_ref().map(String::as_str)),
        (stats.emptied, Policy::Empty, emptied.each_ref().map(String::as_str)),
        (stats.rejected, values, REJECTED),
        (unreadable, records, UNREADABLE),
        (stats.partial, records, values_unreadable),
        (stats.uncertain, uncertain, values_unreadable),
    ] {
        let outcome = match policy {
            Policy::Fail => continue,
            Policy::Keep if quiet && what == REJECTED && !job.only_changed => continue,
            // The record with this value is written if another of its values changes.
            Policy::Keep if job.only_changed && what != UNREADABLE => {
                ["counts as unchanged", "count as unchanged"]
            }
            Policy::Keep if job.only_changed => LEFT_OUT,
            Policy::Keep => ["stays unchanged", "stay unchanged"],
            Policy::Drop => LEFT_OUT,
            _ if what != UNREADABLE && treatment.empty == b"-" => ["\"-\" is written instead"; 2],
            _ if what != UNREADABLE && job.writes_records() && selector.is_json_log() => {
                ["nothing or \"-\" is written instead"; 2]
            }
            Policy::Empty if treatment.empty.is_empty() => ["nothing is written instead"; 2],
            _ => ["nothing is written instead, or null in JSON"; 2],
        };
        warn_count(count, what, outcome, options);
    }
    if stats.uncertain > 0 && !quiet && selector.log().is_some_and(|log| log.escaping() == Escaping::Unknown)
    {
        warn(format_args!(
            "several servers write this format, each in its own way: more values can be read if --log names the server, such \
             as nginx"
        ));
    }
}

/// Prints that `count` records or values are `what`, with their `outcome`, unless `count` is 0. `what` and `outcome`
/// each have a text for one and a text for several.
fn warn_count(count: u64, what: [&str; 2], outcome: [&str; 2], options: &OutputOptions) {
    let reasons = match &options.rejects {
        Some(path) => format!("{} lists the reasons", shown(path)),
        None if options.has_rejects => "--rejects FILE lists the reasons".to_owned(),
        None => "`pct check --kinds unreadable` with the same input options lists the reasons".to_owned(),
    };
    let number = usize::from(count != 1);
    if count > 0 {
        warn(format_args!("{count} {}, and {}; {reasons}", what[number], outcome[number]));
    }
}
