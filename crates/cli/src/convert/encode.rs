//! Encodes a value: converts it to the charset, then escapes it.

use simdpct::{ByteSet, HexCase};

use super::lines::LineEncoder;
use super::options::EncodeOptions;
use crate::common::charset::{Charset, Lacking};
use crate::common::fault::OnFault;
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::utf8;

/// The steps of encoding.
#[derive(Clone)]
pub struct Encoder {
    pub(super) escape: Escape,
    pub(super) charset: Option<Charset>,
    /// A buffer for the value in the charset, before it is escaped.
    bytes: Vec<u8>,
}

#[derive(Clone)]
pub enum Escape {
    Lines(LineEncoder),
    Plain(simdpct::Encode<ByteSet>),
}

impl Escape {
    fn new(options: &EncodeOptions, records: Records) -> Escape {
        let make = |set: ByteSet| {
            let case = if options.lower { HexCase::Lower } else { HexCase::Upper };
            let encode = simdpct::Encode::keeping(set).hex_case(case);
            match (options.keep_escapes, options.form) {
                (true, _) => encode.keep_escapes(),
                (_, true) => encode.form(),
                _ => encode,
            }
        };
        match records {
            Records::Lines => Escape::Lines(LineEncoder::new(options.keep, make)),
            Records::Null => Escape::Plain(make(options.keep.add(b"\0"))),
            Records::Raw => Escape::Plain(make(options.keep)),
        }
    }

    fn append(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Escape::Lines(encoder) => {
                encoder.push(bytes, out);
                encoder.finish(out);
            }
            Escape::Plain(encode) => encode.encode_append(bytes, out),
        }
    }
}

impl Encoder {
    /// Creates an encoder with `options`. The ends of `records` stay unescaped; with [`Records::Raw`], every byte is
    /// data.
    pub fn new(options: &EncodeOptions, records: Records) -> Encoder {
        Encoder { escape: Escape::new(options, records), charset: options.charset, bytes: Vec::new() }
    }

    /// Appends the encoded `value`. After an error, the appended bytes are meaningless.
    pub fn apply(&mut self, value: &[u8], on_invalid: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let Encoder { escape, charset, bytes } = self;
        // Invalid UTF-8 is replaced before the value is escaped.
        let text = (on_invalid == OnFault::Repair).then(|| String::from_utf8_lossy(value));
        let value = text.as_ref().map_or(value, |text| text.as_bytes());
        let Some(charset) = charset else {
            if on_invalid == OnFault::Refuse
                && let Err(offset) = utf8::validate(value)
            {
                return Err(Refusal { offset, reason: Reason::InvalidUtf8 });
            }
            escape.append(value, out);
            return Ok(());
        };
        bytes.clear();
        let mut offset = 0;
        for chunk in value.utf8_chunks() {
            let mut text = chunk.valid();
            while let Some(Lacking { character, at, rest }) = charset.encoder().encode(text, bytes) {
                if on_invalid == OnFault::Refuse {
                    let before = offset + chunk.valid().len() - text.len() + at;
                    return Err(Refusal { offset: before, reason: Reason::NotInCharset });
                }
                escape.append(bytes, out);
                bytes.clear();
                out.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
                text = rest;
            }
            offset += chunk.valid().len();
            if on_invalid == OnFault::Refuse && !chunk.invalid().is_empty() {
                return Err(Refusal { offset, reason: Reason::InvalidUtf8 });
            }
            bytes.extend_from_slice(chunk.invalid());
            offset += chunk.invalid().len();
        }
        escape.append(bytes, out);
        Ok(())
    }
}
