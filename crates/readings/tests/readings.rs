//! Compares readings, which describe how servers read request targets, with the recorded answers of the servers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::mem::discriminant;
use std::path::Path;
use std::{env, fs, iter};

use simdpct::Tier;
use simdpct_readings::{
    Agreement, Outcome, READINGS, Reading, STRICT, agreement, find, is_ambiguous, plain_path,
};

const RECORD: &str = include_str!("vectors/readings.tsv");

/// The answers of servers that differ from those of their readings: names of readings, targets, and the reason.
/// `…` stands for the rest of a long target.
const EXCEPTIONS: &[(&str, &[&str], &str)] = &[
    (
        "caddy-2.6 caddy-2.6-regexp caddy-2.6-placeholder caddy-2.6-static go-1.19 go-1.19-servemux go-1.19-static php-8.2 axum",
        &["h:80"],
        "the authority form has no path, or an opaque one",
    ),
    ("squid-5.7", &["h:80"], "`h:` is removed as a scheme"),
    (
        "apache-2.4-static apache-2.4-static-on caddy-2.6-static go-1.19-static tower-http-0.6",
        &["/aaaaaaaa…", "/%61%61%61…"],
        "the file system rejects names of more than 255 bytes",
    ),
    ("apache-2.4-nocanon", &["http://h/a/../b"], "the absolute form is normalized before it is passed on"),
    ("haproxy-2.6-normalize", &["/a%%41b"], "an escape is decoded twice"),
    ("caddy-2.6", &["/\\\\a", "/%5C"], "only the matcher `/*` matches"),
    ("caddy-2.6-regexp", &["http://h", "http://h?x"], "the empty path becomes `.`"),
    ("h2o-2.2 go-1.19 fastify-5", &["*"], "the target `*` is passed on as another one"),
    ("puma-5.6 sinatra-3.0", &["*#f"], "a fragment after `*` is removed, although other text is rejected"),
    (
        "fastify-5 varnish-7.1",
        &["http://h", "http://h?x"],
        "an absolute form without a path is not recognized",
    ),
    (
        "varnish-7.1 trafficserver-9.2",
        &["https://h/a"],
        "the scheme `https` is not recognized, or is rejected",
    ),
    ("trafficserver-9.2", &["http://h"], "a slash is passed on for an empty path"),
    ("squid-5.7", &["a/b"], "the first segment is read as a host"),
    ("flask-3.1", &["http://h", "http://h?x"], "a redirect adds the slash"),
    ("flask-3.1 starlette", &["?x"], "a redirect adds the slash"),
    ("http-server-3.11", &["/a%2F"], "the file is looked for without the slash"),
    (
        "http-server-3.11",
        &["/a\\x09b"],
        "the target is rejected, although the parser splits only at line ends",
    ),
    ("http-server-3.11", &["/a%ed%a0%80"], "the connection is closed: a surrogate has no file name"),
];

/// An answer of a server. If `route` is `None`, it was not observed. If `passed_on` is `None`, nothing was passed on.
#[derive(Debug, PartialEq)]
enum Answer {
    Read { route: Option<Vec<u8>>, passed_on: Option<Vec<u8>> },
    Redirect(Vec<u8>),
    Refused(u16),
}

impl Answer {
    fn agrees_with(&self, outcome: &Outcome<'_>) -> bool {
        match (self, outcome) {
            (Answer::Read { route, passed_on }, Outcome::Read { route: read, passed_on: passed }) => {
                route.as_ref().is_none_or(|route| **route == **read)
                    && passed_on.as_deref() == passed.as_deref()
            }
            (Answer::Redirect(to), Outcome::Redirect(read)) => {
                // The `?` of an empty query is not compared.
                to.strip_suffix(b"?").unwrap_or(to) == read.strip_suffix(b"?").unwrap_or(read)
            }
            (Answer::Refused(_), Outcome::Rejected { .. }) => true,
            _ => false,
        }
    }
}

/// Calls `each` with all recorded answers.
fn record(mut each: impl FnMut(&str, &[u8], Answer)) {
    let mut names: Vec<&str> = Vec::new();
    let mut target = Vec::new();
    for row in RECORD.lines().filter(|line| !line.starts_with("# ")) {
        match row.split('\t').collect::<Vec<_>>()[..] {
            ["readings", all] => names = all.split(' ').collect(),
            ["target", text] => target = bytes(text),
            [kind, numbers, ref texts @ ..] => {
                let text = |index: usize| match texts.get(index).copied() {
                    None | Some("?") => None,
                    Some("=") => Some(target.clone()),
                    Some(text) => Some(bytes(text)),
                };
                for index in numbers.split(',').flat_map(range) {
                    let answer = match kind {
                        "read" => Answer::Read { route: text(0), passed_on: text(1) },
                        "redirect" => Answer::Redirect(text(0).expect("a target")),
                        "refused" => Answer::Refused(texts[0].parse().expect("a status")),
                        _ => panic!("{kind}"),
                    };
                    each(names[index], &target, answer);
                }
            }
            _ => panic!("{row:?}"),
        }
    }
}

fn range(text: &str) -> impl Iterator<Item = usize> {
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    number(first)..=number(last)
}

/// Decodes the escapes `\xNN` and `\\`.
fn bytes(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    iter::from_fn(move || {
        let (byte, len) = match *rest {
            [] => return None,
            [b'\\', b'x', high, low, ..] => {
                (simdpct::decode_escape(&[b'%', high, low]).expect("two digits"), 4)
            }
            [b'\\', ..] => (b'\\', 2),
            [byte, ..] => (byte, 1),
        };
        rest = &rest[len..];
        Some(byte)
    })
    .collect()
}

#[test]
fn readings_give_the_recorded_answers() {
    let (mut answers, mut exceptions, mut statuses, mut failures) = (0, 0, [0, 0], String::new());
    record(|name, target, answer| {
        let reading = find(name).unwrap_or_else(|| panic!("no reading has the name {name}"));
        let outcome = reading.read(target);
        let text = String::from_utf8_lossy(target);
        let is_exception = EXCEPTIONS.iter().any(|&(names, targets, _)| {
            let is_target = |&text: &&str| match text.strip_suffix('…') {
                Some(start) => target.len() > 1000 && target.starts_with(start.as_bytes()),
                None => bytes(text) == target,
            };
            names.split(' ').any(|other| other == name) && targets.iter().any(is_target)
        });
        answers += 1;
        exceptions += usize::from(is_exception);
        if answer.agrees_with(&outcome) == is_exception {
            let text: String = format!("{name} {text:?} {answer:?}: {outcome:?}").chars().take(200).collect();
            writeln!(failures, "{text}").expect("a string");
        }
        if let (Answer::Refused(asked), Outcome::Rejected { status, .. }) = (&answer, &outcome) {
            statuses[usize::from(asked == status)] += 1;
        }
    });
    assert!(failures.is_empty(), "{failures}");
    // The page docs/readings.md has these numbers.
    assert_eq!((answers, answers - exceptions), (12_918, 12_872));
    assert_eq!(statuses, [41, 1784], "statuses that differ, and those that are the same");
}

/// Targets that the record lacks. The answers are those of the servers in the versions of the table.
#[test]
fn rare_targets_are_routed_as_by_servers() {
    for (names, target, route) in [
        ("go-1.19-servemux caddy-2.6 flask-3.1 waitress-3", "http:/admin", "/admin"),
        ("go-1.19-servemux flask-3.1", "x:/admin", "/admin"),
        ("starlette", "/admin%0a", "/admin"),
        ("node-new-url", "http:///x/admin", "/admin"),
        ("node-new-url", "http:////x/admin", "/admin"),
        ("node-new-url", "http://h/a//b", "/a//b"),
        ("express-4 express-5 koa-3", r"/admin\x#y", "/admin/x"),
        ("express-5 koa-3", r"/admin\x", r"/admin\x"),
        ("express-5", r"http://x/\admin", "//admin"),
        ("envoy-1.39-normalize", r"/a/..;x\b/c", "/c"),
        ("envoy-1.39-normalize", r"/\..;x", "//..;x"),
        ("envoy-1.39-unescape", "/..;a%2fa", "/a"),
        ("envoy-1.39-unescape", "/%2f..;", "/"),
        ("envoy-1.39-unescape envoy-1.39-reject envoy-1.39-redirect", "///", "//"),
        ("node-url-parse", "/@'", "/@%27"),
        ("node-url-parse", "/a'#f", "/a%27"),
        ("node-url-parse", "///'", "///%27"),
        ("node-url-parse", r"/\\'", "///%27"),
        ("node-url-parse", "http://h/'", "/%27"),
        ("node-url-parse", "*'", "*%27"),
        ("node-url-parse koa-3", "//'?@", "//'"),
        ("node-url-parse express-5 koa-3", "//u@h/admin#f", "/admin"),
        ("node-url-parse", r"/\u@v@h:80/admin", "/admin"),
        ("node-url-parse", "//u@h%FF*a", "%FF*a"),
        ("node-url-parse express-5 koa-3", "http://x//u@h/a#", "//u@h/a"),
        ("node-url-parse express-5 koa-3", "//@h/a#", "//@h/a"),
        ("node-url-parse express-5 koa-3", "//u@/a#", "//u@/a"),
        ("express-5", "//u@h/admin", "//u@h/admin"),
        ("envoy-1.39", "HTTPS://u@h/a", "/a"),
        ("nginx-1.22", "http://[::1]:80/a", "/a"),
        ("nginx-1.22", "ftp://h/a", "/a"),
        ("node-20", "http:///a", "http:///a"),
        ("koa-3", "http://h?#^", "/"),
    ] {
        for name in names.split(' ') {
            let outcome = find(name).unwrap().read(target);
            assert_eq!(
                outcome.route().map(String::from_utf8_lossy).as_deref(),
                Some(route),
                "{name} {target}"
            );
        }
    }
    for (names, targets) in [
        ("starlette", "/admin%0a%0a"),
        ("envoy-1.39-reject", "/docs/..;%5c"),
        ("nginx-1.22", "http://u@h/a"),
        ("nginx-1.22 envoy-1.39", "http:///a http:// http://:80/a http://u@/a"),
        ("nginx-1.22 envoy-1.39 node-20 node-new-url node-url-parse", "http://h^admin http://h#f"),
        ("express-5 koa-3 fastify-5", "http://h^admin http://h#f"),
        ("envoy-1.39", "ftp://h/a x://h"),
    ] {
        for target in targets.split(' ') {
            for name in names.split(' ') {
                assert_eq!(find(name).unwrap().read(target).route(), None, "{name} {target}");
            }
        }
    }
    let tornado = find("tornado-6").unwrap();
    assert_eq!(tornado.read(b"/a\xff").passed_on(), Some("/a\u{ff}".as_bytes()));
    assert_eq!(tornado.read("/%C3%A9").passed_on(), Some("/\u{e9}".as_bytes()));
    assert_eq!(tornado.read("/%FF").passed_on(), None);
    let redirect = find("go-1.19-servemux").unwrap().read("/x/../a!b'(c)*");
    assert_eq!(redirect, Outcome::Redirect(b"/a%21b%27%28c%29%2A".to_vec()));
}

/// Calls `each` with the request targets of `vectors/readings.tsv`, and with targets that are combined from pieces that servers
/// read differently.
fn targets(mut each: impl FnMut(&[u8])) {
    record(|name, target, _| {
        if name == READINGS[0].name {
            each(target);
        }
    });
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "/", "//", ".", "..", "a", "B", ";", "%2f", "%5C", "\\", "%2e", "%25", "41", "%41", "%", "%u0041", "%00", "%0a", "%20", "%3B",
        "%3f", "%23", "%ff", "%c3%a9", "%C0%AF", "\u{e9}", "?", "#", "+", "=", ":", "*", "http://h", "\t", "[", "|", "~", "%7e",
        "http:/a", "x:/", "http:///h",
    ];
    let mut state = 1_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for _ in 0..10_000 {
        let first = if random(8) == 0 { "" } else { "/" };
        let count = 1 + random(8);
        let rest: String = (0..count).map(|_| PIECES[random(PIECES.len())]).collect();
        each(format!("{first}{rest}").as_bytes());
    }
}

#[test]
fn defaults_agree_on_all_that_strict_accepts() {
    let defaults: Vec<_> = READINGS.iter().filter(|reading| reading.is_default).collect();
    assert_eq!(defaults.len(), 18);
    let (mut accepted, mut all) = (0, 0);
    targets(|target| {
        all += 1;
        if let Outcome::Read { route, passed_on: Some(passed_on) } = STRICT.read(target) {
            accepted += 1;
            let text = String::from_utf8_lossy(target);
            assert!(!is_ambiguous(&passed_on), "{text}");
            for reading in &defaults {
                if let Some(other) = reading.read(&passed_on).route() {
                    let found = agreement(&route, other);
                    assert!(found < Agreement::Different, "{text}: {}: {other:?}", reading.name);
                }
            }
        }
    });
    assert!(accepted * 20 > all, "{accepted} of {all}");
}

#[test]
fn bytes_that_are_not_utf8_are_not_alike() {
    let different: [(&[u8], &[u8]); 5] = [
        (b"/%FF", b"/%FE"),
        (b"/\xff", "/\u{fffd}".as_bytes()),
        (b"/a\xc3", b"/a\xe4"),
        (b"/\xff\xef\xbf\xbd", b"/\xef\xbf\xbd\xff"),
        (b"/%25FF", b"/%FF"),
    ];
    for (one, other) in different {
        assert_eq!(agreement(one, other), Agreement::Different, "{one:?} {other:?}");
    }
    assert_eq!(agreement(b"/A%FFB.", b"/a\xffb/"), Agreement::Spelling);
    assert!(is_ambiguous(b"/%FF%zz"));
}

/// Checks that case is compared as servers change it. `ToLower` of Go, with which Caddy does, has no rule for the end of a word.
#[test]
fn a_sigma_at_the_end_of_a_word_is_one_as_any_other() {
    assert_eq!(agreement("/ΑΣ".as_bytes(), "/ασ".as_bytes()), Agreement::Spelling);
    assert_eq!(agreement("/ΑΣ".as_bytes(), "/ας".as_bytes()), Agreement::Different);
    let caddy = find("caddy-2.6").expect("a reading");
    assert_eq!(caddy.read("/ΑΣ").route(), Some("/ασ".as_bytes()));
    assert!(!is_ambiguous(b"/%CE%91%CE%A3"));
}

#[test]
fn chains_read_any_target() {
    targets(|target| {
        for front in READINGS {
            let outcome = front.read(target);
            let is_read = matches!(outcome, Outcome::Read { passed_on: Some(_), .. });
            assert_eq!(outcome.passed_on().map(|text| READINGS[0].read(text)).is_some(), is_read);
        }
    });
}

#[test]
fn texts_that_do_not_change_are_borrowed() {
    for reading in READINGS.iter().chain(find("strict")) {
        match reading.read("/docs/index.html?q=1") {
            Outcome::Read { route: Cow::Borrowed(route), passed_on: None | Some(Cow::Borrowed(_)) } => {
                assert_eq!(route, b"/docs/index.html", "{}", reading.name);
            }
            other => panic!("{}: {other:?}", reading.name),
        }
    }
}

/// Checks that each kind of step matters: without it, some reading answers some target differently.
#[test]
fn every_step_matters() {
    let mut all = Vec::new();
    targets(|target| all.push(target.to_vec()));
    let mut steps = HashMap::new();
    for reading in READINGS.iter().chain([&STRICT]) {
        for at in 0..reading.steps().len() {
            let matters = steps.entry(discriminant(&reading.steps()[at])).or_insert(false);
            if !*matters {
                let mut rest = reading.steps().to_vec();
                rest.remove(at);
                let other = Reading::new("", rest.leak());
                *matters =
                    all.iter().any(|target| reading.read_by_steps(target) != other.read_by_steps(target));
            }
        }
    }
    assert!(steps.len() > 60, "{}", steps.len());
    for step in READINGS.iter().flat_map(Reading::steps) {
        assert!(steps[&discriminant(step)], "{step}");
    }
}

/// Compares `plain_path` on every tier with a check byte by byte, for each byte and some pairs at each offset.
#[test]
fn kernels_find_plain_paths() {
    let plain_path_by_bytes = |target: &[u8]| {
        let len = target.iter().position(|&byte| byte == b'?').unwrap_or(target.len());
        let (path, query) = target.split_at(len);
        let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"&'()*+,-./:=@_~".contains(byte);
        let is_plain = path.starts_with(b"/")
            && path.iter().all(is_path)
            && !path.windows(2).any(|pair| matches!(pair, b"//" | b"/."))
            && query.iter().all(|byte| is_path(byte) || b"!$%;?".contains(byte));
        is_plain.then_some(len)
    };
    for tier in Tier::available() {
        for len in (0..70).chain(126..132) {
            let letters: Vec<u8> = iter::once(b'/').chain(iter::repeat_n(b'a', len)).collect();
            let same = |target: &[u8]| {
                let path = plain_path(tier, target).map(<[u8]>::len);
                assert_eq!(path, plain_path_by_bytes(target), "{tier}: {}", target.escape_ascii());
            };
            same(&letters);
            for at in 0..=len {
                let mut path = letters.clone();
                for byte in 0..=255 {
                    path[at] = byte;
                    same(&path);
                }
                for pair in ["//", "/.", "./", "a/", "?/", "?.", "/?"] {
                    path.splice(at..(at + 2).min(path.len()), pair.bytes());
                    same(&path);
                }
                let mut query = letters.clone();
                query[len / 3] = b'?';
                for byte in b"/.?%!;#\\\xff \"[" {
                    query[at] = *byte;
                    same(&query);
                }
            }
        }
    }
}

/// Compares `read`, which takes no steps for plain targets, with `read_by_steps`, for all bytes at all offsets.
#[test]
fn plain_targets_are_read_by_the_steps() {
    let same = |target: &[u8]| {
        for reading in READINGS.iter().chain([&STRICT]) {
            let (read, by_steps) = (reading.read(target), reading.read_by_steps(target));
            assert_eq!(read, by_steps, "{} {}", reading.name, target.escape_ascii());
        }
    };
    targets(same);
    for len in (0..20).chain(30..36) {
        let letters: Vec<u8> = iter::once(b'/').chain(iter::repeat_n(b'a', len)).collect();
        for at in 0..=len {
            let mut path = letters.clone();
            for byte in 0..=255 {
                path[at] = byte;
                same(&path);
                if len < 8 {
                    same(&[b"/A", b"?".as_slice(), &path].concat());
                    same(&[b"/A?", &path[1..]].concat());
                }
            }
            for pair in ["//", "/.", "./", "a/"] {
                path.splice(at..(at + 2).min(path.len()), pair.bytes());
                same(&path);
            }
        }
    }
}

/// Checks that docs/readings.md has the matrix and the steps of these readings. `SIMDPCT_BLESS=1` updates the page.
#[test]
fn the_documentation_is_current() {
    const TARGETS: [&str; 9] =
        ["/a%2Fb", "/a/../b", "/a/..;/b", "/a//b", "/a/%2e%2e/b", "/a%5Cb", "/a%252Fb", "/a%zz", "/a%00b"];
    let mut matrix =
        format!("| reading | `{}` |\n|---|{}\n", TARGETS.join("` | `"), "---|".repeat(TARGETS.len()));
    let mut steps = String::new();
    for reading in READINGS.iter().filter(|reading| reading.is_default).chain([&STRICT]) {
        let cell = |target: &&str| match reading.read(*target) {
            Outcome::Read { route, .. } if *route == *target.as_bytes() => "=".to_owned(),
            Outcome::Read { route, .. } => format!("`{}`", route.escape_ascii()).replace(r"\\", r"\"),
            Outcome::Redirect(to) => format!("to `{}`", to.escape_ascii()),
            Outcome::Rejected { status, .. } => status.to_string(),
        };
        let cells: Vec<String> = TARGETS.iter().map(cell).collect();
        if reading.is_default {
            writeln!(matrix, "| `{}` | {} |", reading.name, cells.join(" | ")).expect("a string");
        }
        let list: Vec<String> = reading.steps().iter().map(ToString::to_string).collect();
        let item = format!("- `{}`: {}", reading.name, list.join("; "));
        // Lines of pages have at most 120 characters.
        let mut width = 0;
        for word in item.split(' ') {
            let gap = match width + word.chars().count() {
                len if len == word.chars().count() => "",
                len if len < 120 => " ",
                _ => "\n  ",
            };
            width = if gap == "\n  " { 2 } else { width + gap.len() } + word.chars().count();
            steps.extend([gap, word]);
        }
        steps.push('\n');
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/readings.md");
    let text = fs::read_to_string(path).expect("the documentation");
    let mut current = text.clone();
    for (name, part) in [("matrix", matrix), ("steps", steps)] {
        let (start, rest) = current.split_once(&format!("<!-- {name}")).expect("the start");
        let (comment, rest) = rest.split_once('\n').expect("a line");
        let (_, end) = rest.split_once("<!-- end").expect("the end");
        current = format!("{start}<!-- {name}{comment}\n{part}<!-- end{end}");
    }
    if env::var_os("SIMDPCT_BLESS").is_some() {
        return fs::write(path, &current).expect("the documentation");
    }
    assert!(text == current, "docs/readings.md is old: run this test with SIMDPCT_BLESS=1");
}

/// Checks that the pages have the numbers of readings and servers that the table has.
#[test]
fn pages_count_the_servers() {
    let servers: HashSet<&str> = READINGS.iter().map(|reading| reading.server).collect();
    let (configurations, servers) = (READINGS.len(), servers.len());
    for (page, count) in [
        ("README.md", format!("{configurations} configurations of {servers} servers")),
        ("tests/vectors/readings.tsv", format!("{configurations} configurations of {servers} servers")),
        ("../../docs/readings.md", format!("{configurations} readings of {servers} servers")),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        assert!(fs::read_to_string(path).expect("the page").contains(&count), "{page}: {count}");
    }
}
