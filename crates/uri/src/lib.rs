//! Whole URIs: split first, then decode each piece once.
//!
//! RFC 3986, section 2.4, gives the order: a URI is split into its components before any escape is decoded, and no escape is
//! decoded twice. [`split`] does the first step for any text or bytes, and a [`Piece`] does the second:
//!
//! ```
//! let url = simdpct_uri::split("https://example.com/docs/50%25%2Fhalf?to=a%26b#top");
//! assert_eq!(url.host().unwrap(), "example.com");
//! assert_eq!(url.segments().last().unwrap().decode_utf8().unwrap(), "50%/half");
//! assert_eq!(url.query_values("to").next().unwrap(), "a&b");
//! ```
//!
//! Text gives text: the parts of a `str` are `str`, and [`resolve`], [`Components::join`], [`remove_dot_segments`] and
//! [`canon::Profile::canonicalize`] make a `String` of it. Bytes give bytes.
//!
//! # Which function to use
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a URL | its parts | [`split`] |
//! | a valid URI | an owned value, and copies with one part changed | [`UriBuf`] |
//! | two valid URIs | the relative reference from one to the other | [`UriBuf::relativize`] |
//! | a name that is not ASCII (feature `idna`) | Punycode, and back | `host::to_ascii`, `host::to_unicode` |
//! | a column, a text or an iterator of URLs | the parts of each | [`Columns`], [`Lines`], [`split_each`], [`split_each_line`] |
//! | a URL | the errors in it | [`Parts::flaws`] |
//! | a URL as people type it | a valid URL, and back | [`Converter`] |
//! | data | a URL | [`Builder`], [`form::Serializer`], [`escape_for`] |
//! | components | a URL | [`Components::join`] |
//! | a reference and its base | the target | [`resolve`], [`remove_dot_segments`]; `canon::Base` as browsers do (feature `whatwg`) |
//! | a form | its pairs | [`form::pairs`] |
//! | a URL | a canonical form | [`canon::Profile`] |
//! | an IRI (feature `idna`) | a URI, and back | `iri::to_uri`, `iri::from_uri` |
//! | a request target | the path that servers route it on | the crate simdpct-readings |
//! | a host (feature `domains`) | its registrable domain and public suffix | `Parts::domain`, `SuffixList` |
//! | escapes in a charset that is not UTF-8 (feature `charset`) | text | `charset::Charset`, `charset::guess` |
//!
//! # Errors
//!
//! An error that has one cause is named after it, such as [`RelativeBase`]. An error with several causes is named after the
//! function that returns it, such as [`BuildError`] and [`canon::CanonicalizeError`]. simdpct names its errors in the same way.
//!
//! # Layers
//!
//! The modules of a line import only modules of this line and of the lines above it, never in a circle:
//!
//! ```text
//! text class offsets host   bytes and `str`; the syntax of schemes; positions of the parts of one URL; hosts, ports and special schemes
//! reference            splitting as RFC 3986 describes it, a byte at a time
//! kernel/              private: the loops over blocks of 64 bytes
//!   split columns tables scan   written over `simdpct::simd`
//! pieces flaws parts columns   the public functions that split, and the decoding of the pieces
//! dialect compose builder owned form iri charset whole   the public functions that write
//! canon/               a folder for each canonical form: the form, and the rule by which a kernel detects lines that have it already
//! suffix               public suffixes and registrable domains
//! ```
//!
//! `tests/layers.rs` of the workspace checks this. The crate uses only the public API of simdpct, and its hidden
//! module `simd`, which has the vector instructions. So the crate has no `unsafe` code.
//!
//! # Kernels
//!
//! Splitting and canonical forms have kernels for each tier of simdpct, and [`simdpct::Tier::active`] selects among them. On the scalar
//! tier the module `reference` runs, a byte at a time. Every tier gives the same result.
//!
//! # Features
//!
//! * `std` (default): detects the CPU at run time, and enables `alloc`.
//! * `alloc`: everything that returns or fills an allocation. Without it, [`split`], [`Parts`], [`Parts::flaws`],
//!   [`Piece::decode_to_slice`], [`escape_for`] and the ports of [`host`] remain.
//! * `charset`: the module `charset`, with the crate encoding_rs.
//! * `domains`: [`Parts::domain`] and `SuffixList`, with the Public Suffix List (150 KB, licence MPL 2.0) and the crate idna.
//! * `idna`: the module `iri`, names that are not ASCII, and the profiles that need IDNA, with the crate idna.
//! * `serde`: serde's traits for [`UriBuf`], with the crate serde.
//! * `whatwg`: the URL Standard, with the crate idna: the profile `whatwg`, and `canon::Base`.
//! * `internals`: the functions that tests, fuzz targets and benchmarks use to select a kernel. They are not part of the API.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

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
pub mod host;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
#[cfg(feature = "idna")]
pub mod iri;
mod kernel;
mod offsets;
#[cfg(feature = "alloc")]
mod owned;
mod parts;
mod pieces;
mod reference;
#[cfg(feature = "domains")]
mod suffix;
mod text;
#[cfg(feature = "alloc")]
mod whole;

#[cfg(feature = "alloc")]
pub use self::{
    builder::{BuildError, Builder},
    columns::{Columns, Lines, UrlTooLong, split_each, split_each_line},
    compose::{Components, RelativeBase, Strictness, remove_dot_segments, resolve, resolve_append},
    owned::{InvalidUri, UriBuf},
    whole::Converter,
};
#[cfg(feature = "alloc")]
#[doc(hidden)]
pub use columns::{PartsVisitor, visit_each_line};
pub use dialect::{Dialect, escape_for, set_for};
pub use flaws::{Component, Flaw, FlawKind, Flaws};
pub use offsets::Offsets;
pub use parts::{Parts, split, split_path};
#[doc(hidden)]
pub use pieces::delimiters;
pub use pieces::{Piece, QueryPair};
#[cfg(feature = "domains")]
pub use suffix::{DomainName, InvalidSuffixList, Section, SuffixList};
pub use text::{Source, Text};

/// Runs the examples of the README as tests.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../README.md")]
struct Readme;
