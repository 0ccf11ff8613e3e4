//! The manual pages and shell completions.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::{Shell, generate as complete};
use clap_mangen::Man;

use crate::args::{Cli, Generate, Generated};
use crate::error::{Failure, Outcome};
use crate::output::{Output, STDOUT};

/// `pct generate`.
pub fn generate(args: &Generate) -> Result<Outcome, Failure> {
    let mut command = Cli::command();
    let mut text = Vec::new();
    match (args.what, &args.directory) {
        (Generated::Man, Some(directory)) => {
            pages(command, directory).map_err(|error| Failure::open(directory.display(), error))?;
            return Ok(Outcome::Clean);
        }
        (_, Some(_)) => return Err(Failure::Usage("--directory is for manual pages".to_owned())),
        (Generated::Man, None) => {
            Man::new(command.disable_help_subcommand(true))
                .render(&mut text)
                .map_err(|error| Failure::output(STDOUT, 0, error))?;
        }
        (Generated::Bash, None) => complete(Shell::Bash, &mut command, "pct", &mut text),
        (Generated::Zsh, None) => complete(Shell::Zsh, &mut command, "pct", &mut text),
        (Generated::Fish, None) => complete(Shell::Fish, &mut command, "pct", &mut text),
    }
    Output::create(None)?.write(&text)?;
    Ok(Outcome::Clean)
}

/// Writes a page for the command and one for each subcommand that help shows.
fn pages(command: clap::Command, directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    clap_mangen::generate_to(command, directory)
}
