//! Gives the shared library its soname.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let family = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    // cargo-c sets its own.
    if matches!(family.as_str(), "linux" | "freebsd" | "netbsd" | "openbsd" | "dragonfly" | "android")
        && std::env::var_os("CARGO_FEATURE_CAPI").is_none()
    {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsimdpct.so.0");
    }
}
