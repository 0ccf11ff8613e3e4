//! Converts values of header parameters whose names end with `*`, such as `filename*` (RFC 8187).

use simdpct::header::{ExtValueError, decode_ext_value, encode_ext_value};

use super::values::text;
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal};
use crate::convert::{Convert, Value};

/// The direction of the conversion between text and values such as `UTF-8''a%20b`.
#[derive(Clone, Copy, Debug)]
pub enum ExtValue {
    Encode,
    Decode,
}

impl Convert for ExtValue {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        match self {
            ExtValue::Encode => {
                out.extend_from_slice(encode_ext_value(text(value.bytes)?).as_bytes());
                Ok(0)
            }
            ExtValue::Decode => {
                let decoded = decode_ext_value(value.bytes).map_err(|error| {
                    let offset = match error {
                        ExtValueError::Value { offset } | ExtValueError::InvalidUtf8 { offset } => offset,
                        _ => 0,
                    };
                    Refusal { offset, reason: Reason::Url(error.to_string()) }
                })?;
                out.extend_from_slice(decoded.text.as_bytes());
                Ok(usize::from(value.bytes.contains(&b'%')))
            }
        }
    }
}
