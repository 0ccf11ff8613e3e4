//! Where output goes: standard output, or a file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Failure;
use crate::unfinished::Unfinished;

/// What standard output is called in messages.
pub const STDOUT: &str = "<stdout>";

/// One open output.
pub struct Output {
    name: String,
    place: Place,
    /// The octets written so far.
    offset: u64,
}

enum Place {
    /// Standard output, or a device or pipe that was named: what is written is gone.
    Direct(File),
    /// A new file next to `target`, which it will replace.
    Atomic { temporary: NamedTempFile, target: PathBuf, unfinished: Unfinished },
}

impl Output {
    /// Opens `path`, or standard output when there is none or it is `-`.
    pub fn create(path: Option<&Path>) -> Result<Output, Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let file = stdout().map_err(|error| Failure::open(STDOUT, error))?;
            return Ok(Output { name: STDOUT.to_owned(), place: Place::Direct(file), offset: 0 });
        };
        let place = place(path).map_err(|error| Failure::open(path.display(), error))?;
        Ok(Output { name: path.display().to_string(), place, offset: 0 })
    }

    /// Fails when `input` is the very file that is being written to, which would feed on itself. A file that is
    /// replaced at the end may well be an input.
    pub fn forbid(&self, input: &File, name: &str) -> Result<(), Failure> {
        match &self.place {
            Place::Direct(file) if same_file(file, input) => Err(Failure::Usage(format!(
                "{name}: the input is the output as well; name it with -o instead"
            ))),
            _ => Ok(()),
        }
    }

    /// Writes all of `octets`.
    pub fn write(&mut self, octets: &[u8]) -> Result<(), Failure> {
        let mut file = match &self.place {
            Place::Direct(file) => file,
            Place::Atomic { temporary, .. } => temporary.as_file(),
        };
        file.write_all(octets).map_err(|error| Failure::output(&self.name, self.offset, error))?;
        self.offset += octets.len() as u64;
        Ok(())
    }

    /// Puts a new file in the place of the old one. An output that is dropped without this leaves no trace.
    pub fn commit(self) -> Result<(), Failure> {
        if let Place::Atomic { temporary, target, unfinished } = self.place {
            let result = temporary.persist(target);
            result.map_err(|error| Failure::output(&self.name, self.offset, error.error))?;
            unfinished.done();
        }
        Ok(())
    }
}

fn place(path: &Path) -> io::Result<Place> {
    let permissions = match fs::metadata(path) {
        Ok(old) if old.is_file() => {
            // A file that could not be written to shall not be replaced either.
            OpenOptions::new().write(true).open(path)?;
            Some(old.permissions())
        }
        Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => return Ok(Place::Direct(OpenOptions::new().write(true).open(path)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A symbolic link stays one: what it points to is replaced.
    let target = if permissions.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pct-").suffix(".tmp");
    // Without an old file: what any program makes, less the umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (temporary, unfinished) = Unfinished::create(|| builder.tempfile_in(directory))?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    Ok(Place::Atomic { temporary, target, unfinished })
}

/// Whether both are one regular file.
fn same_file(a: &File, b: &File) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) {
        use std::os::unix::fs::MetadataExt;
        return a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    #[cfg(not(unix))]
    let _ = (a, b);
    false
}

/// Standard output as a file of its own, without the line buffer of [`io::stdout`].
fn stdout() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from)
}
