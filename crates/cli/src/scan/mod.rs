//! Finds malformed and suspicious escapes: the kinds of findings, the scanner, and the list of findings for `pct
//! check`.

pub mod finding;
pub mod kind;
pub mod listing;
pub mod scanner;
pub mod schemes;
