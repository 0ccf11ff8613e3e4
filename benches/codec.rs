//! The verbs on every tier of this machine, beside `memcpy` and two rivals.
//!
//! ```text
//! cargo bench                                   # everything
//! cargo bench -- 'decode/urls'                  # some rows
//! SIMDPCT_CORPUS=urls.txt cargo bench           # over a list of URLs of your own
//! cargo bench -- --test                         # check the answers only
//! ```
//!
//! Each row is checked against the rival or the scalar tier before it is timed. A figure is for one pass over all
//! strings of a row; the throughput is in bytes of input. `benches/compare` has more rivals and measures all in
//! turn, which is what ratios should be taken from.

#[allow(dead_code, unused_imports, reason = "the comparison program, which shares it, uses the rest")]
mod corpus;

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use simdpct::{ByteSet, Decode, Encode, Tier, sets};

use corpus::{Row, Urls, Verb};

const SEED: u64 = 1;
const SET: simdpct::AsciiSet = sets::RFC3986_UNRESERVED;
/// The rivals' name for [`SET`]: the bytes that do not stay.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const KEEP: ByteSet = sets::RFC3986_RESERVED.to_byte_set();

/// The rows that this suite takes; the comparison program takes all.
const ROWS: &[&str] = &[
    "clean 0-64",
    "clean 16",
    "clean 64 KiB",
    "urls",
    "urls encoded",
    "urls joined",
    "1 % specials",
    "10 % specials",
    "50 % specials",
    "dense CJK",
    "%%%%",
    "invalid escapes",
];

/// The rows of groups that only vary a verb.
const FEW: &[&str] = &["clean 16", "clean 64 KiB", "urls", "urls encoded", "10 % specials"];

/// One name of a group, and the row as its strings.
struct Bench<'r, 'c> {
    group: BenchmarkGroup<'c, WallTime>,
    row: &'r str,
    strings: Vec<&'r str>,
    longest: usize,
}

impl Bench<'_, '_> {
    /// Checks `call` against `expected` on every string, if it is given, and times it. `call` leaves its answer in
    /// the buffer, or returns it.
    fn add(
        &mut self,
        name: impl Into<String>,
        expected: Option<&[Vec<u8>]>,
        mut call: impl FnMut(&str, &mut Vec<u8>) -> usize,
    ) {
        let name = name.into();
        let mut out = Vec::with_capacity(self.longest * 3 + 512);
        for (input, expected) in self.strings.iter().zip(expected.into_iter().flatten()) {
            out.clear();
            let len = call(input, &mut out);
            assert_eq!(&out[..len], expected, "{name} on {}: {input:?}", self.row);
        }
        let strings = &self.strings;
        self.group.bench_function(BenchmarkId::new(name, self.row), |bencher| {
            bencher.iter(|| {
                for &input in black_box(strings) {
                    out.clear();
                    let len = call(input, &mut out);
                    black_box((out.as_ptr(), len));
                }
            });
        });
    }
}

/// Calls `rows` for each row of `verb` in `names`, within a group called `group`.
fn each(
    criterion: &mut Criterion,
    group: &str,
    verb: Verb,
    names: &[&str],
    rows: impl Fn(&mut Bench<'_, '_>),
) {
    static URLS: LazyLock<Vec<String>> =
        LazyLock::new(|| match std::env::var_os("SIMDPCT_CORPUS").map(PathBuf::from) {
            Some(list) => corpus::read_urls(SEED, &list).expect("SIMDPCT_CORPUS is a list of lines"),
            None => Urls::new(SEED).distinct(corpus::DISTINCT),
        });
    let specs = corpus::specs(SEED, &URLS);
    for spec in specs.iter().filter(|spec| spec.verb == verb && names.contains(&&*spec.name)) {
        let row: Row = spec.make();
        let strings = row.strings();
        let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
        let mut group = criterion.benchmark_group(group);
        group.throughput(Throughput::Bytes(row.bytes() as u64));
        rows(&mut Bench { group, row: &spec.name, strings, longest });
    }
}

fn encoded(strings: &[&str]) -> Vec<Vec<u8>> {
    strings.iter().map(|input| utf8_percent_encode(input, COMPONENT).to_string().into_bytes()).collect()
}

fn decoded(strings: &[&str]) -> Vec<Vec<u8>> {
    strings.iter().map(|input| percent_decode_str(input).collect()).collect()
}

/// What the scalar tier answers: the reference of what no rival has.
fn by_scalar(strings: &[&str], decode: Decode) -> Vec<Vec<u8>> {
    let decode = decode.tier(Tier::find("scalar").expect("every machine has the scalar tier"));
    strings.iter().map(|input| decode.decode(*input).into_owned()).collect()
}

fn memcpy(bench: &mut Bench<'_, '_>) {
    let mut ready = vec![0; bench.longest];
    bench.add("memcpy", None, move |input, _| {
        let to = &mut ready[..input.len()];
        to.copy_from_slice(input.as_bytes());
        black_box(to).len()
    });
}

fn encode(criterion: &mut Criterion) {
    each(criterion, "encode", Verb::Encode, ROWS, |bench| {
        let expected = encoded(&bench.strings);
        memcpy(bench);
        let mut text = String::with_capacity(bench.longest * 3);
        bench.add("percent-encoding", None, move |input, _| {
            text.clear();
            text.extend(utf8_percent_encode(input, COMPONENT));
            black_box(&text).len()
        });
        let mut text = String::with_capacity(bench.longest * 3);
        bench.add("urlencoding", None, move |input, _| {
            text.clear();
            urlencoding::Encoded(input).append_to(&mut text);
            black_box(&text).len()
        });
        for tier in Tier::available() {
            let encode = Encode::keeping(SET).tier(tier);
            bench.add(tier.name(), Some(&expected), |input, out| {
                encode.encode_append(input, out);
                out.len()
            });
        }
    });
}

fn decode(criterion: &mut Criterion) {
    each(criterion, "decode", Verb::Decode, ROWS, |bench| {
        let expected = decoded(&bench.strings);
        memcpy(bench);
        bench.add("percent-encoding", Some(&expected), |input, out| {
            out.extend(percent_decode_str(input));
            out.len()
        });
        bench.add("urlencoding", None, |input, _| {
            black_box(urlencoding::decode_binary(input.as_bytes())).len()
        });
        decode_tiers(bench, &expected, Decode::new());
    });
}

fn decode_tiers(bench: &mut Bench<'_, '_>, expected: &[Vec<u8>], decode: Decode) {
    for tier in Tier::available() {
        let decode = decode.tier(tier);
        bench.add(tier.name(), Some(expected), |input, out| {
            decode.decode_append(input, out);
            out.len()
        });
    }
}

fn normalize(criterion: &mut Criterion) {
    each(criterion, "normalize", Verb::Decode, FEW, |bench| {
        let expected = by_scalar(&bench.strings, Decode::NORMALIZE);
        decode_tiers(bench, &expected, Decode::NORMALIZE);
    });
}

fn keep(criterion: &mut Criterion) {
    each(criterion, "keep", Verb::Decode, FEW, |bench| {
        let expected = by_scalar(&bench.strings, Decode::new().keep(KEEP));
        decode_tiers(bench, &expected, Decode::new().keep(KEEP));
    });
}

fn strict(criterion: &mut Criterion) {
    each(criterion, "strict", Verb::Decode, FEW, |bench| {
        // A malformed escape is an error with nothing written; what comes before it is not looked at here.
        let scalar = Decode::new().strict().tier(Tier::find("scalar").expect("every machine has it"));
        let answer = |input: &&str| scalar.decode(*input).map_or(Vec::new(), |bytes| bytes.into_owned());
        let expected: Vec<Vec<u8>> = bench.strings.iter().map(answer).collect();
        for tier in Tier::available() {
            let decode = Decode::new().strict().tier(tier);
            bench.add(tier.name(), Some(&expected), |input, out| match decode.decode_append(input, out) {
                Ok(()) => out.len(),
                Err(error) => {
                    black_box(error);
                    0
                }
            });
        }
    });
}

fn cow(criterion: &mut Criterion) {
    each(criterion, "cow/encode", Verb::Encode, FEW, |bench| {
        let expected = encoded(&bench.strings);
        for tier in Tier::available() {
            let encode = Encode::keeping(SET).tier(tier);
            for (input, expected) in bench.strings.iter().zip(&expected) {
                assert_eq!(encode.encode(*input).as_bytes(), expected);
            }
            bench.add(tier.name(), None, |input, _| black_box(encode.encode(input)).len());
        }
    });
    each(criterion, "cow/decode", Verb::Decode, FEW, |bench| {
        let expected = decoded(&bench.strings);
        for tier in Tier::available() {
            let decode = Decode::new().tier(tier);
            for (input, expected) in bench.strings.iter().zip(&expected) {
                assert_eq!(*decode.decode(*input), **expected);
            }
            bench.add(tier.name(), None, |input, _| black_box(decode.decode(input)).len());
        }
    });
}

/// `append` to a buffer that nobody made room in, as opposed to a reused one.
fn append(criterion: &mut Criterion) {
    each(criterion, "append/encode", Verb::Encode, FEW, |bench| {
        for tier in Tier::available() {
            let encode = Encode::keeping(SET).tier(tier);
            bench.add(tier.name(), None, |input, _| {
                let mut fresh = Vec::new();
                encode.encode_append(input, &mut fresh);
                black_box(fresh).len()
            });
        }
    });
    each(criterion, "append/decode", Verb::Decode, FEW, |bench| {
        for tier in Tier::available() {
            let decode = Decode::new().tier(tier);
            bench.add(tier.name(), None, |input, _| {
                let mut fresh = Vec::new();
                decode.decode_append(input, &mut fresh);
                black_box(fresh).len()
            });
        }
    });
}

fn slice(criterion: &mut Criterion) {
    each(criterion, "slice/encode", Verb::Encode, FEW, |bench| {
        let expected = encoded(&bench.strings);
        let mut ready = vec![0; bench.longest * 3];
        for tier in Tier::available() {
            let encode = Encode::keeping(SET).tier(tier);
            for (input, expected) in bench.strings.iter().zip(&expected) {
                let len = encode.encode_to_slice(input, &mut ready).expect("there is room");
                assert_eq!(&ready[..len], expected);
            }
            bench.add(tier.name(), None, |input, _| {
                let len = encode.encode_to_slice(input, &mut ready).expect("there is room");
                black_box(&ready[..len]).len()
            });
        }
    });
    each(criterion, "slice/decode", Verb::Decode, FEW, |bench| {
        let expected = decoded(&bench.strings);
        let mut ready = vec![0; bench.longest];
        for tier in Tier::available() {
            let decode = Decode::new().tier(tier);
            for (input, expected) in bench.strings.iter().zip(&expected) {
                let len = decode.decode_to_slice(input, &mut ready).expect("there is room");
                assert_eq!(&ready[..len], expected);
            }
            bench.add(tier.name(), None, |input, _| {
                let len = decode.decode_to_slice(input, &mut ready).expect("there is room");
                black_box(&ready[..len]).len()
            });
        }
    });
}

criterion_group! {
    name = verbs;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20);
    targets = encode, decode, normalize, keep, strict, cow, append, slice
}
criterion_main!(verbs);
