//! Finds and reports malformed and suspicious escapes: [`scanner`] finds them, [`listing`] lists them, and [`audit`]
//! counts them. [`chain`] and [`readings`] compare servers. [`page`] formats the counts of [`audit`] and [`top`].

pub mod audit;
pub mod chain;
pub mod kind;
pub mod listing;
pub mod page;
pub mod readings;
pub mod scanner;
pub mod schemes;
pub mod top;
