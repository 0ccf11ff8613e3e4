//! Converts many lines with one call, as long as none of them is rejected.

use crate::common::fault::{Handling, OnFault};
use crate::convert::policy::{OnRejected, Policies, Policy};
use crate::convert::work::Work;

/// The minimum and maximum size of a batch, in bytes. The maximum is large enough for full speed. After a rejection,
/// batches are smaller, so that one bad line does not slow down many others.
const SIZES: (usize, usize) = (1024, 16 * 1024);

/// Converts batches of whole lines. The lines in which something is, or may be, rejected are left to the caller.
#[derive(Clone)]
pub struct LineBatch {
    work: Work,
    handling: Handling,
    /// The maximum size of the next batch, in bytes.
    size: usize,
    /// The number of consecutive batches with a rejected line near their start, counted up to 4.
    rejected: u32,
    /// The number of next batches that are left to the caller without an attempt to convert them.
    skip: u32,
}

impl LineBatch {
    /// Creates the converter of lines by `work`. It rejects the values that the caller must handle: because of
    /// `policies`, or because rejected values are listed (`rejects`).
    pub fn new(work: Work, policies: Policies, rejects: bool) -> LineBatch {
        let on = |is_kept| if is_kept { OnFault::Keep } else { OnFault::Refuse };
        let converts_all = !rejects || work.copies_escapes();
        let handling = Handling {
            malformed: on(policies.malformed == Policy::Keep && converts_all),
            not_text: on(policies.not_text == Policy::Keep && converts_all),
            rejected: on(policies.rejected == OnRejected::Keep && !rejects),
        };
        LineBatch { work, handling, size: SIZES.1, rejected: 0, skip: 0 }
    }

    /// Returns the number of lines that were rejected but kept since the last call.
    pub fn take_kept(&self) -> u64 {
        self.work.take_kept()
    }

    /// Converts the first lines of `rest` and appends the result to `out`. Lines end in `end`. Returns the length of
    /// these lines, and the length of the following lines that the caller must convert one by one.
    pub fn apply(&mut self, rest: &[u8], end: u8, out: &mut Vec<u8>) -> (usize, usize) {
        let (least, most) = SIZES;
        let batch = &rest[..rest.len().min(self.size)];
        let end_of = |bytes: &[u8]| memchr::memrchr(end, bytes).map(|found| found + 1);
        let line_at = |at: usize| memchr::memchr(end, &rest[at..]).map_or(rest.len(), |found| at + found + 1);
        let mut len = end_of(batch).unwrap_or_else(|| line_at(0));
        if self.skip > 0 {
            self.skip -= 1;
            return (0, len);
        }
        let mut single = 0;
        while let Err(refusal) = self.work.apply(&rest[..len], self.handling, out) {
            // The next attempt ends before the rejected line. The offset of an incomplete escape can be the end of
            // the batch.
            let at = refusal.offset.min(len - 1);
            let clean = end_of(&rest[..at]).unwrap_or(0);
            single = line_at(at) - clean;
            self.size = (2 * clean).clamp(least, most);
            if clean < least {
                self.rejected = (self.rejected + 1).min(4);
                self.skip = (1 << self.rejected) - 2;
                return (0, clean + single);
            }
            len = clean;
        }
        if single == 0 {
            self.size = most.min(2 * self.size);
        }
        self.rejected = 0;
        (len, single)
    }
}
