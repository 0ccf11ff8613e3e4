//! Lists the attributes that contain URLs, and finds the URLs in their values.

use std::ops::Range;

use simdpct::ByteSet;

use crate::place::CONTROLS;

/// The syntax of an attribute that contains URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// One URL.
    Url,
    /// URLs between blanks.
    Blanks,
    /// URLs between commas.
    Commas,
    /// Image candidates: URLs with descriptors, between commas.
    Candidates,
    /// A number of seconds and a URL, as in `content` of `<meta http-equiv=refresh>`.
    Refresh,
}

/// An attribute that contains URLs.
#[derive(Debug)]
pub struct Attribute {
    /// The name, in lower case.
    pub name: &'static str,
    /// The elements in which it contains URLs; empty for all elements.
    elements: &'static [&'static str],
    pub(crate) syntax: Syntax,
    /// Another attribute and its value, if this attribute contains a URL only beside them.
    pub(crate) only_with: Option<(&'static str, &'static str)>,
    /// Whether its URLs are relative to the attribute `codebase` of the element, if there is one.
    pub is_in_codebase: bool,
}

/// Returns an attribute that contains one URL in these elements.
const fn url(name: &'static str, elements: &'static [&'static str]) -> Attribute {
    Attribute { name, elements, syntax: Syntax::Url, only_with: None, is_in_codebase: false }
}

impl Attribute {
    const fn of(self, syntax: Syntax) -> Attribute {
        Attribute { syntax, ..self }
    }

    const fn with(self, name: &'static str, value: &'static str) -> Attribute {
        Attribute { only_with: Some((name, value)), ..self }
    }

    const fn in_codebase(self) -> Attribute {
        Attribute { is_in_codebase: true, ..self }
    }
}

/// The attributes of the HTML Standard, and those of older HTML: HTML 4.01, and the elements of Netscape and Internet Explorer. Values of
/// `itemtype` are names, which are compared and not opened, so they are not here.
pub static ATTRIBUTES: &[Attribute] = &[
    url("action", &["form"]),
    url("archive", &["object"]).of(Syntax::Blanks).in_codebase(),
    url("archive", &["applet"]).of(Syntax::Commas).in_codebase(),
    url("background", &["body", "ilayer", "layer", "table", "tbody", "td", "tfoot", "th", "thead", "tr"]),
    url("cite", &["blockquote", "del", "ins", "q"]),
    url("classid", &["object"]).in_codebase(),
    url("code", &["applet"]).in_codebase(),
    url("codebase", &["applet", "object"]),
    url("content", &["meta"]).of(Syntax::Refresh).with("http-equiv", "refresh"),
    url("data", &["object"]).in_codebase(),
    url("dynsrc", &["img", "image", "input"]),
    url("formaction", &["button", "input"]),
    url("href", &[]),
    url("icon", &["command", "menuitem"]),
    url("imagesrcset", &["link"]).of(Syntax::Candidates),
    url("itemid", &[]),
    url("longdesc", &["frame", "iframe", "img", "image"]),
    url("lowsrc", &["img", "image", "input"]),
    url("manifest", &["html"]),
    url("object", &["applet"]).in_codebase(),
    url("ping", &["a", "area"]).of(Syntax::Blanks),
    url("pluginspage", &["embed"]),
    url("poster", &["video"]),
    url("profile", &["head"]).of(Syntax::Blanks),
    url("src", &[]),
    url("srcset", &["img", "image", "source"]).of(Syntax::Candidates),
    url("usemap", &["img", "image", "input", "object"]),
    url("value", &["param"]).with("valuetype", "ref"),
    url("xlink:href", &[]),
];

/// Returns the number of the attribute `name` of `element` in [`ATTRIBUTES`], if it contains URLs. The names may have letters in either
/// case.
pub(crate) fn find(element: &str, name: &str) -> Option<usize> {
    let is_in = |elements: &[&str]| {
        elements.is_empty() || elements.iter().any(|known| known.eq_ignore_ascii_case(element))
    };
    ATTRIBUTES.iter().position(|row| row.name.eq_ignore_ascii_case(name) && is_in(row.elements))
}

/// Returns `range` without the ASCII whitespace at its ends.
fn trim(text: &[u8], range: Range<usize>) -> Range<usize> {
    let start = range.end - text[range.clone()].trim_ascii_start().len();
    start..start + text[start..range.end].trim_ascii_end().len()
}

/// Returns the offset of the first byte of `text`, from `start` on, that is not `inside`, or the end of `text`.
fn span(text: &[u8], start: usize, mut inside: impl FnMut(u8) -> bool) -> usize {
    start + text[start..].iter().take_while(|&&byte| inside(byte)).count()
}

impl Syntax {
    /// Returns the bytes that could end a URL or move its start. Browsers remove blanks and controls from its ends.
    pub(crate) fn fence(self) -> ByteSet {
        let ends = CONTROLS.add(b" ");
        match self {
            Syntax::Url => ends,
            Syntax::Refresh => ends.add(b"\"'"),
            _ => ends.add(b",\"'()"),
        }
    }

    /// Returns the places of the URLs in `text`.
    pub(crate) fn urls(self, text: &[u8]) -> Vec<Range<usize>> {
        match self {
            Syntax::Url => vec![trim(text, 0..text.len())],
            Syntax::Blanks | Syntax::Commas => {
                let is_end =
                    |byte: u8| if self == Syntax::Commas { byte == b',' } else { byte.is_ascii_whitespace() };
                let (mut found, mut start) = (Vec::new(), 0);
                while start <= text.len() {
                    let end = span(text, start, |byte| !is_end(byte));
                    found.extend(Some(trim(text, start..end)).filter(|url| !url.is_empty()));
                    start = end + 1;
                }
                found
            }
            Syntax::Candidates => candidates(text),
            Syntax::Refresh => refresh(text).into_iter().collect(),
        }
    }
}

/// Finds the URLs of image candidates (HTML Standard, "parse a srcset attribute").
fn candidates(text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    loop {
        start = span(text, start, |byte| byte.is_ascii_whitespace() || byte == b',');
        if start == text.len() {
            return found;
        }
        let end = span(text, start, |byte| !byte.is_ascii_whitespace());
        let url = &text[start..end];
        let commas = url.iter().rev().take_while(|&&byte| byte == b',').count();
        found.push(start..end - commas);
        start = end;
        if commas > 0 {
            continue;
        }
        // A comma inside parentheses does not end the descriptors.
        let mut is_inside = false;
        start = span(text, start, |byte| {
            is_inside = if is_inside { byte != b')' } else { byte == b'(' };
            is_inside || byte != b','
        });
    }
}

/// Returns the place of the URL in `content` of `<meta http-equiv=refresh>` (HTML Standard, "shared declarative refresh steps").
fn refresh(text: &[u8]) -> Option<Range<usize>> {
    let mut at = span(text, 0, |byte| byte.is_ascii_whitespace());
    let number = at;
    at = span(text, at, |byte| byte.is_ascii_digit());
    if at == number && text.get(at) != Some(&b'.') {
        return None;
    }
    at = span(text, at, |byte| byte.is_ascii_digit() || byte == b'.');
    let separator = span(text, at, |byte| byte.is_ascii_whitespace());
    at = match text.get(separator)? {
        b';' | b',' => separator + 1,
        _ if separator > at => separator,
        _ => return None,
    };
    at = span(text, at, |byte| byte.is_ascii_whitespace());
    if text[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"url")) {
        let equals = span(text, at + 3, |byte| byte.is_ascii_whitespace());
        if text.get(equals) == Some(&b'=') {
            at = span(text, equals + 1, |byte| byte.is_ascii_whitespace());
        }
    }
    let end = match text.get(at)? {
        quote @ (b'"' | b'\'') => {
            at += 1;
            span(text, at, |byte| byte != *quote)
        }
        _ => text.len(),
    };
    Some(trim(text, at..end))
}
