//! Compares the output for one input with that of other crates.
//!
//! The outputs must always be equal, but not every operation has a counterpart. `urlencoding::decode` fails for invalid
//! UTF-8, so it is compared with `decode_utf8`. `form_urlencoded` decodes whole queries to text with U+FFFD, so it gets
//! one value without `&`. None of these crates keeps escapes, is strict, normalizes, or has sets with bytes of 0x80 or
//! more.

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock, PoisonError};

use percent_encoding::AsciiSet as RivalSet;
use simdpct::{AsciiSet, Decode, Encode, sets};

use crate::tiers::tiers;

/// A set of bytes that stay, and the equivalent set of the crate `percent-encoding`, which holds the bytes to escape.
pub type Pair = (AsciiSet, &'static RivalSet);

/// Makes the pair of `set` and the equivalent set of `percent-encoding`.
pub fn pair(set: AsciiSet) -> Pair {
    // `percent-encoding` takes only `'static` sets, so they are leaked. This list keeps them reachable, so that a leak checker
    // does not report them.
    static SETS: Mutex<Vec<&RivalSet>> = Mutex::new(Vec::new());
    let rival = set.complement().iter().fold(RivalSet::EMPTY, |rival, byte| rival.add(byte));
    let rival = Box::leak(Box::new(rival));
    SETS.lock().unwrap_or_else(PoisonError::into_inner).push(rival);
    (set, rival)
}

/// Returns the pairs for all named sets of the library.
pub fn named() -> &'static [Pair] {
    static NAMED: OnceLock<Vec<Pair>> = OnceLock::new();
    NAMED.get_or_init(|| sets::ALL.iter().map(|named| pair(named.set)).collect())
}

/// Checks encoding with the sets of `pairs`, of a component and of form data against other crates, on every tier.
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

/// Checks decoding to bytes, to text and from form data against other crates, on every tier.
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
