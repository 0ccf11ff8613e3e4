//! `pct sets` and `pct normalize --list`: lists the named sets and the canonical forms, and writes the reference tables of URL encoding,
//! computed by the library itself.

use std::fmt::Write;
use std::ops::RangeInclusive;

use encoding_rs::WINDOWS_1252;
use serde_json::Value;
use simdpct::sets::{
    self, NONE, RFC1738_RESERVED, RFC1738_UNRESERVED, RFC2396_RESERVED, RFC2396_UNRESERVED, RFC3986_RESERVED,
    RFC3986_UNRESERVED,
};
use simdpct::{AsciiSet, NamedSet, SetKind};
use simdpct_uri::canon::Profile;

use crate::args::Sets;
use crate::check::page::{Members, pretty_json};
use crate::check::schemes::{SCHEMES, Scheme};
use crate::common::error::{Failure, Outcome};
use crate::common::format::OutputFormat;
use crate::io::output;

/// A row of a table. A cell without a value is `null` in JSON, and empty elsewhere.
type Row<const N: usize> = [Option<String>; N];

/// The reasons to escape characters, by RFC 1738 (section 2.2) and RFC 3986 (section 3). Each line has a byte in
/// hexadecimal digits, a tab and the reason. The project's web page shows them as well.
const REASONS: &str = include_str!("reasons.tsv");

/// Returns the reason to escape `byte`; empty for one that RFC 1738, 2396 and 3986 all count as unreserved, and for bytes that are not
/// ASCII.
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

/// Returns the row of the character whose byte is `byte` in windows-1252: an invisible character has an abbreviation and
/// a name.
pub fn character(byte: u8) -> Row<11> {
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
    let windows_1252 = format!("%{byte:02X}");
    let rfc3986 = class(byte, RFC3986_UNRESERVED, RFC3986_RESERVED, "not allowed");
    let rfc2396 = class(byte, RFC2396_UNRESERVED, RFC2396_RESERVED, "excluded");
    let rfc1738 = class(byte, RFC1738_UNRESERVED, RFC1738_RESERVED, "unsafe");
    let [hexadecimal, decimal, binary] = [format!("{byte:02X}"), byte.to_string(), format!("{byte:08b}")];
    let utf8 = simdpct::Encode::keeping(NONE).encode(text.as_bytes());
    let classes = [rfc3986, rfc2396, rfc1738, &windows_1252, &utf8, reason(byte)].map(str::to_owned);
    let [rfc3986, rfc2396, rfc1738, windows_1252, utf8, why] = classes;
    let (character, name) = (character.to_owned(), name.to_owned());
    [hexadecimal, decimal, binary, character, name, rfc3986, rfc2396, rfc1738, windows_1252, utf8, why]
        .map(Some)
}

/// Returns the class of `byte` by an RFC with these sets of visible ASCII; `rest` is the class of the bytes outside both.
fn class(byte: u8, unreserved: AsciiSet, reserved: AsciiSet, rest: &'static str) -> &'static str {
    match byte {
        0..0x20 | 0x7F => "control",
        0x80.. => "not ASCII",
        _ if unreserved.contains(byte) => "unreserved",
        _ if reserved.contains(byte) => "reserved",
        _ => rest,
    }
}

/// Writes the tables of characters in `format`.
pub fn write(format: OutputFormat) -> Result<Outcome, Failure> {
    let header =
        "byte decimal binary character name rfc3986 rfc2396 rfc1738 windows-1252 utf-8 why".split(' ');
    let rows = |bytes: RangeInclusive<u8>| bytes.map(character).collect();
    let tables = [("ASCII", rows(0..=0x7F)), ("Windows-1252 and UTF-8", rows(0x80..=0xFF))];
    print(format, &header.collect::<Vec<_>>(), &tables)
}

/// Writes the table of schemes in `format`.
pub fn write_schemes(format: OutputFormat) -> Result<Outcome, Failure> {
    let row = |&Scheme { name, section, separators, path, query }: &Scheme| {
        [Some(name), Some(section), Some(separators), Some(path), query].map(|cell| cell.map(str::to_owned))
    };
    let rows = SCHEMES.iter().map(row).collect();
    let header = ["name", "section", "separators", "path", "query"];
    print(format, &header, &[("Reserved characters by scheme (RFC 1738)", rows)])
}

/// Prints `tables`, each a title with its rows, in `format`.
fn print<const N: usize>(
    format: OutputFormat,
    header: &[&str],
    tables: &[(&str, Vec<Row<N>>)],
) -> Result<Outcome, Failure> {
    let rows = || tables.iter().flat_map(|(_, rows)| rows);
    let mut text = String::new();
    // Writing to a string does not fail.
    match format {
        OutputFormat::Text => {
            let widest = |column: usize| rows().map(|row| cells(row)[column].chars().count()).max();
            let widths: Vec<_> =
                (0..N).map(|column| widest(column).unwrap_or(0).max(header[column].len())).collect();
            for (title, rows) in tables {
                let _ = writeln!(text, "{}{title}\n", if text.is_empty() { "" } else { "\n" });
                append_line(&widths, header, &mut text);
                rows.iter().for_each(|row| append_line(&widths, &cells(row), &mut text));
            }
        }
        OutputFormat::Tsv => {
            let _ = writeln!(text, "{}", header.join("\t"));
            for row in rows() {
                let _ = writeln!(text, "{}", cells(row).join("\t"));
            }
        }
        _ => {
            let members = |row: &Row<N>| header.iter().copied().zip(row.clone().map(Value::from)).collect();
            text = pretty_json(&rows().map(|row| Members(members(row))).collect::<Vec<_>>());
        }
    }
    output::print(text)
}

/// Returns the text of each cell.
fn cells<const N: usize>(row: &Row<N>) -> [&str; N] {
    row.each_ref().map(|cell| cell.as_deref().unwrap_or_default())
}

fn append_line(widths: &[usize], cells: &[&str], text: &mut String) {
    let cells: Vec<_> = cells.iter().zip(widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
    text.push_str(cells.join("  ").trim_end());
    text.push('\n');
}

/// Lists the sets named in `args`, or all of them.
pub fn write_sets(args: &Sets) -> Result<Outcome, Failure> {
    let all: Vec<_> = sets::ALL.iter().collect();
    let wanted = if args.names.is_empty() { &all } else { &args.names };
    if args.format != OutputFormat::Text {
        let row = |set: &&NamedSet| {
            let kind = if set.kind == SetKind::Policy { "policy" } else { "building block" };
            // The text format writes ranges such as A-Z, which a program would have to parse.
            let bytes: String = set.set.iter().map(char::from).collect();
            [set.name, kind, &bytes, set.source, set.description].map(|cell| Some(cell.to_owned()))
        };
        let header = ["name", "kind", "bytes", "source", "description"];
        return print(args.format, &header, &[("Sets", wanted.iter().map(row).collect())]);
    }
    let mut text = String::new();
    for set in wanted {
        let NamedSet { name, source, description, .. } = set;
        let (verb, kind) = match set.kind {
            SetKind::Policy => ("keeps ", "policy: --set keeps these bytes, and escapes all others"),
            _ => ("holds ", "building block: --escape escapes these bytes"),
        };
        let bytes = spell(&set.set);
        let count = set.set.len();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{name}\n  {verb}  {bytes}  ({count} bytes)\n  kind    {kind}\n  source  {source}\n  {description}\n\n"
        );
    }
    output::print(format!("{}\n", text.trim_end()))
}

/// Returns the members of `set` as text, with letters and digits as ranges and the space by its name.
fn spell(set: &AsciiSet) -> String {
    let mut words = Vec::new();
    let mut rest = *set;
    for (word, range) in [
        ("A-Z", &b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[..]),
        ("a-z", b"abcdefghijklmnopqrstuvwxyz"),
        ("0-9", b"0123456789"),
    ] {
        if range.iter().all(|&byte| set.contains(byte)) {
            words.push(word.to_owned());
            rest = rest.remove(range);
        }
    }
    words.extend(rest.iter().map(|byte| match byte {
        b' ' => "SPACE".to_owned(),
        byte => {
            byte.escape_ascii().to_string().replace("\\\\", "\\").replace("\\'", "'").replace("\\\"", "\"")
        }
    }));
    if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
}

/// Lists the profiles, which are canonical forms of URLs, one per line.
pub fn write_profiles() -> Result<Outcome, Failure> {
    let width = Profile::ALL.iter().map(|profile| profile.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for profile in Profile::ALL {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:width$}  {} ({})", profile.name(), profile.about(), profile.edition());
    }
    output::print(text)
}
