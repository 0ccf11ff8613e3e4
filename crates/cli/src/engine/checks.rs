//! `pct check`: looks at lines, or at selected values, and lists what is malformed or suspicious.

use std::num::NonZeroUsize;

use simdpct_uri::Component;

use super::feed::{Cut, Feed, Part};
use super::findings::{Findings, Next, Show};
use super::pump::{Chunk, Desk, Job, Long, Seam, Sink, Threads, pass_mark, pump};
use super::selection::{Places, Selection};
use super::tables;
use crate::ground::error::{Failure, Outcome};
use crate::ground::reason::{Reason, Refusal};
use crate::ground::records::Records;
use crate::io::input::{Input, Inputs, Others};
use crate::io::names::{Names, Sources};
use crate::io::output::Output;
use crate::io::progress::Progress;
use crate::scan::finding::Value;
use crate::scan::kind::Group;
use crate::scan::listing::{AHEAD, Wanted};
use crate::scan::scanner::{State, ready};
use crate::select::Selector;
use crate::select::edit::{Edit, Form};
use crate::select::fields::Delimiter;
use crate::value::policy::{Action, At, Record, Treat};
use crate::value::report::Report;
use crate::value::stats::Stats;

/// The longest line that is looked at as a URL.
const LONGEST: usize = 16 << 20;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub sources: Sources,
    pub records: Records,
    pub selection: Selection,
    /// What separates fields or columns, if that was said.
    pub delimiter: Option<Delimiter>,
    /// Whether strings of JSON may hold `\xHH`.
    pub nginx: bool,
    /// The kinds to list.
    pub wanted: Vec<Group>,
    /// The components that findings must be in, if values are URLs; empty for any.
    pub components: Vec<Component>,
    /// Whether only the exit code matters.
    pub quiet: bool,
    /// What is written.
    pub show: Show,
    /// The most findings, if there is a limit.
    pub max: Option<u64>,
    /// The most memory for a record of which values are selected, in MiB.
    pub max_record: u32,
    /// The threads, if their number was said.
    pub jobs: Option<NonZeroUsize>,
}

/// Looks at what `places` finds.
pub fn run(request: &Request, places: Places) -> Result<Outcome, Failure> {
    let names = Names::new(&request.sources)?;
    let progress = Progress::start(names.known(), request.quiet, true);
    let mut inputs = Inputs::new(&request.sources, names, Others::Done, progress);
    let mut output = Output::stdout()?;
    let mut findings = Findings::new(request.quiet, request.show, request.max);
    let (mut stats, mut desk) = (Stats::default(), Desk::default());
    let job = Checks::new(request, &places);
    let passed = inputs.each(|input| {
        findings.file();
        let sink = Sink {
            output: &mut output,
            rejects: None,
            findings: Some(&mut findings),
            stats: &mut stats,
            file: input.name().to_owned(),
            lines: 0,
            preview: None,
            seam: &mut Seam::new(request.records),
        };
        match pass(input, sink, job.clone(), request, &places, &mut desk) {
            Err(Failure::Enough) => Ok(findings.next() != Next::Nothing),
            passed => passed.map(|()| true),
        }
    });
    let read = inputs.outcome();
    // The progress bar goes away before anything is said.
    drop(inputs);
    match passed {
        // Only findings are written, so there was one.
        Err(Failure::ReaderGone) => return Ok(Outcome::Findings),
        Err(failure) => return Err(failure),
        // Only the exit code matters, and it is known.
        Ok(()) if findings.settled() => return Ok(findings.outcome()),
        Ok(()) => {}
    }
    if stats.bytes_in > 0 || read.is_ok() {
        let Stats { records, bytes_in: bytes, .. } = stats;
        let unit = match (&job.selector, request.records) {
            (Selector::Table(_), _) => "row",
            (_, Records::Null) => "record",
            _ => "line",
        };
        let plural = |count| if count == 1 { "" } else { "s" };
        findings.summarize(&format!("{records} {unit}{} ({bytes} byte{})", plural(records), plural(bytes)));
    }
    if read.is_ok() && !request.quiet && findings.next() == Next::More {
        tables::tell_missing(&job.selector, &places.columns, &stats)?;
    }
    read.map(|()| findings.outcome())
}

/// Looks at one file.
fn pass(
    input: &mut Input,
    mut sink: Sink<'_>,
    mut job: Checks,
    request: &Request,
    places: &Places,
    desk: &mut Desk,
) -> Result<(), Failure> {
    let (cut, limit) = match &job.selector {
        Selector::Table(table) => (Cut::Table(table.delimiter()), job.limit()),
        // A line of any length can be looked at in parts, but not as a URL.
        Selector::Line if !job.look.wanted.takes_urls() => (Cut::Records(request.records.end()), 0),
        Selector::Line => (Cut::Records(request.records.end()), LONGEST),
        _ => (Cut::Records(request.records.end()), job.limit()),
    };
    let mut feed = Feed::new(input, cut, limit);
    pass_mark(&mut feed, &mut sink, false)?;
    if let Selector::Table(table) = &mut job.selector
        && let Some(header) = tables::choose(table, &mut feed, &places.columns, &[])?
    {
        sink.stats.bytes_in += header.len() as u64;
        sink.lines += memchr::memchr_iter(request.records.end(), &header).count() as u64;
    }
    let threads = if places.is_sequential { Some(NonZeroUsize::MIN) } else { request.jobs };
    pump(feed, job, sink, Threads(threads), desk)
}

/// Looks at chunks of whole records.
#[derive(Clone)]
struct Checks {
    selector: Selector,
    records: Records,
    look: Look,
    /// The most memory for a record, in MiB.
    max_record: u32,
    /// Where selected values would be written.
    scrap: Vec<u8>,
    /// How far a line has been looked at that comes in parts, and what was not looked at because too little was there.
    state: State,
    rest: Vec<u8>,
}

/// What is done to selected values: they stay as they are, and what is in them is listed.
#[derive(Clone)]
struct Look {
    wanted: Wanted,
    /// The numbers of the values in which something was found in the record at hand; `None` if it is the record itself.
    found_in: Vec<Option<usize>>,
}

impl Look {
    /// Adds that a record cannot be read, at `offset` of the chunk.
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
        At { index, .. }: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        let from = report.findings.len();
        self.wanted.look(value, &mut report.findings);
        for number in from..report.findings.len() {
            let at = place(report.findings.since(number)[0].offset as usize);
            let line = report.line(record.chunk, record.end, at);
            let finding = &mut report.findings.since(number)[0];
            (finding.offset, finding.line) = (at as i64, line);
            self.found_in.push(Some(index));
        }
        // What stays as it is need not be written.
        out.extend_from_slice(value);
        Action::Write
    }

    fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        report.stats.unreadable += 1;
        self.add(record, refusal.offset, report, format_args!("{}", refusal.reason));
        Action::Copy
    }

    fn meaningless(&mut self, record: Record<'_>, offset: usize, report: &mut Report) {
        self.add(record, offset, report, format_args!("a value in quotes with an escape that means nothing"));
    }
}

impl Checks {
    fn new(request: &Request, places: &Places) -> Checks {
        let wanted = Wanted::new(&request.wanted, &request.components, request.records.end());
        Checks {
            selector: places.selector.clone(),
            records: request.records,
            state: wanted.state(),
            look: Look { wanted, found_in: Vec::new() },
            max_record: request.max_record,
            scrap: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// The most bytes of a record of which values are selected.
    fn limit(&self) -> usize {
        (self.max_record as usize) << 20
    }

    /// Looks at the selected values of a record; returns whether the run goes on.
    fn record(&mut self, record: Record<'_>, has_quotes: bool, report: &mut Report) -> bool {
        let Checks { selector, look, scrap, .. } = self;
        scrap.clear();
        let from = report.findings.len();
        let mut edit = Edit::new(record.chunk, record.start, scrap, Form::Nothing);
        if let Action::Stop(refusal) = selector.rewrite(record, has_quotes, look, &mut edit, report) {
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
}

impl Job for Checks {
    fn work(&mut self, chunk: Chunk<'_>, _: &mut Vec<u8>, report: &mut Report) {
        let Chunk { bytes: chunk, marks, .. } = chunk;
        report.stats.bytes_in += chunk.len() as u64;
        let end_byte = self.records.end();
        if let Selector::Line = self.selector {
            let lines = self.look.wanted.look_at_lines(chunk, &mut report.findings);
            report.stats.records += lines;
            report.lines = lines - u64::from(chunk.last().is_some_and(|last| *last != end_byte));
            return;
        }
        // Otherwise a record is a line.
        let marks = Some(marks).filter(|marks| !marks.is_empty());
        let mut start = 0;
        while start < chunk.len() {
            let end = match marks {
                None => memchr::memchr(end_byte, &chunk[start..]).map(|found| start + found + 1),
                Some(marks) => marks.end(start),
            };
            let end = end.unwrap_or(chunk.len());
            let has_quotes = marks.is_some() && memchr::memchr(b'"', &chunk[start..end]).is_some();
            let stop = start + self.records.without_end(&chunk[start..end]);
            let record = Record { chunk, start, stop, end: end_byte, shown: None };
            if !self.record(record, has_quotes, report) {
                return;
            }
            start = end;
        }
        report.line(chunk, end_byte, chunk.len());
    }

    fn long(&mut self, start: &[u8], report: &mut Report) -> Long {
        if let Selector::Line = self.selector {
            (self.state, self.rest) = (self.look.wanted.state(), Vec::new());
            return Long::Parts { held: false };
        }
        let reason = Reason::TooLong { limit: self.max_record };
        let record =
            Record { chunk: start, start: 0, stop: start.len(), end: self.records.end(), shown: None };
        self.look.add(record, 0, report, format_args!("{reason}"));
        self.look.found_in.clear();
        report.stats.records += 1;
        report.stats.unreadable += 1;
        Long::Pass(reason)
    }

    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        Some(bytes.len())
    }

    fn part(&mut self, bytes: &[u8], part: Part, _: &mut Vec<u8>, report: &mut Report) {
        let shift = -((self.state.base() + self.rest.len() as u64) as i64);
        self.rest.extend_from_slice(bytes);
        let window = &self.rest;
        let ready = if part.is_last { window.len() } else { ready(window, 0, AHEAD) };
        let Checks { look, state, .. } = self;
        let ends =
            look.wanted.look_at_window(state, window, ready, shift, part.is_last, &mut report.findings);
        state.advance(ready);
        self.rest.drain(..ready);
        report.stats.bytes_in += bytes.len() as u64;
        report.stats.records += ends;
        report.lines = u64::from(bytes.last() == Some(&self.records.end()));
    }

    fn report(&self) -> Report {
        Report::new(true, false)
    }
}
