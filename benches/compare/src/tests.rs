//! Tests of the rows, of the addresses of buffers, and of every contender's call.

use std::hint::black_box;

use benchkit::rivals::COMPONENT;
use benchkit::{
    BAND, DISTINCT, Needs, Random, SEED, Shape, Statistics, Unit, Urls, Verb, fixed_length, place, specs,
};
use simdpct::Tier;

use crate::algorithms::available;
use crate::alone::{ATTEMPTS, Core};
use crate::measure::{Plan, Task, measure};
use crate::{bands, goal, groups};

#[test]
fn the_urls_have_the_statistics_of_real_lists() {
    let urls = Urls::new(SEED).distinct(DISTINCT);
    let statistics = Statistics::of(&urls);
    assert_eq!((statistics.lines, statistics.distinct), (DISTINCT, DISTINCT));
    assert!((47.0..=56.0).contains(&statistics.mean), "{statistics}");
    assert!((40..=48).contains(&statistics.median), "{statistics}");
    assert!((72..=84).contains(&statistics.p90), "{statistics}");
    assert!((0.87..=0.89).contains(&statistics.short), "{statistics}");
    assert!((0.10..=0.12).contains(&statistics.special), "{statistics}");
    assert!((0.011..=0.014).contains(&statistics.escaped), "{statistics}");
}

#[test]
fn the_urls_depend_on_the_seed_alone() {
    let urls: Vec<String> = Urls::new(1).take(3).collect();
    assert_eq!(urls, Urls::new(1).take(3).collect::<Vec<_>>());
    assert_ne!(urls, Urls::new(2).take(3).collect::<Vec<_>>());
}

#[test]
fn rows_hold_enough_distinct_text() {
    for spec in specs(SEED, &Urls::new(SEED).distinct(DISTINCT)) {
        let row = spec.make(Shape::Append);
        let strings = row.strings();
        let enough = strings.len() >= DISTINCT || row.bytes() >= 512 * 1024;
        assert!(enough, "{:?} {}: {} strings, {} bytes", spec.verb, spec.name, strings.len(), row.bytes());
        assert_eq!(strings.iter().map(|string| string.len()).sum::<usize>(), row.bytes());
    }
}

/// Only pairs of tiers that this machine has are goals. So the test needs a CPU with AVX2 and SSSE3.
#[test]
fn the_worst_band_decides_a_goal() {
    let (Some(avx2), Some(ssse3)) = (Tier::find("avx2"), Tier::find("ssse3")) else { return };
    let mut bands =
        bands::sweep(true, &mut Core::new(0), &[avx2, ssse3], |kind| kind == "decode, bands, 10 %");
    assert_eq!(bands.len(), 8);
    for (i, band) in bands.iter_mut().enumerate() {
        let row = benchkit::band(SEED, band.first, Verb::Decode, 100_000);
        let strings = row.strings();
        assert!(strings.len() >= DISTINCT || row.bytes() >= 512 * 1024, "{}", band.first);
        let lengths = strings.iter().map(|string| string.len());
        assert_eq!(lengths.clone().min().zip(lengths.max()), Some((band.first, band.first + BAND - 1)));
        let escapes = row.bytes() / 12;
        let found = strings.iter().map(|string| string.matches('%').count()).sum::<usize>();
        assert!(i == 0 || (escapes * 9..escapes * 11).contains(&(found * 10)), "{found} of {escapes}");
        for timed in &mut band.measured.timed {
            // Only the last band exceeds the limit, which is 1.05 times the time of SSSE3.
            let time = match &*timed.name {
                "ssse3" => 100.0,
                _ if i == 7 => 106.0,
                _ => 50.0,
            };
            timed.times = vec![time; 3];
        }
    }
    let met =
        |bands: &[bands::Band]| goal::of_bands(bands).iter().map(|standing| standing.met).collect::<Vec<_>>();
    assert_eq!(met(&bands), [false]);
    assert_eq!(met(&bands[..7]), [true]);
    assert_eq!(goal::against_weaker(&bands)[0].ratios[0], (1.06, 896));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = specs(SEED, &Urls::new(SEED).distinct(10))
        .iter()
        .map(|spec| format!("{:?} {}", spec.verb, spec.name))
        .collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// A malformed escape would make a strict decoder reject the string, and the benchmark would time the rejection.
#[test]
fn strict_rows_have_no_malformed_escapes() {
    let specs = specs(SEED, &Urls::new(SEED).distinct(DISTINCT));
    let mut changed = 0;
    for spec in specs.iter().filter(|spec| spec.verb == Verb::Decode) {
        let (row, plain) = (spec.make(Shape::Strict), spec.make(Shape::Append));
        for (string, plain) in row.strings().iter().zip(plain.strings()) {
            let valid = percent_encoding::percent_decode_str(string).count();
            assert_eq!(string.len() - valid, 2 * string.matches('%').count(), "{}: {string:?}", spec.name);
            assert_eq!(string.len(), plain.len());
            changed += usize::from(*string != plain);
        }
    }
    assert!(changed > 0);
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn buffers_have_the_chosen_offsets() {
    for offset in place::OUTPUTS.into_iter().chain([64]) {
        for capacity in [100, 5000, 200_000, 4_000_000] {
            let buffer = place::at(capacity, offset);
            assert!(buffer.capacity() >= capacity);
            assert_eq!(buffer.as_ptr().addr() % 4096, offset, "{capacity} bytes");
        }
    }
}

#[test]
fn every_tier_and_rival_answers() {
    let mut core = Core::new(0);
    let tiers: Vec<_> = Tier::available().collect();
    let plan = Plan { rounds: 1, turn: 0.0 };
    let row = fixed_length(1, 16, |random| random.pick(b"abcde/") as char);
    for verb in Verb::ALL {
        for &shape in verb.shapes() {
            let task = Task { name: "", verb, shape, unit: Unit::Call, check: 100 };
            let measured = measure(plan, &mut core, &task, &row, groups(verb, shape, &tiers));
            for tier in &tiers {
                assert_eq!(measured.find(tier.name()).unwrap().times.len(), 1);
            }
            assert!(measured.find("memcpy").is_some());
            assert_eq!(measured.best_rival("").is_some(), shape == Shape::Append);
        }
    }
}

/// Returns strings that are hard to decode and to encode: of each length up to 300, and with `%3f` at each position.
fn hostile() -> Vec<Vec<u8>> {
    let mut random = Random::new(SEED);
    let parts: [&[&[u8]]; 5] = [
        &[b"a", b"%", b"4", b"%4", b"%4a", b"%fF"],
        &[b"%41", b"%E2", b"%%", b"abcdefghijklm"],
        &[b"%", b"0", b"9", b"A", b"f", b"G", b"g", b"/", b":", b"@", b"`", b"\x10", b"\xB4", b"\xFF"],
        &[b"%a", b"\xC3\xA9", b" ", b"~", b"-", b"_", b".", b"\0", b"+", b"{"],
        &[b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", b"b", b"/", b"%2F"],
    ];
    let mut strings: Vec<Vec<u8>> = Vec::new();
    for length in 0..=300 {
        for parts in parts {
            for _ in 0..8 {
                let mut string = Vec::new();
                while string.len() < length {
                    string.extend_from_slice(random.pick(parts));
                }
                string.truncate(length);
                strings.push(string);
            }
        }
        strings.push((0..length).map(|_| random.below(256) as u8).collect());
        let mut one = vec![b'a'; 300];
        for (place, byte) in one[length..].iter_mut().zip(*b"%3f") {
            *place = byte;
        }
        strings.push(one);
    }
    strings
}

/// Each algorithm writes to a buffer of the exact capacity. In a build with debug assertions, each load and store is checked.
#[test]
fn algorithms_answer_like_percent_encoding() {
    let strings = hostile();
    for verb in Verb::ALL {
        let algorithms = available(verb);
        assert!(
            !algorithms.is_empty() || Tier::available().all(|tier| !matches!(tier.name(), "avx2" | "neon"))
        );
        for string in &strings {
            let expected = match verb {
                Verb::Encode => percent_encoding::percent_encode(string, COMPONENT).to_string().into_bytes(),
                Verb::Decode => percent_encoding::percent_decode(string).collect(),
            };
            for algorithm in &algorithms {
                let mut answer = b"before".to_vec();
                algorithm.append(string, &mut answer);
                let answer = &answer[6..];
                assert!(answer == expected, "{}: {}", algorithm.name, string.escape_ascii());
            }
        }
    }
}

#[test]
fn a_tier_is_compared_with_rivals_that_its_cpu_can_run() {
    let is_in = |needs: Needs| {
        let tiers = Tier::available().filter(|&tier| needs.is_in(tier)).map(Tier::name);
        tiers.collect::<Vec<_>>()
    };
    let has = |name| Tier::find(name).map(Tier::name);
    assert_eq!(is_in(Needs::Avx512), Vec::from_iter(has("avx512")));
    assert_eq!(is_in(Needs::Avx2), Vec::from_iter(has("avx512").into_iter().chain(has("avx2"))));
    assert_eq!(is_in(Needs::Neon), Vec::from_iter(has("neon")));
}

/// Does a few microseconds of work.
fn work() {
    black_box((0..2000).fold(0_u64, |a, b| black_box(a) ^ b));
}

#[test]
fn each_piece_is_timed_and_counted() {
    let mut core = Core::new(ATTEMPTS);
    let mut calls = 0;
    for _ in 0..10 {
        let time = core.time(|| {
            calls += 1;
            work();
        });
        assert!(time > 0.0 && time.is_finite());
    }
    assert_eq!(core.pieces, 10);
    assert!((10..=10 * ATTEMPTS).contains(&calls));
    assert!(core.given_up <= core.repeated && core.repeated <= core.pieces);
}

#[test]
fn a_core_that_is_never_alone_gives_the_shortest_time() {
    // No loop is as fast as this limit, so the core always seems to be shared.
    let mut core = Core::new(ATTEMPTS);
    core.alone = 1e-9;
    let mut calls = 0;
    let time = core.time(|| {
        calls += 1;
        work();
    });
    assert_eq!((calls, core.pieces, core.given_up), (ATTEMPTS, 1, 1));
    assert!(time > 0.0 && time.is_finite());
    assert!(core.report().contains("100.00 % never"), "{}", core.report());
}
