//! `pct sets --table`: writes the reference tables of URL encoding, computed by the library itself. Also formats the
//! list of sets as a table.

use std::fmt::Write;

use encoding_rs::WINDOWS_1252;
use serde::Serialize;
use simdpct::AsciiSet;
use simdpct::sets::{
    NONE, RFC1738_RESERVED, RFC1738_UNRESERVED, RFC2396_RESERVED, RFC2396_UNRESERVED, RFC3986_RESERVED,
    RFC3986_UNRESERVED,
};
use simdpct_uri::charset::Charset;

use crate::check::schemes::{SCHEMES, Scheme};
use crate::common::error::{Failure, Outcome};
use crate::common::format::OutputFormat;
use crate::io::output::Output;

/// One character and its escapes.
#[derive(Serialize)]
struct Row {
    /// The byte of the character in windows-1252, in hexadecimal digits.
    byte: String,
    decimal: String,
    binary: String,
    /// The character, or an abbreviation if it is invisible.
    character: String,
    /// The name of an invisible character.
    name: &'static str,
    /// The class of the character in each RFC, such as `unreserved`.
    rfc3986: &'static str,
    rfc2396: &'static str,
    rfc1738: &'static str,
    #[serde(rename = "windows-1252")]
    windows_1252: String,
    #[serde(rename = "utf-8")]
    utf8: String,
    /// Why the character is unsafe, or the meaning of a delimiter.
    why: &'static str,
}

/// The reasons to escape characters, which the web page shows as well: a line for each byte, in hexadecimal digits, and its text. They
/// follow RFC 1738 (section 2.2) and RFC 3986 (section 3).
const REASONS: &str = include_str!("reasons.tsv");

/// Returns the reason to escape `byte`; empty for an unreserved one and for bytes that are not ASCII.
fn reason(byte: u8) -> &'static str {
    let number = format!("{byte:02X}\t");
    match byte {
        0..0x20 | 0x7F => "Invisible; ends or splits text in some programs.",
        _ => REASONS.lines().find_map(|line| line.strip_prefix(&*number)).unwrap_or_default(),
    }
}

/// The abbreviations and names of the C0 controls and the space, by byte.
const UNSEEN: &str = "\
    NUL null, SOH start of heading, STX start of text, ETX end of text, EOT end of transmission, \
    ENQ enquiry, ACK acknowledge, BEL bell, BS backspace, HT horizontal tab, LF line feed, \
    VT vertical tab, FF form feed, CR carriage return, SO shift out, SI shift in, DLE data link escape, \
    DC1 device control 1, DC2 device control 2, DC3 device control 3, DC4 device control 4, \
    NAK negative acknowledge, SYN synchronous idle, ETB end of transmission block, CAN cancel, \
    EM end of medium, SUB substitute, ESC escape, FS file separator, GS group separator, \
    RS record separator, US unit separator, SP space";

impl Row {
    fn of(byte: u8, charset: Charset) -> Row {
        let bytes = [byte];
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(&bytes);
        let (character, name) = match byte {
            0x7F => ("DEL", "delete"),
            0xA0 => ("NBSP", "no-break space"),
            0xAD => ("SHY", "soft hyphen"),
            _ if text.chars().all(char::is_control) && !byte.is_ascii() => ("", "not assigned"),
            _ => {
                let unseen = UNSEEN.split(", ").nth(byte.into()).and_then(|both| both.split_once(' '));
                unseen.unwrap_or((&text, ""))
            }
        };
        let mut windows_1252 = String::new();
        charset.encode_append(&text, NONE, &mut windows_1252);
        Row {
            byte: format!("{byte:02X}"),
            decimal: byte.to_string(),
            binary: format!("{byte:08b}"),
            character: character.to_owned(),
            name,
            rfc3986: class(
                byte,
                &[("unreserved", RFC3986_UNRESERVED), ("reserved", RFC3986_RESERVED)],
                "not allowed",
            ),
            rfc2396: class(
                byte,
                &[("unreserved", RFC2396_UNRESERVED), ("reserved", RFC2396_RESERVED)],
                "excluded",
            ),
            rfc1738: class(
                byte,
                &[("unreserved", RFC1738_UNRESERVED), ("reserved", RFC1738_RESERVED)],
                "unsafe",
            ),
            windows_1252,
            utf8: simdpct::Encode::keeping(NONE).encode(text.as_bytes()).into_owned(),
            why: reason(byte),
        }
    }

    fn cells(&self) -> [&str; 11] {
        [
            &self.byte,
            &self.decimal,
            &self.binary,
            &self.character,
            self.name,
            self.rfc3986,
            self.rfc2396,
            self.rfc1738,
            &self.windows_1252,
            &self.utf8,
            self.why,
        ]
    }
}

/// The titles of the columns.
const HEADER: [&str; 11] = [
    "byte",
    "decimal",
    "binary",
    "character",
    "name",
    "rfc3986",
    "rfc2396",
    "rfc1738",
    "windows-1252",
    "utf-8",
    "why",
];

/// Returns the class of `byte` by an RFC whose classes of visible ASCII are `sets`, or else `rest`.
fn class(byte: u8, sets: &[(&'static str, AsciiSet)], rest: &'static str) -> &'static str {
    match byte {
        0..0x20 | 0x7F => "control",
        0x80.. => "not ASCII",
        _ => sets.iter().find(|(_, set)| set.contains(byte)).map_or(rest, |(name, _)| name),
    }
}

/// Writes the tables in the given format.
pub fn write(format: OutputFormat) -> Result<Outcome, Failure> {
    let Some(charset) = Charset::find("windows-1252") else {
        return Err(Failure::Usage("windows-1252 is not supported".to_owned()));
    };
    let rows: Vec<_> = (0..=u8::MAX).map(|byte| Row::of(byte, charset)).collect();
    let tables = [("ASCII", &rows[..0x80]), ("Windows-1252 and UTF-8", &rows[0x80..])];
    Output::stdout()?.write(formatted(format, HEADER, &tables, Row::cells).as_bytes())?;
    Ok(Outcome::Clean)
}

/// Writes the table of schemes in the given format.
pub fn write_schemes(format: OutputFormat) -> Result<Outcome, Failure> {
    let header = ["name", "section", "separators", "path", "query"];
    let text = formatted(
        format,
        header,
        &[("Reserved characters by scheme (RFC 1738)", &SCHEMES[..])],
        Scheme::cells,
    );
    Output::stdout()?.write(text.as_bytes())?;
    Ok(Outcome::Clean)
}

/// Returns the text of `tables`, each a title with its rows, in the given format. JSON is made from the rows themselves, the other
/// formats from the cells that `cells` returns for a row.
pub fn formatted<R: Serialize, const N: usize>(
    format: OutputFormat,
    header: [&str; N],
    tables: &[(&str, &[R])],
    cells: impl Fn(&R) -> [&str; N],
) -> String {
    let rows = || tables.iter().flat_map(|(_, rows)| *rows);
    let mut text = String::new();
    // Writing to a string does not fail.
    match format {
        OutputFormat::Text => {
            let widest = |column: usize| rows().map(|row| cells(row)[column].chars().count()).max();
            let widths: [usize; N] =
                std::array::from_fn(|column| widest(column).unwrap_or(0).max(header[column].len()));
            for (title, rows) in tables {
                let _ = writeln!(text, "{}{title}\n", if text.is_empty() { "" } else { "\n" });
                append_line(widths, header, &mut text);
                rows.iter().for_each(|row| append_line(widths, cells(row), &mut text));
            }
        }
        OutputFormat::Tsv => {
            let _ = writeln!(text, "{}", header.join("\t"));
            for row in rows() {
                let _ = writeln!(text, "{}", cells(row).join("\t"));
            }
        }
        _ => {
            text = serde_json::to_string_pretty(&rows().collect::<Vec<_>>()).unwrap_or_default();
            text.push('\n');
        }
    }
    text
}

fn append_line<const N: usize>(widths: [usize; N], cells: [&str; N], text: &mut String) {
    let cells: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
    text.push_str(cells.join("  ").trim_end());
    text.push('\n');
}
