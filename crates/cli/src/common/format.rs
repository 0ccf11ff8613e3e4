//! Defines the formats of outputs.

/// The format of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    Text,
    Tsv,
    Csv,
    Jsonl,
    Json,
}
