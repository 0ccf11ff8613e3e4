//! Passes the version of the compiler to the program, which records it.

use std::{env, process::Command};

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs");
    println!("cargo::rustc-env=COMPARE_RUSTC={}", String::from_utf8_lossy(&version.stdout).trim());
    println!("cargo::rerun-if-env-changed=RUSTC");
    println!("cargo::rerun-if-changed=build.rs");
}
