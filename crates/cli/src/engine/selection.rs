//! Where values are, as it was asked for: from that to a selector, and to the bytes that work must not make.

use simdpct::ByteSet;

use crate::ground::records::Records;
use crate::select::Selector;
use crate::select::csv::Table;
use crate::select::edit::Form;
use crate::select::fields::{Delimiter, Fields, Split, Spot};
use crate::select::jsonl::{KeyPath, Keys};
use crate::select::logfmt::Pairs;
use crate::select::logs::{Log, Meaning};
use crate::value::options::{DecodeOptions, Verb};
use crate::value::work::Work;

/// Where values are.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Each record is one.
    Records,
    Fields(Vec<Spot>),
    Columns(Columns),
    Keys(Vec<KeyPath>),
    Pairs(Vec<KeyPath>),
    Log(Log),
    /// The columns of Parquet files, which have no records to search.
    Parquet(Vec<String>),
}

/// What is written of records.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Only values, ...
    pub only: bool,
    /// ... those of one record joined by this.
    pub delimiter: Option<u8>,
    /// The names under which new values are written beside the old ones.
    pub into: Vec<String>,
    /// Only records in which something changes.
    pub only_changed: bool,
}

/// A table's columns, as they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub names: Vec<String>,
    pub has_header: bool,
    /// Whether only the first file's header is written.
    pub one_header: bool,
}

/// A selector and what goes with it.
pub struct Places {
    pub selector: Selector,
    /// The bytes that work must not make in a value, by what is around it.
    kept: [ByteSet; 3],
    /// Whether what a line means depends on lines before it, so that the work cannot be spread.
    pub is_sequential: bool,
    /// The columns, if it selects some.
    pub columns: Columns,
}

/// A selector and the work on what it finds.
pub struct Selected {
    pub places: Places,
    /// The work, by what is around a value.
    pub work: [Work; 3],
    /// What an empty value is written as.
    pub empty: &'static [u8],
    /// The value that says that there is none; empty if nothing does.
    pub none: &'static [u8],
    /// What is written of a record.
    pub form: Form,
}

impl Selection {
    /// Whether each record is a value.
    pub fn is_records(&self) -> bool {
        matches!(self, Selection::Records)
    }

    /// Whether `delimiter` may be said.
    fn has_delimiter(&self) -> bool {
        matches!(self, Selection::Fields(_) | Selection::Columns(_))
    }

    /// The columns of Parquet files, if that is what is worked on.
    pub fn parquet(&self) -> Option<&[String]> {
        match self {
            Selection::Parquet(columns) => Some(columns),
            _ => None,
        }
    }

    /// Whether `shape` and a delimiter go with it; or what to tell the person.
    pub fn check(&self, shape: &Shape, has_delimiter: bool, records: Records) -> Result<(), String> {
        if has_delimiter && !self.has_delimiter() {
            return Err("--delimiter needs --field or --csv".to_owned());
        }
        if shape.only && self.is_records() {
            return Err(
                "--only needs --field, --csv, --jsonl, --logfmt or --log: of a whole line, all is the value"
                    .to_owned(),
            );
        }
        if shape.only_changed && records == Records::Raw {
            return Err("--only-changed is about lines, and with --raw there are none".to_owned());
        }
        let Shape { into, .. } = shape;
        if into.is_empty() {
            return Ok(());
        }
        let (count, what) = match self {
            Selection::Columns(Columns { has_header: false, .. }) => {
                return Err("--into: with --no-header there is no place for the name".to_owned());
            }
            Selection::Columns(Columns { names, .. }) => (names.len(), "columns"),
            Selection::Keys(paths) => {
                if let Some(path) = paths.iter().find(|path| !path.is_member()) {
                    return Err(format!(
                        "--into: '{path}' is no member of an object, so nothing can be beside it"
                    ));
                }
                (paths.len(), "keys")
            }
            _ => return Err("--into needs --csv or --jsonl".to_owned()),
        };
        if count != into.len() {
            return Err(format!("--into: {} names for {count} {what}", into.len()));
        }
        Ok(())
    }

    /// What finds values in `records`. With names `into`, new values are written beside the old ones. `mends` says that the
    /// work may make structure however it is told not to, and `nginx` that strings may hold `\xHH`.
    pub fn places(
        &self,
        records: Records,
        delimiter: Option<Delimiter>,
        into: &[String],
        mends: bool,
        nginx: bool,
    ) -> Result<Places, String> {
        let structure = records.structure();
        let mut is_sequential = false;
        let mut table = Columns::default();
        let (selector, kept) = match self {
            Selection::Records => (Selector::Line, [structure; 3]),
            Selection::Fields(spots) => {
                let split = Split::from(delimiter.unwrap_or(Delimiter::Blanks));
                (Selector::Fields(Fields::new(spots, split, mends)?), split.kept(structure))
            }
            Selection::Columns(columns) => {
                table = columns.clone();
                let delimiter = match delimiter {
                    None => b',',
                    Some(Delimiter::Byte(byte)) => byte,
                    Some(Delimiter::Blanks) => {
                        return Err("CSV cannot be separated by blanks; give --delimiter one byte".to_owned());
                    }
                };
                (Selector::Table(Table::new(delimiter)), [ByteSet::EMPTY; 3])
            }
            Selection::Keys(paths) => (Selector::Keys(Keys::new(paths, into, nginx)), [ByteSet::EMPTY; 3]),
            Selection::Pairs(keys) => {
                let keys = keys.iter().map(|key| key.text().to_owned()).collect();
                (Selector::Pairs(Pairs::new(keys)), [ByteSet::EMPTY; 3])
            }
            Selection::Log(log) => match log.meaning() {
                Meaning::Fields(spots, split) => {
                    (Selector::Fields(Fields::new(spots, split, mends)?), split.kept(structure))
                }
                Meaning::Named(legend, split) => {
                    is_sequential = true;
                    (Selector::Fields(Fields::named(legend, split, mends)), split.kept(structure))
                }
                Meaning::Keys(paths) => (Selector::Keys(Keys::new(&paths, &[], nginx)), [ByteSet::EMPTY; 3]),
            },
            Selection::Parquet(_) => return Err("--parquet: there are no records to select from".to_owned()),
        };
        Ok(Places { selector, kept, is_sequential, columns: table })
    }

    /// What finds values, and works on them.
    pub fn selected(
        &self,
        verb: &Verb,
        records: Records,
        delimiter: Option<Delimiter>,
        shape: &Shape,
    ) -> Result<Selected, String> {
        let mends = verb.may_make_structure() && !shape.only;
        let places = self.places(records, delimiter, &shape.into, mends, verb.is_nginx())?;
        let (selector, mut kept) = (&places.selector, places.kept);
        let has_blanks = matches!(selector, Selector::Fields(fields) if fields.is_separated_by_blanks());
        // As logs have it.
        let none: &[u8] = if has_blanks { b"-" } else { b"" };
        let mut form = Form::Whole;
        let mut empty: &[u8] = b"";
        if shape.only {
            // What is around a value does not matter, but that it is a line does.
            let ends = records.structure().union(Records::Lines.structure());
            kept = [shape.delimiter.map_or(ends, |delimiter| ends.add(&[delimiter])); 3];
            form = Form::Values { delimiter: shape.delimiter, end: records.end() };
        } else {
            // An empty field would be no field.
            empty = none;
        }
        // In JSON, nginx's escapes are those of the string, and undone with the others.
        let verb = match verb {
            Verb::Decode(options) if matches!(selector, Selector::Keys(_)) => {
                &Verb::Decode(DecodeOptions { nginx: false, ..options.clone() })
            }
            verb => verb,
        };
        if kept.into_iter().any(|kept| verb.may_garble(kept)) {
            return Err("--charset iso-2022-jp spells characters with bytes that separate fields as well; \
                 choose values by --csv or --jsonl, or write them alone with --only"
                .to_owned());
        }
        let work = kept.map(|kept| Work::on_values(verb, kept));
        Ok(Selected { places, work, empty, none, form })
    }
}
