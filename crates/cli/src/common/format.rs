//! Defines the formats of outputs.

/// The format of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    #[default]
    Text,
    Tsv,
    Csv,
    Jsonl,
    Json,
}
