//! Reads and writes single escapes.

use std::borrow::Cow;

use simdpct::ByteSet;

/// Appends `bytes` to `out`, each as an escape.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    simdpct::Encode::keeping(ByteSet::EMPTY).encode_append(bytes, out);
}

/// Returns `value` with `new` in the place of each `%` that does not start an escape.
pub fn repair<'a>(value: &'a [u8], new: &[u8]) -> Cow<'a, [u8]> {
    let mut out = Vec::new();
    let mut rest = value;
    while let Err(escape) = simdpct::validate(rest) {
        out.extend_from_slice(&rest[..escape.offset]);
        out.extend_from_slice(new);
        rest = &rest[escape.offset + 1..];
    }
    if rest.len() == value.len() {
        return Cow::Borrowed(value);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Returns `bytes` as text. Bytes that are invalid UTF-8 are escaped.
pub fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(&simdpct::encode(chunk.invalid()));
    }
    Cow::Owned(text)
}
