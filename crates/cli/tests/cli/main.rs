//! The command through its real binary.

mod audit;
mod check;
mod compressed;
mod errors;
mod files;
mod generated;
mod info;
mod inplace;
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
