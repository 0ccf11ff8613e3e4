//! Tests of the tiers: which ones this run covers, and their names.

use simdpct::Tier;

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
    assert_eq!(compiled.last(), Some(&"scalar"));
    assert_eq!(Tier::available().last().map(Tier::name), Some("scalar"));
    for (index, name) in compiled.iter().enumerate() {
        assert!(!compiled[..index].contains(name), "two tiers are called {name}");
    }
    for tier in Tier::available() {
        assert_eq!(Tier::find(tier.name()), Some(tier));
        assert_eq!(tier.name().parse(), Ok(tier));
        assert_eq!(tier.features().is_empty(), tier.name() == "scalar");
    }
    assert_eq!(Tier::find("no-such-tier"), None);
    let error = "no-such-tier".parse::<Tier>().unwrap_err();
    assert!(!error.compiled);
    assert_eq!(error.to_string(), format!("unknown tier; this build has {}", compiled.join(" ")));
}

/// The library detects the features of the CPU itself, and must never find more of them than std does.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[test]
fn the_cpu_is_what_std_says_it_is() {
    macro_rules! has {
        ($($feature:tt)*) => { $(std::is_x86_feature_detected!($feature))&&* };
    }
    let expected = [
        (
            "avx512",
            has!("avx512f" "avx512bw" "avx512vbmi" "avx512vbmi2" "avx512vpopcntdq" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"),
        ),
        ("avx2", has!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt")),
        ("ssse3", has!("ssse3")),
        ("sse2", has!("sse2")),
        ("scalar", true),
    ];
    assert!(Tier::compiled().eq(expected.map(|(name, _)| name)));
    for (name, has) in expected {
        assert_eq!(Tier::find(name).is_some(), has, "{name}");
    }
}
