//! Defines the job over records: it finds each record, gives its values to a task, and writes the result.

use simdpct::{ByteSet, MalformedCause};
use simdpct_records::{Editor, Form, Widener};

use super::many::{self, Batch, EscapeSearch, Many, Pace};
use super::pump::feed::Chunk;
use super::{OutputOptions, Target};
use crate::check::kind::Group;
use crate::check::listing::Criteria;
use crate::common::fault::{Handling, Policy};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::utf8;
use crate::convert::policy::{Action, Record, ValueHandler};
use crate::convert::report::Report;
use crate::convert::{Conversion, Text, Unit};
use crate::io::BLOCK;
use crate::print::keys::{Frame, Identity};
use crate::print::preview;
use crate::select::rewrite::RewriteArgs;
use crate::select::task::{Check, Task};

/// The size of a chunk of records in which values are selected, in bytes. It is larger than a block, so that reading
/// and writing take fewer system calls. The chunk, its result and its masks fit in the second-level cache.
const RECORDS_BLOCK: usize = 4 * BLOCK;

/// The number of records that are treated one by one after a batch in which most records were treated one by one.
const PAUSE: u32 = 256;

/// The options of a job that converts values: the selection of values, the conversion, and the output.
pub struct Spec {
    pub target: Target,
    pub convert: Conversion,
    /// The bytes that stay escaped in a value with the usual syntax around it, such as a field without quotes.
    pub usual: ByteSet,
    /// The text that is written for a value that the policy `empty` replaces.
    pub empty: &'static [u8],
    /// The text that the policy `null` writes instead of an unreadable record. Whole JSON records become `null` instead.
    pub null: &'static [u8],
    /// The text that means "no value", such as a hyphen in logs; empty if no text has this meaning.
    pub none: &'static [u8],
    /// The part of each record that is written: all of it, or only the selected values.
    pub form: Form,
    /// The names of the new columns or keys for converted values. If empty, converted values replace the old ones.
    pub into: Vec<String>,
    /// Whether only changed records are written.
    pub only_changed: bool,
    pub policies: Handling,
    pub records: Records,
    /// The memory limit for a record, in MiB.
    pub max_record: u32,
    /// Whether the input is converted as one stream of bytes, whose records may have any length.
    pub is_stream: bool,
}

/// The results of a job.
#[derive(Clone)]
pub enum Results {
    /// The new records, or their values.
    Records,
    /// The values, which are counted and not written.
    Counted,
    /// The old lines and the new lines of a preview, each with a mark.
    Marked,
    /// The records with the keys that identify them.
    Keyed(Identity, Frame),
}

/// A job over records: the places of values, the task for each value, and the form of the output.
#[derive(Clone)]
pub struct Job {
    pub target: Target,
    pub task: Task,
    pub records: Records,
    results: Results,
    /// The part of each record that is written.
    form: Form,
    /// The names of the new columns or keys for converted values. If empty, converted values replace the old ones.
    pub into: Vec<String>,
    pub only_changed: bool,
    /// The memory limit for a record, in MiB.
    pub max_record: u32,
    /// Whether positions are reported, so that lines must be counted.
    places: bool,
    /// Whether rejected values are listed.
    rejects: bool,
    /// Whether records without an escape need not be parsed, once every selected place has been found.
    skips: bool,
    /// Whether every selected column, field or key has been found at least once.
    has_found_all: bool,
    many: Option<Many>,
    /// The new record of a preview, or the keys of the records in the chunk.
    buffer: Vec<u8>,
    /// Adds cells to a row that is too long for memory.
    widener: Option<Widener>,
}

impl Job {
    /// Creates the job that converts values by `spec`, with these `results` and the additional outputs in `options`.
    pub fn convert(spec: Spec, results: Results, options: &OutputOptions) -> Job {
        let Spec { target, convert, usual, empty, null, none, form, into, policies, .. } = spec;
        let Spec { only_changed, records, max_record, is_stream, .. } = spec;
        let (rejects, stats) = (options.rejects.is_some(), options.stats.is_some());
        let (lines, is_beside) = (convert.clone(), !into.is_empty());
        let may_reject = is_beside && convert.inner.unit() == Unit::Value;
        let lenient = policies == Handling::KEEP && !stats && !rejects && !may_reject;
        let handler = ValueHandler { convert, usual, policies, lenient, stats, null, empty, none, is_beside };
        let is_keyed = matches!(results, Results::Keyed(..));
        let is_plain = !matches!(results, Results::Marked) && !only_changed;
        // Conversion in batches does not count values, so it is not used with statistics.
        let is_batched = is_plain && !stats && target.selector.is_line() && records != Records::Raw;
        let skips = is_plain
            && form.is_whole()
            && into.len() <= 1
            && handler.needs_percent()
            && target.selector.can_pass_by();
        // A line that has a key is not in the list of rejected lines.
        let batch = || Many::Batch(Batch::lines(lines.clone(), records, policies, rejects && !is_keyed));
        Job {
            many: if is_stream { Some(Many::Blocks(lines)) } else { is_batched.then(batch) },
            skips,
            has_found_all: target.selector.is_line(),
            places: rejects || is_keyed || policies.can_fail(),
            rejects,
            results,
            form,
            into,
            only_changed,
            ..Job::new(target, Task::Convert(Box::new(handler)), records, max_record)
        }
    }

    /// Creates the job that checks the values of `target` for `wanted` findings.
    pub fn check(target: Target, wanted: Criteria, records: Records, max_record: u32) -> Job {
        Job {
            places: true,
            ..Job::new(target, Task::Check(Box::new(Check::new(wanted))), records, max_record)
        }
    }

    /// Creates a job without results, which treats records one by one.
    fn new(target: Target, task: Task, records: Records, max_record: u32) -> Job {
        Job {
            many: None,
            skips: false,
            has_found_all: false,
            target,
            task,
            places: false,
            rejects: false,
            records,
            results: Results::Records,
            form: Form::Nothing,
            into: Vec::new(),
            only_changed: false,
            max_record,
            buffer: Vec::new(),
            widener: None,
        }
    }

    /// Reports whether the job lists unreadable records.
    pub fn lists_unreadable(&self) -> bool {
        matches!(&self.task, Task::Check(check) if check.wanted.contains(Group::Unreadable))
    }

    /// Reports whether the job identifies records by keys.
    pub fn is_keyed(&self) -> bool {
        matches!(self.results, Results::Keyed(..))
    }

    /// Reports whether the job writes whole records. The lines before the records, such as a header, are then written,
    /// too.
    pub fn writes_records(&self) -> bool {
        match self.results {
            Results::Keyed(..) => true,
            Results::Counted => false,
            Results::Records | Results::Marked => self.form.is_whole(),
        }
    }

    /// Reports whether the job converts blocks of input, whose records may have any length.
    pub fn takes_blocks(&self) -> bool {
        matches!(self.many, Some(Many::Blocks(_)))
    }

    /// Chooses the way to treat many records at once, which depends on the header of a table.
    pub fn choose_many(&mut self) {
        let (selector, end) = (&self.target.selector, self.records.end());
        let many = match &self.task {
            // A sweep, which searches many records for escapes, does not read JSON lines without an escape. A check
            // must find unreadable lines, so it uses no sweep for JSON.
            Task::Check(check) if !check.wanted.takes_urls() && selector.can_pass_by() => {
                let sweep = selector.sweep(end, false).filter(|sweep| !sweep.is_text());
                sweep.map(|sweep| Many::Sweep(Box::new(sweep), Pace::new(many::WINDOW)))
            }
            Task::Convert(handler) if self.skips => {
                let is_new = !self.into.is_empty();
                let batch = Batch::field(selector, handler, end, is_new).map(Many::Batch);
                // If new values go beside the old ones, no record may be copied unchanged.
                batch.or_else(|| (!is_new).then(|| Many::Skip(EscapeSearch::new())))
            }
            _ => return,
        };
        self.skips = many.is_some();
        self.many = many;
    }

    /// Appends the output for a record that changes from `old` to `new`: the new record or, in a preview, its marked
    /// lines.
    pub fn show(&self, old: &[u8], new: &[u8], out: &mut Vec<u8>) {
        if !matches!(self.results, Results::Marked) {
            out.extend_from_slice(new);
        } else if old == new {
            preview::mark(preview::STAYS, old, out);
        } else {
            preview::mark(preview::GOES, old, out);
            preview::mark(preview::COMES, new, out);
        }
    }

    /// Treats the first records of `chunk` from `start` on at once. Returns the start of the record after them, and
    /// whether that record must be treated by itself. Returns `None` if the run must end.
    fn many(
        &mut self,
        chunk: &Chunk<'_>,
        start: usize,
        edit: &mut Editor<'_>,
        report: &mut Report,
    ) -> Option<(usize, bool)> {
        let Job { many, results, buffer, target, records, .. } = self;
        let end = records.end();
        match many {
            _ if !self.has_found_all => Some((start, true)),
            // A job that takes blocks has a loop of its own.
            None | Some(Many::Blocks(_)) => Some((start, true)),
            Some(Many::Batch(batch)) => {
                // While batches pause, `copy_to` is not called: the editor later copies many records at once.
                if !batch.pace.may_try() {
                    return Some((start, true));
                }
                let from = buffer.len();
                let Results::Keyed(identity, frame) = results else {
                    let (len, is_single) = batch.apply(chunk, start, end, edit.copy_to(start), report);
                    edit.skip_to(start + len);
                    return Some((start + len, is_single));
                };
                let (len, is_single) = batch.apply(chunk, start, end, buffer, report);
                frame.push_lines(&chunk.bytes[start..start + len], start, buffer, from, *records, identity);
                Some((start + len, is_single))
            }
            Some(Many::Skip(search)) => Some((search.next(&target.selector, chunk, start, *records), true)),
            Some(Many::Sweep(..)) => self.sweep(chunk, start, report).map(|start| (start, true)),
        }
    }

    /// Checks the first records of `chunk` from `start` on. Only those with escapes that may be findings are read one
    /// by one. Returns the offset of the next record, which must be checked by itself; `None` if the run must end.
    fn sweep(&mut self, chunk: &Chunk<'_>, mut start: usize, report: &mut Report) -> Option<usize> {
        let (Some(Many::Sweep(mut sweep, mut pace)), Task::Check(check)) = (self.many.take(), &self.task)
        else {
            return Some(start);
        };
        let wanted = check.wanted.clone();
        let end = self.records.end();
        let needs_text = wanted.contains(Group::Utf8);
        let mut scrap = Vec::new();
        let mut may_try = pace.may_try();
        while may_try && start < chunk.bytes.len() {
            let len = sweep.next(chunk.bytes, start, pace.size, chunk.marks);
            let records = &chunk.bytes[start..start + len];
            let is_whole = len > 0 && !(needs_text && utf8::validate(records).is_err());
            pace.step(if is_whole { len } else { 0 }, is_whole);
            if !is_whole {
                break;
            }
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
                    if !is_ahead || !wanted.may_find(&chunk.bytes[at..]) {
                        continue;
                    }
                    let from =
                        memchr::memrchr(end, &chunk.bytes[done..at]).map_or(done, |found| done + found + 1);
                    done = chunk.end_of(at, end);
                    passed -= 1;
                    let mut edit = Editor::new(chunk.bytes, from, Form::Nothing, &mut scrap);
                    if !self.record(chunk.record(from, done, self.records), done, &mut edit, report) {
                        return None;
                    }
                }
            }
            report.stats.records += passed;
            start += len;
            if passed < count / 2 {
                pace.pause(PAUSE);
                may_try = false;
            }
        }
        self.many = Some(Many::Sweep(sweep, pace));
        Some(start)
    }

    /// Treats the record of `chunk` from `start` to `end`. Returns false if the run must end.
    fn one(
        &mut self,
        chunk: &Chunk<'_>,
        start: usize,
        end: usize,
        edit: &mut Editor<'_>,
        report: &mut Report,
    ) -> bool {
        let record = chunk.record(start, end, self.records);
        let is_keyed = match self.results {
            Results::Records | Results::Counted => return self.record(record, end, edit, report),
            Results::Marked => false,
            Results::Keyed(..) => true,
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        if !is_keyed {
            buffer.clear();
        }
        let (from, dropped) = (buffer.len(), report.stats.dropped);
        let mut own = Editor::new(chunk.bytes, start, self.form, &mut buffer);
        let goes_on = self.record(record, end, &mut own, report);
        if let Results::Keyed(identity, frame) = &mut self.results {
            // An empty key would mean no key, so the record end, which no other key contains, replaces it.
            if buffer.len() == from && self.target.selector.is_line() && report.stats.dropped == dropped {
                buffer.push(self.records.end());
            }
            frame.push(end - start, identity, &buffer, from);
        } else if goes_on {
            own.copy_to(end);
            self.show(&chunk.bytes[start..end], &buffer, edit.copy_to(start));
            edit.skip_to(end);
        }
        self.buffer = buffer;
        goes_on
    }

    /// Returns the text that the policy `null` writes instead of an unreadable record. Values that are written alone are lines of
    /// text, even if they come from JSON.
    fn null(&self) -> &'static [u8] {
        match &self.task {
            Task::Convert(_) if self.form.is_whole() && self.target.selector.syntax.is_json() => b"null",
            Task::Convert(handler) => handler.null,
            Task::Check(_) => b"",
        }
    }

    /// Treats the values of `record`, whose line end ends at `end`, and writes it. Returns false if the run must end.
    #[inline]
    fn record(&mut self, record: Record<'_>, end: usize, edit: &mut Editor<'_>, report: &mut Report) -> bool {
        let start = record.start;
        edit.begin(start..record.stop);
        let (findings, unreadable) = (report.list.findings.len(), report.stats.unreadable);
        let selector = &mut self.target.selector;
        let action = selector.rewrite(&mut RewriteArgs { record, task: &mut self.task, edit, report });
        if let Task::Check(check) = &mut self.task {
            check.name_values(start, findings, report, |index| selector.name(index));
        }
        let leaves_out = match action {
            Action::Null => {
                edit.leave_out(self.null(), record.stop);
                if !self.form.is_whole() {
                    edit.copy_to(end).push(self.records.end());
                }
                false
            }
            Action::Write | Action::Empty => {
                let has_changed = edit.end(self.target.selector.count(), end);
                self.only_changed && !has_changed && !self.target.selector.is_comment(record.bytes())
            }
            Action::Copy => {
                edit.discard();
                self.only_changed || !self.form.is_whole()
            }
            Action::Drop => {
                report.stats.dropped += 1;
                // The record may have been left before each value was treated. An unreadable record was searched only in
                // part, so it does not show which places it lacks.
                if report.stats.unreadable == unreadable {
                    self.target.selector.found.iter().for_each(|place| report.stats.find(place.index));
                }
                true
            }
            Action::Stop(mut refusal) => {
                // A line end cuts the last escape, so the error names this byte as the one that is not a digit.
                if let (Reason::Malformed(cause @ MalformedCause::Truncated), Some(&byte)) =
                    (&mut refusal.reason, record.chunk.get(record.stop))
                    && self.target.selector.is_line()
                {
                    *cause = MalformedCause::NotHex { offset: record.stop, byte };
                }
                edit.leave_out(b"", start);
                let line = report.line(record.chunk, self.records.end(), refusal.offset);
                report.stop = Some((line, refusal));
                return false;
            }
        };
        if leaves_out {
            edit.leave_out(b"", end);
            report.is_open &= end < record.chunk.len();
        }
        report.stats.records += 1;
        let unreadable = report.stats.unreadable - unreadable;
        if unreadable == 0
            && let Some(Many::Batch(batch)) = &mut self.many
        {
            batch.learn(&self.target.selector, record.bytes());
        }
        // The search for escapes skips some of these unreadable records, so the summary counts none of them.
        if unreadable > 0 && self.skips && many::may_pass(&self.target.selector, record.bytes()) {
            report.stats.mentioned += unreadable;
        }
        true
    }

    /// Appends the result for `chunk` to `out`. If `report.stop` is set, `out` holds the result up to the record
    /// with the error.
    pub fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        let (bytes, line_end) = (chunk.bytes, self.records.end());
        if let Some(Many::Blocks(convert)) = &mut self.many {
            report.is_open = bytes.last() != Some(&line_end);
            convert.inner.set_before(chunk.block.before);
            let text = Text { bytes, records: self.records, handling: Handling::KEEP };
            let done = convert.convert_many(text, out);
            debug_assert!(done == bytes.len(), "nothing is rejected");
            return;
        }
        let selector = &mut self.target.selector;
        if let Task::Check(check) = &self.task
            && selector.is_line()
        {
            report.stats.bytes_in += bytes.len() as u64;
            let lines = check.wanted.scan_lines(bytes, &mut report.list);
            report.stats.records += lines;
            report.lines = lines - u64::from(bytes.last().is_some_and(|last| *last != line_end));
            return;
        }
        // Only the last record of a file can lack its record end.
        report.is_open = self.form.is_whole() && bytes.last() != Some(&line_end);
        if let Results::Keyed(_, frame) = &mut self.results {
            frame.begin(bytes, Some(line_end));
            self.buffer.clear();
        }
        if chunk.block.is_unread {
            // Its bytes are written below, because HTML has no other policies than `keep` and `fail`.
            self.long(bytes, &Reason::TooLong { limit: self.max_record }, report);
            if report.stop.is_some() {
                return;
            }
        }
        let mut edit = Editor::new(bytes, 0, self.form, out);
        for (record, links) in chunk.tags() {
            links.clone_into(&mut self.target.selector.links);
            if !self.record(record, record.stop, &mut edit, report) {
                return;
            }
        }
        let (mut start, mut number) = (if self.target.selector.is_html() { bytes.len() } else { 0 }, 1_u32);
        while start < bytes.len() {
            let Some((next, is_single)) = self.many(&chunk, start, &mut edit, report) else { return };
            start = next;
            if !is_single || start == bytes.len() {
                continue;
            }
            let end = match self.records {
                Records::Raw => bytes.len(),
                Records::Lines | Records::Null => chunk.end_of(start, line_end),
            };
            if !self.one(&chunk, start, end, &mut edit, report) {
                return;
            }
            start = end;
            // This check can cost as much as many records, so it runs less and less often.
            if self.skips && !self.has_found_all && number.is_power_of_two() {
                self.has_found_all = self.target.selector.has_found_all(&report.stats);
            }
            number += 1;
        }
        edit.copy_to(bytes.len());
        if report.is_open && matches!(self.results, Results::Counted) {
            // The last key counts even if it is empty.
            out.push(line_end);
        }
        if let Results::Keyed(_, frame) = &mut self.results {
            frame.write(bytes, &self.buffer, out);
        }
        report.stats.bytes_in += bytes.len() as u64;
        if self.places {
            report.line(bytes, line_end, bytes.len());
        }
    }

    /// Chooses the treatment of a record that is too long for memory. `reason` is for messages, and `start` holds the
    /// first bytes of the record. If the record is rejected, this function adds the rejection to `report`.
    pub fn long(&mut self, start: &[u8], reason: &Reason, report: &mut Report) -> OversizedAction {
        if self.target.selector.is_sequential() {
            self.target.selector.read_start(start);
        }
        let is_line = self.target.selector.is_line();
        let handler = match &mut self.task {
            Task::Check(check) if is_line => {
                check.begin_pieces();
                if !check.wanted.takes_urls() {
                    return OversizedAction::Pieces;
                }
                if check.wanted.contains(Group::Unreadable) {
                    report.list.add(Group::Unreadable, 0, 0, format_args!("{reason}"));
                }
                return OversizedAction::Escapes;
            }
            Task::Check(check) => {
                let record = Record { chunk: start, start: 0, stop: start.len(), end: self.records.end() };
                check.unreadable(record, &Refusal { offset: 0, reason: reason.clone() }, report);
                check.name_values(0, report.list.findings.len(), report, |_| None);
                report.stats.records += 1;
                return OversizedAction::Pass;
            }
            Task::Convert(handler) => handler,
        };
        let is_stream = handler.lenient && handler.convert.inner.unit() == Unit::Byte && !self.only_changed;
        if is_stream && is_line && matches!(self.results, Results::Marked) {
            return OversizedAction::Unseen;
        }
        report.stats.records += 1;
        report.stats.unreadable += 1;
        if report.rejects {
            report.refuse(0, 0, reason, start);
        }
        // The run mentions the record at once, and not again in its summary.
        report.stats.mentioned += 1;
        if let Results::Keyed(..) = self.results {
            return OversizedAction::Keyless;
        }
        let policy = handler.policies.rejected;
        report.stats.dropped += u64::from(policy == Policy::Drop);
        match policy {
            Policy::Fail => {
                report.stop = Some((0, Refusal { offset: 0, reason: reason.clone() }));
                OversizedAction::Skip
            }
            Policy::Null => OversizedAction::Replace(self.null()),
            Policy::Drop => OversizedAction::Skip,
            _ if self.only_changed || !self.form.is_whole() => OversizedAction::Skip,
            _ if let Some(table) = self.target.selector.table()
                && !self.into.is_empty() =>
            {
                self.widener = Some(Widener::new(table));
                OversizedAction::Edit
            }
            _ => OversizedAction::Copy,
        }
    }

    /// Appends the result for a piece of an oversized record to `out`, if [`Job::long`] asked for pieces. The last
    /// piece, for which `is_last` is true, ends with the record end, or is empty if the input ends without one.
    pub fn piece(&mut self, piece: &[u8], is_last: bool, out: &mut Vec<u8>, report: &mut Report) {
        let end = self.records.end();
        match (&mut self.task, &mut self.results, &mut self.widener) {
            (Task::Check(check), ..) => check.piece(piece, is_last, report, end),
            // The piece has no key, so the record is kept.
            (_, Results::Keyed(_, frame), _) => {
                frame.write_piece(piece, Some(end).filter(|_| is_last), out);
                report.stats.bytes_in += piece.len() as u64;
                report.lines = memchr::memchr_iter(end, piece).count() as u64;
            }
            (.., Some(widener)) => {
                if let Some(table) = self.target.selector.table() {
                    widener.push(table, piece, is_last, out);
                }
            }
            _ => {}
        }
    }

    /// Returns the size of the chunks, in bytes, if one thread does all the work.
    pub fn block(&self) -> usize {
        // Keys are compared in one thread, so small chunks are enough.
        match (&self.task, &self.results) {
            (Task::Check(_), _) | (_, Results::Keyed(..)) => BLOCK,
            _ if self.target.selector.is_line() => 2 * BLOCK,
            _ => RECORDS_BLOCK,
        }
    }

    /// Returns an empty report that collects what this job needs.
    pub fn report(&self) -> Report {
        Report::new(self.places, self.rejects)
    }
}

/// The treatment of a record that does not fit in memory.
pub enum OversizedAction {
    /// The record is written unchanged.
    Copy,
    /// The record would be converted, but the preview does not show it.
    Unseen,
    /// The record is written as [`Job::piece`] changes it.
    Edit,
    /// The record is left out of the output.
    Skip,
    /// This text replaces the record, but not its record end.
    Replace(&'static [u8]),
    /// The record is not checked. Only jobs that write no records return this action.
    Pass,
    /// [`Job::piece`] writes the record, which has no key.
    Keyless,
    /// [`Job::piece`] processes the record, and there is no message.
    Pieces,
    /// [`Job::piece`] processes the record, which is not read as a URL.
    Escapes,
}
