//! Has the goals of this library, and checks which of them a run meets.
//!
//! Limits are ratios within one run. Absolute times differ from machine to machine, but ratios to the time of `memcpy` or of a
//! rival hardly do.

use benchkit::Verb::{self, Decode, Encode};
use benchkit::{Role, Shape};
use simdpct::Tier;

use crate::bands::{Band, PAIRS};
use crate::measure::{Measured, Timed};

/// The quantity that a limit bounds.
#[derive(Clone, Copy, Debug)]
enum Than {
    /// The time of a tier, divided by that of `memcpy`. The limit is an upper bound.
    CopyTime,
    /// The speed of a tier, divided by that of `memcpy`. The limit is a lower bound.
    CopySpeed,
    /// The speed of a tier, divided by that of `percent-encoding`. The limit is a lower bound.
    RivalSpeed,
    /// The time of a tier, divided by its time in the default mode with a call for each string. The limit is an upper bound.
    BaseTime,
}

/// The limits of one row: direction, way to call, name, bounded quantity, and limits for AVX-512, AVX2 and SSSE3.
struct Goal(Verb, Shape, &'static str, Than, [f64; 3]);

const GOALS: &[Goal] = &[
    Goal(Encode, Shape::Append, "clean 16", Than::CopyTime, [1.5, 1.8, 2.2]),
    Goal(Encode, Shape::Append, "urls", Than::CopyTime, [2.5, 5.0, 6.0]),
    Goal(Encode, Shape::Append, "clean 64 KiB", Than::CopySpeed, [0.9, 0.75, 0.5]),
    Goal(Encode, Shape::Append, "10 % specials", Than::RivalSpeed, [28.0, 20.0, 13.0]),
    Goal(Encode, Shape::Append, "50 % specials", Than::RivalSpeed, [90.0, 52.0, 35.0]),
    Goal(Encode, Shape::Append, "dense CJK", Than::RivalSpeed, [45.0, 25.0, 18.0]),
    Goal(Decode, Shape::Append, "clean 16", Than::CopyTime, [1.3, 1.8, 2.2]),
    Goal(Decode, Shape::Append, "urls", Than::CopyTime, [1.5, 2.2, 3.0]),
    Goal(Decode, Shape::Append, "urls encoded", Than::CopyTime, [2.2, 4.5, 6.0]),
    Goal(Decode, Shape::Append, "clean 64 KiB", Than::CopySpeed, [0.9, 0.75, 0.5]),
    Goal(Decode, Shape::Append, "10 % specials", Than::RivalSpeed, [28.0, 10.0, 7.0]),
    Goal(Decode, Shape::Append, "50 % specials", Than::RivalSpeed, [62.0, 22.0, 14.0]),
    Goal(Decode, Shape::Append, "dense CJK", Than::RivalSpeed, [18.0, 7.0, 5.0]),
    Goal(Decode, Shape::Normalize, "urls", Than::BaseTime, [1.3; 3]),
    Goal(Decode, Shape::Normalize, "urls encoded", Than::BaseTime, [1.3; 3]),
    Goal(Decode, Shape::Normalize, "10 % specials", Than::BaseTime, [1.3; 3]),
    Goal(Decode, Shape::Keep, "urls", Than::BaseTime, [1.3; 3]),
    Goal(Decode, Shape::Keep, "urls encoded", Than::BaseTime, [1.3; 3]),
    Goal(Decode, Shape::Keep, "10 % specials", Than::BaseTime, [1.3; 3]),
    Goal(Decode, Shape::Strict, "urls", Than::BaseTime, [1.1; 3]),
    Goal(Decode, Shape::Strict, "urls encoded", Than::BaseTime, [1.1; 3]),
    Goal(Decode, Shape::Strict, "10 % specials", Than::BaseTime, [1.1; 3]),
    Goal(Encode, Shape::Values, "urls", Than::BaseTime, [0.5; 3]),
    Goal(Decode, Shape::Values, "urls", Than::BaseTime, [0.5; 3]),
    Goal(Decode, Shape::Values, "urls encoded", Than::BaseTime, [0.5; 3]),
];

/// A generation of CPUs with its own limits, or with cycles that `ports` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Zen 4, which splits operations on 512 bits.
    Zen4,
    /// Zen 5, which copies from its first-level cache at twice the speed of CPUs before it.
    Zen5,
    /// Any other CPU.
    Other,
}

impl Goal {
    fn limits(&self, generation: Generation) -> [f64; 3] {
        match (self.0, self.3, generation) {
            (Encode, Than::CopySpeed, Generation::Zen5) => [0.85, 0.5, 0.25],
            (Decode, Than::CopySpeed, Generation::Zen5) => [0.85, 0.65, 0.35],
            _ => self.4,
        }
    }
}

/// Returns the fewest cycles in which the execution ports can process 64 bytes of `row`. Returns `None` if the number
/// is unknown. The counts are from docs/lab/2026-11-22-avx512.md.
pub fn ports(generation: Generation, tier: Tier, verb: Verb, row: &str) -> Option<f64> {
    let escaped_whole = matches!(row, "dense CJK" | "dense Cyrillic" | "%%%%");
    match (tier.name(), generation, verb) {
        ("avx512", Generation::Zen4, Encode) if escaped_whole => Some(9.0),
        ("avx512", Generation::Zen4, Encode) => Some(12.0),
        ("avx512", Generation::Zen4, Decode) => Some(6.5),
        ("avx512", Generation::Zen5, Encode) if !escaped_whole => Some(11.2),
        ("avx512", Generation::Zen5, Decode) => Some(4.5),
        _ => None,
    }
}

/// The upper limit of the time of a tier in a band, divided by the time of a weaker tier.
const WEAKER: f64 = 1.05;

/// The result of one goal on one tier.
#[derive(Clone)]
pub struct Standing {
    /// The description of the goal.
    pub goal: String,
    /// The tier whose result this is.
    pub tier: Tier,
    /// The description of the limit.
    pub limit: String,
    /// The measured ratio, as text.
    pub figure: String,
    /// Whether the goal is met.
    pub met: bool,
}

/// Returns the result of every goal whose row was measured, on every tier that has a limit.
pub fn standings(all: &[Measured], tiers: &[Tier], generation: Generation) -> Vec<Standing> {
    let mut standings = Vec::new();
    for goal in GOALS {
        let (&Goal(verb, shape, row, than, _), limits) = (goal, goal.limits(generation));
        let Some(measured) = all.iter().find(|m| (m.verb, m.shape, &*m.row) == (verb, shape, row)) else {
            continue;
        };
        for &tier in tiers {
            let limit = match tier.name() {
                name if name.starts_with("avx512") => limits[0],
                "avx2" => limits[1],
                "ssse3" => limits[2],
                _ => continue,
            };
            let other = match than {
                Than::CopyTime | Than::CopySpeed => measured.find("memcpy"),
                Than::RivalSpeed => measured.find("percent-encoding"),
                Than::BaseTime => measured.timed().find(|timed| timed.role == Role::Base(tier)),
            };
            let (Some(own), Some(other)) = (measured.find(tier.name()), other) else { continue };
            let ratio = own.ratio(other);
            let (figure, least, what) = match than {
                Than::CopyTime => (ratio, false, "time of memcpy"),
                Than::CopySpeed => (1.0 / ratio, true, "speed of memcpy"),
                Than::RivalSpeed => (1.0 / ratio, true, "speed of percent-encoding"),
                Than::BaseTime => (ratio, false, "time of the default mode"),
            };
            standings.push(Standing {
                goal: format!("{}, {row}: {what}", shape.of(verb)),
                tier,
                limit: format!("{} {limit} x", if least { "at least" } else { "at most" }),
                figure: format!("{figure:.2} x"),
                met: if least { figure >= limit } else { figure <= limit },
            });
        }
    }
    standings
}

/// The times of a tier beside those of a weaker one, on one kind of text.
pub struct Beside<'b> {
    /// The direction (encoding or decoding) and the kind of text.
    pub kind: &'b str,
    /// The tier that must not be slower.
    pub tier: Tier,
    /// The weaker tier.
    pub weaker: Tier,
    /// The ratio of the times in each band, and the least length of the band. The greatest ratio is first; at least one
    /// exists.
    pub ratios: Vec<(f64, usize)>,
}

/// Compares tiers in the bands of each kind of text. Leaves out pairs that were not measured.
pub fn against_weaker(bands: &[Band]) -> Vec<Beside<'_>> {
    let mut all = Vec::new();
    for kind in bands.chunk_by(|a, b| a.kind == b.kind) {
        for (name, weaker) in PAIRS {
            let (Some(tier), Some(weaker)) = (Tier::find(name), Tier::find(weaker)) else { continue };
            let ratio = |band: &Band| {
                let (own, other) = (band.measured.find(tier.name())?, band.measured.find(weaker.name())?);
                Some((own.ratio(other), band.first))
            };
            let mut ratios: Vec<_> = kind.iter().filter_map(ratio).collect();
            ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
            if !ratios.is_empty() {
                all.push(Beside { kind: &kind[0].kind, tier, weaker, ratios });
            }
        }
    }
    all
}

/// Returns a result for each kind of text and each pair of a tier and a weaker one. The result says whether the tier
/// takes at most [`WEAKER`] times the time of the weaker one in every band of 16 lengths.
pub fn of_bands(bands: &[Band]) -> Vec<Standing> {
    let standing = |Beside { kind, tier, weaker, ratios }: Beside<'_>| Standing {
        goal: format!("{kind}: time of {weaker} in the worst band"),
        tier,
        limit: format!("at most {WEAKER} x"),
        figure: format!("{:.2} x", ratios[0].0),
        met: ratios[0].0 <= WEAKER,
    };
    against_weaker(bands).into_iter().map(standing).collect()
}

/// The lengths of one kind of text at which a tier was slower than its rival.
pub struct Race {
    /// The kind of text.
    pub row: String,
    /// The tier that was compared with its rival.
    pub tier: Tier,
    /// The number of lengths that were measured.
    pub tried: usize,
    /// The lengths at which the tier was slower, each with the ratio of the times and the rival.
    pub lost: Vec<(usize, f64, String)>,
}

/// Returns the times of a tier, and those of the rival that must not be faster. The rival of the scalar tier is `percent-encoding`. The
/// rival of any other tier is the fastest of the crates and of the algorithms whose instruction set the tier has.
fn opponents(measured: &Measured, tier: Tier) -> Option<(&Timed, &Timed)> {
    let rival = match tier.name() {
        "scalar" => measured.find("percent-encoding"),
        _ => measured.best_opponent(tier),
    };
    measured.find(tier.name()).zip(rival)
}

/// Compares each tier with its rival at each length. `sweep` has one measurement for each kind of text and length.
pub fn races(sweep: &[(String, usize, Measured)], tiers: &[Tier]) -> Vec<Race> {
    let mut races: Vec<Race> = Vec::new();
    for (row, length, measured) in sweep {
        for &tier in tiers {
            let Some((own, rival)) = opponents(measured, tier) else { continue };
            let race = match races.iter_mut().position(|race| race.row == *row && race.tier == tier) {
                Some(at) => &mut races[at],
                None => {
                    races.push(Race { row: row.clone(), tier, tried: 0, lost: Vec::new() });
                    races.last_mut().expect("a race was just added")
                }
            };
            race.tried += 1;
            let ratio = own.ratio(rival);
            if ratio > 1.0 {
                race.lost.push((*length, ratio, rival.name.clone()));
            }
        }
    }
    races
}

/// Returns the rows on which a tier was slower than its rival. Each has the ratio of the times, and the rival's name.
pub fn slower(all: &[Measured], tiers: &[Tier]) -> Vec<(Tier, String, f64, String)> {
    let mut found = Vec::new();
    for measured in all.iter().filter(|measured| measured.shape == Shape::Append) {
        for &tier in tiers {
            let Some((own, rival)) = opponents(measured, tier) else { continue };
            let ratio = own.ratio(rival);
            if ratio > 1.0 {
                let row = format!("{}, {}", measured.shape.of(measured.verb), measured.row);
                found.push((tier, row, ratio, rival.name.clone()));
            }
        }
    }
    found
}
