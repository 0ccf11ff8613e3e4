//! Whole URLs: canonical forms, splitting and joining, references, IRIs, forms, and the seven rules.

use std::fs;

use simdpct_uri::canon::Profile;

use crate::support::{Numbers, Run, assert_same, ok, run};

/// What a run makes of `input`, as text.
#[track_caller]
fn text(args: &[&str], input: &str) -> String {
    String::from_utf8(ok(args, input)).expect("text")
}

/// About `len` bytes of lines in which everything that splitting and canonical forms look at is frequent.
fn urls(seed: u64, len: usize) -> Vec<u8> {
    const WORDS: &[&[u8]] = &[
        b"http://example.org/a/b?c=d#e\n",
        b"https://example.org/a/b/c/d/e/f/g/h\r\n",
        b"HTTP://",
        b"https://",
        b"//",
        b"Example.ORG",
        b"a.example",
        b"user:pw@",
        b"@",
        b":80",
        b":99999",
        b"[::1]",
        b"[",
        b"/",
        b"/./",
        b"/../",
        b"/%2e%2E/",
        b"path",
        b"%7Euser",
        b"%2f",
        b"%zz",
        b"%2541",
        b"?",
        b"q=1&b=2",
        b"#",
        b"\t",
        b"\xC3\xA9",
        b"\xFF",
        b"\n",
        b"\r\n",
        b"\n",
    ];
    let mut numbers = Numbers(seed);
    let mut bytes = Vec::with_capacity(len + 64);
    while bytes.len() < len {
        bytes.extend_from_slice(numbers.pick(WORDS));
    }
    bytes
}

/// The lines of `text`, each with its end apart.
fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
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
        let args = ["normalize", "--profile", profile.name()];
        assert_same(profile.name(), &ok(&args, &input), &wanted);
        let threads = [&args[..], &["-j4"]].concat();
        assert_same(profile.name(), &ok(&threads, &input), &wanted);
        // Every line by itself.
        let each = [&args[..], &["--on-error", "keep", "--only-changed"]].concat();
        let changed = ok(&each, &input);
        assert!(changed.len() < wanted.len(), "{profile}");
    }
}

#[test]
fn the_list_of_profiles_says_what_each_is() {
    let list = text(&["normalize", "--list"], "");
    assert_eq!(list.lines().count(), Profile::ALL.len());
    for (line, profile) in list.lines().zip(Profile::ALL) {
        let (name, about) = line.split_once("  ").expect("a name, and what it is");
        assert_eq!(name, profile.name());
        assert!(!about.trim().is_empty(), "{name}");
    }
    let Run { out, err, code } = run(&["normalize", "--profile", "rfc9999"], "");
    assert_eq!((out, code), (Vec::new(), Some(2)));
    assert!(err.starts_with("pct: unknown profile 'rfc9999'; there are: escapes, rfc3986, "), "{err}");
}

#[test]
fn what_a_profile_refuses_is_treated_as_asked() {
    let input = "HTTP://a/\nhttp://a:99999/%7e\nHTTP://b/\r\n";
    let args = ["normalize", "--profile", "rfc3986"];
    for (policy, wanted) in [
        ("keep", "http://a/\nhttp://a:99999/%7e\nhttp://b/\r\n"),
        ("replace", "http://a/\nhttp://a:99999/%7e\nhttp://b/\r\n"),
        ("empty", "http://a/\n\nhttp://b/\r\n"),
        ("drop", "http://a/\nhttp://b/\r\n"),
    ] {
        assert_eq!(text(&[&args[..], &["--on-error", policy]].concat(), input), wanted, "{policy}");
    }
    for fail in [&["--strict"][..], &["--on-error", "fail"]] {
        let Run { out, err, code } = run(&[&args[..], fail].concat(), input);
        assert_eq!((out, code), (b"http://a/\n".to_vec(), Some(1)));
        assert_eq!(err, "pct: <stdin>:2: offset 19: the port is not a number of at most 65535\n");
    }
    // A malformed escape is a fault whatever the profile does with it.
    let replaced = [&args[..], &["--on-error", "replace"]].concat();
    assert_eq!(text(&replaced, "HTTP://a/%zz%7e"), "http://a/%25zz~");
    assert_eq!(text(&args, "HTTP://a/%zz%7e"), "http://a/%zz~");
    let dropped = [&args[..], &["--on-error", "drop"]].concat();
    assert_eq!(text(&dropped, "HTTP://a/%zz%7e\nHTTP://a/"), "http://a/");
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
    assert!(err.contains("\"changed\":1,") && err.contains("\"unreadable\":1,"), "{err}");
    assert_eq!(
        fs::read_to_string(rejects).unwrap(),
        "<stdin>:2:17: more than one '@' in the authority: 1,HTTP://a@b@c/\n"
    );
}

#[test]
fn profiles_work_on_values_anywhere() {
    let profile = ["normalize", "--profile", "rfc3986"];
    let with = |more: &[&'static str], input: &str| text(&[&profile[..], more].concat(), input);
    let log = "1.2.3.4 - - [1/Jan/2024] \"GET /a/../%7eb HTTP/1.1\" 200 1 \"HTTP://A/./\"\n";
    assert_eq!(
        with(&["--log", "combined"], log),
        "1.2.3.4 - - [1/Jan/2024] \"GET /~b HTTP/1.1\" 200 1 \"http://a/\"\n"
    );
    assert_eq!(with(&["--field", "2"], "x HTTP://A/%7e y\n"), "x http://a/~ y\n");
    assert_eq!(
        with(&["--jsonl", "--key", "u", "--into", "key"], "{\"u\":\"HTTP://A/\"}\n"),
        "{\"u\":\"HTTP://A/\",\"key\":\"http://a/\"}\n"
    );
    assert_eq!(with(&["-0"], "HTTP://A/\0HTTP://B/\n\0"), "http://a/\0HTTP://B/\n\0");
    assert_eq!(with(&["--csv", "--column", "2", "--only"], "a,b\n1,HTTP://A/\n"), "http://a/\n");
    // A comma that comes to light does not split a field.
    let w3lib = ["normalize", "--profile", "w3lib-2.5", "--field", "1", "--delimiter", ","];
    assert_eq!(text(&w3lib, "http://a/%2Cb,x\n"), "http://a/%2Cb,x\n");
    // A URL is in memory whole, so a line that is too long stays.
    let long = format!("HTTP://{}/\nHTTP://B/\n", "A".repeat(3 << 20));
    let Run { out, err, code } = run(&profile, &long);
    assert_same("a long line", &out, long.replace("HTTP://B", "http://b").as_bytes());
    assert_eq!(code, Some(0));
    assert!(
        err.contains("offset 0: the record is longer than 2 MiB (--max-record), and stays as it is"),
        "{err}"
    );
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
    }
}
