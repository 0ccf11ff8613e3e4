//! Compares the public APIs of simdpct and simdpct-uri with docs/api.txt and docs/api-uri.txt, which have one item a line.
//!
//! ```text
//! cargo run --manifest-path ci/api/Cargo.toml               # fails if lines differ, and prints them
//! cargo run --manifest-path ci/api/Cargo.toml -- --bless    # writes the files
//! cargo run --manifest-path ci/api/Cargo.toml -- --print    # prints the APIs
//! ```
//!
//! The items come from rustdoc's JSON, which needs a nightly toolchain. Without one the exit code is 75.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

/// The exit code that tells a caller that the check could not run.
const NOT_RUN: u8 = 75;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("no checkout")?;
    // Remove the variables that the cargo that runs this program has set: they would make rustup choose its own toolchain again.
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
    for (package, file) in [("simdpct", "docs/api.txt"), ("simdpct-uri", "docs/api-uri.txt")] {
        let status = nightly()
            .args(["rustdoc", "--quiet", "--all-features", "-p", package, "--lib", "--target-dir"])
            .arg(&target)
            .args(["--", "-Zunstable-options", "--output-format", "json", "--cap-lints", "warn"])
            .status()?;
        if !status.success() {
            return Err("rustdoc failed".into());
        }
        let json = format!("doc/{}.json", package.replace('-', "_"));
        let api = public_api::Builder::from_rustdoc_json(target.join(json))
            .sorted(true)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .build()?;
        // This marker of the compiler comes with every derived `PartialEq`, and no program can name it.
        let is_marker = |item: &String| item.contains("core::marker::StructuralPartialEq for ");
        let items = api.items().map(|item| format!("{item}\n"));
        let found: String = items.filter(|item| !is_marker(item)).collect();

        match env::args().nth(1).as_deref() {
            Some("--print") => print!("{found}"),
            Some("--bless") => fs::write(root.join(file), found)?,
            Some(other) => {
                return Err(format!("unknown argument {other}; there are --bless and --print").into());
            }
            None => {
                let known = fs::read_to_string(root.join(file))?;
                let (old, new): (BTreeSet<_>, BTreeSet<_>) =
                    (known.lines().collect(), found.lines().collect());
                old.difference(&new).for_each(|line| println!("- {line}"));
                new.difference(&old).for_each(|line| println!("+ {line}"));
                if known != found {
                    eprintln!("api: the public API differs from {file}; --bless accepts the change");
                    return Ok(ExitCode::FAILURE);
                }
                println!("the public API is the one in {file}: {} items", new.len());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
