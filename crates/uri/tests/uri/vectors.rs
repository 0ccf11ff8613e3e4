//! Published vectors of canonical forms. Each vector is the result of a profile, or is listed with the reason why it is not.

use simdpct_uri::canon::{Profile, Reason, resolve_standard};

use crate::canon::{check, check_rejected, form};
use crate::rows;

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

/// Compares `rfc3986-scheme` with crawler-commons, whose form is not a profile. The forms are equal unless the row has a reason
/// why not.
#[test]
fn crawler_commons() {
    let rows = rows(include_str!("../vectors/crawler-commons.tsv"));
    let compared =
        compare(rows.map(|row| {
            [row[0].clone(), form(Profile::Rfc3986Scheme, &row[0]), row[1].clone(), row[2].clone()]
        }));
    assert_eq!(compared, (61, 108));
}

/// Compares `whatwg` with web-platform-tests, for hosts in ASCII.
#[test]
fn hosts_in_ascii() {
    let rows = rows(include_str!("../vectors/toascii.tsv"));
    let compared = compare(rows.map(|row| {
        let ours = form(Profile::Whatwg, &format!("https://{}/x", row[0]));
        let host = ours.strip_prefix("https://").and_then(|rest| rest.strip_suffix("/x"));
        [row[0].clone(), host.unwrap_or("-").to_owned(), row[1].clone(), row[2].clone()]
    }));
    assert_eq!(compared, (80, 87));
}

/// Checks all cases of web-platform-tests that the crate url 2.5.8 is tested with, and counts those for which url itself differs.
#[test]
fn urltestdata() {
    let (mut cases, mut of_url, mut wrong) = ([0, 0], 0, Vec::new());
    for row in rows(include_str!("../vectors/urltestdata.tsv")) {
        let (input, base, right) = (&*row[0], Some(&*row[1]).filter(|base| *base != "-"), &*row[2]);
        let ours = match base {
            None => Profile::Whatwg
                .canonicalize(input)
                .ok()
                .map(|url| String::from_utf8(url.into_owned()).unwrap()),
            Some(base) => resolve_standard(base, input).ok(),
        };
        let ours = ours.unwrap_or_else(|| "-".to_owned());
        if ours != right {
            wrong.push(format!("{input:?} {base:?}\n  ours  {ours:?}\n  right {right:?}"));
        }
        let base_url = base.map(url::Url::parse).transpose().ok().flatten();
        let theirs = url::Url::options().base_url(base_url.as_ref()).parse(input);
        of_url += usize::from(theirs.map_or("-".to_owned(), String::from) != right);
        cases[usize::from(base.is_some())] += 1;
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((cases, of_url), ([503, 316], 36));
}

/// Checks where the profile follows the standard and not url, and the classes in which it differs from newer tests of the standard.
#[test]
fn differences_of_url() {
    let cases = [
        ("http://h/C:/..", "http://h/"),
        ("http://h/a/C|/../../b", "http://h/b"),
        ("http://h/~0~/C:/../x", "http://h/~0~/x"),
        ("foo://h/C:/../../x", "foo://h/x"),
        ("foo:/C:/..//x", "foo:/.//x"),
        ("http:\\\\C:\\D:\\..\\x", "http://c/x"),
        ("file:w|", "file:///w:"),
        ("file://host/C:/x", "file://host/C:/x"),
        ("file://h//p", "file://h//p"),
        ("sc://@", "rejected"),
        ("sc://u@/", "rejected"),
        ("sc://u@?", "rejected"),
        ("foo://h:\\x", "rejected"),
        // Newer tests escape the caret and the last space, and accept the host.
        ("http://h/a^b", "http://h/a^b"),
        ("data:a b  ?x", "data:a b  ?x"),
        ("http://xn--a/", "rejected"),
    ];
    check(Profile::Whatwg, cases);
    for (base, reference, right) in [
        ("http://h/C:/x", "../y", "http://h/y"),
        ("http://h/a", "///G", "http://g/"),
        ("http://h/a", "HTTP:/C:/../x", "http://h/x"),
        ("http://h/a/b", "http:C:/../x", "http://h/a/x"),
        ("http://h/a/b", "http:?x", "http://h/a/b?x"),
        ("http://h/a/b", "http://C:/../x", "http://c/x"),
        ("http://h/a", "/\\/G", "http://g/"),
        ("sc:///p/q", "\\x", "sc:///p/\\x"),
        ("a://b", "/\\\\/i", "a://b/\\\\/i"),
    ] {
        assert_eq!(resolve_standard(base, reference).unwrap(), right, "{base} {reference}");
    }
    assert_eq!(resolve_standard("a", "b").unwrap_err().reason, Reason::Base);
    assert_eq!(resolve_standard("mailto:a", "b").unwrap_err().reason, Reason::Relative);
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

/// Compares with w3lib, called with other arguments. One case differs, because its query is in a charset that is not UTF-8.
#[test]
fn w3lib_arguments() {
    let (mut same, mut cases) = (0, 0);
    for row in rows(include_str!("../vectors/w3lib-2.5-arguments.tsv")) {
        let profile = match &*row[0] {
            "keep_blank_values=False" => Profile::W3lib2_5NoBlankValues,
            "keep_fragments=True" => Profile::W3lib2_5Fragments,
            // No profile has another charset than UTF-8. For the first three charsets, the escapes of the query are equal in
            // UTF-8.
            "encoding=latin1" | "encoding=utf8" | "encoding=cp1251" | "encoding=iso2022jp" => {
                Profile::W3lib2_5
            }
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
        ("http://fa\u{df}.de/", "http://xn--fa-hia.de/"),
        ("http://\u{1f4a9}..com./", "http://xn--ls8h.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
    ];
    check(Profile::SafeBrowsing5, cases);
    check_rejected(Profile::SafeBrowsing5, &[("http://./", 7, Reason::Host)]);
    // Version 4 has no rules for IPv6 addresses.
    check(Profile::SafeBrowsing4, [("http://[2001:0db8:0000::1]/", "http://[2001:0db8:0000::1]/")]);
}

/// Compares with the results of surt 0.3.1, with a DNS resolver that knows only addresses.
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
        // The keys of `b.a` and `a` would be equal to these.
        ("http://a,b/", 7, Reason::HostConflict),
        ("http://a%29b/", 7, Reason::HostConflict),
        ("foo://%5bx%5d/", 6, Reason::HostConflict),
        ("foo://a%3a80/", 6, Reason::HostConflict),
        // These keys would be those of hosts.
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
        ("HTTP:////a.com/", "HTTP://a.com"),
        ("http://[::1]/", "::1)/"),
        ("http://[::1:8]/", "::1:8)/"),
        ("http://[::1]:65535/", "::1:65535)/"),
        ("http://a:/", "a)/"),
        ("http://a:0/", "a)/"),
        ("http://a/B/./c/../d?#\u{e9} ", "a)/b/d"),
        ("http://a/b?\t", "a)/b"),
        ("http://a?b#c", "a)/?b"),
        ("http://a b/", "a%20b)/"),
        ("file://h/b", "h)/b"),
    ];
    check(Profile::SurtPython0_3, cases);
}

/// Tests characters of each kind that IDNA 2003 and UTS 46 map to different names, in the profiles whose tools use IDNA 2003: mapped,
/// removed or rejected by only one of them, and characters for which both give the same name.
#[test]
fn characters_of_two_idnas() {
    let differ = "\u{df}\u{1e9e}\u{3c2}\u{200c}\u{200d}\u{558}\u{10fc}\u{115f}\u{13a0}\u{13f8}\u{17b4}\u{1806}\u{180e}\u{1c80}\
        \u{1d2c}\u{1dbf}\u{2064}\u{2090}\u{213b}\u{2150}\u{2189}\u{2c7c}\u{3164}\u{3244}\u{3250}\u{327c}\u{32cc}\u{32ff}\u{3377}\
        \u{33de}\u{a69c}\u{a770}\u{a7f8}\u{ab5c}\u{ab70}\u{abbf}\u{fa2e}\u{fa70}\u{fad9}\u{fe11}\u{ffa0}\u{10781}\u{1d4c1}\u{1d6a4}\
        \u{1d7cb}\u{1df40}\u{1e030}\u{1ee00}\u{1f12a}\u{1f130}\u{1f14f}\u{1f190}\u{1f200}\u{1f251}\u{1fbf0}\u{1fbf9}\u{2f868}\u{2f9bf}\u{e0100}";
    let same = "\u{c9}\u{131}\u{391}\u{410}\u{5d0}\u{e01}\u{4f8b}\u{ac00}\u{1f600}\u{ff41}\u{1d400}\u{2f800}\u{2460}\u{1e00}\u{17f}";
    for profile in [Profile::SurtPython0_3, Profile::SurtJava, Profile::W3lib2_5] {
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
