//! `pct check`: lists what is malformed or suspicious.

use simdpct::escapes;
use simdpct_uri::{Component, FlawKind, Offsets, split};

use super::findings::Findings;
pub use super::findings::Show;
use super::kind::Group;
use super::scan::{Found, Next, Observer, scan};
use crate::ground::error::{Failure, Outcome};
use crate::io::names::Sources;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub sources: Sources,
    /// What ends a record.
    pub end: u8,
    /// The kinds to list.
    pub wanted: Vec<Group>,
    /// Whether only the exit code matters.
    pub quiet: bool,
    /// The components that findings must be in, if lines are URLs; empty for any.
    pub components: Vec<Component>,
    /// What is written.
    pub show: Show,
    /// The most findings, if there is a limit.
    pub max: Option<u64>,
}

/// `pct check`.
pub fn check(request: &Request) -> Result<Outcome, Failure> {
    let mut listing = Listing {
        findings: Findings::new(request.quiet, request.show, request.max)?,
        wanted: request.wanted.iter().fold(0, |kinds, group| kinds | group.kinds()),
        of_urls: request.wanted.iter().copied().filter(|group| group.is_of_urls()).collect(),
        components: request.components.clone(),
        split: None,
        end: request.end,
        file: String::new(),
        records: 0,
    };
    let mut read = Ok(());
    match scan(&request.sources, request.end, &mut listing, request.quiet, true) {
        // Only the exit code matters, and it is known.
        Ok(_) if listing.findings.settled() => {}
        Ok((0, outcome @ Err(_))) => read = outcome,
        Ok((bytes, outcome)) => {
            let records = listing.records;
            let unit = if request.end == b'\0' { "record" } else { "line" };
            let plural = |count| if count == 1 { "" } else { "s" };
            let what = format!("{records} {unit}{} ({bytes} byte{})", plural(records), plural(bytes));
            listing.findings.summarize(&what);
            read = outcome;
        }
        // Only findings are written, so there was one.
        Err(Failure::ReaderGone) => {}
        Err(failure) => return Err(failure),
    }
    read.map(|()| listing.findings.outcome())
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

/// The list of findings.
struct Listing {
    findings: Findings,
    wanted: u16,
    /// Those about URLs.
    of_urls: Vec<Group>,
    /// The components that findings must be in; empty for any.
    components: Vec<Component>,
    /// The number of the last line that was split, and where its parts are.
    split: Option<(u64, Offsets)>,
    /// What ends a record.
    end: u8,
    file: String,
    records: u64,
}

impl Listing {
    /// The component that something was found in; `None` if the line is too long to be known as a URL.
    fn component_of(&mut self, found: &Found<'_>) -> Option<Component> {
        let start = found.line_start.checked_sub(found.base)?;
        let offsets = match self.split {
            Some((line, offsets)) if line == found.line => offsets,
            _ => {
                let line = &found.window[start as usize..];
                let line = &line[..memchr::memchr(self.end, line).unwrap_or(line.len())];
                split(line).offsets()
            }
        };
        self.split = Some((found.line, offsets));
        Some(component(offsets, found.offset.saturating_sub(found.line_start) as usize))
    }
}

impl Observer for Listing {
    const AHEAD: usize = 4;
    const BEHIND: usize = 0;
    const EACH_LINE: bool = false;

    fn wanted(&self) -> u16 {
        self.wanted
    }

    fn file(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        self.split = None;
        self.findings.file();
    }

    fn escape(&mut self, _: u8) {}

    fn takes_urls(&self) -> bool {
        !self.of_urls.is_empty() || !self.components.is_empty()
    }

    fn url(&mut self, url: &[u8], line: u64, offset: u64) {
        if self.of_urls.is_empty() {
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
            let Some(group) = Group::of_flaw(flaw.kind).filter(|group| self.of_urls.contains(group)) else {
                continue;
            };
            let is_elsewhere = !self.components.is_empty() && !self.components.contains(&flaw.component);
            if is_elsewhere {
                continue;
            }
            let place = (&*self.file, line, offset + flaw.offset as u64);
            let component = name(flaw.component);
            let findings = &mut self.findings;
            match flaw.kind {
                FlawKind::Illegal(byte) => {
                    let byte = char::from(byte);
                    findings.add(group, place, format_args!("'{byte}' in the {component}"));
                }
                FlawKind::NonAscii(byte) | FlawKind::Control(byte) => {
                    findings.add(group, place, format_args!("byte 0x{byte:02X} in the {component}"));
                }
                FlawKind::ColonInFirstSegment => findings.add(
                    group,
                    place,
                    format_args!("':' in the first segment of a path without a scheme"),
                ),
                FlawKind::SeveralAt => {
                    findings.add(group, place, format_args!("more than one '@' before the host"));
                }
                FlawKind::UnclosedBracket => findings.add(group, place, format_args!("'[' without ']'")),
                FlawKind::BadAddress => findings.add(group, place, format_args!("no address in brackets")),
                FlawKind::BadPort => {
                    findings.add(group, place, format_args!("not a number of at most 65535"));
                }
                _ => {}
            }
        }
    }

    fn found(&mut self, found: &Found<'_>) {
        let Some(group) = found.kind.group() else { return };
        if !self.components.is_empty()
            && let Some(component) = self.component_of(found)
            && !self.components.contains(&component)
        {
            return;
        }
        let place = (&*self.file, found.line, found.offset);
        let findings = &mut self.findings;
        let ahead = found.ahead();
        let spelling = |len: usize| ahead[..len.min(ahead.len())].escape_ascii();
        match group {
            Group::Malformed => {
                let start = &ahead[..ahead.len().min(3)];
                let shown = start.split(|&byte| byte == self.end || byte == b'\r').next();
                let shown = shown.unwrap_or_default().escape_ascii();
                let cause = escapes(start).find_map(Result::err).map(|escape| escape.cause);
                if let Some(cause) = cause {
                    findings.add(group, place, format_args!("{shown}: {cause}"));
                }
            }
            // One in a record is enough.
            Group::Utf8 if found.before & group.kinds() != 0 => {}
            Group::Utf8 => {
                let byte = found.byte;
                findings.add(
                    group,
                    place,
                    format_args!("not UTF-8 after decoding, from byte 0x{byte:02X} on"),
                );
            }
            Group::Double => {
                let digits = ahead[3..5].escape_ascii();
                findings.add(group, place, format_args!("{} decodes to %{digits}", spelling(5)));
            }
            Group::Nul => findings.add(group, place, format_args!("{}", spelling(3))),
            Group::Separator | Group::Dot | Group::Needless => {
                let byte = char::from(found.byte);
                findings.add(group, place, format_args!("{} is {byte}", spelling(3)));
            }
            Group::Illegal | Group::NonAscii | Group::Control | Group::Host | Group::Port => {}
        }
    }

    fn line(&mut self, _: u64, _: u64) {
        self.records += 1;
    }

    fn clean_lines(&mut self, count: u64) {
        self.records += count;
    }

    fn pause(&mut self) -> Result<Next, Failure> {
        self.findings.flush()?;
        Ok(self.findings.next())
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
