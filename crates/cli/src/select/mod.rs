//! Selects the values of a record: the whole record, columns of CSV, attributes of HTML, and the values that a syntax of the crate
//! of records finds.
//!
//! The text around the values is copied in as few pieces as possible ([`edit`]), or left out.

pub mod edit;
pub mod html;
pub mod pass;
pub mod records;
pub mod sweep;

use simdpct::ByteSet;
use simdpct_records::{Shape, Table};

use self::html::Html;
use self::pass::Pass;
use self::records::{Format, Places};
use self::sweep::Sweep;
use crate::value::policy::{Action, At, Treat};
use crate::value::stats::Stats;

/// The places of the values in a record.
#[derive(Clone)]
pub enum Selector {
    /// The whole record is one value.
    Line,
    /// The values that a syntax finds.
    Records(Box<Places>),
    /// Each record is a start tag.
    Html(Box<Html>),
}

impl Selector {
    /// Returns the columns of CSV, if these are the values.
    pub fn table(&self) -> Option<&Table> {
        match self {
            Selector::Records(places) => places.as_table(),
            _ => None,
        }
    }

    /// Rewrites the values of the record of `pass`.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        match self {
            Selector::Line => {
                let record = pass.record;
                let out = pass.edit.copy_to(record.start);
                let from = out.len();
                let place = |offset| record.start + offset;
                let action =
                    pass.treatment.value(At::plain(0), record.bytes(), out, record, pass.report, place);
                pass.edit.compare(from, record.bytes());
                pass.edit.skip_to(record.stop);
                action
            }
            Selector::Records(places) => places.rewrite(pass),
            Selector::Html(html) => html.rewrite(pass),
        }
    }

    /// Reports whether every record can be read.
    pub fn is_always_readable(&self) -> bool {
        match self {
            Selector::Line | Selector::Html(_) => true,
            Selector::Records(places) => places.is_always_readable(),
        }
    }

    /// Reports whether `record`, which contains no escape, seems to be readable. A record for which this returns false may be
    /// readable. Of JSON only the braces around it are checked; elsewhere, a record that seems to be readable is.
    pub fn looks_readable(&self, record: &[u8]) -> bool {
        match self {
            Selector::Line | Selector::Html(_) => true,
            Selector::Records(places) => places.looks_readable(record),
        }
    }

    /// Returns the search for escapes in many records at once, if only one value of each record is selected, and the bytes that
    /// these records cannot contain without a change of their syntax. `end` is the byte that ends a record.
    /// `is_new` says that new values become fields after the old ones.
    pub fn sweep(&self, end: u8, is_new: bool) -> Option<(Sweep, ByteSet)> {
        match self {
            Selector::Records(places) if end == b'\n' => {
                let sweep = places.sweep(is_new)?;
                let special = records::set_of(sweep.special());
                Some((Sweep(Box::new(sweep)), special))
            }
            _ => None,
        }
    }

    /// Lets `sweep` know the shape of `record`, which was read last and is readable.
    pub fn teach(&self, record: &[u8], sweep: &mut Sweep) {
        if let Selector::Records(places) = self {
            places.teach(record, &mut sweep.0);
        }
    }

    /// Returns the type and name of value number `index`, such as `field` and `5.2`, `column` and `url`, or `key` and
    /// `request.url`.
    pub fn name(&self, index: usize) -> (&'static str, String) {
        match self {
            Selector::Line => ("line", String::new()),
            Selector::Records(places) => places.name(index),
            Selector::Html(html) => ("attribute", html.name(index).to_owned()),
        }
    }

    /// Reports whether records are those of a log in JSON.
    pub fn is_json_log(&self) -> bool {
        let Selector::Records(places) = self else { return false };
        places.log().is_some_and(|log| matches!(log.layout.shape, Shape::Json(_)))
    }

    /// Reports whether records are JSON, which has a `null`.
    pub fn is_json(&self) -> bool {
        matches!(self, Selector::Records(places) if matches!(places.format, Format::Json))
    }

    /// Returns the number of selected places.
    pub fn count(&self) -> usize {
        match self {
            Selector::Line => 1,
            Selector::Records(places) => places.count(),
            Selector::Html(html) => html.count(),
        }
    }

    /// Reports whether every selected place was found at least once, so that [`Selector::missing`] has no messages.
    pub fn has_found_all(&self, stats: &Stats) -> bool {
        stats.searched && self.missing(stats).is_empty()
    }

    /// Reports whether records without an escape can be skipped: the meaning of a record does not depend on the records before it, and
    /// no escape of a server can be a `%`, or malformed.
    pub fn can_pass_by(&self) -> bool {
        match self {
            Selector::Records(places) => !places.is_sequential() && !places.is_unescaped(),
            Selector::Line | Selector::Html(_) => false,
        }
    }

    /// Returns one message for each selected place that no record had, by the counts in `stats`.
    pub fn missing(&self, stats: &Stats) -> Vec<String> {
        let is_missing = |index: &usize| !stats.found(*index);
        if stats.clashes > 0 {
            let (count, plural) = (stats.clashes, if stats.clashes == 1 { "" } else { "s" });
            return vec![format!(
                "--into: {count} record{plural} already had such a name, and its value was not added"
            )];
        }
        if self.is_json() && !stats.searched {
            let count = stats.unreadable;
            return match count {
                0 => Vec::new(),
                _ => vec![format!(
                    "no line is JSON, and {count} record{}: --jsonl expects one document per line; use `jq -c .`, or \
                     `jq -c '.[]'` for the elements of an array",
                    if count == 1 { " is unreadable" } else { "s are unreadable" }
                )],
            };
        }
        if !stats.searched {
            return Vec::new();
        }
        // An unreadable record may have what was not found.
        let line = if stats.unreadable > 0 { "no readable line" } else { "no line" };
        let name = |index: usize| match self {
            // No document has all attributes.
            Selector::Line | Selector::Html(_) => None,
            Selector::Records(places) => places.missing(index, line, |index| stats.found(index)),
        };
        if let Selector::Records(places) = self
            && (0..self.count()).all(|index| is_missing(&index))
            && let Some(message) = places.missing_all(line)
        {
            return vec![message];
        }
        let mut messages: Vec<String> = (0..self.count()).filter(is_missing).filter_map(name).collect();
        // The user can ask for a place twice.
        messages.dedup();
        messages
    }
}
