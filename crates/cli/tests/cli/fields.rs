//! Tests `--field`, which converts values in fields of lines.

use crate::support::{Numbers, assert_same, ok, printed, refused, run, text};

const LINE: &str = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a%20b/%C3%A9?q=%22x HTTP/1.1" 200 2326 "http://ref/?q=a%20b" "Moz%20illa \"x\" (%41)""#;

#[test]
fn access_logs_have_quoted_and_bracketed_fields() {
    let decoded = |field, from, to| {
        let wanted = LINE.replace(from, to);
        assert_eq!(text(&["decode", "--quiet", "--quoted", "--field", field], LINE), wanted, "{field}");
    };
    // Decoding must not split the request target or end the quoted field, so `%20` and `%22` stay escaped.
    decoded("5.2", "%C3%A9", "é");
    decoded("8", "a%20b\"", "a b\"");
    decoded("9", "Moz%20illa \\\"x\\\" (%41)", "Moz illa \\\"x\\\" (A)");
    decoded("1", "", "");
    decoded("10", "", "");
    decoded("5.4", "", "");
    let both = LINE.replace("%C3%A9", "é").replace("q=a%20b", "q=a b");
    assert_eq!(ok("decode --quoted --field 8,5.2", LINE), both.as_bytes());
    let encoded = LINE.replace("GET /", "GET %2F").replace("b/%", "b%2F%").replace("?q=%", "%3Fq%3D%");
    assert_eq!(ok("encode --keep-escapes --quoted --field 5.2", LINE), encoded.as_bytes());
}

#[test]
fn fields_between_blanks_are_those_of_awk() {
    let on = |args: &[&str]| text(&[&["decode", "--quiet"], args].concat(), LINE);
    // Blanks and quotes stay escaped: a blank would end the field, and other programs read the quotes.
    assert_eq!(on(&["-f", "7"]), LINE.replace("%C3%A9", "é"));
    assert_eq!(on(&["-f7,11"]), LINE.replace("%C3%A9", "é"));
    assert_eq!(on(&["-f", "-1"]), LINE.replace("%41", "A"));
    assert_eq!(on(&["--field", "7", "--values"]), "/a b/é?q=\"x\n");
    assert_eq!(
        on(&["-f", "4..7,-2..", "--values", "--output-delimiter", "|"]),
        "[10/Oct/2000:13:55:36|-0700]|\"GET|/a b/é?q=\"x|\\\"x\\\"|(A)\"\n"
    );
    // If a range is counted from both ends of the line, its fields share a cell.
    assert_eq!(
        on(&["-f", "1,6..-8", "--values", "--output-delimiter", "|"]),
        "127.0.0.1|\"GET /a%20b/é?q=\"x\n"
    );
    assert_eq!(on(&["-f", "12.."]), LINE.replace("%41", "A"));
    assert_eq!(on(&["-f", "..3"]), LINE);
    // With `-d`, each single blank separates two fields.
    for (field, wanted) in [("2", "a  %42\t%43 %44"), ("3", "a  B%09%43 %44"), ("4", "a  %42\t%43 D")] {
        let wanted = wanted.replace("%09", "\t").replace("a  B\t%43", "a  B\tC");
        assert_eq!(
            ok(&["decode", "-d", "space", "-f", field], "a  %42\t%43 %44"),
            wanted.as_bytes(),
            "{field}"
        );
        assert_eq!(ok(&["decode", "-d", " ", "-f", field], "a  %42\t%43 %44"), wanted.as_bytes(), "{field}");
    }
}

/// Compares the fields with those that awk and cut print, if these programs are installed.
#[test]
fn awk_and_cut_print_the_same_fields() {
    const WORDS: &[&[u8]] =
        &[b"a", b"b\"c", b" ", b"  ", b"\t", b",", b",,", b"\"", b"[x", b"y]", b"\\", b"\xC3\xA9"];
    let mut numbers = Numbers(0xA3C);
    let mut input = Vec::new();
    for _ in 0..3_000 {
        (0..numbers.next() % 9).for_each(|_| input.extend_from_slice(numbers.pick(WORDS)));
        input.extend_from_slice(b",x,\n");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, &input).unwrap();
    for (program, args, pct) in [
        ("awk", &["NF >= 1 { print $1 }"][..], &["-f", "1"][..]),
        ("awk", &["NF >= 3 { print $3 }"], &["-f", "3"]),
        ("awk", &["NF >= 2 { print $(NF - 1) }"], &["-f", "-2"]),
        ("awk", &["{ for (n = 2; n <= NF; n++) print $n }"], &["-f", "2.."]),
        ("awk", &["{ for (n = 1; n < NF; n++) print $n }"], &["-f", "..-2"]),
        ("awk", &["-F,", "{ print $2 }"], &["-d", ",", "-f", "2"]),
        ("awk", &["-F\t", "NF >= 2 { print $2 }"], &["--tsv", "-f", "2"]),
        ("cut", &["-d", ",", "-f", "2"], &["-d", ",", "-f", "2"]),
        ("cut", &["-d", ",", "-f", "1-3"], &["-d", ",", "-f", "..3", "--output-delimiter", ","]),
        // -s leaves out lines without a delimiter.
        ("cut", &["-s", "-d", " ", "-f", "2"], &["-d", " ", "-f", "2"]),
    ] {
        let Ok(theirs) = std::process::Command::new(program).args(args).arg(file.path()).output() else {
            continue;
        };
        let name = file.path().to_str().unwrap();
        let ours = ok(&[&["decode", "-q", "--values"], pct, &[name]].concat(), "");
        assert_same(&format!("{program} {args:?}"), &ours, &theirs.stdout);
    }
}

#[test]
fn decoding_makes_no_structure() {
    // In fields between blanks, a blank is decoded only in a whole quoted field. Quotes, backslashes and control bytes
    // stay escaped.
    let all: String = (0..128).map(|byte| format!("%{byte:02X}")).collect();
    for (args, line) in [
        (&["-f", "1"][..], format!("{all} z")),
        (&["--quoted", "-f", "1"], format!("{all} z")),
        (&["--quoted", "-f", "2"], format!("a \"{all}\" z")),
        (&["--quoted", "-f", "2.1"], format!("a \"{all} b\" z")),
    ] {
        let out = text(&[&["decode"], args].concat(), &line);
        for byte in (0..0x20).chain([b'"', b'\\', 0x7F]) {
            assert!(out.contains(&format!("%{byte:02X}")), "{args:?}: {byte:02X} in {out}");
        }
        assert_eq!(out.contains("%20"), args.last() != Some(&"2"), "{out}");
        assert!(out.contains("#$%&'()*+") && out.contains("xyz{|}~"), "{out}");
    }
    // A `[` at the start of a field opens a field in brackets, so `%5B` stays an escape there. Elsewhere in a field, `%5B` is
    // decoded.
    assert_eq!(ok("decode --quoted --field 1", "%5Ba[ b] c"), b"%5Ba[ b] c");
    assert_eq!(ok("decode --quoted --field 1", "a%5B0%5D [b c]"), b"a[0] [b c]");
    assert_eq!(ok("decode --field 1", "%5Ba[ b] c"), b"[a[ b] c");
    assert_eq!(ok("decode --tsv --field 2", "a\t%09%0A%0D%20%22\tb\n"), b"a\t%09%0A%0D \"\tb\n");
    assert_eq!(ok("decode -d | --field 1", "%7C%7D|%7C"), b"%7C}|%7C");
    assert_eq!(ok("normalize -d - --field 1", "%2d%7e-%2d"), b"%2D~-%2d");
}

#[test]
fn what_looks_like_a_field_but_has_no_end_is_none() {
    for (line, wanted) in [
        ("[%41 %42 ", "[%41 B "),
        ("\"a \\\" b\" %42", "\"a \\\" b\" B"),
        ("\"\" %42", "\"\" B"),
        ("[a] b] %42", "[a] b] %42"),
        ("", ""),
        ("  \n\n%41 %41\r\n", "  \n\n%41 A\r\n"),
    ] {
        assert_eq!(ok("decode --quoted --field 2", line), wanted.as_bytes(), "{line:?}");
    }
}

#[test]
fn a_line_of_marks_takes_linear_time() {
    for mark in ["\"a ", "[a "] {
        let line = mark.repeat(600_000);
        for quoted in [&["--quoted"][..], &[]] {
            let args = [&["decode", "--field", "1,500000,-3..-1,-7"], quoted].concat();
            assert_same(mark, &run(&args, &line).out, line.as_bytes());
        }
    }
}

#[test]
fn delimited_fields_are_counted_from_one() {
    let line = "%41\t%42\t\t%43\n%44\n";
    for (field, wanted) in [
        ("1", "A\t%42\t\t%43\nD\n"),
        ("2", "%41\tB\t\t%43\n%44\n"),
        ("3", line),
        ("4,1", "A\t%42\t\tC\nD\n"),
        ("1-", ""),
    ] {
        let run = run(&["decode", "--tsv", "--field", field], line);
        assert_eq!(run.text(), wanted, "{field}");
    }
    assert_eq!(ok("decode -0 -d , --field 2", "a,%41\n%00\0b,%42"), b"a,A\n%00\0b,B");
    assert_eq!(ok("decode -0 -f 2..", "a \r%41\n%0A\0b %42"), b"a \rA\n%0A\0b B");
    let csv = text(&["decode", "-d", " ", "--csv", "--column", "v"], "u v\n%41 \"%42 %43\"\n%41 %20\n");
    assert_eq!(csv, "u v\n%41 \"B C\"\n%41 \" \"\n");
}

#[test]
fn negative_numbers_count_from_the_end() {
    let input = "a \"%41 %42\" [%43] %44\n%45\n\n";
    for (field, options, wanted) in [
        ("-1", &[][..], "a \"%41 %42\" [%43] D\nE\n\n"),
        ("-2", &[], "a \"%41 %42\" [C] %44\n%45\n\n"),
        ("-3.2", &[], "a \"%41 B\" [%43] %44\n%45\n\n"),
        ("-5,1", &[], "a \"%41 %42\" [%43] %44\nE\n\n"),
        // The first and the last field of a line can be the same one.
        ("1,-1,-4", &[], "a \"%41 %42\" [%43] D\nE\n\n"),
        ("2,-3.1", &[], "a \"A B\" [%43] %44\n%45\n\n"),
        ("-1", &["-d", "["], "a \"%41 %42\" [C] D\nE\n\n"),
        ("-2", &["-d", "["], "a \"A B\" [%43] %44\n%45\n\n"),
    ] {
        let options = if options.is_empty() { &["--quoted"] } else { options };
        let out = text(&[&["decode", "-q", "--field", field], options].concat(), input);
        assert_eq!(out, wanted, "{field}");
    }
}

#[test]
fn joined_values_are_in_the_order_asked_for() {
    let on = |args: &[&str], input: &str| {
        let args = [&["decode", "--values", "--output-delimiter", "|"], args].concat();
        printed(&args, input)
    };
    // A field that two numbers select is found once, for the first of these numbers.
    for args in [&["--field", "3,-1"][..], &["--field", "-1,3,1"], &["--quoted", "--field", "3.1,-1"]] {
        assert_eq!(ok(&[&["decode"], args].concat(), "a b %41\n"), b"a b A\n", "{args:?}");
    }
    for (input, wanted) in [
        // An unreadable record may have the field, so no message says that it is missing.
        ("a %41\n", ""),
        (
            "a %41\n1 - - [10/Oct/2000:13:55:36 -0700] \"GET /x HTTP/1.1\" 200 1 \"-\" \"-\"\n",
            "pct: no readable line has the field 'referer'",
        ),
        (
            "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /x HTTP/1.1\" 200 1 \"-\" \"-\"\n",
            "pct: no line has the field 'referer'",
        ),
    ] {
        let err = run("decode --log combined --field referer", input).err;
        assert_eq!(err.lines().find(|line| line.contains("field")).unwrap_or_default(), wanted, "{err}");
    }
    for (args, input, wanted) in [
        (&["--field", "3,1"][..], "%41 b %43\n%44\n\n", "C|A\n|D\n"),
        (&["--quoted", "--field", "2.2,1,2.1"], "a \"b c\"\nd\n", "c|a|b\n|d|\n"),
        (&["--field", "-1,1"], "a b c\n", "c|a\n"),
        (&["--field", "1,3,2"], "a\n", "a||\n"),
        (&["--csv", "--column", "c,a"], "a,b,c\n1,2,3\n4\n,,6\n", "3|1\n|4\n6|\n"),
        // A field that two positions select is in the cell of the first position, and the other cell is empty.
        (&["--field", "3,-1"], "a b c\nd e\n", "c|\n|e\n"),
        (&["--tsv", "--field", "-1,3,1"], "%41\tb\tc\n", "c||A\n"),
        (&["--field", "2..3,1"], "a b c\nd e\n", "b|c|a\ne||d\n"),
        (&["--field", "-3..-2,-1"], "a b c\nd e\n", "a|b|c\n|d|e\n"),
        (&["--field", "2..,1"], "a b|%09 c\nd\n", "b%7C\t c|a\n|d\n"),
        (&["--logfmt", "--key", "b,a"], "a=%41 b=2\n", "2|A\n"),
        (
            &["--jsonl", "--key", "b,x,a"],
            "{\"a\":\"1\",\"b\":\"2\"}\n{\"x\":\"3|%7c\"}\n{}\n",
            "2||1\n|3%7C%7c|\n",
        ),
        // Several values of one key are in one cell.
        (
            &["--jsonl", "--key", "u[],a"],
            "{\"a\":\"1 x\",\"u\":[\"2\",\"3 y|\"]}\n{\"u\":[\"4 z\"]}\n",
            "2 3%20y%7C|1 x\n4 z|\n",
        ),
        (&["--logfmt", "--key", "a,b"], "a=1 b=2 a=3\n", "1 3|2\n"),
        (&["--logfmt", "--key", "b,a"], "a=1 b=2\nb=3\na=\"4\"\n", "2|1\n3|\n|4\n"),
        (&["--log", "combined"], "1 - - [10/Oct/2000:13:55:36 -0700] \"-\" 200 1 \"r\" \"u\"\n", "|r\n"),
    ] {
        assert_eq!(on(args, input), wanted, "{args:?}");
    }
}

#[test]
fn a_plus_in_fields_without_quotes_keeps_its_meaning() {
    for (args, line, wanted) in [
        (&["--field", "1"][..], "a+b%2Bc%2b%41", "a+b%2Bc%2bA"),
        (&["--quoted", "--field", "2"], "x \"a+b%2Bc\"", "x \"a b+c\""),
        (&["-d", ",", "--field", "1"], "a+b%2Bc,x", "a b+c,x"),
        (
            &["--log", "squid"],
            "1 2 3 T/400 5 GET a+b%2Bc - HIER_DIRECT/1 t",
            "1 2 3 T/400 5 GET a+b%2Bc - HIER_DIRECT/1 t",
        ),
    ] {
        assert_eq!(ok(&[&["decode", "--form"], args].concat(), line), wanted.as_bytes(), "{args:?}");
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (args, wanted) in [
        (&["--field", "0"][..], "expected the number of a field, from 1"),
        (&["--field", "3..2"], "the last field of a range is before the first one"),
        (&["--field", "1..70000"], "more than 65,536 fields"),
        (&["--field", "7,7"], "--field: 7 is asked for twice"),
        (&["--field", "2..4,3"], "--field: 2..4 and 3 have the same field"),
        (&["--field", "5.2"], "only quoted fields have words; add --quoted"),
        (&["--quoted", "--field", "5,5.2"], "--field: 5 and 5.2 have the same field"),
        (&["--quoted"], "--field"),
        (&["--quoted", "--field", "5", "-d", ","], "--delimiter"),
        (&["--quoted", "--field", "5", "--tsv"], "--tsv"),
        (&["--field", "1", "-d", "ab"], "expected one ASCII character"),
        (&["--field", "1", "-d", "%"], "this byte cannot separate fields"),
        (&["--field", "1", "--raw"], "--raw"),
        (&["--field", "1", "--csv", "--column", "1"], "--csv"),
        (&["-d", ","], "--delimiter needs --field or --csv"),
        (&["--csv"], "--column"),
        (&["--jsonl"], "--key"),
        (&["--jsonl", "--key", "a..b"], "expected a name"),
        (&["--jsonl", "--key", ""], "a name"),
        (&["--jsonl", "--key", ".."], "a name"),
        (&["--jsonl", "--key", "**.x"], "at the end"),
        (&["--jsonl", "--key", "a[x]"], "for each element"),
        (&["--jsonl", "--key", "a,.a"], "--key: .a is asked for twice"),
        (&["--logfmt", "--key", "a,b,a"], "--key: a is asked for twice"),
        (&["--strict", "--on-malformed", "drop"], "--on-malformed"),
        (&["--stats", "--raw"], "--raw"),
        (&["-j", "99999999999999999999"], "the number of threads is too large"),
        (&["--only-changed", "--raw"], "--raw"),
        (&["--values"], "--values needs --field"),
        (&["--values", "--raw"], "--raw"),
        (&["--values", "--field", "1", "--output-delimiter", "ab"], "expected one ASCII character"),
        (&["--values", "--field", "1", "--output-delimiter", "%"], "expected one ASCII character"),
        (&["--output-delimiter", ","], "--values"),
        (&["--log", "COMBINED", "--field", "1"], "--field"),
        (&["--log", "common", "--csv", "--column", "1"], "--csv"),
        (&["--log", "w3c", "-d", ","], "--delimiter"),
        (&["--log", "caddy", "--raw"], "--raw"),
        (&["--logfmt"], "--key"),
        (&["--logfmt", "--jsonl", "--key", "a"], "--jsonl"),
        (&["--key", "a"], "--jsonl"),
        (&["--log", "common", "--field", "agent"], "common has no field 'agent'; it has target"),
        (&["--log", "combined", "--field", "7"], "--field 7: with --log, fields have names, such as target"),
        (&["--field", "agent"], "--field agent: fields have numbers"),
        (&["--log", "apache", "--column", "x"], "apache has no field 'x'"),
        (&["--log", "combined", "--unescape", "nginx"], "--unescape"),
        (&["--log", "nosuch"], "nosuch"),
    ] {
        refused(&[&["decode"], args].concat(), "", wanted);
    }
}
