//! Measures whether a tier is slower than a weaker one, on strings of every length below 1 KiB.
//!
//! The time for one length varies by a tenth with the address of code, so 16 lengths (a band) are measured together.

use benchkit::{BAND, Role, SEED, Shape, Unit, Verb, band, ours};
use simdpct::Tier;

use crate::alone::Core;
use crate::measure::{Measured, Plan, Task, measure};

/// Pairs of a tier and a weaker tier, which must not be faster.
pub const PAIRS: [(&str, &str); 2] = [("avx512", "avx2"), ("avx2", "ssse3")];

/// The figures of one band.
pub struct Band {
    /// The direction (encoding or decoding) and the kind of text.
    pub kind: String,
    /// The figures of the tiers in [`PAIRS`], in a row that is named after the kind and the lengths.
    pub measured: Measured,
    /// The least of the lengths of the band.
    pub first: usize,
}

/// Measures all bands below 1 KiB (with `quick`, every eighth): clean text, and text with a tenth to encode or decode.
pub fn sweep(quick: bool, core: &mut Core, tiers: &[Tier], wanted: impl Fn(&str) -> bool) -> Vec<Band> {
    let compared = |tier: &&Tier| PAIRS.iter().any(|&(one, other)| [one, other].contains(&tier.name()));
    let tiers: Vec<Tier> = tiers.iter().filter(compared).copied().collect();
    let plan = Plan { rounds: if quick { 5 } else { 25 }, turn: 0.0 };
    let mut all = Vec::new();
    for (verb, text, share) in Verb::ALL.into_iter().flat_map(|v| [(v, "clean", 0), (v, "10 %", 100_000)]) {
        let shape = Shape::Append;
        let kind = format!("{}, bands, {text}", shape.of(verb));
        if tiers.is_empty() || !wanted(&kind) {
            continue;
        }
        eprintln!("{kind}");
        for first in (0..1024).step_by(if quick { 8 * BAND } else { BAND }) {
            let name = format!("bands, {text}, {first}-{}", first + BAND - 1);
            let task = Task { name: &name, verb, shape, unit: Unit::Call, check: 500 };
            let groups = tiers.iter().map(|&tier| vec![ours(verb, shape, tier, Role::Ours(tier))]).collect();
            let measured = measure(plan, core, &task, &band(SEED, first, verb, share), groups);
            all.push(Band { kind: kind.clone(), measured, first });
        }
    }
    all
}
