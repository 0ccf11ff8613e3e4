//! Where output goes: standard output, or a file that appears whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::attributes;
use super::compression::{Format, Writer};
use super::streams::{self, Patient, folder};
use super::unfinished::Unfinished;
use super::version::{Identity, Version};
use crate::ground::error::{Failure, warn};
use crate::ground::shown::shown;

pub use super::streams::is_stdout;

/// What standard output is called in messages.
pub const STDOUT: &str = "<stdout>";

/// One open output.
pub struct Output {
    name: String,
    /// There until it is committed.
    stream: Option<Stream>,
    /// Which file is written to or will be replaced, if it is a regular one.
    identity: Option<Identity>,
    /// The version of the file to be replaced that was read.
    read: Option<Version>,
}

enum Stream {
    Plain(Counted),
    Compressed(Box<Writer<Counted>>),
}

/// A file that counts the bytes written to it.
struct Counted {
    place: Place,
    /// The bytes written so far.
    offset: u64,
    /// Whether nothing more shall be written: compressors would end what an error has cut off.
    is_closed: bool,
}

enum Place {
    /// Standard output, or a device or pipe that was named: what is written is gone.
    Direct(File),
    /// A new file next to `target`, which it will replace.
    Atomic(Box<Atomic>),
}

/// A file that appears whole or not at all.
struct Atomic {
    temporary: NamedTempFile,
    target: PathBuf,
    /// The name under which the old file is kept.
    backup: Option<PathBuf>,
    unfinished: Unfinished,
    /// Whether it must be on the disk before it gets its name.
    sync: bool,
    /// Whether it is.
    is_synced: bool,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let len = match &self.place {
            Place::Direct(file) => Patient(file).write(bytes)?,
            // Others may write to it, too, where room was left for them.
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

/// A file of which several threads write parts.
pub struct Shared(#[cfg_attr(not(unix), allow(dead_code, reason = "there are none"))] File);

impl Shared {
    /// Writes all of `bytes` at `place`.
    pub fn write(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, place);
        #[cfg(not(unix))]
        return Err(io::Error::new(ErrorKind::Unsupported, format!("{} bytes at {place}", bytes.len())));
    }
}

/// How a file is made.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The format and level, if it is compressed.
    pub compression: Option<(Format, u8)>,
    /// What the old file is called then, after its name; it is not kept if this is empty.
    pub suffix: &'a str,
    /// Whether the file must be on the disk when it has its name.
    pub sync: bool,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Result<Output, Failure> {
        Output::create(None, How { compression: None, suffix: "", sync: false })
    }

    /// Opens `path`, or standard output when there is none or it is `-`.
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

    /// Writes to `file` as it is.
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

    /// Opens a file that will replace that of the name `path`.
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

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it appears whole or not at all.
    pub fn is_atomic(&self) -> bool {
        matches!(self.stream.as_ref().map(|stream| &stream.counted().place), Some(Place::Atomic(_)))
    }

    /// Records that `version` of a file is an input. Fails when that is the very file that is being written to, which
    /// would feed on itself. A file that is replaced at the end may well be an input, if it stays the same until then.
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

    /// Whether this is written to the file of this `version`, or will replace it.
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

    /// The file that is written to, once more, if nobody can see it before it is whole: then its parts can be written in
    /// any order, to the places that [`Output::reserve`] gives.
    pub fn shared(&self) -> Option<Shared> {
        match &self.stream {
            #[cfg(unix)]
            Some(Stream::Plain(Counted { place: Place::Atomic(atomic), .. })) => {
                atomic.temporary.as_file().try_clone().ok().map(Shared)
            }
            _ => None,
        }
    }

    /// Leaves room for `len` bytes, which must be written to the [`Shared`] file, and returns their place.
    pub fn reserve(&mut self, len: usize) -> u64 {
        let Some(Stream::Plain(file)) = &mut self.stream else { return 0 };
        let place = file.offset;
        file.offset += len as u64;
        place
    }

    /// What to say of an `error` that came from writing at `offset`.
    pub fn failed(&self, offset: u64, error: io::Error) -> Failure {
        Failure::output(&self.name, offset, error)
    }

    /// Ends the compressed form, if it has one. Nothing can be written any more.
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

    /// Waits until a new file that has been ended is on the disk, if it must be before it gets its name. Of several files,
    /// each can wait on a thread of its own.
    pub fn sync(&mut self) -> Result<(), Failure> {
        let Some(Stream::Plain(Counted { place: Place::Atomic(atomic), offset, .. })) = &mut self.stream
        else {
            return Ok(());
        };
        if atomic.sync && !atomic.is_synced {
            let result = synced(atomic.temporary.as_file());
            result.map_err(|error| Failure::output(&self.name, *offset, error))?;
            atomic.is_synced = true;
        }
        Ok(())
    }

    /// Ends the compressed form, if it has one, and puts a new file in the place of the old one. An output that is
    /// dropped without this leaves no trace of a file, and a compressed stream is not ended.
    pub fn commit(self) -> Result<(), Failure> {
        let mut folders = Folders::default();
        self.commit_to(&mut folders)?;
        folders.sync()
    }

    /// The same, but that the name of the file may be lost with the power until `folders` are synced: each only once.
    /// Returns which file has come into being.
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
        let Atomic { temporary, target, backup, unfinished, sync, .. } = self;
        let metadata = temporary.as_file().metadata().map_err(|error| Failure::open(name, error))?;
        let identity = Identity::of(temporary.as_file(), &metadata);
        if let Some(read) = read {
            // Nobody can be kept from writing between this look and the new name, but it is a moment.
            let now = fs::metadata(&target).map(|metadata| Version::of_path(&target, &metadata));
            if !now.is_ok_and(|now| now == *read) {
                let error = io::Error::other("changed while it was read, so it stays as it is");
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
        Ok(identity)
    }
}

/// Folders in which files have got new names.
#[derive(Default)]
pub struct Folders(BTreeSet<PathBuf>);

impl Folders {
    /// Puts those names on the disk.
    pub fn sync(self) -> Result<(), Failure> {
        // Elsewhere a folder cannot be opened.
        #[cfg(unix)]
        for folder in self.0 {
            let result = File::open(&folder).and_then(|file| synced(&file));
            result.map_err(|error| Failure::open(shown(&folder), error))?;
        }
        Ok(())
    }
}

/// Waits until `file` is on the disk, where there is a disk.
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

/// Gives the file `target` the name `backup` as well, whole or not at all.
fn keep(target: &Path, backup: &Path) -> io::Result<()> {
    let (temporary, unfinished) = Unfinished::create(|| {
        let link = |path: &Path| fs::hard_link(target, path);
        // Not every file system has links.
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

/// The device or pipe at `path`, if it is there and is one.
fn special(path: &Path) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => OpenOptions::new().write(true).open(path).map(Some),
        // What is wrong will be wrong with the file, too.
        _ => Ok(None),
    }
}

/// A new file that will replace that of the name `path`; and which file that is, if it is there.
fn atomic(path: &Path, how: How<'_>) -> io::Result<(Atomic, Option<Identity>)> {
    let old = match OpenOptions::new().write(true).open(path) {
        // A file that could not be written to shall not be replaced either.
        Ok(file) => {
            let metadata = file.metadata()?;
            Some((file, metadata))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A symbolic link stays one: what it points to is replaced.
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
    // Without an old file: what any program makes, less the umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (temporary, unfinished) = Unfinished::create(|| builder.tempfile_in(folder(&target)))?;
    let mut identity = None;
    if let Some((old, metadata)) = old {
        let lost = attributes::keep(&old, &metadata, temporary.as_file())?;
        if !lost.is_empty() {
            warn(format_args!("{}: these extended attributes are lost: {}", shown(path), lost.join(", ")));
        }
        identity = Identity::of(&old, &metadata);
    }
    Ok((Atomic { temporary, target, backup, unfinished, sync: how.sync, is_synced: false }, identity))
}

/// Whether files of these names would be one: the names of one regular file, or of one that is not there yet.
pub fn is_one(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        // Nothing is opened: a pipe would wait.
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

/// Whether standard output is a terminal on which colours are welcome (no-color.org).
pub fn has_colours() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// The name under which the old file of the name `target` is kept.
pub fn backup(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
