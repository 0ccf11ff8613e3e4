//! Records whose values are looked at one by one.

use std::path::Path;

use simdpct::ByteSet;

use super::edit::Edit;
use super::feed::{Cut, Feed};
use super::fields::Fields;
use super::jsonl::Keys;
use super::pump::{Job, Long, Sink, pump};
use super::reason::Reason;
use super::rejects::Rejects;
use super::report::{Report, SHOWN, Stop};
use super::stats::Stats;
use super::table::{Ends, Table};
use super::treat::{Policies, Record, Spot, Treatment, Verdict};
use crate::args::{Delimiter, Files, Pipe, Policy, Target};
use crate::error::{Failure, Outcome};
use crate::files;
use crate::input::Input;
use crate::output;
use crate::record::Records;
use crate::work::Work;

/// What software puts before text to say that it is UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether `args` ask for values one by one, even if the work does not.
pub fn are_wanted(args: &Pipe, policies: Policies) -> bool {
    !args.field.is_empty()
        || args.csv
        || args.jsonl
        || args.delimiter.is_some()
        || args.rejects.is_some()
        || args.stats.is_some()
        || policies.utf8 != Policy::Keep
        || ![Policy::Keep, Policy::Fail].contains(&policies.malformed)
}

/// Does, to each value of each file, what `work` makes of the bytes that would break a record.
pub fn run(
    files: &Files,
    target: &Target,
    args: &Pipe,
    policies: Policies,
    records: Records,
    work: impl Fn(ByteSet) -> Work,
) -> Result<Outcome, Failure> {
    if records == Records::Raw {
        return Err(Failure::Usage("this needs values, and with --raw there are none".to_owned()));
    }
    if let Some(rejects) = &args.rejects {
        rejects_are_apart(rejects, files, target)?;
    }
    let job = job(args, policies, records, work)?;
    let mut rejects = args.rejects.as_deref().map(Rejects::create).transpose()?;
    let mut stats = Stats::default();
    let result = files::each(files, target, |inputs, output| {
        for input in inputs {
            let mut input = input?;
            output.forbid(input.file(), input.name())?;
            if let Some(rejects) = &rejects {
                rejects.forbid(input.file(), input.name())?;
            }
            let sink = Sink {
                file: input.name().to_owned(),
                output: &mut *output,
                rejects: rejects.as_mut(),
                stats: &mut stats,
                lines: 0,
            };
            pass(&mut input, sink, job.clone(), args)?;
        }
        Ok(())
    });
    // In place, what was refused in the files that were done counts even if others failed.
    if matches!(result, Ok(_) | Err(Failure::Reported { .. })) {
        rejects.map(Rejects::commit).transpose()?;
    }
    if let Some(format) = args.stats {
        stats.print(format);
    }
    result
}

/// Fails when the file of `--rejects` is another file of the run as well, as far as these are known before it.
fn rejects_are_apart(rejects: &Path, files: &Files, target: &Target) -> Result<(), Failure> {
    let fail = |message: String| Err(Failure::Usage(message));
    let is_stdout = rejects.as_os_str() == "-" || output::is_stdout(rejects);
    if is_stdout && target.is_stdout() {
        return fail("--rejects and the output are both standard output".to_owned());
    }
    if target.output.as_deref().is_some_and(|output| output::is_one(output, rejects)) {
        return fail("--output and --rejects are the same file".to_owned());
    }
    for name in &files.files {
        if output::is_one(name, rejects) {
            return fail(format!("{}: an input and --rejects are the same file", name.display()));
        }
        if let Some(suffix) = target.in_place.as_deref().filter(|suffix| !suffix.is_empty())
            && output::is_one(&output::backup(name, suffix), rejects)
        {
            return fail(format!("{}: its backup and --rejects are the same file", name.display()));
        }
    }
    Ok(())
}

/// Passes one file.
fn pass(input: &mut Input, mut sink: Sink<'_>, mut job: RecordJob, args: &Pipe) -> Result<(), Failure> {
    let cut = match &job.selector {
        Selector::Table(table) => Cut::Table(table.delimiter()),
        _ => Cut::Records(job.end),
    };
    let mut feed = Feed::new(input, cut, (args.max_record as usize) << 20);
    if matches!(job.selector, Selector::Table(_) | Selector::Keys(_)) && feed.strip(BYTE_ORDER_MARK)? {
        sink.stats.bytes_in += BYTE_ORDER_MARK.len() as u64;
        sink.write(BYTE_ORDER_MARK)?;
    }
    if let Selector::Table(table) = &mut job.selector {
        if args.no_header {
            table.choose(&args.column, None).map_err(Failure::Usage)?;
        } else {
            let header = feed.first_record()?;
            if header.is_empty() {
                return Ok(());
            }
            let names = header.strip_suffix(b"\n").unwrap_or(&header);
            let names = names.strip_suffix(b"\r").unwrap_or(names);
            let chosen = table.choose(&args.column, Some(names));
            chosen.map_err(|message| Failure::Usage(format!("{}: {message}", feed.name())))?;
            sink.stats.bytes_in += header.len() as u64;
            sink.lines += memchr::memchr_iter(job.end, &header).count() as u64;
            sink.write(&header)?;
        }
    }
    pump(feed, job, sink, super::threads(args.jobs))
}

/// The job that `args` ask for.
fn job(
    args: &Pipe,
    policies: Policies,
    records: Records,
    work: impl Fn(ByteSet) -> Work,
) -> Result<RecordJob, Failure> {
    let structure = records.structure();
    let delimiter = if args.tsv { Some(Delimiter::Byte(b'\t')) } else { args.delimiter };
    let (selector, plain, quoted) = if !args.field.is_empty() {
        let delimiter = delimiter.unwrap_or(Delimiter::Blanks);
        let fields = Fields::new(&args.field, delimiter).map_err(Failure::Usage)?;
        let controls: Vec<u8> = (0..0x20).chain([0x7F]).collect();
        let structure = structure.add(&controls);
        let (plain, quoted) = match delimiter {
            Delimiter::Byte(byte) => (structure.add(&[byte]), structure),
            // In quotes, as Apache writes them, a backslash may make a quote no end.
            Delimiter::Blanks => (structure.add(b" \"\\"), structure.add(b"\"\\")),
        };
        (Selector::Fields(fields), plain, quoted)
    } else if args.csv {
        let Some(delimiter) = (match delimiter {
            None => Some(b','),
            Some(Delimiter::Byte(byte)) => Some(byte),
            Some(Delimiter::Blanks) => None,
        }) else {
            return Err(Failure::Usage("CSV cannot be separated by blanks".to_owned()));
        };
        (Selector::Table(Table::new(delimiter)), ByteSet::EMPTY, ByteSet::EMPTY)
    } else if args.jsonl {
        (Selector::Keys(Keys::new(&args.key)), ByteSet::EMPTY, ByteSet::EMPTY)
    } else if delimiter.is_some() {
        return Err(Failure::Usage("--delimiter needs --field or --csv".to_owned()));
    } else {
        (Selector::Line, structure, structure)
    };
    let empty: &[u8] = match selector {
        // An empty field would be no field.
        Selector::Fields(_) if matches!(delimiter, None | Some(Delimiter::Blanks)) => b"-",
        _ => b"",
    };
    let treatment = Treatment::new(work(plain), work(quoted), args, policies, empty);
    Ok(RecordJob {
        selector,
        treatment,
        end: records.end(),
        has_cr: records == Records::Lines,
        rejects: args.rejects.is_some(),
        places: args.rejects.is_some() || policies.can_fail(),
        stats: args.stats.is_some(),
        limit: args.max_record,
        parts: Parts::default(),
    })
}

/// Where the values of a record are.
#[derive(Clone)]
enum Selector {
    /// All of it is one.
    Line,
    Fields(Fields),
    Table(Table),
    Keys(Keys),
}

/// Looks at the values of chunks of whole records.
#[derive(Clone)]
struct RecordJob {
    selector: Selector,
    treatment: Treatment,
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
    limit: u32,
    parts: Parts,
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
    verdict: Option<Verdict>,
    /// Its line end.
    end: Vec<u8>,
}

impl RecordJob {
    /// The length of `record` without its end.
    fn without_end(&self, record: &[u8]) -> usize {
        match record {
            [start @ .., b'\r', end] if self.has_cr && *end == self.end => start.len(),
            [start @ .., end] if *end == self.end => start.len(),
            _ => record.len(),
        }
    }

    /// Rewrites the values of `record`.
    fn record(
        &mut self,
        record: Record<'_>,
        has_quotes: bool,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Verdict {
        let RecordJob { selector, treatment, .. } = self;
        match selector {
            Selector::Line => {
                let out = edit.copy_to(record.start);
                let place = |offset| record.start + offset;
                let verdict = treatment.value(Spot::Plain, record.bytes(), out, record, report, place);
                edit.skip_to(record.stop);
                verdict
            }
            Selector::Fields(fields) => fields.rewrite(record, treatment, edit, report),
            Selector::Table(table) => table.rewrite(record, has_quotes, treatment, edit, report),
            Selector::Keys(keys) => match keys.rewrite(record, treatment, edit, report) {
                Ok(verdict) => verdict,
                Err((offset, reason)) => {
                    report.stats.unreadable += 1;
                    record.refuse(report, offset, &reason);
                    match treatment.unreadable() {
                        Policy::Drop => Verdict::Drop,
                        Policy::Fail => Verdict::Stop(offset, reason),
                        // There is no value that could be replaced.
                        Policy::Keep | Policy::Replace | Policy::Empty => Verdict::Unreadable,
                    }
                }
            },
        }
    }
}

impl Job for RecordJob {
    fn work(&mut self, chunk: &[u8], _: Option<u8>, out: &mut Vec<u8>, report: &mut Report) {
        let mut ends = match &self.selector {
            Selector::Table(table) => Some(Ends::new(table.delimiter())),
            _ => None,
        };
        let mut edit = Edit::new(chunk, out);
        let mut start = 0;
        while start < chunk.len() {
            let rest = &chunk[start..];
            let (len, has_quotes) = match &mut ends {
                None => (memchr::memchr(self.end, rest).map_or(rest.len(), |found| found + 1), false),
                Some(ends) => ends.next(rest).unwrap_or_else(|| (rest.len(), ends.has_quotes())),
            };
            let end = start + len;
            let stop = start + self.without_end(&chunk[start..end]);
            let record = Record { chunk, start, stop, end: self.end, shown: None };
            let mark = edit.mark();
            match self.record(record, has_quotes, &mut edit, report) {
                Verdict::Keep | Verdict::Empty => {}
                Verdict::Unreadable => edit.rewind(mark),
                Verdict::Drop => {
                    edit.rewind(mark);
                    edit.copy_to(start);
                    edit.skip_to(end);
                    report.stats.dropped += 1;
                }
                Verdict::Stop(offset, reason) => {
                    edit.rewind(mark);
                    edit.copy_to(start);
                    let line = report.line(chunk, self.end, offset);
                    report.stop = Some(Stop { line, offset, reason });
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
        match self.treatment.unreadable() {
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

    fn part(&mut self, part: &[u8], is_last: bool, out: &mut Vec<u8>, report: &mut Report) {
        let stop = if is_last { self.without_end(part) } else { part.len() };
        let (value, end) = part.split_at(stop);
        let shown = Some(self.parts.start.as_slice());
        let record = Record { chunk: part, start: 0, stop, end: self.end, shown };
        let verdict = self.treatment.part(Spot::Plain, value, out, record, report, |offset| offset);
        let parts = &mut self.parts;
        parts.has_changed |= out != value;
        // It is one record, and is refused once.
        if parts.is_refused {
            report.refused.clear();
        }
        parts.is_refused |= !report.refused.is_empty();
        let stats = &mut report.stats;
        let is_not_text = stats.invalid_utf8 > 0;
        stats.invalid_utf8 = u64::from(is_not_text && !parts.is_not_text);
        parts.is_not_text |= is_not_text;
        if let Verdict::Stop(offset, reason) = verdict {
            let line = report.line(part, self.end, offset);
            report.stop = Some(Stop { line, offset, reason });
            return;
        }
        if verdict != Verdict::Keep {
            parts.verdict.get_or_insert(verdict);
        }
        stats.bytes_in += part.len() as u64;
        let counted = u64::from(self.stats && is_last);
        (stats.records, stats.values) = (counted, counted);
        match parts.verdict {
            None => {
                out.extend_from_slice(end);
                stats.changed = counted * u64::from(parts.has_changed);
            }
            Some(Verdict::Drop) => stats.dropped = u64::from(is_last),
            Some(_) => stats.changed = counted,
        }
        if is_last {
            parts.end = end.to_vec();
        }
        if self.places {
            report.line(part, self.end, part.len());
        }
    }

    fn instead(&self, out: &mut Vec<u8>) -> bool {
        if self.parts.verdict == Some(Verdict::Empty) {
            out.extend_from_slice(self.treatment.empty());
            out.extend_from_slice(&self.parts.end);
        }
        self.parts.verdict.is_some()
    }

    fn report(&self) -> Report {
        Report::new(self.places, self.rejects)
    }
}
