//! Connects inputs with outputs: many files with one output or, with `--in-place`, each file with its own
//! replacement.

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
use crate::common::error::{Failure, Outcome};
use crate::common::shown::shown;

/// The destination of the output, and how it is written.
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
    /// Each input file is replaced. If `suffix` is not empty, the old file is kept under its own name followed by
    /// `suffix`.
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

    /// Returns the suffix for the names of old files, or `None` if old files are not kept.
    pub fn suffix(&self) -> Option<&str> {
        match &self.place {
            Writes::InPlace { suffix } if !suffix.is_empty() => Some(suffix),
            _ => None,
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
        let level = self.level.unwrap_or(format.usual_level());
        if format.levels().contains(&level) {
            return Ok((format, level));
        }
        let (name, levels) = (format.name(), format.levels());
        let (least, most) = (levels.start(), levels.end());
        Err(Failure::Usage(format!("--level {level}: {name} has the levels {least} to {most}")))
    }
}

/// Calls `work` for each output with the inputs that go to it. An output file appears whole or, if the work fails,
/// not at all. In place, each input has an output of its own: a failure is reported, and the other files are still
/// processed.
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
    // If one input fails, a direct output goes on with the others, as `cat` does. An output file would be incomplete,
    // so it does not appear.
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

/// The number of finished files that are synced to the disk together. A file system syncs many files in little more
/// time than one.
const WAITING: usize = 64;
/// The number of threads that sync files at the same time.
const THREADS: usize = 16;

/// Before a file of more than this number of bytes is processed, the waiting files are completed.
const LARGE: u64 = 2 << 20;

/// New files that have been written, but must be synced to the disk before they get their final names.
struct Waiting {
    files: Vec<Replacement>,
    /// The folders in which files got their final names.
    folders: Folders,
    /// The highest exit code of the files that failed, or `None` if no file failed.
    code: Option<u8>,
}

/// A new file that will replace an old one.
struct Replacement {
    name: PathBuf,
    old: Option<Identity>,
    backup: Option<PathBuf>,
    new: Output,
    /// The error of the first attempt to sync the new file. There is no second attempt, because it might succeed
    /// although data are lost.
    failed: Option<Failure>,
}

impl Waiting {
    /// Reports whether the waiting files must get their names before `name` is processed: because `name` is large, or
    /// because it or its backup is one of the waiting files or of their backups.
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

    /// Waits until all waiting files are on the disk, and gives each its final name.
    fn finish(&mut self, taken: &mut Taken, suffix: &str, progress: &mut Progress) {
        if self.files.len() > 1 {
            std::thread::scope(|scope| {
                for files in self.files.chunks_mut(WAITING.div_ceil(THREADS)) {
                    let sync = move || files.iter_mut().for_each(|file| file.failed = file.new.sync().err());
                    // If the operating system cannot start a thread, `commit_to` syncs these files.
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

    /// Reports the failure of one file. The other files are still processed.
    fn report(&mut self, failure: &Failure, progress: &mut Progress) {
        // The progress bar is removed first, because it would overwrite the message.
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

/// The files that this run has written. No file must be processed twice, and no backup must replace one of these
/// files.
struct Taken {
    new: HashSet<Identity>,
    backups: HashSet<PathBuf>,
}

impl Taken {
    /// Creates an empty set. Fails if one of `names` is the name for the backup of another.
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

    /// Fails if the file `name`, which is open as `input`, must not be replaced.
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

/// Returns the name under which the old version of `name` is kept, or `None` if `suffix` is empty.
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

/// Writes the new file that will replace `name`, and returns it before it gets its name.
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
