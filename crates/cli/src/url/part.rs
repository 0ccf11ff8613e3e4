//! Defines the named parts of a URL, and the templates that name them.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroIsize;
use std::sync::Arc;

use simdpct::{ByteSet, Decode};
use simdpct_uri::{DomainName, Parts, SuffixList, delimiters};

use super::row::{self, Style};
use crate::common::escape::replace;
use crate::common::fault::Handling;

/// A named part of a URL, as options and rows name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Url,
    Scheme,
    Authority,
    Userinfo,
    User,
    Password,
    Host,
    /// The registrable domain of the host.
    Domain,
    /// The public suffix of the host.
    Suffix,
    /// The labels of the host before its registrable domain.
    Subdomain,
    Port,
    Path,
    Query,
    Fragment,
    /// The value of the first query parameter with this name, or all values if the name ends in `[]`.
    Parameter(String),
    /// The segment of the path with this number, from 1, or from -1 backwards.
    Segment(NonZeroIsize),
}

/// The names of all parts except parameters and segments.
const NAMES: &[(&str, Part)] = &[
    ("url", Part::Url),
    ("scheme", Part::Scheme),
    ("authority", Part::Authority),
    ("userinfo", Part::Userinfo),
    ("user", Part::User),
    ("password", Part::Password),
    ("host", Part::Host),
    ("domain", Part::Domain),
    ("suffix", Part::Suffix),
    ("subdomain", Part::Subdomain),
    ("port", Part::Port),
    ("path", Part::Path),
    ("query", Part::Query),
    ("fragment", Part::Fragment),
];

/// The public suffix list that divides hosts.
#[derive(Clone, Debug, Default)]
pub struct Suffixes {
    /// The list; `None` for the one that is compiled in.
    pub list: Option<Arc<SuffixList>>,
    /// Whether only the ICANN section counts.
    pub icann: bool,
}

impl Suffixes {
    fn find<'a>(&self, url: &Parts<'a>) -> Option<DomainName<'a>> {
        let list = self.list.as_deref().unwrap_or_else(|| SuffixList::compiled());
        let host = url.host()?.raw();
        if self.icann { list.find_icann(host) } else { list.find(host) }
    }
}

/// The parts that are written by default. Joining them gives the original URL.
pub const USUAL: &str = "scheme,userinfo,host,port,path,query,fragment";

impl Part {
    /// Returns the part called `name`, or an error message.
    pub fn find(name: &str) -> Result<Part, String> {
        if let Some(parameter) = name.strip_prefix("query:").filter(|name| !name.is_empty()) {
            return Ok(Part::Parameter(parameter.to_owned()));
        }
        if let Some(number) = name.strip_prefix("segment:") {
            let error = format!("'{name}': segments count from 1, and from -1 backwards");
            return number.parse().map(Part::Segment).map_err(|_| error);
        }
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, part)| part.clone()).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown part '{name}'; expected one of {}, query:NAME, segment:N", names.join(", "))
        })
    }

    /// Reports whether the case of letters in this part has no meaning (RFC 3986, sections 3.1 and 3.2.2).
    pub fn has_no_case(&self) -> bool {
        matches!(self, Part::Scheme | Part::Host | Part::Domain | Part::Suffix | Part::Subdomain)
    }

    /// Reports whether the part is missing if there is no host: the authority, the host and its divisions, and the port. Userinfo is not
    /// counted.
    pub fn is_in_authority(&self) -> bool {
        let is_division = matches!(self, Part::Domain | Part::Suffix | Part::Subdomain);
        is_division || matches!(self, Part::Authority | Part::Host | Part::Port)
    }

    /// Returns the name of the parameter if the part has all its values: `a` for `query:a[]`.
    pub fn list(&self) -> Option<&str> {
        let Part::Parameter(name) = self else { return None };
        name.strip_suffix("[]").filter(|name| !name.is_empty())
    }

    /// Returns all values in `url`, as they are spelt there, of the parameter that this part names with `[]`. PHP and
    /// Rails write lists with such names, so `query:a[]` has the values of `a` and of `a[]`.
    pub fn values<'a>(&self, url: &Parts<'a>) -> Option<impl Iterator<Item = &'a [u8]>> {
        let name = self.list()?.as_bytes();
        let is_named = move |known: &[u8]| known.strip_suffix(b"[]").unwrap_or(known) == name;
        let pairs = url.query_pairs().filter(move |pair| is_named(&pair.name.decode_form()));
        Some(pairs.map(|pair| pair.value.unwrap_or_default().raw()))
    }

    /// Returns this part of `url` as it is spelt there, or `None` if the URL does not have this part.
    #[inline]
    pub fn raw<'a>(&self, url: &Parts<'a>, suffixes: &Suffixes) -> Option<&'a [u8]> {
        match self {
            Part::Url => Some(url.input()),
            Part::Scheme => url.scheme(),
            Part::Authority => url.authority(),
            Part::Userinfo => url.userinfo().map(|piece| piece.raw()),
            Part::User => url.user().map(|piece| piece.raw()),
            Part::Password => url.password().map(|piece| piece.raw()),
            Part::Host => url.host().map(|piece| piece.raw()),
            Part::Domain => suffixes.find(url)?.domain().map(|piece| piece.raw()),
            Part::Suffix => suffixes.find(url).map(|name| name.suffix().raw()),
            Part::Subdomain => suffixes.find(url)?.subdomain().map(|piece| piece.raw()),
            Part::Port => url.port(),
            Part::Path => Some(url.path()),
            Part::Query => url.query(),
            Part::Fragment => url.fragment().map(|piece| piece.raw()),
            Part::Parameter(name) => {
                let pair = url.query_pairs().find(|pair| &*pair.name.decode_form() == name.as_bytes())?;
                Some(pair.value.unwrap_or_default().raw())
            }
            Part::Segment(number) => {
                let index = match number.get() {
                    back @ ..0 => url.segments().count().checked_add_signed(back)?,
                    number => number as usize - 1,
                };
                url.segments().nth(index).map(|segment| segment.raw())
            }
        }
    }

    /// Decodes `raw`, the spelling of this part, once. The bytes of `keep` stay escaped. If the part consists of
    /// several pieces, the delimiters between them and `%` also stay escaped.
    pub fn decoded<'a>(&self, raw: &'a [u8], keep: ByteSet, handling: Handling) -> Cow<'a, [u8]> {
        let delimiters = self.delimiters();
        let decode = Decode::new().keep(keep.union(delimiters));
        let decode = match self {
            // A scheme or port contains no escapes, and a whole URL must be split before it is decoded.
            Part::Url | Part::Scheme | Part::Port => return handling.repaired(raw, b"%25"),
            Part::Parameter(_) => decode.form(),
            _ => decode,
        };
        let has_pieces = delimiters.contains(b'%');
        let raw = handling.repaired(raw, if has_pieces { b"%25" } else { b"%2525" });
        // If the text after a malformed `%` is decoded to digits, the result would be an escape. So this `%` is written as
        // `%25`, as a decoded `%` is.
        let raw =
            if has_pieces { replace(raw, |rest| begins_escape(rest).then_some((1, b"%25"))) } else { raw };
        match raw {
            Cow::Borrowed(raw) => decode.decode(raw),
            Cow::Owned(raw) => Cow::Owned(decode.decode(&raw).into_owned()),
        }
    }

    /// Returns the delimiters between the pieces of this part, and `%`. The set is empty for a part without pieces.
    fn delimiters(&self) -> ByteSet {
        ByteSet::EMPTY.add(match self {
            Part::Authority => delimiters::AUTHORITY,
            Part::Userinfo => delimiters::USERINFO,
            Part::Path => delimiters::PATH,
            Part::Query => delimiters::QUERY,
            _ => b"",
        })
    }
}

/// Reports whether `port` is a number up to 65535.
pub fn is_port(port: &[u8]) -> bool {
    port.iter().all(u8::is_ascii_digit) && String::from_utf8_lossy(port).parse::<u16>().is_ok()
}

/// Reports whether the `%` at the start of `rest` begins no escape, but would begin one if the text after it is decoded.
fn begins_escape(rest: &[u8]) -> bool {
    if simdpct::decode_escape(rest).is_some() {
        return false;
    }
    let next = simdpct::decode(&rest[1..rest.len().min(7)]);
    next.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Parameter(name) => write!(f, "query:{name}"),
            Part::Segment(number) => write!(f, "segment:{number}"),
            part => f.write_str(NAMES.iter().find(|(_, known)| known == part).map_or("", |(name, _)| *name)),
        }
    }
}

/// A text with placeholders for parts of a URL.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub items: Vec<Item>,
    /// The text after the last part.
    pub end: Vec<u8>,
}

/// A part, and the text before it.
#[derive(Clone, Debug)]
pub struct Item {
    pub before: Vec<u8>,
    pub part: Part,
}

impl Template {
    /// Parses a template: a text with placeholders such as `{host}` and `{query:q}`, and with the escapes `\t`, `\\`
    /// and `\{`.
    pub fn new(text: &str) -> Result<Template, String> {
        let (mut items, mut before, mut rest) = (Vec::new(), Vec::new(), text);
        while let Some(at) = rest.find(['{', '\\']) {
            before.extend_from_slice(&rest.as_bytes()[..at]);
            let after = &rest[at + 1..];
            if rest.as_bytes()[at] == b'{' {
                let Some((name, after)) = after.split_once('}') else {
                    return Err(format!("'{}' has no '}}'; write \"\\{{\" for a literal '{{'", &rest[at..]));
                };
                items.push(Item { before: std::mem::take(&mut before), part: Part::find(name)? });
                rest = after;
                continue;
            }
            before.push(match after.as_bytes().first() {
                Some(b't') => b'\t',
                Some(byte @ (b'\\' | b'{')) => *byte,
                _ => return Err("a '\\' must be followed by 't', '\\' or '{'".to_owned()),
            });
            rest = &after[1..];
        }
        before.extend_from_slice(rest.as_bytes());
        Ok(Template { items, end: before })
    }

    /// Returns the template of a row of `parts`. For JSON, it has a comma, a name and a quote before each part.
    pub fn row(parts: Vec<Part>, style: Style) -> Template {
        let mut items = Vec::new();
        for part in parts {
            let mut before = Vec::new();
            if style == Style::Jsonl {
                before.push(b',');
                row::write_string(part.to_string().as_bytes(), &mut before);
                before.extend_from_slice(b":\"");
            } else if !items.is_empty() {
                before.push(style.delimiter());
            }
            items.push(Item { before, part });
        }
        Template { items, end: if style == Style::Jsonl { b"}".to_vec() } else { Vec::new() } }
    }

    /// Reports whether the template consists only of all values of one parameter.
    pub fn is_list(&self) -> bool {
        self.items.len() == 1 && self.items[0].part.list().is_some() && self.texts().all(<[u8]>::is_empty)
    }

    /// Returns the texts before, between and after the parts.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.items.iter().map(|item| &*item.before).chain([&*self.end])
    }
}
