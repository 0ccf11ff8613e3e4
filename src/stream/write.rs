//! A writer that transforms its input for another writer.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::vec::Vec;

use super::Transform;

/// The largest number of bytes that one call of `write` takes. This limit bounds the size of the buffer.
const PIECE: usize = 64 * 1024;

/// A writer that transforms its input and passes the output on to another writer. It implements [`io::Write`].
///
/// Call [`Writer::finish`] at the end. Otherwise an escape that is held back is lost, and also the output that the inner writer
/// has not taken yet.
///
/// The inner writer may take only a part of the output, or nothing for now ([`WouldBlock`](ErrorKind::WouldBlock)). The rest
/// waits in a buffer, and the next call goes on with it, so nothing is lost or written twice. While output waits, no input is
/// taken. [`Interrupted`](ErrorKind::Interrupted) is retried.
///
/// If the transform fails, the output before the error is passed on. Every later call returns the same error: the error of the
/// transform, wrapped as [`InvalidData`](ErrorKind::InvalidData). If the inner writer fails as well, its error comes first in the next
/// calls, while output waits.
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
    /// The output of the transform. The inner writer has taken its first `taken` bytes.
    buffer: Vec<u8>,
    taken: usize,
    /// The error of the transform, after which it takes no more input.
    error: Option<T::Error>,
    /// An error of the inner writer that no call has returned yet.
    deferred: Option<io::Error>,
    /// Whether the transform was told that the input has ended.
    ended: bool,
}

impl<T: Transform, W> Writer<T, W> {
    /// Makes a writer that passes the output of `transform` on to `inner`.
    pub fn new(transform: T, inner: W) -> Writer<T, W> {
        Writer { transform, inner, buffer: Vec::new(), taken: 0, error: None, deferred: None, ended: false }
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Returns the inner writer. Bytes that the caller writes to it directly come before the output that this writer still
    /// holds.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Returns the inner writer without ending the input. The bytes that are held back, and the output that the inner writer
    /// has not taken, are dropped. [`Writer::finish`] drops nothing.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Returns the output that waits because the inner writer has not taken it.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }
}

impl<T: Transform, W: Write> Writer<T, W> {
    /// Ends the input, passes on the bytes that were held back, flushes, and returns the inner writer.
    ///
    /// # Errors
    ///
    /// [`FinishError`] holds the error, of the inner writer or of the transform, and this writer. After an error of the inner
    /// writer, such as [`WouldBlock`](ErrorKind::WouldBlock), `finish` can be called again to write the rest.
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
        if !self.ended && self.error.is_none() {
            self.ended = true;
            self.error = self.transform.finish(&mut self.buffer).err();
        }
        self.flush()
    }

    /// Writes the buffered output to the inner writer, until the buffer is empty or an error occurs.
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

    /// Returns the error of the transform if the transform has failed.
    fn check_error(&self) -> io::Result<()> {
        match &self.error {
            Some(error) => Err(io::Error::new(ErrorKind::InvalidData, error.clone())),
            None => Ok(()),
        }
    }
}

impl<T: Transform, W: Write> Write for Writer<T, W> {
    /// Takes at most 64 KiB of `bytes`. A call that returns an error took none of them, unless the transform failed:
    /// then the output before the malformed input is passed on. If the inner writer fails after bytes were taken, the
    /// next call returns that error.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass_on()?;
        self.check_error()?;
        if self.ended {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the input of this writer has ended"));
        }
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.error = self.transform.push(piece, &mut self.buffer).err();
        match self.pass_on() {
            // The bytes were taken, or the transform has failed, so this call cannot return the error.
            Err(error) if error.kind() != ErrorKind::WouldBlock => self.deferred = Some(error),
            _ => {}
        }
        self.check_error()?;
        Ok(piece.len())
    }

    /// Passes on and flushes the output. The start of an escape that is held back, at most two bytes, stays until more input
    /// comes or [`Writer::finish`] is called.
    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.flush_inner()?;
        self.check_error()
    }
}

/// The error of [`Writer::finish`], with the writer.
///
/// ```
/// use std::io::Write;
/// use simdpct::Decode;
/// use simdpct::stream::{TryDecoder, Writer};
///
/// let mut writer = Writer::new(TryDecoder::new(Decode::new().strict()), Vec::new());
/// writer.write_all(b"a%20b%2")?;
/// // The input ends inside an escape. The output before it is in the inner writer.
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
    /// Returns the error, which is that of the inner writer or of the transform.
    pub fn error(&self) -> &io::Error {
        &self.error
    }

    /// Returns the error without the writer.
    pub fn into_error(self) -> io::Error {
        self.error
    }

    /// Returns the writer, to finish it again, or to take its parts.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// Returns the error and the writer.
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
    /// Returns the source of the error in [`FinishError::error`], because this error already shows its message.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl<W> From<FinishError<W>> for io::Error {
    fn from(error: FinishError<W>) -> io::Error {
        error.error
    }
}
