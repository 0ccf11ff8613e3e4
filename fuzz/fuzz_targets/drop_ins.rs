//! Compares the drop-ins for percent-encoding, form_urlencoded and urlencoding with the published crates.

#![no_main]

use std::borrow::Cow;
use std::fmt::Debug;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    /// The number of the set to escape.
    set: [u8; 2],
    /// The offset at which the serializer's output starts, modulo 4.
    start: u8,
    pairs: Vec<(&'a str, Option<&'a str>)>,
    text: &'a str,
    input: &'a [u8],
}

/// Returns the set of `$case`, built with the crate `$percent`. Sets must be `'static`, so all of them are made once.
macro_rules! set {
    ($percent:ident, $case:expr) => {{
        static SETS: std::sync::OnceLock<Vec<$percent::AsciiSet>> = std::sync::OnceLock::new();
        let sets = SETS.get_or_init(|| {
            let mut sets = Vec::new();
            for base in [$percent::CONTROLS, $percent::NON_ALPHANUMERIC, &$percent::AsciiSet::EMPTY] {
                for byte in 0..128 {
                    sets.extend([base.add(byte), base.remove(byte), base.add(byte).complement()]);
                }
            }
            sets
        });
        &sets[usize::from(u16::from_le_bytes([$case.set[0], $case.set[1]])) % sets.len()]
    }};
}

/// Returns a result as text that starts with the word "borrowed" or "owned".
fn shown<T: ToOwned<Owned: Debug> + Debug + ?Sized>(result: Cow<'_, T>) -> String {
    format!("{} {result:?}", if matches!(result, Cow::Borrowed(_)) { "borrowed" } else { "owned" })
}

/// Runs the same calls with the types and functions of one family of crates, and returns all results as text.
macro_rules! run {
    ($percent:ident, $form:ident, $url:ident, $case:expr) => {{
        let (case, set) = ($case, set!($percent, $case));
        let mut all: Vec<String> = Vec::new();
        let encoded = $percent::percent_encode(case.input, set);
        all.push(format!("{:?} {:?}", encoded.clone().collect::<Vec<_>>(), encoded.size_hint()));
        all.push(encoded.to_string());
        all.push(shown(Cow::from(encoded)));
        all.push(shown(Cow::from($percent::utf8_percent_encode(case.text, set))));
        for input in [case.input, case.text.as_bytes()] {
            let decoded = $percent::percent_decode(input);
            all.push(format!("{:?}", decoded.clone().collect::<Vec<u8>>()));
            all.push(format!("{:?}", decoded.size_hint()));
            all.push(shown(Cow::from(decoded.clone())));
            all.push(format!("{:?}", decoded.clone().decode_utf8().map(shown)));
            all.push(shown(decoded.decode_utf8_lossy()));
            all.push(format!(
                "{:?}",
                $form::parse(input).map(|(name, value)| (shown(name), shown(value))).collect::<Vec<_>>()
            ));
            all.push(format!("{:?}", $form::byte_serialize(input).collect::<Vec<_>>()));
            all.push(shown($url::encode_binary(input)));
            all.push(shown($url::decode_binary(input)));
        }
        let mut out = $form::Serializer::for_suffix(String::from("a?b"), usize::from(case.start % 4));
        for (name, value) in &case.pairs {
            match value {
                Some(value) => out.append_pair(name, value),
                None => out.append_key_only(name),
            };
        }
        all.push(out.finish());
        all.push(shown($url::encode(case.text)));
        all.push(format!("{:?}", $url::decode(case.text).map(shown)));
        all.push(format!("{:300}", $url::Encoded(case.text)));
        all
    }};
}

fuzz_target!(|case: Case<'_>| {
    assert_eq!(
        run!(ours_percent, ours_form, ours_url, &case),
        run!(percent_encoding, form_urlencoded, urlencoding, &case)
    );
});
