//! Parses the arguments, and calls the function of the subcommand.

mod explain;
mod generate;
mod info;
mod tables;

use std::env;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::args::{self, Args, Cli, Command};
use crate::check::{audit, chain, readings};
use crate::common::error::{Failure, Outcome};
use crate::convert::Conversion;
use crate::io::output;
use crate::plan;

/// Runs the command that the arguments of the process name.
pub fn run() -> Result<Outcome, Failure> {
    match Cli::try_parse_from(spelt(env::args_os().collect())) {
        Ok(cli) => dispatch(cli.command),
        Err(message) if is_verbose_version(&message) => {
            info::check_forced_tier().and_then(|()| info::describe())
        }
        Err(message) => print(&message),
    }
}

/// Returns `arguments` with `-i.bak` rewritten as `--in-place=.bak`, because clap accepts an optional value only after
/// a `=`. Values of other options, and names of files after `--`, may begin with `-i` and are not rewritten.
fn spelt(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    for index in 1..end {
        if let Some(suffix) = arguments[index].to_str().and_then(|argument| argument.strip_prefix("-i"))
            && !(suffix.is_empty() || suffix.starts_with('='))
            && !takes_hyphens(&arguments[index - 1].to_string_lossy())
        {
            arguments[index] = format!("--in-place={suffix}").into();
        }
    }
    arguments
}

/// Reports whether the value of `option`, which may be a group such as `-0e`, may begin with a hyphen.
fn takes_hyphens(option: &str) -> bool {
    let is_group = option.starts_with('-') && !option.starts_with("--");
    let mut cli = Cli::command();
    cli.build();
    cli.get_subcommands().flat_map(clap::Command::get_arguments).any(|argument| {
        let is_short = argument.get_short().is_some_and(|short| is_group && option.ends_with(short));
        let is_long = argument.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long));
        argument.is_allow_hyphen_values_set() && (is_short || is_long)
    })
}

fn dispatch(command: Command) -> Result<Outcome, Failure> {
    info::check_forced_tier()?;
    let show = |args: &Args, conversion: Result<Conversion, String>, shows_controls| {
        plan::convert(args, &conversion.map_err(Failure::Usage)?, shows_controls)
    };
    let convert = |args: &Args, conversion| show(args, conversion, false);
    match command {
        Command::Encode(encode) => {
            let conversion = encode.conversion();
            convert(&encode.args(), conversion)
        }
        Command::Decode(decode) => show(&decode.args, decode.conversion(), decode.controls.show_controls),
        Command::Normalize(normalize) if normalize.list => tables::write_profiles(),
        Command::Normalize(normalize) => convert(&normalize.args, normalize.conversion()),
        Command::Split(split) => show(&split.args, split.conversion(), split.controls.show_controls),
        Command::Get(get) => show(&get.args, get.conversion(), get.controls.show_controls),
        Command::Join(mut join) => {
            let conversion = join.conversion();
            convert(&join.args, conversion)
        }
        Command::Edit(edit) => convert(&edit.args, edit.conversion()),
        Command::Resolve(resolve) => convert(&resolve.args, resolve.conversion()),
        Command::Iri(iri) => convert(&iri.args, iri.conversion()),
        Command::Uri(uri) => convert(&uri.args, uri.conversion()),
        Command::Form(form) => show(&form.args, form.conversion(), form.controls.show_controls),
        Command::Top(top) => plan::top(top),
        Command::Dedup(dedup) => plan::dedup(dedup),
        Command::Check(check) => plan::check(check),
        Command::Audit(audit) => match audit.chain_request().map_err(Failure::Usage)? {
            None => audit::audit(&audit.request()),
            Some(chain) => chain::audit(&audit.request(), &chain),
        },
        Command::Route(route) if route.list => readings::list(&route.request().map_err(Failure::Usage)?),
        Command::Route(route) => readings::read(&route.request().map_err(Failure::Usage)?),
        Command::Explain(explain) => explain::explain(explain),
        Command::Sets(sets) if sets.table => tables::write(sets.format),
        Command::Sets(sets) if sets.schemes => tables::write_schemes(sets.format),
        Command::Sets(sets) => tables::write_sets(&sets),
        Command::Info => info::describe(),
        Command::Generate(generate) => generate::generate(&generate),
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
    if let Some(text) = no_such_verb(message).or_else(|| no_such_option(message)) {
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
    let is_start = |verb: &str| name.len() > 1 && verb.starts_with(name);
    let distance = |verb: &str| if is_start(verb) { 0 } else { strsim::damerau_levenshtein(name, verb) };
    let (distance, verb) = verbs.map(|verb| (distance(verb), verb)).min()?;
    Some(match args::hint(name) {
        Some(hint) => format!("unknown command '{name}'; {hint}"),
        None if distance <= 2.min(name.len() / 2) => {
            format!("unknown command '{name}'; did you mean '{verb}'?")
        }
        None => format!("unknown command '{name}'; `pct help` lists all"),
    })
}

/// Returns the message for an option that has another name here, or for the name of a log format as the format of an output.
fn no_such_option(message: &clap::Error) -> Option<String> {
    let text = |kind| match message.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg)?;
    match message.kind() {
        ErrorKind::UnknownArgument => {
            args::hint(option).map(|hint| format!("there is no option '{option}' here; {hint}"))
        }
        ErrorKind::InvalidValue if option.starts_with("--format") => {
            let value = text(ContextKind::InvalidValue)?;
            let is_log = args::is_log(value);
            is_log.then(|| {
                format!("--format names the format of the output; --log {value} reads the lines of a log")
            })
        }
        _ => None,
    }
}
