//! Records whose values are looked at one by one.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::feed::{Cut, Feed, Part};
use super::preview::{self, Preview, Show};
use super::pump::{Chunk, Desk, Job, Long, Seam, Sink, Threads, pass_mark, pump};
use super::rejects::Rejects;
use super::selection::{Columns, Places, Selected, Shape};
use super::streaming::Streaming;
use super::tables::{self, Header};
use crate::ground::error::{Failure, Outcome};
use crate::ground::fault::OnFault;
use crate::ground::reason::Reason;
use crate::ground::records::Records;
use crate::io::files::{self, Destination};
use crate::io::input::Input;
use crate::io::names::Sources;
use crate::select::Selector;
use crate::select::edit::{Edit, Form};
use crate::value::handling::Handling;
use crate::value::policy::{Action, Around, Policies, Policy, Record, Treatment};
use crate::value::report::{Report, SHOWN, Stop};
use crate::value::stats::{Stats, StatsFormat};
use crate::value::work::Work;

/// What is wanted besides the output.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The columns of CSV.
    pub columns: Columns,
    /// The names of columns for new values.
    pub into: Vec<String>,
    /// The file for refused values.
    pub rejects: Option<PathBuf>,
    /// A summary.
    pub stats: Option<StatsFormat>,
    /// What is shown instead of writing files, and whether in colours.
    pub preview: Option<(Show, bool)>,
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
    let (mut files, mut changed) = (0, 0);
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
                findings: None,
                stats: &mut stats,
                lines: 0,
                preview: None,
                seam: &mut seam,
            };
            let Some((show, has_colours)) = wanted.preview else {
                pass(input, sink, job.clone(), wanted, &mut header, threads, &mut desk)?;
                return Ok(true);
            };
            let mut preview = Preview::new(show, input.name(), has_colours);
            let sink = Sink { preview: Some(&mut preview), ..sink };
            // Each file is one by itself.
            pass(input, sink, job.clone(), wanted, &mut Header::default(), threads, &mut desk)?;
            files += 1;
            changed += u64::from(preview.finish(output)?);
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
    if result.is_ok() && !destination.quiet && wanted.preview.is_some_and(|(show, _)| show == Show::Counts) {
        preview::sum_up(changed, files);
    }
    if result.is_ok() && !destination.quiet {
        tables::tell_missing(&job.selector, &wanted.columns, &stats)?;
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
    // A preview shows lines, so they must be in memory.
    let is_shown = job.preview.is_some() && matches!(job.selector, Selector::Line);
    let limit = if is_shown { usize::MAX / 4 } else { (job.limit as usize) << 20 };
    let mut feed = Feed::new(input, cut, limit);
    let is_whole = job.form == Form::Whole;
    pass_mark(&mut feed, &mut sink, is_whole)?;
    if let Selector::Table(table) = &mut job.selector
        && let Some(header) = tables::choose(table, &mut feed, &wanted.columns, &wanted.into)?
    {
        let names = tables::names(&header);
        sink.stats.bytes_in += header.len() as u64;
        sink.lines += memchr::memchr_iter(job.end, &header).count() as u64;
        if is_whole && first.is_written(names, wanted.columns.one_header, feed.name())? {
            let new = [&table.header(names), &header[names.len()..]].concat();
            let mut out = Vec::new();
            job.show(&header, &new, &mut out);
            sink.write(&out, header.last() != Some(&job.end))?;
        }
    }
    let threads = if job.is_sequential { Threads(Some(NonZeroUsize::MIN)) } else { threads };
    pump(feed, job, sink, threads, desk)
}

/// Looks at the values of chunks of whole records.
#[derive(Clone)]
pub struct Values {
    selector: Selector,
    treatment: Treatment,
    records: Records,
    /// What ends a record.
    end: u8,
    /// Whether refused values are wanted.
    rejects: bool,
    /// Whether places are wanted.
    places: bool,
    /// Whether counts are wanted.
    stats: bool,
    /// The most memory for a record, in MiB.
    limit: u32,
    /// What is written of a record.
    form: Form,
    /// Whether only records in which something changes are written.
    only_changed: bool,
    /// Whether what a line means depends on lines before it.
    is_sequential: bool,
    /// Whether records without a "%" need not be looked at, once all that was selected has been found.
    passes_by: bool,
    has_found_all: bool,
    /// Whether lines are marked for a preview, and room for a record then.
    preview: Option<Vec<u8>>,
    whole: Option<Whole>,
    parts: Parts,
}

/// Work on stretches of whole lines at once, as long as nothing in them is refused.
#[derive(Clone)]
struct Whole {
    work: Work,
    handling: Handling,
    /// The most bytes of the next stretch.
    size: usize,
    /// The least stretches in a row in which something was refused, and how many are not tried because of that.
    refused: u32,
    pass: u32,
}

/// The bytes of such stretches: enough for the kernels, and where something is refused so few that one bad line does not
/// make many slow.
const STRETCH: (usize, usize) = (1024, 16 * 1024);

impl Whole {
    /// Appends what becomes of whole lines at the start of `rest`, which end in `end`, to `out`. Returns their length, and
    /// that of the lines after them in which something is refused, or may be.
    fn apply(&mut self, rest: &[u8], end: u8, out: &mut Vec<u8>) -> (usize, usize) {
        let (least, most) = STRETCH;
        let stretch = &rest[..rest.len().min(self.size)];
        let end_of = |bytes: &[u8]| memchr::memrchr(end, bytes).map(|found| found + 1);
        let line_at = |at: usize| memchr::memchr(end, &rest[at..]).map_or(rest.len(), |found| at + found + 1);
        let mut len = end_of(stretch).unwrap_or_else(|| line_at(0));
        if self.pass > 0 {
            self.pass -= 1;
            return (0, len);
        }
        let mut others = 0;
        while let Err(refusal) = self.work.apply(&rest[..len], self.handling, out) {
            // The lines before the one that holds it may be fine. What is cut off is refused at its end.
            let at = refusal.offset.min(len - 1);
            let clean = end_of(&rest[..at]).unwrap_or(0);
            others = line_at(at) - clean;
            self.size = (2 * clean).clamp(least, most);
            if clean < least {
                self.refused = (self.refused + 1).min(4);
                self.pass = (1 << self.refused) - 2;
                return (0, clean + others);
            }
            len = clean;
        }
        if others == 0 {
            self.size = most.min(2 * self.size);
        }
        self.refused = 0;
        (len, others)
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
    /// Does the work to what is `selected` in `records`.
    pub fn new(
        selected: Selected,
        policies: Policies,
        records: Records,
        shape: &Shape,
        wanted: &Wanted,
        limit: u32,
    ) -> Values {
        let Selected { places: Places { selector, is_sequential, .. }, work, empty, none, form } = selected;
        let (stats, rejects) = (wanted.stats.is_some(), wanted.rejects.is_some());
        let treatment = Treatment::new(work, policies, stats, rejects, empty).with_none(none);
        let is_plain = form == Form::Whole && shape.into.is_empty() && wanted.preview.is_none();
        Values {
            passes_by: is_plain && !shape.only_changed && treatment.needs_percent() && selector.can_pass_by(),
            has_found_all: false,
            selector,
            treatment,
            records,
            end: records.end(),
            rejects,
            places: rejects || policies.can_fail(),
            stats,
            limit,
            form,
            only_changed: shape.only_changed,
            is_sequential,
            preview: wanted.preview.map(|_| Vec::new()),
            whole: None,
            parts: Parts::default(),
        }
    }

    /// Appends what is written for a record that was `old` and is `new`.
    fn show(&self, old: &[u8], new: &[u8], out: &mut Vec<u8>) {
        if self.preview.is_none() {
            out.extend_from_slice(new);
        } else if old == new {
            preview::mark(preview::STAYS, old, out);
        } else {
            preview::mark(preview::GOES, old, out);
            preview::mark(preview::COMES, new, out);
        }
    }

    /// Works on one record, which ends at `end` with its line end; returns whether the run goes on.
    #[inline]
    fn record(
        &mut self,
        record: Record<'_>,
        end: usize,
        has_quotes: bool,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> bool {
        let start = record.start;
        let mark = edit.begin();
        let leaves_out;
        match self.selector.rewrite(record, has_quotes, &mut self.treatment, edit, report) {
            Action::Write | Action::Empty => {
                edit.end(end);
                leaves_out = self.only_changed && !edit.has_changed();
            }
            Action::Copy => {
                edit.rewind(mark);
                leaves_out = self.only_changed || self.form != Form::Whole;
            }
            Action::Drop => {
                leaves_out = true;
                report.stats.dropped += 1;
            }
            Action::Stop(refusal) => {
                edit.rewind(mark);
                edit.copy_to(start);
                report.stop(record.chunk, self.end, refusal);
                return false;
            }
        }
        if leaves_out {
            edit.rewind(mark);
            edit.copy_to(start);
            edit.skip_to(end);
            report.is_open &= end < record.chunk.len();
        }
        report.stats.records += u64::from(self.stats);
        true
    }

    /// Works on one record, and marks the lines that it was and those that it becomes.
    fn compare(
        &mut self,
        record: Record<'_>,
        end: usize,
        has_quotes: bool,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> bool {
        let mut new = self.preview.take().unwrap_or_default();
        new.clear();
        let edit = Edit::new(record.chunk, record.start, &mut new, self.form);
        let mut edit = edit.watching(self.only_changed);
        let goes_on = self.record(record, end, has_quotes, &mut edit, report);
        if goes_on {
            edit.copy_to(end);
        }
        self.preview = Some(Vec::new());
        if goes_on {
            self.show(&record.chunk[record.start..end], &new, out);
        }
        self.preview = Some(new);
        goes_on
    }

    /// Does `work`, which is the same for lines with their ends, as long as nothing is refused. Counts need values.
    pub fn with_whole(mut self, work: Work) -> Values {
        let policies = self.treatment.policies();
        let on =
            |policy| if policy == Policy::Keep && !self.rejects { OnFault::Keep } else { OnFault::Refuse };
        let handling = Handling { malformed: on(policies.malformed), not_text: on(policies.not_text) };
        let is_plain = self.preview.is_none() && !self.only_changed;
        if is_plain && !self.stats && work.takes_records() && matches!(self.selector, Selector::Line) {
            self.whole = Some(Whole { work, handling, size: STRETCH.1, refused: 0, pass: 0 });
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
}

impl Job for Values {
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        let Chunk { bytes: chunk, marks, .. } = chunk;
        // Otherwise a record is a line.
        let marks = Some(marks).filter(|marks| !marks.is_empty());
        let is_preview = self.preview.is_some();
        let mut edit = Edit::new(chunk, 0, out, self.form).watching(self.only_changed);
        let passes_by = self.passes_by && self.has_found_all;
        // The first "%" from the record on, or what may spell one.
        let mut percent = 0;
        // Where record after record has one, looking for it does not pay.
        let (mut dense, mut pause) = (0, 0);
        // Only the last one of a file has no end.
        report.is_open = self.form == Form::Whole && chunk.last() != Some(&self.end);
        let mut start = 0;
        // Up to there each line is looked at.
        let mut until = 0;
        while start < chunk.len() {
            if pause > 0 {
                pause -= 1;
            } else if passes_by && percent <= start {
                let rest = &chunk[start..];
                let found = match &self.selector {
                    Selector::Keys(_) | Selector::Pairs(_) => memchr::memchr2(b'%', b'\\', rest),
                    _ => memchr::memchr(b'%', rest),
                };
                let Some(found) = found else { break };
                percent = start + found + 1;
                let from = match marks {
                    None => memchr::memrchr(self.end, &rest[..found]).map_or(start, |end| start + end + 1),
                    Some(marks) => marks.start(start + found),
                };
                if from > start {
                    (start, dense) = (from, 0);
                }
                dense += 1;
                if dense == 8 {
                    (dense, pause) = (0, 64);
                }
            }
            let rest = &chunk[start..];
            if let Some(whole) = self.whole.as_mut().filter(|_| start >= until) {
                let (done, others) = whole.apply(rest, self.end, edit.copy_to(start));
                start += done;
                edit.skip_to(start);
                until = start + others;
                if done > 0 {
                    continue;
                }
            }
            let end = match marks {
                None => start + memchr::memchr(self.end, rest).map_or(rest.len(), |found| found + 1),
                Some(marks) => marks.end(start).unwrap_or(chunk.len()),
            };
            let has_quotes = marks.is_some() && memchr::memchr(b'"', &chunk[start..end]).is_some();
            if passes_by && percent > end {
                (start, dense) = (end, 0);
                continue;
            }
            let stop = start + self.records.without_end(&chunk[start..end]);
            let record = Record { chunk, start, stop, end: self.end, shown: None };
            let goes_on = if is_preview {
                let goes_on = self.compare(record, end, has_quotes, edit.output(), report);
                edit.skip_to(end);
                goes_on
            } else {
                self.record(record, end, has_quotes, &mut edit, report)
            };
            if !goes_on {
                return;
            }
            start = end;
        }
        edit.copy_to(chunk.len());
        if self.passes_by && !self.has_found_all {
            self.has_found_all = self.selector.has_found_all(&report.stats);
        }
        report.stats.bytes_in += chunk.len() as u64;
        if self.places {
            report.line(chunk, self.end, chunk.len());
        }
    }

    fn long(&mut self, start: &[u8], report: &mut Report) -> Long {
        if matches!(self.selector, Selector::Line) && !self.treatment.takes_whole_values() {
            let start = if self.rejects { start[..start.len().min(SHOWN + 1)].to_vec() } else { Vec::new() };
            self.parts = Parts { start, ..Parts::default() };
            return Long::Parts { held: self.only_changed || self.treatment.policies().withhold() };
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
            Policy::Keep | Policy::Replace | Policy::Empty
                if self.only_changed || self.form != Form::Whole =>
            {
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
        let stop = if is_last { self.records.without_end(bytes) } else { bytes.len() };
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
        self.parts.action.is_some() || (self.only_changed && !self.parts.has_changed)
    }

    fn report(&self) -> Report {
        Report::new(self.places, self.rejects)
    }
}
