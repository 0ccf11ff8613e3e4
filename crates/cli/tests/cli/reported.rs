//! Tests cases that users reported to other programs: `pct` must find the value that the client sent.

use crate::support::{access, printed, run, text};

/// Returns a line of HAProxy with this request, and with the fields of TLS after it.
fn haproxy(request: &str, tls: &str) -> String {
    let start =
        "lb hap[3]: 192.0.2.9:5 [04/Aug/2020:20:06:14.613] fe be/s1 0/0/0/1/3 200 222 - - ---- 1/1/0/0/3 0/0";
    format!("{start} \"{request}\"{tls}\n")
}

/// Returns a line of Envoy with this target.
fn envoy(target: &str) -> String {
    format!(
        "[10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/2\" 200 - 0 2 2 1 \"-\" \"ua\" \"id\" \"h\" \"u\"\n"
    )
}

/// Returns the JSON that Docker writes around `line`.
fn docker(line: &str) -> String {
    let text = line.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{\"log\":\"{text}\"}}\n")
}

/// Runs each of `jobs`: arguments that blanks separate, an input, and the wanted output. Checks that there is no message.
#[track_caller]
fn gives(jobs: &[(&str, &str, &str)]) {
    for &(args, input, out) in jobs {
        check(&[(args, input, Some(out), "")]);
    }
}

/// Runs each of `jobs`: arguments that blanks separate, an input, the wanted output if it is checked, and text that the
/// messages contain. If this text is empty, checks that there is no message.
#[track_caller]
fn check(jobs: &[(&str, &str, Option<&str>, &str)]) {
    for (args, input, out, message) in jobs {
        let run = run(*args, input);
        let found = run.text();
        assert!(out.is_none_or(|out| out == found), "pct {args}\n{input}{found}");
        assert!(run.err.contains(message), "pct {args}\n{input}{}", run.err);
        assert_eq!(run.err.is_empty(), message.is_empty(), "pct {args}\n{input}{}", run.err);
    }
}

#[test]
fn quotes_in_targets_shift_no_field() {
    let quote = access("GET /%5A\"x HTTP/1.1", "http://shop.example/%5A");
    let s3 = "o b [20/Jun/2019:03:51:36 +0000] 192.0.2.4 - ID REST.GET.OBJECT a%2522b \"GET /%5A\"x HTTP/1.1\" 403 \
              AccessDenied 243 - 8 - \"http://shop.example/%5A\" \"ua\" - x= - E - h T\n";
    let values = "/Z\"x\nhttp://shop.example/Z\n";
    check(&[
        ("decode --log s3 --values", s3, Some(&["a%22b\n", values].concat()), ""),
        ("decode --log combined --values", &quote, Some(values), ""),
        ("decode --log apache", &quote, Some(&quote), "1 record is unreadable"),
        ("check --log nginx --kinds unreadable", &quote, None, "unreadable 1"),
    ]);
}

#[test]
fn escapes_of_servers_are_undone() {
    let lighttpd = access(r#"GET /a\"b\\c HTTP/1.1"#, "-");
    let go = access(r#"GET /\"%41\xc3\xa9 HTTP/1.1"#, "-");
    let tls = " 0/0000000000000000/0/0/0 shop.example/TLSv1.3/TLS_AES_128_GCM_SHA256";
    gives(&[
        ("get {path} --log lighttpd --values", &lighttpd, "/a\"b\\c\n"),
        ("decode --log go --values", &go, "/\"Aé\n"),
        ("top {path} --log haproxy", &haproxy("GET /a#22b?x=1 HTTP/1.1", ""), "1\t/a\"b\n"),
        // Fields may follow the request.
        ("decode --log haproxy --values", &haproxy("GET /th%C3%A9 HTTP/1.1", tls), "/thé\n"),
        ("top {path} --log httpslog", &haproxy("GET /th%C3%A9?a HTTP/2.0", tls), "1\t/th%C3%A9\n"),
        ("decode --log haproxy", &haproxy("GET /%5A%22 HTTP/1.1", tls), &haproxy("GET /Z#22 HTTP/1.1", tls)),
    ]);
    // Findings are about the bytes that the client sent, and not about their escapes in the log.
    let apache = access(r#"GET /x\"y HTTP/1.1"#, "-");
    check(&[("check --log apache --kinds illegal", &apache, None, ": illegal 1\n")]);
}

/// If the server escapes `%`, a value can have escapes although its record has no `%`. Such values are read in the same way after other
/// records, and with other options.
#[test]
fn the_percent_sign_may_be_an_escape_of_the_server() {
    for (args, header, start, end) in [
        ("decode --field 2 --unescape haproxy", "", "a /", ""),
        ("decode --field 2 --quoted --unescape haproxy", "", "a \"/", "\""),
        ("decode --tsv --field 2 --unescape haproxy", "", "a\t/", ""),
        ("decode --csv --column u --unescape haproxy", "u,n\n", "/", ",1"),
        ("decode --jsonl --key u --unescape haproxy", "", "{\"u\":\"/", "\"}"),
    ] {
        let line = |value: &str| format!("{start}{value}{end}\n");
        let lines = |first: &str| [header, &first.repeat(200), &line("#2541").repeat(200)].concat();
        let decoded = [header, &line("A").repeat(400)].concat();
        gives(&[(args, &lines(&line("%41")), &decoded)]);
        let bad = lines(&line("#x")).replace("#2541", "#y");
        check(&[
            (args, &bad, Some(&bad), "400 values are unreadable"),
            (&format!("{args} --stats"), &bad, Some(&bad), &format!("unreadable{:>26}\n", 400)),
        ]);
    }
}

#[test]
fn lines_of_other_formats_are_unreadable() {
    let server = "Server listening on http://localhost:3000/%41 in mode production with 4 workers\n";
    let mixed = [server, &access("GET /%41 HTTP/1.1", "http://r/%41"), "GET /%41 200 - - 0.5 ms\n"].concat();
    let read = mixed.replace("/%41 200 -", "/A 200 -");
    let queue = "300 items %41 left in the queue\n";
    let squid =
        "1700000000.123    100 127.0.0.1 TCP_MISS/200 512 GET http://h/%41 - HIER_DIRECT/1.2.3.4 text/html";
    let (more, squid) = (format!("{squid} ABC\n"), format!("{squid}\n"));
    check(&[
        ("decode --log tiny", &mixed, Some(&read), "2 records are unreadable, and stay unchanged"),
        ("decode --log tornado", queue, Some(queue), "1 record is unreadable"),
        ("decode --log squid", &more, Some(&more), "1 record is unreadable"),
        ("decode --log auto", &more, Some(""), "--log"),
        ("decode --log auto", &squid, Some(&squid.replace("%41", "A")), "the format is squid"),
    ]);
}

#[test]
fn servers_that_write_one_layout_can_disagree() {
    for word in ["null", "-", "1.1", "b"] {
        let line = access(&format!("GET /%41 {word}"), "-");
        check(&[
            ("decode --log combined", &line, Some(&line), "1 record is unreadable"),
            ("decode --log nginx --values", &line, Some(&format!("/A {word}\n")), ""),
        ]);
    }
    let (squid, http09) = (access("NONE error:invalid-request HTTP/1.1", "-"), access("GET /%41", "-"));
    let (unknown, missing) = (access("UNKNOWN / HTTP/1.0", "-"), "no line has a target");
    check(&[
        ("decode --log combined --values", &squid, Some(""), missing),
        ("get {url} --log combined --values", &unknown, Some(""), missing),
        ("decode --log combined", &http09, Some(&http09.replace("%41", "A")), ""),
    ]);
}

#[test]
fn fields_after_a_quote_that_is_not_closed_are_unreadable() {
    let cut = "a \"b%20c d%41\n";
    let unreadable = "1 record is unreadable, and stays unchanged";
    check(&[
        ("decode --quoted --field 1", cut, Some(cut), ""),
        ("decode --quoted --field 3", cut, Some(cut), unreadable),
        ("decode --quoted --field 3", "a \"b c\n", None, unreadable),
        ("decode --quoted --field -1", cut, Some(cut), unreadable),
        ("decode --quoted --field 2", "%41 \"%42\"x %43\n", None, unreadable),
        ("top {path} --quoted --field 3", cut, Some(""), "1 record is unreadable"),
    ]);
}

/// In JSON that nginx built from text, a byte that is not UTF-8 is `\xHH`.
#[test]
fn bytes_that_are_not_text_are_written_as_the_server_writes_them() {
    gives(&[
        ("decode --jsonl --key u --unescape nginx", r#"{"u":"/\xC3%20"}"#, r#"{"u":"/\xC3 "}"#),
        ("decode --jsonl --key u --unescape nginx", r#"{"u":"/%E9%C3%A9"}"#, r#"{"u":"/\xE9\xC3\xA9"}"#),
        ("decode --jsonl --key u --unescape nginx", r#"{"u":"/\xC3\xA9%01"}"#, r#"{"u":"/é\u0001"}"#),
    ]);
}

/// Text that is not escaped is UTF-8, whatever the charset of the escapes is.
#[test]
fn a_charset_is_that_of_escapes() {
    gives(&[
        ("decode --charset gbk", "/你?q=你%C4%E3\n", "/你?q=你你\n"),
        ("decode --charset gbk --url", "/é?q=é%C4%E3\n", "/é?q=é你\n"),
        ("decode --charset gbk --percent-u", "é%u4F60%C4%E3\n", "é你你\n"),
        ("decode --charset latin1 --on-invalid-utf8 fail", "é%E9\n", "éé\n"),
        ("get --decode {query:q} --charset gbk", "?q=你%C4%E3\n", "你你\n"),
        ("decode --jsonl --key a --charset gbk", "{\"a\":\"\\u4f60\"}\n", "{\"a\":\"\\u4f60\"}\n"),
        // The charset is guessed once for each value.
        ("decode --charset auto", "é%C3%A9\né%E9\n%C3%A9é%E9\n", "éé\néé\nÃ©éé\n"),
        // A character can begin with an escape and end with a letter.
        ("decode --charset shift_jis", "%83A\n", "ア\n"),
    ]);
}

#[test]
fn keys_have_values_in_the_order_in_which_they_were_named() {
    let numbers = "{\"u\":\"x\",\"id\":1}\n{\"u\":\"x\",\"id\":2}\n{\"u\":\"x\",\"id\":\"1\"}\n{\"u\":\"x\",\"id\":[1]}\n";
    let others =
        "{\"u\":\"x\",\"id\":[2]}\n{\"u\":\"x\",\"id\":{}}\n{\"u\":\"x\",\"id\":null}\n{\"u\":\"x\"}\n";
    let (numbered, object) = ("[[\"a\"], 1]\n", "{\"a\":\"x\",\"b\":\"y\"}\n");
    let all = [numbers, others].concat();
    gives(&[
        ("dedup --jsonl --key u,id", &[&all[..], &all].concat(), &all),
        // A value that is not a string is no URL.
        ("dedup --jsonl --key u,id --by {path}", numbers, numbers),
        ("dedup --jsonl --key **", &format!("{numbered}[ [\"a\"],1]\n"), numbered),
        ("dedup --jsonl --key **", "[[\"a\"],1]\n[[\"a\"],2]\n", "[[\"a\"],1]\n[[\"a\"],2]\n"),
        ("dedup --jsonl --key a,b", &format!("{object}{{\"b\":\"y\",\"a\":\"x\"}}\n"), object),
        ("dedup --logfmt --key a,b", "a=x b=y\nb=y a=x\n", "a=x b=y\n"),
        ("top --decode {query:q[]}", "?q=b+c\n?q=b%2520c&q=b+c\n", "2\tb c\n1\tb%20c\n"),
    ]);
}

#[test]
fn urls_in_html_are_those_of_browsers() {
    let refresh = |url: &str| format!("<meta http-equiv=refresh content=\"0;{url}\">");
    let links =
        |base: &str, a: &str, b: &str| format!("<base href=\"{base}\"><a href=\"{a}\"><a href=\"{b}\">");
    let forms = "<base href=\"/b/\"><form action=\"\"><button formaction=\"\"><img src=\"\"><a href=\"\">";
    let resolved = "<base href=\"http://h/b/\"><form action=\"\"><button formaction=\"\"><img src=\"\"><a href=\"http://h/b/\">";
    let script = links("JavaScript:x", "http://h/d/z", "http://h/d/e#f");
    let data = links("data:x", "http://h/d/z", "http://h/d/e#f");
    gives(&[
        ("decode --html", &refresh("/x?a=1&amp;b=%41"), &refresh("/x?a=1&amp;b=A")),
        ("decode --html", &refresh("ur%6C=1"), &refresh("%75rl=1")),
        ("resolve --html --base http://h/d/e", &links("JavaScript:x", "z", "#f"), &script),
        ("resolve --html --standard --base http://h/d/e", &links("data:x", "z", "#f"), &data),
        ("resolve --html --base http://h/d/e", forms, resolved),
    ]);
}

/// In W3C logs, the query of a target has a column of its own.
#[test]
fn the_query_of_a_stem_is_in_its_column() {
    let w3c = |target: &str| format!("#Fields: date cs-uri-stem cs-uri-query\n2024 {target}\n");
    let rejected = "1 value was rejected";
    gives(&[
        ("resolve --log iis --base http://b/d/", &w3c("/a q=1"), &w3c("http://b/a q=1")),
        ("edit --set query:k=v --log iis --field query", &w3c("/a q=1"), &w3c("/a q=1&k=v")),
        ("decode --log iis", &w3c("/a%3F%41 q=%41"), &w3c("/a%3FA q=A")),
        ("decode --log iis", &w3c("/a?b%41 -"), &w3c("/a?bA -")),
        ("encode --log nginx", &access("OPTIONS * HTTP/1.1", "-"), &access("OPTIONS * HTTP/1.1", "-")),
    ]);
    let decoded = w3c("/a?b#c q=1");
    check(&[
        ("edit --set query:k=v --log iis", &w3c("/a q=1"), Some(&w3c("/a q=1&k=v")), rejected),
        ("edit --drop query --log iis --field target", &decoded, Some(&decoded), rejected),
        ("normalize --profile rfc3986 --log iis --field target", &decoded, Some(&decoded), rejected),
    ]);
    let connect = access("CONNECT h:443/x HTTP/1.1", "-");
    check(&[("edit --set scheme=https --log common", &connect, Some(&connect), rejected)]);
}

/// Browsers remove blanks at the end of a URL, and end a host at a backslash.
#[test]
fn changed_urls_are_those_that_browsers_read() {
    let rejected = "1 value was rejected";
    check(&[
        ("edit --append-query a=1", "http://h/p \n", Some("http://h/p?a=1 \n"), ""),
        ("edit --keep-query a", "http://h/?a=1 &b=2\n", Some("http://h/?a=1 &b=2\n"), rejected),
        ("edit --drop fragment", "http://h/p #f\n", Some("http://h/p #f\n"), rejected),
        ("edit --set port=81", "http://h\\a\n", Some("http://h\\a\n"), rejected),
        ("edit --append-query a=1", "http://h\\a\n", Some("http://h\\a?a=1\n"), ""),
        ("normalize --profile rfc3986", "http://h\\Foo\n", Some("http://h\\Foo\n"), rejected),
        ("normalize --profile rfc3986", "http://h\\foo\n", Some("http://h\\foo\n"), ""),
        ("normalize --profile rfc3986-scheme", "http://h\\b:80\n", Some("http://h\\b:80\n"), rejected),
        ("join --encode", "http\t\t\t\t//\t\t\n", None, rejected),
    ]);
}

/// Kubernetes and Docker cut a long line, so that a client can choose where its last part begins.
#[test]
fn a_client_cannot_plant_a_request_by_a_long_line() {
    let spoof = envoy("/spoof%41").trim_end().to_owned();
    let start = envoy("/real%41").replace("ua\" \"id\" \"h\" \"u\"\n", &"x".repeat(16384));
    let (start, last) = (&start[..16384], format!("{spoof}\" \"id\" \"h\" \"u\"\n"));
    let cri = |stream: &str, tag: &str, text: &str| {
        format!("2026-11-27T15:38:10.123456789Z {stream} {tag} {text}\n").replace("\n\n", "\n")
    };
    let docker = |stream: &str, text: &str| docker(text).replace('}', &format!(",\"stream\":\"{stream}\"}}"));
    let kubernetes = [
        cri("stderr", "F", &envoy("/b%41")),
        cri("stdout", "P", start),
        cri("stderr", "F", &envoy("/b%41")),
        cri("stdout", "F", &last),
        cri("stdout", "F", &envoy("/b%41")),
    ];
    let moby = [
        docker("stderr", &envoy("/b%41")),
        docker("stdout", start),
        docker("stderr", &envoy("/b%41")),
        docker("stdout", &last),
        docker("stdout", &envoy("/b%41")),
    ];
    // A part can be longer than `--max-record`.
    let long = [cri("stdout", "P", &"x".repeat(3 << 20)), cri("stdout", "F", &last)].concat();
    check(&[("get {url} --values --log cri+envoy", &long, Some(""), "1 record is unreadable")]);
    let audit = printed("audit --chain nginx-1.22,axum --log cri+envoy", long);
    assert!(audit.contains("0 targets in 2 lines"));
    for (wrapper, lines) in [("cri", kubernetes), ("docker", moby)] {
        let text = lines.each_ref().map(String::as_str);
        let json = lines.each_ref().map(|line| format!("{{\"k\":{:?}}}\n", line.trim_end()));
        let json = json.each_ref().map(String::as_str);
        // The format is known, or the first lines choose it, or lines of Kubernetes are in strings of JSON.
        for (input, log) in [
            (text, format!("--log {wrapper}+envoy")),
            (text, format!("--log {wrapper}")),
            (json, format!("--jsonl --key k --log {wrapper}+envoy")),
        ]
        .into_iter()
        .take(if wrapper == "docker" { 2 } else { 3 })
        {
            let (all, one, two) =
                (input.concat(), [0, 1, 3].map(|line| input[line]).concat(), "2 records are");
            check(&[
                (&format!("get {{url}} --values {log}"), &all, Some(&"/b%41\n".repeat(3)), two),
                (&format!("split --parts path --values {log}"), &all, Some(&"/b%41\n".repeat(3)), two),
                (&format!("top {{path}} {log}"), &all, Some("3\t/b%41\n"), two),
                (&format!("dedup --by {{path}} {log}"), &all, Some(&one), two),
                (&format!("decode {log}"), &all, Some(&all.replace("/b%41", "/bA")), two),
                (&format!("check {log} --kinds unreadable"), &all, None, "unreadable 2"),
            ]);
        }
        let audit = format!("audit --chain nginx-1.22,axum --log {wrapper}+envoy");
        let report = printed(&audit, lines.concat());
        assert!(report.contains(&format!("lines without a target{:>51}\n", 2)), "{report}");
    }
}

#[test]
fn logs_are_read_in_strings_of_json() {
    let line = |target: &str| docker(&access(&format!("GET {target} HTTP/1.1"), "-"));
    gives(&[
        ("decode --jsonl --key log --log combined", &line("/%22%20%5A"), &line("/%22%20Z")),
        ("top {path} --jsonl --key log --log combined", &line("/%20/x?y"), "1\t/%20/x\n"),
        ("decode --log docker+nginx --values", &line(r"/\x22%5A"), "/\"Z\n"),
    ]);
}

#[test]
fn urls_are_those_of_the_current_standards() {
    let (browser, resolve) = ("normalize --profile whatwg", "resolve --standard --base http://h.example/");
    let rejected = "1 value was rejected";
    gives(&[
        (browser, "https://h.example/x^y/^?^#^\n", "https://h.example/x%5Ey/%5E?^#^\n"),
        (resolve, "x^\n", "http://h.example/x%5E\n"),
        // The last space of an opaque path is escaped.
        (browser, "web+x:a  ?b\n", "web+x:a %20?b\n"),
        (browser, "web+x:a b   #c\n", "web+x:a b  %20#c\n"),
        // Hosts in ASCII may be Punycode that is not valid.
        (browser, "http://xn--b/\n", "http://xn--b/\n"),
        (resolve, "//xn--zn7c.com/y\n", "http://xn--zn7c.com/y\n"),
        ("uri", "http://h/%zz%µ\n", "http://h/%25zz%25%C2%B5\n"),
    ]);
    check(&[
        // No escape makes a port or a host valid.
        ("uri", "http://h:7 7/\n", Some("http://h:7 7/\n"), rejected),
        ("uri", "http://h:7µ/é\n", Some("http://h:7µ/é\n"), rejected),
        ("uri", "http://a host/\n", Some("http://a host/\n"), rejected),
    ]);
}

/// VCF and GFF3 escape only the bytes of their own syntax.
#[test]
fn only_the_bytes_that_a_format_escapes_are_decoded() {
    let info = "AN=1%3B2%2C3%3D4%253B%20%41%0A%E9\n";
    gives(&[
        ("decode --bytes :;=%,", info, "AN=1;2,3=4%3B%20%41%0A%E9\n"),
        ("decode --bytes %3B%2C", info, "AN=1;2,3%3D4%253B%20%41%0A%E9\n"),
        ("decode --bytes ;% --until-stable", info, "AN=1;2%2C3%3D4;%20%41%0A%E9\n"),
        ("decode --bytes ; --delimiter ; --field 1", "a%3Bb;c%3Bd\n", "a%3Bb;c%3Bd\n"),
        ("decode --bytes & --query", "/x%26?a=b%26c\n", "/x%26?a=b%26c\n"),
        ("decode --bytes , --query", "/x%2C?a=b%2Cc\n", "/x%2C?a=b,c\n"),
    ]);
    check(&[
        ("decode --bytes ; --keep ,", "", Some(""), "cannot be used with"),
        ("decode --bytes ; --url", "", Some(""), "cannot be used with"),
    ]);
}

#[test]
fn code_units_are_decoded_in_whole_urls() {
    gives(&[
        ("decode --url --percent-u", "http://a/%u00e9%2F?q=1\n", "http://a/é%2F?q=1\n"),
        ("decode --url --percent-u --strict", "/%u4F60%u002f%uD83D%uDE00%C3%A9\n", "/你%2F😀é\n"),
        ("decode --url --percent-u --charset latin1", "/%u00e9%E9%2F\n", "/éé%2F\n"),
        ("decode --url", "/%u00e9\n", "/%u00e9\n"),
    ]);
    check(&[
        ("decode --url --percent-u --strict", "/%uD83D\n", Some(""), "malformed escape"),
        ("decode --url --strict", "/%u00e9\n", Some(""), "malformed escape"),
    ]);
}

#[test]
fn values_of_header_parameters_have_a_charset() {
    let rejected = "1 value was rejected";
    gives(&[
        ("encode --ext-value", "John's report(1).pdf\n", "UTF-8''John%27s%20report%281%29.pdf\n"),
        ("encode --ext-value", "é%41\r\n\n", "UTF-8''%C3%A9%2541\r\nUTF-8''\n"),
        ("decode --ext-value", "iso-8859-1'en'%A3%20rates\n", "£ rates\n"),
        ("decode --ext-value", "utf-8''a%0Ab%2541\r\n", "a%0Ab%41\r\n"),
        (
            "decode --ext-value --csv --column v --into text",
            "v\nUTF-8''a%2Cb\n",
            "v,text\nUTF-8''a%2Cb,\"a,b\"\n",
        ),
    ]);
    check(&[
        ("decode --ext-value", "utf-8''%A3\n", Some("utf-8''%A3\n"), rejected),
        ("decode --ext-value", "koi8-r''%A3\n", Some("koi8-r''%A3\n"), rejected),
        ("decode --ext-value", "a b\n", Some("a b\n"), rejected),
        ("decode --ext-value --strict", "UTF-8''100%\n", Some(""), "pct: <stdin>:1: offset 10: "),
        ("decode --ext-value --charset latin1", "", Some(""), "cannot be used with"),
        ("encode --ext-value --form", "", Some(""), "cannot be used with"),
    ]);
}

/// Policies hold for values of logs, and for those that their record cannot hold. A value without a certain place stays.
#[test]
fn policies_hold_for_values_of_logs() {
    let line = access("GET /x?token=1 HTTP/1.1", "https://r.example/?token=2");
    let line = line.replace('\n', " \"-\"\n");
    let edit = "edit --replace-query token=X --on-rejected null";
    let null = "nothing is written instead, or null in JSON";
    let (caddy, nested) = ("{\"request\":{\"uri\":\"/%zz\"}}\n", docker("garbage\n"));
    let one = "1 value was rejected, and nothing or \"-\" is written instead";
    let hyphens = "2 values were rejected, and \"-\" is written instead; ";
    let (empty, table) = ("{\"request\":{\"uri\":\"-\"}}\n", "<img srcset=\"%zz 2x\">\n");
    let keeps = "1 value is unreadable, and stays unchanged";
    check(&[
        (&format!("{edit} --log combined"), &line, Some(&line.replace("=1", "=X")), keeps),
        (&format!("{edit} --log nginx"), &line, Some(&line.replace("=1", "=X").replace("=2", "=X")), ""),
        ("edit --log caddy --on-rejected null --set host=x", caddy, Some(empty), one),
        (
            "decode --log caddy --on-malformed empty",
            caddy,
            Some(empty),
            "1 value has a malformed escape, and nothing or \"-\" is written instead",
        ),
        ("edit --set port=1 --field 1,2 --on-rejected null", "/a /b\n", Some("- -\n"), hyphens),
        // A srcset has no empty URL.
        (
            "decode --html --on-malformed empty",
            table,
            Some(table),
            "1 value was rejected, and stays unchanged",
        ),
        (
            "decode --html --on-malformed empty --on-rejected fail",
            table,
            Some(""),
            "pct: <stdin>:1: offset 13: the result cannot be written here",
        ),
        // The record is a JSON document, whatever its strings hold.
        (&format!("{edit} --log docker+nginx"), &nested, Some("null\n"), null),
        (&format!("{edit} --jsonl --key log --log nginx"), &nested, Some("null\n"), null),
        (&format!("{edit} --log caddy"), "no JSON\n", Some("null\n"), null),
        (&format!("{edit} --log cri+caddy"), "no line\n", Some("\n"), null),
        // A value that keeps its old spelling has not changed.
        ("decode --jsonl --key u --stats=json", "{\"u\":\"%FF\"}\n", None, "\"changed\":0"),
    ]);
}

#[test]
fn members_of_json_stay_in_order() {
    let twice = "{\"a\":1,\"b\":2,\"a\":3}\n";
    check(&[
        ("form --from jsonl", "{\"z\":1,\"a\":[2,3]}\n", Some("z=1&a=2&a=3\n"), ""),
        ("join --from jsonl", "{\"query:z\":\"1\",\"query:a\":\"2\"}\n", Some("?z=1&a=2\n"), ""),
        ("form --from jsonl", twice, Some(twice), "1 value was rejected"),
    ]);
}

#[test]
fn a_url_without_a_parameter_has_no_value_of_it() {
    let urls = "/?q=a+b&q=c\r\n/\n/?q=\n/?p\n/?q=c%20d\n";
    gives(&[
        ("top {query:q[]}", urls, "1\t\n1\ta+b\n1\tc\n1\tc%20d\n"),
        ("top {query:q[]} --decode", urls, "1\t\n1\ta b\n1\tc\n1\tc d\n"),
    ]);
}

/// The values of these options may begin like `-i`, which takes a suffix without a blank.
#[test]
fn values_that_begin_like_an_option_are_values() {
    gives(&[
        ("edit --append-query -id=5", "http://h/?a=1\n", "http://h/?a=1&-id=5\n"),
        ("edit --keep-query -id", "http://h/?-id=1&b=2\n", "http://h/?-id=1\n"),
        ("edit --drop-query -id", "http://h/?-id=1&b=2\n", "http://h/?b=2\n"),
    ]);
}

/// Invalid UTF-8 in one component does not hide that in another one, and a charset is guessed for a whole value.
#[test]
fn no_fault_changes_what_another_one_means() {
    let auto = "decode --charset auto --on-malformed replace";
    let url = "http://h/%FF?q=%FF&r=%FE\n";
    check(&[
        (
            "check --component query --kinds utf8",
            url,
            Some("<stdin>:1:15: utf8: invalid UTF-8 after decoding, from byte 0xFF on\n"),
            "pct: 1 finding",
        ),
        (auto, "%E9%zz%C3%A9\n", Some("é%25zzÃ©\n"), ""),
        (&format!("{auto} --url"), "?a=%E9%zz%C3%A9\n", Some("?a=é%25zzÃ©\n"), ""),
        (auto, "%C3%A9%zz%C3%A9\n", Some("é%25zzé\n"), ""),
    ]);
}

/// A byte order mark is no part of the first target or URL.
#[test]
fn a_byte_order_mark_is_no_part_of_a_line() {
    let chain = "audit --chain nginx-1.22,apache-2.4-nodecode --format json";
    for (args, wanted) in [(chain, "\"same\": 1"), ("explain", "\"browsers\":{\"url\":\"http://h/a\"")] {
        let input = if args == chain { "\u{feff}/a//b\n" } else { "\u{feff}http://h/a\n" };
        let out = printed(args, input);
        assert!(out.contains(wanted), "{args}: {out}");
    }
}

/// An edit loses no text that browsers read as the path of a URL, such as that after a backslash in its authority.
#[test]
fn no_new_part_removes_a_path_after_a_backslash() {
    let rejected = "1 value was rejected";
    let same = |url: &'static str| (url, Some(url));
    let (a, b) = (same("http://a\\b/c\n"), same("http://a:\\x/y\n"));
    check(&[
        ("edit --set host=n.example", a.0, a.1, rejected),
        ("edit --set port=8080", b.0, b.1, rejected),
        ("edit --drop port,userinfo", b.0, b.1, rejected),
        ("normalize --profile rfc3986", "//h/a/../\\b\n", Some("//h/\\b\n"), ""),
    ]);
}

/// A target without a protocol after it must not become one. Other values may look like one.
#[test]
fn a_target_does_not_become_a_protocol() {
    let line = |request: &str| access(request, "http%2F1.1");
    let caddy = |referrer: &str| {
        format!("{{\"request\":{{\"uri\":\"/\",\"headers\":{{\"Referer\":[\"{referrer}\"]}}}}}}\n")
    };
    let long = format!("GET HTTP/1.1{}", "%21".repeat(22));
    let many = [line("GET /%41 HTTP/1.1"), line(&long), line("GET /%41 HTTP/1.1")].concat();
    let out = many.replace("%41", "A").replace("http%2F", "http/").replace("%21", "!");
    let bad = "GET HTTP%2F1.1%FF";
    gives(&[
        ("normalize --log nginx", &line("GET %48TTP/1.1 HTTP/1.1"), &line("GET HTTP/1.1 HTTP/1.1")),
        ("normalize --log nginx", &line("GET %48TTP/1.1"), &line("GET %48TTP/1.1")),
        ("normalize --log caddy", &caddy("%48TTP/1.1"), &caddy("HTTP/1.1")),
        ("decode --log nginx", &many, &out.replacen("GET HTTP", "GET %48TTP", 1)),
        (
            "decode --log nginx --on-invalid-utf8 replace",
            &line(bad),
            &access("GET %48TTP/1.1\\xEF\\xBF\\xBD", "http/1.1"),
        ),
    ]);
    check(&[("edit --log nginx --set path=HTTP/1.1", &line("GET x"), None, "")]);
}

/// In some charsets, the second byte of a character can be one that must stay escaped otherwise, such as a backslash.
#[test]
fn halves_of_characters_are_no_syntax() {
    let sjis = "decode --field 2 --charset shift_jis";
    gives(&[
        (sjis, "a %83%5C b\n", "a ソ b\n"),
        (sjis, "a %5C%5c\\%83%5C%5C b\n", "a %5C%5C\\ソ%5C b\n"),
        ("decode --field 2 --charset big5", "a %A5%5C b\n", "a 功 b\n"),
        ("decode --field 2 -d | --charset gbk", "a|%81%7C%7C|b\n", "a|亅%7C|b\n"),
        ("decode --keep \\ --charset shift_jis --on-invalid-utf8 replace", "a\\%83%5C%5C\n", "a\\ソ%5C\n"),
    ]);
}

/// Browsers escape the query of a link in the charset of the document, and a value without quotes has no raw blank.
#[test]
fn attributes_stay_attributes_of_their_document() {
    let rejected = "1 value was rejected";
    let page = |url: &str| format!("<meta charset=windows-1252><a href=\"{url}\">\n");
    gives(&[
        ("normalize --html", "<a href=/%7E&#32;x&#61;1>\n", "<a href=/~&#32;x=1>\n"),
        ("edit --html --set fragment=q", "<a href=x&#32;'y>\n", "<a href=x&#32;&#39;y#q>\n"),
        ("normalize --html --profile whatwg", &page("HTTP://h/?%E9"), &page("http://h/?%E9")),
        ("edit --html --drop query", &page("/%41?q=\u{e9}"), &page("/%41")),
        ("resolve --html --base http://b/", &page("/p?a=\u{e9}"), &page("http://b/p?a=\u{e9}")),
        (
            "resolve --html --base http://h/",
            "<svg><base href=\"c/\"></svg><a href=\"q\">\n",
            "<svg><base href=\"http://h/c/\"></svg><a href=\"http://h/q\">\n",
        ),
    ]);
    check(&[
        ("iri --html", &page("http://h/%C3%A9?%C3%A9"), Some(&page("http://h/%C3%A9?%C3%A9")), rejected),
        ("uri --html", &page("http://h/?a=\u{e9}"), Some(&page("http://h/?a=\u{e9}")), rejected),
    ]);
}

#[test]
fn new_values_are_read_again() {
    let line = |target: &str| access(&format!("GET {target} HTTP/1.1"), "-");
    // HAProxy writes `#22` for a quote, so if the server is unknown, a new value with `#ff` could not be read, and `%23` stays.
    let color = line("/x?color=%23ff0000&b=A");
    gives(&[
        ("decode --log combined", &line("/x?color=%23ff0000&b=%41"), &color),
        ("get --log combined --values --decode {query:color}", &color, "#ff0000\n"),
        ("decode --log nginx", &line("/x?color=%23ff0000"), &line("/x?color=#ff0000")),
        // A `#` that is there already stays. `%41` stays after `#f`, because `#fA` would be an escape of HAProxy.
        (
            "decode --log combined",
            &access("GET /x#f%41 HTTP/1.1", "http://e.org/#/route%41"),
            &access("GET /x#f%41 HTTP/1.1", "http://e.org/#/routeA"),
        ),
        // lighttpd writes `\a` for the byte 07.
        ("decode --log lighttpd --values", &line("/a\\ab%41"), "/a\u{7}bA\n"),
        // A load balancer of AWS writes `\x22` for a quote.
        (
            "decode --log alb --field target --values",
            "https 2022-11-22T01:02:03Z lb 192.0.2.1:1 10.0.0.1:2 0 0 0 200 200 1 2 \"GET https://h:443/?b=\\x22%41 HTTP/2.0\" \"ua\" a b c \"t\" \"h\" \"c\" 0 2022-11-22T01:02:03Z \"forward\" \"-\"\n",
            "https://h:443/?b=\"A\n",
        ),
    ]);
    let iis = "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status\n\
               2025-10-10 00:00:01 GET /x \"a%41\" 200\n";
    gives(&[("decode -q --log auto --field query --values", iis, "\"aA\"\n")]);
    assert_eq!(run("audit --chain nginx-1.22,tomcat-10.1 --log auto", iis).code, Some(2));
}

#[test]
fn escapes_of_servers_stay_in_their_cells_and_fields() {
    let log = "1 - - [d e] \"GET / HTTP/1.1\" 200 1 \"http://e.org/%41\" \"UA\"\n";
    let decoded = log.replace("%41", "A");
    gives(&[
        (
            "decode --csv --column u --unescape apache",
            "id,u,z\n1,a%22b,x\n2,%22,y\n",
            "id,u,z\n1,\"a\\\"\"b\",x\n2,\"\\\"\"\",y\n",
        ),
        ("decode --csv --column u --unescape w3c", "id,u,z\n2,%22,y\n", "id,u,z\n2,\"\"\"\"\"\",y\n"),
        ("decode --quoted --field 2 --unescape w3c", "a %22x b\n", "a %22x b\n"),
        ("decode --field 11 --unescape nginx", log, &decoded),
        ("decode --field 11 --unescape apache", log, &decoded),
        ("decode --field 11 --unescape python", log, &decoded),
        ("decode --field 2 --unescape nginx", "a \"\" %41 b\n", "a \"\" %41 b\n"),
        ("decode --field 2 --unescape nginx", "a \" x%41\" b\n", "a \" x%41\" b\n"),
        ("decode --values --field 2 --unescape gunicorn", "\"GET /a%41\\\" HTTP/1.1\"\n", "/aA\"\n"),
        ("decode --jsonl --key u --unescape nginx", "{\"u\":\"%0B%07a\"}\n", "{\"u\":\"\\u000b\\u0007a\"}\n"),
        ("decode --jsonl --key u --unescape apache", "{\"u\":\"\\xe9%41\"}\n", "{\"u\":\"\\xE9A\"}\n"),
    ]);
    check(&[
        // A value that cannot be read gets an empty cell beside it, so that no column moves.
        (
            "decode --csv --column url --unescape apache --into plain",
            "id,url,status\n1,/a%20b,200\n2,/a\\q%20b,404\n",
            Some("id,url,plain,status\n1,/a%20b,/a b,200\n2,/a\\q%20b,,404\n"),
            "1 value is unreadable",
        ),
        (
            "decode --jsonl --key u --into plain --on-rejected null",
            "{\"u\":\"%2F\\ud83d\",\"n\":1}\n",
            Some("{\"u\":\"%2F\\ud83d\",\"plain\":null,\"n\":1}\n"),
            "1 value is unreadable",
        ),
    ]);
}

/// A `%` that begins no escape would begin one if the escaped digits after it were decoded.
#[test]
fn decoded_digits_do_not_complete_an_escape() {
    let url = "http://a/?q=1%2%36r=2\n";
    let decoded = text("split --decode", url);
    let joined = text("join --encode -", &decoded);
    assert_eq!(joined, "http://a/?q=1%2526r=2\n");
    gives(&[
        ("get --decode {query:q}", url, "1%26r=2\n"),
        ("get --decode {query:q}", &joined, "1%26r=2\n"),
        ("get --decode {path}", "http://a/%2Fx%2%46%4%%%2G\n", "/%2Fx%252F%4%%%2G\n"),
        ("top --decode {path}", "http://a/%2Fx\nhttp://a/%2%46x\n", "1\t/%252Fx\n1\t/%2Fx\n"),
    ]);
}

#[test]
fn a_value_keeps_its_spelling_if_its_own_bytes_would_become_escapes() {
    let rejected = "1 value was rejected";
    for line in ["x %5B%5B\\a\n", "1 a%5B\"b\n", "1 \"C:\\dir\\%20y \\\"q\\\"\"\n"] {
        check(&[("decode --quoted --field 2", line, Some(line), rejected)]);
    }
    gives(&[("decode --quoted --field 2", "1 \"a%41\\\"%42b\"\n", "1 \"aA\\\"Bb\"\n")]);
}

#[test]
fn the_last_line_and_the_line_end_do_not_matter() {
    gives(&[
        ("decode --charset gbk", "a%81%30\nb\n", "a%81%30\nb\n"),
        ("decode --charset gb18030", "a%81%30\nb%81%30%81%30\n", "a%81%30\nb\u{80}\n"),
        ("top {host}", "/a\n/b", "2\t\n"),
        ("top {host}", "http://h/a\n/b", "1\t\n1\th\n"),
    ]);
}

/// A form that names UTF-8 is read like one that names no charset, so that bytes and escapes of escapes differ.
#[test]
fn a_form_that_names_utf_8_keeps_its_bytes() {
    let form = "_charset_=utf-8&q=%FF\n_charset_=utf-8&q=%25FF\n";
    let pairs = "[[\"_charset_\",\"utf-8\"],[\"q\",{\"bytes\":\"%FF\"}]]\n[[\"_charset_\",\"utf-8\"],[\"q\",\"%FF\"]]\n";
    gives(&[("form --format jsonl", form, pairs), ("form --from jsonl", pairs, form)]);
}

/// Servers mean a byte or a character by `\u00e9`, so auto detection leaves such values. A client cannot choose the format with labels in a
/// header, and hyphens of a client hide no target.
#[test]
fn what_a_client_sends_does_not_choose_how_it_is_read() {
    let json = "{\"request\":\"GET /\\u00e9%41 HTTP/1.1\"}\n{\"request\":\"GET /%41 HTTP/1.1\"}\n";
    let line = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /b%41 HTTP/1.1\" 200 5 \"-\" \"ua\"\n";
    let labels = ", client: , request: \"GET /s%41 HTTP/1.1\", subrequest: \"/s%41\", host: \"h\", referrer: \"http://r/%41\"";
    let planted = line.replace("\"ua\"", &format!("\"{labels}\""));
    let both = format!("{line}{planted}");
    let decoded = both.replace("/b%41", "/bA");
    let hidden = line.replace("GET /b%41 HTTP/1.1", "- /etc%00 x-");
    check(&[
        ("decode --log auto", json, Some(&json.replace("GET /%41", "GET /A")), "the format is json"),
        ("decode --log auto", &both, Some(&decoded), "the format is combined"),
        ("decode --values --log nginx", &hidden, Some("/etc\0 x-\n"), ""),
        (
            "decode --values --log nginx-json --field request_uri --field request",
            "{\"request_uri\":\"/raw%2541\",\"uri\":\"/dec\",\"request\":\"GET /r HTTP/1.1\"}\n",
            Some("/raw%41\n/r\n"),
            "",
        ),
        (
            "get {host} --values --log caddy --field target --field request.method",
            "{\"request\":{\"method\":\"CONNECT\",\"uri\":\"example.com:443\"}}\n",
            Some("\nexample.com\n"),
            "",
        ),
    ]);
}
