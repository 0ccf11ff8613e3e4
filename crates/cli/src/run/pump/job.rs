//! Defines the interface of a job, which processes the input chunk by chunk.

use super::feed::{Chunk, Part};
use crate::common::reason::Reason;
use crate::convert::report::Report;
use crate::io::BLOCK;

/// Transforms chunks of input. Each worker thread owns a clone.
pub trait Job: Clone + Send {
    /// Appends the result for `chunk` to `out`. If the job sets `report.stop`, `out` holds the result up to the place
    /// of the error.
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report);

    /// Decides what to do with a record that does not fit in memory. `start` holds the first bytes of the record. If
    /// the record is rejected, this function adds the rejection to `report`.
    fn long(&mut self, start: &[u8], report: &mut Report) -> Long;

    /// Returns the last offset in `bytes` where a long record can be cut; `None` if there is no such offset.
    fn cut(&self, bytes: &[u8]) -> Option<usize>;

    /// Appends the result for a part of a long record to `out`, as far as the result is known yet.
    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report);

    /// Reports, after the last part of a long record, whether the results of its parts must be discarded. Appends
    /// their replacement, if there is one, to `out`.
    fn instead(&self, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Appends a piece of a record that [`Long::Edit`] copies to `out`. `is_end` says that the record ends there.
    fn edit(&mut self, _piece: &[u8], _is_end: bool, _out: &mut Vec<u8>) {}

    /// Returns the size of the chunks that one thread works on, in bytes.
    fn block(&self) -> usize {
        BLOCK
    }

    /// Returns an empty report that collects what this job needs.
    fn report(&self) -> Report;
}

/// The treatment of a record that does not fit in memory.
pub enum Long {
    /// The record is written unchanged, for this reason.
    Copy(Reason),
    /// The record is written piece by piece as [`Job::edit`] changes it, for this reason.
    Edit(Reason),
    /// The record is left out of the output, for this reason.
    Skip(Reason),
    /// This text is written instead of the record, without its end, for this reason.
    Instead(&'static [u8], Reason),
    /// The record is not checked, for this reason. Such a job does not write records.
    Pass(Reason),
    /// The record is processed in parts. If they are `held`, no result is written before the last part is done.
    Parts { held: bool },
}
