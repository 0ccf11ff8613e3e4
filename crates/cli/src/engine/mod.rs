//! Runs verbs over files: cuts the input into chunks, processes them in several threads, and writes the results in order.
//!
//! - [`plan`] turns the user's request into a job, and rejects options that contradict each other.
//! - `jobs` processes single chunks: `blocks` ignores records, `values` converts the selected values of each record, and
//!   `checks` lists findings. `parquet` rewrites columns of Parquet files, which have no chunks.
//! - `pump` reads chunks, passes them to a job in one thread or several, and keeps their order.
//! - `sink` writes the results in the order of the chunks: output, rejected values, findings and previews.

mod jobs;
pub mod plan;
mod pump;
mod sink;
