//! Converts the findings of the scanner to the list of findings of `pct check`.

use std::fmt::Write;

use simdpct::escapes;
use simdpct_readings::is_ambiguous;
use simdpct_records::Kind as Syntax;
use simdpct_uri::{Component, Dialect, FlawKind, Offsets, Parts};

use super::finding::List;
use super::kind::{Group, Kind};
use super::scanner::{Found, Observer, Scan, State, kinds_of};
use super::schemes::Scheme;
use crate::common::target;

/// The number of bytes that must follow a `%` in the window before the `%` is scanned: the rest of `%25`, and two
/// digits.
pub const AHEAD: usize = 4;

/// The criteria for the findings that the user wants.
#[derive(Clone, Debug)]
pub struct Criteria {
    groups: Vec<Group>,
    /// The set of the kinds in `groups`.
    kinds: u16,
    /// The groups that are about whole URLs, out of `groups`.
    of_urls: Vec<Group>,
    /// The components of URLs in which findings are wanted; empty for all components.
    components: Vec<Component>,
    /// The specification that decides which bytes need escapes.
    dialect: Dialect,
    /// The byte that ends a record.
    end: u8,
    /// For each byte, whether a finding may begin with `%` and this byte.
    may_find_before: [bool; 256],
}

impl Criteria {
    /// Creates the criteria for findings of `groups` by `dialect`, in these `components` of URLs, or anywhere if `components` is
    /// empty. Records end in `end`.
    pub fn new(groups: &[Group], components: &[Component], dialect: Dialect, end: u8) -> Criteria {
        let criteria = Criteria {
            groups: groups.to_vec(),
            kinds: groups.iter().fold(0, |kinds, group| kinds | group.kinds()),
            of_urls: groups.iter().copied().filter(|group| group.is_of_urls()).collect(),
            components: components.to_vec(),
            dialect,
            end,
            may_find_before: [true; 256],
        };
        let may_find_before = std::array::from_fn(|first| {
            // The answer depends on the second byte only if both are digits. `-` represents all bytes that are not digits.
            let seconds = if (first as u8).is_ascii_hexdigit() { "0123456789ABCDEF" } else { "" };
            let mut seconds = seconds.bytes().chain([b'-']);
            seconds.any(|second| criteria.may_find(&[b'%', first as u8, second]))
        });
        Criteria { may_find_before, ..criteria }
    }

    /// Reports whether `group` is wanted.
    pub fn contains(&self, group: Group) -> bool {
        self.groups.contains(&group)
    }

    /// Reports whether values are parsed as URLs.
    pub fn takes_urls(&self) -> bool {
        !self.of_urls.is_empty() || !self.components.is_empty()
    }

    /// Returns the bytes that RFC 3986 allows in a URL, and the older specification forbids.
    fn strange(&self) -> &'static [u8] {
        match self.dialect {
            Dialect::Rfc1738 => b"[]~",
            Dialect::Rfc2396 => b"[]",
            _ => b"",
        }
    }

    /// Reports whether the `%` at the start of `ahead` may be part of a finding, if values are not parsed as URLs.
    #[inline]
    pub fn may_find(&self, ahead: &[u8]) -> bool {
        // Most escapes are ruled out by their first digit.
        if ahead.get(1).is_some_and(|&first| !self.may_find_before[usize::from(first)]) {
            return false;
        }
        let kinds = match simdpct::decode_escape(ahead) {
            None => Kind::Malformed.bit(),
            Some(b'%') => Kind::Double.bit(),
            Some(0x80..) => Kind::Utf8.bit() | Kind::Overlong.bit(),
            Some(byte) => kinds_of(self.dialect)[usize::from(byte)],
        };
        self.kinds & kinds != 0
    }

    /// Returns the state of a scanner at the start of a file.
    pub fn state(&self) -> State {
        State::new(self.end, self.kinds, self.takes_urls()).of_dialect(self.dialect)
    }

    /// Adds the findings of `value`, which has the syntax `kind`, to `list`. Their offsets count from the start of `value`.
    pub fn scan_value(&self, value: &[u8], kind: Syntax, list: &mut List) {
        let mut listing = Listing { end: None, kind, ..Listing::new(self, 0, list) };
        Scan { observer: &mut listing, state: &mut self.state() }.value(value);
    }

    /// Adds the findings of complete `lines` to `list`, and returns the number of lines.
    pub fn scan_lines(&self, lines: &[u8], list: &mut List) -> u64 {
        let mut state = self.state();
        self.scan_window(&mut state, lines, lines.len(), 0, true, list)
    }

    /// Adds the findings in the first `ready` bytes of `window` to `list`, and returns the number of lines that end
    /// there. `shift` is added to each offset in the file that `state` gives. Line numbers count from the first line
    /// of `state`.
    pub fn scan_window(
        &self,
        state: &mut State,
        window: &[u8],
        ready: usize,
        shift: i64,
        is_last: bool,
        list: &mut List,
    ) -> u64 {
        let mut listing = Listing::new(self, shift, list);
        let mut scan = Scan { observer: &mut listing, state };
        scan.window(window, 0, ready);
        if is_last {
            scan.finish(window);
        }
        listing.lines
    }
}

/// Returns the component of `url` that contains the byte at offset `at`. A delimiter belongs to the component after
/// it.
fn component(url: Offsets, at: usize) -> Component {
    let authority = if url.scheme_end > 0 { url.scheme_end + 1 } else { 0 };
    match at {
        _ if at < authority => Component::Scheme,
        _ if at < url.host_start => Component::Userinfo,
        _ if at < url.host_end => Component::Host,
        _ if at < url.path_start => Component::Port,
        _ if at < url.path_end => Component::Path,
        _ if at < url.query_end => Component::Query,
        _ => Component::Fragment,
    }
}

/// An observer that adds findings to a list.
struct Listing<'a> {
    wanted: &'a Criteria,
    /// The byte that ends a line; `None` if a single value is scanned.
    end: Option<u8>,
    /// The syntax of the values.
    kind: Syntax,
    /// The line number and the component offsets of the URL that was split last.
    split: Option<(u64, Offsets)>,
    list: &'a mut List,
    /// The number that is added to the offset of each finding.
    shift: i64,
    /// The number of lines that have ended in the scanned bytes.
    lines: u64,
}

impl<'a> Listing<'a> {
    fn new(wanted: &'a Criteria, shift: i64, list: &'a mut List) -> Listing<'a> {
        Listing { wanted, end: Some(wanted.end), kind: Syntax::Text, split: None, list, shift, lines: 0 }
    }

    /// Adds the reserved characters of the URL with these `parts` that RFC 1738 does not allow where they are, if it defines the scheme.
    /// `offset` is that of the URL.
    fn reserved(&mut self, parts: Parts<'_>, line: u64, offset: i64) {
        let url = parts.input();
        let Some(scheme) = parts.scheme().and_then(Scheme::find) else { return };
        let at = parts.offsets();
        let components = &self.wanted.components;
        scheme.strange(&url[at.path_start..at.query_end], at.path_end - at.path_start, |found| {
            let found = at.path_start + found;
            let component = component(at, found);
            if components.is_empty() || components.contains(&component) {
                let text = format_args!(
                    "'{}' in the {} of {}",
                    char::from(url[found]),
                    name(component),
                    scheme.name
                );
                self.list.add(Group::Illegal, line - 1, offset + found as i64 + self.shift, text);
            }
        });
    }

    fn add(&mut self, group: Group, line: u64, offset: i64, text: &str) {
        self.list.push(group, line - 1, offset + self.shift, |texts| {
            texts.push_str(text);
            Some(())
        });
    }

    /// Returns the component of the URL that contains the finding, or `None` if the start of a long line has left the
    /// window.
    fn component_of(&mut self, found: &Found<'_>) -> Option<Component> {
        let start = found.line_start.checked_sub(found.base)?;
        let offsets = match self.split {
            Some((line, offsets)) if line == found.line => offsets,
            _ => {
                let line = &found.window[start as usize..];
                let end = self.end.and_then(|end| memchr::memchr(end, line));
                target::offsets(self.kind, &line[..end.unwrap_or(line.len())])
            }
        };
        self.split = Some((found.line, offsets));
        Some(component(offsets, found.offset.saturating_sub(found.line_start) as usize))
    }
}

impl Observer for Listing<'_> {
    const AHEAD: usize = AHEAD;
    const EACH_LINE: bool = false;

    fn escape(&mut self, _: u8) {}

    fn url(&mut self, value: &[u8], line: u64, offset: u64) {
        let wanted = self.wanted;
        if wanted.of_urls.is_empty() {
            return;
        }
        let mut buffer = Vec::new();
        let parts = target::split(self.kind, value, &mut buffer);
        let (url, offsets) = (parts.input(), parts.offsets());
        // The value is the end of the URL.
        let offset = offset as i64 - (url.len() - value.len()) as i64;
        let takes_path = wanted.components.is_empty() || wanted.components.contains(&Component::Path);
        if takes_path && wanted.of_urls.contains(&Group::Ambiguous) {
            let Offsets { path_start, query_end, .. } = offsets;
            // Clients do not send a fragment.
            let target = &url[path_start..query_end];
            if target.starts_with(b"/") && is_ambiguous(target) {
                self.add(
                    Group::Ambiguous,
                    line,
                    offset + path_start as i64,
                    "servers route this path differently",
                );
            }
        }
        let strange = wanted.strange();
        if !strange.is_empty() && wanted.of_urls.contains(&Group::Illegal) {
            for at in (0..url.len()).filter(|&at| strange.contains(&url[at])) {
                let component = component(offsets, at);
                // Elsewhere than in the host, brackets are illegal by RFC 3986 as well, and reported below.
                let is_new = url[at] == b'~' || component == Component::Host;
                if !is_new {
                    continue;
                }
                if wanted.components.is_empty() || wanted.components.contains(&component) {
                    let text = format!("'{}' in the {}", char::from(url[at]), name(component));
                    self.add(Group::Illegal, line, offset + at as i64, &text);
                }
            }
        }
        if wanted.dialect == Dialect::Rfc1738 && wanted.of_urls.contains(&Group::Illegal) {
            self.reserved(parts, line, offset);
        }
        // The end of the last run of non-ASCII bytes. Only one finding is listed for each run.
        let mut run_end = None;
        for flaw in parts.flaws() {
            if let FlawKind::NonAscii(_) = flaw.kind
                && run_end.replace(flaw.offset + 1) == Some(flaw.offset)
            {
                continue;
            }
            let Some(group) = Group::of_flaw(flaw.kind).filter(|group| wanted.of_urls.contains(group)) else {
                continue;
            };
            let is_elsewhere = !wanted.components.is_empty() && !wanted.components.contains(&flaw.component);
            if is_elsewhere {
                continue;
            }
            let at = offset + flaw.offset as i64;
            let component = name(flaw.component);
            let text = match flaw.kind {
                FlawKind::Illegal(byte) => format!("'{}' in the {component}", char::from(byte)),
                FlawKind::NonAscii(byte) | FlawKind::Control(byte) => {
                    format!("byte 0x{byte:02X} in the {component}")
                }
                FlawKind::ColonInFirstSegment => {
                    "':' in the first path segment, without a scheme before it".to_owned()
                }
                FlawKind::SeveralAt => "more than one '@' before the host".to_owned(),
                FlawKind::UnclosedBracket => "'[' without ']'".to_owned(),
                FlawKind::BadAddress => "invalid address in brackets".to_owned(),
                FlawKind::BadPort => "not a number up to 65535".to_owned(),
                _ => continue,
            };
            self.add(group, line, at, &text);
        }
    }

    fn found(&mut self, found: &Found<'_>) {
        let Some(group) = found.kind.group() else { return };
        let components = &self.wanted.components;
        if !components.is_empty()
            && let Some(component) = self.component_of(found)
            && !components.contains(&component)
        {
            return;
        }
        let ahead = found.ahead();
        let spelling = &ahead[..ahead.len().min(3)];
        let end = self.wanted.end;
        // Writing to a `String` cannot fail.
        self.list.push(group, found.line - 1, found.offset as i64 + self.shift, |text| {
            match group {
                Group::Malformed => {
                    let escape = escapes(spelling).find_map(Result::err)?;
                    let shown = spelling.split(|&byte| byte == end || byte == b'\r').next();
                    push_escaped(text, shown.unwrap_or_default());
                    let _ = write!(text, ": {}", escape.cause);
                }
                // One finding of invalid UTF-8 for each record is enough.
                Group::Utf8 if found.before & group.kinds() != 0 => return None,
                Group::Utf8 => {
                    let _ = write!(text, "invalid UTF-8 after decoding, from byte 0x{:02X} on", found.byte);
                }
                Group::Double => {
                    push_escaped(text, &ahead[..ahead.len().min(5)]);
                    text.push_str(" decodes to %");
                    push_escaped(text, &ahead[3..5]);
                }
                Group::Nul => push_escaped(text, spelling),
                Group::Separator | Group::Dot | Group::Needless => {
                    push_escaped(text, spelling);
                    text.push_str(" is ");
                    text.push(char::from(found.byte));
                }
                _ => return None,
            }
            Some(())
        });
    }

    fn line(&mut self, _: u64, _: u64) {
        self.lines += 1;
    }

    fn clean_lines(&mut self, count: u64) {
        self.lines += count;
    }
}

/// Appends `bytes` to `text`, with the bytes that are not printable ASCII escaped as in a string of Rust.
fn push_escaped(text: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || byte == b'%' {
            text.push(char::from(byte));
        } else {
            text.extend(byte.escape_ascii().map(char::from));
        }
    }
}

/// Returns the name of `component` in messages and options.
fn name(component: Component) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == component).map_or("URL", |(name, _)| *name)
}

const NAMES: &[(&str, Component)] = &[
    ("scheme", Component::Scheme),
    ("userinfo", Component::Userinfo),
    ("host", Component::Host),
    ("port", Component::Port),
    ("path", Component::Path),
    ("query", Component::Query),
    ("fragment", Component::Fragment),
];

/// Returns the component called `name`, or an error message.
pub fn find_component(name: &str) -> Result<Component, String> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, component)| *component).ok_or_else(|| {
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("unknown component '{name}'; expected one of {}", names.join(", "))
    })
}
