//! Where input comes from: files and standard input, in blocks.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::Failure;

/// The octets read at once: what a pipe holds, and so few that input and output stay in the second-level cache.
pub const BLOCK: usize = 64 * 1024;

/// What standard input is called in messages.
pub const STDIN: &str = "<stdin>";

/// The files to read, or standard input when none is named.
pub fn names(files: &[PathBuf]) -> &[PathBuf] {
    static STDIN: std::sync::LazyLock<[PathBuf; 1]> = std::sync::LazyLock::new(|| [PathBuf::from("-")]);
    if files.is_empty() { &*STDIN } else { files }
}

/// One open input.
pub struct Input {
    name: String,
    file: File,
    /// The octets read so far.
    offset: u64,
}

impl Input {
    /// Opens `path`; `-` is standard input.
    pub fn open(path: &Path) -> Result<Input, Failure> {
        if path.as_os_str() == "-" {
            let file = stdin().map_err(|error| Failure::open(STDIN, error))?;
            return Ok(Input { name: STDIN.to_owned(), file, offset: 0 });
        }
        let file = File::open(path).map_err(|error| Failure::open(path.display(), error))?;
        Ok(Input { name: path.display().to_string(), file, offset: 0 })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The number of octets read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads what is there, at most a `block` of it, and returns how much; 0 at the end. It does not wait to fill
    /// the block, so a slow producer sees its output at once.
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.file.read(block) {
                Ok(len) => {
                    self.offset += len as u64;
                    return Ok(len);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::input(&self.name, self.offset, error)),
            }
        }
    }
}

/// Standard input as a file of its own, without the buffer of [`io::stdin`].
fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    owned.map(File::from)
}
