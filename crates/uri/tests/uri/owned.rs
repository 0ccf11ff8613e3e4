//! Tests of `UriBuf`. Also compares the parts of text (`str`) with the parts of the same bytes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simdpct_uri::canon::Profile;
use simdpct_uri::{
    BuildError, Builder, Components, Parts, Piece, Text, UriBuf, remove_dot_segments, resolve, split,
};

fn uri(text: &str) -> UriBuf {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns the components of `parts` as bytes, with the authority split into userinfo, host and port.
fn components<T: Text + ?Sized>(parts: Parts<'_, T>) -> [Option<Vec<u8>>; 7] {
    [
        parts.scheme(),
        parts.userinfo().map(Piece::raw),
        parts.host().map(Piece::raw),
        parts.port(),
        Some(parts.path()),
        parts.query(),
        parts.fragment().map(Piece::raw),
    ]
    .map(|part| part.map(|part| part.as_ref().to_vec()))
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
        assert_eq!(UriBuf::try_from(split(text.as_bytes())), Err(error));
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
    // A set of `UriBuf` can be searched for a `str`, so both must have the same order and hash.
    let set = BTreeSet::from(["b", "a:b", "a"].map(uri));
    assert!(set.contains("a:b"));
    assert!(set.iter().map(UriBuf::as_str).eq(["a", "a:b", "b"]));
}

#[test]
fn changes() {
    use BuildError::{ColonInFirstSegment, EmptyFirstSegment, NoHost, RelativePath, Scheme, Unescaped};
    let host = |text: &str, host: &str| uri(text).with_host(host).map(UriBuf::into_string);
    let port = |text: &str, port: Option<u16>| uri(text).with_port(port).map(UriBuf::into_string);
    let path = |text: &str, path: &str| uri(text).with_path(path).map(UriBuf::into_string);
    let scheme = |text: &str, scheme: &str| uri(text).with_scheme(scheme).map(UriBuf::into_string);
    let userinfo = |text: &str, part| uri(text).with_userinfo(part).map(UriBuf::into_string);
    let query = |text: &str, part| uri(text).with_query(part).map(UriBuf::into_string);
    let fragment = |text: &str, part| uri(text).with_fragment(part).map(UriBuf::into_string);
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
        (host("http://a", "b:80"), Err(Unescaped { offset: 1 })),
        (host("http://a", "me@b"), Err(Unescaped { offset: 2 })),
        (host("http://a", "b/"), Err(Unescaped { offset: 1 })),
        (host("http://a", "\u{4f8b}.jp"), Err(Unescaped { offset: 0 })),
        (host("http://a", "a%zz"), Err(Unescaped { offset: 1 })),
        (host("http://a", "[::1]x"), Err(BuildError::Host)),
        (host("http://a", "::1"), Err(Unescaped { offset: 0 })),
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
        (path("a:b", "//c"), Err(EmptyFirstSegment)),
        (path("b", "//c"), Err(EmptyFirstSegment)),
        (path("b", "javascript:c"), Err(ColonInFirstSegment)),
        (path("b", "1:c"), Err(ColonInFirstSegment)),
        (path("http://a/", "/b?c"), Err(Unescaped { offset: 2 })),
        (path("http://a/", "/b#c"), Err(Unescaped { offset: 2 })),
        (path("http://a/", "/b\\c"), Err(Unescaped { offset: 2 })),
        (path("http://a/", "/100%"), Err(Unescaped { offset: 4 })),
        (scheme("http://a:80/x", "WSS"), ok("WSS://a:80/x")),
        (scheme("//a", "s"), ok("s://a")),
        (scheme("a/b?c", "s"), ok("s:a/b?c")),
        (scheme("a:b", ""), Err(Scheme)),
        (scheme("a:b", "1"), Err(Scheme)),
        (scheme("a:b", "http:"), Err(Scheme)),
        (userinfo("s://u:p@h", Some("%40:;")), ok("s://%40:;@h")),
        (userinfo("//h:1/@", Some("")), ok("//@h:1/@")),
        (userinfo("//u@h:1", None), ok("//h:1")),
        (userinfo("//h", None), ok("//h")),
        (userinfo("//h", Some("a@b")), Err(Unescaped { offset: 1 })),
        (userinfo("//h", Some("a/")), Err(Unescaped { offset: 1 })),
        (userinfo("mailto:a@b", None), Err(NoHost)),
        (query("a?b#c", Some("/?%20")), ok("a?/?%20#c")),
        (query("a#c", Some("")), ok("a?#c")),
        (query("a?b#c", None), ok("a#c")),
        (query("a", Some("b#c")), Err(Unescaped { offset: 1 })),
        (fragment("a?b#c", Some("/?%20")), ok("a?b#/?%20")),
        (fragment("", Some("")), ok("#")),
        (fragment("a?b#c", None), ok("a?b")),
        (fragment("a", Some("b c")), Err(Unescaped { offset: 1 })),
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
        ("a", "a?x=%26"),
        ("a?#f", "a?x=%26#f"),
        ("a?y&&X", "a?y&&X&x=%26"),
        ("a?x", "a?x=%26"),
        ("a?b&x=1&%78=2&c&x#f", "a?b&x=%26&c#f"),
        ("a?x&x&x", "a?x=%26"),
    ] {
        assert_eq!(uri(text).set_query_param("x", "&"), expected);
        assert_eq!(split(text.as_bytes()).set_query_param("x", "&"), expected.as_bytes());
    }
    assert_eq!(uri("//a").with_user_and_password("u:@", "p:@").unwrap(), "//u%3A%40:p:%40@a");
    assert_eq!(uri("/a").with_user_and_password("u", "p"), Err(NoHost));
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
    assert_eq!(Unescaped { offset: 3 }.to_string(), "the byte at offset 3 must be escaped");
}

#[test]
fn from_the_back() {
    for path in ["", "/", "a", "/a//b/", "//", "a/b/c"] {
        let forward: Vec<_> = split(path).segments().collect();
        assert!(split(path).segments().rev().eq(forward.into_iter().rev()), "{path}");
    }
    for query in ["?", "?&", "?a", "?a=1&&b", "?&a=b=c&", "?a&b&c=&"] {
        let forward: Vec<_> = split(query).query_pairs().collect();
        assert!(split(query).query_pairs().rev().eq(forward.into_iter().rev()), "{query}");
    }
}

/// Generates texts of delimiters, escapes and data. Many are invalid in some component.
fn piece() -> impl Strategy<Value = String> {
    let token = prop::sample::select(
        "a b c . .. / // : @ ? # [ ] [::1] % %41 %2F & = + ; \u{e9} \\ \u{0} 80 http x:"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    prop::collection::vec(token, 0..6).prop_map(|tokens| tokens.concat())
}

/// Generates texts with escapes of incomplete characters, and with characters that canonical forms convert.
fn spelling() -> impl Strategy<Value = String> {
    let token = prop::sample::select(
        "http:// // www. %C3 %A9 %25 %2 %E3%80%82 %FF %2e %3F \u{e9} \u{df} \u{a0} \u{85} \u{3002} \u{ff0e} \u{130} . a.b / ? = & # ; : @ \
         [::1] \t 1 sid= + -- xn-- \\"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    (prop::sample::select(vec!["", "http://", "http://a/"]), prop::collection::vec(token, 0..9))
        .prop_map(|(start, tokens)| start.to_owned() + &tokens.concat())
}

/// Generates valid URIs and relative references.
fn any_uri() -> impl Strategy<Value = UriBuf> {
    let part = || prop::option::of("[a-c./:@?&=;%]{0,6}");
    let parts = (prop::option::of("[a-c][a-c0-9+.-]{0,3}"), part(), "[a-c./:@%]{0,6}", part(), part());
    parts.prop_filter_map("invalid", |(scheme, authority, path, query, fragment)| {
        let components = Components {
            scheme: scheme.as_deref(),
            authority: authority.as_deref(),
            path: &path,
            query: query.as_deref(),
            fragment: fragment.as_deref(),
        };
        UriBuf::try_from(components.join()).ok()
    })
}

proptest! {
    /// Checks that a copy with one part set splits into the new part and the other parts of the original.
    #[test]
    fn a_copy_differs_in_one_part(url in any_uri(), text in piece(), value in piece(), port: Option<u16>) {
        let before = components(url.parts());
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
            Err(error) => prop_assert!(error == BuildError::NoHost && before[2].is_none()),
        }
        let part = Some(&*text);
        if let Ok(copy) = url.with_scheme(&text) {
            differs_in(&copy, 0, Some(text.as_bytes()))?;
        }
        if let Ok(copy) = url.with_userinfo(part) {
            differs_in(&copy, 1, Some(text.as_bytes()))?;
            differs_in(&copy.with_userinfo(None).unwrap(), 1, None)?;
        }
        if let Ok(copy) = url.with_query(part) {
            differs_in(&copy, 5, Some(text.as_bytes()))?;
            differs_in(&copy.with_query(None).unwrap(), 5, None)?;
        }
        if let Ok(copy) = url.with_fragment(part) {
            differs_in(&copy, 6, Some(text.as_bytes()))?;
            differs_in(&copy.with_fragment(None).unwrap(), 6, None)?;
        }
        if let Ok(copy) = url.with_user_and_password(&text, &value) {
            let parts = copy.parts();
            differs_in(&copy, 1, parts.userinfo().map(|piece| piece.raw().as_bytes()))?;
            let [user, password] = [parts.user(), parts.password()].map(|piece| piece.unwrap().decode_utf8().unwrap());
            prop_assert_eq!((&*user, &*password), (&*text, &*value));
        }
        if let Ok(copy) = url.with_path(&text) {
            differs_in(&copy, 4, Some(text.as_bytes()))?;
        }
        let copy = url.with_query_param(&text, &value);
        let query = copy.parts().query().unwrap();
        differs_in(&copy, 5, Some(query.as_bytes()))?;
        prop_assert!(query.starts_with(url.parts().query().unwrap_or_default()));
        let last = copy.parts().query_pairs().next_back().unwrap();
        let pair = [last.name, last.value.unwrap()];
        prop_assert_eq!(pair.map(|piece| piece.decode_utf8().unwrap().into_owned()), [&*text, &*value]);
        prop_assert_eq!(copy.parts().decoded_pairs().next_back(), Some((text.as_str().into(), value.as_str().into())));

        // A parameter that is set is the only one of its name, and the others stay.
        let copy = copy.set_query_param("a", &value);
        prop_assert_eq!(copy.parts().query_values("a").collect::<Vec<_>>(), [&*value]);
        prop_assert_eq!(copy.without_query_params(|name| name == "a"), url.with_query_param(&text, &value).without_query_params(|name| name == "a"));

        let copy = url.without_query_params(|name| name.starts_with('a'));
        let kept = url.parts().query_pairs().filter(|pair| !pair.name.decode_form().starts_with(b"a"));
        prop_assert!(copy.parts().query_pairs().eq(kept));
        differs_in(&copy, 5, copy.parts().query().map(str::as_bytes))?;
    }

    /// Checks that a builder that is made from the parts of a URI builds the same URI.
    #[test]
    fn a_builder_of_a_uri_builds_it(url in any_uri()) {
        let built = Builder::from(&url).build();
        prop_assert_eq!(&Builder::try_from(url.parts()).unwrap().build(), &built);
        // Browsers might read the path after an empty host as a host.
        let is_refused = url.parts().host().as_deref() == Some("") && built == Err(BuildError::EmptyHost);
        prop_assert!(is_refused || built.as_deref() == Ok(url.as_str()), "{:?}", built);
    }

    /// Checks that resolving undoes `relativize` for targets without dot segments, which resolving does not change.
    #[test]
    fn relativize_is_undone_by_resolving(base in any_uri(), other in any_uri(), reference in any_uri()) {
        let near = base.resolve(&reference).unwrap_or_else(|_| reference.clone());
        for target in [near, other, reference] {
            let relative = base.relativize(&target);
            match base.resolve(&target) {
                Ok(found) if found == target => {
                    prop_assert_eq!(base.resolve(&relative), Ok(target.clone()));
                    let (from, to, relative) = (base.parts(), target.parts(), relative.parts());
                    let is_near = to.host().is_some() && from.scheme() == to.scheme();
                    prop_assert!(!is_near || !relative.is_uri());
                    let is_nearer = from.authority() == to.authority() && to.path().starts_with('/') && !to.path().starts_with("//");
                    prop_assert!(!is_near || !is_nearer || relative.host().is_none());
                }
                // Resolving the empty reference keeps the dot segments of the base.
                _ => prop_assert!(relative == target || base.resolve(&relative) == Ok(target)),
            }
        }
    }

    /// Checks that splitting, editing, resolving and canonicalizing give the same for any text and for its bytes.
    #[test]
    fn text_is_like_bytes(
        text in prop_oneof!["\\PC{0,20}|[a-z:/?#@\\[\\]&=%.\u{e9}]{0,20}|(http://)?[a-z0-9:/?#@&=%.\u{e9}\u{3002}-]{0,12}", spelling()],
        name in "[a\u{e9}]?",
    ) {
        let (parts, bytes) = (split(&text), split(text.as_bytes()));
        prop_assert_eq!((parts.input(), parts.offsets()), (&*text, bytes.offsets()));
        prop_assert_eq!(components(parts), components(bytes));
        prop_assert_eq!(parts.authority().map(str::as_bytes), bytes.authority());
        prop_assert_eq!(parts.host_kind(), bytes.host_kind());
        prop_assert_eq!(parts.port_or_default(), bytes.port_or_default());
        prop_assert!(parts.flaws().eq(bytes.flaws()));
        let of = |piece: Option<Piece<'_, str>>| piece.map(|piece| piece.as_bytes().to_vec());
        let of_bytes = |piece: Option<Piece<'_>>| piece.map(|piece| piece.to_vec());
        prop_assert_eq!([parts.user(), parts.password()].map(of), [bytes.user(), bytes.password()].map(of_bytes));
        prop_assert_eq!(
            [parts.domain(), parts.suffix(), parts.subdomain()].map(of),
            [bytes.domain(), bytes.suffix(), bytes.subdomain()].map(of_bytes)
        );
        prop_assert!(parts.segments().map(Piece::decode).eq(bytes.segments().map(Piece::decode)));
        prop_assert!(parts.decoded_pairs().eq(bytes.decoded_pairs()));
        prop_assert!(parts.query_values(&name).eq(bytes.query_values(&name)));
        let pairs = simdpct_uri::form::pairs_utf8(parts.query().unwrap_or_default());
        prop_assert!(pairs.eq(parts.decoded_pairs()));
        for (text, bytes) in [
            (parts.with_query_param(&name, "&"), bytes.with_query_param(&name, "&")),
            (parts.set_query_param(&name, "&"), bytes.set_query_param(&name, "&")),
            (
                parts.without_query_params(|found| *found.name.decode_form() == *name.as_bytes()).into_owned(),
                bytes.without_query_params(|found| *found.name.decode_form() == *name.as_bytes()).into_owned(),
            ),
            (Components::from(parts).join(), Components::from(bytes).join()),
            (remove_dot_segments(&text), remove_dot_segments(text.as_bytes())),
            (resolve("http://a/b", &text).unwrap(), resolve(b"http://a/b", text.as_bytes()).unwrap()),
        ] {
            prop_assert_eq!(text.into_bytes(), bytes);
        }
        for profile in Profile::ALL {
            let form = profile.canonicalize(&text).map(|form| form.as_bytes().to_vec());
            prop_assert_eq!(form, profile.canonicalize(text.as_bytes()).map(|form| form.into_owned()));
        }
    }
}
