//! Tests the treatment of bad values: policies, the file of rejects, and the summary.

use std::fs;
use std::process::Stdio;

use crate::support::{
    Numbers, Run, assert_same, command, done, exit_status, file, folder, ok, refused, run, tangle, text,
};

const LINES: &str = "%41\n%zz%42%\r\n%FF%43\n%zz%FF\n%44";

#[test]
fn malformed_escapes_are_treated_as_asked() {
    for (policy, wanted) in [
        ("keep", &b"A\n%zzB%\r\n\xFFC\n%zz\xFF\nD"[..]),
        ("replace", b"A\n%25zzB%25\r\n\xFFC\n%25zz\xFF\nD"),
        ("empty", b"A\n\r\n\xFFC\n\nD"),
        ("drop", b"A\n\xFFC\nD"),
    ] {
        assert_eq!(done(&["decode", "-q", "--on-malformed", policy], LINES), wanted, "{policy}");
    }
    assert_eq!(ok("normalize --on-malformed replace", "%zz%7e%2f\n%"), b"%25zz~%2F\n%25");
    let Run { out, err, code } = run("decode --on-malformed fail --stats=json", LINES);
    assert_eq!((out, code), (b"A\n".to_vec(), Some(1)));
    assert!(
        err.contains("pct: <stdin>:2: offset 4: malformed escape: 'z' is not a hexadecimal digit\n"),
        "{err}"
    );
}

#[test]
fn what_is_not_utf8_is_treated_as_asked() {
    for (policy, wanted) in [
        ("keep", &b"A\n%zzB%\r\n\xFFC\n%zz\xFF\nD"[..]),
        ("replace", "A\n%zzB%\r\n\u{fffd}C\n%zz\u{fffd}\nD".as_bytes()),
        ("empty", b"A\n%zzB%\r\n\n\nD"),
        ("drop", b"A\n%zzB%\r\nD"),
    ] {
        assert_eq!(done(&["decode", "-q", "--on-invalid-utf8", policy], LINES), wanted, "{policy}");
    }
    let Run { out, err, code } = run("decode --on-invalid-utf8 fail", LINES);
    assert_eq!((out, code), (b"A\n%zzB%\r\n".to_vec(), Some(1)));
    assert_eq!(err, "pct: <stdin>:3: offset 13: not UTF-8\n");
    // Malformed escapes and invalid UTF-8 can have different policies in one run.
    let args = ["decode", "--on-malformed", "replace", "--on-invalid-utf8", "drop"];
    assert_eq!(run(&args, LINES).out, b"A\n%25zzB%25\r\nD");
    // Records that are left out are counted.
    let all = "3 records have a malformed escape or invalid bytes, and are left out";
    for (options, said) in [
        ("--on-malformed drop", "2 records have a malformed escape, and are left out"),
        ("--on-invalid-utf8 drop", "2 records have invalid bytes, and are left out"),
        ("--on-malformed replace --on-invalid-utf8 drop", "2 records have invalid bytes, and are left out"),
        ("--on-malformed drop --on-invalid-utf8 drop", all),
        ("--on-malformed drop --field 1 -e %zz", "1 record has a malformed escape, and is left out"),
        ("--on-malformed drop -q", "2 records have a malformed escape, and are left out"),
        ("--on-malformed empty", "2 values have a malformed escape, and nothing is written instead"),
    ] {
        let wanted = format!("pct: {said}; --rejects FILE lists the reasons\n");
        assert_eq!(run(&format!("decode {options}"), LINES).err, wanted, "{options}");
    }
}

/// Returns the first word after `start` in each line of `help` that begins with `start`.
fn first_words<'h>(help: &'h str, start: &str) -> Vec<&'h str> {
    let rest = help.lines().filter_map(|line| line.strip_prefix(start));
    rest.filter_map(|rest| rest.split([' ', ':']).next()).filter(|word| !word.is_empty()).collect()
}

/// Returns lists of options, each with an input from which these options select the lines of `values`. The last record
/// of the input is unreadable. If each value is a row (`is_row`), the options select whole lines.
fn places(values: &[u8], is_row: bool) -> Vec<(&'static [&'static str], Vec<u8>)> {
    let each = |before: &str, after: &str, last: &str| {
        let lines = values.split(|&byte| byte == b'\n');
        let lines = lines.flat_map(|value| [before.as_bytes(), value, after.as_bytes(), b"\n"].concat());
        lines.chain(last.bytes()).collect::<Vec<u8>>()
    };
    let too_long = "a".repeat(2 << 20);
    let mut places = vec![(&["--max-record", "1"][..], each("", "", &too_long))];
    if !is_row {
        let json = String::from_utf8_lossy(&each("{\"u\":\"", "\"}", "no json\n")).into_owned();
        places.extend([
            (&["--jsonl", "--key", "u"][..], json.into_bytes()),
            (&["--csv", "--no-header", "--column", "1"], each("", ",", "\"open\n")),
            (&["--logfmt", "--key", "u"], each("u=", "", "u=\"open\n")),
            (
                &["--log", "common"],
                each("1 - - [10/Oct/2000:13:55:36 -0700] \"GET ", " HTTP/1.1\" 200 1", "no log\n"),
            ),
        ]);
    }
    places
}

/// Tests that each policy in the help of a command gives another result than `keep`, or is rejected as an option,
/// wherever the values are. Each row has arguments, and a value with faults: a malformed escape, and escaped and
/// unescaped invalid UTF-8. Some arguments of `join` have faults, too.
#[test]
fn every_policy_of_every_verb_does_something_or_is_refused() {
    let url = b"//a/%zz\xFF?q=%zz%FF\xFF#%zz\xFF";
    let row = b"http\t\ta\t\t/%zz\xFF\tq=1\t";
    let forms: &[(&[&str], &[u8])] = &[
        (&["encode"], url),
        (&["encode", "--url"], url),
        (&["encode", "--keep-escapes"], url),
        (&["encode", "--charset", "gbk"], url),
        (&["encode", "--charset", "latin1"], url),
        (&["decode"], url),
        (&["decode", "--url"], url),
        (&["decode", "--path"], url),
        (&["decode", "--query"], url),
        (&["decode", "--charset", "utf-8"], url),
        (&["decode", "--form", "--until-stable"], url),
        (&["normalize"], url),
        (&["normalize", "--dialect", "rfc1738"], url),
        (&["normalize", "--profile", "rfc3986"], url),
        (&["edit", "--drop-query", "a"], url),
        (&["normalize", "--profile", "whatwg"], b"http://a/%zz\nhttp://b/\xFF"),
        (&["split"], url),
        (&["split", "--format", "jsonl"], url),
        (&["split", "--decode", "--parts", "query:q"], url),
        (&["split", "--decode", "--parts", "query:q", "--format", "jsonl"], url),
        (&["get", "{query:q}"], url),
        (&["get", "--decode", "{query:q}"], url),
        (&["get", "--decode", "{path}"], url),
        (&["join"], row),
        (&["join", "--encode"], row),
        (&["join", "query=%zz"], b""),
        (&["join", "query=%zz", "-"], b"http\t\ta"),
        (&["join", "--from", "jsonl", "path=/%zz", "-"], b"{\"host\":\"a\"}"),
        (&["resolve", "--base", "http://b/"], url),
        (&["resolve", "--standard", "--base", "http://b/"], b"/%zz\n/\xFF"),
        (&["iri"], url),
        (&["uri"], url),
        (&["form"], b"q=%zz%FF"),
        (&["form", "--format", "jsonl"], b"q=%zz%FF"),
        (&["form", "--format", "csv", "--charset", "gbk"], b"q=%zz%FF"),
        (&["form", "--from", "tsv"], b"q\t%zz\xFF"),
    ];
    let main = text("help", "");
    let (_, verbs) = main.split_once("Commands:\n").unwrap();
    let mut seen = 0;
    let verbs = first_words(verbs.split("\n\n").next().unwrap(), "  ");
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        let help = text(&["help", verb], "");
        let sections = help.split("\n      --").filter(|section| section.starts_with("on-"));
        for section in sections {
            let option = format!("--{}", section.split(' ').next().unwrap());
            let policies = first_words(section, "          - ");
            assert!(policies.contains(&"keep") && policies.len() > 3, "{section}");
            let mut forms = forms.iter().filter(|(form, _)| form[0] == verb).peekable();
            assert!(forms.peek().is_some(), "a row for {verb} is missing here");
            for &(form, value) in forms {
                let is_row = ["join", "form"].contains(&verb);
                for (options, input) in places(value, is_row) {
                    // JSON and arguments contain no invalid UTF-8.
                    let is_text = options.contains(&"--jsonl")
                        || form.contains(&"query=%zz")
                        || form.contains(&"path=/%zz");
                    if option == "--on-invalid-utf8" && is_text {
                        continue;
                    }
                    // These commands need `--values` here, and an unreadable record has no result to write.
                    let needs_values = verb == "get" && options.contains(&"--csv")
                        || verb == "split" && options.contains(&"--log");
                    if needs_values && option == "--on-rejected" {
                        continue;
                    }
                    let alone = if needs_values { &["--values"][..] } else { &[] };
                    let result = |policy: &str| {
                        run(&[form, options, alone, &["-q", &option, policy]].concat(), &input)
                    };
                    let kept = result("keep");
                    for policy in policies.iter().filter(|policy| **policy != "keep") {
                        let Run { out, err, code } = result(policy);
                        let is_refused = code == Some(2) && err.contains(&option);
                        assert!(
                            is_refused || (&out, code) != (&kept.out, kept.code),
                            "{form:?} {options:?} {option} {policy} does nothing: {err}"
                        );
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 900, "{seen}");
}

/// With `--on-malformed replace`, a command that decodes a value writes `%25` for the `%` of a malformed escape in it.
#[test]
fn conversions_that_decode_repair_malformed_escapes() {
    for (args, input, wanted) in [
        (&["decode", "--url"][..], "/%41%zz%2525%2F%", "/A%25zz%25%2F%25"),
        // In TSV, a `%25` of the text is itself escaped.
        (&["form"], "a%=%zz%2541", "a%2525\t%2525zz%41"),
        (&["form", "--format", "jsonl"], "a=%zz", "[[\"a\",\"%25zz\"]]"),
        (&["split", "--decode", "--parts", "path,query:q"], "/%zz%2541?q=%zz%2541", "/%25zz%2541\t%25zz%41"),
        (&["get", "--decode", "{query:q} {fragment}"], "?q=%zz#%4", "%25zz %254"),
    ] {
        assert_eq!(text(&[args, &["--on-malformed", "replace"]].concat(), input), wanted, "{args:?}");
    }
}

/// A relative reference is still a relative reference after decoding: it gets no scheme and, in browsers, no host.
#[test]
fn decoding_a_part_of_a_url_creates_no_scheme_or_host() {
    for (args, url, wanted) in [
        (&["decode", "--path"][..], "javascript%3Aalert(1)", "javascript%3Aalert(1)"),
        (&["decode", "--path"], "a%3a%20b/c%3Ad", "a%3a b/c:d"),
        (&["decode", "--path"], "%41:x%20/%41", "%41:x%20/A"),
        (&["decode", "--path"], "/a%3Ab", "/a:b"),
        (&["decode", "--path"], "/%5Cb%20/%09/c%0D%5c?%5C", "/%5Cb /%09/c%0D%5c?%5C"),
        (&["decode", "--path", "--charset", "gbk"], "/%5C/%95%5C", "/%5C/昞"),
        (&["decode", "--path"], "http://a/b%3Ac", "http://a/b:c"),
        (&["decode", "--path"], "mailto:a%3Ab", "mailto:a:b"),
        (&["decode", "--path", "--times", "3"], "a%25253Ab", "a%3Ab"),
        (&["decode", "--path", "--unescape", "nginx"], "a\\x3Ab\n", "a:b\n"),
        (&["decode", "--url"], "%41:x%41", "%41:xA"),
        (&["decode", "--url"], "%21:x%20%41", "%21:x A"),
        (&["normalize"], "%68ttp://a/%41", "%68ttp://a/A"),
        (&["normalize"], "%6aava%73cript:%41", "%6Aava%73cript:A"),
        (
            &["normalize"],
            "%41:x\n%42:%43\nhttp://a/%41:x\n%41/b:c\n%2D:x",
            "%41:x\n%42:C\nhttp://a/A:x\nA/b:c\n-:x",
        ),
        (&["normalize", "-0"], "%41:x\0_\n%41:x\0\n%41:x", "%41:x\0_\nA:x\0\n%41:x"),
        (&["normalize"], " %68ttp://a/%41\n\u{1}h%74\ttp:%41", " %68ttp://a/A\n\u{1}h%74\ttp:A"),
        (&["normalize", "--dialect", "rfc1738"], "a%2B:%41", "a%2B:A"),
        (&["normalize", "--on-malformed", "replace"], "%zz\n%41:%zz", "%25zz\n%41:%25zz"),
        (&["normalize", "--jsonl", "--key", "u"], "{\"u\":\"%41:%42\"}", "{\"u\":\"%41:B\"}"),
        (&["normalize", "--profile", "escapes"], "%41:%42\njava%73cript:x", "%41:B\njava%73cript:x"),
        (&["normalize", "--profile", "rfc3986"], "%41:%42", "./A:B"),
        (&["normalize", "--profile", "rfc3986-scheme"], " %68ttp://a/%41", " %68ttp://a/A"),
    ] {
        assert_eq!(text(args, url), wanted, "{args:?} {url}");
    }
    let long = "%41:".repeat(1 << 20);
    let args = ["normalize", "--max-record", "8"];
    assert_same("long", &ok(&args, &long), format!("%41:{}", "A:".repeat((1 << 20) - 1)).as_bytes());
}

#[test]
fn dropped_records_leave_nothing_behind() {
    let args = ["decode", "-q", "--tsv", "--field", "1,3", "--on-malformed", "drop"];
    assert_eq!(done(&args, "%41\t%41\t%41\n%41\tx\t%zz\n%zz\tx\n%42\n"), b"A\t%41\tA\nB\n");
    let args = ["decode", "--field", "2,3", "--on-malformed", "empty"];
    assert_eq!(done(&args, "a %zz %41\n"), b"a - A\n");
}

#[test]
fn emptied_values_are_counted() {
    for (args, input, wanted, said) in [
        ("--field 2", "a %zz\nb %41\n", "a -\nb A\n", "1 value has a malformed escape, and \"-\" is written"),
        (
            "--field 2,1 -q",
            "%zz %FF\nb %zz\n",
            "- %FF\nb -\n",
            "2 values have a malformed escape, and \"-\" is",
        ),
        ("", "%zz\n%41\n", "\nA\n", "1 value has a malformed escape, and nothing is written instead; "),
        (
            "--jsonl --key u",
            "{\"u\":\"%zz\"}\n",
            "{\"u\":\"\"}\n",
            "1 value has a malformed escape, and nothing is",
        ),
        (
            "--on-invalid-utf8 empty",
            "%zz\n%FF\n",
            "\n\n",
            "2 values have a malformed escape or invalid bytes, and nothing",
        ),
    ] {
        let Run { out, err, code } = run(&format!("decode --on-malformed empty {args}"), input);
        let wanted = wanted.replace("%FF", "\u{fffd}");
        assert_eq!(String::from_utf8_lossy(&out), wanted, "{err}");
        assert!(err.starts_with(&format!("pct: {said}")) && err.lines().count() == 1, "{err}");
        assert_eq!(code, Some(0));
    }
    let Run { err, .. } = run("decode --on-invalid-utf8 empty", "%FF\n");
    assert_eq!(
        err,
        "pct: 1 value has invalid bytes, and nothing is written instead; --rejects FILE lists the reasons\n"
    );
    assert_eq!(
        done("split --parts fragment --format jsonl --decode --on-malformed empty", "#%zz\n"),
        b"null\n"
    );
}

#[test]
fn rejects_have_place_reason_and_record() {
    let dir = tempfile::tempdir().unwrap();
    let (input, rejects) = (dir.path().join("in"), dir.path().join("rejects"));
    let lines = b"x %41\nx\\\x02y\x01\xFF\xC3\xA9 a%zz%z\r\nx %42\nx %FF\n";
    fs::write(&input, lines).unwrap();
    let (name, file) = (input.to_str().unwrap(), rejects.to_str().unwrap());
    for jobs in ["-j1", "-j4"] {
        let out = ok(&["decode", "--quiet", jobs, "--field", "2,3", "--rejects", file, name], "");
        assert_eq!(out, b"x A\nx\\\x02y\x01\xFF\xC3\xA9 a%zz%z\r\nx B\nx \xFF\n");
        let wanted = [
            format!(
                "{name}:2:16: malformed escape: 'z' is not a hexadecimal digit: x\\\\\\x02y\\x01\\xffé a%zz%z\n"
            ),
            format!("{name}:4:31: not UTF-8: x %FF\n"),
        ];
        assert_eq!(fs::read_to_string(&rejects).unwrap(), wanted.concat());
    }
    // If the run fails, the file of rejects keeps its old content.
    fs::write(&rejects, "old").unwrap();
    assert_eq!(run(&["decode", "--strict", "--field", "2,3", "--rejects", file, name], "").code, Some(1));
    assert_eq!(fs::read_to_string(&rejects).unwrap(), "old");
    // So it does if all inputs fail.
    for args in [
        &["decode", "gone"][..],
        &["decode", "-i", "gone"],
        &["dedup", "gone"],
        &["decode", "--csv", "--column", "u", name],
    ] {
        assert_eq!(run(&[args, &["--rejects", file]].concat(), "").code, Some(2), "{args:?}");
        assert_eq!(fs::read_to_string(&rejects).unwrap(), "old", "{args:?}");
    }
    assert_eq!(run(&["decode", "--rejects", file, "gone", name], "").code, Some(2));
    assert_eq!(fs::read_to_string(&rejects).unwrap().lines().count(), 2);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    run(&["decode", "--rejects", file, "-o", file, name], "")
        .says("pct: --output and --rejects are the same file\n", 2);
}

#[test]
fn the_summary_counts() {
    let input = "%41 %2541\nx %zz%25\ny %FF\nz\n";
    let Run { out, err, code } = run("decode --field 2 --on-malformed drop --stats=json", input);
    assert_eq!((out.as_slice(), code), (&b"%41 %41\ny \xFF\nz\n"[..], Some(0)));
    assert_eq!(
        err,
        "{\"records\":4,\"dropped\":1,\"bytes_in\":27,\"bytes_out\":14,\"values\":3,\"changed\":2,\"escapes\":3,\
         \"malformed\":1,\"invalid_utf8\":1,\"double_encoded\":1,\"rejected\":0,\"unreadable\":0,\"layers\":1}\n"
    );
    let text = run("decode --jsonl --key u --stats", "{\"u\":\"%41\"}\nnope\n").err;
    let count = |name| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    assert_eq!((count("records"), count("changed"), count("unreadable")), (Some("2"), Some("1"), Some("1")));
}

#[test]
fn both_repairs_are_made_whatever_else_is_done() {
    let both = ["--on-malformed", "replace", "--on-invalid-utf8", "replace"];
    for (args, line, wanted) in [
        (&[][..], &b"%zz\xFF%41"[..], "%25zz\u{fffd}A"),
        (&["--printable"], b"%zz\xFF%41%00", "%25zz\u{fffd}A%00"),
        (&["--printable"], b"%FF%1B", "\u{fffd}%1B"),
        (&["--charset", "gbk"], b"%C4%E3%FF%zz%C4", "你\u{fffd}%25zz\u{fffd}"),
        (&["--charset", "utf-8", "--printable"], b"%C3%A9%C3%zz%00", "é\u{fffd}%25zz%00"),
        (&["--unescape", "nginx"], b"\\x25zz%41\\xFF", "%25zzA\u{fffd}\n"),
        (&["--charset", "shift_jis"], b"%zz%83e%83%", "%25zzテ\u{fffd}%25"),
        (&["--times", "2"], b"%zz%2541%25FF", "%25zzA\u{fffd}"),
        (&["--until-stable"], b"%zz%252541%25FF", "%25zzA\u{fffd}"),
        (&["--percent-u"], b"%u4F60%uD800%zz%FF", "你%25uD800%25zz\u{fffd}"),
        (&["--form"], b"+%zz+%FF", " %25zz \u{fffd}"),
    ] {
        let out = ok(&[&["decode"], &both[..], args].concat(), line);
        assert_eq!(String::from_utf8_lossy(&out), wanted, "{args:?}");
    }
    let keep = ["decode", "--charset", "gbk", "--on-invalid-utf8", "keep", "--on-malformed", "replace"];
    assert_eq!(ok(&keep, b"%C4%E3%FF%zz"), "你%FF%25zz".as_bytes());
    let encode = ["encode", "--on-invalid-utf8", "replace"];
    assert_eq!(ok(&encode, b"a\xFF/"), b"a%EF%BF%BD%2F");
    let encode = [&encode[..], &["--charset", "windows-1251"]].concat();
    assert_eq!(ok(&encode, b"\xD0\xAF\xFF/"), b"%DF%26%2365533%3B%2F");
}

#[test]
fn records_that_are_too_long_are_refused() {
    let long = "%41,".repeat(300_000);
    let input = format!("%41,%41\n{long}\n%42,%42\n");
    let refused = "pct: <stdin>: offset 8: the record is longer than 1 MiB (--max-record), and ";
    for jobs in ["-j1", "-j3"] {
        let args = ["decode", "--field", "1", "-d", ",", "--max-record", "1", jobs];
        let kept = run(&args, &input);
        assert!(kept.out == format!("A,%41\n{long}\nB,%42\n").into_bytes());
        assert_eq!((kept.err, kept.code), (format!("{refused}stays as it is\n"), Some(0)));
        let dropped = run(&[&args[..], &["--on-rejected", "drop"]].concat(), &input);
        assert_eq!(dropped.out, b"A,%41\nB,%42\n");
        assert_eq!((dropped.err, dropped.code), (format!("{refused}is left out\n"), Some(0)));
        let run = run(&[&args[..], &["--on-rejected", "fail"]].concat(), &input);
        let wanted = "pct: <stdin>:2: offset 8: the record is longer than 1 MiB (--max-record)\n";
        assert_eq!((run.out.as_slice(), run.err.as_str(), run.code), (&b"A,%41\n"[..], wanted, Some(1)));
        let args = ["decode", "--field", "1", "-d", ",", jobs];
        assert!(ok(&args, &input) == format!("A,%41\nA,{}\nB,%42\n", &long[4..]).into_bytes());
    }
    let csv = format!("u,v\n\"{}\n\",%41\n%42,1\n", "\"\"".repeat(900_000));
    let run = run("decode --csv --column u --max-record 1", &csv);
    assert!(run.out == csv.replace("%42", "B").into_bytes());
    assert!(run.err.contains("stays as it is"), "{}", run.err);
}

/// The plain codec converts lines of any length. To all other conversions, a line above `--max-record` is unreadable.
#[test]
fn only_the_plain_codec_converts_lines_of_any_length() {
    let long = "%E4%BD%A0%2541 a+b%u4F60".repeat(100_000);
    let input = |end: &str| format!("%41{end}{long}{end}%42");
    for args in [
        &["decode"][..],
        &["decode", "--form", "--keep", "/"],
        &["encode"],
        &["encode", "--keep-escapes", "--lower"],
        &["encode", "--escape", "none", "--form"],
        &["normalize", "--raw"],
        &["decode", "--raw"],
    ] {
        for end in ["\n", "\r\n", "\0"] {
            let null: &[&str] = if end == "\0" && !args.contains(&"--raw") { &["-0"] } else { &[] };
            let outcome = |limit| ok(&[args, null, &["--max-record", limit]].concat(), input(end));
            assert_same(&format!("{args:?}"), &outcome("1"), &outcome("64"));
        }
        refused(&[args, &["--on-rejected", "drop"]].concat(), "", "--on-rejected");
    }
    let said = "pct: <stdin>: offset 4: the record is longer than 1 MiB (--max-record), and ";
    for args in [
        &["decode", "--on-malformed", "replace"][..],
        &["decode", "--on-malformed", "drop"],
        &["decode", "--on-invalid-utf8", "empty"],
        &["decode", "--times", "2"],
        &["decode", "--until-stable"],
        &["decode", "--percent-u"],
        &["decode", "--printable"],
        &["decode", "--charset", "gbk"],
        &["decode", "--query"],
        &["decode", "--url"],
        &["encode", "--charset", "gbk"],
        &["encode", "--on-invalid-utf8", "drop"],
        &["encode", "--url"],
        &["normalize"],
        &["normalize", "--on-malformed", "replace"],
        &["normalize", "--profile", "rfc3986"],
    ] {
        let short = run(args, "%41\n");
        for (policy, outcome, wanted) in [
            ("keep", "stays as it is", format!("{long}\n")),
            ("drop", "is left out", String::new()),
            ("null", "is now empty, or null in JSON", "\n".to_owned()),
        ] {
            for jobs in ["-j1", "-j3"] {
                let more = ["--max-record", "1", "--on-rejected", policy, jobs];
                let got = run(&[args, &more].concat(), format!("%41\n{long}\n%41\n"));
                let wanted = [&short.out[..], wanted.as_bytes(), &short.out].concat();
                assert_same(&format!("{args:?} {policy}"), &got.out, &wanted);
                assert_eq!((got.err, got.code), (format!("{said}{outcome}\n"), Some(0)), "{args:?}");
            }
        }
        let fails =
            run(&[args, &["--max-record", "1", "--on-rejected", "fail"]].concat(), format!("%41\n{long}"));
        let wanted = "pct: <stdin>:2: offset 4: the record is longer than 1 MiB (--max-record)\n";
        assert_eq!((fails.out, fails.err.as_str(), fails.code), (short.out, wanted, Some(1)), "{args:?}");
        // With `--raw`, the whole input is one record, which can be too long as well.
        if args != ["normalize"] && run(&[args, &["--raw"]].concat(), "").code == Some(0) {
            let raw = run(&[args, &["--raw", "--max-record", "1"]].concat(), format!("a\n{long}"));
            assert_same(&format!("{args:?}"), &raw.out, format!("a\n{long}").as_bytes());
            let said = said.replace('4', "0");
            assert_eq!((raw.err, raw.code), (format!("{said}stays as it is\n"), Some(0)), "{args:?}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rejects");
    let args = ["decode", "--rejects", file.to_str().unwrap(), "--stats=json", "--max-record", "1"];
    let Run { err, .. } = run(&args, format!("%41\n{long}\n%zz\n"));
    assert!(err.contains("pct: <stdin>:2: offset 4: the record is longer than 1 MiB"), "{err}");
    assert!(err.contains("\"malformed\":1") && err.contains("\"unreadable\":1"), "{err}");
    let listed = fs::read_to_string(&file).unwrap();
    let reasons: Vec<_> = listed.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(reasons, ["the record is longer than 1 MiB (--max-record)", "malformed escape"]);
}

/// Two names of one file, such as a link and its target, count as the same file.
#[cfg(unix)]
#[test]
fn rejects_may_not_be_a_file_of_the_run() {
    use std::os::unix::fs::symlink;
    let (dir, path) = folder();
    fs::write(path("in"), "%41\n%zz\n").unwrap();
    fs::write(path("list"), path("hard") + "\n").unwrap();
    fs::hard_link(path("in"), path("hard")).unwrap();
    symlink("in", path("soft")).unwrap();
    let dotted = format!("{}/./new", dir.path().display());
    for args in [
        &["--rejects", &path("in"), &path("in")][..],
        &["--rejects", &path("soft"), &path("in")],
        &["--rejects", &path("hard"), &path("in")],
        &["--rejects", &path("in"), "--files-from", &path("list")],
        &["-i", "--rejects", &path("soft"), &path("in")],
        &["-i=.bak", "--rejects", &path("in.bak"), &path("in")],
        &["-o", &path("hard"), "--rejects", &path("in")],
        &["-o", &path("new"), "--rejects", &dotted],
        &["--rejects", "-"],
    ] {
        let run = run(&[&["decode"], args].concat(), "");
        assert_eq!((run.code, run.err.lines().count()), (Some(2), 1), "{args:?}: {}", run.err);
        assert!(run.err.contains("--rejects"), "{args:?}: {}", run.err);
        assert_eq!(fs::read(path("hard")).unwrap(), b"%41\n%zz\n", "{args:?}");
    }
    let stdout = fs::File::options().append(true).open(path("hard")).unwrap();
    let child = command(&["decode", "--rejects", &path("in")]).stdout(stdout).spawn().unwrap();
    assert_eq!(crate::support::wait(child).code, Some(2));
    // A device may be the output and the file of rejects at once.
    assert_eq!(ok(&["decode", "-o", "/dev/null", "--rejects", "/dev/null", &path("in")], ""), b"");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
}

#[test]
fn layers_are_counted() {
    for (options, value, wanted) in [
        ("", "abc%zz%0A", 0),
        ("", "%41", 1),
        ("", "%2541", 1),
        ("--form", "+", 1),
        ("--times 9", "abc%zz%0A", 0),
        ("--times 9", "%252541", 3),
        ("--times 9 --form", "%252B", 3),
        ("--times 2", "%25252541", 2),
        ("--until-stable", "%25252525252541", 7),
        ("--until-stable --percent-u", "%u002541", 2),
        ("--until-stable --percent-u --charset gbk", "%u4F60%252541", 3),
    ] {
        let err = run(&format!("decode --stats=json {options}"), value).err;
        assert!(err.ends_with(&format!("\"layers\":{wanted}}}\n")), "{options} {value}: {err}");
    }
}

/// Returns about `len` random bytes that consist of the words in `list`, between which are spaces, and of spaces.
fn words(seed: u64, list: &str, len: usize) -> Vec<u8> {
    let words: Vec<_> = list.split(' ').chain([" "]).map(str::as_bytes).collect();
    Numbers(seed).words(&words, len)
}

/// The offset of an error is the start of the escape or byte that makes the value invalid: the bytes before it are valid, and a value that
/// begins there is invalid from its start.
#[test]
fn offsets_are_those_of_the_first_invalid_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rejects");
    let input = words(
        7,
        "% %2 25 %25 %41 %2541 %%34 41 + %2B %0A %250d %u0041 %u000A %u0025 %uD83D%uDE00 %uD83D %uDE00 %u12 é %C3%A9 %E9 \
         %25E9 %2525%45%39 %c3 \u{4f60} z / %FF \n \n \n \n \n",
        100_000,
    );
    for more in [&[][..], &["--times", "3"], &["--charset", "gbk"], &["--charset", "utf-8"]] {
        for options in 0..8 {
            let switches = ["--form", "--percent-u", "--until-stable"].into_iter().enumerate();
            let mut args = vec!["decode", "--on-invalid-utf8", "drop", "--rejects", path.to_str().unwrap()];
            args.extend(switches.filter(|(bit, _)| options >> bit & 1 == 1).map(|(_, switch)| switch));
            args.extend(more);
            if args.contains(&"--times") && args.contains(&"--until-stable") {
                continue;
            }
            // Returns the offsets in `input` of invalid bytes. Malformed escapes are listed, too, although they are kept.
            let offsets = |input: &[u8]| -> Vec<usize> {
                done(&args, input);
                let offset = |line: &str| line.split(':').nth(2).unwrap().parse().unwrap();
                let rejected = fs::read_to_string(&path).unwrap();
                rejected.lines().filter(|line| !line.contains(": malformed escape: ")).map(offset).collect()
            };
            let (mut before, mut rest, mut starts) = (Vec::new(), Vec::new(), Vec::new());
            for at in offsets(&input) {
                let (head, tail) = input.split_at(at);
                assert!(tail[0] == b'%' || !tail[0].is_ascii(), "{args:?} {at}");
                starts.push(rest.len());
                before.extend_from_slice(head.rsplit(|&byte| byte == b'\n').next().unwrap());
                rest.extend_from_slice(tail.split(|&byte| byte == b'\n').next().unwrap());
                before.push(b'\n');
                rest.push(b'\n');
            }
            assert!(starts.len() > 100, "{args:?}: {}", starts.len());
            assert!(offsets(&before).is_empty(), "{args:?}");
            assert_eq!(offsets(&rest), starts, "{args:?}");
        }
    }
}

/// With `--stats`, each line is converted separately to count its values; without it, many lines are converted at once.
/// Both ways give the same output.
#[test]
fn stretches_of_lines_give_what_single_lines_do() {
    let (_dir, path) = folder();
    // The inputs have faults everywhere, faults only between long stretches without any, and no faults.
    let clean = "https://example.org/caf%C3%A9\r\n%41\n\n".repeat(900);
    let mut seldom = Vec::new();
    for seed in 0..6 {
        seldom.extend_from_slice(clean.as_bytes());
        seldom.extend_from_slice(&tangle(40 + seed, 200 << seed));
        seldom.extend_from_slice(&clean.as_bytes()[..(seed as usize) * 977]);
    }
    let texts: &[&[&str]] = &[
        &["decode"],
        &["decode", "-0"],
        &["decode", "--form", "--keep", "/"],
        &["decode", "--printable"],
        &["decode", "--until-stable"],
        &["decode", "--percent-u", "--charset", "gbk"],
        &["encode"],
        &["encode", "--keep-escapes", "-0"],
        &["encode", "--charset", "windows-1252"],
        &["normalize"],
    ];
    let characters: &[&[&str]] = &[
        &["decode"],
        &["decode", "--form", "--keep", "/%"],
        &["decode", "--times", "3", "--form"],
        &["decode", "--until-stable"],
        &["decode", "--percent-u", "--until-stable", "--charset", "big5", "--printable"],
        &["decode", "--charset", "shift_jis", "--times", "2"],
        &["decode", "--charset", "utf-8", "--percent-u", "-0"],
        &["decode", "--charset", "iso-2022-jp"],
        &["decode", "--charset", "us-ascii-strict", "--printable"],
        &["normalize", "-0"],
        &["encode", "--form"],
        &["encode", "--charset", "gbk", "--keep-escapes"],
        &["encode", "--charset", "iso-2022-jp"],
        &["encode", "--charset", "iso-8859-1-strict"],
    ];
    let urls: &[&[&str]] = &[
        &["split"],
        &["split", "--format", "csv"],
        &["split", "--format", "jsonl"],
        &["split", "--parts", "host,path,user,password,query:q,segment:-1,url,domain,suffix,subdomain"],
        &["get", "{host}"],
        &["get", "{host}\\t<{path}>{query:r}{domain}"],
        &["resolve", "--base", "http://b.org/c/d?e"],
        &["resolve", "--base", "a:///b/", "--not-strict"],
        &["uri"],
        &["iri"],
        &["form"],
    ];
    let characters_input = words(
        8,
        "% 2 5 %25 %2520 %252 %%34 %3 %4 %c3%a9 %2F 41 + %2B / g : a%41: %u %u0041 %u000A %uD83D %uDE00 %u4F60 00 é 你 %81 \
         %81%30 %C4 %E3 a 0 %0A %00 \n \n \n \0 \0 \r \r\n \u{1F600} \u{202E} %1B \u{1b}$B $ \u{1b}(B %FF %E4%BD \u{fffd}",
        50_000,
    );
    let urls_input = words(
        9,
        "http: HTTP: // // / a.org A.Org user:pw@ @ : :80 :99999 ? # & & = = q=1&r=2 %41 %zz %4 %C3%A9 %e2%80%8E %2b %26 %3D \
         %25 %2541 %2509 %250a %2522 %09 %22 %0a %00 %FF , ; \" + \u{e9} \u{7f} [::1] [ ] xn--r8jz45g.jp XN--a -- .. /. ./b < \
         a/longer/path/without/anything/special/in/it \n \n \n \n \n \n \n \n \n \n",
        50_000,
    );
    for (name, input, verbs) in [
        ("dense", tangle(33, 150_000), texts),
        ("seldom", seldom, texts),
        ("clean", clean.into_bytes(), texts),
        ("characters", characters_input, characters),
        ("urls", urls_input.clone(), urls),
    ] {
        fs::write(path(name), &input).unwrap();
        for verb in verbs {
            for policies in [
                &[][..],
                &["--on-malformed", "drop"],
                &["--on-malformed", "empty", "--on-invalid-utf8", "drop"],
                &["--on-malformed", "replace", "--on-invalid-utf8", "replace"],
                &["--on-invalid-utf8", "replace"],
                &["--on-malformed", "replace", "--on-invalid-utf8", "empty"],
                // `--on-malformed fail` alone would write the part of the line before the fault, so it is combined with `drop`.
                &["--on-malformed", "fail", "--on-invalid-utf8", "drop"],
                &["--on-invalid-utf8", "fail"],
                &["--rejects"],
            ] {
                let run = |more: &str| {
                    let mut args = [*verb, policies].concat();
                    let rejects = path("rejects");
                    if policies == ["--rejects"] {
                        args.push(&rejects);
                    }
                    let input = path(name);
                    args.extend([more, "-j1", &input]);
                    let run = run(&args, "");
                    (run.out, run.code, fs::read(&rejects).ok())
                };
                let (single, at_once) = (run("--stats"), run("-q"));
                assert_same(&format!("{name} {verb:?} {policies:?}"), &at_once.0, &single.0);
                assert_eq!(at_once.1, single.1, "{name} {verb:?} {policies:?}");
                let rejected = |bytes: Option<Vec<u8>>| bytes.unwrap_or_default();
                assert_same(&format!("{name} {verb:?}"), &rejected(at_once.2), &rejected(single.2));
            }
        }
    }
    // The keys of lines are made at once, and those of values in JSON one by one.
    let urls = String::from_utf8(urls_input).unwrap() + "/\n";
    let documents: String =
        urls.lines().map(|url| format!("{}\n", serde_json::json!({ "url": url }))).collect();
    for template in ["{host}", "{host}\\t<{path}>{query:r}{domain}"] {
        let top = ["top", template, "-n", "1000000"];
        let single = done(&[&top[..], &["--jsonl", "--key", "url"]].concat(), &documents);
        assert_same(template, &done(&top, &urls), &single);
    }
}

#[test]
fn a_failure_in_a_record_longer_than_the_limit_ends_all_threads() {
    let line = "{\"url\":\"http://a/%41\"}\n";
    let long = format!("{{\"url\":\"{}\"}}\n", "x".repeat(3 << 20));
    let (_directory, file) =
        file("in.jsonl", format!("{}{long}{}", line.repeat(50_000), line.repeat(50_000)));
    for jobs in ["-j1", "-j2", "-j4"] {
        let mut pct = command(&["decode", "--jsonl", "--key", "url", "--max-record", "1", "--strict", jobs]);
        let mut child = pct.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert_eq!(exit_status(&mut child).code(), Some(1), "{jobs}");
    }
}

#[test]
fn a_dropped_record_has_its_later_places() {
    for (args, input) in [
        (&["decode", "--jsonl", "--key", "u,v", "--on-malformed", "drop"][..], "{\"u\":\"%zz\",\"v\":\"x\"}"),
        (&["decode", "--jsonl", "--key", "u,v", "--on-invalid-utf8", "drop"], "{\"u\":\"%ff\",\"v\":\"x\"}"),
        (&["decode", "--logfmt", "--key", "u,v", "--on-malformed", "drop"], "u=%zz v=x"),
        (&["decode", "--field", "1,2", "--on-malformed", "drop"], "%zz x"),
        (&["decode", "--csv", "--no-header", "--column", "1,2", "--on-malformed", "drop"], "%zz,x"),
        (&["normalize", "--profile", "whatwg", "--field", "1,2", "--on-rejected", "drop"], "http://[/ x"),
        (
            &["decode", "--log", "combined", "--field", "target,agent", "--on-malformed", "drop"],
            "::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /%zz HTTP/1.1\" 200 1 \"-\" \"x\"",
        ),
    ] {
        let Run { out, err, .. } = run(args, input);
        assert_eq!(out, b"", "{args:?}");
        assert!(
            err.contains("left out") && !err.contains("no line") && !err.contains("no row"),
            "{args:?}: {err}"
        );
    }
    // A value that cannot be read does not hide the others.
    let args = ["decode", "--logfmt", "--key", "a,b", "--on-rejected", "drop"];
    let err = run(&args, "a=\"\\q\" b=%41\n").err;
    assert!(err.contains("left out") && !err.contains("line"), "{err}");
    // The part of an unreadable record that was read has no places.
    let input = "{\"u\":\"a\"}\n{\"v\":\"x\",\n";
    let err = run(&["decode", "--jsonl", "--key", "u,v", "--on-rejected", "drop"], input).err;
    assert!(err.contains("no readable line has a string at key 'v'"), "{err}");
}

#[test]
fn what_counts_as_unchanged_is_left_out_of_changes() {
    let csv = "u,v\n%41,b\n\"x\n";
    let cell = "{\"u\":\"\\ud800\",\"v\":\"%41\"}\n";
    for (args, input, told) in [
        (&["decode", "--csv", "--column", "u"][..], csv, "1 record is unreadable, and is left out;"),
        (
            &["normalize", "--profile", "whatwg"],
            "http://[/\n",
            "1 value was rejected, and counts as unchanged;",
        ),
        (&["decode", "--jsonl", "--key", "u,v"], cell, "1 value is unreadable, and counts as unchanged;"),
    ] {
        for options in [&["--only-changed"][..], &["--only-changed", "-q"]] {
            let err = run(&[args, options].concat(), input).err;
            assert!(err.contains(told), "{args:?} {options:?}: {err}");
        }
        let err = run(args, input).err;
        assert!(err.contains("stays unchanged;"), "{args:?}: {err}");
    }
}

#[test]
fn layers_in_urls_are_counted() {
    for (args, value, wanted) in [
        (&["decode", "--url"][..], "/%41?a=%42", 1),
        (&["decode", "--url"], "/%2F", 0),
        (&["decode", "--url", "--on-malformed", "replace"], "/%zz", 0),
        (&["decode", "--url", "--percent-u"], "/%u4F60", 1),
        (&["decode", "--url", "--charset", "latin1"], "/%E4", 1),
        (&["decode", "--ext-value"], "UTF-8''a%20b", 1),
        (&["decode", "--ext-value"], "UTF-8''a", 0),
        (&["form"], "a=b%41", 1),
        (&["form", "--format", "jsonl"], "a+b", 1),
        (&["form"], "a=b&c", 0),
        (&["form", "--charset", "latin1"], "a=b&c", 0),
        (&["get", "--decode", "{path}{query}"], "/%41?x", 1),
        (&["get", "--decode", "{query}"], "/%41?x", 0),
        (&["get", "{path}"], "/%41", 0),
        (&["get", "--decode", "--on-malformed", "replace", "{path}{query}"], "/%zz?%", 0),
        (&["get", "--decode", "{query:a[]}"], "?a=1&a=2", 0),
        (&["get", "--decode", "{query:a[]}"], "?a=1&a=%32", 1),
        (&["split", "--decode"], "http://a/%41", 1),
        (&["split", "--decode", "--charset", "latin1"], "http://a/%E4", 1),
        (&["split", "--decode", "--charset", "latin1"], "http://a/b", 0),
        (&["normalize", "--profile", "whatwg"], "http://A/%2e/", 0),
    ] {
        let err = run(&[args, &["--stats=json"]].concat(), value).err;
        assert!(err.ends_with(&format!("\"layers\":{wanted}}}\n")), "{args:?} {value}: {err}");
    }
}
