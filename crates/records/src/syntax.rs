//! Finds the values of records, whatever their syntax is.

use std::collections::BTreeSet;
use std::fmt::Display;

use simdpct::ByteSet;

use crate::escaping::Escaping;
use crate::fast::{Finder, Sweep};
use crate::fields::Numbered;
use crate::json;
use crate::logs::Log;
use crate::pairs;
use crate::path::KeyPath;
use crate::place::{Marks, Place, Reason, Unreadable, unreadable};
use crate::reader::{Reader, can_be_same};
use crate::table::{Table, without_end};
use crate::wrapper::{Lines, Wrapper};

/// The syntax of records, and the selected values.
#[derive(Clone, Debug)]
pub struct Syntax(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Line(Escaping),
    Fields(Numbered),
    Table(Table),
    Json(Members),
    Logfmt(Vec<String>),
    Log(Box<Reader>),
    /// The line of a logger, whose value is the record of a program.
    Wrapper(Lines),
    Nested(Box<Nested>),
}

/// Records in the values of other records.
#[derive(Clone, Debug)]
struct Nested {
    outer: Syntax,
    inner: Syntax,
    /// The values of the current outer record, and the text of one of them.
    values: Vec<Place>,
    buffer: Vec<u8>,
}

/// The members of JSON documents that were asked for.
#[derive(Clone, Debug)]
struct Members {
    /// The reader of the documents. It notes which members already have the name of a new member, because an object gets no second one. It
    /// has no such names if new values replace the old ones.
    reader: json::Reader,
    escaping: Escaping,
}

/// Returns an error message if a value can be one of two that are `asked` for, because a value has one name.
fn once<T: PartialEq + Display>(asked: &[T], can_be_same: impl Fn(&T, &T) -> bool) -> Result<(), String> {
    for (at, name) in asked.iter().enumerate() {
        match asked[..at].iter().find(|other| can_be_same(other, name)) {
            Some(other) if other == name => return Err(format!("{name} is asked for twice")),
            Some(other) => {
                return Err(format!("{other} and {name} can be the same value; ask for one of them"));
            }
            None => {}
        }
    }
    Ok(())
}

impl Syntax {
    /// Selects each record as one value, in which `escaping` is undone.
    pub fn line(escaping: Escaping) -> Syntax {
        Syntax(Kind::Line(escaping))
    }

    /// Selects fields of a line by number.
    pub fn fields(fields: Numbered) -> Syntax {
        Syntax(Kind::Fields(fields))
    }

    /// Selects columns of CSV.
    pub fn table(table: Table) -> Syntax {
        Syntax(Kind::Table(table))
    }

    /// Returns the table, if the values are columns of CSV.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.0 {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Selects the strings at `paths` of JSON documents, one document a record. `escaping` is undone in the strings. If
    /// `into` has names, new values are added under these names. An error is a message for the user.
    pub fn json(paths: &[KeyPath], into: &[String], escaping: Escaping) -> Result<Syntax, String> {
        once(paths, KeyPath::overlaps)?;
        let reader = json::Reader::new(paths.to_vec(), into.to_vec());
        Ok(Syntax(Kind::Json(Members { reader, escaping })))
    }

    /// Also selects values of JSON documents that are not strings. Such a value is its text, and has no marks. An object or array comes
    /// after the values in it. A syntax that [`Syntax::json`] has not made stays as it is.
    #[must_use]
    pub fn with_all_values(mut self) -> Syntax {
        if let Kind::Json(Members { reader, .. }) = &mut self.0 {
            reader.finds_all = true;
        }
        self
    }

    /// Selects the values of `keys` in logfmt. An error is a message for the user.
    pub fn logfmt(keys: &[String]) -> Result<Syntax, String> {
        once(keys, PartialEq::eq)?;
        Ok(Syntax(Kind::Logfmt(keys.to_vec())))
    }

    /// Selects values of a log, in the lines of `wrapper` if there is one. If `names` is empty, selects all values that
    /// contain URLs. A name is that of a [`Field`](crate::Field), of a column that a header line names, or a path in
    /// JSON. An error is a message for the user.
    pub fn log(log: Log, wrapper: Option<Wrapper>, names: &[impl AsRef<str>]) -> Result<Syntax, String> {
        let mut names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        once(&names, |name, other| can_be_same(log.layout, name, other))?;
        if names.is_empty() {
            let urls = log.layout.fields().into_iter().filter(|field| field.is_url());
            names.extend(urls.map(|field| field.name().to_owned()));
        }
        let records = Syntax(Kind::Log(Box::new(Reader::new(log, names)?)));
        Ok(match wrapper {
            Some(wrapper) => Syntax(Kind::Wrapper(Lines::new(wrapper))).containing(records),
            None => records,
        })
    }

    /// Selects the values of `inner` in records that are the values of this syntax, such as a log in a string of JSON.
    pub fn containing(self, inner: Syntax) -> Syntax {
        let (values, buffer) = (Vec::new(), Vec::new());
        Syntax(Kind::Nested(Box::new(Nested { outer: self, inner, values, buffer })))
    }

    /// Returns the names of the values: numbers of fields, names of columns, keys. Their order is that of [`Place::index`].
    pub fn names(&self) -> Vec<String> {
        match &self.0 {
            Kind::Line(_) | Kind::Wrapper(_) => vec!["line".to_owned()],
            Kind::Fields(fields) => fields.names(),
            Kind::Table(table) => table.names.clone(),
            Kind::Json(members) => members.reader.paths.iter().map(KeyPath::to_string).collect(),
            Kind::Logfmt(keys) => keys.clone(),
            Kind::Log(reader) => reader.names.clone(),
            Kind::Nested(nested) => nested.inner.names(),
        }
    }

    /// Returns the word for a value: `line`, `field`, `column` or `key`.
    pub fn noun(&self) -> &'static str {
        match &self.0 {
            Kind::Line(_) | Kind::Wrapper(_) => "line",
            Kind::Fields(_) | Kind::Log(_) => "field",
            Kind::Table(_) => "column",
            Kind::Json(_) | Kind::Logfmt(_) => "key",
            Kind::Nested(nested) => nested.inner.noun(),
        }
    }

    /// Reports whether a record can depend on earlier records: on the header of a log, or on the start of its line, because the
    /// loggers of Kubernetes and Docker write a long line as several records.
    pub fn is_sequential(&self) -> bool {
        match &self.0 {
            Kind::Log(reader) => reader.has_header(),
            // The others write a line that is too long in parts, each of which is a record.
            Kind::Wrapper(lines) => lines.wrapper != Wrapper::Syslog,
            Kind::Nested(nested) => nested.outer.is_sequential() || nested.inner.is_sequential(),
            _ => false,
        }
    }

    /// Reports whether each record is a JSON document.
    pub fn is_json(&self) -> bool {
        match &self.0 {
            Kind::Json(_) => true,
            Kind::Log(reader) => reader.is_json(),
            Kind::Wrapper(lines) => lines.wrapper == Wrapper::Docker,
            Kind::Nested(nested) => nested.outer.is_json(),
            Kind::Line(_) | Kind::Fields(_) | Kind::Table(_) | Kind::Logfmt(_) => false,
        }
    }

    /// Reports whether `record` seems to be readable, so that it need not be read if the caller would change none of
    /// its bytes. In JSON, this examines only the braces around the record. In all other syntaxes, a record that seems
    /// to be readable is readable.
    pub fn seems_readable(&self, record: &[u8]) -> bool {
        match &self.0 {
            Kind::Line(_) => true,
            Kind::Fields(fields) if !fields.has_quotes() => true,
            Kind::Fields(_) | Kind::Table(_) | Kind::Logfmt(_) => memchr::memchr(b'"', record).is_none(),
            Kind::Json(_) => matches!(record.trim_ascii(), [] | [b'{', .., b'}']),
            Kind::Log(_) | Kind::Wrapper(_) | Kind::Nested(_) => false,
        }
    }

    /// Returns the search for escapes in many records at once, if the syntax has one for the values that were asked for. Records must end
    /// in line feeds.
    pub fn sweep(&self) -> Option<Sweep> {
        match &self.0 {
            Kind::Fields(fields) => fields.sweep(),
            Kind::Table(table) => table.sweep(),
            Kind::Json(members) if members.reader.watched.is_empty() => Some(members.sweep()),
            Kind::Log(reader) => reader.sweep(),
            _ => None,
        }
    }

    /// Appends the places of the values of `record` to `places`, in the order of the record. The record has no line end.
    ///
    /// After an error, the places that were appended are those of the values that are certain nevertheless. Except in a log, a value with a
    /// malformed escape has a place, too, and [`Place::value`] returns the offset of the escape. In JSON, this holds only for `\u` and
    /// four digits, such as a lone surrogate: any other malformed escape makes the record unreadable.
    pub fn find(&mut self, record: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        match &mut self.0 {
            Kind::Line(escaping) => {
                places.push(Place::new(0..record.len(), 0, *escaping, ByteSet::EMPTY));
                Ok(())
            }
            Kind::Fields(fields) => fields.find(record, places),
            Kind::Table(table) => table.find(record, places),
            Kind::Json(members) => members.find(record, places),
            Kind::Logfmt(keys) => pairs::find(record, keys, places),
            Kind::Log(reader) => reader.find(record, places),
            Kind::Wrapper(lines) => lines.find(record).map(|place| places.push(place)),
            Kind::Nested(nested) => nested.find(record, places),
        }
    }

    /// Appends `value`, or the text for no value, to `out` as a new value beside `place`, under the name that was asked for. An error is
    /// the offset of the first byte of `value` that cannot be written; `out` then has a part of the new value.
    pub fn write_beside(&self, place: &Place, value: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), usize> {
        match &self.0 {
            Kind::Table(table) => {
                let dialect = table.dialect();
                out.push(dialect.delimiter);
                // The new cell is quoted if the one at `place` is.
                let is_quoted = place.marks == Marks::Quotes;
                value.map_or(Ok(()), |value| dialect.write(is_quoted, value, out))
            }
            Kind::Json(members) => members.write_beside(place.index, value, out),
            _ => Ok(()),
        }
    }
}

impl Members {
    fn sweep(&self) -> Sweep {
        let place = Place::new(0..0, 0, self.escaping, ByteSet::EMPTY);
        Sweep::new(Finder::Shapes(Box::default()), place.refused(), place.respelt())
    }

    fn find(&mut self, record: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        if record.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        self.reader.read(record, self.escaping)?;
        let json::Reader { watched: into, members, found, .. } = &mut self.reader;
        let mut taken: BTreeSet<_> = members.drain(..).collect();
        for json::Found { path, range, object } in found.drain(..) {
            let number = into.get(path).and_then(|name| into.iter().position(|known| known == name));
            let is_free = object.zip(number).is_some_and(|member| taken.insert(member));
            let beside = is_free.then_some(range.end + 1);
            let is_string = record[..range.start].ends_with(b"\"");
            let escaping = if is_string { self.escaping } else { Escaping::None };
            let marks = if is_string { Marks::Quotes } else { Marks::None };
            places.push(Place { marks, beside, ..Place::new(range, path, escaping, ByteSet::EMPTY) });
        }
        Ok(())
    }

    fn write_beside(&self, index: usize, value: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), usize> {
        let Some(name) = self.reader.watched.get(index) else { return Ok(()) };
        out.push(b',');
        push_string(name.as_bytes(), out)?;
        out.push(b':');
        match value {
            Some(value) => push_string(value, out),
            None => {
                out.extend_from_slice(b"null");
                Ok(())
            }
        }
    }
}

/// Appends `value` as a JSON string.
fn push_string(value: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    str::from_utf8(value).map_err(|error| error.valid_up_to())?;
    out.push(b'"');
    Escaping::Json.apply(value, out)?;
    out.push(b'"');
    Ok(())
}

impl Nested {
    fn find(&mut self, record: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        let Nested { outer, inner, values, buffer } = self;
        values.clear();
        let mut result = outer.find(record, values);
        for value in values {
            let text = match value.value(record, buffer) {
                Ok(text) => text,
                Err(offset) => {
                    result = result.and(unreadable(offset, Reason::ESCAPE));
                    continue;
                }
            };
            let from = places.len();
            let found = inner.find(without_end(text), places);
            result = result.and(
                found.map_err(|error| Unreadable { offset: value.origin(record, error.offset), ..error }),
            );
            if !value.contain(record, &mut places[from..]) {
                places.truncate(from);
                result = result.and(unreadable(value.range.start, Reason::TOO_DEEP));
            }
            if matches!(&outer.0, Kind::Wrapper(lines) if lines.wrapper.is_rsyslog(record)) {
                for mut place in places.split_off(from) {
                    // rsyslog escapes only those controls that the program has not escaped, and no `#`, so `#011` may be text of a client.
                    if !place.escapings[1].escapes(b'\t') {
                        place.escapings[2] = Escaping::Octal;
                        let raw = place.raw(record);
                        if Escaping::Octal.undo(raw, buffer).is_ok_and(|value| value != raw) {
                            result = result.and(unreadable(place.range.start, Reason::AMBIGUOUS));
                            continue;
                        }
                    }
                    places.push(place);
                }
            }
        }
        result
    }
}
