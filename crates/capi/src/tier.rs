//! The functions that select and name a tier, which is the kernels for one instruction set.

use core::ffi::CStr;

use codec::Tier;
use codec::internals::TIER_NAMES;

use crate::result::{SIMDPCT_IN_USE, SIMDPCT_NOT_FOUND, SIMDPCT_OK};

pub(crate) fn name(tier: Tier) -> &'static CStr {
    // `TIER_NAMES` has every tier, so `unknown` is never returned.
    TIER_NAMES.iter().find(|name| name.to_bytes() == tier.name().as_bytes()).unwrap_or(&c"unknown")
}

/// Selects the tier called `wanted`. If `wanted` is `None`, selects the tier called `preferred` if there is one, otherwise the
/// best tier.
pub(crate) fn init(wanted: Option<&CStr>, preferred: Option<&CStr>) -> i32 {
    let find = |name: &CStr| Tier::find(name.to_str().ok()?);
    let tier = match wanted {
        Some(wanted) => find(wanted),
        None => preferred.and_then(find).or_else(|| Tier::available().next()),
    };
    match tier.map(Tier::init) {
        Some(Ok(())) => SIMDPCT_OK,
        Some(Err(_)) => SIMDPCT_IN_USE,
        None => SIMDPCT_NOT_FOUND,
    }
}
