//! Selects the values of a record: the whole record, the URLs in an HTML tag, or the values that a [`Syntax`] finds.

pub mod rewrite;
pub mod task;

use simdpct::ByteSet;
use simdpct_records::html::{ATTRIBUTES, Link};
use simdpct_records::{
    Escaping, Holds, Key, Log, Numbered, Place, Position, Separator, Shape, Split, Sweep, Syntax, Table,
};

use self::rewrite::{Around, kept_in};
use crate::common::shown::counted;
use crate::convert::stats::Stats;

/// The format of records, as far as messages and faster ways of reading depend on it.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Each record is one value.
    Whole,
    /// Each record is a value in which the escapes that a server wrote, such as `\x22`, are undone.
    Unescaped,
    /// Each record is a line of fields, with these separators.
    Fields(Separator),
    Csv,
    /// Each record is one document.
    Json,
    Logfmt,
    /// A log. The flag says whether the user has named the values.
    Log(Log, bool),
    /// A log whose format the first lines of each file determine.
    Auto,
    /// Each record is a start tag of HTML.
    Html,
}

impl Format {
    /// Reports whether a hyphen is in place of a missing value.
    pub fn has_hyphens(self) -> bool {
        match self {
            Format::Log(log, _) => !matches!(log.layout.shape, Shape::Json(_)),
            Format::Fields(separator) => !matches!(separator, Separator::Byte(_)),
            _ => matches!(self, Format::Auto),
        }
    }
}

/// A field that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldName {
    /// The number of a field between separators.
    Number(Position),
    /// The name of a value in a log.
    Name(String),
}

/// The values of records that the user selected.
#[derive(Clone)]
pub struct Selector {
    pub syntax: Syntax,
    pub format: Format,
    /// The names of the values.
    names: Vec<String>,
    /// The fields, if the values are fields.
    fields: Option<Numbered>,
    /// The names of the new members for converted values. If empty, new values replace the old ones.
    into: Vec<String>,
    /// An escaping that is undone in values after the escapings of the record's syntax.
    more: Escaping,
    /// The places of the values of the current record.
    pub found: Vec<Place>,
    /// The URLs of the next start tag.
    pub links: Vec<Link>,
    /// The bytes that stay escaped in a value, for the properties of each place that was seen.
    kept: Vec<(Around, ByteSet)>,
    /// Buffers for the old value and the new one.
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Selector {
    /// Selects the values that `syntax` finds.
    pub fn new(syntax: Syntax, format: Format) -> Selector {
        Selector {
            names: syntax.names(),
            syntax,
            format,
            fields: None,
            into: Vec::new(),
            more: Escaping::None,
            found: Vec::new(),
            links: Vec::new(),
            kept: Vec::new(),
            old: Vec::new(),
            new: Vec::new(),
        }
    }

    /// Selects whole records, in which `escaping` is undone.
    pub fn line(escaping: Escaping, format: Format) -> Selector {
        Selector::new(Syntax::line(escaping), format)
    }

    /// Selects fields by number.
    pub fn fields(fields: Numbered) -> Selector {
        let selector = Selector::new(Syntax::fields(fields.clone()), Format::Fields(fields.separator()));
        Selector { fields: Some(fields), ..selector }
    }

    /// Selects the columns of `table`.
    pub fn columns(table: Table) -> Selector {
        Selector::new(Syntax::table(table), Format::Csv)
    }

    /// Selects the URLs of start tags.
    pub fn html() -> Selector {
        let names = ATTRIBUTES.iter().map(|attribute| attribute.name.to_owned()).collect();
        // The parser of HTML finds the URLs, so the syntax of the record does not matter.
        Selector { names, ..Selector::line(Escaping::None, Format::Html) }
    }

    /// Adds converted values as members or columns with the names `into`. If it is empty, they replace the old values.
    pub fn with_new_members(self, into: &[String]) -> Selector {
        Selector { into: into.to_vec(), ..self }
    }

    /// Also selects JSON values that are not strings.
    pub fn with_all_values(self) -> Selector {
        Selector { syntax: self.syntax.with_all_values(), ..self }
    }

    /// Undoes `escaping` in the values, after the escapings of the record's syntax.
    pub fn unescaping(self, escaping: Escaping) -> Selector {
        Selector { more: escaping, ..self }
    }

    /// Returns the columns of CSV, if these are the values.
    pub fn table(&self) -> Option<&Table> {
        self.syntax.as_table()
    }

    /// Returns the format of the log, if records are lines of one.
    pub fn log(&self) -> Option<Log> {
        if let Format::Log(log, _) = self.format { Some(log) } else { None }
    }

    /// Reports whether `line` is one of a log, such as a header line, without which other lines cannot be read.
    pub fn is_comment(&self, line: &[u8]) -> bool {
        let shape = self.log().map(|log| &log.layout.shape);
        matches!(shape, Some(Shape::Columns(columns)) if line.starts_with(columns.comment))
    }

    /// Reports whether each record is one value as it is.
    pub fn is_line(&self) -> bool {
        matches!(self.format, Format::Whole)
    }

    /// Reports whether each record is one value in which escapes of a server are undone.
    pub fn is_unescaped_line(&self) -> bool {
        matches!(self.format, Format::Unescaped)
    }

    /// Reports whether records are start tags of HTML.
    pub fn is_html(&self) -> bool {
        matches!(self.format, Format::Html)
    }

    /// Reports whether records are JSON, which has a `null`.
    pub fn is_json(&self) -> bool {
        matches!(self.format, Format::Json)
    }

    /// Reports whether records are those of a log in JSON.
    pub fn is_json_log(&self) -> bool {
        self.log().is_some_and(|log| matches!(log.layout.shape, Shape::Json(_)))
    }

    /// Reports whether `null` can be written instead of the value at `place` and its quotes.
    fn can_be_null(&self, place: &Place) -> bool {
        self.is_json() && place.whole() != place.range
    }

    /// Returns the bytes that stay escaped in fields without quotes or brackets around them.
    pub fn usual(&self) -> ByteSet {
        self.fields.as_ref().map_or(ByteSet::EMPTY, |fields| kept_in(&fields.bare()))
    }

    /// Reports whether every record can be read.
    pub fn is_always_readable(&self) -> bool {
        match self.format {
            Format::Fields(separator) => separator != Separator::Quoted,
            _ => matches!(self.format, Format::Whole | Format::Html),
        }
    }

    /// Reports whether `record`, which contains no escape, seems readable. True means that it is readable, except in
    /// JSON, where only the braces around a record are checked. After false, the record may still be readable.
    pub fn looks_readable(&self, record: &[u8]) -> bool {
        self.syntax.seems_readable(record)
    }

    /// Reports whether a record depends on earlier records, which name its columns or the base of its URLs, or begin its
    /// line.
    pub fn is_sequential(&self) -> bool {
        self.is_html() || self.syntax.is_sequential()
    }

    /// Reads `start`, the first bytes of a record that is too long for memory, because later records can depend on it.
    pub fn read_start(&mut self, start: &[u8]) {
        self.found.clear();
        let _ = self.syntax.find(start, &mut self.found);
    }

    /// Reports whether records without an escape can be skipped. They cannot if a record depends on earlier ones, if each record
    /// is one value as it is, or if escapes of a server are undone in fields, cells or strings, which could mean a `%` or be
    /// malformed.
    pub fn can_pass_by(&self) -> bool {
        let in_fields = self.fields.as_ref().map_or(Escaping::None, Numbered::escaping);
        let is_unescaped = self.more != Escaping::None || in_fields != Escaping::None;
        !self.is_sequential() && !self.is_line() && !is_unescaped
    }

    /// Returns the offset of the first byte that may begin an escape in a value.
    pub fn find_escape(&self, bytes: &[u8]) -> Option<usize> {
        match self.format {
            Format::Whole | Format::Csv | Format::Fields(_) => memchr::memchr(b'%', bytes),
            Format::Html | Format::Json | Format::Logfmt => memchr::memchr2(b'%', b'\\', bytes),
            Format::Unescaped | Format::Log(..) | Format::Auto => memchr::memchr3(b'%', b'\\', b'#', bytes),
        }
    }

    /// Returns the search for escapes in many records at once, if only one value of each record is selected. `end` is
    /// the byte that ends a record. `is_new` says whether new values go beside the old ones.
    pub fn sweep(&self, end: u8, is_new: bool) -> Option<Sweep> {
        let sweep = self.syntax.sweep().filter(|_| self.more == Escaping::None && end == b'\n')?;
        (sweep.fields().is_some() == is_new).then_some(sweep)
    }

    /// Returns the type and name of value number `index`, such as `field` and `5.2`, `column` and `url`, or `key` and
    /// `request.url`; `None` if each record is one value.
    pub fn name(&self, index: usize) -> Option<(&'static str, String)> {
        let noun = if self.is_html() { "attribute" } else { self.syntax.noun() };
        (!self.is_unescaped_line()).then(|| (noun, self.names[index].clone()))
    }

    /// Returns the number of selected places.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Reports whether every selected place was found at least once, so that [`Selector::missing`] has no messages. For 64 places
    /// or more, it returns false if one of them was not found, and does not ask for messages, which would take cubic time.
    pub fn has_found_all(&self, stats: &Stats) -> bool {
        let count = self.count();
        stats.searched
            && ((0..count).all(|index| stats.found(index)) || count < 64 && self.missing(stats).is_empty())
    }

    /// Returns one message for each selected place that no record had, by the counts in `stats`.
    pub fn missing(&self, stats: &Stats) -> Vec<String> {
        let is_missing = |index: &usize| !stats.found(*index);
        if stats.clashes > 0 {
            let count = counted(stats.clashes, "record");
            return vec![format!("--into: {count} already had such a name, and its value was not added")];
        }
        let count = stats.unreadable;
        if self.is_json() && !stats.searched && count > 0 {
            return vec![format!(
                "no line is a JSON object, and {count} record{}: --jsonl expects one document per line; use `jq -c .`, or \
                 `jq -c '.[]'` for the elements of an array",
                if count == 1 { " is unreadable" } else { "s are unreadable" }
            )];
        }
        if self.is_html() && !stats.searched && stats.bytes_in > 0 {
            return vec!["no tag has an attribute with a URL".to_owned()];
        }
        if !stats.searched {
            return Vec::new();
        }
        // An unreadable record may have a place that was not found.
        let line = if stats.unreadable > 0 { "no readable line" } else { "no line" };
        let has_none = (0..self.count()).all(|index| is_missing(&index));
        if let Some(message) = self.missing_all(line).filter(|_| has_none) {
            return vec![message];
        }
        let name = |index| self.missing_one(index, line, stats);
        let mut messages: Vec<String> = (0..self.count()).filter(is_missing).filter_map(name).collect();
        // The user can ask for a place twice.
        messages.dedup();
        messages
    }

    /// Returns the message that no record has value `index`, if any. `line` is `no line` or `no readable line`.
    fn missing_one(&self, index: usize, line: &str, stats: &Stats) -> Option<String> {
        let name = &self.names[index];
        Some(match self.format {
            // One message is enough for a range.
            Format::Fields(_) => {
                let fields = self.fields.as_ref()?;
                let position = fields.nearest(index)?;
                // If positions from both ends mean the same field, only one of them finds it. If ranges without an end do, the first
                // of them finds it.
                let is_there = |other| {
                    let found = fields.nearest(other).filter(|_| stats.found(other));
                    found.is_some_and(|Position { first, last, .. }| {
                        let may_take = other < index && first > 0 && (last < 0 || last >= position.first);
                        (first < 0) != (position.first < 0) || may_take
                    })
                };
                if (0..self.count()).any(is_there) {
                    return None;
                }
                format!("{line} has field {position}")
            }
            Format::Csv => format!("{} has column {name}", line.replace("line", "row")),
            Format::Json => format!("{line} has a string at key '{name}'"),
            Format::Logfmt => format!("{line} has the key '{name}'"),
            Format::Log(_, true) => format!("{line} has the {} '{name}'", self.syntax.noun()),
            // No document has all attributes.
            Format::Whole | Format::Unescaped | Format::Log(_, false) | Format::Auto | Format::Html => {
                return None;
            }
        })
    }

    /// Returns the message that the lines of a log have no value at all, if one is expected.
    fn missing_all(&self, line: &str) -> Option<String> {
        let Format::Log(log, false) = self.format else { return None };
        match log.layout.shape {
            // Most lines of an error log have no labels.
            Shape::Labels => None,
            Shape::Columns(columns) if columns.default.is_empty() => {
                let header = String::from_utf8_lossy(columns.header);
                let is_selected = |key: &&Key| {
                    key.holds != Holds::Method && self.names.iter().any(|name| name == key.field.name())
                };
                let names: Vec<_> = columns.columns.iter().filter(is_selected).map(|key| key.name).collect();
                let separators = if columns.split == Split::Tab { "tabs" } else { "blanks" };
                Some(format!(
                    "{line} has any of {}, as named by a line starting with '{}', between {separators}",
                    names.join(", "),
                    header.trim()
                ))
            }
            _ => Some(format!("{line} has a {}", self.names.join(" or "))),
        }
    }
}
