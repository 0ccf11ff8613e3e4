//! Changes parts of URLs. Every byte of a URL that no change names stays as it is.

use std::borrow::Cow;
use std::sync::LazyLock;

use simdpct::{AsciiSet, Decode, Encode, sets};
use simdpct_records::Kind;
use simdpct_uri::canon::Base;
use simdpct_uri::{Builder, Parts, UriBuf, split};

use super::part::{Part, Suffixes, is_port};
use crate::common::fault::Handling;
use crate::common::reason::{Refusal, refuse};
use crate::common::target;
use crate::convert::{Convert, Value};

/// The changes of each URL: first those of its parts, and then those of its query, in the order of the fields.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The new text of parts; `None` removes a part.
    pub parts: Vec<(Part, Option<Vec<u8>>)>,
    /// Patterns for the names of the only parameters that stay; empty if all stay.
    pub keep: Vec<String>,
    /// Patterns for the names of the parameters that are removed.
    pub drop: Vec<String>,
    /// The parameters that replace all parameters with their names. The flag says whether a parameter is added to a URL without its name.
    pub replace: Vec<(Parameter, bool)>,
    /// The parameters that are added at the end.
    pub append: Vec<Parameter>,
    /// Whether the parameters are sorted by name.
    pub sorts: bool,
}

/// The parts of a URL in order. Together with the delimiters between them, they are the URL.
const ORDER: [Part; 8] = [
    Part::Scheme,
    Part::User,
    Part::Password,
    Part::Host,
    Part::Port,
    Part::Path,
    Part::Query,
    Part::Fragment,
];
const SCHEME: usize = 0;
const USER: usize = 1;
const PASSWORD: usize = 2;
const HOST: usize = 3;
const PORT: usize = 4;
const PATH: usize = 5;
const QUERY: usize = 6;

/// The text of each part of [`ORDER`]; `None` if the URL does not have the part.
type Texts<'a> = [Option<Cow<'a, [u8]>>; 8];

/// Returns the texts of the parts of `url`.
fn texts<'a>(url: &Parts<'a>) -> Texts<'a> {
    ORDER.each_ref().map(|part| part.raw(url, &Suffixes::default()).map(Cow::Borrowed))
}

/// Appends the URL that consists of `texts`.
fn append_url(texts: &Texts<'_>, out: &mut Vec<u8>) {
    let mut append = |before: &[u8], text: &Option<Cow<'_, [u8]>>, after: &[u8]| {
        if let Some(text) = text {
            [before, text, after].into_iter().for_each(|bytes| out.extend_from_slice(bytes));
        }
    };
    let [scheme, user, password, host, port, path, query, fragment] = texts;
    let end_of_userinfo = user.as_ref().or(password.as_ref()).map(|_| Cow::default());
    append(b"", scheme, b":");
    append(b"//", &host.as_ref().map(|_| Cow::default()), b"");
    append(b"", user, b"");
    append(b":", password, b"");
    append(b"", &end_of_userinfo, b"@");
    append(b"", host, b"");
    append(b":", port, b"");
    append(b"", path, b"");
    append(b"?", query, b"");
    append(b"#", fragment, b"");
}

/// The host of the pages on which a URL is tried.
const PAGE_HOST: &str = "page.invalid";

/// Returns the hosts that browsers find in `url` on two pages, in their spelling. A URL such as `ws:/a` is relative on a
/// page with its scheme, so one of the pages has another scheme. A host is empty if the URL has none, that of the page for
/// a relative reference, and `None` if browsers cannot read the URL.
fn hosts_in_browsers(url: &[u8]) -> [Option<String>; 2] {
    static PAGES: LazyLock<[Option<Base>; 2]> =
        LazyLock::new(|| ["ws", "wss"].map(|scheme| Base::parse(&format!("{scheme}://{PAGE_HOST}/")).ok()));
    PAGES.each_ref().map(|page| {
        let url = page.as_ref()?.resolve(&String::from_utf8_lossy(url)).ok()?;
        Some(split(&url).host().map_or_else(String::new, |host| host.raw().to_owned()))
    })
}

/// Reports whether browsers find a host in `url` itself, on some page.
fn has_host_in_browsers(url: &[u8]) -> bool {
    hosts_in_browsers(url).iter().flatten().any(|host| !host.is_empty() && host != PAGE_HOST)
}

/// Reports whether browsers find the host of `new` in `url`, the text of these parts. If neither the scheme nor the host
/// was changed, it must be the host that they find in `value`, the URL before the changes. They end a host at a backslash, so a port or
/// another new part after it would not be read, and the path between a backslash and the next slash would be lost.
fn is_read_by_browsers(value: &[u8], url: &[u8], old: &Texts<'_>, new: &Texts<'_>) -> bool {
    let is_new = (SCHEME..=PATH).any(|index| old[index] != new[index]);
    let has_backslash =
        |url: &[u8]| split(url).authority().is_some_and(|authority| authority.contains(&b'\\'));
    if is_new && (has_backslash(value) || has_backslash(url)) {
        return false;
    }
    let (before, after) = (hosts_in_browsers(value), hosts_in_browsers(url));
    let wanted = if old[SCHEME] == new[SCHEME] && old[HOST] == new[HOST] {
        before.clone()
    } else {
        let mut plain = Texts::default();
        (plain[SCHEME], plain[HOST]) = (new[SCHEME].clone(), new[HOST].clone());
        plain[PATH] = Some(b"/".into());
        let mut url = Vec::new();
        append_url(&plain, &mut url);
        hosts_in_browsers(&url)
    };
    after == wanted && before.iter().zip(&after).all(|(before, after)| after.is_some() || before.is_none())
}

/// Reports whether the whole of `name` matches `pattern`, in which `*` represents any text.
fn matches(pattern: &str, name: &[u8]) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern.as_bytes() == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inside = name.strip_prefix(first.as_bytes()).and_then(|rest| rest.strip_suffix(last.as_bytes()));
    let Some(mut rest) = inside else { return false };
    // The leftmost match of each text leaves the longest rest for the texts after it.
    middle.split('*').all(|literal| {
        let found = memchr::memmem::find(rest, literal.as_bytes());
        rest = found.map_or(rest, |at| &rest[at + literal.len()..]);
        found.is_some()
    })
}

/// A parameter that is written to queries.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: Vec<u8>,
    /// The escaped name, and `=` with the escaped value if there is one.
    text: Vec<u8>,
}

impl Parameter {
    /// Makes a parameter of `NAME=VALUE`, or of `NAME` alone. Returns an error message if the name is empty.
    pub fn new(text: &str) -> Result<Parameter, String> {
        // These bytes have a meaning in queries, so a name or a value has them only as escapes.
        let set = sets::RFC3986_QUERY.remove(b"&=+;");
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if name.is_empty() {
            return Err("expected NAME=VALUE".to_owned());
        }
        let mut text = escaped(set, name);
        let name = decoded_name(&text).into_owned();
        if let Some(value) = value {
            text.push(b'=');
            text.extend(escaped(set, value));
        }
        Ok(Parameter { name, text })
    }
}

/// Returns `text` with the bytes outside `set` escaped. Valid escapes stay.
fn escaped(set: AsciiSet, text: &str) -> Vec<u8> {
    Encode::keeping(set).keep_escapes().encode(text).into_owned().into_bytes()
}

/// Returns the decoded name of a parameter.
fn decoded_name(parameter: &[u8]) -> Cow<'_, [u8]> {
    let end = memchr::memchr(b'=', parameter).unwrap_or(parameter.len());
    Decode::new().form().decode(&parameter[..end])
}

/// Returns the part called `name`, or an error message if it cannot be changed.
fn find_part(name: &str) -> Result<Part, String> {
    let can_change =
        |part: &Part| ORDER.contains(part) || matches!(part, Part::Userinfo | Part::Parameter(_));
    Part::find(name).ok().filter(can_change).ok_or_else(|| {
        format!(
            "'{name}' cannot be changed; name scheme, userinfo, user, password, host, port, path, query, query:NAME or fragment"
        )
    })
}

impl Edit {
    /// Adds the change `PART=VALUE`. Bytes of the value that the part cannot contain are escaped, and valid escapes
    /// stay. Returns an error message if no URL can have this part.
    pub fn set(&mut self, change: &str) -> Result<(), String> {
        let (name, value) =
            change.split_once('=').ok_or_else(|| format!("expected PART=VALUE, not '{change}'"))?;
        let part = find_part(name)?;
        let text = match &part {
            Part::Scheme => {
                UriBuf::default().with_scheme(value).map_err(|error| format!("{change}: {error}"))?;
                value.into()
            }
            Part::Host => {
                // A host gets no escapes, because programs disagree about their meaning.
                let is_forbidden = |byte: &u8| {
                    byte.is_ascii() && !sets::RFC3986_REG_NAME.contains(*byte) && !b"[:]".contains(byte)
                };
                if let Some(byte) = value.bytes().find(is_forbidden) {
                    return Err(format!("{change}: a host cannot contain '{}'", byte.escape_ascii()));
                }
                let url = Builder::new().host(value).build().map_err(|error| format!("{change}: {error}"))?;
                url.into_bytes().split_off(2)
            }
            Part::Port if !is_port(value.as_bytes()) => {
                return Err(format!("{change}: a port is a number up to 65535"));
            }
            Part::Parameter(parameter) => {
                return self.replace(Parameter::new(&format!("{parameter}={value}"))?, true);
            }
            Part::User => escaped(sets::RFC3986_USERINFO.remove(b":"), value),
            Part::Password | Part::Userinfo => escaped(sets::RFC3986_USERINFO, value),
            Part::Path => escaped(sets::RFC3986_PATH, value),
            // Fragments can contain the same bytes as queries.
            _ => escaped(sets::RFC3986_QUERY, value),
        };
        self.add(part, Some(text))
    }

    /// Adds the removal of the part called `name`. Returns an error message if it cannot be removed.
    pub fn remove(&mut self, name: &str) -> Result<(), String> {
        match find_part(name)? {
            Part::Parameter(name) => Err(format!("write --drop-query '{name}'")),
            part => self.add(part, None),
        }
    }

    /// Notes that `new` replaces all parameters with its name. `adds` says whether `new` is added to a URL without this name.
    /// Returns an error message if a replacement has the same name.
    pub fn replace(&mut self, new: Parameter, adds: bool) -> Result<(), String> {
        if self.replace.iter().any(|(known, _)| known.name == new.name) {
            return Err(format!("the parameter '{}' is given twice", new.name.escape_ascii()));
        }
        self.replace.push((new, adds));
        Ok(())
    }

    fn add(&mut self, part: Part, text: Option<Vec<u8>>) -> Result<(), String> {
        for (known, _) in &self.parts {
            match (known, &part) {
                (known, part) if known == part => return Err(format!("the part '{part}' is given twice")),
                (Part::Userinfo, Part::User | Part::Password)
                | (Part::User | Part::Password, Part::Userinfo) => {
                    return Err("userinfo consists of user and password; change it or these two".to_owned());
                }
                _ => {}
            }
        }
        self.parts.push((part, text));
        Ok(())
    }

    /// Makes the changes of parts in `texts`.
    fn change_parts<'a>(&'a self, texts: &mut Texts<'a>) -> Result<(), Refusal> {
        let is_in_authority = |part: &Part| {
            matches!(part, Part::Userinfo | Part::User | Part::Password | Part::Host | Part::Port)
        };
        for (part, text) in &self.parts {
            let new = text.as_deref().map(Cow::Borrowed);
            if is_in_authority(part) && texts[HOST].is_none() && new.is_some() {
                return Err(refuse(format!(
                    "there is no host, so the {part} has no place; `pct resolve --base` adds a host"
                )));
            }
            match part {
                Part::Userinfo => {
                    let colon = text.as_deref().and_then(|text| Some((text, memchr::memchr(b':', text)?)));
                    texts[USER] = colon.map_or(new, |(text, at)| Some(text[..at].into()));
                    texts[PASSWORD] = colon.map(|(text, at)| text[at + 1..].into());
                }
                Part::Host if new.is_none() => texts[USER..=PORT].fill(None),
                // Every URL has a path.
                Part::Path => texts[PATH] = Some(new.unwrap_or_default()),
                part => {
                    if let Some(index) = ORDER.iter().position(|known| known == part) {
                        texts[index] = new;
                    }
                }
            }
        }
        if texts[PASSWORD].is_some() {
            texts[USER].get_or_insert_default();
        }
        Ok(())
    }

    /// Returns the new query for `query`. The parameters that stay keep their bytes and their order, unless they are
    /// sorted. A query without any parameters left is removed.
    fn changed_query<'a>(&self, query: Option<Cow<'a, [u8]>>) -> Option<Cow<'a, [u8]>> {
        let old = query.as_deref().unwrap_or_default();
        let mut parameters: Vec<&[u8]> =
            if old.is_empty() { Vec::new() } else { old.split(|&byte| byte == b'&').collect() };
        let is_one = |patterns: &[String], parameter| {
            patterns.iter().any(|pattern| matches(pattern, &decoded_name(parameter)))
        };
        parameters.retain(|parameter| {
            (self.keep.is_empty() || is_one(&self.keep, parameter)) && !is_one(&self.drop, parameter)
        });
        for (new, adds) in &self.replace {
            let mut is_missing = true;
            parameters.retain_mut(|parameter| {
                let is_named = *decoded_name(parameter) == *new.name;
                let is_first = is_named && std::mem::replace(&mut is_missing, false);
                if is_first {
                    *parameter = &new.text;
                }
                is_first || !is_named
            });
            parameters.extend((is_missing && *adds).then_some(&new.text[..]));
        }
        parameters.extend(self.append.iter().map(|new| &new.text[..]));
        if self.sorts {
            // The sort is stable, because the order of parameters with one name has a meaning.
            parameters.sort_by_cached_key(|parameter| decoded_name(parameter).into_owned());
        }
        let new = parameters.join(&b'&');
        match query {
            query if query.as_deref().unwrap_or_default() == new => query,
            _ if new.is_empty() => None,
            _ => Some(new.into()),
        }
    }
}

impl Convert for Edit {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let Value { bytes: value, kind, keep } = value;
        // Browsers remove blanks and controls around a URL, so these stay around the new one.
        let (blanks_before, url) = target::without_blanks(kind, value);
        out.extend_from_slice(&value[..blanks_before]);
        let (value, blanks_after) = (url, &value[blanks_before + url.len()..]);
        let (start, mut buffer) = (out.len(), Vec::new());
        target::require_parts(kind, value)?;
        let parts = target::split(kind, value, false, &mut buffer);
        let old = texts(&parts);
        let mut new = old.clone();
        // An empty line is not a URL, and `*` names no resource.
        if !value.is_empty() && kind != Kind::Asterisk {
            self.change_parts(&mut new)?;
            // An edit of the parts that RFC 3986 finds would miss a host that only browsers find, and its userinfo and port.
            let names_none = !self.parts.is_empty() && old[HOST].as_deref().unwrap_or_default().is_empty();
            if names_none && matches!(kind, Kind::Url | Kind::Text) && has_host_in_browsers(value) {
                return Err(refuse(
                    "only browsers find a host; `pct normalize --profile whatwg` writes it so that all do"
                        .to_owned(),
                ));
            }
            new[QUERY] = self.changed_query(new[QUERY].take());
        }
        if kind == Kind::Query {
            new[QUERY].get_or_insert_default();
        }
        if new == old {
            out.extend_from_slice(value);
            out.extend_from_slice(blanks_after);
            return Ok(0);
        }
        append_url(&new, out);
        // For some kinds of values, `target::split` puts a prefix before the value.
        let prefix = &parts.input()[..parts.input().len() - value.len()];
        let has_prefix = out[start..].starts_with(prefix);
        if has_prefix {
            out.drain(start..start + prefix.len());
        }
        let url = &out[start..];
        // In a log, a target that begins with a slash is read as a path.
        let is_path = kind == Kind::Url && url.starts_with(b"/") && !value.starts_with(b"/");
        let mut buffer = Vec::new();
        let read = texts(&target::split(if is_path { Kind::Path } else { kind }, url, false, &mut buffer));
        let is_same_kind = match kind {
            Kind::Path => url.starts_with(b"/"),
            Kind::Url => url != b"*",
            _ => has_prefix,
        };
        let is_url = matches!(kind, Kind::Url | Kind::Text) && !is_path;
        let is_structure = |byte: &&u8| keep.contains(**byte) && url.contains(byte) && !value.contains(byte);
        let shown = url.escape_ascii();
        Err(refuse(
            if let Some(index) = (0..ORDER.len()).find(|&index| !is_same_kind || read[index] != new[index]) {
                format!("the {} of the result could not be read back: '{shown}'", ORDER[index])
            } else if is_url && !is_read_by_browsers(value, url, &old, &new) {
                format!(
                    "browsers would find another host or no new part, or could not read the URL: '{shown}'"
                )
            } else if target::without_blanks(kind, url).1 != url {
                format!("browsers would remove the blank at an end of the result: '{shown}'")
            } else if let Some(&byte) = b":/?#[]@&=".iter().find(is_structure) {
                format!("the result has a '{}', which separates values here", char::from(byte))
            } else if url == b"-" && keep.contains(b' ') {
                "a hyphen alone means no value here".to_owned()
            } else if url.is_empty() && keep.contains(b' ') && kind != Kind::Query {
                "nothing would be left, and an empty field between blanks is none".to_owned()
            } else {
                if url.is_empty() && keep.contains(b' ') {
                    // Logs with fields between blanks write a hyphen for a missing query.
                    out.push(b'-');
                }
                out.extend_from_slice(blanks_after);
                return Ok(0);
            },
        ))
    }
}
