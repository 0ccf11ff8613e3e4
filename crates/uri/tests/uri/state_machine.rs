//! Implements the URL Standard as its text is written, with a state machine that reads a code point at a time (2 July
//! 2026, commit 6ae8486, sections 3.5, 3.6, 4.4 and 4.5). The crate cuts URLs at their delimiters instead, and shares
//! only the crate idna and `simdpct::decode` with this file. The tests in standard.rs and the fuzz target `uri_whatwg`
//! compare both.

use std::mem::take;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// Returns the serialization of `input`, resolved against `base`, or `None` if one of them is not valid.
pub(crate) fn resolve(base: Option<&str>, input: &str) -> Option<String> {
    let base = match base {
        Some(base) => Some(parse(base, None)?),
        None => None,
    };
    Some(parse(input, base.as_ref())?.serialize())
}

/// A URL (section 4.1). A `path` that is not opaque has its segments in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    scheme: String,
    username: String,
    password: String,
    host: Option<String>,
    port: Option<u16>,
    path: Path,
    query: Option<String>,
    fragment: Option<String>,
}

#[derive(Clone, Debug)]
enum Path {
    Opaque(String),
    Segments(Vec<String>),
}

impl Default for Path {
    fn default() -> Path {
        Path::Segments(Vec::new())
    }
}

/// Returns the default port of a special scheme (section 4.2), and `Some(None)` for `file`, which has no port.
fn special(scheme: &str) -> Option<Option<u16>> {
    match scheme {
        "ftp" => Some(Some(21)),
        "file" => Some(None),
        "http" | "ws" => Some(Some(80)),
        "https" | "wss" => Some(Some(443)),
        _ => None,
    }
}

// The percent-encode sets (section 1.3), without the C0 control percent-encode set, which is a part of each.
const C0_CONTROL: &str = "";
const FRAGMENT: &str = " \"<>`";
const QUERY: &str = " \"#<>";
const SPECIAL_QUERY: &str = " \"#<>'";
const PATH: &str = " \"#<>?^`{}";
const USERINFO: &str = " \"#<>?^`{}/:;=@[\\]|";

/// UTF-8 percent-encodes a code point (section 1.3).
fn encode(c: char, set: &str) -> String {
    if !matches!(c, ' '..='~') || set.contains(c) {
        c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect()
    } else {
        c.to_string()
    }
}

fn encode_all(text: &str, set: &str) -> String {
    text.chars().map(|c| encode(c, set)).collect()
}

fn is_drive_letter(text: &str) -> bool {
    is_normalized_drive_letter(&text.replacen('|', ":", 1))
}

fn is_normalized_drive_letter(text: &str) -> bool {
    text.len() == 2 && text.ends_with(':') && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn starts_with_drive_letter(text: &[char]) -> bool {
    let start: String = text.iter().take(2).collect();
    is_drive_letter(&start) && matches!(text.get(2), None | Some('/' | '\\' | '?' | '#'))
}

impl Record {
    fn is_special(&self) -> bool {
        special(&self.scheme).is_some()
    }

    fn segments(&mut self) -> &mut Vec<String> {
        match &mut self.path {
            Path::Segments(segments) => segments,
            Path::Opaque(path) => panic!("opaque: {path}"),
        }
    }

    /// Shortens the path (section 4.2).
    fn shorten(&mut self) {
        let is_file = self.scheme == "file";
        let path = self.segments();
        if !(is_file && path.len() == 1 && is_normalized_drive_letter(&path[0])) {
            path.pop();
        }
    }

    /// Sets username, password, host and port to those of `base`.
    fn inherit_authority(&mut self, base: &Record) {
        self.username.clone_from(&base.username);
        self.password.clone_from(&base.password);
        self.host.clone_from(&base.host);
        self.port = base.port;
    }

    /// Serializes the URL (section 4.5).
    pub(crate) fn serialize(&self) -> String {
        let mut output = format!("{}:", self.scheme);
        if let Some(host) = &self.host {
            output += "//";
            if !self.username.is_empty() || !self.password.is_empty() {
                output += &self.username;
                if !self.password.is_empty() {
                    output = output + ":" + &self.password;
                }
                output += "@";
            }
            output += host;
            if let Some(port) = self.port {
                output = output + ":" + &port.to_string();
            }
        }
        match &self.path {
            Path::Opaque(path) => output += path,
            Path::Segments(path) => {
                if self.host.is_none() && path.len() > 1 && path[0].is_empty() {
                    output += "/.";
                }
                path.iter().for_each(|segment| output.extend(["/", segment]));
            }
        }
        if let Some(query) = &self.query {
            output = output + "?" + query;
        }
        if let Some(fragment) = &self.fragment {
            output = output + "#" + fragment;
        }
        output
    }
}

/// The states of the basic URL parser, in the order of section 4.4.
#[derive(Clone, Copy)]
enum State {
    SchemeStart,
    Scheme,
    NoScheme,
    SpecialRelativeOrAuthority,
    PathOrAuthority,
    Relative,
    RelativeSlash,
    SpecialAuthoritySlashes,
    SpecialAuthorityIgnoreSlashes,
    Authority,
    Host,
    Port,
    File,
    FileSlash,
    FileHost,
    PathStart,
    Path,
    OpaquePath,
    Query,
    Fragment,
}

/// The result of one run of the machine.
enum Next {
    /// The state is set, and the pointer moves to the next code point.
    Read(State),
    /// The state is set, and the pointer stays at this code point: the standard decreases it by 1.
    Stay(State),
}

use Next::{Read, Stay};

struct Machine<'a> {
    input: Vec<char>,
    pointer: usize,
    base: Option<&'a Record>,
    url: Record,
    buffer: String,
    at_sign_seen: bool,
    inside_brackets: bool,
    password_token_seen: bool,
}

/// Runs the basic URL parser (section 4.4).
pub(crate) fn parse(input: &str, base: Option<&Record>) -> Option<Record> {
    let input = input.trim_matches(|c| c <= ' ').chars().filter(|c| !"\t\n\r".contains(*c)).collect();
    let mut machine = Machine {
        input,
        pointer: 0,
        base,
        url: Record::default(),
        buffer: String::new(),
        at_sign_seen: false,
        inside_brackets: false,
        password_token_seen: false,
    };
    let mut state = State::SchemeStart;
    loop {
        state = match machine.run(state)? {
            Stay(state) => state,
            Read(_) if machine.pointer >= machine.input.len() => return Some(machine.url),
            Read(state) => {
                machine.pointer += 1;
                state
            }
        }
    }
}

impl Machine<'_> {
    /// Runs the machine once. `None` is failure, and `c` is `None` for the EOF code point.
    fn run(&mut self, state: State) -> Option<Next> {
        let here = self.input.get(self.pointer..).unwrap_or_default();
        let c = here.first().copied();
        let remaining = here.get(1..).unwrap_or_default();
        let is_special = self.url.is_special();
        let is_slash = c == Some('/') || is_special && c == Some('\\');
        let ends_authority = is_slash || matches!(c, None | Some('?' | '#'));
        let url = &mut self.url;
        Some(match state {
            State::SchemeStart => match c {
                Some('a'..='z' | 'A'..='Z') => Stay(State::Scheme),
                _ => Stay(State::NoScheme),
            },
            State::Scheme => match c {
                Some(c @ ('a'..='z' | 'A'..='Z' | '0'..='9' | '+' | '-' | '.')) => {
                    self.buffer.push(c.to_ascii_lowercase());
                    Read(State::Scheme)
                }
                Some(':') => {
                    url.scheme = take(&mut self.buffer);
                    if url.scheme == "file" {
                        Read(State::File)
                    } else if url.is_special() {
                        match self.base {
                            Some(base) if base.scheme == url.scheme => {
                                Read(State::SpecialRelativeOrAuthority)
                            }
                            _ => Read(State::SpecialAuthoritySlashes),
                        }
                    } else if remaining.first() == Some(&'/') {
                        self.pointer += 1;
                        Read(State::PathOrAuthority)
                    } else {
                        url.path = Path::Opaque(String::new());
                        Read(State::OpaquePath)
                    }
                }
                _ => {
                    self.buffer.clear();
                    self.pointer = 0;
                    Stay(State::NoScheme)
                }
            },
            State::NoScheme => {
                let base = self.base?;
                match base.path {
                    Path::Opaque(_) if c == Some('#') => {
                        *url = Record { fragment: Some(String::new()), ..base.clone() };
                        Read(State::Fragment)
                    }
                    Path::Opaque(_) => return None,
                    Path::Segments(_) if base.scheme == "file" => Stay(State::File),
                    Path::Segments(_) => Stay(State::Relative),
                }
            }
            State::SpecialRelativeOrAuthority => {
                if c == Some('/') && remaining.first() == Some(&'/') {
                    self.pointer += 1;
                    Read(State::SpecialAuthorityIgnoreSlashes)
                } else {
                    Stay(State::Relative)
                }
            }
            State::PathOrAuthority if c == Some('/') => Read(State::Authority),
            State::PathOrAuthority => Stay(State::Path),
            State::Relative => {
                let base = self.base?;
                url.scheme.clone_from(&base.scheme);
                if c == Some('/') || url.is_special() && c == Some('\\') {
                    Read(State::RelativeSlash)
                } else {
                    url.inherit_authority(base);
                    self.inherit_path(base, c)
                }
            }
            State::RelativeSlash if is_special && is_slash => Read(State::SpecialAuthorityIgnoreSlashes),
            State::RelativeSlash if is_slash => Read(State::Authority),
            State::RelativeSlash => {
                url.inherit_authority(self.base?);
                Stay(State::Path)
            }
            State::SpecialAuthoritySlashes => {
                if c == Some('/') && remaining.first() == Some(&'/') {
                    self.pointer += 1;
                    Read(State::SpecialAuthorityIgnoreSlashes)
                } else {
                    Stay(State::SpecialAuthorityIgnoreSlashes)
                }
            }
            State::SpecialAuthorityIgnoreSlashes => match c {
                Some('/' | '\\') => Read(State::SpecialAuthorityIgnoreSlashes),
                _ => Stay(State::Authority),
            },
            State::Authority => match c {
                Some('@') => {
                    self.take_credentials();
                    Read(State::Authority)
                }
                _ if ends_authority => {
                    if self.at_sign_seen && self.buffer.is_empty() {
                        return None;
                    }
                    self.pointer -= self.buffer.chars().count();
                    self.buffer.clear();
                    Stay(State::Host)
                }
                c => {
                    self.buffer.extend(c);
                    Read(State::Authority)
                }
            },
            State::Host => match c {
                Some(':') if !self.inside_brackets => {
                    if self.buffer.is_empty() {
                        return None;
                    }
                    url.host = Some(parse_host(&take(&mut self.buffer), !is_special)?);
                    Read(State::Port)
                }
                _ if ends_authority => {
                    if is_special && self.buffer.is_empty() {
                        return None;
                    }
                    url.host = Some(parse_host(&take(&mut self.buffer), !is_special)?);
                    Stay(State::PathStart)
                }
                c => {
                    match c {
                        Some('[') => self.inside_brackets = true,
                        Some(']') => self.inside_brackets = false,
                        _ => {}
                    }
                    self.buffer.extend(c);
                    Read(State::Host)
                }
            },
            State::Port => match c {
                Some(digit @ '0'..='9') => {
                    self.buffer.push(digit);
                    Read(State::Port)
                }
                _ if ends_authority => {
                    if !self.buffer.is_empty() {
                        let port = take(&mut self.buffer).parse().ok()?;
                        url.port = Some(port).filter(|_| special(&url.scheme) != Some(Some(port)));
                    }
                    Stay(State::PathStart)
                }
                _ => return None,
            },
            State::File => {
                url.scheme = "file".to_owned();
                url.host = Some(String::new());
                match self.base.filter(|base| base.scheme == "file") {
                    _ if matches!(c, Some('/' | '\\')) => Read(State::FileSlash),
                    Some(base) => {
                        url.host.clone_from(&base.host);
                        self.inherit_path(base, c)
                    }
                    None => Stay(State::Path),
                }
            }
            State::FileSlash if matches!(c, Some('/' | '\\')) => Read(State::FileHost),
            State::FileSlash => {
                if let Some(base) = self.base.filter(|base| base.scheme == "file") {
                    url.host.clone_from(&base.host);
                    if let Some(drive) = base.clone().segments().first()
                        && is_normalized_drive_letter(drive)
                        && !starts_with_drive_letter(here)
                    {
                        url.segments().push(drive.clone());
                    }
                }
                Stay(State::Path)
            }
            State::FileHost => match c {
                None | Some('/' | '\\' | '?' | '#') => {
                    if is_drive_letter(&self.buffer) {
                        // The buffer stays, and becomes the start of the path.
                        Stay(State::Path)
                    } else if self.buffer.is_empty() {
                        Stay(State::PathStart)
                    } else {
                        let host = parse_host(&take(&mut self.buffer), !is_special)?;
                        url.host = Some(if host == "localhost" { String::new() } else { host });
                        Stay(State::PathStart)
                    }
                }
                c => {
                    self.buffer.extend(c);
                    Read(State::FileHost)
                }
            },
            State::PathStart => match c {
                _ if is_special && is_slash => Read(State::Path),
                _ if is_special => Stay(State::Path),
                Some('?') => self.start_query(),
                Some('#') => self.start_fragment(),
                Some('/') | None => Read(State::Path),
                Some(_) => Stay(State::Path),
            },
            State::Path if ends_authority => {
                let segment = take(&mut self.buffer);
                match &*segment.to_ascii_lowercase().replace("%2e", ".") {
                    ".." => {
                        url.shorten();
                        if !is_slash {
                            url.segments().push(String::new());
                        }
                    }
                    "." if is_slash => {}
                    "." => url.segments().push(String::new()),
                    _ if url.scheme == "file" && url.segments().is_empty() && is_drive_letter(&segment) => {
                        url.segments().push(segment.replacen('|', ":", 1));
                    }
                    _ => url.segments().push(segment),
                }
                match c {
                    Some('?') => self.start_query(),
                    Some('#') => self.start_fragment(),
                    _ => Read(State::Path),
                }
            }
            State::Path => {
                self.buffer.extend(c.map(|c| encode(c, PATH)));
                Read(State::Path)
            }
            State::OpaquePath => match (c, &mut url.path) {
                (Some('?'), _) => self.start_query(),
                (Some('#'), _) => self.start_fragment(),
                (Some(' '), Path::Opaque(path)) => {
                    *path += if matches!(remaining.first(), Some('?' | '#')) { "%20" } else { " " };
                    Read(State::OpaquePath)
                }
                (c, Path::Opaque(path)) => {
                    path.extend(c.map(|c| encode(c, C0_CONTROL)));
                    Read(State::OpaquePath)
                }
                (_, Path::Segments(_)) => panic!("the path is opaque"),
            },
            State::Query if matches!(c, None | Some('#')) => {
                let set = if is_special { SPECIAL_QUERY } else { QUERY };
                url.query.as_mut()?.push_str(&encode_all(&take(&mut self.buffer), set));
                if c.is_some() { self.start_fragment() } else { Read(State::Query) }
            }
            State::Query => {
                self.buffer.extend(c);
                Read(State::Query)
            }
            State::Fragment => {
                url.fragment.as_mut()?.extend(c.map(|c| encode(c, FRAGMENT)));
                Read(State::Fragment)
            }
        })
    }

    /// Runs the end of the states "relative" and "file", for a reference without a slash at its start.
    fn inherit_path(&mut self, base: &Record, c: Option<char>) -> Next {
        self.url.path = base.path.clone();
        self.url.query.clone_from(&base.query);
        match c {
            Some('?') => self.start_query(),
            Some('#') => self.start_fragment(),
            None => Read(State::Path),
            Some(_) => {
                self.url.query = None;
                if self.url.scheme == "file" && starts_with_drive_letter(&self.input[self.pointer..]) {
                    self.url.segments().clear();
                } else {
                    self.url.shorten();
                }
                Stay(State::Path)
            }
        }
    }

    fn start_query(&mut self) -> Next {
        self.url.query = Some(String::new());
        Read(State::Query)
    }

    fn start_fragment(&mut self) -> Next {
        self.url.fragment = Some(String::new());
        Read(State::Fragment)
    }

    /// Moves the buffer, which an `@` ends, to the username and the password.
    fn take_credentials(&mut self) {
        if self.at_sign_seen {
            self.buffer.insert_str(0, "%40");
        }
        self.at_sign_seen = true;
        for c in take(&mut self.buffer).chars() {
            if c == ':' && !self.password_token_seen {
                self.password_token_seen = true;
            } else if self.password_token_seen {
                self.url.password += &encode(c, USERINFO);
            } else {
                self.url.username += &encode(c, USERINFO);
            }
        }
    }
}

/// Parses and serializes a host (sections 3.5 and 3.6).
pub(crate) fn parse_host(input: &str, is_opaque: bool) -> Option<String> {
    let is_forbidden = |c: char| "\0\t\n\r #/:<>?@[\\]^|".contains(c);
    if let Some(literal) = input.strip_prefix('[') {
        return Some(format!("[{}]", serialize_ipv6(parse_ipv6(literal.strip_suffix(']')?)?)));
    }
    if is_opaque {
        return (!input.contains(is_forbidden)).then(|| encode_all(input, C0_CONTROL));
    }
    let domain = String::from_utf8_lossy(&simdpct::decode(input)).into_owned();
    let ascii = if domain.is_ascii() {
        domain.to_ascii_lowercase()
    } else {
        let uts46 = Uts46::new();
        let name = uts46.to_ascii(domain.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore);
        name.ok()?.into_owned()
    };
    if ascii.is_empty() || ascii.contains(|c| is_forbidden(c) || matches!(c, '\0'..='\x1F' | '%' | '\x7F')) {
        return None;
    }
    // The algorithm "ends in a number", and the IPv4 parser (section 3.5).
    let mut parts: Vec<&str> = ascii.split('.').collect();
    parts.pop_if(|last| last.is_empty());
    let last = parts.last().copied().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && ipv4_number(last).is_none() {
        return Some(ascii);
    }
    let mut numbers = parts.into_iter().map(ipv4_number).collect::<Option<Vec<_>>>()?;
    let size = numbers.len();
    let mut address = numbers.pop()?;
    if size > 4 || numbers.iter().any(|&number| number > 255) || address >= 1 << (8 * (5 - size)) {
        return None;
    }
    for (counter, number) in numbers.into_iter().enumerate() {
        address += number << (8 * (3 - counter));
    }
    let bytes = [24, 16, 8, 0].map(|shift| (address >> shift & 255).to_string());
    Some(bytes.join("."))
}

/// Runs the IPv4 number parser. A number that is too large for any address becomes the largest address plus one.
fn ipv4_number(input: &str) -> Option<u64> {
    let (digits, radix) = match input.as_bytes() {
        [] => return None,
        [b'0', b'x' | b'X', ..] => (&input[2..], 16),
        [b'0', _, ..] => (&input[1..], 8),
        _ => (input, 10),
    };
    let append = |number: u64, digit: char| {
        Some((number * u64::from(radix) + u64::from(digit.to_digit(radix)?)).min(1 << 32))
    };
    digits.chars().try_fold(0, append)
}

/// Runs the IPv6 parser.
fn parse_ipv6(input: &str) -> Option<[u16; 8]> {
    let input: Vec<char> = input.chars().collect();
    let at = |pointer: usize| input.get(pointer).copied();
    let digit = |pointer: usize, radix| at(pointer)?.to_digit(radix);
    let (mut address, mut piece, mut compress, mut pointer) = ([0_u16; 8], 0, None, 0);
    if at(0) == Some(':') {
        if at(1) != Some(':') {
            return None;
        }
        (pointer, piece, compress) = (2, 1, Some(1));
    }
    while let Some(c) = at(pointer) {
        if piece == 8 {
            return None;
        }
        if c == ':' {
            if compress.is_some() {
                return None;
            }
            pointer += 1;
            piece += 1;
            compress = Some(piece);
            continue;
        }
        let (mut value, mut length) = (0, 0);
        while length < 4
            && let Some(digit) = digit(pointer, 16)
        {
            value = value * 16 + digit as u16;
            pointer += 1;
            length += 1;
        }
        if at(pointer) == Some('.') {
            if length == 0 || piece > 6 {
                return None;
            }
            pointer -= length;
            let mut numbers_seen = 0;
            while at(pointer).is_some() {
                if numbers_seen > 0 {
                    if at(pointer) != Some('.') || numbers_seen == 4 {
                        return None;
                    }
                    pointer += 1;
                }
                let mut number = digit(pointer, 10)?;
                pointer += 1;
                while let Some(digit) = digit(pointer, 10) {
                    if number == 0 || number * 10 + digit > 255 {
                        return None;
                    }
                    number = number * 10 + digit;
                    pointer += 1;
                }
                address[piece] = address[piece] * 0x100 + number as u16;
                numbers_seen += 1;
                if numbers_seen % 2 == 0 {
                    piece += 1;
                }
            }
            if numbers_seen != 4 {
                return None;
            }
            break;
        }
        if at(pointer) == Some(':') {
            pointer += 1;
            at(pointer)?;
        } else if at(pointer).is_some() {
            return None;
        }
        address[piece] = value;
        piece += 1;
    }
    match compress {
        // The pieces after `::` move to the end.
        Some(compress) => address[compress..].rotate_right(8 - piece),
        None if piece != 8 => return None,
        None => {}
    }
    Some(address)
}

/// Runs the IPv6 serializer.
fn serialize_ipv6(address: [u16; 8]) -> String {
    let (mut longest, mut longest_size, mut found_size) = (None, 1, 0);
    for (index, &piece) in address.iter().enumerate() {
        found_size = if piece == 0 { found_size + 1 } else { 0 };
        if found_size > longest_size {
            (longest, longest_size) = (Some(index + 1 - found_size), found_size);
        }
    }
    let hex = |pieces: &[u16]| pieces.iter().map(|piece| format!("{piece:x}")).collect::<Vec<_>>().join(":");
    match longest {
        Some(start) => format!("{}::{}", hex(&address[..start]), hex(&address[start + longest_size..])),
        None => hex(&address),
    }
}
