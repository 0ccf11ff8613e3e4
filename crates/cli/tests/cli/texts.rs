//! Tests `-e`, which converts text from the command line.

use crate::support::{file, ok, run};

#[test]
fn each_text_is_a_record() {
    assert_eq!(ok("decode -e a%20b", "unread"), b"a b\n");
    assert_eq!(ok(&["encode", "-e", "a b", "--expression", "c/d"], ""), b"a%20b\nc%2Fd\n");
    assert_eq!(ok(&["encode", "--expression=-x y"], ""), b"-x%20y\n");
    assert_eq!(ok(&["encode", "-e", "-x y", "-e", ""], ""), b"-x%20y\n\n");
    assert_eq!(ok("normalize -e %7e", ""), b"~\n");
    assert_eq!(ok("decode -0 -e %0A -e b", ""), b"\n\0b\0");
    assert_eq!(ok(&["encode", "--raw", "-e", "a\n"], ""), b"a%0A");
    assert_eq!(ok(&["decode", "--field", "2", "-e", "%41 %42"], ""), b"%41 B\n");
    assert_eq!(ok("decode -e é%zz", ""), "é%zz\n".as_bytes());
    let audit = ok("audit --format json -e %41 -e %zz", "");
    assert!(
        audit.starts_with(b"{")
            && audit.windows(10).any(|bytes| bytes == b"\"lines\": 2" || bytes == b"\"lines\":2,")
    );
}

#[test]
fn messages_say_where_the_text_is() {
    let check = run("check -e a -e %zz", "");
    assert_eq!(
        (String::from_utf8_lossy(&check.out).as_ref(), check.code),
        ("<-e>:2:2: malformed: %zz: 'z' is not a hexadecimal digit\n", Some(1))
    );
    run("decode --strict -e %zz", "")
        .says("pct: <-e>:1: offset 0: malformed escape: 'z' is not a hexadecimal digit\n", 1);
}

#[test]
fn texts_exclude_files() {
    for args in [
        &["decode", "-e", "a", "file"][..],
        &["decode", "-e", "a", "--files-from", "-"],
        &["decode", "-e", "a", "-i"],
        &["decode", "-i", "-e", "a"],
        &["decode", "-e"],
    ] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
}

#[test]
fn a_missing_file_that_looks_like_text_gets_a_hint() {
    for verb in ["encode", "decode", "normalize", "check", "audit"] {
        for (text, shown) in
            [("a%20b", "'a%20b'"), ("it's here", "'it'\\''s here'"), ("https://x/?q", "'https://x/?q'")]
        {
            let run = run(&[verb, text], "");
            assert_eq!(run.code, Some(2));
            assert_eq!(
                run.err,
                format!(
                    "pct: {text}: No such file or directory; if that is text and not a file: -e {shown}, or echo {shown} | pct ...\n"
                )
            );
        }
    }
    let (_dir, path) = file("a%20b", "%41");
    assert_eq!(ok(&["decode", path.to_str().unwrap()], ""), b"A");
}
