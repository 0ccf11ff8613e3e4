//! One input against the oracle: every verb of every tier, between guard pages.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use simdpct::{
    ByteSet, Decode, DecodeError, Encode, HexCase, KeepSet, MalformedCause, MalformedEscape, Tier, TryDecode,
};

use crate::guard::{CANARY, Place, Room};
use crate::oracle::{self, Bad, Members, Rule};
use crate::tiers::tiers;

/// An encoding, in the words of the oracle.
#[derive(Clone, Copy)]
pub struct Encoding {
    /// The bytes that stay.
    pub members: Members,
    /// The rule.
    pub rule: Rule,
    /// Upper-case digits.
    pub upper: bool,
}

/// A decoding, in the words of the oracle.
#[derive(Clone, Copy)]
pub struct Decoding {
    /// The bytes whose escapes stay.
    pub keep: Members,
    /// `+` is a space.
    pub plus: bool,
    /// The normalization of RFC 3986 (which ignores `keep` and `plus`).
    pub normalize: bool,
}

/// The library's form of a set.
pub fn byte_set(members: &Members) -> ByteSet {
    ByteSet::EMPTY.add(&oracle::bytes(members))
}

impl Encoding {
    /// The plain rule, in upper case.
    pub fn plain(members: Members) -> Encoding {
        Encoding { members, rule: Rule::Plain, upper: true }
    }

    /// The library's encoder.
    pub fn encoder(&self, tier: Tier) -> Encode<ByteSet> {
        self.applied(Encode::keeping(byte_set(&self.members)).tier(tier))
    }

    /// `encode`, with the rule and the case.
    pub fn applied<S: KeepSet>(&self, encode: Encode<S>) -> Encode<S> {
        let encode = match self.rule {
            Rule::Plain => encode,
            Rule::KeepEscapes => encode.keep_escapes(),
            Rule::Form => encode.form(),
            Rule::FormKeepingPlus => encode.form_keeping_plus(),
        };
        encode.hex_case(if self.upper { HexCase::Upper } else { HexCase::Lower })
    }

    /// The offset of the first byte that changes.
    pub fn first_change(&self, input: &[u8]) -> Option<usize> {
        // Up to there the output is the input, and `%25` begins with the byte that it replaces.
        let mut out = Vec::new();
        self.expected(input, &mut out);
        let percent = |at: usize| match self.rule {
            Rule::KeepEscapes => oracle::escape_at(input, at).is_none(),
            _ => !self.members[usize::from(b'%')],
        };
        (0..input.len()).find(|&at| out[at] != input[at] || (input[at] == b'%' && percent(at)))
    }

    /// The oracle's answer.
    pub fn expected(&self, input: &[u8], out: &mut Vec<u8>) {
        oracle::encode(input, &self.members, self.rule, self.upper, out);
    }
}

impl Decoding {
    /// Every escape.
    pub const ALL: Decoding = Decoding { keep: [false; 256], plus: false, normalize: false };
    /// Every escape, and `+` is a space.
    pub const FORM: Decoding = Decoding { plus: true, ..Decoding::ALL };
    /// The normalization.
    pub const NORMALIZE: Decoding = Decoding { normalize: true, ..Decoding::ALL };

    /// All escapes but those of `keep`.
    pub fn keeping(keep: Members) -> Decoding {
        Decoding { keep, ..Decoding::ALL }
    }

    /// The library's decoder.
    pub fn decoder(&self, tier: Tier) -> Decode {
        if self.normalize {
            return Decode::NORMALIZE.tier(tier);
        }
        let decode = Decode::new().keep(byte_set(&self.keep)).tier(tier);
        if self.plus { decode.form() } else { decode }
    }

    /// The offset of the first byte or escape that changes.
    pub fn first_change(&self, input: &[u8]) -> Option<usize> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < input.len() {
            let len = if oracle::escape_at(input, at).is_some() { 3 } else { 1 };
            self.expected(&input[at..at + len], &mut out);
            if out != input[at..at + len] {
                return Some(at);
            }
            at += len;
        }
        None
    }

    /// The oracle's answer.
    pub fn expected(&self, input: &[u8], out: &mut Vec<u8>) {
        if self.normalize {
            oracle::normalize(input, out);
        } else {
            oracle::decode(input, &self.keep, self.plus, out);
        }
    }
}

/// An error of the library, in the words of the oracle.
pub fn bad(error: MalformedEscape) -> Bad {
    let not_hex = match error.cause {
        MalformedCause::Truncated => None,
        MalformedCause::NotHex { offset, byte } => Some((offset, byte)),
        other => panic!("the oracle has no word for {other:?}"),
    };
    Bad { offset: error.offset, not_hex }
}

/// Why a decoder could not write into a slice, in the words of the oracle.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// A malformed escape.
    Bad(Bad),
    /// The slice is too small: the size needed.
    TooSmall(usize),
}

fn refused(error: DecodeError) -> Refused {
    match error {
        DecodeError::Malformed(error) => Refused::Bad(bad(error)),
        DecodeError::BufferTooSmall(error) => Refused::TooSmall(error.needed),
        other => panic!("{other:?}"),
    }
}

/// A slice as memory that need not be initialised.
fn uninit(slice: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the layout is the same, and the library writes initialised bytes only.
    unsafe { &mut *(std::ptr::from_mut(slice) as *mut [MaybeUninit<u8>]) }
}

/// The verbs of a decoder, strict or lenient, with errors in the words of the oracle.
#[allow(missing_docs, reason = "the names are those of the verbs")]
pub trait Verbs: Copy {
    fn decoded_len(&self, input: &[u8]) -> Result<usize, Bad>;
    fn decode_to_slice(&self, input: &[u8], out: &mut [u8]) -> Result<usize, Refused>;
    fn decode<'a>(&self, input: &'a [u8]) -> Result<Cow<'a, [u8]>, Bad>;
    fn decode_append(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Bad>;
    fn decode_in_place(&self, bytes: &mut [u8]) -> Result<usize, Bad>;
    fn decode_to_uninit<'o>(
        &self,
        input: &[u8],
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], Refused>;
    fn decode_owned(&self, input: Vec<u8>) -> Result<Vec<u8>, Bad>;
    fn is_decoded(&self, input: &[u8]) -> Result<bool, Bad>;
    fn first_change(&self, input: &[u8]) -> Result<Option<usize>, Bad>;
}

impl Verbs for Decode {
    fn decoded_len(&self, input: &[u8]) -> Result<usize, Bad> {
        Ok(Decode::decoded_len(self, input))
    }
    fn decode_to_slice(&self, input: &[u8], out: &mut [u8]) -> Result<usize, Refused> {
        Decode::decode_to_slice(self, input, out).map_err(|error| Refused::TooSmall(error.needed))
    }
    fn decode<'a>(&self, input: &'a [u8]) -> Result<Cow<'a, [u8]>, Bad> {
        Ok(Decode::decode(self, input))
    }
    fn decode_append(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Bad> {
        Decode::decode_append(self, input, out);
        Ok(())
    }
    fn decode_in_place(&self, bytes: &mut [u8]) -> Result<usize, Bad> {
        Ok(Decode::decode_in_place(self, bytes))
    }
    fn decode_to_uninit<'o>(
        &self,
        input: &[u8],
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], Refused> {
        Decode::decode_to_uninit(self, input, out).map_err(|error| Refused::TooSmall(error.needed))
    }
    fn decode_owned(&self, input: Vec<u8>) -> Result<Vec<u8>, Bad> {
        Ok(Decode::decode_owned(self, input))
    }
    fn is_decoded(&self, input: &[u8]) -> Result<bool, Bad> {
        Ok(Decode::is_decoded(self, input))
    }
    fn first_change(&self, input: &[u8]) -> Result<Option<usize>, Bad> {
        Ok(Decode::first_change(self, input))
    }
}

impl Verbs for TryDecode {
    fn decoded_len(&self, input: &[u8]) -> Result<usize, Bad> {
        TryDecode::decoded_len(self, input).map_err(bad)
    }
    fn decode_to_slice(&self, input: &[u8], out: &mut [u8]) -> Result<usize, Refused> {
        TryDecode::decode_to_slice(self, input, out).map_err(refused)
    }
    fn decode<'a>(&self, input: &'a [u8]) -> Result<Cow<'a, [u8]>, Bad> {
        TryDecode::decode(self, input).map_err(bad)
    }
    fn decode_append(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Bad> {
        TryDecode::decode_append(self, input, out).map_err(bad)
    }
    fn decode_in_place(&self, bytes: &mut [u8]) -> Result<usize, Bad> {
        TryDecode::decode_in_place(self, bytes).map_err(bad)
    }
    fn decode_to_uninit<'o>(
        &self,
        input: &[u8],
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], Refused> {
        TryDecode::decode_to_uninit(self, input, out).map_err(refused)
    }
    fn decode_owned(&self, input: Vec<u8>) -> Result<Vec<u8>, Bad> {
        TryDecode::decode_owned(self, input).map_err(bad)
    }
    fn is_decoded(&self, input: &[u8]) -> Result<bool, Bad> {
        TryDecode::is_decoded(self, input).map_err(bad)
    }
    fn first_change(&self, input: &[u8]) -> Result<Option<usize>, Bad> {
        TryDecode::first_change(self, input).map_err(bad)
    }
}

/// Rooms for input and output, and what the oracle says.
pub struct Checker {
    input: Room,
    output: Room,
    expected: Vec<u8>,
    appended: Vec<u8>,
}

/// The tier and the case that a failed assertion names.
macro_rules! context {
    ($tier:expr, $place:expr, $src:expr, $what:expr) => {
        format_args!("{} of tier {} at {:?} on b\"{}\"", $what, $tier, $place, $src.escape_ascii())
    };
}

/// Fails unless the bytes are those expected.
macro_rules! same {
    ($got:expr, $expected:expr, $($context:tt)*) => {{
        let (got, expected): (&[u8], &[u8]) = ($got, $expected);
        assert!(
            got == expected,
            "{}:\n     got b\"{}\"\nexpected b\"{}\"",
            context!($($context)*), got.escape_ascii(), expected.escape_ascii(),
        );
    }};
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::new()
    }
}

impl Checker {
    /// Empty rooms.
    pub fn new() -> Checker {
        Checker { input: Room::new(), output: Room::new(), expected: Vec::new(), appended: Vec::new() }
    }

    /// Every verb of encoding, on every tier.
    pub fn encode(&mut self, encoding: &Encoding, input: &[u8], place: Place) {
        encoding.expected(input, &mut self.expected);
        let first_change = encoding.first_change(input);
        for &tier in tiers() {
            self.encode_by(encoding.encoder(tier), first_change, tier, input, place);
        }
    }

    /// Every verb of the encoder `encode` of `tier` against `self.expected`.
    fn encode_by<S: KeepSet>(
        &mut self,
        encode: Encode<S>,
        first_change: Option<usize>,
        tier: Tier,
        input: &[u8],
        place: Place,
    ) where
        S::Text: AsRef<[u8]>,
    {
        let Checker { input: input_room, output, expected, appended } = self;
        let src: &[u8] = input_room.put(input, place);
        let len = expected.len();
        assert_eq!(encode.encoded_len(src), len, "{}", context!(tier, place, src, "encoded_len"));

        // Exact, roomy, and room for the worst case, which is another path of the library.
        for room in [len, len + 1, 3 * src.len() + 64] {
            let out = output.take(room, place);
            let written = encode.encode_to_slice(src, out);
            assert_eq!(written, Ok(len), "{}", context!(tier, place, src, "*_to_slice"));
            same!(&out[..len], expected, tier, place, src, "*_to_slice");
            assert!(output.intact(), "{} wrote outside the slice", context!(tier, place, src, "*_to_slice"));
        }
        for room in [len.saturating_sub(1), len / 2, 0] {
            if room < len {
                let out = output.take(room, place);
                let error = encode.encode_to_slice(src, out).expect_err("the slice is too small");
                assert_eq!(error.needed, len, "{}", context!(tier, place, src, "BufferTooSmall"));
                let untouched = out.iter().all(|&byte| byte == CANARY) && output.intact();
                assert!(untouched, "{} wrote", context!(tier, place, src, "*_to_slice that failed"));
            }
        }

        let cow = encode.encode(src);
        let text: &[u8] = (*cow).as_ref();
        same!(text, expected, tier, place, src, "the Cow");
        let borrowed = matches!(cow, Cow::Borrowed(_));
        assert_eq!(borrowed, src == &expected[..], "{}", context!(tier, place, src, "borrowing of the Cow"));

        // Onto content: once where room has to be made, once where there is just enough of it.
        for spare in [0, len] {
            let mut fresh = Vec::with_capacity(4 + spare);
            fresh.extend_from_slice(b"new:");
            encode.encode_append(src, &mut fresh);
            same!(&fresh[..4], b"new:", tier, place, src, "append, before");
            same!(&fresh[4..], expected, tier, place, src, "append");
        }
        appended.truncate(7);
        let before = appended.len();
        encode.encode_append(src, appended);
        same!(&appended[before..], expected, tier, place, src, "append to a reused buffer");
        for room in [len, 3 * src.len() + 64] {
            let out = output.take(room, place);
            let written = encode.encode_to_uninit(src, uninit(out)).expect("there is room");
            same!(written, expected, tier, place, src, "encode_to_uninit");
            assert!(output.intact(), "{} wrote outside", context!(tier, place, src, "encode_to_uninit"));
        }
        if len > 0 {
            let out = output.take(len - 1, place);
            let needed = encode.encode_to_uninit(src, uninit(out)).map_err(|error| error.needed).err();
            assert_eq!(needed, Some(len), "{}", context!(tier, place, src, "encode_to_uninit"));
        }
        let owned = encode.encode_owned(src);
        let text: &[u8] = std::borrow::Borrow::<S::Text>::borrow(&owned).as_ref();
        same!(text, expected, tier, place, src, "encode_owned");
        let changed = src != &expected[..];
        assert_eq!(encode.is_encoded(src), !changed, "{}", context!(tier, place, src, "is_encoded"));
        assert_eq!(encode.first_change(src), first_change, "{}", context!(tier, place, src, "first_change"));
        assert!(input_room.intact(), "the input room changed");
    }

    /// Every verb of decoding, lenient and strict, on every tier.
    pub fn decode(&mut self, decoding: &Decoding, input: &[u8], place: Place) {
        decoding.expected(input, &mut self.expected);
        let first_bad = oracle::first_bad(input);
        let first_change = decoding.first_change(input);
        for &tier in tiers() {
            let decode = decoding.decoder(tier);
            self.decode_by(decode, None, first_change, tier, input, place);
            self.decode_by(decode.strict_if(false), None, first_change, tier, input, place);
            self.decode_by(decode.strict(), first_bad, first_change, tier, input, place);
        }
    }

    /// Every verb of the decoder `decode` of `tier` against `self.expected`, or against the error.
    fn decode_by(
        &mut self,
        decode: impl Verbs,
        error: Option<Bad>,
        first_change: Option<usize>,
        tier: Tier,
        input: &[u8],
        place: Place,
    ) {
        let Checker { input: input_room, output, expected, appended } = self;
        let src: &[u8] = input_room.put(input, place);
        let len = expected.len();
        let right = error.map_or(Ok(len), Err);
        let got = decode.decoded_len(src);
        assert_eq!(got, right, "{}", context!(tier, place, src, "decoded_len"));

        // Exact, one more, and as long as the input, which is another path of the library.
        for room in [len, len + 1, src.len(), src.len() + 64] {
            let out = output.take(room, place);
            match (decode.decode_to_slice(src, out), error) {
                (Ok(written), None) => {
                    assert_eq!(written, len, "{}", context!(tier, place, src, "*_to_slice"));
                    same!(&out[..len], expected, tier, place, src, "*_to_slice");
                }
                (Err(Refused::Bad(got)), Some(error)) => {
                    assert_eq!(got, error, "{}", context!(tier, place, src, "*_to_slice"));
                }
                (got, _) => panic!("{}: {got:?}, not {right:?}", context!(tier, place, src, "*_to_slice")),
            }
            assert!(output.intact(), "{} wrote outside the slice", context!(tier, place, src, "*_to_slice"));
        }
        for room in [len.saturating_sub(1), len / 2, 0] {
            if room < len {
                let out = output.take(room, place);
                match (decode.decode_to_slice(src, out), error) {
                    (Err(Refused::TooSmall(needed)), None) => {
                        assert_eq!(needed, len, "{}", context!(tier, place, src, "BufferTooSmall"));
                    }
                    (Err(Refused::Bad(got)), Some(error)) => {
                        assert_eq!(got, error, "{}", context!(tier, place, src, "*_to_slice"));
                    }
                    (got, _) => panic!("{}: {got:?}", context!(tier, place, src, "*_to_slice without room")),
                }
                let untouched = out.iter().all(|&byte| byte == CANARY) && output.intact();
                assert!(untouched, "{} wrote", context!(tier, place, src, "*_to_slice that failed"));
            }
        }

        match decode.decode(src) {
            Ok(cow) => {
                assert_eq!(error, None, "{}", context!(tier, place, src, "the Cow"));
                same!(&cow, expected, tier, place, src, "the Cow");
                let borrowed = matches!(cow, Cow::Borrowed(_));
                assert_eq!(
                    borrowed,
                    src == &expected[..],
                    "{}",
                    context!(tier, place, src, "borrowing of the Cow")
                );
            }
            Err(got) => assert_eq!(Some(got), error, "{}", context!(tier, place, src, "the Cow")),
        }

        let append = |out: &mut Vec<u8>| {
            let before = out.len();
            let result = decode.decode_append(src, out);
            assert_eq!(result, right.map(drop), "{}", context!(tier, place, src, "append"));
            let right: &[u8] = if error.is_none() { expected } else { b"" };
            same!(&out[before..], right, tier, place, src, "append");
        };
        for spare in [0, len, src.len()] {
            let mut fresh = Vec::with_capacity(4 + spare);
            fresh.extend_from_slice(b"new:");
            append(&mut fresh);
            same!(&fresh[..4], b"new:", tier, place, src, "append, before");
        }
        appended.truncate(7);
        append(appended);

        let bytes = input_room.put(input, place);
        match decode.decode_in_place(bytes) {
            Ok(written) => {
                assert_eq!(Ok(written), right, "{}", context!(tier, place, input, "in_place"));
                same!(&bytes[..written], expected, tier, place, input, "in_place");
            }
            Err(got) => {
                assert_eq!(Some(got), error, "{}", context!(tier, place, input, "in_place"));
                same!(bytes, input, tier, place, input, "in_place that failed");
            }
        }
        assert!(input_room.intact(), "{} wrote outside", context!(tier, place, input, "in_place"));

        let src: &[u8] = input_room.put(input, place);
        for room in [len, src.len() + 64] {
            let out = output.take(room, place);
            match (decode.decode_to_uninit(src, uninit(out)), error) {
                (Ok(bytes), None) => same!(bytes, expected, tier, place, src, "decode_to_uninit"),
                (Err(Refused::Bad(got)), Some(error)) => {
                    assert_eq!(got, error, "{}", context!(tier, place, src, "decode_to_uninit"));
                }
                (got, _) => panic!("{}: {got:?}", context!(tier, place, src, "decode_to_uninit")),
            }
            assert!(output.intact(), "{} wrote outside", context!(tier, place, src, "decode_to_uninit"));
        }
        let vec = decode.decode_owned(src.to_vec());
        let right = error.map_or(Ok(()), Err);
        assert_eq!(vec, right.map(|()| expected.clone()), "{}", context!(tier, place, src, "decode_owned"));
        let unchanged = right.map(|()| src == &expected[..]);
        assert_eq!(decode.is_decoded(src), unchanged, "{}", context!(tier, place, src, "is_decoded"));
        let changes = right.map(|()| first_change);
        assert_eq!(decode.first_change(src), changes, "{}", context!(tier, place, src, "first_change"));
    }

    /// Every verb of the encoder of `encode`, which the caller made for the set of `encoding`, on every tier.
    pub fn encode_with<S: KeepSet>(&mut self, set: S, encoding: &Encoding, input: &[u8], place: Place)
    where
        S::Text: AsRef<[u8]>,
    {
        encoding.expected(input, &mut self.expected);
        let first_change = encoding.first_change(input);
        for &tier in tiers() {
            self.encode_by(
                encoding.applied(Encode::keeping(set)).tier(tier),
                first_change,
                tier,
                input,
                place,
            );
        }
    }
}
