//! Converts many lines with one call, as long as none of them is rejected.

use crate::common::fault::{Handling, Policy};
use crate::common::records::Records;
use crate::convert::{Conversion, Escapes};

/// The minimum and maximum size of a batch, in bytes. The maximum is large enough for full speed. After a rejection,
/// batches are smaller, so that one bad line does not slow down many others.
const SIZES: (usize, usize) = (1024, 16 * 1024);

/// Converts batches of whole lines. The lines in which something is, or may be, rejected are left to the caller.
#[derive(Clone)]
pub struct LineBatch {
    convert: Conversion,
    records: Records,
    handling: Handling,
    /// The maximum size of the next batch, in bytes.
    size: usize,
    /// The number of consecutive batches with a rejected line near their start, counted up to 4.
    rejected: u32,
    /// The number of next batches that are left to the caller without an attempt to convert them.
    skip: u32,
}

impl LineBatch {
    /// Creates the converter of lines by `convert`. It rejects the values that the caller must handle: because of
    /// `policies`, or because rejected values are listed (`rejects`).
    pub fn new(convert: Conversion, records: Records, policies: Handling, rejects: bool) -> LineBatch {
        let on = |policy, is_listed| if is_listed || policy != Policy::Keep { Policy::Fail } else { policy };
        let is_listed = rejects && convert.escapes() != Some(Escapes::Copied);
        let handling = Handling {
            malformed: on(policies.malformed, is_listed),
            not_text: on(policies.not_text, is_listed),
            rejected: on(policies.rejected, rejects),
        };
        LineBatch { convert, records, handling, size: SIZES.1, rejected: 0, skip: 0 }
    }

    /// Returns the number of lines that were rejected but kept since the last call.
    pub fn take_kept(&mut self) -> u64 {
        self.convert.take_kept()
    }

    /// Converts the first lines of `rest` and appends the result to `out`. Returns the length of
    /// these lines, and the length of the following lines that the caller must convert one by one.
    pub fn apply(&mut self, rest: &[u8], out: &mut Vec<u8>) -> (usize, usize) {
        let (least, most) = SIZES;
        let last = memchr::memrchr(self.records.end(), &rest[..rest.len().min(self.size)]);
        let len = last.map_or_else(|| self.records.end_of(rest, 0), |last| last + 1);
        if self.skip > 0 {
            self.skip -= 1;
            return (0, len);
        }
        let done = self.convert.convert_many(&rest[..len], self.records, self.handling, out);
        if done == len {
            self.size = most.min(2 * self.size);
            self.rejected = 0;
            return (done, 0);
        }
        self.size = (2 * done).clamp(least, most);
        if done >= least {
            self.rejected = 0;
        } else {
            self.rejected = (self.rejected + 1).min(4);
            self.skip = (1 << self.rejected) - 2;
        }
        (done, self.records.end_of(rest, done) - done)
    }
}
