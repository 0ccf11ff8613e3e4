//! Tests of `simdpct::batch`: each value must give the output that it gives alone, whatever its neighbours are.

use std::mem::MaybeUninit;

use simdpct::batch::{Column, ColumnBuf, ColumnError, Offset, UninitColumn};
use simdpct::{ByteSet, Decode, Encode, sets};

use testkit::check::{Decoding, Encoding};
use testkit::columns;
use testkit::oracle::{self, Rule, UNRESERVED};
use testkit::shapes::{Rng, SHAPES};
use testkit::tiers::{runs, tiers};

/// Makes a column of `count` values from all kinds of test input. Many values are empty, short or cut inside an escape.
fn values(count: usize, longest: usize, rng: &mut Rng) -> (Vec<u8>, Vec<i32>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    while offsets.len() <= count {
        let (_, shape) = SHAPES[rng.below(SHAPES.len())];
        let len = rng.below(longest);
        bytes.extend(shape(len, rng));
        let end = bytes.len() as i32;
        // Values also end inside the piece, many of them close to each other.
        let mut at = *offsets.last().unwrap();
        while at < end && offsets.len() < count {
            at = (at + [0, 1, 2, 3, 5, 62, 64, 200][rng.below(8)]).min(end);
            offsets.push(at);
        }
        offsets.push(end);
    }
    (bytes, offsets)
}

/// Calls `each` with columns of few and of many values, which are short or long.
fn for_all(mut each: impl FnMut(&[u8], &[i32])) {
    let mut rng = Rng(11);
    for round in 0..150 {
        let (count, longest) = [(1, 200), (3, 70), (20, 300), (700, 100), (3, 40_000)][round % 5];
        let (bytes, offsets) = values(count, longest, &mut rng);
        if round < 5 || runs(round) {
            each(&bytes, &offsets);
            // A column may have bytes before its first value and after its last. They belong to no value and must not change
            // the output.
            let inner = &offsets[offsets.len() / 3..offsets.len() - offsets.len() / 3];
            each(&bytes, inner);
        }
    }
}

#[test]
fn encode() {
    for rule in [Rule::Plain, Rule::KeepEscapes, Rule::Form] {
        for members in [UNRESERVED, Rng(12).members()] {
            let encoding = Encoding { members, rule, upper: rule != Rule::Form };
            for_all(|bytes, offsets| columns::encode(&encoding, bytes, offsets));
        }
    }
}

#[test]
fn decode() {
    let delimiters = oracle::members(b"/?#%\r\n\0");
    for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE, Decoding::keeping(delimiters)] {
        for_all(|bytes, offsets| columns::decode(&decoding, bytes, offsets));
    }
}

#[test]
fn decode_strict() {
    for decoding in [Decoding::ALL, Decoding::FORM] {
        for_all(|bytes, offsets| columns::decode_strict(&decoding, bytes, offsets));
    }
}

/// Tests runs of up to 384 values and 12 KiB, which go to a kernel together. The value ends differ in every block of a
/// run, so that the output is wrong if one block is mistaken for another. The runs end at the end of a block, one byte
/// before it and one byte after it.
#[test]
fn runs_as_long_as_a_kernel_takes() {
    let mut rng = Rng(13);
    for (case, total) in
        [4097, 4160, 8191, 8192, 8193, 12_223, 12_224, 12_287, 12_288, 12_289, 18_000].into_iter().enumerate()
    {
        for mean in [33, 64, 150, 900] {
            if !runs(case * 4 + mean) {
                continue;
            }
            // Every block has bytes that change, and no two blocks are alike.
            let bytes: Vec<u8> = (0..total).map(|_| rng.pick(b"%%4a1F /z+")).collect();
            let mut offsets = vec![0];
            while *offsets.last().unwrap() < total {
                let next = offsets.last().unwrap() + 1 + rng.below(2 * mean) as i32;
                offsets.push(next.min(total));
            }
            Encoding::modes(UNRESERVED)
                .iter()
                .for_each(|encoding| columns::encode(encoding, &bytes, &offsets));
            Decoding::MODES.iter().for_each(|decoding| columns::decode(decoding, &bytes, &offsets));
            // This input has no malformed escapes, so that a strict decoder processes long runs as well.
            let mut valid: Vec<u8> =
                bytes.iter().map(|byte| if *byte == b'%' { b'-' } else { *byte }).collect();
            for start in
                offsets.windows(2).filter(|value| value[1] - value[0] >= 3).map(|value| value[0] as usize)
            {
                valid[start..start + 3].copy_from_slice(b"%41");
            }
            columns::decode_strict(&Decoding::ALL, &valid, &offsets);
            // This input has many escapes in each block, all of them valid, so that four blocks are decoded at a time.
            let mut dense = Vec::new();
            for value in offsets.windows(2) {
                while dense.len() < value[1] as usize {
                    let fits = dense.len() + 3 <= value[1] as usize && rng.below(4) > 0;
                    dense.extend(if fits { &b"%41"[..] } else { &b"z"[..] });
                }
            }
            columns::decode(&Decoding::ALL, &dense, &offsets);
            // This input has one malformed escape, at its end.
            *valid.last_mut().unwrap() = b'%';
            columns::decode_strict(&Decoding::ALL, &valid, &offsets);
        }
    }
}

/// Tests columns in which stretches of unchanged values alternate with values that change. While values
/// that may change are rare, a decoder searches for the next one, and otherwise decodes all values together.
#[test]
fn stretches_of_unchanged_values() {
    let mut rng = Rng(15);
    for case in 0..60 {
        let longest = [3, 20, 60, 130][case % 4];
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        for stretch in [0, 1, 3, 2, 15, 16, 17, 0, 7, 63, 64, 65, 1, 0, 130, 300, 0, 5, 700, 2] {
            for value in 0..=stretch {
                bytes.extend((0..rng.below(longest)).map(|_| rng.pick(b"abF09-._~")));
                if value == stretch {
                    // The last value has a tail that may change. In even cases, the next value may complete its escape.
                    let tails = [&b"%41"[..], b"/", b"%zz", b"%e4%bd%a0", b"+", b"%", b"%4"];
                    bytes.extend(tails[rng.below(tails.len())]);
                    bytes.extend(if case % 2 == 0 { &b""[..] } else { b"z" });
                }
                offsets.push(bytes.len() as i32);
            }
        }
        if !runs(case) {
            continue;
        }
        Encoding::modes(UNRESERVED).iter().for_each(|encoding| columns::encode(encoding, &bytes, &offsets));
        Decoding::MODES.iter().for_each(|decoding| columns::decode(decoding, &bytes, &offsets));
        columns::decode_strict(&Decoding::ALL, &bytes, &offsets);
    }
}

/// Tests stretches of unchanged bytes of any length, at any place in memory, before a byte that changes.
#[test]
fn stretches_of_any_length() {
    let mut rng = Rng(16);
    for case in 0..400 {
        // The first value has any length, so that the other values begin anywhere in the output. Their number varies,
        // too.
        let mut bytes = [&b"%41"[..], &vec![b'a'; rng.below(130)]].concat();
        let mut offsets = vec![0, bytes.len() as i32];
        for _ in 0..2 {
            let len = [0, 900, 2000][rng.below(3)] + rng.below(330);
            let longest = [1, 20, 130, 3000][rng.below(4)];
            let end = bytes.len() + len;
            bytes.extend((0..len).map(|_| rng.pick(b"abF09-._~")));
            let last = |offsets: &[i32]| *offsets.last().unwrap() as usize;
            while last(&offsets) + longest < end {
                offsets.push((last(&offsets) + rng.below(longest + 1)) as i32);
            }
            bytes.extend([&b"%41"[..], b"+", b"%", b"%zz+", b""][rng.below(5)]);
            bytes.extend(vec![b'b'; rng.below(70)]);
            offsets.push(bytes.len() as i32);
        }
        if runs(case) {
            for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE] {
                columns::decode(&decoding, &bytes, &offsets);
            }
            columns::decode_strict(&Decoding::FORM, &bytes, &offsets);
        }
    }
}

/// Tests that output is not reallocated if it has the margin that `ColumnBuf::with_capacity` names; encoding gets 1 KiB less.
/// Without capacity, decoding allocates at most twice the input and 512 bytes.
#[test]
fn columns_allocate_little() {
    let check = |bytes: &[u8], offsets: &[i32]| {
        let values = Column::new(bytes, offsets).unwrap();
        let len = values.iter().map(<[u8]>::len).sum::<usize>();
        for tier in tiers() {
            let (decode, encode) =
                (Decode::new().tier(*tier), Encode::keeping(sets::RFC3986_UNRESERVED).tier(*tier));
            let mut out = ColumnBuf::<i32>::with_capacity(values.len(), len + 256);
            decode.decode_column(values, &mut out).unwrap();
            let (bytes, offsets) = out.into_parts();
            assert_eq!((bytes.capacity(), offsets.capacity()), (len + 256, values.len() + 1), "{tier}");

            let mut out = ColumnBuf::<i32>::new();
            decode.decode_column(values, &mut out).unwrap();
            let capacity = out.into_parts().0.capacity();
            assert!(capacity <= 2 * (len + 256), "{tier}: {capacity} of {len}");

            let mut encoded = ColumnBuf::<i32>::new();
            encode.encode_column(values, &mut encoded).unwrap();
            let capacity = encoded.bytes().len() + 24 * 1024;
            let mut out = ColumnBuf::<i32>::with_capacity(values.len(), capacity);
            encode.encode_column(values, &mut out).unwrap();
            assert_eq!(out.into_parts().0.capacity(), capacity, "{tier}");
        }
    };
    for_all(check);
    // These values stay, so the output is as long as the input, which leaves the least capacity.
    check(&[b'a'; 40_000], &(0..=1000).map(|value| value * 40).collect::<Vec<i32>>());
}

/// Tests a value that ends inside `%41`, at every lane of a block. In some cases, a malformed escape follows it.
#[test]
fn no_escape_reaches_over_an_end() {
    for before in 0..200 {
        for cut in 1..3 {
            for (after, malformed) in [(0, false), (3, true), (60, true), (130, true)] {
                // Values that change come first, so that the decoder begins a run of values for one kernel call.
                let mut bytes = b"%20%20%20".to_vec();
                bytes.extend(vec![b'a'; before]);
                let end = (bytes.len() + cut) as i32;
                bytes.extend(b"%41");
                bytes.extend(vec![b'b'; after]);
                bytes.extend(if malformed { &b"%zz%20"[..] } else { b"%20" });
                let total = bytes.len() as i32;
                // After the first value, five are left. Fewer would go to the kernel one by one.
                let offsets = [0, 3, 6, 9, end, total, total];
                columns::decode(&Decoding::ALL, &bytes, &offsets);
                columns::decode_strict(&Decoding::ALL, &bytes, &offsets);
            }
        }
    }
}

/// Tests slices with lengths around the limit above which they are not gathered, among short slices.
#[test]
fn slices_long_and_short() {
    let mut rng = Rng(14);
    for lens in [&[1023, 5, 1024, 1025, 0, 1][..], &[1025], &[8192, 8193, 3], &[1024; 9], &[7; 600]] {
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        for &len in lens {
            bytes.extend((0..len).map(|_| rng.pick(b"%4a1 /z+")));
            offsets.push(bytes.len() as i32);
        }
        columns::encode(&Encoding::plain(UNRESERVED), &bytes, &offsets);
        columns::decode(&Decoding::ALL, &bytes, &offsets);
        columns::decode_strict(&Decoding::ALL, &bytes, &offsets);
    }
}

fn one_type<O: Offset + PartialEq + TryFrom<u64, Error: std::fmt::Debug>>() {
    let offsets: Vec<O> = [0, 3, 3, 4].map(|offset: u64| offset.try_into().unwrap()).into();
    let mut column = ColumnBuf::<O>::new();
    let values = Column::new(b"a b/", &offsets).unwrap();
    Encode::keeping(sets::RFC3986_UNRESERVED).encode_column(values, &mut column).unwrap();
    assert_eq!(column.bytes(), b"a%20b%2F");
    let ends: Vec<O> = [0, 5, 5, 8].map(|offset: u64| offset.try_into().unwrap()).into();
    assert_eq!(column.offsets(), ends);
    assert_eq!((column.get(0), column.get(1), column.get(3)), (Some(&b"a%20b"[..]), Some(&b""[..]), None));
    let mut back = ColumnBuf::<i64>::new();
    Decode::new().decode_column(column.as_column(), &mut back).unwrap();
    assert_eq!((back.bytes(), back.offsets()), (&b"a b/"[..], &[0, 3, 3, 4][..]));
}

#[test]
fn every_type_of_offset() {
    one_type::<i32>();
    one_type::<i64>();
    one_type::<u32>();
    one_type::<u64>();
}

#[test]
fn columns_are_appended_to() {
    let encode = Encode::keeping(ByteSet::EMPTY);
    let mut column = ColumnBuf::<u32>::with_capacity(2, 6);
    for offsets in [[0_i32, 1], [1, 2]] {
        encode.encode_column(Column::new(b"ab", &offsets).unwrap(), &mut column).unwrap();
    }
    column.push("c").unwrap();
    assert_eq!((column.bytes(), column.offsets()), (&b"%61%62c"[..], &[0, 3, 6, 7][..]));
    assert!(column.iter().rev().eq([&b"c"[..], b"%62", b"%61"]));
    assert_eq!(format!("{column:?}"), r#"[b"%61", b"%62", b"c"]"#);
    let (bytes, offsets) = column.clone().into_parts();
    assert_eq!(ColumnBuf::from_parts(bytes, offsets).unwrap(), column);
    column.clear();
    assert!(column.is_empty());
    assert_eq!(column.offsets(), [0]);

    let mut collected: ColumnBuf<i64> = ["a", "", "bc"].into_iter().collect();
    collected.extend([b"d"]);
    assert_eq!((collected.bytes(), collected.offsets()), (&b"abcd"[..], &[0, 1, 1, 3, 4][..]));
    let collected: ColumnBuf<u64> = std::iter::empty::<&[u8]>().collect();
    assert_eq!(collected.offsets(), [0]);
}

#[test]
fn everything_that_is_bytes_or_perhaps_not() {
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED);
    let mut out = ColumnBuf::<i32>::new();
    let (strings, text) = (["a b".to_owned(), String::new()], "/");
    encode.encode_slices(&strings, &mut out).unwrap();
    encode.encode_slices([text, text], &mut out).unwrap();
    encode.encode_slices([Some(text.as_bytes()), None], &mut out).unwrap();
    encode.encode_slices(strings.iter().map(Some), &mut out).unwrap();
    encode.encode_slices([&b"\xff"[..]; 1].iter(), &mut out).unwrap();
    encode.encode_slices(Vec::<&str>::new(), &mut out).unwrap();
    assert!(out.iter().eq([&b"a%20b"[..], b"", b"%2F", b"%2F", b"%2F", b"", b"a%20b", b"", b"%FF"]));
}

#[test]
fn invalid_offsets_are_rejected() {
    let index = |offsets: &[i32]| Column::new(b"abc", offsets).map(|_| ()).map_err(|error| error.index);
    assert_eq!(index(&[]), Err(0));
    assert_eq!(index(&[-1, 2]), Err(0));
    assert_eq!(index(&[0, 2, 1]), Err(2));
    assert_eq!(index(&[0, 4]), Err(1));
    assert_eq!(index(&[3, 3]), Ok(()));
    // An offset smaller than the one before it is found anywhere in a long column.
    let long: Vec<i32> = (0..1500).collect();
    let bytes = vec![b'a'; long.len()];
    for at in (1..long.len()).filter(|&at| runs(at)) {
        let mut offsets = long.clone();
        offsets[at] = offsets[at - 1] - 1;
        assert_eq!(Column::new(&bytes, &offsets).err().map(|error| error.index), Some(at));
    }
    let owned = |offsets: &[i32]| {
        ColumnBuf::from_parts(b"abc".to_vec(), offsets.to_vec()).map_err(|error| error.index)
    };
    assert_eq!(owned(&[]).unwrap_err(), 0);
    assert_eq!(owned(&[1, 3]).unwrap_err(), 0);
    assert_eq!(owned(&[0, 2]).unwrap_err(), 1);
    assert_eq!(owned(&[0, 2, 1]).unwrap_err(), 2);
    assert_eq!(owned(&[0, 3]).unwrap().len(), 1);
}

/// Tests an `UninitColumn` without a slot for the first offset: decoding into it is an error and not a panic.
#[test]
fn memory_for_nothing() {
    let values = Column::new(b"a%41", &[0_i32, 1, 4]).unwrap();
    let mut out = UninitColumn::<i32>::new(&mut [], &mut []);
    assert!(out.is_empty());
    let Err(ColumnError::TooSmall(error)) = Decode::new().decode_column(values, &mut out) else { panic!() };
    assert_eq!((error.index, error.bytes, error.offsets), (0, 2, 3));
    assert_eq!(out.finish().unwrap_err().offsets, 1);

    let mut slots = [MaybeUninit::uninit()];
    let mut out = UninitColumn::<i32>::new(&mut [], &mut slots);
    Decode::new().decode_slices(Vec::<&[u8]>::new(), &mut out).unwrap();
    assert_eq!(out.finish().unwrap().offsets(), [0]);
}

#[test]
fn values_that_are_not_utf8() {
    // All bytes together are valid, but a character crosses the end of a value.
    for (character, cut) in
        ["\u{e9}", "\u{20ac}", "\u{1f600}"].into_iter().flat_map(|c| (1..c.len()).map(move |cut| (c, cut)))
    {
        let (start, end) = character.as_bytes().split_at(cut);
        let column: ColumnBuf<i64> = [b"a", start, end, b"b"].into_iter().collect();
        assert!(column.as_column().invalid_utf8().eq([1, 2]), "{character} cut at {cut}");
    }
    let mut rng = Rng(15);
    for round in (0..200).filter(|&round| runs(round)) {
        let (mut column, mut expected) = (ColumnBuf::<u32>::new(), Vec::new());
        for index in 0..[1, 3, 255, 256, 257, 900][rng.below(6)] {
            let value: &[u8] = match rng.below(if round % 3 == 0 { 40 } else { 4000 }) {
                0 => b"\xff",
                1 => b"\xc3",
                // This value may form a valid character together with the end of the value before it, but is invalid by itself.
                2 => b"\xa9 and more",
                3 => b"\xe2\x82",
                4 => b"\xed\xa0\x80",
                rest => {
                    [&b""[..], b"ascii", "caf\u{e9}".as_bytes(), "\u{20ac}\u{1f600}".as_bytes()][rest % 4]
                }
            };
            column.push(value).unwrap();
            if std::str::from_utf8(value).is_err() {
                expected.push(index);
            }
        }
        assert_eq!(column.as_column().invalid_utf8().collect::<Vec<_>>(), expected);
        // Invalid bytes before the first value of a column must not be reported.
        let offsets = column.offsets();
        let inner = Column::new(column.bytes(), &offsets[offsets.len() / 2..]).unwrap();
        let expected = expected.iter().filter_map(|index| index.checked_sub(offsets.len() / 2));
        assert!(inner.invalid_utf8().eq(expected));
        // Iterators must report the number of items that are left after a call of `next`.
        let (mut values, mut invalid) = (inner.iter(), inner.invalid_utf8());
        values.next();
        assert_eq!(values.len(), inner.len().saturating_sub(1));
        let most = inner.len() - invalid.next().map_or(inner.len(), |index| index + 1);
        assert_eq!(invalid.size_hint(), (0, Some(most)));
    }
}

#[test]
fn columns_are_normalized() {
    for &tier in tiers() {
        let mut out = ColumnBuf::<i32>::new();
        Decode::NORMALIZE
            .tier(tier)
            .decode_slices([Some("%7euser/%2f"), None, Some("%c3")], &mut out)
            .unwrap();
        assert!(out.iter().eq([&b"~user/%2F"[..], b"", b"%C3"]), "{tier}");
    }
}

/// Tests that the bytes before the input of a decoder are before each value, and not only before the first.
#[test]
fn every_value_continues_the_same_input() {
    let cells: [&[u8]; 9] = [b"%35", b"%35", b"", b"%%35", b"x%35", b"zz", b"%2%35%41", b"%2f", b"%"];
    for before in [*b"%2", *b"x%", *b"%%", *b"2%", *b"%x", *b"xy"] {
        let normalized = |value: &[u8]| {
            let mut out = Vec::new();
            oracle::normalize(&[&before[..], value].concat(), &mut out);
            out.split_off(before.len())
        };
        for count in [1, 3, 6, 9, 200, 700] {
            let values: Vec<&[u8]> = cells.iter().cycle().take(count).copied().collect();
            let column: ColumnBuf<i64> = values.iter().collect();
            for &tier in tiers() {
                let decode = Decode::NORMALIZE.tier(tier).continuing(&before);
                let (mut out, mut gathered) = (ColumnBuf::<i64>::new(), ColumnBuf::<i64>::new());
                decode.decode_column(column.as_column(), &mut out).unwrap();
                decode.decode_slices(values.iter().copied(), &mut gathered).unwrap();
                assert_eq!(out, gathered, "tier {tier}, {count}");
                for (out, value) in out.iter().zip(&values) {
                    assert_eq!(
                        out.escape_ascii().to_string(),
                        normalized(value).escape_ascii().to_string(),
                        "tier {tier}, {count}, {} after {}",
                        value.escape_ascii(),
                        before.escape_ascii()
                    );
                }
            }
        }
    }
}
