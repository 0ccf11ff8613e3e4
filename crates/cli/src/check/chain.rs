//! Runs `pct audit --chain`: counts the request targets that the last server of a chain routes differently from the first.

use std::fmt::Write;

use memchr::{memchr, memchr_iter};
use serde::Serialize;
use simdpct_readings::{Agreement, Outcome as Answer, Reading, agreement};
use simdpct_records::{Field, Log, Spec, Syntax};

use super::audit::{self, WINDOW, read_through};
use super::page::{counted, grouped, pretty_json, serialize_bytes, share, visible};
use crate::common::error::{Failure, Outcome};
use crate::common::escape::to_text;
use crate::common::logs;
use crate::common::records::text_of;
use crate::io::BLOCK;
use crate::io::buffer::Buffer;
use crate::io::input::Input;

/// The options of `pct audit --chain`, besides those of all audits.
#[derive(Clone, Debug)]
pub struct Request {
    /// The readings: the ways in which servers read targets. The server in front is first. There are at least two.
    pub chain: Vec<&'static Reading>,
    /// The format of the log that has the targets; `None` if each line is a target.
    pub log: Option<Spec>,
    pub guard: Option<Guard>,
}

/// A rule for paths that the first server was meant to enforce.
#[derive(Clone, Debug)]
pub struct Guard {
    pub path: Vec<u8>,
    pub rule: Rule,
    pub ignore_case: bool,
}

/// The routes that a [`Guard`] matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Prefix,
    /// The path of the guard, and the paths below it.
    Segment,
    Exact,
}

impl Guard {
    fn matches(&self, route: &[u8]) -> bool {
        let Some((start, rest)) = route.split_at_checked(self.path.len()) else { return false };
        let starts =
            if self.ignore_case { start.eq_ignore_ascii_case(&self.path) } else { start == self.path };
        starts
            && match self.rule {
                Rule::Prefix => true,
                Rule::Segment => rest.is_empty() || rest[0] == b'/' || self.path.ends_with(b"/"),
                Rule::Exact => rest.is_empty(),
            }
    }
}

/// Runs `pct audit --chain`.
pub fn audit(base: &audit::Request, request: &Request) -> Result<Outcome, Failure> {
    let report = Report {
        chain: request.chain.iter().map(|reading| reading.name).collect(),
        guard: request.guard.as_ref().map(|guard| to_text(&guard.path).into_owned()),
        ..Report::default()
    };
    let (file, line, has_escape, has_non_ascii) = (Vec::new(), 0, false, false);
    let mut audit = Audit { base, request, syntax: None, report, file, line, has_escape, has_non_ascii };
    audit::run(base, &mut audit, Audit::scan, |audit| {
        audit.report.hint = (!audit.has_escape && audit.has_non_ascii).then_some(
            "no target has an escape, but some have bytes that clients escape: the log seems to hold decoded paths, which do not tell \
             which target was sent",
        );
        if base.json { pretty_json(&audit.report) } else { audit.text() }
    })
}

/// The report. Each target is counted in one of the fields from `same` to `not_routed_after`.
#[derive(Default, Serialize)]
struct Report {
    chain: Vec<&'static str>,
    guard: Option<String>,
    lines: u64,
    /// Lines without a request target, and lines that are longer than the buffer.
    unreadable: u64,
    targets: u64,
    same: u64,
    /// Targets whose routes differ only in case, or at the end of the path.
    spelling: u64,
    different: u64,
    /// Targets that the first server rejects or redirects.
    not_routed: u64,
    /// Targets that a later server rejects or redirects, or never gets.
    not_routed_after: u64,
    /// Targets whose route matches the rule at the last server, but not at the first.
    crossing: u64,
    /// The hint that the paths of the log seem to be decoded.
    hint: Option<&'static str>,
    examples: Vec<Example>,
}

/// A target whose routes differ.
#[derive(Serialize)]
struct Example {
    #[serde(serialize_with = "serialize_bytes")]
    file: Vec<u8>,
    line: u64,
    target: String,
    front: String,
    back: String,
}

struct Audit<'r> {
    base: &'r audit::Request,
    request: &'r Request,
    /// The syntax of the log, if the input is one.
    syntax: Option<Syntax>,
    report: Report,
    file: Vec<u8>,
    line: u64,
    has_escape: bool,
    has_non_ascii: bool,
}

/// Returns an error message if the values of `log` are not the targets that clients sent.
pub fn require_targets(log: Log) -> Result<(), String> {
    match log.layout.name {
        "cdx" => {
            Err("--log cdx: its records are no requests; decode its URLs first, and leave --log out"
                .to_owned())
        }
        layout if log.writer.decodes || ["w3c", "iis"].contains(&layout) => Err(format!(
            "--log {}: the log holds decoded paths, which do not tell which target was sent, so nothing can be said about \
             chains; use a log with the request line, such as combined",
            log.name()
        )),
        _ => Ok(()),
    }
}

impl Audit<'_> {
    /// Reads the lines of one input. Lines that are longer than the window are counted, and not read.
    fn scan(&mut self, input: &mut Input, window: &mut Buffer) -> Result<(), Failure> {
        input.exact_name().clone_into(&mut self.file);
        self.line = 0;
        let audit::Request { end, quiet, .. } = *self.base;
        let mut len = 0;
        if let Some(spec) = self.request.log {
            let mut log = spec.log;
            // The first lines determine the format.
            while log.is_none() && len < BLOCK {
                match input.read(&mut window[len..BLOCK])? {
                    0 => break,
                    read => len += read,
                }
            }
            if log.is_none() && len > 0 {
                log = Some(logs::detected(&window[..len], end, spec.wrapper, &input.name, quiet)?);
            }
            log.map_or(Ok(()), require_targets).map_err(Failure::Usage)?;
            let syntax = log.map(|log| Syntax::log(log, spec.wrapper, &[Field::Target]));
            self.syntax = syntax.transpose().map_err(Failure::Usage)?;
        }
        // The first `seen` bytes of the window have no line end. `too_long` means that the start of the line has left the window.
        let (mut seen, mut too_long) = (0, false);
        read_through(input, window, len, end, |bytes, is_last| {
            let mut from = 0;
            for at in memchr_iter(end, &bytes[seen..]).map(|at| seen + at) {
                self.record(if too_long { b"" } else { &bytes[from..at] });
                (from, too_long) = (at + 1, false);
            }
            if is_last && (from < bytes.len() || too_long) {
                self.record(if too_long { b"" } else { &bytes[from..] });
            }
            if bytes.len() - from == WINDOW {
                if let Some(syntax) = self.syntax.as_mut().filter(|_| !too_long) {
                    // The next records can depend on the start of this one.
                    let _ = syntax.find(&bytes[from..], &mut Vec::new());
                }
                (from, too_long) = (WINDOW, true);
            }
            seen = bytes.len() - from;
            from
        })
    }

    fn record(&mut self, record: &[u8]) {
        self.line += 1;
        self.report.lines += 1;
        let record = text_of(record, self.base.end, self.line == 1);
        let (mut places, mut buffer) = (Vec::new(), Vec::new());
        let target = match &mut self.syntax {
            None => Some(record).filter(|record| !record.is_empty()),
            Some(syntax) => {
                // The target can be valid even if another part of the record is not, so an error is ignored.
                let _ = syntax.find(record, &mut places);
                places.first().and_then(|place| place.value(record, &mut buffer).ok())
            }
        };
        match target {
            Some(target) => self.target(target),
            None => self.report.unreadable += 1,
        }
    }

    #[inline]
    fn target(&mut self, target: &[u8]) {
        self.report.targets += 1;
        if !self.has_escape {
            self.has_escape = memchr(b'%', target).is_some();
            self.has_non_ascii |= !target.is_ascii();
        }
        let front = self.request.chain[0].read(target);
        let Answer::Read { route, passed_on } = &front else {
            self.report.not_routed += 1;
            return;
        };
        let mut is_routed = false;
        if let Some(text) = passed_on {
            follow(&self.request.chain[1..], text, &mut |left, answer| {
                if let (0, Some(back)) = (left, answer.route()) {
                    is_routed = true;
                    self.compare(target, route, back);
                }
            });
        }
        self.report.not_routed_after += u64::from(!is_routed);
    }

    #[inline]
    fn compare(&mut self, target: &[u8], front: &[u8], back: &[u8]) {
        let agreement = agreement(front, back);
        match agreement {
            Agreement::Same => self.report.same += 1,
            Agreement::Spelling => self.report.spelling += 1,
            _ => self.report.different += 1,
        }
        let is_example = match &self.request.guard {
            None => agreement == Agreement::Different,
            Some(guard) => {
                let crosses = front != back && guard.matches(back) && !guard.matches(front);
                self.report.crossing += u64::from(crosses);
                crosses
            }
        };
        if is_example && self.report.examples.len() < self.base.examples {
            let [target, front, back] = [target, front, back].map(|bytes| to_text(bytes).into_owned());
            let (file, line) = (self.file.clone(), self.line);
            self.report.examples.push(Example { file, line, target, front, back });
        }
    }

    fn text(&self) -> String {
        let Report { chain, lines, unreadable, targets, hint, examples, .. } = &self.report;
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let (chain, count) = (chain.join(" -> "), counted(*targets, "target"));
        let mut text = format!("{chain}: {count} in {}\n\n", counted(*lines, "line"));
        let mut row = |label: &str, count: u64| {
            // Writing to a string does not fail, here and below.
            let _ = writeln!(text, "{label:58} {:>14} {:>8}", grouped(count), share(count, *targets));
        };
        row("the same route", self.report.same);
        row("routes that differ only in case or at the end of the path", self.report.spelling);
        row("different routes", self.report.different);
        row(&format!("not routed by {first}"), self.report.not_routed);
        row(&format!("not routed after {first}"), self.report.not_routed_after);
        if let Some(guard) = &self.request.guard {
            row(&format!("past the rule for {}", visible(&guard.path)), self.report.crossing);
        }
        if *unreadable > 0 {
            let _ = writeln!(text, "{:58} {:>14}", "lines without a target", grouped(*unreadable));
        }
        for Example { file, line, target, front, back } in examples {
            let _ = writeln!(text, "\n{}:{line}: {}", visible(file), visible(target.as_bytes()));
            for (name, route) in [(first, front), (last, back)] {
                let _ = writeln!(text, "    {name:24} {}", visible(route.as_bytes()));
            }
        }
        if let Some(hint) = hint {
            let _ = writeln!(text, "\nhint: {hint}");
        }
        text
    }
}

/// Passes `target` through `servers`: each reads the text that the one before passes on. After each server, calls
/// `each` with the number of servers that are left, and with the answer of the server.
pub(super) fn follow(servers: &[&'static Reading], target: &[u8], each: &mut impl FnMut(usize, &Answer<'_>)) {
    let Some((server, rest)) = servers.split_first() else { return };
    let answer = server.read(target);
    each(rest.len(), &answer);
    if let Some(text) = answer.passed_on() {
        follow(rest, text, each);
    }
}
