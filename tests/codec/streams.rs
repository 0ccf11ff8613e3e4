//! Streams: any way of cutting the input gives what one call gives.

use std::io::{self, Write};

use proptest::prelude::*;
use simdpct::stream::{Decoder, Encoder, Transform, Writer};
use simdpct::{Decode, Encode, MalformedEscape, sets};

use crate::common::check::{bad, byte_set};
use crate::common::oracle::{self, Bad, Rule};
use crate::common::shapes::{Rng, SHAPES};
use crate::common::streams::{check, run, unreserved};
use crate::common::tiers::{runs, scale, scaled, tiers};

#[test]
fn short_words_cut_in_every_way() {
    let alphabet = b"%4dG+";
    let longest = if scale() < 100 { 4 } else { 5 };
    for len in 0..=longest {
        for word in 0..alphabet.len().pow(len) {
            let digit = |place: u32| word / alphabet.len().pow(place) % alphabet.len();
            let input: Vec<u8> = (0..len).map(|place| alphabet[digit(place)]).collect();
            for cut in 0..1usize << len.saturating_sub(1) {
                let cuts: Vec<usize> = (1..input.len()).filter(|at| cut >> (at - 1) & 1 == 1).collect();
                tiers().iter().for_each(|&tier| check(tier, &input, &cuts));
            }
        }
    }
}

/// Escapes at the ends of blocks, cut once and twice, with empty pieces too.
#[test]
fn escapes_cut_around_blocks() {
    for at in [0, 13, 61, 62, 63, 64, 127, 190].into_iter().filter(|&at| runs(at)) {
        for word in [&b"%41"[..], b"%%41", b"%4%41", b"%2F%2f", b"%4", b"%", b"%zz", b"%4z%"] {
            let mut input = vec![b'a'; at];
            input.extend_from_slice(word);
            for behind in [0, 1, 70] {
                input.resize(at + word.len() + behind, b'b');
                for first in at..=input.len().min(at + 5) {
                    for second in first..=input.len().min(at + 6) {
                        tiers().iter().for_each(|&tier| check(tier, &input, &[first, second]));
                    }
                }
            }
        }
    }
}

#[test]
fn one_byte_at_a_time() {
    let mut rng = Rng(21);
    for (index, (_, shape)) in SHAPES.iter().enumerate() {
        for len in [66, 129, 300].into_iter().filter(|len| runs(len + index)) {
            let input = shape(len, &mut rng);
            let cuts: Vec<usize> = (1..len).collect();
            tiers().iter().for_each(|&tier| check(tier, &input, &cuts));
        }
    }
}

/// After `finish` a stream takes new input, and offsets count from its start.
#[test]
fn a_finished_stream_starts_anew() {
    for &tier in tiers() {
        let mut out = Vec::new();
        let mut decoder = Decoder::new(Decode::new().tier(tier).strict());
        run(&mut decoder, b"ab%41", &[3], &mut out).unwrap();
        decoder.push(b"c%", &mut out).unwrap();
        let error = decoder.finish(&mut out).unwrap_err();
        assert_eq!(bad(error), Bad { offset: 1, not_hex: None });
        assert_eq!(out, b"abAc");

        let mut encoder = Encoder::new(Encode::keeping(sets::RFC3986_UNRESERVED).keep_escapes().tier(tier));
        let mut out = Vec::new();
        let Ok(()) = run(&mut encoder, b"%4", &[1], &mut out);
        let Ok(()) = run(&mut encoder, b"1%41", &[1, 2, 3], &mut out);
        assert_eq!(out, b"%2541%41");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    #[test]
    fn any_chunking_gives_the_same_bytes(
        input in proptest::collection::vec(
            prop_oneof![Just(b'%'), Just(b'4'), Just(b'f'), any::<u8>()], 0..400),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        cuts.sort_unstable();
        tiers().iter().for_each(|&tier| check(tier, &input, &cuts));
    }
}

/// Takes at most seven bytes at a time, and counts flushes.
#[derive(Default)]
struct Slow {
    bytes: Vec<u8>,
    flushes: usize,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(7);
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

#[test]
fn writers_pass_on_what_a_call_gives() {
    let mut rng = Rng(22);
    for &tier in tiers() {
        for len in [0, 1, 63, 200, 5000] {
            let input: Vec<u8> = (0..len).map(|_| rng.pick(b"%%42fzab +")).collect();
            let mut expected = Vec::new();

            let encode = Encode::keeping(byte_set(&unreserved())).keep_escapes().tier(tier);
            let mut writer = Writer::new(Encoder::new(encode), Slow::default());
            for piece in input.chunks(1 + len / 9) {
                writer.write_all(piece).unwrap();
            }
            writer.flush().unwrap();
            let inner = writer.finish().unwrap();
            oracle::encode(&input, &unreserved(), Rule::KeepEscapes, true, &mut expected);
            assert!(inner.bytes == expected, "encode, tier {tier}, {len}");
            assert_eq!(inner.flushes, 2);

            let mut writer = Writer::new(Decoder::new(Decode::new().tier(tier)), Slow::default());
            for piece in input.chunks(3) {
                writer.write_all(piece).unwrap();
            }
            oracle::decode(&input, &[false; 256], false, &mut expected);
            assert!(writer.finish().unwrap().bytes == expected, "decode, tier {tier}, {len}");
        }
        // More than a writer takes at once.
        let input = b"ab%20".repeat(50_000);
        let mut writer = Writer::new(Decoder::new(Decode::new().tier(tier)), Vec::new());
        writer.write_all(&input).unwrap();
        assert!(writer.finish().unwrap() == b"ab ".repeat(50_000), "tier {tier}");
    }
}

#[test]
fn writers_report_malformed_escapes_with_their_offset() {
    for &tier in tiers() {
        let mut input = b"a%20".repeat(30_000);
        let offset = input.len();
        input.extend_from_slice(b"%4x and more");
        let mut writer = Writer::new(Decoder::new(Decode::new().tier(tier).strict()), Vec::new());
        let error = writer.write_all(&input).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let cause = error
            .get_ref()
            .and_then(|error| error.downcast_ref::<MalformedEscape>())
            .expect("a MalformedEscape");
        assert_eq!(bad(*cause), Bad { offset, not_hex: Some((offset + 2, b'x')) });

        let mut writer = Writer::new(Decoder::new(Decode::new().tier(tier).strict()), Vec::new());
        writer.write_all(b"abc%4").unwrap();
        let error = writer.finish().unwrap_err();
        let cause = error
            .get_ref()
            .and_then(|error| error.downcast_ref::<MalformedEscape>())
            .expect("a MalformedEscape");
        assert_eq!(bad(*cause), Bad { offset: 3, not_hex: None });
    }
}

/// A failing inner writer is reported as it is.
#[test]
fn writers_report_the_error_of_the_inner_writer() {
    let mut room = [0; 4];
    let mut writer = Writer::new(Encoder::new(Encode::keeping(sets::RFC3986_UNRESERVED)), &mut room[..]);
    assert_eq!(writer.write_all(b"a b").unwrap_err().kind(), io::ErrorKind::WriteZero);
}
