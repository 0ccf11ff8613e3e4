//! Decoding a value, in the steps that the head of [`super`] lists.

use std::borrow::Cow;

use simdpct::{ByteSet, MalformedCause, MalformedEscape};

use super::handling::Handling;
use super::options::{DecodeOptions, Layers};
use super::origins::How;
use super::{nginx, origins, percent_u, printable};
use crate::ground::charset::Charset;
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};
use crate::ground::records::Records;
use crate::ground::utf8;

/// The steps of decoding.
#[derive(Clone)]
pub struct Decoder {
    decode: simdpct::Decode,
    pub(super) keep: ByteSet,
    pub(super) form: bool,
    /// Whose ends stay.
    pub(super) records: Records,
    pub(super) layers: Layers,
    pub(super) nginx: bool,
    pub(super) percent_u: bool,
    pub(super) charset: Option<Charset>,
    pub(super) printable: bool,
    /// Whether the digits of escapes that stay become upper case.
    pub(super) upper: bool,
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

impl Decoder {
    /// Decodes as `options` ask, and does not make the bytes of `structure`. Of `records`, if pieces hold several, the
    /// ends stay.
    pub fn new(options: &DecodeOptions, structure: ByteSet, records: Records) -> Decoder {
        let keep = options.keep.union(structure);
        let decode = simdpct::Decode::new().keep(keep);
        let DecodeOptions { form, layers, nginx, percent_u, charset, printable, .. } = *options;
        // A "+" that is a space makes one, too.
        let form = form && !structure.contains(b' ');
        Decoder {
            decode: if form { decode.form() } else { decode },
            keep,
            form,
            records,
            layers,
            nginx,
            percent_u,
            charset,
            printable,
            upper: false,
            buffers: Buffers::default(),
        }
    }

    /// Decodes what equivalent URLs may differ in, which is escapes of `unreserved` bytes, and does not make the bytes of
    /// `structure`.
    pub fn normalizer(unreserved: ByteSet, structure: ByteSet) -> Decoder {
        let keep = unreserved.complement().union(structure);
        Decoder {
            decode: simdpct::Decode::NORMALIZE.keep(keep),
            keep,
            form: false,
            records: Records::Raw,
            layers: Layers::Times(1),
            nginx: false,
            percent_u: false,
            charset: None,
            printable: false,
            upper: true,
            buffers: Buffers::default(),
        }
    }

    /// Whether there is no other step than decoding once.
    pub fn is_plain(&self) -> bool {
        let Decoder { nginx, percent_u, charset, printable, .. } = *self;
        self.layers == Layers::Times(1) && !nginx && !percent_u && charset.is_none() && !printable
    }

    /// Whether a value without a "%" stays as it is.
    pub fn needs_percent(&self) -> bool {
        !self.form && !self.nginx && self.charset.is_none() && !self.printable
    }

    /// The length of the `%uXXXX` at the start of `rest`, if that is read.
    pub fn percent_u(&self, rest: &[u8]) -> Option<usize> {
        if !self.percent_u {
            return None;
        }
        percent_u::character_at(rest).map(|(_, len)| len)
    }

    /// Appends what becomes of `value`, and returns the number of layers. After a refusal, what was appended means
    /// nothing.
    pub fn apply(&mut self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        if !self.is_plain() || handling.repairs() {
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

    /// All steps, one after the other.
    fn steps(
        &self,
        buffers: &mut Buffers,
        value: &[u8],
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let Buffers { logged, parts, text } = buffers;
        let mut rest = if self.nginx { nginx::unescape(value, &self.keep, logged) } else { value };
        if handling.malformed == OnFault::Refuse {
            self.validate(rest).map_err(|escape| malformed(self.place(value, escape)))?;
        }
        // The last step writes to `out`.
        let to_text = if self.printable { &mut *text } else { &mut *out };
        if self.printable {
            to_text.clear();
        }
        let mut layers = 0;
        // No escape and no character reaches over a `%` that starts no escape.
        while handling.malformed == OnFault::Repair
            && let Err(escape) = self.validate(rest)
        {
            let part = self.part(&rest[..escape.offset], parts, handling.not_text, to_text);
            layers = layers.max(part.map_err(|at| self.not_text(value, at))?);
            to_text.extend_from_slice(b"%25");
            rest = &rest[escape.offset + 1..];
        }
        let part = self.part(rest, parts, handling.not_text, to_text);
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
        on_invalid: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<usize, usize> {
        let Some(charset) = self.charset else {
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
        let reason = if self.charset.is_some() { Reason::NotInCharset } else { Reason::InvalidUtf8 };
        Refusal { offset, reason }
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

    /// What to know to tell where decoded bytes come from.
    pub(super) fn how(&self) -> How {
        let Decoder { keep, form, layers, nginx, percent_u, .. } = *self;
        How { keep, form, layers, nginx, percent_u }
    }

    /// Where, in `value`, the byte comes from that is at `at` after decoding.
    fn origin(&self, value: &[u8], at: usize) -> usize {
        if self.is_plain() {
            return origins::of_plain(&self.keep, value, at);
        }
        origins::of_decoded(&self.how(), value).origins.get(at).copied().unwrap_or(value.len())
    }
}

/// The refusal of a malformed escape.
pub(super) fn malformed(escape: MalformedEscape) -> Refusal {
    Refusal { offset: escape.offset, reason: Reason::Malformed(escape.cause) }
}
