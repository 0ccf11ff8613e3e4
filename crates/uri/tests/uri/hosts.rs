//! Tests that a browser contacts the same host for a URL and for its canonical form, in every profile.

use simdpct_uri::canon::{Profile, Reason};
use simdpct_uri::split;
use testkit::shapes::Rng;
use testkit::tiers::scale;

use crate::W3LIB;
use crate::canon::{check, check_lines, check_rejected};
use crate::state_machine::resolve;

/// The kinds of URLs: a name, and the pieces that the URLs are made of.
#[rustfmt::skip]
const KINDS: &[(&str, &[&str])] = &[
    ("marks", &["/", "//", "\\", ":", "?", "#", "@", "[", "]", "|", "~", "^", ",", ")", ";", "&", "="]),
    ("escapes", &[
        "%2f", "%5c", "%2e", "%3a", "%40", "%25", "%C2%AD", "%00", "%31", "%7E", "%5B", "%7c", "%68", "%73", "%2563", "%", "%4", "%3F",
        "%E2%80%8B", "%c3%a9", "%FC", INVALID, "%0a", "%20", "%09", "%43", "/", ".", "a",
    ]),
    ("full-width and ignored characters", &[
        "\u{ff5e}", "\u{ff0f}", "\u{ff0e}", "\u{ad}", "\u{3002}", "\u{ff3c}", "\u{ff1a}", "\u{ff20}", "\u{ff03}", "\u{ff05}", "\u{ff11}",
        "\u{ff0c}", "\u{ff09}", "\u{200b}", "\u{2060}", "\u{2024}", "\u{e9}", "\u{df}", "\u{2100}", "\u{85}", "\u{2028}", "www.", ".", "0",
    ]),
    ("drive letters", &["C:", "C|", "/C:", "/c|/", "%43:", "C%3a", "c%7C", "..", "/", "\\", "//", "localhost", "LOCAL%68ost", "x"]),
    ("backslashes and dots", &["/", "\\", ".", "..", "/.", "/..", "/./", "/../", "//", "/\\", "%2e", "%2E.", "a", "b", "evil.com", ":"]),
    ("blanks", &["\t", "\n", "\r", " ", "\0", "\u{1}", "\u{1f}", "\u{7f}", "\u{a0}", "/", "\\", "a", ":", "//"]),
    ("addresses", &[
        "1", "127.1", "0x7f", "0x", "08", "256", "4294967295", "1.2.3.4", ".", "..", "[::1]", "[::%31]", "[1::FFFF:1.2.3.4]", "[::1", "]",
        "[v1.a]", "[::1%25e]", "[::ffff:1.2.3.4]", "[64:ff9b::1.2.3.4]", ":80", ":8", ":0443", ":65536", ":", "\u{ff11}", "www.",
    ]),
    ("schemes", &[
        "http:", "https:", "file:", "ws:", "mailto:", "javascript:", "java%73cript", "h%74tp:", "%68ttp", "sc:", ":", "//", "/", "\n", " ", "a",
        "http%3A", "%2F%2F", "dns:", "filedesc", "localhost:80", "a.b:80",
    ]),
];

/// The starts of URLs of any kind.
#[rustfmt::skip]
const STARTS: &[&str] = &[
    "", "", "", "/", "//", "///", "\\", "/\\", "/.", "/a/..", "http:", "http:/", "http://", "http://", "HTTP://", "https:///", "http:\\\\", "ws://",
    "wss:/", "ftp://", "file:", "file:/", "file://", "File:///", "file:\\\\", "mailto:", "sc:", "sc:/", "sc://", "hTtP:", " http://", "http://u@",
    "http://u:p@", "http://www.", "http://a", "//a", "h\tttp://", "urn:", "a.b", "a.b:80/", "java%73cript", "%68ttp\n",
];

/// The bases against which relative references are resolved.
const BASES: &[Option<&str>] =
    &[None, Some("http://base.example/d/f"), Some("file://base/d/f"), Some("file:///C:/d")];

/// A character for private use, which [`random_url`] replaces by a byte that is not valid UTF-8.
const INVALID: &str = "\u{f8ff}";

/// Makes a random URL. Returns the name of its kind, and the URL.
fn random_url(rng: &mut Rng) -> (&'static str, Vec<u8>) {
    let pick = |from: &[&'static str], rng: &mut Rng| from[rng.below(from.len())];
    let (kind, pieces) = KINDS[rng.below(KINDS.len())];
    let mut url = pick(STARTS, rng).to_owned();
    for _ in 0..rng.below(8) {
        url += match rng.below(8) {
            0 => pick(KINDS[rng.below(KINDS.len())].1, rng),
            1 => pick(&["a", "b", "/", "evil.com", "x"], rng),
            _ => pick(pieces, rng),
        };
    }
    let pieces: Vec<&[u8]> = url.split(INVALID).map(str::as_bytes).collect();
    (kind, pieces.join(&b'\xff'))
}

/// The scheme and the host of a URL that browsers open themselves. The host of a `file` URL may be empty.
type Contact = Option<(String, String)>;

/// Returns the scheme and the host that a browser finds in `url`. Returns `None` if the URL is not valid, or has a scheme that is not special.
fn contact(base: Option<&str>, url: &str) -> Contact {
    let url = resolve(base, url)?;
    let parts = split(&url);
    let scheme = parts.scheme()?;
    let is_special = ["http", "https", "ws", "wss", "ftp", "file"].contains(&scheme);
    let host = parts.host().filter(|_| is_special)?;
    Some((scheme.to_owned(), host.raw().to_owned()))
}

/// Returns pairs of the contact of `url` and that of `form`, which must be equal if `form` is the form of `url`.
fn contacts(profile: Profile, url: &str, form: &str) -> Vec<(Contact, Contact)> {
    let name = profile.name();
    if name.starts_with("surt") {
        return surt_contacts(profile == Profile::SurtJava, url, form).into_iter().collect();
    }
    if name.starts_with("safe-browsing") {
        return safe_browsing_contacts(url, form).into_iter().collect();
    }
    let url_without = without_removed(url);
    // For `rfc3986*`, URLs such as `http:a` are tested with bases, too. References with an authority get no `file`
    // base, because web pages have none.
    let bases = match split(&url_without).is_uri() {
        true if name.starts_with("rfc3986") => BASES,
        true => &BASES[..1],
        false if has_two_slashes(&url_without) => &BASES[..2],
        false => BASES,
    };
    let pairs = bases.iter().map(|&base| (contact(base, url), contact(base, form)));
    // `escapes` rejects nothing, so it also decodes the escape in `http://[::%31]/`, a URL that browsers reject.
    pairs.filter(|(of_url, _)| profile != Profile::Escapes || of_url.is_some()).collect()
}

/// Returns a URL without the characters that browsers remove.
fn without_removed(url: &str) -> String {
    url.trim_matches(|c| c <= ' ').replace(['\t', '\n', '\r'], "")
}

fn has_two_slashes(url: &str) -> bool {
    matches!(url.as_bytes(), [b'/' | b'\\', b'/' | b'\\', ..])
}

/// Returns the contact of a URL, to which a tool adds `http://` if it has no scheme. If `has_ports`, `a.b:80` is a host
/// and a port, and `a.b` is not a scheme. Returns `None` if browsers do not open URLs of the scheme.
fn contact_of_key(url: &str, has_ports: bool) -> Option<Contact> {
    let url = without_removed(url);
    let scheme = split(&url).scheme().map(str::to_ascii_lowercase);
    let Some(scheme) = scheme else {
        return Some(match has_two_slashes(&url) {
            true => contact(BASES[1], &url),
            false => contact(None, &format!("http://{}", url.trim_start_matches('/'))),
        });
    };
    let after = &url[scheme.len() + 1..];
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if has_ports
        && (scheme.contains('.') || scheme == "localhost")
        && digits > 0
        && matches!(after.as_bytes().get(digits), None | Some(b'/' | b'?' | b'#'))
    {
        return Some(contact(None, &format!("http://{url}")));
    }
    let is_special = ["http", "https", "ws", "wss", "ftp", "file"].contains(&&*scheme);
    is_special.then(|| contact(None, &url))
}

/// Returns the contacts of a URL and its key if they differ. A key has the reversed labels of the host, without `www` and a dot at its end.
fn surt_contacts(is_java: bool, url: &str, key: &str) -> Option<(Contact, Contact)> {
    let of_url = contact_of_key(url, is_java)?;
    // Texts such as `filedesc` name records of an archive. They are not URLs.
    if is_java && ["dns:", "filedesc", "warcinfo"].iter().any(|opaque| url.contains(opaque))
        || url.starts_with("filedesc")
    {
        return None;
    }
    let is_file = url.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
    let scheme = if is_file { "file" } else { "http" };
    let reversed = |labels: &str| labels.split(',').rev().collect::<Vec<_>>().join(".");
    let (host, _) = key.split_once(')').unwrap_or_default();
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let of_key = match &of_url {
        // A key without a host, such as `mailto:b)`, starts with a scheme.
        _ if host.is_empty() || name.contains(['/', '?']) => contact(None, key),
        Some((_, address)) if address.starts_with('[') => {
            let address = |host: &str| contact(None, &format!("{scheme}://[{}]/", reversed(host)));
            let host = host.replace(['[', ']'], "");
            address(&host).or_else(|| address(host.rsplit_once(':')?.0)).or_else(|| contact(None, key))
        }
        _ if !port.bytes().all(|byte| byte.is_ascii_digit()) => contact(None, key),
        _ => contact(None, &format!("{scheme}://{}/", reversed(name))),
    };
    let (of_url, of_key) = (of_url.map(|(_, host)| host), of_key.map(|(_, host)| host));
    // Keys have no dot at the end. In `www.%C2%AD`, the dot is followed by a label that browsers ignore, so the key names no host.
    let without_dot = |host: &str| host.strip_suffix('.').unwrap_or(host).to_owned();
    let mut same = Vec::new();
    for host in of_url.iter().flat_map(|host| [host.clone(), without_dot(host)]) {
        let host = without_www(&host, is_java).to_owned();
        // A `file` URL of this machine has no host.
        let is_local = is_file && host == "localhost";
        same.extend([without_dot(&host), if is_local { String::new() } else { host }]);
    }
    let is_same = match &of_key {
        Some(host) => same.contains(host) || same.contains(&without_dot(host)),
        None => of_url.is_none() || same.contains(&String::new()),
    };
    let contact = |host: Option<String>| host.map(|host| (scheme.to_owned(), host));
    Some((contact(of_url), contact(of_key))).filter(|_| !is_same)
}

/// Returns a host without one `www` label at its start, or without all of them if `all`.
fn without_www(host: &str, all: bool) -> &str {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((www, rest)) = host.split_once('.') else { return host };
    match www.strip_prefix("www").is_some_and(is_digits) {
        true if all => without_www(rest, true),
        true => rest,
        false => host,
    }
}

/// Returns the contacts of a URL and its key, with their hosts changed by Google's rules. Returns `None` if these rules decode the scheme.
fn safe_browsing_contacts(url: &str, key: &str) -> Option<(Contact, Contact)> {
    let of_url = contact_of_key(url, true)?;
    let is_decoded = !split(&without_removed(url)).is_uri()
        && simdpct::decode_until_stable(&without_removed(url)).windows(3).any(|text| text == b"://");
    let plain = |(scheme, host): (String, String)| {
        let host = match host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']')?.parse::<std::net::Ipv6Addr>().ok())
        {
            Some(address) => match address.segments() {
                [0, 0, 0, 0, 0, 0xFFFF, a, b] | [0x64, 0xFF9B, 0, 0, 0, 0, a, b] => {
                    std::net::Ipv4Addr::from(u32::from(a) << 16 | u32::from(b)).to_string()
                }
                _ => host,
            },
            None => host.split('.').filter(|label| !label.is_empty()).collect::<Vec<_>>().join("."),
        };
        (scheme, host)
    };
    (!is_decoded).then(|| (of_url.map(plain), contact(None, key).map(plain)))
}

/// Checks random URLs: for a browser, the form of a URL names the same host as the URL, in every profile.
#[test]
fn forms_name_the_host_of_their_url() {
    let mut rng = Rng(46);
    let mut wrong = Vec::new();
    for _ in 0..200 * scale() {
        let (kind, url) = random_url(&mut rng);
        for &profile in Profile::ALL {
            let Ok(form) = profile.canonicalize(&url) else { continue };
            if *form == *url && !profile.name().starts_with("surt") {
                continue;
            }
            let (url, form) = (String::from_utf8_lossy(&url), String::from_utf8_lossy(&form));
            let different =
                contacts(profile, &url, &form).into_iter().find(|(of_url, of_form)| of_url != of_form);
            if let Some((of_url, of_form)) = different {
                wrong.push(format!("{profile}, {kind}: {url:?} {of_url:?}\n  becomes {form:?} {of_form:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks that the kernels of each tier prove no line that the scalar tier, without kernels, changes or rejects.
#[test]
fn the_kernels_agree_with_the_slow_path() {
    let mut rng = Rng(64);
    for _ in 0..scale() {
        let urls: Vec<Vec<u8>> = (0..400).map(|_| random_url(&mut rng).1).collect();
        check_lines(&urls.join(&b'\n'));
    }
}

const RFC3986: [Profile; 2] = [Profile::Rfc3986, Profile::Rfc3986Scheme];
const SURT: [Profile; 2] = [Profile::SurtPython0_3, Profile::SurtJava];

fn conflicts<const N: usize>(profiles: impl IntoIterator<Item = Profile>, urls: [(&str, usize); N]) {
    let urls = urls.map(|(url, offset)| (url, offset, Reason::HostConflict));
    profiles.into_iter().for_each(|profile| check_rejected(profile, &urls));
}

/// Tests paths from which dot segments are removed. Browsers could then read the path as an authority, or no longer find one.
#[test]
fn backslashes_and_dots() {
    for profile in RFC3986 {
        let cases = [
            ("/./\\b", "/./\\b"),
            ("/a/../\\evil.com", "/./\\evil.com"),
            ("/a/..//b", "/.//b"),
            ("/a/../b\\", "/b\\"),
            ("\\/b/../c", "\\/b/../c"),
            ("http:/a/b/../c", "http:/a/c"),
            ("foo:/b/../\\b", "foo:/\\b"),
            ("//\\b/..", "//\\b/"),
        ];
        check(profile, cases);
        check(profile, cases.map(|(_, form)| (form, form)));
    }
    conflicts(
        RFC3986,
        [
            ("///example.org/../path", 2),
            ("/\\b/..", 0),
            ("///.", 2),
            // Browsers read these URLs as references if the base has the same scheme.
            ("http:\\\\[a/../", 5),
            ("http:/b/../\\b", 5),
            ("file:/b/../\\b", 5),
            ("file:\\\\/../", 5),
        ],
    );
}

#[test]
fn drive_letters() {
    conflicts(RFC3986, [("file://%43|/x", 11), ("file://%43:/x", 10)]);
    conflicts([Profile::SafeBrowsing4, Profile::SafeBrowsing5], [("file://c%7C/x", 7)]);
    check(Profile::SurtPython0_3, [("file://C|/x", "c|)/x")]);
}

#[test]
fn addresses() {
    conflicts(RFC3986, [("http:/[::%31]", 5)]);
    // The key of this URL would be that of a URL with the host `[::ffff:1:8.2.3.4]`.
    conflicts([Profile::SurtJava], [("http://[::ffff:1.2.3.4]:8/", 7)]);
    conflicts([Profile::SurtPython0_3], [("http://[::ffff:1.2.3.4]:8/", 8), ("http://a:[a/", 10)]);
    check(Profile::SurtPython0_3, [("http://[::ffff:1.2.3.4]/", "4,3,2,::ffff:1)/")]);
}

/// Tests blanks and control characters at the start and the end of URLs. Browsers remove them, or find a host after them.
#[test]
fn blanks() {
    // After a byte that browsers remove, an escape stays if decoding it would complete a scheme.
    for profile in RFC3986 {
        check(
            profile,
            [(" %68ttp://b/%41", " %68ttp://b/A"), ("\u{1}java%73cript:x", "\u{1}java%73cript:x")],
        );
    }
    // In the forms, a slash would follow the blank, so browsers would read the blank as a part of the host.
    conflicts([Profile::Rfc3986Scheme], [("http://a ", 8), ("http://a\u{1}", 8)]);
    conflicts([Profile::SurtJava], [("http:/\u{2028}/a.b", 0)]);
    conflicts([Profile::SurtJava], [("file:///a", 0), ("file://www.a.b/x", 0)]);
    conflicts([Profile::SafeBrowsing4], [("file://\\@a\u{7f}/", 9)]);
}

/// Checks that a line feed ends a URL in `canonicalize_lines`, but not in `canonicalize`, because browsers remove it.
#[test]
fn schemes() {
    let text = "java%73cript\n:alert(1)";
    check(Profile::Escapes, [(text, text), ("java%73cript\n:%41\n%41", "java%73cript\n:A\nA")]);
    let mut out = Vec::new();
    Profile::Escapes.canonicalize_lines(text.as_bytes(), &mut out, |_, _| ());
    assert_eq!(out, b"javascript\n:alert(1)");
}

/// Tests labels of characters that IDNA ignores. The expected forms are those of surt 0.3.1 and w3lib 2.5.0.
#[test]
fn ignored_labels() {
    let cases = [
        ("http://www.%C2%AD/", "%c2%ad)/"),
        ("http://www.\u{ad}", "%c2%ad)/"),
        ("www.%C2%AD", "%c2%ad)/"),
        ("http://www.www.%C2%AD/", "%c2%ad,www)/"),
        ("http://a.%E2%80%8B./", "%e2%80%8b,a)/"),
        ("http://a.\u{2060}.b/", "b,%e2%81%a0,a)/"),
        ("http://a\u{3002}\u{ad}/", "a%e3%80%82%c2%ad)/"),
        ("http://\u{ad}www.a.com/", "com,a)/"),
    ];
    check(Profile::SurtPython0_3, cases);
    let cases = [
        ("http://www.%C2%AD/", "http://www.%c2%ad/"),
        ("http://www.\u{ad}/", "http://www.\u{ad}/"),
        ("http://\u{c9}.\u{ad}/", "http://\u{e9}.\u{ad}/"),
        ("http://a\u{3002}\u{ad}/", "http://a\u{3002}\u{ad}/"),
        ("http://\u{ad}www.a.com/", "http://www.a.com/"),
    ];
    check(W3LIB, cases);
    // Browsers accept neither a host that has only ignored characters, nor its form.
    check(W3LIB, [("http://\u{ad}/", "http://\u{ad}/")]);
    conflicts(SURT, [("http://www.1.%C2%AD/", 7)]);
}
