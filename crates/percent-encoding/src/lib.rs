//! The API of the crate `percent-encoding`, on the kernels of [simdpct].
//!
//! Two lines in `Cargo.toml` make a program use this crate instead of the published one, also where `url`, `axum`, `reqwest` or any
//! other dependency calls it. See the README.
//!
//! ```
//! use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
//!
//! /// <https://url.spec.whatwg.org/#query-percent-encode-set>
//! const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');
//!
//! let query = utf8_percent_encode("q=caf\u{e9} au lait", QUERY).to_string();
//! assert_eq!(query, "q=caf%C3%A9%20au%20lait");
//! assert_eq!(percent_decode_str(&query).decode_utf8().unwrap(), "q=caf\u{e9} au lait");
//! ```
//!
//! # Speed
//!
//! `to_string()`, `Display`, the conversions to [`Cow`](alloc::borrow::Cow), `decode_utf8`, `decode_utf8_lossy` and `collect()` of
//! decoded bytes pass the whole input to simdpct; inputs of a few bytes are handled inline. The iterators yield the same pieces as
//! those of the published crate, one at a time.
//!
//! # Features
//!
//! `std` (default) detects the instruction sets of the CPU. `alloc` adds the conversions that allocate. Without both, the
//! iterators and `Display` remain.

#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

#[allow(unsafe_code, reason = "text that is known to be ASCII is not checked again")]
mod ascii;
mod decode;
mod encode;
mod set;

pub use decode::{PercentDecode, percent_decode, percent_decode_str};
pub use encode::{PercentEncode, percent_encode, percent_encode_byte, utf8_percent_encode};
pub use set::{AsciiSet, CONTROLS, NON_ALPHANUMERIC};
