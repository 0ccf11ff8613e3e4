//! Converts the input as one stream of bytes, which may be cut inside records.

use crate::common::error::{Failure, Outcome};
use crate::common::fault::Handling;
use crate::common::reason::Reason;
use crate::common::records::Records;
use crate::convert::Conversion;
use crate::convert::report::Report;
use crate::convert::stats::Stats;
use crate::io::BLOCK;
use crate::io::files::{self, Destination};
use crate::io::names::Sources;
use crate::print::boundary::FileBoundary;
use crate::print::{Print, Sink};
use crate::run::pump::feed::{Chunk, Cut, Feed};
use crate::run::pump::job::{Job, Long};
use crate::run::pump::{Threads, Workspace, pump};

/// Runs `job` on each file.
pub fn run(
    sources: &Sources,
    destination: &Destination,
    job: &Blocks,
    threads: Threads,
) -> Result<Outcome, Failure> {
    let mut workspace = Workspace::default();
    files::each(sources, destination, |inputs, output| {
        let mut boundary = FileBoundary::new(job.records);
        inputs.each(|input| {
            output.reads(input.version(), input.name())?;
            let (mut stats, mut print) = (Stats::default(), Print::Result);
            let mut sink = Sink::new(output, &mut stats, &mut boundary, &mut print, input.name());
            let mut feed = Feed::new(input, Cut::Blocks, usize::MAX);
            super::pass_byte_order_mark(&mut feed, &mut sink, job.records, true)?;
            pump(feed, job.clone(), sink, threads, &mut workspace)?;
            Ok(true)
        })
    })
}

/// The job that converts chunks that may begin and end inside a record. Its conversion converts each byte or escape by itself.
#[derive(Clone)]
pub struct Blocks {
    convert: Conversion,
    records: Records,
}

impl Blocks {
    /// Creates the job that applies `convert` to an input that consists of `records`.
    pub fn new(convert: Conversion, records: Records) -> Blocks {
        Blocks { convert, records }
    }
}

impl Job for Blocks {
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report) {
        report.is_open = chunk.bytes.last().is_some_and(|last| *last != self.records.end());
        self.convert.set_before(chunk.before);
        let done = self.convert.convert_many(chunk.bytes, self.records, Handling::KEEP, out);
        debug_assert!(done == chunk.bytes.len(), "nothing is rejected");
    }

    fn long(&mut self, _: &[u8], _: &Reason, _: &mut Report) -> Long {
        debug_assert!(false, "there is a place to cut in each block");
        Long::Copy
    }

    fn block(&self) -> usize {
        2 * BLOCK
    }

    fn report(&self) -> Report {
        Report::default()
    }
}
