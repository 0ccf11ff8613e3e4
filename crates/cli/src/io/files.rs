//! What is read into what: many files into one output, or, in place, each into itself.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::compression::Format;
use super::input::{Input, Inputs};
use super::names::{Names, Sources};
use super::output::{self, Output};
use super::progress::Progress;
use crate::ground::error::{Failure, Outcome};

/// Where output goes.
#[derive(Clone, Debug)]
pub struct Destination {
    pub place: Writes,
    /// How hard to compress; the format's usual level when there is none.
    pub level: Option<u8>,
    /// Whether no progress bar is wanted.
    pub quiet: bool,
}

/// Which files are written.
#[derive(Clone, Debug)]
pub enum Writes {
    /// Standard output.
    Stdout { format: Option<Format> },
    /// A file that appears whole or not at all.
    File { path: PathBuf, format: Option<Format> },
    /// Each input is replaced. With a suffix that is not empty the old file is kept under its name and suffix.
    InPlace { suffix: String },
}

impl Destination {
    /// Whether the output goes to standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Writes::Stdout { .. })
    }

    /// The file that is written, if it has a name of its own.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Writes::File { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The suffix of the old files, if they are kept.
    pub fn suffix(&self) -> Option<&str> {
        match &self.place {
            Writes::InPlace { suffix } if !suffix.is_empty() => Some(suffix),
            _ => None,
        }
    }

    /// Format and level of an output that is not in place.
    fn compression(&self) -> Result<Option<(Format, u8)>, Failure> {
        let (Writes::Stdout { format } | Writes::File { format, .. }) = &self.place else { return Ok(None) };
        if format.is_none() && self.level.is_some() {
            return Err(Failure::Usage(
                "--level: the output is not compressed; name a format with --compress".to_owned(),
            ));
        }
        format.map(|format| self.leveled(format)).transpose()
    }

    /// `format` with the level asked for, or its usual one.
    fn leveled(&self, format: Format) -> Result<(Format, u8), Failure> {
        let level = self.level.unwrap_or(format.usual_level());
        if format.levels().contains(&level) {
            return Ok((format, level));
        }
        let (name, levels) = (format.name(), format.levels());
        let (least, most) = (levels.start(), levels.end());
        Err(Failure::Usage(format!("--level {level}: {name} has the levels {least} to {most}")))
    }
}

/// Does `work` for each output, which then appears whole or, if the work fails, not at all. In place, each file is a
/// job of its own: what fails is reported, and the other files are done all the same.
pub fn each(
    sources: &Sources,
    destination: &Destination,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let names = Names::new(sources)?;
    if let Writes::InPlace { suffix } = &destination.place {
        return in_place(names, sources, destination, suffix, work);
    }
    let mut output = Output::compressed(destination.path(), destination.compression()?)?;
    let progress = Progress::start(names.known(), destination.quiet, destination.is_stdout());
    let mut inputs = Inputs::new(names, sources.decompress);
    work(&mut inputs, &mut output)?;
    output.commit()?;
    drop(progress);
    Ok(Outcome::Clean)
}

fn in_place(
    names: Names,
    sources: &Sources,
    destination: &Destination,
    suffix: &str,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let mut taken = Taken::new(names.known().unwrap_or_default(), suffix)?;
    let mut progress = Progress::start(names.known(), destination.quiet, false);
    let mut code = None;
    for name in names {
        let name = name?;
        let replaced =
            taken.take(&name, suffix).and_then(|()| replace(&name, sources, destination, suffix, &mut work));
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
    sources: &Sources,
    destination: &Destination,
    suffix: &str,
    work: &mut impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let metadata = fs::metadata(name).map_err(|error| Failure::open(name.display(), error))?;
    if !metadata.is_file() {
        let error =
            io::Error::new(io::ErrorKind::InvalidInput, "not a regular file, so it cannot be replaced");
        return Err(Failure::open(name.display(), error));
    }
    let input = Input::open(name, sources.decompress)?;
    let compress = input.format().map(|format| destination.leveled(format)).transpose()?;
    let mut output = Output::replace(name, compress, suffix)?;
    work(&mut Inputs::only(input), &mut output)?;
    output.commit()
}
