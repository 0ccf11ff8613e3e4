//! Encoding and decoding in pieces: any way of cutting the input gives the bytes that one call gives.
//!
//! An escape that is cut between two pieces is held back (at most two bytes) until the rest is there.

use alloc::vec::Vec;
use core::convert::Infallible;

use crate::coder::KeepSet;
use crate::decode::{Decode, TryDecode};
use crate::encode::Encode;
use crate::error::MalformedEscape;
use crate::hex::held_back;
use crate::kernel::job::EncodeRule;

/// Something that takes input in pieces and appends output.
///
/// ```
/// use simdpct::{Decode, stream::{Decoder, Transform}};
///
/// let mut decoder = Decoder::new(Decode::new());
/// let mut out = Vec::new();
/// for piece in ["a%", "2", "0b"] {
///     let Ok(()) = decoder.push(piece.as_bytes(), &mut out);
/// }
/// let Ok(()) = decoder.finish(&mut out);
/// assert_eq!(out, b"a b");
/// ```
pub trait Transform {
    /// What can be wrong with the input.
    type Error;

    /// Takes the next piece and appends what it makes certain to `out`.
    ///
    /// # Errors
    ///
    /// What is wrong with the input, with offsets counted from the start of the first piece. The transform is
    /// of no use afterwards; `out` keeps what was appended before.
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Ends the input: appends what was held back to `out`. The transform can then take new input.
    ///
    /// # Errors
    ///
    /// What is wrong with the end of the input.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// The start of an escape at the end of the pieces so far, and where the bytes handed on begin.
// INVARIANT: `len <= 2`, and the bytes are `%`, or `%` and a hexadecimal digit.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    bytes: [u8; 2],
    len: usize,
    /// The number of bytes handed on before those held.
    offset: usize,
}

impl Held {
    /// Hands `piece`, with what was held before it, to `each` in one or two parts that cut no escape, each with
    /// its offset; holds the rest.
    fn push<E>(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = piece;
        if self.len > 0 {
            // Two more bytes settle the escape that is held, and leave nothing of it.
            let more = rest.len().min(2);
            let mut joint = [0; 4];
            joint[..self.len].copy_from_slice(&self.bytes[..self.len]);
            joint[self.len..self.len + more].copy_from_slice(&rest[..more]);
            let joint = &joint[..self.len + more];
            let settled = joint.len() - held_back(joint);
            if more == rest.len() {
                return self.hand_on(joint, settled, &mut each);
            }
            let from_rest = settled - self.len;
            self.len = 0;
            each(&joint[..settled], self.offset)?;
            self.offset = self.offset.saturating_add(settled);
            rest = &rest[from_rest..];
        }
        self.hand_on(rest, rest.len() - held_back(rest), &mut each)
    }

    /// Hands on `bytes` up to `settled`, and holds the others.
    fn hand_on<E>(
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

    /// Hands on what is held, as the end of the input, and starts anew.
    fn finish<E>(&mut self, each: impl FnOnce(&[u8], usize) -> Result<(), E>) -> Result<(), E> {
        let Held { bytes, len, offset } = core::mem::take(self);
        each(&bytes[..len], offset)
    }
}

/// An [`Encode`] over input in pieces.
///
/// ```
/// use simdpct::{Encode, sets, stream::{Encoder, Transform}};
///
/// let mut encoder = Encoder::new(Encode::keeping(sets::RFC3986_PATH).keep_escapes());
/// let mut out = Vec::new();
/// for piece in ["a %", "4", "1%"] {
///     let Ok(()) = encoder.push(piece.as_bytes(), &mut out);
/// }
/// let Ok(()) = encoder.finish(&mut out);
/// assert_eq!(out, b"a%20%41%25");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Encoder<S> {
    encode: Encode<S>,
    held: Held,
}

impl<S: KeepSet> Encoder<S> {
    /// A stream of the encoding `encode`.
    #[must_use]
    pub fn new(encode: Encode<S>) -> Encoder<S> {
        Encoder { encode, held: Held::default() }
    }
}

impl<S: KeepSet> Transform for Encoder<S> {
    type Error = Infallible;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Infallible> {
        if self.encode.coder.job().rule != EncodeRule::KeepEscapes {
            self.encode.encode_append(piece, out);
            return Ok(());
        }
        let Encoder { encode, held } = self;
        held.push(piece, |part, _| {
            encode.encode_append(part, out);
            Ok(())
        })
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        let Encoder { encode, held } = self;
        held.finish(|part, _| {
            encode.encode_append(part, out);
            Ok(())
        })
    }
}

/// A [`Decode`] over input in pieces; with [`Decode::NORMALIZE`], a normalization.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<D = Decode> {
    decode: D,
    held: Held,
}

impl<D> Decoder<D> {
    /// A stream of the decoding `decode`, a [`Decode`] or a [`TryDecode`].
    #[must_use]
    pub fn new(decode: D) -> Decoder<D> {
        Decoder { decode, held: Held::default() }
    }
}

impl Transform for Decoder<Decode> {
    type Error = Infallible;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Infallible> {
        let Decoder { decode, held } = self;
        held.push(piece, |part, _| {
            decode.decode_append(part, out);
            Ok(())
        })
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        let Decoder { decode, held } = self;
        held.finish(|part, _| {
            decode.decode_append(part, out);
            Ok(())
        })
    }
}

impl Transform for Decoder<TryDecode> {
    type Error = MalformedEscape;

    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        let Decoder { decode, held } = self;
        held.push(piece, |part, offset| {
            // A part ends inside an escape only where a `%`, which is held, cuts that escape short.
            decode.decode_append(part, out).map_err(|error| error.before_percent(part.len()).shifted(offset))
        })
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), MalformedEscape> {
        let Decoder { decode, held } = self;
        held.finish(|part, offset| decode.decode_append(part, out).map_err(|error| error.shifted(offset)))
    }
}

/// An [`io::Write`](std::io::Write) that transforms what is written and passes it on.
///
/// Call [`Writer::finish`] at the end: without it, an escape that is held back is lost.
///
/// ```
/// use std::io::Write;
/// use simdpct::{Decode, stream::{Decoder, Writer}};
///
/// let mut writer = Writer::new(Decoder::new(Decode::new()), Vec::new());
/// writer.write_all(b"a%2")?;
/// writer.write_all(b"0b")?;
/// assert_eq!(writer.finish()?, b"a b");
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct Writer<T, W> {
    transform: T,
    inner: W,
    buffer: Vec<u8>,
}

#[cfg(feature = "std")]
impl<T: Transform, W: std::io::Write> Writer<T, W>
where
    T::Error: Into<WriteError>,
{
    /// A writer that passes what `transform` makes of its input on to `inner`.
    pub fn new(transform: T, inner: W) -> Writer<T, W> {
        Writer { transform, inner, buffer: Vec::new() }
    }

    /// Ends the input, passes on what was held back, flushes, and returns the inner writer.
    ///
    /// # Errors
    ///
    /// Those of the inner writer, and [`InvalidData`](std::io::ErrorKind::InvalidData) around a [`MalformedEscape`].
    pub fn finish(mut self) -> std::io::Result<W> {
        self.buffer.clear();
        self.transform.finish(&mut self.buffer).map_err(|error| error.into().0)?;
        self.inner.write_all(&self.buffer)?;
        self.inner.flush()?;
        Ok(self.inner)
    }
}

#[cfg(feature = "std")]
impl<T: Transform, W: std::io::Write> std::io::Write for Writer<T, W>
where
    T::Error: Into<WriteError>,
{
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Bounds the buffer, whatever the caller writes at once.
        let piece = &bytes[..bytes.len().min(64 * 1024)];
        self.buffer.clear();
        let result = self.transform.push(piece, &mut self.buffer);
        self.inner.write_all(&self.buffer)?;
        result.map_err(|error| error.into().0)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// A transform's error as an [`io::Error`](std::io::Error).
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct WriteError(std::io::Error);

#[cfg(feature = "std")]
impl From<Infallible> for WriteError {
    fn from(never: Infallible) -> WriteError {
        match never {}
    }
}

#[cfg(feature = "std")]
impl From<MalformedEscape> for WriteError {
    fn from(error: MalformedEscape) -> WriteError {
        WriteError(std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }
}
