//! Tests of the methods that write nothing, of text results, of the free functions and of error messages; properties such as round trips,
//! and results that are written by hand, such as those for malformed escapes.

use std::borrow::Cow;
use std::error::Error;

use proptest::prelude::*;
use simdpct::{BufferTooSmall, ByteSet, Decode, Encode, HexCase, sets};

use testkit::check::{Checker, Encoding};
use testkit::guard::Place;
use testkit::oracle::{self, Rule, UNRESERVED};
use testkit::questions::{self, equivalent};
use testkit::shapes::{Rng, SHAPES};
use testkit::tiers::{runs, scaled, tiers};

fn inputs(mut each: impl FnMut(&[u8])) {
    let mut rng = Rng(41);
    for len in (0..=200).filter(|&len| runs(len)) {
        for (_, shape) in SHAPES {
            each(&shape(len, &mut rng));
        }
    }
}

#[test]
fn questions_are_answered_as_by_the_oracle() {
    inputs(questions::check);
}

#[test]
fn equivalence_is_equality_after_normalization() {
    // The test compares all pairs of short words. Among them are different spellings of one byte.
    let alphabet: [&[u8]; 9] = [b"%", b"4", b"d", b"D", b"M", b"%4d", b"%4D", b"%2f", b"%2F"];
    let mut words: Vec<Vec<u8>> = vec![Vec::new()];
    for len in 1..=3 {
        for word in 0..alphabet.len().pow(len) {
            let part = |place| alphabet[word / alphabet.len().pow(place) % alphabet.len()];
            words.push((0..len).flat_map(part).copied().collect());
        }
    }
    for (index, a) in words.iter().enumerate().filter(|(index, _)| runs(*index)) {
        words[index..].iter().for_each(|b| equivalent(a, b));
    }
}

/// Spells every byte of `text` in a random way: as itself, or as an escape in lower or upper case.
fn respelt(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in text {
        match rng.below(3) {
            0 => out.push(byte),
            1 => out.extend_from_slice(format!("%{byte:02x}").as_bytes()),
            _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    out
}

#[test]
fn equivalence_of_other_spellings() {
    let mut rng = Rng(42);
    for _ in 0..scaled(20_000) {
        let len = rng.below(150);
        let text: Vec<u8> =
            (0..len).map(|_| rng.pick(b"abcXYZ019-._~abcXYZ019-._~abcXYZ019-._~/%")).collect();
        let (a, mut b) = (respelt(&text, &mut rng), respelt(&text, &mut rng));
        equivalent(&a, &b);
        if rng.below(4) == 0 && !b.is_empty() {
            let at = rng.below(b.len());
            b[at] = rng.byte();
            equivalent(&a, &b);
        }
    }
}

/// With an `AsciiSet`, every method must give text, with the same bytes as for the equal [`ByteSet`].
#[test]
fn ascii_sets_give_text() {
    let mut checker = Checker::default();
    let mut rng = Rng(43);
    for named in sets::ALL {
        let members = std::array::from_fn(|byte| named.set.contains(byte as u8));
        for (_, shape) in SHAPES {
            let len = rng.below(150);
            let input = shape(len, &mut rng);
            for rule in [Rule::Plain, Rule::KeepEscapes, Rule::Form, Rule::FormKeepingPlus] {
                let encoding = Encoding { members, rule, upper: true };
                checker.encode_with(named.set, &encoding, &input, Place::End(0));
                checker.encode(&encoding, &input, Place::End(0));
                let mut expected = Vec::new();
                encoding.expected(&input, &mut expected);
                for &tier in tiers() {
                    let encode = encoding.applied(Encode::keeping(named.set).tier(tier));
                    let text: Cow<'_, str> = encode.encode(&input);
                    assert!(text.is_ascii(), "{}, tier {tier}", named.name);
                    assert_eq!(encode.display(&input).to_string(), text);
                    let quoted = format!("{:?}", encode.display(&input));
                    assert_eq!(quoted, format!("\"{}\"", text.escape_debug()));
                    let owned: String = encode.encode_owned(String::from_utf8_lossy(&input).into_owned());
                    assert_eq!(owned, encode.encode(&*String::from_utf8_lossy(&input)));
                    let mut appended = String::from("caf\u{e9}");
                    encode.encode_append(&input, &mut appended);
                    assert_eq!(appended.as_bytes(), [b"caf\xc3\xa9", &expected[..]].concat());
                }
            }
        }
    }
}

/// Decoding must undo encoding, plain and as a form, for every set without `%`. Encoding that keeps escapes must be idempotent.
#[test]
fn encoding_round_trips() {
    let mut rng = Rng(44);
    inputs(|input| {
        let set = ByteSet::EMPTY.add(&oracle::bytes(&rng.members())).remove(b"%");
        for &tier in tiers() {
            let encoded = Encode::keeping(set).tier(tier).encode(input).into_owned();
            let decoded = Decode::new().tier(tier).decode(&encoded);
            assert!(decoded == input, "tier {tier}, {set:?}, b\"{}\"", input.escape_ascii());
            let form =
                Encode::keeping(set).form().hex_case(HexCase::Lower).tier(tier).encode(input).into_owned();
            let decoded = Decode::new().form().tier(tier).decode(&form);
            assert!(decoded == input, "form, tier {tier}, {set:?}, b\"{}\"", input.escape_ascii());
            let keep = Encode::keeping(set).keep_escapes().tier(tier);
            let once = keep.encode(input).into_owned();
            assert_eq!(keep.encode(&once), Cow::Borrowed(&once[..]));
        }
    });
}

/// The free functions always use the active tier, so they are only compared with the oracle and not run on every tier.
#[test]
fn functions_are_the_verbs() {
    let mut expected = Vec::new();
    inputs(|input| {
        let check = |expected: &Vec<u8>,
                     append: &dyn Fn(&mut Vec<u8>),
                     to_slice: &dyn Fn(&mut [u8]) -> Result<usize, BufferTooSmall>,
                     in_place: Option<fn(&mut [u8]) -> usize>| {
            let mut out = b"x".to_vec();
            append(&mut out);
            assert_eq!(out[1..], **expected);
            let mut slice = vec![0; 3 * input.len()];
            assert_eq!(to_slice(&mut slice), Ok(expected.len()));
            assert_eq!(slice[..expected.len()], **expected);
            assert!(expected.is_empty() || to_slice(&mut slice[..expected.len() - 1]).is_err());
            if let Some(in_place) = in_place {
                let mut bytes = input.to_vec();
                let len = in_place(&mut bytes);
                assert_eq!(bytes[..len], **expected);
            }
        };

        oracle::encode(input, &UNRESERVED, Rule::Plain, true, &mut expected);
        assert_eq!(simdpct::encode(input).as_bytes(), expected);
        check(
            &expected,
            &|out| simdpct::encode_append(input, out),
            &|out| simdpct::encode_to_slice(input, out),
            None,
        );

        oracle::decode(input, &[false; 256], false, &mut expected);
        assert_eq!(*simdpct::decode(input), expected);
        check(
            &expected,
            &|out| simdpct::decode_append(input, out),
            &|out| simdpct::decode_to_slice(input, out),
            Some(simdpct::decode_in_place),
        );

        oracle::normalize(input, &mut expected);
        assert_eq!(*simdpct::normalize(input), expected);
        check(
            &expected,
            &|out| Decode::NORMALIZE.decode_append(input, out),
            &|out| Decode::NORMALIZE.decode_to_slice(input, out),
            Some(|bytes| Decode::NORMALIZE.decode_in_place(bytes)),
        );
        assert_eq!(Decode::NORMALIZE.decoded_len(input), expected.len());
        assert_eq!(Decode::NORMALIZE.is_decoded(input), input == expected);
        if let Ok(text) = std::str::from_utf8(input) {
            let normalized = Decode::NORMALIZE.decode_utf8(text).expect("a normalized text is text");
            assert_eq!(normalized.as_bytes(), expected);
        }

        let form = oracle::members(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*-._");
        oracle::encode(input, &form, Rule::Form, true, &mut expected);
        assert_eq!(simdpct::form::encode(input).as_bytes(), expected);
        oracle::decode(input, &[false; 256], true, &mut expected);
        assert_eq!(*simdpct::form::decode(input), expected);
    });
}

/// Tests malformed escapes, and other texts that software decodes wrongly. The results are written by hand.
#[test]
fn malformed_escapes_by_hand() {
    let rows: [(&str, &str); 12] = [
        ("%%41", "%A"),
        ("%4%41", "%4A"),
        ("%zz%41", "%zzA"),
        ("%", "%"),
        ("a%4", "a%4"),
        ("%41%", "A%"),
        ("%25%32%35", "%25"),
        ("%2541", "%41"),
        ("%u0041", "%u0041"),
        ("%C3%a9", "\u{e9}"),
        ("a+b", "a+b"),
        ("% 41", "% 41"),
    ];
    for &tier in tiers() {
        for (input, right) in rows {
            let got = Decode::new().tier(tier).decode(input);
            assert_eq!(&*got, right.as_bytes(), "tier {tier}, {input}");
        }
        for (input, right) in [
            ("%257E%7e%2f%zz%C3%a9", "%257E~%2F%zz%C3%A9"),
            // A decoded digit would complete an escape that lacks a digit.
            ("%%34%31", "%%341"),
            ("%2%35", "%2%35"),
            ("%2%65%2%65", "%2%65%2%65"),
            ("%%7e%4%5f%g%41%", "%~%4_%gA%"),
        ] {
            let got = Decode::NORMALIZE.tier(tier).decode(input);
            assert_eq!(&*got, right.as_bytes(), "tier {tier}, {input}");
        }
    }
}

/// `Decode::decode` decodes inputs of at most 256 bytes on the stack. This test puts one escape at every offset of inputs of letters
/// that have up to this length, or are slightly longer.
#[test]
fn one_escape_anywhere() {
    for len in (3..=260).filter(|&len| runs(len)) {
        for at in 0..=len - 3 {
            let mut input = vec![b'a'; len];
            input[at..at + 3].copy_from_slice(b"%2f");
            let decoded = [&input[..at], b"/", &input[at + 3..]].concat();
            let normalized = [&input[..at], b"%2F", &input[at + 3..]].concat();
            for &tier in tiers() {
                let decode = Decode::new().tier(tier);
                assert_eq!(*decode.decode(&input), *decoded, "{tier} {len} {at}");
                assert_eq!(*Decode::NORMALIZE.tier(tier).decode(&input), *normalized, "{tier} {len} {at}");
                assert_eq!(decode.strict().decode(&input).as_deref(), Ok(&*decoded), "{tier} {len} {at}");
            }
        }
    }
}

/// If a strict decoder finds a malformed escape, it must remove the bytes that it has appended before.
#[test]
fn a_malformed_input_appends_nothing() {
    for at in 0..300 {
        let mut input = b"%41".repeat(100);
        input[at] = b'%';
        if at % 3 == 0 {
            input[at + 1] = b'%';
        }
        for &tier in tiers() {
            let mut out = b"kept".to_vec();
            assert!(
                Decode::new().tier(tier).strict().decode_append(&input, &mut out).is_err(),
                "{tier} {at}"
            );
            assert_eq!(out, b"kept", "{tier} {at}");
        }
    }
}

#[test]
fn single_escapes() {
    for byte in 0..=255u8 {
        let [upper, lower] = [format!("%{byte:02X}"), format!("%{byte:02x}")];
        assert_eq!(simdpct::encode_byte(byte, HexCase::Upper), upper.as_bytes());
        assert_eq!(simdpct::encode_byte(byte, HexCase::Lower), lower.as_bytes());
        for second in 0..=255u8 {
            let input = [b'%', byte, second, b'x'];
            for input in [&input[..], &input[..3], &input[..2], &input[1..]] {
                assert_eq!(simdpct::decode_escape(input), oracle::escape_at(input, 0));
            }
        }
    }
    const SLASH: Option<u8> = simdpct::decode_escape(b"%2f");
    assert_eq!(SLASH, Some(b'/'));
}

#[test]
fn errors_say_what_is_wrong() {
    let strict = Decode::new().strict();
    assert_eq!(
        strict.decoded_len("ab%").unwrap_err().to_string(),
        "malformed escape at offset 2: the input ends inside it (a '%' itself is written '%25')"
    );
    assert_eq!(
        strict.decoded_len("%4\n").unwrap_err().to_string(),
        "malformed escape at offset 0: '\\n' is not a hexadecimal digit (a '%' itself is written '%25')"
    );
    let mut none = [0; 0];
    let small = simdpct::decode_to_slice("%41", &mut none).unwrap_err();
    assert_eq!(small.to_string(), "the buffer is too small: the output needs 1 bytes");

    // An error that wraps another error shows the message of that error, so its `source` must not return that error as well.
    let errors: [(Box<dyn Error>, String); 4] = [
        (Box::new(strict.decode_utf8("%").unwrap_err()), strict.decode("%").unwrap_err().to_string()),
        (
            Box::new(strict.decode_utf8("a%FF").unwrap_err()),
            "the decoded bytes are not UTF-8 from offset 1 of the input on".to_owned(),
        ),
        (
            Box::new(strict.decode_to_slice("%", &mut none).unwrap_err()),
            strict.decode("%").unwrap_err().to_string(),
        ),
        (Box::new(strict.decode_to_slice("%41", &mut none).unwrap_err()), small.to_string()),
    ];
    for (error, message) in errors {
        assert_eq!(error.to_string(), message);
        assert!(error.source().is_none(), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    #[test]
    fn any_bytes_with_any_set(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        kept in proptest::collection::vec(any::<u8>(), 0..256),
    ) {
        let mut checker = Checker::default();
        let members = oracle::members(&kept);
        for encoding in Encoding::modes(members) {
            checker.encode(&Encoding { upper: false, ..encoding }, &bytes, Place::End(0));
        }
    }
}

#[test]
fn the_last_rule_counts() {
    let encode = Encode::keeping(sets::RFC3986_PATH);
    assert_eq!(encode.form().keep_escapes().encode("a b+%41%"), "a%20b+%41%25");
    assert_eq!(encode.keep_escapes().form().encode("a b+%41%"), "a+b%2B%2541%25");
}
