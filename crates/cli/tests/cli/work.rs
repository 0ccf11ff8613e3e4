//! Tests the conversion of values: layers of escapes, charsets, `--unescape`, `--percent-u` and `--printable`.

use std::fs;

use crate::naive;
use crate::support::{Args, Numbers, Run, assert_same, ok, run, run_in_chunks, tangle, text, words_of};

/// Checks that `pct decode` with `args` converts each line on the left of `table` to the line on the right.
#[track_caller]
fn lines(args: &(impl Args + ?Sized), table: &[(&str, &str)]) {
    let args = [&["decode"][..], &args.list()].concat();
    let input: String = table.iter().map(|(input, _)| format!("{input}\n")).collect();
    let output = text(&args, &input);
    for ((input, wanted), got) in table.iter().zip(output.lines()) {
        assert_eq!(got, *wanted, "{args:?} {input}");
    }
    assert_eq!(output.lines().count(), table.len());
}

/// Returns a [`tangle`] whose `%` and some other bytes are escaped up to four more times.
fn wrapped(seed: u64, len: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut bytes = tangle(seed, len);
    for _ in 0..4 {
        let wrap = |byte| {
            let escape = byte == b'%' || numbers.next().is_multiple_of(16) && byte != b'\n' && byte != b'\r';
            if escape { format!("%{byte:02X}").into_bytes() } else { vec![byte] }
        };
        bytes = bytes.into_iter().flat_map(wrap).collect();
    }
    bytes
}

#[test]
fn times_is_so_many_runs() {
    for seed in 0..3 {
        let mut wanted = wrapped(seed, 100_000);
        for args in [&["decode"][..], &["decode", "--form", "--keep", "/"], &["decode", "-0"]] {
            let input = wanted.clone();
            for times in 1..=6 {
                wanted = ok(args, &wanted);
                let times = times.to_string();
                let args = [args, &["--times", &times]].concat();
                assert_same(&format!("{args:?}"), &ok(&args, &input), &wanted);
            }
            wanted = input;
        }
    }
    for times in ["0", "-1", "x", "65536"] {
        assert_eq!(run(&["decode", &format!("--times={times}")], "").code, Some(2), "{times}");
    }
    assert_eq!(run("decode --times 2 --until-stable", "").code, Some(2));
}

#[test]
fn until_stable_is_runs_until_nothing_changes() {
    for seed in 3..6 {
        let input = wrapped(seed, 150_000);
        for args in
            [&["decode"][..], &["decode", "--form", "--keep", "/"], &["decode", "-0"], &["decode", "--raw"]]
        {
            let mut wanted = input.clone();
            loop {
                let next = ok(args, &wanted);
                if next == wanted {
                    break;
                }
                wanted = next;
            }
            let args = [args, &["--until-stable"]].concat();
            assert_same(&format!("{args:?}"), &ok(&args, &input), &wanted);
        }
    }
    lines(
        "--until-stable",
        &[
            ("/%25%32%35", "/%"),
            ("%252525252525250A", "%0A"),
            ("%%34%31", "A"),
            ("%25250d%zz", "%0d%zz"),
            ("100%", "100%"),
        ],
    );
}

#[test]
fn until_stable_takes_linear_time() {
    // These 6 MB contain millions of layers, so one pass per layer would take hours.
    for unit in ["25", "%25", "%%25"] {
        let line = ["%", &unit.repeat(1_000_000 / unit.len()), "/\n"].concat();
        let out = ok("decode --until-stable", line.repeat(6));
        assert!(out.ends_with(b"/\n") && out.iter().filter(|&&byte| byte == b'\n').count() == 6);
    }
}

#[test]
fn charsets_take_linear_time() {
    // All bytes of these inputs are invalid, or the charset lacks all characters. Quadratic time would take minutes.
    let value = "%FF".repeat(300_000);
    assert!(ok("decode --charset gbk", &value) == value.as_bytes());
    let replaced = ok("decode --charset gbk --on-invalid-utf8 replace", &value);
    assert!(replaced == "\u{fffd}".repeat(300_000).as_bytes());
    let encoded = ok("encode --charset latin1 --on-invalid-utf8 replace", "你".repeat(300_000));
    assert!(encoded == "%26%2320320%3B".repeat(300_000).as_bytes());
}

#[test]
fn escapes_of_servers() {
    lines(
        "--unescape nginx",
        &[
            (r"\x22a%20b\x22", "\"a b\""),
            (r"\xe4\xBD\xa0%21", "你!"),
            // nginx writes `\` as `\x5C`, so the text after a decoded `\` is not an escape.
            (r"\x5Cx41 \x5cn", r"\x41 \n"),
            // `\xHH` is decoded before `%XX`: it can produce a `%XX`, but a `\xHH` that `%5C` produces stays.
            (r"\x2541 %5Cx41", r"A \x41"),
            // Line ends stay escaped, so that one line does not become several.
            (r"a\x0Ab\x0dc%0A", "a%0Ab%0Dc%0A"),
        ],
    );
    lines(&["--unescape", "NGINX", "--keep", "\""], &[(r"\x22%22\x27", "\"%22'")]);
    lines("--unescape apache", &[(r#"\"a\\\t%20\xc3\xa9"#, "\"a\\\t é")]);
    lines("--unescape haproxy", &[("/caf#C3#A9?x=#22a%20b#23", "/café?x=\"a b#")]);
    assert_eq!(ok("decode --unescape tomcat", r"\u00e9\\"), b"\xE9\\\n");
    assert_eq!(ok("decode", r"\x41"), br"\x41");
    // A line is unreadable if a backslash in it does not begin an escape that the server writes.
    for (line, offset) in [(r"%41\x4", 3), (r"\n", 0), (r"a\", 1), (r"\x41\x4g", 4)] {
        let kept = run("decode --unescape nginx", line);
        assert_eq!((kept.out, kept.code), (format!("{line}\n").into_bytes(), Some(0)), "{line}");
        assert_eq!(
            kept.err,
            "pct: 1 value is unreadable, and stays unchanged; --rejects FILE lists the reasons\n"
        );
        let strict = run("decode --unescape nginx --strict", line);
        let wanted = format!("pct: <stdin>:1: offset {offset}: an escape is malformed\n");
        assert_eq!((strict.err, strict.code), (wanted, Some(1)), "{line}");
        let check = run("check --unescape nginx", line);
        let wanted = format!("<stdin>:1:{offset}: unreadable: an escape is malformed\n");
        assert_eq!(check.text(), wanted, "{line}");
    }
    // The offsets of findings count the bytes of the line, and not those of the value after `--unescape`.
    let check = run("check --unescape nginx --kinds nul", r"a\x22%00");
    assert_eq!(check.text(), "<stdin>:1:5: nul: %00\n");
    assert_eq!(text("get {path}|{query} --unescape haproxy", "/a#22b?x=1"), "/a\"b|x=1\n");
    assert_eq!(text("top {path} --unescape nginx", "/a\\x62\n/ab\n"), "2\t/ab\n");
    assert_eq!(text("dedup --unescape nginx", "/a\\x62\n/ab\n"), "/a\\x62\n");
    assert_eq!(run("decode --unescape envoy", "").code, Some(2));
    assert_eq!(run("decode --unescape nginx --raw", "").code, Some(2));
}

#[test]
fn percent_u_escapes() {
    lines(
        "--percent-u",
        &[
            ("%u4f60%u597D%21", "你好!"),
            ("%uD83D%uDE00", "\u{1F600}"),
            // A surrogate without its other half stays escaped.
            ("%uD83D", "%uD83D"),
            ("%uDE00%uD83D", "%uDE00%uD83D"),
            ("%uD83D%uD83D%uDE00", "%uD83D\u{1F600}"),
            ("%uD83D%20%uDE00", "%uD83D %uDE00"),
            // Texts that only resemble `%uXXXX` stay.
            ("%u %u1 %u123 %u12g4 %U0041", "%u %u1 %u123 %u12g4 %U0041"),
            ("%u00410", "A0"),
            ("%%u0041%2%u0041", "%A%2A"),
            // Line ends stay escaped, both as `%uXXXX` and as `%XX`.
            ("%u000A%u000d%0A", "%u000A%u000d%0A"),
            // Without `--times`, the result of an escape is not decoded again.
            ("%u002541 %25u0041", "%41 %u0041"),
        ],
    );
    lines("--percent-u --times 2", &[("%u002541 %25u0041", "A %u0041")]);
    lines("--percent-u --until-stable", &[("%u0025252541", "A"), ("%4%u0031", "A")]);
    lines("--percent-u --keep /", &[("%u002F%2f%u4E2D", "%u002F%2f中")]);
    // The result agrees with `unescape` of JavaScript.
    lines("--percent-u --charset latin1", &[("%u4F60%E9%u00e9", "你éé")]);
    // With `--charset auto`, each line has its own charset.
    lines(
        "--charset auto",
        &[("caf%C3%A9 %zz", "café %zz"), ("caf%E9%80%zz", "café€%zz"), ("%0A%E9", "%0Aé")],
    );
    lines("--charset AUTO:windows-1251", &[("%CF%F0", "Пр"), ("%D0%9F", "П"), ("%25E9", "%E9")]);
    let long = format!("{}%E9\n%E9\n", "a".repeat(3 << 20));
    let kept = run("decode --charset auto", &long);
    assert!(kept.out == long.replace("%E9\n%E9", "%E9\né").as_bytes());
    assert!(kept.err.contains("the record is longer than 2 MiB"), "{}", kept.err);
    for args in
        [["encode", "auto"], ["decode", "auto:utf-16"], ["decode", "auto:iso-2022-jp"], ["decode", "autos"]]
    {
        assert_eq!(run(&[args[0], "--charset", args[1]], "").code, Some(2), "{args:?}");
    }
    assert_eq!(text("decode", "%u0041"), "%u0041");
}

#[test]
fn charsets_are_decoded() {
    for (charset, input, wanted) in [
        ("gbk", "%C4%E3%BA%C3", "你好"),
        ("GB2312", "%c4%e3", "你"),
        // The second byte of a character may be unescaped: browsers escape no letters.
        ("gbk", "%81a%C4%E3", "乤你"),
        ("shift_jis", "%83e%83X%83g", "テスト"),
        ("sjis", "%93%FA%96%7B", "日本"),
        ("windows-1251", "%CF%F0%E8%E2%E5%F2", "Привет"),
        ("koi8-r", "%F0%D2%C9", "При"),
        ("latin1", "caf%E9%80", "café€"),
        ("big5", "%A7A%A6n", "你好"),
        ("euc-kr", "%C7%D1", "한"),
        ("euc-jp", "%C6%FC", "日"),
        ("gb18030", "%94%39%DA%33", "\u{1F4A9}"),
        ("utf-8", "%C3%A9%E9%f0%9f", "é%E9%F0%9F"),
        // Bytes that are invalid in the charset stay escaped.
        ("gbk", "a%FFb%C4%20c%C4", "a%FFb%C4 c%C4"),
        ("gb18030", "%81%30%81%20", "%810%81 "),
        ("windows-1253", "%D2%C1", "%D2Α"),
        // An escaped line end stays, and so do the unfinished characters around it.
        ("gbk", "%C4%0A%0D%E3", "%C4%0A%0D%E3"),
    ] {
        assert_eq!(text(&["decode", "--charset", charset], input), wanted, "{charset} {input}");
    }
    lines("--charset gbk --times 2", &[("%25C4%25E3", "你"), ("%25C4%E3", "你")]);
    lines("--charset gbk --until-stable", &[("%252525C4%25E3", "你")]);
}

#[test]
fn charsets_are_encoded() {
    for (args, input, wanted) in [
        (&["--charset", "gbk"][..], "你好 a/b\n", "%C4%E3%BA%C3%20a%2Fb\n"),
        (&["--charset", "windows-1251", "--lower"], "Привет", "%cf%f0%e8%e2%e5%f2"),
        (&["--charset", "gbk", "--keep-escapes"], "你%20%\r\n", "%C4%E3%20%25\r\n"),
        (&["--charset", "gbk", "--form"], "你 +\n", "%C4%E3+%2B\n"),
        // Browsers write characters that the charset lacks as escaped numeric references (URL Standard, section 1.3).
        (&["--charset", "shift_jis"], "a\u{1F4A9}b\r\n", "a%26%23128169%3Bb\r\n"),
        (&["--charset", "latin1", "--keep", "&#;"], "\u{1F4A9}\u{1F4A9}", "%26%23128169%3B%26%23128169%3B"),
        (&["--charset", "gbk"], "a\rb\r\u{1F4A9}\r\n", "a%0Db%0D%26%23128169%3B\r\n"),
        (&["--charset", "utf-8"], "你\u{1F4A9}", "%E4%BD%A0%F0%9F%92%A9"),
    ] {
        assert_eq!(text(&[&["encode"], args].concat(), input), wanted, "{args:?} {input:?}");
    }
    assert_eq!(ok("encode --charset gbk", b"\xFF\xE4\xBDa"), b"%FF%E4%BDa");
}

#[test]
fn charsets_go_both_ways() {
    // The text has all characters from U+0020 to U+2FFFF, in lines of a hundred characters.
    let all: String = (0x20..0x30000)
        .filter_map(char::from_u32)
        .flat_map(|c| [Some(c), (c as u32).is_multiple_of(100).then_some('\n')])
        .flatten()
        .collect();
    for label in
        ["gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251", "latin1", "koi8-u"]
    {
        let encoded = text(&["encode", "--charset", label], &all);
        let has: String = encoded.lines().fold(String::new(), |mut text, line| {
            // Removes the numeric references of characters that the charset lacks.
            let mut parts = line.split("%26%23");
            text.push_str(parts.next().unwrap());
            parts.for_each(|part| text.push_str(part.split_once("%3B").unwrap().1));
            text + "\n"
        });
        let decoded = text(&["decode", "--charset", label], &has);
        assert!(decoded.len() > 200, "{label}");
        assert_same(label, text(&["encode", "--charset", label], &decoded).as_bytes(), has.as_bytes());
    }
}

#[test]
fn charsets_make_no_controls_nor_line_ends() {
    // Each line has a non-ASCII byte, any byte, and the first byte again. `--keep` keeps control bytes escaped.
    let all: String =
        (0x80..=0xFF).flat_map(|a| (0..=0xFF).map(move |b| format!("%{a:02X}%{b:02X}%{a:02X}/\n"))).collect();
    let controls: String = (0..0x20).map(|byte| format!("%{byte:02X}")).collect();
    let known = run("decode --charset ?", "").err;
    let names: Vec<_> = known.trim().split_once("known: ").unwrap().1.split(", ").collect();
    assert!(names.len() > 30, "{known}");
    for label in names {
        let out = text(&["decode", "--charset", label, "--keep", &controls], &all);
        assert_eq!(out.lines().count(), all.lines().count(), "{label}");
        assert!(out.lines().all(|line| line.ends_with('/') && !line.contains(|c| c < ' ')), "{label}");
    }
}

#[test]
fn wrong_charsets_are_errors() {
    for (label, wanted) in [
        ("iso-8859-1-stric", "unknown charset 'iso-8859-1-stric'; similar: iso-8859-1-strict"),
        ("gbkk", "unknown charset 'gbkk'; similar: gbk"),
        ("windows1251x", "unknown charset 'windows1251x'; similar: windows-1251"),
        ("?", "unknown charset '?'; known: big5, "),
        ("utf-16", "charset 'utf-16' cannot be used in URLs"),
        ("utf-16be", "charset 'utf-16be' cannot be used in URLs"),
        ("hz-gb-2312", "charset 'hz-gb-2312' cannot be used in URLs"),
    ] {
        for verb in ["encode", "decode"] {
            let Run { out, err, code } = run(&[verb, "--charset", label], "a");
            assert!(err.starts_with(&format!("pct: {wanted}")) && err.lines().count() == 1, "{err}");
            assert_eq!((code, out.len()), (Some(2), 0));
        }
    }
}

/// A label such as `latin1` means windows-1252, as in browsers; the names with `-strict` mean the exact charsets.
#[test]
fn strict_charsets_are_exact() {
    let euro = "%80%E9%C3%A9";
    for label in ["latin1", "iso-8859-1", "us-ascii", "windows-1252"] {
        assert_eq!(text(&["decode", "--charset", label], euro), "€éÃ©", "{label}");
    }
    assert_eq!(text("decode --charset iso-8859-1-strict", euro), "\u{80}éÃ©");
    assert_eq!(text("decode --charset US-ASCII-strict", "%41%80%E9"), "A%80%E9");
    assert_eq!(text("encode --charset iso-8859-1-strict", "é€\u{80}"), "%E9%26%238364%3B%80");
    assert_eq!(text("encode --charset us-ascii-strict", "aé"), "a%26%23233%3B");
}

/// In iso-2022-jp, the meaning of a byte depends on the escape sequences before it in the value.
#[test]
fn iso_2022_jp_is_not_torn_apart() {
    // U+30B3 is 0x25 0x33 between escape sequences, and these bytes are "%3" in ASCII.
    let jp = ["decode", "--charset", "iso-2022-jp"];
    for (more, says) in [
        (&["--keep", "%"][..], "--keep"),
        (&["--field", "1"], "--csv or --jsonl"),
        (&["--field", "1", "-d", ";"], "--csv or --jsonl"),
        (&["--log", "combined"], "--csv or --jsonl"),
    ] {
        let run = run(&[&jp[..], more].concat(), "%1B%24B%25%33%1B%28B\n");
        assert_eq!((run.out.as_slice(), run.code), (&b""[..], Some(2)), "{more:?} {}", run.err);
        assert!(run.err.contains("iso-2022-jp") && run.err.contains(says), "{more:?} {}", run.err);
    }
    let csv =
        ok(&[&jp[..], &["--csv", "--no-header", "--column", "2"]].concat(), "1,%1B%24B%25%33%1B%28B,3\n");
    assert_eq!(csv, "1,\u{30b3},3\n".as_bytes());
}

#[test]
fn iso_2022_jp_is_read_and_written() {
    let jp = ["--charset", "iso-2022-jp"];
    let decode = |args: &[&str], input: &str| text(&[&["decode"], &jp[..], args].concat(), input);
    assert_eq!(decode(&[], "%1B%24B%253%25s%1B%28B+%1B%24B%253%1B%28B"), "コン+コ");
    assert_eq!(decode(&[], "%1B%24B%253\n%41\n"), "コ\nA\n", "a line begins in ASCII");
    // In the Encoding Standard, a line end among two-byte characters is an error. Invalid bytes stay escaped.
    assert_eq!(decode(&["--raw"], "%1B%24B%253%0A%1B%28B"), "コ%0A");
    assert_eq!(
        decode(&["--csv", "--column", "1", "--no-header"], "%1B%24B%253%25s,%1B%24B\n"),
        "コン,%1B%24B\n"
    );
    let encoded = text(&[&["encode"], &jp[..]].concat(), "aコンb\nコ\n");
    assert_eq!(decode(&[], &encoded), "aコンb\nコ\n");
    assert!(encoded.lines().all(|line| line.ends_with("%1B%28B") || line.ends_with("%1B%28Bb")), "{encoded}");
}

/// Reports whether `c` is a control character, which a terminal would obey.
fn is_control(c: char) -> bool {
    (c as u32) < 0x20 || (0x7F..0xA0).contains(&(c as u32))
}

#[test]
fn printable_leaves_no_controls() {
    lines(
        "--printable",
        &[
            ("a%20b%1B%5B2J", "a b%1B[2J"),
            ("%00%09%7f%0A%0D", "%00%09%7F%0A%0D"),
            ("caf%C3%A9%C2%85%C2%9B1m", "café%C2%85%C2%9B1m"),
            ("%9B1m%FF%E4%BD%E9", "%9B1m%FF%E4%BD%E9"),
            ("%E2%80%AEgpj.exe%E2%80%A8", "%E2%80%AEgpj.exe%E2%80%A8"),
            ("%E4%BD%A0%F0%9F%98%80", "你\u{1F600}"),
            // Unescaped control characters are escaped as well, including a CR that is not part of a line end.
            ("\x1B[2J\u{202E}\u{85}\rx", "%1B[2J%E2%80%AE%C2%85%0Dx"),
        ],
    );
    assert_eq!(ok("decode --printable", "a\r\nb\r\r\n\r"), b"a\r\nb%0D\r\n%0D");
    assert_eq!(ok("decode --printable -0", "a%0A\nb%00\0"), b"a%0A%0Ab%00\0");
    assert_eq!(ok("decode --printable --raw", "a\n%0A%41"), b"a%0A%0AA");
    assert_eq!(text("decode --printable --percent-u", "%u001B%u0085%u4F60"), "%1B%C2%85你");
    assert_eq!(text("decode --printable --charset iso-8859-2", "%85%E9"), "%C2%85é");
    assert_eq!(text("decode --printable --unescape nginx", r"\x1B%1b"), "%1B%1B\n");
    assert_eq!(text("decode --printable --until-stable", "%25%31%42"), "%1B");

    let all: Vec<u8> = (0..=255).collect();
    let words: Vec<_> = tangle(5, 200_000).into_iter().chain(all.repeat(300)).collect();
    let input: Vec<u8> = words.into_iter().filter(|&byte| byte != b'\r').collect();
    let out = ok("decode --printable", &input);
    let printed = std::str::from_utf8(&out).unwrap();
    assert!(printed.chars().all(|c| c == '\n' || !is_control(c)));
    // `--printable` loses nothing: decoding its output is the same as decoding the input twice.
    assert_same("again", &ok("decode", printed), &ok("decode --times 2", &input));
}

/// Commands whose result for a byte depends on the bytes around it: a cut in the wrong place would change the output.
const LOOKING: &[&[&str]] = &[
    &["decode", "--times", "2"],
    &["decode", "--until-stable", "--form"],
    &["decode", "--printable"],
    &["decode", "--percent-u", "--until-stable", "--charset", "gbk", "--printable"],
    &["decode", "--charset", "gb18030"],
    &["decode", "--charset", "shift_jis", "--raw"],
    &["decode", "--charset", "big5", "-0"],
    &["encode", "--charset", "gbk"],
    &["encode", "--charset", "gb18030", "--keep-escapes"],
];

fn looked_at(seed: u64, len: usize) -> Vec<u8> {
    let words = words_of(b"\\x41,\\x,%u4F60,%uD83D%uDE00,%C4,%E3,%81,0,a,\xC3\xA9\xE4\xBD\xA0,%25");
    let mut numbers = Numbers(seed);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        bytes.extend(tangle(numbers.next(), 40));
        (0..numbers.next() % 9).for_each(|_| bytes.extend_from_slice(numbers.pick(&words)));
    }
    bytes
}

#[test]
fn pieces_do_not_show() {
    for (chunk, len) in [(1, 3_000), (3, 9_000), (4093, 200_000), (65_536, 400_000)] {
        let input = looked_at(chunk as u64, len);
        for args in LOOKING {
            // One run for each line would take too long, so each run gets a few lines.
            let wanted: Vec<u8> = input
                .split_inclusive(|&byte| byte == b'\n')
                .collect::<Vec<_>>()
                .chunks(1 + len / 4_000)
                .filter(|_| !args.contains(&"--raw") && !args.contains(&"-0"))
                .flat_map(|lines| ok(args, lines.concat()))
                .collect();
            let Run { out, err, code } = run_in_chunks(args, &input, chunk);
            assert_eq!((err.as_str(), code), ("", Some(0)), "{args:?}");
            if !wanted.is_empty() {
                assert_same(&format!("{args:?} in pieces of {chunk}"), &out, &wanted);
            }
            let whole = ok(args, &input);
            assert_same(&format!("{args:?} in pieces of {chunk}"), &out, &whole);
        }
    }
}

#[test]
fn long_lines_are_cut_where_it_does_not_show() {
    for end in ["%20", "%2520", "%252F", "/", "yz", "\u{e9}yz"] {
        let unit = ["%C4%E3%25%34%31\\x41%u4F60", end].concat().repeat(10);
        for args in LOOKING {
            let one = ok(args, &unit);
            let many = ok(args, unit.repeat(5_000));
            assert_same(&format!("{args:?}"), &many, &one.repeat(5_000));
        }
    }
}

/// Decodes `input` in `times` separate passes.
fn naive_times(input: &[u8], times: usize) -> Vec<u8> {
    (0..times).fold(input.to_vec(), |bytes, _| naive::decode(&bytes, b"\r\n"))
}

/// A long value is converted as a whole.
#[test]
fn a_value_of_megabytes_is_one_value() {
    const MIB: usize = 1 << 20;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    let name = path.to_str().unwrap();
    let same = |bytes: &[u8]| bytes.to_vec();
    let to = |with: &'static str, unit: usize| move |bytes: &[u8]| with.as_bytes().repeat(bytes.len() / unit);
    type Naive<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;
    let rows: &[(&[&str], &str, Naive<'_>)] = &[
        (&["--until-stable"], "ab12", &same),
        (&["--times", "3"], "ab12", &same),
        (&["--percent-u"], "ab12", &same),
        (&["--charset", "gbk"], "ab12", &same),
        (&["--printable"], "ab12", &same),
        (&["--until-stable"], "%2541", &to("A", 5)),
        (&["--times", "2"], "%%34%31%2542%25", &|bytes| naive_times(bytes, 2)),
        (&["--times", "3"], "%25%34%32%252%35", &|bytes| naive_times(bytes, 3)),
        (&["--times", "2", "--form"], "%2B+%252B", &to("  +", 9)),
        (&["--charset", "gbk"], "%C4%E3", &to("你", 6)),
        (&["--charset", "gbk", "--percent-u"], "%C4%E3%u4F60", &to("你你", 12)),
        // A letter separates the repetitions, because two escape sequences in a row are an error in the Encoding Standard.
        (&["--charset", "iso-2022-jp"], "%1B%24B%25%33%1B%28Ba", &to("コa", 21)),
        (&["--charset", "us-ascii-strict"], "%41%C4", &to("A%C4", 6)),
        (&["--percent-u"], "%uD83D%uDE00", &to("\u{1F600}", 12)),
        (&["--printable"], "%E4%BD%A0%00ab", &to("你%00ab", 14)),
    ];
    for (args, unit, naive) in rows {
        for len in [MIB - unit.len(), MIB + 1, 3 * MIB + 12_345] {
            let long = unit.as_bytes().repeat(len / unit.len());
            for ends in [["a b\nxyz/", "\n%43"], ["", ""]] {
                let input = [ends[0].as_bytes(), &long, ends[1].as_bytes()].concat();
                fs::write(&path, &input).unwrap();
                let wanted =
                    [ends[0].as_bytes(), &naive(&long), ends[1].replace("%43", "C").as_bytes()].concat();
                let more: &[&[&str]] = if len < MIB || ends[0].is_empty() {
                    &[&["-j1"]]
                } else {
                    &[&["-j1"], &["-j3"], &["--strict"], &["--on-invalid-utf8", "drop"]]
                };
                for more in more {
                    // Skips units with bytes that these options reject: invalid bytes of the charset, or malformed escapes.
                    if more.len() > 1 && args.contains(&"us-ascii-strict")
                        || more == &["--strict"] && unit.contains("%%")
                    {
                        continue;
                    }
                    let out = ok(&[&["decode", "--max-record", "4", name], *args, more].concat(), "");
                    assert_same(&format!("{args:?} {more:?} {unit} {len}"), &out, &wanted);
                }
            }
        }
    }
    // One escape is nested in up to two million layers.
    for layers in [1_000, MIB / 2 - 10, MIB / 2 + 10, 2 * MIB] {
        let deep = |layers: usize| format!("%{}41", "25".repeat(layers - 1));
        fs::write(&path, deep(layers)).unwrap();
        assert_eq!(ok(&["decode", "--max-record", "8", "--until-stable", name], ""), b"A", "{layers}");
        let twice = ok(&["decode", "--max-record", "8", "--times", "2", name], "");
        assert_same(&format!("{layers}"), &twice, deep(layers - 2).as_bytes());
    }
    // The error message names the line and offset of the malformed escape, and the lines before it are written.
    let long = "ab12".repeat(300_000);
    fs::write(&path, format!("a\n{long}%4\n")).unwrap();
    let run = run(&["decode", "--times", "2", "--strict", name], "");
    let wanted =
        format!("pct: {name}:2: offset 1200002: malformed escape: '\\n' is not a hexadecimal digit\n");
    assert_eq!((run.err, run.code), (wanted, Some(1)));
    assert_same("before it", &run.out, b"a\n");
}

#[test]
fn strict_looks_at_what_is_read() {
    let strict = |args: &[&str], input: &str| run(&[&["decode", "--strict"], args].concat(), input);
    for (args, input, line, offset, byte, out) in [
        (&["--times", "2"][..], "a%20\nb%2541%zz%41", 2, 11, "z", "a \n"),
        (&["--until-stable"], "%252541\n%4\n", 2, 8, "\\n", "A\n"),
        (&["--percent-u"], "%u4F60%uD83Dx", 1, 6, "u", ""),
        (&["--printable"], "%00%x", 1, 3, "x", ""),
        (&["--charset", "gbk"], "%C4%E3%x", 1, 6, "x", ""),
    ] {
        let wanted = format!(
            "pct: <stdin>:{line}: offset {offset}: malformed escape: '{byte}' is not a hexadecimal digit\n"
        );
        assert_eq!(
            strict(args, input),
            Run { out: out.into(), err: wanted, code: Some(1) },
            "{args:?} {input}"
        );
    }
    for (args, input) in [
        (&["--until-stable"][..], "100%25"),
        (&["--times", "3"], "%25zz"),
        (&["--percent-u"], "%u4F60%u000A"),
        (&["--unescape", "nginx"], r"\x2541"),
        (&["--charset", "gbk"], "%FF"),
    ] {
        assert_eq!(strict(args, input).code, Some(0), "{args:?} {input}");
    }
}
