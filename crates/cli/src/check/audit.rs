//! Runs `pct audit`: counts the escapes and findings of files line by line, and keeps the first examples.

use std::cmp::Reverse;
use std::fmt::Write;

use serde::{Serialize, Serializer};
use simdpct_uri::Dialect;

use super::page::{Page, counted, grouped, pretty_json, print, push_row, serialize_bytes, share, visible};
use crate::check::kind::Kind;
use crate::check::scanner::{Found, Observer, Scan, State, ready};
use crate::common::error::{Failure, Outcome};
use crate::io::BLOCK;
use crate::io::buffer::Buffer;
use crate::io::input::{Input, Inputs, OnUnreadableInput};
use crate::io::names::Sources;

/// The options of `pct audit`, with or without `--chain`.
#[derive(Clone, Debug)]
pub struct Request {
    pub sources: Sources,
    /// The byte that ends a record.
    pub end: u8,
    /// The maximum number of examples: in total for `pct audit --chain`, otherwise for each kind of finding.
    pub examples: usize,
    pub json: bool,
    /// Whether the progress bar is off.
    pub quiet: bool,
}

/// The size, in bytes, of the window: the buffer through which an input is read.
pub(super) const WINDOW: usize = 4 * BLOCK;

/// The maximum number of bytes that an example shows before the finding.
const SHOWN_BEFORE: usize = 32;

/// The maximum number of bytes that an example shows from the start of the finding on.
const SHOWN_AFTER: usize = 64;

/// The maximum length, in bytes, of an escaped UTF-8 sequence. An invalid sequence is detected at its end, at most this
/// number of bytes after its start.
const LONGEST_SEQUENCE: usize = 12;

/// The number of scanned bytes that stay in the window, so that examples can show them.
const BEHIND: usize = SHOWN_BEFORE + LONGEST_SEQUENCE;

/// The smallest number of escapes in a line of each bucket. For example, lines with 3 or 4 escapes are in the bucket
/// that begins at 3.
const BUCKETS: [u64; 9] = [0, 1, 2, 3, 5, 9, 17, 33, 65];

/// The maximum number of rows in the histogram of escaped bytes.
const TOP: usize = 16;

/// Runs `pct audit`.
pub fn audit(request: &Request) -> Result<Outcome, Failure> {
    let mut audit = Audit { report: Report::new(), byte_counts: [0; 256], request, file: Vec::new() };
    run(request, &mut audit, Audit::scan, |audit| match request.json {
        true => pretty_json(audit.report()),
        false => audit.report().text(request.end == b'\0'),
    })
}

/// Passes each input to `scan`, with a buffer, and writes the report of `audit` at the end.
pub(super) fn run<A>(
    request: &Request,
    audit: &mut A,
    scan: impl Fn(&mut A, &mut Input, &mut Buffer) -> Result<(), Failure>,
    report: impl FnOnce(&mut A) -> String,
) -> Result<Outcome, Failure> {
    let mut inputs = Inputs::open(&request.sources, request.quiet, false, OnUnreadableInput::Done)?;
    let (mut window, mut has_input) = (Buffer::new(WINDOW), false);
    inputs.each(|input| {
        has_input = true;
        scan(audit, input, &mut window).map(|()| true)
    })?;
    let read = inputs.outcome().map(|()| Outcome::Clean);
    // Removes the progress bar before the report is written.
    drop(inputs);
    if !has_input && read.is_err() {
        return read;
    }
    print(report(audit).as_bytes(), read)
}

/// Reads `input` through `window`, which already has the first `len` bytes of the input. `scan` gets the bytes in the
/// window, and true if the input ends with them. `scan` returns the number of bytes that it no longer needs. After an
/// error, `scan` gets only whole lines, which end in `end`, because the error may have cut the last one.
pub(super) fn read_through(
    input: &mut Input,
    window: &mut Buffer,
    mut len: usize,
    end: u8,
    mut scan: impl FnMut(&[u8], bool) -> usize,
) -> Result<(), Failure> {
    loop {
        let read = match input.read(&mut window[len..]) {
            Ok(read) => read,
            Err(error) => {
                if let Some(last) = memchr::memrchr(end, &window[..len]) {
                    scan(&window[..=last], true);
                }
                return Err(error);
            }
        };
        len += read;
        let done = scan(&window[..len], read == 0);
        if read == 0 {
            return Ok(());
        }
        window.copy_within(done..len, 0);
        len -= done;
    }
}

/// The counts and examples of all files, as JSON has them.
#[derive(Default, Serialize)]
struct Report {
    files: u64,
    lines: u64,
    bytes: u64,
    longest_line: u64,
    escapes: u64,
    findings: [Findings; Kind::ALL.len()],
    escapes_per_line: [Bucket; BUCKETS.len()],
    escaped_bytes: Vec<EscapedByte>,
}

/// The findings of one kind.
#[derive(Default, Serialize)]
struct Findings {
    kind: &'static str,
    meaning: &'static str,
    /// The number of lines with a finding.
    lines: u64,
    found: u64,
    examples: Vec<Example>,
}

/// A line with a finding.
#[derive(Serialize)]
struct Example {
    #[serde(serialize_with = "serialize_bytes")]
    file: Vec<u8>,
    line: u64,
    /// The offset of the finding in the file.
    offset: u64,
    /// The bytes of the line around the finding.
    #[serde(serialize_with = "serialize_lossy")]
    text: Vec<u8>,
}

/// The lines with a number of escapes from `least` to `most`.
#[derive(Default, Serialize)]
struct Bucket {
    least: u64,
    most: Option<u64>,
    lines: u64,
}

/// The number of escapes of one byte.
#[derive(Serialize)]
struct EscapedByte {
    escape: String,
    count: u64,
    #[serde(skip)]
    byte: u8,
}

fn serialize_lossy<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

impl Report {
    fn new() -> Report {
        let mut report = Report::default();
        for (findings, kind) in report.findings.iter_mut().zip(Kind::ALL) {
            (findings.kind, findings.meaning) = (kind.name(), kind.description());
        }
        for (at, bucket) in report.escapes_per_line.iter_mut().enumerate() {
            (bucket.least, bucket.most) = (BUCKETS[at], BUCKETS.get(at + 1).map(|next| next - 1));
        }
        report
    }

    /// Formats the report as text. `null` means that records end in NUL and are not called lines.
    fn text(&self, null: bool) -> String {
        let page = Page::of_terminal();
        let (one, unit) = if null { ("record", "records") } else { ("line", "lines") };
        let Report { files, lines, bytes, longest_line, escapes, .. } = *self;
        let with_escapes = lines - self.escapes_per_line[0].lines;
        let (longest, of_lines) = (grouped(longest_line), share(with_escapes, lines));
        let [files, bytes] = [(files, "file"), (bytes, "byte")].map(|(count, unit)| counted(count, unit));
        let [counted_lines, with_escapes] = [lines, with_escapes].map(|count| counted(count, one));
        let mut text = format!("{counted_lines} in {files}, {bytes}, the longest of {longest}\n");
        // Writing to a `String` cannot fail, so errors are ignored here and below.
        let _ = writeln!(text, "{}, in {with_escapes} ({of_lines})\n", counted(escapes, "escape"));
        let _ = writeln!(text, "{:46} {unit:>14} {:>8} {:>14}", "Findings", "of all", "found");
        for Findings { meaning, lines: with, found, examples, .. } in &self.findings {
            let [of_all, with, found] = [share(*with, lines), grouped(*with), grouped(*found)];
            let _ = writeln!(text, "{meaning:46} {with:>14} {of_all:>8} {found:>14}");
            for Example { file, line, offset, text: bytes } in examples {
                let (file, bytes) = (visible(file), visible(bytes.trim_ascii_end()));
                let shown = format!("    {file}:{line}:{offset}: {bytes}");
                let cut = shown.char_indices().nth(page.width).map_or(shown.len(), |(cut, _)| cut);
                push_row(&mut text, &shown[..cut]);
            }
        }
        let _ = writeln!(text, "\nEscapes in one {one}");
        let row = |Bucket { least, most, lines }: &Bucket| match most {
            Some(most) if most == least => (least.to_string(), *lines),
            Some(most) => (format!("{least}-{most}"), *lines),
            None => (format!("{least} and more"), *lines),
        };
        push_histogram(&mut text, &page, self.escapes_per_line.iter().map(row).collect(), lines);
        let most = &self.escaped_bytes;
        if !most.is_empty() {
            let _ = writeln!(text, "\nBytes that are escaped most ({} of 256)", most.len());
            let rows = most.iter().take(TOP).map(|escaped| (spell(escaped), escaped.count)).collect();
            push_histogram(&mut text, &page, rows, escapes);
        }
        text
    }
}

/// Appends a row for each label and count in `rows`, with the count's share of `total` and a bar.
fn push_histogram(text: &mut String, page: &Page, rows: Vec<(String, u64)>, total: u64) {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    for (label, count) in rows {
        let start = format!("{label:>16} {:>14} {:>8} ", grouped(count), share(count, total));
        let columns = page.width.saturating_sub(start.len()).clamp(8, 60);
        push_row(text, &(start + &page.bar(count, most, columns)));
    }
}

/// Returns the escape, followed by the character or its name, if there is one.
fn spell(EscapedByte { escape, byte, .. }: &EscapedByte) -> String {
    let name = match *byte {
        b' ' => "space",
        b'\n' => "line feed",
        b'\r' => "return",
        b'\t' => "tab",
        0 => "nul",
        0x21..0x7F => return format!("{escape} {}", char::from(*byte)),
        0xC0..0xF8 => "UTF-8 lead",
        _ => return escape.clone(),
    };
    format!("{escape} {name}")
}

/// The observer that counts findings and collects examples.
struct Audit<'r> {
    report: Report,
    /// For each byte value, the number of escapes of that byte.
    byte_counts: [u64; 256],
    request: &'r Request,
    file: Vec<u8>,
}

impl Audit<'_> {
    /// Scans one input, one window of bytes at a time.
    fn scan(&mut self, input: &mut Input, window: &mut Buffer) -> Result<(), Failure> {
        input.exact_name().clone_into(&mut self.file);
        self.report.files += 1;
        let wanted = Kind::ALL.into_iter().fold(0, |kinds, kind| kinds | kind.bit());
        let mut state = State::new(self.request.end, wanted, false, Dialect::Rfc3986);
        // The number of bytes of the window that have been scanned.
        let mut seen = 0;
        let result = read_through(input, window, 0, self.request.end, |bytes, is_last| {
            let ready = if is_last { bytes.len() } else { ready(bytes, seen, SHOWN_AFTER) };
            Scan { observer: self, state: &mut state }.window(bytes, seen, ready, is_last);
            let done = ready.saturating_sub(BEHIND);
            state.advance(done);
            seen = ready - done;
            done
        });
        self.report.bytes += state.line_start;
        result
    }

    /// Returns the report with the byte values that are escaped at least once, the most frequent ones first.
    fn report(&mut self) -> &Report {
        let counts = (0..=u8::MAX).zip(self.byte_counts).filter(|(_, count)| *count > 0);
        let mut bytes: Vec<_> =
            counts.map(|(byte, count)| EscapedByte { escape: format!("%{byte:02X}"), count, byte }).collect();
        bytes.sort_by_key(|escaped| (Reverse(escaped.count), escaped.byte));
        self.report.escaped_bytes = bytes;
        &self.report
    }

    /// Handles the first finding of a kind in a line: counts the line, and keeps it as an example unless there are
    /// enough examples.
    fn first(&mut self, found: &Found<'_>) {
        let Found { kind, line, offset, line_start, window, base, .. } = *found;
        let findings = &mut self.report.findings[kind as usize];
        findings.lines += 1;
        if findings.examples.len() >= self.request.examples {
            return;
        }
        let start = line_start.max(offset.saturating_sub(SHOWN_BEFORE as u64)).max(base);
        let ahead = &found.ahead()[..found.ahead().len().min(SHOWN_AFTER)];
        let len = memchr::memchr(self.request.end, ahead).unwrap_or(ahead.len());
        let at = window.len() - found.ahead().len();
        let text = window[(start - base) as usize..at + len].to_vec();
        findings.examples.push(Example { file: self.file.clone(), line, offset, text });
    }
}

impl Observer for Audit<'_> {
    const EACH_LINE: bool = true;

    #[inline]
    fn escape(&mut self, byte: u8) {
        self.byte_counts[usize::from(byte)] += 1;
    }

    #[inline]
    fn found(&mut self, found: &Found<'_>) {
        self.report.findings[found.kind as usize].found += 1;
        if found.before & found.kind.bit() == 0 {
            self.first(found);
        }
    }

    #[inline]
    fn line(&mut self, len: u64, escapes: u64) {
        let report = &mut self.report;
        report.lines += 1;
        report.longest_line = report.longest_line.max(len);
        report.escapes += escapes;
        let bucket = BUCKETS.iter().rposition(|&least| escapes >= least).unwrap_or(0);
        report.escapes_per_line[bucket].lines += 1;
    }
}
