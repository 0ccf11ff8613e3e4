//! Compares published vectors of canonical forms with the forms of profiles. Vectors that differ have a reason.

use std::borrow::Cow;

use simdpct_uri::canon::{Base, Profile, Reason};

use crate::canon::{check, check_rejected, form};
use crate::{W3LIB, rows};

/// Checks all 19 vectors of iipc/webarchive-commons.
#[test]
fn surt_java() {
    let cases = rows(include_str!("../vectors/surt-java.tsv")).map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(check(Profile::SurtJava, cases), 19);
}

/// Compares rows of an input, our form, the form of the tool, and a reason. The reason says why the forms differ; it is empty if
/// they are equal. Returns the number of equal rows and of all rows.
fn compare(rows: impl IntoIterator<Item = [String; 4]>) -> (usize, usize) {
    let (mut same, mut cases, mut wrong) = (0, 0, Vec::new());
    for [input, ours, theirs, reason] in rows {
        if (ours == theirs) != reason.is_empty() {
            wrong.push(format!("{input:?}\n  ours   {ours:?}\n  theirs {theirs:?}  {reason}"));
        }
        same += usize::from(ours == theirs);
        cases += 1;
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    (same, cases)
}

/// Compares `rfc3986-scheme` with crawler-commons, for whose form there is no profile. If a row has a reason why the forms differ,
/// they must differ; otherwise they must be equal.
#[test]
fn crawler_commons() {
    let rows = rows(include_str!("../vectors/crawler-commons.tsv"));
    let compared =
        compare(rows.map(|row| {
            [row[0].clone(), form(Profile::Rfc3986Scheme, &row[0]), row[1].clone(), row[2].clone()]
        }));
    assert_eq!(compared, (61, 108));
}

/// Returns the serialization of `input`, resolved against `base` unless that is `-`. Returns `-` if one of them is not valid.
fn whatwg(base: &str, input: &str) -> String {
    let url = if base == "-" {
        Profile::Whatwg.canonicalize(input).map(Cow::into_owned)
    } else {
        Base::parse(base).and_then(|base| base.resolve(input))
    };
    url.unwrap_or_else(|_| "-".to_owned())
}

/// Checks all hosts of web-platform-tests, url/resources/toascii.json (see vectors/README.md).
#[test]
fn toascii() {
    let mut count = 0;
    for row in rows(include_str!("../vectors/toascii.tsv")) {
        let right = if row[1] == "-" { row[1].clone() } else { format!("https://{}/x", row[1]) };
        assert_eq!(whatwg("-", &format!("https://{}/x", row[0])), right, "{:?}", row[0]);
        count += 1;
    }
    assert_eq!(count, 87);
}

/// Checks all URLs and references of web-platform-tests, url/resources/urltestdata.json (see vectors/README.md).
#[test]
fn urltestdata() {
    let (mut count, mut with_base) = (0, 0);
    for row in rows(include_str!("../vectors/urltestdata.tsv")) {
        assert_eq!(whatwg(&row[1], &row[0]), row[2], "{:?} {:?}", row[0], row[1]);
        count += 1;
        with_base += usize::from(row[1] != "-");
    }
    assert_eq!((count, with_base), (891, 336));
}

/// Checks unusual cases of the URL Standard. A case is a base, or `-` for none; an input; and the result, or `-` if it is not valid.
#[test]
fn corners_of_the_standard() {
    let cases = [
        // Nothing of a host is lost. Text such as `~0~` must stay in a host, even if a parser could use it as a mark of its own.
        ("-", "http://paypal%7E0%7E.com/?/C:", "http://paypal~0~.com/?/C:"),
        ("-", "http://paypal~0~.com/?/C:", "http://paypal~0~.com/?/C:"),
        ("-", "http://paypal\u{ff5e}0\u{ff5e}.com/?/C:", "http://paypal~0~.com/?/C:"),
        ("-", "http://a~%30~b/?/C:", "http://a~0~b/?/C:"),
        ("-", "http://h/~0~/C:/../x", "http://h/~0~/x"),
        ("http://h/", "//a~%30~b/C|/..", "http://a~0~b/"),
        // Special URLs need no slashes before the host, and may have any number of them.
        ("-", "http:a", "http://a/"),
        ("-", "http:/a/b", "http://a/b"),
        ("-", "http:\\/a\\b", "http://a/b"),
        ("-", "http:\\\\C:\\D:\\..\\x", "http://c/x"),
        ("-", "http:///u:p@h:8/?q", "http://u:p@h:8/?q"),
        ("http://h/a", "http://C:/../x", "http://c/x"),
        ("http://h/a", "///G", "http://g/"),
        ("http://h/a", "/\\/G", "http://g/"),
        ("http://h/a/b", "https:x", "https://x/"),
        // A special URL may be relative to a base of its scheme.
        ("http://h/a", "HTTP:/C:/../x", "http://h/x"),
        ("http://h/a/b", "http:C:/../x", "http://h/a/x"),
        ("http://h/a/b", "http:?x", "http://h/a/b?x"),
        ("http://h/a/b", "http:", "http://h/a/b"),
        ("file://h/a?q", "file:#f", "file://h/a?q#f"),
        ("http://h/a", "file:b", "file:///b"),
        ("sc://h/a", "sc:b", "sc:b"),
        // The last `@` is the delimiter, and empty parts before it are dropped.
        ("-", "http://u@:p@@h", "http://u%40:p%40@h/"),
        ("-", "http://u:p:q@h", "http://u:p%3Aq@h/"),
        ("-", "http://:@h", "http://h/"),
        ("-", "http://u:@h", "http://u@h/"),
        ("-", "http://:p@h", "http://:p@h/"),
        ("-", "sc://@", "-"),
        ("-", "sc://u@/", "-"),
        ("-", "sc://u@?", "-"),
        ("-", "file://u@h/", "-"),
        // Ports.
        ("-", "http://h:00080", "http://h/"),
        ("-", "http://h:00081", "http://h:81/"),
        ("-", "http://h:0", "http://h:0/"),
        ("-", "http://h:000", "http://h:0/"),
        ("-", "http://h:", "http://h/"),
        ("-", "http://:80/", "-"),
        ("-", "sc://:80", "-"),
        ("-", "sc://h:80", "sc://h:80"),
        ("-", "file://h:80/", "-"),
        // URLs with other schemes may have an empty host, an empty path, and backslashes.
        ("-", "sc:///a\\..", "sc:///a\\.."),
        ("-", "foo://h:\\x", "-"),
        ("sc:///p/q", "\\x", "sc:///p/\\x"),
        ("a://b", "/\\\\/i", "a://b/\\\\/i"),
        ("sc://h", "x", "sc://h/x"),
        ("sc://h", "..", "sc://h/"),
        ("sc://h?q", "#f", "sc://h?q#f"),
        // Drive letters, in the first segment of `file` only.
        ("-", "http://h/C:/..", "http://h/"),
        ("-", "http://h/a/C|/../../b", "http://h/b"),
        ("http://h/d/f", "C|/..", "http://h/d/"),
        ("http://h/C:/x", "../y", "http://h/y"),
        ("-", "foo://h/C:/../../x", "foo://h/x"),
        ("-", "file:w|", "file:///w:"),
        ("-", "file:///C|/..", "file:///C:/"),
        ("-", "file:///C|/a/../..", "file:///C:/"),
        ("-", "file:///a/C|/..", "file:///a/"),
        ("-", "file:///./C|", "file:///C:"),
        ("-", "file:////C|/x", "file:////C|/x"),
        ("-", "file://C|/x", "file:///C:/x"),
        ("-", "file://C|?x", "file:///C:?x"),
        ("-", "file://C|x", "-"),
        ("-", "file://host/C:/x", "file://host/C:/x"),
        ("file:///C:/a?q", "/x", "file:///C:/x"),
        ("file://h/C:/a", "/D|/x", "file://h/D:/x"),
        ("file://h/C:/a", "D|/x", "file://h/D:/x"),
        ("file://h/C:/a", "D|?x", "file://h/D:?x"),
        ("file://h/C:/a", "D|x", "file://h/C:/D|x"),
        ("file://h/C:/a", "../../x", "file://h/C:/x"),
        ("file://h/C:/a", "//x", "file://x/"),
        ("file://h/C:/a", "///x", "file:///x"),
        // `localhost` of `file`.
        ("-", "file://LOCAL%68ost/x", "file:///x"),
        ("-", "file://localhost./x", "file://localhost./x"),
        ("-", "file://h//p", "file://h//p"),
        // A path that would be read as an authority.
        ("-", "foo:/C:/..//x", "foo:/.//x"),
        ("-", "foo:/.//x?y", "foo:/.//x?y"),
        ("-", "foo:/..//..//x", "foo:/.//x"),
        ("sc:/.//a/b", "c", "sc:/.//a/c"),
        ("sc:/.//a", "..", "sc:/"),
        ("sc:/.//a", "?q", "sc:/.//a?q"),
        ("sc:/a", "/.//b", "sc:/.//b"),
        // Dot segments.
        ("-", "http://h/a/%2E%2e/b/.%2e", "http://h/"),
        ("-", "http://h/%2e%2e%2e/...", "http://h/%2e%2e%2e/..."),
        ("-", "http://h/a/.?./..", "http://h/a/?./.."),
        // A reference takes the user, the host and the port of its base, and an empty one takes all except the fragment.
        ("http://u:p@h:8/a?q#f", "\\x", "http://u:p@h:8/x"),
        ("http://u:p@h:8/a?q#f", "", "http://u:p@h:8/a?q"),
        // Opaque paths, of which the last space is escaped.
        ("-", "data:a b  ?x", "data:a b %20?x"),
        ("-", "data:a\u{e9}^ #", "data:a%C3%A9^%20#"),
        ("-", "data:a ", "data:a"),
        ("sc:a  ?q", "#f", "sc:a %20?q#f"),
        ("mailto:a", "", "-"),
        ("mailto:a", "?b", "-"),
        // Sets of bytes.
        ("-", "http://h/a^b?^#^", "http://h/a%5Eb?^#^"),
        ("-", "sc:?'#`", "sc:?'#%60"),
        ("-", "ws:h?'#'", "ws://h/?%27#'"),
        // Domains.
        ("-", "http://xn--a/", "http://xn--a/"),
        ("-", "http://XN--/", "http://xn--/"),
        ("-", "http://xn--a.\u{e9}/", "-"),
        ("-", "http://%ad/", "-"),
        ("-", "http://\u{ad}/", "-"),
        ("-", "http://a%00b/", "-"),
        ("-", "sc://A%41\u{e9}\u{1}/", "sc://A%41%C3%A9%01/"),
        ("-", "sc://a^b/", "-"),
        // Addresses.
        ("-", "http://\u{ff10}\u{ff58}7f\u{3002}1", "http://127.0.0.1/"),
        ("-", "http://1.2.3.4./", "http://1.2.3.4/"),
        ("-", "http://1.2.3.4../", "http://1.2.3.4../"),
        ("-", "http://a.09/", "-"),
        ("-", "http://a.0x/", "-"),
        ("-", "http://a.0xg/", "http://a.0xg/"),
        ("-", "http://0x./", "http://0.0.0.0/"),
        ("-", "http://4294967295/", "http://255.255.255.255/"),
        ("-", "http://4294967296/", "-"),
        ("-", "http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("-", "http://[::1.2.3.4]/", "http://[::102:304]/"),
        ("-", "http://[1:0:0:2:0:0:0:0]/", "http://[1:0:0:2::]/"),
        ("-", "http://[1:0:0:2:0:0:3:4]/", "http://[1::2:0:0:3:4]/"),
        ("-", "http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"),
        ("-", "http://[::1%25eth0]/", "-"),
        ("-", "http://[::1]a/", "-"),
        ("-", "sc://[::01]", "sc://[::1]"),
        // Tabs, line ends, controls and blanks.
        ("-", " \u{1f}ht\ttp:/\n/h/\ra\0\u{1f} ", "http://h/a"),
        ("http://h/a/b", " .\t. ", "http://h/"),
    ];
    for (base, input, right) in cases {
        assert_eq!(whatwg(base, input), right, "{base} {input:?}");
    }
}

/// Checks the reasons and the offsets of errors. Offsets also count bytes that the parser removes, such as tabs.
#[test]
fn errors_of_the_standard() {
    check_rejected(
        Profile::Whatwg,
        &[
            (" ht\ttp://u@a^b:8/", 11, Reason::Host),
            ("http://h:8\t0x/?y ", 9, Reason::Port),
            ("http:\\h:65536", 8, Reason::Port),
            ("http:///u@\t:8/", 11, Reason::Host),
            ("file://a b/c", 7, Reason::Host),
            ("http://", 7, Reason::Host),
            ("http://\t", 7, Reason::Host),
            ("http://u@", 9, Reason::Host),
            ("", 0, Reason::Relative),
            (" a", 0, Reason::Relative),
        ],
    );
    // The standard does not limit the length of a label, but the crate idna rejects a label with more than 1000 of these characters.
    let host = |length: usize| whatwg("-", &format!("http://{}/", "\u{e9}".repeat(length)));
    assert!(host(1000).starts_with("http://xn--9ca"));
    assert_eq!(host(1001), "-");
    assert_eq!(Base::parse("a").unwrap_err().reason, Reason::Relative);
    let opaque = Base::parse("MAILTO:a").unwrap();
    assert_eq!(opaque.as_str(), "mailto:a");
    assert_eq!(opaque.resolve("b").unwrap_err().reason, Reason::Relative);
    let error = opaque.resolve("//h:x").unwrap_err();
    assert_eq!((error.offset, error.reason), (0, Reason::Relative));
    let error = Base::parse("http://a").unwrap().resolve("//h:x").unwrap_err();
    assert_eq!((error.offset, error.reason), (4, Reason::Port));
}

/// Checks the tests of urlcanon for its port of surt and of Google's rules. A test of one step becomes a test of keys: the input
/// and the output of the step must have the same key.
#[test]
fn urlcanon_surt() {
    let rows = rows(include_str!("../vectors/urlcanon-surt.tsv"));
    let compared = compare(rows.map(|row| {
        let (group, input, right) = (&*row[0], &*row[1], row[2].clone());
        let surt = |url: &str| form(Profile::SurtPython0_3, url);
        let (ours, right) = match group {
            "google" | "googleSupplementalFromSurt" => (form(Profile::SafeBrowsing4, input), right),
            "defaultIASurt" => (surt(input), right),
            "unescapeRepeatedly" => {
                let decoded = simdpct::decode_until_stable(input).into_owned();
                (String::from_utf8(decoded).expect("ASCII"), right)
            }
            "alphaRorderQuery" if input.is_empty() => (String::new(), right),
            "alphaRorderQuery" => (surt(&format!("http://a/?{input}")), format!("a)/?{right}")),
            "massageHost" => (surt(&format!("http://{input}")), surt(&format!("http://{right}"))),
            "stripPathSessionId" => (surt(&format!("http://a{input}")), surt(&format!("http://a{right}"))),
            "Canonicalizer.IA" | "Canonicalizer.DefaultIA" => (surt(input), surt(&right)),
            _ => panic!("{group}"),
        };
        [format!("{group} {input}"), ours, right, row[3].clone()]
    }));
    assert_eq!(compared, (90, 95));
}

/// Compares with results of w3lib for other arguments than the defaults. One case differs: its query is not in UTF-8.
#[test]
fn w3lib_arguments() {
    let (mut same, mut cases) = (0, 0);
    for row in rows(include_str!("../vectors/w3lib-2.5-arguments.tsv")) {
        let profile = match &*row[0] {
            "keep_blank_values=False" => {
                Profile::W3lib2_5 { keep_blank_values: false, keep_fragments: false }
            }
            "keep_fragments=True" => Profile::W3lib2_5 { keep_blank_values: true, keep_fragments: true },
            // No profile has another charset than UTF-8. In the cases with the first three charsets, w3lib writes the same escapes
            // as with UTF-8.
            "encoding=latin1" | "encoding=utf8" | "encoding=cp1251" | "encoding=iso2022jp" => W3LIB,
            other => panic!("{other}"),
        };
        let equal = form(profile, &row[1]) == row[2];
        assert_eq!(equal, row[0] != "encoding=iso2022jp", "{row:?}");
        same += usize::from(equal);
        cases += 1;
    }
    assert_eq!((same, cases), (7, 8));
}

/// Checks the examples in Google's documentation of Safe Browsing 5, and the vectors of its version 4, which are valid for both.
#[test]
fn safe_browsing_5() {
    let shared =
        rows(include_str!("../vectors/safe-browsing-4.tsv")).map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(check(Profile::SafeBrowsing5, shared), 27);
    let cases = [
        ("http://[2001:0db8:0000::1]/", "http://[2001:db8::1]/"),
        ("http://[::ffff:1.2.3.4]/", "http://1.2.3.4/"),
        ("http://[64:ff9b::1.2.3.4]/", "http://1.2.3.4/"),
        ("http://[64:FF9B:0:0:0:0:102:304]:80/a", "http://1.2.3.4/a"),
        ("http://[64:ff9b:1::1.2.3.4]/", "http://[64:ff9b:1::102:304]/"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[not]/", "http://[not]/"),
        ("http://B\u{fc}cher.ch/\u{fc}", "http://xn--bcher-kva.ch/%C3%BC"),
        ("http://\u{1f4a9}..com./", "http://xn--ls8h.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
    ];
    check(Profile::SafeBrowsing5, cases);
    check_rejected(Profile::SafeBrowsing5, &[("http://./", 7, Reason::Host)]);
    // Version 4 has no rules for IPv6 addresses.
    check(Profile::SafeBrowsing4, [("http://[2001:0db8:0000::1]/", "http://[2001:0db8:0000::1]/")]);
}

/// Compares with the results of surt 0.3.1, which were made with a DNS resolver that knows only IP addresses.
#[test]
fn surt_python() {
    // A third field is the reason why the profile rejects a URL for which the tool has a key.
    let (rejected, equal): (Vec<_>, Vec<_>) =
        rows(include_str!("../vectors/surt-python-0.3.tsv")).partition(|row| row.len() > 2);
    let rejected = rejected.into_iter().map(|row| (row[0].clone(), "rejected".to_owned()));
    assert_eq!(check(Profile::SurtPython0_3, rejected), 43);
    let equal = equal.into_iter().map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(check(Profile::SurtPython0_3, equal), 368);
    // The tool removes invalid UTF-8 from hosts, so the key would name another host.
    let key = |url: &[u8]| Profile::SurtPython0_3.canonicalize(url).map(|key| key.into_owned());
    assert_eq!(key(b"http://a.com/\xE9?\xE9").unwrap(), b"com,a)/%e9?%e9");
    assert_eq!(key(b"http://\xE9a.com/").unwrap_err().reason, Reason::HostConflict);
    let rejected = [
        ("http://a:x/", 9, Reason::Port),
        ("http://a:65536/", 9, Reason::Port),
        ("  http://a:b:1/", 11, Reason::Port),
        ("?b", 0, Reason::Host),
        ("/a", 0, Reason::Host),
        ("http:///a/../b", 7, Reason::Host),
        ("http:u@a.com/", 5, Reason::Host),
        ("http://fa\u{df}.de/", 7, Reason::Host),
        ("\u{1}http://a/", 0, Reason::Control(1)),
        // The tool names another host than the one that browsers contact, or one where browsers contact none.
        ("http://http://www.example.com/", 0, Reason::HostConflict),
        (" http://https://a.com/", 1, Reason::HostConflict),
        ("http://a\\@b.com/", 10, Reason::HostConflict),
        ("http://a%40b.com/", 7, Reason::HostConflict),
        ("http://a%2562.com/", 7, Reason::HostConflict),
        ("http://a%3A80/", 7, Reason::HostConflict),
        ("http://www.1.2/", 7, Reason::HostConflict),
        ("http://a[b]c/", 9, Reason::HostConflict),
        ("http://[v1.a]/", 8, Reason::HostConflict),
        ("http://a\u{1}", 7, Reason::HostConflict),
        // These URLs would have the same keys as URLs with the hosts `b.a`, `a` and others.
        ("http://a,b/", 7, Reason::HostConflict),
        ("http://a%29b/", 7, Reason::HostConflict),
        ("foo://%5bx%5d/", 6, Reason::HostConflict),
        ("foo://a%3a80/", 6, Reason::HostConflict),
        // The first two URLs have no host, but their keys would be those of URLs with a host.
        ("foo:80)/x", 4, Reason::HostConflict),
        ("fe80::1)/x", 5, Reason::HostConflict),
        ("http://[::1]:8/", 8, Reason::HostConflict),
        ("file://host:/x", 7, Reason::HostConflict),
        ("file://host:1/x", 7, Reason::HostConflict),
        ("file:///\\a", 7, Reason::HostConflict),
        ("http://a%2e%2eb/", 7, Reason::Host),
        ("http://1.2.3../", 7, Reason::Host),
        ("http://a::/", 9, Reason::Port),
        ("http://a:80:/", 9, Reason::Port),
        ("http://[::1]::/", 13, Reason::Port),
    ];
    check_rejected(Profile::SurtPython0_3, &rejected);
    // The expected values are results of the tool, which skips further slashes as browsers do.
    let cases = [
        ("//example.com/x", "com,example)/x"),
        ("///a-b_c.com/x", "com,a-b_c)/x"),
        ("http:////a.com/", "com,a)/"),
        ("http:/a.com/x?b=1", "com,a)/x?b=1"),
        ("http:///a", "a)/"),
        ("https:///www.a.com", "com,a)/"),
        ("http:a.com", "com,a)/"),
        ("https:a.com/b(C", "com,a)/b(c"),
        ("//a_b.com/b(c)?d=(", "com,a_b)/b(c)?d=("),
        ("HTTP:////a.com/", "HTTP://a.com"),
        ("http://[::1:8]/", "::1:8)/"),
        ("http://[::1]:65535/", "::1:65535)/"),
        ("http://a:/", "a)/"),
        ("http://a:0/", "a)/"),
        ("http://a/B/./c/../d?#\u{e9} ", "a)/b/d"),
        ("http://a/b?\t", "a)/b"),
        ("http://a?b#c", "a)/?b"),
        ("file://h/b", "h)/b"),
    ];
    check(Profile::SurtPython0_3, cases);
}

/// Tests the profiles whose tools use IDNA 2003 with characters that only IDNA 2003 or only UTS 46 maps, removes or rejects, and with
/// characters for which both give the same name.
#[test]
fn characters_of_two_idnas() {
    let differ = "\u{df}\u{1e9e}\u{3c2}\u{200c}\u{200d}\u{558}\u{10fc}\u{115f}\u{13a0}\u{13f8}\u{17b4}\u{1806}\u{180e}\u{1c80}\
        \u{1d2c}\u{1dbf}\u{2064}\u{2090}\u{213b}\u{2150}\u{2189}\u{2c7c}\u{3164}\u{3244}\u{3250}\u{327c}\u{32cc}\u{32ff}\u{3377}\
        \u{33de}\u{a69c}\u{a770}\u{a7f8}\u{ab5c}\u{ab70}\u{abbf}\u{fa2e}\u{fa70}\u{fad9}\u{fe11}\u{ffa0}\u{10781}\u{1d4c1}\u{1d6a4}\
        \u{1d7cb}\u{1df40}\u{1e030}\u{1ee00}\u{1f12a}\u{1f130}\u{1f14f}\u{1f190}\u{1f200}\u{1f251}\u{1fbf0}\u{1fbf9}\u{2f868}\u{2f9bf}\u{e0100}";
    let same = "\u{c9}\u{131}\u{391}\u{410}\u{5d0}\u{e01}\u{4f8b}\u{ac00}\u{1f600}\u{ff41}\u{1d400}\u{2f800}\u{2460}\u{1e00}\u{17f}";
    for profile in [Profile::SurtPython0_3, Profile::SurtJava, W3LIB] {
        for c in differ.chars() {
            check_rejected(profile, &[(&format!("http://a{c}b/"), 7, Reason::Host)]);
        }
        for c in same.chars() {
            let url = format!("http://{c}/");
            assert!(profile.canonicalize(&url).is_ok(), "{profile}: {url}");
        }
    }
}

/// Tests URLs for which the Java tool differs from the Python tool. The expected keys follow from the source of the Java tool.
#[test]
fn surt_java_alone() {
    let cases = [
        ("http://1.2.3/", "3,2,1)/"),
        ("http://017.01.01.01/", "1,1,1,15)/"),
        ("http://010.8.1.1/", "1,1,8,010)/"),
        ("http://9999999999999999999/", "9999999999999999999)/"),
        ("http://99999999999999999999/", "99999999999999999999)/"),
        ("http://www.www2.a.b/", "b,a)/"),
        ("ftp://a.b:0/", "b,a)/"),
        ("foo.b/c", "b,foo)/c"),
        ("///a.b/c", "b,a)/c"),
        ("http:////a.b/c", "b,a)/c"),
        ("HTTP://A.b:80/C", "b,a)/c"),
        ("http://a/\u{7f}\u{e9}", "a)/\u{7f}%c3%a9"),
        ("http://a/\u{2028}b", "a)/b"),
        ("http://a/b%FCr%c3%BC", "a)/b%fcr%c3%bc"),
        ("http://b%FCr/", "b%fcr)/"),
        ("http://wa\u{301}/", "xn--w-ufa)/"),
        (" dns:a.b", " dns:a.b"),
        ("dns:[::1]", "::1)"),
    ];
    check(Profile::SurtJava, cases);
    let rejected = [
        ("http://a:x/", 9, Reason::Port),
        ("http://a:65536/", 9, Reason::Port),
        ("http://a.b:-1/", 11, Reason::Port),
        ("http://a.b:+81/", 11, Reason::Port),
        ("http://a..b/", 7, Reason::Host),
        ("http://[wm]/", 7, Reason::HostConflict),
        ("http://[::1]:8/", 7, Reason::HostConflict),
        ("http://a\u{2028}b/", 0, Reason::HostConflict),
        ("\u{85}a.b/", 0, Reason::HostConflict),
        ("http://u@[::1]/", 11, Reason::Port),
        ("http:///", 8, Reason::Host),
        ("http://\u{e9}%FC/", 7, Reason::Host),
        ("http://u@v@a.b/", 9, Reason::HostConflict),
        ("http://99999999999/", 7, Reason::HostConflict),
        ("http://\u{c9}..A.b/", 7, Reason::Host),
        ("http://a,b/", 7, Reason::HostConflict),
        ("dns:", 4, Reason::Host),
    ];
    check_rejected(Profile::SurtJava, &rejected);
    assert_eq!(Profile::SurtJava.canonicalize(b"http://a/\xFF").unwrap_err().reason, Reason::InvalidUtf8);
}
