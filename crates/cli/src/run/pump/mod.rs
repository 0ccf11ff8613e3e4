//! Passes input through a job to a sink: in one thread, or in several with the order kept.
//!
//! Each thread locks the feed to take the next chunk, processes this chunk, and waits for its turn to write the
//! result. The number of buffers is the number of threads, however long the input is, and results have the order of
//! the chunks.

mod buffers;
pub mod feed;
pub mod job;
mod long;
mod threads;

use self::buffers::Buffers;
use self::feed::{Feed, Piece};
use self::job::Job;
pub use self::threads::Threads;
use crate::common::error::Failure;
use crate::print::Sink;

/// Inputs smaller than this run on one thread: starting threads would cost more than they save. Threads start when as
/// much has been processed, or at once if the input is a longer file.
const SMALL: u64 = 2 << 20;

/// The buffers of the last small file, which the next file reuses.
#[derive(Default)]
pub struct Workspace(Option<Buffers>);

/// Passes the input of `feed` through `job` to `sink`.
pub fn pump<J: Job>(
    mut feed: Feed<'_>,
    mut job: J,
    mut sink: Sink<'_>,
    threads: Threads,
    workspace: &mut Workspace,
) -> Result<(), Failure> {
    let mut buffers = match workspace.0.take() {
        Some(buffers) => buffers.with_report(job.report()),
        None => Buffers::new(job.block(), job.report()),
    };
    let start = feed.offset();
    let mut number = None;
    loop {
        if number.is_none() && (feed.offset() - start).max(feed.rest_of_file()) >= SMALL {
            number = Some(threads.number());
        }
        if let Some(number) = number.filter(|&number| number > 1) {
            drop(buffers);
            return threads::run(feed, job, sink, number);
        }
        buffers.clear();
        match feed.next(&mut buffers.block)? {
            Piece::Chunk { len, offset } => {
                let Buffers { block, out, report, .. } = &mut buffers;
                job.work(block.chunk(len), out, report);
                sink.take(offset, out, report)?;
            }
            Piece::Long { offset } => long::pass(&mut feed, &mut job, &mut buffers, &mut sink, offset)?,
            Piece::End => {
                buffers.shrink();
                workspace.0 = Some(buffers);
                return Ok(());
            }
        }
    }
}
