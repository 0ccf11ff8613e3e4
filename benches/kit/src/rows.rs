//! Makes the rows of the benchmarks: the input that contenders process.

use std::path::Path;
use std::{fs, io};

use crate::{Random, Shape, Verb, place};

/// The least number of distinct strings of a row of short strings.
pub const DISTINCT: usize = 20_000;
/// The least number of distinct bytes of a row of blocks.
const DISTINCT_BYTES: usize = 512 * 1024;
/// The length in bytes of most blocks.
const BLOCK: usize = 64 * 1024;

/// The unit in which a row is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The time of a call. It is the unit of rows of short strings.
    Call,
    /// The bytes of input per time. It is the unit of rows of blocks.
    Byte,
}

/// Input: strings that are read in order, each by one call.
#[derive(Clone, Debug)]
pub struct Row {
    text: String,
    ends: Vec<usize>,
}

impl Row {
    fn of<T: AsRef<str>>(strings: impl IntoIterator<Item = T>) -> Row {
        let mut row = Row { text: String::new(), ends: Vec::new() };
        for string in strings {
            row.text.push_str(string.as_ref());
            row.ends.push(row.text.len());
        }
        let mut text = place::at(row.text.len(), place::INPUT);
        text.extend_from_slice(row.text.as_bytes());
        row.text = String::from_utf8(text).expect("a copy of valid UTF-8");
        row
    }

    /// Returns the strings, which are adjacent in memory.
    pub fn strings(&self) -> Vec<&str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect()
    }

    /// Replaces the `%` of each malformed escape by `_`. A strict decoder rejects a string with a malformed escape, and the time
    /// of a rejection is meaningless.
    fn well_formed(mut self) -> Row {
        let bytes = self.text.as_bytes();
        let malformed = |&(at, &byte): &(usize, &u8)| {
            // An escape must end in the string in which it starts.
            let end = self.ends[self.ends.partition_point(|&end| end <= at)];
            let digits = bytes[at + 1..end].iter().take_while(|digit| digit.is_ascii_hexdigit());
            byte == b'%' && digits.take(2).count() < 2
        };
        let offsets: Vec<usize> = bytes.iter().enumerate().filter(malformed).map(|(at, _)| at).collect();
        for at in offsets {
            self.text.replace_range(at..=at, "_");
        }
        self
    }

    /// Returns the number of bytes of all strings.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the length of the longest string.
    pub fn longest(&self) -> usize {
        self.strings().iter().map(|string| string.len()).max().unwrap_or(0)
    }
}

/// The description of a row, and the function that makes it.
pub struct Spec {
    /// The name of the row, which is unique among the rows of its verb.
    pub name: String,
    /// The verb that takes the row as input.
    pub verb: Verb,
    /// The unit in which the row is reported.
    pub unit: Unit,
    /// The kind of text that the row represents.
    pub about: &'static str,
    make: Box<dyn Fn() -> Row>,
}

impl Spec {
    fn new(
        verb: Verb,
        name: &str,
        unit: Unit,
        about: &'static str,
        make: impl Fn() -> Row + 'static,
    ) -> Spec {
        Spec { name: name.to_owned(), verb, unit, about, make: Box::new(make) }
    }

    /// Makes the row as input for `shape`. A row for a strict decoder has no malformed escapes.
    pub fn make(&self, shape: Shape) -> Row {
        let row = (self.make)();
        if shape == Shape::Strict { row.well_formed() } else { row }
    }

    /// Reports whether the row is measured with all shapes of the verb, or only with `Shape::Append`.
    pub fn has_all_shapes(&self) -> bool {
        matches!(
            &*self.name,
            "clean 16" | "clean 64 KiB" | "urls" | "urls encoded" | "urls joined" | "10 % specials"
        )
    }
}

/// Reads a list of URLs, one on each line, and returns them in random order.
///
/// # Errors
///
/// Fails if the file cannot be read or all its lines are empty.
pub fn read_urls(seed: u64, list: &Path) -> io::Result<Vec<String>> {
    // Some rivals take only `str`, so lines of invalid UTF-8 are left out for all contenders.
    let bytes = fs::read(list)?;
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut lines: Vec<_> = lines.filter_map(|line| String::from_utf8(line.to_vec()).ok()).collect();
    if lines.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the list has no lines"));
    }
    Random::new(seed).shuffle(&mut lines);
    Ok(lines)
}

/// Returns the [`Spec`] of every row. The rows of URLs are made from `urls`.
pub fn specs(seed: u64, urls: &[String]) -> Vec<Spec> {
    let escaped: Vec<String> = urls.iter().map(|url| escape(url)).collect();

    let mut specs = Vec::new();
    for verb in Verb::ALL {
        let mut add = |name: &str, unit, about: &'static str, make: Box<dyn Fn() -> Row>| {
            specs.push(Spec::new(verb, name, unit, about, make));
        };
        add("clean 0-64", Unit::Call, CLEAN, Box::new(move || clean_random(seed)));
        for length in [4, 8, 16, 24, 32, 48, 64, 100, 128, 192, 256, 400] {
            let clean = move || fixed_length(seed, length, |random| random.pick(UNRESERVED) as char);
            add(&format!("clean {length}"), Unit::Call, CLEAN, Box::new(clean));
        }
        for (name, length) in [("clean 1 KiB", 1 << 10), ("clean 64 KiB", BLOCK), ("clean 1 MiB", 1 << 20)] {
            let clean =
                move || blocks(seed, length, |random, text| text.push(random.pick(UNRESERVED) as char));
            add(name, Unit::Byte, CLEAN, Box::new(clean));
        }
        for length in [100, 128, 192, 256, 400] {
            // One part in ten is *special*: a byte to encode, or an escape to decode if it still fits into the string.
            let tenth = move || {
                let mut random = Random::new(seed ^ length as u64);
                Row::of((0..DISTINCT).map(|_| with_specials(&mut random, length, verb, 100_000)))
            };
            add(&format!("10 % of {length}"), Unit::Call, MIXED, Box::new(tenth));
        }
        let lines = urls.to_vec();
        add("urls", Unit::Call, "URLs of real lists, one a call", Box::new(move || Row::of(&lines)));
        if verb == Verb::Decode {
            let (lines, about) = (escaped.clone(), "URLs that are the value of a parameter");
            add("urls encoded", Unit::Call, about, Box::new(move || Row::of(&lines)));
        }
        let lines = urls.join("\n");
        add("urls joined", Unit::Byte, "a file of URLs", Box::new(move || Row::of([&lines])));
        if verb == Verb::Decode {
            let (lines, about) = (escaped.join("\n"), "a file of encoded URLs");
            add("urls encoded joined", Unit::Byte, about, Box::new(move || Row::of([&lines])));
        }

        // Both verbs get the same kinds of text: plain text for the encoder, escaped text for the decoder.
        let push = move |text: &mut String, part: char| match verb {
            Verb::Encode => text.push(part),
            Verb::Decode => escape_to(part, text),
        };
        for percent in [1, 5, 10, 50] {
            let share = percent * 10_000;
            let one = move |random: &mut Random, text: &mut String| {
                let special = random.chance(share);
                push(text, random.pick(if special { SPECIAL } else { UNRESERVED }) as char);
            };
            let name = format!("{percent} % specials");
            add(&name, Unit::Byte, MIXED, Box::new(move || blocks(seed, BLOCK, one)));
        }
        let one =
            move |random: &mut Random, text: &mut String| push(text, between(random, '\u{4E00}', 0x51A0));
        add("dense CJK", Unit::Byte, "text in Chinese", Box::new(move || blocks(seed, BLOCK, one)));
        let one = move |random: &mut Random, text: &mut String| push(text, between(random, '\u{430}', 32));
        add("dense Cyrillic", Unit::Byte, "text in Russian", Box::new(move || blocks(seed, BLOCK, one)));
        let one = |_: &mut Random, text: &mut String| text.push('%');
        add("%%%%", Unit::Byte, "the most malformed escapes", Box::new(move || blocks(seed, BLOCK, one)));
        let one = |random: &mut Random, text: &mut String| {
            text.push_str(random.pick(&["%", "%%", "%4", "%zz", "%g1", "%1g", "%x", "% "]));
            text.extend((0..random.below(12)).map(|_| random.pick(b"xyzghijklmn") as char));
        };
        let about = "malformed escapes of every kind";
        add("invalid escapes", Unit::Byte, about, Box::new(move || blocks(seed, BLOCK, one)));
        let one = move |random: &mut Random, text: &mut String| {
            for bytes in [UNRESERVED, UNRESERVED, SPECIAL] {
                push(text, random.pick(bytes) as char);
            }
        };
        let about = "the positions that are worst for the shuffles of vector code";
        add("every third", Unit::Byte, about, Box::new(move || blocks(seed, BLOCK, one)));
    }
    specs.extend(ISSUES.iter().map(|&(verb, name, unit, about, part)| {
        Spec::new(verb, name, unit, about, move || match unit {
            Unit::Call => strings(seed, 200, DISTINCT, part),
            Unit::Byte => blocks(seed, BLOCK, part),
        })
    }));
    specs
}

const CLEAN: &str = "text that needs no change, such as names and numbers";
const MIXED: &str = "text with some bytes to change at random positions";

/// A function that appends one part to a string.
type MakePart = fn(&mut Random, &mut String);

/// Rows like the input in public issues of other projects: random text, with parts of the same kinds and lengths.
const ISSUES: &[(Verb, &str, Unit, &str, MakePart)] = &[
    (
        Verb::Encode,
        "1 in 10 not ASCII",
        Unit::Call,
        "names of packages; github.com/package-url/packageurl-java/pull/160",
        |random, text| {
            let is_foreign = random.chance(100_000);
            text.push(if is_foreign {
                between(random, '\u{C0}', 0x200)
            } else {
                random.pick(UNRESERVED) as char
            });
        },
    ),
    (
        Verb::Encode,
        "names of pictures",
        Unit::Call,
        "names of files with blanks and brackets; github.com/Dubzer/Dubzer.WhatwgUrl/pull/4",
        |random, text| {
            text.extend((0..2 + random.below(9)).map(|_| random.pick(UNRESERVED) as char));
            text.push_str(random.pick(&[" ", " ", " (1)", "'s ", "_"]));
        },
    ),
    (
        Verb::Decode,
        "SAML responses",
        Unit::Call,
        "base64 in which `+`, `/` and `=` are escaped; github.com/openresty/lua-nginx-module/issues/686",
        |random, text| match random.below(64) {
            0 => text.push_str("%2B"),
            1 => text.push_str("%2F"),
            at => text.push(UNRESERVED[at - 2] as char),
        },
    ),
    (
        Verb::Decode,
        "Persian paths",
        Unit::Call,
        "words with lower-case digits between slashes; github.com/wp-media/wp-rocket/issues/1610",
        |random, text| {
            for _ in 0..2 + random.below(8) {
                text.push_str(
                    random.pick(&["%d9%85", "%d8%b1", "%da%af", "%d8%aa", "%d9%81", "%d8%a7", "%d9%88"]),
                );
            }
            text.push(random.pick(b"-/") as char);
        },
    ),
    (
        Verb::Decode,
        "Russian queries",
        Unit::Call,
        "pairs with escaped names and values; github.com/nodejs/node-v0.x-archive/pull/641",
        |random, text| {
            for end in ["=", "&"] {
                (0..1 + random.below(6)).for_each(|_| escape_to(between(random, '\u{430}', 32), text));
                text.push_str(end);
            }
            text.push_str(random.pick(&["a=b&", "page=2&", ""]));
        },
    ),
    (
        Verb::Decode,
        "a mess of escapes",
        Unit::Byte,
        "letters that are not ASCII among malformed escapes; github.com/python/cpython/pull/96763",
        |random, text| text.push_str(random.pick(&["\u{141}%%%20a%fe", "\u{161}%%%2a%20b%fd"])),
    ),
    (
        Verb::Decode,
        "bytes that are not text",
        Unit::Byte,
        "escapes of invalid UTF-8; github.com/SamVerschueren/decode-uri-component/issues/6",
        |random, text| text.push_str(random.pick(&["%ea%ba%5a%ba", "%ea%ba%ba", "%ba%41"])),
    ),
];

/// Makes a row of `count` strings of about `length` bytes. `part` appends to each string until it is full.
fn strings(seed: u64, length: usize, count: usize, part: impl Fn(&mut Random, &mut String)) -> Row {
    let mut random = Random::new(seed ^ length as u64);
    Row::of((0..count).map(|_| {
        let mut string = String::with_capacity(length + 64);
        while string.len() < length {
            part(&mut random, &mut string);
        }
        string
    }))
}

/// Makes a row of 20,000 strings of `length` bytes. `byte` makes each byte.
pub fn fixed_length(seed: u64, length: usize, byte: impl Fn(&mut Random) -> char) -> Row {
    strings(seed, length, DISTINCT, |random, string| string.push(byte(random)))
}

/// Makes a string of `length` bytes. `share` parts in a million are special: bytes to encode, or escapes that still fit.
fn with_specials(random: &mut Random, length: usize, verb: Verb, share: usize) -> String {
    let width = if verb == Verb::Encode { 1 } else { 3 };
    let mut string = String::new();
    while string.len() < length {
        let special = random.chance(share) && string.len() + width <= length;
        let part = random.pick(if special { SPECIAL } else { UNRESERVED }) as char;
        if verb == Verb::Decode { escape_to(part, &mut string) } else { string.push(part) }
    }
    string
}

/// The number of lengths of a band.
pub const BAND: usize = 16;

/// Makes a row of strings in random order. They have the [`BAND`] lengths from `first` on, each about equally often. `share` parts of a
/// string in a million are special: bytes to encode, or escapes that still fit.
pub fn band(seed: u64, first: usize, verb: Verb, share: usize) -> Row {
    let mut random = Random::new(seed ^ first as u64);
    let count = DISTINCT.min(DISTINCT_BYTES.div_ceil(first.max(1)));
    let mut lengths: Vec<_> = (0..count).map(|i| first + i % BAND).collect();
    random.shuffle(&mut lengths);
    Row::of(lengths.into_iter().map(|length| with_specials(&mut random, length, verb, share)))
}

const UNRESERVED: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
const SPECIAL: &[u8] = b" !\"#$&'()*+,/:;<=>?@[]";

fn clean_random(seed: u64) -> Row {
    let mut random = Random::new(seed);
    Row::of((0..DISTINCT).map(|_| {
        let length = random.below(65);
        (0..length).map(|_| random.pick(UNRESERVED) as char).collect::<String>()
    }))
}

fn between(random: &mut Random, first: char, count: usize) -> char {
    char::from_u32(first as u32 + random.below(count) as u32).unwrap_or(first)
}

/// Makes a row of blocks of about `length` bytes. `part` appends to each block until it is full.
fn blocks(seed: u64, length: usize, part: impl Fn(&mut Random, &mut String)) -> Row {
    strings(seed, length, DISTINCT_BYTES.div_ceil(length).max(2), part)
}

/// Encodes text without simdpct, because the benchmarks measure simdpct.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    text.chars().for_each(|part| escape_to(part, &mut escaped));
    escaped
}

fn escape_to(part: char, escaped: &mut String) {
    for &byte in part.encode_utf8(&mut [0; 4]).as_bytes() {
        if UNRESERVED.contains(&byte) {
            escaped.push(byte as char);
        } else {
            let digits = b"0123456789ABCDEF";
            let (high, low) = (byte >> 4, byte & 15);
            escaped.extend(['%', digits[usize::from(high)] as char, digits[usize::from(low)] as char]);
        }
    }
}
