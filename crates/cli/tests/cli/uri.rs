//! Tests the commands for whole URLs: canonical forms, splitting, joining, references, IRIs, forms, and the rules of RFC 3986.

use std::fs;

use simdpct_uri::canon::Profile;

use crate::support::{Args, Numbers, Run, assert_same, done, done_text, ok, refused, run, text, words_of};

/// Runs `pct` with `args` on `input`, checks that a message reports a lost value, and returns the output as text.
#[track_caller]
fn without(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> String {
    let Run { out, err, code } = run(args, input);
    let is_told = ["left out;", " written instead"].iter().any(|told| err.contains(told));
    assert!(code == Some(0) && is_told, "{:?}: {code:?} {err}", args.list());
    String::from_utf8(out).expect("text")
}

/// Returns at least `len` bytes of random lines. Schemes, delimiters, dot segments and other URL syntax are frequent in them.
pub fn urls(seed: u64, len: usize) -> Vec<u8> {
    let words = words_of(
        b"http://example.org/a/b?c=d#e\n,https://example.org/a/b/c/d/e/f/g/h\r\n,HTTP://,https://,//,\
        Example.ORG,a.example,user:pw@,@,:80,:99999,[::1],[,/,/./,/../,/%2e%2E/,path,%7Euser,%2f,%zz,%2541,\
        ?,q=1&b=2,#,\t,\xC3\xA9,\xFF,\n,\r\n,\n",
    );
    Numbers(seed).words(&words, len)
}

/// Splits `text` into lines, each as the pair of its content and its line end.
pub fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let end = line.len() - usize::from(line.ends_with(b"\n")) - usize::from(line.ends_with(b"\r\n"));
        line.split_at(end)
    })
}

#[test]
fn profiles_are_those_of_the_library_line_by_line() {
    let input = urls(1, 200_000);
    for profile in Profile::ALL {
        let mut wanted = Vec::new();
        for (url, end) in lines(&input) {
            let form = profile.canonicalize(url);
            wanted.extend_from_slice(form.as_deref().unwrap_or(url));
            wanted.extend_from_slice(end);
        }
        let args = ["normalize", "-q", "--profile", profile.name()];
        assert_same(profile.name(), &ok(&args, &input), &wanted);
        let threads = [&args[..], &["-j4"]].concat();
        assert_same(profile.name(), &ok(&threads, &input), &wanted);
        // With these options, `pct` converts each line separately, and writes only the lines that changed.
        let each = [&args[..], &["--on-malformed", "keep", "--only-changed"]].concat();
        let changed = done(&each, &input);
        assert!(changed.len() < wanted.len(), "{profile}");
    }
}

#[test]
fn the_list_of_profiles_says_what_each_is() {
    let list = text("normalize --list", "");
    assert_eq!(list.lines().count(), Profile::ALL.len());
    for (line, profile) in list.lines().zip(Profile::ALL) {
        let (name, about) = line.split_once("  ").expect("a name, and what it is");
        assert_eq!(name, profile.name());
        // Each profile has a version or a date.
        assert_eq!(about.trim(), format!("{} ({})", profile.about(), profile.edition()));
        assert!(profile.edition().contains(|c: char| c.is_ascii_digit()), "{name}");
    }
    assert!(list.contains("(URL Standard of 2 July 2026, Unicode 18)"), "{list}");
    let Run { out, err, code } = run("normalize --profile rfc9999", "");
    assert_eq!((out, code), (Vec::new(), Some(2)));
    assert!(err.starts_with("pct: unknown profile 'rfc9999'; expected one of escapes, rfc3986, "), "{err}");
}

#[test]
fn what_a_profile_refuses_is_treated_as_asked() {
    let input = "HTTP://a/\nhttp://a:99999/%7e\nHTTP://b/\r\n";
    let args = ["normalize", "--profile", "rfc3986"];
    for (policy, outcome, wanted) in [
        ("keep", "and stays unchanged", "http://a/\nhttp://a:99999/%7e\nhttp://b/\r\n"),
        ("null", "and nothing is written instead, or null in JSON", "http://a/\n\nhttp://b/\r\n"),
        ("drop", "and is left out", "http://a/\nhttp://b/\r\n"),
    ] {
        let args = [&args[..], &["--on-rejected", policy]].concat();
        for more in [&[][..], &["--stats=json"], &["--rejects", "/dev/null"], &["--only-changed"]] {
            let Run { out, err, code } = run(&[&args[..], more].concat(), input);
            let wanted = if more == ["--only-changed"] {
                wanted.replace("http://a:99999/%7e\n", "")
            } else {
                wanted.into()
            };
            assert_eq!((String::from_utf8(out).unwrap(), code), (wanted, Some(0)), "{policy} {more:?}");
            let list = if more.len() == 2 { "/dev/null" } else { "--rejects FILE" };
            let outcome = match (policy, more) {
                ("keep", ["--only-changed"]) => "and counts as unchanged",
                _ => outcome,
            };
            let said = format!("pct: 1 value was rejected, {outcome}; {list} lists the reasons\n");
            match more {
                ["--stats=json"] => assert!(err.contains("\"rejected\":1,\"unreadable\":0,"), "{err}"),
                _ => assert_eq!(err, said, "{policy} {more:?}"),
            }
        }
        // With -q, a rejected value is reported unless it is kept.
        let quiet = run(&[&args[..], &["-q"]].concat(), input).err;
        let said = format!("pct: 1 value was rejected, {outcome}; --rejects FILE lists the reasons\n");
        assert_eq!(quiet, if policy == "keep" { String::new() } else { said });
        let many = run(&args, input.repeat(40_000));
        assert!(many.err.starts_with("pct: 40000 values were rejected, and "), "{policy}: {}", many.err);
    }
    for fail in [&["--strict"][..], &["--on-rejected", "fail"]] {
        let Run { out, err, code } = run(&[&args[..], fail].concat(), input);
        assert_eq!((out, code), (b"http://a/\n".to_vec(), Some(1)));
        assert_eq!(err, "pct: <stdin>:2: offset 19: the port is not a number of at most 65535\n");
    }
    // `--on-malformed` applies to a malformed escape even if the profile would leave the escape as it is.
    let replaced = [&args[..], &["--on-malformed", "replace"]].concat();
    assert_eq!(text(&replaced, "HTTP://a/%zz%7e"), "http://a/%25zz~");
    assert_eq!(text(&args, "HTTP://a/%zz%7e"), "http://a/%zz~");
    let dropped = [&args[..], &["-q", "--on-malformed", "drop"]].concat();
    assert_eq!(
        without(&dropped, "HTTP://a/%zz%7e\nHTTP://a:99999/\nHTTP://a/"),
        "HTTP://a:99999/\nhttp://a/"
    );
    let dropped = [&args[..], &["-q", "--on-rejected", "drop"]].concat();
    assert_eq!(without(&dropped, "HTTP://a/%zz%7e\nHTTP://a:99999/\nHTTP://a/"), "http://a/%zz~\nhttp://a/");
    // In records, the policy `null` writes the format's own spelling of a missing value.
    for (more, input, wanted) in [
        (
            &["--jsonl", "--key", "u"][..],
            "{\"u\":\"http://a:x/\",\"v\":1}\nnope\n",
            "{\"u\":null,\"v\":1}\nnull\n",
        ),
        (
            &["--jsonl", "--key", "u", "--into", "w"],
            "{\"u\":\"a:x://\"}\r\n{\"u\":\"//a:x\"}",
            "{\"u\":\"a:x://\",\"w\":\"a:x://\"}\r\n{\"u\":\"//a:x\",\"w\":null}",
        ),
        (&["--jsonl", "--key", "u", "--values"], "{\"u\":\"//a:x/\"}\nnope\n{\"u\":\"b\"}\n", "\n\nb\n"),
        (&["--csv", "--column", "u"], "u,v\n//a:x/,1\n", "u,v\n,1\n"),
        (&["--field", "2"], "a //a:x/ b\n", "a - b\n"),
        (&["--logfmt", "--key", "u,v"], "u=//a:x/ v=\"\\x\" w=1\n", "u= v= w=1\n"),
    ] {
        let args = [&args[..], &["-q", "--on-rejected", "null"], more].concat();
        assert_eq!(without(&args, input), wanted, "{more:?}");
    }
}

#[test]
fn rejects_and_stats_tell_of_refused_urls() {
    let dir = tempfile::tempdir().unwrap();
    let rejects = dir.path().join("rejects");
    let file = rejects.to_str().unwrap();
    let args =
        ["normalize", "--profile", "rfc3986", "--csv", "--column", "url", "--rejects", file, "--stats=json"];
    let Run { out, err, code } = run(&args, "id,url\n1,HTTP://a@b@c/\n2,HTTP://d/\n");
    assert_eq!((out, code), (b"id,url\n1,HTTP://a@b@c/\n2,http://d/\n".to_vec(), Some(0)));
    assert!(err.contains("\"changed\":1,") && err.contains("\"rejected\":1,\"unreadable\":0,"), "{err}");
    assert_eq!(
        fs::read_to_string(&rejects).unwrap(),
        "<stdin>:2:17: more than one '@' in the authority: 1,HTTP://a@b@c/\n"
    );
    // The file of rejects lists no URL that was converted, whatever the URL contains, unless a policy rejects it.
    let input = b"HTTP://a/100%\n//a@b@c/%\nHTTP://a/\xFF\n";
    for (verb, more, wanted) in [
        (&["normalize", "--profile", "rfc3986"][..], &[][..], &["2:17"][..]),
        (&["normalize", "--profile", "rfc3986"], &["--on-malformed", "replace"], &["2:17"]),
        (&["normalize", "--profile", "rfc3986"], &["--on-malformed", "drop"], &["1:12", "2:22"]),
        (&["normalize", "--profile", "rfc3986"], &["--on-invalid-utf8", "empty"], &["2:17", "3:33"]),
        (&["split"], &[], &[]),
        (&["resolve", "--base", "http://b/"], &[], &[]),
        (&["split", "--decode"], &[], &["1:12", "2:22", "3:33"]),
        (&["decode", "--url"], &[], &["1:12", "2:22", "3:33"]),
    ] {
        assert_eq!(run(&[verb, &["-q", "--rejects", file], more].concat(), input).code, Some(0));
        let list = fs::read(file).unwrap();
        let places: Vec<_> = String::from_utf8(list)
            .unwrap()
            .lines()
            .map(|line| line.split(": ").next().unwrap()["<stdin>:".len()..].to_owned())
            .collect();
        assert_eq!(places, wanted, "{verb:?} {more:?}");
    }
}

#[test]
fn profiles_work_on_values_anywhere() {
    let profile = ["normalize", "-q", "--profile", "rfc3986"];
    let with = |more: &[&'static str], input: &str| text(&[&profile[..], more].concat(), input);
    let log =
        "1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"GET /a/../%7eb HTTP/1.1\" 200 1 \"HTTP://A/./\" \"-\"\n";
    assert_eq!(
        with(&["--log", "combined"], log),
        "1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"GET /~b HTTP/1.1\" 200 1 \"http://a/\" \"-\"\n"
    );
    assert_eq!(with(&["--field", "2"], "x HTTP://A/%7e y\n"), "x http://a/~ y\n");
    // A `-` in a log means that there is no referrer, so it is not resolved. In a plain line, `-` is a reference.
    let referrers = ["resolve", "--base", "http://a/", "--quoted", "--field", "8"];
    let log = "1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1 \"-\"\n";
    assert_eq!(text(&referrers, log), log);
    assert_eq!(text("resolve --base http://a/", "-\n"), "http://a/-\n");
    assert_eq!(
        with(&["--jsonl", "--key", "u", "--into", "key"], "{\"u\":\"HTTP://A/\"}\n"),
        "{\"u\":\"HTTP://A/\",\"key\":\"http://a/\"}\n"
    );
    assert_eq!(with(&["-0"], "HTTP://A/\0HTTP://B/\n\0"), "http://a/\0HTTP://B/\n\0");
    // With `-0`, the line feed is part of the URL. Browsers remove it, and then read `javascript` as the scheme.
    for more in [&[][..], &["--profile", "escapes"]] {
        let with = |ends: &[&'static str], input: &str| text(&[&["normalize"], more, ends].concat(), input);
        assert_eq!(with(&["-0"], "java%73cript\n:%41\0"), "java%73cript\n:A\0");
        assert_eq!(with(&[], "java%73cript\n:%41\n"), "javascript\n:A\n");
    }
    assert_eq!(with(&["--csv", "--column", "2", "--values"], "a,b\n1,HTTP://A/\n"), "http://a/\n");
    // An escaped comma stays escaped, because a decoded one would split the field.
    let w3lib = ["normalize", "--profile", "w3lib-2.5", "--field", "1", "--delimiter", ","];
    assert_eq!(text(&w3lib, "http://a/%2Cb,x\n"), "http://a/%2Cb,x\n");
    // A URL is converted only as a whole, so a line that is longer than `--max-record` stays as it is. The message has the number
    // of the line if lines are counted.
    let long = format!("HTTP://{}/\nHTTP://B/\n", "A".repeat(3 << 20));
    let Run { out, err, code } = run(&profile, &long);
    assert_same("a long line", &out, long.replace("HTTP://B", "http://b").as_bytes());
    assert_eq!(code, Some(0));
    assert!(
        err.contains("offset 0: the record is longer than 2 MiB (--max-record), and stays as it is"),
        "{err}"
    );
    let listed = run(&[&profile[..], &["--rejects", "/dev/null"]].concat(), format!("a\n{long}"));
    assert!(listed.err.starts_with("pct: <stdin>:2: offset 2: the record is longer"), "{}", listed.err);
    for (policy, outcome, wanted) in
        [("drop", "is left out", ""), ("null", "is now empty, or null in JSON", "\n")]
    {
        for (verb, rest) in [
            (&["split", "--parts", "host"][..], "B\n"),
            (&["split", "--parts", "host", "--format", "jsonl"], "{\"host\":\"B\"}\n"),
            (&["form", "--format", "jsonl"], "[[\"HTTP://B/\",\"\"]]\n"),
            (&profile, "http://b/\n"),
        ] {
            let wanted =
                if verb.contains(&"jsonl") { wanted.replace('\n', "null\n") } else { wanted.to_owned() };
            let Run { out, err, code } = run(&[verb, &["--on-rejected", policy]].concat(), &long);
            assert_eq!(
                (String::from_utf8(out).unwrap(), code),
                (format!("{wanted}{rest}"), Some(0)),
                "{verb:?}"
            );
            assert!(err.ends_with(&format!("(--max-record), and {outcome}\n")), "{err}");
        }
    }
    assert_eq!(run(&[&profile[..], &["--raw"]].concat(), "").code, Some(2));
}

#[test]
fn dialects_differ_in_what_is_unreserved() {
    let all: String = (0x20..0x7F).map(|byte| format!("%{byte:02x}")).collect();
    for (dialect, set) in [
        ("rfc3986", simdpct::sets::RFC3986_UNRESERVED),
        ("rfc2396", simdpct::sets::RFC2396_UNRESERVED),
        ("rfc1738", simdpct::sets::RFC1738_UNRESERVED),
    ] {
        let wanted: String = (0x20..0x7F_u8)
            .map(
                |byte| if set.contains(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") },
            )
            .collect();
        assert_eq!(text(&["normalize", "--dialect", dialect], &all), wanted, "{dialect}");
        // Only escapes of unreserved bytes are needless, and only unreserved bytes and delimiters need no escape in a URL.
        let findings = |args: &[&str], input: &str| {
            let found = run(&[&["check", "--dialect", dialect], args].concat(), input).out;
            String::from_utf8(found).unwrap()
        };
        let needless = findings(&["--kinds", "needless"], &all);
        let bytes: Vec<u8> = needless.lines().map(|line| *line.as_bytes().last().unwrap()).collect();
        assert_eq!(bytes, (0x20..0x7F).filter(|&byte| set.contains(byte)).collect::<Vec<u8>>(), "{dialect}");
        let illegal: String = (0x20..0x7F_u8)
            .map(char::from)
            .filter(|&byte| !findings(&["--kinds", "illegal"], &format!("a://b/{byte}41")).is_empty())
            .collect();
        let unsafe_bytes = simdpct::sets::RFC1738_UNSAFE;
        let wanted: String = (0x20..0x7F_u8)
            .filter(|&byte| unsafe_bytes.contains(byte) && !b"%#".contains(&byte))
            .filter(|&byte| byte != b'~' || dialect == "rfc1738")
            .map(char::from)
            .collect();
        assert_eq!(illegal, wanted, "{dialect}");
    }
    for args in [&[][..], &["--component", "path", "--ignore", "illegal,needless"]] {
        refused(
            &[&["check", "--dialect", "rfc1738"], args].concat(),
            "http://h/~%21",
            "--kinds illegal,needless",
        );
    }
    let both = run("check --dialect rfc1738 --kinds illegal --component host,path", "http://[::1]/~a?~\n");
    let wanted = "<stdin>:1:7: illegal: '[' in the host\n<stdin>:1:11: illegal: ']' in the host\n\
        <stdin>:1:13: illegal: '~' in the path\n";
    assert_eq!(both.text(), wanted);
}

#[test]
fn split_writes_the_parts_as_they_are() {
    let url = "https://bob:p%40w@example.org:8080/a%2Fb/c?q=a%26b&q=2&e#top\n";
    assert_eq!(text("split", url), "https\tbob:p%40w\texample.org\t8080\t/a%2Fb/c\tq=a%26b&q=2&e\ttop\n");
    let fields = ["--parts", "user,password,authority,query:q,query:e,query:x,url"];
    assert_eq!(
        text(&[&["split", "--format", "csv"][..], &fields].concat(), url),
        "bob,p%40w,bob:p%40w@example.org:8080,a%26b,\"\",,https://bob:p%40w@example.org:8080/a%2Fb/c?q=a%26b&q=2&e#top\n"
    );
    // A missing part gives an empty cell, and an empty part gives a quoted empty cell.
    assert_eq!(
        text("split --format csv", "//@:/?#\na\n\n"),
        ",\"\",\"\",\"\",/,\"\",\"\"\n,,,,a,,\n,,,,,,\n"
    );
    assert_eq!(
        text("split --format jsonl", "//h?\n\n"),
        "{\"host\":\"h\",\"path\":\"\",\"query\":\"\"}\n{\"path\":\"\"}\n"
    );
    // Tabs, line ends, commas and quotes in a part never add a cell or a row.
    assert_eq!(text("split --parts path,query", "a\tb\r?\"\"\n"), "a%09b%0D\t%22%22\n");
    assert_eq!(text("split --parts path,query --format csv", "a,\"b?c\n"), "\"a,\"\"b\",c\n");
    let raw = ok("split --parts path --format jsonl", b"a\xFF\"\t\n");
    assert_eq!(raw, b"{\"path\":\"a%FF\\\"\\t\"}\n");
    refused(&["split", "--query-param", ""], "", "unknown part 'query:'");
    refused("split --parts hots", "", "unknown part 'hots'; expected one of url, scheme, ");
    refused("join --from jsonl --parts host", "{}", "--parts names the cells of TSV and CSV; ");
}

#[test]
fn split_works_on_values_anywhere() {
    let log = "1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"GET /a?q=1 HTTP/1.1\" 200 1 \"http://r/x\" \"-\"\n";
    assert_eq!(text("split --parts path --log combined --values", log), "/a\n/x\n");
    assert_eq!(
        text("split --csv --column url --parts host --into host", "url\nhttp://a/b\n"),
        "url,host\nhttp://a/b,a\n"
    );
    assert_eq!(
        text("split --jsonl --key u --parts host,path", "{\"u\":\"http://a/b\"}\n"),
        "{\"u\":\"a\\t/b\"}\n"
    );
    let input = urls(2, 100_000);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("urls.gz");
    ok(&["normalize", "--profile", "escapes", "-o", file.to_str().unwrap()], &input);
    let from_file = ok(&["split", "-j3", file.to_str().unwrap()], "");
    let normal = ok("normalize", &input);
    assert_same("compressed, on threads", &from_file, &ok("split -j1", &normal));
}

/// Returns `input` without tabs, which cells of TSV cannot contain.
fn printable(input: &[u8]) -> Vec<u8> {
    input.iter().copied().filter(|byte| !matches!(byte, b'\t')).collect()
}

#[test]
fn join_is_the_inverse_of_split() {
    // JSON cannot contain invalid UTF-8, so the bytes FF are removed.
    let input: Vec<u8> = printable(&urls(3, 100_000)).into_iter().filter(|byte| *byte != 0xFF).collect();
    for style in ["tsv", "csv", "jsonl"] {
        for fields in [&[][..], &["--parts", "scheme,authority,path,query,fragment"]] {
            let rows = ok(&[&["split", "--format", style][..], fields].concat(), &input);
            let fields = if style == "jsonl" { &[] } else { fields };
            let Run { out, .. } = run(&[&["join", "-q", "--from", style][..], fields].concat(), &rows);
            // A row stays as it is if browsers would read another host from its URL, or no host.
            let (mut urls, mut rejected) = (0, 0);
            for ((url, row), joined) in lines(&input).zip(lines(&rows)).zip(lines(&out)) {
                urls += 1;
                if joined != url {
                    assert_same(style, joined.0, row.0);
                    rejected += 1;
                }
            }
            assert_eq!(urls, lines(&rows).count());
            assert!(rejected > 0 && rejected < urls / 3, "{rejected} of {urls}");
        }
    }
    // Splitting with `--decode` and then joining with `--encode` gives the same URL, except for the spelling of escapes.
    let clean = b"http://u%3A:p%40@a.b/x%2Fy%25z/%C3%A9?a=%26&b=%2B+%25#f%20g\n/?q\n";
    let rows = ok("split --decode", clean);
    assert_eq!(
        String::from_utf8_lossy(&rows),
        "http\tu%3A:p@\ta.b\t\t/x%2Fy%25z/é\ta=%26&b=%2B+%25\tf g\n\t\t\t\t/\tq\t\n"
    );
    assert_same(
        "decoded",
        &ok("join --encode", &rows),
        b"http://u%3A:p%40@a.b/x%2Fy%25z/%C3%A9?a=%26&b=%2B+%25#f%20g\n/?q\n",
    );
}

#[test]
fn join_refuses_what_would_not_be_read_back() {
    let join = |args: &[&str]| run(&[&["join"][..], args].concat(), "");
    let good =
        join(&["scheme=https", "host=a.com", "port=80", "path=/x", "query:q=1", "query:p=2", "fragment="]);
    assert_eq!((good.out, good.code), (b"https://a.com:80/x?q=1&p=2#\n".to_vec(), Some(0)));
    for (args, reason) in [
        (&["host=a/b"][..], "host, userinfo and port cannot be read back from the authority: host 'a/b'"),
        (&["host=a", "port=x/"], "the port is not a number up to 65535: 'x/'"),
        (&["host=a", "port=x y"], "the port is not a number up to 65535: 'x y'"),
        (&["host=a", "user=a:b"], "a colon would end the user; write %3A, or add --encode: 'a:b'"),
        (&["host=a", "userinfo=a", "user=b"], "userinfo, user and password differ"),
        (&["host=a", "authority=b"], "authority and host differ"),
        (
            &["host=a", "query:q=a&b"],
            "the parameter 'q' cannot be read back from the query; write %26, or add --encode",
        ),
        (&["host=a", "query=q=1", "query:q=2"], "the query has another value of the parameter 'q': '2'"),
        (&["--encode", "host=["], "the host is not an address in brackets"),
        (&["--encode", "host=a", "port=x y"], "the port is not a number up to 65535: 'x y'"),
        (&["port=80"], "userinfo or a port needs a host"),
        (&["scheme=1a", "path=b"], "the scheme cannot be read back from the URL: '1a'"),
        (&["host=a", "path=.evil.com"], "the path cannot be read back from the URL: '.evil.com'"),
        (&["path=/a?b"], "the path cannot be read back from the URL: '/a?b'"),
        (&["query=a#b"], "the query cannot be read back from the URL: 'a#b'"),
        (&["host=a", "port=99999"], "the port is not a number up to 65535: '99999'"),
        // Browsers read a backslash as a slash, and remove tabs and line ends.
        (&["host=a\\b"], "the host cannot hold '\\\\'; escape it: 'a\\\\b'"),
        (&["host=a\tb"], "the host cannot hold '\\t'"),
        (&["host=a", "user=b\\c"], "the user cannot hold '\\\\'; escape it, or add --encode"),
        (&["host=a", "user=b\nc"], "the user cannot hold '\\n'"),
        (&["host=a", "userinfo=b@c"], "the userinfo cannot hold '@'"),
        (&["authority=a\\b"], "the host cannot hold '\\\\'"),
        (&["authority=a b"], "the host cannot hold ' '"),
        (&["authority=a@b@c"], "the userinfo cannot hold '@'"),
        (&["authority=a:x"], "the port is not a number up to 65535: 'x'"),
        (&["host=::1"], "host, userinfo and port cannot be read back"),
        (
            &["--encode", "host=::1"],
            "the host cannot hold ':'; write an address in brackets, and a port as port=: '::1'",
        ),
        (&["--encode", "host=a]"], "the host cannot hold ']'"),
        (&["--encode", "host=a:80"], "write an address in brackets, and a port as port="),
        // Browsers would contact evil.com, or the host `h` of a `file` URL.
        (
            &["host=", "path=//evil.com"],
            "without a host, browsers would read one from the path: '//evil.com'",
        ),
        (&["host=", "path=/evil.com"], "without a host"),
        (&["scheme=file", "path=\\\\h\\x"], "without a host, browsers would read one from the path"),
        (&["scheme=file", "path=/\\h\\x"], "without a host, browsers would read one from the path"),
        (
            &["--encode", "host=", "path=//evil.com"],
            "the host is empty, so that browsers would read the path as a host",
        ),
        (&["scheme=http", "host=", "path=/evil.com"], "without a host"),
        (&["scheme=https", "path=\\\\evil.com"], "without a host"),
        (&["path=/\\evil.com"], "without a host"),
        // Browsers remove tabs everywhere, and controls and blanks at the start.
        (&["path=/\t/e"], "the path cannot hold '\\t'; escape it, or add --encode"),
        (&["path=java\tscript:x"], "the path cannot hold '\\t'"),
        (&["query=a\tb"], "the query cannot hold '\\t'"),
        (&["path= //e"], "browsers remove ' ' at the start of a URL; escape it, or add --encode: ' //e'"),
        (&["path=\u{1}//e"], "browsers remove '\\x01' at the start"),
        (&["path= javascript:x"], "browsers remove ' ' at the start"),
        // Joining would have to change these parts.
        (&["scheme=x", "path=//a"], "the path cannot be read back from the URL: '//a'"),
        (&["path=a:b"], "the path cannot be read back from the URL: 'a:b'"),
        (&["path=/a\r\nb"], "the path cannot hold '\\r'; escape it, or add --encode"),
        (&["fragment=a\nb"], "the fragment cannot hold '\\n'"),
        (&["query:q=a\nb"], "the query:q cannot hold '\\n'"),
    ] {
        let Run { out, err, code } = join(args);
        assert_eq!((out, code), (Vec::new(), Some(1)), "{args:?}");
        assert!(err.contains(reason), "{args:?}: {err}");
        // Parts in rows of JSON, CSV or TSV follow the same rules as parts in arguments.
        let (parts, options): (Vec<&str>, Vec<&str>) = args.iter().partition(|arg| arg.contains('='));
        let parts: Vec<(&str, &str)> = parts.iter().filter_map(|part| part.split_once('=')).collect();
        let object: serde_json::Map<_, _> =
            parts.iter().map(|(part, value)| ((*part).to_owned(), (*value).into())).collect();
        let mut rows = vec![(
            "jsonl",
            "scheme,userinfo,host,port,path,query,fragment".to_owned(),
            serde_json::to_string(&object).unwrap(),
        )];
        let fields: Vec<&str> = parts.iter().map(|(part, _)| *part).collect();
        let cells: Vec<&str> =
            parts.iter().map(|(_, value)| if value.is_empty() { "\"\"" } else { *value }).collect();
        if !args.concat().contains(['\t', '\n', '\r']) {
            rows.push(("tsv", fields.join(","), cells.join("\t")));
            rows.push(("csv", fields.join(","), cells.join(",")));
        }
        for (style, fields, row) in rows {
            for (policy, expected) in [(&["--on-rejected", "drop"][..], 0), (&["--strict"], 1)] {
                let options = [&options[..], &["-q", "--from", style, "--parts", &fields], policy].concat();
                let Run { out, code, .. } = run(&[&["join"][..], &options].concat(), row.clone() + "\n");
                assert_eq!((out, code), (Vec::new(), Some(expected)), "{options:?} {row}");
            }
        }
        // With `--encode`, delimiters in a part are escaped, so that the part can be read back.
        if let [host @ ("host=a/b" | "path=/a?b" | "query=a#b")] = args {
            let Run { out, code, .. } = join(&["--encode", host]);
            assert_eq!(code, Some(0));
            assert!([&b"//a%2Fb\n"[..], b"/a%3Fb\n", b"?a%23b\n"].contains(&&out[..]), "{out:?}");
        }
    }
    for args in
        ["url=a", "query:q[]=1", "segment:1=x", "nosuch=1", "domain=a", "--parts domain,path", "--parts url"]
    {
        refused(&*format!("join {args}"), "a", " cannot be joined; name scheme, authority, ");
    }
    for args in ["--rejects x", "--on-rejected keep"] {
        refused(&*format!("join host=a/b {args}"), "", "--on-rejected need rows");
    }
    // A row that cannot be joined stays as it is by default, and `--on-rejected` can drop it.
    assert_eq!(text("join -q --from csv", "http,,a/b\n,,c,,/d\n"), "http,,a/b\n//c/d\n");
    assert_eq!(without("join -q --from csv --on-rejected drop", "http,,a/b\n,,c,,/d\n"), "//c/d\n");
    for bad in ["{", "[]", "{\"hots\":1}", "{\"host\":[]}", "{\"host\":\"a\",\"host\":\"b\"}"] {
        let Run { code, .. } = run("join --from jsonl --strict", bad);
        assert_eq!(code, Some(1), "{bad}");
    }
    // With `--encode`, a path that could be read as an authority or a scheme gets a prefix, so that it stays a path.
    assert_eq!(text("join --encode path=a:b", ""), "./a:b\n");
    assert_eq!(text("join --encode path=1:x", ""), "./1:x\n");
    assert_eq!(text("join path=1:x", ""), "1:x\n");
    assert_eq!(text("join path=:x query=q", ""), ":x?q\n");
    // Numbers keep their digits.
    let number = "{\"path\":\"/\",\"query:id\":12345678901234567890123}\n";
    assert_eq!(text("join --from jsonl", number), "/?id=12345678901234567890123\n");
    for (args, url) in [
        (&["--encode", "host=[::1]"][..], "//[::1]\n"),
        (&["--encode", "host=例え.jp"], "//xn--r8jz45g.jp\n"),
        (&["--encode", "host=a", "user=b:c", "query:q=a&b"], "//b%3Ac@a?q=a%26b\n"),
        (&["host=a", "authority=a", "query=q=1", "query:q=1"], "//a?q=1\n"),
        (&["--encode", "host=a", "user=b\\c", "password=@"], "//b%5Cc:%40@a\n"),
        (&["host=a%5Cb"], "//a%5Cb\n"),
        (&["scheme=file", "host=", "path=/a"], "file:///a\n"),
        (&["--encode", "scheme=x", "path=//a"], "x:/.//a\n"),
        (&["--encode", "path=/a\r\nb"], "/a%0D%0Ab\n"),
        (&["--encode", "path= //\te"], "%20//%09e\n"),
        (&["path=a /\u{1}"], "a /\u{1}\n"),
    ] {
        assert_eq!(text(&[&["join"][..], args].concat(), ""), url);
    }
    assert_eq!(text("join scheme=https -", "http\t\ta\n"), "https://a\n");
    for args in
        [&["hots=a"][..], &["host=a", "host=b"], &["query:q=1", "query:q=2"], &["--parts", "host,host", "-"]]
    {
        assert_eq!(join(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn get_fills_a_template() {
    let url = "https://u@a.com:1/x%20y?q=%41+b&p=%26\n";
    assert_eq!(
        text(&["get", r"{scheme}\t{host}\{\\}{port}{fragment}|{query:q}"], url),
        "https\ta.com{\\}1|%41+b\n"
    );
    assert_eq!(
        text(&["get", "--decode", "{path} {query:q} {query:p} {query}"], url),
        "/x y A b & q=A%2Bb&p=%26\n".replace("%2B", "+")
    );
    assert_eq!(text("get {host} --field 2", "x http://a/b y\n"), "x a y\n");
    for (template, reason) in
        [("{host", "has no '}'"), ("{x}", "unknown part 'x'"), ("\\n", "a '\\' must be followed by")]
    {
        refused(&["get", template], "", reason);
    }
    // An escaped line end stays escaped, because a decoded one would start another line.
    assert_eq!(text("get --decode {path}", "/a%0Ab%0d\n"), "/a%0Ab%0d\n");
}

/// `[]` after a name means all values of the parameter. Blanks separate them, or commas if the template has blanks.
#[test]
fn a_list_has_all_values_of_a_parameter() {
    let url = "/?a=1&b=x+y&a[]=%32&A=5&c=p%20q&a%5B%5D=3+4&c=r,s&d\n";
    let cases: &[(&[&str], &str)] = &[
        (&["get", "{query:a[]}"], "1 %32 3+4\n"),
        (&["get", "{query:a[]};"], "1 %32 3+4;\n"),
        (&["get", "--decode", "{query:a[]}"], "1 2 3%204\n"),
        (&["get", "--decode", "{path} {query:a[]} {query:c[]}"], "/ 1,2,3 4 p q,r%2Cs\n"),
        (&["get", "--decode", "{query:b[]}"], "x y\n"),
        (&["get", "{query:d[]}|{query:e[]}|{query:a}"], "||1\n"),
        (&["get", "{query:[]}"], "\n"),
        (&["split", "--parts", "query:a[],query:e[],query:d[]"], "1 %32 3+4\t\t\"\"\n"),
        (&["split", "--parts", "query:a[]", "--format", "jsonl"], "{\"query:a[]\":\"1 %32 3+4\"}\n"),
        (&["split", "--query-param", "c[]", "--parts", "path", "--format", "csv"], "/,\"p%20q r,s\"\n"),
        (&["top", "{query:a[]}"], "1\t%32\n1\t1\n1\t3+4\n"),
        (&["top", "--decode", "{query:a[]}"], "1\t1\n1\t2\n1\t3 4\n"),
        (&["top", "--decode", "{query:b[]}"], "1\tx y\n"),
        (&["top", "{query:e[]}"], ""),
        (&["top", "{path} {query:a[]}"], "1\t/ 1,%32,3+4\n"),
    ];
    for (args, wanted) in cases {
        assert_eq!(text(args, url), *wanted, "{args:?}");
    }
    // `top` counts each value, also in records that end in NUL.
    assert_eq!(text("top -0 {query:t[]}", "?t=a&t=b\0?t=b\0?t=b&t=b\0"), "4\tb\n1\ta\n");
    // `join` would take the list for one value.
    refused("join --parts path,query:a[]", "/\t1 2\n", "'query:a[]' cannot be joined");
    let row = "{\"query:a[]\":\"1 2\"}\n";
    let joined = run("join --from jsonl", row);
    assert_eq!(joined.text(), row);
    assert!(joined.err.starts_with("pct: 1 value was rejected, and stays unchanged"), "{}", joined.err);
}

/// `--no-scheme` is for lists of hosts and of URLs without schemes.
#[test]
fn a_url_without_a_scheme_can_begin_with_a_host() {
    // Each row has a value, and its host, port and path with --no-scheme.
    let values = [
        ("example.com/a", "example.com||/a"),
        ("example.com", "example.com||"),
        ("localhost:80", "localhost|80|"),
        ("me@a.org:8080/b:c?d", "a.org|8080|/b:c"),
        ("[::1]:80/a", "[::1]|80|/a"),
        ("[::1]", "[::1]||"),
        ("a.org?q=/", "a.org||"),
        ("a.org#http://b/", "a.org||"),
        ("index.html", "index.html||"),
        ("http://b.org:1/a", "b.org|1|/a"),
        ("//b.org/a", "b.org||/a"),
        ("/a.org/b", "||/a.org/b"),
        ("./a.org", "||./a.org"),
        ("../a", "||../a"),
        ("..", "||.."),
        ("?a.org", "||"),
        ("#a.org", "||"),
        ("", "||"),
        ("mailto:a@b.org", "||a@b.org"),
        ("localhost:", "||"),
        ("a.org:80x/b", "||80x/b"),
        ("[::1", "||[::1"),
    ];
    let (lines, wanted): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    let (lines, wanted) = (lines.join("\n") + "\n", wanted.join("\n") + "\n");
    let template = "{host}|{port}|{path}";
    assert_eq!(text(&["get", "--no-scheme", template], &lines), wanted);
    assert_eq!(text("get --no-scheme {url}", &lines), lines);
    // These have a scheme, or only a path. Without the escapes, they would have a host.
    for other in ["example.com:%38/a", "%5B::1%5D/a"] {
        let Run { out, err, .. } = run("normalize --no-scheme --profile w3lib-2.5", other);
        assert_eq!(out, other.as_bytes());
        assert!(err.contains("1 value was rejected"), "{err}");
    }
    let parts = ["split", "--no-scheme", "--parts", "host,port,path"];
    let cells = wanted.replace('|', "\t");
    assert_eq!(text(&parts, &lines), cells);
    let json = text("split --no-scheme --format jsonl", "example.com/a?b\n");
    assert_eq!(json, "{\"host\":\"example.com\",\"path\":\"/a\",\"query\":\"b\"}\n");
    assert_eq!(text("top --no-scheme {domain}", "www.a.org/b\nA.org:80\n"), "2\ta.org\n");
    let charset = ["get", "--no-scheme", "--decode", "--charset", "gbk", "{host} {query:q}"];
    assert_eq!(text(&charset, "a.org?q=%C4%E3\n"), "a.org 你\n");
    assert_eq!(
        run(&[&charset[..], &["--on-invalid-utf8", "fail"]].concat(), "a.org?q=%FF\n").err,
        "pct: <stdin>:1: offset 8: not in the charset\n"
    );
    // The canonical form has no scheme either, and stays in a second run. The option has no effect on targets of requests.
    let normalize = ["normalize", "--no-scheme", "--profile", "rfc3986"];
    let form = "example.com/~a\nhttp://a/b\n/c\nb:80/\n";
    let old = "EXAMPLE.com/x/../%7ea\nHTTP://A/b\n/c\nB:80/\n";
    assert_eq!(text(&normalize, old), form);
    assert_eq!(text(&normalize, form), form);
    let dedup = ["dedup", "--no-scheme", "--profile", "rfc3986"];
    assert_eq!(text(&dedup, "a.org/b\nA.ORG/b\na.org/B\n"), "a.org/b\na.org/B\n");
    let log = "- - - [01/Jan/2024:00:00:00 +0000] \"GET /a.org HTTP/1.1\" 200 1\n";
    assert_eq!(text(&["get", "--no-scheme", template, "--log", "common", "--values"], log), "||/a.org\n");
    for args in [&["normalize", "--no-scheme"], &["dedup", "--no-scheme"]] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
}

#[test]
fn values_that_seem_to_begin_with_a_host_are_mentioned() {
    let hint = "no host; --no-scheme reads one at their start, such as 'example.com'\n";
    let two = "example.com/a\n/x\nlocalhost\nhttp://b/\nwww.b.org:80\n";
    let csv = &["split", "--parts", "port", "--format", "csv"];
    for args in [&["get", "{host}"][..], &["top", "{domain}"], &["split", "--parts", "host"], csv] {
        assert_eq!(run(args, two).err, format!("pct: some values have {hint}"), "{args:?}");
        assert_eq!(run(&[args, &["-q"]].concat(), two).err, "", "{args:?}");
        assert_eq!(run(args, "img/a.png\nindex.html\nhttp://a/\n").err, "", "{args:?}");
    }
    assert_eq!(run("top {host}", "É.example.com/\nexample.com\n").err.matches("some values").count(), 1);
    assert_eq!(run("get {path}", two).err, "");
    // A row contains the path. A value without a host is its own path, so there is no hint.
    assert_eq!(run("split", two).err, "");
    assert_eq!(run("get {host} --no-scheme", two).err, "");
    assert_eq!(
        run("get {host} --csv --column u --values", "u\nexample.com\n").err,
        format!("pct: some values have {hint}")
    );
}

/// Resolves examples of RFC 3986, section 5.4, and references to which the URL Standard gives another target.
#[test]
fn references_are_resolved() {
    let resolve = |reference: &str, more: &[&str]| {
        text(&[&["resolve", "--base", "http://a/b/c/d;p?q", "-e", reference][..], more].concat(), "")
    };
    for (reference, target) in [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("", "http://a/b/c/d;p?q"),
        ("..", "http://a/b/"),
        ("../../../g", "http://a/g"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("http:g", "http:g"),
    ] {
        assert_eq!(resolve(reference, &[]), format!("{target}\n"), "{reference}");
    }
    assert_eq!(resolve("http:g", &["--not-strict"]), "http://a/b/c/g\n");
    // Blanks around a reference are no part of it (appendix C).
    assert_eq!(resolve(" g:h\t", &[]), " g:h\t\n");
    for (reference, target) in [
        ("http:g", "http://a/b/c/g"),
        ("\\g h\t", "http://a/g%20h"),
        ("///G", "http://g/"),
        ("C|/..", "http://a/b/c/"),
    ] {
        assert_eq!(resolve(reference, &["--standard"]), format!("{target}\n"), "{reference}");
    }
    let Run { err, code, .. } = run("resolve --standard --base //a", "");
    assert_eq!((code, &*err), (Some(2), "pct: --base '//a' is not a valid URL of the URL Standard\n"));
    assert_eq!(run("resolve --standard --base http://a -e //b:x --strict", "").code, Some(1));
    let Run { err, code, .. } = run("resolve --base //a", "");
    assert_eq!(code, Some(2));
    assert_eq!(err, "pct: --base '//a' has no scheme, so nothing can be resolved against it\n");
}

#[test]
fn hosts_that_idna_does_not_take_are_refused() {
    let input = "http://例え.jp/é\nhttp://a\u{200B}\u{AD}--\u{FFFD}.jp/é\n";
    assert_eq!(without("uri -q --on-rejected drop", input), "http://xn--r8jz45g.jp/%C3%A9\n");
    let Run { err, code, .. } = run("uri --strict", input);
    assert_eq!(code, Some(1));
    assert!(err.starts_with("pct: <stdin>:2: offset "), "{err}");
    assert!(err.ends_with(": the host is neither valid in IDNA nor an address\n"), "{err}");
    let hosts = "http://a:99999x/\nhttp://a:80/\nhttp://a]b/\n/a:b]\n";
    assert_eq!(without("uri -q --on-rejected drop", hosts), "http://a:80/\n/a:b]\n");
    let blanks = " http://a/\n/\t/a\n/a b\n/a \nht\ttp://a\n";
    assert_eq!(without("uri -q --on-rejected drop", blanks), "/a%20b\n");
    let Run { err, .. } = run("uri --strict", "/\t/a\n");
    assert!(err.ends_with("offset 1: browsers would remove a blank or a control character\n"), "{err}");
    let Run { err, .. } = run("uri --strict", "http://a:99999x/\n");
    assert!(err.ends_with("offset 9: the port is not a number of at most 65535\n"), "{err}");
    // `--on-invalid-utf8` decides about invalid UTF-8. If this policy is `keep`, the conversion rejects the value.
    let kept = run("uri", b"/\xFF\n");
    assert_eq!(kept.out, b"/\xFF\n");
    assert!(kept.err.starts_with("pct: 1 value was rejected, and stays unchanged"), "{}", kept.err);
    assert_eq!(without("uri -q --on-rejected null", b"/\xFF\n"), "\n");
    let dropped = without("uri -q --on-invalid-utf8 drop", b"/\xFF\n/\xC3\xA9\n");
    assert_eq!(dropped, "/%C3%A9\n");
    assert_eq!(ok("uri --on-invalid-utf8 replace", b"/\xFF\n"), b"/%EF%BF%BD\n");
}

#[test]
fn segments_are_decoded_one_by_one() {
    for (part, url, raw, decoded) in [
        ("segment:1", "/a%2Fb/c?d/e", "a%2Fb", "a/b"),
        ("segment:2", "http://h/a/b%2541", "b%2541", "b%41"),
        ("segment:-1", "/a/b%2fc", "b%2fc", "b/c"),
        ("segment:-2", "a%20/b", "a%20", "a "),
        ("segment:3", "/a/b", "", ""),
        ("segment:-3", "/a/b", "", ""),
        ("segment:2", "/a/", "", ""),
        ("segment:1", "", "", ""),
    ] {
        for (more, wanted) in [(&[][..], raw), (&["--decode"], decoded)] {
            let template = format!("<{{{part}}}>");
            assert_eq!(
                text(&[&["get", &template, "-e", url], more].concat(), ""),
                format!("<{wanted}>\n"),
                "{part} {url}"
            );
        }
    }
    assert_eq!(text("split --format jsonl --parts segment:2,segment:3 -e /a/", ""), "{\"segment:2\":\"\"}\n");
    for args in [&["get", "{segment:0}"][..], &["split", "--parts", "segment:x"], &["join", "segment:1=a"]] {
        assert_ne!(run(args, "a").code, Some(0), "{args:?}");
    }
}

#[test]
fn forms_become_pairs_and_back() {
    let form = "a=1&b=x+y%26%0A&c&=d&a=%FF\n";
    let json = "[[\"a\",\"1\"],[\"b\",\"x y&\\n\"],[\"c\",\"\"],[\"\",\"d\"],[\"a\",{\"bytes\":\"%FF\"}]]\n";
    assert_eq!(text("form --format jsonl", form), json);
    assert_eq!(text("form --from jsonl", json), "a=1&b=x+y%26%0A&c=&=d&a=%FF\n");
    for (form, more, wanted) in [
        ("a=%C3", &[][..], "[[\"a\",{\"bytes\":\"%C3\"}]]"),
        ("a=%25C3", &[], "[[\"a\",\"%C3\"]]"),
        ("a+%C3=%zz", &[], "[[{\"bytes\":\"a%20%C3\"},\"%zz\"]]"),
        ("a=%C3", &["--on-invalid-utf8", "replace"], "[[\"a\",\"\u{fffd}\"]]"),
        ("a=%C3", &["--on-invalid-utf8", "empty"], "null"),
        ("a=%zz", &["--on-malformed", "empty"], "null"),
    ] {
        let out = done_text(&[&["form", "--format", "jsonl"], more].concat(), form);
        assert_eq!(out, wanted, "{form} {more:?}");
        if more.is_empty() {
            let back = form.replace("zz", "25zz");
            assert_eq!(text("form --from jsonl", &out), back, "{form}");
        }
    }
    let dropped = without("form --format jsonl --on-invalid-utf8 drop", "a=%C3\nb");
    assert_eq!(dropped, "[[\"b\",\"\"]]");
    let fails = run("form --format jsonl --on-invalid-utf8 fail", "a=1&b=%C3");
    assert_eq!((fails.code, fails.err.as_str()), (Some(1), "pct: <stdin>:1: offset 4: not UTF-8\n"));
    assert_eq!(text("form", form.trim_end_matches("&a=%FF\n")), "a\t1\tb\tx y&%0A\tc\t\t\td");
    assert_eq!(text("form --from tsv", "a\tx y\tc\t\n\n"), "a=x+y&c=\n\n");
    let lines = "{\"a\":\"x\\ny\\r\\nz\\r\"}";
    assert_eq!(text("form --from jsonl --crlf", lines), "a=x%0D%0Ay%0D%0Az%0D%0A");
    assert_eq!(text("form --from jsonl", lines), "a=x%0Ay%0D%0Az%0D");
    assert_eq!(text("form --from csv", "a,\"x,\"\"y\"\n"), "a=x%2C%22y\n");
    assert_eq!(text("form --from jsonl", "{\"a\":[1.50,-0]}\n"), "a=1.50&a=-0\n");
    assert_eq!(text("form --from jsonl", "{\"a\":[1,true],\"b\":\"ü\"}\n"), "a=1&a=true&b=%C3%BC\n");
    for (style, bad) in [
        ("tsv", "a"),
        ("csv", "\"a"),
        ("jsonl", "[1]"),
        ("jsonl", "{\"a\":null}"),
        ("jsonl", "7"),
        ("jsonl", "{\"a\":1,\"b\":2,\"\\u0061\":1}"),
    ] {
        assert_eq!(run(&["form", "--from", style, "--strict"], bad).code, Some(1), "{bad}");
        assert_eq!(text(&["form", "-q", "--from", style], bad), bad);
    }
}

#[test]
fn whole_urls_may_be_in_any_charset() {
    for (charset, typed, url) in [
        ("windows-1252", "http://a/é %E9?q=%2Fü€", "http://a/%E9%20%25E9?q=%2F%FC%80"),
        // The second byte of a character can be a reserved character or a backslash.
        ("shift_jis", "http://a/ァ?ーソ@テ", "http://a/%83%40?%81%5B%83%5C@%83e"),
        ("gb18030", "/é你\u{1f600}", "/%A8%A6%C4%E3%949%FC6"),
        ("euc-jp", "/語", "/%B8%EC"),
        ("utf-8", "/é", "/%C3%A9"),
        // The charset lacks the euro sign, so the number of this character is written, as in browsers.
        ("koi8-r", "/€П", "/%26%238364%3B%F0"),
        // The host stays in UTF-8, because other bytes would name another host. Browsers skip slashes before it.
        ("latin1", "http://Ã©.de/Ã©", "http://%C3%83%C2%A9.de/%C3%A9"),
        ("koi8-r", "http://п:р@пр.ру:80?п#р", "http://%D0%BF:%D1%80@%D0%BF%D1%80.%D1%80%D1%83:80?%D0#%D2"),
        ("koi8-r", "///пр/п", "///%D0%BF%D1%80/%D0"),
        ("koi8-r", "Http:п/п", "Http:%D0%BF/%D0"),
        ("koi8-r", "foo://п/п", "foo://%D0%BF/%D0"),
        ("koi8-r", "file:///п", "file:///%D0"),
        ("koi8-r", "mailto:п", "mailto:%D0"),
    ] {
        let args = |verb: &'static str| [verb, "--url", "--charset", charset];
        assert_eq!(text(&args("encode"), typed), url, "{charset}");
        let back = if charset == "koi8-r" { &typed.replace('€', "%26%238364%3B") } else { typed };
        assert_eq!(text(&args("decode"), url), back, "{charset}");
    }
    let decode = |charset: &str, url: &str| text(&["decode", "--url", "--charset", charset], url);
    // A delimiter is not part of a character, and bytes that are invalid stay escaped.
    assert_eq!(decode("shift_jis", "http://%83@a/%83/%FF%zz%41%83"), "http://%83@a/%83/%FF%zzA%83");
    assert_eq!(decode("koi8-r", "http://%E4%C1.ru/%E4%C1"), "http://%E4%C1.ru/Да");
    assert_eq!(decode("auto", "http://%C3%A9/%E9\n"), "http://é/é\n");
    assert_eq!(decode("euc-jp", "/%8F%B0%A1%8F%B0/"), "/\u{4e02}%8F%B0/");
    assert_eq!(decode("auto", "/%C3%A9%2F\n/%E9%2F\n"), "/é%2F\n/é%2F\n");
    let policy =
        |verb, policy, url: &str| run(&[verb, "--url", "--charset", "gbk", "--on-invalid-utf8", policy], url);
    assert_eq!(policy("decode", "replace", "/%FF%C4%E3").out, "/\u{fffd}你".as_bytes());
    assert_eq!(policy("decode", "fail", "/a%FF").err, "pct: <stdin>:1: offset 2: not in the charset\n");
    assert_eq!(
        policy("encode", "fail", "/a你\u{1f600}").err,
        "pct: <stdin>:1: offset 5: not in the charset\n"
    );
    assert_eq!(
        policy("encode", "fail", "//\u{1f600}/a\u{1f600}").err,
        "pct: <stdin>:1: offset 8: not in the charset\n"
    );
    assert_eq!(policy("decode", "fail", "//%C4%E3/").err, "pct: <stdin>:1: offset 2: not UTF-8\n");
    for verb in ["encode", "decode"] {
        refused(&[verb, "--url", "--charset", "iso-2022-jp"], "", "remove --url");
    }
}

/// A log or a crawl has URLs of many programs, and even one URL can have two charsets.
#[test]
fn each_value_of_a_url_has_its_own_charset() {
    let two = "http://h/%E4%BD%A0/%C4%E3?%C4%E3=%E4%BD%A0&a=%C4%E3=%C4%E3&%E4%BD%A0&b=%81#%E4%BD%A0";
    let decoded = "http://h/你/你?你=你&a=你=你&你&b=%81#你";
    let auto = |args: &[&str], url: &str| text(&[args, &["--charset", "auto:gbk"]].concat(), url);
    assert_eq!(auto(&["decode", "--url"], two), decoded);
    assert_eq!(auto(&["decode", "--path"], two), two.replace("/%E4%BD%A0/%C4%E3?", "/你/你?"));
    let query = "http://h/%E4%BD%A0/%C4%E3?你=你&a=你=你&你&b=%81#%E4%BD%A0";
    assert_eq!(auto(&["decode", "--query"], two), query);
    // The second word alone would be valid UTF-8, but both words are one value.
    assert_eq!(auto(&["decode", "--query", "--form"], "?q=%C4%E3+%C4%A3"), "?q=你 模");
    assert_eq!(auto(&["decode", "--url"], "/?q=%C4%E3%20%C4%A3&r=%C4%A3"), "/?q=你 模&r=ģ");
    assert_eq!(auto(&["form"], "%C4%E3=%E4%BD%A0&a=%C4%E3+%2B&b=%81"), "你\t你\ta\t你 +\tb\t%81");
    let get = |template: &str| auto(&["get", "--decode", template], two);
    assert_eq!(get("{path} {query} {fragment}"), "/你/你 你=你&a=你=你&你&b=%81 你");
    assert_eq!(get("{segment:1}{segment:2} {query:你} {query:a} {query:b}"), "你你 你 你=你 %81");
    assert_eq!(get("{url}"), two, "a whole URL is not decoded");
    let fields = ["split", "--decode", "--parts", "path,query:a,query:b", "--format"];
    let split = |style| auto(&[&fields[..], &[style]].concat(), two);
    assert_eq!(split("csv"), "/你/你,你=你,%81");
    assert_eq!(split("jsonl"), "{\"path\":\"/你/你\",\"query:a\":\"你=你\",\"query:b\":\"%81\"}");
    let top = ["top", "--decode", "{host} {query:a}", "--format", "tsv"];
    assert_eq!(auto(&top, &format!("{two}\nhttp://h/?a=%E4%BD%A0%3D%C4%E3\n")).lines().count(), 2);
    assert_eq!(auto(&top, &format!("{two}\nhttp://H/?a=%C4%E3%3d%C4%E3\n")), "2\th 你=你\n");
    let found = text(
        "get --decode {query:wd} --charset auto:gbk",
        "http://www.baidu.example/b?wd=%CB%AB%C9%AB%C7%F2qq%C8%BA",
    );
    assert_eq!(found, "双色球qq群");
}

#[test]
fn parts_of_urls_may_be_in_any_charset() {
    let get = |charset: &str, template: &str, url: &str| {
        text(&["get", "--decode", "--charset", charset, template], url)
    };
    // Browsers do not escape all bytes of a character. The last bytes of these characters are `@`, `\` and `|`.
    assert_eq!(get("shift_jis", "{query:q}", "?q=%83@%83\\%83%7C%83%5C"), "ァソポソ");
    assert_eq!(get("shift_jis", "{path} {segment:-1}", "/%83%5C%2F%25/a%2Fb"), "/ソ%2F%25/a%2Fb a/b");
    // A delimiter ends a value, whatever the byte before it is.
    assert_eq!(get("gbk", "{query:a} {query:b}", "?a=%C4&b=%E3"), "%C4 %E3");
    // In iso-2022-jp, the bytes of `&` and `%` are also parts of characters, and each value begins in ASCII.
    let jp = "?a=%1B$B%24%26%25%33&b=%3c%26+%1b%24%42%25%33%1b%28%42%2b";
    assert_eq!(get("iso-2022-jp", "{query:a} {query:b}", jp), "うコ <& コ+");
    assert_eq!(get("iso-2022-jp", "{query}", jp), "a=うコ&b=<%26+コ%2b");
    let query =
        |args: &[&str]| text(&[&["decode", "--query", "--charset", "iso-2022-jp"], args].concat(), jp);
    assert_eq!(query(&[]), "?a=うコ&b=<%26+コ%2B");
    assert_eq!(query(&["--form"]), "?a=うコ&b=<%26 コ+");
    let path = ["decode", "--path", "--charset", "iso-2022-jp"];
    assert_eq!(text(&path, "%1B%24%42%25%2F%1B%28%42%2F/%1B$B%25%33\n/%41"), "ク%2F/コ\n/A");
    assert_eq!(text(&path, "a%3A%1B%24%42%25%33"), "a%3A%1B%24%42%25%33");
    // The host is in UTF-8, and text that is not escaped is UTF-8 if it is valid.
    assert_eq!(get("koi8-r", "{host} {path} {query:п}", "//%D0%BF/п?%D0=%F0"), "п /п П");
    assert_eq!(ok("get --decode --charset koi8-r {path}", b"/\xF0?q"), "/П".as_bytes());
    assert_eq!(get("us-ascii-strict", "{path} {query:a}", "/%C3%a9?a=%C3%A9"), "/%C3%A9 %C3%A9");
    assert_eq!(get("utf-8", "{segment:1}", "/%C3%A9%FF%00"), "é%FF\0");
    let policy = |verb: &[&str], policy| {
        run(&[verb, &["--charset", "gbk", "--on-invalid-utf8", policy]].concat(), "//h/%C4%E3?a=b%FF\n")
    };
    for verb in [&["get", "--decode", "{query:a}"][..], &["split", "--decode", "--parts", "query:a"]] {
        assert_eq!(policy(verb, "keep").out, b"b%FF\n");
        assert_eq!(policy(verb, "replace").out, "b\u{fffd}\n".as_bytes());
        assert_eq!(policy(verb, "drop").out, b"");
        assert_eq!(policy(verb, "fail").err, "pct: <stdin>:1: offset 14: not in the charset\n");
    }
    for args in [
        &["get", "{host}", "--charset", "gbk"][..],
        &["top", "{host}", "--charset", "gbk"],
        &["split", "--charset", "gbk"],
        &["split", "--decode", "--charset", "gbkk"],
        &["form", "--from", "tsv", "--charset", "auto"],
    ] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
}

#[test]
fn forms_may_be_in_any_charset() {
    let cyrillic = &["form", "--charset", "windows-1251", "--format", "jsonl"][..];
    assert_eq!(text(cyrillic, "%CF=%CF%F0+%2B&q=%26\n"), "[[\"П\",\"Пр +\"],[\"q\",\"&\"]]\n");
    // In Shift_JIS, the byte 5C is part of the character `ソ`, so it is decoded. A line end stays escaped in a cell.
    assert_eq!(text("form --charset shift_jis", "a=%83%5C%0A&&b\n"), "a\tソ%0A\tb\t\n");
    assert_eq!(text("form --charset iso-8859-1-strict --format csv", "a=%80%E9,\n"), "a,\"\u{80}é,\"\n");

    let from = |charset: &str, pairs: &str| text(&["form", "--from", "jsonl", "--charset", charset], pairs);
    assert_eq!(from("windows-1251", "[[\"Пр\",\"& é\"]]\n"), "%CF%F0=%26+%26%23233%3B\n");
    assert_eq!(from("shift_jis", "{\"a\":[\"ソ\",1]}\n"), "a=%83%5C&a=1\n");
    assert_eq!(from("us-ascii-strict", "{\"é\":\"\"}\n"), "%26%23233%3B=\n");
    assert_eq!(text("form --from tsv --crlf --charset gbk", "a\t你好\n"), "a=%C4%E3%BA%C3\n");

    // Parsing a form and building it again gives the same form.
    for charset in ["utf-8", "gbk", "euc-jp", "iso-2022-jp", "windows-1252", "x-user-defined"] {
        let form = from(charset, "[[\"a&\",\"x=y+z \"],[\"caf\",\"\"]]\n");
        let pairs = text(&["form", "--charset", charset, "--format", "jsonl"], &form);
        assert_eq!(from(charset, &pairs), form, "{charset}");
    }

    // `--on-invalid-utf8` has the same policies as in the other commands.
    let wrong = "a=1&b=x%FFy\nc=%81\n";
    let with = |policy: &str| text(&["form", "-q", "--charset", "gbk", "--on-invalid-utf8", policy], wrong);
    assert_eq!(with("keep"), "a\t1\tb\tx%FFy\nc\t%81\n");
    assert_eq!(with("replace"), "a\t1\tb\tx\u{fffd}y\nc\t\u{fffd}\n");
    assert_eq!(without("form -q --charset gbk --on-invalid-utf8 drop", wrong), "");
    run("form --charset gbk --on-invalid-utf8 fail", wrong)
        .says("pct: <stdin>:1: offset 4: not in the charset\n", 1);
    run("form --charset windows-1252 --from tsv --on-invalid-utf8 fail", "a\tb\nc\tПр\n")
        .says("pct: <stdin>:2: offset 4: not in the charset\n", 1);
    assert_eq!(run("form --charset nonsense", "").code, Some(2));
    // The parameter `_charset_` names the charset of a form, for reading and writing. An unknown label has no effect.
    for (form, pairs) in [
        ("_charset_=windows-1251&q=%CF%F0", "_charset_\twindows-1251\tq\tПр"),
        ("q=%CF%F0&_charset_=CP1251&_charset_=koi8-r", "q\tПр\t_charset_\tCP1251\t_charset_\tkoi8-r"),
        ("_charset_=what&q=%C3%A9", "_charset_\twhat\tq\té"),
        ("_charset=gbk&q=%C3%A9", "_charset\tgbk\tq\té"),
    ] {
        assert_eq!(text("form", form), pairs);
        assert_eq!(text("form --charset utf-8", form), pairs);
        assert_eq!(text("form --from tsv", pairs), form);
    }
}

#[test]
fn the_converters_are_exact_inverses() {
    // Encoding and then decoding gives the input again, for any bytes. Line ends stay line ends.
    for seed in 0..8 {
        let mut input = crate::support::tangle(seed, 50_000);
        input.extend_from_slice(&urls(seed, 50_000));
        input.extend_from_slice(b"%25%2525%252F%25252f%2%2F%%25%25252%0A%250A\r%0d%0A ");
        let there = ok("encode --url", &input);
        assert_same("there and back", &ok("decode --url", &there), &input);
        let is_encoded = |line: &[u8]| {
            line.iter().skip_while(|byte| **byte <= b' ').all(|byte| byte.is_ascii() && *byte != b' ')
        };
        assert!(there.split(|byte| *byte == b'\n').all(is_encoded));
        // Decoding and then encoding gives the same bytes again, if they are output of the encoder.
        let plain = ok("decode --url", &there);
        assert_same("back and there", &ok("encode --url", plain), &there);
        let values = ["--jsonl", "--key", "u"];
        let json = b"{\"u\":\"a b\\n%0A%20%2F \xC3\xA9\"}\n";
        let there = ok(&[&["encode", "--url"][..], &values].concat(), json);
        assert_eq!(there, b"{\"u\":\"a%20b\\n%0A%2520%2F%20%C3%A9\"}\n");
        assert_same("in JSON", &ok(&[&["decode", "--url"][..], &values].concat(), &there), json);
    }
    // Decoding and then encoding gives the same URL again, if its escapes are in the spelling that the encoder writes.
    let mut numbers = Numbers(7);
    let words: [&[u8]; 12] =
        [b"/", b"a", b"2", b"F", b"25", b"2F", b"%25", b"%252F", b"%2F", b"%20", b"%C3%A9", b"?"];
    let urls: Vec<u8> = (0..50_000).flat_map(|_| numbers.pick(&words)).copied().collect();
    let plain = ok("decode --url", &urls);
    assert!(plain.len() < urls.len());
    assert_same("any URL", &ok("encode --url", plain), &urls);
    let url = "http://a.com/%E5%BC%95/50%25?x=%2F&y=%26%20#%C3%A9\n";
    let plain = "http://a.com/引/50%?x=%2F&y=%26 #é\n";
    assert_eq!(text("decode --url", url), plain);
    assert_eq!(text("encode --url", plain), url);
    assert_eq!(run("decode --url --strict", "%zz").code, Some(1));
    assert_eq!(text("encode --url", "%zz"), "%25zz");
    assert_eq!(run("encode --url --form", "").code, Some(2));
}

/// Browsers read a backslash as a slash, and remove TABs, and controls and blanks at the start of a URL.
#[test]
fn converters_do_not_change_the_host_for_browsers() {
    for url in [
        "/%5Cevil.com/x",
        "/%09/evil.com/x",
        "%20//evil.com/x",
        "http://a.com%5C@evil.com/x",
        "java%09script:alert(1)",
        "%01javascript:alert(1)",
        "%20javascript:alert(1)",
    ] {
        assert_eq!(text(&["decode", "--url", "-e", url], ""), format!("{url}\n"));
    }
    for (url, wanted) in [
        ("http://a.com\\@evil.com/\té?\t\\", "http://a.com\\@evil.com/\t%C3%A9?%09%5C\n"),
        (" \u{1}//evil.com/ é", " \u{1}//evil.com/%20%C3%A9\n"),
    ] {
        assert_eq!(text(&["encode", "--url", "-e", url], ""), wanted);
        assert_eq!(text(&["decode", "--url", "-e", wanted.trim_end()], ""), format!("{url}\n"));
    }
}

#[test]
fn decoding_can_be_confined_to_a_part() {
    let url = "/a%20b%2Fc?x%20y=%C3%A9%26%3D%23%2B+z&%7E#%20\n";
    assert_eq!(text("decode --path", url), "/a b%2Fc?x%20y=%C3%A9%26%3D%23%2B+z&%7E#%20\n");
    assert_eq!(text("decode --query", url), "/a%20b%2Fc?x y=é%26%3D%23%2B+z&~#%20\n");
    assert_eq!(text("decode --query --form", url), "/a%20b%2Fc?x y=é%26%3D%23+ z&~#%20\n");
    assert_eq!(text("decode --query --times 2", "?a=%2541%2526\n"), "?a=A%26\n");
    assert_eq!(text("decode --path", "%41?%41\n\n"), "A?%41\n\n");
    // A malformed escape in another part of the URL is not an error.
    assert_eq!(text("decode --query --strict", "/%zz?%41\n"), "/%zz?A\n");
    let Run { err, code, .. } = run("decode --query --strict", "/%zz?%41%zz\n");
    assert_eq!(code, Some(1));
    assert!(err.starts_with("pct: <stdin>:1: offset 8: malformed escape"), "{err}");
    let log = "1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"GET /a%62?q=%63%20 HTTP/1.1\" 200 1 \"-\" \"-\"\n";
    assert_eq!(text("decode --query --log combined", log), log.replace("%63", "c"));
    let input = urls(4, 100_000);
    let decoded = ok("decode --query", &input);
    for (url, _) in lines(&decoded) {
        assert!(!simdpct_uri::split(url).path().windows(3).any(|escape| escape == b"a%2"), "none was there");
    }
    assert_eq!(lines(&decoded).count(), lines(&input).count());
    for ((new, _), (old, _)) in lines(&decoded).zip(lines(&input)) {
        let (new, old) = (simdpct_uri::split(new), simdpct_uri::split(old));
        assert_eq!(
            (new.authority(), new.path(), new.fragment()),
            (old.authority(), old.path(), old.fragment())
        );
        assert_eq!(new.query_pairs().count(), old.query_pairs().count());
    }
}

/// Checks that the commands follow the rules of RFC 3986, section 2.
mod rules {
    use super::text;

    #[test]
    fn split_before_decode() {
        // If this URL were decoded before it is split, it would have a different query and a fragment.
        let url = "http://a/b%2Fc%3Fd?e=f%26g%3Dh%23i\n";
        assert_eq!(text("get --decode {query:e}", url), "f&g=h#i\n");
        assert_eq!(text("split --decode --parts path,fragment,query:g", url), "/b%2Fc?d\t\t\n");
        let decoded_first = text("decode", url);
        assert_eq!(text("get {query:e}|{fragment}", &decoded_first), "|i\n");
    }

    #[test]
    fn decode_once() {
        assert_eq!(text("get --decode {query:q}", "?q=%252541\n"), "%2541\n");
        assert_eq!(text("split --decode --parts fragment", "#%2541\n"), "%41\n");
        assert_eq!(text("normalize --profile rfc3986", "http://a/%2541%252F\n"), "http://a/%2541%252F\n");
        assert_eq!(text("form --format csv", "a=%2541\n"), "a,%41\n");
    }

    #[test]
    fn never_encode_twice() {
        let url = "http://a/b c%20d?%C3%A9=é\n";
        let once = text("uri", url);
        assert_eq!(once, "http://a/b%20c%20d?%C3%A9=%C3%A9\n");
        assert_eq!(text("uri", &once), once);
        // With `--keep-escapes`, `encode` does not encode escapes again.
        assert_eq!(text("encode --set rfc3986-uri --keep-escapes", &once), once);
    }

    #[test]
    fn reserved_kept() {
        let url = "http://a/%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?:/?[]@!$&'()*+,;=\n";
        for args in [
            &["normalize", "--profile", "rfc3986"][..],
            &["normalize", "--profile", "whatwg"],
            &["normalize"],
            &["iri"],
            &["uri"],
            &["decode", "--url"],
            &["encode", "--url"],
        ] {
            let wanted = if args.contains(&"whatwg") { url.replace('\'', "%27") } else { url.to_owned() };
            assert_eq!(text(args, url), wanted, "{args:?}");
        }
    }

    #[test]
    fn case_of_digits() {
        for args in [&["normalize"][..], &["normalize", "--profile", "rfc3986"]] {
            assert_eq!(text(args, "http://a/%c3%a9%2f\n"), "http://a/%C3%A9%2F\n");
        }
        assert_eq!(text("iri", "/%c3%a9%2f\n"), "/é%2f\n");
    }

    #[test]
    fn unreserved_never_escaped() {
        let unreserved: String = ('!'..='~').filter(|c| c.is_alphanumeric() || "-._~".contains(*c)).collect();
        let escaped: String = unreserved.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let (url, plain) = (format!("http://a/{escaped}\n"), format!("http://a/{unreserved}\n"));
        assert_eq!(text("normalize --profile rfc3986", &url), plain);
        assert_eq!(text("decode --url", &url), plain);
        for args in [&["encode", "--url"][..], &["uri"], &["encode", "--keep", ":/"]] {
            assert_eq!(text(args, &plain), plain, "{args:?}");
        }
        let path = format!("path=/{unreserved}");
        assert_eq!(text(&["join", "--encode", "host=a", &path], ""), plain.replace("http:", ""));
    }

    #[test]
    fn iri_both_ways() {
        let (iri, uri) =
            ("http://例え.jp/引き出し\n", "http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%E5%87%BA%E3%81%97\n");
        assert_eq!(text("uri", iri), uri);
        assert_eq!(text("iri", uri), iri);
        // Direction marks, `%` and reserved characters stay escaped.
        let kept = "http://a/%E2%80%AE%25%2F\n";
        assert_eq!(text("iri", kept), kept);
    }
}

/// `pct` prints the same parts as trurl for the URLs in trurl's tests. Each row with another result gives a reason.
#[test]
fn parts_are_those_that_trurl_prints() {
    let plain = |text: &str| {
        let mut out = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            (rest, _) = match (byte, after) {
                (b'\\', [b'x', high, low, after @ ..]) => {
                    let digits = [*high, *low];
                    let digits = std::str::from_utf8(&digits).unwrap();
                    (after, out.push(u8::from_str_radix(digits, 16).unwrap()))
                }
                (b'\\', [b'\\', after @ ..]) => (after, out.push(b'\\')),
                _ => (after, out.push(byte)),
            };
        }
        String::from_utf8(out).unwrap()
    };
    let (mut same, mut other) = (0, 0);
    for row in
        include_str!("../../../uri/tests/vectors/trurl.tsv").lines().filter(|row| !row.starts_with("# "))
    {
        let fields: Vec<String> = row.split('\t').map(plain).collect();
        let [verb, parts, what, url, theirs, ours, why] = &fields[..] else { panic!("{row}") };
        let args = match verb.as_str() {
            "get" => vec!["get", what],
            _ => vec!["split", "--format", "jsonl", "--parts", what],
        };
        let decode: &[&str] = if parts == "decoded" { &["--decode"] } else { &[] };
        let got = text(&[&args[..], decode, &["-e", url]].concat(), "");
        let got = got.strip_suffix('\n').unwrap();
        if why.is_empty() {
            assert_eq!(got, theirs, "{row}");
            same += 1;
        } else {
            assert_eq!(got, ours, "{row}");
            assert_ne!(ours, theirs, "{row}");
            other += 1;
        }
    }
    assert_eq!((same, other), (21, 17));
}

#[test]
fn no_part_is_split_twice() {
    for args in [&["--parts", "host,path,host"][..], &["--parts", "query:host", "--query-param", "host"]] {
        refused(&[&["split", "-e", "http://a/"], args].concat(), "", "host' twice");
    }
    assert_eq!(
        text(&["split", "--parts", "query,query:a", "--query-param", "b"], "?a=1&b=2"),
        "a=1&b=2\t1\t2"
    );
}
