//! `pct audit`: one pass that counts what the escapes of a file hold, line by line.
//!
//! A line is looked at in pieces, as blocks cut it, so that it may be of any length. Most lines hold only printable
//! ASCII and some escapes: one vectorised look tells, and then only the `%` are visited.

use crate::args;
use crate::bars;
use crate::buffer::Buffer;
use crate::error::{Failure, Outcome};
use crate::input::{BLOCK, Inputs, Names};
use crate::output::Output;
use crate::progress::Progress;

/// The bytes that are read before any of them is looked at.
const WINDOW: usize = 4 * BLOCK;

/// A `%` is looked at when this many bytes behind it are there; they serve examples, too.
const AHEAD: usize = 64;

/// The bytes that are kept for examples when they have been looked at.
const BEHIND: usize = 32;

/// What a line can hold. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Malformed,
    Nul,
    Newline,
    Control,
    RawControl,
    Slash,
    Backslash,
    Dot,
    Double,
    Overlong,
    Utf8,
    LowerCase,
    Unreserved,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 13] = [
        Kind::Malformed,
        Kind::Nul,
        Kind::Newline,
        Kind::Control,
        Kind::RawControl,
        Kind::Slash,
        Kind::Backslash,
        Kind::Dot,
        Kind::Double,
        Kind::Overlong,
        Kind::Utf8,
        Kind::LowerCase,
        Kind::Unreserved,
    ];

    /// Its name in JSON, and what it means.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Kind::Malformed => ("malformed", "% without two hexadecimal digits"),
            Kind::Nul => ("nul", "%00"),
            Kind::Newline => ("newline", "escaped line end: %0A, %0D"),
            Kind::Control => ("control", "other escaped control byte"),
            Kind::RawControl => ("raw-control", "control byte as such, but no tab"),
            Kind::Slash => ("slash", "escaped /"),
            Kind::Backslash => ("backslash", "escaped \\"),
            Kind::Dot => ("dot", "escaped ."),
            Kind::Double => ("double", "escaped twice: %25 and two digits"),
            Kind::Overlong => ("overlong", "overlong UTF-8 after decoding"),
            Kind::Utf8 => ("utf8", "other invalid UTF-8 after decoding"),
            Kind::LowerCase => ("lower-case", "hexadecimal digits in lower case"),
            Kind::Unreserved => ("unreserved", "needless escape: A-Z a-z 0-9 - . _ ~"),
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The first line that a bucket of the number of escapes of a line takes; the next begins where it ends.
pub const BUCKETS: [u64; 9] = [0, 1, 2, 3, 5, 9, 17, 33, 65];

/// A line that holds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub file: String,
    pub line: u64,
    /// The number of bytes of the file before what was found.
    pub offset: u64,
    /// What stands around it in the line.
    pub text: Vec<u8>,
}

/// What was counted.
#[derive(Clone, Debug)]
pub struct Report {
    pub files: u64,
    pub bytes: u64,
    pub lines: u64,
    pub longest: u64,
    pub escapes: u64,
    /// Lines by their number of escapes, as [`BUCKETS`] says.
    pub buckets: [u64; BUCKETS.len()],
    /// How often each byte is escaped.
    pub byte_counts: [u64; 256],
    /// How many lines hold each kind, and how often it was found in all.
    pub lines_of: [u64; Kind::ALL.len()],
    pub found_of: [u64; Kind::ALL.len()],
    pub examples: [Vec<Example>; Kind::ALL.len()],
}

/// What an escape of each byte is, but for its spelling and UTF-8.
const KINDS_OF_BYTES: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            0 => Kind::Nul.bit(),
            b'\n' | b'\r' => Kind::Newline.bit(),
            0x01..0x20 | 0x7F => Kind::Control.bit(),
            b'/' => Kind::Slash.bit(),
            b'\\' => Kind::Backslash.bit(),
            b'.' => Kind::Dot.bit() | Kind::Unreserved.bit(),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => Kind::Unreserved.bit(),
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// `pct audit`.
pub fn audit(args: &args::Audit) -> Result<Outcome, Failure> {
    let end = if args.null { b'\0' } else { b'\n' };
    let names = Names::new(&args.files)?;
    let progress = Progress::start(names.known(), args.quiet, false);
    let mut scan = Scan::new(end, usize::from(args.examples));
    let mut window = Buffer::new(WINDOW);
    for input in Inputs::new(names, !args.files.no_decompress) {
        let mut input = input?;
        scan.begin(input.name());
        // What was looked at, and what was read.
        let (mut seen, mut len) = (0, 0);
        loop {
            let read = input.read(&mut window[len..])?;
            len += read;
            let is_last = read == 0;
            let ready = if is_last { len } else { ready(&window[..len], seen) };
            scan.window(&window[..len], seen, ready);
            if is_last {
                scan.finish(&window[..len]);
                break;
            }
            let kept = ready.saturating_sub(BEHIND);
            window.copy_within(kept..len, 0);
            scan.base += kept as u64;
            (seen, len) = (ready - kept, len - kept);
        }
    }
    drop(progress);
    let text = if args.json { bars::json(&scan.report)? } else { bars::text(&scan.report, args.null) };
    match Output::create(None)?.write(text.as_bytes()) {
        Err(Failure::ReaderGone) | Ok(()) => Ok(Outcome::Clean),
        Err(failure) => Err(failure),
    }
}

/// Up to where a window can be looked at: so that no escape, and no line end of two bytes, is cut.
fn ready(window: &[u8], seen: usize) -> usize {
    let ready = window.len().saturating_sub(AHEAD).max(seen);
    // The bytes up to `ready` that were not seen, and those behind it.
    match (&window[seen..ready], &window[ready..]) {
        ([.., b'%'], [high, low, ..]) if unescape(*high, *low).is_some() => ready - 1,
        ([.., b'%', high], [low, ..]) if unescape(*high, *low).is_some() => ready - 2,
        ([.., b'\r'], [b'\n', ..]) => ready - 1,
        _ => ready,
    }
}

struct Scan {
    report: Report,
    /// What ends a line.
    end: u8,
    examples: usize,
    file: String,
    /// The number of the line at hand, in this file.
    line: u64,
    /// The offset of the window in the file.
    base: u64,
    /// The offset of the line in the file.
    line_start: u64,
    /// The kinds and the number of escapes of the line so far.
    kinds: u16,
    escapes: u64,
    sequence: Sequence,
    /// Where the sequence at hand begins.
    sequence_start: u64,
}

impl Scan {
    fn new(end: u8, examples: usize) -> Scan {
        let report = Report {
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
        Scan {
            report,
            end,
            examples,
            file: String::new(),
            line: 1,
            base: 0,
            line_start: 0,
            kinds: 0,
            escapes: 0,
            sequence: Sequence::default(),
            sequence_start: 0,
        }
    }

    /// Begins a file.
    fn begin(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        self.report.files += 1;
        (self.line, self.base, self.line_start) = (1, 0, 0);
    }

    /// Looks at the bytes from `seen` to `ready`; those around them serve examples and the digits of escapes.
    fn window(&mut self, window: &[u8], seen: usize, ready: usize) {
        let mut from = seen;
        while from < ready {
            let Some(len) = memchr::memchr(self.end, &window[from..ready]) else {
                // `ready` stands before a `\r` that may belong to the line end.
                self.piece(window, from, ready);
                break;
            };
            let end = from + len;
            let is_crlf = self.end == b'\n' && window[from..end].last() == Some(&b'\r');
            self.piece(window, from, end - usize::from(is_crlf));
            self.end_line(window, end);
            from = end + 1;
        }
        self.report.bytes += (ready - seen) as u64;
    }

    /// Looks at a piece of a line.
    fn piece(&mut self, window: &[u8], from: usize, to: usize) {
        if is_printable(&window[from..to]) {
            self.printable(window, from, to);
            return;
        }
        // Most of it may still be.
        let mut at = from;
        while at < to {
            let end = to.min(at + 32);
            at = if is_printable(&window[at..end]) {
                self.printable(window, at, end)
            } else {
                self.bytes(window, at, end)
            };
        }
    }

    /// Looks at ASCII without control bytes; the last escape may reach further than that. Returns where what was
    /// looked at ends.
    fn printable(&mut self, window: &[u8], from: usize, to: usize) -> usize {
        let mut at = from;
        while at < to {
            // Escapes often follow one another.
            if window[at] != b'%' {
                self.interrupt(window);
                match memchr::memchr(b'%', &window[at..to]) {
                    Some(found) => at += found,
                    None => return to,
                }
            }
            at = self.percent(window, at);
        }
        at
    }

    /// The same for any bytes.
    fn bytes(&mut self, window: &[u8], from: usize, to: usize) -> usize {
        let mut at = from;
        while at < to {
            let byte = window[at];
            if byte == b'%' {
                at = self.percent(window, at);
                continue;
            }
            if is_control(byte) {
                self.found(Kind::RawControl, window, self.base + at as u64);
            }
            self.byte(byte, window, at);
            at += 1;
        }
        at
    }

    /// Looks at a `%`, and returns where what it starts ends. No digit ends a line, so that the digits need not be
    /// told from what follows the line.
    #[inline]
    fn percent(&mut self, window: &[u8], at: usize) -> usize {
        let byte = match window[at..] {
            [_, high, low, ..] => unescape(high, low),
            _ => None,
        };
        let Some(byte) = byte else {
            self.interrupt(window);
            self.found(Kind::Malformed, window, self.base + at as u64);
            return at + 1;
        };
        self.escapes += 1;
        self.report.byte_counts[usize::from(byte)] += 1;
        let mut kinds = KINDS_OF_BYTES[usize::from(byte)];
        // Of the hexadecimal digits, only lower-case letters are above 0x60.
        kinds |= Kind::LowerCase.bit() * u16::from(window[at + 1].max(window[at + 2]) > 0x60);
        if byte == b'%' && matches!(window[at + 3..], [high, low, ..] if unescape(high, low).is_some()) {
            kinds |= Kind::Double.bit();
        }
        while kinds != 0 {
            self.found(Kind::ALL[kinds.trailing_zeros() as usize], window, self.base + at as u64);
            kinds &= kinds - 1;
        }
        self.byte(byte, window, at);
        at + 3
    }

    /// Takes the next byte after decoding, which stands at `at`.
    #[inline]
    fn byte(&mut self, byte: u8, window: &[u8], at: usize) {
        if byte.is_ascii() {
            self.interrupt(window);
            return;
        }
        if !self.sequence.is_open() || !matches!(byte, 0x80..0xC0) {
            self.interrupt(window);
            self.sequence_start = self.base + at as u64;
        }
        if let Some(kind) = self.sequence.push(byte) {
            self.found(kind, window, self.sequence_start);
        }
    }

    /// Takes a byte that belongs to no sequence of several bytes.
    #[inline]
    fn interrupt(&mut self, window: &[u8]) {
        if self.sequence.is_open() {
            self.sequence = Sequence::default();
            self.found(Kind::Utf8, window, self.sequence_start);
        }
    }

    /// Counts something that stands at `offset` of the file.
    #[inline]
    fn found(&mut self, kind: Kind, window: &[u8], offset: u64) {
        self.report.found_of[kind as usize] += 1;
        if self.kinds & kind.bit() == 0 {
            self.kinds |= kind.bit();
            self.first(kind, window, offset);
        }
    }

    /// Counts a line for `kind`, and keeps it as an example if there are too few.
    fn first(&mut self, kind: Kind, window: &[u8], offset: u64) {
        self.report.lines_of[kind as usize] += 1;
        let examples = &mut self.report.examples[kind as usize];
        if examples.len() >= self.examples {
            return;
        }
        let start = self.line_start.max(offset.saturating_sub(BEHIND as u64)).max(self.base);
        let from = (start - self.base) as usize;
        let at = (offset.max(self.base) - self.base) as usize;
        let ahead = &window[at..window.len().min(at + AHEAD)];
        let len = memchr::memchr(self.end, ahead).unwrap_or(ahead.len());
        let text = window[from..at + len].to_vec();
        examples.push(Example { file: self.file.clone(), line: self.line, offset, text });
    }

    fn end_line(&mut self, window: &[u8], end: usize) {
        self.interrupt(window);
        let next = self.base + end as u64 + 1;
        self.count_line(next - 1 - self.line_start);
        self.line_start = next;
    }

    fn count_line(&mut self, len: u64) {
        let report = &mut self.report;
        report.lines += 1;
        report.longest = report.longest.max(len);
        report.escapes += self.escapes;
        let bucket = BUCKETS.iter().rposition(|&least| self.escapes >= least).unwrap_or(0);
        report.buckets[bucket] += 1;
        self.line += 1;
        (self.kinds, self.escapes) = (0, 0);
    }

    /// Ends a file whose last window has been looked at.
    fn finish(&mut self, window: &[u8]) {
        let end = self.base + window.len() as u64;
        if end > self.line_start {
            self.interrupt(window);
            self.count_line(end - self.line_start);
        }
    }
}

/// The byte of an escape with these digits, if that is what they are.
#[inline]
fn unescape(high: u8, low: u8) -> Option<u8> {
    let (high, low) = (DIGITS[usize::from(high)], DIGITS[usize::from(low)]);
    ((high | low) & 0xF0 == 0).then_some(high << 4 | low)
}

/// The value of each digit, and 0xFF for all other bytes.
const DIGITS: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// A tab separates fields of logs, so it is not counted.
fn is_control(byte: u8) -> bool {
    byte < 0x20 && byte != b'\t' || byte == 0x7F
}

/// Whether `piece` is ASCII without control bytes.
fn is_printable(piece: &[u8]) -> bool {
    // Without an early exit within a chunk, so that it compiles to vector code.
    let is_other = |byte: u8| u8::from(!byte.is_ascii()) | u8::from(is_control(byte));
    let (chunks, rest) = piece.as_chunks::<64>();
    let all = |bytes: &[u8]| bytes.iter().fold(0, |any, &byte| any | is_other(byte)) == 0;
    chunks.iter().all(|chunk| all(chunk)) && all(rest)
}

/// A UTF-8 sequence, judged by its structure: a first byte says how many follow, whatever they make.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    /// The bytes that are missing; 0 between sequences.
    missing: u8,
    least: u32,
    code_point: u32,
}

impl Sequence {
    fn is_open(self) -> bool {
        self.missing > 0
    }

    /// Takes a byte that is not ASCII: a first one, or one that follows an open sequence. Returns what is wrong
    /// with the sequence, once it is over.
    fn push(&mut self, byte: u8) -> Option<Kind> {
        if !self.is_open() {
            let (missing, least) = match byte {
                0xC0..0xE0 => (1, 0x80),
                0xE0..0xF0 => (2, 0x800),
                0xF0..0xF8 => (3, 0x1_0000),
                _ => return Some(Kind::Utf8),
            };
            *self = Sequence { missing, least, code_point: u32::from(byte) & (0x3F >> missing) };
            return None;
        }
        self.code_point = self.code_point << 6 | u32::from(byte & 0x3F);
        self.missing -= 1;
        if self.is_open() {
            None
        } else if self.code_point < self.least {
            Some(Kind::Overlong)
        } else if char::from_u32(self.code_point).is_none() {
            Some(Kind::Utf8)
        } else {
            None
        }
    }
}
