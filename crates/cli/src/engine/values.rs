//! Records whose values are looked at one by one.

use std::io;
use std::path::PathBuf;

use super::feed::{Cut, Feed, Part};
use super::pump::{Desk, Job, Long, Seam, Sink, Threads, pass_mark, pump};
use super::rejects::Rejects;
use super::streaming::Streaming;
use crate::ground::error::{Failure, Outcome, warn};
use crate::ground::reason::Reason;
use crate::ground::records::Records;
use crate::io::files::{self, Destination};
use crate::io::input::Input;
use crate::io::names::Sources;
use crate::select::Selector;
use crate::select::csv::Ends;
use crate::select::edit::Edit;
use crate::value::handling::{Handling, OnFault};
use crate::value::policy::{Action, Around, Policy, Record, Treatment};
use crate::value::report::{Report, SHOWN, Stop};
use crate::value::stats::{Stats, StatsFormat};
use crate::value::work::Work;

/// What is wanted besides the output.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The columns of CSV.
    pub columns: Vec<String>,
    /// Whether CSV has a header.
    pub has_header: bool,
    /// Whether only the first file's header is written.
    pub one_header: bool,
    /// The file for refused values.
    pub rejects: Option<PathBuf>,
    /// A summary.
    pub stats: Option<StatsFormat>,
}

/// Does `job` to each file.
pub fn run(
    sources: &Sources,
    destination: &Destination,
    job: &Values,
    wanted: &Wanted,
    threads: Threads,
) -> Result<Outcome, Failure> {
    let create = |path| Rejects::create(path, destination.sync);
    let mut rejects = wanted.rejects.as_deref().map(create).transpose()?;
    let mut stats = Stats::default();
    let mut desk = Desk::default();
    let result = files::each(sources, destination, |inputs, output| {
        let mut seam = Seam::new(job.records);
        let mut header = Header::default();
        inputs.each(|input| {
            output.reads(input.version(), input.name())?;
            if let Some(rejects) = &rejects {
                rejects.forbid(input.version(), input.name())?;
            }
            seam.next_file();
            let sink = Sink {
                file: input.name().to_owned(),
                output: &mut *output,
                rejects: rejects.as_mut(),
                stats: &mut stats,
                lines: 0,
                seam: &mut seam,
            };
            pass(input, sink, job.clone(), wanted, &mut header, threads, &mut desk)?;
            Ok(true)
        })
    });
    // What was refused in the files that were done counts even if others failed.
    if matches!(result, Ok(_) | Err(Failure::Reported { .. })) {
        rejects.map(Rejects::commit).transpose()?;
    }
    if let Some(format) = wanted.stats {
        stats.print(format);
    }
    result
}

/// Passes one file.
fn pass(
    input: &mut Input,
    mut sink: Sink<'_>,
    mut job: Values,
    wanted: &Wanted,
    first: &mut Header,
    threads: Threads,
    desk: &mut Desk,
) -> Result<(), Failure> {
    let cut = match &job.selector {
        Selector::Table(table) => Cut::Table(table.delimiter()),
        _ => Cut::Records(job.end),
    };
    let mut feed = Feed::new(input, cut, (job.limit as usize) << 20);
    pass_mark(&mut feed, &mut sink)?;
    if let Selector::Table(table) = &mut job.selector {
        if !wanted.has_header {
            table.choose(&wanted.columns, None).map_err(Failure::Usage)?;
        } else {
            let header = feed.first_record()?;
            if header.is_empty() {
                return Ok(());
            }
            let names = header.strip_suffix(b"\n").unwrap_or(&header);
            let names = names.strip_suffix(b"\r").unwrap_or(names);
            let chosen = table.choose(&wanted.columns, Some(names));
            chosen.map_err(|message| Failure::Usage(format!("{}: {message}", feed.name())))?;
            sink.stats.bytes_in += header.len() as u64;
            sink.lines += memchr::memchr_iter(job.end, &header).count() as u64;
            if first.is_written(names, wanted.one_header, feed.name())? {
                let is_open = header.last() != Some(&job.end);
                sink.write(&header, is_open)?;
            }
        }
    }
    pump(feed, job, sink, threads, desk)
}

/// The header of the first table of an output.
#[derive(Default)]
struct Header {
    names: Option<Vec<u8>>,
    /// Whether it was said that it is written again.
    is_said: bool,
}

impl Header {
    /// Whether the header `names` of `file` is written. With `one_header`, a later one is not, and must be the same.
    fn is_written(&mut self, names: &[u8], one_header: bool, file: &str) -> Result<bool, Failure> {
        let Some(first) = &self.names else {
            self.names = Some(names.to_vec());
            return Ok(true);
        };
        if one_header {
            if first == names {
                return Ok(false);
            }
            let error =
                io::Error::other("its header is not that of the first file, so --one-header leaves it out");
            return Err(Failure::missing(file, error));
        }
        if first == names && !self.is_said {
            self.is_said = true;
            warn(format_args!(
                "{file}: the header is that of the first file, and is written again; --one-header leaves it out"
            ));
        }
        Ok(true)
    }
}

/// Looks at the values of chunks of whole records.
#[derive(Clone)]
pub struct Values {
    selector: Selector,
    treatment: Treatment,
    records: Records,
    /// What ends a record.
    end: u8,
    /// Whether `\r` before that belongs to the end.
    has_cr: bool,
    /// Whether refused values are wanted.
    rejects: bool,
    /// Whether places are wanted.
    places: bool,
    /// Whether counts are wanted.
    stats: bool,
    /// The most memory for a record, in MiB.
    limit: u32,
    whole: Option<Whole>,
    parts: Parts,
}

/// Work on stretches of whole lines at once, as long as nothing in them is refused.
#[derive(Clone)]
struct Whole {
    work: Work,
    handling: Handling,
    /// The stretches in a row in which something was refused, and how many are not tried because of that.
    refused: u32,
    pass: u32,
}

/// The most bytes of such a stretch: enough for the kernels, and not so many that one bad line makes many slow.
const STRETCH: usize = 16 * 1024;

impl Whole {
    /// Appends what becomes of `stretch` to `out`; false if something in it is refused.
    fn apply(&mut self, stretch: &[u8], out: &mut Vec<u8>) -> bool {
        if self.pass > 0 {
            self.pass -= 1;
            return false;
        }
        let is_done = self.work.apply(stretch, self.handling, out).is_ok();
        self.refused = if is_done { 0 } else { (self.refused + 1).min(4) };
        self.pass = (1 << self.refused) - 1;
        is_done
    }
}

/// What is known of a record that is worked on in parts.
#[derive(Clone, Default)]
struct Parts {
    /// Its start, to be shown.
    start: Vec<u8>,
    is_refused: bool,
    is_not_text: bool,
    has_changed: bool,
    /// What becomes of it, if it is not written part by part.
    action: Option<Action>,
    /// Its line end.
    end: Vec<u8>,
    /// The work where it cannot be cut, and the bytes whose escapes are not counted.
    stream: Streaming,
    uncounted: Vec<u8>,
}

impl Values {
    /// Does `treatment` to what `selector` finds in `records`.
    pub fn new(
        selector: Selector,
        treatment: Treatment,
        records: Records,
        wanted: &Wanted,
        limit: u32,
    ) -> Values {
        let rejects = wanted.rejects.is_some();
        Values {
            places: rejects || treatment.policies().can_fail(),
            selector,
            treatment,
            records,
            end: records.end(),
            has_cr: records == Records::Lines,
            rejects,
            stats: wanted.stats.is_some(),
            limit,
            whole: None,
            parts: Parts::default(),
        }
    }

    /// Does `work`, which is the same for lines with their ends, as long as nothing is refused. Counts need values.
    pub fn with_whole(mut self, work: Work) -> Values {
        let policies = self.treatment.policies();
        let on =
            |policy| if policy == Policy::Keep && !self.rejects { OnFault::Keep } else { OnFault::Refuse };
        let handling = Handling { malformed: on(policies.malformed), not_text: on(policies.not_text) };
        if !self.stats && !work.is_stateful() && matches!(self.selector, Selector::Line) {
            self.whole = Some(Whole { work, handling, refused: 0, pass: 0 });
        }
        self
    }

    /// Appends what becomes of a part of a value that cannot be cut before or after it.
    fn stream(&mut self, value: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report) -> Action {
        let Values { treatment, parts, stats, .. } = self;
        let stream = parts.stream.push(|| treatment.stream(), value, part, out);
        if *stats {
            parts.uncounted.extend_from_slice(value);
            // No escape is as long as this, with what must be seen after it.
            let ahead = if part.is_cut { 0 } else { 16 };
            let upto = parts.uncounted.len().saturating_sub(ahead);
            let counted = treatment.look(&parts.uncounted, upto, &mut report.stats);
            parts.uncounted.drain(..counted);
            report.stats.layers = report.stats.layers.max(stream.layers() as u64);
        }
        report.stats.invalid_utf8 = u64::from(stream.faults().not_text.is_some());
        let judged = treatment.judge(stream.faults());
        if part.is_cut {
            parts.has_changed |= stream.has_changed();
            report.too_deep = u64::from(stream.is_too_deep());
        }
        if let Some((at, reason)) = judged.refused.filter(|_| report.rejects) {
            report.refuse(0, parts.stream.relative(at, part), &reason, &parts.start);
        }
        if let Action::Stop(refusal) = &judged.action {
            let offset = parts.stream.relative(refusal.offset as u64, part);
            report.stop = Some(Stop { line: 0, offset, reason: refusal.reason.clone() });
        }
        if part.is_cut {
            parts.stream.end();
        }
        judged.action
    }

    /// The length of `record` without its end.
    fn without_end(&self, record: &[u8]) -> usize {
        match record {
            [start @ .., b'\r', end] if self.has_cr && *end == self.end => start.len(),
            [start @ .., end] if *end == self.end => start.len(),
            _ => record.len(),
        }
    }
}

impl Job for Values {
    fn work(&mut self, chunk: &[u8], _: Option<u8>, out: &mut Vec<u8>, report: &mut Report) {
        let mut ends = match &self.selector {
            Selector::Table(table) => Some(Ends::new(table.delimiter())),
            _ => None,
        };
        let mut edit = Edit::new(chunk, out);
        // Only the last one of a file has no end.
        report.is_open = chunk.last() != Some(&self.end);
        let mut start = 0;
        // Up to there each line is looked at.
        let mut until = 0;
        while start < chunk.len() {
            let rest = &chunk[start..];
            if let Some(whole) = self.whole.as_mut().filter(|_| start >= until) {
                let stretch = &rest[..rest.len().min(STRETCH)];
                let end = memchr::memrchr(self.end, stretch).map_or(rest.len(), |found| found + 1);
                if whole.apply(&rest[..end], edit.copy_to(start)) {
                    start += end;
                    edit.skip_to(start);
                    continue;
                }
                until = start + end;
            }
            let (len, has_quotes) = match &mut ends {
                None => (memchr::memchr(self.end, rest).map_or(rest.len(), |found| found + 1), false),
                Some(ends) => ends.next(rest).unwrap_or_else(|| (rest.len(), ends.has_quotes())),
            };
            let end = start + len;
            let stop = start + self.without_end(&chunk[start..end]);
            let record = Record { chunk, start, stop, end: self.end, shown: None };
            let mark = edit.mark();
            match self.selector.rewrite(record, has_quotes, &mut self.treatment, &mut edit, report) {
                Action::Write | Action::Empty => {}
                Action::Copy => edit.rewind(mark),
                Action::Drop => {
                    edit.rewind(mark);
                    edit.copy_to(start);
                    edit.skip_to(end);
                    report.stats.dropped += 1;
                    report.is_open = false;
                }
                Action::Stop(refusal) => {
                    edit.rewind(mark);
                    edit.copy_to(start);
                    report.stop(chunk, self.end, refusal);
                    return;
                }
            }
            report.stats.records += u64::from(self.stats);
            start = end;
        }
        edit.copy_to(chunk.len());
        report.stats.bytes_in += chunk.len() as u64;
        if self.places {
            report.line(chunk, self.end, chunk.len());
        }
    }

    fn long(&mut self, start: &[u8], report: &mut Report) -> Long {
        if matches!(self.selector, Selector::Line) {
            let start = if self.rejects { start[..start.len().min(SHOWN + 1)].to_vec() } else { Vec::new() };
            self.parts = Parts { start, ..Parts::default() };
            return Long::Parts { held: self.treatment.policies().withhold() };
        }
        let reason = Reason::TooLong { limit: self.limit };
        report.stats.records += 1;
        report.stats.unreadable += 1;
        if report.rejects {
            report.refuse(0, 0, &reason, start);
        }
        match self.treatment.policies().malformed {
            Policy::Drop => {
                report.stats.dropped += 1;
                Long::Skip(reason)
            }
            Policy::Fail => {
                report.stop = Some(Stop { line: 0, offset: 0, reason: reason.clone() });
                Long::Skip(reason)
            }
            Policy::Keep | Policy::Replace | Policy::Empty => Long::Copy(reason),
        }
    }

    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        self.treatment.cut(bytes)
    }

    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report) {
        let Part { is_cut, is_last, .. } = part;
        let stop = if is_last { self.without_end(bytes) } else { bytes.len() };
        let (value, end) = bytes.split_at(stop);
        let action = if is_cut && !self.parts.stream.is_open() {
            let shown = Some(self.parts.start.as_slice());
            let record = Record { chunk: bytes, start: 0, stop, end: self.end, shown };
            let action = self.treatment.part(Around::Plain, value, out, record, report, |offset| offset);
            self.parts.has_changed |= out != value;
            action
        } else {
            self.stream(value, part, out, report)
        };
        let parts = &mut self.parts;
        // It is one record, and is refused once.
        if parts.is_refused {
            report.refused.clear();
        }
        parts.is_refused |= !report.refused.is_empty();
        let stats = &mut report.stats;
        let is_not_text = stats.invalid_utf8 > 0;
        stats.invalid_utf8 = u64::from(is_not_text && !parts.is_not_text);
        parts.is_not_text |= is_not_text;
        if report.stop.is_some() {
            return;
        }
        if let Action::Stop(refusal) = action {
            report.stop(bytes, self.end, refusal);
            return;
        }
        if action != Action::Write {
            parts.action.get_or_insert(action);
        }
        stats.bytes_in += bytes.len() as u64;
        let counted = u64::from(self.stats && is_last);
        (stats.records, stats.values) = (counted, counted);
        match parts.action {
            None => {
                out.extend_from_slice(end);
                stats.changed = counted * u64::from(parts.has_changed);
            }
            Some(Action::Drop) => stats.dropped = u64::from(is_last),
            Some(_) => stats.changed = counted,
        }
        if is_last {
            parts.end = end.to_vec();
        }
        report.is_open = end.is_empty() && parts.action != Some(Action::Drop);
        if self.places {
            report.line(bytes, self.end, bytes.len());
        }
    }

    fn instead(&self, out: &mut Vec<u8>) -> bool {
        if self.parts.action == Some(Action::Empty) {
            out.extend_from_slice(self.treatment.empty());
            out.extend_from_slice(&self.parts.end);
        }
        self.parts.action.is_some()
    }

    fn report(&self) -> Report {
        Report::new(self.places, self.rejects)
    }
}
