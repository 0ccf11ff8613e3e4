//! Replaces a file by a new one that appears whole or not at all, and keeps the attributes of the old file: its
//! permissions, its owner, and its extended attributes, which include access control lists. If a signal, or Ctrl-C on
//! Windows, ends the process, the temporary files are removed.

use std::collections::BTreeSet;
#[cfg(unix)]
use std::fs::Metadata;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::streams::{Identity, Version, folder};
use crate::common::error::{Failure, warn};
use crate::common::shown::shown;

/// A new temporary file, in the same folder as the file that it will replace.
pub struct Replacement {
    temporary: NamedTempFile,
    target: PathBuf,
    /// The name under which the old file is kept; `None` if it is not kept.
    backup: Option<PathBuf>,
    /// The registration of the temporary file, until it has its final name.
    _unfinished: Unfinished,
    /// The permissions of the complete file. Until then only the user may open it.
    permissions: Option<Permissions>,
    /// The number of other names (hard links) of the old file, which keep its content.
    others: u64,
    /// Whether the new file must be on the disk before it gets its name.
    sync: bool,
}

impl Replacement {
    /// Creates the new version of the file at `path`. If `suffix` is not empty, the old file is kept, with `suffix`
    /// after its name. Also returns the identity of the old file, if there is one.
    pub fn create(path: &Path, suffix: &str, sync: bool) -> io::Result<(Replacement, Option<Identity>)> {
        let old = match OpenOptions::new().write(true).open(path) {
            // The old file is opened for writing, because a file without write permission must not be replaced either.
            Ok(file) => Some((file.metadata()?, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // A symbolic link stays in place: the file that it points to is replaced.
        let target = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::canonicalize(path).map_err(|error| match error.kind() {
                    ErrorKind::NotFound => {
                        io::Error::new(ErrorKind::NotFound, "a symbolic link to a file that is not there")
                    }
                    _ => error,
                })?
            }
            _ => path.to_owned(),
        };
        let backup = if suffix.is_empty() { None } else { Some(backup(&target, suffix)) };
        let (temporary, _unfinished) = Unfinished::create(|| temporary_name().tempfile_in(folder(&target)))?;
        let mut new =
            Replacement { temporary, target, backup, _unfinished, permissions: None, others: 0, sync };
        let Some((metadata, old)) = old else {
            #[cfg(unix)]
            {
                new.permissions = Some(usual_permissions(folder(&new.target))?);
            }
            return Ok((new, None));
        };
        new.permissions = Some(metadata.permissions());
        #[cfg(unix)]
        {
            let lost = keep_attributes(&old, &metadata, new.file())?;
            if !lost.is_empty() {
                let lost = lost.join(", ");
                warn(format_args!("{}: these extended attributes are lost: {lost}", shown(path)));
            }
            let names = std::os::unix::fs::MetadataExt::nlink(&metadata);
            let is_kept = new.backup.as_ref().is_some_and(|backup| is_kept(&new.target, backup));
            new.others = names.saturating_sub(1 + u64::from(is_kept));
        }
        Ok((new, Identity::of(&old, &metadata)))
    }

    /// Returns the new file.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Replaces the old file by the new one, which has `len` bytes and the name `name` in messages. Fails if the old
    /// file has changed since it was read in the version `read`. Returns the identity of the new file.
    pub fn commit(
        self,
        name: &str,
        len: u64,
        read: Option<&Version>,
        folders: &mut Folders,
    ) -> Result<Option<Identity>, Failure> {
        let Replacement { temporary, target, backup, permissions, others, sync, _unfinished } = self;
        let file = temporary.as_file();
        let complete = || {
            permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
            if sync { synced(file) } else { Ok(()) }
        };
        complete().map_err(|error| Failure::output(name, len, error))?;
        let identity = file.metadata().ok().and_then(|metadata| Identity::of(file, &metadata));
        if let Some(read) = read {
            // Another process may still write to the file between this check and the renaming. No system call
            // prevents that.
            if Version::of_path(&target).as_ref() != Some(read) {
                let error = io::Error::other("the file changed while it was read, so it is not replaced");
                return Err(Failure::open(name, error));
            }
        }
        if let Some(backup) = backup {
            keep(&target, &backup).map_err(|error| Failure::open(shown(&backup), error))?;
        }
        if sync {
            folders.0.insert(folder(&target).to_owned());
        }
        temporary.persist(target).map_err(|error| Failure::output(name, len, error.error))?;
        if others > 0 {
            let names = if others == 1 { "another name (hard link)" } else { "other names (hard links)" };
            warn(format_args!("{name}: the old file has {names}, with the old content"));
        }
        Ok(identity)
    }
}

/// Returns a builder of names for temporary files.
fn temporary_name() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pct-").suffix(".tmp");
    builder
}

/// The folders in which this run has given names to files.
#[derive(Default)]
pub struct Folders(BTreeSet<PathBuf>);

impl Folders {
    /// Waits until the names of the new files are on the disk.
    pub fn sync(self) -> Result<(), Failure> {
        // Only Unix can open a folder in order to sync it.
        #[cfg(unix)]
        for folder in self.0 {
            let result = File::open(&folder).and_then(|file| synced(&file));
            result.map_err(|error| Failure::open(shown(&folder), error))?;
        }
        Ok(())
    }
}

/// Waits until `file` is on the disk. Succeeds for a file that cannot be synced, such as a pipe.
fn synced(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

/// Reports whether `backup` is another name of the file `target`. A run that is killed between keeping the old file and
/// replacing it leaves the file with both names.
fn is_kept(target: &Path, backup: &Path) -> bool {
    let identity = |path: &Path| if path.is_symlink() { None } else { Identity::of_path(path) };
    identity(target).is_some_and(|target| identity(backup) == Some(target))
}

/// Gives the file `target` the second name `backup`, or copies the file to that name.
fn keep(target: &Path, backup: &Path) -> io::Result<()> {
    // Renaming one name of a file to another name of it does nothing, so the temporary name would remain.
    if is_kept(target, backup) {
        return Ok(());
    }
    let (temporary, _unfinished) = Unfinished::create(|| {
        let folder = folder(target);
        // Some file systems do not support hard links.
        temporary_name()
            .make_in(folder, |path| fs::hard_link(target, path))
            .or_else(|_| temporary_name().make_in(folder, |path| fs::copy(target, path).map(drop)))
    })?;
    temporary.persist(backup).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the permissions of a new file in `folder`: 0o666 without the bits of the umask, or those of the folder's
/// default access list. They are read from a probe file, because reading the umask would change it for other threads.
#[cfg(unix)]
fn usual_permissions(folder: &Path) -> io::Result<Permissions> {
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let (probe, _unfinished) = Unfinished::create(|| temporary_name().permissions(all).tempfile_in(folder))?;
    Ok(probe.as_file().metadata()?.permissions())
}

/// Copies the owner and the extended attributes of `old`, which has this `metadata`, to `new`. Returns the names of the
/// extended attributes that could not be copied. Afterwards, only the owner may open `new`, until it is complete and
/// gets the mode of `old`.
#[cfg(unix)]
fn keep_attributes(old: &File, metadata: &Metadata, new: &File) -> io::Result<Vec<String>> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let is = new.metadata()?;
    // If the user may not change the owner, the new file belongs to the user, as with `sed -i`.
    if is.gid() != metadata.gid() {
        let _ = fchown(new, None, Some(metadata.gid()));
    }
    if is.uid() != metadata.uid() {
        let _ = fchown(new, Some(metadata.uid()), None);
    }
    let lost = keep_extended(old, new);
    // An access control list also sets the mode, so the mode is set after it. The list has an effect again when `new`
    // gets the mode of `old`, whose group bits are the mask of the list.
    new.set_permissions(Permissions::from_mode(0o600))?;
    Ok(lost)
}

/// Copies the extended attributes of `old` to `new`. Returns the names of those that could not be copied.
#[cfg(unix)]
fn keep_extended(old: &File, new: &File) -> Vec<String> {
    use xattr::FileExt;

    /// The extended attribute of access control lists on Linux. The new file may have the default list of its folder.
    const ACCESS: &str = "system.posix_acl_access";

    // There are no names if the file system does not support the attributes.
    let names: Vec<_> = old.list_xattr().into_iter().flatten().collect();
    let value = |file: &File, name: &std::ffi::OsString| file.get_xattr(name).ok().flatten();
    let is_lost = |name: &&std::ffi::OsString| {
        let Some(wanted) = value(old, name) else { return true };
        value(new, name).as_ref() != Some(&wanted) && new.set_xattr(name, &wanted).is_err()
    };
    let lost = names.iter().filter(is_lost).map(|name| name.to_string_lossy().into_owned()).collect();
    if !names.iter().any(|name| name == ACCESS) {
        // The removal fails in the usual case that the new file has no access control list.
        let _ = new.remove_xattr(ACCESS);
    }
    lost
}

/// Returns the name under which the old file `target` is kept: the path followed by `suffix`.
pub fn backup(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

static STATE: Mutex<State> = Mutex::new(State { paths: Vec::new(), watches: false });

struct State {
    /// The paths of the temporary files that exist in this process.
    paths: Vec<PathBuf>,
    /// Whether a thread waits for signals.
    watches: bool,
}

/// The registration of a temporary file. While it exists, a signal that ends the process removes the file first. If
/// the process goes on after an error, dropping the [`NamedTempFile`] removes the file.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Calls `make` and registers the file that it creates.
    pub fn create<F>(
        make: impl FnOnce() -> io::Result<NamedTempFile<F>>,
    ) -> io::Result<(NamedTempFile<F>, Unfinished)> {
        // The state stays locked until the file is registered, so that no signal is handled in between.
        let mut state = state();
        if !state.watches {
            #[cfg(any(unix, windows))]
            remove_on_signals()?;
            state.watches = true;
        }
        let file = make()?;
        state.paths.push(file.path().to_owned());
        let unfinished = Unfinished(file.path().to_owned());
        Ok((file, unfinished))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        state().paths.retain(|path| *path != self.0);
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files, because the process ends. While the caller holds the returned lock, none is created.
#[cfg(any(unix, windows))]
fn remove_all() -> MutexGuard<'static, State> {
    let state = state();
    for path in &state.paths {
        // The process ends whether or not the file can be removed.
        let _ = fs::remove_file(path);
    }
    state
}

#[cfg(windows)]
fn remove_on_signals() -> io::Result<()> {
    /// The status of processes that Ctrl-C ends, STATUS_CONTROL_C_EXIT.
    const ENDED: u32 = 0xC000_013A;
    ctrlc::set_handler(|| {
        let _state = remove_all();
        std::process::exit(ENDED.cast_signed());
    })
    .map_err(io::Error::other)
}

#[cfg(unix)]
fn remove_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::{iterator::Signals, low_level::emulate_default_handler};

    // `nohup` and the shell's `&` start processes with some signals ignored. These signals must stay ignored.
    let asked = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(asked)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let _state = remove_all();
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// Reports whether the process was started with `signal` ignored. Only Linux has `/proc/self/status`; on other systems,
/// the result is false.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
