//! The work of encode, decode and normalize on all of the input: what was asked for, and how it is spread over cores.
//!
//! [`plan`] makes a job of what was asked for. `feed` cuts the input into chunks, `pump` passes them to the job and its
//! output on, in order. There are two jobs: `blocks` works on bytes wherever they can be cut, `values` looks at the
//! values of each record, which `selection` finds. A third, `parquet`, reads and writes columns of Parquet files. `preview` shows what would change.

mod blocks;
mod feed;
#[cfg(feature = "parquet")]
mod parquet;
pub mod plan;
pub mod preview;
mod pump;
mod rejects;
pub mod selection;
mod streaming;
mod values;
