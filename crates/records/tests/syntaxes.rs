//! Tests of all syntaxes: which values are found, how new values are written, which records are rejected, and that
//! reading takes time linear in the input.

mod common;

use common::Random;
use common::cases::{Case, Counts, all, check, csv, edit, fields, json, log, logfmt, places, strings};
use serde::de::IgnoredAny;
use simdpct_records::{
    Dialect, Editor, Ends, Escaping, Form, KeyPath, Log, Numbered, Place, Position, Quotes, Separator,
    Syntax, Table, Widener, is_document,
};

#[test]
fn values_are_written_back_and_change_no_others() {
    let mut random = Random(7);
    for mut case in all() {
        let mut counts = Counts::default();
        for _ in 0..8_000 {
            let record = case.record(&mut random);
            check(&mut random, &mut case, &record, &mut counts);
        }
        assert!(counts.changed > 300, "{}: {counts:?}", case.name);
    }
}

#[test]
fn any_bytes_are_read_or_rejected() {
    let mut random = Random(8);
    for case in all() {
        let mut syntax = case.syntax.clone();
        for _ in 0..3_000 {
            let mut record = case.record(&mut random);
            for _ in 0..random.below(3) {
                let at = random.below(record.len() + 1);
                record.insert(at, random.next() as u8);
            }
            let mut found = Vec::new();
            if let Err(error) = syntax.find(&record, &mut found) {
                assert!(error.offset <= record.len());
            }
            for place in &found {
                let mut buffer = Vec::new();
                match place.value(&record, &mut buffer) {
                    Ok(value) => {
                        let len = value.len();
                        let origins = (0..=len).map(|offset| place.origin(&record, offset));
                        assert!(origins.is_sorted());
                    }
                    Err(offset) => assert!(place.range.contains(&offset)),
                }
            }
        }
    }
}

#[test]
fn reading_takes_linear_time() {
    for Case { name, mut syntax, words, frame } in all() {
        for word in words.iter().chain(&[&b"\",\""[..], b"\" \"", b"[[ ", b"{\"a\":", b"[", b"\\\\\" "]) {
            let words = word.repeat(400_000 / word.len());
            let record = [frame[0].as_bytes(), &words, frame[1].as_bytes()].concat();
            let start = std::time::Instant::now();
            let _ = syntax.find(&record, &mut Vec::new());
            assert!(start.elapsed().as_secs() < 5, "{name}: {}", word.escape_ascii());
        }
    }
}

#[test]
fn ends_are_those_of_rows_in_any_pieces() {
    let words: &[&[u8]] =
        &[b"\"", b"\"\"", b",", b"\n", b"a", b",\"", b"\",", b"\"\n", b"\r\n", b"\r", b"\\", b"\\\""];
    let mut random = Random(9);
    for quotes in [Quotes::Strict, Quotes::Lazy, Quotes::Backslash] {
        let dialect = Dialect { delimiter: b',', quotes };
        let (mut rows, mut with_feeds) = (0, 0);
        for _ in 0..20_000 {
            let input: Vec<u8> = (0..random.below(30)).flat_map(|_| random.pick(words).to_vec()).collect();
            let (mut ends, mut found, mut at) = (Ends::new(dialect), Vec::new(), 0);
            while let Some(len) = ends.next(&input[at..]) {
                at += len;
                found.push(at);
            }
            let (mut pieces, mut pieced, mut start) = (Ends::new(dialect), Vec::new(), 0);
            while start < input.len() {
                let stop = input.len().min(start + 1 + random.below(4));
                match pieces.next(&input[start..stop]) {
                    Some(len) => {
                        start += len;
                        pieced.push(start);
                    }
                    None => start = stop,
                }
            }
            assert_eq!(found, pieced, "{quotes:?} {}", input.escape_ascii());
            let context = || format!("{quotes:?} {}", input.escape_ascii());
            let mut start = 0;
            for end in found {
                let row = &input[start..end - 1];
                let row = row.strip_suffix(b"\r").unwrap_or(row);
                // The first line feed at which the cells can be read ends the row.
                let whole = dialect.cells(row);
                let feeds: Vec<_> = (0..row.len()).filter(|&at| row[at] == b'\n').collect();
                for &feed in &feeds {
                    let part = row[..feed].strip_suffix(b"\r").unwrap_or(&row[..feed]);
                    let error = dialect.cells(part).expect_err("a row has ended before");
                    assert_eq!(error.reason.0, "a quote is not closed", "{}", context());
                }
                if let Err(error) = &whole
                    && error.reason.0 != "a quote is not closed"
                {
                    let rest = &row[error.offset..];
                    assert!(!rest.contains(&b'\n'), "{}", context());
                }
                rows += usize::from(whole.is_ok());
                with_feeds += usize::from(whole.is_ok() && !feeds.is_empty());
                start = end;
            }
        }
        assert!(rows > 10_000 && with_feeds > 100, "{quotes:?} {rows} {with_feeds}");
    }
}

/// Returns the values of `record`, each with the index of the position, key or path that selects it, or the reason and offset of the fault.
fn read(syntax: &mut Syntax, record: &str) -> Result<Vec<(usize, String)>, String> {
    let mut found = Vec::new();
    syntax
        .find(record.as_bytes(), &mut found)
        .map_err(|error| format!("{}: {}", error.offset, error.reason.0))?;
    let value = |place: &Place| {
        let mut buffer = Vec::new();
        let value = place
            .value(record.as_bytes(), &mut buffer)
            .map(|value| String::from_utf8_lossy(value).into_owned());
        (place.index, value.unwrap_or_else(|offset| format!("malformed at {offset}")))
    };
    Ok(found.iter().map(value).collect())
}

fn found(values: &[(usize, &str)]) -> Result<Vec<(usize, String)>, String> {
    Ok(values.iter().map(|&(index, value)| (index, value.to_owned())).collect())
}

#[test]
fn csv_is_rfc_4180() {
    for (quotes, row, want) in [
        (Quotes::Strict, r#"1,"A B","x""y""#, found(&[(1, "1"), (0, "x\"y")])),
        (Quotes::Strict, "1,2", found(&[(1, "1")])),
        (Quotes::Strict, "", found(&[])),
        (Quotes::Strict, "\"\",,\"a\nb\"", found(&[(1, ""), (0, "a\nb")])),
        (
            Quotes::Strict,
            r#"2,"A\", B %41",http://x/%42"#,
            Err("13: a quote is inside a cell without quotes".to_owned()),
        ),
        (Quotes::Strict, r#"2,"A"x,3"#, Err("5: text follows a closing quote".to_owned())),
        (Quotes::Strict, r#"2,"A,3"#, Err("2: a quote is not closed".to_owned())),
        (Quotes::Backslash, r#"2,"A\", B %41",http://x/%42"#, found(&[(1, "2"), (0, "http://x/%42")])),
        (Quotes::Backslash, r#""a\\",2,"\"\n""#, found(&[(1, "a\\"), (0, "malformed at 11")])),
        (Quotes::Backslash, r#""a\\"x,2"#, Err("5: text follows a closing quote".to_owned())),
        (Quotes::Lazy, r#""a"b",2,c"d"#, found(&[(1, "a\"b"), (0, "c\"d")])),
        (Quotes::Lazy, r#""a""b","c",d"#, found(&[(1, "a\"b"), (0, "d")])),
    ] {
        assert_eq!(read(&mut csv(quotes, &["3", "1"]), row), want, "{row}");
    }
}

#[test]
fn cells_stay_or_get_the_quotes_that_they_need() {
    for (row, value, want) in [
        ("a,b", "c,d", Ok("\"c,d\",b")),
        ("a,b", "c\"d", Ok("\"c\"\"d\",b")),
        ("a,b", "", Ok(",b")),
        ("a", "", Ok("\"\"")),
        ("\"a\",b", "x\ny", Ok("\"x\ny\",b")),
        ("\"a\",b", "", Ok("\"\",b")),
    ] {
        let mut syntax = csv(Quotes::Strict, &["1"]);
        let place = places(&mut syntax, row.as_bytes()).unwrap().remove(0);
        let want = want.map(|want: &str| want.into());
        assert_eq!(edit(row.as_bytes(), &place, value.as_bytes()), want, "{row}");
    }
}

#[test]
fn columns_have_names_or_numbers() {
    let table = |wanted: &[&str], into: &[&str], header: Option<&str>| {
        let header = header.map(str::as_bytes);
        Table::new(Dialect::strict(b','), &strings(wanted), &strings(into), header).map(Syntax::table)
    };
    let names = |wanted: &[&str], header| table(wanted, &[], header).map(|syntax| syntax.names());
    assert_eq!(names(&["url", "1"], Some("id,url,\"a \"\"b\"\"\",url")), Ok(strings(&["url", "url", "id"])));
    assert_eq!(names(&["a \"b\""], Some("id,url,\"a \"\"b\"\"\"")), Ok(strings(&["a \"b\""])));
    assert_eq!(names(&["3"], None), Ok(strings(&["3"])));
    for (wanted, into, header, want) in [
        (&["url"][..], &[][..], Some("url\r/%41\r/%42\r"), "carriage returns"),
        (&["x"], &[], Some("a,b"), "no column 'x'; the header has 2: a, b"),
        (&["3"], &[], Some("a,b"), "no column '3'"),
        (&["0"], &[], None, "from 1"),
        (&["a", "1"], &[], Some("a,b"), "asked for twice"),
        (&["a"], &["b"], Some("a,b"), "already"),
        (&["a"], &["c"], Some("a,a"), "2 columns are called 'a'"),
        (&["a"], &[], Some("a,\"b"), "a quote is not closed at 2"),
    ] {
        let error = table(wanted, into, header).map(|_| ()).unwrap_err();
        assert!(error.contains(want), "{error}");
    }
    assert_eq!(Dialect::named(b"sep=;"), Some(b';'));
    assert_eq!(Dialect::named(b"SEP=\t"), Some(b'\t'));
    assert_eq!(Dialect::named(b"sep"), None);
}

#[test]
fn salvage_ends_at_the_next_row_of_the_same_width() {
    let mut table = Table::new(Dialect::strict(b','), &strings(&["1"]), &[], None).unwrap();
    table.measure(b"id,url");
    let rest = |record: &'static str| &record[table.resume(record.as_bytes()).unwrap_or(record.len())..];
    assert_eq!(rest("1,\"a\n2,b\r\n3,\"c\"\n"), "2,b\r\n3,\"c\"\n");
    assert_eq!(rest("1,\"a\n2,b,c\n\nx\n3,\"c\"\n"), "3,\"c\"\n");
    assert_eq!(rest("1,\"a\n2\"x,b\n"), "");
    assert_eq!(rest("1,\"a"), "");
    // A blank line is no row, whatever the width is.
    let table = Table::new(Dialect::strict(b','), &strings(&["1"]), &[], None).unwrap();
    assert_eq!(table.resume(b"\"a\n\nx\n"), Some(4));
    assert_eq!(table.resume(b"\"a\n\n"), None);
}

#[test]
fn reading_a_table_with_open_quotes_takes_linear_time() {
    for lines in [
        &["x\",\"\n", "a,b\n"][..],
        &["\"x,y\n", "a,b\n"],
        &["a,\"\n", "\"\",\"\"\n"],
        &["\"\"\"\n", "a,b\n"],
    ] {
        let input = lines.concat().repeat(20_000);
        let mut table = Table::new(Dialect::strict(b','), &strings(&["1"]), &[], None).unwrap();
        table.measure(b"a,b");
        let mut syntax = Syntax::table(table.clone());
        let (mut at, mut scanned) = (0, 0);
        while at < input.len() {
            let record = &input.as_bytes()[at..];
            let len = Ends::new(table.dialect()).next(record).unwrap_or(record.len());
            scanned += len;
            let is_row = syntax.find(record[..len].trim_ascii_end(), &mut Vec::new()).is_ok();
            at += if is_row { len } else { table.resume(&record[..len]).unwrap_or(len) };
        }
        assert!(scanned <= 4 * input.len(), "{lines:?} {scanned}");
    }
}

#[test]
fn fields_are_counted_as_people_do() {
    let line = "a  \"b c\" [d e] f\\ g";
    for (separator, positions, want) in [
        (Separator::Blanks, &["2", "-1"][..], found(&[(0, "\"b"), (1, "g")])),
        (Separator::Blanks, &["6..7", "1"], found(&[(2, "a"), (0, "f\\"), (1, "g")])),
        (Separator::Blanks, &["8"], found(&[])),
        (Separator::Quoted, &["2", "3", "4"], found(&[(0, "b c"), (1, "d e"), (2, "f\\")])),
        (Separator::Quoted, &["3.2", "2.1"], found(&[(1, "b"), (0, "e")])),
        (Separator::Byte(b' '), &["2", "3"], found(&[(0, ""), (1, "\"b")])),
        (Separator::Byte(b' '), &["-2..-1"], found(&[(0, "f\\"), (1, "g")])),
        (Separator::Blanks, &["6..-1"], found(&[(0, "f\\"), (0, "g")])),
        (Separator::Blanks, &["6.."], found(&[(0, "f\\"), (0, "g")])),
        (Separator::Blanks, &["..2"], found(&[(0, "a"), (1, "\"b")])),
        (Separator::Blanks, &["..-6"], found(&[(0, "a"), (0, "\"b")])),
        (Separator::Blanks, &["-2.."], found(&[(0, "f\\"), (1, "g")])),
        (Separator::Byte(b' '), &["8.."], found(&[(0, "g")])),
        (Separator::Byte(b' '), &["9..", "-9..-8"], found(&[(2, "a")])),
        // A field that two positions select is found once.
        (Separator::Blanks, &["7", "-1"], found(&[(0, "g")])),
    ] {
        assert_eq!(read(&mut fields(positions, separator), line), want, "{separator:?} {positions:?}");
    }
    assert_eq!(
        fields(&["2..3", "-1", "4..-2"], Separator::Blanks).names(),
        strings(&["2", "3", "-1", "4..-2"])
    );
    let parse = |texts: &[&str], separator| {
        let positions = texts.iter().map(|text| text.parse::<Position>().map_err(str::to_owned));
        let positions = positions.collect::<Result<Vec<_>, _>>()?;
        Numbered::new(&positions, separator, Escaping::None).map(|_| ())
    };
    for texts in [
        &["0"][..],
        &["3..2"],
        &["-1..-2"],
        &["1.-1"],
        &["1.0"],
        &["x"],
        &["1", "1"],
        &["1..3", "2"],
        &["-2..-1", "-1"],
        &["1", "..2"],
        &["4..2"],
        &["1..70000"],
        &["1..2.1"],
    ] {
        assert!(parse(texts, Separator::Blanks).is_err(), "{texts:?}");
    }
    assert!(parse(&["1", "1.2"], Separator::Quoted).is_err());
    assert!(parse(&["1.2"], Separator::Blanks).is_err());
    for text in ["7", "-1", "2..5", "-3..-1", "2..", "..-2", "3..-2", "-4..6", "5.2"] {
        assert_eq!(text.parse::<Position>().unwrap().to_string(), text);
    }
}

/// Blanks separate fields as in `awk`, and a single byte separates them as in `cut`.
#[test]
fn fields_are_those_of_awk_and_cut() {
    let words: &[&[u8]] = &[b"a", b" ", b"  ", b"\t", b",", b"\"", b"[", b"]", b"\\", b"\xE9", b"\r", b"%20"];
    let mut random = Random(12);
    for _ in 0..20_000 {
        let line: Vec<u8> = (0..random.below(12)).flat_map(|_| random.pick(words).to_vec()).collect();
        let comma = |byte: &u8| *byte == b',';
        let blank = |byte: &u8| b" \t".contains(byte);
        let cut: Vec<_> = line.split(comma).collect();
        let awk: Vec<_> = line.split(blank).filter(|field| !field.is_empty()).collect();
        for (separator, fields) in [(Separator::Byte(b','), cut), (Separator::Blanks, awk)] {
            let number = 1 + random.below(5);
            for (position, want) in [
                (format!("{number}"), fields.get(number - 1..number)),
                (format!("-{number}"), fields.len().checked_sub(number).map(|at| &fields[at..=at])),
                (format!("{number}.."), fields.get(number - 1..)),
                (format!("..{number}"), Some(&fields[..number.min(fields.len())])),
                (format!("-{number}.."), Some(&fields[fields.len().saturating_sub(number)..])),
            ] {
                let found = places(&mut self::fields(&[&position], separator), &line).unwrap();
                let found: Vec<_> = found.iter().map(|place| place.raw(&line)).collect();
                let want = want.unwrap_or_default();
                assert_eq!(found, want, "{separator:?} {position} {}", line.escape_ascii());
            }
        }
    }
}

/// A new value may have the line ends and other control bytes that the old one has, but no others.
#[test]
fn fields_get_no_control_bytes() {
    for separator in [Separator::Byte(b','), Separator::Byte(b'['), Separator::Blanks, Separator::Quoted] {
        let record = b"a\r\x1Bb%0D";
        let place = places(&mut fields(&["1"], separator), record).unwrap().remove(0);
        let all: Vec<u8> = (0..=0x1F).chain([0x7F]).collect();
        assert!(all.iter().all(|byte| place.refused().contains(*byte)), "{separator:?}");
        let keeps = separator != Separator::Byte(b'[');
        assert_eq!(edit(record, &place, b"A\r\x1BB%0D").is_ok(), keeps, "{separator:?}");
        for new in [&b"a\r\x1Bb\r"[..], b"a\x1B\rb", b"\r\x1Bb", b"a\r\x1B", b"a\r\x1Bb\x7F"] {
            assert!(edit(record, &place, new).is_err(), "{separator:?} {}", new.escape_ascii());
        }
    }
}

#[test]
fn marks_end_fields_before_blanks() {
    let all = |line| {
        let values = read(&mut fields(&["1..9"], Separator::Quoted), line).unwrap();
        values.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!(all(r#"x "a\" b" y"#), ["x", "a\\\" b", "y"]);
    assert_eq!(all(r#"x "a\\" y"#), ["x", "a\\\\", "y"]);
    assert_eq!(all(r#"x "a"b c" y"#), ["x", "a\"b c", "y"]);
    assert!(
        read(&mut fields(&["1..9"], Separator::Quoted), r#"x "a b"#)
            .is_err_and(|error| error.starts_with("2:"))
    );
    assert_eq!(all("[a] b] [c d"), ["a", "b]", "[c", "d"]);
    assert_eq!(all("\t[a]b c]\t"), ["a]b c"]);
    assert_eq!(all(r#""" []"#), ["", ""]);
    // A bracket opens a field only if it is the first byte of the field.
    let write = |record: &[u8], value: &[u8]| {
        let place = places(&mut fields(&["1"], Separator::Quoted), record).unwrap().remove(0);
        edit(record, &place, value)
    };
    assert_eq!(write(b"a%5B0%5D [b c]", b"a[0]"), Ok(b"a[0] [b c]".to_vec()));
    assert_eq!(write(b"%5Ba[ b] c", b"[a["), Err(0));
    // The old value has a backslash before its quote. In the new value, nothing would protect the quote.
    let record = br#"x "a\" b" y"#;
    let place = places(&mut fields(&["2"], Separator::Quoted), record).unwrap().remove(0);
    assert_eq!(edit(record, &place, br#"a\c" b"#), Err(3));
    assert_eq!(edit(record, &place, br#"c\" bb"#), Ok(br#"x "c\" bb" y"#.to_vec()));
}

#[test]
fn logfmt_values_are_read_and_written() {
    let mut syntax = logfmt(&["url", "a"]);
    assert_eq!(
        read(&mut syntax, r#"x url=/a?b=c y= a="b \"c\u00e9\x21\a" url="" z"#),
        found(&[(0, "/a?b=c"), (1, "b \"cé!\u{7}"), (0, "")])
    );
    assert_eq!(read(&mut syntax, r#"a=1 url="x"#), Err("8: a quote is not closed".to_owned()));
    assert_eq!(read(&mut syntax, r#"a="1"url=x"#), Err("5: text follows a closing quote".to_owned()));
    assert_eq!(read(&mut syntax, r#"a="\q" url=x"#), found(&[(1, "malformed at 3"), (0, "x")]));
    assert_eq!(read(&mut syntax, "a= \"x\" = =a"), found(&[(1, "")]));
    for (value, want) in
        [("b c", "\"b c\""), ("b", "b"), ("b\"\\\n\x01é", "\"b\\\"\\\\\\n\\u0001é\""), ("", "")]
    {
        let place = places(&mut syntax, b"x a=1 y").unwrap().remove(0);
        assert_eq!(edit(b"x a=1 y", &place, value.as_bytes()), Ok(format!("x a={want} y").into_bytes()));
    }
    assert!(Syntax::logfmt(&strings(&["a", "b", "a"])).is_err());
}

#[test]
fn paths_are_those_of_jq() {
    let record = r#"{"a":{"b":"1","a.b":"2"},"c":["3",{"d":"4","d":"5"},["6"]],"e\u0066":"7","":"8","x":null,"y":1e5}"#;
    for (path, want) in [
        ("a.b", &["1"][..]),
        (".a.b", &["1"]),
        (r"a.a\.b", &["2"]),
        (r#".a."a.b""#, &["2"]),
        (r#".a["a.b"]"#, &["2"]),
        ("c[]", &["3"]),
        ("c[0]", &["3"]),
        ("c[1].d", &["4", "5"]),
        ("c[*].d", &["4", "5"]),
        ("c[2][0]", &["6"]),
        ("c.**", &["3", "4", "5", "6"]),
        ("**", &["1", "2", "3", "4", "5", "6", "7", "8"]),
        ("ef", &["7"]),
        (r#""""#, &["8"]),
        ("x", &[]),
        (".", &[]),
        ("a[]", &[]),
        ("a[0]", &[]),
        ("c.d", &[]),
    ] {
        let values = read(&mut json(&[path], Escaping::Json), record).unwrap();
        assert_eq!(values.into_iter().map(|(_, value)| value).collect::<Vec<_>>(), want, "{path}");
    }
    assert_eq!(read(&mut json(&["."], Escaping::Json), "\"x\""), found(&[(0, "x")]));
    for path in [
        "", "a.", "..a", "a..b", "a[", "a[x]", "a[-1]", "**.a", "a\\", "\"a", "[\"a\"", "\"a\"b", "a[+0]",
        "[]a", "a[0]b",
    ] {
        assert!(path.parse::<KeyPath>().is_err(), "{path}");
    }
    let path = |text: &str| text.parse::<KeyPath>().unwrap();
    assert!(path("a.b").is_beside(&path("a.c")) && !path("a.b").is_beside(&path("b")));
    for (one, other, is_refused) in [
        ("a.b", r#"."a"."b""#, true),
        ("a[]", "a[0]", true),
        ("a[0].b", "a[].b", true),
        ("a[].**", "a[0].**", true),
        ("a[0]", "a[1]", false),
        ("a[]", "a[].b", false),
        ("a[]", "a.b", false),
        ("a.**", "b", false),
        ("a.**", "a", true),
        ("a.b[0].c", "a.**", true),
        ("**", "a.**", true),
    ] {
        let syntax = Syntax::json(&[path(one), path(other)], &[], Escaping::Json);
        assert_eq!(syntax.is_err(), is_refused, "{one} {other}");
    }
}

#[test]
fn json_is_what_serde_reads() {
    let words: Vec<_> =
        r#"{ } [ ] , : "a" "\u00e9" "\ud83d\ude00" "\ud83d" 1 - 0 .5 e+1 true null nul " \ "\x41" 01 1. false"#
            .split(' ')
            .chain([" ", "\"\u{7f}é\""])
            .map(str::as_bytes)
            .collect();
    let (mut random, mut accepted) = (Random(10), 0);
    let mut syntax = json(&["**"], Escaping::Json);
    for _ in 0..100_000 {
        let text: Vec<u8> = (0..1 + random.below(9)).flat_map(|_| random.pick(&words).to_vec()).collect();
        let want = serde_json::from_slice::<IgnoredAny>(&text);
        let got = syntax.find(&text, &mut Vec::new());
        if !text.iter().all(u8::is_ascii_whitespace) {
            assert_eq!(got.is_ok(), want.is_ok(), "{}", text.escape_ascii());
        }
        accepted += u32::from(got.is_ok());
    }
    assert!(accepted > 300, "{accepted}");
    let deep = [vec![b'['; 100_000], b"\"x\"".to_vec(), vec![b']'; 100_000]].concat();
    assert_eq!(places(&mut syntax, &deep).unwrap().len(), 1);
}

#[test]
fn a_member_that_is_chosen_by_its_name_is_read_as_the_layout_has_it() {
    let record = r#"{"request":"GET /%41?q HTTP/1.1","note":"GET /%42 HTTP/1.1"}"#;
    let mut syntax = Syntax::log(Log::named("nginx-json").unwrap(), None, &["note", "request"]).unwrap();
    assert_eq!(read(&mut syntax, record), found(&[(1, "/%41?q"), (0, "GET /%42 HTTP/1.1")]));
    // A blank would end the target, but not another text.
    let found = places(&mut syntax, record.as_bytes()).unwrap();
    assert!(edit(record.as_bytes(), &found[0], b"/a b").is_err());
    assert!(edit(record.as_bytes(), &found[1], b"a b").is_ok());
}

#[test]
fn a_value_that_is_not_text_hides_no_other() {
    let record = b"{\"agent\":\"\xE9\",\"tab\":\"\t\",\"url\":\"/%41\",\"x\":\"\\ud800\"}";
    let mut syntax = json(&["url", "agent", "x"], Escaping::Json);
    let found = places(&mut syntax, record).unwrap();
    assert_eq!(found[0].value(record, &mut Vec::new()), Ok(&b"\xE9"[..]));
    assert_eq!(found[1].value(record, &mut Vec::new()), Ok(&b"/%41"[..]));
    assert_eq!(found[2].value(record, &mut Vec::new()), Err(found[2].range.start));
    // A new JSON string may have bytes that are not UTF-8 only if the old one has some.
    assert_eq!(edit(record, &found[1], b"a\xE9"), Err(1));
    assert!(edit(record, &found[0], b"\xE8").is_ok());
}

#[test]
fn documents_in_strings_are_seen() {
    for (value, want) in
        [("{\"a\":1}", true), (" [1]", true), ("\"a\"", true), ("{", false), ("1", false), ("", false)]
    {
        assert_eq!(is_document(value.as_bytes()), want, "{value}");
    }
}

/// Writes the records of `input` with each value in capitals, but leaves out records that contain `drop`.
fn write(syntax: &mut Syntax, input: &str, form: Form) -> String {
    let mut out = Vec::new();
    let mut editor = Editor::new(input.as_bytes(), 0, form, &mut out);
    let mut start = 0;
    for line in input.split_inclusive('\n') {
        let record = line.trim_end();
        editor.begin(start..start + record.len());
        let mut found = Vec::new();
        syntax.find(record.as_bytes(), &mut found).unwrap();
        for place in &found {
            let mut buffer = Vec::new();
            let value = place.value(record.as_bytes(), &mut buffer).unwrap().to_ascii_uppercase();
            match place.beside {
                Some(_) => editor.put_beside(syntax, place, Some(&value)).unwrap(),
                None if value == b"NULL" => editor.put_text(place, b"null"),
                None => editor.put(place, &value).unwrap(),
            }
        }
        start += line.len();
        if line.contains("drop") {
            editor.leave_out(b"", start)
        } else {
            let _ = editor.end(syntax.names().len(), start);
        }
    }
    editor.copy_to(input.len());
    String::from_utf8(out).unwrap()
}

#[test]
fn records_or_values_are_written() {
    let values = |delimiter| Form::Values {
        delimiter,
        end: b'\n',
        escape: |byte, out| out.extend(format!("%{byte:02X}").bytes()),
    };
    let input = "a b c\nd e\ndrop x y\ng\n";
    let mut three = fields(&["3", "1"], Separator::Blanks);
    assert_eq!(write(&mut three, input, Form::Whole), "A b C\nD e\nG\n");
    assert_eq!(write(&mut three, input, values(None)), "A\nC\nD\nG\n");
    assert_eq!(write(&mut three, input, values(Some(b','))), "C,A\n,D\n,G\n");
    assert_eq!(write(&mut three, input, Form::Nothing), "");
    let mut members = json(&["b", "a[]"], Escaping::Json);
    let input = "{\"a\":[\"x y\",\"z\"],\"b\":\"u\\nv,\"}\n{\"b\":\"null\"}\n";
    assert_eq!(write(&mut members, input, values(Some(b','))), "U%0AV%2C,X%20Y Z\nnull,\n");
    assert_eq!(
        write(&mut members, input, Form::Whole),
        "{\"a\":[\"X Y\",\"Z\"],\"b\":\"U\\nV,\"}\n{\"b\":null}\n"
    );
    let keys = |input| write(&mut members.clone(), input, Form::Key);
    assert_ne!(keys("{\"a\":[\"x\",\"y\"]}\n"), keys("{\"a\":[\"xy\"]}\n"));
    assert_ne!(keys("{\"a\":[\"x\"]}\n"), keys("{\"b\":\"x\"}\n"));
}

#[test]
fn new_values_are_beside_the_old_ones() {
    let path = |text: &str| text.parse::<KeyPath>().unwrap();
    let mut members =
        Syntax::json(&[path("a"), path("b[].c")], &strings(&["A b", "d"]), Escaping::Json).unwrap();
    assert_eq!(
        write(
            &mut members,
            "{\"a\":\"x\\\"\",\"b\":[{\"c\":\"y\"},{\"c\":\"u\",\"e\":{\"d\":1}}]}\n",
            Form::Whole
        ),
        "{\"a\":\"x\\\"\",\"A b\":\"X\\\"\",\"b\":[{\"c\":\"y\",\"d\":\"Y\"},{\"c\":\"u\",\"d\":\"U\",\"e\":{\"d\":1}}]}\n"
    );
    let mut found = Vec::new();
    members.find(b"{\"A b\":1,\"a\":\"x\"}", &mut found).unwrap();
    assert_eq!(found[0].beside, None, "the object has the name already");
    found.clear();
    members.find(b"{\"a\":\"x\",\"a\":\"y\"}", &mut found).unwrap();
    assert_eq!((found[0].beside, found[1].beside), (Some(8), None), "a name is added once");
    let header = Some(&b"url,n"[..]);
    let table =
        Table::new(Dialect::strict(b','), &strings(&["url"]), &strings(&["plain, new"]), header).unwrap();
    assert_eq!(table.widened(b"url,n"), b"url,\"plain, new\",n");
    assert_eq!(table.widened(b"\"url\",n"), b"\"url\",\"plain, new\",n");
    assert_eq!(
        write(&mut Syntax::table(table), "a,1\n\n\"x,y\",2\n", Form::Whole),
        "a,A,1\n\n\"x,y\",\"X,Y\",2\n"
    );
}

#[test]
fn logs_are_read_inside_strings() {
    let mut docker = json(&["log"], Escaping::Json).containing(log("apache"));
    let line = r#"{"log":"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /q?a=\\\"x\\\" HTTP/1.1\" 200 1 \"-\" \"é \\\\ \"\n","t":"x"}"#;
    assert_eq!(read(&mut docker, line), found(&[(1, "/q?a=\"x\""), (0, "é \\ ")]));
    let places = places(&mut docker, line.as_bytes()).unwrap();
    let new = edit(line.as_bytes(), &places[0], b"/q?a=\"y\"").unwrap();
    assert_eq!(String::from_utf8(new).unwrap(), line.replace("\\\\\\\"x\\\\\\\"", "\\\\\\\"y\\\\\\\""));
    // Bytes that are not UTF-8 can be in JSON if the server escapes them.
    let new = edit(line.as_bytes(), &places[0], b"/\xE9").unwrap();
    assert_eq!(String::from_utf8(new).unwrap(), line.replace("/q?a=\\\\\\\"x\\\\\\\"", "/\\\\xe9"));
    let mut raw = json(&["log"], Escaping::Json).containing(log("jetty"));
    let line = line.replace("q?a=\\\\\\\"x\\\\\\\"", "");
    let places = self::places(&mut raw, line.as_bytes()).unwrap();
    assert_eq!(edit(line.as_bytes(), &places[0], b"/\xE9"), Err(1));
    // Without the quote before the request, the record is unreadable.
    let cut = line.replace("\\\"GET", "GET");
    assert!(read(&mut docker, &cut).is_err());
    // A value inside three nested records cannot be read, because a place holds the escapings of two.
    let mut deep =
        json(&["a"], Escaping::Json).containing(json(&["a"], Escaping::Json).containing(logfmt(&["a"])));
    let error = read(&mut deep, r#"{"a":"{\"a\":\"a=1\"}"}"#).unwrap_err();
    assert_eq!(error, "6: the record is inside more records than can be read");
}

#[test]
fn long_rows_get_the_cells_that_others_get() {
    let words: &[&[u8]] = &[b"a", b",", b"\"", b"\"\"", b",\"", b"\",", b"\r", b"\n", b"\r\n"];
    let mut random = Random(11);
    let header = Some(&b"a,b,c"[..]);
    let table =
        Table::new(Dialect::strict(b','), &strings(&["a", "c"]), &strings(&["x", "y"]), header).unwrap();
    let mut count = 0;
    while count < 10_000 {
        let row: Vec<u8> = (0..random.below(12)).flat_map(|_| random.pick(words).to_vec()).collect();
        let mut places = Vec::new();
        let is_readable = Syntax::table(table.clone()).find(&row, &mut places).is_ok();
        if row.is_empty() || !is_readable || Ends::new(table.dialect()).next(&row).is_some() {
            continue;
        }
        let end = random.pick(&[&b""[..], b"\n", b"\r\n"]);
        // A carriage return before the line feed is a part of the line end.
        if row.ends_with(b"\r") {
            continue;
        }
        let input = [&row, end].concat();
        let mut widener = Widener::new(&table);
        let (mut out, mut at) = (Vec::new(), 0);
        while at < input.len() {
            let stop = input.len().min(at + 1 + random.below(5));
            widener.push(&table, &input[at..stop], stop == input.len(), &mut out);
            at = stop;
        }
        let mut want = input.clone();
        places.iter().rev().for_each(|place| want.insert(place.beside.unwrap(), b','));
        assert_eq!(out, want, "{}: {}", input.escape_ascii(), out.escape_ascii());
        count += 1;
    }
}
