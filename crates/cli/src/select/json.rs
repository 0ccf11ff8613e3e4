//! Reads JSON in place: finds the selected strings, unescapes them and writes new ones.

use std::ops::Range;

use crate::ground::escape::hex;

/// A node of a [`Tree`]: the selection at one place in a document.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The keys that are selected by name, each with the index in [`Tree`] of the node for its value.
    keys: Vec<(Vec<u8>, u32)>,
    /// The index of the node for the values of all other keys.
    other: u32,
    /// The index of the node for each array element.
    each: u32,
    /// The index of the path that selects a string at this place, if there is one.
    value: Option<u32>,
}

/// The selected places of a document, as a tree whose first node is the root.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

/// The node index that means that nothing is selected at a place or below it.
const NOTHING: u32 = u32::MAX;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Goes to the value of this key of an object.
    Key(String),
    /// Goes to each element of an array.
    Each,
    /// Selects every string at this place and below.
    Every,
}

impl Tree {
    /// Returns the places that `paths` select.
    pub fn new<'p>(paths: impl Iterator<Item = &'p [Step]>) -> Tree {
        let mut tree = Tree { nodes: Vec::new() };
        tree.node();
        for (number, path) in paths.enumerate() {
            tree.add(0, path, number as u32);
        }
        tree.spread(0, None);
        tree
    }

    fn node(&mut self) -> u32 {
        self.nodes.push(Node { keys: Vec::new(), other: NOTHING, each: NOTHING, value: None });
        (self.nodes.len() - 1) as u32
    }

    fn add(&mut self, at: u32, steps: &[Step], number: u32) {
        let index = at as usize;
        let (next, rest) = match steps {
            [] => {
                self.nodes[index].value.get_or_insert(number);
                return;
            }
            [Step::Every, ..] => {
                let below = self.node();
                self.nodes[below as usize] =
                    Node { keys: Vec::new(), other: below, each: below, value: Some(number) };
                let node = &mut self.nodes[index];
                node.value.get_or_insert(number);
                node.other = below;
                return;
            }
            [Step::Each, rest @ ..] => (self.nodes[index].each, rest),
            [Step::Key(key), rest @ ..] => {
                let known = self.nodes[index].keys.iter().find(|(name, _)| name == key.as_bytes());
                (known.map_or(NOTHING, |(_, next)| *next), rest)
            }
        };
        let next = if next == NOTHING { self.node() } else { next };
        match &steps[0] {
            Step::Key(key) => {
                let keys = &mut self.nodes[index].keys;
                if keys.iter().all(|(name, _)| name != key.as_bytes()) {
                    keys.push((key.clone().into_bytes(), next));
                }
            }
            _ => self.nodes[index].each = next,
        }
        self.add(next, rest, number);
    }

    /// Makes the nodes that other paths have below a [`Step::Every`] select every string as well.
    fn spread(&mut self, at: u32, every: Option<u32>) {
        let index = at as usize;
        let node = &mut self.nodes[index];
        if node.other == NOTHING
            && let Some(every) = every
        {
            node.other = every;
            let number = node.value;
            let value = self.nodes[every as usize].value;
            self.nodes[index].value = number.or(value);
        }
        let node = &mut self.nodes[index];
        let every = Some(node.other).filter(|&other| other != NOTHING);
        let named: Vec<u32> = node.keys.iter().map(|(_, next)| *next).collect();
        match (node.each, every) {
            (NOTHING, Some(every)) => node.each = every,
            (NOTHING, None) => {}
            (each, every) if Some(each) != every => self.spread(each, every),
            _ => {}
        }
        for next in named {
            self.spread(next, every);
        }
    }

    /// Returns the node of the key that is spelled `raw` in the document.
    fn key(&self, at: u32, raw: &[u8], has_escapes: bool, nginx: bool) -> u32 {
        let Some(node) = self.nodes.get(at as usize) else { return NOTHING };
        if node.keys.is_empty() {
            return node.other;
        }
        let mut room = Vec::new();
        let name = if has_escapes {
            // An invalid key, with a lone surrogate, matches no name.
            let _ = unescape(raw, &mut room, nginx);
            &room[..]
        } else {
            raw
        };
        node.keys.iter().find(|(key, _)| key == name).map_or(node.other, |(_, next)| *next)
    }
}

/// A selected string.
#[derive(Clone, Debug)]
pub struct Span {
    /// The range of the string without its quotes.
    pub range: Range<usize>,
    pub has_escapes: bool,
    /// The index of the path that selects the string.
    pub path: u32,
    /// The number of the object that contains the string, if the string is the value of a member.
    pub object: Option<u32>,
}

/// An object or array that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    is_object: bool,
    /// The index of the node that tells which values in the object or array are selected.
    node: u32,
    number: u32,
}

/// Reads documents.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    open: Vec<Open>,
    /// The selected strings of the last document.
    pub spans: Vec<Span>,
    /// The objects that have a member with one of the watched names, and the number of the name.
    pub watched: Vec<(u32, usize)>,
    /// Whether `\xHH` is a valid escape, as in the logs of nginx.
    pub nginx: bool,
}

impl Reader {
    /// Creates a reader. `nginx` makes `\xHH` a valid escape.
    pub fn new(nginx: bool) -> Reader {
        Reader { nginx, ..Reader::default() }
    }

    /// Reads `bytes`, one document in UTF-8. Fails with the offset of the first byte that is not JSON.
    pub fn read(&mut self, tree: &Tree, bytes: &[u8], watch: &[String]) -> Result<(), usize> {
        self.open.clear();
        self.spans.clear();
        self.watched.clear();
        let mut at = blanks(bytes, 0);
        let (mut node, mut objects) = (0, 0);
        loop {
            // Reads the start of a value.
            match bytes.get(at) {
                Some(b'"') => {
                    let (stop, has_escapes) = string(bytes, at, self.nginx)?;
                    let path = tree.nodes.get(node as usize).and_then(|node| node.value);
                    if let Some(path) = path {
                        let object = self.open.last().filter(|open| open.is_object).map(|open| open.number);
                        self.spans.push(Span { range: at + 1..stop - 1, has_escapes, path, object });
                    }
                    at = stop;
                }
                Some(b'{') => {
                    at = blanks(bytes, at + 1);
                    if bytes.get(at) == Some(&b'}') {
                        at += 1;
                    } else {
                        self.open.push(Open { is_object: true, node, number: objects });
                        objects += 1;
                        (at, node) = self.key(tree, bytes, at, watch)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    at = blanks(bytes, at + 1);
                    if bytes.get(at) == Some(&b']') {
                        at += 1;
                    } else {
                        self.open.push(Open { is_object: false, node, number: 0 });
                        node = tree.nodes.get(node as usize).map_or(NOTHING, |node| node.each);
                        continue;
                    }
                }
                Some(b't') => at = literal(bytes, at, b"true")?,
                Some(b'f') => at = literal(bytes, at, b"false")?,
                Some(b'n') => at = literal(bytes, at, b"null")?,
                _ => at = number(bytes, at)?,
            }
            // The value is complete; closes the containers that end after it.
            loop {
                if bytes.get(at).is_none_or(|&byte| byte <= b' ') {
                    at = blanks(bytes, at);
                }
                let Some(open) = self.open.last() else {
                    return if at == bytes.len() { Ok(()) } else { Err(at) };
                };
                match (bytes.get(at), open.is_object) {
                    (Some(b','), true) => {
                        at = blanks(bytes, at + 1);
                        (at, node) = self.key(tree, bytes, at, watch)?;
                        break;
                    }
                    (Some(b','), false) => {
                        at = blanks(bytes, at + 1);
                        node = tree.nodes.get(open.node as usize).map_or(NOTHING, |node| node.each);
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.open.pop();
                        at += 1;
                    }
                    _ => return Err(at),
                }
            }
        }
    }

    /// Reads the key at `at`, and returns the offset of its value and the node of the value.
    fn key(&mut self, tree: &Tree, bytes: &[u8], at: usize, watch: &[String]) -> Result<(usize, u32), usize> {
        if bytes.get(at) != Some(&b'"') {
            return Err(at);
        }
        let (stop, has_escapes) = string(bytes, at, self.nginx)?;
        let raw = &bytes[at + 1..stop - 1];
        let open = self.open.last().copied();
        if !watch.is_empty()
            && let Some(open) = open
        {
            let mut room = Vec::new();
            let _ = unescape(raw, &mut room, self.nginx);
            let found = watch.iter().position(|name| name.as_bytes() == room);
            self.watched.extend(found.map(|name| (open.number, name)));
        }
        let node = open.map_or(NOTHING, |open| tree.key(open.node, raw, has_escapes, self.nginx));
        let at = if bytes.get(stop) == Some(&b':') { stop } else { blanks(bytes, stop) };
        if bytes.get(at) != Some(&b':') {
            return Err(at);
        }
        Ok((blanks(bytes, at + 1), node))
    }
}

/// Returns the first offset from `at` on that is not white space.
fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, usize> {
    if bytes[at..].starts_with(word) { Ok(at + word.len()) } else { Err(at) }
}

/// Returns the end of the number at `at`.
pub(super) fn number(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    let digits = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    at += usize::from(bytes.get(at) == Some(&b'-'));
    let whole = digits(at);
    if whole == at || (bytes[at] == b'0' && whole > at + 1) {
        return Err(at);
    }
    at = whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == at + 1 {
            return Err(fraction);
        }
        at = fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == at {
            return Err(at);
        }
        at = exponent;
    }
    Ok(at)
}

/// Returns the end of the string at `at`, after its closing quote, and whether the string contains escapes.
fn string(bytes: &[u8], at: usize, nginx: bool) -> Result<(usize, bool), usize> {
    let mut at = at + 1;
    let mut has_escapes = false;
    loop {
        at += plain(&bytes[at..]);
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, has_escapes)),
            Some(b'\\') => {
                has_escapes = true;
                at += escape_len(&bytes[at..], nginx).ok_or(at)?;
            }
            _ => return Err(at),
        }
    }
}

/// Returns the length of the escape at the start of `rest`.
fn escape_len(rest: &[u8], nginx: bool) -> Option<usize> {
    match rest {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(2),
        [b'\\', b'u', digits @ ..] => hex(digits.get(..4)?).map(|_| 6),
        [b'\\', b'x', digits @ ..] if nginx => hex(digits.get(..2)?).map(|_| 4),
        _ => None,
    }
}

/// Returns the number of bytes at the start of `rest` that a string may contain unescaped: no quotes, backslashes or
/// control bytes.
pub(super) fn plain(rest: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES << 7;
    let mut at = 0;
    while let Some(&word) = rest[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(word);
        // Bits of `found` above its lowest set bit can be wrong, but only the lowest one is used.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
        let low = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = low | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let is_plain = |&&byte: &&u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    at + rest[at..].iter().take_while(is_plain).count()
}

/// Unescapes `raw`, the inside of a quoted string, and appends the text. Fails with the offset of the first backslash
/// that starts no known escape; in a string that [`Reader`] has accepted, that is a lone surrogate.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>, nginx: bool) -> Result<(), usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &raw[at..]) {
        out.extend_from_slice(&raw[at..at + found]);
        at += found;
        let (byte, len) = match raw.get(at + 1) {
            Some(&byte @ (b'"' | b'\\' | b'/' | b'\'')) => (byte, 2),
            // `\a` and `\v` are invalid in JSON, but Go writes them in logfmt.
            Some(b'a') => (7, 2),
            Some(b'v') => (11, 2),
            Some(b'b') => (8, 2),
            Some(b'f') => (12, 2),
            Some(b'n') => (b'\n', 2),
            Some(b'r') => (b'\r', 2),
            Some(b't') => (b'\t', 2),
            Some(b'x') if nginx => (raw.get(at + 2..at + 4).and_then(hex).ok_or(at)? as u8, 4),
            Some(b'u') => {
                let (character, len) = unicode(&raw[at..]).ok_or(at)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += len;
                continue;
            }
            _ => return Err(at),
        };
        out.push(byte);
        at += len;
    }
    out.extend_from_slice(&raw[at..]);
    Ok(())
}

/// Returns the character of the `\uXXXX`, or the pair of them, at the start of `rest`, and its length in `rest`.
fn unicode(rest: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| match rest.get(at..at + 6)? {
        [b'\\', b'u', digits @ ..] => hex(digits),
        _ => None,
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let character = char::decode_utf16([first, unit(6)?]).next()?.ok()?;
    Some((character, 12))
}

/// Maps byte `offset` of the unescaped string to its offset in `raw`.
pub fn raw_offset(raw: &[u8], offset: usize, nginx: bool) -> usize {
    let (mut at, mut bytes) = (0, 0);
    while bytes < offset && at < raw.len() {
        let rest = &raw[at..];
        let (made, len) = match rest {
            [b'\\', b'u', ..] => unicode(rest).map_or((1, 6), |(character, len)| (character.len_utf8(), len)),
            [b'\\', ..] => (1, escape_len(rest, nginx).unwrap_or(2)),
            _ => (1, 1),
        };
        bytes += made;
        at += len;
    }
    at.min(raw.len())
}

/// Appends a JSON string.
pub fn write_string(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    out.push(b'"');
    loop {
        let (start, others) = rest.split_at(plain(rest));
        out.extend_from_slice(start);
        let [byte, others @ ..] = others else { break };
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = others;
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_stops_at_the_first_byte_that_is_none() {
        for byte in 0..=255_u8 {
            for at in 0..20 {
                for filler in [b'a', b' ', b'!', b'#', b'[', b']', 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
                    let mut bytes = [filler; 20];
                    bytes[at] = byte;
                    let is_plain = byte >= b' ' && byte != b'"' && byte != b'\\';
                    assert_eq!(plain(&bytes), if is_plain { 20 } else { at }, "{byte} {at} {filler}");
                }
            }
        }
    }

    #[test]
    fn unescape_reads_any_string_or_says_where_it_cannot() {
        const PIECES: [&str; 16] = [
            "\\", "\\\\", "\\x", "\\x4", "\\x41", "\\u", "\\u0041", "\\u00e9", "\\ud83d", "\\ude00", "\\n",
            "\\q", "4", "g", "é", "\\/",
        ];
        let unescaped = |raw: &[u8], nginx: bool| {
            let mut out = Vec::new();
            unescape(raw, &mut out, nginx).map(|()| out)
        };
        let (mut known, mut unknown) = (0, 0);
        // Tests every sequence of at most four pieces. The index 16 means that there is no piece.
        for code in 0..17_usize.pow(4) {
            let pieces = [code % 17, code / 17 % 17, code / 289 % 17, code / 4913];
            let raw: String = pieces.iter().filter_map(|&piece| PIECES.get(piece)).copied().collect();
            let raw = raw.as_bytes();
            for nginx in [false, true] {
                match unescaped(raw, nginx) {
                    Ok(text) => {
                        known += 1;
                        let offsets: Vec<_> = (0..=text.len()).map(|at| raw_offset(raw, at, nginx)).collect();
                        assert!(offsets.is_sorted() && offsets.last() == Some(&raw.len()), "{offsets:?}");
                        if !raw.windows(2).any(|pair| pair == b"\\x") {
                            let quoted = [b"\"", raw, b"\""].concat();
                            assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap().as_bytes(), text);
                        }
                    }
                    Err(at) => {
                        unknown += 1;
                        assert_eq!(raw[at], b'\\', "{}", raw.escape_ascii());
                        // Everything before the offset can be read, and nothing starts at the offset.
                        assert!(unescaped(&raw[..at], nginx).is_ok(), "{}", raw.escape_ascii());
                        assert_eq!(unescaped(&raw[at..], nginx), Err(0), "{}", raw.escape_ascii());
                    }
                }
            }
        }
        assert!(known > 10_000 && unknown > 10_000, "{known} {unknown}");
    }

    #[test]
    fn it_agrees_with_serde_on_what_is_json() {
        let tree = Tree::new([&[Step::Every][..]].into_iter());
        let words: Vec<_> =
            r#"{ } [ ] , : "a" "\u00e9" "\ud83d\ude00" 1 - 0 .5 e+1 true null nul " \ "\x41" 01 1. false"#
                .split(' ')
                .chain([" ", "\t", "\"\u{1}\"", "\"\u{7f}é\""])
                .collect();
        let mut seed = 1_u64;
        let mut accepted = 0;
        for _ in 0..300_000 {
            let mut text = String::new();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            for index in 0..1 + (seed >> 60) % 9 {
                let mixed = (seed >> 5).wrapping_mul(index * 2 + 1).wrapping_add(seed >> 33);
                text.push_str(words[(mixed % words.len() as u64) as usize]);
            }
            let wanted = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            let got = Reader::default().read(&tree, text.as_bytes(), &[]).is_ok();
            assert_eq!(got, wanted, "{text:?}");
            accepted += u32::from(got);
        }
        assert!(accepted > 1000, "{accepted}");
    }
}
