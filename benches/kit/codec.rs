//! The Criterion suite: encoding and decoding on every tier, beside `memcpy`, percent-encoding and urlencoding.
//!
//! ```text
//! cargo bench                           # all rows
//! cargo bench -- 'decode/avx2/urls'     # rows whose names match
//! SIMDPCT_CORPUS=urls.txt cargo bench   # with a list of URLs of your own
//! cargo bench -- --test                 # only checks the answers
//! ```
//!
//! Every answer is checked before it is timed. A figure is the time of one pass over all strings of a row; the throughput
//! counts bytes of input. Ratios should come from `benches/compare`, which measures more rivals, and times all contenders in turn.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use benchkit::{
    Buffers, DISTINCT, Role, SEED, Shape, Spec, Urls, Verb, expected, ours, place, read_urls, rivals, specs,
};
use criterion::{BenchmarkId, Criterion, Throughput};
use simdpct::Tier;

/// The rows that are measured with [`Shape::Append`]. Other shapes are measured on the rows that `Spec::has_all_shapes` selects.
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

/// Checks and times every contender on one row.
fn row(criterion: &mut Criterion, spec: &Spec, shape: Shape) {
    let row = spec.make(shape);
    let strings = row.strings();
    let buffers = &mut Buffers::new(row.longest(), place::OUTPUTS[0]);
    let right: Vec<_> = strings.iter().map(|input| expected(spec.verb, shape, input, buffers)).collect();

    let mut contenders = vec![rivals::memcpy().swap_remove(0)];
    // Rivals have only the default mode, so they are compared only with `Shape::Append`.
    if shape == Shape::Append {
        let groups = [rivals::percent_encoding(spec.verb), rivals::urlencoding(spec.verb)];
        contenders.extend(groups.map(|mut idioms| idioms.swap_remove(0)));
    }
    contenders.extend(Tier::available().map(|tier| ours(spec.verb, shape, tier, Role::Ours(tier))));

    let mut group = criterion.benchmark_group(shape.of(spec.verb));
    group.throughput(Throughput::Bytes(row.bytes() as u64));
    for contender in contenders {
        if contender.role != Role::Mark {
            for (input, right) in strings.iter().zip(&right) {
                let answer = contender.answer(input, buffers);
                let is_right = answer.is_some() && answer == *right;
                assert!(is_right, "{} on {}: {input:?}", contender.name, spec.name);
            }
        }
        group.bench_function(BenchmarkId::new(&contender.name, &spec.name), |bencher| {
            bencher.iter(|| contender.pass(black_box(&strings), buffers));
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
        Some(list) => read_urls(SEED, &list).expect("SIMDPCT_CORPUS names a list of lines"),
        None => Urls::new(SEED).distinct(DISTINCT),
    };
    let specs = specs(SEED, &urls);
    for verb in Verb::ALL {
        for &shape in verb.shapes() {
            for spec in specs.iter().filter(|spec| spec.verb == verb) {
                let wanted =
                    if shape == Shape::Append { ROWS.contains(&&*spec.name) } else { spec.has_all_shapes() };
                if wanted {
                    row(&mut criterion, spec, shape);
                }
            }
        }
    }
    criterion.final_summary();
}
