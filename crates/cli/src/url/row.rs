//! Pieces as a line of text: TSV, CSV or JSON, to and from.
//!
//! A part that is not there and one that is empty are not the same: `http://a/` has no query, `http://a/?` an empty one. In
//! TSV and CSV nothing at all is a part that is not there, and `""` is an empty one; in JSON the member is left out.

use std::borrow::Cow;

use serde_json::Value;

use crate::ground::escape::escape;
use crate::ground::reason::{Reason, Refusal};

/// How pieces are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Tsv,
    Csv,
    Jsonl,
}

/// An empty part, which is there.
const EMPTY: &[u8] = b"\"\"";

impl Style {
    /// The bytes that decoding must not make in a cell, so that a row is one line and has its cells. JSON escapes them.
    pub fn structure(self) -> &'static [u8] {
        match self {
            Style::Tsv => b"\t\r\n\0",
            Style::Csv => b"\r\n\0",
            Style::Jsonl => b"",
        }
    }

    fn delimiter(self) -> u8 {
        if self == Style::Tsv { b'\t' } else { b',' }
    }
}

/// Whether every piece of `value` is written as it is, whatever the style of its row.
pub fn is_plain(value: &[u8]) -> bool {
    // Without an early exit, so that it compiles to vector code.
    !value.iter().fold(false, |any, &byte| any | (byte < 0x20) | (byte == b'"') | (byte == b','))
}

/// Appends `cells` as a row of TSV or CSV. `is_plain` says that none of them needs escapes or quotes.
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

/// A cell that has no quotes, in which a tab or a line end stays escaped.
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
    for &byte in cell {
        if structure.contains(&byte) { escape(&[byte], out) } else { out.push(byte) }
    }
}

/// A cell in quotes, if it needs them (RFC 4180). A line end stays escaped, so that a row is one line.
fn write_csv(cell: &[u8], out: &mut Vec<u8>) {
    if !cell.iter().fold(false, |any, &byte| any | (byte < 0x20 || byte == b'"' || byte == b',')) {
        out.extend_from_slice(cell);
        return;
    }
    let structure = Style::Csv.structure();
    out.push(b'"');
    for &byte in cell {
        match byte {
            b'"' => out.extend_from_slice(EMPTY),
            _ if structure.contains(&byte) => escape(&[byte], out),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Appends an object of those `members` that are there.
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

/// Appends a JSON string; bytes that are not UTF-8 are percent-encoded.
pub fn write_string(value: &[u8], out: &mut Vec<u8>) {
    let text = match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::new();
            for chunk in value.utf8_chunks() {
                text.push_str(chunk.valid());
                text.push_str(&simdpct::encode(chunk.invalid()));
            }
            Cow::Owned(text)
        }
    };
    // Writing a string to memory does not fail.
    let _ = serde_json::to_writer(out, &text);
}

/// The cells of a row of TSV or CSV.
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
    let mut cells = Vec::new();
    let mut at = 0;
    loop {
        let rest = &row[at..];
        if rest.first() != Some(&b'"') {
            let len = memchr::memchr(b',', rest).unwrap_or(rest.len());
            cells.push((len > 0).then_some(Cow::Borrowed(&rest[..len])));
            at += len;
        } else {
            let (cell, len) = read_quoted(rest).ok_or(Refusal {
                offset: at,
                reason: Reason::Url("not CSV: quotes that do not end before a comma".to_owned()),
            })?;
            cells.push(Some(Cow::Owned(cell)));
            at += len;
        }
        if at == row.len() {
            return Ok(cells);
        }
        at += 1;
    }
}

/// The content of the quoted cell at the start of `rest`, and its length with quotes.
fn read_quoted(rest: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut cell = Vec::new();
    let mut at = 1;
    loop {
        let found = at + memchr::memchr(b'"', &rest[at..])?;
        cell.extend_from_slice(&rest[at..found]);
        match rest.get(found + 1) {
            Some(b'"') => cell.push(b'"'),
            None | Some(b',') => return Some((cell, found + 1)),
            Some(_) => return None,
        }
        at = found + 2;
    }
}

/// The JSON document that `row` is.
pub fn read_json(row: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(row).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default().to_owned();
        Refusal { offset: error.column().saturating_sub(1).min(row.len()), reason: Reason::NotJson(message) }
    })
}
