//! Tests of decoding to text, with each policy for invalid UTF-8.

use proptest::prelude::*;
use simdpct::{Decode, OnInvalidUtf8};

use testkit::check::byte_set;
use testkit::oracle;
use testkit::shapes::{Rng, SHAPES};
use testkit::text::check;
use testkit::tiers::{runs, scaled, tiers};

#[test]
fn shapes_of_all_lengths() {
    let mut rng = Rng(31);
    for len in (0..=200).filter(|&len| runs(len)) {
        for (_, shape) in SHAPES {
            check(&shape(len, &mut rng));
        }
    }
}

/// Tests every first byte of a UTF-8 sequence with valid and invalid tails: unescaped, escaped, cut off, and in the middle of
/// text.
#[test]
fn sequences_valid_and_not() {
    let tails: [&[u8]; 8] = [
        b"",
        b"\x80",
        b"\xbf\xbf",
        b"\x80\x80\x80",
        b"\x9f\xbf",
        b"\xa0\x80",
        b"\x8f\xbf\xbf",
        b"\x90\x80\x80",
    ];
    for first in (0..=255u8).filter(|&first| runs(first.into())) {
        for tail in tails {
            let bytes: Vec<u8> = [&[first], tail].concat();
            let escaped: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
            let mixed = [&escaped.as_bytes()[..3], tail].concat();
            for spelling in [&bytes[..], escaped.as_bytes(), &mixed] {
                check(spelling);
                check(&[b"ab%20", spelling, b"c%C3%A9"].concat());
            }
        }
    }
}

/// Tests that an invalid byte is found after text of every length. The end of the text may cut an escape anywhere.
#[test]
fn invalid_bytes_far_from_the_start() {
    let text = "a%20%zz%2%35caf\u{e9}%C3%A9%2f+%%41%4".repeat(400);
    for len in (0..300).chain([4095, 4096, 4097, 8192, 9000]).filter(|&len| runs(len)) {
        check(&[&text.as_bytes()[..len], b"%FFb%ff\xFF", &text.as_bytes()[..len / 2], b"\xC3"].concat());
    }
}

#[test]
fn functions_are_the_verbs() {
    for input in ["", "caf%C3%A9", "a+b", "%FF%zz", "caf\u{e9}%20%c3"] {
        assert_eq!(simdpct::decode_utf8(input).ok(), Decode::new().decode_utf8(input).ok());
        assert_eq!(simdpct::decode_utf8_lossy(input), Decode::new().decode_utf8_lossy(input));
        assert_eq!(simdpct::form::decode_utf8_lossy(input), Decode::new().form().decode_utf8_lossy(input));
    }
    let error = simdpct::decode_utf8("ab%41%C3").unwrap_err();
    assert_eq!((error.offset, error.decoded_offset), (5, 3));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    /// Tests text in which some bytes are escaped and one byte may be damaged.
    #[test]
    fn damaged_text(
        text in any::<String>(),
        escape in proptest::collection::vec(any::<(bool, bool)>(), 1..50),
        damage in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut bytes = text.into_bytes();
        if let Some((at, byte)) = damage && !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut input = Vec::new();
        for (byte, (escape, lower)) in bytes.iter().zip(escape.iter().cycle()) {
            match (escape, lower) {
                (false, _) => input.push(*byte),
                (true, false) => input.extend_from_slice(format!("%{byte:02X}").as_bytes()),
                (true, true) => input.extend_from_slice(format!("%{byte:02x}").as_bytes()),
            }
        }
        check(&input);
    }

    /// The text that [`OnInvalidUtf8::Keep`] makes must decode to the same bytes as the input, if the escapes of `%` are kept.
    #[test]
    fn keeping_loses_nothing(input in proptest::collection::vec(any::<u8>(), 0..200)) {
        let keep = byte_set(&oracle::members(b"%"));
        for &tier in tiers() {
            let decode = Decode::new().keep(keep).tier(tier);
            let kept = decode.decode_utf8_with(&input, OnInvalidUtf8::Keep);
            prop_assert_eq!(decode.decode(&*kept), decode.decode(&input));
        }
    }
}
