//! Defines the result of `pct audit`: counts and examples.

use crate::check::kind::Kind;

/// The smallest number of escapes in a line of each bucket. For example, lines with 3 or 4 escapes are in the bucket
/// that begins at 3.
pub const BUCKETS: [u64; 9] = [0, 1, 2, 3, 5, 9, 17, 33, 65];

/// A line with a finding, as an example for the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub file: String,
    pub line: u64,
    /// The offset of the finding in the file.
    pub offset: u64,
    /// The bytes of the line around the finding.
    pub text: Vec<u8>,
}

/// The counts and examples of all files.
#[derive(Clone, Debug)]
pub struct Summary {
    pub files: u64,
    pub bytes: u64,
    pub lines: u64,
    /// The length of the longest line, in bytes.
    pub longest: u64,
    pub escapes: u64,
    /// The number of lines in each bucket of [`BUCKETS`].
    pub buckets: [u64; BUCKETS.len()],
    /// For each byte value, the number of escapes of that byte.
    pub byte_counts: [u64; 256],
    /// For each kind of finding, the number of lines that contain it.
    pub lines_of: [u64; Kind::ALL.len()],
    /// For each kind of finding, the number of findings.
    pub found_of: [u64; Kind::ALL.len()],
    /// For each kind of finding, the first examples.
    pub examples: [Vec<Example>; Kind::ALL.len()],
}
