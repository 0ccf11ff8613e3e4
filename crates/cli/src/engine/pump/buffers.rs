//! The buffers of a worker thread.

use super::feed::Block;
use crate::value::report::Report;

/// Returns the capacity for the largest usual result of one block, so that no block is measured before it is encoded
/// and the buffer does not grow. The system provides only those pages that are written.
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
    /// Buffers for blocks of `size` bytes.
    pub fn new(size: usize, report: Report) -> Buffers {
        Buffers { size, block: Block::new(size), out: Vec::with_capacity(capacity(size)), report }
    }

    /// The same buffers for another job.
    pub fn with_report(self, report: Report) -> Buffers {
        Buffers { report, ..self }
    }

    /// Removes the results of the last block.
    pub fn clear(&mut self) {
        self.out.clear();
        self.report.clear();
    }

    /// Reports whether a long record has made the block grow.
    pub fn has_grown(&self) -> bool {
        self.block.len() > self.size
    }

    /// Frees the memory that a long record needed.
    pub fn shrink(&mut self) {
        if self.has_grown() {
            self.block = Block::new(self.size);
        }
        self.out.clear();
        self.out.shrink_to(capacity(self.size));
    }
}
