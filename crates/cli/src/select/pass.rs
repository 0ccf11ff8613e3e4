//! The arguments of the functions that rewrite a record.

use super::edit::Edit;
use crate::value::policy::Record;
use crate::value::report::Report;

/// A record to rewrite, with the treatment of its values, the output and the report.
pub struct Pass<'p, 'e, T> {
    pub record: Record<'p>,
    pub treatment: &'p mut T,
    pub edit: &'p mut Edit<'e>,
    pub report: &'p mut Report,
}
