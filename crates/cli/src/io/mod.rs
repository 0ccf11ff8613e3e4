//! Handles files: names, lists of names, reading, writing, compression and progress.

pub mod buffer;
pub mod compression;
mod decompress;
pub mod files;
pub mod input;
pub mod names;
pub mod output;
pub mod progress;
pub mod replacement;
pub mod streams;
pub mod temporary;

/// The number of bytes that are read at once, which is the capacity of a pipe on Linux. Input and output of this size
/// fit in the second-level cache.
pub const BLOCK: usize = 64 * 1024;
