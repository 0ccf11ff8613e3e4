//! Where input comes from: files and standard input, in blocks, decompressed if need be.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::BLOCK;
use super::compression::{Format, Guess};
use super::decompress::Decompressor;
use super::names::{self, Names};
use super::progress;
use crate::ground::error::Failure;

/// The inputs, opened one after the other.
pub struct Inputs {
    /// One that is open already.
    first: Option<Input>,
    names: Names,
    decompress: bool,
}

impl Inputs {
    /// Those that `names` names; `decompress` says whether compressed ones are decompressed.
    pub fn new(names: Names, decompress: bool) -> Inputs {
        Inputs { first: None, names, decompress }
    }

    /// Only `input`.
    pub fn only(input: Input) -> Inputs {
        Inputs { first: Some(input), names: Names::Given(Vec::new().into_iter()), decompress: true }
    }
}

impl Iterator for Inputs {
    type Item = Result<Input, Failure>;

    fn next(&mut self) -> Option<Result<Input, Failure>> {
        if let Some(input) = self.first.take() {
            return Some(Ok(input));
        }
        self.names.next().map(|name| Input::open(&name?, self.decompress))
    }
}

/// One open input.
pub struct Input {
    name: String,
    file: File,
    source: Source,
    format: Option<Format>,
    /// The bytes read so far, after decompression.
    offset: u64,
}

enum Source {
    /// The file, after the bytes of `start` that were read to see whether it is compressed.
    Direct {
        start: Vec<u8>,
        taken: usize,
    },
    Compressed(Decompressor),
}

impl Input {
    /// Opens `path`; `-` is standard input. With `decompress` a compressed file is decompressed as it is read.
    pub fn open(path: &Path, decompress: bool) -> Result<Input, Failure> {
        let (name, mut file) = names::open(path)?;
        let mut start = Vec::new();
        let mut format = None;
        if decompress {
            format = recognise(&mut file, &mut start).map_err(|error| Failure::input(&name, 0, error))?;
        }
        let source = match format {
            None => {
                progress::advance(start.len());
                Source::Direct { start, taken: 0 }
            }
            Some(format) => {
                let decompressor = file.try_clone().and_then(|file| Decompressor::spawn(format, start, file));
                Source::Compressed(decompressor.map_err(|error| Failure::open(&name, error))?)
            }
        };
        Ok(Input { name, file, source, format, offset: 0 })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// What it is decompressed from.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The number of bytes read so far, after decompression.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads what is there, at most a `block` of it, and returns how much; 0 at the end. It does not wait to fill
    /// the block, so a slow producer sees its output at once.
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize, Failure> {
        let len = match &mut self.source {
            Source::Direct { start, taken } if *taken < start.len() => {
                let len = block.len().min(start.len() - *taken);
                block[..len].copy_from_slice(&start[*taken..*taken + len]);
                *taken += len;
                if *taken == start.len() {
                    (*start, *taken) = (Vec::new(), 0);
                }
                len
            }
            Source::Direct { .. } => {
                let len = read(&mut self.file, block)
                    .map_err(|error| Failure::input(&self.name, self.offset, error))?;
                progress::advance(len);
                len
            }
            Source::Compressed(decompressor) => decompressor
                .read(block)
                .map_err(|(offset, error)| Failure::input(&self.name, offset, error))?,
        };
        self.offset += len as u64;
        Ok(len)
    }
}

/// Reads into `start` until it is clear which compressed format the file has, if any.
fn recognise(file: &mut File, start: &mut Vec<u8>) -> io::Result<Option<Format>> {
    let mut len = 0;
    loop {
        start.resize(BLOCK, 0);
        let more = read(file, &mut start[len..])?;
        len += more;
        start.truncate(len);
        match Format::guess(start) {
            Guess::Settled(format) => return Ok(format),
            Guess::Open if more == 0 => return Ok(None),
            Guess::Open => {}
        }
    }
}

/// Reads what is there.
fn read(file: &mut File, block: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(block) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
