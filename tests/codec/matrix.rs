//! Tests every operation on every tier, with every length up to 256, several alignments, and all kinds of test input.

use testkit::check::{Checker, Decoding, Encoding};
use testkit::guard::{PLACES, Place};
use testkit::oracle::{self, Members, Rule, UNRESERVED};
use testkit::shapes::{Rng, SHAPES};
use testkit::tiers::runs;

/// The lengths at which kernels change their method. They run whatever `SIMDPCT_TEST_SCALE` is.
const STEPS: [usize; 18] = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 130, 256];

/// Calls `each` with every input of the matrix at several places in guarded memory.
fn for_all(mut each: impl FnMut(&[u8], Place)) {
    let mut rng = Rng(1);
    for len in 0..=256 {
        for (index, (_, shape)) in SHAPES.iter().enumerate() {
            let input = shape(len, &mut rng);
            if STEPS.contains(&len) || runs(len * SHAPES.len() + index) {
                // Every input is placed next to each of the two guard pages. The other places are used in turn.
                let other = PLACES[2 + (len + index) % 3];
                [PLACES[0], PLACES[1], other].iter().for_each(|&place| each(&input, place));
            }
        }
    }
}

/// Calls `each` with long inputs. Some have a length at which the library changes its buffers or works in pieces, such as 512
/// bytes for decoding in place.
fn for_long(mut each: impl FnMut(&[u8], Place)) {
    let mut rng = Rng(2);
    for len in [257, 511, 512, 513, 514, 1023, 1025, 4095, 8191, 8192, 8193, 8194, 20_000] {
        for (index, (_, shape)) in SHAPES.iter().enumerate() {
            let input = shape(len, &mut rng);
            if runs(len + index) {
                each(&input, PLACES[index % PLACES.len()]);
            }
        }
    }
}

/// Returns a set of ASCII bytes, a random set of about half of all bytes, and a set of all bytes but `%` and the space. With
/// the last set, hardly anything is escaped.
fn sets() -> [Members; 3] {
    let mut most = [true; 256];
    most[b'%' as usize] = false;
    most[b' ' as usize] = false;
    [UNRESERVED, Rng(3).members(), most]
}

fn encodes(rule: Rule) {
    let mut checker = Checker::default();
    let [unreserved, half, most] = sets();
    for (members, upper) in [(unreserved, true), (half, true), (half, false), (most, false)] {
        let encoding = Encoding { members, rule, upper };
        for_all(|input, place| checker.encode(&encoding, input, place));
        for_long(|input, place| checker.encode(&encoding, input, place));
    }
}

fn decodes(decodings: &[Decoding]) {
    let mut checker = Checker::default();
    for decoding in decodings {
        for_all(|input, place| checker.decode(decoding, input, place));
        for_long(|input, place| checker.decode(decoding, input, place));
    }
}

#[test]
fn encode_plain() {
    encodes(Rule::Plain);
}

#[test]
fn encode_keeping_escapes() {
    encodes(Rule::KeepEscapes);
}

#[test]
fn encode_form() {
    encodes(Rule::Form);
}

#[test]
fn encode_form_keeping_plus() {
    let mut checker = Checker::default();
    let python = oracle::members(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+");
    for members in [python, sets()[1]] {
        let encoding = Encoding { members, rule: Rule::FormKeepingPlus, upper: true };
        for_all(|input, place| checker.encode(&encoding, input, place));
    }
}

#[test]
fn decode_all() {
    decodes(&[Decoding::ALL]);
}

#[test]
fn decode_form() {
    decodes(&[Decoding::FORM]);
}

#[test]
fn decode_keeping() {
    let delimiters = oracle::members(b"/?#%\r\n\0");
    let high = std::array::from_fn(|byte| byte >= 0x80);
    let form = Decoding { plus: true, ..Decoding::keeping(delimiters) };
    decodes(&[Decoding::keeping(delimiters), Decoding::keeping(high), Decoding::keeping([true; 256]), form]);
}

#[test]
fn normalize() {
    decodes(&[Decoding::NORMALIZE]);
}
