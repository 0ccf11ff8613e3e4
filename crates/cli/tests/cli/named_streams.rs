//! Tests output names that mean an open stream, such as `/dev/stdout`. Also tests unusual standard streams: pipes that
//! do not block, and the null device.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use crate::support::{Run, command, skipped, wait};

/// Runs a shell script in a new folder, `$1`. In the script, `$0` is the `pct` binary.
fn shell(script: &str) -> (tempfile::TempDir, Run) {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("cd \"$1\"; {script}");
    let mut shell = Command::new("bash");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_pct"), dir.path().to_str().unwrap()]);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = wait(shell.spawn().expect("there is bash"));
    (dir, run)
}

#[test]
fn a_name_of_an_open_stream_is_written_to_as_it_is() {
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "so", "./so", "link", "/dev/./stdout"] {
        let script = format!(
            "ln -s so link; (echo first; echo a%20b | \"$0\" decode -o {name}; echo last) > so; cat so"
        );
        let (_dir, run) = shell(&script);
        assert_eq!((run.out.as_slice(), run.err.as_str()), (&b"first\na b\nlast\n"[..], ""), "{name}");
    }
    for name in ["/dev/stderr", "/dev/fd/2", "se"] {
        let script =
            format!("(echo first >&2; echo a%20b | \"$0\" decode -o {name}; echo last >&2) 2> se; cat se");
        let (_dir, run) = shell(&script);
        assert_eq!(run.out, b"first\na b\nlast\n", "{name}");
    }
    let (_dir, run) = shell("(echo x%zz | \"$0\" decode --rejects /dev/stderr) 2> se; cat se");
    let refused = "<stdin>:1:1: malformed escape: 'z' is not a hexadecimal digit: x%zz\n";
    assert_eq!(String::from_utf8_lossy(&run.out), format!("x%zz\n{refused}"));
}

#[cfg(target_os = "linux")]
#[test]
fn files_of_other_descriptors_are_not_replaced() {
    let script =
        "exec 3> f; echo first >&3; echo a%20b | \"$0\" decode -o /dev/fd/3; echo $? last >&3; cat f";
    let (_dir, run) = shell(script);
    assert_eq!(run.out, b"first\n2 last\n");
    assert!(run.err.starts_with("pct: /dev/fd/3: this file is open already; "), "{}", run.err);
    let (_dir, run) =
        shell("exec 3> f; echo first >&3; echo a%20b | \"$0\" decode >&3; echo last >&3; cat f");
    assert_eq!((run.out.as_slice(), run.err.as_str()), (&b"first\na b\nlast\n"[..], ""));
    // The output may be a pipe that is named by its descriptor.
    let (_dir, run) = shell("exec 3>&1; echo a%20b | \"$0\" decode -o /dev/fd/3 > null");
    assert_eq!((run.out.as_slice(), run.err.as_str()), (&b"a b\n"[..], ""));
    let (_dir, run) = shell("echo a%20b | \"$0\" decode -o /dev/fd/77");
    assert_eq!(run.code, Some(2));
    assert!(run.err.starts_with("pct: /dev/fd/77: "), "{}", run.err);
}

#[test]
fn no_open_stream_is_replaced_in_place() {
    for name in ["so", "/dev/stdout"] {
        let (_dir, run) = shell(&format!("(echo %41; \"$0\" decode -i {name}) > so; cat so"));
        assert_eq!(run.out, b"%41\n", "{name}: {}", run.err);
        assert!(run.err.contains(name) && run.err.lines().count() == 1, "{}", run.err);
    }
}

#[test]
fn a_named_stream_may_not_be_an_input() {
    let (_dir, run) = shell("echo a%20b > f; \"$0\" decode f -o /dev/stdout >> f; echo $?; cat f");
    assert_eq!(run.out, b"2\na%20b\n");
    assert!(run.err.contains("the input is the output as well"), "{}", run.err);
}

/// Node and ssh pass non-blocking pipes to their child processes, so `pct` must wait when such a pipe is empty or full.
#[test]
fn streams_that_do_not_block_are_waited_for() {
    let script = "\
import fcntl, os, subprocess, sys, time
def open(reads):
    fcntl.fcntl(reads, fcntl.F_SETFL, fcntl.fcntl(reads, fcntl.F_GETFL) | os.O_NONBLOCK)
names, text = os.pipe(), os.pipe()
out = os.pipe()
for end in (names[0], text[0], out[1]): open(end)
child = subprocess.Popen([sys.argv[1], *sys.argv[2:]], stdin=text[0], stdout=out[1])
os.close(text[0]); os.close(out[1])
time.sleep(0.1)
os.write(text[1], b'a%20')
time.sleep(0.1)
block = b'x' * 65000
# More than the output pipe holds, which nobody reads yet.
for n in range(6):
    done = 0
    if n == 3:
        import threading
        read = []
        def drain():
            while True:
                piece = os.read(out[0], 1 << 20)
                if not piece: break
                read.append(piece)
        time.sleep(0.1)
        reader = threading.Thread(target=drain); reader.start()
    while done < len(block): done += os.write(text[1], block[done:])
os.write(text[1], b'b\\n')
os.close(text[1])
reader.join()
assert b''.join(read) == b'a ' + 6 * block + b'b\\n', len(b''.join(read))
assert child.wait() == 0, child.returncode
";
    let python = Command::new("python3").args(["-c", script, env!("CARGO_BIN_EXE_pct"), "decode"]).output();
    let Ok(python) = python else {
        return skipped("streams_that_do_not_block_are_waited_for: there is no python3 here");
    };
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
}

#[test]
fn the_null_device_is_no_closed_stream() {
    for options in [File::options().write(true), File::options().read(true).write(true)] {
        let null = options.open("/dev/null").unwrap();
        let run = wait(command("decode -e %41").stdout(null).spawn().unwrap());
        run.says("", 0);
    }
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
