//! The oracle: every operation a byte at a time, so naive that it cannot be wrong.
//!
//! It shares nothing with `src/`: not the hexadecimal digits, not the sets, not the error types. Members of a set
//! are 256 `bool`s, and each function is a transcription of one paragraph of a specification. Nothing here is
//! fast, and nothing should become so.

/// Members of a set: the bytes that stay.
pub type Members = [bool; 256];

/// The set of `bytes`.
pub fn members(bytes: &[u8]) -> Members {
    let mut members = [false; 256];
    for &byte in bytes {
        members[byte as usize] = true;
    }
    members
}

/// The bytes of a set, in ascending order.
pub fn bytes(members: &Members) -> Vec<u8> {
    (0..=255u8).filter(|&byte| members[byte as usize]).collect()
}

/// The value of a hexadecimal digit.
pub fn digit(byte: u8) -> Option<u8> {
    (0..16).find(|&value| {
        let (upper, lower) = (b"0123456789ABCDEF"[value as usize], b"0123456789abcdef"[value as usize]);
        byte == upper || byte == lower
    })
}

/// The byte that an escape at `at` stands for; `None` if none starts there.
pub fn escape_at(input: &[u8], at: usize) -> Option<u8> {
    if at + 2 < input.len() && input[at] == b'%' {
        let (high, low) = (digit(input[at + 1])?, digit(input[at + 2])?);
        return Some(high * 16 + low);
    }
    None
}

fn push_escape(byte: u8, upper: bool, out: &mut Vec<u8>) {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    out.push(b'%');
    out.push(digits[byte as usize / 16]);
    out.push(digits[byte as usize % 16]);
}

/// The rules of encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Bytes outside the set are escaped.
    Plain,
    /// Valid escapes stay, any other `%` is escaped.
    KeepEscapes,
    /// A space becomes `+`, and `+` is escaped.
    Form,
    /// A space becomes `+`, and `+` stays if it is a member.
    FormKeepingPlus,
}

/// Encodes `input`, keeping `members`.
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
        // A byte that the rule takes out of the set.
        let taken = match rule {
            Rule::Plain | Rule::FormKeepingPlus => false,
            Rule::KeepEscapes => byte == b'%',
            Rule::Form => byte == b'+',
        };
        if matches!(rule, Rule::Form | Rule::FormKeepingPlus) && byte == b' ' {
            out.push(b'+');
        } else if members[byte as usize] && !taken {
            out.push(byte);
        } else {
            push_escape(byte, upper, out);
        }
        at += 1;
    }
}

/// Decodes every valid escape but those of `keep`. `plus`: a `+` is a space.
pub fn decode(input: &[u8], keep: &Members, plus: bool, out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while at < input.len() {
        match escape_at(input, at) {
            Some(byte) if keep[byte as usize] => {
                out.extend_from_slice(&input[at..at + 3]);
                at += 3;
            }
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(if plus && input[at] == b'+' { b' ' } else { input[at] });
                at += 1;
            }
        }
    }
}

/// RFC 3986, section 6.2.2: escapes of unreserved bytes are decoded, all others get upper-case digits.
pub fn normalize(input: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while at < input.len() {
        match escape_at(input, at) {
            Some(byte @ (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~')) => {
                out.push(byte);
                at += 3;
            }
            Some(byte) => {
                push_escape(byte, true, out);
                at += 3;
            }
            None => {
                out.push(input[at]);
                at += 1;
            }
        }
    }
}

/// A malformed escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad {
    /// The offset of its `%`.
    pub offset: usize,
    /// The offset and value of the byte that should be a digit; `None` if the input ends first.
    pub not_hex: Option<(usize, u8)>,
}

/// Every `%` of `input` in order: the offset and byte of an escape, or what is wrong.
pub fn scan(input: &[u8]) -> Vec<Result<(usize, u8), Bad>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < input.len() {
        if input[at] != b'%' {
            at += 1;
        } else if let Some(byte) = escape_at(input, at) {
            found.push(Ok((at, byte)));
            at += 3;
        } else {
            found.push(Err(bad_at(input, at)));
            at += 1;
        }
    }
    found
}

fn bad_at(input: &[u8], offset: usize) -> Bad {
    for place in [offset + 1, offset + 2] {
        if place >= input.len() {
            return Bad { offset, not_hex: None };
        }
        if digit(input[place]).is_none() {
            return Bad { offset, not_hex: Some((place, input[place])) };
        }
    }
    unreachable!("the escape at {offset} is valid")
}

/// The first malformed escape.
pub fn first_bad(input: &[u8]) -> Option<Bad> {
    let is_bad = |at: &usize| input[*at] == b'%' && escape_at(input, *at).is_none();
    (0..input.len()).find(is_bad).map(|at| bad_at(input, at))
}

/// One decoded byte: where it comes from, and how the input spells it.
struct Unit {
    offset: usize,
    byte: u8,
    spelling: Vec<u8>,
    escaped: bool,
}

fn units(input: &[u8], keep: &Members, plus: bool) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    let literal = |at: usize, byte: u8| Unit { offset: at, byte, spelling: vec![byte], escaped: false };
    while at < input.len() {
        match escape_at(input, at) {
            Some(byte) if keep[byte as usize] => {
                (at..at + 3).for_each(|at| units.push(literal(at, input[at])));
                at += 3;
            }
            Some(byte) => {
                let spelling = input[at..at + 3].to_vec();
                units.push(Unit { offset: at, byte, spelling, escaped: true });
                at += 3;
            }
            None => {
                units.push(literal(at, if plus && input[at] == b'+' { b' ' } else { input[at] }));
                at += 1;
            }
        }
    }
    units
}

/// The character that the bytes of `units` start with.
fn character(units: &[Unit]) -> Option<String> {
    (1..=4.min(units.len())).find_map(|len| {
        let bytes: Vec<u8> = units[..len].iter().map(|unit| unit.byte).collect();
        String::from_utf8(bytes).ok()
    })
}

/// What decoding to text gives, in each of the three ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The offset in the input and in the decoded bytes of what is not UTF-8.
    pub invalid_utf8: Option<(usize, usize)>,
    /// U+FFFD for what is not UTF-8.
    pub lossy: String,
    /// Nothing for what is not UTF-8.
    pub ignored: String,
    /// Escapes for what is not UTF-8.
    pub partial: String,
}

/// Decodes `input` to text.
pub fn text(input: &[u8], keep: &Members, plus: bool) -> Text {
    let units = units(input, keep, plus);
    let bytes: Vec<u8> = units.iter().map(|unit| unit.byte).collect();
    let mut invalid_utf8 = None;
    let (mut partial, mut ignored) = (String::new(), String::new());
    let mut at = 0;
    while at < units.len() {
        if let Some(found) = character(&units[at..]) {
            at += found.len();
            partial.push_str(&found);
            ignored.push_str(&found);
            continue;
        }
        let unit = &units[at];
        if invalid_utf8.is_none() {
            invalid_utf8 = Some((unit.offset, at));
        }
        if unit.escaped {
            partial.extend(unit.spelling.iter().map(|&byte| char::from(byte)));
        } else {
            partial.push_str(&format!("%{:02X}", unit.byte));
        }
        at += 1;
    }
    Text { invalid_utf8, lossy: String::from_utf8_lossy(&bytes).into_owned(), ignored, partial }
}
