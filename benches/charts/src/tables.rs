//! Fills the tables of documents with the figures of records.
//!
//! The comment `<!-- record duckdb: ns a row -->` before a table names a table of the newest record `*-duckdb.md`, by its title or
//! the start of its first cell. That table is copied.
//!
//! The comment `<!-- table command -->` before a table names its template, which is the file `command.md` in `benches/charts/tables`. The
//! first line of a template names the records, and the table follows after an empty line:
//!
//! ```text
//! *-command.md
//!
//! | job | one line in seven |
//! |---|---|
//! | `decode` | [[URLs, 1 in 7 with escapes > decode > times that of]] |
//! ```
//!
//! A figure is named by the title of a table, the first cell of a line and the column; or by the first two cells of a line and the
//! column. Of the name of a column, a part is enough. If a title has several tables, the first cell of the table follows after a comma.
//! `lost > TIER` is the number of lengths at which a rival was faster than this tier, and `worst > TIER` the greatest ratio.

use simdpct::internals::TIER_NAMES;

use crate::record::{Table, number};

/// Returns `text` with the lines of its tables made again. `template` returns the template of a name, and `read` the tables of a record.
///
/// # Errors
///
/// A message, if there is no such template, or a figure is not in the records.
pub fn fill(
    text: &str,
    template: impl Fn(&str) -> Option<String>,
    read: impl Fn(&str) -> Option<Vec<Table>>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut is_old = false;
    for line in text.split_inclusive('\n') {
        is_old &= line.starts_with('|');
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
        } else if let Some(name) = comment.and_then(|rest| rest.strip_prefix("table ")) {
            let template = template(name).ok_or_else(|| format!("there is no template {name}"))?;
            out.push_str(&table(&template, &read).map_err(|message| format!("table {name}: {message}"))?);
            is_old = true;
        }
    }
    Ok(out)
}

/// Returns the table that `template` makes.
fn table(template: &str, read: impl Fn(&str) -> Option<Vec<Table>>) -> Result<String, String> {
    let (names, mut rest) =
        template.split_once("\n\n").ok_or("no empty line after the names of the records")?;
    let mut tables = Vec::new();
    for name in names.split(", ") {
        tables.extend(read(name).ok_or_else(|| format!("there is no record {name}"))?);
    }
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("[[") {
        let (name, after) = after.split_once("]]").ok_or("a '[[' without ']]'")?;
        out.push_str(before);
        out.push_str(&figure(name, &tables).ok_or_else(|| format!("no record has '{name}'"))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns the number at the start of the cell that `name` names, as it is written there.
fn figure(name: &str, tables: &[Table]) -> Option<String> {
    if let Some((figure @ ("lost" | "worst"), tier)) = name.split_once(" > ") {
        let lost = tables.iter().find_map(|table| losses(table, tier))?;
        return Some(match (figure, lost.iter().max_by(|a, b| a.0.total_cmp(&b.0))) {
            ("worst", Some((ratio, place))) => format!("{ratio:.2} ({place})"),
            ("worst", None) => "-".to_owned(),
            _ => lost.len().to_string(),
        });
    }
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

/// Reports whether the contender called `name` is no rival: a tier, or a copy of the memory.
pub fn is_ours(name: &str) -> bool {
    name == "memcpy" || TIER_NAMES.iter().any(|tier| tier.to_bytes() == name.as_bytes())
}

/// Returns the ratios of the times of `tier` to those of the fastest rival, each with the text and the length, for each line of the lengths in
/// `table` where the rival was faster by at least 1 %. The tier without SIMD is compared with `percent-encoding` only.
fn losses(table: &Table, tier: &str) -> Option<Vec<(f64, String)>> {
    let head =
        table.lines.first().filter(|head| head.starts_with(&["text".to_owned(), "length".to_owned()]))?;
    let own = head.iter().position(|name| name == tier)?;
    let is_rival = |name: &str| {
        if tier == "scalar" { name == "percent-encoding" } else { !is_ours(name) }
    };
    let ratio = |line: &Vec<String>| {
        let rivals = head.iter().zip(line).skip(2).filter(|(name, _)| is_rival(name));
        let fastest = rivals.filter_map(|(_, cell)| number(cell)).min_by(f64::total_cmp)?;
        let ratio = number(line.get(own)?)? / fastest;
        (ratio >= 1.01).then(|| (ratio, format!("{}, {} bytes", line[0].replace(" sweep,", ""), line[1])))
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
}
