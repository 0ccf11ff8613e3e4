//! Summarises the escapes in files: [`audit`] counts and keeps examples, [`page`] formats the report.

pub mod audit;
pub mod chain;
mod page;
pub mod readings;
mod summary;
