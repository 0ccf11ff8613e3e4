//! The subcommands: arguments become plain options, and are run.

mod cpu;
mod generate;
mod sets;

use std::env;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};
use crate::engine::plan::Plan;
use crate::ground::error::{Failure, Outcome};
use crate::inspect::audit::audit;
use crate::inspect::check::check;
use crate::io::output;

/// Does what the arguments of the process ask for.
pub fn run() -> Result<Outcome, Failure> {
    match Cli::try_parse() {
        Ok(cli) => dispatch(cli.command),
        Err(message) if is_verbose_version(&message) => {
            cpu::check_forced_tier().and_then(|()| cpu::describe())
        }
        Err(message) => print(&message),
    }
}

fn dispatch(command: Command) -> Result<Outcome, Failure> {
    cpu::check_forced_tier()?;
    match command {
        Command::Encode(args) => Plan::run(args.request()),
        Command::Decode(args) => Plan::run(args.request()),
        Command::Normalize(args) => Plan::run(args.request()),
        Command::Check(args) => check(&args.request()),
        Command::Audit(args) => audit(&args.request()),
        Command::Sets(args) => sets::list(&args),
        Command::Cpu => cpu::describe(),
        Command::Generate(args) => generate::generate(&args),
    }
}

/// Whether the version is asked for, with `--verbose` before or after it.
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
    if let Some(text) = no_such_verb(message) {
        return Err(Failure::Usage(text));
    }
    if message.use_stderr() {
        let text = message.to_string();
        return Err(Failure::Usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()));
    }
    message.print().map_err(|error| Failure::output(output::STDOUT, 0, error))?;
    Ok(Outcome::Clean)
}

/// What to tell who asks for a subcommand that there is not.
fn no_such_verb(message: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(name)) = message.get(ContextKind::InvalidSubcommand) else { return None };
    let cli = Cli::command();
    let verbs = cli.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name);
    let mut ranked: Vec<_> = verbs.map(|verb| (strsim::damerau_levenshtein(name, verb), verb)).collect();
    ranked.sort_unstable();
    Some(match ranked[..] {
        [(distance, verb), ..] if distance <= 2 => {
            format!("unknown command '{name}'; did you mean '{verb}'?")
        }
        _ => format!("unknown command '{name}'; `pct help` lists all"),
    })
}
