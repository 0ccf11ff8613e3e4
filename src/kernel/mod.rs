//! The private code of the conversions: their options and results, the code without vectors and its reference, the code
//! over blocks of bytes, and the operations on blocks for each instruction set.

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
