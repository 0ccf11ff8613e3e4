//! Tests `-j`: several threads write the same output as one thread.

use std::fs;

use crate::support::{Numbers, Run, assert_same, command, run, tangle, wait};

/// Runs `pct` with `args` and the option `jobs` (`-jN`) on the file `path`, and replaces the path in messages by `FILE`.
fn run_file(args: &[&str], jobs: &str, path: &str) -> Run {
    let child = command(&[args, &[jobs, path]].concat()).spawn().unwrap();
    let Run { out, err, code } = wait(child);
    Run { out, err: err.replace(path, "FILE"), code }
}

#[track_caller]
fn same(args: &[&str], input: &[u8]) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    let rejects = dir.path().join("rejects");
    fs::write(&path, input).unwrap();
    let args: Vec<_> =
        args.iter().map(|arg| if *arg == "REJECTS" { rejects.to_str().unwrap() } else { arg }).collect();
    let path = path.to_str().unwrap();
    let one = run_file(&args, "-j1", path);
    let rejected = fs::read(&rejects).ok();
    for jobs in ["-j2", "-j4", "-j7"] {
        let several = run_file(&args, jobs, path);
        assert_same(&format!("{args:?} {jobs}"), &several.out, &one.out);
        assert_eq!((&several.err, several.code), (&one.err, one.code), "{args:?} {jobs}");
        assert!(fs::read(&rejects).ok() == rejected, "{args:?} {jobs}");
        // A pipe delivers the input in other pieces than a file, which must not change the output.
        let piped = run(&[&args[..], &[jobs]].concat(), input);
        assert_same(&format!("{args:?} {jobs} <pipe"), &piped.out, &one.out);
        assert_eq!(piped.err.replace("<stdin>", "FILE"), one.err, "{args:?} {jobs}");
        // With `-o`, threads write their parts of the output file in any order.
        let file = dir.path().join("out");
        let named = run_file(&[&args[..], &["-o", file.to_str().unwrap()]].concat(), jobs, path);
        if one.code == Some(0) {
            assert_same(&format!("{args:?} {jobs} -o"), &fs::read(&file).unwrap(), &one.out);
        }
        assert_eq!(file.exists(), one.code == Some(0), "{args:?} {jobs} -o");
        assert_eq!((&named.err, named.code), (&one.err, one.code), "{args:?} {jobs} -o");
        let _ = fs::remove_file(&rejects);
        let _ = fs::remove_file(&file);
    }
    one
}

#[test]
fn files_that_threads_write_have_seams_and_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a", "b", "c", "out"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let [a, b, c, out] = paths.each_ref().map(String::as_str);
    let mut input = tangle(5, 5 << 20);
    // The last line is much longer than a block, and has no line end.
    input.extend_from_slice(&b"%41-".repeat(400_000));
    fs::write(a, &input).unwrap();
    fs::write(b, b"\xEF\xBB\xBF%42").unwrap();
    fs::write(c, &input[..3 << 20]).unwrap();
    for args in [&["decode"][..], &["encode"], &["decode", "-q", "--on-malformed", "drop"], &["decode", "-0"]]
    {
        let one = wait(command(&[args, &["-j1", a, b, c]].concat()).spawn().unwrap());
        let said = if args.contains(&"drop") { " left out; --rejects FILE lists the reasons\n" } else { "" };
        assert!(one.err.ends_with(said) && one.err.is_empty() == said.is_empty(), "{args:?}: {}", one.err);
        assert_eq!(one.code, Some(0), "{args:?}");
        for jobs in ["-j2", "-j5"] {
            let several = wait(command(&[args, &[jobs, "-o", out, a, b, c]].concat()).spawn().unwrap());
            assert_eq!((several.err, several.code), (one.err.clone(), Some(0)), "{args:?} {jobs}");
            assert_same(&format!("{args:?} {jobs}"), &fs::read(out).unwrap(), &one.out);
            fs::write(out, "old").unwrap();
        }
    }
    let mut bad = b"good%20line\n".repeat(600_000);
    bad.extend_from_slice(b"%zz\n");
    fs::write(a, &bad).unwrap();
    for (name, input) in [(a, &b""[..]), ("-", &bad)] {
        let run = run(&["decode", "-j4", "--strict", "-o", out, name], input);
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.err.contains(":600001: offset 7200000: malformed escape"), "{}", run.err);
        assert_eq!((fs::read(out).unwrap(), fs::read_dir(&dir).unwrap().count()), (b"old".to_vec(), 4));
    }
}

/// A full output file is an error, no matter which thread detects it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_file_is_an_error_on_threads() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("in"), dir.path().join("out"));
    fs::write(&path, b"a%20line\n".repeat(800_000)).unwrap();
    let script = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" decode -j4 -o \"$1\" \"$2\"";
    let mut shell = std::process::Command::new("bash");
    let run: Run =
        shell.args(["-c", script, env!("CARGO_BIN_EXE_pct")]).arg(&out).arg(&path).output().unwrap().into();
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("File too large"), "{}", run.err);
    assert!(!out.exists());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn outputs_are_identical() {
    let input = tangle(21, 9 << 20);
    for args in [
        &["decode"][..],
        &["encode", "--keep-escapes"],
        &["encode"],
        &["normalize", "-0"],
        &["decode", "--raw", "--form"],
        &["decode", "--field", "2", "--on-malformed", "drop", "--rejects", "REJECTS", "--stats"],
        &["decode", "--on-invalid-utf8", "replace", "--stats=json"],
        &["decode", "-d", "&", "--field", "1,3", "--on-malformed", "empty"],
    ] {
        assert_eq!(same(args, &input).code, Some(0), "{args:?}");
    }
}

#[test]
fn tables_and_json_are_cut_between_records() {
    let mut numbers = Numbers(4);
    let mut csv = b"id,url\n".to_vec();
    let mut json = Vec::new();
    while csv.len() < 7 << 20 {
        csv.extend_from_slice(numbers.pick(&[
            b"1,%41\n",
            b"2,\"%41\n,\"\"\n%0A\"\r\n",
            b"\n",
            b"x\"y,%2C\n",
            b"\"\n\n\",%22z\n",
        ]));
        json.extend_from_slice(numbers.pick(&[
            b"{\"u\":\"%41%22\"}\n",
            b"\n",
            b"no\n",
            b"{\"v\":[1,2],\"u\":\"\\u00e9%zz\"}\n",
        ]));
    }
    same(&["decode", "--csv", "--column", "url", "--stats"], &csv);
    same(&["decode", "--jsonl", "--key", "u", "--stats", "--rejects", "REJECTS"], &json);
}

/// The parts of a line that Kubernetes has cut can be in different chunks.
#[test]
fn parts_of_lines_depend_on_those_before_them() {
    let mut numbers = Numbers(9);
    let (mut log, mut wanted, mut goes_on) = (Vec::new(), String::new(), [false; 2]);
    for number in 0.. {
        let (stream, is_part) = (numbers.next() as usize % 2, numbers.next().is_multiple_of(3));
        let (name, tag) = (["stdout", "stderr"][stream], if is_part { "P" } else { "F" });
        let agent = "x".repeat(if is_part { 16000 } else { numbers.next() as usize % 400 });
        let request = format!("1 - - [10/Oct/2000:13:55:36 -0700] \"GET /{number}%41 HTTP/1.1\" 200 1 \"-\"");
        log.extend(format!("2026-11-27T15:38:10.123456789Z {name} {tag} {request} \"{agent}\"\n").bytes());
        if !std::mem::replace(&mut goes_on[stream], is_part) && !is_part {
            wanted += &format!("/{number}A\n");
        }
        if log.len() > 9 << 20 {
            break;
        }
    }
    for format in ["cri+nginx", "cri"] {
        let one = same(&["decode", "--log", format, "--values"], &log);
        assert_same(format, &one.out, wanted.as_bytes());
        let check = run(&["check", "--log", format, "-j4", "--kinds", "unreadable"], &log);
        let unreadable = check.text().lines().count();
        assert_eq!(unreadable + wanted.lines().count(), log.split(|&byte| byte == b'\n').count() - 1);
    }
}

#[test]
fn errors_have_the_same_place() {
    let mut input = Vec::new();
    while input.len() < 6 << 20 {
        input.extend_from_slice(b"%41%42%43%44%45%46%47\nx%20%C3%A9\n");
    }
    for (what, cause) in [("%zz", "'z' is"), ("%4%41", "'%' is"), ("%%41", "'%' is"), ("%4\n", "'\\\\n' is")]
    {
        // `%zz` is tested at all places, and the other causes only at a late place and at the end of the input.
        let places = [10, 3 << 20, (5 << 20) + 1, input.len()];
        for &at in &places[if what == "%zz" { 0 } else { 2 }..] {
            let mut input = input.clone();
            input.splice(at..at, what.bytes());
            for args in
                [&["decode", "--strict"][..], &["normalize", "--on-malformed", "fail", "--field", "1"]]
            {
                let run = same(args, &input);
                assert!(run.code == Some(1), "{what} at {at}: {}", run.err);
                if at % 22 == 0 || at == input.len() {
                    assert!(run.err.contains(cause), "{what} at {at}: {}", run.err);
                }
            }
        }
    }
}

#[test]
fn strict_errors_are_the_same_wherever_blocks_end() {
    let line = b"%41%42%43%44%45%46%47%48%49%4A%4B%4C\n";
    let start = line.repeat((5 << 20) / line.len());
    for shift in 0..4 {
        for what in ["%2%41", "%%41", "%2x", "%\r\n", "%4\r"] {
            let input = [&b"x".repeat(shift), &start[..], what.as_bytes(), &start[..1 << 20]].concat();
            let run = same(&["decode", "--strict"], &input);
            let byte = if what.starts_with("%2%") || what.starts_with("%%") {
                "%"
            } else if what == "%2x" {
                "x"
            } else {
                "\\r"
            };
            let wanted = format!(
                "pct: FILE:{}: offset {}: malformed escape: '{byte}' is not a hexadecimal digit\n",
                start.len() / line.len() + 1,
                start.len() + shift
            );
            assert_eq!(run.err, wanted, "{what:?}");
        }
    }
}
