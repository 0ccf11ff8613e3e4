//! Joins parts to URLs, which is the inverse of splitting.

use std::borrow::Cow;

use serde_json::Value;
use simdpct::{AsciiSet, ByteSet, Decode, Encode, MalformedEscape, sets};
use simdpct_records::Kind;
use simdpct_uri::host::special_port;
use simdpct_uri::{Builder, Components};

use super::part::Part;
use super::row::{self, Style};
use super::{Escapes, Rewrite};
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal};

/// The conversion that builds a URL from its parts, which are the cells of a row.
#[derive(Clone, Debug)]
pub struct Join {
    /// The part of the URL that each cell of a row holds.
    fields: Vec<Part>,
    style: Style,
    /// The parts that are the same in every URL. They replace those of the row.
    fixed: Vec<(Part, Vec<u8>)>,
    /// Whether the parts are unescaped data, so that they must be escaped.
    encode: bool,
}

/// The parts from which one URL is built; `None` for parts that are not given.
#[derive(Default)]
struct Given<'a> {
    scheme: Option<Cow<'a, [u8]>>,
    authority: Option<Cow<'a, [u8]>>,
    userinfo: Option<Cow<'a, [u8]>>,
    user: Option<Cow<'a, [u8]>>,
    password: Option<Cow<'a, [u8]>>,
    host: Option<Cow<'a, [u8]>>,
    port: Option<Cow<'a, [u8]>>,
    path: Option<Cow<'a, [u8]>>,
    query: Option<Cow<'a, [u8]>>,
    fragment: Option<Cow<'a, [u8]>>,
    parameters: Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
}

/// Returns an error if `port` is not a number or empty.
fn check_port(port: &[u8]) -> Result<(), Refusal> {
    if port.iter().all(u8::is_ascii_digit) {
        return Ok(());
    }
    Err(refuse(format!("the port is not a number: '{}'", port.escape_ascii())))
}

/// Returns an error if `value` has a byte that browsers read as a delimiter of the `part`, remove or do not accept there. Other
/// delimiters are rejected when the URL is split again. `is_data` says that the bytes are data that will be escaped; then a host must
/// not look like an address.
fn check(part: &Part, value: &[u8], is_data: bool) -> Result<(), Refusal> {
    if *part == Part::Port {
        check_port(value)?;
    }
    let forbidden: &[u8] = match part {
        Part::Host if value.starts_with(b"[") => b"\t\n\r\\",
        Part::Host if is_data => b":[]",
        Part::Host => b"\0\t\n\r \"<>[\\]^|",
        Part::User | Part::Password | Part::Userinfo if !is_data => b"\0\t\n\r\\@",
        // Browsers remove tabs and line ends. Results are records, in which NUL and line ends are escaped.
        _ if !is_data => b"\0\t\n\r",
        _ => return Ok(()),
    };
    let Some(at) = value.iter().position(|byte| forbidden.contains(byte)) else { return Ok(()) };
    let hint = match part {
        Part::Host if value[at] == b':' => "write an address in brackets, and a port as port=",
        Part::Host => "escape it",
        _ => "escape it, or add --encode",
    };
    let (byte, value) = (value[at].escape_ascii(), value.escape_ascii());
    Err(refuse(format!("the {part} cannot hold '{byte}'; {hint}: '{value}'")))
}

/// Reports whether browsers would find a host in the path of `url`, which is written as `text` and has no host: they skip any number
/// of slashes and backslashes after a special scheme, and two of them begin an authority in a reference.
fn hides_host(url: &Components<'_>, text: &[u8]) -> bool {
    let is_slash = |byte: &u8| b"/\\".contains(byte);
    !url.path.iter().all(is_slash)
        && match url.scheme {
            Some(scheme) => special_port(scheme).is_some(),
            None => text.len() > 1 && text[..2].iter().all(is_slash),
        }
}

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal { offset: 0, reason: Reason::Url(message.into()) }
}

impl Join {
    /// Creates a converter from rows to URLs. The cells of a row are the parts `fields`; in JSON, the names of the
    /// members say which parts they are. The parts in `fixed` are added to every URL.
    pub fn new(fields: Vec<Part>, style: Style, fixed: Vec<(Part, Vec<u8>)>, encode: bool) -> Join {
        Join { fields, style, fixed, encode }
    }

    /// Sets one part of `given` to `value`, or returns an error if the part cannot hold it.
    fn give<'a>(&self, given: &mut Given<'a>, part: &Part, value: Cow<'a, [u8]>) -> Result<(), Refusal> {
        check(part, &value, self.encode)?;
        let place = match part {
            Part::Url => return Err(refuse("'url' is a whole URL and not a part to join")),
            Part::Segment(_) => return Err(refuse("a segment is not a part to join: give the whole path")),
            Part::Domain | Part::Suffix | Part::Subdomain => {
                return Err(refuse(format!("'{part}' is not a part to join: give the whole host")));
            }
            Part::Scheme => &mut given.scheme,
            Part::Authority => &mut given.authority,
            Part::Userinfo => &mut given.userinfo,
            Part::User => &mut given.user,
            Part::Password => &mut given.password,
            Part::Host => &mut given.host,
            Part::Port => &mut given.port,
            Part::Path => &mut given.path,
            Part::Query => &mut given.query,
            Part::Fragment => &mut given.fragment,
            Part::Parameter(name) => {
                given.parameters.push((Cow::Owned(name.clone()), value));
                return Ok(());
            }
        };
        *place = Some(value);
        Ok(())
    }

    /// Returns all parts for the URL of `row`, including the fixed ones.
    fn given<'a>(&'a self, row: &'a [u8], handling: Handling) -> Result<Given<'a>, Refusal> {
        let mut given = if row.is_empty() { Given::default() } else { self.read(row)? };
        for (part, value) in &self.fixed {
            if let Part::Parameter(name) = part {
                given.parameters.retain(|(known, _)| known != name);
            }
            let mut value = Cow::Borrowed(&value[..]);
            if !self.encode {
                if handling.malformed.rejects() {
                    // The part is not in the record, so the rejection has offset 0.
                    let malformed = |escape: MalformedEscape| Reason::Malformed(escape.cause);
                    simdpct::validate(&value)
                        .map_err(malformed)
                        .map_err(|reason| Refusal { offset: 0, reason })?;
                }
                value = match handling.repaired(&value, b"%25") {
                    Cow::Owned(repaired) => Cow::Owned(repaired),
                    Cow::Borrowed(_) => value,
                };
            }
            self.give(&mut given, part, value)?;
        }
        Ok(given)
    }

    fn read<'a>(&self, row: &'a [u8]) -> Result<Given<'a>, Refusal> {
        let mut given = Given::default();
        if self.style != Style::Jsonl {
            let cells = row::read_cells(self.style, row)?;
            if cells.len() > self.fields.len() {
                let (cells, fields) = (cells.len(), self.fields.len());
                return Err(refuse(format!("expected {fields} cells but found {cells}")));
            }
            for (part, cell) in self.fields.iter().zip(cells) {
                if let Some(cell) = cell {
                    self.give(&mut given, part, cell)?;
                }
            }
            return Ok(given);
        }
        let Value::Object(members) = row::read_json(row)? else {
            return Err(refuse("expected an object of parts, such as {\"host\":\"a\"}"));
        };
        for (name, value) in members {
            let part = Part::find(&name).map_err(refuse)?;
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                _ => return Err(refuse(format!("'{name}' is not a string"))),
            };
            self.give(&mut given, &part, Cow::Owned(text.into_bytes()))?;
        }
        Ok(given)
    }

    /// Returns `value`. If the parts are data, the bytes outside `set` are escaped.
    fn escaped<'a>(&self, set: AsciiSet, keeps_escapes: bool, value: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        if !self.encode {
            return value;
        }
        let encode = Encode::keeping(set);
        let encode = if keeps_escapes { encode.keep_escapes() } else { encode };
        Cow::Owned(encode.encode(&value).into_owned().into_bytes())
    }

    /// Builds the authority of the URL from userinfo, host and port. Parts that are given twice must agree.
    fn authority<'a>(&self, given: &mut Given<'a>) -> Result<Option<Cow<'a, [u8]>>, Refusal> {
        let whole = given.userinfo.take().map(|part| self.escaped(sets::RFC3986_USERINFO, true, part));
        let userinfo = match (given.user.take(), given.password.take()) {
            (None, None) => whole.clone(),
            (user, password) => {
                if let Some(user) = user.as_deref().filter(|user| !self.encode && user.contains(&b':')) {
                    let user = user.escape_ascii();
                    return Err(refuse(format!(
                        "a colon would end the user; write %3A, or add --encode: '{user}'"
                    )));
                }
                let user = user.unwrap_or_default();
                let mut userinfo =
                    self.escaped(sets::RFC3986_USERINFO.remove(b":"), false, user).into_owned();
                if let Some(password) = password {
                    userinfo.push(b':');
                    userinfo.extend_from_slice(&self.escaped(sets::RFC3986_USERINFO, false, password));
                }
                Some(Cow::Owned(userinfo))
            }
        };
        if whole.is_some() && whole != userinfo {
            return Err(refuse("userinfo, user and password differ; give userinfo or the other two"));
        }
        let Some(host) = given.host.take() else {
            if userinfo.is_some() || given.port.is_some() {
                return Err(refuse("userinfo or a port needs a host"));
            }
            let authority = given.authority.take();
            let whole = [b"//", authority.as_deref().unwrap_or_default()].concat();
            let read = simdpct_uri::split(&whole);
            let host = read.host().map(|host| host.raw());
            let userinfo = read.userinfo().map(|userinfo| userinfo.raw());
            for (part, value) in [(Part::Host, host), (Part::Userinfo, userinfo), (Part::Port, read.port())] {
                check(&part, value.unwrap_or_default(), false)?;
            }
            return Ok(authority);
        };
        let host = if self.encode {
            let built = Builder::new().host(&host).build();
            let built = built.map_err(|error| refuse(format!("{error}: '{}'", host.escape_ascii())))?;
            Cow::Owned(built.into_bytes().split_off(2))
        } else {
            host
        };
        let mut authority = Vec::new();
        if let Some(userinfo) = &userinfo {
            authority.extend_from_slice(userinfo);
            authority.push(b'@');
        }
        authority.extend_from_slice(&host);
        if let Some(port) = &given.port {
            authority.push(b':');
            authority.extend_from_slice(port);
        }
        let read = [b"//", &authority[..]].concat();
        let read = simdpct_uri::split(&read);
        let is_read = read.authority() == Some(&authority[..])
            && read.host().map(|host| host.raw()) == Some(&*host)
            && read.userinfo().map(|piece| piece.raw()) == userinfo.as_deref()
            && read.port() == given.port.as_deref();
        if given.authority.as_deref().is_some_and(|given| given != authority) {
            return Err(refuse("authority and host differ; give the authority, or host, userinfo and port"));
        }
        if is_read {
            return Ok(Some(Cow::Owned(authority)));
        }
        let host = host.escape_ascii();
        Err(refuse(format!("host, userinfo and port cannot be read back from the authority: host '{host}'")))
    }

    /// Builds the query of the URL, and adds the parameters that the given query does not contain.
    fn query<'a>(&self, given: &mut Given<'a>) -> Result<Option<Cow<'a, [u8]>>, Refusal> {
        // The removed bytes have a meaning of their own in parameters, so names and values must contain them only as
        // escapes.
        let set = sets::RFC3986_QUERY.remove(b"&=+;");
        let mut query =
            given.query.take().map(|query| self.escaped(sets::RFC3986_QUERY, true, query).into_owned());
        for (name, value) in given.parameters.drain(..) {
            if !self.encode && value.contains(&b'&') {
                let message = "cannot be read back from the query; write %26, or add --encode";
                return Err(refuse(format!("the parameter '{name}' {message}: '{}'", value.escape_ascii())));
            }
            let query = query.get_or_insert_default();
            let data = if self.encode {
                value.clone()
            } else {
                Decode::new().form().decode(&value).into_owned().into()
            };
            let (mut is_known, mut is_same) = (false, false);
            for (known, known_value) in simdpct_uri::form::pairs(&query[..]) {
                let is_named = *known == *name.as_bytes();
                (is_known, is_same) = (is_known | is_named, is_same | (is_named && known_value == data));
            }
            if is_known && !is_same {
                let value = value.escape_ascii();
                return Err(refuse(format!(
                    "the query has another value of the parameter '{name}': '{value}'"
                )));
            }
            if is_known {
                continue;
            }
            if !query.is_empty() {
                query.push(b'&');
            }
            query.extend_from_slice(Encode::keeping(set).encode(name.as_bytes()).as_bytes());
            query.push(b'=');
            query.extend_from_slice(&self.escaped(set, false, value));
        }
        Ok(query.map(Cow::Owned))
    }
}

impl Rewrite for Join {
    fn append(
        &self,
        value: &[u8],
        _: Kind,
        _: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut given = self.given(value, handling)?;
        let authority = self.authority(&mut given)?;
        let query = self.query(&mut given)?;
        let path = self.escaped(sets::RFC3986_PATH, true, given.path.unwrap_or_default());
        let fragment = given.fragment.map(|part| self.escaped(sets::RFC3986_FRAGMENT, false, part));
        let wanted = Components {
            scheme: given.scheme.as_deref(),
            authority: authority.as_deref(),
            path: &path,
            query: query.as_deref(),
            fragment: fragment.as_deref(),
        };
        let from = out.len();
        wanted.join_append(out);
        let read = simdpct_uri::split(&out[from..]);
        let has_host = read.host().is_some_and(|host| !host.raw().is_empty());
        if !has_host && hides_host(&wanted, &out[from..]) {
            let path = path.escape_ascii();
            return Err(refuse(format!("without a host, browsers would read one from the path: '{path}'")));
        }
        let first = if out[from..].starts_with(b"./") { path.first() } else { out[from..].first() };
        if let Some(first) = first.filter(|first| **first <= b' ') {
            let (first, url) = (first.escape_ascii(), out[from..].escape_ascii());
            let message = "at the start of a URL; escape it, or add --encode";
            return Err(refuse(format!("browsers remove '{first}' {message}: '{url}'")));
        }
        let read = Components::from(read);
        // Data gets a dot segment before a path that would be read as another part. Other paths must be read back as they are, but
        // `1:x` is no valid reference (RFC 3986, section 4.2) without `./`.
        let prefixes: &[&[u8]] = match simdpct_uri::split(&*path).is_uri() {
            _ if self.encode => &[b"", b"/.", b"./"],
            true => &[b""],
            false => &[b"", b"./"],
        };
        let is_path = |prefix: &&[u8]| read.path.strip_prefix(*prefix) == Some(wanted.path);
        let parts = [
            ("scheme", wanted.scheme, read.scheme),
            ("authority", wanted.authority, read.authority),
            ("path", Some(wanted.path).filter(|_| !prefixes.iter().any(is_path)), None),
            ("query", wanted.query, read.query),
            ("fragment", wanted.fragment, read.fragment),
        ];
        match parts.into_iter().find(|(_, wanted, read)| wanted != read) {
            None => Ok(()),
            Some((name, wanted, _)) => {
                let wanted = wanted.unwrap_or_default().escape_ascii();
                Err(refuse(format!("the {name} cannot be read back from the URL: '{wanted}'")))
            }
        }
    }

    fn escapes(&self) -> Escapes {
        if self.encode { Escapes::Data } else { Escapes::Copied }
    }
}
