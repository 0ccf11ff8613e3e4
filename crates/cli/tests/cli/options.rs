//! Tests the effect of each option.

use crate::support::{ok, refused, run, text};

#[test]
fn the_default_set_is_unreserved() {
    let printable: String = (' '..='~').collect();
    assert_eq!(
        text("encode", &printable),
        "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C-.%2F0123456789%3A%3B%3C%3D%3E%3F%40ABCDEFGHIJKLMNOPQRSTUVWXYZ\
         %5B%5C%5D%5E_%60abcdefghijklmnopqrstuvwxyz%7B%7C%7D~"
    );
}

#[test]
fn set_takes_every_name() {
    assert_eq!(ok("encode --set whatwg-path", "/a b?^\n"), b"/a%20b%3F%5E\n");
    assert_eq!(ok("encode --set RFC3986_Query", "/a b?#\n"), b"/a%20b?%23\n");
    let printable: Vec<u8> = (b' '..=b'~').collect();
    for set in simdpct::sets::ALL {
        let escaped = simdpct::Encode::escaping(set.set).encode(&printable);
        assert_eq!(ok(&["encode", "--escape", set.name], &printable), escaped.as_bytes(), "{}", set.name);
        if set.kind != simdpct::SetKind::Policy {
            let run = run(&["encode", "--set", set.name], "");
            assert_eq!(
                (run.code, &*run.out, run.err.lines().count()),
                (Some(2), &b""[..], 1),
                "{}",
                set.name
            );
            assert!(run.err.contains(&format!("`--escape {}`", set.name)), "{}", run.err);
            continue;
        }
        let wanted = simdpct::Encode::keeping(set.set).encode(&printable);
        assert_eq!(ok(&["encode", "--set", set.name], &printable), wanted.as_bytes(), "{}", set.name);
    }
}

#[test]
fn an_unknown_set_is_an_error_with_suggestions() {
    let run = run("encode --set whatwgpath", "");
    assert_eq!((run.code, &*run.out), (Some(2), &b""[..]));
    assert!(run.err.starts_with("pct: unknown set 'whatwgpath'; similar: whatwg-path, "), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1);
}

#[test]
fn keep_adds_bytes_when_encoding() {
    assert_eq!(ok("encode --keep /:", "a/b:c d\n"), b"a/b:c%20d\n");
    assert_eq!(ok("encode --keep %20%25", "a b%/\n"), b"a b%%2F\n");
    assert_eq!(ok("encode --keep é", "é\n"), "é\n".as_bytes());
    assert_eq!(ok("encode --set none --keep -:", "a-:\n"), b"%61-:\n");
}

#[test]
fn escape_is_the_other_direction() {
    assert_eq!(ok("encode --set none", "aZ~/\n"), b"%61%5A%7E%2F\n");
    assert_eq!(ok("encode --escape rfc1738-unsafe", "a b<c>/~é\n"), b"a%20b%3Cc%3E/%7E%C3%A9\n");
    assert_eq!(ok("encode --escape /%20", "a b/%\n"), b"a%20b%2F%\n");
    assert_eq!(ok("encode --escape none", "a b/%é\n"), b"a b/%%C3%A9\n");
    assert_eq!(ok("encode --escape -/ --keep /", "a-b/\n"), b"a%2Db/\n");
    assert_eq!(ok("encode --escape % --keep-escapes", "%41%zz\n"), b"%41%25zz\n");
    assert_eq!(run("encode --escape / --set none", "").code, Some(2));
}

#[test]
fn keep_leaves_escapes_when_decoding() {
    assert_eq!(ok("decode --keep /", "a%2Fb%2f%20\n"), b"a%2Fb%2f \n");
    assert_eq!(ok("decode --keep %2f%26", "%2F%26%3D%0a\n"), b"%2F%26=%0a\n");
    assert_eq!(ok("decode --keep / --raw", "%2F%0A"), b"%2F\n");
}

#[test]
fn keep_escapes_is_idempotent() {
    let once = ok("encode --keep-escapes", "a b%20c%zz%\n%e9%4\n");
    assert_eq!(once, b"a%20b%20c%25zz%25\n%e9%254\n");
    assert_eq!(ok("encode --keep-escapes", &once), once);
}

#[test]
fn form_writes_and_reads_plus() {
    assert_eq!(ok("encode --form", "a b+c~*\n"), b"a+b%2Bc~%2A\n");
    assert_eq!(ok("encode --form --set whatwg-form", "a b+c~*\n"), b"a+b%2Bc%7E*\n");
    assert_eq!(ok("decode --form", "a+b%2Bc\n"), b"a b+c\n");
    assert_eq!(ok("decode", "a+b%2Bc\n"), b"a+b+c\n");
    assert_eq!(run("encode --form --keep-escapes", "").code, Some(2));
}

#[test]
fn lower_writes_lower_case_digits() {
    assert_eq!(ok("encode --lower", "/\u{e9}\n"), b"%2f%c3%a9\n");
    assert_eq!(ok("encode --lower --keep-escapes", "/%2F\n"), b"%2f%2F\n");
}

#[test]
fn a_value_that_cannot_be_used_is_explained() {
    for (args, wanted) in [
        (&["encode", "-j0"][..], "'0' for '--jobs <N>': expected a number of threads, at least 1"),
        (&["check", "--jobs", "x"], "'x' for '--jobs <N>': expected a number of threads, at least 1"),
        (&["get", "urls.txt"], "pct: the template has no {PART}: "),
        (&["decode", "-i", "--exit-code", "x"], "the following required arguments were not provided"),
    ] {
        refused(args, "", wanted);
    }
    for name in ["WHATWG", "Rfc3986_Scheme"] {
        assert_eq!(
            ok(&["normalize", "--profile", name, "-e", "HTTP://A.com"], ""),
            b"http://a.com/\n",
            "{name}"
        );
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for args in [&["encode", "--raw", "-0"][..], &["decode", "--raw", "--null"], &["encode", "--strict"]] {
        refused(args, "", "pct: ");
    }
    for more in ["-o x", "--strict", "--field 1", "--rejects x", "x"] {
        refused(&*format!("normalize --list {more}"), "", "'--list' cannot be used with");
    }
    refused("decode --rejects x --strict --on-invalid-utf8 fail", "%zz", "no value could be listed");
    for (args, words) in [
        ("--form --keep +", "--form writes +"),
        ("--form --keep %20", "--form writes +"),
        ("--keep-escapes --keep %", "% that starts no escape"),
        ("--charset gbk --keep é", "only ASCII bytes can be kept"),
        ("--escape a --keep ab", "no byte of --escape"),
    ] {
        refused(&*format!("encode {args}"), "a", words);
    }
    assert_eq!(ok("encode --charset utf8 --keep é", "é\n"), "é\n".as_bytes());
    // In this charset, each byte of visible ASCII can be half of a character.
    refused("decode --charset iso-2022-jp --keep A", "", "half of a character");
    refused("decode --charset iso-2022-jp --log combined", "", "bytes that separate fields");
}
