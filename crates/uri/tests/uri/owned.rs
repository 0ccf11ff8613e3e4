//! Tests of `UriBuf` and `StrParts`, against the splitter.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simdpct_uri::{BuildError, Builder, ChangeError, Components, Parts, Piece, UriBuf, split, split_str};

fn uri(text: &str) -> UriBuf {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns the components of `parts`, with the authority split into userinfo, host and port.
fn components(parts: Parts<'_>) -> [Option<Vec<u8>>; 7] {
    let raw = |piece: Option<Piece<'_>>| piece.map(|piece| piece.raw().to_vec());
    [
        parts.scheme().map(<[u8]>::to_vec),
        raw(parts.userinfo()),
        raw(parts.host()),
        parts.port().map(<[u8]>::to_vec),
        Some(parts.path().to_vec()),
        parts.query().map(<[u8]>::to_vec),
        raw(parts.fragment()),
    ]
}

#[test]
fn conversions() {
    for (text, message) in [
        ("http://a/b c", "the byte 0x20 at offset 10 must be escaped"),
        ("http://b\u{fc}cher/", "the byte 0xC3 at offset 8 must be escaped"),
        ("http://a/%zz", "a '%' without two hexadecimal digits (a literal '%' is '%25'), at offset 9"),
        ("http://a@b@c/", "a second '@' before the host (a literal '@' is '%40'), at offset 8"),
        ("http://[::1", "a '[' without a ']', at offset 7"),
        ("http://[x]/", "brackets without an IPv6 address in them, at offset 7"),
        ("http://a:99999/", "a port that is not a number of at most 65535, at offset 9"),
        (
            "1:1_scale",
            "a colon in the first segment of a relative path (write './' before the segment), at offset 1",
        ),
    ] {
        let error = text.parse::<UriBuf>().unwrap_err();
        assert_eq!(error.to_string(), format!("invalid URI: {message}"));
        assert_eq!(UriBuf::try_from(text.as_bytes()), Err(error));
        assert_eq!(UriBuf::try_from(text.as_bytes().to_vec()), Err(error));
        assert_eq!(UriBuf::try_from(text.to_owned()), Err(error));
        assert_eq!(Builder::try_from(split(text)).unwrap_err(), error);
        assert!(serde_json::from_str::<UriBuf>(&serde_json::to_string(text).unwrap()).is_err());
    }
    let url = uri("http://a/b");
    assert_eq!(UriBuf::try_from(split("http://a/b")), Ok(url.clone()));
    assert_eq!(String::from(url.clone()), "http://a/b");
    assert_eq!((url.to_string(), format!("{url:>12}")), ("http://a/b".to_owned(), "  http://a/b".to_owned()));
    assert_eq!(serde_json::to_string(&url).unwrap(), "\"http://a/b\"");
    assert_eq!(serde_json::from_str::<UriBuf>("\"http:\\/\\/a/b\"").unwrap(), url);
    // A set is searched for text, so order and hash must be those of the text.
    let set = BTreeSet::from(["b", "a:b", "a"].map(uri));
    assert!(set.contains("a:b"));
    assert!(set.iter().map(UriBuf::as_str).eq(["a", "a:b", "b"]));
}

#[test]
fn changes() {
    use ChangeError::{Host, LikeAuthority, LikeScheme, NoHost, Path, RelativePath};
    let host = |text: &str, host: &str| uri(text).with_host(host).map(UriBuf::into_string);
    let port = |text: &str, port: Option<u16>| uri(text).with_port(port).map(UriBuf::into_string);
    let path = |text: &str, path: &str| uri(text).with_path(path).map(UriBuf::into_string);
    let ok = |text: &str| Ok(text.to_owned());
    for (result, expected) in [
        (host("http://u:p@a:80/x?y#z", "b.c"), ok("http://u:p@b.c:80/x?y#z")),
        (host("http://a", "[2001:DB8::1]"), ok("http://[2001:DB8::1]")),
        (host("http://a", "%E4%BE%8B"), ok("http://%E4%BE%8B")),
        (host("http://a/", ""), ok("http:///")),
        (host("/x?y", "a"), ok("//a/x?y")),
        (host("", "a"), ok("//a")),
        (host("file:/x", "a"), ok("file://a/x")),
        (host("x/y", "a"), Err(RelativePath)),
        (host("mailto:a@b", "a"), Err(RelativePath)),
        (host("http://a", "b:80"), Err(Host { offset: 1 })),
        (host("http://a", "me@b"), Err(Host { offset: 2 })),
        (host("http://a", "b/"), Err(Host { offset: 1 })),
        (host("http://a", "\u{4f8b}.jp"), Err(Host { offset: 0 })),
        (host("http://a", "a%zz"), Err(Host { offset: 1 })),
        (host("http://a", "[::1]x"), Err(Host { offset: 0 })),
        (host("http://a", "::1"), Err(Host { offset: 0 })),
        (port("http://a:/x", Some(0)), ok("http://a:0/x")),
        (port("http://a@[::1]:080/x", Some(443)), ok("http://a@[::1]:443/x")),
        (port("http://a:80", None), ok("http://a")),
        (port("//a?q", Some(65535)), ok("//a:65535?q")),
        (port("mailto:a", Some(1)), Err(NoHost)),
        (path("http://a/x?y#z", ""), ok("http://a?y#z")),
        (path("http://a?y", "//b/%2F;=@:"), ok("http://a//b/%2F;=@:?y")),
        (path("mailto:a", "b:c/d"), ok("mailto:b:c/d")),
        (path("?q", "b/c:d"), ok("b/c:d?q")),
        (path("http://a/", "b"), Err(RelativePath)),
        (path("http://a/", "@b"), Err(RelativePath)),
        (path("a:b", "//c"), Err(LikeAuthority)),
        (path("b", "//c"), Err(LikeAuthority)),
        (path("b", "javascript:c"), Err(LikeScheme)),
        (path("b", "1:c"), Err(LikeScheme)),
        (path("http://a/", "/b?c"), Err(Path { offset: 2 })),
        (path("http://a/", "/b#c"), Err(Path { offset: 2 })),
        (path("http://a/", "/b\\c"), Err(Path { offset: 2 })),
        (path("http://a/", "/100%"), Err(Path { offset: 4 })),
    ] {
        assert_eq!(result, expected);
    }
    for (text, name, value, expected) in [
        ("a", "n", "v", "a?n=v"),
        ("a?#f", "n", "v", "a?n=v#f"),
        ("a?b", "", "", "a?b&="),
        ("a?b&#f", "\u{e9}&=", "+ ;#?/%41", "a?b&&%C3%A9%26%3D=%2B%20%3B%23?/%2541#f"),
    ] {
        assert_eq!(uri(text).with_query_param(name, value), expected);
    }
    for (text, expected) in [
        ("a", "a"),
        ("a?", "a?"),
        ("a?x", "a"),
        ("a?x=1&x#f", "a#f"),
        ("a?&x", "a"),
        ("a?x&b", "a?b"),
        ("a?b&x=&&c&%78#f", "a?b&&c#f"),
        ("a?X&=x&b=x", "a?X&=x&b=x"),
        ("a?%FF&x", "a?%FF"),
    ] {
        assert_eq!(uri(text).without_query_params(|name| name == "x"), expected);
    }
    for error in [Host { offset: 3 }, Path { offset: 3 }, NoHost, RelativePath, LikeAuthority, LikeScheme] {
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn from_the_back() {
    for path in ["", "/", "a", "/a//b/", "//", "a/b/c"] {
        let forward: Vec<_> = split_str(path).bytes().segments().collect();
        let mut backward: Vec<_> = split_str(path).bytes().segments().rev().collect();
        backward.reverse();
        assert_eq!(forward, backward, "{path}");
    }
    for query in ["?", "?&", "?a", "?a=1&&b", "?&a=b=c&", "?a&b&c=&"] {
        let forward: Vec<_> = split(query).query_pairs().collect();
        let mut backward: Vec<_> = split(query).query_pairs().rev().collect();
        backward.reverse();
        assert_eq!(forward, backward, "{query}");
    }
}

/// Texts that are delimiters, escapes, data or hostile in some component.
fn piece() -> impl Strategy<Value = String> {
    let token = prop::sample::select(
        "a b c . .. / // : @ ? # [ ] [::1] % %41 %2F & = + ; \u{e9} \\ \u{0} 80 http x:"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    prop::collection::vec(token, 0..6).prop_map(|tokens| tokens.concat())
}

/// Valid URIs and relative references.
fn any_uri() -> impl Strategy<Value = UriBuf> {
    let part = || prop::option::of("[a-c./:@?&=;%]{0,6}");
    let parts = (prop::option::of("[a-c][a-c0-9+.-]{0,3}"), part(), "[a-c./:@%]{0,6}", part(), part());
    parts.prop_filter_map("invalid", |(scheme, authority, path, query, fragment)| {
        let components = Components {
            scheme: scheme.as_ref().map(|part| part.as_bytes()),
            authority: authority.as_ref().map(|part| part.as_bytes()),
            path: path.as_bytes(),
            query: query.as_ref().map(|part| part.as_bytes()),
            fragment: fragment.as_ref().map(|part| part.as_bytes()),
        };
        UriBuf::try_from(components.join()).ok()
    })
}

proptest! {
    /// Splitting a copy gives the part that was set, and the other parts as they were.
    #[test]
    fn a_copy_differs_in_one_part(url in any_uri(), text in piece(), value in piece(), port: Option<u16>) {
        let before = components(url.parts().bytes());
        let differs_in = |copy: &UriBuf, part: usize, new: Option<&[u8]>| {
            let mut expected = before.clone();
            expected[part] = new.map(<[u8]>::to_vec);
            prop_assert_eq!(components(split(copy.as_str())), expected);
            prop_assert!(split(copy.as_str()).flaws().next().is_none());
            Ok(())
        };
        if let Ok(copy) = url.with_host(&text) {
            differs_in(&copy, 2, Some(text.as_bytes()))?;
        }
        match url.with_port(port) {
            Ok(copy) => differs_in(&copy, 3, port.map(|port| port.to_string()).as_deref().map(str::as_bytes))?,
            Err(error) => prop_assert!(error == ChangeError::NoHost && before[2].is_none()),
        }
        if let Ok(copy) = url.with_path(&text) {
            differs_in(&copy, 4, Some(text.as_bytes()))?;
        }
        let copy = url.with_query_param(&text, &value);
        let query = copy.parts().query().unwrap();
        differs_in(&copy, 5, Some(query.as_bytes()))?;
        prop_assert!(query.starts_with(url.parts().query().unwrap_or_default()));
        let last = copy.parts().bytes().query_pairs().next_back().unwrap();
        let pair = [last.name, last.value.unwrap()];
        prop_assert_eq!(pair.map(|piece| piece.decode_utf8().unwrap().into_owned()), [&*text, &*value]);
        prop_assert_eq!(pair.map(|piece| String::from_utf8(piece.decode_form().into_owned()).unwrap()), [text, value]);

        let copy = url.without_query_params(|name| name.starts_with('a'));
        let kept = url.parts().bytes().query_pairs().filter(|pair| !pair.name.decode_form().starts_with(b"a"));
        prop_assert!(copy.parts().bytes().query_pairs().eq(kept));
        differs_in(&copy, 5, copy.parts().query().map(str::as_bytes))?;
    }

    /// A builder of a URI builds the URI, except for an empty port.
    #[test]
    fn a_builder_of_a_uri_builds_it(url in any_uri()) {
        let expected = match url.parts().port() {
            Some("") => url.with_port(None).unwrap(),
            _ => url.clone(),
        };
        let built = Builder::from(&url).build();
        prop_assert_eq!(&Builder::try_from(url.parts().bytes()).unwrap().build(), &built);
        // Browsers might read the path after an empty host as a host.
        let is_refused = url.parts().host() == Some("") && built == Err(BuildError::EmptyHost);
        prop_assert!(is_refused || built.as_deref() == Ok(expected.as_str()), "{:?}", built);
    }

    /// The parts of text are the parts of its bytes, for any text.
    #[test]
    fn parts_of_text(text in "\\PC{0,20}|[a-z:/?#@\\[\\]\u{e9}]{0,20}") {
        let (parts, bytes) = (split_str(&text), split(&text));
        let raw = |piece: Option<Piece<'_>>| piece.map(|piece| piece.raw().to_vec());
        let of = |part: Option<&str>| part.map(|part| part.as_bytes().to_vec());
        prop_assert_eq!(of(parts.scheme()), bytes.scheme().map(<[u8]>::to_vec));
        prop_assert_eq!(of(parts.authority()), bytes.authority().map(<[u8]>::to_vec));
        prop_assert_eq!(of(parts.userinfo()), raw(bytes.userinfo()));
        prop_assert_eq!(of(parts.host()), raw(bytes.host()));
        prop_assert_eq!(of(parts.port()), bytes.port().map(<[u8]>::to_vec));
        prop_assert_eq!(parts.path().as_bytes(), bytes.path());
        prop_assert_eq!(of(parts.query()), bytes.query().map(<[u8]>::to_vec));
        prop_assert_eq!(of(parts.fragment()), raw(bytes.fragment()));
        prop_assert_eq!((parts.as_str(), parts.bytes()), (&*text, bytes));
    }
}
