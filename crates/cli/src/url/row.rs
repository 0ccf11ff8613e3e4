//! Reads and writes the parts of a URL as a line of TSV, CSV or JSON.
//!
//! A missing part differs from an empty one: `http://a/` has no query, and `http://a/?` has an empty one. In TSV and
//! CSV an empty cell is a missing part, and `""` is an empty one; in JSON a missing part has no member.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use simdpct::{ByteSet, Encode};
use simdpct_records::{Dialect, Escaping, Quotes, Unreadable};

use crate::common::escape::{escape, replace, to_text};
use crate::common::reason::{Reason, Refusal, refuse};
use crate::common::utf8;

/// The format of a row of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Tsv,
    Csv,
    Jsonl,
}

/// The dialect of CSV.
const CSV: Dialect = Dialect { delimiter: b',', quotes: Quotes::Strict };

/// The cell that means a part that is present but empty.
const EMPTY: &[u8] = b"\"\"";

impl Style {
    /// Returns the bytes that stay escaped in a cell, so that a row is one line and keeps its cells. For JSON there
    /// are none, because JSON has its own escapes.
    pub const fn structure(self) -> ByteSet {
        ByteSet::from_bytes(match self {
            Style::Tsv => b"\t\r\n\0",
            Style::Csv => b"\r\n\0",
            Style::Jsonl => b"",
        })
    }

    /// Returns the row that is written for a value without a result.
    pub fn missing(self) -> &'static [u8] {
        if self == Style::Jsonl { b"null" } else { b"" }
    }

    /// Returns the byte of the escape at the start of `rest`, if rows may contain this byte as an escape.
    fn escape_at(self, rest: &[u8]) -> Option<&'static [u8]> {
        let byte = simdpct::decode_escape(rest)?;
        // In TSV, a cell of two quotes would mean an empty cell.
        let written: &[u8] = if self == Style::Tsv { b"%\"\t\r\n\0" } else { b"%\r\n\0" };
        written.iter().position(|&known| known == byte).map(|at| &written[at..=at])
    }

    /// Returns the byte between the cells of TSV or CSV.
    pub fn delimiter(self) -> u8 {
        if self == Style::Tsv { b'\t' } else { b',' }
    }
}

/// Reports whether each part of the URL `value` can be written without escapes and quotes in all formats.
pub fn is_plain(value: &[u8]) -> bool {
    // The loop has no early exit, so that it compiles to vector code.
    let is_odd = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b',') | (byte == b'\\');
    !value.iter().fold(false, |any, &byte| any | is_odd(byte))
}

/// Appends `cell` to a row of TSV or CSV. `None` is a missing part. If `is_plain`, the cell needs neither escapes nor
/// quotes. In other cells, tabs of TSV, line ends and NUL are percent-encoded, so that a row is one line.
pub fn write_cell(style: Style, is_plain: bool, cell: Option<&[u8]>, out: &mut Vec<u8>) {
    const TSV: Encode<ByteSet> = Encode::keeping(Style::Tsv.structure().complement());
    const CSV_LINE: Encode<ByteSet> = Encode::keeping(Style::Csv.structure().complement());

    match cell {
        None => {}
        Some(b"") => out.extend_from_slice(EMPTY),
        Some(cell) if is_plain => out.extend_from_slice(cell),
        Some(EMPTY) if style == Style::Tsv => escape(EMPTY, out),
        Some(cell) if style == Style::Tsv => TSV.encode_append(cell, out),
        // A cell of CSV can hold any byte, so writing it does not fail.
        Some(cell) => CSV.write(false, &CSV_LINE.encode(cell), out).unwrap_or_default(),
    }
}

/// Returns `cell` with `%25` in place of each `%` that [`unescaped`] would read as the start of an escape.
pub fn escaped<'a>(style: Style, cell: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    replace(cell, |rest| style.escape_at(rest).map(|_| (1, &b"%25"[..])))
}

/// Returns `cell` with the escapes decoded that [`escaped`] and the writers of rows write.
pub fn unescaped<'a>(style: Style, cell: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    replace(cell, |rest| style.escape_at(rest).map(|byte| (3, byte)))
}

/// Appends `rows`, in which only `%25` is not decoded yet. Each `%25` becomes `%`, unless [`unescaped`] would then read
/// an escape.
pub fn append_unescaped_percents(style: Style, rows: &[u8], out: &mut Vec<u8>) {
    let new = |rest: &[u8]| {
        let [b'%', b'2', b'5', after @ ..] = rest else { return None };
        let digits = after.first_chunk().copied().unwrap_or_default();
        let [first, second]: [u8; 2] = digits;
        style.escape_at(&[b'%', first, second]).is_none().then_some((3, &b"%"[..]))
    };
    out.extend_from_slice(&replace(Cow::Borrowed(rows), new));
}

/// Appends `value` as a JSON string. Bytes that are invalid UTF-8 are percent-encoded.
pub fn write_string(value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    end_string(value, out);
}

/// Appends the rest of a JSON string, after its first quote.
pub fn end_string(value: &[u8], out: &mut Vec<u8>) {
    let text = to_text(value);
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        // A JSON string can hold any text, so writing it does not fail.
        let _ = Escaping::Json.apply(text.as_bytes(), out);
    }
    out.push(b'"');
}

/// The name of the member that holds bytes which are not UTF-8.
const BYTES: &str = "bytes";

/// Appends `value` as a JSON string. Bytes that are invalid UTF-8 become an object instead, `{"bytes":"%C3"}`, because
/// a string with escapes could not be told apart from text that contains a `%`.
pub fn write_bytes(value: &[u8], out: &mut Vec<u8>) {
    if utf8::validate(value).is_ok() {
        write_string(value, out);
        return;
    }
    out.extend_from_slice(b"{\"bytes\":\"");
    out.extend_from_slice(simdpct::encode(value).as_bytes());
    out.extend_from_slice(b"\"}");
}

/// Returns the bytes of an object that [`write_bytes`] has written, or `None` for other objects.
pub fn read_bytes(members: &Map<String, Value>) -> Option<Vec<u8>> {
    let text = members.get(BYTES).filter(|_| members.len() == 1)?.as_str()?;
    simdpct::validate(text).is_ok().then(|| simdpct::decode(text).into_owned())
}

/// Returns the cells of a row of TSV or CSV. `None` is an empty cell without quotes, which means a missing part.
pub fn read_cells(style: Style, row: &[u8]) -> Result<Vec<Option<Cow<'_, [u8]>>>, Refusal> {
    if style == Style::Tsv {
        return Ok(row
            .split(|&byte| byte == b'\t')
            .map(|cell| match cell {
                b"" => None,
                EMPTY => Some(Cow::Borrowed(&b""[..])),
                cell => Some(Cow::Borrowed(cell)),
            })
            .collect());
    }
    let cells = CSV.cells(row).map_err(|Unreadable { offset, reason }| Refusal {
        offset,
        reason: Reason::Url(format!("not CSV: {}", reason.0)),
    })?;
    Ok(cells.into_iter().map(|(cell, is_quoted)| (is_quoted || !cell.is_empty()).then_some(cell)).collect())
}

/// A document of JSON.
pub enum Document {
    /// An object, with its members in order. None is there twice, because one of the values would be lost.
    Object(Vec<(String, Value)>),
    Other(Value),
}

struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(Object(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Object, A::Error> {
        let mut names = HashSet::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!("the member '{name}' is given twice")));
            }
            self.0.push((name, value));
        }
        Ok(self)
    }
}

/// Parses `row` as a JSON document.
pub fn read_json(row: &[u8]) -> Result<Document, Refusal> {
    let document = match row.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(row).map(|Object(members)| Document::Object(members)),
        _ => serde_json::from_slice(row).map(Document::Other),
    };
    document.map_err(|error| match (error.to_string().rsplit_once(" at line "), error.is_data()) {
        (Some((message, _)), true) => refuse(message),
        _ => Refusal {
            offset: error.column().saturating_sub(1).min(row.len()),
            reason: Reason::not_json(&error),
        },
    })
}
