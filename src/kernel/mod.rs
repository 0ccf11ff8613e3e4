//! The private code of the conversions: the jobs that public functions pass to it, the scalar engine and its reference,
//! the drivers and the tiers.

pub(crate) mod cursor;
pub(crate) mod drive;
pub(crate) mod ends;
pub(crate) mod fixed_vec;
pub(crate) mod isa;
pub(crate) mod job;
#[cfg(all(test, feature = "std"))]
mod lane_tests;
pub(crate) mod reference;
pub(crate) mod scalar;
pub(crate) mod simd;
pub(crate) mod word;
