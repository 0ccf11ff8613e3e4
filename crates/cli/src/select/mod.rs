//! Where the values of a record are: all of it, fields, columns of CSV or keys of JSON.
//!
//! What is not a value is copied in stretches as long as possible ([`edit`]).

pub mod csv;
pub mod edit;
pub mod fields;
pub mod jsonl;

use self::csv::Table;
use self::edit::Edit;
use self::fields::Fields;
use self::jsonl::Keys;
use crate::value::policy::{Action, Around, Policy, Record, Treatment};
use crate::value::report::Report;

/// Where the values of a record are.
#[derive(Clone)]
pub enum Selector {
    /// All of it is one.
    Line,
    Fields(Fields),
    Table(Table),
    Keys(Keys),
}

impl Selector {
    /// Rewrites the values of `record`. `has_quotes` says whether cells are quoted.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        has_quotes: bool,
        treatment: &mut Treatment,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        match self {
            Selector::Line => {
                let out = edit.copy_to(record.start);
                let place = |offset| record.start + offset;
                let action = treatment.value(Around::Plain, record.bytes(), out, record, report, place);
                edit.skip_to(record.stop);
                action
            }
            Selector::Fields(fields) => fields.rewrite(record, treatment, edit, report),
            Selector::Table(table) => table.rewrite(record, has_quotes, treatment, edit, report),
            Selector::Keys(keys) => keys.rewrite(record, treatment, edit, report).unwrap_or_else(|refusal| {
                report.stats.unreadable += 1;
                record.refuse(report, refusal.offset, &refusal.reason);
                match treatment.policies().malformed {
                    Policy::Drop => Action::Drop,
                    Policy::Fail => Action::Stop(refusal),
                    // There is no value that could be replaced.
                    Policy::Keep | Policy::Replace | Policy::Empty => Action::Copy,
                }
            }),
        }
    }
}
