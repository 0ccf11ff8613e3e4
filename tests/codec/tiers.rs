//! Tests of the tiers: which ones this run covers, and their names.

use simdpct::Tier;
use simdpct::internals::TIER_NAMES;

#[test]
fn this_run_covers() {
    testkit::tiers::report();
}

#[test]
fn required_tiers_are_here() {
    testkit::tiers::require();
}

#[test]
fn scalar_is_last_and_names_are_unique() {
    let compiled: Vec<&str> = Tier::compiled().collect();
    assert_eq!(TIER_NAMES.last(), Some(&c"scalar"));
    // A build with `--cfg simdpct_lean` and all features of the best tier has no other tier.
    if compiled.len() > 1 {
        assert_eq!(compiled.last(), Some(&"scalar"));
        assert_eq!(Tier::available().last().map(Tier::name), Some("scalar"));
    }
    for (index, name) in compiled.iter().enumerate() {
        assert!(!compiled[..index].contains(name), "two tiers are called {name}");
        assert!(TIER_NAMES.iter().any(|known| known.to_bytes() == name.as_bytes()), "{name}");
    }
    for tier in Tier::available() {
        assert_eq!(Tier::find(tier.name()), Some(tier));
        assert_eq!(tier.features().is_empty(), tier.name() == "scalar");
    }
    assert_eq!(Tier::find("no-such-tier"), None);
}

/// The library detects the features of the CPU itself, and must find exactly those that std finds.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[test]
fn the_cpu_is_what_std_says_it_is() {
    // std can only be asked for a literal, so the features that tiers use have to be listed.
    macro_rules! detects {
        ($($known:tt)*) => {
            |feature: &str| match feature {
                $($known => std::is_x86_feature_detected!($known),)*
                _ => panic!("add the feature {feature} to the list in this test"),
            }
        };
    }
    let detects = detects!(
        "avx512f" "avx512bw" "avx512vbmi" "avx512vbmi2" "avx512vpopcntdq" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "ssse3" "sse2"
    );
    for (name, features) in simdpct::internals::compiled_features() {
        let has = features.iter().fold(true, |all, feature| all & detects(feature));
        assert_eq!(Tier::find(name).is_some(), has, "{name}");
    }
}
