//! Writes the parts of URLs, in rows or in templates.

use std::borrow::Cow;

use simdpct::ByteSet;

use super::part::Part;
use super::row::{self, Style};
use super::{Escapes, Rewrite};
use crate::ground::fault::{Handling, OnFault};
use crate::ground::reason::{Reason, Refusal};
use crate::ground::utf8;

/// Splits a URL and writes its parts as a row.
#[derive(Clone, Debug)]
pub struct Split {
    fields: Vec<Part>,
    /// The names of the parts, which are the members of a JSON object.
    names: Vec<String>,
    style: Style,
    /// Whether each part is decoded once before it is written.
    decode: bool,
}

impl Split {
    /// Creates a converter from URLs to rows of the parts `fields`, in this order.
    pub fn new(fields: Vec<Part>, style: Style, decode: bool) -> Split {
        Split { names: fields.iter().map(Part::to_string).collect(), fields, style, decode }
    }
}

impl Rewrite for Split {
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let url = simdpct_uri::split(value);
        // JSON strings can contain line ends, because JSON has its own escapes for them.
        let keep = match self.style {
            Style::Tsv | Style::Csv => keep.add(self.style.structure()),
            Style::Jsonl => ByteSet::EMPTY,
        };
        let mut is_text = true;
        let cells = self.fields.iter().map(|part| {
            let raw = part.raw(&url)?;
            // A URL always has a path, so an empty cell without quotes can mean an empty path.
            if raw.is_empty() && *part == Part::Path && self.style != Style::Jsonl {
                return None;
            }
            let cell = if self.decode { part.decoded(raw, keep, handling) } else { Cow::Borrowed(raw) };
            if self.style != Style::Jsonl
                || handling.not_text == OnFault::Keep
                || utf8::validate(&cell).is_ok()
            {
                return Some(cell);
            }
            // A row of JSON is always UTF-8, so its cells are checked before they are written.
            is_text = false;
            Some(Cow::Owned(String::from_utf8_lossy(&cell).into_owned().into_bytes()))
        });
        match self.style {
            Style::Tsv | Style::Csv => {
                let is_plain = !self.decode && row::is_plain(value);
                row::write_cells(self.style, is_plain, cells, out);
            }
            Style::Jsonl => row::write_object(self.names.iter().map(String::as_str).zip(cells), out),
        }
        if !is_text && handling.not_text == OnFault::Refuse {
            return Err(Refusal { offset: 0, reason: Reason::InvalidUtf8 });
        }
        Ok(())
    }

    fn escapes(&self) -> Escapes {
        escapes(self.decode)
    }
}

/// Returns the meaning of a `%` if parts are written, depending on whether they are decoded.
fn escapes(decodes: bool) -> Escapes {
    if decodes { Escapes::Decoded } else { Escapes::Copied }
}

/// A text with placeholders for parts of a URL.
#[derive(Clone, Debug)]
pub struct Template {
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
enum Item {
    Text(Vec<u8>),
    Part(Part),
}

impl Template {
    /// Parses a template: a text with placeholders such as `{host}` and `{query:q}`, and with the escapes `\t`, `\\`
    /// and `\{`.
    pub fn new(text: &str) -> Result<Template, String> {
        let mut items = Vec::new();
        let mut plain = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '\\']) {
            plain.extend_from_slice(&rest.as_bytes()[..at]);
            let after = &rest[at + 1..];
            if rest.as_bytes()[at] == b'{' {
                let Some((name, after)) = after.split_once('}') else {
                    return Err(format!("'{}' has no '}}'; write \"\\{{\" for a literal '{{'", &rest[at..]));
                };
                if !plain.is_empty() {
                    items.push(Item::Text(std::mem::take(&mut plain)));
                }
                items.push(Item::Part(Part::find(name)?));
                rest = after;
                continue;
            }
            let byte = match after.as_bytes().first() {
                Some(b't') => b'\t',
                Some(byte @ (b'\\' | b'{')) => *byte,
                _ => return Err("a '\\' must be followed by 't', '\\' or '{'".to_owned()),
            };
            plain.push(byte);
            rest = &after[1..];
        }
        plain.extend_from_slice(rest.as_bytes());
        if !plain.is_empty() {
            items.push(Item::Text(plain));
        }
        Ok(Template { items })
    }

    /// Reports whether the template names a part.
    pub fn has_parts(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Part(_)))
    }
}

/// Writes the text of a template, filled with the parts of a URL.
#[derive(Clone, Debug)]
pub struct Get {
    template: Template,
    /// Whether each part is decoded once before it is written.
    decode: bool,
}

impl Get {
    /// Creates a converter that fills `template`.
    pub fn new(template: Template, decode: bool) -> Get {
        Get { template, decode }
    }
}

impl Rewrite for Get {
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let url = simdpct_uri::split(value);
        for item in &self.template.items {
            match item {
                Item::Text(text) => out.extend_from_slice(text),
                Item::Part(part) => {
                    let raw = part.raw(&url).unwrap_or_default();
                    let cell = if self.decode { part.decoded(raw, *keep, handling) } else { raw.into() };
                    out.extend_from_slice(&cell);
                }
            }
        }
        Ok(())
    }

    fn escapes(&self) -> Escapes {
        escapes(self.decode)
    }
}
