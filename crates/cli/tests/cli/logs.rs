//! Tests `--log` with lines as servers, proxies and load balancers write them. Some are published lines, to whose values escapes were added.
//! The others were made for these tests.

use crate::support::{Run, access, assert_same, done, done_text, ok, printed, refused, run, text};

/// Checks that `--log` selects the values `wanted` in `lines`, and that decoding changes only these values.
#[track_caller]
fn finds(log: &str, lines: &str, wanted: &[&str]) {
    let only = text(&["decode", "-q", "--log", log, "--values"], lines);
    assert_eq!(only.lines().collect::<Vec<_>>(), wanted, "{log}");
    // The values contain the escape `%5A`, and no other text contains a `Z`, so each `Z` in the output is a decoded value.
    let decoded = text(&["decode", "-q", "--log", log], lines);
    let values = wanted.iter().filter(|value| value.contains('Z')).count();
    assert_eq!(decoded.matches('Z').count(), values, "{log}: {decoded}");
    assert_eq!(decoded.replace('Z', "%5A"), lines, "{log}");
}

#[test]
fn apache_and_nginx() {
    finds(
        "common",
        "127.0.0.1 - %5A [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif?%5A HTTP/1.0\" 200 2326\n",
        &["/apache_pb.gif?Z"],
    );
    finds(
        "combined",
        "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /%5A HTTP/1.0\" 200 2326 \"http://www.example.com/start.html?%5A\" \"Mozilla/4.08 %5A [en] (Win98; I ;Nav)\"\n",
        &["/Z", "http://www.example.com/start.html?Z"],
    );
    finds(
        "nginx",
        "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /%5A HTTP/1.0\" 200 2326 \"-\" \"-\"\n",
        &["/Z"],
    );
    let line = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a\\x22%41\\xC3\\xA9 HTTP/1.1\" 200 1 \"r\\x20%42\" \"ua\\x22\"\n";
    assert_eq!(ok("decode --log nginx --values", line), "/a\"Aé\nr B\n".as_bytes());
    // In a complete line, new values are written as nginx writes them.
    assert_eq!(
        text("decode --log nginx", line),
        "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a\\x22A\\xC3\\xA9 HTTP/1.1\" 200 1 \"r B\" \"ua\\x22\"\n"
    );
    assert_eq!(
        ok("normalize --log common", "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /%7e%2f HTTP/1.1\" 200 %7e"),
        b"1 - - [10/Oct/2000:13:55:36 -0700] \"GET /~%2F HTTP/1.1\" 200 %7e"
    );
}

/// Fields are counted from the date, because the fields before it vary. Clients choose the user name, which may contain
/// blanks and brackets, and Debian's vhost_combined has one more field.
#[test]
fn access_logs_are_read_from_the_date_on() {
    let tail = r#"[10/Oct/2000:13:55:36 -0700] "GET /%00 HTTP/1.1" 200 1 "http://r/%00" "ua""#;
    let starts = [
        "1.2.3.4 - frank ",
        "1.2.3.4 - a b ",
        "1.2.3.4 - [a ",
        "1.2.3.4 - [a] b ",
        r#"1.2.3.4 - \"a] \"b "#,
        r#"1.2.3.4 - \x22a] \x22 "#,
        "1.2.3.4 - [10/Oct/2000:13:55:36 -0700] ",
        "1.2.3.4 x y  - ",
        r"1.2.3.4 [ ] \ [ ",
        "example.org:80 1.2.3.4 - - ",
        "",
    ];
    for (log, wanted) in [("combined", 2), ("nginx", 2), ("common", 1)] {
        // nginx writes no backslash before a quote.
        for start in starts.into_iter().filter(|start| log != "nginx" || !start.contains("\\\"")) {
            let line = format!("{start}{tail}\n");
            let check = run(&["check", "--log", log], &line);
            let findings = check.text();
            assert_eq!((findings.lines().count(), check.code), (wanted, Some(1)), "{log} {line}");
            assert!(findings.lines().all(|finding| finding.contains(": nul: field ")), "{findings}");
            let request = start.len() + tail.find("/%00").unwrap();
            assert!(
                findings.starts_with(&format!("<stdin>:1:{}: nul: field target at", request + 1)),
                "{findings}"
            );
        }
        let text =
            format!("1 - - {tail}\n\n1 - - [10/Oct/2000:13:55:36] GET /%41 200\n%41 \"GET /%41 HTTP/1.1\"\n");
        let check = printed(&["check", "--log", log, "--kinds", "unreadable"], &text);
        let lines: Vec<_> = check.lines().map(|line| line.split(':').nth(1).unwrap()).collect();
        assert_eq!(lines, ["3", "4"], "{log}: {check}");
        assert!(check.lines().all(|line| line.contains(": unreadable: ")), "{log}: {check}");
        let decode = run(&["decode", "--log", log, "--stats=json"], &text);
        assert!(log == "nginx" || decode.out == text.as_bytes(), "{}", decode.out.escape_ascii());
        assert!(decode.err.contains("\"unreadable\":2"), "{}", decode.err);
        let strict = run(&["decode", "--log", log, "--strict"], &text);
        let wanted = "pct: <stdin>:3: offset ";
        assert!(strict.err.starts_with(wanted) && strict.code == Some(1), "{log}: {}", strict.err);
    }
}

/// A byte that the log has as it is cannot be written, and must not become an escape.
#[test]
fn a_value_that_would_get_other_escapes_stays_and_is_counted() {
    let line = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a b/%41 HTTP/1.1\" 400 1 \"-\" \"-\"\n";
    let Run { out, err, .. } = run(&["decode", "--log", "nginx"], line);
    assert_eq!(out, line.as_bytes());
    assert!(err.contains("1 value was rejected"), "{err}");
}

/// Most lines are published; `%5A` was added to their URLs, and a `Z` in a date was left out.
#[test]
fn proxies_and_virtual_hosts() {
    for (log, line, wanted) in [
        // This line is from issue 645 of GoAccess.
        (
            "vhost_combined",
            r#"www.xxxxxx.com:80 46.229.168.73 - - [31/Jan/2017:09:44:00 +0100] "GET /showthread.php?%5A&t=14607 HTTP/1.1" 301 738 "-" "Mozilla/5.0 (compatible; SemrushBot/1.2~bl; +http://www.semrush.com/bot.html)""#,
            &["/showthread.php?Z&t=14607"][..],
        ),
        // This line is from HAProxy's configuration manual, "HTTP log format".
        (
            "haproxy",
            r#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html%5A HTTP/1.1""#,
            &["/index.htmlZ"],
        ),
        // This line has the form in HAProxy's manual for a request that HAProxy could not read.
        (
            "haproxy",
            r#"Jan  1 00:00:00 localhost haproxy[1]: 10.0.1.2:33313 [06/Feb/2009:12:14:10.655] http-in http-in/<NOSRV> -1/-1/-1/-1/0 400 187 - - PR-- 0/0/0/0/0 0/0 "<BADREQ>""#,
            &[],
        ),
        // This line is from Envoy's documentation, "Access logging".
        (
            "envoy",
            r#"[2016-04-15T20:17:00.310] "POST /api/v1/locations%5A HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80""#,
            &["/api/v1/locationsZ"],
        ),
        // This line is from Traefik's test of its access log.
        (
            "traefik",
            r#"TestHost - TestUser [13/Apr/2016:07:14:19 -0700] "POST testpath%5A HTTP/0.0" 123 12 "testReferer%5A" "testUserAgent" 1 "testRouter" "http://127.0.0.1/testService" 1ms"#,
            &["testpathZ", "testRefererZ"],
        ),
        // The first line is from "Mastering Nginx", chapter 8; the second has all labels of ngx_http_log_error_handler.
        (
            "nginx-error",
            r#"2012/10/14 18:50:34 [error] 2632#0: *1 open() "/opt/nginx/html/blog" failed (2: No such file or directory), client: 127.0.0.1, server: www.example.com, request: "GET /blog%5A HTTP/1.0", host: "www.example.com""#,
            &["/blogZ"],
        ),
        (
            "nginx-error",
            r#"2012/10/14 18:50:35 [error] 2632#0: *2 connect() failed (111: Connection refused) while connecting to upstream, client: 127.0.0.1, server: _, request: "GET /a',%5A'b HTTP/1.1", subrequest: "/%5A", upstream: "http://10.0.0.1:80/%5A", host: "h", referrer: "http://r/%5A""#,
            &["/a',Z'b", "/Z", "http://10.0.0.1:80/Z", "http://r/Z"],
        ),
        // The client chose the name of the file, so `request:` in it is not a label.
        (
            "nginx-error",
            r#"2012/10/14 18:50:34 [error] 1#0: *1 open() "/x, request: "GET /%2500 HTTP/1.0", host: "h" failed, client: 1, request: "GET /%5A HTTP/1.0""#,
            &["/Z"],
        ),
        ("nginx-error", "2012/10/14 18:56:41 [notice] 2761#0: using inherited sockets from \"6;\"", &[]),
    ] {
        finds(log, &format!("{line}\n"), wanted);
        let nul = run(&["check", "--log", log, "--kinds", "nul,unreadable"], line.replace("%5A", "%00"));
        assert_eq!(nul.text().lines().count(), line.matches("%5A").count(), "{log}");
    }
}

#[test]
fn requests_of_proxies_cannot_be_hidden() {
    // Each text is a kind of finding, or `valid`, and then a log and a line of it.
    for case in [
        // The closing quote of the request is missing, so nobody knows where the request ends.
        r#"unreadable combined 1 - - [10/Oct/2000:13:55:36 -0700] "GET /%00 HTTP/1.1 200 1"#,
        r#"unreadable nginx 1 - - [10/Oct/2000:13:55:36 -0700] "GET /%00"#,
        r#"unreadable vhost_combined h:80 1 - - [10/Oct/2000:13:55:36 -0700] "GET /%00 HTTP/1.1 200 1 "-" "ua""#,
        r#"unreadable traefik 1 - - [10/Oct/2000:13:55:36 -0700] "GET /%00 HTTP/1.1 200 1 "-" "-" 1 "r" "s" 1ms"#,
        // nginx cuts off long lines of its error log.
        r#"unreadable nginx-error d [error] 1#0: *1 x, client: 1, request: "GET /%00 HTT"#,
        r#"unreadable nginx-error d [error] 1#0: *1 x, request: "GET / HTTP/1.1", upstream: "http://1/%00"#,
        // This text is neither an entry nor a line of an entry that has labels.
        "unreadable nginx-error garbage %00",
        "unreadable nginx-error d [error] 1#0: *1 x, client: 1, request: GET /%00 HTTP/1.1, host: \"h\"",
        r#"valid nginx-error PHP message: x" while reading, client: 1, request: "GET / HTTP/1.1""#,
        "valid nginx-error d [notice] 1#0: signal process started",
        "valid nginx-error d [info] 1#0: *1 proxied, client: 1, upstream: 2:3",
        // The closing quote of the referrer is missing.
        r#"unreadable combined 1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "http://r/%00"#,
        r#"unreadable combined 1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "http://r/ "ua"#,
        r#"unreadable nginx 1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 ""#,
        r#"unreadable s3 o b [10/Oct/2000:13:55:36 -0700] 1 r i REST.GET.OBJECT k "GET / HTTP/1.1" 200 - 1 - 7 - "http://r/"#,
        r#"valid common 1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "http://r/"#,
        // These logs have a line without a header line, with another number of fields, or with an open quote. The third W3C log is
        // valid.
        "unreadable cdx garbage %00",
        "unreadable cdx  CDX N b a\nx 2024 http://a/ %00",
        "unreadable w3c #Fields: time cs-uri\n10:00 /a %00",
        "unreadable w3c #Fields: time cs-uri\n10:00 \"/a %00",
        "valid w3c #Fields: time\n10:00\n \n",
        "unreadable iis %00 x\n#Fields: time cs-uri\n10:00 /a",
        "unreadable cloudfront #Fields: time cs-uri\n10:00 /%00",
        // Quotes are data in the logs of Envoy.
        r#"nul envoy [10/Oct/2000:13:55:36 -0700] "GET /a"%00"b HTTP/2" 200"#,
        // These requests have only one word, or no method.
        r#"unreadable common 1 - - [10/Oct/2000:13:55:36 -0700] "/%00" 200 1"#,
        r#"unreadable envoy [10/Oct/2000:13:55:36 -0700] "/%00 HTTP/1.1" 200"#,
        r#"unreadable haproxy x haproxy[1]: 1:2 [10/Oct/2000:13:55:36 -0700] a b/c 400 2 - - {} "/%00""#,
        r#"unreadable elb t lb 1:2 3:4 1 2 3 200 200 0 29 "/%00" "ua" - -"#,
        r#"unreadable nginx-error d [error] 1#0: *1 x, client: 1, request: "/%00", host: "h""#,
        r#"nul combined 1 - - [10/Oct/2000:13:55:36 -0700] "/%41" 200 1 "http://r/%00" "ua""#,
        // Load balancers write requests of three words, so a blank in the target makes a line unreadable.
        r#"unreadable alb http t lb 1:2 3:4 1 2 3 200 200 0 57 "GET http://h/a %00 HTTP/1.1" "ua" - - - - - - 0 t - - - - -"#,
        "unreadable elb t lb 1:2 3:4 1 2 3 200 200 0 29 GET http://h/%00 HTTP/1.1 ua - -",
        "unreadable elb no log %00",
        "unreadable alb no log %00",
        "unreadable s3 no log %00",
        r#"valid s3 o b [10/Oct/2000:13:55:36 -0700] 1 o 3E REST.GET.OBJECT k - 200"#,
        "unreadable squid no log %00",
        "unreadable squid a b c d e f http://h/%00 h i j",
        // An entry of nginx's stream proxy has no request, so no value is missing.
        r#"valid nginx-error d [error] 1#0: *1 x, client: 1, server: s:80, upstream: "1:80", bytes from/to client:0/0, bytes from/to upstream:0/0"#,
        // The server got no request, or could not read it, so no value is missing.
        r#"valid combined 1 - - [10/Oct/2000:13:55:36 -0700] "-" 408 0 "-" "-""#,
        r#"valid nginx 1 - - [10/Oct/2000:13:55:36 -0700] "" 400 0 "-" "-""#,
        r#"valid elb t lb 1:2 3:4 1 2 3 400 200 0 29 "- - - " "-" - -"#,
        // Syslog has cut off this long request.
        r#"unreadable haproxy x haproxy[1]: 1:2 [10/Oct/2000:13:55:36 -0700] a b/c 1 200 2 - - {} "GET /%00"#,
        r#"unreadable haproxy x haproxy[1]: 1:2 [10/Oct/2000:13:55:36 -0700] a b/c 1 200 2 - - {"} "GET /%00 HTTP/1.1""#,
        "unreadable haproxy backend b has no server available!",
        r#"unreadable envoy [10/Oct/2000:13:55:36 -0700] - "GET /%00 HTTP/1.1" 200"#,
        r#"nul vhost_combined h:80 1 - a b [10/Oct/2000:13:55:36 -0700] "GET /%00 HTTP/1.1" 200 1 "-" "-""#,
        // nginx writes the decoded path unescaped, so a client can put the text of a label into the path.
        r#"nul nginx-error d [error] 1#0: *1 open() "/x", request: "GET / HTTP/1.1", host: "y" failed, client: 1, request: "GET /%00 HTTP/1.1""#,
    ] {
        let (kind, case) = case.split_once(' ').unwrap();
        let (log, line) = case.split_once(' ').unwrap();
        let check = printed(&["check", "--log", log], line);
        let is_reported = check.contains(&format!(": {kind}: "));
        assert!(if kind == "valid" { check.is_empty() } else { is_reported }, "{log} {line}: {check}");
        // Each of these commands counts unreadable lines, and stops at them with --strict.
        for verb in [&["decode"][..], &["normalize"], &["get", "{path}"]] {
            let stats = run(&[verb, &["--log", log, "--stats=json"]].concat(), line).err;
            let count = usize::from(kind == "unreadable" || check.contains(": unreadable: "));
            assert!(stats.contains(&format!("\"unreadable\":{count},")), "{verb:?} {log} {line}: {stats}");
            let strict = run(&[verb, &["--log", log, "--strict"]].concat(), line);
            assert_eq!(strict.code, Some(count as i32), "{verb:?} {log} {line}: {}", strict.err);
        }
    }
    // If only the request is unreadable, the other values of the line are converted, unless a policy removes the line.
    let line = "1 - - [10/Oct/2000:13:55:36 -0700] \"%41\" 200 1 \"%42\" \"-\"\n";
    for (options, wanted) in [
        (&[][..], "1 - - [10/Oct/2000:13:55:36 -0700] \"%41\" 200 1 \"B\" \"-\"\n"),
        (&["--on-rejected", "null"], "1 - - [10/Oct/2000:13:55:36 -0700] \"%41\" 200 1 \"B\" \"-\"\n"),
        (&["--on-rejected", "drop"], ""),
        (&["--values"], "B\n"),
        (&["--values", "--output-delimiter", "|"], "|B\n"),
        (&["--values", "--output-delimiter", "|", "--on-rejected", "null"], "|B\n"),
    ] {
        let out = done_text(&[&["decode", "-q", "--log", "combined"], options].concat(), line);
        assert_eq!(out, wanted, "{options:?}");
    }
    let said = run("decode --log combined", line).err;
    let (said, hint) = said.split_once('\n').unwrap();
    assert_eq!(said, "pct: 1 value is unreadable, and stays unchanged; --rejects FILE lists the reasons");
    assert!(hint.contains("more values can be read if --log names the server"), "{hint}");
    // With --values, a referrer whose quote is not closed is left out. Many such lines are read like one.
    let lines = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /%41 HTTP/1.1\" 200 1 \"r\" \"ua\"\n1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 1 \"http://r/\n";
    let values = run("decode --log apache --values", lines);
    assert_eq!(values.out, b"/A\nr\n/a\n");
    for jobs in ["-j1", "-j3"] {
        let many = run(&["decode", "--log", "apache", jobs, "--stats=json"], lines.repeat(5_000));
        assert!(many.err.contains("\"unreadable\":5000,"), "{}", many.err);
        let many = run(&["decode", "--log", "apache", jobs], lines.repeat(5_000));
        assert!(many.err.starts_with("pct: 5000 values are unreadable, and stay"), "{}", many.err);
    }
    // The target is everything between the method and the protocol.
    for (request, wanted) in [
        ("GET /%41", "/A"),
        ("GET  /%41  HTTP/1.1", "/A"),
        ("GET /a %41 HTTP/1.1", "/a A"),
        ("GET /a%20%41 HTTP/1.1 x", "/a A HTTP/1.1 x"),
        ("%41", ""),
        ("-", ""),
        ("- - - ", ""),
    ] {
        let line = format!("1 - - [10/Oct/2000:13:55:36 -0700] \"{request}\" 200 1\n");
        let target = done_text("decode -q --log common --values", line);
        assert_eq!(target.trim_end(), wanted, "{request}");
    }
    let text = printed("check --log haproxy", "\n  \nx\n");
    assert_eq!(text, "<stdin>:3:5: unreadable: no quoted request\n");
}

/// A line among usual lines gives the same result as the line alone, whatever its status, size and quotes are.
#[test]
fn lines_are_read_alike_alone_and_among_many() {
    let line = |answer: &str, end: &str| {
        format!("1 - - [10/Oct/2000:13:55:36 -0700] \"GET /%41 HTTP/1.1\" {answer}{end}\n")
    };
    let usual = line("200 1", " \"r/%41\" \"ua\"");
    let decoded = usual.replace("%41", "A");
    let answers = "200 -,200 0,200 1:,200 1/4,200 12345678,200 123456789,200 x2345678,2x0 1,200  1,200 1 2";
    let ends = ", \"r%41\", \"r%41, \"r%41\"x \"ua\", \"r%20%41\" \"ua\", \"r%41\" \"u\" \"v\" \"%41\"";
    let no_date = usual.replacen('[', "1", 1);
    let odds = answers.split(',').flat_map(|answer| ends.split(',').map(move |end| line(answer, end)));
    for odd in odds.chain([no_date]) {
        // The first line is always read alone.
        let alone = run("decode --log combined", format!("{odd}{usual}"));
        let many = format!("{}{odd}{}", usual.repeat(80), usual.repeat(80));
        let among = run("decode --log combined", many);
        let wanted = [decoded.repeat(80).as_bytes(), &alone.out, decoded.repeat(79).as_bytes()].concat();
        assert!(among.out == wanted, "{odd}: {}", among.out.escape_ascii());
        assert_eq!(among.err, alone.err, "{odd}");
    }
}

#[test]
fn values_are_what_clients_sent_and_are_written_as_servers_write() {
    let line = |target: &str, referrer: &str| access(&format!("GET {target} HTTP/1.1"), referrer);
    let nginx = line(r"/a\x22%41\xC3\xA9?q=\x5C", r"http://h/\x22");
    let apache = line(r#"/a\"%41\xc3\xa9?q=\\"#, r#"http://h/\""#);
    let haproxy = r#"1:2 [10/Oct/2000:13:55:36 -0700] f b/s 0/0/0/0/0 200 9 - - ---- 1/1/0/0/0 0/0 "GET /a#22%41#C3#A9?q=#23 HTTP/1.1""#;
    for (log, line, args, wanted) in [
        ("nginx", &*nginx, &["get", "{path}", "--values"][..], "/a\"%41é\n/\"\n"),
        ("nginx", &nginx, &["get", "--decode", "{path} {query:q}", "--values"], "/a\"Aé \\\n/\" \n"),
        ("nginx", &nginx, &["split", "--parts", "host,path", "--values"], "\t/a\"%41é\nh\t/\"\n"),
        ("nginx", &nginx, &["decode"], &nginx.replace("%41", "A")),
        ("nginx", &nginx, &["normalize"], &nginx.replace("%41", "A")),
        ("apache", &apache, &["get", "{path}", "--values"], "/a\"%41é\n/\"\n"),
        ("apache", &apache, &["decode", "--values"], "/a\"Aé?q=\\\nhttp://h/\"\n"),
        ("apache", &apache, &["decode"], &apache.replace("%41", "A")),
        ("apache", &apache, &["normalize"], &apache.replace("%41", "A")),
        ("haproxy", haproxy, &["decode", "--values"], "/a\"Aé?q=#\n"),
        ("haproxy", haproxy, &["get", "{path}|{query}|{fragment}", "--values"], "/a\"%41é|q=|\n"),
        ("haproxy", haproxy, &["decode"], &haproxy.replace("%41", "A")),
    ] {
        assert_eq!(text(&[args, &["--log", log]].concat(), line), wanted, "{log} {args:?}");
    }
    // Findings are about the bytes that the client sent, but their offsets are those in the line.
    let check = run("check --log nginx --kinds illegal,non-ascii,control", line(r"/a\x22b\xC3\xA9\x1B", "-"));
    let at = nginx.find(r"\x22").unwrap();
    let found = check.text();
    let places: Vec<_> =
        found.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    for (kind, place) in [("illegal", at), ("non-ascii", at + 5), ("control", at + 13)] {
        assert!(places.contains(&format!("<stdin>:1:{place} {kind}")), "{kind}: {found}");
    }
    let error = run("uri --log nginx --strict", nginx.replace("/a", r"http://\x22["));
    assert!(error.code == Some(1) && error.err.starts_with("pct: <stdin>:1: offset "), "{}", error.err);
    // A backslash that the server wrote is not the second byte of a character of the charset.
    for (charset, lead) in [("shift_jis", "%83"), ("big5", "%A5"), ("gbk", "%81"), ("gb18030", "%81")] {
        let old = line(&format!("/%41{lead}\\\"x{lead}\\\\y"), "-");
        let out = ok(&["decode", "--log", "apache", "--charset", charset, "-q"], &old);
        assert!(!out.is_empty() && out.ends_with(b" HTTP/1.1\" 200 12 \"-\" \"ua\"\n"), "{charset}");
    }
}

/// Servers with the same layout escape some bytes differently. Lines with such escapes need the name of the server.
#[test]
fn a_layout_without_a_server_is_read_if_all_servers_agree() {
    for (target, apache, nginx, h2o) in [
        (r"/a%41", Some("/aA"), Some("/aA"), Some("/aA")),
        (r"/a\x22b", Some("/a\"b"), Some("/a\"b"), Some("/a\"b")),
        (r#"/a\"b"#, Some("/a\"b"), None, None),
        (r"/a\b", Some("/a\u{8}"), None, Some(r"/a\b")),
        (r"/a#22b", Some("/a#22b"), Some("/a#22b"), Some("/a#22b")),
    ] {
        let line = format!("1 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.1\" 200 1\n");
        let is_agreed = !target.contains(['\\', '#']);
        for (log, wanted) in [
            ("common", apache.filter(|_| is_agreed)),
            ("common:apache", apache),
            ("common:nginx", nginx),
            ("common:h2o", h2o),
        ] {
            let decode = run(&["decode", "--log", log, "--values"], &line);
            let wanted = wanted.map_or(String::new(), |value| format!("{value}\n"));
            assert_eq!(decode.text(), wanted, "{log} {line}");
            assert_eq!(decode.err.contains("unreadable"), wanted.is_empty(), "{log} {line}: {}", decode.err);
            let check = printed(&["check", "--log", log, "--kinds", "unreadable"], &line);
            assert_eq!(check.is_empty(), !wanted.is_empty(), "{log} {line}: {check}");
        }
        // If the servers disagree, the line stays as it is.
        assert!(is_agreed || done("decode -q --log common", &line) == line.as_bytes(), "{line}");
    }
}

/// No client can shift a field. In most lines, a client has planted a request, a label, a quote or a backslash, which is data.
#[test]
fn planted_fields_are_not_read() {
    let date = "[10/Oct/2000:13:55:36 -0700]";
    for (log, line, wanted) in [
        ("envoy", format!(r#"{date} "GET /a?q="b" HTTP/1.1" 200 - 0 2 2 1 "-" "ua" "id" "h" "u""#), "/a?q=\"b\"\n"),
        ("combined:envoy", format!(r#"1 - - {date} "GET /a HTTP/1.1" 200 2 "x" "GET /spoof HTTP/1.1" 200 1 "r" "ua""#), ""),
        ("nginx-none", format!(r#"1 - x" {date} "GET /spoof HTTP/1.1" 200 1 "-" "-" {date} "GET /a HTTP/1.1" 200 1 "r" "ua""#), ""),
        ("apache", format!(r#"1 - \" {date} \"GET /spoof HTTP/1.1\" 200 1 {date} "GET /a HTTP/1.1" 200 1 "-" "ua""#), "/a\n"),
        ("apache", format!(r#"1 - "" {date} "GET /a HTTP/1.1" 200 1 "-" "ua""#), "/a\n"),
        ("h2o", format!(r#"1 - - {date} "GET /a HTTP/1.1" 200 1 "http://r/\" "ua""#), "/a\nhttp://r/\\\n"),
        ("nginx-error", r#"d [error] 1#0: *1 open() "/a", request: "GET /spoof HTTP/1.1", host: "x" failed, client: 1, server: s, request: "GET /a HTTP/1.1", host: "h""#.to_owned(), "/a\n"),
        ("combined", format!(r#"1 - - {date} "GET /a" HTTP/1.1" 200 1 "http://r/" "ua""#), "/a\"\nhttp://r/\n"),
        ("squid", "1.1 1 1.1.1.1 TCP_MISS/200 9 GET http://h/a b - HIER_NONE/- t".to_owned(), "http://h/a b\n"),
        ("squid", "1.1 1 1.1.1.1 TCP_MISS/200 9 GET http://h/a\0 1.1 1 1.1.1.1 TCP_MISS/200 9 GET http://h/b - HIER_NONE/- t".to_owned(), ""),
    ] {
        let run = run(&["decode", "--log", log, "--values"], format!("{line}\n"));
        assert_eq!(run.text(), wanted, "{log} {line}: {}", run.err);
        let is_counted = run.err.contains("unreadable");
        assert!(is_counted || !wanted.is_empty(), "{log} {line}: {}", run.err);
    }
}

#[test]
fn placeholders_are_no_values() {
    let date = "[10/Oct/2000:13:55:36 -0700]";
    for (log, request) in [
        ("jetty", "- - -"),
        ("jetty", "GET - -"),
        ("combined:tomcat", "GET - HTTP/1.1"),
        ("combined:tomcat", "-"),
        ("combined:squid", "NONE error:invalid-request HTTP/1.1"),
        ("varnish", "- http://localhost HTTP/1.0"),
        ("lighttpd", "GET  HTTP/1.1"),
        ("apache", "-"),
    ] {
        let tail = if log.ends_with("squid") { " TCP_MISS:H" } else { "" };
        let line = format!("1 h - {date} \"{request}\" 400 0 \"-\" \"-\"{tail}\n");
        for args in [
            &["decode", "--values"][..],
            &["get", "{url}", "--values"],
            &["top", "{url}"],
            &["check", "--kinds", "unreadable"],
        ] {
            let run = run(&[args, &["-q", "--log", log]].concat(), &line);
            assert_eq!((run.text(), run.code), (String::new(), Some(0)), "{log} {args:?} {line}");
        }
        assert_eq!(done(&["decode", "-q", "--log", log], &line), line.as_bytes());
    }
}

#[test]
fn fields_of_logs_have_names() {
    let line = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /%41 HTTP/1.1\" 200 1 \"http://r/%42\" \"ua%43\"\n";
    for (args, wanted) in [
        (&["--field", "agent", "--values"][..], "uaC\n"),
        (&["--field", "agent,target", "--values"], "/A\nuaC\n"),
        (&["--field", "agent,target", "--values", "--output-delimiter", "tab"], "uaC\t/A\n"),
        (&["--field", "referer", "--values"], "http://r/B\n"),
        (&["--field", "agent"], &line.replace("%43", "C")),
    ] {
        assert_eq!(text(&[&["decode", "--log", "combined"], args].concat(), line), wanted, "{args:?}");
    }
    let check = run("check --log apache --field agent --kinds nul", line.replace("%43", "%00"));
    assert!(check.text().contains(": nul: field agent at "));
    let w3c = "#Fields: date cs-uri-stem cs(User-Agent) cs(Cookie)\n2026 /%41 ua%42 x=%43\n";
    for (args, wanted) in [
        (&["--field", "cs(User-Agent)"][..], "uaB\n"),
        (&["--column", "cs(User-Agent)"], "uaB\n"),
        (&["--column", "cs(cookie),cs-uri-stem"], "/A\nx=C\n"),
        (&["--field", "agent"], "uaB\n"),
    ] {
        assert_eq!(text(&[&["decode", "--log", "w3c", "--values"], args].concat(), w3c), wanted, "{args:?}");
    }
    let json = "{\"request\":\"GET /%41 HTTP/1.1\",\"x\":{\"y\":\"%42\"}}\n";
    assert_eq!(ok("decode --log nginx-json --field x.y,target --values", json), b"/A\nB\n");
    let none = run("decode --log w3c --column x-none", w3c);
    assert_eq!((none.out.as_slice(), &*none.err), (w3c.as_bytes(), "pct: no line has the field 'x-none'\n"));
}

#[test]
fn the_first_lines_choose_the_format() {
    let access = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /%41 HTTP/1.1\" 200 1 \"-\" \"ua\"\n";
    let caddy = "{\"level\":\"info\",\"logger\":\"http.log.access\",\"request\":{\"method\":\"GET\",\"host\":\"h\",\"uri\":\"/%42\"}}\n";
    let iis = "#Software: IIS\n#Fields: date cs-method cs-uri-stem cs(Referer)\n2026 GET /%43 http://r/%44\n";
    let dir = tempfile::tempdir().unwrap();
    let paths = [("a", access), ("b", caddy), ("c", iis)].map(|(name, text)| {
        let path = dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    });
    let [a, b, c] = &paths;
    let found = run(&["decode", "--log", "auto", "--values", a, b, c], "");
    assert_eq!(found.text(), "/A\n/B\n/C\nhttp://r/D\n");
    let said = format!(
        "pct: {a}: the format is combined\npct: {b}: the format is caddy\npct: {c}: the format is w3c\n"
    );
    assert_eq!(found.err, said);
    let quiet = run(&["decode", "-q", "--log", "auto", "--values", a], "");
    assert_eq!((quiet.out.as_slice(), &*quiet.err), (&b"/A\n"[..], ""));
    for args in [
        &["check"][..],
        &["top", "{path}"],
        &["dedup"],
        &["normalize"],
        &["audit", "--chain", "nginx-1.22,axum"],
    ] {
        let run = run(&[args, &["--log", "auto", a]].concat(), "");
        assert!(run.err.starts_with(&format!("pct: {a}: the format is combined\n")), "{args:?}: {}", run.err);
    }
    let cri = format!("2026-11-27T15:38:10.123456789Z stdout F {access}");
    let found = run("decode --log cri --values", &cri);
    assert_eq!(
        (found.out.as_slice(), &*found.err),
        (&b"/A\n"[..], "pct: <stdin>: the format is cri+combined\n")
    );
    refused("decode --log auto", "no log\n", "no format fits the first lines");
    assert_eq!(ok("decode --log auto", ""), b"");
}

#[test]
fn loggers_are_around_records() {
    let line = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a%22b%20c%41 HTTP/1.1\" 200 8 \"-\" \"UA\"";
    let docker = format!("{{\"log\":\"{}\\n\",\"stream\":\"stdout\"}}\n", line.replace('"', "\\\""));
    for (args, record) in [
        (&["--log", "cri+combined"][..], format!("2026-11-27T15:38:10.123456789Z stderr F {line}\n")),
        (&["--log", "syslog+nginx"], format!("<134>Nov 27 15:38:10 host nginx: {line}\n")),
        (&["--log", "docker+apache"], docker.clone()),
        (&["--jsonl", "--key", "log", "--log", "combined"], docker.clone()),
    ] {
        let values = ok(&[&["decode", "--values"], args].concat(), &record);
        assert_eq!(String::from_utf8(values).unwrap(), "/a\"b cA\n", "{args:?}");
        // Without --values, the whole line is written, and a blank and a quote stay escaped.
        let whole = text(&[&["decode"], args].concat(), &record);
        let quoted = if args.contains(&"syslog+nginx") { "\\x22" } else { "%22" };
        let is_known =
            whole == record.replace("c%41", "cA") || whole.contains(quoted) || whole.contains("\\\\\\\"");
        assert!(is_known && whole.contains("%20cA HTTP/1.1"), "{args:?}: {whole}");
        let paths = text(&[&["get", "{path}", "--values"], args].concat(), &whole);
        assert!(paths.contains("b%20cA"), "{args:?}");
    }
    let part = "2026-11-27T15:38:10.123456789Z stdout P 1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HT\n";
    let check = run("check --log cri+combined", part);
    assert!(check.text().contains(": unreadable: the record is a part of a longer line\n"));
}

/// Some servers, such as hypercorn, decode paths before they log them, so that a client can add whole lines to the log.
#[test]
fn logs_in_which_clients_can_write_lines_are_reported() {
    let line = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a 1.1\" 200 2 \"-\" \"ua\"\n";
    let check = run("check --log hypercorn", line.repeat(3));
    let found = check.text();
    assert!(found.starts_with("<stdin>:1:0: unreadable: hypercorn writes decoded paths"), "{found}");
    assert_eq!((found.lines().count(), check.code), (1, Some(1)));
    assert_eq!(run("check --log hypercorn --kinds nul", line).code, Some(0));
    assert_eq!(run("check --log hypercorn", "").code, Some(0));
    assert_eq!(run("audit --chain nginx-1.22,axum --log granian", line).code, Some(2));
    let help = text("help decode", "").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(help.matches("; a client can write a new line)").count(), 7, "{help}");
}

#[test]
fn json_may_have_the_escapes_of_a_server() {
    let args = ["decode", "--jsonl", "--key", "uri", "--unescape", "nginx"];
    let record = r#"{"a":"\x01","uri":"/\x22%41\x5Cx41\xC3\xA9"}"#;
    let values = text(&[&args[..], &["--values"]].concat(), record);
    assert_eq!(values, "/\"A\\x41é\n");
    assert_eq!(ok(&args, r#"{"a":"\x01","uri":"/\x22"}"#), br#"{"a":"\x01","uri":"/\x22"}"#);
    let strict = run("decode --jsonl --key uri --strict", r#"{"uri":"/\x22"}"#);
    assert!(strict.err.contains("not JSON") && strict.code == Some(1), "{}", strict.err);
}

#[test]
fn amazon() {
    finds(
        "elb",
        "2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 \"GET http://www.example.com:80/?%5A HTTP/1.1\" \"curl/7.38.0 %5A\" - -\n"
            .replace("58Z", "58")
            .as_str(),
        &["http://www.example.com:80/?Z"],
    );
    finds(
        "alb",
        "https 2018-07-02T22:23:00.186641 app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 \"GET https://www.example.com:443/%5A HTTP/1.1\" \"curl/7.46.0\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 \"Root=1-58337281-1d84f3d73c47ec4e58577259\" \"www.example.com\" \"arn:aws:acm:us-east-2:123456789012:certificate/12345678-1234-1234-1234-123456789012\" 1 2018-07-02T22:22:48.364000 \"authenticate,redirect\" \"https://example.com:80/%5A\" \"-\" \"10.0.0.1:80\" \"200\" \"-\" \"-\" TID_1234abcd5678ef90\n",
        &["https://www.example.com:443/Z", "https://example.com:80/Z"],
    );
    finds(
        "s3",
        "79a59df900b949e5 amzn-s3-demo-bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e5 3E57427F3EXAMPLE REST.GET.OBJECT key%5A \"GET /amzn-s3-demo-bucket/%5A?versioning HTTP/1.1\" 200 - 113 - 7 - \"http://ref/%5A\" \"S3Console/0.4 %5A\" - s9lzHYrFp76 SigV4 ECDHE AuthHeader host TLSV1.2 - -\n",
        &["keyZ", "/amzn-s3-demo-bucket/Z?versioning", "http://ref/Z"],
    );
    // CloudFront percent-encodes once more than the client.
    let cloudfront = "#Version: 1.0\n#Fields: date cs-method cs-uri-stem cs(Referer) cs(User-Agent) cs-uri-query\n2019-12-04\tGET\t/index.html%255A\thttp://r/%255A\tMozilla/5.0%2520(%5A)\tq=%25255A%22\n";
    let values = text("decode --log cloudfront --values", cloudfront);
    assert_eq!(values, "/index.htmlZ\nhttp://r/Z\nq=%5A\"\n");
    let whole = text("decode --log cloudfront", cloudfront);
    assert_eq!(whole, cloudfront.replace("%255A\t", "Z\t").replace("%25255A", "%255A"));
}

#[test]
fn w3c_and_iis_name_their_columns() {
    finds(
        "iis",
        "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2002-05-02 17:42:15 %5A\n#Fields: date time c-ip cs-username s-ip s-port cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent) cs(Referer)\n2002-05-02 17:42:15 172.22.255.255 %5A 172.30.255.255 80 GET [/images/%5A \"q=%5A 200 Mozilla/4.0+(%5A) http://r/%5A\n",
        &["[/images/Z", "\"q=Z", "http://r/Z"],
    );
    finds(
        "w3c",
        "#Version: 1.0\n#Fields: time cs-method cs-uri cs(Referer)\n00:34:23 GET /foo/%5A \"http://r/ %5A\"\n12:21:16 GET /bar -\n",
        &["/foo/Z", "http://r/ Z", "/bar"],
    );
    // A `#Fields:` line applies to all lines up to the next one, also in later chunks. Its names are case-insensitive.
    let mut input = String::from("#Fields: a CS-URI-STEM c\n");
    let mut wanted = input.clone();
    for round in 0..6 {
        input.push_str(&"%5A %5A %5A\n".repeat(60_000));
        wanted.push_str(&["%5A Z %5A\n", "Z %5A %5A\n", "%5A %5A Z\n"][round % 3].repeat(60_000));
        let legend = ["#Fields: cs-uri-query\tb c\n", "#Fields: a b cs-uri\n", "#Fields: a cs-uri-stem c\n"]
            [round % 3];
        input.push_str(legend);
        wanted.push_str(legend);
    }
    for jobs in ["-j1", "-j2", "-j4"] {
        assert_same(jobs, &ok(&["decode", "--log", "iis", jobs], &input), wanted.as_bytes());
    }
}

#[test]
fn others() {
    finds(
        "squid",
        "1066036250.129    110 10.0.0.1 TCP_MISS/200 1234 GET http://www.example.com/%5A - DIRECT/192.0.2.1 text/html%5A\n",
        &["http://www.example.com/Z"],
    );
    finds(
        "cdx",
        " CDX A b a m s k r M V g\norg,example)/%5A 20140101000000 http://example.org/%5A text/html 200 ABC %5A - 500 a.warc.gz\n",
        &["http://example.org/Z", "Z"],
    );
    finds(
        "cdx",
        "org,example)/ 20140101000000 http://example.org/%5A text/html 200 ABC - - 500 333 a%5A.warc.gz\n",
        &["http://example.org/Z"],
    );
    finds(
        "caddy",
        r#"{"level":"info","ts":1646861401.5241024,"msg":"handled %5A","request":{"remote_ip":"127.0.0.1","method":"GET","uri":"/%5A","headers":{"User-Agent":["curl/7.82.0 %5A"],"Referer":["http://r/%5A"]}},"status":200}"#,
        &["/Z", "http://r/Z"],
    );
}

#[test]
fn logfmt_values_are_quoted_as_they_need() {
    for (value, wanted) in [
        ("/a%41", "/aA"),
        ("/a%20b", "\"/a b\""),
        ("/a%3Db", "\"/a=b\""),
        ("/a%22", "\"/a\\\"\""),
        ("%0A%00%7F", "\"\\n\\u0000\u{7f}\""),
        ("\"/a%41 \\\"\"", "\"/aA \\\"\""),
        ("\"\\u00e9\\t%41\"", "\"é\\tA\""),
        ("\"/a b\"", "\"/a b\""),
        ("\"\\u00e9\"", "\"\\u00e9\""),
        ("", ""),
        ("\"\"", "\"\""),
        ("%zz", "%zz"),
        ("a\"%41", "\"a\\\"A\""),
        // A value with an unknown escape stays as it is.
        ("\"\\q%41\"", "\"\\q%41\""),
    ] {
        let line = |value| format!("level=info uri {{x=%41 xuri=%41 msg=\"uri=%41\"  uri={value}\n");
        let out = done_text("decode -q --logfmt --key uri", line(value));
        assert_eq!(out, line(wanted), "{value}");
    }
    assert_eq!(ok("decode --logfmt --key http.url,b", "b=%41 http.url=%42"), b"b=A http.url=B");
    assert_eq!(ok("decode --logfmt --key u", b"u=\"%FF\" u=%FE"), b"u=\"\xFF\" u=\xFE");
    let changed = ok("decode --logfmt --key u --only-changed", b"u=a b=%41\nu=%41\n");
    assert_eq!(changed, b"u=A\n");
    let strict = run("decode --logfmt --key u --strict", "a=1 u=\"\\\"\\u00e9%zz\"");
    assert_eq!(strict.err, "pct: <stdin>:1: offset 15: malformed escape: 'z' is not a hexadecimal digit\n");
}

#[test]
fn unknown_escapes_in_quoted_values_stay_and_are_reported() {
    let on = |command: &str, input: &str| run(&format!("{command} --logfmt --key u"), input);
    let commands = "decode,encode --keep /,normalize,iri,uri,form,get {url},split --parts path";
    // The last quote of the last value is escaped, so no quote closes this value.
    let values = r#"\x \x4 %41\xzzQ \x4g a\x \u \u004 \ud800 \ud800\u0041 \q%41 %41\x4\" a\\\"#;
    for value in values.split(' ') {
        let line = format!("a=1 u=\"{value}\"");
        for command in commands.split(',') {
            let kept = on(command, &line);
            assert_eq!((kept.text(), kept.code), (line.clone(), Some(0)), "{command}: {}", kept.err);
        }
        let (reason, offset) = match value {
            r"a\\\" => ("a quote is not closed", 6),
            _ => ("an escape is malformed", 7 + value.find('\\').unwrap()),
        };
        let wanted = format!("pct: <stdin>:1: offset {offset}: {reason}\n");
        assert_eq!(on("decode --on-rejected fail", &line).err, wanted);
        assert_eq!(on("decode --on-rejected drop", &line).out, b"");
        let check = on("check", &line).text();
        assert_eq!(check.lines().next(), Some(&*format!("<stdin>:1:{offset}: unreadable: {reason}")));
        let stats = on("decode --stats=json", &line).err;
        assert!(stats.contains("\"unreadable\":1"), "{stats}");
    }
    // An unreadable value does not prevent the other values of the line from being decoded.
    assert_eq!(on("decode", r#"u="\x%41" u="\x41%42""#).out, br#"u="\x%41" u="AB""#);
    // The value is unreadable, but its key was found, so no message says that the key is missing.
    let said = "pct: 1 value is unreadable, and stays unchanged; --rejects FILE lists the reasons\n";
    assert_eq!(on("decode", r#"u="\x%41""#).err, said);
    // If a quote is not closed, or text follows a closing quote, nobody knows where the value ends, so the line is unreadable.
    // The values before this value are checked nevertheless.
    let said = said.replace("value", "record");
    for (line, finding) in [
        (r#"u=%2e a="x u=%00"#, "1:8: unreadable: a quote is not closed"),
        (r#"u=%2e a="x"u=%00"#, "1:11: unreadable: text follows a closing quote"),
        (r#"u=%2e u="x"y"#, "1:11: unreadable: text follows a closing quote"),
    ] {
        let kept = on("decode", line);
        assert_eq!((kept.text().as_str(), &kept.err), (line, &said), "{line}");
        assert_eq!(on("decode --values", line).out, b"", "{line}");
        assert_eq!(on("decode --on-rejected drop", line).out, b"", "{line}");
        let wanted = format!("<stdin>:1:2: dot: key u at 2: %2e is .\n<stdin>:{finding}\n");
        assert_eq!(on("check", line).text(), wanted);
    }
}

#[test]
fn doubled_quotes_of_w3c_are_data() {
    let log = b"#Fields: cs(User-Agent) cs-uri x-last cs(Referer)\n\
        \"say \"\"hi\"\" to \"\"me\"\"\" /a%2Fb \"\" /c%2Fd\n\
        \"\"\"\" /a%2Fb \"\"\" \" \"/c \"\"%41\"\" d\"\n";
    let wanted = b"#Fields: cs(User-Agent) cs-uri x-last cs(Referer)\n\
        \"say \"\"hi\"\" to \"\"me\"\"\" /a/b \"\" /c/d\n\
        \"\"\"\" /a/b \"\"\" \" \"/c \"\"A\"\" d\"\n";
    assert_eq!(ok("decode --log w3c", log), wanted);
}

#[test]
fn cdxj_is_not_taken_for_cdx() {
    let line = "org,example)/ 20240501120000 {\"url\": \"https://example.org/%22\", \"r\": \"%41\"}\n";
    let kept = run("decode --log cdx", line);
    assert_eq!((kept.out.as_slice(), kept.code), (line.as_bytes(), Some(0)));
    assert!(kept.err.contains("1 record is unreadable"), "{}", kept.err);
    let strict = run("decode --log cdx --strict", line);
    assert_eq!(strict.err, "pct: <stdin>:1: offset 0: the record is CDXJ and not CDX\n");
}

/// A new value is written as the server would write it, and never as the text that means that there is no value.
#[test]
fn new_values_are_written_as_by_the_server() {
    let line = |target: &str, referrer: &str| access(&format!("GET {target} HTTP/1.1"), referrer);
    for (verb, log, old, new) in [
        (
            "decode",
            "w3c:tomcat",
            "#Fields: cs-uri-stem cs(Referer)\n/%41\\\"%22 \"http://r/\"\"%41%22\"\n".to_owned(),
            "#Fields: cs-uri-stem cs(Referer)\n/A\\\"\\\" \"http://r/\"\"A\"\"\"\n".to_owned(),
        ),
        ("decode", "json:morgan", "{\"url\":\"/%E9%41\"}\n".to_owned(), "{\"url\":\"/%E9A\"}\n".to_owned()),
        ("decode", "apache", line("/%41", "%2D"), line("/A", "%2D")),
        ("decode", "combined", line("%2D", "%41"), line("%2D", "A")),
        ("encode", "nginx", line("/a b", "a b"), line("/a%20b", "a%20b")),
        ("encode", "jetty", line("/a\"b", "a\"b"), line("/a%22b", "a%22b")),
    ] {
        let url = if verb == "encode" { &["--url"][..] } else { &[] };
        for more in [&[][..], &["--stats"]] {
            let args = [&[verb, "--log", log], url, more].concat();
            let Run { out, .. } = run(&args, &old);
            assert_same(&args.join(" "), &out, new.as_bytes());
        }
    }
}

/// A value that is decoded in its line is read as one again, and no value is asked for by two names.
#[test]
fn a_value_has_one_place_and_one_name() {
    let line = |target: &str| {
        format!(
            "Nov 27 15:38:10 host x: 1.1.1.1 - - [10/Oct/2026:13:55:36 +0000] \"GET {target} HTTP/1.10\" 200 1 \"http://r\" \"x\"\n"
        )
    };
    let decoded = text(&["decode", "--log", "syslog+combined"], line("/%41%01%7F%09%23"));
    assert_eq!(decoded, line("/A%01%7F%09%23"));
    let caddy = r#"{"request":{"uri":"/%41","headers":{"Referer":["http://r/%41"],"X":["%41"]}}}"#;
    let decoded = text(&["decode", "--log", "caddy", "--field", "request.**"], caddy);
    assert_eq!(decoded, caddy.replace("%41", "A"));
    for args in [
        &["--jsonl", "--key", "a[],a[0]"][..],
        &["--jsonl", "--key", "**,a"],
        &["--jsonl", "--key", "a,**"],
        &["--log", "caddy", "--field", "target,request.uri"],
        &["--log", "iis", "--field", "cs-uri-stem,target"],
    ] {
        let run = run(&[&["decode", "--values"], args].concat(), "");
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains("can be the same value; ask for one of them"), "{}", run.err);
    }
}
