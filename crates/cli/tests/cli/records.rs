//! Tests that line ends and other structure of records stay, and that decoding never produces new ones.

use std::io::Write;

use crate::support::{Numbers, assert_same, command, folder, ok, run, text, wait, words_of};

#[test]
fn a_lone_carriage_return_is_data() {
    assert_eq!(ok("encode", "\n\r\n\r\r\n\r"), b"\n\r\n%0D\r\n%0D");
    assert_eq!(ok("encode --lower", "a\rb"), b"a%0db");
    assert_eq!(ok("encode --keep %0D", "a\rb"), b"a\rb");
}

#[test]
fn decoding_makes_no_line_ends() {
    assert_eq!(ok("decode --form", "a%0ab+c\n"), b"a%0ab c\n");
    assert_eq!(ok("decode --strict", "a%0ab\n"), b"a%0ab\n");
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
    let encoded = ok("encode --raw", &all);
    assert_eq!(encoded.len(), 66 + 3 * 190);
    assert!(encoded.starts_with(b"%00%01") && encoded.windows(6).any(|bytes| bytes == b"%0A%0B"));
    assert_eq!(ok("decode --raw", &encoded), all);
    assert_eq!(ok("encode --raw", "a\r\n"), b"a%0D%0A");
    assert_eq!(ok("decode --raw", "%0a%0D%00"), b"\n\r\0");
}

/// Tests that the result does not depend on where the input is cut. Normalization keeps the escape of a digit after `%`
/// or `%2`, and these bytes may be in the block before.
#[test]
fn normalizing_raw_input_is_the_same_wherever_it_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("input").display().to_string();
    let check = |input: &[u8]| {
        let wanted = simdpct::normalize(input);
        assert_eq!(simdpct::normalize(&*wanted), wanted, "the library is idempotent");
        std::fs::write(&file, input).unwrap();
        for jobs in ["-j1", "-j4"] {
            assert_same("a file", &ok(&["normalize", "--raw", jobs, &file], ""), &wanted);
            assert_same("a pipe", &ok(&["normalize", "--raw", jobs], input), &wanted);
        }
    };
    for block in [1 << 16, 1 << 17] {
        for before in block - 5..=block {
            for end in ["%2%35", "%%35", "%%%%32%35"] {
                check(&[&b"a".repeat(before), end.as_bytes()].concat());
            }
        }
    }
    // This input is long enough for several threads, and is cut at every position of the pattern.
    check(&b"%2%35%%41".repeat(400_000));

    // The second write happens after the first has been read.
    for (first, second) in [("%%%%", "35"), ("%", "%35"), ("%2", "%35"), ("%2%3", "5")] {
        let mut child = command("normalize --raw").spawn().unwrap();
        let stdin = child.stdin.as_mut().unwrap();
        for piece in [first, second] {
            stdin.write_all(piece.as_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let whole = format!("{first}{second}");
        assert_same(&whole, &wait(child).out, &simdpct::normalize(&whole));
    }
}

#[test]
fn a_byte_order_mark_belongs_to_files_of_lines() {
    let text = "\u{feff}a b";
    for (args, input, wanted) in [
        (&["encode"][..], "\u{feff}a b\n", "\u{feff}a%20b\n"),
        (&["encode", "-0"], "\u{feff}a b\0", "%EF%BB%BFa%20b\0"),
        (&["encode", "-0", "--stats"], "\u{feff}a b\0", "%EF%BB%BFa%20b\0"),
        (&["encode", "--raw"], "\u{feff}a b", "%EF%BB%BFa%20b"),
        (&["encode", "-e", text], "", "%EF%BB%BFa%20b\n"),
        (&["encode", "--stats", "-e", text], "", "%EF%BB%BFa%20b\n"),
        (&["check", "--kinds", "non-ascii", "-e", text], "", "<-e>:1:0: non-ascii: byte 0xEF in the path\n"),
        (&["check", "--kinds", "non-ascii"], &format!("{text}\n"), ""),
        (
            &["check", "-0", "--kinds", "non-ascii"],
            "\u{feff}",
            "<stdin>:1:0: non-ascii: byte 0xEF in the path\n",
        ),
    ] {
        let run = run(args, input);
        assert_eq!(run.text(), wanted, "{args:?}: {}", run.err);
    }
}

#[test]
fn forms_come_back_from_rows() {
    let words = words_of(
        b"x,=,&,%,+,%25,%0A,%0D,%00,%09,%22,%2C,%2509,%250a,%2,5,%C3%A9,%2525,%2522,%20,;,\xC3\xA9,%2F",
    );
    let mut numbers = Numbers(8);
    let mut forms = Vec::new();
    for _ in 0..20_000 {
        for _ in 0..numbers.next() % 9 {
            forms.extend_from_slice(numbers.pick(&words));
        }
        forms.push(b'\n');
    }
    // JSON can hold any valid UTF-8, so a form that is converted to JSON and back has its canonical spelling.
    let through = |style: &str| ok(&["form", "--from", style], ok(&["form", "--format", style], &forms));
    let wanted = through("jsonl");
    for style in ["csv", "tsv"] {
        assert_same(style, &through(style), &wanted);
    }
    for (style, row) in [("csv", "a,1%0A\n"), ("tsv", "a\t1%0A\n")] {
        assert_eq!(text(&["form", "--format", style], "a=1%0A\n"), row);
        assert_eq!(ok(&["form", "--from", style], row), b"a=1%0A\n");
    }
}

#[test]
fn headers_may_hold_anything() {
    let (_dir, path) = folder();
    let (plain, quoted) = (path("plain"), path("quoted"));
    std::fs::write(&plain, "id,url\n1,%41\n").unwrap();
    std::fs::write(&quoted, "\"id\",\"url\"\r\n2,%42\r\n").unwrap();
    let table = "\"a,b\",\"say \"\"hi\"\"\",\"\x1B[31m\u{202e}\",c\n%41,%42,%00,%44\n";
    for (args, out, err) in [
        (&["decode", "--column", "\"a,b\",c"][..], "A,%42,%00,D\n", ""),
        (&["decode", "--column", "\"say \"\"hi\"\"\"", "--column", "c"], "%41,B,%00,D\n", ""),
        (&["decode", "--column", "c", "--into", "\"c,d\""], "%41,%42,%00,%44,D\n", ""),
        (
            &["decode", "--column", "x"],
            "",
            "pct: <stdin>: no column 'x'; the header has 4: a,b, say \"hi\", \\x1b[31m\\u{202e}, c\n",
        ),
        (
            &["decode", "--column", "a,b"],
            "",
            "pct: <stdin>: no column 'a'; the header has 4: a,b, say \"hi\", \\x1b[31m\\u{202e}, c\n",
        ),
        (&["decode", "--column", "1,4", "--into", "x,x"], "", "pct: --into: the name 'x' is given twice\n"),
        (&["check", "--column", "3"], "", "pct: 1 finding in 1 row (48 bytes): nul 1\n"),
    ] {
        let run = run(&[args, &["--csv"]].concat(), table);
        let text = run.text();
        if args[0] == "check" {
            assert_eq!(text, "<stdin>:2:40: nul: column \\x1b[31m\\u{202e} at 8: %00\n");
        } else {
            assert_eq!(text.split_once('\n').map_or("", |(_, rows)| rows), out, "{args:?}");
        }
        assert_eq!(run.err, err, "{args:?}");
    }
    let json = ["--jsonl", "--key", "a.u,b.u", "--into", "x,x"];
    assert_eq!(
        ok(&[&["decode"], &json[..]].concat(), "{\"a\":{\"u\":\"%41\"},\"b\":{\"u\":\"%42\"}}"),
        b"{\"a\":{\"u\":\"%41\",\"x\":\"A\"},\"b\":{\"u\":\"%42\",\"x\":\"B\"}}"
    );
    run("decode --jsonl --key a.u,b.u,a.v --into x,x,x", "")
        .says("pct: --into: the name 'x' is given twice\n", 2);
    // Headers with the same names count as equal, even if only one of them has quotes.
    for (first, second, wanted) in
        [(&plain, &quoted, "id,url\n1,A\n2,B\r\n"), (&quoted, &plain, "\"id\",\"url\"\r\n2,B\r\n1,A\n")]
    {
        let out = text(&["decode", "--csv", "--column", "url", "--one-header", first, second], "");
        assert_eq!(out, wanted);
    }
}
