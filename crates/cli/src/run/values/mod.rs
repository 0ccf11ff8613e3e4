//! Converts the selected values of records, one by one.

mod batch;
mod fields;
mod skip;

use simdpct::{ByteSet, MalformedCause};
use simdpct_records::{Editor, Form, Widener};

use self::batch::LineBatch;
use self::fields::FieldBatch;
use self::skip::EscapeSearch;
use super::tables::{self, Head, Header};
use super::{Account, OutputOptions, Target};
use crate::common::error::{Failure, Outcome};
use crate::common::fault::{Handling, Policy};
use crate::common::reason::Reason;
use crate::common::records::Records;
use crate::convert::policy::{Action, Record, Treatment};
use crate::convert::report::{Report, Stop};
use crate::convert::{Conversion, Unit};
use crate::io::BLOCK;
use crate::io::files::{self, Destination};
use crate::io::input::Input;
use crate::io::names::Sources;
use crate::print::Sink;
use crate::print::boundary::FileBoundary;
use crate::print::keys::{Frame, Identity};
use crate::print::preview::{self, Preview, Show};
use crate::run::pump::feed::{Chunk, Cut, Feed};
use crate::run::pump::job::{Job, Long};
use crate::run::pump::{Threads, Workspace, pump};
use crate::select::rewrite::Pass;

/// The size of a chunk of records in which values are selected, in bytes. Most of the time for such a chunk can be reading and
/// writing, and fewer calls of the system for that are faster. The chunk, its result and its marks fit in the second-level cache.
const RECORDS_BLOCK: usize = 4 * BLOCK;

/// The selection of values in records, and the conversion of these values.
pub struct Selected {
    pub target: Target,
    pub convert: Conversion,
    /// The bytes that stay escaped in the usual syntax around a value.
    pub usual: ByteSet,
    /// The text that is written for a value that the policy `empty` replaces.
    pub empty: &'static [u8],
    /// The text that is written for a missing record.
    pub null: &'static [u8],
    /// The value that means "no value", such as a hyphen in logs; otherwise empty.
    pub none: &'static [u8],
    /// The part of each record that is written: all of it, or only the selected values.
    pub form: Form,
}

/// The record format, and the reports that a run needs besides the converted values.
#[derive(Clone, Copy)]
struct Needs {
    records: Records,
    /// Whether rejected values are listed.
    rejects: bool,
    /// Whether positions are reported, so that lines must be counted.
    places: bool,
    /// Whether values are counted for the statistics.
    stats: bool,
}

/// The options of a job that converts values.
pub struct Spec {
    pub selected: Selected,
    /// The names of the new columns or keys for converted values. If empty, converted values replace the old ones.
    pub into: Vec<String>,
    /// Whether only changed records are written.
    pub only_changed: bool,
    pub policies: Handling,
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
            let sink = Sink { rejects: rejects.as_mut(), ..sink };
            let Some((show, has_colours)) = options.preview else {
                pass(input, sink, job.clone(), &mut header, threads, &mut workspace)?;
                return Ok(true);
            };
            let mut preview = Preview::new(show, input.path(), has_colours);
            let sink = Sink { preview: Some(&mut preview), ..sink };
            // A preview shows each file separately, so no file repeats the header of another.
            pass(input, sink, job.clone(), &mut Header::default(), threads, &mut workspace)?;
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

/// Starts to read the file `input` for `job`: finds the columns of a table, and writes its header to `sink`. `first` keeps the header of
/// the first table of the output.
pub fn begin<'i>(
    input: &'i mut Input,
    sink: &mut Sink<'_>,
    job: &mut Values,
    first: &mut Header,
) -> Result<Feed<'i>, Failure> {
    let end = job.needs.records.end();
    let cut = match &job.target.selector {
        selector if selector.is_html() => Cut::Html,
        _ if job.needs.records == Records::Raw => Cut::Never,
        selector => selector.table().map_or(Cut::Records(end), |table| Cut::Table(table.dialect())),
    };
    let mut feed = Feed::new(input, cut, (job.max_record as usize) << 20);
    // Values that are counted are not written.
    let is_whole = matches!(job.form, Form::Key) || job.form.is_whole() && sink.keys.is_none();
    super::pass_byte_order_mark(&mut feed, sink, job.needs.records, is_whole)?;
    super::logs::choose(&mut job.target, &mut feed)?;
    let Target { selector, columns, .. } = &mut job.target;
    let Head { delimiter, header } = tables::choose(selector, &mut feed, sink, columns, &job.into)?;
    let one_header = columns.one_header;
    if is_whole && let Some(table) = job.target.selector.table() {
        let row = tables::names(&header);
        let cells = table.dialect().cells(row).unwrap_or_default();
        let names = cells.into_iter().map(|(cell, _)| cell.into_owned()).chain([delimiter.clone()]);
        if header.is_empty() || first.is_written(names.collect(), one_header, feed.name())? {
            let new = [&table.widened(row), &header[row.len()..]].concat();
            let mut out = Vec::new();
            job.show(&delimiter, &delimiter, &mut out);
            job.show(&header, &new, &mut out);
            let last = header.last().or(delimiter.last());
            if last.is_some() {
                sink.write(&out, last != Some(&end))?;
            }
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
    /// Adds cells to a row that is too long for memory.
    widener: Option<Widener>,
}

impl Values {
    /// Creates the job for `spec`, with the additional outputs in `options`.
    pub fn new(spec: Spec, options: &OutputOptions) -> Values {
        let Spec { selected, into, only_changed, policies, records, max_record } = spec;
        let Selected { target, convert, usual, empty, null, none, form } = selected;
        let OutputOptions { rejects, stats, preview, .. } = options;
        let (rejects, stats, is_preview) = (rejects.is_some(), stats.is_some(), preview.is_some());
        // Values that are written alone are lines of text also if they come from JSON.
        let is_json = form.is_whole() && target.selector.is_json();
        let (lines, is_beside) = (convert.clone(), !into.is_empty());
        let may_reject = is_beside && convert.unit() == Unit::Value;
        let lenient = policies == Handling::KEEP && !stats && !rejects && !may_reject;
        let treatment =
            Treatment { convert, usual, policies, lenient, stats, is_json, null, empty, none, is_beside };
        let is_plain = !is_preview && !only_changed;
        // Conversion in batches does not count values, so statistics exclude it.
        let is_batched = is_plain && !stats && target.selector.is_line() && records != Records::Raw;
        let places = rejects || policies.can_fail();
        let skips = is_plain
            && form.is_whole()
            && into.len() <= 1
            && treatment.needs_percent()
            && target.selector.can_pass_by();
        Values {
            skips,
            fields: None,
            has_found_all: false,
            batch: is_batched.then(|| LineBatch::new(lines, records, policies, rejects)),
            target,
            treatment,
            needs: Needs { records, rejects, places, stats },
            form,
            into,
            only_changed,
            max_record,
            is_preview,
            new: Vec::new(),
            widener: None,
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
            let record = chunk.record(start, end, self.needs.records);
            let from = frame.keys.len();
            let mut edit = Editor::new(chunk.bytes, start, self.form, &mut frame.keys);
            self.record(record, end, &mut edit, report);
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
    fn record(&mut self, record: Record<'_>, end: usize, edit: &mut Editor<'_>, report: &mut Report) -> bool {
        let start = record.start;
        edit.begin(start..record.stop);
        let leaves_out;
        let mut pass = Pass { record, treatment: &mut self.treatment, edit, report };
        match self.target.selector.rewrite(&mut pass) {
            Action::Null => {
                edit.leave_out(self.treatment.null, record.stop);
                if !self.form.is_whole() {
                    edit.copy_to(end).push(self.needs.records.end());
                }
                leaves_out = false;
            }
            Action::Write | Action::Empty => {
                let has_changed = edit.end(self.target.selector.count(), end);
                leaves_out = self.only_changed && !has_changed;
            }
            Action::Copy => {
                edit.discard();
                leaves_out = self.only_changed || !self.form.is_whole();
            }
            Action::Drop => {
                leaves_out = true;
                report.stats.dropped += 1;
            }
            Action::Stop(mut refusal) => {
                // The line end after a line is not a digit of its last escape.
                if let (Reason::Malformed(cause @ MalformedCause::Truncated), Some(&byte)) =
                    (&mut refusal.reason, record.chunk.get(record.stop))
                    && self.target.selector.is_line()
                {
                    *cause = MalformedCause::NotHex { offset: record.stop, byte };
                }
                edit.leave_out(b"", start);
                report.stop(record.chunk, self.needs.records.end(), refusal);
                return false;
            }
        }
        if leaves_out {
            edit.leave_out(b"", end);
            report.is_open &= end < record.chunk.len();
        }
        report.stats.records += u64::from(self.needs.stats);
        true
    }

    /// Converts one record for a preview, and appends its old and new lines with marks to `out`. Returns false if the
    /// run must end.
    fn compare(&mut self, record: Record<'_>, end: usize, out: &mut Vec<u8>, report: &mut Report) -> bool {
        let mut new = std::mem::take(&mut self.new);
        new.clear();
        let mut edit = Editor::new(record.chunk, record.start, self.form, &mut new);
        let goes_on = self.record(record, end, &mut edit, report);
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
        let mut edit = Editor::new(bytes, 0, self.form, out);
        let mut skips = self.skips && self.has_found_all;
        let mut number = 0_u32;
        let mut search = EscapeSearch::default();
        // Only the last record of a file can lack its record end.
        report.is_open = self.form.is_whole() && bytes.last() != Some(&line_end);
        for (record, links) in chunk.tags() {
            self.target.selector.set_links(links);
            if !self.record(record, record.stop, &mut edit, report) {
                return;
            }
        }
        let is_html = self.target.selector.is_html();
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
                let (done, single) = batch.apply(&bytes[start..], edit.copy_to(start));
                report.stats.rejected += batch.take_kept();
                start += done;
                edit.skip_to(start);
                single_until = start + single;
                if done > 0 {
                    continue;
                }
            }
            let end = match self.needs.records {
                Records::Raw => bytes.len(),
                Records::Lines | Records::Null => chunk.end_of(start, line_end),
            };
            let record = chunk.record(start, end, self.needs.records);
            let unreadable = report.stats.unreadable;
            let goes_on = if self.is_preview {
                let goes_on = self.compare(record, end, edit.copy_to(start), report);
                edit.skip_to(end);
                goes_on
            } else {
                self.record(record, end, &mut edit, report)
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

    fn long(&mut self, start: &[u8], reason: &Reason, report: &mut Report) -> Long {
        let policy = self.treatment.policies.rejected;
        let is_left_out = policy == Policy::Drop || self.only_changed || !self.form.is_whole();
        // The run mentions the record at once, and not again in its summary.
        report.stats.mentioned += 1;
        report.stats.records += 1;
        report.stats.unreadable += 1;
        if report.rejects {
            report.refuse(0, 0, reason, start);
        }
        report.stats.dropped += u64::from(policy == Policy::Drop);
        match policy {
            Policy::Fail => {
                report.stop = Some(Stop { line: 0, offset: 0, reason: reason.clone() });
                Long::Skip
            }
            Policy::Null => Long::Instead(self.treatment.null),
            _ if is_left_out => Long::Skip,
            _ if let Some(table) = self.target.selector.table()
                && !self.into.is_empty() =>
            {
                self.widener = Some(Widener::new(table));
                Long::Edit
            }
            _ => Long::Copy,
        }
    }

    fn piece(&mut self, piece: &[u8], is_last: bool, out: &mut Vec<u8>, _: &mut Report) {
        if let (Some(table), Some(widener)) = (self.target.selector.table(), &mut self.widener) {
            widener.push(table, piece, is_last, out);
        }
    }

    fn block(&self) -> usize {
        if self.batch.is_some() { 2 * BLOCK } else { RECORDS_BLOCK }
    }

    fn report(&self) -> Report {
        Report::new(self.needs.places, self.needs.rejects)
    }
}
