//! Defines the interface of a job, which processes the input chunk by chunk.

use super::feed::Chunk;
use crate::common::reason::Reason;
use crate::convert::report::Report;
use crate::io::BLOCK;

/// Transforms chunks of input. Each worker thread owns a clone.
pub trait Job: Clone + Send {
    /// Appends the result for `chunk` to `out`. If the job sets `report.stop`, `out` holds the result up to the record
    /// with the error.
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report);

    /// Decides what to do with a record that is unreadable for `reason`: it does not fit in memory. `start` holds the first bytes
    /// of the record. If the record is rejected, this function adds the rejection to `report`.
    fn long(&mut self, start: &[u8], reason: &Reason, report: &mut Report) -> Long;

    /// Appends the result for a piece of a record that [`Job::long`] wants to see, the last one if `is_last`, to `out`. The last piece ends
    /// with the record end, or is empty if the input ends without one.
    fn piece(&mut self, _piece: &[u8], _is_last: bool, _out: &mut Vec<u8>, _report: &mut Report) {}

    /// Returns the size of the chunks that one thread works on, in bytes.
    fn block(&self) -> usize {
        BLOCK
    }

    /// Returns an empty report that collects what this job needs.
    fn report(&self) -> Report;
}

/// The treatment of a record that does not fit in memory.
pub enum Long {
    /// The record is written unchanged.
    Copy,
    /// The run is a preview, which does not show the record, but it would be converted.
    Unseen,
    /// The record is written as [`Job::piece`] changes it.
    Edit,
    /// The record is left out of the output.
    Skip,
    /// This text is written instead of the record, without its end.
    Instead(&'static [u8]),
    /// The record is not checked. Such a job does not write records.
    Pass,
    /// [`Job::piece`] processes the record, and there is no message.
    Pieces,
}
