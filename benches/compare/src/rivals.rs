//! Lists all rivals in their fastest idioms, and the reference points that show the limits of the hardware.

use crate::algorithms::algorithms;
use benchkit::rivals::{COMPONENT, memcpy, percent_encoding, urlencoding};
use benchkit::{Contender, Role, Verb, contender};

/// Returns the reference points and the rivals, one group of idioms for each. The first group is `memcpy`.
pub fn others(verb: Verb) -> Vec<Vec<Contender>> {
    let mut groups = vec![memcpy()];
    groups.extend(marks(verb).into_iter().map(|mark| vec![mark]));
    groups.extend([percent_encoding(verb), urlencoding(verb)]);
    groups.extend(match verb {
        Verb::Encode => encoders(),
        Verb::Decode => decoders(),
    });
    groups.extend(algorithms(verb));
    groups
}

fn marks(verb: Verb) -> [Contender; 3] {
    let mark = Role::Mark;
    [
        contender!(mark, "memchr", "memchr of a byte that does not occur", |input, buffers| {
            let at = memchr::memchr(0, input.as_bytes());
            at.map(|at| &buffers.ready[at..])
        }),
        contender!(mark, "simdutf8", "basic::from_utf8", |input, _buffers| {
            simdutf8::basic::from_utf8(input.as_bytes())
        }),
        match verb {
            Verb::Encode => contender!(mark, "hex-simd", "encode into a ready slice", |input, buffers| {
                let out = hex_simd::Out::from_slice(&mut buffers.ready[..input.len() * 2]);
                let digits: &[u8] = hex_simd::encode(input.as_bytes(), out, hex_simd::AsciiCase::Upper);
                digits
            }),
            Verb::Decode => contender!(mark, "hex-simd", "decode of as many digits", |input, buffers| {
                let digits = &buffers.digits[..input.len() & !1];
                let out = hex_simd::Out::from_slice(&mut buffers.ready[..digits.len() / 2]);
                hex_simd::decode(digits, out).map(|bytes| &*bytes)
            }),
        },
    ]
}

fn encoders() -> Vec<Vec<Contender>> {
    let rival = Role::Rival;
    vec![
        vec![
            contender!(rival, "url-escape", "encode_to_string", |input, buffers| {
                buffers.text.clear();
                url_escape::encode_to_string(input, COMPONENT, &mut buffers.text)
            }),
            contender!(rival, "url-escape", "encode", |input, _buffers| {
                url_escape::encode(input, COMPONENT)
            }),
        ],
        vec![contender!(rival, "codex-percent", "VecEncoder::encode", |input, buffers| {
            buffers.bytes.clear();
            codex_percent::VecEncoder::encode(input, &mut buffers.bytes).map(|_| &buffers.bytes)
        })],
        vec![contender!(rival, "form-net", "encode_into", |input, buffers| {
            buffers.text.clear();
            form_net::encode_into(input, &mut buffers.text).map(|()| &*buffers.text)
        })],
        vec![contender!(rival, "pct", "PctString::encode_bytes", |input, _buffers| {
            pct::PctString::encode_bytes(input, pct::UriReserved::Any).into_bytes()
        })],
    ]
}

fn decoders() -> Vec<Vec<Contender>> {
    let rival = Role::Rival;
    vec![
        vec![
            contender!(rival, "url-escape", "decode_to_vec", |input, buffers| {
                buffers.bytes.clear();
                url_escape::decode_to_vec(input, &mut buffers.bytes)
            }),
            contender!(rival, "url-escape", "decode", |input, _buffers| url_escape::decode(input)),
        ],
        vec![contender!(rival, "codex-percent", "VecDecoder::decode", |input, buffers| {
            buffers.bytes.clear();
            codex_percent::VecDecoder::decode(input, &mut buffers.bytes).map(|_| &buffers.bytes)
        })],
        vec![contender!(rival, "form-net", "decode_into", |input, buffers| {
            let policy = form_net::PercentPolicy::Literal;
            form_net::decode_into(input.as_bytes(), &mut buffers.ready, policy)
        })],
        vec![contender!(rival, "pct", "PctStr::new, decode", |input, _buffers| {
            pct::PctStr::new(input).map(pct::PctStr::decode)
        })],
    ]
}
