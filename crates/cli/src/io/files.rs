//! Connects inputs with outputs: many files with one output or, with `--in-place`, each file with its own
//! replacement.

use std::collections::HashSet;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::compression::{Format, Traits};
use super::input::{Input, Inputs, OnUnreadableInput};
use super::names::{Names, Sources};
use super::output::{Output, OutputFileOptions};
use super::progress::Progress;
use super::replacement::{self, Folders};
use super::streams::{self, Identity, Version};
use crate::common::error::{Failure, Outcome};
use crate::common::shown::shown;

/// The destination of the output, and the options for writing it.
#[derive(Clone, Debug)]
pub struct Destination {
    pub place: Writes,
    /// The compression level, or `None` for the default level of the format.
    pub level: Option<u8>,
    /// Whether files and folders must be on the disk when the run ends.
    pub sync: bool,
    /// Whether the progress bar is off.
    pub quiet: bool,
}

/// The output files of a run.
#[derive(Clone, Debug)]
pub enum Writes {
    /// The output is standard output.
    Stdout { format: Option<Format> },
    /// The output is a file that appears whole or not at all.
    File { path: PathBuf, format: Option<Format> },
    /// All output comes after all inputs are read, so a progress bar can be shown on the same terminal.
    Nothing,
    /// Each input file is replaced. If `suffix` is not empty, the old file is kept under its own name followed by
    /// `suffix`.
    InPlace { suffix: String },
}

impl Destination {
    /// Reports whether the output is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Writes::Stdout { .. })
    }

    /// Reports whether the output is written to a terminal.
    pub fn is_terminal(&self) -> bool {
        match &self.place {
            Writes::Stdout { .. } => io::stdout().is_terminal(),
            Writes::File { path, .. } => {
                streams::of_path(path).ok().flatten().is_some_and(|file| file.is_terminal())
            }
            Writes::Nothing | Writes::InPlace { .. } => false,
        }
    }

    /// Returns the compression format and level of standard output or of the output file. Returns `None` if the
    /// output is not compressed or is in place.
    fn compression(&self) -> Result<Option<(Format, u8)>, Failure> {
        let (Writes::Stdout { format } | Writes::File { format, .. }) = &self.place else { return Ok(None) };
        if format.is_none() && self.level.is_some() {
            return Err(Failure::Usage(
                "--level: the output is not compressed; name a format with --compress".to_owned(),
            ));
        }
        format.map(|format| self.leveled(format)).transpose()
    }

    /// Returns `format` with the compression level that the user gave, or else with its default level.
    fn leveled(&self, format: Format) -> Result<(Format, u8), Failure> {
        let Traits { name, levels, usual_level, .. } = format.traits();
        let level = self.level.unwrap_or(*usual_level);
        if levels.contains(&level) {
            return Ok((format, level));
        }
        let (least, most) = (levels.start(), levels.end());
        Err(Failure::Usage(format!("--level {level}: {name} has the levels {least} to {most}")))
    }
}

/// Calls `work` for each output with the inputs that go to it. An output file appears whole or, if the work fails, not
/// at all. With `--in-place`, each input has an output of its own: a failure is reported, and the other files are still
/// processed.
pub fn each(
    sources: &Sources,
    destination: &Destination,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    if let Writes::InPlace { suffix } = &destination.place {
        return in_place(sources, destination, suffix, work);
    }
    let options =
        OutputFileOptions { compression: destination.compression()?, suffix: "", sync: destination.sync };
    let path = if let Writes::File { path, .. } = &destination.place { Some(path.as_path()) } else { None };
    let mut output = Output::create(path, options)?;
    // If one input cannot be read, standard output or a pipe still gets the other inputs, as from `cat`. An output file
    // would be incomplete, so it does not appear.
    let others = if output.is_atomic() { OnUnreadableInput::Opened } else { OnUnreadableInput::Done };
    let mut inputs = Inputs::open(sources, destination.quiet, destination.is_stdout(), others)?;
    work(&mut inputs, &mut output)?;
    if output.is_atomic() && inputs.outcome().is_err() {
        if inputs.count == 1 {
            return inputs.outcome().map(|()| Outcome::Clean);
        }
        let name = &output.name;
        return Err(Failure::Usage(format!("{name}: not replaced, because not every input could be read")));
    }
    output.commit()?;
    inputs.outcome().map(|()| Outcome::Clean)
}

fn in_place(
    sources: &Sources,
    destination: &Destination,
    suffix: &str,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let names = Names::new(sources)?;
    let mut taken = Taken::new(names.known().unwrap_or_default(), suffix)?;
    let mut progress = Progress::start(names.known(), destination.quiet, false);
    let (mut folders, mut code) = (Folders::default(), None);
    for name in names {
        let name = name?;
        let input = regular(&name).and_then(|()| Input::open(&name, sources.reading));
        let result = input.and_then(|input| {
            taken.check(&name, &input)?;
            let compression = input.format.map(|format| destination.leveled(format)).transpose()?;
            let options = OutputFileOptions { compression, suffix, sync: destination.sync };
            let mut output = Output::replace(&name, options)?;
            work(&mut Inputs::only(input, sources.reading), &mut output)?;
            taken.new.extend(output.commit_to(&mut folders)?);
            taken.backups.extend(taken.backup(&name));
            Ok(())
        });
        if let Err(failure) = result {
            // The progress bar is removed first, because it would overwrite the message.
            progress.hide();
            code = code.max(Some(failure.report()));
        }
    }
    if let Err(failure) = folders.sync() {
        code = code.max(Some(failure.report()));
    }
    drop(progress);
    code.map_or(Ok(Outcome::Clean), |code| Err(Failure::Reported { code }))
}

/// Fails if `name` is not a regular file. Opening a pipe would wait for a writer.
fn regular(name: &Path) -> Result<(), Failure> {
    match fs::metadata(name) {
        Ok(metadata) if !metadata.is_file() => {
            Err(refused(name, "not a regular file, so it cannot be replaced"))
        }
        // Opening the file will report the error.
        _ => Ok(()),
    }
}

fn refused(name: &Path, what: &str) -> Failure {
    Failure::open(shown(name), io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The files that this run has written. A file must not be processed twice, and a backup must not replace one of these
/// files.
struct Taken<'a> {
    /// The suffix for the names of backups; empty if old files are not kept.
    suffix: &'a str,
    new: HashSet<Identity>,
    backups: HashSet<PathBuf>,
}

impl Taken<'_> {
    /// Creates an empty set. Fails if one of `names` is the name for the backup of another.
    fn new<'a>(names: &[PathBuf], suffix: &'a str) -> Result<Taken<'a>, Failure> {
        let taken = Taken { suffix, new: HashSet::new(), backups: HashSet::new() };
        if !suffix.is_empty() {
            let paths: HashSet<_> = names.iter().filter_map(|name| fs::canonicalize(name).ok()).collect();
            for name in names {
                if let Some(backup) = taken.backup(name).filter(|backup| paths.contains(backup)) {
                    return Err(clash(name, &backup));
                }
            }
        }
        Ok(taken)
    }

    /// Fails if the file `name`, which is open as `input`, must not be replaced.
    fn check(&self, name: &Path, input: &Input) -> Result<(), Failure> {
        let refused = |what: &str| Err(refused(name, what));
        let Some(Version { identity: Some(identity), .. }) = input.version else { return Ok(()) };
        if streams::shared(identity).is_some() {
            return refused(
                "standard output or standard error is redirected to this file, so it cannot be replaced",
            );
        }
        let is_backup = || fs::canonicalize(name).is_ok_and(|path| self.backups.contains(&path));
        if self.new.contains(&identity) || (!self.backups.is_empty() && is_backup()) {
            return refused("this file has already been replaced, or is the backup of one that has");
        }
        // The backup must not replace a file that this run has written.
        let is_new =
            |path: &Path| Identity::of_path(path).is_some_and(|identity| self.new.contains(&identity));
        match self.backup(name) {
            Some(backup) if is_new(&backup) || self.backups.contains(&backup) => Err(clash(name, &backup)),
            _ => Ok(()),
        }
    }

    /// Returns the name under which the old version of `name` is kept, or `None` if old files are not kept.
    fn backup(&self, name: &Path) -> Option<PathBuf> {
        let path = if self.suffix.is_empty() { None } else { fs::canonicalize(name).ok() };
        path.map(|path| replacement::backup(&path, self.suffix))
    }
}

fn clash(name: &Path, backup: &Path) -> Failure {
    Failure::Usage(format!(
        "{}: its backup would replace {}, which is one of the files",
        shown(name),
        shown(backup)
    ))
}
