//! Compares canonical forms with published vectors, and the kernels with the slow path, the code without kernels.

use std::borrow::Cow;

use proptest::prelude::*;
use simdpct_uri::canon::{CanonicalizeError, Profile, Reason};
use simdpct_uri::internals::canonicalize_lines_on;
use simdpct_uri::split;
use testkit::shapes::Rng;
use testkit::tiers::{scale, tiers};

use crate::{W3LIB, raw_rows, rows, state_machine};

fn canon(profile: Profile, url: &[u8]) -> Result<Vec<u8>, CanonicalizeError> {
    profile.canonicalize(url).map(Cow::into_owned)
}

/// Returns the canonical form of `url`, or the word `rejected`.
pub(crate) fn form(profile: Profile, url: &str) -> String {
    match profile.canonicalize(url) {
        Ok(form) => form.into_owned(),
        Err(_) => "rejected".to_owned(),
    }
}

/// Checks pairs of a URL and its expected form. Returns their number, or panics with all mismatches.
pub(crate) fn check<S: AsRef<str>>(profile: Profile, cases: impl IntoIterator<Item = (S, S)>) -> usize {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (url, right) in cases {
        let (url, right, ours) = (url.as_ref(), right.as_ref(), form(profile, url.as_ref()));
        if ours != right {
            wrong.push(format!("{url:?}\n  ours  {ours:?}\n  right {right:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{profile}: {} of {count}\n{}", wrong.len(), wrong.join("\n"));
    count
}

/// Checks that URLs are rejected with this offset and this reason, and that an error leaves the output unchanged.
pub(crate) fn check_rejected(profile: Profile, cases: &[(&str, usize, Reason)]) {
    for &(url, offset, reason) in cases {
        let error = profile.canonicalize(url).expect_err(url);
        assert_eq!((error.offset, error.reason), (offset, reason), "{profile}: {url:?}");
        let mut out = b"kept".to_vec();
        assert_eq!(profile.canonicalize_append(url, &mut out), Err(error));
        assert_eq!(out, b"kept");
    }
}

/// Checks on every tier that the form of each line of `text` is that of its URL alone. The scalar tier has no kernels, so it always takes
/// the slow path.
pub(crate) fn check_lines(text: &[u8]) {
    let scalar = simdpct::Tier::find("scalar").expect("every build has it");
    for &profile in Profile::ALL {
        // The expected text has the form of each URL, and its line end. A CR before an LF is part of the line end.
        let mut right = Vec::new();
        let mut right_rejected = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let url = line.strip_suffix(b"\n").unwrap_or(line);
            let url = url.strip_suffix(b"\r").unwrap_or(url);
            match profile.canonicalize(url) {
                Ok(url) => right.extend_from_slice(&url),
                Err(error) => {
                    right.extend_from_slice(url);
                    right_rejected.push((at, error));
                }
            }
            right.extend_from_slice(&line[url.len()..]);
            at += line.len();
        }
        for tier in tiers().iter().copied().filter(|tier| *tier != scalar).chain([scalar]) {
            let (mut out, mut rejected) = (Vec::new(), Vec::new());
            canonicalize_lines_on(tier, profile, text, &mut out, |at, error| rejected.push((at, error)));
            if out != right {
                let (got, want) = (out.split(|&b| b == b'\n'), right.split(|&b| b == b'\n'));
                let (got, want) = got.zip(want).find(|(got, want)| got != want).expect("a line differs");
                panic!("{profile} on {tier}: {} is not {}", got.escape_ascii(), want.escape_ascii());
            }
            assert_eq!(rejected, right_rejected, "{profile} on {tier}");
        }
    }
}

/// Checks that the names of w3lib profiles have the options, that names find profiles, that descriptions have one line, and that editions
/// have a digit.
#[test]
fn names_and_editions() {
    for (blank, fragments, name, form) in [
        (true, false, "w3lib-2.5", "http://h/?a=&b=1"),
        (false, false, "w3lib-2.5-no-blank-values", "http://h/?b=1"),
        (true, true, "w3lib-2.5-fragments", "http://h/?a=&b=1#f"),
        (false, true, "w3lib-2.5-no-blank-values-fragments", "http://h/?b=1#f"),
    ] {
        let profile = Profile::W3lib2_5 { keep_blank_values: blank, keep_fragments: fragments };
        assert_eq!((profile.to_string(), name.parse()), (name.to_owned(), Ok(profile)));
        assert_eq!(profile.canonicalize("http://h/?a=&b=1#f").unwrap(), form);
    }
    assert_eq!(Profile::ALL.len(), 13);
    for &profile in Profile::ALL {
        assert_eq!(Profile::find(profile.name()), Some(profile));
        assert_eq!(profile.to_string().parse(), Ok(profile));
        assert!(!profile.about().is_empty() && !profile.about().contains('\n'), "{profile}");
        assert!(profile.edition().contains(|c: char| c.is_ascii_digit()), "{profile}");
    }
    assert_eq!(Profile::find("best"), None);
    let unknown = "best".parse::<Profile>().unwrap_err().to_string();
    assert!(unknown.starts_with("unknown profile; there are: escapes, rfc3986, "), "{unknown}");
    assert_eq!(Profile::Whatwg.edition(), "URL Standard of 2 July 2026, Unicode 18");
}

#[test]
fn examples_of_the_rfc() {
    let mut cases = 0;
    for row in raw_rows(include_str!("../vectors/rfc3986-misc.tsv")) {
        let profile = match row[1] {
            "normalize" => Profile::Rfc3986,
            "scheme-based" => Profile::Rfc3986Scheme,
            _ => continue,
        };
        cases += check(profile, [(row[2], row[3])]);
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
        ("urn:A:b", "urn:A:b"),
        ("a:b/../c", "a:/c"),
        ("", ""),
        ("http://h/a?/../b#/./c", "http://h/a?/../b#/./c"),
        // A decoded escape never completes another one.
        ("http://%%361.com/%4%31%7e", "http://%%361.com/%4%31~"),
        ("http://h/%%36%31?%%41#%6%6a", "http://h/%%361?%%41#%6j"),
        ("file://a:80/x", "file://a:80/x"),
        ("foo://://a/", "foo:////a/"),
    ];
    check(Profile::Rfc3986, cases);
    check(Profile::Rfc3986, cases.map(|(_, form)| (form, form)));
    check_rejected(
        Profile::Rfc3986,
        &[
            ("http://a@b@c/", 8, Reason::SeveralAt),
            ("http://[::1/", 7, Reason::Host),
            ("http://a[b/", 8, Reason::Host),
            ("http://h:abc/", 9, Reason::Port),
            ("http://h:99999/", 9, Reason::Port),
            ("http://h/\t", 9, Reason::Control(b'\t')),
            ("http://h/\n", 9, Reason::Control(b'\n')),
            ("http://h/a\r", 10, Reason::Control(b'\r')),
            ("http://h/\0\r", 9, Reason::Control(0)),
            // Browsers contact `a` for these URLs. For the normal forms, they would contact `b`, or no host.
            ("http:/a/../b", 5, Reason::HostConflict),
            ("HTTPS:///a/%2E%2e/b", 8, Reason::HostConflict),
            ("file:\\\\a\\/../b", 5, Reason::HostConflict),
            // Without the port, browsers would contact `a`.
            ("file://a:/x", 8, Reason::HostConflict),
            ("http://://a/", 7, Reason::HostConflict),
            ("//://a/", 2, Reason::HostConflict),
        ],
    );
    check_rejected(Profile::Rfc3986Scheme, &[("http://:80//a/", 7, Reason::HostConflict)]);
    let by_scheme = [
        ("HTTPS://h:443", "https://h/"),
        ("http://h:00080?q", "http://h/?q"),
        ("http://h:443/", "http://h:443/"),
        ("foo://h:80", "foo://h:80"),
        ("http://h? ", "http://h/? "),
        ("//h:80", "//h:80"),
        ("wss://h:443#f", "wss://h/#f"),
    ];
    check(Profile::Rfc3986Scheme, by_scheme);
}

#[test]
fn safe_browsing() {
    let cases =
        rows(include_str!("../vectors/safe-browsing-4.tsv")).map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(check(Profile::SafeBrowsing4, cases), 27);
    let cases = [
        ("  www.Google.com:80/a/../b  ", "http://www.google.com/b"),
        ("http://\x01.com/", "http://%01.com/"),
        (
            "http://host%23.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B",
            "http://host%23.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+",
        ),
        ("http://user:p@0x7f.1:8080/?q", "http://127.0.0.1/?q"),
    ];
    check(Profile::SafeBrowsing4, cases);
}

/// Checks URLs whose host Google's rules and browsers could read differently. A URL is rejected if browsers contact another host than its
/// form has.
#[test]
fn safe_browsing_hosts() {
    for profile in [Profile::SafeBrowsing4, Profile::SafeBrowsing5] {
        let cases = [
            // Vectors of google/safebrowsing, urls_test.go.
            ("http://www.\u{fc}mlat.com/", "http://www.xn--mlat-zra.com/"),
            ("http%3A%2F%2Fwackyurl.com:80/", "http://wackyurl.com/"),
            ("http:// leadingspace.com/", "http://%20leadingspace.com/"),
            ("%20leadingspace.com/", "http://%20leadingspace.com/"),
            ("http://some%1bhost.com/%1b", "http://some%1Bhost.com/%1B"),
            ("http://W!eird<>Ho$^.com/", "http://w!eird<>ho$^.com/"),
            ("www.google.com:80/", "http://www.google.com/"),
            ("http://google.com.:8080/foo.html", "http://google.com/foo.html"),
            ("ftp://ftp.myfiles.com/", "ftp://ftp.myfiles.com/"),
            ("http://12.0x12.01234", "http://12.18.2.156/"),
            // The keys of these URLs have the hosts that browsers find in them.
            ("http://B%C3%9CCHER.ch/", "http://xn--bcher-kva.ch/"),
            ("http://fa\u{df}.de/", "http://xn--fa-hia.de/"),
            ("http://\u{ff11}\u{ff12}7.1/", "http://127.0.0.1/"),
            ("http://%31%32%37.1/", "http://127.0.0.1/"),
            ("\u{1}http://a.com/", "http://a.com/"),
            ("http://a.com\u{1}", "http://a.com/"),
            ("http://u%40v:p@a.com/", "http://a.com/"),
            ("localhost:80?q", "http://localhost/?q"),
            ("//a.com/x", "http://a.com/x"),
            ("http://xn--a.com/", "http://xn--a.com/"),
            ("foo://a%41/", "foo://aa/"),
            // Browsers read a host as an address only in special schemes.
            ("foo://1.2.3../", "foo://1.2.0.3/"),
            ("file://localhost/a", "file://localhost/a"),
        ];
        check(profile, cases);
        // The decoded `?` would start a query, and the dots before it would become a dot segment of the path.
        let unstable = [("http://a.b/..%3f", 10), ("//a.b/x%2F.%3Fy", 5), ("//http://%2F.%3fwww.%40", 7)];
        check_rejected(profile, &unstable.map(|(url, at)| (url, at, Reason::Unstable)));
        check(
            profile,
            [("http://a.b/..x%3f/../y", "http://a.b/y"), ("http://a.b/x%3f//y?z", "http://a.b/x?/y?z")],
        );
        // For each of these URLs, browsers contact another host than its key has, or contact none.
        let conflicts = [
            (".\\@%001", 3),
            ("http:\\\\a\\b", 0),
            ("http:/a", 0),
            ("http:a.com", 0),
            ("http:///a", 7),
            ("http://evil.com\\@good.com/", 17),
            ("http://evil.com\\x", 7),
            ("http://evil.com%2F@good.com/", 19),
            ("evil.com%3F@good.com/", 12),
            ("http://a%2562.com/", 7),
            ("http://a%2Fb.com/", 7),
            ("http://a%3Fb.com/", 7),
            ("http://a%40b.com/", 7),
            ("http://a%3A80/", 7),
            ("http://a%5Cb/", 7),
            ("http://1..2/", 7),
            ("http:80/", 0),
            ("file://C:/x", 7),
            ("file://u@a/x", 9),
            // Browsers are assumed to resolve a reference with an authority against an `http` URL.
            ("//evil.com\\@good.com/", 12),
            ("//good.com%2F.evil.com/", 2),
            ("//%2fevil.com", 2),
            ("/\\evil.com", 0),
            ("//good.com%40evil.com/", 2),
            ("gopher://good.com%2F.evil.com/", 9),
            // Google's rules decode a URL before they split it, and browsers after they split it.
            ("http%3a%2f%2fgood.com%2f@evil.com", 0),
            // Browsers read these hosts as a name with an empty label at its end, and not as an address.
            ("http://1.2.3../", 7),
            ("a1.2../", 0),
            // The key would have a port, or an address in brackets.
            ("foo://a%3a80.com/", 6),
            ("foo://%5bx%5d/", 6),
            ("foo://a%3a/", 6),
            ("http://[a%3a/", 7),
            ("file://host:/x", 7),
        ];
        check_rejected(profile, &conflicts.map(|(url, offset)| (url, offset, Reason::HostConflict)));
        let hosts = [
            "",
            ":",
            "/blah",
            "#ref",
            "?query#ref",
            "/blah;param",
            "mailto:b@google.com",
            "tel:123",
            "http://#ref",
            "/%2fevil.com",
            "/\tx",
            // `%2` and the start of the host's Punycode would become an escape.
            "http://%2\u{e9}a/",
        ];
        for url in hosts {
            assert_eq!(profile.canonicalize(url).unwrap_err().reason, Reason::Host, "{profile}: {url:?}");
        }
        check_rejected(
            profile,
            &[
                ("http://%5B::1%5D/", 11, Reason::Port),
                ("http://a:80:90/", 9, Reason::Port),
                ("http://a:x/", 9, Reason::Port),
                ("http://a:65536/", 9, Reason::Port),
            ],
        );
    }
}

/// Checks the vectors of the project urlcanon: dot segments, and spellings of IPv4 addresses.
#[test]
fn urlcanon() {
    let dots = raw_rows(include_str!("../vectors/path-dots.tsv"));
    let dots = dots.map(|row| (format!("http://h{}", row[0]), format!("http://h{}", row[1])));
    assert_eq!(check(Profile::Rfc3986, dots), 376);
    let addresses = raw_rows(include_str!("../vectors/funky-ipv4.tsv")).map(|row| {
        // A host that is not an address is a name, from which this profile removes the dots at its ends.
        let name = row[0].to_ascii_lowercase();
        let right = if row[1] == "-" { name.trim_matches('.') } else { row[1] };
        (format!("http://{}/", row[0]), format!("http://{right}/"))
    });
    assert_eq!(check(Profile::SafeBrowsing4, addresses), 47);
}

/// Checks the calls in w3lib's own tests that pass a string and the default arguments (see vectors/README.md).
#[test]
fn w3lib() {
    let mut cases = 0;
    for row in rows(include_str!("../vectors/w3lib-2.5.tsv")) {
        if row[1].starts_with("raises ") {
            let error = canon(W3LIB, row[0].as_bytes()).unwrap_err();
            assert_eq!(error.reason, Reason::Host, "{}", row[0]);
            cases += 1;
        } else {
            cases += check(W3LIB, [(&row[0], &row[1])]);
        }
    }
    assert_eq!(cases, 176);
    // The expected values are results of w3lib 2.5.0.
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
        ("foo:/a/../b", "foo:/b"),
        (";a?b", "/;a?b="),
        ("http://[FE80::0:1%25Eth0]:80/", "http://[fe80::1%25eth0]:80/"),
    ];
    check(W3LIB, cases);
    check_rejected(
        W3LIB,
        &[
            ("http://h:99999/", 9, Reason::Port),
            ("http://fa\u{df}.de/", 7, Reason::Host),
            ("//[v1.a]", 2, Reason::Host),
            ("//[::1%]", 2, Reason::Host),
            ("http://[fe80::1%\u{e9}]/", 7, Reason::Host),
            ("http://[::1%a][x]/", 7, Reason::Host),
            ("http://a[b@h/", 11, Reason::Host),
            // Browsers contact evil.com for the URL or for its key, but not for both.
            ("/\\evil.com/", 0, Reason::HostConflict),
            ("/a/..//evil.com/", 0, Reason::HostConflict),
            // For each of these URLs, browsers contact another host than for its key, or none.
            ("http:/a/../b", 5, Reason::HostConflict),
            ("file://host:/x", 7, Reason::HostConflict),
            // Decoding would complete a scheme or an escape.
            ("http%3Ab", 0, Reason::Unstable),
            ("a%3A/", 0, Reason::Unstable),
            ("http://h/%4%31", 8, Reason::Unstable),
            ("//evil.com\\@good.com/", 12, Reason::HostConflict),
            // Relative references do not get a scheme.
            ("java%73cript:alert(1)", 0, Reason::Unstable),
            ("%41:x", 0, Reason::Unstable),
            ("a%3Ab", 0, Reason::Unstable),
        ],
    );
}

/// Reports whether `url` has a scheme after browsers remove control characters and blanks at its start, and tabs and line ends.
fn browsers_find_scheme(url: &[u8]) -> bool {
    let start = url.iter().position(|byte| *byte > b' ').unwrap_or(url.len());
    let read: Vec<u8> = url[start..].iter().copied().filter(|byte| !b"\t\r\n".contains(byte)).collect();
    split(&read).is_uri()
}

/// Checks that no profile gives a scheme to a relative reference (RFC 3986, section 4.2), neither by the RFC nor for browsers.
#[test]
fn hidden_schemes() {
    let urls = [
        "%68ttp://evil/",
        "h%74tp%2525://evil/",
        "java%73cript:alert(1)",
        "%41:x",
        "a%2D:x",
        "%2568ttp://evil/",
        " %68ttp://evil/",
        "\u{1} h%74tp://evil/",
        "\tjava%73\tcript:x",
        "java\r\ns%63ript:x",
    ];
    for profile in Profile::ALL {
        // By Google's vectors, a URL is decoded before its scheme is read, so these profiles may find a scheme.
        if profile.name().starts_with("safe-browsing") {
            continue;
        }
        for url in urls {
            let form = canon(*profile, url.as_bytes());
            let has_scheme =
                form.as_ref().is_ok_and(|form| browsers_find_scheme(form) || form.starts_with(b"http)"));
            assert!(!has_scheme, "{profile} {url}: {}", form.unwrap().escape_ascii());
        }
    }
    check(
        Profile::Escapes,
        [("%6aava%73cript:%41", "%6Aava%73cript:A"), ("%41/b:%43", "A/b:C"), ("%2D:%41", "-:A")],
    );
    for tool in [Profile::SurtPython0_3, Profile::SurtJava] {
        check_rejected(tool, &[("http://.\\@%001/", 10, Reason::HostConflict)]);
        check_rejected(
            tool,
            &[("%68ttp://evil/", 0, Reason::HostConflict), (" %2568ttp://evil/", 1, Reason::HostConflict)],
        );
        check(tool, [("%61.com:80/x", "com,a)/x")]);
    }
}

#[test]
fn robots() {
    check(Profile::Robots, [("/a%c3/\u{e9}%zz%", "/a%C3/%C3%A9%zz%")]);
}

#[test]
fn whatwg() {
    let cases = [
        ("HTTP://EXAMPLE.com:80/a/../b c?d'e#f", "http://example.com/b%20c?d%27e#f"),
        ("http://\u{4f8b}\u{3048}.jp/%7e", "http://xn--r8jz45g.jp/%7e"),
        ("file:///a/b", "file:///a/b"),
        ("mailto:a@b", "mailto:a@b"),
    ];
    check(Profile::Whatwg, cases);
    check_rejected(Profile::Whatwg, &[("/a", 0, Reason::Relative), ("http://h:99999/", 9, Reason::Port)]);
    assert_eq!(canon(Profile::Whatwg, b"http://h/\xff").unwrap_err().reason, Reason::InvalidUtf8);
}

/// Tests every character of Unicode in a host: the form must have the parts of its URL, so that no character becomes a delimiter.
#[test]
fn hosts_with_every_character() {
    let profiles = [Profile::Whatwg, Profile::SafeBrowsing4, Profile::SafeBrowsing5, W3LIB];
    for url in crate::hosts_with_every_character() {
        for profile in profiles {
            let Ok(form) = profile.canonicalize(url.as_bytes()) else { continue };
            let parts = split(&form);
            let host = parts.host().unwrap().raw();
            let others = (parts.path(), parts.userinfo(), parts.port());
            assert_eq!(others, (&b"/x"[..], None, None), "{profile}: {url:?}");
            let forbidden = |byte: &u8| *byte <= b' ' || b"#/:<>?@[\\]^|\x7f".contains(byte);
            assert!(!host.iter().any(forbidden), "{profile}: {url:?} has the host {}", host.escape_ascii());
        }
        for profile in [Profile::SurtPython0_3, Profile::SurtJava] {
            let Ok(key) = profile.canonicalize(url.as_bytes()) else { continue };
            let host = key.strip_suffix(b")/x").unwrap_or_else(|| panic!("{profile}: {url:?}"));
            assert!(!host.iter().any(|byte| b"/:?#@\\)".contains(byte)), "{profile}: {url:?}");
        }
    }
    // UTS 46 maps these characters to `/`, `a/c`, `#`, `:`, `@`, `?`, `%`, and to `,` and `)`, the delimiters of SURT.
    let characters = "\u{ff0f}\u{2100}\u{ff03}\u{ff1a}\u{ff20}\u{ff1f}\u{ff05}\u{ff0c}\u{ff09}";
    for (i, c) in characters.chars().enumerate() {
        let others = [W3LIB, Profile::SafeBrowsing5].into_iter().filter(|_| i < 7);
        for profile in [Profile::SurtJava, Profile::SurtPython0_3].into_iter().chain(others) {
            check_rejected(profile, &[(&format!("http://good.com{c}.evil.com/x"), 7, Reason::Host)]);
        }
    }
}

/// Makes a line from a typical URL, with a few random changes.
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
    for round in 0..32 * scale() / 20 {
        let lines: Vec<Vec<u8>> = (0..rng.below(2000)).map(|_| line(&mut rng)).collect();
        let line_end: &[u8] = if round % 4 == 0 { b"\r\n" } else { b"\n" };
        let mut text = Vec::new();
        lines.iter().for_each(|line| text.extend_from_slice(&[line, line_end].concat()));
        if round % 3 == 0 {
            text.truncate(text.len().saturating_sub(line_end.len()));
        }
        check_lines(&text);
        for line in lines.iter().filter_map(|line| std::str::from_utf8(line).ok()) {
            let ours = canon(Profile::Whatwg, line.as_bytes()).ok();
            assert_eq!(ours, state_machine::resolve(None, line).map(String::into_bytes), "{line:?}");
        }
    }
}

/// Tests lines that a kernel must not report as canonical, at every offset of a block, so that the decisive bytes may be in the block
/// before, or be cut off by the end of the text.
#[test]
fn lines_at_every_offset() {
    let long = [b"http://".to_vec(), vec![b'a'; 190], b"B.c/".to_vec()].concat();
    let lines: [&[u8]; 21] = [
        &long,
        b"./a",
        b"../b",
        b"foo:./b",
        b"foo:../b",
        b"http://a.b/%",
        b"41://",
        b"http://a.b/%4",
        b"1://",
        b"http://a.b/%\xff1%41",
        b"http://\xc3\xa9.b/",
        b"file://localhost/x",
        b"file://host",
        b"file://host/C:/..",
        b"file:///c|/x",
        b"file://h//p",
        b"http://a.b?",
        b"http://a.b/%7Ex",
        b"http://a.b/%2e",
        b"//B/c",
        b"///a//../B",
    ];
    for shift in 0..64 {
        let mut text = [b"http://a.b/".to_vec(), vec![b'x'; shift]].concat();
        lines.iter().for_each(|line| text.extend_from_slice(&[b"\n", *line].concat()));
        check_lines(&text);
    }
}

/// Compares the keys of plain URLs, whose parts a kernel finds, with those of the slow path, which a URL with userinfo takes.
#[test]
fn plain_surts_are_those_of_the_slow_path() {
    let mut rng = Rng(24);
    const PIECES: &[u8] = b"aZ0-_.//?#&=(a.b%:@ \x00\x7f\xc3www.1";
    for round in 0..4000 * scale() {
        let scheme = if round % 3 == 0 { "https://" } else { "http://" };
        let mut rest: Vec<u8> =
            (0..rng.below(if round % 4 == 0 { 150 } else { 20 })).map(|_| rng.pick(b"aB0-_.")).collect();
        for _ in 0..rng.below(5) {
            let at = rng.below(rest.len() + 1);
            rest.insert(at, rng.pick(PIECES));
        }
        for profile in [Profile::SurtPython0_3, Profile::SurtJava] {
            // Without `www.a.b/`, `rest` begins with the host. An `@` in it would extend the userinfo, and an empty host is treated
            // differently.
            let has_host = rest.first().is_some_and(u8::is_ascii_alphanumeric) && !rest.contains(&b'@');
            let hosts: &[&str] = if has_host { &["www.a.b/", ""] } else { &["www.a.b/"] };
            for host in hosts {
                let plain = [scheme.as_bytes(), host.as_bytes(), &rest].concat();
                let other = [scheme.as_bytes(), b"u@", host.as_bytes(), &rest].concat();
                assert_eq!(
                    canon(profile, &plain).ok(),
                    canon(profile, &other).ok(),
                    "{profile}: {}",
                    plain.escape_ascii()
                );
            }
        }
    }
}

/// Checks that a kernel finds plain URLs to be canonical already, so that they are returned borrowed.
#[test]
fn plain_lines_are_proven() {
    for url in ["https://www.example.com/a/b/index.html?q=1&r=a%20b#top", "http://example.com/%E4%BE%8B/"] {
        for profile in [Profile::Rfc3986, Profile::Rfc3986Scheme, Profile::Whatwg] {
            let borrowed = profile.canonicalize(url).unwrap();
            assert!(matches!(borrowed, Cow::Borrowed(_)), "{profile}: {url}");
        }
    }
}

/// Checks lines after many chunks without canonical lines: the kernel then runs on only one chunk in several.
#[test]
fn chunks_without_a_proof() {
    let text = ["HTTP://a/%7e\n".repeat(25_000), "http://a/~\n".repeat(5_000)].concat();
    let right = "http://a/~\n".repeat(30_000);
    for profile in [Profile::Rfc3986, Profile::Rfc3986Scheme, Profile::SafeBrowsing4, W3LIB] {
        for &tier in tiers() {
            let mut out = Vec::new();
            canonicalize_lines_on(tier, profile, text.as_bytes(), &mut out, |_, _| ());
            assert!(out == right.as_bytes(), "{profile} on {tier}");
        }
    }
}

/// Tests a megabyte of nested escapes, dots, slashes and at signs: the test would not end if a profile took quadratic time.
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

/// Makes a URL of pieces that have a meaning together: halves of escapes, delimiters and escaped delimiters.
fn line_of_pieces(rng: &mut Rng) -> Vec<u8> {
    const STARTS: [&str; 10] =
        ["http://", "HTTP:", "", "foo://", "file://", "file:", "//", "foo:", "http://a.b/", "//http://"];
    #[rustfmt::skip]
    const PIECES: [&str; 52] = [
        "%", "%", "%2", "%25", "%36", "1", "%41", ".", "/", ";", "%2F", "?", "&", "=", "+", ":", "@", "[", "]", "a", "A", "\u{e9}",
        "//", "..", "%2e", "#", " ", "\\", "\t", "www.", "x", "%3a", "%40", "%5b", "8", "5", "%5c", "%23", "%20", "a.b", ":80", "\u{2028}",
        "http://", "https:", "%3f", ",", ")", "-", "0x", "%0a", "^", "~",
    ];
    let mut url = STARTS[rng.below(STARTS.len())].to_owned();
    for _ in 0..rng.below(9) {
        url += PIECES[rng.below(PIECES.len())];
    }
    url.into_bytes()
}

/// Checks that each profile leaves its own forms unchanged, except the profiles that make SURTs, which are not URLs.
#[test]
fn idempotent() {
    let mut rng = Rng(7);
    let urls: Vec<Vec<u8>> = (0..600 * scale()).map(|_| line_of_pieces(&mut rng)).collect();
    for &profile in Profile::ALL.iter().filter(|profile| !profile.name().starts_with("surt")) {
        for url in &urls {
            let Ok(once) = canon(profile, url) else { continue };
            let twice = canon(profile, &once);
            assert_eq!(
                twice.as_ref(),
                Ok(&once),
                "{profile} of {}: {}",
                url.escape_ascii(),
                once.escape_ascii()
            );
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(url in proptest::collection::vec(any::<u8>(), 0..100)) {
        for &profile in Profile::ALL {
            _ = canon(profile, &url);
        }
    }
}

/// Checks that the offset of an error counts the bytes that browsers remove, too.
#[test]
fn offsets_count_removed_bytes() {
    for name in ["whatwg", "w3lib-2.5", "safe-browsing-4", "safe-browsing-5", "surt-python-0.3", "surt-java"]
    {
        let profile: Profile = name.parse().unwrap();
        for (url, offset) in
            [("http://hh:99999/", 10), ("   http://hh:99999/ ", 13), (" ht\ttp:/\r\n/h\th:99999/", 15)]
        {
            check_rejected(profile, &[(url, offset, Reason::Port)]);
            let message = format!("the port is not a number of at most 65535, at offset {offset}");
            assert_eq!(profile.canonicalize(url).unwrap_err().to_string(), message);
        }
    }
}
