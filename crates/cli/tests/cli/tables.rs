//! Tests `--csv`, which converts values in columns.

use crate::support::{Numbers, assert_same, ok, oracle, run};

fn decode(column: &str, input: &str) -> String {
    String::from_utf8(ok(&["decode", "--csv", "--column", column], input)).unwrap()
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
        ("a\"b", "a\"b"),
        ("\"a\"b", "\"a\"b"),
        (" \"a\"", " \"a\""),
        ("", ""),
        ("\"\"", "\"\""),
        // A quote that is not the first byte of a cell is data.
        ("a\"%41", "\"a\"\"A\""),
        ("\"a\"%41", "\"aA\""),
    ] {
        for end in ["", "\n", "\r\n"] {
            let around = |cell| format!("x,url,y\n%41,{cell},%42{end}");
            assert_eq!(decode("url", &around(cell)), around(wanted), "{cell:?}");
            let last = |cell| format!("x,url\n%41,{cell}{end}");
            assert_eq!(decode("2", &last(cell)), last(wanted), "{cell:?}");
        }
    }
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
    let missing = run(&["decode", "--csv", "--column", "c"], "a,b\n1,2\n");
    assert_eq!(
        (missing.err.as_str(), missing.code),
        ("pct: <stdin>: no column 'c'; the header has: a, b\n", Some(2))
    );
    assert_eq!(ok(&["decode", "--csv", "--no-header", "--column", "2"], "%41,%42\n"), b"%41,B\n");
    let missing = run(&["decode", "--csv", "--no-header", "--column", "c"], "");
    assert_eq!(missing.code, Some(2));
    assert_eq!(ok(&["decode", "--csv", "-d", ";", "--column", "u"], "u;v\n%2C%3B;%41"), b"u;v\n\",;\";%41");
}

#[test]
fn a_row_of_one_empty_cell_stays_a_row() {
    let args = ["decode", "--csv", "--column", "u", "--on-error", "empty"];
    assert_eq!(ok(&args, "u\n%zz\n%41\n"), b"u\n\"\"\nA\n");
    assert_eq!(ok(&args, "u,v\n%zz,1\n"), b"u,v\n,1\n");
}

#[test]
fn places_count_quotes_and_lines() {
    let input = "a,u\n1,\"x\n\"\"%41%zz\"\n";
    let run = run(&["decode", "--csv", "--column", "u", "--strict"], input);
    let wanted = "pct: <stdin>:3: offset 14: malformed escape: 'z' is not a hexadecimal digit\n";
    assert_eq!((run.err.as_str(), run.code), (wanted, Some(1)));
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
        b"a\"b%41",
        b"\"a\"b",
        b"'",
        b" \"sp\"",
    ];
    let mut numbers = Numbers(3);
    let mut input = b"id,url,\"other\",last\n".to_vec();
    for _ in 0..20_000 {
        for index in 0..1 + numbers.next() % 5 {
            if index > 0 {
                input.push(b',');
            }
            input.extend_from_slice(numbers.pick(CELLS));
        }
        input.extend_from_slice(numbers.pick(&[b"\n", b"\r\n"]));
    }
    let out = ok(&["decode", "--csv", "--column", "url,last", "-j1"], &input);
    oracle("the_csv_module_agrees", &["csv", "url", "last"], &input, &out);
    assert_same("-j3", &ok(&["decode", "--csv", "--column", "url,last", "-j3"], &input), &out);
}
