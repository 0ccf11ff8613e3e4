//! Compares all observable behaviour of this crate with that of the published one.

#[path = "../../../benches/kit/src/random.rs"]
#[allow(dead_code, reason = "the benchmarks use the rest")]
mod random;

use std::borrow::Cow;

use random::Random;

/// A name and a value. The `bool` is true if the text is borrowed.
type Pair = [(bool, String); 2];

/// A size hint.
type Hint = (usize, Option<usize>);

/// All observable behaviour of a parser and of the byte serializer on one input.
#[derive(Debug, PartialEq)]
struct Observed {
    pairs: Vec<Pair>,
    owned: Vec<(String, String)>,
    /// The pairs that a copy of the iterator yields, if it is made after the first pair.
    rest: Vec<(String, String)>,
    /// The pieces, each with the size hint before it, and the size hint after the last.
    pieces: Vec<(Hint, Option<String>)>,
    collected: String,
}

/// A call of a method of `Serializer`.
#[derive(Clone, Debug)]
enum Call {
    Pair(String, String),
    Key(String),
    Pairs(Vec<(String, String)>),
    Keys(Vec<String>),
    Clear,
    Encoding(bool),
}

/// Converts text to Latin-1 if all its characters are in Latin-1.
fn latin(text: &str) -> Cow<'_, [u8]> {
    let byte = |c: char| u8::try_from(u32::from(c)).ok();
    text.chars().map(byte).collect::<Option<Vec<u8>>>().map_or(text.as_bytes().into(), Cow::Owned)
}

/// Defines a module that observes the crate `$krate`.
macro_rules! observe {
    ($name:ident, $krate:ident) => {
        mod $name {
            use std::borrow::Cow;
            use std::panic::{AssertUnwindSafe, catch_unwind};

            use $krate::{Parse, Serializer, Target, byte_serialize, parse};

            use super::{Call, Observed};

            pub fn read(input: &[u8]) -> Observed {
                let observe = |text: Cow<'_, str>| (matches!(text, Cow::Borrowed(_)), text.into_owned());
                let mut second: Parse<'_> = parse(input);
                let copy = second;
                second.next();
                let mut pieces = byte_serialize(input);
                let mut seen = Vec::new();
                loop {
                    let hint = pieces.size_hint();
                    let piece = pieces.next().map(str::to_owned);
                    let end = piece.is_none();
                    seen.push((hint, piece));
                    if end {
                        break;
                    }
                }
                Observed {
                    pairs: copy.map(|(name, value)| [observe(name), observe(value)]).collect(),
                    owned: parse(input).into_owned().collect(),
                    rest: second.into_owned().collect(),
                    pieces: seen,
                    collected: byte_serialize(input).collect(),
                }
            }

            fn run<T: Target>(target: T, start: usize, calls: &[Call]) -> T::Finished {
                let latin: fn(&str) -> Cow<'_, [u8]> = super::latin;
                let mut serializer = Serializer::for_suffix(target, start);
                for call in calls {
                    match call {
                        Call::Pair(name, value) => serializer.append_pair(name, value),
                        Call::Key(name) => serializer.append_key_only(name),
                        Call::Pairs(pairs) => serializer.extend_pairs(pairs),
                        Call::Keys(names) => serializer.extend_keys_only::<_, String>(names),
                        Call::Clear => serializer.clear(),
                        Call::Encoding(set) => {
                            serializer.encoding_override(if *set { Some(&latin) } else { None })
                        }
                    };
                }
                serializer.finish()
            }

            /// Returns the text, or the message of the panic.
            pub fn write(before: &str, start: usize, calls: &[Call]) -> Result<String, String> {
                let result = catch_unwind(|| {
                    let mut text = before.to_owned();
                    assert_eq!(run(&mut text, start, calls), &run(before.to_owned(), start, calls));
                    text
                });
                result.map_err(|cause| cause.downcast_ref::<String>().cloned().unwrap_or_default())
            }

            /// Returns the messages of the panics of all methods after `finish`.
            pub fn after_finish() -> Vec<String> {
                let mut serializer = Serializer::new(String::new());
                serializer.finish();
                let calls: [fn(&mut Serializer<'_, String>); 6] = [
                    |s| _ = s.append_pair("a", "b"),
                    |s| _ = s.append_key_only("a"),
                    |s| _ = s.extend_pairs::<[(&str, &str); 0], _, _>([]),
                    |s| _ = s.extend_keys_only::<[&str; 0], &str>([]),
                    |s| _ = s.clear(),
                    |s| _ = s.finish(),
                ];
                let message = |call: fn(&mut Serializer<'_, String>)| {
                    let cause = catch_unwind(AssertUnwindSafe(|| call(&mut serializer))).unwrap_err();
                    cause.downcast_ref::<String>().cloned().unwrap_or_else(|| {
                        cause.downcast_ref::<&str>().copied().unwrap_or_default().to_owned()
                    })
                };
                calls.map(message).to_vec()
            }
        }
    };
}

observe!(published, upstream);
observe!(this, form_urlencoded);

fn same_reading(input: &[u8]) {
    assert_eq!(this::read(input), published::read(input), "{}", input.escape_ascii());
}

#[test]
fn all_short_inputs_of_few_bytes() {
    const BYTES: &[u8] = b"a=&+%2F\xC3";
    same_reading(b"");
    (0..=u8::MAX).for_each(|byte| same_reading(&[byte]));
    for length in 1..=6u32 {
        for number in 0..BYTES.len().pow(length) {
            let byte = |place| BYTES[number / BYTES.len().pow(place) % BYTES.len()];
            same_reading(&(0..length).map(byte).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn random_inputs_at_every_length() {
    let random = &mut Random::new(1);
    for length in (0..300).chain([1000, 1537, 5000, 70_000]) {
        for alphabet in [
            &b"abcxyz019-._*"[..],
            b"abcdef019%+&=",
            b"%%%0123456789abcdefABCDEF+",
            b"a \xC3\xA9\xE2\x82\xAC&=",
            b"&",
            b"=",
            b"+",
        ] {
            let input: Vec<u8> = (0..length)
                .map(|_| if random.below(100) == 0 { random.below(256) as u8 } else { random.pick(alphabet) })
                .collect();
            same_reading(&input);
        }
        // Every byte is escaped, so that text that is not UTF-8 may begin and end anywhere.
        let escaped: String = (0..length)
            .map(|_| format!("%{:02x}", random.pick(b"a\x80\xBF\xC3\xA9\xE2\x82\xAC\xED\xF0\x9F\xFF")))
            .collect();
        same_reading(escaped.as_bytes());
    }
}

fn text(random: &mut Random) -> String {
    let length = [3, 30, 300][random.below(3)];
    (0..random.below(length))
        .map(|_| {
            random.pick(&[
                'a', 'Z', '9', '*', '-', '.', '_', ' ', '~', '&', '=', '+', '%', '\0', '\u{e9}', '\u{20ac}',
            ])
        })
        .collect()
}

#[test]
fn random_calls_of_the_serializer() {
    let random = &mut Random::new(2);
    for _ in 0..3000 {
        let before = text(random);
        let start = random.below(before.len() + 2);
        let calls: Vec<Call> = (0..random.below(6))
            .map(|_| match random.below(8) {
                0 => Call::Key(text(random)),
                1 => Call::Pairs((0..random.below(3)).map(|_| (text(random), text(random))).collect()),
                2 => Call::Keys((0..random.below(3)).map(|_| text(random)).collect()),
                3 => Call::Clear,
                4 => Call::Encoding(random.below(3) > 0),
                _ => Call::Pair(text(random), text(random)),
            })
            .collect();
        let (this, published) =
            (this::write(&before, start, &calls), published::write(&before, start, &calls));
        assert_eq!(this, published, "{before:?} {start} {calls:?}");
    }
}

#[test]
fn calls_after_finish() {
    assert_eq!(this::after_finish(), published::after_finish());
}
