//! One input, decoded to text, against the oracle.

use std::borrow::Cow;

use simdpct::{DecodeUtf8Error, InvalidUtf8, MalformedEscape, OnInvalidUtf8};

use crate::check::{Decoding, bad, byte_set};
use crate::oracle;
use crate::tiers::tiers;

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
            let partial = decode.decode_utf8_with(input, OnInvalidUtf8::Keep);
            assert_eq!(partial, right.partial, "{}", context());
            let ignored = decode.decode_utf8_with(input, OnInvalidUtf8::Drop);
            assert_eq!(ignored, right.ignored, "{}", context());
            let mut appended = String::from("caf\u{e9}");
            let result = decode.decode_utf8_append(input, &mut appended);
            let error = result.err().map(|error| (error.offset, error.decoded_offset));
            assert_eq!(error, right.invalid_utf8, "{}", context());
            let more = if error.is_none() { &*right.partial } else { "" };
            assert_eq!(appended, format!("caf\u{e9}{more}"), "{}", context());
            if let Ok(input) = std::str::from_utf8(input) {
                let owned = decode.decode_utf8_owned(input);
                assert_eq!(owned.ok().as_deref(), decode.decode_utf8(input).ok().as_deref(), "{}", context());
                let owned = decode.strict().decode_utf8_owned(input);
                let borrowed = decode.strict().decode_utf8(input).map(Cow::into_owned);
                assert_eq!(owned, borrowed, "{}", context());
            }
            for text in [&lossy, &partial, &ignored] {
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
            let mut appended = String::from("caf\u{e9}");
            let result = strict.decode_utf8_append(input, &mut appended);
            assert_eq!(result, strict.decode_utf8(input).map(drop), "{}", context());
            let more = if result.is_ok() { &*right.partial } else { "" };
            assert_eq!(appended, format!("caf\u{e9}{more}"), "{}", context());
            let right_or_bad = |text: &str| first_bad.map_or(Ok(text.to_owned()), Err);
            let owned =
                |result: Result<Cow<'_, str>, MalformedEscape>| result.map(Cow::into_owned).map_err(bad);
            assert_eq!(owned(strict.decode_utf8_lossy(input)), right_or_bad(&right.lossy), "{}", context());
            assert_eq!(
                owned(strict.decode_utf8_with(input, OnInvalidUtf8::Keep)),
                right_or_bad(&right.partial),
                "{}",
                context()
            );
        }
    }
}
