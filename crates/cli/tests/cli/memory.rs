//! Tests that memory use does not depend on the length of the input, or of a line, even if `pct` cannot convert this
//! line.
//!
//! The tests measure the peak resident memory of the process without the pages of mapped files, such as the executable.
//! The number of these pages depends on the kernel and the build.

use std::fs;
use std::io::{Read, Write};

use crate::support::command;

/// The maximum memory of a run with one thread, in KiB.
const LIMIT: u64 = 13 * 1024;

/// The maximum memory of a run with several threads, in KiB.
const LIMIT_JOBS: u64 = 40 * 1024;

/// Runs `pct` with `args` on at least `len` bytes of repetitions of `line`, and returns its peak memory in KiB.
fn peak(args: &[&str], line: &[u8], len: usize) -> u64 {
    let mut child = command(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut block, mut total) = (vec![0; 1 << 20], 0);
        loop {
            match stdout.read(&mut block).unwrap() {
                0 => return total,
                len => total += len,
            }
        }
    });
    let block = line.repeat(64 * 1024);
    for _ in 0..len.div_ceil(block.len()) {
        stdin.write_all(&block).unwrap();
    }
    // The process has read all of its input except the bytes in the pipe, and waits for more.
    let peak = resident(child.id()).unwrap();
    drop(stdin);
    assert!(crate::support::exit_status(&mut child).code().is_some_and(|code| code < 2));
    let written = reader.join().unwrap();
    assert!(
        ["check", "audit"].contains(&args[0]) || args.contains(&"drop") || written >= len / 3,
        "{args:?} wrote {written} bytes"
    );
    peak
}

#[test]
fn a_line_of_gigabytes_is_no_different() {
    const MIB: usize = 1 << 20;
    for (args, line, len) in [
        (&["decode", "-j1"][..], &b"https://example.org/%20/"[..], 320 * MIB),
        (&["decode", "--strict", "--form", "-j1"], b"a+%41\n", 64 * MIB),
        (&["encode", "-j1"], b"\xFF/ ", 64 * MIB),
        (&["encode", "--keep-escapes", "-j1"], b"%\r%41\r\n", 32 * MIB),
        (&["normalize", "-j1"], b"%7e%2f", 64 * MIB),
        (&["decode", "--field", "1", "-j1"], b"%41/", 32 * MIB),
        (&["decode", "--field", "1", "--on-malformed", "drop", "-j1"], b"%zz\n", 32 * MIB),
        (&["decode", "--until-stable", "-j1"], b"%252525%2520wxyz", 64 * MIB),
        (&["decode", "--times", "9", "-j1"], b"y", 64 * MIB),
        (&["decode", "--printable", "-j1"], b"%00%20", 32 * MIB),
        (&["decode", "--percent-u", "--charset", "gbk", "-j1"], b"\\x22%u4F60%C4%E3a ", 32 * MIB),
        (&["encode", "--charset", "gbk", "-j1"], "你好 ".as_bytes(), 32 * MIB),
        (&["decode", "--stats", "--on-malformed", "keep", "-j1"], b"https://example.org/%20/", 320 * MIB),
        (&["encode", "--stats=json", "-j1"], b"\xFF/ ", 64 * MIB),
        (&["normalize", "--on-malformed", "replace", "-j1"], b"%7e%zz", 64 * MIB),
        (&["decode", "--rejects", "/dev/null", "-j1"], b"%zz\xFF", 64 * MIB),
        (&["decode", "--on-malformed", "drop", "-j1"], b"%zz%20", 64 * MIB),
        (&["decode", "--on-invalid-utf8", "fail", "-j1"], b"%C3%A9", 64 * MIB),
        (&["decode", "--until-stable", "--stats", "-j1"], b"%252525%2520wxyz", 64 * MIB),
        (&["decode", "--until-stable", "-j1"], b"ab12", 32 * MIB),
        (&["decode", "--until-stable", "-j1"], b"%", 32 * MIB),
        (&["decode", "--times", "65535", "-j1"], b"%3", 32 * MIB),
        (&["decode", "--charset", "gbk", "--stats", "-j1"], b"%C4%E3", 32 * MIB),
        (&["decode", "--charset", "iso-2022-jp", "--raw", "-j1"], b"%1B%24B%25%33%1B%28B", 32 * MIB),
        (&["encode", "--charset", "gbk", "-j1"], b"ab12", 32 * MIB),
        (&["check"], b"https://example.org/%20/", 320 * MIB),
        (&["check"], b"%zz%00\xFF", 8 * MIB),
        (&["audit"], b"https://example.org/%20/", 320 * MIB),
        (&["audit"], b"%zz%00\xFF", 32 * MIB),
    ] {
        let peak = peak(args, line, len);
        assert!(peak < LIMIT, "pct {args:?}: {peak} KiB");
    }
    // Several threads share one line.
    for (args, line, len) in [
        (&["decode", "-j2"][..], &b"https://example.org/%20/"[..], 320 * MIB),
        (&["encode", "-j8"], b"\xFF/ ", 64 * MIB),
        (&["encode", "-j64"], b"\xFF/ ", 64 * MIB),
        (&["decode", "--stats", "-j8"], b"https://example.org/%20/", 64 * MIB),
        (&["decode", "--field", "1", "-j8"], b"%41/", 32 * MIB),
        (&["encode", "-d", ",", "--field", "2", "-j8"], b"\xFF\xFF,\xFF\xFF\n", 64 * MIB),
    ] {
        let peak = peak(args, line, len);
        assert!(peak < LIMIT_JOBS, "pct {args:?}: {peak} KiB");
    }
}

/// A small compressed file can expand to much data, which is never in memory at once.
#[test]
fn a_small_file_that_holds_much_is_no_different() {
    const LEN: usize = 96 << 20;
    let dir = tempfile::tempdir().unwrap();
    for format in ["gzip", "zstd", "bzip2", "xz"] {
        let path = dir.path().join(format);
        let mut packer = command(&["encode", "--raw", "--compress", format, "-o", path.to_str().unwrap()]);
        let mut packer = packer.spawn().unwrap();
        let mut stdin = packer.stdin.take().unwrap();
        let block = vec![b'a'; 1 << 20];
        (0..LEN / block.len()).for_each(|_| stdin.write_all(&block).unwrap());
        drop(stdin);
        assert!(crate::support::exit_status(&mut packer).success());
        let packed = fs::read(&path).unwrap();
        assert!(packed.len() < LEN / 400, "{format}: {}", packed.len());
        for (args, limit) in [
            (&["decode", "-j1"][..], LIMIT),
            (&["decode", "-j1", "--stats"], LIMIT),
            (&["decode", "-j8"], LIMIT_JOBS),
            (&["check"], LIMIT),
            (&["audit"], LIMIT),
        ] {
            // Stdin stays open until the memory is measured: the process waits, because another compressed member could follow.
            let mut child = command(args).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let packed = packed.clone();
            let writer = std::thread::spawn(move || stdin.write_all(&packed).map(|()| stdin));
            let mut stdout = child.stdout.take().unwrap();
            let (mut block, mut total) = (vec![0; 1 << 20], 0);
            // Reads most of the output; the last 32 MiB may still be in buffers.
            while args[0] == "decode" && !args.contains(&"--stats") && total < LEN - (32 << 20) {
                total += stdout.read(&mut block).unwrap();
            }
            let drain = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()).unwrap());
            let peak = watch(&mut child, writer.join().unwrap().unwrap());
            drain.join().unwrap();
            assert!(peak < limit, "pct {args:?} of {format}: {peak} KiB");
        }
    }
}

/// A preview holds neither a long block of changes nor a long line in memory.
#[test]
fn a_preview_of_a_small_file_that_holds_much_is_no_different() {
    const LEN: usize = 32 << 20;
    let dir = tempfile::tempdir().unwrap();
    for (what, unit) in [("lines", "%41%zz\n"), ("line", "%41%zz ")] {
        let path = dir.path().join(what).to_str().unwrap().to_owned() + ".gz";
        let packer = command(&["encode", "--raw", "--escape", "none", "-o", &path]).spawn().unwrap();
        write!(packer.stdin.as_ref().unwrap(), "{}", unit.repeat(LEN / unit.len())).unwrap();
        assert!(crate::support::wait(packer).code == Some(0));
        for preview in ["--dry-run", "--diff"] {
            for policy in ["keep", "drop"] {
                let args = ["decode", "-q", "-j1", "-i", preview, "--on-malformed", policy, &path];
                let mut child = command(&args).stdout(std::process::Stdio::null()).spawn().unwrap();
                let stdin = child.stdin.take().unwrap();
                let peak = watch(&mut child, stdin);
                assert!(peak < LIMIT, "{what} {args:?}: {peak} KiB");
            }
        }
    }
}

/// Closes `stdin` of `child`, waits for its end, and returns its peak memory in KiB.
fn watch(child: &mut std::process::Child, stdin: std::process::ChildStdin) -> u64 {
    let mut peak = resident(child.id());
    drop(stdin);
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(resident(child.id()));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    peak.unwrap()
}

/// Returns the peak resident memory of a process in KiB, without mapped files; `None` if the process has ended.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| -> Option<u64> {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().trim_end_matches(" kB").parse().ok()
    };
    Some(field("VmHWM:")? - field("RssFile:")?)
}
