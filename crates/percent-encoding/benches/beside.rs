//! Measures this crate and the published one by turns, in one process.
//!
//! ```sh
//! cargo bench                      # every row
//! cargo bench -- 'decode' 'utf8'   # rows whose names hold all of these
//! ```
//!
//! Each row of the tables is for one operation on a list of strings. It shows the time of a call in ns with the
//! published crate and with this one. It also shows the speedup of this one: the median and the quartiles of all rounds.
//! The sums of the lengths of the results of both crates are compared before a row is timed. The last lines name the
//! rows on which this crate is more than 3 % slower; two copies of the same code differ by about that much.

#[path = "../../../benches/kit/src/random.rs"]
#[allow(dead_code, reason = "the other benchmarks use the rest")]
mod random;
#[path = "../../../benches/kit/src/urls.rs"]
#[allow(dead_code, reason = "the other benchmarks use the rest")]
mod urls;

use std::hint::black_box;
use std::time::Instant;

use random::Random;
use urls::Urls;

const SEED: u64 = 1;
const ROUNDS: usize = 15;
/// The least amount of work in a round of a row: the number of bytes plus ten times the number of calls.
const WORK: usize = 200_000;

/// The number of strings of each row, except the rows of long texts.
const DISTINCT: usize = 20_000;

/// The direction of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Encode,
    Decode,
}

/// An operation of one crate on all strings. It returns the sum of the lengths of the results.
type Operation = fn(&[&str]) -> usize;

/// Defines a module with the operations of the crate `$krate`.
macro_rules! operations {
    ($name:ident, $krate:ident) => {
        mod $name {
            use std::borrow::Cow;
            use std::fmt::Write;

            use $krate::{
                AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode_byte, utf8_percent_encode,
            };

            use super::{Operation, Verb, black_box};

            const SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

            fn sum(strings: &[&str], one: impl Fn(&str) -> usize) -> usize {
                strings.iter().map(|string| black_box(one(black_box(string)))).sum()
            }

            pub const ALL: &[(Verb, &str, Operation)] = &[
                (Verb::Encode, "to_string", |strings| {
                    sum(strings, |string| black_box(utf8_percent_encode(string, SET).to_string()).len())
                }),
                (Verb::Encode, "collect", |strings| {
                    sum(strings, |string| {
                        black_box(utf8_percent_encode(string, SET).collect::<String>()).len()
                    })
                }),
                (Verb::Encode, "Cow", |strings| {
                    sum(strings, |string| black_box(Cow::<str>::from(utf8_percent_encode(string, SET))).len())
                }),
                (Verb::Encode, "write!", |strings| {
                    let mut out = String::new();
                    strings.iter().fold(0, |sum, string| {
                        out.clear();
                        write!(out, "{}", utf8_percent_encode(black_box(string), SET)).unwrap();
                        sum + black_box(&out).len()
                    })
                }),
                (Verb::Encode, "extend", |strings| {
                    let mut out = String::new();
                    strings.iter().fold(0, |sum, string| {
                        out.clear();
                        out.extend(utf8_percent_encode(black_box(string), SET));
                        sum + black_box(&out).len()
                    })
                }),
                (Verb::Encode, "pieces", |strings| {
                    sum(strings, |string| {
                        utf8_percent_encode(string, SET).map(|piece| black_box(piece).len()).sum()
                    })
                }),
                (Verb::Encode, "bytes", |strings| {
                    sum(strings, |string| {
                        string.bytes().map(|b| black_box(percent_encode_byte(b)).len()).sum()
                    })
                }),
                (Verb::Decode, "collect", |strings| {
                    sum(strings, |string| {
                        black_box(percent_decode(string.as_bytes()).collect::<Vec<u8>>()).len()
                    })
                }),
                (Verb::Decode, "Cow", |strings| {
                    sum(strings, |string| {
                        black_box(Cow::<[u8]>::from(percent_decode(string.as_bytes()))).len()
                    })
                }),
                (Verb::Decode, "utf8", |strings| {
                    sum(strings, |string| {
                        black_box(percent_decode(string.as_bytes()).decode_utf8())
                            .map_or(1, |text| text.len())
                    })
                }),
                (Verb::Decode, "utf8_lossy", |strings| {
                    sum(strings, |string| {
                        black_box(percent_decode(string.as_bytes()).decode_utf8_lossy()).len()
                    })
                }),
                (Verb::Decode, "extend", |strings| {
                    let mut out = Vec::new();
                    strings.iter().fold(0, |sum, string| {
                        out.clear();
                        out.extend(percent_decode(black_box(string.as_bytes())));
                        sum + black_box(&out).len()
                    })
                }),
                (Verb::Decode, "bytes", |strings| {
                    sum(strings, |string| {
                        percent_decode(string.as_bytes()).map(|byte| usize::from(black_box(byte) & 1)).sum()
                    })
                }),
            ];
        }
    };
}

operations!(old, upstream);
operations!(new, percent_encoding);

/// The strings of a row. They are adjacent in memory.
struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    fn of(strings: impl IntoIterator<Item = impl AsRef<str>>) -> Strings {
        let mut all = Strings { text: String::new(), ends: vec![0] };
        for string in strings {
            all.text.push_str(string.as_ref());
            all.ends.push(all.text.len());
        }
        all
    }

    fn slices(&self) -> Vec<&str> {
        self.ends.windows(2).map(|ends| &self.text[ends[0]..ends[1]]).collect()
    }
}

/// Returns all rows: strings of each of `LENGTHS`, and the inputs that all benchmarks share.
fn rows() -> Vec<(Verb, String, Strings)> {
    const LENGTHS: &[usize] = &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 18, 20, 24, 28, 32, 33, 40, 48, 56, 63, 64, 65,
        100,
    ];
    let mut rows = Vec::new();
    for &length in LENGTHS {
        for (name, percent) in [("clean", 0), ("10 %", 10), ("50 %", 50), ("dense", 100)] {
            let byte = move |random: &mut Random| match random.below(100) < percent {
                true => random.pick(b" &/:=?"),
                false => random.pick(b"abcdefghijklmnopqrstuvwxyz0123456789"),
            };
            let strings = |verb: Verb| {
                Strings::of((0..DISTINCT).map(move |index| {
                    let mut random = Random::new(SEED ^ (index * 128 + length) as u64);
                    let mut string = String::new();
                    while string.len() < length {
                        match byte(&mut random) {
                            b if verb == Verb::Encode => string.push(char::from(b)),
                            b if b.is_ascii_alphanumeric() || string.len() + 3 > length => string.push('x'),
                            b => string.push_str(&format!("%{b:02X}")),
                        }
                    }
                    string
                }))
            };
            for verb in [Verb::Encode, Verb::Decode] {
                rows.push((verb, format!("{length} bytes, {name}"), strings(verb)));
            }
        }
    }
    let urls = Urls::new(SEED).distinct(DISTINCT);
    let encoded: Vec<String> = urls
        .iter()
        .map(|url| upstream::utf8_percent_encode(url, upstream::NON_ALPHANUMERIC).to_string())
        .collect();
    rows.push((Verb::Encode, "urls".to_owned(), Strings::of(urls.iter())));
    rows.push((Verb::Decode, "urls".to_owned(), Strings::of(urls.iter())));
    rows.push((Verb::Decode, "urls encoded".to_owned(), Strings::of(encoded.iter())));
    // These rows have long texts, each of which joins many URLs.
    let joined = |urls: &[String]| Strings::of(urls.chunks(1_300).map(|chunk| chunk.join("")));
    rows.push((Verb::Encode, "urls joined".to_owned(), joined(&urls)));
    rows.push((Verb::Decode, "urls encoded joined".to_owned(), joined(&encoded)));
    rows
}

fn nanoseconds(operation: Operation, strings: &[&str], times: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        black_box(operation(black_box(strings)));
    }
    start.elapsed().as_nanos() as f64 / (times * strings.len()) as f64
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (mut slower, mut measured) = (Vec::new(), 0);
    let mut title = "";
    for (verb, name, row) in rows() {
        let kind = if name.starts_with("urls") { "URLs" } else { "By length" };
        if title != kind {
            title = kind;
            println!(
                "\n## {title}\n\n| ns a call | published | this | times as fast | quartiles |\n|---|---|---|---|---|"
            );
        }
        for (old, new) in old::ALL.iter().zip(new::ALL).filter(|(old, _)| old.0 == verb) {
            let name = format!("{verb:?} {}, {name}", old.1).to_lowercase();
            if !words.iter().all(|word| name.contains(&word.to_lowercase())) {
                continue;
            }
            let strings = row.slices();
            assert_eq!((old.2)(&strings), (new.2)(&strings), "{name}");
            let times = WORK.div_ceil(row.text.len() + 10 * strings.len());
            let mut rounds: Vec<(f64, f64, f64)> = (0..ROUNDS)
                .map(|_| {
                    let old = nanoseconds(old.2, &strings, times);
                    let new = nanoseconds(new.2, &strings, times);
                    (old / new, old, new)
                })
                .collect();
            rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
            let [low, median, high] = [1, 2, 3].map(|quarter| rounds[ROUNDS * quarter / 4]);
            println!(
                "| {name} | {:.1} | {:.1} | {:.2} | {:.2}-{:.2} |",
                median.1, median.2, median.0, low.0, high.0
            );
            measured += 1;
            if median.0 < 0.97 {
                slower.push((median.0, name));
            }
        }
    }
    slower.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!(
        "\n{} of {measured} rows are slower than with the published crate by more than 3 %",
        slower.len()
    );
    for (times, name) in slower {
        println!("* {times:.2} {name}");
    }
}
