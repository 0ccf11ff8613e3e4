//! The code that the tests and the fuzz targets of simdpct share.
//!
//! [`oracle`] computes the expected outputs, a byte at a time. [`check`], [`columns`], [`streams`] and [`text`] compare
//! the operations on each tier with the oracle, on one input, and [`questions`] compares the functions that write no
//! output. [`rivals`] compares the operations with other crates. [`tiers`] lists the tiers to test, [`shapes`] makes
//! inputs, and [`guard`] puts them between guard pages.

pub mod check;
pub mod columns;
pub mod guard;
pub mod oracle;
pub mod questions;
pub mod rivals;
pub mod shapes;
pub mod streams;
pub mod text;
pub mod tiers;
