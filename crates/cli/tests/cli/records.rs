//! Tests that line ends and other structure of records stay, and that decoding never produces new ones.

use crate::support::ok;

#[test]
fn line_ends_stay_when_encoding() {
    for (input, wanted) in [
        ("", ""),
        ("\n", "\n"),
        ("\n\n\r\n\n", "\n\n\r\n\n"),
        ("a b", "a%20b"),
        ("a b\n", "a%20b\n"),
        ("a b\nc/d", "a%20b\nc%2Fd"),
        ("a b\r\nc d\r\n", "a%20b\r\nc%20d\r\n"),
        ("a b\r\nc d", "a%20b\r\nc%20d"),
    ] {
        assert_eq!(ok(&["encode"], input), wanted.as_bytes(), "{input:?}");
    }
}

#[test]
fn a_lone_carriage_return_is_data() {
    for (input, wanted) in [
        ("\r", "%0D"),
        ("a\rb\n", "a%0Db\n"),
        ("a\r\r\nb\r", "a%0D\r\nb%0D"),
        ("\r\n\r\r\n\r", "\r\n%0D\r\n%0D"),
        ("a\n\rb\n", "a\n%0Db\n"),
    ] {
        assert_eq!(ok(&["encode"], input), wanted.as_bytes(), "{input:?}");
    }
    assert_eq!(ok(&["encode", "--lower"], "a\rb"), b"a%0db");
    assert_eq!(ok(&["encode", "--keep", "%0D"], "a\rb"), b"a\rb");
    assert_eq!(ok(&["encode", "--keep-escapes"], "%4\r%41\r\n"), b"%254%0D%41\r\n");
}

#[test]
fn decoding_makes_no_line_ends() {
    assert_eq!(ok(&["decode"], "a%0Ab%0dc%20d%00\r\n"), b"a%0Ab%0dc d\0\r\n");
    assert_eq!(ok(&["decode", "--form"], "a%0ab+c\n"), b"a%0ab c\n");
    assert_eq!(ok(&["decode", "--strict"], "a%0ab\n"), b"a%0ab\n");
    assert_eq!(ok(&["decode"], "a\rb\n\n"), b"a\rb\n\n");
}

#[test]
fn records_may_end_in_nul() {
    for option in ["-0", "--null"] {
        assert_eq!(ok(&["encode", option], "a b\0c\r\nd\0\0"), b"a%20b\0c%0D%0Ad\0\0");
        assert_eq!(ok(&["decode", option], "a%20b\0c%0D%0Ad%00\0"), b"a b\0c\r\nd%00\0");
        assert_eq!(ok(&["normalize", option], "%7e\0%00"), b"~\0%00");
    }
}

#[test]
fn raw_input_has_no_structure() {
    let all: Vec<u8> = (0..=255).collect();
    let encoded = ok(&["encode", "--raw"], &all);
    assert_eq!(encoded.len(), 66 + 3 * 190);
    assert!(encoded.starts_with(b"%00%01") && encoded.windows(6).any(|bytes| bytes == b"%0A%0B"));
    assert_eq!(ok(&["decode", "--raw"], &encoded), all);
    assert_eq!(ok(&["encode", "--raw"], "a\r\n"), b"a%0D%0A");
    assert_eq!(ok(&["decode", "--raw"], "%0a%0D%00"), b"\n\r\0");
}

#[test]
fn normalization_leaves_line_ends_alone() {
    assert_eq!(ok(&["normalize"], "/%7Euser%2f%0a\r\n%41%zz\r%2"), b"/~user%2F%0A\r\nA%zz\r%2");
}
