//! Checks every verb (method of an encoder or decoder for one input, except those that decode to text) on every tier
//! against the oracle. The input is between guard pages.

use std::borrow::{Borrow, Cow};
use std::fmt::Debug;
use std::mem::MaybeUninit;

use simdpct::internals::form_keeping_plus;
use simdpct::{
    ByteSet, Decode, DecodeError, Encode, HexCase, KeepSet, MalformedCause, MalformedEscape, Tier, TryDecode,
};

use crate::guard::{CANARY, GuardedSlice, Place};
use crate::oracle::{self, Malformed, Members, Rule};
use crate::tiers::tiers;

/// The options of an encoding, as the oracle takes them.
#[derive(Clone, Copy)]
pub struct Encoding {
    /// The bytes that stay unescaped.
    pub members: Members,
    /// The rule that decides which bytes are escaped.
    pub rule: Rule,
    /// Whether the digits of new escapes are in upper case.
    pub upper: bool,
}

/// The options of a decoding, as the oracle takes them.
#[derive(Clone, Copy)]
pub struct Decoding {
    /// The bytes whose escapes are not decoded.
    pub keep: Members,
    /// Whether a `+` that is not escaped is read as a space.
    pub plus: bool,
    /// Whether this is the normalization of RFC 3986, which ignores `keep` and `plus`.
    pub normalize: bool,
}

/// Converts a set of the oracle to one of the library.
pub fn byte_set(members: &Members) -> ByteSet {
    ByteSet::EMPTY.add(&oracle::bytes(members))
}

impl Encoding {
    /// Makes the default encoding, with digits in upper case.
    pub fn plain(members: Members) -> Encoding {
        Encoding { members, rule: Rule::Plain, upper: true }
    }

    /// Makes one encoding for each rule except [`Rule::FormKeepingPlus`], with digits in upper case.
    pub fn modes(members: Members) -> [Encoding; 3] {
        [Rule::Plain, Rule::KeepEscapes, Rule::Form].map(|rule| Encoding { members, rule, upper: true })
    }

    /// Makes the encoder of the library with these options, on `tier`.
    pub fn encoder(&self, tier: Tier) -> Encode<ByteSet> {
        self.applied(Encode::keeping(byte_set(&self.members)).tier(tier))
    }

    /// Adds the rule and the case of this encoding to `encode`.
    pub fn applied<S: KeepSet>(&self, encode: Encode<S>) -> Encode<S> {
        let encode = match self.rule {
            Rule::Plain => encode,
            Rule::KeepEscapes => encode.keep_escapes(),
            Rule::Form => encode.form(),
            Rule::FormKeepingPlus => form_keeping_plus(encode),
        };
        encode.hex_case(if self.upper { HexCase::Upper } else { HexCase::Lower })
    }

    /// Returns the offset of the first byte that this encoding changes.
    pub fn first_change(&self, input: &[u8]) -> Option<usize> {
        // Up to that byte, the output equals the input. A `%` that changes is a special case, because its escape `%25` begins
        // with `%`.
        let mut out = Vec::new();
        self.expected(input, &mut out);
        let percent_changes = |at: usize| match self.rule {
            Rule::KeepEscapes => oracle::escape_at(input, at).is_none(),
            _ => !self.members[usize::from(b'%')],
        };
        (0..input.len()).find(|&at| out[at] != input[at] || (input[at] == b'%' && percent_changes(at)))
    }

    /// Sets `out` to the output that the oracle expects.
    pub fn expected(&self, input: &[u8], out: &mut Vec<u8>) {
        oracle::encode(input, &self.members, self.rule, self.upper, out);
    }
}

impl Decoding {
    /// The decoding of every escape.
    pub const ALL: Decoding = Decoding { keep: [false; 256], plus: false, normalize: false };
    /// The decoding of every escape that also reads `+` as a space.
    pub const FORM: Decoding = Decoding { plus: true, ..Decoding::ALL };
    /// The normalization of escapes.
    pub const NORMALIZE: Decoding = Decoding { normalize: true, ..Decoding::ALL };
    /// The three modes of decoding that need no set.
    pub const MODES: [Decoding; 3] = [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE];

    /// Makes the decoding of all escapes but those of the bytes of `keep`.
    pub fn keeping(keep: Members) -> Decoding {
        Decoding { keep, ..Decoding::ALL }
    }

    /// Makes the decoder of the library with these options, on `tier`.
    pub fn decoder(&self, tier: Tier) -> Decode {
        if self.normalize {
            return Decode::NORMALIZE.tier(tier);
        }
        let decode = Decode::new().keep(byte_set(&self.keep)).tier(tier);
        if self.plus { decode.form() } else { decode }
    }

    /// Returns the offset of the first byte or escape that this decoding changes.
    pub fn first_change(&self, input: &[u8]) -> Option<usize> {
        let (mut out, mut at) = (Vec::new(), 0);
        while at < input.len() {
            let end = at + if oracle::escape_at(input, at).is_some() { 3 } else { 1 };
            // The normalization of an escape also depends on the two bytes before it, which do not change.
            let with_context = &input[at.saturating_sub(2)..end];
            self.expected(with_context, &mut out);
            if out != with_context {
                return Some(at);
            }
            at = end;
        }
        None
    }

    /// Sets `out` to the output that the oracle expects.
    pub fn expected(&self, input: &[u8], out: &mut Vec<u8>) {
        if self.normalize {
            oracle::normalize(input, out);
        } else {
            oracle::decode(input, &self.keep, self.plus, out);
        }
    }
}

/// Reports whether a verb wrote exactly `expected` to the start of `out`.
pub fn wrote<E>(written: Result<usize, E>, out: &[u8], expected: &[u8]) -> bool {
    written.is_ok_and(|len| len == expected.len()) && out.starts_with(expected)
}

/// Converts an error of the library to an error of the oracle.
pub fn malformed(error: MalformedEscape) -> Malformed {
    let not_hex = match error.cause {
        MalformedCause::Truncated => None,
        MalformedCause::NotHex { offset, byte } => Some((offset, byte)),
        other => panic!("the oracle has no word for {other:?}"),
    };
    Malformed { offset: error.offset, not_hex }
}

/// The error of decoding into a slice, in the terms of the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SliceError {
    Malformed(Malformed),
    /// The slice is too small. The number is the size needed.
    TooSmall(usize),
}

fn slice_error(error: impl Into<DecodeError>) -> SliceError {
    match error.into() {
        DecodeError::Malformed(error) => SliceError::Malformed(malformed(error)),
        DecodeError::BufferTooSmall(error) => SliceError::TooSmall(error.needed),
        other => panic!("{other:?}"),
    }
}

/// Views a slice as memory that need not be initialised.
///
/// # Safety
///
/// The caller writes only initialised bytes to the result.
unsafe fn uninit(slice: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and by the precondition all bytes stay initialised.
    unsafe { &mut *(std::ptr::from_mut(slice) as *mut [MaybeUninit<u8>]) }
}

/// The verbs of a decoder, strict or lenient, with the errors of the oracle.
trait Verbs: Copy {
    fn decoded_len(self, input: &[u8]) -> Result<usize, Malformed>;
    fn is_decoded(self, input: &[u8]) -> Result<bool, Malformed>;
    fn first_change(self, input: &[u8]) -> Result<Option<usize>, Malformed>;
    fn decode(self, input: &[u8]) -> Result<Cow<'_, [u8]>, Malformed>;
    fn decode_append(self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed>;
    fn decode_in_place(self, bytes: &mut [u8]) -> Result<usize, Malformed>;
    fn decode_owned(self, input: &[u8]) -> Result<Vec<u8>, Malformed>;
    fn decode_to_slice(self, input: &[u8], out: &mut [u8]) -> Result<usize, SliceError>;
    fn decode_to_uninit<'o>(
        self,
        input: &[u8],
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], SliceError>;
}

macro_rules! verbs {
    ($($decoder:ident, |$result:ident| $converted:expr;)*) => {$(
        impl Verbs for $decoder {
            verbs!(@each $decoder, |$result| $converted,
                decoded_len(input: &[u8]) -> usize,
                is_decoded(input: &[u8]) -> bool,
                first_change(input: &[u8]) -> Option<usize>,
                decode_append(input: &[u8], out: &mut Vec<u8>) -> (),
                decode_in_place(bytes: &mut [u8]) -> usize,
                decode_owned(input: &[u8]) -> Vec<u8>,
            );
            fn decode(self, input: &[u8]) -> Result<Cow<'_, [u8]>, Malformed> {
                let $result = $decoder::decode(&self, input);
                $converted
            }
            fn decode_to_slice(self, input: &[u8], out: &mut [u8]) -> Result<usize, SliceError> {
                $decoder::decode_to_slice(&self, input, out).map_err(slice_error)
            }
            fn decode_to_uninit<'o>(
                self,
                input: &[u8],
                out: &'o mut [MaybeUninit<u8>],
            ) -> Result<&'o mut [u8], SliceError> {
                $decoder::decode_to_uninit(&self, input, out).map_err(slice_error)
            }
        }
    )*};
    (@each $decoder:ident, |$result:ident| $converted:expr,
        $($verb:ident($($name:ident: $type:ty),*) -> $output:ty,)*) => {$(
        fn $verb(self, $($name: $type),*) -> Result<$output, Malformed> {
            let $result = $decoder::$verb(&self, $($name),*);
            $converted
        }
    )*};
}
verbs! {
    Decode, |result| Ok(result);
    TryDecode, |result| result.map_err(malformed);
}

/// The tier, the input and its place in guarded memory, for the message of a failed assertion.
struct Case<'a> {
    tier: Tier,
    place: Place,
    input: &'a [u8],
}

impl Case<'_> {
    #[track_caller]
    fn that(&self, verb: &str, holds: bool) {
        let Case { tier, place, input } = self;
        assert!(holds, "{verb} of tier {tier} at {place:?} on b\"{}\"", input.escape_ascii());
    }

    #[track_caller]
    fn equal<T: PartialEq + Debug>(&self, verb: &str, got: T, expected: T) {
        if got != expected {
            self.that(&format!("{got:?}, not {expected:?}: {verb}"), false);
        }
    }

    #[track_caller]
    fn same(&self, verb: &str, got: &[u8], expected: &[u8]) {
        if got != expected {
            let (got, expected) = (got.escape_ascii(), expected.escape_ascii());
            self.that(&format!("\n     got b\"{got}\"\nexpected b\"{expected}\"\n{verb}"), false);
        }
    }

    /// Compares a `Cow` with the expected output. The `Cow` must be borrowed if nothing changes.
    #[track_caller]
    fn cow<T: ToOwned + AsRef<[u8]> + ?Sized>(&self, cow: Cow<'_, T>, expected: &[u8]) {
        self.same("the Cow", (*cow).as_ref(), expected);
        self.equal("borrowing of the Cow", matches!(cow, Cow::Borrowed(_)), self.input == expected);
    }
}

/// A checker of all verbs, with guarded memory for their input and output.
#[derive(Default)]
pub struct Checker {
    input: GuardedSlice,
    output: GuardedSlice,
    expected: Vec<u8>,
    appended: Vec<u8>,
}

impl Checker {
    /// Checks every verb of encoding, on every tier.
    pub fn encode(&mut self, encoding: &Encoding, input: &[u8], place: Place) {
        self.encode_with(byte_set(&encoding.members), encoding, input, place);
    }

    /// Checks every verb of encoding with `set`, which has the members of `encoding`, on every tier.
    pub fn encode_with<S: KeepSet>(&mut self, set: S, encoding: &Encoding, input: &[u8], place: Place)
    where
        S::Text: AsRef<[u8]>,
    {
        encoding.expected(input, &mut self.expected);
        let first_change = encoding.first_change(input);
        for &tier in tiers() {
            let encode = encoding.applied(Encode::keeping(set)).tier(tier);
            self.encode_by(encode, first_change, &Case { tier, place, input });
        }
    }

    /// Checks every verb of the encoder `encode` against `self.expected`.
    fn encode_by<S: KeepSet>(&mut self, encode: Encode<S>, first_change: Option<usize>, case: &Case<'_>)
    where
        S::Text: AsRef<[u8]>,
    {
        let Checker { input: input_room, output, expected, appended } = self;
        let (place, len) = (case.place, expected.len());
        let src: &[u8] = input_room.put(case.input, place);
        case.equal("encoded_len", encode.encoded_len(src), len);
        case.equal("is_encoded", encode.is_encoded(src), src == expected);
        case.equal("first_change", encode.first_change(src), first_change);
        case.cow(encode.encode(src), expected);

        // The sizes of the output slice: the exact size, one byte more, and the worst case, for which the library has
        // other code.
        for room in [len, len + 1, 3 * src.len() + 64] {
            let out = output.take(room, place);
            case.equal("encode_to_slice", encode.encode_to_slice(src, out), Ok(len));
            case.same("encode_to_slice", &out[..len], expected);
            case.that("wrote outside: encode_to_slice", output.intact());
        }
        for room in [len.saturating_sub(1), len / 2, 0].into_iter().filter(|&room| room < len) {
            let out = output.take(room, place);
            let needed = encode.encode_to_slice(src, out).map_err(|error| error.needed);
            case.equal("encode_to_slice, too small", needed, Err(len));
            let untouched = out.iter().all(|&byte| byte == CANARY) && output.intact();
            case.that("wrote: encode_to_slice, too small", untouched);
        }
        for room in [len, 3 * src.len() + 64] {
            let out = output.take(room, place);
            // SAFETY: the library writes only initialised bytes to the slice.
            let written = encode.encode_to_uninit(src, unsafe { uninit(out) }).expect("it is large enough");
            case.same("encode_to_uninit", written, expected);
            case.that("wrote outside: encode_to_uninit", output.intact());
        }
        if len > 0 {
            let out = output.take(len - 1, place);
            // SAFETY: the library writes only initialised bytes to the slice.
            let needed = encode.encode_to_uninit(src, unsafe { uninit(out) }).map_err(|error| error.needed);
            case.equal("encode_to_uninit, too small", needed.err(), Some(len));
        }

        // `encode_append` is called on a vector that has content, without spare capacity and with exactly enough of it.
        for spare in [0, len] {
            let mut fresh = Vec::with_capacity(4 + spare);
            fresh.extend_from_slice(b"new:");
            encode.encode_append(src, &mut fresh);
            case.same("encode_append, before", &fresh[..4], b"new:");
            case.same("encode_append", &fresh[4..], expected);
        }
        appended.truncate(7);
        let before = appended.len();
        encode.encode_append(src, appended);
        case.same("encode_append to a reused buffer", &appended[before..], expected);

        let owned = encode.encode_owned(src);
        case.same("encode_owned", Borrow::<S::Text>::borrow(&owned).as_ref(), expected);
        case.that("the input changed", input_room.intact());
    }

    /// Checks every verb of decoding, lenient and strict, on every tier.
    pub fn decode(&mut self, decoding: &Decoding, input: &[u8], place: Place) {
        decoding.expected(input, &mut self.expected);
        let first_malformed = oracle::first_malformed(input);
        let first_change = decoding.first_change(input);
        for &tier in tiers() {
            let (decode, case) = (decoding.decoder(tier), Case { tier, place, input });
            self.decode_by(decode, Ok(first_change), &case);
            self.decode_by(decode.lenient(), Ok(first_change), &case);
            self.decode_by(decode.strict(), first_malformed.map_or(Ok(first_change), Err), &case);
        }
    }

    /// Checks every verb of `decode` against `self.expected`, or against the expected error.
    fn decode_by(
        &mut self,
        decode: impl Verbs,
        first_change: Result<Option<usize>, Malformed>,
        case: &Case<'_>,
    ) {
        let Checker { input: input_room, output, expected, appended } = self;
        let (place, len) = (case.place, expected.len());
        let src: &[u8] = input_room.put(case.input, place);
        let result = first_change.map(drop);
        let slice_result = result.map_err(SliceError::Malformed);
        case.equal("decoded_len", decode.decoded_len(src), result.map(|()| len));
        case.equal("is_decoded", decode.is_decoded(src), result.map(|()| src == expected));
        case.equal("first_change", decode.first_change(src), first_change);
        case.equal("decode_owned", decode.decode_owned(src), result.map(|()| expected.clone()));
        match decode.decode(src) {
            Ok(cow) => {
                case.equal("decode", Ok(()), result);
                case.cow(cow, expected);
            }
            Err(error) => case.equal("decode", Err(error), result),
        }

        // The sizes of the output slice: the exact size, one byte more, and at least the length of the input, for which
        // the library has other code.
        for room in [len, len + 1, src.len(), src.len() + 64] {
            let out = output.take(room, place);
            let written = decode.decode_to_slice(src, out);
            case.equal("decode_to_slice", written, slice_result.map(|()| len));
            if result.is_ok() {
                case.same("decode_to_slice", &out[..len], expected);
            }
            case.that("wrote outside: decode_to_slice", output.intact());
        }
        for room in [len.saturating_sub(1), len / 2, 0].into_iter().filter(|&room| room < len) {
            let out = output.take(room, place);
            let error = slice_result.err().unwrap_or(SliceError::TooSmall(len));
            case.equal("decode_to_slice, too small", decode.decode_to_slice(src, out), Err(error));
            let untouched = out.iter().all(|&byte| byte == CANARY) && output.intact();
            case.that("wrote: decode_to_slice, too small", untouched);
        }
        for room in [len, src.len() + 64] {
            let out = output.take(room, place);
            // SAFETY: the library writes only initialised bytes to the slice.
            let written = decode.decode_to_uninit(src, unsafe { uninit(out) }).map(|bytes| &*bytes);
            case.equal("decode_to_uninit", written, slice_result.map(|()| &expected[..]));
            case.that("wrote outside: decode_to_uninit", output.intact());
        }

        let decoded: &[u8] = if result.is_ok() { expected } else { b"" };
        let append = |out: &mut Vec<u8>| {
            let before = out.len();
            case.equal("decode_append", decode.decode_append(src, out), result);
            case.same("decode_append", &out[before..], decoded);
        };
        for spare in [0, len, src.len()] {
            let mut fresh = Vec::with_capacity(4 + spare);
            fresh.extend_from_slice(b"new:");
            append(&mut fresh);
            case.same("decode_append, before", &fresh[..4], b"new:");
        }
        appended.truncate(7);
        append(appended);

        let bytes = input_room.put(case.input, place);
        let written = decode.decode_in_place(bytes);
        case.equal("decode_in_place", written, result.map(|()| len));
        let (got, right) = if result.is_ok() { (&bytes[..len], decoded) } else { (&*bytes, case.input) };
        case.same("decode_in_place", got, right);
        case.that("wrote outside: decode_in_place", input_room.intact());
    }
}
