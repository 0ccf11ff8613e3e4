//! Where the values of a record are: all of it, fields, columns of CSV, keys of JSON or of logfmt.
//!
//! What is not a value is copied in stretches as long as possible ([`edit`]), or left out.

pub mod csv;
pub mod edit;
pub mod ends;
pub mod fields;
mod json;
pub mod jsonl;
mod legend;
pub mod logfmt;
pub mod logs;
mod spot;

use self::csv::Table;
use self::edit::Edit;
use self::fields::Fields;
use self::jsonl::Keys;
use self::logfmt::Pairs;
use crate::value::policy::{Action, At, Record, Treat};
use crate::value::report::Report;
use crate::value::stats::Stats;

/// Where the values of a record are.
#[derive(Clone)]
pub enum Selector {
    /// All of it is one.
    Line,
    Fields(Fields),
    Table(Table),
    Keys(Keys),
    Pairs(Pairs),
}

impl Selector {
    /// Rewrites the values of `record`. `has_quotes` says whether cells are quoted.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        has_quotes: bool,
        treatment: &mut impl Treat,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Action {
        match self {
            Selector::Line => {
                let out = edit.copy_to(record.start);
                let from = out.len();
                let place = |offset| record.start + offset;
                let action = treatment.value(At::plain(0), record.bytes(), out, record, report, place);
                edit.compare(from, record.bytes());
                edit.skip_to(record.stop);
                action
            }
            Selector::Fields(fields) => fields.rewrite(record, treatment, edit, report),
            Selector::Table(table) => table.rewrite(record, has_quotes, treatment, edit, report),
            Selector::Pairs(pairs) => pairs.rewrite(record, treatment, edit, report),
            Selector::Keys(keys) => match keys.rewrite(record, treatment, edit, report) {
                Ok(action) => action,
                Err(refusal) => treatment.unreadable(record, refusal, report),
            },
        }
    }

    /// What selects value number `index`: `field` and `5.2`, `column` and `url`, `key` and `request.url`.
    pub fn name(&self, index: usize) -> (&'static str, String) {
        match self {
            Selector::Line => ("line", String::new()),
            Selector::Fields(fields) => ("field", fields.spots()[index].to_string()),
            Selector::Table(table) => ("column", table.titles()[index].clone()),
            Selector::Keys(keys) => ("key", keys.paths()[index].to_string()),
            Selector::Pairs(pairs) => ("key", pairs.keys()[index].clone()),
        }
    }

    /// Whether all that was looked for is in what `stats` has counted, so that no message is due.
    pub fn has_found_all(&self, stats: &Stats) -> bool {
        stats.looked && self.missing(stats).is_empty()
    }

    /// Whether a record means the same whatever is before it, so that it can be passed by.
    pub fn can_pass_by(&self) -> bool {
        match self {
            Selector::Fields(fields) => fields.legend().is_none(),
            Selector::Line => false,
            _ => true,
        }
    }

    /// What to tell the person if no record had what was looked for, of which only those counted in `stats` were found;
    /// one message for each that was not.
    pub fn missing(&self, stats: &Stats) -> Vec<String> {
        let is_missing = |index: &usize| !stats.found(*index);
        if stats.clashes > 0 {
            let (count, plural) = (stats.clashes, if stats.clashes == 1 { "" } else { "s" });
            return vec![format!(
                "--into: that name is taken in {count} record{plural}, where nothing was added"
            )];
        }
        if let Selector::Keys(_) = self
            && !stats.looked
        {
            return match stats.unreadable {
                0 => Vec::new(),
                _ => vec![
                    "no line is JSON: --jsonl wants one document a line; `jq -c .` writes one, `jq -c '.[]'` the elements \
                     of an array"
                        .to_owned(),
                ],
            };
        }
        if !stats.looked {
            return Vec::new();
        }
        match self {
            Selector::Line => Vec::new(),
            Selector::Fields(fields) if fields.legend().is_some() => fields.missing(stats.found(0)),
            Selector::Fields(fields) => {
                let spots = fields.spots();
                let missing = (0..spots.len()).filter(is_missing);
                missing.map(|index| format!("no line has field {}", spots[index])).collect()
            }
            Selector::Table(table) => {
                let missing = (0..table.columns().len()).filter(is_missing);
                missing.map(|index| format!("no row has column {}", table.columns()[index] + 1)).collect()
            }
            Selector::Keys(keys) => {
                let missing = (0..keys.paths().len()).filter(is_missing);
                missing
                    .map(|index| format!("no line has a string at key '{}'", keys.paths()[index]))
                    .collect()
            }
            Selector::Pairs(pairs) => {
                let missing = (0..pairs.keys().len()).filter(is_missing);
                missing.map(|index| format!("no line has the key '{}'", pairs.keys()[index])).collect()
            }
        }
    }
}
