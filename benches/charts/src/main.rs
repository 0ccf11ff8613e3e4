//! Draws the charts of README.md and docs/speed.md from the newest records:
//!
//! ```sh
//! cargo run --release --manifest-path benches/charts/Cargo.toml             # benches/record to docs/img
//! cargo run --release --manifest-path benches/charts/Cargo.toml -- FILE...  # from these records
//! ```
//!
//! Most colours are those of Okabe and Ito, which people with any colour vision can tell apart. In dark mode, the SVG changes the
//! colours of text and grid.

#![forbid(unsafe_code)]

mod draw;
mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use draw::{Axis, Lines, Row, Rows, Series, figure};
use record::{Table, markdown, newest, number};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(written) if written > 0 => ExitCode::SUCCESS,
        Ok(_) => {
            eprintln!("charts: no record has anything to draw");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("charts: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Draws the charts and returns their number.
fn run() -> Result<usize, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let images = root.join("docs/img");
    fs::create_dir_all(&images)?;
    let mut files: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        let records = root.join("benches/record");
        // Records of an older commit, which were made for comparison, have the name of the commit after `-at-`.
        let is_compare = |name: &str| {
            let is_table = |text: String| text.starts_with("# simdpct beside its rivals\n");
            !name.contains("-at-") && fs::read_to_string(records.join(name)).is_ok_and(is_table)
        };
        files.extend(newest(&records, is_compare));
        files.extend(newest(&records, |name| name.ends_with("process.md")));
        files.extend(newest(&records, |name| name.ends_with("-lengths.tsv")));
    }
    let mut written = 0;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut charts: Vec<(String, String)> = Vec::new();
        if name.ends_with(".tsv") {
            charts.extend(by_length(&text).ok_or_else(|| format!("{name}: not a table of lengths"))?);
        } else {
            let (facts, tables) = markdown(&text);
            let cpu = facts.get("CPU").map_or("", |cpu| cpu_name(cpu));
            let date = facts.get("Date").map_or("", String::as_str);
            let below = format!("{cpu}, one core, {date}");
            for verb in ["encode", "decode"] {
                charts.extend(by_tier(&tables, verb, &below).map(|svg| (format!("speed-{verb}"), svg)));
            }
            charts.extend(processes(&tables, &below).map(|svg| ("speed-processes".to_owned(), svg)));
        }
        for (chart, svg) in charts {
            fs::write(images.join(format!("{chart}.svg")), svg)?;
            println!("docs/img/{chart}.svg from {name}");
            written += 1;
        }
    }
    Ok(written)
}

/// Returns the name of the CPU without the number of cores.
fn cpu_name(cpu: &str) -> &str {
    cpu.rsplit_once(", ").filter(|(_, rest)| rest.contains("cores")).map_or(cpu, |(name, _)| name)
}

/// Draws the speed of the two best tiers and of the rivals, in percent of the speed of `memcpy`, on rows of 64 KiB.
fn by_tier(tables: &[Table], verb: &str, below: &str) -> Option<String> {
    let main = tables.iter().find(|table| table.title == verb)?;
    let titles = match verb {
        "encode" => ["clean text", "10 % escaped", "50 % escaped", "CJK"],
        _ => ["clean text", "10 % escapes", "50 % escapes", "CJK, escaped"],
    };
    let rival = "best other rival";
    let tiers = main.lines.first()?.iter().skip(5).take(2).map(String::as_str);
    let names: Vec<&str> = tiers.chain([rival, "percent-encoding"]).collect();
    let groups: Vec<(String, Vec<Row>)> = ["clean 64 KiB", "10 % specials", "50 % specials", "dense CJK"]
        .into_iter()
        .zip(titles)
        .filter_map(|(row, title)| {
            let memcpy = number(main.cell(row, "memcpy")?)?;
            let rows = names.iter().filter_map(|name| {
                let cell = main.cell(row, name)?;
                let speed = number(cell)?;
                let name = match cell.split(' ').next_back() {
                    Some(other) if *name == rival => format!("{other} (best rival)"),
                    _ if *name == "percent-encoding" => (*name).to_owned(),
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
    let table = tables.iter().find(|table| {
        table.lines.first().is_some_and(|head| head.first().is_some_and(|cell| cell == "command"))
    })?;
    let key = [("pct", "avx512"), ("cat", "memcpy"), ("other commands", "percent-encoding")]
        .map(|(name, style)| Series::of(style).named(name));
    let wanted = [
        "cat",
        "pct encode",
        "pct normalize",
        "pct decode",
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
                // Show the rivals that most programs use, and the rival that is fastest on average.
                let mean = |points: &[(usize, f64)]| {
                    points.iter().map(|point| point.1).sum::<f64>() / points.len().max(1) as f64
                };
                let is_ours = |name: &str| {
                    matches!(name, "memcpy" | "avx512" | "avx2" | "ssse3" | "sse2" | "neon" | "scalar")
                };
                let usual = ["percent-encoding", "urlencoding"];
                let fastest = lengths
                    .lines
                    .iter()
                    .filter(|(name, points)| !is_ours(name) && !usual.contains(&&**name) && points.len() > 10)
                    .min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))
                    .map(|(name, _)| name.clone());
                let lines = lengths
                    .lines
                    .into_iter()
                    .filter(|(name, points)| {
                        let shown = matches!(
                            &**name,
                            "memcpy" | "avx512" | "avx2" | "sse2" | "neon" | "percent-encoding"
                        ) || Some(name) == fastest.as_ref();
                        shown && !points.is_empty()
                    })
                    .map(|(name, points)| (Series::of(&name), points))
                    .collect();
                (name, draw::lines(&Lines { title, below: below.clone(), lines }))
            })
            .collect(),
    )
}
