//! Decodes a value, in the steps that the documentation of [`super`] lists.

use std::borrow::Cow;

use simdpct::internals::after;
use simdpct::{ByteSet, MalformedEscape};

use super::options::{DecodeOptions, Layers};
use super::{origins, percent_u, printable};
use crate::common::charset::Charset;
use crate::common::fault::{Handling, OnFault};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::utf8;

/// The steps of decoding.
#[derive(Clone)]
pub struct Decoder {
    decode: simdpct::Decode,
    /// The options of the user, except that `keep` also contains the bytes that separate or quote values in the record format.
    /// Their escapes stay, because decoding a `%09` in a TSV record would add a field.
    pub(super) options: DecodeOptions,
    /// The kind of records in a value. The ends of records stay.
    pub(super) records: Records,
    /// Whether the digits of escapes that stay become upper case.
    pub(super) upper: bool,
    /// Whether a backslash in a value quotes the byte after it, and so is not half of a character of the charset.
    is_quoting: bool,
    buffers: Buffers,
}

/// The buffers between the steps, kept so that they are allocated once.
#[derive(Clone, Default)]
struct Buffers {
    parts: Parts,
    /// The value after `--charset`.
    text: Vec<u8>,
}

/// The buffers for a part of a value.
#[derive(Clone, Default)]
struct Parts {
    /// The part after its first layer is decoded, if it contains `%uXXXX`.
    first: Vec<u8>,
    /// The part after all layers are decoded.
    decoded: Vec<u8>,
}

impl Decoder {
    /// Creates a decoder with `options`. The bytes of `structure` stay escaped, and the ends of `records` stay, if a
    /// value contains several records.
    pub fn new(options: &DecodeOptions, structure: ByteSet, records: Records) -> Decoder {
        let keep = options.keep.union(structure);
        // Form decoding would turn a "+" into a space, so it is off in formats that separate values by spaces. The escape
        // `%2B` then stays too: a "+" that was decoded could not be told from one that means a space.
        let form = options.form && !structure.contains(b' ');
        let keep = if options.form && !form { keep.add(b"+") } else { keep };
        let decode = simdpct::Decode::new().keep(keep);
        Decoder {
            decode: if form { decode.form() } else { decode },
            options: DecodeOptions { keep, form, ..options.clone() },
            records,
            upper: false,
            is_quoting: structure.contains(b'\\') && !options.charset.is_some_and(Charset::is_guessed),
            buffers: Buffers::default(),
        }
    }

    /// Creates a decoder that normalizes escapes: it decodes the escapes of the bytes in `unreserved`, except those in
    /// `structure`.
    pub fn normalizer(unreserved: ByteSet, structure: ByteSet) -> Decoder {
        let keep = unreserved.complement().union(structure);
        Decoder {
            decode: simdpct::Decode::NORMALIZE.keep(keep),
            options: DecodeOptions { keep, ..DecodeOptions::ONCE },
            records: Records::Raw,
            upper: true,
            is_quoting: false,
            buffers: Buffers::default(),
        }
    }

    /// Sets the last two bytes before the next values, on which a normalization depends.
    pub fn set_before(&mut self, before: [u8; 2]) {
        self.decode = after(self.decode, before);
    }

    /// Reports whether every value without a "%" stays as it is.
    pub fn needs_percent(&self) -> bool {
        !self.options.form && self.options.charset.is_none() && !self.options.printable
    }

    /// Returns the codec that decodes values, if decoding once is the only step and a `+` stays.
    pub fn codec(&self) -> Option<simdpct::Decode> {
        (self.options.is_plain() && !self.options.form).then_some(self.decode)
    }

    /// Returns the length of the `%uXXXX` at the start of `rest`, if the decoder reads such escapes.
    pub fn percent_u(&self, rest: &[u8]) -> Option<usize> {
        if !self.options.percent_u {
            return None;
        }
        percent_u::character_at(rest).map(|(_, len)| len)
    }

    /// Appends the decoded `value`, and returns the number of layers of escapes. After an error, the appended bytes are
    /// meaningless.
    pub fn apply(&mut self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        if !self.options.is_plain() || handling.repairs() {
            let mut buffers = std::mem::take(&mut self.buffers);
            let result = self.steps(&mut buffers, value, handling, out);
            self.buffers = buffers;
            return result;
        }
        let start = out.len();
        if handling.malformed == OnFault::Refuse {
            self.decode.strict().decode_append(value, out).map_err(malformed)?;
        } else {
            self.decode.decode_append(value, out);
        }
        let bytes = &out[start..];
        if handling.not_text == OnFault::Refuse
            && let Err(at) = utf8::validate(bytes)
        {
            return Err(self.not_text(value, at));
        }
        Ok(usize::from(bytes.len() != value.len() || self.reads_plus(value)))
    }

    /// Runs all steps in turn.
    fn steps(
        &self,
        buffers: &mut Buffers,
        value: &[u8],
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let Buffers { parts, text } = buffers;
        let mut rest = value;
        if handling.malformed == OnFault::Refuse {
            self.validate(rest).map_err(malformed)?;
        }
        let start = out.len();
        let mut layers = 0;
        // No escape and no character continues across a malformed `%`, so the parts between them are independent.
        while handling.malformed == OnFault::Repair
            && let Err(escape) = self.validate(rest)
        {
            let part = self.part(&rest[..escape.offset], parts, handling.not_text, out);
            layers = layers.max(part.map_err(|at| self.not_text(value, at))?);
            out.extend_from_slice(b"%25");
            rest = &rest[escape.offset + 1..];
        }
        let part = self.part(rest, parts, handling.not_text, out);
        layers = layers.max(part.map_err(|at| self.not_text(value, at))?);
        if self.options.printable && !printable::is_printable(&out[start..], self.records) {
            text.clear();
            text.extend_from_slice(&out[start..]);
            out.truncate(start);
            printable::append(text, self.records, out);
        }
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
        Parts { first, decoded }: &mut Parts,
        on_invalid: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<usize, usize> {
        let Some(charset) = self.options.charset else {
            let start = out.len();
            let layers = self.decode(bytes, first, out);
            if on_invalid == OnFault::Refuse {
                utf8::validate(&out[start..])?;
            }
            if on_invalid == OnFault::Repair
                && let Cow::Owned(text) = String::from_utf8_lossy(&out[start..])
            {
                out.truncate(start);
                out.extend_from_slice(text.as_bytes());
            }
            return Ok(layers);
        };
        let (mut layers, mut before) = (0, 0);
        self.each_part(bytes, |part, character| {
            decoded.clear();
            layers = layers.max(self.decode(part, first, decoded));
            charset.decode(decoded, on_invalid, out).map_err(|at| before + at)?;
            before += decoded.len();
            if let Some(character) = character {
                layers = layers.max(usize::from(!character.is_ascii()));
                before += character.len_utf8();
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Ok::<(), usize>(())
        })?;
        Ok(layers)
    }

    /// Returns the error for invalid text at offset `at` of the decoded `value`.
    fn not_text(&self, value: &[u8], at: usize) -> Refusal {
        let offset = self.origin(value, at);
        let reason = if self.options.charset.is_some() { Reason::NotInCharset } else { Reason::InvalidUtf8 };
        Refusal { offset, reason }
    }

    /// Passes `bytes` to `each` in parts, which are separated by the `%uXXXX` of characters outside ASCII, and by backslashes that
    /// quote in the record format. Such a character is not converted by the charset, in which `\` may be half of a character.
    fn each_part<E>(
        &self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8], Option<char>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\\', rest).filter(|_| self.is_quoting) {
            self.each_text(&rest[..at], &mut each)?;
            each(b"", Some('\\'))?;
            rest = &rest[at + 1..];
        }
        self.each_text(rest, &mut each)
    }

    /// Passes `bytes` to `each` in parts like [`Decoder::each_part`], if no backslash is special.
    fn each_text<E>(
        &self,
        bytes: &[u8],
        each: &mut impl FnMut(&[u8], Option<char>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = 0;
        if self.options.percent_u {
            for (found, character) in percent_u::characters(bytes) {
                if !character.is_ascii() {
                    each(&bytes[from..found.start], Some(character))?;
                    from = found.end;
                }
            }
        }
        each(&bytes[from..], None)
    }

    /// Appends `bytes` with all layers of escapes decoded, and returns the number of layers.
    fn decode(&self, bytes: &[u8], first: &mut Vec<u8>, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        if self.options.percent_u && percent_u::characters(bytes).next().is_some() {
            first.clear();
            let changed = percent_u::decode(bytes, &self.decode, &self.options.keep, first);
            return usize::from(changed)
                + match self.options.layers {
                    Layers::UntilStable => self.decode.decode_until_stable_append(first, out),
                    Layers::Times(times) => {
                        out.extend_from_slice(first);
                        self.repeat(times - 1, start, out)
                    }
                };
        }
        match self.options.layers {
            Layers::UntilStable => self.decode.decode_until_stable_append(bytes, out),
            Layers::Times(times) => {
                self.decode.decode_append(bytes, out);
                let changed = out.len() - start != bytes.len() || self.reads_plus(bytes);
                if changed { 1 + self.repeat(times - 1, start, out) } else { 0 }
            }
        }
    }

    /// Decodes the bytes of `out` from `start` on up to `times` times, and returns how often that changed them.
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

    /// Reports whether decoding turns a `+` into a space, which does not change the length.
    fn reads_plus(&self, bytes: &[u8]) -> bool {
        self.options.form && memchr::memchr(b'+', bytes).is_some()
    }

    /// Returns the offset in `value` of the byte at offset `at` of the decoded value.
    fn origin(&self, value: &[u8], at: usize) -> usize {
        if self.options.is_plain() {
            return origins::of_plain(&self.options.keep, self.upper, value, at);
        }
        origins::of_decoded(&self.options, value).origins.get(at).copied().unwrap_or(value.len())
    }
}

/// Returns the error for a malformed escape.
pub(super) fn malformed(escape: MalformedEscape) -> Refusal {
    Refusal { offset: escape.offset, reason: Reason::Malformed(escape.cause) }
}
