//! What can be suspicious in escapes: one list of kinds, one scanner, and two reports of what it finds.
//!
//! [`check`] lists every finding, [`audit`] counts them and shows examples ([`page`] lays that out).

pub mod audit;
pub mod check;
mod findings;
pub mod kind;
mod page;
mod scan;
mod summary;
