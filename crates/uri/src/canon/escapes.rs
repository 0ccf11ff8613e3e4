//! Normalizes escapes, without making an absolute URI of a relative reference.

use alloc::vec::Vec;
use core::ops::Range;

use simdpct::{ByteSet, Decode, decode_escape};

/// Appends `text`, one URL or several that end in the byte `end`, with their escapes normalized. Escapes in [`hidden_schemes`] stay.
pub(super) fn append(text: &[u8], end: Option<u8>, out: &mut Vec<u8>) {
    let mut from = 0;
    for place in hidden_schemes(text, end) {
        Decode::NORMALIZE.decode_append(&text[from..place.start], out);
        from = place.end;
        Decode::NORMALIZE.keep(ByteSet::EMPTY.complement()).decode_append(&text[place], out);
    }
    Decode::NORMALIZE.decode_append(&text[from..], out);
}

/// Returns the ranges of the first segments, up to their colon, that would become schemes if they were decoded.
///
/// `%68ttp://a/` is a relative reference, because a scheme contains no escape. Decoded it would be a URI with another meaning (RFC
/// 3986, section 4.2), so normalization keeps the escapes in these ranges. Browsers remove C0 controls and blanks at
/// the start of a URL, and tabs and line ends anywhere, so a range may hold these bytes. `text` is one URL, or several
/// that end in the byte `end`. Takes time linear in the text.
///
/// ```
/// use simdpct_uri::canon::hidden_schemes;
///
/// let text = b"http://a/%41\n%68ttp://a/\njava%73cript:x\n/%41:x\n";
/// assert_eq!(hidden_schemes(text, Some(b'\n')).collect::<Vec<_>>(), [13..19, 25..37]);
/// ```
pub fn hidden_schemes(text: &[u8], end: Option<u8>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    core::iter::from_fn(move || {
        loop {
            let percent = at + memchr::memchr(b'%', &text[at..])?;
            let (mut line, mut stop) = (0, text.len());
            if let Some(end) = end {
                line = memchr::memrchr(end, &text[at..percent]).map_or(at, |found| at + found + 1);
                stop = memchr::memchr(end, &text[percent..]).map_or(stop, |found| percent + found);
            }
            // The rest of the URL is skipped: only its start can be a scheme.
            at = (stop + 1).min(text.len());
            if let Some(len) = hidden_scheme(&text[line..stop]) {
                return Some(line..line + len);
            }
        }
    })
}

/// Returns the length of the text before the first colon of `url`, if this text is a scheme with escapes. Bytes that
/// browsers remove may be before the scheme and in it.
fn hidden_scheme(url: &[u8]) -> Option<usize> {
    let mut at = url.iter().position(|byte| *byte > b' ')?;
    let (mut is_first, mut has_escape) = (true, false);
    loop {
        let (byte, len) = match url.get(at)? {
            b':' => return Some(at).filter(|_| has_escape),
            b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'%' => {
                has_escape = true;
                (decode_escape(&url[at..])?, 3)
            }
            byte => (*byte, 1),
        };
        if !byte.is_ascii_alphabetic() && (is_first || !byte.is_ascii_digit() && !b"+-.".contains(&byte)) {
            return None;
        }
        at += len;
        is_first = false;
    }
}
