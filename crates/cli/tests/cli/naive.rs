//! What the command should write, an octet at a time and with all of the input at hand.

/// The octets that RFC 3986 never escapes.
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~".contains(&octet)
}

fn escape(octet: u8) -> String {
    format!("%{octet:02X}")
}

/// The octet of the escape at `at`.
fn escaped(input: &[u8], at: usize) -> Option<u8> {
    let digits = input.get(at..at + 3)?.strip_prefix(b"%")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// `pct encode`, with `is_structure` of an octet and the next.
pub fn encode(input: &[u8], keep_escapes: bool, is_structure: impl Fn(u8, Option<u8>) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut stays = 0;
    for (at, &octet) in input.iter().enumerate() {
        if keep_escapes && escaped(input, at).is_some() {
            stays = 3;
        }
        if stays > 0 || is_unreserved(octet) || is_structure(octet, input.get(at + 1).copied()) {
            out.push(octet);
        } else {
            out.extend_from_slice(escape(octet).as_bytes());
        }
        stays -= i32::from(stays > 0);
    }
    out
}

/// Line mode: `\n`, and `\r` directly before it.
pub fn line_end(octet: u8, next: Option<u8>) -> bool {
    octet == b'\n' || (octet == b'\r' && next == Some(b'\n'))
}

/// `pct decode`, all but the escapes of `keep`.
pub fn decode(input: &[u8], keep: &[u8]) -> Vec<u8> {
    replace(input, |octet, spelling| if keep.contains(&octet) { spelling.to_vec() } else { vec![octet] })
}

/// `pct normalize`.
pub fn normalize(input: &[u8]) -> Vec<u8> {
    replace(
        input,
        |octet, spelling| {
            if is_unreserved(octet) { vec![octet] } else { spelling.to_ascii_uppercase() }
        },
    )
}

fn replace(input: &[u8], with: impl Fn(u8, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < input.len() {
        if let Some(octet) = escaped(input, at) {
            out.extend(with(octet, &input[at..at + 3]));
            at += 3;
        } else {
            out.push(input[at]);
            at += 1;
        }
    }
    out
}
