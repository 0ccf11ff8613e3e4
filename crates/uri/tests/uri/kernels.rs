//! Tests of the masks that each instruction set makes of a block, against their definitions.

use simdpct_uri::internals::masks_on;
use testkit::guard::{GuardedSlice, PLACES};
use testkit::shapes::Rng;
use testkit::tiers::tiers;

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
