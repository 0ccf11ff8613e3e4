//! Tests decoding at chosen offsets, on every tier, between guard pages.

use simdpct::Decode;
use simdpct::internals::decode_chosen_append;
use testkit::guard::{GuardedSlice, PLACES};
use testkit::oracle::{Members, UNRESERVED};
use testkit::shapes::{Rng, SHAPES};
use testkit::tiers::{runs, tiers};

/// Decodes escapes whose `%` is marked; bit `first` marks byte 0. Also returns the offset of the first one that stays.
fn naive(input: &[u8], marks: &[u64], first: usize, keep: &Members, upper: bool) -> (Vec<u8>, Option<usize>) {
    let (mut out, mut at, mut kept) = (Vec::new(), 0, None);
    while at < input.len() {
        let bit = first + at;
        let is_marked = marks.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0);
        let digits = input.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits.filter(|_| is_marked && input[at] == b'%') {
            Some(digits) => {
                let byte = u8::from_str_radix(digits, 16).unwrap();
                // A normalization keeps the escape of a digit after an escape that lacks a digit.
                let completes = upper
                    && byte.is_ascii_hexdigit()
                    && match input[..at] {
                        [.., b'%'] => true,
                        [.., b'%', digit] => digit.is_ascii_hexdigit(),
                        _ => false,
                    };
                if !keep[usize::from(byte)] && !completes {
                    out.push(byte);
                } else {
                    kept.get_or_insert(at);
                    let escape = &input[at..at + 3];
                    out.extend(if upper { escape.to_ascii_uppercase() } else { escape.to_vec() });
                }
                at += 3;
            }
            None => {
                out.push(input[at]);
                at += 1;
            }
        }
    }
    (out, kept)
}

#[test]
fn only_marked_escapes_are_decoded() {
    let (mut rng, mut room, mut seen) = (Rng(1), GuardedSlice::default(), 0);
    let others: Members = std::array::from_fn(|byte| !UNRESERVED[byte]);
    let decoders = [
        (Decode::new(), [false; 256], false),
        (Decode::new().keep(testkit::check::byte_set(&UNRESERVED)).form(), UNRESERVED, false),
        (Decode::new().keep(testkit::check::byte_set(&others)), others, false),
        (Decode::NORMALIZE, others, true),
    ];
    for len in (0..=260).chain([511, 640, 4095, 4096, 4101]) {
        for (index, (name, shape)) in SHAPES.iter().enumerate() {
            if !runs(len * SHAPES.len() + index) && len > 66 {
                continue;
            }
            let input = shape(len, &mut rng);
            let input = room.put(&input, PLACES[(len + index) % PLACES.len()]);
            // The marks are all bits, no bits, some bits or long runs of bits, or they lack words.
            let first = [0, 1, 63, 64, 100][(len + 3 * index) % 5];
            let words = (first + len).div_ceil(64);
            let mut random = || (0..words).map(|_| rng.next()).collect::<Vec<_>>();
            let run = random().iter().map(|bits| u64::MAX << (bits % 64)).collect();
            for marks in
                [vec![u64::MAX; words], vec![0; words], random(), run, random()[words / 2..].to_vec()]
            {
                for (decode, keep, upper) in &decoders {
                    let (wanted, kept) = naive(input, &marks, first, keep, *upper);
                    seen += usize::from(wanted != *input);
                    for &tier in tiers() {
                        let mut out = b"before".to_vec();
                        let decode = decode.tier(tier);
                        let all = decode_chosen_append(&decode, &*input, &marks, first, false, &mut out);
                        assert_eq!(all, Ok(()));
                        let result = decode_chosen_append(&decode, &*input, &marks, first, true, &mut out);
                        let second: &[u8] = if kept.is_none() { &wanted } else { b"" };
                        let wanted = [b"before", &*wanted, second].concat();
                        assert_eq!(
                            (result.err(), out),
                            (kept, wanted),
                            "{tier} {name} {len} {first} {marks:x?}"
                        );
                    }
                }
            }
        }
    }
    assert!(seen > 1000, "{seen}");
}

/// Tests values of `first` far outside the input: they select nothing, even if adding the length of the input wraps.
#[test]
fn places_outside_the_input_select_nothing() {
    let input = "x%41".repeat(40);
    let wanted = [b"before", input.as_bytes()].concat();
    for &tier in tiers() {
        let decode = Decode::new().tier(tier);
        for first in [64, 4096, usize::MAX / 2, usize::MAX - 200, usize::MAX - 64, usize::MAX - 1, usize::MAX]
        {
            for marks in [&[][..], &[u64::MAX]] {
                let mut out = b"before".to_vec();
                for (ends_at_kept, input) in [(false, &*input), (true, "x%41")] {
                    let result = decode_chosen_append(&decode, input, marks, first, ends_at_kept, &mut out);
                    assert_eq!(result, Ok(()));
                }
                assert_eq!(out, [&wanted[..], b"x%41"].concat(), "{tier} {first}");
            }
        }
    }
}
