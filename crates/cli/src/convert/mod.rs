//! Converts one value, or many records at once, independently of the input that contains them.
//!
//! Decoding consists of these steps, most of which are optional:
//!
//! 1. escapes: decodes `%XX`, and with `--percent-u` also the `%uXXXX` of the first layer; `--times` and
//!    `--until-stable` decode the further layers of `%XX`;
//! 2. `--charset`: converts the bytes to UTF-8;
//! 3. `--printable`: escapes the characters that control a terminal.
//!
//! The bytes of `--keep`, and line ends in lines, stay escaped in each step. Encoding consists of two steps:
//! `--charset`, then escapes. The module [`crate::url`] converts whole URLs, and implements the same trait.

pub mod decode;
pub mod encode;
pub mod parts;
pub mod percent_u;
pub mod policy;
mod printable;
pub mod report;
pub mod stats;

use std::borrow::Cow;

use simdpct::{ByteSet, MalformedEscape};
use simdpct_records::Kind;

use self::decode::Decoder;
use crate::common::escape::escape;
use crate::common::fault::{Handling, Policy, malformed};
use crate::common::reason::{Refusal, not_utf8};
use crate::common::records::Records;
use crate::common::utf8;

/// A value to convert.
#[derive(Clone, Copy)]
pub struct Value<'v> {
    pub bytes: &'v [u8],
    /// The syntax of the value.
    pub kind: Kind,
    /// The bytes that stay escaped, because they would separate or quote values where the new value is written.
    pub keep: &'v ByteSet,
}

/// The smallest piece of input that can be converted alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A byte or an escape. A block of input may end inside a record.
    Byte,
    /// A text, which can be one record or the whole input.
    Text,
    /// A value of a record.
    Value,
}

/// The meaning of a `%` to a conversion of URLs, which decides how malformed escapes are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// A `%` is data like any other byte, so no escape is malformed.
    Data,
    /// Escapes are copied, or changed without being decoded. A value with a malformed escape is converted like others.
    Copied,
    /// Escapes are decoded, so a value with a malformed escape is not wholly decoded. If malformed escapes are to be
    /// repaired, the conversion writes `%25` for their `%`.
    Decoded,
}

/// The text of many records, or one value if `records` is [`Records::Raw`].
#[derive(Clone, Copy)]
pub struct Text<'t> {
    pub bytes: &'t [u8],
    pub records: Records,
    pub handling: Handling,
}

/// A conversion of values. Each thread has a clone of it.
pub trait Convert: CloneBox + Send {
    /// Appends the converted `value` to `out`, and returns the number of layers: how many times decoding changed it. After an error, the
    /// appended bytes are meaningless.
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal>;

    /// Appends the converted `text` of many records, and returns the number of records that were rejected but kept.
    /// Returns `None` if records must be converted one after the other, or if one is rejected and not kept. The
    /// appended bytes are then meaningless.
    fn append_many(&mut self, _: Text<'_>, _: &mut Vec<u8>) -> Option<u64> {
        None
    }

    /// Returns the smallest piece of input that can be converted alone.
    fn unit(&self) -> Unit {
        Unit::Value
    }

    /// Returns the decoder, if the conversion decodes.
    fn decoder(&self) -> Option<&Decoder> {
        None
    }

    /// Sets the last two bytes before the next text (zeros for those that do not exist), on which a normalization depends.
    fn set_before(&mut self, _: [u8; 2]) {}

    /// Fails with the first malformed escape in `url`.
    fn validate(&self, url: &[u8]) -> Result<(), MalformedEscape> {
        simdpct::validate(url)
    }

    /// Reports whether the conversion reads URLs as UTF-8, as opposed to bytes in a charset.
    fn reads_utf8(&self) -> bool {
        true
    }

    /// Returns the text for a value without a result: `null` if results are JSON.
    fn missing(&self) -> &'static [u8] {
        b""
    }

    /// Returns a hint for the user about the values that were converted so far, by this conversion and its clones.
    fn advice(&self) -> Option<String> {
        None
    }

    /// Makes the following values relative to `reference`, which is itself relative to the current base, if the conversion resolves
    /// references. Returns whether it did so.
    fn enter_base(&mut self, _reference: &[u8]) -> bool {
        false
    }

    /// Undoes the last call of [`Convert::enter_base`] that returned true.
    fn leave_base(&mut self) {}
}

/// Clones a conversion, because `dyn Convert` cannot implement `Clone`.
pub trait CloneBox {
    fn clone_box(&self) -> Box<dyn Convert>;
}

impl<C: Convert + Clone + 'static> CloneBox for C {
    fn clone_box(&self) -> Box<dyn Convert> {
        Box::new(self.clone())
    }
}

/// A conversion as jobs use it: an error leaves the output as it was, and the results of URL conversions have no bytes that would
/// separate or quote values.
pub struct Conversion {
    /// The conversion, without the treatment of errors and of bytes that separate or quote values.
    pub inner: Box<dyn Convert>,
    /// The meaning of a `%`, if `inner` is a conversion of URLs; `None` if it handles faults itself.
    pub escapes: Option<Escapes>,
    /// Whether the results of URL conversions are made printable.
    is_printable: bool,
    /// The number of values that were rejected but kept.
    kept: u64,
    /// The set that `find_structure` searched for last, and its bytes for `memchr3` if it has one to three.
    fence: (ByteSet, Option<[u8; 3]>),
}

impl Clone for Conversion {
    fn clone(&self) -> Conversion {
        Conversion { inner: self.inner.clone_box(), ..*self }
    }
}

impl Conversion {
    /// Wraps `convert`, which handles faults itself.
    pub fn new(convert: impl Convert + 'static) -> Conversion {
        let fence = (ByteSet::EMPTY, None);
        Conversion { inner: Box::new(convert), escapes: None, is_printable: false, kept: 0, fence }
    }

    /// Wraps `convert`, a conversion of URLs to which a `%` means `escapes`. Faults are handled before and after it.
    pub fn of_urls(convert: impl Convert + 'static, escapes: Escapes) -> Conversion {
        Conversion { escapes: Some(escapes), ..Conversion::new(convert) }
    }

    /// Makes the results of a conversion of URLs printable, if `is_printable` is set. Tabs stay, because they separate columns.
    #[must_use]
    pub fn printable(self, is_printable: bool) -> Conversion {
        Conversion { is_printable, ..self }
    }

    /// Returns the number of values that were rejected but kept since the last call.
    pub fn take_kept(&mut self) -> u64 {
        std::mem::take(&mut self.kept)
    }

    /// Appends the new value for `value` to `out`, and returns the number of layers: how many times decoding changed the value. After an
    /// error, `out` is unchanged.
    #[inline]
    pub fn convert(
        &mut self,
        value: Value<'_>,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let start = out.len();
        let result = match self.escapes {
            None => self.inner.append(value, handling, out),
            Some(escapes) => self.convert_url(escapes, value, handling, out),
        };
        if self.is_printable && !printable::is_printable(&out[start..], b'\t') {
            printable::append(&out.split_off(start), b'\t', out);
        }
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Appends the new records for those of `text` to `out`, up to the first one that is rejected. Returns the length of their old text.
    pub fn convert_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> usize {
        let Text { bytes, records, handling } = text;
        let start = out.len();
        if !self.is_printable
            && let Some(kept) = self.inner.append_many(text, out)
            && (kept == 0 || !handling.rejected.rejects())
            && (self.escapes.is_none() || self.check(bytes, out, start, handling))
        {
            self.kept += kept;
            return bytes.len();
        }
        out.truncate(start);
        let (keep, mut done) = (records.structure(), 0);
        while done < bytes.len() {
            let record = &bytes[done..records.end_of(bytes, done)];
            let value = &record[..records.without_end(record)];
            if self.convert(Value { bytes: value, kind: Kind::Text, keep: &keep }, handling, out).is_err() {
                break;
            }
            out.extend_from_slice(&record[value.len()..]);
            done += record.len();
        }
        done
    }

    /// Reports whether `text` has no fault that `handling` rejects, and the new records, which are in `out` from
    /// `start` on, have no invalid UTF-8 that it rejects or replaces.
    fn check(&self, text: &[u8], out: &[u8], start: usize, handling: Handling) -> bool {
        self.find_fault(text, handling).is_ok()
            && (handling.not_text == Policy::Keep || utf8::validate(&out[start..]).is_ok())
    }

    /// Converts a URL, and returns the number of layers. A rejected URL stays as it is unless `handling` says otherwise.
    fn convert_url(
        &mut self,
        escapes: Escapes,
        value: Value<'_>,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let (from, old) = (out.len(), value.bytes);
        self.find_fault(old, handling)?;
        let mut new = Cow::Borrowed(old);
        if escapes == Escapes::Copied {
            new = handling.repaired(old, b"%25");
        }
        if handling.not_text == Policy::Replace && self.inner.reads_utf8() && utf8::validate(&new).is_err() {
            new = Cow::Owned(utf8::repaired(&new));
        }
        let layers = match self.inner.append(Value { bytes: &new, ..value }, handling, out) {
            Ok(layers) => layers,
            Err(refusal) => {
                let is_not_text = handling.not_text.rejects() && refusal.reason.is_not_text();
                if is_not_text || handling.rejected.rejects() {
                    return Err(refusal);
                }
                out.truncate(from);
                out.extend_from_slice(old);
                self.kept += 1;
                return Ok(0);
            }
        };
        if let Some(at) = self.find_structure(value.keep, &out[from..]) {
            let is_made = |byte: u8| value.keep.contains(byte) && !old.contains(&byte);
            for byte in out.split_off(from + at) {
                if is_made(byte) { escape(&[byte], out) } else { out.push(byte) }
            }
        }
        if handling.not_text == Policy::Keep || utf8::validate(&out[from..]).is_ok() {
            return Ok(layers);
        }
        if handling.not_text == Policy::Replace {
            let text = out.split_off(from);
            out.extend_from_slice(&utf8::repaired(&text));
            return Ok(layers);
        }
        // Either the value itself or one of its escapes is invalid UTF-8.
        let offset = match utf8::validate(old) {
            Err(offset) => offset,
            Ok(()) => simdpct::Decode::new().decode_utf8(old).map_or_else(|error| error.offset, |_| 0),
        };
        Err(not_utf8(offset))
    }

    /// Fails if `value` contains a malformed escape or invalid UTF-8 that `handling` rejects.
    fn find_fault(&self, value: &[u8], handling: Handling) -> Result<(), Refusal> {
        if handling.malformed.rejects() && self.escapes != Some(Escapes::Data) {
            self.inner.validate(value).map_err(malformed)?;
        }
        if handling.not_text.rejects() && self.inner.reads_utf8() {
            utf8::validate(value).map_err(not_utf8)?;
        }
        Ok(())
    }

    /// Returns the offset of the first byte of `structure` in `bytes`.
    fn find_structure(&mut self, structure: &ByteSet, bytes: &[u8]) -> Option<usize> {
        if self.fence.0 != *structure {
            let members: Vec<u8> = (0..=u8::MAX).filter(|&byte| structure.contains(byte)).take(4).collect();
            self.fence = (
                *structure,
                match members[..] {
                    [a] => Some([a; 3]),
                    [a, b] => Some([a, b, b]),
                    [a, b, c] => Some([a, b, c]),
                    _ => None,
                },
            );
        }
        match self.fence.1 {
            Some([a, b, c]) => memchr::memchr3(a, b, c, bytes),
            None => bytes.iter().position(|&byte| structure.contains(byte)),
        }
    }
}
