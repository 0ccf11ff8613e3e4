//! The interface of a job: its work on one chunk.

use super::feed::{Chunk, Part};
use crate::ground::reason::Reason;
use crate::value::report::Report;

/// Transforms chunks of input. Each worker thread owns a clone.
pub trait Job: Clone + Send {
    /// Appends the result for `chunk` to `out`. If it sets `report.stop`, `out` holds the result up to that place.
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report);

    /// Decides what to do with a record that does not fit in memory. `start` is the part of it that does.
    /// If the record is rejected, this adds it to `report`.
    fn long(&mut self, start: &[u8], report: &mut Report) -> Long;

    /// Returns the last place in `bytes` where such a record can be cut.
    fn cut(&self, bytes: &[u8]) -> Option<usize>;

    /// Appends the result for a part of such a record to `out`, as far as it is known yet.
    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report);

    /// Reports, after the last part, whether something else is written instead of the results for the parts, and
    /// appends that to `out`.
    fn instead(&self, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Returns an empty report that collects what this job needs.
    fn report(&self) -> Report;
}

/// The treatment of a record that does not fit in memory.
pub enum Long {
    /// Write it unchanged.
    Copy(Reason),
    /// Leave it out.
    Skip(Reason),
    /// Do not check it; the job writes no records.
    Pass(Reason),
    /// Work on it in parts. If they are `held`, none is written before the last one is done.
    Parts { held: bool },
}
