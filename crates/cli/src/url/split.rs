//! Writes parts of URLs: in rows, in objects of JSON, or as a template says.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use simdpct::{ByteSet, Encode};
use simdpct_records::Kind;
use simdpct_uri::{Parts, PartsVisitor, Piece, Section, SuffixList, host, visit_each_line};

use super::part::{Item, Part, Suffixes, Template, USUAL};
use super::row::{self, Style};
use super::values::in_utf8;
use crate::common::charset::Charset;
use crate::common::fault::Handling;
use crate::common::reason::{Refusal, not_utf8, refuse};
use crate::common::records::Records;
use crate::common::{target, utf8};
use crate::convert::{Convert, Text, Value};

/// The options for reading the parts of URLs.
#[derive(Clone, Debug, Default)]
pub struct PartOptions {
    /// Whether each part is decoded once before it is written.
    pub decode: bool,
    /// The charset of the decoded values; `None` for UTF-8.
    pub charset: Option<Charset>,
    pub suffixes: Suffixes,
    /// Whether values like `example.com/a` begin with a host.
    pub no_scheme: bool,
    /// Whether a URL that has none of the parts is rejected.
    pub needs_part: bool,
}

/// Returns the host that `value`, a URL without a host, would have with `--no-scheme`, if that host has a dot. This is not
/// inlined into the loop over lines, because URLs without a host are rare.
#[inline(never)]
fn likely_host(value: &[u8]) -> Option<&[u8]> {
    target::host_without_scheme(value).filter(|host| memchr::memchr(b'.', host).is_some())
}

/// The arrangement of parts in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The parts are in the text of a template.
    Template,
    /// The parts are in the text of a template, and all spellings of a scheme, a name or an IPv6 address become one: lower case, with names
    /// in Punycode or, if parts are decoded, in characters.
    Key,
    /// The parts are the cells of a row, or the members of an object: see [`Template::row`].
    Row(Style),
}

/// Splits a URL and writes some of its parts.
#[derive(Clone, Debug)]
pub struct PartsWriter {
    template: Template,
    layout: Layout,
    /// The bytes that stay escaped in the cells of a row.
    structure: ByteSet,
    options: PartOptions,
    /// The parts for which the writer of lines is compiled: [`ANY`], [`USUAL_ROW`], [`USUAL_OBJECT`] or [`HOST`].
    shape: u8,
    /// Whether the parts that are written depend on the host.
    needs_host: bool,
    /// The host that the first value without one would have with `--no-scheme`, if the parts depend on it.
    hostless: Arc<OnceLock<Vec<u8>>>,
}

/// Any parts, which are found one by one.
const ANY: u8 = 0;
/// The usual parts as cells, which are found together and not one by one.
const USUAL_ROW: u8 = 1;
/// The usual parts as members.
const USUAL_OBJECT: u8 = 2;
/// The host and no text.
const HOST: u8 = 3;

impl PartsWriter {
    /// Creates a converter that fills `template`, which is that of a row if `layout` is.
    pub fn new(template: Template, layout: Layout, options: PartOptions) -> PartsWriter {
        let parts = || template.items.iter().map(|item| &item.part);
        // Without a scheme, the path begins with the text of the host, so a row with the path does not lose the host.
        let is_whole = matches!(layout, Layout::Row(_)) && parts().any(|part| *part == Part::Path);
        let needs_host = !options.no_scheme && !is_whole && parts().any(Part::is_in_authority);
        let is_usual = parts().map(Part::to_string).collect::<Vec<_>>().join(",") == USUAL;
        let is_host = parts().eq([&Part::Host]) && template.texts().all(<[u8]>::is_empty);
        let shape = match layout {
            Layout::Row(Style::Jsonl) if is_usual => USUAL_OBJECT,
            Layout::Row(_) if is_usual => USUAL_ROW,
            Layout::Template | Layout::Key if is_host => HOST,
            _ => ANY,
        };
        let structure = if let Layout::Row(style) = layout { style.structure() } else { ByteSet::EMPTY };
        PartsWriter { template, layout, structure, options, shape, needs_host, hostless: Arc::default() }
    }

    /// Splits `value`. If there is a charset, characters outside ASCII replace their escapes, and invalid escapes stay.
    /// Then the bytes outside ASCII are added to `keep`, so that these escapes are not decoded later.
    fn split<'a>(
        &self,
        value: Value<'a>,
        handling: Handling,
        keep: &mut ByteSet,
        [buffer, text]: &'a mut [Vec<u8>; 2],
    ) -> Result<Parts<'a>, Refusal> {
        target::require_parts(value.kind, value.bytes)?;
        let url = target::split(value.kind, value.bytes, self.options.no_scheme, buffer);
        if self.needs_host && url.host().is_none() {
            self.tell_host(likely_host(value.bytes));
        }
        let Some(charset) = self.options.charset else { return Ok(url) };
        let before = url.input().len() - value.bytes.len();
        *text = in_utf8(charset, url.input(), url.offsets().path_start, b"%", handling.not_text)
            .map_err(|refusal| Refusal { offset: refusal.offset.saturating_sub(before), ..refusal })?;
        *keep = keep.union(ByteSet::NON_ASCII);
        Ok(if value.kind == Kind::Path { simdpct_uri::split_path(text) } else { simdpct_uri::split(text) })
    }

    /// Returns the text that is written for `part` of `url`, or `None` if the URL does not have it. Sets `is_decoded` if decoding changes
    /// the text.
    fn cell<'a>(
        &self,
        part: &Part,
        url: &Parts<'a>,
        keep: ByteSet,
        handling: Handling,
        is_decoded: &mut bool,
    ) -> Option<Cow<'a, [u8]>> {
        let mut decoded = |raw| {
            if !self.options.decode {
                return Cow::Borrowed(raw);
            }
            let text = part.decoded(raw, keep, handling);
            // A text in which only malformed escapes were repaired does not count as decoded.
            *is_decoded |= matches!(text, Cow::Owned(_)) && *text != *handling.repaired(raw, b"%25");
            text
        };
        if let Some(values) = part.values(url) {
            return self.joined(values.map(decoded).collect());
        }
        let raw = part.raw(url, &self.options.suffixes)?;
        let cell = decoded(raw);
        if self.layout != Layout::Key || !part.has_no_case() {
            return Some(cell);
        }
        if let (Part::Host, Some(address @ IpAddr::V6(_))) = (part, url.ip()) {
            return Some(format!("[{address}]").into_bytes().into());
        }
        let name = simdpct::decode(raw);
        let host = match part {
            Part::Scheme => None,
            _ if self.options.decode => host::to_unicode(&name),
            _ => host::to_ascii(&name),
        };
        Some(match (host, str::from_utf8(&cell)) {
            (Some(host), _) => host.into_owned().into_bytes().into(),
            (None, Ok(text)) => text.to_lowercase().into_bytes().into(),
            (None, Err(_)) => cell.to_ascii_lowercase().into(),
        })
    }

    /// Appends the parts of each line of `text`, in which no part needs escapes. Returns `None` if a part of a key can
    /// have spellings that differ in more than the case of ASCII, or if a URL is rejected.
    fn append_plain<const SHAPE: u8>(&self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let Template { items, end } = &self.template;
        let start = out.len();
        let folds_all = self.layout == Layout::Key && items.iter().all(|item| item.part.has_no_case());
        // The whole text is converted to lower case at once, and not each of many short parts.
        let folded = if folds_all { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
        let copied = |item: &Item| (Copied::new(item.before.clone()), item.part.clone());
        let mut lines = LineWriter::<SHAPE> {
            writer: self,
            items: items.iter().map(copied).collect(),
            end: Copied::new([end, &b"\n"[..]].concat()),
            most: self.template.texts().map(|text| text.len() + 2).sum(),
            rows: Rows {
                text: &folded,
                len: start,
                out,
                folds: self.layout == Layout::Key && !folds_all,
                has_spellings: false,
            },
            hostless: None,
            lacks_all: false,
        };
        visit_each_line(&folded, &mut lines);
        let LineWriter { rows: Rows { out, mut len, has_spellings, .. }, hostless, lacks_all, .. } = lines;
        if text.last() != Some(&b'\n') && !text.is_empty() {
            len -= 1;
        }
        out.truncate(len);
        let is_rejected = lacks_all && self.options.needs_part;
        if is_rejected || has_spellings || folds_all && may_have_spellings(&out[start..]) {
            return None;
        }
        self.tell_host(hostless);
        Some(())
    }

    /// Remembers `host`, which a value without a host would have with `--no-scheme`.
    fn tell_host(&self, host: Option<&[u8]>) {
        if let Some(host) = host {
            self.hostless.get_or_init(|| host.to_vec());
        }
    }

    /// Joins the `values` of a parameter by blanks, or by commas if the text of the template, unless it is that of a row, has blanks.
    /// Separators in values are escaped. Outside keys, a single value stays as it is.
    fn joined<'a>(&self, mut values: Vec<Cow<'a, [u8]>>) -> Option<Cow<'a, [u8]>> {
        if values.len() < 2 && self.layout != Layout::Key {
            return values.pop();
        }
        let is_row = matches!(self.layout, Layout::Row(_));
        let has_blanks = !is_row && self.template.texts().any(|text| text.contains(&b' '));
        let separator = if has_blanks { b"," } else { b" " };
        // `Counts::take` separates the values of such a key again, and decodes them. A blank follows the last one, so that an empty value
        // differs from none.
        let is_list = self.layout == Layout::Key && self.template.is_list();
        let escaped = if is_list { b" %" } else { &separator[..] };
        let encode = Encode::keeping(ByteSet::from_bytes(escaped).complement());
        let values: Vec<_> = values.iter().map(|value| encode.encode(value)).collect();
        let mut joined = values.join(&separator[..]);
        joined.extend(is_list.then_some(b' '));
        (!values.is_empty()).then_some(joined.into())
    }
}

impl Convert for PartsWriter {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let mut keep = match self.layout {
            Layout::Template | Layout::Key => *value.keep,
            // JSON strings can contain line ends, because JSON has its own escapes for them.
            Layout::Row(Style::Jsonl) => ByteSet::EMPTY,
            Layout::Row(_) => value.keep.union(self.structure),
        };
        let mut buffers = Default::default();
        let url = self.split(value, handling, &mut keep, &mut buffers)?;
        let is_row = matches!(self.layout, Layout::Row(_));
        let is_plain = is_row && !self.options.decode && row::is_plain(value.bytes);
        let (start, mut has_part) = (out.len(), false);
        // In a charset, the URL was decoded in part before it was split.
        let mut is_decoded = self.options.charset.is_some() && !url.input().ends_with(value.bytes);
        for Item { before, part } in &self.template.items {
            let cell = match part {
                // A whole URL is never decoded.
                Part::Url => Some(Cow::Borrowed(value.bytes)),
                part => self.cell(part, &url, keep, handling, &mut is_decoded),
            };
            has_part |= cell.is_some();
            match (self.layout, cell) {
                (Layout::Row(Style::Jsonl), None) => {}
                (Layout::Row(Style::Jsonl), Some(cell)) => {
                    out.extend_from_slice(before);
                    // A row of JSON is always UTF-8, so its cells are checked before they are written.
                    let cell = utf8::by_policy(cell, handling.not_text).map_err(|_| not_utf8(0))?;
                    row::end_string(&cell, out);
                }
                (Layout::Row(style), cell) => {
                    out.extend_from_slice(before);
                    // A URL always has a path, so an empty cell without quotes can mean an empty path.
                    let cell = cell.filter(|cell| *part != Part::Path || !cell.is_empty());
                    row::write_cell(style, is_plain, cell.as_deref(), out);
                }
                (Layout::Template | Layout::Key, cell) => {
                    out.extend_from_slice(before);
                    out.extend_from_slice(&cell.unwrap_or_default());
                }
            }
        }
        if self.options.needs_part && !has_part {
            return Err(refuse("the URL has none of the parts of the key"));
        }
        if self.layout == Layout::Row(Style::Jsonl) {
            // An opening brace replaces the first comma.
            out.splice(start..out.len().min(start + 1), *b"{");
        }
        out.extend_from_slice(&self.template.end);
        Ok(usize::from(is_decoded))
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, handling } = text;
        let is_list = |item: &Item| item.part.list().is_some();
        let is_line = |text: &[u8]| memchr::memchr3(b'\r', b'\n', 0, text).is_none();
        let is_slow =
            self.options.decode || self.options.no_scheme || self.template.items.iter().any(is_list);
        if is_slow || records != Records::Lines || !self.template.texts().all(is_line) {
            return None;
        }
        // JSON is UTF-8. Only bytes of ASCII separate parts, so each part of a valid text is valid.
        if self.layout == Layout::Row(Style::Jsonl) && utf8::validate(text).is_err() {
            return None;
        }
        let is_control = |byte: u8| (byte < 0x20) & (byte != b'\n');
        let mut done = 0;
        loop {
            // `odd` becomes the offset of the next byte that may need an escape in a part.
            let rest = &text[done..];
            let odd = match self.layout {
                Layout::Template | Layout::Key => memchr::memchr(b'\r', rest),
                Layout::Row(Style::Jsonl) => {
                    utf8::find_byte::<64>(rest, |byte| is_control(byte) | (byte == b'"') | (byte == b'\\'))
                }
                Layout::Row(Style::Tsv) => {
                    utf8::find_byte::<64>(rest, |byte| is_control(byte) | (byte == b'"'))
                }
                Layout::Row(Style::Csv) => {
                    utf8::find_byte::<64>(rest, |byte| is_control(byte) | (byte == b'"') | (byte == b','))
                }
            };
            let odd = odd.map(|at| done + at);
            let start = odd.map_or(text.len(), |at| {
                memchr::memrchr(b'\n', &text[done..at]).map_or(done, |found| done + found + 1)
            });
            let plain = &text[done..start];
            match self.shape {
                USUAL_ROW => self.append_plain::<USUAL_ROW>(plain, out)?,
                USUAL_OBJECT => self.append_plain::<USUAL_OBJECT>(plain, out)?,
                HOST => self.append_plain::<HOST>(plain, out)?,
                _ => self.append_plain::<ANY>(plain, out)?,
            }
            let Some(at) = odd else { return Some(0) };
            done = records.end_of(text, at);
            let line = &text[start..done];
            let bytes = &line[..records.without_end(line)];
            let value = Value { bytes, kind: Kind::Text, keep: &records.structure() };
            self.append(value, handling, out).ok()?;
            out.extend_from_slice(&line[bytes.len()..]);
        }
    }

    fn reads_utf8(&self) -> bool {
        self.options.charset.is_none()
    }

    fn advice(&self) -> Option<String> {
        let host = self.hostless.get()?;
        let name = SuffixList::compiled().find(&**host)?;
        let host = host.escape_ascii();
        let message =
            format!("some values have no host; --no-scheme reads one at their start, such as '{host}'");
        (name.section() != Section::Unlisted).then_some(message)
    }

    fn missing(&self) -> &'static [u8] {
        if let Layout::Row(style) = self.layout { style.missing() } else { b"" }
    }
}

/// Reports whether a host can have spellings that differ from `name` in more than the case of ASCII.
fn may_have_spellings(name: &[u8]) -> bool {
    // The loop has no early exit, so that it compiles to vector code.
    name.iter().fold(false, |any, &byte| any | !byte.is_ascii() | (byte == b'%') | (byte == b'['))
}

/// The size of the pieces in which parts are copied, in bytes. Most parts fit in one piece.
const PIECE: usize = 64;

/// A text that is copied often, in a piece of a fixed size if it is short.
struct Copied {
    text: Vec<u8>,
    /// The start of the text.
    piece: [u8; 16],
}

impl Copied {
    fn new(text: Vec<u8>) -> Copied {
        let piece = std::array::from_fn(|at| text.get(at).copied().unwrap_or_default());
        Copied { text, piece }
    }
}

/// Writes rows that consist of parts of the text `text`. Parts are copied in pieces of a fixed size, and the surplus is
/// overwritten later, because a copy of a length that varies takes several times as long.
struct Rows<'t, 'o> {
    text: &'t [u8],
    out: &'o mut Vec<u8>,
    /// The number of bytes of `out` that are written.
    len: usize,
    /// Whether parts whose case has no meaning are written in lower case.
    folds: bool,
    /// Whether a part that is written in lower case can have spellings that differ in more than the case of ASCII.
    has_spellings: bool,
}

impl Rows<'_, '_> {
    /// Grows `out`, if necessary, for a row of at most `most` bytes.
    #[inline]
    fn reserve(&mut self, most: usize) {
        let needed = self.len + most + PIECE;
        if self.out.len() < needed {
            self.out.resize(needed + 4096, 0);
        }
    }

    /// Writes `bytes`. If they fit in `piece`, which then begins with them, and there is capacity for all of `piece`,
    /// copies `piece` instead.
    #[inline(always)]
    fn copy<const LEN: usize>(&mut self, piece: Option<&[u8; LEN]>, bytes: &[u8]) {
        match (piece, self.out[self.len..].first_chunk_mut::<LEN>()) {
            (Some(piece), Some(new)) if bytes.len() <= LEN => *new = *piece,
            _ => self.out[self.len..][..bytes.len()].copy_from_slice(bytes),
        }
        self.len += bytes.len();
    }

    /// Writes `part`, which is usually a part of the text of at most `MOST` bytes.
    #[inline(always)]
    fn part<const MOST: usize>(&mut self, part: &[u8]) {
        // For a part outside the text, this offset is after the end of the text.
        let from = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        self.copy(self.text.get(from..).and_then(<[u8]>::first_chunk::<MOST>), part);
    }

    /// Writes `raw`, the spelling of `part`, which usually has at most `MOST` bytes, after the text `before`.
    #[inline(always)]
    fn cell<const MOST: usize>(&mut self, layout: Layout, before: &Copied, part: &Part, raw: Option<&[u8]>) {
        if layout == Layout::Row(Style::Jsonl) {
            if let Some(raw) = raw {
                self.copy(Some(&before.piece), &before.text);
                self.part::<MOST>(raw);
                self.copy(Some(b"\""), b"\"");
            }
            return;
        }
        self.copy(Some(&before.piece), &before.text);
        let from = self.len;
        match raw {
            None => {}
            // A URL always has a path, so an empty cell without quotes can mean an empty path.
            Some(b"") if matches!(layout, Layout::Row(_)) && *part != Part::Path => {
                self.copy(Some(b"\"\""), b"\"\"")
            }
            Some(raw) => self.part::<MOST>(raw),
        }
        if layout == Layout::Key && self.folds && part.has_no_case() {
            let written = &mut self.out[from..self.len];
            self.has_spellings |= may_have_spellings(written);
            written.make_ascii_lowercase();
        }
    }
}

/// Writes the parts of each line of a text.
struct LineWriter<'w, 't, 'o, const SHAPE: u8> {
    writer: &'w PartsWriter,
    /// The parts, and the text before each.
    items: Vec<(Copied, Part)>,
    /// The text after the last part, and the line end.
    end: Copied,
    /// The maximum length of a line without its parts.
    most: usize,
    rows: Rows<'t, 'o>,
    /// The host that the first URL without one would have with `--no-scheme`, if a part depends on it.
    hostless: Option<&'t [u8]>,
    /// Whether a URL has none of the parts. The usual parts include the path, which every URL has.
    lacks_all: bool,
}

impl<'t, const SHAPE: u8> PartsVisitor<'t> for LineWriter<'_, 't, '_, SHAPE> {
    #[inline(always)]
    fn url(&mut self, url: Parts<'t>) {
        let LineWriter { writer, items, end, most, rows, hostless, lacks_all } = self;
        if writer.needs_host && url.host().is_none() && hostless.is_none() {
            *hostless = likely_host(url.input());
        }
        rows.reserve(items.len() * url.input().len() + *most);
        let start = rows.len;
        let layout = match SHAPE {
            USUAL_ROW => Layout::Row(Style::Tsv),
            USUAL_OBJECT => Layout::Row(Style::Jsonl),
            _ => writer.layout,
        };
        if SHAPE == USUAL_ROW || SHAPE == USUAL_OBJECT {
            let [(a, _), (b, _), (c, _), (d, _), (e, _), (f, _), (g, _)] = items.as_slice() else { return };
            rows.cell::<16>(layout, a, &Part::Scheme, url.scheme());
            rows.cell::<16>(layout, b, &Part::Userinfo, url.userinfo().map(Piece::raw));
            rows.cell::<32>(layout, c, &Part::Host, url.host().map(Piece::raw));
            rows.cell::<16>(layout, d, &Part::Port, url.port());
            rows.cell::<PIECE>(layout, e, &Part::Path, Some(url.path()));
            rows.cell::<PIECE>(layout, f, &Part::Query, url.query());
            rows.cell::<PIECE>(layout, g, &Part::Fragment, url.fragment().map(Piece::raw));
        } else if SHAPE == HOST {
            *lacks_all |= url.host().is_none();
            rows.part::<32>(url.host().map_or(b"", |host| host.raw()));
        } else {
            let mut has_part = false;
            for (before, part) in items.iter() {
                let raw = part.raw(&url, &writer.options.suffixes);
                has_part |= raw.is_some();
                rows.cell::<PIECE>(layout, before, part, raw);
            }
            *lacks_all |= !has_part;
        }
        if layout == Layout::Row(Style::Jsonl) {
            // An opening brace replaces the first comma.
            rows.out[start] = b'{';
            rows.len = rows.len.max(start + 1);
        }
        rows.copy(Some(&end.piece), &end.text);
    }
}
