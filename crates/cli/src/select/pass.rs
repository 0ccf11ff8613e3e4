//! The arguments of rewriting a record.

use super::edit::Edit;
use crate::value::policy::Record;
use crate::value::report::Report;

/// A record that is rewritten, with everything that takes part.
pub struct Pass<'p, 'e, T> {
    pub record: Record<'p>,
    pub treatment: &'p mut T,
    pub edit: &'p mut Edit<'e>,
    pub report: &'p mut Report,
}
