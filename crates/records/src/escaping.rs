//! Undoes and applies the escapings of log writers, and those of CSV, JSON, logfmt and HTML. One table has a row for each escaping.

/// A way in which a program writes the bytes of a value into a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Escaping {
    /// All bytes are written as they are.
    #[default]
    None,
    /// The writer is unknown. A value that contains a backslash is rejected, because the writers disagree about it.
    Unknown,
    /// Apache: `\"`, `\\`, letters such as `\n`, and `\xhh` in lower case.
    Apache,
    /// lighttpd: `\"`, `\\`, letters such as `\n`, and `\xHH` in upper case.
    Lighttpd,
    /// varnishncsa: `\"`, `\\`, `\n`, `\r`, `\t`, and `\xhh` in lower case.
    Varnish,
    /// Tomcat: `\"`, `\\`, letters such as `\n`, and `\uhhhh` for a byte.
    Tomcat,
    /// The W3C log of Tomcat: the escapes of Tomcat, but two quotes mean one in headers, which are in quotes.
    TomcatW3c,
    /// A header in the W3C log of Tomcat.
    TomcatHeader,
    /// `%q` of Go, which gorilla/handlers and the text handlers of loggers write.
    Go,
    /// morgan: the strings of JavaScript.
    Morgan,
    /// nginx: `\xHH` in upper case, also for `"` and `\`.
    Nginx,
    /// h2o: `\xhh` in lower case, also for `"`, `}` and `~`; a backslash is written as it is.
    H2o,
    /// Rack: `\xhh` for bytes that are not printable; a backslash is written as it is.
    Rack,
    /// WEBrick: `String#dump` of Ruby, except that `"` is written as it is.
    Ruby,
    /// The servers of the Python library: `\\`, and `\xhh` for controls; `"` is written as it is.
    Python,
    /// gunicorn and Traefik: `\"`; a backslash is written as it is.
    Quote,
    /// HAProxy: `#HH`, also for `"` and `#`.
    Haproxy,
    /// CloudFront: percent-encoding on top of that of the client, with `%25` for `%`.
    Percent,
    /// A JSON string. Bytes that are not UTF-8 can be written as they are.
    Json,
    /// A JSON string of an unknown writer. A value with an escape from `\u0080` to `\u00ff` is rejected, because some mean the byte.
    UnknownJson,
    /// The JSON strings of h2o, in which `\u00hh` is a byte.
    JsonBytes,
    /// The JSON strings of lighttpd, which can have `\v` and `\xHH`.
    LighttpdJson,
    /// Two quotes mean one, as in the quoted strings of W3C logs.
    DoubledQuote,
    /// rsyslog: `#ooo` in octal for controls; `#` is written as it is.
    Octal,
    /// A quoted cell of CSV (RFC 4180): two quotes mean one, and line ends are data.
    Csv,
    /// A quoted cell of CSV in which a quote that is not doubled is data, too.
    CsvLazy,
    /// A quoted cell of CSV in which a backslash escapes quotes and itself. Other backslashes are data.
    CsvBackslash,
    /// A quoted value of logfmt, as Go and the libraries of other languages write it.
    Logfmt,
    /// A JSON string that can have `\xHH`, which programs put into JSON that they build from text.
    JsonHex,
    /// The text of an attribute of HTML: character references.
    Html,
    /// A URL in an attribute of HTML between `"`. Tabs and line ends in it mean nothing (URL Standard).
    HtmlDouble,
    /// Like `HtmlDouble`, but `&` is written as it is where it cannot be read as a reference.
    HtmlDoubleBare,
    /// A URL in an attribute of HTML between `'`.
    HtmlSingle,
    /// Like `HtmlSingle`, but `&` is written as it is where it cannot be read as a reference.
    HtmlSingleBare,
    /// A URL in an attribute of HTML without quotes.
    HtmlUnquoted,
    /// Like `HtmlUnquoted`, but `&` is written as it is where it cannot be read as a reference.
    HtmlUnquotedBare,
}

/// The text after the mark in an escape that gives the number of a byte or a code point.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    /// `xhh`, with lower-case digits.
    Lower,
    /// `xHH`, with upper-case digits.
    Upper,
    /// `HH`, without a letter.
    Bare,
    /// Three octal digits.
    Octal,
    /// `uhhhh` for a byte.
    Byte,
    /// `uhhhh` for a code unit of UTF-16.
    Unit,
    /// `Uhhhhhhhh` for a code point.
    Point,
    /// A character reference of HTML.
    Reference,
}

/// The rule of an escaping.
pub(crate) struct Rule {
    escaping: Escaping,
    /// The byte that begins an escape.
    pub mark: u8,
    /// The letters that mean a byte after the mark: see [`meaning`].
    letters: &'static [u8],
    /// The notations that are understood. Digits may be in either case, unless the mark is data, too. The first notation that can give the
    /// byte is written.
    numbers: &'static [Number],
    /// The bytes, other than controls, that are written by their numbers: all bytes from the first item on, and the
    /// bytes in the second item.
    numbered: (u16, &'static [u8]),
    /// Some of [`RAW_MARK`] and the constants after it.
    flags: u8,
}

/// The writer also writes the mark as data, so that only escapes that the writer would produce are undone.
const RAW_MARK: u8 = 1;
/// Two quotes mean one.
const DOUBLED: u8 = 2;
/// Line ends are data.
const LINES: u8 = 4;
/// Tabs and line ends are left out of the value.
const BREAKS: u8 = 8;

/// An escape from `\u0080` to `\u00ff` means the byte to some writers, so it is malformed.
const UNSURE: u8 = 16;

/// Returns the byte that `letter` means after a mark, in all escapings that have the letter.
fn meaning(letter: u8) -> u8 {
    match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0B,
        b'f' => 0x0C,
        b'r' => b'\r',
        b'e' => 0x1B,
        itself => itself,
    }
}

/// Values of `Rule::numbered`: no bytes; DEL; DEL and all bytes that are not ASCII; the bytes of `HIGH`, and those that
/// CloudFront documents.
const NONE: (u16, &[u8]) = (0x100, b"");
const DELETE: (u16, &[u8]) = (0x100, b"\x7F");
const HIGH: (u16, &[u8]) = (0x7F, b"");
const CLOUDFRONT: (u16, &[u8]) = (0x7F, b" <>\"#%{}|\\^~[]`'");

/// The letters of JSON.
const JSON: &[u8] = b"\"\\/bfnrt";

/// Returns the rule with these properties.
const fn rule(
    escaping: Escaping,
    mark: u8,
    letters: &'static [u8],
    numbers: &'static [Number],
    numbered: (u16, &'static [u8]),
    flags: u8,
) -> Rule {
    Rule { escaping, mark, letters, numbers, numbered, flags }
}

/// The rules, in the order of [`Escaping`].
static RULES: &[Rule] = {
    use Escaping::*;
    use Number::{Bare, Byte, Lower, Octal as Digits, Point, Reference, Unit, Upper};
    &[
        rule(None, b'\\', b"", &[], NONE, RAW_MARK),
        rule(Unknown, b'\\', b"", &[], NONE, 0),
        rule(Apache, b'\\', b"\"\\bnrtv", &[Lower], HIGH, 0),
        rule(Lighttpd, b'\\', b"\"\\abtnvfr", &[Upper], HIGH, 0),
        rule(Varnish, b'\\', b"\"\\nrt", &[Lower], HIGH, 0),
        rule(Tomcat, b'\\', b"\"\\btnfr", &[Byte], HIGH, 0),
        rule(TomcatW3c, b'\\', b"\"\\btnfr", &[Byte], HIGH, DOUBLED),
        rule(TomcatHeader, b'\\', b"\\btnfr", &[Byte], HIGH, DOUBLED),
        rule(Go, b'\\', b"\"\\abfnrtv", &[Lower, Unit, Point], HIGH, 0),
        rule(Morgan, b'\\', JSON, &[Unit], NONE, 0),
        rule(Nginx, b'\\', b"", &[Upper], (0x7F, b"\"\\"), 0),
        rule(H2o, b'\\', b"", &[Lower], (0x7D, b"\""), RAW_MARK),
        rule(Rack, b'\\', b"", &[Lower], HIGH, RAW_MARK),
        rule(Ruby, b'\\', b"\\abtnvfre", &[Upper], HIGH, 0),
        rule(Python, b'\\', b"\\", &[Lower], DELETE, RAW_MARK),
        rule(Quote, b'\\', b"\"", &[], NONE, RAW_MARK),
        rule(Haproxy, b'#', b"", &[Bare], (0x7F, b"\"#"), 0),
        rule(Percent, b'%', b"", &[Bare], CLOUDFRONT, 0),
        rule(Json, b'\\', JSON, &[Unit], NONE, 0),
        rule(UnknownJson, b'\\', JSON, &[Unit], NONE, UNSURE),
        rule(JsonBytes, b'\\', b"\"\\/", &[Byte], (0x7D, b""), 0),
        rule(LighttpdJson, b'\\', b"\"\\/abfnrtv", &[Unit, Upper], DELETE, 0),
        rule(DoubledQuote, b'"', b"\"", &[], NONE, DOUBLED),
        rule(Octal, b'#', b"", &[Digits], DELETE, RAW_MARK),
        rule(Csv, b'"', b"\"", &[], NONE, DOUBLED | LINES),
        rule(CsvLazy, b'"', b"\"", &[], NONE, RAW_MARK | DOUBLED | LINES),
        rule(CsvBackslash, b'\\', b"\"\\", &[], NONE, DOUBLED | LINES),
        rule(Logfmt, b'\\', b"\"\\/'abfnrtv", &[Unit, Lower, Point], NONE, 0),
        rule(JsonHex, b'\\', b"\"\\/abfnrtv", &[Unit, Upper], (0x80, b""), 0),
        rule(Html, b'&', b"", &[Reference], (0x100, b"&<>\"'"), RAW_MARK),
        rule(HtmlDouble, b'&', b"", &[Reference], (0x100, b"&<>\""), RAW_MARK | BREAKS),
        rule(HtmlDoubleBare, b'&', b"", &[Reference], (0x100, b"<>\""), RAW_MARK | BREAKS),
        rule(HtmlSingle, b'&', b"", &[Reference], (0x100, b"&<>'"), RAW_MARK | BREAKS),
        rule(HtmlSingleBare, b'&', b"", &[Reference], (0x100, b"<>'"), RAW_MARK | BREAKS),
        rule(HtmlUnquoted, b'&', b"", &[Reference], (0x100, b"&<>\"' "), RAW_MARK | BREAKS),
        rule(HtmlUnquotedBare, b'&', b"", &[Reference], (0x100, b"<>\"' "), RAW_MARK | BREAKS),
    ]
};

/// One escape, or one byte that means itself. The first `count` of `bytes` are its meaning, and `len` is its length in the
/// escaped text.
struct Unit {
    bytes: [u8; 8],
    count: usize,
    len: usize,
}

impl Unit {
    fn byte(byte: u8, len: usize) -> Unit {
        Unit { bytes: [byte, 0, 0, 0, 0, 0, 0, 0], count: 1, len }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

/// Reads `count` digits of `radix` at offset `at` of `text`.
fn digits(text: &[u8], at: usize, count: usize, radix: u32) -> Option<u32> {
    text.get(at..at + count)?
        .iter()
        .try_fold(0, |number, &digit| Some(number * radix + char::from(digit).to_digit(radix)?))
}

impl Number {
    /// Reads an escape at the start of `text`, whose first byte is the mark.
    fn read(self, text: &[u8]) -> Option<Unit> {
        let (letter, count, radix) = match self {
            Number::Lower | Number::Upper => (Some(b'x'), 2, 16),
            Number::Bare => (None, 2, 16),
            Number::Octal => (None, 3, 8),
            Number::Byte | Number::Unit => (Some(b'u'), 4, 16),
            Number::Point => (Some(b'U'), 8, 16),
            Number::Reference => return reference(text),
        };
        if letter.is_some() && text.get(1) != letter.as_ref() {
            return None;
        }
        let start = 1 + usize::from(letter.is_some());
        let (first, len) = (digits(text, start, count, radix)?, start + count);
        if !matches!(self, Number::Unit | Number::Point) {
            return Some(Unit::byte(u8::try_from(first).ok()?, len));
        }
        let (point, len) = match first {
            0xD800..0xDC00 if len == 6 && text.get(6..8) == Some(b"\\u") => {
                let second = digits(text, 8, 4, 16).filter(|unit| (0xDC00..0xE000).contains(unit))?;
                (0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12)
            }
            _ => (first, len),
        };
        let mut bytes = [0; 8];
        let count = char::from_u32(point)?.encode_utf8(&mut bytes).len();
        Some(Unit { bytes, count, len })
    }

    /// Appends the notation of `byte` after the mark.
    fn write(self, byte: u8, out: &mut Vec<u8>) {
        let text = match self {
            Number::Lower => format!("x{byte:02x}"),
            Number::Upper => format!("x{byte:02X}"),
            Number::Bare => format!("{byte:02X}"),
            Number::Octal => format!("{byte:03o}"),
            Number::Byte | Number::Unit => format!("u{byte:04x}"),
            Number::Point => format!("U{byte:08x}"),
            Number::Reference => match byte {
                b'&' => "amp;".to_owned(),
                b'<' => "lt;".to_owned(),
                b'>' => "gt;".to_owned(),
                b'"' => "quot;".to_owned(),
                _ => format!("#{byte};"),
            },
        };
        out.extend_from_slice(text.as_bytes());
    }
}

/// Returns the characters for the character reference at the start of `text` (HTML Standard, "character reference state", in an attribute).
fn reference(text: &[u8]) -> Option<Unit> {
    let hashes = usize::from(text.get(1) == Some(&b'#'));
    let len = 1 + hashes + text[1 + hashes..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    // A number ends before the first letter that is not a digit of it.
    let len = match text[1 + hashes..len] {
        [] => return None,
        [b'x' | b'X', ref digits @ ..] if hashes == 1 => {
            3 + digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
        }
        ref digits if hashes == 1 => 2 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => len,
    };
    let has_end = text.get(len) == Some(&b';');
    // In a query such as `?a=1&copy=2` there is no reference.
    if hashes == 0 && !has_end && text.get(len) == Some(&b'=') {
        return None;
    }
    let spelt = &text[..len + usize::from(has_end)];
    let new = htmlize::unescape_bytes_in(spelt, htmlize::Context::Attribute);
    let mut bytes = [0; 8];
    bytes.get_mut(..new.len())?.copy_from_slice(&new);
    (*new != *spelt).then_some(Unit { bytes, count: new.len(), len: spelt.len() })
}

impl Rule {
    /// Reads the escape at the start of `text`, whose first byte is the mark. Returns `None` if the mark begins no escape.
    fn read(&self, text: &[u8]) -> Option<Unit> {
        let letter = text.get(1)?;
        if self.letters.contains(letter) {
            return Some(Unit::byte(meaning(*letter), 2));
        }
        let unit = self.numbers.iter().find_map(|number| number.read(text))?;
        if self.has(UNSURE) && matches!(unit.bytes(), [0xC2 | 0xC3, _]) {
            return None;
        }
        let mut written = Vec::new();
        let is_own = !self.has(RAW_MARK) || self.escaping.has_references() || {
            self.write_byte(unit.bytes[0], &mut written);
            written == text[..unit.len]
        };
        is_own.then_some(unit)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns an offset in `raw` before which each byte means itself, or `None` if all do.
    #[inline]
    fn first_unit(&self, raw: &[u8]) -> Option<usize> {
        if self.has(BREAKS) && memchr::memchr3(b'\t', b'\n', b'\r', raw).is_some() {
            return Some(0);
        }
        let quote = if self.has(DOUBLED) { b'"' } else { self.mark };
        memchr::memchr2(self.mark, quote, raw).filter(|_| self.escaping != Escaping::None)
    }

    /// Returns the unit at offset `at` of `raw`, or `None` if an escape there is malformed.
    fn unit(&self, raw: &[u8], at: usize) -> Option<Unit> {
        let unit = self.character(raw, at)?;
        let is_left_out = self.has(BREAKS) && matches!(unit.bytes(), [b'\t' | b'\n' | b'\r']);
        Some(Unit { count: if is_left_out { 0 } else { unit.count }, ..unit })
    }

    /// Returns the character, or byte, at offset `at` of `raw`.
    fn character(&self, raw: &[u8], at: usize) -> Option<Unit> {
        let text = &raw[at..];
        match text {
            [b'"', b'"', ..] if self.has(DOUBLED) => Some(Unit::byte(b'"', 2)),
            [mark, ..] if *mark == self.mark => match self.read(text) {
                None if self.has(RAW_MARK) => Some(Unit::byte(*mark, 1)),
                unit => unit,
            },
            _ => Some(Unit::byte(text[0], 1)),
        }
    }

    /// Reports whether `byte`, if it has no letter, is written by its number.
    fn is_numbered(&self, byte: u8) -> bool {
        let (first, others) = self.numbered;
        !self.numbers.is_empty() && (byte < 0x20 || u16::from(byte) >= first || others.contains(&byte))
    }

    /// Reports whether it is certain that `byte` is written as it is. Most values consist of such bytes.
    fn is_plain(&self, byte: u8) -> bool {
        let is_usual = byte.is_ascii_alphanumeric() || b"/?&=-._:+,;@!$()*%".contains(&byte);
        (is_usual || byte >= 0x80 && self.numbered.0 > 0xFF) && byte != self.mark
    }

    /// Returns the letter that means `byte`.
    fn letter(&self, byte: u8) -> Option<u8> {
        self.letters.iter().copied().find(|&letter| meaning(letter) == byte)
    }

    /// Reports whether `byte` is written so that it never ends a value. With [`RAW_MARK`], the backslash of `\"` could be data.
    fn escapes(&self, byte: u8) -> bool {
        let is_lettered = self.letter(byte).map(|_| !self.has(RAW_MARK));
        is_lettered.unwrap_or(self.doubles(byte)) || self.is_numbered(byte)
    }

    /// Reports whether `byte`, if it has no letter, is written twice.
    fn doubles(&self, byte: u8) -> bool {
        byte == b'"' && self.has(DOUBLED)
    }

    fn write_byte(&self, byte: u8, out: &mut Vec<u8>) {
        // In quotes, `/` and `'` need no escape. JSON has no letters for BEL and VT.
        let is_json = matches!(self.escaping, Escaping::JsonHex | Escaping::LighttpdJson);
        let unwritten: &[u8] = if is_json { b"/'av" } else { b"/'" };
        let letter = self.letter(byte).filter(|letter| !unwritten.contains(letter));
        // A code unit gives a byte only if the byte is ASCII.
        let gives_byte = |number: &&Number| **number != Number::Unit || byte.is_ascii();
        match (letter, self.numbers.iter().find(gives_byte)) {
            (Some(letter), _) => out.extend([self.mark, letter]),
            (None, Some(number)) if self.is_numbered(byte) => {
                out.push(self.mark);
                number.write(byte, out);
            }
            _ if self.doubles(byte) && letter.is_none() => out.extend([byte, byte]),
            _ => out.push(byte),
        }
    }
}

impl Escaping {
    /// Returns every escaping.
    pub fn all() -> impl Iterator<Item = Escaping> {
        RULES.iter().map(|rule| rule.escaping)
    }

    /// Returns the rule of this escaping.
    pub(crate) fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }

    /// Returns the value that `raw` means, in `buffer` if it differs from `raw`. An error is the offset of a malformed escape in `raw`.
    pub fn undo<'a>(self, raw: &'a [u8], buffer: &'a mut Vec<u8>) -> Result<&'a [u8], usize> {
        let rule = self.rule();
        let Some(first) = rule.first_unit(raw) else { return Ok(raw) };
        buffer.clear();
        buffer.extend_from_slice(&raw[..first]);
        let mut at = first;
        while at < raw.len() {
            let unit = rule.unit(raw, at).ok_or(at)?;
            buffer.extend_from_slice(unit.bytes());
            at += unit.len;
        }
        Ok(buffer)
    }

    /// Returns the offset in `raw` of the escape, or byte, that byte number `offset` of the value comes from. The offset after the last
    /// byte of the value is the length of `raw`.
    pub fn origin(self, raw: &[u8], offset: usize) -> usize {
        let mut offsets = [offset];
        self.origins(raw, &mut offsets);
        offsets[0]
    }

    /// Replaces `offsets` in the value, in ascending order, by those that [`Escaping::origin`] returns for them.
    pub(crate) fn origins(self, raw: &[u8], offsets: &mut [usize]) {
        let rule = self.rule();
        let start = rule.first_unit(raw).unwrap_or(raw.len());
        let (mut at, mut passed) = (0, 0);
        for offset in offsets {
            // Before the first escape, offsets are the same.
            let same = start.min(*offset);
            (at, passed) = if at < same { (same, same) } else { (at, passed) };
            while at < raw.len()
                && let Some(unit) = rule.unit(raw, at)
                && passed + unit.count <= *offset
            {
                passed += unit.count;
                at += unit.len;
            }
            *offset = at;
        }
    }

    /// Appends `value` to `out` as the writer writes it. If the writer cannot write `value` so that it can be read
    /// back, nothing is appended. The error is the offset of the first byte that it cannot write.
    pub fn apply(self, value: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let rule = self.rule();
        let before = out.len();
        if value.iter().all(|&byte| rule.is_plain(byte)) {
            out.extend_from_slice(value);
            return Ok(());
        }
        let is_text = self.escapes_only_bytes() && std::str::from_utf8(value).is_ok();
        for (offset, &byte) in value.iter().enumerate() {
            let starts_line = matches!(byte, b'\n' | b'\r' | 0) && !rule.has(LINES) && !rule.escapes(byte);
            if starts_line || byte == rule.mark && !rule.has(RAW_MARK) && !rule.escapes(byte) {
                out.truncate(before);
                return Err(offset);
            }
            let is_ambiguous = byte == rule.mark && self.has_references() && self.is_escape(&value[offset..]);
            if is_text && byte >= 0x80 {
                out.push(byte);
            } else if is_ambiguous {
                out.push(byte);
                rule.numbers[0].write(byte, out);
            } else {
                rule.write_byte(byte, out);
            }
        }
        if rule.has(RAW_MARK) {
            let mut buffer = Vec::new();
            let read = self.undo(&out[before..], &mut buffer);
            if read != Ok(value) {
                let read = read.unwrap_or_default();
                let offset = read.iter().zip(value).take_while(|(read, value)| read == value).count();
                out.truncate(before);
                return Err(offset.min(value.len().saturating_sub(1)));
            }
        }
        Ok(())
    }

    /// Reports whether `byte` is written so that it never ends a value. An escape that still has the byte, such as `\"`, does not count if
    /// its mark could be data.
    pub fn escapes(self, byte: u8) -> bool {
        self.rule().escapes(byte)
    }

    /// Returns the text that is written for `byte`, if it does not depend on the bytes around it.
    pub(crate) fn spell(self, byte: u8) -> Option<Vec<u8>> {
        let (rule, mut text) = (self.rule(), Vec::new());
        rule.write_byte(byte, &mut text);
        (!rule.has(RAW_MARK) && !self.escapes_only_bytes()).then_some(text)
    }

    /// Reports whether characters that are not ASCII are written as they are, and their bytes are escaped only if the value is not
    /// UTF-8.
    fn escapes_only_bytes(self) -> bool {
        matches!(self, Escaping::Go | Escaping::JsonHex)
    }

    /// Reports whether a text in this escaping should be UTF-8.
    pub fn is_text(self) -> bool {
        matches!(self, Escaping::Json | Escaping::UnknownJson | Escaping::LighttpdJson)
            || self.has_references()
    }

    /// Reports whether escapes are character references of HTML. With references, a text can have many spellings, and
    /// lists of URLs are split only after the references are undone.
    pub(crate) fn has_references(self) -> bool {
        self.rule().mark == b'&'
    }

    /// Reports whether an escape is at the start of `text`.
    pub(crate) fn is_escape(self, text: &[u8]) -> bool {
        self.rule().read(text).is_some()
    }

    /// Returns the length of the escape at the start of `text`, or `None` if it is malformed. In JSON, `\u` and four digits are
    /// well-formed, even if they are a lone surrogate, which a string cannot have.
    pub(crate) fn len(self, text: &[u8]) -> Option<usize> {
        let rule = self.rule();
        let is_surrogate = || {
            rule.numbers.contains(&Number::Unit)
                && text.get(1) == Some(&b'u')
                && digits(text, 2, 4, 16).is_some()
        };
        rule.unit(text, 0).map(|unit| unit.len).or_else(|| is_surrogate().then_some(6))
    }

    /// Returns the offset of the first quote in `text`, at `from` or later, that ends a value, because it is neither escaped nor
    /// doubled. If the writer escapes quotes by backslashes, but writes a backslash of the value as it is, every quote counts, because
    /// `\"` can be a backslash of the value and the quote that ends it.
    pub fn next_quote(self, text: &[u8], mut from: usize) -> Option<usize> {
        let rule = self.rule();
        let protects = rule.mark == b'\\' && rule.letters.contains(&b'"') && rule.letters.contains(&b'\\');
        loop {
            let rest = text.get(from..)?;
            from += if protects { memchr::memchr2(b'"', b'\\', rest)? } else { memchr::memchr(b'"', rest)? };
            let is_doubled = || rule.has(DOUBLED) && text.get(from + 1) == Some(&b'"');
            if text[from] == b'"' && !is_doubled() {
                return Some(from);
            }
            from += 2;
        }
    }
}
