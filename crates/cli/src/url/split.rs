//! Writes the parts of URLs, in rows or in templates.

use std::borrow::Cow;
use std::cell::Cell;

use simdpct::ByteSet;
use simdpct_records::Kind;
use simdpct_uri::{Parts, PartsVisitor, Piece, visit_each_line};

use super::part::{Part, Suffixes, USUAL};
use super::row::{self, Style};
use super::values::{NOT_ASCII, in_utf8};
use super::{Escapes, Rewrite};
use crate::common::charset::Charset;
use crate::common::fault::{Handling, Policy};
use crate::common::reason::{Reason, Refusal};
use crate::common::{target, utf8};

/// Splits a URL and writes its parts as a row.
#[derive(Clone, Debug)]
pub struct Split {
    fields: Vec<Part>,
    /// Whether the parts are those of [`USUAL`].
    is_usual: bool,
    /// The names of the parts, which are the members of a JSON object.
    names: Vec<String>,
    /// The start of each member of a JSON object: its name and the quote before its value.
    members: Vec<Vec<u8>>,
    style: Style,
    /// Whether each part is decoded once before it is written.
    decode: bool,
    /// The charset of the decoded values; `None` for UTF-8.
    charset: Option<Charset>,
    suffixes: Suffixes,
}

impl Split {
    /// Creates a converter from URLs to rows of the parts `fields`, in this order.
    pub fn new(fields: Vec<Part>, style: Style, decode: bool, suffixes: Suffixes) -> Split {
        let names: Vec<_> = fields.iter().map(Part::to_string).collect();
        let member = |name: &String| {
            let mut member = Vec::new();
            row::write_string(name.as_bytes(), &mut member);
            member.extend_from_slice(b":\"");
            member
        };
        let is_usual = names.join(",") == USUAL;
        let members = names.iter().map(member).collect();
        Split { fields, is_usual, names, members, style, decode, charset: None, suffixes }
    }

    /// Sets the charset of the decoded values.
    pub fn in_charset(self, charset: Option<Charset>) -> Split {
        Split { charset, ..self }
    }
}

impl Rewrite for Split {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        // JSON strings can contain line ends, because JSON has its own escapes for them.
        let mut keep = match self.style {
            Style::Tsv | Style::Csv => keep.add(self.style.structure()),
            Style::Jsonl => ByteSet::EMPTY,
        };
        let mut buffers = Default::default();
        let url = split(value, kind, self.charset, handling, &mut keep, &mut buffers)?;
        let mut is_text = true;
        let cells = self.fields.iter().map(|part| {
            // A whole URL is never decoded.
            let raw = if *part == Part::Url { value } else { part.raw(&url, &self.suffixes)? };
            // A URL always has a path, so an empty cell without quotes can mean an empty path.
            if raw.is_empty() && *part == Part::Path && self.style != Style::Jsonl {
                return None;
            }
            let cell = if self.decode { part.decoded(raw, keep, handling) } else { Cow::Borrowed(raw) };
            if self.style != Style::Jsonl
                || handling.not_text == Policy::Keep
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
        if !is_text && handling.not_text.rejects() {
            return Err(Refusal { offset: 0, reason: Reason::InvalidUtf8 });
        }
        Ok(())
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, _: &mut dyn FnMut()) -> bool {
        if self.decode {
            return false;
        }
        let fields = self.fields.len();
        if may_need_escapes(text, if self.style == Style::Jsonl { b'\\' } else { b'"' }) {
            return false;
        }
        match self.style {
            Style::Tsv if self.is_usual => each_line(text, (fields, 3 * fields), out, UsualRow),
            Style::Tsv => {
                each_line(text, (fields, 3 * fields), out, |url: &Parts<'_>, rows: &mut Rows<'_, '_>| {
                    for (index, part) in self.fields.iter().enumerate() {
                        if index > 0 {
                            rows.push(b'\t');
                        }
                        match part.raw(url, &self.suffixes) {
                            // A URL always has a path, so an empty cell without quotes can mean an empty path.
                            Some(b"") if *part != Part::Path => rows.copy(b"\"\""),
                            cell => rows.part(cell.unwrap_or_default()),
                        }
                    }
                });
            }
            // JSON is UTF-8. Only bytes of ASCII separate parts, so each part of a valid text is valid.
            Style::Jsonl if utf8::validate(text).is_ok() => {
                let names: usize = self.members.iter().map(|member| member.len() + 2).sum();
                let most = (fields, names + 2);
                if self.is_usual {
                    each_line(text, most, out, UsualObject);
                    return true;
                }
                each_line(text, most, out, |url: &Parts<'_>, rows: &mut Rows<'_, '_>| {
                    let mut before = b'{';
                    for (part, member) in self.fields.iter().zip(&self.members) {
                        if let Some(raw) = part.raw(url, &self.suffixes) {
                            rows.push(before);
                            rows.copy(member);
                            rows.part(raw);
                            rows.push(b'"');
                            before = b',';
                        }
                    }
                    rows.copy(if before == b'{' { b"{}" } else { b"}" });
                });
            }
            Style::Csv | Style::Jsonl => return false,
        }
        true
    }

    fn escapes(&self) -> Escapes {
        escapes(self.decode)
    }

    fn reads_utf8(&self) -> bool {
        self.charset.is_none()
    }

    fn missing(&self) -> &'static [u8] {
        self.style.missing()
    }
}

/// Splits `value`, which has the syntax `kind`. With a charset, the parts have the characters of their escapes, and `keep` has also the bytes
/// whose escapes are invalid in the charset.
fn split<'a>(
    value: &'a [u8],
    kind: Kind,
    charset: Option<Charset>,
    handling: Handling,
    keep: &mut ByteSet,
    [buffer, text]: &'a mut [Vec<u8>; 2],
) -> Result<Parts<'a>, Refusal> {
    let url = target::split(kind, value, buffer);
    let Some(charset) = charset else { return Ok(url) };
    let before = url.input().len() - value.len();
    *text = in_utf8(charset, url.input(), url.offsets().path_start, b"%", handling.not_text)
        .map_err(|refusal| Refusal { offset: refusal.offset.saturating_sub(before), ..refusal })?;
    *keep = keep.union(NOT_ASCII);
    Ok(if kind == Kind::Path { simdpct_uri::split_path(text) } else { simdpct_uri::split(text) })
}

/// The size of the pieces in which parts are copied. Most parts are one piece.
const PIECE: usize = 64;

/// Writes rows that consist of parts of the text `text`. Parts are copied in pieces of a fixed size, and the surplus is
/// overwritten later, because a copy of a length that varies takes several times as long.
struct Rows<'t, 'o> {
    text: &'t [u8],
    out: &'o mut Vec<u8>,
    /// The number of bytes of `out` that are written.
    len: usize,
}

impl Rows<'_, '_> {
    /// Prepares for a row of at most `most` bytes.
    #[inline]
    fn reserve(&mut self, most: usize) {
        let needed = self.len + most + PIECE;
        if self.out.len() < needed {
            self.out.resize(needed + 4096, 0);
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.out[self.len] = byte;
        self.len += 1;
    }

    #[inline]
    fn copy(&mut self, bytes: &[u8]) {
        self.out[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Writes `part`, which is usually a part of the text.
    #[inline]
    fn part(&mut self, part: &[u8]) {
        self.short_part::<PIECE>(part);
    }

    /// Writes `part`, which usually has at most `MOST` bytes.
    #[inline]
    fn short_part<const MOST: usize>(&mut self, part: &[u8]) {
        // If the part is elsewhere, this offset is after the text.
        let from = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        let old = self.text.get(from..).and_then(<[u8]>::first_chunk::<MOST>);
        let new = self.out[self.len..].first_chunk_mut::<MOST>();
        match (old, new) {
            (Some(old), Some(new)) if part.len() <= MOST => {
                *new = *old;
                self.len += part.len();
            }
            _ => self.copy(part),
        }
    }
}

/// The parts of [`USUAL`] as a row of TSV.
struct UsualRow;

impl Write for UsualRow {
    #[inline(always)]
    fn write(&self, url: &Parts<'_>, rows: &mut Rows<'_, '_>) {
        #[inline(always)]
        fn cell<const MOST: usize>(part: Option<&[u8]>, rows: &mut Rows<'_, '_>) {
            match part {
                Some(b"") => rows.copy(b"\"\""),
                Some(part) => rows.short_part::<MOST>(part),
                None => {}
            }
            rows.push(b'\t');
        }
        cell::<16>(url.scheme(), rows);
        cell::<16>(url.userinfo().map(Piece::raw), rows);
        cell::<32>(url.host().map(Piece::raw), rows);
        cell::<16>(url.port(), rows);
        // A URL always has a path, so an empty cell without quotes can mean an empty path.
        cell::<PIECE>(Some(url.path()).filter(|path| !path.is_empty()), rows);
        cell::<PIECE>(url.query(), rows);
        cell::<PIECE>(url.fragment().map(Piece::raw), rows);
        rows.len -= 1;
    }
}

/// The parts of [`USUAL`] as a JSON object.
struct UsualObject;

impl Write for UsualObject {
    #[inline(always)]
    fn write(&self, url: &Parts<'_>, rows: &mut Rows<'_, '_>) {
        #[inline(always)]
        fn member<const MOST: usize, const LEN: usize>(
            name: &[u8; LEN],
            part: Option<&[u8]>,
            rows: &mut Rows<'_, '_>,
        ) {
            if let Some(part) = part {
                rows.copy(name);
                rows.short_part::<MOST>(part);
                rows.push(b'"');
            }
        }
        let start = rows.len;
        member::<16, _>(b",\"scheme\":\"", url.scheme(), rows);
        member::<16, _>(b",\"userinfo\":\"", url.userinfo().map(Piece::raw), rows);
        member::<32, _>(b",\"host\":\"", url.host().map(Piece::raw), rows);
        member::<16, _>(b",\"port\":\"", url.port(), rows);
        member::<PIECE, _>(b",\"path\":\"", Some(url.path()), rows);
        member::<PIECE, _>(b",\"query\":\"", url.query(), rows);
        member::<PIECE, _>(b",\"fragment\":\"", url.fragment().map(Piece::raw), rows);
        // A URL always has a path, so there is a first member, and no comma before it.
        rows.out[start] = b'{';
        rows.push(b'}');
    }
}

/// The host alone.
struct HostAlone;

impl Write for HostAlone {
    #[inline(always)]
    fn write(&self, url: &Parts<'_>, rows: &mut Rows<'_, '_>) {
        rows.short_part::<32>(url.host().map_or(b"", |host| host.raw()));
    }
}

/// Reports whether parts of the lines in `text` may need escapes: it contains a quote, the byte `special` or a control byte other than a
/// line feed.
fn may_need_escapes(text: &[u8], special: u8) -> bool {
    let is_odd = |byte: u8| ((byte < 0x20) & (byte != b'\n')) | (byte == b'"') | (byte == special);
    // The loop has no early exit, so that it compiles to vector code.
    text.iter().fold(false, |any, &byte| any | is_odd(byte))
}

/// Writes the parts of one URL.
trait Write {
    /// Writes the parts of `url` to `rows`. Implementations of this method are marked `#[inline(always)]`, because it is called for each line.
    fn write(&self, url: &Parts<'_>, rows: &mut Rows<'_, '_>);
}

impl<F: Fn(&Parts<'_>, &mut Rows<'_, '_>)> Write for F {
    #[inline(always)]
    fn write(&self, url: &Parts<'_>, rows: &mut Rows<'_, '_>) {
        self(url, rows);
    }
}

/// Writes a line for each URL. A line is at most `most.0` times as long as the URL, and `most.1` bytes.
struct Writer<'t, 'o, W> {
    rows: Rows<'t, 'o>,
    most: (usize, usize),
    write: W,
}

impl<W: Write> PartsVisitor<'_> for Writer<'_, '_, W> {
    #[inline(always)]
    fn url(&mut self, url: Parts<'_>) {
        self.rows.reserve(self.most.0 * url.input().len() + self.most.1 + 1);
        self.write.write(&url, &mut self.rows);
        self.rows.push(b'\n');
    }
}

/// Appends a line for each URL in `text`, one per line, as `write` writes it. See [`Writer`] for `most`. The text must not contain a
/// carriage return.
fn each_line(text: &[u8], most: (usize, usize), out: &mut Vec<u8>, write: impl Write) {
    let mut writer = Writer { rows: Rows { text, len: out.len(), out }, most, write };
    visit_each_line(text, &mut writer);
    let Rows { out, mut len, .. } = writer.rows;
    if text.last() != Some(&b'\n') && !text.is_empty() {
        len -= 1;
    }
    out.truncate(len);
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
    /// The charset of the decoded values; `None` for UTF-8.
    charset: Option<Charset>,
    suffixes: Suffixes,
    /// Whether parts whose case has no meaning are written in lower case.
    folds: bool,
}

impl Get {
    /// Creates a converter that fills `template`.
    pub fn new(template: Template, decode: bool, suffixes: Suffixes) -> Get {
        Get { template, decode, charset: None, suffixes, folds: false }
    }

    /// Sets the charset of the decoded values.
    pub fn in_charset(self, charset: Option<Charset>) -> Get {
        Get { charset, ..self }
    }

    /// Writes schemes, hosts and their divisions in lower case.
    pub fn folded(self) -> Get {
        Get { folds: true, ..self }
    }

    /// Reports whether `part` is written in lower case.
    fn folds(&self, part: &Part) -> bool {
        self.folds && part.has_no_case()
    }
}

impl Rewrite for Get {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let (mut keep, mut buffers) = (*keep, Default::default());
        let url = split(value, kind, self.charset, handling, &mut keep, &mut buffers)?;
        for item in &self.template.items {
            match item {
                Item::Text(text) => out.extend_from_slice(text),
                Item::Part(part) => {
                    // A whole URL is never decoded.
                    let raw = if *part == Part::Url { Some(value) } else { part.raw(&url, &self.suffixes) };
                    let raw = raw.unwrap_or_default();
                    let cell = if self.decode { part.decoded(raw, keep, handling) } else { raw.into() };
                    if !self.folds(part) {
                        out.extend_from_slice(&cell);
                    } else if let Ok(text) = str::from_utf8(&cell) {
                        out.extend_from_slice(text.to_lowercase().as_bytes());
                    } else {
                        out.extend_from_slice(&cell.to_ascii_lowercase());
                    }
                }
            }
        }
        Ok(())
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, _: &mut dyn FnMut()) -> bool {
        let items = &self.template.items;
        let most = items.iter().fold((0, 0), |(parts, bytes), item| match item {
            Item::Text(text) => (parts, bytes + text.len()),
            Item::Part(_) => (parts + 1, bytes),
        });
        let has_feed = |item: &Item| matches!(item, Item::Text(text) if text.iter().any(|byte| b"\r\n\0".contains(byte)));
        // A text is folded faster than many short parts. The small letter of one outside ASCII can be longer, so parts with such
        // letters are not folded here.
        let stays = |item: &Item| matches!(item, Item::Part(part) if !self.folds(part));
        let is_folded = self.folds && !items.iter().any(stays);
        let may_be_foreign = self.folds && !text.is_ascii();
        let folded = is_folded.then(|| text.to_ascii_lowercase());
        let text = folded.as_deref().unwrap_or(text);
        if self.decode || items.iter().any(has_feed) || memchr::memchr(b'\r', text).is_some() {
            return false;
        }
        if let ([Item::Part(Part::Host)], false) = (&items[..], may_be_foreign) {
            each_line(text, most, out, HostAlone);
            return true;
        }
        let start = out.len();
        let is_foreign = Cell::new(false);
        each_line(text, most, out, |url: &Parts<'_>, rows: &mut Rows<'_, '_>| {
            for item in items {
                match item {
                    Item::Text(text) => rows.copy(text),
                    Item::Part(part) => {
                        let from = rows.len;
                        match part {
                            Part::Host => HostAlone.write(url, rows),
                            part => rows.part(part.raw(url, &self.suffixes).unwrap_or_default()),
                        }
                        if (may_be_foreign || !is_folded) && self.folds(part) {
                            let written = &mut rows.out[from..rows.len];
                            is_foreign.set(is_foreign.get() || !written.is_ascii());
                            written.make_ascii_lowercase();
                        }
                    }
                }
            }
        });
        if is_foreign.get() {
            out.truncate(start);
        }
        !is_foreign.get()
    }

    fn escapes(&self) -> Escapes {
        escapes(self.decode)
    }

    fn reads_utf8(&self) -> bool {
        self.charset.is_none()
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
        for names in
            [USUAL, "host,path,user,password,query:q,segment:-1,url,domain,suffix,subdomain", "fragment"]
        {
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
