//! The counts of `pct audit`.

use crate::scan::kind::Kind;

/// The smallest number of escapes of each bucket of lines; a bucket ends before the next one begins.
pub const BUCKETS: [u64; 9] = [0, 1, 2, 3, 5, 9, 17, 33, 65];

/// A line with a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub file: String,
    pub line: u64,
    /// The offset of the finding in the file.
    pub offset: u64,
    /// The text around the finding.
    pub text: Vec<u8>,
}

/// The counts and examples of all files.
#[derive(Clone, Debug)]
pub struct Summary {
    pub files: u64,
    pub bytes: u64,
    pub lines: u64,
    pub longest: u64,
    pub escapes: u64,
    /// The number of lines in each bucket of [`BUCKETS`].
    pub buckets: [u64; BUCKETS.len()],
    /// The number of escapes of each byte.
    pub byte_counts: [u64; 256],
    /// For each kind, the number of lines with findings of it, and the number of findings.
    pub lines_of: [u64; Kind::ALL.len()],
    pub found_of: [u64; Kind::ALL.len()],
    pub examples: [Vec<Example>; Kind::ALL.len()],
}
