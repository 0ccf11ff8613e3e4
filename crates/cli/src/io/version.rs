//! Identifies files and the versions of their contents.

use std::fs::{self, File, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// The identity of a file, which is the same for all names of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity((u64, u64));

#[cfg(unix)]
impl Identity {
    /// Returns the identity of `file`.
    pub fn of(file: &File) -> Option<Identity> {
        file.metadata().ok().map(|metadata| Identity::new(&metadata))
    }

    /// Returns the identity of the file at `path`.
    pub fn of_path(path: &Path) -> Option<Identity> {
        fs::metadata(path).ok().map(|metadata| Identity::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity((metadata.dev(), metadata.ino()))
    }
}

#[cfg(windows)]
impl Identity {
    /// Returns the identity of `file`. It keeps no handle of the file, because Windows does not replace a file that is open.
    pub fn of(file: &File) -> Option<Identity> {
        let information = winapi_util::file::information(file).ok()?;
        Some(Identity((information.volume_serial_number(), information.file_index())))
    }

    /// Returns the identity of the file at `path`.
    pub fn of_path(path: &Path) -> Option<Identity> {
        Identity::of(&File::open(path).ok()?)
    }
}

/// The version of a file's content. It changes when the file is written or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    identity: Option<Identity>,
    len: u64,
    modified: Option<SystemTime>,
}

impl Version {
    /// Returns the version of `file`; `None` if it is not a regular file.
    pub fn of(file: &File) -> Option<Version> {
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        Some(Version::new(Identity::of(file), &metadata))
    }

    /// Returns the version of the file at `path`; `None` if it is not a regular file.
    pub fn of_path(path: &Path) -> Option<Version> {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Version::new(Identity::of_path(path), &metadata))
    }

    fn new(identity: Option<Identity>, metadata: &Metadata) -> Version {
        Version { identity, len: metadata.len(), modified: metadata.modified().ok() }
    }

    /// Returns the length of the file, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the identity of the file.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }
}
