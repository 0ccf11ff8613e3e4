//! Percent-encoding (URL encoding) with SIMD instructions.
//!
//! A byte that is not allowed in a part of a URL is written as an escape: `%` and two hexadecimal digits (RFC 3986, section
//! 2.1). This crate turns bytes into such text and back, by the exact rules of RFC 3986, RFC 2396, RFC 1738, the WHATWG URL
//! Standard and HTML forms. It chooses vector kernels at run time.
//!
//! ```
//! let escaped = simdpct::encode("50% of \u{20ac}");
//! assert_eq!(escaped, "50%25%20of%20%E2%82%AC");
//! assert_eq!(simdpct::decode_utf8(&*escaped).unwrap(), "50% of \u{20ac}");
//! ```
//!
//! The [`guide`] says which verb (function or method) to call, what each costs, what happens to bad input, and how to
//! migrate from percent-encoding, urlencoding and form_urlencoded.
//!
//! # Which bytes stay
//!
//! [`Encode::keeping`] takes the set of bytes that *stay*, and [`Encode::escaping`] the set of ASCII bytes that are
//! *escaped*, as in the `percent-encoding` crate. A set is one of the named [`sets`] or one of your own: an [`AsciiSet`], which
//! gives text, or a [`ByteSet`], which gives bytes.
//!
//! ```
//! use simdpct::{AsciiSet, Encode, sets};
//!
//! assert_eq!(Encode::keeping(sets::RFC3986_PATH).encode("/a b?"), "/a%20b%3F");
//!
//! const QUOTES: AsciiSet = AsciiSet::from_bytes(b"\"'").unwrap();
//! assert_eq!(Encode::escaping(QUOTES).encode("/a b?\""), "/a b?%22");
//! ```
//!
//! # Verbs
//!
//! | | encode | decode | normalize |
//! |---|---|---|---|
//! | borrowed if unchanged | [`encode()`], [`Encode::encode`] | [`decode()`], [`decode_utf8`], [`Decode::decode`] | [`normalize()`] |
//! | append | [`encode_append`], [`Encode::encode_append`] | [`decode_append`], [`Decode::decode_append`] | the same of [`Decode::NORMALIZE`] |
//! | into a slice | [`encode_to_slice`], [`Encode::encode_to_slice`] | [`decode_to_slice`], [`Decode::decode_to_slice`] | the same of [`Decode::NORMALIZE`] |
//! | into uninitialised memory | [`Encode::encode_to_uninit`] | [`Decode::decode_to_uninit`] | the same of [`Decode::NORMALIZE`] |
//! | owned | [`Encode::encode_owned`] | [`Decode::decode_owned`], [`Decode::decode_utf8_owned`] | the same of [`Decode::NORMALIZE`] |
//! | in place | | [`decode_in_place`], [`Decode::decode_in_place`] | the same of [`Decode::NORMALIZE`] |
//! | text | always, with an [`AsciiSet`] | [`decode_utf8`], [`decode_utf8_lossy`], [`Decode::decode_utf8_with`], [`Decode::decode_utf8_append`] | the same of [`Decode::NORMALIZE`] |
//! | to format | [`Encode::display`] | | |
//! | until nothing changes | | [`decode_until_stable`], [`Decode::decode_until_stable_append`] | |
//! | a question | [`Encode::encoded_len`], [`Encode::is_encoded`], [`Encode::first_change`] | [`Decode::decoded_len`], [`Decode::is_decoded`], [`Decode::first_change`] | the same of [`Decode::NORMALIZE`], [`equivalent`] |
//! | one escape | [`encode_byte`] | [`decode_escape`] | |
//! | many values ([`batch`]) | [`Encode::encode_column`], [`Encode::encode_slices`] | [`Decode::decode_column`], [`Decode::decode_slices`] | the same of [`Decode::NORMALIZE`] |
//! | in pieces ([`stream`]) | [`stream::Encoder`] | [`stream::Decoder`], [`stream::TryDecoder`] | [`stream::Decoder`] of [`Decode::NORMALIZE`] |
//!
//! [`Encode`] and [`Decode`] hold the options: keeping valid escapes, forms, escapes that stay. [`TryDecode`] has the verbs of
//! [`Decode`], except those that decode until nothing changes, and returns an error for a malformed escape unless
//! [`Decode::lenient`] made it. [`validate`](validate()), [`escapes`](escapes()) and [`count`] write nothing.
//!
//! # Kernels and `SIMDPCT_TIER`
//!
//! The first call that needs a kernel chooses the best [`Tier`] of kernels for the CPU. All tiers give the same bytes. With
//! the feature `std`, the environment variable `SIMDPCT_TIER` selects another tier, such as `ssse3` or `scalar`, to reproduce
//! a problem or to compare speeds. It is read once. If this build does not have the tier, or this CPU does not support it,
//! the variable is ignored. [`Tier::init`] fixes the tier from code and ignores the variable.
//!
//! If the target features of a build include those of the best tier (`-C target-cpu=native`), the library calls the
//! kernels of that tier directly instead of by a pointer. Another tier can still be chosen, unless the build also has
//! `--cfg simdpct_lean`. Then the library holds the best tier only.
//!
//! # Features
//!
//! * `std` (default): `SIMDPCT_TIER`, [`stream::Writer`] and [`stream::Reader`].
//! * `alloc` (part of `std`): the verbs that return or append to `Cow`, `String` and `Vec`, [`batch::ColumnBuf`], the
//!   encoder and the decoders of [`stream`], and the module [`form`].
//!
//! Without both, the verbs remain that write into slices, in place or to a formatter, or that write nothing, and the
//! functions of [`batch`], [`stream`] and [`header`] that write into the caller's memory. Nothing is allocated. In any case,
//! the crate detects the instruction sets of an x86 CPU at run time, except in SGX and on targets without an operating
//! system (`target_os = "none"`). There, and on other architectures, the target features of the build decide.
//!
//! # When not to use it
//!
//! To parse or build URLs, use a URL library, such as `simdpct-uri` of the same repository: this crate knows bytes, sets and
//! escapes, but not where a path ends. For a few short strings in a program that is not in a hurry, `percent-encoding` is
//! smaller and just as correct.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![cfg_attr(
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    allow(dead_code, reason = "without a vector tier the drivers have no caller")
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod batch;
mod coder;
mod decode;
#[cfg(feature = "alloc")]
mod decode_text;
mod encode;
mod error;
#[cfg(feature = "alloc")]
pub mod form;
pub mod header;
#[doc(hidden)]
pub mod internals;
// The examples of the guide use crates that only tests depend on, so the module exists only for documentation and its tests.
/// The guide: it says which function to call, what each costs, and what happens to bad input.
///
/// The page is also read outside of this documentation, so its names are not links. The functions are in the
/// [crate root](crate). These links lead to the rest: the options [`Encode`], [`Decode`] and [`TryDecode`]; the [`sets`],
/// [`AsciiSet`] and [`ByteSet`]; the modules [`batch`], [`stream`], [`form`] and [`header`].
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/guide.md")]
pub mod guide {}
mod hex;
mod kernel;
mod normalize;
mod set;
#[doc(hidden)]
pub mod simd;
#[cfg(feature = "alloc")]
mod stable;
pub mod stream;
mod utf8;
mod validate;

#[cfg(feature = "alloc")]
pub use coder::AppendText;
pub use coder::KeepSet;
pub use decode::{Decode, TryDecode, decode_escape, decode_in_place, decode_to_slice};
#[cfg(feature = "alloc")]
pub use decode::{decode, decode_append};
#[cfg(feature = "alloc")]
pub use decode_text::{OnInvalidUtf8, decode_utf8, decode_utf8_lossy};
pub use encode::{Encode, Encoded, encode_byte, encode_to_slice};
#[cfg(feature = "alloc")]
pub use encode::{encode, encode_append};
pub use error::{BufferTooSmall, DecodeError, DecodeUtf8Error, InvalidUtf8, MalformedCause, MalformedEscape};
pub use hex::HexCase;
pub use kernel::isa::{Tier, TierInUse};
pub use normalize::equivalent;
#[cfg(feature = "alloc")]
pub use normalize::normalize;
pub use set::{AsciiSet, ByteSet, NamedSet, SetKind, sets};
#[cfg(feature = "alloc")]
pub use stable::decode_until_stable;
pub use validate::{Counts, Escape, Escapes, count, escapes, validate};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the Rust examples of the comparison with other libraries.
#[cfg(doctest)]
#[doc = include_str!("../docs/compare.md")]
struct Compare;
