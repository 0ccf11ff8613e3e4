//! Tests `--strict`: the first malformed escape stops the run, and the error message names its position.

use std::fs;

use crate::support::{Run, folder, ok, run, run_in_chunks};

#[test]
fn the_error_names_file_line_offset_and_cause() {
    for verb in ["decode", "normalize"] {
        for (input, wanted) in [
            ("%zz", "<stdin>:1: offset 0: malformed escape: 'z' is not a hexadecimal digit"),
            ("a\nb%2\n", "<stdin>:2: offset 3: malformed escape: '\\n' is not a hexadecimal digit"),
            ("a\n\r\nb%2", "<stdin>:3: offset 5: malformed escape: the input ends inside it"),
            ("%2%41", "<stdin>:1: offset 0: malformed escape: '%' is not a hexadecimal digit"),
            ("%", "<stdin>:1: offset 0: malformed escape: the input ends inside it"),
        ] {
            for chunk in [1, 2, 3, usize::MAX] {
                let run = run_in_chunks(&[verb, "--strict"], input.as_bytes(), chunk);
                assert_eq!((run.err, run.code), (format!("pct: {wanted}\n"), Some(1)), "{verb} {input:?}");
            }
        }
    }
}

#[test]
fn the_error_does_not_depend_on_where_blocks_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    for (what, byte) in [("%2%41", "%"), ("%%41", "%"), ("%2x", "x"), ("%x1", "x"), ("%4\n", "\\n")] {
        for before in 65_536 - 6..65_536 + 2 {
            fs::write(&path, ["x".repeat(before), what.to_owned()].concat()).unwrap();
            let run = run(&["decode", "--strict", path.to_str().unwrap()], "");
            let wanted =
                format!(":1: offset {before}: malformed escape: '{byte}' is not a hexadecimal digit\n");
            assert!(run.err.ends_with(&wanted), "{what:?} at {before}: {}", run.err);
            assert_eq!(run.out.len(), 0, "{what:?}");
        }
    }
}

/// The offset is that of the escape or byte that is the first to make the value invalid.
#[test]
fn the_offset_is_that_of_the_fault() {
    let decode = "decode --strict --on-invalid-utf8 fail";
    let encode = "encode --on-invalid-utf8 fail --on-rejected fail";
    for (verb, options, input, wanted) in [
        (decode, "", &b"a%20%zz"[..], "4: malformed escape"),
        (decode, "", b"a%20%E9b%C3%A9", "4: not UTF-8"),
        (decode, "--times 2", b"%20%25E9", "3: not UTF-8"),
        (decode, "--until-stable", b"a%2520%%45%399", "6: malformed escape"),
        (decode, "--until-stable", b"a%2520%2525E9", "6: not UTF-8"),
        (decode, "--form --until-stable", b"++%25E9", "2: not UTF-8"),
        (decode, "--percent-u", b"%u4F60%u4F6", "6: malformed escape"),
        (decode, "--percent-u", b"%u0041%uD800", "6: malformed escape"),
        (decode, "--percent-u", b"%u4F60%E9", "6: not UTF-8"),
        // `%4` is malformed because of the `%` after it, although that `%` begins an escape of `A`, a hexadecimal digit.
        (decode, "--percent-u", b"%4%u0041", "0: malformed escape: '%' is not a hexadecimal digit"),
        // The byte that is not a digit can be a delimiter after the decoded part.
        (decode, "--query", b"x?q=%4#y", "4: malformed escape: '#' is not a hexadecimal digit"),
        (decode, "--path", b"x%?y", "1: malformed escape: '?' is not a hexadecimal digit"),
        (
            decode,
            "--path --charset auto:gbk",
            b"/%/%4/y",
            "1: malformed escape: '/' is not a hexadecimal digit",
        ),
        (decode, "--charset gbk", b"%C4%E3a%FF", "7: not in the charset"),
        (decode, "--charset gbk --percent-u", b"%C4%E3%u4F60%FF", "12: not in the charset"),
        (decode, "--charset utf-8 --printable", b"a%0B%FF", "4: not in the charset"),
        (encode, "--charset gbk", "你a\u{1F600}".as_bytes(), "4: not in the charset"),
        (encode, "--charset gbk", b"a\xE9", "1: not UTF-8"),
        (encode, "", b"a\xE9", "1: not UTF-8"),
    ] {
        let Run { err, code, .. } = run(&format!("{verb} {options}"), input);
        assert!(err.starts_with(&format!("pct: <stdin>:1: offset {wanted}")), "{verb} {options}: {err}");
        assert_eq!(code, Some(1), "{verb} {options}");
    }
    // Faults of the other kind, and malformed escapes of a later layer, are no errors.
    assert_eq!(ok("decode --on-invalid-utf8 fail", "%zz"), b"%zz");
    assert_eq!(ok("decode --strict", "%FF"), b"\xFF");
    assert_eq!(ok("decode --strict --until-stable", "100%25"), b"100%");
}

#[test]
fn records_are_counted_by_their_own_end() {
    let run = run("decode --strict -0", "a\nb\0c%");
    assert_eq!(run.err, "pct: <stdin>:2: offset 5: malformed escape: the input ends inside it\n");
}

/// Whatever the other options are, the records before the error are written, and no part of the record with the error.
#[test]
fn whole_records_before_the_error_are_written() {
    let good = "x%41\n".repeat(50_000);
    let input = format!("{good}y%20%4g%41\nz");
    for more in
        [&[][..], &["-j3"], &["--stats"], &["--form"], &["--keep", "/"], &["--on-invalid-utf8", "fail"]]
    {
        let Run { out, err, code } = run(&[&["decode", "--strict"], more].concat(), &input);
        assert_eq!(out, "xA\n".repeat(50_000).into_bytes(), "{more:?}");
        let wanted = "pct: <stdin>:50001: offset 250004: malformed escape: 'g' is not a hexadecimal digit\n";
        assert!(err.contains(wanted) && code == Some(1), "{more:?} {err}");
    }
    // With --raw, the whole input is one record.
    for verb in ["decode", "normalize"] {
        let raw = run(&[verb, "--strict", "--raw"], &input);
        let wanted = "pct: <stdin>:50001: offset 250004: malformed escape: 'g' is not a hexadecimal digit\n";
        assert_eq!((raw.out.as_slice(), raw.err.as_str(), raw.code), (&b""[..], wanted, Some(1)), "{verb}");
    }
    assert_eq!(run("decode --strict --raw", "%41\r\n%0A\n").out, b"A\r\n\n\n");
    assert_eq!(run("normalize --strict --raw", "%41:%42\n%43:%44").out, b"A:B\nC:D");
}

/// With --strict, nothing of a record is written before it is checked, so a record that is longer than `--max-record` is unreadable.
#[test]
fn a_record_that_is_too_long_is_an_error() {
    let long = "%41".repeat(1 << 20);
    let Run { out, err, code } = run("decode --strict", format!("%41\n{long}\n%42"));
    let wanted = "pct: <stdin>:2: offset 4: the record is longer than 2 MiB (--max-record)\n";
    assert_eq!((out.as_slice(), err.as_str(), code), (&b"A\n"[..], wanted, Some(1)));
    let fits = run("decode --strict --max-record 4", format!("%41\n{long}\n%42"));
    assert_eq!((fits.out, fits.code), (format!("A\n{}\nB", "A".repeat(1 << 20)).into_bytes(), Some(0)));
}

#[test]
fn each_file_has_places_of_its_own() {
    let (_dir, path) = folder();
    let (first, second) = (path("first"), path("second"));
    fs::write(&first, "a%20\nb\n").unwrap();
    fs::write(&second, "c\n%x").unwrap();
    let run = run(&["decode", "--strict", &first, &second], "");
    let wanted = format!("pct: {second}:2: offset 2: malformed escape: 'x' is not a hexadecimal digit\n");
    assert_eq!((run.out, run.err, run.code), (b"a \nb\nc\n".to_vec(), wanted, Some(1)));
}

#[test]
fn good_input_passes() {
    let run = run("normalize --strict", "%7e%2f\n".repeat(40_000));
    assert_eq!((run.out, run.code), ("~%2F\n".repeat(40_000).into_bytes(), Some(0)));
}

#[test]
fn an_output_file_is_all_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    let args = ["decode", "--strict", "-o", target.to_str().unwrap()];
    assert_eq!(run(&args, "x\n".repeat(100_000) + "%").code, Some(1));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    fs::write(&target, "old").unwrap();
    assert_eq!(run(&args, "x\n%").code, Some(1));
    assert_eq!((fs::read(&target).unwrap(), fs::read_dir(&dir).unwrap().count()), (b"old".to_vec(), 1));
}
