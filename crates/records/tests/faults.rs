//! Tests that logs are read correctly in spite of faults that were seen in them, one test for each kind of fault.

use simdpct_records::{Escaping, Field, Kind, Log, Place, Reason, Spec, Syntax, Wrapper, detect};

/// Returns the syntax that selects the fields `names` of `log`; or all values that contain URLs, if there are no names.
fn syntax(log: &str, names: &[&str]) -> Syntax {
    let Spec { log, wrapper } = log.parse().unwrap();
    Syntax::log(log.unwrap(), wrapper, names).unwrap()
}

/// Returns the kinds and values that `log` finds in the last line of `text`. Bytes that are not printable ASCII are escaped as by
/// `escape_ascii`.
fn find(log: &str, text: &[u8]) -> Result<Vec<(Kind, String)>, Reason> {
    let mut syntax = syntax(log, &[]);
    let mut places: Vec<Place> = Vec::new();
    let mut result = Ok(());
    let mut last: &[u8] = b"";
    for line in text.split(|&byte| byte == b'\n') {
        places.clear();
        result = syntax.find(line, &mut places);
        last = line;
    }
    result.map_err(|error| error.reason)?;
    let value = |place: &Place| place.value(last, &mut Vec::new()).unwrap().escape_ascii().to_string();
    Ok(places
        .iter()
        .map(|place| (place.kind, value(place).replace("\\\"", "\"").replace("\\\\", "\\")))
        .collect())
}

/// Checks the values that `log` finds in `line`, with the kind of the first one.
#[track_caller]
fn finds(log: &str, line: &str, kind: Kind, values: &[&str]) {
    let found = find(log, line.as_bytes()).unwrap_or_else(|reason| panic!("{log}: {} in {line}", reason.0));
    assert_eq!(found.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(), values, "{log}: {line}");
    assert_eq!(found.first().map(|(kind, _)| *kind), Some(kind), "{log}: {line}");
}

#[track_caller]
fn rejects(log: &str, line: &str, reason: Reason) {
    assert_eq!(find(log, line.as_bytes()), Err(reason), "{log}: {line}");
}

#[track_caller]
fn finds_nothing(log: &str, line: &str) {
    assert_eq!(find(log, line.as_bytes()), Ok(Vec::new()), "{log}: {line}");
}

const DATE: &str = "192.0.2.1 - - [01/Jan/2024:00:00:00 +0000]";

/// A target that begins with `//` is a path, in each format that records requests.
#[test]
fn a_target_with_two_slashes_is_a_path() {
    let target = "//xmlrpc.php?rsd";
    for (log, line) in [
        ("combined", format!("{DATE} \"GET {target} HTTP/1.1\" 200 1 \"-\" \"x\"")),
        ("common", format!("{DATE} \"GET {target} HTTP/1.1\" 200 1")),
        ("nginx", format!("{DATE} \"GET {target} HTTP/1.1\" 200 1 \"-\" \"x\"")),
        ("w3c", format!("#Fields: date cs-method cs-uri-stem\n2024-01-01 GET {target}")),
        ("iis", format!("#Fields: date cs-uri-stem\n2024-01-01 {target}")),
        ("caddy", format!(r#"{{"request":{{"method":"GET","uri":"{target}"}}}}"#)),
        (
            "squid",
            format!("1278000000.123 5 192.0.2.1 TCP_MISS/200 228 GET {target} - HIER_DIRECT/192.0.2.9 -"),
        ),
        (
            "nginx-error",
            format!(
                "2024/01/01 [error] 1#0: *1 x, client: 1, server: _, request: \"GET {target} HTTP/1.1\", host: \"h\""
            ),
        ),
        (
            "haproxy",
            format!(
                "192.0.2.2:4 [04/Aug/2020:20:06:14.613] f b/s 0/0/0/1/3 200 222 - - ---- 1/1/0/0/3 0/0 \"GET {target} HTTP/1.1\""
            ),
        ),
        (
            "envoy",
            format!(
                "[2024-01-01T00:00:00.000Z] \"GET {target} HTTP/1.1\" 200 - 0 2 2 1 \"-\" \"ua\" \"id\" \"h\" \"u\""
            ),
        ),
    ] {
        // A stem has no query, so its `?` is part of the path.
        let kind = if matches!(log, "w3c" | "iis") { Kind::DecodedPath } else { Kind::Path };
        finds(log, &line, kind, &[target]);
    }
    let line = format!("{DATE} \"GET //WP-Content/A%2fB HTTP/1.1\" 200 1 \"-\" \"x\"");
    finds("combined", &line, Kind::Path, &["//WP-Content/A%2fB"]);
}

/// The target of CONNECT is a host and a port, and not a URL. The same is true of the upstream of a stream.
#[test]
fn an_authority_is_no_url() {
    let line = "1278000000.123 5 192.0.2.1 TCP_TUNNEL/200 99 CONNECT www.example.co.uk:443 - HIER_DIRECT/192.0.2.9 -";
    finds("squid", line, Kind::Authority, &["www.example.co.uk:443"]);
    let line = format!("{DATE} \"CONNECT [::1]:443 HTTP/1.1\" 400 150 \"-\" \"-\"");
    finds("nginx", &line, Kind::Authority, &["[::1]:443"]);
    let line = "2019/02/04 17:32:32 [error] 3#0: *8 upstream timed out (110: x) while connecting to upstream, client: 127.0.0.1, server: 0.0.0.0:24224, upstream: \"192.0.2.10:24224\", bytes from/to client:0/0";
    finds("nginx-error", line, Kind::Authority, &["192.0.2.10:24224"]);
    finds("nginx", &format!("{DATE} \"OPTIONS * HTTP/1.1\" 200 1 \"-\" \"-\""), Kind::Asterisk, &["*"]);
    let line = format!("{DATE} \"GET http://h/x HTTP/1.1\" 200 1 \"-\" \"-\"");
    finds("nginx", &line, Kind::Url, &["http://h/x"]);
}

/// A quote that the writer did not escape shifts no field: the line is read correctly or is rejected.
#[test]
fn a_bare_quote_shifts_no_field() {
    let line = "o b [20/Jun/2019:03:51:36 +0000] 192.0.2.4 - ID REST.GET.OBJECT %2522 \"GET /%41\" HTTP/1.1\" 403 AccessDenied 243 - 8 - \"http://r.example/%41\" \"curl/7.38.0\" - x= - E - h T";
    finds("s3", line, Kind::Url, &["%2522", "/%41\"", "http://r.example/%41"]);
    finds_nothing("s3", "o b [20/Jun/2019:03:51:36 +0000] 1 o 3E S3.EXPIRE.OBJECT - - - - 1 - - - - -");
    for log in ["combined", "combined:envoy", "combined:traefik", "nginx-none", "jetty"] {
        let line = format!("{DATE} \"GET /%41\" HTTP/1.1\" 200 1 \"http://r.example/%41\" \"UA\"");
        finds(log, &line, Kind::Path, &["/%41\"", "http://r.example/%41"]);
    }
    let line = format!("{DATE} \"GET /%41\" HTTP/1.1\" 200 1 \"http://r/%41\" \"UA\"");
    rejects("nginx", &line, Reason::OTHER_FIELDS);
}

/// The escapes of each writer are undone exactly once.
#[test]
fn escapes_are_undone_by_the_writer() {
    let apache = format!(r#"{DATE} "GET /q?a=\"x\"&b=\\y HTTP/1.1" 200 1 "-" "x""#);
    finds("apache", &apache, Kind::Path, &[r#"/q?a="x"&b=\y"#]);
    rejects("combined", &apache, Reason::UNKNOWN_WRITER);
    let nginx = format!(r#"{DATE} "GET /a\x22b\xC3\xA9\x1B HTTP/1.1" 200 1 "-" "x""#);
    finds("nginx", &nginx, Kind::Path, &[r#"/a"b\xc3\xa9\x1b"#]);
    rejects("combined", &nginx, Reason::UNKNOWN_WRITER);
    let haproxy = r#"l h[8]: 192.0.2.2:4 [04/Aug/2020:20:06:14.613] f b/s 0/0/0/1/3 200 222 - - ---- 1/1/0/0/3 0/0 "GET /caf#C3#A9?x=#22a%20b#22 HTTP/1.1""#;
    finds("haproxy", haproxy, Kind::Path, &[r#"/caf\xc3\xa9?x="a%20b""#]);
    let tomcat = format!(r#"{DATE} "GET /\u00e9\f HTTP/1.1" 200 1"#);
    finds("tomcat", &tomcat, Kind::Path, &[r"/\xe9\x0c"]);
    let line = "#Fields: date cs-method cs-uri-stem\n1\tGET\t/a%2520b%22";
    finds("cloudfront", line, Kind::Path, &[r#"/a%20b""#]);
}

/// In `httpslog`, HAProxy writes fields of TLS after the request.
#[test]
fn httpslog_has_fields_after_the_request() {
    for tail in ["0/0000000000000000/0/0/0 www.example/TLSv1.3/TLS_AES_256_GCM_SHA384", "0/-/-/-/0 -/-/-"] {
        let line = format!(
            "192.0.2.2:4 [04/Aug/2020:20:06:14.613] f~ b/s 0/0/0/1/3 200 222 - - ---- 1/1/0/0/0 0/0 \"GET /caf%C3%A9 HTTP/1.1\" {tail}"
        );
        finds("httpslog:haproxy", &line, Kind::Path, &["/caf%C3%A9"]);
        finds("haproxy", &line, Kind::Path, &["/caf%C3%A9"]);
    }
}

/// Loggers put each line of an access log into a record of their own, such as a JSON string of Docker.
#[test]
fn loggers_wrap_records() {
    let inner = r#"192.0.2.1 - - [26/Dec/2018:12:29:09 +0000] "GET /a%22b%20c\x22 HTTP/2.0" 200 8 "-" "UA""#;
    let docker = format!(r#"{{"log":"{}\n"}}"#, inner.replace('\\', "\\\\").replace('"', "\\\""));
    finds("docker+nginx", &docker, Kind::Path, &[r#"/a%22b%20c""#]);
    rejects("docker+nginx", &docker.replace("\\n\"}", "\"}"), Reason::PART);
    let line = format!("2026-11-27T15:38:10.123456789Z stdout F {inner}");
    finds("cri+nginx", &line, Kind::Path, &[r#"/a%22b%20c""#]);
    rejects("cri+nginx", &format!("2026-11-27T15:38:10.123456789Z stdout P {inner}"), Reason::PART);
    rejects("cri+nginx", inner, Reason::NO_PREFIX);
    for prefix in [
        "<134>Nov 27 15:38:10 haproxy[25831]: ",
        "<134>1 2026-11-27T15:38:45.183539+00:00 - haproxy 25831 - - ",
        "<134>1 2026-11-27T15:38:45.183539+00:00 h haproxy 25831 m [a@1 b=\"c\"] ",
        "Nov 27 15:38:10 web1 nginx[123]: ",
        "2026-11-27T15:38:10+00:00 web1 nginx: ",
        "Nov  7 15:38:10 web1 nginx: ",
    ] {
        finds("syslog+nginx", &format!("{prefix}{inner}"), Kind::Path, &[r#"/a%22b%20c""#]);
        finds("syslog+nginx-json", &format!("{prefix}{{\"request_uri\":\"/a\"}}"), Kind::Path, &["/a"]);
    }
    let inner = format!("{DATE} \"GET /a#011b HTTP/1.1\" 200 1 \"-\" \"-\"");
    // A client can send `#011`, which rsyslog also writes for a tab that the server left raw.
    rejects("syslog+nginx-none", &format!("Nov 27 15:38:10 web1 nginx: {inner}"), Reason::AMBIGUOUS);
    finds("syslog+nginx", &format!("Nov 27 15:38:10 web1 nginx: {inner}"), Kind::Path, &["/a#011b"]);
}

/// Tests lines in which a client planted a label of nginx's error log, such as `, host:`, in the name of the file, the
/// request line or the referrer. The planted request is never found: the line is read correctly or is rejected.
#[test]
fn a_planted_label_is_no_request() {
    let entry = |message: &str, rest: &str| {
        format!(
            "2026/11/27 16:51:33 [error] 1#1: *3 {message}, client: 127.0.0.1, server: h.example, request: \"GET /a HTTP/1.1\"{rest}"
        )
    };
    let open = |planted: &str| format!("open() \"/www/a{planted}\" failed (2: No such file or directory)");
    for planted in [
        "\", client: x, server: y, request: \"GET /spoof HTTP/1.1\", host: \"h\"",
        ", request: \"GET /spoof HTTP/1.1",
    ] {
        for rest in [", host: \"h.example\"", ""] {
            finds("nginx-error", &entry(&open(planted), rest), Kind::Path, &["/a"]);
        }
    }
    let referrer = ", host: \"h\", referrer: \"x\", request: \"GET /spoof HTTP/1.1\", host: \"y\"";
    rejects("nginx-error", &entry(&open(""), referrer), Reason::AMBIGUOUS);
    let line = "2026/11/27 15:37:38 [info] 1#1: *1 client sent invalid request while reading client request line, client: 127.0.0.1, server: h, request: \"GET /a, request: \"GET /spoof HTTP/1.1\" HTTP/1.1\"";
    rejects("nginx-error", line, Reason::AMBIGUOUS);
    let line = entry("x", ", upstream: \"http://u/\", host: \"h\", referrer: \"r\"b\"");
    finds("nginx-error", &line, Kind::Path, &["/a", "http://u/", "r\"b"]);
    let line = "2026/11/27 [error] 1#1: *1 x, client: 1, request: \"GET /a HT";
    rejects("nginx-error", line, Reason::OPEN_QUOTE);
}

/// A client planted a request in the name of the user, the target or the agent.
#[test]
fn a_planted_request_is_no_request() {
    let user = r#"192.0.2.1 - a] "GET /spoof HTTP/1.1" 200 1 "x [27/Nov/2026:15:37:42 +0000] "GET /a HTTP/1.1" 404 146 "http://r.example/p?q" "ua/1""#;
    finds("nginx-none", user, Kind::Path, &["/a", "http://r.example/p?q"]);
    let user = user.replacen('"', "\\\"", 3);
    finds("apache", &user, Kind::Path, &["/a", "http://r.example/p?q"]);
    let empty = r#"127.0.0.1 - "" [27/Nov/2026:15:37:25 +0000] "GET /a HTTP/1.1" 404 416 "-" "-""#;
    finds("apache", empty, Kind::Path, &["/a"]);
    let dated = r#"192.0.2.1 - [10/Oct/2000:13:55:36 +0000] x [27/Nov/2026:15:37:42 +0000] "GET /a HTTP/1.1" 404 146 "-" "-""#;
    finds("apache", dated, Kind::Path, &["/a"]);
    let target =
        r#"127.0.0.1 -  [27/Nov/2026:15:37:38 +0000] "GET /a HTTP/1.1" 200 2 "-" "- HTTP/1.1" 400 150 "" """#;
    rejects("nginx-none", target, Reason::AMBIGUOUS);
    let agent = r#"[2024-01-01T00:00:00.000Z] "GET /a HTTP/1.1" 200 - 0 2 2 1 "-" "x [10/Oct/2000:13:55:36 +0000] "GET /spoof HTTP/1.1" 200 - 0 2 2 1 "-" "y" "id" "h" "u""#;
    // A header of the client can also replace the target of Envoy.
    rejects("envoy", agent, Reason::AMBIGUOUS);
}

/// A referrer ends in a backslash that the writer did not escape.
#[test]
fn a_backslash_that_is_data_swallows_no_field() {
    let line = format!(r#"{DATE} "GET /a HTTP/1.1" 200 1 "http://r.example/a\" "ua/1""#);
    for log in ["h2o", "jetty", "nginx-none", "aiohttp", "combined:envoy"] {
        finds(log, &line, Kind::Path, &["/a", r"http://r.example/a\"]);
    }
    rejects("combined", &line, Reason::UNKNOWN_WRITER);
}

/// Servers write bytes that are not UTF-8, and escapes that JSON does not have. The other members can be read nevertheless.
#[test]
fn json_is_read_as_servers_write_it() {
    let mut places = Vec::new();
    let line = b"{\"request\":\"GET /a HTTP/1.1\",\"uri\":\"/a\",\"ua\":\"\xE9\"}";
    syntax("nginx-json", &[]).find(line, &mut places).unwrap();
    assert_eq!(places[0].raw(line), b"/a");
    finds("json:lighttpd", r#"{"request":"GET /a\vb HTTP/1.1","ua":"\xE9"}"#, Kind::Path, &[r"/a\x0bb"]);
    finds("json:apache", r#"{"request":"GET /\xc3\xa9\" HTTP/1.1"}"#, Kind::Path, &[r#"/\xc3\xa9""#]);
    finds("json:h2o", r#"{"url":"/\u00c3\u00a9"}"#, Kind::Path, &[r"/\xc3\xa9"]);
    rejects("nginx-json", r#"{"request_uri":"/\x22"}"#, Reason::NOT_JSON);
    rejects("nginx-json", r#"{"request_uri":"/a","x":"","request_uri":"/b"}"#, Reason::TWICE_IN_JSON);
    finds("nginx-json", r#"{"uri":"/index","request_uri":"/a"}"#, Kind::Path, &["/a"]);
    finds("nginx-json", r#"{"request":"GET /x HTTP/1.1","uri":"","request_uri":""}"#, Kind::Path, &["/x"]);
    finds("nginx-json", r#"{"request_uri":"\/\/a"}"#, Kind::Path, &["//a"]);
    finds("envoy-json", r#"{"path":"h:443","method":"CONNECT"}"#, Kind::Authority, &["h:443"]);
    let line = r#"{"request":{"uri":"/a","headers":{"Referer":["http://r/","http://s/"]}}}"#;
    finds("caddy", line, Kind::Path, &["/a", "http://r/", "http://s/"]);
}

/// An unusual protocol is not a part of the target, and a method can have any characters of a token.
#[test]
fn a_request_has_an_odd_protocol_or_method() {
    for (request, target) in [
        ("GET /a XTTP/1.1", "/a"),
        ("GET /a http/1.1", "/a"),
        ("GET /a HTTP/1.1 ", "/a"),
        ("GET /a HTTP/2", "/a"),
        ("GET /a%41 HTTP/1.10", "/a%41"),
        ("GET /a HTTP/1.01\\x22", "/a"),
        ("GET /a HTTP/1.123", "/a"),
        ("GET /a HTTP/1.", "/a HTTP/1."),
        ("GET /a HTTP/1.1a", "/a HTTP/1.1a"),
        ("GET /a%20HTTP/1.10", "/a%20HTTP/1.10"),
        ("GET /a  HTTP/1.1", "/a"),
        ("GET   /a HTTP/1.1", "/a"),
        ("GET /a HTTP/1.1 HTTP/1.1", "/a HTTP/1.1"),
        ("GET /a b", "/a b"),
        ("GET /a", "/a"),
        ("M-SEARCH'! /a HTTP/1.1", "/a"),
    ] {
        finds("nginx", &format!("{DATE} \"{request}\" 400 1 \"-\" \"-\""), Kind::Path, &[target]);
    }
    let line = "[2026-11-27 15:54:20 +0000] [18986] [INFO] 127.0.0.1:44230 - - [27/Nov/2026:15:54:20 +0000] \"GET /a 1.1\" 200 2 \"-\" \"-\"";
    finds("hypercorn", line, Kind::Path, &["/a"]);
    rejects("nginx", &format!("{DATE} \"G[T] /a HTTP/1.1\" 400 1 \"-\" \"-\""), Reason::METHOD);
    rejects("nginx", &format!("{DATE} \"/%00\" 400 1 \"-\" \"-\""), Reason::NO_TARGET);
    rejects("nginx", &format!("{DATE} \"/%00 HTTP/1.1\" 400 1 \"-\" \"-\""), Reason::METHOD);
}

/// To some servers a third word is the protocol, to others it is a part of the target.
#[test]
fn a_request_is_unreadable_if_servers_disagree_about_its_last_word() {
    for request in [
        "GET /a null",
        "GET /a -",
        "GET /a 1.1",
        "GET /a b",
        "GET /a b 1.1",
        "GET - -",
        "GET null",
        "GET 1.1",
    ] {
        let common = format!("{DATE} \"{request}\" 400 0");
        rejects("common", &common, Reason::UNKNOWN_WRITER);
        let combined = format!("{common} \"-\" \"-\"");
        rejects("combined", &combined, Reason::UNKNOWN_WRITER);
        rejects("vhost_combined", &format!("h:80 {combined}"), Reason::UNKNOWN_WRITER);
    }
    for (request, target) in [
        ("GET /a HTTP/1.1", "/a"),
        ("GET /a", "/a"),
        ("GET /a ", "/a"),
        ("GET /a XTTP/1.1", "/a"),
        ("GET /a HTTP/2", "/a"),
        ("GET /a b HTTP/1.1", "/a b"),
        // No server that writes three words could have written this.
        ("GET /a b c", "/a b c"),
    ] {
        finds("common", &format!("{DATE} \"{request}\" 400 0"), Kind::Path, &[target]);
    }
    rejects("common", &format!("{DATE} \"\x16\x03\x01\" 400 0"), Reason::NO_TARGET);
}

/// The words around a target are those of the server. So a line of another format is not read.
#[test]
fn lines_with_other_words_around_the_target_are_unreadable() {
    let access = format!("{DATE} \"GET /a HTTP/1.1\" 200 0 \"http://r/\" \"UA\"");
    for (status, length, time) in [("200", "12", "0.576"), ("-", "-", "-"), ("304", "-", "1")] {
        finds("tiny", &format!("GET /a {status} {length} - {time} ms"), Kind::Path, &["/a"]);
    }
    for line in [
        "Server listening on http://localhost:3000/a in mode production with 4 workers",
        &access,
        "GET /a 2000 12 - 0.576 ms",
        "GET /a 200 1k - 0.576 ms",
        "GET /a 200 12 5 0.576 ms",
        "GET /a 200 12 - 0.5.6 ms",
        "GET /a 200 12 - 0.576 s",
        "GET /a 200 12 - 0.576  ms",
    ] {
        rejects("tiny", line, Reason::OTHER_FIELDS);
    }
    rejects("tiny", "192.0.2.1 - GET /a HTTP/1.1 200 12 - 0.576 ms", Reason::FIELD_COUNT);
    rejects("tiny", "GET 200 12 - 0.576 ms", Reason::FIELD_COUNT);
    rejects("tiny", "[GET] /a 200 12 - 0.576 ms", Reason::NO_ANCHOR);

    for address in ["192.0.2.1", "2001:db8::1", "fe80::1%eth0"] {
        finds("tornado", &format!("200 GET /a ({address}) 0.57ms"), Kind::Path, &["/a"]);
    }
    for line in [
        "300 items /a left in the queue",
        "200 GET /a 192.0.2.1 0.57ms",
        "200 GET /a (h) 0.57ms",
        "200 GET /a (192.0.2.1) 0.57s",
        "200 GET /a (192.0.2.1) ms",
    ] {
        rejects("tornado", line, Reason::OTHER_FIELDS);
    }
    rejects("tornado", "200 GET /a b (192.0.2.1) 0.57ms", Reason::FIELD_COUNT);
    rejects("tornado", "x200 GET /a (192.0.2.1) 0.57ms", Reason::NO_ANCHOR);
    rejects("tornado", "200 G(T /a (192.0.2.1) 0.57ms", Reason::NO_ANCHOR);
}

/// After the target, Squid writes a user, a code with a peer, and a media type. A line with another code, or with more words, is
/// rejected.
#[test]
fn squid_has_three_words_after_the_target() {
    let line = |tail: &str| format!("1278000000.123 5 192.0.2.1 TCP_MISS/200 228 GET http://h/a {tail}");
    for peer in [
        "HIER_DIRECT/192.0.2.9",
        "HIER_NONE/-",
        "NONE/-",
        "DIRECT/2001:db8::1",
        "TIMEOUT_FIRSTUP_PARENT/h",
        "CD_SIBLING_HIT/h",
        "CLOSEST_PARENT_MISS/h",
        "NO_DIRECT_FAIL/-",
        "SOURCE_FASTEST/h",
        "CARP/h",
        "PINNED/h",
        "ORIGINAL_DST/192.0.2.9",
        "STANDBY_POOL/h",
    ] {
        finds("squid", &line(&format!("- {peer} text/html")), Kind::Url, &["http://h/a"]);
        finds("squid", &line(&format!("HTTP/1.1 user {peer} -")), Kind::Url, &["http://h/a HTTP/1.1"]);
    }
    let usual = "- HIER_DIRECT/192.0.2.9 text/html";
    for tail in [
        format!("{usual} ABC"),
        format!("{usual} \"http://r/\" \"UA\""),
        "- direct/192.0.2.9 text/html".to_owned(),
        "- HIER_DIRECT/ text/html".to_owned(),
    ] {
        rejects("squid", &line(&tail), Reason::OTHER_FIELDS);
        assert!(detect(&[line(&tail).as_bytes()], None).is_none(), "{tail}");
    }
    // The first of two more fields could be text of a client.
    rejects("squid", &line(&format!("{usual} NONE/x y")), Reason::FIELD_COUNT);
    rejects("squid", &line(&format!("{usual} - NONE/x y")), Reason::FIELD_COUNT);
    rejects("squid", &line(usual).replace("/200", "/2000"), Reason::NO_ANCHOR);
}

#[test]
fn placeholders_are_no_targets() {
    for (log, request) in [
        ("nginx", "-"),
        ("nginx", ""),
        ("apache", "GET HTTP/1.1"),
        ("lighttpd", "GET  HTTP/1.1"),
        ("lighttpd", "  HTTP/1.1"),
        ("combined:envoy", "- - HTTP/1.1"),
        ("jetty", "- - -"),
        ("jetty", "GET - -"),
        ("combined:tomcat", "GET - HTTP/1.1"),
        ("varnish", "- http://localhost HTTP/1.0"),
        ("combined:haproxy", "<BADREQ>"),
        ("combined", "- - -"),
        ("combined", "-"),
        ("combined", ""),
        ("combined", "GET -"),
        ("combined", "GET HTTP/1.1"),
        ("combined", "NONE error:invalid-request HTTP/1.1"),
        ("combined", "UNKNOWN / HTTP/1.0"),
        ("aiohttp", "UNKNOWN / HTTP/1.0"),
    ] {
        let host = if log == "lighttpd" { "h.example" } else { "-" };
        let line = format!("192.0.2.1 {host} - [01/Jan/2024:00:00:00 +0000] \"{request}\" 400 0 \"-\" \"-\"");
        finds_nothing(log, &line);
    }
    // A client can send hyphens, too.
    for (log, request, target) in [
        ("common:nginx", "- /etc/passwd%00 x-", "/etc/passwd%00 x-"),
        ("common:apache", "- /a%2D -", "/a%2D -"),
        ("daphne", "- /admin-", "/admin-"),
        ("common:jetty", "- /a -", "/a"),
    ] {
        finds(log, &format!("{DATE} \"{request}\" 400 0"), Kind::Path, &[target]);
    }
    // A client can send the start of a text of Squid.
    let other = "GET error:%00 HTTP/1.1";
    finds("combined", &format!("{DATE} \"{other}\" 400 54 \"-\" \"-\""), Kind::Url, &["error:%00"]);
    finds("jetty", &format!("{DATE} \"GET /100% -\" 400 54 \"-\" \"-\""), Kind::Path, &["/100%"]);
    finds("combined:tomcat", &format!("{DATE} \"GET /a null\" 400 54 \"-\" \"-\""), Kind::Path, &["/a"]);
    let line = "1795793970.224      0 127.0.0.1 NONE_NONE/400 4072 GET error:invalid-request - HIER_NONE/- text/html";
    finds_nothing("squid", line);
    finds_nothing("elb", r#"t lb 1:2 3:4 1 2 3 400 200 0 29 "- - - " "-" - -"#);
    let line = r#"http t lb 1:2 - 1 2 3 400 - 0 29 "- http://h.example:80- -" "-" - - - "-" "-" "-" - t "-" "-" "-""#;
    finds_nothing("alb", line);
    finds_nothing("nginx-error", "2012/10/14 18:56:41 [notice] 2761#0: using inherited sockets from \"6;\"");
    finds_nothing("nginx", "  ");
}

#[test]
fn records_that_a_server_cut_are_unreadable() {
    let long = "a".repeat(1000);
    let haproxy = "1:2 [04/Aug/2020:20:06:14.613] f b/s 0/0/0/1/3 200 2 - - ---- 1/1/0/0/3 0/0";
    rejects("haproxy", &format!("{haproxy} \"GET /{long}\""), Reason::CUT);
    rejects("nginx", &format!("{DATE} \"GET /{long}\" 414 1 \"-\" \"-\""), Reason::CUT);
    let squid = "1795793970.224      0 127.0.0.1 NONE_NONE/400 4072 GET http://h/a";
    rejects("squid", &format!("{squid}\0{squid} - HIER_NONE/- text/html"), Reason::GLUED);
    let squid = format!("{DATE} \"GET http://h/a");
    let line = format!("{squid}\0{squid} HTTP/1.1\" 200 1 \"-\" \"-\" TCP_MISS:X");
    rejects("combined:squid", &line, Reason::AMBIGUOUS);
}

/// A query that the client left empty is an empty column of Tomcat's log.
#[test]
fn a_column_can_be_empty() {
    let header = "#Fields: date cs-method cs-uri-stem cs-uri-query cs(Referer)";
    let line = format!("{header}\n1 GET /  \"http://r/\"\"\\\\\"");
    finds("w3c:tomcat", &line, Kind::Path, &["/", "http://r/\"\\"]);
    let line = "#Fields: time     cs-method cs-uri cs(Referer)\n12:21:16   GET   /bar - ";
    finds("w3c", line, Kind::Path, &["/bar"]);
    // If the header is not aligned, two blanks have an empty column between them, and a blank in a value adds a column.
    rejects("w3c", &line.replace("time     cs", "time cs"), Reason::FIELD_COUNT);
    let header = "#Fields: date cs-username cs-uri-stem cs-uri-query sc-status";
    rejects("iis", &format!("{header}\n2024-01-01 a /evil%41 /real%42  200"), Reason::FIELD_COUNT);
    rejects("w3c", &format!("{header}\n1 GET /a b - -"), Reason::FIELD_COUNT);
    rejects("w3c", "12:21:16 GET /bar -", Reason::NO_HEADER);
    rejects("w3c", "#Fields: time cs-uri\n10:00 \"/a", Reason::OPEN_QUOTE);
    let line = "#Fields: date cs-uri-stem cs-uri-query cs(Referer)\n1 [/a \"q=1 http://r/";
    finds("iis", line, Kind::Url, &["[/a", "\"q=1", "http://r/"]);
    let line = "org,e)/ 2014 http://e.org/%5A text/html 200 ABC - - 500 333 a.warc.gz";
    finds("cdx", line, Kind::Url, &["http://e.org/%5A"]);
    rejects(
        "cdx",
        "org,e)/ 2014 http://e.org/ b text/html 200 ABC - - 500 333 a.warc.gz",
        Reason::FIELD_COUNT,
    );
    finds("cdx", " CDX r N a\nhttp://r/ a,b)/ http://b.a/", Kind::Url, &["http://r/", "http://b.a/"]);
    rejects("cdx", "org,e)/ 2014 {\"url\": \"http://e.org/\"}", Reason::CDXJ);
}

/// Loggers cut a long line into parts. The last part is marked like a whole line, but a client chooses where it begins.
#[test]
fn the_last_part_of_a_line_is_no_record() {
    let inner = format!("{DATE} \"GET /a HTTP/1.1\" 200 1 \"-\" \"x\"");
    let cri = |stream: &str, tag: &str| format!("2026-11-27T15:38:10.123456789Z {stream} {tag} {inner}");
    let docker = |stream: &str, end: &str| {
        format!(r#"{{"log":"{}{end}","stream":"{stream}"}}"#, inner.replace('"', "\\\""))
    };
    for (log, part, last) in [
        ("cri+nginx", cri("stdout", "P"), cri("stdout", "F")),
        ("cri+nginx", cri("stderr", "P:x"), cri("stderr", "F:x")),
        ("docker+nginx", docker("stdout", ""), docker("stdout", r"\n")),
        ("docker+nginx", docker("stderr", r"\\n"), docker("stderr", r"\n")),
    ] {
        let (other, line) = match part.contains("stdout") {
            true => ([&part, &last].map(|line| line.replace("stdout", "stderr")), ""),
            false => ([&part, &last].map(|line| line.replace("stderr", "stdout")), "no line of a logger"),
        };
        let [other_part, other_last] = &other;
        rejects(log, &part, Reason::PART);
        rejects(log, &[&part, &*last].join("\n"), Reason::PART);
        rejects(log, &[&part, &part, line, other_last, &*last].join("\n"), Reason::PART);
        rejects(log, &[&part, other_part, &last, &**other_last].join("\n"), Reason::PART);
        // The other stream, and the line after the last part, are not affected.
        finds(log, &[&part, &**other_last].join("\n"), Kind::Path, &["/a"]);
        finds(log, &[&part, other_part, &last, &*last].join("\n"), Kind::Path, &["/a"]);
        assert!(syntax(log, &[]).is_sequential() && !syntax("syslog+nginx", &[]).is_sequential());
    }
}

/// No new value may begin with bytes that would turn its line into a line of JSON or a comment.
#[test]
fn no_new_value_begins_another_kind_of_line() {
    for (log, lines, value) in [
        ("cdx", "org,e)/ 2014 %7Bid%7D text/html 200 ABC - - 500 333 a.warc.gz", "{id}"),
        ("w3c", "#Fields: cs-uri-stem time\n%23a 10:00", "#a"),
    ] {
        let mut syntax = syntax(log, &["target"]);
        let mut places = Vec::new();
        lines.lines().for_each(|line| syntax.find(line.as_bytes(), &mut places).unwrap());
        let record = lines.lines().last().unwrap().as_bytes();
        assert_eq!(places[0].write(record, value.as_bytes(), &mut Vec::new()), Err(0), "{log}");
        assert_eq!(places[0].write(record, format!("/{value}").as_bytes(), &mut Vec::new()), Ok(()), "{log}");
    }
}

/// A value without quotes around it that were removed would shift the fields after it. One in quotes can be empty.
#[test]
fn a_word_is_not_emptied() {
    let alb = concat!(
        r#"https t app/lb/50 192.0.2.1:1 10.0.0.1:80 0.1 0.1 0.1 200 200 0 57 "GET /b HTTP/1.1" "curl" ECDHE TLSv1.2 arn:aws:x "#,
        r#""Root=1" "www.example.com" "arn:aws:y" 1 t "redirect" "/a" "-" "10.0.0.1:80" "200" "-" "-" TID"#
    );
    let s3 = "owner bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 arn ID REST.GET.OBJECT /a \"GET /b HTTP/1.1\" 200 - 7 7 7 7 \"/a\" \"c\"";
    let json = r#"{"request_uri":"/b","http_referer":"/a"}"#;
    let combined = format!("{DATE} \"GET /b HTTP/1.1\" 200 1 \"/a\" \"x\"");
    for (log, field, lines, can_be) in [
        ("vhost_combined", "host", format!("/a {combined}"), false),
        ("accesslog:lighttpd", "host", combined.replace("- -", "/a -"), false),
        ("s3", "key", s3.to_owned(), false),
        ("alb", "redirect", alb.to_owned(), false),
        ("w3c", "referer", "#Fields: cs(Referer) time\n/a 10:00".to_owned(), false),
        ("iis", "referer", "#Fields: time cs(Referer)\n10:00 /a".to_owned(), false),
        ("cdx", "redirect", " CDX a r\n/b /a".to_owned(), false),
        ("w3c", "referer", "#Fields: cs(Referer) time\n\"/a\" 10:00".to_owned(), true),
        ("cloudfront", "referer", "#Fields: cs(Referer) time\n/a\t10:00".to_owned(), true),
        ("json", "referer", json.to_owned(), true),
        ("s3", "referer", s3.to_owned(), true),
        ("combined", "referer", combined.clone(), true),
    ] {
        let (mut syntax, mut places) = (syntax(log, &[field]), Vec::new());
        lines.lines().for_each(|line| syntax.find(line.as_bytes(), &mut places).unwrap());
        let record = lines.lines().last().unwrap().as_bytes();
        assert_eq!(places[0].raw(record), b"/a", "{log}: {lines}");
        assert_eq!(places[0].may_be_empty, can_be, "{log}: {lines}");
        let wanted = if can_be { Ok(()) } else { Err(0) };
        assert_eq!(places[0].write(record, b"", &mut Vec::new()), wanted, "{log}: {lines}");
    }
}

#[test]
fn alb_has_a_redirect() {
    let line = r#"https 2018-07-02T22:23:00.186641 app/lb/50 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/%5A HTTP/1.1" "curl/7.46.0" ECDHE TLSv1.2 arn:aws:x "Root=1" "www.example.com" "arn:aws:y" 1 2018-07-02T22:22:48.364000 "authenticate,redirect" "https://example.com:80/%5A" "-" "10.0.0.1:80" "200" "-" "-" TID"#;
    finds("alb", line, Kind::Url, &["https://www.example.com:443/%5A", "https://example.com:80/%5A"]);
    let planted = r#"x" A B C "t" "d" "c" 1 t "a" "http://spoof/" "y"#;
    rejects("alb", &line.replace("curl/7.46.0", planted), Reason::AMBIGUOUS);
}

/// The request is certain, although a layout has other fields after it than the usual ones.
#[test]
fn other_fields_after_the_request_do_not_hide_it() {
    for (log, line) in [
        ("nginx", format!("{DATE} \"GET /a HTTP/1.1\" 200 1 0.003 \"http://r/\" \"ua\"")),
        ("nginx", format!("{DATE} \"GET /a HTTP/1.1\" 200 1 \"http://r/ and a cut")),
        ("envoy", "[2024-01-01T00:00:00.000Z] \"GET /a HTTP/1.1\" 200 \"x\"".to_owned()),
    ] {
        let mut places = Vec::new();
        let result = syntax(log, &["target"]).find(line.as_bytes(), &mut places);
        assert_eq!((result, places[0].raw(line.as_bytes())), (Ok(()), b"/a".as_slice()), "{line}");
        if log == "nginx" {
            rejects(log, &line, Reason::OTHER_FIELDS);
        }
    }
}

#[test]
fn names_are_those_of_rows() {
    for log in Log::all() {
        assert!(Log::named(&log.name()).is_some_and(|found| found.is(log)), "{}", log.name());
    }
    for name in "combined common vhost_combined nginx nginx-error haproxy envoy traefik elb alb s3 cloudfront w3c iis caddy cdx squid \
        apache json nginx-json httplog:haproxy httpslog:haproxy clf:haproxy varnish lighttpd combined:lighttpd h2o tomcat jetty gunicorn \
        uvicorn morgan envoy-json traefik-json go rack"
        .split_whitespace()
    {
        assert!(name.parse::<Spec>().is_ok_and(|spec| spec.log.is_some()), "{name}");
    }
    assert!("auto".parse::<Spec>().is_ok_and(|spec| spec.log.is_none()));
    assert!("cri".parse::<Spec>().is_ok_and(|spec| spec.log.is_none() && spec.wrapper == Some(Wrapper::Cri)));
    for name in ["", "no", "combined:no", "no:nginx", "x+nginx", "cri+no"] {
        assert!(name.parse::<Spec>().is_err(), "{name}");
    }
    assert!(
        Field::ALL.iter().all(|(field, name)| Field::named(name) == Some(*field) && field.name() == *name)
    );
}

#[test]
fn the_first_lines_choose_a_format() {
    let access = format!("{DATE} \"GET /a HTTP/1.1\" 200 1 \"http://r/\" \"ua\"");
    let haproxy =
        "1:2 [04/Aug/2020:20:06:14.613] f b/s 0/0/0/1/3 200 2 - - ---- 1/1/0/0/3 0/0 \"GET /a HTTP/1.1\"";
    for (name, lines) in [
        ("combined", &[access.as_str()][..]),
        ("common", &[&access[..access.find(" \"http").unwrap()]]),
        ("haproxy", &[haproxy]),
        ("haproxy", &[&format!("{haproxy} 0/-/-/-/0 -/-/-")]),
        ("squid", &["1278000000.123 5 192.0.2.1 TCP_MISS/200 228 GET http://h/ - HIER_DIRECT/192.0.2.9 -"]),
        ("caddy", &[r#"{"request":{"uri":"/a","method":"GET"}}"#]),
        ("json", &[r#"{"request_uri":"/a"}"#]),
        ("w3c", &["#Fields: time cs-uri", "1 /a"]),
        ("cloudfront", &["#Fields: time x-edge-location cs-uri", "1\tX\t/a"]),
        (
            "w3c:tomcat",
            &["#Fields: time cs-uri", "#Version: 2.0", "#Software: Apache Tomcat/10.1.60", "1 /a"],
        ),
        (
            "envoy",
            &["[2024-01-01T00:00:00.000Z] \"GET /a HTTP/1.1\" 200 - 0 2 2 1 \"-\" \"ua\" \"id\" \"h\" \"u\""],
        ),
        (
            "istio",
            &[
                "[2024-01-01T00:00:00.000Z] \"GET /a HTTP/1.1\" 200 - v - \"-\" 0 2 2 1 \"-\" \"ua\" \"id\" \"h\" \"u\" up - - - - -",
            ],
        ),
        ("nginx-error", &["2024/01/01 [error] 1#0: *1 x, client: 1, server: _, request: \"GET / HTTP/1.1\""]),
    ] {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let found = detect(&lines, None).map(Log::name);
        assert_eq!(found.as_deref(), Some(name));
    }
    // A client cannot choose the format with a header of several labels, even if most lines have it.
    let labels = ", client: , request: \"GET /a HTTP/1.1\", upstream: \"http://u/\", host: \"h\", referrer: \"http://r/\"";
    let planted = access.replace("\"ua\"", &format!("\"{labels}\""));
    for lines in [&[access.as_bytes(), planted.as_bytes()][..], &[planted.as_bytes()]] {
        assert_eq!(detect(lines, None).map(Log::name).as_deref(), Some("combined"));
    }
    // A client can write a line of a log into a line of another file.
    let planted = format!("[error] referer: {access}");
    for lines in [&[b"no log".as_slice()][..], &[b"no log", planted.as_bytes(), b"no log"]] {
        assert!(detect(lines, None).is_none());
    }
    // The columns of this log have no names of CloudFront, so it is the log of another program that writes tabs.
    assert!(detect(&[b"#Fields: time\tcs-uri", b"1\t/a?x-edge-"], None).is_none());
    let cri = format!("2026-11-27T15:38:10.123456789Z stdout F {access}");
    assert_eq!(detect(&[cri.as_bytes()], Some(Wrapper::Cri)).map(Log::name).as_deref(), Some("combined"));
    assert!(detect(&[cri.as_bytes(), b""], None).is_none());
}

/// morgan escapes a value before `JSON.stringify` does.
#[test]
fn two_programs_can_escape_a_value() {
    let line = br#"{"url":"/a\\\"b\\\\"}"#;
    let mut places = Vec::new();
    syntax("nginx-json", &[]).find(line, &mut places).unwrap();
    places[0].escapings[0] = Escaping::Morgan;
    assert_eq!(places[0].value(line, &mut Vec::new()), Ok(br#"/a"b\"#.as_slice()));
    let mut out = Vec::new();
    assert_eq!(places[0].write(line, b"/a\\\n", &mut out), Ok(()));
    assert_eq!(out, br"/a\\\\\\n");
    assert_eq!(places[0].origin(line, 3) - places[0].range.start, 6);
}

/// An offset in a value is mapped to the offset in the record, also if two programs have escaped the value.
#[test]
fn offsets_are_those_of_the_record() {
    let line = br#"{"log":"192.0.2.1 - - [01/Jan/2024:00:00:00 +0000] \"GET /a\\x22b HTTP/1.1\" 200 1\n"}"#;
    let mut places = Vec::new();
    syntax("docker+common:nginx", &[]).find(line, &mut places).unwrap();
    let mut buffer = Vec::new();
    assert_eq!(places[0].value(line, &mut buffer), Ok(b"/a\"b".as_slice()));
    let offsets: Vec<usize> =
        (0..=4).map(|offset| places[0].origin(line, offset) - places[0].range.start).collect();
    assert_eq!(offsets, [0, 1, 2, 7, 8]);
    let mut out = Vec::new();
    assert_eq!(places[0].write(line, b"/a\"\"", &mut out), Ok(()));
    assert_eq!(out, br"/a\\x22\\x22");
    assert_eq!(places[0].write(line, b"/a b", &mut out), Err(2));
}

/// A quote that a client sends after the protocol is written as an escape in most logs, and is no part of the target.
#[test]
fn an_escape_after_the_protocol_is_no_part_of_the_target() {
    for (log, quote) in [("nginx", "\\x22"), ("apache", "\\\""), ("h2o", "\\x22"), ("haproxy", "#22")] {
        let line = match log {
            "haproxy" => {
                "192.0.2.2:4 [04/Aug/2020:20:06:14.613] f b/s 0/0/0/1/3 400 2 - - ---- 1/1/0/0/3 0/0"
                    .to_owned()
            }
            _ => DATE.to_owned(),
        };
        let tail = if log == "haproxy" { "" } else { " 400 1 \"-\" \"x\"" };
        finds(log, &format!("{line} \"GET /a HTTP/1.1{quote}\"{tail}"), Kind::Path, &["/a"]);
    }
}

/// gunicorn and aiohttp write messages about requests that they rejected among the lines of their access logs.
#[test]
fn a_request_in_a_message_is_no_request() {
    let message = "[2024-01-01 00:00:00 +0000] [2048] [WARNING] Invalid request from ip=192.0.2.1: Invalid HTTP Version: ";
    let planted = "'- - [10/Oct/2000:13:55:36 +0000] \"GET /spoof HTTP/1.1\" 200 1 HTTP/1.1'";
    rejects("gunicorn", &format!("{message}{planted}"), Reason::NO_ANCHOR);
    rejects("aiohttp", &format!("    b{planted}"), Reason::NO_REQUEST);
}

/// Returns the values of the fields `names` in the last line of `lines`, each with the index of its name.
#[track_caller]
fn named(format: &str, names: &[&str], lines: &str) -> Vec<(usize, String)> {
    let mut syntax = syntax(format, names);
    let mut found = Vec::new();
    for line in lines.lines() {
        let mut places = Vec::new();
        syntax.find(line.as_bytes(), &mut places).unwrap();
        let text = |place: &Place| {
            let mut buffer = Vec::new();
            String::from_utf8(place.value(line.as_bytes(), &mut buffer).unwrap().to_vec()).unwrap()
        };
        found = places.iter().map(|place| (place.index, text(place))).collect();
    }
    found
}

#[test]
fn columns_and_paths_have_names_of_their_own() {
    let owned = |pairs: &[(usize, &str)]| {
        pairs.iter().map(|(index, text)| (*index, String::from(*text))).collect::<Vec<_>>()
    };
    let w3c =
        "#Fields: date cs-method cs-uri-stem cs(User-Agent) cs(Cookie)\n2026 GET /a%20b Mozilla+5 x=1\n";
    assert_eq!(named("w3c", &["cs(cookie)", "cs(User-Agent)"], w3c), owned(&[(1, "Mozilla+5"), (0, "x=1")]));
    assert_eq!(named("w3c", &["agent", "cs-method"], w3c), owned(&[(1, "GET"), (0, "Mozilla+5")]));
    assert_eq!(named("w3c", &["x-none"], w3c), owned(&[]));
    let cdx = " CDX N b a m s k r M S V g\norg,example)/ 2024 http://a/ text/html 200 X - - 1 2 f\n";
    assert_eq!(named("cdx", &["m"], cdx), owned(&[(0, "text/html")]));
    let json = r#"{"request":"GET http://h/a HTTP/1.1","uri":"/a","x":{"y":["1","2"]}}"#;
    assert_eq!(named("nginx-json", &["uri"], json), owned(&[(0, "/a")]));
    assert_eq!(
        named("nginx-json", &["target", "x.y[]"], json),
        owned(&[(0, "http://h/a"), (1, "1"), (1, "2")])
    );
    let docker = r#"{"log":"{\"request\":\"GET http://h/a HTTP/1.1\",\"uri\":\"/a\\\\b\"}\n"}"#;
    assert_eq!(named("docker+nginx-json", &["uri"], docker), owned(&[(0, "/a\\b")]));
    for (format, name, message) in [
        ("common", "agent", "common has no field 'agent'; it has target"),
        ("apache", "cookie", "apache has no field 'cookie'; it has target, referer, agent"),
        ("iis", "key", "iis has no field 'key'; it has target, query, referer, agent, host"),
    ] {
        let log = Log::named(format).unwrap();
        assert_eq!(Syntax::log(log, None, &[name]).unwrap_err(), message);
    }
    let log = Log::named("nginx-json").unwrap();
    assert!(Syntax::log(log, None, &["a..b"]).is_err());
    assert!(Syntax::log(log, None, &["agent", "agent"]).is_err());
}

#[test]
fn a_value_has_one_name() {
    for (format, names, is_refused) in [
        ("w3c", ["target", "cs-uri-stem"], true),
        ("iis", ["CS-URI-STEM", "target"], true),
        ("w3c", ["referer", "cs(Referer)"], true),
        ("w3c", ["x-a", "X-A"], true),
        ("w3c", ["target", "cs-method"], false),
        ("w3c", ["target", "cs(Referer)"], false),
        ("cdx", ["target", "a"], true),
        ("cdx", ["m", "M"], false),
        ("caddy", ["target", ".request.uri"], true),
        ("caddy", ["request.headers.Referer[0]", "referer"], true),
        ("caddy", ["x[0]", "x[]"], true),
        ("caddy", ["target", "request.method"], false),
        ("caddy", ["target", "**"], true),
    ] {
        let found = Syntax::log(Log::named(format).unwrap(), None, &names);
        let message = found.err().unwrap_or_default();
        assert_eq!(message.contains("can be the same value"), is_refused, "{format}: {names:?}: {message}");
    }
}

#[test]
fn two_asterisks_select_known_members_too() {
    let owned = |pairs: &[(usize, &str)]| {
        pairs.iter().map(|(index, text)| (*index, String::from(*text))).collect::<Vec<_>>()
    };
    let caddy = r#"{"request":{"method":"GET","uri":"/a","headers":{"Referer":["http://r/"],"X":["x"]}}}"#;
    for name in ["**", "request.**"] {
        let all = [(0, "GET"), (0, "/a"), (0, "http://r/"), (0, "x")];
        assert_eq!(named("caddy", &[name], caddy), owned(&all));
    }
    let json = r#"{"uri":"/a","msg":"m","request":"GET /b HTTP/1.1"}"#;
    assert_eq!(named("json", &["**"], json), owned(&[(0, "/a"), (0, "m"), (0, "/b")]));
}

/// These servers write requests of three words, of which the second is the target, whatever the third is.
#[test]
fn the_third_word_is_no_part_of_the_target() {
    for protocol in ["HTTP/1.1", "1.1", "XTTP/1.1", "%48TTP/1.1", "x"] {
        for log in ["combined:envoy", "combined:traefik", "gunicorn", "aiohttp"] {
            let line = format!("{DATE} \"GET /%42 {protocol}\" 200 1 \"-\" \"x\"");
            finds(log, &line, Kind::Path, &["/%42"]);
        }
    }
}

/// An empty target is no value, and the protocol does not take its place.
#[test]
fn the_protocol_is_no_target() {
    finds_nothing("aiohttp", &format!("{DATE} \"GET  HTTP/1.1\" 404 193 \"-\" \"x\"").replace(" - -", ""));
}

/// Amazon's load balancers write no blank before the hyphen in place of a protocol.
#[test]
fn a_request_that_alb_rejected_has_no_target() {
    let line = r#"http 2024-07-02T22:23:00.186641Z app/x/50 192.168.131.39:2817 - -1 -1 -1 400 - 0 272 "- http://www.example.com:80- " "-" - - - "-" "-" "-" - 2024-07-02T22:22:48.364000Z "-" "-" "-" "-" "-" "-" "-""#;
    finds_nothing("alb", line);
}

/// nginx knows no host while it reads the request line, and writes counts of bytes only for streams.
#[test]
fn labels_that_nginx_cannot_write_are_those_of_a_client() {
    let start = "2024/01/01 00:00:00 [info] 3#0: *8 client sent invalid request";
    let tail = "client: 192.0.2.1, server: s";
    let planted = r#"request: "GET /", host: "e%41 HTTP/1.1""#;
    let line = format!("{start} while reading client request line, {tail}, {planted}");
    rejects("nginx-error", &line, Reason::AMBIGUOUS);
    let counts =
        r#"request: "GET /a HTTP/1.1", host: "h", referrer: "http://evil%41/", bytes from/to client:1/2""#;
    let line = format!("{start}, {tail}, {counts}");
    finds("nginx-error", &line, Kind::Path, &["/a", r#"http://evil%41/", bytes from/to client:1/2"#]);
}

#[test]
fn go_writes_code_points_of_eight_digits() {
    let line = r#"192.0.2.1 - - [01/Jan/2024:00:00:00 +0000] "GET /\U0001fae0%41 HTTP/1.1" 200 1 "-" "x""#;
    finds("go", line, Kind::Path, &["/\\xf0\\x9f\\xab\\xa0%41"]);
}

#[test]
fn structured_data_of_syslog_ends_outside_quotes() {
    let line = |data: &str, mark: &str| {
        format!(r#"<34>1 2024-01-01T00:00:00Z h app 1 - {data} {mark}{DATE} "GET /%41 HTTP/1.1" 200 1"#)
    };
    for data in ["-", r#"[x@1 k="a\] b"][y@1 k="] \" "]"#, "[x]"] {
        for mark in ["", "\u{feff}"] {
            finds("syslog+common:apache", &line(data, mark), Kind::Path, &["/%41"]);
        }
    }
    rejects("syslog+common:apache", &line(r#"[x k="a]"#, ""), Reason::NO_PREFIX);
}

/// Decoded, these would be read as a protocol, as the header of a file, or as the start of the request.
#[test]
fn a_decoded_value_is_still_read_as_one() {
    let key = r#"o b [06/Feb/2019:00:00:38 +0000] 1.2.3.4 r id GET a%22b "GET /x HTTP/1.1" 200 - 1 1 1 1 "-" "x" -"#;
    for (log, line, value) in [
        ("nginx", format!(r#"{DATE} "GET HTTP%2F1.1" 400 157 "-" "-""#), "HTTP/1.1"),
        ("nginx", format!(r#"{DATE} "GET HTTP%2F1.10" 400 157 "-" "-""#), "HTTP/1.10"),
        ("nginx", format!(r#"{DATE} "GET /a%20HTTP/1.10" 400 157 "-" "-""#), "/a HTTP/1.10"),
        ("combined", format!(r#"{DATE} "GET 1%2E1" 400 157 "-" "-""#), "1.1"),
        (
            "syslog+combined",
            format!(r#"Nov 27 15:38:10 h x: {DATE} "GET /a%01 HTTP/1.1" 200 1 "-" "-""#),
            "/a\x01",
        ),
        ("cdx", " %43DX x 3 4 5 6 7 8 9 0".to_owned(), "CDX"),
        ("s3", key.to_owned(), "a\"b"),
    ] {
        let names: &[&str] = if log == "cdx" { &["b"] } else { &[] };
        let mut places = Vec::new();
        syntax(log, names).find(line.as_bytes(), &mut places).unwrap();
        assert!(
            places[0].write(line.as_bytes(), value.as_bytes(), &mut Vec::new()).is_err(),
            "{log}: {line}"
        );
    }
}

#[test]
fn clients_plant_labels_in_error_logs() {
    let start = "2026/11/29 18:07:22 [error] 1#1: *1 connect() failed (111: Connection refused) while connecting to upstream, \
                 client: 127.0.0.1, server: , request: \"GET /p/a,%20request:%20%22GET%20/x%2541%20HTTP/1.1 HTTP/1.1\"";
    // nginx passes the decoded path on if a location uses a part of it.
    let line =
        format!("{start}, upstream: \"http://127.0.0.1:2/a, request: \"GET /x%41 HTTP/1.1\", host: \"h\"");
    assert_eq!(find("nginx-error", line.as_bytes()), Err(Reason::AMBIGUOUS));
    // A line is cut after 2,047 bytes, perhaps at a quote of the client.
    let referrer =
        |len: usize| format!("{start}, host: \"h\", referrer: \"http://r/%41?q={}\"", "a".repeat(len));
    let cut = 2047 - referrer(0).len();
    assert_eq!(find("nginx-error", referrer(cut).as_bytes()), Err(Reason::CUT));
    assert!(find("nginx-error", referrer(cut - 1).as_bytes()).is_ok());
}

#[test]
fn a_header_replaces_the_target_of_envoy() {
    let tail = "200 - 0 0 0 - \"-\" \"-\" \"id\" \"h\" \"-\"";
    let line = |target: &str| format!("[2026-11-29T18:03:02.282Z] \"GET {target} HTTP/1.1\" {tail}");
    assert!(find("envoy", line("/real%41").as_bytes()).is_ok());
    for target in ["/spoof%41 x\" 200", &format!("/spoof%41 HTTP/1.1\" {tail}")] {
        assert_eq!(find("envoy", line(target).as_bytes()), Err(Reason::AMBIGUOUS), "{target}");
    }
}

#[test]
fn the_user_of_a_go_server_has_quotes() {
    let line = "1 - x [10/Oct/2025:13:55:36 +0000] \"GET /forged%41 HTTP/1.1\" 200 5 \"-\" \"- [29/Nov/2026:18:08:40 +0000] \
                \"GET http://x%20/real HTTP/1.1\" 200 5 \"http://r/\" \"u\"";
    assert_eq!(find("go", line.as_bytes()), Err(Reason::AMBIGUOUS));
}
