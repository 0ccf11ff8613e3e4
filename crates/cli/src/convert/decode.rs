//! Decodes a value, in the steps that the documentation of [`super`] lists.

use std::borrow::Cow;

use simdpct::{ByteSet, MalformedEscape, decode_escape};

use super::{Convert, Text, Unit, Value, percent_u, printable};
use crate::common::charset::Charset;
use crate::common::escape::escape;
use crate::common::fault::{Handling, Policy, malformed};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::utf8;

/// The options of decoding.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// The bytes whose escapes stay.
    pub keep: ByteSet,
    /// Whether `+` becomes a space.
    pub form: bool,
    pub layers: Layers,
    /// Whether `%uXXXX` is decoded.
    pub percent_u: bool,
    /// The charset of the decoded bytes, if it is not UTF-8.
    pub charset: Option<Charset>,
    /// Whether characters that control a terminal are escaped after decoding. The ends of records stay.
    pub printable: bool,
}

impl DecodeOptions {
    /// Decodes every escape once, and does nothing else.
    pub const ONCE: DecodeOptions = DecodeOptions {
        keep: ByteSet::EMPTY,
        form: false,
        layers: Layers::Times(1),
        percent_u: false,
        charset: None,
        printable: false,
    };

    /// Reports whether decoding once is the only step.
    fn is_plain(&self) -> bool {
        let DecodeOptions { layers, percent_u, charset, printable, .. } = *self;
        layers == Layers::Times(1) && !percent_u && charset.is_none() && !printable
    }
}

/// The number of times that a value is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    Times(u16),
    UntilStable,
}

/// A decoder, which runs all steps of decoding.
#[derive(Clone)]
pub struct Decoder {
    options: DecodeOptions,
    /// Whether escapes are normalized: the digits of those that stay become upper case.
    normalizes: bool,
    place: PlaceRules,
    /// A buffer for the value before `--charset`, kept so that it is allocated once.
    decoded: Vec<u8>,
}

/// The rules of decoding that depend on the place of a value, such as a field between spaces.
#[derive(Clone, Copy)]
struct PlaceRules {
    /// The bytes that stay escaped because of the place.
    around: ByteSet,
    /// All bytes that stay escaped.
    keep: ByteSet,
    form: bool,
    codec: simdpct::Decode,
    /// The bytes that stay escaped, but can also be the second half of a character of the charset. The codec decodes them, and they are
    /// escaped again after the charset was read.
    late: ByteSet,
    /// The bytes that are never half of a character if they are not escaped: those of `late`, and a backslash that quotes the byte after it.
    literal: ByteSet,
}

impl PlaceRules {
    fn new(options: &DecodeOptions, normalizes: bool, around: &ByteSet) -> PlaceRules {
        let keep = options.keep.union(*around);
        // Form decoding would turn a "+" into a space, so it is off in formats that separate values by spaces. The escape
        // `%2B` then stays too: a "+" that was decoded could not be told from one that means a space.
        let form = options.form && !around.contains(b' ');
        let keep = if options.form && !form { keep.add(b"+") } else { keep };
        let codec = if normalizes { simdpct::Decode::NORMALIZE } else { simdpct::Decode::new() };
        let halves = options.charset.map_or(ByteSet::EMPTY, Charset::second_halves);
        let late = keep.intersection(halves);
        let codec = codec.keep(keep.difference(late));
        let is_quoting = around.contains(b'\\') && !options.charset.is_some_and(Charset::is_guessed);
        PlaceRules {
            around: *around,
            keep,
            form,
            codec: if form { codec.form() } else { codec },
            late,
            literal: if is_quoting { late.add(b"\\") } else { late },
        }
    }
}

impl Decoder {
    /// Creates a decoder with `options`.
    pub fn new(options: DecodeOptions) -> Decoder {
        Decoder::with(options, false)
    }

    /// Creates a decoder that normalizes escapes: it decodes the escapes of the bytes in `unreserved`.
    pub fn normalizer(unreserved: ByteSet) -> Decoder {
        Decoder::with(DecodeOptions { keep: unreserved.complement(), ..DecodeOptions::ONCE }, true)
    }

    fn with(options: DecodeOptions, normalizes: bool) -> Decoder {
        let place = PlaceRules::new(&options, normalizes, &ByteSet::EMPTY);
        Decoder { options, normalizes, place, decoded: Vec::new() }
    }

    /// Returns the charset of the decoded bytes, if it is not UTF-8.
    pub fn charset(&self) -> Option<Charset> {
        self.options.charset
    }

    /// Reports whether every value without a "%" stays as it is, in a place where the bytes of `around` stay escaped.
    pub fn needs_percent(&self, around: &ByteSet) -> bool {
        let form = PlaceRules::new(&self.options, self.normalizes, around).form;
        !form && self.options.charset.is_none() && !self.options.printable
    }

    /// Returns the codec that decodes values in a place where the bytes of `around` stay escaped. Also returns all bytes
    /// whose escapes this codec keeps. Returns `None` if decoding once is not the only step, or if a `+` becomes a space.
    pub fn codec(&self, around: &ByteSet) -> Option<(simdpct::Decode, ByteSet)> {
        let place = PlaceRules::new(&self.options, self.normalizes, around);
        (self.options.is_plain() && !place.form).then_some((place.codec, place.keep))
    }

    /// Reports whether characters can be split if the escapes of the bytes in `around` and in `--keep` stay. They can in a
    /// stateful charset, which uses all bytes of visible ASCII as halves of characters.
    pub fn may_garble(&self, around: ByteSet) -> bool {
        let kept = self.options.keep.union(around);
        self.options.charset.is_some_and(Charset::is_stateful) && (0x21..0x7F).any(|byte| kept.contains(byte))
    }

    /// Returns the length of the `%uXXXX` at the start of `rest`, if the decoder reads such escapes.
    pub fn percent_u(&self, rest: &[u8]) -> Option<usize> {
        let (_, len) = percent_u::character_at(rest).filter(|_| self.options.percent_u)?;
        Some(len)
    }

    /// Appends the decoded `text`, and returns the number of layers of escapes. The bytes of `around` stay escaped, and
    /// `--printable` keeps the ends of records. After an error, the appended bytes are meaningless.
    #[inline(always)]
    pub fn decode(&mut self, text: Text<'_>, around: &ByteSet, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let Text { bytes: value, handling, .. } = text;
        if self.place.around != *around {
            self.place = PlaceRules::new(&self.options, self.normalizes, around);
        }
        let start = out.len();
        if !self.options.is_plain() || handling.repairs() {
            return self.steps(text, out);
        }
        if handling.malformed.rejects() {
            self.place.codec.strict().decode_append(value, out).map_err(malformed)?;
        } else {
            self.place.codec.decode_append(value, out);
        }
        let bytes = &out[start..];
        if handling.not_text.rejects()
            && let Err(at) = utf8::validate(bytes)
        {
            return Err(self.not_text(value, at));
        }
        Ok(usize::from(bytes.len() != value.len() || self.reads_plus(value)))
    }

    /// Runs all steps in turn.
    fn steps(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let Text { bytes: value, records, handling } = text;
        if handling.malformed.rejects() {
            self.validate(value).map_err(malformed)?;
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        let (start, mut rest, mut layers) = (out.len(), value, 0);
        // A charset is guessed once for all escapes of the value.
        let charset = self.options.charset.map(|charset| match charset.is_guessed() {
            true => {
                decoded.clear();
                self.layers(value, &mut decoded);
                charset.of(&decoded)
            }
            false => charset,
        });
        // No escape continues across a malformed `%`, and no character does except in ISO-2022-JP, so the texts on its two sides are
        // decoded by themselves.
        loop {
            let fault = if handling.malformed == Policy::Replace { self.validate(rest).err() } else { None };
            let (part, others) = rest.split_at(fault.map_or(rest.len(), |escape| escape.offset));
            let result = self.part(part, charset, &mut decoded, handling.not_text, out);
            let from = value.len() - rest.len();
            layers = layers.max(result.map_err(|at| {
                let refusal = self.not_text(part, at);
                Refusal { offset: from + refusal.offset, ..refusal }
            })?);
            if fault.is_none() {
                break;
            }
            out.extend_from_slice(b"%25");
            rest = &others[1..];
        }
        let end = printable::end(records);
        if self.options.printable && !printable::is_printable(&out[start..], end) {
            let text = out.split_off(start);
            printable::append(&text, end, out);
        }
        self.decoded = decoded;
        Ok(layers)
    }

    /// Fails with the first malformed escape in `bytes`.
    fn validate(&self, bytes: &[u8]) -> Result<(), MalformedEscape> {
        if self.options.percent_u { percent_u::validate(bytes) } else { simdpct::validate(bytes) }
    }

    /// Appends `bytes`, decoded to text, and returns the number of layers. Fails with the number of decoded bytes
    /// before the first one that is rejected.
    fn part(
        &self,
        bytes: &[u8],
        charset: Option<Charset>,
        decoded: &mut Vec<u8>,
        policy: Policy,
        out: &mut Vec<u8>,
    ) -> Result<usize, usize> {
        let Some(charset) = charset else {
            let start = out.len();
            let layers = self.layers(bytes, out);
            if let Cow::Owned(text) = utf8::by_policy(out[start..].into(), policy)? {
                out.truncate(start);
                out.extend_from_slice(&text);
            }
            return Ok(layers);
        };
        // The charset is that of escaped bytes. A byte that means something in the record format is not converted, because the charset may
        // have it as half of a character. Neither is text outside ASCII that is UTF-8, or the `%uXXXX` of a character outside ASCII.
        let PlaceRules { late, literal, .. } = self.place;
        // Most values need no search for such bytes.
        let searched = if literal.is_empty() { 0 } else { bytes.len() };
        let mut literals: Vec<_> =
            (0..searched).filter(|&at| literal.contains(bytes[at])).map(|at| (at..at + 1, None)).collect();
        literals.extend(utf8::runs(bytes).map(|run| (run, None)));
        if self.options.percent_u {
            let characters = percent_u::characters(bytes).filter(|(_, character)| !character.is_ascii());
            literals.extend(characters.map(|(found, character)| (found, Some(character))));
        }
        literals.sort_unstable_by_key(|(range, _)| range.start);
        let (mut layers, mut before, mut from) = (0, 0, 0);
        for (range, character) in literals.into_iter().chain([(bytes.len()..bytes.len(), None)]) {
            decoded.clear();
            layers = layers.max(self.layers(&bytes[from..range.start], decoded));
            let start = out.len();
            charset.decode(decoded, policy, out).map_err(|at| before + at)?;
            if !late.is_empty() && out[start..].iter().any(|&byte| late.contains(byte)) {
                for byte in out.split_off(start) {
                    if late.contains(byte) { escape(&[byte], out) } else { out.push(byte) }
                }
            }
            before += decoded.len();
            from = range.end;
            let mut buffer = [0; 4];
            let literal = match character {
                Some(character) => character.encode_utf8(&mut buffer).as_bytes(),
                None => &bytes[range],
            };
            layers = layers.max(usize::from(character.is_some()));
            before += literal.len();
            out.extend_from_slice(literal);
        }
        Ok(layers)
    }

    /// Appends `bytes` with as many layers of escapes decoded as the options say, and returns the number of these layers.
    fn layers(&self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let (start, codec) = (out.len(), &self.place.codec);
        let has_changed = match self.options.layers {
            _ if self.options.percent_u => percent_u::decode(bytes, codec, &self.place.keep, out),
            Layers::UntilStable => return codec.decode_until_stable_append(bytes, out),
            Layers::Times(_) => {
                codec.decode_append(bytes, out);
                out.len() - start != bytes.len() || self.reads_plus(bytes)
            }
        };
        match self.options.layers {
            _ if !has_changed => 0,
            Layers::UntilStable => {
                let first = out.split_off(start);
                1 + codec.decode_until_stable_append(&first, out)
            }
            Layers::Times(times) => 1 + self.repeat(times - 1, start, out),
        }
    }

    /// Decodes the bytes of `out` from `start` on up to `times` times, and returns how often that changed them.
    fn repeat(&self, times: u16, start: usize, out: &mut Vec<u8>) -> usize {
        for layer in 0..times {
            let (before, plus) = (out.len(), self.reads_plus(&out[start..]));
            let len = self.place.codec.decode_in_place(&mut out[start..]);
            out.truncate(start + len);
            if out.len() == before && !plus {
                return layer.into();
            }
        }
        times.into()
    }

    /// Reports whether decoding turns a `+` into a space, which does not change the length.
    fn reads_plus(&self, bytes: &[u8]) -> bool {
        self.place.form && memchr::memchr(b'+', bytes).is_some()
    }

    /// Returns the error for invalid text at offset `at` of the decoded `value`.
    fn not_text(&self, value: &[u8], at: usize) -> Refusal {
        let reason = if self.options.charset.is_some() { Reason::NotInCharset } else { Reason::InvalidUtf8 };
        Refusal { offset: self.origin(value, at), reason }
    }

    /// Returns the offset in `value` of the byte at offset `at` of the decoded value. This byte begins an invalid character. It is not
    /// ASCII, except in ISO-2022-JP, so it is not part of an escape of a further layer, and a binary search finds it.
    fn origin(&self, value: &[u8], at: usize) -> usize {
        if self.options.is_plain() {
            return self.plain_origin(value, at);
        }
        let decode = |bytes: &[u8]| {
            let mut out = Vec::new();
            self.layers(bytes, &mut out);
            out
        };
        let all = decode(value);
        let Some(&byte) = all.get(at) else { return value.len() };
        // `end` is the end of the shortest prefix of the value that gives this byte; `start` begins the shortest suffix of that prefix.
        let end = search(0, value.len(), |end| decode(&value[..end]).starts_with(&all[..=at]));
        let start = end - search(1, end, |len| decode(&value[end - len..end]).last() == Some(&byte));
        match start.checked_sub(2) {
            Some(percent) if byte.is_ascii() && decode_escape(&value[percent..]) == Some(byte) => percent,
            _ => start,
        }
    }

    /// Does the work of [`Decoder::origin`] if `value` is decoded once: each escape that does not stay is three bytes that become one.
    fn plain_origin(&self, value: &[u8], at: usize) -> usize {
        let mut shorter = 0;
        for percent in memchr::memchr_iter(b'%', value) {
            if percent >= at + shorter {
                break;
            }
            let byte = decode_escape(&value[percent..]);
            shorter += if byte.is_some_and(|byte| !self.place.keep.contains(byte)) { 2 } else { 0 };
        }
        at + shorter
    }
}

/// Returns the first number from `low` to `high` for which `is_enough` is true. It must be true for all larger numbers.
fn search(mut low: usize, mut high: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

impl Convert for Decoder {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        self.decode(Text { bytes: value.bytes, records: Records::Raw, handling }, value.keep, out)
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let reads_alone =
            |charset: Charset| charset.is_stateful() || charset.is_guessed() || charset.has_inner_digits();
        if self.charset().is_some_and(reads_alone) {
            return None;
        }
        self.decode(text, &text.records.structure(), out).ok().map(|_| 0)
    }

    fn unit(&self) -> Unit {
        match self.charset() {
            Some(charset) if charset.is_guessed() => Unit::Value,
            _ if self.options.is_plain() => Unit::Byte,
            _ => Unit::Text,
        }
    }

    fn decoder(&self) -> Option<&Decoder> {
        Some(self)
    }

    fn set_before(&mut self, before: [u8; 2]) {
        self.place.codec = self.place.codec.continuing(&before);
    }
}
