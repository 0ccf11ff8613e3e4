//! Which kernels run.

use core::ffi::CStr;

use codec::Tier;

use crate::answer::{SIMDPCT_IN_USE, SIMDPCT_NOT_FOUND, SIMDPCT_OK};

/// The names of all tiers of all targets, as C has strings.
const NAMES: [&CStr; 7] = [c"avx512", c"avx2", c"ssse3", c"sse2", c"neon", c"simd128", c"scalar"];

pub(crate) fn name(tier: Tier) -> &'static CStr {
    // ci/capi fails if a tier has no name here.
    NAMES.into_iter().find(|name| name.to_bytes() == tier.name().as_bytes()).unwrap_or(c"unknown")
}

pub(crate) fn find(name: &[u8]) -> Option<Tier> {
    Tier::find(core::str::from_utf8(name).ok()?)
}

/// Fixes the tier called `wanted`; if that is nothing, the one called `perhaps`, if there is one; else the best.
pub(crate) fn init(wanted: Option<&[u8]>, perhaps: Option<&[u8]>) -> i32 {
    let tier = match wanted {
        Some(wanted) => find(wanted),
        None => perhaps.and_then(find).or_else(|| Tier::available().next()),
    };
    match tier.map(Tier::init) {
        Some(Ok(())) => SIMDPCT_OK,
        Some(Err(_)) => SIMDPCT_IN_USE,
        None => SIMDPCT_NOT_FOUND,
    }
}
