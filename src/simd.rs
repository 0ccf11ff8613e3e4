//! Vector instructions for the other crates of this workspace: they write kernels without `unsafe` and without intrinsics.
//!
//! This module is hidden and no part of the versioned API. Any release may change it, so crates that use it depend on
//! one exact version of this crate.
//!
//! A [`Kernel`] is written once over [`Simd`]: blocks of 64 bytes, and masks with one bit for each byte. [`run`]
//! compiles it for each tier, and runs it with the instructions of a given tier.

pub use crate::kernel::isa::{opaque, run};
pub use crate::kernel::simd::{Kernel, Sets, Simd};
