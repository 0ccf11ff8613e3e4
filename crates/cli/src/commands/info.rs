//! `pct info`: lists the tiers, each of which is the code for one instruction set, and says which one is in use.

use std::env;
use std::fmt::Write;

use simdpct::Tier;
use simdpct_uri::SuffixList;

use crate::common::error::{Failure, Outcome};
use crate::io::output;

/// Fails if SIMDPCT_TIER names a tier that is not available. The library would fall back to the best tier, but a
/// user who forces a tier expects an error.
pub fn check_forced_tier() -> Result<(), Failure> {
    let Some(forced) = env::var_os(Tier::ENV_VAR).filter(|forced| !forced.is_empty()) else {
        return Ok(());
    };
    let forced = forced.to_string_lossy();
    if Tier::find(&forced).is_some() {
        return Ok(());
    }
    let problem = if Tier::compiled().any(|name| name == forced) {
        "this CPU lacks that tier"
    } else {
        "this build has no such tier"
    };
    let available: Vec<_> = Tier::available().map(Tier::name).collect();
    let variable = Tier::ENV_VAR;
    Err(Failure::Usage(format!("{variable}={forced}: {problem}; available: {}", available.join(", "))))
}

/// Prints the version of pct, the state of each tier, the features of the tiers on this CPU, and the version of the public suffix list.
pub fn describe() -> Result<Outcome, Failure> {
    let forced = env::var_os(Tier::ENV_VAR).is_some_and(|forced| !forced.is_empty());
    let mut text = format!("pct {} on {}\n", env!("CARGO_PKG_VERSION"), env::consts::ARCH);
    for name in Tier::compiled() {
        let state = match Tier::find(name) {
            None => "not on this CPU",
            Some(tier) if tier != Tier::active() => "available",
            Some(_) if forced => "in use, forced by SIMDPCT_TIER",
            Some(_) => "in use",
        };
        let features = Tier::find(name).map(|tier| tier.features().join(" ")).unwrap_or_default();
        let features = if features.is_empty() { String::new() } else { format!("  ({features})") };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {name:<8} {state}{features}");
    }
    let version = SuffixList::compiled().version().unwrap_or("unknown");
    let _ = writeln!(text, "public suffix list: version {version}");
    output::print(text)
}
