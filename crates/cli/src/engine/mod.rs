//! Runs verbs over files: cuts the input into chunks, works on these in several threads, and writes the results in order.
//!
//! - [`plan`]: what the user asked for. It rejects options that contradict each other and makes a job of the rest.
//! - `jobs`: what is done to one chunk. `blocks` ignores records, `values` works on the values of each record, `checks`
//!   lists findings. `parquet` rewrites columns of Parquet files, which have no chunks.
//! - `pump`: reads chunks, gives them to a job, in one thread or several, and keeps their order.
//! - `sink`: takes the results in that order: output, rejected values, findings, previews.

mod jobs;
pub mod plan;
mod pump;
mod sink;
