//! The command `pct`: percent-encodes, decodes, normalizes and checks files of URLs.
//!
//! The rooms, from the top; imports go down only, and `tests/layers.rs` of the library holds them to it:
//!
//! - [`commands`]: one function for each subcommand. It turns arguments into plain options and runs them.
//! - [`args`]: what a person can ask for (clap), and nothing else. [`engine`]: files through jobs to outputs, in
//!   chunks, on threads, in order; `engine::plan` checks which options go together.
//! - [`select`]: where values are in a record. [`inspect`]: the report of `audit`.
//! - [`value`]: what is done to one value, by [`url`] if it is a whole URL. [`io`]: files, compression, progress.
//! - [`scan`]: what `check` and `audit` find in values and lines.
//! - [`ground`]: words that all rooms share: errors, reasons, records.

mod args;
mod commands;
mod engine;
mod ground;
mod inspect;
mod io;
mod scan;
mod select;
mod url;
mod value;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run() {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report().into(),
    }
}
