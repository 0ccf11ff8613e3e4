//! Tests of the masks that each instruction set makes of a block, and of the tables that kernels look up, against their definitions.

use simdpct::simd::{Kernel, Sets, Simd, run};
use simdpct::{AsciiSet, Encode, Tier, sets};
use simdpct_uri::canon::Profile;
use simdpct_uri::internals::kernel_tables;
use testkit::guard::{GuardedSlice, PLACES};
use testkit::shapes::Rng;
use testkit::tiers::tiers;

/// The masks of one block of up to 64 bytes. A mask has one bit for each byte.
struct Masks {
    /// The lanes whose byte equals the argument `byte` of [`masks_on`].
    equal: u64,
    /// The lanes whose byte is 0x80 or above.
    high: u64,
    /// The lanes whose byte is in each set. For bytes of 0x80 or above, the bits are unspecified.
    members: [u64; 8],
    /// The lanes of `members` in which the block `before` has a byte of the set for `before`.
    pairs: [u64; 8],
    /// The union of `pairs`.
    any_pair: u64,
}

/// Makes masks with the kernels of `tier`. `sets` has the sets for `before` and those for `bytes`. Returns `None` if `tier` has no kernels.
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
    let mut room = GuardedSlice::default();
    // No set has NUL, because the masks of a short block are then unspecified.
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

/// A function that reports whether a byte is in a set.
type Rule<'a> = &'a dyn Fn(u8) -> bool;

/// Checks that each table of a kernel has the bytes that the functions of its profile change, reject or scan for.
#[test]
fn tables_are_those_of_their_sets() {
    let one_of = |bytes: &'static [u8]| move |byte| bytes.contains(&byte);
    let upper = |byte: u8| byte.is_ascii_uppercase();
    let lower = |byte: u8| byte.is_ascii_lowercase();
    let alpha = |byte: u8| byte.is_ascii_alphabetic();
    let changes = |kept: AsciiSet| move |byte| byte != b'\n' && !Encode::keeping(kept).is_encoded(&[byte]);
    let unreserved = |byte| sets::RFC3986_UNRESERVED.contains(byte);
    let host = |byte| !upper(byte) && byte != b'~' && unreserved(byte);
    let name = |byte| host(byte) || upper(byte);

    let odd = |byte| upper(byte) || one_of(b"[]@:")(byte);
    let rejected = |byte| byte != b'\n' && Profile::Rfc3986.canonicalize(&[b'/', byte]).is_err();
    let not_in_path = |byte| byte == b'\n' || changes(sets::WHATWG_PATH)(byte) || one_of(b"\\|")(byte);
    let scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    // A key of Safe Browsing escapes these bytes, and `%`, which is left to the check of escapes below.
    let escaped = |byte: u8| !matches!(byte, b'!'..=b'~') || byte == b'#';
    let not_escaped = |byte: u8| !escaped(byte);
    let in_safe_browsing = |byte| escaped(byte) && byte != b'\n';
    let path = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,:=@[]|".contains(&byte);
    let not_in_w3lib = |byte| !path(byte) && !b"\n%/".contains(&byte);
    let kept = |byte| !escaped(byte) && byte != b'%';

    let [ends_or_cr, slash_or_colon] = [one_of(b"/?#\n\r"), one_of(b"/:")];
    let not_in_fragment = changes(sets::WHATWG_FRAGMENT);
    let [ends_segment, ends_path, dot] = [one_of(b"/?#\n"), one_of(b"?#\n"), one_of(b".")];
    for (profile, table, escapes) in kernel_tables() {
        let of_key: [Rule<'_>; 7] = [&scheme, &alpha, &ends_segment, &upper, &dot, &ends_path, &host];
        let (rules, is_decoded): (Vec<Rule<'_>>, Rule<'_>) = match profile {
            "rfc3986" => {
                let authority: [Rule<'_>; 3] = [&ends_or_cr, &odd, &upper];
                let path: [Rule<'_>; 3] = [&slash_or_colon, &dot, &rejected];
                ([authority, path].concat(), &unreserved)
            }
            "whatwg" => {
                let kept: [Rule<'_>; 4] = [&not_in_fragment, &not_in_path, &host, &lower];
                let ends: [Rule<'_>; 3] = [&ends_segment, &ends_path, &dot];
                ([&kept[..], &ends].concat(), &unreserved)
            }
            "safe-browsing" => ([&of_key[..], &[&in_safe_browsing]].concat(), &not_escaped),
            "w3lib" => ([&of_key[..], &[&not_in_w3lib]].concat(), &path),
            _ => (vec![&name, &kept, &upper], &unreserved),
        };
        for byte in 0..0x80 {
            let wanted = rules.iter().rev().fold(0, |bits, rule| bits << 1 | u8::from(rule(byte)));
            assert_eq!(table.of(byte), wanted, "{profile}: {byte:02X}");
        }
        let Some([first, second]) = escapes else { continue };
        for (a, b) in (0..0x80_u8).flat_map(|a| (0..0x80_u8).map(move |b| (a, b))) {
            let stays = [a, b].iter().all(|digit| digit.is_ascii_digit() || (b'A'..=b'F').contains(digit))
                && !simdpct::decode_escape(&[b'%', a, b]).is_some_and(is_decoded);
            assert_eq!(first.of(a) & second.of(b) == 0, stays, "{profile}: {a:02X} {b:02X}");
        }
    }
}
