//! Published vectors of canonical forms. Each vector is the result of a profile, or is listed with the reason why it is not.

use simdpct_uri::canon::{Profile, Reason};

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

/// Checks the examples of Google's page for version 5, and the vectors of version 4, which are valid for both versions.
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
        ("http://b%C3%BCcher.ch/", "http://b%C3%BCcher.ch/"),
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
    let cases =
        rows(include_str!("../vectors/surt-python-0.3.tsv")).map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(check(Profile::SurtPython0_3, cases), 411);
    // The tool accepts invalid UTF-8, but removes it from hosts.
    let key = |url: &[u8]| Profile::SurtPython0_3.canonicalize(url).map(|key| key.into_owned());
    assert_eq!(key(b"http://\xE9a.com/\xE9?\xE9").unwrap(), b"com,a)/%e9?%e9");
    let rejected = [
        ("http://a:x/", 9, Reason::Port),
        ("http://a:65536/", 9, Reason::Port),
        ("  http://a:b:1/", 11, Reason::Port),
        ("?b", 0, Reason::Host),
        ("/a", 0, Reason::Host),
        ("http:///a", 7, Reason::Host),
        ("http://fa\u{df}.de/", 7, Reason::Host),
    ];
    check_rejected(Profile::SurtPython0_3, &rejected);
}

/// Tests URLs for which the Java tool differs from the Python tool. The expected keys follow from the source of the Java tool.
#[test]
fn surt_java_alone() {
    let cases = [
        ("http://1.2.3/", "3,2,1)/"),
        ("http://017.01.01.01/", "1,1,1,15)/"),
        ("http://010.8.1.1/", "1,1,8,010)/"),
        ("http://99999999999/", "255,231,118,72)/"),
        ("http://99999999999999999999/", "99999999999999999999)/"),
        ("http://www.www2.a.b/", "b,a)/"),
        ("http://u@v@a.b/", "b,v@a)/"),
        ("http://a.b:-1/", "b,a)/"),
        ("http://a.b:+81/", "b,a:81)/"),
        ("ftp://a.b:0/", "b,a)/"),
        ("foo.b/c", "b,foo)/c"),
        ("///a.b/c", "b,a)/c"),
        ("http:////a.b/c", "b,a)/c"),
        ("HTTP://A.b:80/C", "b,a)/c"),
        ("http://a/\u{7f}\u{e9}", "a)/\u{7f}%c3%a9"),
        ("http://a/\u{2028}b", "a)/b"),
        ("http://a/b%FCr%c3%BC", "a)/b%fcr%c3%bc"),
        ("http://b%FCr/", "b%fcr)/"),
        ("http://\u{c9}..A.b/", "b,a,%c3%a9)/"),
        ("http://wa\u{301}/", "xn--w-ufa)/"),
        (" dns:a.b", " dns:a.b"),
        ("dns:[::1]", "::1)"),
    ];
    check(Profile::SurtJava, cases);
    let rejected = [
        ("http://a:x/", 9, Reason::Port),
        ("http://a:2147483648/", 9, Reason::Port),
        ("http://u@[::1]/", 11, Reason::Port),
        ("http:///", 8, Reason::Host),
        ("http://\u{e9}%FC/", 7, Reason::Host),
        ("dns:", 4, Reason::Host),
    ];
    check_rejected(Profile::SurtJava, &rejected);
    assert_eq!(Profile::SurtJava.canonicalize(b"http://a/\xFF").unwrap_err().reason, Reason::InvalidUtf8);
}
