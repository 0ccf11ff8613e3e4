//! What is read into what: many files into one output, or, in place, each into itself.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::args::{Files, Target};
use crate::error::{Failure, Outcome};
use crate::input::{self, Input, Inputs, Names};
use crate::output::{self, Output};
use crate::progress::Progress;

/// Does `work` for each output, which then appears whole or, if the work fails, not at all. In place, each file is a
/// job of its own: what fails is reported, and the other files are done all the same.
pub fn each(
    files: &Files,
    target: &Target,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let names = Names::new(files)?;
    if let Some(suffix) = &target.in_place {
        return in_place(names, files, target, suffix, work);
    }
    let mut output = Output::compressed(target.output.as_deref(), target.compression()?)?;
    let progress = Progress::start(names.known(), target.quiet, target.is_stdout());
    let mut inputs = Inputs::new(names, !files.no_decompress);
    work(&mut inputs, &mut output)?;
    output.commit()?;
    drop(progress);
    Ok(Outcome::Clean)
}

fn in_place(
    names: Names,
    files: &Files,
    target: &Target,
    suffix: &str,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    if suffix.contains(std::path::is_separator) {
        return Err(Failure::Usage(format!("--in-place={suffix}: a suffix is a part of a name, not a path")));
    }
    if names.known().is_some_and(|names| names.iter().any(|name| input::is_stdin(name))) {
        return Err(Failure::Usage("--in-place needs files: standard input cannot be replaced".to_owned()));
    }
    let mut taken = Taken::new(names.known().unwrap_or_default(), suffix)?;
    let mut progress = Progress::start(names.known(), target.quiet, false);
    let mut code = None;
    for name in names {
        let name = name?;
        let replaced =
            taken.take(&name, suffix).and_then(|()| replace(&name, files, target, suffix, &mut work));
        if let Err(failure) = replaced {
            // A bar would be drawn over the message.
            progress.hide();
            code = code.max(Some(failure.report()));
        }
    }
    drop(progress);
    code.map_or(Ok(Outcome::Clean), |code| Err(Failure::Reported { code }))
}

/// The files that were replaced and their backups, by their only names: a file that is named twice would be worked on
/// twice, and a backup may replace what is no old version of the file.
struct Taken(HashSet<PathBuf>);

impl Taken {
    /// None yet. Fails if, of the files that are known, one is the backup of another.
    fn new(names: &[PathBuf], suffix: &str) -> Result<Taken, Failure> {
        let paths: HashSet<_> = names.iter().filter_map(|name| fs::canonicalize(name).ok()).collect();
        for name in names {
            if let Some(backup) = backup(name, suffix).filter(|backup| paths.contains(backup)) {
                return Err(clash(name, &backup));
            }
        }
        Ok(Taken(HashSet::new()))
    }

    /// Takes the file `name`.
    fn take(&mut self, name: &Path, suffix: &str) -> Result<(), Failure> {
        let Ok(path) = fs::canonicalize(name) else { return Ok(()) };
        if !self.0.insert(path) {
            return Err(Failure::Usage(format!(
                "{}: this file has been replaced already, or is the backup of one that has",
                name.display()
            )));
        }
        match backup(name, suffix) {
            Some(backup) if !self.0.insert(backup.clone()) => Err(clash(name, &backup)),
            _ => Ok(()),
        }
    }
}

/// The name under which the old version of `name` is kept, if it is.
fn backup(name: &Path, suffix: &str) -> Option<PathBuf> {
    let path = fs::canonicalize(name).ok().filter(|_| !suffix.is_empty())?;
    Some(output::backup(&path, suffix))
}

fn clash(name: &Path, backup: &Path) -> Failure {
    Failure::Usage(format!(
        "{}: its backup would replace {}, which is one of the files",
        name.display(),
        backup.display()
    ))
}

fn replace(
    name: &Path,
    files: &Files,
    target: &Target,
    suffix: &str,
    work: &mut impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let metadata = fs::metadata(name).map_err(|error| Failure::open(name.display(), error))?;
    if !metadata.is_file() {
        let error =
            io::Error::new(io::ErrorKind::InvalidInput, "not a regular file, so it cannot be replaced");
        return Err(Failure::open(name.display(), error));
    }
    let input = Input::open(name, !files.no_decompress)?;
    let compress = input.format().map(|format| target.leveled(format)).transpose()?;
    let mut output = Output::replace(name, compress, suffix)?;
    work(&mut Inputs::only(input), &mut output)?;
    output.commit()
}
