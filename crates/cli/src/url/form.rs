//! Converts `application/x-www-form-urlencoded` to rows of pairs, and back.

use std::borrow::Cow;

use serde_json::Value;
use simdpct::ByteSet;
use simdpct_uri::form::{self, LineEnds, Serializer};

use super::Rewrite;
use super::row::{self, Style};
use crate::ground::charset::Charset;
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};

/// Converts a form to its pairs, as a row of alternating names and values or as a JSON array of pairs.
#[derive(Clone, Copy, Debug)]
pub struct FromForm {
    /// The format in which the pairs are written.
    pub style: Style,
    /// The charset of the form; `None` for UTF-8.
    pub charset: Option<Charset>,
}

/// Returns the offsets of the non-empty parameters of `form`. Each of them is a pair.
fn starts(form: &[u8]) -> impl Iterator<Item = usize> {
    let mut next = 0;
    form.split(|&byte| byte == b'&').filter_map(move |parameter| {
        let start = next;
        next += parameter.len() + 1;
        (!parameter.is_empty()).then_some(start)
    })
}

impl Rewrite for FromForm {
    fn append(&self, value: &[u8], _: &ByteSet, on_fault: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let Some(charset) = self.charset else {
            self.write(form::pairs(value), out);
            return Ok(());
        };
        let mut pairs = Vec::new();
        for ((name, value), offset) in form::pairs(value).zip(starts(value)) {
            let text = |bytes: &[u8]| {
                let mut text = Vec::new();
                let decoded = charset.decode(bytes, on_fault, &mut text);
                decoded.map_err(|_| Refusal { offset, reason: Reason::NotInCharset })?;
                Ok(Cow::Owned(text))
            };
            pairs.push((text(&name)?, text(&value)?));
        }
        self.write(pairs.into_iter(), out);
        Ok(())
    }
}

impl FromForm {
    fn write<'a>(self, pairs: impl Iterator<Item = (Cow<'a, [u8]>, Cow<'a, [u8]>)>, out: &mut Vec<u8>) {
        if self.style == Style::Jsonl {
            out.push(b'[');
            for (index, (name, value)) in pairs.enumerate() {
                out.extend_from_slice(if index > 0 { b",[" } else { b"[" });
                row::write_string(&name, out);
                out.push(b',');
                row::write_string(&value, out);
                out.push(b']');
            }
            out.push(b']');
            return;
        }
        // A pair always has a value, so an empty cell without quotes can mean an empty value.
        let cells = pairs.flat_map(|(name, value)| {
            [name, value].map(|cell| Some(row::escaped(self.style, cell)).filter(|cell| !cell.is_empty()))
        });
        row::write_cells(self.style, false, cells, out);
    }
}

/// Converts pairs to a form.
#[derive(Clone, Copy, Debug)]
pub struct ToForm {
    /// The format in which the pairs are read.
    pub from: Style,
    /// The treatment of line ends in the names and values of pairs.
    pub line_ends: LineEnds,
    /// The charset of the form; `None` for UTF-8.
    pub charset: Option<Charset>,
}

impl Rewrite for ToForm {
    fn append(&self, value: &[u8], _: &ByteSet, on_fault: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        if value.is_empty() {
            return Ok(());
        }
        let mut form = Serializer::new();
        form.line_ends(self.line_ends);
        for pair in self.pairs(value)? {
            let [name, value] = match self.charset {
                None => pair,
                Some(charset) => {
                    let mut encoded = [Vec::new(), Vec::new()];
                    for (text, bytes) in pair.iter().zip(&mut encoded) {
                        // The offset of the pair in its row is not known here, so the rejection has offset 0.
                        charset
                            .encode(text, on_fault, bytes)
                            .map_err(|refusal| Refusal { offset: 0, ..refusal })?;
                    }
                    encoded.map(Cow::Owned)
                }
            };
            form.append_pair(&name, &value);
        }
        out.extend_from_slice(form.finish().as_bytes());
        Ok(())
    }

    fn reads_escapes(&self) -> bool {
        false
    }
}

impl ToForm {
    /// Reads the pairs of names and values in `row`.
    fn pairs<'a>(&self, row: &'a [u8]) -> Result<Vec<[Cow<'a, [u8]>; 2]>, Refusal> {
        let refuse = |message: &str| Refusal { offset: 0, reason: Reason::Url(message.to_owned()) };
        if self.from != Style::Jsonl {
            let cells = row::read_cells(self.from, row)?;
            let mut cells = cells.into_iter().map(|cell| row::unescaped(self.from, cell.unwrap_or_default()));
            let mut pairs = Vec::new();
            while let Some(name) = cells.next() {
                let value = cells.next();
                let message = "expected alternating names and values, and the last value is missing";
                pairs.push([name, value.ok_or_else(|| refuse(message))?]);
            }
            return Ok(pairs);
        }
        let pair =
            |name: String, value: Value| Some([name, text(value)?].map(|text| text.into_bytes().into()));
        let pairs: Option<Vec<_>> = match row::read_json(row)? {
            Value::Array(pairs) => pairs
                .into_iter()
                .map(|item| {
                    let [name, value] = serde_json::from_value(item).ok()?;
                    pair(text(name)?, value)
                })
                .collect(),
            Value::Object(members) => members
                .into_iter()
                .flat_map(|(name, value)| {
                    let values = if let Value::Array(values) = value { values } else { vec![value] };
                    values.into_iter().map(move |value| pair(name.clone(), value))
                })
                .collect(),
            _ => None,
        };
        pairs.ok_or_else(|| refuse("expected an array of pairs, such as [[\"a\",\"1\"]], or an object"))
    }
}

/// Returns a string, number or boolean as text for a form, or `None` for other JSON values.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
