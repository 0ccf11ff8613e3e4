//! Runs `pct check`: lists malformed and suspicious bytes in lines or in selected values.

use std::num::NonZeroUsize;

use simdpct_records::{Editor, Form, Sweep};
use simdpct_uri::{Component, Dialect};

use super::Target;
use super::pace::Pace;
use super::tables;
use crate::check::kind::Group;
use crate::check::listing::{AHEAD, Criteria, List, Value};
use crate::check::scanner::{State, ready};
use crate::common::error::{Failure, Outcome};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::utf8;
use crate::convert::policy::{Action, At, Record, Treat};
use crate::convert::report::Report;
use crate::convert::stats::Stats;
use crate::io::input::{Input, Inputs, OnUnreadableInput};
use crate::io::names::Sources;
use crate::io::output::Output;
use crate::print::Sink;
use crate::print::boundary::FileBoundary;
use crate::print::findings::{Findings, Next, Show};
use crate::run::pump::feed::{Chunk, Cut, Feed};
use crate::run::pump::job::{Job, Long};
use crate::run::pump::{Threads, Workspace, pump};
use crate::select::rewrite::Pass;

/// The maximum length, in bytes, of a line that is checked as a URL. Longer lines are checked only for suspicious
/// escapes.
const LONGEST: usize = 16 << 20;

/// The options of a check: the files, the kinds of findings, and the format of the list.
#[derive(Clone, Debug)]
pub struct Options {
    pub sources: Sources,
    pub records: Records,
    /// The kinds of findings to list.
    pub wanted: Vec<Group>,
    /// The components that findings must be in, if values are URLs; empty for any.
    pub components: Vec<Component>,
    /// The specification that decides which bytes need escapes.
    pub dialect: Dialect,
    /// Whether only the exit code matters, so that no findings are printed.
    pub quiet: bool,
    pub show: Show,
    /// The number of findings after which the run ends.
    pub max: Option<u64>,
    /// The memory limit for a record in which values are selected, in MiB.
    pub max_record: u32,
    /// The number of threads, if the user gave one.
    pub jobs: Option<NonZeroUsize>,
}

/// Checks the values of `target`.
pub fn run(options: &Options, target: Target) -> Result<Outcome, Failure> {
    let mut inputs = Inputs::open(&options.sources, options.quiet, true, OnUnreadableInput::Done)?;
    let mut output = Output::stdout()?;
    let mut findings = Findings::new(options.quiet, options.show, options.max, options.records.end());
    let (mut stats, mut workspace) = (Stats::default(), Workspace::default());
    let job = Checks::new(options, target);
    let passed = inputs.each(|input| {
        findings.file(input);
        let mut boundary = FileBoundary::new(options.records);
        let sink = Sink::new(&mut output, &mut stats, &mut boundary, input.name());
        let sink = Sink { findings: Some(&mut findings), ..sink };
        match pass(input, sink, job.clone(), options, &mut workspace) {
            Err(Failure::Enough) => Ok(findings.next() != Next::Nothing),
            passed => passed.map(|()| true),
        }
    });
    let read = inputs.outcome();
    // Dropping the inputs removes the progress bar, which must happen before anything is printed.
    drop(inputs);
    match passed {
        // `check` writes only findings to standard output. If the reader closed it early, there was at least one
        // finding.
        Err(Failure::ReaderGone) => return Ok(Outcome::Findings),
        Err(failure) => return Err(failure),
        // With `--quiet` only the exit code matters, and one finding decides it.
        Ok(()) if findings.settled() => return Ok(findings.outcome()),
        Ok(()) => {}
    }
    if stats.bytes_in > 0 || read.is_ok() {
        let Stats { records, bytes_in: bytes, .. } = stats;
        let unit = match (&job.target.selector, options.records) {
            (selector, _) if selector.table().is_some() => "row",
            (selector, _) if selector.is_html() => "tag",
            (_, Records::Null) => "record",
            _ => "line",
        };
        let plural = |count| if count == 1 { "" } else { "s" };
        findings.summarize(&format!("{records} {unit}{} ({bytes} byte{})", plural(records), plural(bytes)));
    }
    if read.is_ok() && !options.quiet && findings.next() == Next::More {
        tables::warn_missing(&job.target.selector, &job.target.columns, &stats)?;
    }
    read.map(|()| findings.outcome())
}

/// Passes the file `input` through `job` to `sink`.
fn pass(
    input: &mut Input,
    mut sink: Sink<'_>,
    mut job: Checks,
    options: &Options,
    workspace: &mut Workspace,
) -> Result<(), Failure> {
    let (end, limit) = (job.records.end(), (options.max_record as usize) << 20);
    let (cut, limit) = match &job.target.selector {
        selector if selector.is_html() => (Cut::Html, limit),
        // Escapes can be checked part by part, so such a line may have any length. A URL must be in memory as a
        // whole.
        selector if selector.is_line() => {
            (Cut::Records(end), if job.look.wanted.takes_urls() { LONGEST } else { 0 })
        }
        selector => (selector.table().map_or(Cut::Records(end), |table| Cut::Table(table.dialect())), limit),
    };
    let mut feed = Feed::new(input, cut, limit);
    super::pass_byte_order_mark(&mut feed, &mut sink, job.records, false)?;
    super::logs::choose(&mut job.target, &mut feed)?;
    if let Some(log) = job.target.selector.log().filter(|log| log.writer.decodes)
        && job.look.wanted.contains(Group::Unreadable)
        && !feed.peek(1)?.is_empty()
        && let Some(findings) = &mut sink.findings
    {
        let mut list = List::default();
        let text = format_args!(
            "{} writes decoded paths, so that a client can write a line: no line of this log is certain",
            log.name()
        );
        list.add(Group::Unreadable, 0, 0, text);
        findings.take(feed.name(), 0, 0, &list, sink.output)?;
    }
    let Target { selector, columns, is_sequential, .. } = &mut job.target;
    let threads = if *is_sequential { Threads::ONE } else { Threads(options.jobs) };
    tables::choose(selector, &mut feed, &mut sink, columns, &[])?;
    if !job.look.wanted.takes_urls() && selector.can_pass_by() {
        // Lines of JSON without an escape would not be parsed.
        let sweep = selector.sweep(end, false).filter(|sweep| !sweep.is_text());
        job.sweep = sweep.map(|sweep| (sweep, Pace::new()));
    }
    pump(feed, job, sink, threads, workspace)
}

/// The job of `pct check`, which lists the findings in chunks of whole records.
#[derive(Clone)]
struct Checks {
    target: Target,
    records: Records,
    look: Look,
    /// The search for escapes in many records at once, if records without an escape have no findings. It depends on the header of a
    /// table.
    sweep: Option<(Sweep, Pace)>,
    /// Whether every selected column or field has been found at least once.
    has_found_all: bool,
    /// A scratch buffer for the values that the selector writes. Its content is never used.
    scrap: Vec<u8>,
    /// The scanner's state inside a line that is too long for memory.
    state: State,
    /// The bytes of that long line that cannot be checked before more of the line is read.
    rest: Vec<u8>,
}

/// The treatment of selected values: their findings are added to the report, and the values stay unchanged.
#[derive(Clone)]
struct Look {
    wanted: Criteria,
    /// For each finding in the current record: the number of its value, or `None` if the finding is about the record
    /// itself.
    found_in: Vec<Option<usize>>,
}

impl Look {
    /// Adds a finding that says that the record is unreadable at `offset` of the chunk, if such findings are wanted.
    fn add(&mut self, record: Record<'_>, offset: usize, report: &mut Report, text: std::fmt::Arguments<'_>) {
        if self.wanted.contains(Group::Unreadable) {
            let line = report.line(record.chunk, record.end, offset);
            report.findings.add(Group::Unreadable, line, offset as i64, text);
            self.found_in.push(None);
        }
    }
}

impl Treat for Look {
    fn value(
        &mut self,
        At { index, kind, .. }: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        let from = report.findings.len();
        self.wanted.scan_value(value, kind, &mut report.findings);
        for number in from..report.findings.len() {
            let at = place(report.findings.since(number)[0].offset as usize);
            let line = report.line(record.chunk, record.end, at);
            let finding = &mut report.findings.since(number)[0];
            (finding.offset, finding.line) = (at as i64, line);
            self.found_in.push(Some(index));
        }
        out.extend_from_slice(value);
        Action::Write
    }

    fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        report.stats.unreadable += 1;
        self.add(record, refusal.offset, report, format_args!("{}", refusal.reason));
        Action::Copy
    }
}

impl Checks {
    fn new(options: &Options, target: Target) -> Checks {
        let Options { wanted, components, dialect, records, .. } = options;
        let wanted = Criteria::new(wanted, components, *dialect, records.end());
        Checks {
            target,
            records: options.records,
            state: wanted.state(),
            look: Look { wanted, found_in: Vec::new() },
            sweep: None,
            has_found_all: false,
            scrap: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Checks the selected values of a record. Returns false if the run must end after this record.
    fn record(&mut self, record: Record<'_>, report: &mut Report) -> bool {
        let Checks { target: Target { selector, .. }, look, scrap, .. } = self;
        scrap.clear();
        let from = report.findings.len();
        let mut edit = Editor::new(record.chunk, record.start, Form::Nothing, scrap);
        edit.begin(record.start..record.stop);
        let mut pass = Pass { record, treatment: look, edit: &mut edit, report };
        if let Action::Stop(refusal) = selector.rewrite(&mut pass) {
            report.stop(record.chunk, record.end, refusal);
            return false;
        }
        for (finding, index) in report.findings.since(from).iter_mut().zip(look.found_in.drain(..)) {
            let Some(index) = index else { continue };
            let (kind, name) = selector.name(index);
            finding.value = Some(Value { kind, name, at: finding.offset - record.start as i64 });
        }
        report.stats.records += 1;
        true
    }

    /// Checks the first records of `chunk` from offset `start` on. Only those whose escapes may be findings are read one by one.
    /// Returns the offset of the next record, which must be checked by itself; `None` if the run must end.
    fn pass_by(&mut self, chunk: &Chunk<'_>, mut start: usize, report: &mut Report) -> Option<usize> {
        let Some((mut sweep, mut pace)) = self.sweep.take_if(|(_, pace)| pace.may_try()) else {
            return Some(start);
        };
        let (first, end) = (start, self.records.end());
        let needs_text = self.look.wanted.contains(Group::Utf8);
        while start < chunk.bytes.len() {
            let len = sweep.next(chunk.bytes, start, pace.size(), chunk.marks());
            let records = &chunk.bytes[start..start + len];
            if len == 0 || needs_text && utf8::validate(records).is_err() {
                pace.shrink(start - first);
                break;
            }
            pace.grow();
            let mut count = memchr::memchr_iter(end, records).count() as u64;
            count += u64::from(records.last() != Some(&end));
            let mut passed = count;
            // The records before this offset are checked.
            let mut done = start;
            let (chosen, first) = sweep.chosen();
            for (index, &word) in chosen.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let at = start + index * u64::BITS as usize + word.trailing_zeros() as usize - first;
                    word &= word - 1;
                    let is_ahead = (done..start + len).contains(&at);
                    if !is_ahead || !self.look.wanted.may_find(&chunk.bytes[at..]) {
                        continue;
                    }
                    let from =
                        memchr::memrchr(end, &chunk.bytes[done..at]).map_or(done, |found| done + found + 1);
                    done = chunk.end_of(at, end);
                    let record = chunk.record(from, done, self.records);
                    passed -= 1;
                    if !self.record(record, report) {
                        return None;
                    }
                }
            }
            report.stats.records += passed;
            start += len;
            if passed < count / 2 {
                pace.pause();
                break;
            }
        }
        self.sweep = Some((sweep, pace));
        Some(start)
    }
}

impl Job for Checks {
    fn work(&mut self, chunk: Chunk<'_>, _: &mut Vec<u8>, report: &mut Report) {
        let (bytes, line_end) = (chunk.bytes, self.records.end());
        report.stats.bytes_in += bytes.len() as u64;
        if self.target.selector.is_line() {
            let lines = self.look.wanted.scan_lines(bytes, &mut report.findings);
            report.stats.records += lines;
            report.lines = lines - u64::from(bytes.last().is_some_and(|last| *last != line_end));
            return;
        }
        for (record, links) in chunk.tags() {
            self.target.selector.set_links(links);
            if !self.record(record, report) {
                return;
            }
        }
        let is_html = self.target.selector.is_html();
        let (mut start, mut number) = (if is_html { bytes.len() } else { 0 }, 0_u32);
        while start < bytes.len() {
            if self.has_found_all && self.sweep.is_some() {
                let Some(next) = self.pass_by(&chunk, start, report) else { return };
                start = next;
                if start == bytes.len() {
                    break;
                }
            }
            let end = chunk.end_of(start, line_end);
            if !self.record(chunk.record(start, end, self.records), report) {
                return;
            }
            start = end;
            // This takes as long as a record, so it is done after the first record and then rarely.
            if !self.has_found_all && number.is_multiple_of(64) {
                self.has_found_all = self.target.selector.has_found_all(&report.stats);
            }
            number += 1;
        }
        report.line(bytes, line_end, bytes.len());
    }

    fn long(&mut self, start: &[u8], reason: &Reason, report: &mut Report) -> Long {
        if self.target.selector.is_line() {
            (self.state, self.rest) = (self.look.wanted.state(), Vec::new());
            return Long::Pieces;
        }
        let record = Record { chunk: start, start: 0, stop: start.len(), end: self.records.end() };
        self.look.add(record, 0, report, format_args!("{reason}"));
        self.look.found_in.clear();
        report.stats.records += 1;
        report.stats.unreadable += 1;
        Long::Pass
    }

    fn piece(&mut self, piece: &[u8], is_last: bool, _: &mut Vec<u8>, report: &mut Report) {
        let shift = -((self.state.base() + self.rest.len() as u64) as i64);
        self.rest.extend_from_slice(piece);
        let window = &self.rest;
        let ready = if is_last { window.len() } else { ready(window, 0, AHEAD) };
        let Checks { look, state, .. } = self;
        let ends = look.wanted.scan_window(state, window, ready, shift, is_last, &mut report.findings);
        state.advance(ready);
        self.rest.drain(..ready);
        report.stats.bytes_in += piece.len() as u64;
        report.stats.records += ends;
        report.lines = u64::from(piece.last() == Some(&self.records.end()));
    }

    fn report(&self) -> Report {
        Report::new(true, false)
    }
}
