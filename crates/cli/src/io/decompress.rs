//! Decompresses a file in a thread of its own, while other threads process the decompressed bytes.
//!
//! The thread sends filled buffers to the reader, and the reader sends emptied buffers back. The number of buffers
//! limits the memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::BLOCK;
use super::compression::{Format, Guess};
use super::progress;
use super::streams::BlockingFile;

/// The size of a buffer of decompressed data, in bytes.
const BUFFER: usize = 2 * BLOCK;

/// The number of filled buffers that wait for the reader. There are two more: one is being filled, and one is being
/// read.
const WAITING: usize = 2;

/// A message of the decompressing thread: a buffer of data, which is empty at the end of the file, or an error with
/// its offset in the compressed file.
type Message = Result<Vec<u8>, (u64, io::Error)>;

/// A file that is being decompressed.
pub struct Decompressor {
    filled: Receiver<Message>,
    emptied: Sender<Vec<u8>>,
    buffer: Vec<u8>,
    taken: usize,
    has_ended: bool,
}

impl Decompressor {
    /// Starts a thread that decompresses `start` and then the rest of `file`, in at most `memory` MiB.
    pub fn spawn(format: Format, memory: u32, start: Vec<u8>, file: File) -> io::Result<Decompressor> {
        let (sender, filled) = sync_channel(WAITING);
        let (emptied, returned) = channel();
        let work = move || {
            let input = BufReader::with_capacity(BLOCK, io::Cursor::new(start).chain(BlockingFile(file)));
            let mut input = Counted { input, offset: 0 };
            if let Err(error) = decompress(format, memory, &mut input, &sender, &returned) {
                // Sending fails if the reader has been dropped, and then nobody needs the error.
                let _ = sender.send(Err((input.offset, error)));
            }
        };
        thread::Builder::new().name("decompress".to_owned()).spawn(work)?;
        Ok(Decompressor { filled, emptied, buffer: Vec::new(), taken: 0, has_ended: false })
    }

    /// Reads decompressed bytes, at most as many as fit in `block`, and returns their number; 0 at the end. An error
    /// comes with its offset in the compressed file.
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize, (u64, io::Error)> {
        if self.taken == self.buffer.len() && !self.has_ended {
            let gone = |_| Err((0, io::Error::other("the decompressor has stopped")));
            let buffer = std::mem::replace(&mut self.buffer, self.filled.recv().unwrap_or_else(gone)?);
            self.taken = 0;
            self.has_ended = self.buffer.is_empty();
            // At the end of the file the thread has ended, so sending the buffer back may fail.
            let _ = self.emptied.send(buffer);
        }
        let rest = &self.buffer[self.taken..];
        let len = rest.len().min(block.len());
        block[..len].copy_from_slice(&rest[..len]);
        self.taken += len;
        Ok(len)
    }
}

/// Sends the text of all members of `input`, which some formats call frames or streams, and then an empty buffer.
fn decompress(
    format: Format,
    memory: u32,
    input: &mut Counted<impl BufRead + Send>,
    sender: &SyncSender<Message>,
    returned: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let explained = |error| explain(error, format, memory);
        let mut member = member(format, memory, &mut *input).map_err(explained)?;
        loop {
            let mut buffer = returned.try_recv().unwrap_or_default();
            buffer.resize(BUFFER, 0);
            let len = member.read(&mut buffer).map_err(explained)?;
            if len == 0 {
                break;
            }
            buffer.truncate(len);
            // Sending fails if the reader has been dropped.
            if sender.send(Ok(buffer)).is_err() {
                return Ok(());
            }
        }
        drop(member);
        if !follows(format, input)? {
            let _ = sender.send(Ok(Vec::new()));
            return Ok(());
        }
    }
}

/// Creates a decoder of the member that `input` begins with.
fn member<'a>(
    format: Format,
    memory: u32,
    input: impl BufRead + Send + 'a,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match format {
        Format::Gzip => Box::new(flate2::bufread::GzDecoder::new(input)),
        Format::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(input)?.single_frame();
            // Zstandard limits its window by a power of two: the largest that fits in the memory limit.
            decoder.window_log_max((u64::from(memory) << 20).ilog2().clamp(10, 31))?;
            Box::new(decoder)
        }
        Format::Bzip2 => Box::new(bzip2::bufread::BzDecoder::new(input)),
        Format::Xz => {
            let stream = liblzma::stream::Stream::new_stream_decoder(u64::from(memory) << 20, 0)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
        }
    })
}

/// Skips padding, and reports whether another member follows in `input`. Fails if other bytes follow.
fn follows(format: Format, input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let rest = input.fill_buf()?;
        if rest.is_empty() {
            return Ok(false);
        }
        let zeros =
            if format.traits().has_padding { rest.iter().take_while(|byte| **byte == 0).count() } else { 0 };
        if zeros < rest.len() {
            let guess = Format::guess(&rest[zeros..]);
            input.consume(zeros);
            // A partial signature counts as a member, so that the decoder reports it as incomplete.
            return if guess == Guess::Open || guess == Guess::Settled(Some(format)) {
                Ok(true)
            } else {
                Err(io::Error::other(format!("there is garbage after the {} data", format.traits().name)))
            };
        }
        input.consume(zeros);
    }
}

/// Converts an `error` of a decoder to one with a message for the user.
fn explain(error: io::Error, format: Format, memory: u32) -> io::Error {
    // Errors of the operating system are about the file, all others about its content.
    if error.raw_os_error().is_some() {
        return error;
    }
    let (kind, name, text) = (error.kind(), format.traits().name, error.to_string());
    let message = if kind == ErrorKind::UnexpectedEof {
        format!("the {name} data end too early")
    } else if text.contains("too much memory") || text.contains("memory limit reached") {
        // libzstd and liblzma report too little memory only by these messages.
        format!("decompressing the {name} data needs more memory than {memory} MiB; --memory allows more")
    } else {
        format!("corrupt {name} data: {text}")
    };
    io::Error::new(kind, message)
}

/// A reader that counts the bytes that are read from a compressed file.
struct Counted<R> {
    input: R,
    offset: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(bytes)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.offset += len as u64;
        progress::advance(len);
        self.input.consume(len);
    }
}
