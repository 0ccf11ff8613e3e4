//! One input, cut in one way, against the oracle.

use simdpct::Tier;
use simdpct::stream::{Decoder, Encoder, Transform, TryDecoder};

use crate::check::{Decoding, Encoding, bad};
use crate::oracle::{self, Members, Rule};

/// Pushes `input`, cut at `cuts`, through `transform`.
pub fn run<T: Transform>(
    transform: &mut T,
    input: &[u8],
    cuts: &[usize],
    out: &mut Vec<u8>,
) -> Result<(), T::Error> {
    let mut from = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        transform.push(&input[from..cut], out)?;
        from = cut;
    }
    transform.finish(out)
}

/// The unreserved bytes of RFC 3986.
pub fn unreserved() -> Members {
    oracle::members(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

fn encodings() -> Vec<Encoding> {
    let rules = [Rule::Plain, Rule::KeepEscapes, Rule::Form];
    let mut encodings: Vec<_> =
        rules.into_iter().map(|rule| Encoding { members: unreserved(), rule, upper: true }).collect();
    // A set that holds `%` and digits only.
    encodings.push(Encoding { members: oracle::members(b"%4d"), rule: Rule::KeepEscapes, upper: false });
    encodings
}

fn decodings() -> Vec<Decoding> {
    let keep = Decoding::keeping(oracle::members(b"%/\r\n\x4d"));
    vec![Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE, keep]
}

/// All streams of `tier` on `input`, cut at `cuts`.
pub fn check(tier: Tier, input: &[u8], cuts: &[usize]) {
    let context = || format!("tier {tier}, b\"{}\" cut at {cuts:?}", input.escape_ascii());
    let (mut expected, mut out) = (Vec::new(), Vec::new());
    for encoding in encodings() {
        encoding.expected(input, &mut expected);
        out.clear();
        let Ok(()) = run(&mut Encoder::new(encoding.encoder(tier)), input, cuts, &mut out);
        assert!(out == expected, "{:?}, {}: b\"{}\"", encoding.rule, context(), out.escape_ascii());
    }
    for decoding in decodings() {
        decoding.expected(input, &mut expected);
        out.clear();
        let Ok(()) = run(&mut Decoder::new(decoding.decoder(tier)), input, cuts, &mut out);
        assert!(out == expected, "decode, {}: b\"{}\"", context(), out.escape_ascii());

        out.clear();
        let mut strict = TryDecoder::new(decoding.decoder(tier).strict());
        let result = run(&mut strict, input, cuts, &mut out);
        let first = oracle::first_bad(input);
        assert_eq!(result.map_err(bad).err(), first, "strict, {}", context());
        // All that comes before the error was appended.
        decoding.expected(&input[..first.map_or(input.len(), |bad| bad.offset)], &mut expected);
        assert!(out == expected, "strict, {}: b\"{}\"", context(), out.escape_ascii());
        // And nothing after it, whatever comes.
        if first.is_some() {
            let again = [strict.push(b"%41", &mut out), strict.finish(&mut out), strict.push(b"", &mut out)];
            assert!(again.iter().all(|again| again.map_err(bad).err() == first), "strict, {}", context());
            assert!(out == expected, "strict, {}: b\"{}\"", context(), out.escape_ascii());
        }
    }
}
