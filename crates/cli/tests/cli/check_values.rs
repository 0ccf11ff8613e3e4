//! Tests `pct check` on fields, columns and keys: the positions of findings, and that other text is not checked.

use crate::check::findings;
use crate::support::{Numbers, Run, run, run_in_chunks, words_of};

#[test]
fn fields() {
    let log = "%00 - - [10/Oct/2000:13:55:36 -0700] \"GET /a%2fb%zz HTTP/1.1\" 200 1 \"http://r/%2E\" \"%00\"\n\
               short %00\n\
               1 - - [10/Oct/2000:13:55:36 -0700] \"GET /ok HTTP/1.1\" 200 1 \"-\" \"ua\"\n";
    let wanted = |target: &str, referrer: &str| {
        [
            format!("1:44: separator: field {target} at 44: %2f is /"),
            format!("1:48: malformed: field {target} at 48: %zz: 'z' is not a hexadecimal digit"),
            format!("1:78: dot: field {referrer} at 78: %2E is ."),
        ]
    };
    assert_eq!(findings("--quoted --field 5.2,8", log), wanted("5.2", "8"));
    assert_eq!(findings("--quoted -f 8,5.2", log), wanted("5.2", "8"));
    let named = wanted("target", "referer");
    let unreadable = "2:98: unreadable: no quoted request".to_owned();
    assert_eq!(findings("--log combined", log), [&named[..], &[unreadable]].concat());
    assert_eq!(findings("--log combined --kinds dot", log), named[2..]);
    assert_eq!(findings("-d ; --field 2", "%00;a%00;%00\n%00\n;%4;\n").len(), 2);
    assert_eq!(
        findings("--tsv --field 2", "%00\ta b%00\t%00\r\nx\t%C3\r\n"),
        [
            "1:7: nul: field 2 at 7: %00",
            "2:18: utf8: field 2 at 2: invalid UTF-8 after decoding, from byte 0xC3 on"
        ]
    );
    let w3c = "#Fields: a cs-uri-stem b\n%00 /%00 %00\n#Fields: cs-uri-stem\n%zz\n";
    assert_eq!(
        findings("--log w3c", w3c),
        [
            "2:30: nul: field target at 5: %00",
            "4:59: malformed: field target at 0: %zz: 'z' is not a hexadecimal digit"
        ]
    );
}

#[test]
fn columns() {
    let csv = "id,url,\"ref\"\n%00,a%00,\"x%2F\"\n\"%00\",\"say \"\"%zz\"\"\n%2E\",%00\n%00\n1,ok,\n";
    let wanted = [
        "2:18: nul: column url at 5: %00",
        "2:24: separator: column ref at 11: %2F is /",
        "3:42: malformed: column url at 13: %zz: 'z' is not a hexadecimal digit",
        // This cell continues on the next line, so the finding has another line number than the record.
        "4:48: dot: column url at 19: %2E is .",
        "4:53: nul: column ref at 24: %00",
    ];
    assert_eq!(findings("--csv --column url,ref", csv), wanted);
    assert_eq!(findings("--csv --column ref", csv).len(), 2);
    assert_eq!(
        findings("--csv -d tab --no-header --column 2", "%00\t%2e\n"),
        ["1:4: dot: column 2 at 4: %2e is ."]
    );
    let marked = ["\u{feff}", csv].concat();
    assert!(findings("--csv --column url", marked)[0].starts_with("2:21: nul: column url at 5"));
    assert_eq!(
        run("check --csv --column url", csv).err,
        "pct: 3 findings in 4 rows (67 bytes): malformed 1, nul 1, dot 1\n"
    );
}

#[test]
fn keys_of_json_and_of_logfmt() {
    let jsonl = "{\"a\":\"%00\",\"u\":\"x\\u0025zz\",\"l\":[\"%2f\",1,\"\\t%2e\"]}\n\n{\"u\":1}\n";
    assert_eq!(
        findings("--jsonl --key u,l[]", jsonl),
        [
            // If a JSON escape spells the `%`, the offset is that of the JSON escape.
            "1:17: malformed: key u at 17: %zz: 'z' is not a hexadecimal digit",
            "1:33: separator: key l[] at 33: %2f is /",
            "1:43: dot: key l[] at 43: %2e is .",
        ]
    );
    let logfmt = "a=%00 u=x%00 m=\"\\t%2f\" u=\"y z%2e\"\n";
    assert_eq!(
        findings("--logfmt --key u,m", logfmt),
        [
            "1:9: nul: key u at 9: %00",
            "1:18: separator: key m at 18: %2f is /",
            "1:29: dot: key u at 29: %2e is .",
        ]
    );
}

#[test]
fn what_cannot_be_read_is_a_finding() {
    let broken = "{\"u\":\"a\"}\n{\"u\":%00}\n{\"u\":\"\\ud800\"}\n{\"u\":\"%00\"}\n";
    let found = findings("--jsonl --key u", broken);
    assert_eq!(
        found,
        [
            "2:15: unreadable: the record is not JSON",
            "3:26: unreadable: an escape is malformed",
            "4:41: nul: key u at 6: %00"
        ]
    );
    assert_eq!(findings("--jsonl --key u --ignore unreadable", broken), found[2..]);
    assert_eq!(findings("--jsonl --key u --kinds dot", broken), [""; 0]);
    let logfmt = "u=\"\\ud800\" u=%00\n";
    assert_eq!(findings("--logfmt --key u", logfmt).len(), 2);

    let long = format!("a,b\n1,{}%00\n2,%2e\n", "x".repeat(3 << 20));
    let Run { out, err, code } = run("check --csv --column b --max-record 1", &long);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        format!(
            "<stdin>:2:4: unreadable: the record is longer than 1 MiB (--max-record)\n\
             <stdin>:3:{}: dot: column b at 2: %2e is .\n",
            long.len() - 4
        )
    );
    assert!(
        err.starts_with(
            "pct: <stdin>:2: offset 4: the record is longer than 1 MiB (--max-record), and is not checked\n"
        ),
        "{err}"
    );
    assert_eq!(code, Some(1));
    assert_eq!(findings("--csv --column b --max-record 4", &long).len(), 2);
}

#[test]
fn values_are_urls_if_that_is_asked_for() {
    let csv = "u,v\n\"http://a:b/x y,\u{e9}\",http://[/\n,%00 |\n";
    assert_eq!(
        findings("--csv --column u --kinds illegal,non-ascii,port,host", csv),
        [
            "2:14: port: column u at 10: not a number up to 65535",
            "2:17: illegal: column u at 13: ' ' in the path",
            "2:20: non-ascii: column u at 16: byte 0xC3 in the path",
        ]
    );
    assert_eq!(
        findings("--csv --column 1 --component query", "u\na%00?b%00\n%00\n"),
        ["2:8: nul: column u at 6: %00"]
    );
    // A line end inside the quotes of a cell is part of the URL.
    assert_eq!(
        findings("--csv --column 1 --component query --kinds nul", "u\n\"/a\n%00?b\n%00\"\n"),
        ["4:12: nul: column u at 10: %00"]
    );
}

#[test]
fn json_names_values_and_their_places() {
    let run = run("check --format jsonl --jsonl --key u", "{}\n{\"u\":\"%00\"}\nx\n");
    assert_eq!(
        run.text(),
        "{\"file\":\"<stdin>\",\"line\":2,\"offset\":9,\"kind\":\"nul\",\"value\":\"u\",\"at\":6,\"text\":\"%00\"}\n\
         {\"file\":\"<stdin>\",\"line\":3,\"offset\":15,\"kind\":\"unreadable\",\"text\":\"the record is not JSON\"}\n"
    );
}

#[test]
fn what_is_nowhere_is_said() {
    let said = |args: &[&str], input: &str| run(&[&["check"], args].concat(), input).err;
    assert!(said(&["--field", "9"], "a b\n").ends_with("pct: no line has field 9\n"));
    assert!(said(&["--jsonl", "--key", "u"], "{}\n").ends_with("pct: no line has a string at key 'u'\n"));
    assert!(said(&["--logfmt", "--key", "u"], "a=b\n").ends_with("pct: no line has the key 'u'\n"));
    assert!(said(&["--html"], "<p>\n").ends_with("pct: no tag has an attribute with a URL\n"));
    assert_eq!(said(&["--html"], ""), "pct: no findings in 0 tags (0 bytes)\n");
    assert_eq!(run("decode --html", "<p>\n").err, "pct: no tag has an attribute with a URL\n");
    assert_eq!(said(&["--field", "9", "--quiet"], "a b\n"), "");
    run("check --csv --column x", "a,b\n").says("pct: <stdin>: no column 'x'; the header has 2: a, b\n", 2);
    for args in [
        &["--csv"][..],
        &["--key", "u"],
        &["--jsonl", "--key", "u", "--field", "1"],
        &["--delimiter", ","],
        &["--csv", "--column", "a", "-0"],
        &["--log", "combined", "-0"],
    ] {
        assert_eq!(run(&[&["check"], args].concat(), "").code, Some(2), "{args:?}");
    }
}

/// A value has the same findings alone and in a field, column or key, and their offsets point to the same bytes.
#[test]
fn every_selection_finds_what_its_values_hold() {
    let words = words_of(b"a,/b,%00,%2f,%2E,%zz,%4,%2541,%C3%A9,%c3,long and clean,x");
    let mut numbers = Numbers(7);
    let values: Vec<String> = (0..3000)
        .map(|_| {
            let value = (0..numbers.next() % 6).map(|_| numbers.pick(&words)).collect::<Vec<_>>().concat();
            // The last byte must not be a hexadecimal digit or a blank, so that the syntax around the value has no effect.
            format!("{}x", String::from_utf8(value).unwrap())
        })
        .collect();
    let parsed = |lines: Vec<String>| -> Vec<(usize, usize, String)> {
        let parse = |line: String| {
            let (number, rest) = line.split_once(':').unwrap();
            let (offset, rest) = rest.split_once(':').unwrap();
            (number.parse().unwrap(), offset.parse().unwrap(), rest.to_owned())
        };
        lines.into_iter().map(parse).collect()
    };
    let alone = parsed(findings(&[], values.join("\n")));
    assert!(alone.len() > 3000);
    let mut value_start = vec![0];
    for value in &values {
        value_start.push(value_start.last().unwrap() + value.len() + 1);
    }
    let forms: [(&[&str], &str, &str, &str, &str); 6] = [
        (&["--quoted", "--field", "2"], "", "%00%zz \"", "\" %2e\n", "field 2"),
        (&["-d", "|", "--field", "2"], "", "%00|", "|%00\r\n", "field 2"),
        (&["--csv", "--column", "u"], "%00,u\n", "\"%00\n\",", "\n", "column u"),
        (&["--csv", "--column", "u"], "%00,u\r\n", "\"%00\"\"\",\"", "\"\r\n", "column u"),
        (&["--jsonl", "--key", "o.u"], "", "{\"%00\":\"%zz\",\"o\":{\"u\":\"", "\"}}\n", "key o.u"),
        (&["--logfmt", "--key", "u"], "", "%00=%00 u=\"", "\" x=%zz\n", "key u"),
    ];
    for (args, header, before, after, name) in forms {
        let mut input = header.to_owned();
        let mut starts = Vec::new();
        for value in &values {
            starts.push(input.len());
            input += before;
            input += value;
            input += after;
        }
        let wanted: Vec<_> = alone
            .iter()
            .map(|(number, offset, rest)| {
                let at = before.len() + offset - value_start[number - 1];
                let offset = starts[number - 1] + at;
                let line = input.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
                let (kind, text) = rest.trim_start().split_once(": ").unwrap();
                format!("{line}:{offset}: {kind}: {name} at {at}: {text}")
            })
            .collect();
        assert_eq!(findings(args, &input), wanted, "{args:?}");
        let args = [&["check"], args].concat();
        let whole = run(&args, &input);
        for chunk in [7, 4093] {
            assert_eq!(run_in_chunks(&args, input.as_bytes(), chunk), whole, "{args:?} in pieces of {chunk}");
        }
    }
}

/// The findings do not depend on the number of threads, or on where the input is cut into chunks for the threads.
#[test]
fn findings_do_not_depend_on_threads() {
    let line = "1 \"GET /a%2fb/%C3%A9%zz HTTP/1.1\" clean clean clean clean clean clean clean clean clean\n";
    let input = [line.repeat(1000), "clean 2\n".repeat(100_000)].concat().repeat(6);
    let long = format!("%00{}%zz\n%2e", "a long line ".repeat(600_000));
    let csv = format!("a,b\n{}", "%00,\"x%2e\n\"\n".repeat(400_000));
    let cases: [(&[&str], &str); 6] = [
        (&[], &input),
        (&["--field", "3"], &input),
        (&["--kinds", "illegal"], &input),
        (&[], &long),
        (&["--csv", "--column", "b"], &csv),
        (&["-m", "4500"], &input),
    ];
    for (args, input) in cases {
        let args = [&["check"], args].concat();
        let one = run(&[&args[..], &["-j1"]].concat(), input);
        assert_eq!(one.code, Some(1));
        for jobs in ["-j2", "-j5"] {
            let several = run(&[&args[..], &[jobs]].concat(), input);
            assert!(several == one, "{args:?} {jobs}: {} and {}", several.err, one.err);
        }
    }
}

/// The offsets of findings in a value are found one after the other, and not each from the start of the value.
#[test]
fn many_findings_in_one_value_take_linear_time() {
    let count = 60_000;
    let input = format!("a\n\"{}\"\n", "\"\"%00".repeat(count));
    let Run { out, code, .. } = run("check -m1000000000 --csv --column a", &input);
    let out = String::from_utf8(out).unwrap();
    assert_eq!((out.lines().count(), code), (count, Some(1)));
    let last = format!("<stdin>:2:{}:", 5 * count);
    assert!(out.lines().last().unwrap().starts_with(&last), "{last} {:?}", out.lines().last());
}
