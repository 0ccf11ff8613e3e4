//! Connects inputs with outputs: many files with one output or, in place, each file with itself.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::compression::Format;
use super::input::{Input, Inputs, Others};
use super::names::{Names, Sources};
use super::output::{self, Folders, How, Output};
use super::progress::Progress;
use super::streams;
use super::version::{Identity, Version};
use crate::ground::error::{Failure, Outcome};
use crate::ground::shown::shown;

/// The destination of the output.
#[derive(Clone, Debug)]
pub struct Destination {
    pub place: Writes,
    /// The compression level; `None` for the usual level of the format.
    pub level: Option<u8>,
    /// Whether files and folders must be on the disk when the run ends.
    pub sync: bool,
    /// Whether no progress bar is wanted.
    pub quiet: bool,
}

/// The files that are written.
#[derive(Clone, Debug)]
pub enum Writes {
    /// Standard output.
    Stdout { format: Option<Format> },
    /// A file that appears whole or not at all.
    File { path: PathBuf, format: Option<Format> },
    /// Each input is replaced. If the suffix is not empty, the old file is kept under its name and suffix.
    InPlace { suffix: String },
}

impl Destination {
    /// Reports whether the output is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Writes::Stdout { .. })
    }

    /// Returns the file of `--output`, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Writes::File { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the suffix of the old files, if they are kept.
    pub fn suffix(&self) -> Option<&str> {
        match &self.place {
            Writes::InPlace { suffix } if !suffix.is_empty() => Some(suffix),
            _ => None,
        }
    }

    /// Returns the format and level of an output that is not in place.
    fn compression(&self) -> Result<Option<(Format, u8)>, Failure> {
        let (Writes::Stdout { format } | Writes::File { format, .. }) = &self.place else { return Ok(None) };
        if format.is_none() && self.level.is_some() {
            return Err(Failure::Usage(
                "--level: the output is not compressed; name a format with --compress".to_owned(),
            ));
        }
        format.map(|format| self.leveled(format)).transpose()
    }

    /// Returns `format` with the level that the user gave, or its usual one.
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

/// Calls `work` for each output. The output appears whole or, if the work fails, not at all. In place, each file has an
/// output of its own; a failure is reported, and the other files are still processed.
pub fn each(
    sources: &Sources,
    destination: &Destination,
    mut work: impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let names = Names::new(sources)?;
    if let Writes::InPlace { suffix } = &destination.place {
        return in_place(names, sources, destination, suffix, work);
    }
    let how = How { compression: destination.compression()?, suffix: "", sync: destination.sync };
    let mut output = Output::create(destination.path(), how)?;
    let progress = Progress::start(names.known(), destination.quiet, destination.is_stdout());
    // A direct output goes on with the other inputs, as `cat` does. A file that would be incomplete does not appear.
    let others = if output.is_atomic() { Others::Opened } else { Others::Done };
    let mut inputs = Inputs::new(sources, names, others, progress);
    work(&mut inputs, &mut output)?;
    if output.is_atomic() && inputs.outcome().is_err() {
        if inputs.count() == 1 {
            return inputs.outcome().map(|()| Outcome::Clean);
        }
        let name = output.name();
        return Err(Failure::Usage(format!("{name}: not replaced, because not every input could be read")));
    }
    output.commit()?;
    inputs.outcome().map(|()| Outcome::Clean)
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
    let mut waiting = Waiting { files: Vec::new(), folders: Folders::default(), code: None };
    let mut spare = None;
    for name in names {
        let name = match name {
            Ok(name) => name,
            Err(failure) => {
                waiting.finish(&mut taken, suffix, &mut progress);
                return Err(failure);
            }
        };
        if waiting.concern(&name, suffix) {
            waiting.finish(&mut taken, suffix, &mut progress);
        }
        let input = regular(&name)
            .and_then(|()| Input::open_with(&name, sources.reading, spare.take().unwrap_or_default()));
        let written = input.and_then(|input| {
            taken.check(&name, &input, suffix)?;
            let old = input.version().and_then(Version::identity).cloned();
            let mut inputs = Inputs::only(input, sources.reading);
            let new = replace(&name, &mut inputs, destination, suffix, &mut work);
            spare = Some(inputs.into_spare());
            Ok((new?, old))
        });
        match written {
            Ok((new, old)) => {
                let backup = backup(&name, suffix);
                waiting.files.push(Replacement { name, old, backup, new, failed: None });
            }
            Err(failure) => waiting.report(&failure, &mut progress),
        }
        if waiting.files.len() == if destination.sync { WAITING } else { 1 } {
            waiting.finish(&mut taken, suffix, &mut progress);
        }
    }
    waiting.finish(&mut taken, suffix, &mut progress);
    if let Err(failure) = waiting.folders.sync() {
        waiting.code = waiting.code.max(Some(failure.report()));
    }
    drop(progress);
    waiting.code.map_or(Ok(Outcome::Clean), |code| Err(Failure::Reported { code }))
}

/// The number of files that wait for the disk together, and of threads that wait. A file system writes many files in
/// little more time than one.
const WAITING: usize = 64;
const THREADS: usize = 16;

/// A file of more bytes is not written while others wait.
const LARGE: u64 = 2 << 20;

/// New files that have been written, but wait for the disk before they get their names.
struct Waiting {
    files: Vec<Replacement>,
    /// The folders in which files got new names.
    folders: Folders,
    /// The exit code for the files that failed.
    code: Option<u8>,
}

/// A new file that replaces an old one.
struct Replacement {
    name: PathBuf,
    old: Option<Identity>,
    backup: Option<PathBuf>,
    new: Output,
    /// The error of the first attempt to sync it. A second attempt might succeed although data are lost.
    failed: Option<Failure>,
}

impl Waiting {
    /// Reports whether the waiting files must get their names before `name` is processed: because it is large, or because
    /// it or its backup is one of these files or their backups.
    fn concern(&self, name: &Path, suffix: &str) -> bool {
        let waits = |path: &Path| {
            let identity = fs::metadata(path).ok().and_then(|metadata| Identity::of_path(path, &metadata));
            identity.is_some() && self.files.iter().any(|file| file.old == identity)
        };
        let is_backup = || {
            let path = fs::canonicalize(name).ok();
            path.is_some() && self.files.iter().any(|file| file.backup == path)
        };
        let is_large = || fs::metadata(name).is_ok_and(|metadata| metadata.len() > LARGE);
        !self.files.is_empty()
            && (is_large()
                || waits(name)
                || backup(name, suffix).is_some_and(|backup| waits(&backup) || is_backup()))
    }

    /// Waits until all files are on the disk, and gives each its name.
    fn finish(&mut self, taken: &mut Taken, suffix: &str, progress: &mut Progress) {
        if self.files.len() > 1 {
            std::thread::scope(|scope| {
                for files in self.files.chunks_mut(WAITING.div_ceil(THREADS)) {
                    let sync = move || files.iter_mut().for_each(|file| file.failed = file.new.sync().err());
                    // If the system refuses a thread, `commit_to` waits.
                    let _ = std::thread::Builder::new().name("sync".to_owned()).spawn_scoped(scope, sync);
                }
            });
        }
        for Replacement { name, new, failed, .. } in std::mem::take(&mut self.files) {
            let result = failed.map_or(Ok(()), Err).and_then(|()| new.commit_to(&mut self.folders));
            match result {
                Ok(new) => taken.take(&name, new, suffix),
                Err(failure) => self.report(&failure, progress),
            }
        }
    }

    /// Reports the failure of one file. The others are still processed.
    fn report(&mut self, failure: &Failure, progress: &mut Progress) {
        // The progress bar would overwrite the message.
        progress.hide();
        self.code = self.code.max(Some(failure.report()));
    }
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

/// The files that this run has written, so that none is processed twice and no backup replaces one of them.
struct Taken {
    new: HashSet<Identity>,
    backups: HashSet<PathBuf>,
}

impl Taken {
    /// No files. Fails if one of `names` is the backup of another.
    fn new(names: &[PathBuf], suffix: &str) -> Result<Taken, Failure> {
        if !suffix.is_empty() {
            let paths: HashSet<_> = names.iter().filter_map(|name| fs::canonicalize(name).ok()).collect();
            for name in names {
                if let Some(backup) = backup(name, suffix).filter(|backup| paths.contains(backup)) {
                    return Err(clash(name, &backup));
                }
            }
        }
        Ok(Taken { new: HashSet::new(), backups: HashSet::new() })
    }

    /// Fails if `input`, the file `name`, must not be replaced.
    fn check(&self, name: &Path, input: &Input, suffix: &str) -> Result<(), Failure> {
        let refused = |what: &str| Err(refused(name, what));
        let Some(identity) = input.version().and_then(Version::identity) else { return Ok(()) };
        if streams::shared(identity).is_some() {
            return refused(
                "standard output or standard error is redirected to this file, so it cannot be replaced",
            );
        }
        let is_backup = || fs::canonicalize(name).is_ok_and(|path| self.backups.contains(&path));
        if self.new.contains(identity) || (!self.backups.is_empty() && is_backup()) {
            return refused("this file has already been replaced, or is the backup of one that has");
        }
        // The backup must not replace a file that this run has written.
        match backup(name, suffix) {
            Some(backup) if self.made(&backup) || self.backups.contains(&backup) => Err(clash(name, &backup)),
            _ => Ok(()),
        }
    }

    /// Reports whether this run has written the file at `path`.
    fn made(&self, path: &Path) -> bool {
        let Ok(metadata) = fs::metadata(path) else { return false };
        Identity::of_path(path, &metadata).is_some_and(|identity| self.new.contains(&identity))
    }

    /// Records that `new` has replaced the file `name`.
    fn take(&mut self, name: &Path, new: Option<Identity>, suffix: &str) {
        self.new.extend(new);
        self.backups.extend(backup(name, suffix));
    }
}

/// Returns the name under which the old version of `name` is kept, if it is.
fn backup(name: &Path, suffix: &str) -> Option<PathBuf> {
    if suffix.is_empty() {
        return None;
    }
    fs::canonicalize(name).ok().map(|path| output::backup(&path, suffix))
}

fn clash(name: &Path, backup: &Path) -> Failure {
    Failure::Usage(format!(
        "{}: its backup would replace {}, which is one of the files",
        shown(name),
        shown(backup)
    ))
}

/// Writes the file that will replace `name`.
fn replace(
    name: &Path,
    inputs: &mut Inputs,
    destination: &Destination,
    suffix: &str,
    work: &mut impl FnMut(&mut Inputs, &mut Output) -> Result<(), Failure>,
) -> Result<Output, Failure> {
    let compression = inputs.format().map(|format| destination.leveled(format)).transpose()?;
    let mut output = Output::replace(name, How { compression, suffix, sync: destination.sync })?;
    work(inputs, &mut output)?;
    output.end()?;
    Ok(output)
}
