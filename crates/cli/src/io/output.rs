//! Writes one output: standard output, or a file that appears whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::attributes;
use super::compression::{Format, Writer};
use super::streams::{self, Patient, folder};
use super::unfinished::Unfinished;
use super::version::{Identity, Version};
use crate::common::error::{Failure, warn};
use crate::common::shown::shown;

pub use super::streams::is_stdout;

/// The name of standard output in messages.
pub const STDOUT: &str = "<stdout>";

/// One open output.
pub struct Output {
    name: String,
    /// The open stream; `None` after the commit.
    stream: Option<Stream>,
    /// The identity of the regular file that is written directly or will be replaced; `None` if there is no such
    /// file.
    identity: Option<Identity>,
    /// The version of the file to be replaced, if it is also an input of the run.
    read: Option<Version>,
}

enum Stream {
    Plain(Counted),
    Compressed(Box<Writer<Counted>>),
}

/// An output file or stream, with the number of bytes written to it.
struct Counted {
    place: Place,
    /// The number of bytes written.
    offset: u64,
    /// Whether writes fail. After an error this keeps a compressor from completing its stream.
    is_closed: bool,
}

enum Place {
    /// Standard output, or a named device or pipe. Bytes written to it cannot be taken back.
    Direct(File),
    /// The output is a new temporary file, in the same folder as the file that it will replace.
    Atomic(Box<Atomic>),
}

/// A file that appears whole or not at all.
struct Atomic {
    temporary: NamedTempFile,
    target: PathBuf,
    /// The name under which the old file is kept; `None` if it is not kept.
    backup: Option<PathBuf>,
    unfinished: Unfinished,
    /// The permissions of the complete file; `None` once it has them. Until then only the user may open it.
    permissions: Option<Permissions>,
    /// The number of other names (hard links) of the old file, which keep its content.
    others: u64,
    /// Whether the new file must be on the disk before it gets its name.
    sync: bool,
    /// Whether the new file has been synced to the disk.
    is_synced: bool,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let len = match &self.place {
            Place::Direct(file) => Patient(file).write(bytes)?,
            // Other threads may write to their reserved ranges of the file at the same time, so this write has an
            // offset of its own.
            #[cfg(unix)]
            Place::Atomic(atomic) => {
                std::os::unix::fs::FileExt::write_at(atomic.temporary.as_file(), bytes, self.offset)?
            }
            #[cfg(not(unix))]
            Place::Atomic(atomic) => atomic.temporary.as_file().write(bytes)?,
        };
        self.offset += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file to which several threads write.
pub struct Shared(#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix writes at an offset"))] File);

impl Shared {
    /// Writes all of `bytes` at offset `place`.
    pub fn write(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, place);
        #[cfg(not(unix))]
        return Err(io::Error::new(ErrorKind::Unsupported, format!("{} bytes at {place}", bytes.len())));
    }
}

/// The options for a new file.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The format and level of the compression, if there is any.
    pub compression: Option<(Format, u8)>,
    /// The suffix that the old file's name gets if the old file is kept. If it is empty, the old file is not kept.
    pub suffix: &'a str,
    /// Whether the new file must be on the disk before it gets its name.
    pub sync: bool,
}

impl Output {
    /// Opens standard output, without compression.
    pub fn stdout() -> Result<Output, Failure> {
        Output::create(None, How { compression: None, suffix: "", sync: false })
    }

    /// Opens `path`, or standard output if `path` is `None` or `-`.
    pub fn create(path: Option<&Path>, how: How<'_>) -> Result<Output, Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let file = streams::stdout().map_err(|error| Failure::open(STDOUT, error))?;
            return Output::direct(STDOUT.to_owned(), file, how);
        };
        let name = shown(path);
        match streams::of_path(path).and_then(|stream| Ok(stream.or(special(path)?))) {
            Ok(Some(file)) => Output::direct(name, file, how),
            Ok(None) => Output::replace(path, how),
            Err(error) => Err(Failure::open(name, error)),
        }
    }

    /// Opens an output that writes to `file` directly.
    fn direct(name: String, file: File, how: How<'_>) -> Result<Output, Failure> {
        if how.compression.is_some() && file.is_terminal() {
            return Err(Failure::Usage(
                "compressed output is not for a terminal; name a file with -o".to_owned(),
            ));
        }
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file);
        let identity = metadata.and_then(|metadata| Identity::of(&file, &metadata));
        Output::new(name, Place::Direct(file), identity, how)
    }

    /// Opens a new file that will replace the one at `path`.
    pub fn replace(path: &Path, how: How<'_>) -> Result<Output, Failure> {
        let name = shown(path);
        let (atomic, identity) = atomic(path, how).map_err(|error| Failure::open(&name, error))?;
        Output::new(name, Place::Atomic(Box::new(atomic)), identity, how)
    }

    fn new(name: String, place: Place, identity: Option<Identity>, how: How<'_>) -> Result<Output, Failure> {
        let file = Counted { place, offset: 0, is_closed: false };
        let stream = match how.compression {
            None => Stream::Plain(file),
            Some((format, level)) => {
                let writer = Writer::new(format, level, file);
                Stream::Compressed(Box::new(writer.map_err(|error| Failure::open(&name, error))?))
            }
        };
        Ok(Output { name, stream: Some(stream), identity, read: None })
    }

    /// Returns the name of the output for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reports whether the output is a file that appears whole or not at all.
    pub fn is_atomic(&self) -> bool {
        matches!(self.stream.as_ref().map(|stream| &stream.counted().place), Some(Place::Atomic(_)))
    }

    /// Records that the file with this `version` is an input. Fails if the run writes to this file directly, because
    /// the run would read its own output. A file that is replaced at the end of the run may be an input, if it stays
    /// unchanged until then.
    pub fn reads(&mut self, version: Option<&Version>, name: &str) -> Result<(), Failure> {
        let Some(version) = version.filter(|version| self.identity.as_ref() == version.identity()) else {
            return Ok(());
        };
        if self.identity.is_none() {
            return Ok(());
        }
        if self.is_atomic() {
            self.read.get_or_insert_with(|| version.clone());
            return Ok(());
        }
        Err(Failure::Usage(format!("{name}: the input is the output as well; name it with -o instead")))
    }

    /// Reports whether this output writes to the file with this `version`, or will replace it.
    pub fn harms(&self, version: Option<&Version>) -> bool {
        self.identity.is_some() && version.and_then(Version::identity) == self.identity.as_ref()
    }

    /// Writes all of `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let result = match stream {
            Stream::Plain(file) => file.write_all(bytes),
            Stream::Compressed(writer) => writer.write_all(bytes),
        };
        result.map_err(|error| Failure::output(&self.name, stream.counted().offset, error))
    }

    /// Returns another handle of the new file, if it has no final name before the commit. Threads may then write to
    /// the offsets that [`Output::reserve`] returns, in any order.
    pub fn shared(&self) -> Option<Shared> {
        match &self.stream {
            #[cfg(unix)]
            Some(Stream::Plain(Counted { place: Place::Atomic(atomic), .. })) => {
                atomic.temporary.as_file().try_clone().ok().map(Shared)
            }
            _ => None,
        }
    }

    /// Reserves `len` bytes of the file and returns their offset. The caller must write these bytes to the [`Shared`]
    /// file.
    pub fn reserve(&mut self, len: usize) -> u64 {
        let Some(Stream::Plain(file)) = &mut self.stream else { return 0 };
        let place = file.offset;
        file.offset += len as u64;
        place
    }

    /// Returns the failure for an `error` that came from writing at `offset`.
    pub fn failed(&self, offset: u64, error: io::Error) -> Failure {
        Failure::output(&self.name, offset, error)
    }

    /// Completes the compressed stream, if there is one. After this call no more bytes can be written.
    pub fn end(&mut self) -> Result<(), Failure> {
        if let Some(Stream::Compressed(writer)) = &mut self.stream {
            let result = writer.finish();
            result.map_err(|error| Failure::output(&self.name, writer.get_ref().offset, error))?;
        }
        self.stream = match self.stream.take() {
            Some(Stream::Compressed(writer)) => {
                let result = writer.into_inner();
                Some(Stream::Plain(result.map_err(|error| Failure::open(&self.name, error))?))
            }
            other => other,
        };
        Ok(())
    }

    /// Gives the new file its permissions, and waits until it is on the disk, if the output was opened with `sync`. Call
    /// [`Output::end`] first. To sync several files at the same time, call this on a thread for each.
    pub fn sync(&mut self) -> Result<(), Failure> {
        let Some(Stream::Plain(Counted { place: Place::Atomic(atomic), offset, .. })) = &mut self.stream
        else {
            return Ok(());
        };
        let file = atomic.temporary.as_file();
        let mut result =
            atomic.permissions.take().map_or(Ok(()), |permissions| file.set_permissions(permissions));
        if atomic.sync && !atomic.is_synced {
            result = result.and_then(|()| synced(file));
            atomic.is_synced = true;
        }
        result.map_err(|error| Failure::output(&self.name, *offset, error))
    }

    /// Completes the compressed stream, if there is one, and replaces the old file by the new one. Without a commit,
    /// a dropped output leaves no file, and its compressed stream stays incomplete.
    pub fn commit(self) -> Result<(), Failure> {
        let mut folders = Folders::default();
        self.commit_to(&mut folders)?;
        folders.sync()
    }

    /// Commits the file without syncing its folder. The caller syncs the folder once for all files in it; until then
    /// a power failure may lose the name of the file. Returns the identity of the new file.
    pub fn commit_to(mut self, folders: &mut Folders) -> Result<Option<Identity>, Failure> {
        self.end()?;
        self.sync()?;
        let Some(Stream::Plain(file)) = self.stream.take() else { return Ok(None) };
        let Place::Atomic(atomic) = file.place else { return Ok(None) };
        atomic.commit(&self.name, file.offset, self.read.as_ref(), folders)
    }
}

impl Atomic {
    fn commit(
        self,
        name: &str,
        offset: u64,
        read: Option<&Version>,
        folders: &mut Folders,
    ) -> Result<Option<Identity>, Failure> {
        let Atomic { temporary, target, backup, unfinished, others, sync, .. } = self;
        let metadata = temporary.as_file().metadata().map_err(|error| Failure::open(name, error))?;
        let identity = Identity::of(temporary.as_file(), &metadata);
        if let Some(read) = read {
            // Another process may still write to the file between this check and the renaming. No system call
            // prevents that.
            let now = fs::metadata(&target).map(|metadata| Version::of_path(&target, &metadata));
            if !now.is_ok_and(|now| now == *read) {
                let error = io::Error::other("the file changed while it was read, so it is not replaced");
                return Err(Failure::open(name, error));
            }
        }
        if let Some(backup) = backup {
            keep(&target, &backup).map_err(|error| Failure::open(shown(&backup), error))?;
        }
        if sync {
            folders.0.insert(folder(&target).to_owned());
        }
        let result = temporary.persist(target);
        result.map_err(|error| Failure::output(name, offset, error.error))?;
        unfinished.done();
        if others > 0 {
            let names = if others == 1 { "another name (hard link)" } else { "other names (hard links)" };
            warn(format_args!("{name}: the old file has {names}, with the old content"));
        }
        Ok(identity)
    }
}

/// The folders in which this run has given names to files.
#[derive(Default)]
pub struct Folders(BTreeSet<PathBuf>);

impl Folders {
    /// Waits until the names of the new files are on the disk.
    pub fn sync(self) -> Result<(), Failure> {
        // Only Unix can open a folder in order to sync it.
        #[cfg(unix)]
        for folder in self.0 {
            let result = File::open(&folder).and_then(|file| synced(&file));
            result.map_err(|error| Failure::open(shown(&folder), error))?;
        }
        Ok(())
    }
}

/// Waits until `file` is on the disk. Succeeds if the file cannot be synced, such as a pipe.
fn synced(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

impl Stream {
    fn counted(&self) -> &Counted {
        match self {
            Stream::Plain(file) => file,
            Stream::Compressed(writer) => writer.get_ref(),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(Stream::Compressed(writer)) = &mut self.stream {
            writer.get_mut().is_closed = true;
        }
    }
}

/// Returns whether `backup` is another name of the file `target`. A run that is killed between keeping the old file and replacing it
/// leaves the two names so.
fn is_kept(target: &Path, backup: &Path) -> bool {
    let identity = |path: &Path| Identity::of_path(path, &fs::symlink_metadata(path).ok()?);
    identity(target).is_some_and(|target| identity(backup) == Some(target))
}

/// Gives the file `target` the second name `backup`, or copies the file to that name.
fn keep(target: &Path, backup: &Path) -> io::Result<()> {
    // Renaming one name of a file to another name of it does nothing, so the temporary name would remain.
    if is_kept(target, backup) {
        return Ok(());
    }
    let (temporary, unfinished) = Unfinished::create(|| {
        let link = |path: &Path| fs::hard_link(target, path);
        // Some file systems do not support hard links.
        let copy = |path: &Path| fs::copy(target, path).map(drop);
        let builder = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".pct-").suffix(".tmp");
            builder
        };
        let folder = folder(target);
        builder().make_in(folder, link).or_else(|_| builder().make_in(folder, copy))
    })?;
    temporary.persist(backup).map_err(|error| error.error)?;
    unfinished.done();
    Ok(())
}

/// Opens the device or pipe at `path`. Returns `None` if the path names neither.
fn special(path: &Path) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => OpenOptions::new().write(true).open(path).map(Some),
        // Creating the file will report the error, if there is one.
        _ => Ok(None),
    }
}

/// Creates the temporary file that will replace the file at `path`. Returns it with the identity of the old file, if
/// there is one.
fn atomic(path: &Path, how: How<'_>) -> io::Result<(Atomic, Option<Identity>)> {
    let old = match OpenOptions::new().write(true).open(path) {
        // The old file is opened for writing, because a file without write permission must not be replaced either.
        Ok(file) => {
            let metadata = file.metadata()?;
            Some((file, metadata))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A symbolic link stays in place: the file that it points to is replaced.
    let target = match streams::resolved(path) {
        Ok(target) => target,
        Err(error) if old.is_some() => return Err(error),
        Err(_) if path.is_symlink() => {
            return Err(io::Error::new(ErrorKind::NotFound, "a symbolic link to a file that is not there"));
        }
        Err(_) => path.to_owned(),
    };
    let backup = Some(how.suffix).filter(|suffix| !suffix.is_empty()).map(|suffix| backup(&target, suffix));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pct-").suffix(".tmp");
    let mut permissions = None;
    #[cfg(unix)]
    if old.is_none() {
        permissions = Some(usual_permissions(&mut builder, folder(&target))?);
    }
    let (temporary, unfinished) = Unfinished::create(|| builder.tempfile_in(folder(&target)))?;
    #[cfg(unix)]
    let others = old
        .as_ref()
        .map_or(0, |(_, metadata)| std::os::unix::fs::MetadataExt::nlink(metadata).saturating_sub(1))
        .saturating_sub(backup.iter().filter(|backup| is_kept(&target, backup)).count() as u64);
    #[cfg(not(unix))]
    let others = 0;
    let mut identity = None;
    if let Some((old, metadata)) = old {
        let lost = attributes::keep(&old, &metadata, temporary.as_file())?;
        if !lost.is_empty() {
            warn(format_args!("{}: these extended attributes are lost: {}", shown(path), lost.join(", ")));
        }
        identity = Identity::of(&old, &metadata);
        permissions = Some(metadata.permissions());
    }
    Ok((
        Atomic {
            temporary,
            target,
            backup,
            unfinished,
            permissions,
            others,
            sync: how.sync,
            is_synced: false,
        },
        identity,
    ))
}

/// Returns the permissions of a new file in `folder`: all, less the umask or as the default access list of the folder says. They are
/// those of a file that is created and removed, because reading the umask would change it for other threads. Then sets the permissions
/// of `builder` to those of the user alone.
#[cfg(unix)]
fn usual_permissions(builder: &mut tempfile::Builder<'_, '_>, folder: &Path) -> io::Result<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(Permissions::from_mode(0o666));
    let (probe, _unfinished) = Unfinished::create(|| builder.tempfile_in(folder))?;
    builder.permissions(Permissions::from_mode(0o600));
    Ok(probe.as_file().metadata()?.permissions())
}

/// Reports whether both paths name the same regular file. If neither file exists, reports whether creating both would
/// create one file.
pub fn is_one(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        // The files are compared without opening them, because opening a pipe would wait.
        (Ok(of_a), Ok(of_b)) if of_a.is_file() && of_b.is_file() => {
            let identity = Identity::of_path(a, &of_a);
            identity.is_some() && identity == Identity::of_path(b, &of_b)
        }
        (Err(_), Err(_)) => {
            let is_one_directory = same_file::is_same_file(folder(a), folder(b));
            a.file_name() == b.file_name() && is_one_directory.unwrap_or(false)
        }
        _ => false,
    }
}

/// Reports whether standard output is a terminal that shows colours (no-color.org).
pub fn has_colours() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// Returns the name under which the old file `target` is kept: the path followed by `suffix`.
pub fn backup(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
