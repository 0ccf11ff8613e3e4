//! The oracle: every operation an octet at a time, so naive that it cannot be wrong.
//!
//! It shares nothing with `src/`: not the hexadecimal digits, not the sets, not the error types. Members of a set
//! are 256 `bool`s, and each function is a transcription of one paragraph of a specification. Nothing here is
//! fast, and nothing should become so.

/// Members of a set: the octets that stay.
pub type Members = [bool; 256];

/// The set of `octets`.
pub fn members(octets: &[u8]) -> Members {
    let mut members = [false; 256];
    for &octet in octets {
        members[octet as usize] = true;
    }
    members
}

/// The octets of a set, in ascending order.
pub fn octets(members: &Members) -> Vec<u8> {
    (0..=255u8).filter(|&octet| members[octet as usize]).collect()
}

/// The value of a hexadecimal digit.
pub fn digit(octet: u8) -> Option<u8> {
    (0..16).find(|&value| {
        let (upper, lower) = (b"0123456789ABCDEF"[value as usize], b"0123456789abcdef"[value as usize]);
        octet == upper || octet == lower
    })
}

/// The octet that an escape at `at` stands for; `None` if none starts there.
pub fn escape_at(input: &[u8], at: usize) -> Option<u8> {
    if at + 2 < input.len() && input[at] == b'%' {
        let (high, low) = (digit(input[at + 1])?, digit(input[at + 2])?);
        return Some(high * 16 + low);
    }
    None
}

fn push_escape(octet: u8, upper: bool, out: &mut Vec<u8>) {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    out.push(b'%');
    out.push(digits[octet as usize / 16]);
    out.push(digits[octet as usize % 16]);
}

/// The three rules of encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Octets outside the set are escaped.
    Plain,
    /// Valid escapes stay, any other `%` is escaped.
    KeepEscapes,
    /// A space becomes `+`, and `+` is escaped.
    Form,
}

/// Encodes `input`, keeping `members`.
pub fn encode(input: &[u8], members: &Members, rule: Rule, upper: bool, out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while at < input.len() {
        let octet = input[at];
        if rule == Rule::KeepEscapes && escape_at(input, at).is_some() {
            out.extend_from_slice(&input[at..at + 3]);
            at += 3;
            continue;
        }
        // An octet that the rule takes out of the set.
        let taken = match rule {
            Rule::Plain => false,
            Rule::KeepEscapes => octet == b'%',
            Rule::Form => octet == b'+',
        };
        if rule == Rule::Form && octet == b' ' {
            out.push(b'+');
        } else if members[octet as usize] && !taken {
            out.push(octet);
        } else {
            push_escape(octet, upper, out);
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
            Some(octet) if keep[octet as usize] => {
                out.extend_from_slice(&input[at..at + 3]);
                at += 3;
            }
            Some(octet) => {
                out.push(octet);
                at += 3;
            }
            None => {
                out.push(if plus && input[at] == b'+' { b' ' } else { input[at] });
                at += 1;
            }
        }
    }
}

/// RFC 3986, section 6.2.2: escapes of unreserved octets are decoded, all others get upper-case digits.
pub fn normalize(input: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while at < input.len() {
        match escape_at(input, at) {
            Some(octet @ (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~')) => {
                out.push(octet);
                at += 3;
            }
            Some(octet) => {
                push_escape(octet, true, out);
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
    /// Where its `%` stands.
    pub offset: usize,
    /// The offset and value of the octet that should be a digit; `None` if the input ends first.
    pub not_hex: Option<(usize, u8)>,
}

/// Every `%` of `input` in order: the offset and octet of an escape, or what is wrong.
pub fn scan(input: &[u8]) -> Vec<Result<(usize, u8), Bad>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < input.len() {
        if input[at] != b'%' {
            at += 1;
        } else if let Some(octet) = escape_at(input, at) {
            found.push(Ok((at, octet)));
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

/// One decoded octet: where it comes from, and how the input spells it.
struct Unit {
    offset: usize,
    octet: u8,
    spelling: Vec<u8>,
    escaped: bool,
}

fn units(input: &[u8], keep: &Members, plus: bool) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    let literal = |at: usize, octet: u8| Unit { offset: at, octet, spelling: vec![octet], escaped: false };
    while at < input.len() {
        match escape_at(input, at) {
            Some(octet) if keep[octet as usize] => {
                (at..at + 3).for_each(|at| units.push(literal(at, input[at])));
                at += 3;
            }
            Some(octet) => {
                let spelling = input[at..at + 3].to_vec();
                units.push(Unit { offset: at, octet, spelling, escaped: true });
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

/// The character that the octets of `units` start with.
fn character(units: &[Unit]) -> Option<String> {
    (1..=4.min(units.len())).find_map(|len| {
        let octets: Vec<u8> = units[..len].iter().map(|unit| unit.octet).collect();
        String::from_utf8(octets).ok()
    })
}

/// What decoding to text gives, in each of the three ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The offset in the input and in the decoded octets of what is not UTF-8.
    pub not_utf8: Option<(usize, usize)>,
    /// U+FFFD for what is not UTF-8.
    pub lossy: String,
    /// Escapes for what is not UTF-8.
    pub partial: String,
}

/// Decodes `input` to text.
pub fn text(input: &[u8], keep: &Members, plus: bool) -> Text {
    let units = units(input, keep, plus);
    let octets: Vec<u8> = units.iter().map(|unit| unit.octet).collect();
    let mut not_utf8 = None;
    let mut partial = String::new();
    let mut at = 0;
    while at < units.len() {
        if let Some(found) = character(&units[at..]) {
            at += found.len();
            partial.push_str(&found);
            continue;
        }
        let unit = &units[at];
        if not_utf8.is_none() {
            not_utf8 = Some((unit.offset, at));
        }
        if unit.escaped {
            partial.extend(unit.spelling.iter().map(|&octet| char::from(octet)));
        } else {
            partial.push_str(&format!("%{:02X}", unit.octet));
        }
        at += 1;
    }
    Text { not_utf8, lossy: String::from_utf8_lossy(&octets).into_owned(), partial }
}
