//! What becomes of values that cannot be read: policies, rejects, the summary.

use std::fs;

use crate::support::{Run, ok, run};

const LINES: &str = "%41\n%zz%42%\r\n%FF%43\n%zz%FF\n%44";

#[test]
fn malformed_escapes_are_treated_as_asked() {
    for (policy, wanted) in [
        ("keep", &b"A\n%zzB%\r\n\xFFC\n%zz\xFF\nD"[..]),
        ("replace", b"A\n%25zzB%25\r\n\xFFC\n%25zz\xFF\nD"),
        ("empty", b"A\n\r\n\xFFC\n\nD"),
        ("drop", b"A\n\xFFC\nD"),
    ] {
        assert_eq!(ok(&["decode", "--on-error", policy], LINES), wanted, "{policy}");
    }
    assert_eq!(ok(&["normalize", "--on-error", "replace"], "%zz%7e%2f\n%"), b"%25zz~%2F\n%25");
    let Run { out, err, code } = run(&["decode", "--on-error", "fail", "--stats=json"], LINES);
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
        assert_eq!(ok(&["decode", "--on-invalid-utf8", policy], LINES), wanted, "{policy}");
    }
    let Run { out, err, code } = run(&["decode", "--on-invalid-utf8", "fail"], LINES);
    assert_eq!((out, code), (b"A\n%zzB%\r\n".to_vec(), Some(1)));
    assert_eq!(err, "pct: <stdin>:3: offset 13: not UTF-8\n");
    // Both at once: each has its own.
    let args = ["decode", "--on-error", "replace", "--on-invalid-utf8", "drop"];
    assert_eq!(ok(&args, LINES), b"A\n%25zzB%25\r\nD");
}

#[test]
fn dropped_records_leave_nothing_behind() {
    let args = ["decode", "--tsv", "--field", "1,3", "--on-error", "drop"];
    assert_eq!(ok(&args, "%41\t%41\t%41\n%41\tx\t%zz\n%zz\tx\n%42\n"), b"A\t%41\tA\nB\n");
    let args = ["decode", "--field", "2,3", "--on-error", "empty"];
    assert_eq!(ok(&args, "a %zz %41\n"), b"a - A\n");
}

#[test]
fn rejects_have_place_reason_and_record() {
    let dir = tempfile::tempdir().unwrap();
    let (input, rejects) = (dir.path().join("in"), dir.path().join("rejects"));
    let lines = b"x %41\nx\\\x02y\x01\xFF\xC3\xA9 a%zz%z\r\nx %42\nx %FF\n";
    fs::write(&input, lines).unwrap();
    let (name, file) = (input.to_str().unwrap(), rejects.to_str().unwrap());
    for jobs in ["-j1", "-j4"] {
        let out = ok(&["decode", jobs, "--field", "2,3", "--rejects", file, name], "");
        assert_eq!(out, b"x A\nx\\\x02y\x01\xFF\xC3\xA9 a%zz%z\r\nx B\nx \xFF\n");
        let wanted = [
            format!(
                "{name}:2:16: malformed escape: 'z' is not a hexadecimal digit: x\\\\\\x02y\\x01\\xffé a%zz%z\n"
            ),
            format!("{name}:4:31: not UTF-8: x %FF\n"),
        ];
        assert_eq!(fs::read_to_string(&rejects).unwrap(), wanted.concat());
    }
    // With an error it is as it was.
    fs::write(&rejects, "old").unwrap();
    assert_eq!(run(&["decode", "--strict", "--field", "2,3", "--rejects", file, name], "").code, Some(1));
    assert_eq!(fs::read_to_string(&rejects).unwrap(), "old");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    let same = run(&["decode", "--rejects", file, "-o", file, name], "");
    assert_eq!((same.err.as_str(), same.code), ("pct: --output and --rejects are the same file\n", Some(2)));
}

#[test]
fn the_summary_counts() {
    let input = "%41 %2541\nx %zz%25\ny %FF\nz\n";
    let Run { out, err, code } =
        run(&["decode", "--field", "2", "--on-error", "drop", "--stats=json"], input);
    assert_eq!((out.as_slice(), code), (&b"%41 %41\ny \xFF\nz\n"[..], Some(0)));
    assert_eq!(
        err,
        "{\"records\":4,\"dropped\":1,\"bytes_in\":27,\"bytes_out\":14,\"values\":3,\"changed\":2,\"escapes\":3,\
         \"malformed\":1,\"invalid_utf8\":1,\"double_encoded\":1,\"unreadable\":0,\"layers\":1}\n"
    );
    let text = run(&["decode", "--jsonl", "--key", "u", "--stats"], "{\"u\":\"%41\"}\nnope\n").err;
    let count = |name| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    assert_eq!((count("records"), count("changed"), count("unreadable")), (Some("2"), Some("1"), Some("1")));
}

#[test]
fn records_that_are_too_long_are_refused() {
    let long = "%41,".repeat(300_000);
    let input = format!("%41,%41\n{long}\n%42,%42\n");
    for jobs in ["-j1", "-j3"] {
        let args = ["decode", "--field", "1", "-d", ",", "--max-record", "1", jobs];
        assert!(ok(&args, &input) == format!("A,%41\n{long}\nB,%42\n").into_bytes());
        assert_eq!(ok(&[&args[..], &["--on-error", "drop"]].concat(), &input), b"A,%41\nB,%42\n");
        let run = run(&[&args[..], &["--on-error", "fail"]].concat(), &input);
        let wanted = "pct: <stdin>:2: offset 8: the record is longer than 1 MiB (--max-record)\n";
        assert_eq!((run.out.as_slice(), run.err.as_str(), run.code), (&b"A,%41\n"[..], wanted, Some(1)));
        let args = ["decode", "--field", "1", "-d", ",", jobs];
        assert!(ok(&args, &input) == format!("A,%41\nA,{}\nB,%42\n", &long[4..]).into_bytes());
    }
    let csv = format!("u,v\n\"{}\n\",%41\n%42,1\n", "\"\"".repeat(900_000));
    assert!(
        ok(&["decode", "--csv", "--column", "u", "--max-record", "1"], &csv)
            == csv.replace("%42", "B").into_bytes()
    );
}
