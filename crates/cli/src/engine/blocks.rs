//! Bytes that are worked on wherever they can be cut, whatever records they are part of.

use std::num::NonZeroUsize;

use simdpct::MalformedCause;

use super::feed::{Cut, Feed};
use super::pump::{Job, Long, Sink, pump};
use crate::ground::error::{Failure, Outcome};
use crate::ground::reason::{Reason, Refusal};
use crate::io::files::{self, Destination};
use crate::io::names::Sources;
use crate::value::Work;
use crate::value::options::{Handling, OnFault};
use crate::value::report::Report;
use crate::value::stats::Stats;

/// The longest stretch without a place to cut, for work that looks at more than a byte at a time. It bounds memory
/// use.
const LONGEST: usize = 1 << 20;

/// Does the work to each file.
pub fn run(
    sources: &Sources,
    destination: &Destination,
    job: &Blocks,
    threads: NonZeroUsize,
) -> Result<Outcome, Failure> {
    let (cut, limit) =
        if job.work.is_blockwise() { (Cut::Blocks, usize::MAX) } else { (Cut::Pieces, LONGEST) };
    files::each(sources, destination, |inputs, output| {
        for input in inputs {
            let mut input = input?;
            output.forbid(input.file(), input.name())?;
            let (file, stats) = (input.name().to_owned(), &mut Stats::default());
            let sink = Sink { output: &mut *output, rejects: None, stats, file, lines: 0 };
            pump(Feed::new(&mut input, cut, limit), job.clone(), sink, threads)?;
        }
        Ok(())
    })
}

/// Works on chunks.
#[derive(Clone)]
pub struct Blocks {
    work: Work,
    handling: Handling,
    /// What to count, if places matter.
    line_end: Option<u8>,
}

impl Blocks {
    /// Does `work`. `end` is what to count for line numbers; `is_strict` says that a malformed escape ends the run.
    pub fn new(work: Work, end: u8, is_strict: bool) -> Blocks {
        let malformed = if is_strict { OnFault::Refuse } else { OnFault::Keep };
        let line_end = (is_strict || !work.is_blockwise()).then_some(end);
        Blocks { work, handling: Handling { malformed, ..Handling::KEEP }, line_end }
    }
}

impl Job for Blocks {
    fn work(&mut self, chunk: &[u8], next: Option<u8>, out: &mut Vec<u8>, report: &mut Report) {
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
        report.stop = Some((self.lines(&chunk[..offset]), Refusal { offset, reason }));
    }

    fn long(&mut self, _: &[u8], report: &mut Report) -> Long {
        let reason = Reason::Unbroken { len: LONGEST };
        report.stop = Some((0, Refusal { offset: 0, reason: reason.clone() }));
        Long::Skip(reason)
    }

    fn report(&self) -> Report {
        Report::default()
    }
}

impl Blocks {
    fn lines(&self, bytes: &[u8]) -> u64 {
        self.line_end.map_or(0, |end| memchr::memchr_iter(end, bytes).count() as u64)
    }
}
