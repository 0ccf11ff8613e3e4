//! `pct check`: lists what is malformed or suspicious.

use simdpct::escapes;

use super::findings::Findings;
use super::kind::Group;
use super::scan::{Found, Observer, scan};
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
}

/// `pct check`.
pub fn check(request: &Request) -> Result<Outcome, Failure> {
    let mut listing = Listing {
        findings: Findings::new(request.quiet)?,
        wanted: request.wanted.iter().fold(0, |kinds, group| kinds | group.kinds()),
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
            let plural = if records == 1 { "" } else { "s" };
            listing.findings.summarize(format_args!("{records} {unit}{plural} ({bytes} bytes)"));
            read = outcome;
        }
        // Only findings are written, so there was one.
        Err(Failure::ReaderGone) => {}
        Err(failure) => return Err(failure),
    }
    read.map(|()| listing.findings.outcome())
}

/// The list of findings.
struct Listing {
    findings: Findings,
    wanted: u16,
    /// What ends a record.
    end: u8,
    file: String,
    records: u64,
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
    }

    fn escape(&mut self, _: u8) {}

    fn found(&mut self, found: &Found<'_>) {
        let Some(group) = found.kind.group() else { return };
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
            Group::Separator | Group::Dot => {
                let byte = char::from(found.byte);
                findings.add(group, place, format_args!("{} is {byte}", spelling(3)));
            }
        }
    }

    fn line(&mut self, _: u64, _: u64) {
        self.records += 1;
    }

    fn clean_lines(&mut self, count: u64) {
        self.records += count;
    }

    fn pause(&mut self) -> Result<bool, Failure> {
        self.findings.flush()?;
        Ok(!self.findings.settled())
    }
}
