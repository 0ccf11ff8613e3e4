//! Converts one value, independently of the input that contains it.
//!
//! Decoding consists of these steps, most of which are optional:
//!
//! 1. escapes: decodes `%XX`, and with `--percent-u` also the `%uXXXX` of the first layer; `--times` and
//!    `--until-stable` decode the further layers of `%XX`;
//! 2. `--charset`: converts the bytes to UTF-8;
//! 3. `--printable`: escapes everything that controls a terminal.
//!
//! The bytes of `--keep`, and line ends in line mode, stay escaped in each step. Encoding consists of two steps:
//! `--charset`, then escapes. Whole URLs are converted by [`crate::url`].

mod decode;
mod encode;
mod lines;
mod normalize;
pub mod options;
mod origins;
mod percent_u;
pub mod policy;
mod printable;
pub mod report;
pub mod rewrite;
pub mod stats;
#[cfg(test)]
mod tests;
mod within;
pub mod work;
