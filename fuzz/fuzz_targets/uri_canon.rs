//! Compares the canonical lines of every profile on every tier with the scalar tier. All but SURTs must be idempotent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use simdpct_uri::canon::Profile;
use simdpct_uri::internals::canonicalize_lines_on;
use testkit::tiers::tiers;

fuzz_target!(|text: &[u8]| {
    let scalar = simdpct::Tier::find("scalar").expect("every machine has the scalar tier");
    for &profile in Profile::ALL {
        let lines = |tier| {
            let (mut out, mut rejected) = (Vec::new(), Vec::new());
            canonicalize_lines_on(tier, profile, text, &mut out, |at, error| rejected.push((at, error)));
            (out, rejected)
        };
        let right = lines(scalar);
        for &tier in tiers() {
            assert_eq!(lines(tier), right, "{profile} on {tier}");
        }
        // A canonical form is its own canonical form, except for a SURT, which is not a URL.
        if let Ok(once) = profile.canonicalize(text)
            && !profile.name().starts_with("surt")
        {
            assert_eq!(profile.canonicalize(&once).as_deref(), Ok(&*once), "{profile}");
        }
    }
});
