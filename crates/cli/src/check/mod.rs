//! Finds malformed and suspicious escapes, and writes reports of them: [`scanner`] finds, [`listing`] lists for `pct check`, [`audit`]
//! counts, [`page`] formats the counts, and [`top`] those of keys.

pub mod audit;
pub mod chain;
pub mod finding;
pub mod kind;
pub mod listing;
mod page;
pub mod readings;
pub mod scanner;
pub mod schemes;
mod summary;
pub mod top;
