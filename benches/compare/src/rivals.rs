//! The rivals in their fastest idioms, and what the hardware gives.

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

use crate::contender::{Answer, contender};
use crate::{Contender, Role, Verb};

/// The rivals' name for `sets::RFC3986_UNRESERVED`: the bytes that do not stay.
pub(crate) const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What the hardware gives, and the rivals, one group of idioms for each; the first is `memcpy`.
pub fn others(verb: Verb) -> Vec<Vec<Contender>> {
    let mut groups = marks(verb);
    groups.extend(match verb {
        Verb::Encode => encoders(),
        Verb::Decode => decoders(),
    });
    groups
}

fn marks(verb: Verb) -> Vec<Vec<Contender>> {
    let mark = Role::Mark;
    vec![
        // `rep movsb`, which memcpy may be, is ten times slower on some CPUs when the two places have nearly the
        // same offset in their pages; the yardstick is the faster of two places half a page apart.
        vec![
            contender!(mark, "memcpy", "copy_from_slice into a ready slice", |input, room| {
                let to = &mut room.ready[..input.len()];
                to.copy_from_slice(input.as_bytes());
                &*to
            }),
            contender!(
                mark,
                "memcpy",
                "copy_from_slice into a ready slice, half a page on",
                |input, room| {
                    let to = &mut room.ready[2048..][..input.len()];
                    to.copy_from_slice(input.as_bytes());
                    &*to
                }
            ),
        ],
        vec![contender!(mark, "memchr", "memchr of a byte that does not occur", |input, room| {
            let at = memchr::memchr(0, input.as_bytes());
            at.map(|at| &room.ready[at..])
        })],
        vec![contender!(mark, "simdutf8", "basic::from_utf8", |input, _room| {
            simdutf8::basic::from_utf8(input.as_bytes())
        })],
        vec![match verb {
            Verb::Encode => contender!(mark, "hex-simd", "encode into a ready slice", |input, room| {
                let out = hex_simd::Out::from_slice(&mut room.ready[..input.len() * 2]);
                let digits: &[u8] = hex_simd::encode(input.as_bytes(), out, hex_simd::AsciiCase::Upper);
                digits
            }),
            Verb::Decode => contender!(mark, "hex-simd", "decode of as many digits", |input, room| {
                let digits = &room.digits[..input.len() & !1];
                let out = hex_simd::Out::from_slice(&mut room.ready[..digits.len() / 2]);
                hex_simd::decode(digits, out).map(|bytes| &*bytes)
            }),
        }],
    ]
}

impl Answer for pct::PctString {
    #[inline(always)]
    fn bytes(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

fn encoders() -> Vec<Vec<Contender>> {
    let rival = Role::Rival;
    vec![
        vec![
            contender!(rival, "percent-encoding", "String::extend", |input, room| {
                room.text.clear();
                room.text.extend(percent_encoding::utf8_percent_encode(input, COMPONENT));
                &room.text
            }),
            contender!(rival, "percent-encoding", "Vec::extend_from_slice of each part", |input, room| {
                room.bytes.clear();
                for part in percent_encoding::utf8_percent_encode(input, COMPONENT) {
                    room.bytes.extend_from_slice(part.as_bytes());
                }
                &room.bytes
            }),
            contender!(rival, "percent-encoding", "copy of each part into a ready slice", |input, room| {
                let mut written = 0;
                for part in percent_encoding::utf8_percent_encode(input, COMPONENT) {
                    room.ready[written..written + part.len()].copy_from_slice(part.as_bytes());
                    written += part.len();
                }
                &room.ready[..written]
            }),
            contender!(rival, "percent-encoding", "into Cow", |input, _room| {
                Cow::<str>::from(percent_encoding::utf8_percent_encode(input, COMPONENT))
            }),
            contender!(rival, "percent-encoding", "write!", |input, room| {
                room.text.clear();
                let encoded = percent_encoding::utf8_percent_encode(input, COMPONENT);
                write!(room.text, "{encoded}").map(|()| &*room.text)
            }),
        ],
        vec![
            contender!(rival, "urlencoding", "Encoded::append_to", |input, room| {
                room.text.clear();
                urlencoding::Encoded(input).append_to(&mut room.text);
                &room.text
            }),
            contender!(rival, "urlencoding", "encode", |input, _room| urlencoding::encode(input)),
        ],
        vec![
            contender!(rival, "url-escape", "encode_to_string", |input, room| {
                room.text.clear();
                url_escape::encode_to_string(input, COMPONENT, &mut room.text)
            }),
            contender!(rival, "url-escape", "encode", |input, _room| {
                url_escape::encode(input, COMPONENT)
            }),
        ],
        vec![contender!(rival, "codex-percent", "VecEncoder::encode", |input, room| {
            room.bytes.clear();
            codex_percent::VecEncoder::encode(input, &mut room.bytes).map(|_| &room.bytes)
        })],
        vec![contender!(rival, "form-net", "encode_into", |input, room| {
            room.text.clear();
            form_net::encode_into(input, &mut room.text).map(|()| &*room.text)
        })],
        vec![contender!(rival, "pct", "PctString::encode_bytes", |input, _room| {
            pct::PctString::encode_bytes(input, pct::UriReserved::Any)
        })],
    ]
}

fn decoders() -> Vec<Vec<Contender>> {
    let rival = Role::Rival;
    vec![
        vec![
            contender!(rival, "percent-encoding", "Vec::extend", |input, room| {
                room.bytes.clear();
                room.bytes.extend(percent_encoding::percent_decode_str(input));
                &room.bytes
            }),
            contender!(rival, "percent-encoding", "loop into a ready slice", |input, room| {
                let mut written = 0;
                for (to, byte) in room.ready.iter_mut().zip(percent_encoding::percent_decode_str(input)) {
                    *to = byte;
                    written += 1;
                }
                &room.ready[..written]
            }),
            contender!(rival, "percent-encoding", "into Cow", |input, _room| {
                Cow::<[u8]>::from(percent_encoding::percent_decode_str(input))
            }),
        ],
        vec![contender!(rival, "urlencoding", "decode_binary", |input, _room| {
            urlencoding::decode_binary(input.as_bytes())
        })],
        vec![
            contender!(rival, "url-escape", "decode_to_vec", |input, room| {
                room.bytes.clear();
                url_escape::decode_to_vec(input, &mut room.bytes)
            }),
            contender!(rival, "url-escape", "decode", |input, _room| url_escape::decode(input)),
        ],
        vec![contender!(rival, "codex-percent", "VecDecoder::decode", |input, room| {
            room.bytes.clear();
            codex_percent::VecDecoder::decode(input, &mut room.bytes).map(|_| &room.bytes)
        })],
        vec![contender!(rival, "form-net", "decode_into", |input, room| {
            let policy = form_net::PercentPolicy::Literal;
            form_net::decode_into(input.as_bytes(), &mut room.ready, policy)
        })],
        vec![contender!(rival, "pct", "PctStr::new, decode", |input, _room| {
            pct::PctStr::new(input).map(pct::PctStr::decode)
        })],
    ]
}
