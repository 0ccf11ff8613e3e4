//! Tests of the masks that each instruction set makes of a block, against their definitions.

use simdpct::Tier;
use simdpct::simd::{Kernel, Sets, Simd, run};
use testkit::guard::{GuardedSlice, PLACES};
use testkit::shapes::Rng;
use testkit::tiers::tiers;

/// The masks of one block of up to 64 bytes. A mask has one bit for each byte.
struct Masks {
    /// The lanes whose byte is the one asked for.
    equal: u64,
    /// The lanes whose byte is 0x80 or above.
    high: u64,
    /// The lanes whose byte is in each set.
    members: [u64; 8],
    /// The lanes of `members` whose byte in the block before is in the set for that block.
    pairs: [u64; 8],
    /// The union of `pairs`.
    any_pair: u64,
}

/// Makes masks with the kernels of `tier`. `sets` has the sets for `before` and those for `bytes`. `None` if `tier` has no kernels.
fn masks_on(tier: Tier, before: &[u8; 64], bytes: &[u8], byte: u8, sets: [[&[u8]; 8]; 2]) -> Option<Masks> {
    struct Make<'a>(&'a [u8; 64], &'a [u8], u8, [Sets; 2]);

    impl Kernel for Make<'_> {
        type Output = Option<Masks>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Option<Masks> {
            let Make(before, bytes, byte, [before_sets, sets]) = &self;
            let before = simd.load(&before[..]);
            let block = simd.load(bytes);
            let pairs = simd.both(simd.classify(before, before_sets), simd.classify(block, sets));
            Some(Masks {
                equal: simd.eq(block, *byte),
                high: simd.high(block),
                members: simd.masks(simd.classify(block, sets)),
                pairs: simd.masks(pairs),
                any_pair: simd.any(pairs),
            })
        }

        fn run_scalar(self) -> Option<Masks> {
            None
        }
    }

    run(tier, Make(before, bytes, byte, sets.map(|sets| Sets::new(&sets))))
}

/// Returns a mask of the lanes for whose bytes `rule` is true.
fn lanes(block: &[u8; 64], rule: impl Fn(u8) -> bool) -> u64 {
    block.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(rule(byte)))
}

/// Tests every byte at every lane of whole blocks, and every length of short ones, at the start and the end of readable memory.
#[test]
fn every_byte_at_every_lane() {
    let mut rng = Rng(24);
    let mut room = GuardedSlice::new();
    // The lanes after a short block are unspecified for sets with NUL.
    let mut random_sets = || [(); 8].map(|()| (1..128).filter(|_| rng.below(2) == 0).collect::<Vec<u8>>());
    let (before_sets, sets) = (random_sets(), random_sets());
    for first in 0..=255_u8 {
        // Neighbours differ, so a lane that is moved or lost changes a mask.
        let block: [u8; 64] = std::array::from_fn(|lane| first.wrapping_add(lane as u8));
        let before: [u8; 64] = std::array::from_fn(|_| rng.below(256) as u8);
        let byte = first.wrapping_add(rng.below(64) as u8);
        let equal = lanes(&block, |other| other == byte);
        let high = lanes(&block, |byte| byte >= 0x80);
        let ascii_pair = lanes(&before, |byte| byte < 0x80) & !high;
        let members = sets.each_ref().map(|set| lanes(&block, |byte| set.contains(&byte)));
        let members_before = before_sets.each_ref().map(|set| lanes(&before, |byte| set.contains(&byte)));
        for len in if first % 16 == 0 { 0..=64 } else { 64..=64 } {
            let bytes = room.put(&block[..len], PLACES[(usize::from(first) + len) % PLACES.len()]);
            let live = if len < 64 { (1 << len) - 1 } else { !0 };
            for &tier in tiers() {
                let sets = [&before_sets, &sets].map(|sets| sets.each_ref().map(Vec::as_slice));
                let Some(got) = masks_on(tier, &before, bytes, byte, sets) else {
                    assert_eq!(tier.name(), "scalar", "a tier without kernels");
                    continue;
                };
                let at = format!("{tier}: {len} bytes from {first:02X}, {}", before.escape_ascii());
                assert_eq!(got.equal & live, equal & live, "{at}: equal to {byte:02X}");
                assert_eq!(got.high & live, high & live, "{at}: high");
                for k in 0..8 {
                    let (right, ascii) = (members[k] & live, live & !high);
                    assert_eq!(got.members[k] & ascii, right, "{at}: set {k}");
                    let (right, ascii) = (right & members_before[k], live & ascii_pair);
                    assert_eq!(got.pairs[k] & ascii, right, "{at}: pairs of set {k}");
                }
                let any_pair = (0..8).fold(0, |any, k| any | members[k] & members_before[k]);
                assert_eq!(got.any_pair & live & ascii_pair, any_pair & live, "{at}: any pair");
            }
        }
    }
}
