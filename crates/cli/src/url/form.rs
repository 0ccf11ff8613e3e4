//! `application/x-www-form-urlencoded`: a form to the row of its pairs, and back.

use std::borrow::Cow;

use serde_json::Value;
use simdpct::ByteSet;
use simdpct_uri::form::{self, LineEnds, Serializer};

use super::Rewrite;
use super::row::{self, Style};
use crate::ground::charset::Charset;
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};

/// The pairs of a form: names and values in turn, or an array of pairs.
#[derive(Clone, Copy, Debug)]
pub struct FromForm {
    /// How they are written.
    pub style: Style,
    /// The charset that they are in, if it is not UTF-8.
    pub charset: Option<Charset>,
}

/// The parameters of `form` that are not empty, which are its pairs, by where they start.
fn starts(form: &[u8]) -> impl Iterator<Item = usize> {
    let mut next = 0;
    form.split(|&byte| byte == b'&').filter_map(move |parameter| {
        let start = next;
        next += parameter.len() + 1;
        (!parameter.is_empty()).then_some(start)
    })
}

impl Rewrite for FromForm {
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.append_text(value, structure, OnFault::Keep, out)
    }

    fn append_text(
        &self,
        value: &[u8],
        _: &ByteSet,
        on_invalid: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let Some(charset) = self.charset else {
            self.write(form::pairs(value), out);
            return Ok(());
        };
        let mut pairs = Vec::new();
        for ((name, value), offset) in form::pairs(value).zip(starts(value)) {
            let text = |bytes: &[u8]| {
                let mut text = Vec::new();
                let decoded = charset.decode(bytes, on_invalid, &mut text);
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
        // An empty value needs no mark: there are no values that are not there.
        let cells =
            pairs.flat_map(|(name, value)| [name, value].map(|cell| Some(cell).filter(|c| !c.is_empty())));
        row::write_cells(self.style, false, cells, out);
    }
}

/// The form of pairs.
#[derive(Clone, Copy, Debug)]
pub struct ToForm {
    /// How they are written.
    pub from: Style,
    /// What becomes of line ends in them.
    pub line_ends: LineEnds,
    /// The charset of the form, if it is not UTF-8.
    pub charset: Option<Charset>,
}

impl ToForm {
    /// Adds a pair of text to `form`, as bytes in the charset.
    fn add(
        self,
        form: &mut Serializer,
        name: &[u8],
        value: &[u8],
        on_invalid: OnFault,
    ) -> Result<(), Refusal> {
        let Some(charset) = self.charset else {
            form.append_pair(name, value);
            return Ok(());
        };
        // Where in the row a pair is, nobody knows any more.
        let bytes = |text: &[u8]| {
            let mut bytes = Vec::new();
            let encoded = charset.encode(text, on_invalid, &mut bytes);
            encoded.map(|()| bytes).map_err(|refusal| Refusal { offset: 0, ..refusal })
        };
        form.append_pair(&bytes(name)?, &bytes(value)?);
        Ok(())
    }
}

impl Rewrite for ToForm {
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.append_text(value, structure, OnFault::Keep, out)
    }

    fn append_text(
        &self,
        value: &[u8],
        _: &ByteSet,
        on_invalid: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
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
                let (name, value) =
                    (name.as_deref().unwrap_or_default(), value.as_deref().unwrap_or_default());
                self.add(&mut form, name, value, on_invalid)?;
            }
        } else {
            let wanted = || refuse("an array of pairs is wanted, such as [[\"a\",\"1\"]], or an object");
            match row::read_json(value)? {
                Value::Array(pairs) => {
                    for pair in &pairs {
                        match pair.as_array().map(Vec::as_slice) {
                            Some([name, value]) => {
                                let (name, value) =
                                    (text(name).ok_or_else(wanted)?, text(value).ok_or_else(wanted)?);
                                self.add(&mut form, name.as_bytes(), value.as_bytes(), on_invalid)?;
                            }
                            _ => return Err(wanted()),
                        }
                    }
                }
                Value::Object(members) => {
                    for (name, value) in &members {
                        let one = std::slice::from_ref(value);
                        for value in value.as_array().map_or(one, Vec::as_slice) {
                            let value = text(value).ok_or_else(wanted)?;
                            self.add(&mut form, name.as_bytes(), value.as_bytes(), on_invalid)?;
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
