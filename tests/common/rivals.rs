//! One input against other crates.
//!
//! Exceptions: there is none for `percent-encoding` and `form_urlencoded`. `urlencoding::decode` returns an error
//! where its input decodes to bytes that are not UTF-8, as `decode_utf8` does, and is compared with that;
//! `form_urlencoded` decodes whole queries, and to text with U+FFFD, so it gets one value without `&`. No rival keeps
//! escapes, is strict, normalizes, or has sets with bytes of 0x80 or more.

use std::borrow::Cow;
use std::sync::OnceLock;

use percent_encoding::AsciiSet as RivalSet;
use simdpct::{AsciiSet, Decode, Encode, sets};

use super::tiers::tiers;

/// A set, and the complement of its ASCII part as a rival's set, which holds the bytes to escape.
pub type Pair = (AsciiSet, &'static RivalSet);

/// The rival of `set`, which only takes sets that live for ever. (It escapes all bytes of 0x80 or more.)
pub fn pair(set: AsciiSet) -> Pair {
    let rival = set.complement().iter().fold(RivalSet::EMPTY, |rival, byte| rival.add(byte));
    (set, Box::leak(Box::new(rival)))
}

/// All named sets.
pub fn named() -> &'static [Pair] {
    static NAMED: OnceLock<Vec<Pair>> = OnceLock::new();
    NAMED.get_or_init(|| sets::ALL.iter().map(|named| pair(named.set)).collect())
}

/// Encoding with each of `pairs`, as a component, and as form data, on every tier.
pub fn check_encode(input: &[u8], pairs: &[Pair]) {
    for &tier in tiers() {
        for (set, rival) in pairs {
            let right: Cow<'_, str> = percent_encoding::percent_encode(input, rival).into();
            assert_eq!(Encode::keeping(*set).tier(tier).encode(input), right, "tier {tier}, {set:?}");
        }
        let right = urlencoding::encode_binary(input);
        assert_eq!(Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier).encode(input), right, "tier {tier}");
        let right: String = form_urlencoded::byte_serialize(input).collect();
        assert_eq!(Encode::keeping(sets::WHATWG_FORM).form().tier(tier).encode(input), right, "tier {tier}");
    }
}

/// Decoding to bytes, to text and from form data, on every tier.
pub fn check_decode(input: &[u8]) {
    let context = format!("b\"{}\"", input.escape_ascii());
    for &tier in tiers() {
        let decoded = Decode::new().tier(tier).decode(input);
        let right: Cow<'_, [u8]> = percent_encoding::percent_decode(input).into();
        assert_eq!(decoded, right, "tier {tier}, {context}");
        assert_eq!(decoded, urlencoding::decode_binary(input), "tier {tier}, {context}");
        let text = Decode::new().tier(tier).decode_utf8(input);
        let right = percent_encoding::percent_decode(input).decode_utf8();
        assert_eq!(text.as_deref().ok(), right.as_deref().ok(), "tier {tier}, {context}");
        if let Ok(input) = std::str::from_utf8(input) {
            let right = urlencoding::decode(input);
            assert_eq!(text.as_deref().ok(), right.as_deref().ok(), "tier {tier}, {context}");
        }
        let lossy = Decode::new().tier(tier).decode_utf8_lossy(input);
        let right = percent_encoding::percent_decode(input).decode_utf8_lossy();
        assert_eq!(lossy, right, "tier {tier}, {context}");

        let value: Vec<u8> = input.iter().copied().filter(|&byte| byte != b'&').collect();
        let query = [b"name=", &value[..]].concat();
        let right: Vec<_> = form_urlencoded::parse(&query).collect();
        let text = Decode::new().form().tier(tier).decode_utf8_lossy(&value);
        assert_eq!(right, [(Cow::Borrowed("name"), text)], "tier {tier}, {context}");
    }
}
