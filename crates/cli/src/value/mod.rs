//! What is done to one value, whichever input it comes from.
//!
//! Decoding goes through these steps, most of which are off unless asked for:
//!
//! 1. `--nginx`: `\xHH`, as log files write it, is undone, once;
//! 2. escapes are decoded: `%XX`, and with `--percent-u` also `%uXXXX` of the first layer; `--times` and
//!    `--until-stable` go on with the `%XX` that come to light;
//! 3. `--charset`: the bytes become UTF-8;
//! 4. `--printable`: what should not reach a terminal is escaped again.
//!
//! Bytes that are kept (`--keep`, and line ends in line mode) stay escaped in each of them. Encoding is two steps:
//! `--charset`, then escapes. Work on whole URLs is that of [`crate::url`].

pub mod cut;
mod decode;
mod encode;
pub mod handling;
mod lines;
mod nginx;
pub mod options;
mod origins;
mod percent_u;
pub mod policy;
mod printable;
pub mod report;
mod rewrite;
pub mod stats;
pub mod stream;
#[cfg(test)]
mod tests;
mod within;
pub mod work;
