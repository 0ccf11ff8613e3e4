//! Runs the verbs that compare keys: `top` counts them, and `dedup` keeps the first line of each.

use twox_hash::XxHash3_128;

use super::tables::{self, Header};
use super::values::{self, Values};
use super::{Account, OutputOptions};
use crate::engine::pump::feed::{Chunk, Cut, Feed, Part};
use crate::engine::pump::job::{Job, Long};
use crate::engine::pump::{Threads, Workspace, pump};
use crate::engine::sink::Sink;
use crate::engine::sink::boundary::FileBoundary;
use crate::engine::sink::keys::{Counts, Distinct, Frame, Top};
use crate::ground::error::{Failure, Outcome};
use crate::ground::fault::{Handling, OnFault};
use crate::ground::reason::Reason;
use crate::ground::records::Records;
use crate::io::files::{self, Destination};
use crate::io::input::{Inputs, Others};
use crate::io::names::{Names, Sources};
use crate::io::output::Output;
use crate::io::progress::Progress;
use crate::value::options::Verb;
use crate::value::policy::{OnRejected, Record};
use crate::value::report::Report;
use crate::value::work::Work;

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
    let names = Names::new(sources)?;
    let progress = Progress::start(names.known(), quiet, false);
    let mut inputs = Inputs::new(sources, names, Others::Done, progress);
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
        super::warn_rejected(&stats, OnRejected::Drop, OnRejected::Drop, options);
    }
    Ok((counts.top(most)?, result))
}

/// The options of `dedup`.
pub struct Dedup {
    /// The conversion of a record to its key.
    pub verb: Verb,
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
    let job = Unique::new(dedup, options);
    let result = files::each(sources, destination, |inputs, output| {
        let mut boundary = FileBoundary::new(dedup.records);
        let mut distinct = Distinct::new(dedup.memory, dedup.has_fingerprints);
        inputs.each(|input| {
            account.admit(input, output)?;
            let Account { rejects, stats, .. } = &mut account;
            let sink = Sink::new(output, stats, &mut boundary, input.name());
            let mut sink = Sink { rejects: rejects.as_mut(), keys: Some(&mut distinct), ..sink };
            let mut feed =
                Feed::new(input, Cut::Records(dedup.records.end()), (dedup.max_record as usize) << 20);
            super::pass_byte_order_mark(&mut feed, &mut sink, dedup.records, true)?;
            pump(feed, job.clone(), sink, threads, &mut workspace)?;
            Ok(true)
        })?;
        distinct.finish(|line| output.write(line))
    });
    let stats = account.close(&result)?;
    if result.is_ok() && !destination.quiet {
        super::warn_rejected(&stats, OnRejected::Keep, OnRejected::Keep, options);
    }
    result
}

/// Writes each record with its key.
#[derive(Clone)]
struct Unique {
    /// The conversion of many records to their keys.
    many: Work,
    /// The conversion of one record.
    one: Work,
    records: Records,
    max_record: u32,
    rejects: bool,
    has_fingerprints: bool,
    /// A batch of records with their keys.
    frame: Frame,
    /// A buffer for the canonical forms of these records.
    keys: Vec<u8>,
    /// Whether a part of the current long record was written.
    has_begun: bool,
}

/// The size of a batch of records, in bytes. If one record of a batch is rejected, all are converted one by one.
const BATCH: usize = 16 * 1024;

impl Unique {
    fn new(dedup: &Dedup, options: &OutputOptions) -> Unique {
        Unique {
            many: Work::across(&dedup.verb, dedup.records),
            one: Work::on_values(&dedup.verb, dedup.records.structure()),
            records: dedup.records,
            max_record: dedup.max_record,
            rejects: options.rejects.is_some(),
            has_fingerprints: dedup.has_fingerprints,
            frame: Frame::default(),
            keys: Vec::new(),
            has_begun: false,
        }
    }
}

impl Job for Unique {
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        let handling = Handling { rejected: OnFault::Refuse, ..Handling::KEEP };
        let (bytes, records, end_byte) = (chunk.bytes, self.records, self.records.end());
        let mut start = 0;
        while start < bytes.len() {
            let rest = &bytes[start..];
            let near = memchr::memrchr(end_byte, &rest[..rest.len().min(BATCH)]);
            let end = near.or_else(|| memchr::memchr(end_byte, rest)).map_or(rest.len(), |at| at + 1);
            self.frame.clear();
            self.keys.clear();
            let is_whole = self.many.apply(&rest[..end], handling, &mut self.keys).is_ok();
            if !is_whole {
                self.keys.clear();
            }
            // The start of the next key in `self.keys`, and of the next line.
            let (mut next, mut at) = (0, start);
            while at < start + end {
                let len =
                    memchr::memchr(end_byte, &bytes[at..start + end]).map_or(start + end - at, |len| len + 1);
                let line = &bytes[at..at + len];
                let stop = at + records.without_end(line);
                let mut key = self.keys.len()..self.keys.len();
                if is_whole {
                    let rest = &self.keys[next..];
                    let len = memchr::memchr(end_byte, rest).map_or(rest.len(), |len| len + 1);
                    key = next..next + records.without_end(&rest[..len]);
                    next += len;
                } else if let Err(refusal) = self.one.apply(&bytes[at..stop], handling, &mut self.keys) {
                    report.stats.rejected += 1;
                    let record = Record { chunk: bytes, start: at, stop, end: end_byte, shown: None };
                    record.refuse(report, at + refusal.offset, &refusal.reason);
                    self.frame.push(len, 0..0);
                    at += len;
                    continue;
                } else {
                    key.end = self.keys.len();
                }
                if self.has_fingerprints {
                    let fingerprint = XxHash3_128::oneshot(&self.keys[key]).to_le_bytes();
                    key = self.frame.keys.len()..self.frame.keys.len() + fingerprint.len();
                    self.frame.keys.extend_from_slice(&fingerprint);
                } else if key.is_empty() {
                    // A record with an empty key would have none, and no other key is a record end.
                    key = self.keys.len()..self.keys.len() + 1;
                    self.keys.push(end_byte);
                }
                self.frame.push(len, key);
                at += len;
            }
            if !self.has_fingerprints {
                std::mem::swap(&mut self.frame.keys, &mut self.keys);
            }
            self.frame.write(&rest[..end], Some(end_byte), out);
            start += end;
        }
        report.stats.bytes_in += bytes.len() as u64;
        report.line(bytes, end_byte, bytes.len());
    }

    fn long(&mut self, _: &[u8], _: &mut Report) -> Long {
        self.has_begun = false;
        Long::Parts { held: false }
    }

    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        Some(bytes.len())
    }

    /// Writes the part without a key, so that the record is kept.
    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report) {
        if !std::mem::replace(&mut self.has_begun, true) {
            report.stats.unreadable += 1;
            if self.rejects {
                report.refuse(0, 0, &Reason::TooLong { limit: self.max_record }, bytes);
            }
        }
        let end = self.records.end();
        self.frame.clear();
        self.frame.push(bytes.len(), 0..0);
        self.frame.write(bytes, Some(end).filter(|_| part.is_last), out);
        report.stats.bytes_in += bytes.len() as u64;
        report.lines = u64::from(bytes.last() == Some(&end));
    }

    fn report(&self) -> Report {
        Report::new(true, self.rejects)
    }
}
