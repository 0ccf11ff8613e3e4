//! Finds the values of a URL that have their own charset: each segment of the path, each name and each value of the query, and the
//! fragment. Converts their escapes from that charset.

use simdpct::ByteSet;

use crate::common::charset::Charset;
use crate::common::escape::byte_of;
use crate::common::fault::OnFault;
use crate::common::reason::{Reason, Refusal};
use crate::common::utf8;

/// The bytes outside ASCII. Their escapes stay in the result of [`in_utf8`] if they are invalid in the charset.
pub const NOT_ASCII: ByteSet = ByteSet::from_bitmap([0, 0, u64::MAX, u64::MAX]);

/// The values of a URL, each with the delimiter after it, which is empty at the end.
pub struct Values<'a> {
    rest: Option<&'a [u8]>,
    next: Next,
}

/// The kind of the next value.
#[derive(Clone, Copy)]
enum Next {
    Segment,
    Name,
    Value,
    /// A value that ends before any of these bytes.
    Until(&'static [u8]),
}

impl<'a> Values<'a> {
    /// Returns the values of a URL from its path on, or from the `?` of its query on.
    pub fn from_path(rest: &'a [u8]) -> Values<'a> {
        Values { rest: Some(rest), next: Next::Segment }
    }

    /// Returns the values between `delimiters`.
    pub fn between(rest: &'a [u8], delimiters: &'static [u8]) -> Values<'a> {
        Values { rest: Some(rest), next: Next::Until(delimiters) }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let delimiters: &[u8] = match self.next {
            Next::Segment => b"/?#",
            Next::Name => b"&=#",
            // Further signs of equality belong to the value.
            Next::Value => b"&#",
            Next::Until(delimiters) => delimiters,
        };
        let len = rest.iter().position(|byte| delimiters.contains(byte)).unwrap_or(rest.len());
        let (value, rest) = rest.split_at(len);
        let Some((delimiter, rest)) = rest.split_at_checked(1) else { return Some((value, rest)) };
        self.next = match (self.next, delimiter) {
            (Next::Until(_), _) | (_, b"/") => self.next,
            (_, b"=") => Next::Value,
            (_, b"#") => Next::Until(b""),
            _ => Next::Name,
        };
        self.rest = Some(rest);
        Some((value, delimiter))
    }
}

/// Returns `url` with the characters that its escapes represent in `charset` as UTF-8. All other escapes stay, so that the URL has
/// the same parts. The charset holds from the offset `path` on; before it is the host, which is in UTF-8.
///
/// Bytes that are invalid in the charset are replaced, or rejected, or stay as escapes, as `on_invalid` says. The `%` of these escapes is written as `percent`.
pub fn in_utf8(
    charset: Charset,
    url: &[u8],
    path: usize,
    percent: &[u8],
    on_invalid: OnFault,
) -> Result<Vec<u8>, Refusal> {
    let (host, rest) = url.split_at(path);
    let mut out = Vec::new();
    append_in_utf8(Charset::UTF_8, host, percent, on_invalid, &mut out)
        .map_err(|offset| Refusal { offset, reason: Reason::InvalidUtf8 })?;
    let mut start = path;
    for (value, delimiter) in Values::from_path(rest) {
        append_in_utf8(charset, value, percent, on_invalid, &mut out)
            .map_err(|at| Refusal { offset: start + at, reason: Reason::NotInCharset })?;
        out.extend_from_slice(delimiter);
        start += value.len() + delimiter.len();
    }
    Ok(out)
}

/// Appends one `value` like [`in_utf8`]. The error is the offset of the first rejected byte.
fn append_in_utf8(
    charset: Charset,
    value: &[u8],
    percent: &[u8],
    on_invalid: OnFault,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    // The bytes of the value, and the offset of each.
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut is_foreign = charset.is_stateful() || utf8::validate(value).is_err();
    while at < value.len() {
        let escaped = value[at..].first_chunk().and_then(byte_of);
        is_foreign |= escaped.is_some_and(|byte| !byte.is_ascii());
        bytes.push(escaped.unwrap_or(value[at]));
        offsets.push(at);
        at += if escaped.is_some() { 3 } else { 1 };
    }
    if !is_foreign {
        out.extend_from_slice(value);
        return Ok(());
    }
    let mut decoder = charset.of(&bytes).decoder();
    let mut read = 0;
    // The decoder reads one byte after the other, so that an escape of ASCII is seen apart from a byte of another character.
    for (index, &byte) in bytes.iter().enumerate() {
        let is_last = index + 1 == bytes.len();
        let mut from = out.len();
        while let Some(invalid) = decoder.decode(&bytes[..=index], &mut read, is_last, out) {
            match on_invalid {
                OnFault::Refuse => return Err(offsets[invalid.start]),
                OnFault::Repair => out.extend_from_slice("\u{fffd}".as_bytes()),
                OnFault::Keep => {
                    for byte in &bytes[invalid] {
                        out.extend_from_slice(percent);
                        out.extend_from_slice(format!("{byte:02X}").as_bytes());
                    }
                }
            }
            from = out.len();
        }
        let unit = &value[offsets[index]..offsets.get(index + 1).copied().unwrap_or(value.len())];
        if unit.len() > 1 && byte.is_ascii() && out[from..].last() == Some(&byte) {
            out.pop();
            out.extend_from_slice(unit);
        }
    }
    Ok(())
}
