//! Tests that signals leave either a complete output file or none, and no temporary file.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Numbers, command, exit_status, folder, ok};

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGQUIT: i32 = 3;
const SIGTERM: i32 = 15;

/// Returns a command that runs `pct` with `args`, and with the default action for the signals of these tests. A test
/// runner under `nohup`, or in the background of a script, ignores some signals, and its child processes do, too.
fn killable(args: &[&str]) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP,INT,QUIT,TERM");
    // Some versions of `env`, such as that of BSD, lack the option `--default-signal`.
    let has_option = env.arg("true").output().is_ok_and(|output| output.status.success());
    let plain = command(args);
    if !has_option {
        return plain;
    }
    let mut command = Command::new("env");
    command
        .args(["--default-signal=HUP,INT,QUIT,TERM", "--unset=SIMDPCT_TIER"])
        .arg(plain.get_program())
        .args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn send(child: &Child, signal: i32) {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(status.unwrap().success());
}

/// Writes 300 kB of input to `child`, and waits until the temporary file in `dir` contains some output.
fn feed(child: &mut Child, dir: &Path) {
    child.stdin.as_mut().unwrap().write_all(&b"a%20b\n".repeat(50_000)).unwrap();
    wait_for_output(dir, 0);
}

/// Waits until `dir` contains a temporary file of more than `len` bytes.
fn wait_for_output(dir: &Path, len: u64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let has_output = || {
        fs::read_dir(dir).unwrap().flatten().any(|entry| {
            entry.file_name().to_string_lossy().starts_with(".pct-")
                && entry.metadata().is_ok_and(|m| m.len() > len)
        })
    };
    while !has_output() {
        assert!(Instant::now() < deadline, "no output after 20 seconds");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns at least `len` bytes of random lines, which compress badly.
fn noise(len: usize) -> Vec<u8> {
    let mut numbers = Numbers(5);
    let mut bytes = Vec::with_capacity(len + 64);
    while bytes.len() < len {
        bytes.extend_from_slice(format!("a {:016x}\n", numbers.next()).as_bytes());
    }
    bytes
}

#[test]
fn a_signal_leaves_the_old_file_and_no_other() {
    let noise = noise(4 << 20);
    for name in ["out", "out.gz", "out.zst", "out.bz2", "out.xz"] {
        for signal in [SIGINT, SIGTERM, SIGKILL] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join(name);
            fs::write(&target, "old").unwrap();
            let out = target.to_str().unwrap();
            let args: &[&str] =
                if name == "out" { &["decode", "-o", out] } else { &["encode", "--level", "1", "-o", out] };
            let mut child = killable(args).spawn().unwrap();
            child.stdin.as_mut().unwrap().write_all(&noise).unwrap();
            wait_for_output(dir.path(), 0);
            send(&child, signal);
            // The signal, and not the end of the input, must end the process, so stdin stays open while the test waits.
            let stdin = child.stdin.take();
            assert_eq!(exit_status(&mut child).signal(), Some(signal), "{name}");
            drop(stdin);
            assert_eq!(fs::read(&target).unwrap(), b"old", "{name}");
            // A process cannot handle SIGKILL, so only then does the temporary file remain beside the old file.
            let left = if signal == SIGKILL { 2 } else { 1 };
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), left, "{name}, signal {signal}");
        }
    }
}

#[test]
fn a_file_that_is_being_replaced_is_old_or_new() {
    let (dir, path) = folder();
    let noise = noise(1 << 20);
    let encoded = ok("encode", &noise);
    // This sparse file is so large that the run is not finished when the signal arrives, but it takes no disk space.
    fs::File::create(path("huge")).unwrap().set_len(64 << 30).unwrap();
    for (signal, files) in [(SIGINT, 3), (SIGTERM, 3), (SIGKILL, 4)] {
        for more in [&[][..], &["--stats", "-j2"]] {
            fs::write(path("plain"), &noise).unwrap();
            ok(&["normalize", "--compress", "gzip", "-o", &path("packed")], &noise);
            let mut child = killable(&["encode", "-i"])
                .args(more)
                .args(["plain", "packed", "huge"])
                .current_dir(dir.path())
                .spawn()
                .unwrap();
            // A temporary file of more than 8 MiB can only be the output for the huge file.
            wait_for_output(dir.path(), 8 << 20);
            send(&child, signal);
            assert_eq!(exit_status(&mut child).signal(), Some(signal));
            for name in ["plain", "packed"] {
                let now = ok(&["normalize", &path(name)], "");
                assert!(now == encoded, "{name}, signal {signal}");
            }
            assert_eq!(fs::metadata(path("huge")).unwrap().len(), 64 << 30);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), files, "signal {signal}");
            for entry in fs::read_dir(dir.path()).unwrap().flatten() {
                if entry.file_name().to_string_lossy().starts_with(".pct-") {
                    fs::remove_file(entry.path()).unwrap();
                }
            }
        }
    }
    // The signal arrives after a different delay in each round.
    fs::remove_file(path("huge")).unwrap();
    for step in 0..24 {
        // A signal between the backup and the replacement of a file leaves two names of one file.
        for name in ["plain", "packed"] {
            fs::remove_file(path(name)).unwrap();
        }
        fs::write(path("plain"), &noise).unwrap();
        ok(&["normalize", "--compress", "gzip", "-o", &path("packed")], &noise);
        let args = ["encode", "-i=.bak", "--level", "9", &path("plain"), &path("packed")];
        let mut child = killable(&args).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(step * 4));
        let signal = if step % 2 == 0 { SIGKILL } else { SIGTERM };
        send(&child, signal);
        let status = exit_status(&mut child);
        assert!(status.signal() == Some(signal) || status.success(), "{status}");
        for name in ["plain", "packed"] {
            let now = ok(&["normalize", &path(name)], "");
            assert!(now == noise || now == encoded, "{name}, step {step}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" HUP INT; exec "$0" decode -o "$1""#, env!("CARGO_BIN_EXE_pct")]);
    let mut child = shell.arg(&target).stdin(Stdio::piped()).spawn().unwrap();
    feed(&mut child, dir.path());
    send(&child, SIGINT);
    send(&child, 1);
    std::thread::sleep(Duration::from_millis(50));
    drop(child.stdin.take());
    assert_eq!(exit_status(&mut child).code(), Some(0));
    assert_eq!(fs::read(&target).unwrap(), b"a b\n".repeat(50_000));
}

/// No other user may open an unfinished file. A finished one has the permissions of the old file, or the default ones.
#[test]
fn unfinished_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, path) = folder();
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o7777;
    fs::write(path("old"), "").unwrap();
    fs::set_permissions(path("old"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(path("usual"), "").unwrap();
    for name in ["old", "new"] {
        let rejects = path(&format!("{name}.rejects"));
        let mut child = command(&["decode", "-o", &path(name), "--rejects", &rejects]).spawn().unwrap();
        feed(&mut child, dir.path());
        let entries = fs::read_dir(dir.path()).unwrap().flatten();
        let hidden = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".pct-"));
        let modes: Vec<_> =
            hidden.map(|entry| entry.metadata().unwrap().permissions().mode() & 0o7777).collect();
        assert_eq!(modes, [0o600; 2], "{name}");
        drop(child.stdin.take());
        assert!(exit_status(&mut child).success());
        assert_eq!(mode(&format!("{name}.rejects")), mode("usual"));
    }
    assert_eq!((mode("old"), mode("new")), (0o640, mode("usual")));
}

#[test]
fn quit_leaves_no_temporary_file() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    // A core file, which this signal can leave, is no file of `pct`.
    let mut child = killable(&["decode", "-o", target.to_str().unwrap()])
        .current_dir(std::env::temp_dir())
        .spawn()
        .unwrap();
    feed(&mut child, dir.path());
    send(&child, SIGQUIT);
    let stdin = child.stdin.take();
    assert_eq!(exit_status(&mut child).signal(), Some(SIGQUIT));
    drop(stdin);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
