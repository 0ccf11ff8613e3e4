//! The command `pct`: percent-encodes, decodes, normalizes and checks files of URLs.
//!
//! These are the modules, from the top layer down. A module imports only from layers below its own; the test
//! `tests/layers.rs` of the library checks this.
//!
//! - [`commands`] has one function for each subcommand. It turns the arguments into plain options and runs them.
//! - [`args`] defines the command-line arguments (clap), and nothing else. [`engine`] passes files through jobs to
//!   outputs: in chunks, on threads, in order. `engine::plan` rejects options that contradict each other.
//! - [`select`] finds the values in a record. [`inspect`] writes the report of `audit`.
//! - [`value`] converts one value, with [`url`] if it is a whole URL. [`io`] handles files, compression and progress.
//! - [`scan`] finds malformed and suspicious bytes in values and lines, for `check` and `audit`.
//! - [`ground`] defines types that all modules share, such as errors, reasons and record separators.

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
