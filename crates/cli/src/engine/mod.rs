//! The work on all of the input: what was asked for, and how it is spread over cores.
//!
//! [`plan`] makes a job of what was asked for. `feed` cuts the input into chunks, `pump` passes them to the job and its
//! output on, in order. There are three jobs: `blocks` works on bytes wherever they can be cut, `values` on the values of each
//! record, which `selection` finds, and `checks` lists what is found in them, as `findings`. What `parquet` does reads and
//! writes columns of Parquet files. `preview` shows what would change.

mod blocks;
pub mod checks;
mod feed;
pub mod findings;
#[cfg(feature = "parquet")]
mod parquet;
pub mod plan;
pub mod preview;
mod pump;
mod rejects;
pub mod selection;
mod streaming;
mod tables;
mod values;
