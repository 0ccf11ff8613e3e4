//! What can be suspicious in escapes: one list of kinds, one scanner, and what `pct check` says of what it finds.

pub mod finding;
pub mod kind;
pub mod listing;
pub mod scanner;
