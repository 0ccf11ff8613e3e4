//! What is done to one value, whichever input it comes from.
//!
//! Decoding goes through these steps, most of which are off unless asked for:
//!
//! 1. `--nginx`: `\xHH`, as log files write it, is undone, once;
//! 2. escapes are decoded: `%XX`, and with `--percent-u` also `%uXXXX` of the first layer; `--times` and
//!    `--until-stable` go on with the `%XX` that come to light;
//! 3. `--charset`: the bytes become UTF-8;
//! 4. `--printable`: what should not reach a terminal is escaped again.
//!
//! Bytes that are kept (`--keep`, and line ends in line mode) stay escaped in each of them. Encoding is two steps:
//! `--charset`, then escapes.

mod charset;
mod nginx;
mod origins;
mod percent_u;
mod printable;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::convert::Infallible;

use simdpct::sets::RFC3986_UNRESERVED;
use simdpct::stream::Transform;
use simdpct::{ByteSet, HexCase, MalformedCause, MalformedEscape};

use self::charset::BadBytes;
pub use self::charset::{Charset, NAMES as CHARSETS};
use crate::args;
use crate::record::{LineEncoder, Records};
use crate::utf8;

/// What is done to one value: built from the arguments of encode, decode or normalize.
#[derive(Clone)]
pub struct Work {
    steps: Steps,
    /// What [`Work::apply`] refuses.
    refused: Bad,
    layers: usize,
}

#[derive(Clone)]
enum Steps {
    Encode(Box<Encoding>),
    Decode(Box<Decoding>),
}

/// The ways in which a value can be bad: which of them something concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bad {
    /// A `%` starts no escape.
    pub malformed: bool,
    /// Bytes are not UTF-8, or not of the charset.
    pub not_text: bool,
}

/// Why a value was refused; offsets are within the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A `%` that starts no escape, in the value as it stands: later layers are not looked at.
    Malformed(MalformedEscape),
    /// The bytes, once decoded, are not UTF-8; or, without being encoded yet, are not.
    InvalidUtf8 {
        /// Where the first byte that is not comes from.
        offset: usize,
    },
    /// The charset has no such bytes, or no such character.
    NotInCharset {
        /// Where the first of them comes from.
        offset: usize,
    },
}

impl Refusal {
    /// Where in the value.
    pub fn offset(&self) -> usize {
        match self {
            Refusal::Malformed(escape) => escape.offset,
            Refusal::InvalidUtf8 { offset } | Refusal::NotInCharset { offset } => *offset,
        }
    }
}

impl Work {
    /// The work of `pct encode`.
    pub fn encode(args: &args::Encode) -> Work {
        Work::encode_across(args, Records::Raw)
    }

    /// The same, on pieces of several records, whose ends stay.
    pub fn encode_across(args: &args::Encode, records: Records) -> Work {
        Work::new(Steps::Encode(Box::new(Encoding {
            escape: Escape::new(args, records),
            charset: args.charset,
            bytes: Vec::new(),
        })))
    }

    /// The work of `pct decode`, which does not make the bytes of `structure`.
    pub fn decode(args: &args::Decode, structure: ByteSet) -> Work {
        Work::decoding(args, structure, Records::Raw)
    }

    /// The same, on pieces of several records, whose ends stay.
    pub fn decode_across(args: &args::Decode, records: Records) -> Work {
        Work::decoding(args, records.structure(), records)
    }

    fn decoding(args: &args::Decode, structure: ByteSet, records: Records) -> Work {
        let keep = args.keep.union(structure);
        let mut decode = simdpct::Decode::new().keep(keep);
        if args.form {
            decode = decode.form();
        }
        let args::Unwrap { times, until_stable, nginx, percent_u, charset, printable } = args.unwrap;
        let layers = if until_stable { Layers::UntilStable } else { Layers::Times(times) };
        Work::new(Steps::Decode(Box::new(Decoding {
            layers,
            nginx,
            percent_u,
            charset,
            printable,
            ..Decoding::once(decode, keep, args.form, records)
        })))
    }

    /// The work of `pct normalize`, which does not make the bytes of `structure`.
    pub fn normalize(structure: ByteSet) -> Work {
        let keep = RFC3986_UNRESERVED.to_byte_set().complement().union(structure);
        Work::new(Steps::Decode(Box::new(Decoding::once(
            simdpct::Decode::NORMALIZE.keep(keep),
            keep,
            false,
            Records::Raw,
        ))))
    }

    fn new(steps: Steps) -> Work {
        Work { steps, refused: Bad { malformed: true, not_text: true }, layers: 0 }
    }

    /// What [`Work::apply`] refuses: malformed escapes, and bytes that are not UTF-8 or not of the charset.
    /// Otherwise both.
    pub fn refusing(mut self, refused: Bad) -> Work {
        self.refused = refused;
        self
    }

    /// Appends what becomes of `value` to `out`; on a refusal `out` is unchanged.
    pub fn apply(&mut self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.run(value, self.refused, Bad::default(), out)
    }

    /// The same, but malformed escapes stay, and what is not text is refused.
    pub fn apply_text(&mut self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.run(value, Bad { malformed: false, not_text: true }, Bad::default(), out)
    }

    /// The same without refusing: malformed escapes stay, bytes that are not UTF-8 stay as they are, bytes that
    /// the charset lacks stay escaped, and characters that it lacks are written as the URL Standard says
    /// ("percent-encode after encoding"): `%26%23`, the number of the character, `%3B`.
    pub fn apply_lenient(&mut self, value: &[u8], out: &mut Vec<u8>) {
        self.apply_repairing(value, Bad::default(), out);
    }

    /// The same, but what `repaired` names is repaired: `%25` is written for each `%` that starts no escape, and
    /// U+FFFD stands for bytes that are not text.
    pub fn apply_repairing(&mut self, value: &[u8], repaired: Bad, out: &mut Vec<u8>) {
        let result = self.run(value, Bad::default(), repaired, out);
        debug_assert!(result.is_ok(), "nothing is refused");
    }

    /// What is `refused` need not be `repaired`.
    fn run(&mut self, value: &[u8], refused: Bad, repaired: Bad, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let start = out.len();
        let result = match &mut self.steps {
            Steps::Encode(encoding) => encoding.run(value, refused, repaired, out).map(|()| 0),
            Steps::Decode(decoding) => decoding.run(value, refused, repaired, out),
        };
        self.layers = *result.as_ref().unwrap_or(&0);
        if result.is_err() {
            out.truncate(start);
        }
        result.map(|_| ())
    }

    /// Whether there is something that [`Work::apply`] refuses.
    pub fn refuses(&self) -> bool {
        self.refused != Bad::default()
    }

    /// The length of the `%uXXXX` at the start of `rest`, if that is read: of two, for the halves of a character.
    pub fn percent_u(&self, rest: &[u8]) -> Option<usize> {
        match &self.steps {
            Steps::Decode(decoding) if decoding.percent_u => {
                percent_u::character_at(rest).map(|(_, len)| len)
            }
            _ => None,
        }
    }

    /// Whether it works byte by byte without regard to where values end, so that blocks can be used.
    pub fn is_blockwise(&self) -> bool {
        match &self.steps {
            Steps::Encode(encoding) => encoding.charset.is_none(),
            Steps::Decode(decoding) => decoding.is_plain(),
        }
    }

    /// In how many layers the last value was escaped: how many times decoding it changed something.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// So far before a byte [`Work::cut`] looks.
    pub const LOOK_BEHIND: usize = 64;

    /// Where input can be cut so that work on the parts gives what work on the whole does: the last such place in
    /// `bytes`, if there is any. They are behind line ends, punctuation and letters after F, escaped or not.
    pub fn cut(bytes: &[u8]) -> Option<usize> {
        (1..=bytes.len()).rev().find(|&end| match bytes[..end] {
            [.., last] if is_end(last) => true,
            [.., high, low] => {
                hex(&[high, low]).is_some_and(|byte| is_end(byte as u8)) && is_escape(&bytes[..end - 2])
            }
            _ => false,
        })
    }
}

impl Work {
    /// Where one value can be cut so that work on the parts, and what is said of them, is what it is of the whole: the
    /// last such place in `bytes`, if there is any.
    pub fn cut_value(&self, bytes: &[u8]) -> Option<usize> {
        if !self.is_blockwise() {
            return Work::cut(bytes);
        }
        // What follows a cut must be seen. A character has at most four units.
        let most = bytes.len().checked_sub(3)?;
        (1..=most).rev().take(Work::LOOK_BEHIND).find(|&end| {
            let (before, behind) = bytes.split_at(end);
            !before[end.saturating_sub(2)..].contains(&b'%')
                && !ends_in_nested(before)
                && before.last() != Some(&b'\r')
                // Behind four in a row nothing is a sequence any more.
                && (!is_continuation(behind) || ends_in_continuations(before))
        })
    }
}

/// Whether `bytes` end in four units, bytes or escapes of them, that continue a UTF-8 sequence.
fn ends_in_continuations(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    (0..4).all(|_| {
        let unit = if rest.last_chunk().and_then(byte_of).is_some() { 3 } else { 1 };
        rest.split_at_checked(rest.len().wrapping_sub(unit)).is_some_and(|(before, unit)| {
            rest = before;
            is_continuation(unit)
        })
    })
}

/// Whether `bytes` end in `%25`, or in that and a digit: more digits would make it an escape of the next layer.
fn ends_in_nested(bytes: &[u8]) -> bool {
    bytes.ends_with(b"%25")
        || bytes.split_last().is_some_and(|(last, rest)| last.is_ascii_hexdigit() && rest.ends_with(b"%25"))
}

/// Whether `bytes` begin with a byte, or the escape of one, that continues a UTF-8 sequence.
fn is_continuation(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().and_then(byte_of).or(bytes.first().copied());
    first.is_some_and(|byte| (0x80..0xC0).contains(&byte))
}

/// Whether nothing can go on behind a byte: an escape of whatever kind, or a character, of which an ASCII byte is
/// at most the end in whatever charset. A `\r` is no such byte, because of `\r\n`.
fn is_end(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_hexdigit() && !b"%\\ux\r".contains(&byte)
}

/// Whether two more digits make `start` end in an escape, in whatever layer: `%`, `%25`, `%2525` and so on.
fn is_escape(start: &[u8]) -> bool {
    let mut rest = &start[start.len().saturating_sub(Work::LOOK_BEHIND - 2)..];
    while let Some(before) = rest.strip_suffix(b"25") {
        rest = before;
    }
    rest.ends_with(b"%")
}

/// The byte of an escape.
fn byte_of(escape: &[u8; 3]) -> Option<u8> {
    match *escape {
        [b'%', high, low] => hex(&[high, low]).map(|value| value as u8),
        _ => None,
    }
}

/// The value of hexadecimal digits, of at most four.
fn hex(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |value, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        Some(value << 4 | digit as u16)
    })
}

/// Appends the escapes of `bytes`.
fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    simdpct::Encode::keeping(ByteSet::EMPTY).encode_append(bytes, out);
}

/// The steps of encoding.
#[derive(Clone)]
struct Encoding {
    escape: Escape,
    charset: Option<Charset>,
    /// What is to be escaped next.
    bytes: Vec<u8>,
}

#[derive(Clone)]
enum Escape {
    Lines(LineEncoder),
    Plain(simdpct::Encode<ByteSet>),
}

impl Escape {
    fn new(args: &args::Encode, records: Records) -> Escape {
        let make = |set: ByteSet| {
            let case = if args.lower { HexCase::Lower } else { HexCase::Upper };
            let encode = simdpct::Encode::keeping(set).hex_case(case);
            match (args.keep_escapes, args.form) {
                (true, _) => encode.keep_escapes(),
                (_, true) => encode.form(),
                _ => encode,
            }
        };
        let keep = args.set.set.to_byte_set().union(args.keep);
        match records {
            Records::Lines => Escape::Lines(LineEncoder::new(keep, make)),
            Records::Null => Escape::Plain(make(keep.add(b"\0"))),
            Records::Raw => Escape::Plain(make(keep)),
        }
    }

    fn append(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Escape::Lines(encoder) => {
                let result: Result<(), Infallible> = encoder.push(bytes, out);
                let Ok(()) = result.and_then(|()| encoder.finish(out));
            }
            Escape::Plain(encode) => encode.encode_append(bytes, out),
        }
    }
}

impl Encoding {
    fn run(&mut self, value: &[u8], refused: Bad, repaired: Bad, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let Encoding { escape, charset, bytes } = self;
        // What is not UTF-8 is repaired before it is escaped.
        let text = repaired.not_text.then(|| String::from_utf8_lossy(value));
        let value = text.as_ref().map_or(value, |text| text.as_bytes());
        let Some(charset) = charset else {
            if refused.not_text
                && let Err(offset) = utf8::validate(value)
            {
                return Err(Refusal::InvalidUtf8 { offset });
            }
            escape.append(value, out);
            return Ok(());
        };
        bytes.clear();
        let mut offset = 0;
        for chunk in value.utf8_chunks() {
            let mut text = chunk.valid();
            while let Some((lacking, rest)) = charset.encode(text, bytes) {
                if refused.not_text {
                    let before = offset + chunk.valid().len() - rest.len() - lacking.len_utf8();
                    return Err(Refusal::NotInCharset { offset: before });
                }
                escape.append(bytes, out);
                bytes.clear();
                out.extend_from_slice(format!("%26%23{}%3B", u32::from(lacking)).as_bytes());
                text = rest;
            }
            offset += chunk.valid().len();
            if refused.not_text && !chunk.invalid().is_empty() {
                return Err(Refusal::InvalidUtf8 { offset });
            }
            bytes.extend_from_slice(chunk.invalid());
            offset += chunk.invalid().len();
        }
        escape.append(bytes, out);
        Ok(())
    }
}

/// How often to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layers {
    Times(u16),
    UntilStable,
}

/// The steps of decoding.
#[derive(Clone)]
struct Decoding {
    decode: simdpct::Decode,
    keep: ByteSet,
    form: bool,
    /// Whose ends stay.
    records: Records,
    layers: Layers,
    nginx: bool,
    percent_u: bool,
    charset: Option<Charset>,
    printable: bool,
    buffers: Buffers,
}

/// What the steps leave to each other, kept only for its room.
#[derive(Clone, Default)]
struct Buffers {
    /// After `--nginx`.
    logged: Vec<u8>,
    parts: Parts,
    /// After `--charset`.
    text: Vec<u8>,
}

/// Those for a part of a value.
#[derive(Clone, Default)]
struct Parts {
    /// After the first layer, with `--percent-u`.
    first: Vec<u8>,
    /// After all layers.
    decoded: Vec<u8>,
}

impl Decoding {
    /// With `decode`, which keeps `keep` and reads `+` as a space for a `form`, and no other step.
    fn once(decode: simdpct::Decode, keep: ByteSet, form: bool, records: Records) -> Decoding {
        Decoding {
            decode,
            keep,
            form,
            records,
            layers: Layers::Times(1),
            nginx: false,
            percent_u: false,
            charset: None,
            printable: false,
            buffers: Buffers::default(),
        }
    }

    fn is_plain(&self) -> bool {
        let Decoding { nginx, percent_u, charset, printable, .. } = *self;
        self.layers == Layers::Times(1) && !nginx && !percent_u && charset.is_none() && !printable
    }

    /// Appends to `out`, and returns the number of layers.
    fn run(
        &mut self,
        value: &[u8],
        refused: Bad,
        repaired: Bad,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        if self.is_plain() && repaired == Bad::default() {
            return self.run_plain(value, refused, out);
        }
        let mut buffers = std::mem::take(&mut self.buffers);
        let result = self.run_in(&mut buffers, value, refused, repaired, out);
        self.buffers = buffers;
        result
    }

    fn run_plain(&self, value: &[u8], refused: Bad, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let start = out.len();
        if refused.malformed {
            self.decode.strict().decode_append(value, out).map_err(Refusal::Malformed)?;
        } else {
            self.decode.decode_append(value, out);
        }
        let bytes = &out[start..];
        if refused.not_text
            && let Err(at) = utf8::validate(bytes)
        {
            return Err(Refusal::InvalidUtf8 { offset: self.origin(value, at) });
        }
        Ok(usize::from(bytes.len() != value.len() || self.reads_plus(value)))
    }

    fn run_in(
        &self,
        buffers: &mut Buffers,
        value: &[u8],
        refused: Bad,
        repaired: Bad,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let Buffers { logged, parts, text } = buffers;
        let mut rest = if self.nginx { nginx::unescape(value, &self.keep, logged) } else { value };
        if refused.malformed {
            self.validate(rest).map_err(|escape| Refusal::Malformed(self.place(value, escape)))?;
        }
        // The last step writes to `out`.
        let to_text = if self.printable { &mut *text } else { &mut *out };
        if self.printable {
            to_text.clear();
        }
        let mut layers = 0;
        // No escape and no character reaches over a `%` that starts no escape.
        while repaired.malformed
            && let Err(escape) = self.validate(rest)
        {
            let part = self.part(&rest[..escape.offset], parts, refused, repaired, to_text);
            layers = layers.max(part.map_err(|at| self.not_text(value, at))?);
            to_text.extend_from_slice(b"%25");
            rest = &rest[escape.offset + 1..];
        }
        let part = self.part(rest, parts, refused, repaired, to_text);
        layers = layers.max(part.map_err(|at| self.not_text(value, at))?);
        if self.printable {
            printable::append(text, self.records, out);
        }
        Ok(layers)
    }

    /// The first `%` of `bytes` that starts no escape.
    fn validate(&self, bytes: &[u8]) -> Result<(), MalformedEscape> {
        if self.percent_u { percent_u::validate(bytes) } else { simdpct::validate(bytes) }
    }

    /// Appends `bytes`, decoded to text, to `out`, and returns the number of layers; or the number of decoded bytes
    /// before the first that is refused because it is no text.
    fn part(
        &self,
        bytes: &[u8],
        Parts { first, decoded }: &mut Parts,
        refused: Bad,
        repaired: Bad,
        out: &mut Vec<u8>,
    ) -> Result<usize, usize> {
        let Some(charset) = self.charset else {
            let start = out.len();
            let layers = self.decode(bytes, first, out);
            if refused.not_text {
                utf8::validate(&out[start..])?;
            }
            if repaired.not_text
                && let Cow::Owned(text) = String::from_utf8_lossy(&out[start..])
            {
                out.truncate(start);
                out.extend_from_slice(text.as_bytes());
            }
            return Ok(layers);
        };
        let bad = match (refused.not_text, repaired.not_text) {
            (true, _) => BadBytes::Refuse,
            (_, true) => BadBytes::Replace,
            _ => BadBytes::Escape,
        };
        let (mut layers, mut before) = (0, 0);
        self.each_part(bytes, |part, character| {
            decoded.clear();
            layers = layers.max(self.decode(part, first, decoded));
            charset.decode(decoded, bad, out).map_err(|at| before + at)?;
            before += decoded.len();
            if let Some(character) = character {
                layers = layers.max(1);
                before += character.len_utf8();
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Ok::<(), usize>(())
        })?;
        Ok(layers)
    }

    /// The refusal of what stands, in `value` after decoding, at `at`.
    fn not_text(&self, value: &[u8], at: usize) -> Refusal {
        let offset = self.origin(value, at);
        if self.charset.is_some() {
            Refusal::NotInCharset { offset }
        } else {
            Refusal::InvalidUtf8 { offset }
        }
    }

    /// Hands `bytes` to `each` in parts between characters that `%uXXXX` names and that no charset concerns,
    /// which are those that are not ASCII.
    fn each_part<E>(
        &self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8], Option<char>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = 0;
        if self.percent_u {
            for (found, character) in percent_u::characters(bytes) {
                if !character.is_ascii() {
                    each(&bytes[from..found.start], Some(character))?;
                    from = found.end;
                }
            }
        }
        each(&bytes[from..], None)
    }

    /// Appends `bytes`, all layers decoded, and returns their number.
    fn decode(&self, bytes: &[u8], first: &mut Vec<u8>, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        if self.percent_u && percent_u::characters(bytes).next().is_some() {
            first.clear();
            let changed = percent_u::decode(bytes, &self.decode, &self.keep, first);
            return usize::from(changed)
                + match self.layers {
                    Layers::UntilStable => self.decode.decode_until_stable_append(first, out),
                    Layers::Times(times) => {
                        out.extend_from_slice(first);
                        self.repeat(times - 1, start, out)
                    }
                };
        }
        match self.layers {
            Layers::UntilStable => self.decode.decode_until_stable_append(bytes, out),
            Layers::Times(times) => {
                self.decode.decode_append(bytes, out);
                let changed = out.len() - start != bytes.len() || self.reads_plus(bytes);
                if changed { 1 + self.repeat(times - 1, start, out) } else { 0 }
            }
        }
    }

    /// Decodes what stands in `out` from `start` on `times` more times, and returns how often that changed it.
    fn repeat(&self, times: u16, start: usize, out: &mut Vec<u8>) -> usize {
        for layer in 0..times {
            let (before, plus) = (out.len(), self.reads_plus(&out[start..]));
            let len = self.decode.decode_in_place(&mut out[start..]);
            out.truncate(start + len);
            if out.len() == before && !plus {
                return layer.into();
            }
        }
        times.into()
    }

    /// Whether there is a `+` that is a space, which shows in no length.
    fn reads_plus(&self, bytes: &[u8]) -> bool {
        self.form && memchr::memchr(b'+', bytes).is_some()
    }

    /// The same malformed escape, with its place in `value`.
    fn place(&self, value: &[u8], mut escape: MalformedEscape) -> MalformedEscape {
        if self.nginx {
            let origins = origins::of_logged(value, &self.keep);
            let origin = |at: usize| origins.get(at).copied().unwrap_or(value.len());
            escape.offset = origin(escape.offset);
            if let MalformedCause::NotHex { offset, .. } = &mut escape.cause {
                *offset = origin(*offset);
            }
        }
        escape
    }

    /// Where, in `value`, the byte comes from that stands at `at` after decoding.
    fn origin(&self, value: &[u8], at: usize) -> usize {
        origins::of_decoded(self, value).origins.get(at).copied().unwrap_or(value.len())
    }
}
