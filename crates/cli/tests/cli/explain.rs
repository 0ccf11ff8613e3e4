//! Tests `pct explain`.

use serde_json::Value;
use simdpct_uri::canon::Profile;
use simdpct_uri::{Component, Dialect, set_for, split};

use crate::support::{file, ok, printed, refused, text};
use crate::uri::{lines, urls};

/// Returns the explanation of one URL.
#[track_caller]
fn explain(url: &str) -> Value {
    serde_json::from_slice(&ok(&["explain", "-e", url], "")).expect("one document")
}

#[test]
fn notes_name_the_part_the_character_and_whether_it_must_be_escaped() {
    for (url, part, text, character, escape, why) in [
        ("http://a/%C3%A9", "path", "%C3%A9", "é (U+00E9)", "must", "only an IRI"),
        ("http://a/é", "path", "é", "é (U+00E9)", "must", "only an IRI"),
        ("http://a/%E9", "path", "%E9", "invalid UTF-8, é in windows-1252", "must", "UTF-8"),
        ("http://a/%C3x", "path", "%C3", "invalid UTF-8, Ã in windows-1252", "must", "UTF-8"),
        ("http://a/x y", "path", " ", "space", "must", "Ends a URL in text"),
        ("http://a/%20", "path", "%20", "space", "must", "Ends a URL in text"),
        ("http://a/%2F", "path", "%2F", "/", "must", "Separates the parts of a path."),
        ("http://a/?%2F", "query", "%2F", "/", "may", "escaped it is data"),
        ("http://a/?%26", "query", "%26", "&", "must", "Separates parameters."),
        ("http://a/%26", "path", "%26", "&", "may", "escaped it is data"),
        ("http://a/?a+b", "query", "+", "+", "may", "Is a space in a form."),
        ("http://a/?%2B", "query", "%2B", "+", "must", "Is a space in a form."),
        ("http://a/%7E", "path", "%7E", "~", "need not", "means the same"),
        ("http://a/%zz", "path", "%", "malformed escape", "must", "written as %25"),
        ("http://a/%25zz", "path", "%25", "%", "must", "Begins an escape."),
        ("http://a/x;y", "path", ";", ";", "may", "Separates parameters in some servers."),
        ("http://u%40:p@a/", "userinfo", "%40", "@", "must", "Ends the user name."),
        ("http://a%2Cb/", "host", "%2C", ",", "may", "escaped it is data"),
        ("http://a/#a#b", "fragment", "#", "#", "must", "Begins the fragment."),
        ("http://a/\\x", "path", "\\", "\\", "must", "Browsers read it as a slash."),
        ("http://a/\u{1}", "path", "\u{1}", "start of heading", "must", "Invisible"),
    ] {
        let document = explain(url);
        let notes = document["notes"].as_array().unwrap();
        assert_eq!(notes.len(), 1, "{url}: {document}");
        let note = &notes[0];
        let got = ["part", "text", "character", "escape"].map(|name| note[name].as_str().unwrap());
        assert_eq!(got, [part, text, character, escape], "{url}");
        assert!(note["why"].as_str().unwrap().contains(why), "{url}: {note}");
        assert_eq!(note["offset"].as_u64(), url.rfind(text).map(|at| at as u64), "{url}");
        assert_eq!(note["length"].as_u64(), Some(text.len() as u64));
        assert_eq!(note["is_escape"].as_bool(), Some(text.len() > 2 && text.starts_with('%')), "{url}");
    }
}

#[test]
fn classes_are_those_of_the_specifications() {
    let document = explain("http://a/~|?q=%7E'%27#`");
    let classes = |index: usize| {
        let classes = document["notes"][index]["classes"].as_array().unwrap().iter();
        let class = |class: &Value| {
            let name = |name: &str| class[name].as_str().unwrap().to_owned();
            (name("specification"), name("class"), class["must_be_escaped"].as_bool().unwrap())
        };
        classes.map(class).collect::<Vec<_>>()
    };
    let wanted = |rows: [(&str, &str, bool); 4]| {
        rows.map(|(name, class, must)| (name.to_owned(), class.to_owned(), must))
    };
    let bar = [
        ("RFC 1738", "unsafe", true),
        ("RFC 2396", "excluded", true),
        ("RFC 3986", "not allowed", true),
        ("URL Standard", "percent-encode set userinfo", false),
    ];
    assert_eq!(classes(0), wanted(bar));
    let tilde = [
        ("RFC 1738", "unsafe", true),
        ("RFC 2396", "unreserved", false),
        ("RFC 3986", "unreserved", false),
        ("URL Standard", "percent-encode set form", false),
    ];
    assert_eq!(classes(1), wanted(tilde));
    let quote = [
        ("RFC 1738", "unreserved", false),
        ("RFC 2396", "unreserved", false),
        ("RFC 3986", "reserved", false),
        ("URL Standard", "percent-encode set special-query", true),
    ];
    assert_eq!(classes(2), wanted(quote));
    assert_eq!(classes(3), wanted(quote));
}

#[test]
fn findings_browsers_and_servers_are_those_of_the_other_commands() {
    let document = explain("http://a@b@c:99999/%2541/..%2f%00?x=%zz");
    let findings = document["findings"].as_array().unwrap().iter();
    let kinds: Vec<_> = findings.map(|finding| finding["kind"].as_str().unwrap()).collect();
    for kind in ["host", "port", "double", "separator", "nul", "malformed"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert!(document["browsers"]["rejected"].is_string());
    let document = explain("HTTP://A/x/../%7e y");
    assert_eq!(document["browsers"]["url"], "http://a/%7e%20y");
    // The route that each server takes is the one that `pct route` prints.
    let document = explain("http://a/x;y/..%2f?q#f");
    let servers = document["servers"].as_array().unwrap();
    assert!(servers.len() > 2, "{document}");
    let route = printed("route /x;y/..%2f?q", "");
    for server in servers {
        for reading in server["readings"].as_array().unwrap() {
            let (name, answer) = (reading.as_str().unwrap(), server["route"].as_str().unwrap());
            let row = route.lines().find(|line| line.split_whitespace().next() == Some(name));
            assert!(row.is_some_and(|row| row.contains(answer)), "{name} {answer}: {route}");
        }
    }
    assert_eq!(explain("mailto:x")["servers"].as_array().map(Vec::len), Some(0));
    assert_eq!(explain("http://a")["servers"][0]["route"], "/");
}

/// In a path, query or fragment, every byte without a note is unreserved or a delimiter. In a path, the notes of
/// unescaped bytes agree with the sets of the library.
#[test]
fn notes_cover_exactly_the_bytes_that_are_not_plain() {
    let input = urls(3, 30_000);
    let out = ok("explain --format jsonl", &input);
    let mut documents = out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    for (line, _) in lines(&input).filter(|(line, _)| !line.is_empty()) {
        let document: Value =
            serde_json::from_slice(documents.next().expect("a document for each line")).unwrap();
        let parts = split(line);
        let mut covered = vec![false; line.len()];
        for note in document["notes"].as_array().unwrap() {
            let [offset, length] = ["offset", "length"].map(|name| note[name].as_u64().unwrap() as usize);
            covered[offset..offset + length].fill(true);
            let byte = line[offset];
            if note["part"] == "path" && length == 1 && byte != b'%' {
                let is_allowed = set_for(Component::Path, Dialect::Rfc3986).contains(byte);
                assert_eq!(note["escape"] == "must", !is_allowed, "{note}");
            }
        }
        let at = parts.offsets();
        let is_delimiter = |offset: usize| {
            let is_inside = offset > at.path_start && offset < at.query_end || offset > at.query_end;
            !is_inside || offset == at.path_end || b"/&=".contains(&line[offset])
        };
        for (offset, byte) in line.iter().enumerate().filter(|(offset, _)| !covered[*offset]) {
            let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
            assert!(is_plain || is_delimiter(offset), "{offset} {}", String::from_utf8_lossy(line));
        }
        match Profile::Whatwg.canonicalize(line) {
            Ok(url) => assert_eq!(document["browsers"]["url"].as_str().map(str::as_bytes), Some(&url[..])),
            Err(error) => assert_eq!(document["browsers"]["rejected"], error.to_string()),
        }
    }
    assert!(documents.next().is_none());
}

#[test]
fn text_marks_the_noted_bytes_below_the_url() {
    let text = text(&["explain", "--format", "text", "-e", "http://a/%C3%A9 x?q=%2541"], "");
    let (marked, rest) = text.split_at(text.find("\n    0").unwrap());
    assert_eq!(marked, "http://a/%C3%A9 x?q=%2541\n         ^~~~~~^    ^~~");
    for line in [
        "    9  path      %C3%A9  é (U+00E9): must stay escaped",
        "   15  path         space: must be escaped",
        "   20  query     %25  %: must stay escaped",
        "   20  double: %2541 decodes to %41",
        "       browsers: http://a/%C3%A9%20x?q=%2541",
    ] {
        assert!(rest.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(!text.contains('\u{1b}'));
    let control = ok(&["explain", "--format", "text", "-e", "/\u{1b}[2J\u{202e}"], "");
    assert!(!control.contains(&0x1b) && !String::from_utf8_lossy(&control).contains('\u{202e}'));
}

#[test]
fn urls_come_from_arguments_files_and_standard_input() {
    let (_folder, file) = file("urls", "http://a/\r\n\nhttp://b/");
    let file = file.to_str().unwrap();
    let urls = |args: &[&str], input: &str| {
        let out = ok(&[&["explain"], args].concat(), input);
        let documents = serde_json::Deserializer::from_slice(&out).into_iter::<Value>();
        documents.map(|document| document.unwrap()["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(urls(&[], "/x\n/y"), ["/x", "/y"]);
    // An argument that names no file is a URL.
    assert_eq!(urls(&["/c/x", file, "/d/y"], ""), ["/c/x", "http://a/", "http://b/", "/d/y"]);
    assert_eq!(urls(&["-"], "/x"), ["/x"]);
    assert_eq!(urls(&["-0"], "/x\n\0/y\r"), ["/x\n", "/y\r"]);
    assert_eq!(urls(&["-e", file], ""), [file]);
    assert_eq!(urls(&["--format", "json", "-e", "/x", "-e", "/y"], ""), ["/x", "/y"]);
    refused("explain", "x".repeat(3 << 20), "a line of more than 2 MiB is not a URL");
}
