//! Tests compressed inputs that real tools wrote, and compressed outputs that real tools read.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Run, assert_same, file, ok, output, run, run_in_chunks, tangle, tool, words_of};

/// The names of the formats, which are also the names of their commands, and their file extensions.
const TOOLS: [(&str, &str); 4] = [("gzip", "gz"), ("zstd", "zst"), ("bzip2", "bz2"), ("xz", "xz")];

fn python(module: &str, input: &[u8]) -> Option<Vec<u8>> {
    let script =
        format!("import {module}, sys; sys.stdout.buffer.write({module}.compress(sys.stdin.buffer.read()))");
    tool(&["python3", "-c", &script], input)
}

#[test]
fn what_real_tools_compress_is_read_from_files_and_pipes() {
    let dir = tempfile::tempdir().unwrap();
    let text = tangle(21, 700_000);
    let wanted = ok("decode", &text);
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, _) in TOOLS {
        files.extend(tool(&[name, "-c"], &text).map(|bytes| (name.to_owned(), bytes)));
    }
    for module in ["gzip", "bz2", "lzma"] {
        files.extend(python(module, &text).map(|bytes| (format!("python-{module}"), bytes)));
    }
    for (name, bytes) in &files {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        assert_same(name, &ok(&["decode", path], ""), &wanted);
        assert_same(name, &ok("decode", bytes), &wanted);
        let slow = run_in_chunks("decode", &bytes[..bytes.len().min(3000)], 1);
        assert_eq!(slow.code, Some(2), "{name}");
        assert_eq!(
            ok(&["encode", "--raw", "--no-decompress", path], ""),
            ok("encode --raw --no-decompress", bytes)
        );
        assert_ne!(ok(&["decode", "--no-decompress", path], ""), wanted);
    }
}

#[test]
fn several_members_are_one_text() {
    for (name, _) in TOOLS {
        let parts = [&b"one%20\n"[..], b"", b"two%2", b"0\n"];
        let members: Option<Vec<_>> = parts.iter().map(|part| tool(&[name, "-c"], part)).collect();
        let Some(members) = members else { continue };
        assert_eq!(ok("decode", members.concat()), b"one \ntwo \n", "{name}");
    }
}

#[test]
fn an_empty_file_and_text_that_looks_compressed_at_first_pass() {
    let ustar = [&[b'x'; 257][..], b"ustar"].concat();
    let zeros = [&[0; 148][..], b"0000000 ", &[0; 356]].concat();
    let starts = words_of(
        b",B,BZh,BZh0,BZh9 is no bzip2\n,PK,PK in text,PAR,PART 1,7z,LZIP,LZIP is a format,https://,%PDF,Obj,\
        \x1F,\x1F\x8B,\x1F\x8B\x07,\xFD7zX,\x28\xB5\x2F,\x60\x2A\x4D\x18,\xFF\xFEa,\xFF\xFE\0\0",
    );
    for text in starts.into_iter().chain([&ustar[..], &zeros]) {
        assert_eq!(ok("decode", text), text);
        assert_eq!(run_in_chunks("decode", text, 1).out, text);
    }
    // A frame of zstd that decoders skip is not text.
    assert_eq!(ok("decode", b"\x5A\x2A\x4D\x18\0\0\0\0"), b"");
}

#[test]
fn output_is_compressed_by_extension_or_option() {
    let dir = tempfile::tempdir().unwrap();
    let text = tangle(22, 300_000);
    let wanted = ok("encode", &text);
    for (name, extension) in TOOLS {
        let path = dir.path().join(format!("out.{extension}"));
        let path = path.to_str().unwrap();
        assert_eq!(ok(&["encode", "-o", path], &text), b"");
        let written = fs::read(path).unwrap();
        assert!(written.len() < wanted.len());
        if let Some(plain) = tool(&[name, "-dc"], &written) {
            assert_same(name, &plain, &wanted);
        }
        let stdout = ok(&["encode", "--compress", name, "--level", "1"], &text);
        assert_ne!(stdout, written, "levels differ");
        if let Some(plain) = tool(&[name, "-dc"], &stdout) {
            assert_same(name, &plain, &wanted);
        }
        ok(&["encode", "--compress", "none", "-o", path], &text);
        assert_same(name, &fs::read(path).unwrap(), &wanted);
        // The output for an empty input is a valid compressed file.
        ok(&["encode", "-o", path], "");
        if let Some(plain) = tool(&[name, "-dc"], &fs::read(path).unwrap()) {
            assert_eq!(plain, b"");
        }
    }
    for args in [&["encode", "--compress", "gzip", "--level", "10"][..], &["encode", "--level", "3"]] {
        assert_eq!(run(args, "a").code, Some(2), "{args:?}");
    }
}

fn must_fail(path: &Path, bytes: &[u8], what: &str) {
    fs::write(path, bytes).unwrap();
    let (dir, target) = file("out", "old");
    let name = path.to_str().unwrap();
    let Run { err, code, .. } = run(&["decode", name, "-o", target.to_str().unwrap()], "");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.starts_with(&format!("pct: {name}: offset ")), "{err}");
    assert!(err.contains(what) && err.lines().count() == 1, "{err}");
    assert_eq!(fs::read(&target).unwrap(), b"old");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    for verb in ["check", "audit"] {
        assert_eq!(run(&[verb, name], "").code, Some(2), "{verb}");
    }
    // Both count the whole lines before the error. A file whose start cannot be read has no report.
    let report = run(&["audit", "--format", "json", name], "").out;
    let report: Value = serde_json::from_slice(&report).unwrap_or_default();
    let (lines, bytes) = (report["lines"].as_u64().unwrap_or(0), report["bytes"].as_u64().unwrap_or(0));
    let said = run(&["check", name], "").err;
    assert_eq!(said.lines().count() > 1, lines > 0, "{said}");
    let counts = format!(" in {lines} lines ({bytes} bytes): ");
    assert!(lines == 0 || said.contains(&counts), "{counts} {said}");
}

#[test]
fn what_is_cut_off_or_corrupt_is_an_error_and_leaves_the_old_output() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    let text = tangle(23, 400_000);
    for (name, _) in TOOLS {
        let Some(bytes) = tool(&[name, "-c"], &text) else { continue };
        for len in [bytes.len() - 1, bytes.len() / 2, 14] {
            must_fail(&path, &bytes[..len], &format!("the {name} data end too early"));
        }
        let mut corrupt = bytes.clone();
        for byte in &mut corrupt[bytes.len() / 2..bytes.len() / 2 + 40] {
            *byte ^= 0x5A;
        }
        must_fail(&path, &corrupt, &format!("corrupt {name} data"));
        let garbage = [&bytes[..], b"this is not compressed"].concat();
        must_fail(&path, &garbage, &format!("{name} data"));
    }
    must_fail(&path, b"\x1F\x8B\x08 and then nothing that is gzip at all", "corrupt gzip data");
}

#[test]
fn an_error_does_not_end_a_compressed_stream_as_if_it_were_whole() {
    let Some(_) = tool(&["gzip", "-c"], b"") else { return };
    let text = [&tangle(24, 200_000)[..], b"%zz"].concat();
    for (name, _) in TOOLS {
        let run = run(&["decode", "--strict", "--compress", name], &text);
        assert_eq!(run.code, Some(1), "{}", run.err);
        let mut tool = Command::new(name);
        tool.arg("-dc").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = output(tool.spawn().unwrap(), &run.out, usize::MAX).status;
        // gzip, bzip2 and xz accept an empty input, so an output without any bytes proves nothing.
        assert!(run.out.is_empty() || !status.success(), "{name}");
    }
}

/// Zeros after compressed data are ignored: tapes and `dd conv=sync` pad files with them.
#[test]
fn zeros_after_gzip_and_xz_data_are_nothing() {
    for name in ["gzip", "xz"] {
        let Some(bytes) = tool(&[name, "-c"], b"a%20b\n") else { continue };
        for (zeros, more) in [(4, false), (512, false), (70_000, false), (512, true)] {
            let mut padded = bytes.clone();
            padded.resize(bytes.len() + zeros, 0);
            let mut wanted = b"a b\n".to_vec();
            if more {
                padded.extend_from_slice(&bytes);
                wanted.extend_from_slice(b"a b\n");
            }
            assert_eq!(ok("decode", &padded), wanted, "{name}, {zeros} zeros");
        }
    }
}

#[test]
fn garbage_after_the_data_is_named() {
    for (name, _) in TOOLS {
        let Some(bytes) = tool(&[name, "-c"], b"a%20b\n") else { continue };
        for garbage in [&b"this is not compressed"[..], b"<html>", b"\0\0\0\0garbage", b"x"] {
            let run = run("decode", [&bytes[..], garbage].concat());
            assert_eq!((run.out.as_slice(), run.code), (&b"a b\n"[..], Some(2)), "{name}");
            assert!(run.err.contains(&format!("garbage after the {name} data")), "{}", run.err);
        }
    }
}

#[test]
fn large_windows_need_memory() {
    let text = tangle(31, 3 << 20);
    // If zstd knows the length, it writes a single-segment frame, which has no window size.
    let Some(bytes) = tool(&["zstd", "-c", "--long=28", "--no-content-size"], &text) else { return };
    let refused = run("decode", &bytes);
    assert_eq!((refused.out.len(), refused.code), (0, Some(2)));
    assert!(refused.err.contains("needs more memory than 128 MiB; --memory allows more"), "{}", refused.err);
    let wanted = ok("decode", &text);
    assert_same("--memory", &ok("decode --memory 256", &bytes), &wanted);
    assert_eq!(run("check -q --memory 100", &bytes).code, Some(2));
    let Some(bytes) = tool(&["xz", "-c", "-9"], &text) else { return };
    let refused = run("decode --memory 16", &bytes);
    assert!(refused.err.contains("needs more memory than 16 MiB; --memory allows more"), "{}", refused.err);
    assert_same("xz", &ok("decode", &bytes), &wanted);
}

#[test]
fn what_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    let le: Vec<u8> = "\u{FEFF}https://".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> = "\u{FEFF}https://".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let tar = [&b"a.txt"[..], &[0; 252], b"ustar  \0", &[0; 255]].concat();
    // The header of tar before POSIX has a checksum, but no signature.
    let mut v7 = [&b"a.txt"[..], &[0; 143], b"        0", &[0; 355]].concat();
    let sum: u32 = v7.iter().map(|byte| u32::from(*byte)).sum();
    v7[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    for (bytes, what) in [
        (&le[..], "UTF-16"),
        (&be, "UTF-16"),
        (b"PK\x03\x04\x14\0\0\0", "zip"),
        (b"\x04\x22\x4D\x18\x64\x40", "lz4"),
        (b"7z\xBC\xAF\x27\x1C\0", "7z"),
        (b"LZIP\x01", "lzip"),
        (b"\x1F\x9D\x90", "compress"),
        (b"PAR1\x15\0\x15\x14", "Parquet"),
        (b"%PDF-1.7\n", "PDF"),
        (b"Rar!\x1A\x07\x01\0", "rar"),
        (b"SQLite format 3\0\x10\0", "SQLite"),
        (b"Obj\x01\x04", "Avro"),
        (b"ARROW1\0\0", "Arrow"),
        (&tar, "tar"),
        (&v7, "tar"),
    ] {
        fs::write(&path, bytes).unwrap();
        for verb in ["decode", "check", "audit"] {
            let run = run(&[verb, path.to_str().unwrap()], "");
            assert_eq!(run.code, Some(2), "{what}");
            assert!(run.err.contains(what) && run.err.contains("--no-decompress"), "{}", run.err);
        }
        assert_eq!(run(&["decode", "-i", path.to_str().unwrap()], "").code, Some(2), "{what}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{what}");
        assert_eq!(ok("decode --no-decompress", bytes), bytes, "{what}");
        // A byte order mark is not rejected if the bytes after it are not UTF-16.
        if what == "UTF-16" {
            let mut other = bytes.to_vec();
            other[2..4].copy_from_slice(b"xy");
            assert_eq!(ok("decode", &other), other);
        }
    }
}

/// An archive or a Parquet file inside a compressed file is rejected, too, because its content is not text.
#[test]
fn archives_in_compressed_files_are_rejected_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.gz");
    let name = path.to_str().unwrap();
    for (content, reason) in [
        (&b"PAR1 %41"[..], "this is a Parquet file"),
        (b"PK\x03\x04%41", "this is a zip archive"),
        (b"%PDF-%41", "this is a PDF document"),
        (b"\x1F\x8B\x08%41", "this is gzip data inside gzip data"),
        (b"BZh91AY&SY%41", "this is bzip2 data inside gzip data"),
        (b"(\xB5/\xFD%41", "this is zstd data inside gzip data"),
        (b"PARE %41", ""),
        (b"PAR", ""),
        (b"", ""),
    ] {
        ok(
            &["decode", "--raw", "--no-decompress", "--compress", "gzip", "-o", name],
            content.escape_ascii().to_string().replace("\\x", "%").replace("%41", "%2541"),
        );
        let before = fs::read(&path).unwrap();
        let Run { err, code, .. } = run(&["decode", "-i", name], "");
        if reason.is_empty() {
            assert_eq!((err.as_str(), code), ("", Some(0)));
            assert_eq!(
                ok(&["encode", "--keep", " ", name], ""),
                content.escape_ascii().to_string().replace("%41", "A").as_bytes()
            );
        } else {
            assert!(err.contains(reason) && code == Some(2), "{err}");
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }
}
