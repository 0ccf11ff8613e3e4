//! Converts the selected values of records, one by one.

mod batch;
mod fields;
mod parts;
mod skip;

use std::ops::Range;

use simdpct::MalformedCause;

use self::batch::LineBatch;
use self::fields::FieldBatch;
use self::parts::{Needs, Parts};
use self::skip::EscapeSearch;
use super::tables::{self, Header};
use super::{Account, OutputOptions, Target};
use crate::engine::pump::feed::{Chunk, Cut, Feed, Part};
use crate::engine::pump::job::{Job, Long};
use crate::engine::pump::{Threads, Workspace, pump};
use crate::engine::sink::Sink;
use crate::engine::sink::boundary::FileBoundary;
use crate::engine::sink::keys::{Frame, Identity};
use crate::engine::sink::preview::{self, Preview, Show};
use crate::ground::error::{Failure, Outcome, warn};
use crate::ground::reason::{Reason, Refusal};
use crate::ground::records::Records;
use crate::io::BLOCK;
use crate::io::files::{self, Destination};
use crate::io::input::Input;
use crate::io::names::Sources;
use crate::select::Selector;
use crate::select::csv::{Line, LongRow};
use crate::select::edit::{Edit, Form};
use crate::select::pass::Pass;
use crate::value::policy::{Action, OnRejected, Policies, Record, Treat, Treatment};
use crate::value::report::{OpenQuote, Report, Stop};
use crate::value::work::{Work, Works};

/// The size of a chunk of records in which values are selected, in bytes. Most of the time for such a chunk can be reading and
/// writing, and fewer calls of the system for that are faster. The chunk, its result and its marks fit in the second-level cache.
const RECORDS_BLOCK: usize = 4 * BLOCK;

/// The selection of values in records, and the conversion of these values.
pub struct Selected {
    pub target: Target,
    /// The conversions of values for the syntaxes around them.
    pub works: Works,
    /// The text that is written for a value that the policy `empty` replaces.
    pub empty: &'static [u8],
    /// The text that is written for a missing record.
    pub null: &'static [u8],
    /// The value that means "no value", such as a hyphen in logs; otherwise empty.
    pub none: &'static [u8],
    /// The part of each record that is written: all of it, or only the selected values.
    pub form: Form,
}

/// The options of a job that converts values.
pub struct Spec {
    pub selected: Selected,
    /// The conversion of many lines at once, which is possible if each line is one value.
    pub lines: Work,
    /// The names of the new columns or keys for converted values. If empty, converted values replace the old ones.
    pub into: Vec<String>,
    /// Whether only changed records are written.
    pub only_changed: bool,
    pub policies: Policies,
    pub records: Records,
    /// The memory limit for a record, in MiB.
    pub max_record: u32,
}

/// Runs `job` on each file.
pub fn run(
    sources: &Sources,
    destination: &Destination,
    job: &Values,
    options: &OutputOptions,
    threads: Threads,
) -> Result<Outcome, Failure> {
    let mut account = Account::open(options, destination.sync)?;
    let (mut files, mut changed) = (0, 0);
    let mut workspace = Workspace::default();
    let result = files::each(sources, destination, |inputs, output| {
        let mut boundary = FileBoundary::new(job.needs.records);
        let mut header = Header::default();
        inputs.each(|input| {
            account.admit(input, output)?;
            let Account { rejects, stats, .. } = &mut account;
            let sink = Sink::new(output, stats, &mut boundary, input.name());
            let mut open_quotes = Vec::new();
            let sink = Sink { rejects: rejects.as_mut(), open_quotes: Some(&mut open_quotes), ..sink };
            let Some((show, has_colours)) = options.preview else {
                pass(input, sink, job.clone(), &mut header, threads, &mut workspace)?;
                warn_open(&open_quotes, input, destination.quiet);
                return Ok(true);
            };
            let mut preview = Preview::new(show, input.path(), has_colours);
            let sink = Sink { preview: Some(&mut preview), ..sink };
            // A preview shows each file separately, so no file repeats the header of another.
            pass(input, sink, job.clone(), &mut Header::default(), threads, &mut workspace)?;
            warn_open(&open_quotes, input, destination.quiet);
            files += 1;
            changed += u64::from(preview.finish(output)?);
            Ok(true)
        })
    });
    let stats = account.close(&result)?;
    if result.is_ok() && !destination.quiet {
        if options.preview.is_some_and(|(show, _)| show == Show::Counts) {
            preview::print_total(changed, files);
        }
        tables::warn_missing(&job.target.selector, &job.target.columns, &stats)?;
        // If no line is JSON, there is a message with the count already.
        if stats.searched || !job.target.selector.is_json() {
            super::warn_faulty(&stats, &job.treatment, options);
        }
    }
    let would_change = options.exit_code && changed > 0;
    result.map(|outcome| if would_change { Outcome::Findings } else { outcome })
}

/// Warns about the rows of `input` that were not converted because of `quotes`, unless `quiet`.
fn warn_open(quotes: &[OpenQuote], input: &Input, quiet: bool) {
    for OpenQuote { first, last, is_last, .. } in quotes.iter().filter(|_| !quiet) {
        // Only the lines of inputs that cannot be read again were counted.
        let line = |(line, offset): (u64, u64)| 1 + input.count_lines(offset).unwrap_or(line);
        let until = if *is_last { "the end".to_owned() } else { format!("line {}", line(*last)) };
        let (file, number, offset, reason) =
            (input.name(), line(*first), first.1, Reason::OpenQuote { limit: None });
        warn(format_args!(
            "{file}:{number}: offset {offset}: {reason}, and no row from this one to {until} is converted"
        ));
    }
}

/// Starts to read the file `input` for `job`: finds the columns of a table, and writes its header to `sink`. `first` keeps the header of
/// the first table of the output.
pub fn begin<'i>(
    input: &'i mut Input,
    sink: &mut Sink<'_>,
    job: &mut Values,
    first: &mut Header,
) -> Result<Feed<'i>, Failure> {
    let end = job.needs.records.end();
    // The line of a quote that is not closed is counted when it is needed, if the input can be read again.
    job.needs.places |= matches!(job.target.selector, Selector::Table(_)) && input.count_lines(0).is_none();
    let cut = match &job.target.selector {
        Selector::Table(table) => Cut::Table(table.delimiter()),
        Selector::Html(_) => Cut::Html,
        _ => Cut::Records(end),
    };
    let mut feed = Feed::new(input, cut, (job.max_record as usize) << 20);
    // Values that are counted are not written.
    let is_whole = job.form == Form::Key || job.form == Form::Whole && sink.keys.is_none();
    super::pass_byte_order_mark(&mut feed, sink, job.needs.records, is_whole)?;
    super::logs::choose(&mut job.target, &mut feed)?;
    let Target { selector, columns, .. } = &mut job.target;
    if let Selector::Table(table) = selector
        && let Some(header) = tables::choose(table, &mut feed, sink, columns, &job.into)?
    {
        let names = tables::names(&header);
        if is_whole && first.is_written(table.cells(names), columns.one_header, feed.name())? {
            let new = [&table.header(names), &header[names.len()..]].concat();
            let mut out = Vec::new();
            job.show(&header, &new, &mut out);
            sink.write(&out, header.last() != Some(&end))?;
        }
    }
    Ok(feed)
}

/// Passes the file `input` through `job` to `sink`. `first` keeps the header of the first table of the output.
pub fn pass(
    input: &mut Input,
    mut sink: Sink<'_>,
    mut job: Values,
    first: &mut Header,
    threads: Threads,
    workspace: &mut Workspace,
) -> Result<(), Failure> {
    let feed = begin(input, &mut sink, &mut job, first)?;
    let (end, threads) = (job.needs.records.end(), job.threads(threads));
    if job.skips {
        let is_new = !job.into.is_empty();
        job.fields = FieldBatch::new(&job.target.selector, &job.treatment, end, is_new);
        // If there is a new value, no record may be copied.
        job.skips = job.fields.is_some() || !is_new;
    }
    pump(feed, job, sink, threads, workspace)
}

/// The job that converts the selected values in chunks of whole records.
#[derive(Clone)]
pub struct Values {
    target: Target,
    treatment: Treatment,
    needs: Needs,
    /// The part of each record that is written: all of it, or only the selected values.
    form: Form,
    /// The names of the new columns or keys for converted values. If empty, converted values replace the old ones.
    into: Vec<String>,
    only_changed: bool,
    /// The memory limit for a record, in MiB.
    max_record: u32,
    /// Whether the output is a preview, in which each line has a mark.
    is_preview: bool,
    /// A buffer for the converted record of a preview.
    new: Vec<u8>,
    /// Whether records without an escape need not be parsed, once every selected place has been found.
    skips: bool,
    /// Whether every selected column, field or key has been found at least once.
    has_found_all: bool,
    batch: Option<LineBatch>,
    /// The conversion of many records at once, if records may be copied without being parsed. It depends on the header of a
    /// table.
    fields: Option<FieldBatch>,
    parts: Parts,
    /// The state of a row that is too long for memory.
    long_row: LongRow,
}

impl Values {
    /// Creates the job for `spec`, with the additional outputs in `options`.
    pub fn new(spec: Spec, options: &OutputOptions) -> Values {
        let Spec { selected, lines, into, only_changed, policies, records, max_record } = spec;
        let Selected { target, works, empty, null, none, form } = selected;
        let OutputOptions { rejects, stats, preview, .. } = options;
        let (rejects, stats, is_preview) = (rejects.is_some(), stats.is_some(), preview.is_some());
        // Values that are written alone are lines of text also if they come from JSON.
        let is_json = form == Form::Whole && target.selector.is_json();
        let treatment = Treatment::new(works, policies, stats, rejects, empty)
            .with_none(none)
            .with_null(is_json, null)
            .with_beside(!into.is_empty());
        let is_plain = !is_preview && !only_changed;
        // Conversion in batches does not count values, so statistics exclude it.
        let is_batched = is_plain && !stats && matches!(target.selector, Selector::Line);
        let lines = Some(lines).filter(|work| is_batched && work.takes_records());
        let places = rejects || policies.can_fail();
        let skips = is_plain
            && form == Form::Whole
            && into.len() <= 1
            && treatment.needs_percent()
            && target.selector.can_pass_by();
        Values {
            skips,
            fields: None,
            has_found_all: false,
            batch: lines.map(|work| LineBatch::new(work, policies, rejects)),
            target,
            treatment,
            needs: Needs { records, rejects, places, stats },
            form,
            into,
            only_changed,
            max_record,
            is_preview,
            new: Vec::new(),
            parts: Parts::default(),
            long_row: LongRow::default(),
        }
    }

    /// Returns the kind of the records.
    pub fn records(&self) -> Records {
        self.needs.records
    }

    /// Returns the selection of the values.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the threads that may work at the same time, of those that the user allows.
    pub fn threads(&self, threads: Threads) -> Threads {
        if self.target.is_sequential { Threads::ONE } else { threads }
    }

    /// Adds the records of `chunk` to `frame`. A record has no key if its values are missing, rejected or unreadable.
    pub fn push_keys(
        &mut self,
        chunk: &Chunk<'_>,
        identity: &Identity,
        frame: &mut Frame,
        report: &mut Report,
    ) {
        let mut start = 0;
        while start < chunk.bytes.len() {
            let end = chunk.end_of(start, self.needs.records.end());
            let (record, has_quotes) = chunk.record(start, end, self.needs.records);
            let from = frame.keys.len();
            if let Some(refusal) = self.target.selector.open_quote(record, has_quotes) {
                self.reject(record, refusal, report);
            } else {
                let mut edit = Edit::new(chunk.bytes, start, &mut frame.keys, self.form);
                self.record(record, end, has_quotes, &mut edit, report);
            }
            let key = from..frame.keys.len();
            frame.push(end - start, identity.of(&frame.keys[key.clone()]), key);
            start = end;
        }
    }

    /// Appends the output for a record that changes from `old` to `new`: the new record or, in a preview, its marked
    /// lines.
    fn show(&self, old: &[u8], new: &[u8], out: &mut Vec<u8>) {
        if !self.is_preview {
            out.extend_from_slice(new);
        } else if old == new {
            preview::mark(preview::STAYS, old, out);
        } else {
            preview::mark(preview::GOES, old, out);
            preview::mark(preview::COMES, new, out);
        }
    }

    /// Converts the values of one record. `end` is the offset after its line end. Returns false if the run must end.
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
        let mut pass = Pass { record, treatment: &mut self.treatment, edit, report };
        match self.target.selector.rewrite(has_quotes, &mut pass) {
            Action::Null => {
                edit.rewind(mark);
                edit.copy_to(start).extend_from_slice(self.treatment.null());
                edit.skip_to(record.stop);
                if self.form != Form::Whole {
                    edit.copy_to(end).push(self.needs.records.end());
                }
                leaves_out = false;
            }
            Action::Write | Action::Empty => {
                edit.end(self.target.selector.count(), end);
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
            Action::Stop(mut refusal) => {
                // The line end after a line is not a digit of its last escape.
                if let (Selector::Line, Reason::Malformed(cause @ MalformedCause::Truncated), Some(&byte)) =
                    (&self.target.selector, &mut refusal.reason, record.chunk.get(record.stop))
                {
                    *cause = MalformedCause::NotHex { offset: record.stop, byte };
                }
                edit.rewind(mark);
                edit.copy_to(start);
                report.stop(record.chunk, self.needs.records.end(), refusal);
                return false;
            }
        }
        if leaves_out {
            edit.rewind(mark);
            edit.copy_to(start);
            edit.skip_to(end);
            report.is_open &= end < record.chunk.len();
        }
        report.stats.records += u64::from(self.needs.stats);
        true
    }

    /// Reports the unreadable row `record` of a table, and prepares to read its lines. Returns false if the run must end.
    fn reject(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> bool {
        if let Selector::Table(table) = &mut self.target.selector {
            table.lose();
        }
        let record = record.up_to_line(refusal.offset);
        report.stats.records += u64::from(self.needs.stats);
        match self.treatment.unreadable(record, refusal, report) {
            Action::Stop(refusal) => {
                report.stop(record.chunk, record.end, refusal);
                return false;
            }
            Action::Drop => report.stats.dropped += 1,
            _ => {}
        }
        true
    }

    /// Reads the lines in `range` of `chunk`, which are an unreadable row of a table. Lines that are rows are reported like
    /// other rows but stay as they are, because nobody knows where the unclosed cell should have ended; only their values
    /// can be written alone. Appends the output to `out`. Returns false if the run must end.
    fn read_lines(
        &mut self,
        chunk: &[u8],
        range: Range<usize>,
        is_fragment: bool,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> bool {
        let records = self.needs.records;
        let policy = self.treatment.policies().rejected;
        let mut end = range.start;
        for line in chunk[range].split_inclusive(|&byte| byte == records.end()) {
            let start = end;
            end += line.len();
            let stop = start + records.without_end(line);
            let record = Record { chunk, start, stop, end: records.end(), shown: None };
            let Selector::Table(table) = &mut self.target.selector else { return true };
            let meaning = table.line(record.bytes(), is_fragment);
            let goes_on = match meaning {
                Line::Row if self.form == Form::Whole => self.inspect(record, end, report),
                Line::Row => {
                    self.record(record, end, true, &mut Edit::new(chunk, start, out, self.form), report)
                }
                Line::Unreadable(quote) => {
                    let reason = Reason::OpenQuote { limit: None };
                    self.reject(record, Refusal { offset: start + quote, reason }, report)
                }
                Line::Lost => true,
            };
            if !goes_on {
                return false;
            }
            if self.form == Form::Whole {
                let widened;
                let new: &[u8] = match (meaning, policy, &self.target.selector) {
                    _ if self.only_changed => b"",
                    (Line::Row, _, Selector::Table(table)) if !self.into.is_empty() => {
                        widened = [&table.with_empty_cells(&chunk[start..stop]), &chunk[stop..end]].concat();
                        &widened
                    }
                    (Line::Unreadable(_) | Line::Lost, OnRejected::Drop, _) => b"",
                    (Line::Unreadable(_) | Line::Lost, OnRejected::Null, _) => &chunk[stop..end],
                    _ => line,
                };
                self.show(line, new, out);
                report.is_open &= !new.is_empty() || end < chunk.len();
            }
        }
        true
    }

    /// Reports what is in `record` without changing it. Returns false if the run must end.
    fn inspect(&mut self, record: Record<'_>, end: usize, report: &mut Report) -> bool {
        let mut scrap = std::mem::take(&mut self.new);
        scrap.clear();
        let (changed, dropped, is_open) = (report.stats.changed, report.stats.dropped, report.is_open);
        let mut edit = Edit::new(record.chunk, record.start, &mut scrap, Form::Nothing);
        let goes_on = self.record(record, end, true, &mut edit, report);
        (report.stats.changed, report.stats.dropped, report.is_open) = (changed, dropped, is_open);
        self.new = scrap;
        goes_on
    }

    /// Converts one record for a preview, and appends its old and new lines with marks to `out`. Returns false if the
    /// run must end.
    fn compare(
        &mut self,
        record: Record<'_>,
        end: usize,
        has_quotes: bool,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> bool {
        let mut new = std::mem::take(&mut self.new);
        new.clear();
        let edit = Edit::new(record.chunk, record.start, &mut new, self.form);
        let mut edit = edit.watching(self.only_changed);
        let goes_on = self.record(record, end, has_quotes, &mut edit, report);
        if goes_on {
            edit.copy_to(end);
            self.show(&record.chunk[record.start..end], &new, out);
        }
        self.new = new;
        goes_on
    }
}

impl Job for Values {
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        let (bytes, line_end) = (chunk.bytes, self.needs.records.end());
        let mut edit = Edit::new(bytes, 0, out, self.form).watching(self.only_changed);
        let mut skips = self.skips && self.has_found_all;
        let mut number = 0_u32;
        let mut search = EscapeSearch::default();
        // Only the last record of a file can lack its record end.
        report.is_open = self.form == Form::Whole && bytes.last() != Some(&line_end);
        for (record, links) in chunk.tags() {
            let Selector::Html(html) = &mut self.target.selector else { break };
            html.set_links(links);
            if !self.record(record, record.stop, false, &mut edit, report) {
                return;
            }
        }
        let is_html = matches!(self.target.selector, Selector::Html(_));
        let mut start = if is_html { bytes.len() } else { 0 };
        // The batch conversion has left the lines before this offset to be converted one by one.
        let mut single_until = 0;
        while start < bytes.len() {
            if skips && let Some(fields) = &mut self.fields {
                start += fields.apply(&chunk, start, edit.copy_to(start));
                edit.skip_to(start);
                if start == bytes.len() {
                    break;
                }
            } else if skips {
                match search.next(&self.target.selector, &chunk, start, self.needs.records) {
                    Some(record) => start = record,
                    None => break,
                }
            }
            if let Some(batch) = self.batch.as_mut().filter(|_| start >= single_until) {
                let (done, single) = batch.apply(&bytes[start..], line_end, edit.copy_to(start));
                report.stats.rejected += batch.take_kept();
                start += done;
                edit.skip_to(start);
                single_until = start + single;
                if done > 0 {
                    continue;
                }
            }
            let end = chunk.end_of(start, line_end);
            let (record, has_quotes) = chunk.record(start, end, self.needs.records);
            let unreadable = report.stats.unreadable;
            let goes_on = if let Some(refusal) = self.target.selector.open_quote(record, has_quotes) {
                edit.copy_to(start);
                edit.skip_to(end);
                let (quote, out) = (refusal.offset, edit.output());
                let goes_on = self.reject(record, refusal, report)
                    && self.read_lines(bytes, start..end, false, out, report);
                if goes_on && self.form == Form::Whole {
                    let is_last = end == bytes.len() && chunk.next.is_none();
                    report.leave_open(bytes, line_end, quote, end, is_last);
                }
                goes_on
            } else if self.is_preview {
                let goes_on = self.compare(record, end, has_quotes, edit.output(), report);
                edit.skip_to(end);
                goes_on
            } else {
                self.record(record, end, has_quotes, &mut edit, report)
            };
            if !goes_on {
                return;
            }
            let unreadable = report.stats.unreadable - unreadable;
            if unreadable == 0
                && let Some(fields) = &mut self.fields
            {
                fields.learn(&self.target.selector, record.bytes());
            }
            // Such a record is not read at all if the search passes it, so it must not make a difference.
            if unreadable > 0 && self.skips && skip::may_pass(&self.target.selector, record.bytes()) {
                report.stats.mentioned += unreadable;
            }
            start = end;
            // This takes as long as a record, so it is done after the first record and then rarely.
            if self.skips && !skips && number.is_multiple_of(64) {
                self.has_found_all = self.target.selector.has_found_all(&report.stats);
                skips = self.has_found_all;
            }
            number += 1;
        }
        edit.copy_to(bytes.len());
        report.stats.bytes_in += bytes.len() as u64;
        if self.needs.places {
            report.line(bytes, line_end, bytes.len());
        }
    }

    fn long(&mut self, start: &[u8], report: &mut Report) -> Long {
        if matches!(self.target.selector, Selector::Line) && !self.treatment.takes_whole_values() {
            self.parts = Parts::new(start, self.needs);
            return Long::Parts { held: self.only_changed || self.treatment.policies().withhold() };
        }
        let limit = self.max_record;
        let policy = self.treatment.policies().rejected;
        let is_left_out = policy == OnRejected::Drop || self.only_changed || self.form != Form::Whole;
        // The run mentions the record at once, and not again in its summary.
        report.stats.mentioned += 1;
        if let Selector::Table(table) = &self.target.selector
            && !self.is_preview
            && let Some(offset) = table.open_quote(start)
        {
            let reason = Reason::OpenQuote { limit: Some(limit) };
            let outcome = match self.form {
                Form::Whole => "no row is converted up to the line on which other quotes end it",
                _ => "is left out",
            };
            let stop = start.len();
            let record = Record { chunk: start, start: 0, stop, end: self.needs.records.end(), shown: None };
            self.reject(record, Refusal { offset, reason: reason.clone() }, report);
            // The lines up to the quote are counted when they are read.
            report.lines = 0;
            return Long::Lines(offset, reason, outcome);
        }
        let reason = Reason::TooLong { limit };
        report.stats.records += 1;
        report.stats.unreadable += 1;
        if report.rejects {
            report.refuse(0, 0, &reason, start);
        }
        report.stats.dropped += u64::from(policy == OnRejected::Drop);
        match policy {
            OnRejected::Fail => {
                report.stop = Some(Stop { line: 0, offset: 0, reason: reason.clone() });
                Long::Skip(reason)
            }
            OnRejected::Null => Long::Instead(self.treatment.null(), reason),
            OnRejected::Drop | OnRejected::Keep if is_left_out => Long::Skip(reason),
            OnRejected::Keep
                if matches!(self.target.selector, Selector::Table(_)) && !self.into.is_empty() =>
            {
                self.long_row = LongRow::default();
                Long::Edit(reason)
            }
            OnRejected::Drop | OnRejected::Keep => Long::Copy(reason),
        }
    }

    fn edit(&mut self, piece: &[u8], is_end: bool, out: &mut Vec<u8>) {
        if let Selector::Table(table) = &self.target.selector {
            table.widen(&mut self.long_row, piece, is_end, out);
        }
    }

    fn salvage(&mut self, lines: &[u8], is_fragment: bool, out: &mut Vec<u8>, report: &mut Report) {
        let line_end = self.needs.records.end();
        report.is_open = self.form == Form::Whole && lines.last() != Some(&line_end);
        report.stats.bytes_in += lines.len() as u64;
        let goes_on = self.read_lines(lines, 0..lines.len(), is_fragment, out, report);
        if goes_on && self.needs.places {
            report.line(lines, line_end, lines.len());
        }
    }

    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        self.treatment.cut(bytes)
    }

    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report) {
        self.parts.work(&mut self.treatment, self.needs, bytes, part, out, report);
    }

    fn instead(&self, out: &mut Vec<u8>) -> bool {
        self.parts.instead(&self.treatment, self.only_changed, out)
    }

    fn block(&self) -> usize {
        if self.batch.is_some() { 2 * BLOCK } else { RECORDS_BLOCK }
    }

    fn report(&self) -> Report {
        Report::new(self.needs.places, self.needs.rejects)
    }
}
