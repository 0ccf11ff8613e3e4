//! Builds URLs with `Builder` and splits them again, converts input to a URL and back, and resolves references.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct_uri::{Builder, Converter, UriBuf, form, iri, resolve, split};

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    scheme: Option<&'a str>,
    host: Option<&'a [u8]>,
    user: Option<&'a [u8]>,
    port: Option<u16>,
    relative: bool,
    segments: Vec<&'a [u8]>,
    pairs: Vec<(&'a [u8], &'a [u8])>,
    fragment: Option<&'a [u8]>,
    reference: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    // Encoding makes a URL of any input, and decoding must restore the input.
    let (mut url, mut typed) = (Vec::new(), Vec::new());
    Converter::new().encode_append(case.reference, &mut url);
    Converter::new().decode_append(&url, &mut typed);
    assert_eq!(typed, case.reference);
    // Decoding creates no scheme.
    typed.clear();
    Converter::new().decode_append(case.reference, &mut typed);
    assert_eq!(split(&typed).scheme(), split(case.reference).scheme());
    assert!(
        simdpct::validate(&url).is_ok()
            && url.iter().skip_while(|byte| **byte <= b' ').all(|&byte| {
                // Browsers read a backslash as a slash, and remove the others, so these stay as they are.
                simdpct::sets::RFC3986_URI.contains(byte) || b"%\\\t\r\n".contains(&byte)
            })
    );

    let mut builder = Builder::new().segments(&case.segments);
    if case.relative {
        builder = builder.relative_path();
    }
    if let Some(scheme) = case.scheme {
        builder = builder.scheme(scheme);
    }
    if let Some(host) = case.host {
        builder = builder.host(host);
    }
    if let Some(user) = case.user {
        builder = builder.user(user);
    }
    if let Some(port) = case.port {
        builder = builder.port(port);
    }
    for (name, value) in &case.pairs {
        builder = builder.query_pair(name, value);
    }
    if let Some(fragment) = case.fragment {
        builder = builder.fragment(fragment);
    }
    let Ok(url) = builder.build() else { return };
    let parts = split(&url);
    assert_eq!(parts.flaws().next(), None, "{url}");
    assert_eq!(parts.scheme(), case.scheme);
    match (parts.host(), case.host) {
        (Some(built), Some(host)) if !host.is_ascii() => {
            // The name is in Punycode now, and browsers read both spellings as the same host.
            assert!(built.as_ref().is_ascii());
            let standard = |host: &[u8]| {
                url::Host::parse(str::from_utf8(host).expect("hosts that IDNA accepts are text")).ok()
            };
            assert_eq!(standard(built.as_ref()), standard(host));
        }
        (built, host) => assert_eq!(built.map(|built| built.decode()).as_deref(), host),
    }
    assert_eq!(parts.user().map(|user| user.decode()).as_deref(), case.user);
    assert_eq!(parts.port_number(), case.port);
    assert!(parts.segments().map(|segment| segment.decode()).eq(case.segments.iter().copied()));
    let pairs = form::pairs(parts.query().unwrap_or_default());
    assert!(pairs.eq(case.pairs.iter().map(|&(name, value)| (name.into(), value.into()))));
    assert_eq!(parts.fragment().map(|fragment| fragment.decode()).as_deref(), case.fragment);

    // The target of a reference is a URI, so resolving the target again must not change it.
    let base = url.as_bytes();
    if let Ok(target) = resolve(base, case.reference) {
        let again = resolve(base, &target).expect("the base is the same");
        assert_eq!(resolve(base, &again).as_deref(), Ok(&*again));
        // A reference that leads from the base to a target is resolved to that target.
        if let (Ok(base), Ok(target)) = (UriBuf::try_from(&*url), UriBuf::try_from(split(&again))) {
            assert_eq!(base.resolve(&base.relativize(&target)), Ok(target));
        }
    }
    let readable = iri::from_uri(&url);
    let back = iri::to_uri(&readable).expect("IRIs from `from_uri` have hosts that IDNA allows");
    assert_eq!(iri::from_uri(&*back), readable);
});
