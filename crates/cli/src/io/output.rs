//! Where output goes: standard output, or a file that appears whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;
use tempfile::NamedTempFile;

use super::compression::{Format, Writer};
use super::unfinished::Unfinished;
use crate::ground::error::Failure;

/// What standard output is called in messages.
pub const STDOUT: &str = "<stdout>";

/// One open output.
pub struct Output {
    name: String,
    /// There until it is committed.
    stream: Option<Stream>,
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
    /// A new file next to `target`, which it will replace; the old one will be kept as `backup`.
    Atomic { temporary: NamedTempFile, target: PathBuf, backup: Option<PathBuf>, unfinished: Unfinished },
}

impl Counted {
    fn file(&self) -> &File {
        match &self.place {
            Place::Direct(file) => file,
            Place::Atomic { temporary, .. } => temporary.as_file(),
        }
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let len = self.file().write(bytes)?;
        self.offset += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Opens `path`, or standard output when there is none or it is `-`.
    pub fn create(path: Option<&Path>) -> Result<Output, Failure> {
        Output::compressed(path, None)
    }

    /// Opens `path`, or standard output when there is none or it is `-`, to be compressed if `compression` names a
    /// format and level.
    pub fn compressed(path: Option<&Path>, compression: Option<(Format, u8)>) -> Result<Output, Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let file = stdout().map_err(|error| Failure::open(STDOUT, error))?;
            if compression.is_some() && file.is_terminal() {
                return Err(Failure::Usage(
                    "compressed output is not for a terminal; name a file with -o".to_owned(),
                ));
            }
            return Output::new(STDOUT.to_owned(), Place::Direct(file), compression);
        };
        let place = place(path, None).map_err(|error| Failure::open(path.display(), error))?;
        Output::new(path.display().to_string(), place, compression)
    }

    /// Opens a file that will replace that of the name `path`, which is kept under its name and `suffix`, if there
    /// is one.
    pub fn replace(path: &Path, compression: Option<(Format, u8)>, suffix: &str) -> Result<Output, Failure> {
        let suffix = Some(suffix).filter(|suffix| !suffix.is_empty());
        let place = place(path, suffix).map_err(|error| Failure::open(path.display(), error))?;
        Output::new(path.display().to_string(), place, compression)
    }

    fn new(name: String, place: Place, compression: Option<(Format, u8)>) -> Result<Output, Failure> {
        let file = Counted { place, offset: 0, is_closed: false };
        let stream = match compression {
            None => Stream::Plain(file),
            Some((format, level)) => {
                let writer = Writer::new(format, level, file);
                Stream::Compressed(Box::new(writer.map_err(|error| Failure::open(&name, error))?))
            }
        };
        Ok(Output { name, stream: Some(stream) })
    }

    /// Fails when `input` is the very file that is being written to, which would feed on itself. A file that is
    /// replaced at the end may well be an input.
    pub fn forbid(&self, input: &File, name: &str) -> Result<(), Failure> {
        match self.stream.as_ref().map(|stream| &stream.counted().place) {
            Some(Place::Direct(file)) if is_same(file, input) => Err(Failure::Usage(format!(
                "{name}: the input is the output as well; name it with -o instead"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether this is written to `input`, or will replace it.
    pub fn harms(&self, input: &File) -> bool {
        match self.stream.as_ref().map(|stream| &stream.counted().place) {
            Some(Place::Direct(file)) => is_same(file, input),
            Some(Place::Atomic { target, .. }) => File::open(target).is_ok_and(|file| is_same(&file, input)),
            None => false,
        }
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

    /// Ends the compressed form, if it has one, and puts a new file in the place of the old one. An output that is
    /// dropped without this leaves no trace of a file, and a compressed stream is not ended.
    pub fn commit(mut self) -> Result<(), Failure> {
        if let Some(Stream::Compressed(writer)) = &mut self.stream {
            let result = writer.finish();
            result.map_err(|error| Failure::output(&self.name, writer.get_ref().offset, error))?;
        }
        let Some(stream) = self.stream.take() else { return Ok(()) };
        let file = match stream {
            Stream::Plain(file) => file,
            Stream::Compressed(writer) => {
                let result = writer.into_inner();
                result.map_err(|error| Failure::open(&self.name, error))?
            }
        };
        if let Place::Atomic { temporary, target, backup, unfinished } = file.place {
            if let Some(backup) = backup {
                keep(&target, &backup).map_err(|error| Failure::open(backup.display(), error))?;
            }
            let result = temporary.persist(target);
            result.map_err(|error| Failure::output(&self.name, file.offset, error.error))?;
            unfinished.done();
        }
        Ok(())
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
        let directory = directory(target);
        builder().make_in(directory, link).or_else(|_| builder().make_in(directory, copy))
    })?;
    temporary.persist(backup).map_err(|error| error.error)?;
    unfinished.done();
    Ok(())
}

/// The directory that holds `path`.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn place(path: &Path, suffix: Option<&str>) -> io::Result<Place> {
    let old = match fs::metadata(path) {
        Ok(old) if old.is_file() => {
            // A file that could not be written to shall not be replaced either.
            OpenOptions::new().write(true).open(path)?;
            Some(old)
        }
        Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => return Ok(Place::Direct(OpenOptions::new().write(true).open(path)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A symbolic link stays one: what it points to is replaced.
    let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let backup = suffix.map(|suffix| backup(&target, suffix));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pct-").suffix(".tmp");
    // Without an old file: what any program makes, less the umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (temporary, unfinished) = Unfinished::create(|| builder.tempfile_in(directory(&target)))?;
    if let Some(old) = old {
        keep_owner(temporary.as_file(), &old);
        temporary.as_file().set_permissions(old.permissions())?;
    }
    Ok(Place::Atomic { temporary, target, backup, unfinished })
}

/// Gives `file` the owner and group of the `old` one, if this user may.
fn keep_owner(file: &File, old: &Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Who may not give files away replaces them by their own, as with `sed -i`.
        let _ = fchown(file, None, Some(old.gid()));
        let _ = fchown(file, Some(old.uid()), None);
    }
    #[cfg(not(unix))]
    let _ = (file, old);
}

/// Whether both are one regular file, whatever its names.
fn is_same(a: &File, b: &File) -> bool {
    let handle = |file: &File| file.try_clone().and_then(Handle::from_file).ok();
    a.metadata().is_ok_and(|a| a.is_file()) && handle(a).is_some_and(|a| handle(b) == Some(a))
}

/// Whether files of these names would be one: the names of one regular file, or of one that is not there yet.
pub fn is_one(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(metadata), Ok(_)) => metadata.is_file() && same_file::is_same_file(a, b).unwrap_or(false),
        (Err(_), Err(_)) => {
            let is_one_directory = same_file::is_same_file(directory(a), directory(b));
            a.file_name() == b.file_name() && is_one_directory.unwrap_or(false)
        }
        _ => false,
    }
}

/// Whether standard output is the regular file `path`.
pub fn is_stdout(path: &Path) -> bool {
    stdout().is_ok_and(|stdout| File::open(path).is_ok_and(|file| is_same(&stdout, &file)))
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

/// Standard output as a file of its own, without the line buffer of [`io::stdout`].
fn stdout() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from)
}
