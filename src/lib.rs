//! Percent-encoding (URL encoding) at close to the speed of copying.
//!
//! Bytes that may not stand for themselves in a URL are written as escapes, `%` and two hexadecimal digits
//! (RFC 3986, section 2.1). This crate turns bytes into such text and back, with the exact rules of RFC 3986,
//! RFC 2396, RFC 1738, the WHATWG URL Standard and HTML forms, by vector kernels that are chosen at run time.
//!
//! ```
//! let escaped = simdpct::encode("50% of \u{20ac}");
//! assert_eq!(escaped, "50%25%20of%20%E2%82%AC");
//! assert_eq!(simdpct::decode_utf8(&*escaped).unwrap(), "50% of \u{20ac}");
//! ```
//!
//! # Which bytes stay
//!
//! An encoder takes the set of bytes that *stay*: one of the named [`sets`], or one of your own, an
//! [`AsciiSet`] (the result is text) or a [`ByteSet`] (the result is bytes).
//!
//! # Verbs
//!
//! | | encode | decode | normalize |
//! |---|---|---|---|
//! | borrowed if unchanged | [`encode()`], [`Encode::encode`] | [`decode()`], [`decode_utf8`], [`Decode::decode`] | [`normalize()`] |
//! | append | [`encode_append`], [`Encode::encode_append`] | [`decode_append`], [`Decode::decode_append`] | [`normalize_append`] |
//! | into a slice | [`encode_to_slice`], [`Encode::encode_to_slice`] | [`decode_to_slice`], [`Decode::decode_to_slice`] | [`normalize_to_slice`] |
//! | in place | | [`decode_in_place`], [`Decode::decode_in_place`] | [`normalize_in_place`] |
//! | until nothing changes | | [`decode_until_stable`], [`Decode::decode_until_stable_append`] | |
//! | many values in one buffer | [`Encode::values`] | [`Decode::values`] | [`Decode::values`] of [`Decode::NORMALIZE`] |
//! | in pieces | [`stream::Encoder`] | [`stream::Decoder`] | [`stream::Decoder`] of [`Decode::NORMALIZE`] |
//!
//! [`Encode`] and [`Decode`] hold the choices: keeping valid escapes, forms, strictness, escapes that stay.
//! [`validate`], [`escapes`] and [`count`] look without writing; [`equivalent`] compares.
//!
//! # Features
//!
//! `std` (default) brings run-time CPU detection and [`stream::Writer`]; without it the kernels are those of the
//! features that the build assumes. `alloc` brings all verbs that return or append to `Cow`, `String` and `Vec`.
//! With neither, the slice verbs remain, and nothing is allocated.
//!
//! # When not to use it
//!
//! To parse or build URLs, use a URL library: this crate knows bytes, sets and escapes, not where a path ends.

#![no_std]
#![cfg_attr(
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    allow(dead_code, reason = "without a vector tier nobody calls the drivers")
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
pub mod batch;
mod coder;
mod decode;
#[cfg(feature = "alloc")]
mod decode_text;
mod encode;
mod error;
#[cfg(feature = "alloc")]
pub mod form;
mod hex;
mod kernel;
mod normalize;
mod set;
#[cfg(feature = "alloc")]
mod stable;
#[cfg(feature = "alloc")]
pub mod stream;
#[cfg(feature = "alloc")]
mod utf8;
mod validate;

#[cfg(feature = "alloc")]
pub use coder::AppendText;
pub use coder::KeepSet;
pub use decode::{Decode, TryDecode, decode_escape, decode_in_place, decode_to_slice};
#[cfg(feature = "alloc")]
pub use decode::{decode, decode_append, decode_strict};
#[cfg(feature = "alloc")]
pub use decode_text::{OnInvalidUtf8, decode_utf8, decode_utf8_lossy};
pub use encode::{Encode, Encoded, encode_byte, encode_to_slice};
#[cfg(feature = "alloc")]
pub use encode::{encode, encode_append};
pub use error::{BufferTooSmall, DecodeError, DecodeUtf8Error, InvalidUtf8, MalformedCause, MalformedEscape};
pub use hex::HexCase;
pub use kernel::isa::{Tier, TierInUse};
pub use normalize::{equivalent, is_normalized, normalize_in_place, normalize_to_slice};
#[cfg(feature = "alloc")]
pub use normalize::{normalize, normalize_append, normalize_str};
pub use set::{AsciiSet, ByteSet, NamedSet, sets};
#[cfg(feature = "alloc")]
pub use stable::decode_until_stable;
pub use validate::{Counts, Escape, Escapes, count, escapes, validate};
