//! Nothing: this package is for its tests (Cargo.toml).
