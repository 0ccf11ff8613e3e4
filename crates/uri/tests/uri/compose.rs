//! Tests of building, joining, resolving and escaping URIs, of removing dot segments, and of forms.

use proptest::prelude::*;
use simdpct_uri::canon::Base;
use simdpct_uri::{
    BuildError, Builder, Component, Components, Dialect, FlawKind, Strictness, UriBuf, escape_for,
    remove_dot_segments, resolve, resolve_append, split,
};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("ASCII")
}

/// Resolves all examples of RFC 3986, section 5.4.
#[test]
fn references_of_the_rfc() {
    // A relative path gets a slash only if the base has an authority (section 5.2.3).
    assert_eq!(resolve("a:", "b").unwrap(), "a:b");
    let base = "http://a/b/c/d;p?q";
    let mut cases = 0;
    for fields in crate::raw_rows(include_str!("../vectors/rfc3986-5.4.tsv")) {
        let (reference, strict) = (fields[1], fields[2]);
        let lenient = if fields[3].is_empty() { strict } else { fields[3] };
        assert_eq!(resolve(base, reference).unwrap(), strict, "{reference}");
        for (strictness, right) in [(Strictness::Strict, strict), (Strictness::Lenient, lenient)] {
            let mut out = Vec::new();
            resolve_append(base, reference, strictness, &mut out).unwrap();
            assert_eq!(text(out), right, "{reference}, {strictness:?}");
        }
        cases += 1;
    }
    assert_eq!(cases, 42);
}

/// Resolves the examples of RFC 2396, appendix C, whose targets RFC 3986 changed.
#[test]
fn differences_of_rfc_2396() {
    for fields in crate::raw_rows(include_str!("../vectors/rfc2396-C-differences.tsv")) {
        let reference = if fields[0] == "(current document)" { "" } else { fields[0] };
        assert_eq!(resolve("http://a/b/c/d;p?q", reference).unwrap(), fields[2], "{reference}");
    }
}

#[test]
fn odd_bases_and_references() {
    assert!(resolve("//a/b", "c").is_err());
    let cases = [
        ("http://a", "b", "http://a/b"),
        ("http://a?q", "b", "http://a/b"),
        ("http://a?q", "", "http://a?q"),
        ("mailto:a@b", "c", "mailto:c"),
        ("a:b/c", "../../d", "a:/d"),
        ("a:/b", "/.//c", "a:/.//c"),
        ("a:/b", "..//c", "a:/.//c"),
        ("HTTP://a/b", "//C", "HTTP://C"),
    ];
    for (base, reference, right) in cases {
        assert_eq!(resolve(base, reference).unwrap(), right, "{base} {reference}");
    }
}

#[test]
fn dot_segments() {
    let cases = [
        ("/a/b/c/./../../g", "/a/g"),
        ("mid/content=5/../6", "mid/6"),
        ("", ""),
        (".", ""),
        ("..", ""),
        ("../a", "a"),
        ("./a", "a"),
        ("/.", "/"),
        ("/..", "/"),
        ("/a/..", "/"),
        ("/a/.", "/a/"),
        ("a/..", "/"),
        ("/../../a", "/a"),
        ("//..//a", "//a"),
        ("/a/.../b", "/a/.../b"),
        ("/.a/..b/c.", "/.a/..b/c."),
    ];
    for (path, right) in cases {
        assert_eq!(remove_dot_segments(path), right);
        assert_eq!(remove_dot_segments(path.as_bytes()), right.as_bytes());
    }
}

fn text_bytes(pattern: &'static str) -> impl Strategy<Value = Vec<u8>> {
    pattern.prop_map(String::into_bytes)
}

/// Removes dot segments by the five steps of RFC 3986, section 5.2.4, as they are written there.
fn by_the_steps(path: &str) -> String {
    let (mut input, mut output) = (path.to_owned(), String::new());
    let up = |output: &mut String| output.truncate(output.rfind('/').unwrap_or(0));
    while !input.is_empty() {
        if let Some(rest) = input.strip_prefix("../").or(input.strip_prefix("./")) {
            input = rest.to_owned();
        } else if input.starts_with("/./") || input == "/." {
            input = format!("/{}", input.get(3..).unwrap_or_default());
        } else if input.starts_with("/../") || input == "/.." {
            input = format!("/{}", input.get(4..).unwrap_or_default());
            up(&mut output);
        } else if input == "." || input == ".." {
            input.clear();
        } else {
            let end = input[1..].find('/').map_or(input.len(), |at| at + 1);
            output.extend(input.drain(..end));
        }
    }
    output
}

proptest! {
    #[test]
    fn dot_segments_by_the_steps(path in "[a./]{0,20}") {
        prop_assert_eq!(remove_dot_segments(&path), by_the_steps(&path));
    }

    /// Checks that splitting returns the pieces that the URL was built of, whatever bytes they have.
    #[test]
    fn what_is_built_is_split_into_the_same_pieces(
        scheme in proptest::option::of("[a-z][a-z0-9+.-]{0,5}|https?|file"),
        host in proptest::option::of(prop_oneof![any::<Vec<u8>>(), text_bytes("[a:.@/1%\\\\\t \\[\\]]{0,4}")]),
        user in proptest::option::of(prop_oneof![any::<Vec<u8>>(), text_bytes("[a:@/\\\\\t?#]{0,4}")]),
        port in proptest::option::of(any::<u16>()),
        relative in any::<bool>(),
        segments in proptest::collection::vec("[a:./?#%@\\[\\] é]{0,4}", 0..4),
        pairs in proptest::collection::vec(("[a&=+;#% é]{0,3}", "[a&=+;#%?/ é]{0,3}"), 0..4),
        fragment in proptest::option::of(any::<Vec<u8>>()),
    ) {
        let mut builder = Builder::new().segments(&segments);
        if relative { builder = builder.relative_path(); }
        if let Some(scheme) = &scheme { builder = builder.scheme(scheme); }
        if let Some(host) = &host { builder = builder.host(host); }
        if let Some(user) = &user { builder = builder.user_and_password(user, "p:@/"); }
        if let Some(port) = port { builder = builder.port(port); }
        for (name, value) in &pairs { builder = builder.query_pair(name, value); }
        if let Some(fragment) = &fragment { builder = builder.fragment(fragment); }
        let Ok(built) = builder.build() else { return Ok(()) };
        let parts = split(&built);
        prop_assert!(parts.flaws().next().is_none(), "{}", built);
        prop_assert_eq!(parts.scheme(), scheme.as_deref());
        let ascii = host.as_ref().is_none_or(|host| host.is_ascii());
        prop_assert!(!ascii || parts.host().map(|host| host.decode().into_owned()) == host, "{}", built);
        prop_assert_eq!(parts.user().map(|user| user.decode().into_owned()), user.clone());
        prop_assert_eq!(parts.password().map(|password| password.decode().into_owned()), user.map(|_| b"p:@/".to_vec()));
        prop_assert_eq!(parts.port_number(), port);
        // Browsers find the same host, or none.
        let base = Base::parse("http://base/").unwrap();
        if let Ok(url) = base.resolve(&built) && url.starts_with("http") {
            let found = split(&url).host().map(|host| host.raw().to_owned());
            let given = match &host {
                Some(host) => crate::state_machine::parse_host(str::from_utf8(host).unwrap(), false),
                None => Some("base".to_owned()),
            };
            prop_assert_eq!(found, given, "{}", built);
        }
        let got: Vec<_> = parts.segments().map(|segment| text(segment.decode().into_owned())).collect();
        prop_assert_eq!(got, segments);
        let got: Vec<_> = simdpct_uri::form::pairs(parts.query().unwrap_or_default())
            .map(|(name, value)| (text(name.into_owned()), text(value.into_owned()))).collect();
        prop_assert_eq!(got, pairs);
        prop_assert_eq!(parts.fragment().map(|fragment| fragment.decode().into_owned()), fragment);
    }

    #[test]
    fn components_join_to_what_was_split(uri in "([a:/?#@.]|//){0,12}") {
        let joined = Components::from(split(&uri)).join();
        // Joining adds `./` only before a first segment with a colon, which a relative reference may not have.
        let is_valid = !split(&uri).flaws().any(|flaw| flaw.kind == FlawKind::ColonInFirstSegment);
        prop_assert_eq!(joined, if is_valid { uri } else { format!("./{uri}") });
    }

    /// Checks that splitting returns the joined components, with delimiters escaped and maybe a prefix before the path.
    #[test]
    fn any_components_are_split_again(
        scheme in proptest::option::of("[a-z1:/?#@]{0,3}"),
        authority in proptest::option::of("[a.:/?#@\\[\\]\\\\ %]{0,4}"),
        path in "[a1.:/?#@ %]{0,5}",
        query in proptest::option::of("[a&=/?# %]{0,4}"),
        fragment in proptest::option::of("[a/?# %]{0,4}"),
    ) {
        let bytes = |part: &'_ Option<String>| part.as_ref().map(|part| part.as_bytes().to_vec());
        let (scheme, authority, query, fragment) = (bytes(&scheme), bytes(&authority), bytes(&query), bytes(&fragment));
        let joined = Components {
            scheme: scheme.as_deref(),
            authority: authority.as_deref(),
            path: path.as_bytes(),
            query: query.as_deref(),
            fragment: fragment.as_deref(),
        }.join();
        prop_assert!(!split(&joined).flaws().any(|flaw| flaw.kind == FlawKind::ColonInFirstSegment), "{}", joined.escape_ascii());
        let read = Components::from(split(&joined));
        // Joining may add escapes, so both sides are compared decoded.
        let decoded = |part: Option<&[u8]>| part.map(|part| simdpct::decode(part).into_owned());
        prop_assert_eq!(decoded(read.query), decoded(query.as_deref()));
        prop_assert_eq!(decoded(read.fragment), decoded(fragment.as_deref()));
        let is_scheme = scheme.as_ref().is_none_or(|scheme| scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(u8::is_ascii_alphanumeric));
        if is_scheme {
            prop_assert_eq!(read.scheme, scheme.as_deref());
            prop_assert_eq!(decoded(read.authority), decoded(authority.as_deref()));
            let read = decoded(Some(read.path)).unwrap();
            let prefix = read.strip_suffix(&*simdpct::decode(path.as_bytes()));
            let allowed: &[&[u8]] = if authority.is_some() { &[b"", b"/"] } else { &[b"", b"/.", b"./"] };
            prop_assert!(prefix.is_some_and(|prefix| allowed.contains(&prefix)), "{}", joined.escape_ascii());
        } else {
            // An invalid scheme is a part of the path.
            prop_assert_eq!((read.scheme, read.authority), (None, None));
        }
    }
}

#[test]
fn what_cannot_be_built() {
    let error = |builder: Builder| builder.build().unwrap_err();
    assert_eq!(error(Builder::new().scheme("1a")), BuildError::Scheme);
    assert_eq!(error(Builder::new().port(1)), BuildError::NoHost);
    for host in [
        &b"[::1"[..],
        b"[a]",
        b"[::1]a",
        b"::1",
        b"a]",
        b"a:80",
        b"\xFF",
        "a\u{ff0f}b".as_bytes(),
        "\u{e9}/".as_bytes(),
        "\u{e9}{".as_bytes(),
    ] {
        assert_eq!(error(Builder::new().host(host)), BuildError::Host, "{}", host.escape_ascii());
    }
    for (host, built) in [
        ("[::1]", "//[::1]"),
        ("[v1.a:b]", "//[v1.a:b]"),
        ("\u{4f8b}\u{3048}.jp", "//xn--r8jz45g.jp"),
        ("a/b", "//a%2Fb"),
    ] {
        assert_eq!(Builder::new().host(host).build().unwrap(), built);
    }
    assert_eq!(Builder::new().host("[").host("a").build().unwrap(), "//a");
    assert_eq!(error(Builder::new().segments(["..", "a"])), BuildError::DotSegment);
    // Both builders have an empty first segment. If they were built, their paths would be `//a` and the empty path.
    let root = Builder::from(&"/".parse::<UriBuf>().unwrap());
    for builder in [root.segment("a"), Builder::new().segment("").relative_path()] {
        assert_eq!(error(builder), BuildError::EmptyFirstSegment);
    }
    // Browsers read `http:////evil.com` as `http://evil.com/`, so an empty host is an error.
    for scheme in ["http", "foo"] {
        let builder = Builder::new().scheme(scheme).host("").segments(["", "evil.com"]);
        assert_eq!(error(builder), BuildError::EmptyHost);
    }
    assert_eq!(error(Builder::new().host("").segment("evil.com")), BuildError::EmptyHost);
    assert_eq!(error(Builder::new().scheme("HTTPS").host("").segment("evil.com")), BuildError::EmptyHost);
    assert_eq!(error(Builder::new().scheme("http").segment("evil.com")), BuildError::NoHost);
    assert_eq!(error(Builder::new().scheme("http").segment("evil.com").relative_path()), BuildError::NoHost);
    assert_eq!(Builder::new().scheme("file").host("").segment("a").build().unwrap(), "file:///a");
    let built = Builder::new().scheme("http").host("a\\\t@b").user("c\\\td@e").build();
    assert_eq!(built.unwrap(), "http://c%5C%09d%40e@a%5C%09%40b");
    assert_eq!(error(Builder::new().segment("..")), BuildError::DotSegment);
    assert_eq!(error(Builder::new().host("a").segment("b").relative_path()), BuildError::RelativePath);
    assert_eq!(error(Builder::new().segments(["", "a"])), BuildError::EmptyFirstSegment);
    assert_eq!(Builder::new().segment("").build().unwrap(), "/");
    assert_eq!(Builder::new().segment("a:b").relative_path().build().unwrap(), "a%3Ab");
    assert_eq!(Builder::new().segment("a:b").build().unwrap(), "/a:b");
    let ip: std::net::Ipv6Addr = "2001:db8::1".parse().unwrap();
    assert_eq!(Builder::new().scheme("http").ip(ip).port(8080).build().unwrap(), "http://[2001:db8::1]:8080");
}

#[test]
fn data_stays_data_in_every_dialect() {
    let all: Vec<u8> = (0..=255).collect();
    for dialect in [Dialect::Rfc1738, Dialect::Rfc2396, Dialect::Rfc3986, Dialect::Whatwg] {
        for (component, delimiters) in [
            (Component::Userinfo, &b"@/?#%"[..]),
            (Component::Host, b"@:/?#%[]"),
            (Component::Path, b"/?#%"),
            (Component::Query, b"#%"),
            (Component::Fragment, b"%"),
        ] {
            // In RFC 1738, a user name may hold an unescaped question mark.
            let allowed =
                |byte: u8| (component, dialect, byte) == (Component::Userinfo, Dialect::Rfc1738, b'?');
            let encoded = escape_for(component, dialect).encode(&all);
            assert_eq!(&*simdpct::decode(&*encoded), all);
            for &delimiter in delimiters.iter().filter(|&&byte| !allowed(byte)) {
                let one = escape_for(component, dialect).encode(&[delimiter]).into_owned();
                assert_eq!(one, format!("%{delimiter:02X}"), "{component:?} {dialect:?}");
            }
        }
    }
}

#[test]
fn forms() {
    use simdpct_uri::form::{LineEnds, Serializer, pairs_utf8};

    // These vectors are from web-platform-tests, url/urlencoded-parser (see vectors/README.md).
    for fields in crate::rows(include_str!("../vectors/urlencoded-parser.tsv")) {
        let (input, fields) = fields.split_first().unwrap();
        let right: Vec<_> = fields.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let got: Vec<_> =
            pairs_utf8(input).map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        assert_eq!(got, right, "{input}");
    }
    let mut form = Serializer::after("/search?".into());
    form.append_pair("a", "1\n2\r\n3\r4").line_ends(LineEnds::CrLf).append_pair("a", "1\n2\r\n3\r4");
    assert_eq!(form.finish(), "/search?a=1%0A2%0D%0A3%0D4&a=1%0D%0A2%0D%0A3%0D%0A4");
}

proptest! {
    #[test]
    fn forms_as_form_urlencoded(pairs in proptest::collection::vec((any::<String>(), any::<String>()), 0..5)) {
        let ours = simdpct_uri::form::Serializer::new().extend_pairs(pairs.iter().map(|(a, b)| (a, b))).finish();
        let theirs = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        prop_assert_eq!(&ours, &theirs);
        let back: Vec<_> = simdpct_uri::form::pairs_utf8(&ours).map(|(a, b)| (a.into_owned(), b.into_owned())).collect();
        prop_assert_eq!(back, pairs);
    }

    #[test]
    fn any_form_as_form_urlencoded(input in "[a&=+%4é]{0,20}") {
        let ours: Vec<_> = simdpct_uri::form::pairs_utf8(&input).collect();
        let theirs: Vec<_> = form_urlencoded::parse(input.as_bytes()).collect();
        prop_assert_eq!(ours, theirs);
    }
}
