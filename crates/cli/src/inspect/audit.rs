//! `pct audit`: counts what the escapes of files hold, line by line, and keeps the first examples.

use super::kind::Kind;
use super::page;
use super::scan::{Found, Observer, scan};
use super::summary::{BUCKETS, Example, Summary};
use crate::ground::error::{Failure, Outcome};
use crate::io::names::Sources;
use crate::io::output::Output;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub sources: Sources,
    /// What ends a line.
    pub end: u8,
    /// The most examples of each kind.
    pub examples: usize,
    pub json: bool,
    /// Whether no progress bar is wanted.
    pub quiet: bool,
}

/// `pct audit`.
pub fn audit(request: &Request) -> Result<Outcome, Failure> {
    let mut audit = Audit::new(request.end, request.examples);
    let (bytes, read) = scan(&request.sources, request.end, &mut audit, request.quiet, false)?;
    if audit.summary.files == 0 && read.is_err() {
        return read.map(|()| Outcome::Clean);
    }
    audit.summary.bytes = bytes;
    let text = if request.json {
        page::json(&audit.summary)?
    } else {
        page::text(&audit.summary, request.end == b'\0')
    };
    match Output::stdout()?.write(text.as_bytes()) {
        Err(Failure::ReaderGone) | Ok(()) => read.map(|()| Outcome::Clean),
        Err(failure) => Err(failure),
    }
}

/// Counts.
struct Audit {
    summary: Summary,
    end: u8,
    /// The most examples of each kind.
    examples: usize,
    file: String,
}

impl Audit {
    fn new(end: u8, examples: usize) -> Audit {
        let summary = Summary {
            files: 0,
            bytes: 0,
            lines: 0,
            longest: 0,
            escapes: 0,
            buckets: [0; BUCKETS.len()],
            byte_counts: [0; 256],
            lines_of: [0; Kind::ALL.len()],
            found_of: [0; Kind::ALL.len()],
            examples: Default::default(),
        };
        Audit { summary, end, examples, file: String::new() }
    }

    /// Counts a line for a kind, and keeps it as an example if there are too few.
    fn first(&mut self, found: &Found<'_>) {
        let Found { kind, line, offset, line_start, window, base, .. } = *found;
        self.summary.lines_of[kind as usize] += 1;
        let examples = &mut self.summary.examples[kind as usize];
        if examples.len() >= self.examples {
            return;
        }
        let start = line_start.max(offset.saturating_sub(Self::BEHIND as u64)).max(base);
        let from = (start - base) as usize;
        let at = (offset.max(base) - base) as usize;
        let ahead = &window[at..window.len().min(at + Self::AHEAD)];
        let len = memchr::memchr(self.end, ahead).unwrap_or(ahead.len());
        let text = window[from..at + len].to_vec();
        examples.push(Example { file: self.file.clone(), line, offset, text });
    }
}

impl Observer for Audit {
    // They serve examples, too.
    const AHEAD: usize = 64;
    const BEHIND: usize = 32;
    const EACH_LINE: bool = true;

    fn wanted(&self) -> u16 {
        Kind::ALL.into_iter().fold(0, |kinds, kind| kinds | kind.bit())
    }

    fn file(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        self.summary.files += 1;
    }

    #[inline]
    fn escape(&mut self, byte: u8) {
        self.summary.byte_counts[usize::from(byte)] += 1;
    }

    #[inline]
    fn found(&mut self, found: &Found<'_>) {
        self.summary.found_of[found.kind as usize] += 1;
        if found.before & found.kind.bit() == 0 {
            self.first(found);
        }
    }

    #[inline]
    fn line(&mut self, len: u64, escapes: u64) {
        let summary = &mut self.summary;
        summary.lines += 1;
        summary.longest = summary.longest.max(len);
        summary.escapes += escapes;
        let bucket = BUCKETS.iter().rposition(|&least| escapes >= least).unwrap_or(0);
        summary.buckets[bucket] += 1;
    }

    fn clean_lines(&mut self, _: u64) {}

    fn pause(&mut self) -> Result<bool, Failure> {
        Ok(true)
    }
}
