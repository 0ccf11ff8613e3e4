//! Tests the library without `std` on each tier of the CPU, and compares it with a simple encoder.

use std::mem::MaybeUninit;

use simdpct::Tier;
use simdpct::stream::State;

/// Returns inputs of 0 to 199 bytes, which is longer than any block, with every byte beside many others.
fn inputs() -> impl Iterator<Item = Vec<u8>> {
    (0..200).map(|len: u32| (0..len).map(|at| (at * (2 * len + 1) + len) as u8).collect())
}

fn escaped(input: &[u8]) -> String {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |&byte: &u8| if stays(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    input.iter().map(one).collect()
}

/// Checks that the library without `std` detects the same CPU features as `std`.
#[cfg(target_arch = "x86_64")]
#[test]
fn tiers_are_those_of_the_cpu() {
    assert_eq!(Tier::find("avx2").is_some(), std::is_x86_feature_detected!("avx2"));
    assert_eq!(Tier::find("avx512").is_some(), std::is_x86_feature_detected!("avx512vpopcntdq"));
    assert_eq!(Some(Tier::active()), Tier::available().next());
}

#[test]
fn slices_and_in_place() {
    let tiers: Vec<Tier> = Tier::available().collect();
    assert!(!tiers.is_empty());
    for (input, tier) in inputs().flat_map(|input| tiers.iter().map(move |&tier| (input.clone(), tier))) {
        let right = escaped(&input);
        let mut out = vec![0; 3 * input.len()];
        assert_eq!(bare::encode(tier, &input, &mut out), Ok(right.len()), "{tier}");
        assert_eq!(&out[..right.len()], right.as_bytes(), "{tier}");
        let too_small = &mut vec![0; right.len().saturating_sub(1)];
        assert_eq!(bare::encode(tier, &input, too_small).is_err(), !right.is_empty(), "{tier}");

        let mut back = vec![0; input.len()];
        assert_eq!(bare::decode(tier, right.as_bytes(), &mut back), Ok(input.len()), "{tier}");
        assert_eq!(back, input, "{tier}");
        assert!(bare::decode(tier, format!("{right}%4").as_bytes(), &mut vec![0; 1000]).is_err(), "{tier}");

        // Normalize lower-case escapes of all bytes of the input. Some of these bytes are unreserved.
        let mut other: Vec<u8> = input.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).collect();
        let len = bare::normalize(tier, &mut other);
        assert_eq!(&other[..len], right.as_bytes(), "{tier}");
    }
}

#[test]
fn pieces_and_header_fields() {
    for (input, tier) in inputs().flat_map(|input| Tier::available().map(move |tier| (input.clone(), tier))) {
        let (escaped, mut state, mut text) = (escaped(&input), State::default(), Vec::new());
        let mut out = [MaybeUninit::uninit(); 9];
        for piece in escaped.as_bytes().chunks(7).map(Some).chain([None]) {
            text.extend_from_slice(bare::decode_piece(tier, &mut state, piece, &mut out).unwrap());
        }
        assert_eq!(text, input, "{tier}");
    }
    let mut out = [MaybeUninit::uninit(); 8];
    assert_eq!(bare::decode_ext_value(b"iso-8859-1'en'%A3%20rates", &mut out), Ok("\u{a3} rates"));
}

#[cfg(feature = "alloc")]
#[test]
fn owned() {
    for input in inputs() {
        assert_eq!(bare::owned(&input).as_ref(), escaped(&input));
    }
}
