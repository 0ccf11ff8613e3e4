//! What is written, transformed.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::vec::Vec;

use super::Transform;

/// The most bytes that are taken at once, whatever the caller writes: bounds the buffer.
const PIECE: usize = 64 * 1024;

/// An [`io::Write`] that transforms what is written and passes it on.
///
/// Call [`Writer::finish`] at the end: without it, an escape that is held back is lost, and so is output that the inner
/// writer has not taken yet.
///
/// Nothing is lost or written twice when the inner writer takes a part, or nothing for now
/// ([`WouldBlock`](ErrorKind::WouldBlock)): output waits in a buffer, and the next call goes on with it. While output
/// waits, no input is taken. [`Interrupted`](ErrorKind::Interrupted) is retried.
///
/// If the transform refuses the input, what comes before is passed on, and every later call returns the same error, as
/// [`InvalidData`](ErrorKind::InvalidData) around the transform's.
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
#[derive(Debug)]
pub struct Writer<T: Transform, W> {
    transform: T,
    inner: W,
    /// Output, of which the first `taken` bytes were passed on.
    buffer: Vec<u8>,
    taken: usize,
    /// Why the transform takes no more input.
    refused: Option<T::Error>,
    /// An error of the inner writer that no call has returned yet.
    deferred: Option<io::Error>,
    /// Whether the transform was told of the end of the input.
    ended: bool,
}

impl<T: Transform, W> Writer<T, W> {
    /// A writer that passes what `transform` makes of its input on to `inner`.
    pub fn new(transform: T, inner: W) -> Writer<T, W> {
        Writer { transform, inner, buffer: Vec::new(), taken: 0, refused: None, deferred: None, ended: false }
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The inner writer. What is written to it comes before output that waits.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// The inner writer, without an end of the input: what is held back and the output that waits are dropped.
    /// [`Writer::finish`] drops nothing.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// The output that waits because the inner writer has not taken it.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }
}

impl<T: Transform, W: Write> Writer<T, W> {
    /// Ends the input, passes on what was held back, flushes, and returns the inner writer.
    ///
    /// # Errors
    ///
    /// [`FinishError`] holds the error, of the inner writer or of the transform, and this writer. After an error of the inner
    /// writer, such as [`WouldBlock`](ErrorKind::WouldBlock), `finish` can be called again and goes on.
    ///
    /// ```
    /// use std::io::Write;
    /// use simdpct::{Decode, stream::{TryDecoder, Writer}};
    ///
    /// let mut writer = Writer::new(TryDecoder::new(Decode::new().strict()), Vec::new());
    /// writer.write_all(b"a%20b%4")?;
    /// let error = writer.finish().unwrap_err();
    /// assert!(error.error().to_string().starts_with("malformed escape at offset 5: the input ends inside it"));
    /// assert_eq!(error.into_writer().into_inner(), b"a b");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn finish(mut self) -> Result<W, FinishError<Writer<T, W>>> {
        match self.end() {
            Ok(()) => Ok(self.inner),
            Err(error) => Err(FinishError { writer: self, error }),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.pass_on()?;
        if !self.ended && self.refused.is_none() {
            self.ended = true;
            self.refused = self.transform.finish(&mut self.buffer).err();
            self.pass_on()?;
        }
        self.flush_inner()?;
        self.refusal()
    }

    /// Passes on the output that waits, all of it or up to an error.
    fn pass_on(&mut self) -> io::Result<()> {
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        while self.taken < self.buffer.len() {
            match self.inner.write(&self.buffer[self.taken..]) {
                Ok(0) => {
                    return Err(io::Error::new(ErrorKind::WriteZero, "the inner writer takes no more bytes"));
                }
                Ok(taken) => self.taken = self.buffer.len().min(self.taken.saturating_add(taken)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.buffer.clear();
        self.taken = 0;
        Ok(())
    }

    fn flush_inner(&mut self) -> io::Result<()> {
        loop {
            match self.inner.flush() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// The error of the transform, if it takes no more input.
    fn refusal(&self) -> io::Result<()> {
        match &self.refused {
            Some(error) => Err(io::Error::new(ErrorKind::InvalidData, error.clone())),
            None => Ok(()),
        }
    }
}

impl<T: Transform, W: Write> Write for Writer<T, W> {
    /// Takes at most 64 KiB of `bytes`. On an error, none of them: those of the inner writer that occur after bytes were taken
    /// are returned by the next call. Only when the transform refuses its input, what comes before that was passed on.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass_on()?;
        self.refusal()?;
        if self.ended {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the input of this writer has ended"));
        }
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.refused = self.transform.push(piece, &mut self.buffer).err();
        let passed_on = self.pass_on();
        self.refusal()?;
        match passed_on {
            // The bytes were taken, so it cannot be said now.
            Err(error) if error.kind() != ErrorKind::WouldBlock => self.deferred = Some(error),
            _ => {}
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.flush_inner()?;
        self.refusal()
    }
}

/// The error of [`Writer::finish`], and the writer.
///
/// ```
/// use std::io::Write;
/// use simdpct::Decode;
/// use simdpct::stream::{TryDecoder, Writer};
///
/// let mut writer = Writer::new(TryDecoder::new(Decode::new().strict()), Vec::new());
/// writer.write_all(b"a%20b%2")?;
/// // The input ends inside an escape. What comes before it is in the inner writer.
/// let (error, writer) = writer.finish().unwrap_err().into_parts();
/// assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
/// assert_eq!(writer.into_inner(), b"a b");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FinishError<W> {
    writer: W,
    error: io::Error,
}

impl<W> FinishError<W> {
    /// What went wrong.
    pub fn error(&self) -> &io::Error {
        &self.error
    }

    /// What went wrong.
    pub fn into_error(self) -> io::Error {
        self.error
    }

    /// The writer, to finish it again, or to take its parts.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// What went wrong, and the writer.
    pub fn into_parts(self) -> (io::Error, W) {
        (self.error, self.writer)
    }
}

impl<W> fmt::Debug for FinishError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<W> fmt::Display for FinishError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<W> Error for FinishError<W> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl<W> From<FinishError<W>> for io::Error {
    fn from(error: FinishError<W>) -> io::Error {
        error.error
    }
}
