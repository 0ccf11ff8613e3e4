//! Tests that a record ends at the end of its file, even if the file has no last line end.

use std::fs;

use crate::support::{Args, done, ok, run};

/// Writes one file for each of `contents`, and returns their folder and names.
fn files(contents: &[&[u8]]) -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let names = contents.iter().enumerate().map(|(number, bytes)| {
        let path = dir.path().join(format!("f{number}"));
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let names = names.collect();
    (dir, names)
}

#[track_caller]
fn joined(args: &(impl Args + ?Sized), contents: &[&[u8]], wanted: &[u8]) {
    let (_dir, names) = files(contents);
    for jobs in ["-j1", "-j2"] {
        let args: Vec<_> =
            args.list().into_iter().chain([jobs]).chain(names.iter().map(String::as_str)).collect();
        assert_eq!(done(&args, "").escape_ascii().to_string(), wanted.escape_ascii().to_string(), "{args:?}");
    }
}

#[test]
fn a_record_ends_where_its_file_does() {
    joined("decode", &[b"a%20", b"b"], b"a \nb");
    joined("decode", &[b"a\n", b"b\n"], b"a\nb\n");
    joined("decode", &[b"a", b"", b"b", b""], b"a\nb");
    joined("decode", &[b"", b"a"], b"a");
    joined("encode", &[b"a b", b"c d\r\n", b"e"], b"a%20b\nc%20d\r\ne");
    joined("encode --form", &[b"a\r", b"b"], b"a%0D\nb");
    joined("normalize", &[b"%7e", b"%7e"], b"~\n~");
    joined("decode -0", &[b"a\n", b"b"], b"a\n\0b");
    joined("decode --raw", &[b"a%4", b"1"], b"a%41");
    joined("decode --printable", &[b"a%00", b"b"], b"a%00\nb");
    joined("decode --field 2", &[b"a %41", b"b %42"], b"a A\nb B");
    joined(
        "decode --jsonl --key u",
        &[br#"{"u":"%41"}"#, br#"{"u":"%42"}"#],
        b"{\"u\":\"A\"}\n{\"u\":\"B\"}",
    );
    joined("decode --charset iso-2022-jp", &[b"%41", b"%42"], b"A\nB");
}

#[test]
fn policies_add_no_records_and_lose_none() {
    joined("decode -q --on-malformed drop", &[b"a\n%zz", b"b"], b"a\nb");
    joined("decode -q --on-malformed drop", &[b"a", b"%zz", b"b"], b"a\nb");
    joined("decode --on-malformed empty", &[b"a\n%zz", b"b"], b"a\n\nb");
    joined("decode --on-malformed empty", &[b"a", b"%zz"], b"a\n");
    joined("decode --on-malformed empty", &[b"%zz", b"%zz", b"c"], b"\n\nc");
    // These lines are longer than a buffer, and decode to spaces or to percent signs.
    for unit in [&b"%20"[..], b"%25"] {
        let long = unit.repeat(1 << 20);
        let decoded = ok("decode", &long);
        let both = [&decoded[..], b"\n", &decoded].concat();
        joined(&["decode", "--on-malformed", "keep", "--stats=json", "-q"][..1], &[&long, &long], &both);
        joined("decode -q --on-malformed drop --max-record 4", &[&long, &long], &both);
        let bad = [b"%zz", &long[..]].concat();
        joined("decode -q --on-malformed drop --max-record 4", &[b"a", &bad, &bad, b"b"], b"a\nb");
        joined("decode --on-malformed empty --max-record 4", &[b"a", &bad, &bad, b"b"], b"a\n\n\nb");
    }
}

#[test]
fn tables_and_their_headers() {
    let first = b"id,url\n1,%41";
    let second = b"id,url\r\n2,%42";
    let args = ["decode", "--csv", "--column", "url"];
    let (_dir, names) = files(&[first, second]);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let run = run(&[&args[..], &names[..]].concat(), "");
    assert_eq!((run.out.as_slice(), run.code), (&b"id,url\n1,A\nid,url\r\n2,B"[..], Some(0)));
    let said = format!(
        "pct: {}: the header is that of the first file, and is written again; --one-header leaves it out\n",
        names[1]
    );
    assert_eq!(run.err, said);
    let one = [&args[..], &["--one-header"]].concat();
    joined(&one, &[first, second], b"id,url\n1,A\n2,B");
    joined(&one, &[b"id,url", b"id,url\n2,%42\n", b"id,url"], b"id,url\n2,B\n");
    joined(&one, &[b"", first, b"\xEF\xBB\xBFid,url\n3,%43"], b"id,url\n1,A\n3,C");
    joined("decode --csv --column 1 --no-header", &[b"%41", b"%42"], b"A\nB");
}

#[test]
fn a_table_with_another_header_is_left_out() {
    let (_dir, names) = files(&[b"id,url\n1,%41\n", b"url,id\n%42,2\n", b"id,url\n3,%43\n"]);
    let mut args = vec!["decode", "--csv", "--column", "url", "--one-header"];
    args.extend(names.iter().map(String::as_str));
    let run = run(&args, "");
    assert_eq!((run.out.as_slice(), run.code), (&b"id,url\n1,A\n3,C\n"[..], Some(2)));
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert!(run.err.starts_with(&format!("pct: {}: ", names[1])), "{}", run.err);
}

#[test]
fn a_byte_order_mark_is_part_of_no_value() {
    joined("encode", &[b"\xEF\xBB\xBFa b\n"], b"\xEF\xBB\xBFa%20b\n");
    joined("encode", &[b"\xEF\xBB\xBFa b\n", b"\xEF\xBB\xBFc d\n"], b"\xEF\xBB\xBFa%20b\nc%20d\n");
    joined("encode", &[b"a b", b"\xEF\xBB\xBFc d\n"], b"a%20b\nc%20d\n");
    joined("encode", &[b"a\n\xEF\xBB\xBFb\n"], b"a\n%EF%BB%BFb\n");
    joined("decode --charset gbk", &[b"\xEF\xBB\xBF%C4%E3"], b"\xEF\xBB\xBF\xE4\xBD\xA0");
    joined("decode --field 1 -d,", &[b"\xEF\xBB\xBF%41,b"], b"\xEF\xBB\xBFA,b");
    joined(
        "decode --jsonl --key u",
        &[b"\xEF\xBB\xBF{\"u\":\"%41\"}", b"\xEF\xBB\xBF{}"],
        b"\xEF\xBB\xBF{\"u\":\"A\"}\n{}",
    );
    for text in [&b""[..], b"\xEF", b"\xEF\xBB", b"\xEF\xBB\xBF"] {
        joined("decode", &[text], text);
    }
}
