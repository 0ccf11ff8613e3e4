//! Writes the result of `pct top`: the most frequent keys with their counts.

use std::io::{self, IsTerminal};

use serde_json::json;

use super::page::{self, Page, counted, grouped, json_line, push_row, share, text_or_bytes, visible};
use crate::common::error::{Failure, Outcome};
use crate::common::format::OutputFormat;

/// Writes `rows`, the most frequent keys with their counts. There are `total` values and `distinct` different keys. The
/// default format is a table on a terminal, and TSV elsewhere.
pub fn print(
    rows: &[(Vec<u8>, u64)],
    total: u64,
    distinct: u64,
    format: Option<OutputFormat>,
) -> Result<Outcome, Failure> {
    let usual = || if io::stdout().is_terminal() { OutputFormat::Text } else { OutputFormat::Tsv };
    let text = match format.unwrap_or_else(usual) {
        OutputFormat::Text => table(rows, total, distinct).into_bytes(),
        OutputFormat::Tsv => {
            let mut text = Vec::new();
            for (key, count) in rows {
                text.extend_from_slice(format!("{count}\t").as_bytes());
                // A key can contain `%`, so bytes are escaped with a backslash instead, and different keys stay different.
                for &byte in key {
                    match byte {
                        b'\\' => text.extend_from_slice(b"\\\\"),
                        byte if byte.is_ascii_control() => text.extend(byte.escape_ascii()),
                        byte => text.push(byte),
                    }
                }
                text.push(b'\n');
            }
            text
        }
        _ => {
            let row = |(key, count): &(Vec<u8>, u64)| json!({ "key": text_or_bytes(key), "count": count });
            let top: Vec<_> = rows.iter().map(row).collect();
            json_line(&json!({ "values": total, "distinct": distinct, "top": top })).into_bytes()
        }
    };
    page::print(&text, Ok(Outcome::Clean))
}

fn table(rows: &[(Vec<u8>, u64)], total: u64, distinct: u64) -> String {
    let page = Page::of_terminal();
    let mut text = format!("{}, {}\n\n", counted(total, "value"), counted(distinct, "different key"));
    let most = rows.first().map_or(1, |(_, count)| *count);
    let label = |key: &[u8]| if key.is_empty() { "(empty)".to_owned() } else { visible(key) };
    let labels: Vec<_> = rows.iter().map(|(key, _)| label(key)).collect();
    // The column of keys takes at most three quarters of the width beside the numbers. Longer keys are written whole, and shift their bars.
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let columns = longest.min(page.width.saturating_sub(24) * 3 / 4);
    let bars = page.width.saturating_sub(24 + columns).clamp(8, 60);
    for ((_, count), label) in rows.iter().zip(&labels) {
        let bar = page.bar(*count, most, bars);
        let row = format!("{:>14} {:>7} {label:columns$} {bar}", grouped(*count), share(*count, total));
        push_row(&mut text, &row);
    }
    text
}
