//! Encoding and decoding in pieces. However the input is cut, the output is that of one call.
//!
//! If a piece ends inside an escape, the start of the escape (at most two bytes) is held back until the next piece.
//!
//! | task | types |
//! |---|---|
//! | push pieces and take output when it suits | [`Encoder`], [`Decoder`], [`TryDecoder`] |
//! | the same in memory of your own, without `alloc` | [`State`] |
//! | transform what is written (with `std`) | [`Writer`] |
//! | transform what is read (with `std`) | [`Reader`] |

#[cfg(feature = "std")]
mod read;
#[cfg(feature = "std")]
mod write;

use core::mem::MaybeUninit;
#[cfg(feature = "alloc")]
use {crate::decode::Decode, alloc::vec::Vec, core::convert::Infallible};

use crate::coder::KeepSet;
use crate::decode::TryDecode;
use crate::encode::Encode;
use crate::error::{BufferTooSmall, DecodeError, MalformedEscape};
use crate::hex::held_back;
use crate::kernel::cursor::Written;
use crate::kernel::fixed_vec::Slots;
use crate::kernel::job::EncodeRule;

#[cfg(feature = "std")]
pub use read::Reader;
#[cfg(feature = "std")]
pub use write::{FinishError, Writer};

/// A conversion that takes input in pieces and appends output, for [`Writer`], [`Reader`] and generic code.
///
/// [`Encoder`], [`Decoder`] and [`TryDecoder`] implement it, and your own types may, too. Their inherent methods do the same,
/// without a `Result` if they cannot fail.
///
/// ```
/// use simdpct::stream::{Decoder, Transform};
///
/// /// Transforms a file that is read in pieces.
/// fn run<T: Transform>(mut transform: T, pieces: &[&[u8]]) -> Result<Vec<u8>, T::Error> {
///     let mut out = Vec::new();
///     pieces.iter().try_for_each(|piece| transform.push(piece, &mut out))?;
///     transform.finish(&mut out)?;
///     Ok(out)
/// }
/// assert_eq!(run(Decoder::new(simdpct::Decode::new()), &[b"a%2", b"0b"]), Ok(b"a b".to_vec()));
/// ```
#[cfg(feature = "alloc")]
pub trait Transform {
    /// The error for bad input.
    type Error: core::error::Error + Clone + Send + Sync + 'static;

    /// Takes the next piece, and appends to `out` the output that does not depend on later input.
    ///
    /// # Errors
    ///
    /// The error for bad input. The output before it is appended to `out`. The transform then takes no more input.
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Ends the input, and appends to `out` the output for the bytes that were held back. If there is no error, the transform
    /// can then take new input.
    ///
    /// # Errors
    ///
    /// The error of the end of the input, or the error that an earlier call returned.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// The state of an input that comes in pieces, between two calls of [`Encode::encode_piece_to_uninit`] or of
/// [`TryDecode::decode_piece_to_uninit`]. It belongs to one encoder or decoder. A clone continues at the same offset.
///
/// ```
/// use std::mem::MaybeUninit;
/// use simdpct::{Decode, stream::State};
///
/// let (decode, mut state) = (Decode::new().lenient(), State::default());
/// let mut out = [MaybeUninit::uninit(); 8];
/// let mut text = Vec::new();
/// for piece in [Some(&b"a%2"[..]), Some(b"0b%"), None] {
///     text.extend_from_slice(decode.decode_piece_to_uninit(&mut state, piece, &mut out)?.0);
/// }
/// assert_eq!(text, b"a b%");
/// # Ok::<(), simdpct::BufferTooSmall>(())
/// ```
// The fields are integers without padding, so that a C program may keep a state in memory of its own, and compare it.
// INVARIANT: `len <= 2`, and the first `len` of `bytes` are nothing, `%`, or `%` and a hexadecimal digit.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct State {
    /// For a decoder: the offset of the held bytes in the whole input, or that of the malformed escape at which decoding
    /// stopped.
    offset: usize,
    /// The start of an escape that was held back at the end of a piece.
    bytes: [u8; 2],
    /// For a normalization: the two bytes before the held ones, unless `offset` is 0.
    before: [u8; 2],
    /// The flaw of the malformed escape, as in [`MalformedEscape::with_flaw`].
    flaw: u16,
    len: u8,
    /// 1 if decoding stopped at a malformed escape, which every later call returns again, otherwise 0.
    failed: u8,
}

impl State {
    fn held(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Passes the held bytes and then `piece` to `each`, in at most two parts, each with its offset in the whole input.
    /// No part ends inside an escape: the start of an escape at the end of `piece` is held back. If `piece` is `None`,
    /// the input ends, and the held bytes are the last part.
    fn advance(&mut self, piece: Option<&[u8]>, mut each: impl FnMut(&[u8], usize) -> Checked) -> Checked {
        let held_back = |bytes: &[u8]| if piece.is_some() { held_back(bytes) } else { 0 };
        let (rest, held) = (piece.unwrap_or_default(), usize::from(self.len));
        let (mut joint, more) = ([self.bytes[0], self.bytes[1], 0, 0], rest.len().min(2));
        let (first, (rest, left)) = if held == 0 {
            (&[][..], rest.split_at(rest.len() - held_back(rest)))
        } else {
            // The held bytes and at most two more, which may complete the escape, are the first part.
            for (at, byte) in rest.iter().take(more).enumerate() {
                joint[held + at] = *byte;
            }
            let joint = &joint[..held + more];
            let (first, left) = joint.split_at(joint.len() - held_back(joint));
            match rest.get(first.len().saturating_sub(held)..).filter(|_| more < rest.len()) {
                // After two more bytes, none of the held bytes can be the start of an unfinished escape.
                Some(rest) => (first, rest.split_at(rest.len() - held_back(rest))),
                None => (first, (&[][..], left)),
            }
        };
        self.len = left.len() as u8;
        // This function copies single bytes, because a copy of a variable length would be a call of `memcpy`.
        self.bytes = [b'%', left.last().copied().unwrap_or_default()];
        for part in [first, rest].into_iter().filter(|part| !part.is_empty()) {
            each(part, self.offset)?;
            self.offset = self.offset.saturating_add(part.len());
        }
        if piece.is_none() {
            self.offset = 0;
        }
        Ok(())
    }
}

/// The result for a piece. The error is its first malformed escape, which only a strict decoder returns.
type Checked = Result<(), MalformedEscape>;

/// The output of a stream.
trait Output {
    /// Appends the encoded `part`. Never fails.
    fn encode<S: KeepSet>(&mut self, encode: &Encode<S>, part: &[u8]) -> Checked;

    /// Appends the decoded `part`, or nothing if it has a malformed escape that is an error.
    fn decode(&mut self, decode: &TryDecode, part: &[u8]) -> Checked;
}

#[cfg(feature = "alloc")]
impl Output for Vec<u8> {
    fn encode<S: KeepSet>(&mut self, encode: &Encode<S>, part: &[u8]) -> Checked {
        encode.encode_append(part, self);
        Ok(())
    }

    fn decode(&mut self, decode: &TryDecode, part: &[u8]) -> Checked {
        decode.decode_append(part, self)
    }
}

/// Memory of the caller, which is large enough for all output.
impl Output for Slots<'_, u8> {
    fn encode<S: KeepSet>(&mut self, encode: &Encode<S>, part: &[u8]) -> Checked {
        self.write(|room| (encode.coder.core().write(part, room), Ok(())))
    }

    fn decode(&mut self, decode: &TryDecode, part: &[u8]) -> Checked {
        self.write(|room| match decode.write(part, room) {
            Ok(written) => (written, Ok(())),
            Err(DecodeError::Malformed(error)) => (Written::NOTHING, Err(error)),
            Err(DecodeError::BufferTooSmall(_)) => (Written::NOTHING, Ok(())),
        })
    }
}

/// The length of an output that is not written.
struct Length(usize);

impl Output for Length {
    fn encode<S: KeepSet>(&mut self, encode: &Encode<S>, part: &[u8]) -> Checked {
        self.0 = self.0.saturating_add(encode.encoded_len(part));
        Ok(())
    }

    fn decode(&mut self, decode: &TryDecode, part: &[u8]) -> Checked {
        self.0 = self.0.saturating_add(decode.decoded_len(part)?);
        Ok(())
    }
}

/// An encoder or decoder of pieces, for every type of `Output`.
trait Pieces {
    /// The largest number of bytes of output for one byte of input.
    const GROWTH: usize;

    /// Takes the next piece, or ends the input if `piece` is `None`, and appends the output that does not depend on later input.
    fn advance(&self, state: &mut State, piece: Option<&[u8]>, out: &mut impl Output) -> Checked;

    /// Does the work of [`Pieces::advance`] for memory of the caller. If `out` is too small, returns an error and keeps
    /// the state as it was.
    fn advance_to_uninit<'o>(
        &self,
        state: &mut State,
        piece: Option<&[u8]>,
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<(&'o [u8], Checked), BufferTooSmall> {
        let len = piece.map_or(0, <[u8]>::len).saturating_add(state.held().len());
        if out.len() < len.saturating_mul(Self::GROWTH) {
            let mut needed = Length(0);
            // The output before a malformed escape is measured, too.
            let _: Checked = self.advance(&mut state.clone(), piece, &mut needed);
            if out.len() < needed.0 {
                return Err(BufferTooSmall { needed: needed.0 });
            }
        }
        let mut out = Slots::new(out);
        let result = self.advance(state, piece, &mut out);
        Ok((out.into_slice(), result))
    }
}

impl<S: KeepSet> Pieces for Encode<S> {
    const GROWTH: usize = 3;

    fn advance(&self, state: &mut State, piece: Option<&[u8]>, out: &mut impl Output) -> Checked {
        let keeps_escapes = self.coder.core().job.rule == EncodeRule::KeepEscapes;
        match piece {
            // No byte is held back, neither before this piece nor at its end.
            Some(piece) if !keeps_escapes || state.len == 0 && held_back(piece) == 0 => {
                out.encode(self, piece)
            }
            _ => state.advance(piece, |part, _| out.encode(self, part)),
        }
    }
}

impl Pieces for TryDecode {
    const GROWTH: usize = 1;

    fn advance(&self, state: &mut State, piece: Option<&[u8]>, out: &mut impl Output) -> Checked {
        if state.failed != 0 {
            return Err(MalformedEscape::with_flaw(state.offset, state.flaw.into()));
        }
        let mut before = if state.offset > 0 { state.before } else { self.core.job.before };
        let result = state.advance(piece, |part, offset| {
            let continued;
            let decode = if self.core.job.upper {
                // A normalization depends on the last bytes of the part before. For other modes, the decoder is not
                // copied, to save time.
                continued = TryDecode { core: self.core.at(&before, before.len()) };
                &continued
            } else {
                self
            };
            let result = out.decode(decode, part);
            if let Err(error) = result {
                // The input before the first malformed escape is valid.
                let _: Checked = out.decode(decode, &part[..error.offset]);
            }
            before = decode.core.job.before(part, part.len());
            result.map_err(|error| {
                // If `part` ends inside an escape before the end of the input, the next byte is a `%`, which starts the next part.
                // That `%` makes the escape malformed, but not truncated, so the cause is corrected.
                let error = if piece.is_some() { error.before_percent(part.len()) } else { error };
                error.shifted(offset)
            })
        });
        state.before = before;
        result.inspect_err(|error| {
            (state.offset, state.flaw, state.failed) = (error.offset, error.flaw(), 1);
        })
    }
}

impl<S: KeepSet> Encode<S> {
    /// Encodes the next piece of an input into `out`, or ends the input if `piece` is `None`. Returns the output that does not depend on
    /// later input. However the input is cut, the output is that of one call. Takes time linear in the piece.
    ///
    /// Memory for three times the piece and six bytes more, for an escape that is held back, is always enough. A
    /// shorter `out` costs a second pass, which measures the output. After the end, the state is ready for new input.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] gives the exact size needed. `out` and `state` are then unchanged.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use simdpct::{Encode, sets, stream::State};
    ///
    /// let encode = Encode::keeping(sets::RFC3986_PATH).keep_escapes();
    /// let (mut state, mut out) = (State::default(), [MaybeUninit::uninit(); 12]);
    /// assert_eq!(encode.encode_piece_to_uninit(&mut state, Some(b"a %4"), &mut out)?, b"a%20");
    /// let error = encode.encode_piece_to_uninit(&mut state, Some(b"1%"), &mut out[..2]).unwrap_err();
    /// assert_eq!(error.needed, 3);
    /// assert_eq!(encode.encode_piece_to_uninit(&mut state, Some(b"1%"), &mut out)?, b"%41");
    /// assert_eq!(encode.encode_piece_to_uninit(&mut state, None, &mut out)?, b"%25");
    /// # Ok::<(), simdpct::BufferTooSmall>(())
    /// ```
    pub fn encode_piece_to_uninit<'o>(
        &self,
        state: &mut State,
        piece: Option<&[u8]>,
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o [u8], BufferTooSmall> {
        Ok(self.advance_to_uninit(state, piece, out)?.0)
    }
}

impl TryDecode {
    /// Decodes the next piece of an input into `out`, or ends the input if `piece` is `None`. Returns the output that does not depend on
    /// later input. However the input is cut, the output is that of one call. Takes time linear in the piece.
    ///
    /// The second result is the first malformed escape, with its offset from the start of the first piece. The output
    /// before the escape is written, and every later call returns the same error. Memory for the piece and two bytes
    /// more, for an escape that is held back, is always enough. A shorter `out` costs a second pass, which measures the
    /// output. After the end, the state is ready for new input.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] gives the exact size needed. `out` and `state` are then unchanged.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use simdpct::{Decode, stream::State};
    ///
    /// let (decode, mut state) = (Decode::new().strict(), State::default());
    /// let mut out = [MaybeUninit::uninit(); 8];
    /// let (bytes, result) = decode.decode_piece_to_uninit(&mut state, Some(b"a%20b%"), &mut out)?;
    /// assert_eq!((bytes, result), (&b"a b"[..], Ok(())));
    /// let (bytes, result) = decode.decode_piece_to_uninit(&mut state, Some(b"41%zz"), &mut out)?;
    /// assert_eq!((bytes, result.unwrap_err().offset), (&b"A"[..], 8));
    /// # Ok::<(), simdpct::BufferTooSmall>(())
    /// ```
    pub fn decode_piece_to_uninit<'o>(
        &self,
        state: &mut State,
        piece: Option<&[u8]>,
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<(&'o [u8], Result<(), MalformedEscape>), BufferTooSmall> {
        self.advance_to_uninit(state, piece, out)
    }
}

/// An encoder for input in pieces, with the options of an [`Encode`].
///
/// ```
/// use simdpct::{Encode, sets, stream::Encoder};
///
/// let mut encoder = Encoder::new(Encode::keeping(sets::RFC3986_PATH).keep_escapes());
/// let mut out = Vec::new();
/// for piece in ["a %", "4", "1%"] {
///     encoder.push(piece, &mut out);
/// }
/// encoder.finish(&mut out);
/// assert_eq!(out, b"a%20%41%25");
/// ```
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub struct Encoder<S> {
    encode: Encode<S>,
    state: State,
}

#[cfg(feature = "alloc")]
impl<S: KeepSet> Encoder<S> {
    /// Makes a stream that encodes as `encode` does.
    #[must_use]
    pub fn new(encode: Encode<S>) -> Encoder<S> {
        Encoder { encode, state: State::default() }
    }

    /// Takes the next piece, and appends to `out` the output that does not depend on later input.
    pub fn push(&mut self, piece: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        let pushed = self.encode.advance(&mut self.state, Some(piece.as_ref()), out);
        debug_assert!(pushed.is_ok());
    }

    /// Ends the input: encodes the bytes that were held back, and appends the result to `out`. The stream can then take
    /// new input.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let finished = self.encode.advance(&mut self.state, None, out);
        debug_assert!(finished.is_ok());
    }
}

#[cfg(feature = "alloc")]
impl<S: KeepSet> Transform for Encoder<S> {
    type Error = Infallible;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Infallible> {
        Encoder::push(self, piece, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        Encoder::finish(self, out);
        Ok(())
    }
}

/// A decoder for input in pieces, with the options of a [`Decode`]. With [`Decode::NORMALIZE`], it normalizes.
///
/// ```
/// use simdpct::{Decode, stream::Decoder};
///
/// let mut decoder = Decoder::new(Decode::new());
/// let mut out = Vec::new();
/// for piece in ["a%", "2", "0b"] {
///     decoder.push(piece, &mut out);
/// }
/// decoder.finish(&mut out);
/// assert_eq!(out, b"a b");
/// ```
// INVARIANT: the decoder is lenient, so it returns no error.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub struct Decoder(TryDecoder);

#[cfg(feature = "alloc")]
impl Decoder {
    /// Makes a stream that decodes as `decode` does.
    #[must_use]
    pub fn new(decode: Decode) -> Decoder {
        Decoder(TryDecoder::new(decode.lenient()))
    }

    /// Takes the next piece, and appends to `out` the output that does not depend on later input.
    pub fn push(&mut self, piece: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        let pushed = self.0.push(piece, out);
        debug_assert!(pushed.is_ok());
    }

    /// Ends the input, and appends the bytes that were held back to `out`. The stream can then take new input.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let finished = self.0.finish(out);
        debug_assert!(finished.is_ok());
    }
}

#[cfg(feature = "alloc")]
impl Transform for Decoder {
    type Error = Infallible;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Infallible> {
        Decoder::push(self, piece, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        Decoder::finish(self, out);
        Ok(())
    }
}

/// A decoder for input in pieces, with the options of a [`TryDecode`]: a malformed escape is an error, with its offset in the
/// whole input.
///
/// The input before the malformed escape is decoded and appended. After an error, the stream takes no more input, and each call
/// returns the same error.
///
/// ```
/// use simdpct::{Decode, stream::TryDecoder};
///
/// let mut decoder = TryDecoder::new(Decode::new().strict());
/// let mut out = Vec::new();
/// decoder.push("a%20b%", &mut out)?;
/// let error = decoder.push("zz", &mut out).unwrap_err();
/// assert_eq!((error.offset, &out[..]), (5, &b"a b"[..]));
/// assert_eq!(decoder.push("and more", &mut out), Err(error));
/// # Ok::<(), simdpct::MalformedEscape>(())
/// ```
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub struct TryDecoder {
    decode: TryDecode,
    state: State,
}

#[cfg(feature = "alloc")]
impl TryDecoder {
    /// Makes a stream that decodes as `decode` does.
    #[must_use]
    pub fn new(decode: TryDecode) -> TryDecoder {
        TryDecoder { decode, state: State::default() }
    }

    /// Takes the next piece, and appends to `out` the output that does not depend on later input.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape, with its offset from the start of the first piece. The output before the escape is
    /// appended to `out`. Every later call returns the same error.
    pub fn push(
        &mut self,
        piece: &(impl AsRef<[u8]> + ?Sized),
        out: &mut Vec<u8>,
    ) -> Result<(), MalformedEscape> {
        self.decode.advance(&mut self.state, Some(piece.as_ref()), out)
    }

    /// Ends the input, and appends the bytes that were held back to `out`. The stream can then take new input.
    ///
    /// # Errors
    ///
    /// [`MalformedEscape`] if the input ends inside an escape, or if an earlier call of [`TryDecoder::push`] returned that
    /// error. Every later call returns the same error.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        self.decode.advance(&mut self.state, None, out)
    }
}

#[cfg(feature = "alloc")]
impl Transform for TryDecoder {
    type Error = MalformedEscape;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        TryDecoder::push(self, piece, out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        TryDecoder::finish(self, out)
    }
}
