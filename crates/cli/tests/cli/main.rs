//! The command through its real binary.

mod check;
mod errors;
mod files;
mod info;
#[cfg(target_os = "linux")]
mod memory;
mod naive;
mod options;
mod python;
mod records;
#[cfg(unix)]
mod signals;
mod streams;
mod strict;
mod support;
mod work;
