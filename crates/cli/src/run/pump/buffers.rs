//! The buffers of a worker thread.

use super::feed::Block;
use crate::convert::report::Report;

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

    /// Returns these buffers for another job, with the empty `report` of that job.
    pub fn with_report(self, report: Report) -> Buffers {
        Buffers { report, ..self }
    }

    /// Clears the output and the report of the last block.
    pub fn clear(&mut self) {
        self.out.clear();
        self.report.clear();
    }

    /// Reports whether a long record has made the block grow.
    pub fn has_grown(&self) -> bool {
        self.block.len() > self.size
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
