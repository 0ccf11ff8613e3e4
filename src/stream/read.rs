//! What is read, transformed.

use std::io::{self, BufRead, ErrorKind, Read};
use std::vec::Vec;
use std::{boxed::Box, vec};

use super::Transform;

/// The bytes that are asked of the inner reader at once.
const PIECE: usize = 16 * 1024;

/// An [`io::Read`] and [`io::BufRead`] of what a transform makes of another reader.
///
/// It reads 16 KiB at once and needs no [`BufReader`](std::io::BufReader) inside or outside.
/// [`Interrupted`](ErrorKind::Interrupted) is retried. Any other error of the inner reader, such as
/// [`WouldBlock`](ErrorKind::WouldBlock), is returned, and the next call goes on where it was.
///
/// If the transform refuses the input, what comes before is read first; then every call returns the same error, as
/// [`InvalidData`](ErrorKind::InvalidData) around the transform's.
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
    /// Where input is read to.
    input: Box<[u8]>,
    /// Output, of which the first `given` bytes were read.
    output: Vec<u8>,
    given: usize,
    /// Why the transform takes no more input.
    refused: Option<T::Error>,
    /// Whether the inner reader is at its end.
    ended: bool,
}

impl<T: Transform, R> Reader<T, R> {
    /// A reader of what `transform` makes of what `inner` reads.
    pub fn new(transform: T, inner: R) -> Reader<T, R> {
        Reader {
            transform,
            inner,
            input: vec![0; PIECE].into_boxed_slice(),
            output: Vec::new(),
            given: 0,
            refused: None,
            ended: false,
        }
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The inner reader. It has been read further than this one.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The inner reader. It has been read further than this one, and that output is dropped.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// The output that waits to be read.
    pub fn buffer(&self) -> &[u8] {
        &self.output[self.given..]
    }
}

impl<T: Transform, R: Read> BufRead for Reader<T, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Some input gives no output: the start of an escape.
        while self.given == self.output.len() {
            if let Some(error) = &self.refused {
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
            self.refused = if len == 0 {
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
