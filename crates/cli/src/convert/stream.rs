//! Converts one value that arrives in pieces, cut anywhere.
//!
//! The usual conversion needs a value in memory, or parts that are cut where nothing continues. A long value may have
//! no such place, so here each step keeps its unfinished bytes, with their offsets in the value, and works a byte at
//! a time. That is slower, but takes linear time and bounded memory, and gives the same bytes.

use std::collections::VecDeque;

use simdpct::ByteSet;
use simdpct::stream::Encoder;

use super::decode::Decoder;
use super::encode::Escape;
use super::lines::LineEncoder;
use super::options::{DecodeOptions, Layers};
use super::work::Work;
use super::{percent_u, printable};
use crate::common::charset::{self, Charset, Lacking};
use crate::common::escape::{byte_of, hex};
use crate::common::fault::{Handling, OnFault};
use crate::common::reason::Reason;
use crate::common::records::Records;

/// The maximum number of escapes with `--until-stable` that are nested and whose ends have not been read yet. It bounds memory
/// use: if one more is nested, the outermost escape is written undecoded.
const DEEPEST: usize = 1 << 16;

/// The number of bytes that pass through all steps at once.
const PIECE: usize = 4096;

/// The conversion of a value that arrives in pieces.
pub struct Stream {
    steps: Steps,
    faults: Faults,
    /// The number of bytes of the value so far.
    offset: u64,
    /// The input bytes that have no output yet, to find out whether the value changes; `None` once it has changed.
    echo: Option<VecDeque<u8>>,
}

enum Steps {
    Encode(Box<Encoding>),
    Decode(Box<Decoding>),
    /// A URL is never converted in parts: if it is too long, it stays as it is.
    Copy,
}

/// The first fault of each kind, with its offset in the value.
#[derive(Clone, Default)]
pub struct Faults {
    pub malformed: Option<(u64, Reason)>,
    pub not_text: Option<(u64, Reason)>,
}

impl Stream {
    /// Converts like `work`. [`Stream::faults`] returns the faults that `handling` rejects. After a rejected
    /// malformed escape, the output ends.
    pub fn new(work: &Work, handling: Handling) -> Stream {
        let steps = match work {
            Work::Encode(encoder) => {
                Steps::Encode(Box::new(Encoding::new(&encoder.escape, encoder.charset, handling.not_text)))
            }
            Work::Decode(decoder) => Steps::Decode(Box::new(Decoding::new(decoder, handling))),
            Work::Normalize(normalizer) => {
                Steps::Decode(Box::new(Decoding::new(&normalizer.decoder, handling)))
            }
            Work::Within(_) | Work::Rewrite(_) => Steps::Copy,
        };
        Stream { steps, faults: Faults::default(), offset: 0, echo: Some(VecDeque::new()) }
    }

    /// Converts the next piece of the value, as far as the result is certain.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        for piece in piece.chunks(PIECE) {
            self.step(piece, false, out);
        }
    }

    /// Ends the value, and appends the rest of the result.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.step(&[], true, out);
    }

    fn step(&mut self, piece: &[u8], is_last: bool, out: &mut Vec<u8>) {
        let from = out.len();
        match &mut self.steps {
            Steps::Encode(steps) => steps.step(piece, self.offset, is_last, &mut self.faults, out),
            Steps::Decode(steps) => steps.step(piece, self.offset, is_last, &mut self.faults, out),
            Steps::Copy => out.extend_from_slice(piece),
        }
        self.offset += piece.len() as u64;
        if let Some(echo) = &mut self.echo {
            echo.extend(piece);
            let new = &out[from..];
            if new.len() > echo.len() || !echo.drain(..new.len()).eq(new.iter().copied()) {
                self.echo = None;
            }
        }
    }

    /// Returns the faults so far.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Reports whether the output differs from the input. Call it after [`Stream::finish`].
    pub fn has_changed(&self) -> bool {
        self.echo.as_ref().is_none_or(|echo| !echo.is_empty())
    }

    /// Returns the largest number of layers of escapes that have been decoded so far.
    pub fn layers(&self) -> usize {
        match &self.steps {
            Steps::Encode(_) | Steps::Copy => 0,
            Steps::Decode(steps) => steps.open.layers as usize,
        }
    }

    /// Reports whether the value contained an escape in more layers than can be decoded.
    pub fn is_too_deep(&self) -> bool {
        match &self.steps {
            Steps::Encode(_) | Steps::Copy => false,
            Steps::Decode(steps) => steps.open.is_too_deep,
        }
    }
}

/// Bytes between two steps, with their offsets in the value.
#[derive(Default)]
struct Traced {
    bytes: Vec<u8>,
    origins: Vec<u64>,
}

impl Traced {
    fn push(&mut self, byte: u8, origin: u64) {
        self.bytes.push(byte);
        self.origins.push(origin);
    }

    fn take(&mut self, len: usize) {
        self.bytes.drain(..len);
        self.origins.drain(..len);
    }
}

/// The steps of decoding.
struct Decoding {
    percent_u: bool,
    keep: ByteSet,
    /// The kind of records whose ends stay, if `--printable` is given.
    printable: Option<Records>,
    handling: Handling,
    /// The input bytes whose `%XX` and `%uXXXX` are not decoded yet.
    raw: Traced,
    open: Open,
    text: Text,
    /// Whether the output has ended at a rejected malformed escape.
    has_ended: bool,
    /// The text that `--printable` has not processed yet.
    shown: Vec<u8>,
}

impl Decoding {
    fn new(decoder: &Decoder, handling: Handling) -> Decoding {
        let DecodeOptions { keep, form, layers, percent_u, charset, printable, .. } = decoder.options;
        let (records, upper) = (decoder.records, decoder.upper);
        Decoding {
            percent_u,
            keep,
            printable: printable.then_some(records),
            handling,
            raw: Traced::default(),
            open: Open::new(keep, form, upper, layers),
            text: Text::new(charset, handling.not_text),
            has_ended: false,
            shown: Vec::new(),
        }
    }

    fn step(&mut self, piece: &[u8], offset: u64, is_last: bool, faults: &mut Faults, out: &mut Vec<u8>) {
        if self.has_ended {
            return;
        }
        self.raw.bytes.extend_from_slice(piece);
        self.raw.origins.extend((offset..).take(piece.len()));
        let mut shown = std::mem::take(&mut self.shown);
        let Some(records) = self.printable else {
            self.decode(is_last, faults, out);
            return;
        };
        self.decode(is_last, faults, &mut shown);
        let is_last = is_last || self.has_ended;
        let settled = if is_last { shown.len() } else { settled(&shown, records) };
        printable::append(&shown[..settled], records, out);
        shown.drain(..settled);
        self.shown = shown;
    }

    /// Decodes all layers, and converts the settled bytes to text.
    fn decode(&mut self, is_last: bool, faults: &mut Faults, out: &mut Vec<u8>) {
        // The length of the longest escape: a pair of `%uXXXX`, or `%XX`.
        let ahead = if self.percent_u { 12 } else { 3 };
        let mut at = 0;
        while at < self.raw.bytes.len() && (is_last || self.raw.bytes.len() - at >= ahead) {
            let (rest, origin) = (&self.raw.bytes[at..], self.raw.origins[at]);
            if rest[0] != b'%' {
                self.open.push(rest[0], 0, origin, &mut self.text.decoded);
                at += 1;
                continue;
            }
            let character = percent_u::character_at(rest).filter(|_| self.percent_u);
            if let Some((character, len)) = character {
                if percent_u::is_kept(character, &self.keep) {
                    for index in at..at + len {
                        let (byte, origin) = (self.raw.bytes[index], self.raw.origins[index]);
                        self.open.push(byte, 0, origin, &mut self.text.decoded);
                    }
                } else if self.text.charset.is_some() && !character.is_ascii() {
                    // A `%uXXXX` is a Unicode character already, so it is written without the charset.
                    self.open.layers = self.open.layers.max(1);
                    self.end_part(faults, out);
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                } else {
                    for &byte in character.encode_utf8(&mut [0; 4]).as_bytes() {
                        self.open.push(byte, 1, origin, &mut self.text.decoded);
                    }
                }
                at += len;
                continue;
            }
            if rest.first_chunk().and_then(byte_of).is_none() {
                if faults.malformed.is_none()
                    && let Err(escape) = simdpct::validate(&rest[..rest.len().min(3)])
                {
                    faults.malformed = Some((origin, Reason::Malformed(escape.cause)));
                }
                if self.handling.malformed == OnFault::Refuse {
                    self.has_ended = true;
                    self.end_part(faults, out);
                    return;
                }
                if self.handling.malformed == OnFault::Repair {
                    // No escape and no character continues across a malformed `%`.
                    self.end_part(faults, out);
                    out.extend_from_slice(b"%25");
                    at += 1;
                    continue;
                }
            }
            self.open.push(b'%', 0, origin, &mut self.text.decoded);
            at += 1;
        }
        self.raw.take(at);
        if is_last {
            self.end_part(faults, out);
        } else {
            self.text.step(false, faults, out);
        }
    }

    /// Writes all unfinished escapes and characters, because the next bytes do not continue them.
    fn end_part(&mut self, faults: &mut Faults, out: &mut Vec<u8>) {
        self.open.close(&mut self.text.decoded);
        self.text.step(true, faults, out);
    }
}

/// Returns the length of `text` without an unfinished character or line end at its end.
fn settled(text: &[u8], records: Records) -> usize {
    if records == Records::Lines && text.last() == Some(&b'\r') {
        return text.len() - 1;
    }
    text.len() - unfinished(text)
}

/// Returns the length of the unfinished character at the end of `text`.
fn unfinished(text: &[u8]) -> usize {
    let tail = &text[text.len().saturating_sub(3)..];
    (1..=tail.len())
        .find(|&len| {
            let start = &tail[tail.len() - len..];
            start[0] >= 0xC0 && std::str::from_utf8(start).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}

/// The unfinished escapes, each of which is a `%` and possibly its first digit. They are nested: the next byte of one
/// may be the result of the escape after it.
struct Open {
    keep: ByteSet,
    form: bool,
    /// Whether the digits of escapes that stay become upper case, and no decoded digit completes an unfinished escape.
    upper: bool,
    /// Whether another unfinished escape ends directly before the innermost one.
    is_nested: bool,
    /// The maximum number of layers to decode.
    limit: u32,
    /// The maximum number of unfinished escapes.
    most: usize,
    items: VecDeque<Item>,
    /// The number of escapes in `items`.
    count: usize,
    /// Whether outermost escapes were written undecoded because more than `most` were nested, with `--until-stable`.
    is_cut: bool,
    is_too_deep: bool,
    /// The largest number of layers of escapes that have been decoded so far.
    layers: u32,
}

/// A byte, the number of layers of escapes that were decoded to get it, and its offset in the value.
#[derive(Clone, Copy)]
struct Item {
    byte: u8,
    depth: u32,
    origin: u64,
}

impl Open {
    fn new(keep: ByteSet, form: bool, upper: bool, layers: Layers) -> Open {
        // An escape that contains as many nested unfinished escapes as there are layers is never decoded.
        let (limit, most) = match layers {
            Layers::Times(times) => (times.into(), times.into()),
            Layers::UntilStable => (u32::MAX, DEEPEST),
        };
        Open {
            keep,
            form,
            upper,
            is_nested: false,
            limit,
            most,
            items: VecDeque::new(),
            count: 0,
            is_cut: false,
            is_too_deep: false,
            layers: 0,
        }
    }

    /// Adds a byte. Bytes that are no longer part of an unfinished escape go to `out`.
    fn push(&mut self, byte: u8, depth: u32, origin: u64, out: &mut Traced) {
        let mut item = Item { byte, depth, origin };
        self.layers = self.layers.max(depth);
        loop {
            if self.form && item.byte == b'+' && item.depth < self.limit {
                item = Item { byte: b' ', depth: item.depth + 1, ..item };
                self.layers = self.layers.max(item.depth);
            }
            if item.byte == b'%' {
                self.is_nested = !self.items.is_empty();
                self.items.push_back(item);
                self.count += 1;
                if self.count > self.most {
                    self.give_up(out);
                }
                return;
            }
            if !item.byte.is_ascii_hexdigit() {
                self.close(out);
                out.push(item.byte, item.origin);
                return;
            }
            match self.items.back().copied() {
                None => {
                    self.is_too_deep |= self.is_cut;
                    out.push(item.byte, item.origin);
                    return;
                }
                Some(Item { byte: b'%', .. }) => {
                    self.items.push_back(item);
                    return;
                }
                Some(high) => {
                    let percent = self.items[self.items.len() - 2];
                    let value = hex(&[high.byte, item.byte]).unwrap_or_default() as u8;
                    let depth = percent.depth.max(high.depth).max(item.depth).saturating_add(1);
                    let completes = self.upper && self.is_nested && value.is_ascii_hexdigit();
                    if self.keep.contains(value) || depth > self.limit || completes {
                        self.items.push_back(item);
                        // An escape that appears only by decoding keeps its spelling.
                        if self.upper && depth == 1 {
                            self.items
                                .iter_mut()
                                .rev()
                                .take(2)
                                .for_each(|item| item.byte.make_ascii_uppercase());
                        }
                        self.close(out);
                        return;
                    }
                    self.items.truncate(self.items.len() - 2);
                    self.count -= 1;
                    self.layers = self.layers.max(depth);
                    item = Item { byte: value, depth, origin: percent.origin };
                }
            }
        }
    }

    /// Writes the outermost unfinished escape to `out` undecoded.
    fn give_up(&mut self, out: &mut Traced) {
        while let Some(item) = self.items.pop_front() {
            out.push(item.byte, item.origin);
            if self.items.front().is_some_and(|next| next.byte == b'%') {
                break;
            }
        }
        self.count -= 1;
        self.is_cut |= self.limit == u32::MAX;
    }

    /// Writes all unfinished escapes to `out` undecoded.
    fn close(&mut self, out: &mut Traced) {
        for item in self.items.drain(..) {
            out.push(item.byte, item.origin);
        }
        (self.count, self.is_cut) = (0, false);
    }
}

/// Converts decoded bytes to text.
struct Text {
    charset: Option<Charset>,
    on_invalid: OnFault,
    /// The charset decoder of the current part of the value, if it has begun.
    decoder: Option<charset::Decoder>,
    /// The decoded bytes, of which the first `taken` have been converted.
    decoded: Traced,
    taken: usize,
}

/// The number of converted bytes that a decoder may read again.
const HISTORY: usize = 16;

impl Text {
    fn new(charset: Option<Charset>, on_invalid: OnFault) -> Text {
        Text { charset, on_invalid, decoder: None, decoded: Traced::default(), taken: 0 }
    }

    /// Converts decoded bytes to text: all of them if `is_last`, and otherwise those that later bytes cannot affect.
    fn step(&mut self, is_last: bool, faults: &mut Faults, out: &mut Vec<u8>) {
        let Text { charset, on_invalid, decoder, decoded, taken } = self;
        // Invalid UTF-8 stays as it is, so no conversion is necessary.
        if charset.is_none() && *on_invalid == OnFault::Keep {
            out.append(&mut decoded.bytes);
            decoded.origins.clear();
            return;
        }
        let decoder =
            decoder.get_or_insert_with(|| charset.unwrap_or(Charset::Standard(encoding_rs::UTF_8)).decoder());
        while let Some(invalid) = decoder.decode(&decoded.bytes, taken, is_last, out) {
            let reason = if charset.is_some() { Reason::NotInCharset } else { Reason::InvalidUtf8 };
            faults.not_text.get_or_insert((decoded.origins[invalid.start], reason));
            if charset.is_none() && *on_invalid != OnFault::Repair {
                out.extend_from_slice(&decoded.bytes[invalid]);
            } else {
                charset::replace(&decoded.bytes[invalid], *on_invalid, out);
            }
        }
        if is_last {
            self.decoder = None;
            decoded.take(decoded.bytes.len());
            *taken = 0;
        } else {
            let old = decoded.bytes.len().saturating_sub(HISTORY);
            decoded.take(old);
            *taken -= old;
        }
    }
}

/// The steps of encoding.
struct Encoding {
    escape: Escaping,
    charset: Option<Charset>,
    on_invalid: OnFault,
    /// The encoder of the current stretch of text.
    encoder: Option<charset::Encoder>,
    /// The first bytes of a character whose other bytes have not arrived.
    begun: Vec<u8>,
    /// A buffer for text in the charset, before it is escaped.
    bytes: Vec<u8>,
}

enum Escaping {
    Lines(LineEncoder),
    Plain(Encoder<ByteSet>),
}

impl Escaping {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Escaping::Lines(encoder) => encoder.push(bytes, out),
            Escaping::Plain(encoder) => encoder.push(bytes, out),
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        match self {
            Escaping::Lines(encoder) => encoder.finish(out),
            Escaping::Plain(encoder) => encoder.finish(out),
        }
    }
}

impl Encoding {
    fn new(escape: &Escape, charset: Option<Charset>, on_invalid: OnFault) -> Encoding {
        let escape = match escape {
            Escape::Lines(encoder) => Escaping::Lines(encoder.clone()),
            Escape::Plain(encode) => Escaping::Plain(Encoder::new(*encode)),
        };
        Encoding { escape, charset, on_invalid, encoder: None, begun: Vec::new(), bytes: Vec::new() }
    }

    fn step(&mut self, piece: &[u8], offset: u64, is_last: bool, faults: &mut Faults, out: &mut Vec<u8>) {
        if self.charset.is_none() && self.on_invalid == OnFault::Keep {
            self.escape.push(piece, out);
        } else {
            let offset = offset - self.begun.len() as u64;
            let mut window = std::mem::take(&mut self.begun);
            window.extend_from_slice(piece);
            let settled = window.len() - if is_last { 0 } else { unfinished(&window) };
            self.text(&window[..settled], offset, faults, out);
            window.drain(..settled);
            self.begun = window;
        }
        if is_last {
            self.end_text(out);
            self.escape.finish(out);
        }
    }

    /// Encodes complete characters and invalid bytes.
    fn text(&mut self, bytes: &[u8], mut offset: u64, faults: &mut Faults, out: &mut Vec<u8>) {
        for chunk in bytes.utf8_chunks() {
            self.characters(chunk.valid(), offset, faults, out);
            offset += chunk.valid().len() as u64;
            if chunk.invalid().is_empty() {
                continue;
            }
            faults.not_text.get_or_insert((offset, Reason::InvalidUtf8));
            if self.on_invalid == OnFault::Repair {
                self.characters("\u{fffd}", offset, faults, out);
            } else {
                self.end_text(out);
                self.escape.push(chunk.invalid(), out);
            }
            offset += chunk.invalid().len() as u64;
        }
    }

    fn characters(&mut self, text: &str, offset: u64, faults: &mut Faults, out: &mut Vec<u8>) {
        let Some(charset) = self.charset else {
            self.escape.push(text.as_bytes(), out);
            return;
        };
        let mut rest = text;
        loop {
            self.bytes.clear();
            let encoder = self.encoder.get_or_insert_with(|| charset.encoder());
            let lacking = encoder.encode(rest, false, &mut self.bytes);
            self.escape.push(&self.bytes, out);
            let Some(Lacking { character, at, rest: others }) = lacking else { return };
            let at = text.len() - rest.len() + at;
            faults.not_text.get_or_insert((offset + at as u64, Reason::NotInCharset));
            self.end_text(out);
            self.escape.finish(out);
            out.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
            rest = others;
        }
    }

    /// Ends the current stretch of text, and writes the bytes that the charset needs at its end.
    fn end_text(&mut self, out: &mut Vec<u8>) {
        if let Some(mut encoder) = self.encoder.take() {
            self.bytes.clear();
            let lacking = encoder.encode("", true, &mut self.bytes);
            debug_assert!(lacking.is_none(), "there is no character");
            self.escape.push(&self.bytes, out);
        }
    }
}
