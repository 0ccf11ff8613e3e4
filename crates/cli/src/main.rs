//! The command `pct`.
fn main() {}
