//! Converts the escapes in a URL from the charset of each of its values: each segment of the path, each name and each
//! value of the query, and the fragment.

use crate::common::charset::Charset;
use crate::common::fault::Policy;
use crate::common::reason::{Reason, Refusal, not_utf8};
use crate::common::target::Pieces;
use crate::common::utf8;

/// Returns `value` as text. Fails if it is invalid UTF-8.
pub fn text(value: &[u8]) -> Result<&str, Refusal> {
    str::from_utf8(value).map_err(|error| not_utf8(error.valid_up_to()))
}

/// Returns `url`, in which characters in UTF-8 replace their escapes in `charset`. Escapes of ASCII stay, so that the
/// URL has the same parts. The charset holds from the offset `path` on; the host before it is in UTF-8. In the result, escapes of bytes
/// outside ASCII mean bytes that are invalid in the charset, so they must stay.
///
/// `policy` says if bytes that are invalid in the charset are replaced, rejected or escaped, with `percent` as `%`.
pub fn in_utf8(
    charset: Charset,
    url: &[u8],
    path: usize,
    percent: &[u8],
    policy: Policy,
) -> Result<Vec<u8>, Refusal> {
    let (host, rest) = url.split_at(path);
    let mut out = Vec::new();
    append_in_utf8(Charset::UTF_8, host, percent, policy, &mut out).map_err(not_utf8)?;
    let mut start = path;
    for (value, delimiter) in Pieces::from_path(rest) {
        append_in_utf8(charset, value, percent, policy, &mut out)
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
    policy: Policy,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    let mut from = 0;
    // A charset is guessed once for all escapes of the value.
    let charset = if charset.is_guessed() { charset.of(&simdpct::decode(value)) } else { charset };
    let end = value.len();
    for run in utf8::runs(value).chain(std::iter::once(end..end)) {
        append_escaped(charset, &value[from..run.start], percent, policy, out).map_err(|at| from + at)?;
        from = run.end;
        out.extend_from_slice(&value[run]);
    }
    Ok(())
}

/// Appends a part of a value without text outside ASCII that is UTF-8, like [`append_in_utf8`].
fn append_escaped(
    charset: Charset,
    value: &[u8],
    percent: &[u8],
    policy: Policy,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    // The bytes of the value, and the offset of each.
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut is_foreign = charset.is_stateful() || utf8::validate(value).is_err();
    while at < value.len() {
        let escaped = simdpct::decode_escape(&value[at..]);
        is_foreign |= escaped.is_some_and(|byte| !byte.is_ascii());
        bytes.push(escaped.unwrap_or(value[at]));
        offsets.push(at);
        at += if escaped.is_some() { 3 } else { 1 };
    }
    if !is_foreign {
        out.extend_from_slice(value);
        return Ok(());
    }
    let mut decoder = charset.decoder();
    let mut read = 0;
    // The decoder reads byte by byte, to distinguish the escape of an ASCII character from part of another character.
    for (index, &byte) in bytes.iter().enumerate() {
        let is_last = index + 1 == bytes.len();
        let mut from = out.len();
        while let Some(invalid) = decoder.decode(&bytes[..=index], &mut read, is_last, out) {
            match policy {
                policy if policy.rejects() => return Err(offsets[invalid.start]),
                Policy::Replace => out.extend_from_slice("\u{fffd}".as_bytes()),
                _ => {
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
