//! Copies the attributes of a file to the new file that replaces it: the owner, and extended attributes, which include
//! access control lists.

use std::fs::{File, Metadata};
use std::io;

/// Copies the owner and the extended attributes of `old`, which has this `metadata`, to `new`. Returns the names of
/// the extended attributes that could not be copied. Only the owner may open `new` afterwards: it gets the mode of `old` when it
/// is complete.
pub fn keep(old: &File, metadata: &Metadata, new: &File) -> io::Result<Vec<String>> {
    keep_owner(new, metadata)?;
    let lost = keep_extended(old, new);
    // An access control list also sets the mode, so the mode is set after it. The list has an effect again when `new` gets the mode
    // of `old`, whose bits of the group are the mask of the list.
    #[cfg(unix)]
    new.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(lost)
}

/// Gives `new` the owner and group of the old file, which has the metadata `old`, if the user is allowed to.
fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let is = new.metadata()?;
        // If the user may not change the owner, the new file belongs to the user, as with `sed -i`.
        if is.gid() != old.gid() {
            let _ = fchown(new, None, Some(old.gid()));
        }
        if is.uid() != old.uid() {
            let _ = fchown(new, Some(old.uid()), None);
        }
    }
    #[cfg(not(unix))]
    let _ = (new, old);
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn keep_extended(old: &File, new: &File) -> Vec<String> {
    use rustix::fs::{XattrFlags, fgetxattr, fgetxattr_query, fremovexattr, fsetxattr};

    /// The extended attribute of access control lists on Linux. The new file may have one that is the default of its
    /// folder.
    const ACCESS: &str = "system.posix_acl_access";

    let value = |file: &File, name: &str| {
        let mut value = vec![0; fgetxattr_query(file, name).ok()?];
        let len = fgetxattr(file, name, value.as_mut_slice()).ok()?;
        value.truncate(len);
        Some(value)
    };
    let names = names_of(old);
    let mut lost = Vec::new();
    for name in &names {
        let kept = value(old, name).is_some_and(|wanted| {
            value(new, name).as_ref() == Some(&wanted)
                || fsetxattr(new, name.as_str(), &wanted, XattrFlags::empty()).is_ok()
        });
        if !kept {
            lost.push(name.clone());
        }
    }
    if !names.iter().any(|name| name == ACCESS) {
        // The removal fails in the usual case that the new file has no access control list.
        let _ = fremovexattr(new, ACCESS);
    }
    lost
}

/// Returns the names of the extended attributes of `file`. The list is empty if the file system does not support
/// them.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn names_of(file: &File) -> Vec<String> {
    use rustix::fs::{flistxattr, flistxattr_query};
    let Ok(len) = flistxattr_query(file) else { return Vec::new() };
    let mut list = vec![0_u8; len];
    let Ok(len) = flistxattr(file, list.as_mut_slice()) else { return Vec::new() };
    let names = list[..len].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn keep_extended(_: &File, _: &File) -> Vec<String> {
    Vec::new()
}
