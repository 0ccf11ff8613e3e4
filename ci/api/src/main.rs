//! Compares the public API of simdpct, one item a line, with docs/api.txt.
//!
//! ```text
//! cargo run --manifest-path ci/api/Cargo.toml               # fails, and prints the lines that differ
//! cargo run --manifest-path ci/api/Cargo.toml -- --bless    # writes the file anew
//! cargo run --manifest-path ci/api/Cargo.toml -- --print
//! ```
//!
//! The listing comes from rustdoc's JSON, which needs a nightly toolchain: without one the exit code is 75.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

/// What tells a caller that this could not run.
const NOT_RUN: u8 = 75;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("no checkout")?;
    let file = root.join("docs/api.txt");
    // Another toolchain's cargo names itself to its children, and rustup would obey.
    let nightly = || {
        let mut cargo = Command::new("cargo");
        cargo.arg("+nightly").env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").current_dir(root);
        cargo
    };
    if !nightly().arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("api: not run: it needs a nightly toolchain, and there is none");
        return Ok(ExitCode::from(NOT_RUN));
    }
    let target = root.join("target/api");
    let status = nightly()
        .args(["rustdoc", "--quiet", "-p", "simdpct", "--lib", "--target-dir"])
        .arg(&target)
        .args(["--", "-Zunstable-options", "--output-format", "json", "--cap-lints", "warn"])
        .status()?;
    if !status.success() {
        return Err("rustdoc failed".into());
    }
    let api = public_api::Builder::from_rustdoc_json(target.join("doc/simdpct.json"))
        .sorted(true)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()?;
    let found: String = api.items().map(|item| format!("{item}\n")).collect();

    match env::args().nth(1).as_deref() {
        Some("--print") => print!("{found}"),
        Some("--bless") => fs::write(&file, found)?,
        Some(other) => return Err(format!("unknown argument {other}; there are --bless and --print").into()),
        None => {
            let known = fs::read_to_string(&file)?;
            let (old, new): (BTreeSet<_>, BTreeSet<_>) = (known.lines().collect(), found.lines().collect());
            old.difference(&new).for_each(|line| println!("- {line}"));
            new.difference(&old).for_each(|line| println!("+ {line}"));
            if known != found {
                eprintln!("api: the public API is not that of docs/api.txt; --bless if that is meant");
                return Ok(ExitCode::FAILURE);
            }
            println!("the public API is that of docs/api.txt: {} items", new.len());
        }
    }
    Ok(ExitCode::SUCCESS)
}
