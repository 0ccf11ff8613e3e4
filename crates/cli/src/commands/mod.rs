//! Runs the subcommands: parses the arguments and starts the engine.

mod generate;
mod info;
mod profiles;
mod sets;
mod tables;

use std::env;
use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, Parser};

use crate::args::{Cli, Command};
use crate::check::audit::audit;
use crate::check::{chain, readings, top};
use crate::common::error::{Failure, Outcome};
use crate::io::output;
use crate::plan::Plan;

/// Runs the command that the arguments of the process ask for.
pub fn run() -> Result<Outcome, Failure> {
    match Cli::try_parse_from(spelt(env::args_os().collect())) {
        Ok(cli) => dispatch(cli.command),
        Err(message) if is_verbose_version(&message) => {
            info::check_forced_tier().and_then(|()| info::describe())
        }
        Err(message) => print(&message),
    }
}

/// Returns `arguments` with `-i.bak` rewritten as `--in-place=.bak`, because clap accepts an optional value only
/// after a `=`.
fn spelt(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let suffix = |argument: &OsString| {
        let suffix = argument.to_str()?.strip_prefix("-i")?;
        (!suffix.is_empty() && !suffix.starts_with('=')).then(|| format!("--in-place={suffix}"))
    };
    let Some(first) = arguments.iter().position(|argument| suffix(argument).is_some()) else {
        return arguments;
    };
    let mut command = Cli::command();
    command.build();
    let verb = arguments.iter().skip(1).find_map(|argument| command.find_subcommand(argument));
    let Some(verb) = verb.filter(|verb| verb.get_arguments().any(|option| option.get_short() == Some('i')))
    else {
        return arguments;
    };
    for index in first..arguments.len() {
        if arguments[index - 1] == "--" || arguments[..index].iter().any(|argument| argument == "--") {
            break;
        }
        if let Some(new) = suffix(&arguments[index])
            && !takes_next(verb, &arguments[index - 1])
        {
            arguments[index] = new.into();
        }
    }
    arguments
}

/// Reports whether `argument` is an option whose value is the next argument.
fn takes_next(verb: &clap::Command, argument: &OsStr) -> bool {
    let Some(text) = argument.to_str() else { return false };
    let takes = |option: &Arg| option.get_action().takes_values() && !option.is_require_equals_set();
    let mut options = verb.get_arguments();
    match (text.strip_prefix("--"), text.strip_prefix('-')) {
        (Some(long), _) => options.any(|option| option.get_long() == Some(long) && takes(option)),
        // In a group of short options, the first that takes a value uses the rest of the group, or the next argument.
        (None, Some(shorts)) => {
            let of = |short| verb.get_arguments().find(|option| option.get_short() == Some(short));
            let first = shorts.char_indices().find(|&(_, short)| of(short).is_some_and(takes));
            first.is_some_and(|(at, short)| at + short.len_utf8() == shorts.len())
        }
        (None, None) => false,
    }
}

fn dispatch(command: Command) -> Result<Outcome, Failure> {
    info::check_forced_tier()?;
    match command {
        Command::Encode(args) => Plan::run(args.request().map_err(Failure::Usage)?),
        Command::Decode(args) => Plan::run(args.request().map_err(Failure::Usage)?),
        Command::Normalize(args) if args.list => profiles::list(),
        Command::Normalize(args) => Plan::run(args.request()),
        Command::Split(args) => Plan::run(args.request()),
        Command::Get(args) => Plan::run(args.request().map_err(Failure::Usage)?),
        Command::Join(args) => Plan::run(args.request().map_err(Failure::Usage)?),
        Command::Resolve(args) => Plan::run(args.request().map_err(Failure::Usage)?),
        Command::Iri(args) => Plan::run(args.request()),
        Command::Uri(args) => Plan::run(args.request()),
        Command::Form(args) => Plan::run(args.request().map_err(Failure::Usage)?),
        Command::Top(args) => {
            let style = args.format;
            let (top, read) = Plan::top(args.request().map_err(Failure::Usage)?)?;
            top::print(&top.rows, top.total, top.distinct, style).and(read)
        }
        Command::Dedup(args) => Plan::dedup(args.request()),
        Command::Check(args) => Plan::check(&args.request().map_err(Failure::Usage)?),
        Command::Audit(args) => match args.request().map_err(Failure::Usage)? {
            (request, None) => audit(&request),
            (request, Some(chain)) => chain::audit(&request, &chain),
        },
        Command::Route(args) if args.list => readings::list(&args.request()),
        Command::Route(args) => readings::read(&args.request()),
        Command::Sets(args) if args.table => tables::write(args.format),
        Command::Sets(args) if args.schemes => tables::write_schemes(args.format),
        Command::Sets(args) => sets::list(&args),
        Command::Info => info::describe(),
        Command::Generate(args) => generate::generate(&args),
    }
}

/// Reports whether `--version` was given together with `--verbose`.
fn is_verbose_version(message: &clap::Error) -> bool {
    message.kind() == ErrorKind::DisplayVersion && env::args_os().any(|argument| argument == "--verbose")
}

/// Prints help, the version, or the usage error.
fn print(message: &clap::Error) -> Result<Outcome, Failure> {
    if message.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // If stderr is closed, nobody reads the help, so the error is ignored.
        let _ = message.print();
        return Err(Failure::Reported { code: 2 });
    }
    if message.kind() == ErrorKind::MissingSubcommand {
        return Err(Failure::Usage(
            "--verbose only adds to --version, as in `pct --version --verbose`; `pct help` lists the commands".to_owned(),
        ));
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

/// Returns the message for an unknown subcommand, with the most similar name.
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
