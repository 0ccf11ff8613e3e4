//! Converts the input as one stream of bytes, which may be cut inside records.

use simdpct::MalformedCause;

use super::streaming::Streaming;
use crate::common::error::{Failure, Outcome};
use crate::common::fault::{Handling, OnFault};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::convert::cut;
use crate::convert::report::{Report, Stop};
use crate::convert::stats::Stats;
use crate::convert::stream::Stream;
use crate::convert::work::Work;
use crate::io::BLOCK;
use crate::io::files::{self, Destination};
use crate::io::names::Sources;
use crate::print::Sink;
use crate::print::boundary::FileBoundary;
use crate::run::pump::feed::{Chunk, Cut, Feed, Part};
use crate::run::pump::job::{Job, Long};
use crate::run::pump::{Threads, Workspace, pump};

/// The maximum length, in bytes, of a stretch without a safe place to cut that is converted in memory. A longer one
/// goes through a [`Stream`].
const LONGEST: usize = 1 << 20;

/// Runs `job` on each file.
pub fn run(
    sources: &Sources,
    destination: &Destination,
    job: &Blocks,
    threads: Threads,
) -> Result<Outcome, Failure> {
    let (cut, limit) = if job.is_whole {
        (Cut::Never, LONGEST)
    } else if job.work.is_blockwise() {
        (Cut::Blocks, usize::MAX)
    } else {
        (Cut::Pieces, LONGEST)
    };
    let mut workspace = Workspace::default();
    files::each(sources, destination, |inputs, output| {
        let mut boundary = FileBoundary::new(job.records);
        inputs.each(|input| {
            output.reads(input.version(), input.name())?;
            let mut stats = Stats::default();
            let mut sink = Sink::new(output, &mut stats, &mut boundary, input.name());
            let mut feed = Feed::new(input, cut, limit);
            super::pass_byte_order_mark(&mut feed, &mut sink, job.records, true)?;
            pump(feed, job.clone(), sink, threads, &mut workspace)?;
            Ok(true)
        })
    })
}

/// The job that converts chunks that may begin and end inside a record.
#[derive(Clone)]
pub struct Blocks {
    work: Work,
    handling: Handling,
    records: Records,
    /// The byte that is counted for line numbers; `None` if positions are not reported.
    line_end: Option<u8>,
    /// Whether the input is one value that cannot be cut.
    is_whole: bool,
    /// The conversion state of a stretch that cannot be cut into independent parts.
    stream: Streaming,
}

impl Blocks {
    /// Creates the job that applies `work` to an input that consists of `records`. If `is_strict`, a malformed escape
    /// ends the run.
    pub fn new(work: Work, records: Records, is_strict: bool) -> Blocks {
        let malformed = if is_strict { OnFault::Refuse } else { OnFault::Keep };
        let is_whole = work.is_stateful();
        Blocks {
            work,
            handling: Handling { malformed, ..Handling::KEEP },
            records,
            line_end: is_strict.then_some(records.end()),
            is_whole,
            stream: Streaming::default(),
        }
    }
}

impl Job for Blocks {
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        let Chunk { bytes: chunk, before, next, .. } = chunk;
        report.is_open = self.is_open(chunk);
        self.work.set_before(before);
        let Err(refusal) = self.work.apply(chunk, self.handling, out) else {
            report.lines = self.lines(chunk);
            return;
        };
        // The bytes before the rejected escape are written, so that the output does not depend on where chunks end.
        let Refusal { offset, mut reason } = refusal;
        let result = self.work.apply(&chunk[..offset], Handling::KEEP, out);
        debug_assert!(result.is_ok(), "nothing is rejected");
        if let (Reason::Malformed(cause @ MalformedCause::Truncated), Some(byte)) = (&mut reason, next) {
            *cause = MalformedCause::NotHex { offset: chunk.len(), byte };
        }
        let line = self.lines(&chunk[..offset]);
        report.stop = Some(Stop { line, offset: offset as i64, reason });
    }

    fn long(&mut self, _: &[u8], _: &mut Report) -> Long {
        self.stream.end();
        Long::Parts { held: false }
    }

    fn cut(&self, bytes: &[u8]) -> Option<usize> {
        if self.is_whole { None } else { cut::anywhere(bytes) }
    }

    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report) {
        report.is_open = self.is_open(bytes);
        let stream = self.stream.push(|| Stream::new(&self.work, self.handling), bytes, part, out);
        report.too_deep = u64::from(part.is_cut && stream.is_too_deep());
        let malformed = stream.faults().malformed.clone();
        let rejected = malformed.filter(|_| self.handling.malformed == OnFault::Refuse);
        let place = rejected.map(|(at, reason)| (self.stream.relative(at, part), reason));
        if part.is_cut {
            self.stream.end();
        }
        match place {
            Some((offset, reason)) => {
                let line = usize::try_from(offset).map_or(0, |at| self.lines(&bytes[..at]));
                report.stop = Some(Stop { line, offset, reason });
            }
            None => report.lines = self.lines(bytes),
        }
    }

    fn block(&self) -> usize {
        2 * BLOCK
    }

    fn report(&self) -> Report {
        Report::default()
    }
}

impl Blocks {
    /// Reports whether `bytes` end with an incomplete record, one without its record end.
    fn is_open(&self, bytes: &[u8]) -> bool {
        bytes.last().is_some_and(|last| *last != self.records.end())
    }

    /// Counts the line ends in `bytes`. Returns 0 if positions are not reported.
    fn lines(&self, bytes: &[u8]) -> u64 {
        self.line_end.map_or(0, |end| memchr::memchr_iter(end, bytes).count() as u64)
    }
}
