//! Tests decoding until nothing changes against repeated decoding.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use simdpct::{ByteSet, Decode};

use testkit::oracle::{self, Members};
use testkit::shapes::words;
use testkit::tiers::{scaled, tiers};

/// Applies `pass` again and again until nothing changes. Returns the result and the number of passes that changed something.
fn repeat(input: &[u8], pass: impl Fn(&[u8], &mut Vec<u8>)) -> (Vec<u8>, usize) {
    let (mut bytes, mut layers) = (input.to_vec(), 0);
    loop {
        let mut next = Vec::new();
        pass(&bytes, &mut next);
        if next == bytes {
            return (bytes, layers);
        }
        (bytes, layers) = (next, layers + 1);
    }
}

fn stable(decode: &Decode, input: &[u8]) -> (Vec<u8>, usize) {
    let mut out = b"before".to_vec();
    let layers = decode.decode_until_stable_append(input, &mut out);
    (out.split_off(6), layers)
}

/// Checks `input`, and `input` encoded three more times. The kernels decode only the first three layers, so this also tests the
/// pass that removes all further layers at once.
fn check(input: &[u8], keep: &Members, form: bool) {
    let mut decode = Decode::new().keep(ByteSet::EMPTY.add(&oracle::bytes(keep)));
    if form {
        decode = decode.form();
    }
    let wrapped: Vec<u8> = input
        .iter()
        .flat_map(|byte| if *byte == b'%' { &b"%252525"[..] } else { std::slice::from_ref(byte) })
        .copied()
        .collect();
    for input in [input, &wrapped] {
        let wanted = repeat(input, |bytes, out| oracle::decode(bytes, keep, form, out));
        assert_eq!(stable(&decode, input), wanted, "{:?}", input.escape_ascii().to_string());
    }
}

#[test]
fn every_short_word() {
    let none = oracle::members(b"");
    // Words of `%`, `2` and `5`: `%25` is `%`, and `%22`, `%52` and `%55` are other bytes. `z` is not a digit.
    words(b"%25", 10, 4, |word| check(word, &none, false));
    words(b"%25z", 7, 4, |word| check(word, &none, false));
    // `%34` is `4`, and `%43` is `C`, which is a digit as well.
    words(b"%34C", 7, 4, |word| check(word, &none, false));
    // `%2B` is `+`.
    words(b"%2B+", 7, 4, |word| check(word, &none, true));
    // Some escapes stay: those of one hexadecimal digit, of `%`, or of the two digits `4` and `C` (`\x33` is `3`, and `\x34` is `4`).
    // Words of `%`, `2` and `5` have no escape of a digit, so there only those of `%` can stay.
    for keep in [&b"4"[..], b"%", b"D", b"\x33", b"4C\x34"] {
        words(b"%34C", 6, 4, |word| check(word, &oracle::members(keep), false));
        words(b"%25", 8, 4, |word| check(word, &oracle::members(keep), false));
    }
}

#[test]
fn normalization_until_stable() {
    words(b"%236f", 7, 4, |word| {
        let wanted = repeat(word, oracle::normalize);
        assert!(wanted.1 <= 1, "normalization is not idempotent: b\"{}\"", word.escape_ascii());
        assert_eq!(stable(&Decode::NORMALIZE, word), wanted, "b\"{}\"", word.escape_ascii());
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(20_000), ..ProptestConfig::default() })]

    #[test]
    fn long_words(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "%", "%2", "%25", "25", "2525252525", "%2541", "%%34", "%34%31", "0A", "0a", "d", "+", "2B", "2f",
                "/", "z", "a longer plain stretch, with which a block is filled more quickly", "\u{e9}", "%E9",
            ]),
            0..40,
        ),
        keep in proptest::sample::select(vec![&b""[..], b"\r\n", b"/", b"%", b"+ ", b"0123456789"]),
        form in any::<bool>(),
    ) {
        check(words.concat().as_bytes(), &oracle::members(keep), form);
    }
}

#[test]
fn every_tier() {
    let input = "%%25%32%35asd%%/%252525252Fx+".repeat(9);
    for &tier in tiers() {
        let decode = Decode::new().tier(tier);
        let none = oracle::members(b"");
        let wanted = repeat(input.as_bytes(), |bytes, out| oracle::decode(bytes, &none, false, out));
        assert_eq!(stable(&decode, input.as_bytes()), wanted, "{tier:?}");
    }
}

#[test]
fn examples_of_safe_browsing() {
    // The examples are from "URLs and Hashing", section Canonicalization. The results are those before the final escaping.
    for (input, wanted) in [
        ("/%25%32%35", "/%"),
        ("/%25%32%35%25%32%35", "/%%"),
        ("/%2525252525252525", "/%"),
        ("/asdf%25%32%35asd", "/asdf%asd"),
        ("/%%%25%32%35asd%%", "/%%%asd%%"),
        ("/%31%36%38%2e%31%38%38", "/168.188"),
    ] {
        assert_eq!(&*simdpct::decode_until_stable(input), wanted.as_bytes(), "{input}");
    }
    assert!(matches!(simdpct::decode_until_stable("100%"), std::borrow::Cow::Borrowed(b"100%")));
}

/// Tests that 32 MiB in up to 16 million layers take only seconds. Repeated decoding would be quadratic.
#[test]
fn the_time_is_linear() {
    for unit in ["25", "%25", "%", "%4", "%2"] {
        let input = ["%", &unit.repeat((scaled(32 << 20) as usize).max(1 << 20) / unit.len())].concat();
        let started = Instant::now();
        let (_, layers) = stable(&Decode::new(), input.as_bytes());
        assert!(unit != "25" || layers == (input.len() - 1) / 2, "{layers} layers");
        // Repeated decoding would take hours. The limit of 30 seconds is generous, for slow or busy machines.
        assert!(started.elapsed() < Duration::from_secs(30), "{unit}: {:?}", started.elapsed());
    }
}
