//! Finds the values of the records of a log, by the row of its format in the table of formats.

use std::ops::Range;

use crate::access;
use crate::columns::{Columns, Header, is_column};
use crate::escaping::Escaping;
use crate::fast::{Finder, Requests, Sweep};
use crate::json;
use crate::labels;
use crate::logs::{Layout, Log, Shape};
use crate::path::KeyPath;
use crate::place::{Field, Holds, Kind, Place, REQUEST, Reason, Text, Texts, Unreadable, unreadable};
use crate::target;

/// A reader of the records of one file.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    log: Log,
    /// The names of the values.
    pub names: Vec<String>,
    /// For each [`Text::index`], the number of the value, if it was asked for.
    numbers: Vec<Option<usize>>,
    header: Header,
    /// The reader of documents, if the records are JSON.
    json: json::Reader,
    texts: Texts,
}

/// Reports whether a value of a log with this layout can have both names, each of which is that of a field, of a column, or a path in JSON.
pub(crate) fn can_be_same(layout: &Layout, name: &str, other: &str) -> bool {
    let (Shape::Json(keys) | Shape::Columns(Columns { columns: keys, .. })) = &layout.shape else {
        return name == other;
    };
    let names = |name| {
        let of_field = keys.iter().filter(move |key| key.field.name() == name && key.holds != Holds::Method);
        of_field.map(|key| key.name).chain([name])
    };
    let is_same = |name: &str, other: &str| match &layout.shape {
        Shape::Json(_) => match (name.parse::<KeyPath>(), other.parse()) {
            (Ok(path), Ok(other)) => path.overlaps(&other),
            _ => false,
        },
        _ => is_column(name, other.as_bytes()),
    };
    names(name).any(|name| names(other).any(|other| is_same(name, other)))
}

impl Reader {
    /// Returns a reader of records of this format that finds the values with these names. An error is a message for the user.
    pub fn new(log: Log, names: Vec<String>) -> Result<Reader, String> {
        let known = log.layout.fields();
        let (mut numbers, mut header) = (vec![None; Field::ALL.len()], Header::default());
        for (number, name) in names.iter().enumerate() {
            match Field::named(name) {
                Some(field) if known.contains(&field) => numbers[field as usize] = Some(number),
                None if matches!(log.layout.shape, Shape::Columns(_) | Shape::Json(_)) => {
                    numbers.push(Some(number));
                    header.wanted.push(name.clone());
                }
                _ => return Err(log.has_no(name)),
            }
        }
        let mut json = json::Reader::default();
        if let Shape::Json(keys) = &log.layout.shape {
            let names = header.wanted.iter().map(String::as_str).chain(keys.iter().map(|key| key.name));
            json.paths = names.map(str::parse).collect::<Result<Vec<KeyPath>, _>>()?;
            json.keys = keys.len();
        }
        let texts = Texts { escaping: log.escaping(), list: Vec::new() };
        Ok(Reader { log, names, numbers, header, json, texts })
    }

    /// Reports whether a header line names the columns of the records after it.
    pub fn has_header(&self) -> bool {
        matches!(self.log.layout.shape, Shape::Columns(_))
    }

    /// Reports whether each record is a JSON document.
    pub fn is_json(&self) -> bool {
        matches!(self.log.layout.shape, Shape::Json(_))
    }

    /// Returns the search for escapes in the lines, if they need not be read one by one.
    pub fn sweep(&self) -> Option<Sweep> {
        let is_selected = |field: Field| self.numbers[field as usize].is_some();
        let requests = Requests::new(self.log, is_selected)?;
        let place = Place::new(0..0, 0, self.log.escaping(), REQUEST);
        Some(Sweep::new(Finder::Requests(Box::new(requests)), place.refused(), place.respelt()))
    }

    /// Appends the places of the values of `record` to `places`, in the order of the record. The record has no line end.
    ///
    /// A record without a value, such as a header line or a request that the server did not understand, is no error. After an error, the
    /// places that were appended are those of the values that are certain nevertheless.
    pub fn find(&mut self, record: &[u8], places: &mut Vec<Place>) -> Result<(), Unreadable> {
        if record.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let texts = &mut self.texts;
        texts.list.clear();
        match &self.log.layout.shape {
            Shape::Access(layout) => access::find(record, layout, self.log.writer.rule, texts)?,
            Shape::Json(keys) => self.json.find(record, keys, texts)?,
            Shape::Columns(layout) => layout.find(record, &mut self.header, texts)?,
            Shape::Words(layout) => layout.find(record, texts)?,
            Shape::Labels => labels::find(record, texts)?,
        }
        let method = self.texts.list.iter().find(|text| text.holds == Holds::Method);
        let method = method.and_then(|text| text.range.clone().ok()).unwrap_or(0..0);
        let (from, mut result) = (places.len(), Ok(()));
        for text in &self.texts.list {
            match self.place(record, text, &method) {
                Ok(place) => places.extend(place),
                Err(error) => result = result.and(Err(error)),
            }
        }
        places[from..].sort_by_key(|place| place.range.start);
        // A member that is selected by the name of its field, which comes first, and by `**` is one place.
        let mut number = 0;
        places.dedup_by(|place, before| {
            number += 1;
            number > from && place.range.start == before.range.start
        });
        result
    }

    /// Returns the place of the value that `text` is or contains, unless it is not selected or is a placeholder. The method of the request
    /// is at `method`, if the record has it apart from the target.
    fn place(&self, record: &[u8], text: &Text, method: &Range<usize>) -> Result<Option<Place>, Unreadable> {
        let Text { ref range, index, holds, escaping, fence } = *text;
        let Some(index) = self.numbers[index].filter(|_| holds != Holds::Method) else { return Ok(None) };
        let range = range.clone().or_else(|reason| unreadable(0, reason))?;
        let known = &self.log.writer.placeholders;
        let (method, range, ends_request) = match holds {
            Holds::Request => match target::split(record, range.clone(), known, escaping)? {
                Some((method, target)) => {
                    let has_protocol = record[target.end..range.end].iter().any(|&byte| byte != b' ');
                    (method, target, !has_protocol)
                }
                None => return Ok(None),
            },
            _ => (method.clone(), range, false),
        };
        // The unknown writer may be HAProxy, which writes `#22` for a quote.
        let is_unknown = escaping == Escaping::Unknown;
        let (raw, start) = (&record[range.clone()], range.start);
        let mut buffer = Vec::new();
        if is_unknown && Escaping::Haproxy.undo(raw, &mut buffer).is_ok_and(|value| value != raw) {
            return unreadable(start, Reason::UNKNOWN_WRITER);
        }
        let mut place = Place::new(range, index, escaping, fence);
        place.placeholders = Some(known);
        place.ends_request = ends_request;
        if let Shape::Columns(columns) = &self.log.layout.shape {
            place.reserved = columns.reserved;
        }
        // A value that a blank would end has no quotes around it, or is a word in them: without text, its field would be missing.
        place.may_be_empty =
            !fence.contains(b' ') && !matches!(holds, Holds::Request | Holds::Target | Holds::Stem);
        let mut buffer = Vec::new();
        let value = match place.value(record, &mut buffer) {
            Ok(value) if known.contains(value) => return Ok(None),
            Ok(value) => value,
            Err(offset) => {
                let is_unknown = is_unknown || escaping == Escaping::UnknownJson;
                return unreadable(offset, if is_unknown { Reason::UNKNOWN_WRITER } else { Reason::ESCAPE });
            }
        };
        place.kind = match holds {
            Holds::Stem if value.starts_with(b"/") && value.iter().any(|byte| b"?#".contains(byte)) => {
                Kind::DecodedPath
            }
            Holds::Request | Holds::Target | Holds::Stem => target::kind(&record[method], value),
            Holds::Server => target::authority_or_url(value),
            Holds::Method => Kind::Text,
            Holds::Value(kind) => kind,
        };
        Ok(Some(place))
    }
}
