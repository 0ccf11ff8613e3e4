//! Rows of input, and ways to call simdpct and its rivals, for all benchmarks.
//!
//! Rows are URLs with the statistics of real lists, and text of other kinds. The same seed gives the same bytes on every
//! machine.
//!
//! A small buffer that is read again and again flatters code with branches, because the branch predictor learns it by heart.
//! Each row therefore holds at least 20,000 distinct strings or 512 KiB of distinct text, as far as its kind of text
//! allows. The strings are in memory in the order in which they are read.

#![deny(unsafe_code)]

mod contender;
mod ours;
pub mod place;
mod random;
pub mod rivals;
mod rows;
mod urls;
mod verb;

pub use contender::{Answer, Buffers, Contender, Needs, Role};
pub use ours::{expected, ours};
pub use random::Random;
pub use rows::{BAND, DISTINCT, Row, Spec, Unit, band, fixed_length, read_urls, specs};
pub use urls::{Statistics, Urls};
pub use verb::{Shape, Verb};

/// The seed of all generated input.
pub const SEED: u64 = 0x51_3D_9C_75;
