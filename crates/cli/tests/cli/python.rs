//! Checks that results agree with Python's urllib, line by line.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{assert_same, ok, output, tangle};

#[test]
fn urllib_agrees() {
    let version = Command::new("python3").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        // The test runner captures `eprintln!`, and shows its output only for tests that fail.
        let _ = std::io::stderr().write_all(b"\nSKIPPED urllib_agrees: there is no python3 here\n");
        return;
    }
    let input = tangle(11, 300_000);
    for verb in ["encode", "decode", "normalize"] {
        let python = Command::new("python3")
            .args(["-c", include_str!("oracle.py"), verb])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = output(python, &input, usize::MAX);
        assert!(output.status.success());
        assert_same(verb, &ok(&[verb], &input), &output.stdout);
    }
}
