//! Writes reports: [`audit`] counts escapes and keeps examples, [`page`] formats them, and [`top`] formats counts of keys.

pub mod audit;
pub mod chain;
mod page;
pub mod readings;
mod summary;
pub mod top;
