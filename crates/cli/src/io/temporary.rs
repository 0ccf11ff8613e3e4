//! Keeps data in temporary files, to bound the memory: bytes that are written later, and sorted rows for a merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};

use super::BLOCK;
use crate::common::error::Failure;

/// Bytes in a temporary file.
pub struct SpooledBytes {
    file: File,
    /// The number of line feeds in the file.
    line_feeds: u64,
    /// The last byte of the file, if there is one.
    pub last: Option<u8>,
}

impl SpooledBytes {
    /// Creates an empty temporary file.
    pub fn new() -> Result<SpooledBytes, Failure> {
        Ok(SpooledBytes { file: create()?, line_feeds: 0, last: None })
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(failure)?;
        self.line_feeds += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.last = bytes.last().copied().or(self.last);
        Ok(())
    }

    /// Returns the number of lines. The last one may lack its line feed.
    pub fn lines(&self) -> u64 {
        self.line_feeds + u64::from(self.last.is_some_and(|last| last != b'\n'))
    }

    /// Passes all bytes to `take`, block by block.
    pub fn each(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        self.file.rewind().map_err(failure)?;
        let mut block = vec![0; BLOCK];
        loop {
            match self.file.read(&mut block).map_err(failure)? {
                0 => return Ok(()),
                len => take(&block[..len])?,
            }
        }
    }
}

/// A row of a temporary file: a line of the input, its number, and the key that identifies the line.
#[derive(Default)]
pub struct Row {
    pub number: u64,
    /// The key; empty if it is the start of the line.
    key: Vec<u8>,
    /// The length of the key if it is the start of the line, and otherwise 0.
    shared: usize,
    pub line: Vec<u8>,
}

impl Row {
    pub fn key(&self) -> &[u8] {
        if self.shared > 0 { &self.line[..self.shared] } else { &self.key }
    }
}

/// A temporary file of rows.
pub struct Spill(BufWriter<File>);

impl Spill {
    /// Creates an empty temporary file.
    pub fn new() -> Result<Spill, Failure> {
        Ok(Spill(BufWriter::with_capacity(BLOCK, create()?)))
    }

    /// Appends a row.
    pub fn push(&mut self, number: u64, mut key: &[u8], line: &[u8]) -> Result<(), Failure> {
        let mut shared = 0;
        // Most keys are lines without their ends. For such a key, only the length is written.
        if line.starts_with(key) {
            (shared, key) = (key.len(), &[]);
        }
        let head = [number, shared as u64, key.len() as u64, line.len() as u64].map(u64::to_le_bytes);
        [head.as_flattened(), key, line].iter().try_for_each(|bytes| self.0.write_all(bytes)).map_err(failure)
    }

    /// Returns a reader of the rows, from the first one on.
    pub fn rows(self) -> Result<Rows, Failure> {
        let mut file = self.0.into_inner().map_err(|error| failure(error.into_error()))?;
        file.rewind().map_err(failure)?;
        Ok(Rows(BufReader::with_capacity(BLOCK, file)))
    }
}

/// The rows of a temporary file that have not been read yet.
pub struct Rows(BufReader<File>);

impl Rows {
    /// Reads the next row into `row`. Returns false at the end of the file.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Failure> {
        let mut head = [[0; 8]; 4];
        match self.0.read_exact(head.as_flattened_mut()) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            result => result.map_err(failure)?,
        }
        let [number, shared, key, line] = head.map(u64::from_le_bytes);
        (row.number, row.shared) = (number, shared as usize);
        for (len, bytes) in [(key, &mut row.key), (line, &mut row.line)] {
            bytes.resize(len as usize, 0);
            self.0.read_exact(bytes).map_err(failure)?;
        }
        Ok(true)
    }
}

/// Passes the rows of `files` to `each` in ascending order of their numbers, which is also the order of the rows in each file.
pub fn merge(files: Vec<Spill>, mut each: impl FnMut(&Row) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut files = files
        .into_iter()
        .map(|file| Ok((file.rows()?, Row::default())))
        .collect::<Result<Vec<_>, Failure>>()?;
    let mut next = BinaryHeap::new();
    for (index, (rows, row)) in files.iter_mut().enumerate() {
        if rows.next(row)? {
            next.push(Reverse((row.number, index)));
        }
    }
    while let Some(Reverse((_, index))) = next.pop() {
        let (rows, row) = &mut files[index];
        each(row)?;
        if rows.next(row)? {
            next.push(Reverse((row.number, index)));
        }
    }
    Ok(())
}

/// Creates a temporary file. Only the user may open it, even by a name such as `/proc/1/fd/3`.
fn create() -> Result<File, Failure> {
    let file = tempfile::tempfile().map_err(failure)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(failure)?;
    Ok(file)
}

fn failure(error: io::Error) -> Failure {
    Failure::open(format!("temporary file in {}", std::env::temp_dir().display()), error)
}
