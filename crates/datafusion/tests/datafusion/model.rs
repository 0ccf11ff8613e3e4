//! Models of the functions, written in the plainest way: they process one byte, escape or URL at a time.

use simdpct_uri::canon::Profile;

/// The reserved bytes that the set `rfc3986-path` keeps.
pub const PATH: &str = "/!$&'()*+,;=:@";

pub fn encode(text: &str, keep: &str) -> Vec<u8> {
    encode_bytes(text.as_bytes(), keep)
}

/// Encodes all bytes except unreserved bytes and those of `keep`.
pub fn encode_bytes(bytes: &[u8], keep: &str) -> Vec<u8> {
    let one = |&byte: &u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => vec![byte],
        _ if keep.as_bytes().contains(&byte) => vec![byte],
        _ => format!("%{byte:02X}").into_bytes(),
    };
    bytes.iter().flat_map(one).collect()
}

/// Returns the byte of the escape at the start of `text`, if there is one.
fn escape(text: &[u8]) -> Option<u8> {
    match text {
        [b'%', high, low, ..] => Some(
            u8::try_from((*high as char).to_digit(16)? * 16 + (*low as char).to_digit(16)?).expect("a byte"),
        ),
        _ => None,
    }
}

/// Returns each byte that `text` decodes to, with the byte or escape in `text` that it comes from.
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

/// Decodes `text`, but keeps the escapes of bytes that are not part of valid UTF-8.
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
    let mut out: Vec<u8> = Vec::new();
    for (byte, spelling) in decoded(text) {
        // A digit stays escaped if it would complete a malformed escape before it.
        let lacks_digit = match out[..] {
            [.., b'%'] => true,
            [.., b'%', digit] => digit.is_ascii_hexdigit(),
            _ => false,
        };
        let stays = encode_bytes(&[byte], "") != [byte] || lacks_digit && byte.is_ascii_hexdigit();
        // Only escapes are written in upper case. A letter outside an escape keeps its case.
        match (spelling.len(), stays) {
            (3, true) => out.extend(spelling.to_ascii_uppercase()),
            (3, false) => out.push(byte),
            _ => out.extend(spelling),
        }
    }
    out
}

/// Returns the canonical form of one URL, if the profile does not reject it.
pub fn canonical(profile: &str, url: &str) -> Option<Vec<u8>> {
    let profile = Profile::find(profile).expect("a profile");
    profile.canonicalize(url).ok().map(|form| form.into_owned().into_bytes())
}
