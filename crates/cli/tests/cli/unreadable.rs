//! Tests the treatment of unreadable records: rows of CSV whose quotes are not closed, and records of other formats.

use std::fs;

use crate::support::{Args, Run, assert_same, folder, printed, run, run_in_chunks};

const OPEN: &str = "a quote is not closed";

/// Returns the line, offset and kind of each finding of `pct check` with `args`.
fn places(args: &[&str], input: &str) -> Vec<String> {
    let found = printed(&[&["check"], args].concat(), input);
    let place = |line: &str| line.splitn(5, ':').skip(1).take(3).map(str::trim).collect::<Vec<_>>().join(" ");
    found.lines().map(place).collect()
}

#[test]
fn an_unclosed_quote_hides_no_rows() {
    for (rows, wanted) in [
        ("1,\"x\n2,%00\n3,%00\n", &["2 6 unreadable", "3 11 nul", "4 17 nul"][..]),
        // The file ends without a line end, or directly after the quote.
        ("1,\"x\n2,%00", &["2 6 unreadable", "3 11 nul"]),
        ("1,%00\n2,\"", &["2 6 nul", "3 12 unreadable"]),
        ("1,\"\r\n2,%00\r\n", &["2 6 unreadable", "3 11 nul"]),
        // In an open cell, two adjacent quotes are data. In the row that is read after it, they are an empty cell.
        ("1,\"x\n2,%00\n\"\",%00\n", &["2 6 unreadable", "3 11 nul", "4 18 nul"]),
        // Only a row with as many cells as the header ends the unreadable lines. Later rows may have more or fewer.
        ("1,\"x\nno row\n,,%00\n2,%00\n3,%00,\n", &["2 6 unreadable", "5 24 nul", "6 30 nul"]),
        // Another quote closes the cell, and text follows it, so the row ends on that line.
        (
            "1,\"x\n2,%00\n3,\"y\n4,%00\n5,\"%00\"\n",
            &["2 6 unreadable", "3 11 nul", "4 17 unreadable", "5 22 nul", "6 29 nul"],
        ),
        ("%00,\"x\n%00,\"y\"\n%00,z\n", &["2 8 unreadable", "3 11 nul", "4 19 nul"]),
        // The unclosed cell is on the second line of its row.
        ("\"1\na\",\"x\n2,%00\n", &["3 10 unreadable", "4 15 nul"]),
        // A quote on the next line closes this cell, so the row is readable.
        ("1,\"x\ny\"\n2,%00\n", &["4 14 nul"]),
        // A misplaced quote makes only its own line unreadable.
        ("1,\"x\"y\n2,%00\n", &["2 9 unreadable", "3 13 nul"]),
        ("1,x\"\n2,\"%00\n\"\n", &["2 7 unreadable", "3 12 nul"]),
        // The second line has another number of cells than the header, so it is part of the unreadable row.
        ("1,\"x\n2,\"y\",%00\n", &["3 12 unreadable"]),
        ("1,\"x\n2,\"y\",%00\n3,%00\n", &["3 12 unreadable", "4 21 nul"]),
    ] {
        let input = format!("a,b\n{rows}");
        let all = places(&["--csv", "--column", "1,2", "--kinds", "nul,unreadable"], &input);
        assert_eq!(all, wanted, "{rows:?}");
        // Without a header, the first row sets the number of cells.
        let all = places(&["--csv", "--no-header", "--column", "1,2", "--kinds", "nul,unreadable"], &input);
        assert_eq!(all, wanted, "{rows:?}");
        for (verb, column) in [("decode", "2"), ("encode", "1,2"), ("normalize", "b")] {
            let args = [verb, "--csv", "--column", column, "--stats=json"];
            let unreadable = wanted.iter().filter(|place| place.ends_with("unreadable")).count();
            let stats = run(&args, &input).err;
            assert!(stats.contains(&format!("\"unreadable\":{unreadable},")), "{verb} {rows:?}: {stats}");
        }
    }
    run("check --csv --column a", "a,\"b\n%00,1\n")
        .says("pct: <stdin>: the header cannot be read: a quote is not closed at 2\n", 2);
}

#[test]
fn an_open_quote_in_the_last_line_has_a_place() {
    // With each line end, one of the inputs has 64 bytes, so it ends at the end of a block.
    for count in [1, 57, 58, 59] {
        for (end, jobs) in [("", "-j1"), ("\n", "-j1"), ("\r\n", "-j3")] {
            let input = format!("a\n1\n\"{}{end}", "x".repeat(count));
            let run = run(&["decode", "--csv", "--column", "a", jobs], &input);
            assert!(run.err.starts_with("pct: 1 record is unreadable"), "{input:?}: {}", run.err);
            assert_eq!(run.out, input.as_bytes());
            assert_eq!(places(&["--csv", "--column", "a"], &input), ["3 4 unreadable"]);
        }
    }
}

/// A row may end exactly where a read of the file ends, although the input goes on.
#[test]
fn unreadable_rows_are_counted_wherever_reads_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table");
    // The header and all rows have 64 bytes, so the end of a read is the end of a row.
    let header = format!("a,b,{}\n", "x".repeat(59));
    let row = format!("1,\"%41\n2,\"%42{}\n", "x".repeat(50));
    let shown = path.to_str().unwrap();
    let said = "pct: 50000 records are unreadable, and stay unchanged; --rejects FILE lists the reasons\n";
    for jobs in ["-j1", "-j2"] {
        for end in ["7,A\n", ""] {
            fs::write(&path, [&header, row.repeat(50_000).as_str(), end].concat()).unwrap();
            run(&["decode", "--csv", "--column", "b", jobs, shown], "").says(said, 0);
        }
    }
}

#[test]
fn only_the_lines_up_to_the_next_row_stay() {
    let dir = tempfile::tempdir().unwrap();
    let rejects = dir.path().join("rejects");
    let file = rejects.to_str().unwrap();
    let start = "a,b\n1,%41\n";
    let open = "%42,\"%43\nno row %44\n";
    let input = format!("{start}{open}2,%45\n3,%zz\n4,%FF\n");
    let changed = input.replace("%41", "A").replace("%45", "E").replace("%FF", "\u{fffd}");
    let said = "pct: 1 record is unreadable, and stays unchanged; --rejects FILE lists the reasons\n";
    let listed = format!("pct: 1 record is unreadable, and stays unchanged; {file} lists the reasons\n");
    let left_out = "pct: 1 record is unreadable, and is left out; --rejects FILE lists the reasons\n";
    let dropped = changed.replace(open, "");
    let emptied = changed.replace(open, "\n");
    for (options, wanted, err) in [
        (&[][..], &*changed, said),
        (&["--on-malformed", "keep"], &changed, said),
        (&["--quiet"], &changed, said),
        (&["--rejects", file], &changed, &listed),
        (&["--on-rejected", "drop"], &dropped, left_out),
        (
            &["--on-rejected", "null"],
            &emptied,
            &said.replace("stays unchanged", "nothing is written instead, or null in JSON"),
        ),
        (&["--only-changed"], "a,b\n1,A\n2,E\n4,\u{fffd}\n", left_out),
        (&["--values"], "A\nE\n%zz\n\u{fffd}\n", left_out),
        // With -q, the message about unreadable records stays.
        (&["--quiet", "--values"], "A\nE\n%zz\n\u{fffd}\n", left_out),
        (&["--quiet", "--on-rejected", "drop"], &dropped, left_out),
        (
            &["--quiet", "--on-malformed", "drop"],
            &changed.replace("3,%zz\n", ""),
            &(left_out.replace("is unreadable", "has a malformed escape") + said),
        ),
        (
            &["--into", "c"],
            "a,b,c\n1,%41,A\n%42,\"%43\nno row %44\n2,%45,E\n3,%zz,%zz\n4,%FF,\u{fffd}\n",
            said,
        ),
    ] {
        for jobs in ["-j1", "-j3"] {
            for chunk in [1, 7, usize::MAX] {
                let args = [&["decode", "--csv", "--column", "b", jobs], options].concat();
                let Run { out, err: got, code } = run_in_chunks(&args, input.as_bytes(), chunk);
                assert_eq!(String::from_utf8_lossy(&out), wanted, "{options:?}");
                assert_eq!((got.as_str(), code), (err, Some(0)), "{options:?}");
            }
        }
    }
    let listed = fs::read_to_string(&rejects).unwrap();
    let wanted = format!(
        "<stdin>:3:14: {OPEN}: %42,\"%43\\nno row %44\n\
         <stdin>:6:38: malformed escape: 'z' is not a hexadecimal digit: 3,%zz\n\
         <stdin>:7:44: not UTF-8: 4,%FF\n"
    );
    assert_eq!(listed, wanted);
    let strict = run("decode --csv --column b --strict", &input);
    assert_eq!(strict.err, format!("pct: <stdin>:3: offset 14: {OPEN}\n"));
    assert_eq!((strict.out.as_slice(), strict.code), (&b"a,b\n1,A\n"[..], Some(1)));
    // A later quote closes the cell of each open quote, and the lines between the two quotes are rows.
    let closed = run("decode --csv --column b", "a,b\n1,\"x\n2,%41\n3,\"y\n4,%42\n5,\"x\n6,\"y\n7,%43\n");
    assert_eq!(closed.out, b"a,b\n1,\"x\n2,A\n3,\"y\n4,B\n5,\"x\n6,\"y\n7,C\n");
    assert_eq!(closed.err, said.replace("1 record is", "3 records are").replace("stays", "stay"));
    // -q hides the progress, but not the message about unreadable records and values.
    let quiet = ["decode", "-q", "--csv", "--column", "b"];
    assert_eq!(run(&quiet, "a,b\n1,\"x\n2,%41\n").err, said);
    let line = run("decode -q --unescape nginx", "%41\\x4\n%42\n");
    assert_eq!((line.out, line.err), (b"%41\\x4\nB\n".to_vec(), said.replace("record", "value")));
    // A quote that is open at the end of a file does not go on in the next file.
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("one"), "a\n\"%41").unwrap();
    fs::write(path("two"), "a\n%42").unwrap();
    for (option, wanted) in [("--quiet", "a\n\"%41\nB"), ("--on-rejected=drop", "a\nB")] {
        let (one, two) = (path("one"), path("two"));
        let both = run(&["decode", option, "--csv", "--column", "a", "--one-header", &one, &two], "");
        assert_eq!(both.text(), wanted);
    }
}

/// After a quote that is not closed within `--max-record`, reading goes on with the next row, so that memory stays bounded.
#[test]
fn an_unclosed_quote_in_a_large_file_hides_no_rows() {
    let (_dir, path) = folder();
    let (file, rejects) = (path("in"), path("rejects"));
    let row = "1,https://example.org/%43/%zz\n";
    let before = row.repeat(5_000);
    let long = format!("{}%00\n", "x".repeat(3 << 20));
    for (after, has_other) in [
        (row.repeat(200_000), false),
        // A row that is longer than `--max-record` is unreadable, too.
        (format!("{}1,{long}{}", row.repeat(40_000), row.repeat(100_000)), true),
        // A much later quote could close the cell, but it opens another cell.
        (format!("{}9,\"y\n{}", row.repeat(80_000), row.repeat(40_000)), true),
    ] {
        let input = format!("a,b\n{before}2,\"%41\n{after}");
        fs::write(&file, &input).unwrap();
        let at = 4 + before.len() + 2;
        let opened = format!(
            "offset {at}: the quoted value that begins here is not closed within 1 MiB (--max-record), and reading \
             goes on with the next line that is a row\n"
        );
        let wanted = input.replace("%43", "C");
        let rows = input.matches("%zz").count();
        for jobs in ["-j1", "-j3"] {
            for source in [file.as_str(), "-"] {
                let on = |args: &[&str]| {
                    let args =
                        [args, &["--csv", "--column", "b", "--max-record", "1", jobs, source]].concat();
                    run(&args, if source == "-" { input.as_str() } else { "" })
                };
                let decode = on(&["decode", "--rejects", &rejects]);
                assert_same(&format!("{jobs} {source}"), &decode.out, wanted.as_bytes());
                assert!(decode.err.contains(&opened), "{}", decode.err);
                let listed = fs::read_to_string(&rejects).unwrap();
                assert_eq!(listed.lines().count(), rows + 1 + usize::from(has_other));
                let (number, last) = (listed.lines().last().unwrap(), input.lines().count());
                let name = if source == "-" { "<stdin>" } else { source };
                assert!(number.starts_with(&format!("{name}:{last}:")), "{number} of {last}");
                let check = on(&["check", "--kinds", "malformed,unreadable"]);
                let found = check.text();
                assert_eq!(found.lines().count(), rows + 1 + usize::from(has_other));
                let first = found.lines().find(|line| line.contains("unreadable")).unwrap();
                assert!(first.contains(&format!(":5002:{at}: unreadable: {OPEN}")), "{first}");
                assert!(check.err.contains(&opened), "{}", check.err);
                // Every row has a malformed escape.
                let dropped =
                    on(&["decode", "--on-malformed", "drop", "--on-rejected", "drop", "--only-changed"]);
                assert_same("dropped", &dropped.out, b"a,b\n");
            }
        }
    }
}

/// Each of these quotes stays open up to `--max-record`, but the time grows only with the length of the input.
#[test]
fn many_open_quotes_take_linear_time() {
    for pair in ["k,\",z\",\"b\n2,z,c\n", "1,\"x\n2,\"\",\"\"\n"] {
        let input = format!("a,b,c\n{}", pair.repeat(12_000_000 / pair.len()));
        let args = ["--csv", "--column", "b", "--max-record", "1", "-q"];
        assert_eq!(run(&[&["decode"], &args[..]].concat(), &input).code, Some(0));
        assert_eq!(run(&[&["check", "-m1000000000"], &args[..]].concat(), &input).code, Some(1));
    }
}

#[test]
fn one_line_counts_unreadable_records() {
    let said = |count: usize, kind: &str, list: &str| {
        let what = match (count, kind) {
            (1, "value") => "value was rejected, and stays",
            (_, "value") => "values were rejected, and stay",
            (1, "part") => "value is unreadable, and stays",
            (1, _) => "record is unreadable, and stays",
            _ => "records are unreadable, and stay",
        };
        format!("pct: {count} {what} unchanged; {list} lists the reasons\n")
    };
    let kind = |args: &str| match args.split_once(' ').unwrap() {
        // Only one of these two values is unreadable.
        ("decode", more) if more.contains("u,v") => "part",
        ("decode", _) => "record",
        (_, more) if more.contains("--log") => "record",
        _ => "value",
    };
    // With `--values`, unreadable values are left out, and the message says so.
    let what_is_said = |args: &str, count: usize, reasons: &str| {
        let text = said(count, kind(args), reasons);
        match args.contains("--values") {
            true => text.replace("stays unchanged", "is left out").replace("stay unchanged", "are left out"),
            false => text,
        }
    };
    let get = |target: &str| format!("1 - - [10/Oct/2000:13:55:36 -0700] \"GET {target}\" 200 1");
    let combined = format!("garbage\n{} \"-\" \"-\"\n \n] \"\nmore [\n", get("/%41"));
    let common = format!("x %41\n{}\n", get("/%41"));
    let haproxy = "garbage\nx b/s 0/0 \"GET /%41\"\ngarbage\nx b/s 0/0 \"GET /\"\n";
    let array = "[\n{\"u\":\"%41\"},\n{\"u\":\"%42\"}\n]\n";
    let unquoted = "a,b\n%41,2\n\"2\n\"x,3\n\"4\n\",5\n%41,\"\"\n";
    let whatwg = "normalize --profile whatwg";
    // Each row has arguments, an input, the text that changes in the output, and what it becomes.
    for (args, input, from, to, count) in [
        (
            "join --from tsv",
            "http\t\ta\t\t/\t\t\nno row\n\t\ta/b\t\t/\t\t\n",
            "http\t\ta\t\t/\t\t",
            "http://a/",
            2,
        ),
        ("join --from jsonl", "{\"host\":\"a\"}\nx\n[]\n", "{\"host\":\"a\"}", "//a", 2),
        ("form --from jsonl", "{\"a\":null}\n{\"a\":1}\n", "{\"a\":1}", "a=1", 1),
        ("form --from csv", "a,b,c\n\"a\n", "", "", 2),
        ("decode --jsonl --key u", array, "%42", "B", 3),
        // Records without an escape are copied, but those that are unreadable are counted.
        ("decode --jsonl --key u", "xx\n{\"u\":\"%41\"}\nxx\n\n{\"u\":\"b\"}\n{\"u\":\n", "%41", "A", 3),
        ("decode --csv --column a", "a,b\n%41,2\n\"2,3", "%41", "A", 1),
        ("decode --csv --column a", "a,b\n%41,2\n\"2,3\n4,5\n", "%41", "A", 1),
        ("decode --csv --column a", unquoted, "%41", "A", 1),
        ("decode --logfmt --key u", "u=%41 v=\"b\"\nu=%41 u=\"b\n", "%41 v", "A v", 1),
        ("normalize --log combined", &combined, "%41", "A", 3),
        ("decode --log haproxy", haproxy, "%41", "A", 2),
        ("decode --jsonl --key u --values", "{\"u\":\"%41\"}\nx%\n", "{\"u\":\"%41\"}\nx%", "A", 1),
        ("decode --logfmt --key u,v", "u=\"\\x%41\" v=%42\n", "%42", "B", 1),
        ("decode --log common", &common, "/%41", "/A", 1),
        (whatwg, "http://a/%7E\nhttp://[/\n", "", "", 1),
        (&format!("{whatwg} --csv --column u"), "u\nhttp://[/\n", "", "", 1),
        (&format!("{whatwg} --on-invalid-utf8 replace"), "http://a/\nhttp://[/\n", "", "", 1),
    ] {
        for jobs in ["-j1", "-j3"] {
            let got = run(&format!("{args} {jobs}"), input);
            assert_eq!(got.text(), input.replace(from, to), "{args}");
            got.says(&what_is_said(args, count, "--rejects FILE"), 0);
        }
        // With -q, there is no message about rejected values that stay unchanged. All other messages are written.
        let is_told = args.contains("--values") || kind(args) != "value";
        let wanted = if is_told { what_is_said(args, count, "--rejects FILE") } else { String::new() };
        assert_eq!(run(&format!("{args} --quiet"), input).err, wanted, "{args}");
        let strict = run(&format!("{args} --strict"), input);
        assert_eq!((strict.err.lines().count(), strict.code), (1, Some(1)), "{args}: {}", strict.err);
        let (_dir, path) = folder();
        let rejects = path("rejects");
        let listed = run(&[args.list(), vec!["--rejects", &rejects]].concat(), input);
        assert_eq!(fs::read_to_string(&rejects).unwrap().lines().count(), count, "{args}");
        listed.says(&what_is_said(args, count, &rejects), 0);
        let stats = run(&format!("{args} --stats=json"), input).err;
        let (rejected, unreadable) = if kind(args) == "value" { (count, 0) } else { (0, count) };
        let counts = format!("\"rejected\":{rejected},\"unreadable\":{unreadable},");
        assert!(stats.contains(&counts), "{args}: {stats}");
    }
    // The count does not depend on chunks and threads, although most records without an escape are skipped.
    let log = format!("{}\nx %41\n{}\nx\n", get("/%41"), get("/"));
    for (args, lines) in [
        ("--jsonl --key u", "{\"u\":\"%41\"}\nx%\ny\n{\"u\":\"b\"}\n"),
        // A line in braces without an escape is not searched for faults.
        ("--jsonl --key u", "{\"u\":\"%41\"}\n{\"u\":}\nx%\ny\n{\"u\":\"b\"}\n"),
        ("--log common", &log),
        ("--csv --column=1", "%41,x\n\"a\nb\"c,%\n\"a\nb\",\n\"a\nb\"c,\n"),
    ] {
        for jobs in ["-j1", "-j2", "-j4"] {
            let many = run(&format!("decode {jobs} {args}"), lines.repeat(100_000));
            assert_eq!(many.err, said(200_000, "record", "--rejects FILE"), "{args} {jobs}");
        }
    }
    for jobs in ["-j1", "-j3"] {
        let many = run(&format!("{whatwg} {jobs}"), "http://[/\nhttp://a/\n".repeat(100_000));
        assert_eq!(many.err, said(100_000, "value", "--rejects FILE"), "{jobs}");
    }
}

/// Every command that reads values reports the number of unreadable records, and how it treated them.
#[test]
fn each_command_counts_the_records_that_it_cannot_read() {
    let (_dir, path) = folder();
    let name = path("list.jsonl");
    for (command, outcome) in [
        ("decode", "stays unchanged; --rejects"),
        ("encode", "stays unchanged; --rejects"),
        ("normalize", "stays unchanged; --rejects"),
        ("normalize --profile whatwg", "stays unchanged; --rejects"),
        ("resolve --base http://b/", "stays unchanged; --rejects"),
        ("iri", "stays unchanged; --rejects"),
        ("form", "stays unchanged; --rejects"),
        ("dedup", "stays unchanged; --rejects"),
        ("get {host} --values", "is left out; --rejects"),
        ("split --values", "is left out; --rejects"),
        ("decode --values", "is left out; --rejects"),
        ("top {host}", "is left out; `pct check --kinds unreadable`"),
        ("check --kinds malformed", "is not checked; `pct check --kinds unreadable`"),
    ] {
        for option in ["-j1", "-j2", "-i"].into_iter().take(if outcome.starts_with("stays") { 3 } else { 2 })
        {
            fs::write(&name, "{\"u\":\"http://a/%41\"}\n{\"u\":oops %41\n").unwrap();
            let args = format!("{command} {option} --jsonl --key u");
            let run = run(&[args.list(), vec![&name]].concat(), "");
            let said = format!("pct: 1 record is unreadable, and {outcome}");
            assert!(run.err.contains(&said), "{args}: {}", run.err);
        }
    }
}

#[test]
fn dedup_says_where_a_record_without_a_key_is() {
    let input = format!("a\n{}\na\n", "%41".repeat(900_000));
    for options in [&["-j1"][..], &["-j2"], &["-q"]] {
        let Run { out, err, code } = run(&[&["dedup"], options].concat(), &input);
        assert_same("the long record stays", &out, &input.as_bytes()[..input.len() - 2]);
        let wanted = "pct: <stdin>:2: offset 2: the record is longer than 2 MiB (--max-record), and stays, because it has no key\n";
        assert_eq!((&*err, code), (wanted, Some(0)), "{options:?}");
    }
}
