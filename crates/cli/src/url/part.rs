//! Defines the named parts of a URL.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroIsize;
use std::sync::Arc;

use simdpct::{ByteSet, Decode};
use simdpct_uri::{DomainName, Parts, SuffixList};

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
    /// The value of the first query parameter with this name.
    Parameter(String),
    /// The segment of the path with this number, from 1, or from -1 backwards.
    Segment(NonZeroIsize),
}

/// The names of all parts except query parameters.
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
        let decode = match self {
            // A scheme or port contains no escapes, and a whole URL must be split before it is decoded.
            Part::Url | Part::Scheme | Part::Port => return handling.repaired(raw, b"%25"),
            Part::Authority | Part::Userinfo | Part::Path | Part::Query => {
                Decode::new().keep(keep.union(self.delimiters()))
            }
            Part::User
            | Part::Password
            | Part::Host
            | Part::Domain
            | Part::Suffix
            | Part::Subdomain
            | Part::Fragment
            | Part::Segment(_) => Decode::new().keep(keep),
            Part::Parameter(_) => Decode::new().keep(keep).form(),
        };
        let percent: &[u8] = if self.delimiters().contains(b'%') { b"%25" } else { b"%2525" };
        match handling.repaired(raw, percent) {
            Cow::Borrowed(raw) => decode.decode(raw),
            Cow::Owned(raw) => Cow::Owned(decode.decode(&raw).into_owned()),
        }
    }

    /// Returns the delimiters between the pieces of this part, and `%`. The set is empty for a part without pieces.
    fn delimiters(&self) -> ByteSet {
        ByteSet::EMPTY.add(match self {
            Part::Authority => b":@%",
            Part::Userinfo => b":%",
            Part::Path => b"/%",
            Part::Query => b"&=;+%",
            _ => b"",
        })
    }
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
