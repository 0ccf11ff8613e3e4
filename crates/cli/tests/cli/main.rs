//! The command through its real binary.

mod audit;
mod check;
mod compressed;
#[cfg(unix)]
mod docs;
mod errors;
mod files;
mod generated;
mod info;
mod inplace;
#[cfg(target_os = "linux")]
mod memory;
mod naive;
mod options;
#[cfg(target_os = "linux")]
mod progress;
mod python;
mod records;
#[cfg(unix)]
mod signals;
mod streams;
mod strict;
mod support;
