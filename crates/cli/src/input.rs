//! Where input comes from: files and standard input, in blocks, decompressed if need be.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use crate::args::Files;
use crate::compression::{Format, Guess};
use crate::decompress::Decompressor;
use crate::error::Failure;
use crate::progress;

/// The bytes read at once: what a pipe holds, and so few that input and output stay in the second-level cache.
pub const BLOCK: usize = 64 * 1024;

/// What standard input is called in messages.
pub const STDIN: &str = "<stdin>";

/// The longest name that a list of files may hold.
const LONGEST_NAME: u64 = 64 * 1024;

/// Whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The names of the inputs, from the arguments or from a list.
pub enum Names {
    Given(std::vec::IntoIter<PathBuf>),
    /// A list, which is read as the work goes on, so that it may be of any length.
    Listed {
        list: Box<dyn BufRead + Send>,
        name: String,
        is_stdin: bool,
        end: u8,
        offset: u64,
    },
}

impl Names {
    /// As `files` asks; standard input when it names none.
    pub fn new(files: &Files) -> Result<Names, Failure> {
        let (path, end) = match (&files.files_from, &files.files0_from) {
            (Some(path), _) => (path, b'\n'),
            (_, Some(path)) => (path, b'\0'),
            _ if files.files.is_empty() => return Ok(Names::Given(vec![PathBuf::from("-")].into_iter())),
            _ => return Ok(Names::Given(files.files.clone().into_iter())),
        };
        let (name, file) = open(path)?;
        let list = Box::new(BufReader::new(file));
        Ok(Names::Listed { list, name, is_stdin: is_stdin(path), end, offset: 0 })
    }

    /// Those that are known before any work is done, if all are.
    pub fn known(&self) -> Option<&[PathBuf]> {
        match self {
            Names::Given(names) => Some(names.as_slice()),
            Names::Listed { .. } => None,
        }
    }

    /// The next one of a list.
    fn listed(
        list: &mut dyn BufRead,
        name: &str,
        is_stdin: bool,
        end: u8,
        offset: &mut u64,
    ) -> Result<Option<PathBuf>, Failure> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let read = Read::take(&mut *list, LONGEST_NAME).read_until(end, &mut bytes);
            let len = read.map_err(|error| Failure::input(name, *offset, error))? as u64;
            if bytes.pop_if(|last| *last == end).is_none() && len == LONGEST_NAME {
                let error = io::Error::new(ErrorKind::InvalidFilename, "no file has a name as long as this");
                return Err(Failure::input(name, *offset, error));
            }
            *offset += len;
            if len == 0 {
                return Ok(None);
            }
            if bytes.is_empty() {
                continue;
            }
            if is_stdin && bytes == b"-" {
                return Err(Failure::Usage(
                    "standard input is the list of files, and cannot be one of them".to_owned(),
                ));
            }
            return path(bytes).map(Some).map_err(|error| Failure::open(name, error));
        }
    }
}

impl Iterator for Names {
    type Item = Result<PathBuf, Failure>;

    fn next(&mut self) -> Option<Result<PathBuf, Failure>> {
        match self {
            Names::Given(names) => names.next().map(Ok),
            Names::Listed { list, name, is_stdin, end, offset } => {
                Names::listed(list, name, *is_stdin, *end, offset).transpose()
            }
        }
    }
}

/// A name as the operating system takes it.
#[cfg(unix)]
fn path(bytes: Vec<u8>) -> io::Result<PathBuf> {
    Ok(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes)))
}

/// A name as the operating system takes it.
#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> io::Result<PathBuf> {
    let name = String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(PathBuf::from(name.trim_end_matches('\r')))
}

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
        let (name, mut file) = open(path)?;
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

/// The file of that name, or standard input, and what to call it.
fn open(path: &Path) -> Result<(String, File), Failure> {
    if is_stdin(path) {
        let file = stdin().map_err(|error| Failure::open(STDIN, error))?;
        if file.is_terminal() && io::stderr().is_terminal() {
            // Who did not mean to type would wait for an output that does not come.
            let hint = "pct: reading from the terminal; Ctrl-D ends the input, `pct help` shows examples";
            let _ = writeln!(io::stderr(), "{hint}");
        }
        return Ok((STDIN.to_owned(), file));
    }
    let failed = |error| Failure::open(path.display(), error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    Ok((path.display().to_string(), file))
}

/// Standard input as a file of its own, without the buffer of [`io::stdin`].
fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    owned.map(File::from)
}
