//! Decoding to text: strict, lossy, and leaving escapes that are not UTF-8.

use std::borrow::Cow;

use proptest::prelude::*;
use simdpct::{BadEscape, Decode, DecodeUtf8Error};

use crate::common::check::{Decoding, bad, byte_set};
use crate::common::oracle;
use crate::common::shapes::{Rng, SHAPES};
use crate::common::tiers::{runs, scaled, tiers};

/// All verbs that give text, on every tier.
fn check(input: &[u8]) {
    let keep = Decoding::keeping(oracle::members(b"%/\xe9\xa9"));
    for decoding in [Decoding::ALL, Decoding::FORM, keep] {
        let right = oracle::text(input, &decoding.keep, decoding.plus);
        let first_bad = oracle::first_bad(input);
        for &tier in tiers() {
            let decode = decoding.decoder(tier);
            let context =
                || format!("tier {tier}, keep {:?}, b\"{}\"", byte_set(&decoding.keep), input.escape_ascii());

            match (decode.to_utf8(input), right.not_utf8) {
                (Ok(text), None) => assert_eq!(text, right.partial, "{}", context()),
                (Err(DecodeUtf8Error::NotUtf8(error)), Some(offsets)) => {
                    assert_eq!((error.offset, error.decoded_offset), offsets, "{}", context());
                }
                (got, _) => panic!("{}: {got:?}, not {right:?}", context()),
            }
            let Ok(lossy) = decode.to_utf8_lossy(input);
            assert_eq!(lossy, right.lossy, "{}", context());
            let Ok(partial) = decode.to_utf8_partial(input);
            assert_eq!(partial, right.partial, "{}", context());
            for text in [&lossy, &partial] {
                let borrowed = matches!(text, Cow::Borrowed(_));
                let unchanged = right.not_utf8.is_none() && text.as_bytes() == input;
                assert_eq!(borrowed, unchanged, "{}: borrowing", context());
            }

            let strict = decode.strict();
            match (strict.to_utf8(input), first_bad, right.not_utf8) {
                (Ok(text), None, None) => assert_eq!(text, right.partial, "{}", context()),
                (Err(DecodeUtf8Error::BadEscape(error)), Some(right), _) => {
                    assert_eq!(bad(error), right, "{}", context());
                }
                (Err(DecodeUtf8Error::NotUtf8(error)), None, Some(offsets)) => {
                    assert_eq!((error.offset, error.decoded_offset), offsets, "{}", context());
                }
                (got, _, _) => panic!("{}: {got:?}, not {right:?}", context()),
            }
            let right_or_bad = |text: &str| first_bad.map_or(Ok(text.to_owned()), Err);
            let owned = |result: Result<Cow<'_, str>, BadEscape>| result.map(Cow::into_owned).map_err(bad);
            assert_eq!(owned(strict.to_utf8_lossy(input)), right_or_bad(&right.lossy), "{}", context());
            assert_eq!(owned(strict.to_utf8_partial(input)), right_or_bad(&right.partial), "{}", context());
        }
    }
}

#[test]
fn shapes_of_all_lengths() {
    let mut rng = Rng(31);
    for len in (0..=200).filter(|&len| runs(len)) {
        for (_, shape) in SHAPES {
            check(&shape(len, &mut rng));
        }
    }
}

/// Every first octet with what may follow it: bare, escaped, cut off, and in the middle of text.
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
            let octets: Vec<u8> = [&[first], tail].concat();
            let escaped: String = octets.iter().map(|octet| format!("%{octet:02x}")).collect();
            let mixed = [escaped[..3].as_bytes(), tail].concat();
            for spelling in [&octets[..], escaped.as_bytes(), &mixed] {
                check(spelling);
                check(&[b"ab%20", spelling, b"c%C3%A9"].concat());
            }
        }
    }
}

/// What is documented as one-line functions.
#[test]
fn functions_are_the_verbs() {
    for input in ["", "caf%C3%A9", "a+b", "%FF%zz", "caf\u{e9}%20%c3"] {
        assert_eq!(simdpct::decode_utf8(input).ok(), Decode::new().to_utf8(input).ok());
        assert_eq!(simdpct::decode_utf8_lossy(input), Decode::new().to_utf8_lossy(input).unwrap());
        assert_eq!(
            simdpct::form::decode_utf8_lossy(input),
            Decode::new().form().to_utf8_lossy(input).unwrap()
        );
    }
    let error = simdpct::decode_utf8("ab%41%C3").unwrap_err();
    assert_eq!((error.offset, error.decoded_offset), (5, 3));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    /// Text of which some octets are escaped and some are damaged.
    #[test]
    fn damaged_text(
        text in any::<String>(),
        escape in proptest::collection::vec(any::<(bool, bool)>(), 1..50),
        damage in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut octets = text.into_bytes();
        if let Some((at, octet)) = damage && !octets.is_empty() {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        let mut input = Vec::new();
        for (octet, (escape, lower)) in octets.iter().zip(escape.iter().cycle()) {
            match (escape, lower) {
                (false, _) => input.push(*octet),
                (true, false) => input.extend_from_slice(format!("%{octet:02X}").as_bytes()),
                (true, true) => input.extend_from_slice(format!("%{octet:02x}").as_bytes()),
            }
        }
        check(&input);
    }

    /// What `to_utf8_partial` gives, decoded, is what decoding gives, as long as no `%` is decoded.
    #[test]
    fn partial_loses_nothing(input in proptest::collection::vec(any::<u8>(), 0..200)) {
        let keep = byte_set(&oracle::members(b"%"));
        for &tier in tiers() {
            let decode = Decode::new().keep(keep).tier(tier);
            let Ok(partial) = decode.to_utf8_partial(&input);
            prop_assert_eq!(decode.to_cow(&*partial), decode.to_cow(&input));
        }
    }
}
