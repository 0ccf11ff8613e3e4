//! Encodes a value: converts it to the charset, then escapes it.

use simdpct::{ByteSet, HexCase};
use simdpct_records::Kind;

use super::{Convert, Text, Unit, Value};
use crate::common::charset::Charset;
use crate::common::fault::Handling;
use crate::common::reason::{Refusal, not_utf8};
use crate::common::records::Records;
use crate::common::utf8;

/// The options of encoding.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// The bytes that are not escaped.
    pub keep: ByteSet,
    /// Whether valid escapes stay.
    pub keep_escapes: bool,
    /// Whether a space becomes `+`.
    pub form: bool,
    /// Whether new escapes have lower-case digits.
    pub lower: bool,
    /// The charset whose bytes are escaped, if it is not UTF-8.
    pub charset: Option<Charset>,
}

/// An encoder, which runs both steps of encoding.
#[derive(Clone)]
pub struct Encoder {
    options: EncodeOptions,
    /// The codecs for single values, for lines, and for records that end in NUL. They keep the ends of records.
    value: simdpct::Encode<ByteSet>,
    lines: simdpct::Encode<ByteSet>,
    null: simdpct::Encode<ByteSet>,
    /// A buffer for the value in the charset, before it is escaped.
    bytes: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder with `options`.
    pub fn new(options: EncodeOptions) -> Encoder {
        let codec = |records: Records| {
            let case = if options.lower { HexCase::Lower } else { HexCase::Upper };
            let encode = simdpct::Encode::keeping(options.keep.union(records.structure())).hex_case(case);
            match (options.keep_escapes, options.form) {
                (true, _) => encode.keep_escapes(),
                (_, true) => encode.form(),
                _ => encode,
            }
        };
        let [value, lines, null] = [Records::Raw, Records::Lines, Records::Null].map(codec);
        Encoder { options, value, lines, null, bytes: Vec::new() }
    }

    /// Appends `bytes` with escapes, except the ends of `records`. In lines, a `\r` that is not directly before `\n` is data.
    fn escape(&self, bytes: &[u8], records: Records, out: &mut Vec<u8>) {
        match records {
            Records::Raw => self.value.encode_append(bytes, out),
            Records::Null => self.null.encode_append(bytes, out),
            Records::Lines => {
                let mut from = 0;
                let is_data = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
                // No escape continues across a `\r`.
                for at in memchr::memchr_iter(b'\r', bytes).filter(is_data) {
                    self.lines.encode_append(&bytes[from..at], out);
                    self.value.encode_append(b"\r", out);
                    from = at + 1;
                }
                self.lines.encode_append(&bytes[from..], out);
            }
        }
    }

    /// Appends the encoded `text`.
    fn encode(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let Text { bytes: value, records, handling: Handling { not_text: policy, .. } } = text;
        let Some(charset) = self.options.charset else {
            let text = utf8::by_policy(value.into(), policy).map_err(not_utf8)?;
            self.escape(&text, records, out);
            return Ok(());
        };
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        charset.encode(value, policy, &mut bytes, |bytes, number| {
            self.escape(bytes, records, out);
            bytes.clear();
            out.extend_from_slice(format!("%26%23{number}%3B").as_bytes());
        })?;
        self.escape(&bytes, records, out);
        self.bytes = bytes;
        Ok(())
    }
}

impl Convert for Encoder {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        if value.kind == Kind::Asterisk {
            out.extend_from_slice(value.bytes);
            return Ok(0);
        }
        self.encode(Text { bytes: value.bytes, records: Records::Raw, handling }, out).map(|()| 0)
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        if self.options.charset.is_some_and(Charset::is_stateful) {
            return None;
        }
        self.encode(text, out).ok().map(|()| 0)
    }

    fn unit(&self) -> Unit {
        if self.options.charset.is_none() { Unit::Byte } else { Unit::Text }
    }
}
