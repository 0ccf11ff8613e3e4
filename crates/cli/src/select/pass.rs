//! The arguments of the functions that rewrite a record.

use std::ops::Range;

use super::edit::Edit;
use crate::ground::reason::{Reason, Refusal};
use crate::value::policy::{Action, Record, Treat};
use crate::value::report::Report;

/// A record to rewrite, with the treatment of its values, the output and the report.
pub struct Pass<'p, 'e, T> {
    pub record: Record<'p>,
    pub treatment: &'p mut T,
    pub edit: &'p mut Edit<'e>,
    pub report: &'p mut Report,
}

impl<T: Treat> Pass<'_, '_, T> {
    /// Returns the action for a record that cannot be read from `offset` of the chunk on.
    pub fn unreadable(&mut self, offset: usize, reason: Reason) -> Action {
        self.treatment.unreadable(self.record, Refusal { offset, reason }, self.report)
    }

    /// Returns the action for a record of which a value cannot be read, and nobody knows where it is. If the record is kept, the other
    /// values can be written.
    pub fn unreadable_part(&mut self, offset: usize, reason: Reason) -> Action {
        let action = self.unreadable(offset, reason);
        let is_kept = matches!(action, Action::Copy | Action::Null);
        self.report.stats.partial += u64::from(is_kept);
        if is_kept { Action::Write } else { action }
    }

    /// Returns the action for the value number `rank`, at `place` in the chunk, which cannot be read. If the record is kept,
    /// only this value stays as it is, because the other values of the record can be read. `none` is written for it if the
    /// policy is [`OnRejected::Null`](crate::value::policy::OnRejected::Null).
    pub fn unreadable_value(
        &mut self,
        rank: usize,
        offset: usize,
        reason: Reason,
        place: Range<usize>,
        none: &str,
    ) -> Action {
        let action = self.unreadable(offset, reason);
        self.report.stats.partial += u64::from(matches!(action, Action::Copy | Action::Null));
        match action {
            Action::Copy => Action::Write,
            Action::Null => {
                let out = self.edit.copy_to(place.start);
                let from = out.len();
                out.extend_from_slice(none.as_bytes());
                self.edit.close(rank, from, place.end);
                self.edit.change();
                Action::Write
            }
            action => action,
        }
    }
}
