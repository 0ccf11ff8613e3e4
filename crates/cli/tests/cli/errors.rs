//! Tests inputs that cannot be read, and output pipes whose reader closes them early.

use std::fs::File;
use std::io::Read;

use crate::support::{command, file, open_error, refused, run, wait};

#[test]
fn a_missing_file_is_one_clear_line() {
    for verb in ["encode", "decode", "normalize", "check", "audit"] {
        let run = run(&[verb, "no/such/file"], "");
        assert_eq!(run.err, format!("pct: no/such/file: {}\n", open_error("no/such/file")));
        assert_eq!((run.code, run.out.len()), (Some(2), 0));
    }
}

#[test]
fn a_directory_is_one_clear_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    for verb in ["encode", "decode", "normalize", "check"] {
        let run = run(&[verb, path], "");
        assert_eq!((run.code, run.out.len()), (Some(2), 0));
        assert_eq!(run.err, format!("pct: {path}: is a directory\n"));
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let (_dir, path) = file("in", "%00 \n".repeat(5_000_000));
    let name = path.to_str().unwrap();
    for (args, code) in [
        (&["encode"][..], 0),
        (&["decode"], 0),
        (&["decode", "-j4", name], 0),
        (&["decode", "nosuch", name], 2),
        (&["check", "nosuch", name], 2),
        (&["decode", "-i", "--diff", name], 0),
        (&["decode", "-i", "--diff", "--exit-code", name], 1),
        (&["normalize"], 0),
        (&["check"], 1),
    ] {
        let mut child = command(args).stdin(File::open(&path).unwrap()).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let run = wait(child);
        let errors = usize::from(code == 2);
        assert_eq!((run.err.lines().count(), run.code), (errors, Some(code)), "{args:?}: {}", run.err);
    }
}

#[test]
fn no_arguments_is_a_usage_error() {
    let alone = run(&[], "");
    assert_eq!((alone.code, alone.out.len()), (Some(2), 0));
    assert!(alone.err.contains("Usage: pct") && alone.err.contains("Examples:"), "{}", alone.err);
    for args in [&["encode", "--no-such-option"][..], &["frobnicate"], &["encode", "--set"]] {
        refused(args, "", "pct: ");
    }
}
