//! The C library. `include/simdpct.h` is its documentation, and `tests/capi.rs` of the package `simdpct` compares the two.
//!
//! | module | what |
//! |---|---|
//! | `exports` | the functions of the header; turns arguments into safe types |
//! | `border` | pointers to slices and back |
//! | `system` | what a program without `std` must say of panics; the environment |
//! | `answer` | what the functions return |
//! | `options` | flags and sets, as the codec wants them |
//! | `verbs`, `batch`, `stream`, `tier`, `sets` | what the functions do, without `unsafe` |
//!
//! `unsafe` is in the first three only. Nothing is allocated. Nothing unwinds: a panic, which would be a bug, ends the
//! process.
#![no_std]

mod answer;
mod batch;
mod border;
mod exports;
mod options;
mod sets;
mod stream;
mod system;
mod tier;
mod verbs;
