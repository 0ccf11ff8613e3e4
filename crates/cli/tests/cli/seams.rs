//! Tests which parts of records are written, and the warnings if selected fields, columns or keys do not exist.

use crate::support::{Args, Numbers, Run, assert_same, done, ok, oracle, refused, run, text, words_of};

fn decode(args: &(impl Args + ?Sized), input: &str) -> String {
    text(&[&["decode"][..], &args.list()].concat(), input)
}

#[test]
fn a_json_string_that_stays_is_not_spelt_anew() {
    for (value, wanted) in [
        (r#""\u00e9%FF""#, r#""\u00e9%FF""#),
        (r#""\/%ff%C3""#, r#""\/%ff%C3""#),
        (r#""\u00e9%41%FF""#, "\"éA%FF\""),
    ] {
        let line = |value| format!("{{\"u\":{value}}}\n");
        assert_eq!(decode("--jsonl --key u", &line(value)), line(wanted));
    }
}

#[test]
fn lone_surrogates_that_nobody_chose_do_no_harm() {
    for line in [
        r#"{"x":"\ud800","u":"%41"}"#,
        r#"{"\udfff":1,"u":"%41"}"#,
        r#"{"a":"\ud800x","u":"%41"}"#,
        r#"["\ud800",{"u":"\ud83d"}]"#,
    ] {
        let wanted = line.replace("%41", "A");
        assert_eq!(decode("-q --strict --jsonl --key u,a.b,x[]", line), wanted);
    }
    let chosen = run("decode --strict --jsonl --key u", r#"{"u":"\ud800"}"#);
    assert_eq!(chosen.err, "pct: <stdin>:1: offset 6: an escape is malformed\n");
}

#[test]
fn who_selects_nothing_is_told_once() {
    let lines = "{\"a\":1}\n".repeat(100_000);
    for (args, input, message) in [
        (&["--jsonl", "--key", "x"][..], "{\"a\":1}\n{}\n", "no line has a string at key 'x'"),
        (&["--jsonl", "--key", "a"], "{\"a\":1}\n", "no line has a string at key 'a'"),
        (&["--jsonl", "--key", "x", "-j2"], &lines, "no line has a string at key 'x'"),
        (
            &["--jsonl", "--key", "x"],
            "{\n  \"x\":\n \"%41\"\n",
            "no line is a JSON object, and 2 records are unreadable: --jsonl expects one document per line; use `jq -c .`, or `jq -c '.[]'` for the elements of an array",
        ),
        (&["--field", "30"], "a b\n", "no line has field 30"),
        (&["--quoted", "--field", "2.3"], "a b\n", "no line has field 2.3"),
        (&["--tsv", "--field", "3"], "a\tb\n", "no line has field 3"),
        // A line has a range if it has one of the fields in the range.
        (&["--field", "4..6"], "a b\n", "no line has field 4..6"),
        (&["--field", "-7..-4"], "a b\n", "no line has field -7..-4"),
        (&["--field", "4.."], "a b\n", "no line has field 4.."),
        (&["--logfmt", "--key", "uri"], "url=/\n", "no line has the key 'uri'"),
        (&["--csv", "--no-header", "--column", "3"], "a,b\n", "no row has column 3"),
        (
            &["--log", "iis"],
            "#Fields: a b\na b\n",
            "no line has any of cs-uri, cs-uri-stem, cs-uri-query, cs(Referer), cs(Referrer), as named by a line starting with '#Fields:', between blanks",
        ),
    ] {
        let Run { err, code, .. } = run(&[&["decode"], args].concat(), input);
        assert_eq!((err.as_str(), code), (format!("pct: {message}\n").as_str(), Some(0)), "{args:?}");
        // With -q, only unreadable records are counted.
        let quiet = run(&[&["decode", "--quiet"], args].concat(), input).err;
        assert_eq!(
            quiet.contains(" unreadable, and stay"),
            message.contains("readable"),
            "{args:?}: {quiet}"
        );
        assert!(quiet.lines().count() <= 1, "{args:?}: {quiet}");
        // An empty input has no records, so there is no warning that a field is missing.
        assert_eq!(run(&[&["decode"], args].concat(), "").err, "", "{args:?}");
    }
    // There is no warning if at least one line has the field or key.
    for (args, input) in [
        (&["--jsonl", "--key", "x,y"][..], "{\"x\":\"\"}\n{}\n\n{\"y\":\"\"}\n"),
        (&["--field", "1,2"], "a\na b\n"),
        (&["--field", "2..4"], "a\na b\n"),
        (&["--field", "-4..-2"], "a b\na\n"),
        (&["--field", "1..,2"], "a b\n"),
        (&["--field", "1..2,2.."], "a b\n"),
        (&["--logfmt", "--key", "a,b"], "a=1\nb=\n"),
    ] {
        assert_eq!(run(&[&["decode"], args].concat(), input).err, "", "{args:?}");
    }
    // Each missing field gets its own warning, and the field that exists gets none.
    let both = run("decode --field 1,8,9", "a b\n").err;
    assert_eq!(both, "pct: no line has field 8\npct: no line has field 9\n");
}

#[test]
fn columns_that_are_not_there_are_errors() {
    for (column, message) in [
        ("9", "no column '9'; the header has 2: a, b"),
        ("3", "no column '3'; the header has 2: a, b"),
        ("c", "no column 'c'; the header has 2: a, b"),
        ("a,1", "column a is asked for twice"),
    ] {
        let Run { out, err, code } = run(&["decode", "--csv", "--column", column], "a,b\n1,2\n");
        assert_eq!((out.len(), err, code), (0, format!("pct: <stdin>: {message}\n"), Some(2)));
    }
}

#[test]
fn all_columns_of_a_name_are_worked_on() {
    assert_eq!(decode("--csv --column u", "u,v,u\n%41,%42,%43\n"), "u,v,u\nA,%42,C\n");
    run("decode --csv --column u --into w", "u,v,u\n")
        .says("pct: <stdin>: 2 columns are called 'u'; select one by number\n", 2);
}

#[test]
fn paths_may_be_written_as_for_jq() {
    let line = r#"{"url":"%41","items":[{"url":"%42"},"%43"],"*":"%44"}"#;
    for (key, changed) in [
        (".url", &["41"][..]),
        (".items[].url", &["42"]),
        ("items[*].url", &["42"]),
        ("items[*]", &["43"]),
        (".items[*],url", &["43", "41"]),
        ("**", &["41", "42", "43", "44"]),
        (".**", &["41", "42", "43", "44"]),
        ("items.**", &["42", "43"]),
        ("items[].**,url", &["41", "42", "43"]),
        ("\\*", &["44"]),
        ("*", &["44"]),
    ] {
        let wanted = changed.iter().fold(line.to_owned(), |line, digits| {
            let byte = u8::from_str_radix(digits, 16).unwrap();
            line.replace(&format!("%{digits}"), &char::from(byte).to_string())
        });
        assert_eq!(decode(&["--jsonl", "--key", key], line), wanted, "{key}");
    }
    assert_eq!(decode("--jsonl --key .", "\"%41\"\n \"%42\" \n"), "\"A\"\n \"B\" \n");
    assert_eq!(decode("--jsonl --key .[]", "[\"%41\",[\"%42\"]]\n"), "[\"A\",[\"%42\"]]\n");
}

#[test]
fn options_may_be_repeated() {
    assert_eq!(ok("encode --keep / --keep :", "a/b:c d"), b"a/b:c%20d");
    assert_eq!(decode("--keep / --keep %3A", "%2F%3A%20"), "%2F%3A ");
    assert_eq!(decode("--field 1 --field 2", "%41 %42 %43"), "A B %43");
}

#[test]
fn only_values_are_written_one_a_line() {
    let log = "a \"GET /x%20y%22%5D HTTP/1.1\"\nshort\nb \"POST /%0A%0D HTTP/1.1\"\n";
    assert_eq!(decode("--values --quoted --field 2.2", log), "/x y\"]\n/%0A%0D\n");
    assert_eq!(
        decode("--values --quoted --field 1,2.2 --output-delimiter tab", "a%09 \"G %09%20\"\nb\n"),
        "a%09\t%09 \nb\t\n"
    );
    assert_eq!(decode("--values --field 1,2 --output-delimiter |", "a|b c%7c\n"), "a%7Cb|c%7c\n");
    assert_eq!(decode("--values --field 2", "a %41"), "A\n");
    assert_eq!(ok("decode --values -0 --field 2", "a %41%00%0A\0b B"), b"A%00%0A\0B\0");
    let csv = "id,url\r\n1,\"a%22\nb%0A\"\r\n2\r\n3,%41\r\n";
    assert_eq!(decode("--values --csv --column url", csv), "a\"%0Ab%0A\nA\n");
    let json = "{\"u\":[\"a\\n%0A\",\"b%FF\"]}\nnope\n{}\n{\"u\":[]}\n";
    assert_eq!(done("decode -q --values --jsonl --key u[]", json), b"a%0A%0A\nb\xFF\n");
    assert_eq!(
        ok("decode --values --jsonl --key u[] --output-delimiter ,", "{\"u\":[\"a,\",\"%2c\"]}\n"),
        b"a%2C %2c\n"
    );
    assert_eq!(decode("--values --logfmt --key b,a", "a=1 b=\"%20\\n\"\n"), "1\n %0A\n");
}

#[test]
fn only_goes_with_policies_and_counts() {
    let input = "a %41\nb %zz\nc %42\n";
    let args = ["decode", "--values", "--field", "2", "--on-malformed", "drop", "--stats=json"];
    let Run { out, err, .. } = run(&args, input);
    assert_eq!(out, b"A\nB\n");
    assert!(err.contains("\"records\":3,\"dropped\":1,\"bytes_in\":18,\"bytes_out\":4,"), "{err}");
    let args = ["decode", "-q", "--values", "--field", "1,2", "--on-malformed", "drop"];
    assert_eq!(done(&args, input), b"a\nA\nc\nB\n");
    assert_eq!(done("decode --values --field 2 --on-malformed empty", input), b"A\n\nB\n");
    let fails = run("decode --values --field 2 --strict", input);
    assert_eq!((fails.out.as_slice(), fails.code), (&b"A\n"[..], Some(1)));
}

#[test]
fn new_columns() {
    let csv =
        |column: &str, into: &str, input: &str| decode(&["--csv", "--column", column, "--into", into], input);
    assert_eq!(csv("url", "plain", "id,url,x\r\n1,%41,y\r\n2\r\n"), "id,url,plain,x\r\n1,%41,A,y\r\n2\r\n");
    assert_eq!(
        csv("url", "new \"url\"", "url\n%2C\n\"%22\"\n"),
        "url,\"new \"\"url\"\"\"\n%2C,\",\"\n\"%22\",\"\"\"\"\n"
    );
    assert_eq!(csv("b,a", "B,A", "a,b\n%41,%42\n"), "a,A,b,B\n%41,A,%42,B\n");
    // No quote closes this cell, so the row stays as it is.
    assert_eq!(done("decode --csv --column u --into v", "u\n\"%41"), b"u,v\n\"%41");
    assert_eq!(csv("2", "n", "\"a,\",u\n1,2"), "\"a,\",u,n\n1,2,2");
    assert_eq!(decode("--csv --column u --into v --only-changed", "u\n1\n%41\n"), "u,v\n%41,A\n");
    // The new cell of a rejected value is empty, and an unreadable row gets no new cell.
    for (args, input, wanted) in [
        (
            &["decode"][..],
            "u,v\n%41,1\n%42,\"2\r\n\"%4,3\",3\r\n",
            "u,k,v\n%41,A,1\n%42,\"2\r\n\"%4,3\",\"%4,3\",3\r\n",
        ),
        (
            &["normalize", "--profile", "whatwg"],
            "u,v\nhttp://[/,1\nhttp://A,2\n",
            "u,k,v\nhttp://[/,,1\nhttp://A,http://a/,2\n",
        ),
        (&["normalize", "--profile", "rfc3986", "--hash", "xxh3"], "u,v\n//a:x,1\n", "u,k,v\n//a:x,,1\n"),
        (&["split", "--parts", "host"], "u,v\n//a,\"1\n//b,2\n", "u,k,v\n//a,\"1\n//b,b,2\n"),
    ] {
        let into = run(&[args, &["--csv", "--column", "u", "--into", "k", "-q"]].concat(), input);
        assert_eq!(into.text(), wanted, "{args:?}");
    }
    // A row that is longer than the limit gets an empty new cell.
    let long = "x%41".repeat(600_000);
    for (row, wanted) in [
        ("1,@,2", "1,@,,2"),
        ("\",\"\"\n,\",@", "\",\"\"\n,\",@,"),
        ("1,\"a,\r\n\"\"\",@", "1,\"a,\r\n\"\"\",,@"),
        ("@,a\rb,c", "@,a\rb,,c"),
        ("1,2\r,@", "1,2\r,,@"),
        // A row without the column stays as it is, and so does one with a misplaced quote.
        ("@", "@"),
        ("1,@\"x,2", "1,@\"x,2"),
        ("1,\"x\"@,2", "1,\"x\"@,2"),
    ] {
        for end in ["", "\n", "\r\n"] {
            for (next, new) in [("", ""), ("3,%42,4\n", "3,%42,B,4\n")] {
                if end.is_empty() && !next.is_empty() {
                    continue;
                }
                let input = format!("a,u,b\n1,%41,2\n{row}{end}{next}").replace('@', &long);
                let args = ["decode", "--csv", "--column", "u", "--into", "k", "--max-record", "1"];
                let into = run(&args, &input);
                let wanted = format!("a,u,k,b\n1,%41,A,2\n{wanted}{end}{new}").replace('@', &long);
                assert_same(row, &into.out, wanted.as_bytes());
                assert!(into.err.contains("stays as it is, with an empty new cell"), "{}", into.err);
            }
        }
    }
    let open = format!("u,v\n\"{long}\n%42,1\n");
    let into = run("decode --csv --column u --into k --max-record 1", &open);
    assert_same("an open quote", &into.out, open.replace("u,v", "u,k,v").as_bytes());
    for (args, wanted) in [
        (&["--csv", "--column", "u", "--into", "v"][..], "v: the header has this column already"),
        (&["--csv", "--column", "1", "--no-header", "--into", "v"], "no place for the name"),
        (&["--field", "1", "--into", "v"], "--into needs --csv, or --jsonl without --log"),
        (&["--jsonl", "--key", "a[]", "--into", "v"], "not a member of an object"),
        (&["--jsonl", "--key", "a,b", "--into", "v"], "1 names for 2 keys"),
        (&["--csv", "--column", "u", "--into", "a,b"], "2 names for 1 columns"),
        (&["--csv", "--column", "u", "--into", "w", "--values"], "--values"),
    ] {
        refused(&[&["decode"], args].concat(), "u,v\n1,2\n", wanted);
    }
}

#[test]
fn new_members() {
    let json = |key: &str, into: &str, input: &str| decode(&["--jsonl", "--key", key, "--into", into], input);
    assert_eq!(
        json("u", "v", "{\"u\" : \"%41\" , \"x\":1}\n{}\n"),
        "{\"u\" : \"%41\",\"v\":\"A\" , \"x\":1}\n{}\n"
    );
    assert_eq!(
        json("a[].u", "\"", r#"{"a":[{"u":"%22%FF"},{"u":""}]}"#),
        r#"{"a":[{"u":"%22%FF","\"":"\"%FF"},{"u":"","\"":""}]}"#
    );
    assert_eq!(
        json("u,r.u", "v,w", r#"{"r":{"v":1,"u":"%41"},"u":"%42"}"#),
        r#"{"r":{"v":1,"u":"%41","w":"A"},"u":"%42","v":"B"}"#
    );
    // If an object already has the key given by `--into`, no value is added to the object.
    let taken = "{\"v\":1,\"u\":\"%41\"}\n{\"u\":\"%42\",\"\\u0076\":2}\n{\"u\":\"%43\"}\n";
    let args = ["decode", "--jsonl", "--key", "u", "--into", "v"];
    let Run { out, err, code } = run(&args, taken);
    assert_eq!(String::from_utf8(out).unwrap(), taken.replace("%43\"", "%43\",\"v\":\"C\""));
    assert_eq!(
        (err.as_str(), code),
        ("pct: --into: 2 records already had such a name, and its value was not added\n", Some(0))
    );
    // If only some of the keys exist already, the other new members are added.
    let both =
        run("decode --jsonl --key u,v,w --into x,y,z", r#"{"u":"%41","v":"%42","w":"%43","x":1,"z":2}"#);
    assert_eq!(both.text(), r#"{"u":"%41","v":"%42","y":"B","w":"%43","x":1,"z":2}"#);
    assert_eq!(both.err, "pct: --into: 1 record already had such a name, and its value was not added\n");
    run(&[&args[..], &["--strict"]].concat(), taken)
        .says("pct: <stdin>:1: offset 11: there is a 'v' already (--into)\n", 1);
}

#[test]
fn only_changed_records_are_written() {
    assert_eq!(decode("--only-changed", "a\n%41\r\n%zz\n\n%42"), "A\r\nB");
    assert_eq!(decode("--only-changed --field 2", "%41 b\na %42\n"), "a B\n");
    assert_eq!(decode("--only-changed --csv --column 2", "a,b\n%41,b\na,%42\n"), "a,b\na,B\n");
    assert_eq!(
        done("decode --only-changed --jsonl --key u", "{\"u\":\"\\u00e9%FF\"}\nnope\n{\"u\":\"%41\"}\n"),
        b"{\"u\":\"A\"}\n"
    );
    let w3c = "#Version: 1.0\n#Fields: cs-uri-stem\n/a\n/%41\n";
    assert_eq!(decode("--only-changed --log w3c", w3c), "#Version: 1.0\n#Fields: cs-uri-stem\n/A\n");
    assert_eq!(decode("--only-changed --values --field 1,2", "a b\n%41 b\n"), "A\nb\n");
    assert_eq!(decode("--only-changed --on-malformed replace", "a\n%zz\n"), "%25zz\n");
    // Lines that are longer than `--max-record` are unreadable, so they do not change.
    let clean = "x".repeat(3 << 20);
    let input = format!("{clean}\n%41{clean}\n%42\n");
    let long = run("decode --only-changed --max-record 1", &input);
    assert_same("long lines", &long.out, b"B\n");
    assert_eq!(long.err.matches("is longer than 1 MiB (--max-record), and is left out").count(), 2);
}

#[test]
fn python_agrees_on_only_and_into() {
    const CELLS: &[&[u8]] =
        &[b"", b"x", b"a%20b", b"\"q%2C,\"\"%22\"", b"%0A%0D", b"\"l\r\ne%41\"", b"%E2%82%AC"];
    let input = Numbers(11).table(CELLS, &[b"\n"]);
    let args = ["decode", "--csv", "--column", "url,last"];
    let only = ok(&[&args[..], &["--values", "-j1"]].concat(), &input);
    oracle("only of CSV", &["only-csv", "url", "last"], &input, &only);
    assert_same("-j2", &ok(&[&args[..], &["--values", "-j2"]].concat(), &input), &only);
    let into = ok(&[&args[..], &["--into", "new,newer", "-j1"]].concat(), &input);
    oracle("into of CSV", &["into-csv", "url=new", "last=newer"], &input, &into);
    assert_same("-j2", &ok(&[&args[..], &["--into", "new,newer", "-j2"]].concat(), &input), &into);

    let strings = words_of(r#""","a%20b","\u00e9%22\/","\ud83d\ude00%5C%0A\n","é%41",1,[]"#.as_bytes());
    let (mut numbers, mut input) = (Numbers(12), Vec::new());
    for _ in 0..20_000 {
        let [a, b, c] = [(); 3].map(|()| numbers.pick(&strings));
        let parts = [b"{\"k\": ", a, b", \"r\": {\"x\": ", b, b",\"u\":", c, b"}}\n"];
        parts.iter().for_each(|part| input.extend_from_slice(part));
    }
    let args = ["decode", "--jsonl", "--key", "k,r.u"];
    let only = ok(&[&args[..], &["--values", "-j1"]].concat(), &input);
    oracle("only of JSON", &["only-json", "k", "r.u"], &input, &only);
    assert_same("-j2", &ok(&[&args[..], &["--values", "-j2"]].concat(), &input), &only);
    let into = ok(&[&args[..], &["--into", "n,m", "-j1"]].concat(), &input);
    oracle("into of JSON", &["into-json", "k=n", "r.u=m"], &input, &into);
}
