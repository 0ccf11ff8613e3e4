//! Writes the parts of URLs, in rows or in templates.

use std::borrow::Cow;

use simdpct::ByteSet;
use simdpct_uri::Parts;

use super::part::{Part, Suffixes};
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
    suffixes: Suffixes,
}

impl Split {
    /// Creates a converter from URLs to rows of the parts `fields`, in this order.
    pub fn new(fields: Vec<Part>, style: Style, decode: bool, suffixes: Suffixes) -> Split {
        Split { names: fields.iter().map(Part::to_string).collect(), fields, style, decode, suffixes }
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
            let raw = part.raw(&url, &self.suffixes)?;
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

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, _: &mut dyn FnMut()) -> bool {
        if self.decode {
            return false;
        }
        match self.style {
            Style::Tsv => each_plain_line(text, b'"', out, |url, out| {
                for (index, part) in self.fields.iter().enumerate() {
                    if index > 0 {
                        out.push(b'\t');
                    }
                    match part.raw(url, &self.suffixes) {
                        // A URL always has a path, so an empty cell without quotes can mean an empty path.
                        Some(b"") if *part != Part::Path => out.extend_from_slice(b"\"\""),
                        cell => out.extend_from_slice(cell.unwrap_or_default()),
                    }
                }
            }),
            // JSON is UTF-8. Only bytes of ASCII separate parts, so each part of a valid text is valid.
            Style::Jsonl if utf8::validate(text).is_ok() => each_plain_line(text, b'\\', out, |url, out| {
                let mut before = b'{';
                for (part, name) in self.fields.iter().zip(&self.names) {
                    if let Some(raw) = part.raw(url, &self.suffixes) {
                        out.push(before);
                        row::write_string(name.as_bytes(), out);
                        out.extend_from_slice(b":\"");
                        out.extend_from_slice(raw);
                        out.push(b'"');
                        before = b',';
                    }
                }
                out.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
            }),
            Style::Csv | Style::Jsonl => false,
        }
    }

    fn escapes(&self) -> Escapes {
        escapes(self.decode)
    }

    fn missing(&self) -> &'static [u8] {
        self.style.missing()
    }
}

/// Appends a line for each URL in `text`, one per line, as `write` writes it. Returns false if the text contains a quote, the
/// byte `special` or a control byte other than a line feed, so that parts of it may need escapes.
fn each_plain_line(
    text: &[u8],
    special: u8,
    out: &mut Vec<u8>,
    write: impl Fn(&Parts<'_>, &mut Vec<u8>),
) -> bool {
    let is_odd = |byte: u8| ((byte < 0x20) & (byte != b'\n')) | (byte == b'"') | (byte == special);
    // The loop has no early exit, so that it compiles to vector code.
    if text.iter().fold(false, |any, &byte| any | is_odd(byte)) {
        return false;
    }
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text[start..]).map(|found| start + found);
        write(&simdpct_uri::split(&text[start..end.unwrap_or(text.len())]), out);
        let Some(end) = end else { break };
        out.push(b'\n');
        start = end + 1;
    }
    true
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
    suffixes: Suffixes,
    /// Whether parts whose case has no meaning are written in lower case.
    folds: bool,
}

impl Get {
    /// Creates a converter that fills `template`.
    pub fn new(template: Template, decode: bool, suffixes: Suffixes) -> Get {
        Get { template, decode, suffixes, folds: false }
    }

    /// Writes schemes, hosts and their divisions in lower case.
    pub fn folded(self) -> Get {
        Get { folds: true, ..self }
    }

    /// Changes the letters of `part`, which was appended at `from` of `out`, to lower case if that is wanted.
    fn fold(&self, part: &Part, out: &mut [u8], from: usize) {
        if self.folds && part.has_no_case() {
            out[from..].make_ascii_lowercase();
        }
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
                    let raw = part.raw(&url, &self.suffixes).unwrap_or_default();
                    let cell = if self.decode { part.decoded(raw, *keep, handling) } else { raw.into() };
                    let from = out.len();
                    out.extend_from_slice(&cell);
                    self.fold(part, out, from);
                }
            }
        }
        Ok(())
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, _: &mut dyn FnMut()) -> bool {
        let items = &self.template.items;
        let has_feed = |item: &Item| matches!(item, Item::Text(text) if text.iter().any(|byte| b"\r\n\0".contains(byte)));
        !self.decode
            && !items.iter().any(has_feed)
            && each_plain_line(text, b'"', out, |url, out| {
                for item in items {
                    match item {
                        Item::Text(text) => out.extend_from_slice(text),
                        Item::Part(part) => {
                            let from = out.len();
                            out.extend_from_slice(part.raw(url, &self.suffixes).unwrap_or_default());
                            self.fold(part, out, from);
                        }
                    }
                }
            })
    }

    fn escapes(&self) -> Escapes {
        escapes(self.decode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_converted_like_single_urls() {
        const WORDS: &[&str] = &[
            "http://",
            "//",
            "/",
            "/",
            "a.org",
            "user:pw@",
            "@",
            ":",
            ":80",
            "?",
            "#",
            "q=1&r=2",
            "%41",
            "%zz",
            ",",
            "\u{e9}",
            "[::1]",
            ";",
            "\u{7f}",
            "a/longer/path/without/anything/special/in/it",
        ];
        let parts = |names: &str| names.split(',').map(|name| Part::find(name).unwrap()).collect();
        for names in [
            super::super::part::USUAL,
            "host,path,user,password,query:q,segment:-1,url,domain,suffix,subdomain",
            "fragment",
        ] {
            for style in [Style::Tsv, Style::Jsonl] {
                crate::url::tests::assert_lines_are_like_values(
                    &Split::new(parts(names), style, false, Suffixes::default()),
                    WORDS,
                );
            }
        }
        let get = Get::new(
            Template::new("{host}\\t<{path}>{query:r}{domain}").unwrap(),
            false,
            Suffixes::default(),
        );
        crate::url::tests::assert_lines_are_like_values(&get, WORDS);
    }
}
