//! Vector instructions for the other crates of this workspace: they write kernels without `unsafe` and without intrinsics.
//!
//! This module is hidden and not a part of the versioned API: any release may change it, so crates that use it depend on one exact
//! version of this crate.
//!
//! A [`Kernel`] is written once over [`Simd`]: blocks of 64 bytes, and masks with one bit for each byte. [`run`] compiles it for
//! each tier, and runs it with the instructions of one.

pub use crate::kernel::isa::Tier;
pub use crate::kernel::simd::{Bytes, Kernel, Sets, Simd};

/// Runs `kernel` with the vector instructions of `tier`. On the scalar tier, this calls [`Kernel::run_scalar`].
///
/// The kernel is compiled for every tier in the crate that calls this. A function that is inlined into many crates should therefore
/// call it through one that is not generic.
#[inline(always)]
pub fn run<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    tier.run(kernel)
}
