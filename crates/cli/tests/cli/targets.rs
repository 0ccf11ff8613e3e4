//! Tests that every command reads the targets of requests in logs by the rules of RFC 9112, section 3.2.

use serde_json::Value;

use crate::support::{Args, Run, ok, printed, run, text};

/// Returns a line of an access log with this request line.
fn line(request: &str) -> String {
    format!("192.0.2.1 - - [01/Jan/2024:00:00:00 +0000] \"{request}\" 200 1 \"-\" \"x\"\n")
}

/// Returns lines of an access log with these targets of GET.
fn lines(targets: &[&str]) -> String {
    targets.iter().map(|target| line(&format!("GET {target} HTTP/1.1"))).collect()
}

/// Checks that `args` write `wanted` for the target of each request, alone and in its line.
#[track_caller]
fn writes(args: &(impl Args + ?Sized), requests: &[(&str, &str)]) {
    let args = args.list();
    let [verb, args @ ..] = &args[..] else { panic!("a verb") };
    for (request, wanted) in requests {
        let target = request.split(' ').nth(1).expect("a target");
        let log = [&[verb, "--log", "common"], args].concat();
        let line = line(request).replace(" \"-\" \"x\"", "");
        let alone = text(&[&log[..], &["--values"]].concat(), &line);
        assert_eq!(alone, format!("{wanted}\n"), "{verb} {args:?} {request}");
        let whole = line.replacen(&format!(" {target}"), &format!(" {wanted}"), 1);
        assert_eq!(text(&log, &line), whole, "{verb} {args:?} {request}");
    }
}

/// Returns the output of `args` for `input`, and the number of values that were rejected.
fn rejected(args: &(impl Args + ?Sized), input: &str) -> (String, usize) {
    let Run { out, err, .. } = run(args, input);
    let count = err.split(' ').nth(1).and_then(|count| count.parse().ok()).unwrap_or(0);
    (String::from_utf8(out).expect("the output is text"), count)
}

const PARTS: &str = "{scheme}|{user}|{host}|{port}|{path}|{query}|{fragment}";

#[test]
fn parts_are_found_by_method_and_form() {
    for (request, wanted) in [
        ("GET /a/b?c HTTP/1.1", "||||/a/b|c|"),
        ("GET / HTTP/1.1", "||||/||"),
        ("GET //xmlrpc.php?rsd HTTP/1.1", "||||//xmlrpc.php|rsd|"),
        ("GET // HTTP/1.1", "||||//||"),
        ("GET ///x?y HTTP/1.1", "||||///x|y|"),
        ("GET //me@evil.com:80/x#y HTTP/1.1", "||||//me@evil.com:80/x||y"),
        ("GET /a:b HTTP/1.1", "||||/a:b||"),
        ("POST //[::1 HTTP/1.0", "||||//[::1||"),
        ("GET http://me@a.org:8080//b?c HTTP/1.1", "http|me|a.org|8080|//b|c|"),
        ("GET * HTTP/1.1", "||||*||"),
        ("OPTIONS * HTTP/1.1", "||||*||"),
        ("OPTIONS //* HTTP/1.1", "||||//*||"),
        ("CONNECT www.example.co.uk:443 HTTP/1.1", "||www.example.co.uk|443|||"),
        ("connect www.example.co.uk:443 HTTP/1.1", "||www.example.co.uk|443|||"),
        ("CONNECT www.example.co.uk HTTP/1.1", "||www.example.co.uk||||"),
        ("CONNECT [::1]:443 HTTP/1.1", "||[::1]|443|||"),
        ("CONNECT 192.0.2.1:8443 HTTP/1.1", "||192.0.2.1|8443|||"),
        ("CONNECT me@a.org:1 HTTP/1.1", "|me|a.org|1|||"),
        ("CONNECT //a.org:443 HTTP/1.1", "||||//a.org:443||"),
        ("CONNECT https://a.org/b HTTP/1.1", "https||a.org||/b||"),
    ] {
        let line = line(request);
        let get = text(&["get", PARTS, "--log", "combined", "--values"], &line);
        assert_eq!(get.lines().next(), Some(wanted), "{request}");
        let top = text(&["top", PARTS, "--log", "combined"], &line);
        assert_eq!(top, format!("1\t{wanted}\n"), "{request}");
        let split = "split --parts scheme,user,host,port,path,query,fragment --log common --values";
        let cells = text(split, line.replace(" \"-\" \"x\"", ""));
        assert_eq!(cells, format!("{}\n", wanted.replace('|', "\t")), "{request}");
    }
    // The parts of a host are missing if a target has no host. A missing part differs from an empty one.
    let common = lines(&["//a/b?c"]).replace(" \"-\" \"x\"", "");
    let split =
        ["split", "--parts", "url,authority,host,domain,path,segment:2,query", "--log", "common", "--values"];
    assert_eq!(
        text(&[&split[..], &["--format", "jsonl"]].concat(), &common),
        "{\"url\":\"//a/b?c\",\"path\":\"//a/b\",\"segment:2\":\"a\",\"query\":\"c\"}\n"
    );
    let connect = line("CONNECT www.example.co.uk:443 HTTP/1.1").replace(" \"-\" \"x\"", "");
    assert_eq!(
        text(&[&split[..], &["--format", "csv"]].concat(), connect),
        "www.example.co.uk:443,www.example.co.uk:443,www.example.co.uk,example.co.uk,,,\n"
    );
}

#[test]
fn formats_with_requests() {
    let squid = "1278000000.123 5 192.0.2.1 TCP_TUNNEL/200 99 CONNECT www.example.co.uk:443 - HIER_DIRECT/192.0.2.9 -\n\
                 1278000000.123 5 192.0.2.1 TCP_TUNNEL/200 99 CONNECT [::1]:443 - HIER_DIRECT/::1 -\n\
                 1278000000.123 5 192.0.2.1 TCP_MISS/200 99 GET http://a.org//b - HIER_DIRECT/192.0.2.9 text/html\n";
    let top = text("top {host}|{port}|{domain}|{path} --log squid", squid);
    assert_eq!(top, "1\t[::1]|443||\n1\ta.org||a.org|//b\n1\twww.example.co.uk|443|example.co.uk|\n");

    let w3c = "#Fields: date cs-method cs-uri-stem cs-uri-query sc-status\n2024-01-01 GET //x y=//z 200\n2024-01-01 GET //X - 404\n";
    assert_eq!(text("top {host}|{path} --log w3c", w3c), "1\t|//X\n1\t|//x\n");
    assert_eq!(text("get {host}|{path}|{query} --log w3c --values", w3c), "|//x|\n||y=//z\n|//X|\n");

    let caddy = "{\"request\":{\"method\":\"GET\",\"uri\":\"//shop/x\"}}\n";
    assert_eq!(text("top {host}|{path} --log caddy", caddy), "1\t|//shop/x\n");
    let envoy =
        "[01/Jan/2024:00:00:00 +0000] \"GET ///x HTTP/2\" 200 - 0 2 2 1 \"-\" \"ua\" \"id\" \"h\" \"u\"\n";
    assert_eq!(text("get {host}|{path} --log envoy --values", envoy), "|///x\n");

    let error = "2019/02/04 17:32:32 [error] 3#0: *8 upstream timed out (110: x) while connecting to upstream, client: 127.0.0.1, ";
    let get = ["get", "{scheme}|{host}|{port}|{path}", "--log", "nginx-error", "--values"];
    for (upstream, wanted) in [("192.0.2.10:24224", "|192.0.2.10|24224|\n"), ("[::1]:53", "|[::1]|53|\n")] {
        let end = format!("server: 0.0.0.0:53, upstream: \"{upstream}\", bytes from/to client:0/0\n");
        assert_eq!(text(&get, format!("{error}{end}")), wanted);
    }
    let http = format!(
        "{error}server: _, request: \"GET //x HTTP/1.1\", upstream: \"http://192.0.2.10:80//x\", host: \"a\"\n"
    );
    assert_eq!(text(&get, http), "|||//x\nhttp|192.0.2.10|80|//x\n");
}

#[test]
fn normal_forms_stay_targets() {
    writes(
        "normalize --profile rfc3986",
        &[
            ("GET //WP-Content/A%2fB HTTP/1.1", "//WP-Content/A%2FB"),
            ("GET /a//%7Eb HTTP/1.1", "/a//~b"),
            ("GET //A/../B HTTP/1.1", "//B"),
            ("GET /a/..//B HTTP/1.1", "//B"),
            ("GET /.//B HTTP/1.1", "//B"),
            ("GET /%2e//B HTTP/1.1", "//B"),
            ("GET //../B HTTP/1.1", "/B"),
            ("GET //A:99999/b HTTP/1.1", "//A:99999/b"),
            ("GET /x?y=//Z/%7e HTTP/1.1", "/x?y=//Z/~"),
            ("GET HTTP://A.org//B HTTP/1.1", "http://a.org//B"),
            ("CONNECT WWW.Example.com:443 HTTP/1.1", "www.example.com:443"),
            ("CONNECT ex%41mple.com: HTTP/1.1", "example.com"),
            ("CONNECT [2001:DB8::1]:443 HTTP/1.1", "[2001:db8::1]:443"),
            ("OPTIONS * HTTP/1.1", "*"),
        ],
    );
    writes(
        "normalize",
        &[
            ("GET //A%41:b/%2f HTTP/1.1", "//AA:b/%2F"),
            ("GET /.//%2e HTTP/1.1", "/.//."),
            ("CONNECT %61.com:443 HTTP/1.1", "a.com:443"),
        ],
    );
    writes(
        "normalize --profile escapes",
        &[("GET /.//%2e HTTP/1.1", "/.//."), ("CONNECT %61.com:443 HTTP/1.1", "a.com:443")],
    );
    writes("normalize --profile rfc3986-scheme", &[("GET //Shop/%7eA%2f HTTP/1.0", "//Shop/~A%2F")]);
    writes("normalize --profile w3lib-2.5", &[("GET /a//b?c HTTP/1.1", "/a//b?c=")]);
    // The canonical form of a path must not be that of a URL with a host.
    let input = lines(&["//evil/b", "/a/b", "/a//b"]);
    for profile in ["surt-java", "surt-python-0.3", "safe-browsing-4", "whatwg"] {
        let args = ["normalize", "--log", "combined", "--profile", profile];
        assert_eq!(rejected(&args, &input), (input.clone(), 3), "{profile}");
    }
    let input = line("CONNECT A.org:443 HTTP/1.1");
    let args = ["normalize", "--log", "combined", "--profile", "w3lib-2.5"];
    assert_eq!(rejected(&args, &input), (input.clone(), 1));
    // The hash is that of the canonical form.
    let hash = |input: &str| text("normalize --log combined --values --profile rfc3986 --hash sha1", input);
    assert_eq!(hash(&lines(&["//A/%7e"])), hash(&lines(&["//A/~"])));
    assert_ne!(hash(&lines(&["//A/~"])), hash(&lines(&["//a/~"])));
}

#[test]
fn different_targets_have_different_keys() {
    let input = lines(&["//WP/a", "//wp/a", "//wp/%61", "/.//wp/a", "/wp/a"]);
    let right = lines(&["//WP/a", "//wp/a", "/wp/a"]);
    assert_eq!(text("dedup --log combined --profile rfc3986", &input), right);
    let input = lines(&["//WP/a", "//wp/%61", "//wp/a", "/%2f"]);
    assert_eq!(text("dedup --log combined", &input), lines(&["//WP/a", "//wp/%61", "/%2f"]));
    let connect = |targets: &[&str]| {
        targets.iter().map(|target| line(&format!("CONNECT {target} HTTP/1.1"))).collect::<String>()
    };
    let input = connect(&["A.org:443", "a.org:443", "a.org:80"]);
    let deduped = text("dedup --log combined --profile rfc3986", &input);
    assert_eq!(deduped, connect(&["A.org:443", "a.org:80"]));
}

#[test]
fn parts_are_decoded_and_converted() {
    writes(
        "decode --path",
        &[
            ("GET //a%41/%2f%42?%43 HTTP/1.1", "//aA/%2fB?%43"),
            ("GET //%41@b:c%44?%43 HTTP/1.1", "//A@b:cD?%43"),
            ("POST //[::1%41?%43 HTTP/1.0", "//[::1A?%43"),
            ("GET ///x%41?%43#%44 HTTP/1.1", "///xA?%43#%44"),
            ("CONNECT %41.org:443 HTTP/1.1", "%41.org:443"),
        ],
    );
    writes(
        "decode --query",
        &[("GET //a%41?%43 HTTP/1.1", "//a%41?C"), ("CONNECT %41.org:443 HTTP/1.1", "%41.org:443")],
    );
    writes(
        "decode --url",
        &[("GET //a%41%2f?%43 HTTP/1.1", "//aA%2f?C"), ("CONNECT a%41.org:443 HTTP/1.1", "aA.org:443")],
    );
    writes("decode --url --charset windows-1252", &[("GET //caf%E9 HTTP/1.1", "//café")]);
    writes(
        "encode --url",
        &[("GET //caf\u{e9}/%41 HTTP/1.1", "//caf%C3%A9/%2541"), ("OPTIONS * HTTP/1.1", "*")],
    );
    writes("encode --url --charset windows-1252", &[("GET //caf\u{e9} HTTP/1.1", "//caf%E9")]);
    writes(
        "uri",
        &[
            ("GET //caf\u{e9}.fr/\u{e9} HTTP/1.1", "//caf%C3%A9.fr/%C3%A9"),
            ("GET //[x HTTP/1.1", "//[x"),
            ("CONNECT caf\u{e9}.fr:443 HTTP/1.1", "xn--caf-dma.fr:443"),
        ],
    );
    writes(
        "iri",
        &[
            ("GET //xn--caf-dma.fr/%C3%A9 HTTP/1.1", "//xn--caf-dma.fr/é"),
            ("CONNECT xn--caf-dma.fr:443 HTTP/1.1", "café.fr:443"),
        ],
    );
}

#[test]
fn targets_are_resolved_against_the_host_of_the_base() {
    for (resolve, connected) in [("resolve", "https://a.org:443"), ("resolve --standard", "https://a.org/")] {
        writes(
            &*format!("{resolve} --base https://h.org/c/d?e"),
            &[
                ("GET //evil.com/x?y HTTP/1.1", "https://h.org//evil.com/x?y"),
                ("GET ///x HTTP/1.1", "https://h.org///x"),
                ("GET /a/../b HTTP/1.1", "https://h.org/b"),
                ("GET http://a.org/b HTTP/1.1", "http://a.org/b"),
                ("OPTIONS * HTTP/1.1", "*"),
                ("CONNECT a.org:443 HTTP/1.1", connected),
            ],
        );
    }
    // If the base has no host, a path that begins with `//` does not become a host.
    writes("resolve --base x:/c", &[("GET //evil.com/x HTTP/1.1", "x:/.//evil.com/x")]);
    // Browsers read a backslash as a slash, and ignore a tab.
    let resolve = ["resolve", "--standard", "--base", "http://h.org/", "--log", "nginx", "--values"];
    for target in ["/\\x5Cevil.com", "/\\x09/evil.com", "/\\x0D\\x5Cevil.com"] {
        let out = text(&resolve, lines(&[target]));
        assert_eq!(out.lines().next(), Some("http://h.org//evil.com"), "{target}");
    }
}

#[test]
fn findings_are_in_the_parts_of_the_target() {
    let start = line("").find("\"\"").expect("a request") + 1;
    // Returns the first byte and the kind of each finding.
    let found = |args: &[&str], request: &str| {
        let args = [&["check", "--log", "common"], args].concat();
        let findings = printed(&args, line(request).replace(" \"-\" \"x\"", ""));
        let found = |finding: &str| {
            let cells: Vec<_> = finding.split(':').collect();
            let offset: usize = cells[2].parse().expect("an offset");
            format!("{}{}", &request[offset - start..][..1], cells[3])
        };
        findings.lines().map(found).collect::<Vec<_>>()
    };
    assert!(found(&["--component", "host"], "GET //a%00b/x HTTP/1.1").is_empty());
    assert_eq!(found(&["--component", "path"], "GET //a%00b/x HTTP/1.1"), ["% nul"]);
    assert_eq!(found(&["--component", "host"], "CONNECT a%00b:443 HTTP/1.1"), ["% nul"]);
    assert!(found(&["--component", "path,scheme"], "CONNECT a%00b:443 HTTP/1.1").is_empty());
    assert_eq!(found(&["--kinds", "port"], "CONNECT a.org:99999 HTTP/1.1"), ["9 port"]);
    assert!(found(&["--kinds", "port,host"], "GET //a.org:99999/ HTTP/1.1").is_empty());
    assert!(found(&["--kinds", "port,host,illegal"], "CONNECT [::1]:443 HTTP/1.1").is_empty());
    assert_eq!(found(&["--kinds", "host"], "CONNECT [::g]:443 HTTP/1.1"), ["[ host"]);
    assert_eq!(found(&["--kinds", "illegal"], "GET //[x HTTP/1.1"), ["[ illegal"]);
    // Servers read `//x` differently: most merge the slashes. They do not route CONNECT, so its target has no finding.
    assert_eq!(found(&["--kinds", "ambiguous"], "GET //x HTTP/1.1"), ["/ ambiguous"]);
    assert!(found(&["--kinds", "ambiguous"], "CONNECT a.org:443 HTTP/1.1").is_empty());
}

#[test]
fn chains_of_servers_get_the_target() {
    let input: String = ["GET //admin HTTP/1.1", "GET /a HTTP/1.1"].map(line).concat();
    let audit = ["audit", "-q", "--format", "json", "--chain", "varnish-7.1,nginx-1.22", "--log", "combined"];
    let report: Value = serde_json::from_slice(&ok(&audit, &input)).expect("the report is JSON");
    let counts = ["targets", "same", "different", "unreadable"].map(|name| report[name].as_u64());
    assert_eq!(counts, [2, 1, 1, 0].map(Some), "{report}");
    // A target that is a line of its own is read in the same way.
    let audit = ["audit", "-q", "--format", "json", "--chain", "varnish-7.1,nginx-1.22"];
    let report: Value = serde_json::from_slice(&ok(&audit, "//admin\n")).expect("the report is JSON");
    assert_eq!((&report["different"], &report["examples"][0]["target"]), (&1.into(), &"//admin".into()));
}
