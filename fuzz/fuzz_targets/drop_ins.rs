//! Compares the drop-ins for percent-encoding, form_urlencoded and urlencoding with the published crates.

#![no_main]

use std::borrow::Cow;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    /// The number of the set to escape.
    set: [u8; 2],
    /// The start of the serializer's output.
    start: u8,
    pairs: Vec<(&'a str, Option<&'a str>)>,
    text: &'a str,
    input: &'a [u8],
}

/// Builds the same set with either crate. Sets must be `'static`, so all of them are made once.
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

/// Runs the same calls with the types and functions of one family of crates, and returns all results as text.
macro_rules! run {
    ($percent:ident, $form:ident, $url:ident, $case:expr) => {{
        let (case, set) = ($case, set!($percent, $case));
        let mut all: Vec<String> = Vec::new();
        all.push($percent::percent_encode(case.input, set).collect());
        all.push($percent::percent_encode(case.input, set).to_string());
        all.push(Cow::from($percent::utf8_percent_encode(case.text, set)).into_owned());
        for input in [case.input, case.text.as_bytes()] {
            let decoded = $percent::percent_decode(input);
            all.push(format!("{:?}", decoded.clone().collect::<Vec<u8>>()));
            all.push(format!("{:?}", decoded.clone().size_hint().0 <= input.len()));
            all.push(format!("{:?}", matches!(Cow::from(decoded.clone()), Cow::Borrowed(_))));
            all.push(format!("{:?} {:?}", decoded.clone().decode_utf8(), decoded.decode_utf8_lossy()));
            all.push(format!("{:?}", $form::parse(input).collect::<Vec<_>>()));
            all.push($form::byte_serialize(input).collect());
            all.push($url::encode_binary(input).into_owned());
            all.push(format!("{:?}", $url::decode_binary(input)));
        }
        let mut out = $form::Serializer::for_suffix(String::from("a?b"), usize::from(case.start % 4));
        for (name, value) in &case.pairs {
            match value {
                Some(value) => out.append_pair(name, value),
                None => out.append_key_only(name),
            };
        }
        all.push(out.finish());
        all.push(format!(
            "{:?} {:?} {}",
            $url::encode(case.text),
            $url::decode(case.text),
            $url::Encoded(case.text)
        ));
        all
    }};
}

fuzz_target!(|case: Case<'_>| {
    assert_eq!(
        run!(ours_percent, ours_form, ours_url, &case),
        run!(percent_encoding, form_urlencoded, urlencoding, &case)
    );
});
