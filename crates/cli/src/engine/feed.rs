//! Input cut into chunks that can be worked on one by one.

use crate::ground::error::Failure;
use crate::io::buffer::Buffer;
use crate::io::input::Input;
use crate::select::ends::{Ends, Marks, Scan};
use crate::value::cut;

/// Where input may be cut.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// Anywhere but within an escape, or between `\r` and `\n`.
    Blocks,
    /// Where [`cut::anywhere`] says.
    Pieces,
    /// Nowhere.
    Never,
    /// After this byte.
    Records(u8),
    /// After records of CSV with this delimiter.
    Table(u8),
}

/// What comes next of the input.
pub enum Piece {
    /// This many bytes of the buffer, whole records, which start at `offset` of the input and are followed by
    /// `next`.
    Chunk { len: usize, offset: u64, next: Option<u8> },
    /// The buffer is full of the start of one record, at `offset` of the input.
    Long { offset: u64 },
    /// Nothing.
    End,
}

/// A part of a record that is too long for the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where it starts in the input.
    pub offset: u64,
    /// Whether it ends where the work can be cut.
    pub is_cut: bool,
    /// Whether it is the last one of the record.
    pub is_last: bool,
}

/// The most bytes of a part of a long record, if it can be cut there.
const PART: usize = 256 * 1024;

/// Cuts one input into chunks.
pub struct Feed<'i> {
    input: &'i mut Input,
    cut: Cut,
    /// What has been read but not handed out.
    carry: Vec<u8>,
    /// The offset of that.
    offset: u64,
    /// The most bytes of a record.
    limit: usize,
    /// The state, in a table, at the end of what was looked at.
    ends: Ends,
}

impl<'i> Feed<'i> {
    /// Chunks of `input`, whose records have at most `limit` bytes.
    pub fn new(input: &'i mut Input, cut: Cut, limit: usize) -> Feed<'i> {
        let ends = Ends::new(if let Cut::Table(delimiter) = cut { delimiter } else { 0 });
        let offset = input.offset();
        Feed { input, cut, carry: Vec::new(), offset, limit, ends }
    }

    /// The bytes handed out.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The name of the input.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// What is counted for line numbers.
    pub fn line_end(&self) -> u8 {
        if let Cut::Records(end) = self.cut { end } else { b'\n' }
    }

    /// Reads the next chunk into `buffer`, which grows if a record asks for it. In a table, `marks` tell where its records
    /// end.
    pub fn next(&mut self, buffer: &mut Buffer, marks: &mut Marks) -> Result<Piece, Failure> {
        marks.clear();
        let mut len = self.carry.len();
        if buffer.len() < len {
            buffer.grow(len);
        }
        buffer[..len].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut search = LastEnd { looked: 0, end: 0, scan: Scan::new(self.ends) };
        // What was carried over may hold whole records, when the one before it was long.
        let mut cut = search.find(self.cut, &buffer[..len], marks);
        loop {
            let Some(at) = cut else {
                if len == buffer.len() {
                    if len >= self.limit {
                        self.ends = search.scan.last();
                        return Ok(Piece::Long { offset: self.offset });
                    }
                    let grown = (2 * len).clamp(1, self.limit);
                    buffer.grow(grown);
                }
                let read = self.input.read(&mut buffer[len..])?;
                if read == 0 {
                    return Ok(self.hand_out(len, None));
                }
                len += read;
                cut = search.find(self.cut, &buffer[..len], marks);
                continue;
            };
            self.carry.extend_from_slice(&buffer[at..len]);
            return Ok(self.hand_out(at, buffer[at..len].first().copied()));
        }
    }

    fn hand_out(&mut self, len: usize, next: Option<u8>) -> Piece {
        let offset = self.offset;
        self.offset += len as u64;
        self.ends = self.ends.fresh();
        if len == 0 { Piece::End } else { Piece::Chunk { len, offset, next } }
    }

    /// Hands the rest of a long record, of which `buffer` is full, to `each`, piece by piece, up to its end.
    pub fn rest(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        each(buffer)?;
        self.offset += buffer.len() as u64;
        loop {
            let read = self.input.read(buffer)?;
            let piece = &buffer[..read];
            let end = match self.cut {
                Cut::Blocks | Cut::Pieces | Cut::Never => Some(0),
                Cut::Records(end) => memchr::memchr(end, piece).map(|found| found + 1),
                Cut::Table(_) => self.ends.next(piece),
            };
            let len = end.unwrap_or(read);
            each(&piece[..len])?;
            self.offset += len as u64;
            if end.is_some() || read == 0 {
                self.carry.extend_from_slice(&piece[len..]);
                self.ends = self.ends.fresh();
                return Ok(());
            }
        }
    }

    /// Hands a long record, of whose start `buffer` is full, to `each` in parts, up to its end. Parts end where `cut`
    /// says, or, where nothing can be cut for as long as the buffer, anywhere.
    ///
    /// Where there are no records, this ends with the first part that ends where it may after one that does not.
    pub fn parts(
        &mut self,
        buffer: &mut [u8],
        cut: impl Fn(&[u8]) -> Option<usize>,
        mut each: impl FnMut(&[u8], Part) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut len = buffer.len();
        let mut is_whole = false;
        // The bytes at the start of the buffer of which `cut` cannot see what is before them.
        let mut blind = 0;
        let ends = if let Cut::Records(end) = self.cut { Some(end) } else { None };
        loop {
            let mut at = 0;
            while at < len {
                let rest = &buffer[at..len];
                let found = |bytes| cut(bytes).filter(|&end| end > blind);
                let end = if is_whole && rest.len() <= PART {
                    Some(rest.len())
                } else if is_whole || rest.len() >= PART {
                    found(&rest[..rest.len().min(PART)]).or_else(|| found(rest))
                } else {
                    None
                };
                let is_full = at == 0 && len == buffer.len();
                let (end, is_cut) = match end {
                    Some(end) => (end, true),
                    None if is_whole => (rest.len(), true),
                    // The last bytes stay, so that it can be seen what is before a place to cut.
                    None if is_full => (rest.len() - cut::LOOK_BEHIND, false),
                    None => break,
                };
                let is_last = is_whole && end == rest.len();
                each(&rest[..end], Part { offset: self.offset, is_cut, is_last })?;
                self.offset += end as u64;
                at += end;
                let was_blind = std::mem::replace(&mut blind, if is_cut { 0 } else { cut::LOOK_BEHIND });
                if ends.is_none() && was_blind > 0 && is_cut {
                    self.carry.splice(0..0, buffer[at..len].iter().copied());
                    return Ok(());
                }
                if !is_cut {
                    break;
                }
            }
            if is_whole && at == len {
                return Ok(());
            }
            buffer.copy_within(at..len, 0);
            len -= at;
            let read = self.input.read(&mut buffer[len..])?;
            let more = &buffer[len..len + read];
            let end = ends.and_then(|end| memchr::memchr(end, more)).map(|found| found + 1);
            is_whole = end.is_some() || read == 0;
            self.carry.extend_from_slice(&more[end.unwrap_or(read)..]);
            len += end.unwrap_or(read);
        }
    }

    /// Takes `prefix` from the start of the input, if it is there.
    pub fn strip(&mut self, prefix: &[u8]) -> Result<bool, Failure> {
        if let Some(is_there) = self.input.skip(prefix) {
            self.offset = self.input.offset();
            return Ok(is_there);
        }
        // Whole pages, so that the rest of the file is read as if nothing had been taken.
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

    /// Takes the first record, with its line end.
    pub fn first_record(&mut self) -> Result<Vec<u8>, Failure> {
        let mut buffer = Buffer::new(4096);
        let len = match self.next(&mut buffer, &mut Marks::default())? {
            Piece::Chunk { len, .. } => len,
            Piece::End => return Ok(Vec::new()),
            Piece::Long { .. } => {
                let name = self.name();
                return Err(Failure::Usage(format!("{name}: the header is longer than --max-record")));
            }
        };
        let end = match self.cut {
            Cut::Table(delimiter) => Ends::new(delimiter).next(&buffer[..len]),
            _ => None,
        };
        let end = end.unwrap_or(len);
        self.carry.splice(0..0, buffer[end..len].iter().copied());
        self.offset -= (len - end) as u64;
        Ok(buffer[..end].to_vec())
    }
}

/// A search for the last end of a record.
struct LastEnd {
    /// The bytes looked at.
    looked: usize,
    /// The last end found; 0 if there was none.
    end: usize,
    scan: Scan,
}

impl LastEnd {
    fn find(&mut self, how: Cut, bytes: &[u8], marks: &mut Marks) -> Option<usize> {
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
            Cut::Pieces => {
                // More bytes may complete the escape before a place to cut.
                let looked = self.looked.saturating_sub(cut::LOOK_BEHIND);
                if let Some(at) = cut::anywhere(&bytes[looked..]) {
                    self.end = looked + at;
                }
            }
            Cut::Never => {}
            Cut::Records(end) => {
                if let Some(at) = memchr::memrchr(end, &bytes[self.looked..]) {
                    self.end = self.looked + at + 1;
                }
            }
            Cut::Table(_) => {
                if let Some(end) = self.scan.look(bytes, marks) {
                    self.end = end;
                }
            }
        }
        self.looked = bytes.len();
        (self.end > 0).then_some(self.end)
    }
}
