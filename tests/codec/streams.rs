//! Tests of streams: however the input is cut, the output must be that of one call.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use proptest::prelude::*;
use simdpct::stream::{Decoder, Encoder, Reader, Transform, TryDecoder, Writer};
use simdpct::{Decode, Encode, MalformedEscape, sets};

use testkit::check::{Encoding, malformed};
use testkit::oracle::{self, Malformed, Rule, UNRESERVED};
use testkit::shapes::{Rng, SHAPES, words};
use testkit::streams::{check, run};
use testkit::tiers::{runs, scale, scaled, tiers};

#[test]
fn short_words_cut_in_every_way() {
    let longest = match scale() {
        ..5 => 3,
        5..100 => 4,
        _ => 5,
    };
    words(b"%4dG+", longest, longest, |input| {
        for cut in 0..1usize << input.len().saturating_sub(1) {
            let cuts: Vec<usize> = (1..input.len()).filter(|at| cut >> (at - 1) & 1 == 1).collect();
            tiers().iter().for_each(|&tier| check(tier, input, &cuts));
        }
    });
}

/// Tests that the bytes given to `continuing` come before each input of a stream. They matter only for a normalization.
#[test]
fn streams_continue_an_input() {
    for &tier in tiers() {
        let decode = Decode::NORMALIZE.tier(tier).continuing(b"a%2");
        let (mut decoder, mut lenient) = (Decoder::new(decode), TryDecoder::new(decode.lenient()));
        for input in [&b"%35"[..], b"", b"%35%35", b"a%35"] {
            for cut in 0..=input.len() {
                let mut out = [Vec::new(), Vec::new()];
                let Ok(()) = run(&mut decoder, input, &[cut], &mut out[0]);
                run(&mut lenient, input, &[cut], &mut out[1]).unwrap();
                let wanted = decode.decode(input).into_owned();
                assert_eq!(out, [&*wanted; 2], "tier {tier}, {} {cut}", input.escape_ascii());
            }
        }
    }
}

#[test]
fn escapes_cut_around_blocks() {
    for at in [0, 13, 61, 62, 63, 64, 127, 190].into_iter().filter(|&at| runs(at)) {
        for word in
            [&b"%41"[..], b"%%41", b"%4%41", b"%2F%2f", b"%4", b"%", b"%zz", b"%4z%", b"%%35", b"%2%35%3"]
        {
            let mut input = vec![b'a'; at];
            input.extend_from_slice(word);
            for behind in [0, 1, 70] {
                input.resize(at + word.len() + behind, b'b');
                for first in at..=input.len().min(at + 5) {
                    for second in first..=input.len().min(at + 6) {
                        tiers().iter().for_each(|&tier| check(tier, &input, &[first, second]));
                    }
                }
            }
        }
    }
}

#[test]
fn one_byte_at_a_time() {
    let mut rng = Rng(21);
    for (index, (_, shape)) in SHAPES.iter().enumerate() {
        for len in [66, 129, 300].into_iter().filter(|len| runs(len + index)) {
            let input = shape(len, &mut rng);
            let cuts: Vec<usize> = (1..len).collect();
            tiers().iter().for_each(|&tier| check(tier, &input, &cuts));
        }
    }
}

/// After `finish`, a stream must take new input, and the offsets of errors must count from the start of that input.
#[test]
fn a_finished_stream_starts_anew() {
    for &tier in tiers() {
        let mut out = Vec::new();
        let mut decoder = TryDecoder::new(Decode::new().tier(tier).strict());
        run(&mut decoder, b"ab%41", &[3], &mut out).unwrap();
        decoder.push(b"c%", &mut out).unwrap();
        let error = decoder.finish(&mut out).unwrap_err();
        assert_eq!(malformed(error), Malformed { offset: 1, not_hex: None });
        assert_eq!(out, b"abAc");

        let mut encoder = Encoder::new(Encode::keeping(sets::RFC3986_UNRESERVED).keep_escapes().tier(tier));
        let mut out = Vec::new();
        let Ok(()) = run(&mut encoder, b"%4", &[1], &mut out);
        let Ok(()) = run(&mut encoder, b"1%41", &[1, 2, 3], &mut out);
        assert_eq!(out, b"%2541%41");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    #[test]
    fn any_chunking_gives_the_same_bytes(
        input in proptest::collection::vec(
            prop_oneof![Just(b'%'), Just(b'4'), Just(b'f'), any::<u8>()], 0..400),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        cuts.sort_unstable();
        tiers().iter().for_each(|&tier| check(tier, &input, &cuts));
    }
}

/// A writer that takes at most seven bytes in a call, and counts flushes.
#[derive(Default)]
struct Slow {
    bytes: Vec<u8>,
    flushes: usize,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(7);
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

#[test]
fn writers_pass_on_what_a_call_gives() {
    let mut rng = Rng(22);
    for &tier in tiers() {
        for len in [0, 1, 63, 200, 5000] {
            let input: Vec<u8> = (0..len).map(|_| rng.pick(b"%%42fzab +")).collect();
            let mut expected = Vec::new();

            let encoding = Encoding { rule: Rule::KeepEscapes, ..Encoding::plain(UNRESERVED) };
            let mut writer = Writer::new(Encoder::new(encoding.encoder(tier)), Slow::default());
            for piece in input.chunks(1 + len / 9) {
                writer.write_all(piece).unwrap();
            }
            writer.flush().unwrap();
            let inner = writer.finish().unwrap();
            encoding.expected(&input, &mut expected);
            assert!(inner.bytes == expected, "encode, tier {tier}, {len}");
            assert_eq!(inner.flushes, 2);

            let mut writer = Writer::new(Decoder::new(Decode::new().tier(tier)), Slow::default());
            for piece in input.chunks(3) {
                writer.write_all(piece).unwrap();
            }
            oracle::decode(&input, &[false; 256], false, &mut expected);
            assert!(writer.finish().unwrap().bytes == expected, "decode, tier {tier}, {len}");
        }
        // This input is longer than the 64 KiB that a writer takes in one call.
        let input = b"ab%20".repeat(50_000);
        let mut writer = Writer::new(Decoder::new(Decode::new().tier(tier)), Vec::new());
        writer.write_all(&input).unwrap();
        assert!(writer.finish().unwrap() == b"ab ".repeat(50_000), "tier {tier}");
    }
}

/// Returns the malformed escape that an error of a writer wraps.
fn cause(error: &io::Error) -> Option<Malformed> {
    error.get_ref()?.downcast_ref::<MalformedEscape>().copied().map(malformed)
}

#[test]
fn writers_report_malformed_escapes_with_their_offset() {
    for &tier in tiers() {
        let mut input = b"a%20".repeat(30_000);
        let offset = input.len();
        input.extend_from_slice(b"%4x and more");
        let mut writer = Writer::new(TryDecoder::new(Decode::new().tier(tier).strict()), Vec::new());
        let error = writer.write_all(&input).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(cause(&error), Some(Malformed { offset, not_hex: Some((offset + 2, b'x')) }));

        let mut writer = Writer::new(TryDecoder::new(Decode::new().tier(tier).strict()), Vec::new());
        writer.write_all(b"abc%4").unwrap();
        let error = writer.finish().unwrap_err().into_error();
        assert_eq!(cause(&error), Some(Malformed { offset: 3, not_hex: None }));
    }
}

/// The first call that takes no bytes must return the error of the inner writer. The bytes that the inner writer did
/// not take must be kept.
#[test]
fn writers_report_the_error_of_the_inner_writer() {
    let mut room = [0; 4];
    let mut writer = Writer::new(Encoder::new(Encode::keeping(sets::RFC3986_UNRESERVED)), &mut room[..]);
    // This call takes all bytes: four of the five encoded bytes are written, and the last one stays in the buffer.
    assert_eq!(writer.write(b"a b").unwrap(), 3);
    assert_eq!(writer.buffer(), b"b");
    assert_eq!(writer.write(b"c").unwrap_err().kind(), ErrorKind::WriteZero);
    let error = writer.finish().unwrap_err();
    assert_eq!(error.error().kind(), ErrorKind::WriteZero);
    assert_eq!(error.into_writer().buffer(), b"b");
    assert_eq!(&room, b"a%20");
}

/// If the transform and the inner writer fail in one call, both errors are returned, one after the other.
#[test]
fn writers_lose_no_error() {
    let acts = [Act::Fail(ErrorKind::StorageFull)];
    let decoder = TryDecoder::new(Decode::new().strict());
    let mut writer = Writer::new(decoder, Script::new(&acts, b""));
    let kinds: Vec<_> = (0..3).map(|_| writer.write(b"ab%zz").unwrap_err().kind()).collect();
    assert_eq!(kinds, [ErrorKind::InvalidData, ErrorKind::StorageFull, ErrorKind::InvalidData]);
    assert_eq!(writer.into_inner().bytes, b"ab");
}

/// The action of an inner writer or reader in its next call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// The call takes or gives at most this many bytes.
    Take(usize),
    /// The call fails with an error of this kind.
    Fail(ErrorKind),
}

const ACTS: [Act; 6] = [
    Act::Take(1),
    Act::Take(2),
    Act::Take(1000),
    Act::Fail(ErrorKind::WouldBlock),
    Act::Fail(ErrorKind::Interrupted),
    Act::Fail(ErrorKind::StorageFull),
];

/// An inner writer or reader that follows a script of actions. After the script, each call takes or gives all bytes.
#[derive(Debug)]
struct Script<'s> {
    acts: std::slice::Iter<'s, Act>,
    bytes: Vec<u8>,
    /// The errors that must reach the caller: all errors but those that are retried at once.
    failed: Vec<ErrorKind>,
}

impl<'s> Script<'s> {
    fn new(acts: &'s [Act], bytes: &[u8]) -> Script<'s> {
        Script { acts: acts.iter(), bytes: bytes.to_vec(), failed: Vec::new() }
    }

    fn act(&mut self, len: usize) -> io::Result<usize> {
        match self.acts.next() {
            None => Ok(len),
            Some(Act::Take(most)) => Ok(len.min(*most)),
            Some(Act::Fail(kind)) => {
                if *kind != ErrorKind::Interrupted {
                    self.failed.push(*kind);
                }
                Err((*kind).into())
            }
        }
    }
}

impl Write for Script<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.act(bytes.len())?;
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.act(0).map(|_| ())
    }
}

impl Read for Script<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.act(out.len().min(self.bytes.len()))?;
        let rest = self.bytes.split_off(len);
        out[..len].copy_from_slice(&std::mem::replace(&mut self.bytes, rest));
        Ok(len)
    }
}

/// Iterates over every script of four actions; or of three, if `SIMDPCT_TEST_SCALE` is less than 100.
fn scripts() -> impl Iterator<Item = Vec<Act>> {
    let len = if scale() < 100 { 3 } else { 4 };
    (0..ACTS.len().pow(len))
        .map(move |script| (0..len).map(|place| ACTS[script / ACTS.len().pow(place) % ACTS.len()]).collect())
}

/// Writes `pieces` as the contract of [`Write`] demands: after an error, it passes the same bytes again. Returns the inner
/// writer, the errors that the caller saw, and the error of the transform.
fn write_by_contract<'s, T: Transform>(
    mut writer: Writer<T, Script<'s>>,
    pieces: &[&[u8]],
) -> (Script<'s>, Vec<ErrorKind>, Option<io::Error>) {
    let (mut seen, mut invalid) = (Vec::new(), None);
    'pieces: for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            match writer.write(rest) {
                Ok(taken) => rest = &rest[taken..],
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    invalid = Some(error);
                    break 'pieces;
                }
                Err(error) => seen.push(error.kind()),
            }
        }
        if let Err(error) = writer.flush() {
            seen.push(error.kind());
        }
    }
    loop {
        match writer.finish() {
            Ok(inner) => {
                assert!(invalid.is_none(), "a writer whose transform failed finishes with Ok");
                return (inner, seen, None);
            }
            Err(error) if error.error().kind() == ErrorKind::InvalidData => {
                let (error, writer) = error.into_parts();
                assert!(invalid.is_none_or(|before| before.to_string() == error.to_string()));
                return (writer.into_inner(), seen, Some(error));
            }
            Err(error) => {
                seen.push(error.error().kind());
                writer = error.into_writer();
            }
        }
    }
}

/// Whatever the inner writer does, every byte must be written exactly once, and the caller must see every error that is not
/// retried.
#[test]
fn writers_lose_nothing_and_write_nothing_twice() {
    let pieces = [&b"a%2"[..], b"0b%41%", b"4", b"2cd%2"];
    let bad_pieces = [&b"a%2"[..], b"0b%41%", b"zz%43", b"more"];
    for acts in scripts() {
        let decoder = Decoder::new(Decode::new());
        let (inner, seen, _) = write_by_contract(Writer::new(decoder, Script::new(&acts, b"")), &pieces);
        assert_eq!(inner.bytes, b"a bABcd%2", "{acts:?}");
        let lasting =
            |kinds: &[ErrorKind]| kinds.iter().filter(|kind| **kind == ErrorKind::StorageFull).count();
        assert_eq!(lasting(&seen), lasting(&inner.failed), "{acts:?}");
        assert!(!seen.contains(&ErrorKind::Interrupted), "a writer retries interrupted calls: {acts:?}");

        let encoder = Encoder::new(Encode::keeping(sets::RFC3986_UNRESERVED).keep_escapes());
        let (inner, ..) = write_by_contract(Writer::new(encoder, Script::new(&acts, b"")), &pieces);
        assert_eq!(inner.bytes, b"a%20b%41%42cd%252", "{acts:?}");

        let strict = TryDecoder::new(Decode::new().strict());
        let (inner, _, error) = write_by_contract(Writer::new(strict, Script::new(&acts, b"")), &bad_pieces);
        let error = error.unwrap_or_else(|| panic!("finished with Ok: {acts:?}"));
        assert_eq!(cause(&error).map(|cause| cause.offset), Some(8), "{acts:?}");
        assert_eq!(inner.bytes, b"a bA", "all before the error and nothing after it: {acts:?}");
    }
}

/// After an error of the transform, every call must return that error again, and nothing more may be written.
#[test]
fn writers_stay_failed() {
    let mut writer = Writer::new(TryDecoder::new(Decode::new().strict()), Vec::new());
    let said = writer.write(b"ok%20%zz").unwrap_err().to_string();
    assert_eq!(writer.write(b"%41").unwrap_err().to_string(), said);
    assert_eq!(writer.flush().unwrap_err().to_string(), said);
    assert_eq!(writer.get_ref(), b"ok ");
    let error = writer.finish().unwrap_err();
    assert_eq!(error.to_string(), said);
    assert_eq!(error.into_writer().into_inner(), b"ok ");
}

/// After `finish` has ended the input of the transform, a writer must take no more input.
#[test]
fn a_writer_takes_nothing_after_its_end() {
    let acts = [Act::Take(1000), Act::Fail(ErrorKind::WouldBlock)];
    let mut writer = Writer::new(Decoder::new(Decode::new()), Script::new(&acts, b""));
    writer.write_all(b"a%4").unwrap();
    let mut writer = writer.finish().unwrap_err().into_writer();
    assert_eq!(writer.write(b"1").unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(writer.finish().unwrap().bytes, b"a%4");
}

/// Reads to the end, or to an error of the transform, at most `most` bytes in a call, and calls again after other errors. Returns
/// the bytes, the other errors, and the error of the transform.
fn read_by_contract<T: Transform>(
    reader: &mut Reader<T, Script<'_>>,
    most: usize,
) -> (Vec<u8>, Vec<ErrorKind>, Option<io::Error>) {
    let (mut out, mut seen, mut room) = (Vec::new(), Vec::new(), vec![0; most]);
    loop {
        match reader.read(&mut room) {
            Ok(0) => return (out, seen, None),
            Ok(len) => out.extend_from_slice(&room[..len]),
            Err(error) if error.kind() == ErrorKind::InvalidData => return (out, seen, Some(error)),
            Err(error) => seen.push(error.kind()),
        }
    }
}

#[test]
fn readers_lose_nothing_and_read_nothing_twice() {
    for acts in scripts() {
        for most in [1, 3, 1000] {
            let script = |bytes| Script::new(&acts, bytes);
            let mut reader = Reader::new(Decoder::new(Decode::new()), script(b"a%20b%41%42cd%2"));
            let (out, seen, _) = read_by_contract(&mut reader, most);
            assert_eq!(out, b"a bABcd%2", "{acts:?}");
            assert_eq!(seen, reader.get_ref().failed, "{acts:?}");
            assert_eq!(reader.read(&mut [0; 9]).unwrap(), 0, "it stays at its end");

            let mut reader = Reader::new(TryDecoder::new(Decode::new().strict()), script(b"a%20b%41%zz%43"));
            let (out, _, error) = read_by_contract(&mut reader, most);
            assert_eq!(out, b"a bA", "{acts:?}");
            let said = error.expect("a malformed escape").to_string();
            assert_eq!(reader.read(&mut [0; 9]).unwrap_err().to_string(), said);
            assert_eq!(reader.read(&mut []).unwrap(), 0);
        }
    }
}

/// An inner reader that says it read more bytes than its buffer has.
struct Liar {
    /// The length of the longest buffer that it was given.
    longest: usize,
    calls: usize,
}

impl Read for Liar {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.longest = self.longest.max(out.len());
        out.fill(b'a');
        self.calls += 1;
        Ok(if self.calls > 3 { 0 } else { [out.len() + 1, usize::MAX, 5][self.calls - 1] })
    }
}

#[test]
fn readers_survive_a_reader_that_lies() {
    let mut reader = Reader::new(Decoder::new(Decode::new()), Liar { longest: 0, calls: 0 });
    let mut out = Vec::new();
    assert_eq!(reader.read_to_end(&mut out).unwrap(), 2 * 16_384 + 5);
    assert_eq!(reader.get_ref().longest, 16_384, "the documented length of a piece");
}

#[test]
fn readers_give_what_a_call_gives() {
    let mut rng = Rng(23);
    for &tier in tiers() {
        for len in [0, 1, 200, 16_383, 16_384, 16_385, 60_000].into_iter().filter(|&len| runs(len)) {
            let input: Vec<u8> = (0..len).map(|_| rng.pick(b"%%42fzab +\n")).collect();
            let (mut expected, mut out) = (Vec::new(), Vec::new());
            oracle::decode(&input, &[false; 256], false, &mut expected);
            let mut reader = Reader::new(Decoder::new(Decode::new().tier(tier)), &input[..]);
            assert_eq!(reader.read_to_end(&mut out).unwrap(), expected.len());
            assert!(out == expected, "tier {tier}, {len}");

            let reader = Reader::new(Decoder::new(Decode::new().tier(tier)), &input[..]);
            let lines: Vec<Vec<u8>> = reader.split(b'\n').collect::<Result<_, _>>().unwrap();
            let expected: Vec<&[u8]> = expected.split_inclusive(|byte| *byte == b'\n').collect();
            assert_eq!(lines.len(), expected.len(), "tier {tier}, {len}");
            assert!(lines.iter().zip(expected).all(|(line, expected)| expected.starts_with(line)));
        }
    }
}
