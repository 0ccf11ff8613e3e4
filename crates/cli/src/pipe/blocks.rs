//! Bytes that are worked on wherever they can be cut, whatever records they are part of.

use std::num::NonZeroUsize;

use simdpct::MalformedCause;

use super::feed::{Cut, Feed};
use super::pump::{Job, Long, Sink, pump};
use super::reason::Reason;
use super::report::{Report, Stop};
use super::stats::Stats;
use crate::args::{Files, Target};
use crate::error::{Failure, Outcome};
use crate::files;
use crate::work::Work;

/// The longest stretch without a place to cut, for work that looks at more than a byte at a time. It bounds memory
/// use.
const LONGEST: usize = 1 << 20;

/// Does `work` to each file. `end` is what to count to say where something is.
pub fn run(
    files: &Files,
    target: &Target,
    work: Work,
    end: u8,
    jobs: Option<NonZeroUsize>,
) -> Result<Outcome, Failure> {
    let (cut, limit) = if work.is_blockwise() { (Cut::Blocks, usize::MAX) } else { (Cut::Pieces, LONGEST) };
    let line_end = (work.refuses() || !work.is_blockwise()).then_some(end);
    let job = Blocks { work, line_end };
    files::each(files, target, |inputs, output| {
        for input in inputs {
            let mut input = input?;
            output.forbid(input.file(), input.name())?;
            let (file, stats) = (input.name().to_owned(), &mut Stats::default());
            let sink = Sink { output: &mut *output, rejects: None, stats, file, lines: 0 };
            pump(Feed::new(&mut input, cut, limit), job.clone(), sink, super::threads(jobs))?;
        }
        Ok(())
    })
}

/// Works on chunks.
#[derive(Clone)]
struct Blocks {
    work: Work,
    /// What to count, if places matter.
    line_end: Option<u8>,
}

impl Job for Blocks {
    fn work(&mut self, chunk: &[u8], next: Option<u8>, out: &mut Vec<u8>, report: &mut Report) {
        let Err(refusal) = self.work.apply(chunk, out) else {
            report.lines = self.lines(chunk);
            return;
        };
        // What stands before is written, however the input was cut.
        let offset = refusal.offset();
        self.work.apply_lenient(&chunk[..offset], out);
        let reason = match (Reason::from(refusal), next) {
            (Reason::Malformed(MalformedCause::Truncated), Some(byte)) => {
                Reason::Malformed(MalformedCause::NotHex { offset: chunk.len(), byte })
            }
            (reason, _) => reason,
        };
        report.stop = Some(Stop { line: self.lines(&chunk[..offset]), offset, reason });
    }

    fn long(&mut self, _: &[u8], report: &mut Report) -> Long {
        let reason = Reason::Unbroken { len: LONGEST };
        report.stop = Some(Stop { line: 0, offset: 0, reason: reason.clone() });
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
