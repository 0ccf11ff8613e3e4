//! Finds the values of records by the row of their format.

use std::ops::Range;

use crate::access;
use crate::columns::Header;
use crate::escaping::Escaping;
use crate::fast::Sweep;
use crate::json;
use crate::labels;
use crate::logs::{Log, Shape};
use crate::path::KeyPath;
use crate::place::{Field, Fields, Holds, Kind, Place, Reason, Text, Unreadable, unreadable};
use crate::target;
use crate::wrapper::Wrapper;

/// A reader of the records of one file.
#[derive(Clone, Debug)]
pub struct Reader {
    log: Log,
    wrapper: Option<Wrapper>,
    fields: Fields,
    /// The names of further columns to find.
    columns: Vec<String>,
    /// The escaping to undo in values after that of the writer.
    more: Escaping,
    header: Header,
    /// The reader of documents, if the records are JSON.
    json: json::Reader,
    /// The texts of the current record.
    texts: Vec<Text>,
}

/// The values of a record that were found, and the first text that cannot be read.
struct Values<'a> {
    record: &'a [u8],
    log: Log,
    fields: Fields,
    more: Escaping,
    places: &'a mut Vec<Place>,
    /// The number of places of other records.
    others: usize,
    error: Option<Unreadable>,
}

impl Values<'_> {
    fn reject(&mut self, offset: usize, reason: Reason) {
        self.error.get_or_insert(Unreadable { offset, reason });
    }

    /// Adds the place of `text`, unless it is not selected or is a placeholder. The method of the request is at `method`, if the record has
    /// it apart from the target.
    fn add(&mut self, text: Text, method: Option<Range<usize>>) {
        let Text { range, index, holds, escaping, fence } = text;
        let field = Field::ALL.get(index).map(|(field, _)| *field);
        if field.is_some_and(|field| !self.fields.contains(field)) || holds == Holds::Method {
            return;
        }
        let range = match range {
            Ok(range) => range,
            Err(reason) => return self.reject(0, reason),
        };
        let known = &self.log.writer.placeholders;
        let (range, method) = match holds {
            Holds::Request => match target::split(self.record, range, known, escaping) {
                Ok(target::Request { target: Some(target), method }) => (target, Some(method)),
                Ok(_) => return,
                Err(Unreadable { offset, reason }) => return self.reject(offset, reason),
            },
            _ => (range, method),
        };
        // A column can be asked for by its own name, too.
        if self.places[self.others..].iter().any(|place| place.range.start == range.start) {
            return;
        }
        // HAProxy may have written the common layout, in which `#22` is a quote.
        let is_unknown = escaping == Escaping::Unknown;
        let raw = &self.record[range.clone()];
        let mut buffer = Vec::new();
        if is_unknown && Escaping::Haproxy.undo(raw, &mut buffer).is_ok_and(|value| value != raw) {
            return self.reject(range.start, Reason::UNKNOWN_WRITER);
        }
        let mut place = Place::new(range, index, escaping, fence);
        place.escapings[0] = self.more;
        place.may_be_empty = !matches!(holds, Holds::Request | Holds::Target);
        let mut buffer = Vec::new();
        let value = match place.value(self.record, &mut buffer) {
            Ok(value) if known.contains(value) => return,
            Ok(value) => value,
            Err(offset) => {
                return self.reject(offset, if is_unknown { Reason::UNKNOWN_WRITER } else { Reason::ESCAPE });
            }
        };
        let has_scheme = || memchr::memmem::find(value, b"://").is_some();
        place.kind = match holds {
            Holds::Request | Holds::Target => target::kind(&self.record[method.unwrap_or(0..0)], value),
            Holds::Authority => Kind::Authority,
            Holds::Url if field == Some(Field::Upstream) && !has_scheme() => Kind::Authority,
            Holds::Url => Kind::Url,
            Holds::Query => Kind::Query,
            Holds::Method | Holds::Text => Kind::Text,
        };
        self.places.push(place);
    }
}

impl Reader {
    /// Returns a reader of records of this format, in the lines of `wrapper` if there is one, that finds `fields`.
    pub fn new(log: Log, wrapper: Option<Wrapper>, fields: Fields) -> Reader {
        let paths = match &log.layout.shape {
            Shape::Json(keys) => keys.iter().filter_map(|key| key.name.parse().ok()).collect(),
            _ => Vec::new(),
        };
        let json = json::Reader::new(paths, Vec::new());
        Reader {
            log,
            wrapper,
            fields,
            columns: Vec::new(),
            more: Escaping::None,
            header: Header::default(),
            json,
            texts: Vec::new(),
        }
    }

    /// Finds the values with these names, too: columns of a file whose header lines name them, or paths in JSON. An error is a message for
    /// the user.
    pub fn columns(mut self, names: &[String]) -> Result<Reader, String> {
        match &self.log.layout.shape {
            Shape::Columns(_) => self.columns = names.to_vec(),
            Shape::Json(_) => {
                let paths = names.iter().map(|name| name.parse()).collect::<Result<Vec<KeyPath>, _>>()?;
                self.json = json::Reader::new([&paths, self.json.paths()].concat(), Vec::new());
            }
            _ if names.is_empty() => {}
            _ => return Err(self.log.has_no(&names[0])),
        }
        Ok(self)
    }

    /// Returns the search for escapes in the lines, if they need not be read one by one.
    pub(crate) fn sweep(&self) -> Option<Sweep> {
        let is_bare = self.wrapper.is_none() && self.more == Escaping::None;
        is_bare.then(|| Sweep::requests(self.log, self.fields))?
    }

    /// Undoes `escaping` in the values, too: for text that a program has escaped before another one wrote it into the record.
    pub fn unescape(self, escaping: Escaping) -> Reader {
        Reader { more: escaping, ..self }
    }

    /// Appends the places of the selected values of `record` to `places`. The record has no line end.
    ///
    /// A record without a value, such as a header line or a request that the server did not understand, is no error. After an error, the
    /// places that were appended are those of the values that are certain nevertheless.
    pub fn find(&mut self, record: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        let Some(wrapper) = self.wrapper else { return self.find_bare(record, places) };
        let (range, outer) = wrapper.find(record)?;
        let raw = &record[range.clone()];
        let mut text = Vec::new();
        let mut line = raw;
        if wrapper == Wrapper::Docker {
            line = match outer.undo(raw, &mut text) {
                Ok(text) => text,
                Err(offset) => return unreadable(range.start + offset, Reason::ESCAPE),
            };
            // Only the last part of a line has the line end.
            line = match line.strip_suffix(b"\n") {
                Some(line) => line,
                None => return unreadable(range.end, Reason::PART),
            };
        }
        let before = places.len();
        let result = self.find_bare(line, places);
        let origin = |offset| match wrapper {
            Wrapper::Docker => range.start + outer.origin(raw, offset),
            _ => range.start + offset,
        };
        for place in &mut places[before..] {
            place.range = origin(place.range.start)..origin(place.range.end);
            place.escapings[2] = match outer {
                // rsyslog writes controls that the program has not escaped.
                Escaping::Octal if place.escapings[1].escapes(b'\t') => Escaping::None,
                outer => outer,
            };
        }
        result.map_err(|error| Unreadable { offset: origin(error.offset), ..error })
    }

    /// Finds the values of a record without a wrapper.
    fn find_bare(&mut self, record: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        if record.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let escaping = self.log.escaping();
        let texts = &mut self.texts;
        texts.clear();
        match &self.log.layout.shape {
            Shape::Access(layout) => {
                let writer = self.log.writer;
                access::find(record, layout, (writer.rule, writer.escaping), texts)?
            }
            Shape::Json(keys) => json::find(record, keys, &mut self.json, escaping, texts)?,
            Shape::Columns(layout) => {
                layout.find(record, escaping, &self.columns, &mut self.header, texts)?
            }
            Shape::Words(layout) => layout.find(record, escaping, texts)?,
            Shape::Labels => labels::find(record, texts)?,
        }
        let method = texts.iter().find(|text| text.holds == Holds::Method);
        let method = method.and_then(|text| text.range.clone().ok());
        let (log, fields, more) = (self.log, self.fields, self.more);
        let others = places.len();
        let mut values = Values { record, log, fields, more, places, others, error: None };
        texts.drain(..).for_each(|text| values.add(text, method.clone()));
        values.error.map_or(Ok(()), Err)
    }
}
