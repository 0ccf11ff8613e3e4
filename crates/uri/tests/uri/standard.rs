//! Compares the state machine of the URL Standard with web-platform-tests, and the crate with the state machine.

use std::borrow::Cow;

use simdpct_uri::canon::{Base, Profile};
use testkit::shapes::Rng;
use testkit::tiers::scale;

use crate::rows;
use crate::state_machine::{parse, resolve};

/// Checks the state machine against web-platform-tests.
#[test]
fn the_state_machine_passes_urltestdata() {
    for row in rows(include_str!("../vectors/urltestdata.tsv")) {
        let base = Some(&*row[1]).filter(|base| *base != "-");
        let answer = resolve(base, &row[0]).unwrap_or_else(|| "-".to_owned());
        assert_eq!(answer, row[2], "{:?} {base:?}", row[0]);
    }
}

/// Delimiters, and texts for which the URL Standard has a special rule in some part of a URL.
const PIECES: &[&str] = &[
    "/",
    "/",
    "/",
    "\\",
    ":",
    ":",
    "?",
    "#",
    "@",
    ".",
    "..",
    "%2e",
    "%2E.",
    ".%2e",
    "C:",
    "C|",
    "/C:/",
    "//",
    "\\\\",
    "[",
    "]",
    "[::1]",
    "%",
    "%41",
    "%5B",
    "%7E",
    "%00",
    "%7C",
    "~",
    "a",
    "b",
    "h",
    "u:p@",
    ":80",
    ":",
    "&",
    "=",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    "\x1F",
    "\x7F",
    "^",
    "'",
    "\"",
    "<",
    "`",
    "{",
    "|",
    ";",
    "\u{ff5e}",
    "\u{ff0f}",
    "\u{ff0e}",
    "\u{ff1a}",
    "\u{ff05}",
    "\u{ff23}",
    "\u{1f600}",
];
const HOSTS: &[&str] = &[
    "h",
    "a.b",
    "example.com",
    "localhost",
    "LOCAL%68ost",
    "paypal%7E0%7E",
    "a~%30~b",
    "\u{ff5e}0\u{ff5e}",
    "C:",
    "C|",
    "xn--a",
    "xn--zca",
    "\u{e9}",
    "\u{df}",
    "%C3%A9",
    "%C2%AD",
    "\u{ad}",
    "\u{3002}",
    "\u{5d0}.1",
    "\u{ff11}",
    "1",
    "0x",
    "09",
    "1.2.3",
    "256",
    "4294967295",
    "4294967296",
    "[1:0:0:2::0:0]",
    "[::ffff:1.2.3.4]",
    "[::1.2.3.04]",
    "[1:2:3:4:5:6:7::]",
    "",
];
const PORTS: &[&str] = &["", "", "", ":", ":0", ":80", ":00443", ":21", ":65535", ":65536", ":8x"];
const SCHEMES: &[&str] = &[
    "http:", "https:", "HTTP:", "ws:", "wss:", "ftp:", "file:", "file:", "File:", "sc:", "a+b-c.1:",
    "mailto:", "1:", "",
];
const SEGMENTS: &[&str] = &[
    "", "a", "b c", ".", "..", "%2e", ".%2E", "%2e%2e", "...", "C:", "C|", "c|", "CC:", "~0~", "%7E0%7E",
    "\u{ff5e}", "\u{e9}", "a:b", "a^`{}",
];
const BASES: &[&str] = &[
    "http://u:p@h:8/a/b?q#f",
    "https://h",
    "ws://h/a;b/c:d/",
    "file:///C:/a/b?q",
    "file://h/a",
    "file:///C:",
    "file://h/C|/",
    "sc://h/a/b?q#f",
    "sc://h",
    "sc:/a/b",
    "sc:/.//a",
    "sc:///C:/a",
    "mailto:a  ?q#f",
    "data:a",
];

fn pick(from: &[&'static str], rng: &mut Rng) -> &'static str {
    from[rng.below(from.len())]
}

/// Returns pieces in random order, perhaps after a scheme and slashes, or a URL with up to two pieces inserted at random places.
fn random_url(rng: &mut Rng) -> String {
    let mut url = pick(SCHEMES, rng).to_owned();
    url += pick(&["", "/", "//", "//", "//", "\\\\", "/\\", "///"], rng);
    if rng.below(3) == 0 {
        url = if rng.below(2) == 0 { String::new() } else { url };
        return url + &(0..rng.below(9)).map(|_| pick(PIECES, rng)).collect::<String>();
    }
    url += pick(&["", "", "", "u@", ":@", "u:p:q@r@", "@"], rng);
    url += pick(HOSTS, rng);
    url += pick(&["", "", "", ".", ".com", "..", "\u{ff0e}h", ".1"], rng);
    url += pick(PORTS, rng);
    for _ in 0..rng.below(5) {
        url += pick(&["/", "/", "/", "\\"], rng);
        url += pick(SEGMENTS, rng);
    }
    url += pick(&["", "", "?", "?/../C:", "? '\"<>`^|", "?a?b"], rng);
    url += pick(&["", "", "#", "# '\"<>`^|\\", "#a#b"], rng);
    for _ in 0..rng.below(3) {
        let places: Vec<usize> = url.char_indices().map(|(at, _)| at).collect();
        url.insert_str(
            places.get(rng.below(places.len() + 1)).copied().unwrap_or(url.len()),
            pick(PIECES, rng),
        );
    }
    url
}

/// Compares the profile `whatwg` and [`Base`] with the state machine.
#[test]
fn the_state_machine_gives_the_same() {
    let of_both = |base: &&str| (Base::parse(base).unwrap(), parse(base, None).unwrap());
    let bases: Vec<_> = BASES.iter().map(of_both).collect();
    let mut rng = Rng(97);
    for _ in 0..3000 * scale() {
        let input = random_url(&mut rng);
        let form = |url: &str| Profile::Whatwg.canonicalize(url).ok().map(Cow::into_owned);
        let right = resolve(None, &input);
        assert_eq!(form(&input), right, "{input:?}");
        // Parsing and serializing the result once more changes nothing.
        if let Some(url) = right {
            assert_eq!(form(&url).as_ref(), Some(&url), "{input:?}");
        }
        let (base, record) = &bases[rng.below(bases.len())];
        let right = parse(&input, Some(record)).map(|url| url.serialize());
        assert_eq!(base.resolve(&input).ok(), right, "{input:?} {}", base.as_str());
    }
}

/// Counts the non-ASCII characters that a host may hold. An update of idna with tables of another version of Unicode changes the number:
/// then the description of the profile, its documentation and README.md need the new version.
#[test]
fn idna_has_the_version_of_unicode_that_the_profile_names() {
    let is_valid = |c: &char| Profile::Whatwg.canonicalize(&format!("http://a{c}b/")).is_ok();
    assert_eq!(('\u{80}'..=char::MAX).filter(is_valid).count(), 169_297);
    assert!(Profile::Whatwg.edition().ends_with("Unicode 18"));
    // A seal character, which Unicode 18 added, and a code point that is not assigned.
    assert!(is_valid(&'\u{3e8ac}') && !is_valid(&'\u{3ffff}'));
}
