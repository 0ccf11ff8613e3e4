//! Files: names and lists of them, reading, writing, compression, progress.

mod attributes;
pub mod buffer;
pub mod compression;
mod decompress;
pub mod files;
pub mod input;
mod members;
pub mod names;
pub mod output;
pub mod progress;
mod streams;
mod unfinished;
pub mod version;

/// The number of bytes that are read at once: the capacity of a pipe. Input and output fit in the second-level cache.
pub const BLOCK: usize = 64 * 1024;
