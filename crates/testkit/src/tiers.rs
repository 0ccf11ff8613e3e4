//! The tiers on which tests run, and the share of the long loops that runs.

use std::io::Write;
use std::sync::OnceLock;

use simdpct::Tier;

use crate::guard;

/// The environment variable with the names of the tiers that this CPU must have, separated by commas.
pub const REQUIRE: &str = "SIMDPCT_REQUIRE_TIERS";

/// The environment variable with the names of the only tiers to test, separated by commas: for the slowest emulator.
pub const ONLY: &str = "SIMDPCT_TEST_TIERS";

/// The environment variable with the percentage of the cases of each long loop to run, such as `10`. It makes the tests fast
/// enough for emulated CPUs.
pub const SCALE: &str = "SIMDPCT_TEST_SCALE";

/// The environment variable that enables loops that take minutes.
pub const EXHAUSTIVE: &str = "SIMDPCT_EXHAUSTIVE";

/// Returns every tier of this CPU; or, if [`ONLY`] is set, those that it names.
pub fn tiers() -> &'static [Tier] {
    static TIERS: OnceLock<Vec<Tier>> = OnceLock::new();
    TIERS.get_or_init(|| {
        let Ok(only) = std::env::var(ONLY) else { return Tier::available().collect() };
        let tiers: Vec<Tier> = only.split(',').filter_map(|name| Tier::find(name.trim())).collect();
        assert!(!tiers.is_empty(), "{ONLY}={only}: this CPU has none of these");
        tiers
    })
}

/// Prints the tiers that this run covers. The line bypasses the capture of the test harness, so that every run shows it, and
/// `ci/cpus` reads it.
pub fn report() {
    let names: Vec<&str> = tiers().iter().map(|tier| tier.name()).collect();
    let absent: Vec<&str> = Tier::compiled().filter(|name| Tier::find(name).is_none()).collect();
    let guarded = if guard::FAULTS { "guard pages" } else { "no guard pages on this target, canaries only" };
    let line = format!(
        "simdpct tiers tested: {}; in this build but not on this CPU: {}; in use: {}; {guarded}\n",
        names.join(" "),
        if absent.is_empty() { "none".to_owned() } else { absent.join(" ") },
        Tier::active(),
    );
    std::io::stderr().write_all(line.as_bytes()).expect("stderr is open");
}

/// Panics if this CPU or this build lacks a tier that [`REQUIRE`] names.
pub fn require() {
    let required = std::env::var(REQUIRE).unwrap_or_default();
    for name in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let why = if Tier::compiled().any(|known| known == name) {
            "this CPU does not have its features"
        } else {
            "this build does not hold it"
        };
        assert!(Tier::find(name).is_some(), "{REQUIRE}={required}: {name}: {why}");
    }
}

/// Returns the percentage of the long loops to run, by default 100.
pub fn scale() -> u64 {
    static PERCENT: OnceLock<u64> = OnceLock::new();
    *PERCENT.get_or_init(|| match std::env::var(SCALE) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{SCALE}={text} is not a whole percentage")),
        Err(_) => 100,
    })
}

/// Reports whether the loops that take minutes are to run.
pub fn exhaustive() -> bool {
    std::env::var_os(EXHAUSTIVE).is_some_and(|value| value != "0")
}

/// Reports whether the case `index` of a long loop is to run. At 100 % all cases run; below, fewer do, but always the same
/// ones.
pub fn runs(index: usize) -> bool {
    // A multiplicative hash chooses the cases, so that no lane or length is left out as a whole.
    let hash = (index as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    hash % 100 < scale()
}

/// Scales the number of cases `count` by the percentage of long loops, to at least one.
pub fn scaled(count: u32) -> u32 {
    u32::try_from((u64::from(count) * scale() / 100).max(1)).unwrap_or(u32::MAX)
}
