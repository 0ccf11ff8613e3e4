//! Finds malformed and suspicious escapes in lines or single values.
//!
//! The scanner reads the input through a window, a buffer that contains a part of it. A line may have any length,
//! because it is scanned in pieces if the window does not contain all of it. Most lines contain only printable text and
//! some escapes, so vectorised searches skip the text.

use simdpct::{AsciiSet, sets};
use simdpct_uri::Dialect;

use super::kind::Kind;

/// The kinds that depend on UTF-8, as a bit mask.
pub(super) const UTF8: u16 = Kind::Utf8.bit() | Kind::Overlong.bit();

/// Receives the findings of the scanner.
pub trait Observer {
    /// Whether the observer needs a call of [`Observer::line`] for each line. Otherwise lines without findings are
    /// skipped together.
    const EACH_LINE: bool;

    /// Receives a line without its line end, or a single value, and its number and offset, if lines are checked as URLs.
    /// The scanner omits a line whose start has left the window.
    fn url(&mut self, _url: &[u8], _line: u64, _offset: u64) {}

    /// Receives an escape that stands for `byte`.
    fn escape(&mut self, _byte: u8) {}

    /// Receives a finding.
    fn found(&mut self, found: &Found<'_>);

    /// Receives the end of a line, with its number of escapes and its length in bytes, which includes a `\r` before the line end.
    fn line(&mut self, _len: u64, _escapes: u64) {}
}

/// A finding of the scanner.
pub struct Found<'w> {
    pub kind: Kind,
    /// The set of the kinds that were found earlier in the same line, as a bit mask.
    pub before: u16,
    /// The byte that the escape stands for, the first byte of an invalid UTF-8 sequence, the unescaped control byte, or the `%` of a
    /// malformed escape.
    pub byte: u8,
    /// The line number in the file, from 1.
    pub line: u64,
    /// The offset of the finding in the file.
    pub offset: u64,
    /// The offset of the line in the file.
    pub line_start: u64,
    /// The window that contains the finding. If the finding is an invalid UTF-8 sequence, it may begin before the
    /// window.
    pub window: &'w [u8],
    /// The offset of the window in the file.
    pub base: u64,
}

impl<'w> Found<'w> {
    /// Returns the bytes of the window from the start of the finding on.
    pub fn ahead(&self) -> &'w [u8] {
        &self.window[(self.offset.max(self.base) - self.base) as usize..]
    }
}

/// Returns the number of bytes of `window` that can be scanned without cutting an escape or a CRLF, escaped or not. The first `seen`
/// bytes have been scanned before. At least `ahead` bytes at the end stay unscanned.
pub fn ready(window: &[u8], seen: usize, ahead: usize) -> usize {
    let ready = window.len().saturating_sub(ahead).max(seen);
    // The first slice of each pair ends at the cut `ready`, and the second slice begins there.
    let ready = match (&window[seen..ready], &window[ready..]) {
        ([.., b'%'], [high, low, ..]) if is_escape(*high, *low) => ready - 1,
        ([.., b'%', high], [low, ..]) if is_escape(*high, *low) => ready - 2,
        ([.., b'\r'], [b'\n', ..]) => ready - 1,
        _ => ready,
    };
    match (&window[seen..ready], &window[ready..]) {
        ([.., b'%', b'0', b'd' | b'D'], [b'%', b'0', b'a' | b'A', ..]) => ready - 3,
        _ => ready,
    }
}

/// For each byte value, the kinds of findings for an escape of this byte, by RFC 3986, RFC 2396 and RFC 1738. Kinds
/// that depend on UTF-8 or on the spelling of the escape are not in this table.
static KINDS_OF_BYTES: [[u16; 256]; 3] = [
    kinds_of_bytes(sets::RFC3986_UNRESERVED),
    kinds_of_bytes(sets::RFC2396_UNRESERVED),
    kinds_of_bytes(sets::RFC1738_UNRESERVED),
];

/// Returns the kinds of findings for an escape of each byte, by `dialect`.
#[inline]
pub(super) fn kinds_of(dialect: Dialect) -> &'static [u16; 256] {
    &KINDS_OF_BYTES[match dialect {
        Dialect::Rfc1738 => 2,
        Dialect::Rfc2396 => 1,
        _ => 0,
    }]
}

const fn kinds_of_bytes(unreserved: AsciiSet) -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            0 => Kind::Nul.bit(),
            b'\n' | b'\r' => Kind::LineEnd.bit(),
            0x01..0x20 | 0x7F => Kind::Control.bit(),
            b'/' => Kind::Slash.bit(),
            b'\\' => Kind::Backslash.bit(),
            b'.' => Kind::Dot.bit(),
            _ => 0,
        };
        if unreserved.contains(byte as u8) {
            table[byte] |= Kind::Unreserved.bit();
        }
        byte += 1;
    }
    table
}

/// The state of a scan, which is kept from one window to the next.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The set of the kinds that are reported, as a bit mask.
    wanted: u16,
    /// Whether lines are passed to [`Observer::url`].
    takes_urls: bool,
    /// The kinds of findings for an escape of each byte.
    kinds_of_bytes: &'static [u16],
    /// The byte that ends a line.
    end: u8,
    /// The number of the current line.
    pub(super) line: u64,
    /// The offset of the window in the file.
    pub base: u64,
    /// The offset of the current line in the file.
    pub(super) line_start: u64,
    /// The set of the kinds that were found in the current line, as a bit mask.
    kinds: u16,
    /// The number of escapes in the current line.
    escapes: u64,
    sequence: Sequence,
    /// The offset of the current UTF-8 sequence in the file.
    sequence_start: u64,
}

impl State {
    /// Creates the state before the first line. Lines end in `end`, and the kinds in `wanted` are reported. `dialect` decides which
    /// escapes are needless.
    pub fn new(end: u8, wanted: u16, takes_urls: bool, dialect: Dialect) -> State {
        let kinds_of_bytes = kinds_of(dialect);
        State { wanted, takes_urls, kinds_of_bytes, end, line: 1, ..State::default() }
    }

    /// Moves the window forward by `len` bytes.
    pub fn advance(&mut self, len: usize) {
        self.base += len as u64;
    }

    fn count_line(&mut self, next: u64) {
        self.line += 1;
        self.line_start = next;
        (self.kinds, self.escapes) = (0, 0);
    }
}

/// A scanner of windows, which reports to an observer.
pub struct Scan<'o, O> {
    pub observer: &'o mut O,
    pub state: &'o mut State,
}

impl<O: Observer> Scan<'_, O> {
    /// Scans a single value, which may contain any bytes.
    pub fn value(&mut self, value: &[u8]) {
        self.piece(value, 0, value.len());
        self.end_line(value, value.len(), value.len());
    }

    /// Scans the bytes of `window` from `seen` to `ready`. The bytes outside this range are read for examples and for
    /// the digits of escapes. `is_last` says whether the input ends with the window.
    pub fn window(&mut self, window: &[u8], seen: usize, ready: usize, is_last: bool) {
        let mut from = seen;
        while from < ready {
            if !O::EACH_LINE && !self.state.takes_urls {
                from = self.skip(window, from, ready);
            }
            let Some(len) = memchr::memchr(self.state.end, &window[from..ready]) else {
                // No line ends before `ready`: the rest of the line is in the next window, or the input ends. `ready`
                // never separates a `\r` from its `\n`.
                self.piece(window, from, ready);
                break;
            };
            let end = from + len;
            let is_crlf = self.state.end == b'\n' && window[from..end].last() == Some(&b'\r');
            let stop = end - usize::from(is_crlf);
            self.piece(window, from, stop);
            self.end_line(window, stop, end);
            self.state.count_line(self.state.base + end as u64 + 1);
            from = end + 1;
        }
        let end = self.state.base + window.len() as u64;
        if is_last && end > self.state.line_start {
            self.end_line(window, window.len(), window.len());
            self.state.count_line(end);
        }
    }

    /// Passes a line to the observer. Its text ends at `stop` of the window, and its line end is at `end`.
    fn end_line(&mut self, window: &[u8], stop: usize, end: usize) {
        self.interrupt(window);
        let State { base, line, line_start, escapes, takes_urls, .. } = *self.state;
        if takes_urls && let Some(start) = line_start.checked_sub(base) {
            self.observer.url(&window[start as usize..stop], line, line_start);
        }
        self.observer.line(base + end as u64 - line_start, escapes);
    }

    /// Skips complete lines that contain neither a `%` nor a finding, and returns the end of the last one.
    fn skip(&mut self, window: &[u8], from: usize, ready: usize) -> usize {
        let clean = memchr::memchr(b'%', &window[from..ready]).map_or(ready, |found| from + found);
        let Some(last) = memchr::memrchr(self.state.end, &window[from..clean]) else { return from };
        let lines = &window[from..=from + last];
        if self.state.sequence.is_open() || !self.is_clean(lines) {
            return from;
        }
        let next = from + lines.len();
        self.state.line += memchr::memchr_iter(self.state.end, &lines[..last]).count() as u64;
        self.state.count_line(self.state.base + next as u64);
        next
    }

    /// Scans a piece of a line, from `from` to `to` of the window.
    fn piece(&mut self, window: &[u8], from: usize, to: usize) {
        let is_clean = self.is_clean(&window[from..to]);
        let mut at = from;
        while at < to {
            let byte = window[at];
            if byte == b'%' {
                at = self.percent(window, at);
                continue;
            }
            let plain = if is_clean {
                memchr::memchr(b'%', &window[at..to]).unwrap_or(to - at)
            } else if window[at..to].first_chunk().is_some_and(|chunk| is_plain(chunk, b'%')) {
                16
            } else {
                // The bytes after the piece are read, so that the last bytes of the piece need no loop of their own.
                window[at..].first_chunk().map_or(0, plain).min(to - at)
            };
            if plain > 0 {
                self.interrupt(window);
                at += plain;
                continue;
            }
            // Tabs are common in logs, so they are no findings. Plain bytes near the end of a window come here, too.
            if byte.is_ascii_control() && byte != b'\t' {
                self.found(Kind::RawControl, byte, window, self.state.base + at as u64);
            }
            self.byte(byte, window, at);
            at += 1;
        }
    }

    /// Reports whether `piece` is known to contain findings only at a `%`.
    fn is_clean(&self, piece: &[u8]) -> bool {
        if self.state.wanted & Kind::RawControl.bit() == 0 {
            return self.state.wanted & UTF8 == 0 || simdutf8::basic::from_utf8(piece).is_ok();
        }
        // The last chunk overlaps the one before it. A `%` is no finding by itself, but a DEL is.
        let is_text = |bytes: &[u8; 16]| is_plain(bytes, 0x7F);
        piece.last_chunk().is_some_and(|last| is_text(last) && piece.as_chunks().0.iter().all(is_text))
    }

    /// Scans the escape at `at`, and returns its end. The digits may be read past the end of the line, because no
    /// line end is a digit.
    #[inline]
    fn percent(&mut self, window: &[u8], at: usize) -> usize {
        let offset = self.state.base + at as u64;
        let Some(byte) = simdpct::decode_escape(&window[at..]) else {
            self.interrupt(window);
            self.found(Kind::Malformed, b'%', window, offset);
            return at + 1;
        };
        self.state.escapes += 1;
        self.observer.escape(byte);
        // If this byte interrupts a UTF-8 sequence, the sequence is reported before the escape.
        self.byte(byte, window, at);
        let mut kinds = self.state.kinds_of_bytes[usize::from(byte)];
        // Lower-case letters are the only hexadecimal digits above 0x60.
        kinds |= Kind::LowerCase.bit() * u16::from(window[at + 1].max(window[at + 2]) > 0x60);
        if byte == b'%' && matches!(window[at + 3..], [high, low, ..] if is_escape(high, low)) {
            kinds |= Kind::Double.bit();
        }
        kinds &= self.state.wanted;
        while kinds != 0 {
            self.found(Kind::ALL[kinds.trailing_zeros() as usize], byte, window, offset);
            kinds &= kinds - 1;
        }
        at + 3
    }

    /// Processes the byte at `at` of the window, decoded if it is escaped, as a part of UTF-8 text.
    #[inline]
    fn byte(&mut self, byte: u8, window: &[u8], at: usize) {
        if byte.is_ascii() {
            self.interrupt(window);
            return;
        }
        if !self.state.sequence.is_open() || !matches!(byte, 0x80..0xC0) {
            self.interrupt(window);
            self.state.sequence_start = self.state.base + at as u64;
        }
        if let Some(kind) = self.state.sequence.push(byte) {
            self.found(kind, self.state.sequence.first, window, self.state.sequence_start);
        }
    }

    /// Ends an incomplete UTF-8 sequence, if there is one, and reports it.
    #[inline]
    fn interrupt(&mut self, window: &[u8]) {
        if self.state.sequence.is_open() {
            let first = std::mem::take(&mut self.state.sequence).first;
            self.found(Kind::Utf8, first, window, self.state.sequence_start);
        }
    }

    /// Reports a finding at `offset` of the file to the observer, if its kind is wanted.
    #[inline]
    fn found(&mut self, kind: Kind, byte: u8, window: &[u8], offset: u64) {
        if self.state.wanted & kind.bit() == 0 {
            return;
        }
        let State { line, line_start, base, kinds: before, .. } = *self.state;
        self.observer.found(&Found { kind, before, byte, line, offset, line_start, window, base });
        self.state.kinds |= kind.bit();
    }
}

/// Reports whether `high` and `low` are the digits of an escape.
#[inline]
fn is_escape(high: u8, low: u8) -> bool {
    high.is_ascii_hexdigit() && low.is_ascii_hexdigit()
}

/// Reports whether none of `bytes` is `special`, a control byte or not ASCII. Tabs count as text, because they are common in logs.
#[inline]
fn is_plain(bytes: &[u8; 16], special: u8) -> bool {
    // As a signed number, a byte that is not ASCII is negative.
    let is_control = |byte: u8| (byte.cast_signed() < 0x20) & (byte != b'\t');
    let is_other = |byte: u8| is_control(byte) | (byte == 0x7F) | (byte == special);
    // The loop has no early exit, so that it compiles to vector code.
    !bytes.iter().fold(false, |any, &byte| any | is_other(byte))
}

/// Returns the number of bytes before the first one that is a control byte other than a tab, a `%` or not ASCII.
#[inline]
fn plain(bytes: &[u8; 8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    let word = u64::from_le_bytes(*bytes);
    // The highest bit of each byte is the answer for that byte. The additions carry nothing into the next byte.
    let low = word & (0x7F * ONES);
    let is_not = |byte: u8| (low ^ (u64::from(byte) * ONES)) + 0x7F * ONES;
    let (is_text, is_delete) = (low + 0x60 * ONES, low + ONES);
    let special = (word | (!is_text & is_not(b'\t')) | is_delete | !is_not(b'%')) & (0x80 * ONES);
    special.trailing_zeros() as usize / 8
}

/// A UTF-8 sequence that is read byte by byte. The first byte determines the length, even if the code point is not
/// allowed.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    first: u8,
    /// The number of bytes that are missing from the sequence; 0 if no sequence is open.
    missing: u8,
    /// The smallest code point that needs a sequence of this length.
    least: u32,
    code_point: u32,
}

impl Sequence {
    fn is_open(self) -> bool {
        self.missing > 0
    }

    /// Adds a byte that is not ASCII: the first byte of a sequence, or a continuation byte of the open one. Returns
    /// the kind of error if the byte completes an invalid sequence, or cannot begin one.
    fn push(&mut self, byte: u8) -> Option<Kind> {
        if !self.is_open() {
            let (missing, least) = match byte {
                0xC0..0xE0 => (1, 0x80),
                0xE0..0xF0 => (2, 0x800),
                0xF0..0xF8 => (3, 0x1_0000),
                _ => {
                    self.first = byte;
                    return Some(Kind::Utf8);
                }
            };
            *self = Sequence { first: byte, missing, least, code_point: u32::from(byte) & (0x3F >> missing) };
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
