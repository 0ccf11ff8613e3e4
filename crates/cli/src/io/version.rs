//! Identifies files and the versions of their contents.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// The identity of a file, which is the same for all names of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] std::sync::Arc<same_file::Handle>);

#[cfg(unix)]
impl Identity {
    /// Returns the identity of `file`, which has this metadata.
    pub fn of(_: &File, metadata: &Metadata) -> Option<Identity> {
        Identity::of_path(Path::new(""), metadata)
    }

    /// Returns the identity of the file at `path`, which has this metadata.
    pub fn of_path(_: &Path, metadata: &Metadata) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt;
        Some(Identity((metadata.dev(), metadata.ino())))
    }
}

#[cfg(not(unix))]
impl Identity {
    /// Returns the identity of `file`.
    pub fn of(file: &File, _: &Metadata) -> Option<Identity> {
        let handle = same_file::Handle::from_file(file.try_clone().ok()?);
        handle.ok().map(|handle| Identity(handle.into()))
    }

    /// Returns the identity of the file at `path`.
    pub fn of_path(path: &Path, _: &Metadata) -> Option<Identity> {
        same_file::Handle::from_path(path).ok().map(|handle| Identity(handle.into()))
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
    /// Returns the version of `file`, which has this metadata.
    pub fn of(file: &File, metadata: &Metadata) -> Version {
        Version::new(Identity::of(file, metadata), metadata)
    }

    /// Returns the version of the file at `path`, which has this metadata.
    pub fn of_path(path: &Path, metadata: &Metadata) -> Version {
        Version::new(Identity::of_path(path, metadata), metadata)
    }

    fn new(identity: Option<Identity>, metadata: &Metadata) -> Version {
        Version { identity, len: metadata.len(), modified: metadata.modified().ok() }
    }

    /// Returns the identity of the file.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }
}
