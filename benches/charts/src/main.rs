//! Draws the charts and fills the tables of the documents in [`DOCUMENTS`], from the newest benchmark records:
//!
//! ```sh
//! cargo run --release --manifest-path benches/charts/Cargo.toml             # from benches/record
//! cargo run --release --manifest-path benches/charts/Cargo.toml -- FILE...  # only the charts, from these records
//! cargo run --release --manifest-path benches/charts/Cargo.toml -- --check  # fails if a chart or a table is not current
//! ```
//!
//! Some colours are those of Okabe and Ito, which people with any colour vision can tell apart. In dark mode, the SVG
//! changes the colours of text and grid.

#![forbid(unsafe_code)]

mod draw;
mod record;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use draw::{Axis, Lines, Row, Rows, Series, figure};
use record::{Table, markdown, newest, number};

type Failure = Box<dyn std::error::Error>;

/// The documents with tables.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    "docs/speed.md",
    "crates/capi/README.md",
    "crates/datafusion/README.md",
    "crates/duckdb/README.md",
    "crates/percent-encoding/README.md",
    "crates/python/README.md",
    "crates/uri/README.md",
    "crates/wasm/README.md",
];

fn main() -> ExitCode {
    let files: Vec<String> = env::args().skip(1).collect();
    let is_check = files == ["--check"];
    let made = match make(if is_check { &[] } else { &files }) {
        Ok(made) if made.is_empty() => Err("no record has anything to draw".into()),
        made => made,
    };
    let put = |made: Vec<Made>| {
        if is_check { is_current(&made) } else { made.iter().try_for_each(write) }
    };
    match made.and_then(put) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("charts: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A file that was made from records.
struct Made {
    /// The path from the root of the repository.
    path: String,
    text: String,
    /// The name of the record.
    from: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn write(made: &Made) -> Result<(), Failure> {
    let path = root().join(&made.path);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(path, &made.text)?;
    println!("{} from {}", made.path, made.from);
    Ok(())
}

/// Fails with the names of the files that differ from those in the repository.
fn is_current(made: &[Made]) -> Result<(), Failure> {
    let differs =
        |made: &&Made| !fs::read_to_string(root().join(&made.path)).is_ok_and(|text| text == made.text);
    let stale: Vec<&str> = made.iter().filter(differs).map(|made| &*made.path).collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("not made from the newest records: {}; run this program without --check", stale.join(", "))
        .into())
}

/// Returns the newest record whose name ends with `pattern` (without its `*`). If `pattern` is `COMPARE`, returns the
/// newest record with the title of benches/compare.
fn record_of(pattern: &str) -> Option<PathBuf> {
    let records = root().join("benches/record");
    let end = pattern.trim_start_matches('*');
    newest(&records, |name| {
        // A name with `-at-` and a commit is that of a record of an older commit, which was made for comparison: only a pattern that has
        // this part, too, finds it. The names of records of benches/compare do not name that program, so `is_compare` reads their titles.
        let is_older = name.contains("-at-") && !end.contains("-at-");
        let is_compare = |text: String| text.starts_with("# simdpct beside its rivals\n");
        let is_other = || end == COMPARE && !fs::read_to_string(records.join(name)).is_ok_and(is_compare);
        !is_older && name.ends_with(if end == COMPARE { ".md" } else { end }) && !is_other()
    })
}

/// The start of the name of each contender that repeats the algorithm of another library, which cannot be linked.
const ALGORITHM: &str = "algorithm of ";

/// The name by which templates refer to the newest record of benches/compare.
const COMPARE: &str = "compare";

/// Makes the charts of the records `files`. Without `files`, makes the charts and tables of the newest records.
fn make(files: &[String]) -> Result<Vec<Made>, Failure> {
    let mut made = Vec::new();
    let mut records: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    if records.is_empty() {
        records.extend([COMPARE, "*-process.md", "*-lengths.tsv"].iter().filter_map(|name| record_of(name)));
        for path in DOCUMENTS {
            let text = fs::read_to_string(root().join(path))?;
            let template =
                |name: &str| fs::read_to_string(root().join(format!("benches/charts/tables/{name}.md"))).ok();
            let text = tables::fill(&text, template, |name| {
                let path = record_of(name)?;
                let text = fs::read_to_string(&path).ok()?;
                if name.ends_with(".tsv") {
                    return Some(vec![record::tsv(&text)]);
                }
                let (facts, mut tables) = markdown(&text);
                let file = path.file_name()?.to_str()?;
                let mut lines = vec![vec!["fact".to_owned(), "value".to_owned()]];
                lines.push(vec!["record".to_owned(), file.to_owned()]);
                lines.extend(facts.iter().map(|(key, value)| {
                    vec![key.clone(), if key == "CPU" { cpu_name(value) } else { value.clone() }]
                }));
                tables.push(Table { title: "facts".to_owned(), lines });
                Some(tables)
            });
            let text = text.map_err(|error| format!("{path}: {error}"))?;
            made.push(Made { path: path.to_owned(), text, from: "the newest records".to_owned() });
        }
    }
    for file in records {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut charts: Vec<(String, String)> = Vec::new();
        if name.ends_with(".tsv") {
            charts.extend(by_length(&text).ok_or_else(|| format!("{name}: not a table of lengths"))?);
        } else {
            let (facts, tables) = markdown(&text);
            let cpu = facts.get("CPU").map_or_else(String::new, |cpu| cpu_name(cpu));
            let date = facts.get("Date").map_or("", String::as_str);
            let below = format!("{cpu}, one core, {date}");
            for verb in ["encode", "decode"] {
                charts.extend(by_tier(&tables, verb, &below).map(|svg| (format!("speed-{verb}"), svg)));
            }
            charts.extend(processes(&tables, &below).map(|svg| ("speed-processes".to_owned(), svg)));
        }
        let chart = |(chart, text)| Made { path: format!("docs/img/{chart}.svg"), text, from: name.clone() };
        made.extend(charts.into_iter().map(chart));
    }
    Ok(made)
}

/// The generations of CPUs, by the numbers that systems report.
const GENERATIONS: [(&str, &str); 4] = [
    ("(family 25, model 1)", "Zen 3"),
    ("(family 25, model 17)", "Zen 4"),
    ("(family 26,", "Zen 5"),
    ("(family 6, model 167)", "Rocket Lake"),
];

/// Returns the name of the CPU with its generation, and without the number of cores.
fn cpu_name(cpu: &str) -> String {
    let name = cpu.rsplit_once(", ").filter(|(_, rest)| rest.contains("cores")).map_or(cpu, |(name, _)| name);
    match GENERATIONS.iter().find(|(numbers, _)| name.contains(numbers)) {
        Some((_, generation)) => name.replace("(family", &format!("({generation}, family")),
        None => name.to_owned(),
    }
}

/// Draws the speed of the two best tiers and of the rivals, in percent of the speed of `memcpy`, on rows of 64 KiB.
fn by_tier(tables: &[Table], verb: &str, below: &str) -> Option<String> {
    let main = tables.iter().find(|table| table.title == verb)?;
    let titles = match verb {
        "encode" => ["clean text", "10 % escaped", "50 % escaped", "CJK"],
        _ => ["clean text", "10 % escapes", "50 % escapes", "CJK, escaped"],
    };
    let rival = "best other rival";
    // Older records have no rivals with SIMD, and so lack this table.
    let simd = tables.iter().find(|table| table.title == format!("{verb}: rivals with SIMD"));
    let algorithms = simd.and_then(|table| table.lines.first()).into_iter().flatten();
    let algorithms = algorithms.map(String::as_str).filter(|name| name.starts_with(ALGORITHM));
    let tiers = main.lines.first()?.iter().skip(5).take(2).map(String::as_str);
    let names: Vec<&str> = tiers.chain(algorithms).chain([rival, "percent-encoding"]).collect();
    let groups: Vec<(String, Vec<Row>)> = ["clean 64 KiB", "10 % specials", "50 % specials", "dense CJK"]
        .into_iter()
        .zip(titles)
        .filter_map(|(row, title)| {
            let memcpy = number(main.cell(row, "memcpy")?)?;
            let rows = names.iter().filter_map(|name| {
                let cell = main.cell(row, name).or_else(|| simd?.cell(row, name))?;
                let speed = number(cell)?;
                let name = match cell.split(' ').next_back() {
                    Some(other) if *name == rival => format!("{other} (best rival)"),
                    _ if *name == "percent-encoding" || name.starts_with(ALGORITHM) => (*name).to_owned(),
                    _ => format!("simdpct, {name}"),
                };
                let value = 100.0 * speed / memcpy;
                let series = Series::of(name.strip_prefix("simdpct, ").unwrap_or(&name));
                Some(Row {
                    name,
                    value,
                    figure: format!("{} % ({} GB/s)", figure(value), figure(speed)),
                    series,
                })
            });
            Some((format!("{title}; memcpy: {} GB/s", figure(memcpy)), rows.collect()))
        })
        .collect();
    let title = format!(
        "{}: speed in percent of memcpy, on strings of 64 KiB; longer is better",
        if verb == "encode" { "Encoding" } else { "Decoding" }
    );
    let chart = Rows { title, below: below.to_owned(), axis: Axis::Percent, key: Vec::new(), groups };
    (!chart.groups.is_empty()).then(|| draw::rows(&chart))
}

/// Draws the speed of commands on one thread in MB/s.
fn processes(tables: &[Table], below: &str) -> Option<String> {
    let table = tables.iter().find(|table| table.begins_with(&["command"]))?;
    let key = [("pct", "avx512"), ("cat", "memcpy"), ("other commands", "percent-encoding")]
        .map(|(name, style)| Series::of(style).named(name));
    let wanted = [
        "cat",
        "pct encode",
        "pct normalize",
        "pct decode",
        "cat (encoded URLs)",
        "pct decode (encoded URLs)",
        "node, encodeURIComponent",
        "node, decodeURIComponent",
        "perl, encode",
        "perl, decode",
        "Python urllib, quote",
        "Python urllib, unquote_to_bytes",
        "jq, @uri",
    ];
    let rows: Vec<Row> = wanted
        .iter()
        .filter_map(|name| {
            let value = number(table.cell(name, "MB/s of input")?)?;
            let [pct, cat, other] = &key;
            let series = match name.split(' ').next() {
                Some("pct") => pct,
                Some("cat") => cat,
                _ => other,
            };
            Some(Row { name: (*name).to_owned(), value, figure: figure(value), series: series.clone() })
        })
        .collect();
    let title = "Whole processes on one thread: MB/s of URLs, file to file; more is better; logarithmic axis";
    let chart = Rows {
        title: title.to_owned(),
        below: below.to_owned(),
        axis: Axis::Logarithmic,
        key: key.into(),
        groups: vec![(String::new(), rows)],
    };
    (!chart.groups[0].1.is_empty()).then(|| draw::rows(&chart))
}

/// Draws the nanoseconds of a call by length, in one chart for each kind of text.
fn by_length(text: &str) -> Option<Vec<(String, String)>> {
    let fact = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(&format!("# {key}: "))).unwrap_or_default()
    };
    let below = format!("{}, one core, {}", cpu_name(fact("CPU")), fact("Date"));
    let all = record::lengths(text)?;
    Some(
        all.into_iter()
            .map(|lengths| {
                let words: Vec<_> = lengths.text.split(", ").filter(|word| *word != "sweep").collect();
                let name = format!("lengths-{}", words.join("-").replace(" %", "").replace(' ', "-"));
                let verb = if words.first() == Some(&"encode") { "Encoding" } else { "Decoding" };
                let title =
                    format!("{verb}, {}: nanoseconds a call, by length in bytes", words[1..].join(", "));
                // The chart shows the crates percent-encoding and urlencoding, and that one of the others that is fastest on average.
                let mean = |points: &[(usize, f64)]| {
                    points.iter().map(|point| point.1).sum::<f64>() / points.len().max(1) as f64
                };
                let usual = ["percent-encoding", "urlencoding"];
                let fastest = lengths
                    .lines
                    .iter()
                    .filter(|(name, points)| {
                        !tables::is_ours(name)
                            && !name.starts_with(ALGORITHM)
                            && !usual.contains(&&**name)
                            && points.len() > 10
                    })
                    .min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))
                    .map(|(name, _)| name.clone());
                let lines = lengths
                    .lines
                    .into_iter()
                    .filter(|(name, points)| {
                        let shown = matches!(
                            &**name,
                            "memcpy"
                                | "avx512"
                                | "avx2"
                                | "sse2"
                                | "neon"
                                | "percent-encoding"
                                | "urlencoding"
                        ) || name.starts_with(ALGORITHM) && !name.ends_with("AVX2")
                            || Some(name) == fastest.as_ref();
                        shown && !points.is_empty()
                    })
                    .map(|(name, points)| {
                        (Series::of(&name).named(name.strip_prefix(ALGORITHM).unwrap_or(&name)), points)
                    })
                    .collect();
                (name, draw::lines(&Lines { title, below: below.clone(), lines }))
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_and_tables_are_those_of_the_newest_records() {
        is_current(&make(&[]).unwrap()).unwrap();
    }
}
