//! Every short input there is.

use simdpct::Encode;

use crate::common::check::{Checker, Decoding, Encoding, bad, byte_set};
use crate::common::guard::Place;
use crate::common::oracle::{self, Members, Rule};
use crate::common::shapes::INTERESTING;
use crate::common::tiers::{exhaustive, runs, scale, tiers};

/// All bytes, or below full scale those that some rule looks at.
fn alphabet() -> Vec<u8> {
    if scale() < 100 { interesting() } else { (0..=255).collect() }
}

fn interesting() -> Vec<u8> {
    let mut bytes = INTERESTING.to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// Calls `each` with every word of at most `longest` bytes of `alphabet`; below full scale, with some of those of
/// three and more.
fn words(alphabet: &[u8], longest: usize, mut each: impl FnMut(&[u8])) {
    let mut index = 0;
    let mut each = |word: &[u8]| {
        index += 1;
        if word.len() < 3 || runs(index) {
            each(word);
        }
    };
    fn extend(alphabet: &[u8], word: &mut Vec<u8>, longest: usize, each: &mut impl FnMut(&[u8])) {
        each(word);
        if word.len() < longest {
            for &byte in alphabet {
                word.push(byte);
                extend(alphabet, word, longest, each);
                word.pop();
            }
        }
    }
    extend(alphabet, &mut Vec::new(), longest, &mut each);
}

/// Decodes every word of at most `longest` bytes, lenient and strict, as it is and at the lanes `at`.
fn decode_words(decoding: Decoding, alphabet: &[u8], longest: usize, lanes: &[usize]) {
    let (mut expected, mut count) = (Vec::new(), 0);
    let mut out = [0; 160];
    words(alphabet, longest, |word| {
        count += 1;
        for &lane in lanes {
            let mut padded = [b'a'; 80];
            padded[lane..lane + word.len()].copy_from_slice(word);
            // Alone, or at the lane of a block with more behind it.
            let input = if lane == 0 { word } else { &padded[..] };
            decoding.expected(input, &mut expected);
            let right = oracle::first_bad(input).map_or(Ok(expected.len()), Err);
            for &tier in tiers() {
                let decode = decoding.decoder(tier);
                let written = decode.decode_to_slice(input, &mut out);
                assert!(
                    written == Ok(expected.len()) && out[..expected.len()] == expected,
                    "tier {tier}, b\"{}\"",
                    input.escape_ascii()
                );
                let strict = decode.strict().decoded_len(input).map_err(bad);
                assert_eq!(strict, right, "tier {tier}, b\"{}\"", input.escape_ascii());
            }
        }
    });
    assert!(count > alphabet.len(), "no words");
}

#[test]
fn decode_all_inputs_of_three_bytes() {
    decode_words(Decoding::ALL, &alphabet(), 3, &[0]);
}

#[test]
fn normalize_all_inputs_of_three_bytes() {
    decode_words(Decoding::NORMALIZE, &alphabet(), 3, &[0]);
}

#[test]
fn decode_three_bytes_around_the_end_of_a_block() {
    let lanes = [14, 30, 61, 62, 63];
    let keep = oracle::members(b"%/\r\n\xa4\xff");
    for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE, Decoding::keeping(keep)] {
        decode_words(decoding, &interesting(), 3, &lanes);
    }
}

/// Words of `%`, digits and neighbours of digits: whatever a decoder can confuse, seven bytes deep.
#[test]
fn decode_all_words_of_a_small_alphabet() {
    let longest = if exhaustive() { 9 } else { 7 };
    let keep = oracle::members(b"%D\x4d");
    for decoding in [Decoding::FORM, Decoding::NORMALIZE, Decoding::keeping(keep)] {
        decode_words(decoding, b"%4dG+", longest, &[0]);
    }
}

#[test]
fn encode_all_inputs_of_two_bytes_and_more() {
    let unreserved: Members =
        oracle::members(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~");
    let set = byte_set(&unreserved);
    let mut expected = Vec::new();
    let mut out = [0; 64];
    let mut check = |word: &[u8]| {
        for rule in [Rule::Plain, Rule::KeepEscapes, Rule::Form] {
            let encoding = Encoding { members: unreserved, rule, upper: true };
            encoding.expected(word, &mut expected);
            for &tier in tiers() {
                let encode = encoding.applied(Encode::keeping(set).tier(tier));
                let written = encode.encode_to_slice(word, &mut out);
                assert!(
                    written == Ok(expected.len()) && out[..expected.len()] == expected,
                    "tier {tier}, {rule:?}, b\"{}\"",
                    word.escape_ascii()
                );
            }
        }
    };
    words(&alphabet(), if exhaustive() { 3 } else { 2 }, &mut check);
    words(&interesting(), 3, &mut check);
    words(b"%4dG +", 6, &mut check);
}

/// Every verb, between guard pages.
#[test]
fn all_verbs_on_short_words() {
    let mut checker = Checker::new();
    let unreserved = oracle::members(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~");
    words(b"%4fG+ \xe9", 4, |word| {
        for place in [Place::End(0), Place::Start(0)] {
            for rule in [Rule::Plain, Rule::KeepEscapes, Rule::Form] {
                checker.encode(&Encoding { members: unreserved, rule, upper: true }, word, place);
            }
            for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE] {
                checker.decode(&decoding, word, place);
            }
        }
    });
}
