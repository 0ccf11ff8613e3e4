//! Tests every short input: all words of a few bytes over an alphabet.

use testkit::check::{Checker, Decoding, Encoding, malformed, wrote};
use testkit::guard::Place;
use testkit::oracle::{self, UNRESERVED};
use testkit::shapes::{INTERESTING, words};
use testkit::tiers::{exhaustive, scale, tiers};

/// Returns all bytes; or, if `SIMDPCT_TEST_SCALE` is less than 100, only the bytes with a meaning under some rule.
fn alphabet() -> Vec<u8> {
    if scale() < 100 { interesting() } else { (0..=255).collect() }
}

/// Returns the alphabet for words of three bytes. It has all bytes only if the loops that take minutes run, because the module
/// `lanes` tests all pairs of bytes after a `%`.
fn alphabet_of_threes() -> Vec<u8> {
    if exhaustive() { alphabet() } else { interesting() }
}

fn interesting() -> Vec<u8> {
    let mut bytes = INTERESTING.to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// Decodes every word of at most `longest` bytes, lenient and strict: by itself if `lanes` has 0, and at each other lane in `lanes` of a
/// longer input.
fn decode_words(decoding: Decoding, alphabet: &[u8], longest: usize, lanes: &[usize]) {
    let (mut expected, mut count) = (Vec::new(), 0);
    let mut out = [0; 160];
    words(alphabet, longest, 2, |word| {
        count += 1;
        for &lane in lanes {
            let mut padded = [b'a'; 80];
            padded[lane..lane + word.len()].copy_from_slice(word);
            // The word is the whole input if the lane is 0. Otherwise it is at that lane of a block that is not the last.
            let input = if lane == 0 { word } else { &padded[..] };
            decoding.expected(input, &mut expected);
            let right = oracle::first_malformed(input).map_or(Ok(expected.len()), Err);
            for &tier in tiers() {
                let decode = decoding.decoder(tier);
                let written = decode.decode_to_slice(input, &mut out);
                assert!(wrote(written, &out, &expected), "tier {tier}, b\"{}\"", input.escape_ascii());
                let strict = decode.strict().decoded_len(input).map_err(malformed);
                assert_eq!(strict, right, "tier {tier}, b\"{}\"", input.escape_ascii());
            }
        }
    });
    assert!(count > alphabet.len(), "no words");
}

#[test]
fn decode_inputs_of_three_bytes() {
    decode_words(Decoding::ALL, &alphabet_of_threes(), 3, &[0]);
}

#[test]
fn normalize_inputs_of_three_bytes() {
    decode_words(Decoding::NORMALIZE, &alphabet_of_threes(), 3, &[0]);
}

#[test]
fn decode_three_bytes_around_the_end_of_a_block() {
    let lanes = [14, 30, 61, 62, 63];
    let keep = oracle::members(b"%/\r\n\xa4\xff");
    for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE, Decoding::keeping(keep)] {
        decode_words(decoding, &interesting(), 3, &lanes);
    }
}

/// Tests words of `%`, digits and other bytes, of up to seven bytes, or nine if the loops that take minutes run.
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
    let mut expected = Vec::new();
    let mut out = [0; 64];
    let mut check = |word: &[u8]| {
        for encoding in Encoding::modes(UNRESERVED) {
            encoding.expected(word, &mut expected);
            for &tier in tiers() {
                let written = encoding.encoder(tier).encode_to_slice(word, &mut out);
                let (rule, input) = (encoding.rule, word.escape_ascii());
                assert!(wrote(written, &out, &expected), "tier {tier}, {rule:?}, b\"{input}\"");
            }
        }
    };
    words(&alphabet(), if exhaustive() { 3 } else { 2 }, 2, &mut check);
    words(&interesting(), 3, 2, &mut check);
    words(b"%4dG +", 6, 2, &mut check);
}

/// Checks every method on short words, between guard pages.
#[test]
fn all_verbs_on_short_words() {
    let mut checker = Checker::default();
    words(b"%4fG+ \xe9", 4, 2, |word| {
        for place in [Place::End(0), Place::Start(0)] {
            Encoding::modes(UNRESERVED).iter().for_each(|encoding| checker.encode(encoding, word, place));
            Decoding::MODES.iter().for_each(|decoding| checker.decode(decoding, word, place));
        }
    });
}
