//! The oracle: it performs every operation one byte at a time, so simply that it is easy to see that it is right.
//!
//! The oracle shares nothing with `src/`: no hexadecimal digits, no sets, no types of errors. So a mistake in those
//! cannot hide. The members of a set are 256 `bool`s, and each function transcribes one paragraph of a specification.
//! The code is slow on purpose: keep it simple.

/// The members of a set: the bytes that stay.
pub type Members = [bool; 256];

/// Makes the set of `bytes`.
pub const fn members(bytes: &[u8]) -> Members {
    let mut members = [false; 256];
    let mut i = 0;
    while i < bytes.len() {
        members[bytes[i] as usize] = true;
        i += 1;
    }
    members
}

/// The unreserved bytes of RFC 3986, section 2.3.
pub static UNRESERVED: Members =
    members(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");

/// Returns the bytes of a set, in ascending order.
pub fn bytes(members: &Members) -> Vec<u8> {
    (0..=255u8).filter(|&byte| members[byte as usize]).collect()
}

/// Returns the value of a hexadecimal digit of either case, or `None` for any other byte.
pub fn digit(byte: u8) -> Option<u8> {
    (0..16).find(|&value| {
        let (upper, lower) = (b"0123456789ABCDEF"[value as usize], b"0123456789abcdef"[value as usize]);
        byte == upper || byte == lower
    })
}

/// Returns the byte of the escape at the offset `at`; `None` if no valid escape starts there.
pub fn escape_at(input: &[u8], at: usize) -> Option<u8> {
    if at + 2 < input.len() && input[at] == b'%' {
        let (high, low) = (digit(input[at + 1])?, digit(input[at + 2])?);
        return Some(high * 16 + low);
    }
    None
}

fn push_escape(byte: u8, upper: bool, out: &mut Vec<u8>) {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    out.extend([b'%', digits[byte as usize / 16], digits[byte as usize % 16]]);
}

/// The rules that decide which bytes an encoding escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Every byte outside the set is escaped.
    Plain,
    /// Valid escapes stay, and any other `%` is escaped.
    KeepEscapes,
    /// A space becomes `+`, and `+` is escaped.
    Form,
    /// A space becomes `+`, and `+` stays if it is a member of the set.
    FormKeepingPlus,
}

/// Sets `out` to the encoded `input`. The bytes of `members` stay, unless `rule` says otherwise.
pub fn encode(input: &[u8], members: &Members, rule: Rule, upper: bool, out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while at < input.len() {
        let byte = input[at];
        if rule == Rule::KeepEscapes && escape_at(input, at).is_some() {
            out.extend_from_slice(&input[at..at + 3]);
            at += 3;
            continue;
        }
        // Whether the rule escapes the byte even if it is a member of the set.
        let removed = match rule {
            Rule::Plain | Rule::FormKeepingPlus => false,
            Rule::KeepEscapes => byte == b'%',
            Rule::Form => byte == b'+',
        };
        if matches!(rule, Rule::Form | Rule::FormKeepingPlus) && byte == b' ' {
            out.push(b'+');
        } else if members[byte as usize] && !removed {
            out.push(byte);
        } else {
            push_escape(byte, upper, out);
        }
        at += 1;
    }
}

/// Iterates over the valid escapes and the other single bytes of `input`, each with its offset. An escape also has its
/// byte.
fn pieces(input: &[u8]) -> impl Iterator<Item = (usize, &[u8], Option<u8>)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let at = next;
        let escape = escape_at(input, at);
        next += if escape.is_some() { 3 } else { 1 };
        Some((at, input.get(at..next)?, escape))
    })
}

/// Sets `out` to the input with every valid escape decoded but those of the bytes of `keep`. If `plus`, a `+` becomes a space.
pub fn decode(input: &[u8], keep: &Members, plus: bool, out: &mut Vec<u8>) {
    out.clear();
    for (_, piece, escape) in pieces(input) {
        match escape {
            Some(byte) if !keep[byte as usize] => out.push(byte),
            None if plus && piece == b"+" => out.push(b' '),
            _ => out.extend_from_slice(piece),
        }
    }
}

/// Sets `out` to `input` with normalized escapes (RFC 3986, section 6.2.2): escapes of unreserved bytes are decoded,
/// and all others get upper-case digits. The escape of a digit stays after a malformed escape that lacks a digit.
pub fn normalize(input: &[u8], out: &mut Vec<u8>) {
    out.clear();
    for (_, piece, escape) in pieces(input) {
        let lacks_digit = match out[..] {
            [.., b'%'] => true,
            [.., b'%', last] => digit(last).is_some(),
            _ => false,
        };
        match escape {
            Some(byte) if lacks_digit && digit(byte).is_some() => out.extend_from_slice(piece),
            Some(byte) if UNRESERVED[byte as usize] => out.push(byte),
            Some(byte) => push_escape(byte, true, out),
            None => out.extend_from_slice(piece),
        }
    }
}

/// A malformed escape: a `%` that is not followed by two hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The offset of the `%` in the input.
    pub offset: usize,
    /// The offset and value of the byte that is not a digit; `None` if the input ends before the second digit.
    pub not_hex: Option<(usize, u8)>,
}

/// Lists every `%` of `input` in order: the offset and byte of a valid escape, or the error of a malformed one.
pub fn scan(input: &[u8]) -> Vec<Result<(usize, u8), Malformed>> {
    let percents = pieces(input).filter(|(_, piece, _)| piece[0] == b'%');
    percents
        .map(|(at, _, escape)| escape.map(|byte| (at, byte)).ok_or_else(|| malformed_at(input, at)))
        .collect()
}

fn malformed_at(input: &[u8], offset: usize) -> Malformed {
    for place in [offset + 1, offset + 2] {
        if place >= input.len() {
            return Malformed { offset, not_hex: None };
        }
        if digit(input[place]).is_none() {
            return Malformed { offset, not_hex: Some((place, input[place])) };
        }
    }
    unreachable!("the escape at {offset} is valid")
}

/// Returns the first malformed escape of `input`, if there is one.
pub fn first_malformed(input: &[u8]) -> Option<Malformed> {
    let is_malformed = |at: &usize| input[*at] == b'%' && escape_at(input, *at).is_none();
    (0..input.len()).find(is_malformed).map(|at| malformed_at(input, at))
}

/// One decoded byte, with its offset in the input and the escape that it was decoded from, if it was escaped.
struct Unit<'a> {
    offset: usize,
    byte: u8,
    escape: Option<&'a [u8]>,
}

fn units<'a>(input: &'a [u8], keep: &Members, plus: bool) -> Vec<Unit<'a>> {
    let mut units = Vec::new();
    for (at, piece, escape) in pieces(input) {
        match escape {
            Some(byte) if !keep[byte as usize] => units.push(Unit { offset: at, byte, escape: Some(piece) }),
            _ => units.extend(piece.iter().enumerate().map(|(i, &byte)| {
                let byte = if plus && byte == b'+' { b' ' } else { byte };
                Unit { offset: at + i, byte, escape: None }
            })),
        }
    }
    units
}

/// Returns the UTF-8 character with which the bytes of `units` start, or `None` if they start with invalid UTF-8.
fn character(units: &[Unit<'_>]) -> Option<String> {
    (1..=4.min(units.len())).find_map(|len| {
        let bytes: Vec<u8> = units[..len].iter().map(|unit| unit.byte).collect();
        String::from_utf8(bytes).ok()
    })
}

/// The result of decoding to text, for each policy for invalid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The offsets of the first invalid byte: in the input, and in the decoded bytes.
    pub invalid_utf8: Option<(usize, usize)>,
    /// The text with U+FFFD in place of each invalid part.
    pub replaced: String,
    /// The text without the invalid parts.
    pub dropped: String,
    /// The text with an escape in place of each invalid byte.
    pub kept: String,
}

/// Decodes `input` to text under every policy for invalid UTF-8.
pub fn text(input: &[u8], keep: &Members, plus: bool) -> Text {
    let units = units(input, keep, plus);
    let bytes: Vec<u8> = units.iter().map(|unit| unit.byte).collect();
    let mut invalid_utf8 = None;
    let (mut kept, mut dropped) = (String::new(), String::new());
    let mut at = 0;
    while at < units.len() {
        if let Some(found) = character(&units[at..]) {
            at += found.len();
            kept.push_str(&found);
            dropped.push_str(&found);
            continue;
        }
        let unit = &units[at];
        invalid_utf8 = invalid_utf8.or(Some((unit.offset, at)));
        match unit.escape {
            Some(escape) => kept.extend(escape.iter().map(|&byte| char::from(byte))),
            None => kept.push_str(&format!("%{:02X}", unit.byte)),
        }
        at += 1;
    }
    Text { invalid_utf8, replaced: String::from_utf8_lossy(&bytes).into_owned(), dropped, kept }
}
