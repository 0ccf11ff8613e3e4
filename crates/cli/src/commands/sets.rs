//! `pct sets`: lists the named sets.

use std::fmt::Write;

use simdpct::{AsciiSet, NamedSet, SetKind, sets};

use super::tables;
use crate::args::Sets;
use crate::common::error::{Failure, Outcome};
use crate::common::format::OutputFormat;
use crate::io::output::Output;

/// Lists the sets named in `args`, or all of them.
pub fn list(args: &Sets) -> Result<Outcome, Failure> {
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
        return tables::print(args.format, &header, &[("Sets", wanted.iter().map(row).collect())]);
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
    let mut output = Output::stdout()?;
    output.write(text.trim_end().as_bytes())?;
    output.write(b"\n")?;
    Ok(Outcome::Clean)
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
