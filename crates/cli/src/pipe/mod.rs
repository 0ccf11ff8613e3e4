//! The work of encode, decode and normalize on all of the input: where values are, what becomes of bad ones, and
//! how the work is spread over cores.
//!
//! [`feed`] cuts the input into chunks, [`pump`] passes them to a job and its output on, in order. There are two
//! jobs: [`blocks`] works on bytes wherever they can be cut, [`records`] looks at values one by one, with
//! [`fields`], [`table`] and [`jsonl`] to find them and [`treat`] to do what is to be done.

pub mod blocks;
mod edit;
mod feed;
pub mod fields;
pub mod jsonl;
mod pump;
pub mod reason;
pub mod records;
mod rejects;
mod report;
mod stats;
mod table;
pub mod treat;

use std::num::NonZeroUsize;

/// The threads to use.
fn threads(jobs: Option<NonZeroUsize>) -> NonZeroUsize {
    jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}
