//! Joins parts to URLs, which is the inverse of splitting.

use std::borrow::Cow;

use serde_json::Value as Json;
use simdpct::{AsciiSet, Decode, Encode, sets};
use simdpct_uri::host::special_port;
use simdpct_uri::{Builder, Components};

use super::part::{self, Part, Suffixes};
use super::row::{self, Document, Style};
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal, refuse};
use crate::convert::{Convert, Value};

/// The conversion that builds a URL from its parts, which are the cells of a row.
#[derive(Clone, Debug)]
pub struct Join {
    /// The part of the URL that each cell of a row holds. In JSON, the names of the members say which parts they are.
    pub fields: Vec<Part>,
    pub style: Style,
    /// The parts that are the same in every URL. They replace those of the row.
    pub fixed: Vec<(Part, Vec<u8>)>,
    /// Whether the parts are unescaped data, so that they must be escaped.
    pub encode: bool,
}

/// The parts from which one URL is built.
#[derive(Default)]
struct Given<'a>(Vec<(Part, Cow<'a, [u8]>)>);

impl Given<'_> {
    /// Returns the value of `part`, if it is given.
    fn get(&self, part: &Part) -> Option<&[u8]> {
        self.0.iter().find(|(given, _)| given == part).map(|(_, value)| &**value)
    }
}

/// Returns the part called `name`, or an error message if it is none from which URLs are joined.
pub fn find(name: &str) -> Result<Part, String> {
    let is_joined = |part: &Part| {
        !matches!(part, Part::Url | Part::Domain | Part::Suffix | Part::Subdomain | Part::Segment(_))
            && part.list().is_none()
    };
    Part::find(name).ok().filter(is_joined).ok_or_else(|| {
        format!(
            "'{name}' cannot be joined; name scheme, authority, userinfo, user, password, host, port, path, query, query:NAME or fragment"
        )
    })
}

/// Returns an error if `value` has a byte that browsers read as a delimiter of the `part`, remove or do not accept
/// there. Other delimiters are rejected when the URL is split again. If `is_data`, the bytes are data that will be
/// escaped, and a host without brackets around it must not contain `:`, `[` or `]`.
fn check(part: &Part, value: &[u8], is_data: bool) -> Result<(), Refusal> {
    if *part == Part::Port && !value.is_empty() && !part::is_port(value) {
        return Err(refuse(format!("the port is not a number up to 65535: '{}'", value.escape_ascii())));
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

/// Reports whether browsers would find a host in the path of `url`, which has no host and is written as `text`. They
/// skip all slashes and backslashes after a special scheme, and two of them begin a host in a relative reference, and
/// after `file:` if no third follows.
fn hides_host(url: &Components<'_>, text: &[u8]) -> bool {
    let is_slash = |byte: &u8| b"/\\".contains(byte);
    !simdpct_uri::split(text).path().iter().all(is_slash)
        && match url.scheme {
            Some(scheme) if scheme.eq_ignore_ascii_case(b"file") => {
                text[scheme.len() + 1..].iter().take_while(|byte| is_slash(byte)).count() == 2
            }
            Some(scheme) => special_port(scheme).is_some(),
            None => text.len() > 1 && text[..2].iter().all(is_slash),
        }
}

impl Join {
    /// Sets one part of `given` to `value`, or returns an error if the part cannot hold it.
    fn give<'a>(&self, given: &mut Given<'a>, part: &Part, value: Cow<'a, [u8]>) -> Result<(), Refusal> {
        check(part, &value, self.encode)?;
        given.0.push((part.clone(), value));
        Ok(())
    }

    /// Returns all parts for the URL of `row`, including the fixed ones.
    fn given<'a>(&'a self, row: &'a [u8], handling: Handling) -> Result<Given<'a>, Refusal> {
        let mut given = if row.is_empty() { Given::default() } else { self.read(row)? };
        for (part, value) in &self.fixed {
            if !self.encode && handling.malformed.rejects() {
                // The part is not in the record, so the rejection has offset 0.
                simdpct::validate(value)
                    .map_err(|escape| Refusal { offset: 0, reason: Reason::Malformed(escape.cause) })?;
            }
            let value = if self.encode { value.into() } else { handling.repaired(value, b"%25") };
            given.0.retain(|(known, _)| known != part);
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
        let Document::Object(members) = row::read_json(row)? else {
            return Err(refuse("expected an object of parts, such as {\"host\":\"a\"}"));
        };
        for (name, value) in members {
            let part = find(&name).map_err(refuse)?;
            let text = match value {
                Json::Null => continue,
                Json::String(text) => text,
                Json::Number(number) => number.to_string(),
                _ => return Err(refuse(format!("'{name}' is not a string"))),
            };
            self.give(&mut given, &part, Cow::Owned(text.into_bytes()))?;
        }
        Ok(given)
    }

    /// Returns `value`. If the parts are data, the bytes outside `set` are escaped.
    fn escaped<'a>(&self, set: AsciiSet, keeps_escapes: bool, value: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.encode {
            return Cow::Borrowed(value);
        }
        let encode = Encode::keeping(set);
        let encode = if keeps_escapes { encode.keep_escapes() } else { encode };
        Cow::Owned(encode.encode(value).into_owned().into_bytes())
    }

    /// Builds the userinfo of the URL. If userinfo is given as well as user or password, they must agree.
    fn userinfo<'g>(&self, given: &'g Given<'_>) -> Result<Option<Cow<'g, [u8]>>, Refusal> {
        const SET: AsciiSet = sets::RFC3986_USERINFO;

        let whole = given.get(&Part::Userinfo).map(|whole| self.escaped(SET, true, whole));
        let (user, password) = (given.get(&Part::User), given.get(&Part::Password));
        if user.is_none() && password.is_none() {
            return Ok(whole);
        }
        let user = user.unwrap_or_default();
        if !self.encode && user.contains(&b':') {
            let user = user.escape_ascii();
            return Err(refuse(format!("a colon would end the user; write %3A, or add --encode: '{user}'")));
        }
        let mut userinfo = self.escaped(SET.remove(b":"), false, user);
        if let Some(password) = password {
            let userinfo = userinfo.to_mut();
            userinfo.push(b':');
            userinfo.extend_from_slice(&self.escaped(SET, false, password));
        }
        if whole.is_some_and(|whole| whole != userinfo) {
            return Err(refuse("userinfo, user and password differ; give userinfo or the other two"));
        }
        Ok(Some(userinfo))
    }

    /// Builds the authority from userinfo, host and port. If the authority is given as well, it must be the same.
    fn authority<'g>(&self, given: &'g Given<'_>) -> Result<Option<Cow<'g, [u8]>>, Refusal> {
        let userinfo = self.userinfo(given)?;
        let (whole, port) = (given.get(&Part::Authority), given.get(&Part::Port));
        let Some(host) = given.get(&Part::Host) else {
            if userinfo.is_some() || port.is_some() {
                return Err(refuse("userinfo or a port needs a host"));
            }
            let read = [b"//", whole.unwrap_or_default()].concat();
            let read = simdpct_uri::split(&read);
            for part in [Part::Host, Part::Userinfo, Part::Port] {
                let value = part.raw(&read, &Suffixes::default());
                check(&part, value.unwrap_or_default(), false)?;
            }
            return Ok(whole.map(Cow::Borrowed));
        };
        let mut host = Cow::Borrowed(host);
        if self.encode {
            let built = Builder::new().host(&host).build();
            let built = built.map_err(|error| refuse(format!("{error}: '{}'", host.escape_ascii())))?;
            host = Cow::Owned(built.into_bytes().split_off(2));
        }
        let mut authority = b"//".to_vec();
        if let Some(userinfo) = &userinfo {
            authority.extend_from_slice(userinfo);
            authority.push(b'@');
        }
        authority.extend_from_slice(&host);
        if let Some(port) = port {
            authority.push(b':');
            authority.extend_from_slice(port);
        }
        let read = simdpct_uri::split(&authority);
        let is_read = read.authority() == Some(&authority[2..])
            && read.host().map(|host| host.raw()) == Some(&*host)
            && read.userinfo().map(|piece| piece.raw()) == userinfo.as_deref()
            && read.port() == port;
        if whole.is_some_and(|whole| whole != &authority[2..]) {
            return Err(refuse("authority and host differ; give the authority, or host, userinfo and port"));
        }
        if is_read {
            return Ok(Some(Cow::Owned(authority.split_off(2))));
        }
        let host = host.escape_ascii();
        Err(refuse(format!("host, userinfo and port cannot be read back from the authority: host '{host}'")))
    }

    /// Builds the query of the URL, and adds the parameters that the given query does not contain.
    fn query(&self, given: &Given<'_>) -> Result<Option<Vec<u8>>, Refusal> {
        // The removed bytes have a meaning of their own in parameters, so names and values must contain them only as
        // escapes.
        let set = sets::RFC3986_QUERY.remove(b"&=+;");
        let query = given.get(&Part::Query);
        let mut query = query.map(|query| self.escaped(sets::RFC3986_QUERY, true, query).into_owned());
        for (part, value) in &given.0 {
            let Part::Parameter(name) = part else { continue };
            if !self.encode && value.contains(&b'&') {
                let message = "cannot be read back from the query; write %26, or add --encode";
                return Err(refuse(format!("the parameter '{name}' {message}: '{}'", value.escape_ascii())));
            }
            let query = query.get_or_insert_default();
            let data = if self.encode { Cow::Borrowed(&**value) } else { Decode::new().form().decode(value) };
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
        Ok(query)
    }
}

impl Convert for Join {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let given = self.given(value.bytes, handling)?;
        let authority = self.authority(&given)?;
        let query = self.query(&given)?;
        let path = self.escaped(sets::RFC3986_PATH, true, given.get(&Part::Path).unwrap_or_default());
        let fragment = given.get(&Part::Fragment);
        let fragment = fragment.map(|part| self.escaped(sets::RFC3986_FRAGMENT, false, part));
        let wanted = Components {
            scheme: given.get(&Part::Scheme),
            authority: authority.as_deref(),
            path: &path,
            query: query.as_deref(),
            fragment: fragment.as_deref(),
        };
        let from = out.len();
        wanted.join_append(out);
        // A path such as `1:x` is written without the dot segment that RFC 3986, section 4.2, wants before it, because it
        // is read back unchanged.
        let is_prefixed = out[from..].starts_with(b"./") && !path.starts_with(b"./");
        if !self.encode && is_prefixed && !simdpct_uri::split(&*path).is_uri() {
            out.drain(from..from + 2);
        }
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
        // With `--encode`, a path that would be read as another part gets a dot segment before it. Other paths must be
        // read back unchanged.
        let prefixes: &[&[u8]] = if self.encode { &[b"", b"/.", b"./"] } else { &[b""] };
        let is_path = |prefix: &&[u8]| read.path.strip_prefix(*prefix) == Some(wanted.path);
        let parts = [
            ("scheme", wanted.scheme, read.scheme),
            ("authority", wanted.authority, read.authority),
            ("path", Some(wanted.path).filter(|_| !prefixes.iter().any(is_path)), None),
            ("query", wanted.query, read.query),
            ("fragment", wanted.fragment, read.fragment),
        ];
        match parts.into_iter().find(|(_, wanted, read)| wanted != read) {
            None => Ok(0),
            Some((name, wanted, _)) => {
                let wanted = wanted.unwrap_or_default().escape_ascii();
                Err(refuse(format!("the {name} cannot be read back from the URL: '{wanted}'")))
            }
        }
    }
}
