//! Compares the conversion of many records at once with that of one record at a time, which `--stats` selects.

use std::sync::LazyLock;

use crate::support::{Numbers, assert_same, run, run_in_chunks, words_of};

/// Pieces of values, with escapes of delimiters and of text, and with malformed escapes.
static VALUE: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
    words_of(
        b"/,a,%41,%4,%,%zz,%2541,%C3%A9,%c3,%FF,\xC3\xA9,%09,%0A,%22,%2C,%5C,%00,%7e,+,\
        https://example.org/caf%C3%A9/a%20b?q=%2Fhome&x=1,\
        /a/much/longer/path/in/which/nothing/at/all/has/to/be/decoded/so/that/blocks/are/clean",
    )
});

/// Returns a value of a few pieces. Pieces that need a treatment of their own are left out unless `rare` is true.
fn value(numbers: &mut Numbers, rare: bool) -> Vec<u8> {
    let mut value = Vec::new();
    for _ in 0..numbers.next() % 6 {
        let piece = numbers.pick(&VALUE);
        let is_rare = [&b"%22"[..], b"%2C", b"%0A", b"%5C", b"%c3", b"%FF"].contains(&piece);
        if rare || !is_rare {
            value.extend_from_slice(piece);
        }
    }
    value
}

/// Returns `start` and at least `len` more bytes of records, which `record` appends.
fn text(seed: u64, len: usize, start: &[u8], record: impl Fn(&mut Numbers, &mut Vec<u8>)) -> Vec<u8> {
    let (mut numbers, mut text) = (Numbers(seed), start.to_vec());
    while text.len() < start.len() + len {
        record(&mut numbers, &mut text);
    }
    text
}

/// Checks that `args` give the same output and exit code, and count as many unreadable records, in one pass over many records as record
/// by record.
#[track_caller]
fn check(args: &[&str], text: &[u8]) {
    let what = format!("{args:?} {}", text[..text.len().min(200)].escape_ascii());
    let single = run(&[args, &["--stats=json", "-j1"]].concat(), text);
    let count = single.err.split("\"unreadable\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    for jobs in ["-j1", "-j3"] {
        for chunk in [usize::MAX, 100_000, 4099] {
            let many = run_in_chunks(&[args, &[jobs]].concat(), text, chunk);
            assert_same(&what, &many.out, &single.out);
            assert_eq!(many.code, single.code, "{what}");
            // Unreadable records and unreadable values are counted in separate lines.
            let counts = many.err.lines().filter(|line| line.contains(" unreadable, and stay"));
            let sum: u64 = counts.map(|line| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap()).sum();
            assert_eq!(sum.to_string(), count, "{what}: {}", many.err);
            assert!(count != "0" || many.err.is_empty(), "{what}: {}", many.err);
        }
    }
}

/// Checks that `pct check` with `args` has the same findings with and without the kind `port`. With `port`, it parses
/// each value as a URL; without `port`, it may skip records.
#[track_caller]
fn check_findings(args: &[&str], text: &[u8]) {
    for kinds in ["nul", "malformed,unreadable", "utf8", "double,separator,dot", "needless"] {
        let found = |kinds: &str| run(&[&["check", "-j1", "--kinds", kinds], args].concat(), text);
        let (many, single) = (found(kinds), found(&format!("{kinds},port")));
        assert_same(&format!("{kinds} {args:?}"), &many.out, &single.out);
        assert_eq!((many.code, many.err), (single.code, single.err), "{kinds} {args:?}");
    }
}

#[test]
fn fields_of_many_lines_are_decoded_like_those_of_one() {
    for seed in 0..12 {
        let rare = seed % 2 == 0;
        let line = |numbers: &mut Numbers, text: &mut Vec<u8>| {
            for index in 0..[6, 6, 6, 0, 1, 2, 3, 9][(numbers.next() % 8) as usize] {
                if index > 0 {
                    text.push(b'\t');
                }
                // Some texts have escapes in other fields too, and some have many lines without an escape.
                if seed % 3 > 0 || index == 3 || numbers.next().is_multiple_of(4) {
                    text.extend(value(numbers, rare));
                }
            }
            if numbers.next().is_multiple_of(500) {
                text.extend(b"%41x".repeat(5000));
            }
            text.extend_from_slice(
                [&b"\n"[..], b"\n", b"\n", b"\r\n", b"\r", b"\0"][(numbers.next() % 6) as usize],
            );
        };
        let text = text(seed, 300_000, b"a\tb\tc\td\te\n", line);
        for field in ["1", "2", "4", "9"] {
            check(&["decode", "--delimiter", "tab", "--field", field], &text);
            check_findings(&["--delimiter", "tab", "--field", field], &text);
        }
        check(&["normalize", "--delimiter", "tab", "--field", "4"], &text);
        check(&["decode", "-0", "--delimiter", "tab", "--field", "2"], &text);
        check(&["decode", "--delimiter", "tab", "--keep", "a~", "--field", "4"], &text);
        check(&["decode", "--delimiter", "/", "--field", "2"], &text);
    }
}

#[test]
fn fields_between_blanks_are_decoded_like_those_of_one_line() {
    for seed in 0..6 {
        let rare = seed % 2 == 0;
        let line = |numbers: &mut Numbers, text: &mut Vec<u8>| {
            let blank =
                |numbers: &mut Numbers| numbers.pick(&[&b" "[..], b" ", b" ", b"\t", b"  ", b" \t ", b""]);
            text.extend_from_slice(if rare { b"" } else { blank(numbers) });
            for _ in 0..[6, 6, 6, 0, 1, 2, 3, 9][(numbers.next() % 8) as usize] {
                text.extend(value(numbers, rare));
                text.extend_from_slice(blank(numbers));
            }
            if numbers.next().is_multiple_of(500) {
                text.extend(b"%41 ".repeat(5000));
            }
            text.extend_from_slice(
                [&b"\n"[..], b"\n", b"\n", b"\r\n", b"\r", b"\0", b" \n"][(numbers.next() % 7) as usize],
            );
        };
        let text = text(seed, 300_000, b"a b c d e\n", line);
        for field in ["1", "2", "4", "9"] {
            check(&["decode", "--field", field], &text);
            check_findings(&["--field", field], &text);
        }
        check(&["normalize", "--field", "4"], &text);
        check(&["decode", "--keep", "a~", "--field", "3"], &text);
        check(&["decode", "--quoted", "--field", "3"], &text);
    }
}

#[test]
fn requests_of_many_lines_are_decoded_like_those_of_one() {
    let starts = words_of(b"1.2.3.4 - -,h:80 1.2.3.4 - %41,1.2.3.4 - a b,");
    let methods = words_of(b"GET /,GET /,GET /,POST  /x y/,GET,-,%47ET /");
    let answers = words_of(b" 200 12, 200 12, 404 -, 200 123456789, 200 %41, 200,");
    let ends = words_of(
        b"-\" \"Mozilla/5.0 (X11; %41)\",-\" \"Mozilla/5.0 (X11; Linux)\",a%20b\" \"-\",\",\
        /much/longer/so/that/the/referrer/does/not/fit/in/one/word/of/bits\" \"-\"",
    );
    for seed in 0..16 {
        // Lines that must be read by themselves are rare, frequent or missing.
        let odd = [0, 300, 5, 40][seed as usize % 4];
        let line = |numbers: &mut Numbers, text: &mut Vec<u8>| {
            let start = text.len();
            let blanks = [&b" "[..], b" ", b" ", b"\t", b"  "][(numbers.next() % 5) as usize];
            text.extend_from_slice(numbers.pick(&starts));
            text.extend_from_slice(b" [10/Oct/2000:13:55:36 -0700] \"");
            text.extend_from_slice(numbers.pick(&methods));
            text.extend(value(numbers, seed % 3 > 0));
            text.extend_from_slice(numbers.pick(&[b" HTTP/1.1\"", b" HTTP/1.1\"", b" HTTP/2\" ", b"\""]));
            text.extend_from_slice(numbers.pick(&answers));
            if !numbers.next().is_multiple_of(4) {
                text.extend_from_slice(blanks);
                text.push(b'"');
                text.extend(value(numbers, seed % 3 > 0));
                text.extend_from_slice(numbers.pick(&ends));
            }
            if odd > 0 && numbers.next().is_multiple_of(odd) {
                let at = start + numbers.next() as usize % (text.len() - start);
                let new: &[u8] =
                    numbers.pick(&[b"\\", b"\"", b"%", b"\n", b"[", b"]", b" ", b"\t", b"", b"\r", b"\" "]);
                text.splice(at..=at, new.iter().copied());
                if numbers.next().is_multiple_of(2) {
                    text.extend_from_slice(
                        b"\ngarbage\n\n \n] \"%41\n[x] \"GET /%41 \"x\" HTTP/1.1\" 1 2 \"/%41\"\n- [x] \"\"",
                    );
                }
            }
            text.extend_from_slice(if seed % 5 == 0 { b"\r\n" } else { b"\n" });
        };
        let text = text(seed, 200_000, b"- - - [x] \"GET / HTTP/1.1\" 200 1 \"/\" \"-\"\n", line);
        for log in ["combined", "common", "vhost_combined", "apache", "nginx", "haproxy"] {
            check(&["decode", "--log", log], &text);
            check_findings(&["--log", log], &text);
        }
        check(&["normalize", "--log", "combined"], &text);
        check(&["decode", "--log", "combined", "--keep", "a~"], &text);
    }
}

#[test]
fn columns_of_many_rows_are_decoded_like_those_of_one() {
    let syntax = b"\" \"\n\" \"x%41 x\" \\\" \"\r \0 \r ,\"a\nb\" ,\"a\r\nb%41\" \"\" ,\" %2 \n";
    let syntax: Vec<_> = syntax.split(|&byte| byte == b' ').collect();
    for seed in 0..16 {
        // Odd syntax is rare, frequent or missing. Escaped quotes are rare or missing.
        let (odd, rare) = ([0, 300, 5, 40][seed as usize % 4], seed % 3 > 0);
        let row = |numbers: &mut Numbers, text: &mut Vec<u8>, cells: usize| {
            for index in 0..cells {
                if index > 0 {
                    text.push(b',');
                }
                let is_rare = rare && numbers.next().is_multiple_of(50);
                let value = value(numbers, is_rare);
                match numbers.next() % 4 {
                    0 => text.extend([b"\"", &*value, b"\""].concat()),
                    1 => text.extend([b"\"a \"\"quoted\"\", cell ", &*value, b"\""].concat()),
                    _ => text.extend(value),
                }
                if odd > 0 && numbers.next().is_multiple_of(odd) {
                    text.extend_from_slice(numbers.pick(&syntax));
                }
            }
            text.extend_from_slice(if seed % 5 == 0 { b"\r\n" } else { b"\n" });
        };
        // A text has rows of four cells, or such rows and some of one cell, or rows of three to five cells, four on average.
        let rows = |numbers: &mut Numbers, text: &mut Vec<u8>| match seed % 3 {
            0 => {
                let cells = if numbers.next().is_multiple_of(8) { 1 } else { 4 };
                row(numbers, text, cells);
            }
            1 => row(numbers, text, 4),
            _ => [4, 3, 5].into_iter().for_each(|cells| row(numbers, text, cells)),
        };
        let text = text(seed, 200_000, b"id,url,status,note\n1,x,y,z\n", rows);
        for column in ["id", "url", "note"] {
            check(&["decode", "--csv", "--column", column], &text);
            check(&["decode", "--csv", "--column", column, "--into", "new"], &text);
            check_findings(&["--csv", "--column", column], &text);
        }
        for dialect in [&["--lazy-quotes"][..], &["--quote-escape", "\\"]] {
            check(&[&["decode", "--csv", "--column", "url"], dialect].concat(), &text);
            check(&[&["decode", "--csv", "--column", "note", "--into", "new"], dialect].concat(), &text);
            check(&[&["decode", "--csv", "--column", "id,url"], dialect].concat(), &text);
            check_findings(&[&["--csv", "--column", "url"], dialect].concat(), &text);
        }
        check(&["normalize", "--csv", "--column", "2"], &text);
        check(&["decode", "--csv", "--keep", "a~", "--column", "2"], &text);
        check(&["decode", "--csv", "--keep", "a~", "--column", "2", "--into", "new"], &text);
        // In a chunk without quotes, other code finds the cells.
        let unquoted: Vec<u8> = text.into_iter().filter(|&byte| byte != b'"').collect();
        check(&["decode", "--csv", "--column", "url"], &unquoted);
        check(&["decode", "--csv", "--column", "note", "--into", "new"], &unquoted);
    }
}

#[test]
fn members_of_many_lines_are_decoded_like_those_of_one() {
    for seed in 0..16 {
        // Lines that need a parser are rare, frequent or missing. Values that need escapes are rare or missing.
        let (odd, rare) = ([0, 300, 5, 40][seed as usize % 4], seed % 3 > 0);
        let line = |numbers: &mut Numbers, text: &mut Vec<u8>| {
            let is_rare = rare && numbers.next().is_multiple_of(50);
            // Some texts have few lines with an escape.
            let is_clean = seed % 5 == 2 && !numbers.next().is_multiple_of(16);
            let value = if is_clean { b"/clean".to_vec() } else { value(numbers, is_rare) };
            let value = String::from_utf8_lossy(&value).into_owned();
            let number = numbers.next() % 1_000_000;
            let line = match numbers.next() % 8 {
                0 => format!("{{\"request\":{{\"url\":\"{value}\",\"n\":{number}}}}}"),
                1 => format!(
                    "{{\"id\":-{number}.5e7,\"request\":{{\"url\":\"{value}\"}}, \"x\" : [true,null,\"%41\"]}}"
                ),
                2 => format!("{{\"id\":{number},\"request\":{{\"method\":\"%47ET\"}}}}"),
                _ => format!(
                    "{{\"id\":{number},\"request\":{{\"method\":\"GET\",\"url\":\"{value}\"}},\"status\":200}}"
                ),
            };
            text.extend(line.as_bytes());
            if odd > 0 && numbers.next().is_multiple_of(odd) {
                // Changes the line somewhere, mostly so that it is not JSON any more.
                let at = text.len() - 1 - (numbers.next() as usize % line.len());
                let new: &[u8] = numbers
                    .pick(&[b"\\", b"\"", b"%", b"\n", b"\\u0025", b"\t", b"\xC3", b"", b"0", b"}", b" "]);
                text.splice(at..=at, new.iter().copied());
                if numbers.next().is_multiple_of(2) {
                    text.extend_from_slice(b"\nxx\n\n  \n[1,2]\n\"x%41\"\n{%\n{\"request\":{\"url\":1,\"url\":\"%41\",\"url\":\"%42\"}}");
                }
            }
            text.extend_from_slice(if seed % 5 == 0 { b"\r\n" } else { b"\n" });
        };
        let mut text = text(seed, 200_000, b"{\"request\":{\"url\":\"\"}}\n", line);
        // Lines in braces without an escape are not checked by default, so they are left out.
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        text = lines
            .filter(|line| odd == 0 || line.iter().any(|byte| b"%\\".contains(byte)))
            .collect::<Vec<_>>()
            .concat();
        check(&["decode", "--jsonl", "--key", "request.url"], &text);
        check(&["normalize", "--jsonl", "--key", "request.url"], &text);
        check(&["decode", "--keep", "a~", "--jsonl", "--key", "request.url"], &text);
    }
}
