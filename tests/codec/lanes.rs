//! Tests every predicate of a kernel at every lane of a block: membership of all 256 bytes, hexadecimal digits, and
//! escapes that cross the ends of vectors and blocks.

use simdpct::{ByteSet, sets};

use testkit::check::{Checker, Decoding, Encoding, byte_set, malformed, wrote};
use testkit::guard::{PLACES, Place};
use testkit::oracle::{self, Members, Rule, UNRESERVED};
use testkit::shapes::Rng;
use testkit::tiers::{runs, tiers};

/// Returns all named sets, sets with bytes of either half of the 256 bytes, the empty set and the set of all bytes.
fn all_sets() -> Vec<Members> {
    let mut rng = Rng(11);
    let named = sets::ALL.iter().map(|named| named.set.to_byte_set());
    let mut all: Vec<Members> =
        named.map(|set| std::array::from_fn(|byte| set.contains(byte as u8))).collect();
    all.push([false; 256]);
    all.push([true; 256]);
    all.push(std::array::from_fn(|byte| byte >= 0x80));
    // One set is a row of the lookup tables, and the other a column.
    all.push(std::array::from_fn(|byte| byte % 16 == 9));
    all.push(std::array::from_fn(|byte| byte / 16 == 11));
    all.extend((0..12).map(|_| rng.members()));
    // The tiers `sse2` and `scalar` look up a set of the `USUAL` bytes and at most one other ASCII byte without a table. The
    // following sets just fulfil this condition, or just miss it.
    const USUAL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    for (others, without) in [
        (&b""[..], None),
        (b"\0", None),
        (b"/", None),
        (b"\x7F", None),
        (b"\x80", None),
        (b"~!", None),
        (b"\xAD", None),
        (b"", Some(b'.')),
        (b"~", Some(b'_')),
        (b"/", Some(b'0')),
    ] {
        let mut members = oracle::members(USUAL);
        others.iter().for_each(|&other| members[usize::from(other)] = true);
        without.into_iter().for_each(|byte| members[usize::from(byte)] = false);
        all.push(members);
    }
    // These sets hold all bytes but one, or only one byte.
    for byte in [b'%', b'+', 0x00, 0x7F, 0x80, 0xFF] {
        all.push(std::array::from_fn(|other| other != usize::from(byte)));
        all.push(std::array::from_fn(|other| other == usize::from(byte)));
    }
    all
}

/// Returns a member of the set and a byte that is not a member, if they exist. They surround the byte under test.
fn surroundings(members: &Members) -> Vec<u8> {
    let find =
        |member: bool| (0..=255u8).rev().find(|&byte| members[byte as usize] == member && byte != b'%');
    [true, false].into_iter().filter_map(find).collect()
}

#[test]
fn membership_in_every_set_of_every_byte_at_every_lane() {
    let mut out = vec![0; 3 * 128];
    let mut expected = Vec::new();
    for (index, members) in all_sets().iter().enumerate() {
        let set = byte_set(members);
        for (turn, around) in surroundings(members).into_iter().enumerate() {
            for lane in (0..64).filter(|lane| runs(index * 64 + lane)) {
                // The byte is in a whole block, at the end of a partial block, or in the second of two blocks.
                let cases = [(64, lane), (lane + 1, lane), (128, 64 + lane)];
                for &(len, at) in if turn == 0 { &cases[..2] } else { &cases[2..] } {
                    let mut input = vec![around; len];
                    for byte in 0..=255u8 {
                        input[at] = byte;
                        oracle::encode(&input, members, Rule::Plain, true, &mut expected);
                        for &tier in tiers() {
                            let encode = simdpct::Encode::keeping(set).tier(tier);
                            let written = encode.encode_to_slice(&input, &mut out);
                            assert!(
                                wrote(written, &out, &expected),
                                "tier {tier}, byte {byte:#04x} at lane {at} of {len} x {around:#04x}, set {set:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_byte_at_every_place_of_the_shortest_inputs() {
    // The sets hold or lack the bytes that the quick check for short inputs assumes.
    let usual = UNRESERVED;
    let mut others = [usual; 3];
    others[0][b'_' as usize] = false;
    others[1][b'5' as usize] = false;
    others[2][b'%' as usize] = true;
    let mut expected = Vec::new();
    for members in [usual, others[0], others[1], others[2]] {
        let encoding = Encoding::plain(members);
        for len in 1..=17 {
            for at in 0..len {
                for byte in 0..=255u8 {
                    let mut input = vec![b'a'; len];
                    input[at] = byte;
                    encoding.expected(&input, &mut expected);
                    let encode = encoding.encoder(tiers()[0]);
                    let mut out = [0; 3 * 17];
                    let mut appended = Vec::with_capacity(3 * 17);
                    encode.encode_append(&input, &mut appended);
                    assert_eq!(encode.encode_to_slice(&input, &mut out), Ok(expected.len()), "{input:?}");
                    assert_eq!(&out[..expected.len()], expected, "{input:?}");
                    assert_eq!((&appended, &*encode.encode(&input)), (&expected, &*expected), "{input:?}");
                }
            }
        }
    }
}

#[test]
fn one_change_at_every_place_where_one_code_path_ends() {
    // The lengths are up to 18 bytes, and about half a block and one to five blocks. AVX-512 has loops for more than eight.
    let lens = (1..=18).chain(31..=34).chain(62..=67).chain(126..=131).chain([192, 193]).chain(254..=259);
    let mut checker = Checker::default();
    for len in lens.chain(318..=322).chain([513, 577, 770]) {
        // The offset is within three bytes of an edge of a block of 64 bytes, or is the last of a group of 16. The offsets are
        // counted from the start and from the end of the input, because blocks may be aligned to either.
        let near = |at: usize| at % 64 <= 2 || at % 64 >= 61 || at % 16 == 15;
        for at in (0..len).filter(|&at| near(at) || near(len - 1 - at)) {
            let place = PLACES[(len + at) % 2];
            let mut input = vec![b'b'; len];
            input[at] = b'/';
            Encoding::modes(UNRESERVED).iter().for_each(|encoding| checker.encode(encoding, &input, place));
            // All other bytes are digits, so that an escape which the end of a block cuts would seem to go on in the next
            // block.
            input.fill(b'4');
            input[at] = b'%';
            Decoding::MODES.iter().for_each(|decoding| checker.decode(decoding, &input, place));
            let mut keep_escapes = Encoding { members: UNRESERVED, rule: Rule::KeepEscapes, upper: true };
            checker.encode(&keep_escapes, &input, place);
            // The digit `4` stays only in an escape.
            keep_escapes.members[usize::from(b'4')] = false;
            checker.encode(&keep_escapes, &input, place);
        }
    }
}

/// Calls `each` with `%XY` at every offset of inputs of up to two blocks and three bytes: between letters,
/// between digits, and between `%`.
fn escape_at_every_lane(mut each: impl FnMut(u8, &[u8])) {
    for len in [64, 67, 131] {
        for at in (0..len).filter(|at| runs(len + at)) {
            for around in [b'x', b'4', b'%'] {
                for byte in 0..=255u8 {
                    for escape in [format!("%{byte:02X}"), format!("%{byte:02x}")] {
                        let mut input = vec![around; len];
                        let kept = escape.len().min(len - at);
                        input[at..at + kept].copy_from_slice(&escape.as_bytes()[..kept]);
                        each(byte, &input);
                    }
                }
            }
        }
    }
}

#[test]
fn every_escape_at_every_lane() {
    let mut out = [0; 131];
    let mut expected = Vec::new();
    let decodings = [
        Decoding::ALL,
        Decoding::NORMALIZE,
        Decoding::keeping(std::array::from_fn(|byte| byte & 0x11 == 1)),
        Decoding::keeping(Rng(12).members()),
    ];
    escape_at_every_lane(|byte, input| {
        let right = oracle::first_malformed(input);
        for decoding in &decodings {
            decoding.expected(input, &mut expected);
            for &tier in tiers() {
                let decode = decoding.decoder(tier);
                let written = decode.decode_to_slice(input, &mut out[..input.len()]);
                assert!(
                    wrote(written, &out, &expected),
                    "tier {tier}, escape of {byte:#04x}, keep {:?}, b\"{}\"",
                    byte_set(&decoding.keep),
                    input.escape_ascii()
                );
                let strict = decode.strict().decoded_len(input).map_err(malformed);
                let right = right.map_or(Ok(expected.len()), Err);
                assert_eq!(strict, right, "{tier} b\"{}\"", input.escape_ascii());
            }
        }
    });
}

#[test]
fn all_pairs_of_bytes_after_a_percent_sign() {
    let mut out = [0; 80];
    let mut expected = Vec::new();
    for (index, at) in
        [0, 1, 6, 7, 13, 14, 15, 16, 29, 30, 31, 45, 46, 47, 60, 61, 62, 63, 64].into_iter().enumerate()
    {
        let mut input = [b'.'; 80];
        input[at] = b'%';
        // The input is all of these bytes, or a part that ends right after the pair.
        let lengths = [input.len(), at + 3];
        for pair in (0..=u16::MAX).filter(|pair| runs(index * 65536 + usize::from(*pair))) {
            input[at + 1..at + 3].copy_from_slice(&pair.to_be_bytes());
            let input = &input[..lengths[usize::from(pair) & 1]];
            oracle::decode(input, &[false; 256], false, &mut expected);
            let right = oracle::first_malformed(input);
            for &tier in tiers() {
                let decode = simdpct::Decode::new().tier(tier);
                let written = decode.decode_to_slice(input, &mut out);
                assert!(
                    wrote(written, &out, &expected),
                    "tier {tier}, pair {pair:#06x} at lane {at} of {}",
                    input.len()
                );
                let strict = decode.strict().decoded_len(input).map_err(malformed).err();
                assert_eq!(strict, right, "tier {tier}, pair {pair:#06x} at lane {at} of {}", input.len());
            }
        }
    }
}

/// Tests text that is dense enough for tiers that decode many escapes at a time: only escapes, or up to three other
/// bytes after each. The text begins and ends at any byte of an escape, and any one of its bytes is replaced.
#[test]
fn dense_text_with_any_byte_replaced() {
    dense_text(0);
    dense_text(3);
}

/// Tests dense text in which at most `most` other bytes follow each escape.
fn dense_text(most: usize) {
    let mut rng = Rng(29);
    let mut run = Vec::new();
    while run.len() < 570 {
        run.extend_from_slice(&[
            b'%',
            rng.pick(b"0123456789abcdefABCDEF"),
            rng.pick(b"0123456789abcdefABCDEF"),
        ]);
        (0..rng.below(most + 1)).for_each(|_| run.push(rng.pick(b"aF9-\xB0")));
    }
    let mut checker = Checker::default();
    for end in (300..run.len()).filter(|&end| runs(end)) {
        for place in [Place::End(0), PLACES[1 + end % 4]] {
            Decoding::MODES.iter().for_each(|decoding| checker.decode(decoding, &run[end % 7..end], place));
        }
    }
    let (mut out, mut written, mut expected) = (vec![0; 1024], Vec::new(), Vec::new());
    for (before, after) in [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2), (61, 40), (64, 64)] {
        let clean = [&b"a".repeat(before)[..], &run[..], &b"b".repeat(after)[..]].concat();
        let places = (0..run.len()).filter(|&place| runs(place));
        let replaced = places.flat_map(|place| b"%Gg0\xB0".map(|byte| (before + place, byte)));
        for (place, byte) in std::iter::once((0, clean[0])).chain(replaced) {
            let mut input = clean.clone();
            input[place] = byte;
            oracle::decode(&input, &[false; 256], false, &mut expected);
            let wrong = oracle::first_malformed(&input);
            for &tier in tiers() {
                let decode = simdpct::Decode::new().tier(tier);
                let len = decode.decode_to_slice(&input, &mut out);
                assert!(
                    wrote(len, &out, &expected),
                    "tier {tier}, byte {byte:#04x} at {place} of a run from {before} on, {after} after it"
                );
                written.clear();
                let strict = decode.strict().decode_append(&input, &mut written).map_err(malformed).err();
                assert_eq!(
                    strict, wrong,
                    "tier {tier}, byte {byte:#04x} at {place} of a run from {before} on"
                );
                assert!(
                    wrong.is_some() || written == expected,
                    "tier {tier}, {before} before and {after} after"
                );
            }
        }
    }
}

/// Checks all methods, between guard pages, with one special byte or escape at each lane.
#[test]
fn one_thing_at_every_lane() {
    let mut checker = Checker::default();
    let things: [&[u8]; 14] = [
        b" ", b"%", b"%4", b"%41", b"%e2", b"%zz", b"%4z", b"%%41", b"%4%41", b"%41%42", b"+", b"\xff",
        b"%2B%2b", b"%%%",
    ];
    for (index, thing) in things.iter().enumerate() {
        for at in (0..=130).filter(|at| runs(index * 131 + at)) {
            for after in [0, 1, 2, 3, 64] {
                let mut input = vec![b'a'; at];
                input.extend_from_slice(thing);
                input.resize(input.len() + after, b'b');
                for place in [Place::End(0), PLACES[1 + (at + after) % 4]] {
                    Encoding::modes(UNRESERVED)
                        .iter()
                        .for_each(|encoding| checker.encode(encoding, &input, place));
                    Decoding::MODES.iter().for_each(|decoding| checker.decode(decoding, &input, place));
                }
            }
        }
    }
}

/// Tests every number of escapes in a block, because kernels choose a method by that number.
#[test]
fn any_number_of_escapes_in_a_block() {
    let mut checker = Checker::default();
    let mut rng = Rng(13);
    for count in 0..=64 {
        for (turn, len) in [64, 128, 192, 60, 33, 16].into_iter().enumerate().filter(|(_, len)| *len >= count)
        {
            let mut input = vec![b'a'; len];
            // The offset of the block that gets the bytes to escape: the first, second or third in turn, if it exists.
            let block = 64 * (turn % 3).min((len - 1) / 64);
            let lanes = (len - block).min(64);
            let mut left = count.min(lanes);
            for lane in 0..lanes {
                if rng.below(lanes - lane) < left {
                    input[block + lane] = b' ' + rng.below(4) as u8;
                    left -= 1;
                }
            }
            let place = PLACES[(count + turn) % PLACES.len()];
            checker.encode(&Encoding::plain(UNRESERVED), &input, place);
            // The encoded text is decoded: all of it, and the part that is as long as the input.
            let mut escaped = Vec::new();
            oracle::encode(&input, &UNRESERVED, Rule::Plain, true, &mut escaped);
            checker.decode(&Decoding::ALL, &escaped, place);
            escaped.truncate(len);
            checker.decode(&Decoding::ALL, &escaped, place);
            checker.decode(&Decoding::NORMALIZE, &escaped, place);
        }
    }
}

/// Calls `each` with inputs for the first block of a loop over blocks. That block has only as many lanes as leave whole
/// blocks: one lane of an input of 129 bytes. The lanes after them belong to the next block and must not be processed
/// twice. The bytes around the escape decide whether a mistake shows; for example, they could pass for digits. These
/// few cases run whatever `SIMDPCT_TEST_SCALE` is.
fn where_one_step_ends_and_the_next_begins(mut each: impl FnMut(&[u8])) {
    for len in [17, 33, 65, 129, 191] {
        for at in [0, 1, 2, 14, 15, 16, 31, 62, 63, 64, 65, 127].into_iter().filter(|&at| at < len) {
            for (thing, around) in [&b"%41"[..], b"%2f", b"%4g", b"%"]
                .into_iter()
                .flat_map(|thing| b"a %".map(|around| (thing, around)))
            {
                let mut input = vec![around; len];
                let end = len.min(at + thing.len());
                input[at..end].copy_from_slice(&thing[..end - at]);
                each(&input);
            }
        }
    }
}

#[test]
fn encoding_where_one_step_ends_and_the_next_begins() {
    let mut checker = Checker::default();
    where_one_step_ends_and_the_next_begins(|input| {
        let modes = Encoding::modes(UNRESERVED);
        modes.iter().for_each(|encoding| checker.encode(encoding, input, Place::End(0)));
    });
}

/// Tests runs of blocks. After a block with escapes, encoding writes blocks one by one, or on AVX-512 with a look at the next
/// blocks, until two in a row are clean; then it checks several at once. A fifth of the cases with the shortest and the longest
/// runs are tested whatever `SIMDPCT_TEST_SCALE` is.
#[test]
fn encoding_after_any_number_of_blocks_with_escapes() {
    let mut checker = Checker::default();
    // The kinds of block have no escapes, only escapes, few, or many. In the last two kinds, the last byte is a space,
    // which a form replaces by `+`.
    let kinds: [&dyn Fn(usize) -> u8; 6] = [
        &|lane| b'a' + (lane % 26) as u8,
        &|lane| 0x80 + lane as u8,
        &|lane| if lane % 9 == 0 { b'/' } else { b'b' },
        &|lane| if lane % 3 > 0 { b'\xe3' } else { b'c' },
        &|lane| if lane % 11 == 8 { b' ' } else { b'd' },
        &|lane| if lane % 63 == 0 { b' ' } else { b'?' },
    ];
    for count in 0..=20 {
        for (index, [run, first, second]) in
            (0..6 * 6 * 6).map(|i| [i / 36, i / 6 % 6, i % 6]).enumerate().filter(|(index, kinds)| {
                kinds[0] > 1 && ([0, 1, 20].contains(&count) && index % 5 == 0 || runs(216 * count + index))
            })
        {
            let mut input = vec![b'e'; [0, 1, 33][index % 3]];
            for kind in [vec![run; count], vec![first, second, first, 0, 0, 0, 0, second, 2]].concat() {
                input.extend((0..64).map(kinds[kind]));
            }
            for encoding in Encoding::modes(UNRESERVED) {
                let encoding = Encoding { upper: index % 4 > 0, ..encoding };
                checker.encode(&encoding, &input, PLACES[(count + index) % PLACES.len()]);
            }
        }
    }
}

#[test]
fn decoding_where_one_step_ends_and_the_next_begins() {
    let mut checker = Checker::default();
    let keep = Decoding::keeping(oracle::members(b"/"));
    where_one_step_ends_and_the_next_begins(|input| {
        for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE, keep] {
            checker.decode(&decoding, input, Place::End(0));
        }
    });
}

#[test]
fn the_empty_set_and_the_full_set() {
    let mut checker = Checker::default();
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(simdpct::Encode::keeping(ByteSet::ALL).encode(&bytes), &bytes[..]);
    for members in [[false; 256], [true; 256]] {
        checker.encode(&Encoding::plain(members), &bytes, Place::End(0));
    }
}

/// A digit stays escaped after an escape that lacks a digit. The words are at every lane of short inputs, and around some
/// offsets at which the library cuts long inputs into pieces, such as 4096.
#[test]
fn no_decoded_digit_completes_an_escape() {
    let mut checker = Checker::default();
    let words: [&[u8]; 6] = [b"%%36", b"%4%36%36", b"%x%36", b"%%%36", b"%4%4%34%61", b"%2F%41"];
    for len in [4, 16, 31, 64, 67, 131, 200, 700, 4200, 9000] {
        for at in 0..len {
            let near = [0, 512, 4096, 8192].iter().any(|piece| at <= piece + 200 && at + 10 > *piece);
            if !near || len > 200 && !runs(len + at) || len > 1000 && at % 512 > 8 && at % 512 < 500 {
                continue;
            }
            for (index, word) in words.iter().enumerate() {
                let mut input = vec![[b'a', b'4', b'%'][(at + index) % 3]; len];
                let end = len.min(at + word.len());
                input[at..end].copy_from_slice(&word[..end - at]);
                checker.decode(&Decoding::NORMALIZE, &input, PLACES[(len + at) % 2]);
            }
        }
    }
}
