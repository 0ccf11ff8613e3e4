//! Tests the command by running its binary.

mod audit;
mod between_files;
mod check;
mod check_values;
mod combined;
mod compressed;
#[cfg(unix)]
mod docs;
mod edit;
mod errors;
#[cfg(unix)]
mod examples;
mod explain;
mod fields;
mod files;
mod generated;
mod html;
mod info;
mod inplace;
mod jobs;
mod jsonl;
mod keyed;
mod logs;
#[cfg(target_os = "linux")]
mod memory;
mod naive;
#[cfg(unix)]
mod named_streams;
mod options;
mod policies;
#[cfg(unix)]
mod preview;
#[cfg(target_os = "linux")]
mod progress;
mod python;
mod readings;
mod records;
mod reported;
mod seams;
#[cfg(unix)]
mod signals;
mod streams;
mod strict;
mod structure;
mod support;
mod sweeps;
mod tables;
mod targets;
mod texts;
mod unreadable;
mod uri;
mod vocabulary;
mod work;
