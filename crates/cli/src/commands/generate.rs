//! `pct generate`: writes the manual pages and shell completions.

use std::convert::identity;
use std::path::Path;
use std::{fs, io};

use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory};
use clap_complete::{Shell, generate as complete};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args::{Cli, Generate, Generated};
use crate::common::error::{Failure, Outcome};
use crate::common::shown::shown;
use crate::io::output::{self, STDOUT};

/// Runs `pct generate`.
pub fn generate(args: &Generate) -> Result<Outcome, Failure> {
    let command = Cli::command();
    let mut text = Vec::new();
    match (args.what, &args.directory) {
        (Generated::Man, Some(directory)) => {
            pages(command, directory).map_err(|error| Failure::open(shown(directory), error))?;
            return Ok(Outcome::Clean);
        }
        (_, Some(_)) => return Err(Failure::Usage("--directory applies only to manual pages".to_owned())),
        (Generated::Man, None) => {
            page(command.disable_help_subcommand(true), &mut text)
                .map_err(|error| Failure::output(STDOUT, 0, error))?;
        }
        (Generated::Bash, None) => complete(Shell::Bash, &mut listed(command), "pct", &mut text),
        (Generated::Zsh, None) => complete(Shell::Zsh, &mut listed(command), "pct", &mut text),
        (Generated::Fish, None) => {
            complete(Shell::Fish, &mut listed(command), "pct", &mut text);
            text = quoted_for_fish(&String::from_utf8_lossy(&text)).into_bytes();
        }
    }
    output::print(text)
}

/// Returns `command` with the options that the help of each subcommand lists. `clap_complete` would offer the hidden ones, too.
fn listed(command: Command) -> Command {
    command.mut_subcommands(|verb| {
        let mut built = verb.clone();
        built.build();
        let is_listed = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help";
        verb.defer(identity).args(built.get_arguments().filter(is_listed))
    })
}

/// Returns `script` with each backslash in the help of a value escaped once more. `clap_complete` writes a list of values
/// in double quotes, `-a "name\t'help'..."`, and escapes backslashes only for the inner quotes.
fn quoted_for_fish(script: &str) -> String {
    script
        .split_inclusive('\n')
        .map(|line| match line.split_once("\\t'") {
            Some((name, help)) => format!("{name}\\t'{}", help.replace(r"\\", r"\\\\")),
            None => line.to_owned(),
        })
        .collect()
}

/// Writes one manual page for the command itself and one for each visible subcommand.
fn pages(command: Command, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    for shown in command.get_subcommands().filter(|verb| !verb.is_hide_set()).chain([&command]) {
        let mut text = Vec::new();
        page(shown.clone(), &mut text)?;
        fs::write(directory.join(Man::new(shown.clone()).get_filename()), text)?;
    }
    Ok(())
}

/// Writes one manual page. The help text after the options becomes separate sections, with the examples as literal
/// lines.
fn page(command: Command, text: &mut Vec<u8>) -> io::Result<()> {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let command = command.after_help(Resettable::Reset).after_long_help(Resettable::Reset);
    // Help refers to `pct sets` for a long list of values; a manual page prints the list.
    let command = command.mut_args(|arg| arg.hide_possible_values(false));
    Man::new(command).render(text)?;
    let mut roff = Roff::new();
    let mut is_filled = true;
    for line in after.iter().flat_map(|after| after.lines()) {
        let is_example = line.starts_with(' ');
        if let Some(heading) = line.strip_suffix(':').filter(|_| !is_example) {
            roff.control("SH", [heading.to_uppercase().as_str()]);
            continue;
        }
        if is_filled == is_example {
            roff.control(if is_example { "nf" } else { "fi" }, []);
            is_filled = !is_example;
        }
        if line.is_empty() {
            roff.control("PP", []);
        } else {
            roff.text([roman(line.trim_start())]);
        }
    }
    if !is_filled {
        roff.control("fi", []);
    }
    roff.to_writer(text)
}
