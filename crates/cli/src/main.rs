//! The command `pct`: percent-encodes, decodes, normalizes and checks files of URLs.
//!
//! [`args`] says what a person can ask for. [`transcode`], [`check`] and [`audit`] do it: [`pipe`] finds values and
//! spreads the work, [`work`] is what is done to one. [`input`] and [`output`] are the only places that touch files,
//! [`files`] brings the two together, and [`error`] is what can go wrong and the exit code of it.

mod args;
mod audit;
mod bars;
mod buffer;
mod check;
mod compression;
mod cpu;
mod decompress;
mod error;
mod files;
mod findings;
mod generate;
mod input;
mod output;
mod pipe;
mod progress;
mod record;
mod sets;
mod transcode;
mod unfinished;
mod utf8;
mod work;

use std::env;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::args::{Cli, Command};
use crate::error::{Failure, Outcome};

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Ok(cli) => run(&cli.command),
        Err(message) if is_verbose_version(&message) => {
            cpu::check_forced_tier().and_then(|()| cpu::describe())
        }
        Err(message) => print(&message),
    };
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report().into(),
    }
}

fn run(command: &Command) -> Result<Outcome, Failure> {
    cpu::check_forced_tier()?;
    match command {
        Command::Encode(args) => transcode::encode(args),
        Command::Decode(args) => transcode::decode(args),
        Command::Normalize(args) => transcode::normalize(args),
        Command::Check(args) => check::check(args),
        Command::Audit(args) => audit::audit(args),
        Command::Sets(args) => sets::list(args),
        Command::Cpu => cpu::describe(),
        Command::Generate(args) => generate::generate(args),
    }
}

/// Whether the version is asked for, with `--verbose` before it or behind.
fn is_verbose_version(message: &clap::Error) -> bool {
    message.kind() == ErrorKind::DisplayVersion && env::args_os().any(|argument| argument == "--verbose")
}

/// Prints help, the version, or what is wrong with the arguments.
fn print(message: &clap::Error) -> Result<Outcome, Failure> {
    if message.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // With stderr closed there is nobody to help.
        let _ = message.print();
        return Err(Failure::Reported { code: 2 });
    }
    if message.use_stderr() {
        let text = message.to_string();
        return Err(Failure::Usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()));
    }
    message.print().map_err(|error| Failure::output(output::STDOUT, 0, error))?;
    Ok(Outcome::Clean)
}
