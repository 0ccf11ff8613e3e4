//! Cuts the input into chunks that can be processed one by one.

use std::io::{self, ErrorKind};
use std::ops::Range;

use simdpct_records::html::{Finder, Link};
use simdpct_records::{Dialect, Ends, RowMarks, RowScan, Table};

use crate::common::error::{Failure, warn};
use crate::common::reason::Reason;
use crate::common::records::Records;
use crate::convert::policy::Record;
use crate::io::buffer::Buffer;
use crate::io::input::Input;

/// The places where input may be divided into chunks, which threads process independently.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// The input may be cut anywhere except inside an escape and between `\r` and `\n`.
    Blocks,
    /// There is no place to cut, because the whole input is one record.
    Never,
    /// The input may be cut after each record, which ends in this byte.
    Records(u8),
    /// The input may be cut after each CSV record.
    Table(Dialect),
    /// The input is HTML, which may be cut outside tags.
    Html,
}

/// The next piece of the input.
pub enum Piece {
    /// The first `len` bytes of the block, which can be processed independently. They are at `offset` of the input.
    Chunk { len: usize, offset: u64 },
    /// A record at `offset` of the input that is longer than the block. The block is full of the first bytes of the
    /// record.
    Long { offset: u64 },
    /// The input has ended.
    End,
}

/// A block of input. In a table, the block also has the ends of its rows, and in HTML, its URLs.
pub struct Block {
    pub bytes: Buffer,
    /// The two bytes of the input before the block, or zeros for those that do not exist. They are right only if the input
    /// is cut by [`Cut::Blocks`].
    pub before: [u8; 2],
    ends: RowMarks,
    links: Vec<Link>,
    /// Whether the block is HTML in a `noscript` element that is too long to be searched for URLs.
    pub is_unread: bool,
}

impl Block {
    /// Creates a block of `size` bytes. It grows if a record is longer.
    pub fn new(size: usize) -> Block {
        Block {
            bytes: Buffer::new(size),
            before: [0; 2],
            ends: RowMarks::default(),
            links: Vec::new(),
            is_unread: false,
        }
    }

    /// Returns the first `len` bytes of the block as a chunk.
    pub fn chunk(&self, len: usize) -> Chunk<'_> {
        let marks = Some(&self.ends).filter(|ends| !ends.is_empty());
        Chunk { bytes: &self.bytes[..len], marks, block: self }
    }
}

/// A piece of input that a job processes with one call.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub bytes: &'a [u8],
    /// The ends of rows, and the places of the bytes that are needed to find cells, if the chunk is part of a table and has
    /// a quote; `None` if each record is a line.
    pub marks: Option<&'a RowMarks>,
    /// The block that begins with the chunk.
    pub block: &'a Block,
}

impl<'a> Chunk<'a> {
    /// Returns the start of the record that contains the byte at `at`. This record is the one at `start` or a later
    /// one. Lines end in `end`.
    pub fn start_of(&self, at: usize, start: usize, end: u8) -> usize {
        match self.marks {
            None => memchr::memrchr(end, &self.bytes[start..at]).map_or(start, |found| start + found + 1),
            Some(ends) => ends.start(at),
        }
    }

    /// Returns the end of the record at `start`, including its line end. Lines end in `end`.
    #[inline]
    pub fn end_of(&self, start: usize, end: u8) -> usize {
        let found = match self.marks {
            None => memchr::memchr(end, &self.bytes[start..]).map(|found| start + found + 1),
            Some(ends) => ends.end(start),
        };
        found.unwrap_or(self.bytes.len())
    }

    /// Returns the start tags that contain URLs, if the chunk is HTML, each with these URLs.
    pub fn tags(&self) -> impl Iterator<Item = (Record<'a>, &'a [Link])> + use<'a> {
        let chunk = self.bytes;
        let tags = self.block.links.chunk_by(|one, other| one.tag == other.tag);
        tags.map(move |links| {
            let Range { start, end: stop } = links[0].tag;
            (Record { chunk, start, stop, end: b'\n' }, links)
        })
    }

    /// Returns the record from offset `start` to `end`.
    #[inline]
    pub fn record(&self, start: usize, end: usize, records: Records) -> Record<'a> {
        let stop = start + records.without_end(&self.bytes[start..end]);
        Record { chunk: self.bytes, start, stop, end: records.end() }
    }
}

/// Cuts one input into chunks.
pub struct Feed<'i> {
    pub input: &'i mut Input,
    pub cut: Cut,
    /// The bytes that have been read from the input but not handed out.
    carry: Vec<u8>,
    /// The last two bytes of the last chunk, or zeros for those that do not exist.
    before: [u8; 2],
    /// The offset in the input of the next byte to be handed out.
    pub offset: u64,
    /// The number of bytes from which on a block no longer grows for a long record. It can be larger from the start.
    limit: usize,
    /// The columns of the table, after the header or the first row was read, so that reading can go on after an unreadable
    /// row.
    pub table: Option<Table>,
    /// The state of the CSV scanner inside a long record.
    ends: Option<Ends>,
    /// The parser of HTML, which has read all input up to the end of `carry`.
    html: Option<Box<Finder>>,
}

impl<'i> Feed<'i> {
    /// Creates a feed that cuts `input` at the places that `cut` allows. Records of more than `limit` bytes are
    /// [`Piece::Long`].
    pub fn new(input: &'i mut Input, cut: Cut, limit: usize) -> Feed<'i> {
        let offset = input.offset;
        let carry = Vec::new();
        Feed { input, cut, carry, before: [0; 2], offset, limit, table: None, ends: None, html: None }
    }

    /// Returns the length of the input file less the bytes that were handed out; 0 if the input is not a regular file.
    pub fn rest_of_file(&self) -> u64 {
        self.input.version.as_ref().map_or(0, |version| version.len.saturating_sub(self.offset))
    }

    /// Returns the name of the input.
    pub fn name(&self) -> &str {
        &self.input.name
    }

    /// Returns the byte that is counted for line numbers.
    pub fn line_end(&self) -> u8 {
        if let Cut::Records(end) = self.cut { end } else { b'\n' }
    }

    /// Reads the next chunk into `block`, which grows up to the limit if a record is longer.
    pub fn next(&mut self, block: &mut Block) -> Result<Piece, Failure> {
        if let Cut::Html = self.cut {
            return self.next_html(block);
        }
        let Block { bytes: buffer, before, ends: marks, .. } = block;
        marks.clear();
        *before = self.before;
        let mut len = self.carry.len();
        if buffer.len() < len {
            buffer.grow(len);
        }
        buffer[..len].copy_from_slice(&self.carry);
        self.carry.clear();
        let Feed { cut: how, limit, .. } = *self;
        let mut scan = if let Cut::Table(dialect) = how { Some(RowScan::new(dialect)) } else { None };
        let table = self.table.as_ref();
        let resume = |record: &[u8]| table.and_then(|table| table.resume(record));
        let mut search = LastEnd { scanned: 0, end: 0 };
        let mut find = |bytes: &[u8], scan: &mut Option<RowScan>, marks: &mut RowMarks| match scan {
            Some(scan) => scan.update(bytes, marks, resume),
            None => search.find(how, bytes),
        };
        // After a long record the carried bytes may contain whole records, so they are searched before more input is
        // read.
        let mut cut = find(&buffer[..len], &mut scan, marks);
        loop {
            let Some(at) = cut else {
                let is_full = len == buffer.len() && len >= limit;
                if is_full && let Some(scan) = &mut scan {
                    let Some(end) = scan.give_up(&buffer[..len], marks, resume) else {
                        self.ends = Some(scan.last(&buffer[..len]));
                        return Ok(Piece::Long { offset: self.offset });
                    };
                    let fault = table.and_then(|table| table.check(&buffer[..len]).err());
                    let fault = fault.map_or(0, |fault| fault.offset as u64);
                    let reason = Reason::OpenQuote { limit: Some((limit >> 20) as u32) };
                    warn(format_args!(
                        "{}: offset {}: {reason}, and reading goes on with the next line that is a row",
                        self.name(),
                        self.offset + fault
                    ));
                    cut = Some(end);
                    continue;
                }
                if is_full {
                    return Ok(Piece::Long { offset: self.offset });
                }
                if len == buffer.len() {
                    buffer.grow((2 * len).clamp(1, limit));
                }
                let read = self.input.read(&mut buffer[len..])?;
                if read == 0 {
                    if let Some(scan) = &mut scan {
                        scan.finish(&buffer[..len], marks, resume);
                    }
                    return Ok(self.hand_out(&buffer[..len]));
                }
                len += read;
                cut = find(&buffer[..len], &mut scan, marks);
                continue;
            };
            self.carry.extend_from_slice(&buffer[at..len]);
            return Ok(self.hand_out(&buffer[..at]));
        }
    }

    /// Reads the next chunk of HTML like [`Feed::next`], and finds the places of URLs in it.
    fn next_html(&mut self, block: &mut Block) -> Result<Piece, Failure> {
        let Block { bytes: buffer, links, is_unread, .. } = block;
        links.clear();
        *is_unread = false;
        let start = self.offset as usize;
        let finder = self.html.get_or_insert_with(|| Box::new(Finder::new(start)));
        let (input, limit) = (&mut *self.input, self.limit);
        let failure = |file: &str, (offset, message): (usize, String)| {
            Failure::input(file, offset as u64, io::Error::new(ErrorKind::InvalidData, message))
        };
        let mut len = self.carry.len();
        if buffer.len() <= len {
            buffer.grow((2 * len).max(1));
        }
        buffer[..len].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            let read = input.read(&mut buffer[len..])?;
            len += read;
            let bytes = &buffer[..len];
            let known = if read == 0 { finder.end(start, bytes) } else { finder.push(start, bytes) };
            known.map_err(|error| failure(&input.name, error))?;
            let is_full = len == buffer.len() && len >= limit;
            let mut at = finder.done() - start;
            if at == 0 && is_full && finder.give_up() {
                *is_unread = true;
                at = finder.done() - start;
                let limit = limit >> 20;
                warn(format_args!(
                    "{}: offset {start}: this noscript element is longer than {limit} MiB, so its URLs stay as they are; raise \
                     --max-record",
                    input.name
                ));
            }
            if at > 0 || read == 0 {
                finder.take(&buffer[..len], start, start + at, links);
                if let Some((offset, message)) = finder.take_warning() {
                    warn(format_args!("{}: offset {offset}: {message}", input.name));
                }
                self.carry.extend_from_slice(&buffer[at..len]);
                return Ok(self.hand_out(&buffer[..at]));
            }
            if is_full {
                let message = format!("this tag is longer than {} MiB; raise --max-record", limit >> 20);
                return Err(failure(&input.name, (start, message)));
            }
            if len == buffer.len() {
                buffer.grow((2 * len).min(limit));
            }
        }
    }

    fn hand_out(&mut self, bytes: &[u8]) -> Piece {
        let (len, offset) = (bytes.len(), self.offset);
        self.offset += len as u64;
        self.before = match *bytes {
            [.., first, second] => [first, second],
            [second] => [self.before[1], second],
            [] => self.before,
        };
        if len == 0 { Piece::End } else { Piece::Chunk { len, offset } }
    }

    /// Returns the reason why a record that does not fit in a block is unreadable.
    pub fn too_long(&self) -> Reason {
        Reason::TooLong { limit: (self.limit >> 20) as u32 }
    }

    /// Passes a long record to `each`, piece by piece, up to the end of the record. `buffer` is full of the first
    /// bytes of the record. The last piece, for which the flag is true, ends with the record end, or is empty.
    pub fn rest(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8], bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        each(buffer, false)?;
        self.offset += buffer.len() as u64;
        loop {
            let read = self.input.read(buffer)?;
            let piece = &buffer[..read];
            let end = match self.cut {
                Cut::Blocks | Cut::Never | Cut::Html => None,
                Cut::Records(end) => memchr::memchr(end, piece).map(|found| found + 1),
                Cut::Table(_) => self.ends.as_mut().and_then(|ends| ends.next(piece)),
            };
            let len = end.unwrap_or(read);
            let is_last = end.is_some() || read == 0;
            each(&piece[..len], is_last)?;
            self.offset += len as u64;
            if is_last {
                self.carry.extend_from_slice(&piece[len..]);
                return Ok(());
            }
        }
    }

    /// Removes `prefix` from the start of the input and reports whether it was there.
    pub fn strip(&mut self, prefix: &[u8]) -> Result<bool, Failure> {
        if let Some(is_there) = self.input.skip(prefix) {
            self.offset = self.input.offset;
            return Ok(is_there);
        }
        // Reads a whole page, so that later reads start at a page boundary of the file.
        let mut page = [0; 4096];
        while self.carry.len() < prefix.len() && prefix.starts_with(&self.carry) {
            let read = self.input.read(&mut page)?;
            if read == 0 {
                return Ok(false);
            }
            self.carry.extend_from_slice(&page[..read]);
        }
        if !self.carry.starts_with(prefix) {
            return Ok(false);
        }
        self.carry.drain(..prefix.len());
        self.offset += prefix.len() as u64;
        Ok(true)
    }

    /// Returns the first bytes of the input, up to `len` of them. They stay in the input.
    pub fn peek(&mut self, len: usize) -> Result<Vec<u8>, Failure> {
        let mut page = [0; 4096];
        while self.carry.len() < len {
            let read = self.input.read(&mut page)?;
            if read == 0 {
                break;
            }
            self.carry.extend_from_slice(&page[..read]);
        }
        Ok(self.carry[..self.carry.len().min(len)].to_vec())
    }

    /// Removes the first record from the input and returns it with its line end.
    pub fn first_record(&mut self) -> Result<Vec<u8>, Failure> {
        let record = self.peek_record()?;
        let Some(record) = record else {
            let name = self.name();
            return Err(Failure::missing(name, io::Error::other("the header is longer than --max-record")));
        };
        self.carry.drain(..record.len());
        self.offset += record.len() as u64;
        Ok(record)
    }

    /// Returns the first record with its line end; `None` if it is too long. The record stays in the input.
    pub fn peek_record(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let mut block = Block::new(4096);
        let (len, is_long) = match self.next(&mut block)? {
            Piece::Chunk { len, offset } => {
                self.offset = offset;
                (len, false)
            }
            Piece::End => (0, false),
            Piece::Long { .. } => (block.bytes.len(), true),
        };
        let bytes = &block.bytes[..len];
        let end = match self.cut {
            Cut::Table(dialect) => Ends::new(dialect).next(bytes),
            _ => None,
        };
        self.carry.splice(0..0, bytes.iter().copied());
        Ok((!is_long).then(|| bytes[..end.unwrap_or(len)].to_vec()))
    }
}

/// A search for the last place in a block where the input may be cut.
struct LastEnd {
    /// The number of bytes of the block that have been scanned.
    scanned: usize,
    /// The last place found where the input may be cut, or 0 if no place was found.
    end: usize,
}

impl LastEnd {
    fn find(&mut self, how: Cut, bytes: &[u8]) -> Option<usize> {
        match how {
            Cut::Blocks => {
                let mut end = bytes.len();
                if let Some(at) = memchr::memrchr(b'%', &bytes[end.saturating_sub(2)..]) {
                    end = end.saturating_sub(2) + at;
                } else if bytes.last() == Some(&b'\r') {
                    end -= 1;
                }
                self.end = end;
            }
            Cut::Never | Cut::Html | Cut::Table(_) => {}
            Cut::Records(end) => {
                if let Some(at) = memchr::memrchr(end, &bytes[self.scanned..]) {
                    self.end = self.scanned + at + 1;
                }
            }
        }
        self.scanned = bytes.len();
        (self.end > 0).then_some(self.end)
    }
}
