//! Percent-encoding and canonical URLs as functions of DuckDB.
//!
//! `functions` says what each function does to a chunk of rows and knows nothing of DuckDB. `engine` is the border: the
//! entry point, registration, and vectors as slices; all `unsafe` of the crate is there. What users see is described in
//! README.md.

#![deny(unsafe_code)]

mod engine;
mod functions;
