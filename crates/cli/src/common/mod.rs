//! Defines the types that all modules share: outcomes and failures, reasons for rejecting a value, record separators,
//! charsets, and the formatting of file names in messages.

pub mod charset;
pub mod error;
pub mod escape;
pub mod fault;
pub mod format;
pub mod logs;
pub mod reason;
pub mod records;
pub mod shown;
pub mod target;
pub mod utf8;
