//! Finds malformed and suspicious escapes, and writes reports of them: [`scanner`] finds, [`listing`] lists for `pct check`, [`audit`]
//! counts, [`chain`] and [`readings`] compare servers, and [`page`] formats counts, for [`top`] as well.

pub mod audit;
pub mod chain;
pub mod kind;
pub mod listing;
pub mod page;
pub mod readings;
pub mod scanner;
pub mod schemes;
pub mod top;
