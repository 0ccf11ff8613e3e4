//! Tests of the text in header fields.

use std::mem::MaybeUninit;

use proptest::prelude::*;
use simdpct::header::{
    ExtValueError, decode_ext_value, decode_ext_value_to_uninit, decode_multipart_name, encode_ext_value,
    encode_ext_value_to_uninit, encode_multipart_name,
};
use testkit::tiers::scaled;

/// Checks that the functions for the caller's memory give the results of those that allocate, also with no spare byte.
fn check_in_memory(value: &[u8]) {
    let expected = decode_ext_value(value);
    let mut out = vec![MaybeUninit::uninit(); value.len()];
    let decoded = decode_ext_value_to_uninit(value, &mut out);
    let wanted = expected.as_ref().map(|value| (&*value.text, value.language)).map_err(|error| *error);
    assert_eq!(decoded, wanted);
    if let (Ok((text, language)), len) = (wanted, wanted.map_or(0, |(text, _)| text.len())) {
        assert_eq!(decode_ext_value_to_uninit(value, &mut out[..len]), Ok((text, language)));
        if let Some(less) = len.checked_sub(1) {
            let error = decode_ext_value_to_uninit(value, &mut out[..less]).unwrap_err();
            assert!(matches!(error, ExtValueError::BufferTooSmall(error) if error.needed == len), "{error}");
        }
        let encoded = encode_ext_value(text);
        let mut out = vec![MaybeUninit::uninit(); encoded.len()];
        assert_eq!(encode_ext_value_to_uninit(text, &mut out), Ok(encoded.as_bytes()));
        let less = encoded.len() - 1;
        assert_eq!(encode_ext_value_to_uninit(text, &mut out[..less]).unwrap_err().needed, encoded.len());
    }
}

#[test]
fn ext_values() {
    use ExtValueError::{Charset, InvalidUtf8, Parts, Value};
    // The second value is an example of RFC 5987, section 3.2.2, the third one of RFC 8187, section 3.2.3, and the fourth one
    // of RFC 6266, section 5.
    for (value, expected) in [
        ("UTF-8''%c2%a3%20rates", Ok(("", "\u{a3} rates"))),
        ("iso-8859-1'en'%A3%20rates", Ok(("en", "\u{a3} rates"))),
        ("UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", Ok(("", "\u{a3} and \u{20ac} rates"))),
        ("UTF-8''%e2%82%ac%20rates", Ok(("", "\u{20ac} rates"))),
        ("utf-8'de-CH-1996'a", Ok(("de-CH-1996", "a"))),
        ("UTF-8''", Ok(("", ""))),
        ("ISO-8859-1''!#$&+-.^_`|~%00%27%FF", Ok(("", "!#$&+-.^_`|~\0'\u{ff}"))),
        ("", Err(Parts)),
        ("a.txt", Err(Parts)),
        ("UTF-8'a.txt", Err(Parts)),
        ("UTF-8'e n'a.txt", Err(Parts)),
        ("UTF-8'\u{e9}'a.txt", Err(Parts)),
        ("''a.txt", Err(Charset)),
        ("windows-1252''a.txt", Err(Charset)),
        ("UTF-8''a b", Err(Value { offset: 8 })),
        ("UTF-8'en'a'b", Err(Value { offset: 10 })),
        ("UTF-8''a%4", Err(Value { offset: 8 })),
        ("UTF-8''\"a\"", Err(Value { offset: 7 })),
        ("UTF-8''\u{e9}", Err(Value { offset: 7 })),
        ("UTF-8''a%2Fb;x=", Err(Value { offset: 12 })),
        ("UTF-8''a%20%e2%82", Err(InvalidUtf8 { offset: 11 })),
        ("UTF-8''%FF", Err(InvalidUtf8 { offset: 7 })),
    ] {
        check_in_memory(value.as_bytes());
        let decoded = decode_ext_value(value);
        let decoded = decoded.as_ref().map(|value| (value.language, &*value.text)).map_err(|error| *error);
        assert_eq!(decoded, expected, "{value}");
    }
    for (value, offset) in
        [("a.txt", 5), ("UTF-8'a.txt", 11), ("UTF-8'e n'a", 7), ("x''a", 0), ("UTF-8''a%2Fb;", 12)]
    {
        assert_eq!(decode_ext_value(value).unwrap_err().offset_in(value), offset, "{value}");
    }
    for error in [Parts, Charset, Value { offset: 1 }, InvalidUtf8 { offset: 1 }] {
        assert!(!error.to_string().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    #[test]
    fn an_ext_value_holds_its_text(text: String) {
        let value = encode_ext_value(&text);
        let rest = value.strip_prefix("UTF-8''").unwrap();
        prop_assert!(rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&+-.^_`|~%".contains(&b)));
        let decoded = decode_ext_value(&value).unwrap();
        prop_assert_eq!((decoded.language, &*decoded.text), ("", &*text));
    }

    #[test]
    fn no_value_panics(value in "(UTF-8|iso-8859-1|x)?'[a-z']{0,3}'?[a%0-9' ]{0,9}", bytes: Vec<u8>) {
        check_in_memory(value.as_ref());
        check_in_memory(bytes.as_ref());
    }

    /// Compares the functions for names with the rule of the HTML Standard, applied byte by byte.
    #[test]
    fn multipart_names(name in "([a-c\"\r\n%\u{e9}]|%22|%0d|%0A|%0B){0,30}", bytes: Vec<u8>) {
        for name in [name.as_bytes(), &bytes] {
            let escaped = name.iter().flat_map(|byte| match byte {
                b'"' => b"%22",
                b'\r' => b"%0D",
                b'\n' => b"%0A",
                other => std::slice::from_ref(other),
            });
            let encoded = encode_multipart_name(name);
            prop_assert!(encoded.iter().eq(escaped));
            let text = name.iter().map(|byte| char::from(*byte)).collect::<String>();
            let decoded = ["%0a", "%0A", "%0d", "%0D", "%22"].iter().fold(text, |text, escape| {
                let byte = u8::from_str_radix(&escape[1..], 16).unwrap();
                text.replace(escape, &char::from(byte).to_string())
            });
            prop_assert!(decode_multipart_name(name).iter().map(|byte| char::from(*byte)).eq(decoded.chars()));
        }
    }
}
