//! Compares the converter of whole URLs with a reference that works a byte at a time.

use proptest::prelude::*;
use simdpct::ByteSet;
use simdpct_uri::Converter;
use simdpct_uri::canon::Base;
use testkit::oracle::{UNRESERVED, escape_at};

const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";

/// Returns the length of the escape at the start of `rest` if it is a spelling of a byte of `syntax`: `%XX`, `%25XX`, `%2525XX`
/// and so on, where `XX` are the hexadecimal digits of the byte.
fn spelling(rest: &[u8], syntax: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'%') {
        return None;
    }
    let doubled = rest[1..].chunks(2).take_while(|pair| pair == b"25").count();
    let byte = escape_at(&[b"%", &rest[1 + 2 * doubled..]].concat(), 0)?;
    syntax.contains(&byte).then_some(3 + 2 * doubled)
}

/// Encodes or decodes a URL a byte at a time, as the documentation of the converter describes it.
fn reference(url: &[u8], syntax: &[u8], encode: bool) -> Vec<u8> {
    let blanks: Vec<u8> = (0..=b' ').collect();
    let (mut out, mut at) = (Vec::new(), 0);
    let mut scheme = Vec::new();
    let (mut can_be_scheme, mut is_start) = (!encode && url.contains(&b'%'), true);
    while at < url.len() {
        let byte = url[at];
        if can_be_scheme && b":/?#".contains(&byte) {
            can_be_scheme = false;
            let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
                && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
            if byte == b':' && is_scheme {
                // The text before the `:` stays escaped, because decoding must not create a scheme.
                out = url[..at].to_vec();
            }
        }
        is_start &= (byte <= b' ' || spelling(&url[at..], &blanks).is_some())
            && url[..at].iter().all(|byte| *byte <= b' ');
        let is_removed = b"\t\r\n".contains(&byte) || is_start && byte <= b' ';
        if !is_removed {
            scheme.push(escape_at(url, at).unwrap_or(byte));
        }
        let before_query =
            if url[..at].iter().any(|byte| b"?#".contains(byte)) { &b""[..] } else { b"\\\t\r\n" };
        let syntax = &[syntax, before_query, if is_start { &blanks } else { b"" }].concat();
        if let Some(len) = spelling(&url[at..], syntax) {
            out.extend_from_slice(&url[at..at + len]);
            at += len;
        } else if encode && !UNRESERVED[usize::from(byte)] && !syntax.contains(&byte) {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
            at += 1;
        } else if let (false, Some(byte)) = (encode, escape_at(url, at)) {
            out.push(byte);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    out
}

fn encoded(converter: &Converter, url: &[u8]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    converter.encode_append(url, &mut out);
    out.split_off(6)
}

fn decoded(converter: &Converter, url: &[u8]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    converter.decode_append(url, &mut out);
    out.split_off(6)
}

#[test]
fn examples() {
    let converter = Converter::new();
    for (typed, url) in [
        ("", ""),
        ("http://a.com/50% x?q=%2F", "http://a.com/50%25%20x?q=%2F"),
        ("%", "%25"),
        ("%zz%4", "%25zz%254"),
        ("%2f%252F%25252f", "%2f%252F%25252f"),
        ("%41%2541", "%2541%252541"),
        ("%25", "%2525"),
        ("%2525/", "%252525/"),
        ("[::1]!$&'()*+,;=:@#", "[::1]!$&'()*+,;=:@#"),
        ("?\u{e9}\"<>\\^`{|}\n", "?%C3%A9%22%3C%3E%5C%5E%60%7B%7C%7D%0A"),
        // Browsers read these bytes as syntax before the query, and would find another host if they were escaped.
        ("http://a.com\\@evil.com/?\\", "http://a.com\\@evil.com/?%5C"),
        ("ht\ttp:/\r\n/a\t#\t", "ht\ttp:/\r\n/a\t#%09"),
        (" \u{1}//evil.com/ \u{1}", " \u{1}//evil.com/%20%01"),
        ("/%5c%09%2520%255C?%5c", "/%5c%09%252520%255C?%255c"),
    ] {
        assert_eq!(String::from_utf8(encoded(&converter, typed.as_bytes())).unwrap(), url, "{typed}");
        assert_eq!(decoded(&converter, url.as_bytes()), typed.as_bytes(), "{url}");
    }
    for (url, typed) in [
        ("%41:x%42", "%41:xB"),
        ("j%61vascript:%41", "j%61vascript:A"),
        ("a%20b:%41", "a b:A"),
        // Browsers remove these bytes, so a scheme would be left.
        ("java%09script:%41", "java%09script:A"),
        ("%01javascript:%41", "%01javascript:A"),
        ("%20javascript:%41", "%20javascript:A"),
        (" \u{1}%6Aava\tscript:%41", " \u{1}%6Aava\tscript:A"),
        // Browsers would find another host.
        ("/%5Cevil.com/%41", "/%5Cevil.com/A"),
        ("/%09/evil.com/%41", "/%09/evil.com/A"),
        (" %20//evil.com/%20", " %20//evil.com/ "),
        ("%20%01//evil.com/%41", "%20\u{1}//evil.com/A"),
        ("http://a.com%5C@evil.com/?%5C%09", "http://a.com%5C@evil.com/?\\\t"),
        ("%41/b:%41", "A/b:A"),
        ("%3Aa:%41", "%3Aa:A"),
        ("a:%41", "a:A"),
    ] {
        assert_eq!(String::from_utf8(decoded(&converter, url.as_bytes())).unwrap(), typed, "{url}");
    }
    let lines = Converter::new().keeping(ByteSet::EMPTY.add(b"\r\n"));
    assert_eq!(encoded(&lines, b"a b\r\n%0A%250d\0"), b"a%20b\r\n%0A%250d%00");
    assert_eq!(decoded(&lines, b"a%20b\r\n%0A%250d%00"), b"a b\r\n%0A%250d\0");
    // `%` never becomes syntax, even if a caller adds it.
    let percent = Converter::default().keeping(ByteSet::EMPTY.add(b"%"));
    assert_eq!(encoded(&percent, b"%zz%2525"), b"%25zz%252525");
}

/// Checks that deeply nested spellings take linear time: the test would not end if they took quadratic time.
#[test]
fn long_spellings() {
    let converter = Converter::new();
    for unit in ["%25", "25", "%2", "%252F", "%2525"] {
        let url = ["%".as_bytes(), unit.repeat(1 << 20).as_bytes()].concat();
        assert_eq!(decoded(&converter, &encoded(&converter, &url)), url, "{unit}");
    }
}

/// Returns URLs in which escapes and spellings of syntax are frequent.
fn urls() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(b"%".to_vec()),
        Just(b"25".to_vec()),
        Just(b"2F".to_vec()),
        Just(b"0a".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"http://a/?".to_vec()),
        Just(b":".to_vec()),
        Just(b"%61".to_vec()),
        Just(b"4".to_vec()),
        Just(b" ".to_vec()),
        Just(b"%20".to_vec()),
        Just(b"%5C".to_vec()),
        Just(b"\t".to_vec()),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    proptest::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::tiers::scaled(4000)))]

    #[test]
    fn they_agree_with_the_rule_and_undo_each_other(url in urls()) {
        let lines = Converter::new().keeping(ByteSet::EMPTY.add(b"\r\n"));
        for (converter, more) in [(Converter::new(), &b""[..]), (lines, b"\r\n")] {
            let syntax = [RESERVED, more].concat();
            let there = encoded(&converter, &url);
            prop_assert_eq!(&there, &reference(&url, &syntax, true));
            prop_assert_eq!(&decoded(&converter, &there), &url);
            let back = decoded(&converter, &url);
            prop_assert_eq!(&back, &reference(&url, &syntax, false));
            prop_assert_eq!(simdpct_uri::split(&back).scheme(), simdpct_uri::split(&url).scheme());
        }
    }
}

/// Returns URLs of the bytes that decide which host browsers find, escaped or not.
fn urls_with_hosts() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "http:", "https:", "file:", "x:", "ja", "%6A", ":", "/", "//", "\\", "%5C", "%255c", "\t", "%09",
        "\r", "%0D", "\n", "%0A", " ", "%20", "\u{1}", "%01", "%2520", "@", "%40", "?", "#", "a.com",
        "b.com", "%2E", "[", "%",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..10)
        .prop_map(|words| words.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::tiers::scaled(50_000)))]

    /// Checks that browsers find the same scheme and the same host before and after a conversion, unless one of the two URLs is not valid,
    /// such as `http://a.com%20`.
    #[test]
    fn browsers_find_the_same_host(url in urls_with_hosts()) {
        let base = Base::parse("http://base.test/a/b").unwrap();
        let host = |url: &[u8]| {
            let target = base.resolve(&String::from_utf8_lossy(url)).ok()?;
            let parts = simdpct_uri::split(&target);
            // Browsers keep escapes in hosts after other schemes, so converting them changes these hosts.
            let is_opened = ["http", "https", "file"].contains(&parts.scheme()?);
            Some((parts.scheme()?.to_owned(), parts.host().filter(|_| is_opened).map(|host| host.raw().to_owned())))
        };
        let converter = Converter::new();
        for converted in [encoded(&converter, &url), decoded(&converter, &url)] {
            let (before, after) = (host(&url), host(&converted));
            prop_assert!(before == after || before.is_none() || after.is_none(), "{}: {before:?} {after:?}", converted.escape_ascii());
        }
    }
}
