//! Reads and writes single escapes.

use std::borrow::Cow;

use simdpct::ByteSet;

/// Appends `bytes` to `out`, each as an escape.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    simdpct::Encode::keeping(ByteSet::EMPTY).encode_append(bytes, out);
}

/// Returns `text` with replacements. For the bytes from a `%` on, `new` returns the number of bytes to replace, and
/// their replacement.
pub fn replace<'a, 'n>(
    text: Cow<'a, [u8]>,
    new: impl Fn(&[u8]) -> Option<(usize, &'n [u8])>,
) -> Cow<'a, [u8]> {
    let (mut out, mut from) = (Vec::new(), 0);
    for at in memchr::memchr_iter(b'%', &text) {
        if let Some((len, new)) = new(&text[at..]) {
            out.extend_from_slice(&text[from..at]);
            out.extend_from_slice(new);
            from = at + len;
        }
    }
    if from == 0 {
        return text;
    }
    out.extend_from_slice(&text[from..]);
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
