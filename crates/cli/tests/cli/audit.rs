//! Tests `pct audit`: its counts, its examples and its output formats.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::{Numbers, Run, command, file, ok, output, printed, run, run_in_chunks, tangle, tool};

fn json(args: &[&str], input: &[u8]) -> Value {
    let mut all = vec!["audit", "--format", "json"];
    all.extend(args);
    serde_json::from_slice(&ok(&all, input)).expect("the report is JSON")
}

fn counts(report: &Value) -> BTreeMap<String, (u64, u64)> {
    let count = |finding: &Value| {
        let number = |name| finding[name].as_u64().unwrap();
        (finding["kind"].as_str().unwrap().to_owned(), (number("lines"), number("found")))
    };
    report["findings"].as_array().unwrap().iter().map(count).collect()
}

/// Returns random bytes, some of them escaped, in which overlong and other invalid UTF-8 sequences are frequent.
fn sequences(seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut bytes = Vec::new();
    for _ in 0..60_000 {
        let byte = numbers.pick(&[
            b"\xC0", b"\xE0", b"\xF0", b"\x80", b"\xAE", b"\xED", b"\xBF", b"\xF5", b"\xE2", b"a", b"\n",
            b"\t",
        ]);
        match numbers.next() % 2 {
            0 if byte[0] != b'\n' => bytes.extend(format!("%{:02x}", byte[0]).bytes()),
            _ => bytes.extend(byte),
        }
    }
    bytes
}

#[test]
fn the_counts_are_those_of_a_naive_program() {
    for (name, input) in [
        ("tangle", tangle(5, 900_000)),
        ("sequences", sequences(6)),
        ("no end", b"%41\r\n%2".to_vec()),
        ("cr", b"a\r\r\n%0d\r".to_vec()),
    ] {
        let Some(out) = tool(&["python3", "-c", include_str!("audit.py")], &input) else { return };
        let wanted: Value = serde_json::from_slice(&out).unwrap();
        let report = json(&[], &input);
        assert_eq!(report["lines"], wanted["lines"], "{name}");
        assert_eq!(report["escapes"], wanted["escapes"], "{name}");
        let buckets: Vec<_> = report["escapes_per_line"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bucket| bucket["lines"].clone())
            .collect();
        assert_eq!(Value::from(buckets), wanted["buckets"], "{name}");
        let wanted: BTreeMap<String, (u64, u64)> = serde_json::from_value(wanted["kinds"].clone()).unwrap();
        assert_eq!(counts(&report), wanted, "{name}");
    }
}

#[test]
fn the_report_does_not_depend_on_where_reads_end() {
    let input = tangle(8, 20_000);
    let whole = run("audit", &input);
    for chunk in [1, 7, 97, 1000] {
        assert_eq!(run_in_chunks("audit", &input, chunk), whole, "in pieces of {chunk}");
    }
}

#[test]
fn examples_are_the_first_lines_and_bounded() {
    let input = b"ok\n%00 one %00\nok%2f\n%00 two\n%00 three\n";
    let report = json(&["--examples", "2"], input);
    let nul = report["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == "nul").unwrap();
    assert_eq!((&nul["lines"], &nul["found"]), (&3.into(), &4.into()));
    let examples = nul["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 2);
    assert_eq!((&examples[0]["line"], &examples[0]["offset"]), (&2.into(), &3.into()));
    assert_eq!((&examples[1]["line"], &examples[1]["text"]), (&4.into(), &"%00 two".into()));
    assert_eq!(json(&["--examples", "0"], input)["findings"][1]["examples"], Value::Array(Vec::new()));
}

#[test]
fn the_text_fits_its_width_and_moves_no_cursor() {
    let input =
        b"https://example.org/\x1B[31m%00\xE2\x80\xAE and a good deal more than fits into the line %20\n";
    // Windows has no locale in the environment, and its consoles show UTF-8.
    let plain = if cfg!(windows) { '\u{2588}' } else { '#' };
    for (locale, full) in [("C", plain), ("C.UTF-8", '\u{2588}')] {
        let child = command("audit").env("COLUMNS", "72").env("LC_ALL", locale).spawn().unwrap();
        let run = Run::from(output(child, input, usize::MAX));
        run.says("", 0);
        let text = run.text();
        assert!(text.contains(full), "{text}");
        assert!(text.contains("\\u{1b}[31m%00\\u{202e}"), "{text}");
        assert!(!text.contains('\x1B'));
        for line in text.lines().filter(|line| line.contains(full) || line.starts_with("    <")) {
            assert!(line.chars().count() <= 72, "{line}");
        }
    }
}

#[test]
fn digits_are_grouped_and_the_shortest_bar_is_seen() {
    let input = format!("%00%\n{}", "%41\n".repeat(299_999));
    let plain = if cfg!(windows) { '\u{258F}' } else { '#' };
    for (locale, shortest) in [("C", plain), ("C.UTF-8", '\u{258F}')] {
        let child = command("audit").env("LC_ALL", locale).spawn().unwrap();
        let text = String::from_utf8(output(child, input.as_bytes(), usize::MAX).stdout).unwrap();
        assert!(text.starts_with("300,000 lines in 1 file, 1,200,001 bytes, the longest of 4\n"), "{text}");
        assert!(text.ends_with(&format!("<0.01% {shortest}\n")), "{text}");
    }
}

/// Checks that `pct audit` counts the whole lines before an error.
#[test]
fn lines_before_an_error_count() {
    let (_dir, path) = file("list.gz", "");
    let name = path.to_str().unwrap();
    ok(&["encode", "--keep", "%", "-o", name], "%41\n%42\n");
    let whole = fs::read(&path).unwrap();
    // The end of the data and the checksum are missing.
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    for (args, wanted) in [
        (
            &["audit", name][..],
            "2 lines in 1 file, 8 bytes, the longest of 3\n2 escapes, in 2 lines (100.00%)\n",
        ),
        (&["audit", "--chain", "strict,nginx-1.22", name], "strict -> nginx-1.22: 2 targets in 2 lines\n"),
    ] {
        let Run { out, err, code } = run(args, "");
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with(wanted), "{out}");
        assert!(err.contains("the gzip data end too early") && code == Some(2), "{err}");
    }
}

#[test]
fn one_is_not_several() {
    assert_eq!(run("audit", "").code, Some(0));
    let text = printed("audit", "%");
    assert!(
        text.starts_with("1 line in 1 file, 1 byte, the longest of 1\n0 escapes, in 0 lines (0.00%)\n"),
        "{text}"
    );
    let text = printed("audit -0", "%41");
    assert!(
        text.starts_with("1 record in 1 file, 3 bytes, the longest of 3\n1 escape, in 1 record (100.00%)\n"),
        "{text}"
    );
}
