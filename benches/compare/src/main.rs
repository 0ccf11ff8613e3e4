//! Measures simdpct beside its rivals, prints the tables and writes a record.
//!
//! ```text
//! cargo run --release --manifest-path benches/compare/Cargo.toml
//! ```

#[allow(unsafe_code, reason = "only vector instructions can show what the algorithms of other libraries do")]
mod algorithms;
mod alone;
mod bands;
mod goal;
mod measure;
mod report;
mod rivals;
#[cfg(test)]
mod tests;

use std::fs;
use std::hint::black_box;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benchkit::{
    Buffers, Contender, DISTINCT, Random, Role, SEED, Shape, Spec, Statistics, Unit, Urls, Verb,
    fixed_length, ours, place, read_urls, specs,
};
use clap::{Args, Parser, Subcommand};
use regex::Regex;
use simdpct::Tier;

use crate::alone::{ATTEMPTS, Core};
use crate::measure::{Measured, Plan, Task, measure};
use crate::rivals::others;

/// Measures simdpct beside its rivals, prints the tables and writes a record
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Action>,
    #[command(flatten)]
    compare: Compare,
}

#[derive(Args)]
struct Compare {
    /// Read URLs from FILE, one a line, instead of generating them
    #[arg(long, value_name = "FILE", env = "SIMDPCT_CORPUS")]
    corpus: Option<PathBuf>,
    /// Measure for about a minute; such figures are rough, and not recorded
    #[arg(long)]
    quick: bool,
    /// Measure only rows whose names match REGEX, such as `decode, strict, urls`; not recorded
    #[arg(long, value_name = "REGEX")]
    rows: Option<Regex>,
    /// Measure only these tiers; not recorded
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = tier)]
    tiers: Vec<Tier>,
    /// Give every contender COUNT turns
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Write a record to FOLDER, even for a run that would not be recorded otherwise
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Also write every figure to FILE as TSV, with the idiom and the fastest and slowest round
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// Write generated URLs, one a line, to stdout
    Corpus {
        /// Stop after the line with this byte
        #[arg(long, value_name = "COUNT", default_value_t = 1 << 20)]
        bytes: u64,
        #[arg(long, default_value_t = SEED)]
        seed: u64,
    },
    /// Repeat one operation, for a tool that counts instructions, and print the number of input bytes of one pass
    Work {
        /// The verb: `encode`, `encode, slice`, `decode`, `decode, strict`, ...
        #[arg(long)]
        verb: String,
        /// The row: `urls`, `clean 64 KiB`, ...
        #[arg(long)]
        row: String,
        /// The tier, or the name of another contender in a record; of several idioms of a rival, the first
        #[arg(long)]
        contender: String,
        /// Take only the first strings of the row
        #[arg(long, default_value_t = usize::MAX)]
        strings: usize,
        #[arg(long, default_value_t = 1)]
        passes: usize,
    },
    /// Print the tiers of this machine, best first
    Tiers,
    /// Print the rows: verb, name, unit, and the kind of text that the row represents
    Rows,
}

fn tier(name: &str) -> Result<Tier, String> {
    let known = || Tier::available().map(Tier::name).collect::<Vec<_>>().join(", ");
    Tier::find(name).ok_or_else(|| format!("this machine has {}", known()))
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        None => compare(&cli.compare),
        Some(Action::Corpus { bytes, seed }) => write_corpus(bytes, seed),
        Some(Action::Work { verb, row, contender, strings, passes }) => {
            work(&verb, &row, &contender, strings, passes)
        }
        Some(Action::Rows) => {
            specs(SEED, &[]).iter().try_for_each(|Spec { verb, name, unit, about, .. }| {
                writeln!(io::stdout(), "{}\t{name}\t{unit:?}\t{about}", Shape::Append.of(*verb))
            })
        }
        Some(Action::Tiers) => Tier::available().try_for_each(|tier| writeln!(io::stdout(), "{tier}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Compare) -> io::Result<()> {
    if cfg!(debug_assertions) {
        return Err(io::Error::other("an unoptimised build cannot be measured; run it with --release"));
    }
    let plan = Plan {
        rounds: options.rounds.map_or(if options.quick { 9 } else { 41 }, usize::from),
        turn: if options.quick { 200_000.0 } else { 1_000_000.0 },
    };
    let tiers = if options.tiers.is_empty() { Tier::available().collect() } else { options.tiers.clone() };
    let wanted = |name: &str| options.rows.as_ref().is_none_or(|rows| rows.is_match(name));

    // The report lists rivals that panic, so their messages would only clutter the terminal.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let from = panic.location().map_or("", |location| location.file());
        if !from.contains("registry") {
            hook(panic);
        }
    }));

    let (urls, origin) = match &options.corpus {
        // The record leaves out the path, which describes the machine and not the list.
        Some(list) => (read_urls(SEED, list)?, "a list"),
        None => (Urls::new(SEED).distinct(DISTINCT), "generated"),
    };
    let mut core = Core::new(ATTEMPTS);
    let specs = specs(SEED, &urls);
    let mut all = Vec::new();
    for spec in &specs {
        let shapes = if spec.has_all_shapes() { spec.verb.shapes() } else { &[Shape::Append] };
        for &shape in shapes {
            let name = format!("{}, {}", shape.of(spec.verb), spec.name);
            if !wanted(&name) {
                continue;
            }
            eprintln!("{name}");
            let row = spec.make(shape);
            let task = Task { name: &spec.name, verb: spec.verb, shape, unit: spec.unit, check: usize::MAX };
            all.push(measure(plan, &mut core, &task, &row, groups(spec.verb, shape, &tiers)));
        }
    }
    let sweep = sweep(options.quick, &mut core, &tiers, wanted);
    let bands = bands::sweep(options.quick, &mut core, &tiers, wanted);

    let machine = report::Machine::this();
    let report = report::Report {
        corpus: format!("{origin}, {}", Statistics::of(&urls)),
        plan: format!(
            "{} rounds, all contenders in turn, each turn at least {} ms of CPU time, with output at {:?} of a page, {}",
            plan.rounds,
            plan.turn / 1e6,
            place::OUTPUTS,
            core.report()
        ),
        tiers: &tiers,
        all: &all,
        standings: [goal::standings(&all, &tiers, machine.generation()), goal::of_bands(&bands)].concat(),
        slower: goal::slower(&all, &tiers),
        races: goal::races(&sweep, &tiers),
        sweep: &sweep,
        bands: &bands,
        machine,
    };
    if let Some(file) = &options.tsv {
        fs::write(file, report.tsv())?;
    }
    io::stdout().write_all(report.markdown().as_bytes())?;
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record");
    let whole = !options.quick && options.rows.is_none() && options.tiers.is_empty();
    if let Some(folder) = options.record.as_ref().or(whole.then_some(&usual)) {
        eprintln!("recorded in {}", report.record(folder)?.display());
    }
    Ok(())
}

/// Returns the contenders of a row. Each group has the idioms of one library or tier.
fn groups(verb: Verb, shape: Shape, tiers: &[Tier]) -> Vec<Vec<Contender>> {
    let mut groups = others(verb);
    if shape != Shape::Append {
        // Rivals have only the default mode, so only the first group, `memcpy`, is kept for other shapes.
        groups.truncate(1);
        groups.extend(tiers.iter().map(|&tier| vec![ours(verb, Shape::Append, tier, Role::Base(tier))]));
    }
    groups.extend(tiers.iter().map(|&tier| vec![ours(verb, shape, tier, Role::Ours(tier))]));
    groups
}

/// Measures every length from 0 to 64 (with `quick`, every fourth) on several kinds of text.
fn sweep(
    quick: bool,
    core: &mut Core,
    tiers: &[Tier],
    wanted: impl Fn(&str) -> bool,
) -> Vec<(String, usize, Measured)> {
    type Byte = fn(&mut Random) -> char;
    let clean: Byte =
        |random| random.pick(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") as char;
    let kinds: [(Verb, &str, Byte); 6] = [
        (Verb::Encode, "clean", clean),
        (Verb::Encode, "10 % specials", |random| random.pick(b"abcdefghi/") as char),
        (Verb::Encode, "50 % specials", |random| random.pick(b"abcd/?=&") as char),
        (Verb::Decode, "clean", clean),
        (Verb::Decode, "some escapes", |random| random.pick(b"abcdefghijk%0123456789ABCDE%") as char),
        (Verb::Decode, "many escapes", |random| random.pick(b"%4%1") as char),
    ];
    let plan = Plan { rounds: if quick { 3 } else { 7 }, turn: 0.0 };
    let mut measured = Vec::new();
    for (verb, kind, byte) in kinds {
        let name = format!("{}, sweep, {kind}", Shape::Append.of(verb));
        if !wanted(&name) {
            continue;
        }
        eprintln!("{name}");
        for length in (0..=64).step_by(if quick { 4 } else { 1 }) {
            let row = fixed_length(SEED, length, byte);
            let task = Task { name: &name, verb, shape: Shape::Append, unit: Unit::Call, check: 500 };
            let mut groups = groups(verb, Shape::Append, tiers);
            groups.retain(|group| group.iter().all(|contender| contender.role != Role::Mark));
            measured.push((name.clone(), length, measure(plan, core, &task, &row, groups)));
        }
    }
    measured
}

fn write_corpus(bytes: u64, seed: u64) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    let mut written = 0;
    let mut urls = Urls::new(seed);
    while let Some(url) = (written < bytes).then(|| urls.next()).flatten() {
        writeln!(out, "{url}")?;
        written += url.len() as u64 + 1;
    }
    out.flush()
}

fn work(verb: &str, row: &str, contender: &str, strings: usize, passes: usize) -> io::Result<()> {
    let mut verbs = Verb::ALL.into_iter().flat_map(|v| v.shapes().iter().map(move |&shape| (v, shape)));
    let unknown = |what: &str, name: &str| io::Error::other(format!("there is no {what} `{name}`"));
    let (verb, shape) = verbs.find(|&(v, shape)| shape.of(v) == verb).ok_or_else(|| unknown("verb", verb))?;
    let urls = Urls::new(SEED).distinct(strings.min(DISTINCT));
    let specs = specs(SEED, &urls);
    let spec = specs.iter().find(|spec| spec.verb == verb && spec.name == row);
    let row = spec.ok_or_else(|| unknown("row", row))?.make(shape);
    let mut some = row.strings();
    some.truncate(strings);
    let mut buffers = Buffers::new(row.longest(), place::OUTPUTS[0]);
    let all = groups(verb, shape, &Tier::available().collect::<Vec<_>>());
    let found = all.iter().flatten().find(|one| one.name == contender && !matches!(one.role, Role::Base(_)));
    let contender = found.ok_or_else(|| unknown("contender", contender))?;
    for _ in 0..passes {
        contender.pass(black_box(&some), &mut buffers);
    }
    writeln!(io::stdout(), "{}", some.iter().map(|string| string.len()).sum::<usize>())
}
