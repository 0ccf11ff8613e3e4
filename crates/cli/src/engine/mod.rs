//! The work of encode, decode and normalize on all of the input: what was asked for, and how it is spread over cores.
//!
//! [`plan`] makes a job of what was asked for. `feed` cuts the input into chunks, `pump` passes them to the job and its
//! output on, in order. There are two jobs: `blocks` works on bytes wherever they can be cut, `values` looks at the
//! values of each record.

mod blocks;
mod feed;
pub mod plan;
mod pump;
mod rejects;
mod streaming;
mod values;
