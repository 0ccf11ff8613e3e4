//! What `pct audit` counts.

use crate::scan::kind::Kind;

/// The first line that a bucket of the number of escapes of a line takes; the next begins where it ends.
pub const BUCKETS: [u64; 9] = [0, 1, 2, 3, 5, 9, 17, 33, 65];

/// A line that holds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub file: String,
    pub line: u64,
    /// The number of bytes of the file before what was found.
    pub offset: u64,
    /// What stands around it in the line.
    pub text: Vec<u8>,
}

/// What was counted.
#[derive(Clone, Debug)]
pub struct Summary {
    pub files: u64,
    pub bytes: u64,
    pub lines: u64,
    pub longest: u64,
    pub escapes: u64,
    /// Lines by their number of escapes, as [`BUCKETS`] says.
    pub buckets: [u64; BUCKETS.len()],
    /// How often each byte is escaped.
    pub byte_counts: [u64; 256],
    /// How many lines hold each kind, and how often it was found in all.
    pub lines_of: [u64; Kind::ALL.len()],
    pub found_of: [u64; Kind::ALL.len()],
    pub examples: [Vec<Example>; Kind::ALL.len()],
}
