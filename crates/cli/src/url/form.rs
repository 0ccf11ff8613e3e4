//! Converts `application/x-www-form-urlencoded` to rows of pairs, and back.

use std::borrow::Cow;

use serde_json::Value;
use simdpct::ByteSet;
use simdpct_uri::form::{self, LineEnds, Serializer};

use super::row::{self, Style};
use super::{Escapes, Rewrite};
use crate::ground::charset::Charset;
use crate::ground::fault::{Handling, OnFault};
use crate::ground::reason::{Reason, Refusal};
use crate::ground::utf8;

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
    fn append(
        &self,
        value: &[u8],
        _: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let repaired = handling.repaired(value, b"%2525");
        let mut refusal = None;
        let pairs = form::pairs(&*repaired).zip(starts(value)).map_while(|((name, value), offset)| {
            let pair = self
                .text(name, handling.not_text)
                .and_then(|name| Ok((name, self.text(value, handling.not_text)?)));
            pair.map_err(|reason| refusal = Some(Refusal { offset, reason })).ok()
        });
        self.write(pairs, out);
        refusal.map_or(Ok(()), Err)
    }

    fn escapes(&self) -> Escapes {
        Escapes::Decoded
    }

    fn reads_utf8(&self) -> bool {
        self.charset.is_none()
    }
}

impl FromForm {
    /// Converts a decoded name or value to UTF-8. Without a charset, bytes that are invalid UTF-8 stay unless `on_fault`
    /// says otherwise.
    fn text<'a>(&self, bytes: Cow<'a, [u8]>, on_fault: OnFault) -> Result<Cow<'a, [u8]>, Reason> {
        if let Some(charset) = self.charset {
            let mut text = Vec::new();
            charset.decode(&bytes, on_fault, &mut text).map_err(|_| Reason::NotInCharset)?;
            return Ok(Cow::Owned(text));
        }
        if on_fault == OnFault::Keep || utf8::validate(&bytes).is_ok() {
            return Ok(bytes);
        }
        match on_fault {
            OnFault::Repair => Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned().into_bytes())),
            OnFault::Keep | OnFault::Refuse => Err(Reason::InvalidUtf8),
        }
    }

    fn write<'a>(self, pairs: impl Iterator<Item = (Cow<'a, [u8]>, Cow<'a, [u8]>)>, out: &mut Vec<u8>) {
        if self.style == Style::Jsonl {
            out.push(b'[');
            for (index, (name, value)) in pairs.enumerate() {
                out.extend_from_slice(if index > 0 { b",[" } else { b"[" });
                row::write_bytes(&name, out);
                out.push(b',');
                row::write_bytes(&value, out);
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
    fn append(
        &self,
        value: &[u8],
        _: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
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
                            .encode(text, handling.not_text, bytes)
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

    fn escapes(&self) -> Escapes {
        Escapes::Data
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
        let pair = |name: Vec<u8>, value: Value| Some([name, text(value)?].map(Cow::Owned));
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
                    values.into_iter().map(move |value| pair(name.clone().into_bytes(), value))
                })
                .collect(),
            _ => None,
        };
        pairs.ok_or_else(|| refuse("expected an array of pairs, such as [[\"a\",\"1\"]], or an object"))
    }
}

/// Returns a string, number, boolean, or object of [`row::write_bytes`] as text for a form, or `None` for other JSON
/// values.
fn text(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.into_bytes()),
        Value::Number(number) => Some(number.to_string().into_bytes()),
        Value::Bool(truth) => Some(truth.to_string().into_bytes()),
        Value::Object(members) => row::read_bytes(&members),
        Value::Null | Value::Array(_) => None,
    }
}
