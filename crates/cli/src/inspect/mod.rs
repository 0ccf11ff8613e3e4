//! Summarises the escapes in files: [`audit`] counts and keeps examples, [`page`] formats the report.

pub mod audit;
mod page;
mod summary;
