//! What `pct check` says of what is found.

use std::fmt;

use simdpct::escapes;
use simdpct_uri::{Component, FlawKind, Offsets, split};

use super::finding::List;
use super::kind::Group;
use super::scanner::{Found, Observer, Scan, State};

/// The bytes after a `%` that must be there before it is looked at: `%25` and two digits.
pub const AHEAD: usize = 4;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    groups: Vec<Group>,
    /// The set of their kinds.
    kinds: u16,
    /// Those about URLs.
    of_urls: Vec<Group>,
    /// The components that findings must be in, if values are URLs; empty for any.
    components: Vec<Component>,
    /// What ends a record.
    end: u8,
}

impl Wanted {
    /// These kinds, in these components of URLs, or anywhere if there are none. Records end in `end`.
    pub fn new(groups: &[Group], components: &[Component], end: u8) -> Wanted {
        Wanted {
            groups: groups.to_vec(),
            kinds: groups.iter().fold(0, |kinds, group| kinds | group.kinds()),
            of_urls: groups.iter().copied().filter(|group| group.is_of_urls()).collect(),
            components: components.to_vec(),
            end,
        }
    }

    /// Whether `group` is looked for.
    pub fn contains(&self, group: Group) -> bool {
        self.groups.contains(&group)
    }

    /// Whether values are looked at as URLs.
    pub fn takes_urls(&self) -> bool {
        !self.of_urls.is_empty() || !self.components.is_empty()
    }

    /// Before the first line.
    pub fn state(&self) -> State {
        State::new(self.end, self.kinds, self.takes_urls())
    }

    /// Adds what is in `value` to `list`, by its offset in it.
    pub fn look(&self, value: &[u8], list: &mut List) {
        let mut listing = Listing { end: None, ..Listing::new(self, 0, list) };
        Scan { observer: &mut listing, state: &mut self.state() }.value(value);
    }

    /// Adds what is in whole `lines` to `list`, and returns their number.
    pub fn look_at_lines(&self, lines: &[u8], list: &mut List) -> u64 {
        let mut state = self.state();
        self.look_at_window(&mut state, lines, lines.len(), 0, true, list)
    }

    /// Adds what is in the first `ready` bytes of a `window` to `list`, and returns how many lines end. The offsets of the
    /// list are those of `state`, moved by `shift`; its lines are those after the first.
    pub fn look_at_window(
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

/// The component of the byte at `at` of a URL; its delimiters belong to what they begin.
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

/// Makes a list of what is found.
struct Listing<'a> {
    wanted: &'a Wanted,
    /// What ends a line; `None` if a value is looked at by itself.
    end: Option<u8>,
    /// The number of the last line that was split, and where its parts are.
    split: Option<(u64, Offsets)>,
    list: &'a mut List,
    /// What is to be added to offsets.
    shift: i64,
    /// The lines that ended.
    lines: u64,
}

impl<'a> Listing<'a> {
    fn new(wanted: &'a Wanted, shift: i64, list: &'a mut List) -> Listing<'a> {
        Listing { wanted, end: Some(wanted.end), split: None, list, shift, lines: 0 }
    }

    fn add(&mut self, group: Group, line: u64, offset: u64, text: fmt::Arguments<'_>) {
        self.list.add(group, line - 1, offset as i64 + self.shift, text);
    }

    /// The component that something was found in; `None` if the line is too long to be known as a URL.
    fn component_of(&mut self, found: &Found<'_>) -> Option<Component> {
        let start = found.line_start.checked_sub(found.base)?;
        let offsets = match self.split {
            Some((line, offsets)) if line == found.line => offsets,
            _ => {
                let line = &found.window[start as usize..];
                let end = self.end.and_then(|end| memchr::memchr(end, line));
                split(&line[..end.unwrap_or(line.len())]).offsets()
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

    fn url(&mut self, url: &[u8], line: u64, offset: u64) {
        let wanted = self.wanted;
        if wanted.of_urls.is_empty() {
            return;
        }
        // Where the last run of bytes that are not ASCII ends: of a run, the first is enough.
        let mut run_end = None;
        for flaw in split(url).flaws() {
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
            let at = offset + flaw.offset as u64;
            let component = name(flaw.component);
            match flaw.kind {
                FlawKind::Illegal(byte) => {
                    let byte = char::from(byte);
                    self.add(group, line, at, format_args!("'{byte}' in the {component}"));
                }
                FlawKind::NonAscii(byte) | FlawKind::Control(byte) => {
                    self.add(group, line, at, format_args!("byte 0x{byte:02X} in the {component}"));
                }
                FlawKind::ColonInFirstSegment => self.add(
                    group,
                    line,
                    at,
                    format_args!("':' in the first segment of a path without a scheme"),
                ),
                FlawKind::SeveralAt => {
                    self.add(group, line, at, format_args!("more than one '@' before the host"));
                }
                FlawKind::UnclosedBracket => self.add(group, line, at, format_args!("'[' without ']'")),
                FlawKind::BadAddress => self.add(group, line, at, format_args!("no address in brackets")),
                FlawKind::BadPort => {
                    self.add(group, line, at, format_args!("not a number of at most 65535"));
                }
                _ => {}
            }
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
        let (line, at) = (found.line, found.offset);
        let ahead = found.ahead();
        let spelling = |len: usize| ahead[..len.min(ahead.len())].escape_ascii();
        match group {
            Group::Malformed => {
                let start = &ahead[..ahead.len().min(3)];
                let shown = start.split(|&byte| byte == self.wanted.end || byte == b'\r').next();
                let shown = shown.unwrap_or_default().escape_ascii();
                let cause = escapes(start).find_map(Result::err).map(|escape| escape.cause);
                if let Some(cause) = cause {
                    self.add(group, line, at, format_args!("{shown}: {cause}"));
                }
            }
            // One in a record is enough.
            Group::Utf8 if found.before & group.kinds() != 0 => {}
            Group::Utf8 => {
                let byte = found.byte;
                self.add(
                    group,
                    line,
                    at,
                    format_args!("not UTF-8 after decoding, from byte 0x{byte:02X} on"),
                );
            }
            Group::Double => {
                let digits = ahead[3..5].escape_ascii();
                self.add(group, line, at, format_args!("{} decodes to %{digits}", spelling(5)));
            }
            Group::Nul => self.add(group, line, at, format_args!("{}", spelling(3))),
            Group::Separator | Group::Dot | Group::Needless => {
                let byte = char::from(found.byte);
                self.add(group, line, at, format_args!("{} is {byte}", spelling(3)));
            }
            Group::Illegal
            | Group::NonAscii
            | Group::Control
            | Group::Host
            | Group::Port
            | Group::Unreadable => {}
        }
    }

    fn line(&mut self, _: u64, _: u64) {
        self.lines += 1;
    }

    fn clean_lines(&mut self, count: u64) {
        self.lines += count;
    }
}

/// Its name in messages and options.
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

/// The component called `name`; or what to tell the person.
pub fn find_component(name: &str) -> Result<Component, String> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, component)| *component).ok_or_else(|| {
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("unknown component '{name}'; there are: {}", names.join(", "))
    })
}
