//! Tests `--jsonl`, which converts string values of JSON Lines.

use crate::support::{Numbers, done_text, ok, oracle, run, words_of};

fn decode(key: &str, input: &str) -> String {
    done_text(&["decode", "--quiet", "--jsonl", "--key", key], input)
}

#[test]
fn everything_else_stays_byte_for_byte() {
    let line = |url| {
        format!(
            "{{ \"n\" : 1.50e+400,\"u\" :\t{url} , \"o\":\"\\u0041\\/%41\",\"u2\":[ ],\"x\":{{\"u\":\"%41\"}} }} \r\n"
        )
    };
    for (value, wanted) in [
        (r#""a%20b""#, r#""a b""#),
        (r#""%22%5C%0A%00""#, r#""\"\\\n\u0000""#),
        (r#""caf\u00e9%20""#, "\"café \""),
        (r#""\ud83d\ude00%41""#, "\"😀A\""),
        (r#""http:\/\/x\/%41""#, r#""http://x/A""#),
        (r#""\t\u0025\u0034\u0031""#, r#""\tA""#),
        ("\"é%C3%A9\"", "\"éé\""),
        // JSON cannot contain invalid UTF-8, so such bytes stay percent-encoded.
        (r#""%41%FF%C3""#, r#""A%FF%C3""#),
        // Programs that build JSON from text leave control bytes unescaped, so such bytes are accepted.
        ("\"\u{1}\t%zz\"", "\"\u{1}\t%zz\""),
        ("\"\u{1}\t%41\"", "\"\\u0001\\tA\""),
        // A lone surrogate is not a character, so this value is unreadable and stays.
        (r#""\ud800%41""#, r#""\ud800%41""#),
        // A string that contains a JSON document still contains one after the conversion.
        (r#""{\"a\":[\"%41%22,%22%5C%0A\"]}""#, r#""{\"a\":[\"A%22,%22%5C%0A\"]}""#),
        (r#"" [\"%5B%5D %2F\"]""#, r#"" [\"[] /\"]""#),
        (r#""\"%41%22\"""#, r#""\"A%22\"""#),
        (r#""{%22a%22:1}""#, r#""{\"a\":1}""#),
        (r#""[%22""#, r#""[\"""#),
        // A string whose value does not change keeps its JSON escapes.
        (r#""\u00e9\/""#, r#""\u00e9\/""#),
        (r#""%zz""#, r#""%zz""#),
        ("41", "41"),
        ("null", "null"),
        ("[\"%41\"]", "[\"%41\"]"),
        ("{\"u\":\"%41\"}", "{\"u\":\"%41\"}"),
    ] {
        assert_eq!(decode("u", &line(value)), line(wanted), "{value}");
    }
    assert_eq!(decode("u", "\u{feff}{\"u\":\"%41\"}\n\n  \n"), "\u{feff}{\"u\":\"A\"}\n\n  \n");
}

#[test]
fn paths_lead_through_objects_and_arrays() {
    let line = r#"{"a":{"b":"%41","c.d":"%42"},"u":["%43",{"h":"%44"},["%45"]],"":"%46","a":{"b":"%47"}}"#;
    for (key, changed) in [
        ("a.b", &["41", "47"][..]),
        ("a.c\\.d", &["42"]),
        ("u[]", &["43"]),
        ("u[].h", &["44"]),
        ("u[],u[].h,u[][]", &["43", "44", "45"]),
        ("a", &[]),
        ("a.b.c", &[]),
        ("u.h", &[]),
        ("a.b,a.c\\.d,a", &["41", "42", "47"]),
        (r#"a."c.d",."a".b,"""#, &["41", "42", "46", "47"]),
        (r#"["a"]["b"],u[0],u[2][0]"#, &["41", "43", "45", "47"]),
        ("u[1].h,u[3],u[0].h,a[0]", &["44"]),
    ] {
        let wanted = changed.iter().fold(line.to_owned(), |line, digits| {
            let byte = u8::from_str_radix(digits, 16).unwrap();
            line.replace(&format!("%{digits}"), &char::from(byte).to_string())
        });
        assert_eq!(decode(key, line), wanted, "{key}");
    }
    assert_eq!(decode("[].u", "[{\"u\":\"%41\"}]"), "[{\"u\":\"A\"}]");
    assert_eq!(ok("encode --jsonl --key u", "{\"u\":\"\\u00e9 \"}"), b"{\"u\":\"%C3%A9%20\"}");
}

#[test]
fn a_line_that_is_not_json_is_refused() {
    for (line, offset) in [
        ("nope", 0),
        ("{\"u\":\"%41\"", 10),
        ("{\"u\":\"%41\"} x", 12),
        ("{\"u\":\"%41\" \"v\":1}", 11),
        ("{\"u\":\"\\x01\"}", 6),
        ("{\"u\":01}", 5),
        ("{\"u\":\"%41\",\"u\":\"\\u80\"}", 16),
    ] {
        let input = format!("{{\"u\":\"%41\"}}\n{line}\n{{\"u\":\"%42\"}}\n");
        let args = |policy| ["decode", "-q", "--jsonl", "--key", "u", "--on-rejected", policy];
        for (policy, wanted) in
            [("keep", format!("{line}\n")), ("null", "null\n".to_owned()), ("drop", String::new())]
        {
            let out = done_text(&args(policy), &input);
            assert_eq!(out, format!("{{\"u\":\"A\"}}\n{wanted}{{\"u\":\"B\"}}\n"), "{line}");
        }
        let run = run(&args("fail"), &input);
        let place = run
            .err
            .strip_prefix("pct: <stdin>:2: offset ")
            .and_then(|rest| rest.split_once(": the record is not JSON"));
        let found: usize = place.map(|(offset, _)| offset.parse().unwrap()).unwrap_or_default();
        assert_eq!(found, 12 + offset, "{line}: {}", run.err);
        assert_eq!((run.out.as_slice(), run.code), (&b"{\"u\":\"A\"}\n"[..], Some(1)));
    }
}

/// Programs that insert values into JSON unchanged write invalid UTF-8. No value of such a record may be missed.
#[test]
fn strings_that_are_not_utf8_are_read() {
    let line = b"{\"a\":\"\xE9%41\",\"u\":\"/%2e%2e/\xE9%E9\",\"\xE9\":\"\xE9\"}\n";
    let on = |args: &[&str]| {
        let run = run(&[args, &["--jsonl", "--key", "u"]].concat(), line);
        (run.out, run.err)
    };
    let listed = on(&["check", "--kinds", "dot"]).0;
    assert_eq!(String::from_utf8(listed).unwrap().lines().count(), 2);
    assert_eq!(on(&["decode", "--values"]), (b"/../\xE9\xE9\n".to_vec(), String::new()));
    // The bytes that are not valid UTF-8 stay as they are, and there are no new ones.
    let wanted = b"{\"a\":\"\xE9%41\",\"u\":\"/../\xE9%E9\",\"\xE9\":\"\xE9\"}\n";
    assert_eq!(on(&["decode"]), (wanted.to_vec(), String::new()));
    let query = b"{\"u\":\"\xE9?a=%41%E9\"}";
    assert_eq!(ok("get --decode {query:a} --jsonl --key u", query), b"{\"u\":\"A%E9\"}");
    let strict = on(&["decode", "--strict"]).1;
    assert_eq!(strict, "", "a value that is read has no fault");
    let text = on(&["decode", "--on-invalid-utf8", "fail"]).1;
    assert_eq!(text, "pct: <stdin>:1: offset 25: not UTF-8\n");
}

#[test]
fn places_count_json_escapes() {
    for value in [r"\u00e9\/%zz", r"\ud83d\ude00\n%zz", "é%zz", r"%41\\%zz"] {
        let input = format!("{{}}\n{{\"u\":\"{value}\"}}\n");
        let run = run("decode --jsonl --key u --strict", &input);
        let offset = input.find("%zz").unwrap();
        let wanted =
            format!("pct: <stdin>:2: offset {offset}: malformed escape: 'z' is not a hexadecimal digit\n");
        assert_eq!(run.err, wanted, "{value}");
    }
}

#[test]
fn the_json_module_agrees() {
    const OTHERS: &[&[u8]] = &[b"1", b"-2.5e10", b"null", b"true", b"[]", b"{\"u\": [1, {}]}", b"[\"%41\"]"];
    let strings = r#""","a%20b","\u00e9%22\/","\ud83d\ude00%5C%0A","%C3%A9\t","é%41","plain""#;
    let strings = words_of(strings.as_bytes());
    let mut numbers = Numbers(5);
    let mut input = Vec::new();
    for _ in 0..20_000 {
        let mut pick = || {
            let words = if numbers.next() & 3 > 0 { &strings[..] } else { OTHERS };
            numbers.pick(words)
        };
        let (a, b, c, d) = (pick(), pick(), pick(), pick());
        let parts =
            [b"{\"k\": ", a, b", \"r\": {\"x\": ", b, b",\"u\":", c, b"}, \"l\": [", d, b", ", a, b"]}\n"];
        parts.iter().for_each(|part| input.extend_from_slice(part));
    }
    let out = ok("decode --jsonl --key r.u,l[]", &input);
    oracle("the_json_module_agrees", &["json", "r.u", "l[]"], &input, &out);
}
