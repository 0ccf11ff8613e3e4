//! Lists the findings of `pct check` in lines and values.

use std::fmt::{self, Write};
use std::ops::Range;

use simdpct::escapes;
use simdpct_readings::is_ambiguous;
use simdpct_records::Kind as Syntax;
use simdpct_uri::{Component, Dialect, FlawKind, Offsets};

use super::kind::{Group, Kind};
use super::scanner::{Found, Observer, Scan, State, UTF8, kinds_of};
use super::schemes::Scheme;
use crate::common::target;

/// The number of bytes that must follow a `%` in the window before the `%` is scanned: the rest of `%0D%0A`.
pub const AHEAD: usize = 5;

/// A finding of `pct check` in a chunk of the input.
pub struct Finding {
    pub group: Group,
    /// The number of line ends in the chunk before the finding.
    pub line: u64,
    /// The offset of the finding in the chunk. It is negative if the finding is in a record that began in an earlier
    /// chunk.
    pub offset: i64,
    /// The selected value that contains the finding, or `None` if whole lines are checked.
    pub value: Option<Value>,
    text: Range<usize>,
}

/// A selected value that contains a finding.
pub struct Value {
    /// The type of the selection, such as `column`.
    pub kind: &'static str,
    /// The name of the selected value, such as the name of its column.
    pub name: String,
    /// The offset of the finding in its record.
    pub at: i64,
}

/// The findings of a chunk, in order. Their texts are in one buffer.
#[derive(Default)]
pub struct List {
    pub findings: Vec<Finding>,
    texts: String,
}

impl List {
    /// Removes all findings.
    pub fn clear(&mut self) {
        self.findings.clear();
        self.texts.clear();
    }

    /// Adds a finding, without a selected value, to the list.
    pub fn add(&mut self, group: Group, line: u64, offset: i64, text: fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        self.push(group, line, offset, |texts| texts.write_fmt(text).ok());
    }

    /// Adds a finding whose text `write` appends to the buffer of texts, unless `write` returns `None`. Most texts
    /// are appended without formatting, because almost every byte of the input can have a finding
    /// (docs/lab/2026-11-23-jobs.md).
    fn push(&mut self, group: Group, line: u64, offset: i64, write: impl FnOnce(&mut String) -> Option<()>) {
        let from = self.texts.len();
        if write(&mut self.texts).is_none() {
            return self.texts.truncate(from);
        }
        self.findings.push(Finding { group, line, offset, value: None, text: from..self.texts.len() });
    }

    /// Returns the text of `finding`.
    pub fn text(&self, finding: &Finding) -> &str {
        &self.texts[finding.text.clone()]
    }
}

/// The criteria for the findings that the user wants.
#[derive(Clone, Debug)]
pub struct Criteria {
    /// The wanted groups, as a bit mask.
    groups: u16,
    /// The kinds of the wanted groups, as a bit mask.
    kinds: u16,
    /// Whether a wanted group is about whole URLs.
    has_flaws: bool,
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
            groups: groups.iter().fold(0, |set, group| set | group.bit()),
            kinds: groups.iter().fold(0, |set, group| set | group.kinds()),
            has_flaws: groups.iter().any(|group| group.is_of_urls()),
            components: components.to_vec(),
            dialect,
            end,
            may_find_before: [true; 256],
        };
        let may_find_before = std::array::from_fn(|first| {
            // `-` represents all bytes that are not hexadecimal digits.
            let mut seconds = "0123456789ABCDEF-".bytes();
            seconds.any(|second| criteria.may_find(&[b'%', first as u8, second]))
        });
        Criteria { may_find_before, ..criteria }
    }

    /// Reports whether `group` is wanted.
    pub fn contains(&self, group: Group) -> bool {
        self.groups & group.bit() != 0
    }

    /// Reports whether values are parsed as URLs.
    pub fn takes_urls(&self) -> bool {
        self.has_flaws || !self.components.is_empty()
    }

    /// Reports whether findings in `component` are wanted.
    fn takes(&self, component: Component) -> bool {
        self.components.is_empty() || self.components.contains(&component)
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
            Some(0x80..) => UTF8,
            Some(byte) => kinds_of(self.dialect)[usize::from(byte)],
        };
        self.kinds & kinds != 0
    }

    /// Returns the state of a scanner at the start of a file.
    pub fn state(&self) -> State {
        State::new(self.end, self.kinds, self.takes_urls(), self.dialect)
    }

    /// Adds the findings of `value`, which has the syntax `kind`, to `list`. Their offsets count from the start of `value`.
    pub fn scan_value(&self, value: &[u8], kind: Syntax, list: &mut List) {
        let mut listing = Listing { wanted: self, kind, from: list.findings.len(), list, shift: 0 };
        Scan { observer: &mut listing, state: &mut self.state() }.value(value);
    }

    /// Adds the findings of complete `lines` to `list`, and returns the number of lines.
    pub fn scan_lines(&self, lines: &[u8], list: &mut List) -> u64 {
        self.scan_window(&mut self.state(), lines, lines.len(), 0, true, list)
    }

    /// Adds the findings in the first `ready` bytes of `window` to `list`, and returns the number of lines that end in
    /// these bytes. `state` counts lines and offsets, and `shift` is added to each offset. `is_last` says whether the
    /// input ends with the window.
    pub fn scan_window(
        &self,
        state: &mut State,
        window: &[u8],
        ready: usize,
        shift: i64,
        is_last: bool,
        list: &mut List,
    ) -> u64 {
        let first = state.line;
        let mut listing =
            Listing { wanted: self, kind: Syntax::Text, from: list.findings.len(), list, shift };
        Scan { observer: &mut listing, state }.window(window, 0, ready, is_last);
        state.line - first
    }
}

/// The components of URLs in their order, with their names in messages and options.
const COMPONENTS: [(&str, Component); 7] = [
    ("scheme", Component::Scheme),
    ("userinfo", Component::Userinfo),
    ("host", Component::Host),
    ("port", Component::Port),
    ("path", Component::Path),
    ("query", Component::Query),
    ("fragment", Component::Fragment),
];

/// Returns the component of a URL that contains the byte at offset `at`. The colon after a scheme belongs to the scheme, the slashes before
/// an authority and its `@` belong to the userinfo, and every other delimiter belongs to the component after it.
fn component(url: Offsets, at: usize) -> Component {
    let Offsets { scheme_end, host_start, host_end, path_start, path_end, query_end } = url;
    let scheme_end = scheme_end + usize::from(scheme_end > 0);
    let ends = [scheme_end, host_start, host_end, path_start, path_end, query_end];
    COMPONENTS[ends.iter().position(|&end| at < end).unwrap_or(ends.len())].1
}

/// Returns the name of `component` in messages and options.
fn name(component: Component) -> &'static str {
    COMPONENTS.iter().find(|(_, known)| *known == component).map_or("URL", |(name, _)| *name)
}

/// Returns the component called `name`, or an error message.
pub fn find_component(name: &str) -> Result<Component, String> {
    COMPONENTS.iter().find(|(known, _)| *known == name).map(|(_, component)| *component).ok_or_else(|| {
        let names = COMPONENTS.map(|(name, _)| name).join(", ");
        format!("unknown component '{name}'; expected one of {names}")
    })
}

/// An observer that adds findings to a list.
struct Listing<'a> {
    wanted: &'a Criteria,
    /// The syntax of the values.
    kind: Syntax,
    list: &'a mut List,
    /// The number of the first finding that the observer may have added.
    from: usize,
    /// The number that is added to the offset of each finding.
    shift: i64,
}

impl Observer for Listing<'_> {
    const EACH_LINE: bool = false;

    fn url(&mut self, value: &[u8], line: u64, offset: u64) {
        let Listing { wanted, kind, list, from, shift } = self;
        let start = offset as i64 + *shift;
        // The number of the first finding of the scanner in this URL.
        let since = *from + list.findings[*from..].partition_point(|finding| finding.offset < start);
        if since == list.findings.len() && !wanted.has_flaws {
            return;
        }
        let mut buffer = Vec::new();
        let parts = target::split(*kind, value, false, &mut buffer);
        let (url, at) = (parts.input(), parts.offsets());
        // `url` is the value, or the value after a prefix that the input does not have.
        let url_start = start - (url.len() - value.len()) as i64;
        if !wanted.components.is_empty() {
            let (found, mut has_utf8) = (list.findings.split_off(since), false);
            let is_wanted = |finding: &Finding| {
                wanted.takes(component(at, (finding.offset - url_start) as usize))
                    && (finding.group != Group::Utf8 || !std::mem::replace(&mut has_utf8, true))
            };
            list.findings.extend(found.into_iter().filter(is_wanted));
        }
        if !wanted.has_flaws {
            return;
        }
        let mut add = |group: Group, component: Component, at: usize, text: fmt::Arguments<'_>| {
            if wanted.contains(group) && wanted.takes(component) {
                list.add(group, line - 1, url_start + at as i64, text);
            }
        };
        // Clients do not send a fragment.
        let target = &url[at.path_start..at.query_end];
        if wanted.contains(Group::Ambiguous) && target.starts_with(b"/") && is_ambiguous(target) {
            let text = format_args!("servers route this path differently");
            add(Group::Ambiguous, Component::Path, at.path_start, text);
        }
        if matches!(wanted.dialect, Dialect::Rfc1738 | Dialect::Rfc2396) {
            for (offset, &byte) in url.iter().enumerate() {
                let component = component(at, offset);
                // RFC 3986 allows these bytes, and the older specification does not. Outside the host, brackets are
                // illegal by RFC 3986 as well, and are reported below.
                let is_strange = match byte {
                    b'[' | b']' => component == Component::Host,
                    b'~' => wanted.dialect == Dialect::Rfc1738,
                    _ => false,
                };
                if is_strange {
                    let text = format_args!("'{}' in the {}", char::from(byte), name(component));
                    add(Group::Illegal, component, offset, text);
                }
            }
        }
        if wanted.dialect == Dialect::Rfc1738
            && let Some(scheme) = parts.scheme().and_then(Scheme::find)
        {
            scheme.find_disallowed(target, at.path_end - at.path_start, |offset| {
                let offset = at.path_start + offset;
                let (byte, component) = (char::from(url[offset]), component(at, offset));
                let text = format_args!("'{byte}' in the {} of {}", name(component), scheme.name);
                add(Group::Illegal, component, offset, text);
            });
        }
        // The end of the last run of non-ASCII bytes. Only one finding is listed for each run.
        let mut run_end = None;
        for flaw in parts.flaws() {
            if let FlawKind::NonAscii(_) = flaw.kind
                && run_end.replace(flaw.offset + 1) == Some(flaw.offset)
            {
                continue;
            }
            let Some(group) = Group::of_flaw(flaw.kind) else { continue };
            let component = name(flaw.component);
            let mut add = |text: fmt::Arguments<'_>| add(group, flaw.component, flaw.offset, text);
            match flaw.kind {
                FlawKind::Illegal(byte) => add(format_args!("'{}' in the {component}", char::from(byte))),
                FlawKind::NonAscii(byte) | FlawKind::Control(byte) => {
                    add(format_args!("byte 0x{byte:02X} in the {component}"))
                }
                FlawKind::ColonInFirstSegment => {
                    add(format_args!("':' in the first path segment, without a scheme before it"))
                }
                FlawKind::SeveralAt => add(format_args!("more than one '@' before the host")),
                FlawKind::UnclosedBracket => add(format_args!("'[' without ']'")),
                FlawKind::BadAddress => add(format_args!("invalid address in brackets")),
                _ => add(format_args!("not a number up to 65535")),
            }
        }
    }

    fn found(&mut self, found: &Found<'_>) {
        let Some(group) = found.kind.group() else { return };
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
                // One finding of invalid UTF-8 for each value is enough. It must not be that of a component that is left out.
                Group::Utf8 if found.before & UTF8 != 0 && self.wanted.components.is_empty() => return None,
                Group::Utf8 => {
                    let _ = write!(text, "invalid UTF-8 after decoding, from byte 0x{:02X} on", found.byte);
                }
                Group::Double => {
                    push_escaped(text, &ahead[..5]);
                    text.push_str(" decodes to %");
                    push_escaped(text, &ahead[3..5]);
                }
                Group::Nul => push_escaped(text, spelling),
                Group::LineEnd => {
                    let before = &found.window[..found.window.len() - ahead.len()];
                    let is_return = |escape: &[u8]| simdpct::decode_escape(escape) == Some(b'\r');
                    if found.byte == b'\n' && before.last_chunk::<3>().is_some_and(|last| is_return(last)) {
                        // The finding of the carriage return before it includes this line feed.
                        return None;
                    }
                    let is_pair =
                        found.byte == b'\r' && ahead.get(3..).and_then(simdpct::decode_escape) == Some(b'\n');
                    push_escaped(text, &ahead[..if is_pair { 6 } else { 3 }]);
                    text.push_str(" is a line end");
                }
                _ => {
                    push_escaped(text, spelling);
                    text.push_str(" is ");
                    text.push(char::from(found.byte));
                }
            }
            Some(())
        });
    }
}

/// Appends `bytes` to `text`, escaped as in a byte string of Rust.
fn push_escaped(text: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || byte == b'%' {
            text.push(char::from(byte));
        } else {
            text.extend(byte.escape_ascii().map(char::from));
        }
    }
}
