//! Reads documents with a parser of HTML, and finds the places of URLs.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use lol_html::errors::RewritingError;
use lol_html::html_content::EndTag;
use lol_html::send::{Element, HtmlRewriter, Settings};
use lol_html::{ElementContentHandlers, MemorySettings, Selector};

use super::attributes::{self, ATTRIBUTES, Attribute, Syntax};

use crate::charset::Charset;
use crate::escaping::Escaping;
use crate::place::{Kind, Place};

/// The role of a URL in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A link, or another reference, such as an image.
    Link,
    /// The URL to which those after it are relative.
    Base,
    /// The URL to which those of some attributes of its element are relative.
    Codebase,
}

/// A URL in an attribute.
#[derive(Clone, Debug)]
pub struct Link {
    /// The start tag, which is the record.
    pub tag: Range<usize>,
    /// The place of the URL in the tag. Its number is that of the attribute in [`ATTRIBUTES`].
    pub place: Place,
    /// The role of the URL in the document.
    pub role: Role,
}

/// A value that contains URLs, as offsets in the input.
#[derive(Clone, Debug)]
struct Value {
    tag: Range<usize>,
    /// The value without quotes.
    range: Range<usize>,
    /// The number of the attribute.
    row: usize,
    role: Role,
}

/// The function that receives the document in the pieces that the parser has read.
type Output = Box<dyn FnMut(&[u8]) + Send>;

/// The maximum of memory for the open elements of a document, in bytes.
const MEMORY: usize = 256 << 20;

/// The parser leaves a `svg` or `math` element at this end tag, which closes no open element of HTML.
const END: &[u8] = b"</br>";

/// The results for the part of a document that has been read.
#[derive(Default)]
struct Found {
    values: Vec<Value>,
    /// The number of bytes that have been read. No tag is cut there.
    done: usize,
    /// The charset that the document names, and the offset from which on values are in it.
    charset: Option<(usize, &'static Encoding)>,
    /// Whether a `base` element with a URL has been read.
    has_base: bool,
    /// The number of open `template` elements, in which no `base` counts.
    templates: usize,
    /// Whether [`END`] must be read next.
    needs_end: bool,
    /// The number of bytes that were read and are not in the input.
    added: usize,
    /// The start of the content of a `noscript` element that is not closed yet.
    open: Option<usize>,
    /// The contents of `noscript` elements that have not been searched. The parser treats them as text, like a browser
    /// with scripts.
    texts: Vec<Range<usize>>,
}

/// Finds the URLs in the attributes of a document.
pub struct Finder {
    /// The parser; `None` after the end of the input.
    parser: Option<HtmlRewriter<'static, Output>>,
    /// The number of bytes of the input before the document, such as a byte order mark.
    start: usize,
    pushed: usize,
    /// The first bytes of the document, which show whether it is in UTF-16.
    head: Vec<u8>,
    found: Arc<Mutex<Found>>,
    /// Whether values were taken before a charset was named, and no message says so yet.
    has_guessed: bool,
}

/// Returns the error message for a document in the charset `label`.
fn unsupported(label: &str) -> String {
    format!(
        "the document is in {label}, in which a byte of ASCII may be half of a character; iconv converts it to UTF-8"
    )
}

fn lock(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    // The parser does not panic while the lock is held.
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Finder {
    /// Creates a finder for a document that begins after `start` bytes of the input.
    pub fn new(start: usize) -> Finder {
        Finder::with(start, Found::default(), true)
    }

    /// Creates a finder that starts with `found`. `reads_noscript` tells whether it searches `noscript` elements.
    fn with(start: usize, found: Found, reads_noscript: bool) -> Finder {
        let found = Arc::new(Mutex::new(found));
        let (reader, writer) = (found.clone(), found.clone());
        let element = move |element: &mut Element<'_, '_>| {
            let (name, tag) = (element.tag_name(), element.source_location().bytes());
            let (is_html, is_template) = (element.namespace_uri().ends_with("xhtml"), name == "template");
            let found = &mut *lock(&reader);
            // The parser takes `<svg/>` for open, unlike the HTML Standard (section 13.2.6.4.7).
            found.needs_end = element.is_self_closing() && matches!(&*name, "svg" | "math");
            if is_html
                && (is_template || reads_noscript && name == "noscript")
                && let Some(handlers) = element.end_tag_handlers()
            {
                match is_template {
                    true => found.templates += 1,
                    false => found.open = Some(start + tag.end - found.added),
                }
                let closer = reader.clone();
                handlers.push(Box::new(move |tag: &mut EndTag<'_>| {
                    let found = &mut *lock(&closer);
                    if is_template {
                        found.templates -= 1;
                    } else if let Some(text) = found.open.take() {
                        found.texts.push(text..start + tag.source_location().bytes().start - found.added);
                    }
                    Ok(())
                }));
            }
            note(element, start, found).map_err(Into::into)
        };
        let output: Output = Box::new(move |bytes| lock(&writer).done += bytes.len());
        let mut settings = Settings::new_send()
            .with_strict(false)
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY));
        if let Ok(selector) = "*".parse::<Selector>() {
            let handler = ElementContentHandlers::default().element(element);
            settings = settings.append_element_content_handler((Cow::Owned(selector), handler));
        }
        // The content of an element has the charset of its document, whatever its first bytes are.
        let head = if reads_noscript { Vec::new() } else { vec![b'<'; HEAD] };
        Finder {
            parser: Some(HtmlRewriter::new(settings, output)),
            start,
            pushed: start,
            head,
            found,
            has_guessed: false,
        }
    }

    /// Reads the bytes of `input`, which begins at `offset` of the whole input, that have not been read. Returns an error message, and the
    /// offset that it is about, if the document cannot be read.
    pub fn push(&mut self, offset: usize, input: &[u8]) -> Result<(), (usize, String)> {
        let new = &input[self.pushed - offset..];
        if self.head.len() < HEAD {
            self.head.extend(new.iter().take(HEAD - self.head.len()));
            if is_wide(&self.head) {
                return Err((self.start, unsupported("UTF-16")));
            }
        }
        self.pushed += new.len();
        self.parse(new).map_err(|error| self.failure(error))?;
        self.read_texts(offset, input)
    }

    /// Lets the parser read `new`, and [`END`] where it is needed.
    fn parse(&mut self, new: &[u8]) -> Result<(), RewritingError> {
        let Some(parser) = &mut self.parser else { return Ok(()) };
        let mut start = 0;
        for end in memchr::memchr_iter(b'>', new).map(|at| at + 1).chain([new.len()]) {
            parser.write(&new[start..end])?;
            start = end;
            if std::mem::take(&mut lock(&self.found).needs_end) {
                parser.write(END)?;
                let found = &mut lock(&self.found);
                found.added += END.len();
                found.done -= END.len();
            }
        }
        Ok(())
    }

    /// Reads the end of `input`. The arguments and the error are those of [`Finder::push`].
    pub fn end(&mut self, offset: usize, input: &[u8]) -> Result<(), (usize, String)> {
        let result = self.parser.take().map_or(Ok(()), HtmlRewriter::end);
        result.map_err(|error| self.failure(error))?;
        {
            let found = &mut lock(&self.found);
            found.done = self.pushed - self.start;
            let open = found.open.take();
            found.texts.extend(open.map(|start| start..self.pushed));
        }
        self.read_texts(offset, input)
    }

    /// Stops the search of an open `noscript` element, because it is too long. Returns whether there was one.
    pub fn give_up(&mut self) -> bool {
        lock(&self.found).open.take().is_some()
    }

    /// Finds the values in the complete `noscript` elements, which are in `Found::texts`.
    fn read_texts(&mut self, offset: usize, input: &[u8]) -> Result<(), (usize, String)> {
        let texts = std::mem::take(&mut lock(&self.found).texts);
        for text in &texts {
            // For a browser with scripts, a `meta` or `base` here is text, so neither counts.
            let found = Found { charset: Some((0, UTF_8)), has_base: true, ..Found::default() };
            let mut finder = Finder::with(text.start, found, false);
            let input = &input[text.start - offset..text.end - offset];
            finder.push(text.start, input)?;
            finder.end(text.start, input)?;
            lock(&self.found).values.append(&mut lock(&finder.found).values);
        }
        if !texts.is_empty() {
            lock(&self.found).values.sort_by_key(|value| value.range.start);
        }
        Ok(())
    }

    fn failure(&self, error: RewritingError) -> (usize, String) {
        let message = match error {
            RewritingError::MemoryLimitExceeded(_) => {
                format!("the elements that are open here need more than {} MiB of memory", MEMORY >> 20)
            }
            error => error.to_string(),
        };
        (self.start + lock(&self.found).done, message)
    }

    /// Returns an offset in the input that is not inside a tag. All values before it have been found, and so has their charset, if the
    /// document names one early enough.
    pub fn done(&self) -> usize {
        let found = lock(&self.found);
        if self.parser.is_some() && found.charset.is_none() && self.pushed < self.start + PRESCAN {
            return self.start;
        }
        found.open.unwrap_or(usize::MAX).min(self.start + found.done)
    }

    /// Moves the URLs in the tags that end at offset `stop` of the whole input or before it to `links`. `input` begins at offset `start` of
    /// the whole input, and the offsets of the tags in `links` count from `start`.
    pub fn take(&mut self, input: &[u8], start: usize, stop: usize, links: &mut Vec<Link>) {
        let found = &mut *lock(&self.found);
        let count = found.values.iter().take_while(|value| value.tag.end <= stop).count();
        for mut value in found.values.drain(..count) {
            let charset =
                found.charset.filter(|(from, _)| *from <= value.tag.start).map(|(_, charset)| charset);
            self.has_guessed |= charset.is_none();
            value.range = value.range.start - value.tag.start..value.range.end - value.tag.start;
            value.tag = value.tag.start - start..value.tag.end - start;
            value.links(&input[value.tag.clone()], charset, links);
        }
    }

    /// Returns a message about a `meta` that names a charset too late for the values before it, and its offset. Each message is
    /// returned once.
    pub fn take_warning(&mut self) -> Option<(usize, String)> {
        let (from, charset) = lock(&self.found).charset.filter(|(_, charset)| *charset != UTF_8)?;
        std::mem::take(&mut self.has_guessed).then(|| {
            let name = charset.name();
            (from, format!("{name} is named after the first {PRESCAN} bytes, so the URLs before it were read without it"))
        })
    }
}

impl Value {
    /// Appends the URLs of this value, which is in `tag`, to `links`. `charset` is that of the document, if it is known.
    fn links(&self, tag: &[u8], charset: Option<&'static Encoding>, links: &mut Vec<Link>) {
        let raw = &tag[self.range.clone()];
        let charset = Charset::of(raw, charset);
        let decoded = charset.decode(raw);
        let mut buffer = Vec::new();
        let text = Escaping::Html.undo(&decoded, &mut buffer).unwrap_or(raw);
        let quote = self.range.start.checked_sub(1).map_or(b' ', |at| tag[at]);
        // If the author writes `&` for itself, it is escaped only where it would be read as a reference.
        let writes_bare =
            memchr::memchr_iter(b'&', &decoded).any(|at| !Escaping::Html.is_escape(&decoded[at..]));
        let escaping = match (quote, writes_bare) {
            (b'\'', false) => Escaping::HtmlSingle,
            (b'\'', true) => Escaping::HtmlSingleBare,
            (b'"', false) => Escaping::HtmlDouble,
            (b'"', true) => Escaping::HtmlDoubleBare,
            (_, false) => Escaping::HtmlUnquoted,
            (_, true) => Escaping::HtmlUnquotedBare,
        };
        let syntax = ATTRIBUTES[self.row].syntax;
        // A value without quotes cannot be empty.
        let is_quoted = matches!(quote, b'"' | b'\'');
        let urls = syntax.urls(text);
        let has_equals = |url: &Range<usize>| text[..url.start].contains(&b'=');
        // Without `url=` before the URL, browsers would read these bytes at the start of a new one as such.
        let reserved: &[&[u8]] =
            if syntax == Syntax::Refresh && !urls.first().is_some_and(has_equals) { &[b"url="] } else { &[] };
        let mut offsets: Vec<_> = urls.into_iter().flat_map(|url| [url.start, url.end]).collect();
        Escaping::Html.origins(&decoded, &mut offsets);
        charset.origins(raw, &mut offsets);
        // An empty `action` is the URL of the document whatever the base is, and an empty `src` loads nothing. Only links may be empty.
        let is_link = ATTRIBUTES[self.row].name.ends_with("href");
        for url in offsets.chunks_exact(2).filter(|url| is_link || url[0] < url[1]) {
            let range = self.range.start + url[0]..self.range.start + url[1];
            let place = Place {
                kind: Kind::Url,
                charset,
                has_lone_marks: syntax != Syntax::Refresh,
                may_be_empty: syntax == Syntax::Url && is_quoted,
                reserved,
                ..Place::new(range, self.row, escaping, syntax.fence())
            };
            links.push(Link { tag: self.tag.clone(), place, role: self.role });
        }
    }
}

/// The number of bytes that show whether a document is in UTF-16.
const HEAD: usize = 2;

/// The number of bytes of a document in which browsers look for its charset before they parse it (HTML Standard, "prescan a byte stream").
const PRESCAN: usize = 1024;

/// Reports whether `bytes` begin with a byte order mark, a letter or `<` of UTF-16 or UTF-32.
fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..])
}

/// Adds the values of `element` that contain URLs to `found`, and notes the charset that it names. Returns an error message if the charset
/// is not supported.
fn note(element: &mut Element<'_, '_>, start: usize, found: &mut Found) -> Result<(), String> {
    let name = element.tag_name();
    let added = found.added;
    let shift = |range: Range<usize>| start + range.start - added..start + range.end - added;
    let tag = shift(element.source_location().bytes());
    if name == "meta" && found.charset.is_none() {
        // After a later name, browsers read the document again. Here, the values before it have been handed out already.
        let from = if tag.end <= start + PRESCAN { 0 } else { tag.start };
        found.charset = charset(element)?.map(|charset| (from, charset));
    }
    let mut seen = Vec::new();
    for attribute in element.attributes() {
        let Some(row) = attributes::find(&name, &attribute.name()) else { continue };
        let Attribute { only_with, .. } = ATTRIBUTES[row];
        let is_with = |(name, value): (&str, &str)| {
            element.get_attribute(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
        };
        // If an attribute is given twice, only the first counts, even if it has no value.
        if seen.contains(&row) {
            continue;
        }
        seen.push(row);
        if !only_with.is_none_or(is_with) {
            continue;
        }
        let role = match (&*name, ATTRIBUTES[row].name) {
            ("base", "href")
                if element.namespace_uri() == "http://www.w3.org/1999/xhtml"
                    && !found.has_base
                    && found.templates == 0 =>
            {
                found.has_base = true;
                Role::Base
            }
            (_, "codebase") => Role::Codebase,
            _ => Role::Link,
        };
        let Some(value) = attribute.value_source_location() else { continue };
        found.values.push(Value { tag: tag.clone(), range: shift(value.bytes()), row, role });
    }
    Ok(())
}

/// Returns the charset that a `meta` element names, if any; or an error message if it is not supported.
fn charset(element: &Element<'_, '_>) -> Result<Option<&'static Encoding>, String> {
    let is_type = || {
        let value = element.get_attribute("http-equiv");
        value.is_some_and(|value| value.trim().eq_ignore_ascii_case("content-type"))
    };
    let content = || element.get_attribute("content").filter(|_| is_type());
    let label = element.get_attribute("charset").or_else(|| label_in(&content()?.to_ascii_lowercase()));
    let Some(label) = label else { return Ok(None) };
    let Some(charset) = Encoding::for_label(label.as_bytes()) else { return Ok(None) };
    // In a `meta`, these names mean other charsets (HTML Standard, "prescan a byte stream"): for example, a document in which a parser
    // has found the name of UTF-16 is not in UTF-16.
    match charset.name() {
        "UTF-16LE" | "UTF-16BE" => Ok(Some(UTF_8)),
        "x-user-defined" => Ok(Some(WINDOWS_1252)),
        _ if charset.is_ascii_compatible() => Ok(Some(charset)),
        _ => Err(unsupported(label.trim())),
    }
}

/// Returns the name of a charset in `content` of a `meta`, which is in lower case (HTML Standard, "extracting a character encoding from a
/// meta element").
fn label_in(content: &str) -> Option<String> {
    let mut rests = content.match_indices("charset").map(|(at, word)| &content[at + word.len()..]);
    let value = rests.find_map(|rest| rest.trim_ascii_start().strip_prefix('='))?.trim_ascii_start();
    match value.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split_once(&value[..1]).map(|(label, _)| label.to_owned()),
        None => value.split([' ', '\t', '\n', '\x0C', '\r', ';']).next().map(str::to_owned),
    }
}
