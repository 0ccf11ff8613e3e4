//! Formats and writes the reports of `audit`, `top` and `route`, and makes text safe for a terminal.

use std::fmt::Write;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::common::error::{Failure, Outcome};
use crate::io::output::Output;

/// The width of the report, in columns, if no standard stream is a terminal and COLUMNS is not set.
const USUAL_WIDTH: usize = 100;

/// Writes `report` to standard output, and returns `outcome`. A reader that has closed the output is no error.
pub fn print(report: &[u8], outcome: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
    match Output::stdout()?.write(report) {
        Err(Failure::ReaderGone) | Ok(()) => outcome,
        Err(failure) => Err(failure),
    }
}

/// Returns `report` as JSON, in several lines.
pub fn pretty_json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("strings and numbers are JSON") + "\n"
}

/// Returns `row` as one line of JSON.
pub fn json_line(row: &impl Serialize) -> String {
    serde_json::to_string(row).expect("strings and numbers are JSON") + "\n"
}

/// The members of an object of JSON, in their order.
pub struct Members<'n>(pub Vec<(&'n str, Value)>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Returns `bytes` as a string, or as an object with these bytes in escapes if they are not valid UTF-8.
pub fn text_or_bytes(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "bytes": simdpct::encode(bytes) }),
    }
}

/// Serializes `bytes` as [`text_or_bytes`] returns them.
pub fn serialize_bytes<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    text_or_bytes(bytes.as_ref()).serialize(serializer)
}

/// The properties of the terminal or file for which the report is formatted.
pub struct Page {
    /// The width in columns.
    pub width: usize,
    /// Whether the display has the Unicode block characters, which divide a column into eighths.
    blocks: bool,
}

impl Page {
    /// Returns the properties of standard output.
    pub fn of_terminal() -> Page {
        Page { width: width(), blocks: has_blocks() }
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

/// Returns the width of the report: COLUMNS if it is a number, or else the width of the terminal, but at least 40 and at most 400.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(terminal).unwrap_or(USUAL_WIDTH).clamp(40, 400)
}

/// Reports whether block characters can be displayed: the locale uses UTF-8, or the system is Windows.
fn has_blocks() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    cfg!(windows) || locale.contains("utf-8") || locale.contains("utf8")
}

/// Appends `row` to `text` as a line, without blanks at its end.
pub fn push_row(text: &mut String, row: &str) {
    text.push_str(row.trim_end());
    text.push('\n');
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
