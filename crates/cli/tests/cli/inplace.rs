//! Tests `--in-place` and `--files-from`.

use std::fs;
use std::path::Path;

use crate::support::{file, folder, ok, open_error, run};

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn each_file_is_replaced_and_the_old_one_kept_if_asked() {
    let (dir, path) = folder();
    let (a, b) = (path("a"), path("b"));
    fs::write(&a, "1%20").unwrap();
    fs::write(&b, "2%2520\n").unwrap();
    assert_eq!(ok(&["decode", "-i", &a, &b], ""), b"");
    assert_eq!((fs::read(&a).unwrap(), fs::read(&b).unwrap()), (b"1 ".to_vec(), b"2%20\n".to_vec()));
    assert_eq!(names(dir.path()), ["a", "b"]);
    fs::write(dir.path().join("a.bak"), "older").unwrap();
    ok(&["decode", "--in-place=.bak", &a, &b], "");
    ok(&["encode", "-i=~", &a, &b], "");
    assert_eq!(names(dir.path()), ["a", "a.bak", "a~", "b", "b.bak", "b~"]);
    assert_eq!(fs::read(dir.path().join("b.bak")).unwrap(), b"2%20\n");
    assert_eq!(fs::read(dir.path().join("a.bak")).unwrap(), b"1 ");
    assert_eq!(fs::read(&b).unwrap(), b"2%20\n");
}

/// A run that is killed between keeping the old file and replacing it leaves two names of one file. The next run completes the work.
#[test]
fn the_backup_may_already_be_a_name_of_the_file() {
    let (dir, path) = folder();
    fs::write(path("a"), "1%20").unwrap();
    fs::hard_link(path("a"), path("a.bak")).unwrap();
    assert_eq!(ok(&["decode", "-i=.bak", &path("a")], ""), b"");
    assert_eq!(names(dir.path()), ["a", "a.bak"]);
    assert_eq!([fs::read(path("a")).unwrap(), fs::read(path("a.bak")).unwrap()], [&b"1 "[..], b"1%20"]);
}

#[test]
fn a_compressed_file_stays_compressed() {
    let dir = tempfile::tempdir().unwrap();
    // The content of the file decides the compression, not its extension.
    for format in ["gzip", "zstd", "bzip2", "xz"] {
        let path = dir.path().join(format!("{format}.txt"));
        let name = path.to_str().unwrap();
        ok(&["encode", "--compress", format, "-o", name], "a b\n".repeat(1000));
        let start = fs::read(&path).unwrap()[..3].to_owned();
        ok(&["encode", "-i", name], "");
        assert_eq!(fs::read(&path).unwrap()[..3], start);
        assert_eq!(ok(&["decode", name], ""), b"a%20b\n".repeat(1000), "{format}");
    }
}

#[test]
fn a_file_that_fails_stays_and_the_others_are_done() {
    let (dir, path) = folder();
    fs::write(path("bad"), "%41\n%zz\n").unwrap();
    fs::write(path("cut"), b"\x1F\x8B\x08\0\0\0").unwrap();
    fs::write(path("good"), "%41\n").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let before = names(dir.path());
    let strict = run(&["decode", "--strict", "-i", &path("bad"), &path("good")], "");
    assert_eq!((strict.code, strict.err.lines().count()), (Some(1), 1), "{}", strict.err);
    assert_eq!(fs::read(path("good")).unwrap(), b"A\n");
    let run = run(&["encode", "-i", &path("missing"), &path("cut"), &path("folder"), &path("good")], "");
    assert_eq!((run.code, run.err.lines().count()), (Some(2), 3), "{}", run.err);
    assert!(run.err.contains("not a regular file"), "{}", run.err);
    assert_eq!(fs::read(path("bad")).unwrap(), b"%41\n%zz\n");
    assert_eq!(fs::read(path("cut")).unwrap(), b"\x1F\x8B\x08\0\0\0");
    assert_eq!(names(dir.path()), before);
}

#[test]
fn what_makes_no_sense_in_place_is_an_error() {
    let (dir, path) = file("a", "%20");
    let name = path.to_str().unwrap();
    for args in [
        &["decode", "-i"][..],
        &["decode", "-i", "-"],
        &["decode", "-i", "-o", "out", name],
        &["decode", "-i", "--compress", "gzip", name],
        &["decode", "-i=/../x", name],
    ] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"%20");
    assert_eq!(names(dir.path()), ["a"]);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    fs::write(&file, "%20").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
    // Only root may change the owner of a file.
    let given = std::os::unix::fs::chown(&file, Some(12345), Some(54321)).is_ok();
    symlink("file", &link).unwrap();
    ok(&["decode", "-i=.old", link.to_str().unwrap()], "");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b" ");
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o604);
    assert!(!given || (metadata.uid(), metadata.gid()) == (12345, 54321));
    assert_eq!(fs::read(dir.path().join("file.old")).unwrap(), b"%20");
}

/// A file that is named twice is converted only once, and a backup that the run makes is never converted.
#[cfg(unix)]
#[test]
fn no_file_is_replaced_twice() {
    let (_dir, path) = folder();
    let fresh = || {
        fs::write(path("a"), "%2541").unwrap();
        fs::write(path("a~"), "other %2541").unwrap();
        let _ = fs::remove_file(path("link"));
        std::os::unix::fs::symlink("a", path("link")).unwrap();
    };
    let list = format!("{}\n{}\n", path("a"), path("a~"));
    for (args, input, first) in [
        (&["-i", &path("a"), &path("a")][..], "", "%41"),
        (&["-i", &path("link"), &path("a")], "", "%41"),
        // A backup would replace the second input. Arguments are checked before the run, so no file is changed.
        (&["-i=~", &path("a"), &path("a~")], "", "%2541"),
        (&["-i=~", "--files-from", "-"], &list, "%41"),
    ] {
        fresh();
        let run = run(&[&["decode"], args].concat(), input);
        assert_eq!((run.code, run.err.lines().count()), (Some(2), 1), "{args:?}: {}", run.err);
        assert_eq!(fs::read_to_string(path("a")).unwrap(), first, "{args:?}: {}", run.err);
    }
    // Hard links to one file become separate files, and each is converted once.
    fresh();
    fs::hard_link(path("a"), path("b")).unwrap();
    let linked = run(&["decode", "-i=.old", &path("a"), &path("b")], "");
    let said = "the old file has another name (hard link), with the old content";
    // When `b` is converted, the backup `a.old` is another name of its old file.
    let said = format!("pct: {}: {said}\npct: {}: {said}\n", path("a"), path("b"));
    assert_eq!((linked.err, linked.code), (said, Some(0)));
    assert_eq!(
        (fs::read(path("a")).unwrap(), fs::read(path("b")).unwrap()),
        (b"%41".to_vec(), b"%41".to_vec())
    );
}

#[test]
fn lists_name_the_files() {
    let (_dir, path) = folder();
    fs::write(path("a b"), "1%20\n").unwrap();
    fs::write(path("c"), "2%20\n").unwrap();
    let list = format!("{}\n\n{}", path("a b"), path("c"));
    assert_eq!(ok("decode --files-from -", &list), b"1 \n2 \n");
    fs::write(path("list"), &list).unwrap();
    assert_eq!(ok(&["decode", "--files-from", &path("list")], ""), b"1 \n2 \n");
    let nul = format!("{}\0{}\0", path("c"), path("a b"));
    assert_eq!(ok("decode --files0-from -", nul), b"2 \n1 \n");
    fs::write(path("with stdin"), format!("-\n{}\n", path("c"))).unwrap();
    assert_eq!(ok(&["decode", "--files-from", &path("with stdin")], "%41"), b"A\n2 \n");
    assert_eq!(ok("decode -i --files-from -", path("c")), b"");
    assert_eq!(fs::read(path("c")).unwrap(), b"2 \n");
    assert_eq!(ok("decode --files-from -", ""), b"", "an empty list names no file");
    for (args, input) in [
        (&["decode", "--files-from", "-"][..], "-\n".to_owned()),
        (&["decode", "--files-from", "-"], "no/such/file\n".to_owned()),
        (&["decode", "--files-from", "no/such/list"], String::new()),
        (&["decode", "--files-from", "-"], "a".repeat(100_000)),
        (&["decode", "--files-from", "-", "file"], String::new()),
    ] {
        let run = run(args, input);
        assert_eq!((run.code, run.err.lines().count() > 0), (Some(2), true), "{args:?}");
    }
}

/// The new file does not fit on a small file system, so the run fails and keeps the old file.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    use std::process::Command;
    let dir = tempfile::tempdir().unwrap();
    let mount = |args: &[&str]| {
        let output = Command::new(args[0]).args(&args[1..]).arg(dir.path()).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs"]) {
        return crate::support::skipped("a full disk: no file system can be mounted here");
    }
    let path = dir.path().join("file");
    let text = "a b\n".repeat(40_000);
    fs::write(&path, &text).unwrap();
    let out = dir.path().join("out.gz");
    fs::write(&out, "old").unwrap();
    let (name, out_name) = (path.to_str().unwrap(), out.to_str().unwrap());
    let runs = [
        &["encode", "-i=.bak", name][..],
        &["encode", "--stats", "-i", name],
        // `--level 0` stores the data without compression, so that it does not fit.
        &["encode", "--level", "0", "-o", out_name, name],
    ]
    .map(|args| run(args, ""));
    let (kept, left) = (fs::read_to_string(&path).unwrap(), names(dir.path()));
    let other = fs::read(&out).unwrap();
    assert!(mount(&["umount"]));
    for run in runs {
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains("No space left on device"), "{}", run.err);
    }
    assert!(kept == text, "the old file has changed");
    assert_eq!((left, other), (vec!["file".to_owned(), "out.gz".to_owned()], b"old".to_vec()));
}

/// `-i.bak` is accepted like `--in-place=.bak`, as in sed and perl.
#[test]
fn a_suffix_may_follow_the_short_option() {
    let (_dir, path) = folder();
    for (option, backup) in [("-i.bak", "a.bak"), ("-i~", "a~"), ("-iold", "aold")] {
        fs::write(path("a"), "%41").unwrap();
        ok(&["decode", option, &path("a")], "");
        assert_eq!(
            (fs::read(path("a")).unwrap(), fs::read(path(backup)).unwrap()),
            (b"A".to_vec(), b"%41".to_vec())
        );
    }
    // An argument that starts with `-i` is not this option if it is the value of another option or comes after `--`.
    assert_eq!(ok("encode -e -i.bak --keep -i~", ""), b"-i.bak\n");
    assert_eq!(run("decode -- -i.bak", "").err, format!("pct: -i.bak: {}\n", open_error("-i.bak")));
    fs::write(path("a"), "%41").unwrap();
    ok(&["decode", "-qi", &path("a")], "");
    assert_eq!(fs::read(path("a")).unwrap(), b"A");
}

#[cfg(unix)]
mod changing {
    use std::io::{Read, Write};

    use super::*;
    use crate::support::{Run, command, wait};

    /// Runs `pct` with `args` on a file, calls `change` in the middle of the run, and returns the results.
    fn run_while(args: &[&str], change: impl FnOnce(&Path)) -> (Run, Vec<u8>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let (path, pipe) = (dir.path().join("file"), dir.path().join("pipe"));
        fs::write(&path, "%zz\n".repeat(200_000)).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let names = [pipe.to_str().unwrap(), path.to_str().unwrap()];
        let args: Vec<_> = args.iter().map(|arg| if *arg == "FILE" { names[1] } else { arg }).collect();
        let child = command(&[&args[..], &["--rejects", names[0], names[1]]].concat()).spawn().unwrap();
        // The rejects go to a named pipe, so `pct` blocks in the middle of the run until the pipe is read.
        let mut refused = fs::File::open(&pipe).unwrap();
        refused.read_exact(&mut [0; 10]).unwrap();
        change(&path);
        std::io::copy(&mut refused, &mut std::io::sink()).unwrap();
        let run = wait(child);
        fs::remove_file(pipe).unwrap();
        (run, fs::read(path).unwrap(), super::names(dir.path()))
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_stays() {
        let append = |path: &Path| {
            fs::File::options().append(true).open(path).unwrap().write_all(b"more\n").unwrap();
        };
        let replace = |path: &Path| {
            let new = path.with_file_name("new");
            fs::write(&new, "new").unwrap();
            fs::rename(new, path).unwrap();
        };
        let touch = |path: &Path| {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
        };
        for args in [&["decode", "-i"][..], &["decode", "-i=.bak"], &["decode", "-j2", "-o", "FILE"]] {
            let (run, left, names) = run_while(args, append);
            assert_eq!(run.code, Some(2), "{args:?}");
            assert!(run.err.contains("changed while it was read"), "{}", run.err);
            assert_eq!((left.len(), left.ends_with(b"more\n")), (800_005, true), "{args:?}");
            assert_eq!(names, ["file"]);
            let (run, left, _) = run_while(args, replace);
            assert_eq!((run.code, left.as_slice()), (Some(2), &b"new"[..]), "{args:?}: {}", run.err);
            let (run, left, _) = run_while(args, touch);
            assert_eq!((run.code, left.len()), (Some(2), 800_000), "{args:?}: {}", run.err);
            let (run, left, _) = run_while(args, |_| ());
            assert_eq!((run.code, left.len()), (Some(0), 800_000), "{args:?}: {}", run.err);
        }
    }
}

/// `--in-place` keeps the extended attributes and the access control list of a file.
#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_and_access_lists_stay() {
    use std::process::Command;
    let (_dir, path) = file("file", "%41");
    let name = path.to_str().unwrap();
    // Python sets the attributes, because `setfattr` is often not installed. The access control list, in the kernel's
    // format, has an entry for one more user, and a mask.
    let set = "import os, struct, sys
os.setxattr(sys.argv[1], 'user.pct', b'kept\\0')
entries = [(1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHi', *entry) for entry in entries)
try: os.setxattr(sys.argv[1], 'system.posix_acl_access', acl)
except OSError: sys.stderr.write('no access lists here\\n')
";
    let list = "import os, sys
for name in sorted(os.listxattr(sys.argv[1])): print(name, os.getxattr(sys.argv[1], name))
print(oct(os.stat(sys.argv[1]).st_mode))
";
    let python = |script: &str| {
        let output = Command::new("python3").args(["-c", script, name]).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    let Some(_) = python(set) else {
        return crate::support::skipped("extended attributes: no python3, or no such attributes here");
    };
    let before = python(list).unwrap();
    assert!(before.starts_with(b"system") || before.starts_with(b"user"));
    for args in [&["decode", "-i", name][..], &["encode", "-o", name, name]] {
        ok(args, "");
        assert_eq!(
            String::from_utf8(python(list).unwrap()).unwrap(),
            String::from_utf8(before.clone()).unwrap(),
            "{args:?}"
        );
    }
}

/// A new file is synced before it is renamed, and its folder is synced before the command ends.
#[cfg(target_os = "linux")]
#[test]
fn files_and_folders_are_synced_unless_that_is_not_wanted() {
    use std::process::Command;
    let (_dir, path) = folder();
    let calls = |args: &[&str]| {
        fs::write(path("a"), "%41").unwrap();
        fs::write(path("b"), "%42").unwrap();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o", &path("log"), "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"]);
        let status = strace.arg(env!("CARGO_BIN_EXE_pct")).args(args).status().ok()?;
        assert!(status.success());
        let log = fs::read_to_string(path("log")).unwrap();
        let call = |line: &str| {
            let call = line.split_once(' ')?.1.trim_start().split_once('(')?.0;
            Some(if call.starts_with("rename") { "rename" } else { "sync" })
        };
        Some(log.lines().filter(|line| !line.contains("+++")).filter_map(call).collect::<Vec<_>>())
    };
    let Some(one) = calls(&["decode", &path("a"), "-o", &path("out")]) else {
        return crate::support::skipped("syncing: there is no strace here");
    };
    assert_eq!(one, ["sync", "rename", "sync"]);
    let two = calls(&["decode", "-i", &path("a"), &path("b")]).unwrap();
    assert_eq!(two, ["sync", "rename", "sync", "rename", "sync"], "the folder once, at the end");
    assert_eq!(calls(&["decode", "--no-sync", "-i", &path("a"), &path("b")]).unwrap(), ["rename", "rename"]);
    assert_eq!(calls(&["decode", "--no-sync", "-o", &path("out"), &path("b")]).unwrap(), ["rename"]);
}

/// The results and messages for many files are those for one file at a time.
#[cfg(unix)]
#[test]
fn many_files_are_replaced_as_one_by_one() {
    for suffix in ["", ".old"] {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut list = Vec::new();
        for number in 0..150 {
            let name = format!("{number:03}");
            fs::write(path(&name), format!("{number}%20%41\n")).unwrap();
            list.push(name);
            if number == 80 {
                // A hard link keeps the old content when the first name is replaced, so it is converted as a separate file.
                fs::hard_link(path("080"), path("link")).unwrap();
                list.push("link".to_owned());
            }
            if [3, 100].contains(&number) {
                list.push(format!("{number:03}"));
                list.push("missing".to_owned());
            }
        }
        if !suffix.is_empty() {
            // The run itself writes this backup, so the run must refuse to convert it.
            list.push("149.old".to_owned());
            fs::write(path("149.old"), "older").unwrap();
        }
        let names: Vec<_> = list.iter().map(|name| path(name).to_str().unwrap().to_owned()).collect();
        fs::write(path("list"), names.join("\n")).unwrap();
        let (option, list) = (format!("--in-place={suffix}"), path("list"));
        let run = run(&["decode", &option, "--files-from", list.to_str().unwrap()], "");
        assert_eq!(run.code, Some(2));
        for number in 0..150 {
            let name = format!("{number:03}");
            assert_eq!(fs::read(path(&name)).unwrap(), format!("{number} A\n").into_bytes(), "{suffix}");
            if !suffix.is_empty() {
                let backup = fs::read(path(&format!("{name}{suffix}"))).unwrap();
                assert_eq!(backup, format!("{number}%20%41\n").into_bytes());
            }
        }
        assert_eq!(fs::read(path("link")).unwrap(), b"80 A\n");
        let said = |what: &str| run.err.lines().filter(|line| line.contains(what)).count();
        assert_eq!(said("missing"), 2, "{}", run.err);
        assert_eq!(said("has already been replaced"), if suffix.is_empty() { 2 } else { 3 }, "{}", run.err);
        let temporary = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().contains(".pct-");
        assert!(!fs::read_dir(dir.path()).unwrap().any(|entry| temporary(&entry.unwrap())));
    }
}
