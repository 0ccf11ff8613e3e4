//! Checks streams against the oracle, on one input that is cut in one way.

use simdpct::Tier;
use simdpct::internals::strict_if;
use simdpct::stream::{Decoder, Encoder, Transform, TryDecoder};

use crate::check::{Decoding, Encoding, malformed};
use crate::oracle::{self, Rule, UNRESERVED};

/// Passes `input` through `transform` in the pieces between the offsets `cuts`.
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

fn encodings() -> Vec<Encoding> {
    // The last encoding keeps only `%`, `4` and `d`, so that escapes stay although most other bytes are escaped.
    let digits = Encoding { members: oracle::members(b"%4d"), rule: Rule::KeepEscapes, upper: false };
    Encoding::modes(UNRESERVED).into_iter().chain([digits]).collect()
}

fn decodings() -> Vec<Decoding> {
    let keep = Decoding::keeping(oracle::members(b"%/\r\n\x4d"));
    Decoding::MODES.into_iter().chain([keep]).collect()
}

/// Checks all streams of `tier` on `input`, which is cut at the offsets `cuts`.
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
        let decode = decoding.decoder(tier);
        let (mut decoder, mut lenient) = (Decoder::new(decode), TryDecoder::new(strict_if(decode, false)));
        // A stream whose input has ended takes new input.
        for input_of in ["new", "used"] {
            out.clear();
            let Ok(()) = run(&mut decoder, input, cuts, &mut out);
            assert!(out == expected, "{input_of} decoder, {}: b\"{}\"", context(), out.escape_ascii());
            out.clear();
            assert_eq!(run(&mut lenient, input, cuts, &mut out), Ok(()), "lenient, {}", context());
            assert!(out == expected, "{input_of} lenient, {}: b\"{}\"", context(), out.escape_ascii());
        }

        out.clear();
        let mut strict = TryDecoder::new(decode.strict());
        let result = run(&mut strict, input, cuts, &mut out);
        let first = oracle::first_malformed(input);
        assert_eq!(result.map_err(malformed).err(), first, "strict, {}", context());
        // The stream has appended the output before the error and nothing after it, whatever the next pieces are.
        decoding.expected(&input[..first.map_or(input.len(), |first| first.offset)], &mut expected);
        assert!(out == expected, "strict, {}: b\"{}\"", context(), out.escape_ascii());
        if first.is_some() {
            let again = [strict.push(b"%41", &mut out), strict.finish(&mut out), strict.push(b"", &mut out)];
            assert!(
                again.iter().all(|again| again.map_err(malformed).err() == first),
                "strict, {}",
                context()
            );
            assert!(out == expected, "strict, {}: b\"{}\"", context(), out.escape_ascii());
        }
    }
}
