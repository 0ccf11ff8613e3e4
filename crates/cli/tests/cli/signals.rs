//! Signals: an output file is whole or not there, and no temporary file stays behind.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::command;

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

fn send(child: &Child, signal: i32) {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(status.unwrap().success());
}

/// Writes a good deal of input, and waits until the temporary file holds some output.
fn feed(child: &mut Child, dir: &Path) {
    child.stdin.as_mut().unwrap().write_all(&b"a%20b\n".repeat(50_000)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let has_output = || {
        fs::read_dir(dir).unwrap().flatten().any(|entry| {
            entry.file_name().to_string_lossy().starts_with(".pct-")
                && entry.metadata().is_ok_and(|m| m.len() > 0)
        })
    };
    while !has_output() {
        assert!(Instant::now() < deadline, "no output after 20 seconds");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_signal_removes_the_temporary_file() {
    for signal in [SIGINT, SIGTERM, SIGKILL] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        fs::write(&target, "old").unwrap();
        let mut child = command(&["decode", "-o", target.to_str().unwrap()]).spawn().unwrap();
        feed(&mut child, dir.path());
        send(&child, signal);
        // Not by closing the input: `wait` would do that.
        let stdin = child.stdin.take();
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        drop(stdin);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        // Nothing can be done about SIGKILL.
        let left = if signal == SIGKILL { 2 } else { 1 };
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), left, "signal {signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" HUP INT; exec "$0" decode -o "$1""#, env!("CARGO_BIN_EXE_pct")]);
    let mut child = shell.arg(&target).stdin(std::process::Stdio::piped()).spawn().unwrap();
    feed(&mut child, dir.path());
    send(&child, SIGINT);
    send(&child, 1);
    std::thread::sleep(Duration::from_millis(50));
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read(&target).unwrap(), b"a b\n".repeat(50_000));
}
