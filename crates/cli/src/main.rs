//! The command `pct`: percent-encodes, decodes, normalizes and checks files of URLs.
//!
//! These are the modules, from the top layer down. A module imports only from layers below its own; the test
//! `tests/layers.rs` of the library checks this.
//!
//! - [`commands`] has one function for each subcommand. It turns the arguments into plain options and runs them.
//! - [`args`] only defines the command-line arguments (clap). [`plan`] rejects options that contradict each other.
//! - [`run`] passes files through jobs to outputs: in chunks, on threads, in order. [`mod@print`] writes the results.
//! - [`select`] finds the values in a record.
//! - [`convert`] converts one value, with [`url`] if it is a whole URL. [`io`] handles files, compression and progress.
//! - [`check`] finds malformed and suspicious bytes in values and lines for `check` and `audit`, and reports them.
//! - [`common`] defines types that all modules share, such as errors, reasons and record separators.

mod args;
mod check;
mod commands;
mod common;
mod convert;
mod io;
mod plan;
mod print;
mod run;
mod select;
mod url;

use std::process::ExitCode;

use common::error::Outcome;

fn main() -> ExitCode {
    match commands::run() {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) => failure.report().into(),
    }
}
