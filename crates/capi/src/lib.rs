//! The C library. `include/simdpct.h` documents its functions, and `tests/capi.rs` of the package `simdpct` compares
//! the header with the code.
//!
//! | module | content |
//! |---|---|
//! | `exports` | the functions of the header, which turn their arguments into safe types |
//! | `border` | conversions of pointers into references |
//! | `system` | the panic handler, and the environment |
//! | `result` | the results of the functions |
//! | `options` | encoders and decoders for flags and sets |
//! | `verbs`, `batch`, `stream`, `header`, `tier`, `sets` | the functions for safe types |
//!
//! Only the first three modules have `unsafe` code. Nothing allocates and nothing unwinds: a panic, which would be a
//! bug, ends the process.
#![no_std]

mod batch;
mod border;
mod exports;
mod header;
mod options;
mod result;
mod sets;
mod stream;
mod system;
mod tier;
mod verbs;
