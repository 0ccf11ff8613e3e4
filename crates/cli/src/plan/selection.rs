//! Turns the user's selection into a selector of values, and into a conversion that keeps the structure of records.

use simdpct::ByteSet;
use simdpct_records::{Dialect, Escaping, Form, KeyPath, Numbered, Quotes, Separator, Spec, Syntax, Table};

use crate::common::escape::escape;
use crate::common::records::Records;
use crate::convert::Conversion;
use crate::run::Target;
use crate::run::job::Selected;
use crate::run::logs::LogSelection;
use crate::run::tables::Columns;
use crate::select::{FieldName, Format, Selector};

/// The values that the user selected.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Each record is a value.
    Records,
    /// Each record is a value in which escapes of a server are undone.
    Unescaped,
    Fields(Vec<FieldName>, Separator),
    Columns(Columns),
    Keys(Vec<KeyPath>),
    Pairs(Vec<KeyPath>),
    Log(LogSelection),
    /// The URLs in attributes of HTML.
    Html,
}

/// The options that decide which parts of records are written.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Whether only the selected values are written, without the rest of the record.
    pub only_values: bool,
    /// Whether the selected values are the key of the record.
    pub is_key: bool,
    /// The byte that is written between the values of one record, if only the values are written.
    pub delimiter: Option<u8>,
    /// The names of new columns or keys for converted values, which are written beside the old ones.
    pub into: Vec<String>,
    /// Whether only changed records are written.
    pub only_changed: bool,
}

impl Selection {
    /// Reports whether each record is a value.
    pub fn is_records(&self) -> bool {
        matches!(self, Selection::Records)
    }

    /// Reports whether the user may name a delimiter.
    fn has_delimiter(&self) -> bool {
        matches!(self, Selection::Fields(..) | Selection::Columns(_))
    }

    /// Returns an error message if the options contradict each other.
    pub fn check(&self, shape: &Shape, has_delimiter: bool, records: Records) -> Result<(), String> {
        if has_delimiter && !self.has_delimiter() {
            return Err("--delimiter needs --field or --csv".to_owned());
        }
        if shape.only_values && self.is_records() {
            return Err(
                "--values needs --field, --csv, --jsonl, --logfmt, --log or --html: otherwise the whole line is the value"
                    .to_owned(),
            );
        }
        if matches!(self, Selection::Html) && (shape.only_changed || shape.delimiter.is_some()) {
            let option = if shape.only_changed { "--only-changed" } else { "--output-delimiter" };
            return Err(format!(
                "{option} needs records, and an HTML document is written as a whole; remove --html"
            ));
        }
        if shape.only_changed && records == Records::Raw {
            return Err("--only-changed writes lines, and --raw treats the input as one value; remove --raw"
                .to_owned());
        }
        let Shape { into, .. } = shape;
        if into.is_empty() {
            return Ok(());
        }
        let (count, what) = match self {
            Selection::Columns(Columns { has_header: false, .. }) => {
                return Err(
                    "--into names a column, and with --no-header there is no place for the name".to_owned()
                );
            }
            Selection::Columns(Columns { names, .. }) => (names.len(), "columns"),
            Selection::Keys(paths) => {
                if let Some(path) = paths.iter().find(|path| !path.is_member()) {
                    return Err(format!(
                        "--into: '{path}' is not a member of an object, so no member can be added beside it"
                    ));
                }
                (paths.len(), "keys")
            }
            _ => return Err("--into needs --csv or --jsonl".to_owned()),
        };
        if count != into.len() {
            return Err(format!("--into: {} names for {count} {what}", into.len()));
        }
        let is_beside = |before: usize, index: usize| match self {
            Selection::Keys(paths) => paths[before].is_beside(&paths[index]),
            _ => true,
        };
        let is_taken = |index: &usize| {
            (0..*index).any(|before| into[before] == into[*index] && is_beside(before, *index))
        };
        if let Some(index) = (0..count).find(is_taken) {
            return Err(format!("--into: the name '{}' is given twice", into[index]));
        }
        Ok(())
    }

    /// Returns the selector of the values in `records`, for a run that only reads the values.
    pub fn target(
        &self,
        records: Records,
        delimiter: Option<u8>,
        unescape: Escaping,
    ) -> Result<Target, String> {
        self.locate(records, delimiter, &[], unescape).map(|(target, _)| target)
    }

    /// Returns the selector of the values in `records`, and the bytes that the conversion must keep escaped in a value of the usual
    /// syntax. If `into` is not empty, it names the new columns or keys for converted values. `unescape` is undone in values.
    fn locate(
        &self,
        records: Records,
        delimiter: Option<u8>,
        into: &[String],
        unescape: Escaping,
    ) -> Result<(Target, ByteSet), String> {
        let structure = records.structure();
        let (mut columns, mut auto) = (Columns::default(), None);
        let (selector, kept) = match self {
            Selection::Records => (Selector::line(Escaping::None, Format::Whole), structure),
            Selection::Unescaped => (Selector::line(unescape, Format::Unescaped), structure),
            Selection::Fields(names, separator) => {
                let position = |name: &FieldName| match name {
                    FieldName::Number(position) => Ok(*position),
                    FieldName::Name(name) => Err(format!(
                        "--field {name}: fields have numbers; in a log whose format --log names, they have names"
                    )),
                };
                let positions = &names.iter().map(position).collect::<Result<Vec<_>, _>>()?;
                let has_words = positions.iter().any(|position| position.word.is_some());
                if has_words && *separator != Separator::Quoted {
                    return Err("--field: only quoted fields have words; add --quoted".to_owned());
                }
                let fields = Numbered::new(positions, *separator, unescape)
                    .map_err(|message| format!("--field: {message}"))?;
                let selector = Selector::fields(fields);
                let kept = selector.usual();
                (selector, kept)
            }
            Selection::Columns(selected) => {
                columns = selected.clone();
                let dialect = Dialect { delimiter: delimiter.unwrap_or(b','), quotes: columns.quotes };
                if dialect == (Dialect { delimiter: b'\\', quotes: Quotes::Backslash }) {
                    return Err("--delimiter: a backslash escapes quotes here".to_owned());
                }
                // With a header, the columns are found in each file.
                let names = if columns.has_header { &[] } else { &columns.names[..] };
                let selector = Selector::columns(Table::new(dialect, names, &[], None)?);
                (selector.unescaping(columns.unescape), ByteSet::EMPTY)
            }
            Selection::Keys(paths) => (json(paths, into, unescape)?, ByteSet::EMPTY),
            Selection::Pairs(keys) => {
                let keys: Vec<_> = keys.iter().map(KeyPath::to_string).collect();
                let syntax = Syntax::logfmt(&keys).map_err(|message| format!("--key: {message}"))?;
                (Selector::new(syntax, Format::Logfmt), ByteSet::EMPTY)
            }
            Selection::Log(selected) => {
                let Spec { wrapper, log } = selected.spec;
                auto = log.is_none().then(|| selected.clone());
                let selector = match log {
                    Some(log) => {
                        let format = Format::Log(log, !selected.names.is_empty());
                        Selector::new(selected.syntax(log, wrapper)?, format)
                    }
                    None => Selector::line(Escaping::None, Format::Auto),
                };
                // The place of a value decides which bytes stay escaped, also line ends, because some servers can write them.
                (selector, ByteSet::EMPTY)
            }
            Selection::Html => (Selector::html(), ByteSet::EMPTY),
        };
        let is_sequential = selector.is_sequential();
        Ok((Target { selector, is_sequential, columns, auto }, kept))
    }

    /// Returns the selector of the values in `records`, and the conversion of these values.
    pub fn selected(
        &self,
        convert: &Conversion,
        records: Records,
        delimiter: Option<u8>,
        unescape: Escaping,
        shape: &Shape,
    ) -> Result<Selected, String> {
        let (target, mut kept) = self.locate(records, delimiter, &shape.into, unescape)?;
        let selector = &target.selector;
        // Logs with fields between blanks write a hyphen for a missing value.
        let none: &[u8] = if selector.has_hyphens() { b"-" } else { b"" };
        let mut form = Form::Whole;
        let mut empty: &[u8] = b"";
        if shape.is_key {
            form = Form::Key;
        } else if shape.only_values || matches!(self, Selection::Unescaped) {
            // With `--values` nothing is written around a value, but the value must stay one line.
            let ends = records.structure().union(Records::Lines.structure());
            kept = shape.delimiter.map_or(ends, |delimiter| ends.add(&[delimiter]));
            form = Form::Values {
                delimiter: shape.delimiter,
                end: records.end(),
                escape: |byte, out| escape(&[byte], out),
            };
        } else {
            // If blanks separate the fields, an empty field would disappear, so a hyphen is written.
            empty = none;
        }
        // If results are written alone, and they are JSON, each line must be JSON.
        let is_alone = shape.only_values || matches!(self, Selection::Records | Selection::Unescaped);
        if is_alone {
            empty = convert.missing();
        }
        let null: &[u8] = match selector {
            selector if selector.is_json() && !shape.only_values => b"null",
            _ if is_alone => convert.missing(),
            _ => b"",
        };
        // Which bytes stay escaped in a value depends on its place. These would end a URL in a list, or a field of a log that is no JSON.
        let around: &[u8] = match self {
            Selection::Html if form.is_whole() => b" ,\"'()",
            Selection::Log(_) if form.is_whole() && !selector.is_json_log() => b" \"",
            _ => b"",
        };
        if super::may_garble(convert, kept.add(around)) {
            return Err("--charset iso-2022-jp spells characters with bytes that separate fields as well; \
                 choose values by --csv or --jsonl, or write them alone with --values"
                .to_owned());
        }
        Ok(Selected { target, convert: convert.clone(), usual: kept, empty, null, none, form })
    }
}

/// Returns the selector of the strings at `paths` in JSON, whose new values have the names `into`, or else replace the old ones. `unescape`
/// is the escaping of the server that built the documents from text.
fn json(paths: &[KeyPath], into: &[String], unescape: Escaping) -> Result<Selector, String> {
    let (escaping, more) = match unescape {
        Escaping::None => (Escaping::Json, Escaping::None),
        // Their text is valid in a JSON string, which escapes it once more.
        Escaping::Haproxy | Escaping::Percent | Escaping::Morgan => (Escaping::Json, unescape),
        Escaping::Tomcat => (Escaping::Tomcat, Escaping::None),
        Escaping::Apache | Escaping::Lighttpd | Escaping::Varnish | Escaping::Go | Escaping::Ruby => {
            (Escaping::LighttpdJson, Escaping::None)
        }
        _ => (Escaping::JsonHex, Escaping::None),
    };
    let syntax = Syntax::json(paths, into, escaping).map_err(|message| format!("--key: {message}"))?;
    Ok(Selector::new(syntax, Format::Json).unescaping(more).with_new_members(into))
}
