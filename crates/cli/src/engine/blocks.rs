//! Bytes that are worked on wherever they can be cut, whatever records they are part of.

use simdpct::MalformedCause;

use super::feed::{Cut, Feed, Part};
use super::pump::{Chunk, Desk, Job, Long, Seam, Sink, Threads, pass_mark, pump};
use super::streaming::Streaming;
use crate::ground::error::{Failure, Outcome};
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};
use crate::ground::records::Records;
use crate::io::files::{self, Destination};
use crate::io::names::Sources;
use crate::value::cut;
use crate::value::handling::Handling;
use crate::value::report::{Report, Stop};
use crate::value::stats::Stats;
use crate::value::stream::Stream;
use crate::value::work::Work;

/// The longest stretch without a place to cut that is worked on in memory, for work that looks at more than a byte at a
/// time. What is longer goes through a [`Stream`].
const LONGEST: usize = 1 << 20;

/// Does the work to each file.
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
    let mut desk = Desk::default();
    files::each(sources, destination, |inputs, output| {
        let mut seam = Seam::new(job.records);
        inputs.each(|input| {
            output.reads(input.version(), input.name())?;
            seam.next_file();
            let (file, stats) = (input.name().to_owned(), &mut Stats::default());
            let mut sink = Sink {
                output: &mut *output,
                rejects: None,
                findings: None,
                stats,
                file,
                lines: 0,
                preview: None,
                seam: &mut seam,
            };
            let mut feed = Feed::new(input, cut, limit);
            if job.records != Records::Raw {
                pass_mark(&mut feed, &mut sink, true)?;
            }
            pump(feed, job.clone(), sink, threads, &mut desk)?;
            Ok(true)
        })
    })
}

/// Works on chunks.
#[derive(Clone)]
pub struct Blocks {
    work: Work,
    handling: Handling,
    /// What the input holds.
    records: Records,
    /// What to count, if places matter.
    line_end: Option<u8>,
    /// Whether all of the input is one value that cannot be cut.
    is_whole: bool,
    /// The work on a stretch that cannot be cut, if it is under way.
    stream: Streaming,
}

impl Blocks {
    /// Does `work` to `records`. `is_strict` says that a malformed escape ends the run.
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
        let Chunk { bytes: chunk, next, .. } = chunk;
        report.is_open = self.is_open(chunk);
        let Err(refusal) = self.work.apply(chunk, self.handling, out) else {
            report.lines = self.lines(chunk);
            return;
        };
        // What comes before is written, however the input was cut.
        let Refusal { offset, mut reason } = refusal;
        let result = self.work.apply(&chunk[..offset], Handling::KEEP, out);
        debug_assert!(result.is_ok(), "nothing is refused");
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
        // Of what was asked for, only malformed escapes are refused.
        let refused =
            stream.faults().malformed.clone().filter(|_| self.handling.malformed == OnFault::Refuse);
        let place = refused.map(|(at, reason)| (self.stream.relative(at, part), reason));
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

    fn report(&self) -> Report {
        Report::default()
    }
}

impl Blocks {
    /// Whether `bytes` end in a record without its end.
    fn is_open(&self, bytes: &[u8]) -> bool {
        bytes.last().is_some_and(|last| *last != self.records.end())
    }

    fn lines(&self, bytes: &[u8]) -> u64 {
        self.line_end.map_or(0, |end| memchr::memchr_iter(end, bytes).count() as u64)
    }
}
