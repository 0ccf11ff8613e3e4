//! Lists the attributes that contain URLs, and finds the URLs in their values.

use std::ops::Range;

/// The syntax of an attribute that contains URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
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
    pub name: &'static str,
    /// The elements in which it contains URLs; empty for all elements.
    elements: &'static [&'static str],
    pub syntax: Syntax,
    /// Another attribute of the element, and the value without which this one contains no URL.
    pub only_with: Option<(&'static str, &'static str)>,
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

/// Returns the number of the attribute `name` of `element` in [`ATTRIBUTES`], if it contains URLs. The names may have letters in either case.
pub fn find(element: &str, name: &str) -> Option<usize> {
    let is_in = |elements: &[&str]| {
        elements.is_empty() || elements.iter().any(|known| known.eq_ignore_ascii_case(element))
    };
    ATTRIBUTES.iter().position(|row| row.name.eq_ignore_ascii_case(name) && is_in(row.elements))
}

/// Reports whether `byte` is ASCII whitespace of the HTML Standard.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
}

/// Returns `range` without the blanks at its ends.
fn trim(text: &[u8], range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = inner.iter().take_while(|&&byte| is_blank(byte)).count();
    let end = inner[start..].iter().rev().take_while(|&&byte| is_blank(byte)).count();
    range.start + start..range.end - end
}

/// Returns the end of the longest part of `text` from `start` on whose bytes are all `inside`.
fn span(text: &[u8], start: usize, mut inside: impl FnMut(u8) -> bool) -> usize {
    start + text[start..].iter().take_while(|&&byte| inside(byte)).count()
}

impl Syntax {
    /// Appends the places of the URLs in `text` to `found`.
    pub fn urls(self, text: &[u8], found: &mut Vec<Range<usize>>) {
        match self {
            Syntax::Url => found.push(trim(text, 0..text.len())),
            Syntax::Blanks | Syntax::Commas => {
                let is_end = |byte| if self == Syntax::Commas { byte == b',' } else { is_blank(byte) };
                let mut start = 0;
                while start <= text.len() {
                    let end = span(text, start, |byte| !is_end(byte));
                    found.extend(Some(trim(text, start..end)).filter(|url| !url.is_empty()));
                    start = end + 1;
                }
            }
            Syntax::Candidates => candidates(text, found),
            Syntax::Refresh => found.extend(refresh(text)),
        }
    }
}

/// Appends the URL `new`, which replaces the one at `place` of `text`, to `out` with that which keeps its bytes from being read as something
/// else: blanks at the ends of a value are escaped, because browsers remove them, and `url=` precedes a URL of a refresh that begins so.
pub fn guard(syntax: Syntax, text: &[u8], place: Range<usize>, new: &[u8], out: &mut Vec<u8>) {
    let inner = if syntax == Syntax::Url { trim(new, 0..new.len()) } else { 0..new.len() };
    let escape = |blanks: &[u8], out: &mut Vec<u8>| {
        blanks.iter().for_each(|byte| out.extend_from_slice(format!("%{byte:02X}").as_bytes()));
    };
    if syntax == Syntax::Refresh {
        let content = [&text[..place.start], new, &text[place.end..]].concat();
        if refresh(&content) != Some(place.start..place.start + new.len()) {
            out.extend_from_slice(b"url=");
        }
    }
    escape(&new[..inner.start], out);
    out.extend_from_slice(&new[inner.clone()]);
    escape(&new[inner.end..], out);
}

/// Finds the URLs of image candidates (HTML Standard, "parse a srcset attribute").
fn candidates(text: &[u8], found: &mut Vec<Range<usize>>) {
    let mut start = 0;
    loop {
        start = span(text, start, |byte| is_blank(byte) || byte == b',');
        if start == text.len() {
            return;
        }
        let end = span(text, start, |byte| !is_blank(byte));
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
    let mut at = span(text, 0, is_blank);
    let number = at;
    at = span(text, at, |byte| byte.is_ascii_digit());
    if at == number && text.get(at) != Some(&b'.') {
        return None;
    }
    at = span(text, at, |byte| byte.is_ascii_digit() || byte == b'.');
    let separator = span(text, at, is_blank);
    at = match text.get(separator)? {
        b';' | b',' => separator + 1,
        _ if separator > at => separator,
        _ => return None,
    };
    at = span(text, at, is_blank);
    let start = at;
    if text[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"url")) {
        let equals = span(text, at + 3, is_blank);
        if text.get(equals) == Some(&b'=') {
            at = span(text, equals + 1, is_blank);
        }
    }
    let end = match text.get(at)? {
        quote @ (b'"' | b'\'') if at > start || text[start] == *quote => {
            at += 1;
            span(text, at, |byte| byte != *quote)
        }
        _ => text.len(),
    };
    Some(trim(text, at..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_values() {
        for (syntax, text, wanted) in [
            (Syntax::Url, " \n a b\t", &["a b"][..]),
            (Syntax::Url, "", &[""]),
            (Syntax::Blanks, " a\nb,c  d ", &["a", "b,c", "d"]),
            (Syntax::Commas, "a.zip, b c ,,d", &["a.zip", "b c", "d"]),
            (Syntax::Candidates, "a 1x,b  2x , c", &["a", "b", "c"]),
            // Commas inside a URL are part of it, and those at its end are not.
            (Syntax::Candidates, ",, a,b 1x,\tc,, d(,e f(,g) 3x,h", &["a,b", "c", "d(,e", "h"]),
            (Syntax::Candidates, "data:,a", &["data:,a"]),
            (Syntax::Candidates, "a x( , b 1x", &["a"]),
            (Syntax::Candidates, " , ", &[]),
            (Syntax::Refresh, "5; url=http://a/ ", &["http://a/"]),
            (Syntax::Refresh, " 0,URL = 'a b' x", &["a b"]),
            (Syntax::Refresh, "1.5 \"a", &["a"]),
            (Syntax::Refresh, ".5;url a", &["url a"]),
            (Syntax::Refresh, "0;urls", &["urls"]),
            (Syntax::Refresh, "0;a=b", &["a=b"]),
            (Syntax::Refresh, "5", &[]),
            (Syntax::Refresh, "5;", &[]),
            (Syntax::Refresh, "5;url=", &[]),
            (Syntax::Refresh, "x; url=a", &[]),
            (Syntax::Refresh, "5x url=a", &[]),
        ] {
            let mut found = Vec::new();
            syntax.urls(text.as_bytes(), &mut found);
            let found: Vec<_> = found.into_iter().map(|url| &text[url]).collect();
            assert_eq!(found, wanted, "{syntax:?} {text:?}");
        }
    }

    #[test]
    fn attributes_by_element() {
        for (element, name, wanted) in [
            ("a", "href", Some(Syntax::Url)),
            ("A", "HREF", Some(Syntax::Url)),
            ("use", "xlink:href", Some(Syntax::Url)),
            ("object", "archive", Some(Syntax::Blanks)),
            ("applet", "archive", Some(Syntax::Commas)),
            ("source", "srcset", Some(Syntax::Candidates)),
            ("meta", "content", Some(Syntax::Refresh)),
            ("sound", "src", Some(Syntax::Url)),
            ("td", "background", Some(Syntax::Url)),
            ("div", "background", None),
            ("div", "itemtype", None),
            ("td", "data", None),
        ] {
            let found = find(element, name).map(|row| ATTRIBUTES[row].syntax);
            assert_eq!(found, wanted, "{element} {name}");
        }
    }
}
