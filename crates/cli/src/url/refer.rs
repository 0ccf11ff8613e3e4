//! Resolves URI references, and converts IRIs to URIs and back.

use std::ops::Range;

use simdpct::{ByteSet, Encode, sets};
use simdpct_records::Kind;
use simdpct_uri::canon::Base;
use simdpct_uri::{Component, Parts, PartsVisitor, Strictness, iri, resolve_append, split, visit_each_line};

use super::values::text;
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal, refuse};
use crate::common::records::Records;
use crate::common::{target, utf8};
use crate::convert::{Convert, Text, Value};

/// The bytes that a URI can contain, and the line feed.
const URI_LINES: ByteSet = sets::RFC3986_URI.to_byte_set().add(b"\n");

/// Returns the offset of the first byte that may be a bracket of a host, or the colon of a port that is not empty.
fn find_unusual(bytes: &[u8]) -> Option<usize> {
    const CHUNK: usize = 64;

    let is_unusual = |byte: u8, next: u8| (byte == b'[') | (byte == b']') | ((byte == b':') & (next != b'/'));
    let (mut at, next) = (0, &bytes[bytes.len().min(1)..]);
    // The inner loop has no early exit and a fixed length, so that it compiles to vector code.
    while let (Some(chunk), Some(next)) =
        (bytes[at..].first_chunk::<CHUNK>(), next[at..].first_chunk::<CHUNK>())
        && !chunk.iter().zip(next).fold(false, |any, (&byte, &next)| any | is_unusual(byte, next))
    {
        at += CHUNK;
    }
    let mut pairs = bytes[at..].iter().zip(next[at..].iter().chain([&b'/']));
    pairs.position(|(&byte, &next)| is_unusual(byte, next)).map(|found| at + found)
}

/// Converts some lines of a text, and copies the others.
struct Lines<'t, 'o, C> {
    convert: &'t mut C,
    text: &'t [u8],
    /// The end of the part of `text` that has been converted or copied.
    done: usize,
    out: &'o mut Vec<u8>,
    /// The number of lines that were rejected and copied.
    kept: u64,
}

impl<'t, 'o, C: Convert> Lines<'t, 'o, C> {
    fn new(convert: &'t mut C, text: &'t [u8], out: &'o mut Vec<u8>) -> Self {
        Lines { convert, text, done: 0, out, kept: 0 }
    }

    /// Copies the text before `range`, which is a line without its end, and converts the line.
    fn convert(&mut self, range: Range<usize>) {
        let bytes = &self.text[range.clone()];
        self.out.extend_from_slice(&self.text[self.done..range.start]);
        self.done = range.end;
        let (len, value) = (self.out.len(), Value { bytes, kind: Kind::Text, keep: &ByteSet::EMPTY });
        if self.convert.append(value, Handling::KEEP, self.out).is_err() {
            self.out.truncate(len);
            self.out.extend_from_slice(bytes);
            self.kept += 1;
        }
    }

    /// Converts the lines in `range` of the text for which `stays` returns false.
    fn convert_all(&mut self, range: Range<usize>, stays: impl Fn(&[u8]) -> bool) {
        let mut start = range.start;
        while start < range.end {
            let end = Records::Lines.end_of(self.text, start);
            let stop = start + Records::Lines.without_end(&self.text[start..end]);
            if !stays(&self.text[start..stop]) {
                self.convert(start..stop);
            }
            start = end;
        }
    }

    /// Copies the rest of the text, and returns the number of rejected lines.
    fn end(self) -> u64 {
        self.out.extend_from_slice(&self.text[self.done..]);
        self.kept
    }
}

/// Reports whether `<base>`, and here also `codebase`, can set `url` as a base (HTML Standard, "set the frozen base URL").
fn can_be_base(url: &[u8]) -> bool {
    let is = |scheme: &[u8], name: &[u8]| scheme.eq_ignore_ascii_case(name);
    split(url).scheme().is_some_and(|scheme| !is(scheme, b"data") && !is(scheme, b"javascript"))
}

/// Resolves each value, a URI reference, against a base URI (RFC 3986, section 5.2).
#[derive(Clone, Debug)]
pub struct Resolve {
    /// The first base, and the bases that were entered after it. The last one is in use.
    bases: Vec<Vec<u8>>,
    strictness: Strictness,
}

impl Resolve {
    /// Creates a converter that resolves references against `base`. Returns an error message if `base` has no scheme.
    pub fn new(base: Vec<u8>, strictness: Strictness) -> Result<Resolve, String> {
        if split(&base).is_uri() {
            return Ok(Resolve { bases: vec![base], strictness });
        }
        let base = base.escape_ascii();
        Err(format!("--base '{base}' has no scheme, so nothing can be resolved against it"))
    }

    /// Appends the target of `reference`.
    fn resolve(&self, reference: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        resolve_append(&self.bases[self.bases.len() - 1], reference, self.strictness, out)
            .map_err(|error| refuse(error.to_string()))
    }
}

impl Convert for Resolve {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        // Blanks around a reference are no part of it (RFC 3986, appendix C), and stay around its target.
        let Value { bytes, kind, .. } = value;
        let (start, reference) = target::without_blanks(kind, bytes);
        out.extend_from_slice(&bytes[..start]);
        target::resolve(kind, reference, out, |reference, out| self.resolve(reference, out))
            .map_err(|refusal| Refusal { offset: refusal.offset + start, ..refusal })?;
        out.extend_from_slice(&bytes[start + reference.len()..]);
        Ok(0)
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, .. } = text;
        // Line ends of the base must be escaped in results, which only the conversion of single values does.
        let has_lines = memchr::memchr3(b'\r', b'\n', 0, self.bases.last()?).is_some();
        if records != Records::Lines || has_lines {
            return None;
        }
        let may_have_dots = memchr::memmem::find(text, b"/.").is_some();
        let mut references = References { lines: Lines::new(self, text, out), may_have_dots };
        visit_each_line(text, &mut references);
        Some(references.lines.end())
    }

    fn enter_base(&mut self, reference: &[u8]) -> bool {
        let mut base = Vec::new();
        let is_base = self.resolve(reference, &mut base).is_ok() && can_be_base(&base);
        self.bases.extend(is_base.then_some(base));
        is_base
    }

    fn leave_base(&mut self) {
        self.bases.pop();
    }
}

/// Resolves the lines of a text. Lines that are their own targets are copied.
struct References<'t, 'o> {
    lines: Lines<'t, 'o, Resolve>,
    /// Whether the text has a segment that begins with a dot.
    may_have_dots: bool,
}

impl PartsVisitor<'_> for References<'_, '_> {
    #[inline(always)]
    fn url(&mut self, url: Parts<'_>) {
        // A URI without dot segments is its own target.
        let stays = self.lines.convert.strictness == Strictness::Strict
            && url.is_uri()
            && url.host().is_some()
            && !(self.may_have_dots && memchr::memmem::find(url.path(), b"/.").is_some());
        if !stays {
            let Lines { text, .. } = self.lines;
            let start = url.input().as_ptr().addr() - text.as_ptr().addr();
            // Without a line feed after it, a carriage return is not a part of the line end.
            let len = url.input().len() + usize::from(&text[start + url.input().len()..] == b"\r");
            self.lines.convert(start..start + len);
        }
    }
}

/// Resolves each value against a base URL as browsers do, by the URL Standard.
#[derive(Clone, Debug)]
pub struct ResolveStandard {
    /// The first base, and the bases that were entered after it. The last one is in use.
    bases: Vec<Base>,
}

impl ResolveStandard {
    /// Creates a converter that resolves references against `base`. Fails with a message if `base` is an invalid URL.
    pub fn new(base: &str) -> Result<ResolveStandard, String> {
        let message = |_| format!("--base '{}' is not a valid URL of the URL Standard", base.escape_debug());
        Ok(ResolveStandard { bases: vec![Base::parse(base).map_err(message)?] })
    }

    /// Returns the target of `reference`.
    fn resolve(&self, reference: &[u8]) -> Result<String, Refusal> {
        self.bases[self.bases.len() - 1]
            .resolve(text(reference)?)
            .map_err(|error| Refusal { offset: error.offset, reason: Reason::Url(error.reason.to_string()) })
    }
}

impl Convert for ResolveStandard {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        target::resolve(value.kind, value.bytes, out, |reference, out| {
            out.extend_from_slice(self.resolve(reference)?.as_bytes());
            Ok(())
        })
    }

    fn enter_base(&mut self, reference: &[u8]) -> bool {
        let url = self.resolve(reference).ok().filter(|url| can_be_base(url.as_bytes()));
        let base = url.and_then(|url| Base::parse(&url).ok());
        let is_base = base.is_some();
        self.bases.extend(base);
        is_base
    }

    fn leave_base(&mut self) {
        self.bases.pop();
    }
}

/// Converts an IRI to a URI.
#[derive(Clone, Copy, Debug)]
pub struct ToUri;

impl Convert for ToUri {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        target::convert(value.kind, value.bytes, false, out, |iri, out| {
            let uri = iri::to_uri(text(iri)?).map_err(|error| Refusal {
                offset: error.offset,
                reason: Reason::Url(match error.component {
                    Component::Port => "the port is not a number of at most 65535".to_owned(),
                    Component::Host => "the host is neither valid in IDNA nor an address".to_owned(),
                    _ => "browsers would remove a blank or a control character".to_owned(),
                }),
            })?;
            out.extend_from_slice(uri.as_bytes());
            Ok(())
        })
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, .. } = text;
        if records != Records::Lines || memchr::memchr(b'\r', text).is_some() {
            return None;
        }
        let encode = Encode::keeping(URI_LINES).keep_escapes();
        let find_change = |from| encode.first_change(&text[from..]).map_or(text.len(), |at| from + at);
        let find_unusual = |from| find_unusual(&text[from..]).map_or(text.len(), |at| from + at);
        let (mut end, mut change, mut unusual) = (0, find_change(0), find_unusual(0));
        let mut lines = Lines::new(self, text, out);
        while change.min(unusual) < text.len() {
            let at = change.min(unusual);
            let start = memchr::memrchr(b'\n', &text[end..at]).map_or(end, |found| end + found + 1);
            end = Records::Lines.end_of(text, at);
            lines.convert_all(start..end, |_| false);
            // Each search goes on only after its last result, so that no byte is searched twice.
            if change < end {
                change = find_change(end);
            }
            if unusual < end {
                unusual = find_unusual(end);
            }
        }
        Some(lines.end())
    }
}

/// Converts a URI to an IRI.
#[derive(Clone, Copy, Debug)]
pub struct ToIri;

impl Convert for ToIri {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        target::convert(value.kind, value.bytes, false, out, |uri, out| {
            out.extend_from_slice(iri::from_uri(uri).as_bytes());
            Ok(())
        })
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, .. } = text;
        // The conversion changes only escapes of characters outside ASCII, which begin with a digit from C to F, and
        // names in Punycode, which have two hyphens.
        let may_change = |text: &[u8]| {
            let pairs = text.iter().zip(&text[text.len().min(1)..]);
            // The loop has no early exit, so that it compiles to vector code.
            pairs.fold(false, |any, (&a, &b)| {
                any | (a == b'%') & ((b | 0x20).wrapping_sub(b'c') < 4) | (a == b'-') & (b == b'-')
            })
        };
        if records != Records::Lines || utf8::validate(text).is_err() {
            return None;
        }
        let mut lines = Lines::new(self, text, out);
        if may_change(text) {
            lines.convert_all(0..text.len(), |line| !may_change(line));
        }
        Some(lines.end())
    }
}
