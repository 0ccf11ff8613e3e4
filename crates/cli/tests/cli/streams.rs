//! Tests that the output does not depend on where inputs of several blocks are cut.

use crate::naive::{self, line_end};
use crate::support::{assert_same, ok, run_in_chunks, tangle};

/// Returns command lines, each with the output that is expected for `input`.
fn verbs(input: &[u8]) -> [(&'static [&'static str], Vec<u8>); 8] {
    let nul = |byte, _| byte == b'\0';
    [
        (&["encode"], naive::encode(input, false, line_end)),
        (&["encode", "--keep-escapes"], naive::encode(input, true, line_end)),
        (&["encode", "--raw", "--keep-escapes"], naive::encode(input, true, |_, _| false)),
        (&["encode", "-0"], naive::encode(input, false, nul)),
        (&["decode"], naive::decode(input, b"\r\n")),
        (&["decode", "-0"], naive::decode(input, b"\0")),
        (&["decode", "--raw"], naive::decode(input, b"")),
        (&["normalize"], naive::normalize(input)),
    ]
}

#[test]
fn files_of_many_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    for seed in 0..4 {
        let input = tangle(seed, 700_000);
        std::fs::write(&path, &input).unwrap();
        for (args, wanted) in verbs(&input) {
            let args = [args, &[path.to_str().unwrap()]].concat();
            assert_same(&format!("{args:?}, seed {seed}"), &ok(&args, ""), &wanted);
        }
    }
}

#[test]
fn pipes_that_are_written_in_odd_pieces() {
    for (chunk, len) in [(1, 3_000), (2, 5_000), (3, 5_000), (7, 20_000), (4093, 300_000), (65_537, 300_000)]
    {
        let input = tangle(chunk as u64, len);
        for (args, wanted) in verbs(&input) {
            let run = run_in_chunks(args, &input, chunk);
            run.says("", 0);
            assert_same(&format!("{args:?} in pieces of {chunk}"), &run.out, &wanted);
        }
    }
}

#[test]
fn what_matters_at_every_place_around_a_block_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in");
    for what in ["\r\n", "\r", "\r\r\n", "%0D\n", "%41", "%4", "%", "%%41", "%4\r\n", "%2541"] {
        // One file contains `what` around the ends of 13 blocks, each time shifted by one byte.
        let mut input = Vec::new();
        for (block, shift) in (-6_isize..=6).enumerate() {
            input.resize((65_536 * (block + 1)).strict_add_signed(shift) - what.len(), b'x');
            input.extend_from_slice(what.as_bytes());
        }
        std::fs::write(&path, &input).unwrap();
        for (args, wanted) in verbs(&input) {
            let args = [args, &[path.to_str().unwrap()]].concat();
            assert_same(&format!("{args:?}, {what:?}"), &ok(&args, ""), &wanted);
        }
    }
}

#[test]
fn round_trips() {
    let input: Vec<u8> = tangle(9, 400_000).into_iter().filter(|&byte| byte != b'\r').collect();
    for record in ["--raw", "-0"] {
        let encoded = ok(&["encode", record], &input);
        assert_same(record, &ok(&["decode", record], encoded), &input);
    }
    let encoded = ok("encode", &input);
    assert_same("lines", &ok("decode", encoded), &input);
}

#[test]
fn output_comes_before_the_input_ends() {
    use std::io::{Read, Write};
    let mut child = crate::support::command(&["decode"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut first = [0; 4];
    stdin.write_all(b"a%20b\n").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"a b\n");
    drop(stdin);
    assert_eq!(crate::support::exit_status(&mut child).code(), Some(0));
}
