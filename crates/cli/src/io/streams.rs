//! Opens streams that already exist: the standard streams, and those that a path such as `/dev/stdout` names.
//! Identifies files and the versions of their contents.

use std::borrow::Borrow;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Returns standard input as a file, without the buffer of [`io::stdin`].
pub fn stdin() -> io::Result<File> {
    duplicate(&io::stdin())
}

/// Returns standard output as a file, without the line buffer of [`io::stdout`].
pub fn stdout() -> io::Result<File> {
    duplicate(&io::stdout())
}

/// Returns standard error as a file.
pub fn stderr() -> io::Result<File> {
    duplicate(&io::stderr())
}

#[cfg(unix)]
fn duplicate(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn duplicate(stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    stream.as_handle().try_clone_to_owned().map(File::from)
}

/// Returns standard output or standard error if `path` names it: as `/dev/stdout`, or as the regular file that it is
/// redirected to. Returns an error for another regular file in `/dev/fd`, and `None` for all other paths.
///
/// All processes that write to the stream share one position, and writes continue there. Replacing the file would lose
/// the bytes that other processes write.
pub fn of_path(path: &Path) -> io::Result<Option<File>> {
    match number(path) {
        Some(1) => stdout().map(Some),
        Some(_) => stderr().map(Some),
        None if is_other_descriptor(path) => {
            let message = "this file is open already; write to it as standard output, as in `>&3`";
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        None => Ok(None),
    }
}

/// Reports whether `path` names standard output, or the regular file that standard output is redirected to.
pub fn is_stdout(path: &Path) -> bool {
    number(path) == Some(1)
}

/// Returns the number of the standard stream, 1 or 2, that `path` names.
fn number(path: &Path) -> Option<u32> {
    match path.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => Some(1),
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => Some(2),
        _ => shared(Version::of_path(path)?.identity?),
    }
}

/// Returns the number (1 or 2) of the standard stream that is redirected to the regular file `identity`, if any.
pub fn shared(identity: Identity) -> Option<u32> {
    static OPEN: OnceLock<[Option<Identity>; 2]> = OnceLock::new();
    let of = |file: io::Result<File>| Version::of(&file.ok()?)?.identity;
    let [stdout, stderr] = OPEN.get_or_init(|| [of(stdout()), of(stderr())]);
    if *stdout == Some(identity) { Some(1) } else { (*stderr == Some(identity)).then_some(2) }
}

/// Reports whether `path` is a name such as `/dev/fd/3`, of a regular file that is open already. Linux would open that
/// file a second time, with the position at its start.
fn is_other_descriptor(path: &Path) -> bool {
    let is_open = |folder| fs::canonicalize("/dev/fd").is_ok_and(|descriptors| descriptors == folder);
    path.is_file() && fs::canonicalize(folder(path)).is_ok_and(is_open)
}

/// Returns the folder that holds `path`.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file whose reads and writes wait until they can proceed, even if another process has made the file non-blocking.
pub struct BlockingFile<F>(pub F);

impl<F: Borrow<File>> BlockingFile<F> {
    /// Repeats `call` while the file is not ready or a signal interrupts. `for_input` says whether `call` reads.
    fn retry(&self, for_input: bool, mut call: impl FnMut(&File) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match call(self.0.borrow()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                #[cfg(unix)]
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    use rustix::event::{PollFd, PollFlags, poll};
                    let wanted = if for_input { PollFlags::IN } else { PollFlags::OUT };
                    match poll(&mut [PollFd::new(self.0.borrow(), wanted)], None) {
                        Ok(_) | Err(rustix::io::Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                result => {
                    let _ = for_input;
                    return result;
                }
            }
        }
    }
}

impl<F: Borrow<File>> Read for BlockingFile<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.retry(true, |mut file| file.read(bytes))
    }
}

impl<F: Borrow<File>> Write for BlockingFile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(false, |mut file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The identity of a file, which is the same for all names of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity(u64, u64);

#[cfg(unix)]
impl Identity {
    /// Returns the identity of `file`, which has this metadata.
    pub fn of(_: &File, metadata: &Metadata) -> Option<Identity> {
        Some(Identity::new(metadata))
    }

    /// Returns the identity of the file at `path`.
    pub fn of_path(path: &Path) -> Option<Identity> {
        fs::metadata(path).ok().map(|metadata| Identity::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity(metadata.dev(), metadata.ino())
    }
}

#[cfg(windows)]
impl Identity {
    /// Returns the identity of `file`. It holds no handle, because Windows does not replace a file that is open.
    pub fn of(file: &File, _: &Metadata) -> Option<Identity> {
        let information = winapi_util::file::information(file).ok()?;
        Some(Identity(information.volume_serial_number(), information.file_index()))
    }

    /// Returns the identity of the file at `path`.
    pub fn of_path(path: &Path) -> Option<Identity> {
        let file = File::open(path).ok()?;
        Identity::of(&file, &file.metadata().ok()?)
    }
}

/// The version of a file's content. It changes when the file is written or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The identity of the file.
    pub identity: Option<Identity>,
    /// The length of the file, in bytes.
    pub len: u64,
    modified: Option<SystemTime>,
}

impl Version {
    /// Returns the version of `file`; `None` if it is not a regular file.
    pub fn of(file: &File) -> Option<Version> {
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        Some(Version::new(Identity::of(file, &metadata), &metadata))
    }

    /// Returns the version of the file at `path`; `None` if it is not a regular file.
    pub fn of_path(path: &Path) -> Option<Version> {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Version::new(Identity::of_path(path), &metadata))
    }

    fn new(identity: Option<Identity>, metadata: &Metadata) -> Version {
        Version { identity, len: metadata.len(), modified: metadata.modified().ok() }
    }
}
