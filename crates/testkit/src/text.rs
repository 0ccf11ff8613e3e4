//! Checks the methods that decode to text against the oracle, on one input.

use std::borrow::Cow;

use simdpct::{DecodeUtf8Error, OnInvalidUtf8};

use crate::check::{Decoding, byte_set, malformed};
use crate::oracle::{self, Malformed};
use crate::tiers::tiers;

/// An error of decoding to text, in the terms of the oracle.
#[derive(Debug, PartialEq)]
enum Error {
    Malformed(Malformed),
    /// The offsets of the first invalid byte, in the input and in the decoded bytes.
    InvalidUtf8((usize, usize)),
}

fn error(error: DecodeUtf8Error) -> Error {
    match error {
        DecodeUtf8Error::Malformed(error) => Error::Malformed(malformed(error)),
        DecodeUtf8Error::InvalidUtf8(error) => Error::InvalidUtf8((error.offset, error.decoded_offset)),
        other => panic!("the oracle has no word for {other:?}"),
    }
}

/// Checks all methods that decode to text against the oracle, on every tier.
pub fn check(input: &[u8]) {
    let keep = Decoding::keeping(oracle::members(b"%/\xe9\xa9"));
    for decoding in [Decoding::ALL, Decoding::FORM, keep] {
        let right = oracle::text(input, &decoding.keep, decoding.plus);
        for &tier in tiers() {
            let context =
                || format!("tier {tier}, keep {:?}, b\"{}\"", byte_set(&decoding.keep), input.escape_ascii());
            let lenient = decoding.decoder(tier);
            for (decode, first) in
                [(lenient.lenient(), None), (lenient.strict(), oracle::first_malformed(input))]
            {
                let expected = match (first, right.invalid_utf8) {
                    (Some(first), _) => Err(Error::Malformed(first)),
                    (None, Some(offsets)) => Err(Error::InvalidUtf8(offsets)),
                    (None, None) => Ok(right.kept.clone()),
                };
                let text = decode.decode_utf8(input).map(Cow::into_owned).map_err(error);
                assert_eq!(text, expected, "{}", context());
                assert_eq!(decode.decode_utf8_owned(input).map_err(error), expected, "{}: owned", context());
                let mut appended = String::from("caf\u{e9}");
                let result = decode.decode_utf8_append(input, &mut appended).map_err(error);
                let wanted = format!("caf\u{e9}{}", expected.as_deref().unwrap_or(""));
                assert_eq!(appended, wanted, "{}", context());
                assert_eq!(result, expected.map(drop), "{}: append", context());
                for (on, text) in [
                    (OnInvalidUtf8::Replace, &right.replaced),
                    (OnInvalidUtf8::Drop, &right.dropped),
                    (OnInvalidUtf8::Keep, &right.kept),
                ] {
                    let got = decode.decode_utf8_with(input, on).map(Cow::into_owned).map_err(malformed);
                    assert_eq!(got, first.map_or(Ok(text.clone()), Err), "{}: {on:?}", context());
                }
                let lossy = decode.decode_utf8_lossy(input).map(Cow::into_owned).map_err(malformed);
                assert_eq!(lossy, first.map_or(Ok(right.replaced.clone()), Err), "{}", context());
            }

            // A `Decode` and the `TryDecode` that `Decode::lenient` makes of it must give the same text, and `decode_utf8_with` must
            // borrow if nothing changes.
            let try_decode = lenient.lenient();
            let text = lenient.decode_utf8(input);
            assert_eq!(text.clone().map_err(Into::into), try_decode.decode_utf8(input), "{}", context());
            let owned = lenient.decode_utf8_owned(input).map_err(Into::into);
            assert_eq!(owned, try_decode.decode_utf8_owned(input), "{}", context());
            let (mut appended, mut expected) = (String::from("caf\u{e9}"), String::from("caf\u{e9}"));
            let result = lenient.decode_utf8_append(input, &mut appended).map_err(Into::into);
            assert_eq!(result, try_decode.decode_utf8_append(input, &mut expected), "{}", context());
            assert_eq!(appended, expected, "{}", context());
            assert_eq!(lenient.decode_utf8_lossy(input), right.replaced, "{}", context());
            for on in [OnInvalidUtf8::Replace, OnInvalidUtf8::Drop, OnInvalidUtf8::Keep] {
                let text = lenient.decode_utf8_with(input, on);
                assert_eq!(Ok(text.clone()), try_decode.decode_utf8_with(input, on), "{}", context());
                let unchanged = right.invalid_utf8.is_none() && text.as_bytes() == input;
                assert_eq!(matches!(text, Cow::Borrowed(_)), unchanged, "{}: borrowing", context());
            }
        }
    }
}
