//! Every verb on every tier of this machine, beside `memcpy` and two rivals.
//!
//! ```text
//! cd benches/compare
//! cargo bench                           # everything
//! cargo bench -- 'decode/avx2/urls'     # some of it
//! SIMDPCT_CORPUS=urls.txt cargo bench   # over a list of URLs of your own
//! cargo bench -- --test                 # check the answers only
//! ```
//!
//! Every answer is checked before it is timed. A figure is for one pass over all strings of a row; the throughput is in
//! bytes of input. `benches/compare` has more rivals and measures all in turn, which is what ratios should be taken
//! from.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use compare::{
    Contender, DISTINCT, Role, Room, SEED, Shape, Spec, Urls, Verb, expected, others, ours, read_urls, specs,
};
use criterion::{BenchmarkId, Criterion, Throughput};
use simdpct::Tier;

/// The rows of `encode` and `decode`; the comparison program takes all, and the other verbs take few.
const ROWS: &[&str] = &[
    "clean 0-64",
    "clean 16",
    "clean 64 KiB",
    "urls",
    "urls encoded",
    "urls joined",
    "1 % specials",
    "10 % specials",
    "50 % specials",
    "dense CJK",
    "%%%%",
    "invalid escapes",
];

/// Times everybody who has the verb on one row.
fn row(criterion: &mut Criterion, spec: &Spec, shape: Shape) {
    let row = spec.make(shape);
    let strings = row.strings();
    let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
    let room = &mut Room::new(longest, compare::place::OUTPUTS[0]);
    let right: Vec<_> = strings.iter().map(|input| expected(spec.verb, shape, input, room)).collect();

    let mut contenders: Vec<Contender> =
        others(spec.verb).into_iter().flat_map(|group| group.into_iter().take(1)).collect();
    // The rivals have the plain verb only.
    contenders.retain(|contender| {
        contender.role == Role::Rival && shape == Shape::Append || contender.name == "memcpy"
    });
    contenders.extend(Tier::available().map(|tier| ours(spec.verb, shape, tier, Role::Ours(tier))));

    let mut group = criterion.benchmark_group(shape.of(spec.verb));
    group.throughput(Throughput::Bytes(row.bytes() as u64));
    for contender in contenders {
        let mut pairs = strings.iter().zip(&right);
        let wrong = pairs.find(|(input, right)| contender.answer(input, room) != **right || right.is_none());
        match (contender.role, wrong) {
            (Role::Mark, _) | (_, None) => {}
            // It does another job, such as form encoding; the comparison program marks it.
            (Role::Rival, Some(_)) => continue,
            (Role::Ours(_) | Role::Base(_), Some((input, _))) => {
                panic!("{} on {}: {input:?}", contender.name, spec.name)
            }
        }
        group.bench_function(BenchmarkId::new(&contender.name, &spec.name), |bencher| {
            bencher.iter(|| contender.pass(black_box(&strings), room));
        });
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20)
        .configure_from_args();
    let urls = match std::env::var_os("SIMDPCT_CORPUS").map(PathBuf::from) {
        Some(list) => read_urls(SEED, &list).expect("SIMDPCT_CORPUS is a list of lines"),
        None => Urls::new(SEED).distinct(DISTINCT),
    };
    let specs = specs(SEED, &urls);
    for verb in [Verb::Encode, Verb::Decode] {
        for &shape in [Shape::Append].iter().chain(Shape::further(verb)) {
            let wanted = |spec: &&Spec| {
                spec.verb == verb
                    && if shape == Shape::Append {
                        ROWS.contains(&&*spec.name)
                    } else {
                        spec.has_all_shapes()
                    }
            };
            specs.iter().filter(wanted).for_each(|spec| row(&mut criterion, spec, shape));
        }
    }
    criterion.final_summary();
}
