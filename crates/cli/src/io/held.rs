//! Holds bytes in a temporary file, because memory is bounded, until it is known whether they must be written.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};

use super::BLOCK;
use crate::common::error::Failure;

/// Bytes in a temporary file.
pub struct Held {
    file: File,
    len: u64,
    /// The number of line feeds in the file.
    line_feeds: u64,
    /// The last byte of the file.
    last: Option<u8>,
}

impl Held {
    /// Creates an empty temporary file.
    pub fn new() -> Result<Held, Failure> {
        match tempfile::tempfile().and_then(private) {
            Ok(file) => Ok(Held { file, len: 0, line_feeds: 0, last: None }),
            Err(error) => Err(Failure::open(Held::name(), error)),
        }
    }

    /// Returns the name of the temporary file for messages.
    pub(super) fn name() -> String {
        format!("temporary file in {}", std::env::temp_dir().display())
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| Failure::output(Held::name(), self.len, error))?;
        self.len += bytes.len() as u64;
        self.line_feeds += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.last = bytes.last().copied().or(self.last);
        Ok(())
    }

    /// Returns the last byte, if there is one.
    pub fn last(&self) -> Option<u8> {
        self.last
    }

    /// Returns the number of lines. The last one may lack its line feed.
    pub fn lines(&self) -> u64 {
        self.line_feeds + u64::from(self.last.is_some_and(|last| last != b'\n'))
    }

    /// Reports whether `other` holds the same bytes.
    pub fn equals(&mut self, other: &mut Held) -> Result<bool, Failure> {
        let mut is_same = self.len == other.len;
        other.rewind()?;
        let mut theirs = vec![0; BLOCK];
        self.each(|ours| {
            if is_same {
                let theirs = &mut theirs[..ours.len()];
                other.file.read_exact(theirs).map_err(|error| Failure::open(Held::name(), error))?;
                is_same = ours == theirs;
            }
            Ok(())
        })?;
        Ok(is_same)
    }

    /// Passes all bytes to `take`, block by block.
    pub fn each(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        self.rewind()?;
        let mut block = vec![0; BLOCK];
        loop {
            match self.file.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(len) => take(&block[..len])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::open(Held::name(), error)),
            }
        }
    }

    fn rewind(&mut self) -> Result<(), Failure> {
        self.file.rewind().map_err(|error| Failure::open(Held::name(), error))
    }
}

/// Returns `file`, which only the user may open, also by a name such as `/proc/1/fd/3`.
fn private(file: File) -> io::Result<File> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}
