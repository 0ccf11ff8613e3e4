//! Tests `--dry-run` and `--diff`, which show the changes that `--in-place` would make.

use std::fs;
use std::process::Command;

use crate::support::{Numbers, Run, assert_same, command, done, file, ok, refused, run, skipped, text, wait};

#[test]
fn a_diff_is_shown_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list");
    let name = path.to_str().unwrap();
    let content = "1\n2\n3\n4\n%41\n6\n7\n8\n9\n10\n11\n12\n%42";
    fs::write(&path, content).unwrap();
    let wanted = format!(
        "--- {name}\n+++ {name}\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-%41\n+A\n 6\n 7\n 8\n@@ -10,4 +10,4 @@\n 10\n 11\n 12\n-%42\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n"
    );
    for jobs in ["-j1", "-j2"] {
        assert_eq!(text(&["decode", "-i", "--diff", jobs, name], ""), wanted);
    }
    let Run { out, err, code } = run(&["decode", "-i", "--dry-run", name, name], "");
    assert_eq!(String::from_utf8(out).unwrap(), format!("{name}: 2 lines would change\n").repeat(2));
    assert_eq!((err.as_str(), code), ("pct: 2 of 2 files would change; nothing was written\n", Some(0)));
    let Run { out, err, code } =
        run(&["normalize", "-q", "-i", "--dry-run", "--jsonl", "--key", "x", name], "");
    assert_eq!((out.len(), code), (0, Some(0)));
    assert!(err.contains("unreadable, and stay") && err.lines().count() == 1, "{err}");
    assert_eq!(done(&["normalize", "-q", "-i", "--diff", "--jsonl", "--key", "x", name], ""), b"");
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    for (args, wanted) in [
        (&["--diff", name][..], "--in-place"),
        (&["-i", "--diff", "--dry-run", name], "--dry-run"),
        (&["-i", "--diff"], "--in-place needs files"),
        (&["-i", "--diff", "--raw", name], "--raw"),
        (&["-i", "--dry-run", "--values", "--field", "1", name], "--values"),
    ] {
        refused(&[&["decode"], args].concat(), "", wanted);
    }
}

#[test]
fn names_in_a_diff_are_written_as_git_writes_them() {
    let dir = tempfile::tempdir().unwrap();
    for (name, wanted) in [
        ("plain", "plain"),
        ("\u{e9}.txt", r#""\303\251.txt""#),
        ("a b", "a b\t"),
        ("a\tb c", "\"a\\tb c\"\t"),
        ("q\"\\\n", r#""q\"\\\n""#),
        ("\x1b\u{202e}", r#""\033\342\200\256""#),
    ] {
        fs::write(dir.path().join(name), "%41\n").unwrap();
        let mut pct = command(&["decode", "-i", "--diff", name]);
        let Run { out, err, code } = wait(pct.current_dir(&dir).spawn().unwrap());
        let wanted = format!("--- {wanted}\n+++ {wanted}\n@@ -1,1 +1,1 @@\n-%41\n+A\n");
        assert_eq!((String::from_utf8(out).unwrap(), err.as_str(), code), (wanted, "", Some(0)));
    }
}

#[test]
fn the_exit_code_can_say_that_a_file_would_change() {
    let dir = tempfile::tempdir().unwrap();
    for (text, code) in [("%41\n", 1), ("A\n", 0)] {
        let path = dir.path().join("list");
        fs::write(&path, text).unwrap();
        for show in ["--dry-run", "--diff"] {
            for (more, code) in [("--exit-code", code), ("-q", 0)] {
                assert_eq!(
                    run(&["decode", "-i", show, more, path.to_str().unwrap()], "").code,
                    Some(code),
                    "{show} {more}"
                );
            }
        }
    }
}

/// `patch` can apply a diff even if a block of changes is too long for one hunk, or if lines are longer than
/// `--max-record`.
#[test]
fn patch_can_apply_a_diff_of_any_size() {
    let dir = tempfile::tempdir().unwrap();
    let line = |byte: &str| byte.repeat(3 << 20) + "\n";
    let block = "a%41\n".repeat(200_000) + "plain\n" + &"%zz\n".repeat(200_000);
    let texts = [
        block.clone(),
        format!("1\n2\n3\n4\n{block}5\n6\n7\n8\n9\n%42"),
        format!("1\n%41\n3\n{}4\n%42\n5\n6\n7\n{}%43\n8\n9\n", line("x"), line("%44")),
        format!("{}1\n2\n3\n4\n%45\n{}", line("%44"), line("%46").trim_end()),
        format!("1\n2\n3\n4\n%45\n{}", line("%zz")),
    ];
    for (round, text) in texts.iter().enumerate() {
        for policy in [
            &["--on-malformed", "replace"][..],
            &["--on-malformed", "drop"],
            &["--on-malformed", "replace", "--on-rejected", "drop"],
        ] {
            let paths = ["patched", "replaced", "diff"].map(|name| dir.path().join(name));
            let [patched, replaced, diff] = paths.each_ref().map(|path| path.to_str().unwrap());
            [patched, replaced].iter().for_each(|path| fs::write(path, text).unwrap());
            let args = [&["decode", "-q", "-i"], policy].concat();
            fs::write(diff, done(&[&args[..], &["--diff", patched]].concat(), "")).unwrap();
            let changed = run(&[&args[..], &["--dry-run", "--exit-code", patched]].concat(), "");
            assert_eq!(changed.code, Some(1), "{round}");
            done(&[&args[..], &[replaced]].concat(), "");
            let Ok(patch) = Command::new("patch").args(["--binary", "-s", patched, diff]).output() else {
                return;
            };
            assert!(patch.status.success(), "{round} {policy:?}: {patch:?}");
            assert_same(
                &format!("{round} {policy:?}"),
                &fs::read(patched).unwrap(),
                &fs::read(replaced).unwrap(),
            );
        }
    }
}

/// Without options that need whole records, `decode` converts lines of any length, but a preview shows none that is longer than
/// `--max-record`.
#[test]
fn a_preview_says_that_a_line_is_too_long_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in").to_str().unwrap().to_owned();
    fs::write(&path, format!("%41\n{}\n", "%41".repeat(1 << 20))).unwrap();
    let Run { out, err, code } = run(&["decode", "-i", "--dry-run", &path], "");
    assert_eq!((out, code), (format!("{path}: 1 line would change\n").into_bytes(), Some(0)));
    let long =
        "the record is longer than 2 MiB (--max-record), and is too long for a preview, but -i converts it";
    assert!(err.contains(long) && !err.contains("unreadable"), "{err}");
    fs::write(&path, "%41".repeat(1 << 20)).unwrap();
    let Run { out, err, code } = run(&["decode", "-i", "--dry-run", "--exit-code", &path], "");
    assert_eq!((out.len(), code), (0, Some(1)));
    assert!(err.ends_with("\npct: 0 of 1 file would change, and 1 may; nothing was written\n"), "{err}");
}

/// Applying the output of `--diff` with `patch` gives the same file as `--in-place`.
#[test]
fn patch_can_apply_a_diff() {
    if Command::new("patch").arg("--version").output().is_err() {
        return skipped("diffs that are applied: there is no patch here");
    }
    let dir = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(31);
    for round in 0..40_u64 {
        let is_csv = round % 4 == 1;
        let mut text = if round % 8 == 1 {
            b"\xEF\xBB\xBFid,u\n".to_vec()
        } else if is_csv {
            b"id,u\n".to_vec()
        } else {
            Vec::new()
        };
        for _ in 0..numbers.next() % 200 {
            let words: &[&[u8]] = match (numbers.next() % (1 + round % 7), is_csv) {
                (0, false) => &[b"a %41\n", b"%zz\n", b"b %20%0A%FF\n", b"%41\r\n"],
                (_, false) => &[b"plain\n", b"\n", b"a line\n", b"\\ No newline at end of file\n"],
                (0, true) => &[b"1,%41\n", b"2,\"%22\n%0A\"\n", b"3,%0A\n", b"4,%zz\n"],
                (_, true) => &[b"1,x\n", b"\n", b"1,\"\n\"\n"],
            };
            text.extend_from_slice(numbers.pick(words));
        }
        if numbers.next() & 1 == 0 {
            text.pop();
        }
        let paths = ["patched", "replaced"].map(|name| dir.path().join(name));
        paths.iter().for_each(|path| fs::write(path, &text).unwrap());
        let [patched, replaced] = paths.each_ref().map(|path| path.to_str().unwrap());
        let options = match (is_csv, round % 3) {
            (true, 0) => &["--csv", "--column", "u", "--into", "new"][..],
            (true, _) => &["--csv", "--column", "u"],
            (false, 0) => &["--on-malformed", "drop"],
            (false, 1) => &["--field", "2", "--only-changed"],
            (false, _) => &["--on-malformed", "replace", "--on-invalid-utf8", "empty"],
        };
        let args = |more, file| [&["decode", "-q", "-i"], options, more, &[file]].concat();
        let diff = done(&args(&["--diff"][..], patched), "");
        assert_eq!(fs::read(patched).unwrap(), text);
        done(&args(&[], replaced), "");
        if !diff.is_empty() {
            let file = dir.path().join("diff");
            fs::write(&file, &diff).unwrap();
            let patch = Command::new("patch")
                .args(["--binary", "-s", "--posix", patched])
                .arg(&file)
                .output()
                .unwrap();
            assert!(patch.status.success(), "{round}: {patch:?}\n{}", String::from_utf8_lossy(&diff));
        }
        // `patch` may remove a file that becomes empty.
        let got = fs::read(patched).unwrap_or_default();
        assert_same(
            &format!("round {round} {options:?}\n{}", String::from_utf8_lossy(&diff)),
            &got,
            &fs::read(replaced).unwrap(),
        );
    }
}

#[test]
fn of_compressed_files_the_text_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.gz");
    let name = path.to_str().unwrap();
    ok(&["encode", "--keep", "%", "-o", name], "%41\n");
    let before = fs::read(&path).unwrap();
    let diff = text(&["decode", "-i", "--diff", name], "");
    assert_eq!(diff, format!("--- {name}\n+++ {name}\n@@ -1,1 +1,1 @@\n-%41\n+A\n"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_terminals() {
    let (_dir, path) = file("list", "%41\n");
    for (variables, has_colours) in [("", true), ("NO_COLOR=1", false), ("TERM=dumb", false)] {
        let script = format!("{variables} {} decode -i --diff {}", env!("CARGO_BIN_EXE_pct"), path.display());
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &script, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
        let Ok(output) = terminal.stdin(std::process::Stdio::null()).output() else {
            return skipped("colours: there is no script command here");
        };
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown.contains("\x1B[32m+A\x1B[m"), has_colours, "{variables}: {shown:?}");
        assert!(shown.contains("+A"), "{shown:?}");
    }
}
