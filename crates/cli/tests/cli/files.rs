//! Tests inputs and outputs that are files.

use std::fs::{self, File};
use std::path::Path;
#[cfg(unix)]
use std::process::Stdio;

use crate::support::{command, file, folder, ok, open_error, refused, run, wait};

fn entries(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

#[test]
fn inputs_are_read_one_after_the_other() {
    let (_dir, path) = folder();
    let (a, b) = (&*path("a"), &*path("b"));
    fs::write(a, "1%20\n2").unwrap();
    fs::write(b, "%41%4").unwrap();
    assert_eq!(ok(&["decode", a, b], "unread"), b"1 \n2\nA%4");
    assert_eq!(ok(&["decode", b, "-", a], "%2B1\n"), b"A%4\n+1\n1 \n2");
    assert_eq!(ok("decode -", "%2B"), b"+");
}

#[test]
fn output_goes_to_the_file_named() {
    let (dir, path) = folder();
    let path = &*path("out");
    assert_eq!(ok(&["encode", "--output", path], "a b\n"), b"");
    assert_eq!(fs::read(path).unwrap(), b"a%20b\n");
    assert_eq!(ok(&["encode", "-o", path], "c/d\n"), b"");
    assert_eq!(fs::read(path).unwrap(), b"c%2Fd\n");
    assert_eq!(ok("encode -o -", "a b"), b"a%20b");
    assert_eq!(ok(&["encode", "-o", path], ""), b"");
    assert_eq!(fs::read(path).unwrap(), b"");
    assert_eq!(entries(dir.path()), 1);
}

#[test]
fn output_may_replace_an_input() {
    let text = "a%20b\n".repeat(100_000);
    let (dir, path) = file("file", text);
    let name = path.to_str().unwrap();
    assert_eq!(ok(&["decode", "-o", name, name, name], ""), b"");
    assert_eq!(fs::read(&path).unwrap(), "a b\n".repeat(200_000).into_bytes());
    assert_eq!(entries(dir.path()), 1);
}

#[test]
fn stdout_may_not_be_an_input() {
    let (_dir, path) = file("file", "a b\n");
    let append = File::options().append(true).open(&path).unwrap();
    let run = wait(command(&["encode", path.to_str().unwrap()]).stdout(append).spawn().unwrap());
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("the input is the output as well"), "{}", run.err);
    assert_eq!(fs::read(&path).unwrap(), b"a b\n");
}

#[test]
fn an_output_that_cannot_be_made_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let lost = dir.path().join("no/where");
    let why = open_error(&lost);
    for (path, what) in [(dir.path().to_owned(), "is a directory"), (lost, why.as_str())] {
        let run = run(&["encode", "-o", path.to_str().unwrap()], "a");
        assert_eq!(run.code, Some(2));
        assert!(run.err.starts_with(&format!("pct: {}: ", path.display())), "{}", run.err);
        assert!(run.err.contains(what), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1);
    }
    assert_eq!(entries(dir.path()), 0);
}

#[test]
fn a_file_that_cannot_be_read_keeps_no_other_from_it() {
    let (dir, path) = folder();
    fs::write(path("a"), "%41%00").unwrap();
    fs::write(path("cut"), b"\x1F\x8B\x08\0\0\0").unwrap();
    fs::write(path("b"), "%42\n").unwrap();
    let all = [path("a"), path("missing"), path("cut"), dir.path().to_str().unwrap().to_owned(), path("b")];
    let names: Vec<_> = all.iter().map(String::as_str).collect();
    for (args, out) in [
        (&["decode"][..], &b"A\0\nB\n"[..]),
        (&["decode", "-j2"], b"A\0\nB\n"),
        (&["encode"], b"%2541%2500\n%2542\n"),
        (&["normalize"], b"A%00\nB\n"),
        (&["decode", "--field", "1", "--stats=json"], b"A%00\nB\n"),
    ] {
        let run = run(&[args, &names[..]].concat(), "");
        assert_eq!((run.out.as_slice(), run.code), (out, Some(2)), "{args:?}: {}", run.err);
        assert_eq!(run.err.matches("pct: ").count(), 3, "{}", run.err);
        for name in &all[1..4] {
            assert!(run.err.contains(&format!("pct: {name}: ")), "{}", run.err);
        }
    }
    let found = run(&[&["check"][..], &names].concat(), "");
    let wanted = format!("{}:1:3: nul: %00\n", all[0]);
    assert_eq!(
        (String::from_utf8_lossy(&found.out).into_owned(), found.code),
        (wanted, Some(2)),
        "{}",
        found.err
    );
    assert!(found.err.contains("1 finding in 2 lines"), "{}", found.err);
    let audited = run(&[&["audit"][..], &names].concat(), "");
    assert_eq!(audited.code, Some(2));
    assert!(String::from_utf8_lossy(&audited.out).starts_with("2 lines in "), "{audited:?}");
    let list = run("decode --files-from -", all.join("\n"));
    assert_eq!((list.out.as_slice(), list.code), (&b"A\0\nB\n"[..], Some(2)), "{}", list.err);
}

/// If some inputs cannot be read, each is reported, and the incomplete output does not replace the old file.
#[test]
fn an_output_is_not_replaced_by_a_part() {
    let (dir, path) = folder();
    fs::write(path("a"), "%41\n".repeat(100_000)).unwrap();
    fs::write(path("out"), "old").unwrap();
    for bad in [&[path("no1"), path("a"), path("no2")][..], &[path("a"), path("no")], &[path("a"), path(".")]]
    {
        let args = ["decode", "-o", &path("out"), "--rejects", &path("rejects")];
        let args: Vec<_> = args.into_iter().chain(bad.iter().map(String::as_str)).collect();
        let run = run(&args, "");
        assert_eq!((run.code, run.err.lines().count()), (Some(2), bad.len()), "{}", run.err);
        assert!(run.err.contains(&format!("pct: {}: not replaced", path("out"))), "{}", run.err);
        assert_eq!(fs::read(path("out")).unwrap(), b"old");
        assert_eq!(entries(dir.path()), 2, "no temporary file is left");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn permissions_are_those_of_the_old_file_or_the_usual_ones() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new, usual) = (dir.path().join("old"), dir.path().join("new"), dir.path().join("usual"));
        fs::write(&old, "").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
        ok(&["encode", "-o", old.to_str().unwrap()], "a");
        assert_eq!(fs::metadata(&old).unwrap().mode() & 0o7777, 0o640);
        ok(&["encode", "-o", new.to_str().unwrap()], "a");
        File::create(&usual).unwrap();
        assert_eq!(fs::metadata(&new).unwrap().mode(), fs::metadata(&usual).unwrap().mode());
    }

    #[test]
    fn a_symbolic_link_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink("file", &link).unwrap();
        ok(&["encode", "-o", link.to_str().unwrap()], "a b");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"a%20b");
    }

    #[test]
    fn a_dangling_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("nowhere", &link).unwrap();
        refused(
            &["encode", "-o", link.to_str().unwrap()],
            "a b",
            "a symbolic link to a file that is not there",
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(entries(dir.path()), 1);
    }

    /// Line ends and control characters in file names are escaped in messages.
    #[test]
    fn names_are_escaped_in_messages() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a\rb\x1B[2Jc\nd\u{9B}e\u{202E}é");
        let shown = format!("{}/a\\rb\\x1b[2Jc\\nd\\u{{9b}}e\\u{{202e}}é", dir.path().display());
        let missing = run(&["decode", path.to_str().unwrap()], "");
        assert!(missing.err.starts_with(&format!("pct: {shown}: No such")), "{}", missing.err);
        fs::write(&path, "%zz").unwrap();
        let found = run(&["check", path.to_str().unwrap()], "");
        assert!(String::from_utf8_lossy(&found.out).starts_with(&format!("{shown}:1:0: ")), "{found:?}");
        let in_place = run(&["decode", "-i=.bak", path.to_str().unwrap(), path.to_str().unwrap()], "");
        assert!(in_place.err.starts_with(&format!("pct: {shown}: this file")), "{}", in_place.err);
        let unknown = run(&["decode", "-o", &format!("{}/no/o\x1B", dir.path().display())], "");
        assert!(unknown.err.contains("/no/o\\x1b: "), "{}", unknown.err);
    }

    #[test]
    fn a_device_is_written_to_as_it_is() {
        ok("encode -o /dev/null", "a b");
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_full_disk_is_an_error() {
        for (file, args) in [("<stdout>", &["encode"][..]), ("/dev/full", &["encode", "-o", "/dev/full"])] {
            let mut command = command(args);
            if args.len() == 1 {
                command.stdout(File::options().write(true).open("/dev/full").unwrap());
            }
            let input = File::open(env!("CARGO_BIN_EXE_pct")).unwrap();
            let run = wait(command.stdin(input).spawn().unwrap());
            assert_eq!(run.err, format!("pct: {file}: offset 0: No space left on device\n"));
            assert_eq!(run.code, Some(2));
        }
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_nothing() {
        let (dir, target) = file("out", "old");
        // Writes beyond this size limit fail, as on a full disk. The shell ignores the signal XFSZ, which would end the process.
        let script = r#"trap "" XFSZ; ulimit -f 256; exec "$0" encode -o "$1" "$0""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_pct"), target.to_str().unwrap()]);
        let run = wait(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        assert_eq!(run.code, Some(2));
        assert!(run.err.starts_with(&format!("pct: {}: offset ", target.display())), "{}", run.err);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(entries(dir.path()), 1);
    }
}
