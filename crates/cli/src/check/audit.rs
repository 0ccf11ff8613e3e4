//! Runs `pct audit`: counts the escapes and findings of files line by line, and keeps the first examples.

use super::page;
use super::summary::{BUCKETS, Example, Summary};
use crate::check::kind::Kind;
use crate::check::scanner::{Found, Observer, Scan, State, ready};
use crate::common::error::{Failure, Outcome};
use crate::io::BLOCK;
use crate::io::buffer::Buffer;
use crate::io::input::{Input, Inputs, Others};
use crate::io::names::{Names, Sources};
use crate::io::output::Output;
use crate::io::progress::Progress;

/// The options of `pct audit`.
#[derive(Clone, Debug)]
pub struct Request {
    pub sources: Sources,
    /// The byte that ends a record.
    pub end: u8,
    /// The maximum number of examples for each kind of finding.
    pub examples: usize,
    pub json: bool,
    /// Whether the progress bar is off.
    pub quiet: bool,
}

/// The size of the read buffer, in bytes.
const WINDOW: usize = 4 * BLOCK;

/// The number of bytes that an example shows before the finding.
const SHOWN_BEFORE: usize = 32;

/// The maximum length, in bytes, of an escaped UTF-8 sequence. An invalid one is detected at its end, so its start is
/// at most this far behind.
const LONGEST_SEQUENCE: usize = 12;

/// The number of scanned bytes that stay in the window, so that examples can show them.
const BEHIND: usize = SHOWN_BEFORE + LONGEST_SEQUENCE;

/// Runs `pct audit`.
pub fn audit(request: &Request) -> Result<Outcome, Failure> {
    let mut audit = Audit::new(request.end, request.examples);
    let names = Names::new(&request.sources)?;
    let progress = Progress::start(names.known(), request.quiet, false);
    let mut inputs = Inputs::new(&request.sources, names, Others::Done, progress);
    let mut window = Buffer::new(WINDOW);
    inputs.each(|input| {
        let result = audit.scan(input, &mut window);
        audit.summary.bytes += input.offset();
        result.map(|()| true)
    })?;
    let read = inputs.outcome();
    // Removes the progress bar before the report is written.
    drop(inputs);
    if audit.summary.files == 0 && read.is_err() {
        return read.map(|()| Outcome::Clean);
    }
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

/// The observer that counts findings and collects examples.
struct Audit {
    summary: Summary,
    end: u8,
    /// The maximum number of examples for each kind of finding.
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

    /// Scans one input, one window of bytes at a time.
    fn scan(&mut self, input: &mut Input, window: &mut Buffer) -> Result<(), Failure> {
        input.name().clone_into(&mut self.file);
        self.summary.files += 1;
        let wanted = Kind::ALL.into_iter().fold(0, |kinds, kind| kinds | kind.bit());
        let mut state = State::new(self.end, wanted, false);
        // `seen` bytes of the window have been scanned, and `len` bytes have been read.
        let (mut seen, mut len) = (0, 0);
        loop {
            let read = input.read(&mut window[len..])?;
            len += read;
            let is_last = read == 0;
            let ready = if is_last { len } else { ready(&window[..len], seen, Self::AHEAD) };
            let mut scan = Scan { observer: &mut *self, state: &mut state };
            scan.window(&window[..len], seen, ready);
            if is_last {
                scan.finish(&window[..len]);
                return Ok(());
            }
            let kept = ready.saturating_sub(BEHIND);
            window.copy_within(kept..len, 0);
            state.advance(kept);
            (seen, len) = (ready - kept, len - kept);
        }
    }

    /// Handles the first finding of a kind in a line: counts the line, and keeps it as an example unless there are
    /// enough.
    fn first(&mut self, found: &Found<'_>) {
        let Found { kind, line, offset, line_start, window, base, .. } = *found;
        self.summary.lines_of[kind as usize] += 1;
        let examples = &mut self.summary.examples[kind as usize];
        if examples.len() >= self.examples {
            return;
        }
        let start = line_start.max(offset.saturating_sub(SHOWN_BEFORE as u64)).max(base);
        let from = (start - base) as usize;
        let at = (offset.max(base) - base) as usize;
        let ahead = &window[at..window.len().min(at + Self::AHEAD)];
        let len = memchr::memchr(self.end, ahead).unwrap_or(ahead.len());
        let text = window[from..at + len].to_vec();
        examples.push(Example { file: self.file.clone(), line, offset, text });
    }
}

impl Observer for Audit {
    // An example shows at most this number of bytes from the start of the finding on.
    const AHEAD: usize = 64;
    const EACH_LINE: bool = true;

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
}
