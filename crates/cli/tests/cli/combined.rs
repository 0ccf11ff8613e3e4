//! Tests options for input, values and conversion in one run.

use std::fs;

use crate::support::{Run, assert_same, folder, ok, run, text};

#[test]
fn fields_of_a_compressed_log_in_a_charset_on_two_cores() {
    let (_dir, path) = folder();
    let line = |target: &str| {
        format!("127.0.0.1 - - [21/Nov/2026:12:00:00 +0000] \"GET {target} HTTP/1.1\" 200 %2F\n")
    };
    let (log, out) = (path("access.log.gz"), path("out.zst"));
    ok(&["normalize", "-o", &log], line("/%C4%E3%20%22%0A%25C4%25E3").repeat(60_000));
    assert_eq!(fs::read(&log).unwrap()[..2], *b"\x1F\x8B");
    ok(&["decode", "--field", "7", "--charset", "gbk", "-j2", &log, "-o", &out], "");
    assert_eq!(fs::read(&out).unwrap()[..4], *b"\x28\xB5\x2F\xFD");
    // Decoded spaces, quotes and line ends would break the field, so they stay escaped.
    let wanted = line("/你%20%22%0A%C4%E3").repeat(60_000);
    assert_same("one layer", &ok(&["decode", "--field", "1", &out], ""), wanted.as_bytes());
    let stable =
        ok(&["decode", "--quoted", "--field", "5.2", "--charset", "gbk", "--until-stable", &log], "");
    assert_same("all layers", &stable, line("/你%20%22%0A你").repeat(60_000).as_bytes());
}

#[test]
fn a_column_of_a_compressed_table_in_place() {
    let (_dir, path) = folder();
    let name = &*path("table.csv.gz");
    ok(&["normalize", "-o", name], "id,url\n1,a%2Cb\n2,%22\n3,c\n");
    ok(&["decode", "-i", "--csv", "--column", "url", name], "");
    assert_eq!(fs::read(name).unwrap()[..2], *b"\x1F\x8B");
    assert_eq!(text(&["normalize", name], ""), "id,url\n1,\"a,b\"\n2,\"\"\"\"\n3,c\n");
}

#[test]
fn one_summary_and_one_list_of_rejects_for_several_files() {
    let (_dir, path) = folder();
    let (a, b, rejects) = (path("a"), path("b.gz"), path("rejects"));
    fs::write(&a, "%252541\n%zz\n").unwrap();
    ok(&["encode", "--keep", "%\u{5c}", "-o", &b], "%C4\n%u4F60%41\n");
    let args = ["decode", "--until-stable", "--percent-u", "--charset", "gbk", "--on-invalid-utf8", "drop"];
    let files = ["--rejects", &rejects, "--stats=json", "-i", &a, &b];
    let Run { out, err, code } = run(&[&args[..], &files].concat(), "");
    assert_eq!((out.len(), code), (0, Some(0)), "{err}");
    for count in ["\"records\":4,", "\"dropped\":1,", "\"escapes\":4,", "\"malformed\":1,", "\"layers\":3}"] {
        assert!(err.contains(count), "{count} {err}");
    }
    let wanted = format!(
        "{a}:2:8: malformed escape: 'z' is not a hexadecimal digit: %zz\n{b}:1:0: not in the charset: %C4\n"
    );
    assert_eq!(fs::read_to_string(&rejects).unwrap(), wanted);
    assert_eq!(fs::read_to_string(&a).unwrap(), "A\n%zz\n");
    assert_eq!(ok(&["decode", &b], ""), "你A\n".as_bytes());
}

#[test]
fn repairs_know_the_other_escapes() {
    let args = ["decode", "--unescape", "nginx", "--percent-u", "--on-malformed", "replace"];
    assert_eq!(ok(&args, "\\x25zz%u0041%41%x\n"), b"%25zzAA%25x\n");
}

#[test]
fn printable_escapes_each_harmful_character_alone() {
    let is_harmful = |c: char| {
        char::is_control(c)
            || "\u{61C}\u{200E}\u{200F}".contains(c)
            || ('\u{2028}'..='\u{202E}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    for (args, end) in [(&["decode", "--printable"][..], "\n"), (&["decode", "--printable", "-0"], "\0")] {
        let (mut input, mut wanted) = (String::new(), String::new());
        // A CR before the line feed would be part of the line end.
        for c in ('\0'..=char::MAX).filter(|&c| !end.contains(c) && (end, c) != ("\n", '\r')) {
            input.push(c);
            match is_harmful(c) {
                true => wanted.extend(c.to_string().bytes().map(|byte| format!("%{byte:02X}"))),
                false => wanted.push(c),
            }
            input.push_str(end);
            wanted.push_str(end);
        }
        assert_same(&format!("{args:?}"), &ok(args, &input), wanted.as_bytes());
    }
}
