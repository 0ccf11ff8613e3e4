//! Opens streams that already exist: the standard streams, and those that a path such as `/dev/stdout` names.

use std::borrow::Borrow;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::version::{Identity, Version};

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

/// Returns standard output or standard error if `path` names it: as `/dev/stdout`, or as the regular file that it is redirected to.
/// Returns `None` if `path` names neither.
///
/// All users of the stream share one position, and writes continue there. Replacing the file would lose the bytes that the other users
/// write.
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
        _ => shared(Version::of_path(path)?.identity()?),
    }
}

/// Returns the number of the standard stream, 1 or 2, that is redirected to the regular file with this `identity`; `None` if neither is.
pub fn shared(identity: &Identity) -> Option<u32> {
    static OPEN: OnceLock<[Option<Identity>; 2]> = OnceLock::new();
    let of = |file: io::Result<File>| Version::of(&file.ok()?)?.identity().cloned();
    let [stdout, stderr] = OPEN.get_or_init(|| [of(stdout()), of(stderr())]);
    let is = |stream: &Option<Identity>| stream.as_ref() == Some(identity);
    if is(stdout) { Some(1) } else { is(stderr).then_some(2) }
}

/// Reports whether `path` is such as `/dev/fd/3` and names a regular file. Linux would open that file a second time, with the position at
/// its start.
fn is_other_descriptor(path: &Path) -> bool {
    let is_open = |folder| fs::canonicalize("/dev/fd").is_ok_and(|descriptors| descriptors == folder);
    path.is_file() && fs::canonicalize(folder(path)).is_ok_and(is_open)
}

/// Returns the folder that holds `path`.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file whose reads and writes wait until they can proceed, even if another process has made the pipe non-blocking.
pub struct BlockingFile<F>(pub F);

impl<F: Borrow<File>> BlockingFile<F> {
    fn wait(&self, error: io::Error, for_input: bool) -> io::Result<()> {
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            #[cfg(unix)]
            io::ErrorKind::WouldBlock => {
                use rustix::event::{PollFd, PollFlags, poll};
                let wanted = if for_input { PollFlags::IN } else { PollFlags::OUT };
                match poll(&mut [PollFd::new(self.0.borrow(), wanted)], None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
            _ => {
                let _ = for_input;
                Err(error)
            }
        }
    }
}

impl<F: Borrow<File>> io::Read for BlockingFile<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.borrow().read(bytes) {
                Err(error) => self.wait(error, true)?,
                result => return result,
            }
        }
    }
}

impl<F: Borrow<File>> io::Write for BlockingFile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.borrow().write(bytes) {
                Err(error) => self.wait(error, false)?,
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
