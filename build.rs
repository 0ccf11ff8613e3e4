//! Turns `sets.def` into documented constants and a registry, and tells the kernels whether they are optimized.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::exit;
use std::{env, fs};

const DEFINITIONS: &str = "sets.def";

type Members = [bool; 256];

fn main() {
    println!("cargo::rerun-if-changed={DEFINITIONS}");
    // `optimized` inlines the kernels into their entry points, which makes them fast. Without optimization, inlining
    // would not help, but would make the library eight times as large and the build three times as long.
    println!("cargo::rustc-check-cfg=cfg(optimized)");
    if env::var_os("OPT_LEVEL").is_none_or(|level| level != "0") {
        println!("cargo::rustc-cfg=optimized");
    }
    let text = fs::read_to_string(DEFINITIONS).unwrap_or_else(|e| fail(0, &e.to_string()));
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("sets.rs"), generate(&text)).expect("OUT_DIR is writable");
}

fn fail(line: usize, why: &str) -> ! {
    eprintln!("{DEFINITIONS}:{line}: {why}");
    exit(1)
}

fn generate(text: &str) -> String {
    let mut known = builtin();
    let (mut constants, mut registry) = (String::new(), String::new());
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.splitn(5, " | ").map(str::trim).collect();
        let &[name, kind, rule, source, doc] = &fields[..] else {
            fail(number, "expected NAME | KIND | RULE | SOURCE | DOCUMENTATION")
        };
        let kind = match kind {
            "policy" => "Policy",
            "block" => "Block",
            _ => fail(number, &format!("`{kind}` is neither `policy` nor `block`")),
        };
        if !name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') {
            fail(number, &format!("`{name}` is not an upper-case constant name"));
        }
        if !source.starts_with("https://") || doc.is_empty() {
            fail(number, "a set needs the URL of its specification and documentation");
        }
        let members = evaluate(rule, &known).unwrap_or_else(|why| fail(number, &why));
        if known.insert(name.to_owned(), members).is_some() {
            fail(number, &format!("`{name}` is defined twice"));
        }
        emit(&mut constants, &mut registry, &Entry { name, kind, source, doc }, &members);
    }
    format!(
        "{constants}\n/// Every named set, in the order of their specifications.\n\
         pub static ALL: &[NamedSet] = &[\n{registry}];\n"
    )
}

fn builtin() -> HashMap<String, Members> {
    let of = |test: fn(u8) -> bool| std::array::from_fn(|i| u8::try_from(i).is_ok_and(test));
    HashMap::from([
        ("ALPHA".to_owned(), of(|b| b.is_ascii_alphabetic())),
        ("DIGIT".to_owned(), of(|b| b.is_ascii_digit())),
        ("VISIBLE".to_owned(), of(|b| b.is_ascii_graphic())),
        ("NOTHING".to_owned(), of(|_| false)),
        ("PRINTABLE".to_owned(), of(|b| matches!(b, 0x20..=0x7E))),
    ])
}

fn evaluate(rule: &str, known: &HashMap<String, Members>) -> Result<Members, String> {
    let mut members = [false; 256];
    for term in rule.split_whitespace() {
        let (chars, keep) = match term.split_at(1) {
            ("+", rest) => (rest, true),
            ("-", rest) => (rest, false),
            _ => {
                let other = known.get(term).ok_or_else(|| format!("`{term}` is not defined above"))?;
                (0..256).for_each(|i| members[i] |= other[i]);
                continue;
            }
        };
        let bytes = match chars.strip_prefix("0x") {
            Some(hex) => vec![u8::from_str_radix(hex, 16).map_err(|e| format!("`{term}`: {e}"))?],
            None if chars.is_empty() => return Err(format!("`{term}` names no character")),
            None => chars.as_bytes().to_vec(),
        };
        for byte in bytes {
            if !byte.is_ascii() {
                return Err(format!("`{term}`: a named set holds ASCII only"));
            }
            if members[usize::from(byte)] == keep {
                return Err(format!("`{term}` changes nothing at {:?}", char::from(byte)));
            }
            members[usize::from(byte)] = keep;
        }
    }
    Ok(members)
}

/// A line of `sets.def`.
struct Entry<'a> {
    name: &'a str,
    kind: &'a str,
    source: &'a str,
    doc: &'a str,
}

fn emit(constants: &mut String, registry: &mut String, entry: &Entry<'_>, members: &Members) {
    let Entry { name, kind, source, doc } = *entry;
    let bytes: Vec<u8> = (0..=255u8).filter(|&b| members[usize::from(b)]).collect();
    let literal: String = bytes.iter().flat_map(|b| std::ascii::escape_default(*b)).map(char::from).collect();
    let shown = match &bytes[..] {
        [] => "Keeps no byte.".to_owned(),
        _ => {
            let members = String::from_utf8_lossy(&bytes).replace(' ', "SP ");
            format!(
                "{} {} bytes: ```` {members} ````",
                if kind == "Policy" { "Keeps" } else { "Holds" },
                bytes.len()
            )
        }
    };
    let public = name.to_ascii_lowercase().replace('_', "-");
    writeln!(
        constants,
        "/// {doc}\n///\n/// {shown}\n///\n/// Name in the registry: `{public}`. Source: <{source}>\n\
         pub const {name}: AsciiSet = AsciiSet::from_bytes(b\"{literal}\").unwrap();"
    )
    .expect("writing to a String cannot fail");
    writeln!(
        registry,
        "    NamedSet {{ name: \"{public}\", kind: SetKind::{kind}, set: {name}, source: \"{source}\", description: {doc:?} }},"
    )
    .expect("writing to a String cannot fail");
}
