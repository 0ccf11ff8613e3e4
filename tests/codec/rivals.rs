//! Tests that the library gives the output of other crates. `testkit::rivals` names operations without a counterpart.

use proptest::prelude::*;
use simdpct::{AsciiSet, Encode, sets};

use testkit::rivals::{check_decode, check_encode, named, pair};
use testkit::shapes::{Rng, SHAPES};
use testkit::tiers::{runs, scaled};

#[test]
fn rivals_agree_on_all_shapes() {
    let mut rng = Rng(51);
    for len in (0..=256).filter(|&len| runs(len)) {
        for (_, shape) in SHAPES {
            let input = shape(len, &mut rng);
            check_encode(&input, named());
            check_decode(&input);
        }
    }
}

/// Tests the two sets that `percent-encoding` itself exports, because the other tests make its sets from sets of this library.
#[test]
fn rival_sets_by_name() {
    let input: Vec<u8> = (0..=255).collect();
    let alphanumeric =
        AsciiSet::from_bytes(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").unwrap();
    let right = percent_encoding::percent_encode(&input, percent_encoding::NON_ALPHANUMERIC).to_string();
    assert_eq!(Encode::keeping(alphanumeric).encode(&input), right);
    let right = percent_encoding::percent_encode(&input, percent_encoding::CONTROLS).to_string();
    assert_eq!(Encode::keeping(sets::WHATWG_C0_CONTROL).encode(&input), right);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(256)) })]

    #[test]
    fn rivals_agree_on_random_bytes(
        input in proptest::collection::vec(prop_oneof![Just(b'%'), Just(b'4'), Just(b'f'), any::<u8>()], 0..300),
        kept in proptest::collection::vec(0..0x80u8, 0..128),
    ) {
        let set = AsciiSet::EMPTY.add(&kept).expect("ASCII");
        check_encode(&input, &[pair(set)]);
        check_decode(&input);
    }
}
