//! Reads and writes the parts of a URL as a line of TSV, CSV or JSON.
//!
//! A missing part differs from an empty one: `http://a/` has no query, and `http://a/?` has an empty one. In TSV and
//! CSV an empty cell is a missing part, and `""` is an empty one; in JSON a missing part has no member.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use simdpct_records::{Dialect, Quotes, Unreadable};

use crate::common::escape::{byte_of, escape, to_text};
use crate::common::reason::{Reason, Refusal};
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
    pub fn structure(self) -> &'static [u8] {
        match self {
            Style::Tsv => b"\t\r\n\0",
            Style::Csv => b"\r\n\0",
            Style::Jsonl => b"",
        }
    }

    /// Returns the row that is written for a value without a result.
    pub fn missing(self) -> &'static [u8] {
        if self == Style::Jsonl { b"null" } else { b"" }
    }

    /// Returns the byte of the escape at the start of `rest`, if cells contain escapes of this byte only.
    fn escape_at(self, rest: &[u8]) -> Option<&'static [u8]> {
        let byte = byte_of(rest.first_chunk()?)?;
        // In TSV, a cell of two quotes would mean an empty cell.
        let written: &[u8] = if self == Style::Tsv { b"%\"\t\r\n\0" } else { b"%\r\n\0" };
        written.iter().position(|&known| known == byte).map(|at| &written[at..=at])
    }

    fn delimiter(self) -> u8 {
        if self == Style::Tsv { b'\t' } else { b',' }
    }
}

/// Reports whether each part of the URL `value` can be written without escapes and quotes in all formats.
pub fn is_plain(value: &[u8]) -> bool {
    // The loop has no early exit, so that it compiles to vector code.
    !value.iter().fold(false, |any, &byte| any | (byte < 0x20) | (byte == b'"') | (byte == b','))
}

/// Appends `cells` as a row of TSV or CSV. `None` is a missing part. `is_plain` says that no cell needs escapes or
/// quotes.
pub fn write_cells<'a>(
    style: Style,
    is_plain: bool,
    cells: impl Iterator<Item = Option<Cow<'a, [u8]>>>,
    out: &mut Vec<u8>,
) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(style.delimiter());
        }
        match cell.as_deref() {
            None => {}
            Some(b"") => out.extend_from_slice(EMPTY),
            Some(cell) if is_plain => out.extend_from_slice(cell),
            Some(cell) if style == Style::Tsv => write_tsv(cell, out),
            Some(cell) => write_csv(cell, out),
        }
    }
}

/// Appends a cell of TSV, which has no quotes. Tabs, line ends and NUL are percent-encoded.
fn write_tsv(cell: &[u8], out: &mut Vec<u8>) {
    if cell == EMPTY {
        escape(cell, out);
        return;
    }
    let structure = Style::Tsv.structure();
    if !cell.iter().fold(false, |any, &byte| any | (byte < 0x20)) {
        out.extend_from_slice(cell);
        return;
    }
    push_escaped(cell, structure, out);
}

/// Appends `cell`, with an escape for each byte of `structure`.
fn push_escaped(cell: &[u8], structure: &[u8], out: &mut Vec<u8>) {
    for &byte in cell {
        if structure.contains(&byte) { escape(&[byte], out) } else { out.push(byte) }
    }
}

/// Appends a cell of CSV, in quotes if necessary (RFC 4180). Line ends and NUL are percent-encoded, so that a row is
/// one line.
fn write_csv(cell: &[u8], out: &mut Vec<u8>) {
    let structure = Style::Csv.structure();
    let mut text = Cow::Borrowed(cell);
    if cell.iter().any(|byte| structure.contains(byte)) {
        let mut line = Vec::new();
        push_escaped(cell, structure, &mut line);
        text = Cow::Owned(line);
    }
    // A cell of CSV can have any byte.
    let _ = CSV.write(&text, out);
}

/// Returns `cell` with an additional `%25` for each `%` that [`unescaped`] would read as the start of an escape.
pub fn escaped<'a>(style: Style, cell: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    replace(cell, |rest| style.escape_at(rest).map(|_| (1, &b"%25"[..])))
}

/// Returns `cell` with the escapes decoded that [`escaped`] and [`write_cells`] write.
pub fn unescaped<'a>(style: Style, cell: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    replace(cell, |rest| style.escape_at(rest).map(|byte| (3, byte)))
}

/// Appends `rows`, whose cells are decoded except for their `%25`. These become `%`, unless [`unescaped`] would then read an
/// escape.
pub fn append_unescaped_percents(style: Style, rows: &[u8], out: &mut Vec<u8>) {
    let new = |rest: &[u8]| {
        let [b'%', b'2', b'5', after @ ..] = rest else { return None };
        let digits = after.first_chunk().copied().unwrap_or_default();
        let [first, second]: [u8; 2] = digits;
        style.escape_at(&[b'%', first, second]).is_none().then_some((3, &b"%"[..]))
    };
    out.extend_from_slice(&replace(Cow::Borrowed(rows), new));
}

/// Returns `cell` with replacements. For the bytes from a `%` on, `new` returns the number of bytes to replace, and their
/// replacement.
fn replace<'a, 'n>(cell: Cow<'a, [u8]>, new: impl Fn(&[u8]) -> Option<(usize, &'n [u8])>) -> Cow<'a, [u8]> {
    let (mut out, mut from) = (Vec::new(), 0);
    for at in memchr::memchr_iter(b'%', &cell) {
        if let Some((len, new)) = new(&cell[at..]) {
            out.extend_from_slice(&cell[from..at]);
            out.extend_from_slice(new);
            from = at + len;
        }
    }
    if from == 0 {
        return cell;
    }
    out.extend_from_slice(&cell[from..]);
    Cow::Owned(out)
}

/// Appends a JSON object with those `members` that are not missing, that is, not `None`.
pub fn write_object<'a>(members: impl Iterator<Item = (&'a str, Option<Cow<'a, [u8]>>)>, out: &mut Vec<u8>) {
    let mut before = b'{';
    for (name, value) in members {
        if let Some(value) = value {
            out.push(before);
            write_string(name.as_bytes(), out);
            out.push(b':');
            write_string(&value, out);
            before = b',';
        }
    }
    if before == b'{' {
        out.push(before);
    }
    out.push(b'}');
}

/// Appends `value` as a JSON string. Bytes that are invalid UTF-8 are percent-encoded.
pub fn write_string(value: &[u8], out: &mut Vec<u8>) {
    let is_odd = |byte: u8| !(0x20..0x7F).contains(&byte) | (byte == b'"') | (byte == b'\\');
    // The loop has no early exit, so that it compiles to vector code.
    if !value.iter().fold(false, |any, &byte| any | is_odd(byte)) {
        out.push(b'"');
        out.extend_from_slice(value);
        out.push(b'"');
        return;
    }
    // Serializing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, &to_text(value));
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

/// An object of JSON, and the name of a member that it has twice.
#[derive(Default)]
struct Object {
    members: Map<String, Value>,
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(Object::default())
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Object, A::Error> {
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if self.members.contains_key(&name) {
                self.twice = Some(name);
            } else {
                self.members.insert(name, value);
            }
        }
        Ok(self)
    }
}

/// Parses `row` as a JSON document. An object that has a member twice is rejected, because one of the values would be lost.
pub fn read_json(row: &[u8]) -> Result<Value, Refusal> {
    let refuse = |error: serde_json::Error| Refusal {
        offset: error.column().saturating_sub(1).min(row.len()),
        reason: Reason::not_json(&error),
    };
    if !row.trim_ascii_start().starts_with(b"{") {
        return serde_json::from_slice(row).map_err(refuse);
    }
    let Object { members, twice } = serde_json::from_slice(row).map_err(refuse)?;
    match twice {
        None => Ok(Value::Object(members)),
        Some(name) => {
            let message = format!("the member '{name}' is given twice");
            Err(Refusal { offset: 0, reason: Reason::Url(message) })
        }
    }
}
