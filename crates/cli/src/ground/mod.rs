//! The words that all rooms share: how a run ends, why a value is refused and what is done then, what separates records,
//! how names are shown, and the charsets that text may be in.

pub mod charset;
pub mod error;
pub mod escape;
pub mod fault;
pub mod reason;
pub mod records;
pub mod shown;
pub mod utf8;
