//! Tests the operations on blocks with every value of the bytes that they depend on, at every lane, against the reference.
//!
//! The result in a lane depends on few bytes, so these can be enumerated. Membership depends on one byte, and an escape
//! on three bytes and the digits carried from the block before. The movement of lanes depends on the mask of a group of
//! lanes. Other tests here change the other lanes, to show that these do not matter. `SIMDPCT_EXHAUSTIVE=1` enumerates
//! everything; without it, the tests take a sample, which includes every window (three adjacent bytes) with a `%`. Over
//! all 64 lanes of AVX-512, compression is only sampled.

use std::format;
use std::string::String;
use std::vec::Vec;

use testkit::shapes::{INTERESTING, Rng};
use testkit::tiers::{exhaustive, runs, scaled, tiers};

use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, OutputSpan, lend_slice};
use crate::kernel::drive::{
    Isa, Lanes, Members, PLACED_TOGETHER, RECORDS_TOGETHER, Records, bits, digits_of, low_mask,
};

use crate::kernel::isa::{BlockVisitor, Tier, visit_blocks};
use crate::kernel::job::{DecodeJob, EncodeJob};
use crate::kernel::reference;
use crate::set::ByteSet;

/// Makes a test that calls a function with the blocks of each tier.
macro_rules! on_blocks {
    ($($test:ident: $check:ident;)*) => {
        $(
            #[test]
            fn $test() {
                struct Check;
                impl BlockVisitor for Check {
                    #[inline(always)]
                    fn visit<I: Isa>(&mut self, isa: I, tier: &str) {
                        $check(isa, &format!("{tier}, {} lanes", I::LANES));
                    }
                }
                visit_blocks(|name| tiers().iter().any(|tier| tier.name() == name), &mut Check);
            }
        )*
    };
}

on_blocks! {
    loads_of_every_length: check_loads;
    every_byte_at_every_lane_is_a_member_or_not: check_members;
    every_byte_at_every_lane_is_found: check_equal;
    every_window_at_every_lane_is_an_escape_or_not: check_windows;
    escapes_do_not_depend_on_other_lanes: check_random_escapes;
    every_window_at_every_lane_of_a_run_of_escapes: check_runs;
    every_value_at_every_lane_is_decoded_or_stays: check_decoded_values;
    every_mask_of_a_lane: check_lane_masks;
    every_group_of_digits_is_dropped: check_compress;
    every_group_of_lanes_to_escape_is_expanded: check_expand;
    every_byte_at_every_lane_is_spelt: check_spelling;
    ends_of_values_are_placed: check_places;
}

/// Iterates over windows of three bytes. Without `SIMDPCT_EXHAUSTIVE=1`, these are the windows with a `%` or with two bytes of `4` and `f`,
/// and a few hundred others. All rotations of a window are among them, except for those of the few hundred others.
fn windows() -> impl Iterator<Item = [u8; 3]> {
    let all = (0..1u32 << 24).map(|index| {
        let [window @ .., _] = index.to_le_bytes();
        (index, window)
    });
    let wanted = |&(index, window): &(u32, [u8; 3])| {
        let digits = window.iter().filter(|byte| b"4f".contains(byte)).count();
        exhaustive_or(|| {
            (window.contains(&b'%') || digits >= 2 || index % 0x1_0001 == 0) && runs(index as usize)
        })
    };
    all.filter(wanted).map(|(_, window)| window)
}

/// Reports whether all cases are enumerated, or `sampled` selects this case.
fn exhaustive_or(sampled: impl FnOnce() -> bool) -> bool {
    use std::sync::LazyLock;
    static ALL: LazyLock<bool> = LazyLock::new(exhaustive);
    *ALL || sampled()
}

/// Returns the value of the escape `window` according to the reference, or `None` if it is no escape.
fn value(window: &[u8]) -> Option<u8> {
    let step = reference::decode(&DecodeJob::PLAIN, window, 0)?;
    (step.used == 3).then_some(step.bytes as u8)
}

/// Returns named and random sets, and sets of one byte, their complements, and their unions with a named set.
fn sets() -> Vec<ByteSet> {
    let mut rng = Rng(41);
    let mut sets = Vec::from([ByteSet::EMPTY, ByteSet::ALL, ByteSet::NON_ASCII]);
    sets.extend(crate::sets::ALL.iter().map(|named| named.set.to_byte_set()).filter(|_| exhaustive()));
    sets.extend([crate::sets::RFC3986_UNRESERVED, crate::sets::RFC3986_PATH].map(|set| set.to_byte_set()));
    sets.extend(
        (0..if exhaustive() { 32 } else { 2 }).map(|_| ByteSet::from_bitmap([(); 4].map(|()| rng.next()))),
    );
    for byte in (0..=255u8).filter(|byte| exhaustive() || b"%\x80".contains(byte)) {
        let one = ByteSet::from_bytes(&[byte]);
        sets.extend([one, one.complement(), crate::sets::RFC3986_UNRESERVED.to_byte_set().union(one)]);
    }
    sets
}

/// Returns 64 bytes with `byte` at `lane` and `around` at all other lanes.
fn one_of(around: u8, lane: usize, byte: u8) -> [u8; 64] {
    let mut bytes = [around; 64];
    bytes[lane] = byte;
    bytes
}

fn random_bytes(rng: &mut Rng) -> [u8; 64] {
    core::array::from_fn(|_| rng.byte())
}

#[inline(always)]
fn check_loads<I: Isa>(isa: I, tier: &str) {
    let mut rng = Rng(42);
    for len in 0..=I::LANES {
        let input = random_bytes(&mut rng);
        let mut expected = [0; 64];
        expected[..len].copy_from_slice(&input[..len]);
        assert_eq!(isa.bytes(isa.load(&input[..len])), expected, "{tier}, {len} bytes");
    }
}

#[inline(always)]
fn check_members<I: Isa>(isa: I, tier: &str) {
    for set in sets() {
        let job = EncodeJob::new(set);
        let member: [bool; 256] =
            core::array::from_fn(|byte| !reference::encode(&job, &[byte as u8]).changed);
        let any = |is: bool| (0..=255u8).rev().find(|&byte| member[usize::from(byte)] == is);
        for len in [7, 16, 17, 31, 33, 48, 64, 1 << 20] {
            let (class, lanes) = (isa.class(&set), I::LANES.min(len));
            for around in [any(true), any(false)].into_iter().flatten() {
                let others = if member[usize::from(around)] { low_mask(lanes) } else { 0 };
                for lane in 0..lanes {
                    for byte in (0..=255u8).filter(|&byte| runs(256 * lane + usize::from(byte))) {
                        let input = &one_of(around, lane, byte)[..lanes];
                        let expected = others & !(1 << lane) | u64::from(member[usize::from(byte)]) << lane;
                        let block = isa.load(input);
                        let one = isa.find_members(block, &class).mask() & low_mask(lanes);
                        let many = isa.members_in(isa.look_up_set(block, &class)).mask() & low_mask(lanes);
                        let short = match isa.members_of_short(input, &class) {
                            Some(members) => members.mask() & low_mask(lanes),
                            None => expected,
                        };
                        let all = len >= I::LANES && isa.all_members([block, block], &class);
                        let found = [one, many, short];
                        assert_eq!(found, [expected; 3], "{tier}, {byte:#x} at {lane} of {len}, {set:?}");
                        assert!(!all || expected == low_mask(lanes), "{tier}, {byte:#x} at {lane}, {set:?}");
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn check_equal<I: Isa>(isa: I, tier: &str) {
    for needle in (0..=255u8).filter(|needle| exhaustive_or(|| b"%+Z".contains(needle))) {
        for (around, lane) in [needle, needle ^ 0x80]
            .into_iter()
            .flat_map(|around| (0..I::LANES).map(move |lane| (around, lane)))
        {
            for byte in 0..=255u8 {
                let bytes = one_of(around, lane, byte);
                let input = &bytes[..I::LANES];
                let block = isa.load(input);
                let expected =
                    input.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(byte == needle));
                let (equal, none) = (isa.eq(block, needle), isa.none_equal([block, block], needle));
                let lacks = match isa.load_ends(input) {
                    Some(ends) => isa.none_equal([ends], needle),
                    None => expected == 0,
                };
                let digits = (0..I::LANES).filter(|&lane| bytes[lane].is_ascii_hexdigit());
                let digits = digits.fold(0, |digits, lane| digits | 1 << lane);
                assert_eq!(
                    isa.hex_digits(block) & Lanes::<I>::ALL.mask(),
                    digits,
                    "{tier}, {byte:#x} at {lane}"
                );
                let found = (equal, none, lacks);
                assert_eq!(found, (expected, expected == 0, expected == 0), "{tier}, {byte:#x} at {lane}");
                let replaced = isa.bytes(isa.replace(block, needle, b'x'));
                let right = bytes.map(|byte| if byte == needle { b'x' } else { byte });
                assert_eq!(replaced[..I::LANES], right[..I::LANES], "{tier}, {byte:#x} at {lane}");
            }
        }
    }
}

/// Compares [`Isa::find`] at the start of `input` with `values`, the values of the escapes at each lane.
#[inline(always)]
fn check_escapes<I: Isa>(isa: I, input: &[u8], values: impl Fn(usize) -> Option<u8>, tier: &str) {
    let lanes = I::LANES.min(input.len());
    let (mut valid, mut decoded) = (0, [0; 64]);
    decoded[..lanes].copy_from_slice(&input[..lanes]);
    for (lane, byte) in decoded.iter_mut().enumerate().take(lanes) {
        if let Some(value) = values(lane)
            && lane + 2 < input.len()
        {
            valid |= 1 << lane;
            *byte = value;
        }
    }
    let (block, shown) = (isa.load(input), input.escape_ascii());
    let (found, percent) = (isa.find(block, input), isa.eq(block, b'%'));
    let (wrong, correct) = isa.correct(&found);
    let (spelt, supposed) = (isa.bytes(found.values), isa.bytes(found.decoded));
    assert_eq!((found.percent, wrong), (percent, percent & !valid), "{tier}, b\"{shown}\"");
    assert_eq!(isa.any_wrong([&found]), wrong != 0, "{tier}, b\"{shown}\"");
    assert_eq!(isa.bytes(correct), decoded, "{tier}, b\"{shown}\"");
    assert!(bits(valid).all(|lane| spelt[lane] == decoded[lane]), "{tier}, b\"{shown}\"");
    for lane in (0..64).filter(|&lane| wrong >> lane & 1 == 0) {
        assert_eq!(supposed[lane], decoded[lane], "{tier}, {lane} of b\"{shown}\"");
    }
}

/// Checks blocks that repeat one window, which starts at every third lane. Its rotations bring it to the other lanes: they
/// are windows, too, except for those of the few hundred others ([`windows`]).
#[inline(always)]
fn check_windows<I: Isa>(isa: I, tier: &str) {
    for window in windows() {
        let mut input = [0; 192];
        input.as_chunks_mut().0.fill(window);
        let [a, b, c] = window;
        let values = [value(&[a, b, c]), value(&[b, c, a]), value(&[c, a, b])];
        // The input continues after the block, ends one or two bytes after it, ends with it, or ends inside it.
        for len in [192, I::LANES + 2, I::LANES + 1, I::LANES, I::LANES - 1, 16] {
            check_escapes(isa, &input[..len], |lane| values[lane % 3], tier);
        }
    }
}

#[inline(always)]
fn check_random_escapes<I: Isa>(isa: I, tier: &str) {
    let mut rng = Rng(43);
    for turn in 0..scaled(20_000) {
        let input: [u8; 192] =
            core::array::from_fn(|_| if turn % 2 == 0 { rng.pick(INTERESTING) } else { rng.pick(b"%4%aF%") });
        let len = 1 + rng.below(192);
        check_escapes(isa, &input[..len], |lane| value(&input[lane..len]), tier);
    }
}

#[inline(always)]
fn check_runs<I: Isa>(isa: I, tier: &str) {
    if !I::DECODES_DENSE {
        return;
    }
    let mut values: [u8; 64] = random_bytes(&mut Rng(44));
    let mut run = values.map(|value| hex::escape(value, HexCase::Upper));
    for window in windows() {
        let value = value(&window);
        for lane in 0..64 {
            let old = (run[lane], values[lane]);
            (run[lane], values[lane]) = (window, value.unwrap_or(0));
            #[allow(clippy::manual_map, reason = "a closure does not have the CPU features of its function")]
            let found = match isa.all_escapes(run.as_flattened()) {
                Some(block) => Some(isa.bytes(block)),
                None => None,
            };
            assert!(found == value.map(|_| values), "{tier}, {window:?} at {lane}: {found:?}");
            (run[lane], values[lane]) = old;
        }
    }
}

#[inline(always)]
fn check_decoded_values<I: Isa>(isa: I, tier: &str) {
    for set in sets() {
        let class = isa.class(&set);
        for (turn, members) in (0..3 * 256).flat_map(|turn| [(turn, true), (turn, false)]) {
            let (phase, first) = (turn % 3, turn / 3);
            let value = |lane: usize| (first + 89 * (lane / 3)) as u8;
            let mut text = [b'x'; 256];
            for (index, escape) in text[phase..].as_chunks_mut().0.iter_mut().enumerate() {
                *escape = hex::escape(value(3 * index), HexCase::Lower);
            }
            let block = isa.load(&text);
            let found = isa.find(block, &text);
            let (decoded, result) = isa.decode_some(block, &found, &class, members);
            let (mut mask, mut bytes) = (0, isa.bytes(block));
            for lane in (phase..I::LANES).step_by(3) {
                let value = value(lane - phase);
                if set.contains(value) == members {
                    mask |= 1 << lane;
                    bytes[lane] = value;
                }
            }
            let none = isa.decodes_none(&found, &class, members);
            let found = (decoded, isa.bytes(result), none);
            assert_eq!(found, (mask, bytes, mask == 0), "{tier}, {set:?}, {members}, turn {turn}");
        }
    }
}

#[inline(always)]
fn check_lane_masks<I: Isa>(isa: I, tier: &str) {
    let mut rng = Rng(45);
    for turn in 0..scaled(4_000) {
        let mask = match turn as usize {
            lane @ ..64 => 1 << lane,
            lane @ ..128 => !(1 << (lane - 64)),
            _ => rng.next(),
        } & low_mask(I::LANES);
        let [a, b] = [random_bytes(&mut rng), random_bytes(&mut rng)];
        let digits: [u8; 64] =
            core::array::from_fn(|lane| b"0123456789abcdefABCDEF"[(lane + turn as usize) % 22]);
        let [a_block, b_block, digit_block] = [isa.load(&a), isa.load(&b), isa.load(&digits)];
        let chosen = isa.bytes(isa.select(mask, a_block, b_block));
        let (upper, lower) = (isa.bytes(isa.upper(mask, digit_block)), isa.lower(digit_block));
        for lane in 0..I::LANES {
            let digit = digits[lane];
            let expected =
                if mask >> lane & 1 != 0 { (b[lane], digit.to_ascii_uppercase()) } else { (a[lane], digit) };
            assert_eq!((chosen[lane], upper[lane]), expected, "{tier}, lane {lane} of {mask:#x}");
            assert_eq!(lower >> lane & 1 != 0, digit.is_ascii_lowercase(), "{tier}, {digit} at {lane}");
        }
    }
}

/// An operation that writes a block.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Write {
    /// [`Isa::compress`].
    Dropping,
    /// [`Isa::expand`].
    Escaping(HexCase),
    /// [`Isa::expand_all`].
    EscapingAll(HexCase),
}

/// Performs `write` on the lanes of `mask`, in the first `lanes` lanes of the block at the start of `input`. Returns the
/// number of bytes written.
#[inline(always)]
fn perform<I: Isa>(
    (isa, input, mask, lanes, write): (I, &[u8], u64, Lanes<I>, Write),
    room: OutputSpan<'_>,
) -> usize {
    let mut out = Cursor::new(room);
    let block = isa.load(input);
    match write {
        Write::Dropping => isa.compress(block, mask, lanes, &mut out),
        Write::Escaping(case) => {
            isa.expand(block, input, isa.members_from_mask(!mask), lanes, isa.spelling(case), &mut out);
        }
        Write::EscapingAll(case) => isa.expand_all(block, input, isa.spelling(case), &mut out),
    }
    out.written()
}

/// Compares `write` with a loop over the lanes, with ample capacity and with just enough.
#[inline(always)]
fn check_written<I: Isa>(isa: I, input: &[u8], mask: u64, len: usize, write: Write, tier: &str) {
    let lanes = Lanes::of_short(&input[..len]).expect("at most a block");
    let (mut expected, mut end) = ([0; 192], 0);
    for (lane, &byte) in input[..len].iter().enumerate() {
        let written: &[u8] = match write {
            Write::Dropping if mask >> lane & 1 != 0 => &[],
            Write::Escaping(case) | Write::EscapingAll(case) if mask >> lane & 1 != 0 => {
                &hex::escape(byte, case)
            }
            _ => &[byte],
        };
        expected[end..end + written.len()].copy_from_slice(written);
        end += written.len();
    }
    let shown = || format!("{tier}, {write:?}, {mask:#x} of {len}, b\"{}\"", input.escape_ascii());
    check_output(&[end, 512], &expected[..end], (isa, input, mask, lanes, write), perform, shown);
}

/// Checks that `write`, given `operands`, writes `expected` to memory of each capacity, and nothing after that memory.
#[inline(always)]
fn check_output<A: Copy>(
    capacities: &[usize],
    expected: &[u8],
    operands: A,
    write: impl Fn(A, OutputSpan<'_>) -> usize + Copy,
    shown: impl Fn() -> String,
) {
    for &capacity in capacities {
        let mut out = [0xA5; 512 + 1];
        let written = lend_slice(&mut out[..capacity], operands, write);
        let right = (written, &out[..expected.len()]) == (expected.len(), expected)
            && out[capacity..].iter().all(|&byte| byte == 0xA5);
        assert!(right, "{}: b\"{}\"", shown(), out.escape_ascii());
    }
}

/// Returns those lanes of `starts` at which escapes can start: none of them is a digit of another.
fn spaced(mut starts: u64) -> u64 {
    let mut lane = 0;
    while lane < 64 {
        let step = if starts >> lane & 1 != 0 { 3 } else { 1 };
        starts &= !(6 << lane) | if step == 3 { 0 } else { u64::MAX };
        lane += step;
    }
    starts
}

/// Drops the digits of escapes at `starts`, and those in `carry`, from a random block. Checks the bytes that are left.
#[inline(always)]
fn check_dropped<I: Isa>(isa: I, starts: u64, carry: u64, len: usize, rng: &mut Rng, tier: &str) {
    let starts = starts & !carry & low_mask(len);
    let drop = (starts << 1 | starts << 2 | carry) & low_mask(I::LANES);
    let bytes = random_bytes(rng);
    // The lanes after the first `len` are zeros, or the start of the next block.
    let input = &bytes[..if rng.next().is_multiple_of(2) { len } else { I::LANES }];
    check_written(isa, input, drop, len, Write::Dropping, tier);
}

/// Drops the digits of escapes at `starts` from two random blocks, the first of `lanes` lanes, in one call.
#[inline(always)]
fn check_dropped_both<I: Isa>(isa: I, starts: [u64; 2], lanes: Lanes<I>, rng: &mut Rng, tier: &str) {
    let bytes = [random_bytes(rng), random_bytes(rng)];
    let input = [&bytes[0][..I::LANES], &bytes[1][..I::LANES]];
    let mut carry = 0;
    let first = digits_of(starts[0] & lanes.mask(), lanes, &mut carry);
    let drops = [first, digits_of(starts[1] & Lanes::<I>::ALL.mask() & !carry, Lanes::<I>::ALL, &mut carry)];
    let mut expected = Vec::new();
    for (bytes, drop) in [(&input[0][..lanes.count()], drops[0]), (input[1], drops[1])] {
        let staying = bytes.iter().enumerate().filter(|(lane, _)| drop >> lane & 1 == 0);
        expected.extend(staying.map(|(_, &byte)| byte));
    }
    let shown = || format!("{tier}, {drops:#x?}, {} lanes", lanes.count());
    let capacities = [expected.len(), lanes.count() + I::LANES, 512];
    check_output(&capacities, &expected, (isa, input, drops, lanes), drop_both, shown);
}

/// Two blocks of input, the lanes to drop from each, and the lanes of the first.
type Both<'b, I> = (I, [&'b [u8]; 2], [u64; 2], Lanes<I>);

#[inline(always)]
fn drop_both<I: Isa>((isa, input, drops, lanes): Both<'_, I>, room: OutputSpan<'_>) -> usize {
    let mut out = Cursor::new(room);
    isa.compress_all([isa.load(input[0]), isa.load(input[1])], drops, lanes, &mut out);
    out.written()
}

/// Checks that compressing drops the digits of escapes: at all places in each group of sixteen lanes, with 0, 1 or 2
/// digits carried into the group, and at random places in all lanes.
#[inline(always)]
fn check_compress<I: Isa>(isa: I, tier: &str) {
    let mut rng = Rng(46);
    for group in (0..I::LANES).step_by(16) {
        // The zone is the group, four lanes before it and three after it.
        let zone = low_mask(19) << group | (15 << group) >> 4;
        for starts in (0..1 << 16u64).filter(|starts| starts & (starts << 1 | starts << 2) == 0) {
            for carried in 0..3 {
                let before = if group > 0 && carried > 0 { 1 << (group + carried - 3) } else { 0 };
                let carry = if group > 0 { 0 } else { low_mask(carried) };
                let starts = (starts & !low_mask(carried)) << group | before;
                for others in [0, rng.next() & rng.next() & rng.next(), rng.next()] {
                    let starts = starts | spaced(others & !zone);
                    let shortest = if exhaustive_or(|| false) { 0 } else { I::LANES };
                    for len in (shortest..=I::LANES).chain([rng.below(I::LANES)]) {
                        check_dropped(isa, starts, carry, len, &mut rng, tier);
                    }
                }
            }
        }
    }
    for _ in 0..if exhaustive_or(|| false) { 1 << 22 } else { scaled(20_000) } {
        let dense = if rng.next().is_multiple_of(2) { u64::MAX } else { rng.next() };
        let (starts, carry, len) = (rng.next() & dense, low_mask(rng.below(3)), rng.below(I::LANES + 1));
        check_dropped(isa, spaced(starts & !carry), carry, len, &mut rng, tier);
        let lanes = Lanes::of_short(&[0; 64][..len.max(1)]).expect("at most a block");
        check_dropped_both(isa, [spaced(starts), spaced(rng.next() & dense)], lanes, &mut rng, tier);
    }
}

/// Checks the ends of sixteen values in random blocks: close together or far apart, and some outside the blocks.
#[inline(always)]
fn check_places<I: Isa>(isa: I, tier: &str) {
    let mut rng = Rng(49);
    for _ in 0..scaled(20_000) {
        let dense = if rng.below(2) == 0 { u64::MAX } else { rng.next() & rng.next() };
        let masks: Vec<u64> = (0..rng.below(60)).map(|_| rng.next() & dense).collect();
        let (first, step) = (rng.below(64 * (masks.len() + 1)), [1, 20, 64, 200, 400][rng.below(5)]);
        let mut end = if rng.below(20) == 0 { (first as u32).wrapping_neg() } else { first as u32 };
        let ends: [u32; PLACED_TOGETHER] = core::array::from_fn(|_| {
            end = end.wrapping_add(rng.below(step + 1) as u32);
            end
        });
        let base = rng.next() as u32;
        check_placed(isa, &ends, &masks, base, -1, tier);
        check_placed(isa, &ends, &masks, base, 2, tier);
    }
}

/// Compares [`Isa::place_ends`] with the definition: each lane before an end is one byte, and `by` more bytes if it is
/// in a mask.
#[inline(always)]
fn check_placed<I: Isa>(
    isa: I,
    ends: &[u32; PLACED_TOGETHER],
    masks: &[u64],
    base: u32,
    by: i32,
    tier: &str,
) {
    let gained = |masks: &[u64]| by * masks.iter().map(|mask| mask.count_ones() as i32).sum::<i32>();
    let leads: Vec<u32> =
        (1..=masks.len()).map(|block| base.wrapping_add_signed(gained(&masks[..block]))).collect();
    let (mut crossing, mut crosses, before) = (0, false, [7; PLACED_TOGETHER]);
    let expected = ends.map(|end| {
        let (block, lane) = (end as usize / 64, end as usize % 64);
        let mask = masks.get(block).copied().unwrap_or_default();
        crosses |= mask >> lane & 1 != 0;
        let gained = masks.get(..block).map_or(0, gained) + gained(&[mask & low_mask(lane)]);
        end.wrapping_add_signed(gained)
    });
    let mut places = before;
    let records = Records { masks, leads: &leads, base };
    let placed = isa.place_ends(ends, records, by.cast_unsigned(), &mut places, &mut crossing);
    let inside = ends.iter().all(|end| (*end as usize) < 64 * masks.len());
    let (low, high) = ends.split_at(8);
    let near = |ends: &[u32]| {
        let windows = ends.iter().all(|end| *end as usize / 64 + RECORDS_TOGETHER <= masks.len());
        windows && ends[7].wrapping_sub(ends[0]) < 15 * 64
    };
    assert!(placed || !(tier == "avx512" && near(low) && near(high)), "{tier}: {ends:?} are not placed");
    assert_eq!(places, if placed { expected } else { before }, "{tier}: {ends:?} {masks:x?}");
    assert!(!placed || inside, "{tier}: {ends:?} {masks:x?}");
    assert!(!placed || by > 0 || crosses == (crossing & 1 != 0), "{tier}: {ends:?} {masks:x?}");
}

/// Enumerates the lanes to escape in each group of eight, and of 21 for AVX-512, which expands that many at a time.
#[inline(always)]
fn check_expand<I: Isa>(isa: I, tier: &str) {
    let mut rng = Rng(47);
    for (width, in_sample) in [(8, 1), (if tier.starts_with("avx512") { 21 } else { 0 }, 499)] {
        for group in (0..I::LANES.min(64 - 64 % width.max(1))).step_by(width.max(1)) {
            for mask in (0..1 << width).filter(|mask| width > 0 && exhaustive_or(|| mask % in_sample == 0)) {
                let bytes = random_bytes(&mut rng);
                let outside = !(low_mask(width) << group);
                for others in [0, u64::MAX, rng.next(), rng.next() & rng.next() & rng.next()] {
                    let mask = mask << group | others & outside;
                    for len in [I::LANES, rng.below(I::LANES)] {
                        // `Isa::expand` uses only the first `len` lanes of the mask.
                        let case = if rng.next().is_multiple_of(2) { HexCase::Upper } else { HexCase::Lower };
                        let (mask, write) = (mask & low_mask(I::LANES), Write::Escaping(case));
                        check_written(isa, &bytes[..len], mask, len, write, tier);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn check_spelling<I: Isa>(isa: I, tier: &str) {
    for (turn, case) in (0..256).flat_map(|turn| [(turn, HexCase::Upper), (turn, HexCase::Lower)]) {
        let bytes: [u8; 64] = core::array::from_fn(|lane| (lane + turn) as u8);
        for len in 0..=I::LANES {
            for mask in [low_mask(len), 1 << (turn % I::LANES) & low_mask(len)] {
                check_written(isa, &bytes[..len], mask, len, Write::Escaping(case), tier);
            }
        }
        if I::EXPANDS_ALL {
            check_written(isa, &bytes, u64::MAX, 64, Write::EscapingAll(case), tier);
        }
    }
}

/// Decodes every window at every lane of a block, after 0, 1 and 2 digits that the block before carries into it.
/// Compares with the reference. The block is the last of two or of five.
#[test]
fn every_window_after_carried_digits() {
    let stay = crate::sets::RFC3986_UNRESERVED.to_byte_set().complement();
    let normalize = DecodeJob { upper: true, ..DecodeJob::PLAIN }.keeping(stay);
    let jobs = [DecodeJob::PLAIN, DecodeJob { strict: true, ..DecodeJob::PLAIN }, normalize];
    let tested = || Tier::available().filter(|tier| tiers().iter().any(|other| other.name() == tier.name()));
    let mut input = [b'x'; 320];
    let mut expected = Vec::new();
    for window in windows() {
        for carried in 0..3 {
            let crossing = 320 - 64 - (3 - carried);
            input[crossing..crossing + 3].copy_from_slice(b"%4f");
            for (byte, &other) in input[crossing + 3..].iter_mut().zip(window.iter().cycle()) {
                *byte = other;
            }
            for job in &jobs {
                expected.clear();
                let steps = reference::steps(crossing..320, |at| reference::decode(job, &input, at));
                let used =
                    steps.map(|(_, step)| (expected.extend(step.output()), step.used).1).sum::<usize>();
                for (tier, start) in tested().flat_map(|tier| [(tier, 0), (tier, 192)]) {
                    let (input, clean) = (&input[start..], crossing - start);
                    let mut out = [0; 320];
                    let decode = |(), room: OutputSpan<'_>| {
                        let outcome = tier.decode(job, input, room);
                        (outcome.written.len(), outcome.end.stopped(input))
                    };
                    let (written, stopped) = lend_slice(&mut out, (), decode);
                    let shown =
                        || format!("{tier}, {carried} carried, {job:?}, b\"{}\"", input.escape_ascii());
                    assert_eq!(stopped, clean + used, "{}", shown());
                    let right = || out[..clean] == input[..clean] && out[clean..written] == expected[..];
                    assert!(stopped < input.len() || right(), "{}", shown());
                }
            }
            input[crossing..].fill(b'x');
        }
    }
}

/// Compares the reference with two implementations by others, on all inputs of up to two bytes and on all [`windows`].
#[test]
fn the_reference_agrees_with_two_foreign_implementations() {
    const KEPT: percent_encoding::AsciiSet =
        percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let encode = EncodeJob::new(crate::sets::RFC3986_UNRESERVED.to_byte_set());
    let (mut decoded, mut encoded) = (Vec::new(), Vec::new());
    let mut check = |input: &[u8]| {
        decoded.clear();
        encoded.clear();
        let steps = |step: &dyn Fn(usize) -> Option<reference::Step>, out: &mut Vec<u8>| {
            reference::steps(0..input.len(), step).for_each(|(_, step)| out.extend(step.output()));
        };
        steps(&|at| reference::decode(&DecodeJob::PLAIN, input, at), &mut decoded);
        steps(&|at| Some(reference::encode(&encode, &input[at..])), &mut encoded);
        assert!(percent_encoding::percent_decode(input).eq(decoded.iter().copied()), "{input:?}");
        assert_eq!(*urlencoding::decode_binary(input), decoded, "{input:?}");
        let spelt = percent_encoding::percent_encode(input, &KEPT).flat_map(str::bytes);
        assert!(spelt.eq(encoded.iter().copied()), "{input:?}");
        assert_eq!(urlencoding::encode_binary(input).as_bytes(), encoded, "{input:?}");
    };
    check(b"");
    for [a, b] in (0..=u16::MAX).map(u16::to_le_bytes) {
        check(&[a, b]);
        if b == 0 {
            check(&[a]);
        }
    }
    windows().for_each(|window| check(&window));
}
