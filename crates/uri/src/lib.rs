//! Whole URIs: split first, then decode each piece once.
//!
//! RFC 3986, section 2.4, gives the order: a URI is split into its components before any escape is decoded, and no escape is
//! decoded twice. [`split`] does the first step for any bytes, and a [`Piece`] does the second:
//!
//! ```
//! let url = simdpct_uri::split("https://example.com/docs/50%25%2Fhalf?to=a%26b#top");
//! assert_eq!(url.host().unwrap(), "example.com");
//! assert_eq!(url.segments().last().unwrap().decode_utf8().unwrap(), "50%/half");
//! let to = url.query_pairs().next().unwrap();
//! assert_eq!((to.name.decode(), to.value.unwrap().decode()), (b"to".into(), b"a&b".into()));
//! ```
//!
//! # What is here
//!
//! | you have, you want | |
//! |---|---|
//! | one URL, its parts | [`split`] |
//! | a column or a text of URLs, their parts | [`Columns`], [`Lines`] |
//! | what is wrong with a URL | [`Parts::flaws`] |
//! | a URL as people type it, the URL that it is, and back | [`Converter`] |
//! | data, a URL of it | [`Builder`], [`form::Serializer`], [`escape_for`] |
//! | components, the URL that they are | [`Components::join`] |
//! | a reference and its base, the target | [`resolve`], [`remove_dot_segments`] |
//! | the pairs of a form | [`form::pairs`] |
//! | a URL, its canonical form | [`canon::Profile`] |
//! | an IRI, its URI, and back (feature `idna`) | `iri::to_uri`, `iri::from_uri` |
//! | escapes in a charset that is not UTF-8 (feature `charset`) | `charset::Charset`, `charset::guess` |
//!
//! # Who imports whom
//!
//! ```text
//! class offsets      the bytes of RFC 3986; where the parts of one URL are
//! reference          the split in the words of RFC 3986, a byte at a time
//! kernel/            private: blocks of 64 bytes and masks
//!   split columns scan   the drivers: no unsafe, no intrinsics
//!   isa              the instruction sets, the only module with `unsafe` and `core::arch`
//! pieces parts flaws columns   the public face of splitting; only columns allocates
//! compose builder form dialect iri charset whole   the public face of writing
//! canon/             a file for each profile; the proofs are in kernel/scan
//! ```
//!
//! `tests/layers.rs` of the workspace holds this. The crate uses simdpct through its public API.
//!
//! # Kernels
//!
//! Splitting has kernels for AVX-512, AVX2 and SSE2 on x86-64, and runs those of [`simdpct::Tier::active`]. Elsewhere, on ARM
//! and WebAssembly too, the reference runs, a byte at a time. All give the same answer.
//!
//! # Features
//!
//! * `std` (default): CPU detection at run time, and `alloc`.
//! * `alloc`: what writes or keeps more than one answer. Without it, [`split`], [`Parts`], [`Parts::flaws`],
//!   [`Piece::decode_to_slice`] and [`escape_for`] remain, and nothing is allocated.
//! * `charset`: the module `charset`, by the crate encoding_rs.
//! * `idna`: the module `iri`, by the crate idna.
//! * `whatwg`: the profile `whatwg`, by the crate url.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "without kernels nobody calls the drivers")
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
pub mod canon;
#[cfg(feature = "charset")]
pub mod charset;
mod class;
#[cfg(feature = "alloc")]
mod columns;
#[cfg(feature = "alloc")]
mod compose;
mod dialect;
mod flaws;
#[cfg(feature = "alloc")]
pub mod form;
#[cfg(feature = "idna")]
pub mod iri;
mod kernel;
mod offsets;
mod parts;
mod pieces;
mod reference;
#[cfg(feature = "alloc")]
mod whole;

#[cfg(feature = "alloc")]
pub use builder::{BuildError, Builder};
#[cfg(feature = "alloc")]
pub use columns::{Columns, Lines, UrlTooLong};
#[cfg(feature = "alloc")]
pub use compose::{Components, RelativeBase, Strictness, remove_dot_segments, resolve, resolve_append};
pub use dialect::{Dialect, escape_for, set_for};
pub use flaws::{Component, Flaw, FlawKind, Flaws};
pub use offsets::Offsets;
pub use parts::{HostKind, Parts, split, split_by_reference, split_on};
pub use pieces::{Pair, Pairs, Piece, Segments};
#[cfg(feature = "alloc")]
pub use whole::Converter;

/// Runs the example of the README.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../README.md")]
struct Readme;
