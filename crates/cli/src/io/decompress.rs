//! Decompresses a file in a thread of its own, at the same time as the codec runs.
//!
//! The thread sends filled buffers to the reader, and the reader sends emptied buffers back. The number of buffers
//! limits the memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::BLOCK;
use super::compression::{Format, Memory};
use super::members::Members;
use super::progress;
use super::streams::Patient;

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
    /// Starts a thread that decompresses the file whose first bytes are `start` and whose rest is read from `file`.
    pub fn spawn(format: Format, memory: Memory, start: Vec<u8>, file: File) -> io::Result<Decompressor> {
        let (sender, filled) = sync_channel(WAITING);
        let (emptied, returned) = channel();
        let work = move || {
            let offset = Arc::new(AtomicU64::new(0));
            let input = BufReader::with_capacity(BLOCK, io::Cursor::new(start).chain(Patient(file)));
            let input = Counted { input, offset: Arc::clone(&offset) };
            if let Err(error) = decompress(format, memory, input, &sender, &returned) {
                // Sending fails if the reader has been dropped, and then nobody needs the error.
                let _ = sender.send(Err((offset.load(Ordering::Relaxed), format.explain(error, memory))));
            }
        };
        thread::Builder::new().name("decompress".to_owned()).spawn(work)?;
        Ok(Decompressor { filled, emptied, buffer: Vec::new(), taken: 0, has_ended: false })
    }

    /// Reads decompressed bytes, at most as many as fit in `block`, and returns their number; 0 at the end. An error
    /// has its offset in the compressed file.
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

fn decompress(
    format: Format,
    memory: Memory,
    input: impl BufRead + Send,
    sender: &SyncSender<Message>,
    returned: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    let mut reader = Members::new(format, memory, input);
    loop {
        let mut buffer = returned.try_recv().unwrap_or_default();
        buffer.resize(BUFFER, 0);
        let len = loop {
            match reader.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        buffer.truncate(len);
        if sender.send(Ok(buffer)).is_err() || len == 0 {
            return Ok(());
        }
    }
}

/// A reader that counts the bytes that are read from a compressed file.
struct Counted<R> {
    input: R,
    offset: Arc<AtomicU64>,
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
        self.offset.fetch_add(len as u64, Ordering::Relaxed);
        progress::advance(len);
        self.input.consume(len);
    }
}
