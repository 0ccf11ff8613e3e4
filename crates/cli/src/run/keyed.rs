//! Runs the verbs that compare keys: `top` counts them, and `dedup` keeps the first line of each.

use simdpct_records::Kind;

use super::tables::{self, Header};
use super::values::{self, Values};
use super::{Account, OutputOptions};
use crate::common::error::{Failure, Outcome};
use crate::common::fault::{Handling, Policy};
use crate::common::reason::Reason;
use crate::common::records::Records;
use crate::convert::policy::Record;
use crate::convert::report::Report;
use crate::convert::{Conversion, Value};
use crate::io::files::{self, Destination};
use crate::io::input::{Inputs, OnUnreadableInput};
use crate::io::names::Sources;
use crate::io::output::Output;
use crate::print::Sink;
use crate::print::boundary::FileBoundary;
use crate::print::keys::{Counts, Distinct, Frame, Identity, Top};
use crate::run::pump::feed::{Chunk, Cut, Feed};
use crate::run::pump::job::{Job, Long};
use crate::run::pump::{Threads, Workspace, pump};

/// Counts the values that `job` writes, in up to `memory` bytes. Returns the `most` frequent ones, and the outcome of reading.
pub fn top(
    sources: &Sources,
    quiet: bool,
    job: &Values,
    options: &OutputOptions,
    threads: Threads,
    (most, memory): (usize, usize),
) -> Result<(Top, Result<Outcome, Failure>), Failure> {
    let mut account = Account::open(options, false)?;
    let mut inputs = Inputs::open(sources, quiet, false, OnUnreadableInput::Done)?;
    let mut output = Output::stdout()?;
    let mut workspace = Workspace::default();
    let records = job.records();
    let mut counts = Counts::new(memory, records);
    inputs.each(|input| {
        account.admit(input, &mut output)?;
        let mut boundary = FileBoundary::new(records);
        let Account { rejects, stats, .. } = &mut account;
        let sink = Sink::new(&mut output, stats, &mut boundary, input.name());
        let sink = Sink { rejects: rejects.as_mut(), keys: Some(&mut counts), ..sink };
        values::pass(input, sink, job.clone(), &mut Header::default(), threads, &mut workspace)?;
        Ok(true)
    })?;
    let result = inputs.outcome().map(|()| Outcome::Clean);
    // Removes the progress bar before anything is printed.
    drop(inputs);
    let stats = account.close(&result)?;
    if result.is_ok() && !quiet {
        let target = job.target();
        tables::warn_missing(&target.selector, &target.columns, &stats)?;
        super::warn_rejected(&stats, Policy::Drop, Policy::Drop, options);
    }
    Ok((counts.top(most)?, result))
}

/// The options of `dedup`.
pub struct Dedup {
    /// The conversion of a record to its key.
    pub convert: Conversion,
    /// The selection and the conversion of the values that are the key, if it is not the whole record.
    pub values: Option<Values>,
    /// Whether keys are replaced by fingerprints of 128 bits.
    pub has_fingerprints: bool,
    pub records: Records,
    /// The memory for keys, in bytes.
    pub memory: usize,
    /// The memory limit for a record, in MiB.
    pub max_record: u32,
}

/// Keeps the first record of each key.
pub fn dedup(
    sources: &Sources,
    destination: &Destination,
    dedup: &Dedup,
    options: &OutputOptions,
    threads: Threads,
) -> Result<Outcome, Failure> {
    let mut account = Account::open(options, destination.sync)?;
    let mut workspace = Workspace::default();
    let identity = Identity::new(dedup.has_fingerprints);
    let job = Unique::new(dedup, identity.clone(), options);
    let result = files::each(sources, destination, |inputs, output| {
        let mut boundary = FileBoundary::new(dedup.records);
        let mut distinct = Distinct::new(dedup.memory, identity.clone());
        let mut header = Header::default();
        inputs.each(|input| {
            account.admit(input, output)?;
            let Account { rejects, stats, .. } = &mut account;
            let sink = Sink::new(output, stats, &mut boundary, input.name());
            let mut sink = Sink { rejects: rejects.as_mut(), keys: Some(&mut distinct), ..sink };
            let mut job = job.clone();
            if let Some(values) = &mut job.values {
                let feed = values::begin(input, &mut sink, values, &mut header)?;
                let threads = values.threads(threads);
                pump(feed, job, sink, threads, &mut workspace)?;
                return Ok(true);
            }
            let mut feed =
                Feed::new(input, Cut::Records(dedup.records.end()), (dedup.max_record as usize) << 20);
            super::pass_byte_order_mark(&mut feed, &mut sink, dedup.records, true)?;
            pump(feed, job, sink, threads, &mut workspace)?;
            Ok(true)
        })?;
        // The last line may have no end, if it is too long to have a key.
        boundary.next_file();
        if let Some(end) = boundary.before(&[], true) {
            output.write(&[end])?;
        }
        distinct.finish(|line| output.write(line))
    });
    let stats = account.close(&result)?;
    if result.is_ok() && !destination.quiet {
        if let Some(values) = &dedup.values {
            tables::warn_missing(&values.target().selector, &values.target().columns, &stats)?;
        }
        super::warn_rejected(&stats, Policy::Keep, Policy::Keep, options);
    }
    result
}

/// Writes each record with its key.
#[derive(Clone)]
struct Unique {
    /// The conversion of records to their keys.
    convert: Conversion,
    /// The selection and the conversion of the values that are the key, if it is not the whole record.
    values: Option<Values>,
    records: Records,
    rejects: bool,
    identity: Identity,
    /// A batch of records with their keys.
    frame: Frame,
    /// A buffer for the canonical forms of these records.
    keys: Vec<u8>,
}

/// The size of a batch of records, in bytes. If one record of a batch is rejected, all are converted one by one.
const BATCH: usize = 16 * 1024;

impl Unique {
    fn new(dedup: &Dedup, identity: Identity, options: &OutputOptions) -> Unique {
        Unique {
            convert: dedup.convert.clone(),
            values: dedup.values.clone(),
            records: dedup.records,
            rejects: options.rejects.is_some(),
            identity,
            frame: Frame::default(),
            keys: Vec::new(),
        }
    }

    /// Adds the records of `lines` to the frame. `texts` has a record with the key of each, and all but the last of `lines` have an end.
    fn push_all(&mut self, lines: &[u8], texts: &[u8]) {
        let end = self.records.end();
        let mut ends = memchr::memchr_iter(end, texts);
        let (mut at, mut start) = (0, 0);
        while at < lines.len() {
            // If the lines have the keys, one search is enough.
            let stop = ends.next().map_or(texts.len(), |at| at + 1);
            let next = match std::ptr::eq(lines, texts) {
                true => stop,
                false => memchr::memchr(end, &lines[at..]).map_or(lines.len(), |len| at + len + 1),
            };
            let mut key = start..start + self.records.without_end(&texts[start..stop]);
            if key.is_empty() {
                // A record without a key is always written, and no other key is a record end.
                key = stop - 1..stop;
            }
            self.frame.push(next - at, self.identity.of(&texts[key.clone()]), key);
            (at, start) = (next, stop);
        }
    }

    /// Adds the record of `bytes` from `start` to `end` to the frame, or reports that it has no key.
    fn push_one(&mut self, bytes: &[u8], start: usize, end: usize, report: &mut Report) {
        let stop = start + self.records.without_end(&bytes[start..end]);
        let mut key = self.keys.len()..self.keys.len();
        let keep = self.records.structure();
        let value = Value { bytes: &bytes[start..stop], kind: Kind::Text, keep: &keep };
        if let Err(refusal) = self.convert.convert(value, Handling::LEAVE_OUT, &mut self.keys) {
            report.stats.rejected += 1;
            let record = Record { chunk: bytes, start, stop, end: self.records.end() };
            record.refuse(report, start + refusal.offset, &refusal.reason);
            return self.frame.push(end - start, 0, key);
        }
        if self.keys.len() == key.start {
            self.keys.push(self.records.end());
        }
        key.end = self.keys.len();
        self.frame.push(end - start, self.identity.of(&self.keys[key.clone()]), key);
    }
}

impl Job for Unique {
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        let (bytes, end_byte) = (chunk.bytes, self.records.end());
        let mut start = 0;
        if let Some(values) = &mut self.values {
            self.frame.clear();
            values.push_keys(&chunk, &self.identity, &mut self.frame, report);
            self.frame.write(bytes, Some(end_byte), out);
            start = bytes.len();
        }
        while start < bytes.len() {
            let rest = &bytes[start..];
            let near = memchr::memrchr(end_byte, &rest[..rest.len().min(BATCH)]);
            let end = near.map_or_else(|| self.records.end_of(rest, 0), |at| at + 1);
            let lines = &rest[..end];
            self.frame.clear();
            self.keys.clear();
            let mut keys = std::mem::take(&mut self.keys);
            let done = self.convert.convert_many(lines, self.records, Handling::LEAVE_OUT, &mut keys);
            if done < lines.len() {
                keys.clear();
                self.keys = keys;
                let mut at = start;
                while at < start + end {
                    let next = self.records.end_of(bytes, at);
                    self.push_one(bytes, at, next, report);
                    at = next;
                }
                keys = std::mem::take(&mut self.keys);
            } else if keys == lines {
                keys.clear();
                self.push_all(lines, lines);
            } else {
                if keys.last() != Some(&end_byte) {
                    keys.push(end_byte);
                }
                self.push_all(lines, &keys);
            }
            std::mem::swap(&mut self.frame.keys, &mut keys);
            self.frame.write(lines, Some(end_byte), out);
            self.keys = keys;
            start += end;
        }
        report.stats.bytes_in += bytes.len() as u64;
        report.line(bytes, end_byte, bytes.len());
    }

    fn long(&mut self, start: &[u8], reason: &Reason, report: &mut Report) -> Long {
        report.stats.unreadable += 1;
        if self.rejects {
            report.refuse(0, 0, reason, start);
        }
        Long::Pieces
    }

    /// Writes the piece without a key, so that the record is kept.
    fn piece(&mut self, piece: &[u8], is_last: bool, out: &mut Vec<u8>, report: &mut Report) {
        let end = self.records.end();
        self.frame.clear();
        self.frame.push(piece.len(), 0, 0..0);
        self.frame.write(piece, Some(end).filter(|_| is_last), out);
        report.stats.bytes_in += piece.len() as u64;
        report.lines = memchr::memchr_iter(end, piece).count() as u64;
    }

    fn report(&self) -> Report {
        Report::new(true, self.rejects)
    }
}
