//! Opens streams that already exist: the standard streams, and those that a path such as `/dev/fd/3` names.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::version::Identity;

/// The maximum number of symbolic links to follow, as in Linux.
const LINKS: usize = 40;

/// Returns standard input as a file, without the buffer of [`io::stdin`].
pub fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    owned.map(File::from)
}

/// Returns standard output as a file, without the line buffer of [`io::stdout`].
pub fn stdout() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from)
}

/// Returns standard error as a file.
pub fn stderr() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stderr()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stderr()).try_clone_to_owned();
    owned.map(File::from)
}

/// Returns the open stream that `path` names, or `None` if it names none. The stream is a descriptor of this process,
/// or the regular file that standard output or standard error is redirected to.
///
/// All users of the stream share one position, and writes continue there. Replacing the file would lose the bytes
/// that the other users write.
pub fn of_path(path: &Path) -> io::Result<Option<File>> {
    match descriptor(path) {
        Some(0) => stdin().map(Some),
        Some(1) => stdout().map(Some),
        Some(2) => stderr().map(Some),
        Some(number) => duplicate(number, path).map(Some),
        None => {
            let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file);
            let identity = metadata.and_then(|metadata| Identity::of_path(path, &metadata));
            match identity.and_then(|identity| shared(&identity)) {
                Some(1) => stdout().map(Some),
                Some(_) => stderr().map(Some),
                None => Ok(None),
            }
        }
    }
}

/// Reports whether `path` names standard output, or the regular file that standard output is redirected to.
pub fn is_stdout(path: &Path) -> bool {
    if let Some(number) = descriptor(path) {
        return number == 1;
    }
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    let identity = metadata.and_then(|metadata| Identity::of_path(path, &metadata));
    identity.and_then(|identity| shared(&identity)) == Some(1)
}

/// Returns the number of the standard stream, 1 or 2, that is redirected to the regular file with this `identity`;
/// `None` if neither is.
pub fn shared(identity: &Identity) -> Option<u32> {
    static OPEN: OnceLock<[(u32, Option<Identity>); 2]> = OnceLock::new();
    let of = |file: io::Result<File>| {
        let file = file.ok()?;
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        Identity::of(&file, &metadata)
    };
    let open = OPEN.get_or_init(|| [(1, of(stdout())), (2, of(stderr()))]);
    open.iter().find(|(_, open)| open.as_ref() == Some(identity)).map(|(number, _)| *number)
}

/// Returns the number of the descriptor of this process that `path` names: `/dev/stdout`, `/dev/fd/3`,
/// `/proc/self/fd/3`, or a link to one of these.
fn descriptor(path: &Path) -> Option<u32> {
    if !cfg!(unix) {
        return None;
    }
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        // The loop ends here for most paths: they are not links, and their folder does not hold descriptors.
        let number = path.file_name()?.to_str().and_then(|name| name.parse().ok());
        if let Some(number) = number
            && is_folder_of_descriptors(folder(&path))
        {
            return Some(number);
        }
        let link = fs::read_link(&path).ok()?;
        path = folder(&path).join(link);
    }
    None
}

fn is_folder_of_descriptors(folder: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder) else { return false };
    let known = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"];
    known.iter().any(|known| fs::canonicalize(known).is_ok_and(|known| known == folder))
}

/// Returns the folder that holds `path`.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Duplicates the descriptor `number`, which `path` names. On Linux, opening the path instead would open the file a
/// second time, with the position at its start.
#[cfg(target_os = "linux")]
fn duplicate(number: u32, path: &Path) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let number = i32::try_from(number).map_err(|_| io::ErrorKind::NotFound)?;
    let duplicate = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|process| pidfd_getfd(process, number, PidfdGetfdFlags::empty()));
    match duplicate {
        Ok(descriptor) => Ok(File::from(descriptor)),
        Err(error) => {
            // Old kernels and sandboxes lack the system call `pidfd_getfd`. A pipe or device has no position, so
            // opening its path is equivalent.
            if fs::metadata(path)?.is_file() { Err(error.into()) } else { open(path) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn duplicate(_: u32, path: &Path) -> io::Result<File> {
    open(path)
}

fn open(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().write(true).open(path)
}

/// A file whose reads and writes wait until they can proceed, even if another process has made the pipe non-blocking.
pub struct Patient<F>(pub F);

impl<F: AsFile> Patient<F> {
    fn wait(&self, error: io::Error, for_input: bool) -> io::Result<()> {
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            #[cfg(unix)]
            io::ErrorKind::WouldBlock => {
                use rustix::event::{PollFd, PollFlags, poll};
                let wanted = if for_input { PollFlags::IN } else { PollFlags::OUT };
                match poll(&mut [PollFd::new(self.0.file(), wanted)], None) {
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

/// A type that holds or borrows a file.
pub trait AsFile {
    fn file(&self) -> &File;
}

impl AsFile for File {
    fn file(&self) -> &File {
        self
    }
}

impl AsFile for &File {
    fn file(&self) -> &File {
        self
    }
}

impl<F: AsFile> io::Read for Patient<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.file().read(bytes) {
                Err(error) => self.wait(error, true)?,
                result => return result,
            }
        }
    }
}

impl<F: AsFile> io::Write for Patient<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.file().write(bytes) {
                Err(error) => self.wait(error, false)?,
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the target of `path` if it is a symbolic link, and `path` otherwise.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path),
        Ok(_) => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}
