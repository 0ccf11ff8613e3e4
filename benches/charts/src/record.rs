//! Reads the records of `benches/compare` and `benches/process`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A Markdown table of a record.
pub struct Table {
    /// The heading above the table, without `#`.
    pub title: String,
    /// The lines of the table, as cells without spaces around them. The first line has the names of the columns.
    pub lines: Vec<Vec<String>>,
}

impl Table {
    /// Returns the cell in the column `name` of the line that begins with `row`.
    pub fn cell(&self, row: &str, name: &str) -> Option<&str> {
        let column = self.lines.first()?.iter().position(|cell| cell == name)?;
        let line = self.lines.iter().find(|line| line.first().is_some_and(|cell| cell == row))?;
        line.get(column).map(String::as_str)
    }

    /// Reports whether the names of the first columns are `names`.
    pub fn begins_with(&self, names: &[&str]) -> bool {
        self.lines.first().is_some_and(|head| head.iter().take(names.len()).eq(names))
    }

    /// Returns the table as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut lines: Vec<String> =
            self.lines.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
        lines.insert(1, format!("|{}\n", "---|".repeat(self.lines[0].len())));
        lines.concat()
    }
}

/// Returns the `* KEY: VALUE` lines of `text`, and its tables.
pub fn markdown(text: &str) -> (BTreeMap<String, String>, Vec<Table>) {
    let (mut facts, mut tables, mut title) = (BTreeMap::new(), Vec::<Table>::new(), String::new());
    let mut within = false;
    for line in text.lines() {
        if let Some(cells) = line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|')) {
            let cells: Vec<_> = cells.split('|').map(|cell| cell.trim().to_owned()).collect();
            if !within {
                tables.push(Table { title: title.clone(), lines: Vec::new() });
            }
            within = true;
            let is_rule = cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| "-:".contains(c)));
            if let (false, Some(table)) = (is_rule, tables.last_mut()) {
                table.lines.push(cells);
            }
            continue;
        }
        within = false;
        if let Some(fact) = line.strip_prefix("* ").and_then(|line| line.split_once(": ")) {
            facts.insert(fact.0.to_owned(), fact.1.to_owned());
        } else if line.starts_with('#') {
            line.trim_start_matches('#').trim().clone_into(&mut title);
        }
    }
    (facts, tables)
}

/// Reads a record in TSV as one table, whose title is empty.
pub fn tsv(text: &str) -> Table {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    Table { title: String::new(), lines }
}

/// Parses the number at the start of a cell.
pub fn number(cell: &str) -> Option<f64> {
    let digits = cell.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    digits.parse().ok()
}

/// The times of each contender at each length of one kind of text.
pub struct Lengths {
    /// The kind of text, such as `encode, sweep, clean`.
    pub text: String,
    /// The contenders in the order of the columns, each with lengths and nanoseconds.
    pub lines: Vec<(String, Vec<(usize, f64)>)>,
}

/// Parses a record of times by length, whose name ends with `-lengths.tsv`.
pub fn lengths(text: &str) -> Option<Vec<Lengths>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next()?.strip_prefix("text\tlength\t")?.split('\t').collect();
    let mut all: Vec<Lengths> = Vec::new();
    for line in lines {
        let mut cells = line.split('\t');
        let (text, length) = (cells.next()?, cells.next()?.parse().ok()?);
        if all.last().is_none_or(|last| last.text != text) {
            let lines = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
            all.push(Lengths { text: text.to_owned(), lines });
        }
        for ((_, points), cell) in all.last_mut()?.lines.iter_mut().zip(cells) {
            if let Some(time) = number(cell) {
                points.push((length, time));
            }
        }
    }
    Some(all)
}

/// Finds the newest of the `wanted` files in `folder`, by the date at the start of their names.
pub fn newest(folder: &Path, wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // A record of a special run has a longer name, so the shortest name of a day is that of the usual run.
    let best = names
        .filter(|name| wanted(name))
        .max_by(|a, b| a.get(..10).cmp(&b.get(..10)).then(b.len().cmp(&a.len())).then(a.cmp(b)))?;
    Some(folder.join(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let (facts, tables) = markdown(
            "# A\n\n* CPU: x, y\n\n## encode\n\n| row | avx2 |\n| --- | --- |\n| urls | 15.0 ±0% (5.04) |\n\n| b |\n",
        );
        assert_eq!(facts["CPU"], "x, y");
        assert_eq!((tables.len(), &*tables[0].title), (2, "encode"));
        assert_eq!(tables[0].cell("urls", "avx2").and_then(number), Some(15.0));
        assert_eq!(tables[0].cell("urls", "none"), None);
        assert_eq!(number("-"), None);
    }

    #[test]
    fn lengths_are_read() {
        let all = lengths(
            "# CPU\ntext\tlength\tmemcpy\tavx2\nencode, sweep, clean\t0\t1.50\t-\nencode, sweep, clean\t1\t2\t3.25\nb\t0\t1\t1\n",
        );
        let all = all.unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].lines[0], ("memcpy".to_owned(), vec![(0, 1.5), (1, 2.0)]));
        assert_eq!(all[0].lines[1], ("avx2".to_owned(), vec![(1, 3.25)]));
        assert!(lengths("nothing").is_none());
    }
}
