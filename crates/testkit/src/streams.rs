//! Checks streams against the oracle, on one input that is cut at given offsets.

use std::mem::MaybeUninit;

use simdpct::stream::{Decoder, Encoder, State, Transform, TryDecoder};
use simdpct::{BufferTooSmall, MalformedEscape, Tier, TryDecode};

use crate::check::{Decoding, Encoding, malformed};
use crate::oracle::{self, Rule, UNRESERVED};

/// Passes `input` through `transform` in the pieces between the offsets `cuts`.
pub fn run<T: Transform>(
    transform: &mut T,
    input: &[u8],
    cuts: &[usize],
    out: &mut Vec<u8>,
) -> Result<(), T::Error> {
    let mut from = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        transform.push(&input[from..cut], out)?;
        from = cut;
    }
    transform.finish(out)
}

/// The output and the error of one piece.
type Piece<'o> = Result<(&'o [u8], Result<(), MalformedEscape>), BufferTooSmall>;

/// Passes `input` through `advance` in the pieces between the offsets `cuts`. The output memory is large enough, unless
/// `exact`: then it is first one byte too small, and then exactly large enough.
fn run_in_memory(
    growth: usize,
    exact: bool,
    input: &[u8],
    cuts: &[usize],
    out: &mut Vec<u8>,
    advance: impl for<'o> Fn(&mut State, Option<&[u8]>, &'o mut [MaybeUninit<u8>]) -> Piece<'o>,
) -> Result<(), MalformedEscape> {
    let (mut state, mut from) = (State::default(), 0);
    let mut memory = vec![MaybeUninit::uninit(); growth * (input.len() + 2)];
    for cut in cuts.iter().chain([&input.len()]).map(Some).chain([None]) {
        let piece = cut.map(|&cut| &input[std::mem::replace(&mut from, cut)..cut]);
        let mut room = memory.len();
        if exact {
            room = match advance(&mut state.clone(), piece, &mut []) {
                Ok((bytes, _)) => bytes.len(),
                Err(error) => error.needed,
            };
            if let Some(less) = room.checked_sub(1) {
                let before = format!("{state:?}");
                assert_eq!(advance(&mut state, piece, &mut memory[..less]).unwrap_err().needed, room);
                assert_eq!(format!("{state:?}"), before, "a piece that was not taken changed the state");
            }
        }
        let (bytes, result) = advance(&mut state, piece, &mut memory[..room]).unwrap();
        out.extend_from_slice(bytes);
        result?;
    }
    Ok(())
}

fn decode_in_memory(
    decode: TryDecode,
    exact: bool,
    input: &[u8],
    cuts: &[usize],
) -> (Vec<u8>, Result<(), MalformedEscape>) {
    let mut text = Vec::new();
    let result = run_in_memory(1, exact, input, cuts, &mut text, |state, piece, room| {
        decode.decode_piece_to_uninit(state, piece, room)
    });
    (text, result)
}

/// Checks all streams of `tier` on `input`, which is cut at the offsets `cuts`.
pub fn check(tier: Tier, input: &[u8], cuts: &[usize]) {
    let context = || format!("tier {tier}, b\"{}\" cut at {cuts:?}", input.escape_ascii());
    let (mut expected, mut out) = (Vec::new(), Vec::new());
    // This encoding keeps only `%`, `4` and `d`, so that escapes stay although most other bytes are escaped.
    let digits = Encoding { members: oracle::members(b"%4d"), rule: Rule::KeepEscapes, upper: false };
    for encoding in Encoding::modes(UNRESERVED).into_iter().chain([digits]) {
        encoding.expected(input, &mut expected);
        out.clear();
        let Ok(()) = run(&mut Encoder::new(encoding.encoder(tier)), input, cuts, &mut out);
        assert!(out == expected, "{:?}, {}: b\"{}\"", encoding.rule, context(), out.escape_ascii());
        let encode = encoding.encoder(tier);
        for exact in [false, true] {
            out.clear();
            let result = run_in_memory(3, exact, input, cuts, &mut out, |state, piece, room| {
                encode.encode_piece_to_uninit(state, piece, room).map(|bytes| (bytes, Ok(())))
            });
            assert_eq!(result, Ok(()), "{}", context());
            assert!(out == expected, "{:?}, {}: b\"{}\"", encoding.rule, context(), out.escape_ascii());
        }
    }
    let keep = Decoding::keeping(oracle::members(b"%/\r\n\x4d"));
    for decoding in Decoding::MODES.into_iter().chain([keep]) {
        decoding.expected(input, &mut expected);
        let decode = decoding.decoder(tier);
        let (mut decoder, mut lenient) = (Decoder::new(decode), TryDecoder::new(decode.lenient()));
        // The second round tests that a stream takes new input after its input has ended.
        for input_of in ["new", "used"] {
            out.clear();
            let Ok(()) = run(&mut decoder, input, cuts, &mut out);
            assert!(out == expected, "{input_of} decoder, {}: b\"{}\"", context(), out.escape_ascii());
            out.clear();
            assert_eq!(run(&mut lenient, input, cuts, &mut out), Ok(()), "lenient, {}", context());
            assert!(out == expected, "{input_of} lenient, {}: b\"{}\"", context(), out.escape_ascii());
        }
        for exact in [false, true] {
            let (text, result) = decode_in_memory(decode.lenient(), exact, input, cuts);
            assert_eq!(result, Ok(()), "lenient, {}", context());
            assert!(text == expected, "lenient, {}: b\"{}\"", context(), text.escape_ascii());
        }

        out.clear();
        let mut strict = TryDecoder::new(decode.strict());
        let result = run(&mut strict, input, cuts, &mut out);
        let first = oracle::first_malformed(input);
        assert_eq!(result.map_err(malformed).err(), first, "strict, {}", context());
        // The stream must have appended the output before the error and nothing after it, whatever the next pieces are.
        decoding.expected(&input[..first.map_or(input.len(), |first| first.offset)], &mut expected);
        assert!(out == expected, "strict, {}: b\"{}\"", context(), out.escape_ascii());
        for exact in [false, true] {
            let (text, result) = decode_in_memory(decode.strict(), exact, input, cuts);
            assert_eq!(result.map_err(malformed).err(), first, "strict, {}", context());
            assert!(text == expected, "strict, {}: b\"{}\"", context(), text.escape_ascii());
        }
        if first.is_some() {
            let again = [strict.push(b"%41", &mut out), strict.finish(&mut out), strict.push(b"", &mut out)];
            let is_same = again.iter().all(|again| again.map_err(malformed).err() == first);
            assert!(is_same, "strict, {}", context());
            assert!(out == expected, "strict, {}: b\"{}\"", context(), out.escape_ascii());
        }
    }
}
