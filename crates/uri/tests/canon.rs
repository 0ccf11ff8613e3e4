//! Canonical forms: published vectors, and the scans against the slow paths.

use proptest::prelude::*;
use simdpct_uri::canon::{Profile, Reason, Refused};
use testkit::shapes::Rng;
use testkit::tiers::{scale, tiers};

fn canon(profile: Profile, url: &[u8]) -> Result<Vec<u8>, Refused> {
    profile.canonicalize(url).map(std::borrow::Cow::into_owned)
}

/// One URL at a time, each alone, by a tier that proves nothing: the slow path.
fn slow(profile: Profile, url: &[u8]) -> Result<Vec<u8>, Refused> {
    let scalar = simdpct::Tier::find("scalar").expect("it is always there");
    let (mut out, mut refused) = (Vec::new(), None);
    profile.canonicalize_lines_on(scalar, url, &mut out, |_, why| refused = Some(why));
    refused.map_or(Ok(out), Err)
}

fn text(result: Result<Vec<u8>, Refused>) -> String {
    String::from_utf8(result.expect("not refused")).expect("UTF-8")
}

#[test]
fn examples_of_the_rfc() {
    let mut cases = 0;
    for line in include_str!("vectors/rfc3986-misc.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let profile = match fields[1] {
            "normalize" => Profile::Rfc3986,
            "scheme-based" => Profile::Rfc3986Scheme,
            _ => continue,
        };
        assert_eq!(text(canon(profile, fields[2].as_bytes())), fields[3], "{}", fields[2]);
        cases += 1;
    }
    assert_eq!(cases, 6);
}

#[test]
fn rfc3986() {
    let cases = [
        (
            "HTTP://U%41:p@EX%41MPLE.%c3%a9.com:/%7e/%2E/a%2fb/%2e%2E/c?%7E%2f#%7E",
            "http://UA:p@example.%C3%A9.com/~/c?~%2F#~",
        ),
        ("http://h/a%252F", "http://h/a%252F"),
        ("http://h/%zz%4", "http://h/%zz%4"),
        ("http://[2001:DB8::A]/", "http://[2001:db8::a]/"),
        ("http://h", "http://h"),
        ("http://h:80/a b|\u{e9}", "http://h:80/a b|\u{e9}"),
        ("../a/./b", "../a/./b"),
        ("/../a/./b", "/a/b"),
        ("%61:b", "./a:b"),
        ("/a/..//b", "/.//b"),
        ("urn:A:b", "urn:A:b"),
        ("a:b/../c", "a:/c"),
        ("", ""),
        ("http://h/a?/../b#/./c", "http://h/a?/../b#/./c"),
    ];
    for (url, right) in cases {
        assert_eq!(text(canon(Profile::Rfc3986, url.as_bytes())), right, "{url}");
        assert_eq!(text(canon(Profile::Rfc3986, right.as_bytes())), right, "again: {url}");
    }
    let refused = [
        ("http://a@b@c/", 8, Reason::SeveralAt),
        ("http://[::1/", 7, Reason::Host),
        ("http://a[b/", 8, Reason::Host),
        ("http://h:abc/", 9, Reason::Port),
        ("http://h:99999/", 9, Reason::Port),
        ("http://h/\t", 9, Reason::Control(b'\t')),
        ("http://h/\n", 9, Reason::Control(b'\n')),
        ("http://h/a\r", 10, Reason::Control(b'\r')),
        ("http://h/\0\r", 9, Reason::Control(0)),
    ];
    for (url, offset, reason) in refused {
        let why = canon(Profile::Rfc3986, url.as_bytes()).unwrap_err();
        assert_eq!((why.offset, why.reason), (offset, reason), "{url:?}");
        let mut out = b"kept".to_vec();
        assert_eq!(Profile::Rfc3986.canonicalize_append(url, &mut out), Err(why));
        assert_eq!(out, b"kept");
    }
}

#[test]
fn rfc3986_by_scheme() {
    let cases = [
        ("HTTPS://h:443", "https://h/"),
        ("http://h:00080?q", "http://h/?q"),
        ("http://h:443/", "http://h:443/"),
        ("foo://h:80", "foo://h:80"),
        ("//h:80", "//h:80"),
        ("wss://h:443#f", "wss://h/#f"),
    ];
    for (url, right) in cases {
        assert_eq!(text(canon(Profile::Rfc3986Scheme, url.as_bytes())), right, "{url}");
    }
}

#[test]
fn safe_browsing() {
    let mut cases = 0;
    for line in include_str!("vectors/safe-browsing-4.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (url, right) = line.split_once('\t').expect("two fields");
        let url = url.replace("\\t", "\t").replace("\\r", "\r").replace("\\n", "\n");
        assert_eq!(text(canon(Profile::SafeBrowsing4, url.as_bytes())), right, "{url}");
        cases += 1;
    }
    assert_eq!(cases, 27);
    let cases = [
        ("  www.Google.com:80/a/../b  ", "http://www.google.com/b"),
        ("http://\x01.com/", "http://%01.com/"),
        (
            "http://host%23.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B",
            "http://host%23.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+",
        ),
        ("http://user:p@0x7f.1:8080/?q", "http://127.0.0.1/?q"),
    ];
    for (url, right) in cases {
        assert_eq!(text(canon(Profile::SafeBrowsing4, url.as_bytes())), right, "{url}");
    }
    assert_eq!(canon(Profile::SafeBrowsing4, b"http:///a").unwrap_err().reason, Reason::Host);
}

/// The vectors of urlcanon: dot segments, and what is an address of version 4.
#[test]
fn urlcanon() {
    let rows = |text: &'static str| {
        text.lines()
            .filter(|line| !line.starts_with("# "))
            .map(|line| line.split_once('\t').expect("two fields"))
    };
    let mut cases = 0;
    for (path, right) in rows(include_str!("vectors/path-dots.tsv")) {
        let url = format!("http://h{path}");
        assert_eq!(text(canon(Profile::Rfc3986, url.as_bytes())), format!("http://h{right}"), "{path}");
        cases += 1;
    }
    for (host, right) in rows(include_str!("vectors/funky-ipv4.tsv")) {
        // What is no address is a name, of which this profile takes the dots at its ends.
        let name = host.to_ascii_lowercase();
        let right = if right == "-" { name.trim_matches('.') } else { right };
        let url = format!("http://{host}/");
        assert_eq!(text(canon(Profile::SafeBrowsing4, url.as_bytes())), format!("http://{right}/"), "{host}");
        cases += 1;
    }
    assert_eq!(cases, 376 + 47);
}

/// The recorded calls of w3lib's own tests (see vectors/README.md), those with default arguments and a string.
#[test]
fn w3lib() {
    let mut cases = 0;
    for line in include_str!("vectors/w3lib-2.5.tsv").lines().filter(|line| !line.starts_with("# ")) {
        let (url, right) = line.split_once('\t').expect("two fields");
        let url = url.replace("\\t", "\t").replace("\\r", "\r").replace("\\n", "\n");
        match right.strip_prefix("raises ") {
            Some(_) => assert_eq!(canon(Profile::W3lib2_5, url.as_bytes()).unwrap_err().reason, Reason::Host),
            None => assert_eq!(text(canon(Profile::W3lib2_5, url.as_bytes())), right, "{url}"),
        }
        cases += 1;
    }
    assert_eq!(cases, 176);
    // Asked of w3lib 2.5.0.
    let cases = [
        ("http://h\\a/%2e%2e/b", "http://h/b"),
        ("x://h/a\\b", "x://h/a%5Cb"),
        ("http://h/?b&a", "http://h/?a=&b="),
        ("http://h/?a=%zz;", "http://h/?a=%25zz%3B"),
        ("http://a@b@C:00080/;", "http://a%40b@c:80/"),
        ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("http:/a", "http:///a"),
        ("x:///", "x:/"),
        ("", "/"),
        ("http://h/x%0ay%2fz%3D", "http://h/x%0Ay%2Fz="),
        ("http://h/a;[%3b%", "http://h/a;%5B%3b%"),
        ("http://u%@h/;b/", "http://u%25@h/;b/"),
        ("http://a..\u{c9}/", "http://a..\u{e9}/"),
        ("rtsp:/a", "rtsp:///a"),
        (";a?b", "/;a?b="),
        ("http://[FE80::0:1%25Eth0]:80/", "http://[fe80::1%25eth0]:80/"),
    ];
    for (url, right) in cases {
        assert_eq!(text(canon(Profile::W3lib2_5, url.as_bytes())), right, "{url}");
    }
    for (url, reason) in [
        ("http://h:99999/", Reason::Port),
        ("http://fa\u{df}.de/", Reason::Host),
        ("//[v1.a]", Reason::Host),
        ("//[::1%]", Reason::Host),
    ] {
        assert_eq!(canon(Profile::W3lib2_5, url.as_bytes()).unwrap_err().reason, reason, "{url}");
    }
}

#[test]
fn robots() {
    assert_eq!(text(canon(Profile::Robots, "/a%c3/\u{e9}%zz%".as_bytes())), "/a%C3/%C3%A9%zz%");
}

#[test]
fn whatwg() {
    let cases = [
        ("HTTP://EXAMPLE.com:80/a/../b c?d'e#f", "http://example.com/b%20c?d%27e#f"),
        ("http://\u{4f8b}\u{3048}.jp/%7e", "http://xn--r8jz45g.jp/%7e"),
        ("file:///a/b", "file:///a/b"),
        ("mailto:a@b", "mailto:a@b"),
    ];
    for (url, right) in cases {
        assert_eq!(text(canon(Profile::Whatwg, url.as_bytes())), right, "{url}");
    }
    assert_eq!(canon(Profile::Whatwg, b"/a").unwrap_err().reason, Reason::Relative);
    assert_eq!(canon(Profile::Whatwg, b"http://h:99999/").unwrap_err().reason, Reason::Port);
    assert_eq!(canon(Profile::Whatwg, b"http://h/\xff").unwrap_err().reason, Reason::NotUtf8);
}

#[test]
fn names() {
    for &profile in Profile::ALL {
        assert_eq!(Profile::find(profile.name()), Some(profile));
    }
    assert_eq!(Profile::find("best"), None);
}

/// What is proven must be what the slow path gives: lines like real ones, with a few changes each.
fn line(rng: &mut Rng) -> Vec<u8> {
    const SEEDS: [&str; 18] = [
        "http://example.com/",
        "https://example.com?a=b",
        "http://example.org#a",
        "https://www.example.com/a/b/index.html?q=1&r=a%20b#top",
        "https://example.com/%E4%BE%8B/%7Euser/x.y/..z",
        "http://example.com:8080/a?b",
        "file:///usr/share/doc/a.b/c",
        "file://host/share/x",
        "//example.com/a",
        "/index.html?a=/../b",
        "../a/b.c",
        "mailto:joe@example.com",
        "urn:example:animal:ferret:nose",
        "http://192.0.2.1/a",
        "http://[2001:db8::1]/",
        "https://xn--r8jz45g.jp/",
        "http://user@example.com/it's",
        "https://a-b.example.co/~joe/%2Fa%2Eb/",
    ];
    const CHANGES: &[u8] = b"/./.%%2eE.:?#@[]AZaz09 \"'<>`^{}|\\-_~x\t\r\x00\x7f\xc3\xa9";
    let mut line = SEEDS[rng.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..rng.below(4) {
        let at = rng.below(line.len());
        match rng.below(4) {
            0 => _ = line.remove(at),
            1 => line[at] = rng.pick(CHANGES),
            2 => line.insert(at, rng.pick(CHANGES)),
            _ => {
                let pair = [rng.pick(CHANGES), rng.pick(CHANGES)];
                line.splice(at..at, pair);
            }
        }
        if line.is_empty() {
            break;
        }
    }
    if rng.below(40) == 0 {
        line.extend(vec![b'a'; rng.below(300)]);
    }
    line
}

#[test]
fn lines_are_what_the_slow_path_gives() {
    let mut rng = Rng(41);
    for round in 0..24 * scale() / 20 {
        let lines: Vec<Vec<u8>> = (0..rng.below(2000)).map(|_| line(&mut rng)).collect();
        let line_end: &[u8] = if round % 4 == 0 { b"\r\n" } else { b"\n" };
        let mut text = Vec::new();
        lines.iter().for_each(|line| text.extend_from_slice(&[line, line_end].concat()));
        if round % 3 == 0 {
            text.truncate(text.len().saturating_sub(line_end.len()));
        }
        for &profile in Profile::ALL {
            // A CR before the line's end belongs to that.
            let mut right = Vec::new();
            let mut right_refused = Vec::new();
            let mut at = 0;
            for line in text.split_inclusive(|&byte| byte == b'\n') {
                let url = line.strip_suffix(b"\n").unwrap_or(line);
                let url = url.strip_suffix(b"\r").unwrap_or(url);
                match profile.canonicalize(url) {
                    Ok(url) => right.extend_from_slice(&url),
                    Err(why) => {
                        right.extend_from_slice(url);
                        right_refused.push((at, why));
                    }
                }
                right.extend_from_slice(&line[url.len()..]);
                at += line.len();
            }
            for &tier in tiers() {
                let (mut out, mut refused) = (Vec::new(), Vec::new());
                profile.canonicalize_lines_on(tier, &text, &mut out, |at, why| refused.push((at, why)));
                if out != right {
                    let (got, want) = (out.split(|&b| b == b'\n'), right.split(|&b| b == b'\n'));
                    let (got, want) = got.zip(want).find(|(got, want)| got != want).expect("a line differs");
                    panic!("{profile} on {tier}: {} is not {}", got.escape_ascii(), want.escape_ascii());
                }
                assert_eq!(refused, right_refused, "{profile} on {tier}");
            }
        }
        // The profile `whatwg` is what url gives.
        for line in lines.iter().filter_map(|line| std::str::from_utf8(line).ok()) {
            let theirs = url::Url::parse(line).ok().map(String::from);
            let ours = canon(Profile::Whatwg, line.as_bytes()).ok();
            assert_eq!(ours.as_deref(), theirs.as_deref().map(str::as_bytes), "{line:?}");
        }
        // `canonicalize` itself may prove, so it is held to the tier that does not.
        for line in lines.iter().filter(|line| line.last() != Some(&b'\r')) {
            for &profile in Profile::ALL {
                assert_eq!(canon(profile, line), slow(profile, line), "{profile}: {}", line.escape_ascii());
            }
        }
    }
}

/// Most lines of a plain list are proven: what is needless is a few, or the fast path is not one.
#[test]
fn plain_lines_are_proven() {
    // A refusal of the slow path would show: the profile is asked for the same bytes, borrowed.
    for url in ["https://www.example.com/a/b/index.html?q=1&r=a%20b#top", "http://example.com/%E4%BE%8B/"] {
        for profile in [Profile::Rfc3986, Profile::Rfc3986Scheme, Profile::Whatwg] {
            let borrowed = profile.canonicalize(url).unwrap();
            assert!(matches!(borrowed, std::borrow::Cow::Borrowed(_)), "{profile}: {url}");
        }
    }
}

/// Linear: a megabyte of nested escapes, of dots, of slashes, of at signs.
#[test]
fn deep_nesting() {
    let deep = [b"http://h/%".to_vec(), b"25".repeat(500_000), b"2e".to_vec()].concat();
    let dots = [b"http://h".to_vec(), b"/a/..".repeat(200_000)].concat();
    let slashes = [b"http://h".to_vec(), b"/".repeat(1_000_000)].concat();
    let ats = [b"http://".to_vec(), b"@".repeat(1_000_000)].concat();
    for url in [deep, dots, slashes, ats] {
        for &profile in Profile::ALL {
            _ = canon(profile, &url);
        }
    }
}

proptest! {
    #[test]
    fn idempotent_without_malformed_escapes(
        url in "(([hH]ttps?|[a-zA-Z]):)?(//([uA%@]{0,3}@)?[a-zA-Z.%\\[\\]:]{0,6}(:[0-9]{0,5})?)?([./:aA]|%2[eEfF5]|%[4-7][0-9a-f]){0,12}(\\?[a%]{0,3})?",
    ) {
        let malformed = simdpct::validate(&url).is_err();
        for profile in [Profile::Escapes, Profile::Rfc3986, Profile::Rfc3986Scheme, Profile::Robots] {
            if malformed && profile != Profile::Robots { continue }
            if let Ok(once) = canon(profile, url.as_bytes()) {
                let twice = canon(profile, &once);
                prop_assert_eq!(twice.as_ref(), Ok(&once), "{} of {}: {}", profile, &url, once.escape_ascii());
            }
        }
    }

    #[test]
    fn any_bytes(url in proptest::collection::vec(any::<u8>(), 0..100)) {
        for &profile in Profile::ALL {
            _ = canon(profile, &url);
        }
    }
}
