//! One input, decoded to text, against the oracle.

use std::borrow::Cow;

use simdpct::{DecodeUtf8Error, InvalidUtf8, MalformedEscape, OnInvalidUtf8};

use super::check::{Decoding, bad, byte_set};
use super::oracle;
use super::tiers::tiers;

/// All verbs that give text, on every tier.
pub fn check(input: &[u8]) {
    let keep = Decoding::keeping(oracle::members(b"%/\xe9\xa9"));
    for decoding in [Decoding::ALL, Decoding::FORM, keep] {
        let right = oracle::text(input, &decoding.keep, decoding.plus);
        let first_bad = oracle::first_bad(input);
        for &tier in tiers() {
            let decode = decoding.decoder(tier);
            let context =
                || format!("tier {tier}, keep {:?}, b\"{}\"", byte_set(&decoding.keep), input.escape_ascii());

            match (decode.decode_utf8(input), right.invalid_utf8) {
                (Ok(text), None) => assert_eq!(text, right.partial, "{}", context()),
                (Err(InvalidUtf8 { offset, decoded_offset, .. }), Some(offsets)) => {
                    assert_eq!((offset, decoded_offset), offsets, "{}", context());
                }
                (got, _) => panic!("{}: {got:?}, not {right:?}", context()),
            }
            let lossy = decode.decode_utf8_lossy(input);
            assert_eq!(lossy, right.lossy, "{}", context());
            let partial = decode.decode_utf8_with(input, OnInvalidUtf8::KeepEscaped);
            assert_eq!(partial, right.partial, "{}", context());
            for text in [&lossy, &partial] {
                let borrowed = matches!(text, Cow::Borrowed(_));
                let unchanged = right.invalid_utf8.is_none() && text.as_bytes() == input;
                assert_eq!(borrowed, unchanged, "{}: borrowing", context());
            }

            let strict = decode.strict();
            match (strict.decode_utf8(input), first_bad, right.invalid_utf8) {
                (Ok(text), None, None) => assert_eq!(text, right.partial, "{}", context()),
                (Err(DecodeUtf8Error::Malformed(error)), Some(right), _) => {
                    assert_eq!(bad(error), right, "{}", context());
                }
                (Err(DecodeUtf8Error::InvalidUtf8(error)), None, Some(offsets)) => {
                    assert_eq!((error.offset, error.decoded_offset), offsets, "{}", context());
                }
                (got, _, _) => panic!("{}: {got:?}, not {right:?}", context()),
            }
            let right_or_bad = |text: &str| first_bad.map_or(Ok(text.to_owned()), Err);
            let owned =
                |result: Result<Cow<'_, str>, MalformedEscape>| result.map(Cow::into_owned).map_err(bad);
            assert_eq!(owned(strict.decode_utf8_lossy(input)), right_or_bad(&right.lossy), "{}", context());
            assert_eq!(
                owned(strict.decode_utf8_with(input, OnInvalidUtf8::KeepEscaped)),
                right_or_bad(&right.partial),
                "{}",
                context()
            );
        }
    }
}
