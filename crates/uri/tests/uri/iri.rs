//! Tests of IRIs to URIs and back.

use proptest::prelude::*;
use simdpct_uri::iri::{from_uri, to_uri};
use simdpct_uri::{Component, FlawKind, split};

/// Checks the examples of RFC 3987. If the RFC gives two results for an example, the expected one is that with IDNA.
#[test]
fn examples_of_the_rfc() {
    let mut cases = 0;
    for fields in crate::raw_rows(include_str!("../vectors/rfc3987.tsv")) {
        let (section, direction, input, right) = (fields[0], fields[1], fields[2], fields[3]);
        match (section, direction) {
            ("3.1", "iri->uri") => assert_eq!(to_uri(input).unwrap(), right.split(' ').next().unwrap()),
            (_, "iri->uri") => {
                assert_eq!(to_uri(input).unwrap(), right);
                assert_eq!(from_uri(right), input);
            }
            // Here the RFC writes the kept escape in upper case, and `from_uri` keeps the lower case of the input.
            ("3.2", "uri->iri") if right.contains(" or ") => {
                assert_eq!(from_uri(input), "http://\u{7d0d}\u{8c46}.example.org/%e2%80%ae");
            }
            // Section 6.4, "mixed": only valid UTF-8 is decoded.
            (_, "uri->iri" | "mixed") => assert_eq!(from_uri(input), right),
            // Section 5.3.2.1: the same text in NFC and in NFD has different URIs.
            (_, "equivalent") => {
                assert_ne!(to_uri("http://h/\u{e9}").unwrap(), to_uri("http://h/e\u{301}").unwrap());
            }
            _ => panic!("{fields:?}"),
        }
        cases += 1;
    }
    assert_eq!(cases, 8);
}

#[test]
fn what_stays_escaped() {
    for uri in [
        "/%25%2F%3F%23%41%7E",
        "/%FF%C3",
        "/%E2%80%AE",
        "/%C2%85",
        "/%C2%A0",
        "/%E2%80%8B",
        "/%EF%BF%BE",
        "/%EE%80%80",
        "/%F0%9F%BF%BE",
        "/?%F3%BF%BF%BF",
        "/%ED%A0%80",
        "/%C0%AF",
        "/%F5%80%80%80",
        "/%",
        "/%c",
        "/%zz",
        "http://%C3%A9.com/%zz",
        "http://xn--a/",
        "http://XN--R8JZ45G.jp.%41/",
    ] {
        assert_eq!(from_uri(uri), uri);
    }
    assert_eq!(from_uri("/?%EE%80%80"), "/?\u{e000}");
    assert_eq!(from_uri(b"/\xff%C3%A9%C3%C3%A9%E4%BE"), "/%FF\u{e9}%C3\u{e9}%E4%BE");
}

#[test]
fn hosts() {
    assert_eq!(
        to_uri("http://fa\u{df}.de/ \u{e9}?\u{e9}#%E9").unwrap(),
        "http://xn--fa-hia.de/%20%C3%A9?%C3%A9#%E9"
    );
    assert_eq!(to_uri("//u\u{e9}@b\u{fc}cher.example:80/").unwrap(), "//u%C3%A9@xn--bcher-kva.example:80/");
    // By the URL Standard, a backslash ends the authority of these. After `%5C`, the host would be another one.
    for iri in
        [r"http://good.com\@evil.com/", r"http:\\good.com\x", r"\\h/x", r"/\h", r"file:\\h\x", r"http:h\x"]
    {
        assert_eq!(to_uri(iri).unwrap_err().component, Component::Host, "{iri}");
    }
    for iri in [r"http://h/a\b", r"a\b", r"/a\b", r"file:///c:\b", r"foo:\\a", r"http://h?\"] {
        assert_eq!(to_uri(iri).unwrap(), iri.replace('\\', "%5C"), "{iri}");
    }
    assert_eq!(to_uri("http://a\u{300}\u{200e}\u{2488}/").unwrap_err().offset, 7);
    assert!(matches!(to_uri("http://Example.com/a").unwrap(), std::borrow::Cow::Borrowed(_)));
    assert_eq!(from_uri("http://xn--bcher-kva.example:80/"), "http://b\u{fc}cher.example:80/");
    assert_eq!(from_uri("http://[::1]/%C3%A9"), "http://[::1]/\u{e9}");
}

/// Tests every character of Unicode in a host: the URI must have the parts of the IRI, be valid, and convert to itself.
#[test]
fn hosts_with_every_character() {
    for iri in crate::hosts_with_every_character() {
        let Ok(uri) = to_uri(&iri) else { continue };
        let parts = split(&*uri);
        assert_eq!((parts.path(), parts.userinfo(), parts.port()), ("/x", None, None), "{iri:?}: {uri}");
        assert!(parts.flaws().next().is_none(), "{iri:?}: {uri}");
        assert_eq!(to_uri(&uri).unwrap(), uri, "{iri:?}");
    }
    for delimiter in "\"`{}|^<> \u{ff0f}\u{ff02}".chars() {
        assert_eq!(to_uri(&format!("http://\u{e9}{delimiter}/")).unwrap_err().offset, 7);
    }
}

proptest! {
    /// Checks that converting a URI to an IRI and back keeps the data of every piece.
    #[test]
    fn there_and_back(uri in "(http://[a-z.]{1,5})?(/([a-z]|%[0-9A-F]{2}|%C3%A9|%E4%BE%8B|%){0,8}){0,3}(\\?([a&=]|%[0-9A-F]{2}|%EE%80%80){0,6})?") {
        let iri = from_uri(&uri);
        // A path that begins with two slashes is an authority, whose host cannot hold a malformed `%`.
        let is_valid = split(&uri).host().is_none_or(|host| simdpct::validate(host.raw()).is_ok());
        prop_assert_eq!(to_uri(&iri).is_ok(), is_valid, "{}", iri);
        let Ok(back) = to_uri(&iri).map(|uri| uri.into_owned()) else { return Ok(()) };
        let pieces = |uri: &str| -> Vec<Vec<u8>> {
            let parts = split(uri);
            parts.segments().map(|piece| piece.decode().into_owned())
                .chain(parts.query_pairs().map(|pair| pair.value.unwrap_or(pair.name).decode().into_owned()))
                .collect()
        };
        // A malformed `%` becomes `%25`, as it must in a URI, so the pieces are compared only if there is none.
        if simdpct::validate(&uri).is_ok() {
            prop_assert_eq!(pieces(&back), pieces(&uri), "{}", iri);
            prop_assert_eq!(&from_uri(&back), &iri);
        }
        prop_assert!(split(&back).flaws().next().is_none(), "{}", back);
    }

    #[test]
    fn any_bytes(uri in proptest::collection::vec(any::<u8>(), 0..60)) {
        _ = to_uri(&from_uri(&uri));
    }
}

/// Checks that hosts and ports that no escape makes valid (RFC 3986, sections 3.2.2 and 3.2.3) are rejected.
#[test]
fn invalid_hosts_and_ports() {
    use Component::{Fragment, Host, Path, Port, Query};

    for (iri, wanted) in [
        ("http://[::1]/\u{e9}", Ok("http://[::1]/%C3%A9")),
        ("//[v1.a]:80", Ok("//[v1.a]:80")),
        ("http://a%20b:65535/", Ok("http://a%20b:65535/")),
        ("http://a:/", Ok("http://a:/")),
        ("http://a%5B:080/", Ok("http://a%5B:080/")),
        ("http://u:99999x@a", Ok("http://u:99999x@a")),
        ("/[::", Ok("/[::")),
        ("/a:99999x?b:99999x", Ok("/a:99999x?b:99999x")),
        ("http://[::/", Err((7, Host))),
        ("http://u@[::/", Err((9, Host))),
        ("http://[::1", Err((7, Host))),
        ("http://[::1]a/", Err((7, Host))),
        ("http://[fe80::1%25eth0]/", Err((7, Host))),
        ("http://[\u{e9}]/", Err((7, Host))),
        ("http://a[/", Err((7, Host))),
        ("http://exa mple.com/", Err((7, Host))),
        ("http://a|b/", Err((7, Host))),
        ("http://a%zz/", Err((7, Host))),
        ("//\u{e9}]:80", Err((2, Host))),
        ("http://\u{ad}/a", Err((7, Host))),
        ("http://a:99999x/", Err((9, Port))),
        ("http://a:65536", Err((9, Port))),
        ("http://[::1]:-1", Err((13, Port))),
        ("//a:b:80", Err((4, Port))),
        ("http://\u{e9}:\u{661}/", Err((10, Port))),
        ("http://a:%38%30/", Err((9, Port))),
        // Browsers remove these bytes, and would find another host in a URI with their escapes.
        (" http://e\u{301}.com/x", Err((0, Path))),
        ("\u{1}//e.com/", Err((0, Path))),
        ("/\t/evil.com", Err((1, Path))),
        ("ht\ttp://a/", Err((2, Path))),
        ("//a\r/", Err((3, Host))),
        ("/a?b\n", Err((4, Query))),
        ("http://a/b#c\td", Err((12, Fragment))),
        ("http://a/x ", Err((10, Path))),
        ("http://a ", Err((8, Host))),
        ("/a b\u{1}c", Ok("/a%20b%01c")),
    ] {
        let uri = to_uri(iri);
        assert_eq!(uri.as_deref().map_err(|error| (error.offset, error.component)), wanted, "{iri}");
    }
    let message = |iri: &str| to_uri(iri).unwrap_err().to_string();
    assert_eq!(message("//a:x"), "the port is not a number of at most 65535, at offset 4");
    assert_eq!(message("//[a"), "the host is neither valid by IDNA nor an address, at offset 2");
    assert_eq!(message("/\t"), "browsers would remove a blank or a control character, at offset 1");
}

proptest! {
    /// Checks that the host and the port of a result are valid, and that all its other flaws are misplaced delimiters.
    #[test]
    fn results_are_valid_uris(iri in "(http:|[a1])?(//)?([a\u{e9}\u{ad}\u{ff0f}@: 09%<\\[\\]]|\\[::1\\]|:80|%41){0,6}([/?#:@ \u{e9}%\\[\\]]|%4){0,6}") {
        let Ok(uri) = to_uri(&iri) else { return Ok(()) };
        let parts = split(&*uri);
        for flaw in parts.flaws() {
            let is_delimiter = matches!(
                flaw.kind,
                FlawKind::SeveralAt | FlawKind::ColonInFirstSegment | FlawKind::Illegal(b'[' | b']' | b'#')
            );
            prop_assert!(is_delimiter && !matches!(flaw.component, Component::Host | Component::Port), "{} {:?}", uri, flaw);
        }
        prop_assert_eq!(parts.host().map(|host| host.raw().is_empty()), split(&iri).host().map(|host| host.raw().is_empty()));
        prop_assert_eq!(&to_uri(&uri).unwrap(), &uri);
    }
}
