//! Finds what the escapes of lines, or of single values, hold.
//!
//! A line is looked at in pieces, as windows cut it, so that it may be of any length. Most lines hold only printable
//! text and some escapes: one vectorised look tells, and then only the `%` are visited.

use super::kind::Kind;

/// Makes a report of what is found.
pub trait Observer {
    /// A `%` is looked at when this many bytes after it are there: at least `%25` and two digits.
    const AHEAD: usize;

    /// Whether each line counts, even if nothing is in it. Otherwise several may be skipped at once.
    const EACH_LINE: bool;

    /// A line, without its end, whose number and offset these are, if lines are URLs. One that is not in the window from
    /// its start on is left out.
    fn url(&mut self, _url: &[u8], _line: u64, _offset: u64) {}

    /// An escape of `byte`.
    fn escape(&mut self, byte: u8);

    /// Something was found.
    fn found(&mut self, found: &Found<'_>);

    /// A line ends, of `len` bytes and with so many escapes.
    fn line(&mut self, len: u64, escapes: u64);

    /// Lines end in which nothing is.
    fn clean_lines(&mut self, count: u64);
}

/// Something that was found.
pub struct Found<'w> {
    pub kind: Kind,
    /// The kinds that were found before in the same line.
    pub before: u16,
    /// The byte that the escape stands for, or the first of what is no UTF-8.
    pub byte: u8,
    /// The number of the line in the file, from 1.
    pub line: u64,
    /// The offset in the file of what was found, and of the line.
    pub offset: u64,
    pub line_start: u64,
    /// The bytes around it, and their offset in the file. A sequence may have begun before them.
    pub window: &'w [u8],
    pub base: u64,
}

impl<'w> Found<'w> {
    /// The bytes from what was found on.
    pub fn ahead(&self) -> &'w [u8] {
        &self.window[(self.offset.max(self.base) - self.base) as usize..]
    }
}

/// Up to where a window can be looked at: so that no escape, and no line end of two bytes, is cut.
pub fn ready(window: &[u8], seen: usize, ahead: usize) -> usize {
    let ready = window.len().saturating_sub(ahead).max(seen);
    // The bytes up to `ready` that were not seen, and those after it.
    match (&window[seen..ready], &window[ready..]) {
        ([.., b'%'], [high, low, ..]) if unescape(*high, *low).is_some() => ready - 1,
        ([.., b'%', high], [low, ..]) if unescape(*high, *low).is_some() => ready - 2,
        ([.., b'\r'], [b'\n', ..]) => ready - 1,
        _ => ready,
    }
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

/// How far lines that come in windows have been looked at.
#[derive(Clone, Debug)]
pub struct State {
    /// The kinds that are wanted.
    wanted: u16,
    /// Whether lines are URLs.
    takes_urls: bool,
    /// What ends a line.
    end: u8,
    /// The number of the line at hand.
    line: u64,
    /// The offset of the window.
    base: u64,
    /// The offset of the line.
    line_start: u64,
    /// The kinds and the number of escapes of the line so far.
    kinds: u16,
    escapes: u64,
    sequence: Sequence,
    /// Where the sequence at hand begins.
    sequence_start: u64,
}

impl State {
    /// Before the first of lines that end in `end`, of which the kinds `wanted` are looked for.
    pub fn new(end: u8, wanted: u16, takes_urls: bool) -> State {
        State {
            wanted,
            takes_urls,
            end,
            line: 1,
            base: 0,
            line_start: 0,
            kinds: 0,
            escapes: 0,
            sequence: Sequence::default(),
            sequence_start: 0,
        }
    }

    /// The offset of the window.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The window moves on by so many bytes.
    pub fn advance(&mut self, len: usize) {
        self.base += len as u64;
    }
}

/// A scanner of windows, which tells an observer what it finds.
pub struct Scan<'o, O> {
    pub observer: &'o mut O,
    pub state: &'o mut State,
}

impl<O: Observer> Scan<'_, O> {
    /// Looks at a value by itself, whatever its bytes.
    pub fn value(&mut self, value: &[u8]) {
        self.piece(value, 0, value.len());
        self.url(value);
        self.interrupt(value);
    }

    /// Looks at the bytes from `seen` to `ready`; those around them serve examples and the digits of escapes.
    pub fn window(&mut self, window: &[u8], seen: usize, ready: usize) {
        let mut from = seen;
        while from < ready {
            if !O::EACH_LINE && !self.state.takes_urls {
                from = self.skip(window, from, ready);
            }
            let Some(len) = memchr::memchr(self.state.end, &window[from..ready]) else {
                // `ready` is before a `\r` that may belong to the line end.
                self.piece(window, from, ready);
                break;
            };
            let end = from + len;
            let is_crlf = self.state.end == b'\n' && window[from..end].last() == Some(&b'\r');
            self.piece(window, from, end - usize::from(is_crlf));
            self.url(&window[..end - usize::from(is_crlf)]);
            self.end_line(window, end);
            from = end + 1;
        }
    }

    /// The line that ends with `window` is a URL, if it is whole.
    fn url(&mut self, window: &[u8]) {
        if self.state.takes_urls
            && let Some(start) = self.state.line_start.checked_sub(self.state.base)
        {
            self.observer.url(&window[start as usize..], self.state.line, self.state.line_start);
        }
    }

    /// Skips whole lines without a `%`, and returns where they end.
    fn skip(&mut self, window: &[u8], from: usize, ready: usize) -> usize {
        if self.state.sequence.is_open() {
            return from;
        }
        let clean = memchr::memchr(b'%', &window[from..ready]).map_or(ready, |found| from + found);
        let Some(last) = memchr::memrchr(self.state.end, &window[from..clean]) else { return from };
        let next = from + last + 1;
        if !self.is_clean(&window[from..next]) {
            return from;
        }
        let count = memchr::memchr_iter(self.state.end, &window[from..next]).count() as u64;
        self.observer.clean_lines(count);
        self.state.line += count;
        self.state.line_start = self.state.base + next as u64;
        (self.state.kinds, self.state.escapes) = (0, 0);
        next
    }

    /// Looks at a piece of a line.
    fn piece(&mut self, window: &[u8], from: usize, to: usize) {
        if self.is_clean(&window[from..to]) {
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

    /// Whether nothing in `piece` is to be found but what begins with a `%`.
    fn is_clean(&self, piece: &[u8]) -> bool {
        if self.state.wanted & Kind::RawControl.bit() != 0 {
            return is_printable(piece);
        }
        self.state.wanted & (Kind::Utf8.bit() | Kind::Overlong.bit()) == 0
            || simdutf8::basic::from_utf8(piece).is_ok()
    }

    /// Looks at bytes of which only the `%` matter; the last escape may reach further than that. Returns where what was
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
                self.found(Kind::RawControl, byte, window, self.state.base + at as u64);
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
            self.found(Kind::Malformed, b'%', window, self.state.base + at as u64);
            return at + 1;
        };
        self.state.escapes += 1;
        self.observer.escape(byte);
        // What it breaks comes before it.
        self.byte(byte, window, at);
        let mut kinds = KINDS_OF_BYTES[usize::from(byte)];
        // Of the hexadecimal digits, only lower-case letters are above 0x60.
        kinds |= Kind::LowerCase.bit() * u16::from(window[at + 1].max(window[at + 2]) > 0x60);
        if byte == b'%' && matches!(window[at + 3..], [high, low, ..] if unescape(high, low).is_some()) {
            kinds |= Kind::Double.bit();
        }
        kinds &= self.state.wanted;
        while kinds != 0 {
            self.found(Kind::ALL[kinds.trailing_zeros() as usize], byte, window, self.state.base + at as u64);
            kinds &= kinds - 1;
        }
        at + 3
    }

    /// Takes the next byte after decoding, whose place in the window is `at`.
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

    /// Takes a byte that belongs to no sequence of several bytes.
    #[inline]
    fn interrupt(&mut self, window: &[u8]) {
        if self.state.sequence.is_open() {
            let first = std::mem::take(&mut self.state.sequence).first;
            self.found(Kind::Utf8, first, window, self.state.sequence_start);
        }
    }

    /// Tells of something at `offset` of the file.
    #[inline]
    fn found(&mut self, kind: Kind, byte: u8, window: &[u8], offset: u64) {
        if self.state.wanted & kind.bit() == 0 {
            return;
        }
        let State { line, line_start, base, kinds: before, .. } = *self.state;
        self.observer.found(&Found { kind, before, byte, line, offset, line_start, window, base });
        self.state.kinds |= kind.bit();
    }

    fn end_line(&mut self, window: &[u8], end: usize) {
        self.interrupt(window);
        let next = self.state.base + end as u64 + 1;
        self.count_line(next - 1 - self.state.line_start);
        self.state.line_start = next;
    }

    fn count_line(&mut self, len: u64) {
        self.observer.line(len, self.state.escapes);
        self.state.line += 1;
        (self.state.kinds, self.state.escapes) = (0, 0);
    }

    /// Ends the input, whose last window has been looked at.
    pub fn finish(&mut self, window: &[u8]) {
        let end = self.state.base + window.len() as u64;
        if end > self.state.line_start {
            self.url(window);
            self.interrupt(window);
            self.count_line(end - self.state.line_start);
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
    first: u8,
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
