//! What is read into what: many files into one output, or, in place, each into itself.

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

/// Where output goes.
#[derive(Clone, Debug)]
pub struct Destination {
    pub place: Writes,
    /// How hard to compress; the format's usual level when there is none.
    pub level: Option<u8>,
    /// Whether files and folders must be on the disk at the end.
    pub sync: bool,
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
    let how = How { compression: destination.compression()?, suffix: "", sync: destination.sync };
    let mut output = Output::create(destination.path(), how)?;
    let progress = Progress::start(names.known(), destination.quiet, destination.is_stdout());
    // What is written as it is goes on, as with `cat`; a file that would not be whole does not appear.
    let others = if output.is_atomic() { Others::Opened } else { Others::Done };
    let mut inputs = Inputs::new(sources, names, others, progress);
    work(&mut inputs, &mut output)?;
    if output.is_atomic() && inputs.outcome().is_err() {
        if inputs.count() == 1 {
            return inputs.outcome().map(|()| Outcome::Clean);
        }
        let name = output.name();
        return Err(Failure::Usage(format!(
            "{name}: stays as it was, because not every input could be read"
        )));
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

/// The most files that wait for the disk together, and the threads on which they do: a file system puts many on the disk
/// at once in little more time than one.
const WAITING: usize = 64;
const THREADS: usize = 16;

/// Files do not wait until one of more bytes is written.
const LARGE: u64 = 2 << 20;

/// New files in place of old ones that are written, but not on the disk yet, and so have no name.
struct Waiting {
    files: Vec<Replacement>,
    /// Those in which files have got new names.
    folders: Folders,
    /// The exit code of the files that have failed.
    code: Option<u8>,
}

/// A new file in place of an old one.
struct Replacement {
    name: PathBuf,
    old: Option<Identity>,
    backup: Option<PathBuf>,
    new: Output,
    /// Why it is not on the disk. A second attempt might succeed though data are lost.
    failed: Option<Failure>,
}

impl Waiting {
    /// Whether the files should not wait for that of the name `name`: it is large, or one of them, or their backups are what
    /// it is or what its backup is, so that what is known of these is going to change.
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

    /// Waits until all are on the disk, and gives each its name.
    fn finish(&mut self, taken: &mut Taken, suffix: &str, progress: &mut Progress) {
        if self.files.len() > 1 {
            std::thread::scope(|scope| {
                for files in self.files.chunks_mut(WAITING.div_ceil(THREADS)) {
                    let sync = move || files.iter_mut().for_each(|file| file.failed = file.new.sync().err());
                    // Without a thread, each waits before it gets its name.
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

    /// Says what went wrong with a file; the others are done all the same.
    fn report(&mut self, failure: &Failure, progress: &mut Progress) {
        // A bar would be drawn over the message.
        progress.hide();
        self.code = self.code.max(Some(failure.report()));
    }
}

/// Whether `name` is a regular file; to open a pipe would wait for somebody who writes to it.
fn regular(name: &Path) -> Result<(), Failure> {
    match fs::metadata(name) {
        Ok(metadata) if !metadata.is_file() => {
            Err(refused(name, "not a regular file, so it cannot be replaced"))
        }
        // Who opens it finds out what is wrong.
        _ => Ok(()),
    }
}

fn refused(name: &Path, what: &str) -> Failure {
    Failure::open(shown(name), io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The files that have replaced others, and backups, by their only names: a file that is named twice would be worked on
/// twice, and a backup may replace what is no old version of the file.
struct Taken {
    new: HashSet<Identity>,
    backups: HashSet<PathBuf>,
}

impl Taken {
    /// None yet. Fails if, of the files that are known, one is the backup of another.
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

    /// Whether `input`, which is the file `name`, may be replaced.
    fn check(&self, name: &Path, input: &Input, suffix: &str) -> Result<(), Failure> {
        let refused = |what: &str| Err(refused(name, what));
        let Some(identity) = input.version().and_then(Version::identity) else { return Ok(()) };
        if streams::shared(identity).is_some() {
            return refused("standard output or standard error goes there, so it cannot be replaced");
        }
        let is_backup = || fs::canonicalize(name).is_ok_and(|path| self.backups.contains(&path));
        if self.new.contains(identity) || (!self.backups.is_empty() && is_backup()) {
            return refused("this file has been replaced already, or is the backup of one that has");
        }
        // A file at the backup's place that this run has made is not an old version.
        match backup(name, suffix) {
            Some(backup) if self.made(&backup) || self.backups.contains(&backup) => Err(clash(name, &backup)),
            _ => Ok(()),
        }
    }

    /// Whether the file at `path` has replaced another.
    fn made(&self, path: &Path) -> bool {
        let Ok(metadata) = fs::metadata(path) else { return false };
        Identity::of_path(path, &metadata).is_some_and(|identity| self.new.contains(&identity))
    }

    /// The file `new` has replaced that of the name `name`.
    fn take(&mut self, name: &Path, new: Option<Identity>, suffix: &str) {
        self.new.extend(new);
        self.backups.extend(backup(name, suffix));
    }
}

/// The name under which the old version of `name` is kept, if it is.
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

/// Writes what will replace the file `name`.
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
