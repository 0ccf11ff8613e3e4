//! The named sets: finding one, and listing them.

use std::fmt::Write;

use simdpct::{AsciiSet, NamedSet, sets};

use crate::args::Sets;
use crate::error::{Failure, Outcome};
use crate::output::Output;

/// The set called `name`, or what to tell the person.
pub fn find(name: &str) -> Result<&'static NamedSet, String> {
    sets::find(name).ok_or_else(|| {
        let similar = similar(&name.to_ascii_lowercase().replace('_', "-"));
        let hint =
            if similar.is_empty() { String::new() } else { format!("similar: {}; ", similar.join(", ")) };
        format!("unknown set '{name}'; {hint}`pct sets` lists all")
    })
}

/// Up to four names that `name` may stand for, best first.
fn similar(name: &str) -> Vec<&'static str> {
    let likeness = |set: &NamedSet| {
        let part = !name.is_empty() && (set.name.contains(name) || name.contains(set.name));
        f64::from(u8::from(part)) + strsim::jaro_winkler(name, set.name)
    };
    let mut ranked: Vec<_> = sets::ALL.iter().map(|set| (likeness(set), set.name)).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.into_iter().filter(|(likeness, _)| *likeness >= 0.8).map(|(_, name)| name).take(4).collect()
}

/// Lists the sets asked for, or all.
pub fn list(args: &Sets) -> Result<Outcome, Failure> {
    let all: Vec<_> = sets::ALL.iter().collect();
    let mut text = String::new();
    for set in if args.names.is_empty() { &all } else { &args.names } {
        let NamedSet { name, source, description, .. } = set;
        let bytes = spell(&set.set);
        let count = set.set.len();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{name}\n  keeps   {bytes}  ({count} bytes)\n  source  {source}\n  {description}\n\n"
        );
    }
    let mut output = Output::create(None)?;
    output.write(text.trim_end().as_bytes())?;
    output.write(b"\n")?;
    Ok(Outcome::Clean)
}

/// The members of `set`, with the usual ranges and a space by name.
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
    words.join(" ")
}
