//! Has the contenders that every benchmark compares with this library: `memcpy`, percent-encoding and urlencoding.

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

use crate::{Contender, Role, Verb, contender};

/// The bytes that percent-encoding escapes: the complement of `sets::RFC3986_UNRESERVED`.
pub const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns two idioms of `memcpy`, whose targets are half a page apart. benches/compare reports only the faster one.
/// `memcpy` may be `rep movsb`, ten times slower on some CPUs if source and target have nearly the same offset in their
/// pages.
pub fn memcpy() -> Vec<Contender> {
    let mark = Role::Mark;
    vec![
        contender!(mark, "memcpy", "copy_from_slice into a ready slice", |input, buffers| {
            let to = &mut buffers.ready[..input.len()];
            to.copy_from_slice(input.as_bytes());
            &*to
        }),
        contender!(mark, "memcpy", "copy_from_slice into a ready slice, half a page on", |input, buffers| {
            let to = &mut buffers.ready[2048..][..input.len()];
            to.copy_from_slice(input.as_bytes());
            &*to
        }),
    ]
}

/// Returns the idioms of percent-encoding. benches/compare reports only the fastest on a row, and the Criterion suite times the first.
pub fn percent_encoding(verb: Verb) -> Vec<Contender> {
    let rival = Role::Rival;
    match verb {
        Verb::Encode => vec![
            contender!(rival, "percent-encoding", "String::extend", |input, buffers| {
                buffers.text.clear();
                buffers.text.extend(percent_encoding::utf8_percent_encode(input, COMPONENT));
                &buffers.text
            }),
            contender!(rival, "percent-encoding", "Vec::extend_from_slice of each part", |input, buffers| {
                buffers.bytes.clear();
                for part in percent_encoding::utf8_percent_encode(input, COMPONENT) {
                    buffers.bytes.extend_from_slice(part.as_bytes());
                }
                &buffers.bytes
            }),
            contender!(
                rival,
                "percent-encoding",
                "copy of each part into a ready slice",
                |input, buffers| {
                    let mut written = 0;
                    for part in percent_encoding::utf8_percent_encode(input, COMPONENT) {
                        buffers.ready[written..written + part.len()].copy_from_slice(part.as_bytes());
                        written += part.len();
                    }
                    &buffers.ready[..written]
                }
            ),
            contender!(rival, "percent-encoding", "into Cow", |input, _buffers| {
                Cow::<str>::from(percent_encoding::utf8_percent_encode(input, COMPONENT))
            }),
            contender!(rival, "percent-encoding", "write!", |input, buffers| {
                buffers.text.clear();
                let encoded = percent_encoding::utf8_percent_encode(input, COMPONENT);
                write!(buffers.text, "{encoded}").map(|()| &*buffers.text)
            }),
        ],
        Verb::Decode => vec![
            contender!(rival, "percent-encoding", "Vec::extend", |input, buffers| {
                buffers.bytes.clear();
                buffers.bytes.extend(percent_encoding::percent_decode_str(input));
                &buffers.bytes
            }),
            contender!(rival, "percent-encoding", "loop into a ready slice", |input, buffers| {
                let mut written = 0;
                for (to, byte) in buffers.ready.iter_mut().zip(percent_encoding::percent_decode_str(input)) {
                    *to = byte;
                    written += 1;
                }
                &buffers.ready[..written]
            }),
            contender!(rival, "percent-encoding", "into Cow", |input, _buffers| {
                Cow::<[u8]>::from(percent_encoding::percent_decode_str(input))
            }),
        ],
    }
}

/// Returns the idioms of urlencoding. benches/compare reports only the fastest on a row, and the Criterion suite times the first.
pub fn urlencoding(verb: Verb) -> Vec<Contender> {
    let rival = Role::Rival;
    match verb {
        Verb::Encode => vec![
            contender!(rival, "urlencoding", "Encoded::append_to", |input, buffers| {
                buffers.text.clear();
                urlencoding::Encoded(input).append_to(&mut buffers.text);
                &buffers.text
            }),
            contender!(rival, "urlencoding", "encode", |input, _buffers| urlencoding::encode(input)),
        ],
        Verb::Decode => vec![contender!(rival, "urlencoding", "decode_binary", |input, _buffers| {
            urlencoding::decode_binary(input.as_bytes())
        })],
    }
}
