//! Compares the reference, which splits byte by byte, with examples of RFC 3986, and every kernel with it.

use proptest::prelude::*;
use simdpct::batch::Column;
use simdpct_uri::host::HostKind;
use simdpct_uri::internals::{
    split_by_reference, split_column_on, split_each_on, split_lines_on, split_on, visit_each_line_on,
};
use simdpct_uri::{Columns, FlawKind, Lines, Offsets, Parts, Piece, split};
use testkit::guard::{GuardedSlice, PLACES};
use testkit::shapes::Rng;
use testkit::tiers::{scale, tiers};

/// Prints a line with the tiers that this run covers. `ci/cpus` compares the line with the CPU.
#[test]
fn this_run_covers() {
    testkit::tiers::report();
    testkit::tiers::require();
}

/// Joins the parts with their delimiters, as in RFC 3986, section 5.3.
fn joined(parts: &Parts<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(scheme) = parts.scheme() {
        out.extend_from_slice(scheme);
        out.push(b':');
    }
    if let Some(host) = parts.host() {
        out.extend_from_slice(b"//");
        if let Some(userinfo) = parts.userinfo() {
            out.extend_from_slice(userinfo.raw());
            out.push(b'@');
        }
        out.extend_from_slice(host.raw());
        if let Some(port) = parts.port() {
            out.push(b':');
            out.extend_from_slice(port);
        }
    }
    out.extend_from_slice(parts.path());
    if let Some(query) = parts.query() {
        out.push(b'?');
        out.extend_from_slice(query);
    }
    if let Some(fragment) = parts.fragment() {
        out.push(b'#');
        out.extend_from_slice(fragment.raw());
    }
    out
}

/// Splits `url` with every kernel, and compares each result with the result of the reference.
fn check(url: &[u8]) {
    let right = split_by_reference(url);
    assert_eq!(joined(&right), url, "joining {}", url.escape_ascii());
    assert_eq!(split(url), right, "{}", url.escape_ascii());
    for &tier in tiers() {
        assert_eq!(split_on(tier, url), right, "{tier}: {}", url.escape_ascii());
    }
}

fn offsets_of(columns: &Columns, row: usize) -> Offsets {
    Offsets {
        scheme_end: columns.scheme_end()[row] as usize,
        host_start: columns.host_start()[row] as usize,
        host_end: columns.host_end()[row] as usize,
        path_start: columns.path_start()[row] as usize,
        path_end: columns.path_end()[row] as usize,
        query_end: columns.query_end()[row] as usize,
    }
}

/// Splits a column and a text of URLs with every kernel and compares the rows with the reference. The URLs hold no LF.
fn check_many(urls: &[Vec<u8>]) {
    let mut bytes = b"before".to_vec();
    let mut offsets = vec![6_u32];
    for url in urls {
        bytes.extend_from_slice(url);
        offsets.push(u32::try_from(bytes.len()).unwrap());
    }
    let column = Column::new(&bytes, &offsets).unwrap();
    let mut text = urls.join(&b'\n');
    text.push(b'\n');
    for &tier in tiers() {
        let (mut columns, mut lines) = (Columns::new(), Lines::new());
        assert!(columns.is_empty());
        split_column_on(tier, column, &mut columns).unwrap();
        split_lines_on(tier, &text, &mut lines).unwrap();
        let mut each = Vec::new();
        split_each_on(tier, urls.iter().map(|url| Some(&url[..])).chain([None]), |parts| each.push(parts));
        assert_eq!(each.pop(), Some(None));
        assert!(each.into_iter().eq(urls.iter().map(|url| Some(split_by_reference(url)))), "{tier}");
        let mut each_line = Vec::new();
        visit_each_line_on(tier, &text, &mut |parts: Parts<'_>| {
            each_line.push((parts.input().to_vec(), parts.offsets()));
        });
        let same = (0..lines.len()).map(|line| lines.parts(line, &text).unwrap());
        assert!(
            each_line.into_iter().eq(same.map(|parts| (parts.input().to_vec(), parts.offsets()))),
            "{tier}"
        );
        assert_eq!((columns.len(), lines.len()), (urls.len(), urls.len()));
        assert_eq!(columns.is_empty(), urls.is_empty());
        for (row, url) in urls.iter().enumerate() {
            let context = || format!("{tier}: {}", url.escape_ascii());
            let right = split_by_reference(url);
            assert_eq!(offsets_of(&columns, row), right.offsets(), "column, {}", context());
            assert_eq!(columns.parts(row, url), Some(right), "{}", context());
            let line = url.strip_suffix(b"\r").unwrap_or(url);
            assert_eq!(lines.lens()[row] as usize, line.len());
            assert_eq!(lines.parts(row, &text), Some(split_by_reference(line)), "{}", context());
        }
    }
}

/// Makes a URL of random delimiters and other bytes. The share of delimiters differs from URL to URL.
fn random_url(rng: &mut Rng, max: usize) -> Vec<u8> {
    let starts: [&[u8]; 8] = [b"http://", b"https://", b"//", b"file:///", b"a:", b"", b"mailto:", b"/"];
    let mut url = starts[rng.below(8)].to_vec();
    let rare = rng.below(4);
    for _ in 0..rng.below(max) {
        let set: &[u8] =
            if rng.below(1 << (2 * rare)) == 0 { b":/?#@[]:/?#@[]\r%" } else { b"abcxyz019.-+\xC3" };
        url.push(rng.pick(set));
    }
    url
}

#[test]
fn examples_of_the_rfc() {
    for fields in crate::raw_rows(include_str!("../vectors/rfc3986-misc.tsv")) {
        let parts = split(fields[2]);
        match fields[1] {
            "split" => {
                let five = [
                    parts.scheme(),
                    parts.authority(),
                    Some(parts.path()),
                    parts.query(),
                    parts.fragment().map(Piece::raw),
                ];
                assert_eq!(five.map(|part| part.unwrap_or("-")).join(" | "), fields[3], "{}", fields[2]);
            }
            "valid" => assert!(parts.flaws().next().is_none(), "{}", fields[2]),
            _ => check(fields[2].as_bytes()),
        }
    }
}

#[test]
fn odd_inputs() {
    let urls = [
        "",
        ":",
        "1:1_scale",
        "//",
        "///",
        "a:",
        "a://",
        "a:/",
        "://",
        "a:b:c",
        "#",
        "?",
        "#?",
        "?#",
        "/a#b?c#d",
        "//@",
        "//:",
        "//@:",
        "//a@b@c:1:2",
        "//[::1",
        "//[::1]",
        "//[::1]:80",
        "//[::1]x:80",
        "//u:p@[::1]:",
        "//]",
        "a//b",
        "a+b.c-d://h",
        "+a://h",
        "http:/a",
        "http:a//b",
        "//h:",
        "//h:80?q",
        "//h#f",
        "//h?a@b:c",
        "x%3A//y",
    ];
    for url in urls {
        check(url.as_bytes());
    }
    let parts = split("//a@b@c:1:2/");
    assert_eq!(parts.userinfo().unwrap(), "a@b");
    assert_eq!((parts.host().unwrap(), parts.port()), (Piece::new("c"), Some("1:2")));
    assert_eq!(split("1:1_scale").scheme(), None);
    assert_eq!(split("//[::1").host().unwrap(), "[::1");
    assert_eq!(split("//[v1.a]").host_kind(), Some(HostKind::IpFuture));
    assert_eq!(split("//1.2.3.04").host_kind(), Some(HostKind::RegName));
    assert_eq!(split("//h:65535").port_number(), Some(65535));
    assert_eq!(split("//h:65536").port_number(), None);
    assert_eq!(split("//u:p:q@h").password().unwrap(), "p:q");
}

#[test]
fn segments_and_pairs() {
    let segments = |path: &'static str| -> Vec<&str> { split(path).segments().map(Piece::raw).collect() };
    assert!(segments("").is_empty());
    assert_eq!(segments("/"), [""]);
    assert_eq!(segments("/a//b/"), ["a", "", "b", ""]);
    assert_eq!(segments("a/b"), segments("/a/b"));
    let pairs: Vec<_> = split("?a=1=2&&b&=c&d=").query_pairs().collect();
    let raw: Vec<_> = pairs.iter().map(|pair| (pair.name.raw(), pair.value.map(Piece::raw))).collect();
    assert_eq!(raw, [("a", Some("1=2")), ("b", None), ("", Some("c")), ("d", Some(""))]);
    assert!(matches!(pairs[0].name.decode(), std::borrow::Cow::Borrowed(_)));
}

/// Checks one flaw of each kind, and its offset.
#[test]
fn flaws() {
    let flaws =
        |url: &'static str| -> Vec<_> { split(url).flaws().map(|flaw| (flaw.offset, flaw.kind)).collect() };
    assert_eq!(flaws("http://u:p@ex%41mple.com:80/;a=b,c/d:e@f?g/h?i#j/k?l"), []);
    assert_eq!(flaws("http://[::1]:/"), [(13, FlawKind::BadPort)][..0]);
    assert_eq!(flaws("//[::1/"), [(2, FlawKind::UnclosedBracket)]);
    assert_eq!(flaws("//[::g]/"), [(2, FlawKind::BadAddress)]);
    assert_eq!(flaws("//a[b]/"), [(3, FlawKind::Illegal(b'[')), (5, FlawKind::Illegal(b']'))]);
    assert_eq!(flaws("//h:8a/"), [(4, FlawKind::BadPort)]);
    assert_eq!(flaws("1:a:b/c:d"), [(1, FlawKind::ColonInFirstSegment)]);
    assert_eq!(
        flaws("/\u{e9}\n[%4?#%"),
        [
            (1, FlawKind::NonAscii(0xC3)),
            (2, FlawKind::NonAscii(0xA9)),
            (3, FlawKind::Control(b'\n')),
            (4, FlawKind::Illegal(b'[')),
            (5, FlawKind::MalformedEscape),
            (9, FlawKind::MalformedEscape),
        ]
    );
    assert_eq!(flaws("?a#b#"), [(4, FlawKind::Illegal(b'#'))]);
}

/// Tests every delimiter in every lane of a block, alone and after the start of a URL, at lengths around multiples of 64 bytes.
#[test]
fn every_lane() {
    // The scheme ends, or the authority starts, around the end of the first block.
    for len in 55..70 {
        check(&[&vec![b'a'; len], &b"://h:1/p?q#f"[..]].concat());
    }
    let mut room = GuardedSlice::default();
    for len in (0..=70).chain([96, 127, 128, 129, 191, 192, 193]) {
        for at in 0..len {
            for delimiter in *b":/?#@[]" {
                for start in [&b""[..], b"http://", b"//u@", b"//[", b"s:"] {
                    let mut url = vec![b'a'; len];
                    url[at] = delimiter;
                    let mut url = [start, &url].concat();
                    check(&url);
                    url.truncate(len);
                    check(&url);
                }
            }
        }
        let url = [b"http://a.b".repeat(30), b"/c?d#e".to_vec()].concat();
        for place in PLACES {
            let slice = room.put(&url[url.len() - len..], place);
            check(slice);
            check(room.put(&url[..len], place));
        }
    }
}

#[test]
fn random_urls() {
    let mut rng = Rng(14);
    let mut many = Vec::new();
    for round in 0..2000 * scale() {
        let url = random_url(&mut rng, if round % 8 == 0 { 300 } else { 70 });
        check(&url);
        many.push(url);
        if many.len() == 400 {
            check_many(&many);
            many.clear();
        }
    }
}

#[test]
fn lines_without_an_end_and_empty_ones() {
    let cases: [(&[u8], &[&[u8]]); 6] = [
        (b"", &[]),
        (b"\n", &[b""]),
        (b"\r\n\n", &[b"", b""]),
        (b"a", &[b"a"]),
        (b"a\r", &[b"a"]),
        (b"/a\n\n//b/c", &[b"/a", b"", b"//b/c"]),
    ];
    for (text, right) in cases {
        for &tier in tiers() {
            let mut lines = Lines::new();
            lines.split(b"old\nrows\nof another text").unwrap();
            split_lines_on(tier, text, &mut lines).unwrap();
            let got: Vec<_> = (0..lines.len()).map(|line| lines.parts(line, text).unwrap().input()).collect();
            assert_eq!(got, right, "{tier}");
            let mut got = Vec::new();
            visit_each_line_on(tier, text, &mut |parts: Parts<'_>| got.push(parts.input().to_vec()));
            assert_eq!(got, right, "{tier}");
        }
    }
    let many = b"http://example.com/a\n".repeat(5000);
    let mut lines = Lines::new();
    lines.split(&many).unwrap();
    assert_eq!(lines.len(), 5000);
    assert!(lines.columns().path_start().iter().all(|&start| start == 18));
    assert_eq!(lines.parts(5000, &many), None);
    assert_eq!(lines.parts(4999, b"another text"), None);
}

#[test]
fn a_target_that_begins_with_slashes_has_no_host() {
    for path in ["/", "/a", "//", "//a", "///a", "//a:b@c:80/d", "/\\a", "//[::1/", "////"] {
        for query in ["", "?", "?b", "?b//c?d"] {
            for fragment in ["", "#", "#e?f"] {
                let target = [path, query, fragment].concat();
                let parts = simdpct_uri::split_path(target.as_bytes());
                assert_eq!(parts.input(), target.as_bytes());
                assert_eq!(
                    (parts.scheme(), parts.authority(), parts.host(), parts.port()),
                    (None, None, None, None)
                );
                assert_eq!(parts.path(), path.as_bytes(), "{target}");
                assert_eq!(parts.query(), query.strip_prefix('?').map(str::as_bytes), "{target}");
                let right = fragment.strip_prefix('#').map(str::as_bytes);
                assert_eq!(parts.fragment().as_deref(), right, "{target}");
            }
        }
    }
    assert!(simdpct_uri::split_path(b"//a/b?c=d").segments().eq([&b""[..], b"a", b"b"].map(Piece::new)));
    // A target that begins with one slash is a reference.
    assert_eq!(simdpct_uri::split_path(b"/a:b?c"), split(b"/a:b?c"));
    let flaws: Vec<_> = simdpct_uri::split_path(b"//a:x/ ?").flaws().map(|flaw| flaw.offset).collect();
    assert_eq!(flaws, [6]);
}

proptest! {
    #[test]
    fn any_bytes(url in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&url);
    }

    #[test]
    fn uri_like(url in "([a-z0-9+]{0,8}:)?(//([a-z:]{0,5}@){0,2}[a-z0-9.\\[\\]:-]{0,80}(:[0-9a-z]{0,6})?)?[a-z/:@.]{0,80}(\\?[a-z?/=]{0,80})?(#[a-z#?]{0,20})?") {
        check(url.as_bytes());
    }
}
