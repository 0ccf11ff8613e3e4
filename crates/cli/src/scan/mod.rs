//! Finds suspicious escapes: the kinds of findings, the scanner, and the list for `pct check`.

pub mod finding;
pub mod kind;
pub mod listing;
pub mod scanner;
