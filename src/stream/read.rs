//! A reader that transforms the input of another reader.

use std::io::{self, BufRead, ErrorKind, Read};
use std::vec::Vec;
use std::{boxed::Box, vec};

use super::Transform;

/// The size of the buffer for the inner reader, in bytes.
const PIECE: usize = 16 * 1024;

/// A reader that transforms the input of another reader. It implements [`io::Read`] and [`io::BufRead`].
///
/// It reads 16 KiB at once and needs no [`BufReader`](std::io::BufReader) inside or outside. A read that fails with
/// [`Interrupted`](ErrorKind::Interrupted) is retried. Any other error of the inner reader, such as
/// [`WouldBlock`](ErrorKind::WouldBlock), is returned, and the next call continues at the same place.
/// After the inner reader has ended once, this reader stays at its end.
///
/// If the transform fails, the output before the error is read first. Then every call returns the same error: the error of the
/// transform, wrapped as [`InvalidData`](ErrorKind::InvalidData).
///
/// ```
/// use std::io::{BufRead, Read};
/// use simdpct::{Decode, stream::{Decoder, Reader}};
///
/// let mut text = String::new();
/// Reader::new(Decoder::new(Decode::new()), &b"caf%C3%A9"[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "caf\u{e9}");
///
/// let lines = Reader::new(Decoder::new(Decode::new()), &b"a%20b\nc"[..]).lines();
/// assert_eq!(lines.collect::<Result<Vec<_>, _>>()?, ["a b", "c"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<T: Transform, R> {
    transform: T,
    inner: R,
    /// The buffer into which the inner reader reads.
    input: Box<[u8]>,
    /// The output of the transform. The caller has read its first `given` bytes.
    output: Vec<u8>,
    given: usize,
    /// The error of the transform, after which it takes no more input.
    error: Option<T::Error>,
    /// Whether the inner reader is at its end.
    ended: bool,
}

impl<T: Transform, R> Reader<T, R> {
    /// Makes a reader that transforms the input of `inner`.
    pub fn new(transform: T, inner: R) -> Reader<T, R> {
        Reader {
            transform,
            inner,
            input: vec![0; PIECE].into_boxed_slice(),
            output: Vec::new(),
            given: 0,
            error: None,
            ended: false,
        }
    }

    /// Returns the inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the inner reader. It may be ahead of this reader, which reads pieces of 16 KiB and transforms them in advance.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Returns the inner reader. It may be ahead of this reader, and the output that the caller has not read yet is dropped.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Returns the output that the caller has not read yet.
    pub fn buffer(&self) -> &[u8] {
        &self.output[self.given..]
    }
}

impl<T: Transform, R: Read> BufRead for Reader<T, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // The loop is needed because some pieces of input, such as the start of an escape, give no output.
        while self.given == self.output.len() {
            if let Some(error) = &self.error {
                return Err(io::Error::new(ErrorKind::InvalidData, error.clone()));
            }
            if self.ended {
                break;
            }
            let len = match self.inner.read(&mut self.input) {
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.output.clear();
            self.given = 0;
            self.error = if len == 0 {
                self.ended = true;
                self.transform.finish(&mut self.output).err()
            } else {
                let piece = &self.input[..len.min(PIECE)];
                self.transform.push(piece, &mut self.output).err()
            };
        }
        Ok(&self.output[self.given..])
    }

    fn consume(&mut self, count: usize) {
        self.given = self.output.len().min(self.given.saturating_add(count));
    }
}

impl<T: Transform, R: Read> Read for Reader<T, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let len = self.fill_buf()?.read(out)?;
        self.consume(len);
        Ok(len)
    }
}
