//! Formats the report of `pct audit`: text with bars for reading, or JSON.

use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::summary::{BUCKETS, Example, Summary};
use crate::check::kind::Kind;
use crate::common::error::Failure;
use crate::io::output::STDOUT;

/// The width of the report, in columns, if the output is not a terminal and COLUMNS is not set.
const USUAL_WIDTH: usize = 100;

/// The number of byte values in the histogram of escaped bytes.
const TOP: usize = 16;

/// Formats the report as text. `null` means that records end in NUL and are not called lines.
pub fn text(report: &Summary, null: bool) -> String {
    let page = Page::of_terminal();
    let (one, unit) = if null { ("record", "records") } else { ("line", "lines") };
    let Summary { files, lines, bytes, longest, escapes, .. } = report;
    let with_escapes = lines - report.buckets[0];
    let mut text = String::new();
    // Writing to a `String` cannot fail, so errors are ignored here and below.
    let _ = writeln!(
        text,
        "{} in {}, {}, the longest of {}",
        counted(*lines, one),
        counted(*files, "file"),
        counted(*bytes, "byte"),
        grouped(*longest),
    );
    let _ = writeln!(
        text,
        "{}, in {} ({})\n",
        counted(*escapes, "escape"),
        counted(with_escapes, one),
        share(with_escapes, *lines)
    );
    let _ = writeln!(text, "{:46} {unit:>14} {:>8} {:>14}", "Findings", "of all", "found");
    for kind in Kind::ALL {
        let (of, found) = (report.lines_of[kind as usize], report.found_of[kind as usize]);
        let meaning = kind.description();
        let _ = writeln!(
            text,
            "{meaning:46} {:>14} {:>8} {:>14}",
            grouped(of),
            share(of, *lines),
            grouped(found)
        );
        for example in &report.examples[kind as usize] {
            page.example(&mut text, example);
        }
    }
    let _ = writeln!(text, "\nEscapes in one {}", one);
    let ranges = BUCKETS.iter().enumerate().map(|(at, least)| match BUCKETS.get(at + 1) {
        Some(next) if next - least == 1 => least.to_string(),
        Some(next) => format!("{least}-{}", next - 1),
        None => format!("{least} and more"),
    });
    page.histogram(&mut text, &ranges.zip(report.buckets).collect::<Vec<_>>(), *lines);
    let most = most_escaped(report);
    if !most.is_empty() {
        let _ = writeln!(text, "\nBytes that are escaped most ({} of 256)", most.len());
        let rows: Vec<_> = most.iter().take(TOP).map(|&(byte, count)| (spell(byte), count)).collect();
        page.histogram(&mut text, &rows, *escapes);
    }
    text
}

/// Formats the report as JSON.
pub fn json(report: &Summary) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Json {
        files: u64,
        lines: u64,
        bytes: u64,
        longest_line: u64,
        escapes: u64,
        findings: Vec<JsonFinding>,
        escapes_per_line: Vec<JsonBucket>,
        escaped_bytes: Vec<JsonByte>,
    }
    #[derive(Serialize)]
    struct JsonFinding {
        kind: &'static str,
        meaning: &'static str,
        lines: u64,
        found: u64,
        examples: Vec<JsonExample>,
    }
    #[derive(Serialize)]
    struct JsonExample {
        file: String,
        line: u64,
        offset: u64,
        text: String,
    }
    #[derive(Serialize)]
    struct JsonBucket {
        least: u64,
        most: Option<u64>,
        lines: u64,
    }
    #[derive(Serialize)]
    struct JsonByte {
        escape: String,
        count: u64,
    }

    let example = |example: &Example| JsonExample {
        file: example.file.clone(),
        line: example.line,
        offset: example.offset,
        text: String::from_utf8_lossy(&example.text).into_owned(),
    };
    let finding = |kind: Kind| JsonFinding {
        kind: kind.name(),
        meaning: kind.description(),
        lines: report.lines_of[kind as usize],
        found: report.found_of[kind as usize],
        examples: report.examples[kind as usize].iter().map(example).collect(),
    };
    let bucket = |(at, &lines): (usize, &u64)| JsonBucket {
        least: BUCKETS[at],
        most: BUCKETS.get(at + 1).map(|next| next - 1),
        lines,
    };
    let byte = |(byte, count)| JsonByte { escape: format!("%{byte:02X}"), count };
    let json = Json {
        files: report.files,
        lines: report.lines,
        bytes: report.bytes,
        longest_line: report.longest,
        escapes: report.escapes,
        findings: Kind::ALL.into_iter().map(finding).collect(),
        escapes_per_line: report.buckets.iter().enumerate().map(bucket).collect(),
        escaped_bytes: most_escaped(report).into_iter().map(byte).collect(),
    };
    let text = serde_json::to_string_pretty(&json);
    text.map(|text| text + "\n").map_err(|error| Failure::output(STDOUT, 0, io::Error::from(error)))
}

/// Returns the byte values that are escaped at least once, with their counts, the most frequent ones first.
fn most_escaped(report: &Summary) -> Vec<(u8, u64)> {
    let counts = (0..=u8::MAX).zip(report.byte_counts);
    let mut bytes: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    bytes.sort_by_key(|&(byte, count)| (std::cmp::Reverse(count), byte));
    bytes
}

/// Returns the escape of `byte`, followed by the character or its name, if there is one.
fn spell(byte: u8) -> String {
    match byte {
        b' ' => "%20 space".to_owned(),
        b'\n' => "%0A line feed".to_owned(),
        b'\r' => "%0D return".to_owned(),
        b'\t' => "%09 tab".to_owned(),
        0 => "%00 nul".to_owned(),
        0x21..0x7F => format!("%{byte:02X} {}", char::from(byte)),
        0xC0..0xF8 => format!("%{byte:02X} UTF-8 lead"),
        _ => format!("%{byte:02X}"),
    }
}

/// The properties of the terminal or file for which the report is formatted.
pub struct Page {
    width: usize,
    /// Whether the display has the Unicode block characters, which divide a column into eighths.
    blocks: bool,
}

impl Page {
    /// Returns the properties of standard output.
    pub fn of_terminal() -> Page {
        Page { width: width(), blocks: has_blocks() }
    }

    /// Returns the width in columns.
    pub fn width(&self) -> usize {
        self.width
    }

    fn example(&self, text: &mut String, example: &Example) {
        let Example { file, line, offset, text: bytes } = example;
        let mut shown = format!("    {}:{line}:{offset}: ", visible(file.as_bytes()));
        shown.push_str(&visible(bytes.trim_ascii_end()));
        if let Some((cut, _)) = shown.char_indices().nth(self.width) {
            shown.truncate(cut);
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }

    /// Appends a row for each label and count in `rows`, with the count's share of `total` and a bar.
    fn histogram(&self, text: &mut String, rows: &[(String, u64)], total: u64) {
        let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        for (label, count) in rows {
            let start = format!("{label:>16} {:>14} {:>8} ", grouped(*count), share(*count, total));
            let columns = self.width.saturating_sub(start.len()).clamp(8, 60);
            let row = start + &self.bar(*count, most, columns);
            text.push_str(row.trim_end());
            text.push('\n');
        }
    }

    /// Returns a bar for `count`. Its length is in proportion to `most`, whose bar has `columns` columns. A count
    /// above zero has at least one mark.
    pub fn bar(&self, count: u64, most: u64, columns: usize) -> String {
        let parts = if self.blocks { 8 } else { 1 };
        let exact = u128::from(count) * (columns * parts) as u128 / u128::from(most);
        let len = (exact as usize).max(usize::from(count > 0));
        if !self.blocks {
            return "#".repeat(len);
        }
        let mut bar = "\u{2588}".repeat(len / 8);
        bar.extend(
            ['\u{258F}', '\u{258E}', '\u{258D}', '\u{258C}', '\u{258B}', '\u{258A}', '\u{2589}']
                .get((len % 8).wrapping_sub(1)),
        );
        bar
    }
}

/// Returns the width of the report: COLUMNS if it is set, or else the width of the terminal.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(terminal).unwrap_or(USUAL_WIDTH).clamp(40, 400)
}

/// Reports whether the locale uses UTF-8, so that block characters can be displayed.
fn has_blocks() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    cfg!(windows) || locale.contains("utf-8") || locale.contains("utf8")
}

/// Returns `bytes` as text that cannot control a terminal: letters, digits and printable ASCII stay, and everything
/// else is escaped.
pub fn visible(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for sign in chunk.valid().chars() {
            if sign.is_alphanumeric() || sign == ' ' || sign.is_ascii_graphic() {
                text.push(sign);
            } else {
                text.extend(sign.escape_default());
            }
        }
        let _ = write!(text, "{}", chunk.invalid().escape_ascii());
    }
    text
}

/// Returns `part` of `whole` in percent.
pub fn share(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    match percent {
        // A share above zero must not be shown as 0.00%.
        percent if part > 0 && percent < 0.01 => "<0.01%".to_owned(),
        percent => format!("{percent:.2}%"),
    }
}

/// Returns `number` with its unit, in the plural if necessary.
pub fn counted(number: u64, unit: &str) -> String {
    format!("{} {unit}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Returns the decimal digits of `number` in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn bars_fit_and_show_what_is_there() {
        for blocks in [false, true] {
            let page = Page { width: 80, blocks };
            for count in 0..=1000 {
                let columns = page.bar(count, 1000, 20).chars().count();
                assert!(columns <= 20);
                assert_eq!(columns == 0, count == 0);
            }
            assert_eq!(page.bar(1000, 1000, 20).chars().count(), 20);
        }
        assert_eq!(Page { width: 80, blocks: true }.bar(9, 16, 2), "\u{2588}\u{258F}");
    }

    #[test]
    fn nothing_moves_the_cursor() {
        let text = visible("a\x1B[2J\u{202E}\u{E9}\u{85}\r".as_bytes());
        assert_eq!(text, "a\\u{1b}[2J\\u{202e}\u{E9}\\u{85}\\r");
        assert_eq!(visible(b"\xFF%20"), "\\xff%20");
    }
}
