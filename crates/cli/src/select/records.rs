//! Rewrites the values of records by a [`Syntax`], which finds them, reads them and writes them back.

use std::borrow::Cow;

use simdpct::{ByteSet, Encode};
use simdpct_records::{
    Escaping, Fence, Holds, Key, Log, Marks, Numbered, Place, Position, Separator, Shape, Sweep, Syntax,
    Table, Unreadable, is_document,
};

use super::edit::Form;
use super::pass::Pass;
use crate::ground::escape::to_text;
use crate::ground::reason::Reason;
use crate::value::policy::{Action, At, Treat};

/// The format of records, as far as messages and shortcuts depend on it.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    Csv,
    /// Fields of a line, between these bytes.
    Fields(Separator),
    Html,
    /// Each record is a value in which escapes of a server are undone.
    Line,
    /// One document a record.
    Json,
    Logfmt,
    /// A log. The flag says that the user has named the values.
    Log(Log, bool),
    /// A log whose format the first lines of each file choose.
    Auto,
}

impl Format {
    /// Reports whether a hyphen is in place of a missing value.
    pub fn has_hyphens(self) -> bool {
        match self {
            Format::Log(log, _) => !matches!(log.layout.shape, Shape::Json(_)),
            Format::Auto | Format::Fields(Separator::Blanks | Separator::Quoted) => true,
            Format::Csv
            | Format::Fields(Separator::Byte(_))
            | Format::Html
            | Format::Line
            | Format::Json
            | Format::Logfmt => false,
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

/// The selected values of records.
#[derive(Clone)]
pub struct Places {
    syntax: Syntax,
    /// The names of the values.
    names: Vec<String>,
    pub format: Format,
    /// The fields, if the values are fields.
    fields: Option<Numbered>,
    /// The names of the new members for converted values. If empty, new values replace the old ones.
    into: Vec<String>,
    /// An escaping that is undone after those of the records.
    more: Escaping,
    /// The places of the values of the current record.
    found: Vec<Place>,
    /// The bytes that stay escaped in a value, for each kind of place that was seen.
    kept: Vec<(Around, ByteSet)>,
    /// Buffers for the old value, the new value and the text that is written.
    old: Vec<u8>,
    new: Vec<u8>,
    text: Vec<u8>,
}

/// What decides which bytes a value cannot have.
type Around = (Fence, [Escaping; 3], Marks);

impl Places {
    /// Selects the values that `syntax` finds.
    pub fn new(syntax: Syntax, format: Format) -> Places {
        let (old, new, text) = (Vec::new(), Vec::new(), Vec::new());
        let (found, kept, into) = (Vec::new(), Vec::new(), Vec::new());
        let (names, fields) = (syntax.names(), None);
        let more = Escaping::None;
        Places { syntax, format, names, fields, into, more, found, kept, old, new, text }
    }

    /// Selects fields by number.
    pub fn fields(fields: Numbered) -> Places {
        let places = Places::new(Syntax::fields(fields.clone()), Format::Fields(fields.separator()));
        Places { fields: Some(fields), ..places }
    }

    /// Returns the bytes that stay escaped in the usual syntax.
    pub fn usual(&self) -> ByteSet {
        self.fields.as_ref().map_or(ByteSet::EMPTY, |fields| kept_in(&fields.bare()))
    }

    /// Reports whether a hyphen is in place of a missing value.
    pub fn has_hyphens(&self) -> bool {
        self.format.has_hyphens()
    }

    /// Reports whether escapes of a server are undone in values that are not in a log or a line.
    pub fn is_unescaped(&self) -> bool {
        let in_fields = self.fields.as_ref().map_or(Escaping::None, Numbered::escaping);
        self.more != Escaping::None || in_fields != Escaping::None
    }

    /// Reports whether every record can be read.
    pub fn is_always_readable(&self) -> bool {
        matches!(self.format, Format::Fields(_))
    }

    /// Returns the offset of the first byte that may begin an escape in a value.
    pub fn find_escape(&self, bytes: &[u8]) -> Option<usize> {
        match self.format {
            Format::Csv | Format::Fields(_) => memchr::memchr(b'%', bytes),
            Format::Html | Format::Json | Format::Logfmt => memchr::memchr2(b'%', b'\\', bytes),
            Format::Line | Format::Log(..) | Format::Auto => memchr::memchr3(b'%', b'\\', b'#', bytes),
        }
    }

    /// Says that converted values are added as members with the names `into`, if there are any.
    pub fn with_new_members(self, into: &[String]) -> Places {
        Places { into: into.to_vec(), ..self }
    }

    /// Undoes `escaping` in the values, too.
    pub fn unescaping(self, escaping: Escaping) -> Places {
        Places { more: escaping, ..self }
    }

    /// Selects the columns of `table`. Converted values are added as columns with the names `into`, if there are any.
    pub fn table(table: Table, into: &[String]) -> Places {
        Places::new(Syntax::table(table), Format::Csv).with_new_members(into)
    }

    /// Returns the columns of CSV, if these are the values.
    pub fn as_table(&self) -> Option<&Table> {
        self.syntax.as_table()
    }

    /// Returns the type and name of value number `index`.
    pub fn name(&self, index: usize) -> (&'static str, String) {
        (self.syntax.noun(), self.names[index].clone())
    }

    /// Returns the number of selected values.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Reports whether `record`, which contains no escape, seems to be readable.
    pub fn looks_readable(&self, record: &[u8]) -> bool {
        self.syntax.seems_readable(record)
    }

    /// Returns the message that no record has value number `index`, if it is one. `line` is the word for a record, with `no` before it.
    pub fn missing(&self, index: usize, line: &str, found: impl Fn(usize) -> bool) -> Option<String> {
        let name = &self.names[index];
        Some(match self.format {
            // One message is enough for a range.
            Format::Fields(_) => {
                let fields = self.fields.as_ref()?;
                let position = fields.nearest(index)?;
                // A field is found once, and that one can have been counted from the other end.
                let is_there = |other| {
                    let other = fields.nearest(other).filter(|_| found(other));
                    other.is_some_and(|other| (other.first < 0) != (position.first < 0))
                };
                if (0..self.names.len()).any(is_there) {
                    return None;
                }
                format!("{line} has field {position}")
            }
            Format::Html => format!("{line} has the attribute {name}"),
            Format::Csv => format!("{} has column {name}", line.replace("line", "row")),
            Format::Json => format!("{line} has a string at key '{name}'"),
            Format::Logfmt => format!("{line} has the key '{name}'"),
            Format::Log(_, true) => format!("{line} has the {} '{name}'", self.syntax.noun()),
            Format::Line | Format::Log(_, false) | Format::Auto => return None,
        })
    }

    /// Reports whether `record`, which is readable, can have values. A line of a document that is spread over several lines can be a
    /// valid string or number, so only a line that begins like an object shows that the input has one document a line.
    fn can_have_values(&self, record: &[u8]) -> bool {
        !matches!(self.format, Format::Json)
            || !self.found.is_empty()
            || record.trim_ascii_start().starts_with(b"{")
    }

    /// Returns the search for escapes in many records at once, if there is one. `is_new` says that new values go beside the old ones.
    pub fn sweep(&self, is_new: bool) -> Option<Sweep> {
        let sweep = self.syntax.sweep().filter(|_| self.more == Escaping::None)?;
        (sweep.fields().is_some() == is_new).then_some(sweep)
    }

    /// Lets `sweep` know the form of `record`, which was read last and is readable.
    pub fn teach(&self, record: &[u8], sweep: &mut Sweep) {
        sweep.learn(record, &self.found);
    }

    /// Returns the message that the lines of a log have no value at all, if one is expected.
    pub fn missing_all(&self, line: &str) -> Option<String> {
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
                Some(format!("{line} starting with '{}' names any of {}", header.trim(), names.join(", ")))
            }
            _ => Some(format!("{line} has a {}", self.names.join(" or "))),
        }
    }

    /// Returns the format of the log.
    pub fn log(&self) -> Option<Log> {
        if let Format::Log(log, _) = self.format { Some(log) } else { None }
    }

    /// Reports whether the meaning of a record depends on the records before it, which name its columns.
    pub fn is_sequential(&self) -> bool {
        self.log().is_some_and(|log| matches!(log.layout.shape, Shape::Columns(_)))
    }

    /// Rewrites the values of one record. A record that cannot be read as a whole stays as it is; its values are only checked. In a log, a
    /// value can be certain although others are not.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        self.found.clear();
        let result = self.syntax.find(record.bytes(), &mut self.found);
        if self.more != Escaping::None {
            self.found.iter_mut().for_each(|place| place.escapings[0] = self.more);
        }
        let unreadable = result.err().map(|Unreadable { offset, reason }| (offset, Reason::Record(reason)));
        let is_partly_read = matches!(self.format, Format::Log(..)) && !self.found.is_empty();
        if unreadable.is_none() || is_partly_read || pass.edit.form() == Form::Nothing {
            pass.report.stats.searched |=
                (unreadable.is_none() || is_partly_read) && self.can_have_values(record.bytes());
            let clashes = pass.report.stats.clashes;
            for number in 0..self.found.len() {
                // A record is counted once.
                let is_first = pass.report.stats.clashes == clashes;
                let action = match self.clash(number) {
                    Some(name) if is_first => {
                        let name = Reason::HasKey(name.to_owned());
                        pass.unreadable(record.start + self.found[number].whole().start, name)
                    }
                    Some(_) => continue,
                    None => self.value(number, pass),
                };
                if !matches!(action, Action::Write | Action::Copy) {
                    return action;
                }
            }
        }
        match unreadable {
            Some((offset, reason)) if is_partly_read => pass.unreadable_part(record.start + offset, reason),
            Some((offset, reason)) => pass.unreadable(record.start + offset, reason),
            None => Action::Write,
        }
    }

    /// Returns the name for the new value beside value number `number`, if the object has a member with this name already.
    fn clash(&self, number: usize) -> Option<&str> {
        let place = &self.found[number];
        self.into.get(place.index).filter(|_| place.beside.is_none()).map(String::as_str)
    }

    /// Rewrites the value at `place` of the record, which the syntax has not found itself.
    pub fn value_at(&mut self, place: &Place, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        self.found.clear();
        self.found.push(place.clone());
        self.value(0, pass)
    }

    /// Rewrites value number `number` of the record.
    fn value(&mut self, number: usize, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let has_hyphens = self.has_hyphens();
        let Places { syntax, format, into, found, kept, old, new, text, .. } = self;
        let (record, place) = (pass.record, &found[number]);
        let (bytes, start) = (record.bytes(), record.start);
        pass.report.stats.find(place.index);
        let is_whole = pass.edit.form() == Form::Whole;
        let whole = start + place.whole().start..start + place.whole().end;
        let value = match place.value(bytes, old) {
            Ok(value) => value,
            Err(offset) => {
                let none = match format {
                    Format::Json if is_whole => "null",
                    _ if is_whole && format.has_hyphens() => "-",
                    _ => "",
                };
                let reason = Reason::Record(simdpct_records::Reason::ESCAPE);
                let len = pass.edit.output().len();
                let action = pass.unreadable_value(place.index, start + offset, reason, whole.clone(), none);
                // Where the value is the whole record, it is kept by writing it.
                if matches!(format, Format::Line)
                    && action == Action::Write
                    && pass.edit.output().len() == len
                {
                    pass.edit.write_bare(place.index, whole.start, whole.end, place.raw(bytes));
                }
                return action;
            }
        };
        new.clear();
        // Without text around the value, no byte can be mistaken for a part of it.
        let kept = is_whole.then(|| match kept_at(place, kept) {
            // A string that holds a document of JSON must still hold the same one.
            kept if matches!(format, Format::Json) && value.contains(&b'%') && is_document(value) => {
                kept.add(&(0..0x20).chain(*b"\"\\").collect::<Vec<_>>())
            }
            kept => kept,
        });
        let at = At { index: place.index, kind: place.kind, kept };
        let origin = |offset| start + place.origin(bytes, offset);
        let action = pass.treatment.value(at, value, new, record, pass.report, origin);
        let is_null = action == Action::Null;
        if action != Action::Write && !is_null {
            return action;
        }
        if new.is_empty() && is_whole && has_hyphens && !place.may_be_empty {
            // An empty field would disappear from the line.
            new.push(b'-');
        }
        let (from, to) = (start + place.range.start, start + place.range.end);
        let mut is_changed = is_null || new != value;
        if pass.edit.write_bare(place.index, from, to, new) || !is_whole {
        } else if let Some(beside) = place.beside.filter(|_| !into.is_empty()) {
            let new = (!is_null).then_some(new.as_slice());
            put(place, new.unwrap_or_default(), text, |value, text| {
                syntax.write_beside(place, new.map(|_| value), text)
            });
            pass.edit.copy_to(start + beside).extend_from_slice(text);
        } else if is_null {
            pass.edit.copy_to(whole.start).extend_from_slice(b"null");
            pass.edit.skip_to(whole.end);
        } else if is_changed {
            let written = put(place, new, text, |value, text| place.write(bytes, value, text));
            // If a conversion only gave bytes that had to be escaped again, the value keeps its old spelling.
            is_changed = match written {
                Some(Cow::Owned(new)) if new.eq_ignore_ascii_case(value) => false,
                Some(_) => text != place.raw(bytes),
                None => {
                    pass.report.stats.rejected += 1;
                    false
                }
            };
            if is_changed {
                pass.edit.copy_to(from).extend_from_slice(text);
                pass.edit.skip_to(to);
            }
        }
        if is_changed {
            pass.edit.change();
        }
        Action::Write
    }
}

/// Returns the bytes that stay escaped in the value at `place`. `known` has those of the places before it.
fn kept_at(place: &Place, known: &mut Vec<(Around, ByteSet)>) -> ByteSet {
    let around = (place.fence, place.escapings, place.marks);
    let number = known.iter().position(|(other, _)| *other == around).unwrap_or_else(|| {
        known.push((around, kept_in(place)));
        known.len() - 1
    });
    known[number].1
}

/// Returns the bytes that stay escaped in the value at `place`.
fn kept_in(place: &Place) -> ByteSet {
    let refused = set_of(place.refused());
    // An opening bracket is refused only at the start of a value.
    if place.has_lone_marks { refused.remove(b"[") } else { refused }
}

/// Returns the bytes of `fence`.
pub fn set_of(fence: Fence) -> ByteSet {
    ByteSet::from_bytes(&fence.bytes().collect::<Vec<_>>())
}

/// Lets `write` append the value `new`, as it must be spelt at `place`, to `text`. If the record cannot have a byte there, this byte
/// is percent-encoded, then all such bytes, and then also those that are not UTF-8. Returns the value that was written; `None` if none
/// of these can be there, such as an empty value between blanks.
fn put<'a>(
    place: &Place,
    new: &'a [u8],
    text: &mut Vec<u8>,
    write: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), usize>,
) -> Option<Cow<'a, [u8]>> {
    let mut try_to_write = |value: &[u8]| {
        text.clear();
        write(value, text)
    };
    let Err(offset) = try_to_write(new) else { return Some(Cow::Borrowed(new)) };
    let encode = Encode::keeping(set_of(place.refused()).complement());
    let (before, rest) = new.split_at(offset.min(new.len()));
    let (byte, after) = rest.split_at(rest.len().min(1));
    let mut escaped = [before, &encode.encode(byte), after].concat();
    if try_to_write(&escaped).is_err() {
        escaped.clear();
        encode.encode_append(new, &mut escaped);
    }
    if try_to_write(&escaped).is_err() {
        escaped = to_text(&escaped).into_owned().into_bytes();
        if try_to_write(&escaped).is_err() {
            return None;
        }
    }
    Some(Cow::Owned(escaped))
}
