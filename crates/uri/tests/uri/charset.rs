//! Tests of charsets.

use simdpct::sets;
use simdpct_uri::charset::{Charset, Guess, guess};

/// Checks the vectors of web-platform-tests, url/percent-encoding (see vectors/README.md), which use the special-query set.
#[test]
fn percent_encode_after_encoding() {
    let mut cases = 0;
    for fields in crate::raw_rows(include_str!("../vectors/percent-encoding.tsv")) {
        let text: String = fields[0]
            .split(' ')
            .map(|code| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap())
            .collect();
        let mut out = String::new();
        Charset::find(fields[1]).unwrap().encode_append(&text, sets::WHATWG_SPECIAL_QUERY, &mut out);
        assert_eq!(out, fields[2], "{fields:?}");
        cases += 1;
    }
    assert_eq!(cases, 16);
}

#[test]
fn long_text_in_pieces() {
    let mut out = String::new();
    let text = "\u{e9}\u{4f8b}a".repeat(1000);
    Charset::find("windows-1252").unwrap().encode_append(&text, sets::RFC3986_UNRESERVED, &mut out);
    assert_eq!(out, "%E9%26%2320363%3Ba".repeat(1000));
}

#[test]
fn questions() {
    let find = |label| Charset::find(label).unwrap();
    assert_eq!(Charset::find("no-charset"), None);
    assert_eq!(find("LATIN1").name(), "windows-1252");
    assert!(find("koi8-r").is_single_byte() && !find("shift_jis").is_single_byte());
    assert_eq!(guess(b"a%20b", &[]), Guess::Ascii);
    assert_eq!(guess(b"%E9", &[]), Guess::None);
    // The byte 0xFF is no character of windows-1253, so the guess is the second candidate.
    assert_eq!(guess(b"%D2%FF", &[find("windows-1253"), find("koi8-r")]), Guess::Charset(find("koi8-r")));
    assert_eq!(find("koi8-r").decode_utf8(b"%D2"), Some("\u{440}".into()));
    assert_eq!(find("shift_jis").decode_utf8(b"%82"), None);
}

#[test]
fn single_byte_charsets() {
    let all = [
        "windows-1252",
        "windows-1251",
        "windows-1250",
        "windows-1253",
        "windows-1254",
        "windows-1255",
        "koi8-r",
        "ibm866",
    ];
    let all = all.map(|label| Charset::find(label).unwrap());
    assert!(all.iter().all(|charset| charset.is_single_byte()));
    // 0xFF is a character of windows-1252, and invalid in UTF-8.
    assert_eq!(guess(b"%FF", &all), Guess::Charset(all[0]));
    assert_eq!(guess(b"%C3%A9", &all), Guess::Utf8);
    // windows-1252 would accept every byte. The slice starts at windows-1253, which has no character 0xFF, so windows-1254 is the
    // guess.
    assert_eq!(guess(b"%D2%FF", &all[3..]), Guess::Charset(Charset::find("windows-1254").unwrap()));
}

#[test]
fn forms_in_a_charset() {
    use simdpct_uri::form::{LineEnds, Serializer, charset, pairs_in};

    let koi8 = Charset::find("koi8-r").unwrap();
    let mut form = Serializer::new();
    form.charset(koi8).line_ends(LineEnds::CrLf).append_charset().append_pair("\u{440}", "\u{440}\n+ \u{e9}");
    let text = form.finish();
    assert_eq!(text, "_charset_=KOI8-R&%D2=%D2%0D%0A%2B+%26%23233%3B");
    assert_eq!(charset(&text), Some(koi8));
    let pairs: Vec<_> = pairs_in(&text, koi8).collect();
    assert_eq!(pairs[1], ("\u{440}".into(), "\u{440}\r\n+ &#233;".into()));
    // A value that is not valid UTF-8 is taken to be encoded in the charset already.
    assert_eq!(Serializer::new().charset(koi8).append_pair("a", b"\xD2").finish(), "a=%D2");
    assert_eq!(charset("_charset_=nothing&_charset_=koi8-r"), None);
    assert_eq!(charset("a=_charset_"), None);
    assert_eq!(Serializer::new().append_charset().finish(), "_charset_=UTF-8");
    let shift_jis = Charset::find("shift_jis").unwrap();
    assert_eq!(pairs_in("a=%82", shift_jis).next(), Some(("a".into(), "\u{fffd}".into())));
}
