//! Tests the environment variable that forces a tier.
//!
//! The variable is read once in a process, so this test is the only one of its process.

use simdpct::{Encode, Tier, sets};

#[test]
fn a_person_forces_a_tier() {
    let all: Vec<Tier> = Tier::available().collect();
    let best = all[0];
    // If this CPU has several tiers, the forced one is not the best one, so the test sees that the variable had an effect.
    let forced = all[all.len() / 2];
    // SAFETY: this is the only test of the process, and no other thread reads or writes the environment.
    unsafe { std::env::set_var(Tier::ENV_VAR, forced.name()) };
    assert_eq!(Tier::active(), forced, "not {best}");
    assert_eq!(simdpct::encode("a b"), "a%20b");
    assert_eq!(Encode::keeping(sets::RFC3986_UNRESERVED).tier(best).encode("a b"), "a%20b");
}
