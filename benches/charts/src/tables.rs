//! Fills the tables and sentences of documents with the figures of records.
//!
//! The comment `<!-- record duckdb: ns a row -->` before a table names a table of the newest record `*-duckdb.md`. The
//! text after the colon is its title or the start of its first cell. The table of the record replaces the table in the
//! document.
//!
//! The comment `<!-- table command -->` before a table, or `<!-- text headline -->` before a paragraph, names a
//! template. The template is the file `command.md` or `headline.md` in `benches/charts/tables`, and makes the lines up
//! to the next empty line. The first line of a template names the records, and the text follows after an empty line:
//!
//! ```text
//! *-command.md
//!
//! | job | one line in seven |
//! |---|---|
//! | `decode` | [[URLs, 1 in 7 with escapes > decode > times that of]] |
//! ```
//!
//! Between the double brackets is one of these expressions:
//!
//! * A figure is named by the title of a table, the first cell of a line and the column; or by the first two cells of a line and the
//!   column. A part of the name of a column is enough. If several tables have the title, the first cell of the table follows after a
//!   comma. If `?` is before the figure and no record has it, `-` is written.
//! * `fact > CPU` is the value of the line `* CPU: VALUE` of the record, and `fact > record` the name of its file.
//! * `crate > VERB > ROW` is the figure and the name of the fastest crate on a row, apart from simdpct.
//! * `gain > VERB, ROW; VERB, ROW > TIER, TIER` is the range of the ratios of the speed of these tiers to that of the fastest other crate.
//! * `lost > TIER` is the number of lengths at which a rival was faster than this tier by 1 % or more, `lost to crates > TIER` the number
//!   of those at which a crate was. `worst > TIER` is the greatest ratio of the time of the tier to that of the rival at these lengths, or
//!   `-` if no rival was faster. `rows lost > TIER` is the number of rows on which a rival was faster by 1 % or more, with the greatest ratio.
//! * `goals > met` counts the goals that the record meets, and `goals > all` counts all its goals.
//! * `missed > GOAL` has the name, the results and the limits of a goal. If the goal is met, the whole line is left out. A template with
//!   `missed` must name every missed goal, so that the document gives a reason for each.

use simdpct::internals::TIER_NAMES;

use crate::record::{Table, number};

/// Returns `text` with new tables and paragraphs. `template` finds a template by its name, and `read` a record.
///
/// # Errors
///
/// Fails with a message if a template does not exist, or if no record has a figure that it names.
pub fn fill(
    text: &str,
    template: impl Fn(&str) -> Option<String>,
    read: impl Fn(&str) -> Option<Vec<Table>>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut is_old = false;
    for line in text.split_inclusive('\n') {
        is_old &= line != "\n";
        if is_old {
            continue;
        }
        out.push_str(line);
        let comment = line.trim_end().strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some((name, title)) = comment.and_then(|rest| rest.strip_prefix("record ")?.split_once(": ")) {
            let tables = read(&format!("*-{name}.md")).ok_or_else(|| format!("there is no record {name}"))?;
            let copied =
                tables.iter().find(|table| table.title == title || table.lines[0][0].starts_with(title));
            out.push_str(
                &copied.ok_or_else(|| format!("record {name}: there is no table '{title}'"))?.to_markdown(),
            );
            is_old = true;
        } else if let Some((kind @ ("table" | "text"), name)) = comment.and_then(|rest| rest.split_once(' '))
        {
            let template = template(name).ok_or_else(|| format!("there is no template {name}"))?;
            out.push_str(&filled(&template, &read).map_err(|message| format!("{kind} {name}: {message}"))?);
            is_old = true;
        }
    }
    Ok(out)
}

/// Returns the text of `template`, in which values replace the expressions.
fn filled(template: &str, read: impl Fn(&str) -> Option<Vec<Table>>) -> Result<String, String> {
    let (names, text) = template.split_once("\n\n").ok_or("no empty line after the names of the records")?;
    let mut tables = Vec::new();
    for name in names.split(", ") {
        tables.extend(read(name).ok_or_else(|| format!("there is no record {name}"))?);
    }
    let missed = missed(&tables);
    let unnamed = |goal: &&(String, String)| !text.contains(&format!("[[missed > {}]]", goal.0));
    if let (true, Some((goal, _))) = (text.contains("[[missed > "), missed.iter().find(unnamed)) {
        return Err(format!("no reason for the missed goal '{goal}'"));
    }
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (mut made, mut rest) = (String::new(), line);
        let mut is_shown = true;
        while let Some((before, after)) = rest.split_once("[[") {
            let (name, after) = after.split_once("]]").ok_or("a '[[' without ']]'")?;
            made.push_str(before);
            if let Some(goal) = name.strip_prefix("missed > ") {
                let result = missed.iter().find(|(name, _)| name == goal);
                is_shown = result.is_some();
                made.extend(result.map(|(_, result)| &**result));
            } else {
                made.push_str(&value(name, &tables).ok_or_else(|| format!("no record has '{name}'"))?);
            }
            rest = after;
        }
        if is_shown {
            out.push_str(&made);
            out.push_str(rest);
        }
    }
    Ok(out)
}

/// Returns the text for `name`, the expression between double brackets in a template.
fn value(name: &str, tables: &[Table]) -> Option<String> {
    if let Some(name) = name.strip_prefix('?') {
        return Some(figure(name, tables).unwrap_or_else(|| "-".to_owned()));
    }
    let (kind, what) = name.split_once(" > ")?;
    match kind {
        "fact" => tables.iter().find(|table| table.title == "facts")?.cell(what, "value").map(str::to_owned),
        "crate" => {
            let (verb, row) = what.split_once(" > ")?;
            let (figure, name, _) = fastest_crate(verb, row, tables)?;
            // A crate has the name of the command.
            Some(format!("{figure} {}", if name == "pct" { "crate pct" } else { &name }))
        }
        "gain" => gain(what, tables),
        "lost" | "lost to crates" | "worst" => {
            let lost = tables.iter().find_map(|table| losses(table, what, kind == "lost to crates"))?;
            Some(match (kind, lost.iter().max_by(|a, b| a.0.total_cmp(&b.0))) {
                ("worst", Some((ratio, place))) => format!("{ratio:.2} ({place})"),
                ("worst", None) => "-".to_owned(),
                _ => lost.len().to_string(),
            })
        }
        "rows lost" => Some(rows_lost(what, tables)),
        "goals" => {
            let goals = tables.iter().find(|table| table.begins_with(&["goal"]))?;
            let is_met = |line: &&Vec<String>| line.last().is_some_and(|met| met == "yes");
            let count = goals.lines[1..].iter().filter(|line| what == "all" || is_met(line)).count();
            Some(count.to_string())
        }
        _ => figure(name, tables),
    }
}

/// Returns the figure and the name of the fastest crate on a row, apart from simdpct, and whether a smaller figure is better.
fn fastest_crate(verb: &str, row: &str, tables: &[Table]) -> Option<(String, String, bool)> {
    let main = tables.iter().find(|table| table.title == verb)?;
    let is_time = main.cell(row, "unit")? == "ns";
    let best = main.cell(row, "best other rival")?;
    let names = ["percent-encoding", best.rsplit(' ').next()?];
    let cells = [main.cell(row, "percent-encoding"), Some(best)];
    let rivals = names.iter().zip(cells).filter_map(|(name, cell)| {
        // A `*` marks a rival that gives wrong answers, so the figure keeps it.
        let digits = cell?.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '*').next()?;
        Some((digits.to_owned(), (*name).to_owned(), number(digits)?))
    });
    let time = |speed: f64| if is_time { speed } else { speed.recip() };
    let (figure, name, _) = rivals.min_by(|a, b| time(a.2).total_cmp(&time(b.2)))?;
    Some((figure, name, is_time))
}

/// Divides the speed of each tier in `what` by that of the fastest other crate, for each row in `what`, and returns the least and
/// the greatest result.
fn gain(what: &str, tables: &[Table]) -> Option<String> {
    let (rows, tiers) = what.split_once(" > ")?;
    let mut gains = Vec::new();
    for row in rows.split("; ") {
        let (verb, row) = row.split_once(", ")?;
        let (other, _, is_time) = fastest_crate(verb, row, tables)?;
        for tier in tiers.split(", ") {
            let own = number(&figure(&format!("{verb} > {row} > {tier}"), tables)?)?;
            let ratio = number(&other)? / own;
            gains.push(if is_time { ratio } else { ratio.recip() });
        }
    }
    gains.sort_unstable_by(f64::total_cmp);
    let [least, greatest] = [gains.first()?, gains.last()?].map(|gain| format!("{gain:.1}"));
    Some(if least == greatest { least } else { format!("{least} to {greatest}") })
}

/// Returns the number of rows on which a rival was faster than `tier` by 1 % or more, and the greatest ratio of the times.
fn rows_lost(tier: &str, tables: &[Table]) -> String {
    let lines = tables.iter().filter(|table| table.title == "Rows lost").flat_map(|table| &table.lines);
    let lines = lines.filter(|line| line[0] == tier).filter_map(|line| Some((number(&line[2])?, line)));
    let lost: Vec<_> = lines.filter(|(ratio, _)| *ratio >= LOST).collect();
    match lost.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((ratio, line)) => format!("{}; worst: {ratio:.2} ({}; {})", lost.len(), line[1], line[3]),
        None => "none".to_owned(),
    }
}

/// Returns the names of the missed goals, each with its results and limits. A goal of `benches/compare` has the results
/// of all tiers that miss it. The name of a goal of `benches/process --goals` is the input and the command.
fn missed(tables: &[Table]) -> Vec<(String, String)> {
    let mut missed: Vec<(String, String)> = Vec::new();
    let lines = |names: &'static [&'static str]| {
        tables.iter().filter(move |table| table.begins_with(names)).flat_map(|table| &table.lines[1..])
    };
    for line in lines(&["goal"]) {
        let [goal, tier, limit, measured, met] = &line[..] else { continue };
        if met == "yes" {
            continue;
        }
        let result = format!("{tier}: {measured} ({limit})");
        match missed.last_mut() {
            Some((last, results)) if last == goal => *results += &format!(", {result}"),
            _ => missed.push((goal.clone(), format!("{goal} | {result}"))),
        }
    }
    for line in lines(&["input", "command"]) {
        let [input, command, _, times, _, limit] = &line[..] else { continue };
        let Some(limit) = limit.strip_suffix(" not met") else { continue };
        let (measured, limit) = match limit.split_once("; ") {
            Some((measured, limit)) => (measured.to_owned(), limit),
            None => (format!("{times} times `cat`"), limit),
        };
        missed.push((format!("{input} > {command}"), format!("{input}: `{command}` | {measured} ({limit})")));
    }
    missed
}

/// Returns the number at the start of the cell that `name` selects, in the spelling of the record.
fn figure(name: &str, tables: &[Table]) -> Option<String> {
    let [first, second, column]: [&str; 3] = name.split(" > ").collect::<Vec<_>>().try_into().ok()?;
    let cell = tables.iter().find_map(|table| {
        let head = table.lines.first()?;
        let column = head.iter().position(|name| name.contains(column))?;
        let is_table = table.title == first || format!("{}, {}", table.title, head[0]) == first;
        let is_wanted = |line: &&Vec<String>| {
            if is_table {
                line.first().is_some_and(|cell| cell == second)
            } else {
                line.starts_with(&[first.to_owned(), second.to_owned()])
            }
        };
        table.lines.iter().find(is_wanted)?.get(column)
    })?;
    number(cell)?;
    cell.split(|c: char| !c.is_ascii_digit() && c != '.').next().map(str::to_owned)
}

/// Reports whether the contender called `name` is a tier or `memcpy`, and so not a rival.
pub fn is_ours(name: &str) -> bool {
    name == "memcpy" || TIER_NAMES.iter().any(|tier| tier.to_bytes() == name.as_bytes())
}

/// The ratio of the time of a tier to that of its fastest rival from which on the tier has lost.
const LOST: f64 = 1.01;

/// Returns the lines of `table` on which `tier` has lost to the fastest rival, or, with `crates_only`, to the fastest crate. Each has the
/// ratio of the times, and the text with its length. The tier without SIMD is compared with `percent-encoding` only.
fn losses(table: &Table, tier: &str, crates_only: bool) -> Option<Vec<(f64, String)>> {
    let head =
        table.lines.first().filter(|head| head.starts_with(&["text".to_owned(), "length".to_owned()]))?;
    let own = head.iter().position(|name| name == tier)?;
    // By benches/README.md, an algorithm that needs an instruction set is a rival only of the tiers that have this instruction set.
    let is_rival =
        |name: &str| match name.strip_prefix("algorithm of ").and_then(|name| name.rsplit_once(", ")) {
            _ if tier == "scalar" => name == "percent-encoding",
            Some(_) if crates_only => false,
            Some((_, "AVX-512")) => tier.starts_with("avx512"),
            Some((_, "AVX2")) => tier.starts_with("avx512") || tier == "avx2",
            Some(_) => tier == "neon",
            None => !is_ours(name),
        };
    let ratio = |line: &Vec<String>| {
        let rivals = head.iter().zip(line).skip(2).filter(|(name, _)| is_rival(name));
        let fastest = rivals.filter_map(|(_, cell)| number(cell)).min_by(f64::total_cmp)?;
        let ratio = number(line.get(own)?)? / fastest;
        (ratio >= LOST).then(|| (ratio, format!("{}, {} bytes", line[0].replace(" sweep,", ""), line[1])))
    };
    Some(table.lines[1..].iter().filter_map(ratio).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{markdown, tsv};

    #[test]
    fn tables_are_filled() {
        let record = "## encode\n\n| row | avx2 (fast) |\n| --- | --- |\n| urls | 15.0 ±0% (5.04) |\n";
        let read = |name: &str| match name {
            "a" => Some(markdown(record).1),
            "b" => Some(vec![tsv("# CPU\nin\tdo\ttime\nx, y\tz\t1.43\n")]),
            "lengths" => Some(vec![tsv(
                "text\tlength\tother\tavx2\tsse2\nd, sweep, e\t0\t2\t1\t2.01\nd, sweep, e\t1\t2\t3\t2\nd, sweep, f\t7\t1\t4\t1\n",
            )]),
            _ => None,
        };
        let filled = |template: &'static str| {
            fill(
                "a\n<!-- table t -->\n| old |\n| old |\n\n| b |\n",
                |name| (name == "t").then(|| template.to_owned()),
                read,
            )
        };
        assert_eq!(
            filled("a, b\n\n| [[encode > urls > avx2]], [[x, y > z > time]] |\n").unwrap(),
            "a\n<!-- table t -->\n| 15.0, 1.43 |\n\n| b |\n"
        );
        assert_eq!(
            filled("a, lengths\n\n| [[encode, row > urls > avx2]], [[lost > avx2]], [[worst > avx2]], [[worst > sse2]] |\n").unwrap(),
            "a\n<!-- table t -->\n| 15.0, 2, 4.00 (d, f, 7 bytes), - |\n\n| b |\n"
        );
        for (template, message) in [
            ("a, c\n\n", "table t: there is no record c"),
            ("a\n\n[[encode > urls > sse2]]", "table t: no record has 'encode > urls > sse2'"),
            ("a", "table t: no empty line after the names of the records"),
            ("a\n\n[[", "table t: a '[[' without ']]'"),
        ] {
            assert_eq!(filled(template).unwrap_err(), message);
        }
        assert_eq!(fill("<!-- table t -->", |_| None, read).unwrap_err(), "there is no template t");
        let text = "<!-- text t -->\nold\nold\n\nb\n";
        assert_eq!(
            fill(text, |_| Some("a\n\n[[encode > urls > avx2]] ns.\n".to_owned()), read).unwrap(),
            "<!-- text t -->\n15.0 ns.\n\nb\n"
        );
        let read = |name: &str| {
            (name == "*-door.md").then(|| markdown("## A\n\n| b c | d |\n|---|--:|\n| e | |\n").1)
        };
        for title in ["A", "b c", "b"] {
            let copied =
                fill(&format!("<!-- record door: {title} -->\n| old |\n\n"), |_| None, read).unwrap();
            assert_eq!(
                copied,
                format!("<!-- record door: {title} -->\n| b c | d |\n|---|---|\n| e |  |\n\n")
            );
        }
        assert_eq!(fill("<!-- record other: A -->", |_| None, read).unwrap_err(), "there is no record other");
        assert_eq!(
            fill("<!-- record door: B -->", |_| None, read).unwrap_err(),
            "record door: there is no table 'B'"
        );
    }

    #[test]
    fn goals_gains_and_losses_are_those_of_the_record() {
        let record = "## facts\n\n| fact | value |\n|---|---|\n| CPU | x, y |\n\n## encode\n\n\
            | row | unit | percent-encoding | best other rival | avx2 |\n|---|---|---|---|---|\n\
            | urls | ns | 90.0 | 80.0 a | 10.0 (8.0, 9.0) |\n| long | GB/s | 0.50 | 0.40* a | 2.0 |\n\n## Goals\n\n\
            | goal | tier | limit | measured | met |\n|---|---|---|---|---|\n| g | avx512 | at most 1 x | 0.9 x | yes |\n\
            | g | avx2 | at most 1 x | 1.2 x | **no** |\n| g | ssse3 | at most 2 x | 2.1 x | **no** |\n\
            | h | avx2 | at most 1 x | 1.0 x | yes |\n\n### Rows lost\n\n| tier | row | time | rival |\n|---|---|---|---|\n\
            | avx2 | encode, a | 1.10 x | b |\n| avx2 | encode, c | 1.30 x | d |\n\n## C\n\n\
            | input | command | MB/s | times | of dd | limit |\n|---|---|---|---|---|---|\n\
            | i | j | 9 | 1.4 | 1.2 | 1.3 not met |\n| i | k | 9 | 1.4 | 1.2 | 1.1 times dd; 1 not met |\n\
            | i | l | 9 | 1 | 1 | 2 met |\n";
        let lengths = "text\tlength\tpercent-encoding\talgorithm of z, AVX-512\talgorithm of z, AVX2\tavx512\tavx2\tssse3\tscalar\n\
            a\t1\t9\t2\t4\t3\t3\t5\t8\na\t2\t9\t4\t2\t3\t3\t5\t8\n";
        let read = |name: &str| match name {
            "r" => Some(markdown(record).1),
            "l" => Some(vec![tsv(lengths)]),
            _ => None,
        };
        let filled = |text: &str| {
            let made = fill("<!-- text t -->\n", |_| Some(format!("r, l\n\n{text}\n")), read)?;
            Ok::<_, String>(made["<!-- text t -->\n".len()..].trim_end().to_owned())
        };
        for (text, made) in [
            ("[[fact > CPU]]", "x, y"),
            ("[[crate > encode > urls]], [[crate > encode > long]]", "80.0 a, 0.50 percent-encoding"),
            ("[[gain > encode, urls; encode, long > avx2]] x", "4.0 to 8.0 x"),
            ("[[gain > encode, urls > avx2]] x", "8.0 x"),
            ("[[?encode > urls > sse2]] [[?encode > urls > avx2]]", "- 10.0"),
            ("[[goals > met]] of [[goals > all]]", "2 of 4"),
            ("[[rows lost > avx2]] [[rows lost > ssse3]]", "2; worst: 1.30 (encode, c; d) none"),
            // An algorithm that needs AVX2 is a rival of `avx2` and `avx512`, one that needs AVX-512 only of `avx512`.
            ("[[lost > avx512]] [[lost > avx2]] [[lost > ssse3]] [[lost > scalar]]", "2 1 0 0"),
            ("[[lost to crates > avx512]] [[lost to crates > avx2]]", "0 0"),
            (
                "[[missed > g]]\n[[missed > h]]\n[[missed > i > j]]\n[[missed > i > k]]\n[[missed > i > l]]",
                "g | avx2: 1.2 x (at most 1 x), ssse3: 2.1 x (at most 2 x)\ni: `j` | 1.4 times `cat` (1.3)\n\
                 i: `k` | 1.1 times dd (1)",
            ),
        ] {
            assert_eq!(filled(text).unwrap(), made);
        }
        for (text, message) in [
            ("[[missed > g]][[missed > i > j]]", "no reason for the missed goal 'i > k'"),
            ("[[fact > GPU]]", "no record has 'fact > GPU'"),
            ("[[gain > encode, none > avx2]]", "no record has 'gain > encode, none > avx2'"),
        ] {
            assert_eq!(filled(text).unwrap_err(), format!("text t: {message}"));
        }
    }
}
