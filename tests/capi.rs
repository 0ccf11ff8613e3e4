//! Compares `simdpct.h` with the Rust sources of the C library: both must have the same functions, constants and structs.

#![cfg(not(target_family = "wasm"))] // WebAssembly may have no file system, and the test reads sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use simdpct::{SetKind, sets};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/capi").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the text of `simdpct.h` without its comments.
fn header() -> String {
    let mut text = read("include/simdpct.h");
    while let Some(start) = text.find("/*") {
        let end = start + text[start..].find("*/").expect("a comment ends") + 2;
        text.replace_range(start..end, " ");
    }
    text
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the C name of a type that the Rust sources use.
fn in_c(rust: &str) -> String {
    if let Some(to) = rust.strip_prefix("*const ") {
        return format!("const {} *", in_c(to));
    }
    if let Some(to) = rust.strip_prefix("*mut ") {
        return format!("{} *", in_c(to));
    }
    let name = match rust {
        "c_void" => "void",
        "c_char" => "char",
        "u8" => "uint8_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "usize" => "size_t",
        "ByteSet" => "simdpct_set",
        "Slice" => "simdpct_slice",
        "ValueResult" => "simdpct_result",
        "BatchResult" => "simdpct_batch_result",
        "EncodeStream" => "simdpct_encode_stream",
        "DecodeStream" => "simdpct_decode_stream",
        other => panic!("`{other}` has no C name in this test"),
    };
    name.to_owned()
}

/// Returns the C declaration of a Rust parameter or field `name: type`.
fn declaration(parameter: &str) -> String {
    let (name, rust) = parameter.split_once(':').expect("a name and a type");
    let (name, rust) = (name.trim().trim_start_matches("pub "), in_c(rust.trim()));
    if rust.ends_with('*') { format!("{rust}{name}") } else { format!("{rust} {name}") }
}

/// Returns the source of the exported functions, with each call of its macros replaced by the expansion.
fn exports() -> String {
    let mut source = words(&read("src/exports.rs"));
    while let Some((before, rest)) = source.split_once("macro_rules! ") {
        let (name, rest) = rest.split_once(" { ").expect("the name of a macro");
        let (parameters, rest) = rest.split_once(" => {").expect("the parameters of a macro");
        let (body, rest) = rest.split_once("}; }").expect("the end of a macro");
        let parameters: Vec<&str> = parameters.trim_matches(['(', ')']).split(", ").collect();
        let call = format!("{name}!(");
        let mut calls = rest.split(&call);
        let mut expanded = format!("{before} {}", calls.next().expect("the source after the macro"));
        for call in calls {
            let (arguments, rest) = call.split_once(");").expect("the end of a call");
            let arguments: Vec<&str> = arguments.trim().split(", ").collect();
            assert_eq!(arguments.len(), parameters.len());
            expanded +=
                &parameters.iter().zip(arguments).fold(body.to_owned(), |body, (parameter, argument)| {
                    let name = parameter.split_once(':').expect("a kind of fragment").0;
                    body.replace(name, argument)
                });
            expanded += rest;
        }
        source = expanded;
    }
    source
}

#[test]
fn functions() {
    let source = exports();
    let exported: BTreeSet<String> = source
        .split("extern \"C\" fn ")
        .skip(1)
        .map(|rest| {
            let signature = rest.split(" {").next().expect("a body");
            let (name, rest) = signature.split_once('(').expect("parameters");
            let (parameters, result) = rest.split_once(')').expect("the end of the parameters");
            let parameters: Vec<String> = parameters
                .split(',')
                .filter(|parameter| !parameter.trim().is_empty())
                .map(declaration)
                .collect();
            let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
            let result = in_c(result.trim().strip_prefix("-> ").expect("a result"));
            let space = if result.ends_with('*') { "" } else { " " };
            format!("{result}{space}{name}({parameters})")
        })
        .collect();
    let attributes = source.matches("#[unsafe(no_mangle)]").count();
    assert_eq!(
        attributes,
        exported.len(),
        "functions that are `extern \"C\"` and not exported, or the reverse"
    );

    let header = words(&header());
    let declared: BTreeSet<String> = header
        .split(';')
        .filter_map(|statement| statement.trim().strip_suffix("SIMDPCT_NOEXCEPT"))
        .map(|statement| {
            // `SIMDPCT_MUST_USE`, and text before it such as a directive, are not part of the declaration.
            statement.rsplit("SIMDPCT_MUST_USE ").next().expect("a declaration").trim().to_owned()
        })
        .collect();
    assert!(!declared.is_empty());
    let not_declared: Vec<_> = exported.difference(&declared).collect();
    let not_exported: Vec<_> = declared.difference(&exported).collect();
    assert!(not_declared.is_empty(), "the header does not declare {not_declared:#?}");
    assert!(not_exported.is_empty(), "the library does not export {not_exported:#?}");
}

/// Returns the value of a C or Rust constant such as `-1`, `(-1)`, `1 << 3` or `(1u << 3)`.
fn value(text: &str) -> i64 {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')').replace("1u", "1");
    match text.split_once("<<") {
        Some((one, by)) => value(one) << value(by),
        None => text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is not a number")),
    }
}

#[test]
fn constants() {
    let of_rust: BTreeMap<String, i64> = ["src/result.rs", "src/options.rs"]
        .iter()
        .flat_map(|file| read(file).lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("pub const ")?.split_once(": ")?;
            let number = rest.split_once("= ")?.1.trim_end_matches(';');
            Some((name.to_owned(), value(number)))
        })
        .collect();
    let of_c: BTreeMap<String, i64> = header()
        .lines()
        .filter_map(|line| line.strip_prefix("#define SIMDPCT_")?.split_once(' '))
        .filter(|(name, _)| !["VERSION", "MUST_USE", "NOEXCEPT"].contains(name))
        .map(|(name, number)| (format!("SIMDPCT_{name}"), value(number)))
        .collect();
    assert!(of_rust.len() >= 16);
    assert_eq!(of_c, of_rust);
}

#[test]
fn structs() {
    let header = words(&header());
    for (file, rust, c) in [
        ("src/result.rs", "ValueResult", "simdpct_result"),
        ("src/result.rs", "BatchResult", "simdpct_batch_result"),
    ] {
        let source = words(&read(file));
        let start = format!("#[repr(C)] #[derive(Clone, Copy)] pub struct {rust} {{ ");
        let (_, rest) = source.split_once(&start).unwrap_or_else(|| panic!("`{rust}`, as `repr(C)`"));
        let fields = rest.split_once('}').expect("the end of the struct").0;
        let fields: Vec<String> =
            fields.split(',').map(str::trim).filter(|field| !field.is_empty()).map(declaration).collect();
        let expected = format!("typedef struct {c} {{ {}; }} {c};", fields.join("; "));
        assert!(header.contains(&expected), "the header does not hold {expected}");
    }
    assert!(header.contains("typedef struct simdpct_slice { const void *data; size_t len; } simdpct_slice;"));
    assert!(words(&read("src/border.rs")).contains("pub struct Slice { data: *const u8, len: usize, }"));
}

#[test]
fn version() {
    let of_manifest = |text: String| {
        let line =
            text.lines().find_map(|line| line.strip_prefix("version = ")).expect("a version").to_owned();
        line.trim_matches('"').to_owned()
    };
    let version = of_manifest(read("Cargo.toml"));
    assert_eq!(version, env!("CARGO_PKG_VERSION"), "the C library has the version of the crate");
    assert!(read("include/simdpct.h").contains(&format!("#define SIMDPCT_VERSION \"{version}\"")));
}

#[test]
fn names_of_sets() {
    let text = read("include/simdpct.h");
    let (_, rest) =
        text.split_once("has the bytes that its specification does not escape:").expect("the list of sets");
    let list = rest.split("* Statuses:").next().expect("the text after the list");
    let listed: Vec<&str> = list.split_whitespace().filter(|word| *word != "*").collect();
    let policies = sets::ALL.iter().filter(|named| named.kind == SetKind::Policy).map(|named| named.name);
    let (listed, policies): (BTreeSet<&str>, BTreeSet<&str>) =
        (listed.into_iter().collect(), policies.collect());
    assert_eq!(listed, policies);
}
