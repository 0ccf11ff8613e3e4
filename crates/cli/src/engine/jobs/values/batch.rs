//! Work on many lines at once, as long as nothing in them is rejected.

use crate::ground::fault::OnFault;
use crate::value::handling::Handling;
use crate::value::policy::{Policies, Policy};
use crate::value::work::Work;

/// The least and the largest size of a batch. The largest is enough for the kernels. After a rejection batches are
/// small, so that one bad line does not make many slow.
const SIZES: (usize, usize) = (1024, 16 * 1024);

/// Works on batches of whole lines. It returns those lines to the caller in which something is, or may be, rejected.
#[derive(Clone)]
pub struct LineBatch {
    work: Work,
    handling: Handling,
    /// The largest size of the next batch.
    size: usize,
    /// The number of smallest batches in a row that were rejected, up to 4, and the number of batches to skip because
    /// of that.
    rejected: u32,
    skip: u32,
}

impl LineBatch {
    /// Does `work` on lines. Values that the caller has to treat, by `policies` or for the `rejects`, are rejected.
    pub fn new(work: Work, policies: Policies, rejects: bool) -> LineBatch {
        let on = |policy| if policy == Policy::Keep && !rejects { OnFault::Keep } else { OnFault::Refuse };
        let handling = Handling { malformed: on(policies.malformed), not_text: on(policies.not_text) };
        LineBatch { work, handling, size: SIZES.1, rejected: 0, skip: 0 }
    }

    /// Appends the result for the first lines of `rest` to `out`; lines end in `end`. Returns the length of these lines, and the
    /// length of the lines after them that the caller must work on one by one.
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
            // Tries the lines before the rejected one. An incomplete escape is rejected at the end of the batch.
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
