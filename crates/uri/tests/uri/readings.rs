//! Compares the readings with the recorded answers of the servers.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::{env, fs, iter};

use simdpct::Tier;
use simdpct_uri::internals::is_plain_on;
use simdpct_uri::reading::{Agreement, NAMED, Outcome, Reading, agreement, find, is_ambiguous};

use crate::raw_rows;

const RECORD: &str = include_str!("../vectors/readings.tsv");

/// The answers of servers that their readings do not give: the name, the targets, and the reason.
/// `…` is the rest of a long target.
const EXCEPTIONS: &[(&str, &[&str], &str)] = &[
    (
        "caddy-2.6 caddy-2.6-regexp caddy-2.6-placeholder caddy-2.6-static go-1.19 go-1.19-servemux go-1.19-static php-8.2 axum",
        &["h:80"],
        "the authority form has no path, or an opaque one",
    ),
    ("flask-3.1 waitress-3 squid-5.7", &["h:80"], "`h:` is removed as a scheme"),
    (
        "apache-2.4-static apache-2.4-static-on caddy-2.6-static go-1.19-static tower-http-0.6",
        &["/aaaaaaaa…", "/%61%61%61…"],
        "the file system rejects names of more than 255 bytes",
    ),
    ("apache-2.4-nocanon", &["http://h/a/../b"], "the absolute form is normalized before it is passed on"),
    ("haproxy-2.6-normalize", &["/a%%41b"], "an escape is decoded twice"),
    ("caddy-2.6", &["/\\\\a", "/%5C"], "only the matcher `/*` matches"),
    ("caddy-2.6-regexp", &["http://h", "http://h?x"], "the empty path becomes `.`"),
    ("h2o-2.2 go-1.19 fastify-5 squid-5.7", &["*"], "the target `*` is passed on as another one"),
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
    ("aiohttp-3", &["/a#b?c"], "a fragment before a query is part of the path"),
    ("tornado-6", &["/a\\xc3\\xa9", "/a\\xffb"], "raw bytes are Latin-1 in the path and UTF-8 in the group"),
];

/// An answer of a server. `None` is a text that could not be observed.
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
            (Answer::Refused(_), Outcome::Refused { .. }) => true,
            _ => false,
        }
    }
}

/// Calls `each` with all recorded answers.
fn record(mut each: impl FnMut(&str, &[u8], Answer)) {
    let mut names: Vec<&str> = Vec::new();
    let mut target = Vec::new();
    for row in raw_rows(RECORD) {
        match row[..] {
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

/// Replaces `\xNN` and `\\`.
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
        let reading = find(name).unwrap_or_else(|| panic!("no reading has the name {name}")).reading;
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
        if let (Answer::Refused(asked), Outcome::Refused { status, .. }) = (&answer, &outcome) {
            statuses[usize::from(asked == status)] += 1;
        }
    });
    assert!(failures.is_empty(), "{failures}");
    assert_eq!(answers, NAMED.len() * 190);
    // At least 99.5 % of the answers.
    assert!(exceptions * 1000 <= answers * 5, "{exceptions} of {answers}");
    let [wrong, right] = statuses;
    println!("{exceptions} exceptions of {answers} answers; {right} of {} statuses", wrong + right);
    assert!(right >= 50 * wrong, "{wrong} of {} statuses differ", wrong + right);
}

/// Calls `each` with the request targets of `vectors/readings.tsv`, and with targets that are combined from pieces that servers
/// read differently.
fn targets(mut each: impl FnMut(&[u8])) {
    record(|name, target, _| {
        if name == NAMED[0].name {
            each(target);
        }
    });
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "/", "//", ".", "..", "a", "B", ";", "%2f", "%5C", "\\", "%2e", "%25", "41", "%41", "%", "%u0041", "%00", "%0a", "%20", "%3B",
        "%3f", "%23", "%ff", "%c3%a9", "%C0%AF", "\u{e9}", "?", "#", "+", "=", ":", "*", "http://h", "\t", "[", "|", "~", "%7e",
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
    let defaults: Vec<_> = NAMED.iter().filter(|named| named.is_default).collect();
    assert_eq!(defaults.len(), 18);
    let (mut accepted, mut all) = (0, 0);
    targets(|target| {
        all += 1;
        if let Outcome::Read { route, passed_on: Some(passed_on) } = Reading::STRICT.read(target) {
            accepted += 1;
            let text = String::from_utf8_lossy(target);
            assert!(!is_ambiguous(&passed_on), "{text}");
            for named in &defaults {
                if let Some(other) = named.reading.read(&passed_on).route() {
                    assert!(
                        agreement(&route, other) < Agreement::Different,
                        "{text}: {}: {other:?}",
                        named.name
                    );
                }
            }
        }
    });
    assert!(accepted * 20 > all, "{accepted} of {all}");
}

/// Nothing panics, whatever the parameters.
#[test]
fn chains_read_any_target() {
    targets(|target| {
        for front in NAMED {
            let (first, second) = front.reading.then(&NAMED[0].reading).read(target);
            assert_eq!(second.is_some(), matches!(first, Outcome::Read { passed_on: Some(_), .. }));
        }
    });
}

#[test]
fn texts_that_do_not_change_are_borrowed() {
    for named in NAMED.iter().chain(find("strict")) {
        match named.reading.read("/docs/index.html?q=1") {
            Outcome::Read { route: Cow::Borrowed(route), passed_on: None | Some(Cow::Borrowed(_)) } => {
                assert_eq!(route, b"/docs/index.html", "{}", named.name);
            }
            other => panic!("{}: {other:?}", named.name),
        }
    }
}

/// A reading that drops the byte 0x7F, which is not in a plain target, gives the same answer without the quick scan.
#[test]
fn plain_targets_are_read_by_the_rules() {
    let paths = [
        "/",
        "/a",
        "/A/b.c",
        "/a./b.",
        "/a/",
        "/a:b@c+d/e-f_g~h",
        "/0123456789abcde",
        "/0123456789abcdef/ghi",
    ];
    for (named, path) in NAMED.iter().flat_map(|named| paths.map(|path| (named, path))) {
        for query in ["", "?", "?a=%41&b"] {
            let slow = Reading { drop_raw: named.reading.drop_raw.add(b"\x7F"), ..named.reading };
            let (target, other) = (format!("{path}{query}"), format!("{path}\x7F{query}"));
            assert_eq!(named.reading.read(&target), slow.read(&other), "{} {target}", named.name);
        }
    }
}

/// Every kernel finds each byte, and each byte after a slash, that is not plain, at each place of a block and across blocks.
#[test]
fn kernels_find_paths_that_are_not_plain() {
    let is_plain = |path: &[u8]| {
        let is_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"&'()*+,-./:=@_~".contains(byte);
        path.starts_with(b"/")
            && path.iter().all(is_byte)
            && !path.windows(2).any(|pair| matches!(pair, b"//" | b"/."))
    };
    for tier in Tier::available() {
        for len in (0..70).chain(126..132) {
            let letters: Vec<u8> = iter::once(b'/').chain(iter::repeat_n(b'a', len)).collect();
            assert!(is_plain_on(tier, &letters), "{tier}: {len} letters");
            for at in 0..=len {
                let mut path = letters.clone();
                for byte in 0..=255 {
                    path[at] = byte;
                    assert_eq!(
                        is_plain_on(tier, &path),
                        is_plain(&path),
                        "{tier}: {byte:02X} at {at} of {len}"
                    );
                }
                for pair in ["//", "/.", "./", "a/"] {
                    path.splice(at..(at + 2).min(path.len()), pair.bytes());
                    assert_eq!(is_plain_on(tier, &path), is_plain(&path), "{tier}: {pair} at {at} of {len}");
                }
            }
        }
    }
}

/// The matrix of docs/readings.md is written from the readings.
#[test]
fn the_matrix_of_the_documentation_is_current() {
    const TARGETS: [&str; 9] =
        ["/a%2Fb", "/a/../b", "/a/..;/b", "/a//b", "/a/%2e%2e/b", "/a%5Cb", "/a%252Fb", "/a%zz", "/a%00b"];
    let mut matrix =
        format!("| reading | `{}` |\n|---|{}\n", TARGETS.join("` | `"), "---|".repeat(TARGETS.len()));
    for named in NAMED.iter().filter(|named| named.is_default) {
        let cell = |target: &&str| match named.reading.read(*target) {
            Outcome::Read { route, .. } if *route == *target.as_bytes() => "=".to_owned(),
            Outcome::Read { route, .. } => format!("`{}`", route.escape_ascii()).replace(r"\\", r"\"),
            Outcome::Redirect(to) => format!("to `{}`", to.escape_ascii()),
            Outcome::Refused { status, .. } => status.to_string(),
        };
        let cells: Vec<String> = TARGETS.iter().map(cell).collect();
        writeln!(matrix, "| `{}` | {} |", named.name, cells.join(" | ")).expect("a string");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/readings.md");
    let text = fs::read_to_string(path).expect("the documentation");
    let (start, rest) = text.split_once("<!-- matrix").expect("the start of the matrix");
    let (comment, rest) = rest.split_once('\n').expect("a line");
    let (_, end) = rest.split_once("<!-- end").expect("the end of the matrix");
    let current = format!("{start}<!-- matrix{comment}\n{matrix}<!-- end{end}");
    if env::var_os("SIMDPCT_BLESS").is_some() {
        fs::write(path, &current).expect("the documentation");
    }
    assert!(text == current, "docs/readings.md has an old matrix: run this test with SIMDPCT_BLESS=1");
}
