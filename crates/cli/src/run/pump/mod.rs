//! Passes input through a job to a sink: in one thread, or in several with the order kept.
//!
//! Each thread locks the feed, which cuts the input into chunks, to take the next chunk. Then it processes this chunk,
//! and waits for its turn to write the result. The number of buffers is the number of threads, however long the input
//! is, and results have the order of the chunks.

pub mod feed;
mod long;
mod threads;

use self::feed::{Block, Feed, Piece};
pub use self::threads::Threads;
use super::job::Job;
use crate::common::error::Failure;
use crate::convert::report::Report;
use crate::print::Sink;

/// Inputs of fewer bytes run on one thread: starting threads would cost more than they save. Threads start when this
/// many bytes have been processed, or at once if the file has at least as many.
const SMALL: u64 = 2 << 20;

/// The buffers of the last small file, which the next file reuses.
#[derive(Default)]
pub struct Workspace(Option<Buffers>);

/// Passes the input of `feed` through `job` to `sink`.
pub fn pump(
    mut feed: Feed<'_>,
    mut job: Job,
    sink: &mut Sink<'_>,
    threads: Threads,
    workspace: &mut Workspace,
) -> Result<(), Failure> {
    let mut buffers = match workspace.0.take() {
        Some(buffers) => Buffers { report: job.report(), ..buffers },
        None => Buffers::new(job.block(), job.report()),
    };
    let start = feed.offset;
    let mut number = None;
    loop {
        if number.is_none() && (feed.offset - start).max(feed.rest_of_file()) >= SMALL {
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
            Piece::Long { offset } => long::pass(&mut feed, &mut job, &mut buffers, sink, offset)?,
            Piece::End => {
                buffers.shrink();
                workspace.0 = Some(buffers);
                return Ok(());
            }
        }
    }
}

/// Returns the capacity of the output buffer for one block of input. It is enough if each byte becomes a three-byte
/// escape, so results need not be measured in advance. The operating system allocates only those pages that are
/// written.
const fn capacity(block: usize) -> usize {
    3 * block + 4096
}

/// The buffers of a worker thread: a block of input, its result, and its report.
pub struct Buffers {
    size: usize,
    pub block: Block,
    pub out: Vec<u8>,
    pub report: Report,
}

impl Buffers {
    /// Creates buffers for blocks of `size` bytes.
    pub fn new(size: usize, report: Report) -> Buffers {
        Buffers { size, block: Block::new(size), out: Vec::with_capacity(capacity(size)), report }
    }

    /// Clears the output and the report of the last block.
    pub fn clear(&mut self) {
        self.out.clear();
        self.report.clear();
    }

    /// Reports whether a long record has made the block grow.
    pub fn has_grown(&self) -> bool {
        self.block.bytes.len() > self.size
    }

    /// Frees the additional memory that a long record needed.
    pub fn shrink(&mut self) {
        if self.has_grown() {
            self.block = Block::new(self.size);
        }
        self.out.clear();
        self.out.shrink_to(capacity(self.size));
    }
}
