//! Simple implementations of the commands, which process one byte at a time and have the whole input in memory.

/// Reports whether `byte` is unreserved by RFC 3986.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn escape(byte: u8) -> String {
    format!("%{byte:02X}")
}

/// Decodes the escape at offset `at` of `input`; `None` if there is no valid escape.
fn escaped(input: &[u8], at: usize) -> Option<u8> {
    let digits = input.get(at..at + 3)?.strip_prefix(b"%")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Encodes like `pct encode`. `is_structure` receives a byte and the next one, and decides whether the byte stays.
pub fn encode(input: &[u8], keep_escapes: bool, is_structure: impl Fn(u8, Option<u8>) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut stays = 0;
    for (at, &byte) in input.iter().enumerate() {
        if keep_escapes && escaped(input, at).is_some() {
            stays = 3;
        }
        if stays > 0 || is_unreserved(byte) || is_structure(byte, input.get(at + 1).copied()) {
            out.push(byte);
        } else {
            out.extend_from_slice(escape(byte).as_bytes());
        }
        stays -= i32::from(stays > 0);
    }
    out
}

/// Reports whether `byte` belongs to a line end in line mode: `\n`, or `\r` directly before `\n`.
pub fn line_end(byte: u8, next: Option<u8>) -> bool {
    byte == b'\n' || (byte == b'\r' && next == Some(b'\n'))
}

/// Decodes like `pct decode`, but keeps the escapes of the bytes in `keep`.
pub fn decode(input: &[u8], keep: &[u8]) -> Vec<u8> {
    replace(input, |byte, spelling, _| if keep.contains(&byte) { spelling.to_vec() } else { vec![byte] })
}

/// Normalizes escapes like `pct normalize`, which never turns a relative reference into a URI.
pub fn normalize(input: &[u8]) -> Vec<u8> {
    let decoded = |text: &[u8]| {
        let one = |byte: u8, spelling: &[u8], before: &[u8]| {
            // A digit stays escaped if it would complete a malformed escape before it.
            let lacks_digit = match before {
                [.., b'%'] => true,
                [.., b'%', digit] => digit.is_ascii_hexdigit(),
                _ => false,
            };
            let completes = lacks_digit && byte.is_ascii_hexdigit();
            if is_unreserved(byte) && !completes { vec![byte] } else { spelling.to_ascii_uppercase() }
        };
        replace(text, one)
    };
    // Before browsers parse the scheme, they remove controls and blanks at the start, and tabs and line ends anywhere.
    let has_scheme = |url: &[u8]| {
        let start = url.iter().position(|&byte| byte > b' ').unwrap_or(url.len());
        let mut read = url[start..].to_vec();
        read.retain(|byte| !b"\t\r\n".contains(byte));
        simdpct_uri::split(&read).scheme().is_some()
    };
    let line = |line: &[u8]| match line.iter().position(|&byte| byte == b':') {
        Some(colon) if has_scheme(&decoded(line)) && !has_scheme(line) => {
            [replace(&line[..colon], |_, spelling, _| spelling.to_ascii_uppercase()), decoded(&line[colon..])]
                .concat()
        }
        _ => decoded(line),
    };
    input.split_inclusive(|&byte| byte == b'\n').flat_map(line).collect()
}

/// Replaces each escape by the result of `with`, which gets the byte, its spelling and the input before the escape.
fn replace(input: &[u8], with: impl Fn(u8, &[u8], &[u8]) -> Vec<u8>) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < input.len() {
        if let Some(byte) = escaped(input, at) {
            out.extend(with(byte, &input[at..at + 3], &input[..at]));
            at += 3;
        } else {
            out.push(input[at]);
            at += 1;
        }
    }
    out
}
