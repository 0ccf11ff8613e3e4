//! The kernels: they split URLs and prove URLs canonical, 64 bytes at a time.
//!
//! Each is written once as a [`Kernel`](simdpct::simd::Kernel), over the blocks and masks of [`simdpct::simd`], which has the
//! instructions of each tier.

#![cfg_attr(not(feature = "idna"), allow(dead_code, reason = "most profiles need the feature `idna`"))]

#[cfg(feature = "alloc")]
pub(crate) mod columns;
#[cfg(feature = "alloc")]
pub(crate) mod scan;
pub(crate) mod split;
#[cfg(feature = "alloc")]
pub(crate) mod tables;
