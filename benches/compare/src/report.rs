//! Writes the tables of a run, for the terminal and for the record.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use benchkit::{Role, Shape, Unit, Verb};
use simdpct::Tier;

use crate::bands::Band;
use crate::goal::{Beside, Generation, Race, Standing, against_weaker, ports};
use crate::measure::{Agreement, Measured};

/// The machine, the commit and the date of a measurement.
pub struct Machine {
    cpu: String,
    cores: usize,
    system: String,
    date: String,
    commit: String,
    rustc: &'static str,
}

impl Machine {
    /// Describes this machine, the commit of the checkout and the current date.
    pub fn this() -> Machine {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line =
                info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let cpu = match (field("model name"), field("cpu family"), field("model")) {
            (Some(name), Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
            (Some(name), ..) => name,
            _ => "unknown CPU".to_owned(),
        };
        let here = env!("CARGO_MANIFEST_DIR");
        let git = |arguments: &[&str]| {
            let output = Command::new("git").arg("-C").arg(here).args(arguments).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let mut commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
        if git(&["status", "--porcelain", "--", "../../src", "../../Cargo.toml", "src", "../kit"])
            .is_none_or(|s| !s.is_empty())
        {
            commit.push_str(" with changes");
        }
        Machine {
            cpu,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: time::UtcDateTime::now().date().to_string(),
            commit,
            rustc: env!("COMPARE_RUSTC"),
        }
    }

    /// Returns the generation of the CPU, on which the limits of some goals depend.
    pub fn generation(&self) -> Generation {
        if self.cpu.contains("AMD") && self.cpu.contains("(family 26,") {
            Generation::Zen5
        } else if self.cpu.contains("AMD")
            && self.cpu.contains("(family 25,")
            && Tier::find("avx512").is_some()
        {
            Generation::Zen4
        } else {
            Generation::Other
        }
    }

    fn lines(&self) -> [String; 5] {
        [
            format!("CPU: {}, {} cores seen", self.cpu, self.cores),
            format!("System: {}", self.system),
            format!("Date: {}", self.date),
            format!("Commit: {}", self.commit),
            format!("Compiler: {}", self.rustc),
        ]
    }

    fn file_stem(&self) -> String {
        let cpu = self.cpu.to_ascii_lowercase().replace("(r)", "").replace("(tm)", "");
        let words = cpu.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("-");
        format!("{}-{slug}", self.date)
    }
}

/// All figures of one run.
pub struct Report<'r> {
    /// The machine, the commit and the date.
    pub machine: Machine,
    /// The description of the URLs that were measured.
    pub corpus: String,
    /// The description of rounds and turns.
    pub plan: String,
    /// The tiers that were measured, best first.
    pub tiers: &'r [Tier],
    /// The figures of each measured row.
    pub all: &'r [Measured],
    /// The goals, each with its result.
    pub standings: Vec<Standing>,
    /// The rows on which a rival was faster than a tier.
    pub slower: Vec<(Tier, String, f64, String)>,
    /// The lengths at which a rival was faster than a tier.
    pub races: Vec<Race>,
    /// The measurements by length that `races` compares: the text, the length and the figures of each.
    pub sweep: &'r [(String, usize, Measured)],
    /// The measurements by bands of lengths.
    pub bands: &'r [Band],
}

impl Report<'_> {
    /// Returns the tables as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::from("# simdpct beside its rivals\n\n");
        for line in self.machine.lines() {
            let _ = writeln!(out, "* {line}");
        }
        let _ = writeln!(out, "* Corpus: {}\n* Measured: {}\n", self.corpus, self.plan);
        out.push_str(
            "Rows in ns show the median time of a call, rows in GB/s the speed in 10^9 bytes of input a second, each \
             with the median deviation. In brackets after a tier's figure: its time divided by that of `memcpy` of the same \
             input, and its speed divided by that of `percent-encoding`. `*` marks a rival whose answers differ (listed \
             below); `-` one that rejects the input. The strict decoder reads the same rows without malformed escapes.\n\n",
        );
        for verb in Verb::ALL {
            self.rows(verb, &mut out);
            self.rivals(verb, &mut out);
            self.algorithms(verb, &mut out);
            for &shape in &verb.shapes()[1..] {
                self.further(verb, shape, &mut out);
            }
        }
        self.cycles(&mut out);
        self.goals(&mut out);
        self.exceptions(&mut out);
        out
    }

    fn rows(&self, verb: Verb, out: &mut String) {
        let mut table = Table::new(["row", "unit", "memcpy", "percent-encoding", "best other rival"]);
        table.head.extend(self.tiers.iter().map(|tier| tier.name().to_owned()));
        for measured in self.all.iter().filter(|m| m.verb == verb && m.shape == Shape::Append) {
            let mut line = vec![measured.row.clone(), unit(measured.unit).to_owned()];
            line.push(figure(measured, "memcpy"));
            line.push(figure(measured, "percent-encoding"));
            line.push(match measured.best_rival("percent-encoding") {
                Some(best) => format!("{} {}", figure(measured, &best.name), best.name),
                None => "-".to_owned(),
            });
            for tier in self.tiers {
                line.push(
                    match (
                        measured.find(tier.name()),
                        measured.find("memcpy"),
                        measured.find("percent-encoding"),
                    ) {
                        (Some(own), Some(copy), Some(rival)) => format!(
                            "{} ({:.2}, {:.1})",
                            figure(measured, tier.name()),
                            own.ratio(copy),
                            1.0 / own.ratio(rival)
                        ),
                        _ => "-".to_owned(),
                    },
                );
            }
            table.lines.push(line);
        }
        table.write(&format!("## {}", Shape::Append.of(verb)), out);
    }

    fn rivals(&self, verb: Verb, out: &mut String) {
        let of_verb = || self.all.iter().filter(|m| m.verb == verb && m.shape == Shape::Append);
        let mut names: Vec<&str> = Vec::new();
        for timed in of_verb().flat_map(|m| &m.timed) {
            if matches!(timed.role, Role::Rival | Role::Algorithm(_) | Role::Mark)
                && !names.contains(&&*timed.name)
            {
                names.push(&timed.name);
            }
        }
        let mut table = Table::new(["row", "unit"]);
        table.head.extend(names.iter().map(|name| (*name).to_owned()));
        for measured in of_verb() {
            let mut line = vec![measured.row.clone(), unit(measured.unit).to_owned()];
            line.extend(names.iter().map(|name| figure(measured, name)));
            table.lines.push(line);
        }
        table.write(&format!("### {}: all rivals and marks", Shape::Append.of(verb)), out);
    }

    /// Writes each tier beside the algorithms that need its instruction set.
    fn algorithms(&self, verb: Verb, out: &mut String) {
        let of_verb = || self.all.iter().filter(|m| m.verb == verb && m.shape == Shape::Append);
        let mut columns: Vec<(Tier, Vec<&str>)> = self.tiers.iter().map(|&tier| (tier, Vec::new())).collect();
        for timed in of_verb().flat_map(Measured::timed) {
            let Role::Algorithm(needs) = timed.role else { continue };
            // The tiers are sorted from best to weakest. The algorithm is put beside the weakest tier that has its
            // instruction set.
            let column = columns.iter_mut().rev().find(|(tier, _)| needs.is_in(*tier));
            if let Some((_, names)) = column.filter(|(_, names)| !names.contains(&&*timed.name)) {
                names.push(&timed.name);
            }
        }
        columns.retain(|(_, names)| !names.is_empty());
        let mut table = Table::new(["row", "unit"]);
        for (tier, names) in &columns {
            table.head.push(tier.to_string());
            table.head.extend(names.iter().map(|name| (*name).to_owned()));
        }
        for measured in of_verb() {
            let mut line = vec![measured.row.clone(), unit(measured.unit).to_owned()];
            for (tier, names) in &columns {
                line.push(figure(measured, tier.name()));
                line.extend(names.iter().map(|name| {
                    match (measured.find(name), measured.find(tier.name())) {
                        (Some(other), Some(own)) => {
                            format!("{} ({:.2})", figure(measured, name), other.ratio(own))
                        }
                        _ => "-".to_owned(),
                    }
                }));
            }
            table.lines.push(line);
        }
        let title = format!(
            "### {}: rivals with SIMD\n\nIn brackets after the figure of an algorithm: its time divided by that of the tier of the same \
             instruction set.",
            Shape::Append.of(verb)
        );
        if !columns.is_empty() {
            table.write(&title, out);
        }
    }

    fn further(&self, verb: Verb, shape: Shape, out: &mut String) {
        let mut table = Table::new(["row", "unit", "memcpy"]);
        table.head.extend(self.tiers.iter().map(|tier| tier.name().to_owned()));
        for measured in self.all.iter().filter(|m| m.verb == verb && m.shape == shape) {
            let mut line =
                vec![measured.row.clone(), unit(measured.unit).to_owned(), figure(measured, "memcpy")];
            for &tier in self.tiers {
                let base = measured.timed().find(|timed| timed.role == Role::Base(tier));
                line.push(match (measured.find(tier.name()), measured.find("memcpy"), base) {
                    (Some(own), Some(copy), Some(base)) => format!(
                        "{} ({:.2}, {:.2})",
                        figure(measured, tier.name()),
                        own.ratio(copy),
                        own.ratio(base)
                    ),
                    _ => "-".to_owned(),
                });
            }
            table.lines.push(line);
        }
        let plain = Shape::Append.of(verb);
        let title =
            format!("### {} (in brackets: time divided by that of `memcpy`, and of {plain})", shape.of(verb));
        table.write(&title, out);
    }

    /// Writes the cycles for a block of 64 bytes, for rows with bytes to encode or escapes to decode.
    fn cycles(&self, out: &mut String) {
        let mut table = Table::new(["row"]);
        table.head.extend(self.tiers.iter().map(|tier| tier.name().to_owned()));
        let dirty = |m: &&Measured| {
            m.shape == Shape::Append
                && m.unit == Unit::Byte
                && m.cycle.is_some()
                && !m.row.starts_with("clean")
        };
        for measured in self.all.iter().filter(dirty) {
            let mut line = vec![format!("{}, {}", measured.shape.of(measured.verb), measured.row)];
            for &tier in self.tiers {
                let cycles = measured.find(tier.name()).and_then(|own| measured.cycles(own));
                let limit = ports(self.machine.generation(), tier, measured.verb, &measured.row);
                line.push(match (cycles, limit) {
                    (None, _) => "-".to_owned(),
                    (Some(cycles), None) => format!("{cycles:.1}"),
                    (Some(cycles), Some(limit)) => format!("{cycles:.1} ({limit})"),
                });
            }
            table.lines.push(line);
        }
        let mut known: Vec<f64> = self.all.iter().filter_map(|measured| measured.cycle).collect();
        known.sort_unstable_by(f64::total_cmp);
        if let Some(cycle) = known.get(known.len() / 2) {
            let title = format!(
                "## Cycles for 64 bytes of input\n\nA cycle is a quarter of a step in a chain of multiplications and `xor`s, timed \
                 in each round of each row; the median is {:.2} GHz. In brackets: the fewest cycles in which the execution \
                 ports can process a typical block of the row, if they have been counted (docs/kernels.md). Clean blocks need \
                 fewer.",
                1.0 / cycle
            );
            table.write(&title, out);
        }
    }

    fn goals(&self, out: &mut String) {
        let mut table = Table::new(["goal", "tier", "limit", "measured", "met"]);
        for Standing { goal, tier, limit, figure, met } in &self.standings {
            let met = if *met { "yes" } else { "**no**" };
            table.lines.push(vec![
                goal.clone(),
                tier.to_string(),
                limit.clone(),
                figure.clone(),
                met.to_owned(),
            ]);
        }
        table.write("## Goals", out);
        if !self.standings.is_empty() {
            let met = self.standings.iter().filter(|standing| standing.met).count();
            let _ = writeln!(out, "{met} of {} met.\n", self.standings.len());
        }

        if self.all.iter().any(|m| m.shape == Shape::Append) {
            let _ = writeln!(
                out,
                "Rows on which a rival was faster, of those that can run on each CPU with the tier (the scalar tier is compared with \
                 `percent-encoding` only): {}.\n",
                if self.slower.is_empty() { "none" } else { "see the table" }
            );
        }
        let mut table = Table::new(["tier", "row", "time", "rival"]);
        for (tier, row, ratio, rival) in &self.slower {
            table.lines.push(vec![tier.to_string(), row.clone(), format!("{ratio:.2} x"), rival.clone()]);
        }
        table.write("### Rows lost", out);

        let mut table = Table::new([
            "strings",
            "tier",
            "lengths tried",
            "lengths lost",
            "the first of them, with ratios",
        ]);
        for Race { row, tier, tried, lost } in &self.races {
            let mut which: Vec<_> = lost
                .iter()
                .take(4)
                .map(|(length, ratio, rival)| format!("{length}: {ratio:.2} x {rival}"))
                .collect();
            if lost.len() > which.len() {
                which.push(format!("and {} more", lost.len() - which.len()));
            }
            table.lines.push(vec![
                row.clone(),
                tier.to_string(),
                tried.to_string(),
                lost.len().to_string(),
                which.join(", "),
            ]);
        }
        table.write("### Every length from 0 to 64 against the fastest rival", out);

        let mut table = Table::new(["strings", "tier", "beside", "bands", "mean ratio", "slowest bands"]);
        for Beside { kind, tier, weaker, ratios } in against_weaker(self.bands) {
            let mean = (ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let slowest = ratios.iter().take(4).map(|(ratio, first)| format!("{first}: {ratio:.2} x"));
            table.lines.push(vec![
                kind.to_owned(),
                tier.to_string(),
                weaker.to_string(),
                ratios.len().to_string(),
                format!("{mean:.2} x"),
                slowest.collect::<Vec<_>>().join(", "),
            ]);
        }
        table.write(
            "### Bands of 16 lengths: time of a tier divided by that of a weaker one\n\nA band is named by its least length.",
            out,
        );
    }

    fn exceptions(&self, out: &mut String) {
        let mut table = Table::new([
            "rival",
            "row",
            "strings",
            "input",
            "answer, from shortly before the first difference",
        ]);
        let mut idioms = Table::new(["rival", "verb", "idiom", "rows"]);
        for measured in self.all.iter().filter(|m| m.shape == Shape::Append) {
            for timed in
                measured.timed.iter().filter(|timed| matches!(timed.role, Role::Rival | Role::Algorithm(_)))
            {
                let row = format!("{}, {}", measured.shape.of(measured.verb), measured.row);
                let differs = match &timed.agreement {
                    Agreement::Full => None,
                    Agreement::Differs { count, input, answer } => {
                        Some((count, input, format!("`{answer}`")))
                    }
                    Agreement::Rejects { count, input } => Some((count, input, "rejected; not timed".into())),
                };
                table.lines.extend(differs.map(|(count, input, answer)| {
                    let strings = format!("{count} of {}", measured.calls);
                    vec![timed.name.clone(), row, strings, format!("`{input}`"), answer]
                }));
                if timed.times.is_empty() {
                    continue;
                }
                let key = [timed.name.clone(), measured.shape.of(measured.verb), timed.idiom.to_owned()];
                match idioms.lines.iter_mut().find(|line| line[..3] == key) {
                    Some(line) => {
                        let _ = write!(line[3], ", {}", measured.row);
                    }
                    None => idioms.lines.push(key.into_iter().chain([measured.row.clone()]).collect()),
                }
            }
        }
        table.lines.sort();
        idioms.lines.sort();
        table.write("## Rivals with other answers", out);
        idioms.write("## The idiom that was fastest", out);
    }

    /// Returns the figures of all rows and bands as TSV. [`Report::lengths`] has those of the sweep.
    pub fn tsv(&self) -> String {
        let mut out = self.machine.lines().map(|line| format!("# {line}\n")).concat();
        let _ = writeln!(out, "# Corpus: {}\n# Measured: {}", self.corpus, self.plan);
        out.push_str("verb\trow\tcontender\trole\tidiom\tcalls\tbytes\trounds\tmedian_ns\tmin_ns\tmax_ns\tspread\tmemcpy_ratio\n");
        for measured in self.all.iter().chain(self.bands.iter().map(|band| &band.measured)) {
            for timed in measured.timed() {
                let role = match timed.role {
                    Role::Mark => "mark",
                    Role::Rival => "rival",
                    Role::Algorithm(_) => "algorithm",
                    Role::Ours(_) => "tier",
                    Role::Base(_) => "base",
                };
                let (min, max) =
                    timed.times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &t| (a.min(t), b.max(t)));
                let ratio = measured.find("memcpy").map_or(f64::NAN, |copy| timed.ratio(copy));
                let _ = writeln!(
                    out,
                    "{}\t{}\t{}\t{role}\t{}\t{}\t{}\t{}\t{:.0}\t{min:.0}\t{max:.0}\t{:.4}\t{ratio:.4}",
                    measured.shape.of(measured.verb),
                    measured.row,
                    timed.name,
                    timed.idiom,
                    measured.calls,
                    measured.bytes,
                    timed.times.len(),
                    timed.median(),
                    timed.spread(),
                );
            }
        }
        out
    }

    /// Returns the nanoseconds of a call at each length as TSV: a line for each text and length, a column for each contender.
    pub fn lengths(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for timed in self.sweep.iter().flat_map(|(.., measured)| measured.timed()) {
            if !matches!(timed.role, Role::Base(_)) && !names.contains(&&*timed.name) {
                names.push(&timed.name);
            }
        }
        let mut out = self.machine.lines().map(|line| format!("# {line}\n")).concat();
        let _ = writeln!(out, "text\tlength\t{}", names.join("\t"));
        for (text, length, measured) in self.sweep {
            let _ = write!(out, "{text}\t{length}");
            for name in &names {
                let _ = match measured.find(name) {
                    Some(timed) => write!(out, "\t{:.2}", timed.median() / measured.calls as f64),
                    None => write!(out, "\t-"),
                };
            }
            out.push('\n');
        }
        out
    }

    /// Writes the tables and the times at each length to files in `folder`, and returns the path of the tables.
    pub fn record(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let path = folder.join(self.machine.file_stem()).with_extension("md");
        fs::write(&path, self.markdown())?;
        if !self.sweep.is_empty() {
            fs::write(folder.join(format!("{}-lengths.tsv", self.machine.file_stem())), self.lengths())?;
        }
        Ok(path)
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Call => "ns",
        Unit::Byte => "GB/s",
    }
}

/// Formats the figure of the contender called `name`, with its spread.
fn figure(measured: &Measured, name: &str) -> String {
    let Some(timed) = measured.find(name) else { return "-".to_owned() };
    let value = measured.in_unit(timed.median());
    let digits = if value < 10.0 { 2 } else { 1 };
    let star = if matches!(timed.agreement, Agreement::Differs { .. }) { "*" } else { "" };
    format!("{value:.digits$}{star} ±{:.0}%", timed.spread() * 100.0)
}

/// The largest width to which cells are padded.
const WIDEST: usize = 60;

/// A Markdown table with aligned columns, which is legible as plain text, too.
struct Table {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Table {
    fn new<const N: usize>(head: [&str; N]) -> Table {
        Table { head: head.map(str::to_owned).into(), lines: Vec::new() }
    }

    fn write(&self, title: &str, out: &mut String) {
        if self.lines.is_empty() {
            return;
        }
        let width = |column: usize| {
            let cells = self.lines.iter().chain([&self.head]).map(|line| line[column].chars().count());
            cells.max().unwrap_or(0).min(WIDEST)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let _ = writeln!(out, "{title}\n");
        let mut write = |line: &[String]| {
            for (cell, width) in line.iter().zip(&widths) {
                let _ = write!(out, "| {:<width$} ", cell.replace('|', "\\|"));
            }
            out.push_str("|\n");
        };
        write(&self.head);
        write(&widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>());
        self.lines.iter().for_each(|line| write(line));
        out.push('\n');
    }
}
