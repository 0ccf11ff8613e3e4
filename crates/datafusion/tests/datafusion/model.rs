//! What the functions should give, in the plainest way: a byte or an escape at a time.

use simdpct_uri::canon::Profile;

/// The reserved bytes of `rfc3986-path`.
pub const PATH: &str = "/!$&'()*+,;=:@";

pub fn encode(text: &str, keep: &str) -> Vec<u8> {
    encode_bytes(text.as_bytes(), keep)
}

/// Unreserved bytes stay, and those of `keep`.
pub fn encode_bytes(bytes: &[u8], keep: &str) -> Vec<u8> {
    let one = |&byte: &u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => vec![byte],
        _ if keep.as_bytes().contains(&byte) => vec![byte],
        _ => format!("%{byte:02X}").into_bytes(),
    };
    bytes.iter().flat_map(one).collect()
}

/// The value of the escape at the start.
fn escape(text: &[u8]) -> Option<u8> {
    match text {
        [b'%', high, low, ..] => Some(
            u8::try_from((*high as char).to_digit(16)? * 16 + (*low as char).to_digit(16)?).expect("a byte"),
        ),
        _ => None,
    }
}

/// Each byte of what is decoded, and how it is spelt.
fn decoded(text: &str) -> Vec<(u8, &[u8])> {
    let (mut rest, mut out) = (text.as_bytes(), Vec::new());
    while let Some(first) = rest.first() {
        let (byte, len) = escape(rest).map_or((*first, 1), |byte| (byte, 3));
        out.push((byte, &rest[..len]));
        rest = &rest[len..];
    }
    out
}

pub fn decode(text: &str) -> Vec<u8> {
    decoded(text).into_iter().map(|(byte, _)| byte).collect()
}

/// Escapes of bytes that are not part of UTF-8 stay as they are.
pub fn decode_keeping(text: &str) -> Vec<u8> {
    let decoded = decoded(text);
    let bytes: Vec<u8> = decoded.iter().map(|(byte, _)| *byte).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        at += chunk.valid().len();
        for (_, spelling) in &decoded[at..at + chunk.invalid().len()] {
            out.extend_from_slice(spelling);
        }
        at += chunk.invalid().len();
    }
    out
}

pub fn decode_strictly(text: &str) -> Option<Vec<u8>> {
    let decoded = decoded(text);
    let malformed = decoded.iter().any(|(_, spelling)| *spelling == b"%");
    let bytes: Vec<u8> = decoded.into_iter().map(|(byte, _)| byte).collect();
    (!malformed && std::str::from_utf8(&bytes).is_ok()).then_some(bytes)
}

pub fn normalize(text: &str) -> Vec<u8> {
    let one = |(byte, spelling): (u8, &[u8])| {
        if encode_bytes(&[byte], "") == [byte] { vec![byte] } else { spelling.to_vec() }
    };
    // A byte that is no escape may be a letter that must not change.
    let upper = |(byte, spelling): (u8, &[u8])| {
        let made = one((byte, spelling));
        if made.len() == 3 { made.to_ascii_uppercase() } else { made }
    };
    decoded(text).into_iter().flat_map(upper).collect()
}

/// The canonical form of one URL, if there is one that is text.
pub fn canonical(profile: &str, url: &str) -> Option<Vec<u8>> {
    let profile = Profile::find(profile).expect("a profile");
    let form = profile.canonicalize(url).ok()?.into_owned();
    std::str::from_utf8(&form).is_ok().then_some(form)
}
