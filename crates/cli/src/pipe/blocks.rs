//! Octets that are transformed wherever they are cut.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use simdpct::BadEscapeCause;
use simdpct::stream::Transform;

use super::feed::{Cut, Feed};
use super::pump::{Job, Sink, pump};
use super::reason::Reason;
use super::report::{Report, Stop};
use super::stats::Stats;
use crate::error::{Failure, Fault, Outcome};
use crate::input::{self, Input};
use crate::output::Output;

/// Passes each file through a transform of its own. `line_end` is what to count, if the transform can fail, to say
/// where.
pub fn run<T: Transform + Clone + Send>(
    files: &[PathBuf],
    target: Option<&Path>,
    transform: &T,
    line_end: Option<u8>,
    jobs: Option<NonZeroUsize>,
) -> Result<Outcome, Failure>
where
    Fault: From<T::Error>,
{
    let mut output = Output::create(target)?;
    for path in input::names(files) {
        let mut input = Input::open(path)?;
        output.forbid(input.file(), input.name())?;
        let job = Blocks { transform: transform.clone(), line_end };
        let (file, stats) = (input.name().to_owned(), &mut Stats::default());
        let sink = Sink { output: &mut output, rejects: None, stats, file, lines: 0 };
        pump(Feed::new(&mut input, Cut::Blocks, usize::MAX), job, sink, super::threads(jobs))?;
    }
    output.commit()?;
    Ok(Outcome::Clean)
}

/// Transforms chunks.
#[derive(Clone)]
struct Blocks<T> {
    /// At the start of its input: chunks are cut so that each can be one.
    transform: T,
    line_end: Option<u8>,
}

impl<T: Transform + Clone + Send> Job for Blocks<T>
where
    Fault: From<T::Error>,
{
    fn work(&mut self, chunk: &[u8], next: Option<u8>, out: &mut Vec<u8>, report: &mut Report) {
        let mut transform = self.transform.clone();
        let result = transform.push(chunk, out).and_then(|()| transform.finish(out));
        if let Err(error) = result {
            let Fault(escape) = error.into();
            // What stands before the escape is written. It is the first, so the same cannot fail up to there.
            out.clear();
            let mut transform = self.transform.clone();
            let _ = transform.push(&chunk[..escape.offset], out).and_then(|()| transform.finish(out));
            let cause = match (escape.cause, next) {
                (BadEscapeCause::Truncated, Some(octet)) => {
                    BadEscapeCause::NotHex { offset: chunk.len(), octet }
                }
                (cause, _) => cause,
            };
            let (line, offset) = (self.lines(&chunk[..escape.offset]), escape.offset);
            report.stop = Some(Stop { line, offset, reason: Reason::Malformed(cause) });
            return;
        }
        report.lines = self.lines(chunk);
    }

    fn long(&mut self, _: &[u8], _: &mut Report) -> bool {
        // Chunks end anywhere, so none is too long.
        true
    }

    fn report(&self) -> Report {
        Report::default()
    }
}

impl<T> Blocks<T> {
    fn lines(&self, octets: &[u8]) -> u64 {
        self.line_end.map_or(0, |end| memchr::memchr_iter(end, octets).count() as u64)
    }
}
