//! Encoding and decoding in pieces. However the input is cut, the output is that of one call.
//!
//! If a piece ends inside an escape, the start of the escape (at most two bytes) is held back until the next piece.
//!
//! | task | types |
//! |---|---|
//! | push pieces and take output when it suits | [`Encoder`], [`Decoder`], [`TryDecoder`] |
//! | transform what is written (with `std`) | [`Writer`] |
//! | transform what is read (with `std`) | [`Reader`] |

#[cfg(feature = "std")]
mod read;
#[cfg(feature = "std")]
mod write;

use alloc::vec::Vec;
use core::convert::Infallible;

use crate::coder::KeepSet;
use crate::decode::{Decode, TryDecode};
use crate::encode::Encode;
use crate::error::MalformedEscape;
use crate::hex::held_back;
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
pub trait Transform {
    /// The error of bad input.
    type Error: core::error::Error + Clone + Send + Sync + 'static;

    /// Takes the next piece, and appends to `out` the output that does not depend on later input.
    ///
    /// # Errors
    ///
    /// The error of the input. The output before it is appended to `out`. The transform then takes no more input.
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Ends the input, and appends the bytes that were held back to `out`. The transform can then take new input.
    ///
    /// # Errors
    ///
    /// The error of the end of the input.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// The start of an escape that was held back at the end of a piece.
// INVARIANT: `len <= 2`, and the bytes are `%`, or `%` and a hexadecimal digit.
#[derive(Clone, Debug, Default)]
struct Held {
    bytes: [u8; 2],
    len: usize,
    /// The offset of the held bytes in the whole input.
    offset: usize,
}

impl Held {
    /// Passes the held bytes and then `piece` to `each`, in one or two parts, each with its offset in the whole input. No part
    /// ends inside an escape; the start of an escape at the end of `piece` is held.
    fn push<E>(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = piece;
        if self.len > 0 {
            // At most two more bytes complete the escape whose start is held.
            let more = rest.len().min(2);
            let mut joint = [0; 4];
            joint[..self.len].copy_from_slice(&self.bytes[..self.len]);
            joint[self.len..self.len + more].copy_from_slice(&rest[..more]);
            let joint = &joint[..self.len + more];
            let settled = joint.len() - held_back(joint);
            if more == rest.len() {
                return self.pass_on(joint, settled, &mut each);
            }
            let from_rest = settled - self.len;
            self.len = 0;
            each(&joint[..settled], self.offset)?;
            self.offset = self.offset.saturating_add(settled);
            rest = &rest[from_rest..];
        }
        self.pass_on(rest, rest.len() - held_back(rest), &mut each)
    }

    /// Passes the first `settled` bytes of `bytes` to `each`, and holds the rest.
    fn pass_on<E>(
        &mut self,
        bytes: &[u8],
        settled: usize,
        each: &mut impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let (ready, held) = bytes.split_at(settled);
        self.len = held.len();
        self.bytes[..held.len()].copy_from_slice(held);
        if !ready.is_empty() {
            each(ready, self.offset)?;
        }
        self.offset = self.offset.saturating_add(ready.len());
        Ok(())
    }

    /// Returns the bytes that are held when the input ends, and their offset, and resets the stream.
    fn take(&mut self) -> (Held, usize) {
        let held = core::mem::take(self);
        let offset = held.offset;
        (held, offset)
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
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
#[derive(Clone, Debug)]
pub struct Encoder<S> {
    encode: Encode<S>,
    held: Held,
}

impl<S: KeepSet> Encoder<S> {
    /// Makes a stream that encodes as `encode` does.
    #[must_use]
    pub fn new(encode: Encode<S>) -> Encoder<S> {
        Encoder { encode, held: Held::default() }
    }

    /// Takes the next piece, and appends to `out` the output that does not depend on later input.
    pub fn push(&mut self, piece: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        let Encoder { encode, held } = self;
        if encode.coder.core().job.rule != EncodeRule::KeepEscapes {
            return encode.encode_append(piece, out);
        }
        let Ok(()) = held.push::<Infallible>(piece.as_ref(), |part, _| {
            encode.encode_append(part, out);
            Ok(())
        });
    }

    /// Ends the input, and appends the bytes that were held back to `out`. The stream can then take new input.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let (held, _) = self.held.take();
        self.encode.encode_append(held.as_bytes(), out);
    }
}

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
#[derive(Clone, Debug)]
pub struct Decoder(TryDecoder);

impl Decoder {
    /// Makes a stream that decodes as `decode` does.
    #[must_use]
    pub fn new(decode: Decode) -> Decoder {
        Decoder(TryDecoder::new(TryDecode { core: decode.core }))
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
#[derive(Clone, Debug)]
pub struct TryDecoder {
    /// The decoder of the next part, which knows the last two bytes before that part.
    decode: TryDecode,
    /// The two bytes before the whole input.
    before: [u8; 2],
    held: Held,
    /// The malformed escape at which decoding stopped, if there was one. Every later call returns it again.
    error: Option<MalformedEscape>,
}

impl TryDecoder {
    /// Makes a stream that decodes as `decode` does.
    #[must_use]
    pub fn new(decode: TryDecode) -> TryDecoder {
        TryDecoder { decode, before: decode.core.job.before, held: Held::default(), error: None }
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
        let TryDecoder { decode, held, error, .. } = self;
        if let Some(error) = error {
            return Err(*error);
        }
        held.push(piece.as_ref(), |part, offset| {
            // If `part` ends inside an escape, the next byte is a `%` that is held back. That `%` makes the escape malformed,
            // but not truncated, so the cause is corrected.
            append_up_to_error(decode, part, out)
                .map_err(|error| error.before_percent(part.len()).shifted(offset))?;
            // A normalization of the next part depends on the last bytes of this one.
            decode.core.job.before = decode.core.job.before(part, part.len());
            Ok(())
        })
        .inspect_err(|found| *error = Some(*found))
    }

    /// Ends the input, and appends the bytes that were held back to `out`. The stream can then take new input.
    ///
    /// # Errors
    ///
    /// [`MalformedEscape`] if the input ends inside an escape, or if an earlier call of [`TryDecoder::push`] returned that
    /// error. Every later call returns the same error.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (held, offset) = self.held.take();
        append_up_to_error(&self.decode, held.as_bytes(), out).map_err(|error| {
            let error = error.shifted(offset);
            self.error = Some(error);
            error
        })?;
        self.decode.core.job.before = self.before;
        Ok(())
    }
}

/// Decodes `part` up to the first malformed escape, appends the result, and returns the error if there is one.
fn append_up_to_error(decode: &TryDecode, part: &[u8], out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
    let result = decode.decode_append(part, out);
    if let Err(error) = result {
        // After an error, `decode_append` has appended nothing. The input before the first malformed escape is valid.
        let _: Result<(), MalformedEscape> = decode.decode_append(&part[..error.offset], out);
    }
    result
}

impl Transform for TryDecoder {
    type Error = MalformedEscape;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        TryDecoder::push(self, piece, out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        TryDecoder::finish(self, out)
    }
}
