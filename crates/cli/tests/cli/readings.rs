//! Tests `pct route` and `pct audit --chain`.

use serde_json::Value;

use crate::support::{ok, printed, run};

fn audited(args: &[&str], input: &[u8]) -> Value {
    let mut all = vec!["audit", "--format", "json", "--chain"];
    all.extend(args);
    serde_json::from_slice(&ok(&all, input)).expect("the report is JSON")
}

#[test]
fn the_exit_code_says_whether_readings_agree() {
    for (args, code) in [
        (&["--reading", "nginx-1.22,express-5", "/a%20b"][..], 0),
        (&["--reading", "nginx-1.22,express-5", "/a%2Fb"], 1),
        (&["--reading", "tomcat-10.1,express-5", "/a%2Fb"], 0),
        (&["--reading", "nginx-1.22-variable,express-5", "--chain", "/a%2Fb"], 0),
        (&["--reading", "caddy-2.6,express-5", "/A."], 0),
        (&["/docs/index.html?q=/../"], 0),
        (&["--reading", "strict", "/\u{1b}[2J"], 0),
        (&["--list"], 0),
        (&["--reading", "nginx", "/"], 2),
        (&["--chain", "/"], 2),
        (&["--chain", "--reading", "express-5", "/"], 2),
        (&[], 2),
    ] {
        let all: Vec<&str> = ["route"].into_iter().chain(args.iter().copied()).collect();
        let run = run(&all, "");
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.err);
        assert!(!run.out.contains(&0x1b), "{args:?}");
    }
    let json = run("route --format jsonl --chain --reading caddy-2.6,tomcat-10.1 /x/..;/admin", "");
    let json: Value = serde_json::from_slice(&json.out).unwrap();
    assert_eq!(json["agree"], false);
    assert_eq!(json["readings"][1]["route"], "/admin");
    assert_eq!(json["readings"][0]["passed_on"], "/x/..;/admin");
}

/// Each row has a chain and a rule, the number of targets with different routes, and the number that evade the rule.
#[test]
fn chains_are_audited() {
    let targets = "/a\n/x/..;/admin\n/x/..;/administrator\r\n/admin\n/x/..;/ADMIN/a\n/%2561dmin\n/%zz\n\n";
    for (args, different, crossing) in [
        (&["caddy-2.6,tomcat-10.1"][..], 3, 0),
        (&["caddy-2.6,tomcat-10.1", "--guard", "/admin"], 3, 1),
        (&["caddy-2.6,tomcat-10.1", "--guard", "/admin", "--ignore-case"], 3, 2),
        (&["caddy-2.6,tomcat-10.1", "--guard", "/admin", "--match", "prefix"], 3, 2),
        (&["caddy-2.6,tomcat-10.1", "--guard", "/admin", "--match", "exact", "--ignore-case"], 3, 1),
        (&["nginx-1.22,varnish-7.1,tomcat-10.1", "--guard", "/admin"], 3, 1),
        (&["strict,varnish-7.1,tomcat-10.1", "--guard", "/admin"], 0, 0),
        // nginx decodes a double escape once, and Tomcat a second time, so that one more target gets past the rule.
        (&["nginx-1.22-variable,tomcat-10.1", "--guard", "/admin"], 3, 2),
    ] {
        let report = audited(args, targets.as_bytes());
        let counts = ["lines", "targets", "different", "crossing"].map(|name| report[name].as_u64().unwrap());
        assert_eq!(counts, [8, 7, different, crossing], "{args:?}: {report}");
        let sum = ["same", "spelling", "different", "not_routed", "not_routed_after"];
        assert_eq!(
            sum.iter().map(|name| report[name].as_u64().unwrap()).sum::<u64>(),
            7,
            "{args:?}: {report}"
        );
    }
}

#[test]
fn targets_are_found_in_logs() {
    let line = |target: &str| {
        format!("1.1.1.1 - - [22/Nov/2026:10:00:00 +0000] \"{target}\" 200 1 \"-\" \"GET /b;c\"\n")
    };
    for (request, target) in [
        ("GET /x/..;/a HTTP/1.1", Some("/x/..;/a")),
        (r"GET /x/..;\x2Fa\x22 HTTP/1.1", Some("/x/..;/a\"")),
        (r#"GET /x/..;/\"a\\ HTTP/1.1"#, Some("/x/..;/\"a\\")),
        ("GET /x/..;/a", Some("/x/..;/a")),
        ("-", None),
        (r"\x16\x03\x01", None),
    ] {
        // nginx and Apache escape in different ways.
        let log = if request.contains("\\\"") { "apache" } else { "nginx" };
        let report = audited(&["envoy-1.39,envoy-1.39-normalize", "--log", log], line(request).as_bytes());
        let found = report["examples"].get(0).and_then(|example| example["target"].as_str());
        assert_eq!(found, target, "{request}: {report}");
        assert_eq!(report["unreadable"], u64::from(target.is_none()), "{request}");
    }
    for log in ["iis", "w3c", "cdx"] {
        assert_eq!(run(&["audit", "--chain", "nginx-1.22,axum", "--log", log], "").code, Some(2), "{log}");
    }
    assert!(audited(&["nginx-1.22,axum"], "/caf\u{e9}\n".as_bytes())["hint"].is_string());
    assert!(audited(&["nginx-1.22,axum"], "/caf\u{e9}\n/a%20\n".as_bytes())["hint"].is_null());
}

/// Lines longer than the buffer are counted, and the line after a long one is read.
#[test]
fn long_lines_are_counted() {
    let mut input = b"/".repeat(700_000);
    input.extend(b"\n/x/..;/a\n");
    input.extend(b"/".repeat(300_000));
    let report = audited(&["caddy-2.6,tomcat-10.1"], &input);
    assert_eq!([&report["lines"], &report["unreadable"], &report["different"]], [3, 2, 1], "{report}");
    assert_eq!(report["examples"][0]["line"], 2);
}

#[test]
fn check_finds_ambiguous_paths_if_named() {
    for (url, wanted) in [
        ("http://h/public/..;/a", "<stdin>:1:8: ambiguous: servers route this path differently\n"),
        ("/a//b", "<stdin>:1:0: ambiguous: servers route this path differently\n"),
        ("/a?b=/../c//%2f#//", ""),
        ("/caf%C3%A9/a%20b", ""),
        ("mailto:a//b", ""),
    ] {
        let found = run("check --kinds ambiguous", url);
        assert_eq!(found.text(), wanted, "{url}");
    }
    assert!(!printed("check --component path", "/a//b").contains("ambiguous"));
}

// Windows has no command line of more than 32,767 characters.
#[cfg(unix)]
#[test]
fn a_long_route_is_written_whole() {
    let target = format!("/{}", "a".repeat(70_000));
    for chain in [&[][..], &["--chain"]] {
        let run = run(&[&["route", "--reading", "express-5,tomcat-10.1", &target], chain].concat(), "");
        let out = String::from_utf8(run.out).unwrap();
        assert_eq!((run.code, out.lines().count()), (Some(0), 5), "{}", run.err);
        assert!(out.lines().skip(2).take(2).all(|row| row.contains(&target)));
        assert_eq!(out.lines().nth(1).unwrap().len(), 2 + 11 + 2 + 400 + 2 + 9);
    }
}
