//! Resolves URI references, and converts IRIs to URIs and back.

use std::str::Utf8Error;
use std::sync::Arc;

use simdpct::{ByteSet, Encode, sets};
use simdpct_records::Kind;
use simdpct_uri::canon::Base;
use simdpct_uri::{Component, Parts, PartsVisitor, Strictness, iri, resolve_append, split, visit_each_line};

use super::{Escapes, Rewrite};
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::{target, utf8};

/// The bytes of URIs, and the end of a line.
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

/// Appends lines to an output: most are copied, and some are converted.
struct Lines<'t, 'o, R> {
    rewrite: &'t R,
    text: &'t [u8],
    /// The end of the text that is in the output.
    done: usize,
    out: &'o mut Vec<u8>,
    /// Is called for each rejected line, which is copied.
    refused: &'o mut dyn FnMut(),
}

impl<R: Rewrite> Lines<'_, '_, R> {
    /// Copies the text before `value`, which is a line from `start` on, and converts `value`.
    fn convert(&mut self, start: usize, value: &[u8]) {
        self.out.extend_from_slice(&self.text[self.done..start]);
        self.done = start + value.len();
        let len = self.out.len();
        if self.rewrite.append(value, Kind::Text, &ByteSet::EMPTY, Handling::KEEP, self.out).is_err() {
            self.out.truncate(len);
            self.out.extend_from_slice(value);
            (self.refused)();
        }
    }

    /// Copies the rest of the text.
    fn end(self) {
        self.out.extend_from_slice(&self.text[self.done..]);
    }
}

/// Appends the lines of `text` to `out`. Lines for which `stays` is true are copied; `rewrite` converts the others. `refused` is
/// called for each rejected line, which is copied.
fn append_lines(
    rewrite: &impl Rewrite,
    text: &[u8],
    out: &mut Vec<u8>,
    refused: &mut dyn FnMut(),
    stays: impl Fn(&[u8]) -> bool,
) {
    let mut lines = Lines { rewrite, text, done: 0, out, refused };
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |found| start + found + 1);
        let value = &text[start..][..Records::Lines.without_end(&text[start..end])];
        if !stays(value) {
            lines.convert(start, value);
        }
        start = end;
    }
    lines.end();
}

/// Returns `value` as text.
fn text(value: &[u8]) -> Result<&str, Refusal> {
    let refusal = |error: Utf8Error| Refusal { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 };
    str::from_utf8(value).map_err(refusal)
}

/// Resolves each value, a URI reference, against a base URI (RFC 3986, section 5.2).
#[derive(Clone, Debug)]
pub struct Resolve {
    base: Vec<u8>,
    strictness: Strictness,
}

impl Resolve {
    /// Creates a converter that resolves references against `base`. Returns an error message if `base` has no scheme.
    pub fn new(base: Vec<u8>, strictness: Strictness) -> Result<Resolve, String> {
        if split(&base).is_uri() {
            return Ok(Resolve { base, strictness });
        }
        let base = base.escape_ascii();
        Err(format!("--base '{base}' has no scheme, so nothing can be resolved against it"))
    }
}

impl Rewrite for Resolve {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        _: &ByteSet,
        _: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        target::with_reference(kind, value, out, |reference, out| {
            resolve_append(&self.base, reference, self.strictness, out)
                .map_err(|error| Refusal { offset: 0, reason: Reason::Url(error.to_string()) })
        })
        .map(|_| ())
    }

    fn with_base(&self, reference: &[u8]) -> Option<Arc<dyn Rewrite>> {
        let mut base = Vec::new();
        resolve_append(&self.base, reference, self.strictness, &mut base).ok()?;
        Some(Arc::new(Resolve { base, strictness: self.strictness }))
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, refused: &mut dyn FnMut()) -> bool {
        // Line ends of the base must be escaped, which is done for single values.
        if memchr::memchr3(b'\r', b'\n', 0, &self.base).is_some() {
            return false;
        }
        let may_have_dots = memchr::memmem::find(text, b"/.").is_some();
        let lines = Lines { rewrite: self, text, done: 0, out, refused };
        let mut references = References { lines, may_have_dots };
        visit_each_line(text, &mut references);
        references.lines.end();
        true
    }
}

/// Resolves lines.
struct References<'t, 'o> {
    lines: Lines<'t, 'o, Resolve>,
    /// Whether the text has a segment that begins with a dot.
    may_have_dots: bool,
}

impl PartsVisitor<'_> for References<'_, '_> {
    #[inline(always)]
    fn url(&mut self, url: Parts<'_>) {
        // A URI without dot segments is its own target.
        let stays = self.lines.rewrite.strictness == Strictness::Strict
            && url.is_uri()
            && url.host().is_some()
            && !(self.may_have_dots && memchr::memmem::find(url.path(), b"/.").is_some());
        if !stays {
            let Lines { text, .. } = self.lines;
            let start = url.input().as_ptr().addr() - text.as_ptr().addr();
            // Without a line feed after it, a carriage return is not a part of the line end.
            let len = url.input().len() + usize::from(&text[start + url.input().len()..] == b"\r");
            self.lines.convert(start, &text[start..][..len]);
        }
    }
}

/// Resolves each value against a base URL as browsers do, by the URL Standard.
#[derive(Clone, Debug)]
pub struct ResolveStandard {
    base: Base,
}

impl ResolveStandard {
    /// Creates a converter that resolves references against `base`. Returns an error message if `base` is not a valid URL.
    pub fn new(base: &str) -> Result<ResolveStandard, String> {
        let message = |_| format!("--base '{}' is not a valid URL of the URL Standard", base.escape_debug());
        Ok(ResolveStandard { base: Base::parse(base).map_err(message)? })
    }
}

impl Rewrite for ResolveStandard {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        _: &ByteSet,
        _: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        target::with_reference(kind, value, out, |reference, out| {
            let url = self.base.resolve(text(reference)?).map_err(|error| Refusal {
                offset: error.offset,
                reason: Reason::Url(error.reason.to_string()),
            })?;
            out.extend_from_slice(url.as_bytes());
            Ok(())
        })
        .map(|_| ())
    }

    fn with_base(&self, reference: &[u8]) -> Option<Arc<dyn Rewrite>> {
        let base = self.base.resolve(std::str::from_utf8(reference).ok()?).ok()?;
        Some(Arc::new(ResolveStandard::new(&base).ok()?))
    }
}

/// Converts an IRI to a URI.
#[derive(Clone, Copy, Debug)]
pub struct ToUri;

impl Rewrite for ToUri {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        _: &ByteSet,
        _: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        target::convert(kind, value, out, |iri, out| {
            let uri = iri::to_uri(text(iri)?).map_err(|error| Refusal {
                offset: error.offset,
                reason: Reason::Url(match error.component {
                    Component::Port => "the port is not a number of at most 65535".to_owned(),
                    _ => "the host is neither valid in IDNA nor an address".to_owned(),
                }),
            })?;
            out.extend_from_slice(uri.as_bytes());
            Ok(())
        })
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, refused: &mut dyn FnMut()) -> bool {
        if memchr::memchr(b'\r', text).is_some() {
            return false;
        }
        let encode = Encode::keeping(URI_LINES).keep_escapes();
        let find_change = |from| encode.first_change(&text[from..]).map_or(text.len(), |at| from + at);
        let find_unusual = |from| find_unusual(&text[from..]).map_or(text.len(), |at| from + at);
        let (mut done, mut change, mut unusual) = (0, find_change(0), find_unusual(0));
        while change.min(unusual) < text.len() {
            let at = change.min(unusual);
            let start = memchr::memrchr(b'\n', &text[done..at]).map_or(done, |found| done + found + 1);
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found + 1);
            out.extend_from_slice(&text[done..start]);
            append_lines(self, &text[start..end], out, refused, |_| false);
            done = end;
            // Each search goes on only after its last result, so that no byte is searched twice.
            if change < done {
                change = find_change(done);
            }
            if unusual < done {
                unusual = find_unusual(done);
            }
        }
        out.extend_from_slice(&text[done..]);
        true
    }

    fn escapes(&self) -> Escapes {
        // The conversion escapes the `%` of a malformed escape.
        Escapes::Data
    }
}

/// Converts a URI to an IRI.
#[derive(Clone, Copy, Debug)]
pub struct ToIri;

impl Rewrite for ToIri {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        _: &ByteSet,
        _: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        target::convert(kind, value, out, |uri, out| {
            out.extend_from_slice(iri::from_uri(uri).as_bytes());
            Ok(())
        })
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, refused: &mut dyn FnMut()) -> bool {
        // Escapes of characters outside ASCII begin with such digits, and names in Punycode have two hyphens. Other text that is
        // valid UTF-8 stays.
        let may_change = |text: &[u8]| {
            let pairs = text.iter().zip(&text[text.len().min(1)..]);
            // The loop has no early exit, so that it compiles to vector code.
            pairs.fold(false, |any, (&a, &b)| {
                any | (a == b'%') & ((b | 0x20).wrapping_sub(b'c') < 4) | (a == b'-') & (b == b'-')
            })
        };
        if utf8::validate(text).is_err() {
            return false;
        }
        if may_change(text) {
            append_lines(self, text, out, refused, |line| !may_change(line));
        } else {
            out.extend_from_slice(text);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::tests::assert_lines_are_like_values;

    #[test]
    fn lines_are_converted_like_single_urls() {
        const WORDS: &[&str] = &[
            "http:",
            "HTTP://",
            "//",
            "/",
            "a.org",
            "x",
            ":80",
            "?",
            "#",
            "%41",
            "%zz",
            "%",
            "%C3%A9",
            "%e2%80%8E",
            "[::1]",
            "[",
            "]",
            ":99999",
            "%4",
            "\u{e9}",
            "xn--r8jz45g.jp",
            "XN--a",
            "--",
            "..",
            "/.",
            "./b",
            " ",
            "<",
            "a/longer/path/without/anything/special/in/it",
        ];
        for base in ["http://b.org/c/d?e", "mailto:a", "a:///b/"] {
            for strictness in [Strictness::Strict, Strictness::Lenient] {
                assert_lines_are_like_values(&Resolve { base: base.into(), strictness }, WORDS);
            }
        }
        assert_lines_are_like_values(&ToUri, WORDS);
        assert_lines_are_like_values(&ToIri, WORDS);
    }
}
