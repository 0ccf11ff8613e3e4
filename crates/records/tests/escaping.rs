//! Tests of the escapings, by which a format writes the bytes of values.

mod common;

use common::Random;
use proptest::prelude::*;
use simdpct_records::Escaping;

/// Checks that `value` is read back, that offsets in it map to ascending offsets in its escaped text, and that it ends no field or line.
/// If `escaping` cannot write the value, checks that nothing is appended.
fn check(escaping: Escaping, value: &[u8]) {
    let mut raw = Vec::new();
    let Err(offset) = escaping.apply(value, &mut raw) else {
        let mut buffer = Vec::new();
        assert_eq!(escaping.undo(&raw, &mut buffer), Ok(value), "{escaping:?} {}", raw.escape_ascii());
        let has_lines = matches!(escaping, Escaping::Csv | Escaping::CsvLazy | Escaping::CsvBackslash);
        assert!(has_lines || !raw.contains(&b'\n') && !raw.contains(&b'\r'), "{escaping:?}");
        if escaping.escapes(b'"') {
            assert_eq!(escaping.next_quote(&[&raw[..], b"\""].concat(), 0), Some(raw.len()), "{escaping:?}");
        }
        let mut last = 0;
        for offset in 0..=value.len() {
            let origin = escaping.origin(&raw, offset);
            assert!(origin >= last && origin <= raw.len());
            last = origin;
        }
        assert_eq!(last, raw.len());
        return;
    };
    assert!(offset < value.len());
    assert!(raw.is_empty(), "nothing is appended after an error");
}

/// The escapings that have a way to write every byte.
const TOTAL: [Escaping; 17] = [
    Escaping::Apache,
    Escaping::Lighttpd,
    Escaping::Varnish,
    Escaping::Tomcat,
    Escaping::Go,
    Escaping::Morgan,
    Escaping::Nginx,
    Escaping::Ruby,
    Escaping::Haproxy,
    Escaping::Percent,
    Escaping::Json,
    Escaping::LighttpdJson,
    Escaping::Csv,
    Escaping::CsvLazy,
    Escaping::CsvBackslash,
    Escaping::Logfmt,
    Escaping::JsonHex,
];

proptest! {
    #[test]
    fn values_are_read_back(value in proptest::collection::vec(any::<u8>(), 0..40)) {
        Escaping::all().for_each(|escaping| check(escaping, &value));
        for escaping in TOTAL {
            prop_assert!(escaping.apply(&value, &mut Vec::new()).is_ok(), "{escaping:?}");
        }
    }

    #[test]
    fn any_text_is_read_or_rejected(raw in proptest::collection::vec(any::<u8>(), 0..40), offset in 0usize..50) {
        for escaping in Escaping::all() {
            let mut buffer = Vec::new();
            let result = escaping.undo(&raw, &mut buffer);
            prop_assert!(result.is_ok_and(|value| value.len() <= raw.len()) || !raw.is_empty());
            prop_assert!(escaping.origin(&raw, offset) <= raw.len());
        }
    }
}

#[test]
fn values_of_fragments_are_read_back() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let value = random.value(b"");
        Escaping::all().for_each(|escaping| check(escaping, &value));
    }
}

#[test]
fn the_table_is_in_the_order_of_the_names() {
    assert!(Escaping::all().enumerate().all(|(index, escaping)| escaping as usize == index));
}

/// Compares the escaped text of values with the text that real servers wrote for them.
#[test]
fn writers_write_as_recorded() {
    let rows: &[(Escaping, &[u8], &[u8])] = &[
        (Escaping::Apache, b"/a\"b\\c\xE9\t\x01", br#"/a\"b\\c\xe9\t\x01"#),
        (Escaping::Lighttpd, b"/a\"b\\c\xE9\t\x01\x0C", br#"/a\"b\\c\xE9\t\x01\f"#),
        (Escaping::Varnish, b"\"\\\n\x0B\x7F", br#"\"\\\n\x0b\x7f"#),
        (Escaping::Nginx, b"/a\"b\\c\xE9\t", br"/a\x22b\x5Cc\xE9\x09"),
        (Escaping::H2o, b"/a\"\\}~\xE9", br"/a\x22\\x7d\x7e\xe9"),
        (Escaping::Tomcat, b"\"\\\xE9\x0C", br#"\"\\\u00e9\f"#),
        (Escaping::Go, b"\"\xC3\xA9\x07", b"\\\"\xC3\xA9\\a"),
        (Escaping::Go, b"\xE9", br"\xe9"),
        (Escaping::Haproxy, b"/a\"b#\xC3", b"/a#22b#23#C3"),
        (Escaping::Percent, b"/a%20\"", b"/a%2520%22"),
        (Escaping::Json, b"/\xE9\"\x01", b"/\xE9\\\"\\u0001"),
        (Escaping::JsonBytes, b"/\xC3\xA9", br"/\u00c3\u00a9"),
        (Escaping::Octal, b"a\tb", b"a#011b"),
        (Escaping::Python, b"\\\x1B\"", b"\\\\\\x1b\""),
        (Escaping::Ruby, b"\\\x1B\xE9\"", b"\\\\\\e\\xE9\""),
    ];
    for (escaping, value, raw) in rows {
        let (mut out, mut buffer) = (Vec::new(), Vec::new());
        assert_eq!(escaping.apply(value, &mut out), Ok(()), "{escaping:?}");
        assert_eq!(out.escape_ascii().to_string(), raw.escape_ascii().to_string(), "{escaping:?}");
        assert_eq!(escaping.undo(raw, &mut buffer), Ok(*value));
    }
}

#[test]
fn surrogates_are_one_character() {
    let mut buffer = Vec::new();
    assert_eq!(Escaping::Json.undo(br"a\ud83d\ude00b", &mut buffer), Ok("a😀b".as_bytes()));
    assert_eq!(Escaping::Json.undo(br"a\ud83d", &mut buffer), Err(1));
    assert_eq!(Escaping::Json.origin(br"a\ud83d\ude00b", 5), 13);
}

#[test]
fn escapes_that_the_writer_does_not_write_are_data_or_malformed() {
    let mut buffer = Vec::new();
    assert_eq!(Escaping::H2o.undo(br"/a\x41\", &mut buffer), Ok(br"/a\x41\".as_slice()));
    assert_eq!(Escaping::Nginx.undo(br"/a\q", &mut buffer), Err(2));
    assert_eq!(Escaping::Unknown.undo(br"/a\x22", &mut buffer), Err(2));
    assert_eq!(Escaping::None.undo(br"/a\x22", &mut buffer), Ok(br"/a\x22".as_slice()));
}
