//! The DuckDB extension: parts of URLs, percent-encoding and canonical URLs as functions of SQL.
//!
//! The crate `simdpct-functions` defines the functions. `functions` applies them to the vectors of a chunk, `api` is the border
//! to DuckDB's C API, and `extension` registers the functions when DuckDB loads the library.

#![deny(unsafe_code)]

mod api;
mod extension;
mod functions;
