//! `application/x-www-form-urlencoded`: a form to the row of its pairs, and back.

use std::borrow::Cow;

use serde_json::Value;
use simdpct::ByteSet;
use simdpct_uri::form::{self, LineEnds, Serializer};

use super::Rewrite;
use super::row::{self, Style};
use crate::ground::reason::{Reason, Refusal};

/// The pairs of a form: names and values in turn, or an array of pairs.
#[derive(Clone, Copy, Debug)]
pub struct FromForm(pub Style);

impl Rewrite for FromForm {
    fn append(&self, value: &[u8], _: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let pairs = form::pairs(value);
        if self.0 == Style::Jsonl {
            out.push(b'[');
            for (index, (name, value)) in pairs.enumerate() {
                out.extend_from_slice(if index > 0 { b",[" } else { b"[" });
                row::write_string(&name, out);
                out.push(b',');
                row::write_string(&value, out);
                out.push(b']');
            }
            out.push(b']');
            return Ok(());
        }
        // An empty value needs no mark: there are no values that are not there.
        let cells =
            pairs.flat_map(|(name, value)| [name, value].map(|cell| Some(cell).filter(|c| !c.is_empty())));
        row::write_cells(self.0, false, cells, out);
        Ok(())
    }
}

/// The form of pairs.
#[derive(Clone, Copy, Debug)]
pub struct ToForm {
    /// How they are written.
    pub from: Style,
    /// What becomes of line ends in them.
    pub line_ends: LineEnds,
}

impl Rewrite for ToForm {
    fn append(&self, value: &[u8], _: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        if value.is_empty() {
            return Ok(());
        }
        let refuse = |message: &str| Refusal { offset: 0, reason: Reason::Url(message.to_owned()) };
        let mut form = Serializer::new();
        form.line_ends(self.line_ends);
        if self.from != Style::Jsonl {
            let cells = row::read_cells(self.from, value)?;
            let (pairs, rest) = cells.as_chunks::<2>();
            if !rest.is_empty() {
                return Err(refuse("names and values in turn are wanted: a value is missing"));
            }
            for [name, value] in pairs {
                form.append_pair(name.as_deref().unwrap_or_default(), value.as_deref().unwrap_or_default());
            }
        } else {
            let wanted = || refuse("an array of pairs is wanted, such as [[\"a\",\"1\"]], or an object");
            match row::read_json(value)? {
                Value::Array(pairs) => {
                    for pair in &pairs {
                        match pair.as_array().map(Vec::as_slice) {
                            Some([name, value]) => form.append_pair(
                                text(name).ok_or_else(wanted)?.as_ref(),
                                text(value).ok_or_else(wanted)?.as_ref(),
                            ),
                            _ => return Err(wanted()),
                        };
                    }
                }
                Value::Object(members) => {
                    for (name, value) in &members {
                        let one = std::slice::from_ref(value);
                        for value in value.as_array().map_or(one, Vec::as_slice) {
                            form.append_pair(name, text(value).ok_or_else(wanted)?.as_ref());
                        }
                    }
                }
                _ => return Err(wanted()),
            }
        }
        out.extend_from_slice(form.finish().as_bytes());
        Ok(())
    }

    fn reads_escapes(&self) -> bool {
        false
    }
}

/// What a form has for a string, number or truth value.
fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(truth) => Some(Cow::Owned(truth.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
