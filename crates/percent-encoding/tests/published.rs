//! Compares all observable behaviour of this crate with that of the published one.

use std::fmt::{self, Write};

/// All observable behaviour of an encoding.
#[derive(Debug, PartialEq)]
struct Encoded {
    /// The pieces, each with the size hint before it.
    pieces: Vec<((usize, Option<usize>), String)>,
    /// The size hint after the last piece, and whether the iterator yields another piece after that.
    end: ((usize, Option<usize>), bool),
    collected: String,
    extended: String,
    string: String,
    padded: String,
    /// The texts that `Display` writes after each piece was yielded.
    rests: Vec<String>,
    /// For writers of several capacities, whether `write!` fails.
    failures: Vec<bool>,
    /// For each `Cow`, whether it is borrowed, and its text: before and after the first piece is yielded.
    cows: Vec<(bool, String)>,
}

/// All observable behaviour of a decoding.
#[derive(Debug, PartialEq)]
struct Decoded {
    /// The bytes, each with the size hint before it.
    bytes: Vec<((usize, Option<usize>), u8)>,
    end: ((usize, Option<usize>), bool),
    collected: Vec<u8>,
    boxed: Box<[u8]>,
    extended: Vec<u8>,
    folded: (usize, Option<u8>, u64),
    /// For each `Cow`, whether it is borrowed, and its bytes: after zero, one and three bytes are yielded.
    cows: Vec<(bool, Vec<u8>)>,
    utf8: Vec<Result<(bool, String), std::str::Utf8Error>>,
    lossy: Vec<(bool, String)>,
}

/// A writer with the given capacity. It rejects a piece that does not fit.
struct Limited(usize);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Defines a module that observes the crate `$krate`, and makes the same sets with each crate.
macro_rules! observe {
    ($name:ident, $krate:ident) => {
        mod $name {
            use std::borrow::Cow;
            use std::fmt::Write;

            use $krate::{
                AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode, percent_decode_str, percent_encode,
                percent_encode_byte, utf8_percent_encode,
            };

            use super::{Decoded, Encoded, Limited};

            const EMPTY: &AsciiSet = &AsciiSet::EMPTY;
            const ALL: &AsciiSet = &EMPTY.complement();
            const FRAGMENT: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');
            const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
            const UNION: &AsciiSet = &FRAGMENT.union(AsciiSet::EMPTY.add(b'x').add(b'%').add(0));
            const VOWELS: &AsciiSet = &AsciiSet::EMPTY.add(b'a').add(b'e').add(b'i').add(b'o').add(b'u');

            pub const SETS: &[&AsciiSet] =
                &[EMPTY, ALL, CONTROLS, NON_ALPHANUMERIC, FRAGMENT, RESERVED, UNION, VOWELS];

            /// Changes a named set by `steps`. Returns the result, and for each step whether the set then equals each named set.
            pub fn made(start: usize, steps: &[(u8, u8)]) -> (AsciiSet, Vec<bool>) {
                let mut set = SETS[start % SETS.len()].union(AsciiSet::EMPTY);
                let mut equal = Vec::new();
                for &(step, byte) in steps {
                    set = match step % 7 {
                        0 | 1 => AsciiSet::add(&set, byte & 0x7F),
                        2 | 3 => set.remove(byte & 0x7F),
                        4 => set.union(SETS[usize::from(byte) % SETS.len()].complement()),
                        5 => !(!set + AsciiSet::EMPTY.add(byte & 0x7F)),
                        _ => set.complement(),
                    };
                    equal.extend(SETS.iter().map(|other| set == **other));
                }
                (set, equal)
            }

            pub fn members(set: AsciiSet) -> Vec<String> {
                // An encoding borrows a set for `'static`, so the set is leaked.
                let set = Box::leak(Box::new(set));
                (0..=u8::MAX).map(|byte| percent_encode(&[byte], set).map(str::to_owned).collect()).collect()
            }

            pub fn escape(byte: u8) -> &'static str {
                percent_encode_byte(byte)
            }

            pub fn encode(bytes: &[u8], set: usize) -> Encoded {
                let new = || percent_encode(bytes, SETS[set]);
                let mut iter = new();
                let (mut pieces, mut rests) = (Vec::new(), Vec::new());
                loop {
                    let hint = iter.size_hint();
                    let Some(piece) = iter.next() else { break };
                    pieces.push((hint, piece.to_owned()));
                    if bytes.len() <= 64 {
                        rests.push(iter.clone().to_string());
                    }
                }
                let mut extended = String::from("so far: ");
                extended.extend(new());
                let string = new().to_string();
                let failures = [0, 1, 2, string.len() / 2, string.len()]
                    .map(|limit| write!(Limited(limit), "{}", new()).is_err() && limit < string.len());
                let mut second = new();
                second.next();
                Encoded {
                    end: (iter.size_hint(), iter.next().is_some()),
                    collected: new().collect(),
                    extended,
                    padded: format!("[{:>300}{:.2}]", new(), new()),
                    rests,
                    failures: failures.to_vec(),
                    cows: [new(), second]
                        .map(|encode| Cow::<str>::from(encode))
                        .map(|cow| (matches!(cow, Cow::Borrowed(_)), cow.into_owned()))
                        .to_vec(),
                    pieces,
                    string,
                }
            }

            pub fn encode_text(text: &str, set: usize) -> String {
                utf8_percent_encode(text, SETS[set]).to_string()
            }

            pub fn decode(input: &[u8]) -> Decoded {
                let new = || percent_decode(input);
                let mut iter = new();
                let mut bytes = Vec::new();
                loop {
                    let hint = iter.size_hint();
                    let Some(byte) = iter.next() else { break };
                    bytes.push((hint, byte));
                }
                let mut extended = b"so far: ".to_vec();
                extended.extend(new());
                let from = || {
                    [0, 1, 3].map(|taken| {
                        let mut decode = new();
                        decode.by_ref().take(taken).for_each(drop);
                        decode
                    })
                };
                let text = |text: Cow<'_, str>| (matches!(text, Cow::Borrowed(_)), text.into_owned());
                Decoded {
                    bytes,
                    end: (iter.size_hint(), iter.next().is_some()),
                    collected: new().collect(),
                    boxed: new().collect(),
                    extended,
                    folded: (
                        new().count(),
                        new().last(),
                        new().fold(0, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)),
                    ),
                    cows: from()
                        .map(|decode| Cow::<[u8]>::from(decode))
                        .map(|cow| (matches!(cow, Cow::Borrowed(_)), cow.into_owned()))
                        .to_vec(),
                    utf8: from().map(|decode| decode.decode_utf8().map(text)).to_vec(),
                    lossy: from().map(|decode| text(decode.decode_utf8_lossy())).to_vec(),
                }
            }

            pub fn decode_text(text: &str) -> Vec<u8> {
                percent_decode_str(text).collect()
            }
        }
    };
}

observe!(published, upstream);
observe!(this, percent_encoding);

/// A generator of pseudo-random numbers, which are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize * bound) >> 31
    }

    /// Returns random bytes of `alphabet`, but about one in a hundred is any byte.
    fn bytes(&mut self, length: usize, alphabet: &[u8]) -> Vec<u8> {
        (0..length)
            .map(|_| match self.below(100) {
                0 => self.below(256) as u8,
                _ => alphabet[self.below(alphabet.len())],
            })
            .collect()
    }
}

fn same_encoding(bytes: &[u8]) {
    for set in 0..this::SETS.len() {
        assert_eq!(
            this::encode(bytes, set),
            published::encode(bytes, set),
            "{} with set {set}",
            bytes.escape_ascii()
        );
        if let Ok(text) = str::from_utf8(bytes) {
            assert_eq!(this::encode_text(text, set), published::encode_text(text, set));
        }
    }
}

fn same_decoding(bytes: &[u8]) {
    assert_eq!(this::decode(bytes), published::decode(bytes), "{}", bytes.escape_ascii());
    if let Ok(text) = str::from_utf8(bytes) {
        assert_eq!(this::decode_text(text), published::decode_text(text));
    }
}

#[test]
fn escapes_of_all_bytes() {
    for byte in 0..=u8::MAX {
        assert_eq!(this::escape(byte), published::escape(byte));
    }
}

#[test]
fn sets_made_in_any_way() {
    let mut random = Random(1);
    for start in 0..2000 {
        let steps: Vec<(u8, u8)> =
            (0..random.below(12)).map(|_| (random.below(256) as u8, random.below(256) as u8)).collect();
        let (set, equal) = this::made(start, &steps);
        let (published_set, published_equal) = published::made(start, &steps);
        assert_eq!(equal, published_equal, "{start} {steps:?}");
        assert_eq!(this::members(set), published::members(published_set), "{start} {steps:?}");
    }
}

#[test]
fn bytes_that_are_not_ascii_cannot_be_added_or_removed() {
    use std::panic::catch_unwind;
    for byte in 0x7F..=u8::MAX {
        let panics = [
            catch_unwind(|| percent_encoding::CONTROLS.add(byte)).is_err(),
            catch_unwind(|| upstream::CONTROLS.add(byte)).is_err(),
            catch_unwind(|| percent_encoding::CONTROLS.remove(byte)).is_err(),
            catch_unwind(|| upstream::CONTROLS.remove(byte)).is_err(),
        ];
        assert_eq!(panics, [byte > 0x7F; 4], "{byte:#x}");
    }
}

#[test]
fn encoding_of_up_to_two_bytes() {
    same_encoding(&[]);
    for first in 0..=u8::MAX {
        same_encoding(&[first]);
        // Test one byte of each class as the second byte, and the bytes at the borders of classes.
        for &second in b"\0\x1F !%+-.09:@AZ[_az~\x7F\x80\xC3\xFF" {
            same_encoding(&[first, second]);
        }
    }
}

#[test]
fn encoding_at_every_length() {
    let mut random = Random(2);
    for length in (0..200).chain([255, 256, 257, 511, 512, 513, 1000, 1535, 1536, 1537, 5000, 70_000]) {
        for alphabet in [&b"abcxyz019-._~"[..], b"abcdef /%", b" /%&", b"\xC3\xA9\xE2\x82\xAC", b"a"] {
            same_encoding(&random.bytes(length, alphabet));
        }
    }
}

#[test]
fn encoding_with_one_escape_at_every_place() {
    for length in 1..140 {
        for place in 0..length {
            let mut bytes = vec![b'x'; length];
            bytes[place] = b' ';
            assert_eq!(this::encode(&bytes, 5), published::encode(&bytes, 5), "{length} {place}");
        }
    }
}

#[test]
fn decoding_of_up_to_three_bytes() {
    same_decoding(&[]);
    for first in 0..=u8::MAX {
        same_decoding(&[first]);
        for second in 0..=u8::MAX {
            same_decoding(&[first, second]);
            same_decoding(&[b'%', first, second]);
        }
    }
}

#[test]
fn decoding_of_all_short_texts_of_few_bytes() {
    for length in 0..=6u32 {
        for number in 0..7usize.pow(length) {
            let byte = |place| b"%2Fcg\xC3a"[number / 7usize.pow(place) % 7];
            same_decoding(&(0..length).map(byte).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn decoding_at_every_length() {
    let mut random = Random(3);
    for length in (0..200).chain([255, 256, 257, 258, 511, 512, 513, 1000, 5000, 70_000]) {
        for alphabet in
            [&b"abcxyz019-._~"[..], b"abcdef019%", b"%%%0123456789abcdefABCDEF", b"%2", b"\xC3\xA9%"]
        {
            same_decoding(&random.bytes(length, alphabet));
        }
        // The text is valid UTF-8, some of it escaped. It may be cut anywhere.
        let mut text = String::new();
        while text.len() < length {
            match random.below(4) {
                0 => text.push_str("%C3%A9"),
                1 => text.push_str("%e2%82%ac"),
                2 => text.push('\u{20ac}'),
                _ => text.push('x'),
            }
        }
        same_decoding(text.as_bytes());
        same_decoding(&text.as_bytes()[..length]);
    }
}

#[test]
fn decoding_with_one_escape_at_every_place() {
    for length in 3..140 {
        for place in 0..=length - 3 {
            let mut bytes = vec![b'x'; length];
            for escape in [b"%41", b"%fF", b"%C3", b"%4g", b"%%4"] {
                bytes[place..place + 3].copy_from_slice(escape);
                same_decoding(&bytes);
            }
        }
    }
}
