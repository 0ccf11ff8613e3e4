//! Tests `pct check`: findings, their positions, the summary and the exit codes.

use crate::support::{Args, Run, folder, refused, run, run_in_chunks};

/// Runs `pct check` with `args` on `input`, and returns its findings without the file name.
#[track_caller]
pub fn findings(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> Vec<String> {
    let Run { out, code, .. } = run(&[&["check"][..], &args.list()].concat(), input);
    let lines: Vec<_> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| line.strip_prefix("<stdin>:").expect("each names the file").to_owned())
        .collect();
    assert_eq!(code, Some(i32::from(!lines.is_empty())));
    lines
}

#[test]
fn each_kind_is_found() {
    let input = "fine%20\nab%4q%\nx%2541%252\n%00%2f%2F%5c%2E%2e\n%C3%28\n%0D%0aend%4";
    assert_eq!(
        findings(&[], input),
        [
            "2:10: malformed: %4q: 'q' is not a hexadecimal digit",
            "2:13: malformed: %: '\\n' is not a hexadecimal digit",
            "3:16: double: %2541 decodes to %41",
            "4:26: nul: %00",
            "4:29: separator: %2f is /",
            "4:32: separator: %2F is /",
            "4:35: separator: %5c is \\",
            "4:38: dot: %2E is .",
            "4:41: dot: %2e is .",
            "5:45: utf8: invalid UTF-8 after decoding, from byte 0xC3 on",
            "6:52: crlf: %0D%0a is a line end",
            "6:61: malformed: %4: the input ends inside it",
        ]
    );
}

#[test]
fn clean_input_has_no_findings() {
    for input in
        ["", "\n\n", "a%20b\r\ncaf%C3%A9\nna\u{ef}ve", "%E2%82%AC %f0%9f%98%80\n", "mixed \u{c3}%A9\n"]
    {
        let expected = if input.starts_with("mixed") { 1 } else { 0 };
        assert_eq!(findings(&[], input).len(), expected, "{input:?}");
    }
}

#[test]
fn utf8_may_be_half_escaped() {
    assert_eq!(findings(&[], b"\xC3%A9\n%E2\x82%AC\n\xE2%82\xAC"), [""; 0]);
}

#[test]
fn utf8_is_reported_once_a_record_at_its_first_byte() {
    assert_eq!(
        findings(&[], b"\xFFa\xFEb%FD\n%c0%ae\n\xE2\x82\nok\n%E2%82x%FF\n%ED%A0%80\nend\xC3"),
        [
            "1:0: utf8: invalid UTF-8 after decoding, from byte 0xFF on",
            "2:8: utf8: invalid UTF-8 after decoding, from byte 0xC0 on",
            "3:15: utf8: invalid UTF-8 after decoding, from byte 0xE2 on",
            "5:21: utf8: invalid UTF-8 after decoding, from byte 0xE2 on",
            "6:32: utf8: invalid UTF-8 after decoding, from byte 0xED on",
            "7:45: utf8: invalid UTF-8 after decoding, from byte 0xC3 on",
        ]
    );
}

#[test]
fn kinds_can_be_chosen() {
    let input = "%zz %00 %2f %2e %2541 %FF %0A\n";
    assert_eq!(findings(&[], input).len(), 7);
    assert_eq!(findings("--kinds nul", input), ["1:4: nul: %00"]);
    assert_eq!(findings("--kinds nul,dot", input).len(), 2);
    assert_eq!(findings("--ignore nul --ignore dot,utf8", input).len(), 4);
    for kind in ["malformed", "utf8", "double", "nul", "crlf", "separator", "dot"] {
        let found = findings(&["--kinds", kind], input);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains(&format!(": {kind}: ")), "{found:?}");
    }
    assert_eq!(findings("--ignore malformed,utf8,double,nul,crlf,separator,dot", input), [""; 0]);
    assert_eq!(run("check --kinds nonsense", "").code, Some(2));
    assert_eq!(run("check --kinds nul --ignore dot", "").code, Some(2));
}

/// A decoded line end can begin a new line of a header. An escaped CR LF is one finding, and its bytes have no finding of another kind.
#[test]
fn escaped_line_ends_are_found() {
    let all =
        "malformed,utf8,double,nul,crlf,separator,dot,needless,illegal,non-ascii,control,host,port,ambiguous";
    for (input, wanted) in [
        ("/login?next=%0d%0aSet-Cookie:%20x", &["1:12: crlf: %0d%0a is a line end"][..]),
        ("//a%0Db.org/", &["1:3: crlf: %0D is a line end"]),
        ("/a#%0A", &["1:3: crlf: %0A is a line end"]),
        ("%0a%0d", &["1:0: crlf: %0a is a line end", "1:3: crlf: %0d is a line end"]),
        (
            "%0d%0d%0A%0A",
            &[
                "1:0: crlf: %0d is a line end",
                "1:3: crlf: %0d%0A is a line end",
                "1:9: crlf: %0A is a line end",
            ],
        ),
        ("%0d\n%0a", &["1:0: crlf: %0d is a line end", "2:4: crlf: %0a is a line end"]),
        ("%250d%0", &["1:0: double: %250d decodes to %0d", "1:5: malformed: %0: the input ends inside it"]),
        ("%09%0b%85", &["1:6: utf8: invalid UTF-8 after decoding, from byte 0x85 on"]),
    ] {
        assert_eq!(findings(&[], input), wanted, "{input}");
        assert_eq!(findings(&["--kinds", all], input), wanted, "{input}");
        let fields = findings("--delimiter ; --field 1 --kinds crlf", input).len();
        assert_eq!(fields, wanted.iter().filter(|line| line.contains("crlf")).count(), "{input}");
    }
    assert_eq!(
        findings("--component query --kinds crlf", "/%0a?%0d%0a#%0a"),
        ["1:5: crlf: %0d%0a is a line end"]
    );
    // In a line that is read in several pieces, each pair of CR and LF is one finding, too.
    let long = ["/?", &"%0d%0A".repeat(700_000)].concat();
    let found = findings(&[], &long);
    assert_eq!(found.len(), 700_000);
    assert!(found.iter().all(|line| line.ends_with(": crlf: %0d%0A is a line end")));
}

#[test]
fn the_summary_counts() {
    assert_eq!(run("check", "a").err, "pct: no findings in 1 line (1 byte)\n");
    assert_eq!(run("check", "a\nb").err, "pct: no findings in 2 lines (3 bytes)\n");
    assert_eq!(run("check", "%\n").err, "pct: 1 finding in 1 line (2 bytes): malformed 1\n");
    assert_eq!(
        run("check -0", "%00\0%2f%2F\0").err,
        "pct: 3 findings in 2 records (11 bytes): nul 1, separator 2\n"
    );
}

#[test]
fn quiet_says_it_all_by_the_exit_code() {
    for (input, code) in [("a%20\n", 0), ("a%\n", 1)] {
        let Run { out, err, code: got } = run("check --quiet", input);
        assert_eq!((out.len(), err.as_str(), got), (0, "", Some(code)));
    }
}

#[test]
fn records_may_end_in_nul() {
    assert_eq!(
        findings("-0", b"a\n%\0\xC3\0\xA9%"),
        [
            "1:2: malformed: %: '\\x00' is not a hexadecimal digit",
            "2:4: utf8: invalid UTF-8 after decoding, from byte 0xC3 on",
            "3:6: utf8: invalid UTF-8 after decoding, from byte 0xA9 on",
            "3:7: malformed: %: the input ends inside it",
        ]
    );
}

#[test]
fn places_are_right_far_into_a_stream_however_it_is_cut() {
    let clean = "https://example.org/%C3%A9/caf\u{e9}%20\r\n";
    let mut input = clean.repeat(8_000);
    let at = input.len();
    input += "%C3%A9%2525%zz\n";
    let wanted = format!(
        "8001:{}: double: %2525 decodes to %25\n8001:{}: malformed: %zz: 'z' is not a hexadecimal digit\n",
        at + 6,
        at + 11
    )
    .replace("8001:", "<stdin>:8001:");
    for chunk in [13, 4093, 65_536, 65_540, usize::MAX] {
        let run = run_in_chunks("check", input.as_bytes(), chunk);
        assert_eq!(run.text(), wanted, "in pieces of {chunk}");
    }
}

#[test]
fn findings_do_not_depend_on_how_the_input_is_cut() {
    let input = crate::support::tangle(5, 20_000);
    let whole = run("check", &input);
    assert!(whole.out.len() > 10_000);
    for chunk in [1, 2, 3, 5, 4093] {
        assert_eq!(run_in_chunks("check", &input, chunk), whole, "in pieces of {chunk}");
    }
}

#[test]
fn several_files_have_places_of_their_own() {
    let (_dir, path) = folder();
    let (a, b) = (path("a"), path("b"));
    std::fs::write(&a, "\n\n%00\n%4").unwrap();
    std::fs::write(&b, "1%00").unwrap();
    let run = run(&["check", &a, &b], "");
    assert_eq!(
        run.text(),
        format!("{a}:3:2: nul: %00\n{a}:4:6: malformed: %4: the input ends inside it\n{b}:1:1: nul: %00\n")
    );
}

#[test]
fn findings_may_be_json_lines() {
    let run = run("check --format jsonl", "a\"%zz\n%00\n");
    assert_eq!(
        run.text(),
        "{\"file\":\"<stdin>\",\"line\":1,\"offset\":2,\"kind\":\"malformed\",\"text\":\"%zz: 'z' is not a hexadecimal digit\"}\n\
         {\"file\":\"<stdin>\",\"line\":2,\"offset\":6,\"kind\":\"nul\",\"text\":\"%00\"}\n"
    );
    run.says("pct: 2 findings in 2 lines (10 bytes): malformed 1, nul 1\n", 1);
}

/// Checks that JSON has the names with which a program can open the files. Other systems allow fewer names.
#[cfg(target_os = "linux")]
#[test]
fn json_has_exact_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use serde_json::{Value, json};

    use crate::support::{command, output};

    let dir = tempfile::tempdir().unwrap();
    for (name, wanted) in [
        (&b"x\ty"[..], json!("x\ty")),
        (b"x\\ty", json!("x\\ty")),
        ("a\u{202e}b".as_bytes(), json!("a\u{202e}b")),
        (b"\xFF\xE9", json!({"bytes": "%FF%E9"})),
    ] {
        let path = dir.path().join(OsStr::from_bytes(name));
        std::fs::write(&path, "/a%2Fb").unwrap();
        for (args, place) in [
            ("check --format jsonl", "/file"),
            ("audit --format json", "/findings/5/examples/0/file"),
            ("audit --format json --chain varnish-7.1,nginx-1.22", "/examples/0/file"),
        ] {
            let child = command(args).current_dir(dir.path()).arg(OsStr::from_bytes(name)).spawn().unwrap();
            let report: Value = serde_json::from_slice(&output(child, b"", usize::MAX).stdout).unwrap();
            assert_eq!(report.pointer(place), Some(&wanted), "{args}: {report}");
        }
    }
}

#[test]
fn findings_may_be_few() {
    let input = "%00%00\n%00\n".repeat(100_000);
    for (max, wanted) in
        [("1", "<stdin>:1:0: nul: %00\n"), ("2", "<stdin>:1:0: nul: %00\n<stdin>:1:3: nul: %00\n")]
    {
        let Run { out, err, code } = run(&["check", "-m", max], &input);
        assert_eq!((String::from_utf8(out).unwrap().as_str(), code), (wanted, Some(1)));
        assert!(
            err.starts_with("pct: stopped after ") && err.ends_with(&format!("so far: {max}, nul {max}\n")),
            "{err}"
        );
    }
    let all = run("check --max 400000", &input);
    assert_eq!(all.err, "pct: 300000 findings in 200000 lines (1100000 bytes): nul 300000\n");
    assert_eq!(run("check -m 0", "").code, Some(2));
}

#[test]
fn files_with_findings_are_named_once() {
    let (_dir, path) = folder();
    let (a, b, c) = (path("a"), path("b"), path("c"));
    std::fs::write(&a, "%00\n%zz\n".repeat(200_000)).unwrap();
    std::fs::write(&b, "fine\n").unwrap();
    std::fs::write(&c, "%zz").unwrap();
    let named = run(&["check", "-l", &a, &b, &c], "");
    assert_eq!(named.text(), format!("{a}\n{c}\n"));
    named.says("pct: 2 files have findings, the first of them: malformed 1, nul 1\n", 1);
    let one = run(&["check", "--files-with-findings", "--kinds", "nul", &a, &b, &c], "");
    assert_eq!(one.text(), format!("{a}\n"));
    assert_eq!(run(&["check", "-l", &b], "").code, Some(0));
    // Windows allows no tabs and line ends in names.
    let odd = path(if cfg!(windows) { "odd" } else { "o\nd\td" });
    std::fs::write(&odd, "%00").unwrap();
    assert_eq!(
        run(&["check", "-l", "-0", &odd, "-", &a], "%00").out,
        format!("{odd}\0<stdin>\0{a}\0").into_bytes()
    );
    assert_eq!(run(&["check", "-l", "-m1", &c, &a], "").out, format!("{c}\n").into_bytes());
    assert_eq!(run("check -l --format jsonl", "").code, Some(2));
}

#[test]
fn kinds_of_urls_are_found_if_they_are_named() {
    let input = "http://u@v@a:99999/b c\u{e9}\u{e9}?|#\t\nhttp://[::1/%7e\nhttp://[x]/\r\na%7E:b";
    let all = ["--kinds", "illegal,non-ascii,control,needless,host,port"];
    let found = [
        "1:8: host: more than one '@' before the host",
        "1:13: port: not a number up to 65535",
        "1:20: illegal: ' ' in the path",
        "1:22: non-ascii: byte 0xC3 in the path",
        "1:27: illegal: '|' in the query",
        "1:29: control: byte 0x09 in the fragment",
        "2:43: needless: %7e is ~",
        "2:38: host: '[' without ']'",
        "3:54: host: invalid address in brackets",
        "4:61: needless: %7E is ~",
        "4:64: illegal: ':' in the first path segment, without a scheme before it",
    ];
    assert_eq!(findings(&all, input), found);
    assert_eq!(findings(&[], input), [""; 0], "they are no usual ones");
    for chunk in [1, 7] {
        let run = run_in_chunks(&[&["check"][..], &all].concat(), input.as_bytes(), chunk);
        assert_eq!(run.out.iter().filter(|byte| **byte == b'\n').count(), found.len());
    }
    for kind in ["illegal", "non-ascii", "control", "needless", "host", "port"] {
        let wanted: Vec<_> = found.iter().filter(|line| line.contains(&format!(": {kind}: "))).collect();
        assert_eq!(findings(&["--kinds", kind], input).iter().collect::<Vec<_>>(), wanted, "{kind}");
    }
    assert!(
        findings("--kinds illegal,non-ascii,control,host,port", "http://[::1]:80/%20?a=b#c\n\n/a:b\n")
            .is_empty()
    );
}

#[test]
fn findings_can_be_confined_to_components() {
    let input = "http://a%2E%zz/b%2e%zz c?%00 %7E#%zz\n//%2E\n";
    let at = |components: &str| findings(&["--component", components], input);
    assert_eq!(
        at("host"),
        [
            "1:8: dot: %2E is .",
            "1:8: needless: %2E is .",
            "1:11: malformed: %zz: 'z' is not a hexadecimal digit",
            "2:39: dot: %2E is .",
            "2:39: needless: %2E is ."
        ]
    );
    assert_eq!(
        at("query"),
        ["1:25: nul: %00", "1:29: needless: %7E is ~", "1:28: illegal: ' ' in the query"]
    );
    assert_eq!(findings("--component path,fragment --kinds malformed,illegal", input).len(), 3);
    assert_eq!(at("scheme,userinfo,port"), [""; 0]);
    refused("check --component hots", "", "unknown component 'hots'; expected one of scheme, ");
    for args in [
        "--component host --kinds port",
        "--component path,query --kinds host,port",
        "--component query --kinds ambiguous",
        "--component scheme --kinds malformed,illegal",
        "--ignore malformed,utf8,double,nul,crlf,separator,dot,unreadable",
    ] {
        refused(&*format!("check {args}"), input, "leave no kind that could be reported");
    }
    assert_eq!(
        findings("--component userinfo --kinds host", "http://u@v@h/\n"),
        ["1:8: host: more than one '@' before the host"]
    );
}

/// A long line is checked as one URL, even if it is read in several pieces.
#[test]
fn long_lines_are_whole_urls() {
    let line = format!("http://a/{}?b |\n", "x".repeat(3 << 20));
    let input = [line.as_str(), "a b\n", &line].concat();
    let (first, second) = (line.len() as u64, line.len() as u64 + 4);
    let found = findings("--kinds illegal", &input);
    let at = line.find(' ').unwrap() as u64;
    assert_eq!(
        found,
        [
            format!("1:{at}: illegal: ' ' in the query"),
            format!("1:{}: illegal: '|' in the query", at + 1),
            format!("2:{}: illegal: ' ' in the path", first + 1),
            format!("3:{}: illegal: ' ' in the query", second + at),
            format!("3:{}: illegal: '|' in the query", second + at + 1),
        ]
    );
    let longer = format!("{} \n", "x".repeat(17 << 20));
    assert_eq!(
        findings("--kinds illegal,unreadable", &longer),
        ["1:0: unreadable: the record is longer than 16 MiB (--max-record)"]
    );
    assert_eq!(
        findings("--kinds illegal --max-record 32", &longer),
        [format!("1:{}: illegal: ' ' in the path", 17 << 20)]
    );
}

#[test]
fn a_finding_does_not_hide_a_file_that_could_not_be_read() {
    let (_dir, path) = folder();
    let (name, gone) = (&*path("in"), &*path("gone"));
    std::fs::write(name, "%zz\n").unwrap();
    for (args, code) in [(&[gone, name][..], 2), (&[name], 1), (&[name, gone], 1)] {
        assert_eq!(run(&[&["check", "-q"], args].concat(), "").code, Some(code), "{args:?}");
    }
    assert_eq!(run(&["check", gone, name], "").code, Some(2));
}
