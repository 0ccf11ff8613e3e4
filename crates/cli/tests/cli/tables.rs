//! Tests `--csv`, which converts values in columns.

use crate::support::{Numbers, assert_same, done, folder, ok, oracle, run, text};

fn decode(column: &str, input: &str) -> String {
    text(&["decode", "--csv", "--column", column], input)
}

#[test]
fn cells_are_quoted_when_they_have_to_be() {
    for (cell, wanted) in [
        ("a%41", "aA"),
        ("a%2Cb", "\"a,b\""),
        ("a%22b", "\"a\"\"b\""),
        ("a%0Ab", "\"a\nb\""),
        ("a%0Db", "\"a\rb\""),
        ("a%20b", "a b"),
        ("\"a%41\"", "\"aA\""),
        ("\"a,%22\"", "\"a,\"\"\""),
        ("\"a\"\"%41\"", "\"a\"\"A\""),
        // A cell whose value does not change keeps its spelling, even if its quotes are unusual.
        ("\"a\"", "\"a\""),
        ("", ""),
        ("\"\"", "\"\""),
        ("a%00\0", "\"a\0\0\""),
        ("a\0", "a\0"),
    ] {
        for end in ["", "\n", "\r\n"] {
            let around = |cell| format!("x,url,y\n%41,{cell},%42{end}");
            assert_eq!(decode("url", &around(cell)), around(wanted), "{cell:?}");
            let last = |cell| format!("x,url\n%41,{cell}{end}");
            assert_eq!(decode("2", &last(cell)), last(wanted), "{cell:?}");
        }
    }
}

/// The reasons why a row cannot be read.
const INSIDE: &str = "a quote is inside a cell without quotes";
const AFTER: &str = "text follows a closing quote";
const OPEN: &str = "a quote is not closed";

/// Runs `args` on `input`, and checks that the message, --stats, --rejects, --strict and `check` report `count` unreadable rows.
/// `first` is the line, the offset and the reason of the first unreadable row.
fn assert_unreadable(args: &[&str], input: &str, wanted: &str, count: usize, first: (usize, usize, &str)) {
    let (line, offset, reason) = first;
    let run_with = |verb: &str, more: &[&str]| run(&[&[verb, "--csv"], args, more].concat(), input);
    let got = run_with("decode", &[]);
    assert_eq!(String::from_utf8_lossy(&got.out), wanted, "{args:?}");
    let (what, stay) = if count == 1 { ("record is", "stays") } else { ("records are", "stay") };
    let said =
        format!("pct: {count} {what} unreadable, and {stay} unchanged; --rejects FILE lists the reasons\n");
    assert_eq!((got.err, got.code), (said, Some(0)), "{args:?} {input:?}");
    let stats = run_with("decode", &["--stats=json"]).err;
    assert!(stats.contains(&format!("\"unreadable\":{count},")), "{stats}");
    let strict = run_with("decode", &["--strict"]);
    let place = format!("pct: <stdin>:{line}: offset {offset}: {reason}\n");
    assert_eq!((strict.err, strict.code), (place, Some(1)), "{args:?} {input:?}");
    let dir = tempfile::tempdir().unwrap();
    let rejects = dir.path().join("rejects");
    run_with("decode", &["--rejects", rejects.to_str().unwrap()]);
    let listed = std::fs::read_to_string(rejects).unwrap();
    let place = format!("<stdin>:{line}:{offset}: {reason}: ");
    assert!(listed.starts_with(&place) && listed.lines().count() == count, "{listed}");
    let check = run_with("check", &["--kinds", "unreadable"]);
    let found = check.text();
    let place = format!("<stdin>:{line}:{offset}: unreadable: {reason}\n");
    assert!(found.starts_with(&place) && found.lines().count() == count, "{found}");
}

#[test]
fn a_misplaced_quote_makes_a_row_unreadable() {
    for (row, at, reason) in [
        ("a\"b,%41,%42", 1, INSIDE),
        ("%41,%42,a\"", 9, INSIDE),
        ("x, \"%41\",%42", 3, INSIDE),
        ("\"a\"b,%41,%42", 3, AFTER),
        ("x,\"%41\" ,%42", 7, AFTER),
        ("x,\"a\"\r,%41", 5, AFTER),
        // If this row of a MySQL export were read, a wrong cell would be converted.
        ("2,\"A\\\", B %41\",http://x/%42", 13, INSIDE),
        // A later quote cannot open a cell that goes on in the next line.
        ("x,\"a\"b,\"%41", 5, AFTER),
    ] {
        for end in ["\n", "\r\n"] {
            let input = format!("id,name,url{end}1,2,%43{end}{row}{end}3,\"4\",%44{end}");
            let wanted = input.replace("%43", "C").replace("%44", "D");
            let offset = "id,name,url1,2,%43".len() + 2 * end.len() + at;
            for columns in ["url", "url,name"] {
                assert_unreadable(&["--column", columns], &input, &wanted, 1, (3, offset, reason));
            }
        }
    }
    // In the header, a misplaced quote is an error.
    let header = run("decode --csv --column url", "id\",url\n1,%41\n");
    let wanted = format!("pct: <stdin>: the header cannot be read: {INSIDE} at 2\n");
    assert_eq!((header.err, header.code), (wanted, Some(2)));
}

#[test]
fn unreadable_rows_have_no_values() {
    let input = "id,url\n1\",%41\n2,%42\n3\",%41\n2,%42\n";
    for (args, wanted) in [
        (&["decode", "--values"][..], "B\nB\n"),
        (&["get", "{path}", "--values"], "%42\n%42\n"),
        (&["split", "--parts", "path", "--values"], "%42\n%42\n"),
        (&["top", "--format", "tsv", "{path}"], "2\t%42\n"),
        (&["dedup"], "id,url\n1\",%41\n2,%42\n3\",%41\n"),
        (&["decode", "--on-rejected", "drop"], "id,url\n2,B\n2,B\n"),
        (&["decode", "--on-rejected", "null"], "id,url\n\n2,B\n\n2,B\n"),
        (&["decode", "--only-changed"], "id,url\n2,B\n2,B\n"),
        (&["decode", "--into", "new"], "id,url,new\n1\",%41\n2,%42,B\n3\",%41\n2,%42,B\n"),
    ] {
        let got = run(&[args, &["--csv", "--column", "url"]].concat(), input);
        assert_eq!(got.text(), wanted, "{args:?}");
        assert!(got.err.starts_with("pct: 2 records are unreadable"), "{args:?}: {}", got.err);
    }
}

#[test]
fn two_dialects_are_accepted() {
    let lazy = &["--csv", "--lazy-quotes", "--column", "url"][..];
    let backslash = &["--csv", "--quote-escape", "\\", "--column", "url"][..];
    for (args, row, wanted) in [
        (lazy, "5\" disk,%41", "5\" disk,A"),
        (lazy, "\"a\"b\",\"%41\"x\"", "\"a\"b\",\"A\"\"x\""),
        (lazy, "x,%41\"%22\"", "x,\"A\"\"\"\"\"\"\""),
        (lazy, "x,%41\"%22", "x,\"A\"\"\"\"\""),
        (lazy, "\"a\"b\nc\",%41", "\"a\"b\nc\",A"),
        (backslash, "\"A\\\", B %41\",http://x/%42", "\"A\\\", B %41\",http://x/B"),
        (backslash, "x,\"a%5C%22%2C\"", "x,\"a\\\\\\\",\""),
        // Without quotes, a backslash at the end of a cell would take its delimiter away.
        (backslash, "a\\b,%5C", "a\\b,\"\\\\\""),
        // Two quotes mean one quote in this dialect, too.
        (backslash, "\"a\"\"b\",%41", "\"a\"\"b\",A"),
    ] {
        let around = |row| format!("name,url\n1,%43\n{row}\n\"2\",%43\n");
        let wanted = around(wanted).replace("%43", "C");
        for jobs in ["-j1", "-j3"] {
            assert_eq!(text(&[&["decode", jobs], args].concat(), around(row)), wanted, "{args:?} {row}");
        }
        assert_eq!(run(&[&["check", "--kinds", "unreadable"], args].concat(), around(row)).code, Some(0));
    }
    // A quote that these options do not allow either makes a row unreadable.
    let input = "name,url\n1,a\"%41\n\"a\\\"b\"c,%42\n2,%43\n";
    let wanted = input.replace("%43", "C");
    assert_unreadable(&["--quote-escape", "\\", "--column", "url"], input, &wanted, 2, (2, 12, INSIDE));
    let input = "name,url\n1,%41\n2,\"x\n3,%42\n";
    let wanted = input.replace("%41", "A");
    assert_unreadable(&["--lazy-quotes", "--column", "url"], input, &wanted, 1, (3, 17, OPEN));
    // `--quote-escape '"'` is the default.
    assert_eq!(ok("decode --csv --quote-escape \" --column 1", "a\n%22\n"), b"a\n\"\"\"\"\n");
    for args in [
        &["--csv", "--column", "1", "--quote-escape", "'"][..],
        &["--csv", "--column", "1", "--quote-escape", "\\", "--lazy-quotes"],
        &["--csv", "--column", "1", "--quote-escape", "\\", "-d", "\\"],
        &["--csv", "--column", "1", "-d", "\""],
        &["--field", "1", "--lazy-quotes"],
    ] {
        assert_eq!(run(&[&["decode"], args].concat(), "a\n").code, Some(2), "{args:?}");
    }
}

/// Every command that reads CSV obeys `--quote-escape`.
#[test]
fn each_command_reads_the_dialects() {
    let input = "name,url\n\"A\\\", B\",/%7Ea\n\"A\\\"\",/~a\n";
    for (args, wanted) in [
        (&["top", "--format", "tsv", "{path}"][..], "1\t/%7Ea\n1\t/~a\n"),
        (&["dedup", "--profile", "rfc3986"], "name,url\n\"A\\\", B\",/%7Ea\n"),
        (&["get", "{path}", "--values"], "/%7Ea\n/~a\n"),
        (&["normalize", "--profile", "rfc3986", "--values"], "/~a\n/~a\n"),
    ] {
        let got = text(&[args, &["--csv", "--column", "url", "--quote-escape", "\\"]].concat(), input);
        assert_eq!(got, wanted, "{args:?}");
    }
    let check = ["check", "--csv", "--column", "url", "--quote-escape", "\\", "--kinds", "unreadable"];
    assert_eq!(run(&check, input).code, Some(0));
}

#[test]
fn a_blank_line_stays_blank() {
    for column in ["url", "n"] {
        for (end, jobs) in [("\n", "-j1"), ("\r\n", "-j1"), ("\n", "-j3")] {
            for cell in ["%41", "\"%41\"", "\"a\nb\""] {
                let rows = format!("{cell},%42{end}{end}{cell},%42{end}{end}");
                let input = format!("url,n{end}{}", rows.repeat(50));
                let args = ["decode", "--csv", "--column", column, jobs];
                let got = ok(&[&args[..], &["--into", "new"]].concat(), &input);
                let got = String::from_utf8(got).unwrap();
                let new = cell.replace("%41", "A");
                let row = if column == "n" { format!("{cell},%42,B") } else { format!("{cell},{new},%42") };
                let head = if column == "n" { "url,n,new" } else { "url,new,n" };
                let wanted = format!("{head}{end}{}", format!("{row}{end}{end}{row}{end}{end}").repeat(50));
                assert_same(&format!("{column} {cell}"), got.as_bytes(), wanted.as_bytes());
            }
        }
    }
    assert_eq!(ok("decode --csv --column url --into p", "url,n\n%41,1\n\n"), b"url,p,n\n%41,A,1\n\n");
}

#[test]
fn a_first_line_can_name_the_delimiter() {
    for (args, input, wanted) in [
        (&[][..], "sep=;\nurl;n\n%41;\"%42\"\n", "sep=;\nurl;n\nA;\"%42\"\n"),
        (&[], "sep=;\r\nurl;n\r\n%2C%3B;1\r\n", "sep=;\r\nurl;n\r\n\",;\";1\r\n"),
        (&[], "\u{feff}SEP=\t\nurl\tn\n%41\t%42", "\u{feff}SEP=\t\nurl\tn\nA\t%42"),
        // The line `sep=` names the delimiter of its file, even if `-d` names another one for all files.
        (&["-d", ","], "sep=;\nurl;n\n%41;1\n", "sep=;\nurl;n\nA;1\n"),
        (&["--into", "new"], "sep=;\nurl;n\n%3B;1\n", "sep=;\nurl;new;n\n%3B;\";\";1\n"),
        (&["--only-changed"], "sep=;\nurl;n\na;1\n%41;1\n", "sep=;\nurl;n\nA;1\n"),
        (&["--values"], "sep=;\nurl;n\n%41;1\n", "A\n"),
        // A line with text before `sep=` names no delimiter.
        (&[], "url,sep=;\n%41,1\n", "url,sep=;\nA,1\n"),
    ] {
        let got = text(&[&["decode", "--csv", "--column", "url"], args].concat(), input);
        assert_eq!(got, wanted, "{args:?} {input:?}");
    }
    let got = ok("decode --csv --no-header --column 2", "sep=|\n%41|%42\n");
    assert_eq!(got, b"sep=|\n%41|B\n");
    let found = run("check --csv --column url", "sep=;\nn;url\n1;%00\n");
    assert_eq!(found.text(), "<stdin>:3:14: nul: column url at 2: %00\n");
    // After a file with `sep=`, a file without it has the default delimiter.
    let (_dir, path) = folder();
    std::fs::write(path("one"), "sep=;\nurl;n\n%41;1\n").unwrap();
    std::fs::write(path("two"), "n,url\n1,%42\n").unwrap();
    let both = ok(&["decode", "--csv", "--column", "url", &path("one"), &path("two")], "");
    assert_eq!(both, b"sep=;\nurl;n\nA;1\nn,url\n1,B\n");
    let one = run(&["decode", "--csv", "--column", "url", "--one-header", &path("one"), &path("two")], "");
    assert_eq!((one.out.as_slice(), one.code), (&b"sep=;\nurl;n\nA;1\n"[..], Some(2)));
}

#[test]
fn carriage_returns_as_line_ends_are_named() {
    const SAID: &str = "pct: <stdin>: lines end in carriage returns (CR); convert them with tr '\\r' '\\n'\n";
    for (args, input) in [
        (&["decode", "--column", "url"][..], "url\r/%41\r/%42\r"),
        (&["check", "--column", "1"], "url,\"n\"\r/%41,1\r"),
        (&["decode", "--no-header", "--column", "1"], "/%41\r/%42\r"),
    ] {
        let got = run(&[args, &["--csv"]].concat(), input);
        assert_eq!((got.err.as_str(), got.code), (SAID, Some(2)), "{args:?}");
        assert!(got.out.is_empty());
    }
    // A carriage return inside quotes is data.
    assert_eq!(ok("decode --csv --column u", "\"a\rb\",u\r\n1,%41\r\n"), b"\"a\rb\",u\r\n1,A\r\n");
    assert_eq!(ok("decode --csv --no-header --column 2", "a\rb,%41\n"), b"a\rb,A\n");
}

/// Rows are read as Python's module csv reads them, and rows that RFC 4180 does not allow stay.
#[test]
fn python_agrees_which_rows_are_readable() {
    const CELLS: &[&[u8]] = &[
        b"",
        b"x",
        b"a%20b",
        b"\"q%41\"",
        b"\"q,\"\"%22\"",
        b"%22%2C",
        b"\"\"",
        b"%41",
        b"a\"b%41",
        b"\"a\"b",
        b" \"s\"",
        b"\"s\" ",
        b"x\"\"",
    ];
    // The last cells are rare.
    let input = Numbers(5).table(&[&CELLS[..8].repeat(7)[..], CELLS].concat(), &[b"\n"]);
    let args = ["decode", "-q", "--csv", "--column", "url,last"];
    let out = done(&args, &input);
    oracle("python_agrees_which_rows_are_readable", &["rows-csv", "url", "last"], &input, &out);
    assert_same("-j3", &done(&[&args[..], &["-j3"]].concat(), &input), &out);
}

#[test]
fn rows_may_be_ragged_or_reach_over_lines() {
    let input = "id,url\n1\n2,%41,%42\n\n\"3\n%41\",%41\r\n4,\"%41\n,%42\"\n5,%41\n6,\"a\"\"\n,%41\",%42";
    let wanted = "id,url\n1\n2,A,%42\n\n\"3\n%41\",A\r\n4,\"A\n,B\"\n5,A\n6,\"a\"\"\n,A\",%42";
    assert_eq!(decode("url", input), wanted);
}

#[test]
fn headers_name_columns() {
    assert_eq!(decode("b c,a", "a,\"b c\",d\n%41,%42,%43\n"), "a,\"b c\",d\nA,B,%43\n");
    assert_eq!(decode("1", "%41\n%41\n"), "%41\nA\n");
    // A column whose name is a number is selected by that name, not by its position.
    assert_eq!(decode("2", "2,a\n%41,%42\n"), "2,a\nA,%42\n");
    assert_eq!(decode("a", "\u{feff}\"a\",b\n%41,%42"), "\u{feff}\"a\",b\nA,%42");
    assert_eq!(decode("a", ""), "");
    assert_eq!(decode("a", "a"), "a");
    assert_eq!(ok("decode --csv --no-header --column 2", "%41,%42\n"), b"%41,B\n");
    let missing = run("decode --csv --no-header --column c", "");
    assert_eq!(missing.code, Some(2));
    assert_eq!(ok("decode --csv -d ; --column u", "u;v\n%2C%3B;%41"), b"u;v\n\",;\";%41");
}

#[test]
fn a_row_of_one_empty_cell_stays_a_row() {
    let args = ["decode", "--csv", "--column", "u", "--on-malformed", "empty"];
    assert_eq!(done(&args, "u\n%zz\n%41\n"), b"u\n\"\"\nA\n");
    assert_eq!(done(&args, "u,v\n%zz,1\n"), b"u,v\n,1\n");
}

#[test]
fn places_count_quotes_and_lines() {
    let input = "a,u\n1,\"x\n\"\"%41%zz\"\n";
    let run = run("decode --csv --column u --strict", input);
    let wanted = "pct: <stdin>:3: offset 14: malformed escape: 'z' is not a hexadecimal digit\n";
    run.says(wanted, 1);
    assert_eq!(input.find("%zz"), Some(14));
    assert_eq!(run.out, b"a,u\n");
}

#[test]
fn the_csv_module_agrees() {
    const CELLS: &[&[u8]] = &[
        b"",
        b"x",
        b"a%20b",
        b"\"q\"",
        b"\"q%2C,\"\"%22\"",
        b"%0A%0D%2C",
        b"\"line\r\nend%41\"",
        b"\"\"",
        b"%E2%82%AC",
        b"plain/path%2Fto",
        b"'",
    ];
    let input = Numbers(3).table(CELLS, &[b"\n", b"\r\n"]);
    let out = ok("decode --csv --column url,last -j1", &input);
    oracle("the_csv_module_agrees", &["csv", "url", "last"], &input, &out);
    assert_same("-j3", &ok("decode --csv --column url,last -j3", &input), &out);
}

#[test]
fn a_column_can_have_any_number() {
    let row = format!("{}%41", "%41,".repeat(65_540));
    for number in [65_536, 65_537, 65_541] {
        let out = text(&["decode", "--csv", "--no-header", "--column", &number.to_string()], &row);
        let places: Vec<_> = out.split(',').enumerate().filter(|(_, cell)| *cell == "A").collect();
        assert_eq!(places, [(number - 1, "A")]);
    }
    for number in ["5000000000", "18446744073709551615"] {
        let args = ["--csv", "--no-header", "--column", number];
        for command in [&["decode"][..], &["check"], &["decode", "--into", "new"]] {
            let run = run(&[command, &args].concat(), "a%00,b\n");
            assert!(matches!(run.code, Some(0 | 2)), "{command:?} {number}: {}", run.err);
        }
        let run = run(&[&["decode"], &args[..]].concat(), "%41,b\n");
        let wanted = format!("pct: no row has column {number}\n");
        assert_eq!((run.out, run.err), (b"%41,b\n".to_vec(), wanted));
    }
}
